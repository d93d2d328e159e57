//! A broker whose grid view is never stale and whose messages take no time is omniscient: it behaves like a plain loop that reads
//! the true state of every site whenever a job arrives.
//!
//! The loop below shares no code with the grid. Its sites are FCFS queues of identical processors; all its times are whole
//! microseconds. At each instant, all ends come first, and the sites start the jobs that fit. Then the waiting jobs and those that
//! are submitted are handled one by one: each is sent to the site that the policy chooses from the state after the previous job,
//! and joins the queue of that site at once.

use std::collections::VecDeque;

use gridemu::model::{
    BrokerSpec, GridSpec, Job, Link, MachineGroup, NetworkSpec, PartitionSpec, Record, SiteSpec,
};
use gridemu::units::{Rate, Span};
use proptest::prelude::*;
use proptest::sample::select;

use crate::grid::{build, jobs_of};
use crate::support::{With, job};

const POLICIES: &[&str] = &[
    "round-robin",
    "least-loaded",
    "mct",
    "fastest-free",
    "fastest-free[full=queue]",
    "least-loaded[by=start]",
];

/// What became of a job: number, site, start, end.
type FailureAction = (u64, usize, u64, u64);

/// A job at a site.
#[derive(Clone, Copy, Debug)]
struct Here {
    id: u64,
    procs: u32,
    /// How long it is said to run, and how long it will.
    said: u64,
    real: u64,
}

#[derive(Debug)]
struct Queue {
    procs: u32,
    /// In 2⁻²⁰.
    speed: u64,
    free: u32,
    waiting: VecDeque<Here>,
    /// With their starts.
    running: Vec<(u64, Here)>,
    /// When something last changed here.
    changed: u64,
}

impl Queue {
    fn new(procs: u32, speed: u64) -> Self {
        Self { procs, speed, free: procs, waiting: VecDeque::new(), running: Vec::new(), changed: 0 }
    }

    /// How long a job of so many microseconds takes here, rounded up.
    fn takes(&self, micros: u64) -> u64 {
        let work = u128::from(micros) << 20;
        u64::try_from(work.div_ceil(u128::from(self.speed))).expect("within the axis")
    }

    fn next_end(&self) -> Option<u64> {
        self.running.iter().map(|(start, job)| start + job.real).min()
    }

    /// Starts what can start, in order, and nothing behind what cannot.
    fn pass(&mut self, now: u64) {
        self.changed = now;
        while let Some(head) = self.waiting.pop_front_if(|head| head.procs <= self.free) {
            self.free -= head.procs;
            self.running.push((now, head));
        }
    }

    fn end(&mut self, now: u64, site: usize, fates: &mut Vec<FailureAction>) {
        let over = |(start, job): &mut (u64, Here)| *start + job.real == now;
        for (start, job) in self.running.extract_if(.., over) {
            self.free += job.procs;
            fates.push((job.id, site, start, now));
        }
        self.pass(now);
    }

    fn backlog(&self) -> u128 {
        self.waiting.iter().map(|job| u128::from(job.procs) * u128::from(job.said)).sum()
    }

    /// When the running jobs are expected to have left so many processors.
    fn released(&self, procs: u32) -> u64 {
        let mut ends: Vec<_> =
            self.running.iter().map(|(start, job)| (start + job.said, job.procs)).collect();
        ends.sort_unstable();
        let (mut free, mut time) = (self.free, self.changed);
        for (end, more) in ends {
            if free >= procs {
                break;
            }
            (free, time) = (free + more, end);
        }
        time
    }

    /// When the site says that a newcomer of so many processors could start. It says so when something changes, and for powers
    /// of two and for all its processors: others take the next larger of these, unless they are free and nobody waits.
    fn promise(&self, procs: u32) -> u64 {
        if self.waiting.is_empty() && procs <= self.free {
            return self.changed;
        }
        let asked = procs.next_power_of_two().min(self.procs);
        let turn = self.backlog().div_ceil(u128::from(self.procs));
        self.released(asked).max(self.changed + u64::try_from(turn).expect("within the axis"))
    }
}

/// The omniscient broker.
#[derive(Debug)]
struct Oracle<'a> {
    policy: &'a str,
    sites: Vec<Queue>,
    /// Whose turn it is under `round-robin`.
    turn: usize,
}

