//! The ledger of a partition: processor time, energy and cost, exact and additive.

use serde::{Deserialize, Serialize};

use crate::model::PartitionSpec;
use crate::units::{Energy, Money, Power, Rate, Span, Time};

const MICROS_AN_HOUR: u128 = 3_600_000_000;

/// Processor time in processors × share (2⁻²⁰) × microseconds.
pub type ProcTime = u128;

/// What the processors of a partition did between two instants.
///
/// `useful + wasted + overhead + reserved + idle + away` is the nominal capacity
/// `processors × (to − from)`, exactly.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Beginning of the account: the first submission.
    pub from: Time,
    /// End of the account: the last end.
    pub to: Time,
    /// Processors of the partition.
    pub processors: u32,
    /// Time of jobs that completed, and of lost attempts as far as checkpoints have kept what they did.
    pub useful: ProcTime,
    /// Time of jobs that were killed, failed or cancelled, or had not finished.
    pub wasted: ProcTime,
    /// Time of suspending, resuming, checkpointing and staging, whatever became of the job.
    pub overhead: ProcTime,
    /// Time kept from the queue by reservations.
    pub reserved: ProcTime,
    /// Time away.
    pub away: ProcTime,
    /// Energy of the jobs (IT energy, without PUE).
    pub job_energy: Energy,
    /// Energy of all processors (IT energy, without PUE): jobs and idle together.
    pub meter: Energy,
    /// What the jobs paid.
    pub cost: Money,
}

impl Usage {
    /// One processor for one second.
    pub const PROC_SECOND: ProcTime = Rate::FULL.units() as u128 * 1_000_000;

    /// `procs` processors at `share` for `span`.
    pub const fn proc_time(procs: u32, share: Rate, span: Span) -> ProcTime {
        procs as u128 * share.units() as u128 * span.micros() as u128
    }

    /// Nominal capacity of the whole account.
    pub const fn nominal(&self) -> ProcTime {
        Self::proc_time(self.processors, Rate::FULL, self.to.since(self.from))
    }

    /// In use, for whatever reason.
    pub const fn busy(&self) -> ProcTime {
        self.useful + self.wasted + self.overhead
    }

    /// Neither in use nor reserved nor away.
    pub const fn idle(&self) -> ProcTime {
        self.nominal().saturating_sub(self.busy() + self.reserved + self.away)
    }

    /// Energy of idle processors.
    pub fn idle_energy(&self) -> Energy {
        self.meter - self.job_energy
    }

    /// Share of the nominal capacity that was in use; 0 if the account is empty.
    pub fn utilization(&self) -> f64 {
        let nominal = self.nominal();
        if nominal == 0 { 0.0 } else { self.busy() as f64 / nominal as f64 }
    }
}

/// What a partition's processors draw and cost.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Tariff {
    idle: u128,
    busy: u128,
    price: u128,
}

impl Tariff {
    /// The tariff of a partition.
    pub fn of(spec: &PartitionSpec) -> Self {
        Self {
            idle: u128::from(spec.idle.milliwatts()),
            busy: u128::from(spec.busy.milliwatts()),
            price: u128::from(spec.price.nanos()),
        }
    }

    /// Energy charged to whoever uses `time` of a processor: its share of the time at busy power.
    ///
    /// Summed over jobs before it is rounded, so that jobs and idle together are the meter exactly.
    pub const fn busy_energy(&self, time: ProcTime) -> Energy {
        let (whole, part) = split(time);
        Energy::from_nanojoules(whole * self.busy + ((part * self.busy) >> Rate::BITS))
    }

    /// Energy of all processors: `busy` of the time at busy power, the rest of `powered` at idle power.
    pub const fn meter(&self, busy: ProcTime, powered: ProcTime) -> Energy {
        let (busy_whole, busy_part) = split(busy);
        let (idle_whole, idle_part) = split(powered.saturating_sub(busy));
        let parts = (busy_part * self.busy + idle_part * self.idle) >> Rate::BITS;
        Energy::from_nanojoules(busy_whole * self.busy + idle_whole * self.idle + parts)
    }

