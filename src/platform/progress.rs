//! Progress at equal rates: transfers on a link, readers and writers of a storage.
//!
//! All that progress alike share one counter: `served`, the amount that each has received that has been there since the counter
//! began. What needs an amount of `d` and begins at a counter of `s` has passed once the counter reaches `s + d`. So they are kept in the
//! order of that mark; a beginning or an end changes the speed of the counter, and nothing that progresses. Amounts are in 10⁻⁶ bits, so
//! bits per second times microseconds is exact, and settling at any instant in between changes nothing.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::units::{Bytes, Span, Time};

/// An amount in 10⁻⁶ bits, or a rate in bits per second, which are 10⁻⁶ bits per microsecond.
pub(super) type Amount = u128;

/// What progresses at the same rate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Progress<T: Ord> {
    rate: Amount,
    /// The amount that each has received since the counter began, settled up to `since`.
    served: Amount,
    since: Time,
    /// By the value of `served` at which each has passed.
    marks: BTreeSet<(Amount, T)>,
}

impl<T: Copy + Ord> Progress<T> {
    /// Nothing, from an instant on.
    pub(super) fn new(now: Time) -> Self {
        Self { rate: 1, served: 0, since: now, marks: BTreeSet::new() }
    }

    /// How many progress.
    pub(super) fn len(&self) -> usize {
        self.marks.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// What progresses.
    pub(super) fn each(&self) -> impl Iterator<Item = T> {
        self.marks.iter().map(|(_, what)| *what)
    }

    /// Begins with this amount. False if the very same has just begun.
    pub(super) fn begin(&mut self, what: T, amount: Amount, now: Time) -> bool {
        self.settle(now);
        self.marks.insert((self.served.saturating_add(amount), what))
    }

    /// Changes the rate of each.
    pub(super) fn set_rate(&mut self, rate: Amount, now: Time) {
        if rate != self.rate {
            self.settle(now);
            self.rate = rate;
        }
    }

    /// The instant at which the first has passed, if the rate stays.
    pub(super) fn next(&self) -> Option<Time> {
        let (mark, _) = self.marks.first()?;
        let micros = mark.saturating_sub(self.served).div_ceil(self.rate);
        Some(self.since + Span::from_micros(u64::try_from(micros).unwrap_or(u64::MAX)))
    }

    /// Advances to the instant at which the next has passed, takes it out and returns it; or to `now`, and returns `None`, if
    /// none passes until then.
    pub(super) fn pass(&mut self, now: Time) -> Option<(Time, T)> {
        let passes = self.next()?;
        self.settle(passes.min(now));
        if passes > now {
            return None;
        }
        self.marks.pop_first().map(|(_, what)| (passes, what))
    }

    /// Takes out all, with the amounts that are left. What has passed by `now` must have been taken out.
    pub(super) fn drain(&mut self, now: Time) -> impl Iterator<Item = (T, Amount)> + use<T> {
        self.settle(now);
        let served = self.served;
        std::mem::take(&mut self.marks).into_iter().map(move |(mark, what)| (what, mark - served))
    }

    fn settle(&mut self, now: Time) {
        self.served += self.rate * u128::from(now.since(self.since).micros());
        // Never move backwards from a time that lies ahead.
        self.since = self.since.max(now);
    }
}

/// The rate of each of so many that share a bandwidth: at least a bit per second.
pub(super) fn share(bandwidth: u64, sharers: usize) -> Amount {
    u128::from(bandwidth / (sharers as u64).max(1)).max(1)
}

/// Data as an amount.
pub(super) fn amount(data: Bytes) -> Amount {
    u128::from(data.count()) * 8 * 1_000_000
}

/// The time that an amount takes at a rate.
pub(super) fn time_for(amount: Amount, rate: Amount) -> Span {
    Span::from_micros(u64::try_from(amount.div_ceil(rate)).unwrap_or(u64::MAX))
}
