//! The physical grid: machines that come and go, links that are shared, and what processors were used for, what they drew
//! and what they cost.
//!
//! Pure arithmetic and small state machines over integer time; who leaves with which job, and what is done about it, is
//! told by [`crate::entity`] and [`crate::local`].

mod churn;
mod day;
mod network;
mod tariff;
mod usage;

pub use churn::{Law, Outages, OutagesError, OutagesSave, Presence, Reason, Turn};
pub use network::{Arrival, Links};
pub use tariff::{Tariff, WeighedTime, facility};
pub use usage::{Ended, ProcTime, Usage};
