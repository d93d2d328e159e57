//! The jobs that hold each processor over time.
//!
//! Segments come in order of their ends. So for a processor that holds one job at a time it suffices to keep the last
//! one: if a new segment begins before the end of that one, the two overlap. For a shared processor a step function
//! is kept, as far back as later segments may begin.

use smallvec::SmallVec;

use crate::model::{JobRef, ProcSet};
use crate::units::{Rate, Time};

/// The processors of a partition.
#[derive(Debug)]
pub(super) enum Holders {
    /// One job on each processor.
    Alone(Vec<Holder>),
    /// Several jobs on each processor.
    Shared { multiprogramming_level: u32, steps: Vec<Steps> },
}

/// The job that held a processor last.
#[derive(Copy, Clone, Debug)]
pub(super) struct Holder {
    from: Time,
    until: Time,
    job: JobRef,
}

/// The jobs on a shared processor and the sum of their shares, from each time on, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps(Vec<Step>);

#[derive(Clone, Debug)]
struct Step {
    from: Time,
    jobs: SmallVec<[JobRef; 4]>,
    share: u64,
}

/// Processors with too many jobs, or with shares that sum to too much.
#[derive(Debug)]
pub(super) struct Clash {
    /// The beginning of the clash.
    pub(super) time: Time,
    /// The processors.
    pub(super) procs: ProcSet,
    /// The other jobs on them.
    pub(super) others: Vec<JobRef>,
    /// True if the shares sum to more than one; false if there are too many jobs.
    pub(super) too_much: bool,
}

impl Holders {
    /// Creates processors that may hold this number of jobs each.
    pub(super) const fn new(multiprogramming_level: u32) -> Self {
        if multiprogramming_level > 1 {
            Self::Shared { multiprogramming_level, steps: Vec::new() }
        } else {
            Self::Alone(Vec::new())
        }
    }

    /// Records that a job held these processors, with that share of each, from `from` to `to`, which is not earlier
    /// than in any earlier call. Returns the earliest clash.
    pub(super) fn hold(
        &mut self,
        job: JobRef,
        procs: &ProcSet,
        (from, to): (Time, Time),
        share: Rate,
    ) -> Option<Clash> {
        match self {
            Self::Alone(last) => hold_alone(last, job, procs, (from, to)),
            Self::Shared { multiprogramming_level, steps } => {
                let mut clash: Option<Clash> = None;
                for proc in procs.iter() {
                    let at = proc as usize;
                    if steps.len() <= at {
                        steps.resize_with(at + 1, Steps::default);
                    }
                    let Some((time, others, too_much)) =
                        steps[at].add(job, (from, to), share, *multiprogramming_level as usize)
                    else {
                        continue;
                    };
                    note(&mut clash, time, proc, others, too_much);
                }
                clash
            }
        }
    }

    /// States that no later segment begins before `time`.
    pub(super) fn forget_before(&mut self, time: Time) {
        if let Self::Shared { steps, .. } = self {
            for Steps(steps) in steps {
                // The last step that begins no later than `time` holds at it.
                let keep = steps.partition_point(|step| step.from <= time).saturating_sub(1);
                steps.drain(..keep);
            }
        }
    }
}

fn hold_alone(
    last: &mut Vec<Holder>,
    job: JobRef,
    procs: &ProcSet,
    (from, to): (Time, Time),
) -> Option<Clash> {
    let mut clash: Option<Clash> = None;
    let none = Holder { from: Time::ZERO, until: Time::ZERO, job };
    for proc in procs.iter() {
        let at = proc as usize;
        if last.len() <= at {
            last.resize(at + 1, none);
        }
        let before = std::mem::replace(&mut last[at], Holder { from, until: to, job });
        if before.until > from && before.job != job {
            note(&mut clash, from.max(before.from), proc, vec![before.job], false);
        }
    }
    clash
}

/// Keeps the earliest of the clashes of one segment, with all processors on which it is the same.
fn note(clash: &mut Option<Clash>, time: Time, proc: u32, others: Vec<JobRef>, too_much: bool) {
    match clash {
        Some(clash) if clash.time < time => {}
        Some(clash) if clash.time == time => {
            if clash.others == others {
                clash.procs.insert(proc);
            }
        }
        _ => *clash = Some(Clash { time, procs: std::iter::once(proc).collect(), others, too_much }),
    }
}

