//! What changes when a grid goes on in the middle of a run under another description, and what cannot.

use std::fmt::Display;

use thiserror::Error;

use crate::model::{
    BrokerSpec, ChurnSpec, Distribution, Fate, GridSpec, InstantOrder, Link, PartitionSpec, Payer,
    PlannedChurn, PlannedJobAct, RandomChurn, Replan, SiteSpec, SiteTariff,
};
use crate::units::{Span, Time};

/// What the description of a run that goes on cannot change.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("a run cannot go on like this: {}", .refused.join("; "))]
pub struct ChangeError {
    /// A sentence each: what differs, and why it must not.
    pub refused: Vec<String>,
}

impl ChangeError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        "change it back, or run the other grid from its beginning"
    }
}

/// What is different from `at` on if a run of `old` goes on as `new`, a sentence each; empty if nothing is.
///
/// Policies, churn, prices, power, connections and the broker's settings may change. Stretches that have begun by chance keep
/// their ends, transfers and messages that are on their way arrive, and what has been charged stays charged.
///
/// # Errors
/// [`ChangeError`] names everything that cannot change in the middle of a run: which sites, partitions and machines there
/// are, what is recorded, and what has happened before `at`.
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
            "it has the sites {}, not {}; sites neither come nor go in the middle of a run, except by churn",
            listed(&names(new)),
            listed(&names(old)),
        ));
    }
    match (&old.broker, &new.broker) {
        (Some(old), Some(new)) => found.broker(old, new),
        (None, None) => {}
        (Some(_), None) => found.refuse("it has no broker any more, which holds jobs".to_owned()),
        (None, Some(_)) => found.refuse("it has a broker, which was not there at the beginning".to_owned()),
    }
    if found.refused.is_empty() { Ok(found.changes) } else { Err(ChangeError { refused: found.refused }) }
}

/// What has been found so far.
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

    /// Something that may change.
    fn may<T: PartialEq>(&mut self, what: impl Display, old: &T, new: &T, show: impl Fn(&T) -> String) {
        if old != new {
            self.changes.push(format!("{what}: {} instead of {}", show(new), show(old)));
        }
    }

    /// Something that must not.
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
        self.may("seed of what is drawn from now on", &old.seed, &new.seed, u64::to_string);
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
            let why = "partitions are what jobs run in";
            self.must_not(
                format!("{site}: its partitions"),
                &names(old),
                &names(new),
                |names| listed(names),
                why,
            );
        }
        self.may(format!("{site}: local policy"), &old.policy, &new.policy, quoted);
        self.may(format!("{site}: what happens first at one instant"), &old.order, &new.order, |order| {
            match order {
                InstantOrder::Instant => "one pass an instant".to_owned(),
                InstantOrder::Event => "one pass an event".to_owned(),
            }
        });
        let why = "when a job ends is settled when it starts";
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
            self.refuse(format!("{site}: its reservations differ, but they were booked at the beginning"));
        }
        if (old.record_machines, old.record_segments) != (new.record_machines, new.record_segments) {
            self.refuse(format!(
                "{site}: other records would be written, and the files would tell half a story"
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
                "{site}: what is done to its jobs differs before {} s, and what has happened has happened",
                self.at
            ));
        }
        if before.1 != after.1 {
            self.changes.push(format!(
                "{site}: what is done to its jobs: {} instead of {}",
                acts(after.1.len(), before.1.len() == after.1.len()),
                acts(before.1.len(), false)
            ));
        }
    }

    fn partition(&mut self, site: &str, old: &PartitionSpec, new: &PartitionSpec) {
        let place = format!("{site}, partition `{}`", old.name);
        let why = "machines are what the run began with; churn may take them away";
        self.must_not(format!("{place}: machines"), &old.machines, &new.machines, u32::to_string, why);
        self.must_not(format!("{place}: absent machines"), &old.absent, &new.absent, u32::to_string, why);
        self.must_not(format!("{place}: cores"), &old.cores, &new.cores, u32::to_string, why);
        let why = "jobs run at the speed and in the blocks that they were started with";
        self.must_not(
            format!("{place}: speed"),
            &old.speed,
            &new.speed,
            |speed| format!("{:.6}", speed.units() as f64 / crate::units::Rate::FULL.units() as f64),
            why,
        );
        self.must_not(format!("{place}: quantum"), &old.quantum, &new.quantum, u32::to_string, why);
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
        self.may(
            format!("{site}: machines that come and go by chance"),
            &old.random,
            &new.random,
            |random| match random {
                None => "none".to_owned(),
                Some(RandomChurn { up, down }) => {
                    let shown = |law: &Distribution| format!("`{law}`");
                    format!("up {}, down {}", shown(up), shown(down))
                }
            },
        );
        let past = |script: &[PlannedChurn]| script.partition_point(|act| act.at < self.at);
        let (before, after) =
            (old.script.split_at(past(&old.script)), new.script.split_at(past(&new.script)));
        if before.0 != after.0 {
            self.refuse(format!(
                "{site}: the script of its churn differs before {} s, and what has happened has happened",
                self.at
            ));
        }
        if before.1 != after.1 {
            self.changes.push(format!(
                "{site}: script of churn: {} instead of {}",
                acts(after.1.len(), before.1.len() == after.1.len()),
                acts(before.1.len(), false)
            ));
        }
        self.may(format!("{site}: a job whose machine leaves"), &old.running, &new.running, |fate| {
            match fate {
                Fate::Requeue => "is requeued",
                Fate::GiveBack => "goes back",
                Fate::Wait => "waits",
                Fate::Fail => "fails",
            }
            .to_owned()
        });
        self.may(
            format!("{site}: jobs of the grid that wait when the site leaves"),
            &old.return_queued,
            &new.return_queued,
            |back| if *back { "go back".to_owned() } else { "stay".to_owned() },
        );
        self.may(format!("{site}: attempts of a job at most"), &old.attempts, &new.attempts, unlimited);
        self.may(
            format!("{site}: checkpoints of attempts to come"),
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
        self.may("broker: sites report", &old.picture, &new.picture, |every| {
            if every.is_zero() { "at every change".to_owned() } else { format!("every {every} s") }
        });
        self.may("broker: counts what is in flight", &old.count_in_flight, &new.count_in_flight, yes);
        self.may("broker: replans", &old.replan, &new.replan, |replan| {
            match replan {
                Replan::Never => "never",
                Replan::OnChurn => "on churn",
                Replan::EveryPicture => "with every picture",
            }
            .to_owned()
        });
        self.may("broker: takes back what waits at sites", &old.recall_queued, &new.recall_queued, yes);
        self.may("broker: retries", &old.retries, &new.retries, u32::to_string);
        self.may("broker: back-off", &old.backoff, &new.backoff, seconds);
        self.may("broker: jobs at a site at most", &old.in_flight, &new.in_flight, unlimited);
        self.may("broker: what a dispatch takes", &old.overhead, &new.overhead, seconds);
        self.may("broker: who pays for lost attempts", &old.lost_attempts, &new.lost_attempts, |payer| {
            match payer {
                Payer::User => "the job",
                Payer::Site => "the site",
            }
            .to_owned()
        });
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

/// So many acts that are to come.
fn acts(count: usize, other: bool) -> String {
    let noun = if count == 1 { "act" } else { "acts" };
    format!("{count} {}{noun} to come", if other { "other " } else { "" })
}
