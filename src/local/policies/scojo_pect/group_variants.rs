//! Group optimisation by name, and its parameters.

use super::ScojoPect;
use super::groups::{GroupBound, GroupChoice, GroupLimits, GroupOptions};
use super::variants::{ABLE, PARAMS, options, parts};
use crate::local::policies::preemptive::Factor;
use crate::local::{Built, PolicyInfo};
use crate::model::{Named, NamedError, ParamInfo};
use crate::search::discrepancy::Strategy;
use crate::units::Span;

const LEAST: ParamInfo = ParamInfo {
    key: "least",
    values: "two numbers with a slash between them",
    default: "10/5",
    doc: "the fewest medium jobs, and the fewest long jobs, that form a group",
};

const MOST: ParamInfo = ParamInfo {
    key: "most",
    values: "two numbers with a slash between them, up to 1000",
    default: "20/30",
    doc: "the most jobs of a group: the first ones in the order of arrival. A full group is searched in two halves first",
};

const SIZE: ParamInfo = ParamInfo {
    key: "size",
    values: "two numbers with a slash between them",
    default: "1.5/2",
    doc: "how many processors the jobs of a group need together at least, in machines",
};

const WORK: ParamInfo = ParamInfo {
    key: "work",
    values: "two numbers with a slash between them",
    default: "2/1",
    doc: "how long the machine takes for the work of a group at least, in times of `runtime`",
};

const RUNTIME: ParamInfo = ParamInfo {
    key: "runtime",
    values: "two times with a slash between them",
    default: "800 s/15000 s",
    doc: "the typical run time of medium and of long jobs, for `work` and `wide`",
};

const WIDE: ParamInfo = ParamInfo {
    key: "wide",
    values: "two percentages with a slash between them",
    default: "10%/25%",
    doc: "which part of the machine a medium and a long job need at least to be long and wide, if they also run for `runtime`",
};

const FIRST: ParamInfo = ParamInfo {
    key: "first",
    values: "two numbers with a slash between them, up to 8",
    default: "4/6",
    doc: "how many long and wide jobs a group has at least for the first level of the search, which tries all their orders, and how many are in it at most",
};

const SEARCH: ParamInfo = ParamInfo {
    key: "search",
    values: "dfs, dds, lds or ilds",
    default: "dfs",
    doc: "in which sequence orders are tried: depth-first, in which the last jobs change first, or those first that differ from the heuristic early (dds), or at few places (lds, ilds)",
};

const ORDERS: ParamInfo = ParamInfo {
    key: "orders",
    values: "1 or more",
    default: "10000",
    doc: "how many orders a search tries at most",
};

const NODES: ParamInfo = ParamInfo {
    key: "nodes",
    values: "1 or more",
    default: "1000000",
    doc: "budget of a group: how many jobs its searches place at most, over all orders. One order is completed in any case",
};

const DISCREPANCIES: ParamInfo = ParamInfo {
    key: "discrepancies",
    values: "none, or a number",
    default: "none",
    doc: "at how many places an order may differ from the heuristic",
};

const BOUND: ParamInfo = ParamInfo {
    key: "bound",
    values: "placed, least or none",
    default: "placed",
    doc: "branch and bound: an order is left when the jobs placed so far have as much slowdown as all jobs of the best order, or (least) with the least that the others can have",
};

const SHIFT: ParamInfo = ParamInfo {
    key: "shift",
    values: "1 to 1000, or none",
    default: "1.5",
    doc: "a job is moved into an earlier hole, and pushes others aside, if it runs for at most so many times as long as the hole",
};

const CHOICE: ParamInfo = ParamInfo {
    key: "choice",
    values: "shorter, printed or least",
    default: "shorter",
    doc: "which of the three orders with the least slowdown is taken: a shorter one that is hardly worse, the same with the sign as printed, or the one with the least",
};

const FACTORS: ParamInfo = ParamInfo {
    key: "factors",
    values: "three numbers with slashes between them",
    default: "1.1/0.95/1.1",
    doc: "for `choice`: by what the other order's makespan, utilization and mean response time are multiplied",
};

const DROP: ParamInfo = ParamInfo {
    key: "drop",
    values: "a percentage",
    default: "5%",
    doc: "a group is over before utilization falls by more than this from the end of one of its jobs to the next, to below `utilization`",
};

const UTILIZATION: ParamInfo = ParamInfo {
    key: "utilization",
    values: "a percentage",
    default: "70%",
    doc: "below which utilization a group is over if it falls by more than `drop`",
};

const BOUNDED: ParamInfo = ParamInfo {
    key: "bounded",
    values: "a time above 0",
    default: "10 min",
    doc: "the least run time of which slowdowns are taken",
};

const SECOND: ParamInfo = ParamInfo {
    key: "second",
    values: "true or false",
    default: "true",
    doc: "whether there is a second level of the search, with all jobs of the group",
};

