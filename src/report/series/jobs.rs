//! The first pass over a run folder: its table of jobs.

use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_128;

use super::distribution::Measured;
use super::groups::Groups;
use super::places::Places;
use super::schedule::{Fact, Key, key};
use super::steps::Steps;
use crate::metrics::{Backlog, Window};
use crate::model::{JobClasses, Origin, Outcome};
use crate::output::{JobRow, ReadError, RunFolder};
use crate::units::Time;
use crate::workload::Coupled;

/// With fewer measured jobs than this, jobs are only divided into classes on request.
const CLASSED: usize = 50;

/// Number of jobs that can be distinguished in the chart of a part of a run.
const DETAIL: usize = 300;
/// Up to this number of jobs, the whole run is drawn in enough detail and needs no such chart.
const BARE: usize = 1_500;

/// The data that the table of jobs of a run gives.
#[derive(Default)]
pub(crate) struct Jobs {
    /// First submission and last end, in microseconds.
    pub(crate) span: (u64, u64),
    /// The division of jobs into groups.
    pub(crate) groups: Groups,
    /// What the classes are by, and what their names mean.
    pub(crate) meaning: Option<(String, String)>,
    /// The jobs that count.
    pub(crate) measured: Measured,
    /// Number of jobs by outcome, indexed by [`Outcome::index`].
    pub(crate) outcomes: [u64; 6],
    /// Properties that a run must share to be comparable with this one.
    pub(crate) comparability: Comparability,
    pub(super) started: u64,
    pub(super) in_system: Steps,
    pub(super) facts: FxHashMap<Key, Fact>,
    /// The attempts that completed although their task ran again later.
    pub(super) again: FxHashSet<(Key, u32)>,
    /// Number of jobs that have been submitted but have not started yet.
    queue: Steps,
    /// First starts and ends of those that started.
    runs: Vec<(u64, u64)>,
    origins: [bool; 2],
    /// Numbers of the parts of jobs that run at several sites.
    in_parts: FxHashSet<u64>,
    /// Whether classes were requested, by the run or by the reader.
    classed: bool,
}

/// Properties that two runs must share for their means to be comparable. They are sums over jobs, so the order of jobs does not
/// matter.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Comparability {
    /// Hash of the jobs, their arrivals and their requests.
    pub(crate) asked: u128,
    /// Hash of their outcomes.
    pub(crate) ended: u128,
    /// Whether the run is unstable: the number of jobs in the system keeps growing.
    pub(crate) unstable: bool,
    backlog: Backlog,
    in_system: u64,
}

impl Comparability {
    fn add(&mut self, row: &JobRow) {
        let site = if row.origin == Origin::Local { &*row.site } else { "" };
        let asked = format!("{site}\n{} {} {}", row.job, row.submit.micros(), row.requested);
        self.asked = self.asked.wrapping_add(xxh3_128(asked.as_bytes()));
        let ended = format!("{site}\n{} {}", row.job, row.outcome.index());
        self.ended = self.ended.wrapping_add(xxh3_128(ended.as_bytes()));
        if !matches!(row.outcome, Outcome::Rejected(_)) {
            self.backlog.add_stay(row.submit, row.end);
            self.in_system += 1;
        }
    }

    /// Determines whether the run is unstable: by its summary, which refers to the measured window, or else by the rows.
    fn settle(&mut self, folder: &RunFolder) {
        self.unstable = match folder.summary().and_then(|summary| summary.get("backlog")) {
            Some(backlog) => backlog["unstable"].as_bool().unwrap_or(false),
            None => self.backlog.summary(Window::ALL, self.in_system).is_some_and(|backlog| backlog.unstable),
        };
        self.backlog = Backlog::default();
    }
}

/// The assignment of colours to jobs.
pub(super) struct Colours {
    by_origin: bool,
    of: Vec<usize>,
    /// Names of the colours.
    pub(super) names: Vec<String>,
}

impl Colours {
    pub(super) fn of(&self, fact: &Fact, origin: Origin) -> u16 {
        let at = if self.by_origin {
            usize::from(origin == Origin::Grid) + usize::from(fact.is_part)
        } else {
            self.of.get(usize::from(fact.group)).copied().unwrap_or(0)
        };
        u16::try_from(at).unwrap_or(0)
    }
}

impl Jobs {
    pub(super) fn read(
        folder: &RunFolder,
        classes: Option<&JobClasses>,
        places: &mut Places,
    ) -> Result<Self, ReadError> {
        let (groups, classed) = groups(folder, classes, places);
        let preset = || folder.summary()?["class_preset"].as_str()?.parse().ok();
        let of_run = if classed { preset() } else { DEFAULT.parse().ok() };
        let meaning =
            classes.cloned().or(of_run).and_then(|classes| Some((classes.criteria(), classes.meaning()?)));
        let window = window(folder);
        let mut jobs = Self { span: (u64::MAX, 0), groups, meaning, classed, ..Self::default() };
        for row in folder.coallocations()?.into_iter().flatten() {
            let row = row?;
            jobs.in_parts.extend((0..u64::from(row.parts)).map(|part| row.job + part * Coupled::APART));
        }
        for row in folder.jobs()? {
            jobs.job(&row?, window, places);
        }
        jobs.comparability.settle(folder);
        if jobs.span.0 > jobs.span.1 {
            jobs.span = (0, 1);
        }
        jobs.span.1 = jobs.span.1.max(jobs.span.0 + 1);
        if !jobs.classed && jobs.measured.count() < CLASSED {
            jobs.groups = Groups::none();
            jobs.measured.join_groups();
            jobs.facts.values_mut().for_each(|fact| fact.group = 0);
        }
        Ok(jobs)
    }

