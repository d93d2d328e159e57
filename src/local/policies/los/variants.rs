//! The members of the LOS family by name (Kumar et al. 2012, Table III), and their parameters.

use super::Los;
use crate::local::policies::elastic::{self, COMMANDS, MANY};
use crate::local::{Abilities, Built, PolicyInfo};
use crate::model::{Named, NamedError, ParamInfo};

/// How dedicated jobs are handled.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Dedicated {
    /// Ignored: the partition keeps them back until their requested start.
    Ignored,
    /// They hold reservations from their requested start on (LOS-D).
    Reserved,
    /// Handled by Algorithms 2 and 3 (Hybrid-LOS).
    Hybrid,
}

/// Whether a job that is expected to end exactly at the shadow time counts as ended by then.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum ShadowRule {
    /// It does not: `t + dur < fret`, as in the paper.
    #[default]
    Before,
    /// It does: `t + dur <= fret`, as in EASY.
    By,
}

/// Parts and parameters of a [`Los`].
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct LosOptions {
    /// `C_s`: after so many skips the head of the queue is started as soon as it fits.
    pub skips: u32,
    /// How many of the jobs that fit on the free processors are candidates.
    pub lookahead: u32,
    /// Whether a job that ends exactly at the shadow time counts as ended.
    pub shadow: ShadowRule,
    /// How dedicated jobs are handled.
    pub dedicated: Dedicated,
}

impl LosOptions {
    /// LOS for batch jobs.
    pub const LOS: Self =
        Self { skips: 0, lookahead: 50, shadow: ShadowRule::Before, dedicated: Dedicated::Ignored };
}

const SKIPS: ParamInfo = ParamInfo {
    key: "cs",
    values: "0 or more",
    default: "0",
    doc: "C_s: number of skips after which the head of the queue starts as soon as it fits",
};

const LOOKAHEAD: ParamInfo = ParamInfo {
    key: "lookahead",
    values: "1 or more",
    default: "50",
    doc: "number of eligible waiting jobs that are considered at a time; then the next ones are",
};

const SHADOW: ParamInfo = ParamInfo {
    key: "shadow",
    values: "before or by",
    default: "before",
    doc: "a job does not delay the head of the queue if it is expected to end before the shadow time (the paper), or by it (as in EASY)",
};

const DEDICATED: ParamInfo = ParamInfo {
    key: "dedicated",
    values: "hold, reserve or hybrid",
    default: "hold",
    doc: "dedicated jobs are kept back until their requested starts, hold reservations from then on, or are scheduled by Algorithms 2 and 3 of the paper",
};

/// The parameter value of the names that stand for Delayed-LOS.
const DELAYED: (&str, &str) = (SKIPS.key, "7");
const RESERVE: (&str, &str) = (DEDICATED.key, "reserve");
const HYBRID: (&str, &str) = (DEDICATED.key, "hybrid");

pub(in crate::local::policies) fn info() -> PolicyInfo {
    PolicyInfo::new("los", build)
        .doc("Lookahead: starts jobs in order of arrival; the first that does not fit gets a reservation, and of the others the set that fills the free processors best without delaying it starts.")
        .source("Shmueli and Feitelson 2005; Kumar, Shae and Jamjoom 2012")
        .params(&[SKIPS, LOOKAHEAD, SHADOW, DEDICATED, COMMANDS])
        .alias("los-d", &[RESERVE], "LOS-D: reservations for dedicated jobs at their requested starts.")
        .alias("los-e", &[MANY], "LOS-E: processes elastic commands.")
        .alias("los-de", &[RESERVE, MANY], "LOS-DE: both.")
        .alias("delayed-los", &[DELAYED], "Delayed-LOS: starts the set of waiting jobs that fills the free processors best, with or without the head of the queue; after `cs` skips the head starts as soon as it fits. While it does not fit, as `los`.")
        .alias("delayed-los-e", &[DELAYED, MANY], "Delayed-LOS-E: processes elastic commands.")
        .alias("hybrid-los", &[DELAYED, HYBRID], "Hybrid-LOS: as `delayed-los` while no dedicated job waits; otherwise fills the machine around the earliest requested start, and moves a dedicated job to the head of the queue at its requested start.")
        .alias("hybrid-los-e", &[DELAYED, HYBRID, MANY], "Hybrid-LOS-E: processes elastic commands.")
}

fn build(named: &mut Named) -> Result<Built, NamedError> {
    let skips = named.take(SKIPS.key, "a number of times, from 0 to 4294967295")?.unwrap_or_default();
    let jobs = "a number of jobs, from 1 to 4294967295";
    let lookahead = named.take_within(LOOKAHEAD.key, 1.., jobs)?.unwrap_or(LosOptions::LOS.lookahead);
    let rules = [("before", ShadowRule::Before), ("by", ShadowRule::By)];
    let shadow = named.take_choice(SHADOW.key, &rules)?.unwrap_or_default();
    let kinds =
        [("hold", Dedicated::Ignored), ("reserve", Dedicated::Reserved), ("hybrid", Dedicated::Hybrid)];
    let dedicated = named.take_choice(DEDICATED.key, &kinds)?.unwrap_or(Dedicated::Ignored);
    let able = Abilities {
        keeps_reservations: true,
        dedicated: dedicated != Dedicated::Ignored,
        elastic: elastic::commands(named)?,
        ..Abilities::PLAIN
    };
    Ok((Box::new(Los::new(LosOptions { skips, lookahead, shadow, dedicated })), able))
}
