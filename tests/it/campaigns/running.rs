//! Campaigns through the library: whatever the threads, parts and changes, the table is the same.

use std::fs;
use std::path::Path;
use std::time::Duration;

use gridemu::experiment::{Progress, Run};
use gridemu::grid::Policies;
use gridemu::scenario::Scenario;
use gridemu::store::ResultStore;
use gridemu::study::campaign::{CampaignOptions, Shard};
use gridemu::study::{StudyTable, flat_measures};

use super::{csv, file, load, of, run};

fn options(folder: &Path, name: &str) -> CampaignOptions {
    CampaignOptions { threads: Some(2), ..CampaignOptions::new(folder.join(name)) }
}

fn part(folder: &Path, written: &str) -> CampaignOptions {
    let shard: Shard = written.parse().unwrap();
    CampaignOptions { shard: Some(shard), ..options(folder, &written.replace('/', "-of-")) }
}

/// Each row says what the run of that scenario by itself says.
#[test]
fn a_row_is_the_run_of_its_scenario() {
    let folder = tempfile::tempdir().unwrap();
    let small = load(&file("small.toml"), &[]).unwrap();
    let table = run(&small, &options(folder.path(), "store")).table;
    assert_eq!(table.axes, ["policy", "load"]);
    assert_eq!(table.measures, ["mean_wait", "site.main.utilization", "mean_bounded_slowdown"]);
    assert_eq!(table.rows.len(), 18);
    for row in [&table.rows[0], &table.rows[4], &table.rows[17]] {
        let sets = [
            format!("site.main.policy={}", row.point[0]),
            format!("site.main.workload.lublin.load={}", row.point[1]),
            format!("seed={}", row.seed),
        ];
        let sets: Vec<_> = sets.iter().map(|set| gridemu::scenario::Override::set(set)).collect();
        let policies = Policies::standard();
        let scenario = Scenario::load(&file("base.toml"), &sets, &policies).unwrap();
        assert_eq!(row.scenario_hash, format!("{:032x}", scenario.hash));
        let summary = Run::new(scenario, 1, &policies).run(&Progress::default()).unwrap();
        assert_eq!(row.fingerprint, summary.fingerprint.to_string());
        let flat = flat_measures(&serde_json::to_value(&summary).unwrap());
        let values: Vec<_> = table.measures.iter().map(|id| flat.get(id).copied()).collect();
        assert_eq!(row.values, values);
        assert_eq!((row.jobs, row.outcomes.total()), (300, 300));
    }
    let points: Vec<(&str, &str, u64)> =
        table.rows.iter().map(|row| (&*row.point[0], &*row.point[1], row.seed)).collect();
    assert_eq!(points[..4], [("fcfs", "0.5", 1), ("fcfs", "0.5", 2), ("fcfs", "0.5", 3), ("fcfs", "0.7", 1)]);
    assert_eq!(points[17], ("easy", "0.9", 3));
}

/// An axis that goes with the seed is none of the table: the seeds take its values in turn.
#[test]
fn seeds_take_values_in_turn() {
    let text = "scenario = \"base.toml\"\nseeds = [7, 8, 9]\n\n[[axis]]\nkey = \"site.main.policy\"\nvalues = [\"fcfs\", \"easy\"]\n\n\
                [[axis]]\nkey = \"calendar\"\nvalues = [\"2022-01-03T00:00Z\", \"2022-07-04T00:00Z\"]\nwith_seed = true\n";
    let campaign = of(text).unwrap();
    let [first, second] = ["2022-01-03T00:00Z", "2022-07-04T00:00Z"];
    let policies = Policies::standard();
    let mut expected = Vec::new();
    for policy in ["fcfs", "easy"] {
        for (seed, begins) in [(7, first), (8, second), (9, first)] {
            let sets =
                [format!("site.main.policy={policy}"), format!("calendar={begins}"), format!("seed={seed}")];
            let sets: Vec<_> = sets.iter().map(|set| gridemu::scenario::Override::set(set)).collect();
            expected.push((policy, Scenario::load(&file("base.toml"), &sets, &policies).unwrap().hash));
        }
    }
    let runs: Vec<_> = campaign.runs().iter().map(|run| (&*run.point[0], run.scenario_hash)).collect();
    assert_eq!(runs, expected);
    assert_eq!(campaign.axes().collect::<Vec<_>>(), ["policy"]);
    // They are a series, in order of the dates.
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path(), "dated");
    let table = run(&campaign, &options).table;
    let dates: Vec<(u64, &str)> = table.dates.iter().map(|(seed, date)| (*seed, date.as_str())).collect();
    assert_eq!(dates, [(7, first), (9, first), (8, second)]);
    let seeds =
        |point: &gridemu::study::StudyPoint<'_>| point.runs.iter().map(|row| row.seed).collect::<Vec<_>>();
    assert!(table.points().iter().all(|point| seeds(point) == [7, 9, 8]));
    let about = fs::read_to_string(options.store.join("campaign.json")).unwrap();
    assert!(about.contains("\"dates\""), "{about}");
}

