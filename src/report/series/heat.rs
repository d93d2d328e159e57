//! Heat maps of classes: their values, or their gain and loss from one to another.

use super::distribution::{Measured, Quantity, Statistic};
use super::groups::Groups;
use crate::report::charts::{HeatCell, HeatChart, HeatPanel, HeatScale};
use crate::report::figures::{count, duration, number};

/// From this ratio of the largest value to the least on, equal ratios have equal steps of shade.
const DECADE: f64 = 10.0;

/// How values are written.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As times, of seconds.
    Time,
    /// As numbers.
    Plain,
}

impl Form {
    const fn of(quantity: Quantity) -> Self {
        match quantity {
            Quantity::Slowdown => Self::Plain,
            Quantity::Wait | Quantity::Response => Self::Time,
        }
    }

    /// A value in a narrow cell.
    fn short(self, value: f64) -> String {
        match self {
            Self::Plain => number(Some(value), if value < 100.0 { 2 } else { 0 }),
            Self::Time => {
                let (value, unit) = in_unit(value);
                format!("{value} {unit}")
            }
        }
    }

    /// A value in a sentence.
    fn told(self, value: f64) -> String {
        if self == Self::Time { duration(value) } else { self.short(value) }
    }

    /// A change from one value to another in a narrow cell.
    fn change(self, from: f64, to: f64) -> String {
        if self == Self::Plain {
            return format!("{} → {}", self.short(from), self.short(to));
        }
        // Each with its own unit, or with a common one.
        let [(from, one), (to, other)] = [from, to].map(in_unit);
        if one == other { format!("{from} → {to} {one}") } else { format!("{from} {one} → {to} {other}") }
    }
}

/// A time in the unit that suits it.
fn in_unit(secs: f64) -> (String, &'static str) {
    let (value, unit) = match secs {
        secs if secs < 100.0 => (secs, "s"),
        secs if secs < 6_000.0 => (secs / 60.0, "min"),
        secs if secs < 172_800.0 => (secs / 3_600.0, "h"),
        _ => (secs / 86_400.0, "d"),
    };
    (number(Some(value), if value < 10.0 && value > 0.0 { 1 } else { 0 }), unit)
}

/// What a cell is about.
pub(crate) struct Subject {
    /// The class and the measure, such as `S N: mean wait`.
    pub(crate) name: String,
    /// The number of jobs, in words such as `1,234`; empty if it is unknown.
    pub(crate) jobs: String,
}

impl Subject {
    /// The number of jobs with its noun.
    fn counted(&self) -> String {
        match self.jobs.as_str() {
            "" => String::new(),
            "1" => "1 job".to_owned(),
            jobs => format!("{jobs} jobs"),
        }
    }

    fn title(&self, what: &str) -> String {
        let jobs = if self.jobs.is_empty() { String::new() } else { format!(" ({})", self.counted()) };
        format!("{} {what}{jobs}", self.name)
    }
}

/// The cell of a change from a value to another. Half and double are the ends of its scale.
pub(crate) fn change(of: &Subject, form: Form, (from, to): (f64, f64), lower_is_better: bool) -> HeatCell {
    let (text, shade) = if from == to {
        ("0 %".to_owned(), 0.0)
    } else if from <= 0.0 {
        ("from 0".to_owned(), 1.0)
    } else {
        let percent = (to / from - 1.0) * 100.0;
        let text = match percent {
            far if far >= 900.0 => format!("×{}", number(Some(to / from), 0)),
            none if none.abs() < 0.05 => "0.0 %".to_owned(),
            near if near.abs() < 9.95 => format!("{near:+.1} %"),
            _ => format!("{percent:+.0} %"),
        };
        let shade = if to <= 0.0 { -1.0 } else { libm::log2(to / from).clamp(-1.0, 1.0) };
        (text.replace('-', "−"), shade)
    };
    HeatCell {
        text,
        below: form.change(from, to),
        shade: if lower_is_better { shade } else { -shade },
        title: of.title(&format!("{} → {}", form.told(from), form.told(to))),
        jobs: of.jobs.clone(),
    }
}

/// The shades of some values.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Shades {
    form: Form,
    /// The least value, with a logarithmic scale the least above zero, and the largest.
    ends: (f64, f64),
    log: bool,
    /// Whether there are values below the least, with a logarithmic scale.
    below: bool,
    lower_is_better: bool,
}

impl Shades {
    /// Shades from the least of the values to the largest, logarithmic if these are far apart.
    pub(crate) fn of(form: Form, lower_is_better: bool, values: impl IntoIterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.into_iter().collect();
        let least =
            |above: f64| values.iter().copied().filter(|value| *value > above).fold(f64::NAN, f64::min);
        let most = values.iter().copied().fold(f64::NAN, f64::max);
        let positive = least(0.0);
        let log = most / positive >= DECADE;
        let least = least(f64::NEG_INFINITY);
        let ends = if log { (positive, most) } else { (least, most) };
        Self { form, ends, log, below: log && least < positive, lower_is_better }
    }

