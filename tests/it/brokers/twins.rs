//! Every policy once more, as `docs/brokers.md` has it and without a care for speed, from the bare fields of a pool.

use gridemu::broker::Pool;
use gridemu::model::{DayRates, Job, Named, PerKwh, PoolId, Size};
use gridemu::units::{Span, Time};
use gridemu::workload::random::Stream;
use rand::Rng;

use super::mappers::{is_static, slow_map};
use super::scenes::{Planned, Scene};

/// The slow twin of a policy.
pub(super) struct Twin {
    named: Named,
    /// Whose turn it is under `round-robin`.
    next: usize,
    now: u128,
    pools: Vec<Pool>,
}

/// A plan with what else it might have been.
pub(super) struct Slow {
    pub(super) plan: Vec<Planned>,
    /// For each assignment, the pools that were as good.
    pub(super) ties: Vec<Vec<usize>>,
    pub(super) pools: Vec<Pool>,
}

fn micros(micros: u128) -> u64 {
    u64::try_from(micros).unwrap_or(u64::MAX)
}

pub(super) fn procs(pool: &Pool, job: &Job) -> u32 {
    let rounded = |procs: u32| (procs..).find(|n| n % pool.facts.allocation_unit == 0).expect("a multiple");
    let wanted = rounded(job.size.preferred());
    if wanted <= pool.facts.processors { wanted } else { pool.facts.processors.max(rounded(job.size.min())) }
}

pub(super) fn run(pool: &Pool, job: &Job) -> u128 {
    const ONE: u128 = 1 << 20;
    let on = match job.size {
        Size::Rigid(_) => ONE,
        _ => u128::from(job.size.rate_on(procs(pool, job).min(job.size.max())).units()),
    };
    let rate = on * u128::from(pool.facts.speed.units()) / ONE;
    let kept = job.grid.as_ref().map_or(0, |grid| grid.kept.units());
    let left = (u128::from(job.estimate.micros()) * ONE).saturating_sub(kept);
    if left == 0 {
        1
    } else if rate == 0 {
        u64::MAX.into()
    } else {
        left.div_ceil(rate).clamp(1, u64::MAX.into())
    }
}

fn said(pool: &Pool, job: &Job) -> Option<u128> {
    if pool.report.waiting == 0 && pool.report.free >= procs(pool, job) {
        return Some(pool.measured.micros().into());
    }
    let step = pool.report.start_estimates.steps.iter().find(|(most, _)| *most >= procs(pool, job))?;
    Some(step.1.micros().into())
}

fn room(pool: &Pool, job: &Job) -> bool {
    let enough = u64::from(pool.report.free) >= pool.in_flight.procs + u64::from(procs(pool, job));
    enough && said(pool, job).is_some_and(|said| said <= u128::from(pool.measured.micros()))
}

fn queued(pool: &Pool) -> u128 {
    let report = &pool.report;
    let at_once = report.waiting == 0 && pool.in_flight.procs <= report.free.into();
    report.backlog + if at_once { 0 } else { pool.in_flight.area }
}

/// The integral of the values of a day from an instant on, step by step.
fn walked(values: &[i64], starts_at: Span, from: u128, run: u128) -> i128 {
    let length = 86_400_000_000 / values.len() as u128;
    let (mut at, end, mut sum) =
        (from + u128::from(starts_at.micros()), from + u128::from(starts_at.micros()) + run, 0);
    while at < end {
        let next = (at / length + 1) * length;
        let value = values[(at / length) as usize % values.len()];
        sum += i128::from(value) * (next.min(end) - at) as i128;
        at = next;
    }
    sum
}

/// The pools of the least key; those without one are out.
fn least(among: &[usize], key: impl Fn(usize) -> Option<Vec<u128>>) -> Vec<usize> {
    let best = among.iter().filter_map(|at| key(*at)).min();
    among.iter().copied().filter(|at| best.is_some() && key(*at) == best).collect()
}

impl Twin {
    pub(super) fn new(written: &str) -> Self {
        let written = if written == "olb" { "least-loaded[by=start]" } else { written };
        Self { named: written.parse().expect(written), next: 0, now: 0, pools: Vec::new() }
    }

    fn param(&self, key: &str) -> &str {
        self.named.params.get(key).map_or("", String::as_str)
    }

    /// When the job and its input can be there.
    fn there(&self, at: usize, job: &Job) -> u128 {
        let pool = &self.pools[at];
        let latency = u128::from(pool.facts.latency.micros());
        let mut ready = self.now + latency;
        if let Some(grid) = job.grid.as_ref().filter(|grid| grid.input.count() > 0) {
            let bits = u128::from(grid.input.count()) * 8;
            ready += latency;
            ready += pool.facts.bandwidth.map_or(0, |b| (bits * 1_000_000).div_ceil(b.bits().into()));
        }
        ready
    }

