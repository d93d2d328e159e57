//! The table against plain lists that are searched.

use proptest::prelude::*;

use super::*;
use crate::broker::{PoolFacts, Rates};
use crate::model::{Equipment, GridContext};
use crate::units::{Span, Time};

/// The slow definition.
#[derive(Clone, Debug, Default)]
struct Twin {
    /// In order, each with whether a plan has left it.
    ready: Vec<(u64, bool)>,
    placed: BTreeMap<u64, Flight>,
}

#[derive(Clone, Debug)]
struct Flight {
    pool: usize,
    arrival: Option<Stamp>,
    unseen: bool,
    /// It waits for its files.
    staged: bool,
}

/// The processors and the area of a job of this number on the pools here.
fn size(number: u64) -> (u32, u128) {
    let procs = 1 + number as u32 % 5;
    (procs, u128::from(procs) * 7_000_000)
}

impl Twin {
    fn sum(&self, pool: usize, flights: impl Fn(&Flight) -> bool) -> InFlight {
        let mut sum = InFlight::default();
        for (number, _) in self.placed.iter().filter(|(_, f)| f.pool == pool && f.unseen && flights(f)) {
            let (procs, area) = size(*number);
            (sum.jobs, sum.procs, sum.area) = (sum.jobs + 1, sum.procs + u64::from(procs), sum.area + area);
        }
        sum
    }

    /// When three processors are through with what is in flight: the latest over all that may be the last to find them idle.
    fn until(&self, pool: usize, now: u64) -> Time {
        let flights = self.placed.iter().filter(|(_, flight)| flight.pool == pool && flight.unseen);
        let known = flights.clone().filter_map(|(number, flight)| Some((flight.arrival?, *number)));
        let mut known: Vec<(Stamp, u64)> = known.collect();
        known.sort_unstable();
        let held: u128 =
            flights.filter(|(_, f)| f.arrival.is_none()).map(|(number, _)| size(*number).1).sum();
        let mut takes: Vec<(u64, u128)> =
            known.iter().map(|(arrival, number)| (arrival.time.micros(), size(*number).1 / 3)).collect();
        takes.extend((held > 0).then_some((now, held / 3)));
        let from =
            |at: usize| u128::from(takes[at].0) + takes[at..].iter().map(|(_, span)| span).sum::<u128>();
        Time::from_micros((0..takes.len()).map(from).max().unwrap_or(0) as u64)
    }

    fn recallable(&self, queued: bool) -> Vec<TaskId> {
        let placed = self.placed.iter().filter(|(_, flight)| !flight.staged);
        let all = placed.filter(|(_, flight)| queued || flight.arrival.is_none());
        all.map(|(number, _)| TaskId(*number)).collect()
    }
}

fn job(number: u64) -> Box<Job> {
    let mut job = Job::rigid(number, Time::ZERO, size(number).0, Span::from_secs(7));
    job.grid = Some(Box::new(GridContext { number, ..GridContext::default() }));
    Box::new(job)
}

fn pool() -> Pool {
    Pool::unreported(PoolFacts {
        id: PoolId::default(),
        site: "site".to_owned(),
        partition: "default".to_owned(),
        processors: 64,
        allocation_unit: 1,
        cores: 1,
        equipment: Equipment::default(),
        speed: crate::units::Rate::FULL,
        groups: Vec::new(),
        idle: crate::units::Power::ZERO,
        busy: crate::units::Power::ZERO,
        pue_ppm: 1_000_000,
        rates: Rates::default(),
        latency: Span::ZERO,
        bandwidth: None,
    })
}

#[derive(Clone, Debug)]
enum Act {
    Enter(u64),
    Place(usize, usize, Stamp),
    Stage(usize, usize),
    Send(u64, Stamp),
    Unstage(u64),
    Remove(u64),
    Sent(u64, Option<Stamp>),
    Measured(usize, Stamp),
    Leave,
    /// A save and a restore.
    Saved,
}

