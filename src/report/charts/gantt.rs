//! Gantt charts: processors by time, in strips, a partition each; bars while they can be told apart, a [`Raster`] beyond.

use std::ops::Range;

use super::legend::{self, Swatch};
use super::plot::{Frame, NORMAL, Plot, SMALL};
use super::sheet::{Anchor, Dash, Sheet, UNIT, fitted, polyline, rectangle, text_width};
use super::{Axis, Chart, ChartError, Ink, Paint, Raster, Theme, WIDTH};

/// A strip: the processors of one partition.
#[derive(Clone, Debug)]
pub struct GanttRow {
    /// Its name: the site.
    pub name: String,
    /// A second name, smaller: the partition.
    pub part: String,
    /// Its processors.
    pub processors: u32,
    /// Processors a machine; 0 if nothing is known of machines.
    pub cores: u32,
    /// What is drawn instead of bars.
    pub raster: Option<Raster>,
}

/// A stretch of an attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct GanttBar {
    /// Its strip.
    pub row: usize,
    /// From when, in seconds.
    pub from: f64,
    /// Until when.
    pub to: f64,
    /// On which processors.
    pub ranges: Vec<Range<u32>>,
    /// Its group, which has a colour.
    pub group: usize,
    /// What is written in it, if it fits.
    pub label: String,
    /// What is told when it is pointed at.
    pub title: String,
    /// The attempt was lost.
    pub lost: bool,
    /// The job was killed at its end.
    pub killed: bool,
}

/// An attempt that was lost, joined to the one that followed.
#[derive(Clone, Debug, PartialEq)]
pub struct GanttJoin {
    /// Strip, processor (their middle) and time of its end.
    pub from: (usize, f64, f64),
    /// The same of the beginning of the next.
    pub to: (usize, f64, f64),
}

/// Processors that nobody could have for a time.
#[derive(Clone, Debug, PartialEq)]
pub struct GanttShading {
    /// Their strip.
    pub row: usize,
    /// From when, in seconds.
    pub from: f64,
    /// Until when.
    pub to: f64,
    /// Which processors.
    pub ranges: Vec<Range<u32>>,
}

/// A Gantt chart.
#[derive(Clone, Debug)]
pub struct GanttChart {
    /// What it is.
    pub title: String,
    /// Time, in seconds.
    pub x: Axis,
    /// Its strips, from the top.
    pub rows: Vec<GanttRow>,
    /// Its bars.
    pub bars: Vec<GanttBar>,
    /// Its joins; without any, lost attempts are only pale.
    pub joins: Vec<GanttJoin>,
    /// Its shadings.
    pub away: Vec<GanttShading>,
    /// Colours of the groups, with names if there is a legend.
    pub groups: Vec<(String, Ink)>,
}

/// Bars up to here are told apart one by one, and beyond only by group.
const SINGLE: usize = 4_000;
/// Bars up to here can all be pointed at, and of more those that are so wide, in units.
const FEW: usize = 400;
const HAIR: i32 = 15;

