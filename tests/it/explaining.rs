//! Explanations of the decisions of policies: they agree with the decisions on random sites, and with hand-worked cases.

use std::collections::BTreeSet;

use gridemu::local::{
    Abilities, Action, Actions, Blocker, Change, Explanation, LocalPolicy, Partition, Phase, Placement,
    PolicyInfo, Reason, Registry, Rule, Slot, SlotRequest, StartEstimates, View, Why,
};
use gridemu::model::{
    Elastic, ElasticCommand, InstantOrder, Job, JobId, JobKey, JobRef, MachineGroup, Named, Origin, Record,
    SiteId, SiteSpec, SleepSpec,
};
use gridemu::report::explained_rule;
use gridemu::units::{Power, Rate, Span, Time};
use proptest::prelude::*;

use crate::churn_invariants::{Churning, churning};
use crate::cli::gridemu;
use crate::driver::{Act, Driver, Script};
use crate::invariants::{Case, cases, variants};
use crate::support::{self, With, job, put_to_sleep, reserve, run_with, site};

/// Compares the facts that each pass leaves with its actions.
fn explained_info() -> PolicyInfo {
    PolicyInfo::new("explained", |named| {
        let (inner, able) = inner(named);
        named.params.clear();
        Ok((Box::new(Explained { inner }), able))
    })
    .doc("Another policy, whose facts are compared with its actions.")
}

struct Explained {
    inner: Box<dyn LocalPolicy>,
}

fn inner(named: &Named) -> (Box<dyn LocalPolicy>, Abilities) {
    let mut named = named.clone();
    named.name = named.params.remove("of").expect("the policy that explains itself");
    Registry::standard().build(&named).expect("a policy")
}

/// `easy[order=sjf]` as `explained[of=easy,order=sjf]`.
fn wrapped(policy: &Named) -> Named {
    let mut named = Named { name: "explained".to_owned(), ..policy.clone() };
    named.params.insert("of".to_owned(), policy.name.clone());
    named
}

/// What goes for every explanation of a job that waits on after a pass at `now`.
fn check_wait(told: &Explanation, live_procs: u32, now: Time, about: &str) {
    assert!(!told.starts(), "nothing keeps {about} from starting: {told:?}");
    assert_ne!(told.reason(), Reason::Unsaid, "{about}: {told:?}");
    assert!(!explained_rule(told).is_empty() && told.needs == live_procs, "{about}: {told:?}");
    assert!(
        matches!(told.reason(), Reason::Kept | Reason::Early | Reason::OtherSlice)
            || !told.blockers.is_empty(),
        "nobody holds {about}: {told:?}"
    );
    match told.reason() {
        Reason::Behind => {
            let first = told.blockers.first();
            assert!(matches!(first, Some(Blocker::Waiting { .. })), "{about}: {told:?}");
        }
        Reason::WouldDelay => {
            assert!(told.shadow.is_some_and(|shadow| shadow > now), "{about}: {told:?}");
            assert!(told.needs <= told.free, "{about}: {told:?}");
            assert!(told.spare.is_some_and(|spare| spare < told.needs), "{about}: {told:?}");
        }
        Reason::Planned | Reason::Kept | Reason::Early => {
            assert!(told.start.is_some_and(|start| start > now), "{about}: {told:?}");
        }
        _ => {}
    }
    if let Why::MayOvertake { delay: Some(delay), .. } = &told.why {
        assert!(told.shadow.is_some_and(|shadow| now < shadow && shadow <= delay.from), "{about}: {told:?}");
        assert!(delay.from < delay.end && delay.spare < told.needs, "{about}: {told:?}");
    }
}

impl LocalPolicy for Explained {
    fn on(&mut self, change: Change, view: &View<'_>) {
        self.inner.on(change, view);
    }

    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
        let mut traced = Actions::traced(view.now());
        self.inner.schedule(view, &mut traced);
        let started: BTreeSet<JobKey> = (traced.as_slice().iter())
            .filter_map(|action| match action {
                Action::Start { job, .. } => Some(*job),
                _ => None,
            })
            .collect();
        let decision = traced.decision().expect("facts");
        assert_eq!(decision.at, view.now());
        if view.multiprogramming_level() == 1 {
            let of = |job: &JobKey| view.job(*job).placement().len();
            let size = |placement: &Placement| match placement {
                Placement::Any(procs) => *procs,
                Placement::On(procs) => procs.len(),
                another => unreachable!("{another:?}"),
            };
            let (mut taken, mut left) = (0, 0);
            for action in traced.as_slice() {
                match action {
                    Action::Start { placement, .. } | Action::Resume { placement, .. } => {
                        taken += size(placement)
                    }
                    Action::Suspend { job, .. } => left += of(job),
                    Action::Resize { job, placement, .. } => {
                        (taken, left) = (taken + size(placement), left + of(job));
                    }
                    _ => {}
                }
            }
            assert_eq!(decision.free + taken, view.free() + left, "what is free at {}", view.now());
        }
        for job in view.jobs_in(Phase::Waiting) {
            let told = decision.explain(view, job, view.now());
            let about = format!("job {} at {}", view.job(job).id(), view.now());
            assert_eq!(told.starts(), started.contains(&job), "{about}: {told:?} by {decision:?}");
            if !told.starts() {
                check_wait(&told, view.job(job).procs(), view.now(), &about);
            }
        }
        traced.as_slice().iter().for_each(|action| actions.push(action.clone()));
        traced.wake().into_iter().for_each(|wake| actions.wake_at(wake));
    }

    fn offers(&self, view: &View<'_>, request: &SlotRequest) -> Vec<Slot> {
        self.inner.offers(view, request)
    }

    fn start_estimates(&self, view: &View<'_>) -> StartEstimates {
        self.inner.start_estimates(view)
    }

    fn save(&self) -> Vec<u8> {
        self.inner.save()
    }

    fn restore(&mut self, saved: &[u8], view: &View<'_>) -> Result<(), String> {
        self.inner.restore(saved, view)
    }

    fn adopt(&mut self, view: &View<'_>) {
        self.inner.adopt(view);
    }
}

