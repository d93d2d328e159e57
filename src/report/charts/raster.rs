//! What a Gantt chart shows when there are more bars than pixels: how far each cell of time × processors was in use, and by
//! whom.

use std::ops::Range;

use resvg::tiny_skia::{ColorU8, Pixmap};

use super::palette::{Ink, Theme};

/// Time × processors as a grid of cells, each with the processor time that every group of jobs had in it. Exact: in
/// microseconds × processors.
#[derive(Clone, Debug)]
pub struct Raster {
    columns: u32,
    rows: u32,
    groups: usize,
    from: u64,
    to: u64,
    processors: u32,
    cells: Vec<u64>,
}

impl Raster {
    /// Of so many cells over the time `from..to` in microseconds and processors `0..processors`.
    pub fn new(columns: u32, rows: u32, groups: usize, (from, to): (u64, u64), processors: u32) -> Self {
        let (columns, rows) = (columns.max(1), rows.clamp(1, processors.max(1)));
        let cells = vec![0; columns as usize * rows as usize * groups.max(1)];
        Self {
            columns,
            rows,
            groups: groups.max(1),
            from,
            to: to.max(from + 1),
            processors: processors.max(1),
            cells,
        }
    }

    /// From when until when it is, in seconds.
    pub(super) fn span(&self) -> (f64, f64) {
        (self.from as f64 / 1e6, self.to as f64 / 1e6)
    }

    /// Adds the processors `procs`, held by `group` from `from` to `to`.
    pub fn add(&mut self, from: u64, to: u64, procs: Range<u32>, group: usize) {
        let (from, to) = (from.clamp(self.from, self.to), to.clamp(self.from, self.to));
        let procs = procs.start.min(self.processors)..procs.end.min(self.processors);
        if from >= to || procs.is_empty() {
            return;
        }
        let group = group.min(self.groups - 1);
        let (first, last) = (self.column_of(from), self.column_of(to - 1));
        let (low, high) = (self.row_of(procs.start), self.row_of(procs.end - 1));
        for row in low..=high {
            let held = self.processors_of(row);
            let count = u64::from(held.end.min(procs.end) - held.start.max(procs.start));
            for column in first..=last {
                let time = self.time_of(column);
                let span = time.end.min(to).saturating_sub(time.start.max(from));
                let place = (row as usize * self.columns as usize + column as usize) * self.groups + group;
                self.cells[place] += count * span;
            }
        }
    }

    /// The share of a cell that a group had.
    pub fn share(&self, column: u32, row: u32, group: usize) -> f64 {
        let place = (row as usize * self.columns as usize + column as usize) * self.groups + group;
        let (time, held) = (self.time_of(column), self.processors_of(row));
        let whole = (time.end - time.start) * u64::from(held.end - held.start);
        self.cells.get(place).map_or(0.0, |used| *used as f64 / whole.max(1) as f64)
    }

    // Cells cut the axis evenly: cell n is from ⌈n·length/cells⌉ on.
    fn column_of(&self, time: u64) -> u32 {
        (u128::from(time - self.from) * u128::from(self.columns) / u128::from(self.to - self.from)) as u32
    }

    fn time_of(&self, column: u32) -> Range<u64> {
        let (length, columns) = (u128::from(self.to - self.from), u128::from(self.columns));
        let edge = |column: u32| self.from + (u128::from(column) * length).div_ceil(columns) as u64;
        edge(column)..edge(column + 1)
    }

    fn row_of(&self, proc: u32) -> u32 {
        (u64::from(proc) * u64::from(self.rows) / u64::from(self.processors)) as u32
    }

    fn processors_of(&self, row: u32) -> Range<u32> {
        let edge =
            |row: u32| (u64::from(row) * u64::from(self.processors)).div_ceil(u64::from(self.rows)) as u32;
        edge(row)..edge(row + 1)
    }

    /// As pixels on clear ground: the colour is that of the groups, mixed, and its weight how far the cell was in use. The first
    /// processors are at the bottom. `None` if there is no such bitmap.
    pub fn png(&self, inks: &[Ink], theme: Theme) -> Option<Vec<u8>> {
        let mut pixels = Pixmap::new(self.columns, self.rows)?;
        for row in 0..self.rows {
            for column in 0..self.columns {
                let shares: Vec<f64> = (0..self.groups).map(|group| self.share(column, row, group)).collect();
                let sum: f64 = shares.iter().sum();
                if sum <= 0.0 {
                    continue;
                }
                let mixed = |channel: usize| {
                    let of = |(group, share): (usize, &f64)| {
                        share * f64::from(inks.get(group).map_or(128, |ink| ink.rgb(theme)[channel]))
                    };
                    // In steps, so that it can be compressed.
                    let value = shares.iter().enumerate().map(of).sum::<f64>() / sum;
                    (libm::round(value / 16.0) * 16.0).clamp(0.0, 255.0) as u8
                };
                let weight = (libm::ceil(sum.min(1.0) * 12.0) / 12.0 * 255.0) as u8;
                let colour = ColorU8::from_rgba(mixed(0), mixed(1), mixed(2), weight).premultiply();
                let place = ((self.rows - 1 - row) * self.columns + column) as usize;
                pixels.pixels_mut()[place] = colour;
            }
        }
        pixels.encode_png().ok()
    }
}
