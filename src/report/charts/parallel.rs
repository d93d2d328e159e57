//! Parallel coordinates: an upright axis for each quantity, and a line through all of them for each thing.

use super::legend::{self, Entry, Swatch};
use super::numbers::cell;
use super::plot::{NORMAL, SMALL};
use super::sheet::{Anchor, Sheet, UNIT, fitted, polyline, text_width};
use super::{Chart, Ink, Numbers, Paint};

/// An axis, from the least value at its foot to the largest at its head.
#[derive(Clone, Debug, PartialEq)]
pub struct ParallelAxis {
    /// The quantity with its unit.
    pub title: String,
    /// The name of its column in the [numbers](super::Numbers).
    pub data: String,
    /// The least value.
    pub least: f64,
    /// The largest value; if it is the least, all lines cross the middle.
    pub largest: f64,
    /// The label of each end.
    pub ends: (String, String),
}

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub struct ParallelLine {
    /// Its name in the numbers.
    pub name: String,
    /// Its value on each axis.
    pub values: Vec<f64>,
}

/// Lines of which the first is marked.
#[derive(Clone, Debug, PartialEq)]
pub struct ParallelChart {
    /// Title of the chart.
    pub title: String,
    /// The axes from left to right.
    pub axes: Vec<ParallelAxis>,
    /// The lines; the first is drawn thick, on top of the others.
    pub lines: Vec<ParallelLine>,
    /// What the first line is, and what the others are.
    pub kinds: (String, String),
    /// Width and height of the plot, in pixels.
    pub size: (u32, u32),
}

/// Pixels above the axes for a title and the label of an end, and below them for the label of the other end.
const HEAD: i32 = 40;
/// Pixels for the second line of titles, if one of them does not fit into a line.
const SECOND: i32 = 14;
const FOOT: i32 = 22;
/// What stays free between the titles of neighbours, in units.
const ROOM: i32 = 4 * UNIT;
/// The ink of the marked line, and of the others.
const MARKED: Ink = Ink::Series(0);
const OTHERS: Ink = Ink::Muted;

impl Chart for ParallelChart {
    fn svg(&self, paint: Paint) -> String {
        let (width, height) = paint.size(self.size);
        let (width, height) = (width as i32, height as i32);
        let mut entries: Vec<Entry> = vec![(self.kinds.0.clone(), MARKED, Swatch::Joined)];
        if self.lines.len() > 1 {
            entries.push((self.kinds.1.clone(), OTHERS, Swatch::Line));
        }
        let slot = width * UNIT / self.axes.len().max(1) as i32;
        let broken = self.axes.iter().any(|axis| text_width(&axis.title, NORMAL) > slot - ROOM);
        let above = if broken { HEAD + SECOND } else { HEAD };
        let top = legend::height(&entries, width - 32) + 6 + above;
        let sheet = Sheet::new(width as u32, (top + height + FOOT) as u32, paint, &self.title);
        legend::draw(&sheet, &entries, 16, 2, width - 32);
        let across = |at: usize| slot / 2 + slot * at as i32;
        let (head, foot) = (top * UNIT, (top + height) * UNIT);
        self.draw_axes(&sheet, across, (head, foot), (slot, broken));
        let corners = |line: &ParallelLine| -> Vec<(i32, i32)> {
            let up = |(axis, value): (&ParallelAxis, &f64)| {
                let range = axis.largest - axis.least;
                let share = if range > 0.0 { (value - axis.least) / range } else { 0.5 };
                foot - libm::round(share.clamp(0.0, 1.0) * f64::from(foot - head)) as i32
            };
            let heights = self.axes.iter().zip(&line.values).map(up);
            heights.enumerate().map(|(at, y)| (across(at), y)).collect()
        };
        let Some((marked, others)) = self.lines.split_first() else { return sheet.finish() };
        // Many lines together are as dark as a few.
        let alpha = (9.0 / others.len().max(1) as f64).clamp(0.15, 0.5);
        for line in others {
            let corners = corners(line);
            sheet.stroke(&polyline(corners.iter().copied()), OTHERS, alpha, 1.2);
            sheet.dots(corners, OTHERS, alpha, 3.0);
        }
        let corners = corners(marked);
        sheet.stroke(&polyline(corners.iter().copied()), Ink::Paper, 1.0, 6.0);
        sheet.stroke(&polyline(corners.iter().copied()), MARKED, 1.0, 3.2);
        for (corner, (axis, value)) in corners.into_iter().zip(self.axes.iter().zip(&marked.values)) {
            sheet.mark(corner, 4 * UNIT, MARKED, true, Some(&format!("{}: {value}", axis.title)));
        }
        sheet.finish()
    }

