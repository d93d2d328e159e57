//! Machines that drain before they leave, by hand; comments contain the arithmetic.

use std::fs;

use gridemu::local::Registry;
use gridemu::model::{
    ChurnAct, Distribution, EventCause, EventKind, EventRecord, FailureAction, GroupFailures, GroupSize, Job,
    Machines, Outcome, PartitionId, PlannedChurn, ProcSet, RandomChurn, Record, SiteSpec,
};
use gridemu::platform::Usage;
use gridemu::units::{Span, Time};

use crate::churn_rules::check_churn;
use crate::cli::gridemu;
use crate::driver::{Act, Driver, Script};
use crate::grid::{build, plain};
use crate::grid_by_hand::{at, events, run};
use crate::support::{Ran, job, reserve, site};

const POLICIES: [&str; 4] = ["fcfs", "easy", "conservative", "los"];

fn of(which: &[u32]) -> ProcSet {
    which.iter().copied().collect()
}

fn script(acts: &[(u64, Act)]) -> Script {
    Script { acts: acts.iter().map(|(secs, act)| (at(*secs), act.clone())).collect(), ..Script::default() }
}

/// Runs to the end, once straight and once with a stop at an instant, and checks what can be checked.
fn lawful(spec: &SiteSpec, jobs: &[Job], acts: &[(u64, Act)], stop: u64) -> Ran {
    let (registry, script) = (Registry::standard(), script(acts));
    let (ran, gone) = Driver::new(&registry, spec, jobs, &script).run();
    check_churn(&registry, spec, jobs, &script, &ran, &gone);
    let mut again = Driver::new(&registry, spec, jobs, &script);
    again.until(stop).resume();
    assert_eq!(again.run().0.records, ran.records, "stopped at {stop}");
    ran
}

fn told(ran: &Ran) -> Vec<(u64, EventKind, u32)> {
    let events = events(&ran.records).into_iter();
    events.map(|event| (event.time.micros() / 1_000_000, event.kind, event.procs)).collect()
}

/// Useful, wasted, idle and away processor time in seconds.
fn ledger(ran: &Ran) -> [u64; 4] {
    let usage = &ran.usage[0];
    [usage.useful, usage.wasted, usage.idle(), usage.down].map(|time| (time / Usage::PROC_SECOND) as u64)
}

/// Machine 0 of four drains from 10 on, leaves at 60 and is back at 80.
fn drained() -> Vec<(u64, Act)> {
    vec![
        (10, Act::Drain(of(&[0]))),
        (60, Act::Leave(of(&[0]))),
        (60, Act::Stay(of(&[0]))),
        (80, Act::Join(of(&[0]))),
    ]
}

#[test]
fn a_job_that_does_not_end_in_time_is_lost_with_the_machine() {
    for policy in POLICIES {
        // Job 1 has 0 and 1, job 2 has 2 and 3. At 30 job 2 ends and job 3 begins on 2; job 4 needs two and begins at 40 on 2 and 3. At 60 job 1 is lost:
        // it needs two processors and has them when job 4 ends and machine 0 is back, at 80.
        let spec = SiteSpec { record_machines: true, ..site(4, policy) };
        let jobs = [job(1, 0, 2, 100), job(2, 0, 2, 30), job(3, 20, 1, 10), job(4, 21, 2, 40)];
        let ran = lawful(&spec, &jobs, &drained(), 35);
        let times: Vec<(u64, u64)> = (1..=4).map(|id| ran.times(id)).collect();
        assert_eq!(times, [(0, 180), (0, 30), (30, 40), (40, 80)], "{policy}");
        // 200 + 60 + 10 + 80 useful, 2 × 60 lost, 20 away; of 4 × 180 the rest idle: what drains is idle too.
        assert_eq!(ledger(&ran), [350, 120, 230, 20], "{policy}");
        let kinds = [
            (10, EventKind::Draining, 1),
            (60, EventKind::Left, 1),
            (60, EventKind::Requeued, 2),
            (80, EventKind::Joined, 1),
            (80, EventKind::Continued, 2),
        ];
        assert_eq!(told(&ran), kinds, "{policy}");
    }
}

