//! Jobs with parts at several sites, which start together on reserved processors.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Job, JobRef, PoolId, SiteId, TaskId};
use crate::units::{Bandwidth, Bytes, Money, Price, Span, Time};

/// The name of a hold: the part of a request in one of its rounds.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct HoldId {
    /// The request: the number at the portal of its first part.
    pub request: u64,
    /// Which of its alternatives is tried.
    pub round: u32,
    /// The part of the request, from 0.
    pub part: u32,
}

impl std::fmt::Display for HoldId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "request {} part {} round {}", self.request, self.part + 1, self.round)
    }
}

/// When a co-allocated job may start, and how its parts communicate.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coupling {
    /// The time from its submission to its earliest start.
    pub notice: Span,
    /// How much later it may start.
    pub within: Span,
    /// How often in a second of its run time the parts wait for each other, in millionths.
    pub exchanges_ppm: u64,
    /// What the parts send to each other in a second of its run time.
    pub traffic: Bytes,
}

impl Coupling {
    /// How much longer a job takes whose parts communicate over such a link, in millionths: each exchange costs the latency, and data what it takes on the link.
    /// None of it is hidden behind the computation.
    pub fn slowdown_ppm(&self, latency: Span, bandwidth: Option<Bandwidth>) -> u64 {
        let waits = u128::from(latency.micros()) * u128::from(self.exchanges_ppm) / 1_000_000;
        let sends = bandwidth.map_or(0, |bandwidth| {
            u128::from(self.traffic.count()) * 8_000_000 / u128::from(bandwidth.bits().max(1))
        });
        u64::try_from(waits.saturating_add(sends)).unwrap_or(u64::MAX)
    }
}

/// A co-allocated job that is submitted: its parts run at different sites at the same time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coallocated {
    /// The number at the portal of its first part, which the portal gives; those of the others follow.
    pub first_task: TaskId,
    /// Its parts.
    pub parts: Vec<Job>,
    /// When it may start, and how its parts communicate.
    pub coupling: Coupling,
}

impl Coallocated {
    /// When it is submitted.
    pub fn submit(&self) -> Time {
        self.parts.first().map_or(Time::ZERO, |part| part.submit)
    }
}

/// Which of the starts that all sites offer the broker chooses.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum CoallocationGoal {
    /// The earliest.
    #[default]
    Earliest,
    /// The one that the sites charge least for, for reserving and using their processors.
    Cheapest,
    /// The one that takes the least processor time from jobs that wait at the sites now.
    Gentlest,
}

/// When the sites are asked to hold the processors of the start that was chosen.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Holding {
    /// At once: the start is reserved.
    #[default]
    Ahead,
    /// When it has come: until then it is *picked without guarantee* (Huang 2004, section 5.2), and others may take the processors.
    AtStart,
}

/// How the broker reserves processors at several sites.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoallocationSpec {
    /// Which of the possible starts it chooses.
    pub goal: CoallocationGoal,
    /// When its processors are held.
    pub holding: Holding,
    /// How many intervals of possible starts each site offers.
    pub alternatives: u32,
    /// How long a site holds what it is asked for, and keeps what is committed for a job that has not come.
    pub lease: Span,
    /// How long an answer is waited for.
    pub patience: Span,
    /// How many starts are tried, one after the other, before the job is rejected.
    pub tries: u32,
}

impl Default for CoallocationSpec {
    fn default() -> Self {
        Self {
            goal: CoallocationGoal::default(),
            holding: Holding::default(),
            alternatives: 3,
            lease: Span::from_secs(600),
            patience: Span::from_secs(60),
            tries: 3,
        }
    }
}

impl fmt::Display for CoallocationSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { goal, holding, alternatives, lease, patience, tries } = self;
        let goal = match goal {
            CoallocationGoal::Earliest => "earliest",
            CoallocationGoal::Cheapest => "cheapest",
            CoallocationGoal::Gentlest => "gentlest",
        };
        let held = match holding {
            Holding::Ahead => "ahead",
            Holding::AtStart => "at the start",
        };
        let (lease, patience) = (lease.written(), patience.written());
        write!(
            f,
            "the {goal} start of {alternatives} alternatives, held {held} for {lease}, asked again after {patience}, {tries} tries"
        )
    }
}

