use super::*;
use crate::model::Origin;
use crate::report::{Attempt, ExplainedJob};

/// A job that is submitted at 0 s, waits as long as told before each attempt, and loses each after 10 s but the last, which `ends` so.
fn facts(waits: &[f64], outcome: &'static str, ends: (&'static str, Option<&str>, f64)) -> Explained {
    let (mut now, mut attempts, mut stretches) = (0.0, Vec::new(), Vec::new());
    for (number, waited) in (1_u32..).zip(waits) {
        let start = now + waited;
        // Like the real ones: without a wait there is no stretch.
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
            lost_proc_s: lost,
        });
    }
    Explained {
        job: ExplainedJob::new(7, Origin::Own, "here", false),
        submit_s: 0.0,
        start_s: waits.first().copied(),
        end_s: now,
        outcome,
        reason: None,
        requested: 4,
        started: waits.len() as u32,
        attempts,
        stretches,
        at: None,
        looks: 0,
        notes: Vec::new(),
    }
}

fn stretch(attempt: u32, from: f64, to: f64) -> Stretch {
    Stretch {
        attempt,
        from_s: from,
        to_s: to,
        place: "here (`fcfs`)".to_owned(),
        reason: Some(Reason::NoRoom),
        rule: "it is the first in line".to_owned(),
        rule_at_end: None,
        needs: 4,
        free: 0,
        shadow_s: None,
        spare: None,
        planned_s: None,
        held_by: Vec::new(),
        profile: Vec::new(),
        looks: 1,
    }
}

/// In one line.
fn told(facts: &Explained, all: bool) -> String {
    explained_text(facts, all).split_whitespace().collect::<Vec<&str>>().join(" ")
}

#[test]
fn one_attempt_ends_in_few_words() {
    let told = |outcome, ends| headline(&facts(&[30.0], outcome, ends));
    let head = "job 7: asks for 4 processors, submitted at 0 s, started at 30 s after 30 s, ";
    assert_eq!(told("completed", ("completed", None, 0.0)), format!("{head}completed at 40 s"));
    assert_eq!(told("killed", ("killed", None, 0.0)), format!("{head}killed at 40 s"));
    assert_eq!(
        told("failed", ("failed", Some("machine-left"), 1_234.4)),
        format!("{head}failed at 40 s: a machine left, 1,234 processor-seconds lost")
    );
    assert_eq!(
        told("failed", ("given-back", Some("site-left"), 0.0)),
        format!("{head}failed at 40 s, its attempt given back: the site left")
    );
}

#[test]
fn several_attempts_are_counted_and_the_last_is_told() {
    let told = |outcome, ends| headline(&facts(&[30.0, 0.0], outcome, ends));
    let head = "job 7: asks for 4 processors, submitted at 0 s, first started at 30 s after 30 s, ";
    assert_eq!(
        told("completed", ("completed", None, 0.0)),
        format!("{head}completed at 50 s after 2 attempts")
    );
    assert_eq!(
        told("failed", ("failed", Some("machine-left"), 40.0)),
        format!("{head}failed at 50 s after 2 attempts: a machine left")
    );
    assert_eq!(
        told("failed", ("given-back", Some("machine-left"), 40.0)),
        format!("{head}failed at 50 s after 2 attempts, the last given back: a machine left")
    );
    // Asked about an instant of its first attempt.
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
        "job 7: asks for 4 processors, submitted at 0 s, never started, rejected at 0 s: refused by the local policy"
    );
}

/// The summary of the waits between does not hang on the second attempt's having waited.
#[test]
fn the_waits_between_are_summed_up_whichever_attempts_waited() {
    let ends = ("completed", None, 0.0);
    let mut waits = [60.0; 14];
    assert!(told(&facts(&waits, "completed", ends), false).contains(
        "the waits between, before attempts 2 to 13 (`--all` tells each): no room 12 min in 12 stretches"
    ));
    waits[1] = 0.0;
    let text = told(&facts(&waits, "completed", ends), false);
    assert!(
        text.contains(
            "the waits between, before attempts 3 to 13 (`--all` tells each): no room 11 min in 11 stretches"
        ),
        "{text}"
    );
    assert!(text.contains(", before attempt 1: no room") && text.contains(", before attempt 14: no room"));
    assert_eq!(text.matches("the waits between").count(), 1, "{text}");
    // The one before the last did not wait either, and in the end only one did.
    waits[12] = 0.0;
    assert!(told(&facts(&waits, "completed", ends), false).contains("before attempts 3 to 12 (`--all`"));
    let mut one = [0.0; 14];
    (one[0], one[6], one[13]) = (60.0, 60.0, 60.0);
    assert!(
        told(&facts(&one, "completed", ends), false)
            .contains("the wait between, before attempt 7 (`--all` tells it): no room 1 min")
    );
    // Nothing is left out where nothing was waited for, or where all is told.
    one[6] = 0.0;
    assert!(!told(&facts(&one, "completed", ends), false).contains("between"));
    let all = told(&facts(&waits, "completed", ends), true);
    assert!(!all.contains("between") && all.contains(", before attempt 3: no room"), "{all}");
}
