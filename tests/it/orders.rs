//! Actions of a scenario on jobs at given times, and commands for jobs that no site has.

use gridemu::grid::{Grid, Policies, WindowOptions, changes};
use gridemu::local::Registry;
use gridemu::model::{
    BrokerSpec, CommandRefusal, Elastic, EventCause, GridSpec, Job, JobAct, JobId, NetworkSpec, Order,
    Outcome, PartitionSpec, PlannedOrder, Record, SiteId, SiteSpec, Speedup,
};
use gridemu::units::{Span, Time};
use gridemu::workload::{Jobs, Source};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::elastic::{ELASTIC, events, refused, with};
use crate::support::{self, Ran, With, grid, job, site, through_bytes};

fn more(secs: u64) -> JobAct {
    JobAct::Change(Elastic::ExtendTime(Span::from_secs(secs)))
}

fn less(secs: u64) -> JobAct {
    JobAct::Change(Elastic::ReduceTime(Span::from_secs(secs)))
}

fn ordered(mut spec: SiteSpec, orders: &[(u64, u64, JobAct)]) -> SiteSpec {
    let order = |(at, job, act): &(u64, u64, JobAct)| PlannedOrder {
        at: Time::from_secs(*at),
        order: Order::Job { job: JobId(*job), act: *act },
    };
    spec.orders = orders.iter().map(order).collect();
    spec
}

#[test]
fn orders_are_carried_out_at_their_times() {
    let orders = [
        (0, 2, less(10)), // The instant at which it comes.
        (10, 1, more(5)),
        (10, 7, JobAct::Cancel), // There is none.
        (12, 3, JobAct::Cancel),
        (90, 1, more(1)), // It is over.
        (95, 9, JobAct::Cancel),
    ];
    let jobs = [job(1, 0, 4, 30), job(2, 0, 4, 30), job(3, 0, 4, 30)];
    for policy in ELASTIC {
        let ran = support::run(&ordered(site(4, policy), &orders), &jobs);
        assert_eq!((ran.times(1), ran.times(2)), ((0, 35), (35, 55)), "{policy}");
        let gone = ran.job(3);
        assert_eq!((gone.outcome, gone.start, gone.end), (Outcome::Cancelled, None, Time::from_secs(12)));
        assert_eq!(refused(&ran), [CommandRefusal::NoJob; 3], "{policy}");
        let told: Vec<_> =
            events(&ran).into_iter().map(|event| (event.time, event.job, event.cause)).collect();
        let none = EventCause::Unheeded(CommandRefusal::NoJob);
        let expected = [
            (0, 2, EventCause::Script),
            (10, 1, EventCause::Script),
            (10, 7, none),
            (90, 1, none),
            (95, 9, none),
        ];
        assert_eq!(
            told,
            expected.map(|(at, job, cause)| (Time::from_secs(at), Some(JobId(job)), cause)),
            "{policy}"
        );
    }
    // A run of a grid is over with its last job: what would come later is refused then.
    let spec = ordered(site(4, "easy-e"), &orders);
    let mut grid = grid(&Registry::standard(), &spec, &jobs).expect("a grid");
    let mut records = Vec::new();
    grid.run_to(None, WindowOptions::default(), &mut records).expect("it ends");
    let ran = Ran::of(&grid, records);
    assert_eq!(refused(&ran), [CommandRefusal::NoJob; 3]);
    assert!(events(&ran).iter().all(|event| event.time <= Time::from_secs(60)));
    let ran = support::run(&ordered(site(4, "easy"), &orders[1..2]), &jobs);
    assert_eq!((ran.times(1), refused(&ran)), ((0, 30), vec![CommandRefusal::NoProcessor]));
}

#[test]
fn of_two_jobs_with_a_number_the_one_that_was_submitted_first_is_meant() {
    let mut spec = site(4, "easy-e");
    spec.partitions.push(PartitionSpec { name: "second".to_owned(), ..spec.partitions[0].clone() });
    // The same number in two partitions.
    let jobs = [job(1, 0, 4, 30).on(1), job(1, 5, 4, 30).on(0)];
    let ends = |act| {
        let spec = ordered(spec.clone(), &[(10, 1, act)]);
        let mut grid = grid(&Registry::standard(), &spec, &jobs).expect("a grid");
        let mut records = Vec::new();
        grid.run(&mut records).expect("it ends");
        let ran = Ran::of(&grid, records);
        let mut ends: Vec<_> = ran.jobs().map(|job| (job.partition.0, job.end, job.outcome)).collect();
        ends.sort_unstable_by_key(|end| end.0);
        ends
    };
    let at = Time::from_secs;
    assert_eq!(ends(more(7)), [(0, at(35), Outcome::Completed), (1, at(37), Outcome::Completed)]);
    assert_eq!(ends(JobAct::Cancel), [(0, at(35), Outcome::Completed), (1, at(10), Outcome::Cancelled)]);
}

