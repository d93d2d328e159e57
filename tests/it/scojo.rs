//! SCOJO [Huang 2004, chapter 5]: schedules worked by hand, and a twin that computes every rate and every plan from scratch at each event.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use gridemu::local::{Reason, Registry};
use gridemu::model::{Job, JobId, SiteSpec};
use gridemu::sharing::{Coscheduling, Pairs};
use gridemu::units::{Rate, Span, Time};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::explaining::explained;
use crate::invariants::cases;
use crate::support::{self, Law, Ran, check, job, run, site, try_run};

/// Runs, checks, and returns `(start, end)` of jobs 1, 2, ... in seconds, rounded to hundredths: slowdowns such as 1.2 are no binary fractions.
fn times(spec: &SiteSpec, jobs: &[Job]) -> Vec<(f64, f64)> {
    let ran = run(spec, jobs);
    let able = Registry::standard().build(&spec.policy).expect("a policy").1;
    let multiprogramming_level = able.multiprogramming_level;
    check(spec, jobs, &ran, Law { multiprogramming_level, slows: able.slows, ..Law::default() });
    let round = |time: Time| (time.as_secs_f64() * 1e2).round() / 1e2;
    let of = |job: &Job| {
        let record = ran.job(job.id.0);
        (round(record.start.expect("it started")), round(record.end))
    };
    jobs.iter().map(of).collect()
}

fn of(job: Job, executable: i32) -> Job {
    Job { executable, ..job }
}

/// Three processors, which all jobs need. Job 1 is long, 2 and 3 are short, 4 is long.
#[test]
fn two_jobs_share_a_machine() {
    let jobs = [job(1, 0, 3, 300), job(2, 100, 3, 50), job(3, 150, 3, 25), job(4, 160, 3, 300)];
    let classes = "classes=20 s/60 s/200 s";
    // Job 1 has done 100 when job 2 joins it. Both progress at 0.5 / 1.2: job 2 takes 120 s. Job 3 joins job 1 at 220 and takes 60 s. By then job 1 has done
    // 100 + 50 + 25. Job 4 joins it at 280: the 125 that are left take 300 s. Then job 4, which has done 125, is alone.
    let shared = [(0.0, 580.0), (100.0, 220.0), (220.0, 280.0), (280.0, 755.0)];
    for order in ["priority", "fcfs"] {
        assert_eq!(times(&site(3, &format!("scojo[order={order},{classes}]")), &jobs), shared);
    }
    // What a job requests does not matter as long as all request the same: what is left is divided.
    assert_eq!(times(&site(3, &format!("scojo[share=30%,{classes}]")), &jobs), shared);
    // Of shares of 40 and 20 % the first gets two thirds.
    let (two, uneven) = ([job(1, 0, 3, 100), job(2, 0, 3, 100)], "slots=40%/20%,slowdown=1");
    assert_eq!(times(&site(3, &format!("scojo[{uneven}]")), &two), [(0.0, 150.0), (0.0, 200.0)]);
    // One after the other at level 1; at 300 all wait, and the shorter ones have the higher priorities.
    let alone = [(0.0, 300.0), (300.0, 350.0), (350.0, 375.0), (375.0, 675.0)];
    assert_eq!(times(&site(3, &format!("scojo[level=1,{classes}]")), &jobs), alone);
}

