use super::super::{Conclusion, settle, tests_of};
use super::*;
use crate::model::RejectReason;

const DAY: u64 = 86_400;

fn job(number: u64, submit: u64, wait: u64) -> JobOutcome {
    let submit = Time::from_secs(submit);
    let run = Span::from_secs(100);
    JobOutcome {
        job: number,
        origin: Origin::Local,
        site: "delft".into(),
        class: if number.is_multiple_of(2) { "even" } else { "odd" }.into(),
        submit,
        ready: submit,
        start: Some(submit + Span::from_secs(wait)),
        end: submit + Span::from_secs(wait + 100),
        procs: 1,
        run,
        outcome: Outcome::Completed,
    }
}

fn rejected(mut job: JobOutcome) -> JobOutcome {
    job.start = None;
    job.end = job.submit;
    job.outcome = Outcome::Rejected(RejectReason::TooLarge);
    job
}

fn question() -> JobQuestion {
    let options = CompareOptions { level: 0.95, top: 2, seed: 1, ..CompareOptions::default() };
    JobQuestion { options, tau: Span::from_secs(10), window: Window::ALL, feedback: false }
}

fn charging(charge: Charge, mut question: JobQuestion) -> JobQuestion {
    question.options.charge = Some(charge);
    question
}

fn only(measure: &str) -> JobQuestion {
    let mut question = question();
    question.options.measures = vec![measure.to_owned()];
    question
}

fn compare(a: &[JobOutcome], b: &[JobOutcome], question: &JobQuestion) -> JobComparison {
    let mut found = compare_jobs(("a", a), ("b", b), question);
    settle(&mut found.cells);
    found
}

fn cell<'a>(found: &'a JobComparison, of: &str, measure: &str) -> &'a Contrast {
    found.cells.iter().find(|cell| cell.of == [of] && cell.measure == measure).unwrap()
}

#[test]
fn measures_are_those_of_the_definitions() {
    // Job 0 waits 50 s and then 0 s, job 1 waits 100 s and then 300 s; both run 100 s.
    let found = compare(&[job(0, 0, 50), job(1, 10, 100)], &[job(0, 0, 0), job(1, 10, 300)], &question());
    let of = |of: &str, measure: &str| {
        let cell = cell(&found, of, measure);
        (cell.baseline_mean.unwrap(), cell.variant_mean.unwrap(), cell.difference.unwrap())
    };
    assert_eq!(of("all", "mean_wait"), (75.0, 150.0, 75.0));
    assert_eq!(of("all", "mean_response"), (175.0, 250.0, 75.0));
    assert_eq!(of("all", "mean_bounded_slowdown"), (1.75, 2.5, 0.75));
    assert_eq!(of("class even", "mean_wait"), (50.0, 0.0, -50.0));
    assert_eq!(of("class odd", "mean_bounded_slowdown"), (2.0, 4.0, 2.0));
    assert!(!found.cells.iter().any(|cell| cell.of == ["users of delft"]), "those are all jobs");
    assert_eq!(found.started, [1, 0, 1]);
    assert_eq!((found.gained[0].job, found.lost[0].job), (0, 1));
    assert_eq!((found.gained.len(), found.lost.len()), (1, 1), "nobody else gained or lost");
    // An hour of a log has no interval, and so no verdict.
    assert_eq!((found.weeks, found.block), (1, None));
    assert!(found.cells.iter().all(|cell| cell.low.is_none() && cell.says == Conclusion::Nothing));
}

/// Forty weeks of ten jobs; waits go up and down from week to week.
fn log(gain: impl Fn(u64) -> u64) -> Vec<JobOutcome> {
    (0..400)
        .map(|n| job(n, n / 10 * 7 * DAY + n % 10 * 3_600, 1_000 + n / 10 % 3 * 100 - gain(n / 10)))
        .collect()
}

