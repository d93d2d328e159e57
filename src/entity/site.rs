//! A site: its partitions, its own workload, and the order in which its events happen.

mod able;
mod agreements;
mod churn;
mod faults;
mod instant;
mod orders;
mod save;
mod uplink;

pub use save::SiteSave;
pub use uplink::Uplink;

use self::churn::Churn;
use self::faults::Meeting;
use self::uplink::Reporting;
use super::broker::unplaced;
use super::mailbox::{Mailbox, Moments};
use super::{Address, EntityError, Outbox, Quiescence, Sender, Stamp, ToSite};
use serde::{Deserialize, Serialize};

use crate::agreement::Holder;
use crate::local::{Exit, Partition, Registry, SearchEffort, Settings, Step, Tally};
use crate::local::{PowerRegistry, SleepRule};
use crate::model::{
    MachineGroup, Origin, Outcome, PartitionId, Payer, Record, RejectReason, Reservation, SiteId, SiteSpec,
};
use crate::units::Time;
use crate::workload::{Source, SourceError};

/// A site with its local scheduler, as a state machine.
///
/// At one moment `(t, round)` it handles, in this order: ends; changes (machines go down and come up, reservations end and
/// begin); wakes; arrivals (its own workload's jobs, then messages by sender and sequence); then one pass in every
/// partition where something happened; then its report, if it is due. Under [`InstantOrder::Event`](crate::model::InstantOrder::Event) each event has a
/// pass of its own, and the order is: machines, reservations that are over, arrivals, ends, reservations that begin, wakes.
#[derive(Debug)]
pub struct Site {
    spec: SiteSpec,
    id: SiteId,
    partitions: Vec<Partition>,
    source: SourceState,
    mail: Mailbox<ToSite>,
    /// The next moment at which something happens.
    next: Option<Stamp>,
    /// What may move a job from then on.
    causes: Causes,
    churn: Churn,
    /// What the grid has reserved here.
    holder: Holder,
    /// How many of the orders in its description have been carried out. It follows from the time that has passed, and is not
    /// saved.
    ordered: usize,
    /// The faults between it and the grid, if there are any, and what they have it remember.
    meeting: Meeting,
    /// The site's reports to the grid, if the site is part of one.
    uplink: Option<Reporting>,
    counts: Counts,
    /// Whether the accounts cover the whole run.
    whole_run: bool,
    /// Jobs refused because they name a partition that is not there.
    refused: u64,
    /// Records of what changed when the state was restored, to be written first.
    restore_records: Vec<Record>,
    /// Scratch: jobs that left in the current step.
    ended: Vec<Exit>,
    /// Scratch: partitions that need a pass.
    touched: Vec<bool>,
}

/// The site's counts of jobs that were not submitted through the portal, to detect the end of the run.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Counts {
    admitted: u64,
    done: u64,
    /// Messages from outside that have not been handled.
    outside: u64,
    last: Time,
}

/// What may move a job at a site, beside arrivals and messages.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
struct Causes {
    /// An event to come may start or end jobs that nothing else does: machines go down or come up, or an order is carried out.
    churn_pending: bool,
    /// An event of a partition may move a job.
    self_active: bool,
}

struct SourceState {
    source: Option<Box<dyn Source>>,
    /// When the source's next job is submitted.
    next: Option<Time>,
}

impl std::fmt::Debug for SourceState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SourceState").field("next", &self.next).finish_non_exhaustive()
    }
}

