//! The mappers once more: jobs are put into lists of what is taken, and every hole is searched for from the beginning.

use gridemu::broker::Pool;
use gridemu::model::{Job, Named};
use gridemu::units::{Money, Time};

use super::scenes::{Planned, Scene};
use super::twins::{procs, run};

/// What is taken of a pool: from, to, processors.
type Taken = Vec<(u128, u128, u32)>;

/// Whether the policy plans before jobs are sent, so that the view does not count what it plans.
pub(super) fn is_static(named: &Named) -> bool {
    matches!(named.name.as_str(), "heft" | "cpop" | "peft" | "cheapest-by-deadline" | "heft-budget")
}

/// Processors that the pool has at a time, by its report: what is free now if nobody waits, else as many as a job that starts then may have.
fn there(pool: &Pool, now: u128, time: u128) -> u32 {
    let report = &pool.report;
    let free = if report.waiting == 0 { report.free } else { 0 };
    let steps = report.start_estimates.steps.iter();
    let started =
        steps.filter(|(_, start)| u128::from(start.micros()).max(now) <= time).map(|(procs, _)| *procs);
    started.max().unwrap_or(0).max(free)
}

struct Holes<'a> {
    scene: &'a Scene,
    taken: Vec<Taken>,
}

impl Holes<'_> {
    fn now(&self) -> u128 {
        self.scene.now.micros().into()
    }

    /// The earliest start and end of a job in a pool.
    fn place(&self, at: usize, pool: usize) -> Option<Planned> {
        let (job, refused, facts) = (&self.scene.jobs[at], &self.scene.refused[at], &self.scene.pools[pool]);
        let (procs, run) = (procs(facts, job), run(facts, job));
        if !facts.open
            || refused.contains(&facts.facts.id)
            || procs > facts.report.present
            || run >= u128::from(u64::MAX)
        {
            return None;
        }
        let steps = facts.report.start_estimates.steps.iter().map(|(_, start)| u128::from(start.micros()));
        let from = ready(facts, job, self.now());
        let mut starts: Vec<u128> =
            steps.chain(self.taken[pool].iter().map(|(_, to, _)| *to)).chain([from]).collect();
        starts.retain(|start| *start >= from);
        starts.sort_unstable();
        let free = |time: u128| {
            let taken = self.taken[pool].iter().filter(|(from, to, _)| *from <= time && time < *to);
            i64::from(there(facts, self.now(), time))
                - taken.map(|(_, _, procs)| i64::from(*procs)).sum::<i64>()
        };
        let fits = |start: &u128| {
            let begins = self.taken[pool]
                .iter()
                .map(|(from, _, _)| *from)
                .filter(|from| *start < *from && *from < *start + run);
            begins.chain([*start]).all(|time| free(time) >= i64::from(procs))
        };
        let start = starts.into_iter().find(fits)?;
        let time = |micros: u128| u64::try_from(micros).ok().map(Time::from_micros);
        Some(Planned { job: at, pool, start: time(start)?, end: time(start + run)? })
    }

    fn places(&self, at: usize) -> Vec<Planned> {
        let mut places: Vec<Planned> =
            (0..self.taken.len()).filter_map(|pool| self.place(at, pool)).collect();
        places.sort_by_key(|place| (place.end, place.pool));
        places
    }

    fn take(&mut self, placed: Planned) {
        let procs = procs(&self.scene.pools[placed.pool], &self.scene.jobs[placed.job]);
        let span = (placed.start.micros().into(), placed.end.micros().into(), procs);
        self.taken[placed.pool].push(span);
    }
}

fn ready(pool: &Pool, job: &Job, now: u128) -> u128 {
    let latency = u128::from(pool.facts.latency.micros());
    let input = job.grid.as_ref().map_or(0, |grid| grid.input.count());
    if input == 0 {
        return now + latency;
    }
    let bits = u128::from(input) * 8;
    now + 2 * latency + pool.facts.bandwidth.map_or(0, |b| (bits * 1_000_000).div_ceil(b.bits().into()))
}

