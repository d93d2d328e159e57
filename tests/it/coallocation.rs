//! Jobs whose parts start together at several sites: by hand, and what holds on random grids with churn, faults and snapshots.

use std::collections::BTreeMap;
use std::fs;

use gridemu::grid::{WindowOptions, changes};
use gridemu::local::Registry;
use gridemu::model::{
    CoallocationGoal, CoallocationOutcome, CoallocationRecord, CoallocationSpec, Coupling, Holding, JobId,
    JobRecord, Origin, Outcome, Record,
};
use gridemu::units::{Bytes, Span, Time};
use gridemu::workload::{Coupled, CoupledSpec};
use proptest::prelude::*;

use crate::cli::gridemu;
use crate::forks::forked;
use crate::grid_same::{all_actors, all_windows};
use crate::grids::{GridCase, GridRan};
use crate::legs::{in_legs, same, stretches};
use crate::support::assert_legal;

/// What a run of a scenario writes: rows of `jobs.csv` of the grid's jobs as `site start end outcome`, by number, and the rows of `coallocations.csv`.
fn ran(scenario: &str, jobs: &[(u32, u32, u32)]) -> (Vec<String>, Vec<BTreeMap<String, String>>) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let log = |rows: &[(u32, u32, u32)]| -> String {
        let row = |(number, (submit, run, procs)): (usize, &(u32, u32, u32))| {
            format!("{} {submit} -1 {run} {procs} -1 -1 {procs} {run} -1 1 1 1 1 1 1 -1 -1\n", number + 1)
        };
        format!("; MaxProcs: 8\n{}", rows.iter().enumerate().map(row).collect::<String>())
    };
    fs::write(path("grid.swf"), log(jobs)).unwrap();
    // At sites that have local users: four processors for 50 s from 10 on, then for 30 s.
    fs::write(path("local.swf"), log(&[(10, 50, 4), (11, 30, 4)])).unwrap();
    // And at those that have them later: four processors for a minute from 40 on.
    fs::write(path("later.swf"), log(&[(40, 60, 4)])).unwrap();
    fs::write(path("run.toml"), scenario).unwrap();
    let out = path("out");
    gridemu(&["run", &path("run.toml"), "--out", &out]).well();
    gridemu(&["validate", &out]).well();
    let mut rows = BTreeMap::new();
    for row in fs::read_to_string(format!("{out}/jobs.csv")).unwrap().lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        if cells.contains(&"grid") && !cells[0].is_empty() && cells[20] == "grid" {
            let number: u64 = cells[0].parse().unwrap();
            rows.insert(number, format!("{} {} {} {}", cells[5], cells[2], cells[3], cells[6]));
        }
    }
    let table = fs::read_to_string(format!("{out}/coallocations.csv")).unwrap();
    let mut lines = table.lines();
    let names: Vec<String> = lines.next().unwrap().split(',').map(str::to_owned).collect();
    let row = |line: &str| names.iter().cloned().zip(line.split(',').map(str::to_owned)).collect();
    (rows.into_values().collect(), lines.map(row).collect())
}

/// Sites of four processors.
fn sites(names: &[&str], keys: &str) -> String {
    let site = |name: &&str| {
        format!(
            "[[site]]\nname = '{name}'\nmachines = [{{ class = 'node', count = 4, cores = 1 }}]\n{keys}\n"
        )
    };
    names.iter().map(site).collect()
}

fn portal(keys: &str, coallocate: &str) -> String {
    format!("[broker]\npolicy = 'mct'\n{keys}\n[[workload]]\nlog = 'grid.swf'\ncoallocate = {coallocate}\n")
}

