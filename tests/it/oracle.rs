//! Slow, obvious reference implementations of the space-sharing policies, written from the papers' definitions over lists of
//! intervals. The policies of the library are compared with them job by job.

use gridemu::local::policies::{BackfillOrder, Easy};
use gridemu::local::{Abilities, PolicyInfo, Registry};
use gridemu::model::{InstantOrder, Job, SiteSpec};
use gridemu::units::{Rate, Span, Time};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::support::{self, Law, Ran, With, reserve, run, run_with, site};

const SECOND: u64 = 1_000_000;

/// A job as the twins see it, in microseconds.
#[derive(Clone, Copy, Debug)]
struct Twin {
    submit: u64,
    procs: u64,
    run: u64,
    estimate: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Taken {
    from: u64,
    to: u64,
    procs: u64,
}

/// Who holds how much, when.
#[derive(Clone, Default)]
struct Sketch {
    machine: u64,
    taken: Vec<Taken>,
}

impl Sketch {
    fn free_at(&self, time: u64) -> i128 {
        let used: u64 = self.taken.iter().filter(|t| t.from <= time && time < t.to).map(|t| t.procs).sum();
        i128::from(self.machine) - i128::from(used)
    }

    fn fits(&self, from: u64, job: &Twin) -> bool {
        let steps = self.taken.iter().map(|t| t.from).filter(|t| *t > from && *t < from + job.estimate);
        std::iter::once(from).chain(steps).all(|time| self.free_at(time) >= i128::from(job.procs))
    }

    fn earliest(&self, from: u64, job: &Twin) -> u64 {
        let mut candidates: Vec<u64> = self.taken.iter().map(|t| t.to).filter(|t| *t > from).collect();
        candidates.push(from);
        candidates.sort_unstable();
        candidates.into_iter().find(|time| self.fits(*time, job)).expect("all that is taken ends")
    }

    fn take(&mut self, from: u64, job: &Twin) {
        self.taken.push(Taken { from, to: from + job.estimate, procs: job.procs });
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compress {
    Submission,
    Start,
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    Fcfs,
    Easy(BackfillOrder),
    Conservative(Compress),
}

#[derive(Clone, Copy)]
enum Event {
    Submission(usize),
    Termination(usize),
    /// A reservation begins or ends.
    Edge,
}

struct World<'a> {
    machine: u64,
    jobs: &'a [Twin],
    book: &'a [Taken],
    waiting: Vec<usize>,
    /// Jobs on processors, in order of start.
    running: Vec<usize>,
    start: Vec<Option<u64>>,
    /// Conservative: the reserved start of every waiting job, and the first one it was given.
    planned: Vec<u64>,
    promised: Vec<u64>,
    /// Conservative: some job was overdue at the last look.
    loose: bool,
}

impl<'a> World<'a> {
    fn new(machine: u64, jobs: &'a [Twin], book: &'a [Taken]) -> Self {
        let none = vec![u64::MAX; jobs.len()];
        Self {
            machine,
            jobs,
            book,
            waiting: Vec::new(),
            running: Vec::new(),
            start: vec![None; jobs.len()],
            planned: none.clone(),
            promised: none,
            loose: false,
        }
    }

    fn end(&self, job: usize) -> u64 {
        self.start[job].expect("it runs") + self.jobs[job].run
    }

    fn planned_end(&self, job: usize) -> u64 {
        self.start[job].expect("it runs") + self.jobs[job].estimate
    }

    /// When a running job is expected to end: its estimate, or a second from now.
    fn expected(&self, job: usize, now: u64) -> u64 {
        let end = self.planned_end(job);
        if end > now { end } else { now + SECOND }
    }

    /// What runs and what is reserved.
    fn sketch(&self, now: u64) -> Sketch {
        let mut taken = self.book.to_vec();
        for job in &self.running {
            taken.push(Taken { from: now, to: self.expected(*job, now), procs: self.jobs[*job].procs });
        }
        Sketch { machine: self.machine, taken }
    }

