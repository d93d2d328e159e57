//! The recovery time of throughput after machines left.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::distribution::{Distribution, Scale};
use super::spans::SpanSummary;
use super::{Exact, Window};
use crate::model::{EventKind, EventRecord, JobRecord, Outcome};
use crate::units::{Span, Time};

/// The definition of a major outage and of the recovery from it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveryRule {
    /// In a major outage at least this many per cent of the present processors leave at one instant.
    pub outage_percent: u32,
    /// Throughput has recovered when it reaches this many per cent of its value just before the outage.
    pub recovered_percent: u32,
    /// Throughput is the number of jobs completed in the trailing time of this length.
    pub trailing: Span,
}

impl Default for RecoveryRule {
    /// 5 %, 90 %, an hour.
    fn default() -> Self {
        Self { outage_percent: 5, recovered_percent: 90, trailing: Span::from_secs(3_600) }
    }
}

impl fmt::Display for RecoveryRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { outage_percent, recovered_percent, trailing } = self;
        write!(
            f,
            "from an instant at which {outage_percent} % of the available processors left until the number of jobs completed in the \
             last {trailing} s is back at {recovered_percent} % of its value just before"
        )
    }
}

/// Collects when jobs completed and when processors left and came, in eight bytes a completed job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovery {
    rule: RecoveryRule,
    /// Processors that are up at the beginning.
    present: u64,
    /// Times of completion, in microseconds.
    completed: Vec<u64>,
    /// Times at which processors came or left, in microseconds.
    changed: Vec<u64>,
    /// The number of processors at each of these times, negative for those that left (in two's complement).
    changes: Vec<u64>,
}

/// A major outage and the recovery from it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// Its instant.
    pub time: Time,
    /// Processors that left at that instant, less those that came.
    pub processors: u64,
    /// Jobs completed in the trailing time just before.
    pub before: u64,
    /// The recovery time; zero if throughput did not fall below the threshold within the trailing time after the
    /// outage, `None` if it did not recover before the end of the run.
    pub recovered: Option<Span>,
}

/// The major outages of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecoverySummary {
    /// Per cent of the present processors that make an outage a major one.
    pub outage_percent: u32,
    /// Per cent of the throughput before at which it has recovered.
    pub recovered_percent: u32,
    /// The trailing time of the throughput, in seconds.
    pub trailing_s: f64,
    /// Number of major outages.
    pub major_outages: u64,
    /// Outages after which throughput did not fall below the threshold.
    pub unaffected: u64,
    /// Outages from which throughput did not recover before the end of the run.
    pub unrecovered: u64,
    /// Recovery time of the other outages; zero for those that did not affect throughput.
    pub recovery_time: SpanSummary,
}

impl Recovery {
    /// Creates an empty collector for a grid that begins with `present` processors.
    pub const fn new(rule: RecoveryRule, present: u64) -> Self {
        Self { rule, present, completed: Vec::new(), changed: Vec::new(), changes: Vec::new() }
    }

    /// The definition of a major outage.
    pub const fn rule(&self) -> &RecoveryRule {
        &self.rule
    }

    /// Adds a job that has ended.
    pub fn add_job(&mut self, job: &JobRecord) {
        if job.outcome == Outcome::Completed {
            self.completed.push(job.end.micros());
        }
    }

    /// Adds an event.
    pub fn add_event(&mut self, event: &EventRecord) {
        let by = match event.kind {
            EventKind::Left => -i64::from(event.procs),
            EventKind::Joined => i64::from(event.procs),
            _ => return,
        };
        self.changed.push(event.time.micros());
        self.changes.push(by.cast_unsigned());
    }

    /// The major outages in the window, in order of time.
    pub fn losses(&self, window: Window) -> Vec<Loss> {
        let mut losses = self.big_losses();
        losses.retain(|loss| window.contains(loss.time));
        if losses.is_empty() {
            return losses;
        }
        let mut completed: Vec<_> = self.completed.iter().map(|at| Time::from_micros(*at)).collect();
        completed.sort_unstable();
        sweep(&self.rule, &mut losses, &completed);
        losses
    }

