//! What studies need of single runs: classes, logs by name, traces.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{argument, file, gridemu, gzipped, with_environment};

const SITE: &str = "[[site]]\nname = 'delft'\nmachines = [{ class = 'node', count = 64 }]\n";

#[test]
fn classes_and_the_bound_of_slowdowns_are_keys() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "tau = '1 min'\nclasses = 'cuts[run=10 min,size=8]'\n{SITE}workload = 'lublin[jobs=300,load=0.8]'\n"
    );
    let path = file(folder.path(), "classes.toml", &text);
    let summary = gridemu(&["run", &path, "--json"]).json();
    assert_eq!(
        (&summary["tau"], &summary["class_preset"]),
        (&60.0.into(), &"cuts[run=10 min,size=8]".into())
    );
    let classes = summary["classes"].as_array().unwrap();
    let names: Vec<_> = classes.iter().map(|class| class["class"].as_str().unwrap()).collect();
    assert_eq!(names, ["<=10min <=8p", "<=10min >8p", ">10min <=8p", ">10min >8p"]);
    let jobs: u64 = classes.iter().map(|class| class["jobs"].as_u64().unwrap()).sum();
    assert_eq!(jobs, 300);
    let shown = gridemu(&["run", &path]);
    assert!(shown.well().out.contains("by class (cuts[run=10 min,size=8])"), "{}", shown.out);
    gridemu(&["run", &path, "--set", "classes=kettimutu-4"]).ends(2, &["did you mean `kettimuthu-4`"]);
}

#[test]
fn logs_of_an_archive_are_found_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let archive = tempfile::tempdir().unwrap();
    std::fs::create_dir(archive.path().join("swf")).unwrap();
    let log = "; MaxProcs: 4\n1 0 -1 10 2 -1 -1 2 20 -1 1 1 1 -1 -1 -1 -1 -1\n";
    file(&archive.path().join("swf"), "tiny.swf", log);
    let path = file(folder.path(), "tiny.toml", format!("{SITE}workload = 'archive:tiny.swf'\n"));
    let with = [("GRIDEMU_DATA", argument(archive.path()))];
    let ran = with_environment(&with, &["run", &path, "--json"]).json();
    assert_eq!(ran["jobs"], 1);
    let replayed = with_environment(&with, &["replay", "archive:tiny.swf", "--policy", "fcfs", "--json"]);
    assert_eq!(replayed.json()["workload"], "tiny.swf");
    // The same run wherever the log lies.
    let direct = format!("{SITE}workload = '{}'\n", argument(&archive.path().join("swf/tiny.swf")));
    let direct = file(folder.path(), "direct.toml", &direct);
    assert_eq!(gridemu(&["run", &direct, "--json"]).json()["scenario_hash"], ran["scenario_hash"]);

    gridemu(&["replay", "archive:../tiny.swf", "--policy", "fcfs"])
        .ends(2, &["is not the name of an archive log"]);

    let without = [("GRIDEMU_DATA", argument(&folder.path().join("no_site")))];
    with_environment(&without, &["run", &path]).ends(2, &["`tiny.swf` is not in", "GRIDEMU_DATA"]);
}

#[test]
fn workflows_of_an_archive_are_found_by_name() {
    let (folder, archive) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let trace =
        "WorkflowID, JobID, SubmitTime, RunTime, NProcs, ReqNProcs, Dependencies\n0, 1, 0, 5, 1, 1,\n";
    let written = gridemu(&["generate", "pipeline", "tasks=1"]).well().out.clone();
    let with = [("GRIDEMU_DATA", argument(archive.path()))];
    for (place, name, text) in [
        ("wfcommons/v1.5", "one.json", &*written),
        ("wfcommons/makeflow-instances", "two.json", &written),
        ("gwf", "three.gwf", trace),
    ] {
        fs::create_dir_all(archive.path().join(place)).unwrap();
        file(&archive.path().join(place), name, text);
        let path = file(
            folder.path(),
            "run.toml",
            format!("{SITE}[broker]\n[[workload]]\nworkflow = 'archive:{name}'\n"),
        );
        let ran = with_environment(&with, &["run", &path, "--json"]).json();
        assert_eq!(ran["workflows"]["completed"], 1, "{name}");
        let told = with_environment(&with, &["run", &path]).out;
        assert!(told.contains("1 task in 1 attempt;"), "{told}");
        let seen = with_environment(&with, &["inspect", &format!("archive:{name}"), "--json"]).json();
        assert_eq!(seen["tasks"], 1, "{name}");
    }
    let path = file(
        folder.path(),
        "run.toml",
        format!("{SITE}[broker]\n[[workload]]\nworkflow = 'archive:four.xml'\n"),
    );
    with_environment(&with, &["run", &path])
        .ends(2, &["`four.xml` is not in", "`dax`, `gwf` and those of `wfcommons`"]);
    with_environment(&with, &["inspect", "archive:four.xml"]).ends(2, &["`four.xml` is not in"]);
}

