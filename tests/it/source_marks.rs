//! A source that continues from a mark yields the jobs that the original would have yielded, whatever adapters are stacked on it.

mod opened;

use std::collections::BTreeSet;
use std::io::Cursor;

use gridemu::formats::swf::{SwfOptions, SwfSource};
use gridemu::model::{Job, JobId};
use gridemu::units::Time;
use gridemu::workload::{Estimated, Feedback, First, Scaled, Source};
use proptest::prelude::*;

/// What is stacked on a log.
#[derive(Clone, Debug)]
struct Stack {
    feedback: bool,
    first: Option<u64>,
    scale: Option<&'static str>,
    estimates: &'static str,
}

fn source(text: &str, stack: &Stack) -> Box<dyn Source> {
    let options = SwfOptions { feedback: stack.feedback, ..SwfOptions::default() };
    let mut source: Box<dyn Source> =
        Box::new(SwfSource::open(Box::new(Cursor::new(text.as_bytes().to_vec())), options).unwrap());
    if let Some(count) = stack.first {
        source = Box::new(First::new(source, count));
    }
    if let Some(factor) = stack.scale {
        source = Box::new(Scaled::new(source, factor.parse().unwrap()));
    }
    source = Box::new(Estimated::new(source, stack.estimates.parse().unwrap()));
    if stack.feedback {
        source = Box::new(Feedback::new(source));
    }
    source
}

/// A machine without limits that runs each job `slowness` times its run time: what is told to a source, and when.
#[derive(Clone, Default)]
struct Machine {
    running: BTreeSet<(Time, JobId)>,
    slowness: u64,
}

impl Machine {
    /// The next job of `source`, with the ends before it told; `None` at the end of all.
    fn step(&mut self, source: &mut dyn Source) -> Option<Job> {
        loop {
            let next = source.peek_time().unwrap();
            match self.running.first().copied() {
                Some((end, id)) if next.is_none_or(|time| end <= time) => {
                    self.running.pop_first();
                    source.ended(id, end);
                }
                _ => {
                    let job = source.next_job().unwrap()?;
                    assert_eq!(Some(job.submit), next, "`peek_time` and `next_job` agree");
                    self.running.insert((job.submit + job.runtime * self.slowness, job.id));
                    return Some(job);
                }
            }
        }
    }

    fn rest(&mut self, source: &mut dyn Source) -> Vec<Job> {
        std::iter::from_fn(|| self.step(source)).collect()
    }
}

prop_compose! {
    fn log()(
        rows in prop::collection::vec((0_i64..60, -20_i64..400, 1_i64..4, prop::option::of((0_i64..40, 0_i64..100))), 1..150),
    ) -> String {
        let mut text = String::new();
        let mut at = 0;
        for ((gap, run, procs, after), number) in rows.into_iter().zip(1..) {
            // Steps back now and then; some rows have no run time and are skipped.
            at = (at + gap - 10).max(0);
            let (before, think) = after.map_or((-1, -1), |(back, think)| (number - back, think));
            text += &format!("{number} {at} 0 {run} {procs} -1 -1 -1 -1 -1 1 1 1 1 1 1 {before} {think}\n");
        }
        text + "9999 99999 0 1 1 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n"
    }
}

prop_compose! {
    fn stack()(
        feedback in any::<bool>(),
        first in prop::option::of(1_u64..200),
        scale in prop::option::of(prop::sample::select(vec!["0.5", "1", "7/3"])),
        estimates in prop::sample::select(vec!["log", "exact", "factor:2.5"]),
    ) -> Stack {
        Stack { feedback, first, scale, estimates }
    }
}

proptest! {
    #[test]
    fn a_continued_source_gives_the_same(log in log(), stack in stack(), at in 0_usize..160, slowness in 0_u64..3) {
        let mut first = source(&log, &stack);
        let mut machine = Machine { slowness, ..Machine::default() };
        for _ in 0..at {
            if machine.step(first.as_mut()).is_none() {
                break;
            }
        }
        let mark = first.mark().unwrap();
        let mut second = source(&log, &stack);
        second.seek(&mark).unwrap();
        prop_assert_eq!(second.mark(), Some(mark));
        let mut second_machine = machine.clone();
        prop_assert_eq!(machine.rest(first.as_mut()), second_machine.rest(second.as_mut()));
        prop_assert_eq!(first.notes(), second.notes());
        prop_assert_eq!(first.mark(), second.mark());
    }

    #[test]
    fn feedback_gives_each_job_once_and_never_back_in_time(log in log(), slowness in 0_u64..3) {
        let stack = Stack { feedback: false, first: None, scale: None, estimates: "log" };
        let mut plain = source(&log, &stack);
        let mut logged: Vec<_> = std::iter::from_fn(|| plain.next_job().unwrap()).collect();
        let mut replayed = source(&log, &Stack { feedback: true, ..stack });
        let mut machine = Machine { slowness, ..Machine::default() };
        let mut jobs = machine.rest(replayed.as_mut());
        prop_assert!(jobs.is_sorted_by_key(|job| job.submit));
        let submits: std::collections::BTreeMap<_, _> = jobs.iter().map(|job| (job.id, job.submit)).collect();
        for job in &jobs {
            if let Some(after) = job.after {
                let before = jobs.iter().find(|other| other.id == after.job).unwrap();
                prop_assert_eq!(submits[&job.id], before.submit + before.runtime * slowness + after.think);
            }
        }
        jobs.sort_by_key(|job| job.id);
        logged.sort_by_key(|job| job.id);
        prop_assert_eq!(jobs.iter().map(|job| job.id).collect::<Vec<_>>(), logged.iter().map(|job| job.id).collect::<Vec<_>>());
    }
}

#[test]
fn a_mark_of_another_log_or_another_stack_is_refused() {
    let log = "1 0 0 5 1 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n2 1 0 5 1 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n";
    let stack = Stack { feedback: true, first: None, scale: Some("0.5"), estimates: "exact" };
    let mut first = source(log, &stack);
    first.next_job().unwrap();
    let mark = first.mark().unwrap();
    assert!(source(&log.replace("0 5", "0 6"), &stack).seek(&mark).is_err());
    let refused = |stack: Stack| source(log, &stack).seek(&mark).unwrap_err().to_string();
    assert!(refused(Stack { scale: Some("2"), ..stack.clone() }).contains("factor 0.5"));
    assert!(refused(Stack { estimates: "log", ..stack.clone() }).contains("`exact`"));
    refused(Stack { feedback: false, ..stack.clone() });
    refused(Stack { first: Some(3), ..stack });
}
