//! What changes when a run continues under another description, and what cannot.

use std::fmt::Display;

use thiserror::Error;

use crate::model::{
    BrokerSpec, ChurnSpec, Distribution, FailureAction, GridSpec, InstantOrder, Link, PartitionSpec, Payer,
    PlannedChurn, PlannedJobAct, RandomChurn, Replan, SiteSpec, SiteTariff,
};
use crate::units::{Span, Time};

/// The changes of a description that a run cannot continue with.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the run cannot continue with these changes: {}", .refused.join("; "))]
pub struct ChangeError {
    /// A sentence for each: what differs, and why it must not.
    pub refused: Vec<String>,
}

impl ChangeError {
    /// What the user can do.
    pub fn hint(&self) -> &'static str {
        "undo the change, or run the other grid from its beginning"
    }
}

/// What differs from `at` on if a run of `old` goes on as `new`, a sentence each; empty if nothing does.
///
/// Policies, churn, prices, power, connections and the broker's settings may change. Up and down times that have begun by chance keep
/// their ends, transfers and messages in transit arrive, and past charges stay.
///
/// # Errors
/// [`ChangeError`] names everything that cannot change during a run: the sites, partitions and machines, what is recorded, and
/// everything before `at`.
pub fn changes(old: &GridSpec, new: &GridSpec, at: Time) -> Result<Vec<String>, ChangeError> {
    let mut found = Found { at, ..Found::default() };
    found.seed(old, new);
    let names =
        |spec: &GridSpec| -> Vec<String> { spec.sites.iter().map(|site| site.name.clone()).collect() };
    if names(old) == names(new) {
        for (old, new) in old.sites.iter().zip(&new.sites) {
            found.site(old, new);
        }
        found.network(old, new);
    } else {
        found.refuse(format!(
            "it has the sites {}, not {}; sites cannot be added or removed in the middle of a run, only leave and join by churn",
            listed(&names(new)),
            listed(&names(old)),
        ));
    }
    match (&old.broker, &new.broker) {
        (Some(old), Some(new)) => found.broker(old, new),
        (None, None) => {}
        (Some(_), None) => found.refuse("the broker cannot be removed: it holds jobs".to_owned()),
        (None, Some(_)) => found.refuse("a broker cannot be added in the middle of a run".to_owned()),
    }
    if found.refused.is_empty() { Ok(found.changes) } else { Err(ChangeError { refused: found.refused }) }
}

/// The differences found so far.
#[derive(Default)]
struct Found {
    at: Time,
    changes: Vec<String>,
    refused: Vec<String>,
}

impl Found {
    fn refuse(&mut self, problem: String) {
        self.refused.push(problem);
    }

    /// Compares something that may change.
    fn may<T: PartialEq>(&mut self, what: impl Display, old: &T, new: &T, show: impl Fn(&T) -> String) {
        if old != new {
            self.changes.push(format!("{what}: {} instead of {}", show(new), show(old)));
        }
    }

    /// Compares something that must not change.
    fn must_not<T: PartialEq>(
        &mut self,
        what: impl Display,
        old: &T,
        new: &T,
        show: impl Fn(&T) -> String,
        why: &str,
    ) {
        if old != new {
            self.refuse(format!("{what} would be {} instead of {}, but {why}", show(new), show(old)));
        }
    }

    fn seed(&mut self, old: &GridSpec, new: &GridSpec) {
        self.may("seed of later draws", &old.seed, &new.seed, u64::to_string);
    }

    fn site(&mut self, old: &SiteSpec, new: &SiteSpec) {
        let site = format!("site `{}`", old.name);
        let names = |site: &SiteSpec| -> Vec<String> {
            site.partitions.iter().map(|part| part.name.clone()).collect()
        };
        if names(old) == names(new) {
            for (old, new) in old.partitions.iter().zip(&new.partitions) {
                self.partition(&site, old, new);
            }
        } else {
            let why = "jobs run in them";
            self.must_not(
                format!("{site}: its partitions"),
                &names(old),
                &names(new),
                |names| listed(names),
                why,
            );
        }
        self.may(format!("{site}: local policy"), &old.policy, &new.policy, quoted);
        self.may(format!("{site}: order within an instant"), &old.order, &new.order, |order| match order {
            InstantOrder::Instant => "one pass per instant".to_owned(),
            InstantOrder::Event => "one pass per event".to_owned(),
        });
        let why = "the end of a job is decided at its start";
        self.must_not(
            format!("{site}: jobs beyond their estimate"),
            &old.overrun,
            &new.overrun,
            |overrun| if *overrun { "allowed".to_owned() } else { "killed".to_owned() },
            why,
        );
        let why = "it multiplies the energy of the whole run";
        self.must_not(format!("{site}: its PUE"), &old.pue_ppm, &new.pue_ppm, |ppm| decimal(*ppm), why);
        self.tariff(&site, &old.tariff, &new.tariff);
        if old.reservations != new.reservations {
            self.refuse(format!("{site}: its reservations differ, but they were made at the beginning"));
        }
        if (old.record_machines, old.record_segments) != (new.record_machines, new.record_segments) {
            self.refuse(format!(
                "{site}: other records would be written, and the files would be inconsistent"
            ));
        }
        self.churn(&site, &old.churn, &new.churn);
        self.orders(&site, &old.orders, &new.orders);
    }