    fn job(&mut self, row: &JobRow, window: Option<(Time, Time)>, places: &mut Places) {
        let (submit, end) = (row.submit.micros(), row.end.micros());
        self.span = (self.span.0.min(submit), self.span.1.max(end));
        self.outcomes[row.outcome.index()] += 1;
        self.comparability.add(row);
        self.in_system.hold(submit, end, 1);
        self.origins[usize::from(row.origin == Origin::Grid)] = true;
        let group = self.groups.group(row);
        let Some(start) = row.start else { return };
        self.started += 1;
        let ready = row.ready().micros();
        self.queue.hold(ready.min(start.micros()), start.micros(), 1);
        self.runs.push((start.micros(), end));
        let wait = start.micros().saturating_sub(ready);
        let counts = matches!(row.outcome, Outcome::Completed | Outcome::Killed);
        if counts && window.is_none_or(|(from, to)| (from..to).contains(&row.submit)) {
            let response = end.saturating_sub(ready);
            // Tables without a slowdown: max(1, response / max(run, 10 s)).
            let ratio = || response as f64 / row.run.micros().max(10_000_000) as f64;
            let slowdown = row.bsld.unwrap_or_else(|| ratio().max(1.0));
            self.measured.add(group, wait, response, slowdown);
        }
        if let Some(procs) = &row.allocated {
            let place = places.place(&row.site, &row.partition.clone().unwrap_or_else(|| "".into()));
            places.reach(place, procs);
        }
        let fact = Fact {
            group: u16::try_from(group).unwrap_or(u16::MAX),
            killed: row.outcome == Outcome::Killed,
            attempts: row.attempts,
            again: false,
            is_part: row.origin == Origin::Grid && self.in_parts.contains(&row.job),
            grouped: false,
            end,
            wait,
        };
        let key = key(row.origin, row.job, &row.site);
        if let Some(before) = self.facts.insert(key.clone(), fact)
            && row.origin == Origin::Grid
        {
            self.again.insert((key, before.attempts));
        }
    }

    /// The period around the longest queue in which few enough jobs ran to be distinguished; `None` if it is nearly the whole run.
    pub(super) fn busiest(&mut self) -> Option<(u64, u64)> {
        const HOUR: u64 = 3_600_000_000;
        const HOURS: [u64; 9] = [1_344, 672, 336, 168, 96, 48, 24, 12, 4];
        if self.started as usize <= BARE {
            return None;
        }
        let (begin, end) = self.span;
        // Of equally long queues the first.
        let longest = self.queue.values().max_by_key(|(at, waiting)| (*waiting, Reverse(*at)));
        let middle =
            longest.filter(|(_, waiting)| *waiting > 0).map_or(begin + (end - begin) / 2, |(at, _)| at);
        let lengths = HOURS.iter().map(|hours| hours * HOUR).filter(|length| *length < (end - begin) / 2);
        let mut windows = lengths.chain([(end - begin) / 100]).filter(|length| *length > 0).map(|length| {
            let from = middle.saturating_sub(length / 2).max(begin);
            (from, (from + length).min(end))
        });
        windows.find(|(from, to)| {
            self.runs.iter().filter(|(start, over)| start < to && over > from).count() <= DETAIL
        })
    }

    /// The colours of jobs in a Gantt chart: by class if there are classes. If classes were not requested and the run has jobs of
    /// the grid and of sites, by origin.
    pub(super) fn colours(&self) -> Colours {
        if !self.classed && self.origins == [true, true] {
            let mut names = vec!["local jobs", "jobs of the grid"];
            names.extend((!self.in_parts.is_empty()).then_some("parts of jobs at several sites"));
            let names = names.into_iter().map(str::to_owned).collect();
            return Colours { by_origin: true, of: Vec::new(), names };
        }
        let (of, names) = self.groups.coloured();
        Colours { by_origin: false, of, names }
    }
}

/// The measured window of a run.
fn window(folder: &RunFolder) -> Option<(Time, Time)> {
    let window = &folder.summary()?["measure"];
    let time = |key: &str| Some(Time::from_micros(libm::round(window[key].as_f64()? * 1e6) as u64));
    Some((time("from")?, time("to")?))
}

/// The classes of a run that has none.
const DEFAULT: &str = "kettimuthu-4";

/// The classes: those requested; else those of the run; else two by two classes that suit any run.
fn groups(folder: &RunFolder, classes: Option<&JobClasses>, places: &Places) -> (Groups, bool) {
    let machine = u32::try_from(places.processors()).unwrap_or(u32::MAX);
    if let Some(classes) = classes {
        let groups =
            if classes.count() > 1 { Groups::by_classes(classes.clone(), machine) } else { Groups::none() };
        return (groups, true);
    }
    let own = folder.summary().and_then(|summary| summary["classes"].as_array()).filter(|own| own.len() > 1);
    if let Some(own) = own {
        let names = own.iter().filter_map(|class| class["class"].as_str().map(str::to_owned));
        return (Groups::of_rows(names.collect()), true);
    }
    let classes = DEFAULT.parse();
    (classes.map_or_else(|_| Groups::none(), |classes| Groups::by_classes(classes, machine)), false)
}
