//! Invariants of every policy while machines leave, join and slow down at random.

use std::collections::BTreeSet;

use gridemu::local::policies::{BackfillOrder, Compress, Conservative, Easy};
use gridemu::local::{
    Abilities, Actions, Change, LocalPolicy, Phase, PolicyInfo, Registry, StartEstimates, View,
};
use gridemu::model::{
    CheckpointInterval, Checkpointing, FailureAction, Job, JobId, PartitionId, Payer, ProcSet, SiteSpec,
};
use gridemu::units::{Rate, Span, Time};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::chaos::{chaos, costly, costs};
use crate::churn_rules::check_churn;
use crate::driver::{Act, Driver, Script, of_grid};
use crate::invariants::{Case, cases, variants};
use crate::support;

/// A partition, its jobs, and what happens to its machines.
#[derive(Clone)]
pub(crate) struct Churning {
    pub(crate) spec: SiteSpec,
    pub(crate) jobs: Vec<Job>,
    pub(crate) script: Script,
}

impl std::fmt::Debug for Churning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        support::show(f, &self.spec, &self.jobs)?;
        let of_grid = self.jobs.iter().filter(|job| job.grid.is_some()).map(|job| job.id.0);
        writeln!(f, "  of the grid: {:?}", of_grid.collect::<Vec<_>>())?;
        writeln!(f, "  absent {}, {:?}", self.spec.partitions[0].absent, self.spec.churn)?;
        let Script { acts, down, failed_attempts, mean_up, again, acts_late, close: _ } = &self.script;
        for (time, act) in acts {
            writeln!(f, "  at {time}: {act:?}")?;
        }
        writeln!(
            f,
            "  down {down}, {failed_attempts:?} pays, up {mean_up:?}, again {again:?}, late {acts_late}"
        )
    }
}

/// Mostly whole seconds, so that machines leave when jobs begin and end.
fn times() -> impl Strategy<Value = u64> {
    prop_oneof![3 => (0_u64..90).prop_map(|secs| secs * 1_000_000), 1 => 0_u64..90_000_000]
}

type RawAct = (u64, u8, u32, u32, Index, (u64, u64));

fn act((time, kind, from, count, which, (num, den)): RawAct, machines: u32, jobs: &[Job]) -> (Time, Act) {
    let from = from % machines;
    let some = ProcSet::range(from, from + count);
    let job = |jobs: &[Job]| if jobs.is_empty() { 0 } else { which.get(jobs).id.0 };
    let act = match kind {
        0..=6 => Act::Leave(some),
        7 => Act::LeaveSite,
        8..=13 => Act::Join(some),
        14 => Act::Join(ProcSet::full(machines)),
        15..=17 => Act::Slow(some, Rate::ratio(num, den)),
        18 => Act::Slow(ProcSet::full(machines), Rate::FULL),
        19 => Act::Cancel(job(jobs)),
        20..=21 => Act::Withdraw(job(jobs)),
        22..=25 => Act::Drain(some),
        26 => Act::Drain(ProcSet::full(machines)),
        27 => Act::Stay(some),
        _ => Act::Stay(ProcSet::full(machines)),
    };
    (Time::from_micros(time), act)
}

