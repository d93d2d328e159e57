//! The check of a workflow's row: against its tasks, and against the grid that it ran on.

use std::collections::BTreeMap;

use super::parts::parts;
use super::{Submitted, TaskJobs, Workflows};
use crate::model::{Limits, Outcome, PartitionSpec, WorkflowTask};
use crate::output::{TaskRow, WorkflowRow};
use crate::units::{Bytes, Energy, Money, Span, Time, Work};
use crate::verify::findings::{Row, Rule, Verdict, Violation};
use crate::verify::platform::Platform;

/// The resolution of ratios, which are written with nine decimals.
const DIGIT: f64 = 1e-9;

impl Workflows {
    /// Checks the row of a workflow, when the rows of its tasks have been taken.
    pub(crate) fn workflow(&mut self, whole: &WorkflowRow, platform: &Platform, verdict: &mut Verdict) {
        let row = Row { file: "workflows.csv", line: whole.line };
        let number = whole.workflow;
        let mut fault = |rule, message| {
            verdict.report(Violation { time: whole.ended, rule, jobs: Vec::new(), message, row });
        };
        let Some(of) = self.submitted.get_mut(&number) else {
            return fault(Rule::Rows, format!("the workloads of the run have no workflow {number}"));
        };
        if std::mem::replace(&mut of.ended, true) {
            return fault(Rule::Once, format!("workflow {number} has a second row"));
        }
        let columns = of.told(whole, &self.jobs, platform);
        for (column, wrong) in columns {
            if let Some(follows) = wrong {
                let rule = if column == "submitted" { Rule::Arrival } else { Rule::Columns };
                fault(
                    rule,
                    format!(
                        "`{column}` of workflow {number} is not {follows}, as its tasks and the grid say"
                    ),
                );
            }
        }
        [Rule::Once, Rule::Columns].into_iter().for_each(|rule| verdict.count_check(rule));
    }
}

/// A column, and what follows for it from the rest if that is something else.
type Column = (&'static str, Option<String>);

fn column<T: PartialEq + ToString>(name: &'static str, written: &T, follows: &T) -> Column {
    (name, (written != follows).then(|| follows.to_string()))
}

/// What follows for an amount in 10⁻⁹, if that is something else than what is written.
fn nanos(written: i128, follows: i128) -> Option<String> {
    (written != follows).then(|| (follows as f64 / 1e9).to_string())
}

fn shown<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "empty".to_owned(), |value| value.to_string())
}

fn ratio(name: &'static str, written: Option<f64>, above: Span, below: f64) -> Column {
    let follows = (below > 0.0).then(|| above.micros() as f64 / below);
    let same = match (written, follows) {
        (Some(a), Some(b)) => (a - b).abs() <= DIGIT * b.abs().max(1.0),
        (a, b) => a.is_none() && b.is_none(),
    };
    (name, (!same).then(|| shown(follows)))
}

