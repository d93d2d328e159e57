//! Rasters replace the bars of a Gantt chart when there are more bars than pixels: for each cell of time × processors, its
//! utilization by group of jobs.

use std::io::Write as _;
use std::ops::Range;

use flate2::{Compression, Crc, write::ZlibEncoder};

use super::palette::{Ink, Theme};
use crate::report::bins::Bins;

/// A grid of cells over time × processors, with the processor time of each group of jobs in each cell. Exact: in microseconds ×
/// processors.
#[derive(Clone, Debug)]
pub struct Raster {
    /// Time in microseconds, in columns.
    time: Bins,
    /// Processors, in rows.
    procs: Bins,
    groups: usize,
    cells: Vec<u64>,
}

impl Raster {
    /// An empty raster over the time `from..to` in microseconds and the processors `0..processors`.
    pub fn new(columns: u32, rows: u32, groups: usize, (from, to): (u64, u64), processors: u32) -> Self {
        let (groups, processors) = (groups.max(1), processors.max(1));
        let time = Bins::new((from, to), columns);
        let procs = Bins::new((0, u64::from(processors)), rows.clamp(1, processors));
        let cells = vec![0; time.count as usize * procs.count as usize * groups];
        Self { time, procs, groups, cells }
    }

    /// Start and end in seconds.
    pub(super) fn span(&self) -> (f64, f64) {
        (self.time.from as f64 / 1e6, self.time.to as f64 / 1e6)
    }

    /// Adds the processors `procs`, held by `group` from `from` to `to`.
    pub fn add(&mut self, from: u64, to: u64, procs: Range<u32>, group: usize) {
        let Bins { from: begin, to: end, .. } = self.time;
        let (from, to) = (from.clamp(begin, end), to.clamp(begin, end));
        let procs = u64::from(procs.start).min(self.procs.to)..u64::from(procs.end).min(self.procs.to);
        if from >= to || procs.is_empty() {
            return;
        }
        let group = group.min(self.groups - 1);
        let columns = self.time.bin(from)..=self.time.bin(to - 1);
        for row in self.procs.bin(procs.start)..=self.procs.bin(procs.end - 1) {
            let held = self.procs.range(row);
            let count = held.end.min(procs.end) - held.start.max(procs.start);
            for column in columns.clone() {
                let time = self.time.range(column);
                let span = time.end.min(to).saturating_sub(time.start.max(from));
                let cell = self.cell(column, row, group);
                self.cells[cell] += count * span;
            }
        }
    }

    /// The share of a cell's processor time that a group used.
    pub fn share(&self, column: u32, row: u32, group: usize) -> f64 {
        let (time, held) = (self.time.range(column), self.procs.range(row));
        let whole = (time.end - time.start) * (held.end - held.start);
        self.cells.get(self.cell(column, row, group)).map_or(0.0, |used| *used as f64 / whole.max(1) as f64)
    }

    fn cell(&self, column: u32, row: u32, group: usize) -> usize {
        (row as usize * self.time.count as usize + column as usize) * self.groups + group
    }

    /// The raster as a PNG file with a transparent background: the colour of a pixel mixes those of the groups, and its opacity is
    /// the utilization of the cell. The lowest processors are at the bottom.
    pub fn png(&self, inks: &[Ink], theme: Theme) -> Vec<u8> {
        let (columns, rows) = (self.time.count, self.procs.count);
        let mut pixels = vec![[0_u8; 4]; columns as usize * rows as usize];
        for row in 0..rows {
            for column in 0..columns {
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
                let place = ((rows - 1 - row) * columns + column) as usize;
                pixels[place] = [mixed(0), mixed(1), mixed(2), weight];
            }
        }
        bitmap(columns, pixels.as_flattened())
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
