//! Selective suspension: the theory of Kettimuthu 2003, section 3.1, schedules worked by hand, and a slow twin that follows section 3.3 line by
//! line at every multiple of a minute, with plain vectors.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use gridemu::local::policies::{Dropped, Limit, Margin, Placing, Selective, SelectiveOptions, WidthRule};
use gridemu::local::{
    Abilities, Action, Actions, Change, LocalPolicy, Placement, PolicyInfo, Preempted, Registry, View,
};
use gridemu::model::{
    Cause, ClassifiedBy, Job, JobClasses, JobKey, JobMemory, MemoryLaw, Named, Outcome, Preemption, ProcSet,
    SegmentRecord, SiteSpec,
};
use gridemu::units::{Bytes, Rate, Span, Time};
use proptest::prelude::*;

use crate::support::{self, Ran, With, job, run_with, site};

const ABLE: Abilities =
    Abilities { preempts: true, same_processors: true, picks_processors: true, ..Abilities::PLAIN };

// ---- a twin that looks at everything ----

/// The parameters, as the twin reads them.
#[derive(Clone, Debug)]
struct Terms {
    /// The suspension factor in thousandths.
    factor: u128,
    strict: bool,
    every: u64,
    width: &'static str,
    reentry_width: bool,
    drop: &'static str,
    min_gain: Option<i64>,
    placing: Placing,
    /// Thousandths.
    limit: Option<u128>,
}

impl Terms {
    fn written(&self, name: &str) -> String {
        let Self { factor, strict, every, width, reentry_width, drop, min_gain, placing, limit } = self;
        let thousandths = |number: u128| format!("{}.{:03}", number / 1000, number % 1000);
        let (factor, limit) = (thousandths(*factor), limit.map_or("none".to_owned(), thousandths));
        let (compare, gain) = (
            if *strict { "above" } else { "at-least" },
            min_gain.map_or("none".to_owned(), |gain| gain.to_string()),
        );
        let placement = if placing.away { "away" } else { "lowest" };
        let restart = if placing.anywhere { "anywhere" } else { "same" };
        // It is refused where it is of no use.
        let of_use = *width != "none" && !placing.anywhere;
        let reentry = if of_use { format!("reentry_width={reentry_width},") } else { String::new() };
        format!(
            "{name}[factor={factor},compare={compare},every={every} s,width={width},{reentry}drop={drop},\
             min_gain={gain},placement={placement},restart={restart},limit={limit}]"
        )
    }

    fn options(&self) -> SelectiveOptions {
        let millis =
            |number: u128| format!("{}.{:03}", number / 1000, number % 1000).parse().expect("a factor");
        SelectiveOptions {
            margin: Margin { factor: millis(self.factor), strict: self.strict },
            every: Span::from_secs(self.every),
            width: match self.width {
                "told" => WidthRule::Told,
                "printed" => WidthRule::Printed,
                _ => WidthRule::None,
            },
            reentry_width: self.reentry_width,
            dropped: match self.drop {
                "largest" => Dropped::Largest,
                "smallest" => Dropped::Smallest,
                _ => Dropped::Last,
            },
            min_gain: self.min_gain,
            placing: self.placing,
            limit: self.limit.map(|limit| Limit::running(millis(limit))),
        }
    }
}

/// An idle or running job, as the twin keeps it.
#[derive(Clone, Debug)]
struct Task {
    job: JobKey,
    seq: u64,
    estimate: u128,
    /// What it had waited up to `since`; it waits from then on if it is idle, and not if it runs.
    waited: u128,
    since: Time,
    runs: bool,
    /// The processors that it has or had.
    procs: ProcSet,
    count: u32,
}

impl Task {
    /// τ as (wait + estimate, estimate).
    fn tau(&self, now: Time) -> (u128, u128) {
        let more = if self.runs { 0 } else { u128::from(now.since(self.since).micros()) };
        (self.waited + more + self.estimate, self.estimate)
    }
}

fn less(a: (u128, u128), b: (u128, u128)) -> std::cmp::Ordering {
    (a.0 * b.1).cmp(&(b.0 * a.1))
}