/// The third case of the thesis: at most three jobs, with 40, 40 and 20 %, 1.2 times slower in pairs and 1.3 times in threes.
#[test]
fn shares_by_slots() {
    let jobs = [job(1, 0, 2, 300), job(2, 0, 2, 60), job(3, 0, 2, 12), job(4, 70, 2, 12)];
    let spec = site(2, "scojo[level=3,slots=40%/40%/20%,order=fcfs]");
    // Job 3 does 12 at 0.2 / 1.3 in 78 s. Job 4 waits for that, and gets its share of 20 %: it takes 78 s, too, if job 2 is there for so long. By 78
    // job 2 has done 24 at 0.4 / 1.3, and as much by 156. It has 12 left at 0.5 / 1.2: 28.8 s. Job 1 has done 48 + 12 then; it is alone.
    assert_eq!(times(&spec, &jobs), [(0.0, 424.8), (0.0, 184.8), (0.0, 78.0), (78.0, 156.0)]);
    let ran = run(&spec, &jobs);
    let shares: BTreeSet<(u64, String)> =
        ran.segments().map(|segment| (segment.job.0, segment.share.to_string())).collect();
    let expected = [(1, "0.4"), (1, "0.5"), (1, "1"), (2, "0.4"), (2, "0.5"), (3, "0.2"), (4, "0.2")];
    let near = |(job, share): (u64, &str)| (job, share.parse::<f64>().expect("a number"));
    let got: Vec<(u64, f64)> = shares.iter().map(|(job, share)| near((*job, share))).collect();
    for (got, expected) in got.iter().zip(expected.map(near)) {
        assert!(got.0 == expected.0 && (got.1 - expected.1).abs() < 1e-5, "{got:?} for {expected:?}");
    }
    assert_eq!(got.len(), expected.len());
}

/// Shares by class: 60 and 40 % fit beside each other as they are, and not if they are to be worth that much at a slowdown of 1.2.
#[test]
fn effective_shares() {
    let jobs = [job(1, 0, 2, 60), job(2, 0, 2, 10)];
    let spec = |more: &str| site(2, &format!("scojo[classes=20 s,share=40%/60%,order=fcfs{more}]"));
    // 0.4 / 1.2 does 10 in 30 s; by then job 1 has done 15 at 0.6 / 1.2.
    assert_eq!(times(&spec(""), &jobs), [(0.0, 75.0), (0.0, 30.0)]);
    assert_eq!(times(&spec(",compensate=true"), &jobs), [(0.0, 60.0), (60.0, 70.0)]);
    // 30 % are worth 30 %, because they are given 36, and what is left besides.
    let spec = site(2, "scojo[share=30%,compensate=true,order=fcfs]");
    assert_eq!(times(&spec, &jobs), [(0.0, 74.0), (0.0, 24.0)]);
}

/// Two jobs that request 40 % each may be left with that: a third of full speed at a slowdown of 1.2. One that is alone has all of the time.
#[test]
fn what_nobody_requests_may_be_kept() {
    let jobs = [job(1, 0, 2, 100), job(2, 0, 2, 50)];
    let spec = site(2, "scojo[slots=40%/40%,spare=kept,order=fcfs]");
    assert_eq!(times(&spec, &jobs), [(0.0, 200.0), (0.0, 150.0)]);
}

/// Jobs may be put together only when they start; then what runs is joined by backfilling alone, which goes by priority.
#[test]
fn jobs_that_start_together() {
    let jobs = [job(1, 0, 2, 100), job(2, 10, 2, 50), job(3, 20, 2, 50)];
    let spec = |more: &str| site(2, &format!("scojo[slowdown=1.25,join=start{more}]"));
    // Jobs 2 and 3 wait for job 1, and progress at 0.5 / 1.25.
    assert_eq!(times(&spec(",backfill=false"), &jobs), [(0.0, 100.0), (100.0, 225.0), (100.0, 225.0)]);
    // Job 2 is backfilled. By 135 job 1 has done 10 + 50; job 3 is beside it for the last 40.
    assert_eq!(times(&spec(""), &jobs), [(0.0, 235.0), (10.0, 135.0), (135.0, 245.0)]);
    // A long job is not backfilled beside a short one.
    let jobs = [job(1, 0, 2, 10), job(2, 5, 2, 100)];
    let second = |join: &str| times(&site(2, &format!("scojo[classes=20 s,join={join}]")), &jobs)[1].0;
    assert_eq!((second("any"), second("start")), (5.0, 10.0));
}

/// Applications: `a` and `b` would slow each other down to 1.6, `b` and `c` to 2: more than is allowed. `a` and `c` go together.
const TABLE: &str = "slowdown=a b c; a 1.2 1.6 1.25; b - 1.2 2; c - - 1.2,most=1.4";

