//! The policy that minimizes a cost under a limit on the completion time, whatever is spared.

use std::str::FromStr;

use ethnum::I256;

use super::goal::{Cost, Goal};
use crate::broker::{Absent, Choose, Forecast, Gate, GridView, Pick, Reason, Task};
use crate::model::{Named, NamedError, ParamInfo};
use crate::units::{Span, Time, UnitError};

/// The least cost, in time. A job goes to the pool where it costs least among those whose expected completion is within
/// its limit, and if there is none, to the pool with the earliest expected completion.
#[derive(Debug)]
pub struct Thrift {
    /// Whether a job's deadline is a limit.
    deadline: bool,
    /// How long after the earliest expected completion in any pool the job may complete.
    within: Option<Span>,
    /// Whether ties go to the earlier completion, and only then to the first pool.
    ties: bool,
    absent: Absent,
    /// What is spared.
    goal: Goal,
    /// How long after its submission a job may be put off.
    horizon: Span,
    forecast: Forecast,
}

/// A span, or no limit.
struct Within(Option<Span>);

impl FromStr for Within {
    type Err = UnitError;

    fn from_str(written: &str) -> Result<Self, UnitError> {
        if written == "any" { Ok(Self(None)) } else { written.parse().map(|span| Self(Some(span))) }
    }
}

impl Thrift {
    /// The descriptions of the parameters.
    pub(super) const PARAMS: [ParamInfo; 4] = [
        ParamInfo {
            key: "within",
            values: "a duration such as `30 min`, or any",
            default: "any",
            doc: "how much later than its earliest expected completion in any pool a job may complete",
        },
        ParamInfo {
            key: "deadline",
            values: "keep or ignore",
            default: "keep",
            doc: "whether only pools with an expected completion by the job's deadline are considered; if there is none, the earliest completion decides",
        },
        ParamInfo {
            key: "ties",
            values: "completion or pool",
            default: "completion",
            doc: "order of ties: the earliest expected completion, or the first pool",
        },
        Absent::PARAM,
    ];

    /// The descriptions of the parameters of those whose cost changes over time.
    pub(super) const AHEAD: [ParamInfo; 2] = [
        ParamInfo {
            key: "horizon",
            values: "a duration up to 366 d such as `12 h`",
            default: "0",
            doc: "how long after its submission a job may start later than it could: pool and start are chosen so that it costs least; it waits at the broker until then, and is decided about anew",
        },
        Forecast::PARAM,
    ];

    /// Takes the parameters out of a policy's name.
    ///
    /// # Errors
    /// [`NamedError::BadValue`] if one is wrong.
    pub(super) fn take(named: &mut Named, goal: Goal) -> Result<Self, NamedError> {
        let [within, deadline, ties, _] = Self::PARAMS.map(|param| param.key);
        let within = named.take(within, "a duration such as `30 min`, or `any`")?.unwrap_or(Within(None)).0;
        let deadline = named.take_choice(deadline, &[("keep", true), ("ignore", false)])?.unwrap_or(true);
        let ties = named.take_choice(ties, &[("completion", true), ("pool", false)])?.unwrap_or(true);
        let (horizon, forecast) = (Span::ZERO, Forecast::perfect());
        Ok(Self { deadline, within, ties, absent: Absent::take(named)?, goal, horizon, forecast })
    }

    /// The same with the parameters of those whose cost changes over time. Errors of the forecast are drawn for this seed.
    ///
    /// # Errors
    /// [`NamedError::BadValue`] if one is wrong.
    pub(super) fn ahead(self, named: &mut Named, seed: u64) -> Result<Self, NamedError> {
        let longest = Span::from_secs(366 * 86_400);
        let expected = "a duration up to 366 d such as `12 h`";
        let horizon = named.take_within(Self::AHEAD[0].key, ..=longest, expected)?.unwrap_or(Span::ZERO);
        Ok(Self { horizon, forecast: Forecast::take(named, seed, self.goal.name())?, ..self })
    }

    /// The instant by which a task should complete.
    fn limit(&self, view: &GridView<'_>, task: Task<'_>) -> Time {
        let deadline = task.deadline().filter(|_| self.deadline).unwrap_or(Time::NEVER);
        let Some(within) = self.within else { return deadline };
        let completion = |pool: usize| view.completion(task, pool);
        let first = view.least(task, true, completion).and_then(completion);
        first.map_or(deadline, |first| deadline.min(first + within))
    }

