//! Prices and carbon intensities over time, as they are published: a CSV file with a column of times and one of values.
//!
//! ```text
//! time,price
//! 2022-10-30 01:00,82.5
//! 2022-10-30 02:00,-3.1
//! ```
//!
//! A value holds from its time until the next one, whatever the step. What publishers do is read as follows, and told once with counts:
//!
//! - Rows that are missing, or have no value: the value before goes on. Rows without a value at the end are no part of the series.
//! - Times without a zone are in that of the options. Where clocks are put back an hour comes twice: the first row of it is the earlier
//!   hour, the second one the later. Times over which clocks are put forward do not exist, and their rows are left out.
//! - Otherwise a time that comes twice counts once: its first row.
//!
//! Values become integers of a [`Unit`], digit by digit.

mod rows;
mod unit;

use std::io::Read;

pub use unit::{Unit, measured, no_currency};

use crate::formats::FileError;
use crate::units::{Span, Timestamp, Zone, grouped};
use rows::{Row, Rows};

/// How a file is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesOptions {
    /// The name of the column of times; without it, the first one with times.
    pub time: Option<String>,
    /// The name of the column of values; without it, the first other one with numbers.
    pub column: Option<String>,
    /// The unit of the values.
    pub unit: Unit,
    /// The zone of times that do not name theirs.
    pub zone: Zone,
}

/// A series that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// When its first value begins.
    pub begin: Timestamp,
    /// When each value begins, from 0 on, in order, and the value.
    pub steps: Vec<(Span, i64)>,
    /// What was read.
    pub facts: SeriesFacts,
}

/// What was read of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesFacts {
    /// Rows of data, with or without a value.
    pub rows: u64,
    /// Rows without a value.
    pub empty: u64,
    /// Those of them behind the last value.
    pub trailing: u64,
    /// Those of them before it, at times that exist.
    pub empty_inside: u64,
    /// The commonest step from one row to the next, with or without a value.
    pub step: Span,
    /// When the last value ends, if it holds for a step.
    pub end: Timestamp,
    /// Stretches without values.
    pub gaps: Gaps,
    /// Rows with values of hours that came a second time as clocks were put back.
    pub put_back: u64,
    /// Rows with values of times over which clocks were put forward.
    pub put_forward: Times,
    /// Rows whose time had been there, left out.
    pub doubled: Times,
    /// The least and the greatest value, in the integers of the unit.
    pub range: (i64, i64),
    /// The mean over the time of the series, to the nearest integer of the unit.
    pub mean: i64,
    /// Values below 0.
    pub negative: u64,
    /// Values with more digits than the integers hold.
    pub rounded: u64,
}

/// How often something was found, and where first.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// How often.
    pub count: u64,
    /// The line of the first; 0 if there is none.
    pub line: u64,
}

/// Stretches without values, where the value before goes on.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Gaps {
    /// How many, and the line behind the first.
    pub times: Times,
    /// How many steps they have in all.
    pub missing: u64,
    /// When the first one begins.
    pub first: Option<Timestamp>,
    /// The longest one.
    pub longest: Span,
}

impl Times {
    pub(in crate::formats) const fn add(&mut self, line: u64) {
        if self.count == 0 {
            self.line = line;
        }
        self.count += 1;
    }
}

/// Reads a file, plain or compressed with gzip; `name` is its name in messages.
///
/// # Errors
/// [`FileError`] names the file and the line.
pub fn read(name: &str, input: Box<dyn Read + Send>, options: &SeriesOptions) -> Result<Series, FileError> {
    let mut rows = Rows::open(name, input, options)?;
    let mut values: Vec<(Timestamp, i64, u64)> = Vec::new();
    let (mut all, mut empty, mut negative, mut rounded) = (0, 0, 0, 0);
    // Rows without a value since the last value, those of them at times that exist, and these before the last value.
    let (mut trailing, mut real, mut empty_inside) = (0, 0, 0);
    // The times of all rows that exist, from the first value on, and how many of them are up to the last one.
    let (mut times, mut inside): (Vec<Timestamp>, usize) = (Vec::new(), 0);
    while let Some(Row { line, at, value }) = rows.next()? {
        all += 1;
        let Some((value, exact)) = value else {
            (empty, trailing, real) = (empty + 1, trailing + 1, real + u64::from(at.is_some()));
            times.extend(at.filter(|_| !values.is_empty()));
            continue;
        };
        let Some(at) = at else { continue };
        empty_inside += if values.is_empty() { 0 } else { real };
        (trailing, real) = (0, 0);
        negative += u64::from(value < 0);
        rounded += u64::from(!exact);
        values.push((at, value, line));
        times.push(at);
        inside = times.len();
    }
    let [(begin, ..), _, ..] = values[..] else {
        let (problem, hint) = match (all, values.len()) {
            (0, _) => ("it has no rows", "a row of the names of columns is expected, then a row a step"),
            (_, 0) => ("it has no values", "a column with numbers is expected; `column` names it"),
            _ => ("it has a single value", "write it as it is, without a file"),
        };
        return Err(FileError::new(name, 0, problem, hint));
    };
    let step = commonest(&times[..inside]);
    let mut gaps = Gaps::default();
    for pair in values.windows(2) {
        let [(from, ..), (to, _, line)] = pair else { continue };
        let length = to.since(*from).unwrap_or_default();
        if length > step {
            gaps.times.add(*line);
            gaps.missing += length.micros().div_ceil(step.micros()) - 1;
            gaps.longest = gaps.longest.max(length - step);
            gaps.first = gaps.first.or_else(|| from.plus(step));
        }
    }
    let last = values.last().map_or(begin, |(at, ..)| *at);
    let range = values
        .iter()
        .fold((i64::MAX, i64::MIN), |(least, most), (_, value, _)| (least.min(*value), most.max(*value)));
    let facts = SeriesFacts {
        rows: all,
        empty,
        trailing,
        empty_inside,
        step,
        end: last.plus(step).unwrap_or(last),
        gaps,
        put_back: rows.put_back,
        put_forward: rows.put_forward,
        doubled: rows.doubled,
        range,
        mean: mean(&values, step),
        negative,
        rounded,
    };
    let steps = values.iter().map(|(at, value, _)| (at.since(begin).unwrap_or_default(), *value)).collect();
    Ok(Series { begin, steps, facts })
}

