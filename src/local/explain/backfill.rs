//! The first in line has a reservation: EASY.

use super::{Case, first_lack};
use crate::local::{Blocker, Delay, Explanation, Profile, Why};
use crate::model::JobKey;
use crate::units::Time;

impl Case<'_> {
    /// The first in line has a reservation at the shadow time.
    pub(super) fn backfilled(&self, first: JobKey, shadow: Option<Time>) -> Explanation {
        let (without, head) = (self.ground(), self.view.job(first));
        // A pass that leaves no processor free needs no shadow time.
        let shadow = shadow.or_else(|| without.earliest(self.facts.at, self.holds(head), head.procs()));
        let mut with = without.clone();
        if let Some(shadow) = shadow {
            with.reserve(shadow, shadow + self.holds(head), head.procs());
        }
        if first == self.job {
            self.has_reservation(shadow, &without)
        } else {
            self.not_backfilled(first, shadow, &without, &with)
        }
    }

    /// Reservations between two instants, of the book and of dedicated jobs.
    fn reserved(&self, from: Time, to: Time) -> Vec<Blocker> {
        let before = |job: &JobKey| self.view.job(*job).requested_start().filter(|start| *start < to);
        let dedicated = self.facts.dedicated.iter().filter_map(|(job, _)| Some((*job, before(job)?)));
        let dedicated = dedicated.map(|(job, start)| self.view.waits(job, Some(start)));
        self.view.booked(from, to).into_iter().chain(dedicated).collect()
    }

    /// Explains the first job that does not fit: it has the reservation. `without` are the free processors without it.
    fn has_reservation(&self, shadow: Option<Time>, without: &Profile) -> Explanation {
        let Self { facts, view, .. } = *self;
        let needs = self.needs();
        let free_then = shadow.map(|shadow| u32::try_from(without.free_at(shadow)).unwrap_or(0));
        let until = shadow.unwrap_or(Time::NEVER);
        let explanation = |why| {
            let spare = free_then.map(|free| free.saturating_sub(needs));
            self.explanation(why).shadowed(shadow, spare).starting(shadow).over(without, shadow)
        };
        if needs > facts.free {
            return explanation(Why::FirstInLine { reserved: true })
                .blocked_by(view.released_for(needs, facts.free))
                .blocked_by(self.reserved(facts.at, until))
                .blocked_by(self.started_before());
        }
        let end = facts.at + self.held();
        explanation(Why::ReservedBefore { end, first: true })
            .blocked_by(self.reserved(facts.at, end.max(until)))
    }

    /// Explains a job behind the first one that is not backfilled, from the free processors without and with the reservation of
    /// the first one.
    fn not_backfilled(
        &self,
        first: JobKey,
        shadow: Option<Time>,
        without: &Profile,
        with: &Profile,
    ) -> Explanation {
        let Self { facts, view, .. } = *self;
        let needs = self.needs();
        let (who, waits) = (view.who(first), view.waits(first, shadow));
        let explanation = |why| self.explanation(why).shadowed(shadow, None).over(with, shadow);
        let end = facts.at + self.held();
        if needs > facts.free {
            // Were enough free now, it would still have to leave the first in line what it needs.
            let lack = shadow.and_then(|shadow| first_lack(with, shadow, end, needs));
            let delay = lack.map(|(from, spare)| Delay { end, from, spare });
            let spare = delay.map(|delay| delay.spare);
            return explanation(Why::MayOvertake { first: who, delay })
                .shadowed(shadow, spare)
                .blocked_by(view.released_for(needs, facts.free))
                .blocked_by(self.started_before())
                .blocked_by([waits]);
        }
        let Some((time, spare)) = first_lack(with, facts.at, end, needs) else {
            // No rule keeps it waiting: facts and actions do not agree.
            return self.explanation(Why::Starts);
        };
        match shadow.filter(|_| without.fits(facts.at, self.held(), needs)) {
            Some(start) => {
                let from = (time != start).then_some(time);
                let why = Why::WouldDelay { first: Some(who), start, end, spare, from };
                let head = view.job(first).procs();
                explanation(why)
                    .shadowed(shadow, Some(spare))
                    .blocked_by([waits])
                    .blocked_by(view.released_for(head, view.free()))
                    .blocked_by(self.reserved(facts.at, end))
                    .blocked_by(self.started_before())
            }
            None => explanation(Why::ReservedBefore { end, first: false })
                .blocked_by(self.reserved(facts.at, end)),
        }
    }
}