#[test]
fn the_table_of_a_folder_is_judged_as_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let log = "; MaxProcs: 4\n1 0 -1 10 3 -1 -1 3 20 -1 1 1 1 -1 -1 -1 -1 -1\n2 1 -1 10 9 -1 -1 9 20 -1 1 1 1 -1 -1 -1 -1 -1\n";
    let log = file(folder.path(), "log.swf", log);
    let out = argument(&folder.path().join("out"));
    gridemu(&["replay", &log, "--policy", "easy", "--out", &out]).well();
    let table = folder.path().join("out/jobs.csv");
    let judged = gridemu(&["validate", &argument(&table)]);
    assert!(judged.well().out.contains("4 processors"), "{}", judged.out);
    // The scenario says it without the summary; without both nobody knows how many there were.
    let summary = folder.path().join("out/summary.json");
    std::fs::rename(&summary, folder.path().join("summary.json")).unwrap();
    gridemu(&["validate", &argument(&table)]).well();
    let scenario = folder.path().join("out/scenario.toml");
    std::fs::rename(&scenario, folder.path().join("scenario.toml")).unwrap();
    gridemu(&["validate", &argument(&table)]).ends(2, &["this folder has no scenario.toml", "--procs N"]);
    std::fs::rename(folder.path().join("scenario.toml"), &scenario).unwrap();
    std::fs::rename(folder.path().join("summary.json"), &summary).unwrap();

    // What was refused has its reason, and the folder is not accused.
    let told = gridemu(&["explain", &out, "--job", "2"]);
    let wanted = "never started, rejected at 1 s: needs more processors than the partition has";
    // Lines are at most 100 wide.
    let out = told.well().out.replace('\n', " ");
    assert!(out.contains(wanted) && !told.out.contains("another version"), "{}", told.out);
}

#[test]
fn a_trace_is_written_beside_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let out = argument(&folder.path().join("out"));
    let ran = gridemu(&["replay", "lublin[jobs=30,load=0.8]", "--policy", "easy", "--out", &out, "--trace"]);
    assert!(ran.err.contains("slices; open it in https://ui.perfetto.dev"), "{}", ran.err);
    ran.well();
    let text = std::fs::read_to_string(folder.path().join("out/trace.json")).unwrap();
    let trace: Value = serde_json::from_str(&text).unwrap();
    let slices = trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X");
    let segments = std::fs::read_to_string(folder.path().join("out/segments.csv")).unwrap();
    // A stretch on processors apart is several slices.
    let intervals: usize =
        segments.lines().skip(1).map(|line| line.split(',').nth(12).unwrap().split(' ').count()).sum();
    assert_eq!(slices.count(), intervals);
    assert!(trace["otherData"]["fingerprint"].as_str().unwrap().starts_with("60:"));

    let path = file(folder.path(), "no-folder.toml", format!("{SITE}workload = 'lublin[jobs=3]'\n"));
    gridemu(&["run", &path, "--trace"]).ends(2, &["`--trace` needs the folder", "--out DIR"]);
    let without = ["run", &path, "--out", &out, "--trace", "--set", "output.segments=false"];
    gridemu(&without).ends(2, &["a trace is made of segments.csv", "`output.segments=true`"]);
}

