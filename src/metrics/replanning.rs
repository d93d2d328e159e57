//! How a broker plans anew what machines that come and go have undone.

use serde::{Deserialize, Serialize};

use super::distribution::{Distribution, Scale};
use super::spans::SpanSummary;
use super::{Exact, Window};
use crate::model::{EventCause, EventKind, EventRecord, Origin};
use crate::units::Time;

/// Collects what happened to assignments of the broker, in 24 bytes an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replanning {
    /// The jobs of the events, by their numbers at the portal.
    jobs: Vec<u64>,
    /// The times of the events, in microseconds.
    times: Vec<u64>,
    /// What happened, and in which attempt: the attempt times 8, and the number of a [`What`].
    whats: Vec<u64>,
}

/// What happens to an assignment. Of what happens to a job at one instant the first of this list comes first.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// The broker took it back.
    Recalled,
    /// The job was assigned again.
    Assigned,
    /// The job must start anew, or go on later, where it is.
    Delayed,
    /// Machines or the site left, and the job returned to the broker.
    Lost,
    /// The site had left and turned the job away.
    Unheard,
    /// A site turned the job away for another reason.
    Refused,
    /// An attempt failed by itself.
    Failed,
}

impl What {
    const ALL: [Self; 7] = [
        Self::Recalled,
        Self::Assigned,
        Self::Delayed,
        Self::Lost,
        Self::Unheard,
        Self::Refused,
        Self::Failed,
    ];

    /// What an event of a grid job is; `None` if it changes no assignment.
    const fn of(event: &EventRecord) -> Option<Self> {
        Some(match (event.kind, event.cause) {
            (EventKind::Recalled, _) => Self::Recalled,
            (EventKind::Reassigned, _) => Self::Assigned,
            (EventKind::Requeued | EventKind::Stalled, _) => Self::Delayed,
            (EventKind::Returned, EventCause::TaskFailed) => Self::Failed,
            (EventKind::Returned, _) => Self::Lost,
            (EventKind::Refused, EventCause::SiteLeft) => Self::Unheard,
            (EventKind::Refused, _) => Self::Refused,
            _ => return None,
        })
    }
}

/// How the broker planned anew what churn had undone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplanSummary {
    /// Number of times that churn changed the site or the start of a grid job: it returned, was turned away because its site had left, was
    /// recalled, was requeued, or stalled.
    pub changed: u64,
    /// The same for each event of machines that left or joined; `None` without such an event.
    pub changed_per_event: Option<f64>,
    /// Time from when a job returned because machines or its site left, or was turned away because its site had left, to its next
    /// assignment.
    pub time: SpanSummary,
    /// Number of such returns after which the job was not assigned again.
    pub never: u64,
    /// Number of times that a grid job returned to the broker before it had started where it was assigned.
    pub returns_before_start: u64,
    /// Number of times that it returned after that.
    pub returns_after_start: u64,
}

impl Replanning {
    /// Adds an event.
    pub fn add_event(&mut self, event: &EventRecord) {
        let Some((what, job)) = What::of(event).zip(event.job).filter(|_| event.origin == Origin::Grid)
        else {
            return;
        };
        self.jobs.push(job.0);
        self.times.push(event.time.micros());
        self.whats.push(u64::from(event.attempt) * 8 + what as u64);
    }

    /// The summary of what happened in the window, in which there were so many events of machines that left or joined.
    pub fn summary(&self, window: Window, machine_events: u64) -> ReplanSummary {
        let events = self.jobs.iter().zip(&self.times).zip(&self.whats);
        let mut events: Vec<(u64, u64, What, u64)> = events
            .filter_map(|((job, time), what)| {
                Some((*job, *time, *What::ALL.get((what % 8) as usize)?, what / 8))
            })
            .collect();
        events.sort_unstable();
        let mut summary = ReplanSummary::default();
        let mut spans = Distribution::new(Scale::Whole);
        for of_job in events.chunk_by(|one, other| one.0 == other.0) {
            // The attempts that had begun when the job was assigned last, and since when it waits for its next assignment.
            let (mut before, mut since) = (0, None);
            for (_, time, what, attempt) in of_job {
                let counts = window.contains(Time::from_micros(*time));
                let count = u64::from(counts);
                summary.changed += match what {
                    What::Recalled | What::Delayed | What::Lost | What::Unheard => count,
                    What::Assigned | What::Refused | What::Failed => 0,
                };
                match what {
                    What::Recalled | What::Delayed => {}
                    What::Assigned => {
                        before = *attempt;
                        if let Some(since) = since.take() {
                            let span: u64 = *time - since;
                            spans.add(span, u128::from(span));
                        }
                    }
                    What::Unheard | What::Refused => summary.returns_before_start += count,
                    What::Lost if *attempt <= before => summary.returns_before_start += count,
                    What::Lost | What::Failed => summary.returns_after_start += count,
                }
                if counts && matches!(what, What::Lost | What::Unheard) {
                    since = Some(*time);
                }
            }
            summary.never += u64::from(since.is_some());
        }
        let changed = summary.changed as f64;
        summary.changed_per_event = (machine_events > 0).then(|| changed / machine_events as f64);
        summary.time = SpanSummary::of(spans);
        summary
    }
}

