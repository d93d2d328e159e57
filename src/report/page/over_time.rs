//! Charts of a run over time.

use std::collections::BTreeSet;

use super::{Figure, Section};
use crate::report::charts::{Axis, Ink, PanelsChart, TimeChart, TimeLayer, TimeMarks, TimePoint, TimeStyle};
use crate::report::series::{RunSeries, Steps};
use crate::units::Rate;

/// Points of a curve over time: about one for each pixel.
pub(super) const BINS: u32 = 900;
/// Bins of areas: finer bins would look like needles.
const COARSE: u32 = 320;
/// Bins of the small charts of sites, and the maximum number of these.
const SMALL: u32 = 120;
const SITES: usize = 24;
/// Width of the label column of charts over time, in pixels, so that the charts are aligned.
pub(super) const LABELS: i32 = 64;

/// Utilization, the queue, power and cost over time. `tail` is appended to the file names of the charts.
pub(super) fn over_time(series: &mut RunSeries, tail: &str) -> Section {
    let span = series.jobs.span;
    let marks = series.marks.clone();
    let mut figures = Vec::new();
    let mut add = |name: &str, caption: &str, what: &str, layers: Vec<TimeLayer>| {
        figures.push(time_figure(&format!("{name}{tail}"), caption, (span, &marks), what, layers));
    };
    let processors = series.processors();
    let (mut busy, unit) = busy_share(series);
    let mut layers =
        vec![layer("in use", Ink::Series(0), TimeStyle::Area, means(busy.points(span, COARSE, unit)))];
    if series.down.iter().any(|down| !down.is_empty()) {
        let mut available = Steps::default();
        available.hold(span.0, span.1, i64::try_from(processors).unwrap_or(i64::MAX));
        series.down.iter().for_each(|down| available.add_all(down, -1));
        let points = available.points(span, COARSE, 100.0 / processors.max(1) as f64);
        layers.push(layer("available processors", Ink::Text, TimeStyle::Dashed, means(points)));
    }
    let caption = "Processors in use over time, in percent of all processors.";
    add("utilization", caption, "utilization (%)", layers);
    let waiting = layer("waiting", Ink::Series(1), TimeStyle::Line, series.waiting.points(span, BINS, 1.0));
    let running = layer("running", Ink::Series(0), TimeStyle::Line, series.running.points(span, BINS, 1.0));
    let mut caption =
        "Jobs in the system: running, and waiting (at a site, at the broker, or in transit).".to_owned();
    // A short run is drawn change by change, so it has no bands.
    if [&running, &waiting].iter().any(|layer| layer.points.iter().any(|point| point.low < point.high)) {
        caption += " A line is the mean over a pixel, its band the range.";
    }
    add("queue", &caption, "jobs", vec![running, waiting]);
    let most = series.power.most();
    if most > 0 {
        let (unit, name) = match most {
            most if most >= 1_000_000_000 => (1e-9, "power (MW)"),
            most if most >= 1_000_000 => (1e-6, "power (kW)"),
            _ => (1e-3, "power (W)"),
        };
        let all = means(series.power.points(span, COARSE, unit));
        let jobs = means(series.jobs_power.points(span, COARSE, unit));
        let idle = all.iter().zip(&jobs).any(|(all, jobs)| all.mean > jobs.mean * 1.000_1);
        let mut layers = vec![layer("jobs", Ink::Series(2), TimeStyle::Area, jobs)];
        if idle {
            layers.insert(0, layer("idle processors", Ink::Series(2), TimeStyle::Faint, all));
        }
        let caption = "Power that is drawn over time (IT, without PUE)".to_owned()
            + if idle { ": of the processors of jobs, and stacked on it of idle ones." } else { "." };
        add("power", &caption, name, layers);
    }
    if series.cost.sum() != 0 {
        let layers = vec![layer("cost", Ink::Series(3), TimeStyle::Line, series.cost.points(1e-9))];
        let caption = "Cumulative cost to users, in the currency of the scenario.";
        add("cost", caption, "cost so far (currency units)", layers);
    }
    figures.splice(1..1, sites(series, tail));
    Section { figures, ..Section::new("Over time") }
}