#[test]
fn a_long_log_has_intervals_from_its_weeks() {
    let found = compare(&log(|_| 0), &log(|week| 100 + week * 7 % 5), &question());
    assert_eq!((found.weeks, found.block), (40, Some(4)));
    let all = cell(&found, "all", "mean_wait");
    assert_eq!((all.pairs, all.difference), (400, Some(-102.0)));
    assert!(all.low.unwrap() < -102.0 && all.high.unwrap() > -102.0 && all.high.unwrap() < -101.0);
    assert_eq!((all.says, all.evidence), (Conclusion::Better, Evidence::Verdict));
    // One week with a large gain is no evidence: it is drawn in some of the logs only.
    let found = compare(&log(|_| 0), &log(|week| if week == 20 { 900 } else { 0 }), &question());
    let all = cell(&found, "all", "mean_wait");
    assert_eq!((all.difference, all.says), (Some(-22.5), Conclusion::NoDifference));
}

#[test]
fn waits_and_responses_are_one_test_where_jobs_run_as_long() {
    let found = compare(&log(|_| 0), &log(|week| 100 + week * 7 % 5), &question());
    for of in ["all", "class odd"] {
        let test = |measure: &str| {
            let cell = cell(&found, of, measure);
            (cell.low.unwrap(), cell.high.unwrap(), cell.p_value.unwrap(), cell.adjusted_p.unwrap())
        };
        assert_eq!(test("mean_wait"), test("mean_response"));
    }
    let response = cell(&found, "all", "mean_response");
    assert_eq!(response.baseline_mean, Some(cell(&found, "all", "mean_wait").baseline_mean.unwrap() + 100.0));
    let tests = |found: &JobComparison| tests_of(&found.cells.iter().collect::<Vec<_>>());
    // All jobs and two classes, with two tests each: the slowdown is a test of its own.
    assert_eq!((found.cells.len(), tests(&found)), (9, 6));
    // The interval of a group is that of its weeks, whichever measures are requested.
    let only = only("mean_response");
    let alone = compare(&log(|_| 0), &log(|week| 100 + week * 7 % 5), &only);
    assert_eq!(cell(&alone, "all", "mean_response").low, response.low);
    // Jobs that run longer in b, some more than others.
    let mut slower = log(|week| 100 + week * 7 % 5);
    slower.iter_mut().for_each(|job| job.end += Span::from_secs(job.job % 7));
    let found = compare(&log(|_| 0), &slower, &question());
    assert_eq!(tests(&found), 9);
    assert_ne!(cell(&found, "all", "mean_wait").low, cell(&found, "all", "mean_response").low);
}

#[test]
fn a_group_with_jobs_in_few_weeks_has_no_interval() {
    // A year with one job every week; one of them is of another class and starts at once in b.
    let year = |wait: u64| -> Vec<JobOutcome> {
        let job = |n: u64| job(2 * n, n * 7 * DAY, if n == 20 { wait } else { 50 });
        let mut jobs: Vec<JobOutcome> = (0..52).map(job).collect();
        jobs[20].class = "rare".into();
        jobs
    };
    let found = compare(&year(900), &year(0), &question());
    let rare = cell(&found, "class rare", "mean_wait");
    assert_eq!((rare.pairs, rare.difference), (1, Some(-900.0)));
    assert_eq!(
        (rare.p_value, rare.low, rare.says, rare.evidence),
        (None, None, Conclusion::Nothing, Evidence::Nothing)
    );
    assert_eq!(rare.note.as_deref(), Some("jobs in 1 of 52 weeks: too few for an interval"));
    assert_eq!((found.weeks, found.weeks_with_jobs), (52, 52));
}

