//! The local policies, each in a file or folder of its own, each one line here.

use super::PolicyInfo;

mod conservative;
mod easy;
mod elastic;
mod equal_share;
mod fcfs;
mod los;

pub use conservative::{Compress, Conservative};
pub use easy::{BackfillOrder, Easy};
pub use equal_share::EqualShare;
pub use fcfs::Fcfs;
pub use los::{Dedicated, Los, LosOptions, ShadowRule, packing};

/// Every policy, in the order in which they are listed.
pub(super) const ALL: &[&PolicyInfo] = &[
    &fcfs::INFO,
    &easy::EASY,
    &easy::EASY_D,
    &easy::EASY_E,
    &easy::EASY_DE,
    &los::LOS,
    &los::LOS_D,
    &los::LOS_E,
    &los::LOS_DE,
    &los::DELAYED,
    &los::DELAYED_E,
    &los::HYBRID,
    &los::HYBRID_E,
    &conservative::INFO,
    &equal_share::INFO,
];