    fn start(&self, at: usize, job: &Job) -> Option<u128> {
        let (pool, ready) = (&self.pools[at], self.there(at, job));
        let (said, flight) = (said(pool, job)?, &pool.in_flight);
        Some(if flight.jobs == 0 || room(pool, job) {
            said.max(ready)
        } else {
            let begin = said.max(pool.measured.micros().into());
            let behind = begin + flight.area / u128::from(pool.report.present);
            behind.max(flight.until.micros().into()).max(ready)
        })
    }

    /// Counts a job as on its way.
    fn send(&mut self, at: usize, job: &Job) {
        let there = self.there(at, job);
        let pool = &mut self.pools[at];
        let area = u128::from(procs(pool, job)) * run(pool, job);
        let until = there.max(pool.in_flight.until.micros().into());
        let until = until + area / u128::from(pool.report.present.max(1));
        pool.in_flight.jobs += 1;
        pool.in_flight.procs += u64::from(procs(pool, job));
        pool.in_flight.area += area;
        pool.in_flight.until = Time::from_micros(micros(until));
    }

    /// As far as the axis goes.
    fn completion(&self, at: usize, job: &Job) -> Option<u128> {
        Some((self.start(at, job)? + run(&self.pools[at], job)).min(u64::MAX.into()))
    }

    fn fitting(&self, job: &Job, refused: &[PoolId], has: impl Fn(&Pool) -> u32) -> Vec<usize> {
        let fits =
            |pool: &Pool| pool.open && !refused.contains(&pool.facts.id) && procs(pool, job) <= has(pool);
        (0..self.pools.len()).filter(|at| fits(&self.pools[*at])).collect()
    }

    fn load(&self, at: usize, has: u32) -> Vec<u128> {
        let (pool, has) = (&self.pools[at], u128::from(has));
        let report = &pool.report;
        if self.param("by") == "jobs" {
            let jobs = u128::from(report.waiting + report.running + pool.in_flight.jobs);
            return vec![(jobs << 40) / (has * u128::from(pool.facts.speed.units()))];
        }
        let taken = u128::from(report.present - report.free) + u128::from(pool.in_flight.procs);
        vec![queued(pool) / has, taken * 1_000_000 / has]
    }

    /// What policies spare whose job starts then, above an offset, and whether it is not known.
    fn cost(&self, at: usize, job: &Job, start: u128) -> [u128; 2] {
        let pool = &self.pools[at];
        let (price, tariff) = pool.facts.rates.described();
        let day = |values: Vec<i64>| walked(&values, tariff.starts_at, start, run(pool, job));
        let per_kwh = |of: &Option<PerKwh>| match of {
            Some(PerKwh::Day(values)) => Some(day(values.clone())),
            _ => None,
        };
        let integral = match (self.named.name.as_str(), self.param("of")) {
            ("cheapest", "electricity") => per_kwh(&tariff.electricity),
            ("cheapest", _) => {
                let rates = tariff.price_by_hour.unwrap_or(DayRates::FLAT);
                Some(day(rates.thousandths().map(|rate| rate as i64).collect()) * i128::from(price.nanos()))
            }
            ("lowest-carbon", _) => per_kwh(&tariff.carbon),
            _ => Some(day(vec![1])),
        };
        let Some(integral) = integral else { return [1, 0] };
        let mut weight = i128::from(procs(pool, job));
        if self.named.name != "cheapest" || self.param("of") == "electricity" {
            let busy = pool.facts.busy.milliwatts();
            let idle = if self.param("power") == "busy" { 0 } else { pool.facts.idle.milliwatts() };
            weight *= i128::from(busy - idle) * i128::from(pool.facts.pue_ppm);
        }
        [0, (integral * weight + (1 << 126)) as u128]
    }

    fn thrift(&self, job: &Job, present: &[usize]) -> Vec<usize> {
        let completion = |at: usize| self.completion(at, job);
        let within = match self.param("within") {
            "" | "any" => u128::MAX,
            span => span.parse::<Span>().expect("a span").micros().into(),
        };
        let first = present.iter().filter_map(|at| completion(*at)).min().unwrap_or(0);
        let mut limit = first.saturating_add(within);
        if let Some(deadline) = job.deadline().filter(|_| self.param("deadline") != "ignore") {
            limit = limit.min(deadline.micros().into());
        }
        let in_time: Vec<usize> =
            present.iter().copied().filter(|at| completion(*at).is_some_and(|time| time <= limit)).collect();
        if in_time.is_empty() {
            return least(present, |at| completion(at).map(|time| vec![time]));
        }
        let tie = |at| if self.param("ties") == "pool" { Some(0) } else { completion(at) };
        least(&in_time, |at| {
            let [unknown, cost] = self.cost(at, job, self.start(at, job)?);
            Some(vec![unknown, cost, tie(at)?])
        })
    }

