//! Reading bounds of a user's own.

use super::axis::Axis;
use super::{ClassError, EstimateBound, JobClasses, SizeBound};
use crate::model::Named;
use crate::units::Span;

/// The keys of `cuts`.
const KEYS: [&str; 7] = ["run", "size", "estimates", "run-names", "size-names", "estimate-names", "bounds"];

/// `cuts[run=BOUND/…,size=BOUND/…,estimates=BOUND/…,run-names=NAME/…,size-names=NAME/…,estimate-names=NAME/…,bounds=inclusive|exclusive]`:
/// upper bounds of run times as durations, of sizes as processors or percents of the machine (`10%`), and of estimates in run times
/// (`2`, `1.5`), and, if they shall have names, one more name than bounds.
pub(super) fn read(written: &str) -> Result<JobClasses, ClassError> {
    let wrong = |problem: String| ClassError::Cuts { written: written.to_owned(), problem };
    let mut named: Named = written.parse()?;
    let name = named.to_string();
    let mut text = |key: &str, expected: &str| named.take::<String>(key, expected);
    let [runs, sizes, estimates] =
        [text("run", "durations")?, text("size", "sizes")?, text("estimates", "numbers")?];
    let [run_names, size_names, estimate_names] =
        [text("run-names", "names")?, text("size-names", "names")?, text("estimate-names", "names")?];
    let inclusive =
        named.take_choice("bounds", &[("inclusive", true), ("exclusive", false)])?.unwrap_or(true);
    named.finish(&KEYS)?;
    if runs.is_none() && sizes.is_none() && estimates.is_none() {
        return Err(wrong("bounds are missing; give `run`, `size` or `estimates`, or several".to_owned()));
    }
    let mut runs = bounds(runs.as_deref(), |bound| bound.parse::<Span>().map_err(|error| error.to_string()))
        .map_err(wrong)?;
    // A bare number means seconds, as everywhere; the name of a class shows the unit.
    for (text, _) in runs.iter_mut().filter(|(text, _)| text.ends_with(|end: char| end.is_ascii_digit())) {
        text.push('s');
    }
    let sizes = bounds(sizes.as_deref(), size).map_err(wrong)?;
    let estimates = bounds(estimates.as_deref(), run_times).map_err(wrong)?;
    // Which of a number and a share is larger depends on the machine; the first that holds a job applies.
    let rise = |pair: &[(String, SizeBound)]| match (pair[0].1, pair[1].1) {
        (SizeBound::Processors(low), SizeBound::Processors(high)) => low < high,
        (SizeBound::Percent(low), SizeBound::Percent(high)) => low < high,
        _ => true,
    };
    let all_rise = [
        ("run", runs.windows(2).all(|pair| pair[0].1 < pair[1].1)),
        ("size", sizes.windows(2).all(rise)),
        ("estimates", estimates.windows(2).all(|pair| pair[0].1 < pair[1].1)),
    ];
    if let Some((key, _)) = all_rise.iter().find(|(_, rises)| !rises) {
        return Err(wrong(format!("the bounds of `{key}` must rise")));
    }
    // The comparison signs in the names of the classes below and above a bound.
    let signs = if inclusive { ("<=", ">") } else { ("<", ">=") };
    let times = labelled(runs, run_names.as_deref(), signs, "", "run-names").map_err(wrong)?;
    let sizes = labelled(sizes, size_names.as_deref(), ("<=", ">"), "p", "size-names").map_err(wrong)?;
    let estimates =
        labelled(estimates, estimate_names.as_deref(), ("<=", ">"), "x", "estimate-names").map_err(wrong)?;
    let classes = JobClasses { name, times, sizes, estimates, inclusive };
    if classes.count() > 256 {
        return Err(wrong(format!("these are {} classes; the most is 256", classes.count())));
    }
    Ok(classes)
}

fn size(bound: &str) -> Result<SizeBound, String> {
    let (number, percent) = bound.strip_suffix('%').map_or((bound, false), |number| (number.trim(), true));
    let number: u32 = number.parse().map_err(|_| {
        format!("`{bound}` is not a size; write a number of processors or a percentage such as `10%`")
    })?;
    match number {
        0 => Err(format!("no job is as small as `{bound}`: the class would be empty")),
        101.. if percent => Err(format!("`{bound}` is more than a machine has")),
        _ if percent => Ok(SizeBound::Percent(number)),
        _ => Ok(SizeBound::Processors(number)),
    }
}

/// A bound of estimates: a decimal above 0 with up to six places, exactly.
fn run_times(bound: &str) -> Result<EstimateBound, String> {
    const PLACES: usize = 6;
    let wrong =
        || format!("`{bound}` is not a bound of estimates; write how many run times, such as `2` or `1.5`");
    let (whole, decimals) = bound.split_once('.').unwrap_or((bound, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    if !digits(whole) || !digits(decimals) {
        return Err(wrong());
    }
    if decimals.len() > PLACES {
        return Err(format!("`{bound}` has more than {PLACES} decimals"));
    }
    match format!("{whole}{decimals:0<PLACES$}").parse().map_err(|_| wrong())? {
        0 => Err(format!("no estimate is as short as `{bound}` run times: the class would be empty")),
        millionths => Ok(EstimateBound(millionths)),
    }
}

/// The bounds between slashes, each with its text without blanks.
fn bounds<T>(
    written: Option<&str>,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<(String, T)>, String> {
    let bounds = written.into_iter().flat_map(|bounds| bounds.split('/')).map(str::trim);
    bounds.map(|bound| Ok((bound.replace(' ', ""), read(bound)?))).collect()
}

/// The axis with these bounds and `names`, which are those of the key `key`; without names, classes are named by their bounds, with the
/// signs for within and beyond one.
fn labelled<T>(
    bounds: Vec<(String, T)>,
    names: Option<&str>,
    (within, beyond): (&str, &str),
    unit: &str,
    key: &str,
) -> Result<Axis<T>, String> {
    let Some(names) = names else {
        let unit = |text: &str| if text.ends_with('%') { "" } else { unit };
        let last = bounds.last().map(|(text, _)| format!("{beyond}{text}{}", unit(text)));
        let named = bounds.into_iter().map(|(text, bound)| (format!("{within}{text}{}", unit(&text)), bound));
        return Ok(Axis { bounds: named.collect(), last: last.unwrap_or_default() });
    };
    let names: Vec<&str> = names.split('/').map(str::trim).collect();
    if names.len() != bounds.len() + 1 {
        let (names, classes) = (names.len(), bounds.len() + 1);
        return Err(format!("{names} names for {classes} classes: one more than there are bounds"));
    }
    let mut sorted = names.clone();
    sorted.sort_unstable();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("`{key}` has `{}` twice", pair[0]));
    }
    let last = names[bounds.len()].to_owned();
    let bounds = names.into_iter().zip(bounds).map(|(name, (_, bound))| (name.to_owned(), bound)).collect();
    Ok(Axis { bounds, last })
}