#[test]
fn who_may_be_put_together() {
    let jobs = |third: u64| [of(job(1, 0, 2, 100), 1), of(job(2, 10, 2, 50), 2), of(job(3, 20, 2, third), 3)];
    let spec = |more: &str| site(2, &format!("scojo[{TABLE},order=fcfs{more}]"));
    // Job 2 may not join job 1, nor job 3 pass it.
    let in_order = [(0.0, 100.0), (100.0, 150.0), (150.0, 160.0)];
    assert_eq!(times(&spec(",backfill=false"), &jobs(10)), in_order);
    // Job 3 is over long before job 2 starts by plan: with half the time and a slowdown of 1.4 job 1 ends at 20 + 80 · 2.8 = 244. Both progress at
    // 0.5 / 1.25 while they share: job 3 takes 25 s, and job 1 loses 15.
    assert_eq!(times(&spec(""), &jobs(10)), [(0.0, 115.0), (115.0, 165.0), (20.0, 45.0)]);
    // If it takes longer than that, job 2 could not start then.
    assert_eq!(times(&spec(""), &jobs(90)), [(0.0, 100.0), (100.0, 150.0), (150.0, 240.0)]);
    // Without a limit all go together.
    let all = site(2, "scojo[slowdown=a b c; a 1.2 1.6 1.25; b - 1.2 2; c - - 1.2,order=fcfs]");
    assert_eq!(times(&all, &jobs(10))[1].0, 10.0);
}

/// A job that overtakes another one joins none of a higher priority.
#[test]
fn backfilling_goes_by_priority() {
    let jobs = [of(job(1, 0, 2, 50), 1), of(job(2, 10, 2, 50), 2), of(job(3, 20, 2, 100), 3)];
    let table = "slowdown=a b c; a 1.2 1.6 1.25; b - 1.2 1.25; c - - 1.2,most=1.4,classes=20 s/60 s/150 s";
    let start = |order: &str| times(&site(2, &format!("scojo[{table},order={order}]")), &jobs)[2].0;
    // Job 3 may join jobs 1 and 2, so it delays nobody. But it is a medium job, and they are short.
    assert_eq!(start("fcfs"), 20.0);
    assert_eq!(start("priority"), 50.0);
}

/// A long job waits behind short ones until it is old enough.
#[test]
fn waiting_jobs_age() {
    let mut jobs = vec![job(1, 0, 1, 10), job(2, 1, 1, 20)];
    jobs.extend((3..9).map(|id| job(id, 10 * (id - 2) - 5, 1, 10)));
    let start = |every: &str| {
        let policy = format!("scojo[level=1,classes=10 s,age_every={every},age_by=5,age_most=5]");
        times(&site(1, &policy), &jobs)[1].0
    };
    // Short jobs come every 10 s from 5 on, and are done by 70. At 31 it is as important as they are, and came before them.
    assert_eq!((start("none"), start("30 s")), (70.0, 40.0));
    assert_eq!((start("60 s"), start("9 s")), (70.0, 10.0));
}

/// Two processors, one job on each beside one on both: it progresses as where it has least.
#[test]
fn processors_of_their_own() {
    // Job 2 shares processor 0 with job 1, job 3 processor 1. All have a half, and are 1.25 times slower: 0.4.
    let jobs = [job(1, 0, 2, 10), job(2, 0, 1, 4), job(3, 0, 1, 20)];
    let spec = site(2, "scojo[slowdown=1.25]");
    // Job 2 takes 10 s. Job 1 still shares processor 1, and takes 25 s in all; job 3 has done 10 then and is alone.
    assert_eq!(times(&spec, &jobs), [(0.0, 25.0), (0.0, 10.0), (0.0, 35.0)]);
}

