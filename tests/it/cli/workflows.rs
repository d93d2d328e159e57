//! `gridemu inspect` of workflows, and runs of them.

use std::fs;

use super::{argument, file, gridemu, gzipped};
use crate::validating::legal;

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

/// An axis of counts may begin at 1.
#[test]
fn a_time_between_workflows_needs_a_count() {
    let one = "tests/it/scenarios/bad/workflow-every-of-one.toml";
    gridemu(&["check", one]).ends(2, &["there is only one; give a `count` too"]);
    gridemu(&["check", one, "--set", "workload[0].count=1"]).well();
}

#[test]
fn a_capacity_that_does_not_limit_stage_in_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let of = |files: &str| {
        let scenario = format!(
            "[[site]]\nname = \"ada\"\nmachines = [{{ class = \"node\" }}]\nstorage = {{ capacity = \"100 GB\" }}\n\
             [broker]\n[workflow]\nfiles = \"{files}\"\n[[workload]]\nworkflow = \"montage[tasks=58]\"\n"
        );
        let ran = gridemu(&["check", &file(folder.path(), "run.toml", scenario)]);
        ran.well().err.contains("does not limit stage-in")
    };
    assert!(of("ada") && !of("portal"));
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

/// The cells of a table by column, a row each.
fn table(path: &std::path::Path) -> Vec<std::collections::BTreeMap<String, String>> {
    let mut rows = csv::Reader::from_path(path).unwrap();
    let header = rows.headers().unwrap().clone();
    let row =
        |row: csv::StringRecord| header.iter().zip(&row).map(|(a, b)| (a.to_owned(), b.to_owned())).collect();
    rows.records().map(|record| row(record.unwrap())).collect()
}

/// Two workflows of two tasks at 0 and at 100 s, at twice their run times: `split` runs 3 s and `work` 4 s after it, at a site of speed 1.
#[test]
fn workflows_of_a_file_run_through_a_grid() {
    let folder = tempfile::tempdir().unwrap();
    file(folder.path(), "two.json", WFFORMAT);
    let scenario = "[[site]]\nname = 'here'\nmachines = [{ class = 'node' }]\n[broker]\npolicy = 'mct'\nmonitoring_interval = '0 s'\n\
                    [network]\nlatency = '0 s'\n[[workload]]\nworkflow = 'two.json'\ncount = 2\nevery = '100 s'\nscale_runtime = 2.0\n";
    let scenario = file(folder.path(), "run.toml", scenario);
    let out = folder.path().join("out");
    gridemu(&["run", &scenario, "--out", &argument(&out)]).well();
    let tasks = table(&out.join("tasks.csv"));
    let cells = |row: &std::collections::BTreeMap<String, String>, keys: &[&str]| {
        keys.iter().map(|key| row[*key].clone()).collect::<Vec<_>>().join(" ")
    };
    let keys =
        ["workflow", "task", "type", "job", "site", "ready", "started", "ended", "outcome", "attempts"];
    let rows: Vec<String> = tasks.iter().map(|row| cells(row, &keys)).collect();
    assert_eq!(
        rows,
        [
            "0 split_1 split 1 here 0 0 3 completed 1",
            "0 work_2 work 2 here 3 3 7 completed 1",
            "1 split_1 split 3 here 100 100 103 completed 1",
            "1 work_2 work 4 here 103 103 107 completed 1",
        ]
    );
    let keys = [
        "workflow",
        "name",
        "submitted",
        "ended",
        "makespan",
        "critical_path",
        "outcome",
        "tasks",
        "completed",
    ];
    let rows: Vec<String> = table(&out.join("workflows.csv")).iter().map(|row| cells(row, &keys)).collect();
    assert_eq!(rows, ["0 two 0 7 7 7 completed 2 2", "1 two 100 107 7 7 completed 2 2"]);
    assert_eq!(table(&out.join("jobs.csv")).len(), 4);
    gridemu(&["validate", &argument(&out)]).well();
    // Of a task that waits for another, the broker says so.
    let told = gridemu(&["explain", &argument(&out), "--job", "2", "--at", "1"]).well().out.clone();
    assert!(told.contains("tasks of its workflow that it waits for have not completed"), "{told}");
}