#[test]
fn jobs_that_did_not_end_alike_are_charged_as_said() {
    // Job 1 is rejected in b. The longer run ends at 240 s (job 0 in a: 140 s of wait, 100 s of run).
    let a = [job(0, 0, 140), job(1, 10, 20), job(2, 20, 0)];
    let b = [job(0, 0, 40), rejected(job(1, 10, 0)), job(2, 20, 0)];
    let found = compare(&a, &b, &question());
    assert_eq!(found.unlike, 1);
    let refused = cell(&found, "all", "mean_wait");
    assert_eq!(
        (refused.difference, refused.note.as_deref()),
        (
            None,
            Some(
                "refused: 1 of 3 jobs have different outcomes, more than the tolerance of 0 %; `--charge to-the-end` charges such jobs, \
                 `--charge leave-out` leaves them out, `--tolerance 34` accepts them"
            )
        )
    );
    // Where it is tolerated, it is left out, and the other end is that of `to-the-end`: (0 - 140 + 40 + 210 - 20) / 3.
    let mut tolerant = question();
    tolerant.options.tolerance = 0.34;
    let found_both = compare(&a, &b, &tolerant);
    let both = cell(&found_both, "all", "mean_wait");
    assert_eq!((both.difference, both.charged), (Some(-50.0), Some(110.0 / 3.0)));
    assert_eq!(both.note.as_deref(), Some("1 of 3 jobs have different outcomes (33.33 %)"));
    assert_eq!(cell(&found, "class even", "mean_wait").difference, Some(-50.0), "its jobs all ended alike");
    let charged = |charge| {
        let found = compare(&a, &b, &charging(charge, question()));
        let cell = cell(&found, "all", "mean_wait");
        (cell.baseline_mean.unwrap(), cell.variant_mean.unwrap(), cell.pairs)
    };
    assert_eq!(charged(Charge::LeaveOut), (70.0, 20.0, 2));
    // As if it had started at 240 s: it waited 230 s.
    assert_eq!(charged(Charge::ToTheEnd), (160.0 / 3.0, 270.0 / 3.0, 3));
}

#[test]
fn what_is_the_same_but_for_a_lost_job_gets_no_verdict() {
    let a: Vec<JobOutcome> = (0..60).map(|at| job(at, at * 604_800, 20)).collect();
    let mut b = a.clone();
    b[59] = rejected(b[59].clone());
    let tolerant = |tolerance| {
        let mut question = question();
        question.options.tolerance = tolerance;
        let found = compare(&a, &b, &question);
        let cell = cell(&found, "all", "mean_wait");
        (cell.says, cell.difference, cell.note.clone())
    };
    let (says, difference, note) = tolerant(0.02);
    assert_eq!((says, difference), (Conclusion::Nothing, Some(0.0)));
    let note = note.unwrap();
    assert!(
        note.starts_with("no verdict: the same but for jobs that ended otherwise; 1 of 60 jobs"),
        "{note}"
    );
}

#[test]
fn what_is_told_of_charges_is_what_was_charged() {
    let killed = |mut job: JobOutcome| {
        job.outcome = Outcome::Killed;
        job
    };
    let note = |a: &[JobOutcome], b: &[JobOutcome]| {
        let to_the_end = charging(Charge::ToTheEnd, question());
        cell(&compare(a, b, &to_the_end), "all", "mean_wait").note.clone().unwrap()
    };
    let a = [job(0, 0, 140), job(1, 10, 20), job(2, 20, 0)];
    let lost = [job(0, 0, 40), rejected(job(1, 10, 0)), job(2, 20, 0)];
    assert_eq!(note(&a, &lost), "1 job charged to the end of the run");
    // A job that was killed at its estimate ran to its end, and has a wait.
    let cut = [job(0, 0, 40), killed(job(1, 10, 0)), job(2, 20, 0)];
    assert_eq!(
        note(&a, &cut),
        "0 jobs charged to the end of the run; 1 has another outcome, but ran on both sides (completed or killed)"
    );
    let both = [job(0, 0, 40), rejected(job(1, 10, 0)), killed(job(2, 20, 0))];
    assert!(note(&a, &both).starts_with("1 job charged to the end of the run; 1 has"), "{}", note(&a, &both));
}

#[test]
fn a_group_says_nothing_that_another_has_said() {
    // All even jobs belong to one site and all odd ones to the other: sites and classes are the same groups.
    let at = |mut job: JobOutcome| {
        job.site = if job.job.is_multiple_of(2) { "delft" } else { "leiden" }.into();
        job
    };
    let jobs = |wait: u64| (0..4).map(|n| at(job(n, 10 * n, wait))).collect::<Vec<_>>();
    let found = compare(&jobs(5), &jobs(8), &only("mean_wait"));
    let groups: Vec<&str> = found.cells.iter().map(|cell| cell.of[0].as_str()).collect();
    assert_eq!(groups, ["all", "class even", "class odd"]);
    // A measure that is equal for each job is not a test.
    let same = compare(&jobs(5), &jobs(5), &question());
    assert!(same.cells.iter().all(|cell| cell.says == Conclusion::Same && cell.p_value.is_none()));
}

