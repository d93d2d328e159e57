//! Reading rows column by column.

use std::sync::Arc;

use super::{
    CoallocationRow, EventRow, FrontRow, GroupRow, JobRow, MachineRow, SegmentRow, SliceRow, TaskRow,
    TransferRow, WorkflowRow,
};
use crate::model::{Origin, Outcome, ProcSet, RejectReason};
use crate::output::reader::cells::{SECONDS, number};
use crate::output::reader::table::{Cells, Row, Wrong};
use crate::units::{Energy, Money, Span, Time};

/// The name of a field's column: that of the field, if no other is given.
macro_rules! column {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $column:literal) => {
        $column
    };
}

/// Reads each field of a row from the column of its name, or from the one that is given; `beside` sets fields without a column.
macro_rules! row {
    (
        $row:ident as $out:ident
        { $($field:ident $(in $column:literal)?),* }
        optional { $($optional:ident $(in $place:literal)?),* }
        beside { $($beside:tt)* }
    ) => {
        impl Row for $row {
            type Out = $out;
            const COLUMNS: &'static [&'static str] = &[$(column!($field $($column)?)),*];
            const OPTIONAL: &'static [&'static str] = &[$(column!($optional $($place)?)),*];

            fn read(cells: &mut Cells<'_>) -> Result<$out, Wrong> {
                Ok($out {
                    line: cells.line,
                    $($field: cells.read()?,)*
                    $($optional: cells.read()?,)*
                    $($beside)*
                })
            }
        }
    };
}

impl Row for FrontRow {
    type Out = Self;
    const COLUMNS: &'static [&'static str] =
        &["planning", "at", "tasks", "evaluations", "point", "chosen", "value"];
    const OTHERS: bool = true;

    fn read(cells: &mut Cells<'_>) -> Result<Self, Wrong> {
        let mut row = Self {
            line: cells.line,
            planning: cells.read()?,
            at: cells.read()?,
            tasks: cells.read()?,
            evaluations: cells.read()?,
            point: cells.read()?,
            chosen: cells.read()?,
            value: cells.read()?,
            objectives: Vec::new(),
        };
        while !cells.is_over() {
            row.objectives.push(cells.read()?);
        }
        Ok(row)
    }
}

/// A row of gridemu's own `jobs.csv`.
pub(in crate::output::reader) struct OurJob;

row! {
    OurJob as JobRow
    {
        job, submit, start, end, procs, site, outcome, requested, run, estimate, wait, response, bsld, user, class, attempts,
        energy in "energy_j", cost
    }
    optional { reason, partition, origin, requested_start, dynamic in "dynamic_j", kind, deadline, budget }
    beside { allocated: None }
}

row! {
    SegmentRow as SegmentRow
    {
        job, attempt, site, partition, procs, from, to, rate, share, cause, energy in "energy_j", cost, processors
    }
    optional { origin, dynamic in "dynamic_j" }
    beside {}
}

row! {
    MachineRow as MachineRow
    { time, site, partition, state, processors }
    optional {}
    beside {}
}

row! {
    EventRow as EventRow
    {
        time, event, cause, site, partition, machines, procs, job, origin, attempt, wasted_proc_s, since_failure_s
    }
    optional { command }
    beside {}
}

row! {
    TaskRow as TaskRow
    {
        workflow, task, kind in "type", job, site, partition, after, ready, decided, sent, queued, started, last_start, ended,
        known, outcome, attempts, run, data, dispatch, queue, lost
    }
    optional {}
    beside {}
}

row! {
    WorkflowRow as WorkflowRow
    {
        workflow, name, submitted, ended, makespan, critical_path, outcome, tasks, completed, attempts, fastest_path, work, alone,
        peak_procs, slr, slowdown, speedup, efficiency, last, run, data, dispatch, queue, lost
    }
    optional { moved_bytes, energy in "energy_j", cost, deadline, budget }
    beside {}
}

row! {
    CoallocationRow as CoallocationRow
    {
        job, submitted, earliest, start, length, ended, parts, procs, sites, outcome, tries, messages, slowdown, charge,
        harm in "harm_proc_s"
    }
    optional {}
    beside {}
}

