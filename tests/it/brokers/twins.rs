//! Every policy once more, as `docs/brokers.md` has it and without a care for speed, from the bare fields of a pool.

use ethnum::I256;
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

/// The values of a day as they are believed at an instant.
struct Believed {
    values: Vec<i64>,
    starts_at: u128,
    now: u128,
    yesterday: bool,
}

const DAY: u128 = 86_400_000_000;

impl Believed {
    /// When any of the days here may change after an instant, where the run begins at that time of day: every half hour, and a day after the run began.
    fn steps(starts_at: u128, after: u128) -> impl Iterator<Item = u128> {
        let half = DAY / 48;
        let halves = (1 + after / half..).map(move |at| at * half - starts_at % half);
        halves.flat_map(move |at| {
            let day = at / DAY * DAY;
            [Some(day).filter(|day| at - day < half && at > *day), Some(at)].into_iter().flatten()
        })
    }

    fn truly(&self, at: u128) -> i64 {
        let length = DAY / self.values.len() as u128;
        self.values[((at + self.starts_at) / length) as usize % self.values.len()]
    }

    fn at(&self, at: u128) -> i64 {
        let length = DAY / self.values.len() as u128;
        let known = ((self.now + self.starts_at) / length + 1) * length - self.starts_at;
        if !self.yesterday || at < known {
            return self.truly(at);
        }
        let days = (at - known) / DAY + 1;
        at.checked_sub(days * DAY).map_or_else(|| self.truly(self.now), |then| self.truly(then))
    }

    /// The integral from an instant on, step by step; of many days, all from the second on are alike.
    fn over(&self, from: u128, run: u128) -> i128 {
        if let [value] = self.values[..] {
            return i128::from(value) * run as i128;
        }
        let days = (run / DAY).saturating_sub(1);
        if days > 1 {
            let (first, rest) = (self.over(from, DAY), self.over(from + DAY, run - days * DAY));
            return first + (days - 1) as i128 * self.over(from + DAY, DAY) + rest;
        }
        let (mut at, mut sum) = (from, 0);
        let steps = Self::steps(self.starts_at, from);
        for next in steps.skip_while(|step| *step <= from).take_while(|step| *step < from + run) {
            sum += i128::from(self.at(at)) * (next - at) as i128;
            at = next;
        }
        sum + i128::from(self.at(at)) * (from + run - at) as i128
    }
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

    /// The pools of the least weighted sum, those first that complete earlier.
    fn weighted(&self, job: &Job, present: &[usize]) -> Vec<usize> {
        let among: Vec<usize> = present.iter().copied().filter(|at| self.start(*at, job).is_some()).collect();
        let mut sums = vec![0; self.pools.len()];
        for (key, default) in [("time", 1.0), ("price", 1.0), ("energy", 0.0), ("carbon", 0.0)] {
            let written = self.param(key);
            let weight: f64 = if written.is_empty() { default } else { written.parse().expect("a number") };
            let name = match key {
                "price" => "cheapest",
                "energy" => "greenest",
                _ => "lowest-carbon",
            };
            let mut goal =
                Self { named: self.named.clone(), next: 0, now: self.now, pools: self.pools.clone() };
            goal.named.name = name.to_owned();
            let value = |at: usize| -> Option<I256> {
                if key == "time" {
                    return self.completion(at, job).map(I256::from);
                }
                let [unknown, cost] = goal.cost(at, job, self.start(at, job)?);
                (unknown == 0).then(|| I256::from(cost))
            };
            let known: Vec<I256> = among.iter().filter_map(|at| value(*at)).collect();
            let (Some(least), Some(most)) = (known.iter().min(), known.iter().max()) else { continue };
            for at in &among {
                let over = value(*at).unwrap_or(*most) - least;
                let share = if most == least { I256::ZERO } else { over * 1_000_000_000 / (most - least) };
                sums[*at] += (weight * 1e6) as u128 * share.as_u128();
            }
        }
        least(&among, |at| Some(vec![sums[at], self.completion(at, job)?]))
    }