    fn numbers(&self) -> Numbers {
        let head = ["line", "marked"].into_iter().chain(self.axes.iter().map(|axis| axis.data.as_str()));
        let mut numbers = Numbers::new(head);
        for (at, line) in self.lines.iter().enumerate() {
            let marked = if at == 0 { "yes" } else { "no" };
            let own = [line.name.clone(), marked.to_owned()];
            numbers.rows.push(own.into_iter().chain(line.values.iter().map(|value| cell(*value))).collect());
        }
        numbers
    }
}

impl ParallelChart {
    fn draw_axes(
        &self,
        sheet: &Sheet,
        across: impl Fn(usize) -> i32,
        (head, foot): (i32, i32),
        (slot, broken): (i32, bool),
    ) {
        for (at, axis) in self.axes.iter().enumerate() {
            let x = across(at);
            sheet.stroke(&polyline([(x, head), (x, foot)]), Ink::Axis, 1.0, 1.0);
            let write = |text: &str, y: i32, size: f64, ink: Ink| {
                if let Some(text) = fitted(text, size, slot - ROOM) {
                    sheet.text(&text, (x, y), size, ink, Anchor::Middle, false);
                }
            };
            // The unit goes below the name, and a long name is smaller.
            let unit = axis.title.find(" (").filter(|_| broken);
            let (name, unit) = axis.title.split_at(unit.unwrap_or(axis.title.len()));
            let fit = f64::from(slot - ROOM) / f64::from(text_width(name, NORMAL).max(1));
            let size = libm::floor(NORMAL * fit.clamp(0.6, 1.0) * 10.0) / 10.0;
            let first = if broken { head - (24 + SECOND) * UNIT } else { head - 24 * UNIT };
            write(name, first, size, Ink::Text);
            if !unit.is_empty() {
                write(unit.trim_start(), head - 24 * UNIT, NORMAL, Ink::Text);
            }
            if axis.largest > axis.least {
                write(&axis.ends.1, head - 7 * UNIT, SMALL, Ink::Muted);
            }
            write(&axis.ends.0, foot + 15 * UNIT, SMALL, Ink::Muted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::charts::Theme;

    fn chart(lines: &[&[f64]]) -> ParallelChart {
        let axis = |name: &str, largest: f64| ParallelAxis {
            title: format!("{name} (s)"),
            data: format!("{name}_s"),
            least: 0.0,
            largest,
            ends: ("0".to_owned(), largest.to_string()),
        };
        let line = |(at, values): (usize, &&[f64])| ParallelLine {
            name: (at + 1).to_string(),
            values: values.to_vec(),
        };
        ParallelChart {
            title: "a < b".to_owned(),
            axes: vec![axis("one", 10.0), axis("same", 0.0), axis("other", 2.0)],
            lines: lines.iter().enumerate().map(line).collect(),
            kinds: ("chosen".to_owned(), "others".to_owned()),
            size: (300, 100),
        }
    }

    #[test]
    fn lines_go_from_axis_to_axis_and_the_first_is_thick() {
        let chart = chart(&[&[0.0, 0.0, 2.0], &[10.0, 0.0, 0.0]]);
        let svg = chart.svg(Paint::File(Theme::Light));
        assert!(roxmltree::Document::parse(&svg).is_ok(), "{svg}");
        // Below a legend of one line: the axes are from 68 to 168, at 50, 150 and 250; what is alike everywhere is in the middle.
        assert!(
            svg.contains("stroke-width=\"3.2\" stroke-linejoin=\"round\" d=\"M50 168L150 118 250 68\""),
            "{svg}"
        );
        assert!(
            svg.contains("stroke-width=\"1.2\" stroke-linejoin=\"round\" d=\"M50 68L150 118 250 168\""),
            "{svg}"
        );
        assert!(svg.contains("<title>one (s): 0</title>"), "{svg}");
        assert_eq!(chart.numbers().csv(), "line,marked,one_s,same_s,other_s\n1,yes,0,0,2\n2,no,10,0,0\n");
    }

    #[test]
    fn titles_that_do_not_fit_have_their_unit_below() {
        let mut narrow = chart(&[&[0.0, 0.0, 2.0]]);
        narrow.axes[0].title = "overspending a task (s)".to_owned();
        let svg = narrow.svg(Paint::Page);
        assert!(svg.contains(">overspending a task</text>") && svg.contains(">(s)</text>"), "{svg}");
    }

    #[test]
    fn one_line_and_none_are_drawn_too() {
        assert!(!chart(&[&[0.0, 0.0, 2.0]]).svg(Paint::Page).contains("others"));
        assert!(roxmltree::Document::parse(&chart(&[]).svg(Paint::Page)).is_ok());
    }
}
