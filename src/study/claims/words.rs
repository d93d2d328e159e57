//! Verdicts in words: what was measured, what decides, and what is missing.

use super::judge::{ERROR, JudgedPoint, ORDINARY, Says, Verdict};
use super::several::{by_place, counted_so};
use super::{Claim, Expects};
use crate::study::statistics::Evidence;
use crate::units::{counted, unsigned_zero};

/// A judged claim, of which something is to be said.
pub(super) struct Reading<'a> {
    pub(super) claim: &'a Claim,
    pub(super) verdict: Verdict,
    pub(super) points: &'a [JudgedPoint],
}

impl Reading<'_> {
    /// The points with this result.
    fn that(&self, wanted: impl Fn(Says) -> bool) -> Vec<&JudgedPoint> {
        self.points.iter().filter(|point| wanted(point.says)).collect()
    }

    /// True if all points are steps of one row: of measures in the same runs, or of one measure along an axis.
    fn is_one_row(&self) -> bool {
        let claim = self.claim;
        match claim.along.as_ref().and_then(|axis| claim.of.get(axis)) {
            Some(labels) => {
                claim.measures.len() == 1 && self.points.len() < labels.len() && claim.gain_over.is_empty()
            }
            None => self.points.len() < claim.measures.len(),
        }
    }

    /// The measurements, in a line.
    pub(super) fn measured(&self) -> String {
        let with_mean: Vec<&JudgedPoint> = self.that(|says| says != Says::NoMean);
        let text = match self.claim.expects {
            Expects::Value { published, .. }
            | Expects::AtLeast { published, .. }
            | Expects::AtMost { published, .. }
            | Expects::Shown { published: Some(published) } => {
                each(&with_mean, |point| {
                    // A figure that differs must not be rounded to the published one.
                    let more = if point.says == Says::Fails { 2 } else { 0 };
                    Some(figure(point.of?, decimals(published) + more))
                })
            }
            Expects::Table => {
                let value = |point: &&JudgedPoint| {
                    let (published, _) = *self.claim.values.get(point.measure)?;
                    let places = decimals(published);
                    let same = figure(point.of?, places) == figure(published, places);
                    let more = if same && point.says == Says::Fails { 2 } else { 0 };
                    Some(figure(point.of?, places + more))
                };
                with_mean.iter().filter_map(value).collect::<Vec<_>>().join(", ")
            }
            Expects::Shown { published: None } => each(&with_mean, |point| Some(figure(point.of?, 4))),
            Expects::UpTo { .. } => each(&with_mean, |point| match point.interval {
                Some((low, high)) => Some(format!("{} in 95 of 100 seeds", range(low, high))),
                None => Some(share(point.of?)),
            }),
            Expects::Falling | Expects::Rising if self.is_one_row() => {
                let means = self.points.first().and_then(|point| point.than).into_iter();
                let means = means.chain(self.points.iter().filter_map(|point| point.of));
                means.map(|mean| figure(mean, 2)).collect::<Vec<_>>().join(", ")
            }
            _ if !self.claim.gain_over.is_empty() => gains(&with_mean),
            _ => differences(&with_mean),
        };
        if text.is_empty() { "-".to_owned() } else { text }
    }
}

/// The changes of some points: `-1.2 to -5.3 % at 6 points (52 to 78 % of seeds)`.
fn differences(points: &[&JudgedPoint]) -> String {
    let span = |values: Vec<f64>| {
        let low = values.iter().copied().reduce(f64::min)?;
        Some((low, values.iter().copied().reduce(f64::max)?))
    };
    let changes = span(points.iter().filter_map(|point| change(point)).collect());
    let Some((low, high)) = changes else {
        // Against a mean of zero there is no share.
        return each(points, |point| {
            Some(format!("{} against {}", figure(point.of?, 1), figure(point.than?, 1)))
        });
    };
    let [one, other] = [low, high].map(share);
    let mut text = if one == other { one } else { range(low, high) };
    if points.len() > 1 {
        text += &format!(" at {} points", points.len());
    }
    let agree = points.iter().filter_map(|point| Some(percent(point.pairs_so?, point.n)));
    if let Some((least, most)) = span(agree.map(|share| share as f64).collect()) {
        let seeds = if least == most { format!("{least}") } else { format!("{least} to {most}") };
        text += &format!(" ({seeds} % of seeds)");
    }
    text
}

