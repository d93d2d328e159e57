//! A run that keeps to the wall clock can be halted and told things while it waits.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use gridemu::entity::ToSite;
use gridemu::grid::{Grid, GridError, Halt, JournalEntry, Merge, RunSegment, WindowOptions};
use gridemu::local::Registry;
use gridemu::model::{ChurnAct, Job, JobId, Outcome, Record, SiteId, SiteSpec};
use gridemu::runtime::{Outside, RuntimeOptions, run_segment};
use gridemu::units::{Span, Time};
use gridemu::workload::{Jobs, Source};

/// Longer than anything takes that is not waited for, on a machine that has other things to do, and much shorter than what would be
/// waited for in error.
const LONG: Duration = Duration::from_secs(60);

#[expect(clippy::disallowed_methods, reason = "the wall clock is what is tested")]
fn now() -> Instant {
    Instant::now()
}

/// A site where a job of one second is submitted at each of these seconds.
fn site(submits: &[u64]) -> Grid {
    let job = |(id, at): (u64, &u64)| Job::rigid(id, Time::from_secs(*at), 2, Span::from_secs(1));
    let source: Box<dyn Source> = Box::new(Jobs::new((1..).zip(submits).map(job).collect()));
    let site = SiteSpec::plain("site", 4, "easy".parse().expect("a policy"));
    Grid::new(vec![(site, Some(source))], &Registry::standard()).expect("a grid")
}

/// Virtual time after so long at this pace.
fn after(elapsed: Duration, pace: f64) -> Time {
    Time::ZERO + Span::from_secs_f64(elapsed.as_secs_f64() * pace).expect("a span")
}

fn paced(pace: f64, halt: Option<&Halt>) -> RuntimeOptions {
    let windows = WindowOptions { halt: halt.cloned(), ..WindowOptions::default() };
    RuntimeOptions { windows, pace: Some(pace), ..RuntimeOptions::default() }
}

#[test]
fn a_run_that_waits_is_halted_at_the_present() {
    // The next job is a day away, and so would be the end of the window.
    let (mut grid, mut records, mut merge) = (site(&[0, 86_400]), Vec::new(), Merge::new(1));
    let halt = Halt::new();
    let (asking, began) = (halt.clone(), now());
    let asked = thread::spawn(move || {
        thread::sleep(Duration::from_millis(250));
        asking.ask();
        now()
    });
    let ended = run_segment(&mut grid, None, None, paced(300.0, Some(&halt)), &mut merge, &mut records);
    let (elapsed, reacted) = (now() - began, now() - asked.join().expect("it asks"));
    assert!(reacted < LONG, "it took {reacted:?}");
    let Ok(RunSegment::Barrier(at)) = ended else { panic!("{ended:?}") };
    let (earliest, latest) = (after(Duration::from_millis(250), 300.0), after(elapsed, 300.0));
    assert!(earliest <= at && at <= latest, "cut at {at}, not between {earliest} and {latest}");
    assert_eq!((grid.now(), records.len()), (at, 2), "a job and its segment");

    // Who is halted already does not even begin to wait.
    let began = now();
    let options = RuntimeOptions { begin: grid.now(), ..paced(1.0, Some(&halt)) };
    let ended = run_segment(&mut grid, None, None, options, &mut merge, &mut records);
    let Ok(RunSegment::Barrier(again)) = ended else { panic!("{ended:?}") };
    assert!(now() - began < LONG && again >= at);
    // And what is left is what it would have been.
    halt.clear();
    let rest = grid.run_segment(None, None, WindowOptions::default(), &mut merge, &mut records);
    assert_eq!(rest, Ok(RunSegment::Over));
    grid.finish_run(None, &mut merge, &mut records).expect("no job is left");
    let mut expected: Vec<Record> = Vec::new();
    site(&[0, 86_400]).run(&mut expected).expect("no job is left");
    assert_eq!(records, expected);
}

