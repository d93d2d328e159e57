//! Gantt charts: processors over time, with a strip for each partition; bars if there are few enough, otherwise a [`Raster`].

use std::collections::BTreeMap;
use std::ops::Range;

use super::legend::{self, Swatch};
use super::marks::Dash;
use super::numbers::cell;
use super::plot::{Frame, NORMAL, Plot, SMALL};
use super::sheet::{Anchor, Sheet, UNIT, fitted, polyline, rectangle, text_width};
use super::{Axis, Chart, GanttBand, Ink, Numbers, Paint, Raster, Theme, TimeMarks, WIDTH, strips};

/// A strip: the processors of one partition.
#[derive(Clone, Debug)]
pub struct GanttRow {
    /// Name of the site.
    pub name: String,
    /// Name of the partition, in a smaller font.
    pub part: String,
    /// Number of processors.
    pub processors: u32,
    /// Processors of a machine; 0 if unknown.
    pub cores: u32,
    /// The raster that replaces the bars, if any.
    pub raster: Option<Raster>,
}

/// A period in which an attempt held processors.
#[derive(Clone, Debug, PartialEq)]
pub struct GanttBar {
    /// Index of the strip.
    pub row: usize,
    /// Start, in seconds.
    pub from: f64,
    /// End, in seconds.
    pub to: f64,
    /// Ranges of processors.
    pub ranges: Vec<Range<u32>>,
    /// Index of its group, which determines its colour.
    pub group: usize,
    /// Text inside the bar, if it fits.
    pub label: String,
    /// Tooltip of the bar.
    pub title: String,
    /// Whether the attempt failed.
    pub wasted: bool,
    /// Whether the job was killed at the end of the bar.
    pub killed: bool,
    /// Whether the job held its processors without doing work, because it was suspended or resumed.
    pub overhead: bool,
    /// Whether the job was in the plan of a group: it gets an outline.
    pub grouped: bool,
}

impl GanttBar {
    /// Whether the bar is drawn pale: the attempt failed, or did no work.
    const fn pale(&self) -> bool {
        self.wasted || self.overhead
    }
}

/// A line from a failed attempt to the next attempt of the job.
#[derive(Clone, Debug, PartialEq)]
pub struct GanttJoin {
    /// End of the failed attempt: strip, middle processor, and time.
    pub from: (usize, f64, f64),
    /// Start of the next attempt, in the same form.
    pub to: (usize, f64, f64),
}

/// Processors that were down for a period.
#[derive(Clone, Debug, PartialEq)]
pub struct GanttShading {
    /// Index of the strip.
    pub row: usize,
    /// Start, in seconds.
    pub from: f64,
    /// End, in seconds.
    pub to: f64,
    /// Ranges of processors.
    pub ranges: Vec<Range<u32>>,
}

/// A Gantt chart.
#[derive(Clone, Debug)]
pub struct GanttChart {
    /// Title of the chart.
    pub title: String,
    /// The time axis, in seconds.
    pub x: Axis,
    /// The strips, from the top.
    pub rows: Vec<GanttRow>,
    /// The bars.
    pub bars: Vec<GanttBar>,
    /// Stretches in which suspended jobs held no processors, on those that they had before.
    pub suspended: Vec<GanttBar>,
    /// The joins; without any, failed attempts are only drawn paler.
    pub joins: Vec<GanttJoin>,
    /// The periods in which processors were down.
    pub down: Vec<GanttShading>,
    /// Colours of the groups, with names if there is a legend.
    pub groups: Vec<(String, Ink)>,
    /// Marks on the time axis.
    pub marks: TimeMarks,
    /// Bands above the strips, where classes of jobs have slices.
    pub bands: Vec<GanttBand>,
}

/// Maximum number of bars that all have a tooltip in a file; with more, only bars at least `HAIR` units wide do. On a page, which
/// zooms, all single bars have one.
const FEW: usize = 400;
const HAIR: i32 = 15;

