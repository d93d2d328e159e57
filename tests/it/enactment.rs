//! Workflows through the grid: list scheduling as a twin, cases by hand, and runs that go on from a snapshot.
//!
//! The twin shares no code with the grid: it has no messages, only queues of one processor. At an instant all ends come first, then what is
//! submitted; what has become ready is placed one by one, each where the policy finds it best after those before it, by what sites say of themselves.

use std::collections::{BTreeMap, VecDeque};

use gridemu::grid::{Grid, Policies};
use gridemu::metrics::Fingerprint;
use gridemu::model::{
    BrokerSpec, GridSpec, Link, MachineGroup, NetworkSpec, Outcome, PartitionSpec, Record, RejectReason,
    SiteId, SiteSpec, TaskOrder, TaskRecord, WorkflowRecord, WorkflowSpec, WorkflowTask,
};
use gridemu::units::{Rate, Span, Time};
use gridemu::workflow::WorkflowSource;
use proptest::prelude::*;
use proptest::sample::select;

use crate::grid::{jobs_of, plain};
use crate::support::{cases, through_bytes};

/// Tasks of one processor with these run times in seconds, and what waits for what.
pub(crate) fn workflow(runtimes: &[u64], edges: &[(u32, u32)]) -> WorkflowSpec {
    let task = |(at, secs): (usize, &u64)| WorkflowTask {
        name: format!("t{at}"),
        kind: "task".to_owned(),
        runtime: Span::from_secs(*secs),
        by_class: BTreeMap::new(),
        procs: 1,
        memory: None,
        inputs: Vec::new(),
        outputs: Vec::new(),
    };
    let tasks = runtimes.iter().enumerate().map(task).collect();
    WorkflowSpec { name: "test".to_owned(), tasks, files: Vec::new(), edges: edges.to_vec() }
}

fn built(spec: &GridSpec, workflows: &[(u64, WorkflowSpec)]) -> Grid {
    let given = workflows.iter().map(|(at, workflow)| (Time::from_secs(*at), workflow.clone())).collect();
    let source = WorkflowSource::given("test", given, 1, "portal");
    Grid::build(spec, Vec::new(), Some(Box::new(source)), &Policies::standard()).expect("a grid")
}

pub(crate) fn run(spec: &GridSpec, workflows: &[(u64, WorkflowSpec)]) -> Vec<Record> {
    let mut records = Vec::new();
    built(spec, workflows).run(&mut records).expect("it runs");
    records
}

pub(crate) fn tasks(records: &[Record]) -> Vec<&TaskRecord> {
    let mut tasks: Vec<&TaskRecord> = records
        .iter()
        .filter_map(|record| match record {
            Record::Task(task) => Some(task),
            _ => None,
        })
        .collect();
    tasks.sort_by_key(|task| task.job);
    tasks
}

pub(crate) fn workflows(records: &[Record]) -> Vec<&WorkflowRecord> {
    let found = records.iter().filter_map(|record| match record {
        Record::Workflow(workflow) => Some(workflow),
        _ => None,
    });
    found.collect()
}

pub(crate) fn secs(time: Time) -> u64 {
    time.micros() / 1_000_000
}

/// Sites of one processor at these speeds, in 2⁻²⁰, that are reported at every change over a network that takes no time.
pub(crate) fn instant(policy: &str, speeds: &[u64]) -> GridSpec {
    let site = |(at, speed): (usize, &u64)| {
        let partition = PartitionSpec::of(MachineGroup {
            speed: Rate::from_units(*speed),
            ..MachineGroup::plain("default", 1)
        });
        let plain = SiteSpec::plain(&format!("site-{at}"), 1, "fcfs".parse().expect("a policy"));
        SiteSpec { partitions: vec![partition], ..plain }
    };
    let broker = BrokerSpec::new(policy.parse().expect("a broker policy"));
    GridSpec {
        seed: 1,
        sites: speeds.iter().enumerate().map(site).collect(),
        network: NetworkSpec::uniform(Link::default()),
        broker: Some(BrokerSpec { monitoring_interval: Span::ZERO, ..broker }),
    }
}

/// A queue of one processor.
#[derive(Debug, Default)]
struct Queue {
    /// In 2⁻²⁰.
    speed: u64,
    /// What runs, and when it ends.
    running: Option<(usize, u64)>,
    /// What waits, and how long it takes here.
    waiting: VecDeque<(usize, u64)>,
    /// When something last changed here.
    changed: u64,
}

