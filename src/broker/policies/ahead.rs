//! What policies have in common that plan whole workflows before their tasks are ready.

use crate::broker::mapping::{Dag, Links, Placement, Profiles};
use crate::broker::{
    Answer, BrokerAbilities, BrokerBuilt, BrokerPolicy, GridView, LiveWorkflow, OpenTasks, Planned, Reason,
    Task, TaskProgress,
};
use crate::units::{Bytes, Time};

/// A policy that hands what is undecided of workflows to a heuristic, and plans it as that has it: each workflow by itself in order of
/// arrival, or all together. A job that is of no workflow is one of one task.
pub(super) struct Ahead<F> {
    pub(super) by: F,
    pub(super) reason: Reason,
}

impl<F> Ahead<F>
where
    F: Fn(&Dag, &OpenTasks<'_>, &Links, &mut Profiles) -> Vec<Placement> + Send + 'static,
{
    /// The policy with its abilities.
    pub(super) fn built(self) -> BrokerBuilt {
        let abilities = BrokerAbilities { batch: true, workflows: true, ..BrokerAbilities::STEADY };
        (Box::new(self), abilities)
    }
}

/// Tasks that are planned at once.
#[derive(Default)]
struct Group<'a> {
    tasks: Vec<Task<'a>>,
    edges: Vec<(usize, usize, Bytes)>,
    /// For a task: from this pool, data comes at this time.
    inputs: Vec<(usize, usize, Time, Bytes)>,
}

impl<'a> Group<'a> {
    /// Adds what is undecided of a workflow.
    fn add(&mut self, view: &GridView<'a>, workflow: &LiveWorkflow) {
        let undecided = |at: usize| match view.progress(workflow, at) {
            TaskProgress::Undecided => view.task(workflow.id(at)),
            _ => None,
        };
        let mut numbers = vec![None; workflow.tasks()];
        for (at, number) in numbers.iter_mut().enumerate() {
            if let Some(task) = undecided(at) {
                *number = Some(self.tasks.len());
                self.tasks.push(task);
            }
        }
        for (at, own) in numbers.iter().enumerate().filter_map(|(at, number)| Some((at, (*number)?))) {
            for (before, data) in workflow.dag().predecessors(at) {
                if let Some(number) = numbers[before] {
                    self.edges.push((number, own, data));
                } else {
                    match view.progress(workflow, before) {
                        TaskProgress::Planned(planned) | TaskProgress::Placed(_, Some(planned)) => {
                            self.inputs.push((own, planned.pool, planned.end.max(view.now()), data));
                        }
                        // Where files lie that are there is known to the view.
                        _ => {}
                    }
                }
            }
        }
    }
}

impl<F> BrokerPolicy for Ahead<F>
where
    F: Fn(&Dag, &OpenTasks<'_>, &Links, &mut Profiles) -> Vec<Placement> + Send,
{
    fn plan(&mut self, view: &mut GridView<'_>) -> Answer {
        let links = view.links();
        let mut groups = Vec::new();
        for workflow in view.workflows() {
            if groups.is_empty() || !view.together() {
                groups.push(Group::default());
            }
            if let Some(last) = groups.last_mut() {
                last.add(view, workflow);
            }
        }
        let alone =
            view.ready().filter(|task| view.workflows().iter().all(|of| of.place(task.id()).is_none()));
        groups.extend(alone.map(|task| Group { tasks: vec![task], ..Group::default() }));
        let mut holes = view.holes();
        for Group { tasks, edges, inputs } in groups.into_iter().filter(|group| !group.tasks.is_empty()) {
            // A workflow has no cycle.
            let Some(dag) = Dag::new(tasks.len(), edges) else { continue };
            let mut open = OpenTasks::of(view, tasks);
            for (task, from, at, data) in inputs {
                for to in 0..view.pools().len() {
                    open.not_before(task, to, at + links.time(data, from, to));
                }
            }
            for Placement { task, pool, start, end } in (self.by)(&dag, &open, &links, &mut holes) {
                view.plan(open.task(task), Planned { pool, start, end, reason: self.reason });
            }
        }
        view.done()
    }
}
