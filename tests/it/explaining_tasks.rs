//! `gridemu explain --task`: which tasks a task of a workflow waited for.

use std::fs;

use crate::cli::gridemu;
use crate::validating_files::FILES;
use crate::validating_workflows::ran;

#[test]
fn a_task_is_told_with_those_that_it_waited_for() {
    let folder = ran();
    let out = folder.path().join("out");
    let explain = |more: &[&str]| gridemu(&[&["explain", out.to_str().unwrap()], more].concat());
    let told = |more: &[&str], says: &[&str]| {
        let ran = explain(more);
        ran.well();
        let text = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
        for said in says {
            assert!(text.contains(said), "no `{said}` in\n{}", ran.out);
        }
    };
    told(
        &["--task", "join_00000005", "--workflow", "0"],
        &[
            "job 5: requests 1 processor, submitted at 205 s, started at 207 s after 2 s, completed at 307 s",
            "it is task `join_00000005`, of type `join`, of workflow 0,",
            "of the tasks that it waits for, `work_00000004` (job 4), completed at bob at 204 s (known to the broker at 205 s), was the last: \
             it was ready at 205 s, 205 s after its workflow was submitted; its time from then on: run 100 s, data 1 s, dispatch 2 s",
        ],
    );
    told(&["--job", "1"], &["it is task `fork_00000001`", "it waits for no other task"]);
    told(
        &["--task", "join_00000005", "--at", "150"],
        &[
            "at 150 s it waits for 3 tasks: - `work_00000002` (job 2), until 204 s - `work_00000003`",
            "at 150 s, at the broker",
        ],
    );
    told(
        &["--task", "c"],
        &[
            "it never was ready; it waits for 1 task that did not complete: - `b` (job 1000000002), failed at ada at",
        ],
    );
    let json: serde_json::Value =
        serde_json::from_str(&explain(&["--task", "join_00000005", "--json"]).out).unwrap();
    assert_eq!(
        (&json["task"]["after"]["task"], &json["task"]["ready_s"]),
        (&"work_00000004".into(), &205.0.into())
    );
    explain(&["--task", "join_5"]).ends(2, &["there is no task `join_5` in", "did you mean"]);
    explain(&["--task", "a", "--workflow", "7"]).ends(2, &["has no workflow 7"]);
    explain(&["--task", "a", "--job", "7"]).ends(2, &["cannot be used with"]);
    explain(&[]).ends(2, &["--job"]);
}

/// Two tasks of one type, which are believed to take 100 s each, take 10 s and 190 s. `s` is planned for 100 s, and `y` behind it, though it is
/// ready at 10 s.
#[test]
fn a_task_that_waits_for_its_turn_in_a_plan_is_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let workflow = r#"{"name": "turn", "schemaVersion": "1.5", "workflow": {
        "specification": {"tasks": [
            {"name": "p", "id": "p1", "children": ["y"], "parents": [], "inputFiles": [], "outputFiles": []},
            {"name": "p", "id": "p2", "children": ["s"], "parents": [], "inputFiles": [], "outputFiles": []},
            {"name": "s", "id": "s", "children": [], "parents": ["p2"], "inputFiles": [], "outputFiles": []},
            {"name": "y", "id": "y", "children": [], "parents": ["p1"], "inputFiles": [], "outputFiles": []}], "files": []},
        "execution": {"makespanInSeconds": 9, "executedAt": "2024-01-01T00:00:00Z", "tasks": [
            {"id": "p1", "runtimeInSeconds": 10}, {"id": "p2", "runtimeInSeconds": 190},
            {"id": "s", "runtimeInSeconds": 50}, {"id": "y", "runtimeInSeconds": 40}], "machines": []}}}"#;
    let scenario = r#"
[[site]]
name  = "ada"
machines = [{ class = "node", count = 1, cores = 2 }]
policy = "fcfs"
[broker]
policy = "heft"
[workflow]
estimates = "type-mean"
[[workload]]
workflow = "turn.json"
"#;
    fs::write(folder.path().join("turn.json"), workflow).unwrap();
    told_of(&folder, scenario, "y", "it is planned for ada, and waits for its turn in the plan behind `s`");
}