    /// The summary of the major outages in the window.
    pub fn summary(&self, window: Window) -> RecoverySummary {
        let losses = self.losses(window);
        let mut time = Distribution::new(Scale::Whole);
        for span in losses.iter().filter_map(|loss| loss.recovered) {
            time.add(span.micros(), u128::from(span.micros()));
        }
        RecoverySummary {
            outage_percent: self.rule.outage_percent,
            recovered_percent: self.rule.recovered_percent,
            trailing_s: self.rule.trailing.as_secs_f64(),
            major_outages: losses.len() as u64,
            unaffected: losses.iter().filter(|loss| loss.recovered == Some(Span::ZERO)).count() as u64,
            unrecovered: losses.iter().filter(|loss| loss.recovered.is_none()).count() as u64,
            recovery_time: SpanSummary::of(time),
        }
    }

    /// The outages, without the recovery from them. A change at time zero is the initial state, not an outage.
    fn big_losses(&self) -> Vec<Loss> {
        let when = self.changed.iter().map(|at| Time::from_micros(*at));
        let mut changes: Vec<_> = when.zip(self.changes.iter().map(|by| by.cast_signed())).collect();
        changes.sort_unstable();
        let (mut present, mut losses) = (i128::from(self.present), Vec::new());
        for same in changes.chunk_by(|a, b| a.0 == b.0) {
            let (time, lost) = (same[0].0, -same.iter().map(|(_, by)| i128::from(*by)).sum::<i128>());
            let big = lost > 0 && 100 * lost >= i128::from(self.rule.outage_percent) * present;
            if big && time > Time::ZERO {
                let processors = u64::try_from(lost).unwrap_or(u64::MAX);
                losses.push(Loss { time, processors, before: 0, recovered: Some(Span::ZERO) });
            }
            present = (present - lost).max(0);
        }
        losses
    }
}

impl Exact for Recovery {
    fn exact(&mut self, each: &mut dyn FnMut(&mut Vec<u64>)) {
        [&mut self.completed, &mut self.changed, &mut self.changes].into_iter().for_each(each);
    }
}

