//! How often a policy of immediate mode is asked.

use gridemu::broker::{
    Answer, Asked, BrokerPolicy, Choose, Gate, GridView, OneByOne, Pick, Pool, Reason, Task, Tasks,
};
use gridemu::model::{GridContext, Job, Size, Speedup};
use gridemu::units::{Span, Time};

use super::scenes::{busy_until, idle};

/// Takes the first pool that fits, and counts how often it is asked.
struct Counted {
    gate: Gate,
    asked: usize,
}

impl Choose for Counted {
    fn gate(&self) -> Gate {
        self.gate
    }

    fn choose(&mut self, view: &GridView<'_>, task: Task<'_>) -> Pick {
        self.asked += 1;
        let wanted = |pool: usize| match self.gate {
            Gate::Free | Gate::FreeOrAbsent => view.is_free(task, pool).then_some(()),
            Gate::Asked => (view.pools()[pool].procs_for(&task) <= view.pools()[pool].asked).then_some(()),
            _ => Some(()),
        };
        Pick::found(view.least(task, true, wanted), Reason::Policy)
    }
}

/// So many tasks, each of another shape, of least sizes from 1 to 32, which a plan has left.
fn left(count: u64) -> Tasks {
    let mut tasks = Tasks::new(2);
    for number in 0..count {
        let mut job = Job::rigid(number, Time::ZERO, 1, Span::from_secs(60));
        let (min, preferred) = (1 + number as u32 % 32, 40 + number as u32);
        job.size = Size::Moldable { min, preferred, max: preferred, speedup: Speedup::Linear };
        job.grid = Some(Box::new(GridContext { number, ..GridContext::default() }));
        tasks.enter(Box::new(job), Vec::new());
    }
    tasks.leave();
    tasks
}

/// How many tasks are assigned, and how often the policy was asked.
fn planned(gate: Gate, tasks: &Tasks, pools: &mut [Pool]) -> (usize, usize) {
    let mut policy = OneByOne(Counted { gate, asked: 0 });
    let mut view = GridView::new(Time::from_secs(9), pools, tasks, Asked::All, true);
    let Answer::Done(plan) = policy.plan(&mut view) else { panic!("an answer at once") };
    (plan.len(), policy.0.asked)
}

#[test]
fn nobody_is_asked_about_what_fits_nowhere() {
    let tasks = left(10_000);
    let mut closed = [idle(0, 64, 100), idle(1, 64, 100)];
    closed.iter_mut().for_each(|pool| pool.open = false);
    for gate in [Gate::Fits, Gate::AllUp, Gate::Free, Gate::FreeOrAbsent, Gate::Asked] {
        assert_eq!(planned(gate, &tasks, &mut closed), (0, 0), "{gate:?}: the sites are not there");
    }
    let mut small = [idle(0, 4, 100), idle(1, 3, 100)];
    assert_eq!(planned(Gate::Asked, &tasks, &mut small), (0, 0), "nobody asks");
    small[1].asked = 3;
    let first = planned(Gate::Asked, &tasks, &mut small);
    assert_eq!(first, (1, 1), "the first task takes all that was asked for");
    let mut busy = [busy_until(idle(0, 64, 100), 100), busy_until(idle(1, 64, 100), 100)];
    assert_eq!(planned(Gate::Free, &tasks, &mut busy), (0, 0), "nothing is free");
    // Least sizes up to 4 may fit: an eighth of the tasks, of which the larger part of each pool is taken by the first.
    assert_eq!(
        planned(Gate::Fits, &tasks, &mut [idle(0, 4, 100)]),
        (1_252, 1_252),
        "all that fit queue there"
    );
}

#[test]
fn one_of_a_shape_speaks_for_all() {
    let mut tasks = Tasks::new(1);
    for number in 0..1_000 {
        let mut job = Job::rigid(number, Time::ZERO, 3, Span::from_secs(60));
        job.grid = Some(Box::new(GridContext { number, ..GridContext::default() }));
        tasks.enter(Box::new(job), Vec::new());
    }
    tasks.leave();
    let mut pools = [idle(0, 8, 100), idle(1, 2, 100)];
    assert_eq!(planned(Gate::Free, &tasks, &mut pools), (2, 2), "the third would need a processor more");
    assert_eq!(planned(Gate::FreeOrAbsent, &tasks, &mut pools.clone()), (0, 1), "what is there is full");
    pools[0] = idle(0, 10, 100);
    assert_eq!(planned(Gate::FreeOrAbsent, &tasks, &mut pools.clone()), (3, 4));
    assert_eq!(planned(Gate::Every, &tasks, &mut pools), (1_000, 1_000));
    // Blocks of four: three processors are not enough for a task, and the policy asks but once.
    let mut blocks = [idle(0, 8, 100)];
    blocks[0].facts.allocation_unit = 4;
    blocks[0].asked = 3;
    assert_eq!(planned(Gate::Asked, &tasks, &mut blocks), (0, 1));
}