/// Four tasks that begin at once on two sites of one processor: the third is planned behind the first, from 101 s on. What the broker expects of it is that plan, not a
/// site where nothing is.
#[test]
fn what_a_mapper_expects_is_its_plan() {
    let folder = tempfile::tempdir().unwrap();
    for policy in ["min-min", "max-min"] {
        let scenario = format!(
            "site = [{{ name = 'ada', machines = [{{ class = 'node' }}], policy = 'fcfs' }}, \
             {{ name = 'bob', machines = [{{ class = 'node' }}], policy = 'fcfs' }}]\n\
             network = {{ latency = '1 s' }}\nbroker = {{ policy = '{policy}' }}\n\
             [[workload]]\nworkflow = 'fork-join[tasks=6,runtime=100 s,data=0 B]'\n"
        );
        let says = "the broker assigned it to ada (earliest completion); it expected - ada: expected start";
        let text = told_of(&folder, &scenario, "work_00000004", says);
        let (_, expected) = text.split_once(says).expect("it says so");
        assert!(expected.contains("completion") && !expected.contains("bob: expected"), "{text}");
    }
}

/// The third and the fourth of four tasks run at the other site, 11 s away by link and latency.
#[test]
fn a_task_that_waits_for_files_is_told_which() {
    let folder = tempfile::tempdir().unwrap();
    told_of(&folder, FILES, "work_00000004", "it waits for files at bob: `fork_00000001.out`");
    let planned = FILES.replace("mct", "heft");
    told_of(&folder, &planned, "work_00000004", "it waits for files at bob: `fork_00000001.out`");
}

/// The workflow engine takes 5 s to make a job of a task, be it the first or one after it.
#[test]
fn a_task_of_which_a_job_is_made_waits_for_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let delayed = format!("{FILES}engine_delay = '5 s'\n");
    let engine = "the workflow engine makes a job of it (`engine_delay`)";
    for task in ["fork_00000001", "work_00000002"] {
        let told = told_of(&folder, &delayed, task, engine);
        assert!(!told.contains("have not completed"), "{told}");
    }
}

/// What `gridemu explain` says of a task of a run of this scenario.
#[track_caller]
fn told_of(folder: &tempfile::TempDir, scenario: &str, task: &str, says: &str) -> String {
    let (file, out) = (folder.path().join("run.toml"), folder.path().join("out"));
    fs::write(&file, scenario).unwrap();
    let _ = fs::remove_dir_all(&out);
    let out = out.to_str().unwrap();
    gridemu(&["run", file.to_str().unwrap(), "--out", out]).well();
    let ran = gridemu(&["explain", out, "--task", task]);
    ran.well();
    let text = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(says), "no `{says}` in\n{}", ran.out);
    text
}

