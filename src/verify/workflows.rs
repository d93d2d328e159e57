//! The checks of workflows: tasks against the workflow as it was submitted, against their jobs and against each other.
//!
//! What waits for what is taken from the edges and files of the submitted workflow alone, and what happened from the rows alone.

mod carried;
mod data;
mod faults;
mod members;
mod needs;
mod parts;
mod paths;
mod precedence;
mod stored;
mod whole;

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use self::parts::parts;
pub(crate) use self::paths::Paths;
use self::precedence::Awaited;
use super::findings::{Row, Rule, Verdict, Violation};
use super::job_trace::Begun;
use super::platform::Platform;
use crate::model::{JobId, JobRef, Outcome, WorkflowSubmission, WorkloadId};
use crate::output::{JobRow, TaskRow};
use crate::units::{Energy, Money, Time};

type TaskJobs = FxHashMap<u64, Vec<TaskJob>>;

/// The workflows of a run, and the jobs of their tasks.
#[derive(Debug, Default)]
pub(crate) struct Workflows {
    submitted: BTreeMap<u32, Submitted>,
    /// What `jobs.csv` says of tasks, by the number of the job: a row for each time that it ended.
    jobs: TaskJobs,
    /// When tasks that had completed were to run again, by the number of the job.
    repeated: FxHashMap<u64, Vec<Time>>,
    /// Attempts that failed by themselves, by the number of the job.
    failed: FxHashMap<u64, Vec<u32>>,
}

/// A workflow as it was submitted, and the rows of its tasks.
#[derive(Debug)]
struct Submitted {
    workflow: WorkflowSubmission,
    /// For each task those that it waits for.
    before: Vec<Vec<u32>>,
    /// For each task the place of its job among those of the workflow, if tasks are in groups.
    group: Option<Vec<u32>>,
    /// For each group the tasks outside it that its tasks wait for.
    before_group: Vec<Vec<u32>>,
    /// If tasks are in groups, those of each name.
    named: FxHashMap<String, SmallVec<[u32; 1]>>,
    /// The last row of each task, and those before it of a task that ran again.
    rows: Vec<Option<TaskRow>>,
    earlier: Vec<Vec<TaskRow>>,
    ended: bool,
    /// The copies of its files.
    copies: Vec<data::Copied>,
    files: Option<data::Files>,
}

/// A row of `jobs.csv`, as far as that of a task must agree with it.
#[derive(Debug)]
struct TaskJob {
    submit: Time,
    start: Option<Time>,
    /// The start of the last attempt, if it is known.
    last_start: Option<Time>,
    /// The beginnings of attempts of which segments tell.
    begun: Vec<Begun>,
    end: Time,
    outcome: Outcome,
    attempts: u32,
    energy: Energy,
    cost: Money,
    site: Arc<str>,
    partition: Option<Arc<str>>,
}

/// The tasks that each task waits for, by edge or by file.
fn before(workflow: &WorkflowSubmission) -> Vec<Vec<u32>> {
    let spec = workflow.ungrouped();
    let mut writer = vec![None; spec.files.len()];
    for (at, task) in (0_u32..).zip(&spec.tasks) {
        task.outputs.iter().for_each(|file| writer[*file as usize] = Some(at));
    }
    let by_file = |task: &crate::model::WorkflowTask| -> Vec<u32> {
        task.inputs.iter().filter_map(|file| writer[*file as usize]).collect()
    };
    let mut before: Vec<Vec<u32>> = spec.tasks.iter().map(by_file).collect();
    for (from, to) in &spec.edges {
        before[*to as usize].push(*from);
    }
    for tasks in &mut before {
        tasks.sort_unstable();
        tasks.dedup();
    }
    before
}

/// For each task the group that it is in.
fn group(workflow: &WorkflowSubmission) -> Option<Vec<u32>> {
    let groups = workflow.groups.as_ref()?;
    let mut group = vec![0; groups.workflow.tasks.len()];
    for (at, members) in (0..).zip(&groups.members) {
        members.iter().for_each(|member| group[member.task as usize] = at);
    }
    Some(group)
}

/// For each group the tasks outside it that its tasks wait for.
fn before_group(groups: usize, group: &[u32], before: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut outside = vec![Vec::new(); groups];
    for (own, before) in group.iter().zip(before) {
        let others = before.iter().filter(|before| group[**before as usize] != *own);
        outside[*own as usize].extend(others);
    }
    outside
}

