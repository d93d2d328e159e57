//! What is believed of run times before a task runs.

use std::collections::BTreeMap;

use super::grouping::believed;
use super::{Task, Workflow, WorkflowError};
pub use crate::model::EstimateBase;
use crate::model::{WorkflowSettings, WorkflowSubmission};
use crate::units::Span;
use crate::workload::random::{LogNormal, Portable, Stream};

/// The longest estimate in microseconds, as of run times: three centuries.
const MOST: f64 = 1e16;

/// Estimates of run times: a base, times a factor that each task draws from a lognormal distribution of median 1.
///
/// The draw of a task depends on the seed, the number of its workflow and its own number, and on nothing else.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Estimates {
    /// What an estimate starts from.
    pub base: EstimateBase,
    /// The standard deviation of the logarithm of the factor; with 0 all factors are 1.
    pub sigma: f64,
}

impl Estimates {
    /// The estimates that these settings ask for; `None` if they are exact.
    pub fn wanted(settings: &WorkflowSettings) -> Option<Self> {
        let wanted = Self { base: settings.estimates, sigma: settings.error_ppm as f64 / 1e6 };
        (wanted != Self::default()).then_some(wanted)
    }

    /// The workflow as it is believed to be: with estimates in place of run times, those by machine class among them. All of a task have
    /// the same factor. `number` tells workflows of one run apart.
    pub fn of(&self, workflow: &Workflow, number: u64, seed: u64) -> Workflow {
        let means = match self.base {
            EstimateBase::Exact => BTreeMap::new(),
            EstimateBase::TypeMean => type_means(workflow),
        };
        let mut believed = workflow.clone();
        for (at, task) in believed.graph.node_weights_mut().enumerate() {
            if let Some(mean) = means.get(&*task.kind) {
                task.runtime = mean.runtime();
                task.by_class.iter_mut().for_each(|(class, span)| *span = mean.on(class));
            }
            let factor = self.factor(number, at, seed);
            let times =
                |span: Span| Span::from_micros(libm::round(span.micros() as f64 * factor).min(MOST) as u64);
            if factor != 1.0 {
                task.runtime = times(task.runtime);
                task.by_class.values_mut().for_each(|span| *span = times(*span));
            }
        }
        believed
    }

    /// The same of a workflow that is submitted, and that is `enacted` in groups, if it is: what is believed of a group follows from its tasks.
    ///
    /// # Errors
    /// What is wrong with the workflow before its tasks were put into groups.
    pub fn of_submitted(
        &self,
        submitted: &WorkflowSubmission,
        enacted: &Workflow,
    ) -> Result<Workflow, WorkflowError> {
        let Some(groups) = &submitted.groups else { return Ok(self.of(enacted, 0, submitted.seed)) };
        let whole = Workflow::from_spec(groups.workflow.clone())?;
        Ok(believed(groups, enacted, &self.of(&whole, 0, submitted.seed)))
    }

    fn factor(&self, workflow: u64, task: usize, seed: u64) -> f64 {
        match LogNormal::new(Portable(0.0), Portable(self.sigma)) {
            Ok(law) if self.sigma > 0.0 => {
                Stream::new(seed, &format!("workflow {workflow}"), &format!("estimate of task {task}"))
                    .draw(law)
            }
            _ => 1.0,
        }
    }
}

/// Sums of run times and their numbers: at the reference speed, and by machine class.
#[derive(Default)]
struct Mean<'a> {
    all: (u128, u128),
    by_class: BTreeMap<&'a str, (u128, u128)>,
}

impl Mean<'_> {
    fn runtime(&self) -> Span {
        mean(self.all)
    }

    fn on(&self, class: &str) -> Span {
        self.by_class.get(class).map_or(Span::ZERO, |sum| mean(*sum))
    }
}

fn mean((sum, number): (u128, u128)) -> Span {
    // Rounded half up.
    let micros = (2 * sum + number) / (2 * number.max(1));
    Span::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
}