/// Site `a` runs its own jobs until 90: the first from 10 to 60, the second, which waits, from 60 on. A job of 4 processors that comes at 20 needs 2 at each of two sites for
/// 20 s. `a` has promised nothing to the job that waits, so 2 of its processors are to be had from 60 on; then its own job has to wait until 80.
#[test]
fn parts_start_together_when_both_sites_have_the_processors() {
    let local = sites(&["a"], "policy = 'easy'\nworkload = { log = 'local.swf' }");
    let scenario = format!("{local}{}{}", sites(&["b"], ""), portal("", "{ parts = 2 }"));
    let (jobs, together) = ran(&scenario, &[(20, 20, 4)]);
    assert_eq!(jobs, ["a 60 80 completed", "b 60 80 completed"]);
    let row = &together[0];
    let of = |name: &str| row[name].as_str();
    assert_eq!((of("start"), of("length"), of("sites"), of("outcome")), ("60", "20", "a b", "completed"));
    // It takes 2 x 20 s from the job that waits, which would have been served at 60.
    assert_eq!((of("tries"), of("slowdown"), of("harm_proc_s")), ("1", "1", "0"));
    // Each of two sites was asked once for starts, to hold and to commit, and answered.
    assert_eq!(of("messages"), "12");
    // A plan keeps what it has promised: under conservative backfilling both jobs of `a` come first.
    let local = sites(&["a"], "policy = 'conservative'\nworkload = { log = 'local.swf' }");
    let scenario = format!("{local}{}{}", sites(&["b"], ""), portal("", "{ parts = 2 }"));
    let (jobs, _) = ran(&scenario, &[(20, 20, 4)]);
    assert_eq!(jobs, ["a 90 110 completed", "b 90 110 completed"]);
}

/// `a` as before: the parts could start at 60. With what is held ahead a job of `b` that comes at 40 has to wait until they have run. If that start is only picked it takes the processors, and when the time has come the
/// next start is at 100; `a` runs its second job meanwhile.
#[test]
fn a_start_that_is_only_picked_may_be_taken_by_others() {
    let local = sites(&["a"], "policy = 'easy'\nworkload = { log = 'local.swf' }");
    let later = sites(&["b"], "policy = 'easy'\nworkload = { log = 'later.swf' }");
    let of = |hold: &str| {
        let broker = portal(&format!("coallocation = {{ hold = '{hold}', tries = 1 }}"), "{ parts = 2 }");
        let (jobs, together) = ran(&format!("{local}{later}{broker}"), &[(20, 20, 4)]);
        (jobs, together[0]["tries"].clone(), together[0]["outcome"].clone())
    };
    let (jobs, tries, outcome) = of("ahead");
    assert_eq!(jobs, ["a 60 80 completed", "b 60 80 completed"]);
    assert_eq!((tries.as_str(), outcome.as_str()), ("1", "completed"));
    let (jobs, tries, outcome) = of("at-start");
    assert_eq!(jobs, ["a 100 120 completed", "b 100 120 completed"]);
    assert_eq!((tries.as_str(), outcome.as_str()), ("3", "completed"));
}

/// Messages take 1 s to `a` and 2 s to `b`, so that the sites are 3 s from each other; each second of the run they exchange a word 0.01 times and 1 MB, at 80 Mbit/s. That is 0.03 s
/// and 0.1 s for each second: 20 s become 22.6. Seven times the slower way and a second after 20 is the earliest start, 35.
#[test]
fn parts_pay_for_the_link_between_their_sites() {
    let link = |site: &str, latency: &str| {
        format!(
            "[[network.link]]\nbetween = ['portal', '{site}']\nlatency = '{latency}'\nbandwidth = '80 Mbit/s'\n"
        )
    };
    let links = link("a", "1 s") + &link("b", "2 s");
    let (jobs, together) = ran(
        &format!(
            "{}{links}{}",
            sites(&["a", "b"], ""),
            portal("", "{ parts = 2, exchanges = 0.01, traffic = '1 MB' }")
        ),
        &[(20, 20, 4)],
    );
    assert_eq!(jobs, ["a 35 57.6 completed", "b 35 57.6 completed"]);
    assert_eq!(together[0]["slowdown"], "1.13");
}

