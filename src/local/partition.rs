//! A partition at work: its jobs, its processors, its reservations and its policy. Each file of the folder handles one kind of
//! event.

mod adopt;
mod arrive;
mod bookings;
mod checks;
mod churn;
mod claims;
mod elastic;
mod end;
mod explain;
mod facts;
mod notes;
mod pass;
mod preempt;
mod save;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

pub use self::save::PartitionSave;
use super::abilities::Abilities;
use super::agenda::Agenda;
use super::groups::Groups;
use super::ineligible::Ineligible;
use super::loads::Loads;
use super::numbers::Numbers;
use super::policy::{Action, Actions, Change, LocalPolicy};
use super::power::Sleepers;
use super::prices::{Meter, Reading};
use super::settings::{Settings, Tally};
use super::state::{Load, State};
use super::table::Table;
use super::{Book, LiveJob, SearchEffort, View};
use crate::model::{InstantOrder, JobRef, PartitionSpec, ProcSet, Reservation};
use crate::platform::{Tariff, Usage};
use crate::units::Time;

/// A partition with its policy.
pub struct Partition {
    pub(super) state: State,
    pub(super) policy: Box<dyn LocalPolicy>,
    pub(super) policy_name: String,
    pub(super) actions: Actions,
    /// Whether the decision of the last pass is still current.
    pub(super) is_decided: bool,
    pub(super) late: Vec<Action>,
    pub(super) wake: Option<Time>,
    /// Whether the next pass was asked for by the policy.
    pub(super) woken: bool,
    /// Passes in a row that the policy had asked for and in which it did nothing, while nothing ran.
    pub(super) idle_wakes: u32,
}

/// So many passes in which nothing ran and the policy did nothing let the run end: another one is no sign that a job will ever move.
const MOST_IDLE_WAKES: u32 = 10_000;

