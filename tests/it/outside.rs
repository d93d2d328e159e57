//! Commands that arrive while a grid runs: they are written to the journal first, and a replay of the journal gives the same run.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gridemu::entity::{Stamp, ToSite};
use gridemu::grid::{
    Grid, GridError, GridSave, JournalEntry, Merge, MergeSave, RunSegment, WindowEnds, WindowOptions,
};
use gridemu::local::Registry;
use gridemu::model::{
    ChurnAct, Job, JobId, Machines, Outcome, PartitionId, ProcSet, Record, SiteId, SiteSpec,
};
use gridemu::runtime::{Caller, Outside, Refusal, RuntimeOptions, run_segment};
use gridemu::units::{Span, Time};
use gridemu::workload::{Jobs, Source};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::grids::{GridCase, GridRan, grouped_grids, random_ends};
use crate::support::through_bytes;

/// What was written down, as bytes.
#[derive(Clone, Debug, Default)]
struct Journal(Arc<Mutex<Vec<Vec<u8>>>>);

impl Journal {
    /// Keeps what it is given.
    fn outside(&self) -> (Caller, Outside) {
        let journal = self.clone();
        Outside::new(move |told| {
            let bytes = postcard::to_stdvec(told).map_err(|error| error.to_string())?;
            journal.0.lock().expect("nobody panics").push(bytes);
            Ok(())
        })
    }

    fn read(&self) -> Vec<JournalEntry> {
        let entries = self.0.lock().expect("nobody panics");
        entries.iter().map(|entry| postcard::from_bytes(entry).expect("it was written")).collect()
    }
}

/// How a run was left at a cut.
struct Cut {
    grid: GridSave,
    merge: MergeSave,
    records: usize,
}

/// Runs a case as actors with commands that come in when so many windows have been opened, in legs of so many seconds.
fn live(
    case: &GridCase,
    orders: &[(u64, SiteId, ToSite)],
    leg: u64,
    (threads, ends): (usize, u64),
) -> (GridRan, Vec<JournalEntry>, Vec<Cut>) {
    let journal = Journal::default();
    let (caller, outside) = journal.outside();
    let opened = Arc::new(Mutex::new(0));
    let (mut grid, mut records, mut cuts) = (case.build(), Vec::new(), Vec::new());
    let mut merge = Merge::new(grid.nodes().len());
    let result = loop {
        let (caller, orders, opened) = (caller.clone(), orders.to_vec(), Arc::clone(&opened));
        let mut ends = random_ends(ends);
        let ends = WindowEnds::new(move |first, latest| {
            let mut opened = opened.lock().expect("nobody panics");
            for (_, site, body) in orders.iter().filter(|(at, _, _)| *at == *opened) {
                caller.command(*site, body.clone());
            }
            *opened += 1;
            ends.choose(first, latest)
        });
        let windows = WindowOptions { ends: Some(ends), ..WindowOptions::default() };
        let threads = NonZeroUsize::new(threads).expect("a thread");
        let outside = Some(outside.clone());
        let options = RuntimeOptions { windows, threads, outside, ..RuntimeOptions::default() };
        let cut = Some(grid.now() + Span::from_secs(leg));
        match run_segment(&mut grid, case.until, cut, options, &mut merge, &mut records) {
            Ok(RunSegment::Over) => break Ok(()),
            Ok(RunSegment::Barrier(_)) => {
                let (grid, merge) = (grid.snapshot().expect("a state"), merge.save());
                cuts.push(Cut { grid, merge, records: records.len() });
            }
            Err(error) => break Err(error.to_string()),
        }
    };
    let result = result.and_then(|()| {
        grid.finish_run(case.until, &mut merge, &mut records).map_err(|error| error.to_string())
    });
    (GridRan { records, result, end: grid.now() }, journal.read(), cuts)
}

fn acts() -> impl Strategy<Value = ToSite> {
    let machines = (0_u32..2, 0_u32..4, 1_u32..4).prop_map(|(partition, from, count)| Machines {
        partition: PartitionId(partition),
        which: ProcSet::range(from, from + count),
    });
    prop_oneof![
        2 => (1_u64..16).prop_map(|id| ToSite::Cancel(JobId(id))),
        2 => (0_u64..200, 1_u32..5, 0_u64..50_000_000).prop_map(|(at, procs, runtime)| {
            let job = Job::rigid(90_000 + at, Time::from_secs(at), procs, Span::from_micros(runtime));
            ToSite::Submit(Box::new(job))
        }),
        1 => machines.clone().prop_map(|which| ToSite::Churn(ChurnAct::Leave(which))),
        1 => machines.prop_map(|which| ToSite::Churn(ChurnAct::Join(which))),
        1 => select(vec![ChurnAct::LeaveSite, ChurnAct::JoinSite]).prop_map(ToSite::Churn),
    ]
}

