//! Mapping heuristics: which task goes to which pool, from when to when.
//!
//! They are functions of four things: what tasks take where ([`Costs`]), when processors are free ([`Holes`]), what tasks wait for
//! ([`Dag`]) and what data takes between pools ([`Links`]). They know nothing of sites, queues or messages, and what they return is a plan,
//! which a broker carries out as well as it can.
//!
//! - Of tasks that are ready: [`olb`], [`met`], [`mct`], [`min_min`], [`max_min`], [`duplex`], [`sufferage`].
//! - Of tasks that wait for each other, [`heft`], [`peft`], [`cpop`], and by deadlines and budgets [`cheapest_by_deadline`] and [`heft_budget`]. They take a task to send its output to its consumer when it ends.
//!
//! A task is planned in the earliest hole that it fits into, also before what was planned earlier. Ties go to the task of the lowest number,
//! then to the pool of the lowest.
//!
//! ```
//! use gridemu::broker::mapping::{Etc, Profiles, min_min};
//! use gridemu::units::{Span, Time};
//!
//! // Two tasks in two pools of one processor, in seconds.
//! let etc = Etc::of_rows(&[[Span::from_secs(3), Span::from_secs(5)], [Span::from_secs(1), Span::from_secs(4)]]);
//! let mut holes = Profiles::idle(Time::ZERO, &[1, 1]);
//! let plan = min_min(&etc, &mut holes);
//! // The second task first, then the other behind it: 4 s there, 5 s in the other pool.
//! assert_eq!((plan[0].task, plan[0].pool), (1, 0));
//! assert_eq!((plan[1].task, plan[1].pool, plan[1].end), (0, 0, Time::from_secs(4)));
//! ```

mod alike;
mod batch;
mod costs;
mod dag;
mod holes;
mod immediate;
mod limited;
mod links;
mod lists;
mod peft;
#[cfg(test)]
mod tests;

pub use batch::{Claims, duplex, max_min, min_min, sufferage};
pub use costs::{Costs, Etc};
pub use dag::Dag;
pub use holes::{Holes, Placement, Profiles, makespan};
pub use immediate::{mct, met, olb};
pub use limited::{Limits, cheapest_by_deadline, heft_budget};
pub use links::Links;
pub use lists::{cpop, heft};
pub use peft::peft;
