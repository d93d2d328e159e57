//! Hand-worked schedules, and comparisons with slow reference implementations.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::distribution::{Quantity, ecdf};
use super::front::{dominators, front, knee};
use super::pareto::pareto;
use super::run::RunSeries;
use super::steps::{Accrual, Steps};
use super::study::{Layout, curves};
use crate::output::RunFolder;
use crate::report::charts::{Chart as _, Paint, Theme};
use crate::study::StudyTable;

/// The value of a step function at an instant, by definition.
fn by_definition(holds: &[(u64, u64, i64)], at: u64) -> i64 {
    holds.iter().filter(|(from, to, _)| (*from..*to).contains(&at)).map(|(_, _, by)| by).sum()
}

proptest! {
    #[test]
    fn bins_have_least_mean_and_most_of_what_is_in_them(
        holds in prop::collection::vec((0_u64..60, 0_u64..60, 1_i64..9), 1..30),
        (from, length) in (0_u64..20, 1_u64..50),
        bins in 1_u32..7,
    ) {
        let mut steps = Steps::default();
        for (from, to, by) in &holds {
            steps.hold(*from, *to, *by);
        }
        let to = from + length;
        let points = steps.points((from, to), bins, 1.0);
        let exact = steps.values().count() <= bins as usize;
        for at in from..to {
            let micros = at as f64 / 1e6;
            let point = points.iter().rev().find(|point| point.x <= micros + 1e-12).unwrap();
            let value = by_definition(&holds, at) as f64;
            prop_assert!(point.low <= value && value <= point.high, "{value} at {at} in {point:?}");
            if exact {
                prop_assert_eq!(point.mean, value);
            }
        }
        if !exact {
            let edge = |bin: u32| from + (length * u64::from(bin)).div_ceil(u64::from(bins));
            prop_assert_eq!(points.len(), bins as usize);
            for (bin, point) in (0..).zip(&points) {
                let within: Vec<i64> = (edge(bin)..edge(bin + 1)).map(|at| by_definition(&holds, at)).collect();
                if within.is_empty() {
                    continue;
                }
                let mean = within.iter().sum::<i64>() as f64 / within.len() as f64;
                prop_assert!((point.mean - mean).abs() < 1e-9, "{} is not {mean}", point.mean);
                prop_assert_eq!(point.low, *within.iter().min().unwrap() as f64);
                prop_assert_eq!(point.high, *within.iter().max().unwrap() as f64);
            }
        }
    }

    #[test]
    fn what_accrues_adds_up(parts in prop::collection::vec((0_u64..100, 0_u64..100, -50_i128..50), 0..20), bins in 1_u32..9) {
        let mut accrual = Accrual::new((0, 100), bins);
        for (from, length, amount) in &parts {
            accrual.add(*from, (*from + *length).min(100), *amount);
        }
        prop_assert_eq!(accrual.sum(), parts.iter().map(|(_, _, amount)| amount).sum::<i128>());
    }

    #[test]
    fn the_front_is_what_no_other_point_beats(
        points in prop::collection::vec(prop::option::of((0_i32..6, 0_i32..6)), 0..14),
        less in any::<(bool, bool)>(),
    ) {
        let points: Vec<Option<(f64, f64)>> =
            points.into_iter().map(|point| point.map(|(x, y)| (f64::from(x), f64::from(y)))).collect();
        let as_good = |a: f64, b: f64, less: bool| if less { a <= b } else { a >= b };
        let beats = |a: (f64, f64), b: (f64, f64)| a != b && as_good(a.0, b.0, less.0) && as_good(a.1, b.1, less.1);
        let expected: Vec<bool> = points
            .iter()
            .map(|point| point.is_some_and(|point| !points.iter().flatten().any(|other| beats(*other, point))))
            .collect();
        let on = front(&points, less);
        prop_assert_eq!(&on, &expected);
        // What is not on it is dominated by a point that is, and by no other points of it than those that beat it.
        for (at, point) in points.iter().enumerate() {
            let Some(point) = point else { continue };
            let by = dominators(*point, &points, &on, less);
            let beating = |other: &usize| on[*other] && points[*other].is_some_and(|other| beats(other, *point));
            prop_assert_eq!(&by, &(0..points.len()).filter(beating).collect::<Vec<_>>());
            prop_assert_eq!(on[at], by.is_empty());
        }
        // The knee is on the front, and between its ends.
        if let Some(at) = knee(&points, &on, less) {
            prop_assert!(on[at]);
            let front = || points.iter().zip(&on).filter(|(_, on)| **on).filter_map(|(point, _)| *point);
            prop_assert!(front().any(|other| other.0 < points[at].unwrap().0) && front().any(|other| other.0 > points[at].unwrap().0));
        }
    }

    #[test]
    fn a_thinned_distribution_lies_on_the_whole_one(mut values in prop::collection::vec(0_u32..500, 1..3_000)) {
        values.sort_unstable();
        let sorted: Vec<f64> = values.iter().map(|value| f64::from(*value)).collect();
        let points = ecdf(&sorted);
        prop_assert!(points.len() <= 402);
        prop_assert_eq!(points.last().copied(), Some((sorted[sorted.len() - 1], 1.0)));
        prop_assert_eq!(points[0].0, sorted[0]);
        for (value, share) in points {
            let at_most = sorted.iter().filter(|other| **other <= value).count();
            prop_assert!((share - at_most as f64 / sorted.len() as f64).abs() < 1e-12);
        }
    }
}

