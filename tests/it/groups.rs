//! Groups of tasks through the grid, by hand: each task has its own times, whatever happens to the job that the group is.

use gridemu::grid::{Grid, Policies};
use gridemu::model::{
    ChurnAct, GridSpec, Machines, Outcome, PartitionId, PlannedChurn, ProcSet, Record, WorkflowSpec,
};
use gridemu::units::{Rate, Time};
use gridemu::workflow::WorkflowSource;

use crate::enactment::{instant, secs, tasks, workflow, workflows};
use crate::support::through_bytes;

/// A workflow in groups on a site of one machine.
fn built(cores: u32, script: &[(u64, ChurnAct)], spec: WorkflowSpec, group: &str) -> Grid {
    let source = WorkflowSource::given("test", vec![(Time::ZERO, spec)], 1, "portal");
    let source = source.grouped(&group.parse().expect("a grouping")).expect("it is known");
    let mut grid: GridSpec = instant("mct", &[1 << 20]);
    grid.sites[0].partitions[0].cores = cores;
    let planned = |(at, act): &(u64, ChurnAct)| PlannedChurn { at: Time::from_secs(*at), act: act.clone() };
    grid.sites[0].churn.script = script.iter().map(planned).collect();
    Grid::build(&grid, Vec::new(), Some(Box::new(source)), &Policies::standard()).expect("a grid")
}

/// Runs it, and again from a snapshot taken after each step, which must leave the same.
fn run(cores: u32, script: &[(u64, ChurnAct)], spec: WorkflowSpec, group: &str) -> Vec<Record> {
    let new = || built(cores, script, spec.clone(), group);
    let to_its_end =
        |mut grid: Grid, records: &mut Vec<Record>| while grid.step(records).expect("it runs").is_some() {};
    let mut whole = Vec::new();
    to_its_end(new(), &mut whole);
    for steps in 1.. {
        let (mut first, mut second, mut parts) = (new(), new(), Vec::new());
        if !(0..steps).all(|_| first.step(&mut parts).expect("it runs").is_some()) {
            break;
        }
        second.restore(through_bytes(&first.snapshot().expect("a state")), false).expect("it fits");
        to_its_end(second, &mut parts);
        assert_eq!(parts, whole, "after {steps} steps");
    }
    whole
}

/// Name, start and end of each task.
fn times(records: &[Record]) -> Vec<(&str, u64, u64)> {
    let all = tasks(records);
    all.iter().map(|task| (&*task.name, task.start.map_or(u64::MAX, secs), secs(task.end))).collect()
}

fn machine() -> Machines {
    Machines { partition: PartitionId(0), which: ProcSet::range(0, 1) }
}

fn slow(factor: f64) -> ChurnAct {
    ChurnAct::Slow { machines: machine(), factor: Rate::from_f64(factor).expect("a rate") }
}

fn chain() -> WorkflowSpec {
    workflow(&[10, 20, 5], &[(0, 1), (1, 2)])
}

/// The second task does 2 s of its 20 until 12, and 18 s at half the speed until 48; the third does 1 s until 50, and 4 s at full speed.
#[test]
fn tasks_of_a_group_end_where_a_slow_machine_takes_them() {
    let records = run(1, &[(12, slow(0.5)), (50, slow(1.0))], chain(), "vertical");
    assert_eq!(times(&records), [("t0", 0, 10), ("t1", 10, 48), ("t2", 48, 54)]);
    let jobs = records.iter().filter(|record| matches!(record, Record::Job(_))).count();
    assert_eq!(jobs, 1);
    let whole = workflows(&records)[0];
    assert_eq!((whole.outcome, whole.tasks, whole.completed), (Outcome::Completed, 3, 3));
    assert_eq!(whole.critical_path.micros(), 35_000_000);
}

/// The machine is away from 12 to 20: the group begins anew, and what its first task had made is lost with it.
#[test]
fn a_group_that_is_lost_runs_again_as_a_whole() {
    let script = [(12, ChurnAct::Leave(machine())), (20, ChurnAct::Join(machine()))];
    let records = run(1, &script, chain(), "vertical");
    assert_eq!(times(&records), [("t0", 20, 30), ("t1", 30, 50), ("t2", 50, 55)]);
    assert!(tasks(&records).iter().all(|task| task.attempts == 2));
}

/// A level of three tasks on two processors: the third follows the one that ends first. The levels are jobs one after the other.
#[test]
fn a_level_runs_side_by_side() {
    let spec = workflow(&[1, 10, 20, 30, 2], &[(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4)]);
    let records = run(2, &[], spec.clone(), "level[procs=2]");
    assert_eq!(times(&records), [("t0", 0, 1), ("t1", 1, 11), ("t2", 1, 21), ("t3", 11, 41), ("t4", 41, 43)]);
    // As a pilot job it is the same here, but one job of two processors from the start to the end.
    let pilot = run(2, &[], spec, "pilot[procs=2]");
    assert_eq!(times(&pilot), times(&records));
    let jobs: Vec<(u32, u64)> = pilot
        .iter()
        .filter_map(|record| match record {
            Record::Job(job) => Some((job.procs, secs(job.end))),
            _ => None,
        })
        .collect();
    assert_eq!(jobs, [(2, 43)]);
}
