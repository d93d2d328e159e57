//! What a user sees of the workflows of a run: the lines of the result, the summary, the page, and measures of campaigns.

use std::fs;

use crate::cli::gridemu;
use crate::validating::legal;
use crate::validating_workflows::ran;

/// Of the two workflows of `validating_workflows` one completes: it takes 308 s, 300 of them on the path that determined its end; files take 2 s, and messages
/// the rest.
#[test]
fn workflows_are_shown() {
    let folder = ran();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let shown = gridemu(&["run", &path("run.toml")]);
    shown.well();
    let text = shown.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in [
        "workflows 1 completed, 1 failed; 8 tasks in 7 attempts; makespan 5 min 8 s; slowdown 1.03, schedule length ratio 1.03, speedup 1.62",
        "their makespans 97.40 % run, 0.65 % data, 1.95 % dispatch (along the path to the task that ended last)",
    ] {
        assert!(text.contains(said), "no `{said}` in\n{}", shown.out);
    }
    let all = gridemu(&["run", &path("run.toml"), "--verbose"]);
    assert!(all.out.contains("slr = makespan of a workflow / "), "{}", all.out);
    let summary: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(path("out/summary.json")).unwrap()).unwrap();
    let workflows = &summary["workflows"];
    assert_eq!(
        (&workflows["count"], &workflows["completed"], &workflows["failed"]),
        (&2.into(), &1.into(), &1.into())
    );
    assert_eq!(workflows["mean_makespan"], 308.0);
    assert!((workflows["mean_slr"].as_f64().unwrap() - 308.0 / 300.0).abs() < 1e-9, "{workflows}");
    let shares = workflows["share"].as_object().unwrap().values();
    let sum: f64 = shares.map(|share| share.as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-12, "{sum}");
    // The page draws the graph and the schedule of each.
    let page = path("page.html");
    gridemu(&["report", &path("out"), "--out", &page, "--svg", &path("svg")]).well();
    let html = fs::read_to_string(&page).unwrap();
    for said in [
        "<h2",
        "Workflows",
        "path that determined the end, 5 min 8 s",
        "critical path, 5 min on the fastest processors",
        "other jobs",
        "work_00000004",
    ] {
        assert!(html.contains(said), "no `{said}` in the page");
    }
    let numbers = fs::read_to_string(path("svg/dag-0.csv")).unwrap();
    assert!(
        numbers.starts_with("node,successor,row,tasks,edges,on the path,determined the end\n"),
        "{numbers}"
    );
    // Of the three tasks after the first the last one known to have ended determined the end; the critical path has the first one.
    assert!(
        numbers.contains("work_00000004,,1,1,,no,yes\n") && numbers.contains("work_00000002,,1,1,,yes,no\n"),
        "{numbers}"
    );
    assert!(fs::read_to_string(path("svg/gantt-workflow-0.svg")).unwrap().contains("fork_00000001"));
    // The copies of files are drawn by place.
    let copies = fs::read_to_string(path("out/transfers.csv")).unwrap();
    let said = format!("{} copies", copies.lines().count() - 1);
    assert!(html.contains(&said), "no `{said}` in the page");
    assert!(fs::read_to_string(path("svg/transfers.svg")).unwrap().contains("portal ("));
    // Without the file of a workflow the page is made all the same.
    fs::remove_file(path("broken.json")).unwrap();
    let ran = gridemu(&["report", &path("out"), "--out", &page]);
    ran.ends(0, &["note: workflows are not drawn: "]);
    assert!(fs::read_to_string(&page).unwrap().contains("Workflows are not drawn: "));
}

#[test]
fn a_workflow_that_is_alone_has_no_other_jobs_in_its_legend() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let scenario = "[[site]]\nname = 'ada'\nmachines = [{ class = 'node', count = 2 }]\n[broker]\n[[workload]]\nworkflow = 'pipeline[tasks=3]'\n";
    fs::write(path("run.toml"), scenario).unwrap();
    gridemu(&["run", &path("run.toml"), &format!("--report={}", path("page.html"))]).well();
    let html = fs::read_to_string(path("page.html")).unwrap();
    assert!(html.contains("gantt-workflow-0") && !html.contains("other jobs"));
}