#[test]
fn a_run_waits_for_an_order_that_frees_what_is_stuck() {
    let mut spec = ordered(site(4, "easy-e"), &[(86_400, 2, JobAct::Cancel)]);
    spec.partitions[0].absent = 2;
    let jobs = [job(1, 0, 2, 30), job(2, 0, 4, 30)];
    let mut grid = grid(&Registry::standard(), &spec, &jobs).expect("a grid");
    let mut records = Vec::new();
    grid.run_to(None, WindowOptions::default(), &mut records).expect("nothing is stuck for ever");
    let ran = Ran::of(&grid, records);
    assert_eq!((ran.job(2).outcome, ran.job(2).end), (Outcome::Cancelled, Time::from_secs(86_400)));
}

#[test]
fn another_future_has_other_orders_from_the_branch_on() {
    let grid_of = |orders: &[(u64, u64, JobAct)]| GridSpec {
        seed: 1,
        sites: vec![ordered(site(4, "easy-e"), orders)],
        network: NetworkSpec::uniform(gridemu::model::Link::default()),
        broker: None,
    };
    let (old, at) = (grid_of(&[(5, 1, more(5)), (20, 1, more(5))]), Time::from_secs(10));
    let new = grid_of(&[(5, 1, more(5)), (30, 1, less(1))]);
    let told = changes(&old, &new, at).expect("it may change");
    assert_eq!(told, ["site `site`: scripted orders: 1 other act to come instead of 1 act to come"]);
    let error = changes(&old, &grid_of(&[(20, 1, more(5))]), at).expect_err("that has happened");
    assert!(error.to_string().contains("which is in the past"), "{error}");
    // And it does what the other would have done.
    let (registry, jobs) = (Registry::standard(), [job(1, 0, 4, 40)]);
    let mut first = grid(&registry, &old.sites[0], &jobs).expect("a grid");
    let mut records = Vec::new();
    first.run_until(at, &mut records).expect("it runs");
    let saved = first.snapshot().expect("a state");
    let mut second = grid(&registry, &new.sites[0], &jobs).expect("a grid");
    second.restore(saved, true).expect("it fits");
    second.run(&mut records).expect("it ends");
    assert_eq!(Ran::of(&second, records).times(1), (0, 44));
}

/// The broker gives a job up that fits nowhere: the commands that its user would still have given are refused there.
#[test]
fn commands_of_a_job_that_ends_at_the_broker_are_refused() {
    let spec = GridSpec {
        seed: 1,
        sites: vec![site(4, "easy-e")],
        network: NetworkSpec::uniform(gridemu::model::Link::default()),
        broker: Some(BrokerSpec::new("mct".parse().expect("a policy"))),
    };
    let change = Elastic::ExtendTime(Span::from_secs(5));
    let jobs =
        vec![with(job(1, 0, 99, 30), &[(10, change), (20, Elastic::ReduceProcs(97))]), job(2, 0, 4, 30)];
    let portal: Box<dyn Source> = Box::new(Jobs::new(jobs));
    let mut grid = Grid::build(&spec, vec![None], Some(portal), &Policies::standard()).expect("a grid");
    let mut records = Vec::new();
    grid.run_to(None, WindowOptions::default(), &mut records).expect("it ends");
    let told: Vec<_> = records
        .iter()
        .filter_map(|record| match record {
            Record::Event(event) if event.command.is_some() => {
                Some((event.site, event.job, event.cause, event.command))
            }
            _ => None,
        })
        .collect();
    let why = EventCause::Unheeded(CommandRefusal::NoJob);
    let expected =
        [change, Elastic::ReduceProcs(97)].map(|change| (SiteId::GRID, Some(JobId(1)), why, Some(change)));
    assert_eq!(told, expected);
}