    fn orders(&mut self, site: &str, old: &[PlannedJobAct], new: &[PlannedJobAct]) {
        let split = |orders: &[PlannedJobAct]| orders.partition_point(|order| order.at < self.at);
        let (before, after) = (old.split_at(split(old)), new.split_at(split(new)));
        if before.0 != after.0 {
            self.refuse(format!(
                "{site}: scripted commands to jobs differ before {} s, which is in the past",
                self.at
            ));
        }
        if before.1 != after.1 {
            self.changes.push(format!(
                "{site}: scripted commands to jobs: {} instead of {}",
                acts(after.1.len(), before.1.len() == after.1.len()),
                acts(before.1.len(), false)
            ));
        }
    }

    fn partition(&mut self, site: &str, old: &PartitionSpec, new: &PartitionSpec) {
        let place = format!("{site}, partition `{}`", old.name);
        let why = "machines cannot be added or removed in the middle of a run, only leave and join by churn";
        self.must_not(format!("{place}: machines"), &old.machines, &new.machines, u32::to_string, why);
        self.must_not(format!("{place}: absent machines"), &old.absent, &new.absent, u32::to_string, why);
        self.must_not(format!("{place}: cores"), &old.cores, &new.cores, u32::to_string, why);
        let why = "running jobs keep the speed and the allocation units of their start";
        self.must_not(
            format!("{place}: speed"),
            &old.speed,
            &new.speed,
            |speed| format!("{:.6}", speed.units() as f64 / crate::units::Rate::FULL.units() as f64),
            why,
        );
        self.must_not(
            format!("{place}: allocation unit"),
            &old.allocation_unit,
            &new.allocation_unit,
            u32::to_string,
            why,
        );
        self.may(format!("{place}: power of an idle core"), &old.idle, &new.idle, |power| power.to_string());
        self.may(format!("{place}: power of a busy core"), &old.busy, &new.busy, |power| power.to_string());
        self.may(format!("{place}: price"), &old.price, &new.price, |price| price.to_string());
    }

    fn tariff(&mut self, site: &str, old: &SiteTariff, new: &SiteTariff) {
        fn shown<T: Display>(value: &Option<T>, without: &str) -> String {
            value.as_ref().map_or_else(|| without.to_owned(), |value| format!("`{value}`"))
        }
        self.may(format!("{site}: price by the hour"), &old.price_by_hour, &new.price_by_hour, |rates| {
            shown(rates, "flat")
        });
        self.may(format!("{site}: price of electricity"), &old.electricity, &new.electricity, |price| {
            shown(price, "none")
        });
        self.may(
            format!("{site}: price of electricity by the hour"),
            &old.electricity_by_hour,
            &new.electricity_by_hour,
            |rates| shown(rates, "flat"),
        );
        self.may(
            format!("{site}: time of day at the beginning of the run"),
            &old.starts_at,
            &new.starts_at,
            seconds,
        );
    }

