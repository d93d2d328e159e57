//! Suspended jobs in the schedule of a part of a run.

use super::churn::Outage;
use super::places::Places;
use super::schedule::{Fact, Schedule, Stretch};
use crate::model::{Cause, ProcSet};
use crate::report::charts::{GanttChart, TimeMarks};

const SECOND: u64 = 1_000_000;

/// A stretch of job 1 on processors 0 and 1 of a place; its times are in seconds.
fn stretch(place: usize, attempt: u32, from: u64, to: u64) -> Stretch {
    let (from, to) = (from * SECOND, to * SECOND);
    Stretch { key: (None, 1), attempt, place, from, to, procs: ProcSet::full(2), cause: Cause::Run }
}

/// The schedule from 100 s to 200 s of a job that ends at 400 s.
fn part(stretches: &[Stretch], suspended: bool, outages: &[Outage]) -> GanttChart {
    let mut schedule = Schedule::of_part((100 * SECOND, 200 * SECOND), 1, suspended);
    let fact = Fact { end: 400 * SECOND, ..Fact::NONE };
    stretches.iter().for_each(|stretch| schedule.take_part(stretch, fact));
    schedule.chart("part", &Places::default(), &[], (outages, &TimeMarks::default()))
}

fn suspended(chart: &GanttChart) -> Vec<(f64, f64)> {
    chart.suspended.iter().map(|bar| (bar.from, bar.to)).collect()
}

/// What is suspended when, the stretches of the job, and the suspensions that are drawn.
type Case<'a> = (&'a str, &'a [Stretch], &'a [(f64, f64)]);

#[test]
fn a_suspension_is_drawn_where_it_overlaps_the_part() {
    let cases: [Case<'_>; 5] = [
        ("all of the part", &[stretch(0, 1, 0, 50), stretch(0, 1, 300, 400)], &[(50.0, 300.0)]),
        ("its begin", &[stretch(0, 1, 0, 90), stretch(0, 1, 120, 400)], &[(90.0, 120.0)]),
        ("before it", &[stretch(0, 1, 0, 50), stretch(0, 1, 100, 400)], &[]),
        ("after it", &[stretch(0, 1, 0, 200), stretch(0, 1, 300, 400)], &[]),
        (
            "twice",
            &[stretch(0, 1, 0, 110), stretch(0, 1, 120, 130), stretch(0, 1, 190, 400)],
            &[(110.0, 120.0), (130.0, 190.0)],
        ),
    ];
    for (case, stretches, drawn) in cases {
        assert_eq!(suspended(&part(stretches, true, &[])), drawn, "{case}");
        assert!(
            part(stretches, false, &[]).suspended.is_empty(),
            "{case}: no policy of the run suspends jobs"
        );
    }
}

/// The job was not suspended: it failed, moved, or never left its processors.
#[test]
fn other_gaps_are_no_suspensions() {
    let first = stretch(0, 1, 0, 110);
    for next in [stretch(0, 2, 150, 400), stretch(1, 1, 150, 400), stretch(0, 1, 110, 400)] {
        assert_eq!(suspended(&part(&[first.clone(), next], true, &[])), []);
    }
    // Its machine goes down, and it waits there.
    let both = [first, stretch(0, 1, 150, 400)];
    let down = |at: u64, procs| Outage { place: 0, from: at * SECOND, to: 150 * SECOND, procs };
    assert_eq!(suspended(&part(&both, true, &[down(110, ProcSet::full(1))])), []);
    for other in [down(110, ProcSet::range(2, 4)), down(120, ProcSet::full(1))] {
        assert_eq!(suspended(&part(&both, true, &[other])), [(110.0, 150.0)]);
    }
    // One that is just being resumed is suspended again.
    let resumes = [Stretch { cause: Cause::Resume, ..both[0].clone() }, both[1].clone()];
    assert_eq!(suspended(&part(&resumes, true, &[down(110, ProcSet::full(1))])), [(110.0, 150.0)]);
}

/// With more bars than are drawn one by one there are no outlines.
#[test]
fn many_bars_have_no_outlines() {
    let all = |bars: u64| {
        let mut schedule = Schedule::of_part((0, 10_000_000 * SECOND), 1, true);
        for at in 0..bars {
            schedule.take(stretch(0, 1, 10 * at, 10 * at + 5), Fact::NONE);
        }
        schedule.chart("all", &Places::default(), &[], (&[], &TimeMarks::default()))
    };
    let most = GanttChart::SINGLE as u64;
    let (few, many) = (all(most), all(most + 1));
    assert_eq!((few.bars.len(), few.suspended.len()), (GanttChart::SINGLE, GanttChart::SINGLE - 1));
    assert_eq!((many.bars.len(), many.suspended.len()), (GanttChart::SINGLE + 1, 0));
}

/// A job that grows is drawn on the processors that it has then, and pale while it adapts to them.
#[test]
fn a_resized_job_is_drawn_on_its_processors() {
    let grown = |cause, from, to| Stretch { procs: ProcSet::full(3), cause, ..stretch(0, 1, from, to) };
    let all = [stretch(0, 1, 0, 110), grown(Cause::Resize, 110, 115), grown(Cause::Run, 115, 400)];
    let chart = part(&all, false, &[]);
    let bars: Vec<(f64, f64, u32, bool)> =
        chart.bars.iter().map(|bar| (bar.from, bar.to, bar.ranges[0].end, bar.overhead)).collect();
    assert_eq!(bars, [(0.0, 110.0, 2, false), (110.0, 115.0, 3, true), (115.0, 400.0, 3, false)]);
}
