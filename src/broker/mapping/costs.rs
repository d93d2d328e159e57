//! What tasks take in each pool.

use crate::units::{Rate, Span, Time, Work};
use crate::workflow::Workflow;

/// What the tasks to be planned take in each pool. Tasks and pools have numbers from 0.
pub trait Costs {
    /// The number of tasks.
    fn tasks(&self) -> usize;

    /// The number of pools.
    fn pools(&self) -> usize;

    /// How long a task is expected to run in a pool; `None` if it cannot.
    fn run(&self, task: usize, pool: usize) -> Option<Span>;

    /// The processors that it holds there.
    fn procs(&self, task: usize, pool: usize) -> u32;

    /// When what it needs and no task to be planned makes, such as its stage-in, can be there.
    fn ready(&self, task: usize, pool: usize) -> Time;
}

/// A table of expected times to compute: one row a task, one column a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Etc {
    pools: usize,
    /// [`Span::MAX`] where a task cannot run.
    runs: Vec<Span>,
    /// By task.
    procs: Vec<u32>,
    ready: Time,
}

impl Etc {
    /// Tasks on one processor each, ready at [`Time::ZERO`]. A task cannot run where it takes [`Span::MAX`].
    ///
    /// # Panics
    /// If rows are not equally long.
    pub fn of_rows<R: AsRef<[Span]>>(rows: &[R]) -> Self {
        let pools = rows.first().map_or(0, |row| row.as_ref().len());
        assert!(rows.iter().all(|row| row.as_ref().len() == pools), "a row has a time for each pool");
        let runs = rows.iter().flat_map(|row| row.as_ref()).copied().collect();
        Self { pools, runs, procs: vec![1; rows.len()], ready: Time::ZERO }
    }

    /// The tasks of a workflow, in pools of these machine classes and speeds: a task runs as long as it says for the class, and without
    /// that its run time at the reference speed over the speed.
    pub fn of_workflow(workflow: &Workflow, pools: &[(&str, Rate)]) -> Self {
        let run = |task: &crate::workflow::Task, (class, speed): &(&str, Rate)| {
            let work = Work::from_units(u128::from(task.runtime.micros()) << Rate::BITS);
            task.by_class.get(*class).copied().or_else(|| work.span_at(*speed)).unwrap_or(Span::MAX)
        };
        let runs = workflow.tasks().flat_map(|task| pools.iter().map(move |pool| run(task, pool)));
        Self {
            pools: pools.len(),
            runs: runs.collect(),
            procs: workflow.tasks().map(|task| task.procs).collect(),
            ready: Time::ZERO,
        }
    }

    /// The same tasks, each with so many processors.
    ///
    /// # Panics
    /// If there is not a number for each task.
    #[must_use]
    pub fn with_procs(self, procs: Vec<u32>) -> Self {
        assert_eq!(procs.len(), self.procs.len(), "each task has a number of processors");
        Self { procs, ..self }
    }

    /// The same tasks, ready at `ready`.
    #[must_use]
    pub fn from(self, ready: Time) -> Self {
        Self { ready, ..self }
    }
}

impl Costs for Etc {
    fn tasks(&self) -> usize {
        self.procs.len()
    }

    fn pools(&self) -> usize {
        self.pools
    }

    fn run(&self, task: usize, pool: usize) -> Option<Span> {
        Some(self.runs[task * self.pools + pool]).filter(|run| *run < Span::MAX)
    }

    fn procs(&self, task: usize, _: usize) -> u32 {
        self.procs[task]
    }

    fn ready(&self, _: usize, _: usize) -> Time {
        self.ready
    }
}
