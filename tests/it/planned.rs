//! Plans that decide about tasks before they are ready: the broker sends each in its turn, and decides anew about what was lost.

use std::collections::BTreeMap;

use gridemu::broker::{
    Answer, BrokerAbilities, BrokerPolicy, BrokerPolicyInfo, GridView, Planned, Reason, TaskProgress,
};
use gridemu::grid::{Grid, Policies};
use gridemu::model::{ChurnAct, GridSpec, PlannedChurn, Record, WorkflowSpec};
use gridemu::units::{Span, Time};
use gridemu::workflow::WorkflowSource;

use crate::enactment::{tasks, workflow};
use crate::grid::plain;
use crate::support::through_bytes;

/// It plans each task for a pool and a start in seconds, as it was told; a second decision about a task follows the second of its entries.
struct Fixed {
    told: BTreeMap<u64, Vec<(usize, u64)>>,
}

impl BrokerPolicy for Fixed {
    fn plan(&mut self, view: &mut GridView<'_>) -> Answer {
        let workflows = view.workflows().to_vec();
        for workflow in workflows {
            for at in 0..workflow.tasks() {
                if view.progress(workflow, at) != TaskProgress::Undecided {
                    continue;
                }
                let task = view.task(workflow.id(at)).expect("it waits");
                let Some(told) = self.told.get_mut(&task.id().0).filter(|told| !told.is_empty()) else {
                    continue;
                };
                let (pool, start) = told.remove(0);
                let start = Time::from_secs(start);
                view.plan(
                    task,
                    Planned { pool, start, end: start + Span::from_secs(1), reason: Reason::Policy },
                );
            }
        }
        view.done()
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_stdvec(&self.told).expect("bytes")
    }

    fn restore(&mut self, saved: &[u8]) -> Result<(), String> {
        self.told = postcard::from_bytes(saved).map_err(|error| error.to_string())?;
        Ok(())
    }
}

fn built(spec: &GridSpec, workflow: &WorkflowSpec, told: &[(u64, usize, u64)]) -> Grid {
    let mut by_task: BTreeMap<u64, Vec<(usize, u64)>> = BTreeMap::new();
    told.iter().for_each(|(task, pool, start)| by_task.entry(*task).or_default().push((*pool, *start)));
    let abilities = BrokerAbilities { workflows: true, batch: true, ..BrokerAbilities::PLAIN };
    let info = BrokerPolicyInfo::new("fixed", move |_, _| {
        Ok((Box::new(Fixed { told: by_task.clone() }), abilities))
    });
    let source = WorkflowSource::given("test", vec![(Time::ZERO, workflow.clone())], 1, "portal");
    let policies = Policies::standard().with_broker(info);
    Grid::build(spec, Vec::new(), Some(Box::new(source)), &policies).expect("a grid")
}

/// Site, start and end of each task, in seconds.
fn placed(records: &[Record]) -> Vec<(usize, u64, u64)> {
    let secs = |time: Time| time.micros() / 1_000_000;
    let placed = |task: &gridemu::model::TaskRecord| {
        (task.site.index(), secs(task.start.expect("it started")), secs(task.end))
    };
    tasks(records).into_iter().map(placed).collect()
}

/// t0 takes 10 s and then t1 20 s; t2 (5 s) waits for none. On one processor t1 is planned before t2: t2 waits for its turn, although it is
/// ready and the processor is free. The other way round it goes at once.
#[test]
fn what_is_planned_for_a_pool_goes_there_in_its_order() {
    let workflow = workflow(&[10, 20, 5], &[(0, 1)]);
    let spec = plain(&[1, 1], "fixed", 0, 10);
    for (start, expected) in
        [(30, [(1, 0, 10), (0, 10, 30), (0, 30, 35)]), (3, [(1, 0, 10), (0, 10, 30), (0, 0, 5)])]
    {
        let told = [(0, 1, 0), (1, 0, 10), (2, 0, start)];
        let mut records = Vec::new();
        built(&spec, &workflow, &told).run(&mut records).expect("it runs");
        assert_eq!(placed(&records), expected);
    }
}

#[test]
fn a_run_goes_on_from_a_snapshot_with_tasks_that_wait_for_their_turn() {
    let workflow = workflow(&[10, 20, 5, 7], &[(0, 1), (1, 3)]);
    let spec = plain(&[1, 1], "fixed", 0, 10);
    let told = [(0, 1, 0), (1, 0, 10), (2, 0, 30), (3, 0, 35)];
    let mut whole = Vec::new();
    let on = |grid: &mut Grid, records: &mut Vec<Record>| {
        while grid.now() < Time::from_secs(70) {
            grid.step(records).expect("it runs");
        }
    };
    on(&mut built(&spec, &workflow, &told), &mut whole);
    for cut in 0..30 {
        let (mut first, mut parts) = (built(&spec, &workflow, &told), Vec::new());
        for _ in 0..cut {
            first.step(&mut parts).expect("it runs");
        }
        let saved = first.snapshot().expect("a state");
        let mut second = built(&spec, &workflow, &told);
        second.restore(through_bytes(&saved), false).expect("it fits");
        assert_eq!(second.snapshot().expect("a state"), saved);
        on(&mut second, &mut parts);
        assert_eq!(parts, whole, "cut at {cut}");
    }
}

/// The site of t0 leaves at 4 s, and the broker recalls t0 with the report of 10 s: t0 is planned anew, and with it t1, which waits for it; t2 keeps its place, and now waits for none.
#[test]
fn what_waits_for_a_lost_task_is_planned_anew() {
    let workflow = workflow(&[10, 20, 5], &[(0, 1)]);
    let mut spec = plain(&[1, 1], "fixed", 0, 10);
    spec.sites[1].churn.script = vec![PlannedChurn { at: Time::from_secs(4), act: ChurnAct::LeaveSite }];
    let told = [(0, 1, 0), (1, 0, 10), (2, 0, 30), (0, 0, 40), (1, 0, 50)];
    let mut records = Vec::new();
    built(&spec, &workflow, &told).run(&mut records).expect("it runs");
    let [first, second, third] = placed(&records)[..] else { panic!("three tasks") };
    assert_eq!(third, (0, 10, 15));
    // The first start of t0 was at the site that left.
    assert_eq!((first, second), ((0, 0, 25), (0, 25, 45)));
}
