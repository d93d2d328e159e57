//! A pair of axes on a sheet, and marks in their coordinates.

use super::axis::Axis;
use super::marks::Dash;
use super::palette::Ink;
use super::sheet::{Anchor, Sheet, UNIT, polyline, tenths, text_width};
use super::{Paint, legend};

/// Font size of tick labels, in pixels.
pub(super) const SMALL: f64 = 11.0;
/// Font size of axis titles and legend entries, in pixels.
pub(super) const NORMAL: f64 = 12.0;
/// How many times finer positions in time are in a group that zooms.
const FINE: i32 = 100;
/// Length of a tick, and its distance from its label, in units.
const TICK: i32 = 4 * UNIT;
const LABEL: i32 = 2 * TICK;

/// Position of a plot on its sheet, including labels, in pixels.
#[derive(Copy, Clone, Debug)]
pub(super) struct Frame {
    pub(super) top: i32,
    pub(super) width: i32,
    pub(super) height: i32,
    /// Width of the label column at the left.
    pub(super) labels: i32,
    /// Whether labels and title of the x axis are drawn.
    pub(super) x_labels: bool,
    /// Whether grid lines are drawn at the ticks of x, and of y.
    pub(super) mesh: (bool, bool),
}

/// A pair of axes.
pub(super) struct Plot {
    sheet: Sheet,
    x: Axis,
    y: Axis,
    /// Ends of the axes on the sheet, in units.
    left: i32,
    right: i32,
    bottom: i32,
    top: i32,
    /// Positions along x are so many times larger than on the sheet.
    pub(super) grain: i32,
}

/// Width that the labels and the title of a y axis need, in pixels.
pub(super) fn label_space(axis: &Axis) -> i32 {
    let widest = axis.ticks.iter().map(|(_, label)| text_width(label, SMALL)).max().unwrap_or(0);
    widest / UNIT + if axis.title.is_empty() { 14 } else { 34 }
}

impl Plot {
    /// Makes a new sheet of a size in pixels with one pair of axes below a legend, with a strip of a height in pixels between them.
    pub(super) fn under_legend(
        (title, size, paint): (&str, (u32, u32), Paint),
        (x, y): (&Axis, &Axis),
        entries: &[legend::Entry],
        mesh: (bool, bool),
        strip: i32,
    ) -> (Sheet, Self) {
        let labels = label_space(y);
        let (width, height) = (size.0 as i32, size.1 as i32);
        // Names of rows are long: below them there is room for the legend, too.
        let left = labels.min(60);
        let top = legend::height(entries, width - left - 16) + 6 + strip;
        let sheet = Sheet::new(size.0, (height + top + 4) as u32, paint, title);
        legend::draw(&sheet, entries, left, 2, width - left - 16);
        let frame = Frame { top, width: width - 22, height, labels, x_labels: true, mesh };
        let plot = Self::draw(&sheet, frame, x, y);
        (sheet, plot)
    }

