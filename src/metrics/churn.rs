//! What churn did: work lost, jobs sent back and sent elsewhere.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::distribution::{ClassTable, EXACT_QUANTILES, Scale};
use super::{Exact, Ledger, RecoverySummary, SpanSummary, Window};
use crate::model::{EventCause, EventKind, EventRecord, JobRecord, SiteId};
use crate::platform::{ProcTime, Usage};

/// Counts events in a window, by site, kind and cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Churn {
    window: Window,
    counts: BTreeMap<(SiteId, EventKind, EventCause), Count>,
    /// How long jobs that lost an attempt did not run.
    since_lost: ClassTable,
    /// Jobs by the number of their attempts.
    attempts: BTreeMap<u32, u64>,
}

/// Events of one site, kind and cause.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// How many.
    pub events: u64,
    /// The processors they concern, added up.
    pub procs: u64,
    /// How many of them lost processor time.
    pub losses: u64,
    /// The processor time lost.
    pub lost: ProcTime,
}

/// What churn did in the measured window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChurnSummary {
    /// Machines that came and went.
    pub machines: MachineChanges,
    /// Work that was lost, by cause; every cause is listed.
    pub lost: Vec<LostWork>,
    /// What became of jobs on their way.
    pub jobs: JobChanges,
    /// Jobs by the number of attempts that were started, in order.
    pub attempts: Vec<Attempts>,
    /// How long jobs that had lost an attempt did not run.
    pub runs_again: SpanSummary,
    /// Assignments that were taken back or made anew, for each event of machines; `None` without one.
    pub changes_per_event: Option<f64>,
    /// Refusals by reason, those that occurred.
    pub refusals: Vec<Refusals>,
    /// Throughput after big losses; `None` if it was not watched.
    pub recovery: Option<RecoverySummary>,
}

/// Machines that came and went.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineChanges {
    /// Events of machines that left.
    pub left: u64,
    /// Their processors, added up.
    pub processors_left: u64,
    /// Events of machines that came.
    pub joined: u64,
    /// Their processors, added up.
    pub processors_joined: u64,
    /// Events of machines that went on at another speed.
    pub slowed: u64,
}

/// Work that was lost to one cause.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LostWork {
    /// The cause.
    pub cause: String,
    /// Attempts that lost work (of jobs that had not ended) or jobs that ended so.
    pub attempts: u64,
    /// Processor-seconds.
    pub proc_s: f64,
    /// Share of all processor time in use in the whole run; `None` if there was none, or if what was lost is that of a part of the run,
    /// the measured window.
    pub share: Option<f64>,
}

/// What became of jobs on their way.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobChanges {
    /// Lost an attempt and waited at their site again.
    pub requeued: u64,
    /// Went back to the broker.
    pub given_back: u64,
    /// Stood still until their machine was back.
    pub halted: u64,
    /// Went on.
    pub continued: u64,
    /// Failed with their attempt.
    pub failed: u64,
    /// Would not be taken by a site.
    pub refused: u64,
    /// Were taken back by the broker.
    pub recalled: u64,
    /// Were assigned again.
    pub reassigned: u64,
    /// Were given up.
    pub given_up: u64,
}

/// Jobs of one number of attempts.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempts {
    /// Attempts that were started.
    pub attempts: u32,
    /// Jobs.
    pub jobs: u64,
}

/// Refusals for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusals {
    /// The reason.
    pub reason: String,
    /// How many.
    pub count: u64,
}

impl Count {
    fn merge(&mut self, other: &Self) {
        self.events += other.events;
        self.procs += other.procs;
        self.losses += other.losses;
        self.lost += other.lost;
    }
}

impl Churn {
    /// Nothing yet.
    pub fn new(window: Window) -> Self {
        Self {
            window,
            counts: BTreeMap::new(),
            since_lost: ClassTable::new(1, &[Scale::Whole], EXACT_QUANTILES),
            attempts: BTreeMap::new(),
        }
    }

    /// Adds an event, if it is in the window.
    pub fn add_event(&mut self, event: &EventRecord) {
        if !self.window.contains(event.time) {
            return;
        }
        self.counts.entry((event.site, event.kind, event.cause)).or_default().merge(&Count {
            events: 1,
            procs: u64::from(event.procs),
            losses: u64::from(event.lost > 0),
            lost: event.lost,
        });
        if let Some(span) = event.since_lost {
            self.since_lost.add(0, [(span.micros(), u128::from(span.micros()))]);
        }
    }

    /// Adds a job, if it was submitted in the window.
    #[inline]
    pub fn add_job(&mut self, job: &JobRecord) {
        if self.window.contains(job.submit) {
            *self.attempts.entry(job.attempts).or_default() += 1;
        }
    }

