//! What changes when a run continues under another description, and what cannot.

mod churn;

use std::collections::BTreeSet;
use std::fmt::Display;

use thiserror::Error;

use crate::model::{
    ApplicationSpec, BrokerSpec, CoallocationSpec, DataRates, Embodied, FaultSpec, GridSpec, Heartbeat,
    Information, InstantOrder, Link, LostData, MachineGroup, PartitionSpec, Payer, PerKwh, PlanRepair,
    PlanningTime, Replan, Reservable, RunTimes, Sharing, SiteSpec, SiteTariff, TaskOrder, TransferMode,
    WorkflowSettings,
};
use crate::units::{Bandwidth, Bytes, Rate, Span, Time};

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
    found.may("seed of later draws", &old.seed, &new.seed, u64::to_string);
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
        (Some(was), Some(is)) => {
            found.broker(was, is, &old.sites);
            found.met(old, new, &was.faults);
        }
        (None, None) => {}
        (Some(_), None) => found.refuse("the broker cannot be removed: it holds jobs"),
        (None, Some(_)) => found.refuse("a broker cannot be added in the middle of a run"),
    }
    if found.refused.is_empty() { Ok(found.changes) } else { Err(ChangeError { refused: found.refused }) }
}

/// The differences found so far.
#[derive(Default)]
struct Found {
    at: Time,
    /// What is being compared, as sentences about it begin.
    subject: String,
    /// The power policy that chooses the speed of machines before or after, if one does.
    levels: Option<String>,
    changes: Vec<String>,
    refused: Vec<String>,
}

impl Found {
    fn refuse(&mut self, problem: impl Display) {
        self.refused.push(format!("{}{problem}", self.subject));
    }

    /// Compares something that may change.
    fn may<T: PartialEq>(&mut self, what: &str, old: &T, new: &T, show: impl Fn(&T) -> String) {
        if old != new {
            let (old, new) = (show(old), show(new));
            self.changes.push(format!("{}{what}: {new} instead of {old}", self.subject));
        }
    }

    /// Compares something that must not change.
    fn must_not<T: PartialEq>(
        &mut self,
        what: &str,
        old: &T,
        new: &T,
        show: impl Fn(&T) -> String,
        why: &str,
    ) {
        if old != new {
            self.refuse(format!("{what} would be {} instead of {}, but {why}", show(new), show(old)));
        }
    }

    /// Compares scripts, of which only the acts to come may change.
    fn script<T: PartialEq>(&mut self, what: &str, old: &[T], new: &[T], when: impl Fn(&T) -> Time) {
        let split = |script: &[T]| script.partition_point(|act| when(act) < self.at);
        let (before, after) = (old.split_at(split(old)), new.split_at(split(new)));
        if before.0 != after.0 {
            self.refuse(format!("{what} differ before {}, which is in the past", self.at.told()));
        }
        if before.1 != after.1 {
            let now = acts(after.1.len(), before.1.len() == after.1.len());
            let earlier = acts(before.1.len(), false);
            self.changes.push(format!("{}{what}: {now} instead of {earlier}", self.subject));
        }
    }

    /// Compares what decides, beside faults themselves, when messages arrive that meet them.
    fn met(&mut self, old: &GridSpec, new: &GridSpec, faults: &[FaultSpec]) {
        self.subject.clear();
        if faults.iter().any(|fault| fault.kind.law().is_some()) && old.seed != new.seed {
            self.refuse(
                "the seed differs, but faults draw from it how late messages are that have been sent",
            );
        }
        let latency = |spec: &GridSpec| -> Vec<Span> {
            (1..=spec.sites.len()).map(|at| spec.network.link(0, at).latency).collect()
        };
        if !faults.is_empty() && latency(old) != latency(new) {
            self.refuse("latencies differ, but while there are faults these decide when a site is missed");
        }
    }

