//! Verdicts in words: the measurements, and why a point does not hold.

use super::judge::{JudgedPoint, is_sign};
use super::{Claim, Expects};
use crate::study::statistics::Evidence;
use crate::units::unsigned_zero;

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

/// A number with its noun: `1 seed`, `30 seeds`.
pub(super) fn counted_as(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Why a point fails or is undecided.
pub(super) fn told_point(claim: &Claim, point: &JudgedPoint) -> String {
    let at = if point.at.is_empty() { String::new() } else { format!("{}: ", point.at) };
    if point.few {
        return format!("{at}{}, and a verdict needs {}", counted_as(point.n, "seed"), Evidence::VERDICT);
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
    match (point.interval, point.holds) {
        (Some((low, high)), Some(false)) if !matches!(claim.expects, Expects::Value { .. }) => {
            format!("{at}it is {} to {}", shown(low), shown(high))
        }
        (Some((low, high)), _) if is_sign(claim) => {
            let p = point.adjusted_p.map_or_else(String::new, |p| format!(", p {p:.4} after Holm"));
            format!("{at}the difference is {} to {} by itself{p}", shown(low), shown(high))
        }
        (Some(_), None) if matches!(claim.expects, Expects::UpTo { .. }) => {
            let above = point.pairs_so.unwrap_or(0);
            match above.min(point.n - above) {
                0 => format!("{at}it is beyond all {}, too few to rule it out", counted_as(point.n, "seed")),
                out => format!(
                    "{at}{out} of {} are as far out, too few to rule it out",
                    counted_as(point.n, "seed")
                ),
            }
        }
        (Some((low, high)), _) => format!("{at}the interval is {} to {}", shown(low), shown(high)),
        (None, Some(false)) => match (claim.expects, point.of, point.than) {
            (Expects::Value { published, .. }, Some(of), _) => {
                format!("{at}{} off", unsigned_zero(format!("{:+.4}", of - published)))
            }
            _ => format!("{at}it does not"),
        },
        _ => format!("{at}too few runs"),
    }
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
pub(super) fn told(claim: &Claim, points: &[JudgedPoint]) -> String {
    let each = |told: &dyn Fn(&JudgedPoint) -> Option<String>| {
        let all: Vec<String> = points
            .iter()
            .filter_map(|point| {
                let told = told(point)?;
                Some(if point.at.is_empty() { told } else { format!("{}: {told}", point.at) })
            })
            .collect();
        if all.is_empty() { "-".to_owned() } else { all.join("; ") }
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
    let counted: Vec<&JudgedPoint> = points.iter().filter(|point| point.counts).collect();
    let share = |point: &&JudgedPoint| Some((point.of? / point.than? - 1.0) * 100.0);
    match claim.expects {
        Expects::Falling | Expects::Rising => {
            let steps = claim.measures.len() - 1;
            let holding =
                counted.iter().filter(|point| point.holds.or(point.in_this_run) == Some(true)).count();
            (points.len() > steps).then(|| format!("{holding} of {} steps", counted.len()))
        }
        _ if counted.len() < 2 => None,
        Expects::Below | Expects::Above | Expects::Change { .. } => {
            let shares: Vec<f64> = counted.iter().filter_map(share).collect();
            let (low, high) =
                (shares.iter().copied().reduce(f64::min)?, shares.iter().copied().reduce(f64::max)?);
            let [low, high] = [low, high].map(|share| unsigned_zero(format!("{share:+.1}")));
            let told = format!("{low} to {high} % at {} points", shares.len());
            let so: Vec<usize> =
                counted.iter().filter_map(|point| Some(percent(point.pairs_so?, point.n))).collect();
            Some(match (so.iter().min(), so.iter().max()) {
                (Some(least), Some(most)) => format!("{told}, so in {least} to {most} % of seeds"),
                _ => told,
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
    let told = rows.into_iter().map(|(at, values)| {
        if at.is_empty() { values.join(", ") } else { format!("{at}: {}", values.join(", ")) }
    });
    told.collect::<Vec<_>>().join("; ")
}