/// The same records from each engine, and no violation in them. The second workload's jobs have numbers of their own.
#[test]
fn the_example_is_the_same_on_each_engine() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, more: &[&str]| {
        let out = folder.path().join(name);
        let path = argument(&out);
        let args: Vec<&str> = ["run", "configs/workflows.toml", "--out", &path]
            .into_iter()
            .chain(more.iter().copied())
            .collect();
        gridemu(&args).well();
        out
    };
    let (direct, actors) = (run("direct", &["--engine", "direct"]), run("actors", &["--threads", "2"]));
    for name in ["jobs.csv", "tasks.csv", "workflows.csv", "segments.csv"] {
        let read = |folder: &std::path::Path| std::fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!(read(&direct), read(&actors), "{name}");
    }
    let workflows = table(&direct.join("workflows.csv"));
    assert_eq!(workflows.len(), 8);
    let makespan =
        |row: &std::collections::BTreeMap<String, String>, key: &str| row[key].parse::<f64>().unwrap();
    // The fastest site has speed 2.
    assert!(workflows.iter().all(|row| makespan(row, "makespan") * 2.0 >= makespan(row, "critical_path")));
    let tasks = table(&direct.join("tasks.csv"));
    assert!(tasks.iter().any(|row| row["job"].len() == 10) && tasks.iter().any(|row| row["job"] == "1"));
    gridemu(&["validate", &argument(&direct)]).well();
    // A run without workflows has none of these files.
    let other = folder.path().join("direct");
    gridemu(&["run", "configs/two-sites.toml", "--out", &argument(&other)]).well();
    assert!(!other.join("tasks.csv").exists() && !other.join("workflows.csv").exists());
}

/// What several workflows of a file say of their submissions is not repeated.
#[test]
fn a_file_with_submissions_of_its_own_is_submitted_once() {
    let folder = tempfile::tempdir().unwrap();
    file(folder.path(), "three.gwf", GWF);
    let scenario = |count: &str| {
        format!(
            "[[site]]\nname = 'here'\nmachines = [{{ class = 'node' }}]\n[broker]\n[[workload]]\nworkflow = 'three.gwf'\n{count}"
        )
    };
    let once = file(folder.path(), "once.toml", scenario(""));
    let out = folder.path().join("out");
    gridemu(&["run", &once, "--out", &argument(&out)]).well();
    let submitted: Vec<String> = table(&out.join("workflows.csv"))
        .into_iter()
        .map(|mut row| row.remove("submitted").unwrap())
        .collect();
    assert_eq!(submitted, ["0", "60"]);
    let twice = file(folder.path(), "twice.toml", scenario("count = 2\n"));
    gridemu(&["run", &twice])
        .ends(2, &["`three.gwf` has 2 workflows with submissions of their own", "leave `count`"]);
}

