//! SCOJO-PECT by name, and its parameters.

use super::ScojoPect;
use super::hours::SharesByHour;
use super::queues::CLASSES;
use crate::local::policies::discrepancy::DiscrepancyOptions;
use crate::local::policies::preemptive::Factor;
use crate::local::{Abilities, Built, PolicyInfo};
use crate::model::{Named, NamedError, ParamInfo};
use crate::units::Span;

/// Parameters of a [`ScojoPect`].
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ScojoPectOptions {
    /// From which estimate on a job is a medium one, and a long one.
    pub bounds: [Span; CLASSES - 1],
    /// The shares of the time of short, medium and long jobs, in millionths of a per cent: together 100 %.
    pub shares: [u64; CLASSES],
    /// The shares at some hours of the day, instead of those.
    pub by_hour: Option<SharesByHour>,
    /// How long the slices of all classes take together.
    pub cycle: Span,
    /// The shortest slice.
    pub floor: Span,
    /// What is lost of a slice of another class than the last one.
    pub switch: Span,
    /// Whether jobs of other classes run on what a slice leaves free.
    pub smart: bool,
    /// Whether only the first waiting job of the class is not delayed by those behind it (EASY), and not each of them (conservative backfilling).
    pub easy: bool,
    /// How many waiting jobs of a class are looked at in a pass that do not start.
    pub lookahead: u32,
    /// How the order of the waiting jobs of the slice's class is searched; `None` for that of arrival.
    pub search: Option<DiscrepancyOptions>,
}

impl Default for ScojoPectOptions {
    fn default() -> Self {
        Self {
            bounds: [Span::from_secs(600), Span::from_secs(10_800)],
            shares: [500_000, 26_500_000, 73_000_000],
            by_hour: None,
            cycle: Span::from_secs(3_600),
            floor: Span::from_secs(300),
            switch: Span::from_secs(60),
            smart: true,
            easy: false,
            lookahead: 200,
            search: None,
        }
    }
}

const CLASS_BOUNDS: ParamInfo = ParamInfo {
    key: "classes",
    values: "two times with a slash between them",
    default: "10 min/3 h",
    doc: "from which estimate on a job is a medium one, and a long one",
};

const SHARES: ParamInfo = ParamInfo {
    key: "shares",
    values: "three shares with slashes between them, 100% together",
    default: "0.5%/26.5%/73%",
    doc: "how the time is divided among short, medium and long jobs; those without jobs leave theirs to the others",
};

const BY_HOUR: ParamInfo = ParamInfo {
    key: "shares_by_hour",
    values: "hours of the day with their shares, such as 22-6=0.5%/9.5%/90%;8-12=2%/38%/60%",
    default: "none",
    doc: "the shares of slices that begin at these hours; at others they are `shares`",
};

const CYCLE: ParamInfo = ParamInfo {
    key: "cycle",
    values: "a time above 0",
    default: "1 h",
    doc: "how long a slice of each class takes together",
};

const FLOOR: ParamInfo = ParamInfo {
    key: "floor",
    values: "a time above `switch`, and at most a third of `cycle`",
    default: "5 min",
    doc: "the shortest slice; what it needs more than its share is taken from the longest",
};

const SWITCH: ParamInfo = ParamInfo {
    key: "switch",
    values: "a time",
    default: "60 s",
    doc: "what is lost at the beginning of a slice, in which no job runs, if it is of another class than the last one",
};

const SMART: ParamInfo = ParamInfo {
    key: "smart",
    values: "true or false",
    default: "true",
    doc: "smart backfilling: jobs of other classes run on what a slice leaves free, until it ends",
};

const BACKFILL: ParamInfo = ParamInfo {
    key: "backfill",
    values: "conservative or easy",
    default: "conservative",
    doc: "which waiting jobs of the slice's class others of it may not delay: all before them, or the first alone",
};

const LOOKAHEAD: ParamInfo = ParamInfo {
    key: "lookahead",
    values: "1 or more",
    default: "200",
    doc: "number of waiting jobs of each class that a pass looks at and does not start; those behind them are not looked at",
};

const ORDER: ParamInfo = ParamInfo {
    key: "order",
    values: "fcfs, dds-lxf-dynb or discrepancy",
    default: "fcfs",
    doc: "the order of the waiting jobs of the slice's class: that of arrival, or the best one that a discrepancy search with 1,000 nodes finds in each pass, without branch and bound or with it",
};

/// The parameters.
pub(super) const PARAMS: [ParamInfo; 10] =
    [CLASS_BOUNDS, SHARES, BY_HOUR, CYCLE, FLOOR, SWITCH, SMART, BACKFILL, LOOKAHEAD, ORDER];

pub(in crate::local::policies) fn info() -> PolicyInfo {
    PolicyInfo::new("scojo-pect", build)
        .doc("Coarse time slices: short, medium and long jobs, by their estimates, have the machine in turn, for times by shares. At the end of a slice all jobs are suspended; those of the next class resume on the processors that they had and others of it start, with backfilling; jobs of other classes run on what is left until the slice ends.")
        .source("Esbaugh and Sodan 2007, as described in Kanavallil 2007, chapter 4")
        .params(&PARAMS)
}

