//! A campaign as a job array of SLURM, whose merge is a job that depends on it.
//!
//! ```text
//! Campaign::time_some ──▶ Timing ──▶ Sizes ──▶ JobArray ──▶ array.sh   a part of the campaign in each task
//!                                                      └──▶ merge.sh   joins the parts when all tasks have ended
//! ```
//!
//! [`Sizes`] is arithmetic over what was measured, [`JobArray`] is text. Nothing here talks to SLURM; the scripts do, and they run without
//! it, too. What a task does about signals, limits of time and requeues is in `slurm/array.sh`.

mod script;
mod sizes;

pub use script::{JobArray, refuse_option};
pub use sizes::{Sizes, Wish};
