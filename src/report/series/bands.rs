//! The slices of classes of jobs and the groups of jobs of a run, for the bands above its Gantt chart.

use rustc_hash::FxHashSet;

use super::places::Places;
use super::schedule::{Key, key};
use crate::model::SliceClass;
use crate::output::{GroupRow, ReadError, RunFolder, SliceRow};
use crate::report::charts::{GanttBand, GanttGroup, GanttSlice};

/// Up to so many slices of a partition are drawn each: then one of an hour's cycle is some pixels wide on average.
const MOST: usize = 400;
/// Up to so many groups of a partition are drawn.
const GROUPS: usize = 200;
/// How many jobs of a group a tooltip names.
const NAMED: usize = 30;
/// Periods whose shares are drawn of more slices.
const PERIODS: u64 = 480;

/// The classes of jobs.
const CLASSES: usize = SliceClass::ALL.len();

/// The bands of a chart.
#[derive(Debug)]
pub(super) struct Bands {
    span: (u64, u64),
    bands: Vec<Band>,
}

/// The band of a partition.
#[derive(Debug, Default)]
struct Band {
    slices: Vec<GanttSlice>,
    /// The number of slices within the time of the chart.
    count: usize,
    /// How long each class had slices in each period.
    periods: Vec<[u64; CLASSES]>,
    groups: Vec<GanttGroup>,
    planned: usize,
}

impl Bands {
    fn new(span: (u64, u64)) -> Self {
        Self { span, bands: Vec::new() }
    }

    fn band(&mut self, place: usize) -> &mut Band {
        if self.bands.len() <= place {
            self.bands.resize_with(place + 1, Band::default);
        }
        &mut self.bands[place]
    }

    /// Takes a slice that was over at `end`.
    fn slice(&mut self, place: usize, row: &SliceRow, end: u64) {
        let span = self.span;
        let (from, to) = (row.runs_from.micros().max(span.0), end.min(span.1));
        if from >= to {
            return;
        }
        let band = self.band(place);
        band.count += 1;
        band.add(span, (from, to), row.class);
        if band.count > MOST {
            band.slices = Vec::new();
            return;
        }
        let title = format!(
            "slice of {} jobs\n{} s to {} s, after a switch of {} s\nplanned until {} s",
            row.class.name(),
            row.time,
            seconds(end),
            row.runs_from.since(row.time),
            row.until,
        );
        let (from, to) = (seconds(from), seconds(to));
        band.slices.push(GanttSlice { class: row.class, from, to, part: (0.0, 1.0), title });
    }

    /// Takes a group, by the first job of its plan and the numbers of all.
    fn group(&mut self, place: usize, row: &GroupRow, jobs: &[u64]) {
        let (begin, end) = self.span;
        let (from, to) = (row.time.micros(), row.until.micros().min(end));
        let band = self.band(place);
        // The one before is over by now.
        let before = band.groups.iter_mut().rev().find(|group| group.class == row.class);
        if let Some(group) = before {
            group.to = group.to.min(seconds(from));
        }
        if from >= end || to <= begin {
            return;
        }
        band.planned += 1;
        if band.planned > GROUPS {
            band.groups = Vec::new();
            return;
        }
        let named: Vec<String> = jobs.iter().take(NAMED).map(u64::to_string).collect();
        let more = if jobs.len() > NAMED { " ..." } else { "" };
        let title = format!(
            "group of {} {} jobs\nplanned at {} s, to end by {} s\njobs {}{more}",
            jobs.len(),
            row.class.name(),
            row.time,
            row.until,
            named.join(" "),
        );
        band.groups.push(GanttGroup { class: row.class, from: seconds(from), to: seconds(to), title });
    }

    /// What the chart draws.
    pub(super) fn drawn(self) -> Vec<GanttBand> {
        let span = self.span;
        let bands = self.bands.into_iter().enumerate().filter(|(_, band)| band.count > 0);
        let drawn = bands.map(|(row, band)| {
            let in_shares = band.count > MOST;
            let Band { slices, groups, periods, .. } = band;
            GanttBand {
                row,
                slices: if in_shares { shares(&periods, span) } else { slices },
                in_shares,
                groups,
            }
        });
        drawn.collect()
    }
}