impl Queue {
    fn takes(&self, secs: u64) -> u64 {
        let work = (u128::from(secs) * 1_000_000) << 20;
        u64::try_from(work.div_ceil(u128::from(self.speed))).expect("within the axis")
    }

    /// When a site says that an arriving task could start (docs/brokers.md): what runs and what waits are not added up, since of several
    /// processors one may be free long before the others.
    fn promise(&self) -> u64 {
        match self.running {
            None => self.changed,
            Some((_, end)) => end.max(self.changed + self.backlog()),
        }
    }

    fn backlog(&self) -> u64 {
        self.waiting.iter().map(|(_, takes)| takes).sum()
    }
}

/// Site, start and end of each task of all workflows, in microseconds, by list scheduling.
fn listed(policy: &str, speeds: &[u64], submitted: &[(u64, WorkflowSpec)]) -> Vec<(usize, u64, u64)> {
    let mut runtimes = Vec::new();
    let (mut after, mut missing, mut firsts): (Vec<Vec<usize>>, Vec<usize>, Vec<usize>) = Default::default();
    for (_, workflow) in submitted {
        let first = runtimes.len();
        firsts.push(first);
        runtimes.extend(workflow.tasks.iter().map(|task| task.runtime.micros() / 1_000_000));
        after.resize(runtimes.len(), Vec::new());
        missing.resize(runtimes.len(), 0);
        for (from, to) in &workflow.edges {
            let (from, to) = (first + *from as usize, first + *to as usize);
            if !after[from].contains(&to) {
                after[from].push(to);
                missing[to] += 1;
            }
        }
    }
    after.iter_mut().for_each(|next| next.sort_unstable());
    let mut queues: Vec<Queue> =
        speeds.iter().map(|speed| Queue { speed: *speed, ..Queue::default() }).collect();
    let mut placed = vec![(0, 0, 0); runtimes.len()];
    let mut coming: VecDeque<usize> = (0..submitted.len()).collect();
    loop {
        let ends = queues.iter().filter_map(|queue| Some(queue.running?.1));
        let next = coming.front().map(|at| submitted[*at].0 * 1_000_000);
        let Some(now) = ends.chain(next).min() else { return placed };
        let mut ready = Vec::new();
        // The portal comes before the sites in the order of entities.
        while let Some(at) = coming.pop_front_if(|at| submitted[*at].0 * 1_000_000 == now) {
            let tasks = firsts[at]..firsts[at] + submitted[at].1.tasks.len();
            ready.extend(tasks.filter(|task| missing[*task] == 0));
        }
        for queue in &mut queues {
            if let Some((task, _)) = queue.running.take_if(|(_, end)| *end == now) {
                queue.changed = now;
                for next in &after[task] {
                    missing[*next] -= 1;
                    ready.extend((missing[*next] == 0).then_some(*next));
                }
            }
        }
        let begin = |queue: &mut Queue, site: usize, placed: &mut Vec<(usize, u64, u64)>| {
            if queue.running.is_none()
                && let Some((task, takes)) = queue.waiting.pop_front()
            {
                queue.running = Some((task, now + takes));
                placed[task] = (site, now, now + takes);
            }
        };
        for (site, queue) in queues.iter_mut().enumerate() {
            begin(queue, site, &mut placed);
        }
        for task in ready {
            let key = |queue: &Queue| match policy {
                "mct" => (queue.promise().max(now) + queue.takes(runtimes[task]), 0),
                _ => (queue.backlog(), u64::from(queue.running.is_some())),
            };
            let best = (0..queues.len()).min_by_key(|site| (key(&queues[*site]), *site)).expect("a site");
            let takes = queues[best].takes(runtimes[task]);
            queues[best].waiting.push_back((task, takes));
            queues[best].changed = now;
            begin(&mut queues[best], best, &mut placed);
        }
    }
}

/// Workflows of up to 20 tasks, each of which waits for some before it.
pub(crate) fn submissions() -> impl Strategy<Value = Vec<(u64, WorkflowSpec)>> {
    let one = (1_usize..20).prop_flat_map(|count| {
        let runtimes = prop::collection::vec(1_u64..40, count);
        let edges = prop::collection::vec((0..count as u32, 0..count as u32), 0..2 * count);
        (0_u64..60, runtimes, edges)
    });
    prop::collection::vec(one, 1..4).prop_map(|all| {
        let mut at = 0;
        let submitted = all.into_iter().map(|(gap, runtimes, edges)| {
            at += gap;
            let forward = edges
                .into_iter()
                .filter(|(a, b)| a != b)
                .map(|(a, b)| (a.min(b), a.max(b)))
                .collect::<Vec<_>>();
            (at, workflow(&runtimes, &forward))
        });
        submitted.collect()
    })
}

