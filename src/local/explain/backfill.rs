//! The first in line has a reservation: EASY.

use super::{Case, first_lack, reserve};
use crate::local::{Blocker, Explanation, Profile, Why};
use crate::model::JobKey;
use crate::units::Time;

/// Free processors after a pass that has backfilled around a first job.
struct Around {
    first: JobKey,
    shadow: Option<Time>,
    /// Without the reservation of the first job.
    without: Profile,
    /// With the reservation of the first job.
    with: Profile,
}

impl Case<'_> {
    /// The first in line has a reservation at the shadow time.
    pub(super) fn backfilled(&self, first: JobKey, shadow: Option<Time>) -> Explanation {
        let (without, head) = (self.ground(), self.view.job(first));
        // A pass that leaves no processor free needs no shadow time.
        let shadow = shadow.or_else(|| without.earliest(self.facts.at, head.estimate(), head.procs()));
        let mut with = without.clone();
        if let Some(shadow) = shadow {
            reserve(&mut with, shadow, head);
        }
        let around = Around { first, shadow, without, with };
        if first == self.job { self.has_reservation(&around) } else { self.not_backfilled(&around) }
    }

    /// Reservations between two instants, of the book and of dedicated jobs.
    fn reserved(&self, from: Time, to: Time) -> Vec<Blocker> {
        let before = |job: &JobKey| self.view.job(*job).requested_start().filter(|start| *start < to);
        let dedicated = self.facts.dedicated.iter().filter_map(|(job, _)| Some((*job, before(job)?)));
        let dedicated = dedicated.map(|(job, start)| self.view.waits(job, Some(start)));
        self.view.booked(from, to).into_iter().chain(dedicated).collect()
    }

    /// Explains the first job that does not fit: it has the reservation.
    fn has_reservation(&self, around: &Around) -> Explanation {
        let Self { facts, view, live, .. } = *self;
        let (needs, shadow) = (self.needs(), around.shadow);
        let free_then = shadow.map(|shadow| u32::try_from(around.without.free_at(shadow)).unwrap_or(0));
        let until = shadow.unwrap_or(Time::NEVER);
        let told = |why| {
            let spare = free_then.map(|free| free.saturating_sub(needs));
            self.told(why).shadowed(shadow, spare).starting(shadow).over(&around.without, shadow)
        };
        if needs > facts.free {
            return told(Why::FirstInLine { reserved: true })
                .blocked_by(view.released_for(needs, facts.free))
                .blocked_by(self.reserved(facts.at, until))
                .blocked_by(self.started_before());
        }
        let end = facts.at + live.estimate();
        told(Why::ReservedBefore { end, first: true }).blocked_by(self.reserved(facts.at, end.max(until)))
    }

    /// Explains a job behind the first one that is not backfilled.
    fn not_backfilled(&self, around: &Around) -> Explanation {
        let Self { facts, view, live, .. } = *self;
        let (needs, shadow) = (self.needs(), around.shadow);
        let (who, waits) = (view.who(around.first), view.waits(around.first, shadow));
        let told = |why| self.told(why).shadowed(shadow, None).over(&around.with, shadow);
        if needs > facts.free {
            return told(Why::MayOvertake { first: who })
                .blocked_by(view.released_for(needs, facts.free))
                .blocked_by(self.started_before())
                .blocked_by([waits]);
        }
        let end = facts.at + live.estimate();
        let Some((time, spare)) = first_lack(&around.with, end, needs) else {
            // No rule keeps it waiting: facts and actions do not agree.
            return self.told(Why::Starts);
        };
        match shadow.filter(|_| around.without.fits(facts.at, live.estimate(), needs)) {
            Some(start) => {
                let from = (time != start).then_some(time);
                let why = Why::WouldDelay { first: Some(who), start, end, spare, from };
                let head = view.job(around.first).procs();
                told(why)
                    .shadowed(shadow, Some(spare))
                    .blocked_by([waits])
                    .blocked_by(view.released_for(head, view.free()))
                    .blocked_by(self.reserved(facts.at, end))
                    .blocked_by(self.started_before())
            }
            None => told(Why::ReservedBefore { end, first: false }).blocked_by(self.reserved(facts.at, end)),
        }
    }
}
