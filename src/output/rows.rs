//! The rows of the tables of a run.

use super::cells::{self, Label};
use super::names::Names;
use crate::metrics::{Definitions, WorkflowRatios};
use crate::model::{
    Cause, CoallocationRecord, EventRecord, FrontPoint, FrontRecord, GroupRecord, GroupedJob, JobId, JobKind,
    JobRecord, Limits, MachineRecord, Origin, Outcome, ResponseParts, SegmentRecord, SiteId, SliceRecord,
    TaskRecord, TransferRecord, WorkflowBounds, WorkflowRecord,
};
use crate::units::{Span, Time};

/// The columns of `jobs.csv`.
pub(super) const JOBS: &str = "job,submit,start,end,procs,site,outcome,requested,run,estimate,wait,response,bsld,user,class,attempts,energy_j,cost,reason,partition,origin,requested_start,dynamic_j";
/// A further column of `jobs.csv`, if jobs may be moldable or malleable.
pub(super) const KIND: &str = ",kind";
/// Further columns of `jobs.csv` and `workflows.csv`, if jobs or workflows have limits.
pub(super) const LIMITS: &str = ",deadline,budget";
/// The columns of `segments.csv`.
pub(super) const SEGMENTS: &str =
    "job,attempt,site,partition,procs,from,to,rate,share,cause,energy_j,cost,processors,origin,dynamic_j";
/// The columns of `machines.csv`.
pub(super) const MACHINES: &str = "time,site,partition,state,processors";

/// The columns of `events.csv`.
pub(super) const EVENTS: &str =
    "time,event,cause,site,partition,machines,procs,job,origin,attempt,wasted_proc_s,since_failure_s,command";

/// The columns of `tasks.csv`.
pub(super) const TASKS: &str = "workflow,task,type,job,site,partition,after,ready,decided,sent,queued,started,last_start,ended,known,outcome,attempts,run,data,dispatch,queue,lost";
/// The columns of `workflows.csv`.
pub(super) const WORKFLOWS: &str = "workflow,name,submitted,ended,makespan,critical_path,outcome,tasks,completed,attempts,fastest_path,work,alone,peak_procs,slr,slowdown,speedup,efficiency,last,run,data,dispatch,queue,lost,moved_bytes,energy_j,cost";

/// The columns of `transfers.csv`.
pub(super) const TRANSFERS: &str = "workflow,file,bytes,from,to,job,asked,began,ended,outcome";

/// The columns of `fronts.csv` before those of the objectives.
pub(super) const FRONTS: &str = "planning,at,tasks,evaluations,point,chosen,value";

/// The columns of `coallocations.csv`.
pub(super) const COALLOCATIONS: &str = "job,submitted,earliest,start,length,ended,parts,procs,sites,outcome,tries,messages,slowdown,charge,harm_proc_s,refused_by,refused";

/// The columns of `slices.csv`.
pub(super) const SLICES: &str = "time,site,partition,class,runs_from,until";
/// The columns of `groups.csv`.
pub(super) const GROUPS: &str = "time,site,partition,class,formed,ready,until,job,origin,start,end";

/// The labels that rows need beside the record.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) names: Names,
    pub(super) definitions: Definitions,
    /// Labels by class.
    classes: Vec<Label>,
    /// Labels by [`Outcome::index`].
    outcomes: [Label; 6],
    /// Labels by cause.
    causes: [Label; Cause::ALL.len()],
    /// Labels by origin.
    origins: [Label; Origin::ALL.len()],
    /// Labels by kind of job.
    kinds: [Label; JobKind::ALL.len()],
}

impl Columns {
    pub(super) fn new(names: Names, definitions: Definitions) -> Self {
        let classes = &definitions.classes;
        Self {
            classes: (0..classes.count()).map(|at| Label::new(&classes.label(at))).collect(),
            outcomes: Outcome::NAMES.map(Label::new),
            causes: Cause::ALL.map(|cause| Label::new(cause.name())),
            origins: Origin::ALL.map(|origin| Label::new(origin.name())),
            kinds: JobKind::ALL.map(|kind| Label::new(kind.name())),
            names,
            definitions,
        }
    }

    pub(super) fn job(&self, out: &mut Vec<u8>, job: &JobRecord) {
        cells::integer(out, job.id.0);
        cells::seconds(out, job.submit.micros());
        cells::maybe_seconds(out, job.start.map(Time::micros));
        cells::seconds(out, job.end.micros());
        cells::integer(out, job.procs);
        self.names.site(out, job.site);
        self.outcomes[job.outcome.index()].write(out);
        cells::integer(out, job.requested);
        cells::seconds(out, job.run.micros());
        cells::seconds(out, job.estimate.micros());
        cells::maybe_seconds(out, job.start.map(|_| job.wait().micros()));
        cells::maybe_seconds(out, job.start.map(|_| job.response().micros()));
        if Definitions::is_measured(job) {
            cells::ratio(out, self.definitions.bounded_slowdown(job));
        } else {
            out.push(b',');
        }
        cells::signed(out, job.user);
        self.classes[self.definitions.class_of(job)].write(out);
        cells::integer(out, job.attempts);
        cells::joules(out, job.energy);
        cells::money(out, job.cost);
        match job.outcome {
            Outcome::Rejected(reason) => cells::word(out, &cells::text(&reason.to_string())),
            _ => out.push(b','),
        }
        self.names.partition(out, job.site, job.partition);
        self.origins[job.origin as usize].write(out);
        cells::maybe_seconds(out, job.requested_start.map(Time::micros));
        cells::joules(out, job.dynamic);
        if self.definitions.kinds {
            self.kinds[job.kind as usize].write(out);
        }
        self.limits(out, job.limits.as_deref());
    }

