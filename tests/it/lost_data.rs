//! `lost = "again"`: tasks whose output is lost run again, with what that needs.

use std::fs;
use std::path::{Path, PathBuf};

use gridemu::grid::{Grid, GridError, Policies};
use gridemu::local::Registry;
use gridemu::model::{
    BrokerSpec, ChurnAct, EventKind, FailureAction, GridSpec, Link, LostData, NetworkSpec, Outcome,
    PlannedChurn, PlanningTime, Record, SiteSpec, StorageSpec, TaskOrder, TransferMode, WorkflowSettings,
    WorkflowSpec,
};
use gridemu::units::{Bandwidth, Bytes, Rate, Span, Time};
use gridemu::workflow::WorkflowSource;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::cli::gridemu;
use crate::enactment::{tasks, workflows};
use crate::support::{cases, judged, through_bytes};
use crate::validating::legal;
use crate::validating_workflows::damage;
use crate::workflow_data::submissions;

/// Three tasks in a chain, `a` (20 s), `b` (40 s), `c` (60 s) at reference speed, on `ada` and on `bob`, who is twice as fast. All places are a second and 1 MB/s apart.
/// `bob` leaves at 40 s, which the broker knows at 41 s.
const CHAIN: &str = r#"
[[site]]
name = "ada"
machines = [{ class = "node", count = 1, busy = "36 W", price = "1.8/core-h" }]
policy = "fcfs"
[[site]]
name = "bob"
machines = [{ class = "node", count = 1, speed = 2.0, busy = "72 W", price = "3.6/core-h" }]
policy = "fcfs"
[network]
latency = "1 s"
bandwidth = "8 Mbit/s"
[broker]
policy = "mct"
monitoring_interval = "0 s"
[workflow]
lost = "again"
[[event]]
at = "40 s"
leave = "bob"
[[event]]
at = "30 min"
join = "bob"
[[workload]]
workflow = "chain.json"
"#;

/// `b` reads `fa` (5 MB), which `a` writes, and `c` reads `fb` (3 MB), which `b` writes, and `fx` (10 MB), which is stage-in.
const TASKS: &str = r#"{"name": "chain", "schemaVersion": "1.5", "workflow": {
    "specification": {"tasks": [
        {"name": "a", "id": "a", "children": ["b"], "parents": [], "inputFiles": [], "outputFiles": ["fa"]},
        {"name": "b", "id": "b", "children": ["c"], "parents": ["a"], "inputFiles": ["fa"], "outputFiles": ["fb"]},
        {"name": "c", "id": "c", "children": [], "parents": ["b"], "inputFiles": ["fb", "fx"], "outputFiles": []}],
        "files": [{"id": "fa", "sizeInBytes": 5000000}, {"id": "fb", "sizeInBytes": 3000000}, {"id": "fx", "sizeInBytes": 10000000}]},
    "execution": {"makespanInSeconds": 9, "executedAt": "2024-01-01T00:00:00Z", "tasks": [
        {"id": "a", "runtimeInSeconds": 20}, {"id": "b", "runtimeInSeconds": 40}, {"id": "c", "runtimeInSeconds": 60}], "machines": []}}}"#;

/// A folder with the chain, and the runs of it with these settings.
fn chain(runs: &[(&str, &[&str])]) -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("chain.json"), TASKS).unwrap();
    let file = folder.path().join("chain.toml");
    fs::write(&file, CHAIN).unwrap();
    let run = |(name, set): &(&str, &[&str])| {
        let out = folder.path().join(name);
        let set: Vec<&str> = set.iter().flat_map(|set| ["--set", *set]).collect();
        let fixed = ["run", file.to_str().unwrap(), "--out", out.to_str().unwrap()];
        gridemu(&[&fixed[..], &set].concat()).well();
        out
    };
    let runs = runs.iter().map(run).collect();
    (folder, runs)
}

fn rows(out: &Path, table: &str) -> Vec<String> {
    fs::read_to_string(out.join(table)).unwrap().lines().skip(1).map(str::to_owned).collect()
}