impl Site {
    /// An empty site. `source` is its own users' workload, `seed` is for random outages of machines.
    ///
    /// # Errors
    /// [`EntityError`] if the description is invalid, the policy does not exist or lacks an ability that is needed, or
    /// the first job cannot be read.
    pub fn new(
        id: SiteId,
        spec: SiteSpec,
        source: Option<Box<dyn Source>>,
        seed: u64,
        registry: &Registry,
        power: &PowerRegistry,
    ) -> Result<Self, EntityError> {
        spec.check()?;
        let mut partitions = Vec::with_capacity(spec.partitions.len());
        let power = power.build(&spec.power)?;
        for (at, part) in spec.partitions.iter().enumerate() {
            let (policy, abilities) = Self::check_policy(&spec, registry)?;
            let rule = |group: &MachineGroup| {
                let state = group.sleep.as_ref();
                state.map_or(SleepRule::NEVER, |state| power.sleep(state, group.idle_machine(part.cores)))
            };
            let sleep: Vec<SleepRule> = part.groups.iter().map(rule).collect();
            let ever = sleep.iter().any(|rule| *rule != SleepRule::NEVER);
            let booked = spec.reservations.iter().filter(|(of, _)| *of == at);
            let booked: Vec<Reservation> = booked.map(|(_, booked)| booked.clone()).collect();
            let settings = Settings {
                placement: spec.placement,
                site: id,
                site_name: spec.name.clone(),
                partition: PartitionId(at as u32),
                order: spec.order,
                overrun: spec.overrun,
                tariff: spec.tariff.clone(),
                pue_ppm: spec.pue_ppm,
                record_segments: spec.record_segments,
                record_machines: spec.record_machines,
                on_failure: spec.churn.on_failure,
                return_queued: spec.churn.return_queued,
                attempts: spec.churn.attempts,
                checkpoint: spec.churn.checkpoint,
                sleep: if ever { sleep } else { Vec::new() },
                mean_up: spec.churn.mean_up(part.machines()),
                seed,
                preemption: spec.preemption.clone(),
                failed_attempts: Payer::default(),
            };
            let (part, name) = (part.clone(), spec.policy.to_string());
            partitions.push(Partition::new(settings, part, policy, name, abilities, &booked));
        }
        let churn = Churn::new(&spec, seed);
        for (at, partition) in partitions.iter_mut().enumerate() {
            partition.absent(&churn.down(at));
        }
        let touched = vec![false; partitions.len()];
        let mut site = Self {
            spec,
            id,
            partitions,
            source: SourceState { source, next: None },
            mail: Mailbox::default(),
            next: None,
            causes: Causes::default(),
            churn,
            holder: Holder::default(),
            ordered: 0,
            meeting: Meeting::default(),
            uplink: None,
            counts: Counts::default(),
            whole_run: false,
            refused: 0,
            restore_records: Vec::new(),
            ended: Vec::new(),
            touched,
        };
        site.source.refresh()?;
        site.refresh();
        Ok(site)
    }

    /// Its place in the grid.
    pub fn id(&self) -> SiteId {
        self.id
    }

    /// Makes each pass here record the facts of its decision from now on.
    pub(crate) fn trace_decisions(&mut self) {
        self.partitions.iter_mut().for_each(Partition::trace_decisions);
    }

    /// Its description.
    pub fn spec(&self) -> &SiteSpec {
        &self.spec
    }

    /// Its partitions.
    pub fn partitions(&self) -> &[Partition] {
        &self.partitions
    }

    /// What the decisions of its policies have taken so far, if they search.
    pub fn effort(&self) -> Option<SearchEffort> {
        self.partitions.iter().filter_map(Partition::effort).reduce(SearchEffort::and)
    }

    /// Whether the policy of a partition tells of slices of classes of jobs.
    pub fn has_slices(&self) -> bool {
        self.partitions.iter().any(Partition::has_slices)
    }

    /// Whether the policy of a partition tells of groups of jobs.
    pub fn has_groups(&self) -> bool {
        self.partitions.iter().any(Partition::has_groups)
    }

    /// Counts over all partitions, and jobs that were refused because they named none of them.
    pub fn tally(&self) -> Tally {
        let mut sum = Tally { arrived: self.refused, ..Tally::default() };
        sum.outcomes[Outcome::Rejected(RejectReason::NoSuchPartition).index()] = self.refused;
        for tally in self.partitions.iter().map(Partition::tally) {
            sum.arrived += tally.arrived;
            sum.longest_queue = sum.longest_queue.max(tally.longest_queue);
            sum.passes += tally.passes;
            sum.short_reservations += tally.short_reservations;
            sum.returned += tally.returned;
            sum.commands += tally.commands;
            for (total, count) in sum.refused_commands.iter_mut().zip(tally.refused_commands) {
                *total += count;
            }
            for (total, count) in sum.outcomes.iter_mut().zip(tally.outcomes) {
                *total += count;
            }
        }
        sum
    }

    /// Notes of the workload for the end of the run.
    pub fn notes(&self) -> Vec<String> {
        self.source.source.as_ref().map(|source| source.notes()).unwrap_or_default()
    }

    /// The number of jobs that wait, run, are suspended or are stalled.
    pub fn live(&self) -> usize {
        self.partitions.iter().map(Partition::live).sum()
    }

    /// Ends the run at `now`: all jobs that are still here end as unfinished.
    pub fn close(&mut self, now: Time, outbox: &mut dyn Outbox) {
        let now = now.max(self.mail.passed().time);
        self.restore_records.drain(..).for_each(|record| outbox.record(record));
        self.refuse_orders_to_come(now, outbox);
        // All jobs here end here, also those from the portal, which no other entity will count.
        self.counts.done += self.live() as u64;
        for job in self.close_mail() {
            self.counts.admitted += u64::from(job.grid.is_none());
            self.counts.done += 1;
            let mut record = unplaced(&job, Outcome::Unfinished, now);
            if job.grid.is_none() {
                (record.origin, record.site, record.submit) = (Origin::Local, self.id, job.submit.min(now));
            }
            outbox.record(Record::Job(record));
        }
        for partition in &mut self.partitions {
            partition.close(&mut Step::new(now, outbox, &mut Vec::new()));
            if self.whole_run {
                partition.close_account(now);
            }
        }
    }