pub(crate) fn speeds() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(select(vec![1 << 19, 1 << 20, 3 << 19, 2 << 20]), 1..5)
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn the_grid_is_a_list_scheduler(
        policy in select(vec!["mct", "least-loaded"]),
        speeds in speeds(),
        submitted in submissions(),
    ) {
        let records = run(&instant(policy, &speeds), &submitted);
        let micros = |time: Option<Time>| time.expect("it started").micros();
        let placed: Vec<(usize, u64, u64)> = tasks(&records)
            .iter()
            .map(|task| (task.site.index(), micros(task.start), task.end.micros()))
            .collect();
        prop_assert_eq!(placed, listed(policy, &speeds, &submitted));
        // A workflow ends with its last task, and takes no less than its critical path at the highest speed.
        let fastest = speeds.iter().max().expect("a site");
        for record in workflows(&records) {
            let own = tasks(&records).into_iter().filter(|task| task.workflow == record.workflow);
            prop_assert_eq!(own.map(|task| task.known).max(), Some(record.end));
            let least = u128::from(record.critical_path.micros()) << 20;
            prop_assert!(u128::from(record.makespan().micros()) * u128::from(*fastest) >= least);
            prop_assert_eq!((record.outcome, record.completed), (Outcome::Completed, record.tasks));
        }
    }

    #[test]
    fn a_run_with_workflows_goes_on_from_a_snapshot(
        policy in select(vec!["mct", "least-loaded", "fastest-free", "random", "sufferage", "heft", "peft"]),
        speeds in speeds(),
        submitted in submissions(),
        cut in 0_usize..200,
        (order, together) in (select(vec![TaskOrder::Policy, TaskOrder::CriticalPath]), any::<bool>()),
    ) {
        let mut spec = instant(policy, &speeds);
        let settings = &mut spec.broker.as_mut().expect("a broker").workflow;
        (settings.order, settings.together, settings.error_ppm) = (order, together, 300_000);
        let (mut whole, mut parts) = (Vec::new(), Vec::new());
        let mut grid = built(&spec, &submitted);
        while grid.step(&mut whole).expect("it runs").is_some() {}
        let mut first = built(&spec, &submitted);
        for _ in 0..cut {
            first.step(&mut parts).expect("it runs");
        }
        let saved = first.snapshot().expect("a state");
        let mut second = built(&spec, &submitted);
        second.restore(through_bytes(&saved), false).expect("it fits");
        prop_assert_eq!(&second.snapshot().expect("a state"), &saved);
        while second.step(&mut parts).expect("it runs").is_some() {}
        prop_assert_eq!(parts, whole);
    }
}

/// One site of two processors, 1 s away, with a report every 10 s. t0 takes 10 s, then t1 (20 s) and t2 (30 s), then t3 (5 s). t0 runs from 1 to 11,
/// which the broker knows at 12; t1 runs 13 to 33, t2 13 to 43, known at 44; t3 runs 45 to 50, known at 51. The longest way is 10 + 30 + 5.
#[test]
fn a_diamond_by_hand() {
    let diamond = workflow(&[10, 20, 30, 5], &[(0, 1), (0, 2), (1, 3), (2, 3)]);
    let records = run(&plain(&[2], "mct", 1, 10), &[(0, diamond)]);
    let told: Vec<_> = tasks(&records)
        .iter()
        .map(|task| (secs(task.ready.unwrap()), secs(task.start.unwrap()), secs(task.end), secs(task.known)))
        .collect();
    assert_eq!(told, [(0, 1, 11, 12), (12, 13, 33, 34), (12, 13, 43, 44), (44, 45, 50, 51)]);
    let [whole] = workflows(&records)[..] else { panic!("one workflow") };
    assert_eq!((secs(whole.end), whole.tasks, whole.completed), (51, 4, 4));
    assert_eq!((whole.makespan(), whole.critical_path), (Span::from_secs(51), Span::from_secs(45)));
    assert_eq!(tasks(&records).iter().map(|task| task.attempts).collect::<Vec<_>>(), [1; 4]);
}