/// By hand. `a` runs at `bob` from 1 to 11, `b` from 13 to 33, and then all readers of `fa` have ended and it goes. `c` is meant for `bob`, too, where `fx`
/// would be at 45. But `bob` leaves at 40, and with it `fb`: at 41 `b` is to run again, and so is `a`. At `ada`, `a` runs from 42 to 62, `b`
/// from 64, when `fa` lies there, to 104; at 105 `c` is ready and `fx` asked for, which is there at 116, so `c` runs from 117 to 177. Of the 178 s, `a` as it was
/// when `b` became ready has 12; `b` lost 51 from its first start to its last.
#[test]
fn a_chain_runs_again_by_hand() {
    let (_folder, runs) = chain(&[("again", &[]), ("copy", &["workflow.lost=copy"])]);
    let [out, copy] = &runs[..] else { panic!("two runs") };
    assert_eq!(
        rows(out, "tasks.csv"),
        [
            "0,a,a,1,bob,node,,0,0,0,1,1,1,11,12,completed,1,10,0,2,0,0",
            "0,b,b,2,bob,node,1,12,12,12,13,13,13,33,34,completed,1,20,0,2,0,0",
            "0,a,a,1,ada,node,,0,0,0,1,1,42,62,63,completed,2,20,0,2,0,41",
            "0,b,b,2,ada,node,1,12,12,12,13,13,64,104,105,completed,2,40,0,2,0,51",
            "0,c,c,3,ada,node,2,105,105,116,117,117,117,177,178,completed,1,60,11,2,0,0",
        ]
    );
    let whole = &rows(out, "workflows.csv")[0];
    assert!(whole.starts_with("0,chain,0,178,178,120,completed,3,3,5,"), "{whole}");
    // `fx` to `ada`; 30 s at `bob` for 72 W and 0.001/s, 120 s at `ada` for half of that.
    assert!(whole.ends_with(",3,110,11,6,0,51,10000000,6480,0.09"), "{whole}");
    let events = rows(out, "events.csv");
    for said in ["41,repeated,site-left,grid,,,1,1,grid,1,", "41,repeated,site-left,grid,,,1,2,grid,1,"] {
        assert!(events.iter().any(|row| row.starts_with(said)), "{events:#?}");
    }
    let repeated = |out: &Path| {
        let summary = fs::read_to_string(out.join("summary.json")).unwrap();
        serde_json::from_str::<serde_json::Value>(&summary).unwrap()["workflows"]["repeated"].as_u64()
    };
    assert_eq!([out, copy].map(|out| repeated(out)), [Some(2), None]);
    // Otherwise `c` waits until `bob` is back.
    let last = &rows(copy, "tasks.csv")[2];
    assert!(last.contains(",c,c,3,bob,"), "{last}");
    assert!(
        rows(copy, "workflows.csv")[0].starts_with("0,chain,0,1844,1844,"),
        "{:?}",
        rows(copy, "workflows.csv")
    );
}

/// By hand. `c` is assigned at 34, waits for `fx` at `bob` until that leaves, and then for `fb` at `ada` until `bob` is back, which the broker knows at 1801. It is
/// planned anew then, and `fx` is at `bob` at 1812. All that time it waited for files.
#[test]
fn who_waits_for_files_of_a_site_that_has_left_waits_for_data() {
    let (_folder, runs) = chain(&[("copy", &["workflow.lost=copy"])]);
    let last = &rows(&runs[0], "tasks.csv")[2];
    assert_eq!(last, "0,c,c,3,bob,node,2,34,34,1812,1813,1813,1813,1843,1844,completed,1,30,1778,2,0,0");
    // `a` and `b` wait for no files, and are 2 s each on the way.
    let whole = &rows(&runs[0], "workflows.csv")[0];
    assert!(whole.contains(",3,60,1778,6,0,0,"), "{whole}");
}