struct Slow {
    terms: Terms,
    tasks: Vec<Task>,
    classes: JobClasses,
    /// Sum of bounded slowdowns in millionths, and their number, by category.
    finished: BTreeMap<usize, (u128, u128)>,
}

impl Slow {
    /// The category of a job that takes so long.
    fn category_of(&self, runtime: Span, procs: u32) -> usize {
        self.classes.index(self.classes.of(ClassifiedBy { runtime, estimate: runtime, procs }, 1))
    }

    /// Whether τ is more than limit × average of the category.
    fn is_past(&self, task: &Task, now: Time) -> bool {
        let Some(limit) = self.terms.limit else { return false };
        let estimate = Span::from_micros(task.estimate as u64);
        let category = self.category_of(estimate, task.count);
        let (sum, count) = self.finished.get(&category).copied().unwrap_or((1_000_000, 1));
        let (num, den) = task.tau(now);
        num * count * 1_000_000 * 1_000 > limit * sum * den
    }

    fn candidates(&self, i: &Task, width: bool, now: Time) -> Vec<Task> {
        let Terms { factor, strict, .. } = self.terms;
        let (num, den) = i.tau(now);
        let may = |j: &&Task| {
            let (n_i, n_j) = (i.count, j.count);
            let by_width = match self.terms.width {
                "told" if width => 2 * n_i >= n_j,
                "printed" if width => n_i < 2 * n_j,
                _ => true,
            };
            let (num_j, den_j) = j.tau(now);
            let (mine, theirs) = (num * den_j * 1000, factor * num_j * den);
            let by_tau = if strict { mine > theirs } else { mine >= theirs };
            // One that begins at this very instant stays.
            j.runs && j.since < now && by_width && by_tau && !self.is_past(j, now)
        };
        let mut found: Vec<Task> = self.tasks.iter().filter(may).cloned().collect();
        found.sort_by(|a, b| less(a.tau(now), b.tau(now)).then(b.seq.cmp(&a.seq)));
        found
    }

    /// The victims of an idle job: `None` if it cannot start.
    fn victims(&self, i: &Task, free: &ProcSet, routine: bool, now: Time) -> Option<Vec<Task>> {
        let is_enough = |victims: &[Task]| {
            let freed: u32 = victims.iter().map(|j| j.count).sum();
            free.len() + freed >= i.count
        };
        let gain = |victims: &[Task]| {
            let freed: i64 = victims.iter().map(|j| i64::from(j.count)).sum();
            self.terms.min_gain.is_none_or(|least| i64::from(i.count) - freed >= least)
        };
        if !i.procs.is_empty() && !self.terms.placing.anywhere {
            // N_i ⊆ F ∪ ⋃ N_j over candidates that hold some of it.
            let width = self.terms.reentry_width;
            let mut candidates = if routine { self.candidates(i, width, now) } else { Vec::new() };
            candidates.retain(|j| !j.procs.is_disjoint(&i.procs.difference(free)));
            let mut reach = free.clone();
            candidates.iter().for_each(|j| reach.insert_all(&j.procs));
            let fits = reach.contains_all(&i.procs) && is_enough(&candidates);
            return (fits && (candidates.is_empty() || gain(&candidates))).then_some(candidates);
        }
        if is_enough(&[]) {
            return Some(Vec::new());
        }
        if !routine {
            return None;
        }
        let mut victims = Vec::new();
        for j in self.candidates(i, true, now) {
            victims.push(j);
            if is_enough(&victims) {
                break;
            }
        }
        if !is_enough(&victims) {
            return None;
        }
        // Drop one after the other of which the rest is enough.
        loop {
            let without = |at: usize| {
                let mut rest = victims.clone();
                rest.remove(at);
                rest
            };
            let superfluous = (0..victims.len()).filter(|at| is_enough(&without(*at)));
            let dropped = match self.terms.drop {
                "largest" => superfluous.max_by_key(|at| (victims[*at].count, *at)),
                "smallest" => superfluous.min_by_key(|at| (victims[*at].count, Reverse(*at))),
                _ => superfluous.max(),
            };
            let Some(dropped) = dropped else { break };
            victims.remove(dropped);
        }
        gain(&victims).then_some(victims)
    }