#[test]
fn a_job_that_ends_in_time_is_not() {
    for policy in POLICIES {
        // Job 1 ends at 50 and leaves processor 1 to others, but not processor 0. So job 3, of two, waits for job 2's until 70; without the drain it would begin
        // at 50 on 0 and 1, and be lost at 60.
        let spec = site(4, policy);
        let jobs = [job(1, 0, 2, 50), job(2, 0, 2, 70), job(3, 20, 2, 40)];
        let ran = lawful(&spec, &jobs, &drained(), 52);
        assert_eq!([ran.times(1), ran.times(3)], [(0, 50), (70, 110)], "{policy}");
        assert_eq!(ledger(&ran)[1], 0, "{policy}: nothing is wasted");
        let ran = lawful(&spec, &jobs, &drained()[1..], 52);
        assert_eq!((ran.times(3), ledger(&ran)[1]), ((50, 110), 20), "{policy}: 2 × 10 without notice");
    }
}

#[test]
fn plans_count_on_what_is_released_and_not_on_what_drains() {
    for policy in ["easy", "conservative", "los"] {
        // Job 1 has 0, 1 and 2 until 100, and releases two. Job 2 needs three: it begins at 100 on 1, 2 and 3. So job 3 may have processor 3 if it is over
        // before 100, and not if it goes on until 101. If machine 0 did not drain, one of four would be left to it.
        let (drain, leave) = ((10, Act::Drain(of(&[0]))), (200, Act::Leave(of(&[0]))));
        let acts = [drain, leave];
        let jobs = |run| [job(1, 0, 3, 100), job(2, 20, 3, 50), job(3, 21, 1, run)];
        let spec = site(4, policy);
        for (run, acts, begins) in [(80, &acts[..], 150), (78, &acts[..], 21), (80, &acts[1..], 21)] {
            let ran = lawful(&spec, &jobs(run), acts, 30);
            assert_eq!((ran.times(2), ran.times(3)), ((100, 150), (begins, begins + run)), "{policy} {run}");
        }
    }
}

#[test]
fn a_job_too_large_for_the_rest_waits_until_the_drain_is_called_off() {
    for policy in POLICIES {
        let acts = [(10, Act::Drain(of(&[0, 9]))), (40, Act::Stay(of(&[0, 1])))];
        let jobs = [job(1, 20, 4, 10), job(2, 25, 3, 10)];
        let ran = lawful(&site(4, policy), &jobs, &acts, 22);
        // Job 2 needs no more than there are.
        assert_eq!([ran.times(1), ran.times(2)], [(40, 50), (25, 35)], "{policy}");
        assert_eq!(told(&ran), [(10, EventKind::Draining, 1), (40, EventKind::Undrained, 2)]);
    }
}

#[test]
fn a_reservation_moves_to_other_machines() {
    for policy in ["easy", "conservative"] {
        // From 5 to 50 a reservation has 0 and 1. When 0 drains it takes 2 instead, so that job 1, of two, waits for its end: then three are there.
        let spec = reserve(site(4, policy), "visit", 5, 50, 2);
        let acts = [(10, Act::Drain(of(&[0]))), (100, Act::Leave(of(&[0])))];
        let ran = lawful(&spec, &[job(1, 20, 2, 10), job(2, 20, 1, 10)], &acts, 30);
        assert_eq!([ran.times(1), ran.times(2)], [(50, 60), (20, 30)], "{policy}");
    }
}

#[test]
fn where_processors_are_shared_nobody_joins_a_job_on_a_machine_that_drains() {
    // Two machines, two jobs each at most. Job 1 has machine 0 alone. Job 2 goes to machine 1, and job 3 too, as 0 drains: each of them at half the speed.
    let acts = [(5, Act::Drain(of(&[0])))];
    let jobs = [job(1, 0, 1, 100), job(2, 10, 1, 30), job(3, 10, 1, 30)];
    let ran = lawful(&site(2, "equal-share[mpl=2]"), &jobs, &acts, 20);
    assert_eq!([ran.times(1), ran.times(2), ran.times(3)], [(0, 100), (10, 70), (10, 70)]);
}

// ---- by chance, in groups, and as a whole site ----

fn law(secs: u64) -> Distribution {
    Distribution::Exponential { mean: Span::from_secs(secs) }
}

/// Machines that leave and come: when, which, and for which reason.
fn outages(records: &[Record]) -> Vec<(Time, EventKind, EventCause, ProcSet)> {
    let of = |event: &&EventRecord| matches!(event.kind, EventKind::Left | EventKind::Joined);
    let events = events(records).into_iter().filter(of);
    events.map(|event| (event.time, event.kind, event.cause, event.machines.clone())).collect()
}

