//! Why a job waits under a policy of the LOS family: the policy goes through the pass and writes down what it does.

use super::Los;
use super::fill::Freeze;
use crate::local::explanation::{free_now, processors};
use crate::local::{Actions, Blocker, Entry, Explanation, LocalPolicy, Reason, View};
use crate::model::JobKey;
use crate::units::Clock;

/// What a pass does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Starts the head of the queue because it is its turn.
    Head {
        /// The job.
        head: Entry,
        /// Processors that were free.
        free: u32,
    },
    /// Starts the set of jobs that fills the free processors best.
    Fill {
        /// Processors that were free.
        free: u32,
        /// What must not be delayed.
        freeze: Option<Freeze>,
        /// The jobs that might have been chosen.
        looked_at: Vec<u64>,
        /// Those of them that a reservation does not let start.
        refused: Vec<u64>,
        /// Those that were.
        chosen: Vec<u64>,
    },
}

/// What the pass at this instant decides for `job`, and why.
pub(super) fn explain(los: &Los, view: &View<'_>, job: JobKey) -> Explanation {
    let mut twin = Los { steps: Some(Vec::new()), ..los.clone() };
    let mut actions = Actions::default();
    twin.schedule(view, &mut actions);
    let steps = twin.steps.take().unwrap_or_default();
    let live = view.job(job);
    let (seq, needs) = (live.seq(), live.procs());
    for step in &steps {
        let (free, rule) = match step {
            Step::Head { head, free } if head.seq == seq => {
                (*free, "it is the first in the queue, and it fits")
            }
            Step::Fill { free, chosen, .. } if chosen.contains(&seq) => {
                (*free, "it belongs to the set of waiting jobs that fills the free processors best")
            }
            _ => continue,
        };
        if los.passed == Some(view.now()) {
            // That pass is over. The next one would be another: somebody has been skipped once more.
            let rule = "the pass of this instant has chosen others, so as not to delay dedicated jobs; the next one would start it";
            let dedicated = los.dedicated.iter().map(|(start, _, job)| view.waits(*job, Some(*start)));
            return Explanation::new(Reason::Packed, rule, needs, free).blocked_by(dedicated);
        }
        return Explanation::new(Reason::Starts, rule, needs, free);
    }
    let started = actions.as_slice().iter().filter_map(|action| match action {
        crate::local::Action::Start { job, .. } => Some(*job),
        _ => None,
    });
    let case = Case { twin: &twin, view, job, started: started.collect() };
    case.waits(&steps)
}

/// A job that the pass has not started.
struct Case<'a> {
    /// The policy after the pass.
    twin: &'a Los,
    view: &'a View<'a>,
    job: JobKey,
    started: Vec<JobKey>,
}

