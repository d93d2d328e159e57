//! Where the processors' time, the energy and the money of a run went.

use serde::{Deserialize, Serialize};

use crate::platform::{Ended, ProcTime, Usage, facility};
use crate::units::{Energy, Money};

/// The ledgers of all partitions added up, still exact.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    nominal: u128,
    useful: u128,
    wasted: u128,
    overhead: u128,
    reserved: u128,
    idle: u128,
    away: u128,
    ended: Ended,
    job_energy: Energy,
    meter: Energy,
    facility: Energy,
    cost: Money,
    electricity: Option<Money>,
}

/// Where the processors' time went, in processor-seconds: `useful + wasted + overhead + reserved + idle +
/// away = nominal` (before each is rounded to floating point).
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UsageSummary {
    /// Processors × time, over all partitions.
    pub nominal: f64,
    /// Jobs that completed.
    pub useful: f64,
    /// Jobs that were killed, failed or cancelled, or had not finished.
    pub wasted: f64,
    /// Suspending, resuming, checkpointing and staging.
    pub overhead: f64,
    /// Kept from the queue by reservations.
    pub reserved: f64,
    /// Neither in use nor reserved nor away.
    pub idle: f64,
    /// Away.
    pub away: f64,
}

/// Energy in kilowatt-hours: `jobs + idle = meter`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnergySummary {
    /// Charged to jobs.
    pub jobs_kwh: f64,
    /// Of idle processors.
    pub idle_kwh: f64,
    /// Of all processors.
    pub meter_kwh: f64,
    /// Of the facility: each site's meter times its PUE.
    pub facility_kwh: f64,
    /// What that cost, at the sites whose electricity has a price; left out where none has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub electricity_cost: Option<f64>,
}

impl Ledger {
    /// Adds a partition whose site has a PUE of `pue_ppm` × 10⁻⁶.
    pub fn add(&mut self, usage: &Usage, pue_ppm: u64) {
        self.nominal += usage.nominal();
        self.useful += usage.useful;
        self.wasted += usage.wasted;
        self.overhead += usage.overhead;
        self.reserved += usage.reserved;
        self.idle += usage.idle();
        self.away += usage.away;
        self.ended.merge(&usage.ended);
        self.job_energy += usage.job_energy;
        self.meter += usage.meter;
        self.cost += usage.cost;
        self.facility += facility(usage.meter, pue_ppm);
        self.electricity = match (self.electricity, usage.electricity) {
            (Some(sum), Some(more)) => Some(sum + more),
            (sum, more) => sum.or(more),
        };
    }

    /// Adds another ledger.
    pub fn merge(&mut self, other: &Self) {
        self.nominal += other.nominal;
        self.useful += other.useful;
        self.wasted += other.wasted;
        self.overhead += other.overhead;
        self.reserved += other.reserved;
        self.idle += other.idle;
        self.away += other.away;
        self.ended.merge(&other.ended);
        self.job_energy += other.job_energy;
        self.meter += other.meter;
        self.cost += other.cost;
        self.facility += other.facility;
        self.electricity = match (self.electricity, other.electricity) {
            (Some(sum), Some(more)) => Some(sum + more),
            (sum, more) => sum.or(more),
        };
    }

    /// Time in use, for whatever reason.
    pub const fn in_use(&self) -> ProcTime {
        self.useful + self.wasted + self.overhead
    }

    /// How the jobs ended whose time was wasted.
    pub const fn wasted_by(&self) -> &Ended {
        &self.ended
    }

    /// Share of the nominal capacity that was away; `None` if there is none.
    pub fn away_share(&self) -> Option<f64> {
        (self.nominal > 0).then(|| self.away as f64 / self.nominal as f64)
    }

    /// Share of the nominal capacity that was in use; `None` if there is none.
    pub fn utilization(&self) -> Option<f64> {
        self.busy_over(self.nominal)
    }

    /// Share of the capacity that was neither away nor reserved that was in use; `None` if there is none.
    pub fn utilization_available(&self) -> Option<f64> {
        self.busy_over(self.nominal.saturating_sub(self.away + self.reserved))
    }

    fn busy_over(&self, capacity: u128) -> Option<f64> {
        (capacity > 0).then(|| self.in_use() as f64 / capacity as f64)
    }

    /// Processor time in seconds.
    pub fn usage(&self) -> UsageSummary {
        let secs = |time: u128| time as f64 / Usage::PROC_SECOND as f64;
        UsageSummary {
            nominal: secs(self.nominal),
            useful: secs(self.useful),
            wasted: secs(self.wasted),
            overhead: secs(self.overhead),
            reserved: secs(self.reserved),
            idle: secs(self.idle),
            away: secs(self.away),
        }
    }

    /// Energy in kilowatt-hours.
    pub fn energy(&self) -> EnergySummary {
        EnergySummary {
            jobs_kwh: self.job_energy.as_kwh_f64(),
            idle_kwh: (self.meter - self.job_energy).as_kwh_f64(),
            meter_kwh: self.meter.as_kwh_f64(),
            facility_kwh: self.facility.as_kwh_f64(),
            electricity_cost: self.electricity.map(Money::as_f64),
        }
    }

    /// What the energy of the facilities cost; `None` if electricity has a price nowhere.
    pub const fn electricity(&self) -> Option<Money> {
        self.electricity
    }

    /// What the jobs paid.
    pub const fn cost(&self) -> Money {
        self.cost
    }
}