const FIXED: ParamInfo = ParamInfo {
    key: "fixed",
    values: "true or false",
    default: "false",
    doc: "whether the long and wide jobs keep the places that the first level gave them, and only the others change theirs",
};

const DYNAMIC: ParamInfo = ParamInfo {
    key: "dynamic",
    values: "true or false",
    default: "true",
    doc: "whether a job that arrives in the slice of a group is tried beside the plan before all others that wait",
};

const BACKFILLS: ParamInfo = ParamInfo {
    key: "plan_backfill",
    values: "true or false",
    default: "true",
    doc: "whether a job of a plan may start before those in front of it if it delays none of them",
};

const AGAIN: ParamInfo = ParamInfo {
    key: "again",
    values: "none, or a number from 1",
    default: "none",
    doc: "the jobs that are left of a group are searched again at the beginning of a slice in which their slowdowns have become so many times those that were planned",
};

const PER_NODE: ParamInfo = ParamInfo {
    key: "per_node",
    values: "a time",
    default: "0 s",
    doc: "how long a search takes for each job that it places; the plan holds when it is over",
};

/// All parameters: those of the slices, and those of the groups.
fn all() -> Vec<ParamInfo> {
    let slices = PARAMS.iter().copied();
    let forming = [LEAST, MOST, SIZE, WORK, RUNTIME, WIDE, FIRST];
    let search = [SEARCH, ORDERS, NODES, DISCREPANCIES, BOUND, SHIFT, CHOICE, FACTORS, SECOND, FIXED];
    let plan = [DROP, UTILIZATION, BOUNDED, DYNAMIC, BACKFILLS, AGAIN, PER_NODE];
    slices.chain(forming).chain(search).chain(plan).collect()
}

pub(in crate::local::policies) fn info() -> PolicyInfo {
    PolicyInfo::new("scojo-pect-groups", build)
        .doc("SCOJO-PECT with group optimisation: when enough medium or long jobs wait in a slice of their class, they form a group, and a search looks for the order with the least bounded slowdown in which to plan them; while the group lasts, they come first in its order, beside backfilling.")
        .source("Kanavallil 2007, chapters 5 to 7")
        .params(all())
}

