//! Hand-worked cases of the LOS family: every branch of Algorithms 1, 2 and 3 of Kumar, Shae and Jamjoom 2012.

use gridemu::model::Job;

use crate::hand_worked::starts;
use crate::support::{With, job, reserve, site};

/// Figure 2: ten processors, and jobs of 7, 4 and 6.
fn figure_2() -> Vec<Job> {
    vec![job(1, 0, 7, 100), job(2, 0, 4, 100), job(3, 0, 6, 100)]
}

#[test]
fn the_example_of_figure_2() {
    // LOS starts the head at once, and nothing fits beside it: 7 in use. Delayed-LOS passes it over: 4 + 6 = 10.
    assert_eq!(starts(&site(10, "los"), &figure_2()), [0, 100, 100]);
    assert_eq!(starts(&site(10, "delayed-los"), &figure_2()), [100, 0, 0]);
    assert_eq!(starts(&site(10, "hybrid-los"), &figure_2()), [100, 0, 0]);
    assert_eq!(starts(&site(10, "delayed-los[cs=0]"), &figure_2()), [0, 100, 100]);
}

#[test]
fn the_head_is_started_once_it_has_been_skipped_so_often() {
    // A pair of 4 and 6 is there at 0, 100 and 200, and fills the machine; the head of 7 does not.
    let mut jobs = figure_2();
    jobs.extend([job(4, 50, 4, 100), job(5, 50, 6, 100), job(6, 150, 4, 100), job(7, 150, 6, 100)]);
    // Algorithm 1, lines 3 to 5: skipped at 0, started at 100; then 4 and 6 at 200, and again at 300. Nobody is skipped while no
    // processor is free (line 2), as at 50.
    assert_eq!(starts(&site(10, "delayed-los[cs=1]"), &jobs), [100, 0, 0, 200, 200, 300, 300]);
    // Skipped at 0 and at 100, started at 200.
    assert_eq!(starts(&site(10, "delayed-los[cs=2]"), &jobs), [200, 0, 0, 100, 100, 300, 300]);
    assert_eq!(starts(&site(10, "delayed-los[cs=3]"), &jobs), [300, 0, 0, 100, 100, 200, 200]);
}

#[test]
fn after_a_head_that_is_forced_the_cycle_goes_on() {
    // At 0: {4, 6} for 10. At 10 the 6 end: job 1 (5), skipped once, is forced; then 1 is free, and job 4 is the head and fits: line 7 again.
    let jobs = [job(1, 0, 5, 100), job(2, 0, 4, 100), job(3, 0, 6, 10), job(4, 1, 1, 100)];
    assert_eq!(starts(&site(10, "delayed-los[cs=1]"), &jobs), [10, 0, 0, 10]);
}

#[test]
fn the_best_set_starts_and_not_the_first_that_fits() {
    // 4 are free beside job 1, and job 2 has the reservation at 100. EASY starts job 3 (3) and has 1 left; LOS starts job 4 (4).
    let jobs = [job(1, 0, 6, 100), job(2, 1, 8, 10), job(3, 2, 3, 50), job(4, 2, 4, 50)];
    // At 52 job 4 would run until 102, and job 2 leaves 2 of ten: it waits. So does job 3 under LOS.
    assert_eq!(starts(&site(10, "easy"), &jobs), [0, 100, 2, 110]);
    assert_eq!(starts(&site(10, "los"), &jobs), [0, 100, 110, 2]);
    // Who looks at one job only finds job 3.
    assert_eq!(starts(&site(10, "los[lookahead=1]"), &jobs), [0, 100, 2, 110]);
    assert_eq!(starts(&site(10, "los[lookahead=2]"), &jobs), [0, 100, 110, 2]);
}

