//! The Gantt chart of a run: which job held which processors when, as bars or as a raster.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::churn::Outage;
use super::places::{Place, Places};
use crate::model::{Cause, Origin, ProcSet};
use crate::report::charts::{
    Axis, GanttBar, GanttChart, GanttJoin, GanttRow, GanttShading, Ink, Raster, TimeMarks,
};
use crate::report::figures::duration;
use crate::units::Time;

/// Maximum number of rectangles that are drawn; with more, the chart is a raster.
const BARS: usize = 20_000;
/// Maximum number of joins that are drawn: more would hide the bars.
const JOINS: usize = 40;
/// Cells of a raster along the time axis.
const COLUMNS: u32 = 960;
/// Up to this number of bars, jobs without groups are coloured by their numbers.
const FEW: usize = 400;

/// Identifies a job by its number. Numbers of local jobs are unique only within their site, so the key includes it.
pub(super) type Key = (Option<Arc<str>>, u64);

/// The key of a job.
pub(super) fn key(origin: Origin, job: u64, site: &Arc<str>) -> Key {
    ((origin == Origin::Local).then(|| Arc::clone(site)), job)
}

/// Facts about a job, known before its segments are read.
#[derive(Copy, Clone, Debug)]
pub(super) struct Fact {
    pub(super) group: u16,
    pub(super) killed: bool,
    pub(super) attempts: u32,
    /// Whether this attempt completed although the task ran again later.
    pub(super) again: bool,
    /// Whether it is a part of a job that runs at several sites.
    pub(super) is_part: bool,
    /// Whether it was in the plan of a group.
    pub(super) grouped: bool,
    pub(super) end: u64,
    pub(super) wait: u64,
}

impl Fact {
    /// Facts of a job that is missing in the table of jobs.
    pub(super) const NONE: Self = Self {
        group: 0,
        killed: false,
        attempts: 1,
        again: false,
        is_part: false,
        grouped: false,
        end: 0,
        wait: 0,
    };
}

/// A period in which an attempt held processors.
#[derive(Clone, Debug)]
pub(super) struct Stretch {
    pub(super) key: Key,
    pub(super) attempt: u32,
    pub(super) place: usize,
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) procs: ProcSet,
    pub(super) cause: Cause,
}

impl Stretch {
    /// Whether the job held its processors and did no work, because it was suspended, resumed or resized.
    const fn in_transition(&self) -> bool {
        matches!(self.cause, Cause::Suspend | Cause::Resume | Cause::Resize)
    }

    fn attempt_of(&self) -> (Key, u32) {
        (self.key.clone(), self.attempt)
    }
}

struct Bar {
    stretch: Stretch,
    fact: Fact,
    wasted: bool,
}

/// Where and until when the last attempt of a job held processors.
struct LastAttempt {
    attempt: u32,
    place: usize,
    middle: f64,
    to: u64,
    completed: bool,
    bars: Vec<usize>,
}

/// A schedule under construction.
#[derive(Default)]
pub(crate) struct Schedule {
    span: (u64, u64),
    groups: usize,
    rectangles: usize,
    bars: Vec<Bar>,
    /// Stretches between two of the same attempt at the same place.
    suspended: Vec<Bar>,
    /// The last stretch of each job that has not ended, from which it may be suspended; `None` if that is not drawn.
    before: Option<FxHashMap<Key, Stretch>>,
    rasters: Vec<Raster>,
    last: FxHashMap<Key, LastAttempt>,
    joins: Vec<GanttJoin>,
    /// Number of failed attempts that were followed by another.
    pub(crate) failed_attempts: u64,
    stretches: u64,
}

impl Schedule {
    /// A schedule of a run from `span.0` to `span.1` with `jobs` jobs, which some policy may have `suspended`.
    pub(super) fn new(span: (u64, u64), places: &Places, groups: usize, jobs: u64, suspended: bool) -> Self {
        let rows = rows_of(places.list()).into_iter().zip(places.list());
        let rasters = rows.map(|(rows, place)| Raster::new(COLUMNS, rows, groups, span, place.processors));
        let rectangles = if jobs > BARS as u64 { BARS + 1 } else { 0 };
        Self {
            rasters: rasters.collect(),
            rectangles,
            ..Self::of_part(span, groups, suspended && jobs <= GanttChart::SINGLE as u64)
        }
    }

    /// A schedule of a part of a run with few jobs; it has no raster.
    pub(super) fn of_part(span: (u64, u64), groups: usize, suspended: bool) -> Self {
        Self { span, groups, before: suspended.then(FxHashMap::default), ..Self::default() }
    }

    /// Whether nothing can be drawn: there are no bars, or more than the chart of a part can show.
    pub(crate) const fn is_empty(&self) -> bool {
        self.stretches == 0 || self.rasters.is_empty() && self.rectangles > BARS
    }

    /// Whether a stretch overlaps the time of the schedule.
    pub(super) const fn meets(&self, stretch: &Stretch) -> bool {
        stretch.from < self.span.1 && stretch.to > self.span.0
    }

