//! Results do not depend on where the segments of a run end, on the engine, or on whether the same process continues the run.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use gridemu::entity::{Stamp, ToSite};
use gridemu::grid::{Command, Grid, GridError, Halt, Merge, RunSegment, WindowEnds, WindowOptions};
use gridemu::local::Registry;
use gridemu::model::{BrokerSpec, GridSpec, Job, Link, NetworkSpec, Record, RecordSink, SiteId, SiteSpec};
use gridemu::runtime::{RuntimeOptions, run_segment};
use gridemu::units::{Span, Time};
use gridemu::workload::{Jobs, Source};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::grids::{GridCase, GridRan, grouped_grids, random_ends};
use crate::invariants::{Case, cases, variants};
use crate::support::through_bytes;

/// How a segment is driven and what happens at its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    /// Cut so long after the segment began.
    cut: Option<Span>,
    /// Halted when so many window ends have been chosen.
    halt: Option<u64>,
    /// For where windows end.
    ends: Option<u64>,
    /// 0 for the plain loop.
    threads: usize,
    /// Actors that keep to the wall clock.
    paced: bool,
    /// Whether another process goes on.
    anew: bool,
}

pub(crate) fn stretches() -> impl Strategy<Value = Vec<Stretch>> {
    let cut = prop_oneof![
        3 => (0_u64..70).prop_map(Span::from_secs),
        2 => (0_u64..30_000_000).prop_map(Span::from_micros),
        1 => (0_u64..30).prop_map(Span::from_micros),
        1 => (1_u64..4).prop_map(|minutes| Span::from_secs(60 * minutes)),
    ];
    let halt = proptest::option::weighted(0.3, 0_u64..40);
    let ends = proptest::option::weighted(0.3, any::<u64>());
    let threads = prop_oneof![8 => Just(0_usize), 1 => Just(1), 1 => Just(2)];
    let stretch = (proptest::option::weighted(0.8, cut), halt, ends, threads, any::<bool>(), any::<bool>());
    let stretch = stretch.prop_map(|(cut, halt, ends, threads, paced, anew)| Stretch {
        cut,
        halt,
        ends,
        threads,
        paced,
        anew,
    });
    vec(stretch, 1..12)
}

/// Asks for a halt when the `after`-th window is opened.
fn halting(halt: &Halt, after: u64, mut ends: Option<WindowEnds>) -> WindowEnds {
    let (halt, mut left) = (halt.clone(), after);
    WindowEnds::new(move |first, latest| {
        if left == 0 {
            halt.ask();
        }
        left = left.saturating_sub(1);
        ends.as_mut().map_or(latest, |ends| ends.choose(first, latest))
    })
}

/// Everything of a segment but its records is thrown away and made anew.
fn anew(case: &GridCase, grid: &Grid, merge: &Merge) -> (Grid, Merge) {
    let saved = through_bytes(&grid.snapshot().expect("a state"));
    let merged = through_bytes(&merge.save());
    let mut fresh = case.build();
    fresh.restore(saved.clone(), false).expect("it fits");
    assert_eq!(fresh.snapshot().expect("a state"), saved, "a state taken back saves the same");
    let restored = Merge::restore(merged.clone()).expect("it fits");
    assert_eq!(restored.save(), merged);
    (fresh, restored)
}