pub(crate) fn churning(policies: Vec<String>, most: usize) -> impl Strategy<Value = Churning> {
    let raw = (times(), 0_u8..29, any::<u32>(), 1_u32..4, any::<Index>(), (1_u64..30, 1_u64..20));
    let on_failure = prop_oneof![
        Just(FailureAction::Requeue),
        Just(FailureAction::Resubmit),
        Just(FailureAction::Wait),
        Just(FailureAction::Fail)
    ];
    let interval = prop_oneof![
        2 => prop_oneof![Just(0_u64), 1_u64..20_000_000].prop_map(|micros| CheckpointInterval::Every(Span::from_micros(micros))),
        1 => Just(CheckpointInterval::Young),
        1 => Just(CheckpointInterval::Daly),
    ];
    let cost = prop_oneof![Just(0_u64), 1_u64..3_000_000];
    let checkpoint = (interval, cost)
        .prop_map(|(interval, cost)| Checkpointing { interval, cost: Span::from_micros(cost) });
    let settings = (
        on_failure,
        any::<bool>(),
        proptest::option::of(checkpoint),
        proptest::option::of((1_u64..200).prop_map(Span::from_secs)),
        any::<bool>(),
        proptest::option::of(((0_u64..20).prop_map(Span::from_secs), 0_u32..4)),
        any::<bool>(),
    );
    let down =
        (proptest::option::weighted(0.2, any::<Index>()), proptest::option::weighted(0.2, any::<Index>()));
    let grid = vec(any::<bool>(), most);
    (cases(policies, most), vec(raw, 0..16), settings, down, grid).prop_map(
        |(case, raw, settings, down, grid)| {
            let Case { mut spec, mut jobs, .. } = case;
            // What an attempt must do is fixed here from its beginning; `elastic.rs` has commands under churn.
            jobs.iter_mut().for_each(|job| job.elastic = None);
            spec.partitions.truncate(1);
            spec.reservations.retain(|(partition, _)| *partition == 0);
            // Where watts are counted machines that come may stay off, which is not in the script; `grid_invariants.rs` has such caps under churn.
            if spec.partitions[0].power_part.is_some_and(|part| part.in_watts) {
                spec.cap_power(None).expect("no cap");
            }
            for (job, of_the_grid) in jobs.iter_mut().zip(grid) {
                job.partition = job.partition.map(|_| PartitionId(0));
                if of_the_grid {
                    *job = of_grid(job.clone());
                }
            }
            let machines = spec.partitions[0].machines();
            let (on_failure, return_queued, checkpoint, mean_up, site_pays, again, acts_late) = settings;
            spec.churn.on_failure = on_failure;
            spec.churn.return_queued = return_queued;
            spec.churn.checkpoint = checkpoint;
            let policy = spec.policy.to_string();
            end_soon(&mut spec, &policy);
            spec.partitions[0].absent = down.0.map_or(0, |absent| absent.index(machines as usize + 1) as u32);
            let down = down.1.map(|down| down.index(machines as usize) as u32).into_iter().collect();
            let mut acts: Vec<_> = raw.into_iter().map(|raw| act(raw, machines, &jobs)).collect();
            acts.sort_by_key(|(time, _)| *time);
            let failed_attempts = if site_pays { Payer::Site } else { Payer::User };
            let script = Script { acts, down, failed_attempts, mean_up, again, acts_late, close: None };
            Churning { spec, jobs, script }
        },
    )
}

/// Classes of jobs take turns as long as there are jobs of several, which would be years with absurd checkpoints.
fn end_soon(spec: &mut SiteSpec, policy: &str) {
    if let Some(checkpoint) = &mut spec.churn.checkpoint
        && policy.starts_with("scojo-pect")
    {
        checkpoint.interval = CheckpointInterval::Every(Span::from_secs(7));
    }
}

/// Both runs are the same; else the first difference.
fn alike(a: &support::Ran, b: &support::Ran) -> Result<(), TestCaseError> {
    let first = a.records.iter().zip(&b.records).position(|(a, b)| a != b);
    if let Some(at) = first {
        prop_assert_eq!(&a.records[at], &b.records[at], "record {}", at);
    }
    prop_assert_eq!((a.records.len(), &a.usage, a.tally), (b.records.len(), &b.usage, b.tally));
    Ok(())
}

fn lawful(registry: &Registry, case: &Churning) -> support::Ran {
    let Churning { spec, jobs, script } = case;
    let (ran, gone) = Driver::new(registry, spec, jobs, script).run();
    check_churn(registry, spec, jobs, script, &ran, &gone);
    ran
}