/// By hand. From 41 on `c` (60 s) waits at `ada` for `fb`, which nobody has until `bob` is back. Another task (20 s) is ready at 50: `ada` is free, and runs it from 51 to
/// 71. Behind `c` it would be there until 80, and so it would go to `cyd`, which is a little slower, until 73.
#[test]
fn who_waits_for_files_that_cannot_come_holds_nobody_up() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("chain.json"), TASKS).unwrap();
    fs::write(folder.path().join("late.json"), ONE.replace("\"fx\"], \"output", "], \"output")).unwrap();
    let cyd = "[[site]]\nname = \"cyd\"\nmachines = [{ class = \"node\", count = 1, speed = 0.9 }]\npolicy = \"fcfs\"\n";
    let late = "[[workload]]\nworkflow = \"late.json\"\nengine_delay = \"50 s\"\n";
    let text = CHAIN.replace("[network]", &format!("{cyd}[network]")) + late;
    let (file, out) = (folder.path().join("late.toml"), folder.path().join("out"));
    fs::write(&file, text).unwrap();
    gridemu(&["run", file.to_str().unwrap(), "--set", "workflow.lost=copy", "--out", out.to_str().unwrap()])
        .well();
    let all = rows(&out, "tasks.csv");
    let last = all.iter().find(|row| row.starts_with("1,")).unwrap();
    assert_eq!(last, "1,a,a,1000000001,ada,node,,0,50,50,51,51,51,71,72,completed,1,20,0,52,0,0");
    gridemu(&["validate", out.to_str().unwrap()]).well();
}

/// A task `a` of 20 s that reads a file of 10 MB.
const ONE: &str = r#"{"name": "one", "schemaVersion": "1.5", "workflow": {
    "specification": {"tasks": [{"name": "a", "id": "a", "children": [], "parents": [], "inputFiles": ["fx"], "outputFiles": []}],
        "files": [{"id": "fx", "sizeInBytes": 10000000}]},
    "execution": {"makespanInSeconds": 9, "executedAt": "2024-01-01T00:00:00Z",
        "tasks": [{"id": "a", "runtimeInSeconds": 20}], "machines": []}}}"#;

/// By hand. A planner has the file of `a` (10 MB) brought from 0 on, but the only site leaves at 5. At 101 the broker knows that it is back: what was planned is
/// dropped for 96 s, in which `a` waits for a decision.
#[test]
fn who_was_planned_and_is_no_more_waits_for_a_decision() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("chain.json"), ONE).unwrap();
    let (ada, rest) = CHAIN.split_once("[[site]]\nname = \"bob\"").unwrap();
    let rest = rest.split_once("[network]").unwrap().1;
    let text = format!("{ada}[network]{rest}").replace("\"bob\"", "\"ada\"").replace("\"40 s\"", "\"5 s\"");
    let text = text.replace("\"30 min\"", "\"100 s\"").replace("\"mct\"", "\"heft\"");
    let (file, out) = (folder.path().join("one.toml"), folder.path().join("out"));
    fs::write(&file, text).unwrap();
    gridemu(&["run", file.to_str().unwrap(), "--out", out.to_str().unwrap()]).well();
    assert_eq!(
        rows(&out, "tasks.csv"),
        ["0,a,a,1,ada,node,,0,101,112,113,113,113,133,134,completed,1,20,11,103,0,0"]
    );
}

/// The tables tell of the last time that a task ran, and other commands know.
#[test]
fn who_reads_the_tables_knows_of_tasks_that_ran_again() {
    let (_folder, runs) = chain(&[("again", &[]), ("copy", &["workflow.lost=copy"])]);
    let [again, copy] = [runs[0].to_str().unwrap(), runs[1].to_str().unwrap()];
    let told = gridemu(&["explain", again, "--task", "b"]);
    let text = told.well().out.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in ["completed at 104 s", "it is task `b`", "lost 51 s"] {
        assert!(text.contains(said), "no `{said}` in {}", told.out);
    }
    assert!(!told.out.contains("note:"), "{}", told.out);
    let told = gridemu(&["explain", again, "--task", "b", "--at", "35"]);
    assert!(told.well().out.contains("completed") || told.out.contains("ended"), "{}", told.out);
    gridemu(&["compare", again, copy]).well();
    let exported = gridemu(&["export", again, "--workflow", "0"]).json();
    let ran = exported["workflow"]["execution"]["tasks"].as_array().unwrap();
    assert!(
        ran.iter().any(|task| task["id"] == "b" && task["runtimeInSeconds"].as_f64() == Some(40.0)),
        "{ran:?}"
    );

    // Without the event that says so, a task has one row, and so has its job.
    let path = runs[0].join("events.csv");
    let text = fs::read_to_string(&path).unwrap();
    let kept: Vec<&str> =
        text.lines().filter(|line| !line.contains("41,repeated,site-left,grid,,,1,1,")).collect();
    fs::write(&path, kept.join("\n") + "\n").unwrap();
    gridemu(&["validate", again]).ends(1, &["not valid"]);
    let said = gridemu(&["validate", again, "--json"]).out;
    for part in ["job 1 runs from 42 s to 62 s, after its end", "job 1 has a second row"] {
        assert!(said.contains(part), "no `{part}` in {said}");
    }
    fs::write(&path, text).unwrap();
    gridemu(&["validate", again]).well();
    // `c` began when `b` had run again, not before.
    damage(&runs[0], "tasks.csv", "0,c,", "ready", "34");
    let said = gridemu(&["validate", again, "--json"]).out;
    assert!(
        said.contains("all that it waits for has completed at 34 s") || said.contains("`ready` of task `c`"),
        "{said}"
    );
}