impl Band {
    fn add(&mut self, span: (u64, u64), (from, to): (u64, u64), class: SliceClass) {
        self.periods.resize(PERIODS as usize, [0; CLASSES]);
        let within = |at: u64| (at - span.0) * PERIODS / (span.1 - span.0).max(1);
        for period in within(from)..=within(to - 1) {
            let (begin, end) = period_of(period, span);
            self.periods[period as usize][class as usize] += to.min(end).saturating_sub(from.max(begin));
        }
    }
}

/// When a period begins and ends.
fn period_of(period: u64, (begin, end): (u64, u64)) -> (u64, u64) {
    let at = |period: u64| begin + ((end - begin) * period).div_ceil(PERIODS);
    (at(period), at(period + 1))
}

/// The shares of the classes in each period, one above the other, short jobs at the top. Neighbours that are alike are one.
fn shares(periods: &[[u64; CLASSES]], span: (u64, u64)) -> Vec<GanttSlice> {
    let mut drawn: Vec<GanttSlice> = Vec::new();
    let mut last = [None; CLASSES];
    for (period, had) in (0..).zip(periods) {
        let (begin, end) = period_of(period, span);
        let length = end.saturating_sub(begin).max(1) as f64;
        let mut low = 0.0;
        for class in SliceClass::ALL.into_iter().rev() {
            let part = (low, low + had[class as usize] as f64 / length);
            low = part.1;
            let before: &mut Option<usize> = &mut last[class as usize];
            match before.map(|at| &mut drawn[at]).filter(|slice| slice.part == part) {
                Some(slice) => slice.to = seconds(end),
                None if part.0 < part.1 => {
                    *before = Some(drawn.len());
                    let (from, to) = (seconds(begin), seconds(end));
                    drawn.push(GanttSlice { class, from, to, part, title: String::new() });
                }
                None => *before = None,
            }
        }
    }
    drawn
}

/// Reads the slices and groups of a run within each of these times, and the jobs that were in groups.
pub(super) fn bands(
    folder: &RunFolder,
    places: &mut Places,
    spans: &[(u64, u64)],
) -> Result<(Vec<Bands>, FxHashSet<Key>), ReadError> {
    let mut all: Vec<Bands> = spans.iter().map(|span| Bands::new(*span)).collect();
    let mut grouped = FxHashSet::default();
    // The slice of each partition that is not over.
    let mut open: Vec<Option<SliceRow>> = Vec::new();
    for row in folder.slices()?.into_iter().flatten() {
        let row = row?;
        let place = places.place(&row.site, &row.partition);
        if open.len() <= place {
            open.resize(place + 1, None);
        }
        if let Some(before) = open[place].take() {
            all.iter_mut().for_each(|bands| bands.slice(place, &before, row.time.micros()));
        }
        open[place] = Some(row);
    }
    for bands in &mut all {
        let end = bands.span.1;
        for (place, row) in open.iter().enumerate().filter_map(|(place, row)| Some((place, row.as_ref()?))) {
            bands.slice(place, row, end);
        }
    }
    let mut first: Option<GroupRow> = None;
    let mut jobs = Vec::new();
    let mut take = |first: &GroupRow, jobs: &[u64], places: &mut Places| {
        let place = places.place(&first.site, &first.partition);
        all.iter_mut().for_each(|bands| bands.group(place, first, jobs));
    };
    for row in folder.groups()?.into_iter().flatten() {
        let row = row?;
        grouped.insert(key(row.origin, row.job, &row.site));
        let is_next = first.as_ref().is_some_and(|first| {
            (first.time, first.class, first.formed) != (row.time, row.class, row.formed)
                || (&first.site, &first.partition) != (&row.site, &row.partition)
        });
        if let Some(first) = first.take_if(|_| is_next) {
            take(&first, &jobs, places);
            jobs.clear();
        }
        jobs.push(row.job);
        first.get_or_insert(row);
    }
    if let Some(first) = first {
        take(&first, &jobs, places);
    }
    Ok((all, grouped))
}

fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}
