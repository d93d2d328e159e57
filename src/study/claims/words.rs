//! Verdicts in words: the measurements, and why a point does not hold.

use super::judge::{JudgedPoint, is_sign};
use super::{Claim, Expects};
use crate::study::statistics::Evidence;
use crate::units::{counted, unsigned_zero};

/// Why an order in one run of one log is no verdict, and how often it occurs there: each point on the axes is a run of
/// its own (or one on each side), and the steps of a row at one point are steps of one run.
pub(super) fn one_run(claim: &Claim, points: &[&JudgedPoint]) -> String {
    let so = points.iter().filter(|point| point.in_this_run == Some(true)).count();
    let steps = matches!(claim.expects, Expects::Falling | Expects::Rising).then(|| claim.measures.len() - 1);
    let there = match (so, points.len(), steps) {
        (1, 1, _) => "it is so in this run".to_owned(),
        (0, 1, _) => "it is not so in this run".to_owned(),
        (so, all, Some(steps)) if all <= steps => format!("it is so at {so} of {all} steps of this run"),
        (so, all, Some(_)) => format!("it is so at {so} of {all} steps, one run at each point"),
        (so, all, None) => format!("it is so at {so} of {all} points, one run each"),
    };
    format!("one log, one run: no interval; {there}")
}

/// Why a point fails or is undecided.
pub(super) fn why(claim: &Claim, point: &JudgedPoint) -> String {
    let seeds = counted(point.n, "seed");
    if point.few {
        return point.located(&format!("{seeds}, and a verdict needs {}", Evidence::VERDICT));
    }
    let share = matches!(claim.expects, Expects::Change { .. } | Expects::UpTo { .. });
    let shown = |value: f64| {
        unsigned_zero(match share {
            true => format!("{:+.1} %", value * 100.0),
            // Seconds need fewer digits than a share or a slowdown.
            false if value.abs() >= 100.0 => format!("{value:+.0}"),
            false => format!("{value:+.4}"),
        })
    };
    let interval = point.interval.map(|(low, high)| format!("{} to {}", shown(low), shown(high)));
    let why = match (interval, point.holds, claim.expects) {
        (Some(interval), Some(false), Expects::Value { .. }) => format!("the interval is {interval}"),
        (Some(interval), Some(false), _) => format!("it is {interval}"),
        (Some(interval), ..) if is_sign(claim) => {
            let p = point.adjusted_p.map_or_else(String::new, |p| format!(", p {p:.4} after Holm"));
            format!("the difference is {interval} by itself{p}")
        }
        (Some(_), None, Expects::UpTo { .. }) => {
            let above = point.pairs_so.unwrap_or(0);
            match above.min(point.n - above) {
                0 => format!("it is beyond all {seeds}, too few to rule it out"),
                out => format!("{out} of {seeds} are as far out, too few to rule it out"),
            }
        }
        (Some(interval), ..) => format!("the interval is {interval}"),
        (None, Some(false), Expects::Value { published, .. }) if let Some(of) = point.of => {
            format!("{} off", unsigned_zero(format!("{:+.4}", of - published)))
        }
        (None, Some(false), _) => "it does not".to_owned(),
        _ => "too few runs".to_owned(),
    };
    point.located(&why)
}

fn figure(value: f64, places: usize) -> String {
    unsigned_zero(format!("{value:.places$}"))
}

/// As many decimals as a published number has; at least four where none is published.
fn decimals(value: f64) -> usize {
    let text = value.to_string();
    text.split_once('.').map_or(0, |(_, fraction)| fraction.len())
}

