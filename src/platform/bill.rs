//! What was drawn for one purpose or another, what it cost and the carbon that it caused: the ledger of a meter.

use std::ops::{AddAssign, Sub};

use ethnum::I256;
use serde::{Deserialize, Serialize};

use super::usage::ProcTime;
use crate::units::{Carbon, Energy, Money};

/// Energy, with what it cost and the carbon that it caused. Money and carbon are zero where the price of electricity and the carbon
/// intensity are not known.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amounts {
    /// The energy.
    pub energy: Energy,
    /// The cost of this electricity.
    pub electricity: Money,
    /// The carbon that it caused.
    pub carbon: Carbon,
}

/// What a meter read, by purpose: `useful + wasted + overhead + idle + asleep + transitions = meter`, exactly, of energy, money and carbon.
///
/// What a job draws is split over its useful, wasted and overhead time in proportion, rounded down; the idle part takes what rounding
/// leaves, so that with prices below zero it may be below zero.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bill {
    /// Drawn for useful time of jobs.
    pub useful: Amounts,
    /// Drawn for wasted time of jobs.
    pub wasted: Amounts,
    /// Drawn for the overhead of jobs.
    pub overhead: Amounts,
    /// Drawn by machines that slept.
    pub asleep: Amounts,
    /// Drawn by machines on their way to sleep and back.
    pub transitions: Amounts,
    /// What the meter read: all of it.
    pub meter: Amounts,
}

impl AddAssign for Amounts {
    fn add_assign(&mut self, other: Self) {
        self.energy += other.energy;
        self.electricity += other.electricity;
        self.carbon += other.carbon;
    }
}

impl Sub for Amounts {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            energy: self.energy - other.energy,
            electricity: self.electricity - other.electricity,
            carbon: self.carbon - other.carbon,
        }
    }
}

impl Amounts {
    /// The share of this that falls to `part` of the time `whole`, rounded down.
    #[must_use]
    pub fn of(self, part: ProcTime, whole: ProcTime) -> Self {
        if part == whole {
            return self;
        }
        if part == 0 || whole == 0 {
            return Self::default();
        }
        let share = |amount: i128| {
            let share = (I256::from(amount).wrapping_mul(I256::from(part))).div_euclid(I256::from(whole));
            // No larger than the amount.
            i128::try_from(share).unwrap_or(amount)
        };
        Self {
            energy: Energy::from_nanojoules(share(self.energy.nanojoules().cast_signed()).unsigned_abs()),
            electricity: Money::from_nanos(share(self.electricity.nanos())),
            carbon: Carbon::from_nanograms(share(self.carbon.nanograms())),
        }
    }
}

impl Bill {
    /// One of jobs that have drawn so many nanojoules of what the meter read.
    #[cfg(test)]
    pub(crate) fn drawn(jobs: u128, meter: u128) -> Self {
        let amounts =
            |nanojoules| Amounts { energy: Energy::from_nanojoules(nanojoules), ..Amounts::default() };
        Self { useful: amounts(jobs), meter: amounts(meter), ..Self::default() }
    }

    /// Adds another one.
    pub fn merge(&mut self, other: &Self) {
        self.useful += other.useful;
        self.wasted += other.wasted;
        self.overhead += other.overhead;
        self.asleep += other.asleep;
        self.transitions += other.transitions;
        self.meter += other.meter;
    }

    /// Drawn for jobs, whatever became of it.
    pub fn jobs(&self) -> Amounts {
        let mut jobs = self.useful;
        jobs += self.wasted;
        jobs += self.overhead;
        jobs
    }

    /// Drawn by idle processors of machines that were awake.
    pub fn idle(&self) -> Amounts {
        debug_assert!(
            self.jobs().energy + self.asleep.energy + self.transitions.energy <= self.meter.energy,
            "the parts of a meter are no more than it reads: {self:?}"
        );
        self.meter - self.jobs() - self.asleep - self.transitions
    }

    /// Adds what a job drew, in all of its time.
    pub fn add_job(&mut self, drawn: Amounts, time: ProcTime, useful: ProcTime, overhead: ProcTime) {
        let (for_use, for_overhead) = (drawn.of(useful, time), drawn.of(overhead, time));
        self.useful += for_use;
        self.overhead += for_overhead;
        self.wasted += drawn - for_use - for_overhead;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amounts(energy: u128, electricity: i128, carbon: i128) -> Amounts {
        Amounts {
            energy: Energy::from_nanojoules(energy),
            electricity: Money::from_nanos(electricity),
            carbon: Carbon::from_nanograms(carbon),
        }
    }

    #[test]
    fn what_a_job_draws_is_split_by_its_time() {
        let mut bill = Bill { meter: amounts(150, -20, 9), ..Bill::default() };
        // Of 10, useful 5, overhead 2: of 101 nJ 50 and 20, of −15 −8 and −3, of 7 ng 3 and 1.
        bill.add_job(amounts(101, -15, 7), 10, 5, 2);
        assert_eq!(bill.useful, amounts(50, -8, 3));
        assert_eq!(bill.overhead, amounts(20, -3, 1));
        assert_eq!(bill.wasted, amounts(31, -4, 3));
        assert_eq!((bill.jobs(), bill.idle()), (amounts(101, -15, 7), amounts(49, -5, 2)));
    }

    #[test]
    fn shares_of_years_do_not_overflow() {
        let whole = u128::MAX >> 1;
        let most = amounts(whole, i128::MAX, i128::MAX);
        assert_eq!(most.of(whole, whole), most);
        assert_eq!(most.of(whole / 2, whole).energy.nanojoules(), whole / 2);
    }
}