/// At 60 s, `c` waits at `ada` for `fb`, which lies at `bob` alone. If `bob` never comes back, the run says so, and what is done is in its files.
#[test]
fn who_waits_for_a_site_that_has_left_is_told() {
    let (folder, runs) = chain(&[("copy", &["workflow.lost=copy"])]);
    let told = gridemu(&["explain", runs[0].to_str().unwrap(), "--task", "c", "--at", "60"]);
    let text = told.well().out.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = "it waits for files at ada: `fb`; file `fb` is only at `bob`, which has left";
    assert!(text.contains(said), "{}", told.out);
    let file = folder.path().join("never.toml");
    let (leave, back) = CHAIN.split_once("[[event]]\nat = \"30 min\"").unwrap();
    fs::write(&file, format!("{leave}{}", back.split_once("\"bob\"\n").unwrap().1)).unwrap();
    let out = folder.path().join("never");
    let run =
        |lost: &str| gridemu(&["run", file.to_str().unwrap(), "--set", lost, "--out", out.to_str().unwrap()]);
    run("workflow.lost=wait").ends(
        1,
        &[
            "1 job is left: job 3 waits at the broker for 1 processor and for data: file `fb` is only at `bob`, which has left",
            "2 jobs had ended by then",
        ],
    );
    assert_eq!(rows(&out, "tasks.csv").len(), 3);
    // What there is can be judged and explained.
    gridemu(&["validate", out.to_str().unwrap()]).well();
    let told = gridemu(&["explain", out.to_str().unwrap(), "--task", "c", "--at", "60"]);
    assert!(told.well().out.contains("`bob`, which has left"), "{}", told.out);
    // So it is with snapshots, and when the run is resumed.
    let (kept, store) = (folder.path().join("kept"), folder.path().join("store"));
    let [kept_at, store_at] = [&kept, &store].map(|path| path.to_str().unwrap());
    let told = ["stuck at", "2 jobs had ended by then"];
    let set = ["--set", "workflow.lost=wait"];
    let more = ["--out", kept_at, "--checkpoint", store_at, "--checkpoint-every", "30 s"];
    gridemu(&[&["run", file.to_str().unwrap()], &set[..], &more].concat()).ends(1, &told);
    let summary = || fs::read_to_string(kept.join("summary.json")).unwrap();
    let fingerprint =
        |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap()["fingerprint"].clone();
    let before = fingerprint(&summary());
    assert_eq!(before, fingerprint(&fs::read_to_string(out.join("summary.json")).unwrap()));
    gridemu(&["validate", kept_at]).well();
    gridemu(&["resume", store_at]).ends(1, &told);
    assert_eq!(before, fingerprint(&summary()));
    fs::remove_dir_all(&out).unwrap();
    run("workflow.lost=again").well();
}

/// Results of 100 MB from `bob`, where alone the tasks fit, go to `ada`, who would have space for one.
#[test]
fn results_wait_for_no_space() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("run.toml"), folder.path().join("out"));
    let scenario = r#"
