//! The partition under adversarial policies: one that does anything that is allowed, at random, and one that does what is
//! forbidden.

use std::collections::BTreeMap;

use gridemu::entity::EntityError;
use gridemu::grid::GridError;
use gridemu::local::{
    Abilities, Action, Actions, Change, LocalPolicy, PartitionError, Phase, Placement, PolicyError,
    PolicyInfo, Registry, View, Violation,
};
use gridemu::model::{
    EventCause, Job, JobKey, JobMemory, MemoryLaw, MemoryOf, Named, OnLeave, Outcome, PlacementRule,
    Preemption, ProcSet, SiteSpec, Size, Speedup,
};
use gridemu::units::{Bandwidth, Bytes, Rate, Span};
use proptest::prelude::*;

use crate::invariants::{Case, cases};
use crate::support::{self, Law, Ran, With, check, job, run_with, site, try_run};

// ---- everything that is allowed ----

pub(crate) fn chaos() -> PolicyInfo {
    PolicyInfo::new("chaos", |named| {
        let (multiprogramming_level, same) =
            (number(named, "multiprogramming_level") as u32, named.params.contains_key("same"));
        let costly = named.params.contains_key("costly");
        let chaos =
            Chaos { stream: number(named, "seed"), multiprogramming_level, same, costly, moved: false };
        named.params.clear();
        let able = Abilities { same_processors: same, ..free(multiprogramming_level) };
        Ok((Box::new(chaos), able))
    })
    .doc("Does whatever is allowed, at random.")
}

/// May do everything.
fn free(multiprogramming_level: u32) -> Abilities {
    Abilities {
        preempts: true,
        resizes: true,
        picks_processors: true,
        multiprogramming_level,
        ..Abilities::PLAIN
    }
}

fn number(named: &Named, key: &str) -> u64 {
    named.params.get(key).and_then(|value| value.parse().ok()).unwrap_or(1)
}

#[derive(Debug)]
struct Chaos {
    stream: u64,
    multiprogramming_level: u32,
    same: bool,
    /// Whether it may take time to suspend, resume or resize a job: what follows such an action in a pass would have to count on that.
    costly: bool,
    /// Whether this pass has done so.
    moved: bool,
}

/// What preemption costs, often nothing.
pub(crate) fn costs() -> impl Strategy<Value = Preemption> {
    let bandwidth = || proptest::option::of((1_u64..40).prop_map(|mb| Bandwidth::from_bits(mb * 2_000_000)));
    let memory = prop_oneof![
        2 => (0_u64..30_000_000).prop_map(|bytes| JobMemory::Law(MemoryLaw::Fixed(Bytes::new(bytes)))),
        1 => (0_u64..9_000_000, 0_u64..30_000_000).prop_map(|(least, more)| {
            JobMemory::Law(MemoryLaw::Uniform { least: Bytes::new(least), most: Bytes::new(least + more) })
        }),
    ];
    let of = prop_oneof![Just(MemoryOf::Processor), Just(MemoryOf::Job)];
    let on_leave = prop_oneof![Just(OnLeave::Wait), Just(OnLeave::Lose)];
    let resize = prop_oneof![Just(0_u64), 1_u64..5_000_000].prop_map(Span::from_micros);
    let each = prop_oneof![2 => Just(0_u64), 1 => 1_u64..1_000_000].prop_map(Span::from_micros);
    let drawn = (memory, of, bandwidth(), bandwidth(), bandwidth(), on_leave, (resize, each));
    let drawn = drawn.prop_map(|(memory, memory_of, write, read, node, on_leave, (resize, each))| {
        Preemption { memory, memory_of, write, read, node, on_leave, resize, resize_per_processor: each }
    });
    prop_oneof![1 => Just(Preemption::default()), 2 => drawn]
}

/// What the policy must know of these costs, as a parameter.
pub(crate) fn costly(costs: &Preemption) -> &'static str {
    if costs.is_default() { "" } else { ",costly=1" }
}

/// A live job as the pass goes on.
#[derive(Clone, Debug)]
struct Now {
    phase: Phase,
    size: Size,
    place: ProcSet,
    share: Rate,
}