    fn free(&self, now: u64) -> u64 {
        let running: u64 = self.running.iter().map(|job| self.jobs[*job].procs).sum();
        let booked: u64 = self.book.iter().filter(|b| b.from <= now && now < b.to).map(|b| b.procs).sum();
        self.machine - running - booked
    }

    fn begin(&mut self, job: usize, now: u64) {
        self.waiting.retain(|other| *other != job);
        self.running.push(job);
        self.start[job] = Some(now);
    }

    fn pass(&mut self, which: Which, now: u64) {
        match which {
            Which::Fcfs => self.heads(now),
            Which::Easy(order) if self.book.is_empty() => self.easy(order, now),
            Which::Easy(order) => self.easy_around_reservations(order, now),
            Which::Conservative(_) => {
                self.replan_if_loose(now);
                let mut due: Vec<usize> =
                    self.waiting.iter().copied().filter(|job| self.planned[*job] <= now).collect();
                due.sort_by_key(|job| (self.planned[*job], *job));
                for job in due {
                    assert!(self.jobs[job].procs <= self.free(now), "the plan holds");
                    self.begin(job, now);
                }
            }
        }
    }

    fn heads(&mut self, now: u64) {
        while let Some(head) = self.waiting.first().copied() {
            if self.jobs[head].procs > self.free(now) {
                break;
            }
            self.begin(head, now);
        }
    }

    fn in_order(&self, order: BackfillOrder, now: u64) -> Vec<usize> {
        let mut others: Vec<usize> = self.waiting[1..].to_vec();
        let estimate = |job: &usize| u128::from(self.jobs[*job].estimate);
        let wait = |job: &usize| u128::from(now - self.jobs[*job].submit);
        match order {
            BackfillOrder::Fcfs => {}
            BackfillOrder::Sjf => others.sort_by_key(estimate),
            BackfillOrder::Ljf => others.sort_by_key(|job| std::cmp::Reverse(estimate(job))),
            BackfillOrder::Saf => others.sort_by_key(|job| estimate(job) * u128::from(self.jobs[*job].procs)),
            // (wait + estimate) / estimate, largest first, compared exactly.
            BackfillOrder::Lxf => others.sort_by(|a, b| {
                ((wait(b) + estimate(b)) * estimate(a)).cmp(&((wait(a) + estimate(a)) * estimate(b)))
            }),
        }
        others
    }

    /// Mu'alem and Feitelson 2001: shadow time and extra processors.
    fn easy(&mut self, order: BackfillOrder, now: u64) {
        self.heads(now);
        let Some(head) = self.waiting.first().copied() else { return };
        let needed = self.jobs[head].procs;
        let mut ends: Vec<(u64, u64)> =
            self.running.iter().map(|job| (self.expected(*job, now), self.jobs[*job].procs)).collect();
        ends.sort_unstable();
        let (mut sum, mut shadow) = (self.free(now), None);
        for (end, procs) in &ends {
            sum += procs;
            if sum >= needed {
                shadow = Some(*end);
                break;
            }
        }
        let shadow = shadow.expect("the machine is large enough");
        let at_shadow: u64 = ends.iter().filter(|(end, _)| *end <= shadow).map(|(_, procs)| procs).sum();
        let mut extra = self.free(now) + at_shadow - needed;
        for job in self.in_order(order, now) {
            let Twin { procs, estimate, .. } = self.jobs[job];
            let in_time = now + estimate <= shadow;
            if procs <= self.free(now) && (in_time || procs <= extra) {
                if !in_time {
                    extra -= procs;
                }
                self.begin(job, now);
            }
        }
    }

