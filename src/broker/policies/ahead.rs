//! What policies have in common that plan whole workflows before their tasks are ready.

use crate::broker::mapping::{Dag, Links, Placement, Profiles};
use crate::broker::{
    Answer, BrokerAbilities, BrokerBuilt, BrokerPolicy, GridView, LiveWorkflow, OpenTasks, Planned, Reason,
    Task, TaskLimits, TaskProgress,
};
use crate::model::TaskId;
use crate::units::{Bytes, Time};

/// A policy that hands what is undecided of workflows to a heuristic, and plans it as that has it: each workflow by itself in order of
/// arrival, or all together. A job that is of no workflow is one of one task.
pub(super) struct Ahead<F> {
    pub(super) by: F,
    /// Why a task is planned as it is.
    pub(super) reason: fn(&TaskLimits<'_>, &Placement) -> Reason,
}

impl<F> Ahead<F>
where
    F: Fn(&Dag, &OpenTasks<'_>, &TaskLimits<'_>, &Links, &mut Profiles) -> Vec<Placement> + Send + 'static,
{
    /// The policy with its abilities.
    pub(super) fn built(self) -> BrokerBuilt {
        let abilities = BrokerAbilities { batch: true, workflows: true, ..BrokerAbilities::STEADY };
        (Box::new(self), abilities)
    }
}

/// Tasks that are planned at once.
#[derive(Default)]
pub(super) struct Group<'a> {
    tasks: Vec<Task<'a>>,
    /// For each task the number of its workflow among those that are planned at once.
    workflows: Vec<usize>,
    edges: Vec<(usize, usize, Bytes)>,
    /// For a task: from this pool, data comes at this time.
    inputs: Vec<(usize, usize, Time, Bytes)>,
}

/// The ready tasks that are of no workflow.
pub(super) fn of_none<'a>(view: &GridView<'a>) -> impl Iterator<Item = Task<'a>> {
    view.ready().filter(|task| is_alone(view, task.id()))
}

/// Whether a task is of no workflow.
pub(super) fn is_alone(view: &GridView<'_>, task: TaskId) -> bool {
    let at = view.workflows().partition_point(|workflow| workflow.id(0) <= task);
    at == 0 || view.workflows()[at - 1].place(task).is_none()
}

impl<'a> Group<'a> {
    /// Whether there is no task.
    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Adds a task that is of no workflow.
    pub(super) fn add_alone(&mut self, task: Task<'a>) {
        self.workflows.push(self.workflows.last().map_or(0, |last| last + 1));
        self.tasks.push(task);
    }

    /// The tasks as the heuristics take them: what waits for what, what each takes where, and the numbers of their workflows.
    pub(super) fn opened(
        self,
        view: &GridView<'a>,
        links: &Links,
    ) -> Option<(Dag, OpenTasks<'a>, Vec<usize>)> {
        let Self { tasks, workflows, edges, inputs } = self;
        let dag = Dag::new(tasks.len(), edges)?;
        let mut open = OpenTasks::of(view, tasks);
        for (task, from, at, data) in inputs {
            for to in 0..view.pools().len() {
                open.not_before(task, to, at + links.time(data, from, to));
            }
        }
        Some((dag, open, workflows))
    }

    /// Adds all that is undecided of a workflow: those of its tasks that are among the undecided ones of all, which are in order.
    pub(super) fn add(&mut self, view: &GridView<'a>, workflow: &LiveWorkflow, undecided: &[TaskId]) {
        let until = |task: TaskId| undecided.partition_point(|undecided| *undecided < task);
        let undecided = &undecided[until(workflow.id(0))..until(workflow.id(workflow.tasks()))];
        let first = self.tasks.len();
        let number = |task: TaskId| undecided.binary_search(&task).ok().map(|at| first + at);
        // They wait with the broker.
        self.tasks.extend(undecided.iter().filter_map(|task| view.task(*task)));
        let number_of_workflow = self.workflows.last().map_or(0, |last| last + 1);
        self.workflows.resize(self.tasks.len(), number_of_workflow);
        let placed = undecided.iter().filter_map(|task| workflow.place(*task));
        for (own, at) in (first..).zip(placed) {
            for (before, data) in workflow.dag().predecessors(at) {
                if let Some(number) = number(workflow.id(before)) {
                    self.edges.push((number, own, data));
                } else {
                    let (pool, end) = match view.progress(workflow, before) {
                        TaskProgress::Planned(planned) | TaskProgress::Placed(_, Some(planned)) => {
                            (planned.pool, planned.end.max(view.now()))
                        }
                        TaskProgress::Placed(pool, None) => {
                            (pool, view.expected_end(workflow.id(before), pool))
                        }
                        // Where files lie that are there is known to the view.
                        TaskProgress::Ended(_) | TaskProgress::Undecided => continue,
                    };
                    self.inputs.push((own, pool, end, data));
                }
            }
        }
    }
}

impl<F> BrokerPolicy for Ahead<F>
where
    F: Fn(&Dag, &OpenTasks<'_>, &TaskLimits<'_>, &Links, &mut Profiles) -> Vec<Placement> + Send,
{
    fn plan(&mut self, view: &mut GridView<'_>) -> Answer {
        let (links, undecided) = (view.links(), view.tasks().undecided());
        let mut groups = Vec::new();
        for workflow in view.workflows() {
            if groups.is_empty() || !view.together() {
                groups.push(Group::default());
            }
            if let Some(last) = groups.last_mut() {
                last.add(view, workflow, &undecided);
            }
        }
        let alone = |task| {
            let mut group = Group::default();
            group.add_alone(task);
            group
        };
        groups.extend(of_none(view).map(alone));
        groups.retain(|group| !group.is_empty());
        if groups.is_empty() {
            return view.done();
        }
        let mut holes = view.holes();
        for group in groups {
            // A workflow has no cycle.
            let Some((dag, open, workflows)) = group.opened(view, &links) else { continue };
            let limits = TaskLimits::of(view, &open, &workflows);
            let plan = (self.by)(&dag, &open, &limits, &links, &mut holes);
            let reasons: Vec<Reason> = plan.iter().map(|placed| (self.reason)(&limits, placed)).collect();
            for (Placement { task, pool, start, end }, reason) in plan.into_iter().zip(reasons) {
                view.plan(open.task(task), Planned { pool, start, end, reason });
            }
        }
        view.done()
    }
}
