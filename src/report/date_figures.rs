//! Figures of differences over the dates at which the seeds of a study begin.

use std::collections::{BTreeMap, BTreeSet};

use super::charts::{Axis, Chart, Curve, CurvePoint, CurvesChart, Paint, Theme};
use super::figures::signed;
use super::series::{LEVEL, Layout, ink};
use super::study_figures::{StudyFigure, Titles, part, title_of};
use crate::study::claims::Side;
use crate::study::statistics::Draws;
use crate::study::{StudyPoint, StudyRow, StudyTable};

/// Width and height of a figure, in pixels.
const SIZE: (u32, u32) = (760, 340);
/// Months by seasons of the north, from December.
const SEASONS: [&str; 4] = ["winter", "spring", "summer", "autumn"];

/// The differences of a measure to one label of the axis `by`, seed by seed over the dates at which the seeds begin, in percent of the mean under
/// that label: a curve for each of its other labels, and a chart for each combination of labels of the other axes. The table below has the
/// differences over all dates, by year, with their intervals, and by season, with the number of dates that have the sign of the mean.
///
/// `None` if the table has no such measure, axis or label, or no dates.
pub fn date_figures(
    table: &StudyTable,
    of: &Side,
    measure: &str,
    (by, than): (&str, &str),
    titles: &Titles,
) -> Option<Vec<StudyFigure>> {
    let (measure, by) = (table.measure(measure)?, table.axis(by)?);
    let dates: BTreeMap<u64, Date> =
        table.dates.iter().map(|(seed, date)| Some((*seed, Date::read(date)?))).collect::<Option<_>>()?;
    if dates.is_empty() {
        return None;
    }
    // The label that others are compared with need not be named.
    let mut of = of.clone();
    let others: Vec<String> = match of.get_mut(&table.axes[by]) {
        Some(labels) => {
            let others = labels.iter().filter(|label| *label != than).cloned().collect();
            labels.push(than.to_owned());
            others
        }
        None => table.labels(by).into_iter().filter(|label| *label != than).map(str::to_owned).collect(),
    };
    let table = part(table, &of)?;
    let apart = (0..table.axes.len()).filter(|axis| *axis != by && table.labels(*axis).len() > 1);
    let layout = Layout { along: by, colour: None, apart: apart.collect() };
    let title = format!("{}, difference to {than} (%)", title_of(&table.measures[measure], titles));
    let points = table.points();
    let figures = layout.charts(&table).into_iter().map(|(labels, of)| {
        let at = |label: &str| {
            points.iter().find(|point| {
                point.labels[by] == label
                    && layout.apart.iter().zip(&labels).all(|(axis, label)| point.labels[*axis] == *label)
            })
        };
        let than = at(than)?;
        let lines: Vec<Line> =
            others.iter().filter_map(|label| Line::of(label, at(label)?, than, measure, &dates)).collect();
        let chart = chart(&title, &of, &lines);
        Some(StudyFigure {
            of,
            title: title.clone(),
            svg: chart.svg(Paint::File(Theme::Light)),
            table: summary(&lines, &dates),
        })
    });
    figures.collect()
}

/// A date, as far as it counts.
#[derive(Copy, Clone, Debug, PartialEq)]
struct Date {
    year: u32,
    month: u32,
    day: u32,
}

impl Date {
    /// Reads `2022-01-03T00:00Z`.
    fn read(text: &str) -> Option<Self> {
        let mut parts = text.get(..10)?.split('-').map(|part| part.parse::<u32>().ok());
        let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
        ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some(Self { year, month, day })
    }

    /// Its place on an axis in years.
    fn place(self) -> f64 {
        f64::from(self.year) + (f64::from(self.month - 1) + f64::from(self.day - 1) / 31.0) / 12.0
    }

    fn season(self) -> &'static str {
        SEASONS[(self.month % 12 / 3) as usize]
    }
}