fn type_means(workflow: &Workflow) -> BTreeMap<String, Mean<'_>> {
    let mut means: BTreeMap<String, Mean<'_>> = BTreeMap::new();
    let add = |sum: &mut (u128, u128), span: Span| *sum = (sum.0 + u128::from(span.micros()), sum.1 + 1);
    for Task { kind, runtime, by_class, .. } in workflow.tasks() {
        let of_kind = means.entry(kind.clone()).or_default();
        add(&mut of_kind.all, *runtime);
        by_class.iter().for_each(|(class, span)| add(of_kind.by_class.entry(class).or_default(), *span));
    }
    means
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{GroupMember, JobId, TaskGroups};
    use crate::units::Time;
    use crate::workflow::tests::topcuoglu;
    use crate::workflow::{Draft, TaskDraft};

    fn runtimes(workflow: &Workflow) -> Vec<f64> {
        workflow.tasks().map(|task| task.runtime.as_secs_f64()).collect()
    }

    fn three() -> Workflow {
        let mut draft = Draft::named("three");
        for (name, secs, fast) in
            [("a_1", 10.0, Some(1.0)), ("a_2", 21.0, None), ("b_1", 5.0, None), ("a_3", 0.0, Some(4.0))]
        {
            let mut task = TaskDraft::new(name, secs);
            task.by_class.extend(fast.map(|secs| ("fast".to_owned(), secs)));
            draft.task(task);
        }
        draft.build().unwrap()
    }

    #[test]
    fn exact_ones_are_the_run_times_and_means_those_of_the_type() {
        let workflow = three();
        let exact = Estimates::default().of(&workflow, 1, 7);
        assert_eq!(exact.spec(), workflow.spec());
        let mean = Estimates { base: EstimateBase::TypeMean, sigma: 0.0 }.of(&workflow, 1, 7);
        assert_eq!(runtimes(&mean), [10.333333, 10.333333, 5.0, 10.333333]);
        let fast: Vec<_> =
            mean.tasks().map(|task| task.by_class.get("fast").map(|span| span.as_secs_f64())).collect();
        assert_eq!(fast, [Some(2.5), None, None, Some(2.5)]);
    }

    /// In groups of two of one type, each is believed to take what its tasks are: side by side as long as one, in turn as long as both.
    #[test]
    fn what_is_believed_of_a_group_follows_from_its_tasks() {
        let mut draft = Draft::named("five");
        (0..5).for_each(|at| draft.task(TaskDraft::new(format!("t_{at}"), f64::from(10 * at))));
        let mean = Estimates { base: EstimateBase::TypeMean, sigma: 0.0 };
        for (side_by_side, believed) in [(false, [40.0, 40.0, 20.0]), (true, [20.0, 20.0, 20.0])] {
            let workflow = draft.clone().build().unwrap();
            let member =
                |task: u32| GroupMember { task, run: (Span::ZERO, Span::ZERO), by_class: BTreeMap::new() };
            let members =
                [vec![0, 1], vec![2, 3], vec![4]].map(|tasks| tasks.into_iter().map(member).collect());
            let groups = TaskGroups { workflow: workflow.spec(), members: members.to_vec(), side_by_side };
            let mut enacted = Draft::named("three");
            for at in 0..3 {
                let procs = if side_by_side && at < 2 { 2.0 } else { 1.0 };
                enacted.task(TaskDraft { procs, ..TaskDraft::new(format!("g_{at}"), 1.0) });
            }
            let enacted = enacted.build().unwrap();
            let submission = WorkflowSubmission {
                groups: Some(Box::new(groups)),
                ..WorkflowSubmission::new(Time::ZERO, JobId(0), enacted.spec())
            };
            assert_eq!(runtimes(&mean.of_submitted(&submission, &enacted).unwrap()), believed);
        }
    }

    #[test]
    fn a_factor_depends_on_seed_workflow_and_task_alone() {
        let estimates = Estimates { base: EstimateBase::Exact, sigma: 0.5 };
        let workflow = topcuoglu().build().unwrap();
        let first = runtimes(&estimates.of(&workflow, 1, 7));
        assert_eq!(first, runtimes(&estimates.of(&workflow, 1, 7)));
        for other in [estimates.of(&workflow, 2, 7), estimates.of(&workflow, 1, 8)] {
            assert!(runtimes(&other).iter().zip(&first).all(|(one, other)| one != other));
        }
        // The same numbers in a workflow of fewer tasks; one factor for all classes.
        let mut draft = topcuoglu();
        draft.tasks.truncate(1);
        let one = estimates.of(&draft.build().unwrap(), 1, 7);
        assert_eq!(runtimes(&one), first[..1]);
        let task = one.task(crate::workflow::TaskId(0));
        let factors: Vec<f64> = [14.0, 16.0, 9.0]
            .iter()
            .zip(task.by_class.values())
            .map(|(secs, span)| span.as_secs_f64() / secs)
            .collect();
        assert!(factors.iter().all(|factor| (factor - first[0]).abs() < 1e-6), "{factors:?}");
        // A task of no time has none to be wrong about.
        assert_eq!(runtimes(&estimates.of(&three(), 1, 7))[3], 0.0);
    }

    #[test]
    fn factors_are_lognormal_with_median_one() {
        let mut draft = Draft::named("many");
        (0..20_000).for_each(|at| draft.task(TaskDraft::new(format!("t_{at}"), 1000.0)));
        let believed = Estimates { base: EstimateBase::Exact, sigma: 0.8 }.of(&draft.build().unwrap(), 3, 1);
        let logs: Vec<f64> = runtimes(&believed).iter().map(|secs| libm::log(secs / 1000.0)).collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let deviation =
            libm::sqrt(logs.iter().map(|log| (log - mean) * (log - mean)).sum::<f64>() / logs.len() as f64);
        assert!(mean.abs() < 0.02, "{mean}");
        assert!((deviation - 0.8).abs() < 0.02, "{deviation}");
    }
}
