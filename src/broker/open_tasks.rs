//! The tasks of a grid view as the mapping heuristics take them: what each takes where, from when on, and when processors are free.

use super::mapping::{Costs, Holes, Limits, Placement, Profiles};
use super::pool::spread;
use super::{GridView, Pool, Task};
use crate::local::Profile;
use crate::model::TaskId;
use crate::units::{Money, Span, Time};

/// Tasks that are to be planned, with what they take in each pool of the view.
#[derive(Debug)]
pub struct OpenTasks<'a> {
    tasks: Vec<Task<'a>>,
    pools: usize,
    /// For each task and pool: how long it runs there, its processors, and when it can be there with its files. [`Span::MAX`] where it does not
    /// fit now.
    entries: Vec<(Span, u32, Time)>,
}

impl<'a> OpenTasks<'a> {
    /// These tasks.
    pub fn of(view: &GridView<'_>, tasks: Vec<Task<'a>>) -> Self {
        let pools = view.pools().len();
        let entry = |task: Task<'_>, pool: usize| {
            if !view.fits(task, pool, true) {
                return (Span::MAX, 0, Time::NEVER);
            }
            let facts = &view.pools()[pool];
            (facts.run_now(&task), facts.procs_for(&task), view.there(task, pool))
        };
        let entries = tasks.iter().flat_map(|task| (0..pools).map(move |pool| (*task, pool)));
        let entries = entries.map(|(task, pool)| entry(task, pool)).collect();
        Self { tasks, pools, entries }
    }

    /// The task of a number.
    pub fn task(&self, at: usize) -> Task<'a> {
        self.tasks[at]
    }

    /// Notes that a task cannot be ready in a pool before this.
    pub(super) fn not_before(&mut self, task: usize, pool: usize, time: Time) {
        let ready = &mut self.entries[task * self.pools + pool].2;
        *ready = time.max(*ready);
    }
}

/// What tasks that are to be planned cost in each pool of the view, and what their users allow.
#[derive(Copy, Clone, Debug)]
pub struct TaskLimits<'a> {
    tasks: &'a [Task<'a>],
    pools: &'a [Pool],
    /// For each task the number of its workflow.
    workflows: &'a [usize],
}

impl<'a> TaskLimits<'a> {
    /// Those of these tasks, which are of the workflows of these numbers.
    pub fn of(view: &'a GridView<'_>, tasks: &'a OpenTasks<'_>, workflows: &'a [usize]) -> Self {
        Self { tasks: &tasks.tasks, pools: view.pools(), workflows }
    }
}

impl Limits for TaskLimits<'_> {
    fn cost(&self, placed: &Placement) -> Money {
        let Placement { task, pool, start, end } = *placed;
        let pool = &self.pools[pool];
        pool.facts.rates.cost(pool.procs_for(&self.tasks[task]), start, end.since(start))
    }

    fn due(&self, task: usize) -> Time {
        self.tasks[task].deadline().unwrap_or(Time::NEVER)
    }

    fn budget(&self, task: usize) -> Option<Money> {
        self.tasks[task].budget()
    }

    fn workflow(&self, task: usize) -> usize {
        self.workflows[task]
    }
}

impl Costs for OpenTasks<'_> {
    fn tasks(&self) -> usize {
        self.tasks.len()
    }

    fn pools(&self) -> usize {
        self.pools
    }

    fn run(&self, task: usize, pool: usize) -> Option<Span> {
        Some(self.entries[task * self.pools + pool].0).filter(|run| *run < Span::MAX)
    }

    fn procs(&self, task: usize, pool: usize) -> u32 {
        self.entries[task * self.pools + pool].1
    }

    fn ready(&self, task: usize, pool: usize) -> Time {
        self.entries[task * self.pools + pool].2
    }
}

impl GridView<'_> {
    /// When a task ends that was assigned to this pool without a plan: as if it started as soon as it is there with its files. What should have ended by then
    /// ends now.
    pub(super) fn expected_end(&self, task: TaskId, at: usize) -> Time {
        let pool = &self.pools()[at];
        let Some(placed) = self.tasks().placed(task) else { return self.now() };
        let there = || self.files_there(task, pool.facts.id.site) + pool.facts.latency;
        let from = placed.arrival.map_or_else(there, |arrival| arrival.time);
        (from + spread(placed.area, placed.procs)).max(self.now())
    }

    /// When processors are free, as far as the broker knows: what the sites estimate, without the broker's own assignments that their reports
    /// do not show yet (if the broker counts them), and without what is planned and not sent. Each takes the earliest hole from its arrival or
    /// its planned start on.
    pub fn holes(&self) -> Profiles {
        let mut holes = Profiles(self.pools().iter().map(|pool| reported(pool, self.now())).collect());
        let mut take = |pool: usize, procs: u32, from: Time, run: Span| {
            if let Some(start) = holes.earliest(pool, procs, from.max(self.now()), run) {
                holes.take(pool, procs, start, run);
            }
        };
        let tasks = self.tasks();
        for (at, pool) in self.pools().iter().enumerate() {
            if self.counts_in_flight() {
                for placed in tasks.unseen(at) {
                    let from = placed.arrival.map_or(self.now(), |arrival| arrival.time);
                    take(at, placed.procs, from, spread(placed.area, placed.procs));
                }
            }
            for (from, to, procs) in tasks.taken(at, pool) {
                take(at, procs, from, to.since(from));
            }
        }
        holes
    }
}

/// The free processors of a pool by its last report and what is forecast of its waits: those that are free now and awake if no job waits, and otherwise as a job that starts then may have.
fn reported(pool: &Pool, now: Time) -> Profile {
    let report = &pool.report;
    let mut estimates = pool.forecasts.start_estimates(now, &report.start_estimates);
    if report.waiting == 0 {
        estimates.steps.retain(|(procs, _)| *procs > report.awake());
        estimates.steps.insert(0, (report.awake(), now));
    }
    // Steps that make no sense are left out.
    let mut before = 0;
    estimates.steps.retain(|(procs, _)| {
        let more = *procs > before && *procs <= report.present;
        before = before.max(*procs);
        more
    });
    Profiles::expected(now, &estimates)
}
