//! `gridemu export`: a workflow of a run as WfFormat.

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
    assert_eq!((&json["schemaVersion"], &execution["makespanInSeconds"]), (&"1.5".into(), &306.0.into()));
    assert_eq!(execution["executedAt"], "1970-01-01T00:00:00Z");
    let first = &execution["tasks"][0];
    assert_eq!(
        (&first["id"], &first["executedAt"]),
        (&"fork_00000001".into(), &"1970-01-01T00:00:01Z".into())
    );
    assert_eq!((&first["runtimeInSeconds"], &first["machines"][0]), (&100.0.into(), &"ada-node-0".into()));
    assert_eq!(execution["tasks"][4]["executedAt"], "1970-01-01T00:03:25Z");
    assert_eq!(
        execution["machines"],
        serde_json::json!([
            { "nodeName": "ada-node-0", "cpu": { "coreCount": 2 } },
            { "nodeName": "bob-node-0", "cpu": { "coreCount": 2 } },
        ])
    );
    // Our own reader takes it for a workflow of five tasks of 100 s.
    let file = folder.path().join("again.json");
    export(&["--workflow", "0", "--out", file.to_str().unwrap()]).well();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), written.out);
    let read = gridemu(&["inspect", file.to_str().unwrap(), "--json"]);
    read.well();
    let read: serde_json::Value = serde_json::from_str(&read.out).unwrap();
    assert_eq!((&read["tasks"], &read["edges"], &read["runtime_s"]), (&5.into(), &6.into(), &500.0.into()));
    export(&[]).ends(2, &["had 2 workflows", "select one with `--workflow N`"]);
    export(&["--workflow", "2"]).ends(2, &["had no workflow 2", "numbers from 0 to 1"]);
    export(&["--workflow", "1"]).ends(2, &["workflow 1 of the run in", "did not complete: `b`, `c`"]);
}