impl Steps {
    /// Adds a job, and returns the first time at which there is a clash, if any.
    fn add(
        &mut self,
        job: JobRef,
        (from, to): (Time, Time),
        share: Rate,
        multiprogramming_level: usize,
    ) -> Option<(Time, Vec<JobRef>, bool)> {
        let first = self.cut(from);
        let end = self.cut(to);
        let mut wrong = None;
        for step in &mut self.0[first..end] {
            let others = step.jobs.clone();
            if !step.jobs.contains(&job) {
                step.jobs.push(job);
            }
            step.share += share.units();
            let (crowded, too_much) =
                (step.jobs.len() > multiprogramming_level, step.share > Rate::FULL.units());
            if wrong.is_none() && (crowded || too_much) {
                wrong = Some((step.from, others.to_vec(), !crowded));
            }
        }
        wrong
    }

    /// The index of the step that begins at `time`, which is created if there is none.
    fn cut(&mut self, time: Time) -> usize {
        let at = self.0.partition_point(|step| step.from < time);
        if self.0.get(at).is_none_or(|step| step.from != time) {
            let before = at.checked_sub(1).map(|before| self.0[before].clone());
            let step = before.map_or_else(
                || Step { from: time, jobs: SmallVec::new(), share: 0 },
                |before| Step { from: time, ..before },
            );
            self.0.insert(at, step);
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{JobId, WorkloadId};

    fn name(id: u64) -> JobRef {
        JobRef { workload: WorkloadId::GRID, number: JobId(id) }
    }

    proptest! {
        /// Compares with a count for every microsecond of every processor.
        #[test]
        fn a_clash_is_told_exactly_if_a_processor_has_too_much(
            stretches in proptest::collection::vec((0_u64..20, 1_u64..8, 0_u32..4, 1_u32..3, 1_u64..4), 1..12),
            multiprogramming_level in 1_u32..4,
        ) {
            let mut stretches = stretches;
            stretches.sort_by_key(|(from, length, ..)| from + length);
            let mut holders = Holders::new(multiprogramming_level);
            let mut jobs = [[0_u32; 32]; 8];
            let mut shares = [[0_u64; 32]; 8];
            for (id, (from, length, first, width, share)) in (0_u64..).zip(&stretches) {
                let to = from + length;
                let share = if multiprogramming_level == 1 { Rate::FULL } else { Rate::ratio(*share, 4) };
                let procs = ProcSet::range(*first, first + width);
                let mut wrong: Option<u64> = None;
                for proc in procs.iter() {
                    for at in *from..to {
                        let (p, t) = (proc as usize, at as usize);
                        jobs[p][t] += 1;
                        shares[p][t] += share.units();
                        if jobs[p][t] > multiprogramming_level || shares[p][t] > Rate::FULL.units() {
                            wrong = Some(wrong.map_or(at, |earlier| earlier.min(at)));
                        }
                    }
                }
                let (from, to) = (Time::from_micros(*from), Time::from_micros(to));
                // Segments that begin later are still to come: nothing that they need may be forgotten.
                let low = stretches.iter().skip(id as usize).map(|(from, ..)| *from).min().unwrap_or(0);
                holders.forget_before(Time::from_micros(low));
                let clash = holders.hold(name(id), &procs, (from, to), share);
                prop_assert_eq!(clash.is_some(), wrong.is_some());
                if let (Some(clash), Some(wrong), true) = (&clash, wrong, multiprogramming_level > 1) {
                    prop_assert_eq!(clash.time, Time::from_micros(wrong));
                }
            }
        }
    }

    #[test]
    fn who_else_is_there_is_told() {
        let mut holders = Holders::new(1);
        let secs = |from, to| (Time::from_secs(from), Time::from_secs(to));
        assert!(holders.hold(name(1), &ProcSet::range(0, 4), secs(0, 10), Rate::FULL).is_none());
        assert!(holders.hold(name(2), &ProcSet::range(0, 2), secs(10, 12), Rate::FULL).is_none());
        let clash = holders.hold(name(3), &ProcSet::range(1, 6), secs(8, 20), Rate::FULL).unwrap();
        assert_eq!((clash.time, clash.others), (Time::from_secs(8), vec![name(1)]));
        assert_eq!(clash.procs, ProcSet::range(2, 4));
    }
}