/// A point on the sheet, in units.
type Point = (i32, i32);

impl Chart for GanttChart {
    fn svg(&self, paint: Paint) -> String {
        let named = self.rows.len() > 1 || self.rows.first().is_some_and(|row| !row.name.is_empty());
        let widest =
            self.rows.iter().map(|row| text_width(&row.name, NORMAL).max(text_width(&row.part, SMALL)));
        let names = if named { (widest.max().unwrap_or(0) / UNIT).min(130) + 12 } else { 6 };
        // Right of the names: the title of the axes of processors, and their labels.
        let labels = names + 16 + 42;
        let full = paint.width(WIDTH);
        let width = full as i32 - labels - 16;
        let marks = self.marks.on(&self.x);
        let bands = GanttBand::entries(&self.bands);
        let entries: Vec<_> = self.entries().into_iter().chain(bands).chain(marks.entries()).collect();
        let above = legend::height(&entries, width) + 6 + marks.room();
        let heights = strips::heights(&self.rows);
        let (gap, many) = (strips::gap(&self.rows), strips::many(&self.rows));
        let band = |row: usize| GanttBand::above(&self.bands, row);
        let bands: i32 = (0..heights.len()).map(band).sum();
        let inside: i32 = heights.iter().sum::<i32>() + bands + gap * (heights.len() as i32 - 1).max(0);
        let sheet = Sheet::new(full, (above + inside + 48) as u32, paint, &self.title);
        legend::draw(&sheet, &entries, labels, 2, width);
        let place = ((labels - 44) * UNIT, (above + inside / 2) * UNIT);
        sheet.text("processor", place, NORMAL, Ink::Text, Anchor::Middle, true);
        let mut plots = Vec::new();
        let mut top = above;
        for (number, (row, height)) in self.rows.iter().zip(&heights).enumerate() {
            let last = number + 1 == self.rows.len();
            top += band(number);
            let (width, whole) = (full as i32 - 16, height + if last { 40 } else { 1 });
            let whole = if many { whole } else { whole.max(40) };
            let frame = Frame { top, width, height: whole, labels, x_labels: last, mesh: (false, false) };
            let x = if last { self.x.clone() } else { self.x.without_ticks() };
            plots.push(Plot::draw(&sheet, frame, &x, &strips::processors(row, *height, !many)));
            if named {
                self.name(&sheet, row, (names, top, *height));
            }
            top += height + gap;
        }
        let fine: Vec<Plot> = plots.iter().map(Plot::fine).collect();
        if let Some(first) = plots.first() {
            first.zoom();
            fine.iter().for_each(|plot| marks.shade(plot));
            self.shade(&sheet, &fine);
            for (row, plot) in self.rows.iter().zip(&fine) {
                self.raster(&sheet, row, plot, paint);
            }
            // Below the bars: others hold the processors of a suspended job.
            self.suspended(&sheet, &fine);
            self.bars(&sheet, &fine);
            self.machines(&sheet, &fine);
            self.joins(&sheet, &fine);
            for band in &self.bands {
                if let Some(plot) = fine.get(band.row) {
                    band.draw(&sheet, plot, &self.x);
                }
            }
            fine.iter().for_each(|plot| marks.lines(plot));
            sheet.shut();
            self.labels(&sheet, &plots);
            marks.flags(&sheet, first, band(0));
        }
        sheet.finish()
    }