fn suffers(places: &[Planned]) -> u64 {
    places.get(1).map_or(0, |second| second.end.micros() - places[0].end.micros())
}

/// Again and again the job whose places have the greatest key, of those the first.
fn one_by_one(scene: &Scene, key: impl Fn(&[Planned]) -> i128) -> Vec<Planned> {
    let mut holes = Holes { scene, taken: vec![Taken::new(); scene.pools.len()] };
    let (mut plan, mut left): (Vec<Planned>, Vec<usize>) = (Vec::new(), (0..scene.jobs.len()).collect());
    loop {
        let all = left.iter().map(|job| holes.places(*job)).filter(|places| !places.is_empty());
        let Some(best) = all.rev().max_by_key(|places| key(places)).map(|places| places[0]) else {
            return plan;
        };
        holes.take(best);
        plan.push(best);
        left.retain(|job| *job != best.job);
    }
}

fn by_passes(scene: &Scene) -> Vec<Planned> {
    let mut holes = Holes { scene, taken: vec![Taken::new(); scene.pools.len()] };
    let (mut plan, mut left): (Vec<Planned>, Vec<usize>) = (Vec::new(), (0..scene.jobs.len()).collect());
    loop {
        let mut claims: Vec<Option<(u64, Planned)>> = vec![None; scene.pools.len()];
        for job in &left {
            let places = holes.places(*job);
            let Some(first) = places.first() else { continue };
            let claim = &mut claims[first.pool];
            if claim.is_none_or(|(held, _)| suffers(&places) > held) {
                *claim = Some((suffers(&places), *first));
            }
        }
        let granted: Vec<Planned> = claims.into_iter().flatten().map(|(_, placed)| placed).collect();
        if granted.is_empty() {
            return plan;
        }
        for placed in granted {
            holes.take(placed);
            plan.push(placed);
            left.retain(|job| *job != placed.job);
        }
    }
}

/// What a mapper plans, in the order of its decisions; `None` for other policies.
pub(super) fn slow_map(named: &Named, scene: &Scene) -> Option<Vec<Planned>> {
    let end = |places: &[Planned]| i128::from(places[0].end.micros());
    let makespan = |plan: &[Planned]| plan.iter().map(|placed| placed.end).max();
    let mut plan = match named.name.as_str() {
        "min-min" => one_by_one(scene, |places| -end(places)),
        "max-min" => one_by_one(scene, end),
        "duplex" => {
            let (min, max) = (one_by_one(scene, |places| -end(places)), one_by_one(scene, end));
            if makespan(&max) < makespan(&min) { max } else { min }
        }
        "sufferage" if named.params.get("commit").is_some_and(|commit| commit == "one") => {
            one_by_one(scene, |places| suffers(places).into())
        }
        "sufferage" => by_passes(scene),
        // Jobs that wait for none are planned one after the other. None has a budget here.
        "heft" | "cpop" | "peft" | "cheapest-by-deadline" | "heft-budget" => {
            let mut holes = Holes { scene, taken: vec![Taken::new(); scene.pools.len()] };
            let mut plan = Vec::new();
            for job in 0..scene.jobs.len() {
                let mut places = holes.places(job);
                if named.name == "cpop" {
                    // It is its own critical path.
                    places.sort_by_key(|place| (place.end.micros() - place.start.micros(), place.pool));
                }
                if named.name == "cheapest-by-deadline" {
                    let due = scene.jobs[job].deadline().unwrap_or(Time::NEVER);
                    places.sort_by_key(|place| {
                        let facts = &scene.pools[place.pool];
                        let run = place.end.since(place.start);
                        let cost = facts.facts.rates.cost(procs(facts, &scene.jobs[job]), place.start, run);
                        let late = place.end > due;
                        (late, if late { Money::ZERO } else { cost }, place.end, place.pool)
                    });
                }
                if let Some(first) = places.first() {
                    holes.take(*first);
                    plan.push(*first);
                }
            }
            return Some(plan);
        }
        _ => return None,
    };
    plan.sort_by_key(|placed| placed.start);
    Some(plan)
}