/// Waiting jobs of a partition after what has happened at `now`: no pass has started them, and each is told why.
fn check_partition(partition: &Partition, now: Time) {
    let view = partition.view(now);
    let passed = partition.decision().map_or(now, |decision| decision.at);
    for key in view.jobs_in(Phase::Waiting) {
        let told = partition.explain(key, now).expect("it waits");
        let about = format!("job {} after {now}", view.job(key).id());
        check_wait(&told, view.job(key).procs(), passed, &about);
    }
}

/// Runs instant by instant, and asks after each.
fn check_instants(spec: &SiteSpec, jobs: &[Job]) {
    let mut grid = support::grid(&Registry::standard(), spec, jobs).expect("a grid");
    grid.trace_decisions(None);
    let mut records: Vec<Record> = Vec::new();
    while let Some(stamp) = grid.step(&mut records).expect("it runs") {
        if grid.next_event().is_none_or(|next| next.time > stamp.time) {
            let site = grid.sites().next().expect("a site");
            site.partitions().iter().for_each(|partition| check_partition(partition, stamp.time));
        }
    }
}

proptest! {
    #![proptest_config(crate::support::cases(200))]

    #[test]
    fn what_is_said_to_start_starts(case in cases(variants(), 30)) {
        let Case { mut spec, jobs, .. } = case;
        spec.policy = wrapped(&spec.policy);
        run_with(&Registry::standard().with(explained_info()), &spec, &jobs);
    }

    #[test]
    fn what_is_said_to_start_starts_while_machines_come_and_go(case in churning(variants(), 25)) {
        let Churning { mut spec, jobs, script } = case;
        spec.policy = wrapped(&spec.policy);
        Driver::new(&Registry::standard().with(explained_info()), &spec, &jobs, &script).run();
    }

    #[test]
    fn who_waits_after_an_instant_is_told_why(case in cases(variants(), 25)) {
        check_instants(&case.spec, &case.jobs);
    }
}

/// The explanation of a job right after an instant, in seconds.
pub(crate) fn explained(spec: &SiteSpec, jobs: &[Job], id: u64, at: u64) -> Explanation {
    explained_with(&Registry::standard(), spec, jobs, id, at)
}

fn explained_with(registry: &Registry, spec: &SiteSpec, jobs: &[Job], id: u64, at: u64) -> Explanation {
    let mut grid = support::grid(registry, spec, jobs).expect("a grid");
    grid.trace_decisions(None);
    let now = Time::from_secs(at);
    let mut records: Vec<Record> = Vec::new();
    grid.run_until(now, &mut records).expect("it runs");
    let partition = &grid.sites().next().expect("a site").partitions()[0];
    let key = partition.find(JobRef::new(Origin::Local, SiteId(0), JobId(id))).expect("the job is there");
    partition.explain(key, now).expect("it waits")
}

fn named(told: &Explanation) -> Vec<u64> {
    told.blockers.iter().filter_map(|blocker| blocker.who().map(|who| who.number.0)).collect()
}

/// Ten processors: job 1 has 6 until 100 s; job 2 waits for 8 from 10 s on, job 3 for 4 from 20 s on.
fn jobs() -> [Job; 4] {
    [
        job(1, 0, 6, 100),
        job(2, 10, 8, 50),
        job(3, 20, 4, 200),
        // Only the first three are at odds; this one is short.
        job(4, 25, 4, 60).estimate(75),
    ]
}

#[test]
fn fcfs_lets_nobody_overtake() {
    let told = explained(&site(10, "fcfs"), &jobs(), 3, 20);
    assert_eq!((told.reason(), told.needs, told.free), (Reason::Behind, 4, 4));
    assert_eq!(named(&told), [2, 1]);
    assert_eq!((told.shadow, told.start), (None, None), "only backfilling has a shadow time");
    let start = Some(Time::from_secs(100));
    assert!(matches!(told.blockers[0], Blocker::Waiting { start: head, .. } if head == start), "{told:?}");
    assert_eq!(
        explained_rule(&told),
        "no job may pass the head of the queue: job 2 needs 8 processors, and 4 are free, enough for this job"
    );
    let head = explained(&site(10, "fcfs"), &jobs(), 2, 20);
    assert_eq!(
        (head.reason(), named(&head), head.start),
        (Reason::NoRoom, vec![1], Some(Time::from_secs(100)))
    );
}