const JOBS: &str = "job,submit,start,end,procs,site,outcome,requested,run,estimate,wait,response,bsld,user,class,attempts,energy_j,cost,reason,partition,origin\n";
const SEGMENTS: &str =
    "job,attempt,site,partition,procs,from,to,rate,share,cause,energy_j,cost,processors,origin\n";

fn folder(at: &Path, jobs: &str, segments: &str, events: &str) -> RunFolder {
    fs::write(at.join("jobs.csv"), format!("{JOBS}{jobs}")).unwrap();
    fs::write(at.join("segments.csv"), format!("{SEGMENTS}{segments}")).unwrap();
    if !events.is_empty() {
        let head = "time,event,cause,site,partition,machines,procs,job,origin,attempt,wasted_proc_s,since_failure_s\n";
        fs::write(at.join("events.csv"), format!("{head}{events}")).unwrap();
    }
    let scenario =
        "[[site]]\nname = \"a\"\nmachines = [{ class = \"p\", count = 2, cores = 2, absent = 0 }]\n";
    fs::write(at.join("scenario.toml"), scenario).unwrap();
    let summary = r#"{ "scenario": "tiny", "scenario_hash": "0", "sites": [{ "name": "a", "usage": { "idle": 100.0, "reserved": 0.0 }, "energy": { "idle_kwh": 0.0002777777777777778 } }] }"#;
    fs::write(at.join("summary.json"), summary).unwrap();
    RunFolder::open(at).unwrap()
}

/// Two machines of two processors. Job 1 runs on all four from 0 to 10; machine 1 leaves at 10 and the attempt fails: the job runs
/// again from 20 to 40, when the machine is back. Job 2, one processor, waits from 5 to 10 and runs until 15, where it is killed.
fn tiny(at: &Path) -> RunFolder {
    let jobs = "2,5,10,15,1,a,killed,1,5,5,5,10,1,1,all,1,500,2,,p,local\n\
        1,0,0,40,4,a,completed,4,20,20,0,40,2,1,all,2,2000,6,,p,local\n";
    let segments = "1,1,a,p,4,0,10,1,1,run,1000,3,0-3,local\n\
        2,1,a,p,1,10,15,1,1,run,500,2,0,local\n\
        1,2,a,p,4,20,40,1,1,run,1000,3,0-3,local\n";
    let events = "10,left,script,a,p,1,2,,,,,\n20,joined,script,a,p,1,2,,,,,\n";
    folder(at, jobs, segments, events)
}

fn values(mut steps: Steps) -> Vec<(u64, i64)> {
    steps.values().map(|(at, value)| (at / 1_000_000, value)).collect()
}

