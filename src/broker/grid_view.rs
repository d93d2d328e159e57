//! The grid view of a broker policy: tasks that wait, pools as they last reported, and the plan.

use std::borrow::Cow;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::ops::ControlFlow;

use super::Task;
use super::bounds::Bounds;
use super::choose::{Choose, Pick};
use super::decision::PlanTrace;
use super::mapping::Links;
use super::plan::{Act, Answer, Decision, Plan, Planned, Reason};
use super::pool::Pool;
use super::ready::Rank;
use super::tasks::{Asked, Tasks};
use super::{LiveWorkflow, TaskProgress};
use crate::model::{FrontRecord, SiteId, TaskId};
use crate::units::{Span, Time};

/// The view from which a broker policy plans, and into which it writes its plan.
#[derive(Debug)]
pub struct GridView<'a> {
    pub(super) now: Time,
    pub(super) pools: &'a mut [Pool],
    tasks: &'a Tasks,
    asked: Asked,
    count_in_flight: bool,
    plan: Plan,
    /// The highest rank that this plan assigns, and once a lower one has followed, all of them.
    highest: Option<Rank>,
    taken: BTreeSet<TaskId>,
    pub(super) trace: Option<PlanTrace>,
    /// The front from which the policy chose its plan.
    pub(super) front: Option<Box<FrontRecord>>,
    workflows: Vec<&'a LiveWorkflow>,
    data: Option<&'a dyn DataTimes>,
    links: Option<&'a Links>,
    together: bool,
    /// Bounds of the pools, if they are kept.
    bounds: Option<RefCell<&'a mut Bounds>>,
}

/// Knows when the files of tasks can be at sites.
pub trait DataTimes: std::fmt::Debug {
    /// When all files that the task reads can be at the site; now if it reads none.
    fn there(&self, task: TaskId, site: SiteId) -> Time;

    /// Notes that the plan sends the task to the site: its files will be on their way there.
    fn decided(&self, task: TaskId, site: SiteId);
}

impl<'a> GridView<'a> {
    /// A grid view with an empty plan, for the tasks of the table that the policy is asked about.
    pub fn new(
        now: Time,
        pools: &'a mut [Pool],
        tasks: &'a Tasks,
        asked: Asked,
        count_in_flight: bool,
    ) -> Self {
        Self {
            now,
            pools,
            tasks,
            asked,
            count_in_flight,
            plan: Plan::new(),
            highest: None,
            taken: BTreeSet::new(),
            trace: None,
            front: None,
            workflows: Vec::new(),
            data: None,
            links: None,
            together: false,
            bounds: None,
        }
    }

    /// The same view, in which these workflows are seen, in order. Data takes these links between pools; all that is undecided is planned
    /// `together`, or each workflow by itself.
    #[must_use]
    pub fn showing(self, workflows: Vec<&'a LiveWorkflow>, links: &'a Links, together: bool) -> Self {
        Self { workflows, links: Some(links), together, ..self }
    }

    /// The same view, with bounds of its pools, by which it finds the [earliest](Self::earliest) sooner.
    #[must_use]
    pub fn with_bounds(self, bounds: &'a mut Bounds) -> Self {
        Self { bounds: Some(RefCell::new(bounds)), ..self }
    }

    /// The same view, in which tasks have files.
    #[must_use]
    pub fn with_data(self, data: &'a dyn DataTimes) -> Self {
        Self { data: Some(data), ..self }
    }

    /// The instant.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The pools, in the order of sites and partitions.
    pub fn pools(&self) -> &[Pool] {
        self.pools
    }

    /// The tasks that the policy is asked about, in the order in which they arrived or returned. Those that the plan has assigned
    /// since are among them.
    pub fn ready(&self) -> impl Iterator<Item = Task<'a>> + use<'a> {
        self.tasks.asked(self.asked)
    }