/// Two tasks, one after the other, of 100 s and 50 s on a core of 36 W that costs 1.8 an hour: 5,400 J and 0.075. What the first reads has 100 MB, what the
/// second writes 5 MB, which is on its way home when the workflow has ended.
#[test]
fn what_is_moved_and_charged_is_summed_for_each_workflow() {
    let folder = tempfile::tempdir().unwrap();
    let workflow = r#"{"name": "two", "schemaVersion": "1.5", "workflow": {
        "specification": {"tasks": [
            {"name": "a", "id": "a", "children": ["b"], "parents": [], "inputFiles": ["in"], "outputFiles": []},
            {"name": "b", "id": "b", "children": [], "parents": ["a"], "inputFiles": [], "outputFiles": ["out"]}],
            "files": [{"id": "in", "sizeInBytes": 100000000}, {"id": "out", "sizeInBytes": 5000000}]},
        "execution": {"makespanInSeconds": 9, "executedAt": "2024-01-01T00:00:00Z", "tasks": [
            {"id": "a", "runtimeInSeconds": 100}, {"id": "b", "runtimeInSeconds": 50}], "machines": []}}}"#;
    fs::write(folder.path().join("two.json"), workflow).unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let scenario = "[[site]]\nname = \"ada\"\nmachines = [{ class = \"n\", count = 1, cores = 1, busy = \"36 W\", price = \"1.8/core-h\" }]\n\
                    policy = \"fcfs\"\n[broker]\npolicy = \"mct\"\n[network]\nbandwidth = \"80 Mbit/s\"\n[[workload]]\nworkflow = \"two.json\"\n";
    fs::write(path("run.toml"), scenario).unwrap();
    let shown = gridemu(&["run", &path("run.toml"), "--out", &path("out")]);
    let text = shown.well().out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("for a workflow 100.0 MB moved, 0.00150 kWh, cost 0.0750"), "{}", shown.out);
    let rows = fs::read_to_string(path("out/workflows.csv")).unwrap();
    assert!(
        rows.contains("lost,moved_bytes,energy_j,cost\n") && rows.ends_with(",100000000,5400,0.075\n"),
        "{rows}"
    );
    let summary = fs::read_to_string(path("out/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    let of = |key: &str| summary["workflows"][key].as_f64().unwrap();
    assert_eq!((of("mean_moved_bytes"), of("moved_bytes")), (1e8, 1.05e8));
    assert_eq!((of("mean_energy_kwh"), of("mean_cost")), (0.0015, 0.075));
    legal(&folder.path().join("out"));
    // Of a workflow that has not ended, what has ended counts: the first task.
    gridemu(&["run", &path("run.toml"), "--set", "until=2 min", "--out", &path("cut")]).well();
    let rows = fs::read_to_string(path("cut/workflows.csv")).unwrap();
    assert!(rows.ends_with(",100000000,3600,0.05\n"), "{rows}");
    legal(&folder.path().join("cut"));
    // What was moved before a fork counts after it.
    gridemu(&["run", &path("run.toml"), "--checkpoint", &path("saved"), "--checkpoint-keep-at", "1 min"])
        .well();
    let fork = gridemu(&["fork", &path("saved"), "--at", "1 min", "--set", "broker.policy=random"]);
    let text = fork.well().out.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in [
        "mean makespan of workflows (s) ",
        "data moved for a workflow (MB) 100.0 100.0 =",
        "energy of a workflow (kWh) 0.00150 0.00150 =",
        "cost of a workflow 0.0750 0.0750 =",
    ] {
        assert!(text.contains(said), "no `{said}` in\n{}", fork.out);
    }
    // A campaign that names no measures begins with those of workflows.
    fs::write(path("study.toml"), "scenario = \"run.toml\"\n").unwrap();
    gridemu(&["campaign", &path("study.toml"), "--store", &path("store"), "--out", &path("results.csv")])
        .well();
    let table = fs::read_to_string(path("results.csv")).unwrap();
    let columns: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    let at = |name: &str| columns.iter().position(|column| *column == name);
    assert!(at("workflows.mean_makespan").unwrap() < at("workflows.share.data").unwrap());
    assert!(at("workflows.share.lost").unwrap() < at("mean_wait").unwrap(), "{columns:?}");
}

#[test]
fn a_campaign_has_measures_of_workflows() {
    let folder = ran();
    let file = folder.path().join("study.toml");
    fs::write(&file, "scenario = \"run.toml\"\nmeasures = [\"workflows.mean_slowdown\", \"workflows.share.queue\"]\nseeds = 2\n").unwrap();
    let listed = gridemu(&["campaign", file.to_str().unwrap(), "--list-measures", "workflows.*"]);
    listed.well();
    for id in
        ["workflows.mean_slr", "workflows.share.lost", "Mean makespan of a workflow over the longest way"]
    {
        assert!(listed.out.contains(id), "no `{id}` in\n{}", listed.out);
    }
    // These two are of policies that plan ahead, and of lost data that is computed again.
    assert!(!listed.out.contains("workflows.overtakes") && !listed.out.contains("workflows.repeated"));
    let both = folder.path().join("both.toml");
    let wanted = "measures = [\"workflows.overtakes\", \"workflows.repeated\"]";
    let axes = "[[axis]]\nkey = \"broker.policy\"\nvalues = [\"mct\", \"heft\"]\n[[axis]]\nkey = \"workflow.lost\"\nvalues = [\"again\"]\n";
    fs::write(&both, format!("scenario = \"run.toml\"\n{wanted}\n{axes}")).unwrap();
    let results = folder.path().join("both.csv");
    let (both, kept) = (both.to_str().unwrap(), folder.path().join("kept"));
    gridemu(&["campaign", both, "--store", kept.to_str().unwrap(), "--out", results.to_str().unwrap()])
        .well();
    let found = fs::read_to_string(&results).unwrap();
    assert!(found.contains("workflows.overtakes,workflows.repeated"), "{found}");
    let store = folder.path().join("store");
    let table = folder.path().join("results.csv");
    let ran = gridemu(&[
        "campaign",
        file.to_str().unwrap(),
        "--store",
        store.to_str().unwrap(),
        "--out",
        table.to_str().unwrap(),
    ]);
    ran.well();
    let found = fs::read_to_string(&table).unwrap();
    assert!(found.contains("workflows.mean_slowdown") && found.contains("1.02"), "{found}");
}

/// `a` on three of four processors and `p` on one are believed to take 100 s each, and take 190 s and 10 s. HEFT plans `b`, which needs all, for 100 s,
/// and `c`, which waits for `p`, behind it. When `p` has ended, EASY starts `c` beside `a`, before `b`; FCFS does not. A policy that does not plan ahead
/// has no such order.
#[test]
fn tasks_that_a_local_policy_has_overtake_the_plan_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let workflow = r#"{"name": "turns", "schemaVersion": "1.5", "workflow": {
        "specification": {"tasks": [
            {"name": "t", "id": "a", "children": [], "parents": [], "inputFiles": [], "outputFiles": []},
            {"name": "t", "id": "p", "children": ["c"], "parents": [], "inputFiles": [], "outputFiles": []},
            {"name": "b", "id": "b", "children": [], "parents": [], "inputFiles": [], "outputFiles": []},
            {"name": "c", "id": "c", "children": [], "parents": ["p"], "inputFiles": [], "outputFiles": []}], "files": []},
        "execution": {"makespanInSeconds": 9, "executedAt": "2024-01-01T00:00:00Z", "tasks": [
            {"id": "a", "runtimeInSeconds": 190, "coreCount": 3}, {"id": "p", "runtimeInSeconds": 10},
            {"id": "b", "runtimeInSeconds": 90, "coreCount": 4}, {"id": "c", "runtimeInSeconds": 50}], "machines": []}}}"#;
    fs::write(folder.path().join("turns.json"), workflow).unwrap();
    let overtakes = |local: &str, broker: &str| {
        let scenario = format!(
            "[[site]]\nname = \"ada\"\nmachines = [{{ class = \"node\", count = 1, cores = 4 }}]\npolicy = \"{local}\"\n\
             [broker]\npolicy = \"{broker}\"\n[workflow]\nestimates = \"type-mean\"\n[[workload]]\nworkflow = \"turns.json\"\n"
        );
        let file = folder.path().join("run.toml");
        fs::write(&file, scenario).unwrap();
        let out = folder.path().join("out");
        let ran = gridemu(&["run", file.to_str().unwrap(), "--out", out.to_str().unwrap()]);
        ran.well();
        let summary = fs::read_to_string(out.join("summary.json")).unwrap();
        let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
        let text = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
        (summary["workflows"].get("overtakes").and_then(serde_json::Value::as_u64), text)
    };
    let (count, text) = overtakes("easy", "heft");
    assert_eq!(count, Some(1));
    let said = "the plan's order 1 of 4 tasks started before one that was sent before them to the same pool";
    assert!(text.contains(said), "no `{said}` in\n{text}");
    let (count, text) = overtakes("fcfs", "heft");
    assert_eq!(count, Some(0));
    assert!(text.contains("the plan's order kept by all tasks"), "{text}");
    let (count, text) = overtakes("easy", "mct");
    assert!(count.is_none() && !text.contains("the plan's order"), "{text}");
}
