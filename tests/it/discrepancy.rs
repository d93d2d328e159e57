//! Discrepancy search as a local policy: schedules worked by hand, a twin that tries all orders in the order of the search, and what is told of it.

use std::cmp::Reverse;

use gridemu::local::{Abilities, Actions, Change, LocalPolicy, Phase, PolicyInfo, Reason, Registry, View};
use gridemu::model::{Job, JobKey, Named, SiteSpec};
use gridemu::report::explained_rule;
use gridemu::units::{Span, Time};
use proptest::prelude::*;

use crate::cli::gridemu;
use crate::explaining::explained;
use crate::selective::jobs;
use crate::support::{self, job, reserve, run, run_with, site};

// ---- a twin that tries all orders ----

/// Tries every order of the waiting jobs.
struct Slow {
    waiting: Vec<JobKey>,
    search: String,
    fcfs: bool,
    bound: Option<u64>,
}

/// The depths, from 1, at which an order does not take the first of the jobs that are left.
fn discrepancies(order: &[usize]) -> Vec<usize> {
    let is_one = |at: &usize| order[*at..].iter().any(|later| *later < order[*at]);
    (0..order.len()).filter(is_one).map(|at| at + 1).collect()
}

/// All orders from left to right; or, as limited discrepancy search has them, with the first job of those that are left after the others.
fn orders(jobs: usize, first_is_last: bool) -> Vec<Vec<usize>> {
    let mut orders = vec![Vec::new()];
    for _ in 0..jobs {
        let longer = |order: &Vec<usize>| {
            let mut left: Vec<usize> = (0..jobs).filter(|job| !order.contains(job)).collect();
            left.rotate_left(usize::from(first_is_last));
            left.into_iter().map(|job| [&order[..], &[job]].concat()).collect::<Vec<_>>()
        };
        orders = orders.iter().flat_map(longer).collect();
    }
    orders
}

impl Slow {
    /// In which iteration an order is visited first.
    fn iteration(&self, order: &[usize]) -> usize {
        match &*self.search {
            "dds" => discrepancies(order).last().copied().unwrap_or(0),
            "lds" | "ilds" => discrepancies(order).len(),
            _ => 0,
        }
    }
}

impl LocalPolicy for Slow {
    fn on(&mut self, change: Change, _: &View<'_>) {
        match change {
            Change::Arrived(job) => self.waiting.push(job),
            Change::Withdrawn(gone) => self.waiting.retain(|job| *job != gone),
            _ => {}
        }
    }

    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
        let now = view.now();
        let mut jobs = self.waiting.clone();
        if !self.fcfs {
            // Stable: those that came first are first among equals.
            jobs.sort_by_key(|job| Reverse(view.job(*job).xfactor(now)));
        }
        let longest = self.waiting.iter().map(|job| now.since(view.job(*job).ready()).micros()).max();
        let bound = self.bound.or(longest).unwrap_or(0);
        let mut orders = orders(jobs.len(), self.search == "lds");
        orders.sort_by_key(|order| self.iteration(order));
        let plan = |order: &Vec<usize>| {
            let (mut profile, mut excess, mut slowdown) = (view.profile(), 0_u128, 0_u128);
            let starts: Vec<(JobKey, Time)> = order
                .iter()
                .map(|at| {
                    let live = view.job(jobs[*at]);
                    let (procs, estimate) = (live.procs(), live.estimate().max(Span::from_micros(1)));
                    let start = profile.earliest(now, live.estimate(), procs).expect("it fits at the end");
                    profile.reserve(start, start + live.estimate(), procs);
                    let wait = start.since(live.ready()).micros();
                    excess += u128::from(wait.saturating_sub(bound));
                    // As documented, in parts of 2⁶⁴.
                    slowdown += u128::from(wait) * u128::from(u64::MAX / estimate.micros());
                    (jobs[*at], start)
                })
                .collect();
            ((excess, slowdown), starts)
        };
        // The first of the best.
        let Some((_, starts)) = orders.iter().map(plan).min_by_key(|(cost, _)| *cost) else { return };
        for (job, _) in starts.into_iter().filter(|(_, start)| *start == now) {
            actions.start(job, view.job(job).procs());
            self.waiting.retain(|other| *other != job);
        }
    }

    fn adopt(&mut self, view: &View<'_>) {
        self.waiting = view.jobs_in(Phase::Waiting);
    }
}

fn with_twin() -> Registry {
    let twin = PolicyInfo::new("slow", |named: &mut Named| {
        let slow = Slow {
            waiting: Vec::new(),
            search: named.take("search", "a word")?.unwrap_or_default(),
            fcfs: named.take::<String>("order", "a word")?.is_some_and(|order| order == "fcfs"),
            bound: named.take::<Span>("bound", "a time")?.map(Span::micros),
        };
        Ok((Box::new(slow), Abilities { keeps_reservations: true, ..Abilities::PLAIN }))
    });
    Registry::standard().with(twin.doc("All orders."))
}