proptest! {
    #![proptest_config(crate::support::cases(1000))]

    #[test]
    fn every_policy_keeps_the_law_while_machines_come_and_go(case in churning(variants(), 30)) {
        let registry = Registry::standard();
        let ran = lawful(&registry, &case);
        prop_assert_eq!(ran, lawful(&registry, &case), "the same again");
    }

    #[test]
    fn a_run_is_resumed_in_the_middle_of_churn(
        case in churning(variants(), 25),
        stops in vec(0_usize..25, 1..5),
    ) {
        let registry = Registry::standard();
        let Churning { spec, jobs, script } = &case;
        let straight = Driver::new(&registry, spec, jobs, script).run();
        let mut driver = Driver::new(&registry, spec, jobs, script);
        for steps in stops {
            for _ in 0..steps {
                driver.step();
            }
            driver.resume();
        }
        alike(&straight.0, &driver.run().0)?;
    }

    #[test]
    fn any_policy_takes_over_in_the_middle_of_churn(
        case in churning(variants(), 25),
        other in any::<Index>(),
        steps in 0_usize..40,
    ) {
        let registry = Registry::standard();
        let Churning { spec, jobs, script } = &case;
        let abilities = |policy: &str| registry.build(&policy.parse().unwrap()).unwrap().1;
        let multiprogramming_level = registry.build(&spec.policy).unwrap().1.multiprogramming_level;
        let mut others = variants();
        others.retain(|other| abilities(other).multiprogramming_level == multiprogramming_level);
        // Where nobody resumes them, suspended jobs wait in the queue again: `preemption.rs` has that.
        let was = registry.build(&spec.policy).unwrap().1;
        others.retain(|other| abilities(other).preempts || !was.preempts);
        // What resumed on other processors before is not checked by the rule of a policy that would not have done that.
        others.retain(|other| !was.preempts || was.same_processors || !abilities(other).same_processors);
        others.retain(|other| spec.reservations.is_empty() || abilities(other).keeps_reservations);
        others.retain(|other| spec.power_cap.is_none() || !abilities(other).picks_processors);
        others.retain(|other| spec.order == gridemu::model::InstantOrder::Instant || abilities(other).space_sharing());
        // Suspended jobs keep what they have done without a checkpoint, also under a policy that does not resume them: `forks.rs` has these pairs.
        let preempts = abilities(&spec.policy.to_string()).preempts;
        others.retain(|other| !preempts || abilities(other).preempts);
        // Rates of before the fork are not those of shares where sharing costs something: `invariants.rs` has these pairs.
        others.retain(|other| abilities(other).slows || !was.slows);
        let other = other.get(&others);
        let mut spec = spec.clone();
        end_soon(&mut spec, other);
        let mut driver = Driver::new(&registry, &spec, jobs, script);
        for _ in 0..steps {
            driver.step();
        }
        driver.resume_under(other);
        let (ran, gone) = driver.run();
        check_churn(&registry, &SiteSpec { policy: other.parse().unwrap(), ..spec }, jobs, script, &ran, &gone);
    }

    /// Closed in the middle, everything ends, and what stands still or waits for machines with it.
    #[test]
    fn a_run_may_be_closed_in_the_middle_of_churn(case in churning(variants(), 25), steps in 0_usize..40) {
        let registry = Registry::standard();
        let Churning { spec, jobs, script } = &case;
        let mut driver = Driver::new(&registry, spec, jobs, script);
        for _ in 0..steps {
            driver.step();
        }
        let mut script = script.clone();
        script.acts.truncate(driver.acted);
        let (ran, gone) = driver.close();
        let here = ran.jobs().map(|job| job.id).chain(gone.iter().map(|(_, gone)| gone.job.number));
        let came: BTreeSet<JobId> = here.collect();
        let jobs: Vec<Job> = jobs.iter().filter(|job| came.contains(&job.id)).cloned().collect();
        check_churn(&registry, spec, &jobs, &script, &ran, &gone);
    }

    #[test]
    fn chaos_keeps_the_law_while_machines_come_and_go(
        case in churning(vec!["fcfs".to_owned()], 20),
        seed in 0_u64..1_000_000,
        multiprogramming_level in 1_u32..4,
        same in any::<bool>(),
        preemption in costs(),
        steps in 0_usize..40,
    ) {
        let registry = Registry::standard().with(chaos());
        let mut case = case;
        let (same, costly) = (if same { ",same=1" } else { "" }, costly(&preemption));
        case.spec.policy = format!("chaos[seed={seed},multiprogramming_level={multiprogramming_level}{same}{costly}]").parse().unwrap();
        case.spec.preemption = preemption;
        case.spec.order = gridemu::model::InstantOrder::Instant;
        case.spec.cap_power(None).expect("no cap");
        // It moves jobs about before they have run for a moment, so that nobody can tell on how many machines they began.
        if let Some(checkpoint) = &mut case.spec.churn.checkpoint {
            checkpoint.interval = CheckpointInterval::Every(Span::from_secs(7));
        }
        // Long after the last act; it never gives up on jobs that wait for machines that do not come.
        case.script.close = Some(Time::from_secs(300));
        let ran = lawful(&registry, &case);
        let mut driver = Driver::new(&registry, &case.spec, &case.jobs, &case.script);
        for _ in 0..steps {
            driver.step();
        }
        driver.resume();
        alike(&ran, &driver.run().0)?;
    }
}