/// The mean of values that hold until the next one, the last one for a step.
fn mean(values: &[(Timestamp, i64, u64)], step: Span) -> i64 {
    let lengths = values.windows(2).map(|pair| pair[1].0.since(pair[0].0).unwrap_or_default());
    let held = values.iter().zip(lengths.chain([step]));
    let (sum, time) = held.fold((0.0, 0.0), |(sum, time), ((_, value, _), length)| {
        let length = length.as_secs_f64();
        (sum + *value as f64 * length, time + length)
    });
    (sum / time).round() as i64
}

/// The commonest step, of several the shortest.
fn commonest(times: &[Timestamp]) -> Span {
    let lengths = times.windows(2).filter_map(|pair| pair[1].since(pair[0]));
    let mut lengths: Vec<Span> = lengths.filter(|length| !length.is_zero()).collect();
    lengths.sort_unstable();
    let mut best = (0, Span::TICK);
    for equal in lengths.chunk_by(|a, b| a == b) {
        if equal.len() > best.0 {
            best = (equal.len(), equal[0]);
        }
    }
    best.1
}

impl SeriesFacts {
    /// Rows, step, from when to when, which values, and what is particular, for a series of this unit that begins then.
    pub fn line(&self, begin: Timestamp, unit: &Unit) -> String {
        let [least, most, mean] = unit.told([self.range.0, self.range.1, self.mean]);
        let mut line = format!(
            "{}, steps of {}, from {begin} to {}, values of {least} to {most} {unit} (mean {mean})",
            counted(self.rows, "row", "rows"),
            self.step.written(),
            self.end
        );
        for (count, one, more) in [
            (self.gaps.missing, "step without a value", "steps without a value"),
            (self.trailing, "row without a value at the end", "rows without a value at the end"),
            (self.put_back, "row of an hour that comes twice", "rows of an hour that comes twice"),
            (self.negative, "value below 0", "values below 0"),
            (self.rounded, "value rounded", "values rounded"),
        ] {
            if count > 0 {
                line += ", ";
                line += &counted(count, one, more);
            }
        }
        line
    }

    /// What a reader of figures should know about the series, a sentence each.
    pub fn warnings(&self) -> Vec<String> {
        let mut told = Vec::new();
        let Gaps { times, missing, first, longest } = self.gaps;
        if let Some(first) = first {
            let empty = match self.empty_inside {
                0 => String::new(),
                rows => format!(", {} without a value among them", counted(rows, "row", "rows")),
            };
            told.push(format!(
                "{} without values, {} of {} in all: the first from {first} to line {}, the longest of {}{empty}; the value before goes on",
                counted(times.count, "stretch", "stretches"),
                counted(missing, "step", "steps"),
                self.step.written(),
                times.line,
                longest.written(),
            ));
        }
        if first.is_none() && self.empty_inside > 0 {
            told.push(format!(
                "{} without a value before the last one; the value before goes on",
                counted(self.empty_inside, "row", "rows")
            ));
        }
        if self.doubled.count > 0 {
            told.push(format!(
                "{} a time that had been there, the first in line {}: they are left out (`zone = \"Europe/Brussels\"` and the like tell the hour that comes twice when summer time ends)",
                counted(self.doubled.count, "row has", "rows have"),
                self.doubled.line,
            ));
        }
        if self.put_forward.count > 0 {
            told.push(format!(
                "{} a value at a time that does not exist in this zone, the first in line {}: they are left out",
                counted(self.put_forward.count, "row has", "rows have"),
                self.put_forward.line,
            ));
        }
        told
    }
}

fn counted(count: u64, one: &str, more: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { more })
}

#[cfg(test)]
mod tests;