/// Where another policy takes over, sharing costs what it does there from then on.
#[test]
fn what_sharing_costs_ends_with_the_policy() {
    let (registry, jobs) = (Registry::standard(), [job(1, 0, 1, 100), job(2, 0, 1, 100)]);
    let ends = |first: &str, then: &str| {
        let (mut grid, mut records) =
            (support::grid(&registry, &site(1, first), &jobs).expect("a grid"), Vec::new());
        grid.run_until(Time::from_secs(60), &mut records).expect("it runs");
        let saved = grid.snapshot().expect("a snapshot");
        let mut grid = support::grid(&registry, &site(1, then), &jobs).expect("a grid");
        grid.restore(saved, true).expect("it fits");
        grid.run(&mut records).expect("it runs");
        let ran = Ran::of(&grid, records);
        [1, 2].map(|id| (ran.job(id).end.as_secs_f64() * 1e2).round() / 1e2)
    };
    // By 60 both have done 25 at 0.5 / 1.2, or 30 at a half.
    assert_eq!(ends("scojo", "equal-share"), [210.0; 2]);
    assert_eq!(ends("equal-share", "scojo"), [228.0; 2]);
}

#[test]
fn an_explanation_names_whom_the_job_cannot_join() {
    let jobs = [of(job(1, 0, 2, 100), 1), of(job(2, 10, 2, 50), 2), of(job(3, 20, 2, 90), 3)];
    let spec = site(2, &format!("scojo[{TABLE},order=fcfs]"));
    let told = explained(&spec, &jobs, 2, 10);
    assert_eq!(told.reason(), Reason::Level);
    assert_eq!(
        gridemu::report::explained_rule(&told),
        "it is the head of the queue and needs 2 processors whose jobs it may join, and there is none"
    );
    assert_eq!(explained(&spec, &jobs, 3, 20).reason(), Reason::Behind);
}

proptest! {
    #![proptest_config(crate::support::cases(200))]

    /// At level 1, in order of arrival, it is first come, first served: record by record.
    #[test]
    fn at_level_1_it_is_fcfs(case in cases(vec!["fcfs".to_owned()], 40)) {
        let scojo = SiteSpec { policy: "scojo[level=1,order=fcfs]".parse().expect("a policy"), ..case.spec.clone() };
        let ran = |spec: &SiteSpec| try_run(&Registry::standard(), spec, &case.jobs).expect("it runs");
        let (fcfs, scojo) = (ran(&case.spec), ran(&scojo));
        prop_assert_eq!(fcfs.records, scojo.records);
        prop_assert_eq!(fcfs.usage, scojo.usage);
    }
}

// ---- a twin that computes everything at each event ----

const ONE: u128 = 1 << 20;
const MILLION: u128 = 1_000_000;

#[derive(Clone, Debug)]
struct Options {
    level: usize,
    by_priority: bool,
    backfill: bool,
    /// Shares in percent: one, one for each of three classes, or one for each slot.
    shares: Vec<u128>,
    slots: bool,
    /// Whether what nobody requests is kept.
    keeps: bool,
    compensate: bool,
    model: usize,
    most: Option<u32>,
    every: u64,
}

/// Models of what sharing costs: as written, and as they are read.
const MODELS: [&str; 3] = ["1.2", "0.8", "a b; a 1.2 1.4/0.8; b - 2"];

impl Options {
    fn written(&self) -> String {
        let share: Vec<String> = self.shares.iter().map(|share| format!("{share}%")).collect();
        let word = if self.slots { "slots" } else { "share" };
        let order = if self.by_priority { "priority" } else { "fcfs" };
        let most = self.most.map_or("none".to_owned(), |most| format!("{}.{}", most / 10, most % 10));
        format!(
            "scojo[level={},order={order},backfill={},{word}={},spare={},compensate={},slowdown={},most={most},classes=5 s/15 s,age_every={} s]",
            self.level,
            self.backfill,
            share.join("/"),
            if self.keeps { "kept" } else { "given" },
            self.compensate,
            MODELS[self.model],
            self.every,
        )
    }

    fn model(&self) -> Coscheduling {
        let is_table = MODELS[self.model].contains(';');
        let pairs: Pairs =
            if is_table { MODELS[self.model].parse().expect("a table") } else { Pairs::default() };
        let otherwise = if is_table { "1.2" } else { MODELS[self.model] };
        let most = self.most.map(|most| format!("{}.{}", most / 10, most % 10).parse().expect("a slowdown"));
        Coscheduling { pairs, most, ..Coscheduling::same(otherwise.parse().expect("a slowdown")) }
    }
}

