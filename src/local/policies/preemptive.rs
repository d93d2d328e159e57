//! What the preemptive policies share [Kettimuthu 2003]: books of idle and running jobs, and how victims are chosen.
//!
//! A job is *idle* while it waits for its first start or is suspended. A suspended job restarts on exactly the processors that it had
//! (section 2.3, "local" preemption). Idle jobs go in the order of their expansion factors, the largest first, equal ones in the order of
//! arrival; that of an idle job grows (it is a [`Line`]), that of a running job stays as it was when it started (section 3.1).

mod books;
mod choice;
mod claims;
mod factor;
mod placing;
mod suspended;
mod victims;

pub(super) use books::{Books, Idle, Judged, Need, Run};
pub(super) use choice::Choice;
pub use factor::{Factor, Margin};
pub use placing::Placing;
pub(super) use placing::{PLACEMENT, RESTART};
use suspended::Suspended;
pub use victims::Dropped;
pub(super) use victims::Victim;