#[test]
fn a_notice_changes_no_outage_and_comes_so_long_before() {
    let mut calm = plain(&[6], "mct", 0, 10);
    calm.sites[0].churn.random = Some(RandomChurn { up: law(90), down: law(20) });
    let mut told = calm.clone();
    let notice = Span::from_secs(30);
    told.sites[0].churn.notice = notice;
    let last = || vec![job(1, 0, 1, 1), job(2, 3_000, 1, 1)];
    let (records, _) = run(&told, last());
    assert_eq!(outages(&run(&calm, last()).0), outages(&records));
    // By machine: when it is back, and when it drains.
    let (mut back, mut drains) = ([Time::ZERO; 6], [None; 6]);
    let (mut left, mut clipped) = (0, 0);
    for event in events(&records) {
        for machine in event.machines.iter().map(|machine| machine as usize) {
            match event.kind {
                EventKind::Draining => {
                    assert_eq!((event.cause, drains[machine]), (EventCause::Chance, None));
                    drains[machine] = Some(event.time);
                }
                EventKind::Left => {
                    let from = event.time.micros().saturating_sub(notice.micros());
                    let from = Time::from_micros(from).max(back[machine]);
                    clipped += u32::from(from == back[machine]);
                    left += 1;
                    assert_eq!(
                        drains[machine].take(),
                        Some(from),
                        "machine {machine} leaves at {}",
                        event.time
                    );
                }
                EventKind::Joined => back[machine] = event.time,
                _ => {}
            }
        }
    }
    assert!(left > 100 && (10..left).contains(&clipped), "{left} leave, {clipped} of them soon");
}

#[test]
fn groups_have_a_notice_of_their_own() {
    let mut spec = plain(&[4], "mct", 0, 10);
    spec.sites[0].churn.groups = Some(GroupFailures {
        every: law(200),
        size: GroupSize::Rack(2),
        window: Span::from_secs(5),
        down: law(30),
        notice: Span::ZERO,
    });
    let last = || vec![job(1, 0, 1, 1), job(2, 3_000, 1, 1)];
    let calm = run(&spec, last()).0;
    spec.sites[0].churn.groups.as_mut().expect("groups").notice = Span::from_secs(40);
    let records = run(&spec, last()).0;
    assert_eq!(outages(&calm), outages(&records));
    let (mut draining, mut left) = (ProcSet::new(), 0);
    for event in events(&records) {
        match event.kind {
            EventKind::Draining => {
                assert_eq!(event.cause, EventCause::Group);
                draining.insert_all(&event.machines);
            }
            EventKind::Left => {
                assert!(draining.contains_all(&event.machines), "each has drained: {event:?}");
                draining.remove_all(&event.machines);
                left += 1;
            }
            _ => {}
        }
    }
    assert!(left > 20, "{left}");
}

fn planned(secs: u64, act: ChurnAct) -> PlannedChurn {
    PlannedChurn { at: at(secs), act }
}

#[test]
fn a_site_that_drains_takes_no_jobs_of_the_grid() {
    // Job 1 runs to its end. Job 2 waits behind it at the site, and goes back when it drains at 20; job 3 comes after that. Both run when the site is back, at 100.
    let mut spec = plain(&[2], "mct", 0, 10);
    let churn = &mut spec.sites[0].churn;
    churn.return_queued = true;
    churn.script = vec![
        planned(20, ChurnAct::DrainSite),
        planned(60, ChurnAct::LeaveSite),
        planned(100, ChurnAct::JoinSite),
    ];
    let jobs = vec![job(1, 0, 2, 30), job(2, 5, 2, 10), job(3, 21, 1, 10)];
    let (records, _) = run(&spec, jobs);
    let told = crate::grid::jobs_of(&records);
    let of = |id: u64| told.iter().find(|job| job.id.0 == id).expect("it ended");
    assert_eq!((of(1).end, of(1).attempts), (at(30), 1));
    assert!(of(2).start >= Some(at(100)) && of(3).start >= Some(at(100)), "{told:?}");
    let kinds: Vec<(EventKind, EventCause)> =
        events(&records).iter().map(|event| (event.kind, event.cause)).collect();
    assert!(kinds.contains(&(EventKind::Draining, EventCause::Script)), "{kinds:?}");
    assert!(kinds.contains(&(EventKind::Returned, EventCause::SiteDrains)), "{kinds:?}");
    assert!(!kinds.contains(&(EventKind::Undrained, EventCause::Script)), "{kinds:?}");
}