/// The job may start at 21 at the earliest. With a notice of 30 s it starts at 50.
#[test]
fn notice_is_kept() {
    let scenario = |coallocate: &str| format!("{}{}", sites(&["a", "b"], ""), portal("", coallocate));
    let (jobs, _) = ran(&scenario("{ parts = 2 }"), &[(20, 20, 4)]);
    assert_eq!(jobs, ["a 21 41 completed", "b 21 41 completed"]);
    let (jobs, together) = ran(&scenario("{ parts = 2, notice = '30 s' }"), &[(20, 20, 4)]);
    assert_eq!(jobs, ["a 50 70 completed", "b 50 70 completed"]);
    assert_eq!(together[0]["earliest"], "50");
    // Three parts and two sites: told before the run. A job that is too large for both: refused.
    let (jobs, together) = ran(&scenario("{ parts = 2 }"), &[(20, 20, 9)]);
    assert_eq!(jobs, ["grid  20 rejected", "grid  20 rejected"]);
    assert_eq!((together[0]["outcome"].as_str(), together[0]["start"].as_str()), ("refused", ""));
}

/// Of two jobs that come together the second starts when the first is over where a site lets the grid reserve half of it: two of its four processors.
#[test]
fn a_site_keeps_its_quota() {
    let scenario = format!("{}{}", sites(&["a", "b"], "reservable = 0.5"), portal("", "{ parts = 2 }"));
    let (jobs, _) = ran(&scenario, &[(20, 20, 4), (30, 20, 4)]);
    assert_eq!(jobs, ["a 21 41 completed", "a 41 61 completed", "b 21 41 completed", "b 41 61 completed"]);
    let scenario = format!("{}{}", sites(&["a", "b"], "reservable = 0.25"), portal("", "{ parts = 2 }"));
    let (_, together) = ran(&scenario, &[(20, 20, 4)]);
    assert_eq!(together[0]["outcome"], "refused");
}

/// `a` charges 0.36 for a reserved core-hour, `b` half of that and `c` nothing: the cheapest two are `b` and `c`, which are busy until 90. The earliest start is at `a` and at `d`.
#[test]
fn the_broker_chooses_by_time_money_or_harm() {
    let busy = "policy = 'easy'\nworkload = { log = 'local.swf' }";
    let dear = |name: &str, price: &str, keys: &str| {
        sites(&[name], &format!("reservation_price = '{price}/core-h'\n{keys}"))
    };
    let all = format!(
        "{}{}{}{}",
        dear("a", "0.36", ""),
        dear("b", "0.18", busy),
        sites(&["c"], busy),
        dear("d", "0.36", "")
    );
    let of = |start: &str| {
        let (_, together) = ran(
            &format!("{all}{}", portal(&format!("coallocation = {{ start = '{start}' }}"), "{ parts = 2 }")),
            &[(20, 20, 4)],
        );
        let row = &together[0];
        format!("{} {} {} {}", row["sites"], row["start"], row["charge"], row["harm_proc_s"])
    };
    // 2 processors for 20 s at 0.36 are 0.004 a site.
    assert_eq!(of("earliest"), "a d 21 0.008 0");
    assert_eq!(of("cheapest"), "b c 60 0.002 0");
    assert_eq!(of("gentlest"), "a d 21 0.008 0");
}

/// The machines of `b` leave at 30 and come back at 100. A job that is to start at 50 has parts at both: the one at `b` finds no processors, and the other is ended with it. One that is
/// running at 30 fails together with the one that has lost its machines.
#[test]
fn parts_fail_together() {
    let events =
        "[[event]]\nat = '30 s'\nleave = 'b/node/0-3'\n[[event]]\nat = '100 s'\njoin = 'b/node/0-3'\n";
    let scenario = |coallocate: &str| format!("{}{events}{}", sites(&["a", "b"], ""), portal("", coallocate));
    let (jobs, together) = ran(&scenario("{ parts = 2, notice = '30 s' }"), &[(20, 20, 4)]);
    assert_eq!(jobs, ["a 50 50 failed", "b  50 failed"]);
    assert_eq!(together[0]["outcome"], "missed");
    let (jobs, together) = ran(&scenario("{ parts = 2 }"), &[(20, 20, 4)]);
    assert_eq!(jobs, ["a 21 30 failed", "b 21 30 failed"]);
    assert_eq!(together[0]["outcome"], "failed");
}