impl Submitted {
    /// The columns of a workflow's row.
    fn told(&self, whole: &WorkflowRow, jobs: &TaskJobs, platform: &Platform) -> Vec<Column> {
        let rows = || self.rows.iter().flatten();
        let completed = rows().filter(|task| task.outcome == Outcome::Completed).count();
        let unfinished = rows().any(|task| task.outcome == Outcome::Unfinished);
        let outcome = match completed == self.rows.len() {
            true => Outcome::Completed,
            false if unfinished => Outcome::Unfinished,
            false => Outcome::Failed,
        };
        let spec = self.workflow.ungrouped();
        let known = rows().map(|task| task.known).max().unwrap_or(whole.ended);
        let reference = self.longest(&|task| task.runtime);
        // The path at reference speed comes from floating-point seconds.
        let near = whole.critical_path.micros().abs_diff(reference.micros()) <= 1;
        let mut runs = BTreeMap::new();
        for task in &spec.tasks {
            let fastest = || self.places(task, platform).map(|part| part.fastest()).max();
            runs.entry(self.wants(task)).or_insert_with(fastest);
        }
        let run = |task: &WorkflowTask| {
            if !task.by_class.is_empty() {
                return self
                    .places(task, platform)
                    .filter_map(|place| time_in(task, place))
                    .min()
                    .unwrap_or_default();
            }
            let rate = runs.get(&self.wants(task)).copied().flatten();
            rate.and_then(|rate| Work::of_runtime(task.runtime).span_at(rate)).unwrap_or_default()
        };
        let fastest_path = self.longest(&run);
        let procs = |task: &WorkflowTask| u128::from(task.procs);
        let span = |micros: u128| Span::from_micros(u64::try_from(micros).unwrap_or(u64::MAX));
        let work = span(spec.tasks.iter().map(|task| procs(task) * u128::from(run(task).micros())).sum());
        let fits = |task: &&WorkflowTask| !run(task).is_zero();
        let area = |task: &WorkflowTask| {
            let work = |place: &PartitionSpec| match task.by_class.get(&place.name) {
                Some(time) => u128::from(time.micros()) * u128::from(place.speed().units()),
                None => Work::of_runtime(task.runtime).units(),
            };
            let least = self.places(task, platform).map(work).min();
            procs(task)
                * least
                    .filter(|_| !task.by_class.is_empty())
                    .unwrap_or(Work::of_runtime(task.runtime).units())
        };
        let units: u128 = spec.tasks.iter().filter(fits).map(area).sum();
        let partitions = platform.sites.iter().flat_map(|site| &site.spec.partitions);
        let speeds: u128 = partitions.clone().map(PartitionSpec::total_speed).sum();
        let places: u128 = partitions.clone().map(|part| u128::from(part.usable())).sum();
        let even = u128::from(work.micros()).checked_div(places).unwrap_or(0);
        let alone = fastest_path.max(span(units.checked_div(speeds).unwrap_or(0))).max(span(even));
        let makespan = whole.ended.since(self.workflow.submit);
        let peak = self.peak(jobs).unwrap_or(u64::from(whole.peak_procs));
        let micros = |span: Span| span.micros() as f64;
        let path = self.path(whole, jobs);
        let written = [whole.run, whole.data, whole.dispatch, whole.queue, whole.lost];
        let attempts = match &self.group {
            None => rows().map(|task| u64::from(task.attempts)).sum(),
            Some(_) => {
                let jobs: BTreeMap<u64, u64> =
                    rows().map(|task| (task.job, u64::from(task.attempts))).collect();
                jobs.into_values().sum()
            }
        };
        let ratio = |name, written: Option<f64>, above: Span, below: f64| match outcome {
            Outcome::Completed => ratio(name, written, above, below),
            _ => (name, written.map(|_| shown::<f64>(None))),
        };
        let mut columns = vec![
            column("name", &whole.name.to_string(), &spec.name),
            column("submitted", &whole.submitted, &self.workflow.submit),
            column("ended", &whole.ended, &if unfinished { whole.ended } else { known }),
            column("makespan", &whole.makespan, &makespan),
            ("critical_path", (!near).then(|| reference.to_string())),
            column("outcome", &whole.outcome, &outcome),
            column("tasks", &(whole.tasks as usize), &self.rows.len()),
            column("completed", &(whole.completed as usize), &completed),
            column("attempts", &whole.attempts, &attempts),
            column("fastest_path", &whole.fastest_path, &fastest_path),
            column("work", &whole.work, &work),
            column("alone", &whole.alone, &alone),
            column("peak_procs", &u64::from(whole.peak_procs), &peak),
            ratio("slr", whole.slr, makespan, micros(fastest_path)),
            ratio("slowdown", whole.slowdown, makespan, micros(alone)),
            ratio("speedup", whole.speedup, work, micros(makespan)),
            ratio("efficiency", whole.efficiency, work, micros(makespan) * peak as f64),
        ];
        columns.extend(self.spent(whole, jobs));
        if let Some(limits) = &self.workflow.limits {
            let Limits { deadline, budget, .. } = limits.whole;
            columns.push(("deadline", (whole.deadline != deadline).then(|| shown(deadline))));
            let nanos = |budget: Option<Money>| shown(budget.map(Money::as_f64));
            columns.push(("budget", (whole.budget != budget).then(|| nanos(budget))));
        }
        for (at, name) in ["run", "data", "dispatch", "queue", "lost"].into_iter().enumerate() {
            let follows = path.map(|parts| parts[at]);
            columns.push((name, (written[at] != follows).then(|| shown(follows))));
        }
        columns
    }

    /// What decides where a task can run.
    fn wants(&self, task: &WorkflowTask) -> (u32, Option<Bytes>, Option<&String>) {
        (task.procs, task.memory, self.workflow.tag(&task.kind))
    }

    /// The columns of what was moved and charged. An older table has none of them.
    fn spent(&self, whole: &WorkflowRow, jobs: &TaskJobs) -> Vec<Column> {
        let WorkflowRow { ended, moved_bytes, energy, cost, .. } = *whole;
        let (Some(moved), Some(energy), Some(cost)) = (moved_bytes, energy, cost) else { return Vec::new() };
        let each = || self.copies.iter().map(|copy| copy.moved(ended));
        let (least, most): (u64, u64) =
            each().fold((0, 0), |sum, (least, most)| (sum.0 + least, sum.1 + most));
        // Of the jobs that the broker knows to have ended, each time that they have.
        let ended = |at| self.rows_at(at).filter(|task| task.outcome != Outcome::Unfinished);
        let over = (0..self.rows.len()).filter_map(|at| Some((ended(at).next()?.job, ended(at).count())));
        let over: BTreeMap<u64, usize> = over.collect();
        let over = || over.iter().flat_map(|(job, times)| jobs.get(job).into_iter().flatten().take(*times));
        let joules = |energy: Energy| energy.nanojoules() as i128;
        vec![
            ("moved_bytes", (!(least..=most).contains(&moved)).then(|| most.to_string())),
            ("energy_j", nanos(joules(energy), over().map(|job| joules(job.energy)).sum())),
            ("cost", nanos(cost.nanos(), over().map(|job| job.cost.nanos()).sum())),
        ]
    }

