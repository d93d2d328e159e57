//! Small multiples: quantities over time, a small panel for each site, with the same axes.

use super::legend;
use super::over_time::{TimeLayer, entries, numbers};
use super::plot::{Frame, NORMAL, Plot, label_space};
use super::sheet::{Anchor, Sheet, UNIT, fitted};
use super::{Axis, Chart, Ink, Numbers, Paint, TimeMarks, WIDTH};

/// Least width of a panel, its height, and the gap between two, in pixels.
const LEAST: i32 = 230;
const HEIGHT: i32 = 74;
const GAP: i32 = 24;
/// Height of the name above a panel, of the labels below the last one of a column, and of the title below them, in pixels.
const NAME: i32 = 24;
const LABELS: i32 = 24;
const TITLE: i32 = 18;

/// Small charts over time with the same axes, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct PanelsChart {
    /// Title of the chart.
    pub title: String,
    /// The time axis, in seconds.
    pub x: Axis,
    /// The axis of the quantities.
    pub y: Axis,
    /// Name and layers of each panel. A layer has the same name in each.
    pub panels: Vec<(String, Vec<TimeLayer>)>,
    /// Minimum width of the label column in pixels, so that charts below each other are aligned.
    pub labels: i32,
    /// Marks on the time axes.
    pub marks: TimeMarks,
}

impl Chart for PanelsChart {
    fn svg(&self, paint: Paint) -> String {
        let whole = paint.width(WIDTH) as i32;
        let marks = self.marks.on(&self.x);
        let mut layers: Vec<&TimeLayer> = Vec::new();
        for layer in self.panels.iter().flat_map(|(_, layers)| layers) {
            if layers.iter().all(|known| known.name != layer.name) {
                layers.push(layer);
            }
        }
        let entries = entries(&layers, &marks);
        let left = self.labels.max(label_space(&self.y));
        let inside = whole - left - 16;
        let count = self.panels.len().max(1) as i32;
        let columns = ((inside + GAP) / (LEAST + GAP)).clamp(1, count);
        // As many columns as fill their rows best.
        let rows = (count + columns - 1) / columns;
        let columns = (count + rows - 1) / rows;
        let width = (inside - GAP * (columns - 1)) / columns;
        let above = legend::height(&entries, inside);
        let sheet = Sheet::new(
            whole as u32,
            (above + rows * (NAME + HEIGHT) + LABELS + TITLE) as u32,
            paint,
            &self.title,
        );
        legend::draw(&sheet, &entries, left, 2, inside);
        for (at, (name, layers)) in (0..).zip(&self.panels) {
            let (row, column) = (at / columns, at % columns);
            let (from, top) = (left + column * (width + GAP), above + row * (NAME + HEIGHT) + NAME);
            let last = at + columns >= count;
            let height = HEIGHT + if last { LABELS } else { 1 };
            let frame =
                Frame { top, width: from + width, height, labels: from, x_labels: last, mesh: (false, true) };
            let x = if last { self.x.untitled() } else { self.x.without_ticks() };
            // Only the first panel of a row has labels; the others have the same grid lines.
            let y = if column == 0 { self.y.untitled() } else { self.y.unlabelled() };
            let plot = Plot::draw(&sheet, frame, &x, &y);
            marks.shade(&plot);
            layers.iter().for_each(|layer| layer.draw(&plot, (self.x.to, self.y.from), false));
            marks.lines(&plot);
            let name = fitted(name, NORMAL, width * UNIT).unwrap_or_default();
            sheet.text(&name, (from * UNIT, (top - 6) * UNIT), NORMAL, Ink::Text, Anchor::Start, false);
        }
        let middle = above + NAME + (rows * (NAME + HEIGHT) - NAME) / 2;
        let foot = above + rows * (NAME + HEIGHT) + LABELS + TITLE - 6;
        let centre = left + inside / 2;
        sheet.text(&self.x.title, (centre * UNIT, foot * UNIT), NORMAL, Ink::Text, Anchor::Middle, false);
        sheet.text(&self.y.title, (10 * UNIT, middle * UNIT), NORMAL, Ink::Text, Anchor::Middle, true);
        sheet.finish()
    }

    fn numbers(&self) -> Numbers {
        let layers = self.panels.iter().flat_map(|(name, layers)| {
            layers.iter().map(move |layer| (format!("{name}, {}", layer.name), layer))
        });
        numbers(&self.x, &self.y, layers)
    }
}