impl Oracle<'_> {
    /// The first site of the least key among those that are large enough and have one.
    fn choose(&self, now: u64, job: &Job) -> Option<usize> {
        let (procs, said) = (job.size.preferred(), job.estimate.micros());
        let count = self.sites.len();
        let key = |at: usize| -> Option<(u128, u128)> {
            let site = &self.sites[at];
            let start = site.promise(procs).max(now);
            let run = site.takes(said);
            let free = procs <= site.free && site.promise(procs) <= site.changed;
            match self.policy {
                "round-robin" => Some((((at + count - self.turn) % count) as u128, 0)),
                "least-loaded" => {
                    let taken = u128::from(site.procs - site.free);
                    let procs = u128::from(site.procs);
                    Some((site.backlog() / procs, taken * 1_000_000 / procs))
                }
                "least-loaded[by=start]" => Some((start.into(), 0)),
                "mct" => Some((u128::from(start + run), 0)),
                // What is free comes before what is not.
                "fastest-free[full=queue]" if !free => Some((1, u128::from(start + run))),
                "fastest-free" if !free => None,
                "fastest-free" | "fastest-free[full=queue]" => Some((0, run.into())),
                other => panic!("`{other}` is unknown here"),
            }
        };
        let large = (0..count).filter(|at| self.sites[*at].procs >= procs);
        large.filter_map(|at| Some((key(at)?, at))).min().map(|(_, at)| at)
    }

    fn run(mut self, jobs: &[Job]) -> Vec<FailureAction> {
        let mut fates = Vec::new();
        let mut coming: VecDeque<&Job> = jobs.iter().collect();
        let mut waiting: Vec<&Job> = Vec::new();
        loop {
            let ends = self.sites.iter().filter_map(Queue::next_end);
            let submitted = coming.front().map(|job| job.submit.micros());
            let Some(now) = ends.chain(submitted).min() else { break };
            for (at, site) in self.sites.iter_mut().enumerate() {
                if site.next_end() == Some(now) {
                    site.end(now, at, &mut fates);
                }
            }
            while let Some(job) = coming.pop_front_if(|job| job.submit.micros() == now) {
                waiting.push(job);
            }
            waiting.retain(|job| {
                let Some(at) = self.choose(now, job) else { return true };
                let site = &mut self.sites[at];
                let said = site.takes(job.estimate.micros());
                let real = site.takes(job.runtime.min(job.estimate).micros());
                site.waiting.push_back(Here { id: job.id.0, procs: job.size.preferred(), said, real });
                site.pass(now);
                self.turn = (at + 1) % self.sites.len();
                false
            });
        }
        assert!(waiting.is_empty(), "every job fits somewhere");
        fates.sort_unstable();
        fates
    }
}

/// Sites as (processors, speed in 2⁻²⁰).
fn oracle(policy: &str, sites: &[(u32, u64)], jobs: &[Job]) -> Vec<FailureAction> {
    let sites = sites.iter().map(|(procs, speed)| Queue::new(*procs, *speed)).collect();
    Oracle { policy, sites, turn: 0 }.run(jobs)
}

/// The same by the grid, with a picture of 0 s over a network of 0 s.
fn emulated(policy: &str, sites: &[(u32, u64)], jobs: &[Job]) -> Vec<FailureAction> {
    let site = |(at, (procs, speed)): (usize, &(u32, u64))| {
        let partition = PartitionSpec::of(MachineGroup {
            speed: Rate::from_units(*speed),
            ..MachineGroup::plain("default", *procs)
        });
        let plain = SiteSpec::plain(&format!("site-{at}"), *procs, "fcfs".parse().expect("a policy"));
        SiteSpec { partitions: vec![partition], ..plain }
    };
    let broker = BrokerSpec::new(policy.parse().expect("a broker policy"));
    let spec = GridSpec {
        seed: 1,
        sites: sites.iter().enumerate().map(site).collect(),
        network: NetworkSpec::uniform(Link::default()),
        broker: Some(BrokerSpec { monitoring_interval: Span::ZERO, ..broker }),
    };
    let mut records: Vec<Record> = Vec::new();
    build(&spec, jobs.to_vec()).run(&mut records).expect("it runs");
    let on_failure = |job: &gridemu::model::JobRecord| {
        let start = job.start.expect("every job starts");
        (job.id.0, job.site.index(), start.micros(), job.end.micros())
    };
    jobs_of(&records).into_iter().map(on_failure).collect()
}