/// The partition as the pass goes on.
struct Board {
    jobs: BTreeMap<JobKey, Now>,
    capacity: u32,
    processors: u32,
    allocation_unit: u32,
    multiprogramming_level: u32,
    /// Processors that are there.
    open: Vec<u32>,
}

impl Board {
    fn on(&self, proc: u32) -> impl Iterator<Item = &Now> {
        let on = self.jobs.values().filter(|job| job.phase.holds());
        on.filter(move |job| job.place.contains(proc))
    }

    /// Shares on a processor; a job that stands still has none.
    fn shares(&self, proc: u32) -> u64 {
        self.on(proc).filter(|job| job.phase.is_active()).map(|job| job.share.units()).sum()
    }

    fn unused(&self) -> Vec<u32> {
        self.open.iter().copied().filter(|proc| self.on(*proc).next().is_none()).collect()
    }

    /// Whole blocks with room for one more at this share.
    fn blocks(&self, share: Rate) -> Vec<ProcSet> {
        let room = |proc: u32| {
            self.open.contains(&proc)
                && self.on(proc).count() < self.multiprogramming_level as usize
                && self.shares(proc) + share.units() <= Rate::FULL.units()
        };
        (0..self.processors / self.allocation_unit)
            .map(|block| block * self.allocation_unit..(block + 1) * self.allocation_unit)
            .filter(|procs| procs.clone().all(room))
            .map(|procs| procs.collect())
            .collect()
    }

    fn whole(&self, procs: u32) -> u32 {
        procs.div_ceil(self.allocation_unit) * self.allocation_unit
    }
}

impl Chaos {
    /// SplitMix64.
    fn below(&mut self, bound: usize) -> usize {
        self.stream = self.stream.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.stream;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound.max(1) as u64) as usize
    }

    fn pick<T: Clone>(&mut self, among: &[T]) -> Option<T> {
        (!among.is_empty()).then(|| among[self.below(among.len())].clone())
    }

    fn share(&mut self) -> Rate {
        let shares = [Rate::FULL, Rate::FULL, Rate::ratio(1, 2), Rate::ratio(1, 3), Rate::ratio(2, 7)];
        shares[self.below(shares.len())]
    }

    /// A place of `least` to `most` processors, by number or by count, and the processors that it means.
    fn place(&mut self, board: &Board, least: u32, most: u32, share: Rate) -> Option<(Placement, ProcSet)> {
        let blocks = (board.whole(least)..=board.whole(most).min(board.capacity))
            .step_by(board.allocation_unit as usize)
            .collect::<Vec<_>>();
        let count = self.pick(&blocks)?;
        if self.below(2) == 0 {
            let unused = board.unused();
            let lowest: ProcSet = unused.get(..count as usize)?.iter().copied().collect();
            return Some((Placement::Any(count), lowest));
        }
        let mut blocks = board.blocks(share);
        let mut set = ProcSet::new();
        while set.len() < count {
            if blocks.is_empty() {
                return None;
            }
            set.insert_all(&blocks.swap_remove(self.below(blocks.len())));
        }
        Some((Placement::On(set.clone()), set))
    }

    fn act(&mut self, board: &mut Board, actions: &mut Actions) -> Option<()> {
        let able = board.jobs.iter().filter(|(_, job)| job.phase != Phase::Stalled);
        let keys: Vec<JobKey> = able.map(|(key, _)| *key).collect();
        let key = self.pick(&keys)?;
        let now = board.jobs[&key].clone();
        let share = self.share();
        match (now.phase, self.below(12)) {
            (Phase::Waiting, 0) => {
                actions.push(Action::Reject { job: key });
                board.jobs.remove(&key);
            }
            (Phase::Waiting, _) => {
                let (place, set) = self.place(board, now.size.min(), now.size.max(), share)?;
                actions.push(Action::Start { job: key, placement: place, share });
                board.jobs.insert(key, Now { phase: Phase::Running, place: set, share, ..now });
            }
            (phase, 0) if phase.is_active() || phase == Phase::Suspended => {
                actions.push(Action::Kill { job: key });
                board.jobs.remove(&key);
            }
            (Phase::Running, 1..=4) => {
                actions.push(Action::Suspend { job: key, why: None });
                board.jobs.insert(key, Now { phase: Phase::Suspended, ..now });
                self.moved = true;
            }
            (Phase::Running, 5..=8) if now.size.is_malleable() => {
                let job = board.jobs.remove(&key)?;
                let found = self.place(board, now.size.min(), now.size.max(), now.share);
                board.jobs.insert(key, job);
                let (place, set) = found?;
                actions.push(Action::Resize { job: key, placement: place, why: EventCause::None });
                board.jobs.insert(key, Now { place: set, ..now });
                self.moved = true;
            }
            (phase, _) if phase.is_active() => {
                let full =
                    |proc: u32| board.shares(proc) - now.share.units() + share.units() > Rate::FULL.units();
                if !now.place.iter().any(full) {
                    actions.push(Action::SetShare { job: key, share });
                    board.jobs.insert(key, Now { share, ..now });
                }
            }
            (Phase::Suspended, _) => {
                let had = now.place.len();
                let (least, most) =
                    if now.size.is_malleable() { (now.size.min(), now.size.max()) } else { (had, had) };
                let (place, set) = if self.same || self.below(2) == 0 {
                    let blocks = board.blocks(share);
                    let room: ProcSet = blocks.iter().flat_map(ProcSet::iter).collect();
                    room.contains_all(&now.place)
                        .then(|| (Placement::On(now.place.clone()), now.place.clone()))?
                } else {
                    self.place(board, least, most, share)?
                };
                actions.push(Action::Resume { job: key, placement: place, share });
                board.jobs.insert(key, Now { phase: Phase::Running, place: set, share, ..now });
                self.moved = true;
            }
            _ => unreachable!("not among these"),
        }
        Some(())
    }
}