fn acts() -> impl Strategy<Value = Act> {
    let number = || 0..24_u64;
    let stamp = || (0..12_u64, 0..3_u32).prop_map(|(at, round)| Stamp { time: Time::from_micros(at), round });
    let arrival = proptest::option::weighted(0.7, stamp());
    prop_oneof![
        6 => number().prop_map(Act::Enter),
        6 => (0..24_usize, 0..3_usize, stamp()).prop_map(|(at, pool, stamp)| Act::Place(at, pool, stamp)),
        4 => (0..24_usize, 0..3_usize).prop_map(|(at, pool)| Act::Stage(at, pool)),
        3 => (number(), stamp()).prop_map(|(number, stamp)| Act::Send(number, stamp)),
        1 => number().prop_map(Act::Unstage),
        3 => number().prop_map(Act::Remove),
        3 => (number(), arrival).prop_map(|(number, arrival)| Act::Sent(number, arrival)),
        3 => (0..3_usize, stamp()).prop_map(|(pool, measured)| Act::Measured(pool, measured)),
        2 => Just(Act::Leave),
        1 => Just(Act::Saved),
    ]
}

proptest! {
    #[test]
    fn agrees_with_lists_that_are_searched(acts in proptest::collection::vec(acts(), 1..120)) {
        let (mut tasks, mut twin) = (Tasks::new(3), Twin::default());
        for act in acts {
            match act {
                Act::Enter(number) => {
                    // It comes again only after it has gone.
                    if tasks.state(TaskId(number)).is_none() {
                        tasks.enter(job(number), Vec::new());
                        twin.ready.push((number, false));
                    }
                }
                Act::Place(at, pool_at, arrival) => {
                    let Some((number, _)) = twin.ready.get(at).copied() else { continue };
                    twin.ready.remove(at);
                    twin.placed.insert(number, Flight { pool: pool_at, arrival: Some(arrival), unseen: true, staged: false });
                    let placed = tasks.place(TaskId(number), pool_at, &pool(), Some(arrival));
                    prop_assert_eq!(placed, Some((job(number), size(number).0)));
                    prop_assert_eq!(tasks.place(TaskId(number), pool_at, &pool(), Some(arrival)), None);
                }
                Act::Stage(at, pool_at) => {
                    let Some((number, _)) = twin.ready.get(at).copied() else { continue };
                    twin.ready.remove(at);
                    twin.placed.insert(number, Flight { pool: pool_at, arrival: None, unseen: true, staged: true });
                    let (job, _) = tasks.place(TaskId(number), pool_at, &pool(), None).expect("it is ready");
                    tasks.stage(job);
                    prop_assert_eq!(tasks.state(TaskId(number)), Some(TaskState::Staging(pool_at)));
                }
                Act::Send(number, arrival) => {
                    let staged = twin.placed.get_mut(&number).filter(|flight| flight.staged);
                    let sent = staged.map(|flight| {
                        (flight.staged, flight.arrival) = (false, Some(arrival));
                        job(number)
                    });
                    prop_assert_eq!(tasks.send(TaskId(number), arrival), sent);
                }
                Act::Unstage(number) => {
                    let staged = twin.placed.get(&number).filter(|flight| flight.staged);
                    let back = staged.map(|flight| (flight.pool, job(number), Vec::new()));
                    if back.is_some() {
                        twin.placed.remove(&number);
                    }
                    prop_assert_eq!(tasks.unstage(TaskId(number)), back);
                }
                Act::Remove(number) => {
                    let gone = twin.placed.get(&number).filter(|flight| !flight.staged);
                    let gone = gone.map(|flight| (flight.pool, Vec::new()));
                    if gone.is_some() {
                        twin.placed.remove(&number);
                    }
                    prop_assert_eq!(tasks.remove(TaskId(number)), gone);
                }
                Act::Sent(number, arrival) => {
                    tasks.sent(TaskId(number), arrival);
                    if let Some(flight) = twin.placed.get_mut(&number).filter(|flight| !flight.staged) {
                        flight.arrival = arrival;
                    }
                }
                Act::Measured(pool, measured) => {
                    tasks.measured(pool, measured);
                    for flight in twin.placed.values_mut().filter(|flight| flight.pool == pool) {
                        flight.unseen &= flight.arrival.is_none_or(|arrival| arrival > measured);
                    }
                }
                Act::Leave => {
                    tasks.leave();
                    twin.ready.iter_mut().for_each(|(_, left)| *left = true);
                }
                Act::Saved => {
                    let again: Tasks = postcard::from_bytes(&postcard::to_allocvec(&tasks).unwrap()).unwrap();
                    prop_assert_eq!(&again, &tasks);
                    // What a plan has left is left in a run that goes on.
                    tasks = again;
                }
            }
            let ids = |asked| tasks.asked(asked).map(|task| task.id().0).collect::<Vec<_>>();
            prop_assert_eq!(tasks.count_ready(), twin.ready.len());
            prop_assert_eq!(ids(Asked::All), twin.ready.iter().map(|(number, _)| *number).collect::<Vec<_>>());
            let new = twin.ready.iter().filter(|(_, left)| !left).map(|(number, _)| *number);
            prop_assert_eq!(ids(Asked::New), new.collect::<Vec<_>>());
            prop_assert!(tasks.waiting().map(|job| job.id.0).eq(twin.ready.iter().map(|(number, _)| *number)));
            for (at, (number, _)) in twin.ready.iter().enumerate() {
                let task = tasks.ready(TaskId(*number)).expect("it is ready");
                let behind = tasks.next_ready(Some(task.rank()), false).map(|task| task.id().0);
                prop_assert_eq!(behind, twin.ready.get(at + 1).map(|(number, _)| *number));
            }
            for pool in 0..3 {
                prop_assert_eq!(tasks.in_flight(pool), twin.sum(pool, |_| true));
                let expected = InFlight { until: twin.until(pool, 5), ..tasks.in_flight(pool) };
                prop_assert_eq!(tasks.expected(pool, Time::from_micros(5), 3), expected);
                for at in 0..12 {
                    let at = Stamp { time: Time::from_micros(at), round: 1 };
                    let coming = twin.sum(pool, |flight| flight.arrival.is_none_or(|arrival| arrival > at));
                    prop_assert_eq!(u64::from(tasks.coming(pool, at)), coming.procs);
                }
            }
            for queued in [false, true] {
                prop_assert_eq!(tasks.recallable(queued), twin.recallable(queued));
            }
        }
        let waiting: Vec<u64> = tasks.take_waiting().map(|job| job.id.0).collect();
        let staged = twin.placed.iter().filter(|(_, flight)| flight.staged).map(|(number, _)| *number);
        let left = twin.ready.iter().map(|(number, _)| *number).chain(staged);
        prop_assert_eq!(waiting, left.collect::<Vec<_>>());
    }
}