#[derive(Clone, Debug)]
struct Task {
    id: u64,
    submit: u64,
    procs: usize,
    left: u128,
    estimate: u128,
    class: usize,
    application: Option<usize>,
    /// Of a job that runs.
    on: Vec<usize>,
    share: u128,
    slot: Option<usize>,
    started: u64,
}

struct Twin {
    options: Options,
    model: Coscheduling,
    processors: usize,
    now: u64,
    waiting: Vec<Task>,
    running: Vec<Task>,
    ended: Vec<(u64, u64, u64)>,
}

impl Twin {
    fn priority(&self, class: usize, waited: u64) -> u32 {
        if !self.options.by_priority {
            return 0;
        }
        let base = 10 - 5 * class as u32;
        (base + 5 * u32::try_from(waited / (self.options.every * 1_000_000)).unwrap()).min(15)
    }

    /// The slowdown of one of these, straight from the pairs.
    fn slowdown(&self, jobs: &[&Task], one: usize) -> u128 {
        if jobs.len() < 2 {
            return MILLION;
        }
        let pair = |other: &Task| match (jobs[one].application, other.application) {
            (Some(own), Some(other)) => self.model.pairs.of(own, other).millionths(),
            _ => self.model.otherwise.millionths(),
        };
        let largest = (0..jobs.len()).filter(|at| *at != one).map(|at| pair(jobs[at])).max().unwrap();
        u128::from(largest) + 100_000 * (jobs.len() as u128 - 2)
    }

    fn weight(&self, jobs: &[&Task], one: usize) -> u128 {
        let share = jobs[one].share * 10_000;
        if self.options.compensate { (share * self.slowdown(jobs, one)).div_ceil(MILLION) } else { share }
    }

    fn on(running: &[Task], proc: usize) -> Vec<&Task> {
        running.iter().filter(|task| task.on.contains(&proc)).collect()
    }

    fn rate(&self, running: &[Task], task: &Task) -> u128 {
        let (mut share, mut kept) = (ONE, u128::MAX);
        for proc in &task.on {
            let jobs = Self::on(running, *proc);
            let one = jobs.iter().position(|job| job.id == task.id).unwrap();
            let requested = (0..jobs.len()).map(|at| self.weight(&jobs, at)).sum();
            let sum = if self.options.keeps && jobs.len() > 1 { MILLION } else { requested };
            share = share.min(self.weight(&jobs, one) * ONE / sum);
            kept = kept.min(MILLION * ONE / self.slowdown(&jobs, one));
        }
        kept * share / ONE
    }

    /// The task on processors, if there is room for it.
    fn placed(&self, running: &[Task], task: &Task, backfilled: bool) -> Option<Task> {
        let shares: Vec<(u128, Option<usize>)> = match self.options.slots {
            true => self.options.shares.iter().copied().zip((0..).map(Some)).collect(),
            false if self.options.shares.len() == 1 => vec![(self.options.shares[0], None)],
            false => vec![(self.options.shares[task.class], None)],
        };
        shares.into_iter().find_map(|(share, slot)| {
            let mut task = Task { share, slot, ..task.clone() };
            let mut open: Vec<(usize, usize)> = (0..self.processors)
                .filter_map(|proc| {
                    let mut jobs = Self::on(running, proc);
                    let load = jobs.len();
                    let may = |other: &&Task| {
                        let over = self.priority(other.class, 0) > self.priority(task.class, 0);
                        !(backfilled && over) && (slot.is_none() || other.slot != slot)
                    };
                    if load >= self.options.level || !jobs.iter().all(may) {
                        return None;
                    }
                    jobs.push(&task);
                    let sum: u128 = (0..jobs.len()).map(|at| self.weight(&jobs, at)).sum();
                    let most = self.model.most.map_or(u128::MAX, |most| most.millionths().into());
                    let is_slow = (0..jobs.len()).any(|one| self.slowdown(&jobs, one) > most);
                    (load == 0 || sum <= MILLION && !is_slow).then_some((load, proc))
                })
                .collect();
            open.sort_unstable();
            (open.len() >= task.procs).then(|| {
                task.on = open[..task.procs].iter().map(|(_, proc)| *proc).collect();
                task
            })
        })
    }