    fn site(&mut self, old: &SiteSpec, new: &SiteSpec) {
        let names = |site: &SiteSpec| -> Vec<String> {
            site.partitions.iter().map(|part| part.name.clone()).collect()
        };
        if names(old) == names(new) {
            let levels = [&old.power, &new.power].into_iter().find(|power| power.name == "lowest-level");
            self.levels = levels.map(|power| power.to_string());
            for (part, new) in old.partitions.iter().zip(&new.partitions) {
                self.subject = format!("site `{}`, partition `{}`: ", old.name, part.name);
                self.partition(part, new);
            }
        }
        self.subject = format!("site `{}`: ", old.name);
        let why = "jobs run in them";
        self.must_not("its partitions", &names(old), &names(new), |names| listed(names), why);
        self.may("local policy", &old.policy, &new.policy, quoted);
        self.may("order within an instant", &old.order, &new.order, |order| match order {
            InstantOrder::Instant => "one pass per instant".to_owned(),
            InstantOrder::Event => "one pass per event".to_owned(),
        });
        self.may("power cap", &old.power_cap, &new.power_cap, |cap| {
            cap.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string)
        });
        self.may("power policy", &old.power, &new.power, quoted);
        self.may("what preemption costs", &old.preemption, &new.preemption, ToString::to_string);
        self.may("what the grid may reserve", &old.reservable, &new.reservable, Reservable::to_string);
        self.may("placement", &old.placement, &new.placement, |rule| rule.name().to_owned());
        let overrun = |allowed: &bool| if *allowed { "allowed".to_owned() } else { "killed".to_owned() };
        let why = "the end of a job is decided at its start";
        self.must_not("jobs beyond their estimate", &old.overrun, &new.overrun, overrun, why);
        let why = "it multiplies the energy of the whole run";
        self.must_not("its PUE", &old.pue_ppm, &new.pue_ppm, |ppm| (*ppm as f64 / 1e6).to_string(), why);
        self.tariff(&old.tariff, &new.tariff);
        if old.reservations != new.reservations {
            self.refuse("its reservations differ, but they were made at the beginning; an event with `reserve` makes one later");
        }
        if (old.record_machines, old.record_segments) != (new.record_machines, new.record_segments) {
            self.refuse("other records would be written, and the files would be inconsistent");
        }
        self.churn(&old.churn, &new.churn);
        self.script("scripted orders", &old.orders, &new.orders, |order| order.at);
        self.subject.clear();
    }

    fn partition(&mut self, old: &PartitionSpec, new: &PartitionSpec) {
        let why = "machines cannot be added or removed in the middle of a run, only leave and join by churn";
        self.must_not("absent machines", &old.absent, &new.absent, u32::to_string, why);
        self.must_not("cores", &old.cores, &new.cores, u32::to_string, why);
        let classes = |part: &PartitionSpec| -> Vec<String> {
            part.groups.iter().map(|group| group.class.clone()).collect()
        };
        self.must_not("machine classes", &classes(old), &classes(new), |classes| listed(classes), why);
        let (unit, new_unit) = (&old.allocation_unit, &new.allocation_unit);
        let why = "running jobs keep the allocation units of their start";
        self.must_not("allocation unit", unit, new_unit, u32::to_string, why);
        for (group, new) in old.groups.iter().zip(&new.groups) {
            let subject = self.subject.clone();
            if old.groups.len() > 1 {
                self.subject = format!("{}, class `{}`: ", subject.trim_end_matches(": "), group.class);
            }
            self.group(group, new);
            self.subject = subject;
        }
    }

    fn group(&mut self, old: &MachineGroup, new: &MachineGroup) {
        let why = "machines cannot be added or removed in the middle of a run, only leave and join by churn";
        self.must_not("machines", &old.machines, &new.machines, u32::to_string, why);
        let why = match &self.levels {
            Some(policy) if old.speed != new.speed => {
                format!(
                    "running jobs keep the speed of their start (the power policy `{policy}` chooses the level of the machines)"
                )
            }
            _ => "running jobs keep the speed of their start".to_owned(),
        };
        let speed = |speed: &Rate| format!("{:.6}", speed.units() as f64 / Rate::FULL.units() as f64);
        self.must_not("speed", &old.speed, &new.speed, speed, &why);
        let why = "jobs are where machines have what they need";
        self.must_not("memory of a machine", &old.equipment.memory, &new.equipment.memory, bytes, why);
        let tags = |tags: &BTreeSet<String>| if tags.is_empty() { "none".to_owned() } else { listed(tags) };
        self.must_not("tags", &old.equipment.tags, &new.equipment.tags, tags, why);
        self.may("power of an idle core", &old.idle, &new.idle, |power| power.to_string());
        self.may("power of a busy core", &old.busy, &new.busy, |power| power.to_string());
        self.may("price", &old.price, &new.price, |price| price.to_string());
        self.may("sleep state", &old.sleep, &new.sleep, |state| {
            state.map_or_else(
                || "none".to_owned(),
                |state| {
                    format!(
                        "{} asleep, {} s and {} to wake up, {} s and {} to go to sleep",
                        state.asleep, state.wake, state.waking, state.fall, state.falling
                    )
                },
            )
        });
        self.may("power by load", &old.by_load, &new.by_load, |points| {
            points.as_ref().map_or_else(
                || "none".to_owned(),
                |points| points.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
            )
        });
        let why = "it falls to the whole run";
        self.must_not("embodied carbon", &old.embodied, &new.embodied, embodied, why);
    }

    fn tariff(&mut self, old: &SiteTariff, new: &SiteTariff) {
        fn or<T: Display>(without: &str) -> impl Fn(&Option<T>) -> String + '_ {
            move |value| value.as_ref().map_or_else(|| without.to_owned(), quoted)
        }
        self.may("price by the hour", &old.price_by_hour, &new.price_by_hour, or("flat"));
        self.may("price of electricity", &old.electricity, &new.electricity, |price| match price {
            Some(PerKwh::Flat(nanos)) => quoted(&format!("{}/kWh", *nanos as f64 / 1e9)),
            other => PerKwh::told(other.as_ref()),
        });
        let (was, is) = (&old.electricity_by_hour, &new.electricity_by_hour);
        self.may("price of electricity by the hour", was, is, or("flat"));
        self.may("carbon intensity", &old.carbon, &new.carbon, |carbon| match carbon {
            Some(PerKwh::Flat(micrograms)) => quoted(&format!("{} g/kWh", *micrograms as f64 / 1e6)),
            other => PerKwh::told(other.as_ref()),
        });
        let (was, is) = (&old.carbon_by_hour, &new.carbon_by_hour);
        self.may("carbon intensity by the hour", was, is, or("flat"));
        self.may("time of day at the beginning of the run", &old.starts_at, &new.starts_at, written);
    }

    fn network(&mut self, old: &GridSpec, new: &GridSpec) {
        let place = |at: usize| place(&old.sites, at);
        let width =
            |width: &Option<Bandwidth>| width.map_or_else(|| "any".to_owned(), |width| width.to_string());
        let same = (old.network.everywhere, &old.network.own) == (new.network.everywhere, &new.network.own);
        for b in (1..=old.sites.len()).filter(|_| !same) {
            for a in 0..b {
                let (was, is): (Link, Link) = (old.network.link(a, b), new.network.link(a, b));
                if was == is {
                    continue;
                }
                let between = format!("between {} and {}", place(a), place(b));
                self.may(&format!("latency {between}"), &was.latency, &is.latency, written);
                self.may(&format!("bandwidth {between}"), &was.bandwidth, &is.bandwidth, width);
            }
        }
        let (old, new) = (&old.network, &new.network);
        self.may("links", &old.sharing, &new.sharing, |sharing| match sharing {
            Sharing::Shared => "shared".to_owned(),
            Sharing::Unshared => "unshared".to_owned(),
        });
        self.may("what moving data takes", &old.data, &new.data, DataRates::to_string);
        for at in 0..old.uplinks.len().max(new.uplinks.len()) {
            self.may(&format!("uplink of {}", place(at)), &old.uplink(at), &new.uplink(at), width);
        }
        for at in 0..old.storages.len().max(new.storages.len()) {
            let (was, is) = (old.storage(at), new.storage(at));
            self.may(
                &format!("bandwidth of the storage of {}", place(at)),
                &was.bandwidth,
                &is.bandwidth,
                width,
            );
            self.may(
                &format!("capacity of the storage of {}", place(at)),
                &was.capacity,
                &is.capacity,
                bytes,
            );
        }
    }

    fn workflow(&mut self, old: &WorkflowSettings, new: &WorkflowSettings, sites: &[SiteSpec]) {
        self.subject = "workflows: ".to_owned();
        // All of them, so that none is forgotten.
        let WorkflowSettings { transfer, files, lost, replan, together, order, estimates, error_ppm } = old;
        self.may("files leave", transfer, &new.transfer, |mode| {
            match mode {
                TransferMode::Eager => "when it is known where",
                TransferMode::Lazy => "when their task is assigned",
            }
            .to_owned()
        });
        let why = "stage-in lies there, and results have gone there";
        self.must_not(
            "place of stage-in and results",
            files,
            &new.files,
            |at| place(sites, *at as usize),
            why,
        );
        self.may("files of a site that has left", lost, &new.lost, |lost| {
            match lost {
                LostData::Wait => "are waited for",
                LostData::Copy => "are copied from elsewhere",
                LostData::Again => "are copied from elsewhere, or computed again",
            }
            .to_owned()
        });
        self.may("planned anew is", replan, &new.replan, |replan| {
            match replan {
                PlanRepair::Lost => "what is lost and what waits for it",
                PlanRepair::Rest => "all that has not been sent",
            }
            .to_owned()
        });
        self.may("when one arrives", together, &new.together, |together| {
            if *together { "all are planned together" } else { "it is planned by itself" }.to_owned()
        });
        self.may("order of ready tasks", order, &new.order, |order| {
            match order {
                TaskOrder::Policy => "as they became ready",
                TaskOrder::CriticalPath => "the critical path first",
            }
            .to_owned()
        });
        self.may("estimates", estimates, &new.estimates, |base| base.name().to_owned());
        self.may("error of estimates", error_ppm, &new.error_ppm, |ppm| (*ppm as f64 / 1e6).to_string());
    }

    fn broker(&mut self, old: &BrokerSpec, new: &BrokerSpec, sites: &[SiteSpec]) {
        self.subject = "broker: ".to_owned();
        let yes = |yes: &bool| if *yes { "yes".to_owned() } else { "no".to_owned() };
        self.may("policy", &old.policy, &new.policy, quoted);
        self.may("sites report", &old.monitoring_interval, &new.monitoring_interval, |every| {
            if every.is_zero() { "at every change".to_owned() } else { format!("every {}", every.written()) }
        });
        self.may("counts jobs in flight", &old.count_in_flight, &new.count_in_flight, yes);
        self.may("believes", &old.information, &new.information, |information| {
            match information {
                Information::Reported => "what sites report",
                Information::Forecast => "forecasts",
            }
            .to_owned()
        });
        self.may("measured waits count for", &old.forecast_within, &new.forecast_within, written);
        self.may("plans with run times by", &old.run_times, &new.run_times, |run_times| {
            match run_times {
                RunTimes::Estimates => "estimates",
                RunTimes::Applications => "records of applications",
            }
            .to_owned()
        });
        let registered = |records: &Vec<ApplicationSpec>| match records.len() {
            1 => "1 record".to_owned(),
            many => format!("{many} records"),
        };
        if old.applications != new.applications && old.applications.len() == new.applications.len() {
            self.changes.push(format!("{}registered applications differ", self.subject));
        } else {
            self.may("registered applications", &old.applications, &new.applications, registered);
        }
        self.may("replans", &old.replan, &new.replan, |replan| {
            match replan {
                Replan::Never => "never",
                Replan::OnChurn => "on churn",
                Replan::EveryReport => "with every report",
            }
            .to_owned()
        });
        self.may("recalls jobs that wait at sites", &old.recall_queued, &new.recall_queued, yes);
        self.may("retries", &old.retries, &new.retries, u32::to_string);
        self.may("back-off", &old.backoff, &new.backoff, written);
        self.may("maximum number of grid jobs at a site", &old.in_flight, &new.in_flight, unlimited);
        self.may("time of a dispatch", &old.overhead, &new.overhead, written);
        let planning = |time: &PlanningTime| match time {
            time if time.is_none() => "none".to_owned(),
            PlanningTime { base, per_task } => {
                format!("{}, and {} a task", base.written(), per_task.written())
            }
        };
        self.may("time of a plan", &old.planning, &new.planning, planning);
        let payer = |payer: &Payer| match payer {
            Payer::User => "the user".to_owned(),
            Payer::Site => "the site".to_owned(),
        };
        let (was, is) = (&old.coallocation, &new.coallocation);
        self.may("reserves at several sites", was, is, CoallocationSpec::to_string);
        self.may("who pays for failed attempts", &old.failed_attempts, &new.failed_attempts, payer);
        self.faults(old, new);
        self.workflow(&old.workflow, &new.workflow, sites);
    }

    /// Compares faults, and what decides when they are noticed.
    fn faults(&mut self, old: &BrokerSpec, new: &BrokerSpec) {
        let why = "what has been sent was sent with them in mind";
        let faults = |faults: &Vec<FaultSpec>| match faults.len() {
            0 => "none".to_owned(),
            1 => "1 fault".to_owned(),
            many => format!("{many} faults"),
        };
        if old.faults != new.faults && old.faults.len() == new.faults.len() {
            self.refuse(format!("faults differ, but {why}"));
        } else {
            self.must_not("faults", &old.faults, &new.faults, faults, why);
        }
        let heartbeat = |heartbeat: &Option<Heartbeat>| {
            heartbeat.map_or_else(
                || "none".to_owned(),
                |Heartbeat { timeout, lease }| {
                    format!("{}, with a lease of {}", timeout.written(), lease.written())
                },
            )
        };
        let has_faults = !old.faults.is_empty();
        if has_faults {
            self.must_not("timeout of the heartbeat", &old.heartbeat, &new.heartbeat, heartbeat, why);
        } else {
            self.may("timeout of the heartbeat", &old.heartbeat, &new.heartbeat, heartbeat);
        }
        if has_faults && old.monitoring_interval != new.monitoring_interval {
            self.refuse(
                "sites report at other times, but while there are faults these decide when a site is missed",
            );
        }
    }
}

/// A place of a network, in words.
fn place(sites: &[SiteSpec], at: usize) -> String {
    let site = at.checked_sub(1).and_then(|site| sites.get(site));
    site.map_or_else(|| "the portal".to_owned(), |site| format!("site `{}`", site.name))
}

fn listed<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    names.into_iter().map(quoted).collect::<Vec<String>>().join(", ")
}

fn quoted(name: &impl Display) -> String {
    format!("`{name}`")
}

fn written(span: &Span) -> String {
    span.written()
}

fn embodied(of: &Option<Embodied>) -> String {
    of.map_or_else(
        || "none".to_owned(),
        |of| format!("{} kg over {}", of.carbon.as_kg_f64(), of.lifetime.written()),
    )
}

fn bytes(bytes: &Option<Bytes>) -> String {
    bytes.map_or_else(|| "any".to_owned(), |bytes| bytes.to_string())
}

fn unlimited(most: &Option<u32>) -> String {
    most.map_or_else(|| "any number".to_owned(), |most| most.to_string())
}

/// The number of acts still to come, in words.
fn acts(count: usize, other: bool) -> String {
    let noun = if count == 1 { "act" } else { "acts" };
    format!("{count} {}{noun} to come", if other { "other " } else { "" })
}
