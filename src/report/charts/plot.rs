//! One pair of axes on a sheet, and marks in their coordinates.

use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::{Cartesian2d, ChartBuilder, DrawingArea, IntoDrawingArea, PathElement, Polygon};
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, IntoTextStyle, ShapeStyle, TextStyle};

use super::axis::Axis;
use super::backend::Backend;
use super::palette::Ink;
use super::sheet::{Anchor, Dash, Sheet, UNIT, text_width};
use super::{ChartError, Paint, legend};

/// Size of tick labels, in pixels.
pub(super) const SMALL: f64 = 11.0;
/// Size of titles of axes and of entries of a legend.
pub(super) const NORMAL: f64 = 12.0;

type Coordinates = Cartesian2d<Scale, Scale>;

/// Where a plot stands on its sheet, labels included, in pixels.
#[derive(Copy, Clone, Debug)]
pub(super) struct Frame {
    pub(super) left: i32,
    pub(super) top: i32,
    pub(super) width: i32,
    pub(super) height: i32,
    /// Space for labels at the left.
    pub(super) labels: i32,
    /// Whether labels and title of the x axis are drawn.
    pub(super) x_labels: bool,
    /// Whether lines are drawn at ticks: of x, of y.
    pub(super) mesh: (bool, bool),
}

/// A pair of axes.
pub(super) struct Plot {
    sheet: Sheet,
    area: DrawingArea<Backend, Coordinates>,
    x: Axis,
    y: Axis,
}

/// Space at the left that labels of an axis and its title need, in pixels.
pub(super) fn label_space(axis: &Axis) -> i32 {
    let widest = axis.ticks.iter().map(|(_, label)| text_width(label, SMALL)).max().unwrap_or(0);
    widest / UNIT + if axis.title.is_empty() { 14 } else { 34 }
}

impl Plot {
    /// A sheet of its own for one pair of axes of a size in pixels, with a legend above it.
    pub(super) fn under_legend(
        (title, size, paint): (&str, (u32, u32), Paint),
        (x, y): (&Axis, &Axis),
        entries: &[legend::Entry],
        mesh: (bool, bool),
    ) -> Result<(Sheet, Self), ChartError> {
        let labels = label_space(y);
        let (width, height) = (size.0 as i32, size.1 as i32);
        let above = legend::height(entries, width - labels - 16) + 6;
        let sheet = Sheet::new(size.0, size.1 + above as u32 + 4, paint, title);
        legend::draw(&sheet, entries, labels, 2, width - labels - 16);
        let frame = Frame { left: 0, top: above, width: width - 22, height, labels, x_labels: true, mesh };
        let plot = Self::draw(&sheet, frame, x, y)?;
        Ok((sheet, plot))
    }

    /// Draws the axes.
    pub(super) fn draw(sheet: &Sheet, frame: Frame, x: &Axis, y: &Axis) -> Result<Self, ChartError> {
        let root: DrawingArea<Backend, Shift> = Backend(sheet.clone()).into_drawing_area();
        let place = |pixels: i32| pixels * UNIT;
        let size = ((frame.width.max(40) * UNIT) as u32, (frame.height.max(40) * UNIT) as u32);
        let area = root.shrink((place(frame.left), place(frame.top)), size);
        let below = if frame.x_labels { if x.title.is_empty() { 24 } else { 40 } } else { 1 };
        let mut chart = ChartBuilder::on(&area)
            .set_left_and_bottom_label_area_size(0)
            .x_label_area_size((below * UNIT) as u32)
            .y_label_area_size((frame.labels * UNIT) as u32)
            .build_cartesian_2d(Scale(x.clone()), Scale(y.clone()))?;
        let small = style(SMALL, Ink::Muted);
        let mut mesh = chart.configure_mesh();
        mesh.bold_line_style(stroke(Ink::Mesh, 1.0, 1.0))
            .light_line_style(stroke(Ink::Mesh, 0.0, 1.0))
            .axis_style(stroke(Ink::Axis, 1.0, 1.0))
            .label_style(small)
            .axis_desc_style(style(NORMAL, Ink::Text))
            .set_all_tick_mark_size(4 * UNIT as u32)
            .x_labels(x.ticks.len().max(1))
            .y_labels(y.ticks.len().max(1));
        if frame.x_labels && !x.title.is_empty() {
            mesh.x_desc(x.title.as_str());
        }
        if !y.title.is_empty() && frame.labels > 0 {
            mesh.y_desc(y.title.as_str());
        }
        if !frame.mesh.0 {
            mesh.disable_x_mesh();
        }
        if !frame.mesh.1 {
            mesh.disable_y_mesh();
        }
        mesh.draw()?;
        drop(mesh);
        let area = DrawingArea::clone(chart.plotting_area());
        Ok(Self { sheet: sheet.clone(), area, x: x.clone(), y: y.clone() })
    }