impl LocalPolicy for Chaos {
    fn on(&mut self, _change: Change, _view: &View<'_>) {}

    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
        let mut jobs = BTreeMap::new();
        let on_their_way = [Phase::Suspending, Phase::Resuming, Phase::Reconfiguring];
        let others = [Phase::Waiting, Phase::Running, Phase::Suspended, Phase::Stalled];
        for phase in others.into_iter().chain(on_their_way) {
            for key in view.jobs_in(phase) {
                let live = view.job(key);
                let (size, place, share) = (live.size().clone(), live.placement().clone(), live.share());
                jobs.insert(key, Now { phase, size, place, share });
            }
        }
        let open = view.here().iter().collect();
        let (capacity, processors, allocation_unit) =
            (view.capacity(), view.processors(), view.allocation_unit());
        let mut board = Board {
            jobs,
            capacity,
            processors,
            allocation_unit,
            multiprogramming_level: self.multiprogramming_level,
            open,
        };
        for proc in view.here().iter() {
            assert_eq!(view.load(proc), board.on(proc).count() as u32, "the view tells the load");
        }
        let kept = board.jobs.values().filter(|job| job.phase == Phase::Stalled);
        let kept: u32 = kept.map(|job| job.place.intersection(view.here()).len()).sum();
        let kept = if self.multiprogramming_level == 1 { kept } else { 0 };
        assert_eq!(capacity, view.here().len() - kept, "the view tells what can be given");
        // Jobs that go on may have brought too much, also where machines drain.
        let share = Rate::ratio(1, u64::from(self.multiprogramming_level));
        let crowded: Vec<u32> =
            (0..processors).filter(|proc| board.shares(*proc) > Rate::FULL.units()).collect();
        for (key, job) in &mut board.jobs {
            let on = |proc: &u32| job.place.contains(*proc);
            if job.phase.is_active() && job.share > share && crowded.iter().any(on) {
                actions.push(Action::SetShare { job: *key, share });
                job.share = share;
            }
        }
        assert_eq!(view.free(), board.unused().len() as u32, "the view tells what is free");
        self.moved = false;
        for _ in 0..self.below(8) {
            let _ = self.act(&mut board, actions);
            if self.costly && self.moved {
                break;
            }
        }
        if !board.jobs.is_empty() {
            actions.wake_at(view.now() + Span::from_micros(1 + self.below(5_000_000) as u64));
        }
    }

    fn save(&self) -> Vec<u8> {
        self.stream.to_le_bytes().to_vec()
    }

