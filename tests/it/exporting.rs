//! `gridemu export`: a workflow of a run as WfFormat.

use std::fs;

use crate::cli::gridemu;
use crate::validating_workflows::ran;

/// The fork-join of `validating_workflows`: each task runs 100 s, the first from 1 s on, on a machine of two cores.
#[test]
fn a_workflow_that_ran_is_written_and_read_again() {
    let folder = ran();
    let out = folder.path().join("out");
    let export = |more: &[&str]| gridemu(&[&["export", out.to_str().unwrap()], more].concat());
    let written = export(&["--workflow", "0"]);
    written.well();
    let json: serde_json::Value = serde_json::from_str(&written.out).unwrap();
    let execution = &json["workflow"]["execution"];
    assert_eq!((&json["schemaVersion"], &execution["makespanInSeconds"]), (&"1.5".into(), &308.0.into()));
    assert_eq!(execution["executedAt"], "1970-01-01T00:00:00Z");
    let first = &execution["tasks"][0];
    assert_eq!(
        (&first["id"], &first["executedAt"]),
        (&"fork_00000001".into(), &"1970-01-01T00:00:01Z".into())
    );
    assert_eq!((&first["runtimeInSeconds"], &first["machines"][0]), (&100.0.into(), &"ada-node-0".into()));
    assert_eq!(execution["tasks"][4]["executedAt"], "1970-01-01T00:03:27Z");
    assert_eq!(
        execution["machines"],
        serde_json::json!([
            { "nodeName": "ada-node-0", "cpu": { "coreCount": 2 } },
            { "nodeName": "bob-node-0", "cpu": { "coreCount": 2 } },
        ])
    );
    // Our own reader takes it for a workflow of five tasks of 100 s.
    let file = folder.path().join("again.json");
    for option in ["-o", "--out"] {
        export(&["--workflow", "0", option, file.to_str().unwrap()]).well();
        assert_eq!(fs::read_to_string(&file).unwrap(), written.out);
        fs::write(&file, "").unwrap();
    }
    export(&["--workflow", "0", "--output", file.to_str().unwrap()]).well();
    let read = gridemu(&["inspect", file.to_str().unwrap(), "--json"]);
    read.well();
    let read: serde_json::Value = serde_json::from_str(&read.out).unwrap();
    assert_eq!((&read["tasks"], &read["edges"], &read["runtime_s"]), (&5.into(), &6.into(), &500.0.into()));
    export(&[]).ends(2, &["had 2 workflows", "select one with `--workflow N`"]);
    export(&["--workflow", "2"]).ends(2, &["had no workflow 2", "numbers from 0 to 1"]);
    export(&["--workflow", "1"]).ends(2, &["workflow 1 of the run in", "did not complete: `b`, `c`"]);
}

/// Two tasks of 10 s, each a job that holds a processor of twice the speed for 3 s before: 8 s. What is written is 5 s, from 3 s and from
/// 11 s on; and with one group for both, from 3 s and from 8 s on.
#[test]
fn an_overhead_takes_as_long_on_a_fast_machine_and_is_no_run_time() {
    for (group, began, makespan) in [("none", [3, 11], 16.0), ("vertical", [3, 8], 13.0)] {
        let folder = tempfile::tempdir().unwrap();
        let scenario = format!(
            r#"
[[site]]
name = "ada"
machines = [{{ class = "node", count = 1, speed = 2.0, busy = "40 W" }}]
[broker]
monitoring_interval = "0 s"
[[workload]]
workflow = "pipeline[tasks=2,runtime=10 s,data=0 B]"
group = "{group}"
job_overhead = "3 s"
"#
        );
        let (file, out) = (folder.path().join("run.toml"), folder.path().join("out"));
        fs::write(&file, scenario).unwrap();
        let (file, out) = (file.to_str().unwrap(), out.to_str().unwrap());
        gridemu(&["run", file, "--out", out]).well();
        gridemu(&["validate", out]).well();
        let written = gridemu(&["export", out]);
        written.well();
        let json: serde_json::Value = serde_json::from_str(&written.out).unwrap();
        let execution = &json["workflow"]["execution"];
        assert_eq!(execution["makespanInSeconds"], serde_json::json!(makespan), "{group}");
        for (task, began) in execution["tasks"].as_array().unwrap().iter().zip(began) {
            assert_eq!(task["runtimeInSeconds"], serde_json::json!(5.0), "{group}");
            assert_eq!(task["executedAt"], format!("1970-01-01T00:00:{began:02}Z"), "{group}");
            // The energy is that of the overhead, too, and the core draws no more than it can.
            assert_eq!(task["avgPowerInW"], serde_json::json!(40.0), "{group}");
        }
    }
}