    /// The pools that the policy might choose for a job; it takes the first.
    fn choices(&self, job: &Job, refused: &[PoolId]) -> Vec<usize> {
        let present = self.fitting(job, refused, |pool| pool.report.present);
        let would = self.fitting(job, refused, |pool| pool.facts.processors);
        let run = |at: usize| run(&self.pools[at], job);
        let count = self.pools.len();
        let first_done = |among: &[usize]| least(among, |at| self.completion(at, job).map(|time| vec![time]));
        let draw = |at: usize| {
            let assignment = job.grid.as_ref().map_or(0, |grid| grid.assignment) + 1;
            let seed = Stream::new(7, "broker", "random").next_u64();
            let mut stream = Stream::new(seed, &job.id.to_string(), &assignment.to_string());
            (0..=at).map(|_| stream.next_u64()).last().map(|draw| vec![draw.into()])
        };
        let next = if self.next < count { self.next } else { 0 };
        let turn = |at: usize| Some(vec![((at + count - next) % count) as u128]);
        let full = |at: usize| room(&self.pools[at], job).then(|| vec![run(at)]);
        let now = match self.named.name.as_str() {
            "random" => least(&present, draw),
            "round-robin" => least(&present, turn),
            "least-loaded" if self.param("by") == "start" => {
                least(&present, |at| Some(vec![self.start(at, job)?.min(u64::MAX.into())]))
            }
            "least-loaded" => least(&present, |at| Some(self.load(at, self.pools[at].report.present))),
            "fastest-free" => match least(&present, full) {
                none if none.is_empty() && self.param("full") == "queue" => first_done(&present),
                found => found,
            },
            "mct" => first_done(&present),
            "met" => least(&present, |at| Some(vec![run(at)])),
            "cheapest" | "greenest" | "lowest-carbon" => self.thrift(job, &present),
            "pull" => present
                .iter()
                .copied()
                .filter(|at| self.pools[*at].asked >= procs(&self.pools[*at], job))
                .collect(),
            other => panic!("`{other}` has no slow twin"),
        };
        // A pool whose processors are present may be full, but is not absent.
        if !now.is_empty() || self.param("absent") != "queue" || !first_done(&present).is_empty() {
            return now;
        }
        match self.named.name.as_str() {
            "random" => least(&would, draw),
            "round-robin" => least(&would, turn),
            "least-loaded" => least(&would, |at| Some(self.load(at, self.pools[at].facts.processors))),
            "cheapest" | "greenest" | "lowest-carbon" => {
                let tie = |at| if self.param("ties") == "pool" { 0 } else { run(at) };
                least(&would, |at| {
                    let [unknown, cost] = self.cost(at, job, self.there(at, job));
                    Some(vec![unknown, cost, tie(at)])
                })
            }
            _ => least(&would, |at| Some(vec![run(at)])),
        }
    }

    fn assign(&mut self, scene: &Scene, at: usize, to: usize) -> Planned {
        let job = &scene.jobs[at];
        let (start, end) = (self.start(to, job), self.completion(to, job));
        let axis = |time: Option<u128>| Time::from_micros(time.map_or(u64::MAX, micros));
        if scene.count_in_flight {
            self.send(to, job);
        }
        let pool = &mut self.pools[to];
        let procs = procs(pool, job);
        pool.asked = pool.asked.saturating_sub(procs);
        self.next = to + 1;
        Planned { job: at, pool: to, start: axis(start), end: axis(end) }
    }

    pub(super) fn plan(&mut self, scene: &Scene) -> Slow {
        self.now = scene.now.micros().into();
        self.pools.clone_from(&scene.pools);
        if let Some(placed) = slow_map(&self.named, scene) {
            let counts = scene.count_in_flight && !is_static(&self.named);
            for placed in placed.iter().filter(|_| counts) {
                self.send(placed.pool, &scene.jobs[placed.job]);
            }
            for placed in placed.iter().filter(|_| !is_static(&self.named)) {
                let pool = &mut self.pools[placed.pool];
                pool.asked = pool.asked.saturating_sub(procs(pool, &scene.jobs[placed.job]));
            }
            return Slow { ties: vec![Vec::new(); placed.len()], plan: placed, pools: self.pools.clone() };
        }
        let (mut plan, mut ties) = (Vec::new(), Vec::new());
        for (at, (job, refused)) in scene.jobs.iter().zip(&scene.refused).enumerate() {
            let choices = self.choices(job, refused);
            if let Some(first) = choices.first() {
                plan.push(self.assign(scene, at, *first));
                ties.push(choices);
            } else if self.param("pass") == "no"
                && !self.fitting(job, refused, |pool| pool.report.present).is_empty()
            {
                break;
            }
        }
        Slow { plan, ties, pools: self.pools.clone() }
    }
}