    /// A task that waits with the broker, by its number, also if it waits for others.
    pub fn task(&self, task: TaskId) -> Option<Task<'a>> {
        self.tasks.unplaced(task)
    }

    /// The workflows with [undecided](Tasks::undecided) tasks, in the order in which they arrived, if the policy
    /// [wants them](super::BrokerAbilities::workflows).
    pub fn workflows(&self) -> &[&'a LiveWorkflow] {
        &self.workflows
    }

    /// What data takes between pools; nothing if that is not known.
    pub fn links(&self) -> Cow<'a, Links> {
        let unknown = || Cow::Owned(Links::uniform(self.pools.len(), Span::ZERO, None));
        self.links.map_or_else(unknown, Cow::Borrowed)
    }

    /// Whether all that is undecided shall be planned together, and not each workflow by itself.
    pub fn together(&self) -> bool {
        self.together
    }

    /// What has become of the task at a place of a workflow.
    pub fn progress(&self, workflow: &LiveWorkflow, at: usize) -> TaskProgress {
        workflow.progress(at, self.tasks)
    }

    /// The table of the tasks.
    pub fn tasks(&self) -> &'a Tasks {
        self.tasks
    }

    /// True if this plan does not assign the task yet.
    pub fn is_open(&self, task: Task<'_>) -> bool {
        match self.highest {
            Some(highest) if task.rank() <= highest => {
                // In order until now: a task of a lower rank was left, or is searched for among few.
                let planned = || self.plan.iter().any(|decision| decision.task == task.id());
                if self.taken.is_empty() { !planned() } else { !self.taken.contains(&task.id()) }
            }
            _ => true,
        }
    }

    /// True if the task could run in the pool, according to the view: its site is open and has not refused it, and the pool has
    /// the processors and what the task needs beyond them. With `present`, these are the processors that are up now; otherwise those with all machines up.
    pub fn fits(&self, task: Task<'_>, pool: usize, present: bool) -> bool {
        let pool = &self.pools[pool];
        let has = if present { pool.report.present } else { pool.facts.processors };
        pool.open && pool.procs_for(&task) <= has && task.refused().binary_search(&pool.facts.id).is_err()
    }

    /// The pool with the least key among those that the task fits (see [`GridView::fits`]), the first among equals; pools
    /// without a key are left out. `None` if there is none.
    pub fn least<K: Ord>(
        &self,
        task: Task<'_>,
        present: bool,
        mut key: impl FnMut(usize) -> Option<K>,
    ) -> Option<usize> {
        let mut best = None;
        for pool in (0..self.pools.len()).filter(|pool| self.fits(task, *pool, present)) {
            let Some(key) = key(pool) else { continue };
            if best.as_ref().is_none_or(|(least, _)| key < *least) {
                best = Some((key, pool));
            }
        }
        best.map(|(_, pool)| pool)
    }

    /// True if the task would find its processors free in the pool: the pool has reported so, and jobs on their way there leave
    /// enough.
    pub fn is_free(&self, task: Task<'_>, pool: usize) -> bool {
        let pool = &self.pools[pool];
        pool.is_free(pool.procs_for(&task))
    }

    /// Whether assignments that a report does not show yet count.
    pub(super) fn counts_in_flight(&self) -> bool {
        self.count_in_flight
    }

    /// When the task and its files can be in the pool.
    pub(super) fn there(&self, task: Task<'_>, pool: usize) -> Time {
        let pool = &self.pools[pool];
        let ready = pool.ready(&task, self.now);
        self.data
            .map_or(ready, |data| ready.max(data.there(task.id(), pool.facts.id.site) + pool.facts.latency))
    }

    /// When the files of a task can be at a site.
    pub(super) fn files_there(&self, task: TaskId, site: SiteId) -> Time {
        self.data.map_or(self.now, |data| data.there(task, site))
    }

    /// When the task could start in the pool: the start that the pool has estimated, plus the jobs on their way there, and not
    /// before the job and its input can be there. If the broker believes forecasts, and processors are not free: so long after the task can be there as
    /// such tasks are expected to wait, plus the jobs on their way. `None` if the processors are not present.
    pub fn start(&self, task: Task<'_>, at: usize) -> Option<Time> {
        let pool = &self.pools[at];
        let procs = pool.procs_for(&task);
        let start = pool.reported_start(procs)?;
        let ready = self.there(task, at);
        if let Some(wait) = pool.forecast_wait(&task, procs, self.now) {
            let start = ready + wait;
            return Some(if pool.in_flight.jobs == 0 { start } else { pool.behind(start) });
        }
        if let Some(woken) = pool.woken(procs) {
            return Some(woken.max(ready));
        }
        if pool.in_flight.jobs == 0 || pool.has_room(procs, start) {
            return Some(start.max(ready));
        }
        Some(pool.behind(start).max(ready))
    }

    /// When the task would complete: [`GridView::start`] plus its estimated run time there.
    pub fn completion(&self, task: Task<'_>, pool: usize) -> Option<Time> {
        Some(self.start(task, pool)? + self.pools[pool].run_now(&task))
    }

    /// The pool, among those that the task fits, where it would complete first, the first among equals. `None` if there is none.
    pub fn earliest(&self, task: Task<'_>) -> Option<usize> {
        let every = || self.least(task, true, |pool| self.completion(task, pool));
        let Some(bounds) = &self.bounds else { return every() };
        let completion =
            |pool: usize| self.fits(task, pool, true).then(|| self.completion(task, pool)).flatten();
        let found = bounds.borrow_mut().earliest(self.pools, task, self.now, completion);
        debug_assert_eq!(found, every(), "the bounds of the pools are wrong");
        found
    }

    /// Assigns a task to the pool at this place, and says why. A task can be assigned once; a pool that is not there ends the run.
    pub fn assign(&mut self, task: Task<'_>, pool: usize, reason: Reason) {
        if !self.is_open(task) {
            return;
        }
        self.take(task);
        if pool >= self.pools.len() {
            return self.decide(task, pool, reason, Time::NEVER, Time::NEVER);
        }
        let start = self.start(task, pool).unwrap_or(Time::NEVER);
        let end = start + self.pools[pool].run_now(&task);
        self.record_choice(task, pool, reason, None);
        self.put(task, Planned { pool, start, end, reason });
    }

    /// As [`GridView::assign`], to be at the pool from one time to another.
    pub fn assign_at(&mut self, task: Task<'_>, planned: Planned) {
        if self.is_open(task) {
            self.take(task);
            self.record_choice(task, planned.pool, planned.reason, Some(planned));
            self.put(task, planned);
        }
    }

    fn put(&mut self, task: Task<'_>, Planned { pool, start, end, reason }: Planned) {
        let there = self.there(task, pool);
        let into = &mut self.pools[pool];
        let (procs, run) = (into.procs_for(&task), into.run_of(&task));
        if self.count_in_flight {
            into.expect(procs, u128::from(procs) * u128::from(run.micros()), there);
            self.bounds.iter_mut().for_each(|bounds| bounds.get_mut().changed(pool));
        }
        into.asked = into.asked.saturating_sub(procs);
        if let Some(data) = self.data {
            data.decided(task.id(), into.facts.id.site);
        }
        self.decide(task, pool, reason, start, end);
    }

    /// Plans a task that waits for the pool at this place: it goes there when all that it waits for has completed, and after all that
    /// is planned there to start earlier.
    pub fn plan(&mut self, task: Task<'_>, planned: Planned) {
        let Planned { pool, start, end, reason } = planned;
        if pool < self.pools.len() {
            self.record_choice(task, pool, reason, Some(planned));
        }
        self.plan.push(Decision { task: task.id(), act: Act::Plan(pool), reason, start, end });
    }

    /// Puts a task off until an instant, since it would be best to start it in the pool at this place so late. Nothing is taken from the pool.
    pub fn put_off(&mut self, task: Task<'_>, pool: usize, start: Time, until: Time, reason: Reason) {
        if self.is_open(task) {
            self.take(task);
            let end = self.pools.get(pool).map_or(start, |pool| start + pool.run_now(&task));
            let act = Act::PutOff { pool, until };
            self.plan.push(Decision { task: task.id(), act, reason, start, end });
        }
    }

    fn decide(&mut self, task: Task<'_>, pool: usize, reason: Reason, start: Time, end: Time) {
        self.plan.push(Decision { task: task.id(), act: Act::Assign(pool), reason, start, end });
    }

    /// Notes that the plan assigns a task. Most plans go in order: they need no set.
    fn take(&mut self, task: Task<'_>) {
        let in_order = self.highest.is_none_or(|highest| highest < task.rank());
        if !in_order && self.taken.is_empty() {
            self.taken.extend(self.plan.iter().map(|decision| decision.task));
        }
        if !in_order || !self.taken.is_empty() {
            self.taken.insert(task.id());
        }
        self.highest = self.highest.max(Some(task.rank()));
    }

    /// Asks a policy of immediate mode about each task, in order, and carries out what it picks.
    ///
    /// Of tasks that a plan has left before, it is asked only about those that may fit somewhere now: what is true of a task is true
    /// of all that need the same processors and that the same pools cannot take.
    pub fn sweep(&mut self, policy: &mut impl Choose) {
        let tasks = self.tasks;
        if let Asked::One(task) = self.asked {
            if let Some(task) = tasks.ready(task) {
                self.choose(policy, task);
            }
            return;
        }
        if self.asked == Asked::All && tasks.has_left() && self.sweep_left(policy).is_break() {
            return;
        }
        for task in tasks.fresh() {
            if self.choose(policy, task) == Pick::Stop {
                return;
            }
        }
    }

    fn sweep_left(&mut self, policy: &mut impl Choose) -> ControlFlow<()> {
        let (gate, tasks) = (policy.gate(), self.tasks);
        let mut bound = gate.bound(self.pools);
        let mut shapes: Vec<_> = tasks.left(bound).collect();
        // The first task of each shape; the next to be asked about is the first of all.
        let firsts = shapes.iter_mut().enumerate();
        let firsts = firsts.filter_map(|(at, (_, alike))| Some(Reverse((alike.next()?, at))));
        let mut next: BinaryHeap<_> = firsts.collect();
        while let Some(Reverse(((_, id), at))) = next.pop() {
            let (least, alike) = &mut shapes[at];
            let Some(task) = tasks.ready(*id).filter(|_| *least <= bound) else { continue };
            match self.choose(policy, task) {
                Pick::Pool(..) => bound = gate.bound_after(bound, self.pools),
                Pick::PutOff { .. } => {}
                Pick::Leave if gate.passes(self, task) => {}
                Pick::Leave => continue,
                Pick::Stop => return ControlFlow::Break(()),
            }
            next.extend(alike.next().map(|first| Reverse((first, at))));
        }
        ControlFlow::Continue(())
    }

    /// Asks a policy about a task, and carries out what it picks.
    fn choose(&mut self, policy: &mut impl Choose, task: Task<'_>) -> Pick {
        let pick = policy.choose(self, task);
        match pick {
            Pick::Pool(pool, reason) => self.pick(policy, task, pool, reason),
            Pick::PutOff { pool, start, until, reason } => self.put_off(task, pool, start, until, reason),
            Pick::Leave | Pick::Stop => {}
        }
        pick
    }

    /// Carries out what a policy has picked, and records what it compares.
    fn pick(&mut self, policy: &impl Choose, task: Task<'_>, pool: usize, reason: Reason) {
        if let Some(name) = policy.compares() {
            self.note(task, name, |view, pool| policy.compared(view, task, pool));
        }
        self.assign(task, pool, reason);
    }

    /// The answer of a policy that has written its whole plan into the view.
    pub fn done(&mut self) -> Answer {
        Answer::Done(std::mem::take(&mut self.plan))
    }
}
