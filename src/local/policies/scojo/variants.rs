//! SCOJO by name, and its parameters.

use super::{Scojo, ScojoOptions, Shares};
use crate::local::policies::line::{self, AGE_BY, AGE_EVERY, AGE_MOST, priorities};
use crate::local::policies::preemptive::Factor;
use crate::local::{Abilities, Built, PolicyInfo};
use crate::model::{Named, NamedError, ParamInfo};
use crate::sharing::{Coscheduling, Pairs, Share, Slowdown};

const ORDER: ParamInfo = ParamInfo {
    key: "order",
    values: "priority or fcfs",
    default: "priority",
    doc: "jobs start by the priority of their class, which grows while they wait, or in order of arrival",
};

const LEVEL: ParamInfo = ParamInfo {
    key: "level",
    values: "1 to 1000",
    default: "2",
    doc: "multiprogramming level: maximum number of jobs on a processor; with 1 nothing is shared",
};

const BACKFILL: ParamInfo = ParamInfo {
    key: "backfill",
    values: "true or false",
    default: "true",
    doc: "whether jobs may overtake others that cannot start, if they delay none of them; at level 1 they never do",
};

const LOOKAHEAD: ParamInfo = ParamInfo {
    key: "lookahead",
    values: "1 or more",
    default: "50",
    doc: "number of waiting jobs that are considered for backfilling",
};

const SHARE: ParamInfo = ParamInfo {
    key: "share",
    values: "equal, a share such as 40%, or one for each class with slashes between them",
    default: "equal",
    doc: "the share of its processors' time that a job requests and is guaranteed; `equal` is 100 % / `level`",
};

const SLOTS: ParamInfo = ParamInfo {
    key: "slots",
    values: "none, or as many shares as `level` with slashes between them",
    default: "none",
    doc: "shares by the order in which jobs come together, instead of `share`: a job gets the first that no job on its processors has",
};

const COMPENSATE: ParamInfo = ParamInfo {
    key: "compensate",
    values: "true or false",
    default: "false",
    doc: "whether a job gets its share times its slowdown, so that it progresses as fast as it requests (the effective share); else its share is what it gets",
};

const SPARE: ParamInfo = ParamInfo {
    key: "spare",
    values: "given or kept",
    default: "given",
    doc: "what the jobs on a processor have not requested is given to them, in the ratio of their shares, or kept idle, so that jobs that share have no more than their shares",
};

const JOIN: ParamInfo = ParamInfo {
    key: "join",
    values: "any or start",
    default: "any",
    doc: "the first in line joins jobs that run, or only those that start together with it; then those that run are joined by backfilling alone",
};

const SLOWDOWN: ParamInfo = ParamInfo {
    key: "slowdown",
    values: "a number from 0.01 to 100, `huang`, or a table of slowdowns with semicolons for ends of lines",
    default: "1.2",
    doc: "how many times as long a job takes beside another one; `huang` is Table 5-2 of the thesis. The executable number of a job in its log says its line in the table",
};

const OTHERS: ParamInfo = ParamInfo {
    key: "others",
    values: "a number from 0.01 to 100",
    default: "1.2",
    doc: "the slowdown of two jobs of which one is in no line of the table",
};

const MORE: ParamInfo = ParamInfo {
    key: "more",
    values: "a decimal number from 0 to 100",
    default: "0.1",
    doc: "what each job beyond two adds to the slowdown",
};

const MOST: ParamInfo = ParamInfo {
    key: "most",
    values: "a number from 0.01 to 100, or none",
    default: "none",
    doc: "the largest slowdown that is not significant: jobs are not put together if one of them would be slowed down by more",
};

const CLASSES: ParamInfo = ParamInfo {
    key: line::CLASSES,
    values: "times with slashes between them",
    default: "2 min/5 min/10 min",
    doc: "the longest estimates of all classes but the last; each class has a priority that is 5 above that of the next",
};