    fn place(&self, view: &View<'_>, free: &ProcSet, count: u32) -> ProcSet {
        let mut away = free.clone();
        if self.terms.placing.away {
            for task in self.tasks.iter().filter(|task| !task.runs) {
                away.remove_all(&task.procs);
            }
        }
        let first = count.min(away.len());
        let mut picked = view.pick(&away, first).expect("so many are there");
        picked.insert_all(&view.pick(&free.difference(&away), count - first).expect("they are enough"));
        picked
    }
}

impl LocalPolicy for Slow {
    fn on(&mut self, change: Change, view: &View<'_>) {
        match change {
            Change::Arrived(job) => {
                let live = view.job(job);
                self.tasks.push(Task {
                    job,
                    seq: live.seq(),
                    estimate: u128::from(live.estimate().max(Span::TICK).micros()),
                    waited: 0,
                    since: live.ready(),
                    runs: false,
                    procs: ProcSet::new(),
                    count: live.procs(),
                });
            }
            Change::Ended(job) | Change::Withdrawn(job) => {
                let at = self.tasks.iter().position(|task| task.job == job).expect("it is known");
                let gone = self.tasks.remove(at);
                if change == Change::Ended(job) && view.is_finished(job) {
                    let live = view.job(job);
                    let ran = u128::from(view.now().since(live.ready()).micros()) - gone.waited;
                    let of = self.category_of(Span::from_micros(ran as u64), gone.count);
                    let all = self.finished.entry(of).or_default();
                    *all = (all.0 + 1_000_000 + gone.waited * 1_000_000 / ran.max(10_000_000), all.1 + 1);
                }
            }
            _ => {}
        }
    }

    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
        let now = view.now();
        let mut free = view.free_set().clone();
        let every = self.terms.every * 1_000_000;
        let routine = now.micros().is_multiple_of(every);
        loop {
            let mut idle: Vec<Task> = self.tasks.iter().filter(|task| !task.runs).cloned().collect();
            idle.sort_by(|a, b| less(b.tau(now), a.tau(now)).then(a.seq.cmp(&b.seq)));
            let first = idle.into_iter().find_map(|i| Some((self.victims(&i, &free, routine, now)?, i)));
            let Some((victims, i)) = first else { break };
            for victim in &victims {
                let [ours, theirs] = [victim.job, i.job].map(|job| view.job(job).xfactor(now));
                actions.preempt(victim.job, Preempted { by: i.job, ours, theirs });
                let task = self.tasks.iter_mut().find(|task| task.job == victim.job).expect("it runs");
                (task.runs, task.since) = (false, now);
                free.insert_all(&victim.procs);
            }
            let (job, share) = (i.job, Rate::FULL);
            let is_free_to_choose = i.procs.is_empty() || self.terms.placing.anywhere;
            let procs = if is_free_to_choose { self.place(view, &free, i.count) } else { i.procs.clone() };
            free.remove_all(&procs);
            let placement = Placement::On(procs.clone());
            actions.push(match i.procs.is_empty() {
                true => Action::Start { job, placement, share },
                false => Action::Resume { job, placement, share },
            });
            let task = self.tasks.iter_mut().find(|task| task.job == job).expect("it is idle");
            let waited = task.tau(now).0 - task.estimate;
            (task.runs, task.since, task.waited, task.procs) = (true, now, waited, procs);
        }
        if self.tasks.iter().any(|task| !task.runs) {
            actions.wake_at(Time::from_micros((now.micros() / every + 1) * every));
        }
    }

    fn adopt(&mut self, _: &View<'_>) {
        unreachable!("the twin is not restored");
    }
}