    /// The same with a timetable: nobody runs into a reservation, and nobody delays the first.
    fn easy_around_reservations(&mut self, order: BackfillOrder, now: u64) {
        let mut sketch = self.sketch(now);
        while let Some(head) = self.waiting.first().copied() {
            let twin = self.jobs[head];
            if !sketch.fits(now, &twin) {
                let start = sketch.earliest(now, &twin);
                sketch.take(start, &twin);
                break;
            }
            sketch.take(now, &twin);
            self.begin(head, now);
        }
        if self.waiting.is_empty() {
            return;
        }
        for job in self.in_order(order, now) {
            let twin = self.jobs[job];
            if sketch.fits(now, &twin) {
                sketch.take(now, &twin);
                self.begin(job, now);
            }
        }
    }

    /// What runs, what is reserved, and what is planned for others.
    fn timetable(&self, now: u64, among: &[usize], except: usize) -> Sketch {
        let mut sketch = self.sketch(now);
        for job in among.iter().filter(|job| **job != except) {
            sketch.take(self.planned[*job], &self.jobs[*job]);
        }
        sketch
    }

    fn promise(&mut self, job: usize, now: u64) {
        self.planned[job] = self.timetable(now, &self.waiting, job).earliest(now, &self.jobs[job]);
        self.promised[job] = self.planned[job];
        self.waiting.push(job);
    }

    fn compress(&mut self, how: Compress, now: u64) {
        let mut order = self.waiting.clone();
        match how {
            Compress::None => return,
            Compress::Submission => {}
            Compress::Start => order.sort_by_key(|job| (self.planned[*job], *job)),
        }
        for job in order {
            let start = self.timetable(now, &self.waiting, job).earliest(now, &self.jobs[job]);
            assert!(start <= self.planned[job], "compression delays nobody");
            self.planned[job] = start;
        }
    }

    /// While a job is overdue no promise can be kept: all is planned anew, in order of promised start.
    fn replan_if_loose(&mut self, now: u64) {
        let overdue = self.running.iter().any(|job| self.planned_end(*job) <= now);
        if overdue || self.loose {
            let mut order = self.waiting.clone();
            order.sort_by_key(|job| (self.planned[*job], *job));
            for (at, job) in order.iter().enumerate() {
                self.planned[*job] = self.timetable(now, &order[..at], *job).earliest(now, &self.jobs[*job]);
            }
        }
        self.loose = overdue;
    }

    /// One pass an instant: ends, arrivals, pass; what has no length ends in another round of the instant.
    fn instant(&mut self, which: Which) {
        let (mut now, mut next) = (0, 0);
        loop {
            loop {
                let over: Vec<usize> = self.running.iter().copied().filter(|j| self.end(*j) <= now).collect();
                self.running.retain(|job| !over.contains(job));
                if let Which::Conservative(how) = which {
                    // Also: if it was overdue, what was planned behind it can come now.
                    self.replan_if_loose(now);
                    if !over.is_empty() {
                        self.compress(how, now);
                    }
                }
                while next < self.jobs.len() && self.jobs[next].submit <= now {
                    match which {
                        Which::Conservative(_) => self.promise(next, now),
                        _ => self.waiting.push(next),
                    }
                    next += 1;
                }
                self.pass(which, now);
                if !self.running.iter().any(|job| self.end(*job) <= now) {
                    break;
                }
            }
            let submits = self.jobs.get(next).map(|job| job.submit);
            let ends = self.running.iter().map(|job| self.end(*job));
            let edges = self.book.iter().flat_map(|b| [b.from, b.to]);
            let plans = match which {
                // Behind an overdue job a planned start is a guess that brings no pass.
                Which::Conservative(_) if !self.loose => {
                    self.waiting.iter().map(|job| self.planned[*job]).min()
                }
                _ => None,
            };
            let times = submits.into_iter().chain(ends).chain(edges).chain(plans);
            match times.filter(|time| *time > now).min() {
                Some(time) => now = time,
                None => break,
            }
        }
    }