[[site]]
name = "ada"
machines = [{ class = "node", count = 1 }]
policy = "fcfs"
storage = { capacity = "150 MB" }
[[site]]
name = "bob"
machines = [{ class = "node", count = 2 }]
policy = "fcfs"
[broker]
policy = "mct"
[workflow]
files = "ada"
[[workload]]
workflow = "w.json"
count = 2
every = "1 min"
"#;
    let workflow = r#"{"name": "one", "schemaVersion": "1.5", "workflow": {
        "specification": {"tasks": [
            {"name": "a", "id": "a", "children": [], "parents": [], "inputFiles": [], "outputFiles": ["f"]}],
            "files": [{"id": "f", "sizeInBytes": 100000000}]},
        "execution": {"makespanInSeconds": 9, "executedAt": "2024-01-01T00:00:00Z", "machines": [], "tasks": [
            {"id": "a", "runtimeInSeconds": 5, "coreCount": 2}]}}}"#;
    fs::write(&file, scenario).unwrap();
    fs::write(folder.path().join("w.json"), workflow).unwrap();
    gridemu(&["run", file.to_str().unwrap(), "--out", out.to_str().unwrap()]).well();
    legal(&out);
    assert!(
        rows(&out, "transfers.csv")[1].starts_with("1,f,100000000,bob,ada,2,65,65,"),
        "{:?}",
        rows(&out, "transfers.csv")
    );
}

/// A grid whose sites leave and come back, and what is submitted to it.
#[derive(Clone, Debug)]
struct Case {
    lost: LostData,
    policy: &'static str,
    transfer: TransferMode,
    files: u32,
    monitoring: u64,
    backoff: u64,
    /// Seconds for each plan.
    planning: u64,
    latencies: Vec<u64>,
    /// Of each site, when it leaves and comes back, in turn, in seconds from one to the next.
    churn: Vec<Vec<u64>>,
    capacity: Option<u64>,
    submitted: Vec<(u64, WorkflowSpec)>,
}

const SITES: usize = 3;

fn case() -> impl Strategy<Value = Case> {
    let settings = (
        select(vec![LostData::Wait, LostData::Copy, LostData::Again]),
        select(vec!["mct", "min-min", "heft", "round-robin", "least-loaded"]),
        select(vec![TransferMode::Eager, TransferMode::Lazy]),
        0..=SITES as u32,
        (select(vec![0_u64, 7, 60]), select(vec![0_u64, 5, 300]), select(vec![0_u64, 0, 4])),
    );
    let latencies = prop::collection::vec(select(vec![0_u64, 1, 20]), SITES);
    // Only if each site comes back in the end, nothing waits for ever.
    let churn = prop::collection::vec(prop::collection::vec(1_u64..60, 0..8), SITES);
    // Beyond what the files of any one task take.
    let capacity = prop_oneof![3 => Just(None), 1 => (0_u64..1_500_000).prop_map(Some)];
    (settings, latencies, churn, capacity, submissions()).prop_map(
        |((lost, policy, transfer, files, times), latencies, churn, capacity, submitted)| {
            let (monitoring, backoff, planning) = times;
            let capacity = capacity.map(|more| most_space(&submitted) + more);
            Case {
                lost,
                policy,
                transfer,
                files,
                monitoring,
                backoff,
                planning,
                latencies,
                churn,
                capacity,
                submitted,
            }
        },
    )
}

/// The most that the files of any one task take.
fn most_space(submitted: &[(u64, WorkflowSpec)]) -> u64 {
    let space = |spec: &WorkflowSpec| -> u64 {
        let files =
            |files: &[u32]| files.iter().map(|file| spec.files[*file as usize].size.count()).sum::<u64>();
        spec.tasks.iter().map(|task| files(&task.inputs) + files(&task.outputs)).max().unwrap_or(0)
    };
    submitted.iter().map(|(_, spec)| space(spec)).max().unwrap_or(0)
}

