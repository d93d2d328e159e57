//! The charts of what went through the network.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::Figure;
use super::over_time::layer;
use crate::report::charts::{Axis, Ink, PanelsChart, TimeMarks, TimeStyle};
use crate::report::figures::{count, duration, size};
use crate::report::series::{LinkUse, TRAFFIC_BINS, Traffic};

/// Most places that are shown.
const PLACES: usize = 24;
/// Units of rates, with what they are in bytes per second.
const UNITS: [(&str, f64); 4] = [("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3), ("B/s", 1.0)];

/// Copies of files into and out of each place, in a small chart of its own: of those with most data, if there are too many.
pub(super) fn figure(traffic: &Traffic, labels: i32, marks: &TimeMarks) -> Figure {
    let all = traffic.places.len();
    let mut order: Vec<usize> = (0..all).collect();
    order.sort_by_key(|at| (Reverse(traffic.places[*at].moved()), *at));
    let shown: BTreeSet<usize> = order.into_iter().take(PLACES).collect();
    let shown = || shown.iter().map(|at| &traffic.places[*at]);
    let rates = || shown().flat_map(|place| [&place.into, &place.out]).flat_map(|sum| sum.rates(1.0));
    let most = rates().map(|point| point.mean).fold(0.0, f64::max);
    let (unit, per) = UNITS.into_iter().find(|(_, per)| most >= *per).unwrap_or(UNITS[3]);
    let panels = shown().map(|place| {
        let layers = vec![
            layer("in", Ink::Series(0), TimeStyle::Area, place.into.rates(1.0 / per)),
            layer("out", Ink::Series(1), TimeStyle::Line, place.out.rates(1.0 / per)),
        ];
        let [into, out] =
            [&place.into, &place.out].map(|sum| size(u64::try_from(sum.sum()).unwrap_or(u64::MAX)));
        (format!("{} ({into} in, {out} out)", place.name), layers)
    });
    let mut caption = format!(
        "Files of workflows into and out of each place, from the first copy to the last: {} copies. A copy counts with its mean rate from when it \
         began to when it arrived; drawn are means over stretches of {}.",
        count(traffic.arrived),
        duration((traffic.span.1 - traffic.span.0) as f64 / 1e6 / f64::from(TRAFFIC_BINS)),
    );
    if traffic.broken > 0 {
        caption += &format!(
            " Without {} that broke off or had not arrived: how much of them was moved is not recorded.",
            count(traffic.broken)
        );
    }
    if all > PLACES {
        caption += &format!(" Of {all} places the {PLACES} with most data are shown.");
    }
    let mut y = Axis::linear(unit, 0.0, most / per, false);
    // A panel has room for three labels.
    let ticks = [0.0, y.to / 2.0, y.to];
    y.ticks = ticks.map(|tick| (tick, (libm::round(tick * 1e3) / 1e3).to_string())).to_vec();
    let chart = PanelsChart {
        title: caption.clone(),
        x: Axis::time(traffic.span.0 as f64 / 1e6, traffic.span.1 as f64 / 1e6),
        y,
        panels: panels.collect(),
        labels,
        marks: marks.clone(),
    };
    Figure::new("transfers", caption, chart, 1)
}

/// How much of the bandwidth of each link and uplink the copies used; none if no bandwidth is limited and shared.
pub(super) fn links(traffic: &Traffic, labels: i32, marks: &TimeMarks) -> Option<Figure> {
    let all = traffic.links.len();
    let mut order: Vec<&LinkUse> = traffic.links.iter().collect();
    let share = |link: &LinkUse| link.bytes.sum() as f64 / link.bytes_per_s();
    order.sort_by(|a, b| share(b).total_cmp(&share(a)));
    let panels = order.into_iter().take(PLACES).map(|link| {
        let points = link.bytes.rates(100.0 / link.bytes_per_s());
        (
            format!("{} ({})", link.name, link.bandwidth),
            vec![layer("in use", Ink::Series(0), TimeStyle::Area, points)],
        )
    });
    let panels: Vec<_> = panels.collect();
    if panels.is_empty() {
        return None;
    }
    let mut caption = "Use of links and uplinks by these copies, in percent of the bandwidth, the most used first. A link is used in both directions \
                       together, an uplink in each."
        .to_owned();
    if all > PLACES {
        caption += &format!(" Of {all} the {PLACES} most used are shown.");
    }
    let mut y = Axis::linear("use (%)", 0.0, 100.0, false);
    y.ticks = [0, 50, 100].map(|tick| (f64::from(tick), tick.to_string())).to_vec();
    let chart = PanelsChart {
        title: caption.clone(),
        x: Axis::time(traffic.span.0 as f64 / 1e6, traffic.span.1 as f64 / 1e6),
        y,
        panels,
        labels,
        marks: marks.clone(),
    };
    Some(Figure::new("links", caption, chart, 1))
}
