//! The broker.

use super::Checker;
use crate::experiment::scenario::keys::{AnyNumber, BrokerKeys};
use crate::experiment::scenario::tree::Path;
use crate::model::{BrokerSpec, Named};

impl Checker<'_> {
    pub(super) fn broker(&mut self, path: &Path, keys: &BrokerKeys, seed: u64) -> BrokerSpec {
        let policy = keys.policy.clone().unwrap_or_else(|| Named::bare("mct"));
        if let Err(error) = self.brokers.build(&policy, seed) {
            self.no_policy(&path.key("policy"), &error);
        }
        let plain = BrokerSpec::new(policy);
        let backoff = keys.backoff.map_or(plain.backoff, |backoff| backoff.0);
        if backoff.is_zero() {
            let said =
                "a job that comes back must wait a while, or it would go round and round; say a time above 0";
            self.wrong(&path.key("backoff"), said);
        }
        BrokerSpec {
            picture: keys.picture.map_or(plain.picture, |picture| picture.0),
            count_in_flight: keys.count_in_flight.unwrap_or(plain.count_in_flight),
            replan: keys.replan.unwrap_or(plain.replan),
            recall_queued: keys.recall_queued.unwrap_or(plain.recall_queued),
            retries: keys.retries.unwrap_or(plain.retries),
            backoff,
            in_flight: match keys.in_flight {
                Some(AnyNumber::Of(number)) => Some(number),
                _ => None,
            },
            overhead: keys.overhead.map_or(plain.overhead, |overhead| overhead.0),
            lost_attempts: keys.lost_attempts.unwrap_or(plain.lost_attempts),
            ..plain
        }
    }
}