    fn restore(&mut self, saved: &[u8], _view: &View<'_>) -> Result<(), String> {
        self.stream = u64::from_le_bytes(saved.try_into().map_err(|_| "eight bytes".to_owned())?);
        Ok(())
    }

    fn adopt(&mut self, _view: &View<'_>) {}
}

proptest! {
    #![proptest_config(crate::support::cases(500))]

    #[test]
    fn whatever_is_allowed_keeps_the_law(
        case in cases(vec!["fcfs".to_owned()], 20),
        seed in 0_u64..1_000_000,
        multiprogramming_level in 1_u32..4,
        same in any::<bool>(),
        preemption in costs(),
        steps in 0_usize..40,
    ) {
        let registry = Registry::standard().with(chaos());
        let Case { spec, jobs, .. } = case;
        // Its book has the lowest numbers, and machines whose processors are shared do not sleep.
        let mut spec = SiteSpec { placement: PlacementRule::Lowest, ..support::awake(spec) };
        spec.cap_power(None).expect("no cap");
        let same = if same { ",same=1" } else { "" };
        let costly = costly(&preemption);
        spec.policy = format!("chaos[seed={seed},multiprogramming_level={multiprogramming_level}{same}{costly}]").parse().unwrap();
        spec.preemption = preemption;
        spec.order = gridemu::model::InstantOrder::Instant;
        let ran = run_with(&registry, &spec, &jobs);
        check(&spec, &jobs, &ran, Law { multiprogramming_level, gaps: true, kills: true, ..Law::default() });
        // And again with a stop in the middle.
        let (mut grid, mut records) = (support::grid(&registry, &spec, &jobs).unwrap(), Vec::new());
        for _ in 0..steps {
            grid.step(&mut records).unwrap();
        }
        let saved = support::through_bytes(&grid.snapshot().unwrap());
        let mut grid = support::grid(&registry, &spec, &jobs).unwrap();
        grid.restore(saved, false).unwrap();
        grid.run(&mut records).unwrap();
        prop_assert_eq!(ran, Ran::of(&grid, records));
    }
}

// ---- what is not allowed, one at a time ----

/// Starts jobs 1 (processors 0 and 1) and 2 (2 and 3) when they come, and does one thing wrong when job 3 comes.
fn wrong() -> PolicyInfo {
    PolicyInfo::new("wrong", |named| {
        let plain = named.params.contains_key("plain");
        let able = Abilities {
            preempts: !plain,
            resizes: !plain,
            slows: !plain,
            same_processors: true,
            ..free(number(named, "multiprogramming_level") as u32)
        };
        let wrong = Wrong(named.params.get("do").cloned().unwrap_or_default());
        named.params.clear();
        Ok((Box::new(wrong), able))
    })
    .doc("Does one thing wrong.")
}

struct Wrong(String);

fn resize(job: JobKey, placement: Placement) -> Action {
    Action::Resize { job, placement, why: EventCause::None }
}

fn start(job: u32, place: Placement) -> Action {
    Action::Start { job: JobKey(job), placement: place, share: Rate::FULL }
}

fn on(from: u32, to: u32) -> Placement {
    Placement::On(ProcSet::range(from, to))
}

impl LocalPolicy for Wrong {
    fn on(&mut self, _change: Change, _view: &View<'_>) {}

    /// Keys are dense: job `n` has key `n − 1`.
    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
        if view.now().micros() == 0 {
            actions.push(start(0, on(0, 2)));
            actions.push(start(1, on(2, 4)));
            return;
        }
        let share = Rate::FULL;
        let (one, two, three) = (JobKey(0), JobKey(1), JobKey(2));
        let wrong = match self.0.as_str() {
            "start-nobody" => start(99, Placement::Any(1)),
            "kill-nobody" => Action::Kill { job: JobKey(99) },
            "start-running" => start(0, Placement::Any(2)),
            "suspend-waiting" => Action::Suspend { job: three, why: None },
            "resume-running" => Action::Resume { job: one, placement: on(0, 2), share },
            "resize-waiting" => resize(three, on(4, 8)),
            "share-waiting" => Action::SetShare { job: three, share },
            "kill-waiting" => Action::Kill { job: three },
            "reject-running" => Action::Reject { job: one },
            "suspend-twice" => {
                actions.push(Action::Suspend { job: one, why: None });
                Action::Suspend { job: one, why: None }
            }
            "too-many" => start(2, Placement::Any(6)),
            "taken" => start(2, on(1, 7)),
            "not-there" => start(2, on(4, 10)),
            "too-few" => start(2, Placement::Any(3)),
            "none" => start(2, Placement::Any(0)),
            "beyond-max" => resize(two, on(2, 8)),
            "resume-smaller" => {
                actions.push(Action::Suspend { job: one, why: None });
                Action::Resume { job: one, placement: on(0, 1), share }
            }
            "elsewhere" => {
                actions.push(Action::Suspend { job: one, why: None });
                Action::Resume { job: one, placement: on(4, 6), share }
            }
            "no-share" => Action::Start { job: three, placement: Placement::Any(4), share: Rate::ZERO },
            "two-shares" => Action::Start {
                job: three,
                placement: Placement::Any(4),
                share: Rate::from_units((1 << 20) + 1),
            },
            "set-no-share" => Action::SetShare { job: one, share: Rate::ZERO },
            "set-no-efficiency" | "set-efficiency" => {
                let full = if self.0 == "set-efficiency" { 1 } else { 0 };
                Action::SetEfficiency { job: one, efficiency: Rate::ratio(full, 1) }
            }
            "set-much-efficiency" => Action::SetEfficiency { job: one, efficiency: Rate::ratio(101, 1) },
            "efficiency-waiting" => Action::SetEfficiency { job: three, efficiency: Rate::FULL },
            "oversubscribed" => start(2, on(1, 7)),
            "no-slot" => {
                actions.push(Action::SetShare { job: one, share: Rate::ratio(1, 3) });
                let share = Rate::ratio(1, 3);
                actions.push(Action::Start { job: JobKey(3), placement: on(0, 1), share });
                Action::Start { job: JobKey(4), placement: on(0, 1), share }
            }
            "resize-rigid" => resize(one, on(0, 3)),
            "suspend" => Action::Suspend { job: one, why: None },
            "resize" => resize(two, on(2, 6)),
            "half-block" => start(2, on(5, 9)),
            "wake-now" => return actions.wake_at(view.now()),
            other => unreachable!("{other}"),
        };
        actions.push(wrong);
    }

