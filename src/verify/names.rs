//! Conversion of names in tables to numbers of sites and partitions.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::{
    Cause, EventCause, EventKind, EventRecord, JobId, JobRecord, JobRef, Limits, MachineRecord, Origin,
    PartitionId, PartitionSpec, ProcSet, SegmentRecord, SiteId, nearest,
};
use crate::output::{EventRow, JobRow, MachineRow, Ordered, SegmentRow};
use crate::units::{Energy, Money, Rate, Span, Work};
use crate::verify::SiteFacts;

/// The names of a grid.
pub(crate) struct Names {
    sites: Vec<(Arc<str>, Vec<Arc<str>>)>,
    /// All partitions, in the order in which their processors are numbered consecutively.
    parts: Vec<(SiteId, PartitionId, PartitionSpec)>,
    /// Whether the one machine takes the name that the tables use.
    adopt: bool,
    adopted: BTreeMap<Arc<str>, Arc<str>>,
}

/// The known name that `name` probably means, for the end of a message.
fn there_is<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    nearest(name, known).map_or_else(String::new, |near| format!(" (there is `{near}`)"))
}

/// A row that names something the grid does not have.
pub(crate) struct UnknownName {
    pub(crate) jobs: Vec<JobRef>,
    pub(crate) message: String,
}

const GRID: &str = "grid";

impl Names {
    /// The names of these sites. If `adopt`, they are made up, and the names in the tables replace them.
    pub(crate) fn new(platform: &[SiteFacts], adopt: bool) -> Self {
        let (mut sites, mut all) = (Vec::new(), Vec::new());
        for (site, facts) in (0..).map(SiteId).zip(platform) {
            let parts = &facts.spec.partitions;
            sites.push((
                Arc::from(facts.spec.name.as_str()),
                parts.iter().map(|part| Arc::from(part.name.as_str())).collect(),
            ));
            let numbered = (0..).map(PartitionId).zip(parts);
            all.extend(numbered.map(|(partition, part)| (site, partition, part.clone())));
        }
        Self { sites, parts: all, adopt, adopted: BTreeMap::new() }
    }

    fn site(&mut self, name: &Arc<str>) -> Result<SiteId, String> {
        if name.is_empty() || self.adopt {
            if self.adopt && !name.is_empty() && **name != *GRID && !self.adopted.contains_key(name) {
                if let Some((other, _)) = self.adopted.first_key_value() {
                    return Err(format!(
                        "at `{name}`, and other rows at `{other}`: `--procs` is one machine"
                    ));
                }
                self.adopted.insert(Arc::clone(name), Arc::from(""));
            }
            return Ok(if **name == *GRID { SiteId::GRID } else { SiteId(0) });
        }
        if **name == *GRID {
            return Ok(SiteId::GRID);
        }
        let found = self.sites.iter().position(|(site, _)| site == name);
        found.map(|at| SiteId(at as u32)).ok_or_else(|| {
            let near = there_is(name, self.sites.iter().map(|(site, _)| &**site));
            format!("at `{name}`, which is no site of the grid{near}")
        })
    }

    fn partition(&self, site: SiteId, name: &str) -> Result<PartitionId, String> {
        if self.adopt || site == SiteId::GRID {
            return Ok(PartitionId(0));
        }
        let Some((site, parts)) = self.sites.get(site.index()) else { return Ok(PartitionId(0)) };
        if name.is_empty() && parts.len() == 1 {
            return Ok(PartitionId(0));
        }
        let found = parts.iter().position(|part| **part == *name);
        found.map(|at| PartitionId(at as u32)).ok_or_else(|| {
            let near = there_is(name, parts.iter().map(|part| &**part));
            format!("at `{name}`, which is no partition of `{site}`{near}")
        })
    }

    /// Converts a row of `jobs.csv` to its record.
    pub(crate) fn job(&mut self, row: &JobRow) -> Result<JobRecord, UnknownName> {
        let nowhere = SiteId(self.sites.len() as u32);
        let unknown = |what: String| {
            let jobs = vec![JobRef::new(row.origin, nowhere, JobId(row.job))];
            UnknownName { jobs, message: format!("job {} ended {what}", row.job) }
        };
        let site = self.site(&row.site).map_err(unknown)?;
        let written = row.partition.as_deref().unwrap_or_default();
        let partition = match self.partition(site, written) {
            // It was rejected because there is no such partition.
            Err(_) if row.start.is_none() => PartitionId(u32::MAX),
            found => found.map_err(unknown)?,
        };
        Ok(JobRecord {
            id: JobId(row.job),
            origin: row.origin,
            site,
            partition,
            user: row.user,
            submit: row.submit,
            start: row.start,
            end: row.end,
            requested: row.requested,
            kind: row.kind.unwrap_or_default(),
            procs: row.procs,
            outcome: row.outcome,
            run: row.run,
            estimate: row.estimate,
            attempts: row.attempts,
            energy: row.energy,
            dynamic: row.dynamic.unwrap_or_default(),
            cost: row.cost,
            recorded_wait: None,
            requested_start: row.requested_start,
            limits: (row.deadline.is_some() || row.budget.is_some()).then(|| {
                Box::new(Limits { deadline: row.deadline, budget: row.budget, ..Limits::default() })
            }),
        })
    }