    /// How long a job takes with no more than is guaranteed for what takes so long alone.
    fn lasts(&self, task: &Task, alone: u128) -> u64 {
        let mut worst = u128::from(self.model.otherwise.millionths());
        for other in 0..self.model.pairs.names().len() {
            if let Some(own) = task.application {
                worst = worst.max(self.model.pairs.of(own, other).millionths().into());
            }
        }
        worst += 100_000 * (self.options.level as u128 - 2);
        worst = worst.min(self.model.most.map_or(u128::MAX, |most| most.millionths().into())).max(MILLION);
        let kept = if self.options.compensate { ONE } else { MILLION * ONE / worst };
        let rate = (task.share * 10_000 * ONE / MILLION) * kept / ONE;
        u64::try_from((alone * ONE).div_ceil(rate)).unwrap()
    }

    /// When the first so many waiting jobs would start in order.
    fn planned(&self, mut running: Vec<(u64, Task)>, line: &[Task]) -> Vec<u64> {
        let mut time = self.now;
        let mut starts = Vec::new();
        for task in line {
            let placed = loop {
                let on: Vec<Task> = running.iter().map(|(_, task)| task.clone()).collect();
                if let Some(placed) = self.placed(&on, task, false) {
                    break placed;
                }
                time = time.max(running.iter().map(|(end, _)| *end).min().unwrap());
                running.retain(|(end, _)| *end > time);
            };
            starts.push(time);
            let end = time + self.lasts(&placed, task.estimate);
            running.push((end, placed));
        }
        starts
    }

    fn schedule(&mut self, before: &[(u64, u128)]) {
        let priority = |twin: &Self, task: &Task| twin.priority(task.class, twin.now - task.submit);
        let mut line = std::mem::take(&mut self.waiting);
        line.sort_by_key(|task| (Reverse(priority(self, task)), task.submit, task.id));
        if !self.options.by_priority {
            line.sort_by_key(|task| task.id);
        }
        let now = self.now;
        while let Some(head) = line.first() {
            let Some(placed) = self.placed(&self.running, head, false) else { break };
            self.running.push(Task { started: now, ..placed });
            line.remove(0);
        }
        let mut at = 1;
        while self.options.backfill && at < line.len() {
            let Some(placed) = self.placed(&self.running, &line[at], true) else {
                at += 1;
                continue;
            };
            let ends: Vec<(u64, Task)> = self
                .running
                .iter()
                .map(|task| {
                    let alone = match before.iter().find(|(id, _)| *id == task.id) {
                        // When it is expected to end, at the rate that it had until now.
                        Some((_, rate)) => {
                            let until = task.left.div_ceil(*rate);
                            (until * rate).div_ceil(ONE)
                        }
                        None => task.estimate,
                    };
                    (now + self.lasts(task, alone), task.clone())
                })
                .collect();
            let without = self.planned(ends.clone(), &line[..at]);
            let mut with = ends;
            with.push((now + self.lasts(&placed, placed.estimate), placed.clone()));
            let delayed = self.planned(with, &line[..at]);
            if delayed.iter().zip(&without).any(|(later, planned)| later > planned) {
                at += 1;
                continue;
            }
            self.running.push(Task { started: now, ..placed });
            line.remove(at);
        }
        self.waiting = line;
    }