/// A policy that queues jobs where nothing is free waits for a site that drains: no job is turned away again and again until its retries are used up.
#[test]
fn nobody_is_sent_to_a_site_that_drains() {
    for policy in ["random[absent=queue]", "mct[absent=queue]", "least-loaded[absent=queue]"] {
        let mut spec = plain(&[2], policy, 0, 10);
        spec.sites[0].churn.script = vec![
            planned(20, ChurnAct::DrainSite),
            planned(600, ChurnAct::LeaveSite),
            planned(700, ChurnAct::JoinSite),
        ];
        let jobs = (1..30).map(|id| job(id, 20 * id, 1, 10)).collect();
        let (records, _) = run(&spec, jobs);
        let refused = events(&records).iter().filter(|event| event.kind == EventKind::Refused).count();
        let completed =
            crate::grid::jobs_of(&records).iter().filter(|job| job.outcome == Outcome::Completed).count();
        // The first comes when the last report is 10 s old.
        assert!(refused <= 1 && completed == 29, "{policy}: {refused} refused, {completed} completed");
    }
}

/// Runs `old` until `secs`, then as `new`: the kinds and times of events, and the starts of jobs.
fn forked(
    old: &gridemu::model::GridSpec,
    new: &gridemu::model::GridSpec,
    secs: u64,
    jobs: &[Job],
) -> Vec<Record> {
    use gridemu::grid::{Merge, WindowOptions};
    let (mut grid, mut records) = (build(old, jobs.to_vec()), Vec::new());
    let mut merge = Merge::new(grid.nodes().len());
    let options = WindowOptions::default();
    grid.run_segment(None, Some(at(secs)), options, &mut merge, &mut records).expect("it runs");
    let saved = grid.snapshot().expect("a state");
    let mut fork = build(new, jobs.to_vec());
    fork.restore(saved, true).expect("it goes on");
    fork.run_segment(None, None, WindowOptions::default(), &mut merge, &mut records).expect("it runs");
    fork.finish_run(None, &mut merge, &mut records).expect("it ends");
    records
}

#[test]
fn a_fork_may_change_the_notice() {
    // Machine 0, the only one, leaves at 100 and is back at 120. With a notice of 40 s from the fork at 70 on it drains at once, and the job of 80 begins at 120.
    let all = Machines { partition: PartitionId(0), which: ProcSet::full(1) };
    let mut plain_spec = plain(&[1], "mct", 0, 10);
    plain_spec.sites[0].churn.on_failure = FailureAction::Requeue;
    plain_spec.sites[0].churn.script =
        vec![planned(100, ChurnAct::Leave(all.clone())), planned(120, ChurnAct::Join(all.clone()))];
    let mut told = plain_spec.clone();
    told.sites[0].churn.script.insert(0, planned(60, ChurnAct::Drain(all)));
    let jobs = [job(1, 80, 1, 10)];
    let start = |records: &[Record]| crate::grid::jobs_of(records)[0].start;
    let draining = |records: &[Record]| -> Vec<Time> {
        let all = events(records).into_iter().filter(|event| event.kind == EventKind::Draining);
        all.map(|event| event.time).collect()
    };
    let same = forked(&plain_spec, &plain_spec, 70, &jobs);
    assert_eq!((start(&same), draining(&same)), (Some(at(80)), vec![]));
    let more = forked(&plain_spec, &told, 70, &jobs);
    assert_eq!(draining(&more), [at(70)]);
    assert!(start(&more) >= Some(at(120)), "{:?}", start(&more));
    // A whole site that is announced too late gives back at once who waits there, as it would have.
    let mut closing = plain(&[1, 1], "round-robin", 0, 10);
    closing.sites[0].churn.return_queued = true;
    closing.sites[0].churn.script = vec![planned(100, ChurnAct::LeaveSite), planned(300, ChurnAct::JoinSite)];
    let mut late = closing.clone();
    late.sites[0].churn.script.insert(0, planned(40, ChurnAct::DrainSite));
    let queued: Vec<Job> = (1..6).map(|id| job(id, 0, 1, 60)).collect();
    let returned: Vec<(Time, EventCause)> = events(&forked(&closing, &late, 50, &queued))
        .iter()
        .filter(|event| event.kind == EventKind::Returned)
        .map(|event| (event.time, event.cause))
        .collect();
    assert_eq!(returned, [(at(50), EventCause::SiteDrains); 2]);
    // The other way round it drains from 60 until the fork, which calls that off.
    let less = forked(&told, &plain_spec, 70, &jobs);
    assert_eq!((start(&less), draining(&less)), (Some(at(80)), vec![at(60)]));
    let undrained = events(&less).into_iter().find(|event| event.kind == EventKind::Undrained);
    assert_eq!(undrained.map(|event| event.time), Some(at(70)));
    // By chance: what is announced stays, and the outages are the same.
    let mut silent = plain(&[8], "mct", 0, 10);
    silent.sites[0].churn.random = Some(RandomChurn { up: law(300), down: law(20) });
    let mut told = silent.clone();
    told.sites[0].churn.notice = Span::from_secs(50);
    let jobs = [job(1, 0, 1, 1), job(2, 2_000, 1, 1)];
    let (before, after) = (forked(&told, &silent, 500, &jobs), forked(&silent, &told, 500, &jobs));
    assert_eq!(outages(&before), outages(&after));
    let (before, after) = (draining(&before), draining(&after));
    assert!(before.len() > 5 && before.iter().all(|time| *time < at(500)), "{before:?}");
    assert!(after.len() > 5 && after.iter().all(|time| *time >= at(500)), "{after:?}");
    // Without any churn from then on, what drains stays and drains no longer.
    let calm = plain(&[8], "mct", 0, 10);
    let ceased = forked(&told, &calm, 500, &jobs);
    let undrained = events(&ceased).into_iter().filter(|event| event.kind == EventKind::Undrained);
    assert!(undrained.clone().count() > 0 && undrained.clone().all(|event| event.time == at(500)));
}

