//! Checkpoints of running jobs.
//!
//! They are planned in the job's work, not in time: after every `interval` of progress the job writes one, which takes as long
//! as `cost` of progress would. So a job that is slowed down, shared or suspended writes neither more nor fewer of them, and
//! the progress that it has kept depends only on the work that it has done.

use serde::{Deserialize, Serialize};

use crate::model::{CheckpointInterval, Checkpointing};
use crate::units::{Span, Work};

/// When an attempt writes checkpoints.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Checkpoints {
    /// Progress between two checkpoints; above zero.
    interval: Work,
    /// The work that writing one takes.
    cost: Work,
}

/// Young's interval √(2 C M) for checkpoints that take `cost`, where the mean time between failures is `mtbf` (Young 1974, "A
/// first order approximation to the optimum checkpoint interval"); both in the same unit.
fn young(cost: f64, mtbf: f64) -> f64 {
    libm::sqrt(2.0 * cost * mtbf)
}

/// Daly's interval √(2 C M) [1 + ⅓ √(C / 2M) + ⅑ (C / 2M)] − C for C < 2M, else M (Daly 2006, "A higher order estimate of the
/// optimum checkpoint interval for restart dumps", equation 37).
fn daly(cost: f64, mtbf: f64) -> f64 {
    let ratio = cost / (2.0 * mtbf);
    if ratio < 1.0 { young(cost, mtbf) * (1.0 + libm::sqrt(ratio) / 3.0 + ratio / 9.0) - cost } else { mtbf }
}

impl Checkpoints {
    /// The checkpoints of a job on so many machines, each with a mean up time of `mean_up`: together they fail that many times as
    /// often. `None` if the interval depends on failures and nothing is known of them.
    pub(super) fn plan(wanted: &Checkpointing, mean_up: Option<Span>, machines: u32) -> Option<Self> {
        let optimum = |rule: fn(f64, f64) -> f64| {
            let mtbf = mean_up?.micros() as f64 / f64::from(machines.max(1));
            // The cast saturates, and a result that is not above zero becomes the shortest interval.
            Some(Span::from_micros(libm::round(rule(wanted.cost.micros() as f64, mtbf)) as u64))
        };
        let interval = match wanted.interval {
            CheckpointInterval::Young => optimum(young)?,
            CheckpointInterval::Daly => optimum(daly)?,
            CheckpointInterval::Every(interval) => interval,
        };
        let interval = Work::of_runtime(interval.max(Span::TICK));
        Some(Self { interval, cost: Work::of_runtime(wanted.cost) })
    }

    /// The work of an attempt that does `work` and writes its checkpoints; none is written at the end.
    pub(super) fn stretched(self, work: Work) -> Work {
        let count = work.units().saturating_sub(1) / self.interval.units();
        Work::from_units(work.units().saturating_add(count.saturating_mul(self.cost.units())))
    }

    /// The progress that the checkpoints hold, after an attempt has done `done`.
    pub(super) fn kept(self, done: Work) -> Work {
        Work::from_units(self.written(done) * self.interval.units())
    }

    /// The part of `done` that went into writing checkpoints, finished or not.
    pub(super) fn overhead(self, done: Work) -> Work {
        let (whole, part) = (self.written(done), done.units() % self.cycle());
        Work::from_units(whole * self.cost.units() + part.saturating_sub(self.interval.units()))
    }

    /// The work that an attempt had done when it finished its last checkpoint.
    pub(super) fn last(self, done: Work) -> Work {
        Work::from_units(self.written(done) * self.cycle())
    }

    /// The number of checkpoints that have been finished.
    fn written(self, done: Work) -> u128 {
        done.units() / self.cycle()
    }