    fn churn(&mut self, site: &str, old: &ChurnSpec, new: &ChurnSpec) {
        self.may(format!("{site}: random outages"), &old.random, &new.random, |random| match random {
            None => "none".to_owned(),
            Some(RandomChurn { up, down }) => {
                let shown = |law: &Distribution| format!("`{law}`");
                format!("up {}, down {}", shown(up), shown(down))
            }
        });
        let past = |script: &[PlannedChurn]| script.partition_point(|act| act.at < self.at);
        let (before, after) =
            (old.script.split_at(past(&old.script)), new.script.split_at(past(&new.script)));
        if before.0 != after.0 {
            self.refuse(format!(
                "{site}: scripted events of machines differ before {} s, which is in the past",
                self.at
            ));
        }
        if before.1 != after.1 {
            self.changes.push(format!(
                "{site}: scripted events of machines: {} instead of {}",
                acts(after.1.len(), before.1.len() == after.1.len()),
                acts(before.1.len(), false)
            ));
        }
        self.may(format!("{site}: failure action"), &old.on_failure, &new.on_failure, |action| {
            match action {
                FailureAction::Requeue => "requeue",
                FailureAction::Resubmit => "resubmit",
                FailureAction::Wait => "wait",
                FailureAction::Fail => "fail",
            }
            .to_owned()
        });
        self.may(
            format!("{site}: waiting grid jobs when the site leaves"),
            &old.return_queued,
            &new.return_queued,
            |back| if *back { "return to the broker".to_owned() } else { "stay".to_owned() },
        );
        self.may(format!("{site}: maximum number of attempts"), &old.attempts, &new.attempts, unlimited);
        self.may(
            format!("{site}: checkpoints of later attempts"),
            &old.checkpoint,
            &new.checkpoint,
            |wanted| {
                use crate::model::CheckpointInterval::{Daly, Every, Young};
                match wanted {
                    None => "none".to_owned(),
                    Some(wanted) => {
                        let every = match wanted.interval {
                            Young => "by Young's rule".to_owned(),
                            Daly => "by Daly's rule".to_owned(),
                            Every(interval) => format!("every {interval} s"),
                        };
                        format!("{every}, {} s each", wanted.cost)
                    }
                }
            },
        );
    }

    fn network(&mut self, old: &GridSpec, new: &GridSpec) {
        let place = |at: usize| match at {
            0 => "the portal".to_owned(),
            at => format!("site `{}`", old.sites[at - 1].name),
        };
        for b in 1..=old.sites.len() {
            for a in 0..b {
                let (was, is): (Link, Link) = (old.network.link(a, b), new.network.link(a, b));
                let between = format!("between {} and {}", place(a), place(b));
                self.may(format!("latency {between}"), &was.latency, &is.latency, seconds);
                self.may(format!("bandwidth {between}"), &was.bandwidth, &is.bandwidth, |width| {
                    width.map_or_else(|| "any".to_owned(), |width| width.to_string())
                });
            }
        }
    }

    fn broker(&mut self, old: &BrokerSpec, new: &BrokerSpec) {
        let yes = |yes: &bool| if *yes { "yes".to_owned() } else { "no".to_owned() };
        self.may("broker: policy", &old.policy, &new.policy, quoted);
        self.may("broker: sites report", &old.monitoring_interval, &new.monitoring_interval, |every| {
            if every.is_zero() { "at every change".to_owned() } else { format!("every {every} s") }
        });
        self.may("broker: counts jobs in flight", &old.count_in_flight, &new.count_in_flight, yes);
        self.may("broker: replans", &old.replan, &new.replan, |replan| {
            match replan {
                Replan::Never => "never",
                Replan::OnChurn => "on churn",
                Replan::EveryReport => "with every report",
            }
            .to_owned()
        });
        self.may("broker: recalls jobs that wait at sites", &old.recall_queued, &new.recall_queued, yes);
        self.may("broker: retries", &old.retries, &new.retries, u32::to_string);
        self.may("broker: back-off", &old.backoff, &new.backoff, seconds);
        self.may("broker: maximum number of grid jobs at a site", &old.in_flight, &new.in_flight, unlimited);
        self.may("broker: time of a dispatch", &old.overhead, &new.overhead, seconds);
        self.may(
            "broker: who pays for failed attempts",
            &old.failed_attempts,
            &new.failed_attempts,
            |payer| {
                match payer {
                    Payer::User => "the user",
                    Payer::Site => "the site",
                }
                .to_owned()
            },
        );
    }
}

fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

fn quoted(name: &impl Display) -> String {
    format!("`{name}`")
}

fn seconds(span: &Span) -> String {
    format!("{span} s")
}

fn unlimited(most: &Option<u32>) -> String {
    most.map_or_else(|| "any number".to_owned(), |most| most.to_string())
}

fn decimal(ppm: u64) -> String {
    (ppm as f64 / 1e6).to_string()
}

/// The number of acts still to come, in words.
fn acts(count: usize, other: bool) -> String {
    let noun = if count == 1 { "act" } else { "acts" };
    format!("{count} {}{noun} to come", if other { "other " } else { "" })
}