/// The standard policies, the twin, and the policy that wakes at every multiple, with these parameters.
fn with_twins(terms: &Terms) -> Registry {
    let (slow, eager) = (terms.clone(), terms.clone());
    let able = Abilities { same_processors: !terms.placing.anywhere, ..ABLE };
    let twin = PolicyInfo::new("slow-ss", move |_| {
        let classes = "kettimuthu-16".parse().expect("a preset");
        let twin = Slow { terms: slow.clone(), tasks: Vec::new(), classes, finished: BTreeMap::new() };
        Ok((Box::new(twin), able))
    });
    let eager = PolicyInfo::new("eager-ss", move |_: &mut Named| {
        Ok((Box::new(Selective::new(eager.options()).eager()), able))
    });
    Registry::standard().with(twin.doc("Section 3.3, line by line.")).with(eager.doc("Every minute."))
}

fn terms() -> impl Strategy<Value = Terms> {
    let factor = prop_oneof![Just(1000_u128), Just(1500), Just(2000), 1000_u128..6000];
    let width = proptest::sample::select(vec!["told", "told", "printed", "none"]);
    let drop = proptest::sample::select(vec!["largest", "smallest", "last"]);
    let gain = prop_oneof![3 => Just(None), 1 => (-6_i64..3).prop_map(Some)];
    let limit =
        prop_oneof![2 => Just(None), 1 => prop_oneof![Just(1500_u128), 500_u128..4000].prop_map(Some)];
    let every = proptest::sample::select(vec![60_u64, 60, 7, 1]);
    let placing = prop_oneof![
        3 => Just(Placing::default()),
        4 => Just(Placing { away: true, anywhere: false }),
        3 => Just(Placing { away: false, anywhere: true }),
    ];
    ((factor, any::<bool>(), every), (width, any::<bool>(), drop), (gain, placing, limit)).prop_map(
        |((factor, strict, every), (width, reentry_width, drop), (min_gain, placing, limit))| Terms {
            factor,
            strict,
            every,
            width,
            reentry_width,
            drop,
            min_gain,
            placing,
            limit,
        },
    )
}

/// Jobs of a machine of 12, often in full minutes and with equal sizes and lengths, so that there are ties.
pub(crate) fn jobs(most: usize) -> impl Strategy<Value = Vec<Job>> {
    let gap =
        prop_oneof![3 => Just(0_u64), 3 => 1_u64..4, 2 => (0_u64..4).prop_map(|n| n * 60), 2 => 0_u64..300];
    let runtime = prop_oneof![1 => Just(0_u64), 4 => (1_u64..8).prop_map(|n| n * 60), 3 => 1_u64..40, 2 => 1_u64..2_000];
    let estimate = prop_oneof![3 => Just(0_u64), 1 => 1_u64..50, 1 => 1_u64..3_000];
    let procs = prop_oneof![4 => 1_u32..5, 3 => 1_u32..13];
    proptest::collection::vec((gap, procs, runtime, estimate), 1..most).prop_map(|raw| {
        let mut submit = 0;
        let job = |(id, (gap, procs, runtime, more)): (u64, (u64, u32, u64, u64))| {
            submit += gap;
            job(id, submit, procs, runtime).estimate(runtime + more)
        };
        (1..).zip(raw).map(job).collect()
    })
}

proptest! {
    #![proptest_config(support::cases(96))]

    /// The policy, the policy that looks every minute, and the twin leave the same records.
    #[test]
    fn it_follows_section_3_3_line_by_line(terms in terms(), jobs in jobs(40)) {
        let registry = with_twins(&terms);
        let ran = |policy: &str| run_with(&registry, &site(12, policy), &jobs);
        let (fast, slow) = (ran(&terms.written("ss")), ran("slow-ss"));
        prop_assert_eq!(&fast.records, &slow.records, "{}", terms.written("ss"));
        let eager = ran("eager-ss");
        prop_assert_eq!(&fast.records, &eager.records);
        prop_assert!(fast.tally.passes <= eager.tally.passes, "{} and {}", fast.tally.passes, eager.tally.passes);
        prop_assert_eq!(fast.jobs().filter(|job| job.outcome == Outcome::Completed).count(), jobs.len(), "none starves");
    }
}