/// The measurements, in a line.
pub(super) fn measured_text(claim: &Claim, points: &[JudgedPoint]) -> String {
    let each = |text: &dyn Fn(&JudgedPoint) -> Option<String>| {
        let all = points.iter().filter_map(|point| Some(point.located(&text(point)?)));
        let all = all.collect::<Vec<_>>().join("; ");
        if all.is_empty() { "-".to_owned() } else { all }
    };
    match claim.expects {
        Expects::Value { published, .. } | Expects::Shown { published: Some(published) } => {
            // A figure that differs must not be rounded to the published one.
            let more = |point: &JudgedPoint| if point.holds == Some(false) { 2 } else { 0 };
            each(&|point| point.of.map(|of| figure(of, decimals(published) + more(point))))
        }
        Expects::UpTo { .. } => each(&|point| {
            let mean = unsigned_zero(format!("{:+.2}", point.of? * 100.0));
            let Some((low, high)) = point.interval else { return Some(format!("{mean} %")) };
            let [low, high] = [low, high].map(|share| unsigned_zero(format!("{:+.1}", share * 100.0)));
            let so =
                point.pairs_so.map_or_else(String::new, |so| format!("; as high in {so} of {}", point.n));
            Some(format!("{mean} % on average, {low} to {high} % in 95 of 100 seeds{so}"))
        }),
        Expects::Shown { published: None } => each(&|point| point.of.map(|of| figure(of, 4))),
        Expects::Below | Expects::Above | Expects::Change { .. } => each(&|point| {
            let (of, than) = (point.of?, point.than?);
            let change = match than == 0.0 {
                true => format!("{} against 0", figure(of, 1)),
                false => unsigned_zero(format!("{:+.1} %", (of / than - 1.0) * 100.0)),
            };
            let so =
                point.pairs_so.map_or_else(String::new, |so| format!(" (so in {so} of {} seeds)", point.n));
            Some(change + &so)
        }),
        Expects::Falling | Expects::Rising => row(points),
    }
}

/// A short text about several points; `None` for one.
pub(super) fn brief(claim: &Claim, points: &[JudgedPoint]) -> Option<String> {
    let judged: Vec<&JudgedPoint> = points.iter().filter(|point| point.counts).collect();
    let share = |point: &&JudgedPoint| Some((point.of? / point.than? - 1.0) * 100.0);
    match claim.expects {
        Expects::Falling | Expects::Rising => {
            let steps = claim.measures.len() - 1;
            let holding =
                judged.iter().filter(|point| point.holds.or(point.in_this_run) == Some(true)).count();
            (points.len() > steps).then(|| format!("{holding} of {} steps", judged.len()))
        }
        _ if judged.len() < 2 => None,
        Expects::Below | Expects::Above | Expects::Change { .. } => {
            let shares: Vec<f64> = judged.iter().filter_map(share).collect();
            let (low, high) =
                (shares.iter().copied().reduce(f64::min)?, shares.iter().copied().reduce(f64::max)?);
            let [low, high] = [low, high].map(|share| unsigned_zero(format!("{share:+.1}")));
            let range = format!("{low} to {high} % at {} points", shares.len());
            let so: Vec<usize> =
                judged.iter().filter_map(|point| Some(percent(point.pairs_so?, point.n))).collect();
            Some(match (so.iter().min(), so.iter().max()) {
                (Some(least), Some(most)) => format!("{range}, so in {least} to {most} % of seeds"),
                _ => range,
            })
        }
        _ => None,
    }
}

/// A share in whole percent: 0 means none, and 100 means all.
fn percent(of: usize, all: usize) -> usize {
    let rounded = (200 * of + all) / (2 * all).max(1);
    if of == 0 || of == all { rounded } else { rounded.clamp(1, 99) }
}

/// The means of a row that should fall or rise, point by point: `load 0.4: 2.60, 1.26, 1.13`.
fn row(points: &[JudgedPoint]) -> String {
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    for point in points {
        let at = point.at.rsplit_once(", ").map_or("", |(at, _)| at).to_owned();
        let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| figure(value, 2));
        match rows.last_mut().filter(|(same, _)| *same == at) {
            Some((_, values)) => values.push(shown(point.of)),
            None => rows.push((at, vec![shown(point.than), shown(point.of)])),
        }
    }
    let texts = rows.into_iter().map(|(at, values)| {
        if at.is_empty() { values.join(", ") } else { format!("{at}: {}", values.join(", ")) }
    });
    texts.collect::<Vec<_>>().join("; ")
}
