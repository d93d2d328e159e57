//! The physical grid: what processors were used for, what they drew and what they cost.

mod usage;

pub use usage::{Ended, ProcTime, Tariff, Usage};
