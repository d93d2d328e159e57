//! The effects of churn: wasted work, and jobs that were restarted or resubmitted.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::distribution::{ClassTable, EXACT_QUANTILES, Scale};
use super::{Exact, Ledger, RecoverySummary, ReplanSummary, Replanning, SpanSummary, Window};
use crate::model::{BookingRefusal, EventCause, EventKind, EventRecord, JobRecord, SiteId};
use crate::platform::{ProcTime, Usage};

/// Counts events in a window, by site, kind and cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Churn {
    window: Window,
    counts: BTreeMap<(SiteId, EventKind, EventCause), Count>,
    /// How long jobs with a failed attempt did not run.
    since_lost: ClassTable,
    /// Jobs by the number of their attempts.
    attempts: BTreeMap<u32, u64>,
    /// What happened to assignments of the broker.
    replanning: Replanning,
}

/// Events of one site, kind and cause.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Number of events.
    pub events: u64,
    /// The processors they concern, summed.
    pub procs: u64,
    /// Number of events that wasted processor time.
    pub losses: u64,
    /// The wasted processor time.
    pub lost: ProcTime,
}

/// The effects of churn in the measured window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChurnSummary {
    /// Machines that came and left.
    pub machines: MachineChanges,
    /// Wasted work by cause; every cause is listed.
    pub wasted: Vec<WastedWork>,
    /// What happened to jobs.
    pub jobs: JobChanges,
    /// Jobs by the number of attempts that were started, in order.
    pub attempts: Vec<Attempts>,
    /// How long jobs with a failed attempt did not run.
    pub restarts: SpanSummary,
    /// Assignments that were recalled or made anew, for each event of machines; `None` without such an event.
    pub changes_per_event: Option<f64>,
    /// Refusals by reason; only reasons that occurred are listed.
    pub refusals: Vec<Refusals>,
    /// Recovery of throughput after major outages; `None` if it was not measured.
    pub recovery: Option<RecoverySummary>,
    /// How the broker planned anew; only of a grid with a broker, if machines left, joined or changed speed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replanning: Option<ReplanSummary>,
    /// What faults did to messages and assignments, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<FaultCounts>,
    /// Machines that drained before they left, if any did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drains: Option<DrainCounts>,
}

/// Machines that drained.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrainCounts {
    /// Number of events of machines that began to drain.
    pub draining: u64,
    /// Their processors, summed.
    pub processors_draining: u64,
    /// Number of events of machines that drained no longer, although they had not left.
    pub undrained: u64,
}

/// What faults of what sites and the grid say to each other did.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultCounts {
    /// How often a site was taken as lost.
    pub unheard: u64,
    /// Assignments that were taken as lost.
    pub lost: u64,
    /// Messages that were ignored, because they were not the newest or about an assignment that was over.
    pub stale_messages: u64,
}

/// Machines that came and left.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineChanges {
    /// Number of events of machines that left.
    pub left: u64,
    /// Their processors, summed.
    pub processors_left: u64,
    /// Number of events of machines that came.
    pub joined: u64,
    /// Their processors, summed.
    pub processors_joined: u64,
    /// Number of events of machines that continued at another speed.
    pub slowed: u64,
}

/// The cause of work that attempts of tasks wasted which failed by themselves, and whose jobs went on.
const TASK_FAILED: &str = "task failed";

/// The cause of work that attempts wasted of whose end nobody heard in time.
const NO_WORD: &str = "no word came";

/// Work that was wasted for one cause.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WastedWork {
    /// The cause.
    pub cause: String,
    /// Failed attempts with wasted work (of jobs that had not ended), or jobs that ended for this cause.
    pub attempts: u64,
    /// Wasted processor-seconds.
    pub proc_s: f64,
    /// Share of all processor time in use in the whole run; `None` if there was none, or if the wasted work is
    /// counted in the measured window only.
    pub share: Option<f64>,
}