/// Runs a minute in legs of three seconds, paced from `began` on. Returns how long it took.
fn in_legs(began: Instant, pace: f64, pause: Duration) -> Duration {
    let submits: Vec<u64> = (0..60).collect();
    let (mut grid, mut records, mut merge) = (site(&submits), Vec::new(), Merge::new(1));
    let options = || RuntimeOptions { began: Some(began), ..paced(pace, None) };
    let started = now();
    for cut in (3..60).step_by(3).map(Time::from_secs) {
        let ended = run_segment(&mut grid, None, Some(cut), options(), &mut merge, &mut records);
        let latest = after(now() - began, pace);
        assert_eq!(ended, Ok(RunSegment::Barrier(cut)));
        assert!(cut <= latest, "{cut} is not before {latest}");
        thread::sleep(pause);
    }
    let ended = run_segment(&mut grid, None, None, options(), &mut merge, &mut records);
    assert_eq!(ended, Ok(RunSegment::Over));
    now() - started
}

#[test]
fn a_cut_of_a_paced_run_comes_when_it_is_time_and_legs_do_not_drift() {
    // The last job ends after a minute, which is 1.2 s.
    let elapsed = in_legs(now(), 50.0, Duration::from_millis(30));
    assert!(elapsed >= Duration::from_millis(1_199), "{elapsed:?}");
    // A run that began two minutes ago has nothing to wait for. From its own beginning on each of the twenty legs would take 6 s.
    let elapsed = in_legs(now() - Duration::from_secs(120), 0.5, Duration::ZERO);
    assert!(elapsed < LONG, "{elapsed:?}: legs wait from when they begin");
}

#[test]
fn a_command_comes_at_the_present() {
    let (mut grid, mut records, mut merge) = (site(&[0, 86_400]), Vec::new(), Merge::new(1));
    let journal: Arc<Mutex<Vec<JournalEntry>>> = Arc::default();
    let writing = Arc::clone(&journal);
    let (caller, outside) = Outside::new(move |told| {
        writing.lock().expect("nobody panics").push(told.clone());
        Ok(())
    });
    let (halt, began) = (Halt::new(), now());
    let halting = halt.clone();
    let calling = thread::spawn(move || {
        // When it is answered the run has begun.
        let cancelled = caller.command(SiteId(0), ToSite::Cancel(JobId(2))).wait();
        thread::sleep(Duration::from_millis(200));
        let job = Job::rigid(7, Time::ZERO, 1, Span::from_secs(15));
        let told = caller.command(SiteId(0), ToSite::Submit(Box::new(job))).wait();
        let answered = now();
        let told = told.expect("it is taken");
        // The job runs for 150 ms: until a command is taken after its end.
        let over = told.command.at + Span::from_secs(15);
        while caller.command(SiteId(0), ToSite::Cancel(JobId(99))).wait().expect("it is taken").command.at
            <= over
        {
            thread::sleep(Duration::from_millis(20));
        }
        halting.ask();
        (told, answered, cancelled.expect("it is taken"))
    });
    let options = RuntimeOptions { outside: Some(outside), ..paced(100.0, Some(&halt)) };
    let ended = run_segment(&mut grid, None, None, options, &mut merge, &mut records);
    let (told, answered, cancelled) = calling.join().expect("it calls");
    let (at, latest) = (told.command.at, after(answered - began, 100.0));
    // The run had begun when the first command was answered, and the second was given 200 ms later.
    let earliest = Time::from_secs(20);
    assert!(earliest <= at && at <= latest, "taken at {at}, not between {earliest} and {latest}");
    assert_eq!((cancelled.number, told.number), (0, 1));
    let written = journal.lock().expect("nobody panics").clone();
    assert_eq!((&written[..2], written.len() as u64), (&[cancelled, told][..], grid.commands()));
    assert!(matches!(ended, Ok(RunSegment::Barrier(halted)) if halted > at), "{ended:?}");
    let ends =
        records.iter().filter_map(|record| if let Record::Job(job) = record { Some(job.end) } else { None });
    assert_eq!(ends.collect::<Vec<_>>(), [Time::from_secs(1), at + Span::from_secs(15)]);

    // The same again, from the journal.
    let (mut again, mut found) = (site(&[0, 86_400]), Vec::new());
    for told in journal.lock().expect("nobody panics").iter() {
        assert_eq!(again.replay(told.clone()), Ok(true));
    }
    grid.run_segment(None, None, WindowOptions::default(), &mut merge, &mut records).expect("it runs");
    grid.finish_run(None, &mut merge, &mut records).expect("no job is left");
    again.run(&mut found).expect("no job is left");
    assert_eq!(found, records);
}