/// Takes values for medium and for long jobs.
fn pair<T>(
    named: &mut Named,
    key: &str,
    expected: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Option<[T; 2]>, NamedError> {
    let Some(text) = named.take::<String>(key, "values")? else { return Ok(None) };
    let bad = || NamedError::bad_value(&named.name, key, &text, expected);
    parts(&text, read).ok_or_else(bad).map(Some)
}

fn percent(text: &str) -> Option<Factor> {
    let percent: Factor = text.trim().strip_suffix('%')?.trim().parse().ok()?;
    (percent <= Factor::whole(100)).then(|| Factor::millionths(percent.as_millionths() / 100))
}

/// Takes a number that may be `none`.
fn unless_none<T>(
    named: &mut Named,
    key: &str,
    expected: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Option<Option<T>>, NamedError> {
    let Some(text) = named.take::<String>(key, "a value")? else { return Ok(None) };
    if text == "none" {
        return Ok(Some(None));
    }
    let bad = || NamedError::bad_value(&named.name, key, &text, expected);
    read(&text).ok_or_else(bad).map(|value| Some(Some(value)))
}

impl GroupLimits {
    fn both(named: &mut Named, [medium, long]: [Self; 2]) -> Result<[Self; 2], NamedError> {
        let mut both = [medium, long];
        let mut set = |values: Option<[u32; 2]>, of: fn(&mut Self) -> &mut u32| {
            for (limits, value) in both.iter_mut().zip(values.into_iter().flatten()) {
                *of(limits) = value;
            }
        };
        let jobs = |text: &str| text.parse().ok().filter(|jobs| (1..=1_000).contains(jobs));
        let numbers = "two numbers from 1 to 1000 with a slash between them, of medium and of long jobs, such as `10/5`";
        set(pair(named, LEAST.key, numbers, jobs)?, |limits| &mut limits.least);
        set(pair(named, MOST.key, numbers, jobs)?, |limits| &mut limits.most);
        let mut set = |values: Option<[Factor; 2]>, of: fn(&mut Self) -> &mut Factor| {
            for (limits, value) in both.iter_mut().zip(values.into_iter().flatten()) {
                *of(limits) = value;
            }
        };
        let factors = "two numbers with a slash between them, for medium and for long jobs, such as `1.5/2`";
        set(pair(named, SIZE.key, factors, |text| text.parse().ok())?, |limits| &mut limits.size);
        set(pair(named, WORK.key, factors, |text| text.parse().ok())?, |limits| &mut limits.work);
        let parts =
            "two percentages with a slash between them, for medium and for long jobs, such as `10%/25%`";
        set(pair(named, WIDE.key, parts, percent)?, |limits| &mut limits.wide);
        let times = "two times above 0 with a slash between them, of medium and of long jobs, such as `800 s/15000 s`";
        let time = |text: &str| text.parse().ok().filter(|time| *time > Span::ZERO);
        for (limits, value) in
            both.iter_mut().zip(pair(named, RUNTIME.key, times, time)?.into_iter().flatten())
        {
            limits.runtime = value;
        }
        for (limits, what) in both.iter().zip(["medium", "long"]) {
            if limits.most < limits.least {
                let most = format!("{}/{}", both[0].most, both[1].most);
                let expected = format!("at least `least`, which is {} for {what} jobs", limits.least);
                return Err(NamedError::bad_value(&named.name, MOST.key, &most, &expected));
            }
        }
        Ok(both)
    }
}

fn build(named: &mut Named) -> Result<Built, NamedError> {
    let slices = options(named)?;
    let mut groups = GroupOptions::default();
    groups.limits = GroupLimits::both(named, groups.limits)?;
    let jobs = "two numbers from 1 to 8 with a slash between them, the smaller one first, such as `4/6`";
    let few = |text: &str| text.parse().ok().filter(|jobs: &u32| (1..=8).contains(jobs));
    if let Some([least, most]) = pair(named, FIRST.key, jobs, few)? {
        if least > most {
            return Err(NamedError::bad_value(&named.name, FIRST.key, format!("{least}/{most}"), jobs));
        }
        groups.first = (least, most);
    }
    groups.search = named.take_choice(SEARCH.key, &Strategy::NAMES)?.unwrap_or(groups.search);
    let many = "a number from 1 to 18446744073709551615";
    groups.orders = named.take_within(ORDERS.key, 1.., many)?.unwrap_or(groups.orders);
    groups.nodes = named.take_within(NODES.key, 1.., many)?.unwrap_or(groups.nodes);
    let number = "a number from 0 to 4294967295, or `none`";
    let discrepancies = unless_none(named, DISCREPANCIES.key, number, |text| text.parse().ok())?;
    groups.discrepancies = discrepancies.map_or(groups.discrepancies, |most| most.unwrap_or(u32::MAX));
    let bounds = [("placed", GroupBound::Placed), ("least", GroupBound::Least), ("none", GroupBound::None)];
    groups.bound = named.take_choice(BOUND.key, &bounds)?.unwrap_or(groups.bound);
    let from_one = |text: &str| {
        text.parse().ok().filter(|factor| (Factor::whole(1)..=Factor::whole(1_000)).contains(factor))
    };
    let factor = "a number from 1 to 1000, such as `1.5`, or `none`";
    groups.shift = unless_none(named, SHIFT.key, factor, from_one)?.unwrap_or(groups.shift);
    groups.again = unless_none(named, AGAIN.key, factor, from_one)?.unwrap_or(groups.again);
    let choices =
        [("shorter", GroupChoice::Shorter), ("printed", GroupChoice::Printed), ("least", GroupChoice::Least)];
    groups.choice = named.take_choice(CHOICE.key, &choices)?.unwrap_or(groups.choice);
    let three = "three numbers with slashes between them, such as `1.1/0.95/1.1`";
    if let Some(text) = named.take::<String>(FACTORS.key, three)? {
        let bad = || NamedError::bad_value(&named.name, FACTORS.key, &text, three);
        groups.factors = parts(&text, |part| part.parse().ok()).ok_or_else(bad)?;
    }
    let part = "a percentage from 0% to 100%, such as `5%`";
    for (key, of) in [(DROP.key, &mut groups.drop), (UTILIZATION.key, &mut groups.utilization)] {
        if let Some(text) = named.take::<String>(key, part)? {
            *of = percent(&text).ok_or_else(|| NamedError::bad_value(&named.name, key, &text, part))?;
        }
    }
    let time = "a time above 0, such as `10 min`";
    groups.bounded = named.take_within(BOUNDED.key, Span::TICK.., time)?.unwrap_or(groups.bounded);
    let truths = [("true", true), ("false", false)];
    groups.second = named.take_choice(SECOND.key, &truths)?.unwrap_or(groups.second);
    groups.fixed = named.take_choice(FIXED.key, &truths)?.unwrap_or(groups.fixed);
    if groups.fixed && !groups.second {
        let expected = "`false` without a second level (`second=false`), in which others change their places";
        return Err(NamedError::bad_value(&named.name, FIXED.key, "true", expected));
    }
    groups.dynamic = named.take_choice(DYNAMIC.key, &truths)?.unwrap_or(groups.dynamic);
    groups.backfills = named.take_choice(BACKFILLS.key, &truths)?.unwrap_or(groups.backfills);
    let time = "a time, such as `1 ms`";
    groups.per_node = named.take_within(PER_NODE.key, Span::ZERO.., time)?.unwrap_or(groups.per_node);
    Ok((Box::new(ScojoPect::new(slices).with_groups(groups)), ABLE))
}
