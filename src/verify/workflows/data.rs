//! The check of files: each is where a task reads it, and each copy leaves from where the file is.
//!
//! A file is where its workflow begins with it, where the task that writes it completed, and where a copy of it has arrived. It stays there until
//! nobody needs it: a site that leaves takes its files along, and brings them back.

use rustc_hash::FxHashMap;

use super::carried::{Cable, Carried, Use};
use super::paths::Paths;
use super::{Submitted, TaskJobs, Workflows, violation};
use crate::model::{Outcome, TransferOutcome, WorkflowSpec, WorkflowTask};
use crate::output::{TaskRow, TransferRow};
use crate::units::{Span, Time};
use crate::verify::findings::{Row, Rule, Verdict};
use crate::verify::job_trace::Begun;

/// A copy of a file.
#[derive(Debug)]
pub(super) struct Copied {
    pub(super) file: u32,
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) row: TransferRow,
}

impl Copied {
    /// Its bytes, if it had arrived then; of what arrived at that instant it is not known which was first.
    pub(super) fn moved(&self, at: Time) -> (u64, u64) {
        let bytes = if self.arrived() { self.row.bytes } else { 0 };
        (if self.row.ended < at { bytes } else { 0 }, if self.row.ended <= at { bytes } else { 0 })
    }

    pub(super) fn arrived(&self) -> bool {
        self.row.outcome == TransferOutcome::Arrived
    }
}

/// The files of a workflow: their places in its list by name, and the tasks that read and write each, in order.
#[derive(Debug)]
pub(super) struct Files {
    by_name: FxHashMap<String, u32>,
    pub(super) readers: Vec<Vec<u32>>,
    pub(super) writers: Vec<Vec<u32>>,
}

impl Files {
    pub(super) fn of(spec: &WorkflowSpec) -> Self {
        let users = |of: fn(&WorkflowTask) -> &[u32]| {
            let mut users = vec![Vec::new(); spec.files.len()];
            for (at, task) in (0..).zip(&spec.tasks) {
                of(task).iter().for_each(|file| users[*file as usize].push(at));
            }
            users
        };
        Self {
            by_name: spec.files.iter().map(|file| file.name.clone()).zip(0..).collect(),
            readers: users(|task| &task.inputs),
            writers: users(|task| &task.outputs),
        }
    }
}

impl Workflows {
    /// Takes the row of a copy, and checks what does not depend on other rows.
    pub(crate) fn transfer(&mut self, copy: TransferRow, paths: &Paths, verdict: &mut Verdict) {
        let row = Row { file: "transfers.csv", line: copy.line };
        let TransferRow { workflow, job, asked, began, ended, .. } = copy;
        let fault = |rule, message| violation(rule, asked, job, message, row);
        let Some(of) = self.submitted.get_mut(&workflow) else {
            let message = format!("the workloads of the run have no workflow {workflow}");
            return verdict.report(fault(Rule::Rows, message));
        };
        let spec = &of.workflow.spec;
        let files = of.files.get_or_insert_with(|| Files::of(spec));
        let text = format!("file `{}` of workflow {workflow}", copy.file);
        let Some(&file) = files.by_name.get(&*copy.file) else {
            let message = format!("workflow {workflow} moves no file `{}`", copy.file);
            return verdict.report(fault(Rule::Rows, message));
        };
        let place = |name: &str| paths.places.get(name).copied();
        let (Some(from), Some(to)) = (place(&copy.from), place(&copy.to)) else {
            let message = format!(
                "{text} is copied from {} to {}, which are not both places of the grid",
                copy.from, copy.to
            );
            return verdict.report(fault(Rule::Place, message));
        };
        let size = spec.files[file as usize].size;
        if size.count() != copy.bytes {
            let message = format!("{text} has {} bytes, and its copy {}", size.count(), copy.bytes);
            verdict.report(fault(Rule::Data, message));
        }
        if from == to {
            verdict.report(fault(Rule::Data, format!("{text} is copied from {} to itself", copy.from)));
        }
        let task = job.checked_sub(of.workflow.first_job.0).and_then(|at| u32::try_from(at).ok());
        let read = !files.readers[file as usize].is_empty();
        let users = if read { &files.readers } else { &files.writers };
        if task.is_none_or(|task| users[file as usize].binary_search(&task).is_err()) {
            let does = if read { "read" } else { "write" };
            verdict.report(fault(
                Rule::Data,
                format!("{text} is copied for job {job}, which does not {does} it"),
            ));
        } else if !read && to != paths.home {
            let message = format!("{text} is a result, and goes to {}, where results do not go", copy.to);
            verdict.report(fault(Rule::Data, message));
        }
        let arrived = copy.outcome == TransferOutcome::Arrived;
        let times = [Some(of.workflow.submit), Some(asked), began, Some(ended)];
        if !times.iter().flatten().is_sorted() || (arrived && began.is_none()) {
            let message = format!("the times of a copy of {text} are not in order");
            verdict.report(fault(Rule::Columns, message));
        }
        let least = paths.least(from, to, size);
        let took = began.map_or(Span::ZERO, |began| ended.since(began));
        if arrived && paths.steady && took < least {
            let message = format!(
                "a copy of {text} takes {took} s from {} to {}, which takes {least} s at least",
                copy.from, copy.to
            );
            verdict.report(fault(Rule::Data, message));
        }
        if let Some(wrong) = began.and_then(|began| paths.away(from, to, (began, ended), copy.outcome)) {
            verdict.report(fault(
                Rule::Data,
                format!("a copy of {text} from {} to {} {wrong}", copy.from, copy.to),
            ));
        }
        verdict.count_check(Rule::Data);
        of.copies.push(Copied { file, from, to, row: copy });
    }