    /// One pass an event, literally: reservations that are over, submissions, terminations (in order of start), reservations
    /// that begin, a pass after each; half-open predicted slices; decided starts hold processors from the decision and run once all terminations are through.
    fn event(&mut self, which: Which) {
        let (mut now, mut next) = (0, 0);
        loop {
            let edges = |time: fn(&Taken) -> u64| self.book.iter().filter(move |b| time(b) == now);
            let mut decided: Vec<usize> = Vec::new();
            let mut events: Vec<Event> = edges(|b| b.to).map(|_| Event::Edge).collect();
            while next < self.jobs.len() && self.jobs[next].submit <= now {
                events.push(Event::Submission(next));
                next += 1;
            }
            let over = self.running.iter().filter(|job| self.end(**job) <= now);
            events.extend(over.map(|job| Event::Termination(*job)));
            events.extend(edges(|b| b.from).map(|_| Event::Edge));
            for event in events {
                match (event, which) {
                    (Event::Submission(job), Which::Conservative(_)) => self.promise_event(job, now),
                    (Event::Submission(job), _) => self.waiting.push(job),
                    (Event::Termination(job), _) => {
                        self.running.retain(|other| *other != job);
                        if let Which::Conservative(how) = which {
                            self.compress_event(how, now);
                        }
                    }
                    (Event::Edge, _) => {}
                }
                if matches!(which, Which::Conservative(_)) {
                    self.decide(&mut decided, now);
                } else {
                    // Whose slice is over is free, whether or not its termination has been through.
                    let hidden: Vec<usize> =
                        self.running.iter().copied().filter(|job| self.planned_end(*job) <= now).collect();
                    self.running.retain(|job| !hidden.contains(job));
                    match which {
                        Which::Easy(order) if self.book.is_empty() => self.easy(order, now),
                        Which::Easy(order) => self.easy_around_reservations(order, now),
                        _ => self.heads(now),
                    }
                    self.running.extend(hidden);
                    self.running.sort_by_key(|job| self.start[*job]);
                }
            }
            if matches!(which, Which::Conservative(_)) {
                self.decide(&mut decided, now);
                decided.into_iter().for_each(|job| self.begin(job, now));
            }
            let submits = self.jobs.get(next).map(|job| job.submit);
            let ends = self.running.iter().map(|job| self.end(*job));
            let edges = self.book.iter().flat_map(|b| [b.from, b.to]);
            let plans = self.waiting.iter().map(|job| self.planned[*job]).min().filter(|p| *p < u64::MAX);
            match submits.into_iter().chain(ends).chain(edges).chain(plans).filter(|time| *time > now).min() {
                Some(time) => now = time,
                None => break,
            }
        }
    }

    /// Conservative: whose reserved start has come. They will end in the order in which they were decided.
    fn decide(&self, decided: &mut Vec<usize>, now: u64) {
        let due = self.waiting.iter().copied().filter(|job| self.planned[*job] <= now);
        let mut due: Vec<usize> = due.filter(|job| !decided.contains(job)).collect();
        due.sort_by_key(|job| (self.planned[*job], *job));
        decided.extend(due);
    }

    /// As [`World::timetable`], with slices that are over left out even if the job is still to terminate.
    fn timetable_event(&self, now: u64, except: usize) -> Sketch {
        let mut taken = self.book.to_vec();
        for job in self.running.iter().filter(|job| self.planned_end(**job) > now) {
            taken.push(Taken { from: now, to: self.planned_end(*job), procs: self.jobs[*job].procs });
        }
        let mut sketch = Sketch { machine: self.machine, taken };
        for job in self.waiting.iter().filter(|job| **job != except) {
            sketch.take(self.planned[*job], &self.jobs[*job]);
        }
        sketch
    }

    fn promise_event(&mut self, job: usize, now: u64) {
        self.planned[job] = self.timetable_event(now, job).earliest(now, &self.jobs[job]);
        self.promised[job] = self.planned[job];
        self.waiting.push(job);
    }