#[test]
fn the_measures_of_a_campaign_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let text = "measures = ['rejected']\n[scenario]\n[[scenario.site]]\nname = 'delft'\nmachines = [{ class = 'node', count = 8 }]\nworkload = 'lublin[jobs=30,load=0.2]'\n";
    let path = file(folder.path(), "study.toml", text);
    gridemu(&["campaign", &path])
        .ends(2, &["there is no measure `rejected` (did you mean `outcomes.rejected`?)", "--list-measures"]);
    // Also while the file asks for what there is not.
    let listed = gridemu(&["campaign", &path, "--list-measures"]);
    let out = &listed.well().out;
    assert!(
        out.contains("\n mean_wait ") && out.contains("Mean time from submission to first start."),
        "{out}"
    );
    assert!(
        out.contains("`site.*.`") && !out.contains("site.delft"),
        "measures of groups are not repeated: {out}"
    );
    let some = gridemu(&["campaign", &path, "--list-measures", "site.*.mean_wait"]);
    assert!(
        some.well().out.contains("\n site.delft.mean_wait ") && !some.out.contains("p95"),
        "{}",
        some.out
    );
    gridemu(&["campaign", &path, "--list-measures", "utilisation"])
        .ends(2, &["no measure matches `utilisation` (did you mean `utilization`?)"]);
    let json = gridemu(&["campaign", &path, "--list-measures", "--json"]).json();
    let wait = json.as_array().unwrap().iter().find(|info| info["id"] == "mean_wait").unwrap();
    assert_eq!((&wait["unit"], &wait["better"]), (&"s".into(), &"lower".into()));
}

/// The load that a generator offered is listed by the name under which runs have it.
#[test]
fn the_offered_load_of_a_generator_is_a_measure() {
    let folder = tempfile::tempdir().unwrap();
    let text = "measures = ['offered_load.*']\n[scenario]\n[[scenario.site]]\nname = 'delft'\nmachines = [{ class = 'node', count = 128 }]\nworkload = 'lublin[jobs=300,load=0.2]'\n";
    let path = file(folder.path(), "study.toml", text);
    let listed = gridemu(&["campaign", &path, "--list-measures", "offered"]);
    assert!(listed.well().out.contains("\n offered_load.value "), "{}", listed.out);
    let store = folder.path().join("store").display().to_string();
    let table = gridemu(&["campaign", &path, "--store", &store, "--json"]).json();
    let offered = table["rows"][0]["values"][0].as_f64().unwrap();
    assert!((offered - 0.2).abs() < 1e-3, "{table}");
}

/// What machines draw asleep can be asked for where they have a sleep state, and only there.
#[test]
fn measures_of_sleep_are_those_of_machines_that_may_sleep() {
    let folder = tempfile::tempdir().unwrap();
    let wanted = "['energy.transitions_kwh', 'site.*.energy.asleep_kwh', 'usage.dormant']";
    let text = |class: &str| {
        format!(
            "measures = {wanted}\n[scenario]\n[[scenario.site]]\nname = 'delft'\npower_policy = 'sleep-idle'\nmachines = [{{ class = 'node', count = 8, idle = '95 W', busy = '200 W'{class} }}]\nworkload = 'lublin[jobs=30,load=0.2]'\n"
        )
    };
    let store = folder.path().join("store").display().to_string();
    let sleeps = file(folder.path(), "sleeps.toml", text(", sleep = { power = '9 W', wake = '150 s' }"));
    let out = gridemu(&["campaign", &sleeps, "--store", &store, "--json"]).well().out.clone();
    assert!(out.contains("energy.transitions_kwh") && out.contains("site.delft.energy.asleep_kwh"), "{out}");
    let never = file(folder.path(), "never.toml", text(""));
    gridemu(&["campaign", &never]).ends(2, &["there is no measure `usage.dormant`"]);
}

