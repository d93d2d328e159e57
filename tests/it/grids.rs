//! Small random grids, and all ways to run them.

use std::num::NonZeroUsize;

use gridemu::grid::{Grid, Policies, WindowEnds, WindowOptions};
use gridemu::local::Registry;
use gridemu::model::{
    AtLimit, BrokerSpec, CheckpointInterval, Checkpointing, ChurnAct, CoallocationSpec, Distribution,
    Equipment, FailureAction, GridContext, GridSpec, GroupFailures, GroupSize, Information, InstantOrder,
    Job, JobId, Limits, Link, MachineGroup, Machines, NetworkSpec, PartitionId, PartitionSpec, Payer,
    PlannedChurn, PlanningTime, ProcSet, RandomChurn, Record, Replan, Reservation, RunTimes, SiteSpec,
    WorkflowSettings,
};
use gridemu::runtime::{RuntimeOptions, run_grid};
use gridemu::units::{Bandwidth, Bytes, Money, Power, Price, Rate, Span, Time};
use gridemu::workload::{Coupled, CoupledSpec, Jobs, Source};
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;

use crate::invariants::variants;

/// A grid, what is submitted where, and how long it runs at most.
#[derive(Clone, Debug)]
pub(crate) struct GridCase {
    pub(crate) spec: GridSpec,
    /// By site.
    pub(crate) local: Vec<Vec<Job>>,
    pub(crate) portal: Vec<Job>,
    pub(crate) until: Option<Time>,
    /// Which jobs of the portal are run in parts at several sites.
    pub(crate) coupled: Option<CoupledSpec>,
}

/// What a run left: its records in order, and how it ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GridRan {
    pub(crate) records: Vec<Record>,
    pub(crate) result: Result<(), String>,
    pub(crate) end: Time,
}

impl GridCase {
    pub(crate) fn build(&self) -> Grid {
        let source = |jobs: &Vec<Job>| -> Option<Box<dyn Source>> {
            (!jobs.is_empty()).then(|| Box::new(Jobs::new(jobs.clone())) as Box<dyn Source>)
        };
        let local = self.local.iter().map(source).collect();
        let policies = Policies::standard();
        let mut portal = source(&self.portal);
        if let Some(coupled) = self.coupled {
            portal = portal.map(|jobs| Box::new(Coupled::new(jobs, coupled, 1, "portal")) as Box<dyn Source>);
        }
        Grid::build(&self.spec, local, portal, &policies).expect("a grid")
    }

    /// A run by the plain loop over windows, and the grid after it.
    pub(crate) fn windows(&self, options: WindowOptions) -> (GridRan, Grid) {
        let (mut grid, mut records) = (self.build(), Vec::new());
        let result = grid.run_to(self.until, options, &mut records).map_err(|error| error.to_string());
        (GridRan { records, result, end: grid.now() }, grid)
    }

    /// One moment of the whole grid after the other.
    pub(crate) fn stepwise(&self) -> GridRan {
        let (mut grid, mut records) = (self.build(), Vec::new());
        let result = grid.run_stepwise(self.until, &mut records).map_err(|error| error.to_string());
        GridRan { records, result, end: grid.now() }
    }

    /// As actors.
    pub(crate) fn actors(&self, threads: usize, pace: Option<f64>) -> GridRan {
        let (mut grid, mut records) = (self.build(), Vec::new());
        let threads = NonZeroUsize::new(threads).expect("a thread");
        let options = RuntimeOptions { threads, pace, ..RuntimeOptions::default() };
        let result =
            run_grid(&mut grid, self.until, options, &mut records).map_err(|error| error.to_string());
        GridRan { records, result, end: grid.now() }
    }

    /// The same with limits of most jobs: those whose number leaves 1 by division by 4 are ended at their deadline, 2 are refused, 3 overrun
    /// and are ended at their budget.
    pub(crate) fn limited(mut self) -> Self {
        for job in self.local.iter_mut().flatten().chain(&mut self.portal).filter(|job| job.id.0 % 4 > 0) {
            let at =
                [AtLimit::Overrun, AtLimit::Kill, AtLimit::Refuse, AtLimit::Overrun][job.id.0 as usize % 4];
            let slack = Span::from_micros(1_000_000 + job.id.0 * 7_919_000_003 % 400_000_000);
            let (kills, parts) = (at == AtLimit::Overrun, i128::from(job.id.0 % 7));
            let budget = Some(Money::from_nanos(parts * if kills { 150_000 } else { 50_000_000 }));
            let at_budget = if kills {
                AtLimit::Kill
            } else if at == AtLimit::Refuse {
                at
            } else {
                AtLimit::Overrun
            };
            let limits =
                Limits { deadline: Some(job.submit + slack), budget, at_deadline: at, at_budget, ends: None };
            job.limits = Some(Box::new(limits));
        }
        self
    }

