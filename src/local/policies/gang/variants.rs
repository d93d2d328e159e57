//! Gang scheduling by name, its parts as the thesis names them, and their parameters.

use super::{Backfilling, Gang, GangOptions, Passes, Resizes};
use crate::local::policies::line::{self, AGE_BY, AGE_EVERY, AGE_MOST, priorities};
use crate::local::{Abilities, Built, PolicyInfo};
use crate::model::{Named, NamedError, ParamInfo};
use crate::sharing::{Fit, Packing, Switch, TimeSlices};
use crate::units::Span;

const VARIANT: ParamInfo = ParamInfo {
    key: "variant",
    values: "fcfs or pri, then any of -b, -eb or -easy, -wa and -fa",
    default: "fcfs",
    doc: "order of arrival or by priority; backfilling that delays no job before (`b`), none at all (`eb`, EASY as the thesis has it) or not the first (`easy`, as it is usual); sizes that follow the load (`wa`) and the fragmentation (`fa`)",
};

const LEVEL: ParamInfo = ParamInfo {
    key: "level",
    values: "1 to 1000",
    default: "5",
    doc: "multiprogramming level: maximum number of time slots; with 1 jobs have processors of their own",
};

const SLICE: ParamInfo = ParamInfo {
    key: "slice",
    values: "a time above 0, or none",
    default: "2 s",
    doc: "length of a time slice when as many slots as `level` are in use, longer with fewer; with `none` there are no slices, but rates only",
};

const SWITCH: ParamInfo = ParamInfo {
    key: "switch",
    values: "a part such as 10%, a time such as 40 ms, or none",
    default: "10%",
    doc: "what a context switch takes of each slice while more than one slot is in use; `none` without slices",
};

const PASSES: ParamInfo = ParamInfo {
    key: "passes",
    values: "slice or event",
    default: "slice",
    doc: "passes at the ends of slices, so that what happens meanwhile waits; or at each event",
};

const FIT: ParamInfo = ParamInfo {
    key: "fit",
    values: "first or best",
    default: "first",
    doc: "a job is packed into the first slot with room for it, or into the fullest",
};

const ALTERNATE: ParamInfo = ParamInfo {
    key: "alternate",
    values: "true or false",
    default: "false",
    doc: "alternate scheduling: whether a job also runs in other slots where all its processors are idle",
};

const UNIFY: ParamInfo = ParamInfo {
    key: "unify",
    values: "true or false",
    default: "false",
    doc: "slot unification: whether slots are joined, when jobs leave, whose jobs have no processor in common",
};

const LOOKAHEAD: ParamInfo = ParamInfo {
    key: "lookahead",
    values: "1 or more",
    default: "50",
    doc: "with `-b`: number of waiting jobs behind the first that are planned, and may be backfilled",
};

const RECONFIGURE: ParamInfo = ParamInfo {
    key: "reconfigure",
    values: "a time",
    default: "5 min",
    doc: "with `-wa`: the reconfiguration interval, at whose multiples running jobs are resized; jobs with shorter estimates do not count for the load",
};

const RESIZES: ParamInfo = ParamInfo {
    key: "resizes",
    values: "interval or event",
    default: "interval",
    doc: "with `-wa`: running jobs are resized at multiples of `reconfigure`, or at each pass",
};

const CLASSES: ParamInfo = ParamInfo {
    key: line::CLASSES,
    values: "times with slashes between them",
    default: "1 min/30 min",
    doc: "the longest estimates of all classes but the last; with `pri` each class has a priority that is 5 above that of the next, and with `-fa` malleable jobs of the last class do not grow when they start",
};

pub(in crate::local::policies) fn info() -> PolicyInfo {
    PolicyInfo::new("gang", build)
        .doc("Gang scheduling on an Ousterhout matrix of time slots and processors: a job gets processors of one slot, and the slots take turns. Its variants have priorities, backfilling, and sizes that follow the load and the fragmentation.")
        .source("Ousterhout 1982; Feitelson and Jette 1997; Huang 2004, chapters 6 and 7")
        .params(&[
            VARIANT, LEVEL, SLICE, SWITCH, PASSES, FIT, ALTERNATE, UNIFY, LOOKAHEAD, RECONFIGURE, RESIZES, CLASSES, AGE_EVERY,
            AGE_BY, AGE_MOST,
        ])
        .alias(
            "adaptive-scojo",
            &[(VARIANT.key, "pri-b-wa-fa"), (LEVEL.key, "2")],
            "Adaptive SCOJO: gang scheduling with priorities, backfilling, and sizes that follow the load and the fragmentation.",
        )
}

const BOOL: [(&str, bool); 2] = [("true", true), ("false", false)];

/// The parts of a variant.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
struct Parts {
    by_priority: bool,
    backfilling: Backfilling,
    adapts: bool,
    fills: bool,
}

impl Parts {
    /// Reads `pri-b-wa-fa`; `None` if it is no such name.
    fn read(written: &str) -> Option<Self> {
        let mut words = written.split('-').peekable();
        let by_priority = match words.next()? {
            "fcfs" => false,
            "pri" => true,
            _ => return None,
        };
        let how = match words.peek().copied() {
            Some("b") => Backfilling::Conservative,
            Some("eb") => Backfilling::Greedy,
            Some("easy") => Backfilling::Easy,
            _ => Backfilling::None,
        };
        if how != Backfilling::None {
            words.next();
        }
        let adapts = words.next_if_eq(&"wa").is_some();
        let fills = words.next_if_eq(&"fa").is_some();
        words.next().is_none().then_some(Self { by_priority, backfilling: how, adapts, fills })
    }
}