/// Three tasks of 100 s each are one job of 300 s on a core of 36 W: each has its own time and a third of 0.003 kWh.
#[test]
fn the_tasks_of_a_group_are_written_with_their_own_times() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = r#"
[[site]]
name = "ada"
machines = [{ class = "node", count = 1, busy = "36 W" }]
[broker]
[[workload]]
workflow = "pipeline[tasks=3,runtime=100 s]"
group = "vertical"
engine_delay = "250 ms"
"#;
    let (file, out) = (folder.path().join("run.toml"), folder.path().join("out"));
    fs::write(&file, scenario).unwrap();
    gridemu(&["run", file.to_str().unwrap(), "--out", out.to_str().unwrap()]).well();
    let written = gridemu(&["export", out.to_str().unwrap()]);
    written.well();
    let json: serde_json::Value = serde_json::from_str(&written.out).unwrap();
    let tasks = json["workflow"]["execution"]["tasks"].as_array().unwrap();
    let told = |task: &serde_json::Value| {
        assert_eq!((&task["runtimeInSeconds"], &task["energyInKWh"]), (&100.0.into(), &0.001.into()));
        task["executedAt"].as_str().unwrap().to_owned()
    };
    let began: Vec<String> = tasks.iter().map(told).collect();
    assert_eq!(
        began,
        ["1970-01-01T00:00:00.250000Z", "1970-01-01T00:01:40.250000Z", "1970-01-01T00:03:20.250000Z"]
    );
    assert_eq!(json["workflow"]["specification"]["tasks"].as_array().unwrap().len(), 3);
}

/// WfCommons takes no other signs than letters, digits, `-`, `_` and `.` in names; two names stay two. A task of run time 0 was on no machine.
#[test]
fn names_are_written_as_wfcommons_takes_them() {
    let folder = tempfile::tempdir().unwrap();
    let workflow = r#"{"name": "signs", "schemaVersion": "1.5", "workflow": {"specification": {"tasks": [
{"name": "x", "id": "a[1]", "parents": [], "children": ["b"], "inputFiles": [], "outputFiles": ["f#1", "f_1"]},
{"name": "x", "id": "b", "parents": ["a[1]"], "children": [], "inputFiles": ["f#1", "f_1"], "outputFiles": []}],
"files": [{"id": "f#1", "sizeInBytes": 10}, {"id": "f_1", "sizeInBytes": 20}]},
"execution": {"makespanInSeconds": 0, "executedAt": "2024-01-01T00:00:00Z", "tasks": [
{"id": "a[1]", "runtimeInSeconds": 10}, {"id": "b", "runtimeInSeconds": 0}], "machines": []}}}"#;
    let scenario = "[[site]]\nname = \"ada\"\nmachines = [{ class = \"node\", count = 1 }]\n[broker]\n[[workload]]\nworkflow = \"signs.json\"\n";
    fs::write(folder.path().join("signs.json"), workflow).unwrap();
    let (file, out) = (folder.path().join("run.toml"), folder.path().join("out"));
    fs::write(&file, scenario).unwrap();
    gridemu(&["run", file.to_str().unwrap(), "--out", out.to_str().unwrap()]).well();
    let written = gridemu(&["export", out.to_str().unwrap()]);
    written.well();
    assert!(written.err.contains("so in names of tasks and files: 2"), "{}", written.err);
    let json: serde_json::Value = serde_json::from_str(&written.out).unwrap();
    let specified = &json["workflow"]["specification"];
    assert_eq!(specified["tasks"][0]["id"], "a_1_");
    assert_eq!(specified["tasks"][1]["parents"], serde_json::json!(["a_1_"]));
    assert_eq!(specified["tasks"][1]["inputFiles"], serde_json::json!(["f_1_", "f_1"]));
    assert_eq!(specified["files"][0], serde_json::json!({ "id": "f_1_", "sizeInBytes": 10 }));
    let execution = &json["workflow"]["execution"];
    assert_eq!(execution["tasks"][1]["machines"], serde_json::Value::Null);
    assert_eq!(execution["machines"].as_array().unwrap().len(), 1);
}