// ---- the index of EASY against the full profile ----

fn planned() -> PolicyInfo {
    PolicyInfo::new("planned", |named| {
        const CHOICES: [(&str, BackfillOrder); 2] =
            [("sjf", BackfillOrder::Sjf), ("lxf", BackfillOrder::Lxf)];
        let order = named.take_choice("order", &CHOICES)?.unwrap_or_default();
        named.params.clear();
        let able = Abilities { keeps_reservations: true, ..Abilities::PLAIN };
        Ok((Box::new(Easy::new(order).planned()), able))
    })
    .doc("EASY on the full profile.")
}

// ---- start-time estimates ----

/// The sizes that an start-time estimates is asked for.
fn sizes(capacity: u32) -> Vec<u32> {
    let mut sizes: Vec<u32> = (0..20).map(|power| 1 << power).filter(|size| *size < capacity).collect();
    sizes.extend((capacity > 0).then_some(capacity));
    sizes
}

/// When everybody who waits is worked off, but for those who want to start later, and what is left of `suspended` jobs.
fn turn(view: &View<'_>, suspended: u128) -> Time {
    let wants_to = |key: &_| view.job(*key).requested_start().is_none_or(|start| start <= view.now());
    let area = |key| u128::from(view.job(key).procs()) * u128::from(view.job(key).estimate().micros());
    let backlog: u128 = view.jobs_in(Phase::Waiting).into_iter().filter(wants_to).map(area).sum();
    let all = u128::from(view.capacity().max(1));
    view.now() + Span::from_micros((backlog + suspended).div_ceil(all) as u64)
}

/// By definition: the first instant, of those at which anything is expected to change, with enough processors.
fn slow_outlook(view: &View<'_>, suspended: u128) -> Vec<(u32, Time)> {
    let running = view.jobs_in(Phase::Running);
    let mut times: BTreeSet<Time> = running.iter().map(|key| view.expected_end(*key)).collect();
    times.extend(view.bookings().iter().flat_map(|booking| [booking.start, booking.end]));
    times.insert(view.now());
    let free = |time: Time| {
        let jobs =
            running.iter().filter(|key| view.expected_end(**key) > time).map(|key| view.job(*key).held());
        let booked = view.bookings().iter().filter(|b| b.start <= time && time < b.end).map(|b| b.procs);
        i64::from(view.capacity()) - jobs.chain(booked).map(i64::from).sum::<i64>()
    };
    let start = |size: u32| times.range(view.now()..).copied().find(|time| free(*time) >= i64::from(size));
    sizes(view.capacity())
        .into_iter()
        .map(|size| (size, start(size).expect("all ends").max(turn(view, suspended))))
        .collect()
}