impl Case<'_> {
    fn waits(&self, steps: &[Step]) -> Explanation {
        let Self { twin, view, job, .. } = self;
        let live = view.job(*job);
        let (seq, needs, now) = (live.seq(), live.procs(), view.now());
        let started: u32 = self.started.iter().map(|job| view.job(*job).procs()).sum();
        let left = view.free().saturating_sub(started);
        let dedicated = live.requested_start().filter(|start| twin.dedicated.contains(&(*start, seq, *job)));
        if let Some(start) = dedicated.filter(|start| *start > now) {
            let rule = format!("it is a dedicated job, and asks to start at {}", Clock(start));
            return Explanation::new(Reason::Early, rule, needs, left).starting(Some(start));
        }
        if needs > left && !matches!(steps.last(), Some(Step::Fill { free, .. }) if needs <= *free) {
            return self.no_room(steps, needs, left);
        }
        if dedicated.is_some() {
            let rule = "its start has come, and it waits for the first of the queue, which has been skipped as often as may be";
            return Explanation::new(Reason::Behind, rule, needs, left).blocked_by(self.first());
        }
        let Some(Step::Fill { free, freeze, looked_at, refused, chosen }) = steps.last() else {
            return view.explanation(*job);
        };
        let end = now + live.estimate();
        if let Some(freeze) = freeze.filter(|freeze| freeze.head.is_some_and(|head| head.seq == seq)) {
            let rule = format!(
                "it is the first in the queue and has the reservation: it is expected to run until {}, and processors are reserved before",
                Clock(end)
            );
            let told = Explanation::new(Reason::Reserved, rule, needs, *free).blocked_by(self.reserved());
            return Explanation { shadow: Some(freeze.time), spare: Some(freeze.extra), ..told }
                .starting(Some(freeze.time));
        }
        if refused.contains(&seq) {
            let rule =
                format!("it is expected to run until {}, and processors are reserved before", Clock(end));
            return Explanation::new(Reason::Reserved, rule, needs, *free).blocked_by(self.reserved());
        }
        let entry = Los::entry(view, *job, 0);
        if let Some(freeze) = freeze.filter(|freeze| needs > freeze.extra && twin.holds(now, entry, *freeze))
        {
            let rule = format!(
                "it would delay {}, to start at {}: it is expected to run until {} on {}, and {} spare then",
                match freeze.head {
                    Some(head) => format!("{}, the first in the queue", view.who(head.job)),
                    None => "dedicated jobs".to_owned(),
                },
                Clock(freeze.time),
                Clock(end),
                processors(needs),
                match freeze.extra {
                    0 => "none is".to_owned(),
                    1 => "1 is".to_owned(),
                    many => format!("{many} are"),
                }
            );
            let told = Explanation::new(Reason::WouldDelay, rule, needs, *free);
            return Explanation { shadow: Some(freeze.time), spare: Some(freeze.extra), ..told }
                .blocked_by(self.frozen(&freeze));
        }
        if !looked_at.contains(&seq) {
            let rule = format!(
                "only the first {} waiting jobs that fit are looked at, and it is behind them",
                twin.options.lookahead
            );
            return Explanation::new(Reason::Behind, rule, needs, *free).blocked_by(self.first());
        }
        let skips = twin.skips(Los::entry(view, *job, 0));
        let rule = match skips {
            0 => "another set of waiting jobs fills the free processors better, or as well and is nearer to the head of the queue".to_owned(),
            _ => format!("another set of waiting jobs fills the free processors as well or better; {}", self.skipped(skips)),
        };
        let others = self.started.iter().filter(|other| chosen.contains(&view.job(**other).seq()));
        Explanation::new(Reason::Packed, rule, needs, *free)
            .blocked_by(others.map(|other| view.waits(*other, Some(now))))
    }

    fn no_room(&self, steps: &[Step], needs: u32, left: u32) -> Explanation {
        let Self { view, job, .. } = self;
        let seq = view.job(*job).seq();
        let free = match steps.last() {
            Some(Step::Fill { free, .. }) => *free,
            _ => left,
        };
        let mut rule = format!("it needs {}, and {}", processors(needs), free_now(free));
        let skips = self.twin.skips(Los::entry(view, *job, 0));
        if skips > 0 {
            rule = format!("{rule}; {}", self.skipped(skips));
        }
        let told = Explanation::new(Reason::NoRoom, rule, needs, free)
            .blocked_by(view.released_for(needs, free))
            .blocked_by(self.started.iter().map(|job| view.waits(*job, Some(view.now()))));
        let own = |freeze: &&Freeze| freeze.head.is_some_and(|head| head.seq == seq);
        match steps.last() {
            Some(Step::Fill { freeze: Some(freeze), .. }) if own(&freeze) => {
                Explanation { shadow: Some(freeze.time), spare: Some(freeze.extra), ..told }
                    .starting(Some(freeze.time))
                    .blocked_by(view.booked(view.now(), freeze.time))
            }
            _ => told.blocked_by(self.reserved()),
        }
    }

    /// How often the first in the queue was passed over.
    fn skipped(&self, times: u32) -> String {
        format!("it has been skipped {times} of {} times", self.twin.options.skips)
    }

    /// The first in the queue after the pass; nobody is before the first itself.
    fn first(&self) -> Option<Blocker> {
        let first = self.twin.queue.first().filter(|entry| entry.job != self.job)?;
        Some(self.view.waits(first.job, None))
    }

    /// For whom the freeze is.
    fn frozen(&self, freeze: &Freeze) -> Vec<Blocker> {
        match freeze.head {
            Some(head) => vec![self.view.waits(head.job, Some(freeze.time))],
            None => self.dedicated().take(freeze.dedicated.max(1)).collect(),
        }
    }

    fn dedicated(&self) -> impl Iterator<Item = Blocker> {
        self.twin.dedicated.iter().map(|(start, _, job)| self.view.waits(*job, Some(*start)))
    }

    /// Everything that holds a reservation.
    fn reserved(&self) -> Vec<Blocker> {
        let booked = self.view.booked(self.view.now(), crate::units::Time::NEVER);
        let others = self.first().into_iter().chain(self.dedicated());
        booked.into_iter().chain(others).collect()
    }
}