/// Jobs that are nearly all malleable, often dedicated, and commanded while they run and wait.
fn commanded() -> impl Strategy<Value = Vec<Job>> {
    let command = (0_u64..50, 0_u8..4, 1_u64..25);
    let raw = (
        0_u64..8,
        1_u32..7,
        1_u64..40,
        0_u64..10,
        (any::<bool>(), 0_u64..50),
        (0_u32..3, 0_u32..8),
        vec(command, 0..5),
    );
    vec(raw, 1..16).prop_map(|raw| {
        let mut now = 0;
        let jobs = (1..).zip(raw).map(
            |(id, (gap, procs, runtime, over, (dedicated, lead), (less, more), commands))| {
                now += gap;
                let mut job = job(id, now, procs, runtime).estimate(runtime + over);
                if more > 0 {
                    job = job.malleable(procs.saturating_sub(less).max(1), procs + more, Speedup::Linear);
                }
                if dedicated {
                    job = job.from(now + lead);
                }
                let mut commands: Vec<(u64, Elastic)> = commands
                    .into_iter()
                    .map(|(after, kind, by)| {
                        let change = match kind {
                            0 => Elastic::ExtendTime(Span::from_secs(by)),
                            1 => Elastic::ReduceTime(Span::from_secs(by)),
                            2 => Elastic::ExtendProcs(by as u32 % 5),
                            _ => Elastic::ReduceProcs(by as u32 % 5),
                        };
                        (now + after, change)
                    })
                    .collect();
                commands.sort_by_key(|command| command.0);
                if commands.is_empty() { job } else { with(job, &commands) }
            },
        );
        jobs.collect()
    })
}

/// All of the family, those without a processor of commands too.
const FAMILY: [&str; 12] = [
    "easy",
    "easy-d",
    "easy-e",
    "easy-de",
    "los",
    "los-d",
    "los-e",
    "los-de",
    "delayed-los",
    "delayed-los-e",
    "hybrid-los",
    "hybrid-los-e",
];

proptest! {
    #![proptest_config(crate::support::cases(400))]

    /// Commands, orders and dedicated jobs in one queue: all jobs end once, none too early, and a judge who knows nothing of how it was
    /// made finds nothing wrong. Stopped anywhere, it goes on alike.
    #[test]
    fn commands_orders_and_dedicated_jobs_leave_legal_schedules(
        jobs in commanded(),
        orders in vec((0_u64..120, 1_u64..18, 0_u8..5, 1_u64..25), 0..8),
        policy in prop::sample::select(FAMILY.to_vec()),
        allocation_unit in 1_u32..3,
        stop in 0_u64..150,
    ) {
        let mut orders: Vec<(u64, u64, JobAct)> = orders
            .into_iter()
            .map(|(at, job, kind, by)| {
                let act = match kind {
                    0 => JobAct::Cancel,
                    1 => more(by),
                    2 => less(by),
                    3 => JobAct::Change(Elastic::ExtendProcs(by as u32 % 5)),
                    _ => JobAct::Change(Elastic::ReduceProcs(by as u32 % 5)),
                };
                (at, job, act)
            })
            .collect();
        orders.sort_by_key(|order| order.0);
        let mut spec = ordered(site(8, policy), &orders);
        spec.partitions[0].allocation_unit = allocation_unit;
        let registry = Registry::standard();
        let mut straight = grid(&registry, &spec, &jobs).expect("a grid");
        let mut records = Vec::new();
        straight.run(&mut records).expect("it ends");
        let ran = Ran::of(&straight, records);
        prop_assert_eq!(ran.jobs().count(), jobs.len());
        let elastic = registry.build(&spec.policy).expect("a policy").1.elastic > 0;
        let reasons = refused(&ran);
        prop_assert!(elastic || ran.tally.commands == 0);
        prop_assert!(elastic || reasons.iter().all(|why| matches!(why, CommandRefusal::NoProcessor | CommandRefusal::NoJob)));
        for (job, record) in jobs.iter().map(|job| (job, ran.job(job.id.0))) {
            let asked = job.requested_start.unwrap_or(job.submit);
            prop_assert!(record.start.is_none_or(|start| start >= asked && start >= job.submit));
            prop_assert!(record.procs <= 8);
        }
        support::assert_legal(&registry, std::slice::from_ref(&spec), &jobs, &ran.records);
        let mut first = grid(&registry, &spec, &jobs).expect("a grid");
        let mut records = Vec::new();
        first.run_until(Time::from_secs(stop), &mut records).expect("it runs");
        let saved = through_bytes(&first.snapshot().expect("a state"));
        let mut second = grid(&registry, &spec, &jobs).expect("a grid");
        second.restore(saved, false).expect("it fits");
        second.run(&mut records).expect("it ends");
        prop_assert_eq!(Ran::of(&second, records), ran);
    }
}
