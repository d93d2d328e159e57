//! `gridemu inspect` of workflows.

use super::{argument, file, gridemu, gzipped};

/// Two tasks and a file between them, in each format.
const WFFORMAT: &str = r#"{"name": "two", "schemaVersion": "1.5", "workflow": {"specification": {"tasks": [
    {"name": "split", "id": "split_1", "parents": [], "children": ["work_2"], "inputFiles": ["in"], "outputFiles": ["part"]},
    {"name": "work", "id": "work_2", "parents": ["split_1"], "children": [], "inputFiles": ["part"], "outputFiles": []}],
    "files": [{"id": "in", "sizeInBytes": 10}, {"id": "part", "sizeInBytes": 125000000}]},
    "execution": {"makespanInSeconds": 2, "executedAt": "", "tasks": [
    {"id": "split_1", "runtimeInSeconds": 1.5}, {"id": "work_2", "runtimeInSeconds": 2}]}}}"#;
const DAX: &str = r#"<adag name="two">
<job id="split_1" name="split" runtime="1.5"><uses file="in" link="input" size="10"/><uses file="part" link="output" size="125000000"/></job>
<job id="work_2" name="work" runtime="2"><uses file="part" link="input" size="125000000"/></job>
<child ref="work_2"><parent ref="split_1"/></child>
</adag>"#;
const GWF: &str = "WorkflowID, JobID, SubmitTime, RunTime, NProcs, ReqNProcs, Dependencies
7, 1, 100, 11, 1, 1,
7, 2, 111, 5, 1, 1, 1
8, 3, 160, 5, 1, 1,
";

#[test]
fn a_generated_workflow_is_described() {
    insta::with_settings!({prepend_module_to_snapshot => false}, {
        insta::assert_snapshot!("inspect-montage", gridemu(&["inspect", "montage[tasks=58,seed=3]"]).well().out);
    });
}

#[test]
fn a_workflow_is_the_same_in_each_format() {
    let folder = tempfile::tempdir().unwrap();
    let json = file(folder.path(), "two.json", WFFORMAT);
    let packed = file(folder.path(), "two.json.gz", gzipped(WFFORMAT.as_bytes()));
    let xml = file(folder.path(), "two.xml", DAX);
    let found = gridemu(&["inspect", &json, "--json"]).json();
    for other in [&packed, &xml] {
        assert_eq!(gridemu(&["inspect", other, "--json"]).json(), found);
    }
    assert_eq!((&found["tasks"], &found["levels"], &found["width"]), (&2.into(), &2.into(), &1.into()));
    assert_eq!(found["critical_path_s"], 3.5);
    // A gigabit at a gigabit a second.
    assert_eq!(found["critical_path_with_data_s"], 4.5);
    assert_eq!(found["ccr"].as_f64().unwrap(), 1.0 / 1.75);
    assert_eq!(found["data"]["stage_in_bytes"], 10);
    assert_eq!(found["types"][1]["type"], "work");
    assert_eq!(found["types"][1]["runtime_s"]["median"], 2.0);
    let slower = gridemu(&["inspect", &json, "--json", "--bandwidth", "100 Mbit/s"]).json();
    assert_eq!(slower["critical_path_with_data_s"], 13.5);
    let shown = gridemu(&["inspect", &json]).well().out.clone();
    assert!(
        shown.starts_with("two.json: 2 tasks of 2 types in 2 levels, at most 1 at one level, 1 edge\n"),
        "{shown}"
    );
}

#[test]
fn a_generated_workflow_is_written_and_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = argument(&folder.path().join("m.json"));
    gridemu(&["generate", "montage", "tasks=100", "seed=7", "-o", &path]).well();
    let found = gridemu(&["inspect", &path, "--json"]).json();
    assert_eq!(found, gridemu(&["inspect", "montage[tasks=100,seed=7]", "--json"]).json());
    let printed = gridemu(&["generate", "montage[tasks=100,seed=7]"]).well().out.clone();
    assert_eq!(printed, std::fs::read_to_string(&path).unwrap());
    gridemu(&["generate", "montage", "width=3"]).ends(2, &["width"]);
}

#[test]
fn many_workflows_are_described_together() {
    let folder = tempfile::tempdir().unwrap();
    let gwf = file(folder.path(), "w.gwf", GWF);
    let shown = gridemu(&["inspect", &gwf]).well().out.clone();
    assert!(shown.starts_with("w.gwf: 2 workflows of 3 tasks in 1 min\n"), "{shown}");
    let found = gridemu(&["inspect", &gwf, "--json"]).json();
    assert_eq!(
        (&found[0]["name"], &found[0]["submit_s"], &found[0]["tasks"]),
        (&"7".into(), &0.0.into(), &2.into())
    );
    assert_eq!((&found[1]["name"], &found[1]["submit_s"]), (&"8".into(), &60.0.into()));
}