// ---- the theory of section 3.1 ----

/// How often jobs are suspended: the stretches beyond the first of each.
fn suspensions(ran: &Ran) -> usize {
    let mut last: BTreeMap<_, &SegmentRecord> = BTreeMap::new();
    let mut count = 0;
    for segment in ran.segments() {
        count += usize::from(last.insert(segment.job, segment).is_some_and(|last| last.to < segment.from));
    }
    count
}

/// Two jobs of the whole machine and of equal length, which come together.
fn two_equal_jobs(policy: &str) -> usize {
    let jobs = [job(1, 0, 8, 10_000), job(2, 0, 8, 10_000)];
    suspensions(&support::run(&site(8, policy), &jobs))
}

#[test]
fn two_equal_jobs_are_suspended_n_times_for_the_root_of_two_that_is_one_more() {
    // 2, 2^(1/2), 2^(1/3) and 2^(1/4), rounded up: at most n suspensions; with a little less, one more.
    for (n, root, less) in
        [(0, "2", "1.99"), (1, "1.414214", "1.41"), (2, "1.259922", "1.255"), (3, "1.189208", "1.186")]
    {
        for compare in ["above", "at-least"] {
            let count =
                |factor: &str| two_equal_jobs(&format!("ss[factor={factor},every=1 s,compare={compare}]"));
            assert_eq!(count(root), n, "s = {root}, {compare}");
            assert_eq!(count(less), n + 1, "s = {less}, {compare}");
        }
    }
}

#[test]
fn with_a_factor_of_one_only_the_routine_bounds_the_suspensions() {
    // In units of 1,000 s. Above: the running job is overtaken when the other has waited longer, which is so every second time from 1 on, until the
    // second job has run for 10 at 19: at 1, 3, ..., 17. At least: every time, until the first has run for 10 at 19.
    assert_eq!(two_equal_jobs("ss[factor=1,every=1000 s]"), 9);
    assert_eq!(two_equal_jobs("ss[factor=1,every=1000 s,compare=at-least]"), 18);
}

#[test]
fn above_two_nothing_changes_for_equal_jobs_of_the_whole_machine() {
    let jobs: Vec<Job> = (1..6).map(|id| job(id, 0, 8, 10_000)).collect();
    for factor in ["2", "2.5", "5"] {
        let ran = support::run(&site(8, &format!("ss[factor={factor},every=1 s]")), &jobs);
        assert_eq!(suspensions(&ran), 0, "{factor}");
        assert_eq!(ran.times(5), (40_000, 50_000));
    }
}

// ---- schedules by hand ----

/// The stretches of a job: from, to, and its processors.
pub(crate) fn stretches(ran: &Ran, id: u64) -> Vec<(u64, u64, String)> {
    let own = ran.segments().filter(|segment| segment.job.0 == id);
    let of = |segment: &SegmentRecord| {
        let mut procs = Vec::new();
        segment.procs.write_intervals(&mut procs);
        let secs = |time: Time| time.micros() / 1_000_000;
        (secs(segment.from), secs(segment.to), String::from_utf8(procs).expect("digits"))
    };
    own.map(of).collect()
}

pub(crate) fn stretch(from: u64, to: u64, procs: &str) -> (u64, u64, String) {
    (from, to, procs.to_owned())
}

