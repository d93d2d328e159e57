//! Pictures by hand and at random.

use std::ops::Range;

use gridemu::broker::{
    Answer, Asked, Bounds, BrokerPolicy, BrokerRegistry, Decision, GridView, InFlight, Pool, PoolFacts,
    PoolForecasts, PoolReport, Rates, Tasks,
};
use gridemu::local::StartEstimates;
use gridemu::model::{
    Equipment, GridContext, Job, Limits, PartitionId, PerKwh, PoolId, SiteId, SiteTariff, Size, Speedup,
};
use gridemu::units::{Bandwidth, Bytes, Power, Price, Rate, Span, Time, Work};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

/// All that a view is made of.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    pub(super) now: Time,
    pub(super) pools: Vec<Pool>,
    pub(super) jobs: Vec<Job>,
    /// The pools that have refused each job.
    pub(super) refused: Vec<Vec<PoolId>>,
    pub(super) count_in_flight: bool,
}

/// A decision, to assign or to put off, with the place of the job among those of the scene and of the pool among its pools.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Planned {
    pub(super) job: usize,
    pub(super) pool: usize,
    pub(super) start: Time,
    pub(super) end: Time,
}

impl From<Decision> for Planned {
    fn from(decision: Decision) -> Self {
        let Decision { task, start, end, act, .. } = decision;
        Self { job: task.index(), pool: act.pool(), start, end }
    }
}

impl Scene {
    /// These pools and jobs at this second, dispatches counted, nothing refused.
    pub(super) fn new(now: u64, pools: Vec<Pool>, jobs: Vec<Job>) -> Self {
        let refused = vec![Vec::new(); jobs.len()];
        Self { now: Time::from_secs(now), pools, jobs, refused, count_in_flight: true }
    }

    /// What the policy plans, and the pools as it leaves them.
    pub(super) fn plan(&self, policy: &mut dyn BrokerPolicy) -> (Vec<Planned>, Vec<Pool>) {
        let before = policy.save();
        let planned = self.plan_over(policy, &self.tasks(0));
        let after = policy.save();
        // It is the same over tasks of which an earlier plan has left the first, or all.
        for left in [self.jobs.len() / 2, self.jobs.len()] {
            policy.restore(&before).expect("its own state");
            assert_eq!(self.plan_over(policy, &self.tasks(left)), planned);
            assert_eq!(policy.save(), after);
        }
        planned
    }

    /// A table of these jobs, the first so many of which a plan has left.
    pub(super) fn tasks(&self, left: usize) -> Tasks {
        let mut tasks = Tasks::new(self.pools.len());
        for ((number, job), refused) in (0..).zip(&self.jobs).zip(&self.refused) {
            let mut job = job.clone();
            job.grid.get_or_insert_default().number = number;
            tasks.enter(Box::new(job), refused.clone());
            if number + 1 == left as u64 {
                tasks.leave();
            }
        }
        tasks
    }

    pub(super) fn plan_over(
        &self,
        policy: &mut dyn BrokerPolicy,
        tasks: &Tasks,
    ) -> (Vec<Planned>, Vec<Pool>) {
        let mut pools = self.pools.clone();
        let mut bounds = Bounds::new(pools.len());
        let view = GridView::new(self.now, &mut pools, tasks, Asked::All, self.count_in_flight);
        let mut view = view.with_bounds(&mut bounds);
        let (Answer::Done(plan) | Answer::Later { plan, .. }) = policy.plan(&mut view) else {
            panic!("an answer at once")
        };
        (plan.into_iter().map(Planned::from).collect(), pools)
    }

    /// What a policy written so plans: `(number of the job, place of the pool, start, end)`, times in seconds.
    pub(super) fn planned(&self, written: &str) -> Vec<(u64, usize, u64, u64)> {
        let (plan, _) = self.plan(&mut *build(written));
        plan.iter().map(|p| (self.jobs[p.job].id.0, p.pool, secs(p.start), secs(p.end))).collect()
    }

    /// Where a policy written so sends which job.
    pub(super) fn places(&self, written: &str) -> Vec<(u64, usize)> {
        let (plan, _) = self.plan(&mut *build(written));
        plan.iter().map(|planned| (self.jobs[planned.job].id.0, planned.pool)).collect()
    }
}

fn secs(time: Time) -> u64 {
    assert_eq!(time.micros() % 1_000_000, 0, "{time} is not a whole second");
    time.micros() / 1_000_000
}

/// The policy that is written so, with seed 7.
pub(super) fn build(written: &str) -> Box<dyn BrokerPolicy> {
    BrokerRegistry::standard().build(&written.parse().expect(written), 7).expect(written).0
}