/// Utilization of each site in a small chart of its own, if there are several: of the busiest, if there are too many.
fn sites(series: &mut RunSeries, tail: &str) -> Option<Figure> {
    let ((from, to), count) = (series.jobs.span, series.sites.len());
    if count < 2 {
        return None;
    }
    let mut panels = Vec::with_capacity(count);
    for (at, (name, processors)) in series.sites.iter().enumerate() {
        let processors = i64::try_from(*processors).unwrap_or(i64::MAX).max(1);
        let unit = 100.0 / (processors as f64 * Rate::FULL.units() as f64);
        let busy = means(series.busy[at].points((from, to), SMALL, unit));
        let ends = busy.iter().skip(1).map(|point| point.x).chain([to as f64 / 1e6]);
        let used: f64 = busy.iter().zip(ends).map(|(point, end)| point.mean * (end - point.x)).sum();
        let mut layers = vec![layer("in use", Ink::Series(0), TimeStyle::Area, busy)];
        if !series.down[at].is_empty() {
            let mut available = Steps::default();
            available.hold(from, to, processors);
            available.add_all(&series.down[at], -1);
            let points = means(available.points((from, to), SMALL, 100.0 / processors as f64));
            layers.push(layer("available processors", Ink::Text, TimeStyle::Dashed, points));
        }
        panels.push((used, (format!("{name} ({processors})"), layers)));
    }
    let mut caption =
        "The same by site, each in percent of its own processors, whose number is in brackets.".to_owned();
    if count > SITES {
        // The busiest, in the order of the scenario.
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|a, b| panels[*b].0.total_cmp(&panels[*a].0));
        let shown: BTreeSet<usize> = order.into_iter().take(SITES).collect();
        let mut at = 0..;
        panels.retain(|_| at.next().is_some_and(|at| shown.contains(&at)));
        caption += &format!(" Of {count} sites the {SITES} with the highest utilization are shown.");
    }
    let ticks = [0.0, 50.0, 100.0].into_iter().map(|tick: f64| (tick, tick.to_string()));
    let chart = PanelsChart {
        title: caption.clone(),
        x: Axis::time(from as f64 / 1e6, to as f64 / 1e6),
        y: Axis::titled("utilization (%)", 0.0, 100.0, ticks.collect(), false),
        panels: panels.into_iter().map(|(_, panel)| panel).collect(),
        labels: LABELS,
        marks: series.marks.clone(),
    };
    Some(Figure::new(format!("utilization-sites{tail}"), caption, chart, 1))
}

/// Processors in use over all sites, and the factor that converts them to percent.
pub(super) fn busy_share(series: &RunSeries) -> (Steps, f64) {
    let mut all = Steps::default();
    for busy in &series.busy {
        all.add_all(busy, 1);
    }
    (all, 100.0 / (series.processors().max(1) as f64 * Rate::FULL.units() as f64))
}

/// A layer of a chart over time.
pub(super) fn layer(name: &str, ink: Ink, style: TimeStyle, points: Vec<TimePoint>) -> TimeLayer {
    TimeLayer { name: name.to_owned(), ink, style, points }
}

/// The points reduced to their means, without bounds.
pub(super) fn means(points: Vec<TimePoint>) -> Vec<TimePoint> {
    points.into_iter().map(|point| TimePoint { low: point.mean, high: point.mean, ..point }).collect()
}

/// A chart over time, as wide as the page. An axis of percents reaches 100 at least.
pub(super) fn time_figure(
    name: &str,
    caption: &str,
    (span, marks): ((u64, u64), &TimeMarks),
    what: &str,
    layers: Vec<TimeLayer>,
) -> Figure {
    let top = if what.ends_with("(%)") { 100.0 } else { 0.0 };
    let most = layers.iter().flat_map(|layer| &layer.points).map(|point| point.high).fold(top, f64::max);
    let chart = TimeChart {
        title: caption.to_owned(),
        x: Axis::time(span.0 as f64 / 1e6, span.1 as f64 / 1e6),
        y: Axis::linear(what, 0.0, most, what.contains("jobs")),
        layers,
        height: 210,
        labels: LABELS,
        marks: marks.clone(),
    };
    Figure::new(name, caption, chart, 1)
}