/// The lines of the ledger can be asked for: of energy where machines draw power, of money and carbon where they are known.
#[test]
fn measures_of_the_ledger_are_those_of_what_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let wanted = "['ledger.energy_kwh.idle', 'site.*.ledger.carbon_kg.useful', 'per_work.energy_kwh', 'site.*.per_work.carbon_kg']";
    let text = |class: &str, keys: &str| {
        format!(
            "measures = {wanted}\n[scenario]\n[[scenario.site]]\nname = 'delft'\nmachines = [{{ class = 'node', count = 8{class} }}]\n{keys}\nworkload = 'lublin[jobs=30,load=0.2]'\n"
        )
    };
    let store = folder.path().join("store").display().to_string();
    let (draws, carbon) = (", idle = '95 W', busy = '200 W'", "carbon = '300 g/kWh'");
    let path = file(folder.path(), "all.toml", text(draws, carbon));
    let table = gridemu(&["campaign", &path, "--store", &store, "--json"]).json();
    let values = table["rows"][0]["values"].as_array().unwrap();
    assert!(values.len() == 4 && values.iter().all(|value| value.as_f64() > Some(0.0)), "{table}");
    let path = file(folder.path(), "nothing.toml", text("", carbon));
    gridemu(&["campaign", &path]).ends(2, &["there is no measure `ledger.energy_kwh.idle`"]);
    let network = "[scenario.broker]\n[scenario.network]\nenergy = '5 J/GB'\nprice = '0.09/GB'";
    let of_data = "measures = ['ledger.energy_kwh.data', 'ledger.electricity.data']\n[scenario]\n[[scenario.site]]\nname = 'delft'\nmachines = [{ class = 'node', count = 8 }]\n[[scenario.workload]]\npoisson = { jobs = 9, every = '1 min', size = '1', runtime = '5 min' }\ninput = '2 GB'\n".to_owned();
    let path = file(folder.path(), "data.toml", of_data + network);
    let table = gridemu(&["campaign", &path, "--store", &format!("{store}-2"), "--json"]).json();
    assert_eq!(table["rows"][0]["values"], serde_json::json!([0.000025, 1.62]), "18 GB, 90 J");
    let path = file(folder.path(), "no-carbon.toml", text(draws, ""));
    gridemu(&["campaign", &path]).ends(2, &["there is no measure `site.*.ledger.carbon_kg.useful`"]);
}

/// Every measure that a grid of everything can have has a meaning, and a name in one style.
#[test]
fn every_measure_has_a_meaning() {
    let folder = tempfile::tempdir().unwrap();
    let base = format!("{}/configs/quickstart.toml", env!("CARGO_MANIFEST_DIR"));
    let text = format!("scenario = '{base}'\n[set]\nclasses = 'kettimuthu-4'\n");
    let path = file(folder.path(), "study.toml", text);
    let json = gridemu(&["campaign", &path, "--list-measures", "--json"]).json();
    let all = json.as_array().unwrap();
    assert!(all.len() > 400, "{}", all.len());
    for info in all {
        let id = info["id"].as_str().unwrap();
        let plain = |sign: char| sign.is_ascii_lowercase() || sign.is_ascii_digit() || "._".contains(sign);
        assert!(id.chars().all(plain), "`{id}`");
        assert!(info["meaning"].as_str().unwrap().ends_with('.'), "`{id}` has no meaning");
    }
    // A name of before is told with that of today, and so is the next one.
    let old =
        format!("scenario = '{base}'\nmeasures = ['churn.lost.a machine left.proc_s', 'nowhere.jobs']\n");
    let path = file(folder.path(), "old.toml", old);
    gridemu(&["campaign", &path])
        .ends(2, &["(did you mean `churn.wasted.machine_left.proc_s`?)", "(did you mean `no_site.jobs`?)"]);
}

