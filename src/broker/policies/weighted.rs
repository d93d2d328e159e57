//! The least weighted sum of time, price, energy and carbon.

use ethnum::I256;

use super::goal::{Cost, Goal};
use super::{Mct, PowerCounted};
use crate::broker::{
    Absent, BrokerAbilities, BrokerBuilt, BrokerPolicyInfo, Choose, Gate, GridView, OneByOne, Pick, Reason,
    Task,
};
use crate::model::{Named, NamedError, ParamInfo};

const fn weight(key: &'static str, default: &'static str, doc: &'static str) -> ParamInfo {
    ParamInfo { key, values: "a number from 0 to 1000", default, doc }
}

const PARAMS: [ParamInfo; 6] = [
    weight("time", "1", "the weight of the expected completion"),
    weight("price", "1", "the weight of what is paid for processors"),
    weight("energy", "0", "the weight of the energy of the facility"),
    weight("carbon", "0", "the weight of the carbon that it causes"),
    PowerCounted::PARAM,
    Absent::PARAM,
];

/// A weight of 1, and the share of the worst pool.
const ONE: u64 = 1_000_000;
const WORST: u64 = 1_000_000_000;

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("weighted", build)
        .doc("Assigns each job, in order of arrival, to the pool with the least weighted sum of its completion, price, energy and carbon, each from 0 in the best pool to 1 in the worst.")
        .source("the weighted sum of multi-criteria decisions, with min-max normalisation")
        .params(&PARAMS)
}

fn build(named: &mut Named, _: u64) -> Result<BrokerBuilt, NamedError> {
    let mut weights = [0; 4];
    for (weight, param) in weights.iter_mut().zip(&PARAMS) {
        let default = if param.default == "1" { 1.0 } else { 0.0 };
        let written = named.take_within(param.key, 0.0..=1_000.0, param.values)?.unwrap_or(default);
        *weight = libm::round(written * ONE as f64) as u64;
    }
    let power = PowerCounted::take(named)?;
    let goals = [None, Some(Goal::Price), Some(Goal::Energy(power)), Some(Goal::Carbon(power))];
    let weighed = weights.into_iter().zip(goals).filter(|(weight, _)| *weight > 0).collect();
    let absent = Absent::take(named)?;
    Ok((Box::new(OneByOne(Weighted { weighed, absent })), BrokerAbilities::STEADY))
}

/// The least weighted sum.
#[derive(Debug)]
pub struct Weighted {
    /// What is weighed, the completion without a goal, each with its weight in millionths.
    weighed: Vec<(u64, Option<Goal>)>,
    absent: Absent,
}

impl Weighted {
    /// The sums of the pools where the task fits now, by place.
    fn sums(&self, view: &GridView<'_>, task: Task<'_>) -> Vec<(usize, u128)> {
        let fits = |pool: &usize| view.fits(task, *pool, true) && view.start(task, *pool).is_some();
        let mut sums: Vec<(usize, u128)> =
            (0..view.pools().len()).filter(fits).map(|pool| (pool, 0)).collect();
        for (weight, goal) in &self.weighed {
            let values: Vec<Option<I256>> =
                sums.iter().map(|(pool, _)| value(*goal, view, task, *pool)).collect();
            let known = || values.iter().flatten().copied();
            let (Some(least), Some(most)) = (known().min(), known().max()) else { continue };
            for ((_, sum), value) in sums.iter_mut().zip(values) {
                // What is not known is as bad as the worst.
                let over = value.unwrap_or(most).saturating_sub(least).saturating_mul(I256::from(WORST));
                let share = over.checked_div(most.saturating_sub(least)).unwrap_or(I256::ZERO);
                *sum += u128::from(*weight) * share.as_u128();
            }
        }
        sums
    }
}

/// What a pool has of a goal if the task starts there as soon as it may, or when it completes; `None` if that is not known.
fn value(goal: Option<Goal>, view: &GridView<'_>, task: Task<'_>, pool: usize) -> Option<I256> {
    let Some(goal) = goal else { return Some(view.completion(task, pool)?.micros().into()) };
    let (weight, values) = goal.weighs(view, task, pool)?;
    let integral = values.over(view.start(task, pool)?, view.pools()[pool].run_now(&task));
    Cost::of(integral, weight).units()
}

impl Choose for Weighted {
    fn gate(&self) -> Gate {
        self.absent.gate()
    }

    fn choose(&mut self, view: &GridView<'_>, task: Task<'_>) -> Pick {
        let sums = self.sums(view, task);
        let best = sums.iter().min_by_key(|(pool, sum)| (*sum, view.completion(task, *pool)));
        match best {
            Some((pool, _)) => Pick::Pool(*pool, Reason::Weighted),
            None => Mct::new(self.absent).choose(view, task),
        }
    }

    fn compares(&self) -> Option<&'static str> {
        Some("sum")
    }

    fn compared(&self, view: &GridView<'_>, task: Task<'_>, pool: usize) -> f64 {
        let sums = self.sums(view, task);
        let found = sums.iter().find(|(at, _)| *at == pool);
        found.map_or(f64::NAN, |(_, sum)| *sum as f64 / (ONE * WORST) as f64)
    }
}
