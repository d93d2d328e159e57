//! Resolves the broker.

use super::Checker;
use crate::model::BrokerSpec;
use crate::scenario::keys::BrokerKeys;
use crate::scenario::kind::words::Or;
use crate::scenario::tree::Path;

impl Checker<'_> {
    pub(super) fn broker(&mut self, path: &Path, keys: &BrokerKeys, seed: u64) -> BrokerSpec {
        if let Err(error) = self.policies.broker.build(&keys.policy.0, seed) {
            self.no_policy(&path.key("policy"), &error);
        }
        if keys.backoff.is_zero() {
            let said = "a returned job must wait before it is planned again, or it could return forever; give a time above 0";
            self.wrong(&path.key("backoff"), said);
        }
        if keys.in_flight == Or::Value(0) {
            let said = "give 1 or more, or `any`: with 0 no job could run";
            self.wrong(&path.key("in_flight"), said);
        }
        BrokerSpec {
            policy: keys.policy.0.clone(),
            monitoring_interval: keys.monitoring_interval,
            count_in_flight: keys.count_in_flight,
            replan: keys.replan,
            recall_queued: keys.recall_queued,
            retries: keys.retries,
            backoff: keys.backoff,
            in_flight: keys.in_flight.value(),
            overhead: keys.overhead,
            failed_attempts: keys.failed_attempts,
        }
    }
}