#[test]
fn a_small_run_gives_what_can_be_worked_out_by_hand() {
    let dir = tempfile::tempdir().unwrap();
    let run = RunSeries::read(&tiny(dir.path()), None).unwrap();
    assert_eq!(run.jobs.span, (0, 40_000_000));
    assert_eq!(values(run.running), [(0, 1), (15, 0), (20, 1), (40, 0)]);
    // Job 2 from 5 to 10; job 1 again from 10, when its attempt failed, to 20.
    assert_eq!(values(run.waiting), [(5, 1), (20, 0)]);
    let full = crate::units::Rate::FULL.units() as i64;
    assert_eq!(values(run.busy[0].clone()), [(0, 4 * full), (10, full), (15, 0), (20, 4 * full), (40, 0)]);
    assert_eq!(values(run.down[0].clone()), [(10, 2), (20, 0)]);
    // 1000 J in 10 s is 100 W, 500 J in 5 s too, 1000 J in 20 s is 50 W.
    assert_eq!(values(run.jobs_power.clone()), [(0, 100_000), (15, 0), (20, 50_000), (40, 0)]);
    // 1000 J over 100 idle processor-seconds are 10 W: one idle from 10 to 15 (two are down), two until 20.
    assert_eq!(values(run.power), [(0, 100_000), (10, 110_000), (15, 20_000), (20, 50_000), (40, 0)]);
    assert_eq!(run.cost.sum(), 8_000_000_000);
    assert_eq!(run.jobs.outcomes, [1, 1, 0, 0, 0, 0]);
    assert_eq!(run.failed_attempts, 1);
    assert_eq!(run.jobs.measured.sorted(Quantity::Wait, |_| true), [0.0, 5.0]);

    let gantt = run.gantt.unwrap();
    let bars: Vec<(&str, f64, f64, bool, bool)> =
        gantt.bars.iter().map(|bar| (bar.label.as_str(), bar.from, bar.to, bar.wasted, bar.killed)).collect();
    assert_eq!(
        bars,
        [("1", 0.0, 10.0, true, false), ("2", 10.0, 15.0, false, true), ("1", 20.0, 40.0, false, false)]
    );
    assert_eq!(gantt.joins.len(), 1);
    assert_eq!((gantt.joins[0].from, gantt.joins[0].to), ((0, 2.0, 10.0), (0, 2.0, 20.0)));
    let down = &gantt.down[0];
    assert_eq!((down.from, down.to, down.ranges.len(), down.ranges[0].clone()), (10.0, 20.0, 1, 2..4));
    assert_eq!((gantt.rows[0].processors, gantt.rows[0].cores), (4, 2));
}

/// Two slices and a group beside the small run: the first slice is long, and the second has a switch of 2 s.
#[test]
fn slices_and_groups_are_bands_above_the_strip() {
    let dir = tempfile::tempdir().unwrap();
    let run = tiny(dir.path());
    let slices = "time,site,partition,class,runs_from,until\n0,a,p,long,0,20\n20,a,p,short,22,30\n";
    fs::write(dir.path().join("slices.csv"), slices).unwrap();
    let groups = "time,site,partition,class,formed,ready,until,job,origin,start,end\n\
        5,a,p,medium,5,5,60,2,local,10,20\n5,a,p,medium,5,5,60,9,local,20,30\n\
        12,a,p,long,12,12,25,7,local,12,25\n30,a,p,medium,30,30,35,8,local,30,35\n";
    fs::write(dir.path().join("groups.csv"), groups).unwrap();
    let gantt = RunSeries::read(&run, None).unwrap().gantt.unwrap();
    let [band] = &gantt.bands[..] else { panic!("one band") };
    let drawn: Vec<_> = band.slices.iter().map(|slice| (slice.class.name(), slice.from, slice.to)).collect();
    assert_eq!(drawn, [("long", 0.0, 20.0), ("short", 22.0, 40.0)]);
    assert!(!band.in_shares && band.slices[1].title.contains("20 s to 40 s, after a switch of 2 s"));
    // The first group is over when the next one of its class is planned.
    let drawn: Vec<_> = band.groups.iter().map(|group| (group.class.name(), group.from, group.to)).collect();
    assert_eq!(drawn, [("medium", 5.0, 30.0), ("long", 12.0, 25.0), ("medium", 30.0, 35.0)]);
    assert!(
        band.groups[0].title.contains("group of 2 medium jobs") && band.groups[0].title.contains("jobs 2 9")
    );
    // Job 2 is outlined.
    let outlined: Vec<&str> =
        gantt.bars.iter().filter(|bar| bar.grouped).map(|bar| bar.label.as_str()).collect();
    assert_eq!(outlined, ["2"]);
    let svg = gantt.svg(Paint::File(Theme::Light));
    for told in ["slice of long jobs", "slice of short jobs", "plan of a group", "job of a group"] {
        assert!(svg.contains(told), "no `{told}`");
    }
    assert!(!svg.contains("slice of medium jobs"));
}

