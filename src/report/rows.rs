//! The rows of `jobs.csv`, `segments.csv` and `machines.csv`.

use super::cells;
use super::names::Names;
use crate::metrics::Definitions;
use crate::model::{JobRecord, MachineRecord, Outcome, SegmentRecord};
use crate::units::write_seconds;

/// The columns of `jobs.csv`.
pub(super) const JOBS: &str = "job,submit,start,end,procs,site,outcome,requested,run,estimate,wait,response,bsld,user,class,attempts,energy_j,cost,reason,partition";
/// The columns of `segments.csv`.
pub(super) const SEGMENTS: &str =
    "job,attempt,site,partition,procs,from,to,rate,share,cause,energy_j,cost,processors";
/// The columns of `machines.csv`.
pub(super) const MACHINES: &str = "time,site,partition,state,processors";

/// What rows need beside the record.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) names: Names,
    pub(super) definitions: Definitions,
    /// The label of each class, as a cell.
    labels: Vec<String>,
}

impl Columns {
    pub(super) fn new(names: Names, definitions: Definitions) -> Self {
        let classes = definitions.classes();
        let labels = (0..classes.count()).map(|at| cells::text(&classes.label(at))).collect();
        Self { names, definitions, labels }
    }

    pub(super) fn job(&self, out: &mut Vec<u8>, job: &JobRecord) {
        cells::integer(out, job.id.0);
        out.push(b',');
        write_seconds(out, job.submit.micros());
        out.push(b',');
        if let Some(start) = job.start {
            write_seconds(out, start.micros());
        }
        out.push(b',');
        write_seconds(out, job.end.micros());
        out.push(b',');
        cells::integer(out, job.procs);
        out.push(b',');
        self.names.site(out, job.site);
        out.push(b',');
        out.extend_from_slice(job.outcome.name().as_bytes());
        out.push(b',');
        cells::integer(out, job.requested);
        out.push(b',');
        write_seconds(out, job.run.micros());
        out.push(b',');
        write_seconds(out, job.estimate.micros());
        out.push(b',');
        if job.start.is_some() {
            write_seconds(out, job.wait().micros());
            out.push(b',');
            write_seconds(out, job.response().micros());
            out.push(b',');
        } else {
            out.extend_from_slice(b",,");
        }
        if Definitions::is_measured(job) {
            cells::ratio(out, self.definitions.bounded_slowdown(job));
        }
        out.push(b',');
        cells::integer(out, job.user);
        out.push(b',');
        if let Some(label) = self.labels.get(self.definitions.class_of(job)) {
            out.extend_from_slice(label.as_bytes());
        }
        out.push(b',');
        cells::integer(out, job.attempts);
        out.push(b',');
        cells::joules(out, job.energy);
        out.push(b',');
        cells::money(out, job.cost);
        out.push(b',');
        if let Outcome::Rejected(reason) = job.outcome {
            out.extend_from_slice(cells::text(&reason.to_string()).as_bytes());
        }
        out.push(b',');
        self.names.partition(out, job.site, job.partition);
    }

    pub(super) fn segment(&self, out: &mut Vec<u8>, segment: &SegmentRecord) {
        cells::integer(out, segment.job.0);
        out.push(b',');
        cells::integer(out, segment.attempt);
        out.push(b',');
        self.names.site(out, segment.site);
        out.push(b',');
        self.names.partition(out, segment.site, segment.partition);
        out.push(b',');
        cells::integer(out, segment.procs.len());
        out.push(b',');
        write_seconds(out, segment.from.micros());
        out.push(b',');
        write_seconds(out, segment.to.micros());
        out.push(b',');
        cells::rate(out, segment.rate);
        out.push(b',');
        cells::rate(out, segment.share);
        out.push(b',');
        out.extend_from_slice(segment.cause.name().as_bytes());
        out.push(b',');
        cells::joules(out, segment.energy);
        out.push(b',');
        cells::money(out, segment.cost);
        out.push(b',');
        segment.procs.write_intervals(out);
    }

    pub(super) fn machine(&self, out: &mut Vec<u8>, machine: &MachineRecord) {
        write_seconds(out, machine.time.micros());
        out.push(b',');
        self.names.site(out, machine.site);
        out.push(b',');
        self.names.partition(out, machine.site, machine.partition);
        out.push(b',');
        out.extend_from_slice(machine.state.name().as_bytes());
        out.push(b',');
        machine.procs.write_intervals(out);
    }
}