/// One segment.
fn segment(
    case: &GridCase,
    grid: &mut Grid,
    merge: &mut Merge,
    records: &mut Vec<Record>,
    stretch: Stretch,
) -> Result<RunSegment, String> {
    let cut = stretch.cut.map(|cut| grid.now() + cut);
    let ends = stretch.ends.map(random_ends);
    let halt = stretch.halt.map(|after| (Halt::new(), after));
    let ends = match &halt {
        Some((halt, after)) => Some(halting(halt, *after, ends)),
        None => ends,
    };
    let windows = WindowOptions { ends, halt: halt.map(|(halt, _)| halt), ..WindowOptions::default() };
    let begun = grid.now();
    let ended = match NonZeroUsize::new(stretch.threads) {
        None => grid.run_segment(case.until, cut, windows, merge, records).map_err(|error| error.to_string()),
        Some(threads) => {
            // Half an hour takes some milliseconds.
            let (pace, begin) = (stretch.paced.then_some(1e6), grid.now());
            let options = RuntimeOptions { windows, threads, pace, begin, ..RuntimeOptions::default() };
            run_segment(grid, case.until, cut, options, merge, records).map_err(|error| error.to_string())
        }
    };
    if let Ok(RunSegment::Barrier(at)) = ended {
        assert_eq!(grid.now(), at);
        let cut = cut.map(|cut| cut.max(begun));
        assert!(cut.is_none_or(|cut| at <= cut), "cut at {at}, not {cut:?}");
        assert!(stretch.halt.is_some() || cut == Some(at), "nobody else cut it");
        let next = grid.next_event().expect("something is left to happen");
        assert!(next >= Stamp::at(at), "{next} has not happened, but {at} is the cut");
    }
    ended
}

/// A run in legs; the last goes to the end.
pub(crate) fn in_legs(case: &GridCase, stretches: &[Stretch]) -> GridRan {
    let (mut grid, mut records) = (case.build(), Vec::new());
    let mut merge = Merge::new(grid.nodes().len());
    let last = Stretch { cut: None, halt: None, ends: None, threads: 0, paced: false, anew: false };
    for stretch in stretches.iter().copied().chain([last]) {
        match segment(case, &mut grid, &mut merge, &mut records, stretch) {
            Ok(RunSegment::Over) => break,
            Ok(RunSegment::Barrier(_)) if stretch.anew => (grid, merge) = anew(case, &grid, &merge),
            Ok(RunSegment::Barrier(_)) => {}
            Err(error) => return GridRan { records, result: Err(error), end: grid.now() },
        }
    }
    let result = grid.finish_run(case.until, &mut merge, &mut records).map_err(|error| error.to_string());
    GridRan { records, result, end: grid.now() }
}

#[track_caller]
pub(crate) fn same(found: &GridRan, expected: &GridRan) {
    if let Some(at) = found.records.iter().zip(&expected.records).position(|(a, b)| a != b) {
        panic!("record {at}\n{:#?}\nis not\n{:#?}", found.records[at], expected.records[at]);
    }
    assert_eq!(found.result, expected.result);
    assert_eq!((found.records.len(), found.end), (expected.records.len(), expected.end));
}

fn one_site(case: &Case) -> Grid {
    let jobs: Box<dyn Source> = Box::new(Jobs::new(case.jobs.clone()));
    Grid::new(vec![(case.spec.clone(), Some(jobs))], &Registry::standard()).expect("a grid")
}

fn cancels(case: &Case, grid: &mut Grid) {
    for (at, job) in &case.cancels {
        let (at, site, body) = (*at, SiteId(0), ToSite::Cancel(*job));
        grid.command(Command { at, site, body }).expect("a site");
    }
}

/// One site alone, in legs without windows.
fn replayed(case: &Case, cuts: &[u64], halts: &[u64]) -> (Vec<Record>, Result<(), GridError>, Time) {
    let (mut grid, mut records) = (one_site(case), Vec::new());
    cancels(case, &mut grid);
    let mut halts = halts.iter().copied();
    for cut in cuts.iter().map(|cut| Some(Time::from_micros(*cut))).chain([None]) {
        loop {
            let halt = Halt::new();
            let after = halts.next();
            let mut sink = Asking { records: &mut records, halt: halt.clone(), after };
            let ended = match grid.single_site_segment(cut, after.map(|_| &halt), &mut sink) {
                Ok(RunSegment::Over) => break,
                Ok(RunSegment::Barrier(at)) => at,
                Err(error) => return (records, Err(error), grid.now()),
            };
            assert_eq!(grid.now(), ended);
            assert!(grid.next_event().is_some_and(|next| next >= Stamp::at(ended)));
            let saved = through_bytes(&grid.snapshot().expect("a state"));
            grid = one_site(case);
            grid.restore(saved, false).expect("it fits");
            if !halt.is_asked() || cut.is_some_and(|cut| ended >= cut) {
                assert!(cut.is_some_and(|cut| ended >= cut), "nobody else cut it");
                break;
            }
        }
    }
    let result = grid.finish_single(&mut records);
    (records, result, grid.now())
}