proptest! {
    // Threads that wait for each other take their time.
    #![proptest_config(crate::support::cases(40))]

    #[test]
    fn commands_that_are_told_again_do_the_same(
        case in grouped_grids(),
        mut orders in vec((0_u64..120, 0_u32..5, acts()), 1..8),
        leg in prop_oneof![1_u64..100, 500_u64..5_000],
        how in (1_usize..3, any::<u64>()),
    ) {
        // Two jobs must not have one number.
        for (number, (_, _, body)) in (0..).zip(&mut orders) {
            if let ToSite::Submit(job) = body {
                job.id = JobId(90_000 + number);
            }
        }
        let orders: Vec<_> = orders.into_iter().map(|(at, site, body)| (at, SiteId(site), body)).collect();
        let (expected, told, cuts) = live(&case, &orders, leg, how);
        let sites = case.spec.sites.len();
        prop_assert!(told.len() <= orders.iter().filter(|(_, site, _)| site.index() < sites).count());
        prop_assert!(told.iter().map(|told| told.number).eq(0..told.len() as u64));

        // From the beginning, by the slow twin.
        let mut again = case.build();
        for told in &told {
            prop_assert_eq!(again.replay(told.clone()), Ok(true));
        }
        let mut records = Vec::new();
        let result = again.run_stepwise(case.until, &mut records).map_err(|error| error.to_string());
        prop_assert_eq!(&GridRan { records, result, end: again.now() }, &expected);

        // From each cut; what its state has already is passed over.
        for Cut { grid: saved, merge, records: before } in cuts {
            let mut grid = case.build();
            grid.restore(through_bytes(&saved), false).expect("it fits");
            let passed = grid.commands() as usize;
            for (number, told) in told.iter().enumerate() {
                prop_assert_eq!(grid.replay(told.clone()), Ok(number >= passed));
            }
            let mut merge = Merge::restore(through_bytes(&merge)).expect("it fits");
            let mut records = expected.records[..before].to_vec();
            let ended = grid.run_segment(case.until, None, WindowOptions::default(), &mut merge, &mut records);
            let ended = ended.and_then(|_| grid.finish_run(case.until, &mut merge, &mut records));
            let result = ended.map_err(|error| error.to_string());
            prop_assert_eq!(&GridRan { records, result, end: grid.now() }, &expected);
        }
    }
}

/// A site of four processors with a job of two every hundred seconds.
fn plain() -> Grid {
    let jobs = (1..=5).map(|n| Job::rigid(n, Time::from_secs(100 * n), 2, Span::from_secs(30))).collect();
    let source: Box<dyn Source> = Box::new(Jobs::new(jobs));
    let site = SiteSpec::plain("site", 4, "easy".parse().expect("a policy"));
    Grid::new(vec![(site, Some(source))], &Registry::standard()).expect("a grid")
}

#[test]
fn a_command_is_used_once_it_is_written_down() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let journal = Arc::clone(&told);
    let (caller, outside) = Outside::new(move |told: &JournalEntry| {
        if told.command.body == ToSite::Cancel(JobId(2)) {
            return Err("no space left on device".to_owned());
        }
        journal.lock().expect("nobody panics").push(told.clone());
        Ok(())
    });
    let lost = caller.command(SiteId(0), ToSite::Cancel(JobId(2)));
    let nobody = caller.command(SiteId(7), ToSite::Cancel(JobId(3)));
    let job = Job::rigid(9, Time::from_secs(1), 1, Span::from_secs(1));
    let done = caller.command(SiteId(0), ToSite::Submit(Box::new(job)));
    let (mut grid, mut records, mut merge) = (plain(), Vec::new(), Merge::new(1));
    let options =
        |outside: &Outside| RuntimeOptions { outside: Some(outside.clone()), ..RuntimeOptions::default() };
    let ended = run_segment(&mut grid, None, None, options(&outside), &mut merge, &mut records);
    assert_eq!(ended, Ok(RunSegment::Over));
    assert_eq!(lost.wait(), Err(Refusal::Journal("no space left on device".to_owned())));
    assert_eq!(nobody.wait(), Err(Refusal::NoSuchSite(SiteId(7))));
    let first = done.wait().expect("it was written down");
    assert_eq!((first.number, first.command.at), (0, Time::ZERO));
    assert_eq!(*told.lock().expect("nobody panics"), [first]);
    assert_eq!(grid.commands(), 1);
    let jobs = |record: &&Record| matches!(record, Record::Job(_));
    assert_eq!(records.iter().filter(jobs).count(), 6, "the second job was not cancelled");
    // What comes when all is over is not taken, and not written down.
    let late = caller.command(SiteId(0), ToSite::Cancel(JobId(4)));
    assert_eq!(
        run_segment(&mut grid, None, None, options(&outside), &mut merge, &mut records),
        Ok(RunSegment::Over)
    );
    assert!(late.wait_for(Duration::ZERO).is_none());
    drop(outside);
    assert_eq!(late.wait(), Err(Refusal::Over));
    assert_eq!(told.lock().expect("nobody panics").len(), 1);
}