/// Gains against others: `+3.0 to +12.0 % against +5.0 to +40.0 % at 6 points`.
fn gains(points: &[&JudgedPoint]) -> String {
    let span = |values: Vec<f64>| {
        let low = values.iter().copied().reduce(f64::min)?;
        let high = values.iter().copied().reduce(f64::max)?;
        Some(if low == high { share(low) } else { range(low, high) })
    };
    let of = span(points.iter().filter_map(|point| point.of).collect());
    let than = span(points.iter().filter_map(|point| point.than).collect());
    let several = if points.len() > 1 { format!(" at {} points", points.len()) } else { String::new() };
    of.zip(than).map_or_else(String::new, |(of, than)| format!("gains {of} against {than}{several}"))
}

/// The interval of the point that decides, or the tail probability of a printed gain.
pub(super) fn deciding(reading: &Reading<'_>) -> String {
    let claim = reading.claim;
    if let Expects::UpTo { .. } = claim.expects {
        let points: Vec<&JudgedPoint> = reading.points.iter().collect();
        return each(&points, |point| {
            let (tail, high) = (point.tail?, point.pairs_so?);
            Some(format!("p = {}: {high} of {} as high", probability(tail), point.n))
        });
    }
    if claim.on_this_log {
        let decided =
            |point: &JudgedPoint| matches!(point.says, Says::Holds | Says::NoDifference | Says::Fails);
        return if reading.points.iter().any(decided) { "this log" } else { "" }.to_owned();
    }
    if reading.points.iter().any(|point| point.says == Says::Holds && point.n == 1 && point.weeks.is_none()) {
        return "exact".to_owned();
    }
    let decides = match reading.verdict {
        Verdict::Holds => Says::Holds,
        Verdict::Fails => Says::Fails,
        Verdict::NoDifference => Says::NoDifference,
        _ => Says::Open,
    };
    // Of several the one that speaks least for the claim.
    let least = reading.points.iter().filter(|point| point.says == decides && point.interval.is_some());
    let least = least.min_by(|one, other| margin(claim, one).total_cmp(&margin(claim, other)));
    let Some((point, (low, high))) = least.and_then(|point| Some((point, point.interval?))) else {
        return String::new();
    };
    let interval = match claim.range(point.measure) {
        Some((published, _)) => {
            let [low, high] = [low, high].map(|end| figure(end, decimals(published) + 1));
            format!("{low} to {high}")
        }
        None => range(low, high),
    };
    let from = point.weeks.map_or_else(String::new, |weeks| format!(", {}", counted(weeks, "week")));
    match point.at.as_str() {
        "" => format!("{interval}{}", from.replacen(", ", " of ", 1)),
        at => format!("{interval} ({at}{from})"),
    }
}

/// How far a point is on the claimed side, as a share of `than`.
fn margin(claim: &Claim, point: &JudgedPoint) -> f64 {
    let change = change(point).unwrap_or(0.0);
    match claim.expects {
        Expects::Below | Expects::Falling => -change,
        Expects::Above | Expects::Rising => change,
        Expects::Change { from, to } => {
            let from = from.map_or(f64::INFINITY, |from| change - from);
            to.map_or(f64::INFINITY, |to| to - change).min(from)
        }
        _ => 0.0,
    }
}