/// Asks for a halt at the so manieth record.
struct Asking<'a> {
    records: &'a mut Vec<Record>,
    halt: Halt,
    after: Option<u64>,
}

impl RecordSink for Asking<'_> {
    fn record(&mut self, record: Record) {
        self.records.push(record);
        if let Some(after) = &mut self.after {
            if *after == 0 {
                self.halt.ask();
            }
            *after = after.saturating_sub(1);
        }
    }
}

/// The same grid without a broker.
fn alone(mut case: GridCase) -> GridCase {
    case.spec.broker = None;
    case.portal.clear();
    case
}

proptest! {
    #![proptest_config(crate::support::cases(150))]

    #[test]
    fn legs_change_no_record(case in grouped_grids(), stretches in stretches()) {
        same(&in_legs(&case, &stretches), &case.stepwise());
        let case = alone(case);
        same(&in_legs(&case, &stretches), &case.stepwise());
    }

    #[test]
    fn legs_change_no_record_of_jobs_with_limits_on_machines_with_loads(case in grouped_grids(), stretches in stretches()) {
        let case = case.limited().loaded();
        same(&in_legs(&case, &stretches), &case.stepwise());
    }

    #[test]
    fn legs_change_no_record_where_forecasts_are_believed(
        case in grouped_grids(),
        within in 1_u64..200,
        stretches in stretches(),
    ) {
        let case = case.believing_forecasts(within);
        same(&in_legs(&case, &stretches), &case.stepwise());
    }

    #[test]
    fn legs_of_a_replay_change_no_record(
        case in cases(variants(), 25),
        mut cuts in vec(0_u64..200_000_000, 0..6),
        halts in vec(0_u64..10, 0..6),
    ) {
        cuts.sort_unstable();
        let mut whole = one_site(&case);
        cancels(&case, &mut whole);
        let mut expected: Vec<Record> = Vec::new();
        let result = whole.run(&mut expected);
        prop_assert_eq!(replayed(&case, &cuts, &halts), (expected, result, whole.now()));
    }
}

/// A site with jobs at 0 s, 100 s, ...
fn plain(sites: usize) -> Grid {
    let site = |at: usize| {
        let jobs = (0..5).map(|n| Job::rigid(n, Time::from_secs(100 * n), 2, Span::from_secs(30))).collect();
        let source: Box<dyn Source> = Box::new(Jobs::new(jobs));
        (SiteSpec::plain(&format!("site-{at}"), 4, "easy".parse().expect("a policy")), Some(source))
    };
    Grid::new((0..sites).map(site).collect(), &Registry::standard()).expect("a grid")
}

#[test]
fn several_sites_by_themselves_have_no_cut() {
    let mut grid = plain(2);
    let cut = grid.single_site_segment(Some(Time::from_secs(10)), None, &mut Vec::new());
    assert_eq!(cut, Err(GridError::NotSingle));
    assert_eq!(
        grid.single_site_segment(None, Some(&Halt::new()), &mut Vec::new()),
        Err(GridError::NotSingle)
    );
    assert_eq!(grid.single_site_segment(None, None, &mut Vec::new()), Ok(RunSegment::Over));
    assert_eq!(grid.finish_single(&mut Vec::new()), Ok(()));
}