/// A site with a job of eleven days, the last one: at a pace of 2,000 it runs for 500 s unless it is disturbed.
fn last_job() -> Grid {
    let job = Job::rigid(1, Time::from_secs(10), 2, Span::from_secs(1_000_000));
    let source: Box<dyn Source> = Box::new(Jobs::new(vec![job]));
    let site = SiteSpec::plain("site", 4, "easy".parse().expect("a policy"));
    Grid::new(vec![(site, Some(source))], &Registry::standard()).expect("a grid")
}

#[test]
fn a_run_that_can_go_no_further_waits_for_who_may_help() {
    let (mut grid, mut records, mut merge) = (last_job(), Vec::new(), Merge::new(1));
    let journal: Arc<Mutex<Vec<JournalEntry>>> = Arc::default();
    let writing = Arc::clone(&journal);
    let (caller, outside) = Outside::new(move |told| {
        writing.lock().expect("nobody panics").push(told.clone());
        Ok(())
    });
    let calling = thread::spawn(move || {
        let act = |act| caller.command(SiteId(0), ToSite::Churn(act)).wait().expect("it is taken").command.at;
        thread::sleep(Duration::from_millis(50));
        let left = act(ChurnAct::LeaveSite);
        // Without the caller, the run would end with the next minute, at most 30 ms from now.
        thread::sleep(Duration::from_millis(400));
        let joined = act(ChurnAct::JoinSite);
        caller.command(SiteId(0), ToSite::Cancel(JobId(1))).wait().expect("it is taken");
        (left, joined)
    });
    // Legs that end at full minutes, when a run may be over.
    let mut cut = Time::ZERO;
    let began = now();
    loop {
        cut += Span::from_secs(60);
        let options = RuntimeOptions {
            outside: Some(outside.clone()),
            begin: Time::ZERO,
            began: Some(began),
            ..paced(2_000.0, None)
        };
        match run_segment(&mut grid, None, Some(cut), options, &mut merge, &mut records) {
            Ok(RunSegment::Over) => break,
            Ok(RunSegment::Barrier(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    grid.finish_run(None, &mut merge, &mut records).expect("no job is left");
    let (left, joined) = calling.join().expect("it calls");
    assert!(joined.since(left) > Span::from_secs(700), "away from {left} to {joined}");
    let mut found: Vec<Record> = Vec::new();
    let mut again = last_job();
    for told in journal.lock().expect("nobody panics").iter() {
        assert_eq!(again.replay(told.clone()), Ok(true));
    }
    again.run_to(None, WindowOptions::default(), &mut found).expect("no job is left");
    assert_eq!(found, records);
}

#[test]
fn a_run_that_can_go_no_further_ends_when_nobody_can_help() {
    let (mut grid, mut records, mut merge) = (last_job(), Vec::new(), Merge::new(1));
    let (caller, outside) = Outside::new(|_| Ok(()));
    let calling = thread::spawn(move || {
        thread::sleep(Duration::from_millis(50));
        caller.command(SiteId(0), ToSite::Churn(ChurnAct::LeaveSite)).wait().expect("it is taken");
        thread::sleep(Duration::from_millis(300));
        now()
    });
    let options = RuntimeOptions { outside: Some(outside), ..paced(2_000.0, None) };
    assert_eq!(run_segment(&mut grid, None, None, options, &mut merge, &mut records), Ok(RunSegment::Over));
    let (reached, ended) = (grid.now(), now());
    assert!(ended - calling.join().expect("it calls") < LONG);
    assert!(reached > Time::from_secs(600), "it ended at {reached}, while somebody could have helped");
    // What it says is since when.
    let Err(GridError::Stuck { at, total: 1, .. }) = grid.finish_run(None, &mut merge, &mut records) else {
        panic!("it is over")
    };
    assert!(at < reached, "{at} is not before {reached}");
    let Some(Record::Job(job)) = records.iter().rev().find(|record| matches!(record, Record::Job(_))) else {
        panic!("no job")
    };
    assert_eq!((job.id, job.outcome), (JobId(1), Outcome::Unfinished));
}