/// The differences under one label.
struct Line {
    label: String,
    /// For each seed in order of time: its date, the value on the other side, and the difference to it.
    pairs: Vec<(Date, f64, f64)>,
    /// How they follow each other.
    draws: Draws,
}

impl Line {
    fn of(
        label: &str,
        of: &StudyPoint<'_>,
        than: &StudyPoint<'_>,
        measure: usize,
        dates: &BTreeMap<u64, Date>,
    ) -> Option<Self> {
        let value = |row: &StudyRow| row.values.get(measure).copied().flatten();
        let pairs = of.done().map(|row| {
            let other = value(than.done().find(|other| other.seed == row.seed)?)?;
            Some((*dates.get(&row.seed)?, other, value(row)? - other))
        });
        Some(Self { label: label.to_owned(), pairs: pairs.collect::<Option<_>>()?, draws: of.draws })
    }

    /// The mean difference on the dates that count, in percent of the mean on the other side: with half its interval, and with the number of
    /// dates that have its sign.
    fn mean(&self, counts: &dyn Fn(Date) -> bool) -> Option<(f64, Option<f64>, usize, usize)> {
        let pairs: Vec<&(Date, f64, f64)> = self.pairs.iter().filter(|(date, ..)| counts(*date)).collect();
        let n = pairs.len() as f64;
        let other = pairs.iter().map(|(_, other, _)| other).sum::<f64>() / n;
        let differences: Vec<f64> = pairs.iter().map(|(.., difference)| *difference).collect();
        let mean = differences.iter().sum::<f64>() / n;
        if !(mean / other).is_finite() {
            return None;
        }
        let half = self.draws.mean_interval(&differences, LEVEL).map(|found| (found.high - found.low) / 2.0);
        let alike = differences.iter().filter(|difference| **difference * mean > 0.0).count();
        let share = |value: f64| 100.0 * value / other.abs();
        Some((share(mean), half.map(share), alike, differences.len()))
    }
}

fn chart(title: &str, of: &str, lines: &[Line]) -> CurvesChart {
    let all = || lines.iter().flat_map(|line| &line.pairs);
    let share = |(_, other, difference): &(Date, f64, f64)| 100.0 * difference / other.abs();
    let ends = |values: &mut dyn Iterator<Item = f64>| {
        values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
    };
    let (low, high) = ends(&mut all().map(share).filter(|share| share.is_finite()));
    let (first, last) = ends(&mut all().map(|(date, ..)| date.place()));
    let curves = lines.iter().enumerate().map(|(number, line)| Curve {
        name: line.label.clone(),
        ink: ink(number),
        points: line
            .pairs
            .iter()
            .map(|pair| CurvePoint {
                x: pair.0.place(),
                mean: Some(share(pair)).filter(|share| share.is_finite()),
                interval: None,
                single: Vec::new(),
                unstable: Vec::new(),
                title: format!(
                    "{}\n{}-{:02}-{:02}\n{} %",
                    line.label,
                    pair.0.year,
                    pair.0.month,
                    pair.0.day,
                    signed(share(pair), 1)
                ),
            })
            .collect(),
        level: false,
    });
    CurvesChart {
        title: if of.is_empty() { title.to_owned() } else { format!("{title}; {of}") },
        x: quarters(first, last),
        y: Axis::linear(title, low.min(0.0), high.max(0.0), false),
        curves: curves.collect(),
        apart: false,
        size: SIZE,
    }
}

/// An axis of dates with a tick at each quarter.
fn quarters(first: f64, last: f64) -> Axis {
    let (from, to) = (libm::floor(first * 4.0), libm::ceil(last * 4.0 + 1e-6));
    let mut ticks = Vec::new();
    let mut quarter = from;
    while quarter <= to {
        let month = ["Jan", "Apr", "Jul", "Oct"][(quarter as u64 % 4) as usize];
        ticks.push((quarter / 4.0, format!("{month} {}", libm::floor(quarter / 4.0))));
        quarter += 1.0;
    }
    Axis::titled("begin of the week", from / 4.0, to / 4.0, ticks, false)
}

