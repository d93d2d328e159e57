//! When a group is over.

use crate::local::policies::preemptive::Factor;
use crate::units::Time;

/// A job of a plan: its place in the order of arrival, and from when until when it has how many processors. Those that run already do not count to the least number.
#[derive(Copy, Clone, Debug)]
pub(in crate::local::policies::scojo_pect) struct Ends {
    pub(in crate::local::policies::scojo_pect) seq: u64,
    pub(in crate::local::policies::scojo_pect) start: Time,
    pub(in crate::local::policies::scojo_pect) end: Time,
    pub(in crate::local::policies::scojo_pect) procs: u32,
    pub(in crate::local::policies::scojo_pect) is_planned: bool,
}

/// The job with whose end a group is over [Kanavallil 2007, section 6.3.3, whose Figure 8 is lost]: in the order of ends the last one before
/// utilization, from now until the end of the job, falls by more than `drop` to below `least_utilization`. So many planned jobs have ended by then at least.
pub(in crate::local::policies::scojo_pect) fn finish(
    mut jobs: Vec<Ends>,
    (now, procs): (Time, u32),
    least: usize,
    (drop, least_utilization): (Factor, Factor),
) -> Option<u64> {
    jobs.sort_unstable_by_key(|job| (job.end, job.seq));
    // In millionths.
    let utilization = |until: Time| {
        let done = |job: &Ends| {
            let (from, to) = (job.start.max(now), job.end.min(until));
            u128::from(to.since(from).micros()) * u128::from(job.procs)
        };
        let done: u128 = jobs.iter().map(done).sum();
        let most = u128::from(until.since(now).micros()) * u128::from(procs);
        u64::try_from((done * u128::from(Factor::ONE)).checked_div(most).unwrap_or(1_000_000))
            .unwrap_or(u64::MAX)
    };
    let (mut last, mut planned, mut before) = (None, 0, None);
    for job in &jobs {
        let reached = utilization(job.end);
        let falls = before.is_some_and(|before: u64| before > reached + drop.as_millionths());
        if planned >= least && falls && reached < least_utilization.as_millionths() {
            break;
        }
        planned += usize::from(job.is_planned);
        (last, before) = (Some(job.seq), Some(reached));
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On 10 processors: utilization until the ends of the jobs is 100, 100, 90, 60 and 46 %.
    #[test]
    fn the_last_job_before_utilization_falls() {
        let at = Time::from_secs;
        let jobs: Vec<Ends> = [(1, 0, 10, 6), (2, 0, 20, 4), (3, 10, 30, 3), (4, 10, 60, 3), (5, 60, 100, 2)]
            .map(|(seq, from, to, procs)| Ends {
                seq,
                start: at(from),
                end: at(to),
                procs,
                is_planned: seq > 1,
            })
            .to_vec();
        let factor = |percent: u64| Factor::millionths(percent * 10_000);
        let of = |least, drop, utilization| {
            finish(jobs.clone(), (at(0), 10), least, (factor(drop), factor(utilization)))
        };
        // Work until 10: 100 of 100; 20: 60 + 80 + 30 + 30 of 200; 30: 60 + 80 + 60 + 60 of 300; 60: 350 of 600; 100: 430 of 1,000.
        assert_eq!(of(0, 5, 70), Some(3));
        // It may be any below a smaller threshold, or fall by any amount.
        assert_eq!(of(0, 5, 55), Some(4));
        assert_eq!(of(0, 40, 70), Some(5));
        // A number of planned jobs ends in any case.
        assert_eq!(of(3, 5, 70), Some(4));
        assert_eq!(of(4, 5, 70), Some(5));
        assert_eq!(finish(Vec::new(), (at(0), 10), 0, (factor(5), factor(70))), None);
    }
}
