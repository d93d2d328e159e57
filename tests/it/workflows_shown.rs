//! What a user sees of the workflows of a run: the lines of the result, the summary, the page, and measures of campaigns.

use std::fs;

use crate::cli::gridemu;
use crate::validating_workflows::ran;

/// Of the two workflows of `validating_workflows` one completes: it takes 306 s, 300 of them on the path that determined its end; messages take
/// the rest.
#[test]
fn workflows_are_shown() {
    let folder = ran();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let shown = gridemu(&["run", &path("run.toml")]);
    shown.well();
    let text = shown.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in [
        "workflows 1 completed, 1 failed; 8 tasks in 6 attempts; makespan 5 min 6 s; slowdown 1.02, schedule length ratio 1.02, speedup 1.63",
        "their makespans 98.04 % run, 1.96 % dispatch (along the path to the task that ended last)",
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
    assert_eq!(workflows["mean_makespan"], 306.0);
    assert!((workflows["mean_slr"].as_f64().unwrap() - 1.02).abs() < 1e-9, "{workflows}");
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
        "path that determined the end, 5 min 6 s",
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
    // Without the file of a workflow the page is made all the same.
    fs::remove_file(path("broken.json")).unwrap();
    let ran = gridemu(&["report", &path("out"), "--out", &page]);
    ran.ends(0, &["note: workflows are not drawn: "]);
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
