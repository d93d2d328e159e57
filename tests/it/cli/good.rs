//! Commands that do what they are asked.

use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use super::{argument, file, gridemu, gzipped, log, row, rows_of, with_input};

const TINY: &str = "lublin[jobs=200,load=0.9,seed=3]";

/// Compares with `snapshots/`; the times of the run itself are different every time.
fn matches(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.add_filter(r"read [0-9.]+ s, schedule [0-9.]+ s, write [0-9.]+ s", "[times]");
    // The last column of the comparison.
    settings.add_filter(r"(?m)[0-9]+\.[0-9]{3}$", "[s]");
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn two_policies_end_in_one_comparison() {
    let ran = gridemu(&["replay", TINY, "--policy", "fcfs", "--policy", "easy[order=sjf]"]);
    matches("comparison", &ran.well().out);
    assert_eq!(ran.err, "", "nothing to tell");
}

#[test]
fn one_policy_by_class() {
    let ran = gridemu(&["replay", TINY, "--policy", "easy", "--classes", "kettimuthu-4"]);
    matches("by-class", &ran.well().out);
}

#[test]
fn inspection_of_a_model() {
    matches("inspect", &gridemu(&["inspect", TINY]).well().out);
}

#[test]
fn the_policies_are_listed_and_described() {
    matches("policies", &gridemu(&["policies"]).well().out);
    matches("policies-easy", &gridemu(&["policies", "easy"]).well().out);
}

#[test]
fn json_has_what_scripts_need_at_the_top() {
    let one = gridemu(&["replay", TINY, "--policy", "easy", "--json"]).json();
    for key in ["mean_wait", "mean_response", "mean_bounded_slowdown", "utilization", "makespan", "tau"] {
        assert!(one[key].as_f64().is_some_and(|value| value > 0.0), "{key}: {}", one[key]);
    }
    for key in ["read_s", "schedule_s", "write_s"] {
        assert!(one[key].as_f64().is_some_and(|value| value >= 0.0), "{key}: {}", one[key]);
    }
    assert_eq!((&one["jobs"], &one["policy"], &one["seed"]), (&200.into(), &"easy".into(), &3.into()));
    assert!(one["fingerprint"].as_str().unwrap().starts_with("400:"));

    let two = gridemu(&["replay", TINY, "--policy", "easy", "--policy", "fcfs", "--json"]).json();
    assert_eq!(two.as_array().unwrap().len(), 2);
    assert_eq!(two[0]["fingerprint"], one["fingerprint"], "a policy's run does not depend on the others");
    assert_ne!(two[1]["fingerprint"], one["fingerprint"]);
}

/// The seed that is told is the one that was used, also if a generator names another for its jobs.
#[test]
fn the_seed_told_is_that_of_the_estimates() {
    let run = |seed: &str| {
        let args = ["replay", TINY, "--policy", "easy", "--estimates", "tsafrir", "--json", "--seed", seed];
        gridemu(&args).json()
    };
    let (five, six) = (run("5"), run("6"));
    assert_eq!((&five["seed"], &six["seed"]), (&5.into(), &6.into()));
    assert_eq!(five["workload"], TINY);
    assert_ne!(five["fingerprint"], six["fingerprint"]);
}

/// What changes a result is told with it, as it would be typed again.
#[test]
fn a_summary_tells_the_options_of_its_run() {
    let args = ["replay", TINY, "--policy", "easy"];
    assert_eq!(gridemu(&[&args[..], &["--json"]].concat()).json()["options"], serde_json::json!([]));
    let options =
        ["--overrun", "--allocation-unit", "2", "--speed", "1.5", "--busy", "95 W/core", "--price", "0.05"];
    let more = ["--first", "150", "--pue", "1.3", "--reserve", "2h..1d:64", "--reserve", "2d..3d:4"];
    let all = [&args[..], &options, &more].concat();
    let told = gridemu(&[&all[..], &["--json"]].concat()).json();
    let typed: Vec<_> =
        told["options"].as_array().unwrap().iter().map(|option| option.as_str().unwrap()).collect();
    let expected = "--overrun --first 150 --allocation-unit 2 --speed 1.5 --busy '95 W/core' --pue 1.3 --price 0.05/core-h \
                    --reserve 7200..86400:64 --reserve 172800..259200:4";
    assert_eq!(typed.join(" "), expected);
    let table = gridemu(&all);
    assert_eq!(table.well().out.lines().nth(2), Some(&*format!("with {expected}")));

    // The told options make the same run.
    let plain = expected.replace("'95 W/core'", "95W/core").replace("--first 150", "--first=150");
    let again: Vec<_> = args.iter().copied().chain(plain.split(' ')).chain(["--json"]).collect();
    assert_eq!(gridemu(&again).json()["fingerprint"], told["fingerprint"]);
}

/// What a reader must know before trusting a result.
#[test]
fn notes_say_what_was_not_as_asked() {
    let text = log(&[&row(1, &[(9, "-1")]), &row(2, &[(5, "20"), (8, "20")]), &row(3, &[])]);
    let told = |args: &[&str]| {
        let args = [&["replay", "-", "--policy", "easy"], args].concat();
        with_input(&args, &text).well().out.clone()
    };
    let table = told(&["--feedback"]);
    for note in [
        "note: read 1 job without a requested time: its run time is the estimate (first at line 2)",
        "note: rejected 1 job that requests more than 10 processors; `--cap` reduces such jobs of a log to the machine",
        "note: no job follows another: the workload names no preceding jobs",
    ] {
        assert!(table.contains(note), "no `{note}` in {table}");
    }
    let blocks = told(&["--allocation-unit", "4", "--cap"]);
    assert!(
        blocks
            .contains("note: rejected 1 job that requests more than the 8 processors that the machine gives"),
        "{blocks}"
    );
    // The model has run times only.
    assert_eq!(gridemu(&["replay", TINY, "--policy", "easy", "--json"]).json()["estimates"], "exact");
}

#[test]
fn a_run_leaves_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let out = argument(folder.path());
    let files = ["--out", &out, "--machines", "--batsim", "--json"];
    let told = gridemu(&[&["replay", TINY, "--policy", "easy"], &files[..]].concat()).json();
    assert_eq!(rows_of(&folder.path().join("jobs.csv")), 200);
    assert_eq!(rows_of(&folder.path().join("segments.csv")), 200);
    assert!(folder.path().join("machines.csv").exists());
    assert!(folder.path().join("batsim/out_jobs.csv").exists());
    let header = std::fs::read_to_string(folder.path().join("jobs.csv")).unwrap();
    assert!(header.starts_with("job,submit,start,end,procs,site,outcome,"));
    let kept = std::fs::read_to_string(folder.path().join("summary.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&kept).unwrap(), told);

    // A figure can be recomputed from the files.
    let mut table = csv::Reader::from_path(folder.path().join("jobs.csv")).unwrap();
    let waits: Vec<f64> = table.records().map(|row| row.unwrap()[10].parse().unwrap()).collect();
    let mean = waits.iter().sum::<f64>() / waits.len() as f64;
    assert!((mean - told["mean_wait"].as_f64().unwrap()).abs() < 1e-6 * mean);
}

#[test]
fn several_policies_leave_a_folder_each() {
    let folder = tempfile::tempdir().unwrap();
    let out = argument(folder.path());
    gridemu(&["replay", TINY, "--policy", "fcfs", "--policy", "easy[order=sjf]", "--out", &out]).well();
    for policy in ["fcfs", "easy-order=sjf"] {
        assert_eq!(rows_of(&folder.path().join(policy).join("jobs.csv")), 200);
        assert!(folder.path().join(policy).join("summary.json").exists());
    }
}

/// A log written by `generate` is the same workload as the model run directly, by whichever way it comes.
#[test]
fn a_generated_log_replays_like_the_model() {
    let fingerprint = |summary: Value| summary["fingerprint"].as_str().unwrap().to_owned();
    let replay = |log: &str, input: &str| {
        fingerprint(with_input(&["replay", log, "--policy", "easy", "--json"], input).json())
    };
    let huang = gridemu(&["generate", "huang", "jobs=3", "workload=2"]).well().out.clone();
    assert!(huang.contains("huang[") && huang.contains("the size that they prefer"), "{huang}");
    for model in [
        TINY,
        "lublin[jobs=150,types=typed,procs=64]",
        "lublin[jobs=100,reference=true]",
        "poisson[jobs=100,size=1..32]",
        // With the sizes that moldable and malleable jobs prefer, which they have under EASY.
        "huang[jobs=100]",
        // Recognised by its first row, whatever its name.
        "cwf[jobs=100,load=0.9,pd=0.4,pe=0.2,pr=0.1]",
    ] {
        let direct = replay(model, "");
        let text = gridemu(&["generate", model]).well().out.clone();
        assert_eq!(replay("-", &text), direct, "{model} by pipe");
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(replay(&file(folder.path(), "log.swf.gz", gzipped(text.as_bytes())), ""), direct);
        let plain = argument(&folder.path().join("log.swf"));
        gridemu(&["generate", model, "--output", &plain]).well();
        assert_eq!(std::fs::read_to_string(&plain).unwrap(), text);
        assert_eq!(replay(&plain, ""), direct);
    }
}

#[test]
fn inspection_of_a_cloud_workload() {
    let model = "cwf[jobs=200,load=0.9,pd=0.5,pe=0.2,pr=0.1,seed=3]";
    let shown = gridemu(&["inspect", model]).well().out.clone();
    matches("inspect-cwf", &shown);
    let folder = tempfile::tempdir().unwrap();
    let log = argument(&folder.path().join("cloud.cwf"));
    gridemu(&["generate", model, "--output", &log]).well();
    let of_log = gridemu(&["inspect", &log]).well().out.clone();
    assert_eq!(of_log.split_once(": ").unwrap().1.replace("(UTC)", ""), {
        let of_model = shown.split_once(": ").unwrap().1;
        of_model.replace("(since the start of the log, modulo a day)", "")
    });
    let found = gridemu(&["inspect", &log, "--json"]).json();
    assert_eq!(found["commands"]["kinds"][0]["code"], "ET");
    let gap = |load: &str| {
        let shown = gridemu(&["inspect", &log, "--json", "--load", load]).json();
        (shown["dedicated"]["lead"]["mean"].clone(), shown["interarrivals"]["mean"].as_f64().unwrap())
    };
    let ((lead, sparse), (same, dense)) = (gap("0.45"), gap("0.9"));
    assert!(
        lead == same && (sparse / dense - 2.0).abs() < 0.01,
        "starts keep their distance: {sparse} {dense}"
    );
}

#[test]
fn inspection_as_json() {
    let found = gridemu(&["inspect", TINY, "--json"]).json();
    assert_eq!(found["jobs"], 200);
    assert!((found["offered_load"].as_f64().unwrap() - 0.9).abs() < 0.05, "{}", found["offered_load"]);
}

/// `gridemu generate ... | head` is no failure.
#[test]
fn a_reader_that_has_had_enough_is_no_failure() {
    let path = assert_cmd::cargo::cargo_bin!("gridemu");
    let mut child = std::process::Command::new(path)
        .args(["generate", "lublin[jobs=100000]"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Recorded waits are of the recorded submissions: with others there is nothing to compare.
#[test]
fn recorded_waits_are_compared_with_the_recorded_load_only() {
    let text = log(&[&row(1, &[(3, "5")]), &row(2, &[(3, "7")]), &row(3, &[])]);
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "waits.swf", text);
    let waits = |args: &[&str]| {
        let summary = gridemu(&[&["replay", &path, "--policy", "easy", "--json"], args].concat()).json();
        summary["recorded_waits"].as_array().unwrap().clone()
    };
    assert_eq!((&waits(&[])[0]["jobs"], &waits(&[])[0]["recorded_mean"]), (&2.into(), &6.0.into()));
    assert!(waits(&["--load", "2"]).is_empty() && waits(&["--load-factor", "2"]).is_empty());
}

/// A column of `jobs.csv`, job by job.
fn column(folder: &Path, name: &str) -> Vec<String> {
    let mut table = csv::Reader::from_path(folder.join("jobs.csv")).unwrap();
    let at = table.headers().unwrap().iter().position(|column| column == name).unwrap();
    let mut rows: Vec<(u64, String)> = table
        .records()
        .map(|row| row.map(|row| (row[0].parse().unwrap(), row[at].to_owned())).unwrap())
        .collect();
    rows.sort();
    rows.into_iter().map(|(_, value)| value).collect()
}

/// Kettimuthu 2003, section 4.2: arrival times divided by a constant, run times as they are.
#[test]
fn arrival_times_are_divided_by_a_load_factor() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "three.swf", log(&[&row(1, &[]), &row(2, &[]), &row(3, &[])]));
    let out = folder.path().join("out");
    let out_text = argument(&out);
    let submits = |factor: &str| {
        let options = ["--load-factor", factor, "--out", &out_text];
        let ran = gridemu(&[&["replay", &path, "--policy", "easy"], &options[..]].concat());
        assert!(ran.well().out.contains(&format!("--load-factor {factor}")), "{}", ran.out);
        assert_eq!(column(&out, "run"), ["10", "10", "10"]);
        // What is written beside the results gives them again.
        let again = gridemu(&["run", &argument(&out.join("scenario.toml")), "--json"]).json();
        let fingerprint = std::fs::read_to_string(out.join("summary.json")).unwrap();
        assert!(fingerprint.contains(again["fingerprint"].as_str().unwrap()), "{factor}");
        column(&out, "submit")
    };
    // Submitted at 10, 20 and 30 s.
    assert_eq!(submits("2"), ["10", "15", "20"]);
    assert_eq!(submits("4/3"), ["10", "17.5", "25"]);
    assert_eq!(submits("0.5"), ["10", "30", "50"]);
}

/// A part of a log: its jobs keep their numbers and their times, and one that follows a job before it comes as it was logged.
#[test]
fn the_beginning_of_a_log_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let rows = [row(1, &[]), row(2, &[]), row(3, &[(17, "2"), (18, "5")]), row(4, &[])];
    let path = file(folder.path(), "four.swf", log(&rows.each_ref().map(String::as_str)));
    let out = folder.path().join("out");
    let out_text = argument(&out);
    let of = |options: &[&str]| {
        let ran = gridemu(&[&["replay", &path, "--policy", "easy", "--out", &out_text], options].concat());
        assert!(ran.well().out.contains("--skip "), "{}", ran.out);
        let again = gridemu(&["run", &argument(&out.join("scenario.toml")), "--json"]).json();
        let written = std::fs::read_to_string(out.join("summary.json")).unwrap();
        assert!(written.contains(again["fingerprint"].as_str().unwrap()), "{options:?}");
        (column(&out, "job"), column(&out, "submit"))
    };
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    assert_eq!(of(&["--skip", "2"]), (texts(&["3", "4"]), texts(&["30", "40"])));
    assert_eq!(of(&["--skip", "1", "--first", "2"]), (texts(&["2", "3"]), texts(&["20", "30"])));
    assert_eq!(of(&["--skip", "2", "--feedback"]).1, texts(&["30", "40"]));
    // Gaps are counted from the first job that is left.
    assert_eq!(of(&["--skip", "2", "--load-factor", "2"]).1, texts(&["30", "35"]));
    // As the log without its beginning.
    let rest = file(folder.path(), "rest.swf", log(&[&rows[2], &rows[3]]));
    let prints = |path: &str, options: &[&str]| {
        let ran =
            gridemu(&[&["replay", path, "--policy", "easy", "--load", "0.5", "--json"], options].concat());
        ran.json()["fingerprint"].clone()
    };
    assert_eq!(prints(&path, &["--skip", "2"]), prints(&rest, &[]));
    for all in ["4", "5"] {
        let problem = format!("`skip` leaves out {all} jobs, and `four.swf` has 4");
        gridemu(&["replay", &path, "--policy", "easy", "--skip", all])
            .ends(2, &[&problem, "hint: leave out fewer"]);
    }
    let generated = ["replay", "lublin[jobs=9]", "--policy", "easy", "--json"];
    let summary = gridemu(&[&generated[..], &["--skip", "5"]].concat()).json();
    assert_eq!(summary["jobs"], 4);
}

/// Run times of 10 s, and estimates of 20, 21 and 5 s; the third job is killed at its estimate.
#[test]
fn jobs_are_classified_by_their_estimates() {
    let folder = tempfile::tempdir().unwrap();
    let rows = [row(1, &[(9, "20")]), row(2, &[(9, "21")]), row(3, &[(9, "5")])];
    let path = file(folder.path(), "three.swf", log(&rows.each_ref().map(String::as_str)));
    let out = folder.path().join("out");
    let out_text = argument(&out);
    let classes = |options: &[&str]| {
        let always = ["replay", &path, "--policy", "easy", "--out", &out_text, "--json"];
        let summary = gridemu(&[&always, options].concat()).json();
        (column(&out, "class"), summary)
    };
    let (labels, summary) = classes(&["--classes", "kettimuthu-32"]);
    assert_eq!(labels, ["VS N well", "VS N badly", "VS N well"]);
    assert_eq!(summary["class_preset"], "kettimuthu-32");
    let badly = summary["classes"].as_array().unwrap().iter().find(|class| class["class"] == "VS N badly");
    assert_eq!((&badly.unwrap()["jobs"], &badly.unwrap()["max_response"]), (&1.into(), &10.0.into()));
    // The estimates of the run count, not those of the log.
    let (labels, _) = classes(&["--classes", "kettimuthu-estimates", "--estimates", "exact"]);
    assert_eq!(labels, ["well"; 3]);
    let (labels, _) = classes(&["--classes", "cuts[estimates=1/2]", "--estimates", "log"]);
    assert_eq!(labels, ["<=2x", ">2x", "<=1x"]);
}

#[test]
fn the_built_in_sites_are_listed_and_shown() {
    let listed = gridemu(&["sites"]).out;
    assert!(listed.contains("sites/das2-32.toml\n    64 processors of 32 machines, "), "{listed}");
    assert!(listed.contains("One of the four smaller clusters of DAS-2"), "{listed}");
    let all = gridemu(&["sites", "--json"]).json();
    let all = all.as_array().unwrap();
    assert_eq!(all.len(), 19);
    assert!(all.iter().all(|site| site["about"].as_str().unwrap().len() > 20), "{all:#?}");
    let text = std::fs::read_to_string("sites/das2-32.toml").unwrap();
    assert_eq!(gridemu(&["sites", "das2-32"]).out, text);
    gridemu(&["sites", "das-32"]).ends(2, &["there is no built-in site `das-32`", "did you mean `das2-32`?"]);
}