    /// When the last of the commands from outside that are not yet due is carried out.
    pub(crate) fn last_command(&self) -> Option<Time> {
        self.mail.last_from_outside()
    }

    /// Whether machines ever go down or come up here.
    pub fn churns(&self) -> bool {
        self.meeting.is_some() || self.spec.churn.has_outages() || !self.spec.churn.script.is_empty()
    }

    /// Makes the accounts of the processors begin now and end with the run, not with the first and the last job.
    pub(crate) fn account_from_the_beginning(&mut self) {
        self.whole_run = true;
        let now = self.mail.passed().time;
        self.partitions.iter_mut().for_each(|partition| partition.open_account(now));
    }

    /// Whether its accounts begin and end with the run.
    pub(crate) fn is_accounted_with_the_run(&self) -> bool {
        self.whole_run
    }

    /// Whether it has a workload of its own.
    pub(crate) fn has_users(&self) -> bool {
        self.source.source.is_some()
    }

    /// Whether nothing is to come here but passes that the policy asks for in vain.
    pub(crate) fn wakes_in_vain(&self) -> bool {
        self.partitions.iter().any(Partition::wakes_in_vain)
            && !self.more()
            && self.causes == Causes::default()
            && self.mail.due().is_none()
    }

    /// Whether jobs may still arrive that only the site can announce.
    fn more(&self) -> bool {
        self.source.next.is_some() || self.counts.outside > 0
    }

    /// What may move a job from now on.
    fn causes(&self) -> Causes {
        Causes {
            churn_pending: self.churn.next(&self.spec).is_some()
                || self.next_order().is_some()
                || self.meeting.next().is_some(),
            self_active: self.holder.next().is_some() || self.partitions.iter().any(Partition::self_active),
        }
    }

    /// Computes the next moment at which something happens here or a message arrives. It is done after every moment.
    fn refresh(&mut self) {
        let (churn, order) = (self.churn.next(&self.spec), self.next_order());
        let tick = self.uplink.as_ref().and_then(|uplink| uplink.next_tick);
        let fault = self.meeting.next();
        let lapse = self.holder.next();
        let restored = (!self.restore_records.is_empty()).then(|| self.mail.passed().time);
        let mut own = Time::NEVER;
        for time in [self.source.next, churn, order, fault, tick, restored, lapse].into_iter().flatten() {
            own = own.min(time);
        }
        let mut self_active = lapse.is_some();
        for partition in &mut self.partitions {
            own = own.min(partition.next_event().unwrap_or(Time::NEVER));
            self_active |= partition.self_active();
        }
        let churn_pending = churn.is_some() || order.is_some() || fault.is_some();
        self.causes = Causes { churn_pending, self_active };
        let own = (own < Time::NEVER).then(|| self.mail.own(own));
        self.next = match (own, self.mail.due()) {
            (Some(own), Some(due)) => Some(own.min(due)),
            (own, due) => own.or(due),
        };
    }
}

impl SourceState {
    fn refresh(&mut self) -> Result<(), EntityError> {
        self.next = self.source.as_mut().map(|source| source.peek_time()).transpose()?.flatten();
        // The job would never be submitted, and the run would not show that it is missing.
        if self.next == Some(Time::NEVER) {
            return Err(SourceError::beyond_the_axis().into());
        }
        Ok(())
    }
}

impl Moments for Site {
    type Letter = ToSite;

    fn address(&self) -> Address {
        Address::Site(self.id)
    }

    fn mail(&mut self) -> &mut Mailbox<ToSite> {
        &mut self.mail
    }

    fn next(&self) -> Option<Stamp> {
        self.next
    }

    fn handle(&mut self, now: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        self.restore_records.drain(..).for_each(|record| outbox.record(record));
        let (more, before) = (self.more(), self.causes);
        debug_assert_eq!(before, self.causes());
        self.handle_moment(now, outbox)?;
        self.report(now, outbox);
        self.handled(now);
        self.refresh();
        // The last possible cause has ceased: a job that still waits for one waits in vain from now on.
        if (more && !self.more())
            || (before.churn_pending && !self.causes.churn_pending)
            || (before.self_active && !self.causes.self_active)
        {
            self.counts.last = now.time;
        }
        Ok(())
    }

    fn quiescence(&self) -> Quiescence {
        let Counts { admitted, done, last, .. } = self.counts;
        let (more, Causes { churn_pending, self_active }) = (self.more(), self.causes());
        let (back, landing) = (self.churn.back(), self.meeting.landing());
        Quiescence {
            admitted,
            done,
            more,
            last,
            landing,
            self_active,
            churn_pending,
            back,
            ..Quiescence::default()
        }
    }

    fn who(&self) -> String {
        format!("site `{}`", self.spec.name)
    }

    fn delivered(&mut self, arrival: Stamp, sender: Sender) {
        self.counts.outside += u64::from(sender == Sender::Outside);
        self.next = Some(self.next.map_or(arrival, |next| next.min(arrival)));
    }
}