/// Where a claim fails, or what is missing.
pub(super) fn reason(reading: &Reading<'_>) -> String {
    let all = reading.points.len();
    let at = |points: &[&JudgedPoint]| match points.len() {
        0 => String::new(),
        _ if all == 1 => String::new(),
        several if several == all => format!("at all {all} points"),
        _ => format!("at {}", places(points)),
    };
    let mut parts = Vec::new();
    if reading.claim.at_least.is_some() && !reading.points.is_empty() {
        parts.push(counted_so(reading.points));
    }
    match reading.verdict {
        Verdict::Fails | Verdict::NoDifference if reading.claim.at_least.is_some() => {}
        Verdict::Fails => parts.push(at(&reading.that(|says| says == Says::Fails))),
        Verdict::NoDifference => parts.push(at(&reading.that(|says| says == Says::NoDifference))),
        Verdict::Undecided => parts.extend(missing(reading, &at)),
        Verdict::NotComparable => parts.extend(reading.claim.not_comparable.clone()),
        Verdict::Shown => {
            let several = reading.claim.best.as_ref().and_then(|axis| reading.claim.of.get(axis));
            parts.push(format!("the best of {} is chosen afterwards", several.map_or(0, Vec::len)));
        }
        Verdict::Holds => {}
    }
    let noted = reading.points.iter().filter(|point| point.says != Says::NoMean);
    parts.extend(noted.filter_map(|point| Some(located(point, point.note.as_deref()?))));
    parts.retain(|part| !part.is_empty());
    parts.join("; ")
}

/// What an undecided claim lacks.
fn missing(reading: &Reading<'_>, at: &dyn Fn(&[&JudgedPoint]) -> String) -> Vec<String> {
    let mut parts = Vec::new();
    let gain = matches!(reading.claim.expects, Expects::UpTo { .. });
    let open = reading.that(|says| says == Says::Open);
    if !open.is_empty() && gain {
        parts.push("a rare gain, not ruled out; missing: more printed runs".to_owned());
    } else if !open.is_empty() {
        let needed = open.iter().filter_map(|point| needed(reading.claim, point)).max();
        let unit =
            if open.iter().any(|point| point.weeks.is_some()) { "weeks of such a log" } else { "seeds" };
        let missing = needed.map_or_else(|| unit.to_owned(), |count| format!("about {count} {unit}"));
        let place = at(&open);
        let place = if place.is_empty() { String::new() } else { format!("{place}; ") };
        parts.push(format!("{place}missing: {missing}"));
    }
    let few = reading.that(|says| says == Says::Few);
    if let Some(point) = few.first() {
        let (have, needs) = match point.weeks {
            Some(weeks) => (counted(weeks, "week"), Evidence::VERDICT),
            None if gain => (counted(point.n, "seed"), (2.0 / ERROR) as usize),
            None => (counted(point.n, "seed"), Evidence::VERDICT),
        };
        parts.push([at(&few), format!("{have}, and a verdict needs {needs}")].join(" ").trim().to_owned());
    }
    let runs = reading.that(|says| matches!(says, Says::OneRun(_)));
    if !runs.is_empty() {
        let so = runs.iter().filter(|point| point.says == Says::OneRun(true)).count();
        let so = match (so, runs.len()) {
            (1, 1) => "it is so in this run".to_owned(),
            (0, 1) => "it is not so in this run".to_owned(),
            (so, all) => format!("it is so at {so} of {all} points"),
        };
        parts.push(format!("one log, one run; missing: an interval; {so}"));
    }
    for point in reading.that(|says| says == Says::NoMean) {
        let why = point.note.as_deref().unwrap_or("no run has a value");
        let at = if point.at.is_empty() { String::new() } else { format!(" at {}", point.at) };
        parts.push(format!("missing: a mean{at} ({why})"));
    }
    parts
}

/// About as many seeds, or weeks, as would decide an open point if the difference is what it seems: an interval shrinks with the
/// root of their number. Two digits.
fn needed(claim: &Claim, point: &JudgedPoint) -> Option<u64> {
    let (low, high) = point.interval?;
    let (middle, half) = (f64::midpoint(low, high), (high - low) / 2.0);
    let n = point.weeks.unwrap_or(point.n) as f64;
    let limits = match claim.expects {
        Expects::Change { from, to } => [from, to],
        _ if claim.expects.is_order() => [Some(0.0), None],
        _ => return None,
    };
    let far = limits.into_iter().flatten().map(|limit| (middle - limit).abs());
    let within = claim.no_difference.map(|d| d - middle.abs()).filter(|room| *room > 0.0);
    let far = match claim.expects.is_order() {
        true => far.chain(within).fold(0.0, f64::max),
        false => far.fold(f64::INFINITY, f64::min),
    };
    let count = n * (half / far) * (half / far);
    if !(1.0..=1e12).contains(&count) {
        return None;
    }
    let digit = 10_u64.pow((count as u64).ilog10().saturating_sub(1));
    Some((count / digit as f64).ceil() as u64 * digit)
}