    /// What a task costs least in a pool, and when it would start there then, as early as that may be; `None` if it would not be done by its limit.
    fn best(&self, view: &GridView<'_>, task: Task<'_>, pool: usize, limit: Time) -> Option<(Cost, Time)> {
        let (earliest, run) = (view.start(task, pool)?, view.pools()[pool].run_now(&task));
        if earliest + run > limit {
            return None;
        }
        let latest = (Time::ZERO + limit.since(Time::ZERO + run)).min(task.submit() + self.horizon);
        let Some((weight, values)) = self.goal.weighs(view, task, pool) else {
            return Some((Cost::UNKNOWN, earliest));
        };
        let id = view.pools()[pool].facts.id;
        let outlook = self.forecast.outlook(view.now(), id, values);
        let latest = if weight == I256::ZERO { earliest } else { latest };
        let (integral, start) = outlook.least(earliest, latest, run);
        Some((Cost::of(integral, weight), start))
    }

    /// What a task costs in a pool if it starts there then.
    fn cost(&self, view: &GridView<'_>, task: Task<'_>, pool: usize, start: Time) -> Cost {
        let Some((weight, values)) = self.goal.weighs(view, task, pool) else { return Cost::UNKNOWN };
        let pool = &view.pools()[pool];
        let outlook = self.forecast.outlook(view.now(), pool.facts.id, values);
        Cost::of(outlook.over(start, pool.run_now(&task)), weight)
    }

    /// When a task starts in a pool at the earliest. It is not known when machines come back: as soon as it can be there.
    fn earliest(view: &GridView<'_>, task: Task<'_>, pool: usize) -> Time {
        view.start(task, pool).unwrap_or_else(|| view.there(task, pool))
    }

    /// Draws the errors of what may be asked of the forecast for a task.
    fn draw(&mut self, view: &GridView<'_>, task: Task<'_>) {
        if !self.forecast.draws() {
            return;
        }
        for (at, pool) in view.pools().iter().enumerate() {
            if let Some((_, values)) = self.goal.weighs(view, task, at) {
                let latest = Self::earliest(view, task, at).max(task.submit() + self.horizon);
                let until = latest + pool.run_now(&task);
                let facts = &pool.facts;
                self.forecast.draw(view.now(), facts.id, &facts.site, values, until);
            }
        }
    }
}

impl Choose for Thrift {
    fn gate(&self) -> Gate {
        self.absent.gate()
    }

    fn choose(&mut self, view: &GridView<'_>, task: Task<'_>) -> Pick {
        self.draw(view, task);
        let limit = self.limit(view, task);
        let run = |pool: usize| view.pools()[pool].run_now(&task);
        let in_time = |pool: usize| {
            let (cost, start) = self.best(view, task, pool, limit)?;
            let tie = if self.ties { start + run(pool) } else { Time::ZERO };
            Some((cost, if self.horizon.is_zero() { Time::ZERO } else { start }, tie))
        };
        if let Some(pool) = view.least(task, true, in_time) {
            let (reason, there) = (self.goal.reason(), view.there(task, pool));
            let start = self.best(view, task, pool, limit).map_or(there, |(_, start)| start);
            return if start > Self::earliest(view, task, pool) {
                Pick::PutOff { pool, start, until: view.now() + start.since(there), reason }
            } else {
                Pick::Pool(pool, reason)
            };
        }
        let tie = |pool: usize| if self.ties { run(pool) } else { Span::ZERO };
        let absent =
            |pool: usize| Some((self.cost(view, task, pool, Self::earliest(view, task, pool)), tie(pool)));
        let first = view.earliest(task);
        Pick::found(first, Reason::Earliest).or_else(|| self.absent.least(view, task, absent))
    }

    fn compares(&self) -> Option<&'static str> {
        Some(self.goal.name())
    }

    fn compared(&self, view: &GridView<'_>, task: Task<'_>, pool: usize) -> f64 {
        let cost = self.cost(view, task, pool, Self::earliest(view, task, pool));
        self.goal.told(cost, self.forecast.one())
    }
}
