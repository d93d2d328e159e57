//! Rasters replace the bars of a Gantt chart when there are more bars than pixels: for each cell of time × processors, its
//! utilization by group of jobs.

use std::io::Write as _;
use std::ops::Range;

use flate2::{Compression, Crc, write::ZlibEncoder};

use super::palette::{Ink, Theme};

/// A grid of cells over time × processors, with the processor time of each group of jobs in each cell. Exact: in microseconds ×
/// processors.
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
    /// An empty raster over the time `from..to` in microseconds and the processors `0..processors`.
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

    /// Start and end in seconds.
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

    /// The share of a cell's processor time that a group used.
    pub fn share(&self, column: u32, row: u32, group: usize) -> f64 {
        let place = (row as usize * self.columns as usize + column as usize) * self.groups + group;
        let (time, held) = (self.time_of(column), self.processors_of(row));
        let whole = (time.end - time.start) * u64::from(held.end - held.start);
        self.cells.get(place).map_or(0.0, |used| *used as f64 / whole.max(1) as f64)
    }

    // Cells divide the axis evenly: cell n starts at ⌈n·length/cells⌉.
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

    /// The raster as a PNG file with a transparent background: the colour of a pixel mixes those of the groups, and its opacity is
    /// the utilization of the cell. The lowest processors are at the bottom.
    pub fn png(&self, inks: &[Ink], theme: Theme) -> Vec<u8> {
        let mut pixels = vec![[0_u8; 4]; self.columns as usize * self.rows as usize];
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
                    // Few distinct values compress better.
                    let value = shares.iter().enumerate().map(of).sum::<f64>() / sum;
                    (libm::round(value / 16.0) * 16.0).clamp(0.0, 255.0) as u8
                };
                let weight = (libm::ceil(sum.min(1.0) * 12.0) / 12.0 * 255.0) as u8;
                let place = ((self.rows - 1 - row) * self.columns + column) as usize;
                pixels[place] = [mixed(0), mixed(1), mixed(2), weight];
            }
        }
        bitmap(self.columns, pixels.as_flattened())
    }
}

/// Encodes rows of `columns` pixels (red, green, blue, alpha) as a PNG file: its header, one chunk of data, its end.
fn bitmap(columns: u32, pixels: &[u8]) -> Vec<u8> {
    let rows = pixels.chunks_exact(columns as usize * 4);
    let mut header = [columns.to_be_bytes(), (rows.len() as u32).to_be_bytes()].concat();
    // Eight bits per channel, four channels, not interlaced.
    header.extend([8, 6, 0, 0, 0]);
    let mut data = ZlibEncoder::new(Vec::new(), Compression::default());
    for row in rows {
        // Each row starts with its filter type, 0 for none. Writing to a vector cannot fail.
        let _ = data.write_all(&[0]).and_then(|()| data.write_all(row));
    }
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, content) in
        [(b"IHDR", header), (b"IDAT", data.finish().unwrap_or_default()), (b"IEND", Vec::new())]
    {
        let named = [&kind[..], &content].concat();
        let mut sum = Crc::new();
        sum.update(&named);
        file.extend((content.len() as u32).to_be_bytes());
        file.extend(named);
        file.extend(sum.sum().to_be_bytes());
    }
    file
}