/// Job 2 is to start at 100 s, when job 1 ends; it leaves 2 of 10. Job 3 would run until 220 s on 4. Job 4 is over at 100 s.
#[test]
fn easy_keeps_the_reservation_of_the_first_job() {
    let told = explained(&site(10, "easy"), &jobs(), 3, 20);
    assert_eq!(
        (told.reason(), told.shadow, told.spare),
        (Reason::WouldDelay, Some(Time::from_secs(100)), Some(2))
    );
    assert_eq!(named(&told), [2, 1]);
    assert_eq!(
        explained_rule(&told),
        "it would delay job 2, the head of the queue, which is to start at 100 s: it is expected to run until 220 s on 4 processors, and 2 are spare then"
    );
    assert_eq!(told.profile, [(Time::from_secs(20), 4), (Time::from_secs(100), 2)]);
    // Job 4 has been backfilled at 25 s: nothing is free now.
    let later = explained(&site(10, "easy"), &jobs(), 3, 25);
    assert_eq!((later.reason(), later.needs, later.free, later.spare), (Reason::NoRoom, 4, 0, Some(2)));
    assert_eq!(
        explained_rule(&later),
        "it needs 4 processors, and none is free; and it would delay job 2, which has the reservation: it is expected to run until 225 s, and 2 are spare at 100 s"
    );
    // A fifth that is over by then might pass.
    let short: Vec<Job> = jobs().into_iter().chain([job(5, 30, 4, 70)]).collect();
    let passes = explained(&site(10, "easy"), &short, 5, 30);
    assert_eq!((passes.reason(), passes.spare), (Reason::NoRoom, None));
    assert_eq!(
        explained_rule(&passes),
        "it may be backfilled before job 2, which has the reservation, but needs 4 processors, and none is free"
    );
    let head = explained(&site(10, "easy"), &jobs(), 2, 20);
    assert_eq!(
        (head.reason(), head.start, named(&head)),
        (Reason::NoRoom, Some(Time::from_secs(100)), vec![1])
    );
}

#[test]
fn easy_tells_who_is_tried_before() {
    let told = explained(&site(10, "easy[order=sjf]"), &jobs(), 3, 25);
    assert_eq!((told.reason(), told.free), (Reason::NoRoom, 0));
    assert!(named(&told).contains(&4), "{told:?}");
}

/// Job 2 has a reservation from 100 s to 150 s. From 20 s to 220 s job 3 would need 4, and 2 are left then: it goes to 150 s.
#[test]
fn conservative_names_the_reservations_before() {
    let told = explained(&site(10, "conservative"), &jobs(), 3, 20);
    assert_eq!((told.reason(), told.start), (Reason::Planned, Some(Time::from_secs(150))));
    assert_eq!(named(&told), [2]);
    assert_eq!(
        explained_rule(&told),
        "its reservation is at 150 s: until 220 s it would need 4 processors, and from 100 s on 2 are left beside running jobs and earlier reservations"
    );
}

#[test]
fn a_reservation_of_the_book_is_named() {
    for policy in ["easy", "conservative"] {
        let spec = reserve(site(10, policy), "demo", 50, 80, 8);
        let told = explained(&spec, &[job(1, 0, 4, 100)], 1, 0);
        assert_eq!(
            (told.reason(), told.start),
            (Reason::Reserved, Some(Time::from_secs(80))),
            "{policy}: {told:?}"
        );
        assert!(matches!(&told.blockers[..], [Blocker::Booking { name, .. }] if name == "demo"), "{told:?}");
    }
}

/// At most two jobs a processor: jobs 1 and 2 are on all four, job 3 waits for places and job 4 behind it.
#[test]
fn equal_share_fills_its_level() {
    let jobs = [job(1, 0, 4, 100), job(2, 1, 4, 100), job(3, 2, 2, 10), job(4, 3, 1, 10)];
    let spec = site(4, "equal-share[mpl=2]");
    let told = explained(&spec, &jobs, 3, 3);
    assert_eq!((told.reason(), named(&told)), (Reason::Level, vec![1, 2]));
    assert_eq!(
        explained_rule(&told),
        "it is the head of the queue and needs 2 processors with fewer than 2 jobs, and there is none"
    );
    let behind = explained(&spec, &jobs, 4, 3);
    assert_eq!((behind.reason(), named(&behind)), (Reason::Behind, vec![3, 1, 2]));
}