// ---- scenarios ----

/// The rows of a file of a run of a scenario with these jobs: (submission, run time, processors).
fn rows(scenario: &str, jobs: &[(u32, u32, u32)]) -> (Vec<String>, Vec<String>, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let row = |(number, (submit, run, procs)): (usize, &(u32, u32, u32))| {
        format!("{} {submit} -1 {run} {procs} -1 -1 {procs} {run} -1 1 1 1 1 1 1 -1 -1\n", number + 1)
    };
    let log: String = jobs.iter().enumerate().map(row).collect();
    fs::write(path("jobs.swf"), format!("; MaxProcs: 4\n{log}")).unwrap();
    fs::write(path("run.toml"), scenario).unwrap();
    let out = path("out");
    gridemu(&["run", &path("run.toml"), "--out", &out]).well();
    gridemu(&["validate", &out]).well();
    let mut starts: Vec<(u32, String)> = Vec::new();
    for row in fs::read_to_string(format!("{out}/jobs.csv")).unwrap().lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        starts.push((cells[0].parse().unwrap(), cells[2].to_owned()));
    }
    starts.sort();
    let told = fs::read_to_string(format!("{out}/events.csv")).unwrap();
    let told = told.lines().skip(1).map(|row| row.split(',').take(3).collect::<Vec<_>>().join(" ")).collect();
    let summary = fs::read_to_string(format!("{out}/summary.json")).unwrap();
    (starts.into_iter().map(|(_, start)| start).collect(), told, summary)
}

#[test]
fn a_machine_that_sleeps_or_wakes_up_drains() {
    // Two machines sleep from 16 on and take 150 s to wake up. The job of 100 wakes up machine 0, which drains from 120 on: the job goes to machine 1 instead, and begins
    // at 270. Machine 0 is awake at 250 and sleeps again. It leaves at 500, and is back and awake at 600.
    let scenario = "[[site]]\nname = 'a'\npolicy = 'easy'\npower_policy = 'sleep-idle[after=10 s]'\nworkload = { log = 'jobs.swf' }\n\
         machines = [{ class = 'node', count = 2, idle = '95 W', busy = '200 W', \
         sleep = { power = '9 W', wake = '150 s', waking = '125 W', fall = '6 s', falling = '100 W' } }]\n\
         [[event]]\nat = '500 s'\nleave = 'a/0'\nnotice = '380 s'\n[[event]]\nat = '600 s'\njoin = 'a/0'\n";
    let (starts, told, summary) = rows(scenario, &[(100, 50, 1), (400, 10, 2)]);
    assert_eq!(starts[0], "270");
    // The other needs both: machine 0 is awake at 600, and machine 1, which sleeps from 336 on, wakes up for it.
    assert_eq!(starts[1], "750");
    assert_eq!(told[..3], ["120 draining script", "500 left script", "600 joined script"]);
    assert!(summary.contains("\"processors_draining\": 1"), "{summary}");
}