    fn numbers(&self) -> Numbers {
        let heads = [
            "site",
            "partition",
            "job",
            "group",
            "processors",
            "start (s)",
            "end (s)",
            "state",
            "failed",
            "killed",
        ];
        let mut numbers = Numbers::new(heads);
        let held = self.bars.iter().map(|bar| (bar, if bar.overhead { "in transition" } else { "running" }));
        for (bar, state) in held.chain(self.suspended.iter().map(|bar| (bar, "suspended"))) {
            let Some(row) = self.rows.get(bar.row) else { continue };
            let group = self.groups.get(bar.group).map_or_else(String::new, |(name, _)| name.clone());
            let ranges = bar.ranges.iter().map(|range| match range.len() {
                1 => range.start.to_string(),
                _ => format!("{}-{}", range.start, range.end.saturating_sub(1)),
            });
            let ranges = ranges.collect::<Vec<_>>().join(" ");
            let mut cells = vec![row.name.clone(), row.part.clone(), bar.label.clone(), group, ranges];
            cells.extend([bar.from, bar.to].map(cell));
            cells.push(state.to_owned());
            cells.extend([bar.wasted, bar.killed].map(|yes| if yes { "yes" } else { "no" }.to_owned()));
            numbers.rows.push(cells);
        }
        numbers
    }
}

impl GanttChart {
    /// Maximum number of bars that are drawn individually; beyond it, bars of a group are merged.
    pub(crate) const SINGLE: usize = 4_000;

    /// The colour of a bar.
    fn ink(&self, bar: &GanttBar) -> Ink {
        self.groups.get(bar.group).map_or(Ink::Series(0), |(_, ink)| *ink)
    }

    fn entries(&self) -> Vec<legend::Entry> {
        let groups = self.groups.iter().filter(|(name, _)| !name.is_empty());
        let mut entries: Vec<legend::Entry> =
            groups.map(|(name, ink)| (name.clone(), *ink, Swatch::Box)).collect();
        if !self.down.is_empty() {
            entries.push(("processors down".to_owned(), Ink::Down, Swatch::Faint));
        }
        if !self.joins.is_empty() {
            let name = "failed attempt, joined to the next".to_owned();
            entries.push((name, Ink::Wasted, Swatch::Dashed(Dash::EVEN)));
        } else if self.bars.iter().any(|bar| bar.wasted) {
            let ink = self.groups.first().map_or(Ink::Series(0), |(_, ink)| *ink);
            entries.push(("failed attempt (pale)".to_owned(), ink, Swatch::Faint));
        }
        if self.bars.iter().any(|bar| bar.overhead) {
            let ink = self.groups.first().map_or(Ink::Series(0), |(_, ink)| *ink);
            entries.push(("suspending or resuming (pale)".to_owned(), ink, Swatch::Faint));
        }
        if !self.suspended.is_empty() {
            let ink = self.groups.first().map_or(Ink::Series(0), |(_, ink)| *ink);
            entries.push(("suspended".to_owned(), ink, Swatch::Outline));
        }
        if self.bars.len() <= Self::SINGLE && self.bars.iter().any(|bar| bar.grouped) {
            entries.push(("job of a group (outline)".to_owned(), Ink::Text, Swatch::Frame));
        }
        if self.bars.iter().any(|bar| bar.killed) {
            entries.push(("killed at its estimate".to_owned(), Ink::Wasted, Swatch::Line));
        }
        entries
    }

    fn name(&self, sheet: &Sheet, row: &GanttRow, (right, top, height): (i32, i32, i32)) {
        let two = !row.part.is_empty() && height >= 30;
        let middle = top + height / 2 + if two { -2 } else { 4 };
        let room = (right - 4) * UNIT;
        let name = fitted(&row.name, NORMAL, room).unwrap_or_default();
        let place = |y: i32| (right * UNIT, y * UNIT);
        sheet.text(&name, place(middle), NORMAL, Ink::Text, Anchor::End, false);
        if two {
            let part = fitted(&row.part, SMALL, room).unwrap_or_default();
            sheet.text(&part, place(middle + 14), SMALL, Ink::Muted, Anchor::End, false);
        }
    }

    fn shade(&self, sheet: &Sheet, plots: &[Plot]) {
        let mut data = String::new();
        for shading in &self.down {
            let Some(plot) = plots.get(shading.row) else { continue };
            for range in &shading.ranges {
                boxed(&mut data, plot, (shading.from, shading.to), range, 3);
            }
        }
        sheet.fill(&data, Ink::Down, 0.35, None);
    }

