//! The broker policies that come with the library, one file each, and the list that the registry reads.

mod mct;

pub use mct::Mct;

use super::BrokerPolicyInfo;

/// Every policy adds one line here.
pub(super) const ALL: &[&BrokerPolicyInfo] = &[&mct::INFO];
