//! The checks of jobs where some are moldable or malleable: how many processors they have, how fast they are on these, and what they do.
//!
//! What a job may have is known from its workload, with its row, so its segments are kept until then: those on so many processors with such a share
//! and rate once.

use super::Checker;
use super::findings::{Row, Rule, Subject};
use super::job_trace::JobTrace;
use super::request::JobRequest;
use crate::model::{JobKind, JobRecord, Outcome, PartitionId, SiteId};
use crate::units::{Rate, Time, Work};

/// How a job ran; of several stretches that are alike the first.
#[derive(Copy, Clone, Debug)]
pub(super) struct Ran {
    pub(super) place: (SiteId, PartitionId),
    pub(super) procs: u32,
    /// The speed of the slowest of these processors; zero in transition.
    pub(super) speed: Rate,
    pub(super) share: Rate,
    pub(super) rate: Rate,
    /// Whether nothing else decides about the rate: no machine was slowed down, and the policy does not say what sharing costs.
    pub(super) is_exact: bool,
    pub(super) from: Time,
    pub(super) row: Row,
}

impl JobTrace {
    /// Keeps how the job ran, unless it has run so before.
    pub(super) fn add_ran(&mut self, ran: Ran) {
        let key = |of: &Ran| (of.place, of.procs, of.speed, of.share, of.rate, of.is_exact);
        if self.ran.iter().all(|other| key(other) != key(&ran)) {
            self.ran.push(ran);
        }
    }
}

impl Checker {
    /// Checks that a job had as many processors as its workload allows, and ran at the rate that it has on them. Commands change what a job may have,
    /// so one that was changed by any is left out.
    pub(super) fn sizes(&mut self, job: &JobRecord, requested: &JobRequest, row: Row) {
        let Self { platform, verdict, traces, .. } = self;
        let (name, size) = (job.job_ref(), &requested.size);
        let (kind, text) = (size.kind(), platform.job(name));
        let trace = traces.get(&name);
        if requested.elastic || trace.is_some_and(|trace| trace.commanded.is_some()) {
            return;
        }
        let range = |(site, partition)| {
            let spec = platform.partition(site, partition)?;
            Some((spec.rounded(size.min()), spec.rounded(size.max())))
        };
        let within =
            |place, procs: u32| range(place).is_none_or(|(least, most)| (least..=most).contains(&procs));
        let has = |procs: u32, place| match range(place) {
            Some((least, most)) if least < most => {
                format!("{text} has {procs} processors, and may have {least} to {most} by its workload")
            }
            _ => format!("{text} has {procs} processors, and requests {} by its workload", size.preferred()),
        };
        let place = (job.site, job.partition);
        verdict.count_check(Rule::Place);
        if job.procs > 0 && !within(place, job.procs) {
            verdict.fault(Subject { name, row }, Rule::Place, job.end, has(job.procs, place));
        }
        let Some(trace) = trace else { return };
        if let Some(at) = trace.resized.filter(|_| kind != JobKind::Malleable) {
            let message = format!("{text} is {}, and gets other processors at {at} s", kind.name());
            verdict.fault(Subject { name, row }, Rule::SameProcessors, at, message);
        }
        for ran in &trace.ran {
            let subject = Subject { name, row: ran.row };
            if !within(ran.place, ran.procs) {
                verdict.fault(subject, Rule::Place, ran.from, has(ran.procs, ran.place));
            }
            let alone = size.rate_on(ran.procs.min(size.max())).times(ran.speed);
            verdict.count_check(Rule::Work);
            if ran.is_exact && ran.rate != alone.times(ran.share) {
                let (rate, share) = (ran.rate, ran.share);
                let message = format!(
                    "{text} runs at a rate of {rate} on {} processors, where it has {alone} of its own, and its share is {share}",
                    ran.procs
                );
                verdict.fault(subject, Rule::Work, ran.from, message);
            }
        }
    }

    /// Checks that a job which is not rigid has done the work of its workload, whatever processors it had.
    pub(super) fn work_of(&mut self, job: &JobRecord, requested: &JobRequest, row: Row) {
        let Self { platform, verdict, traces, .. } = self;
        let name = job.job_ref();
        let (Some(facts), Some(trace)) = (platform.get(job.site), traces.get(&name)) else { return };
        let is_done = matches!(job.outcome, Outcome::Completed | Outcome::Killed) && job.start.is_some();
        let is_forked = trace.first.is_some_and(|first| first < platform.since);
        let is_kept = platform.sites.iter().any(|site| site.spec.churn.checkpoint.is_some());
        let changed = requested.elastic || trace.commanded.is_some();
        if !platform.segments
            || !is_done
            || is_forked
            || is_kept
            || changed
            || requested.task
            || requested.part
        {
            return;
        }
        let overrun = facts.spec.overrun || requested.overrun;
        let span = if overrun { requested.runtime } else { requested.runtime.min(requested.estimate) };
        let (work, slack) = (Work::of_runtime(span).units(), u128::from(platform.slack.micros()));
        let (done, rate, last) = trace.done_in(job.attempts);
        let full = u128::from(Rate::FULL.units());
        // In the last microsecond more work may be done than is left.
        let most = work + slack * full + u128::from(if last.is_zero() { Rate::ZERO } else { rate }.units());
        let least = work.saturating_sub((1 + slack) * full);
        verdict.count_check(Rule::Work);
        if !(least..=most).contains(&done) {
            let text = platform.job(name);
            let did = Time::from_micros(u64::try_from(done / full).unwrap_or(u64::MAX));
            let word = if done < least { "less" } else { "more" };
            let message = format!(
                "{text} is {} and did {word} than its work, which takes {span} s on the processors that it prefers: its segments do what takes {did} s",
                job.outcome
            );
            verdict.fault(Subject { name, row }, Rule::Work, job.end, message);
        }
    }
}
