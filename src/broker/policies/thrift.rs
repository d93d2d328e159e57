//! The common part of policies that minimize a cost under a limit on the completion time.

use std::str::FromStr;

use crate::broker::{Absent, GridView, Pool, WaitingJob};
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

    /// Takes the parameters out of a policy's name.
    ///
    /// # Errors
    /// [`NamedError::BadValue`] if one is wrong.
    pub(super) fn take(named: &mut Named) -> Result<Self, NamedError> {
        let [within, deadline, ties, _] = Self::PARAMS.map(|param| param.key);
        let within = named.take(within, "a duration such as `30 min`, or `any`")?.unwrap_or(Within(None)).0;
        let deadline = named.take_choice(deadline, &[("keep", true), ("ignore", false)])?.unwrap_or(true);
        let ties = named.take_choice(ties, &[("completion", true), ("pool", false)])?.unwrap_or(true);
        Ok(Self { deadline, within, ties, absent: Absent::take(named)? })
    }

    /// The instant by which a job should complete.
    fn limit(&self, view: &GridView<'_>, at: usize) -> Time {
        let deadline = view.waiting()[at].deadline().filter(|_| self.deadline).unwrap_or(Time::NEVER);
        let Some(within) = self.within else { return deadline };
        let completion = |pool: usize| view.completion(at, pool);
        let first = view.least(at, true, completion).and_then(completion);
        first.map_or(deadline, |first| deadline.min(first + within))
    }

    /// Assigns each waiting job to the pool with the least `cost` within its limit. `what` names the cost in a trace, and `unit`
    /// is its unit there.
    pub(super) fn plan(
        &self,
        view: &mut GridView<'_>,
        (what, unit): (&'static str, f64),
        cost: impl Fn(&Pool, &WaitingJob<'_>) -> u128,
    ) {
        for (at, job) in view.waiting().iter().enumerate() {
            let limit = self.limit(view, at);
            let cost_in = |pool: usize| cost(&view.pools()[pool], job);
            let in_time = |pool: usize| {
                let completion = view.completion(at, pool)?;
                let tie = if self.ties { completion } else { Time::ZERO };
                (completion <= limit).then(|| (cost_in(pool), tie))
            };
            let run = |pool: usize| if self.ties { view.pools()[pool].run_of(job) } else { Span::ZERO };
            let best = view
                .least(at, true, in_time)
                .or_else(|| view.least(at, true, |pool| view.completion(at, pool)))
                .or_else(|| self.absent.least(view, at, |pool| Some((cost_in(pool), run(pool)))));
            if let Some(pool) = best {
                view.note(at, what, |pool| cost(pool, job) as f64 * unit);
                view.assign(at, pool);
            }
        }
    }
}