    fn compress_event(&mut self, how: Compress, now: u64) {
        let mut order = self.waiting.clone();
        match how {
            Compress::None => return,
            Compress::Submission => {}
            Compress::Start => order.sort_by_key(|job| (self.planned[*job], *job)),
        }
        for job in order {
            self.planned[job] = self.timetable_event(now, job).earliest(now, &self.jobs[job]);
        }
    }
}

/// The twin's starts by job, in microseconds.
fn twin_starts(world: World<'_>) -> Vec<u64> {
    world.start.into_iter().map(|start| start.expect("every job starts")).collect()
}

// ---- random workloads ----

#[derive(Clone)]
struct Setup {
    spec: SiteSpec,
    jobs: Vec<Job>,
}

impl std::fmt::Debug for Setup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        support::show(f, &self.spec, &self.jobs)
    }
}

/// The jobs as the twins see them: whole blocks, scaled to the partition's speed, cut at the estimate.
fn twins(setup: &Setup) -> Vec<Twin> {
    let part = &setup.spec.partitions[0];
    let scaled =
        |span: Span| (u128::from(span.micros()) << 20).div_ceil(u128::from(part.speed().units())) as u64;
    let twin = |job: &Job| Twin {
        submit: job.submit.micros(),
        procs: u64::from(job.size.preferred().div_ceil(part.allocation_unit) * part.allocation_unit),
        run: scaled(if setup.spec.overrun { job.runtime } else { job.runtime.min(job.estimate) }),
        estimate: scaled(job.estimate).max(1),
    };
    setup.jobs.iter().map(twin).collect()
}

fn book(spec: &SiteSpec) -> Vec<Taken> {
    let part = &spec.partitions[0];
    let taken = |r: &gridemu::model::Reservation| Taken {
        from: r.start.micros(),
        to: r.end.micros(),
        procs: u64::from(part.rounded(r.procs)),
    };
    spec.reservations.iter().map(|(_, r)| taken(r)).collect()
}

fn capacity(spec: &SiteSpec) -> u64 {
    u64::from(spec.partitions[0].most())
}

/// `(gap, procs, runtime, error of the estimate)`; many gaps are nothing at all.
fn raw(most: usize) -> impl Strategy<Value = Vec<(u64, u32, u64, i64)>> {
    let gap = prop_oneof![3 => Just(0_u64), 3 => 1_u64..6, 1 => 6_u64..60];
    let runtime = prop_oneof![1 => Just(0_u64), 6 => 1_u64..25, 2 => 25_u64..120];
    let error = prop_oneof![3 => Just(0_i64), 3 => 1_i64..40, 2 => -20_i64..0];
    vec((gap, 1_u32..12, runtime, error), 1..most)
}

fn workload(raw: Vec<(u64, u32, u64, i64)>, machine: u32) -> Vec<Job> {
    let mut submit = 0;
    let build = |(at, (gap, procs, runtime, error)): (usize, (u64, u32, u64, i64))| {
        submit += gap;
        let estimate = runtime.saturating_add_signed(error);
        support::job(at as u64 + 1, submit, procs.min(machine), runtime).estimate(estimate)
    };
    raw.into_iter().enumerate().map(build).collect()
}

/// A machine of odd sizes, speeds and blocks, and a workload for it.
fn setups(most: usize) -> impl Strategy<Value = Setup> {
    let speed =
        prop_oneof![4 => Just((1_u64, 1_u64)), 1 => Just((2, 1)), 1 => Just((1, 2)), 1 => Just((3, 7))];
    let allocation_unit = prop_oneof![3 => Just(1_u32), 1 => 2_u32..4];
    (raw(most), 3_u32..14, speed, allocation_unit, any::<bool>()).prop_map(
        |(raw, machine, (num, den), allocation_unit, overrun)| {
            let mut spec = site(machine, "fcfs");
            spec.partitions[0].groups[0].speed = Rate::ratio(num, den);
            spec.partitions[0].allocation_unit = allocation_unit;
            spec.overrun = overrun;
            let most = spec.partitions[0].most();
            Setup { jobs: workload(raw, most), spec }
        },
    )
}

