//! Mapping jobs of the grid to pools: what a broker policy sees, what it may do, and the policies themselves.
//!
//! A [`BrokerPolicy`] plans over a [`GridView`]: the jobs that wait with the broker, and the pools as they last reported, so that
//! the view is usually a little stale. When the policy is asked, and how its assignments are carried out, is defined in
//! [`crate::entity`].
//!
//! # Example
//!
//! Minimum completion time, with two pools of equal speed. Job 7 needs 4 processors and its estimate is 100 s:
//!
//! ```text
//! view.now()             1000 s
//! view.waiting()         [job 7]
//! view.pools()           [a: 2 free, reported at 990 s]   [b: 4 free, reported at 940 s]
//! view.completion(0, 0)  1300 s: pool a expects 4 free processors at 1200 s
//! view.completion(0, 1)  1100 s: pool b can start it at once
//! view.assign(0, 1)      job 7 goes to pool b
//! ```
//!
//! A job that no pool is assigned to goes on waiting. A policy is one file in [`policies`] and one line in their list;
//! [`policies::Mct`] is the one of the example.

mod absent;
mod decision;
mod grid_view;
mod policy;
mod pool;
mod registry;

pub mod mapping;
pub mod policies;

pub use absent::Absent;
pub use decision::{Candidate, Choice};
pub use grid_view::{GridView, Plan, Planned, WaitingJob};
pub use policy::{BrokerEvent, BrokerPolicy};
pub use pool::{InFlight, Pool, PoolFacts, PoolReport};
pub use registry::{BrokerAbilities, BrokerBuilt, BrokerPolicyInfo, BrokerRegistry, Brokers};
