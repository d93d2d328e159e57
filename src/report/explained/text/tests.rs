use super::*;
use crate::experiment::{Attempt, ExplainedJob, WaitPlace};
use crate::local::Why;
use crate::model::Origin;

/// A job that is submitted at 0 s and waits for the given times before its attempts, each of which fails after 10 s except the
/// last, which ends as `ends` says.
fn facts(waits: &[f64], outcome: &'static str, ends: (&'static str, Option<&str>, f64)) -> Explained {
    let (mut now, mut attempts, mut stretches) = (0.0, Vec::new(), Vec::new());
    for (number, waited) in (1_u32..).zip(waits) {
        let start = now + waited;
        // As in real facts, an attempt without a wait has no stretch.
        if *waited > 0.0 {
            stretches.push(stretch(number, now, start));
        }
        now = start + 10.0;
        let (ended, cause, lost) =
            if number as usize == waits.len() { ends } else { ("requeued", Some("machine-left"), 40.0) };
        attempts.push(Attempt {
            attempt: number,
            waited_s: *waited,
            site: "here".to_owned(),
            partition: "all".to_owned(),
            processors: 4,
            start_s: start,
            end_s: Some(now),
            ended: Some(ended),
            cause: cause.map(str::to_owned),
            wasted_proc_s: lost,
        });
    }
    Explained {
        task: None,
        job: ExplainedJob::new(7, Origin::Local, "here", false),
        submit_s: 0.0,
        start_s: waits.first().copied(),
        end_s: now,
        outcome,
        reason: None,
        requested: 4,
        started: waits.len() as u32,
        attempts,
        stretches,
        assigned: Vec::new(),
        suspensions: Vec::new(),
        at: None,
        looks: 0,
        notes: Vec::new(),
    }
}

fn stretch(attempt: u32, from: f64, to: f64) -> Stretch {
    let first = Explanation::new(Why::FirstInLine { reserved: false }, 4, 0);
    Stretch {
        attempt,
        from_s: from,
        to_s: to,
        place: WaitPlace::Site { site: "here".to_owned(), policy: "fcfs".to_owned() },
        begin: Some(first),
        end: None,
        looks: 1,
    }
}

/// The explanation in one line.
fn told(facts: &Explained, all: bool) -> String {
    explained_text(facts, all).split_whitespace().collect::<Vec<&str>>().join(" ")
}

#[test]
fn one_attempt_ends_in_few_words() {
    let told = |outcome, ends| headline(&facts(&[30.0], outcome, ends));
    let head = "job 7: requests 4 processors, submitted at 0 s, started at 30 s after 30 s, ";
    assert_eq!(told("completed", ("completed", None, 0.0)), format!("{head}completed at 40 s"));
    assert_eq!(told("killed", ("killed", None, 0.0)), format!("{head}killed at 40 s"));
    assert_eq!(
        told("failed", ("failed", Some("machine-left"), 1_234.4)),
        format!("{head}failed at 40 s: machine left, 1,234 processor-seconds wasted")
    );
    assert_eq!(
        told("failed", ("returned", Some("site-left"), 0.0)),
        format!("{head}failed at 40 s, its attempt returned: site left")
    );
}

#[test]
fn several_attempts_are_counted_and_the_last_is_named() {
    let told = |outcome, ends| headline(&facts(&[30.0, 0.0], outcome, ends));
    let head = "job 7: requests 4 processors, submitted at 0 s, first started at 30 s after 30 s, ";
    assert_eq!(
        told("completed", ("completed", None, 0.0)),
        format!("{head}completed at 50 s after 2 attempts")
    );
    assert_eq!(
        told("failed", ("failed", Some("machine-left"), 40.0)),
        format!("{head}failed at 50 s after 2 attempts: machine left")
    );
    assert_eq!(
        told("failed", ("returned", Some("machine-left"), 40.0)),
        format!("{head}failed at 50 s after 2 attempts, the last returned: machine left")
    );
    // At an instant in its first attempt.
    let mut early = facts(&[30.0, 0.0], "failed", ("failed", Some("machine-left"), 40.0));
    early.attempts.truncate(1);
    assert_eq!(headline(&early), format!("{head}failed at 50 s after 2 attempts"));
}

#[test]
fn what_never_started_says_why() {
    let mut never = facts(&[], "rejected", ("", None, 0.0));
    never.reason = Some("refused by the local policy".to_owned());
    assert_eq!(
        headline(&never),
        "job 7: requests 4 processors, submitted at 0 s, never started, rejected at 0 s: refused by the local policy"
    );
}

/// Regression test: the summary of the middle waits must not depend on whether the second attempt waited.
#[test]
fn the_waits_between_are_summed_up_whichever_attempts_waited() {
    let ends = ("completed", None, 0.0);
    let mut waits = [60.0; 14];
    assert!(
        told(&facts(&waits, "completed", ends), false)
            .contains("the waits before attempts 2 to 13 (`--all` shows each): no room 12 min in 12 periods")
    );
    waits[1] = 0.0;
    let text = told(&facts(&waits, "completed", ends), false);
    assert!(
        text.contains("the waits before attempts 3 to 13 (`--all` shows each): no room 11 min in 11 periods"),
        "{text}"
    );
    assert!(text.contains(", before attempt 1: no room") && text.contains(", before attempt 14: no room"));
    assert_eq!(text.matches("the waits before attempts").count(), 1, "{text}");
    // The last attempt but one did not wait either; below, only one attempt in the middle did.
    waits[12] = 0.0;
    assert!(told(&facts(&waits, "completed", ends), false).contains("before attempts 3 to 12 (`--all`"));
    let mut one = [0.0; 14];
    (one[0], one[6], one[13]) = (60.0, 60.0, 60.0);
    assert!(
        told(&facts(&one, "completed", ends), false)
            .contains("the wait before attempt 7 (`--all` shows it): no room 1 min")
    );
    // There is no summary if no attempt in the middle waited, or if all waits are printed.
    one[6] = 0.0;
    assert!(!told(&facts(&one, "completed", ends), false).contains("between"));
    let all = told(&facts(&waits, "completed", ends), true);
    assert!(!all.contains("between") && all.contains(", before attempt 3: no room"), "{all}");
}