    /// Converts a row of `machines.csv` to its record; the error is a sentence about what it names.
    pub(crate) fn machines(&mut self, row: &MachineRow) -> Result<MachineRecord, String> {
        let unknown = |what: String| format!("machines change {what}");
        let site = self.site(&row.site).map_err(unknown)?;
        let partition = self.partition(site, &row.partition).map_err(unknown)?;
        let (time, procs, state) = (row.time, row.processors.clone(), row.state);
        Ok(MachineRecord { time, site, partition, procs, state })
    }

    /// Converts a row of `segments.csv` to its record.
    pub(crate) fn segment(&mut self, row: &SegmentRow) -> Result<SegmentRecord, UnknownName> {
        let nowhere = SiteId(self.sites.len() as u32);
        let unknown = |what: String| {
            let jobs = vec![JobRef::new(row.origin, nowhere, JobId(row.job))];
            UnknownName { jobs, message: format!("job {} runs {what}", row.job) }
        };
        let site = self.site(&row.site).map_err(unknown)?;
        let partition = self.partition(site, &row.partition).map_err(unknown)?;
        Ok(SegmentRecord {
            job: JobId(row.job),
            origin: row.origin,
            attempt: row.attempt,
            site,
            partition,
            procs: row.processors.clone(),
            from: row.from,
            to: row.to,
            rate: row.rate,
            share: row.share,
            cause: row.cause,
            energy: row.energy,
            dynamic: row.dynamic.unwrap_or_default(),
            cost: row.cost,
        })
    }

    /// Converts a row of `events.csv` to its record.
    pub(crate) fn event(&mut self, row: &EventRow) -> Result<EventRecord, UnknownName> {
        let Some(kind) = EventKind::ALL.into_iter().find(|kind| kind.name() == &*row.event) else {
            let near = nearest(&row.event, EventKind::ALL.iter().map(|kind| kind.name()));
            let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            return Err(UnknownName {
                jobs: Vec::new(),
                message: format!("`{}` is no event{near}", row.event),
            });
        };
        let unknown =
            |what: String| UnknownName { jobs: Vec::new(), message: format!("`{}` {what}", row.event) };
        let site = self.site(&row.site).map_err(unknown)?;
        let named = row.partition.as_ref().map(|name| self.partition(site, name));
        let partition = named.transpose().map_err(unknown)?;
        Ok(EventRecord {
            time: row.time,
            kind,
            // What else was the cause is not checked.
            cause: if &*row.cause == "script" { EventCause::Script } else { EventCause::None },
            site,
            partition,
            machines: row.machines.clone(),
            procs: row.procs,
            job: row.job.map(JobId),
            origin: row.origin.unwrap_or(Origin::Local),
            attempt: row.attempt.unwrap_or(0),
            wasted: 0,
            since_failure: None,
            command: match row.command {
                Some(Ordered::Change(change)) => Some(change),
                _ => None,
            },
            suspension: None,
            booked: match &row.command {
                Some(Ordered::Booked(booked)) => Some(booked.clone()),
                _ => None,
            },
        })
    }

    /// What takes this time at the rate of the segment takes this long at the speed of its partition: a run of Batsim is the time that it took.
    pub(crate) fn on_slowest(&self, run: Span, segment: &SegmentRecord) -> Span {
        let place = |(site, partition, _): &&(SiteId, PartitionId, PartitionSpec)| {
            (*site, *partition) == (segment.site, segment.partition)
        };
        let speed = self.parts.iter().find(place).map_or(segment.rate, |(.., part)| part.speed());
        if speed == segment.rate {
            return run;
        }
        let work = u128::from(run.micros()) * u128::from(segment.rate.units());
        Work::from_units(work).span_at(speed).unwrap_or(Span::MAX)
    }

    /// Makes segments of a row of Batsim, which has the processors of a job in the consecutive numbering over all
    /// partitions: one for each partition that has some of them; a valid job has one.
    pub(crate) fn allocated(&self, row: &JobRow, record: &JobRecord) -> Vec<SegmentRecord> {
        let (Some(procs), Some(start)) = (&row.allocated, record.start) else { return Vec::new() };
        if start >= record.end {
            return Vec::new();
        }
        let mut segments = Vec::new();
        let mut first = 0_u32;
        let last = self.parts.len().saturating_sub(1);
        for (at, (site, partition, part)) in self.parts.iter().enumerate() {
            // Numbers beyond the last partition count as its processors.
            let end = if at == last { u32::MAX } else { first.saturating_add(part.processors()) };
            let here: ProcSet =
                procs.iter().filter(|proc| (first..end).contains(proc)).map(|proc| proc - first).collect();
            first = end;
            if here.is_empty() {
                continue;
            }
            segments.push(SegmentRecord {
                job: record.id,
                origin: record.origin,
                attempt: 1,
                site: *site,
                partition: *partition,
                rate: part.speed_on(&here),
                procs: here,
                from: start,
                to: record.end,
                share: Rate::FULL,
                cause: Cause::Run,
                energy: if segments.is_empty() { record.energy } else { Energy::ZERO },
                dynamic: Energy::ZERO,
                cost: if segments.is_empty() { record.cost } else { Money::ZERO },
            });
        }
        segments
    }
}
