//! A site: partitions, its own workload, and the order in which things happen.

mod instant;
mod save;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

pub use save::SiteSave;

use super::{Address, Body, Entity, EntityError, Message, Outbox, Sender, Stamp};
use crate::local::{Abilities, Departed, LocalPolicy, Partition, Registry, Settings, Tally};
use crate::model::{InstantOrder, Outcome, PartitionId, Payer, RejectReason, Reservation, SiteId, SiteSpec};
use crate::units::Time;
use crate::workload::{Source, SourceError};

/// Rounds at one instant before the run is given up as stalled.
const MOST_ROUNDS: u32 = 10_000;

/// A site with its local scheduler, as a state machine.
///
/// At one moment `(t, round)` it handles, in this order: ends; what changes (reservations begin and end); wakes;
/// what arrives (its own workload's jobs, then messages by sender and sequence); then one pass in every partition that
/// something happened in. Under [`InstantOrder::Event`] each event has a pass of its own, and the order is:
/// reservations that are over, arrivals, ends, reservations that begin, wakes.
#[derive(Debug)]
pub struct Site {
    spec: SiteSpec,
    id: SiteId,
    partitions: Vec<Partition>,
    source: SourceState,
    inbox: BTreeMap<(Stamp, Sender, u64), Body>,
    /// Everything before this moment has been handled.
    passed: Stamp,
    next: Option<Stamp>,
    /// Jobs refused because they name a partition that is not there.
    refused: u64,
    /// Scratch: jobs that left in the current step.
    ended: Vec<Departed>,
    /// Scratch: partitions that need a pass.
    touched: Vec<bool>,
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
    /// A site with nothing in it. `source` is its own users' workload.
    ///
    /// # Errors
    /// [`EntityError`] if the description makes no sense, the policy does not exist or cannot do what is asked of it, or
    /// the first job cannot be read.
    pub fn new(
        id: SiteId,
        spec: SiteSpec,
        source: Option<Box<dyn Source>>,
        registry: &Registry,
    ) -> Result<Self, EntityError> {
        spec.check()?;
        let mut partitions = Vec::with_capacity(spec.partitions.len());
        for (at, part) in spec.partitions.iter().enumerate() {
            let (policy, abilities) = Self::check_policy(&spec, registry)?;
            let booked: Vec<Reservation> = spec
                .reservations
                .iter()
                .filter(|(of, _)| *of == at)
                .map(|(_, booked)| booked.clone())
                .collect();
            let settings = Settings {
                site: id,
                site_name: spec.name.clone(),
                partition: PartitionId(at as u32),
                order: spec.order,
                overrun: spec.overrun,
                tariff: spec.tariff,
                pue_ppm: spec.pue_ppm,
                record_segments: spec.record_segments,
                record_machines: spec.record_machines,
                fate: spec.churn.running,
                return_queued: spec.churn.return_queued,
                checkpoint: spec.churn.checkpoint,
                mean_up: spec.churn.random.map(|random| random.up.mean()),
                lost_attempts: Payer::default(),
            };
            partitions.push(Partition::new(
                settings,
                part.clone(),
                policy,
                spec.policy.to_string(),
                abilities,
                &booked,
            ));
        }
        let touched = vec![false; partitions.len()];
        let mut site = Self {
            spec,
            id,
            partitions,
            source: SourceState { source, next: None },
            inbox: BTreeMap::new(),
            passed: Stamp::default(),
            next: None,
            refused: 0,
            ended: Vec::new(),
            touched,
        };
        site.source.refresh()?;
        site.refresh();
        Ok(site)
    }

    /// Builds the policy of a site and checks that it can do what the site asks of it.
    ///
    /// # Errors
    /// [`EntityError::Registry`] or [`EntityError::Unable`].
    pub fn check_policy(
        spec: &SiteSpec,
        registry: &Registry,
    ) -> Result<(Box<dyn LocalPolicy>, Abilities), EntityError> {
        let (policy, abilities) = registry.build(&spec.policy)?;
        let unable = |problem: &str| EntityError::Unable {
            policy: spec.policy.to_string(),
            site: spec.name.clone(),
            problem: problem.to_owned(),
        };
        if !spec.reservations.is_empty() && !abilities.keeps_reservations {
            return Err(unable("does not keep reservations; `easy` and `conservative` do"));
        }
        if spec.order == InstantOrder::Event && !abilities.space_sharing() {
            return Err(unable(
                "shares, preempts or chooses processors, for which one pass an event is not defined",
            ));
        }
        Ok((policy, abilities))
    }

