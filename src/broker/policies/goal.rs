//! What a job costs in a pool, by what is to be spared: an integral over the run that is expected there.

use ethnum::I256;

use crate::broker::{GridView, OverTime, Pool, Reason, Task, Values};
use crate::model::{Named, NamedError, ParamInfo};

/// What is spared.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// What is paid for processors.
    Price,
    /// The energy of the facility.
    Energy(PowerCounted),
    /// What the energy of the facility costs.
    Electricity(PowerCounted),
    /// The carbon that the energy of the facility causes.
    Carbon(PowerCounted),
}

/// The power of a running job that is counted.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum PowerCounted {
    /// The power of its processors above idle: what the grid's energy meter would not show without the job.
    #[default]
    Added,
    /// The whole power of its processors: what the job is charged.
    Busy,
}

/// A cost, in units of the [goal](Goal); what is not known is more than all that is.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cost {
    is_unknown: bool,
    units: I256,
}

impl Cost {
    /// What nobody knows.
    pub(super) const UNKNOWN: Self = Self { is_unknown: true, units: I256::ZERO };

    /// An integral in which each part weighs so much.
    pub(super) fn of(integral: I256, weight: I256) -> Self {
        Self { is_unknown: false, units: integral.saturating_mul(weight) }
    }

    /// Its units, if it is known.
    pub(super) fn units(self) -> Option<I256> {
        (!self.is_unknown).then_some(self.units)
    }
}

impl PowerCounted {
    /// The description of the parameter.
    pub(super) const PARAM: ParamInfo = ParamInfo {
        key: "power",
        values: "added or busy",
        default: "added",
        doc: "the power of a running job: that of its processors above idle power, or all of it",
    };

    /// Takes the parameter out of a policy's name.
    ///
    /// # Errors
    /// [`NamedError::BadValue`] if it is wrong.
    pub(super) fn take(named: &mut Named) -> Result<Self, NamedError> {
        let words = [("added", Self::Added), ("busy", Self::Busy)];
        Ok(named.take_choice(Self::PARAM.key, &words)?.unwrap_or_default())
    }

    /// The power of a processor of the pool with the share of cooling, in milliwatts × millionths.
    fn of(self, pool: &Pool) -> I256 {
        let (idle, busy) = (pool.facts.idle.milliwatts(), pool.facts.busy.milliwatts());
        let power = match self {
            Self::Added => busy.saturating_sub(idle),
            Self::Busy => busy,
        };
        I256::from(power) * I256::from(pool.facts.pue_ppm)
    }
}

impl Goal {
    /// Along which values a job costs in the pool at this place, and how much for each value × microsecond; `None` if that is not known.
    pub(super) fn weighs<'a>(
        self,
        view: &'a GridView<'_>,
        task: Task<'_>,
        pool: usize,
    ) -> Option<(I256, &'a Values)> {
        const ONE: &OverTime = &OverTime { unit: 1, values: Values::Flat(1) };
        let pool = &view.pools()[pool];
        let rates = &pool.facts.rates;
        let (power, along) = match self {
            Self::Price => (I256::ONE, rates.price()),
            Self::Energy(power) => (power.of(pool), ONE),
            Self::Electricity(power) => (power.of(pool), rates.electricity()?),
            Self::Carbon(power) => (power.of(pool), rates.carbon()?),
        };
        let weight = I256::from(pool.procs_for(&task)) * I256::from(along.unit);
        Some((weight.saturating_mul(power), &along.values))
    }

    /// Why a pool is chosen where a job costs least.
    pub(super) const fn reason(self) -> Reason {
        match self {
            Self::Price | Self::Electricity(_) => Reason::Cheapest,
            Self::Energy(_) => Reason::Greenest,
            Self::Carbon(_) => Reason::LeastCarbon,
        }
    }

    /// The name of the cost, with its unit.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Price => "cost",
            Self::Energy(_) => "energy_j",
            Self::Electricity(_) => "electricity",
            Self::Carbon(_) => "carbon_g",
        }
    }

    /// A cost in that unit, of an integral in which a value of 1 is `one`; no number if it is not known.
    pub(super) fn told(self, cost: Cost, one: i64) -> f64 {
        let (parts, unit) = match self {
            // 10⁻¹² × microseconds over an hour.
            Self::Price => (1_000, 1.0 / 3.6e18),
            Self::Energy(_) => (1, 1e-15),
            // Nanojoules × millionths, times 10⁻¹², over a kilowatt-hour.
            Self::Electricity(_) => (1, 1.0 / 3.6e33),
            Self::Carbon(_) => (1, 1.0 / 3.6e30),
        };
        if cost.is_unknown { f64::NAN } else { (cost.units / I256::from(parts * one)).as_f64() * unit }
    }
}