    /// The same with a broker that believes forecasts, for which measured waits count for so many seconds.
    pub(crate) fn believing_forecasts(mut self, within: u64) -> Self {
        if let Some(broker) = &mut self.spec.broker {
            (broker.information, broker.forecast_within) = (Information::Forecast, Span::from_secs(within));
        }
        self
    }

    /// The same with machines of every other site that draw power by their load, where that is supported.
    pub(crate) fn loaded(mut self) -> Self {
        for site in self.spec.sites.iter_mut().step_by(2) {
            let shared =
                Registry::standard().build(&site.policy).expect("a policy").1.multiprogramming_level > 1;
            for group in site.partitions.iter_mut().flat_map(|part| &mut part.groups).filter(|_| !shared) {
                group.by_load =
                    Some([30, 47, 49, 80].map(|watts| Power::from_milliwatts(watts * 1_000)).to_vec());
            }
        }
        self
    }

    /// All jobs of the case that are submitted before the end at the latest.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = &Job> {
        let before = |job: &&Job| self.until.is_none_or(|until| job.submit < until);
        self.local.iter().flatten().chain(&self.portal).filter(before)
    }

    /// The same with this local policy at every site and this broker policy.
    pub(crate) fn under(&self, local: &str, broker: &str) -> Self {
        let mut case = self.clone();
        let local: gridemu::model::Named = local.parse().expect("a policy");
        let abilities = Registry::standard().build(&local).expect("a policy").1;
        let sharing = !abilities.space_sharing();
        for site in &mut case.spec.sites {
            site.policy = local.clone();
            if !abilities.keeps_reservations {
                site.reservations.clear();
            }
            if sharing {
                site.order = InstantOrder::Instant;
            }
            if abilities.picks_processors {
                site.cap_power(None).expect("no cap");
            }
            if abilities.multiprogramming_level > 1 {
                site.power = gridemu::model::Named::bare("always-on");
            }
        }
        case.spec.broker.as_mut().expect("a broker").policy = broker.parse().expect("a policy");
        case
    }
}

/// Ends of windows drawn at random, from the next round to as late as possible.
pub(crate) fn random_ends(seed: u64) -> WindowEnds {
    use gridemu::entity::Stamp;
    let mut state = seed | 1;
    WindowEnds::new(move |first, latest| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let draw = state >> 33;
        match draw % 4 {
            0 => latest,
            1 => Stamp { round: first.round + (draw >> 8) as u32 % 3, ..first },
            2 => Stamp::at(first.time + Span::from_micros(draw % 40_000_000)),
            _ => Stamp::at(first.time + Span::from_micros(draw % 50_000)),
        }
    })
}

pub(crate) fn brokers() -> Vec<String> {
    let mut all = crate::support::quick_brokers();
    all.push("mct[absent=queue]".to_owned());
    all
}

/// Mostly whole seconds, so that much happens at once.
fn instants(most: u64) -> impl Strategy<Value = u64> {
    prop_oneof![3 => (0..most).prop_map(|secs| secs * 1_000_000), 1 => 0..most * 1_000_000]
}

fn partition() -> impl Strategy<Value = PartitionSpec> {
    let speed = prop_oneof![3 => Just((1, 1)), 1 => Just((2, 1)), 1 => Just((7, 10))];
    (1_u32..5, 0_u32..2, 1_u32..4, speed, any::<bool>(), 0_u64..3, 0_u64..3).prop_map(
        |(machines, absent, cores, (num, den), whole, power, price)| PartitionSpec {
            name: String::new(),
            groups: vec![MachineGroup {
                class: String::new(),
                machines,
                speed: Rate::ratio(num, den),
                idle: Power::from_milliwatts(power * 7_000),
                busy: Power::from_milliwatts(power * 7_000 + power * power * 3_000),
                price: Price::from_nanos(price * 36_000_000),
                equipment: Equipment::default(),
                sleep: None,
                by_load: None,
                embodied: None,
            }],
            absent: absent.min(machines - 1),
            cores,
            allocation_unit: if whole { cores } else { 1 },
            most_in_use: None,
            power_part: None,
        },
    )
}