    /// What policies spare whose job starts then, above an offset, and whether it is not known.
    fn cost(&self, at: usize, job: &Job, start: u128) -> [u128; 2] {
        let pool = &self.pools[at];
        let (price, tariff) = pool.facts.rates.described();
        let yesterday = self.param("forecast") == "yesterday";
        let starts_at = tariff.starts_at.micros().into();
        let day = |values: Vec<i64>| Believed { values, starts_at, now: self.now, yesterday };
        let per_kwh = |of: &Option<PerKwh>| match of {
            Some(PerKwh::Day(values)) => Some(day(values.clone())),
            _ => None,
        };
        let mut weight = i128::from(procs(pool, job));
        let believed = match (self.named.name.as_str(), self.param("of")) {
            ("cheapest", "electricity") => per_kwh(&tariff.electricity),
            ("cheapest", _) => {
                let rates = tariff.price_by_hour.unwrap_or(DayRates::FLAT);
                weight *= i128::from(price.nanos());
                Some(day(rates.thousandths().map(|rate| rate as i64).collect()))
            }
            ("lowest-carbon", _) => per_kwh(&tariff.carbon),
            _ => Some(day(vec![1])),
        };
        let Some(believed) = believed else { return [1, 0] };
        if self.named.name != "cheapest" || self.param("of") == "electricity" {
            let busy = pool.facts.busy.milliwatts();
            let idle = if self.param("power") == "busy" { 0 } else { pool.facts.idle.milliwatts() };
            weight *= i128::from(busy - idle) * i128::from(pool.facts.pue_ppm);
        }
        [0, (believed.over(start, run(pool, job)) * weight + (1 << 126)) as u128]
    }

    /// What a job costs least in a pool where it is done by the limit, and the earliest start of which that is so: of all at which the price may change at an end of
    /// the run, and of the first and the last.
    fn best(&self, at: usize, job: &Job, limit: u128) -> Option<([u128; 2], u128)> {
        let (first, run) = (self.start(at, job)?, run(&self.pools[at], job));
        if self.completion(at, job)? > limit {
            return None;
        }
        let horizon = match self.param("horizon") {
            "" => 0,
            span => span.parse::<Span>().expect("a span").micros().into(),
        };
        let last = (limit - run).min(u128::from(job.submit.micros()) + horizon);
        let starts_at = self.pools[at].facts.rates.described().1.starts_at.micros().into();
        let steps = |after: u128| {
            // More than any horizon here.
            Believed::steps(starts_at, after).take(200)
        };
        let ends = steps(first + run).filter_map(|step| step.checked_sub(run));
        let starts = steps(first).chain(ends);
        let between = starts.filter(|start| first < *start && *start < last);
        let all = between.chain([first, last.max(first)]);
        all.map(|start| (self.cost(at, job, start), start)).min()
    }

    fn thrift(&self, job: &Job, present: &[usize]) -> Vec<usize> {
        let completion = |at: usize| self.completion(at, job);
        let limit = self.limit(job, present);
        let in_time: Vec<usize> =
            present.iter().copied().filter(|at| completion(*at).is_some_and(|time| time <= limit)).collect();
        if in_time.is_empty() {
            return least(present, |at| completion(at).map(|time| vec![time]));
        }
        let tie = |at| if self.param("ties") == "pool" { Some(0) } else { completion(at) };
        least(&in_time, |at| {
            let ([unknown, cost], start) = self.best(at, job, limit)?;
            let late = start - self.start(at, job)?;
            let ahead = self.named.params.contains_key("horizon");
            let tie = if tie(at)? == 0 { 0 } else { tie(at)? + late };
            Some(vec![unknown, cost, if ahead { start } else { 0 }, tie])
        })
    }

    /// The limit of a job's completion, if a pool keeps it.
    fn limit(&self, job: &Job, present: &[usize]) -> u128 {
        let within = match self.param("within") {
            "" | "any" => u128::MAX,
            span => span.parse::<Span>().expect("a span").micros().into(),
        };
        let first = present.iter().filter_map(|at| self.completion(*at, job)).min().unwrap_or(0);
        let limit = first.saturating_add(within);
        let deadline = job.deadline().filter(|_| self.param("deadline") != "ignore");
        deadline.map_or(limit, |deadline| limit.min(deadline.micros().into()))
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
            "deadline-first" => first_done(&present),
            "weighted" => self.weighted(job, &present),
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
        if self.named.params.contains_key("horizon")
            && let present = self.fitting(job, &scene.refused[at], |pool| pool.report.present)
            && let Some((_, start)) = self.best(to, job, self.limit(job, &present))
            && self.start(to, job) < Some(start)
        {
            let at_most = |time: u128| Time::from_micros(micros(time));
            let end = start + run(&self.pools[to], job);
            return Planned { job: at, pool: to, start: at_most(start), end: at_most(end) };
        }
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
        let mut order: Vec<usize> = (0..scene.jobs.len()).collect();
        if self.named.name == "deadline-first" {
            order.sort_by_key(|at| (scene.jobs[*at].deadline().unwrap_or(Time::NEVER), *at));
        }
        for at in order {
            let (job, refused) = (&scene.jobs[at], &scene.refused[at]);
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