    /// The longest way through the workflow.
    fn longest(&self, run: &dyn Fn(&WorkflowTask) -> Span) -> Span {
        let tasks = &self.workflow.ungrouped().tasks;
        let mut missing: Vec<usize> = self.before.iter().map(Vec::len).collect();
        let mut after = vec![Vec::new(); tasks.len()];
        for (at, before) in self.before.iter().enumerate() {
            before.iter().for_each(|task| after[*task as usize].push(at));
        }
        let mut begins = vec![Span::ZERO; tasks.len()];
        let mut open: Vec<usize> = (0..tasks.len()).filter(|at| missing[*at] == 0).collect();
        let mut longest = Span::ZERO;
        while let Some(at) = open.pop() {
            let end = begins[at] + run(&tasks[at]);
            longest = longest.max(end);
            for next in &after[at] {
                begins[*next] = begins[*next].max(end);
                missing[*next] -= 1;
                open.extend((missing[*next] == 0).then_some(*next));
            }
        }
        longest
    }

    /// The row of a job, the last one or that which the broker knew at an instant: of a group with the times of its job, whose last attempt is known
    /// to have begun only if it is the only one.
    fn row(&self, at: usize, known: Option<Time>, jobs: &TaskJobs) -> Option<TaskRow> {
        let rows = self.job_rows(at).enumerate();
        let (nth, row) = rows.filter(|(_, row)| known.is_none_or(|known| row.known == known)).last()?;
        let row = row.clone();
        if self.workflow.members(at).is_none() || row.outcome == Outcome::Unfinished {
            return Some(row);
        }
        let job = jobs.get(&row.job)?.get(nth)?;
        let last_start = job.start.filter(|_| job.attempts == 1);
        Some(TaskRow { started: job.start, last_start, ended: job.end, ..row })
    }

    /// Most processors that jobs held at once in attempts that completed; `None` if it is not known when these began.
    fn peak(&self, jobs: &TaskJobs) -> Option<u64> {
        let mut changes: Vec<(Time, i64)> = Vec::new();
        for (at, spec) in self.workflow.spec.tasks.iter().enumerate() {
            let row = self.row(at, None, jobs);
            let Some(row) = row.filter(|row| row.outcome == Outcome::Completed) else { continue };
            let (from, to) = (row.last_start?, row.ended);
            changes.extend([(from, i64::from(spec.procs)), (to, -i64::from(spec.procs))]);
        }
        // What ends at an instant is over when the next begins.
        changes.sort_unstable();
        let (mut held, mut most) = (0, 0);
        for (_, change) in changes {
            held += change;
            most = most.max(held);
        }
        u64::try_from(most).ok()
    }

    /// The parts of the makespan on the way back from the task that ended last; `None` if the workflow has not ended.
    fn path(&self, whole: &WorkflowRow, jobs: &TaskJobs) -> Option<[Span; 5]> {
        let of = |job: u64, known: Option<Time>| {
            let at = usize::try_from(job.checked_sub(self.workflow.first_job.0)?).ok()?;
            (at < self.workflow.spec.tasks.len()).then(|| self.row(at, known, jobs))?
        };
        let last = of(whole.last?, None)
            .filter(|task| task.known == whole.ended && task.outcome != Outcome::Unfinished)?;
        let (mut sum, mut next, mut known) = ([Span::ZERO; 5], Some(last), true);
        // A damaged table may lead in a circle.
        for _ in 0..=self.rows.len() {
            let Some(task) = next else {
                // Of a group with several attempts only the sum is known of what was lost and what was not.
                let [run, .., lost] = &mut sum;
                let (both, written) = (*run + *lost, whole.run.unwrap_or_default());
                if !known && written <= both {
                    (*run, *lost) = (written, Span::from_micros(both.micros() - written.micros()));
                }
                return Some(sum);
            };
            known &= task.last_start.is_some() || task.started.is_none();
            for (sum, part) in sum.iter_mut().zip(parts(&task)?) {
                *sum += part;
            }
            next = task.after.and_then(|job| of(job, task.ready));
        }
        None
    }
}

/// How long a task runs there, on its fastest machines.
fn time_in(task: &WorkflowTask, place: &PartitionSpec) -> Option<Span> {
    let by_speed = || Work::of_runtime(task.runtime).span_at(place.fastest());
    task.by_class.get(&place.name).map(|time| place.at_best(*time)).or_else(by_speed)
}