    /// Whether a stretch matters here: it overlaps the time of the schedule, or a suspension before or after it may.
    pub(super) const fn concerns(&self, stretch: &Stretch) -> bool {
        self.before.is_some() || self.meets(stretch)
    }

    /// Takes what overlaps the time of the schedule: the stretch, and the suspension before it.
    pub(super) fn take_part(&mut self, stretch: &Stretch, fact: Fact) {
        if self.meets(stretch) {
            self.take(stretch.clone(), fact);
        } else if self.before.is_some() {
            self.suspend(stretch, fact);
        }
    }

    pub(super) fn take(&mut self, stretch: Stretch, fact: Fact) {
        if stretch.procs.is_empty() {
            return;
        }
        if self.before.is_some() {
            self.suspend(&stretch, fact);
        }
        self.stretches += 1;
        if fact.attempts > 1 {
            self.join(&stretch, fact.again);
        }
        if let Some(raster) = self.rasters.get_mut(stretch.place) {
            for (first, last) in stretch.procs.intervals() {
                raster.add(stretch.from, stretch.to, first..last + 1, usize::from(fact.group));
            }
        }
        if self.rectangles > BARS {
            return;
        }
        self.rectangles += stretch.procs.intervals().count();
        if self.rectangles > BARS {
            self.bars = Vec::new();
            self.without_suspensions();
            self.last.values_mut().for_each(|last| last.bars.clear());
            return;
        }
        if fact.attempts > 1
            && let Some(last) = self.last.get_mut(&stretch.key)
        {
            last.bars.push(self.bars.len());
        }
        self.bars.push(Bar { stretch, fact, wasted: false });
        if self.bars.len() > GanttChart::SINGLE {
            self.without_suspensions();
        }
    }

    /// Records the suspension that ends with this stretch, if there is one.
    fn suspend(&mut self, stretch: &Stretch, fact: Fact) {
        let Some(before) = self.before.as_mut().filter(|_| !stretch.procs.is_empty()) else { return };
        // The end of some jobs is not known.
        let last = fact.end > 0 && stretch.to >= fact.end;
        let left = match last {
            true => before.remove(&stretch.key),
            false => before.insert(stretch.key.clone(), stretch.clone()),
        };
        let goes_on = |left: &Stretch| (left.attempt, left.place) == (stretch.attempt, stretch.place);
        if let Some(left) = left.filter(|left| goes_on(left) && left.to < stretch.from) {
            let away = Stretch { from: left.to, to: stretch.from, ..left };
            if self.meets(&away) {
                self.suspended.push(Bar { stretch: away, fact, wasted: false });
            }
        }
    }

    /// Draws no suspensions: there are too many bars.
    fn without_suspensions(&mut self) {
        (self.suspended, self.before) = (Vec::new(), None);
    }

    /// If the stretch belongs to a later attempt than the last one of this job, records that the last one failed, unless it had `completed`.
    fn join(&mut self, stretch: &Stretch, completed: bool) {
        let Stretch { attempt, place, to, .. } = *stretch;
        let middle = middle(&stretch.procs);
        let mut now = LastAttempt { attempt, place, middle, to, completed, bars: Vec::new() };
        let Some(last) = self.last.get_mut(&stretch.key) else {
            self.last.insert(stretch.key.clone(), now);
            return;
        };
        if last.attempt == attempt {
            now.bars = std::mem::take(&mut last.bars);
            *last = now;
            return;
        }
        if last.completed {
            *last = now;
            return;
        }
        self.failed_attempts += 1;
        for bar in &last.bars {
            if let Some(bar) = self.bars.get_mut(*bar) {
                bar.wasted = true;
            }
        }
        if self.joins.len() <= JOINS {
            self.joins.push(GanttJoin {
                from: (last.place, last.middle, seconds(last.to)),
                to: (now.place, now.middle, seconds(stretch.from)),
            });
        }
        *last = now;
    }

