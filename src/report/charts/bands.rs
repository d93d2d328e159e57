//! Bands above the strips of a Gantt chart: which class of jobs had its slice, and how long groups of jobs were planned to take.

use super::legend::{Entry, Swatch};
use super::plot::Plot;
use super::sheet::{Sheet, UNIT, rectangle};
use super::{Axis, Ink};
use crate::model::SliceClass;

/// What is told of a partition above its strip.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GanttBand {
    /// Index of the strip.
    pub row: usize,
    /// The slices, in order of time.
    pub slices: Vec<GanttSlice>,
    /// Whether there are too many slices to draw each: then they are the shares of the classes in short periods.
    pub in_shares: bool,
    /// The groups.
    pub groups: Vec<GanttGroup>,
}

/// A slice, or the share of a class in a period.
#[derive(Clone, Debug, PartialEq)]
pub struct GanttSlice {
    /// The class.
    pub class: SliceClass,
    /// Start, in seconds: after the switch.
    pub from: f64,
    /// End, in seconds.
    pub to: f64,
    /// Which part of the height of the band it covers, from 0 to 1.
    pub part: (f64, f64),
    /// Tooltip; empty for a share.
    pub title: String,
}

/// How long the plan of a group was to take.
#[derive(Clone, Debug, PartialEq)]
pub struct GanttGroup {
    /// The class.
    pub class: SliceClass,
    /// When it was planned, in seconds.
    pub from: f64,
    /// When its plan was to end, or the next group of the class was planned, in seconds.
    pub to: f64,
    /// Tooltip.
    pub title: String,
}

/// Heights in pixels: of slices, of shares, of a line of groups, and of the space below.
const SLICES: i32 = 10;
const SHARES: i32 = 26;
const LINE: i32 = 6;
const SPACE: i32 = 3;

/// How dark a class is, in per cent: one colour from pale to dark, because the classes have an order, and jobs have the other colours.
const fn tint(class: SliceClass) -> u8 {
    match class {
        SliceClass::Short => 22,
        SliceClass::Medium => 48,
        SliceClass::Long => 85,
    }
}

impl GanttBand {
    /// Its height in pixels.
    pub(super) fn height(&self) -> i32 {
        let slices = if self.in_shares { SHARES } else { SLICES };
        slices + if self.groups.is_empty() { 0 } else { 2 * LINE } + SPACE
    }

    /// The height above a strip: that of its bands.
    pub(super) fn above(bands: &[Self], row: usize) -> i32 {
        bands.iter().filter(|band| band.row == row).map(Self::height).sum()
    }

    /// The entries of all bands in a legend.
    pub(super) fn entries(bands: &[Self]) -> Vec<Entry> {
        let slices = SliceClass::ALL
            .into_iter()
            .filter(|class| bands.iter().any(|band| band.slices.iter().any(|slice| slice.class == *class)));
        let mut entries: Vec<Entry> = slices
            .map(|class| (format!("slice of {} jobs", class.name()), Ink::Text, Swatch::Tint(tint(class))))
            .collect();
        if bands.iter().any(|band| !band.groups.is_empty()) {
            entries.push(("plan of a group".to_owned(), Ink::Text, Swatch::Line));
        }
        entries
    }

    /// Draws it above a plot.
    pub(super) fn draw(&self, sheet: &Sheet, plot: &Plot, x: &Axis) {
        let (_, top, _, _) = plot.bounds();
        let top = top - self.height() * UNIT;
        let high = if self.in_shares { SHARES } else { SLICES } * UNIT;
        let across = |from: f64, to: f64| {
            let (left, right) = (plot.at(from.max(x.from), 0.0).0, plot.at(to.min(x.to), 0.0).0);
            (left, (right - left).max(1))
        };
        let at = |part: f64| libm::round(f64::from(high) * part) as i32;
        // Shares have no tooltips, so that those of a class are one shape.
        let mut shares = SliceClass::ALL.map(|class| (class, String::new()));
        for slice in &self.slices {
            let (left, width) = across(slice.from, slice.to);
            let (low, upper) = (at(slice.part.0), at(slice.part.1));
            let mut data = String::new();
            let shape = if self.in_shares { &mut shares[slice.class as usize].1 } else { &mut data };
            rectangle(shape, left, top + high - upper, width, upper - low);
            sheet.fill(&data, Ink::Text, f64::from(tint(slice.class)) / 100.0, Some(&slice.title));
        }
        for (class, data) in &shares {
            sheet.fill(data, Ink::Text, f64::from(tint(*class)) / 100.0, None);
        }
        for group in &self.groups {
            let (left, width) = across(group.from, group.to);
            let line = i32::from(group.class == SliceClass::Long);
            let y = top + high + (line * LINE + 2) * UNIT;
            let mut data = String::new();
            rectangle(&mut data, left, y, width, 3 * UNIT);
            // Where it begins: a foot that is as wide as a line, also where the page enlarges the chart.
            rectangle(&mut data, left, y - UNIT, plot.grain * UNIT, 5 * UNIT);
            sheet.fill(&data, Ink::Text, f64::from(tint(group.class)) / 100.0, Some(&group.title));
        }
    }
}