#[test]
fn a_grouping_is_shown_before_and_after() {
    insta::with_settings!({prepend_module_to_snapshot => false}, {
        let args = ["inspect", "montage[tasks=58,seed=3]", "--group", "paul[fine=20 s]"];
        insta::assert_snapshot!("inspect-grouped", gridemu(&args).well().out);
    });
    let args = ["inspect", "fork-join[tasks=12,width=10]", "--json", "--group", "horizontal[size=5]"];
    let found = gridemu(&args).json();
    let grouping = &found["grouping"];
    assert_eq!((&found["tasks"], &grouping["grouped"]["tasks"]), (&12.into(), &4.into()));
    assert_eq!((&grouping["by"], &grouping["single"]), (&"horizontal[size=5]".into(), &2.into()));
    // Five tasks of a minute one after the other, between two of a minute.
    assert_eq!(
        (&found["critical_path_s"], &grouping["grouped"]["critical_path_s"]),
        (&180.0.into(), &420.0.into())
    );
    let folder = tempfile::tempdir().unwrap();
    let gwf = file(folder.path(), "w.gwf", GWF);
    let shown = gridemu(&["inspect", &gwf, "--group", "vertical"]).well().out.clone();
    assert!(shown.contains("grouped by vertical: 2 workflows of 2 tasks in 1 min\n"), "{shown}");
    assert_eq!(
        gridemu(&["inspect", &gwf, "--json", "--group", "vertical"]).json()[0]["grouping"]["grouped"]["tasks"],
        1
    );
    gridemu(&["inspect", "montage", "--group", "poul"]).ends(2, &["no grouping `poul`", "paul"]);
    gridemu(&["inspect", "montage", "--group", "paul[fine=x]"]).ends(2, &["`fine=x`", "a span such as"]);
    gridemu(&["inspect", "poisson[jobs=3]", "--group", "paul"])
        .ends(2, &["`--group` is for workflows", "hint: "]);
}

#[test]
fn a_workflow_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let figures = argument(&folder.path().join("figures"));
    let read = |name: &str| std::fs::read_to_string(folder.path().join("figures").join(name)).unwrap();
    gridemu(&["inspect", "montage[tasks=58,seed=3]", "--svg", &figures]).well();
    let svg = read("workflow.svg");
    assert_eq!(svg.matches("<title>").count(), 58, "{svg}");
    assert!(svg.contains("critical path, 21 s") && svg.contains(">mBackground</text>"), "{svg}");
    assert!(read("workflow.csv").contains("mProject_00000021,mDiffFit_00000025,,,1,yes\n"));
    let gwf = file(folder.path(), "w.gwf", GWF);
    gridemu(&["inspect", &gwf, "--svg", &figures, "--theme", "dark", "--width", "single"]).well();
    assert!(read("workflow-1.svg").contains("mm\"") && read("workflow-2.svg").contains("#15181c"));
    gridemu(&["inspect", "poisson[jobs=3]", "--svg", &figures]).ends(2, &["`--svg`", "is for workflows"]);
    gridemu(&["inspect", "montage", "--width", "single"]).ends(2, &["`--width single`", "--svg DIR"]);
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| file(folder.path(), name, text);
    let cycle = WFFORMAT.replace("[\"work_2\"]", "[\"split_1\"]");
    let dangling = DAX.replace("<parent ref=\"split_1\"", "<parent ref=\"x\"");
    let gwf = GWF.replace("1, 1, 1\n", "1, 1, 9\n");
    let entities = "<!DOCTYPE adag [<!ENTITY a \"b\">]>".to_owned() + DAX;
    for (path, told) in [
        (
            write("cycle.json", &cycle),
            "`cycle.json`, workflow.specification.tasks[0]: the task `split_1` waits for itself",
        ),
        (write("dangling.xml", &dangling), "`dangling.xml`, line 4: the task `work_2` has the parent `x`"),
        (write("w.gwf", &gwf), "`w.gwf`, line 3: the task `2` has the parent `9`"),
        (write("entities.xml", &entities), "remove `<!DOCTYPE ...>`"),
        (write("empty.dax", ""), "`empty.dax`: it has no workflows"),
        (argument(&folder.path().join("none.xml")), "cannot open"),
        ("montage[tasks=3]".to_owned(), "a number of tasks from 31"),
    ] {
        let ran = gridemu(&["inspect", &path]);
        ran.ends(2, &[told]);
        assert_eq!(ran.out, "", "nothing half done");
    }
    gridemu(&["inspect", "montage", "--procs", "4"]).ends(2, &["change jobs, not workflows", "hint: "]);
    gridemu(&["inspect", "montage", "--bandwidth", "0"]).ends(2, &["--bandwidth"]);
}