impl Case {
    fn spec(&self) -> GridSpec {
        let site = |at: usize| {
            let mut site = SiteSpec::plain(&format!("site-{at}"), 2, "fcfs".parse().expect("a policy"));
            site.partitions[0].groups[0].speed = Rate::from_units((1 + at as u64) << 20);
            let mut time = 0;
            for (nth, gap) in self.churn[at].iter().enumerate() {
                time += gap;
                let act = if nth % 2 == 0 { ChurnAct::LeaveSite } else { ChurnAct::JoinSite };
                site.churn.script.push(PlannedChurn { at: Time::from_secs(time), act });
            }
            site.churn.on_failure = FailureAction::Resubmit;
            site
        };
        let mut network = NetworkSpec::uniform(Link::default());
        for (at, latency) in self.latencies.iter().enumerate() {
            for other in 0..=at {
                let bandwidth = Some(Bandwidth::from_bits(100_000 * (1 + other as u64)));
                network.set(other, at + 1, Link { latency: Span::from_secs(*latency), bandwidth });
            }
        }
        if let Some(capacity) = self.capacity {
            network.storages =
                vec![StorageSpec { bandwidth: None, capacity: Some(Bytes::new(capacity)) }; SITES + 1];
            network.storages[0].capacity = None;
        }
        let broker = BrokerSpec::new(self.policy.parse().expect("a broker policy"));
        let workflow = WorkflowSettings {
            transfer: self.transfer,
            files: self.files,
            lost: self.lost,
            ..WorkflowSettings::default()
        };
        let monitoring_interval = Span::from_secs(self.monitoring);
        GridSpec {
            seed: 1,
            sites: (0..SITES).map(site).collect(),
            network,
            broker: Some(BrokerSpec {
                monitoring_interval,
                retries: 100,
                backoff: Span::from_secs(self.backoff),
                planning: PlanningTime { base: Span::from_secs(self.planning), per_task: Span::ZERO },
                workflow,
                ..broker
            }),
        }
    }

    fn grid(&self) -> Grid {
        self.grid_of(&self.spec())
    }

    fn grid_of(&self, spec: &GridSpec) -> Grid {
        let given =
            self.submitted.iter().map(|(at, workflow)| (Time::from_micros(*at), workflow.clone())).collect();
        let source = WorkflowSource::given("test", given, 1, "portal");
        Grid::build(spec, Vec::new(), Some(Box::new(source)), &Policies::standard()).expect("a grid")
    }

    /// Whether all sites come back for good, and take every file.
    fn heals(&self) -> bool {
        self.capacity.is_none() && self.churn.iter().all(|churn| churn.len() % 2 == 0)
    }
}