/// The studies that the README names: each is as large as it says, and gives intervals and figures with fewer jobs and seeds too.
#[test]
fn the_studies_give_intervals_and_figures() {
    let root = env!("CARGO_MANIFEST_DIR");
    let small = |study: &str, runs: usize, sets: &[&str], figure: &[&str]| {
        let path = format!("{root}/configs/studies/{study}.toml");
        let listed = gridemu(&["campaign", &path, "--list", "--json", "--store", "nowhere"]).json();
        assert_eq!(listed.as_array().unwrap().len(), runs, "{study}");
        let readme = fs::read_to_string(format!("{root}/README.md")).unwrap();
        let typed = format!("gridemu report {study}.campaign {}\n", figure.join(" "));
        assert!(
            readme.contains(&format!("gridemu compare configs/studies/{study}.toml\n{typed}")),
            "{typed}"
        );
        let text = fs::read_to_string(path).unwrap();
        let text = text.replace("seeds    = 30", "seeds = 5").replace("\"../", &format!("\"{root}/configs/"));
        let folder = tempfile::tempdir().unwrap();
        let path = file(folder.path(), "study.toml", text);
        let place = |name: &str| folder.path().join(name).display().to_string();
        let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
        let compared =
            gridemu(&[&["compare", &path, "--store", &place("s"), "--json"], &sets[..]].concat()).json();
        let cells = compared["study"]["cells"].as_array().unwrap();
        let with_interval = cells.iter().filter(|cell| cell["low"].is_number()).count();
        assert!(
            with_interval > cells.len() / 2,
            "{study}: {with_interval} of {} have intervals",
            cells.len()
        );
        assert_eq!(compared["study"]["baseline"], "mct");
        let (page, figures) = (place("page.html"), place("figures"));
        gridemu(&[&["report", &place("s"), "--out", &page, "--svg", &figures], figure].concat()).well();
        assert!(fs::read_dir(figures).unwrap().count() >= 5, "{study}");
    };
    let fewer = ["workload[0].poisson.jobs=300", "measure={from=\"1 h\",to=\"1 d\"}"];
    small("brokers-under-churn", 270, &fewer, &["--along", "mtbf_h", "--within", "mtbf_h"]);
    let fewer = [
        "workload[0].lublin.jobs=40",
        "site.windsor.workload.lublin.jobs=60",
        "site.delft.workload.lublin.jobs=10",
        "measure={from=\"0 s\",to=\"5 d\"}",
    ];
    small("energy-cost-wait", 210, &fewer, &["--pareto", "grid.mean_wait,grid.charged_kwh"]);
}

/// The study of grouping: its campaigns are as large as they say, and its claims are judged and drawn of small workflows, too.
#[test]
fn the_study_of_grouping_judges_its_predictions() {
    let study = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/studies/grouping");
    let folder = tempfile::tempdir().unwrap();
    let small = folder.path().join("grouping");
    fs::create_dir(&small).unwrap();
    for entry in fs::read_dir(&study).unwrap() {
        let entry = entry.unwrap();
        let text = fs::read_to_string(entry.path()).unwrap();
        let text = text
            .replace("seeds    = \"1001..1030\"", "seeds = [7]")
            .replace("montage[tasks=200]", "montage[tasks=31]");
        let text = text
            .replace("[tasks=200]", "[tasks=31]")
            .replace("jobs=80", "jobs=8")
            .replace("\"workload[0].count\" = 8", "\"workload[0].count\" = 2");
        fs::write(small.join(entry.file_name()), text).unwrap();
    }
    for (campaign, runs) in
        [("center", 192), ("granularity", 48), ("starting", 24), ("network", 36), ("load", 24)]
    {
        let runs_of = |folder: &Path| {
            let path = folder.join(format!("{campaign}.toml")).display().to_string();
            gridemu(&["campaign", &path, "--list", "--json", "--store", "nowhere"])
                .json()
                .as_array()
                .unwrap()
                .len()
        };
        assert_eq!((runs_of(&study), runs_of(&small)), (30 * runs, runs), "{campaign}");
    }
    let place = |name: &str| folder.path().join(name).display().to_string();
    let small = small.display().to_string();
    let found =
        gridemu(&["reproduce", &small, "--pages", &place("pages"), "--store", &place("store"), "--json"]);
    let claims = found.json()["claims"].as_array().unwrap().len();
    assert!(claims > 30, "{claims} claims");
    let page = fs::read_to_string(folder.path().join("pages/grouping.md")).unwrap();
    assert!(page.contains("Sites with users of their own") && page.contains("grouping/planning"), "{page}");
    // The page of the study is of these claims.
    let whole = fs::read_to_string(study.join("claims.toml")).unwrap();
    let page = fs::read_to_string(study.join("../../../docs/studies/grouping.md")).unwrap();
    for id in whole.lines().filter_map(|line| line.strip_prefix("id       = ")) {
        assert!(page.contains(&format!("`{}`", id.trim_matches('"'))), "{id}");
    }
}

