//! Heat maps: values of classes, or their gain and loss.

use super::plot::{NORMAL, SMALL};
use super::sheet::{Anchor, Sheet, UNIT, fitted, rectangle, text_width};
use super::{Chart, Ink, Numbers, Paint};

/// A cell of a heat map.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatCell {
    /// Text of the cell.
    pub text: String,
    /// A second, smaller line of text.
    pub below: String,
    /// Shade, see [`HeatScale`].
    pub shade: f64,
    /// Tooltip of the cell.
    pub title: String,
    /// Number of jobs that it is about; empty if it is unknown.
    pub jobs: String,
}

/// What the shades of a table mean.
#[derive(Clone, Debug, PartialEq)]
pub enum HeatScale {
    /// Changes, from −1 (largest gain) to 1 (largest loss).
    Change,
    /// Values, from 0 (least) to 1 (most).
    Values {
        /// The least value.
        least: String,
        /// The largest value.
        most: String,
        /// Whether equal ratios have equal steps of shade, instead of equal differences.
        log: bool,
        /// Whether larger values are better. If not, the colour is that of loss.
        higher_is_better: bool,
    },
}

/// One table of cells.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatPanel {
    /// Title of the table: the measure that it shows.
    pub title: String,
    /// What its shades mean. If all tables have the same, one key is below them all, else each has its own.
    pub scale: HeatScale,
    /// The cells by row; `None` where there are no jobs.
    pub cells: Vec<Vec<Option<HeatCell>>>,
}

/// Tables with the same rows and columns, side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatChart {
    /// Title of the chart.
    pub title: String,
    /// Names of the rows.
    pub rows: Vec<String>,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The tables.
    pub panels: Vec<HeatPanel>,
}

/// Height of a row, and the least width of a column, in pixels: in print, and where there is room for two values in a cell.
const ROW: i32 = 38;
const LEAST: i32 = 44;
const ROOMY: i32 = 62;
/// Height of the key of a table of its own.
const OWN_KEY: i32 = 24;

impl Chart for HeatChart {
    fn svg(&self, paint: Paint) -> String {
        let widest = self.rows.iter().map(|name| text_width(name, NORMAL)).max().unwrap_or(0);
        let labels = widest / UNIT + 12;
        let columns = self.columns.len().max(1) as i32;
        let gap = 18;
        // As many panels beside each other as there is room for.
        let panels = self.panels.len().max(1) as i32;
        let wide = paint.width(super::WIDTH) as i32;
        let least = if let Paint::Print(..) = paint { LEAST } else { ROOMY };
        let across = ((wide - labels) / (columns * least + gap)).clamp(1, panels);
        let column = ((wide - labels - across * gap) / (across * columns))
            .clamp(LEAST, if columns == 1 { 170 } else { 110 });
        let width = labels + across * (columns * column + gap);
        let shared = self.panels.windows(2).all(|pair| pair[0].scale == pair[1].scale);
        let (head, named) = (24, self.columns.iter().any(|name| !name.is_empty()));
        let first = head + if named { 20 } else { 4 };
        let table = first + self.rows.len() as i32 * ROW;
        let block = table + if shared { 6 } else { 6 + OWN_KEY };
        let key = if shared { 44 } else { 0 };
        let height = (panels + across - 1) / across * block - 6 + key;
        // The minimum width leaves space for the key.
        let sheet = Sheet::new(width.max(480.min(wide)) as u32, height as u32, paint, &self.title);
        let text = |text: &str, x: i32, y: i32, size: f64, ink: Ink, anchor: Anchor| {
            sheet.text(text, (x * UNIT, y * UNIT), size, ink, anchor, false);
        };
        for (number, panel) in (0..).zip(&self.panels) {
            let left = labels + number % across * (columns * column + gap);
            let above = number / across * block;
            let top = above + first;
            for (row, name) in self.rows.iter().enumerate().filter(|_| number % across == 0) {
                text(name, labels - 8, top + row as i32 * ROW + ROW / 2 + 4, NORMAL, Ink::Text, Anchor::End);
            }
            let title = fitted(&panel.title, NORMAL, (columns * column + gap - 4) * UNIT).unwrap_or_default();
            text(&title, left, above + 14, NORMAL, Ink::Text, Anchor::Start);
            for (place, name) in (0..).zip(&self.columns) {
                let name = fitted(name, SMALL, column * UNIT).unwrap_or_default();
                text(&name, left + place * column + column / 2, top - 6, SMALL, Ink::Muted, Anchor::Middle);
            }
            for (row, cells) in (0..).zip(&panel.cells) {
                for (place, cell) in (0..).zip(cells) {
                    let corner = (left + place * column, top + row * ROW);
                    panel.scale.cell(&sheet, corner, column, cell.as_ref());
                }
            }
            if !shared {
                panel.scale.key(&sheet, left, above + table + 6, columns * column);
            }
        }
        if let Some(panel) = self.panels.first().filter(|_| shared) {
            panel.scale.key(&sheet, labels, height - key + 14, width.max(480.min(wide)) - labels);
        }
        sheet.finish()
    }