/// An idle pool that reported at second 0. Speed in percent.
pub(super) fn idle(number: u32, processors: u32, percent: u64) -> Pool {
    Pool::unreported(PoolFacts {
        id: PoolId { site: SiteId(number), partition: PartitionId(0) },
        site: format!("site {number}"),
        partition: "default".to_owned(),
        processors,
        allocation_unit: 1,
        cores: 1,
        equipment: Equipment::default(),
        speed: Rate::ratio(percent, 100),
        groups: Vec::new(),
        idle: Power::ZERO,
        busy: Power::ZERO,
        pue_ppm: 1_000_000,
        rates: Rates::default(),
        latency: Span::ZERO,
        bandwidth: None,
    })
}

/// The pool with all processors taken until this second.
pub(super) fn busy_until(mut pool: Pool, second: u64) -> Pool {
    pool.report.free = 0;
    pool.report.running = 1;
    pool.report.start_estimates =
        StartEstimates { steps: vec![(pool.report.present, Time::from_secs(second))] };
    pool
}

/// The pool with this price a core-hour, in whole units.
pub(super) fn priced(mut pool: Pool, price: u64) -> Pool {
    pool.report.price = Price::from_nanos(price * 1_000_000_000);
    pool.facts.rates = Rates::new(pool.report.price, SiteTariff::default());
    pool
}

/// The pool with these powers of a processor in watts, and this PUE in percent.
pub(super) fn powered(mut pool: Pool, idle: u64, busy: u64, pue_percent: u64) -> Pool {
    pool.facts.idle = Power::from_milliwatts(idle * 1_000);
    pool.facts.busy = Power::from_milliwatts(busy * 1_000);
    pool.facts.pue_ppm = pue_percent * 10_000;
    pool
}

fn speedups() -> impl Strategy<Value = Speedup> {
    prop_oneof![
        Just(Speedup::Linear),
        (0..1_000_000_u32).prop_map(|serial_ppm| Speedup::Amdahl { serial_ppm }),
        vec(1..4_000_000_u64, 1..4).prop_map(|rates| {
            let point = |(at, units): (usize, u64)| (4 * at as u32 + 1, Rate::from_units(units));
            Speedup::Points(rates.into_iter().enumerate().map(point).collect())
        }),
    ]
}

fn sizes() -> impl Strategy<Value = Size> {
    let range = (1..12_u32, 0..12_u32, 0..12_u32, speedups());
    prop_oneof![
        3 => (1..24_u32).prop_map(Size::Rigid),
        1 => range.prop_map(|(min, more, most, speedup)| {
            Size::Moldable { min, preferred: min + more, max: min + more + most, speedup }
        }),
    ]
}

fn jobs() -> impl Strategy<Value = Job> {
    let grid = (0..4_u32, prop_oneof![Just(0), 1..20_000_000_000_u64], 0..u64::from(u32::MAX));
    let deadline = option::of(0..4_000_000_000_u64);
    (0..1_000_u64, sizes(), 0..3_000_000_000_u64, deadline, option::of(grid)).prop_map(
        |(id, size, estimate, deadline, grid)| {
            let mut job = Job::rigid(id, Time::ZERO, 1, Span::from_micros(estimate));
            job.size = size;
            job.limits = deadline.map(|deadline| Box::new(Limits::by(Time::from_micros(deadline))));
            job.grid = grid.map(|(assignment, input, kept)| {
                let kept = Work::done(Rate::FULL, Span::from_micros(kept));
                Box::new(GridContext { assignment, input: Bytes::new(input), kept, ..GridContext::default() })
            });
            job
        },
    )
}

fn facts() -> impl Strategy<Value = PoolFacts> {
    let link = (0..2_000_000_u64, option::of(0..2_000_000_000_u64));
    let power = (0..200_000_u64, 0..200_000_u64, 1_000_000..3_000_000_u64);
    (1..5_u32, 1..13_u32, 100_000..4_000_000_u64, power, link).prop_map(
        |(allocation_unit, blocks, speed, (idle, more, pue_ppm), (latency, bandwidth))| PoolFacts {
            id: PoolId::default(),
            site: "site".to_owned(),
            partition: "default".to_owned(),
            processors: allocation_unit * blocks,
            allocation_unit,
            cores: 1,
            equipment: Equipment::default(),
            speed: Rate::from_units(speed),
            groups: Vec::new(),
            idle: Power::from_milliwatts(idle),
            busy: Power::from_milliwatts(idle + more),
            pue_ppm,
            rates: Rates::default(),
            latency: Span::from_micros(latency),
            bandwidth: bandwidth.map(Bandwidth::from_bits),
        },
    )
}

