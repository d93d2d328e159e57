//! The broker policies of the library: one file and one line in this list for each.

mod ahead;
mod batch;
mod goal;
mod thrift;

pub use deadline_first::DeadlineFirst;
pub use fastest_free::FastestFree;
pub use goal::{Goal, PowerCounted};
pub use least_loaded::{LeastLoaded, Load};
pub use mct::Mct;
pub use met::Met;
pub use pull::Pull;
pub use random::Random;
pub use round_robin::RoundRobin;
pub use thrift::Thrift;
pub use weighted::Weighted;

use super::BrokerRegistry;

crate::model::standard_policies! { BrokerRegistry:
    random
    round_robin
    least_loaded
    fastest_free
    mct
    cheapest
    greenest
    lowest_carbon
    weighted
    deadline_first
    pull
    met
    min_min
    max_min
    duplex
    sufferage
    heft
    cpop
    peft
    cheapest_by_deadline
    heft_budget
    mojs
}
