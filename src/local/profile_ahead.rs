//! The availability profile of a pass, which reads the book as far as it looks.

use super::profile::slots;
use super::{Book, Profile, Slot, SlotRequest};
use crate::units::{Span, Time};

/// Free processors from now on, as [`Profile`], less what the book has reserved: the two are read side by side, so that of many reservations that begin
/// later a pass looks at none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileAhead<'a> {
    /// Without the reservations of the book.
    profile: Profile,
    /// Processors that the book has reserved.
    reserved: &'a Profile,
}

/// A farther look would cost more than it spares.
const MOST_STEPS: usize = 64;

impl<'a> ProfileAhead<'a> {
    /// `profile` holds none of the reservations of the book.
    pub(super) fn new(profile: Profile, book: &'a Book) -> Self {
        Self { profile, reserved: book.reserved() }
    }

    /// True if `procs` processors are free from `from` for `duration`, as [`Profile::fits`].
    pub fn fits(&self, from: Time, duration: Span, procs: u32) -> bool {
        let end = from + duration;
        let mut during = self.steps(from).take_while(|(time, _)| *time == from || *time < end);
        during.all(|(_, free)| free >= i64::from(procs))
    }

    /// The earliest start, not before `from`, of `procs` processors for `duration`; `None` if there is none.
    pub fn earliest(&self, from: Time, duration: Span, procs: u32) -> Option<Time> {
        if self.reserved.is_over(from) {
            return self.profile.earliest(from, duration, procs);
        }
        let mut since: Option<Time> = None;
        for (time, free) in self.steps(from) {
            if let Some(start) = since.filter(|start| *start + duration <= time) {
                return Some(start);
            }
            since = if free >= i64::from(procs) { since.or(Some(time)) } else { None };
        }
        since
    }

    /// Takes `procs` processors during `[from, to)`.
    pub fn reserve(&mut self, from: Time, to: Time, procs: u32) {
        self.profile.reserve(from, to, procs);
    }

    /// Releases `procs` processors during `[from, to)`.
    pub fn release(&mut self, from: Time, to: Time, procs: u32) {
        self.profile.release(from, to, procs);
    }

    /// Free processors at `time`.
    pub fn free_at(&self, time: Time) -> i64 {
        i64::from(self.profile.free_at(time)) - i64::from(self.reserved.free_at(time))
    }

    /// The fewest free processors from `from` until an instant that it returns, both included: `to`, or one before if more than 64 steps would have to be read.
    pub fn least(&self, from: Time, to: Time) -> (Time, i64) {
        let (mut until, mut least) = (from, i64::MAX);
        for (at, (time, free)) in self.steps(from).enumerate() {
            if at > 0 && time > to {
                return (to, least);
            }
            if at == MOST_STEPS {
                return (until, least);
            }
            (until, least) = (time, least.min(free));
        }
        (to.max(from), least)
    }

    /// Up to the requested number of intervals of starts, as [`Profile::offers`].
    pub fn offers(&self, request: &SlotRequest) -> Vec<Slot> {
        slots(self.steps(request.earliest.max(self.profile.since())), request)
    }

    /// The free processors at `from`, and whenever either part changes after that.
    fn steps(&self, from: Time) -> impl Iterator<Item = (Time, i64)> {
        let (mut ours, mut theirs) = (self.profile.steps_from(from), self.reserved.steps_from(from));
        let (mut free, mut taken) = (0, 0);
        let (mut next, mut other) = (ours.next(), theirs.next());
        std::iter::from_fn(move || {
            let time = match (next, other) {
                (None, None) => return None,
                (Some((time, _)), None) | (None, Some((time, _))) => time,
                (Some((one, _)), Some((other, _))) => one.min(other),
            };
            if let Some((_, now)) = next.filter(|(at, _)| *at == time) {
                (free, next) = (i64::from(now), ours.next());
            }
            if let Some((_, now)) = other.filter(|(at, _)| *at == time) {
                (taken, other) = (i64::from(now), theirs.next());
            }
            Some((time, free - taken))
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::Reservation;

    proptest! {
        /// The twin has all reservations from the beginning.
        #[test]
        fn is_the_profile_with_all_reservations(
            booked in proptest::collection::vec((0_u64..60, 1_u64..15, 1_u32..8), 0..12),
            held in proptest::collection::vec((0_u64..40, 1_u32..6), 0..5),
            asked in proptest::collection::vec((0_u8..6, 0_u64..70, 0_u64..25, 0_u32..14), 1..12),
        ) {
            let at = Time::from_secs;
            let mut book = Book::default();
            for (number, (start, length, procs)) in booked.iter().enumerate() {
                let wanted =
                    Reservation { name: number.to_string(), start: at(*start), end: at(start + length), procs: *procs, job: None };
                book.hold(&wanted, *procs, None, Time::NEVER, Time::ZERO).unwrap();
            }
            let now = at(5);
            let mut profile = Profile::new(now, 12);
            held.iter().for_each(|(end, procs)| profile.reserve(now, at(*end), *procs));
            let mut whole = profile.clone();
            book.iter().for_each(|booking| whole.reserve(booking.start, booking.end, booking.procs));
            let mut ahead = ProfileAhead::new(profile, &book);
            for (what, from, length, procs) in asked {
                let (from, span) = (at(from).max(now), Span::from_secs(length));
                match what {
                    0 => prop_assert_eq!(ahead.fits(from, span, procs), whole.fits(from, span, procs)),
                    1 => prop_assert_eq!(ahead.earliest(from, span, procs), whole.earliest(from, span, procs)),
                    2 => {
                        let (until, least) = ahead.least(from, from + span);
                        prop_assert_eq!((until, least), (from + span, i64::from(whole.least(from, from + span))));
                    }
                    3 => {
                        ahead.reserve(from, from + span, procs);
                        whole.reserve(from, from + span, procs);
                    }
                    4 => {
                        ahead.release(from, from + span, procs);
                        whole.release(from, from + span, procs);
                    }
                    _ => {
                        let request = SlotRequest { procs, duration: span, earliest: from, latest: at(80), alternatives: 4 };
                        prop_assert_eq!(ahead.offers(&request), whole.offers(&request));
                    }
                }
            }
        }
    }
}