/// What is said of reservations between 20 and 40 is lost. No site has offered anything when the patience of 5 s is over, so that all are asked again a lease later, at 85, and the job starts 7 s and one second after that. With a notice, and when
/// only what `b` says from 21.5 on is lost, the hold is asked for again after the patience of 5 s, until the lease is over; then a second start is tried.
#[test]
fn what_is_lost_is_said_again() {
    let fault = |site: &str, from: &str, lasts: &str| {
        format!("[[fault]]\nkind = 'lost'\n{site}from = '{from} s'\nfor = '{lasts} s'\n")
    };
    let settings = "coallocation = { patience = '5 s', lease = '1 min' }";
    let scenario = |fault: &str, coallocate: &str| {
        let latency = "[network]\nlatency = '1 s'\n";
        format!("{}{latency}{fault}{}", sites(&["a", "b"], ""), portal(settings, coallocate))
    };
    let (_, together) = ran(&scenario(&fault("", "20", "20"), "{ parts = 2 }"), &[(20, 20, 4)]);
    let of = |name: &str| together[0][name].as_str();
    assert_eq!((of("outcome"), of("start"), of("tries"), of("messages")), ("completed", "93", "2", "14"));
    // Offers are there at 22, and the holds are asked for; what `b` hears at 23 and answers is lost. It is asked again at 27, holds since 23, and says so.
    let (jobs, together) = ran(
        &scenario(&fault("site = 'b'\n", "22.5", "3"), "{ parts = 2, notice = '1 min' }"),
        &[(20, 20, 4)],
    );
    assert_eq!(jobs, ["a 80 100 completed", "b 80 100 completed"]);
    assert_eq!((together[0]["tries"].as_str(), together[0]["messages"].as_str()), ("1", "13"));
}

#[test]
fn bad_keys_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.toml").to_str().unwrap().to_owned();
    let two = sites(&["a", "b"], "");
    let wrong = |scenario: String, says: &[&str]| {
        fs::write(
            folder.path().join("grid.swf"),
            "; MaxProcs: 8\n1 0 -1 9 4 -1 -1 4 9 -1 1 1 1 1 1 1 -1 -1\n",
        )
        .unwrap();
        fs::write(&path, scenario).unwrap();
        gridemu(&["check", &path]).ends(2, says);
    };
    wrong(
        format!("{two}{}", portal("", "{ parts = 3 }")),
        &["workload[0].coallocate.parts", "3 parts need as many sites, and there are 2"],
    );
    wrong(
        format!("{two}{}", portal("", "{ parts = 1 }")),
        &["coallocate.parts", "1 parts are not from 2 to 8"],
    );
    wrong(
        format!("{two}{}", portal("", "{ share = 0 }")),
        &["coallocate.share", "not above 0 and at most 1"],
    );
    wrong(format!("{two}{}", portal("", "{ share = 1.5 }")), &["coallocate.share"]);
    wrong(format!("{two}{}", portal("", "{ exchanges = -1 }")), &["coallocate.exchanges"]);
    wrong(
        format!("{two}{}", portal("coallocation = { lease = '0 s' }", "{}")),
        &["broker.coallocation.lease", "more than 0"],
    );
    wrong(
        format!("{two}{}", portal("coallocation = { alternatives = 0 }", "{}")),
        &["broker.coallocation.alternatives"],
    );
    wrong(
        format!("{two}{}", portal("coallocation = { patience = '1 h' }", "{}")),
        &["broker.coallocation.patience", "longer than the `lease`"],
    );
    wrong(
        format!("{}{}", sites(&["a", "b"], "reservable = 1.2"), portal("", "{}")),
        &["site.a.reservable", "no part of the processors"],
    );
    wrong(format!("{two}{}input = '1 MB'\n", portal("", "{}")), &["workload[0].input", "have no data"]);
    wrong(
        format!("{}workload = {{ log = 'grid.swf', coallocate = {{ parts = 2 }} }}\n", sites(&["a"], "")),
        &["coallocate", "only jobs from the portal"],
    );
    wrong(
        format!("{two}{}deadline = 'submit + 1 h'\n", portal("", "{}")),
        &["workload[0].deadline", "have no limits"],
    );
    wrong(
        format!(
            "{two}[broker]\npolicy = 'mct'\n[[workload]]\nworkflow = 'montage[tasks=31]'\ncoallocate = {{}}\n"
        ),
        &["workload[0].coallocate", "not run in parts"],
    );
}