    fn numbers(&self) -> Numbers {
        let change = self.panels.iter().any(|panel| panel.scale == HeatScale::Change);
        let head = if change {
            ["measure", "row", "column", "change", "from and to", "jobs"]
        } else {
            ["measure", "row", "column", "value", "note", "jobs"]
        };
        let mut numbers = Numbers::new(head);
        for panel in &self.panels {
            for (row, cells) in self.rows.iter().zip(&panel.cells) {
                for (column, cell) in self.columns.iter().zip(cells) {
                    let Some(HeatCell { text, below, jobs, .. }) = cell else { continue };
                    numbers
                        .rows
                        .push([&panel.title, row, column, text, below, jobs].map(String::clone).into());
                }
            }
        }
        numbers
    }
}

impl HeatScale {
    fn cell(&self, sheet: &Sheet, (x, y): (i32, i32), column: i32, cell: Option<&HeatCell>) {
        let text = |text: &str, baseline: i32, size: f64, ink: Ink| {
            let place = ((x + column / 2) * UNIT, (y + baseline) * UNIT);
            sheet.text(text, place, size, ink, Anchor::Middle, false);
        };
        let mut data = String::new();
        rectangle(&mut data, (x + 1) * UNIT, (y + 1) * UNIT, (column - 2) * UNIT, (ROW - 2) * UNIT);
        // The cell is filled with light grey first, so that it is visible even if its shade is faint.
        sheet.fill(&data, Ink::Mesh, 0.5, None);
        let Some(cell) = cell else {
            text("–", ROW / 2 + 4, SMALL, Ink::Muted);
            return;
        };
        self.shade(sheet, &data, cell.shade, Some(&cell.title));
        let value = fitted(&cell.text, NORMAL, (column - 2) * UNIT).unwrap_or_default();
        text(&value, if cell.below.is_empty() { ROW / 2 + 4 } else { ROW / 2 }, NORMAL, Ink::Text);
        let below = fitted(&cell.below, 9.5, (column - 4) * UNIT).unwrap_or_default();
        text(&below, ROW / 2 + 13, 9.5, Ink::Text);
    }

    /// Draws the key of the shades in so much width.
    fn key(&self, sheet: &Sheet, left: i32, top: i32, width: i32) {
        const STEPS: i32 = 9;
        let (below, above, note) = match self {
            Self::Change => ("better", "worse", "full shade: half as much, or twice"),
            Self::Values { least, most, log, .. } => {
                (least.as_str(), most.as_str(), if *log { "log scale" } else { "" })
            }
        };
        let begin = left + text_width(below, SMALL) / UNIT + 8;
        let mut end = text_width(above, SMALL) / UNIT + 8;
        if *self != Self::Change && !note.is_empty() {
            end += text_width(note, SMALL) / UNIT + 12;
        }
        let step = ((width - (begin - left) - end) / STEPS).clamp(4, 18);
        for number in 0..STEPS {
            let mut data = String::new();
            rectangle(&mut data, (begin + number * step) * UNIT, top * UNIT, step * UNIT, 12 * UNIT);
            sheet.fill(&data, Ink::Mesh, 0.5, None);
            let place = f64::from(number) / f64::from(STEPS - 1);
            self.shade(sheet, &data, if *self == Self::Change { 2.0 * place - 1.0 } else { place }, None);
        }
        let text = |text: &str, x: i32, y: i32, anchor: Anchor| {
            sheet.text(text, (x * UNIT, (top + y) * UNIT), SMALL, Ink::Muted, anchor, false);
        };
        let over = begin + STEPS * step + 8;
        text(below, begin - 8, 10, Anchor::End);
        text(above, over, 10, Anchor::Start);
        match self {
            Self::Change => text(note, begin, 25, Anchor::Start),
            // Beside it, if there is room.
            Self::Values { .. } => {
                let place = over + text_width(above, SMALL) / UNIT + 12;
                if place + text_width(note, SMALL) / UNIT <= left + width {
                    text(note, place, 10, Anchor::Start);
                }
            }
        }
    }

    /// Fills a shape in the colour of a shade.
    fn shade(&self, sheet: &Sheet, data: &str, shade: f64, title: Option<&str>) {
        let ink = match self {
            Self::Change if shade < 0.0 => Ink::Gain,
            Self::Values { higher_is_better: true, .. } => Ink::Gain,
            Self::Change | Self::Values { .. } => Ink::Loss,
        };
        sheet.fill(data, ink, (shade.abs().min(1.0) * 0.72).max(0.01), title);
    }
}