#[test]
fn a_narrow_job_suspends_none_of_more_than_twice_its_processors() {
    // Job 2 has half of the processors of job 1: its expansion factor 1 + (t - 10) / 100 is above 2 from 110 on, so at 120.
    // Job 3 has a quarter, and has waited for 2 times its length by then: it gets what is left over.
    let jobs = [job(1, 0, 4, 1_000), job(2, 10, 2, 100), job(3, 20, 1, 50)];
    let ran = support::run(&site(4, "ss"), &jobs);
    assert_eq!(stretches(&ran, 1), [stretch(0, 120, "0-3"), stretch(220, 1_100, "0-3")]);
    assert_eq!(stretches(&ran, 2), [stretch(120, 220, "0-1")]);
    assert_eq!(stretches(&ran, 3), [stretch(120, 170, "2")]);
    // Without the rule job 3, whose expansion factor is 3, goes first.
    let ran = support::run(&site(4, "ss[width=none]"), &jobs);
    assert_eq!(stretches(&ran, 3), [stretch(120, 170, "0")]);
    assert_eq!(stretches(&ran, 2), [stretch(120, 220, "1-2")]);
    // As it is printed, a job suspends none of half its processors or fewer: here all of them have more.
    let ran = support::run(&site(4, "ss[width=printed]"), &jobs);
    assert_eq!(stretches(&ran, 3), [stretch(120, 170, "0")]);
    // With not fewer processors in use afterwards, neither may: 2 - 4 and 1 - 4 are below 0.
    let ran = support::run(&site(4, "ss[min_gain=0]"), &jobs);
    assert_eq!(suspensions(&ran), 0);
    assert_eq!(suspensions(&support::run(&site(4, "ss[min_gain=-2]"), &jobs)), 1);
}

#[test]
fn a_suspended_job_comes_back_by_suspending_those_in_its_way() {
    // Job 2 takes the place of job 1 at 120, where 1 + 110 / 100 > 2. Job 3 comes to job 1's other processors, and is
    // longer. Job 1 has waited 100 at 220: 1.1 of 1,000. It needs more than 2 against job 3, which started at 1: at 120 +
    // 1,000 its expansion factor is 2, and at 1,140 above that.
    let jobs = [job(1, 0, 4, 1_000), job(2, 10, 2, 100), job(3, 130, 2, 5_000)];
    let ran = support::run(&site(4, "ss"), &jobs);
    assert_eq!(stretches(&ran, 1), [stretch(0, 120, "0-3"), stretch(1_140, 2_020, "0-3")]);
    assert_eq!(stretches(&ran, 3), [stretch(130, 1_140, "2-3"), stretch(2_020, 6_010, "2-3")]);
    // As the formula is printed, 4 / 2 < 2 is not so, and job 1 waits; unless the rule is not for jobs that come back.
    let printed = support::run(&site(4, "ss[width=printed]"), &jobs);
    assert_eq!(stretches(&printed, 1)[1], stretch(5_130, 6_010, "0-3"));
    let free = support::run(&site(4, "ss[width=printed,reentry_width=false]"), &jobs);
    assert_eq!(stretches(&free, 1)[1], stretch(1_140, 2_020, "0-3"));
}

#[test]
fn away_leaves_processors_to_suspended_jobs() {
    // Job 1 is suspended at 120 for job 2, for which job 4 is too wide; that ends at 150, and frees processors that job 1 does not wait for.
    // Job 3 comes at 160.
    let jobs = [job(1, 0, 2, 1_000), job(4, 0, 3, 150), job(2, 10, 1, 50), job(3, 160, 1, 2_000)];
    let ran = |policy: &str| support::run(&site(5, policy), &jobs);
    let lowest = ran("ss");
    assert_eq!(stretches(&lowest, 1)[..1], [stretch(0, 120, "0-1")]);
    assert_eq!(stretches(&lowest, 2), [stretch(120, 170, "0")]);
    assert_eq!(stretches(&lowest, 3)[0].2, "1", "where job 1 wants to come back");
    let away = ran("ss[placement=away]");
    assert_eq!(stretches(&away, 3), [stretch(160, 2_160, "2")]);
    assert_eq!(stretches(&away, 1)[1], stretch(170, 1_050, "0-1"));
}