    /// What processors draw of which `busy` × 2⁻²⁰ are in use and `powered` × 2⁻²⁰ are there.
    pub const fn power(&self, busy: u64, powered: u64) -> Power {
        let idle = powered.saturating_sub(busy) as u128;
        let drawn = (busy as u128 * self.busy + idle * self.idle) >> Rate::BITS;
        // At most 2²⁶ processors of 10⁹ mW.
        Power::from_milliwatts(drawn as u64)
    }

    /// What `time` of a processor costs, rounded to the nearest 10⁻⁹.
    pub const fn cost(&self, time: ProcTime) -> Money {
        if self.price == 0 {
            // A division of 128 bits a segment is worth avoiding where everything is free.
            return Money::ZERO;
        }
        let hour = MICROS_AN_HOUR << Rate::BITS;
        let part = ((time % hour) * self.price + hour / 2) / hour;
        Money::from_nanos((time / hour * self.price + part) as i128)
    }
}

/// Whole processor-microseconds, and the rest in 2⁻²⁰. Each is multiplied by itself: the largest machine to the end of
/// the time axis is 2¹¹⁰, and its product with the highest power or price would not fit.
const fn split(time: ProcTime) -> (u128, u128) {
    (time >> Rate::BITS, time & (Rate::FULL.units() as u128 - 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{MAX_PROCESSORS, SiteSpec};
    use crate::units::Price;

    fn tariff(idle: u64, busy: u64, price: u64) -> Tariff {
        Tariff::of(&PartitionSpec {
            idle: Power::from_milliwatts(idle),
            busy: Power::from_milliwatts(busy),
            price: Price::from_nanos(price),
            ..PartitionSpec::plain(1)
        })
    }

    proptest! {
        /// The slow twin multiplies first, which has room for it here.
        #[test]
        fn energy_and_cost_are_rounded_once(
            time in 0_u128..1 << 80, more in 0_u128..1 << 80,
            idle in 0_u64..100_000, busy in 0_u64..400_000, price in 0_u64..10_000_000_000,
        ) {
            let of = tariff(idle, busy, price);
            let (idle, busy, price) = (u128::from(idle), u128::from(busy), u128::from(price));
            prop_assert_eq!(of.busy_energy(time).nanojoules(), (time * busy) >> Rate::BITS);
            prop_assert_eq!(of.meter(time, time + more).nanojoules(), (time * busy + more * idle) >> Rate::BITS);
            let hour = MICROS_AN_HOUR << Rate::BITS;
            prop_assert_eq!(of.cost(time).nanos(), ((time * price + hour / 2) / hour) as i128);
        }
    }

    /// The largest machine there may be, at the highest power and price there may be, until the end of the time axis.
    #[test]
    fn the_largest_account_fits() {
        let (power, price) = (1_000_000_000, 1_000_000_000_000_000_000);
        let part = PartitionSpec {
            idle: Power::from_milliwatts(power),
            busy: Power::from_milliwatts(power),
            price: Price::from_nanos(price),
            ..PartitionSpec::plain(MAX_PROCESSORS)
        };
        let site =
            SiteSpec { partitions: vec![part.clone()], ..SiteSpec::plain("s", 1, "easy".parse().unwrap()) };
        assert_eq!(site.check(), Ok(()), "these are the limits");
        let (of, processors) = (Tariff::of(&part), u128::from(MAX_PROCESSORS));
        let time = Usage::proc_time(MAX_PROCESSORS, Rate::FULL, Span::MAX);
        let energy = processors * u128::from(u64::MAX) * u128::from(power);
        assert_eq!(of.busy_energy(time), Energy::from_nanojoules(energy));
        assert_eq!(of.meter(time, time), Energy::from_nanojoules(energy));
        assert_eq!(of.meter(0, time), Energy::from_nanojoules(energy));
        let hours = processors * u128::from(u64::MAX) / MICROS_AN_HOUR;
        let paid = of.cost(time).nanos() as u128;
        assert!((hours * u128::from(price)..=(hours + 1) * u128::from(price)).contains(&paid), "{paid}");
    }
}
