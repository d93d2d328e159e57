//! All policies that the description of a grid can name.

#[cfg(test)]
mod tests;

use crate::broker::{BrokerPolicyInfo, BrokerRegistry};
use crate::local::{PolicyInfo, PowerPolicyInfo, PowerRegistry, Registry};

/// The policies that can be named: those of the library, and those that a program adds. A clone is cheap.
///
/// ```
/// use gridemu::grid::Policies;
/// use gridemu::local::PolicyInfo;
/// use gridemu::local::policies::{BackfillOrder, Easy};
/// use gridemu::local::Abilities;
///
/// let mine = PolicyInfo::new("shortest", |_| Ok((Box::new(Easy::new(BackfillOrder::Sjf)), Abilities::PLAIN)))
///     .doc("EASY with shortest-job-first backfilling, without reservations.");
/// let policies = Policies::standard().with_local(mine);
/// assert!(policies.local.find("shortest").is_ok());
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Policies {
    /// Local policies, of sites.
    pub local: Registry,
    /// Policies of the broker.
    pub broker: BrokerRegistry,
    /// Power policies, of sites.
    pub power: PowerRegistry,
}

impl Policies {
    /// All policies of the library.
    pub fn standard() -> Self {
        Self {
            local: Registry::standard(),
            broker: BrokerRegistry::standard(),
            power: PowerRegistry::standard(),
        }
    }

    /// Adds a local policy.
    #[must_use]
    pub fn with_local(self, info: PolicyInfo) -> Self {
        Self { local: self.local.with(info), ..self }
    }

    /// Adds a power policy.
    #[must_use]
    pub fn with_power(self, info: PowerPolicyInfo) -> Self {
        Self { power: self.power.with(info), ..self }
    }

    /// Adds a broker policy.
    #[must_use]
    pub fn with_broker(self, info: BrokerPolicyInfo) -> Self {
        Self { broker: self.broker.with(info), ..self }
    }
}