#[test]
fn a_job_that_is_past_its_limit_is_not_suspended() {
    // Job 2 starts at 600, when it has waited for 0.6 of its length. Job 3 needs an expansion factor of more than 3.2: at 840.
    let jobs = [job(1, 0, 4, 600), job(2, 0, 4, 1_000), job(3, 610, 2, 100)];
    let ran = |policy: &str| support::run(&site(4, policy), &jobs);
    assert_eq!(stretches(&ran("ss"), 2), [stretch(600, 840, "0-3"), stretch(940, 1_700, "0-3")]);
    // 1.6 is more than 1.5 times the average of its category, of which none has finished.
    assert_eq!(stretches(&ran("tss"), 3), [stretch(1_600, 1_700, "0-1")]);
    assert_eq!(ran("tss[limit=none]").records, ran("ss").records);
    // 1.6 × 1 is not less than its expansion factor. Nor is 1.5 times an average of 1.76.
    assert_eq!(stretches(&ran("tss[limit=1.6]"), 2).len(), 2);
    let table = "2.6/4.76/13.01/34.07/1.26/1.76/3.04/7.14/1.13/1.43/1.88/1.63/1.03/1.05/1.09/1.15";
    assert_eq!(stretches(&ran(&format!("tss[average={table}]")), 2).len(), 2);
    // Of 1 it is.
    let ones = vec!["1"; 16].join("/");
    assert_eq!(stretches(&ran(&format!("tss[average={ones}]")), 2).len(), 1);
}

#[test]
fn wrong_parameters_are_told() {
    let told = |policy: &str| {
        let built = Registry::standard().build(&policy.parse().expect("a name"));
        built.map(|_| ()).expect_err("it is wrong").to_string()
    };
    assert!(told("ss[factor=0.9]").contains("`factor=0.9` in `ss` is not a decimal number from 1 to 999999"));
    assert!(told("ss[factor=1.2345678]").contains("with at most 6 places"));
    assert!(told("ss[every=0 s]").contains("a time above 0"));
    assert!(told("ss[average=1/2]").contains("of use without a `limit`"));
    assert!(told("tss[average=1/2]").contains("`VS W` has none"), "{}", told("tss[average=1/2]"));
    assert!(told("ss[min_gain=all]").contains("a number of processors, such as 0, or `none`"));
    assert!(told("ss[shadow=by]").contains("`min_gain`"), "the message lists what there is");
    assert!(told("tss[limit=0]").contains("`limit=0` in `tss` is not above 0"), "{}", told("tss[limit=0]"));
    // What would do nothing.
    let unused = |policy: &str| told(policy).contains("is not of use with");
    assert!(unused("ss[placement=away,restart=anywhere]") && unused("is[placement=away,restart=anywhere]"));
    assert!(
        unused("ss[width=none,reentry_width=true]") && unused("ss[restart=anywhere,reentry_width=false]")
    );
}

// ---- where suspending takes time ----

/// A site on which it takes 10 s to suspend a job, and 5 s to resume it.
fn costly(processors: u32, policy: &str) -> SiteSpec {
    let mut spec = site(processors, policy);
    spec.preemption = crate::preemption::costs();
    spec
}

#[test]
fn a_job_waits_until_its_victims_have_written_their_memory() {
    // Job 2 suspends job 1 at 120 and starts when that has written its memory, at 130. Job 3 comes at 125 and would fit on what is left over, which
    // is free from 130 on. Job 1 reads its memory at 230.
    let jobs = [job(1, 0, 4, 1_000), job(2, 10, 2, 100), job(3, 125, 1, 50)];
    let ran = support::run(&costly(4, "ss"), &jobs);
    assert_eq!(stretches(&ran, 2), [stretch(130, 230, "0-1")]);
    assert_eq!(stretches(&ran, 3), [stretch(130, 180, "2")]);
    let (writes, reads) = (stretch(120, 130, "0-3"), stretch(230, 235, "0-3"));
    assert_eq!(stretches(&ran, 1), [stretch(0, 120, "0-3"), writes, reads, stretch(235, 1_115, "0-3")]);
}