    /// Its place in the grid.
    pub fn id(&self) -> SiteId {
        self.id
    }

    /// Its description.
    pub fn spec(&self) -> &SiteSpec {
        &self.spec
    }

    /// Its partitions.
    pub fn partitions(&self) -> &[Partition] {
        &self.partitions
    }

    /// Counts over all partitions, and jobs that found none.
    pub fn tally(&self) -> Tally {
        let mut sum = Tally { arrived: self.refused, ..Tally::default() };
        sum.outcomes[Outcome::Rejected(RejectReason::NoSuchPartition).index()] = self.refused;
        for tally in self.partitions.iter().map(Partition::tally) {
            sum.arrived += tally.arrived;
            sum.longest_queue = sum.longest_queue.max(tally.longest_queue);
            sum.passes += tally.passes;
            sum.short_reservations += tally.short_reservations;
            sum.returned += tally.returned;
            for (total, count) in sum.outcomes.iter_mut().zip(tally.outcomes) {
                *total += count;
            }
        }
        sum
    }

    /// What the workload has to tell at the end of the run.
    pub fn notes(&self) -> Vec<String> {
        self.source.source.as_ref().map(|source| source.notes()).unwrap_or_default()
    }

    /// Jobs that wait, run or are suspended.
    pub fn live(&self) -> usize {
        self.partitions.iter().map(Partition::live).sum()
    }

    /// The run is over at `now`: everything that is still here ends as unfinished.
    pub fn close(&mut self, now: Time, outbox: &mut dyn Outbox) {
        let now = now.max(self.passed.time);
        for partition in &mut self.partitions {
            partition.close(now, outbox);
        }
    }

    /// Works out the next moment at which something happens here by itself or has been announced.
    fn refresh(&mut self) {
        let own = self
            .partitions
            .iter_mut()
            .filter_map(Partition::next_event)
            .chain(self.source.next)
            .min()
            .filter(|time| *time < Time::NEVER)
            .map(|time| Stamp::at(time).max(self.passed));
        let delivered = self.inbox.first_key_value().map(|((arrival, _, _), _)| *arrival);
        self.next = own.into_iter().chain(delivered).min();
    }
}

impl SourceState {
    fn refresh(&mut self) -> Result<(), EntityError> {
        self.next = match &mut self.source {
            Some(source) => source.peek_time()?,
            None => None,
        };
        // It would never come, and nobody would miss it.
        if self.next == Some(Time::NEVER) {
            return Err(EntityError::Source(SourceError::Read {
                place: "the workload".to_owned(),
                problem: "the next job would be submitted beyond the end of the time axis".to_owned(),
                hint: "scale the submissions less, or take only the first jobs".to_owned(),
            }));
        }
        Ok(())
    }
}

impl Entity for Site {
    fn address(&self) -> Address {
        Address::Site(self.id)
    }

    fn next_event(&self) -> Option<Stamp> {
        self.next
    }

    fn advance(&mut self, until: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        while let Some(now) = self.next.filter(|next| *next < until) {
            if now.round >= MOST_ROUNDS {
                return Err(EntityError::Stalled {
                    site: self.spec.name.clone(),
                    at: now,
                    rounds: now.round,
                });
            }
            self.handle(now, outbox)?;
            self.passed = now.next_round();
            self.refresh();
        }
        self.passed = self.passed.max(until.min(Stamp::at(Time::NEVER)));
        Ok(())
    }

    fn deliver(&mut self, message: Message) -> Result<(), EntityError> {
        let Message { arrival, sender, sequence, body } = message;
        if arrival < self.passed {
            return Err(EntityError::Late { site: self.spec.name.clone(), now: self.passed, arrival });
        }
        match self.inbox.entry((arrival, sender, sequence)) {
            Entry::Vacant(place) => place.insert(body),
            Entry::Occupied(_) => {
                return Err(EntityError::Repeated { site: self.spec.name.clone(), arrival, sequence });
            }
        };
        self.next = Some(self.next.map_or(arrival, |next| next.min(arrival)));
        Ok(())
    }
}