/// Measures by kind of job are known before the first run, where there may be others than rigid jobs.
#[test]
fn kinds_of_jobs_have_measures() {
    let text = "scenario = \"base.toml\"\nmeasures = [\"kind.malleable.mean_response\", \"kind.rigid.mean_response\", \"kind.*.jobs\"]\n";
    let Err(refused) = of(text) else { panic!("all its jobs are rigid") };
    assert!(refused.to_string().contains("there is no measure `kind.malleable.mean_response`"), "{refused}");
    let axis = "[[axis]]\nkey = \"site.main.workload.malleable\"\nvalues = [false, true, { share = 0.5 }]\n";
    let campaign = of(&format!("{text}{axis}")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let table = run(&campaign, &options(folder.path(), "kinds")).table;
    let of_run = |row: usize, id: &str| table.rows[row].values[table.measure(id).unwrap()];
    let jobs = |row| ["rigid", "moldable", "malleable"].map(|kind| of_run(row, &format!("kind.{kind}.jobs")));
    assert_eq!(jobs(0), [None; 3], "a run of rigid jobs has no kinds");
    assert_eq!(jobs(1), [Some(0.0), Some(0.0), Some(300.0)]);
    let [rigid, moldable, malleable] = jobs(2).map(Option::unwrap);
    assert!(rigid > 100.0 && malleable > 100.0 && rigid + malleable == 300.0 && moldable == 0.0);
    assert_eq!(of_run(1, "kind.rigid.mean_response"), None, "of no job");
    for (row, kind) in [(1, "malleable"), (2, "malleable"), (2, "rigid")] {
        assert!(of_run(row, &format!("kind.{kind}.mean_response")).unwrap() > 0.0);
    }
}

#[test]
fn threads_and_parts_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let small = load(&file("small.toml"), &[]).unwrap();
    let whole = csv(&run(&small, &options(folder.path(), "whole")).table);
    for threads in [1, 3] {
        let options =
            CampaignOptions { threads: Some(threads), ..options(folder.path(), &format!("on-{threads}")) };
        assert_eq!(csv(&run(&small, &options).table), whole);
    }
    let parts: Vec<CampaignOptions> = ["1/2", "2/2"].map(|written| part(folder.path(), written)).into();
    for part in &parts {
        let ran = run(&small, part);
        assert_eq!((ran.ran, ran.kept, ran.missing, ran.table.rows.len()), (9, 0, 9, 9));
    }
    let stores: Vec<_> = parts.iter().map(|part| part.store.clone()).collect();
    let all = options(folder.path(), "all");
    let merged = small.merge(&stores, &all).unwrap();
    assert_eq!((merged.taken, merged.others, merged.campaign.missing), (18, 0, 0));
    assert_eq!(csv(&merged.campaign.table), whole);
    assert_eq!(fs::read_to_string(all.store.join("results.csv")).unwrap(), whole);
    // Nothing is left to do, and nothing is taken twice.
    let again = run(&small, &all);
    assert_eq!((again.ran, again.kept, csv(&again.table)), (0, 18, whole.clone()));
    assert_eq!(small.merge(&stores, &all).unwrap().taken, 0);
    assert_eq!(csv(&small.table(&all.store).unwrap()), whole);
}

/// A result that cannot be read is told, and its run is missing.
#[test]
fn results_of_another_gridemu_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let small = load(&file("small.toml"), &[]).unwrap();
    let half = part(folder.path(), "1/2");
    run(&small, &half);
    let mut store = ResultStore::open(&half.store, None, Duration::ZERO).unwrap();
    store.put(small.runs()[2].key, b"of another layout").unwrap();
    store.close().unwrap();
    let merged = small.merge(&[half.store], &options(folder.path(), "all")).unwrap();
    assert_eq!((merged.taken, merged.campaign.missing), (8, 10));
    let line = merged.line();
    assert_eq!(line, "took over 8 results; 1 of another version of gridemu cannot be read, and were ignored");
}