/// Reservations that the machine can hold, of which at most two overlap.
fn reserved(setup: Setup, wanted: &[(u64, u64, u32)]) -> Setup {
    let mut spec = setup.spec;
    spec.overrun = false;
    for (at, (start, length, procs)) in wanted.iter().enumerate() {
        let grown = reserve(spec.clone(), &format!("r{at}"), *start, start + length, *procs);
        if grown.check().is_ok() {
            spec = grown;
        }
    }
    Setup { spec, ..setup }
}

const ORDERS: [(BackfillOrder, &str); 5] = [
    (BackfillOrder::Fcfs, "fcfs"),
    (BackfillOrder::Sjf, "sjf"),
    (BackfillOrder::Ljf, "ljf"),
    (BackfillOrder::Saf, "saf"),
    (BackfillOrder::Lxf, "lxf"),
];

const COMPRESS: [(Compress, &str); 3] =
    [(Compress::Submission, "submission"), (Compress::Start, "start"), (Compress::None, "none")];

fn policies() -> impl Strategy<Value = (Which, String)> {
    let easy = ORDERS.map(|(order, name)| (Which::Easy(order), format!("easy[order={name}]")));
    let conservative =
        COMPRESS.map(|(how, name)| (Which::Conservative(how), format!("conservative[compress={name}]")));
    let all: Vec<(Which, String)> =
        std::iter::once((Which::Fcfs, "fcfs".to_owned())).chain(easy).chain(conservative).collect();
    proptest::sample::select(all)
}

fn starts(ran: &Ran) -> Vec<u64> {
    ran.starts().into_values().map(|start| start.expect("every job starts")).collect()
}

fn under(setup: &Setup, policy: &str) -> Ran {
    let spec = SiteSpec { policy: policy.parse().expect("a policy's name"), ..setup.spec.clone() };
    let ran = run(&spec, &setup.jobs);
    support::check(&spec, &setup.jobs, &ran, Law::default());
    ran
}

proptest! {
    #![proptest_config(crate::support::cases(1500))]

    #[test]
    fn one_pass_an_instant_is_what_the_papers_say(setup in setups(40), (which, policy) in policies()) {
        let jobs = twins(&setup);
        let mut twin = World::new(capacity(&setup.spec), &jobs, &[]);
        twin.instant(which);
        if let Which::Conservative(_) = which && !setup.spec.overrun {
            for (job, start) in twin.start.iter().enumerate() {
                prop_assert!(start.unwrap() <= twin.promised[job], "the twin keeps its promises");
            }
        }
        prop_assert_eq!(starts(&under(&setup, &policy)), twin_starts(twin), "{}", policy);
    }

    #[test]
    fn reservations_are_planned_around(
        setup in setups(30),
        (which, policy) in policies(),
        wanted in vec((0_u64..150, 1_u64..60, 1_u32..8), 1..4),
    ) {
        let (which, policy) = match which {
            Which::Fcfs => (Which::Easy(BackfillOrder::Fcfs), "easy".to_owned()), // keeps none
            _ => (which, policy),
        };
        let setup = reserved(setup, &wanted);
        let (jobs, book) = (twins(&setup), book(&setup.spec));
        let mut twin = World::new(capacity(&setup.spec), &jobs, &book);
        twin.instant(which);
        prop_assert_eq!(starts(&under(&setup, &policy)), twin_starts(twin), "{}", policy);
    }

    /// The convention of pyss, which is not defined for jobs of no length nor for overrun.
    #[test]
    fn one_pass_an_event_is_what_pyss_does(
        setup in setups(40),
        (which, policy) in policies(),
        wanted in prop_oneof![2 => Just(Vec::new()), 1 => vec((0_u64..150, 1_u64..60, 1_u32..8), 1..4)],
    ) {
        let mut setup = if which == Which::Fcfs { setup } else { reserved(setup, &wanted) };
        (setup.spec.overrun, setup.spec.order) = (false, InstantOrder::Event);
        for job in &mut setup.jobs {
            job.runtime = job.runtime.max(Span::SECOND);
            job.estimate = job.estimate.max(Span::SECOND);
        }
        let (jobs, book) = (twins(&setup), book(&setup.spec));
        let mut twin = World::new(capacity(&setup.spec), &jobs, &book);
        twin.event(which);
        prop_assert_eq!(starts(&under(&setup, &policy)), twin_starts(twin), "{}", policy);
    }
}

