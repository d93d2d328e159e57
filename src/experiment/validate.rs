//! Checks whether the rows of a folder are a valid schedule on its grid. This module reads the rows and finds the
//! description of the grid; [`crate::verify`] does the checks.

mod ledger;
mod platform;
mod workloads;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::{RunError, rerun};
use crate::grid::Policies;
use crate::model::{EventCause, JobId, JobRef, NamedJob, Origin};
use crate::output::{FolderKind, ReadError, RunFolder};
use crate::units::{Span, Time};
use crate::verify::fronts::Fronts;
use crate::verify::names::Names;
use crate::verify::rows::{self, TableRow, Tables};
use crate::verify::together::Together;
use crate::verify::workflows::{Paths, Workflows};
use crate::verify::{Checker, Platform, Row, Rule, SiteFacts, Validation, Verdict, Violation};
use workloads::Workloads;

/// The description of the grid with which a schedule is compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum GridFrom {
    /// In the folder itself.
    #[default]
    Folder,
    /// A scenario file.
    Scenario(PathBuf),
    /// No description: one machine with this number of processors.
    Procs(u32),
}

/// Checks the schedule in `folder` against its grid.
///
/// # Errors
/// `RunErrorKind::Request` if the folder's tables cannot be read, or there is no description of the grid.
pub fn validate(folder: &RunFolder, from: &GridFrom, policies: &Policies) -> Result<Validation, RunError> {
    let found = platform::find(folder, from, policies)?;
    let mut tables = Tables::open(folder)?;
    let batsim = folder.kind() == FolderKind::Batsim;
    let segments = tables.segments.is_some() || batsim;
    let platform = Arc::new(Platform {
        sites: found.sites.clone(),
        rigid: found.rigid,
        segments,
        events: tables.events.is_some(),
        has_local: found.has_local,
        known: !matches!(from, GridFrom::Procs(_)),
        slack: Span::from_micros(if batsim { 2 } else { 0 }),
        since: found.since,
    });
    let adopt = matches!(from, GridFrom::Procs(_));
    let mut names = Names::new(&found.sites, adopt);
    let mut checker = Checker::new(Arc::clone(&platform));
    let mut tally = Tally::default();
    let tau = folder.summary().and_then(|summary| summary["tau"].as_f64()).and_then(Span::from_secs_f64);
    let mut together = Together::default();
    for row in folder.coallocations()?.into_iter().flatten() {
        together.add(row?);
    }
    let mut count: u64 = 0;
    let mut workflows = Workflows::default();
    let mut paths = found.paths(&platform, folder);
    let mut workloads = match *from {
        GridFrom::Folder if !batsim => {
            rerun(folder, policies).map_err(|error| error.to_string()).and_then(|run| Workloads::open(&run))
        }
        _ => Err("the workload is not known".to_owned()),
    };
    if workloads.as_ref().is_ok_and(Workloads::has_feedback) {
        checker.remember_ends();
    }
    while let Some((row, now)) = tables.next()? {
        if count.is_multiple_of(rows::STRIDE) {
            // Events at `now` and later may still follow.
            checker.forget_before(tables.next_begin().min(now));
        }
        count += 1;
        match row {
            TableRow::Event(event) => {
                let at = Row { file: "events.csv", line: event.line };
                workflows.event(&event);
                match names.event(&event) {
                    Ok(record) => {
                        checker.event(&record, at);
                        if record.cause == EventCause::SiteLeft {
                            paths.left(record.site, record.time);
                        }
                    }
                    Err(unknown) => checker.fault(Rule::Place, event.time, unknown.jobs, at, unknown.message),
                }
                tally.events += 1;
            }
            TableRow::Segment(segment) => {
                let at = Row { file: "segments.csv", line: segment.line };
                let mut named = NamedJob::Only(JobId(segment.job));
                match names.segment(&segment) {
                    Ok(record) => {
                        checker.segment(&record, at);
                        named = platform.job(record.job_ref());
                    }
                    Err(unknown) => {
                        checker.fault(Rule::Place, segment.from, unknown.jobs, at, unknown.message)
                    }
                }
                if segment.procs != segment.processors.len() {
                    let said = format!(
                        "{named}: `procs` is {}, and there are {} processors",
                        segment.procs,
                        segment.processors.len()
                    );
                    checker.fault(Rule::Columns, segment.from, Vec::new(), at, said);
                }
                *tally.drawn.entry(segment.site).or_default() += segment.energy.nanojoules();
                tally.segments += 1;
            }
            TableRow::Job(job) => {
                let at = Row { file: tables.jobs_file, line: job.line };
                tally.outcomes[job.outcome.index()] += 1;
                match names.job(&job) {
                    Ok(mut record) => {
                        let segments = names.allocated(&job, &record);
                        segments.iter().for_each(|segment| checker.segment(segment, at));
                        checker.columns(&record, &job, tau, batsim, at);
                        if let [segment] = &segments[..] {
                            record.run = names.on_slowest(record.run, segment);
                        }
                        let name = record.job_ref();
                        if name.origin() == Origin::Grid {
                            together.job(&job);
                        }
                        match workloads.as_mut().map(|of| (of.take(name), of.is_complete())) {
                            Ok((Ok(Some(wanted)), _)) => {
                                checker.request(&record, &wanted, at);
                                if wanted.task {
                                    workflows.job(&job, checker.begun(&record));
                                }
                            }
                            Ok((Ok(None), true)) if !checker.has_ended(name) => {
                                let said = format!("no workload of the run has {}", platform.job(name));
                                checker.fault(Rule::Rows, job.submit, vec![name], at, said);
                            }
                            Ok((Err(why), _)) => workloads = Err(why),
                            Ok((Ok(None), _)) | Err(_) => {}
                        }
                        checker.job(&record, at);
                    }
                    Err(unknown) => checker.fault(Rule::Place, job.end, unknown.jobs, at, unknown.message),
                }
            }
        }
    }
    let last = tables.last;
    let mut unchecked = found.unchecked;
    if let Err(why) = check_power(folder, &found.sites, found.since, &mut names, &mut checker)? {
        unchecked.insert(Rule::PowerCap, why.to_owned());
    }
    let mut verdict = checker.finish();
    if !paths.steady {
        let why = "the run is a fork, whose network may have changed, so the times and the space of copies are not checked";
        unchecked.insert(Rule::Data, why.to_owned());
    }
    let left = workloads.and_then(|mut of| of.left().map(|left| (of, left)));
    match left {
        Ok((of, (missing, count))) => {
            if let Some(name) = missing {
                verdict.report(no_row(name, count, last, &tables, &platform));
            }
            of.into_workflows().for_each(|workflow| workflows.submit(workflow));
            check_workflows(folder, workflows, &platform, &paths, last, &mut verdict)?;
        }
        Err(why) => {
            if !platform.rigid {
                let of_sizes = "jobs of this run may be moldable or malleable, and their sizes, rates and work are not checked";
                unchecked.insert(Rule::Work, format!("{of_sizes}: {why}"));
            }
            unchecked.insert(Rule::Precedence, why);
        }
    }
    let mut fronts = Fronts::default();
    for row in folder.fronts()?.into_iter().flatten() {
        fronts.row(row?, &mut verdict);
    }
    fronts.finish(&mut verdict);
    together.finish(&mut verdict);
    tally.workflows +=
        rows_of(folder.tasks()?)? + rows_of(folder.workflows()?)? + rows_of(folder.transfers()?)?;
    agree_with_summary(folder, &tally, last, &mut verdict);
    // A fork has other prices and powers, and rows of before may be elsewhere.
    let drawn = Some(&tally.drawn).filter(|_| tables.segments.is_some() && paths.steady);
    ledger::check(folder, drawn, last, &mut verdict);
    if tables.events.is_none() && !batsim && folder.kind() == FolderKind::Run {
        unchecked.insert(Rule::Down, "the folder has no events.csv".to_owned());
    }
    for rule in Rule::all() {
        if !verdict.checked.contains_key(&rule) && !verdict.broken.contains_key(&rule) {
            unchecked.entry(rule).or_insert_with(|| nothing_to_see(rule, segments).to_owned());
        }
    }
    Ok(Validation {
        title: folder.title().to_owned(),
        grid: found.described,
        sites: found.sites.into_iter().map(|site| site.spec.name).collect(),
        verdict,
        unchecked,
    })
}

