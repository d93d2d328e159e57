//! The broker policies that come with the library, one file each, and the list that the registry reads.

mod cheapest;
mod fastest_free;
mod greenest;
mod least_loaded;
mod mct;
mod pull;
mod random;
mod round_robin;
mod thrift;

pub use cheapest::Cheapest;
pub use fastest_free::FastestFree;
pub use greenest::{Greenest, PowerCounted};
pub use least_loaded::{LeastLoaded, Load};
pub use mct::Mct;
pub use pull::Pull;
pub use random::Random;
pub use round_robin::RoundRobin;
pub use thrift::Thrift;

use super::BrokerPolicyInfo;

/// Every policy adds one line here.
pub(super) const ALL: &[&BrokerPolicyInfo] = &[
    &random::INFO,
    &round_robin::INFO,
    &least_loaded::INFO,
    &fastest_free::INFO,
    &mct::INFO,
    &cheapest::INFO,
    &greenest::INFO,
    &pull::INFO,
];