/// What happened to jobs, as numbers of events.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobChanges {
    /// An attempt failed and the job waited at its site again.
    pub requeued: u64,
    /// The job returned to the broker.
    pub returned: u64,
    /// The job stood still until its machine was up again.
    pub stalled: u64,
    /// The job continued after it had stood still.
    pub continued: u64,
    /// The job failed with its attempt.
    pub failed: u64,
    /// A site refused the job.
    pub refused: u64,
    /// The broker recalled the job.
    pub recalled: u64,
    /// The job was assigned again.
    pub reassigned: u64,
    /// The grid gave up on the job.
    pub given_up: u64,
}

/// The jobs with one number of attempts.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempts {
    /// Number of attempts that were started.
    pub attempts: u32,
    /// Number of jobs.
    pub jobs: u64,
}

/// The refusals for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusals {
    /// The reason.
    pub reason: String,
    /// Number of refusals.
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
    /// Creates an empty collector.
    pub fn new(window: Window) -> Self {
        Self {
            window,
            counts: BTreeMap::new(),
            since_lost: ClassTable::new(1, &[Scale::Whole], EXACT_QUANTILES),
            attempts: BTreeMap::new(),
            replanning: Replanning::default(),
        }
    }

    /// Adds an event, if it is in the window.
    pub fn add_event(&mut self, event: &EventRecord) {
        self.replanning.add_event(event);
        if !self.window.contains(event.time) {
            return;
        }
        self.counts.entry((event.site, event.kind, event.cause)).or_default().merge(&Count {
            events: 1,
            procs: u64::from(event.procs),
            losses: u64::from(event.wasted > 0),
            lost: event.wasted,
        });
        if let Some(span) = event.since_failure {
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

    /// The sum over the events of `kind` whose site and cause `of` accepts.
    pub fn count(&self, kind: EventKind, of: impl Fn(SiteId, EventCause) -> bool) -> Count {
        let mut sum = Count::default();
        for ((site, other, cause), count) in &self.counts {
            if *other == kind && of(*site, *cause) {
                sum.merge(count);
            }
        }
        sum
    }

    /// A note on how many orders about reservations were refused and why.
    pub fn refused_bookings(&self) -> Option<String> {
        let of = |kind| self.count(kind, |_, _| true).events;
        let refused = of(EventKind::BookingRefused);
        let reason = |why: &BookingRefusal| {
            let events =
                self.count(EventKind::BookingRefused, |_, cause| cause == EventCause::Unbooked(*why)).events;
            (events > 0).then(|| format!("{events}: {}", why.because()))
        };
        let reasons: Vec<String> = BookingRefusal::ALL.iter().filter_map(reason).collect();
        (refused > 0).then(|| {
            let all = refused + of(EventKind::Reserved) + of(EventKind::Released);
            let reasons = reasons.join("; ");
            match (refused, all) {
                (1, 1) => format!("the only order about a reservation was refused ({reasons})"),
                (1, _) => format!("1 of {all} orders about reservations was refused ({reasons})"),
                _ => format!("{refused} of {all} orders about reservations were refused ({reasons})"),
            }
        })
    }

    /// Attempts that failed for `causes` while their job continued, at `site` or anywhere.
    pub(super) fn failed_attempts(&self, site: Option<SiteId>, causes: impl Fn(EventCause) -> bool) -> Count {
        let of = |at, cause| site.is_none_or(|site| site == at) && causes(cause);
        let mut sum = self.count(EventKind::Requeued, of);
        sum.merge(&self.count(EventKind::Returned, of));
        sum
    }

    /// The summary, with the `ledger` of the whole grid, which has the processor time of jobs that ended.
    pub fn summary(&self, ledger: &Ledger, recovery: Option<RecoverySummary>) -> ChurnSummary {
        let sum = |kind| self.count(kind, |_, _| true);
        let events = |kind| sum(kind).events;
        let (left, joined) = (sum(EventKind::Left), sum(EventKind::Joined));
        let jobs = JobChanges {
            requeued: events(EventKind::Requeued),
            returned: events(EventKind::Returned),
            stalled: events(EventKind::Stalled),
            continued: events(EventKind::Continued),
            failed: events(EventKind::Failed),
            refused: events(EventKind::Refused),
            recalled: events(EventKind::Recalled),
            reassigned: events(EventKind::Reassigned),
            given_up: events(EventKind::GivenUp),
        };
        let (machine_events, slowed) = (left.events + joined.events, events(EventKind::Slowed));
        let faults = FaultCounts {
            unheard: events(EventKind::Unheard),
            lost: events(EventKind::Lost),
            stale_messages: events(EventKind::Stale),
        };
        let draining = sum(EventKind::Draining);
        let drains = DrainCounts {
            draining: draining.events,
            processors_draining: draining.procs,
            undrained: events(EventKind::Undrained),
        };
        let changes = (jobs.recalled + jobs.reassigned) as f64;
        ChurnSummary {
            machines: MachineChanges {
                left: left.events,
                processors_left: left.procs,
                joined: joined.events,
                processors_joined: joined.procs,
                slowed,
            },
            wasted: self.lost_work(ledger),
            jobs,
            attempts: self.attempts.iter().map(|(&attempts, &jobs)| Attempts { attempts, jobs }).collect(),
            restarts: SpanSummary::of(self.since_lost.cell(0, 0)),
            changes_per_event: (machine_events > 0).then(|| changes / machine_events as f64),
            refusals: self.refusals(),
            recovery,
            replanning: (machine_events + slowed > 0)
                .then(|| self.replanning.summary(self.window, machine_events)),
            faults: Some(faults).filter(|faults| *faults != FaultCounts::default()),
            drains: Some(drains).filter(|drains| *drains != DrainCounts::default()),
        }
    }

    fn lost_work(&self, ledger: &Ledger) -> Vec<WastedWork> {
        let others = [EventCause::SiteLeft, EventCause::TaskFailed, EventCause::Silence];
        let machine = self.failed_attempts(None, |cause| !others.contains(&cause));
        let site = self.failed_attempts(None, |cause| cause == EventCause::SiteLeft);
        let task = self.failed_attempts(None, |cause| cause == EventCause::TaskFailed);
        let silence = self.failed_attempts(None, |cause| cause == EventCause::Silence);
        let wasted = &ledger.ended;
        let rows = [
            ("machine left", machine.losses, machine.lost),
            ("site left", site.losses, site.lost),
            (TASK_FAILED, task.losses, task.lost),
            (NO_WORD, silence.losses, silence.lost),
            ("killed at the estimate", wasted.killed.0, wasted.killed.1),
            ("cancelled", wasted.cancelled.0, wasted.cancelled.1),
            ("failed", wasted.failed.0, wasted.failed.1),
            ("unfinished", wasted.unfinished.0, wasted.unfinished.1),
        ];
        let in_use = ledger.in_use();
        // Work wasted by machines and failures is counted in the window, but time in use in the whole run.
        let by_event = |cause: &str| cause.ends_with(" left") || [TASK_FAILED, NO_WORD].contains(&cause);
        let whole = |cause: &str| self.window == Window::ALL || !by_event(cause);
        let row = |(cause, attempts, lost): (&str, u64, ProcTime)| WastedWork {
            cause: cause.to_owned(),
            attempts,
            proc_s: lost as f64 / Usage::PROC_SECOND as f64,
            share: (in_use > 0 && whole(cause)).then(|| lost as f64 / in_use as f64),
        };
        // A run without such tasks and faults does not mention them.
        rows.into_iter()
            .filter(|(cause, attempts, _)| ![TASK_FAILED, NO_WORD].contains(cause) || *attempts > 0)
            .map(row)
            .collect()
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
                EventCause::None => "no reason given".to_owned(),
                EventCause::SiteLeft => "the site had left".to_owned(),
                EventCause::SiteDrains => "the site drained".to_owned(),
                EventCause::Preempted => "preempted".to_owned(),
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
        self.replanning.exact(each);
    }
}