impl std::fmt::Debug for Partition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Partition")
            .field("policy", &self.policy_name)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl Partition {
    /// An empty partition. The reservations are committed from the beginning.
    pub fn new(
        settings: Settings,
        spec: PartitionSpec,
        policy: Box<dyn LocalPolicy>,
        policy_name: String,
        abilities: Abilities,
        reservations: &[Reservation],
    ) -> Self {
        let multiprogramming_level =
            abilities.multiprogramming_level.clamp(1, Abilities::MAX_MULTIPROGRAMMING_LEVEL);
        let mut book = Book::default();
        for wanted in reservations {
            let by = wanted.claimed_by(settings.site);
            let held = book.hold(wanted, spec.rounded(wanted.procs), by, Time::NEVER, Time::ZERO);
            let committed = held.and_then(|()| book.commit(&wanted.name, Time::ZERO));
            debug_assert_eq!(
                committed,
                Ok(()),
                "the scenario has been checked: names are unique, times in order"
            );
        }
        let (processors, usable) = (spec.processors(), spec.usable());
        let absent = ProcSet::range(spec.machines().saturating_sub(spec.absent), spec.machines());
        let load =
            if multiprogramming_level > 1 { vec![Load::default(); processors as usize] } else { Vec::new() };
        let usage = Usage { from: Time::NEVER, processors, ..Usage::default() };
        let loads = Loads::of(&spec);
        let mut partition = Self {
            state: State {
                tariff: Tariff::new(&spec, &settings.tariff, settings.pue_ppm),
                groups: Groups::new(&spec, settings.placement),
                free: ProcSet::full(usable),
                unused: usable,
                here: ProcSet::full(usable),
                present: usable,
                capacity: spec.most(),
                kept_back: usable - spec.most(),
                down: ProcSet::new(),
                missing: 0,
                draining: ProcSet::new(),
                eased: false,
                slow: BTreeMap::new(),
                ineligible: Ineligible::default(),
                agenda: Agenda::default(),
                stalled: 0,
                suspended: BTreeSet::new(),
                reshared: ProcSet::new(),
                faults: None,
                losing: false,
                settings,
                spec,
                abilities,
                multiprogramming_level,
                table: Table::default(),
                numbers: Numbers::default(),
                deferred: 0,
                ending: 0,
                load,
                book,
                ends: BinaryHeap::new(),
                next_seq: 0,
                next_end: 0,
                usage,
                tally: Tally::default(),
                reserved: 0,
                down_time: 0,
                settled: Time::ZERO,
                meter: Meter::default(),
                loads,
                watts: None,
                kept_off: ProcSet::new(),
                sleepers: None,
                begins: BTreeMap::new(),
                waiting: 0,
                backlog: 0,
                ineligible_backlog: 0,
                running: 0,
            },
            policy,
            policy_name,
            actions: Actions::default(),
            is_decided: false,
            late: Vec::new(),
            wake: None,
            woken: false,
            idle_wakes: 0,
        };
        let state = &mut partition.state;
        if !state.settings.sleep.is_empty() {
            state.sleepers = Some(Box::new(Sleepers::of(&state.spec, &state.sleep_terms(), Time::ZERO)));
        }
        state.count_watts(&ProcSet::new());
        partition.absent(&absent);
        partition
    }

    /// The partition's description.
    pub fn spec(&self) -> &PartitionSpec {
        &self.state.spec
    }

    /// The view that a policy would have now.
    pub fn view(&self, now: Time) -> View<'_> {
        View { state: &self.state, now }
    }

    /// The number of jobs that wait, run, are suspended or are stalled.
    pub fn live(&self) -> usize {
        self.state.table.len()
    }

    /// Counts so far.
    pub fn tally(&self) -> Tally {
        self.state.tally
    }

    /// The account from the first submission to the last end, with the meter read. Complete once every job that has started has
    /// ended.
    pub fn usage(&self) -> Usage {
        let mut usage = self.state.usage;
        if usage.from == Time::NEVER {
            usage.from = Time::ZERO;
        }
        usage.to = usage.to.max(usage.from);
        let Reading { meter, asleep, transitions, electricity, carbon } =
            self.state.meter.reading(&self.state.tariff);
        (usage.bill.meter, usage.bill.asleep, usage.bill.transitions) = (meter, asleep, transitions);
        usage.dormant = self.state.meter.counted.dormant;
        (usage.electricity, usage.carbon) = (electricity, carbon);
        let groups = self.state.spec.groups.iter();
        let embodied =
            groups.filter_map(|group| Some(group.embodied?.over(group.machines, usage.to.since(usage.from))));
        usage.embodied = embodied.reduce(|sum, more| sum + more);
        usage
    }

    /// What the decisions of its policy have taken so far, if it searches.
    pub fn effort(&self) -> Option<SearchEffort> {
        self.policy.effort()
    }

    /// Whether its policy suspends jobs.
    pub fn preempts(&self) -> bool {
        self.state.abilities.preempts
    }

    /// The next instant at which something happens here without a message.
    pub fn next_event(&mut self) -> Option<Time> {
        let sooner = |a: Option<Time>, b: Option<Time>| match (a, b) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let own = sooner(self.state.next_end_time(), self.wake);
        let own = match &self.state.sleepers {
            None => own,
            Some(sleepers) => sooner(own, sleepers.next()),
        };
        let own = if self.state.agenda.is_empty() { own } else { sooner(own, self.state.agenda.next()) };
        sooner(own, self.state.book.next_change())
    }

    /// Under one pass per event: determines whose processors count as free at this instant.
    pub fn begin_instant(&mut self, now: Time) {
        let state = &mut self.state;
        state.ending = 0;
        if state.settings.order == InstantOrder::Event && state.next_end_time() == Some(now) {
            let due = state
                .ends
                .iter()
                .filter(|Reverse((time, seq, key))| *time == now && state.is_current(*seq, *key));
            let freed = due.filter_map(|Reverse((_, _, key))| state.table.get(*key));
            state.ending = freed.filter(|job| state.counts_as_free(job, now)).map(LiveJob::held).sum();
        }
    }

    /// Clears the wake if it is due. Returns true if it was.
    pub fn wake(&mut self, now: Time) -> bool {
        let due = self.wake.is_some_and(|wake| wake <= now);
        if due {
            (self.wake, self.woken) = (None, true);
        }
        due
    }

    /// Counts a pass that is over, in which the policy has acted or not.
    pub(super) fn count_wake(&mut self, acted: bool) {
        let woken = std::mem::take(&mut self.woken);
        let idle = woken && !acted && self.state.running == 0;
        self.idle_wakes = if idle { self.idle_wakes.saturating_add(1) } else { 0 };
    }

    /// Whether the policy only asks for passes in which it does nothing, so that nothing here will move a job.
    pub fn wakes_in_vain(&self) -> bool {
        self.wake.is_some() && self.idle_wakes >= MOST_IDLE_WAKES
    }

    /// The jobs that are still here, for the error that says that the run makes no progress any more.
    pub fn stuck(&self) -> impl Iterator<Item = (JobRef, u32)> {
        self.state.table.iter().map(|(_, job)| (self.state.job_ref(job), job.procs()))
    }

    pub(super) fn notify(&mut self, change: Change, now: Time) {
        if self.state.book.has_claims() && self.is_hidden(change) {
            return;
        }
        if self.actions.trace.is_some() && !matches!(change, Change::Moved { .. }) {
            self.is_decided = false;
        }
        self.policy.on(change, &View { state: &self.state, now });
    }
}