row! {
    SliceRow as SliceRow
    { time, site, partition, class, runs_from, until }
    optional {}
    beside {}
}

row! {
    GroupRow as GroupRow
    { time, site, partition, class, formed, ready, until, job, origin, start, end }
    optional {}
    beside {}
}

row! {
    TransferRow as TransferRow
    { workflow, file, bytes, from, to, job, asked, began, ended, outcome }
    optional {}
    beside {}
}

/// A row of Batsim's table of jobs, of any version that has allocations.
pub(in crate::output::reader) struct BatsimJob;

impl Row for BatsimJob {
    type Out = JobRow;
    const COLUMNS: &'static [&'static str] = &[
        "job_id",
        "submission_time",
        "requested_number_of_resources",
        "requested_time",
        "success",
        "starting_time",
        "execution_time",
        "finish_time",
        "waiting_time",
        "turnaround_time",
        "allocated_resources",
    ];
    const OPTIONAL: &'static [&'static str] = &["final_state", "consumed_energy"];

    fn read(cells: &mut Cells<'_>) -> Result<JobRow, Wrong> {
        let job = job_number(cells.text()).ok_or(cells.wrong("the number of a job"))?;
        let submit: Time = cells.read()?;
        let requested = cells.read()?;
        let estimate = match known(cells.text()) {
            None => Span::MAX,
            Some(text) => number(text).and_then(Span::from_secs_f64).ok_or(cells.wrong(SECONDS))?,
        };
        let success = match cells.text() {
            b"1" => true,
            b"0" => false,
            _ => return Err(cells.wrong("1 or 0")),
        };
        let start: Option<Time> = cells.read()?;
        let run: Option<Span> = cells.read()?;
        let end: Option<Time> = cells.read()?;
        let wait: Option<Span> = cells.read()?;
        let response: Option<Span> = cells.read()?;
        let allocated: ProcSet = cells.read()?;
        let state = cells.text();
        let energy = match known(cells.text()) {
            None => Energy::ZERO,
            Some(text) => {
                let joules = number(text).ok_or(cells.wrong("an energy in joules"))?;
                Energy::from_nanojoules((joules * 1e9 + 0.5) as u128)
            }
        };
        let outcome = match (state, success) {
            (b"REJECTED", _) => Outcome::Rejected(RejectReason::Policy),
            (b"COMPLETED_FAILED", _) => Outcome::Failed,
            (b"COMPLETED_KILLED", _) => Outcome::Cancelled,
            (b"COMPLETED_WALLTIME_REACHED", _) => Outcome::Killed,
            (_, true) => Outcome::Completed,
            (_, false) if start.is_none() || allocated.is_empty() => Outcome::Rejected(RejectReason::Policy),
            (_, false) => Outcome::Killed,
        };
        let started = !matches!(outcome, Outcome::Rejected(_)) && start.is_some();
        let nothing: Arc<str> = Arc::from("");
        Ok(JobRow {
            line: cells.line,
            job,
            submit,
            start: start.filter(|_| started),
            end: end.unwrap_or(submit),
            procs: allocated.len(),
            site: Arc::clone(&nothing),
            outcome,
            requested,
            run: run.unwrap_or_default(),
            estimate,
            wait: wait.filter(|_| started),
            response: response.filter(|_| started),
            bsld: None,
            user: -1,
            class: nothing,
            attempts: u32::from(started),
            energy,
            dynamic: None,
            cost: Money::default(),
            reason: None,
            partition: None,
            origin: Origin::Local,
            requested_start: None,
            kind: None,
            deadline: None,
            budget: None,
            allocated: Some(allocated),
        })
    }
}

/// The number of a job, which Batsim also writes after the name of its workload: `w0!12`.
fn job_number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.rsplit('!').next()?.parse().ok()
}

/// A cell, unless it is empty or −1: Batsim writes −1 for a job without a wall time, and where nothing draws power.
fn known(text: &[u8]) -> Option<&[u8]> {
    (!text.is_empty() && !text.starts_with(b"-")).then_some(text)
}