    /// Makes the chart. `names` are the names of the groups; with at most one, jobs are coloured by their numbers as long as there
    /// are few bars.
    pub(super) fn chart(
        mut self,
        title: &str,
        places: &Places,
        names: &[String],
        (outages, marks): (&[Outage], &TimeMarks),
    ) -> GanttChart {
        let barred = self.rectangles <= BARS;
        let failed: FxHashSet<(Key, u32)> = match self.suspended.as_slice() {
            [] => FxHashSet::default(),
            _ => self.bars.iter().filter(|bar| bar.wasted).map(|bar| bar.stretch.attempt_of()).collect(),
        };
        self.suspended.retain(|bar| !stalls(&bar.stretch, outages));
        self.suspended.iter_mut().for_each(|bar| bar.wasted = failed.contains(&bar.stretch.attempt_of()));
        let mut rasters = if barred { Vec::new() } else { self.rasters }.into_iter();
        let rows = places.list().iter().map(|place| {
            let (name, part) = (place.site.clone(), place.partition.clone());
            GanttRow { name, part, processors: place.processors, cores: place.cores, raster: rasters.next() }
        });
        let rows = rows.collect();
        let by_number = names.len() <= 1 && barred && self.bars.len() <= FEW;
        let groups = if by_number {
            (0..Ink::SERIES).map(|number| (String::new(), Ink::Series(number))).collect()
        } else {
            let inks = (0..self.groups.max(1)).map(super::groups::ink);
            let name = |at: usize| if names.len() > 1 { names[at].clone() } else { String::new() };
            inks.enumerate().map(|(at, ink)| (name(at), ink)).collect()
        };
        let bars = if barred { self.bars } else { Vec::new() };
        let titled = bars.len() <= GanttChart::SINGLE;
        let text = |text: &dyn Fn() -> String| if titled { text() } else { String::new() };
        let drawn = |Bar { stretch, fact, wasted }: &Bar, suspended: bool, title: String| GanttBar {
            row: stretch.place,
            from: seconds(stretch.from),
            to: seconds(stretch.to),
            ranges: ranges(&stretch.procs),
            group: match by_number {
                true => (stretch.key.1 % u64::from(Ink::SERIES)) as usize,
                false => usize::from(fact.group),
            },
            label: text(&|| stretch.key.1.to_string()),
            title,
            wasted: *wasted,
            killed: fact.killed && stretch.to == fact.end,
            overhead: stretch.in_transition() && !suspended,
            grouped: fact.grouped && !suspended,
        };
        let all = |of: &[Bar], suspended: bool| {
            of.iter().map(|bar| drawn(bar, suspended, text(&|| tooltip(bar, suspended, places)))).collect()
        };
        let (bars, suspended) = (all(&bars, false), all(&self.suspended, true));
        let joins = if self.joins.len() <= JOINS && barred { self.joins } else { Vec::new() };
        GanttChart {
            title: title.to_owned(),
            x: Axis::time(seconds(self.span.0), seconds(self.span.1)),
            rows,
            bars,
            suspended,
            joins,
            down: shadings(outages, self.span),
            groups,
            marks: marks.clone(),
            bands: Vec::new(),
        }
    }
}

/// Whether a job kept its processors in a stretch without work, because one of its machines went down. A job that is just resumed is
/// suspended again then.
fn stalls(away: &Stretch, outages: &[Outage]) -> bool {
    let first = outages.partition_point(|outage| outage.from < away.from);
    let mut begins = outages[first..].iter().take_while(|outage| outage.from == away.from);
    away.cause != Cause::Resume
        && begins.any(|outage| outage.place == away.place && !outage.procs.is_disjoint(&away.procs))
}

/// The tooltip of a bar.
fn tooltip(bar: &Bar, suspended: bool, places: &Places) -> String {
    let stretch = &bar.stretch;
    let place = places.list().get(stretch.place).filter(|place| !place.site.is_empty());
    let site = place.map(|place| format!(" of {} {}", place.site, place.partition)).unwrap_or_default();
    let attempt =
        if bar.fact.attempts > 1 { format!(", attempt {}", stretch.attempt) } else { String::new() };
    let failure = match (bar.wasted, bar.fact.killed) {
        (true, _) => "\nattempt failed",
        (false, true) => "\nkilled at its estimate",
        _ => "",
    };
    let (state, rest) = match suspended {
        true => (", suspended", String::new()),
        false => ("", format!("\nwaited {}{failure}", duration(seconds(bar.fact.wait)))),
    };
    let rest = if bar.fact.grouped { rest + "\nin the plan of a group" } else { rest };
    format!(
        "job {}{attempt}{state}\nprocessors {}{site}\n{} s to {} s ({}){rest}",
        stretch.key.1,
        stretch.procs,
        Time::from_micros(stretch.from),
        Time::from_micros(stretch.to),
        duration(seconds(stretch.to - stretch.from)),
    )
}

fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

/// Number of raster rows of each partition: as many as there are pixels, and no more than its processors.
fn rows_of(places: &[Place]) -> Vec<u32> {
    let share = 480 / (places.len().max(1) as u32);
    places.iter().map(|place| place.processors.clamp(1, share.clamp(16, 400))).collect()
}

fn ranges(procs: &ProcSet) -> Vec<Range<u32>> {
    procs.intervals().map(|(first, last)| first..last + 1).collect()
}

fn middle(procs: &ProcSet) -> f64 {
    let longest = procs.intervals().max_by_key(|(first, last)| last - first).unwrap_or((0, 0));
    f64::from(longest.0 + longest.1 + 1) / 2.0
}

/// Outages as shadings; if there are too many to be distinguished, some are left out.
fn shadings(outages: &[Outage], (begin, end): (u64, u64)) -> Vec<GanttShading> {
    let mut rectangles = 0;
    let mut shadings = Vec::new();
    // The longest come first, so that those left out would be invisible.
    let mut longest: Vec<&Outage> =
        outages.iter().filter(|outage| outage.from < end && outage.to > begin).collect();
    longest.sort_by_key(|outage| std::cmp::Reverse(outage.to - outage.from));
    for outage in longest {
        let ranges = ranges(&outage.procs);
        rectangles += ranges.len();
        if rectangles > BARS {
            break;
        }
        let (from, to) = (seconds(outage.from), seconds(outage.to));
        shadings.push(GanttShading { row: outage.place, from, to, ranges });
    }
    shadings
}