#[test]
fn parts_that_overlap_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let small = load(&file("small.toml"), &[]).unwrap();
    let (half, third) = (part(folder.path(), "1/2"), part(folder.path(), "1/3"));
    run(&small, &half);
    run(&small, &third);
    let all = options(folder.path(), "all");
    let error = small.merge(&[half.store.clone(), third.store], &all).unwrap_err();
    assert!(
        error.to_string().contains("overlap: both have run 1 (policy=fcfs, load=0.5, seed=1)"),
        "{error}"
    );
    assert!(error.hint().unwrap().contains("--shard 1/2"));
    let error = small.merge(&[half.store.clone(), half.store.clone()], &all).unwrap_err();
    assert!(error.to_string().contains("overlap"), "{error}");
    let error = small.merge(std::slice::from_ref(&half.store), &half).unwrap_err();
    assert!(error.to_string().contains("into itself"), "{error}");
}

const POLICIES: &str = "name = \"growing\"\nscenario = \"base.toml\"\nmeasures = [MEASURES]\nseeds = SEEDS\n[[axis]]\nkey = \"site.main.policy\"\nvalues = [POLICIES]\n";

fn growing(measures: &str, seeds: &str, policies: &str) -> gridemu::study::campaign::Campaign {
    let text = POLICIES.replace("MEASURES", measures).replace("SEEDS", seeds).replace("POLICIES", policies);
    of(&text).unwrap()
}

#[test]
fn a_changed_campaign_does_only_what_is_new() {
    let folder = tempfile::tempdir().unwrap();
    let store = options(folder.path(), "store");
    let ran = |measures: &str, seeds: &str, policies: &str| {
        let ran = run(&growing(measures, seeds, policies), &store);
        (ran.ran, ran.kept, ran.table)
    };
    let wait = "\"mean_wait\"";
    assert!(matches!(ran(wait, "2", "\"fcfs\""), (2, 0, _)));
    assert!(matches!(ran(wait, "2", "\"easy\", \"fcfs\""), (2, 2, _)));
    // One more seed for each, in another order of numbers.
    assert!(matches!(ran(wait, "\"1..3\"", "\"easy\", \"fcfs\""), (2, 4, _)));
    // Other measures of the same runs.
    let (now, kept, table) = ran("\"p95_wait\", \"utilization\"", "3", "\"easy\", \"fcfs\"");
    assert_eq!((now, kept), (0, 6));
    let anew = options(folder.path(), "anew");
    assert_eq!(
        csv(&table),
        csv(&run(&growing("\"p95_wait\", \"utilization\"", "3", "\"easy\", \"fcfs\""), &anew).table)
    );
    // Fewer again: the rest stays in the store.
    let (now, kept, table) = ran(wait, "1", "\"easy\"");
    assert_eq!((now, kept, table.rows.len()), (0, 1, 1));
}

#[test]
fn a_finite_run_is_its_jobs_and_no_part_of_something_that_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let overload = "name = \"over\"\nscenario = \"base.toml\"\nmeasures = [\"mean_wait\"]\n[set]\n\"site.main.workload.lublin.load\" = 2.5\n";
    let store = options(folder.path(), "store");
    let table = |text: &str| run(&of(text).unwrap(), &store).table;
    let endless = table(overload);
    assert!(endless.rows[0].unstable, "more comes than the site can do");
    let finite = table(&overload.replace("[set]", "finite = true\n[set]"));
    assert!(!finite.rows[0].unstable);
    assert_eq!(finite.rows[0].values, endless.rows[0].values);
}

#[test]
fn a_failed_run_is_a_row_with_its_error() {
    let folder = tempfile::tempdir().unwrap();
    let failing = load(&file("failing.toml"), &[]).unwrap();
    let store = options(folder.path(), "store");
    let ran = run(&failing, &store);
    let failed: Vec<(u64, &str)> = ran.failed().collect();
    assert_eq!(failed.iter().map(|(run, _)| *run).collect::<Vec<_>>(), [3, 4]);
    assert!(failed[0].1.contains("wait"), "{}", failed[0].1);
    let (good, bad) = (&ran.table.rows[0], &ran.table.rows[2]);
    assert!(good.values[0].is_some() && good.jobs == 60);
    assert_eq!((bad.values[0], bad.jobs, &*bad.fingerprint), (None, 0, ""));
    assert!(csv(&ran.table).contains(",failed,"));
    // It is tried again, and the others are not.
    let again = run(&failing, &store);
    assert_eq!((again.ran, again.kept, csv(&again.table)), (2, 2, csv(&ran.table)));
    // The table is the same wherever the files of the runs are.
    let folders = Some(folder.path().join("runs"));
    let with_files = run(&failing, &CampaignOptions { folders, ..store });
    assert_eq!((with_files.ran, csv(&with_files.table)), (4, csv(&ran.table)));
}