    /// Draws the axes: titles, grid lines, and a label at each tick.
    pub(super) fn draw(sheet: &Sheet, frame: Frame, x: &Axis, y: &Axis) -> Self {
        let below = if frame.x_labels { if x.title.is_empty() { 24 } else { 40 } } else { 1 };
        let (left, top) = (frame.labels * UNIT, frame.top * UNIT);
        let end = (frame.width.max(40) * UNIT, top + frame.height.max(10) * UNIT);
        let foot = end.1 - below * UNIT;
        // The last unit inside the plot.
        let (right, bottom) = (end.0 - 1, foot - 1);
        let plot =
            Self { sheet: sheet.clone(), x: x.clone(), y: y.clone(), left, right, bottom, top, grain: 1 };
        if !y.title.is_empty() && frame.labels > 0 {
            let at = (share(0.8, NORMAL), top + (foot - top) / 2);
            plot.title(&y.title, at, foot - top + 30 * UNIT, true);
        }
        if frame.x_labels && !x.title.is_empty() {
            // A title that is longer than the axis is in the middle of the whole.
            let from = if text_width(&x.title, NORMAL) > end.0 - left { 0 } else { left };
            let at = (from + (end.0 - from) / 2, end.1 + share(-0.2, NORMAL));
            sheet.open("class=\"axis\"");
            plot.title(&x.title, at, end.0 - from, false);
            sheet.shut();
        }
        let places = |axis: &Axis, place: &dyn Fn(f64) -> i32| -> Vec<i32> {
            axis.ticks.iter().map(|(tick, _)| place(*tick)).collect()
        };
        let (across, up) =
            (places(x, &|tick| plot.at(tick, y.from).0), places(y, &|tick| plot.at(x.from, tick).1));
        for x in across.iter().filter(|_| frame.mesh.0) {
            plot.stroke([(*x, bottom), (*x, top)], Ink::Mesh);
        }
        for y in up.iter().filter(|_| frame.mesh.1) {
            plot.stroke([(left, *y), (right, *y)], Ink::Mesh);
        }
        if frame.labels > 0 {
            let axis = left - 1;
            plot.stroke([(axis, top), (axis, bottom)], Ink::Axis);
            for ((_, label), y) in y.ticks.iter().zip(up) {
                plot.label(label, (left - LABEL, y + share(0.36, SMALL)), Anchor::End);
                plot.stroke([(axis - TICK, y), (axis, y)], Ink::Axis);
            }
        }
        plot.stroke([(left, foot), (right, foot)], Ink::Axis);
        // Labels that would touch each other are left out, of even ticks at even distances; their ticks stay.
        let mut order: Vec<(&str, i32)> =
            x.ticks.iter().map(|(_, label)| label.as_str()).zip(across).collect();
        order.sort_by_key(|(_, x)| *x);
        let widest = x.ticks.iter().map(|(_, label)| text_width(label, SMALL)).max().unwrap_or(0) + 6 * UNIT;
        let gaps = || order.windows(2).map(|pair| pair[1].1 - pair[0].1);
        let every = match (gaps().min(), gaps().max()) {
            (Some(least), Some(most)) if most - least <= UNIT && least > 0 => (widest + least - 1) / least,
            _ => 1,
        };
        sheet.open("class=\"ticks\"");
        let mut free = i32::MIN;
        for (number, (label, x)) in (0..).zip(order) {
            plot.stroke([(x, foot), (x, foot + TICK)], Ink::Axis);
            let half = text_width(label, SMALL) / 2;
            if number % every == 0 && x - half >= free {
                plot.label(label, (x, foot + LABEL + share(0.8, SMALL)), Anchor::Middle);
                free = x + half + 6 * UNIT;
            }
        }
        sheet.shut();
        plot
    }

    /// The same plot with positions along x that are so fine that they can be enlarged, for a group of a page that scales them back:
    /// see [`Self::zoom`]. In a file it is the same.
    pub(super) fn fine(&self) -> Self {
        let grain = if self.sheet.is_page() { FINE } else { 1 };
        let (sheet, x, y) = (self.sheet.clone(), self.x.clone(), self.y.clone());
        Self { sheet, x, y, left: self.left * grain, right: self.right * grain, grain, ..*self }
    }

    /// Begins the group of what the script of a page moves and enlarges along x: where its axis begins and ends on the sheet and in
    /// the data is told in attributes.
    pub(super) fn zoom(&self) {
        let (from, to) = (self.x.from, self.x.to);
        let (left, right) = (tenths(self.left), tenths(self.right));
        self.sheet.open(&format!(
            "class=\"zoom\" transform=\"scale({} 1)\" data-left=\"{left}\" data-right=\"{right}\" data-from=\"{from}\" data-to=\"{to}\" data-fine=\"{FINE}\"",
            1.0 / f64::from(FINE)
        ));
    }

    /// Whether all labels of an x axis fit beside each other below a plot of a width in pixels.
    pub(super) fn has_room(axis: &Axis, width: i32) -> bool {
        let slot = width * UNIT / axis.ticks.len().max(1) as i32;
        axis.ticks.iter().all(|(_, label)| text_width(label, SMALL) + 6 * UNIT <= slot)
    }