    /// Adds everything that `other` has seen in the same window.
    pub fn merge(&mut self, other: &Self) {
        for (key, count) in &other.counts {
            self.counts.entry(*key).or_default().merge(count);
        }
        self.since_lost.merge(&other.since_lost);
        for (attempts, jobs) in &other.attempts {
            *self.attempts.entry(*attempts).or_default() += jobs;
        }
    }

    /// The sum of what happened at the sites and for the causes that `of` wants.
    pub fn count(&self, kind: EventKind, of: impl Fn(SiteId, EventCause) -> bool) -> Count {
        let mut sum = Count::default();
        for ((site, other, cause), count) in &self.counts {
            if *other == kind && of(*site, *cause) {
                sum.merge(count);
            }
        }
        sum
    }

    /// Attempts that were lost while their job went on, because of `causes`, at `site` or anywhere.
    pub(super) fn lost_attempts(&self, site: Option<SiteId>, causes: fn(EventCause) -> bool) -> Count {
        let of = |at, cause| site.is_none_or(|site| site == at) && causes(cause);
        let mut sum = self.count(EventKind::Requeued, of);
        sum.merge(&self.count(EventKind::GivenBack, of));
        sum
    }

    /// What happened, with the `ledger` of the whole grid, which knows what ended jobs had used.
    pub fn summary(&self, ledger: &Ledger, recovery: Option<RecoverySummary>) -> ChurnSummary {
        let sum = |kind| self.count(kind, |_, _| true);
        let events = |kind| sum(kind).events;
        let (left, joined) = (sum(EventKind::Left), sum(EventKind::Joined));
        let jobs = JobChanges {
            requeued: events(EventKind::Requeued),
            given_back: events(EventKind::GivenBack),
            halted: events(EventKind::Halted),
            continued: events(EventKind::Continued),
            failed: events(EventKind::Failed),
            refused: events(EventKind::Refused),
            recalled: events(EventKind::Recalled),
            reassigned: events(EventKind::Reassigned),
            given_up: events(EventKind::GivenUp),
        };
        let machine_events = left.events + joined.events;
        let changes = (jobs.recalled + jobs.reassigned) as f64;
        ChurnSummary {
            machines: MachineChanges {
                left: left.events,
                processors_left: left.procs,
                joined: joined.events,
                processors_joined: joined.procs,
                slowed: events(EventKind::Slowed),
            },
            lost: self.lost_work(ledger),
            jobs,
            attempts: self.attempts.iter().map(|(&attempts, &jobs)| Attempts { attempts, jobs }).collect(),
            runs_again: SpanSummary::of(self.since_lost.cell(0, 0)),
            changes_per_event: (machine_events > 0).then(|| changes / machine_events as f64),
            refusals: self.refusals(),
            recovery,
        }
    }

    fn lost_work(&self, ledger: &Ledger) -> Vec<LostWork> {
        let by_site = |cause| cause == EventCause::SiteLeft;
        let (machine, site) = (
            self.lost_attempts(None, |cause| cause != EventCause::SiteLeft),
            self.lost_attempts(None, by_site),
        );
        let wasted = ledger.wasted_by();
        let rows = [
            ("a machine left", machine.losses, machine.lost),
            ("a site left", site.losses, site.lost),
            ("killed at the estimate", wasted.killed.0, wasted.killed.1),
            ("cancelled", wasted.cancelled.0, wasted.cancelled.1),
            ("failed", wasted.failed.0, wasted.failed.1),
            ("unfinished", wasted.unfinished.0, wasted.unfinished.1),
        ];
        let in_use = ledger.in_use();
        // What churn took is counted in the window, what was in use in the whole run.
        let whole = |cause: &str| self.window == Window::ALL || !cause.ends_with(" left");
        let row = |(cause, attempts, lost): (&str, u64, ProcTime)| LostWork {
            cause: cause.to_owned(),
            attempts,
            proc_s: lost as f64 / Usage::PROC_SECOND as f64,
            share: (in_use > 0 && whole(cause)).then(|| lost as f64 / in_use as f64),
        };
        rows.map(row).to_vec()
    }

    fn refusals(&self) -> Vec<Refusals> {
        let mut by_cause = BTreeMap::<EventCause, u64>::new();
        for ((_, kind, cause), count) in &self.counts {
            if *kind == EventKind::Refused {
                *by_cause.entry(*cause).or_default() += count.events;
            }
        }
        let named = |(cause, count): (EventCause, u64)| {
            let reason = match cause {
                EventCause::None => "not told".to_owned(),
                EventCause::SiteLeft => "the site had left".to_owned(),
                cause => cause.to_string(),
            };
            Refusals { reason, count }
        };
        by_cause.into_iter().map(named).collect()
    }
}

impl Exact for Churn {
    fn exact(&mut self, each: &mut dyn FnMut(&mut Vec<u64>)) {
        self.since_lost.exact(each);
    }
}