#[test]
fn scripted_notice_begins_when_the_machine_is_back_at_the_earliest() {
    let scenario = "[[site]]\nname = 'a'\npolicy = 'easy'\nworkload = { log = 'jobs.swf' }\nmachines = [{ class = 'node', count = 3 }]\n\
         [[event]]\nat = '50 s'\nleave = 'a/0'\nnotice = '1 h'\n[[event]]\nat = '100 s'\njoin = 'a/0'\n\
         [[event]]\nat = '150 s'\nleave = 'a/0-1'\nnotice = '80 s'\n[[event]]\nat = '160 s'\njoin = 'a/0-1'\n\
         [[event]]\nat = '200 s'\nleave = 'a'\nnotice = '30 s'\n[[event]]\nat = '210 s'\njoin = 'a'\n";
    let (starts, told, _) = rows(scenario, &[(5, 10, 3), (170, 5, 1)]);
    let expected = [
        "0 draining script",
        "50 left script",
        "70 draining script",
        "100 joined script",
        "100 draining script",
        "150 left script",
        "160 joined script",
        "170 draining script",
        "200 left site-left",
        "210 joined script",
    ];
    let machines: Vec<&String> = told.iter().filter(|row| !row.contains("job")).collect();
    assert_eq!(machines, expected);
    assert_eq!(starts, ["160", "210"]);
}

#[test]
fn a_notice_that_is_never_given_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.toml").to_str().unwrap().to_owned();
    let site = "[[site]]\nname = 'a'\npolicy = 'easy'\nmachines = [{ class = 'node', count = 3 }]\nworkload = { lublin = { jobs = 3, load = 0.5 } }\n";
    for (more, says) in [
        ("churn = { notice = '30 min' }\n", "a scripted `leave` has a `notice` of its own"),
        ("[[event]]\nat = '1 h'\njoin = 'a'\nnotice = '3 min'\n", "a notice is for `leave`, not for `join`"),
    ] {
        fs::write(&path, format!("{site}{more}")).unwrap();
        gridemu(&["check", &path]).ends(2, &[says]);
    }
}

/// Eight machines of four slow cores leave after an hour, announced half an hour before, and four of sixteen fast ones come in their place. What only these can
/// run waits for them; what is larger than all is rejected; the job that still runs on an old machine goes on where the new ones are.
#[test]
fn machines_of_another_kind_take_the_place_of_old_ones() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let jobs =
        [(0, 100, 48), (0, 100, 32), (1_700, 3_000, 8), (1_900, 300, 8), (4_000, 300, 64), (5_000, 100, 80)];
    let row = |(number, (submit, run, procs)): (usize, &(u32, u32, u32))| {
        format!("{} {submit} -1 {run} {procs} -1 -1 {procs} {run} -1 1 1 1 1 1 1 -1 -1\n", number + 1)
    };
    let rows: String = jobs.iter().enumerate().map(row).collect();
    fs::write(path("jobs.swf"), format!("; MaxProcs: 96\n{rows}")).unwrap();
    let scenario = "[[site]]\nname = 'delft'\npolicy = 'easy'\n\
        machines = [{ class = 'old', count = 8, cores = 4, speed = 0.5 },\n\
                    { class = 'new', count = 4, cores = 16, speed = 1.5, absent = 4 }]\n\
        [churn]\non_failure = 'resubmit'\n\
        [[event]]\nat = '1 h'\nleave = 'delft/old'\nnotice = '30 min'\n\
        [[event]]\nat = '1 h'\njoin = 'delft/new'\n\
        [broker]\npolicy = 'mct'\nmonitoring_interval = '10 s'\n\
        [[workload]]\nlog = 'jobs.swf'\n";
    fs::write(path("run.toml"), scenario).unwrap();
    let out = path("out");
    gridemu(&["run", &path("run.toml"), "--out", &out]).well();
    gridemu(&["validate", &out]).well();
    let rows = fs::read_to_string(format!("{out}/jobs.csv")).unwrap();
    let mut lines = rows.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let cell = |line: &str, name: &str| {
        let at = head.iter().position(|column| *column == name).unwrap();
        line.split(',').nth(at).unwrap().to_owned()
    };
    let mut told: Vec<String> = lines
        .map(|line| {
            ["job", "start", "outcome", "partition", "attempts"].map(|name| cell(line, name)).join(" ")
        })
        .collect();
    told.sort();
    // The fourth comes when the old machines drain. The third begins anew at 3610, takes 2000 s there, and the fifth needs all.
    assert_eq!(
        told,
        [
            "1 3600 completed new 1",
            "2 0 completed old 1",
            "3 1700 completed new 2",
            "4 3600 completed new 1",
            "5 5610 completed new 1",
            "6  rejected  0",
        ]
    );
}
