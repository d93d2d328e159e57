//! Mapping jobs of the grid to pools: what a broker policy sees, what it may do, and the policies themselves.
//!
//! The broker keeps a table of the jobs that it has to do with, [`Tasks`]: those that wait with it, and those that it has assigned.
//! A [`BrokerPolicy`] plans over a [`GridView`]: the tasks that wait, and the pools as they last reported, so that
//! the view is usually a little stale. It answers with a [`Plan`]: [`Decision`]s about tasks, in their order. A policy of immediate mode
//! only [chooses](Choose) a pool for a task. When the policy is asked, and how its plan is carried out, is defined in
//! [`crate::entity`].
//!
//! # Example
//!
//! Minimum completion time, with two pools of equal speed. Job 7 needs 4 processors and its estimate is 100 s:
//!
//! ```text
//! view.now()                1000 s
//! view.ready()              [job 7]
//! view.pools()              [a: 2 free, reported at 990 s]   [b: 4 free, reported at 940 s]
//! view.completion(job, 0)   1300 s: pool a expects 4 free processors at 1200 s
//! view.completion(job, 1)   1100 s: pool b can start it at once
//! Pick::Pool(1, Earliest)   job 7 goes to pool b
//! ```
//!
//! A job that no pool is assigned to goes on waiting. A policy is one file in [`policies`] and one line in their list;
//! [`policies::Mct`] is the one of the example.

mod absent;
mod applications;
mod beliefs;
mod bounds;
mod choose;
mod common_start;
mod decision;
mod forecast;
mod front;
mod grid_view;
mod lane;
mod live;
mod open_tasks;
mod plan;
mod policy;
mod pool;
mod rates;
mod ready;
mod registry;
mod series;
mod task;
mod tasks;
mod traced;

pub mod mapping;
pub mod outside;
pub mod policies;

pub use absent::Absent;
pub use applications::{Applications, BelievedRun};
pub use beliefs::{BeliefErrors, Beliefs, PoolForecasts, WaitClass, Waited};
pub use bounds::Bounds;
pub use choose::{Choose, Gate, OneByOne, Pick};
pub use common_start::{CommonStart, Offered, common_start};
pub use decision::{Candidate, Choice};
pub use forecast::{Forecast, Outlook};
pub use front::{ChosenBy, Front, PlanningFacts, Put, TracedFront, TracedSchedule};
pub use grid_view::{DataTimes, GridView};
pub use lane::Placed;
pub use live::{Ended, LiveWorkflow, TaskProgress};
pub use open_tasks::{OpenTasks, TaskLimits};
pub use plan::{Act, Answer, Decision, Plan, Planned, PutOff, Reason};
pub use policy::{BrokerEvent, BrokerPolicy};
pub use pool::{InFlight, Pool, PoolFacts, PoolGroup, PoolReport};
pub use rates::{OverTime, Rates, Values};
pub use ready::Rank;
pub use registry::{BrokerAbilities, BrokerBuilt, BrokerPolicyInfo, BrokerRegistry, Brokers};
pub use task::Task;
pub use tasks::{Asked, TaskState, Tasks};
