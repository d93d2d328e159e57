//! Machines that sleep, as local policies and the broker reckon with them, by hand.

use std::fs;

use crate::cli::gridemu;

/// The rows of `jobs.csv` of a run, as `site start`, by number. A job of the log is (submission, run time and estimate, processors).
fn starts(scenario: &str, jobs: &[(u32, u32, u32)]) -> Vec<String> {
    let jobs: Vec<_> = jobs.iter().map(|(submit, run, procs)| (*submit, *run, *procs, *run)).collect();
    starts_of(scenario, &jobs)
}

/// The same where the estimate, the last of the four, may be longer than the run time.
fn starts_of(scenario: &str, jobs: &[(u32, u32, u32, u32)]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let row = |(number, (submit, run, procs, estimate)): (usize, &(u32, u32, u32, u32))| {
        format!("{} {submit} -1 {run} {procs} -1 -1 {procs} {estimate} -1 1 1 1 1 1 1 -1 -1\n", number + 1)
    };
    let rows: String = jobs.iter().enumerate().map(row).collect();
    fs::write(path("jobs.swf"), format!("; MaxProcs: 4\n{rows}")).unwrap();
    fs::write(path("run.toml"), scenario).unwrap();
    let out = path("out");
    gridemu(&["run", &path("run.toml"), "--out", &out]).well();
    gridemu(&["validate", &out]).well();
    let jobs = fs::read_to_string(format!("{out}/jobs.csv")).unwrap();
    let mut rows: Vec<(u32, String)> = Vec::new();
    for row in jobs.lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        rows.push((cells[0].parse().unwrap(), format!("{} {}", cells[5], cells[2])));
    }
    rows.sort();
    rows.into_iter().map(|(_, told)| told).collect()
}

/// A site of machines of one core, each of which takes so long to wake up.
fn site(name: &str, count: u32, policy: &str, wake: &str) -> String {
    format!(
        "[[site]]\nname = '{name}'\npolicy = '{policy}'\npower_policy = 'sleep-idle[after=10 s]'\n\
         machines = [{{ class = 'node', count = {count}, idle = '95 W', busy = '200 W', \
         sleep = {{ power = '9 W', wake = '{wake}', waking = '125 W', fall = '6 s', falling = '100 W' }} }}]\n"
    )
}

/// Two of three machines run a job until 1000; the third is asleep from 16 on. The second job needs all three, and is to begin at 1000. The third, of one machine and 799 s,
/// would be over at 999 if its machine were awake at 200; it is awake at 350, and the job would end at 1149. So it is behind the second, which waits for the third
/// machine alone, from 1000 to 1150. One of 649 s goes first: it is over at 999.
#[test]
fn conservative_counts_the_wake_up_of_what_it_backfills() {
    for compress in ["submission", "start", "none"] {
        let site = site("a", 3, &format!("conservative[compress={compress}]"), "150 s");
        let scenario = format!("{site}workload = {{ log = 'jobs.swf' }}\n");
        let first = [(0, 1000, 2), (100, 100, 3)];
        let late = starts(&scenario, &[first[0], first[1], (200, 799, 1)]);
        assert_eq!(late, ["a 0", "a 1150", "a 1250"], "{compress}");
        let in_time = starts(&scenario, &[first[0], first[1], (200, 649, 1)]);
        assert_eq!(in_time, ["a 0", "a 1000", "a 350"], "{compress}");
    }
}

/// Two of three machines are asleep. The second job is to begin at 600, when the first is expected to end, and the third, of one machine, at 610 behind it. The first ends at
/// 590: at once the second would have its machines until 750, which delays the third, so that it stays where it is. At 600 it is due, and has to wait for its machines.
#[test]
fn a_reservation_that_moves_up_and_wakes_machines_delays_no_other() {
    let jobs = [(0, 590, 1, 600), (100, 10, 3, 10), (110, 500, 1, 500)];
    for compress in ["submission", "start", "none"] {
        let site = site("a", 3, &format!("conservative[compress={compress}]"), "150 s");
        let scenario = format!("{site}workload = {{ log = 'jobs.swf' }}\n");
        assert_eq!(starts_of(&scenario, &jobs), ["a 0", "a 750", "a 760"], "{compress}");
    }
}

/// The machines of a reservation wake up when it begins, at 200. A job of 60 s begins at 230 and is over before 300; one of 100 s would not be, and queues behind another reservation.
#[test]
fn a_job_leaves_a_reservation_whose_machines_wake_up_too_late() {
    let booked = |name: &str, from: u32, to: u32, job: &str| {
        format!("[[site.reservation]]\nname = '{name}'\nprocs = 3\nfrom = '{from} s'\nto = '{to} s'\n{job}\n")
    };
    for policy in ["easy", "conservative", "los"] {
        let site = site("a", 3, policy, "30 s");
        let scenario = format!(
            "{site}workload = {{ log = 'jobs.swf' }}\n{}{}",
            booked("own", 200, 300, "job = 1"),
            booked("next", 300, 400, "")
        );
        assert_eq!(starts(&scenario, &[(0, 60, 3)]), ["a 230"], "{policy}");
        let late = starts(&scenario, &[(0, 100, 3)]);
        assert!(late == ["a 400"] || late == ["a 430"], "{policy}: {late:?}");
    }
}