/// t1 needs more processors than there are: t3 and t4, which wait for it, are cancelled at once; t0 and t2 complete.
#[test]
fn what_waits_for_a_task_that_does_not_complete_is_cancelled() {
    let mut broken = workflow(&[10, 20, 30, 5, 5], &[(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)]);
    broken.tasks[1].procs = 3;
    let records = run(&plain(&[2], "mct", 0, 10), &[(0, broken)]);
    let outcomes: Vec<Outcome> = tasks(&records).iter().map(|task| task.outcome).collect();
    let rejected = Outcome::Rejected(RejectReason::TooLarge);
    let expected = [Outcome::Completed, rejected, Outcome::Completed, Outcome::Cancelled, Outcome::Cancelled];
    assert_eq!(outcomes, expected);
    let jobs: Vec<Outcome> = jobs_of(&records).iter().map(|job| job.outcome).collect();
    assert_eq!(jobs, expected);
    let at: Vec<_> = tasks(&records).iter().map(|task| (task.site, secs(task.end))).collect();
    assert_eq!(at[3..], [(SiteId::GRID, 10), (SiteId::GRID, 10)]);
    let [whole] = workflows(&records)[..] else { panic!("one workflow") };
    assert_eq!((whole.outcome, whole.completed, secs(whole.end)), (Outcome::Failed, 2, 40));
}

/// Machines of class `a` at a third of the reference speed, `b` at twice it. t0 (60 s at the reference speed) has times for both, t1 for `b` only, t2
/// for another class: so it takes 30 s on `b`. `mct` believes what then happens: t0 7 s on `a`, t1 11 s on `b`, t2 30 s behind it.
#[test]
fn a_task_takes_the_time_of_the_class_whatever_the_speed() {
    let mut spec = instant("mct", &[(1 << 20) / 3, 2 << 20]);
    for (site, class) in spec.sites.iter_mut().zip(["a", "b"]) {
        site.partitions[0].name = class.to_owned();
    }
    let mut three = workflow(&[60, 60, 60], &[]);
    let tables: [&[(&str, u64)]; 3] = [&[("a", 7), ("b", 8)], &[("b", 11)], &[("c", 1)]];
    for (task, table) in three.tasks.iter_mut().zip(tables) {
        task.by_class =
            table.iter().map(|(class, secs)| ((*class).to_owned(), Span::from_secs(*secs))).collect();
    }
    let records = run(&spec, &[(0, three)]);
    let placed = |task: &TaskRecord| (task.site.index(), task.start.unwrap().micros(), task.end.micros());
    let expected = [(0, 0, 7_000_000), (1, 0, 11_000_000), (1, 11_000_000, 41_000_000)];
    assert_eq!(tasks(&records).into_iter().map(placed).collect::<Vec<_>>(), expected);
    let estimates: Vec<u64> = jobs_of(&records).iter().map(|job| job.estimate.micros()).collect();
    assert_eq!(estimates, [7_000_000, 11_000_000, 30_000_000]);
}

/// At the end of the run t0 runs and t1 waits for it: both are unfinished, and so is the workflow.
#[test]
fn a_run_that_ends_early_leaves_unfinished_tasks() {
    let mut grid = built(&plain(&[1], "mct", 1, 10), &[(0, workflow(&[100, 1], &[(0, 1)]))]);
    let mut records = Vec::new();
    while grid.now() < Time::from_secs(50) {
        grid.step(&mut records).expect("it runs");
    }
    grid.close(&mut records);
    assert!(tasks(&records).iter().all(|task| task.outcome == Outcome::Unfinished));
    assert_eq!(
        tasks(&records).iter().map(|task| task.site.index()).collect::<Vec<_>>(),
        [0, SiteId::GRID.index()]
    );
    assert_eq!(workflows(&records)[0].outcome, Outcome::Unfinished);
    assert_eq!(jobs_of(&records).len(), 2, "one record a job");
}

/// Tasks and workflows count in the fingerprint, each in every field but names.
#[test]
fn the_fingerprint_has_tasks_and_workflows() {
    let records = run(&instant("mct", &[1 << 20]), &[(0, workflow(&[10, 20], &[(0, 1)]))]);
    let print = |records: &[Record]| {
        let mut print = Fingerprint::new();
        records.iter().for_each(|record| print.add(record));
        print
    };
    let whole = print(&records);
    // Two jobs, two segments, two tasks, one workflow.
    assert_eq!(whole.count(), 7);
    for at in 0..records.len() {
        let mut other = records.clone();
        match &mut other[at] {
            Record::Task(task) => task.known += Span::TICK,
            Record::Workflow(workflow) => workflow.completed -= 1,
            _ => continue,
        }
        assert_ne!(print(&other), whole);
    }
}