fn distribution(least: u64, most: u64) -> impl Strategy<Value = Distribution> {
    (0_u8..3, least..most).prop_map(|(kind, secs)| {
        let span = Span::from_secs(secs);
        match kind {
            0 => Distribution::Exponential { mean: span },
            1 => Distribution::Weibull { shape: 700_000, mean: span },
            _ => Distribution::Lognormal { median: span, sigma: 500_000 },
        }
    })
}

fn acts() -> impl Strategy<Value = Vec<PlannedChurn>> {
    let act = (0_u8..8, 0_u32..2, 0_u32..4, 1_u32..4, 1_u64..4);
    vec((instants(150), act), 0..6).prop_map(|mut acts| {
        acts.sort_by_key(|(at, _)| *at);
        let act = |(at, (kind, partition, from, count, quarters))| {
            let which = ProcSet::range(from, from + count);
            let machines = Machines { partition: PartitionId(partition), which };
            let act = match kind {
                0 | 1 => ChurnAct::Leave(machines),
                2 | 3 => ChurnAct::Join(machines),
                4 => ChurnAct::Slow { machines, factor: Rate::ratio(quarters, 4) },
                5 => ChurnAct::Slow { machines, factor: Rate::FULL },
                6 => ChurnAct::LeaveSite,
                _ => ChurnAct::JoinSite,
            };
            PlannedChurn { at: Time::from_micros(at), act }
        };
        acts.into_iter().map(act).collect()
    })
}

fn site(policies: Vec<String>) -> impl Strategy<Value = SiteSpec> {
    let on_failure = select(vec![
        FailureAction::Requeue,
        FailureAction::Resubmit,
        FailureAction::Wait,
        FailureAction::Fail,
    ]);
    let interval = prop_oneof![
        Just(CheckpointInterval::Young),
        Just(CheckpointInterval::Daly),
        (1_u64..20).prop_map(|secs| CheckpointInterval::Every(Span::from_secs(secs))),
    ];
    let checkpoint = (interval, 0_u64..2_000_000)
        .prop_map(|(interval, cost)| Checkpointing { interval, cost: Span::from_micros(cost) });
    let random = (distribution(20, 400), distribution(1, 60)).prop_map(|(up, down)| RandomChurn { up, down });
    let churn = (
        weighted(0.4, random),
        acts(),
        on_failure,
        any::<bool>(),
        weighted(0.4, checkpoint),
        weighted(0.3, 1_u32..4),
    );
    let booked = vec((10_u64..150, 1_u64..60, 1_u32..13), 0..3);
    let by_hour = prop_oneof![3 => Just("flat"), 1 => Just("0-1=0.5,1-24=3")];
    let rest = (churn, weighted(0.4, booked), by_hour);
    (vec(partition(), 1..3), select(policies), 0_u8..4, any::<bool>(), any::<bool>(), rest).prop_map(
        |(partitions, policy, order, overrun, machines, (churn, booked, by_hour))| {
            let mut site = SiteSpec::plain("", 1, policy.parse().expect("a policy"));
            site.partitions = partitions;
            for (at, part) in site.partitions.iter_mut().enumerate() {
                part.name = format!("part-{at}");
            }
            let abilities = Registry::standard().build(&site.policy).expect("a policy").1;
            if order == 0 && abilities.space_sharing() {
                site.order = InstantOrder::Event;
            }
            (site.overrun, site.record_machines, site.pue_ppm) = (overrun, machines, 1_250_000);
            (site.churn.random, site.churn.script, site.churn.on_failure) = (churn.0, churn.1, churn.2);
            (site.churn.return_queued, site.churn.checkpoint, site.churn.attempts) =
                (churn.3, churn.4, churn.5);
            site.tariff.price_by_hour = by_hour.parse().ok();
            // A minute or so before the hour.
            site.tariff.starts_at = Span::from_secs(3_540);
            for (number, (start, length, procs)) in booked.into_iter().flatten().enumerate() {
                let place = number % site.partitions.len();
                let part = &site.partitions[place];
                let (start, end) = (Time::from_secs(start), Time::from_secs(start + length));
                let procs = part.rounded(1 + procs % part.usable());
                // Every other one is kept for a job of the site, if it has that.
                let job = (number % 2 == 0).then_some(JobId(1 + number as u64));
                let booked = Reservation { name: format!("r{number}"), start, end, procs, job };
                site.reservations.push((place, booked));
                // Two of them may want more than there is.
                if !abilities.keeps_reservations || site.check().is_err() {
                    site.reservations.pop();
                }
            }
            site
        },
    )
}