    fn raster(&self, sheet: &Sheet, row: &GanttRow, plot: &Plot, paint: Paint) {
        let Some(raster) = &row.raster else { return };
        // A page follows the reader's theme: it contains the raster in both themes and shows one.
        let themes = match paint {
            Paint::Page => vec![(Theme::Light, "by-day"), (Theme::Dark, "by-night")],
            Paint::File(theme) | Paint::Print(theme, _) => vec![(theme, "")],
        };
        let inks: Vec<Ink> = self.groups.iter().map(|(_, ink)| *ink).collect();
        let (from, to) = raster.span();
        let (left, top) = plot.at(from, f64::from(row.processors));
        let (right, bottom) = plot.at(to, 0.0);
        for (theme, class) in themes {
            let png = raster.png(&inks, theme);
            sheet.image(&png, (left, top), (right - left, bottom - top), class);
        }
    }

    fn bars(&self, sheet: &Sheet, plots: &[Plot]) {
        let single = self.bars.len() <= Self::SINGLE;
        // A bar as thin as a hair is too narrow for a tooltip, until a page enlarges it.
        let apart = |data_width: i32| self.bars.len() <= FEW || sheet.is_page() || data_width >= HAIR;
        let alpha = |pale: bool| if pale { 0.3 } else { 0.92 };
        // The merged bars, by colour and by whether they are pale.
        let mut merged: BTreeMap<(u8, bool), (Ink, String)> = BTreeMap::new();
        let (mut wasted, mut killed) = (String::new(), String::new());
        for bar in &self.bars {
            let Some(plot) = plots.get(bar.row) else { continue };
            let mut data = String::new();
            for range in &bar.ranges {
                boxed(&mut data, plot, (bar.from, bar.to), range, if single { 6 } else { 3 });
            }
            if bar.wasted && single && !self.joins.is_empty() {
                wasted += &data;
            }
            if bar.killed && single {
                for range in &bar.ranges {
                    killed += &polyline(<[_; 2]>::from(corners(plot, (bar.to, bar.to), range)));
                }
            }
            let width = plot.at(bar.to, 0.0).0 - plot.at(bar.from, 0.0).0;
            if single && apart(width) {
                sheet.fill(&data, self.ink(bar), alpha(bar.pale()), Some(&bar.title));
            } else {
                let key = (self.ink(bar).index(), bar.pale());
                merged.entry(key).or_insert_with(|| (self.ink(bar), String::new())).1 += &data;
            }
        }
        for ((_, pale), (ink, data)) in &merged {
            sheet.fill(data, *ink, alpha(*pale), None);
        }
        if single {
            self.outlines(sheet, plots);
            sheet.dash(Some(Dash::EVEN));
            sheet.stroke(&wasted, Ink::Wasted, 1.0, 1.0);
            sheet.dash(None);
            sheet.stroke(&killed, Ink::Wasted, 1.0, 2.5);
        }
    }

    /// Draws a dashed outline where a suspended job had its processors, and paper where bars follow, through which it would shine.
    fn suspended(&self, sheet: &Sheet, plots: &[Plot]) {
        if self.suspended.is_empty() {
            return;
        }
        for bar in &self.suspended {
            let Some(plot) = plots.get(bar.row) else { continue };
            let mut data = String::new();
            for range in &bar.ranges {
                let ((left, low), (right, high)) = corners(plot, (bar.from, bar.to), range);
                // Apart from the outline of a neighbour, where there is space.
                let inset = if low - high >= 6 * UNIT { UNIT } else { 0 };
                rectangle(&mut data, left, high + inset, (right - left).max(1), low - high - 2 * inset);
            }
            sheet.outline(&data, self.ink(bar), if bar.wasted { 0.5 } else { 0.9 }, &bar.title);
        }
        let mut paper = String::new();
        for (_, ((left, low), (right, high))) in self.boxes(plots).filter(|(bar, _)| !bar.pale()) {
            rectangle(&mut paper, left, high, right - left, low - high);
        }
        sheet.fill(&paper, Ink::Paper, 1.0, None);
    }