#[test]
fn a_cut_is_where_it_was_asked_for() {
    let (mut grid, mut records) = (plain(1), Vec::new());
    let mut merge = Merge::new(1);
    for at in [0, 100, 100, 130, 131] {
        let at = Time::from_secs(at);
        let ended = grid.run_segment(None, Some(at), WindowOptions::default(), &mut merge, &mut records);
        assert_eq!((ended, grid.now()), (Ok(RunSegment::Barrier(at)), at));
    }
    // One that has passed is now.
    let ended = grid.run_segment(None, Some(Time::ZERO), WindowOptions::default(), &mut merge, &mut records);
    assert_eq!(ended, Ok(RunSegment::Barrier(Time::from_secs(131))));
    // In the middle of an instant nobody is cut.
    let mut grid = plain(1);
    grid.step(&mut records).expect("a step");
    let ended = grid.run_segment(None, Some(Time::ZERO), WindowOptions::default(), &mut merge, &mut records);
    assert_eq!(ended, Ok(RunSegment::Barrier(Time::from_micros(1))));
    // Beyond the end there is nothing to cut.
    let ended = grid.run_segment(
        None,
        Some(Time::from_secs(10_000)),
        WindowOptions::default(),
        &mut merge,
        &mut records,
    );
    assert_eq!(ended, Ok(RunSegment::Over));
    assert_eq!(
        grid.run_segment(None, None, WindowOptions::default(), &mut merge, &mut records),
        Ok(RunSegment::Over)
    );
    assert_eq!(grid.finish_run(None, &mut merge, &mut records), Ok(()));
    assert_eq!(grid.now(), Time::from_secs(480));
}

#[test]
fn a_merge_of_others_is_refused() {
    let mut grid = plain(1);
    let mut merge = Merge::new(3);
    let told = grid.run_segment(None, None, WindowOptions::default(), &mut merge, &mut Vec::new());
    assert!(matches!(told, Err(GridError::BadSave(_))), "{told:?}");
    let told = run_segment(&mut grid, None, None, RuntimeOptions::default(), &mut merge, &mut Vec::new());
    assert!(told.is_err_and(|error| error.to_string().contains("records of 3 entities")));
    assert_eq!(grid.nodes().len(), 1, "nobody was taken out");
}

/// Three sites under a broker with two hundred jobs.
fn busy() -> GridCase {
    let sites = ["windsor", "delft", "lyon"].map(|name| {
        let mut site = SiteSpec::plain(name, 8, "easy".parse().expect("a policy"));
        site.record_machines = true;
        site
    });
    let mut network = NetworkSpec::uniform(Link::default());
    for place in 1..=3 {
        network.set(0, place, Link { latency: Span::from_micros(50_000), bandwidth: None });
    }
    let job = |n: u64| {
        Job::rigid(n, Time::from_secs(7 * n), 1 + (n % 5) as u32, Span::from_secs(40 + 13 * (n % 11)))
    };
    let broker = Some(BrokerSpec::new("mct".parse().expect("a policy")));
    let spec = GridSpec { seed: 7, sites: sites.to_vec(), network, broker };
    GridCase {
        spec,
        local: vec![Vec::new(); 3],
        portal: (1..=200).map(job).collect(),
        until: None,
        coupled: None,
    }
}

#[test]
fn halts_from_another_thread_change_nothing() {
    let case = busy();
    let expected = case.stepwise();
    assert_eq!(expected.result, Ok(()));
    for threads in 0..3 {
        let halt = Halt::new();
        halt.ask();
        let (asking, over) = (halt.clone(), Arc::new(AtomicBool::new(false)));
        let until = Arc::clone(&over);
        let asks = thread::spawn(move || {
            while !until.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_micros(300));
                asking.ask();
            }
        });
        let (mut grid, mut records, mut cuts) = (case.build(), Vec::new(), 0);
        let mut merge = Merge::new(grid.nodes().len());
        loop {
            let windows = WindowOptions { halt: Some(halt.clone()), ..WindowOptions::default() };
            let ended = match NonZeroUsize::new(threads) {
                None => grid.run_segment(None, None, windows, &mut merge, &mut records).expect("it runs"),
                Some(threads) => {
                    let options = RuntimeOptions { windows, threads, ..RuntimeOptions::default() };
                    run_segment(&mut grid, None, None, options, &mut merge, &mut records).expect("it runs")
                }
            };
            halt.clear();
            match ended {
                RunSegment::Over => break,
                RunSegment::Barrier(_) => (grid, merge) = anew(&case, &grid, &merge),
            }
            cuts += 1;
        }
        over.store(true, Ordering::Relaxed);
        asks.join().expect("it asks");
        assert!(cuts > 0);
        let result = grid.finish_run(None, &mut merge, &mut records).map_err(|error| error.to_string());
        same(&GridRan { records, result, end: grid.now() }, &expected);
    }
}
