//! Batsim's `jobs.csv`, so that tools made for Batsim can read a run.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::cells::{self, Label};
use super::names::Names;
use crate::metrics::Ratio;
use crate::model::{JobRecord, JobRef, Outcome, PartitionId, ProcSet, SegmentRecord, SiteId};

/// The columns, as Batsim's code writes them (its documentation orders some differently).
pub(super) const HEADER: &str = "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,metadata";

/// The length that Batsim assigns to a run of no length, so that its stretch is finite.
const SHORTEST_RUN_MICROS: u64 = 10;

/// Converts records to rows. A row needs the processors of a job's last attempt, which only its segments have; they
/// are kept until the job's own record comes.
#[derive(Debug)]
pub(super) struct Batsim {
    workload: Label,
    held: FxHashMap<JobRef, LastPlacement>,
}

/// The processors that a job used last, before it has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LastPlacement {
    attempt: u32,
    site: SiteId,
    partition: PartitionId,
    procs: ProcSet,
}

/// What is kept of one job.
pub(super) type KeptPlacement = (JobRef, LastPlacement);

impl LastPlacement {
    fn of(segment: &SegmentRecord) -> Self {
        Self {
            attempt: segment.attempt,
            site: segment.site,
            partition: segment.partition,
            procs: segment.procs.clone(),
        }
    }
}

impl Batsim {
    /// Continues from what was [kept](Self::kept); nothing at the beginning of a run.
    pub(super) fn new(workload: &str, kept: &[KeptPlacement]) -> Self {
        Self { workload: Label::new(workload), held: kept.iter().cloned().collect() }
    }

    /// The kept entries, in order.
    pub(super) fn kept(&self) -> Vec<KeptPlacement> {
        let mut kept: Vec<_> = self.held.iter().map(|(job, held)| (*job, held.clone())).collect();
        kept.sort_unstable_by_key(|(job, _)| *job);
        kept
    }

    /// Keeps the processors of a segment.
    pub(super) fn hold(&mut self, segment: &SegmentRecord) {
        let held = self.held.entry(segment.job_ref()).or_insert_with(|| LastPlacement::of(segment));
        if (held.attempt, held.site) == (segment.attempt, segment.site) {
            held.procs.insert_all(&segment.procs);
        } else if held.attempt <= segment.attempt {
            *held = LastPlacement::of(segment);
        }
    }

    /// Appends the row of a job that has ended.
    pub(super) fn job(&mut self, out: &mut Vec<u8>, job: &JobRecord, names: &Names) {
        let held = self.held.remove(&job.job_ref());
        cells::integer(out, job.id.0);
        self.workload.write(out);
        cells::integer(out, job.id.0);
        cells::six_decimals(out, job.submit.micros());
        cells::integer(out, job.requested);
        cells::six_decimals(out, job.estimate.micros());
        cells::integer(out, u64::from(job.outcome == Outcome::Completed));
        cells::word(out, final_state(job));
        if let Some(start) = job.start {
            let execution = job.end.since(start).micros();
            // Batsim counts from the submission, and has no dedicated jobs.
            let [waiting, turnaround] = [start, job.end].map(|time| time.since(job.submit).micros());
            let stretch = Ratio::of(turnaround, execution.max(SHORTEST_RUN_MICROS));
            for micros in [start.micros(), execution, job.end.micros(), waiting, turnaround] {
                cells::six_decimals(out, micros);
            }
            cells::ratio_six_decimals(out, stretch);
        } else {
            out.extend_from_slice(b",,,,,,");
        }
        match held {
            Some(held) => {
                let first = names.first_processor(held.site, held.partition);
                cells::processors(out, &held.procs, first);
            }
            None => out.push(b','),
        }
        if names.powered {
            cells::joules_six_decimals(out, job.energy);
        } else {
            out.extend_from_slice(b"-1.000000,");
        }
        out.extend_from_slice(b"\"\",");
    }
}

/// Batsim has fewer final states than gridemu: a job that ran and was withdrawn, or was ended by the end of the run,
/// counts as killed; one that never ran counts as rejected.
const fn final_state(job: &JobRecord) -> &'static str {
    match job.outcome {
        _ if job.start.is_none() => "REJECTED",
        Outcome::Completed => "COMPLETED_SUCCESSFULLY",
        Outcome::Killed => "COMPLETED_WALLTIME_REACHED",
        Outcome::Failed => "COMPLETED_FAILED",
        Outcome::Cancelled | Outcome::Unfinished => "COMPLETED_KILLED",
        Outcome::Rejected(_) => "REJECTED",
    }
}
