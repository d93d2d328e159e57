//! Selective suspension and its tunable form by name, and their parameters.

use super::{Limit, Selective, SelectiveOptions, WidthRule};
use crate::local::policies::preemptive::{Dropped, Factor, Margin, PLACEMENT, Placing, RESTART};
use crate::local::{Built, PolicyInfo};
use crate::model::{Named, NamedError, ParamInfo};
use crate::units::Span;

const FACTOR: ParamInfo = ParamInfo {
    key: "factor",
    values: "1 or more, at most 6 decimal places",
    default: "2",
    doc: "the suspension factor SF: how many times the expansion factor of a running job that of an idle job must be to preempt it",
};

const EVERY: ParamInfo = ParamInfo {
    key: "every",
    values: "a time above 0",
    default: "60 s",
    doc: "the preemption routine runs at multiples of this",
};

const COMPARE: ParamInfo = ParamInfo {
    key: "compare",
    values: "above or at-least",
    default: "above",
    doc: "preempting takes more than SF times the expansion factor (the formula of section 3.3), or at least that (the text of section 3.2)",
};

const WIDTH: ParamInfo = ParamInfo {
    key: "width",
    values: "told, printed or none",
    default: "told",
    doc: "a job may preempt one that has at most twice its processors (the text of section 3.2), one that has more than half of them (the formula of section 3.3), or any",
};

const REENTRY_WIDTH: ParamInfo = ParamInfo {
    key: "reentry_width",
    values: "true or false",
    default: "true",
    doc: "whether that holds for suspended jobs too",
};

const DROP: ParamInfo = ParamInfo {
    key: "drop",
    values: "largest, smallest or last",
    default: "largest",
    doc: "victims are taken in ascending order of expansion factor until they are enough; of superfluous ones these go on running first",
};

const MIN_GAIN: ParamInfo = ParamInfo {
    key: "min_gain",
    values: "a number of processors, or none",
    default: "none",
    doc: "a job preempts only if its processors, less those of its victims, are so many: with 0, not fewer are in use after it than before",
};

const LIMIT: ParamInfo = ParamInfo {
    key: "limit",
    values: "a decimal number above 0, or none",
    default: "none",
    doc: "a running job is not preempted if its expansion factor is more than so many times the average slowdown of its category",
};

const AVERAGE: ParamInfo = ParamInfo {
    key: "average",
    values: "running, or 16 average slowdowns with slashes between them",
    default: "running",
    doc: "the averages for `limit`: of the jobs that have finished in this partition, each counted in the category of its actual run time (1 as long as none has), or given, in the order VS Seq, VS N, VS W, VS VW, S Seq, ..., VL VW",
};

pub(in crate::local::policies) fn info() -> PolicyInfo {
    PolicyInfo::new("ss", build)
        .doc("Selective suspension: the idle job with the largest expansion factor that fits starts, without reservations; every minute an idle job may suspend running jobs whose expansion factors are less than its own by the suspension factor. A suspended job resumes on the processors that it had.")
        .source("Kettimuthu 2003, chapter 3")
        .params(&[FACTOR, EVERY, COMPARE, WIDTH, REENTRY_WIDTH, DROP, MIN_GAIN, PLACEMENT, RESTART, LIMIT, AVERAGE])
        .alias("tss", &[(LIMIT.key, "1.5")], "Tunable selective suspension: a job that has waited long for its category is not suspended any more.")
}

fn build(named: &mut Named) -> Result<Built, NamedError> {
    let bad = |named: &Named, key: &str, value: &str, expected: &str| {
        NamedError::bad_value(&named.name, key, value, expected)
    };
    let mut options = SelectiveOptions::default();
    let number = "a decimal number from 1 to 999999 with at most 6 places";
    if let Some(factor) = named.take_within(FACTOR.key, Factor::whole(1).., number)? {
        options.margin.factor = factor;
    }
    let strict = named.take_choice(COMPARE.key, &[("above", true), ("at-least", false)])?;
    options.margin = Margin { strict: strict.unwrap_or(options.margin.strict), ..options.margin };
    if let Some(every) = named.take_within(EVERY.key, Span::TICK.., "a time above 0, such as `60 s`")? {
        options.every = every;
    }
    options.width = named.take_choice(WIDTH.key, &WidthRule::NAMES)?.unwrap_or_default();
    let reentry_width = named.take_choice(REENTRY_WIDTH.key, &[("true", true), ("false", false)])?;
    options.dropped = named.take_choice(DROP.key, &Dropped::NAMES)?.unwrap_or_default();
    let gain: Option<String> = named.take(MIN_GAIN.key, "a number")?;
    if let Some(gain) = gain.filter(|gain| gain != "none") {
        let expected = "a number of processors, such as 0, or `none`";
        let read = gain.parse::<i32>().map_err(|_| bad(named, MIN_GAIN.key, &gain, expected))?;
        options.min_gain = Some(read.into());
    }
    options.placing = Placing::take(named)?;
    if let Some(reentry_width) = reentry_width {
        let unused = match (options.width, options.placing.anywhere) {
            (WidthRule::None, _) => Some("of use with `width=none`"),
            (_, true) => {
                Some("of use with `restart=anywhere`: a suspended job is like one that has not started then")
            }
            _ => None,
        };
        if let Some(expected) = unused {
            return Err(bad(named, REENTRY_WIDTH.key, &reentry_width.to_string(), expected));
        }
        options.reentry_width = reentry_width;
    }
    let limit: Option<String> = named.take(LIMIT.key, "a number")?;
    let average: Option<String> = named.take(AVERAGE.key, "a table")?;
    if let Some(limit) = limit.filter(|limit| limit != "none") {
        let expected = "a decimal number with at most 6 places, such as 1.5, or `none`";
        let factor: Factor = limit.parse().map_err(|_| bad(named, LIMIT.key, &limit, expected))?;
        if factor.as_millionths() == 0 {
            return Err(bad(named, LIMIT.key, &limit, "above 0: with 0 nothing is ever suspended"));
        }
        options.limit = Some(match average.filter(|average| average != "running") {
            None => Limit::running(factor),
            Some(table) => {
                Limit::given(factor, &table).map_err(|expected| bad(named, AVERAGE.key, &table, &expected))?
            }
        });
    } else if let Some(average) = average.filter(|average| average != "running") {
        return Err(bad(named, AVERAGE.key, &average, "of use without a `limit`, such as `limit=1.5`"));
    }
    let able = options.placing.abilities();
    Ok((Box::new(Selective::new(options)), able))
}
