//! A run folder, read into the data of all its charts.

use rustc_hash::FxHashSet;
use serde_json::Value;

use super::bands::{Bands, bands};
use super::churn::{Outage, outages};
use super::jobs::{Colours, Jobs};
use super::marks::marks;
use super::places::Places;
use super::schedule::{Fact, Key, Schedule, Stretch, key};
use super::steps::{Accrual, Steps};
use crate::model::{Cause, JobClasses};
use crate::output::{JobRow, ReadError, RunFolder, SegmentRow};
use crate::report::charts::{GanttChart, TimeMarks};
use crate::units::Rate;

/// Number of bins of accruing quantities.
const BINS: u32 = 960;

/// The data of all charts of a run.
pub(crate) struct RunSeries {
    /// What the table of jobs gives.
    pub(crate) jobs: Jobs,
    /// Number of waiting jobs: in the system and not on any processor.
    pub(crate) waiting: Steps,
    /// Number of running jobs.
    pub(crate) running: Steps,
    /// Processors in use by site, in units of [`Rate::FULL`].
    pub(crate) busy: Vec<Steps>,
    /// Processors that are down, by site.
    pub(crate) down: Vec<Steps>,
    /// Names of sites and their processor counts.
    pub(crate) sites: Vec<(String, u64)>,
    /// Whether processor counts come from the platform.
    pub(crate) sized: bool,
    /// Power that jobs draw, in milliwatts.
    pub(crate) jobs_power: Steps,
    /// Power that all available processors draw, in milliwatts.
    pub(crate) power: Steps,
    /// Accrued cost of jobs, in 10⁻⁹ of the currency.
    pub(crate) cost: Accrual,
    /// The Gantt chart; `None` if the tables name no processors.
    pub(crate) gantt: Option<GanttChart>,
    /// The Gantt chart of the period around the longest queue, if the whole chart cannot show single jobs.
    pub(crate) detail: Option<GanttChart>,
    /// Number of failed attempts that were followed by another.
    pub(crate) failed_attempts: u64,
    /// Whether processors in use come from segments, and not only from jobs between first start and end.
    pub(crate) by_segments: bool,
    /// Marks on time axes.
    pub(crate) marks: TimeMarks,
}

impl RunSeries {
    /// Reads the tables of a folder; `classes` replace its own job classes.
    pub(crate) fn read(folder: &RunFolder, classes: Option<&JobClasses>) -> Result<Self, ReadError> {
        let mut places = Places::of(folder)?;
        let mut jobs = Jobs::read(folder, classes, &mut places)?;
        if !places.sized() {
            for row in folder.segments()?.into_iter().flatten() {
                let row = row?;
                let place = places.place(&row.site, &row.partition);
                places.reach(place, &row.processors);
            }
        }
        let outages = outages(folder, &mut places, jobs.span)?;
        let colours = jobs.colours();
        let (groups, suspended) = (colours.names.len(), suspends(folder));
        let segments = folder.segments()?;
        let spans: Vec<(u64, u64)> = std::iter::once(jobs.span).chain(jobs.busiest()).collect();
        let (bands, grouped) = bands(folder, &mut places, &spans)?;
        let mut tally = Tally {
            grouped,
            schedule: Schedule::new(jobs.span, &places, groups, jobs.started, suspended),
            detail: jobs.busiest().map(|span| Schedule::of_part(span, groups, suspended)),
            busy: Vec::new(),
            running: Steps::default(),
            jobs_power: Steps::default(),
            cost: Accrual::new(jobs.span, BINS),
            by_segments: segments.is_some(),
        };
        match segments {
            Some(rows) => {
                for row in rows {
                    tally.segment(row?, &jobs, &colours, &mut places);
                }
            }
            None => {
                for row in folder.jobs()? {
                    if let Some(row) = whole_job(row?) {
                        tally.segment(row, &jobs, &colours, &mut places);
                    }
                }
            }
        }
        let marks = marks(folder)?;
        let mut series = tally.finish(folder, jobs, &colours, (&places, &outages), marks);
        let mut bands = bands.into_iter().map(Bands::drawn);
        for chart in [&mut series.gantt, &mut series.detail] {
            if let (Some(bands), Some(chart)) = (bands.next(), chart) {
                chart.bands = bands;
            }
        }
        Ok(series)
    }

    /// Total number of processors.
    pub(crate) fn processors(&self) -> u64 {
        self.sites.iter().map(|(_, processors)| processors).sum()
    }
}

/// A job of a run without segments as one segment, between its first start and its end.
fn whole_job(row: JobRow) -> Option<SegmentRow> {
    Some(SegmentRow {
        line: row.line,
        job: row.job,
        origin: row.origin,
        attempt: 1,
        site: row.site,
        partition: row.partition.unwrap_or_else(|| "".into()),
        procs: row.procs,
        from: row.start?,
        to: row.end,
        rate: Rate::FULL,
        share: Rate::FULL,
        cause: Cause::Run,
        dynamic: row.dynamic,
        energy: row.energy,
        cost: row.cost,
        processors: row.allocated.unwrap_or_default(),
    })
}