// ---- EASY's index against its own plan on the full profile ----

fn planned() -> PolicyInfo {
    PolicyInfo::new("planned", |named| {
        let order = named.take_choice("order", &ORDERS.map(|(order, name)| (name, order)))?;
        let able = Abilities { keeps_reservations: true, ..Abilities::PLAIN };
        Ok((Box::new(Easy::new(order.unwrap_or_default()).planned()), able))
    })
    .doc("EASY that plans on the full profile at every pass.")
}

/// A machine that is far too small for what comes, so that hundreds wait.
fn crowded() -> impl Strategy<Value = Setup> {
    let runtime = prop_oneof![4 => 1_u64..60, 3 => 60_u64..900, 1 => Just(0_u64)];
    let error = prop_oneof![2 => Just(0_i64), 3 => 1_i64..900, 1 => -300_i64..0];
    let procs = prop_oneof![4 => 1_u32..9, 2 => 9_u32..65, 1 => Just(16_u32)];
    let gap = prop_oneof![2 => Just(0_u64), 1 => 1_u64..8];
    let jobs = vec((gap, procs, runtime, error), 250..500);
    (jobs, 40_u32..70, any::<bool>(), any::<bool>()).prop_map(|(raw, machine, overrun, event)| {
        let mut spec = site(machine, "fcfs");
        spec.overrun = overrun;
        spec.order = if event { InstantOrder::Event } else { InstantOrder::Instant };
        Setup { jobs: workload(raw, machine), spec }
    })
}

proptest! {
    #![proptest_config(crate::support::cases(40))]

    #[test]
    fn the_index_of_easy_finds_what_the_full_profile_finds(setup in crowded()) {
        let registry = Registry::standard().with(planned());
        for (_, order) in ORDERS {
            let fast = under(&setup, &format!("easy[order={order}]"));
            let policy = format!("planned[order={order}]").parse().unwrap();
            let slow = run_with(&registry, &SiteSpec { policy, ..setup.spec.clone() }, &setup.jobs);
            prop_assert_eq!(fast.starts(), slow.starts(), "{} {:?}", order, setup.spec.order);
            prop_assert!(fast.tally.longest_queue > 60, "a queue of {}", fast.tally.longest_queue);
        }
    }
}

#[test]
fn the_sketch_finds_the_first_gap() {
    let twin = |procs, estimate| Twin { submit: 0, procs, run: estimate, estimate };
    let mut sketch = Sketch { machine: 4, ..Sketch::default() };
    sketch.take(0, &twin(3, 10));
    sketch.take(12, &twin(2, 8));
    assert_eq!(sketch.earliest(0, &twin(1, 100)), 0);
    assert_eq!(sketch.earliest(0, &twin(4, 2)), 10);
    assert_eq!(sketch.earliest(0, &twin(4, 3)), 20);
    assert_eq!(sketch.earliest(0, &twin(2, 30)), 10);
    assert_eq!(Time::from_micros(sketch.earliest(11, &twin(2, 1))), Time::from_micros(11));
}
