//! Heat maps of gain and loss.

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
    /// Shade from −1 (largest gain) to 1 (largest loss).
    pub shade: f64,
    /// Tooltip of the cell.
    pub title: String,
}

/// One table of cells.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatPanel {
    /// Title of the table: the measure that it shows.
    pub title: String,
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

/// Height of a row, and the least width of a column, in pixels.
const ROW: i32 = 38;
const LEAST: i32 = 44;

impl Chart for HeatChart {
    fn svg(&self, paint: Paint) -> String {
        let widest = self.rows.iter().map(|name| text_width(name, NORMAL)).max().unwrap_or(0);
        let labels = widest / UNIT + 12;
        let columns = self.columns.len().max(1) as i32;
        let gap = 18;
        // As many panels beside each other as a column of a journal has room for; on a page all of them.
        let panels = self.panels.len().max(1) as i32;
        let wide = paint.width(super::WIDTH) as i32;
        let fit =
            if let Paint::Print(..) = paint { (wide - labels) / (columns * LEAST + gap) } else { panels };
        let across = fit.clamp(1, panels);
        let column = ((wide - labels - across * gap) / (across * columns))
            .clamp(LEAST, if columns == 1 { 170 } else { 110 });
        let width = labels + across * (columns * column + gap);
        let (head, named) = (24, self.columns.iter().any(|name| !name.is_empty()));
        let first = head + if named { 20 } else { 4 };
        let block = first + self.rows.len() as i32 * ROW + 6;
        let key = 44;
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
                    self.cell(&sheet, corner, column, cell.as_ref());
                }
            }
        }
        Self::key(&sheet, labels, height - key + 14);
        sheet.finish()
    }

    fn numbers(&self) -> Numbers {
        let mut numbers = Numbers::new(["measure", "row", "column", "change", "from and to"]);
        for panel in &self.panels {
            for (row, cells) in self.rows.iter().zip(&panel.cells) {
                for (column, cell) in self.columns.iter().zip(cells) {
                    let Some(HeatCell { text, below, .. }) = cell else { continue };
                    numbers.rows.push([&panel.title, row, column, text, below].map(String::clone).into());
                }
            }
        }
        numbers
    }
}

impl HeatChart {
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
        shade(sheet, &data, cell.shade, Some(&cell.title));
        text(&cell.text, if cell.below.is_empty() { ROW / 2 + 4 } else { ROW / 2 }, NORMAL, Ink::Text);
        let below = fitted(&cell.below, 9.5, (column - 4) * UNIT).unwrap_or_default();
        text(&below, ROW / 2 + 13, 9.5, Ink::Text);
    }

    /// Draws the key of the shades.
    fn key(sheet: &Sheet, left: i32, top: i32) {
        const STEPS: i32 = 9;
        let begin = left + 52;
        for step in 0..STEPS {
            let mut data = String::new();
            rectangle(&mut data, (begin + step * 18) * UNIT, top * UNIT, 18 * UNIT, 12 * UNIT);
            sheet.fill(&data, Ink::Mesh, 0.5, None);
            shade(sheet, &data, f64::from(step - STEPS / 2) / f64::from(STEPS / 2), None);
        }
        let text = |text: &str, x: i32, y: i32, anchor: Anchor| {
            sheet.text(text, (x * UNIT, (top + y) * UNIT), SMALL, Ink::Muted, anchor, false);
        };
        text("better", begin - 8, 10, Anchor::End);
        text("worse", begin + STEPS * 18 + 8, 10, Anchor::Start);
        text("full shade: half as much, or twice", begin, 25, Anchor::Start);
    }
}

/// Fills a shape in the colour of a shade from −1 (largest gain) to 1 (largest loss).
fn shade(sheet: &Sheet, data: &str, shade: f64, title: Option<&str>) {
    let ink = if shade < 0.0 { Ink::Gain } else { Ink::Loss };
    sheet.fill(data, ink, (shade.abs().min(1.0) * 0.72).max(0.01), title);
}