/// `load 0.8, 0.9`, or whole names where they differ in more than the last word. Of several measures those of each point: `load 0.8: vs_seq, vs_n`.
fn places(points: &[&JudgedPoint]) -> String {
    if points.iter().any(|point| !point.of_measure.is_empty()) {
        let of_place = |(place, points): (&str, Vec<&JudgedPoint>)| {
            let names: Vec<&str> = points.iter().map(|point| point.of_measure.as_str()).collect();
            let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
            format!("{place}{}", names.join(", "))
        };
        return by_place(points.iter().copied()).into_iter().map(of_place).collect::<Vec<_>>().join("; ");
    }
    let parts: Vec<(&str, &str)> = points.iter().filter_map(|point| point.at.rsplit_once(' ')).collect();
    match parts.first() {
        Some((axis, _)) if parts.len() == points.len() && parts.iter().all(|(other, _)| other == axis) => {
            let labels: Vec<&str> = parts.iter().map(|(_, label)| *label).collect();
            format!("{axis} {}", labels.join(", "))
        }
        _ => points.iter().map(|point| point.at.as_str()).collect::<Vec<_>>().join("; "),
    }
}

/// A text about a point, which is named unless nothing varies.
fn located(point: &JudgedPoint, text: &str) -> String {
    if point.at.is_empty() { text.to_owned() } else { format!("{}: {text}", point.at) }
}

fn each(points: &[&JudgedPoint], text: impl Fn(&JudgedPoint) -> Option<String>) -> String {
    let all: Vec<(&JudgedPoint, String)> =
        points.iter().filter_map(|point| Some((*point, text(point)?))).collect();
    match all.first() {
        // The same number again and again is said once.
        Some((_, one)) if all.len() > 3 && all.iter().all(|(_, text)| text == one) => {
            format!("{one} at {} points", all.len())
        }
        _ => all.iter().map(|(point, text)| located(point, text)).collect::<Vec<_>>().join("; "),
    }
}

/// The change from `than` to `of`, as a share of `than`.
fn change(point: &JudgedPoint) -> Option<f64> {
    Some(point.of? / point.than? - 1.0).filter(|change| change.is_finite())
}

fn figure(value: f64, places: usize) -> String {
    unsigned_zero(format!("{value:.places$}"))
}

/// As many decimals as a published number has.
fn decimals(value: f64) -> usize {
    let text = value.to_string();
    text.split_once('.').map_or(0, |(_, fraction)| fraction.len())
}

/// A share in percent, with two decimals where one would be nothing.
fn share(value: f64) -> String {
    let places = if value.abs() < 0.001 { 2 } else { 1 };
    unsigned_zero(format!("{:+.places$} %", value * 100.0))
}

/// `-3.0 to -1.2 %`, with two decimals where one would not tell the ends from zero or from each other.
fn range(low: f64, high: f64) -> String {
    let fine = [low, high].iter().any(|end| end.abs() < 0.001) || (high - low).abs() < 0.002;
    let places = if fine { 2 } else { 1 };
    let [low, high] = [low, high].map(|end| unsigned_zero(format!("{:+.places$}", end * 100.0)));
    format!("{low} to {high} %")
}

/// A probability: three digits of a small one, and as many as keep it on its side of the thresholds.
fn probability(p: f64) -> String {
    let least = if p >= 0.1 { 2 } else { 2 + (-libm::log10(p).floor()) as usize };
    let sides = |p: f64| [ERROR, ORDINARY].map(|threshold| p < threshold);
    let mut texts = (least..least + 8).map(|places| format!("{p:.places$}"));
    let kept = |text: &String| text.parse().is_ok_and(|shown| sides(shown) == sides(p));
    texts.find(kept).unwrap_or_else(|| p.to_string())
}

/// A share in whole percent: 0 means none, and 100 means all.
fn percent(of: usize, all: usize) -> usize {
    let rounded = (200 * of + all) / (2 * all).max(1);
    if of == 0 || of == all { rounded } else { rounded.clamp(1, 99) }
}
