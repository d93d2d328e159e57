//! The local policies, each in a file or folder of its own, each one line here.

use super::PolicyInfo;

mod conservative;
mod easy;
mod equal_share;
mod fcfs;

pub use conservative::{Compress, Conservative};
pub use easy::{BackfillOrder, Easy};
pub use equal_share::EqualShare;
pub use fcfs::Fcfs;

/// Every policy, in the order in which they are listed.
pub(super) const ALL: &[&PolicyInfo] = &[&fcfs::INFO, &easy::INFO, &conservative::INFO, &equal_share::INFO];