    /// Writes the title of an axis, smaller if it is longer than `room`.
    fn title(&self, text: &str, at: (i32, i32), room: i32, upright: bool) {
        let fit = f64::from(room) / f64::from(text_width(text, NORMAL).max(1));
        let size = libm::floor(NORMAL * fit.clamp(0.7, 1.0) * 10.0) / 10.0;
        self.sheet.text(text, at, size, Ink::Text, Anchor::Middle, upright);
    }

    fn label(&self, text: &str, at: (i32, i32), anchor: Anchor) {
        if !text.is_empty() {
            self.sheet.text(text, at, SMALL, Ink::Muted, anchor, false);
        }
    }

    fn stroke(&self, points: [(i32, i32); 2], ink: Ink) {
        self.sheet.stroke(&polyline(points), ink, 1.0, 1.0);
    }

    /// The position of a data point on the sheet, in units.
    pub(super) fn at(&self, x: f64, y: f64) -> (i32, i32) {
        let along = |axis: &Axis, value: f64, from: i32, to: i32| {
            let (first, last) = (axis.place(axis.from), axis.place(axis.to));
            let share = (axis.place(value) - first) / (last - first);
            from + libm::round(share * f64::from(to - from)) as i32
        };
        (along(&self.x, x, self.left, self.right), along(&self.y, y, self.bottom, self.top))
    }

    /// The data area: left, top, right, bottom, in units.
    pub(super) fn bounds(&self) -> (i32, i32, i32, i32) {
        let (left, bottom) = self.at(self.x.from, self.y.from);
        let (right, top) = self.at(self.x.to, self.y.to);
        (left, top, right, bottom)
    }

    fn polyline(&self, points: &[(f64, f64)]) -> String {
        polyline(points.iter().map(|(x, y)| self.at(*x, *y)))
    }

    /// Draws a solid or dashed line through points.
    pub(super) fn line(&self, points: &[(f64, f64)], ink: Ink, width: f64, dash: Option<Dash>) {
        if points.len() < 2 {
            return;
        }
        self.sheet.dash(dash);
        self.sheet.stroke(&self.polyline(points), ink, 1.0, width);
        self.sheet.dash(None);
    }

    /// Draws a thin, faint line between two points.
    pub(super) fn faint(&self, ends: [(f64, f64); 2], ink: Ink) {
        self.sheet.stroke(&self.polyline(&ends), ink, 0.5, 1.2);
    }

    /// Draws a filled polygon.
    pub(super) fn polygon(&self, points: &[(f64, f64)], ink: Ink, alpha: f64) {
        if points.len() >= 3 {
            self.sheet.fill(&self.polyline(points), ink, alpha, None);
        }
    }

    /// Draws the mark of a series, hollow or filled, with a tooltip; `radius` is in pixels.
    pub(super) fn mark(&self, (x, y): (f64, f64), ink: Ink, radius: f64, hollow: bool, title: &str) {
        self.mark_at(self.at(x, y), ink, radius, hollow, title);
    }

    /// The same at a place on the sheet, in units.
    pub(super) fn mark_at(&self, at: (i32, i32), ink: Ink, radius: f64, hollow: bool, title: &str) {
        let title = (!title.is_empty()).then_some(title);
        self.sheet.mark(at, (radius * f64::from(UNIT)) as i32, ink, !hollow, title);
    }

    /// The sheet below the plot.
    pub(super) const fn sheet(&self) -> &Sheet {
        &self.sheet
    }

    /// Writes a note in the middle of an empty plot.
    pub(super) fn note(&self, text: &str) {
        let (left, top, right, bottom) = self.bounds();
        let middle = ((left + right) / 2, (top + bottom) / 2);
        self.sheet.text(text, middle, NORMAL, Ink::Muted, Anchor::Middle, false);
    }
}

/// A share of the font size, in units: the distance from the anchor of a text to its baseline.
fn share(share: f64, size: f64) -> i32 {
    (share * (size * f64::from(UNIT))) as i32
}
