//! The use of processor time, energy and money in a run.

use serde::{Deserialize, Serialize};

use super::Purposes;
use crate::platform::{Bill, DataBill, Ended, ProcTime, Usage, facility};
use crate::units::{Carbon, Energy, Money};

/// The ledgers of all partitions added up, still exact.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    nominal: u128,
    useful: u128,
    /// Useful work; see [`Usage::work`].
    work: u128,
    wasted: u128,
    overhead: u128,
    reserved: u128,
    idle: u128,
    down: u128,
    /// The wasted time by the outcome of its jobs.
    pub(super) ended: Ended,
    pub(super) bill: Bill,
    dormant: u128,
    pub(super) facility: Energy,
    cost: Money,
    pub(super) electricity: Option<Money>,
    pub(super) carbon: Option<Carbon>,
    pub(super) embodied: Option<Carbon>,
    /// What moving data took: of all sites together, if it takes or costs anything.
    pub(super) data: Option<DataBill>,
}

/// The use of the processors' time, in processor-seconds: `useful + wasted + overhead + reserved + idle + down =
/// nominal` (before each is rounded to floating point).
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UsageSummary {
    /// Processors × time, over all partitions.
    pub nominal: f64,
    /// Used by jobs that completed.
    pub useful: f64,
    /// Used by jobs that were killed, failed or cancelled, or had not finished.
    pub wasted: f64,
    /// Used for suspending, resuming, checkpointing and staging.
    pub overhead: f64,
    /// Kept from the queue by reservations.
    pub reserved: f64,
    /// Neither in use nor reserved nor down.
    pub idle: f64,
    /// Of the idle time, that of machines that slept, or were on their way to sleep or back; left out if none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dormant: Option<f64>,
    /// Down.
    pub down: f64,
}

/// The use of processors, energy and money.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Account {
    /// Utilization: the share of the nominal capacity in use.
    pub utilization: Option<f64>,
    /// Utilization of the available capacity: the share in use of the capacity that is neither down nor reserved.
    pub utilization_available: Option<f64>,
    /// The share of the nominal capacity that was down.
    pub down: Option<f64>,
    /// The use of the processors' time.
    pub usage: UsageSummary,
    /// Energy.
    pub energy: EnergySummary,
    /// What energy, electricity and carbon were spent on; left out if nothing was drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<Purposes>,
    /// The cost charged to jobs.
    pub cost: f64,
    /// All of it for each unit of useful work; left out if no work was done, or nothing was drawn and paid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_work: Option<PerWork>,
}

/// What a run took for each core-hour of useful work: that of jobs that completed, and what checkpoints kept of failed attempts, in
/// hours of a processor at speed 1. So it is the same for the same jobs, wherever they ran.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PerWork {
    /// The useful work, in core-hours.
    pub core_h: f64,
    /// All energy, of facilities and of moved data, in kilowatt-hours per core-hour.
    pub energy_kwh: f64,
    /// What it cost, per core-hour; left out if electricity has a price nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub electricity: Option<f64>,
    /// The carbon that it caused, in kilograms per core-hour; left out if the intensity is known nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carbon_kg: Option<f64>,
    /// What users paid, per core-hour.
    pub cost: f64,
}

/// Energy in kilowatt-hours: `jobs + idle + asleep + transitions = meter`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnergySummary {
    /// Charged to jobs.
    pub jobs_kwh: f64,
    /// Drawn by idle processors of machines that were awake.
    pub idle_kwh: f64,
    /// Drawn by machines that slept; left out if none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asleep_kwh: Option<f64>,
    /// Drawn by machines on their way to sleep and back; left out if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transitions_kwh: Option<f64>,
    /// Drawn by all processors.
    pub meter_kwh: f64,
    /// Drawn by the facility: each site's meter times its PUE.
    pub facility_kwh: f64,
    /// The cost of the electricity, at the sites where it has a price; left out if it has a price nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub electricity_cost: Option<f64>,
    /// The carbon that the facility's energy caused, in kilograms of CO₂ equivalent, at the sites whose carbon intensity is known; left out
    /// if it is known nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carbon_kg: Option<f64>,
    /// The part of the carbon of making the machines that falls to the run, in kilograms of CO₂ equivalent; left out if it is known of none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embodied_kg: Option<f64>,
}