#[test]
fn tasks_fail_by_themselves_and_are_valid() {
    let folder = tempfile::tempdir().unwrap();
    let out = argument(&folder.path().join("out"));
    let grid = "seed = 3\n[[site]]\nname = 'ada'\nmachines = [{ class = 'node', count = 2, cores = 4 }]\npolicy = 'easy'\n\
                [[site]]\nname = 'bob'\nmachines = [{ class = 'node', count = 4, speed = 1.5 }]\nchurn = { up = 'exponential[mean=1 h]', down = 'exponential[mean=2 min]' }\n\
                [network]\nlatency = '1 s'\nbandwidth = '100 Mbit/s'\n[broker]\npolicy = 'mct'\n[[workload]]\nworkflow = 'montage[tasks=40]'\n\
                count = 3\nevery = '10 min'\nscale_runtime = 10.0\nfailures = { mProject = 0.5, '*' = 0.1 }\n";
    for group in ["none", "horizontal[size=4]"] {
        let scenario =
            file(folder.path(), "run.toml", format!("{grid}task_attempts = 20\ngroup = '{group}'\n"));
        let ran = gridemu(&["run", &scenario, "--out", &out, "--verbose"]);
        ran.well();
        assert!(ran.out.contains("task failed"), "{}", ran.out);
        gridemu(&["validate", &out]).well();
        let tasks = table(&std::path::Path::new(&out).join("tasks.csv"));
        let failed = tasks.iter().filter(|task| task["attempts"] != "1");
        assert!(failed.clone().count() > 10, "{tasks:?}");
        // The times of a task in a group are those of the attempt of the group that completed.
        let lost = |task: &std::collections::BTreeMap<String, String>| group != "none" || task["lost"] != "0";
        assert!(
            failed.clone().all(|task| task["outcome"] == "completed" && lost(task)),
            "{group}: {tasks:?}"
        );
    }
    let told = table(&std::path::Path::new(&out).join("events.csv"));
    let event = told.iter().find(|event| event["cause"] == "task-failed").expect("one fails");
    assert_eq!(event["event"], "returned");
    let explained = gridemu(&["explain", &out, "--job", &event["job"]]);
    explained.well();
    assert!(explained.out.contains("returned: failed by itself"), "{}", explained.out);
    // Twice is too often for some.
    let scenario = file(folder.path(), "run.toml", format!("{grid}task_attempts = 2\n"));
    gridemu(&["run", &scenario, "--out", &out]).well();
    gridemu(&["validate", &out]).well();
    let tasks = table(&std::path::Path::new(&out).join("tasks.csv"));
    for outcome in ["completed", "failed", "cancelled"] {
        assert!(tasks.iter().any(|task| task["outcome"] == outcome), "no task is {outcome}");
    }
    // Held against other probabilities, attempts fail or complete against their draws.
    let written = std::path::Path::new(&out).join("scenario.toml");
    let text = std::fs::read_to_string(&written).unwrap();
    for (odds, said) in
        [("0", "failed by itself in attempt 1, which by its draw does not"), ("1", "completed in attempt")]
    {
        assert!(text.contains("mProject = 0.5"), "{text}");
        std::fs::write(&written, text.replace("mProject = 0.5", &format!("mProject = {odds}"))).unwrap();
        let checked = gridemu(&["validate", &out]);
        assert_eq!(checked.code, Some(1), "{}", checked.out);
        assert!(checked.out.contains(said), "no `{said}` in\n{}", checked.out);
    }
    let scenario = file(folder.path(), "run.toml", grid.replace("mProject =", "mProjekt ="));
    gridemu(&["run", &scenario]).ends(2, &["`failures` has a probability for type `mProjekt`", "`mProject`"]);
}