/// The study of sleep: its campaigns are as large as they say, and its claims are judged and its fronts drawn of few jobs, too.
#[test]
fn the_study_of_sleep_judges_its_predictions() {
    let study = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/studies/sleep");
    let folder = tempfile::tempdir().unwrap();
    let small = folder.path().join("sleep");
    fs::create_dir(&small).unwrap();
    for entry in fs::read_dir(&study).unwrap() {
        let entry = entry.unwrap();
        let text = fs::read_to_string(entry.path()).unwrap();
        let text = text.replace("\"3001..3040\"", "[7, 8]").replace("jobs = 2000", "jobs = 30");
        fs::write(small.join(entry.file_name()), text).unwrap();
    }
    for (campaign, points) in [("load", 50), ("wake", 36), ("local", 18)] {
        let path = study.join(format!("{campaign}.toml")).display().to_string();
        let runs = gridemu(&["campaign", &path, "--list", "--json", "--store", "nowhere"]).json();
        assert_eq!(runs.as_array().unwrap().len(), 40 * points, "{campaign}");
    }
    let place = |name: &str| folder.path().join(name).display().to_string();
    let small = small.display().to_string();
    gridemu(&["reproduce", &small, "--pages", &place("pages"), "--store", &place("store")]).well();
    let page = fs::read_to_string(folder.path().join("pages/sleep.md")).unwrap();
    assert_eq!(page.matches("|variant|mean wait (s)|IT energy (kWh)|Pareto front|").count(), 5, "{page}");
    assert!(page.contains("](sleep/front-load-0.2.svg)"), "{page}");
    // The page of the study is of these claims.
    let whole = fs::read_to_string(study.join("claims.toml")).unwrap();
    let page = fs::read_to_string(study.join("../../../docs/studies/sleep.md")).unwrap();
    for id in whole.lines().filter_map(|line| line.strip_prefix("id       = ")) {
        assert!(page.contains(&format!("`{}`", id.trim_matches('"'))), "{id}");
    }
}

/// The study of an optimiser: its campaigns are as large as they say, and its claims are judged and drawn of few jobs and schedules, too.
#[test]
fn the_study_of_an_optimiser_judges_its_predictions() {
    let study = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/studies/optimiser");
    let folder = tempfile::tempdir().unwrap();
    let small = folder.path().join("optimiser");
    fs::create_dir(&small).unwrap();
    for entry in fs::read_dir(&study).unwrap() {
        let entry = entry.unwrap();
        let mut text = fs::read_to_string(entry.path()).unwrap();
        for (all, few) in [
            ("\"6001..6040\"", "[7]"),
            ("\"6001..6060\"", "[7]"),
            ("jobs = 200", "jobs = 12"),
            ("population=40", "population=4"),
            ("population=20", "population=4"),
            ("population=100", "population=8"),
            ("generations=500", "generations=4"),
            ("generations=200", "generations=4"),
            ("generations=100", "generations=3"),
            ("generations=50", "generations=2"),
            ("generations=20,", "generations=2,"),
            ("tasks=50", "tasks=31"),
            ("count           = 8", "count           = 1"),
            ("count           = 100", "count           = 6"),
        ] {
            text = text.replace(all, few);
        }
        fs::write(small.join(entry.file_name()), text).unwrap();
    }
    for (campaign, points, seeds) in [
        ("jobs", 54, 60),
        ("batch", 20, 60),
        ("paul", 24, 60),
        ("planning", 18, 60),
        ("workflows", 96, 40),
        ("fronts", 36, 60),
    ] {
        let path = study.join(format!("{campaign}.toml")).display().to_string();
        let runs = gridemu(&["campaign", &path, "--list", "--json", "--store", "nowhere"]).json();
        assert_eq!(runs.as_array().unwrap().len(), seeds * points, "{campaign}");
    }
    let place = |name: &str| folder.path().join(name).display().to_string();
    let small = small.display().to_string();
    gridemu(&["reproduce", &small, "--pages", &place("pages"), "--store", &place("store")]).well();
    let page = fs::read_to_string(folder.path().join("pages/optimiser.md")).unwrap();
    assert!(page.contains("](optimiser/hypervolume.svg)") && page.contains("## Claims"), "{page}");
    // The page of the study is of these claims.
    let whole = fs::read_to_string(study.join("claims.toml")).unwrap();
    let page = fs::read_to_string(study.join("../../../docs/studies/optimiser.md")).unwrap();
    for id in whole.lines().filter_map(|line| line.strip_prefix("id       = ")) {
        assert!(page.contains(&format!("`{}`", id.trim_matches('"'))), "{id}");
    }
}