/// The means by year and season. Markdown.
fn summary(lines: &[Line], dates: &BTreeMap<u64, Date>) -> String {
    let years: BTreeSet<u32> = dates.values().map(|date| date.year).collect();
    let mut out = "|variant|all".to_owned();
    years.iter().for_each(|year| out += &format!("|{year}"));
    SEASONS.iter().for_each(|season| out += &format!("|{season}"));
    out += &format!("|\n|---{}|\n", "|--:".repeat(1 + years.len() + SEASONS.len()));
    for line in lines {
        out += &format!("|{}", line.label.replace('|', "\\|"));
        let with_interval = |counts: &dyn Fn(Date) -> bool| match line.mean(counts) {
            Some((mean, Some(half), ..)) => format!("|{} ± {half:.1} %", signed(mean, 1)),
            Some((mean, ..)) => format!("|{} %", signed(mean, 1)),
            None => "|-".to_owned(),
        };
        out += &with_interval(&|_| true);
        for year in &years {
            out += &with_interval(&|date| date.year == *year);
        }
        for season in SEASONS {
            out += &match line.mean(&|date| date.season() == season) {
                Some((mean, _, alike, all)) => format!("|{} % ({alike} of {all})", signed(mean, 1)),
                None => "|-".to_owned(),
            };
        }
        out += "|\n";
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::tests::run_of_a_study;

    /// Two policies over four weeks of two years: `b` is 10 and 20 % above `a` in January and July of 2022, 10 and 40 % below in 2023.
    #[test]
    fn differences_are_told_by_year_and_season() {
        let begin = ["2022-01-03T00:00Z", "2022-07-04T00:00Z", "2023-01-02T00:00Z", "2023-07-03T00:00Z"];
        let b = [110.0, 120.0, 90.0, 60.0];
        let mut rows = Vec::new();
        for policy in ["a", "b"] {
            for seed in 1..=4_u64 {
                let value = if policy == "a" { 100.0 } else { b[seed as usize - 1] };
                rows.push(run_of_a_study(rows.len() as u64 + 1, &[policy], seed, vec![Some(value)]));
            }
        }
        let table = StudyTable {
            name: String::new(),
            axes: vec!["policy".to_owned()],
            measures: vec!["ledger.carbon_kg.useful".to_owned()],
            baseline: None,
            dates: (1..).zip(begin.map(str::to_owned)).collect(),
            rows,
        };
        let titles = Titles::from([("ledger.carbon_kg.useful".to_owned(), "carbon of jobs".to_owned())]);
        let drawn = |table: &StudyTable, than: &str| {
            date_figures(table, &Side::new(), "ledger.carbon_kg.useful", ("policy", than), &titles)
        };
        let [figure] = &drawn(&table, "a").unwrap()[..] else { panic!("one chart") };
        assert_eq!(figure.title, "carbon of jobs, difference to a (%)");
        let lines: Vec<&str> = figure.table.lines().collect();
        assert_eq!(lines[0], "|variant|all|2022|2023|winter|spring|summer|autumn|");
        // Differences 10 and 20 with one cosine at 45 and 135 degrees: the root of 2/2 (10 - 20)² / 2 / 2 is 5, times 12.706.
        assert!(lines[2].starts_with("|b|-5.0 ± "), "{}", lines[2]);
        assert!(lines[2].contains("|+15.0 ± 63.5 %|-25.0 ± 190.6 %|0.0 % (0 of 2)|"), "{}", lines[2]);
        assert!(lines[2].ends_with("|-|-10.0 % (1 of 2)|-|"), "{}", lines[2]);
        assert!(figure.svg.contains("Jul 2022") && figure.svg.contains("difference to a"), "{}", figure.svg);
        assert_eq!(drawn(&table, "c"), None);
        assert_eq!(drawn(&StudyTable { dates: Vec::new(), ..table }, "a"), None);
    }
}