    /// Their meaning, for a key.
    pub(crate) fn scale(self) -> HeatScale {
        let at_most = if self.below { "≤ " } else { "" };
        HeatScale::Values {
            least: format!("{at_most}{}", self.form.short(self.ends.0)),
            most: self.form.short(self.ends.1),
            log: self.log,
            higher_is_better: !self.lower_is_better,
        }
    }

    /// The cell of a value.
    pub(crate) fn cell(self, of: &Subject, value: f64) -> HeatCell {
        let (least, most) = self.ends;
        let place = if self.log {
            if value > 0.0 { libm::log(value / least) / libm::log(most / least) } else { 0.0 }
        } else if most > least {
            (value - least) / (most - least)
        } else {
            // All values are alike.
            0.0
        };
        HeatCell {
            text: self.form.short(value),
            below: of.counted(),
            shade: place.clamp(0.0, 1.0),
            title: of.title(&self.form.told(value)),
            jobs: of.jobs.clone(),
        }
    }
}

/// The values of the classes of a run: a chart for each map, with its name.
pub(crate) fn values(title: &str, groups: &Groups, run: &Measured) -> Vec<(String, HeatChart)> {
    const SHOWN: [(Quantity, Statistic); 3] = [
        (Quantity::Response, Statistic::Mean),
        (Quantity::Slowdown, Statistic::Mean),
        (Quantity::Slowdown, Statistic::Largest),
    ];
    let found = SHOWN.map(|(quantity, statistic)| {
        let of = run.of_groups(quantity, statistic, groups.names().len());
        let there = of.iter().filter(|(jobs, _)| *jobs > 0).map(|(_, value)| *value);
        let shades = Shades::of(Form::of(quantity), true, there);
        (statistic.of(quantity), shades, of)
    });
    charts(title, groups, &found, |(name, shades, of)| {
        let cell = move |group: usize| {
            let (jobs, value) = of[group];
            let subject = Subject { name: format!("{}: {name}", groups.names()[group]), jobs: count(jobs) };
            (jobs > 0).then(|| shades.cell(&subject, value))
        };
        (name.clone(), shades.scale(), Box::new(cell))
    })
}

/// Gain and loss of each class between two runs: a chart for each map, with its name.
pub(crate) fn changes(
    title: &str,
    groups: &Groups,
    statistic: Statistic,
    (from, to): (&Measured, &Measured),
) -> Vec<(String, HeatChart)> {
    charts(title, groups, &Quantity::ALL, |quantity| {
        let name = statistic.of(*quantity);
        let [before, after] = [from, to].map(|run| run.of_groups(*quantity, statistic, groups.names().len()));
        let title = name.clone();
        let cell = move |group: usize| {
            let ((before, a), (after, b)) = (before[group], after[group]);
            let jobs = match before == after {
                true => count(before),
                false => format!("{} and {}", count(before), count(after)),
            };
            let subject = Subject { name: format!("{}: {name}", groups.names()[group]), jobs };
            (before > 0 && after > 0).then(|| change(&subject, Form::of(*quantity), (a, b), true))
        };
        (title, HeatScale::Change, Box::new(cell))
    })
}

/// The title of a table, its scale, and the cell of each group.
type Table<'a> = (String, HeatScale, Box<dyn Fn(usize) -> Option<HeatCell> + 'a>);

/// A chart for each map of the groups, with the name of the map: in each a table for each of `all`.
pub(crate) fn charts<'a, T>(
    title: &str,
    groups: &Groups,
    all: &'a [T],
    table: impl Fn(&'a T) -> Table<'a>,
) -> Vec<(String, HeatChart)> {
    let maps = groups.maps();
    let tables: Vec<Table<'a>> = all.iter().map(table).collect();
    let chart = |(map, name): (usize, &String)| {
        let panel = |(title, scale, cell): &Table<'a>| {
            let mut cells = vec![vec![None; maps.columns.len()]; maps.rows.len()];
            for (group, (_, row, column)) in maps.places.iter().enumerate().filter(|(_, at)| at.0 == map) {
                cells[*row][*column] = cell(group);
            }
            HeatPanel { title: title.clone(), scale: scale.clone(), cells }
        };
        let panels = tables.iter().map(panel).collect();
        let title = if name.is_empty() { title.to_owned() } else { format!("{title}, {name}") };
        (name.clone(), HeatChart { title, rows: maps.rows.clone(), columns: maps.columns.clone(), panels })
    };
    maps.names.iter().enumerate().map(chart).collect()
}