proptest! {
    #![proptest_config(support::cases(32))]

    /// With a budget for all orders the policy finds what brute force finds, with and without bounds, in each order of search.
    #[test]
    fn it_finds_the_best_of_all_orders(
        jobs in jobs(8),
        search in proptest::sample::select(vec!["dds", "lds", "ilds", "dfs"]),
        order in proptest::sample::select(vec!["lxf", "fcfs"]),
        bound in proptest::option::of(0_u64..400),
        reserved in proptest::option::of((0_u64..300, 1_u64..300, 1_u32..10)),
    ) {
        let mut spec = site(12, "fcfs");
        if let Some((start, length, procs)) = reserved {
            spec = reserve(spec, "r", start, start + length, procs);
        }
        let terms = format!("search={search},order={order}{}", bound.map_or(String::new(), |bound| format!(",bound={bound} s")));
        let ran = |policy: String| {
            let spec = SiteSpec { policy: policy.parse().expect("a policy"), ..spec.clone() };
            run_with(&with_twin(), &spec, &jobs).records
        };
        let slow = ran(format!("slow[{terms}]"));
        for prune in [true, false] {
            prop_assert_eq!(&ran(format!("discrepancy[{terms},nodes=1000000,prune={prune}]")), &slow);
        }
    }
}

// ---- by hand ----

/// Of 4 processors, 3 are in use until 100. Job 2 needs all for 10 s, job 3 one for 200 s.
fn jobs_by_hand() -> [Job; 3] {
    [job(1, 0, 3, 100), job(2, 1, 4, 10), job(3, 2, 1, 200)]
}

#[test]
fn the_total_excessive_wait_decides_before_slowdown() {
    let times = |policy: &str| {
        let ran = run(&site(4, policy), &jobs_by_hand());
        [1, 2, 3].map(|id| ran.job(id).start.expect("it started").as_secs_f64())
    };
    // At 2 job 2 has the larger expansion factor, 11/10. The longest wait so far is 1 s, and what is longer is excessive. In the order 2, 3 they wait
    // until 100 and 110, excessive are 98 and 107; in the order 3, 2 until 2 and 202, and 200 is less than 205.
    let found = [0.0, 202.0, 2.0];
    assert_eq!(times("discrepancy"), found);
    assert_eq!(times("dds-lxf-dynb"), found);
    // Of the heuristic's own order there are two nodes.
    assert_eq!(times("discrepancy[nodes=2]"), [0.0, 100.0, 110.0]);
    assert_eq!(times("discrepancy[nodes=1]"), [0.0, 100.0, 110.0]);
    // With an hour for both, slowdowns decide: 99/10 + 108/200 in the order 2, 3, 201/10 + 0 in the other.
    assert_eq!(times("discrepancy[bound=1 h]"), [0.0, 100.0, 110.0]);
    // Only the first job is planned, and at first that is job 2.
    assert_eq!(times("discrepancy[lookahead=1]"), [0.0, 100.0, 110.0]);
}

#[test]
fn it_is_told_where_a_job_is_in_the_best_order() {
    let told = explained(&site(4, "discrepancy"), &jobs_by_hand(), 2, 3);
    assert_eq!((told.reason(), told.start), (Reason::NoRoom, Some(Time::from_secs(202))));
    // Both orders were completed, the second one below a node of its own.
    assert_eq!(
        explained_rule(&told),
        "the best schedule that was found starts it at 202 s: until 12 s it would need 4 processors, and now none is left beside running jobs and \
         those before it in its order; it is number 2 there, and number 1 in that of the heuristic, from which it differs by 1 discrepancy; \
         it is the best of 2 orders (4 nodes), and there is no better one"
    );
    let told = explained(&site(4, "discrepancy[nodes=2]"), &jobs_by_hand(), 3, 3);
    assert_eq!(told.start, Some(Time::from_secs(110)));
    let words = explained_rule(&told);
    let end =
        "it is number 2 there, and the order is the heuristic's own; it is the best of 1 order (2 nodes)";
    assert!(words.ends_with(end), "{words}");
    let told = explained(&site(4, "discrepancy[lookahead=1]"), &jobs_by_hand(), 3, 3);
    assert_eq!(told.reason(), Reason::Behind);
}

/// A machine that is offered more than it can do.
const BUSY: &str = "lublin[jobs=600,load=1.1,procs=64]";

#[test]
fn what_searches_take_is_in_the_summary() {
    let search = |policy: &str| {
        let summary = gridemu(&["replay", BUSY, "--policy", policy, "--json"]).json();
        summary["search"].clone()
    };
    let number = |search: &serde_json::Value, key: &str| search[key].as_u64().expect("a number");
    for nodes in [300_u64, 1_000] {
        let took = search(&format!("discrepancy[nodes={nodes},lookahead=100]"));
        let decisions = number(&took, "decisions");
        assert!(number(&took, "most_nodes") <= nodes, "{took}");
        assert!(number(&took, "nodes") <= decisions * nodes && decisions > 100, "{took}");
        assert!(number(&took, "improved") > 0 && number(&took, "proven") > 0, "{took}");
        assert!(number(&took, "proven") < decisions && number(&took, "pruned") > 0, "{took}");
    }
    // The heuristic's own order is completed in any case.
    let few = search("discrepancy[nodes=1]");
    assert_eq!(number(&few, "improved"), 0);
    assert!(search("easy").is_null());
}

/// Only as many jobs as it may look at are planned, whichever structure has the queue; a queue that is no longer is planned as a whole.
#[test]
fn a_lookahead_as_long_as_the_queue_is_none() {
    let jobs: Vec<Job> = (1..60).map(|id| job(id, id, 1 + (id * 7 % 5) as u32, 20 + id * 37 % 90)).collect();
    for order in ["lxf", "fcfs", "sjf"] {
        let ran = |lookahead: u32| {
            run(&site(6, &format!("discrepancy[order={order},nodes=200,lookahead={lookahead}]")), &jobs)
                .records
        };
        assert_eq!(ran(59), ran(1_000));
        assert_ne!(ran(3), ran(1_000));
    }
}