/// Factors on prices by the hour, prices of electricity and intensities, or none of them.
fn tariffs() -> impl Strategy<Value = SiteTariff> {
    let values = |values: Range<i64>| {
        let day = prop_oneof![Just(1), Just(2), Just(24), Just(48)];
        option::of(day.prop_flat_map(move |count| vec(values.clone(), count)).prop_map(PerKwh::Day))
    };
    let hours = select(vec!["flat", "0-24=0.5", "22-6=0.5,17-20=1.8", "1-2=0,12-13=10"]);
    (option::of(hours), values(-500..500), values(0..500), 0..86_400_u64).prop_map(
        |(hours, electricity, carbon, starts)| SiteTariff {
            price_by_hour: hours.map(|hours| hours.parse().expect("factors")),
            electricity,
            carbon,
            starts_at: Span::from_secs(starts),
            ..SiteTariff::default()
        },
    )
}

/// The time of the scenes, in microseconds.
const NOW: u64 = 600_000_000;

/// A pool whose report could be one: free processors are present, the start-time estimates ends at what is present.
fn pools() -> impl Strategy<Value = Pool> {
    let shares = (0..101_u32, 0..101_u32, 0..101_u32);
    let queue = prop_oneof![Just((0, 0)), (1..20_u32, 1..200_000_000_000_u64)];
    let flight = prop_oneof![
        2 => Just((0, 0, 0, 0)),
        1 => (1..4_u32, 1..24_u64, 1..100_000_000_000_u64, 0..2 * NOW),
    ];
    let waits = vec(0..2_000_000_000_u64, 4);
    let prices = (0..3_000_000_000_u64, tariffs());
    (facts(), shares, queue, flight, waits, 0..NOW, prices, 0..8_u8).prop_map(
        |(
            mut facts,
            (there, unused, asked),
            (waiting, backlog),
            (jobs, procs, area, until),
            waits,
            age,
            (price, tariff),
            closed,
        )| {
            facts.rates = Rates::new(Price::from_nanos(price), tariff);
            let present =
                facts.processors / facts.allocation_unit * there.min(90) / 90 * facts.allocation_unit;
            let free = present * unused / 100;
            let measured = Time::from_micros(NOW - age);
            // Up to the free processors at once if nobody waits, then later and later.
            let mut steps = Vec::new();
            // Now and then an start-time estimates that has passed.
            let mut start = if closed == 1 { Time::from_micros((NOW - age) / 2) } else { measured };
            if waiting == 0 && free > 0 {
                steps.push((free, start));
            }
            for (quarter, wait) in (1..=4).zip(waits) {
                start += Span::from_micros(wait);
                let most = present * quarter / 4;
                if steps.last().is_none_or(|(last, _)| *last < most) && most > 0 {
                    steps.push((most, start));
                }
            }
            Pool {
                facts,
                report: PoolReport {
                    present,
                    free,
                    asleep: 0,
                    free_by_group: Vec::new(),
                    waiting,
                    running: present - free,
                    backlog: backlog.into(),
                    price: Price::from_nanos(price),
                    power: Power::ZERO,
                    start_estimates: StartEstimates { steps },
                },
                measured,
                forecasts: PoolForecasts::default(),
                open: closed > 0,
                in_flight: InFlight { jobs, procs, area: area.into(), until: Time::from_micros(until) },
                asked: present * asked / 100,
            }
        },
    )
}

/// Numbered in order: two pools a site.
fn numbered(mut pools: Vec<Pool>) -> Vec<Pool> {
    for (at, pool) in pools.iter_mut().enumerate() {
        pool.facts.id = PoolId { site: SiteId(at as u32 / 2), partition: PartitionId(at as u32 % 2) };
    }
    pools
}

/// Some pools, and so many jobs, some of which have been refused by some of them.
pub(super) fn scenes(count: Range<usize>) -> impl Strategy<Value = Scene> {
    scenes_of(0..8, count)
}

/// The same with so many pools.
pub(super) fn scenes_of(number: Range<usize>, count: Range<usize>) -> impl Strategy<Value = Scene> {
    (vec(pools(), number).prop_map(numbered), vec(jobs(), count), any::<bool>()).prop_flat_map(
        |(mut pools, jobs, count_in_flight)| {
            if !count_in_flight {
                pools.iter_mut().for_each(|pool| pool.in_flight = InFlight::default());
            }
            let ids: Vec<PoolId> = pools.iter().map(|pool| pool.facts.id).collect();
            let some = 0..=ids.len().min(2);
            let refused = vec(prop_oneof![Just(Vec::new()), subsequence(ids, some)], jobs.len());
            (Just(pools), Just(jobs), refused).prop_map(move |(pools, jobs, refused)| Scene {
                now: Time::from_micros(NOW),
                pools,
                jobs,
                refused,
                count_in_flight,
            })
        },
    )
}