fn broker() -> impl Strategy<Value = BrokerSpec> {
    let replan = select(vec![Replan::Never, Replan::OnChurn, Replan::EveryReport]);
    let monitoring_interval = select(vec![Span::ZERO, Span::from_secs(10), Span::from_secs(60)]);
    let overhead = select(vec![Span::ZERO, Span::from_micros(5_000), Span::from_secs(2)]);
    let backoff = select(vec![Span::ZERO, Span::from_secs(1), Span::from_secs(10)]);
    let payer = select(vec![Payer::User, Payer::Site]);
    let tries = (0_u32..5, backoff, weighted(0.4, 1_u32..4), overhead, payer);
    (select(brokers()), monitoring_interval, any::<bool>(), replan, any::<bool>(), tries).prop_map(
        |(policy, monitoring_interval, count_in_flight, replan, recall_queued, tries)| {
            let (retries, backoff, in_flight, overhead, failed_attempts) = tries;
            // Every report of a job that has come would call it back, for ever.
            let replan = if monitoring_interval.is_zero() && replan == Replan::EveryReport && recall_queued {
                Replan::OnChurn
            } else {
                replan
            };
            BrokerSpec {
                policy: policy.parse().expect("a policy"),
                monitoring_interval,
                count_in_flight,
                information: Information::Reported,
                forecast_within: BrokerSpec::FORECAST_WITHIN,
                run_times: RunTimes::Estimates,
                applications: Vec::new(),
                replan,
                recall_queued,
                retries,
                backoff,
                in_flight,
                overhead,
                planning: PlanningTime::default(),
                failed_attempts,
                workflow: WorkflowSettings::default(),
                heartbeat: None,
                faults: Vec::new(),
                coallocation: CoallocationSpec::default(),
            }
        },
    )
}

/// So many jobs at most; their numbers are given later.
fn jobs(most: usize, data: bool) -> impl Strategy<Value = Vec<Job>> {
    let size = prop_oneof![12 => 1_u32..5, 3 => 1_u32..13, 1 => 20_u32..30];
    let runtime =
        prop_oneof![1 => Just(0), 6 => (1_u64..40).prop_map(|s| s * 1_000_000), 3 => 1_u64..60_000_000];
    let error = prop_oneof![3 => Just(0_i64), 2 => 1_i64..30_000_000, 1 => -10_000_000_i64..0];
    let bytes = || prop_oneof![2 => Just(0_u64), 2 => 1_u64..600_000];
    vec((instants(120), size, runtime, error, bytes(), bytes()), 0..most).prop_map(move |raw| {
        let mut jobs: Vec<Job> = raw
            .into_iter()
            .map(|(submit, procs, runtime, error, input, output)| {
                let mut job = Job::rigid(0, Time::from_micros(submit), procs, Span::from_micros(runtime));
                job.estimate = Span::from_micros(runtime.saturating_add_signed(error));
                if data && input + output > 0 {
                    let (input, output) = (Bytes::new(input), Bytes::new(output));
                    job.grid = Some(Box::new(GridContext { input, output, ..GridContext::default() }));
                }
                job
            })
            .collect();
        jobs.sort_by_key(|job| job.submit);
        jobs
    })
}

/// The same, with partitions of several groups of machines.
pub(crate) fn grouped_grids() -> impl Strategy<Value = GridCase> {
    (grids(), any::<u64>()).prop_map(|(mut case, number)| {
        for (at, site) in (0..).zip(&mut case.spec.sites) {
            crate::support::regroup(site, number.rotate_right(13 * at));
        }
        case
    })
}