#[test]
fn nobody_else_gets_what_is_claimed() {
    // Job 3 has one processor free and takes two of job 1 at 120; job 4 comes at 121, and needs one: it gets none before 130.
    let jobs = [job(1, 0, 3, 1_000), job(2, 0, 2, 119), job(3, 10, 4, 100), job(4, 121, 1, 5)];
    let ran = support::run(&costly(5, "ss"), &jobs);
    assert_eq!(stretches(&ran, 3), [stretch(130, 230, "0-3")]);
    // The fifth processor is not claimed.
    assert_eq!(stretches(&ran, 4), [stretch(121, 126, "4")]);
    let jobs = [job(1, 0, 3, 1_000), job(2, 0, 2, 119), job(3, 10, 5, 100), job(4, 121, 1, 5)];
    let ran = support::run(&costly(5, "ss"), &jobs);
    assert_eq!(stretches(&ran, 3), [stretch(130, 230, "0-4")]);
    assert_eq!(stretches(&ran, 4), [stretch(230, 235, "0")]);
    assert_eq!(stretches(&ran, 1).last(), Some(&stretch(240, 1_120, "0-2")), "it has run for 120");
}

/// Two equal jobs that need all processors take turns where the factor is 1. What reads its memory waits: job 1 waits from 60 to 195, and job 2 has waited longer
/// at 300, the first multiple after 245. Job 2 waited until 70.
#[test]
fn a_job_that_reads_its_memory_waits() {
    let jobs = [job(1, 0, 4, 1_000), job(2, 0, 4, 1_000)];
    let ran = support::run(&costly(4, "ss[factor=1]"), &jobs);
    let first =
        [(0, 60), (60, 70), (190, 195), (195, 300), (300, 310)].map(|(from, to)| stretch(from, to, "0-3"));
    assert_eq!(stretches(&ran, 1)[..5], first);
    assert_eq!(stretches(&ran, 2)[..2], [(70, 180), (180, 190)].map(|(from, to)| stretch(from, to, "0-3")));
}

/// It takes as long to read as from one multiple to the next: at the instant from which on a job works, it is no victim, though the other has waited for as long.
#[test]
fn a_job_works_before_it_is_suspended_again() {
    let jobs = [job(1, 0, 4, 1_000), job(2, 0, 4, 1_000)];
    for (write, read) in [("1 MB/s", Some("1 MB/s")), ("1 GB/s", Some("2 MB/s")), ("2 MB/s", None)] {
        let mut spec = costly(4, "ss[factor=1]");
        spec.preemption = Preemption {
            memory: JobMemory::Law(MemoryLaw::Fixed(Bytes::new(120_000_000))),
            write: Some(write.parse().expect("a bandwidth")),
            read: read.map(|read| read.parse().expect("a bandwidth")),
            ..Preemption::default()
        };
        let ran = support::run(&spec, &jobs);
        assert_eq!(ran.jobs().filter(|job| job.outcome == Outcome::Completed).count(), 2);
        let works = ran.segments().filter(|segment| segment.cause == Cause::Run && segment.job.0 == 1);
        assert!(works.count() > 3, "they take turns");
    }
}

#[test]
fn an_arriving_job_waits_for_its_victims_too() {
    let jobs = [job(1, 0, 4, 1_000), job(2, 700, 2, 100)];
    let ran = support::run(&costly(4, "is"), &jobs);
    assert_eq!(stretches(&ran, 2), [stretch(710, 810, "0-1")]);
    assert_eq!(stretches(&ran, 1).last(), Some(&stretch(815, 1_115, "0-3")));
}

proptest! {
    #![proptest_config(support::cases(48))]

    /// Every job ends, and the schedule is possible, also where it takes time to suspend and to resume jobs. A site where that takes none is as one
    /// that says nothing of it.
    #[test]
    fn none_starves_where_suspending_takes_time(terms in terms(), jobs in jobs(30), is: bool) {
        let policy = if is { "is[quantum=1 min]".to_owned() } else { terms.written("ss") };
        let ran = support::run(&costly(12, &policy), &jobs);
        prop_assert_eq!(ran.jobs().filter(|job| job.outcome == Outcome::Completed).count(), jobs.len());
        let mut free = costly(12, &policy);
        free.preemption.memory = JobMemory::Law(MemoryLaw::Fixed(Bytes::ZERO));
        prop_assert_eq!(support::run(&free, &jobs).records, support::run(&site(12, &policy), &jobs).records);
    }
}