    /// The further columns of what may have limits.
    fn limits(&self, out: &mut Vec<u8>, limits: Option<&Limits>) {
        if self.definitions.penalty.is_some() {
            let limits = limits.copied().unwrap_or_default();
            cells::maybe_seconds(out, limits.deadline.map(Time::micros));
            match limits.budget {
                Some(budget) => cells::money(out, budget),
                None => out.push(b','),
            }
        }
    }

    pub(super) fn segment(&self, out: &mut Vec<u8>, segment: &SegmentRecord) {
        cells::integer(out, segment.job.0);
        cells::integer(out, segment.attempt);
        self.names.site(out, segment.site);
        self.names.partition(out, segment.site, segment.partition);
        cells::integer(out, segment.procs.len());
        cells::seconds(out, segment.from.micros());
        cells::seconds(out, segment.to.micros());
        cells::rate(out, segment.rate);
        cells::rate(out, segment.share);
        self.causes[segment.cause as usize].write(out);
        cells::joules(out, segment.energy);
        cells::money(out, segment.cost);
        cells::processors(out, &segment.procs, 0);
        self.origins[segment.origin as usize].write(out);
        cells::joules(out, segment.dynamic);
    }

    pub(super) fn machine(&self, out: &mut Vec<u8>, machine: &MachineRecord) {
        cells::seconds(out, machine.time.micros());
        self.names.site(out, machine.site);
        self.names.partition(out, machine.site, machine.partition);
        cells::word(out, machine.state.name());
        cells::processors(out, &machine.procs, 0);
    }

    pub(super) fn event(&self, out: &mut Vec<u8>, event: &EventRecord) {
        cells::seconds(out, event.time.micros());
        cells::word(out, event.kind.name());
        cells::word(out, &cells::text(&event.cause_text()));
        self.names.site(out, event.site);
        match event.partition {
            Some(partition) => self.names.partition(out, event.site, partition),
            None => out.push(b','),
        }
        cells::processors(out, &event.machines, 0);
        cells::integer(out, event.procs);
        match event.job {
            Some(job) => {
                cells::integer(out, job.0);
                self.origins[event.origin as usize].write(out);
                cells::integer(out, event.attempt);
                cells::proc_seconds(out, event.wasted);
            }
            None => out.extend_from_slice(b",,,,"),
        }
        cells::maybe_seconds(out, event.since_failure.map(Span::micros));
        match &event.booked {
            Some(booked) => cells::word(out, &cells::text(&booked.written())),
            None => cells::word(out, &event.command.map(|command| command.written()).unwrap_or_default()),
        }
    }

    pub(super) fn task(&self, out: &mut Vec<u8>, task: &TaskRecord) {
        cells::integer(out, task.workflow.0);
        cells::word(out, &cells::text(&task.name));
        cells::word(out, &cells::text(&task.kind));
        cells::integer(out, task.job.0);
        self.names.site(out, task.site);
        self.names.partition(out, task.site, task.partition);
        job(out, task.after);
        let times = [task.ready, task.decided, task.sent, task.queued, task.start, task.last_start];
        times.into_iter().for_each(|time| cells::maybe_seconds(out, time.map(Time::micros)));
        cells::seconds(out, task.end.micros());
        cells::seconds(out, task.known.micros());
        self.outcomes[task.outcome.index()].write(out);
        cells::integer(out, task.attempts);
        parts(out, task.parts());
    }

    pub(super) fn workflow(&self, out: &mut Vec<u8>, workflow: &WorkflowRecord) {
        cells::integer(out, workflow.workflow.0);
        cells::word(out, &cells::text(&workflow.name));
        cells::seconds(out, workflow.submit.micros());
        cells::seconds(out, workflow.end.micros());
        cells::seconds(out, workflow.makespan().micros());
        cells::seconds(out, workflow.critical_path.micros());
        self.outcomes[workflow.outcome.index()].write(out);
        cells::integer(out, workflow.tasks);
        cells::integer(out, workflow.completed);
        cells::integer(out, workflow.attempts);
        let WorkflowBounds { fastest_path, work, alone } = workflow.bounds;
        [fastest_path, work, alone].into_iter().for_each(|span| cells::seconds(out, span.micros()));
        cells::integer(out, workflow.peak);
        for ratio in WorkflowRatios::of(workflow).each() {
            match ratio {
                Some(ratio) => cells::ratio(out, ratio),
                None => out.push(b','),
            }
        }
        job(out, workflow.last);
        parts(out, workflow.parts);
        cells::integer(out, workflow.moved.count());
        cells::joules(out, workflow.energy);
        cells::money(out, workflow.cost);
        self.limits(out, workflow.limits.as_deref());
    }

