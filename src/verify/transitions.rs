//! The checks of transitions: a job that is suspended, resumes or adapts to other processors does no work, for as long as its site says.

use super::Checker;
use super::findings::{Rule, Subject};
use super::job_trace::JobTrace;
use crate::model::{
    Cause, JobMemory, MemoryLaw, MemoryOf, PartitionSpec, Preemption, ProcSet, SegmentRecord,
};
use crate::units::{Bandwidth, Span};

/// Whether a job was in transition in segments of this cause.
pub(super) const fn is_transition(cause: Cause) -> bool {
    matches!(cause, Cause::Suspend | Cause::Resume | Cause::Resize)
}

impl JobTrace {
    /// Records how long the transition has taken of which a segment is a part, if it is.
    pub(super) fn add_transition(&mut self, segment: &SegmentRecord) {
        let goes_on = self.last.as_ref().is_some_and(|last| {
            last.cause == segment.cause
                && last.attempt == segment.attempt
                && last.procs == segment.procs
                && match segment.cause {
                    // One that a machine has interrupted is dropped, and begins anew.
                    Cause::Suspend => {
                        let is_interrupted = !self.halts.is_empty() || self.stalled == Some(segment.from);
                        last.to == segment.from && !is_interrupted
                    }
                    _ => last.to == segment.from || self.stood_still(last.to, segment.from),
                }
        });
        let span = segment.to.since(segment.from);
        if !goes_on {
            // It may have had others for no time: one that resumes at once may be resized in the same instant.
            let resized = self.sized.iter().rposition(|(at, _, resized)| *resized && *at <= segment.from);
            let just_before = resized.and_then(|at| self.sized[..at].last()).map(|(_, procs, _)| *procs);
            self.had = just_before.or_else(|| Some(self.last.as_ref()?.procs.len()));
        }
        (self.taken, self.entered) = match goes_on {
            true => (self.taken + span, self.entered),
            false => (span, segment.from),
        };
    }
}

impl Checker {
    /// Checks that a transition was as long as it takes, when its job goes on in the same attempt.
    pub(super) fn transition(
        &mut self,
        subject: Subject,
        last: Option<&SegmentRecord>,
        segment: &SegmentRecord,
    ) {
        let Self { platform, verdict, .. } = self;
        let Some(trace) = self.traces.get(&subject.name) else { return };
        let is_known = |last: &&SegmentRecord| {
            last.attempt == segment.attempt
                && is_transition(last.cause)
                && platform.events
                && trace.entered > platform.since
        };
        let Some(last) = last.filter(is_known) else { return };
        let follows = last.to == segment.from;
        // What was interrupted goes on, or begins anew.
        let is_over = match last.cause {
            Cause::Suspend => {
                let is_interrupted = !trace.halts.is_empty() || trace.stalled == Some(last.to);
                segment.cause != Cause::Suspend && !is_interrupted
            }
            _ => segment.cause == Cause::Run && follows,
        };
        let place = platform.get(last.site).zip(platform.partition(last.site, last.partition));
        let Some((facts, part)) = place.filter(|_| is_over) else { return };
        let Some(takes) = takes(&facts.spec.preemption, last.cause, (trace.had, &last.procs), part) else {
            return;
        };
        verdict.count_check(Rule::Attempts);
        // One may follow another at once. On the same processors one that resizes the job costs nothing for each.
        let again = if last.cause == Cause::Resize { facts.spec.preemption.resize } else { takes };
        let rest = trace.taken.micros().checked_sub(takes.micros());
        let is_whole = |rest: u64| rest == 0 || rest.checked_rem(again.micros()) == Some(0);
        if !rest.is_some_and(is_whole) {
            let (job, what) = (platform.job(subject.name), last.cause.name());
            let taken = trace.taken;
            let message =
                format!("`{what}` takes {takes} s of {job} there, and took {taken} s until {} s", last.to);
            verdict.fault(subject, Rule::Attempts, last.to, message);
        }
    }
}

/// How long a transition takes on these processors, after so many; `None` if that, or the memory of the job, is not known.
fn takes(
    costs: &Preemption,
    cause: Cause,
    (had, procs): (Option<u32>, &ProcSet),
    part: &PartitionSpec,
) -> Option<Span> {
    let own = match cause {
        Cause::Suspend => costs.write?,
        Cause::Resume => costs.read?,
        _ => return Some(costs.resizes(had?, procs.len())),
    };
    let JobMemory::Law(MemoryLaw::Fixed(memory)) = costs.memory else { return None };
    let mut on = std::collections::BTreeMap::<u32, u128>::new();
    procs.iter().for_each(|proc| *on.entry(proc / part.cores.max(1)).or_default() += 1);
    // Bits of each processor, over those of the job if that is what is stated.
    let bits = u128::from(memory.count()) * 8;
    let over = if costs.memory_of == MemoryOf::Job { u128::from(procs.len()) } else { 1 };
    let micros =
        |parts: u128, at: Bandwidth| (bits * parts * 1_000_000).div_ceil(over * u128::from(at.bits()));
    let each = on.values().map(|count| {
        let together = costs.node.map_or(0, |node| micros(*count, node));
        micros(1, own).max(together)
    });
    u64::try_from(each.max()?).ok().map(Span::from_micros)
}
