//! Records of applications.

use std::collections::BTreeMap;

use super::Checker;
use crate::model::{Application, ApplicationSpec, BrokerSpec, RunTimes};
use crate::scenario::keys::ApplicationKeys;
use crate::scenario::tree::Path;

impl Checker<'_> {
    /// The records that are registered with a broker. Each is of another owner or executable.
    pub(super) fn applications(
        &mut self,
        written: &[ApplicationKeys],
        broker: Option<&BrokerSpec>,
    ) -> Vec<ApplicationSpec> {
        let all = Path::default().key("application");
        if !written.is_empty() && broker.is_none_or(|broker| broker.run_times == RunTimes::Estimates) {
            let message = "it has no effect: nobody plans by records of applications; give `run_times = \"applications\"` of the broker";
            self.warn(&all.item(0), message);
        }
        let mut first: BTreeMap<Application, usize> = BTreeMap::new();
        let mut specs = Vec::with_capacity(written.len());
        for (at, keys) in written.iter().enumerate() {
            let path = all.item(at);
            let mut number = |key: &str, number: u32| {
                let fits = i32::try_from(number).ok();
                fits.or_else(|| {
                    self.refuse(&path.key(key), format!("`{number}` is too large; the most is {}", i32::MAX))
                })
            };
            let (owner, executable) = (number("owner", keys.owner), number("executable", keys.executable));
            let key_holders: Vec<i32> =
                keys.key_holders.iter().filter_map(|user| number("key_holders", *user)).collect();
            let (Some(user), Some(executable)) = (owner, executable) else { continue };
            let application = Application { user, executable };
            if let Some(other) = first.insert(application, at) {
                let message = format!(
                    "user {user} has registered executable {executable} before, in application {}",
                    other + 1
                );
                self.wrong(&path.key("executable"), message);
            }
            if keys.run_time.is_some_and(|time| time.is_zero()) {
                self.wrong(
                    &path.key("run_time"),
                    "a job runs for some time; leave it out if it is not known",
                );
            }
            specs.push(ApplicationSpec { application, run_time: keys.run_time, key_holders });
        }
        specs
    }
}