/// Writes a log of thirty jobs, that run for `least` seconds or longer, for each log of the archive that a campaign names.
fn small_logs(archive: &Path, campaign: &str, least: u32) {
    let rows = (1..=30).map(|job| {
        let (submit, run, procs) = (job * 40, least + job * 97 % 500, 20 + job * 31 % 70);
        format!("{job} {submit} -1 {run} {procs} -1 -1 {procs} 900 -1 1 1 1 1 1 1 -1 -1\n")
    });
    let log = gzipped(rows.collect::<String>().as_bytes());
    for name in campaign.split('"').filter_map(|word| word.strip_prefix("archive:")) {
        fs::write(archive.join(name), &log).unwrap();
    }
}

/// The study of the budget of a search: its campaigns are as large as they say, and its claims are judged and drawn of small logs, too.
#[test]
fn the_study_of_the_budget_of_a_search_judges_its_predictions() {
    let study = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/studies/search-budget");
    let folder = tempfile::tempdir().unwrap();
    let (small, archive) = (folder.path().join("search-budget"), folder.path().join("swf"));
    fs::create_dir(&small).unwrap();
    fs::create_dir(&archive).unwrap();
    let whole = fs::read_to_string(study.join("whole.toml")).unwrap();
    small_logs(&archive, &whole, 60);
    for entry in fs::read_dir(&study).unwrap() {
        let entry = entry.unwrap();
        let text = fs::read_to_string(entry.path()).unwrap();
        let text = text.replace("first\" = 400", "first\" = 20").replace("seeds    = 30", "seeds    = 2");
        // Two windows of small logs, each without a beginning of its own.
        let mut windows = 0;
        let lines = text.lines().filter_map(|line| match line.rsplit_once(", ") {
            Some((place, skip)) if skip.ends_with("],") && place.contains("\"archive:") => {
                windows += 1;
                (windows <= 2).then(|| format!("{place}, {}],\n", 3 * windows))
            }
            _ => Some(format!("{line}\n")),
        });
        fs::write(small.join(entry.file_name()), lines.collect::<String>()).unwrap();
    }
    let with = [("GRIDEMU_DATA", argument(folder.path()))];
    for (campaign, runs) in [("whole", 54), ("windows", 48), ("million", 24)] {
        let path = small.join(format!("{campaign}.toml")).display().to_string();
        let listed = with_environment(&with, &["campaign", &path, "--list", "--json", "--store", "nowhere"]);
        assert_eq!(listed.json().as_array().unwrap().len(), runs, "{campaign}");
    }
    let place = |name: &str| folder.path().join(name).display().to_string();
    let small = small.display().to_string();
    let arguments = ["reproduce", &small, "--pages", &place("pages"), "--store", &place("store")];
    with_environment(&with, &arguments).well();
    let page = fs::read_to_string(folder.path().join("pages/search-budget.md")).unwrap();
    assert!(
        page.contains("](search-budget/million-mean-bounded-slowdown") && page.contains("## Claims"),
        "{page}"
    );
    // The page of the study is of these claims.
    let claims = fs::read_to_string(study.join("claims.toml")).unwrap();
    let page = fs::read_to_string(study.join("../../../docs/studies/search-budget.md")).unwrap();
    for id in claims.lines().filter_map(|line| line.strip_prefix("id       = ")) {
        assert!(page.contains(&format!("`{}`", id.trim_matches('"'))), "{id}");
    }
}

