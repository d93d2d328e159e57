//! A run folder, read into the data of all its charts.

use super::account::idle_power;
use super::churn::{Absence, absences};
use super::distribution::Measured;
use super::groups::Groups;
use super::jobs::{Alike, Colours, Jobs, SiteNumbers};
use super::places::Places;
use super::schedule::{Fact, Schedule, Stretch};
use super::steps::{Accrual, Steps};
use crate::model::JobClasses;
use crate::output::{ReadError, RunFolder, SegmentRow};
use crate::report::charts::GanttChart;
use crate::units::Rate;

/// Number of bins of accruing quantities.
const BINS: u32 = 960;

/// The data of all charts of a run.
pub(crate) struct RunSeries {
    /// First submission and last end, in microseconds.
    pub(crate) span: (u64, u64),
    /// The division of jobs into groups.
    pub(crate) groups: Groups,
    /// The jobs that count.
    pub(crate) measured: Measured,
    /// Number of jobs by outcome, indexed by [`Outcome::index`](crate::model::Outcome::index).
    pub(crate) outcomes: [u64; 6],
    /// Properties that a run must share to be comparable with this one.
    pub(crate) alike: Alike,
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
}

impl RunSeries {
    /// Reads the tables of a folder; `classes` replace its own job classes.
    pub(crate) fn read(folder: &RunFolder, classes: Option<&JobClasses>) -> Result<Self, ReadError> {
        let mut places = Places::of(folder)?;
        let sized = places.sized();
        let mut sites = SiteNumbers::default();
        let mut jobs = Jobs::read(folder, classes, &mut places, &mut sites)?;
        if !sized && let Some(rows) = folder.segments()? {
            for row in rows {
                let row = row?;
                let place = places.place(&row.site, &row.partition);
                places.reach(place, &row.processors);
            }
        }
        let absences = absences(folder, &mut places, jobs.span)?;
        let colours = jobs.colours();
        let detail = jobs.busiest().map(|span| Schedule::of_part(span, colours.names.len()));
        let mut tally = Tally {
            detail,
            schedule: Schedule::new(jobs.span, &places, colours.names.len(), jobs.started),
            busy: Vec::new(),
            running: Steps::default(),
            jobs_power: Steps::default(),
            cost: Accrual::new(jobs.span, BINS),
        };
        let by_segments = match folder.segments()? {
            Some(rows) => {
                for row in rows {
                    tally.segment(row?, &jobs, &colours, &mut places, &mut sites);
                }
                true
            }
            None => {
                tally.jobs(folder, &jobs, &colours, &mut places, &mut sites)?;
                false
            }
        };
        Ok(tally.finish(folder, jobs, &colours, &places, &absences, by_segments))
    }
}

/// The sums of the second pass.
struct Tally {
    schedule: Schedule,
    detail: Option<Schedule>,
    /// Processors in use, indexed by partition.
    busy: Vec<Steps>,
    running: Steps,
    jobs_power: Steps,
    cost: Accrual,
}

impl Tally {
    fn busy(&mut self, place: usize, (from, to): (u64, u64), units: u64) {
        if place >= self.busy.len() {
            self.busy.resize(place + 1, Steps::default());
        }
        self.busy[place].hold(from, to, i64::try_from(units).unwrap_or(i64::MAX));
    }

    fn segment(
        &mut self,
        row: SegmentRow,
        jobs: &Jobs,
        colours: &Colours,
        places: &mut Places,
        sites: &mut SiteNumbers,
    ) {
        let (from, to) = (row.from.micros(), row.to.micros());
        let place = places.place(&row.site, &row.partition);
        self.busy(place, (from, to), u64::from(row.procs) * row.share.units());
        if row.procs > 0 {
            self.running.hold(from, to, 1);
        }
        // A nanojoule per microsecond is a milliwatt.
        let power = row.energy.nanojoules().checked_div(u128::from(to.saturating_sub(from))).unwrap_or(0);
        self.jobs_power.hold(from, to, i64::try_from(power).unwrap_or(i64::MAX));
        self.cost.add(from, to, row.cost.nanos());
        let key = sites.key(row.origin, row.job, &row.site);
        let fact = jobs.facts.get(&key).copied().unwrap_or(Fact::NONE);
        let fact = Fact { group: colours.of(&fact, row.origin), ..fact };
        let procs = row.processors;
        self.draw(Stretch { key, attempt: row.attempt, place, from, to, procs }, fact);
    }

