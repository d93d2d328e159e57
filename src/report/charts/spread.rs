//! Spreads of values, a row each, and one value beside each that they are held against.

use super::legend::{Entry, Swatch};
use super::plot::{NORMAL, Plot, SMALL};
use super::sheet::{Anchor, UNIT, fitted, polyline, rectangle};
use super::{Axis, Chart, ChartError, Ink, Paint};

/// Height of a row, in pixels.
const ROW: u32 = 40;
/// Height of what is not a row: the axis and its title, with a little room.
const AROUND: u32 = 60;
/// Half the height of a box, and where the single values are, below the middle of a row, in pixels.
const BOX: i32 = 7;
const STRIP: i32 = 14;
/// Pixels that the name of a row may take.
const NAME: i32 = 300;
/// Width of the dot of a value, in pixels.
const DOT: f64 = 2.8;
/// More values in a row than this cannot be told apart as dots.
const DOTS: usize = 400;

/// A row.
#[derive(Clone, Debug, PartialEq)]
pub struct SpreadRow {
    /// Its name.
    pub name: String,
    /// Its values, in any order.
    pub values: Vec<f64>,
    /// What they are held against.
    pub mark: Option<f64>,
    /// What stands there if there are no values.
    pub note: String,
    /// What is told when its box is pointed at.
    pub title: String,
}

/// The values that a box and its whiskers show.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Spread {
    /// 2.5 of 100 values are below it.
    pub low: f64,
    /// A quarter is below it.
    pub lower: f64,
    /// Half is below it.
    pub median: f64,
    /// A quarter is above it.
    pub upper: f64,
    /// 2.5 of 100 are above it.
    pub high: f64,
}

impl Spread {
    /// Of some values, each figure being one of them (the nearest by rank); `None` of none.
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().checked_sub(1)?;
        let at = |share: f64| sorted[libm::round(share * last as f64) as usize];
        Some(Self { low: at(0.025), lower: at(0.25), median: at(0.5), upper: at(0.75), high: at(0.975) })
    }
}

/// Rows of spreads over one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct SpreadChart {
    /// What it is.
    pub title: String,
    /// The axis of the values.
    pub x: Axis,
    /// The rows, from the top.
    pub rows: Vec<SpreadRow>,
    /// What a value is in the legend, such as `seed`, in the singular.
    pub value: String,
    /// What a mark is in the legend.
    pub mark: String,
    /// Width in pixels; the height comes from the rows.
    pub width: u32,
}

impl Chart for SpreadChart {
    fn svg(&self, paint: Paint) -> Result<String, ChartError> {
        let name = |row: &SpreadRow| fitted(&row.name, SMALL, NAME * UNIT).unwrap_or_default();
        let names: Vec<String> = self.rows.iter().rev().map(name).collect();
        let places = Axis::places("", &names);
        // The values of the last row stand below its place.
        let y = Axis { from: places.from - 0.15, ..places };
        let height = AROUND + ROW * self.rows.len().max(1) as u32;
        let heading = (self.title.as_str(), (self.width, height), paint);
        let (sheet, plot) = Plot::under_legend(heading, (&self.x, &y), &self.entries(), (true, false))?;
        if self.x.from < 0.0 && self.x.to > 0.0 {
            plot.line(&[(0.0, y.from), (0.0, y.to)], Ink::Muted, 1.4, None)?;
        }
        for (from_top, row) in self.rows.iter().enumerate() {
            let place = (self.rows.len() - 1 - from_top) as f64;
            let at = |value: f64| plot.at(value, place);
            if let Some(spread) = Spread::of(&row.values) {
                let line = |data: &str, width: f64| sheet.stroke(data, Ink::Series(0).colour().2, 1.0, width);
                let (left, middle) = at(spread.low);
                let (from, to, right) = (at(spread.lower).0, at(spread.upper).0, at(spread.high).0);
                let box_ = BOX * UNIT;
                for (end, side) in [(left, from), (right, to)] {
                    line(&polyline([(end, middle), (side, middle)]), 1.6);
                    line(&polyline([(end, middle - box_ / 2), (end, middle + box_ / 2)]), 1.6);
                }
                let mut data = String::new();
                rectangle(&mut data, from, middle - box_, (to - from).max(UNIT), 2 * box_);
                sheet.fill(&data, Ink::Paper.colour().2, 1.0, None);
                sheet.fill(&data, Ink::Series(0).colour().2, 0.3, Some(&row.title));
                line(&data, 1.2);
                let median = at(spread.median).0;
                line(&polyline([(median, middle - box_), (median, middle + box_)]), 2.6);
                if row.values.len() <= DOTS {
                    // A pattern that spreads evenly, so that values side by side do not hide each other.
                    let aside = |number: usize| (number as i32 * 5 % 7 - 3) * UNIT;
                    let dot = |(number, value): (usize, &f64)| {
                        (at(*value).0, middle + STRIP * UNIT + aside(number))
                    };
                    sheet.dots(row.values.iter().enumerate().map(dot), Ink::Muted.colour().2, 0.6, DOT);
                }
            } else {
                // Below the mark, which may be anywhere.
                let middle = at(self.x.from).1 + (STRIP + 6) * UNIT;
                let (left, _, right, _) = plot.bounds();
                let ink = Ink::Muted.colour().2;
                let note = fitted(&row.note, NORMAL, right - left - 40 * UNIT).unwrap_or_default();
                sheet.text(&note, ((left + right) / 2, middle), NORMAL, ink, Anchor::Middle, false);
            }
            if let Some(mark) = row.mark {
                plot.diamond((mark, place), Ink::Series(1), 6);
            }
        }
        if self.rows.is_empty() {
            plot.note("there is nothing to show");
        }
        Ok(sheet.finish())
    }
}

impl SpreadChart {
    fn entries(&self) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::new();
        if self.rows.iter().any(|row| row.mark.is_some()) {
            entries.push((self.mark.clone(), Ink::Series(1), Swatch::Diamond));
        }
        if self.rows.iter().any(|row| !row.values.is_empty()) {
            let value = &self.value;
            entries.push((format!("half of the {value}s, and the median"), Ink::Series(0), Swatch::Spread));
            entries.push((format!("95 of 100 {value}s"), Ink::Series(0), Swatch::Line));
        }
        if self.rows.iter().any(|row| (1..=DOTS).contains(&row.values.len())) {
            entries.push((format!("one {}", self.value), Ink::Muted, Swatch::Point));
        }
        entries
    }
}