/// Why a site does not hold what it is asked about.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Refusal {
    /// Its plan has no room for it.
    NoRoom,
    /// More than may be reserved of the site at once.
    Quota,
    /// It was asked too late: the lease, or the start, is over.
    TooLate,
    /// It is not known: never held, lapsed, or released.
    Unknown,
    /// The site takes no jobs, or no reservations.
    Closed,
    /// Too few sites can have its parts, or have answered.
    TooFewSites,
    /// The sites that have answered offer no common start.
    NoCommonStart,
}

impl Refusal {
    /// In a word, as it is written in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoRoom => "no-room",
            Self::Quota => "quota",
            Self::TooLate => "too-late",
            Self::Unknown => "lapsed",
            Self::Closed => "closed",
            Self::TooFewSites => "too-few-sites",
            Self::NoCommonStart => "no-common-start",
        }
    }
}

/// What a site lets the grid reserve.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reservable {
    /// The part of a partition's processors that may be reserved at once, in millionths.
    pub share_ppm: u64,
    /// What a reserved core-hour costs, beside its use.
    pub price: Price,
}

impl Default for Reservable {
    fn default() -> Self {
        Self { share_ppm: 1_000_000, price: Price::ZERO }
    }
}

impl fmt::Display for Reservable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} % at {}", self.share_ppm as f64 / 1e4, self.price)
    }
}

impl Reservable {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl StartOffer {
    /// What reserving its processors for so long costs.
    pub fn charge(&self, length: Span) -> Money {
        let used = i128::from(self.procs) * i128::from(length.micros());
        Money::from_nanos(used.saturating_mul(i128::from(self.price.nanos())) / 3_600_000_000)
    }

    /// Processor time that is taken from jobs which wait now, in microseconds, if they are reserved from `start` on for so long.
    pub fn harm(&self, start: Time, length: Span) -> u128 {
        let taken = self.busy_until.min(start + length).since(start);
        u128::from(self.procs) * u128::from(taken.micros())
    }
}

/// An interval of starts that a site offers.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartOffer {
    /// The first possible start.
    pub from: Time,
    /// The last one.
    pub until: Time,
    /// Processors that are reserved then: those that were asked for, in whole allocation units.
    pub procs: u32,
    /// What a reserved core-hour costs.
    pub price: Price,
    /// When the jobs that wait now would have been served: what is reserved before then is taken from them.
    pub busy_until: Time,
}

/// What became of a co-allocated job.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum CoallocationOutcome {
    /// All its parts started at the agreed time and completed.
    Completed,
    /// No start was agreed.
    Refused,
    /// It was agreed, and a part did not start in time.
    Missed,
    /// Its parts started, and one did not complete.
    Failed,
    /// It had not ended when the run did.
    Unfinished,
}

impl CoallocationOutcome {
    /// All outcomes.
    pub const ALL: [Self; 5] = [Self::Completed, Self::Refused, Self::Missed, Self::Failed, Self::Unfinished];

    /// The word in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Refused => "refused",
            Self::Missed => "missed",
            Self::Failed => "failed",
            Self::Unfinished => "unfinished",
        }
    }
}

/// The row of a co-allocated job, written when its last part has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoallocationRecord {
    /// When its last part ended.
    pub end: Time,
    /// Its first part.
    pub job: JobRef,
    /// The number of its parts; their jobs follow the first one.
    pub parts: u32,
    /// Its processors, in sum.
    pub procs: u32,
    /// When it was submitted.
    pub submit: Time,
    /// Its earliest start.
    pub earliest: Time,
    /// The start that was agreed.
    pub start: Option<Time>,
    /// How long the processors were reserved for.
    pub length: Span,
    /// The sites of its parts, if a start was agreed.
    pub sites: Vec<PoolId>,
    /// How many starts were tried.
    pub tries: u32,
    /// How many messages of the reservation went to sites and came from them.
    pub messages: u32,
    /// How much longer it took because of the links between its parts, in millionths.
    pub slowdown_ppm: u64,
    /// What the sites charged for the reservation.
    pub charge: Money,
    /// Processor time that was taken from jobs which waited at the sites when it was agreed, in microseconds.
    pub harm: u128,
    /// What became of it.
    pub outcome: CoallocationOutcome,
    /// The site that refused it last, or none in particular, and why.
    pub refused: Option<(SiteId, Refusal)>,
}
