//! Charts of a run over time.

use super::{Figure, Section};
use crate::report::charts::{Axis, Chart, Ink, TimeChart, TimeLayer, TimePoint, TimeStyle};
use crate::report::series::{RunSeries, Steps, ink};
use crate::units::Rate;

/// Points of a curve over time: about one for each pixel.
pub(super) const BINS: u32 = 900;
/// Bins of areas: finer bins would look like needles.
const COARSE: u32 = 320;
/// Maximum number of sites with distinguishable curves.
const SITES: usize = 8;
/// Width of the label column of charts over time, in pixels, so that the charts are aligned.
const LABELS: i32 = 64;

/// Utilization, the queue, power and cost over time. `tail` is appended to the file names of the charts.
pub(super) fn over_time(series: &mut RunSeries, tail: &str) -> Section {
    let span = series.span;
    let mut figures = Vec::new();
    let processors: u64 = series.sites.iter().map(|(_, processors)| processors).sum();
    let (mut busy, unit) = busy_share(series);
    let mut layers =
        vec![layer("in use", Ink::Series(0), TimeStyle::Area, means(busy.points(span, COARSE, unit)))];
    let mut here = Steps::default();
    here.hold(span.0, span.1, i64::try_from(processors).unwrap_or(i64::MAX));
    let churn = series.down.iter().any(|away| !away.is_empty());
    if churn {
        series.down.iter().for_each(|away| here.add_all(away, -1));
        let points = here.points(span, COARSE, 100.0 / processors.max(1) as f64);
        layers.push(layer("available processors", Ink::Text, TimeStyle::Dashed, means(points)));
    }
    let caption = "Processors in use over time, in percent of all processors.";
    figures.push(time_figure(
        &format!("utilization{tail}"),
        caption,
        span,
        "utilization (%)",
        layers,
        Some(100.0),
    ));
    if (2..=SITES).contains(&series.sites.len()) {
        let sites = series.sites.iter().zip(&mut series.busy).enumerate();
        let layers = sites.map(|(at, ((name, processors), busy))| {
            let unit = 100.0 / ((*processors).max(1) as f64 * Rate::FULL.units() as f64);
            layer(name, ink(at), TimeStyle::Line, means(busy.points(span, BINS / 6, unit)))
        });
        let caption = "The same by site, each in percent of its own processors, smoothed.";
        figures.push(time_figure(
            &format!("utilization-sites{tail}"),
            caption,
            span,
            "utilization (%)",
            layers.collect(),
            Some(100.0),
        ));
    }
    let waiting = layer("waiting", Ink::Series(1), TimeStyle::Line, series.waiting.points(span, BINS, 1.0));
    let running = layer("running", Ink::Series(0), TimeStyle::Line, series.running.points(span, BINS, 1.0));
    let mut caption =
        "Jobs in the system: running, and waiting (at a site, at the broker, or in transit).".to_owned();
    // A short run is drawn change by change, so it has no bands.
    if [&running, &waiting].iter().any(|layer| layer.points.iter().any(|point| point.low < point.high)) {
        caption += " A line is the mean over a pixel, its band the range.";
    }
    figures.push(time_figure(&format!("queue{tail}"), &caption, span, "jobs", vec![running, waiting], None));
    figures.extend(power(series, tail));
    if series.cost.sum() != 0 {
        let points = series.cost.points(1e-9);
        let caption = "Cumulative cost to users, in the currency of the scenario.";
        let layers = vec![layer("cost", Ink::Series(3), TimeStyle::Line, points)];
        figures.push(time_figure(&format!("cost{tail}"), caption, span, "cost so far", layers, None));
    }
    Section { title: "Over time".to_owned(), figures, ..Section::default() }
}

fn power(series: &mut RunSeries, tail: &str) -> Option<Figure> {
    let most = series.power.most();
    if most <= 0 {
        return None;
    }
    let (unit, name) = match most {
        most if most >= 1_000_000_000 => (1e-9, "power (MW)"),
        most if most >= 1_000_000 => (1e-6, "power (kW)"),
        _ => (1e-3, "power (W)"),
    };
    let span = series.span;
    let all = means(series.power.points(span, COARSE, unit));
    let jobs = means(series.jobs_power.points(span, COARSE, unit));
    let idle = all.iter().zip(&jobs).any(|(all, jobs)| all.mean > jobs.mean * 1.000_1);
    let mut layers = vec![layer("jobs", Ink::Series(2), TimeStyle::Area, jobs)];
    if idle {
        layers.insert(0, layer("idle processors", Ink::Series(2), TimeStyle::Faint, all));
    }
    let caption = "Power that is drawn over time (IT, without PUE)".to_owned()
        + if idle { ": of the processors of jobs, and stacked on it of idle ones." } else { "." };
    Some(time_figure(&format!("power{tail}"), &caption, span, name, layers, None))
}

/// Processors in use over all sites, and the factor that converts them to percent.
pub(super) fn busy_share(series: &RunSeries) -> (Steps, f64) {
    let mut all = Steps::default();
    for busy in &series.busy {
        all.add_all(busy, 1);
    }
    let processors: u64 = series.sites.iter().map(|(_, processors)| processors).sum();
    (all, 100.0 / (processors.max(1) as f64 * Rate::FULL.units() as f64))
}

/// A layer of a chart over time.
pub(super) fn layer(name: &str, ink: Ink, style: TimeStyle, points: Vec<TimePoint>) -> TimeLayer {
    TimeLayer { name: name.to_owned(), ink, style, points }
}

/// The points reduced to their means, without bounds.
pub(super) fn means(points: Vec<TimePoint>) -> Vec<TimePoint> {
    points.into_iter().map(|point| TimePoint { low: point.mean, high: point.mean, ..point }).collect()
}

/// A chart over time, as wide as the page.
pub(super) fn time_figure(
    name: &str,
    caption: &str,
    span: (u64, u64),
    what: &str,
    layers: Vec<TimeLayer>,
    top: Option<f64>,
) -> Figure {
    let most = layers.iter().flat_map(|layer| &layer.points).map(|point| point.high).fold(0.0, f64::max);
    let chart: Box<dyn Chart> = Box::new(TimeChart {
        title: caption.to_owned(),
        x: Axis::time(span.0 as f64 / 1e6, span.1 as f64 / 1e6),
        y: Axis::linear(what, 0.0, top.unwrap_or(most).max(most), what.contains("jobs")),
        layers,
        height: 210,
        labels: LABELS,
    });
    Figure { name: name.to_owned(), caption: caption.to_owned(), chart, beside: 1 }
}