impl Chart for GanttChart {
    fn svg(&self, paint: Paint) -> Result<String, ChartError> {
        let named = self.rows.len() > 1 || self.rows.first().is_some_and(|row| !row.name.is_empty());
        let widest =
            self.rows.iter().map(|row| text_width(&row.name, NORMAL).max(text_width(&row.part, SMALL)));
        let names = if named { (widest.max().unwrap_or(0) / UNIT).min(130) + 12 } else { 22 };
        let labels = names + 42;
        let width = WIDTH as i32 - labels - 16;
        let entries = self.entries();
        let above = legend::height(&entries, width) + 6;
        let heights = self.heights();
        let gap = if self.rows.len() > 1 { 14 } else { 0 };
        let inside: i32 = heights.iter().sum::<i32>() + gap * (heights.len() as i32 - 1).max(0);
        let sheet = Sheet::new(WIDTH, (above + inside + 48) as u32, paint, &self.title);
        legend::draw(&sheet, &entries, labels, 2, width);
        if !named {
            let place = (14 * UNIT, (above + inside / 2) * UNIT);
            sheet.text("processor", place, NORMAL, Ink::Text.colour().2, Anchor::Middle, true);
        }
        let mut plots = Vec::new();
        let mut top = above;
        for (number, (row, height)) in self.rows.iter().zip(&heights).enumerate() {
            let last = number + 1 == self.rows.len();
            let frame = Frame {
                left: 0,
                top,
                width: WIDTH as i32 - 16,
                height: height + if last { 40 } else { 1 },
                labels,
                x_labels: last,
                mesh: (false, false),
            };
            let x = if last { self.x.clone() } else { self.x.without_ticks() };
            let plot = Plot::draw(&sheet, frame, &x, &processors(row, *height))?;
            if named {
                self.name(&sheet, row, (labels - 42, top, *height));
            }
            plots.push(plot);
            top += height + gap;
        }
        self.shade(&sheet, &plots);
        for (row, plot) in self.rows.iter().zip(&plots) {
            self.raster(&sheet, row, plot, paint);
        }
        self.bars(&sheet, &plots);
        self.machines(&sheet, &plots);
        self.joins(&sheet, &plots);
        Ok(sheet.finish())
    }
}

impl GanttChart {
    fn entries(&self) -> Vec<legend::Entry> {
        let groups = self.groups.iter().filter(|(name, _)| !name.is_empty());
        let mut entries: Vec<legend::Entry> =
            groups.map(|(name, ink)| (name.clone(), *ink, Swatch::Box)).collect();
        if !self.away.is_empty() {
            entries.push(("processors away".to_owned(), Ink::Away, Swatch::Faint));
        }
        if !self.joins.is_empty() {
            entries.push((
                "lost attempt, joined to the next".to_owned(),
                Ink::Lost,
                Swatch::Dashed(Dash::EVEN),
            ));
        } else if self.bars.iter().any(|bar| bar.lost) {
            let ink = self.groups.first().map_or(Ink::Series(0), |(_, ink)| *ink);
            entries.push(("lost attempt (pale)".to_owned(), ink, Swatch::Faint));
        }
        if self.bars.iter().any(|bar| bar.killed) {
            entries.push(("killed at its estimate".to_owned(), Ink::Lost, Swatch::Line));
        }
        entries
    }

    /// Strips share the height by the root of their processors, so that small ones can be read too.
    fn heights(&self) -> Vec<i32> {
        let roots: Vec<f64> =
            self.rows.iter().map(|row| libm::sqrt(f64::from(row.processors.max(1)))).collect();
        let all: f64 = roots.iter().sum::<f64>().max(1.0);
        let whole = match self.rows.iter().map(|row| row.processors).max().unwrap_or(1) {
            few if few <= 16 => f64::from(few.max(3)) * 24.0 * self.rows.len() as f64,
            _ => 400.0 + 40.0 * (self.rows.len() as f64 - 1.0),
        };
        roots.iter().map(|root| ((root / all * whole.min(640.0)) as i32).max(28)).collect()
    }

    fn name(&self, sheet: &Sheet, row: &GanttRow, (right, top, height): (i32, i32, i32)) {
        let two = !row.part.is_empty() && height >= 30;
        let middle = top + height / 2 + if two { -2 } else { 4 };
        let room = (right - 4) * UNIT;
        let name = fitted(&row.name, NORMAL, room).unwrap_or_default();
        let place = |y: i32| (right * UNIT, y * UNIT);
        sheet.text(&name, place(middle), NORMAL, Ink::Text.colour().2, Anchor::End, false);
        if two {
            let part = fitted(&row.part, SMALL, room).unwrap_or_default();
            sheet.text(&part, place(middle + 14), SMALL, Ink::Muted.colour().2, Anchor::End, false);
        }
    }

