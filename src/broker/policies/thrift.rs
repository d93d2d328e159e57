//! What the policies that spare something have in common: what they spare it for.

use std::str::FromStr;

use crate::broker::{Absent, Picture, Pool, WaitingJob};
use crate::model::{Named, NamedError, ParamInfo};
use crate::units::{Span, Time, UnitError};

/// The least of something, in time. A job goes to the pool where it costs least among those that promise its completion by
/// its limit, and if none does to the one that promises it first.
#[derive(Debug)]
pub struct Thrift {
    /// Whether a job's deadline is a limit.
    deadline: bool,
    /// How long after the earliest completion that any pool promises the job may complete.
    within: Option<Span>,
    /// Whether ties go to the earlier completion, before they go to the first pool.
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
    /// The parameters' descriptions.
    pub(super) const PARAMS: [ParamInfo; 4] = [
        ParamInfo {
            key: "within",
            values: "a duration such as `30 min`, or any",
            default: "any",
            doc: "how much later than the earliest completion that any pool promises a job may complete",
        },
        ParamInfo {
            key: "deadline",
            values: "keep or ignore",
            default: "keep",
            doc: "whether only pools count that promise completion by the job's deadline; if none does, the earliest completion is taken",
        },
        ParamInfo {
            key: "ties",
            values: "completion or pool",
            default: "completion",
            doc: "where equals go: to the earliest completion, or to the first pool",
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

    /// By when a job should be done.
    fn limit(&self, picture: &Picture<'_>, at: usize) -> Time {
        let deadline = picture.waiting()[at].deadline().filter(|_| self.deadline).unwrap_or(Time::NEVER);
        let Some(within) = self.within else { return deadline };
        let promised = |pool: usize| picture.completion(at, pool);
        let first = picture.least(at, true, promised).and_then(promised);
        first.map_or(deadline, |first| deadline.min(first + within))
    }

    /// Sends each waiting job where `cost` is least.
    pub(super) fn plan(&self, picture: &mut Picture<'_>, cost: impl Fn(&Pool, &WaitingJob<'_>) -> u128) {
        for (at, job) in picture.waiting().iter().enumerate() {
            let limit = self.limit(picture, at);
            let cost = |pool: usize| cost(&picture.pools()[pool], job);
            let in_time = |pool: usize| {
                let completion = picture.completion(at, pool)?;
                let tie = if self.ties { completion } else { Time::ZERO };
                (completion <= limit).then(|| (cost(pool), tie))
            };
            let run = |pool: usize| if self.ties { picture.pools()[pool].run_of(job) } else { Span::ZERO };
            let best = picture
                .least(at, true, in_time)
                .or_else(|| picture.least(at, true, |pool| picture.completion(at, pool)))
                .or_else(|| self.absent.least(picture, at, |pool| Some((cost(pool), run(pool)))));
            if let Some(pool) = best {
                picture.assign(at, pool);
            }
        }
    }
}
