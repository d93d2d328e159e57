//! Every waiting job has a reservation: conservative backfilling.

use super::{Case, first_lack, reserve, taken_by};
use crate::local::{Blocker, Compress, Explanation, Why};
use crate::model::JobKey;
use crate::units::{Span, Time};

impl Case<'_> {
    /// Explains a job that would have its processors for so long by its own reservation and those that fill the time until then. `None` if it has
    /// none.
    pub(super) fn planned(
        &self,
        starts: &[(JobKey, Time)],
        held: Span,
        compress: Compress,
    ) -> Option<Explanation> {
        let Self { facts, view, job, .. } = *self;
        let (now, needs) = (facts.at, self.needs());
        let start = starts.iter().find(|(planned, _)| *planned == job)?.1;
        let others = || starts.iter().filter(|(planned, _)| *planned != job);
        let mut profile = self.ground();
        others().for_each(|(planned, start)| reserve(&mut profile, *start, view.job(*planned)));
        let explanation = |why| self.explanation(why).starting(Some(start)).over(&profile, Some(start));
        let end = now + held;
        let Some((time, left)) = first_lack(&profile, now, end, needs) else {
            if start <= now && needs <= facts.free {
                // No rule keeps it waiting: facts and actions do not agree.
                return Some(self.explanation(Why::Starts));
            }
            let before = others().filter(|(_, other)| *other <= start);
            let before = before.map(|(planned, other)| view.waits(*planned, Some(*other)));
            return Some(explanation(Why::Kept { start, compress }).blocked_by(before));
        };
        let holders = self.holders(starts, time);
        let reason = taken_by(&holders, needs <= facts.free);
        let from = (time > now).then_some(time);
        Some(explanation(Why::Planned { start, end, from, left, reason }).blocked_by(holders))
    }

    /// The holders of processors at `time`: jobs with a reservation then, jobs that run until later, the book.
    fn holders(&self, starts: &[(JobKey, Time)], time: Time) -> Vec<Blocker> {
        let Self { facts, view, job, .. } = *self;
        let others = starts.iter().copied().filter(|(planned, _)| *planned != job);
        let waiting = others.chain(self.started().map(|started| (started, facts.at)));
        let there = |(planned, start): &(JobKey, Time)| {
            *start <= time && time < *start + view.job(*planned).estimate()
        };
        let waiting = waiting.filter(there).map(|(planned, start)| view.waits(planned, Some(start)));
        let running = view.releases().into_iter();
        let running = running.filter(|blocker| blocker.until().is_some_and(|until| until > time));
        waiting.chain(running).chain(view.booked(time, time + Span::TICK)).collect()
    }
}