/// The same where up to `mpl` jobs share a processor.
fn slow_shared_outlook(view: &View<'_>, mpl: u32) -> Vec<(u32, Time)> {
    let running = view.jobs_in(Phase::Running);
    let mut times: BTreeSet<Time> = running.iter().map(|key| view.expected_end(*key)).collect();
    times.insert(view.now());
    let open = |time: Time| {
        let over = |proc: u32| {
            let ended =
                |key: &&_| view.expected_end(**key) <= time && view.job(**key).placement().contains(proc);
            running.iter().filter(ended).count() as u32
        };
        view.here().iter().filter(|proc| view.load(*proc) - over(*proc) < mpl).count()
    };
    let start = |size: u32| times.range(view.now()..).copied().find(|time| open(*time) >= size as usize);
    let start = |size| start(size).unwrap_or(Time::NEVER).max(turn(view, 0));
    sizes(view.capacity()).into_iter().map(|size| (size, start(size))).collect()
}

fn agrees(start_estimates: &StartEstimates, slow: &[(u32, Time)]) {
    for (size, start) in slow {
        assert_eq!(start_estimates.start(*size), Some(*start), "{size}: {start_estimates:?} and {slow:?}");
    }
    let most = slow.last().map_or(0, |(size, _)| *size);
    assert_eq!(start_estimates.start(most + 1), None);
    assert!(start_estimates.steps.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1), "{start_estimates:?}");
}

fn foretelling() -> PolicyInfo {
    PolicyInfo::new("foretelling", |named| {
        named.params.clear();
        let able = Abilities { keeps_reservations: true, guarantees_starts: true, ..Abilities::PLAIN };
        Ok((Box::new(Foretelling(Conservative::new(Compress::default()))), able))
    })
    .doc("Conservative backfilling whose start-time estimates are checked.")
}

/// Whether sizes follow the load and a job runs that may shrink.
fn shrinks(spec: &SiteSpec, view: &View<'_>) -> bool {
    let may = |key: &gridemu::model::JobKey| view.job(*key).size().is_malleable();
    let follows = Registry::standard().build(&spec.policy).is_ok_and(|(_, able)| able.resizes);
    follows && view.holders().iter().any(may)
}

/// The slow twin of conservative's start_estimates: the promises, one by one, beside what runs and what is reserved.
struct Foretelling(Conservative);

impl LocalPolicy for Foretelling {
    fn on(&mut self, change: Change, view: &View<'_>) {
        self.0.on(change, view);
    }

    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
        self.0.schedule(view, actions);
    }

    fn start_estimates(&self, view: &View<'_>) -> StartEstimates {
        let start_estimates = self.0.start_estimates(view);
        if view.any_overdue() {
            return start_estimates;
        }
        if !self.0.is_planned() {
            agrees(&start_estimates, &slow_outlook(view, 0));
            return start_estimates;
        }
        let waiting: Vec<(Time, Time, u32)> = view
            .jobs_in(Phase::Waiting)
            .into_iter()
            .map(|key| {
                let live = view.job(key);
                let start = self.0.reserved_start(live.seq()).expect("everybody has a promise");
                (start, start + live.estimate(), live.procs())
            })
            .collect();
        let estimates: u64 = waiting.iter().map(|(from, to, _)| to.since(*from).micros()).sum();
        let mean = estimates.checked_div(waiting.len() as u64).unwrap_or(0).max(1);
        let running = view.jobs_in(Phase::Running).into_iter();
        let mut taken: Vec<(Time, Time, u32)> =
            running.map(|key| (view.now(), view.expected_end(key), view.job(key).held())).collect();
        taken.extend(view.bookings().iter().map(|booking| (booking.start, booking.end, booking.procs)));
        taken.extend(waiting);
        let mut times: BTreeSet<Time> = taken.iter().flat_map(|(from, to, _)| [*from, *to]).collect();
        times.insert(view.now());
        let free = |time: Time| {
            let procs = taken.iter().filter(|(from, to, _)| *from <= time && time < *to).map(|taken| taken.2);
            i64::from(view.capacity()) - procs.map(i64::from).sum::<i64>()
        };
        // Where a start did not go as planned it is planned anew at the next pass.
        if times.iter().any(|time| free(*time) < 0) {
            return start_estimates;
        }
        let fits = |from: Time, size: u32| {
            let to = from + Span::from_micros(mean);
            times.range(from..to).chain([&from]).all(|time| free(*time) >= i64::from(size))
        };
        let start = |size| times.range(view.now()..).copied().find(|time| fits(*time, size));
        let sizes = sizes(view.capacity()).into_iter();
        agrees(
            &start_estimates,
            &sizes.map(|size| (size, start(size).expect("all ends"))).collect::<Vec<_>>(),
        );
        start_estimates
    }

    fn adopt(&mut self, view: &View<'_>) {
        self.0.adopt(view);
    }
}