/// Two sites of speed 1 and one of a quarter of it, which reserves nothing: what is charged is for the hour that is reserved, not for the four that would be needed
/// on the slow one. It harms nobody.
#[test]
fn what_is_reserved_is_charged() {
    let site = |name: &str, speed: &str, keys: &str| {
        format!(
            "[[site]]\nname = '{name}'\nmachines = [{{ class = 'node', count = 4, cores = 1, speed = {speed} }}]\nreservation_price = '1/core-h'\n{keys}\n"
        )
    };
    let slow = site("c", "0.25", "reservable = 0");
    let scenario =
        format!("{}{}{slow}{}", site("a", "1", ""), site("b", "1", ""), portal("", "{ parts = 2 }"));
    let (jobs, together) = ran(&scenario, &[(20, 3600, 4)]);
    assert_eq!(jobs, ["a 21 3621 completed", "b 21 3621 completed"]);
    let of = |name: &str| together[0][name].as_str();
    assert_eq!((of("length"), of("charge"), of("harm_proc_s")), ("3600", "4", "0"));
}

/// What the broker does for a job at several sites until it leaves is told in words.
#[test]
fn explain_tells_what_is_picked() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("grid.swf"), "; MaxProcs: 8\n1 20 -1 20 4 -1 -1 4 20 -1 1 1 1 1 1 1 -1 -1\n").unwrap();
    let broker = portal("coallocation = { hold = 'at-start' }", "{ parts = 2, notice = '10 min' }");
    fs::write(path("run.toml"), format!("{}{broker}", sites(&["a", "b"], ""))).unwrap();
    gridemu(&["run", &path("run.toml"), "--out", &path("out")]).well();
    let told = gridemu(&["explain", &path("out"), "--job", "1"]).well().out.clone();
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("a common start at 620 s is picked, and held when it comes"), "{told}");
}