    fn shade(&self, sheet: &Sheet, plots: &[Plot]) {
        let mut data = String::new();
        for shading in &self.away {
            let Some(plot) = plots.get(shading.row) else { continue };
            for range in &shading.ranges {
                boxed(&mut data, plot, (shading.from, shading.to), range, 3);
            }
        }
        sheet.fill(&data, Ink::Away.colour().2, 0.35, None);
    }

    fn raster(&self, sheet: &Sheet, row: &GanttRow, plot: &Plot, paint: Paint) {
        let Some(raster) = &row.raster else { return };
        // A page follows the reader's theme: it has the picture in both, and shows one.
        let themes: &[(Theme, &str)] = match paint {
            Paint::Page => &[(Theme::Light, "by-day"), (Theme::Dark, "by-night")],
            Paint::File(Theme::Light) => &[(Theme::Light, "")],
            Paint::File(Theme::Dark) => &[(Theme::Dark, "")],
        };
        let inks: Vec<Ink> = self.groups.iter().map(|(_, ink)| *ink).collect();
        let (from, to) = raster.span();
        let (left, top) = plot.at(from, f64::from(row.processors));
        let (right, bottom) = plot.at(to, 0.0);
        for (theme, class) in themes {
            if let Some(png) = raster.png(&inks, *theme) {
                sheet.image(&png, (left, top), (right - left, bottom - top), class);
            }
        }
    }

    fn bars(&self, sheet: &Sheet, plots: &[Plot]) {
        let ink =
            |bar: &GanttBar| self.groups.get(bar.group).map_or(Ink::Series(0), |(_, ink)| *ink).colour().2;
        let single = self.bars.len() <= SINGLE;
        // Nobody can point at what is as thin as a hair.
        let apart = |data_width: i32| self.bars.len() <= FEW || data_width >= HAIR;
        // By colour, whether it was lost.
        let mut together: std::collections::BTreeMap<(u8, bool), String> = std::collections::BTreeMap::new();
        let (mut lost, mut killed) = (String::new(), String::new());
        for bar in &self.bars {
            let Some(plot) = plots.get(bar.row) else { continue };
            let mut data = String::new();
            for range in &bar.ranges {
                boxed(&mut data, plot, (bar.from, bar.to), range, if single { 6 } else { 3 });
            }
            if bar.lost && single && !self.joins.is_empty() {
                lost.push_str(&data);
            }
            if bar.killed && single {
                for range in &bar.ranges {
                    let ((x, low), (_, high)) = edges(plot, bar.to, range);
                    killed.push_str(&polyline([(x, low), (x, high)]));
                }
            }
            let width = plot.at(bar.to, 0.0).0 - plot.at(bar.from, 0.0).0;
            if single && apart(width) {
                sheet.fill(&data, ink(bar), if bar.lost { 0.3 } else { 0.92 }, Some(&bar.title));
            } else {
                together.entry((ink(bar), bar.lost)).or_default().push_str(&data);
            }
        }
        for ((ink, lost), data) in &together {
            sheet.fill(data, *ink, if *lost { 0.3 } else { 0.92 }, None);
        }
        if single {
            self.outlines(sheet, plots);
            sheet.dash(Some(Dash::EVEN));
            sheet.stroke(&lost, Ink::Lost.colour().2, 1.0, 1.0);
            sheet.dash(None);
            sheet.stroke(&killed, Ink::Lost.colour().2, 1.0, 2.5);
            self.labels(sheet, plots);
        }
    }

    /// Between neighbours of one colour there is a fine line of paper, where there is room for one.
    fn outlines(&self, sheet: &Sheet, plots: &[Plot]) {
        let mut data = String::new();
        for bar in &self.bars {
            let Some(plot) = plots.get(bar.row) else { continue };
            for range in &bar.ranges {
                let ((left, low), (right, high)) = corners(plot, (bar.from, bar.to), range);
                if right - left >= 4 * UNIT && low - high >= 3 * UNIT {
                    rectangle(&mut data, left, high, right - left, low - high);
                }
            }
        }
        sheet.stroke(&data, Ink::Paper.colour().2, 1.0, 0.8);
    }