proptest! {
    #![proptest_config(crate::support::cases(400))]

    #[test]
    fn the_index_of_easy_hears_of_every_change(
        case in churning(["", "[order=sjf]", "[order=lxf]"].map(|order| format!("easy{order}")).into(), 40),
    ) {
        let registry = Registry::standard().with(planned());
        let mut planned = case.clone();
        planned.spec.policy.name = "planned".to_owned();
        prop_assert_eq!(lawful(&registry, &case), lawful(&registry, &planned));
    }

    #[test]
    fn outlooks_are_what_the_definition_says(case in churning(variants(), 30)) {
        let registry = Registry::standard().with(foretelling());
        let mut case = case;
        if case.spec.policy.name == "conservative" {
            case.spec.policy.name = "foretelling".to_owned();
        }
        let mut driver = Driver::new(&registry, &case.spec, &case.jobs, &case.script);
        while driver.step() {
            let partition = &driver.partition;
            let (start_estimates, view) = (partition.start_estimates(driver.now), partition.view(driver.now));
            let waiting = view.jobs_in(Phase::Waiting).len() + view.jobs_in(Phase::Ineligible).len();
            prop_assert_eq!(partition.waiting() as usize, waiting);
            let on_reservations = view.jobs_with_reservations().into_iter().map(|key| view.job(key).phase());
            let on_reservations = on_reservations.filter(|phase| *phase == Phase::Running).count();
            let running = view.jobs_in(Phase::Running).len() + on_reservations;
            prop_assert_eq!(partition.running() as usize, running);
            prop_assert_eq!(partition.present(), view.here().len().min(case.spec.partitions[0].most()));
            // What the partition tells of suspended jobs beside those that wait.
            let waits = [Phase::Waiting, Phase::Ineligible].into_iter().flat_map(|phase| view.jobs_in(phase));
            let area = |job: &gridemu::local::LiveJob| u128::from(job.procs()) * u128::from(job.estimate().micros());
            let suspended = partition.backlog() - waits.map(|key| area(view.job(key))).sum::<u128>();
            prop_assert!(suspended == 0 || !view.jobs_in(Phase::Suspended).is_empty());
            match view.multiprogramming_level() {
                // How much is left of suspended jobs, which counts as waiting, is not to be seen.
                _ if !view.jobs_in(Phase::Suspended).is_empty() => {}
                // Where running jobs shrink for others: see `gang/estimates.rs`.
                _ if shrinks(&case.spec, &view) => {}
                // It checks its own.
                _ if case.spec.policy.name == "foretelling" => {}
                1 if case.spec.policy.name != "equal-share" => agrees(&start_estimates, &slow_outlook(&view, suspended)),
                mpl => agrees(&start_estimates, &slow_shared_outlook(&view, mpl)),
            }
        }
    }
}
