//! Energy and its account, worked by hand: jobs that change their size, forks to other powers and delays, reservations beside machines that sleep.

use std::fs;
use std::path::PathBuf;

use crate::cli::{Ran, gridemu};
use crate::validating::legal;

/// A folder with a scenario and the log that it names.
struct Here(tempfile::TempDir);

impl Here {
    /// `jobs` are (submit, run time, processors), whose estimates are right.
    fn new(scenario: &str, jobs: &[(u64, u64, u32)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let row = |(at, (submit, run, procs)): (usize, &(u64, u64, u32))| {
            format!("{} {submit} -1 {run} {procs} -1 -1 {procs} {run} -1 1 1 1 1 1 1 -1 -1\n", at + 1)
        };
        let log: String = jobs.iter().enumerate().map(row).collect();
        fs::write(folder.path().join("log.swf"), format!("; by hand\n{log}")).unwrap();
        fs::write(folder.path().join("case.toml"), scenario).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn run(&self) -> Ran {
        let [file, out, store] = ["case.toml", "out", "store"].map(|name| self.path(name));
        let [file, out, store] = [&file, &out, &store].map(|path| path.to_str().unwrap());
        gridemu(&["run", file, "--out", out, "--checkpoint", store])
    }

    fn fork(&self, at: &str, set: &str) -> Ran {
        let [store, out] = ["store", "forks"].map(|name| self.path(name));
        let [store, out] = [&store, &out].map(|path| path.to_str().unwrap());
        gridemu(&["fork", store, "--at", at, "--set", set, "--out", out])
    }

    /// These columns of a table, joined.
    fn columns(&self, file: &str, columns: &[&str]) -> Vec<String> {
        let mut reader = csv::Reader::from_path(self.path(file)).unwrap();
        let names = reader.headers().unwrap().clone();
        let at = columns.iter().map(|column| names.iter().position(|name| name == *column).unwrap());
        let at: Vec<usize> = at.collect();
        let row =
            |row: csv::StringRecord| at.iter().map(|at| row[*at].to_owned()).collect::<Vec<_>>().join(" ");
        reader.records().map(|record| row(record.unwrap())).collect()
    }

    /// The lines of the ledger that are not zero, in joules.
    fn ledger(&self, folder: &str) -> Vec<String> {
        let lines = self.columns(&format!("{folder}/ledger.csv"), &["purpose", "energy_j"]);
        lines.into_iter().filter(|line| !line.ends_with(" 0")).collect()
    }
}

/// Machines of one core draw 100 W idle, 200 W busy. Job 2 has two of them for 500 s and one for 1000 s: 400 kJ. Job 3 has one for 500 s and
/// two for the 250 s that are left: 200 kJ.
#[test]
fn a_job_that_changes_its_size_draws_what_its_machines_draw() {
    let here = Here::new(
        "[[site]]\nname = 's'\npolicy = 'easy-e'\nmachines = [{ class = 'a', count = 4, load_power = ['100 W', '150 W', '200 W'] }]\nworkload = { log = 'log.swf', malleable = true }\n[[event]]\nat = '1500 s'\nreduce = 's'\njob = 2\nprocs = 1\n[[event]]\nat = '4500 s'\nextend = 's'\njob = 3\nprocs = 1\n[broker]\n",
        &[(0, 1000, 1), (1000, 1000, 2), (4000, 1000, 1)],
    );
    here.run().well();
    let jobs = here.columns("out/jobs.csv", &["job", "end", "energy_j", "dynamic_j"]);
    assert_eq!(jobs, ["1 1000 200000 100000", "2 2500 400000 200000", "3 4750 200000 100000"]);
    // 4 × 100 W for 4800 s, and 100 W more for 4000 processor-seconds.
    assert_eq!(here.ledger("out"), ["useful 800000", "idle 1520000", "total 2320000"]);
}

/// A job of 1000 s on a machine of 200 W, which has a table of the same powers from 500 s on.
#[test]
fn a_fork_to_power_by_load_goes_on_with_what_jobs_draw() {
    let here = Here::new(
        "until = '2 h'\n[[site]]\nname = 's'\nmachines = [{ class = 'a', count = 1, idle = '100 W', busy = '200 W' }]\nworkload = { log = 'log.swf' }\n[broker]\n",
        &[(0, 1000, 1)],
    );
    here.run().well();
    let table =
        "site.s.machines=[{ class = \"a\", count = 1, load_power = [\"100 W\", \"150 W\", \"200 W\"] }]";
    here.fork("500 s", table).well();
    legal(&here.path("forks/changed"));
    let jobs = here.columns("forks/changed/jobs.csv", &["end", "energy_j", "dynamic_j"]);
    assert_eq!(jobs, ["1000 200000 100000"]);
    assert_eq!(here.ledger("forks/changed"), ["useful 200000", "idle 2000", "total 202000"]);
}

const SLEEPS: &str = "until = '2 h'\noutput = { machines = true }\n[[site]]\nname = 's'\npower_policy = 'sleep-idle[after=0 s]'\nmachines = [{ class = 'a', count = 1, idle = '95 W', busy = '200 W', sleep = { power = '9 W', wake = '100 s', waking = '125 W', fall = '60 s', falling = '100 W' } }]\nworkload = { log = 'log.swf' }\n[broker]\n";

/// Job 2 comes at 120 s, when the machine falls asleep until 160 s. From 150 s on a wake-up takes 300 s instead of 100 s: it begins at 460 s. Job 3
/// comes at 1000 s to a machine that sleeps.
#[test]
fn a_fork_to_another_wake_up_begins_jobs_when_their_machines_are_awake() {
    let here = Here::new(SLEEPS, &[(0, 100, 1), (120, 200, 1), (1000, 200, 1)]);
    here.run().well();
    here.fork("150 s", "site.s.machines[0].sleep.wake=300 s").well();
    legal(&here.path("forks/changed"));
    assert_eq!(
        here.columns("forks/as-it-was/jobs.csv", &["start", "end"]),
        ["0 100", "260 460", "1100 1300"]
    );
    let jobs = here.columns("forks/changed/jobs.csv", &["start", "end", "energy_j"]);
    assert_eq!(jobs, ["0 100 20000", "460 660 40000", "1300 1500 40000"]);
    // Three times 60 s to sleep and twice 300 s back; asleep from 720 to 1000 s.
    let lines = ["useful 100000", "asleep 2520", "transitions 93000", "total 195520"];
    assert_eq!(here.ledger("forks/changed"), lines);
    // A shorter one: it begins at 180 s.
    let here = Here::new(SLEEPS, &[(0, 100, 1), (120, 200, 1)]);
    here.run().well();
    here.fork("150 s", "site.s.machines[0].sleep.wake=20 s").well();
    legal(&here.path("forks/changed"));
    assert_eq!(here.columns("forks/changed/jobs.csv", &["start", "end"]), ["0 100", "180 380"]);
}

/// Four machines sleep for a second; then a reservation has them, and wakes them up. That time is reserved, not idle.
#[test]
fn what_sleeps_for_a_reservation_is_not_idle() {
    let here = Here::new(
        "until = '10 min'\n[[site]]\nname = 's'\npower_policy = 'sleep-idle[after=0 s]'\nmachines = [{ class = 'a', count = 4, idle = '95 W', busy = '200 W', sleep = { power = '9 W', wake = '300 s', waking = '125 W', fall = '0 s', falling = '100 W' } }]\nworkload = { log = 'log.swf' }\n[[site.reservation]]\nprocs = 4\nfrom = '1 s'\nto = '1 h'\n[broker]\n",
        &[(3000, 100, 1)],
    );
    here.run().well();
    let summary: serde_json::Value = serde_json::from_str(&here.text("out/summary.json")).unwrap();
    let of = |what: &str| summary["usage"][what].as_f64().unwrap();
    assert_eq!([of("idle"), of("dormant"), of("reserved")], [4.0, 4.0, 2396.0]);
}

/// A reservation gets what a job would: machines that are awake first, those of the least power-hungry class first.
#[test]
fn reservations_get_what_jobs_would_get() {
    let reserved = |here: &Here| -> Vec<String> {
        here.run().well();
        let rows = here.columns("out/machines.csv", &["time", "processors", "state"]);
        rows.into_iter().filter(|row| row.ends_with("reserved")).collect()
    };
    // Machine 0 is asleep at 70 s, since it has been idle from 10 s on; machine 1 is idle from 50 s on.
    let here = Here::new(
        "until = '10 min'\noutput = { machines = true }\n[[site]]\nname = 's'\npower_policy = 'sleep-idle[after=50 s]'\nmachines = [{ class = 'a', count = 2, idle = '95 W', busy = '200 W', sleep = { power = '9 W', wake = '300 s', waking = '125 W', fall = '0 s', falling = '100 W' } }]\nworkload = { log = 'log.swf' }\n[[site.reservation]]\nprocs = 1\nfrom = '70 s'\nto = '90 s'\n[broker]\n",
        &[(0, 10, 1), (0, 50, 1), (3000, 10, 1)],
    );
    assert_eq!(reserved(&here), ["70 1 reserved"]);
    let here = Here::new(
        "until = '10 min'\noutput = { machines = true }\n[[site]]\nname = 's'\nplacement = 'least-power'\nmachines = [{ class = 'a', partition = 'p', count = 1, idle = '95 W', busy = '200 W' }, { class = 'b', partition = 'p', count = 1, idle = '9 W', busy = '20 W' }]\nworkload = { log = 'log.swf' }\n[[site.reservation]]\nprocs = 1\nfrom = '70 s'\nto = '90 s'\n[broker]\n",
        &[(0, 10, 1), (3000, 10, 1)],
    );
    assert_eq!(reserved(&here), ["70 1 reserved"]);
}

#[test]
fn a_fork_keeps_embodied_carbon() {
    let here = Here::new(
        "until = '2 h'\n[[site]]\nname = 's'\nmachines = [{ class = 'a', count = 1, idle = '100 W', busy = '200 W', embodied = { kg = 1000, years = 4 } }]\nworkload = { log = 'log.swf' }\n[broker]\n",
        &[(0, 1000, 1)],
    );
    here.run().well();
    here.fork("500 s", "site.s.machines[0].embodied.kg=2000")
        .ends(2, &["embodied carbon would be 2000 kg", "it falls to the whole run"]);
}

/// What a workflow takes on an empty grid is that of its machines, whatever the cap leaves. The check of each run compares it.
#[test]
fn a_power_cap_does_not_change_what_an_empty_grid_takes() {
    let alone = ["", "power_cap = '60 %'\n"].map(|cap| {
        let here = Here::new(
            &format!("[[site]]\nname = 's'\n{cap}machines = [{{ class = 'a', count = 4, idle = '10 W', busy = '100 W' }}]\n[broker]\n[[workload]]\nworkflow = 'montage[tasks=40]'\n"),
            &[],
        );
        here.run().well();
        here.columns("out/workflows.csv", &["fastest_path", "work", "alone"])
    });
    assert_eq!(alone[0], alone[1]);
}

/// 10,000 machines of 1 kW for four years, at 100,000 a kilowatt-hour but for a billionth: the integral needs more than 128 bits.
#[test]
fn the_highest_prices_of_the_largest_sites_are_exact() {
    let here = Here::new(
        "calendar = '2020-01-01T00:00Z'\nat_least = '1461 d'\n[[site]]\nname = 's'\npue = 1.6\nmachines = [{ class = 'a', count = 10000, idle = '1 kW', busy = '1 kW' }]\nelectricity = { day = [100000, 99999.999999999], unit = 'EUR/kWh' }\ncarbon = { day = [100000, 99999.999999], unit = 'g/kWh' }\nworkload = { log = 'log.swf' }\n[broker]\nmonitoring_interval = '100 d'\n",
        &[(0, 1000, 1)],
    );
    here.run().well();
    let lines = here.columns("out/ledger.csv", &["site", "purpose", "energy_j", "electricity", "carbon_g"]);
    // 1e7 W × 1461 d × 1.6 are 561,024,000 kWh; half of the time a kilowatt-hour costs 1e-9 less, and causes 1e-6 g less.
    let total = "s total 2019686400000000 56102399999999.719488 56102399999719.488";
    assert!(lines.contains(&total.to_owned()), "{lines:?}");

    let here = Here::new(
        "[[site]]\nname = 's'\nprice_by_hour = '22-6=1.5'\nmachines = [{ class = 'a', partition = 'p', count = 10000, price = '99999.999999999/core-h' }, { class = 'b', partition = 'p', count = 10000, price = '0.000000001/core-h' }]\nworkload = { log = 'log.swf' }\n[broker]\n",
        &[(0, 777_600, 10_000)],
    );
    here.run().ends(2, &["machines[1].price", "round them to fewer digits"]);
}

/// The past of a fork is not judged by the description of what came after.
#[test]
fn forks_to_other_kinds_of_policies_are_legal() {
    let of = |policy: &str, malleable: bool, events: &str| {
        format!(
            "[[site]]\nname = 's'\npolicy = '{policy}'\nmachines = [{{ class = 'a', count = 4 }}]\nworkload = {{ log = 'log.swf', malleable = {malleable} }}\n{events}[broker]\n"
        )
    };
    let jobs = [(0, 1000, 2), (10, 900, 4), (20, 500, 3), (30, 2000, 2)];
    let here = Here::new(&of("equal-share[mpl=3]", false, ""), &jobs);
    here.run().well();
    for policy in ["fcfs", "easy"] {
        here.fork("700 s", &format!("site.s.policy={policy}")).well();
        legal(&here.path("forks/changed"));
        fs::remove_dir_all(here.path("forks")).unwrap();
    }
    let events = "[[event]]\nat = '100 s'\nreduce = 's'\njob = 1\nprocs = 1\n[[event]]\nat = '500 s'\nextend = 's'\njob = 1\nprocs = 1\n";
    let here = Here::new(&of("easy-e", true, events), &jobs);
    here.run().well();
    here.fork("700 s", "site.s.policy=fcfs").well();
    legal(&here.path("forks/changed"));
}
