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