    pub(super) fn transfer(&self, out: &mut Vec<u8>, transfer: &TransferRecord) {
        cells::integer(out, transfer.workflow.0);
        cells::word(out, &cells::text(&transfer.file));
        cells::integer(out, transfer.bytes.count());
        for place in [transfer.from, transfer.to] {
            match place {
                SiteId::GRID => cells::word(out, "portal"),
                site => self.names.site(out, site),
            }
        }
        cells::integer(out, transfer.job.0);
        cells::seconds(out, transfer.asked.micros());
        cells::maybe_seconds(out, transfer.began.map(Time::micros));
        cells::seconds(out, transfer.end.micros());
        cells::word(out, transfer.outcome.name());
    }

    /// The row of the point at a place of a front.
    pub(super) fn front(&self, out: &mut Vec<u8>, front: &FrontRecord, at: usize, point: &FrontPoint) {
        cells::integer(out, front.planning);
        cells::seconds(out, front.at.micros());
        cells::integer(out, front.tasks);
        cells::integer(out, front.evaluations);
        cells::integer(out, at as u64 + 1);
        cells::word(out, if at == 0 { "yes" } else { "" });
        cells::float(out, point.value);
        point.objectives.iter().for_each(|value| cells::float(out, *value));
    }
}

impl Columns {
    pub(super) fn slice(&self, out: &mut Vec<u8>, slice: &SliceRecord) {
        cells::seconds(out, slice.time.micros());
        self.names.site(out, slice.site);
        self.names.partition(out, slice.site, slice.partition);
        cells::word(out, slice.class.name());
        cells::seconds(out, slice.runs_from.micros());
        cells::seconds(out, slice.until.micros());
    }

    /// The row of a job in the plan of a group.
    pub(super) fn grouped(&self, out: &mut Vec<u8>, group: &GroupRecord, job: &GroupedJob) {
        cells::seconds(out, group.time.micros());
        self.names.site(out, group.site);
        self.names.partition(out, group.site, group.partition);
        cells::word(out, group.class.name());
        for time in [group.formed, group.ready, group.until] {
            cells::seconds(out, time.micros());
        }
        cells::integer(out, job.job.0);
        self.origins[job.origin as usize].write(out);
        cells::seconds(out, job.start.micros());
        cells::seconds(out, job.end.micros());
    }

    pub(super) fn coallocation(&self, out: &mut Vec<u8>, job: &CoallocationRecord) {
        cells::integer(out, job.job.number.0);
        cells::seconds(out, job.submit.micros());
        cells::seconds(out, job.earliest.micros());
        cells::maybe_seconds(out, job.start.map(Time::micros));
        cells::maybe_seconds(out, job.start.map(|_| job.length.micros()));
        cells::seconds(out, job.end.micros());
        cells::integer(out, job.parts);
        cells::integer(out, job.procs);
        for (at, pool) in job.sites.iter().enumerate() {
            self.names.site(out, pool.site);
            // Between two sites is a space, behind the last one the end of the cell.
            if at + 1 < job.sites.len() {
                out.pop();
                out.push(b' ');
            }
        }
        if job.sites.is_empty() {
            out.push(b',');
        }
        cells::word(out, job.outcome.name());
        cells::integer(out, job.tries);
        cells::integer(out, job.messages);
        cells::float(out, 1.0 + job.slowdown_ppm as f64 / 1e6);
        cells::money(out, job.charge);
        cells::float(out, job.harm as f64 / 1e6);
        match job.refused {
            Some((site, why)) => {
                self.names.site(out, site);
                cells::word(out, why.name());
            }
            None => {
                cells::word(out, "");
                cells::word(out, "");
            }
        }
    }
}

/// The number of a job; empty for none.
fn job(out: &mut Vec<u8>, job: Option<JobId>) {
    match job {
        Some(job) => cells::integer(out, job.0),
        None => out.push(b','),
    }
}

/// The parts of a response; empty for none.
fn parts(out: &mut Vec<u8>, parts: Option<ResponseParts>) {
    for at in 0..ResponseParts::NAMES.len() {
        cells::maybe_seconds(out, parts.map(|parts| parts.each()[at].micros()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_and_origins_stand_in_their_order() {
        assert!(Cause::ALL.iter().enumerate().all(|(at, cause)| *cause as usize == at));
        assert!(Origin::ALL.iter().enumerate().all(|(at, origin)| *origin as usize == at));
    }
}