    fn labels(&self, sheet: &Sheet, plots: &[Plot]) {
        for bar in &self.bars {
            let Some(plot) = plots.get(bar.row) else { continue };
            for range in &bar.ranges {
                let ((left, low), (right, high)) = corners(plot, (bar.from, bar.to), range);
                let room = f64::from(low - high) / f64::from(UNIT);
                let size = if room >= 14.0 { NORMAL } else { 9.0 };
                if room < 10.5 || text_width(&bar.label, size) + 2 * UNIT > right - left {
                    continue;
                }
                let ink = if bar.lost { Ink::Text } else { Ink::Paper };
                let baseline = (low + high) / 2 + (size * 3.6) as i32;
                sheet.text(
                    &bar.label,
                    ((left + right) / 2, baseline),
                    size,
                    ink.colour().2,
                    Anchor::Middle,
                    false,
                );
            }
        }
    }

    /// Lines between machines, where they do not cover everything.
    fn machines(&self, sheet: &Sheet, plots: &[Plot]) {
        for (row, plot) in self.rows.iter().zip(plots) {
            let (left, top, right, bottom) = plot.bounds();
            let machines = row.processors.checked_div(row.cores).unwrap_or(0) as i32;
            if row.cores < 2 || machines < 2 || (bottom - top) / machines < 8 * UNIT {
                continue;
            }
            let lines: String = (1..machines)
                .map(|machine| {
                    let (_, y) = plot.at(self.x.from, f64::from(machine as u32 * row.cores));
                    polyline([(left, y), (right, y)])
                })
                .collect();
            sheet.stroke(&lines, Ink::Axis.colour().2, 0.4, 0.5);
        }
    }

    fn joins(&self, sheet: &Sheet, plots: &[Plot]) {
        sheet.dash(Some(Dash::EVEN));
        let at = |(row, proc, time): (usize, f64, f64)| plots.get(row).map(|plot| plot.at(time, proc));
        let lines: String =
            self.joins.iter().filter_map(|join| Some(polyline([at(join.from)?, at(join.to)?]))).collect();
        sheet.stroke(&lines, Ink::Lost.colour().2, 0.9, 1.0);
        sheet.dash(None);
    }
}

fn corners(plot: &Plot, (from, to): (f64, f64), range: &Range<u32>) -> ((i32, i32), (i32, i32)) {
    (plot.at(from, f64::from(range.start)), plot.at(to, f64::from(range.end)))
}

fn edges(plot: &Plot, at: f64, range: &Range<u32>) -> ((i32, i32), (i32, i32)) {
    corners(plot, (at, at), range)
}

/// A rectangle of the data, at least `least` units wide and three high, so that nothing vanishes.
fn boxed(data: &mut String, plot: &Plot, times: (f64, f64), range: &Range<u32>, least: i32) {
    let ((left, low), (right, high)) = corners(plot, times, range);
    rectangle(data, left, high, (right - left).max(least), (low - high).max(3));
}

/// The axis of a strip: its processors, with a few numbers.
fn processors(row: &GanttRow, height: i32) -> Axis {
    let count = row.processors.max(1);
    let wanted = (height / 24).clamp(1, 8) as u32;
    let mut step = count.div_ceil(wanted);
    // Whole machines, or round numbers.
    step = if row.cores > 1 { step.div_ceil(row.cores) * row.cores } else { round_up(step) };
    let ticks = (0..=count).step_by(step.max(1) as usize).map(|at| (f64::from(at), at.to_string())).collect();
    Axis { title: String::new(), from: 0.0, to: f64::from(count), ticks, log: false }
}

fn round_up(step: u32) -> u32 {
    let mut decade = 1_u32;
    loop {
        for times in [1, 2, 5] {
            match decade.checked_mul(times) {
                Some(round) if round >= step => return round,
                Some(_) => {}
                None => return step,
            }
        }
        match decade.checked_mul(10) {
            Some(next) => decade = next,
            None => return step,
        }
    }
}