/// Grids of one to four sites under a broker.
/// Grids whose machines may sleep.
pub(crate) fn grids() -> impl Strategy<Value = GridCase> {
    (always_on(), vec(crate::support::sleep(), 4)).prop_map(|(mut case, sleep)| {
        case.spec
            .sites
            .iter_mut()
            .zip(sleep)
            .for_each(|(site, sleep)| crate::support::put_to_sleep(site, sleep));
        let seed = case.spec.seed;
        for (at, site) in
            (0..).zip(&mut case.spec.sites).filter(|(at, _)| seed.rotate_right(11 * at) % 5 == 1)
        {
            crate::power_cap::cap_at(site, seed.rotate_right(11 * at) / 5 % 110);
            // Reservations may need more than it leaves.
            if site.check().is_err() {
                site.cap_power(None).expect("no cap");
            }
        }
        for (at, site) in (0..).zip(&mut case.spec.sites) {
            drain(site, seed.rotate_right(7 * at) / 3);
        }
        case
    })
}

/// Some sites announce that machines leave, by chance, in groups and by script; and machines drain that then stay, or come back while they do.
fn drain(site: &mut SiteSpec, number: u64) {
    let secs = |digits: u64, most: u64| Span::from_secs(number / digits % most);
    if number.is_multiple_of(3) {
        site.churn.notice = secs(3, 90);
    }
    if number.is_multiple_of(5) {
        site.churn.groups = Some(GroupFailures {
            every: Distribution::Exponential { mean: Span::from_secs(50) + secs(5, 400) },
            size: if number.is_multiple_of(2) { GroupSize::Rack(2) } else { GroupSize::Fixed(1) },
            window: secs(10, 40),
            down: Distribution::Exponential { mean: Span::from_secs(5) + secs(50, 60) },
            notice: secs(100, 90),
        });
    }
    if !number.is_multiple_of(4) {
        return;
    }
    let mut drains = Vec::new();
    for planned in &site.churn.script {
        let act = match &planned.act {
            ChurnAct::Leave(machines) | ChurnAct::Slow { machines, .. } => ChurnAct::Drain(machines.clone()),
            ChurnAct::LeaveSite => ChurnAct::DrainSite,
            _ => continue,
        };
        let before = secs(7, 60).micros();
        let at = Time::from_micros(planned.at.micros().saturating_sub(before));
        drains.push(PlannedChurn { at, act });
    }
    site.churn.script.extend(drains);
    site.churn.script.sort_by_key(|planned| planned.at);
}

/// Grids whose machines never sleep.
pub(crate) fn always_on() -> impl Strategy<Value = GridCase> {
    always_on_under(variants())
}

/// The same, under some of these local policies.
pub(crate) fn always_on_under(policies: Vec<String>) -> impl Strategy<Value = GridCase> {
    let latency = select(vec![0_u64, 20_000, 1_000_000]);
    let bandwidth = select(vec![None, Some(100_000_u64), Some(1_000_003), Some(1_000_000_000)]);
    let place = (site(policies), latency, bandwidth, jobs(7, false));
    (vec(place, 1..5), broker(), jobs(16, true), weighted(0.5, 30_u64..900), any::<u64>()).prop_map(
        |(places, broker, mut portal, until, seed)| {
            let mut network = NetworkSpec::uniform(Link::default());
            let (mut sites, mut local) = (Vec::new(), Vec::new());
            for (at, (mut site, latency, bandwidth, mut jobs)) in places.into_iter().enumerate() {
                site.name = format!("site-{at}");
                let bandwidth = bandwidth.map(Bandwidth::from_bits);
                network.set(0, at + 1, Link { latency: Span::from_micros(latency), bandwidth });
                for (number, job) in (1..).zip(&mut jobs) {
                    job.id.0 = 1_000 * (at as u64 + 1) + number;
                }
                sites.push(site);
                local.push(jobs);
            }
            for (number, job) in (1..).zip(&mut portal) {
                job.id.0 = number;
            }
            // Machines that come and go by chance never end, and a job that nobody can start yet may be called back and sent again
            // for ever. All that ends by itself does long before.
            let for_ever = sites.iter().any(|site: &SiteSpec| site.churn.random.is_some());
            let until = Some(Time::from_secs(until.unwrap_or(if for_ever { 1_500 } else { 3_000 })));
            let spec = GridSpec { seed, sites, network, broker: Some(broker) };
            GridCase { spec, local, portal, until, coupled: None }
        },
    )
}