/// What has no effect is told, and jobs that no two sites can reserve for.
#[test]
fn what_has_no_effect_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.toml").to_str().unwrap().to_owned();
    let log = "; MaxProcs: 8\n1 0 -1 9 4 -1 -1 4 9 -1 1 1 1 1 1 1 -1 -1\n";
    fs::write(folder.path().join("grid.swf"), log).unwrap();
    let told = |scenario: &str| {
        fs::write(&path, scenario).unwrap();
        gridemu(&["check", &path]).well().err.clone()
    };
    let says = |scenario: &str, what: &str| {
        let told = told(scenario);
        assert!(told.contains(what), "no `{what}` in {told}");
    };
    let (two, in_parts) = (sites(&["a", "b"], ""), portal("", "{ parts = 2 }"));
    let whole = "[broker]\npolicy = 'mct'\n[[workload]]\nlog = 'grid.swf'\n";
    assert!(!told(&format!("{two}{in_parts}")).contains("reserve"));
    let closed = sites(&["b"], "reservable = 0");
    says(
        &format!("{}{closed}{in_parts}", sites(&["a"], "")),
        "`workload[0].coallocate.parts`: jobs in 2 parts are all rejected: only one site reserves",
    );
    let suspending = sites(&["a", "b"], "policy = 'ss'");
    says(&format!("{suspending}{in_parts}"), "all rejected: no site reserves processors");
    let free = sites(&["c"], "reservable = 0\nreservation_price = '1/core-h'");
    says(
        &format!("{two}{free}{in_parts}"),
        "`site.c.reservation_price`: it has no effect: the grid reserves nothing here",
    );
    let dear = sites(&["c"], "reservable = 0.5\nreservation_price = '1/core-h'");
    let late = "[[fault]]\nkind = 'late'\nof = ['reservations']\ndelay = 'exponential[mean=1 s]'\nfrom = '1 min'\nfor = '1 min'\n";
    let lost = "[[fault]]\nkind = 'lost'\nfrom = '1 min'\nfor = '1 min'\n";
    let hasty = format!(
        "{two}[network]\nlatency = '2 s'\n{}",
        portal("coallocation = { patience = '4 s', lease = '8 s' }", "{ parts = 2 }")
    );
    for key in ["patience", "lease"] {
        says(&hasty, &format!("`broker.coallocation.{key}`: it is over before it can be used"));
    }
    let nobody = format!("{two}{dear}{lost}{late}{}", whole.replace("'mct'", "'mct'\ncoallocation = {}"));
    for key in [
        "broker.coallocation",
        "site.c.reservation_price",
        "site.c.reservable",
        "fault[0].kind",
        "fault[1].of",
    ] {
        says(&nobody, &format!("`{key}`: it has no effect: "));
    }
}

fn settings() -> impl Strategy<Value = (CoallocationSpec, CoupledSpec)> {
    let goals = proptest::sample::select(vec![
        CoallocationGoal::Earliest,
        CoallocationGoal::Cheapest,
        CoallocationGoal::Gentlest,
    ]);
    let holds = proptest::sample::select(vec![Holding::Ahead, Holding::AtStart]);
    let times = (1_u64..120, 1_u64..60, 0_u64..100, 0_u64..300);
    let coupled = (2_u32..5, prop_oneof![Just(1.0), Just(0.5)], 0_u64..3_000_000, 0_u64..100_000);
    (goals, holds, 1_u32..4, 1_u32..4, times, coupled).prop_map(
        |(
            goal,
            holding,
            alternatives,
            tries,
            (lease, patience, notice, within),
            (parts, share, exchanges_ppm, traffic),
        )| {
            let lease = Span::from_secs(lease.max(patience));
            let patience = Span::from_secs(patience);
            let (notice, within) = (Span::from_secs(notice), Span::from_secs(within));
            let coupling = Coupling { notice, within, exchanges_ppm, traffic: Bytes::new(traffic) };
            (
                CoallocationSpec { goal, holding, alternatives, lease, patience, tries },
                CoupledSpec { parts, share, coupling },
            )
        },
    )
}

/// Grids with churn and faults, whose jobs are run in parts.
fn cases() -> impl Strategy<Value = GridCase> {
    (crate::faults::faulty(), settings(), any::<bool>()).prop_map(|(mut case, (spec, coupled), well)| {
        let broker = case.spec.broker.as_mut().expect("a broker");
        broker.coallocation = spec;
        if well {
            (broker.faults, broker.heartbeat) = (Vec::new(), None);
        }
        for job in &mut case.portal {
            job.grid = None;
        }
        GridCase { coupled: Some(coupled), ..case }
    })
}