    /// Where a point of the data is, in units of the sheet.
    pub(super) fn at(&self, x: f64, y: f64) -> (i32, i32) {
        self.area.map_coordinate(&(self.x.place(x), self.y.place(y)))
    }

    /// The rectangle of the data: left, top, right, bottom, in units.
    pub(super) fn bounds(&self) -> (i32, i32, i32, i32) {
        let (left, bottom) = self.at(self.x.from, self.y.from);
        let (right, top) = self.at(self.x.to, self.y.to);
        (left, top, right, bottom)
    }

    fn placed(&self, points: &[(f64, f64)]) -> Vec<(f64, f64)> {
        points.iter().map(|(x, y)| (self.x.place(*x), self.y.place(*y))).collect()
    }

    /// A line through points, broken or not.
    pub(super) fn line(
        &self,
        points: &[(f64, f64)],
        ink: Ink,
        width: f64,
        dash: Option<Dash>,
    ) -> Result<(), ChartError> {
        if points.len() < 2 {
            return Ok(());
        }
        self.sheet.dash(dash);
        let drawn = self.area.draw(&PathElement::new(self.placed(points), stroke(ink, 1.0, width)));
        self.sheet.dash(None);
        Ok(drawn?)
    }

    /// A filled shape.
    pub(super) fn polygon(&self, points: &[(f64, f64)], ink: Ink, alpha: f64) -> Result<(), ChartError> {
        if points.len() < 3 {
            return Ok(());
        }
        let fill = ShapeStyle { color: ink.colour().mix(alpha), filled: true, stroke_width: 0 };
        Ok(self.area.draw(&Polygon::new(self.placed(points), fill))?)
    }

    /// A round mark, hollow or filled, with what is told when it is pointed at.
    pub(super) fn mark(&self, (x, y): (f64, f64), ink: Ink, radius: f64, hollow: bool, title: &str) {
        let index = ink.colour().2;
        let title = (!title.is_empty()).then_some(title);
        self.sheet.circle(self.at(x, y), (radius * f64::from(UNIT)) as i32, index, !hollow, title);
    }

    /// A filled mark with four corners on an edge of paper, so many pixels from its middle to a corner.
    pub(super) fn diamond(&self, (x, y): (f64, f64), ink: Ink, radius: i32) {
        self.sheet.diamond(self.at(x, y), ink.colour().2, radius);
    }

    /// A note in the middle of an empty plot.
    pub(super) fn note(&self, text: &str) {
        let (left, top, right, bottom) = self.bounds();
        let middle = ((left + right) / 2, (top + bottom) / 2);
        self.sheet.text(text, middle, NORMAL, Ink::Muted.colour().2, Anchor::Middle, false);
    }
}

/// An axis as plotters sees it: the places of what is drawn, with ticks of our choice.
#[derive(Clone)]
struct Scale(Axis);

impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let (from, to) = (self.0.place(self.0.from), self.0.place(self.0.to));
        let share = (value - from) / (to - from);
        limit.0 + libm::round(share * f64::from(limit.1 - limit.0)) as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.0.ticks.iter().map(|(tick, _)| self.0.place(*tick)).collect()
    }

    fn range(&self) -> Range<f64> {
        self.0.place(self.0.from)..self.0.place(self.0.to)
    }
}

impl ValueFormatter<f64> for Scale {
    fn format_ext(&self, value: &f64) -> String {
        let place = |tick: f64| self.0.place(tick);
        self.0
            .ticks
            .iter()
            .find(|(tick, _)| place(*tick) == *value)
            .map_or_else(String::new, |(_, label)| label.clone())
    }
}

fn stroke(ink: Ink, alpha: f64, width: f64) -> ShapeStyle {
    ShapeStyle {
        color: ink.colour().mix(alpha),
        filled: false,
        stroke_width: (width * f64::from(UNIT)) as u32,
    }
}

fn style(size: f64, ink: Ink) -> TextStyle<'static> {
    let font = FontDesc::new(FontFamily::SansSerif, size * f64::from(UNIT), FontStyle::Normal);
    font.color(&ink.colour()).into_text_style(&(1, 1))
}
