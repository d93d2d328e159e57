//! A run folder, read as everything that is drawn of it.

use super::account::idle_power;
use super::churn::{Absence, absences};
use super::distribution::Measured;
use super::groups::Groups;
use super::jobs::{Alike, Colours, Jobs, SiteNumbers};
use super::places::Places;
use super::schedule::{Fact, Schedule, Stretch};
use super::steps::{Accrual, Steps};
use crate::model::JobClasses;
use crate::report::charts::GanttChart;
use crate::report::{ReadError, RunFolder, SegmentRow};
use crate::units::Rate;

/// Bins of whatever accrues over time.
const BINS: u32 = 960;

/// What is drawn of a run.
pub(in crate::report) struct RunSeries {
    /// First submission and last end, in microseconds.
    pub(in crate::report) span: (u64, u64),
    /// How jobs are told apart.
    pub(in crate::report) groups: Groups,
    /// The jobs that count.
    pub(in crate::report) measured: Measured,
    /// How all jobs ended, by [`Outcome::index`](crate::model::Outcome::index).
    pub(in crate::report) outcomes: [u64; 6],
    /// What has to be the same in a run that is held against this one.
    pub(in crate::report) alike: Alike,
    /// Jobs that wait: in the system and not on any processor.
    pub(in crate::report) waiting: Steps,
    /// Jobs that run.
    pub(in crate::report) running: Steps,
    /// Processors in use by site, in units of [`Rate::FULL`].
    pub(in crate::report) busy: Vec<Steps>,
    /// Processors away by site.
    pub(in crate::report) away: Vec<Steps>,
    /// Names of sites and their processors.
    pub(in crate::report) sites: Vec<(String, u64)>,
    /// Whether the numbers of processors are those of the platform.
    pub(in crate::report) sized: bool,
    /// What jobs draw, in milliwatts.
    pub(in crate::report) jobs_power: Steps,
    /// What all processors that are there draw, in milliwatts.
    pub(in crate::report) power: Steps,
    /// What jobs pay, in 10⁻⁹ of the currency.
    pub(in crate::report) cost: Accrual,
    /// The Gantt chart; `None` if nothing is told of processors.
    pub(in crate::report) gantt: Option<GanttChart>,
    /// The Gantt chart of the stretch of time around the longest queue, where the whole one shows no single jobs.
    pub(in crate::report) detail: Option<GanttChart>,
    /// Attempts that were lost and followed by another.
    pub(in crate::report) lost_attempts: u64,
    /// Whether processors in use are those of segments, and not only of jobs from first start to end.
    pub(in crate::report) by_segments: bool,
}

impl RunSeries {
    /// Reads the tables of a folder, with other job classes than its own if they are given.
    pub(in crate::report) fn read(
        folder: &RunFolder,
        classes: Option<&JobClasses>,
    ) -> Result<Self, ReadError> {
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

/// What the second pass adds up.
struct Tally {
    schedule: Schedule,
    detail: Option<Schedule>,
    /// By place.
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
        // A nanojoule a microsecond is a milliwatt.
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

    /// Without segments: what the jobs themselves tell, from first start to end.
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
        let mut away = vec![Steps::default(); names.len()];
        for absence in absences {
            away[site_of[absence.place]].hold(absence.from, absence.to, i64::from(absence.procs.len()));
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
            power.add_all(&away[site], -idle);
            power.add_scaled(&busy[site], -idle, i64::try_from(Rate::FULL.units()).unwrap_or(i64::MAX));
        }
        let lost_attempts = self.schedule.lost;
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
            away,
            sites,
            sized: places.sized(),
            jobs_power: self.jobs_power,
            power,
            cost: self.cost,
            gantt,
            lost_attempts,
            by_segments,
        }
    }
}