/// The parts of each co-allocated job start at the time that was agreed or never, at different sites, and each ends once.
fn check(case: &GridCase, ran: &GridRan) {
    if let Err(error) = &ran.result {
        assert!(error.contains("nothing can happen any more"), "{error}");
    }
    let records = &ran.records;
    let mut jobs: BTreeMap<JobId, &JobRecord> = BTreeMap::new();
    let mut ends: BTreeMap<JobId, u32> = BTreeMap::new();
    let mut together: Vec<&CoallocationRecord> = Vec::new();
    for record in records {
        match record {
            Record::Job(job) if job.origin == Origin::Grid => {
                jobs.insert(job.id, job);
                *ends.entry(job.id).or_default() += 1;
            }
            Record::Coallocation(job) => together.push(job),
            _ => {}
        }
    }
    assert!(ends.values().all(|times| *times == 1), "a part ends twice");
    let parts: usize = together.iter().map(|job| job.parts as usize).sum();
    let in_parts = jobs.keys().filter(|id| id.0 >= Coupled::APART).count();
    assert_eq!(parts - together.len(), in_parts, "each co-allocated job has a record");
    for one in together {
        let parts: Vec<&JobRecord> = (0..u64::from(one.parts))
            .map(|at| jobs[&JobId(one.job.number.0 + at * Coupled::APART)])
            .collect();
        let starts = parts.iter().filter_map(|part| part.start);
        match one.start {
            None => assert_eq!(starts.count(), 0, "{one:?}"),
            Some(start) => {
                assert!(starts.clone().all(|began| began == start), "{one:?}: {parts:?}");
                assert!(
                    start >= one.earliest
                        && start
                            <= one.earliest
                                + case.coupled.expect("parts").coupling.within.max(Span::from_secs(3_600))
                );
                let mut sites: Vec<_> = one.sites.iter().map(|pool| pool.site).collect();
                sites.sort_unstable();
                sites.dedup();
                assert_eq!(sites.len(), parts.len(), "{one:?}");
            }
        }
        let all = |outcome| parts.iter().all(|part| part.outcome == outcome);
        match one.outcome {
            CoallocationOutcome::Completed => assert!(all(Outcome::Completed), "{one:?}"),
            CoallocationOutcome::Refused => {
                assert!(
                    parts.iter().all(|part| matches!(part.outcome, Outcome::Rejected(_))),
                    "{one:?}: {parts:?}"
                );
            }
            // The run was over before the news had come.
            CoallocationOutcome::Unfinished => {}
            _ => assert!(!all(Outcome::Completed), "{one:?}: {parts:?}"),
        }
    }
    assert_legal(&Registry::standard(), &case.spec.sites, &case.portal, records);
}

proptest! {
    #![proptest_config(crate::support::cases(200))]

    #[test]
    fn parts_start_together_or_not_at_all(case in cases()) {
        let (ran, _) = case.windows(WindowOptions::default());
        check(&case, &ran);
    }

    #[test]
    fn windows_change_no_record_of_parts(case in cases(), ends in any::<u64>(), lag in 0_u64..100_000_000) {
        all_windows(&case, ends, lag);
    }

    /// From some instant on the broker reserves otherwise, and sites keep less for it. What is agreed stays.
    #[test]
    fn forks_may_reserve_otherwise(
        case in cases(),
        (spec, _) in settings(),
        share in 0_u64..=1_000_000,
        at in 0_u64..200_000_000,
    ) {
        let at = Time::from_micros(at);
        let mut new = case.spec.clone();
        new.broker.as_mut().expect("a broker").coallocation = spec;
        new.sites[0].reservable.share_ppm = share;
        changes(&case.spec, &new, at).expect("it may change");
        if let Some((forked, ran, _)) = forked(&case, &new, at) {
            check(&forked, &ran);
        }
    }

    #[test]
    fn legs_change_no_record_of_parts(case in cases(), stretches in stretches()) {
        same(&in_legs(&case, &stretches), &case.stepwise());
    }
}

proptest! {
    #![proptest_config(crate::support::cases(10))]

    #[test]
    fn actors_change_no_record_of_parts(case in cases()) {
        all_actors(&case);
    }
}
