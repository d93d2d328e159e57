//! The local policies: one file or folder and one line in this list for each.

mod elastic;
mod line;
mod preemptive;

pub use conservative::{Compress, Conservative};
pub use discrepancy::{Discrepancy, DiscrepancyOptions, WaitBound};
pub use easy::{BackfillOrder, Easy};
pub use equal_share::EqualShare;
pub use fcfs::Fcfs;
pub use gang::{Backfilling, Gang, GangOptions, Passes, Resizes};
pub use immediate::Immediate;
pub use los::{Dedicated, Los, LosOptions, ShadowRule, packing};
pub use preemptive::{Dropped, Factor, Margin, Placing};
pub use scojo::{Scojo, ScojoOptions, Shares};
pub use scojo_pect::{
    GroupBound, GroupChoice, GroupLimits, GroupOptions, ScojoPect, ScojoPectOptions, SharesByHour,
};
pub use selective::{Limit, Selective, SelectiveOptions, WidthRule};

use super::Registry;

crate::model::standard_policies! { Registry:
    fcfs
    easy
    los
    conservative
    equal_share
    selective
    immediate
    scojo
    discrepancy
    gang
    scojo_pect
    scojo_pect_groups
}