pub(in crate::local::policies) fn info() -> PolicyInfo {
    PolicyInfo::new("scojo", build)
        .doc("Share-based coscheduling: a job may join others on their processors if each keeps the share that it requests and none is slowed down too much; what is left of the time is divided among them. Jobs start by the priority of their class of run times, with aging, and others are backfilled if they delay none of them.")
        .source("Huang 2004, chapter 5")
        .params(&[
            ORDER, LEVEL, BACKFILL, LOOKAHEAD, JOIN, SHARE, SLOTS, SPARE, COMPENSATE, SLOWDOWN, OTHERS, MORE, MOST,
            CLASSES, AGE_EVERY, AGE_BY, AGE_MOST,
        ])
}

const BOOL: [(&str, bool); 2] = [("true", true), ("false", false)];

fn build(named: &mut Named) -> Result<Built, NamedError> {
    let by_priority = named.take_choice(ORDER.key, &[("priority", true), ("fcfs", false)])?.unwrap_or(true);
    let level = named.take_within(LEVEL.key, 1..=1000, "a number from 1 to 1000")?.unwrap_or(2);
    let backfill = named.take_choice(BACKFILL.key, &BOOL)?.unwrap_or(true);
    let lookahead = named.take_within(LOOKAHEAD.key, 1.., "a number from 1 on")?.unwrap_or(50);
    let compensate = named.take_choice(COMPENSATE.key, &BOOL)?.unwrap_or(false);
    let gives_spare = named.take_choice(SPARE.key, &[("given", true), ("kept", false)])?.unwrap_or(true);
    let together = named.take_choice(JOIN.key, &[("any", false), ("start", true)])?.unwrap_or(false);
    let priorities = priorities(named, CLASSES.default)?;
    let coscheduling = coscheduling(named)?;
    let shares = shares(named, level, priorities.classes(), &coscheduling, compensate)?;
    let is_shared = level > 1;
    let terms = ScojoOptions {
        level,
        coscheduling,
        shares,
        compensate,
        gives_spare,
        together,
        priorities,
        by_priority,
        backfill: backfill && is_shared,
        lookahead,
    };
    let able = Abilities {
        multiprogramming_level: level,
        picks_processors: is_shared,
        slows: is_shared,
        ..Abilities::PLAIN
    };
    Ok((Box::new(Scojo::new(terms)), able))
}

fn coscheduling(named: &mut Named) -> Result<Coscheduling, NamedError> {
    const EXPECTED: &str = "a slowdown from 0.01 to 100, such as 1.2";
    let others = named.take(OTHERS.key, EXPECTED)?;
    let mut model = Coscheduling::same(others.unwrap_or_else(usual));
    let written: String =
        named.take(SLOWDOWN.key, "a slowdown")?.unwrap_or_else(|| SLOWDOWN.default.to_owned());
    let is_table = written == "huang" || written.contains(';') || written.contains('\n');
    if is_table {
        let table = if written == "huang" { Pairs::HUANG } else { &written };
        model.pairs = table.parse().map_err(|error| {
            NamedError::bad_value(
                &named.name,
                SLOWDOWN.key,
                &written,
                &format!("a table of slowdowns: {error}"),
            )
        })?;
    } else {
        let bad = |expected: &str| NamedError::bad_value(&named.name, SLOWDOWN.key, &written, expected);
        let slowdown = written.parse().map_err(|_| {
            bad("a slowdown from 0.01 to 100, such as 1.2, `huang`, or a table such as `a b; a 1.2 1.4/1.1; b - 1.1`")
        })?;
        if let Some(others) = others.filter(|others| *others != slowdown) {
            let expected = "a table, so that there are no `others`";
            return Err(NamedError::bad_value(&named.name, OTHERS.key, others, expected));
        }
        model.otherwise = slowdown;
    }
    let hundred = Factor::whole(0)..=Factor::whole(100);
    if let Some(more) =
        named.take_within(MORE.key, hundred, "a decimal number from 0 to 100 with at most 6 places")?
    {
        model.more = u32::try_from(more.as_millionths()).unwrap_or(u32::MAX);
    }
    let most: Option<String> = named.take(MOST.key, EXPECTED)?;
    if let Some(most) = most.filter(|most| most != "none") {
        let expected = "a slowdown from 0.01 to 100, such as 1.4, or `none`";
        model.most =
            Some(most.parse().map_err(|_| NamedError::bad_value(&named.name, MOST.key, &most, expected))?);
    }
    Ok(model)
}