/// Ten processors, and jobs may overrun. Jobs 1 (4 processors, which said 5 s), 2 (1, until 10 s) and 3 (1, until 11 s) run; job
/// 4 waits for 8. At 4 s its shadow time is 5 s with nothing to spare, and jobs 5 and 6, of a second each, would still be there
/// then. At 10 s job 1 is overdue and expected to end at 11 s; 2 of the 10 that are free then are spare, and job 5 takes them.
/// Job 6 waits because job 5 was chosen, and not for nobody: what a next pass would do is not what this one has done.
#[test]
fn who_was_chosen_instead_is_named() {
    let jobs = [
        job(1, 0, 4, 11).estimate(5),
        job(2, 0, 1, 10),
        job(3, 0, 1, 11),
        job(4, 1, 8, 5),
        job(5, 4, 2, 1),
        job(6, 4, 1, 1),
    ];
    let spec = SiteSpec { overrun: true, ..site(10, "los") };
    let told = explained(&spec, &jobs, 6, 4);
    assert_eq!((told.reason(), named(&told)), (Reason::WouldDelay, vec![4]));
    let told = explained(&spec, &jobs, 6, 10);
    assert_eq!((told.reason(), told.needs, told.free, named(&told)), (Reason::Packed, 1, 5, vec![5]));
    check_instants(&spec, &jobs);
    let ran = support::run(&spec, &jobs);
    assert_eq!((ran.times(5), ran.times(6)), ((10, 11), (11, 12)));
}

/// One pass an event: in the first of 8 s job 3 would still be there at 32 s, when job 1 is expected to end and job 2 to start.
/// Then job 1 is slowed down, and is expected to end at 56 s: the second pass of that instant starts job 3, and says so.
#[test]
fn a_second_pass_of_an_instant_speaks_for_itself() {
    let jobs = [job(1, 4, 1, 17).estimate(28), job(2, 5, 12, 1), job(3, 8, 1, 28)];
    let spec = SiteSpec {
        order: InstantOrder::Event,
        policy: wrapped(&"los".parse().expect("a name")),
        ..site(12, "los")
    };
    let slow = Act::Slow([0].into_iter().collect(), Rate::ratio(1, 2));
    let script = Script { acts: vec![(Time::from_secs(8), slow)], acts_late: true, ..Script::default() };
    let (ran, _) = Driver::new(&Registry::standard().with(explained_info()), &spec, &jobs, &script).run();
    assert_eq!(ran.times(3), (8, 36));
}

/// One pass an event: the second pass of the instant counts on the job that the first has started at the speed of the slowest machines, until 18 s, so that a third until 14 s is in
/// the way of the reservation. At the end of the instant it gets fast machines, and is over at 9 s; that is no reason that the third starts.
#[test]
fn what_passes_before_have_started_counts_as_they_counted() {
    let mut spec = reserve(site(12, "easy"), "r", 12, 20, 3);
    spec.order = InstantOrder::Event;
    let fast = spec.partitions[0].groups[0].clone();
    spec.partitions[0].groups = vec![
        MachineGroup { machines: 8, ..fast.clone() },
        MachineGroup { machines: 4, speed: Rate::ratio(1, 2), ..fast },
    ];
    let jobs = [job(1, 0, 12, 8), job(2, 0, 7, 9), job(3, 0, 3, 7)];
    let told = explained(&spec, &jobs, 3, 0);
    assert_eq!((told.reason(), told.needs, told.free), (Reason::Reserved, 3, 5));
    check_instants(&spec, &jobs);
}

/// A machine that falls asleep at the instant of the pass makes its facts old; a dedicated job still waits for its own time.
#[test]
fn a_dedicated_job_waits_for_its_time_when_machines_fall_asleep() {
    let mut spec = site(3, "hybrid-los");
    let sleep = SleepSpec {
        asleep: Power::ZERO,
        wake: Span::ZERO,
        waking: Power::ZERO,
        fall: Span::ZERO,
        falling: Power::ZERO,
    };
    put_to_sleep(&mut spec, (Some(sleep), "sleep-idle[after=0 s,reserve=0]".parse().expect("a name")));
    let told = explained(&spec, &[job(1, 0, 1, 5).from(11)], 1, 0);
    assert_eq!((told.reason(), told.start), (Reason::Early, Some(Time::from_secs(11))));
}

/// A command that changes nothing brings no pass, and what was decided before it stays so.
#[test]
fn a_command_of_nothing_changes_no_reason() {
    let mut jobs = [job(1, 0, 4, 10), job(2, 1, 4, 5), job(3, 2, 2, 5)];
    let nothing = ElasticCommand { at: Time::from_secs(5), change: Elastic::ExtendTime(Span::ZERO) };
    jobs[2].elastic = Some([nothing].into());
    for policy in ["los-e", "los-e[lookahead=1]", "delayed-los-e[cs=1]", "easy-e", "fcfs"] {
        let spec = site(4, policy);
        check_instants(&spec, &jobs);
        let (before, after) = (explained(&spec, &jobs, 3, 2), explained(&spec, &jobs, 3, 5));
        assert_eq!((before.reason(), named(&before)), (after.reason(), named(&after)), "{policy}");
    }
}

/// A first that has been skipped as often as may be starts in the next pass, be it of the same instant.
#[test]
fn hybrids_that_go_on_within_an_instant_are_followed() {
    let jobs =
        [job(1, 0, 4, 10), job(2, 1, 3, 20), job(3, 1, 4, 5), job(4, 1, 2, 30).from(10), job(5, 10, 1, 5)];
    for policy in ["hybrid-los[cs=1]", "hybrid-los[cs=0]", "los-d", "easy-d"] {
        for order in [InstantOrder::Instant, InstantOrder::Event] {
            let spec = SiteSpec { order, ..site(6, policy) };
            check_instants(&spec, &jobs);
            let spec = SiteSpec { policy: wrapped(&spec.policy), ..spec };
            run_with(&Registry::standard().with(explained_info()), &spec, &jobs);
        }
    }
}