impl Exact for Replanning {
    fn exact(&mut self, each: &mut dyn FnMut(&mut Vec<u64>)) {
        [&mut self.jobs, &mut self.times, &mut self.whats].into_iter().for_each(each);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{JobId, RejectReason, SiteId};

    fn event(job: u64, time: u64, kind: EventKind, cause: EventCause, attempt: u32) -> EventRecord {
        EventRecord {
            job: Some(JobId(job)),
            origin: Origin::Grid,
            attempt,
            ..EventRecord::new(Time::from_secs(time), kind, cause, SiteId(0))
        }
    }

    fn events() -> Vec<EventRecord> {
        use EventCause::{MachineLeft, None, Replanned, SiteLeft, TaskFailed};
        use EventKind::{Left, Reassigned, Recalled, Refused, Requeued, Returned, Stalled};
        let mut local = event(1, 10, Returned, MachineLeft, 1);
        local.origin = Origin::Local;
        vec![
            // Job 1 loses its first attempt at 100 s, waits 10 s, returns from a queue at 200 s, and waits 30 s.
            event(1, 100, Returned, MachineLeft, 1),
            event(1, 110, Reassigned, None, 1),
            event(1, 200, Returned, SiteLeft, 1),
            event(1, 230, Reassigned, None, 1),
            // Job 2 is recalled and assigned at once, is turned away at this very instant, and is never assigned again.
            event(2, 300, Recalled, Replanned, 0),
            event(2, 300, Reassigned, None, 0),
            event(2, 300, Refused, SiteLeft, 0),
            // Job 3 stalls, is requeued, fails by itself in its third attempt, and is refused for what it is.
            event(3, 400, Stalled, MachineLeft, 1),
            event(3, 410, Requeued, MachineLeft, 2),
            event(3, 420, Returned, TaskFailed, 3),
            event(3, 420, Reassigned, None, 3),
            event(3, 430, Refused, EventCause::Refused(RejectReason::TooLarge), 3),
            local,
            EventRecord::new(Time::from_secs(100), Left, EventCause::Script, SiteId(0)),
        ]
    }

    fn collected<'a>(events: impl IntoIterator<Item = &'a EventRecord>) -> Replanning {
        let mut replanning = Replanning::default();
        events.into_iter().for_each(|event| replanning.add_event(event));
        replanning
    }

    #[test]
    fn by_hand() {
        let found = collected(&events()).summary(Window::ALL, 4);
        // Two returns and a recall, one turned away, one stalled, one requeued.
        assert_eq!((found.changed, found.changed_per_event), (6, Some(1.5)));
        assert_eq!((found.time.count, found.time.mean_s, found.time.max_s), (2, Some(20.0), Some(30.0)));
        assert_eq!(found.never, 1);
        assert_eq!((found.returns_before_start, found.returns_after_start), (3, 2));
        // What begins in the window counts.
        let window = Window::new(Time::from_secs(150), Time::from_secs(220)).unwrap();
        let found = collected(&events()).summary(window, 0);
        assert_eq!((found.changed, found.changed_per_event, found.never), (1, None, 0));
        assert_eq!(found.time.mean_s, Some(30.0));
        assert_eq!(Replanning::default().summary(Window::ALL, 0), ReplanSummary::default());
    }

    #[test]
    fn the_order_of_records_does_not_matter() {
        let events = events();
        let straight = collected(&events).summary(Window::ALL, 4);
        assert_eq!(collected(events.iter().rev()).summary(Window::ALL, 4), straight);
        let (one, other) = events.split_at(7);
        assert_eq!(collected(other.iter().chain(one)).summary(Window::ALL, 4), straight);
    }
}