#[test]
fn many_slices_are_shares_of_short_periods() {
    let dir = tempfile::tempdir().unwrap();
    let jobs = "1,0,0,4800,1,a,completed,1,4800,4800,0,4800,1,1,all,1,0,0,,p,local\n";
    let segments = "1,1,a,p,1,0,4800,1,1,run,0,0,1,local\n";
    let run = folder(dir.path(), jobs, segments, "");
    // A slice every 2 s, a quarter of the time lost in switches: three of long jobs and two of short ones in each period of 10 s.
    let row = |at: u64| {
        let class = if at.is_multiple_of(2) { "long" } else { "short" };
        format!("{},a,p,{class},{}.5,{}\n", 2 * at, 2 * at, 2 * at + 2)
    };
    let rows: String = (0..2_400).map(row).collect();
    fs::write(dir.path().join("slices.csv"), format!("time,site,partition,class,runs_from,until\n{rows}"))
        .unwrap();
    let gantt = RunSeries::read(&run, None).unwrap().gantt.unwrap();
    let [band] = &gantt.bands[..] else { panic!("one band") };
    assert!(band.in_shares);
    // Periods with three long slices and with two are not alike, so that each is drawn.
    let first: Vec<_> =
        band.slices[..4].iter().map(|slice| (slice.class.name(), slice.from, slice.to)).collect();
    assert_eq!(
        first,
        [("long", 0.0, 10.0), ("short", 0.0, 10.0), ("long", 10.0, 20.0), ("short", 10.0, 20.0)]
    );
    assert_eq!(band.slices[0].part, (0.0, 0.45));
    assert!((band.slices[1].part.0, band.slices[2].part) == (0.45, (0.0, 0.3)));
    let sum: f64 =
        band.slices.iter().map(|slice| (slice.part.1 - slice.part.0) * (slice.to - slice.from)).sum();
    assert!((sum - 3_600.0).abs() < 1e-6, "{sum}");
}

#[test]
fn failed_attempts_are_joined_while_they_are_few() {
    // A job whose attempts fail every second, `failed` times.
    let often = |failed: u64| {
        let dir = tempfile::tempdir().unwrap();
        let (attempts, end) = (failed + 1, failed + 1);
        let jobs = format!("1,0,0,{end},4,a,completed,4,20,20,0,40,2,1,all,{attempts},2000,6,,p,local\n");
        let segments: String = (0..attempts)
            .map(|at| format!("1,{},a,p,4,{at},{},1,1,run,10,3,0-3,local\n", at + 1, at + 1))
            .collect();
        let run = RunSeries::read(&folder(dir.path(), &jobs, &segments, ""), None).unwrap();
        let gantt = run.gantt.unwrap();
        let svg = gantt.svg(Paint::File(Theme::Light));
        let pale = gantt.bars.iter().filter(|bar| bar.wasted).count() as u64;
        (
            run.failed_attempts,
            pale,
            gantt.joins.len(),
            svg.contains("joined to the next"),
            svg.contains("(pale)"),
        )
    };
    assert_eq!(often(40), (40, 40, 40, true, false));
    assert_eq!(often(41), (41, 41, 0, false, true));
}