/// The log of the page on explaining.
const LOG: &str = "; MaxProcs: 10
1 0 -1 100 6 -1 -1 6 100 -1 1 1 1 1 1 1 -1 -1
2 10 -1 50 8 -1 -1 8 50 -1 1 1 1 1 1 1 -1 -1
3 20 -1 200 4 -1 -1 4 200 -1 1 1 1 1 1 1 -1 -1
4 25 -1 60 4 -1 -1 4 75 -1 1 1 1 1 1 1 -1 -1
";

fn replayed() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let (log, out) = (folder.path().join("four.swf"), folder.path().join("out"));
    std::fs::write(&log, LOG).unwrap();
    let (log, out) = (log.to_str().unwrap(), out.to_str().unwrap().to_owned());
    let policies = ["--policy", "fcfs", "--policy", "easy", "--policy", "conservative"];
    gridemu(&[&["replay", log, "--out", &out], &policies[..]].concat()).well();
    (folder, out)
}

/// What the page shows is what is printed.
#[test]
fn the_page_shows_what_is_printed() {
    let (_folder, out) = replayed();
    let page = std::fs::read_to_string("docs/explaining.md").unwrap();
    for policy in ["fcfs", "easy", "conservative"] {
        let ran = gridemu(&["explain", &format!("{out}/{policy}"), "--job", "3"]);
        ran.well();
        let line = |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") };
        let shown: String = ran.out.lines().map(line).collect();
        assert!(page.contains(&shown), "docs/explaining.md should show\n{shown}");
        assert!(ran.out.lines().all(|line| line.chars().count() <= 100), "{}", ran.out);
    }
}