#[test]
fn a_run_is_not_over_before_what_it_has_been_told() {
    let journal = Journal::default();
    let (caller, outside) = journal.outside();
    let (answers, told) = std::sync::mpsc::channel();
    // It comes in while the last job runs and ends, after which nothing is left to be done for the site; and before the full minute
    // at which the run may be over.
    let ends = WindowEnds::new(move |first, latest| {
        if first.time != Time::from_secs(500) {
            return latest;
        }
        let job = Job::rigid(9, Time::ZERO, 1, Span::from_secs(1));
        answers.send(caller.command(SiteId(0), ToSite::Submit(Box::new(job)))).expect("it is waited for");
        Stamp::at(Time::from_secs(531))
    });
    let windows = WindowOptions { ends: Some(ends), ..WindowOptions::default() };
    let (mut grid, mut records, mut merge) = (plain(), Vec::new(), Merge::new(1));
    // The run cannot keep up: the present is long after that.
    let (pace, begin) = (Some(1e9), Time::from_secs(1_000_000));
    let options =
        RuntimeOptions { windows, outside: Some(outside), pace, begin, ..RuntimeOptions::default() };
    assert_eq!(run_segment(&mut grid, None, None, options, &mut merge, &mut records), Ok(RunSegment::Over));
    grid.finish_run(None, &mut merge, &mut records).expect("no job is left");
    let told = told.recv().expect("the last job has ended").wait();
    let at = told.expect("it is taken").command.at;
    assert!(at >= begin);
    let end = records.iter().rev().find_map(|record| match record {
        Record::Job(job) => Some((job.id, job.end)),
        _ => None,
    });
    assert_eq!(end, Some((JobId(9), at + Span::from_secs(1))));
}

#[test]
fn a_command_that_is_missing_is_noticed() {
    let mut grid = plain();
    let told = |number| {
        let (at, site, body) = (Time::from_secs(number), SiteId(0), ToSite::Cancel(JobId(1)));
        JournalEntry { number, command: gridemu::grid::Command { at, site, body } }
    };
    assert_eq!(grid.replay(told(0)), Ok(true));
    assert_eq!(grid.replay(told(0)), Ok(false));
    let missing = GridError::MissingCommand { expected: 1, found: 2 };
    assert_eq!(missing.to_string(), "command number 1 is missing in the journal: the next one is number 2");
    assert_eq!(grid.replay(told(2)), Err(missing));
    assert_eq!(grid.replay(told(1)), Ok(true));
}

#[test]
fn commands_keep_their_order_when_a_run_goes_on_from_before_them() {
    let mut grid = plain();
    let (at, site, body) = (Time::from_secs(300), SiteId(0), ToSite::Cancel(JobId(3)));
    let before = JournalEntry { number: 0, command: gridemu::grid::Command { at, site, body } };
    assert_eq!(grid.replay(before), Ok(true));
    let (caller, outside) = Outside::new(|_| Ok(()));
    let told = caller.command(SiteId(0), ToSite::Cancel(JobId(1)));
    let (mut records, mut merge): (Vec<Record>, _) = (Vec::new(), Merge::new(1));
    let options = RuntimeOptions { outside: Some(outside), ..RuntimeOptions::default() };
    assert_eq!(run_segment(&mut grid, None, None, options, &mut merge, &mut records), Ok(RunSegment::Over));
    let told = told.wait().expect("it is taken");
    // The run is at its beginning.
    assert_eq!((told.number, told.command.at), (1, at));
    let cancelled = records.iter().filter_map(|record| match record {
        Record::Job(job) if job.outcome == Outcome::Cancelled => Some((job.id, job.end)),
        _ => None,
    });
    assert_eq!(cancelled.collect::<Vec<_>>(), [(JobId(3), at)], "job 1 is over by then");
}