    fn run(mut self, jobs: &[Job]) -> Vec<(u64, u64, u64)> {
        let micros = |span: Span| u128::from(span.micros());
        let mut coming: Vec<Task> = jobs
            .iter()
            .map(|job| Task {
                id: job.id.0,
                submit: job.submit.micros(),
                procs: job.size.preferred() as usize,
                left: micros(job.runtime) * ONE,
                estimate: micros(job.runtime),
                class: [5, 15].iter().filter(|bound| job.runtime > Span::from_secs(**bound)).count(),
                application: usize::try_from(job.executable - 1)
                    .ok()
                    .filter(|at| *at < self.model.pairs.names().len()),
                on: Vec::new(),
                share: 0,
                slot: None,
                started: 0,
            })
            .collect();
        while !coming.is_empty() || !self.waiting.is_empty() || !self.running.is_empty() {
            let rates: Vec<u128> = self.running.iter().map(|task| self.rate(&self.running, task)).collect();
            let ends = self
                .running
                .iter()
                .zip(&rates)
                .map(|(task, rate)| self.now + task.left.div_ceil(*rate) as u64);
            let every = self.options.every * 1_000_000;
            let grows = self.waiting.iter().filter(|task| {
                self.options.by_priority && self.priority(task.class, self.now - task.submit) < 15
            });
            let grows = grows.map(|task| task.submit + ((self.now - task.submit) / every + 1) * every);
            let next = ends.chain(grows).chain(coming.first().map(|task| task.submit)).min().unwrap();
            let span = u128::from(next - self.now);
            self.now = next;
            for (task, rate) in self.running.iter_mut().zip(&rates) {
                task.left = task.left.saturating_sub(rate * span);
            }
            let before: Vec<(u64, u128)> =
                self.running.iter().zip(&rates).map(|(task, rate)| (task.id, *rate)).collect();
            for task in self.running.extract_if(.., |task| task.left == 0) {
                self.ended.push((task.id, task.started, next));
            }
            while coming.first().is_some_and(|task| task.submit <= next) {
                self.waiting.push(coming.remove(0));
            }
            self.schedule(&before);
        }
        self.ended.sort_unstable();
        self.ended
    }
}

fn options() -> impl Strategy<Value = Options> {
    let shares = prop_oneof![
        2 => Just((vec![30], false)),
        2 => (10_u128..60).prop_map(|share| (vec![share], false)),
        1 => vec(10_u128..70, 3).prop_map(|shares| (shares, false)),
        2 => Just((vec![40, 40, 20], true)),
    ];
    let most = prop_oneof![2 => Just(None), 1 => (10_u32..20).prop_map(Some)];
    let how = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (2_usize..4, how, shares, 0_usize..3, most, 1_u64..40).prop_map(
        |(level, (by_priority, backfill, compensate, keeps), (mut shares, slots), model, most, every)| {
            if slots {
                shares.truncate(level);
            }
            Options { level, by_priority, backfill, shares, slots, keeps, compensate, model, most, every }
        },
    )
}

proptest! {
    #![proptest_config(crate::support::cases(500))]

    /// The policy starts and ends every job at the microsecond at which the twin does.
    #[test]
    fn every_rate_is_as_if_computed_anew(
        processors in 1_u32..6,
        raw in vec((0_u64..15, 1_u32..6, 1_u64..40, -1_i32..4), 1..14),
        options in options(),
    ) {
        let mut submit = 0;
        let jobs: Vec<Job> = (1..).zip(raw).map(|(id, (gap, procs, runtime, executable))| {
            submit += gap;
            of(job(id, submit, procs.min(processors), runtime), executable)
        }).collect();
        let spec = site(processors, &options.written());
        // Shares that can never be given together are refused.
        let Ok(_) = Registry::standard().build(&spec.policy) else { return Ok(()) };
        let ran: Ran = support::run(&spec, &jobs);
        let model = options.model();
        let (waiting, running, ended) = (Vec::new(), Vec::new(), Vec::new());
        let twin = Twin { options, model, processors: processors as usize, now: 0, waiting, running, ended };
        let expected = twin.run(&jobs);
        let got: Vec<(u64, u64, u64)> = expected.iter().map(|(id, ..)| {
            let record = ran.job(*id);
            assert_eq!(record.id, JobId(*id));
            (*id, record.start.map_or(u64::MAX, Time::micros), record.end.micros())
        }).collect();
        prop_assert_eq!(got, expected);
        // Work is conserved: what segments did at their rates is the work of each job, but for the last microsecond.
        for job in &jobs {
            let own = ran.segments().filter(|segment| segment.job == job.id);
            let (mut done, mut last) = (0_u128, 0_u128);
            for segment in own {
                last = segment.rate.units().into();
                done += last * u128::from(segment.to.since(segment.from).micros());
            }
            let work = u128::from(job.runtime.micros()) * u128::from(Rate::FULL.units());
            prop_assert!(done >= work && done - work < last.max(1));
        }
    }
}