#[test]
fn one_instant_and_json() {
    let (_folder, out) = replayed();
    let easy = format!("{out}/easy");
    let told = gridemu(&["explain", &easy, "--job", "3", "--json"]).json();
    let stretches = told["stretches"].as_array().unwrap();
    let reasons: Vec<&str> = stretches.iter().map(|stretch| stretch["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons, ["would-delay", "no-room", "would-delay", "no-room"]);
    let times: Vec<f64> = stretches.iter().map(|stretch| stretch["to_s"].as_f64().unwrap()).collect();
    assert_eq!((times, &told["start_s"]), (vec![25.0, 85.0, 100.0, 150.0], &150.0.into()));
    assert_eq!(stretches[0]["held_by"][0]["who"], "job 2");
    let held = &stretches[0]["held_by"][0];
    assert_eq!(
        (&held["job"], &held["origin"], &held["kind"]),
        (&2.into(), &"local".into(), &"waiting".into())
    );
    assert_eq!((&told["job"]["number"], &told["job"]["origin"]), (&3.into(), &"local".into()));
    assert_eq!((&stretches[0]["shadow_s"], &stretches[0]["spare"]), (&100.0.into(), &2.into()));
    assert_eq!(told["attempts"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&told["attempts"][0]["ended"], &told["attempts"][0]["end_s"]),
        (&"completed".into(), &350.0.into())
    );
    let at = |at: &str| gridemu(&["explain", &easy, "--job", "3", "--at", at]).out;
    assert!(at("90").contains("at 90 s, site (`easy`): would delay"), "{}", at("90"));
    assert!(at("5").contains("at 5 s it has not been submitted: it is submitted at 20 s"), "{}", at("5"));
    assert!(at("160").contains("at 160 s it runs at site, since 150 s\n"), "{}", at("160"));
    assert!(at("400").contains("at 400 s it has ended: completed at 350 s\n"), "{}", at("400"));
}

#[test]
fn what_cannot_be_explained_is_told() {
    let (_folder, out) = replayed();
    gridemu(&["explain", &out, "--job", "3"]).ends(2, &["holds several runs", "hint: give one", "easy"]);
    let easy = format!("{out}/easy");
    gridemu(&["explain", &easy, "--job", "9"])
        .ends(2, &["no job 9 in `", "hint: its jobs have numbers from 1 to 4"]);
    gridemu(&["explain", &easy, "--job", "3", "--site", "nowhere"])
        .ends(2, &["no job in", "ended at a site `nowhere`", "hint: its jobs ended at `site`"]);
    gridemu(&["explain", &easy, "--job", "3", "--origin", "grid"])
        .ends(2, &["there are no jobs of the grid in", "hint: all are local"]);
    gridemu(&["explain", &easy, "--job", "3", "--at", "-5"]).ends(2, &["`-5` is not a time such as `7200`"]);
    gridemu(&["explain", &easy, "--job", "abc"]).ends(2, &["`abc` is not a job number", "`job`"]);
    // The log is another: the job starts at another time.
    std::fs::write(_folder.path().join("four.swf"), LOG.replace("1 0 -1 100 6", "1 0 -1 90 6")).unwrap();
    let told = gridemu(&["explain", &easy, "--job", "3"]);
    assert!(
        told.out.contains("note: the repeated run starts the job at 140 s, the folder says at 150 s:"),
        "{}",
        told.out
    );
    std::fs::remove_file(format!("{easy}/scenario.toml")).unwrap();
    gridemu(&["explain", &easy, "--job", "3"]).ends(2, &["has no scenario.toml, which says what was run"]);
    // A folder of before.
    std::fs::write(format!("{easy}/replay.json"), "{}").unwrap();
    gridemu(&["explain", &easy, "--job", "3"])
        .ends(2, &["before replays were runs", "hint: replay it again"]);
}

/// What a run has left, and what is explained of it.
struct Left {
    folder: tempfile::TempDir,
    jobs: Vec<csv::StringRecord>,
    segments: Vec<csv::StringRecord>,
    events: Vec<csv::StringRecord>,
}

/// What becomes of a job whose machine leaves: the events with which it loses an attempt.
const LOSSES: [&str; 3] = ["returned", "requeued", "failed"];

impl Left {
    /// `configs/churn.toml`, where jobs whose machine leaves meet that on_failure.
    fn by(running: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let on_failure = format!("churn.on_failure={running}");
        let out = folder.path().to_str().unwrap();
        gridemu(&["run", "configs/churn.toml", "--set", &on_failure, "--out", out]).well();
        let read = |name: &str| {
            let mut table = csv::Reader::from_path(folder.path().join(name)).unwrap();
            table.records().map(Result::unwrap).collect()
        };
        let (jobs, segments, events) = (read("jobs.csv"), read("segments.csv"), read("events.csv"));
        Self { folder, jobs, segments, events }
    }

    fn out(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }

    fn attempts(&self, at: usize) -> u64 {
        self.jobs[at][15].parse().unwrap()
    }

    /// The row of a job with ten attempts or more, of which the second begins when the first ends, and the third and fourth do not.
    fn again_at_once(&self) -> usize {
        let time = |job: &str, attempt: &str, column: usize| {
            let mut of = self.segments.iter().filter(|one| &one[0] == job && &one[1] == attempt);
            if column == 5 { of.next() } else { of.next_back() }.map(|one| one[column].to_owned())
        };
        let at_once = |at: &usize| {
            let job = &self.jobs[*at][0];
            let at_once = |next: &str, last: &str| time(job, next, 5) == time(job, last, 6);
            self.attempts(*at) >= 10 && at_once("2", "1") && !at_once("3", "2") && !at_once("4", "3")
        };
        (0..self.jobs.len()).find(at_once).expect("some job starts again at once")
    }

    /// The row of the first job with most attempts.
    fn most(&self) -> usize {
        (0..self.jobs.len()).rev().max_by_key(|at| self.attempts(*at)).unwrap()
    }

    /// Explains the job of a row: each attempt is the one of segments.csv and events.csv, and its whole life is accounted for. Returns the
    /// events with which attempts were lost.
    fn check(&self, at: usize) -> Vec<&str> {
        let row = &self.jobs[at];
        let job = &row[0];
        let told = gridemu(&["explain", self.out(), "--job", job, "--json"]).json();
        assert_eq!(told["notes"].as_array().unwrap().len(), 0, "{told:#}");
        assert_eq!((&told["outcome"], &told["end_s"]), (&row[6].into(), &secs(&row[3]).into()));
        let attempts = told["attempts"].as_array().unwrap();
        assert_eq!(attempts.len() as u64, self.attempts(at), "job {job}");
        let stretches = told["stretches"].as_array().unwrap();
        let explained = |number: u64| -> f64 {
            let wait = stretches.iter().filter(|one| one["attempt"] == number);
            wait.map(|one| one["to_s"].as_f64().unwrap() - one["from_s"].as_f64().unwrap()).sum()
        };
        let (mut losses, mut life) = (Vec::new(), 0.0);
        for (number, attempt) in (1_u64..).zip(attempts) {
            let written = number.to_string();
            let mine: Vec<_> =
                self.segments.iter().filter(|one| &one[0] == job && one[1] == *written).collect();
            let (first, last) = (mine[0], mine[mine.len() - 1]);
            assert_eq!((&attempt["attempt"], attempt["site"].as_str().unwrap()), (&number.into(), &first[2]));
            assert_eq!(attempt["start_s"], secs(&first[5]));
            assert_eq!(attempt["end_s"], secs(&last[6]));
            // A job that goes back from a queue has the number of the attempt before, and loses nothing: the first is meant.
            let lost = self
                .events
                .iter()
                .find(|event| &event[7] == job && event[9] == *written && LOSSES.contains(&&event[1]));
            let (ended, cause, work) = match lost {
                Some(event) => (&event[1], event[2].into(), secs(&event[10])),
                None => (&row[6], serde_json::Value::Null, 0.0),
            };
            assert_eq!((&attempt["ended"], &attempt["cause"]), (&ended.into(), &cause), "{number} of {job}");
            let told = attempt["wasted_proc_s"].as_f64().unwrap();
            assert!((told - work).abs() < 1e-3, "attempt {number} of job {job} lost {work}, not {told}");
            losses.extend(lost.map(|event| &event[1]));
            let (long, waited) = (explained(number), attempt["waited_s"].as_f64().unwrap());
            assert!(
                (long - waited).abs() < 1e-3,
                "attempt {number} of job {job} waits {waited} s, and {long} s are explained"
            );
            life += waited + secs(&last[6]) - secs(&first[5]);
        }
        // What it waited for after its last attempt.
        life += explained(attempts.len() as u64 + 1);
        let lived = secs(&row[3]) - secs(&row[1]);
        assert!((life - lived).abs() < 1e-3, "job {job} lived for {lived} s, and {life} s are told");
        losses
    }
}

fn secs(text: &str) -> f64 {
    text.parse().unwrap()
}

/// In one line.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

/// With its only attempt a job has lost its work, and the grid the job.
#[test]
fn the_loss_of_a_last_attempt_is_told() {
    let left = Left::by("fail");
    let failed: Vec<usize> = (0..left.jobs.len()).filter(|at| &left.jobs[*at][6] == "failed").collect();
    for at in [failed[0], failed[failed.len() / 2]] {
        assert_eq!(left.check(at), ["failed"]);
        let text = unwrapped(&gridemu(&["explain", left.out(), "--job", &left.jobs[at][0]]).out);
        let told = text.split_once(", failed at ").map_or("", |(_, rest)| rest);
        assert!(told.contains(": machine left, ") && told.contains(" processor-seconds wasted"), "{text}");
        // Right after its end as well.
        let (job, end) = (&left.jobs[at][0], &left.jobs[at][3]);
        let told = gridemu(&["explain", left.out(), "--job", job, "--at", end, "--json"]).json();
        assert_eq!(told["attempts"][0]["cause"], "machine-left", "{told:#}");
    }
    let completed = left.jobs.iter().position(|row| &row[6] == "completed").unwrap();
    assert!(left.check(completed).is_empty());
}

/// What loses its attempt may start again at once: the waits are summed up though the second attempt did not wait.
#[test]
fn attempts_that_are_queued_again_are_followed() {
    let left = Left::by("requeue");
    let most = left.most();
    let losses = left.check(most);
    assert_eq!(losses, vec!["requeued"; left.attempts(most) as usize - 1]);
    let again = left.again_at_once();
    left.check(again);
    let text = unwrapped(&gridemu(&["explain", left.out(), "--job", &left.jobs[again][0]]).out);
    assert!(text.contains(" 2 0 s - "), "the second attempt should not have waited: {text}");
    assert!(text.contains("the waits before attempts 3 to "), "{text}");
    let twice = (0..left.jobs.len()).find(|at| left.attempts(*at) == 2).unwrap();
    assert_eq!(left.check(twice), ["requeued"]);
}

/// Jobs of a grid are followed to their end, from site to site.
#[test]
fn attempts_in_a_grid_are_followed_to_the_end() {
    let left = Left::by("resubmit");
    let (rows, out) = (&left.jobs, left.out());
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|a, b| secs(&rows[*b][10]).total_cmp(&secs(&rows[*a][10])));
    let most = left.most();
    let failed = rows.iter().position(|row| &row[6] == "failed").unwrap();
    let mut losses = 0;
    for at in [most, failed, order[0], order[100], order[rows.len() - 1]] {
        let lost = left.check(at);
        assert!(lost.iter().all(|event| *event == "returned"), "{lost:?}");
        losses += lost.len();
    }
    assert!(losses > 20, "{losses}");
    gridemu(&["explain", out, "--job", "1", "--origin", "local"])
        .ends(2, &["there are no jobs of a site's own users"]);
    // In the middle of the story: the attempt and the site that hold then, not those of the first start.
    let job = &rows[most][0];
    let told = gridemu(&["explain", out, "--job", job, "--json"]).json();
    let (third, count) = (&told["attempts"][2], left.attempts(most));
    let begin = third["start_s"].as_f64().unwrap();
    let at = |time: f64| gridemu(&["explain", out, "--job", job, "--at", &time.to_string()]).out;
    let (runs, waits) = (at(begin + 1.0), at(begin - 0.5));
    let site = third["site"].as_str().unwrap();
    assert!(runs.contains(&format!("it runs at {site}, since ")), "{runs}");
    assert!(runs.contains(&format!(", attempt 3 of {count}\n")), "{runs}");
    assert!(waits.contains("before attempt 3"), "{waits}");
    let text = gridemu(&["explain", out, "--job", job]).out;
    assert_eq!(job, "845", "the page tells of the first job with most attempts");
    // Each assignment lists the pools that were compared, and the chosen one has the earliest expected completion.
    let assigned = told["assigned"].as_array().unwrap();
    assert!(assigned.len() as u64 >= count, "{}", assigned.len());
    for one in assigned {
        let compared = one["compared"].as_array().unwrap();
        let ends = compared.iter().filter_map(|pool| pool["end_s"].as_f64());
        let least = ends.fold(f64::INFINITY, f64::min);
        let chosen = compared.iter().find(|pool| pool["pool"] == one["pool"]).expect("it was compared");
        assert!(least.is_infinite() || chosen["end_s"].as_f64() == Some(least), "{one:#}");
        assert_eq!(one["reason"], "earliest completion", "{one:#}");
    }
    assert!(
        text.contains("the broker assigned it to ") && text.contains(" (earliest completion); it compared"),
        "{text}"
    );
    // It shows the beginning, and the summary of the waits between.
    let line = |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") };
    let page = std::fs::read_to_string("docs/explaining.md").unwrap();
    let parts: Vec<&str> = text.split("\n\n").collect();
    let between: Vec<&str> =
        parts.iter().copied().filter(|part| part.contains("the waits before attempts")).collect();
    assert_eq!(between.len(), 1, "{text}");
    for part in [parts[0], parts[1], between[0]] {
        let shown: String = part.lines().map(line).collect();
        assert!(page.contains(&shown), "docs/explaining.md should show\n{shown}");
    }
    assert!(text.contains("more attempts (`--all` shows them)"), "{text}");
    let all = gridemu(&["explain", out, "--job", job, "--all"]).out;
    let told =
        |number: u64| [":", "\n"].iter().any(|end| all.contains(&format!(", before attempt {number}{end}")));
    assert!((1..=count).all(told), "{all}");
    assert!(!all.contains("--all"), "{all}");
}

/// Ten processors; job 1 has all of them until 100 s, job 2 is before job 3. When job 2 starts, job 3 becomes the first in line; when
/// job 4, which came before it, ends, others are in its way.
#[test]
fn a_wait_is_split_where_the_rule_or_those_in_the_way_change() {
    let folder = tempfile::tempdir().unwrap();
    let (log, out) = (folder.path().join("log.swf"), folder.path().join("out"));
    let row = |job: u64, submit: u64, run: u64, procs: u64| {
        format!("{job} {submit} -1 {run} {procs} -1 -1 {procs} {run} -1 1 1 1 1 1 1 -1 -1\n")
    };
    // Until 60 s job 4 is there too; then job 1 alone; from 100 s on job 2.
    let rows = [row(1, 0, 100, 5), row(4, 0, 60, 5), row(2, 5, 50, 10), row(3, 10, 10, 10)];
    std::fs::write(&log, format!("; MaxProcs: 10\n{}", rows.concat())).unwrap();
    let (log, out) = (log.to_str().unwrap(), out.to_str().unwrap());
    gridemu(&["replay", log, "--out", out, "--policy", "easy"]).well();
    let told = gridemu(&["explain", out, "--job", "3", "--json"]).json();
    let stretches: Vec<(f64, f64, &str)> = told["stretches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (one["from_s"].as_f64().unwrap(), one["to_s"].as_f64().unwrap(), one["reason"].as_str().unwrap())
        })
        .collect();
    assert_eq!(stretches, [(10.0, 60.0, "no-room"), (60.0, 100.0, "no-room"), (100.0, 150.0, "no-room")]);
    let rules: Vec<bool> = told["stretches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["rule"].as_str().unwrap().contains("head of the queue"))
        .collect();
    assert_eq!(rules, [false, false, true]);
}

/// What still runs at the end of the run has an attempt without an end of its own, and is explained without complaint.
#[test]
fn unfinished_jobs_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    gridemu(&["run", "configs/quickstart.toml", "--set", "until=6 h", "--out", out]).well();
    let mut table = csv::Reader::from_path(folder.path().join("jobs.csv")).unwrap();
    let rows: Vec<_> = table.records().map(Result::unwrap).collect();
    let unfinished = rows.iter().filter(|row| &row[6] == "unfinished");
    let (ran, waited): (Vec<_>, Vec<_>) = unfinished.partition(|row| !row[2].is_empty());
    assert!(!ran.is_empty());
    for row in ran.iter().take(2).chain(waited.iter().take(2)) {
        let told =
            gridemu(&["explain", out, "--job", &row[0], "--origin", &row[20], "--site", &row[5], "--json"])
                .json();
        assert_eq!(told["notes"].as_array().unwrap().len(), 0, "{told:#}");
        let attempts = told["attempts"].as_array().unwrap();
        assert_eq!(attempts.len(), usize::from(!row[2].is_empty()), "{told:#}");
        for attempt in attempts {
            assert_eq!(
                (&attempt["ended"], &attempt["start_s"]),
                (&"unfinished".into(), &row[2].parse::<f64>().unwrap().into())
            );
        }
    }
}

/// Starts job 1 and kills it in the same pass, whose facts name it as the first in line.
struct Fickle;

impl LocalPolicy for Fickle {
    fn on(&mut self, _: Change, _: &View<'_>) {}

    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
        let first = view.jobs_in(Phase::Waiting).into_iter().find(|job| view.job(*job).id() == JobId(1));
        let Some(job) = first else { return };
        actions.start(job, view.job(job).procs());
        actions.push(Action::Kill { job });
        if let Some(trace) = actions.trace() {
            trace.rule = Rule::InOrder { first };
        }
    }

    fn adopt(&mut self, _: &View<'_>) {}
}

#[test]
fn facts_that_name_a_job_that_the_pass_has_killed_are_not_used() {
    let info = PolicyInfo::new("fickle", |_| Ok((Box::new(Fickle), Abilities::PLAIN)));
    let registry = Registry::standard().with(info);
    let told =
        explained_with(&registry, &site(10, "fickle"), &[job(1, 10, 10, 100), job(2, 10, 10, 50)], 2, 10);
    assert_eq!(told.reason(), Reason::Unsaid, "{told:?}");
}