/// The parts of a list with slashes, if there are so many.
pub(super) fn parts<const N: usize, T>(text: &str, read: impl Fn(&str) -> Option<T>) -> Option<[T; N]> {
    let parts: Option<Vec<T>> = text.split('/').map(|part| read(part.trim())).collect();
    parts?.try_into().ok()
}

/// Three shares with slashes between them, in millionths of a per cent.
pub(super) fn shares(text: &str) -> Option<[u64; CLASSES]> {
    parts(text, |part| part.strip_suffix('%')?.parse().map(Factor::as_millionths).ok())
}

/// Whether shares are 100 % together. The error is what they are, in per cent.
pub(super) fn sum_to_one(shares: [u64; CLASSES]) -> Result<(), f64> {
    let sum: u64 = shares.iter().sum();
    if sum == 100 * Factor::ONE { Ok(()) } else { Err(sum as f64 / Factor::ONE as f64) }
}

fn build(named: &mut Named) -> Result<Built, NamedError> {
    Ok((Box::new(ScojoPect::new(options(named)?)), ABLE))
}

/// What these policies can.
pub(super) const ABLE: Abilities =
    Abilities { preempts: true, same_processors: true, picks_processors: true, ..Abilities::PLAIN };

/// Takes the parameters of the slices.
pub(super) fn options(named: &mut Named) -> Result<ScojoPectOptions, NamedError> {
    let mut options = ScojoPectOptions::default();
    let name = named.name.clone();
    let bad = |key: &str, value: &str, expected: &str| NamedError::bad_value(&name, key, value, expected);
    if let Some(text) = named.take::<String>(CLASS_BOUNDS.key, "times")? {
        let expected = "two times in ascending order with a slash between them, such as `10 min/3 h`";
        let bounds: Option<[Span; CLASSES - 1]> = parts(&text, |part| part.parse().ok());
        let bounds = bounds.filter(|[medium, long]| Span::ZERO < *medium && medium < long);
        options.bounds = bounds.ok_or_else(|| bad(CLASS_BOUNDS.key, &text, expected))?;
    }
    let mut usual = None;
    if let Some(text) = named.take::<String>(SHARES.key, "shares")? {
        let expected = "three shares with slashes between them, such as `0.5%/26.5%/73%`";
        options.shares = shares(&text).ok_or_else(|| bad(SHARES.key, &text, expected))?;
        sum_to_one(options.shares)
            .map_err(|sum| bad(SHARES.key, &text, &format!("100 % together: these are {sum} %")))?;
        usual = Some(text);
    }
    if let Some(text) = named.take::<String>(BY_HOUR.key, "shares by the hour")?.filter(|text| text != "none")
    {
        let by_hour = SharesByHour::read(&text).map_err(|expected| bad(BY_HOUR.key, &text, &expected))?;
        if let Some(usual) = usual.filter(|_| by_hour.says_all()) {
            let expected = format!("needed: `{}` has shares for each hour", BY_HOUR.key);
            return Err(bad(SHARES.key, &usual, &expected));
        }
        options.by_hour = Some(by_hour);
    }
    let time = "a time above 0, such as `60 s`";
    let of = |named: &mut Named, key: &str, default: Span| {
        Ok::<_, NamedError>(named.take_within(key, Span::TICK.., time)?.unwrap_or(default))
    };
    options.cycle = of(named, CYCLE.key, options.cycle)?;
    let none = "a time, such as `60 s`, or `0 s`";
    options.switch = named.take_within(SWITCH.key, Span::ZERO.., none)?.unwrap_or(options.switch);
    options.floor = of(named, FLOOR.key, options.floor)?;
    let floor = format!("{} s", options.floor);
    if options.floor <= options.switch {
        let expected = format!("above `switch`, {} s, which is lost of each slice", options.switch);
        return Err(bad(FLOOR.key, &floor, &expected));
    }
    if options.floor.micros() > options.cycle.micros() / CLASSES as u64 {
        let expected = format!("at most a third of `cycle`, which is {} s", options.cycle);
        return Err(bad(FLOOR.key, &floor, &expected));
    }
    let truths = [("true", true), ("false", false)];
    options.smart = named.take_choice(SMART.key, &truths)?.unwrap_or(options.smart);
    let kinds = [("conservative", false), ("easy", true)];
    options.easy = named.take_choice(BACKFILL.key, &kinds)?.unwrap_or(options.easy);
    let jobs = "a number of jobs, from 1 to 4294967295";
    options.lookahead = named.take_within(LOOKAHEAD.key, 1.., jobs)?.unwrap_or(options.lookahead);
    let search = |prunes| Some(DiscrepancyOptions { prunes, ..DiscrepancyOptions::default() });
    let orders = [("fcfs", None), ("dds-lxf-dynb", search(false)), ("discrepancy", search(true))];
    options.search = named.take_choice(ORDER.key, &orders)?.unwrap_or(options.search);
    Ok(options)
}
