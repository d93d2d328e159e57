//! Everything that is written is read back, and errors name their place.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::files::{events, everything, fronts, records, sliced, workflow, write};
use crate::metrics::tests::samples::any_records;
use crate::model::{Outcome, Record};
use crate::output::{FolderKind, ReadError, RunFolder};

/// Reads all tables of `records` back and compares them with the records themselves.
fn comes_back(records: &[Record]) {
    let folder = write(records, &everything());
    let read = RunFolder::open(folder.path()).unwrap();
    let mut jobs = read.jobs().unwrap();
    let mut segments = read.segments().unwrap().unwrap();
    let mut machines = read.machines().unwrap().unwrap();
    let mut events = read.events().unwrap().unwrap();
    let mut tasks = read.tasks().unwrap().unwrap();
    let mut workflows = read.workflows().unwrap().unwrap();
    let mut transfers = read.transfers().unwrap().unwrap();
    let mut fronts = read.fronts().unwrap().unwrap();
    let mut coallocations = read.coallocations().unwrap().unwrap();
    let mut slices = read.slices().unwrap().unwrap();
    let mut groups = read.groups().unwrap().unwrap();
    assert_eq!(fronts.others(), ["makespan_s", "lateness"]);
    for record in records {
        match record {
            Record::Job(job) => {
                let row = jobs.next().unwrap().unwrap();
                assert_eq!(
                    (row.job, row.origin, row.submit, row.start),
                    (job.id.0, job.origin, job.submit, job.start)
                );
                assert_eq!((row.end, row.procs, row.requested), (job.end, job.procs, job.requested));
                assert_eq!((row.run, row.estimate, row.user), (job.run, job.estimate, job.user));
                assert_eq!((row.attempts, row.energy, row.cost), (job.attempts, job.energy, job.cost));
                assert_eq!(row.outcome.index(), job.outcome.index());
                assert_eq!(row.wait, job.start.map(|_| job.wait()));
                let reason = matches!(job.outcome, Outcome::Rejected(_));
                assert_eq!(row.reason.is_some(), reason);
            }
            Record::Segment(segment) => {
                let row = segments.next().unwrap().unwrap();
                assert_eq!(
                    (row.job, row.origin, row.attempt),
                    (segment.job.0, segment.origin, segment.attempt)
                );
                assert_eq!((row.from, row.to, row.cause), (segment.from, segment.to, segment.cause));
                assert_eq!((row.rate, row.share), (segment.rate, segment.share));
                assert_eq!((row.procs, &row.processors), (segment.procs.len(), &segment.procs));
                assert_eq!((row.energy, row.cost), (segment.energy, segment.cost));
            }
            Record::Machine(machine) => {
                let row = machines.next().unwrap().unwrap();
                assert_eq!(
                    (row.time, row.state, &row.processors),
                    (machine.time, machine.state, &machine.procs)
                );
            }
            Record::Event(event) => {
                let row = events.next().unwrap().unwrap();
                assert_eq!((row.time, &*row.event), (event.time, event.kind.name()));
                assert_eq!((row.procs, &row.machines), (event.procs, &event.machines));
                assert_eq!(row.job, event.job.map(|job| job.0));
            }
            Record::Task(task) => {
                let row = tasks.next().unwrap().unwrap();
                assert_eq!((row.workflow, row.job), (task.workflow.0, task.job.0));
                assert_eq!((&*row.task, &*row.kind), (&*task.name, &*task.kind));
                assert_eq!((row.ready, row.started), (task.ready, task.start));
                assert_eq!((row.ended, row.known), (task.end, task.known));
                assert_eq!((row.outcome.index(), row.attempts), (task.outcome.index(), task.attempts));
            }
            Record::Workflow(workflow) => {
                let row = workflows.next().unwrap().unwrap();
                assert_eq!((row.workflow, &*row.name), (workflow.workflow.0, &*workflow.name));
                assert_eq!((row.submitted, row.ended), (workflow.submit, workflow.end));
                assert_eq!((row.makespan, row.critical_path), (workflow.makespan(), workflow.critical_path));
                assert_eq!((row.tasks, row.completed), (workflow.tasks, workflow.completed));
                assert_eq!(row.outcome, workflow.outcome);
            }
            Record::Transfer(transfer) => {
                let row = transfers.next().unwrap().unwrap();
                assert_eq!((row.workflow, &*row.file), (transfer.workflow.0, &*transfer.file));
                assert_eq!((row.bytes, row.job), (transfer.bytes.count(), transfer.job.0));
                assert_eq!((&*row.from, &*row.to), ("portal", "kth"));
                assert_eq!((row.asked, row.began, row.ended), (transfer.asked, transfer.began, transfer.end));
                assert_eq!(row.outcome, transfer.outcome);
            }
            Record::Coallocation(job) => {
                let row = coallocations.next().unwrap().unwrap();
                assert_eq!(
                    (row.job, row.submitted, row.earliest),
                    (job.job.number.0, job.submit, job.earliest)
                );
                assert_eq!((row.start, row.ended), (job.start, job.end));
                assert_eq!(
                    (row.parts, row.procs, row.tries, row.messages),
                    (job.parts, job.procs, job.tries, job.messages)
                );
                assert_eq!(&*row.outcome, job.outcome.name());
                assert_eq!(row.sites.is_empty(), job.sites.is_empty());
            }
            Record::Slice(slice) => {
                let row = slices.next().unwrap().unwrap();
                assert_eq!((&*row.site, &*row.partition), ("kth", "default"));
                assert_eq!((row.time, row.class), (slice.time, slice.class));
                assert_eq!((row.runs_from, row.until), (slice.runs_from, slice.until));
            }
            Record::Group(group) => {
                for job in &group.jobs {
                    let row = groups.next().unwrap().unwrap();
                    assert_eq!((&*row.site, &*row.partition), ("kth", "default"));
                    assert_eq!((row.time, row.class, row.formed), (group.time, group.class, group.formed));
                    assert_eq!((row.ready, row.until), (group.ready, group.until));
                    assert_eq!((row.job, row.origin), (job.job.0, job.origin));
                    assert_eq!((row.start, row.end), (job.start, job.end));
                }
            }
            Record::Front(front) => {
                for (point, number) in front.points.iter().zip(1..) {
                    let row = fronts.next().unwrap().unwrap();
                    assert_eq!((row.planning, row.at, row.point), (front.planning, front.at, number));
                    assert_eq!((row.tasks, row.evaluations), (front.tasks, front.evaluations));
                    assert_eq!((row.chosen, row.value), (number == 1, point.value));
                    assert_eq!(row.objectives, point.objectives);
                }
            }
        }
    }
    assert!(jobs.next().is_none() && segments.next().is_none());
    assert!(machines.next().is_none() && events.next().is_none());
}