    /// The rectangles of all bars: their lower left and upper right corners.
    fn boxes(&self, plots: &[Plot]) -> impl Iterator<Item = (&GanttBar, (Point, Point))> {
        let drawn = self.bars.iter().filter_map(|bar| Some((bar, plots.get(bar.row)?)));
        drawn.flat_map(|(bar, plot)| {
            bar.ranges.iter().map(move |range| (bar, corners(plot, (bar.from, bar.to), range)))
        })
    }

    /// Draws thin lines in the background colour between neighbouring bars of the same colour, where there is space.
    fn outlines(&self, sheet: &Sheet, plots: &[Plot]) {
        let mut data = String::new();
        let grain = plots.first().map_or(1, |plot| plot.grain);
        for (_, ((left, low), (right, high))) in self.boxes(plots) {
            if right - left >= 4 * UNIT * grain && low - high >= 3 * UNIT {
                rectangle(&mut data, left, high, right - left, low - high);
            }
        }
        sheet.stroke(&data, Ink::Paper, 1.0, 0.8);
        let mut grouped = String::new();
        let boxes = self.boxes(plots).filter(|(bar, _)| bar.grouped);
        for (_, ((left, low), (right, high))) in boxes {
            // Inside of the edge, so that two neighbours have one each.
            let (width, height) = (right - left - 2 * UNIT * grain, low - high - 2 * UNIT);
            if width >= 2 * UNIT * grain && height >= 2 * UNIT {
                rectangle(&mut grouped, left + UNIT * grain, high + UNIT, width, height);
            }
        }
        sheet.stroke(&grouped, Ink::Text, 0.9, 1.0);
    }

    fn labels(&self, sheet: &Sheet, plots: &[Plot]) {
        if self.bars.len() > Self::SINGLE {
            return;
        }
        sheet.open("class=\"labels\"");
        for (bar, ((left, low), (right, high))) in self.boxes(plots) {
            let room = f64::from(low - high) / f64::from(UNIT);
            let size = if room >= 14.0 { NORMAL } else { 9.0 };
            if room < 10.5 || text_width(&bar.label, size) + 2 * UNIT > right - left {
                continue;
            }
            let ink = if bar.pale() { Ink::Text } else { Ink::Paper };
            let baseline = (low + high) / 2 + (size * 3.6) as i32;
            sheet.text(&bar.label, ((left + right) / 2, baseline), size, ink, Anchor::Middle, false);
        }
        sheet.shut();
    }

    /// Draws lines between machines, unless they would cover everything.
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
            sheet.stroke(&lines, Ink::Axis, 0.4, 0.5);
        }
    }

    fn joins(&self, sheet: &Sheet, plots: &[Plot]) {
        sheet.dash(Some(Dash::EVEN));
        let at = |(row, proc, time): (usize, f64, f64)| plots.get(row).map(|plot| plot.at(time, proc));
        let lines: String =
            self.joins.iter().filter_map(|join| Some(polyline([at(join.from)?, at(join.to)?]))).collect();
        sheet.stroke(&lines, Ink::Wasted, 0.9, 1.0);
        sheet.dash(None);
    }
}

/// The lower left and the upper right corner of processors over a time.
fn corners(plot: &Plot, (from, to): (f64, f64), range: &Range<u32>) -> (Point, Point) {
    (plot.at(from, f64::from(range.start)), plot.at(to, f64::from(range.end)))
}

/// Appends a rectangle of the data, at least `least` units wide and three high, so that it stays visible. What zooms is as wide as it
/// is: there an edge keeps it visible.
fn boxed(data: &mut String, plot: &Plot, times: (f64, f64), range: &Range<u32>, least: i32) {
    let ((left, low), (right, high)) = corners(plot, times, range);
    rectangle(
        data,
        left,
        high,
        (right - left).max(if plot.grain > 1 { 1 } else { least }),
        (low - high).max(3),
    );
}