    fn adopt(&mut self, _view: &View<'_>) {}
}

/// 8 processors, 0 to 3 taken by jobs 1 (rigid) and 2 (malleable, 1 to 4); at 10 s come job 3 for 6 (4 to 6), 4 and 5 for 1.
fn wrong_jobs() -> Vec<Job> {
    vec![
        job(1, 0, 2, 100),
        job(2, 0, 2, 100).malleable(1, 4, Speedup::Linear),
        job(3, 10, 6, 50).moldable(4, 6, Speedup::Linear),
        job(4, 10, 1, 50),
        job(5, 10, 1, 50),
    ]
}

fn blamed(spec: &SiteSpec) -> PolicyError {
    let registry = Registry::standard().with(wrong());
    match try_run(&registry, spec, &wrong_jobs()) {
        Err(GridError::Entity(EntityError::Partition(PartitionError::Policy(error)))) => *error,
        other => panic!("{}: {other:?}", spec.policy),
    }
}

#[test]
fn each_thing_that_is_wrong_has_its_violation() {
    use Violation as V;
    let cases: &[(&str, &str, Violation)] = &[
        ("do=start-nobody", "start job with key 99", V::NoSuchJob),
        ("do=kill-nobody", "kill job with key 99", V::NoSuchJob),
        ("do=start-running", "start job 1", V::WrongPhase("running")),
        ("do=suspend-waiting", "suspend job 3", V::WrongPhase("waiting")),
        ("do=resume-running", "resume job 1", V::WrongPhase("running")),
        ("do=resize-waiting", "resize job 3", V::WrongPhase("waiting")),
        ("do=share-waiting", "set the share of job 3", V::WrongPhase("waiting")),
        ("do=kill-waiting", "kill job 3", V::WrongPhase("waiting")),
        ("do=reject-running", "reject job 1", V::WrongPhase("running")),
        ("do=suspend-twice", "suspend job 1", V::WrongPhase("suspended")),
        ("do=too-many", "start job 3", V::NotEnough { needed: 6, free: 4 }),
        ("do=taken", "start job 3", V::NotFree(1)),
        ("do=not-there", "start job 3", V::NotFree(8)),
        ("do=not-there,multiprogramming_level=2", "start job 3", V::NotFree(8)),
        ("do=too-few", "start job 3", V::BadSize(3)),
        ("do=none", "start job 3", V::BadSize(0)),
        ("do=beyond-max", "resize job 2", V::BadSize(6)),
        ("do=resume-smaller", "resume job 1", V::BadSize(1)),
        ("do=elsewhere", "resume job 1", V::OtherProcessors),
        ("do=no-share", "start job 3", V::BadShare),
        ("do=two-shares", "start job 3", V::BadShare),
        ("do=set-no-share", "set the share of job 1", V::BadShare),
        ("do=set-no-efficiency", "set the efficiency of job 1", V::BadEfficiency),
        ("do=set-much-efficiency", "set the efficiency of job 1", V::BadEfficiency),
        ("do=efficiency-waiting", "set the efficiency of job 3", V::WrongPhase("waiting")),
        ("do=oversubscribed,multiprogramming_level=2", "share processors", V::Oversubscribed(1)),
        ("do=no-slot,multiprogramming_level=2", "start job 5", V::NoSlot(0)),
        ("do=resize-rigid", "resize job 1", V::NotMalleable),
        ("do=suspend,plain=1", "suspend job 1", V::NotDeclared("suspends jobs")),
        ("do=resize,plain=1", "resize job 2", V::NotDeclared("resizes jobs")),
        (
            "do=set-efficiency,plain=1",
            "set the efficiency of job 1",
            V::NotDeclared("slows down jobs that share processors"),
        ),
        ("do=wake-now", "wake", V::WakeNotLater),
    ];
    for (params, action, reason) in cases {
        let policy = format!("wrong[{params}]");
        let error = blamed(&site(8, &policy));
        assert_eq!((error.action.as_str(), &error.reason), (*action, reason), "{policy}");
        let written = error.policy.parse::<Named>();
        assert_eq!(written, policy.parse::<Named>());
        let message = error.to_string();
        let place = format!("policy `{}` of site `site` at 10 s: {action}: {reason}", error.policy);
        assert_eq!(message, place);
    }
}

#[test]
fn parts_of_blocks_are_refused() {
    let mut spec = site(12, "wrong[do=half-block]");
    spec.partitions[0].allocation_unit = 2;
    // 5 to 8 is a whole number of blocks, but not whole blocks.
    let error = blamed(&spec);
    assert_eq!((error.action.as_str(), error.reason), ("start job 3", Violation::PartOfBlock(5)));
}

/// What a policy ends itself: a kill fails the job, a refusal rejects it.
#[test]
fn what_a_policy_ends_is_recorded_as_such() {
    fn ends() -> PolicyInfo {
        PolicyInfo::new("ends", |_| Ok((Box::new(Ends), Abilities::PLAIN)))
            .doc("Kills job 1 and rejects job 2.")
    }
    struct Ends;
    impl LocalPolicy for Ends {
        fn on(&mut self, _change: Change, _view: &View<'_>) {}
        fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
            if view.now().micros() == 0 {
                return actions.start(JobKey(0), 1);
            }
            actions.push(Action::Kill { job: JobKey(0) });
            actions.push(Action::Reject { job: JobKey(1) });
        }
        fn adopt(&mut self, _view: &View<'_>) {}
    }
    let jobs = [job(1, 0, 1, 100), job(2, 30, 1, 100)];
    let ran = run_with(&Registry::standard().with(ends()), &site(1, "ends"), &jobs);
    check(&site(1, "ends"), &jobs, &ran, Law { kills: true, ..Law::default() });
    assert_eq!((ran.job(1).outcome, ran.times(1)), (Outcome::Failed, (0, 30)));
    assert!(matches!(ran.job(2).outcome, Outcome::Rejected(_)));
}