#[test]
fn what_was_not_looked_at_is_looked_at_next() {
    // 60 jobs of one processor on 64: the best set of 50 leaves 14 free, and the other ten fit on them.
    let all: Vec<Job> = (1..=60).map(|id| job(id, 0, 1, 1_000)).collect();
    for policy in ["los", "delayed-los", "hybrid-los", "delayed-los[lookahead=1]", "los-d[lookahead=7]"] {
        assert_eq!(starts(&site(64, policy), &all), [0; 60], "{policy}");
    }
    // The same beside a head that does not fit: of 9 that are free, 5 are spare when it starts at 100. Two at a time, three of five that are longer
    // start (2 + 2 + 1), and of two that are over in time both.
    let mut jobs = vec![job(1, 0, 11, 100), job(2, 1, 15, 10)];
    jobs.extend(
        [(3, 2, 500), (4, 2, 500), (5, 1, 500), (6, 1, 500), (7, 1, 500), (8, 2, 50), (9, 2, 50)]
            .map(|(id, procs, runtime)| job(id, 1, procs, runtime)),
    );
    let at_once = [1, 1, 1, 110, 110, 1, 1];
    assert_eq!(starts(&site(20, "los[lookahead=2]"), &jobs)[2..], at_once);
    // A head that is passed over has been skipped once, however many sets were started.
    let jobs = [job(1, 0, 7, 100), job(2, 0, 5, 30), job(3, 0, 5, 30), job(4, 1, 5, 30), job(5, 1, 5, 30)];
    assert_eq!(starts(&site(10, "delayed-los[cs=1,lookahead=3]"), &jobs), [30, 0, 0, 130, 130]);
}

#[test]
fn the_first_does_not_fit_and_is_not_delayed() {
    // Job 2 needs 8: the shadow time is 100, and 2 are spare then.
    let jobs = |last: u64| {
        [
            job(1, 0, 6, 100),
            job(2, 1, 8, 50),
            job(3, 2, 3, 120),  // not over by 100, and more than the spare 2
            job(4, 3, 2, last), // line 16: strictly before 100, or exactly then
            job(5, 3, 2, 500),  // the spare 2
        ]
    };
    // 3 + 96 = 99: over in time.
    assert_eq!(starts(&site(10, "los"), &jobs(96)), [0, 100, 150, 3, 3]);
    // 3 + 97 = 100: not strictly before, so jobs 4 and 5 together would hold 4 of the spare 2. Of equal sets the one nearer to the head is
    // taken: job 4. Job 5 at 100, beside job 2.
    assert_eq!(starts(&site(10, "los"), &jobs(97)), [0, 100, 150, 3, 100]);
    assert_eq!(starts(&site(10, "los[shadow=by]"), &jobs(97)), [0, 100, 150, 3, 3]);
    assert_eq!(starts(&site(10, "delayed-los"), &jobs(97)), [0, 100, 150, 3, 100]);
}

#[test]
fn reservations_of_the_book_are_planned_around() {
    // 6 of 10 are reserved from 50 to 150. The head (7) fits now but not for 60 s: it starts at 150. Job 2 (5) is over in time, job 3
    // (4) fits beside the reservation, and both together are 9.
    let jobs = [job(1, 0, 7, 60), job(2, 0, 5, 50), job(3, 0, 4, 100)];
    for policy in ["los", "delayed-los", "hybrid-los", "los-d"] {
        assert_eq!(starts(&reserve(site(10, policy), "r", 50, 150, 6), &jobs), [150, 0, 0], "{policy}");
    }
}

#[test]
fn a_dedicated_job_alone_starts_when_it_asked_to() {
    // Lines 39 to 42: the batch queue is empty.
    let jobs = [job(1, 0, 4, 10).from(50)];
    for policy in ["hybrid-los", "los-d", "hybrid-los[cs=0]"] {
        assert_eq!(starts(&site(10, policy), &jobs), [50], "{policy}");
    }
    // A start that has passed is now.
    let jobs = [job(1, 10, 4, 10).from(5)];
    for policy in ["hybrid-los", "los-d"] {
        assert_eq!(starts(&site(10, policy), &jobs), [10], "{policy}");
    }
}