/// Checks what machines draw, if a site has a power cap and their states are known; else why they are not.
fn check_power(
    folder: &RunFolder,
    sites: &[SiteFacts],
    since: Time,
    names: &mut Names,
    checker: &mut Checker,
) -> Result<Result<(), &'static str>, ReadError> {
    if sites.iter().all(|site| site.spec.power_cap.is_none()) {
        return Ok(Err("no site has a power cap"));
    }
    if since > Time::ZERO {
        return Ok(Err("the run is a fork, and the states of machines before it are not known"));
    }
    let Some(rows) = folder.machines()? else { return Ok(Err("the folder has no machines.csv")) };
    for row in rows {
        let row = row?;
        let at = Row { file: "machines.csv", line: row.line };
        match names.machines(&row) {
            Ok(record) => checker.machine(&record, at),
            Err(message) => checker.fault(Rule::Place, row.time, Vec::new(), at, message),
        }
    }
    Ok(Ok(()))
}

/// The violation that jobs of the workload have no row.
fn no_row(name: JobRef, count: u64, last: Time, tables: &Tables, platform: &Platform) -> Violation {
    let message = match (count, platform.job(name)) {
        (1, NamedJob::Only(number)) => format!("job {number} of the workload has no row"),
        (1, NamedJob::Grid(number)) => format!("job {number} of the grid's workload has no row"),
        (1, NamedJob::Local(number, site)) => format!("job {number} of {site}'s workload has no row"),
        (_, name) => format!("{count} jobs of the workload have no row, {name} among them"),
    };
    let row = Row { file: tables.jobs_file, line: 0 };
    Violation { time: last, rule: Rule::Rows, jobs: vec![name], message, row }
}