/// The sums of the second pass.
struct Tally {
    /// The jobs that were in groups.
    grouped: FxHashSet<Key>,
    schedule: Schedule,
    detail: Option<Schedule>,
    /// Processors in use, indexed by partition.
    busy: Vec<Steps>,
    running: Steps,
    jobs_power: Steps,
    cost: Accrual,
    by_segments: bool,
}

impl Tally {
    fn segment(&mut self, row: SegmentRow, jobs: &Jobs, colours: &Colours, places: &mut Places) {
        let (from, to) = (row.from.micros(), row.to.micros());
        let place = places.place(&row.site, &row.partition);
        if place >= self.busy.len() {
            self.busy.resize(place + 1, Steps::default());
        }
        let units = u64::from(row.procs) * row.share.units();
        self.busy[place].hold(from, to, i64::try_from(units).unwrap_or(i64::MAX));
        if row.procs > 0 || !self.by_segments {
            self.running.hold(from, to, 1);
        }
        // A nanojoule per microsecond is a milliwatt.
        let power = row.energy.nanojoules().checked_div(u128::from(to.saturating_sub(from))).unwrap_or(0);
        self.jobs_power.hold(from, to, i64::try_from(power).unwrap_or(i64::MAX));
        self.cost.add(from, to, row.cost.nanos());
        let key = key(row.origin, row.job, &row.site);
        let fact = jobs.facts.get(&key).copied().unwrap_or(Fact::NONE);
        let named = (key, row.attempt);
        let again = jobs.again.contains(&named);
        let grouped = self.grouped.contains(&named.0);
        let fact = Fact { group: colours.of(&fact, row.origin), again, grouped, ..fact };
        let SegmentRow { attempt, cause, processors: procs, .. } = row;
        let stretch = Stretch { key: named.0, attempt, place, from, to, procs, cause };
        if let Some(detail) = &mut self.detail {
            detail.take_part(&stretch, fact);
        }
        self.schedule.take(stretch, fact);
    }

    fn finish(
        self,
        folder: &RunFolder,
        mut jobs: Jobs,
        colours: &Colours,
        (places, outages): (&Places, &[Outage]),
        marks: TimeMarks,
    ) -> RunSeries {
        // The facts are many, and the charts do not need them.
        jobs.facts.clear();
        jobs.facts.shrink_to_fit();
        let (names, site_of) = places.sites();
        let mut busy = vec![Steps::default(); names.len()];
        for (place, steps) in self.busy.iter().enumerate() {
            busy[site_of[place]].add_all(steps, 1);
        }
        let mut down = vec![Steps::default(); names.len()];
        for outage in outages {
            down[site_of[outage.place]].hold(outage.from, outage.to, i64::from(outage.procs.len()));
        }
        let mut sites: Vec<(String, u64)> = names.into_iter().map(|name| (name, 0)).collect();
        for (place, site) in places.list().iter().zip(&site_of) {
            sites[*site].1 += u64::from(place.processors);
        }
        let mut waiting = std::mem::take(&mut jobs.in_system);
        waiting.add_all(&self.running, -1);
        let mut power = self.jobs_power.clone();
        for (site, (name, processors)) in sites.iter().enumerate() {
            let idle = idle_power(folder.summary(), name);
            if idle > 0 {
                let processors = i64::try_from(*processors).unwrap_or(i64::MAX);
                power.hold(jobs.span.0, jobs.span.1, idle.saturating_mul(processors));
                power.add_all(&down[site], -idle);
                power.add_scaled(&busy[site], -idle, i64::try_from(Rate::FULL.units()).unwrap_or(i64::MAX));
            }
        }
        let failed_attempts = self.schedule.failed_attempts;
        let chart = |schedule: Schedule| {
            let shown = !schedule.is_empty();
            shown.then(|| schedule.chart(folder.title(), places, &colours.names, (outages, &marks)))
        };
        RunSeries {
            gantt: chart(self.schedule),
            detail: self.detail.and_then(chart),
            jobs,
            waiting,
            running: self.running,
            busy,
            down,
            sites,
            sized: places.sized(),
            jobs_power: self.jobs_power,
            power,
            cost: self.cost,
            failed_attempts,
            by_segments: self.by_segments,
            marks,
        }
    }
}

/// Whether some policy of the run suspends jobs.
pub(super) fn suspends(folder: &RunFolder) -> bool {
    folder.summary().is_some_and(|summary| summary.get("preemption").is_some())
}

/// Milliwatts that an idle processor of a site draws: idle energy over idle processor time. This is the power in the platform where
/// the processors of the site are alike, and a mean where they are not; zero if the run has no power.
fn idle_power(summary: Option<&Value>, site: &str) -> i64 {
    let Some(summary) = summary else { return 0 };
    let account = match summary["sites"].as_array() {
        Some(sites) => {
            sites.iter().find(|found| found["name"].as_str() == Some(site)).unwrap_or(&Value::Null)
        }
        None => summary,
    };
    let joules = account["energy"]["idle_kwh"].as_f64().unwrap_or(0.0) * 3.6e6;
    let idle = ["idle", "reserved"].iter().filter_map(|key| account["usage"][*key].as_f64()).sum::<f64>();
    if idle > 0.0 { libm::round(joules / idle * 1e3) as i64 } else { 0 }
}