#[test]
fn groups_and_overheads_run_and_are_valid() {
    let folder = tempfile::tempdir().unwrap();
    let out = argument(&folder.path().join("out"));
    let grid = "seed = 3\n[[site]]\nname = 'ada'\nmachines = [{ class = 'node', count = 2, cores = 4 }]\npolicy = 'easy'\n\
                workload = { poisson = { jobs = 40, every = '1 min', size = '1..4' } }\n\
                [[site]]\nname = 'bob'\nmachines = [{ class = 'node', count = 4, speed = 1.5 }]\nchurn = { up = 'exponential[mean=1 h]', down = 'exponential[mean=2 min]' }\n\
                [network]\nlatency = '1 s'\nbandwidth = '100 Mbit/s'\n[broker]\npolicy = 'mct'\n[[workload]]\nworkflow = 'montage[tasks=40]'\n\
                count = 3\nevery = '10 min'\nscale_runtime = 10.0\nengine_delay = '5 s'\njob_overhead = '3 s'\n";
    let mut jobs = Vec::new();
    for group in
        ["none", "vertical", "horizontal[size=4]", "paul[fine=2 min]", "level[procs=4]", "pilot[procs=4]"]
    {
        let scenario = file(folder.path(), "run.toml", format!("{grid}group = '{group}'\n"));
        gridemu(&["run", &scenario, "--out", &out]).well();
        let checked = gridemu(&["validate", &out]);
        assert_eq!(checked.code, Some(0), "{group}: {}\n{}", checked.out, checked.err);
        let tasks = table(&std::path::Path::new(&out).join("tasks.csv"));
        assert!(tasks.len() > 90 && tasks.iter().all(|task| task["outcome"] == "completed"), "{group}");
        let of: std::collections::BTreeSet<String> = tasks.iter().map(|task| task["job"].clone()).collect();
        jobs.push(of.len());
    }
    assert!(jobs[0] > jobs[1] && jobs[1] > jobs[4] && jobs[4] > jobs[5], "{jobs:?}");
    assert_eq!(jobs[5], 3);
    let scenario = file(folder.path(), "run.toml", format!("{grid}group = 'levels'\n"));
    gridemu(&["run", &scenario]).ends(2, &["`workload[0].group`", "no grouping `levels`", "`level`"]);
}

/// Side by side on two processors, c (5 s) follows a (10 s) and not b (20 s); on machines on which a takes 30 s, it follows b. Both are valid.
#[test]
fn a_group_is_checked_by_its_times_where_it_ran() {
    let task = |name: &str| {
        format!(
            r#"{{"name": "{name}", "id": "{name}", "parents": [], "children": [], "inputFiles": [], "outputFiles": []}}"#
        )
    };
    let ran = |name: &str, secs: u32, slow: u32| {
        format!(
            r#"{{"id": "{name}", "runtimeInSeconds": {secs}, "runtimeInSecondsByClass": {{"slow": {slow}}}}}"#
        )
    };
    let workflow = format!(
        r#"{{"name": "three", "schemaVersion": "1.5", "workflow": {{"specification": {{"tasks": [{}, {}, {}], "files": []}},
        "execution": {{"makespanInSeconds": 0, "executedAt": "2024-01-01T00:00:00Z", "tasks": [{}, {}, {}], "machines": []}}}}}}"#,
        task("a"),
        task("b"),
        task("c"),
        ran("a", 10, 30),
        ran("b", 20, 20),
        ran("c", 5, 5)
    );
    for (class, last) in
        [("fast", [("a", "10"), ("b", "20"), ("c", "15")]), ("slow", [("a", "30"), ("b", "20"), ("c", "25")])]
    {
        let folder = tempfile::tempdir().unwrap();
        file(folder.path(), "three.json", workflow.clone());
        let scenario = format!(
            "[[site]]\nname = 'ada'\nmachines = [{{ class = '{class}', count = 2 }}]\n[broker]\nmonitoring_interval = '0 s'\n\
             [[workload]]\nworkflow = 'three.json'\ngroup = 'pilot[procs=2]'\n"
        );
        let scenario = file(folder.path(), "run.toml", scenario);
        let out = argument(&folder.path().join("out"));
        gridemu(&["run", &scenario, "--out", &out]).well();
        gridemu(&["validate", &out]).well();
        let tasks = table(&std::path::Path::new(&out).join("tasks.csv"));
        let ended: Vec<(&str, &str)> = tasks.iter().map(|row| (&*row["task"], &*row["ended"])).collect();
        assert_eq!(ended, last, "{class}");
    }
}