impl Workflows {
    /// Adds a workflow, with the number that the portal gave it.
    pub(crate) fn submit(&mut self, workflow: WorkflowSubmission) {
        let rows = workflow.ungrouped().tasks.iter().map(|_| None).collect();
        let (before, group) = (before(&workflow), group(&workflow));
        let before_group = group
            .as_ref()
            .map(|group| before_group(workflow.spec.tasks.len(), group, &before))
            .unwrap_or_default();
        let mut named: FxHashMap<String, SmallVec<[u32; 1]>> = FxHashMap::default();
        for (at, task) in (0..).zip(&workflow.ungrouped().tasks).filter(|_| group.is_some()) {
            named.entry(task.name.clone()).or_default().push(at);
        }
        let submitted = Submitted {
            before,
            group,
            before_group,
            named,
            earlier: vec![Vec::new(); workflow.ungrouped().tasks.len()],
            rows,
            ended: false,
            copies: Vec::new(),
            files: None,
            workflow,
        };
        self.submitted.insert(submitted.workflow.number.0, submitted);
    }

    /// Notes the row of the job of a task, with the beginnings of its attempts and when the last one began, as far as they are known.
    pub(crate) fn job(&mut self, row: &JobRow, (begun, last_start): (Vec<Begun>, Option<Time>)) {
        let JobRow { submit, start, end, outcome, attempts, energy, cost, .. } = *row;
        let (site, partition) = (Arc::clone(&row.site), row.partition.clone());
        let row_of = self.jobs.entry(row.job).or_default();
        let last_start = last_start.or(start.filter(|_| attempts == 1));
        row_of.push(TaskJob {
            submit,
            start,
            last_start,
            begun,
            end,
            outcome,
            attempts,
            energy,
            cost,
            site,
            partition,
        });
    }

    /// Takes the row of a task, and checks what does not depend on other tasks.
    pub(crate) fn task(&mut self, task: TaskRow, verdict: &mut Verdict) {
        let row = Row { file: "tasks.csv", line: task.line };
        let mut fault = |rule, time, message| verdict.report(violation(rule, time, task.job, message, row));
        let Some(of) = self.submitted.get_mut(&task.workflow) else {
            let message = format!("the workloads of the run have no workflow {}", task.workflow);
            return fault(Rule::Rows, task.known, message);
        };
        let spec = of.workflow.ungrouped();
        let Some((at, spec)) = of.place(&task).and_then(|at| Some((at, spec.tasks.get(at)?))) else {
            let message = format!("workflow {} has no task with job {}", task.workflow, task.job);
            return fault(Rule::Rows, task.known, message);
        };
        let text = format!("task `{}` of workflow {}", spec.name, task.workflow);
        let nth = of.earlier[at].len() + usize::from(of.rows[at].is_some());
        let mut tried = 0;
        if let Some(before) = &of.rows[at] {
            let due = self.repeated.get(&task.job).and_then(|times| times.get(nth - 1));
            if before.outcome != Outcome::Completed
                || due.is_none_or(|due| *due < before.known || task.known < *due)
            {
                return fault(Rule::Once, task.known, format!("{text} has a second row"));
            }
            tried = before.attempts;
        }
        if (&*task.task, &*task.kind) != (&spec.name, &spec.kind) {
            let message =
                format!("job {} is {text} of type `{}`, and its row says otherwise", task.job, spec.kind);
            fault(Rule::Rows, task.known, message);
        }
        let submit = of.workflow.submit;
        if let Some(ready) = task.ready.filter(|ready| *ready < submit) {
            let message =
                format!("{text} is ready at {ready} s, before its workflow is submitted at {submit} s");
            fault(Rule::Arrival, ready, message);
        }
        let marks = [task.ready, task.decided, task.sent, task.queued, task.started, task.last_start];
        let ends = [Some(task.ended), Some(task.known)];
        if task.outcome != Outcome::Unfinished && !marks.iter().chain(&ends).flatten().is_sorted() {
            let message = format!("the times of {text} are not in the order of their columns");
            fault(Rule::Columns, task.known, message);
        }
        if task.attempts == 1 && task.last_start.is_some_and(|start| Some(start) != task.started) {
            let message = format!("{text} has one attempt, and its last start is not its first");
            fault(Rule::Columns, task.known, message);
        }
        let written = [task.run, task.data, task.dispatch, task.queue, task.lost];
        if written != parts(&task).map_or([None; 5], |parts| parts.map(Some)) {
            let message = format!("the parts of the time of {text} do not follow from its times");
            fault(Rule::Columns, task.known, message);
        }
        // A job may have ended where the broker does not know of it yet.
        let grouped = of.group.is_some();
        if let Some(differs) =
            self.jobs.get(&task.job).and_then(|jobs| differs(&task, jobs.get(nth)?, grouped))
        {
            let message = format!("`{differs}` of {text} is not that of job {} in jobs.csv", task.job);
            fault(Rule::Rows, task.known, message);
        }
        // Each time that it runs it may fail as often.
        let last = if task.outcome == Outcome::Completed { task.attempts } else { u32::MAX };
        let failed = self.failed.get(&task.job).into_iter().flatten();
        let failed: Vec<u32> =
            failed.copied().filter(|attempt| (tried + 1..=last).contains(attempt)).collect();
        if let Some(wrong) = of.misdrawn(&task, &failed) {
            fault(Rule::Outcome, task.known, format!("{text} {wrong}"));
        }
        for rule in [Rule::Once, Rule::Arrival, Rule::Rows, Rule::Columns] {
            verdict.count_check(rule);
        }
        let before = of.rows[at].replace(task);
        of.earlier[at].extend(before);
    }