/// The times of each task's rows are in order, and the parts of each workflow sum to its makespan.
fn sound(records: &[Record]) -> Result<(), TestCaseError> {
    for task in tasks(records).iter().filter(|task| task.outcome != Outcome::Unfinished) {
        let marks = [task.ready, task.decided, task.sent, task.queued, task.start, task.last_start];
        let ends = [Some(task.end), Some(task.known)];
        prop_assert!(marks.iter().chain(&ends).flatten().is_sorted(), "{task:?}");
        if let (Some(parts), Some(ready)) = (task.parts(), task.ready) {
            prop_assert_eq!(parts.total(), task.known.since(ready));
        }
    }
    for whole in workflows(records).iter().filter(|whole| whole.outcome == Outcome::Completed) {
        prop_assert_eq!(whole.parts.map(|parts| parts.total()), Some(whole.makespan()), "{:?}", whole);
        prop_assert_eq!(whole.completed, whole.tasks);
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn workflows_complete_whatever_sites_take_along(case in case()) {
        let mut records = Vec::new();
        let ended = case.grid().run(&mut records);
        sound(&records)?;
        match ended {
            Ok(_) => {
                let open = workflows(&records).iter().filter(|whole| whole.outcome == Outcome::Unfinished).count();
                prop_assert_eq!(open, 0);
                let completed = workflows(&records).iter().all(|whole| whole.outcome == Outcome::Completed);
                prop_assert!(completed);
            }
            Err(GridError::Stuck { .. }) => prop_assert!(!case.heals(), "stuck, though all sites came back"),
            Err(error) => prop_assert!(false, "{error}"),
        }
        let verdict = judged(&Registry::standard(), &case.spec().sites, true, &records);
        prop_assert!(verdict.is_valid(), "{:#?}", verdict.broken);
        let repeated = |record: &&Record| matches!(record, Record::Event(event) if event.kind == EventKind::Repeated);
        prop_assert!(case.lost == LostData::Again || !records.iter().any(|record| repeated(&record)));
    }

    #[test]
    fn a_run_with_lost_data_goes_on_from_a_snapshot(case in case(), cut in 0_usize..400) {
        let (mut whole, mut parts) = (Vec::new(), Vec::new());
        let mut grid = case.grid();
        // A run that is stuck has no last moment.
        let step = |grid: &mut Grid, records: &mut Vec<Record>| {
            grid.now() < Time::from_secs(5_000) && grid.step(records).is_ok_and(|step| step.is_some())
        };
        while step(&mut grid, &mut whole) {}
        let mut first = case.grid();
        for _ in 0..cut {
            step(&mut first, &mut parts);
        }
        let saved = first.snapshot().expect("a state");
        let mut second = case.grid();
        second.restore(through_bytes(&saved), false).expect("it fits");
        prop_assert_eq!(&second.snapshot().expect("a state"), &saved);
        while step(&mut second, &mut parts) {}
        prop_assert_eq!(parts, whole);
    }
}

proptest! {
    #![proptest_config(cases(150))]

    /// A fork under another table `[workflow]`, or with other storages, goes on; what it then loses is handled as the new table says.
    #[test]
    fn a_fork_goes_on_under_another_table(
        case in case(), cut in 0_usize..300, lost in select(vec![LostData::Wait, LostData::Copy, LostData::Again]),
        transfer in select(vec![TransferMode::Eager, TransferMode::Lazy]),
        order in select(vec![TaskOrder::Policy, TaskOrder::CriticalPath]), space in 0_usize..3,
    ) {
        let mut records = Vec::new();
        let mut first = case.grid();
        for _ in 0..cut {
            if first.now() > Time::from_secs(3_000) || !first.step(&mut records).is_ok_and(|step| step.is_some()) {
                break;
            }
        }
        let saved = first.snapshot().expect("a state");
        let least = most_space(&case.submitted);
        let capacity = [case.capacity, None, Some(least)][space];
        let other = Case { lost, transfer, capacity, ..case.clone() };
        let mut spec = other.spec();
        spec.broker.as_mut().expect("a broker").workflow.order = order;
        let mut fork = other.grid_of(&spec);
        fork.restore(through_bytes(&saved), true).expect("it fits");
        let ended = fork.run(&mut records);
        sound(&records)?;
        match ended {
            Ok(_) => {
                let completed = workflows(&records).iter().all(|whole| whole.outcome == Outcome::Completed);
                prop_assert!(completed);
            }
            Err(GridError::Stuck { .. }) => prop_assert!(!other.heals(), "stuck, though all sites came back"),
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}

/// By hand: `lost = "copy"` until 60 s, when `c` waits at `ada` for `fb`, and `fx` is there. From then on `"again"`: `a` runs at `ada` from 61 to 81, `b` from 83 to
/// 123, and `c` from 125 to 185.
#[test]
fn a_fork_computes_again_what_was_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("chain.json"), TASKS).unwrap();
    let file = folder.path().join("chain.toml");
    fs::write(&file, CHAIN).unwrap();
    let [store, out, fork] =
        ["store", "out", "fork"].map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    let run = [
        "run",
        file.to_str().unwrap(),
        "--set",
        "workflow.lost=copy",
        "--out",
        &out,
        "--checkpoint",
        &store,
        "--checkpoint-keep-at",
        "60 s",
    ];
    gridemu(&run).well();
    gridemu(&["fork", &store, "--at", "60 s", "--set", "workflow.lost=again", "--out", &fork]).well();
    let fork = Path::new(&fork).join("changed");
    let last = rows(&fork, "tasks.csv").pop().unwrap();
    assert!(
        last.starts_with("0,c,c,3,ada,node,2,124,124,124,125,125,125,185,186,completed,1,60,0,2,0,0"),
        "{last}"
    );
    legal(&fork);
}

/// Tasks hardly ever wait for the space of each other for ever: not where storages hold the files of two tasks, and of less in one run of a hundred.
#[test]
fn small_storages_stop_few_runs() {
    let mut runner = TestRunner::deterministic();
    let mut stuck = [0, 0];
    for _ in 0..300 {
        let mut case = case().new_tree(&mut runner).expect("a case").current();
        case.churn = vec![Vec::new(); SITES];
        for (quarters, stuck) in [5, 8].into_iter().zip(&mut stuck) {
            case.capacity = Some(most_space(&case.submitted) * quarters / 4);
            match case.grid().run(&mut Vec::<Record>::new()) {
                Err(GridError::Stuck { .. }) => *stuck += 1,
                Err(error) => panic!("{error}"),
                Ok(_) => {}
            }
        }
    }
    assert!(stuck[0] <= 3 && stuck[1] == 0, "{stuck:?}");
}