#[test]
fn a_run_in_which_all_are_rejected_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let jobs =
        "1,3,,3,0,a,rejected,9,5,5,,,,1,all,0,0,0,needs more processors than the partition has,,local\n";
    let run = RunSeries::read(&folder(dir.path(), jobs, "", ""), None).unwrap();
    assert!(run.gantt.is_none());
    assert_eq!((run.jobs.outcomes[3], run.jobs.measured.count()), (1, 0));
    assert!(run.jobs.span.0 < run.jobs.span.1);
}

#[test]
fn many_jobs_become_a_raster_that_holds_the_same_processor_time() {
    let dir = tempfile::tempdir().unwrap();
    let (mut jobs, mut segments) = (String::new(), String::new());
    // 20,001 jobs of 2 s one after the other on processor 1, which is in use half of the time.
    for job in 0..20_001_u64 {
        let (from, to) = (job * 4, job * 4 + 2);
        jobs += &format!("{job},{from},{from},{to},1,a,completed,1,2,2,0,2,1,1,all,1,0,0,,p,local\n");
        segments += &format!("{job},1,a,p,1,{from},{to},1,1,run,0,0,1,local\n");
    }
    let run = RunSeries::read(&folder(dir.path(), &jobs, &segments, ""), None).unwrap();
    let gantt = run.gantt.unwrap();
    assert!(gantt.bars.is_empty());
    let raster = gantt.rows[0].raster.as_ref().unwrap();
    for column in 0..960 {
        assert!(
            (raster.share(column, 1, 0) - 0.5).abs() < 0.03,
            "column {column}: {}",
            raster.share(column, 1, 0)
        );
        assert_eq!(raster.share(column, 0, 0), 0.0);
    }
}

/// Scaled to the range of the front, (1, 5), (3, 2), (9, 1) are (0, 1), (1/4, 1/4), (1, 0): the middle one is half of the square beyond the chord.
#[test]
fn the_knee_is_farthest_from_the_chord() {
    let of = |points: &[(f64, f64)], less| {
        let points: Vec<_> = points.iter().copied().map(Some).collect();
        knee(&points, &front(&points, less), less)
    };
    let less = (true, true);
    assert_eq!(of(&[(9.0, 1.0), (3.0, 2.0), (1.0, 5.0)], less), Some(1));
    // A dominated point is no knee, and does not set the range.
    assert_eq!(of(&[(9.0, 1.0), (3.0, 2.0), (1.0, 5.0), (100.0, 100.0)], less), Some(1));
    assert_eq!(of(&[(9.0, 1.0), (5.0, 1.5), (3.0, 2.0), (2.0, 4.0), (1.0, 5.0)], less), Some(2));
    // Where more is better in the second measure.
    assert_eq!(of(&[(9.0, 5.0), (3.0, 4.0), (1.0, 1.0)], (true, false)), Some(1));
    // On the chord, beyond it, between two points, and of one point there is none.
    assert_eq!(of(&[(0.0, 2.0), (1.0, 1.0), (2.0, 0.0)], less), None);
    assert_eq!(of(&[(0.0, 10.0), (9.0, 9.0), (10.0, 0.0)], less), None);
    assert_eq!(of(&[(0.0, 1.0), (1.0, 0.0)], less), None);
    assert_eq!(of(&[(1.0, 1.0)], less), None);
    assert_eq!(of(&[], less), None);
}