    /// Checks where files are, when all rows are there.
    pub(super) fn check_files(&self, paths: &Paths, verdict: &mut Verdict) {
        let mut carried = Carried::default();
        for of in self.submitted.values() {
            of.check_files(paths, &self.repeated, &self.jobs, verdict);
            for copy in of.copies.iter().filter(|copy| copy.arrived() && paths.steady) {
                let Some(began) = copy.row.began else { continue };
                let latency = paths.latency(copy.from, copy.to);
                for (cable, rate) in paths.cables(copy.from, copy.to) {
                    let over = if matches!(cable, Cable::Storage(_)) { Span::ZERO } else { latency };
                    let due = Time::from_micros(copy.row.ended.micros().saturating_sub(over.micros()));
                    let (bytes, row) = (copy.row.bytes, (&copy.row.file, copy.row.line, copy.row.job));
                    carried.add(cable, rate, Use { began, due, bytes, row });
                }
            }
        }
        carried.check(|place| paths.name(place), verdict);
        if paths.steady {
            self.check_storages(paths, verdict);
        }
    }
}

/// When and where a task or a group has all that it reads: an attempt begins, or if it is not known when, the last one ends.
struct Start {
    at: u32,
    does: &'static str,
    time: Time,
    job: u64,
    row: Row,
}

impl Submitted {
    /// When and where the task at this place in the workflow has what it reads: by its rows, and by the segments of its attempts.
    fn starts(&self, at: usize, paths: &Paths, jobs: &TaskJobs) -> Vec<Start> {
        let mut starts: Vec<Start> = Vec::new();
        let job = self.workflow.first_job.0 + at as u64;
        let jobs = jobs.get(&job).map_or(&[][..], |jobs| &jobs[..]);
        for (nth, task) in self.job_rows(at).enumerate() {
            // What else has ended did so elsewhere than where it began.
            let there = matches!(task.outcome, Outcome::Completed | Outcome::Failed | Outcome::Killed);
            let Some(place) = paths.places.get(&*task.site).filter(|_| there) else { continue };
            // Tasks of a group that began again may have run in attempts before.
            let (start, end) = match jobs.get(nth).filter(|_| self.workflow.groups.is_some()) {
                Some(job) => (job.last_start, job.end),
                None => (task.last_start, task.ended),
            };
            if start.is_none() && task.outcome != Outcome::Completed {
                continue;
            }
            let (does, time) = start.map_or(("ends", end), |start| ("starts", start));
            let row = Row { file: "tasks.csv", line: task.line };
            starts.push(Start { at: *place, does, time, job, row });
        }
        for Begun { site, time, row } in jobs.iter().flat_map(|job| &job.begun) {
            let at = site.0 + 1;
            if starts.iter().all(|start| (start.at, start.time) != (at, *time)) {
                starts.push(Start { at, does: "starts", time: *time, job, row: *row });
            }
        }
        starts
    }