/// Checks the tables of tasks and of workflows.
fn check_workflows(
    folder: &RunFolder,
    mut workflows: Workflows,
    platform: &Platform,
    paths: &Paths,
    last: Time,
    verdict: &mut Verdict,
) -> Result<(), ReadError> {
    for task in folder.tasks()?.into_iter().flatten() {
        workflows.task(task?, verdict);
    }
    for copy in folder.transfers()?.into_iter().flatten() {
        workflows.transfer(copy?, paths, verdict);
    }
    for workflow in folder.workflows()?.into_iter().flatten() {
        workflows.workflow(&workflow?, platform, verdict);
    }
    workflows.finish(last, platform, paths, verdict);
    let peak = workflows.peaks(paths);
    let sites = folder.summary().and_then(|summary| summary["sites"].as_array()).into_iter().flatten();
    for site in sites.filter(|_| !workflows.is_empty()) {
        let name = site["name"].as_str().unwrap_or_default();
        let written = site["stored_peak_bytes"].as_u64().unwrap_or(0);
        let (least, most) = peak(name);
        if !(least..=most).contains(&written) {
            let row = Row { file: "summary.json", line: 0 };
            let message =
                format!("the summary has {written} B as the most that {name} stored, and it was {least} B");
            verdict.report(Violation { time: last, rule: Rule::Columns, jobs: Vec::new(), message, row });
        }
        verdict.count_check(Rule::Columns);
    }
    Ok(())
}

/// The number of rows of a table, each of which is read.
fn rows_of<T>(rows: Option<impl Iterator<Item = Result<T, ReadError>>>) -> Result<u64, ReadError> {
    rows.into_iter().flatten().try_fold(0, |count, row| row.map(|_| count + 1))
}

/// Counts of the rows of a folder.
#[derive(Debug, Default)]
struct Tally {
    events: u64,
    segments: u64,
    /// The energy of the segments of each site, in nanojoules.
    drawn: BTreeMap<Arc<str>, u128>,
    /// Tasks of workflows, workflows, and copies of their files.
    workflows: u64,
    outcomes: [u64; 6],
}

/// Checks that the counts of the summary agree with the tables.
fn agree_with_summary(folder: &RunFolder, tally: &Tally, last: Time, verdict: &mut Verdict) {
    let Some(summary) = folder.summary() else { return };
    let row = Row { file: "summary.json", line: 0 };
    verdict.count_check(Rule::Columns);
    let mut fault = |message: String| {
        verdict.report(Violation { time: last, rule: Rule::Columns, jobs: Vec::new(), message, row });
    };
    for (name, rows) in crate::model::Outcome::NAMES.iter().zip(tally.outcomes) {
        let count = |key: &str| summary[key][*name].as_u64().unwrap_or(0);
        let counted = count("outcomes") + count("outside");
        if counted != rows {
            fault(format!("the summary counts {counted} {name} jobs, and the table has {rows}"));
        }
    }
    let written =
        summary["fingerprint"].as_str().and_then(|print| print.split_once(':')?.0.parse::<u64>().ok());
    let rows = tally.outcomes.iter().sum::<u64>() + tally.segments + tally.events + tally.workflows;
    if let Some(written) = written.filter(|written| tally.segments > 0 && *written != rows) {
        fault(format!("the fingerprint counts {written} records, and the tables have {rows} rows"));
    }
}

fn nothing_to_see(rule: Rule, segments: bool) -> &'static str {
    match rule {
        Rule::Place | Rule::Down | Rule::SameProcessors | Rule::Attempts if !segments => {
            "the folder has no segments.csv"
        }
        Rule::Reservation => {
            "no site has reservations of its own (those of the broker are looked at by `together`)"
        }
        Rule::Draining => "no machine drains",
        Rule::Down => "no machine of this run leaves or joins",
        Rule::Precedence => "no job of this run follows another or has input",
        Rule::Data => "no workflow of this run has files that are read or copied",
        Rule::Members => "no workflow of this run has groups",
        Rule::Fronts => "the folder has no fronts.csv",
        Rule::Together => "the folder has no coallocations.csv",
        Rule::SameProcessors => "no attempt has more than one segment",
        Rule::Work => "the run times of the workload are not known",
        _ => "there was nothing to check",
    }
}