/// A variant with an unstable run has no mean, neither in a front nor in a curve: it is aside, sets no axis and dominates no point.
#[test]
fn a_point_that_grows_has_no_mean_in_any_picture() {
    let text = "run,policy,seed,status,jobs,completed,killed,failed,rejected,cancelled,unfinished,unstable,scenario_hash,fingerprint,error,mean_wait,cost\n\
        1,fcfs,1,done,1,1,0,0,0,0,0,no,0,1:0,,1,1\n2,fcfs,2,done,1,1,0,0,0,0,0,yes,0,1:0,,9,1\n\
        3,easy,1,done,1,1,0,0,0,0,0,no,0,1:0,,2,3\n4,easy,2,done,1,1,0,0,0,0,0,no,0,1:0,,4,3\n";
    let table = StudyTable::read_csv("tiny", text.as_bytes()).unwrap();
    let points = table.points();
    let chart = pareto(&table, &points.iter().collect::<Vec<_>>(), (0, 1), None, None, (400, 300));
    let drawn: Vec<_> = chart.points.iter().map(|point| (point.x, point.y, point.front)).collect();
    assert_eq!(drawn, [(3.0, 3.0, true)]);
    assert_eq!(chart.aside, [("policy fcfs".to_owned(), "1 of 2 runs are unstable".to_owned())]);
    assert!(chart.svg(Paint::Page).contains("not drawn: 1 variant without a mean"));
    let layout = Layout::of(&table, None).unwrap();
    let chart = curves(&table, &layout, 0, &layout.charts(&table)[0], (100, 100));
    let means: Vec<_> = chart.curves[0].points.iter().map(|point| point.mean).collect();
    assert_eq!(means, [None, Some(3.0)]);
    assert_eq!(
        (&chart.curves[0].points[0].single[..], &chart.curves[0].points[0].unstable[..]),
        (&[1.0][..], &[9.0][..])
    );
    let numbers = chart.numbers();
    assert_eq!(
        numbers.rows[0],
        ["mean wait", "fcfs", "", "", "", "1", "9"],
        "the runs are among the numbers"
    );
}

/// `easy` has no number `cs`, so it is a line across the whole width; if one of its runs is unstable, it has neither line nor
/// marks.
#[test]
fn labels_without_a_number_are_level_lines() {
    let table = |unstable: &str| {
        let row = |run: u32, policy: &str, seed: u32, wait: u32, unstable: &str| {
            format!("{run},{policy},{seed},done,1,1,0,0,0,0,0,{unstable},0,1:0,,{wait}\n")
        };
        let head = "run,policy,seed,status,jobs,completed,killed,failed,rejected,cancelled,unfinished,unstable,scenario_hash,fingerprint,error,mean_wait\n";
        let rows = [
            row(1, "easy", 1, 6, "no"),
            row(2, "easy", 2, 8, unstable),
            row(3, "los[cs=10]", 1, 3, "no"),
            row(4, "los[cs=2]", 1, 5, "no"),
        ];
        StudyTable::read_csv("tiny", format!("{head}{}", rows.concat()).as_bytes()).unwrap()
    };
    let drawn = |table: &StudyTable| {
        let layout = Layout::of(table, None).unwrap();
        let axis = layout.axis(table);
        assert!(!axis.apart && axis.tracks.iter().any(|track| track.level));
        curves(table, &layout, 0, &layout.charts(table)[0], (300, 200))
    };
    let chart = drawn(&table("no"));
    let told: Vec<_> = chart
        .curves
        .iter()
        .map(|curve| {
            let points: Vec<_> = curve.points.iter().map(|point| (point.x, point.mean)).collect();
            (curve.name.as_str(), curve.level, points)
        })
        .collect();
    assert_eq!(
        told,
        [("easy", true, vec![(0.0, Some(7.0))]), ("los", false, vec![(2.0, Some(5.0)), (10.0, Some(3.0))])]
    );
    assert_eq!((chart.x.title.as_str(), chart.x.ticks.len(), chart.apart), ("cs", 2, false));
    assert!(chart.curves[1].points[0].title.starts_with("policy los[cs=2]\n"));
    let svg = chart.svg(Paint::File(Theme::Light));
    assert_eq!(svg.matches("stroke-dasharray").count(), 2, "the line and its entry in the legend:\n{svg}");
    let svg = drawn(&table("yes")).svg(Paint::File(Theme::Light));
    assert!(svg.contains("easy (no mean)") && !svg.contains("<circle"), "neither line nor marks:\n{svg}");
}