/// Finds the recovery from all outages, in order of time, in one sweep over the completions, also in order.
///
/// The trailing count only rises when a job completes and only falls when a completion becomes older than the
/// trailing time; an outage waits in one of two heaps for the first fall below its threshold, then for the first rise
/// to it.
fn sweep(rule: &RecoveryRule, losses: &mut [Loss], completed: &[Time]) {
    // Before the fall below their threshold, the highest threshold first; after it, the lowest first.
    let (mut unaffected, mut affected) = (BinaryHeap::new(), BinaryHeap::new());
    let (mut came, mut gone, mut met) = (0, 0, 0);
    loop {
        let old = completed.get(gone).map(|time| *time + rule.trailing);
        let next_loss = losses.get(met).map(|loss| loss.time);
        let next = [completed.get(came).copied(), old, next_loss].into_iter().flatten().min();
        let Some(now) = next else { break };
        if next_loss == Some(now) {
            let before = (came - gone) as u64;
            losses[met].before = before;
            unaffected.push(((before * u64::from(rule.recovered_percent)).div_ceil(100), met));
            met += 1;
        }
        while completed.get(came) == Some(&now) {
            came += 1;
        }
        while completed.get(gone).is_some_and(|time| *time + rule.trailing == now) {
            gone += 1;
        }
        let throughput = (came - gone) as u64;
        while let Some((threshold, loss)) =
            unaffected.peek().copied().filter(|(least, _)| *least > throughput)
        {
            unaffected.pop();
            if now <= losses[loss].time + rule.trailing {
                affected.push(Reverse((threshold, loss)));
            }
        }
        while let Some(Reverse((_, loss))) =
            affected.peek().copied().filter(|Reverse((least, _))| *least <= throughput)
        {
            affected.pop();
            losses[loss].recovered = Some(now.since(losses[loss].time));
        }
    }
    for Reverse((_, loss)) in affected {
        losses[loss].recovered = None;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::samples::{job, machines};
    use super::*;

    fn recovery(rule: RecoveryRule, present: u64, completed: &[u64], changes: &[(u64, i64)]) -> Recovery {
        let mut recovery = Recovery::new(rule, present);
        for end in completed {
            recovery.add_job(&job(1, 0, 0, *end, 1));
        }
        for (time, by) in changes {
            let kind = if *by < 0 { EventKind::Left } else { EventKind::Joined };
            let procs = by.unsigned_abs() as u32;
            recovery.add_event(&EventRecord { procs, ..machines(kind, *time, 1) });
        }
        recovery
    }

    fn rule(trailing: u64) -> RecoveryRule {
        RecoveryRule { trailing: Span::from_secs(trailing), ..RecoveryRule::default() }
    }

    #[test]
    fn by_hand() {
        // A job a second until 100 s; 10 of 100 processors leave at 50 s, with 10 jobs in the last 10 s.
        // From 51 s to 60 s nothing completes; then a job a second again.
        let completed: Vec<u64> = (1..=50).chain(61..=100).collect();
        let of = recovery(rule(10), 100, &completed, &[(50, -10)]);
        let losses = of.losses(Window::ALL);
        // Just before 50 s: 40 to 49. At 50 s: 41 to 50. At 52 s there are 8, fewer than 9; 61 to 69 are 9 at 69 s.
        let found = Loss {
            time: Time::from_secs(50),
            processors: 10,
            before: 10,
            recovered: Some(Span::from_secs(19)),
        };
        assert_eq!(losses, [found]);
        let summary = of.summary(Window::ALL);
        assert_eq!((summary.major_outages, summary.unaffected, summary.unrecovered), (1, 0, 0));
        assert_eq!(summary.recovery_time.mean_s, Some(19.0));
        let later = Window::new(Time::from_secs(51), Time::from_secs(60)).unwrap();
        assert_eq!(of.losses(later), []);
    }

    #[test]
    fn what_is_no_loss() {
        let none =
            |present, changes: &[(u64, i64)]| recovery(rule(10), present, &[], changes).losses(Window::ALL);
        assert_eq!(none(100, &[(50, -4)]), [], "too small");
        assert_eq!(none(100, &[(50, -10), (50, 6)]), [], "others come at the same instant");
        assert_eq!(none(100, &[(0, -50)]), [], "how the run begins");
        assert_eq!(none(100, &[(0, -50), (9, -2), (9, -1)]).len(), 1, "3 of 50");
        assert_eq!(none(0, &[(5, 100), (9, -4)]), []);
    }

    #[test]
    fn a_loss_that_nobody_feels_and_one_for_good() {
        let completed: Vec<u64> = (1..=100).collect();
        let of = recovery(rule(10), 100, &completed, &[(50, -50), (95, -10)]);
        let spans: Vec<_> = of.losses(Window::ALL).iter().map(|loss| loss.recovered).collect();
        assert_eq!(spans, [Some(Span::ZERO), None], "the second comes just before the last job");
        let summary = of.summary(Window::ALL);
        assert_eq!(
            (summary.major_outages, summary.unaffected, summary.unrecovered, summary.recovery_time.count),
            (2, 1, 1, 1)
        );
    }

    /// The definition: examine every instant at which anything changes.
    fn slow(rule: &RecoveryRule, completed: &[u64], loss: &Loss) -> (u64, Option<Span>) {
        let trailing = rule.trailing.micros() / 1_000_000;
        let at = loss.time.micros() / 1_000_000;
        let throughput = |t: u64| completed.iter().filter(|c| **c <= t && t < **c + trailing).count() as u64;
        let before = completed.iter().filter(|c| **c < at && at <= **c + trailing).count() as u64;
        let mut instants: Vec<u64> = completed.iter().flat_map(|c| [*c, *c + trailing]).chain([at]).collect();
        instants.sort_unstable();
        let is_back = |t: &u64| 100 * throughput(*t) >= u64::from(rule.recovered_percent) * before;
        let mut after = instants.into_iter().filter(|t| *t >= at);
        let span = match after.by_ref().find(|t| !is_back(t)) {
            Some(below) if below <= at + trailing => {
                after.find(is_back).map(|back| Span::from_secs(back - at))
            }
            _ => Some(Span::ZERO),
        };
        (before, span)
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(
            completed in prop::collection::vec(0_u64..120, 0..80),
            changes in prop::collection::vec((0_u64..120, -20_i64..20), 0..12),
            trailing in 1_u64..30, recovered_percent in 1_u32..120, outage_percent in 0_u32..30, cut in any::<prop::sample::Index>(),
        ) {
            let rule = RecoveryRule { outage_percent, recovered_percent, ..rule(trailing) };
            let whole = recovery(rule, 100, &completed, &changes);
            for loss in whole.losses(Window::ALL) {
                prop_assert_eq!((loss.before, loss.recovered), slow(&rule, &completed, &loss), "{:?}", loss);
            }
            let (cut, other) = (cut.index(completed.len() + 1), cut.index(changes.len() + 1));
            let completed = [&completed[cut..], &completed[..cut]].concat();
            let parts = recovery(rule, 100, &completed, &[&changes[other..], &changes[..other]].concat());
            prop_assert_eq!(parts.losses(Window::ALL), whole.losses(Window::ALL));
        }
    }
}