/// A task: its name, its run time, those before it, and what it reads and writes.
type Drawn = (&'static str, u32, &'static [&'static str], &'static [&'static str], &'static [&'static str]);

/// A workflow of these tasks, with their types in lower case and files of 1 MB.
fn drawn(tasks: &[Drawn]) -> String {
    let specified = tasks.iter().map(|(id, _, parents, reads, writes)| {
        let children: Vec<&str> =
            tasks.iter().filter(|task| task.2.contains(id)).map(|task| task.0).collect();
        serde_json::json!({
            "name": id.to_lowercase(), "id": id, "parents": parents, "children": children,
            "inputFiles": reads, "outputFiles": writes
        })
    });
    let ran =
        tasks.iter().map(|(id, runtime, ..)| serde_json::json!({ "id": id, "runtimeInSeconds": runtime }));
    let files: std::collections::BTreeSet<&str> =
        tasks.iter().flat_map(|task| task.3.iter().chain(task.4)).copied().collect();
    let files = files.iter().map(|file| serde_json::json!({ "id": file, "sizeInBytes": 1_000_000 }));
    serde_json::json!({
        "name": "drawn", "schemaVersion": "1.5", "workflow": {
            "specification": { "tasks": specified.collect::<Vec<_>>(), "files": files.collect::<Vec<_>>() },
            "execution": { "makespanInSeconds": 0, "executedAt": "2024-01-01T00:00:00Z", "tasks": ran.collect::<Vec<_>>(), "machines": [] }
        }
    })
    .to_string()
}

/// `B` (20 s) and `C` (30 s) are one job of two processors, after `A` (10 s). `E` waits for that job because of `B`, though `C` ends later.
#[test]
fn a_task_of_a_group_is_told_with_its_own_times() {
    let folder = tempfile::tempdir().unwrap();
    let tasks: &[Drawn] = &[
        ("A", 10, &[], &[], &[]),
        ("B", 20, &["A"], &[], &[]),
        ("C", 30, &["A"], &[], &[]),
        ("E", 5, &["B"], &[], &[]),
    ];
    fs::write(folder.path().join("drawn.json"), drawn(tasks)).unwrap();
    let scenario = r#"
[[site]]
name = "ada"
machines = [{ class = "node", count = 1, cores = 2 }]
[broker]
monitoring_interval = "0 s"
[[workload]]
workflow = "drawn.json"
group = "level"
"#;
    told_of(&folder, scenario, "B", "it is task `B`, of type `b`, of workflow 0, `drawn`");
    let out = folder.path().join("out");
    let explain = |task: &str| gridemu(&["explain", out.to_str().unwrap(), "--task", task, "--json"]).json();
    let of = |task: &str| {
        let told = explain(task)["task"].clone();
        assert_eq!(told["task"], task);
        let parts = told["parts"].as_array().unwrap().iter();
        let parts = parts.map(|part| (part[0].as_str().unwrap().to_owned(), part[1].as_f64().unwrap()));
        (told["together"].as_u64(), parts.filter(|(_, long)| *long > 0.0).collect::<Vec<_>>())
    };
    let part = |name: &str, long: f64| (name.to_owned(), long);
    assert_eq!(of("B"), (Some(2), vec![part("run", 20.0), part("dispatch", 10.0)]));
    assert_eq!(of("C"), (Some(2), vec![part("run", 30.0)]));
    assert_eq!(of("E"), (Some(1), vec![part("run", 5.0)]));
    assert_eq!(explain("E")["task"]["after"]["task"], "B");
    assert_eq!(explain("B")["task"]["after"]["task"], "A");
}

/// `A` (100 s) writes what `B` (100 s) reads. Both go to `ada`, who leaves at 150 s, so that the attempt of `B` fails, and `A`, which completed at 100 s,
/// runs again, at `bob`.
#[test]
fn an_attempt_that_completed_did_not_fail() {
    let folder = tempfile::tempdir().unwrap();
    let tasks: &[Drawn] = &[("A", 100, &[], &[], &["x"]), ("B", 100, &["A"], &["x"], &[])];
    fs::write(folder.path().join("drawn.json"), drawn(tasks)).unwrap();
    let store = folder.path().join("store");
    let scenario = r#"
[[site]]
name = "ada"
machines = [{ class = "node", count = 1, cores = 2, speed = 2.0 }]
[[site]]
name = "bob"
machines = [{ class = "node", count = 1, cores = 2 }]
[network]
latency = "0 s"
[broker]
monitoring_interval = "0 s"
[churn]
on_failure = "resubmit"
[checkpoint]
store = "STORE"
keep_at = ["20 s"]
[workflow]
lost = "again"
[[event]]
at = "75 s"
leave = "ada"
[[workload]]
workflow = "drawn.json"
count = 2
"#;
    let scenario = scenario.replace("STORE", store.to_str().unwrap());
    let out = folder.path().join("out");
    fs::write(folder.path().join("run.toml"), &scenario).unwrap();
    let run = folder.path().join("run.toml");
    gridemu(&["run", run.to_str().unwrap(), "--out", out.to_str().unwrap()]).well();
    let explain = |more: &[&str]| gridemu(&[&["explain", out.to_str().unwrap(), "--task"], more].concat());
    explain(&["A"]).ends(2, &["2 workflows in", "have a task `A`: `0`, `1`"]);
    let told = explain(&["A", "--workflow", "0", "--json"]).json();
    let attempts = told["attempts"].as_array().unwrap();
    let ended: Vec<&str> = attempts.iter().map(|attempt| attempt["ended"].as_str().unwrap()).collect();
    assert_eq!(ended, ["completed", "completed"]);
    // It ran at `ada` until 50 s. At 85 s, after its rest, `B` is back with the broker, which lets `A` run again at once.
    let second = &attempts[1];
    assert_eq!((&second["start_s"], &second["waited_s"]), (&85.0.into(), &0.0.into()));
    let page = folder.path().join("run.html");
    gridemu(&["report", out.to_str().unwrap(), "--out", page.to_str().unwrap()]).well();
    let page = fs::read_to_string(&page).unwrap();
    assert!(page.contains("In the whole run 2 attempts failed and were followed by another"));

    // What a fork changed was not so from the beginning.
    let forked = folder.path().join("forked");
    let fork = ["fork", store.to_str().unwrap(), "--at", "20 s", "--set", "workflow.lost=copy"];
    // The future without `ada` is stuck, and leaves its folder.
    let _ = gridemu(&[&fork[..], &["--out", forked.to_str().unwrap()]].concat());
    let changed = forked.join("changed");
    gridemu(&["explain", changed.to_str().unwrap(), "--task", "A", "--workflow", "0"])
        .ends(2, &["is a fork", "run scenario.toml from its beginning"]);
}