    /// Checks that each attempt of a task had the files that the task reads, and that each copy left from where its file was.
    fn check_files(
        &self,
        paths: &Paths,
        repeated: &FxHashMap<u64, Vec<Time>>,
        jobs: &TaskJobs,
        verdict: &mut Verdict,
    ) {
        let spec = &self.workflow.spec;
        // A file may have gone everywhere and be needed again, since a task that reads it runs again.
        let again = |file: u32, from: Time, to: Time| {
            let readers = (self.workflow.first_job.0..)
                .zip(&spec.tasks)
                .filter(|(_, task)| task.inputs.contains(&file));
            let mut times = readers.filter_map(|(job, _)| repeated.get(&job)).flatten();
            times.any(|time| from <= *time && *time <= to)
        };
        let number = self.workflow.number;
        let place = |row: &TaskRow| paths.places.get(&*row.site).copied();
        // Where and from when on each file is.
        let mut there: Vec<Vec<(u32, Time, Option<usize>)>> = vec![Vec::new(); spec.files.len()];
        let mut made = vec![false; spec.files.len()];
        for (at, task) in spec.tasks.iter().enumerate() {
            task.outputs.iter().for_each(|file| made[*file as usize] = true);
            for row in self.job_rows(at).filter(|row| row.outcome == Outcome::Completed) {
                if let Some(place) = place(row) {
                    task.outputs.iter().for_each(|file| there[*file as usize].push((place, row.known, None)));
                }
            }
        }
        for (file, _) in made.iter().enumerate().filter(|(_, made)| !**made) {
            there[file].push((paths.home, self.workflow.submit, None));
        }
        for (at, copy) in self.copies.iter().enumerate().filter(|(_, copy)| copy.arrived()) {
            there[copy.file as usize].push((copy.to, copy.row.ended, Some(at)));
        }
        let since = |file: u32, place: u32, but: Option<usize>| {
            let at = there[file as usize]
                .iter()
                .filter(|(at, _, by)| *at == place && (but.is_none() || *by != but));
            at.map(|(_, since, _)| *since).min()
        };
        for (at, task) in spec.tasks.iter().enumerate() {
            for Start { at, does, time, job, row } in self.starts(at, paths, jobs) {
                for file in &task.inputs {
                    let since = since(*file, at, None);
                    if since.is_none_or(|since| since > time) {
                        let (name, place) = (&spec.files[*file as usize].name, paths.name(at));
                        let there = since.map_or("never".to_owned(), |since| format!("only at {since} s"));
                        let message = format!(
                            "task `{}` of workflow {number} {does} at {time} s, and file `{name}`, which it reads, is {there} at {place}",
                            task.name
                        );
                        verdict.report(violation(Rule::Data, time, job, message, row));
                    }
                    verdict.count_check(Rule::Data);
                }
            }
        }
        let mut order: Vec<usize> = (0..self.copies.len()).collect();
        order.sort_by_key(|at| {
            let Copied { file, to, row, .. } = &self.copies[*at];
            (*file, *to, row.asked, row.ended, row.line)
        });
        for at in &order {
            let Copied { file, from, to, row } = &self.copies[*at];
            let text = format!("file `{}` of workflow {number}", row.file);
            let source = Row { file: "transfers.csv", line: row.line };
            let mut fault =
                |message| verdict.report(violation(Rule::Data, row.asked, row.job, message, source));
            let asked = row.asked;
            if since(*file, *from, Some(*at)).is_none_or(|since| since > asked) {
                fault(format!("{text} is to be copied from {} at {asked} s, where it is not then", row.from));
            }
            let already = since(*file, *to, Some(*at)).filter(|since| *since < asked);
            if already.is_some_and(|since| !again(*file, since, asked)) {
                fault(format!("{text} is to be copied to {} at {asked} s, where it is already", row.to));
            }
        }
        for pair in order.windows(2) {
            let [first, second] = [pair[0], pair[1]].map(|at| &self.copies[at]);
            let asked = second.row.asked;
            let both = (first.file, first.to) == (second.file, second.to) && asked < first.row.ended;
            let broken = first.row.outcome == TransferOutcome::Lost
                || [first.from, first.to]
                    .iter()
                    .any(|place| paths.may_have_left(*place, first.row.asked, asked));
            if both && !broken && !again(second.file, first.row.asked, asked) {
                let message = format!(
                    "file `{}` of workflow {number} is to be copied to {} at {asked} s, where it is on its way to since {} s",
                    second.row.file, second.row.to, first.row.asked
                );
                let row = Row { file: "transfers.csv", line: second.row.line };
                verdict.report(violation(Rule::Data, asked, second.row.job, message, row));
            }
        }
    }
}