/// Sites of 4 processors at speed 1 and 2 at speed 2. 1 (4 processors, 100 s) fits the first alone: 0 to 100. 2 (2
/// processors, 60 s) at 10: 100 + 60 there, 10 + 30 on the second, which is 10 to 40. 3 and 4 (2 processors, 40 s) both come
/// at 40, when 2 has just ended: 3 runs on the second 40 to 60, 4 behind it 60 to 80, since the first is full until 100. 5
/// and 6 (1 processor, 200 s) come at 90: both run on the second 90 to 190.
#[test]
fn a_grid_by_hand() {
    let jobs = [
        job(1, 0, 4, 100),
        job(2, 10, 2, 60),
        job(3, 40, 2, 40),
        job(4, 40, 2, 40),
        job(5, 90, 1, 200),
        job(6, 90, 1, 200),
    ];
    let sites = [(4, 1 << 20), (2, 2 << 20)];
    let seconds = |fates: Vec<FailureAction>| -> Vec<FailureAction> {
        fates
            .into_iter()
            .map(|(id, site, start, end)| (id, site, start / 1_000_000, end / 1_000_000))
            .collect()
    };
    let expected =
        [(1, 0, 0, 100), (2, 1, 10, 40), (3, 1, 40, 60), (4, 1, 60, 80), (5, 1, 90, 190), (6, 1, 90, 190)];
    assert_eq!(seconds(oracle("mct", &sites, &jobs)), expected);
    assert_eq!(seconds(emulated("mct", &sites, &jobs)), expected);
}

/// More jobs at one instant than there are rounds in which to look after each: the rest is planned without looking.
#[test]
fn many_jobs_of_one_instant_are_no_stall() {
    let jobs: Vec<Job> = (1..=3_000).map(|id| job(id, 5, 1, 60)).collect();
    let fates = emulated("mct", &[(4, 1 << 20), (2, 2 << 20)], &jobs);
    // Both sites do 4 jobs a minute, so half of the jobs each, within the last minute of either.
    let first = fates.iter().filter(|(_, site, ..)| *site == 0).count();
    assert_eq!(fates.len(), 3_000);
    assert!(first.abs_diff(1_500) <= 4, "{first} on the first site");
}

/// Jobs of which the next comes at the same second, soon, or when the grid has calmed down. Those with a short estimate are
/// killed. No job is wider than the widest site.
fn workloads(widest: u32) -> impl Strategy<Value = Vec<Job>> {
    let gap = prop_oneof![3 => Just(0_u64), 3 => 1..30_u64, 1 => 200..400_u64];
    let one = (gap, 1..=widest, 1..120_u64, 0..4_u32, 1..200_u64);
    prop::collection::vec(one, 1..40).prop_map(|drawn| {
        let mut submit = 0;
        let made = |(id, (gap, procs, runtime, exact, other)): (u64, (u64, u32, u64, u32, u64))| {
            submit += gap;
            job(id, submit, procs, runtime).estimate(if exact == 0 { runtime } else { other })
        };
        (1..).zip(drawn).map(made).collect()
    })
}

fn grids() -> impl Strategy<Value = Vec<(u32, u64)>> {
    let speed = prop_oneof![Just(1 << 20), Just(2 << 20), Just(3 << 19), 200_000..4_000_000_u64];
    prop::collection::vec((1..12_u32, speed), 1..6)
}

proptest! {
    #![proptest_config(crate::support::cases(600))]

    #[test]
    fn a_picture_of_0_s_over_a_network_of_0_s_is_omniscient(
        policy in select(POLICIES),
        (sites, jobs) in grids().prop_flat_map(|sites| {
            let widest = sites.iter().map(|(procs, _)| *procs).max().unwrap_or(1);
            (Just(sites), workloads(widest))
        }),
    ) {
        prop_assert_eq!(emulated(policy, &sites, &jobs), oracle(policy, &sites, &jobs), "{}", policy);
    }
}