/// A key that cannot act is told, by `check` and in the notes of a run.
#[test]
fn keys_of_plans_are_idle_without_one() {
    let set = ["--set", "workflow.replan=rest", "--set", "workflow.together=true"];
    let told = "`replan`, `together` of `[workflow]` have no effect: `mct` assigns tasks when they are ready";
    gridemu(&[&["check", "configs/workflows.toml"][..], &set].concat()).ends(0, &["warning: ", told]);
    let ran =
        gridemu(&[&["run", "configs/workflows.toml", "--json", "--set", "until=10 min"][..], &set].concat());
    let notes = ran.json()["notes"].to_string();
    assert!(notes.contains(told), "{notes}");
    let heft = ["--set", "broker.policy=heft"];
    let check = gridemu(&[&["check", "configs/workflows.toml"][..], &set, &heft].concat());
    assert!(!check.err.contains("no effect"), "{}", check.err);
    let order = [
        "check",
        "configs/workflows.toml",
        "--set",
        "broker.policy=heft",
        "--set",
        "workflow.order=critical-path",
    ];
    gridemu(&order)
        .ends(0, &["warning: `order` of `[workflow]` has no effect: `heft` has an order of its own"]);
}

/// A run of workflows and jobs on sites that come and go, whose broker takes its time: the schedule is valid, and what planning took is told.
#[test]
fn planning_that_takes_time_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("idle.toml"), folder.path().join("out"));
    let set = ["--set", "broker.planning.base=1 min", "--set", "broker.planning.per_task=1 s"];
    let ran = gridemu(
        &[&["run", "configs/workflows.toml", "--json", "--out", out.to_str().unwrap()][..], &set].concat(),
    );
    let told = ran.json();
    let (plans, time) = (&told["planning"]["plans"], &told["planning"]["time_s"]);
    assert!(plans.as_u64().unwrap() > 10 && time.as_f64().unwrap() > 60.0 * plans.as_f64().unwrap());
    assert_eq!(
        (&told["broker"]["planning"]["base_s"], &told["broker"]["planning"]["per_task_s"]),
        (&60.0.into(), &1.0.into())
    );
    legal(&out);
    let explained = gridemu(&["explain", out.to_str().unwrap(), "--job", "1", "--origin", "grid"]);
    assert!(explained.well().out.contains("the broker, planning since"), "{}", explained.out);
    let scenario =
        "[broker]\nplanning = { base = '1 s' }\n[[site]]\nname = 'a'\nmachines = [{ class = 'node' }]\n";
    fs::write(&file, scenario).unwrap();
    gridemu(&["check", file.to_str().unwrap()])
        .ends(0, &["warning: `planning` of `[broker]` has no effect: no workload goes through the portal"]);
}

/// What reads its input at a site leaves the portal as soon as the workflow is there, though the engine makes jobs of its tasks 400 s later, and sites report every
/// 10 minutes.
#[test]
fn whole_workflows_are_planned_when_they_arrive_also_if_their_jobs_are_made_later() {
    let folder = tempfile::tempdir().unwrap();
    let out = argument(&folder.path().join("out"));
    let grid = "seed = 3\n[[site]]\nname = 'ada'\nmachines = [{ class = 'node', count = 4 }]\n[network]\nlatency = '1 s'\nbandwidth = '80 Mbit/s'\n\
                [broker]\npolicy = 'heft'\nmonitoring_interval = '10 min'\n[[workload]]\nworkflow = 'montage[tasks=40]'\ncount = 2\nevery = '900 s'\n\
                engine_delay = '400 s'\n";
    let scenario = file(folder.path(), "run.toml", grid);
    gridemu(&["run", &scenario, "--out", &out]).well();
    let first = |workflow: &str| {
        let copies = table(&std::path::Path::new(&out).join("transfers.csv"));
        let asked =
            copies.iter().filter(|copy| copy["workflow"] == workflow).map(|copy| copy["asked"].clone());
        asked.min_by_key(|asked| (asked.len(), asked.clone()))
    };
    let submitted =
        |at: usize| table(&std::path::Path::new(&out).join("workflows.csv"))[at]["submitted"].clone();
    assert_eq!([first("0"), first("1")], [Some(submitted(0)), Some(submitted(1))]);
}