fn build(named: &mut Named) -> Result<Built, NamedError> {
    let written: String = named.take(VARIANT.key, "a variant")?.unwrap_or_else(|| VARIANT.default.to_owned());
    let Parts { by_priority, backfilling, adapts, fills } = Parts::read(&written).ok_or_else(|| {
        let expected = "a variant such as `pri-b-wa-fa`: `fcfs` or `pri`, then one of `-b`, `-eb` and `-easy`, then `-wa`, then `-fa`, as wanted";
        NamedError::bad_value(&named.name, VARIANT.key, &written, expected)
    })?;
    let level = named.take_within(LEVEL.key, 1..=1000, "a number from 1 to 1000")?.unwrap_or(5);
    let slices = slices(named, level)?;
    let passes = [("slice", Passes::Slice), ("event", Passes::Event)];
    let passes = named.take_choice(PASSES.key, &passes)?.unwrap_or_default();
    let fit = named.take_choice(FIT.key, &[("first", Fit::First), ("best", Fit::Best)])?.unwrap_or_default();
    let alternate = named.take_choice(ALTERNATE.key, &BOOL)?.unwrap_or_default();
    let unify = named.take_choice(UNIFY.key, &BOOL)?.unwrap_or_default();
    let lookahead = named.take_within(LOOKAHEAD.key, 1.., "a number from 1 on")?.unwrap_or(50);
    let reconfigure =
        named.take(RECONFIGURE.key, "a time, such as `5 min`")?.unwrap_or(Span::from_secs(5 * 60));
    let resizes = [("interval", Resizes::Interval), ("event", Resizes::Event)];
    let resizes = named.take_choice(RESIZES.key, &resizes)?.unwrap_or_default();
    let priorities = priorities(named, CLASSES.default)?;
    let is_shared = level > 1;
    let terms = GangOptions {
        level,
        by_priority,
        backfilling,
        lookahead,
        adapts,
        fills,
        packing: Packing { fit, alternate, unify },
        slices,
        passes,
        reconfigure,
        resizes,
        priorities,
    };
    let able = Abilities {
        multiprogramming_level: level,
        picks_processors: is_shared || adapts,
        slows: is_shared,
        resizes: adapts,
        ..Abilities::PLAIN
    };
    Ok((Box::new(Gang::new(terms)), able))
}

fn slices(named: &mut Named, level: u32) -> Result<Option<TimeSlices>, NamedError> {
    let slice: String = named.take(SLICE.key, "a time")?.unwrap_or_else(|| SLICE.default.to_owned());
    let switch: Option<String> = named.take(SWITCH.key, "a part or a time")?;
    let bad =
        |key: &str, value: &str, expected: &str| NamedError::bad_value(&named.name, key, value, expected);
    let read = |written: &str| {
        let expected = "a part above 0 and below 100 %, such as `10%`, a time such as `40 ms`, or `none`";
        match written {
            "none" => Ok(Switch::Free),
            _ if written.ends_with('%') => written.parse().map(Switch::Part).ok().ok_or(expected),
            _ => written.parse().map(Switch::Time).ok().ok_or(expected),
        }
        .map_err(|expected| bad(SWITCH.key, written, expected))
    };
    if slice == "none" {
        return match switch.as_deref().map(|written| Ok((written, read(written)?))).transpose()? {
            None | Some((_, Switch::Free)) => Ok(None),
            Some((written, _)) => {
                Err(bad(SWITCH.key, written, "of use with `slice=none`: nothing is switched"))
            }
        };
    }
    let length: Span =
        slice.parse().map_err(|_| bad(SLICE.key, &slice, "a time above 0, such as `2 s`, or `none`"))?;
    let switch = read(switch.as_deref().unwrap_or(SWITCH.default))?;
    let slices = TimeSlices::new(length, level, switch)
        .map_err(|error| bad(SLICE.key, &slice, &format!("long enough: {error}")))?;
    Ok(Some(slices))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_are_named_as_in_section_7_4() {
        let parts = |written: &str| Parts::read(written);
        let of =
            |by_priority, backfilling, adapts, fills| Some(Parts { by_priority, backfilling, adapts, fills });
        use Backfilling::{Conservative, Easy, Greedy, None as Nobody};
        assert_eq!(parts("fcfs"), of(false, Nobody, false, false));
        assert_eq!(parts("fcfs-b"), of(false, Conservative, false, false));
        assert_eq!(parts("pri-b"), of(true, Conservative, false, false));
        assert_eq!(parts("pri-eb"), of(true, Greedy, false, false));
        assert_eq!(parts("pri-wa-fa"), of(true, Nobody, true, true));
        assert_eq!(parts("pri-b-wa"), of(true, Conservative, true, false));
        assert_eq!(parts("pri-b-fa"), of(true, Conservative, false, true));
        assert_eq!(parts("fcfs-b-wa-fa"), of(false, Conservative, true, true));
        assert_eq!(parts("pri-eb-wa-fa"), of(true, Greedy, true, true));
        assert_eq!(parts("pri-b-wa-fa"), of(true, Conservative, true, true));
        // As everybody else has EASY backfilling.
        assert_eq!(parts("fcfs-easy"), of(false, Easy, false, false));
        for wrong in ["", "b", "pri-", "pri-fa-wa", "pri-b-eb", "pri-b-b", "PRI", "pri-b-wa-fa-x"] {
            assert_eq!(parts(wrong), None, "{wrong}");
        }
    }
}
