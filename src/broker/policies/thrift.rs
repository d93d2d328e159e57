//! The common part of policies that minimize a cost under a limit on the completion time.

use std::str::FromStr;

use super::Goal;
use crate::broker::{Absent, Gate, GridView, Pick, Reason, Task};
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

    pub(super) fn gate(&self) -> Gate {
        self.absent.gate()
    }

    /// The instant by which a task should complete.
    fn limit(&self, view: &GridView<'_>, task: Task<'_>) -> Time {
        let deadline = task.deadline().filter(|_| self.deadline).unwrap_or(Time::NEVER);
        let Some(within) = self.within else { return deadline };
        let completion = |pool: usize| view.completion(task, pool);
        let first = view.least(task, true, completion).and_then(completion);
        first.map_or(deadline, |first| deadline.min(first + within))
    }

    /// The pool where the task costs least within its limit, which is picked for this `reason`.
    pub(super) fn choose(&self, view: &GridView<'_>, task: Task<'_>, goal: Goal, reason: Reason) -> Pick {
        let limit = self.limit(view, task);
        let in_time = |pool: usize| {
            let start = view.start(task, pool)?;
            let completion = start + view.pools()[pool].run_now(&task);
            let tie = if self.ties { completion } else { Time::ZERO };
            (completion <= limit).then(|| (goal.cost(view, task, pool, start), tie))
        };
        let run = |pool: usize| if self.ties { view.pools()[pool].run_now(&task) } else { Span::ZERO };
        let completion = |pool: usize| view.completion(task, pool);
        // It is not known when machines come back: what a job costs as soon as it can be there.
        let absent = |pool: usize| Some((goal.cost(view, task, pool, view.there(task, pool)), run(pool)));
        Pick::found(view.least(task, true, in_time), reason)
            .or_else(|| Pick::found(view.least(task, true, completion), Reason::Earliest))
            .or_else(|| self.absent.least(view, task, absent))
    }

    /// What a task costs in a pool, in the unit that the goal names.
    pub(super) fn compared(&self, view: &GridView<'_>, task: Task<'_>, goal: Goal, pool: usize) -> f64 {
        let start = view.start(task, pool).unwrap_or_else(|| view.there(task, pool));
        goal.told(goal.cost(view, task, pool, start))
    }
}