/// Runs that share a log read the same from it as runs that do not.
#[test]
fn a_shared_log_is_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let rows: Vec<String> = (1..200_u64)
        .map(|id| {
            let (procs, run) = (1 + id * 7 % 20, 30 + id * 37 % 900);
            format!("{id} {} -1 {run} {procs} -1 -1 {procs} {} -1 1 1 1 1 1 1 -1 -1", id * 40, run * 2)
        })
        .collect();
    fs::write(folder.path().join("log.swf"), format!("; MaxProcs: 32\n{}\n", rows.join("\n"))).unwrap();
    let text = "measures = [\"mean_wait\"]
[scenario]
[[scenario.site]]
name = \"main\"
machines = [{ class = \"node\", count = 32 }]
workload = { log = \"log.swf\" }
[[axis]]
key = \"site.main.workload.load\"
values = [0.6, 1.2]
[[axis]]
name = \"factor\"
key = \"site.main.workload.estimates\"
values = [1, 3]
write = \"factor:{}\"
[[axis]]
key = \"site.main.workload.first\"
values = [50, 199]
";
    let path = folder.path().join("logs.toml");
    fs::write(&path, text).unwrap();
    let store = options(folder.path(), "store");
    let campaign = load(&path, &[]).unwrap();
    let ran = run(&campaign, &store);
    assert_eq!(ran.table.rows.len(), 8);
    for row in &ran.table.rows {
        let scenario = format!(
            "[[site]]\nname = \"main\"\nmachines = [{{ class = \"node\", count = 32 }}]\nworkload = {{ log = \"log.swf\", load = {}, estimates = \"factor:{}\", first = {} }}\n",
            row.point[0], row.point[1], row.point[2]
        );
        let file = folder.path().join("one.toml");
        fs::write(&file, &scenario).unwrap();
        let policies = Policies::standard();
        let one = Scenario::load(&file, &[], &policies).unwrap();
        let summary = Run::new(one, 1, &policies).run(&Progress::default()).unwrap();
        assert_eq!(row.fingerprint, summary.fingerprint.to_string(), "{:?}", row.point);
        assert_eq!(row.values[0], summary.measures.mean_wait);
    }
    // Another log under the same name is another run.
    fs::write(folder.path().join("log.swf"), format!("; MaxProcs: 32\n{}\n", rows[..198].join("\n")))
        .unwrap();
    assert_eq!(run(&load(&path, &[]).unwrap(), &store).ran, 8);
    assert_eq!(run(&campaign, &store).ran, 0, "what was there before is still there");
}

#[test]
fn each_run_leaves_a_folder_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("runs");
    let small = load(&file("small.toml"), &[]).unwrap();
    let store = options(folder.path(), "store");
    let plain = run(&small, &store);
    let folders = CampaignOptions { folders: Some(dir.clone()), ..store.clone() };
    let ran = run(&small, &folders);
    assert_eq!(
        (ran.ran, csv(&ran.table)),
        (18, csv(&plain.table)),
        "files were asked for, and there were none"
    );
    let one = dir.join("policy=fcfs,load=0.7,seed=2");
    let rows = fs::read_to_string(one.join("jobs.csv")).unwrap();
    assert_eq!(rows.lines().count(), 301);
    assert_eq!(run(&small, &folders).ran, 0);
    // A folder that is not whole is made again.
    fs::remove_file(one.join("summary.json")).unwrap();
    assert_eq!(run(&small, &folders).ran, 1);
    assert!(one.join("summary.json").exists());
}

#[test]
fn axes_of_all_forms() {
    let text = "scenario = \"base.toml\"
seeds = [11, 5]
[set]
site.main.workload.lublin.jobs = 20
\"reference_mips\" = 20_000
[[axis]]
name = \"size\"
key = [\"site.main.machines.node.count\", \"site.main.workload.lublin.procs\"]
values = [[32, 16], [64, 32], 48]
[[axis]]
name = \"how\"
[axis.variants]
plain = {}
sorted = { \"site.main.policy\" = { easy = { order = \"sjf\" } }, measure = { from = \"1 s\", to = \"90 d\" } }
[axis.variants.dotted]
site.main.policy = \"conservative\"
";
    let campaign = of(text).unwrap();
    assert_eq!(campaign.line(), "18 runs (3 size x 3 how x 2 seeds)");
    let points: Vec<(Vec<&str>, u64)> = campaign
        .runs()
        .iter()
        .map(|run| (run.point.iter().map(String::as_str).collect(), run.seed))
        .collect();
    assert_eq!(points[0], (vec!["32/16", "plain"], 11));
    assert_eq!(points[1], (vec!["32/16", "plain"], 5));
    assert_eq!(points[3], (vec!["32/16", "sorted"], 5));
    assert_eq!(points[17], (vec!["48", "dotted"], 5));
    let folder = tempfile::tempdir().unwrap();
    let table = run(&campaign, &options(folder.path(), "store")).table;
    assert!(table.rows.iter().all(|row| row.values[0].is_some()), "{table:?}");
    let hashes: std::collections::BTreeSet<&str> = table.rows.iter().map(|row| &*row.scenario_hash).collect();
    assert_eq!(hashes.len(), 18);
}

/// Two places that mean the same scenario are one run and two rows.
#[test]
fn what_means_the_same_is_run_once() {
    let text = "scenario = \"base.toml\"
[[axis]]
name = \"load\"
[axis.variants]
a = { \"site.main.workload.lublin.load\" = 0.5 }
b = { \"site.main.workload.lublin.load\" = 0.5, \"name\" = \"another\" }
";
    let campaign = of(text).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let ran = run(&campaign, &options(folder.path(), "store"));
    assert_eq!((ran.ran, ran.table.rows.len()), (1, 2));
    assert_eq!(ran.table.rows[0].fingerprint, ran.table.rows[1].fingerprint);
}

#[test]
fn the_table_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let small = load(&file("small.toml"), &[]).unwrap();
    let store = options(folder.path(), "store");
    let table = run(&small, &store).table;
    let text = fs::read(store.store.join("results.csv")).unwrap();
    assert_eq!(StudyTable::read_csv("small", text.as_slice()).unwrap(), table);
}

/// Two places that mean one scenario have one result, which belongs to the part of the first of them: parts do not overlap by it.
#[test]
fn parts_of_places_that_mean_the_same_come_together() {
    let text = "scenario = \"base.toml\"
[[axis]]
name = \"load\"
[axis.variants]
a = { \"site.main.workload.lublin.load\" = 0.5 }
b = { \"site.main.workload.lublin.load\" = 0.5, \"name\" = \"another\" }
c = { \"site.main.workload.lublin.load\" = 0.6 }
d = { \"site.main.workload.lublin.load\" = 0.7 }
";
    let campaign = of(text).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let whole = csv(&run(&campaign, &options(folder.path(), "whole")).table);
    let parts: Vec<CampaignOptions> = ["1/2", "2/2"].map(|written| part(folder.path(), written)).into();
    let ran: Vec<u64> = parts.iter().map(|part| run(&campaign, part).ran).collect();
    assert_eq!(ran, [2, 1], "the run of a and b once, in the first part");
    let stores: Vec<_> = parts.iter().map(|part| part.store.clone()).collect();
    let merged = campaign.merge(&stores, &options(folder.path(), "all")).unwrap();
    assert_eq!((merged.taken, merged.campaign.missing), (3, 0));
    assert_eq!(csv(&merged.campaign.table), whole);
}

/// The scenario is that of before, but its log is not: files of before are not those of the result.
#[test]
fn files_of_another_result_are_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let log = |run: u64| {
        let rows: Vec<String> = (1..20_u64)
            .map(|id| format!("{id} {} -1 {run} 2 -1 -1 2 900 -1 1 1 1 1 1 1 -1 -1", id * 40))
            .collect();
        fs::write(folder.path().join("log.swf"), format!("; MaxProcs: 4\n{}\n", rows.join("\n"))).unwrap();
    };
    let text = "[scenario]
[[scenario.site]]
name = \"main\"
machines = [{ class = \"node\", count = 4 }]
workload = { log = \"log.swf\" }
";
    let path = folder.path().join("logs.toml");
    fs::write(&path, text).unwrap();
    let plain = options(folder.path(), "store");
    let dir = folder.path().join("runs");
    let folders = CampaignOptions { folders: Some(dir), ..plain.clone() };
    log(100);
    assert_eq!(run(&load(&path, &[]).unwrap(), &folders).ran, 1);
    log(200);
    let campaign = load(&path, &[]).unwrap();
    assert_eq!(run(&campaign, &plain).ran, 1, "another log");
    assert_eq!(run(&campaign, &folders).ran, 1, "its files are not there yet");
    assert_eq!(run(&campaign, &folders).ran, 0);
}
