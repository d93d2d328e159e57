//! Distributions of waits, responses and slowdowns, and their differences between two runs, class by class.

use super::groups::Groups;
use crate::report::charts::{HeatCell, HeatChart, HeatPanel};
use crate::report::figures::{count, duration, number};

/// A measured quantity of a job.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    Wait,
    Response,
    Slowdown,
}

impl Quantity {
    pub(crate) const ALL: [Self; 3] = [Self::Wait, Self::Response, Self::Slowdown];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Wait => "wait",
            Self::Response => "response time",
            Self::Slowdown => "bounded slowdown",
        }
    }
}

/// The jobs that count: the group of each, and its value of each [`Quantity`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured(Vec<(u16, [f64; 3])>);

impl Measured {
    /// Adds a job with its wait and response in microseconds.
    pub(crate) fn add(&mut self, group: usize, wait: u64, response: u64, slowdown: f64) {
        let group = u16::try_from(group).unwrap_or(u16::MAX);
        self.0.push((group, [wait as f64 / 1e6, response as f64 / 1e6, slowdown]));
    }

    /// Merges all groups into one.
    pub(crate) fn join_groups(&mut self) {
        self.0.iter_mut().for_each(|(group, _)| *group = 0);
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// The values of the jobs in the groups that `wanted` selects, in rising order.
    pub(crate) fn sorted(&self, quantity: Quantity, wanted: impl Fn(usize) -> bool) -> Vec<f64> {
        let jobs = self.0.iter().filter(|(group, _)| wanted(usize::from(*group)));
        let mut values: Vec<f64> = jobs.map(|(_, values)| values[quantity as usize]).collect();
        values.sort_unstable_by(f64::total_cmp);
        values
    }

    /// The number of jobs of each group, and their mean.
    fn means(&self, quantity: Quantity, groups: usize) -> Vec<(u64, f64)> {
        let mut sums = vec![(0_u64, 0.0); groups];
        for (group, values) in &self.0 {
            if let Some((count, sum)) = sums.get_mut(usize::from(*group)) {
                *count += 1;
                *sum += values[quantity as usize];
            }
        }
        let mean = |(count, sum)| (count, if count == 0 { 0.0 } else { sum / count as f64 });
        sums.into_iter().map(mean).collect()
    }
}

/// Points of a cumulative distribution, few enough to be drawn: the share of `sorted` that is at most each value. They always
/// include the first and the last value.
pub(crate) fn ecdf(sorted: &[f64]) -> Vec<(f64, f64)> {
    const MOST: usize = 400;
    let count = sorted.len();
    let share = |place: usize| (place + 1) as f64 / count as f64;
    let mut points: Vec<(f64, f64)> = Vec::new();
    let step = count.div_ceil(MOST).max(1);
    for place in (0..count).filter(|place| place % step == 0 || place + 1 == count) {
        // Of equal values the last one counts.
        let last = place + sorted[place..].partition_point(|value| *value <= sorted[place]) - 1;
        let point = (sorted[place], share(last));
        if points.last() != Some(&point) {
            points.push(point);
        }
    }
    points
}

/// Gain and loss of each group between two runs.
pub(crate) fn heat(title: &str, groups: &Groups, from: &Measured, to: &Measured) -> HeatChart {
    let (rows, columns, places) = groups.table();
    let panels = Quantity::ALL.map(|quantity| {
        let mut cells = vec![vec![None; columns.len()]; rows.len()];
        let (before, after) = (from.means(quantity, places.len()), to.means(quantity, places.len()));
        for (group, (row, column)) in places.iter().enumerate() {
            cells[*row][*column] = cell(&groups.names()[group], quantity, before[group], after[group]);
        }
        HeatPanel { title: format!("mean {}", quantity.name()), cells }
    });
    HeatChart { title: title.to_owned(), rows, columns, panels: panels.into() }
}

fn cell(group: &str, quantity: Quantity, before: (u64, f64), after: (u64, f64)) -> Option<HeatCell> {
    if before.0 == 0 || after.0 == 0 {
        return None;
    }
    let (a, b) = (before.1, after.1);
    let (text, shade) = if a == b {
        ("0 %".to_owned(), 0.0)
    } else if a <= 0.0 {
        ("from 0".to_owned(), 1.0)
    } else {
        let percent = (b / a - 1.0) * 100.0;
        let text = match percent {
            far if far >= 900.0 => format!("×{}", number(Some(b / a), 0)),
            none if none.abs() < 0.05 => "0.0 %".to_owned(),
            near if near.abs() < 9.95 => format!("{near:+.1} %"),
            _ => format!("{percent:+.0} %"),
        };
        // Half and double are the ends of the scale.
        let shade = if b <= 0.0 { -1.0 } else { libm::log2(b / a).clamp(-1.0, 1.0) };
        (text.replace('-', "−"), shade)
    };
    let jobs = match (before.0, after.0) {
        (before, after) if before == after => count(before),
        (before, after) => format!("{} and {}", count(before), count(after)),
    };
    let (change, below) = match quantity {
        Quantity::Slowdown => {
            let [a, b] = [a, b].map(|value| number(Some(value), if value < 100.0 { 2 } else { 0 }));
            let change = format!("{a} → {b}");
            (change.clone(), change)
        }
        Quantity::Wait | Quantity::Response => (format!("{} → {}", duration(a), duration(b)), short(a, b)),
    };
    let title = format!("{group}: mean {} {change} ({jobs} jobs)", quantity.name());
    Some(HeatCell { text, below, shade, title })
}

/// A change between two times, each with its own unit or with a common one, for a narrow cell.
fn short(from: f64, to: f64) -> String {
    let [(from, one), (to, other)] = [from, to].map(|secs| {
        let (value, unit) = match secs {
            secs if secs < 100.0 => (secs, "s"),
            secs if secs < 6_000.0 => (secs / 60.0, "min"),
            secs if secs < 172_800.0 => (secs / 3_600.0, "h"),
            _ => (secs / 86_400.0, "d"),
        };
        (number(Some(value), if value < 10.0 && value > 0.0 { 1 } else { 0 }), unit)
    });
    if one == other { format!("{from} → {to} {one}") } else { format!("{from} {one} → {to} {other}") }
}