    fn cycle(self) -> u128 {
        self.interval.units() + self.cost.units()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn every(interval: u64, cost: u64) -> Checkpoints {
        let interval = CheckpointInterval::Every(Span::from_secs(interval));
        let cost = Span::from_secs(cost);
        Checkpoints::plan(&Checkpointing { interval, cost }, None, 1).expect("a given interval")
    }

    fn secs(secs: u64) -> Work {
        Work::of_runtime(Span::from_secs(secs))
    }

    /// C = 60 s, M = 86400 s: √(2 · 60 · 86400) = √10368000 = 3219.94. C / 2M = 0.000347222, its root 0.0186339:
    /// 3219.94 · (1 + 0.0062113 + 0.0000386) − 60 = 3240.06 − 60 = 3180.06 + ….
    #[test]
    fn youngs_and_dalys_intervals() {
        let rounded = |secs: f64| libm::round(secs * 10.0) / 10.0;
        assert_eq!(rounded(young(60.0, 86_400.0)), 3219.9);
        assert_eq!(rounded(daly(60.0, 86_400.0)), 3180.1);
        // Checkpoints that cost too much: one is written as seldom as machines fail.
        assert_eq!(daly(200.0, 100.0), 100.0);
    }

    /// The mean up time of a machine is 86400 s · 4, so that of four machines one fails every 86400 s.
    #[test]
    fn more_machines_fail_more_often() {
        let wanted = |interval| Checkpointing { interval, cost: Span::from_secs(60) };
        let plan = |interval, up, machines| Checkpoints::plan(&wanted(interval), up, machines);
        let up = Some(Span::from_secs(4 * 86_400));
        let young = plan(CheckpointInterval::Young, up, 4).expect("the mean is known");
        // √(2 · 60 · 86400) s to the microsecond.
        assert_eq!(young.interval, Work::of_runtime(Span::from_micros(3_219_937_888)));
        assert_eq!(plan(CheckpointInterval::Young, None, 4), None);
        assert!(
            plan(CheckpointInterval::Every(Span::ZERO), None, 1)
                .is_some_and(|every| !every.interval.is_zero())
        );
    }

    /// A checkpoint of 2 s after every 10 s of progress.
    #[test]
    fn none_is_written_at_the_end() {
        let every = every(10, 2);
        assert_eq!(every.stretched(Work::ZERO), Work::ZERO);
        assert_eq!(every.stretched(secs(10)), secs(10));
        assert_eq!(every.stretched(secs(11)), secs(13));
        assert_eq!(every.stretched(secs(30)), secs(34));
        // 10 progress, 2 writing, 10 progress, 2 writing, ...
        let at = [(0, 0, 0), (10, 0, 0), (11, 0, 1), (12, 10, 2), (22, 10, 2), (23, 10, 3), (24, 20, 4)];
        for (done, kept, overhead) in at {
            assert_eq!((every.kept(secs(done)), every.overhead(secs(done))), (secs(kept), secs(overhead)));
        }
    }

    proptest! {
        /// The slow reference implementation does one unit of work after the other.
        #[test]
        fn agrees_with_doing_it_step_by_step(interval in 1_u128..9, cost in 0_u128..5, work in 0_u128..60, stop in 0_usize..200) {
            let every = Checkpoints { interval: Work::from_units(interval), cost: Work::from_units(cost) };
            let (mut steps, mut progress, mut written) = (Vec::new(), 0, 0);
            while progress < work {
                if progress == (written + 1) * interval {
                    steps.extend(std::iter::repeat_n(None, cost as usize));
                    written += 1;
                }
                steps.push(Some(written * interval));
                progress += 1;
            }
            prop_assert_eq!(every.stretched(Work::from_units(work)).units(), steps.len() as u128);
            let stop = stop.min(steps.len());
            let done = Work::from_units(stop as u128);
            let writing = steps[..stop].iter().filter(|step| step.is_none()).count();
            prop_assert_eq!(every.overhead(done).units(), writing as u128);
            let kept = every.kept(done).units();
            // A checkpoint holds as soon as it is written; the next step records that.
            let held = steps.get(stop).copied().flatten().unwrap_or(kept);
            if stop < steps.len() && steps[stop].is_some() {
                prop_assert_eq!(kept, held);
            }
            prop_assert!(kept < work || work == 0 || (stop == steps.len() && kept <= work));
            let last = every.last(done);
            prop_assert!(last <= done && every.kept(last) == every.kept(done));
        }
    }
}