#[test]
fn another_workload_is_not_paired() {
    let found = compare(&[job(0, 0, 5), job(1, 0, 5)], &[job(0, 0, 5), job(7, 0, 5)], &question());
    assert_eq!((found.jobs, found.unpaired), (1, [1, 1]));
    assert!(found.cells.is_empty());
    // Equal numbers do not make equal jobs: another seed of a model numbers its jobs likewise.
    let other_time = compare(&[job(0, 0, 5), job(1, 0, 5)], &[job(0, 0, 5), job(1, 7, 5)], &question());
    assert_eq!((other_time.jobs, other_time.unpaired), (1, [1, 1]));
    assert!(other_time.cells.is_empty());
    let wide = JobOutcome { procs: 2, ..job(1, 0, 5) };
    let other_size = compare(&[job(0, 0, 5), job(1, 0, 5)], &[job(0, 0, 5), wide.clone()], &question());
    assert_eq!((other_size.jobs, other_size.unpaired), (1, [1, 1]));
    // Users who wait for their jobs submit the next one at a time that depends on the policy; it is the same job.
    let feedback = JobQuestion { feedback: true, ..question() };
    let found = compare(&[job(0, 0, 5), job(1, 0, 5)], &[job(0, 0, 5), job(1, 7, 5)], &feedback);
    assert_eq!((found.jobs, found.unpaired, found.cells.is_empty()), (2, [0, 0], false));
    assert_eq!(compare(&[job(1, 0, 5)], &[wide], &feedback).jobs, 0);
}

#[test]
fn only_jobs_of_the_measured_window_count() {
    let window = Window::new(Time::from_secs(10), Time::from_secs(30)).unwrap();
    let windowed = JobQuestion { window, ..question() };
    let a = [job(0, 0, 500), job(1, 10, 20), job(2, 29, 40), job(3, 30, 700)];
    let b = [job(0, 0, 0), job(1, 10, 10), rejected(job(2, 29, 40)), rejected(job(3, 30, 0))];
    let found = compare(&a, &b, &charging(Charge::LeaveOut, windowed.clone()));
    assert_eq!((found.jobs, found.unpaired, found.unlike), (2, [0, 0], 1));
    assert_eq!((found.outcomes[0].total(), found.outcomes[1].rejected), (2, 1));
    assert_eq!(cell(&found, "all", "mean_wait").difference, Some(-10.0));
    // Jobs outside the window may differ, and jobs are charged to the end of the whole run: at 830 s.
    let found = compare(&a[..3], &b, &windowed);
    assert_eq!((found.jobs, found.unpaired), (2, [0, 0]));
    let to_the_end = charging(Charge::ToTheEnd, windowed);
    assert_eq!(
        cell(&compare(&a, &b, &to_the_end), "all", "mean_wait").variant_mean,
        Some((10.0 + 801.0) / 2.0)
    );
}

#[test]
fn jobs_of_two_sites_with_one_number_are_two_jobs() {
    let at = |site: &str, mut job: JobOutcome| {
        job.site = site.into();
        job
    };
    let mut sent = job(0, 0, 30);
    sent.origin = Origin::Grid;
    let a = [at("delft", job(0, 0, 10)), at("leiden", job(0, 0, 20)), at("delft", sent.clone())];
    let b = [at("delft", job(0, 0, 11)), at("leiden", job(0, 0, 22)), at("leiden", sent)];
    let found = compare(&a, &b, &question());
    assert_eq!((found.jobs, found.unpaired), (3, [0, 0]));
    assert_eq!(cell(&found, "users of delft", "mean_wait").difference, Some(1.0));
    assert_eq!(cell(&found, "users of leiden", "mean_wait").difference, Some(2.0));
    assert_eq!(cell(&found, "grid", "mean_wait").difference, Some(0.0));
}
