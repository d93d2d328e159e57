//! The members of the family as they are named (Kumar et al. 2012, Table III), and their parameters.

use super::Los;
use crate::local::policies::elastic;
use crate::local::{Abilities, LocalPolicy, PolicyInfo};
use crate::model::{Named, NamedError, ParamInfo};

/// What is done about dedicated jobs.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Dedicated {
    /// They are none of the policy's business: the partition keeps them back until their requested start.
    Ignored,
    /// They hold reservations from their requested start on (LOS-D).
    Reserved,
    /// As Algorithms 2 and 3 say (Hybrid-LOS).
    Hybrid,
}

/// Whether a job that is expected to end exactly at the shadow time is over by then.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum ShadowRule {
    /// It is not: `t + dur < fret`, as the paper has it.
    #[default]
    Before,
    /// It is: `t + dur <= fret`, as EASY has it.
    By,
}

/// Parts and parameters of a [`Los`].
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct LosOptions {
    /// `C_s`: the head of the queue is started as soon as it fits once it has been skipped so often.
    pub skips: u32,
    /// How many of the jobs that fit on the free processors are looked at.
    pub lookahead: u32,
    /// At the shadow time itself.
    pub shadow: ShadowRule,
    /// What is done about dedicated jobs.
    pub dedicated: Dedicated,
}

impl LosOptions {
    /// LOS for batch jobs.
    pub const LOS: Self =
        Self { skips: 0, lookahead: 50, shadow: ShadowRule::Before, dedicated: Dedicated::Ignored };
}

const LOOKAHEAD: ParamInfo = ParamInfo {
    key: "lookahead",
    values: "1 or more",
    default: "50",
    doc: "how many waiting jobs that fit on the free processors are looked at",
};

const SHADOW: ParamInfo = ParamInfo {
    key: "shadow",
    values: "before or by",
    default: "before",
    doc: "a job delays nobody if it is expected to end before the shadow time (the paper), or by it (as in EASY)",
};

const SKIPS: ParamInfo = ParamInfo {
    key: "cs",
    values: "0 or more",
    default: "7",
    doc: "C_s: how often the head of the queue is skipped before it starts as soon as it fits",
};

const SOURCE: &str = "Shmueli and Feitelson 2005; Kumar, Shae and Jamjoom 2012";

/// What the members of the family can do.
const fn able(dedicated: bool) -> Abilities {
    Abilities { keeps_reservations: true, dedicated, ..Abilities::PLAIN }
}

fn build(mut named: Named, dedicated: Dedicated) -> Result<Box<dyn LocalPolicy>, NamedError> {
    let mut options = LosOptions { dedicated, ..LosOptions::LOS };
    let mut known = vec!["lookahead", "shadow"];
    let written = named.clone();
    let bad = |key: &str, expected: &str| NamedError::BadValue {
        name: written.name.clone(),
        key: key.to_owned(),
        value: written.params.get(key).cloned().unwrap_or_default(),
        expected: expected.to_owned(),
    };
    if let Some(lookahead) = named.take("lookahead", "a number of jobs, from 1 to 4294967295")? {
        if lookahead == 0 {
            return Err(bad("lookahead", "a number of jobs, from 1 to 4294967295"));
        }
        options.lookahead = lookahead;
    }
    let rules = [("before", ShadowRule::Before), ("by", ShadowRule::By)];
    options.shadow = named.take_choice("shadow", &rules)?.unwrap_or_default();
    if !named.name.starts_with("los") {
        known.push("cs");
        options.skips = named.take("cs", "a number of times, from 0 to 4294967295")?.unwrap_or(7);
    }
    if named.name.ends_with("-e") || named.name.ends_with("-de") {
        known.push(elastic::COMMANDS.key);
        elastic::check(&mut named)?;
    }
    named.finish(&known)?;
    Ok(Box::new(Los::new(options)))
}

const LOS_DOC: &str = "Starts jobs in order of arrival; when the first does not fit, it gets a reservation, and of the others the set starts that fills the free processors best without delaying it.";

/// LOS.
pub(in crate::local::policies) const LOS: PolicyInfo = PolicyInfo {
    name: "los",
    doc: LOS_DOC,
    source: SOURCE,
    params: &[LOOKAHEAD, SHADOW],
    abilities: |_| able(false),
    build: |named| build(named, Dedicated::Ignored),
};

/// LOS-D.
pub(in crate::local::policies) const LOS_D: PolicyInfo = PolicyInfo {
    name: "los-d",
    doc: "As `los`, around reservations of dedicated jobs from their requested starts on.",
    abilities: |_| able(true),
    build: |named| build(named, Dedicated::Reserved),
    ..LOS
};

/// LOS-E.
pub(in crate::local::policies) const LOS_E: PolicyInfo = PolicyInfo {
    name: "los-e",
    doc: "As `los`, with a processor of elastic commands.",
    params: &[LOOKAHEAD, SHADOW, elastic::COMMANDS],
    abilities: |named| elastic::able(able(false), named),
    ..LOS
};

/// LOS-DE.
pub(in crate::local::policies) const LOS_DE: PolicyInfo = PolicyInfo {
    name: "los-de",
    doc: "As `los-d`, with a processor of elastic commands.",
    params: &[LOOKAHEAD, SHADOW, elastic::COMMANDS],
    abilities: |named| elastic::able(able(true), named),
    ..LOS_D
};

/// Delayed-LOS.
pub(in crate::local::policies) const DELAYED: PolicyInfo = PolicyInfo {
    name: "delayed-los",
    doc: "Starts the set of waiting jobs that fills the free processors best, with or without the first of the queue; once that has been skipped `cs` times it starts as soon as it fits. While it does not fit, as `los`.",
    params: &[SKIPS, LOOKAHEAD, SHADOW],
    ..LOS
};

/// Delayed-LOS-E.
pub(in crate::local::policies) const DELAYED_E: PolicyInfo = PolicyInfo {
    name: "delayed-los-e",
    doc: "As `delayed-los`, with a processor of elastic commands.",
    params: &[SKIPS, LOOKAHEAD, SHADOW, elastic::COMMANDS],
    abilities: |named| elastic::able(able(false), named),
    ..DELAYED
};

/// Hybrid-LOS.
pub(in crate::local::policies) const HYBRID: PolicyInfo = PolicyInfo {
    name: "hybrid-los",
    doc: "As `delayed-los` while no dedicated job waits; otherwise fills the machine around the earliest requested start, and puts a dedicated job first in the queue when its start has come.",
    abilities: |_| able(true),
    build: |named| build(named, Dedicated::Hybrid),
    ..DELAYED
};

/// Hybrid-LOS-E.
pub(in crate::local::policies) const HYBRID_E: PolicyInfo = PolicyInfo {
    name: "hybrid-los-e",
    doc: "As `hybrid-los`, with a processor of elastic commands.",
    params: &[SKIPS, LOOKAHEAD, SHADOW, elastic::COMMANDS],
    abilities: |named| elastic::able(able(true), named),
    ..HYBRID
};