/// The claims of a study are those of its page.
fn page_has_the_claims(study: &Path) {
    let claims = fs::read_to_string(study.join("claims.toml")).unwrap();
    let name = study.file_name().unwrap().to_str().unwrap();
    let page = fs::read_to_string(study.join(format!("../../../docs/studies/{name}.md"))).unwrap();
    let mut count = 0;
    for id in claims.lines().filter_map(|line| line.strip_prefix("id       = ")) {
        assert!(page.contains(&format!("`{}`", id.trim_matches('"'))), "{id}");
        count += 1;
    }
    assert!(
        count > 15 && page.starts_with("# ") && page.contains(&format!("**{count} claims: ")),
        "{count} claims"
    );
}

/// The study of time sharing: its campaigns are as large as they say, and its claims are judged of few jobs, too.
#[test]
fn the_study_of_time_sharing_judges_its_predictions() {
    let study = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/studies/time-sharing");
    let folder = tempfile::tempdir().unwrap();
    let small = folder.path().join("time-sharing");
    fs::create_dir(&small).unwrap();
    for entry in fs::read_dir(&study).unwrap() {
        let entry = entry.unwrap();
        let text = fs::read_to_string(entry.path()).unwrap();
        let text = text
            .replace("\"22001..22030\"", "[7, 8]")
            .replace("\"22101..22140\"", "[7, 8]")
            .replace("jobs = 1000", "jobs = 12");
        fs::write(small.join(entry.file_name()), text).unwrap();
    }
    for (campaign, runs) in [("mix", 30 * 16 * 3 * 3 * 3), ("lublin", 40 * 17 * 3)] {
        let path = study.join(format!("{campaign}.toml")).display().to_string();
        let listed = gridemu(&["campaign", &path, "--list", "--json", "--store", "nowhere"]).json();
        assert_eq!(listed.as_array().unwrap().len(), runs, "{campaign}");
    }
    let place = |name: &str| folder.path().join(name).display().to_string();
    let small = small.display().to_string();
    gridemu(&["reproduce", &small, "--pages", &place("pages"), "--store", &place("store")]).well();
    let page = fs::read_to_string(folder.path().join("pages/time-sharing.md")).unwrap();
    assert!(page.contains("## Claims") && page.contains("](time-sharing/"), "{page}");
    page_has_the_claims(&study);
}

/// The study of sizes that follow the load: its campaigns are as large as they say, and its claims are judged of small logs, too.
#[test]
fn the_study_of_adaptation_judges_its_predictions() {
    let study = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/studies/adaptation");
    let folder = tempfile::tempdir().unwrap();
    let (small, archive) = (folder.path().join("adaptation"), folder.path().join("swf"));
    fs::create_dir(&small).unwrap();
    fs::create_dir(&archive).unwrap();
    let shares = fs::read_to_string(study.join("shares.toml")).unwrap();
    small_logs(&archive, &shares, 400);
    for entry in fs::read_dir(&study).unwrap() {
        let entry = entry.unwrap();
        let text = fs::read_to_string(entry.path()).unwrap();
        fs::write(small.join(entry.file_name()), text.replace("\"22201..22230\"", "[7, 8]")).unwrap();
    }
    let with = [("GRIDEMU_DATA", argument(folder.path()))];
    for (campaign, runs) in [("shares", 2 * 3 * 3 * 5 * 3), ("speedups", 3 * 5 * 2 * 5)] {
        let path = small.join(format!("{campaign}.toml")).display().to_string();
        let listed = with_environment(&with, &["campaign", &path, "--list", "--json", "--store", "nowhere"]);
        assert_eq!(listed.json().as_array().unwrap().len(), runs, "{campaign}");
    }
    let place = |name: &str| folder.path().join(name).display().to_string();
    let small = small.display().to_string();
    let arguments = ["reproduce", &small, "--pages", &place("pages"), "--store", &place("store")];
    with_environment(&with, &arguments).well();
    let page = fs::read_to_string(folder.path().join("pages/adaptation.md")).unwrap();
    assert!(page.contains("## Claims") && page.contains("](adaptation/"), "{page}");
    page_has_the_claims(&study);
}