#[test]
fn files_by_hand_come_back() {
    comes_back(&records());
    comes_back(&events());
    comes_back(&workflow());
    comes_back(&fronts());
    comes_back(&sliced());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_files_come_back(records in any_records()) {
        comes_back(&records);
    }
}

#[test]
fn batsims_columns_come_back() {
    let folder = write(&records(), &everything());
    let batsim = RunFolder::open(&folder.path().join("batsim/out_jobs.csv")).unwrap();
    assert_eq!(batsim.kind(), FolderKind::Batsim);
    let ours = RunFolder::open(folder.path()).unwrap();
    for (theirs, ours) in batsim.jobs().unwrap().zip(ours.jobs().unwrap()) {
        let (theirs, ours) = (theirs.unwrap(), ours.unwrap());
        assert_eq!((theirs.job, theirs.submit, theirs.start), (ours.job, ours.submit, ours.start));
        assert_eq!(theirs.outcome.index(), ours.outcome.index());
    }
}

#[test]
fn columns_may_stand_in_any_order_and_be_more() {
    let folder = write(&records(), &everything());
    let rows = |text: &str| {
        fs::write(folder.path().join("machines.csv"), text).unwrap();
        RunFolder::open(folder.path())
            .unwrap()
            .machines()
            .unwrap()
            .unwrap()
            .map(Result::unwrap)
            .collect::<Vec<_>>()
    };
    let plain = rows("time,site,partition,state,processors\n1.5,kth,p,busy,0-3 7\n2,kth,p,idle,7\n");
    assert_eq!(plain.len(), 2);
    let turned =
        rows("note,processors,state,time,site,partition\nx,0-3 7,busy,1.5,kth,p\ny,7,idle,2,kth,p\n");
    assert_eq!(plain, turned);
}

/// The error of reading the jobs after `change`.
fn said(change: impl Fn(&str) -> String) -> String {
    let folder = write(&records(), &everything());
    let path = folder.path().join("jobs.csv");
    let text = change(&fs::read_to_string(&path).unwrap());
    fs::write(&path, text).unwrap();
    let read = RunFolder::open(folder.path()).unwrap();
    let error: ReadError = match read.jobs() {
        Ok(mut rows) => rows.try_for_each(|row| row.map(|_| ())).unwrap_err(),
        Err(error) => error,
    };
    let folder = folder.path().display().to_string() + "/";
    format!("{error}; {}", error.hint().unwrap_or("no hint")).replace(&folder, "")
}

#[test]
fn what_is_wrong_has_a_place() {
    insta::assert_snapshot!(said(|text| text[..text.len() - 9].to_owned()), @"`jobs.csv`: the last line is incomplete: the file is truncated, so rows may be missing; copy or create it again");
    insta::assert_snapshot!(said(|text| text.replace(",killed,", ",kiled,")), @"jobs.csv:3: column `outcome`: `kiled` is not an outcome, such as `completed`; no hint");
    insta::assert_snapshot!(said(|text| text.replace("submit,", "submitted,")), @"jobs.csv:1: there is no column `submit` (there is `submitted`); docs/output.md says which columns each file has");
    insta::assert_snapshot!(said(|text| text.replace("\n2,10,", "\n2,-10,")), @"jobs.csv:3: column `submit`: `-10` is not a time in seconds; no hint");
    insta::assert_snapshot!(said(|text| text.replacen(",local,,", ",local,", 1)), @"jobs.csv:2: this row has 22 cells where the header has 23; if the file was cut off there, copy or create it again");
    insta::assert_snapshot!(said(|_| String::new()), @"`jobs.csv`: the file is empty; it should begin with the names of its columns; no hint");
}

#[test]
fn a_folder_without_a_run_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let said = |path: &Path| {
        let error = RunFolder::open(path).unwrap_err().to_string();
        error.replace(&folder.path().display().to_string(), "F")
    };
    assert_eq!(
        said(folder.path()),
        "`F`: there is no run in this folder: no summary.json, and no out_jobs.csv of Batsim"
    );
    fs::write(folder.path().join("jobs.csv"), "job,submit\n").unwrap();
    assert_eq!(
        said(folder.path()),
        "`F`: there is a jobs.csv, but no summary.json: this run has not finished"
    );
    assert!(said(&folder.path().join("nowhere")).starts_with("`F/nowhere`: cannot be read"));
}