#[test]
fn batch_jobs_are_scheduled_around_a_dedicated_one() {
    let jobs = [
        job(1, 0, 6, 100).from(50),
        job(2, 0, 6, 40),  // over before 50
        job(3, 0, 4, 200), // at 50, 10 - 6 = 4 are spare: lines 12 to 20
        job(4, 0, 5, 100), // at 40 it would take 5 of the 0 that are spare then
    ];
    // At 50 job 4 has been skipped once; job 1 is moved before it (lines 6 and 7) and starts. Job 4 follows at 150.
    assert_eq!(starts(&site(10, "hybrid-los"), &jobs), [50, 0, 0, 150]);
    assert_eq!(starts(&site(10, "los-d"), &jobs), [50, 0, 0, 150]);
}

#[test]
fn a_dedicated_job_without_room_is_delayed_as_little_as_may_be() {
    // Lines 23 to 30: at 50 only 2 are free of the 6 that job 2 wants; at 100 they are, and 4 are spare: job 3 may take 2.
    let jobs = [job(1, 0, 8, 100), job(2, 1, 6, 10).from(50), job(3, 2, 2, 200)];
    assert_eq!(starts(&site(10, "hybrid-los"), &jobs), [0, 100, 2]);
    assert_eq!(starts(&site(10, "los-d"), &jobs), [0, 100, 2]);
}

#[test]
fn a_dedicated_job_waits_for_a_head_that_was_skipped_often_enough() {
    // At 2 job 3 (8) does not fit on 5, is not chosen, and has been skipped once: with C_s = 1 lines 5 to 34 are passed over. At 60 job 2 could
    // start and does not; job 3 has the reservation at 100. Job 2 follows at 110.
    let jobs = [job(1, 0, 5, 100), job(2, 1, 5, 10).from(60), job(3, 2, 8, 10)];
    assert_eq!(starts(&site(10, "hybrid-los[cs=1]"), &jobs), [0, 110, 100]);
    // With C_s = 7 it is moved before job 3 at 60.
    assert_eq!(starts(&site(10, "hybrid-los"), &jobs), [0, 60, 100]);
}

#[test]
fn a_forced_head_that_fits_starts_before_a_dedicated_job_is_looked_at() {
    // Lines 35 to 37. At 0 job 2 (9) would still run at 50 and is skipped; at 10, told of job 3, it has been skipped once and fits. Job 1
    // waits for it until 110.
    let jobs = [job(1, 0, 5, 10).from(50), job(2, 0, 9, 100), job(3, 10, 1, 5)];
    // Job 3 comes in the cycle after the forced one.
    assert_eq!(starts(&site(10, "hybrid-los[cs=1]"), &jobs), [110, 10, 10]);
    assert_eq!(starts(&site(10, "hybrid-los"), &jobs), [50, 60, 10]);
}

#[test]
fn dedicated_jobs_of_one_start_count_together() {
    // 6 + 4 = 10 at 50: nothing is spare, so job 3 waits until they are over.
    let jobs = [job(1, 0, 6, 20).from(50), job(2, 0, 4, 20).from(50), job(3, 0, 1, 60)];
    assert_eq!(starts(&site(10, "hybrid-los"), &jobs), [50, 50, 70]);
    assert_eq!(starts(&site(10, "los-d"), &jobs), [50, 50, 70]);
    // 6 + 6 are more than the machine: the first counts, and 4 are spare for job 3.
    let jobs = [job(1, 0, 6, 20).from(50), job(2, 0, 6, 20).from(50), job(3, 0, 4, 60)];
    assert_eq!(starts(&site(10, "hybrid-los"), &jobs), [50, 70, 0]);
}

#[test]
fn only_los_d_looks_beyond_the_first_start() {
    let jobs = [job(1, 0, 2, 10).from(50), job(2, 0, 10, 10).from(100), job(3, 0, 4, 200)];
    // Algorithm 2 plans around the start at 50, and 8 are spare then: job 3 delays job 2 by 100 s.
    assert_eq!(starts(&site(10, "hybrid-los"), &jobs), [50, 200, 0]);
    // With hard reservations job 3 fits after both.
    assert_eq!(starts(&site(10, "los-d"), &jobs), [50, 100, 110]);
}
