//! The best set of waiting jobs starts: the LOS family.

use super::Case;
use crate::local::{Blocker, Explanation, FreezeFacts, Packing, Skipped, Why};
use crate::units::Time;

impl Case<'_> {
    /// Explains a job that was not chosen.
    pub(super) fn packed(&self, set: &Packing) -> Explanation {
        let Self { facts, view, job, live } = *self;
        let needs = self.needs();
        let skipped = set.skipped.iter().find(|(skipped, _)| *skipped == job);
        let skipped = skipped.map(|(_, times)| Skipped { times: *times, most: set.most_skips });
        let own = set.freeze.filter(|freeze| freeze.first == Some(job));
        let for_set = |why| {
            let freeze = set.freeze;
            Explanation::new(why, needs, set.free.unwrap_or(facts.free))
                .shadowed(freeze.map(|freeze| freeze.time), freeze.map(|freeze| freeze.spare))
        };
        if needs > set.free.unwrap_or(facts.free) {
            let explanation = self
                .explanation(Why::TooFew { skipped })
                .blocked_by(view.released_for(needs, facts.free))
                .blocked_by(self.started_before());
            return match own {
                Some(freeze) => explanation
                    .shadowed(Some(freeze.time), Some(freeze.spare))
                    .starting(Some(freeze.time))
                    .blocked_by(view.booked(facts.at, freeze.time)),
                None => explanation.blocked_by(self.all_reserved(set)),
            };
        }
        if facts.dedicated.iter().any(|(dedicated, _)| *dedicated == job) {
            return self.explanation(Why::AfterSkipped).blocked_by(self.first_of(set));
        }
        let end = facts.at + live.estimate();
        if let Some(freeze) = own {
            return for_set(Why::ReservedBefore { end, first: true })
                .starting(Some(freeze.time))
                .blocked_by(self.all_reserved(set));
        }
        if set.free.is_none() {
            // The first job does not fit, and never will as far as can be foreseen.
            return match set.first {
                Some(first) if first != job => self.in_order(first),
                Some(_) => for_set(Why::ReservedBefore { end, first: false })
                    .blocked_by(view.booked(facts.at, Time::NEVER)),
                None => self.explanation(Why::Starts),
            };
        }
        if set.refused.contains(&job) {
            return Explanation::new(Why::ReservedBefore { end, first: false }, needs, facts.free)
                .blocked_by(self.all_reserved(set));
        }
        let stays = |freeze: &FreezeFacts| live.estimate() > freeze.window && needs > freeze.spare;
        if let Some(freeze) = set.freeze.filter(stays) {
            let first = freeze.first.map(|first| view.who(first));
            let why = Why::WouldDelay { first, start: freeze.time, end, spare: freeze.spare, from: None };
            return for_set(why).blocked_by(self.frozen(&freeze));
        }
        if !set.looked_at.contains(&job) {
            let why = Why::BeyondLookahead { most: set.lookahead };
            return for_set(why).blocked_by(self.first_of(set));
        }
        let chosen = set.chosen.iter().map(|chosen| match view.job(*chosen).phase() {
            crate::local::Phase::Waiting => view.waits(*chosen, Some(facts.at)),
            _ => view.runs(*chosen),
        });
        for_set(Why::Packed { skipped }).blocked_by(chosen)
    }

    /// The first job in the queue after the pass, as a blocker; none for the first job itself.
    fn first_of(&self, set: &Packing) -> Option<Blocker> {
        let first = set.first.filter(|first| *first != self.job)?;
        Some(self.view.waits(first, None))
    }

    /// The jobs that the freeze is for.
    fn frozen(&self, freeze: &FreezeFacts) -> Vec<Blocker> {
        match freeze.first {
            Some(first) => vec![self.view.waits(first, Some(freeze.time))],
            None => self.dedicated().take(freeze.dedicated.max(1)).collect(),
        }
    }

    fn dedicated(&self) -> impl Iterator<Item = Blocker> + use<'_> {
        let start = |job| self.view.job(job).requested_start();
        self.facts.dedicated.iter().map(move |(job, _)| self.view.waits(*job, start(*job)))
    }

    /// All reservations: those of the book and of dedicated jobs.
    fn all_reserved(&self, set: &Packing) -> Vec<Blocker> {
        let booked = self.view.booked(self.facts.at, Time::NEVER);
        booked.into_iter().chain(self.first_of(set)).chain(self.dedicated()).collect()
    }
}