/// The slowdown in all simulations of the thesis.
fn usual() -> Slowdown {
    SLOWDOWN.default.parse().unwrap_or(Slowdown::NONE)
}

fn shares(
    named: &mut Named,
    level: u32,
    classes: usize,
    coscheduling: &Coscheduling,
    compensate: bool,
) -> Result<Shares, NamedError> {
    let share: Option<String> = named.take(SHARE.key, "a share")?;
    let slots: Option<String> = named.take(SLOTS.key, "shares")?;
    let slots = slots.filter(|slots| slots != "none");
    let bad =
        |key: &str, value: &str, expected: &str| NamedError::bad_value(&named.name, key, value, expected);
    let read = |key: &str, written: &str| -> Result<Vec<Share>, NamedError> {
        let shares = written.split('/').map(|share| share.trim().parse::<Share>());
        shares
            .collect::<Result<_, _>>()
            .map_err(|error| bad(key, written, &format!("a list of shares: {error}")))
    };
    let is_equal = share.as_deref().is_none_or(|share| share == "equal");
    let shares = match (share, slots.as_deref()) {
        (Some(share), Some(_)) if !is_equal => {
            return Err(bad(SHARE.key, &share, "of use with `slots`, which say all shares"));
        }
        (_, Some(written)) => {
            let shares = read(SLOTS.key, written)?;
            if shares.len() != level as usize {
                let expected = format!("as many shares as `level={level}`: these are {}", shares.len());
                return Err(bad(SLOTS.key, written, &expected));
            }
            if shares.len() > usize::from(u8::MAX) {
                return Err(bad(SLOTS.key, written, "a list of at most 255 shares"));
            }
            let sum: u64 = shares.iter().map(|share| u64::from(share.millionths())).sum();
            if sum > Share::WHOLE.into() {
                return Err(bad(SLOTS.key, written, "a list of shares of at most 100 % in all"));
            }
            Shares::Slots(shares)
        }
        (Some(written), None) if !is_equal => match read(SHARE.key, &written)? {
            shares if shares.len() == 1 => Shares::Same(shares[0]),
            shares if shares.len() == classes => Shares::Classes(shares),
            shares => {
                let expected = format!(
                    "one share, or one for each of the {classes} classes: these are {}",
                    shares.len()
                );
                return Err(bad(SHARE.key, &written, &expected));
            }
        },
        _ => Shares::Same(Share::one_of(level)),
    };
    if compensate && level > 1 {
        // Two jobs of which nothing is known: if they cannot share, nobody does.
        let slowdown = coscheduling.slowdown(&[None, None], 0);
        let least: Vec<Share> = match &shares {
            Shares::Same(share) => vec![*share; 2],
            Shares::Classes(shares) => vec![shares.iter().min().copied().unwrap_or(Share::one_of(2)); 2],
            Shares::Slots(shares) => shares.iter().take(2).copied().collect(),
        };
        let needed: u64 = least.iter().map(|share| share.effective(slowdown)).sum();
        if coscheduling.pairs.names().is_empty() && needed > Share::WHOLE.into() {
            let least: Vec<String> = least.iter().map(Share::to_string).collect();
            let expected = format!(
                "possible: two jobs with {} at a slowdown of {slowdown} need {} % of a processor",
                least.join(" and "),
                needed / 10_000
            );
            return Err(bad(COMPENSATE.key, "true", &expected));
        }
    }
    Ok(shares)
}