/// The second job gets three machines at 90, which are awake at 120. The first is expected to end at 100 and runs until 125, so that the reservation from 110 on lacks its
/// processor when the second begins: nobody could know that at 90, and the schedule is valid.
#[test]
fn a_job_begins_on_machines_that_woke_up_for_it_though_a_reservation_came_due_short() {
    let reservation = "[[site.reservation]]\nname = 'r'\nprocs = 1\nfrom = '110 s'\nto = '200 s'\n";
    for policy in ["easy", "conservative", "los"] {
        let site = site("a", 4, policy, "30 s");
        let scenario = format!("{site}overrun = true\nworkload = {{ log = 'jobs.swf' }}\n{reservation}");
        assert_eq!(starts_of(&scenario, &[(0, 125, 1, 100), (90, 10, 3, 10)]), ["a 0", "a 120"], "{policy}");
    }
}

/// All machines are asleep when the second job comes. It waits for them until 250, so that its expansion factor is 2.5: the third, which has waited for 220 s by 350, is
/// no reason to suspend it.
#[test]
fn a_job_that_waits_for_machines_to_wake_up_waits() {
    let scenario = format!("{}workload = {{ log = 'jobs.swf' }}\n", site("a", 4, "ss", "150 s"));
    let jobs = [(0, 10, 1), (100, 100, 4), (130, 100, 4)];
    assert_eq!(starts(&scenario, &jobs), ["a 0", "a 250", "a 350"]);
    // With a shorter wait than that it is 1.4 at 120, and half of 2.9 at 300.
    let jobs = [(0, 10, 1), (100, 1000, 4), (130, 100, 4)];
    assert_eq!(starts(&scenario, &jobs), ["a 0", "a 250", "a 300"]);
    // The same late in a run: 1.004 at 100,150, twice that at 100,665, and the next multiple of a minute.
    let jobs = [(0, 10, 4), (100_000, 36_000, 4), (100_060, 600, 4)];
    assert_eq!(starts(&scenario, &jobs), ["a 0", "a 100150", "a 100680"]);
    let scenario = format!("{}workload = {{ log = 'jobs.swf' }}\n", site("a", 4, "tss", "150 s"));
    assert_eq!(starts(&scenario, &jobs), ["a 0", "a 100150", "a 100680"]);
}

/// Machines that are idle and asleep, and as many that are awake and a tenth slower. A job of 1000 s goes to the first unless it takes them more than 111 s to wake up, under
/// each policy that compares completions. One that looks for free processors takes those that sleep for free.
#[test]
fn the_broker_knows_how_long_machines_take_to_wake_up() {
    let scenario = |policy: &str, wake: &str| {
        let awake = "[[site]]\nname = 'y'\npolicy = 'fcfs'\n\
                     machines = [{ class = 'node', count = 2, speed = 0.9, idle = '95 W', busy = '200 W' }]\n";
        let broker = format!("[broker]\npolicy = '{policy}'\nmonitoring_interval = '1 s'\n");
        format!("{}{awake}{broker}[[workload]]\nlog = 'jobs.swf'\n", site("x", 2, "fcfs", wake))
    };
    for policy in ["mct", "min-min", "heft", "cheapest[within=1 s]"] {
        assert_eq!(starts(&scenario(policy, "1 h"), &[(1000, 1000, 1)]), ["y 1000"], "{policy}");
        assert_eq!(starts(&scenario(policy, "100 s"), &[(1000, 1000, 1)]), ["x 1100"], "{policy}");
    }
    assert_eq!(starts(&scenario("fastest-free", "1 h"), &[(1000, 1000, 1)]), ["x 4600"]);
}

/// Two jobs that come at once are both expected at 1100 on the two machines that sleep; a third would wait for them, and is sooner over on slower machines.
#[test]
fn jobs_on_their_way_wake_machines_up_at_the_same_time() {
    let awake =
        "[[site]]\nname = 'y'\npolicy = 'fcfs'\nmachines = [{ class = 'node', count = 2, speed = 0.85 }]\n";
    let scenario = format!(
        "{}{awake}[broker]\npolicy = 'mct'\nmonitoring_interval = '1 min'\n[[workload]]\nlog = 'jobs.swf'\n",
        site("x", 2, "easy", "100 s")
    );
    let ran = starts(&scenario, &[(1000, 1000, 1), (1000, 1000, 1), (1000, 1000, 1)]);
    assert_eq!(ran, ["x 1100", "x 1100", "y 1000"]);
}