impl Ledger {
    /// Adds the usage of a partition whose site has a PUE of `pue_ppm` × 10⁻⁶.
    pub fn add(&mut self, usage: &Usage, pue_ppm: u64) {
        self.nominal += usage.nominal();
        self.useful += usage.useful;
        self.work += usage.work;
        self.wasted += usage.wasted;
        self.overhead += usage.overhead;
        self.reserved += usage.reserved;
        self.idle += usage.idle();
        self.down += usage.down;
        self.ended.merge(&usage.ended);
        self.bill.merge(&usage.bill);
        self.dormant += usage.dormant;
        self.cost += usage.cost;
        self.facility += facility(usage.meter(), pue_ppm);
        self.add_billed(usage.electricity, usage.carbon, usage.embodied);
    }

    /// Adds another ledger.
    pub fn merge(&mut self, other: &Self) {
        self.nominal += other.nominal;
        self.useful += other.useful;
        self.work += other.work;
        self.wasted += other.wasted;
        self.overhead += other.overhead;
        self.reserved += other.reserved;
        self.idle += other.idle;
        self.down += other.down;
        self.ended.merge(&other.ended);
        self.bill.merge(&other.bill);
        self.dormant += other.dormant;
        self.cost += other.cost;
        self.facility += other.facility;
        self.add_billed(other.electricity, other.carbon, other.embodied);
    }

    fn add_billed(&mut self, cost: Option<Money>, carbon: Option<Carbon>, embodied: Option<Carbon>) {
        if let Some(cost) = cost {
            *self.electricity.get_or_insert_default() += cost;
        }
        if let Some(carbon) = carbon {
            *self.carbon.get_or_insert_default() += carbon;
        }
        if let Some(embodied) = embodied {
            *self.embodied.get_or_insert_default() += embodied;
        }
    }

    /// Time in use, for any purpose.
    pub const fn in_use(&self) -> ProcTime {
        self.useful + self.wasted + self.overhead
    }

    /// Utilization: share of the nominal capacity that was in use; `None` if there is no capacity.
    pub fn utilization(&self) -> Option<f64> {
        self.busy_over(self.nominal)
    }

    /// Utilization of the available capacity: the share in use of the capacity that was neither down nor reserved;
    /// `None` if there is no such capacity.
    pub fn utilization_available(&self) -> Option<f64> {
        self.busy_over(self.nominal.saturating_sub(self.down + self.reserved))
    }

    fn busy_over(&self, capacity: u128) -> Option<f64> {
        (capacity > 0).then(|| self.in_use() as f64 / capacity as f64)
    }

    /// The account of a run.
    pub fn account(&self) -> Account {
        let secs = |time: u128| time as f64 / Usage::PROC_SECOND as f64;
        Account {
            utilization: self.utilization(),
            utilization_available: self.utilization_available(),
            down: (self.nominal > 0).then(|| self.down as f64 / self.nominal as f64),
            usage: UsageSummary {
                nominal: secs(self.nominal),
                useful: secs(self.useful),
                wasted: secs(self.wasted),
                overhead: secs(self.overhead),
                reserved: secs(self.reserved),
                idle: secs(self.idle),
                dormant: (self.dormant > 0).then(|| secs(self.dormant)),
                down: secs(self.down),
            },
            energy: EnergySummary {
                jobs_kwh: self.bill.jobs().energy.as_kwh_f64(),
                idle_kwh: self.bill.idle().energy.as_kwh_f64(),
                asleep_kwh: (self.dormant > 0).then(|| self.bill.asleep.energy.as_kwh_f64()),
                transitions_kwh: (self.dormant > 0).then(|| self.bill.transitions.energy.as_kwh_f64()),
                meter_kwh: self.bill.meter.energy.as_kwh_f64(),
                facility_kwh: self.facility.as_kwh_f64(),
                electricity_cost: self.electricity.map(Money::as_f64),
                carbon_kg: self.carbon.map(Carbon::as_kg_f64),
                embodied_kg: self.embodied.map(Carbon::as_kg_f64),
            },
            ledger: self.spent(),
            cost: self.cost.as_f64(),
            per_work: self.per_work(),
        }
    }

    fn per_work(&self) -> Option<PerWork> {
        if self.work == 0 || !self.draws() && self.cost == Money::ZERO {
            return None;
        }
        let core_h = self.work as f64 / Usage::CORE_HOUR as f64;
        let (total, (priced, emitted)) = (self.total(), self.knows());
        Some(PerWork {
            core_h,
            energy_kwh: total.energy.as_kwh_f64() / core_h,
            electricity: priced.then(|| total.electricity.as_f64() / core_h),
            carbon_kg: emitted.then(|| total.carbon.as_kg_f64() / core_h),
            cost: self.cost.as_f64() / core_h,
        })
    }
}