    fn draw(&mut self, stretch: Stretch, fact: Fact) {
        if let Some(detail) = self.detail.as_mut().filter(|detail| detail.meets(&stretch)) {
            detail.take(stretch.clone(), fact);
        }
        self.schedule.take(stretch, fact);
    }

    /// Without segments: sums from the jobs themselves, between first start and end.
    fn jobs(
        &mut self,
        folder: &RunFolder,
        jobs: &Jobs,
        colours: &Colours,
        places: &mut Places,
        sites: &mut SiteNumbers,
    ) -> Result<(), ReadError> {
        for row in folder.jobs()? {
            let row = row?;
            let Some(start) = row.start else { continue };
            let partition = row.partition.clone().unwrap_or_else(|| "".into());
            let place = places.place(&row.site, &partition);
            let (from, to) = (start.micros(), row.end.micros());
            self.busy(place, (from, to), u64::from(row.procs) * Rate::FULL.units());
            self.running.hold(from, to, 1);
            let power = row.energy.nanojoules().checked_div(u128::from(to.saturating_sub(from))).unwrap_or(0);
            self.jobs_power.hold(from, to, i64::try_from(power).unwrap_or(i64::MAX));
            self.cost.add(from, to, row.cost.nanos());
            let key = sites.key(row.origin, row.job, &row.site);
            let fact = jobs.facts.get(&key).copied().unwrap_or(Fact::NONE);
            let fact = Fact { group: colours.of(&fact, row.origin), attempts: 1, ..fact };
            if let Some(procs) = row.allocated {
                self.draw(Stretch { key, attempt: 1, place, from, to, procs }, fact);
            }
        }
        Ok(())
    }

    fn finish(
        self,
        folder: &RunFolder,
        jobs: Jobs,
        colours: &Colours,
        places: &Places,
        absences: &[Absence],
        by_segments: bool,
    ) -> RunSeries {
        let (names, site_of) = places.sites();
        let mut busy = vec![Steps::default(); names.len()];
        for (place, steps) in self.busy.iter().enumerate() {
            busy[site_of[place]].add_all(steps, 1);
        }
        let mut down = vec![Steps::default(); names.len()];
        for absence in absences {
            down[site_of[absence.place]].hold(absence.from, absence.to, i64::from(absence.procs.len()));
        }
        let mut sites: Vec<(String, u64)> = names.into_iter().map(|name| (name, 0)).collect();
        for (place, site) in places.list().iter().zip(&site_of) {
            sites[*site].1 += u64::from(place.processors);
        }
        let mut waiting = jobs.in_system;
        waiting.add_all(&self.running, -1);
        let names: Vec<String> = sites.iter().map(|(name, _)| name.clone()).collect();
        let idle = idle_power(folder.summary(), &names);
        let mut power = self.jobs_power.clone();
        for (site, idle) in idle.iter().enumerate().filter(|(_, idle)| **idle > 0) {
            let processors = i64::try_from(sites[site].1).unwrap_or(i64::MAX);
            power.hold(jobs.span.0, jobs.span.1, idle.saturating_mul(processors));
            power.add_all(&down[site], -idle);
            power.add_scaled(&busy[site], -idle, i64::try_from(Rate::FULL.units()).unwrap_or(i64::MAX));
        }
        let failed_attempts = self.schedule.lost;
        let gantt = (!self.schedule.is_empty())
            .then(|| self.schedule.chart(folder.title(), places, &colours.names, absences));
        let detail = self.detail.filter(|detail| !detail.is_empty());
        let detail = detail.map(|detail| detail.chart(folder.title(), places, &colours.names, absences));
        RunSeries {
            detail,
            span: jobs.span,
            groups: jobs.groups,
            measured: jobs.measured,
            outcomes: jobs.outcomes,
            alike: jobs.alike,
            waiting,
            running: self.running,
            busy,
            down,
            sites,
            sized: places.sized(),
            jobs_power: self.jobs_power,
            power,
            cost: self.cost,
            gantt,
            failed_attempts,
            by_segments,
        }
    }
}
