//! Mapping jobs of the grid to pools: what a broker policy sees, what it may do, and the policies themselves.
//!
//! A [`BrokerPolicy`] plans over a [`Picture`]: the jobs that wait with the broker and what the pools were like when they last
//! reported, which is always a little stale. When it is asked, and what becomes of its assignments, is the
//! business of [`crate::entity`].

mod absent;
mod picture;
mod policy;
mod pool;
mod registry;

pub mod policies;

pub use absent::Absent;
pub use picture::{Picture, Plan, Planned, WaitingJob};
pub use policy::{BrokerEvent, BrokerPolicy};
pub use pool::{InFlight, Pool, PoolFacts, PoolReport};
pub use registry::{BrokerAbilities, BrokerPolicyInfo, BrokerRegistry};