/// By hand: two tasks are blocked and one is ready; a plan decides about the first two.
#[test]
fn what_no_plan_has_decided_about_is_known() {
    let mut tasks = Tasks::new(2);
    tasks.block(job(4), 1, Vec::new());
    tasks.enter(job(1), Vec::new());
    tasks.block(job(2), 2, Vec::new());
    let undecided = |tasks: &Tasks| tasks.undecided().into_iter().map(|task| task.0).collect::<Vec<_>>();
    assert_eq!((undecided(&tasks), tasks.count_undecided()), (vec![1, 2, 4], 2));
    let planned = |secs| Planned {
        pool: 1,
        start: Time::from_secs(secs),
        end: Time::from_secs(secs + 7),
        reason: crate::broker::Reason::Policy,
    };
    assert!(tasks.plan(TaskId(1), planned(9)) && tasks.plan(TaskId(2), planned(3)));
    assert_eq!((undecided(&tasks), tasks.count_undecided()), (vec![4], 1));
    let secs = Time::from_secs;
    let taken = |tasks: &Tasks| tasks.taken(1, &pool()).collect::<Vec<_>>();
    assert_eq!(taken(&tasks), [(secs(3), secs(10), size(2).0), (secs(9), secs(16), size(1).0)]);
    let again: Tasks = postcard::from_bytes(&postcard::to_allocvec(&tasks).unwrap()).unwrap();
    assert_eq!((undecided(&again), taken(&again)), (undecided(&tasks), taken(&tasks)));
    assert!(tasks.drop_plan(TaskId(1)) && tasks.drop_plan(TaskId(2)));
    assert_eq!((undecided(&tasks), tasks.count_undecided()), (vec![1, 2, 4], 2));
    assert!(taken(&tasks).is_empty());
}