    /// Checks the rows against each other, when all are there. `last` is the time of the last row of the run.
    pub(crate) fn finish(&self, last: Time, platform: &Platform, paths: &Paths, verdict: &mut Verdict) {
        for (number, of) in &self.submitted {
            let missing = of.rows.iter().filter(|row| row.is_none()).count();
            if missing > 0 {
                let row = Row { file: "tasks.csv", line: 0 };
                let message = format!("{missing} tasks of workflow {number} have no row");
                verdict.report(Violation { time: last, rule: Rule::Rows, jobs: Vec::new(), message, row });
            }
            if !of.ended {
                let row = Row { file: "workflows.csv", line: 0 };
                let message = format!("workflow {number} has no row");
                verdict.report(Violation { time: last, rule: Rule::Rows, jobs: Vec::new(), message, row });
            }
            // The tasks of a group are ready at once.
            let mut groups: FxHashMap<(u32, Option<Time>), Awaited<'_>> = FxHashMap::default();
            for (at, task) in of.rows.iter().enumerate() {
                for task in of.earlier[at].iter().chain(task) {
                    let awaited = |before| of.awaited(before, task.ready);
                    match &of.group {
                        Some(group) => {
                            let awaited = groups
                                .entry((group[at], task.ready))
                                .or_insert_with(|| awaited(&of.before_group[group[at] as usize]));
                            of.precedence(at, task, awaited, verdict);
                        }
                        None => of.precedence(at, task, &awaited(&of.before[at]), verdict),
                    }
                }
            }
            of.check_members(&self.jobs, platform, verdict);
            of.check_needs(platform, verdict);
        }
        self.check_files(paths, verdict);
    }
}

impl Submitted {
    /// The rows of the tasks that are one job.
    fn rows_of(&self, at: usize) -> Option<Vec<&TaskRow>> {
        let Some(groups) = &self.workflow.groups else { return Some(vec![self.rows[at].as_ref()?]) };
        groups.members[at].iter().map(|member| self.rows[member.task as usize].as_ref()).collect()
    }

    /// All rows of a task, in order.
    fn rows_at(&self, at: usize) -> impl Iterator<Item = &TaskRow> {
        self.earlier[at].iter().chain(&self.rows[at])
    }

    /// All rows of a task, or of the first of a group, whose tasks have rows alike, in order.
    fn job_rows(&self, at: usize) -> impl Iterator<Item = &TaskRow> {
        self.rows_at(self.workflow.groups.as_ref().map_or(at, |groups| groups.members[at][0].task as usize))
    }

    /// The row of a task that counts at an instant: the last one that the broker knew, or the first one.
    fn row_by(&self, at: usize, time: Option<Time>) -> Option<&TaskRow> {
        let known = |row: &&TaskRow| time.is_none_or(|time| row.known <= time);
        self.rows_at(at).filter(known).last().or_else(|| self.rows_at(at).next())
    }

    /// The place of the task of a row in the workflow: by its job, and in a group by its name.
    fn place(&self, task: &TaskRow) -> Option<usize> {
        let at = usize::try_from(task.job.checked_sub(self.workflow.first_job.0)?).ok()?;
        let Some(group) = &self.group else { return Some(at) };
        let mut named = self.named.get(&*task.task)?.iter().map(|task| *task as usize);
        named.find(|task| group[*task] as usize == at)
    }
}

fn violation(rule: Rule, time: Time, job: u64, message: String, row: Row) -> Violation {
    let job = JobRef { workload: WorkloadId::GRID, number: JobId(job) };
    Violation { time, rule, jobs: vec![job], message, row }
}

/// The first column in which a task that has ended differs from its job.
fn differs(task: &TaskRow, job: &TaskJob, grouped: bool) -> Option<&'static str> {
    if task.outcome == Outcome::Unfinished {
        return None;
    }
    let moved =
        task.outcome == Outcome::Completed && (&task.site, &task.partition) != (&job.site, &job.partition);
    let pairs = [
        ("outcome", task.outcome.index() != job.outcome.index()),
        // A task of a group has times of its own.
        ("started", !grouped && task.started != job.start),
        ("ended", !grouped && task.ended != job.end),
        ("ready", task.ready.is_some_and(|ready| ready != job.submit)),
        ("attempts", task.attempts != job.attempts),
        ("site", moved),
    ];
    pairs.into_iter().find_map(|(column, differ)| differ.then_some(column))
}
