//! `gridemu campaign`: what it prints, and how it refuses.

use std::path::Path;
use std::process::Command;

use assert_cmd::cargo::cargo_bin;

use super::file;

struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

fn campaign(folder: &Path, args: &[&str]) -> Ran {
    gridemu(folder, &[&["campaign"], args].concat())
}

fn gridemu(folder: &Path, args: &[&str]) -> Ran {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(cargo_bin!("gridemu"));
    command.current_dir(folder);
    for arg in args {
        // Files of the tests, from wherever it is typed.
        if arg.ends_with(".toml") {
            command.arg(root.join(file(arg)))
        } else {
            command.arg(arg)
        };
    }
    let done = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap().replace(&format!("{}/", root.display()), "");
    Ran { code: done.status.code(), out: text(done.stdout), err: text(done.stderr) }
}

impl Ran {
    #[track_caller]
    fn ends(&self, code: i32, says: &[&str]) -> &Self {
        assert_eq!(self.code, Some(code), "{}", self.err);
        for part in says {
            assert!(self.err.contains(part), "no `{part}` in {}", self.err);
        }
        self
    }
}

#[test]
fn the_table_is_a_row_a_point() {
    let folder = tempfile::tempdir().unwrap();
    let ran = campaign(folder.path(), &["small.toml"]);
    ran.ends(0, &["18 runs (2 policy x 3 load x 3 seeds)", "18 runs done", "small.campaign/results.csv"]);
    insta::assert_snapshot!("table", ran.out);
    let again = campaign(folder.path(), &["small.toml"]);
    again.ends(0, &["0 runs done, 18 kept from before"]);
    assert_eq!(again.out, ran.out);
    let json = campaign(folder.path(), &["small.toml", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json.ends(0, &[]).out).unwrap();
    assert_eq!((&json["axes"][1], json["rows"].as_array().unwrap().len()), (&"load".into(), 18));
}

#[test]
fn runs_are_listed_before_they_are_run() {
    let folder = tempfile::tempdir().unwrap();
    let ran = campaign(folder.path(), &["small.toml", "--list", "--shard", "2/9"]);
    insta::assert_snapshot!("list", ran.ends(0, &[]).out);
    assert!(!folder.path().join("small.campaign").exists(), "nothing was made");
    campaign(folder.path(), &["small.toml", "--shard", "2/9", "--store", "store"]).ends(
        0,
        &["part 2/9: 2 runs done; of the other parts 0 runs have a result in this store, and 16 have none"],
    );
    let ran = campaign(folder.path(), &["small.toml", "--dry-run", "--store", "store", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let done = json.as_array().unwrap().iter().filter(|run| run["state"] == "done").count();
    assert_eq!(done, 2);
}

#[test]
fn parts_come_together() {
    let folder = tempfile::tempdir().unwrap();
    let whole = campaign(folder.path(), &["small.toml", "--store", "whole", "--out", "whole.csv"]);
    for shard in ["1/2", "2/2"] {
        campaign(folder.path(), &["small.toml", "--shard", shard]).ends(0, &["9 runs done"]);
    }
    let parts = ["small.toml", "--merge", "small.campaign-1-of-2", "small.campaign-2-of-2"];
    let merged = campaign(folder.path(), &[&parts[..], &["--out", "merged.csv"]].concat());
    merged.ends(0, &["took over 18 results"]);
    assert_eq!(merged.out, whole.out);
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("merged.csv"), read("whole.csv"));
    let twice = ["small.toml", "--store", "x", "--merge", "small.campaign-1-of-2", "small.campaign-1-of-2"];
    campaign(folder.path(), &twice)
        .ends(2, &["overlap: both have run 1 (policy=fcfs, load=0.5, seed=1)", "hint: parts are made with"]);
    campaign(folder.path(), &["small.toml", "--merge", "nothing"])
        .ends(2, &["there is no store at `nothing`", "hint: a store is made by `gridemu campaign FILE`"]);
}

#[test]
fn parts_in_one_store_are_counted_apart() {
    let folder = tempfile::tempdir().unwrap();
    let part = |shard| campaign(folder.path(), &["small.toml", "--store", "one", "--shard", shard]);
    part("1/3").ends(
        0,
        &["part 1/3: 6 runs done; of the other parts 0 runs have a result in this store, and 12 have none"],
    );
    part("3/3").ends(
        0,
        &[
            "part 3/3: 6 runs done; of the other parts 6 runs have a result in this store, and 6 have none",
            "the table of the 12 runs that have one is",
        ],
    );
    let compared = gridemu(folder.path(), &["compare", "one", "--by", "policy"]);
    // The store is for no part alone any more.
    let note =
        "note: an unfinished campaign: 12 of 18 runs are in its table; continue with `gridemu campaign";
    compared.ends(0, &[note, "small.toml --store one`"]);
    part("1/3").ends(0, &["part 1/3: 0 runs done, 6 kept from before; of the other parts 6 runs"]);
    part("2/3")
        .ends(0, &["of the other parts 12 runs have a result in this store; the table of all 18 runs is"]);
    let compared = gridemu(folder.path(), &["compare", "one", "--by", "policy"]);
    assert!(!compared.err.contains("unfinished"), "{}", compared.err);
}

#[test]
fn an_unfinished_campaign_is_told_from_a_folder_without_runs() {
    let folder = tempfile::tempdir().unwrap();
    campaign(folder.path(), &["small.toml", "--shard", "1/3", "--store", "killed"]).ends(0, &[]);
    // What a process leaves that is killed before it has written its table.
    let about = folder.path().join("killed/campaign.json");
    let text = std::fs::read_to_string(&about).unwrap();
    std::fs::write(&about, text.replace("\"tabled\": 6", "\"tabled\": null")).unwrap();
    let told = "`killed` belongs to an unfinished part of a campaign (1/3): it has 6 results of 18 runs, and";
    let way = "hint: continue with `gridemu campaign tests/it/scenarios/campaigns/small.toml --shard 1/3 --store killed`";
    // The table of a store is the store.
    for (command, study) in [("compare", "killed"), ("report", "killed"), ("compare", "killed/results.csv")] {
        gridemu(folder.path(), &[command, study]).ends(2, &[&format!("{told} its table is outdated"), way]);
    }
    std::fs::remove_file(folder.path().join("killed/results.csv")).unwrap();
    gridemu(folder.path(), &["report", "killed"]).ends(2, &[&format!("{told} no table"), way]);
    // One of an earlier gridemu says less.
    std::fs::remove_file(about).unwrap();
    let way = "hint: continue with `gridemu campaign FILE --store killed`";
    gridemu(folder.path(), &["report", "killed"]).ends(2, &["unfinished campaign: it has 6 results", way]);
}

#[test]
fn a_part_is_gone_on_with_as_a_part_and_merged_when_it_is_done() {
    let folder = tempfile::tempdir().unwrap();
    for (part, store) in [("1/2", "p1"), ("2/2", "p2")] {
        campaign(folder.path(), &["small.toml", "--shard", part, "--store", store]).ends(0, &[]);
    }
    let note = "note: part 1/2 of a campaign: 9 of 18 runs are in its table; merge it with the others: `gridemu campaign \
                tests/it/scenarios/campaigns/small.toml --merge p1 OTHERS`";
    for study in ["p1", "p1/results.csv"] {
        gridemu(folder.path(), &["compare", study, "--by", "policy"]).ends(0, &[note]);
    }
    // The campaign is found from another folder too: here the tests' own name for it was cut.
    let about = std::fs::read_to_string(folder.path().join("p1/campaign.json")).unwrap();
    let about: serde_json::Value = serde_json::from_str(&about).unwrap();
    let command = about["command"].as_str().unwrap();
    let file = command.strip_prefix("gridemu campaign ").unwrap();
    assert!(Path::new(file).is_absolute(), "{command}");
    // As it says.
    campaign(folder.path(), &["small.toml", "--merge", "p1", "p2"]).ends(0, &["took over 18 results"]);
    let merged = gridemu(folder.path(), &["compare", "small.campaign", "--by", "policy"]);
    assert!(!merged.ends(0, &[]).err.contains("note:"), "{}", merged.err);
}

#[test]
fn the_file_of_a_campaign_is_named_from_its_root() {
    let folder = tempfile::tempdir().unwrap();
    let there = folder.path().join("there");
    std::fs::create_dir(&there).unwrap();
    let text = "seeds = 2\n[[scenario.site]]\nname = \"a\"\nmachines = [{ class = \"n\", count = 4 }]\n\
                workload = { lublin = { jobs = 9, load = 0.3 } }\n\
                [[axis]]\nkey = \"site.a.policy\"\nvalues = [\"fcfs\", \"easy\"]\n";
    std::fs::write(there.join("m.txt"), text).unwrap();
    campaign(&there, &["m.txt", "--store", "p1", "--shard", "1/2"]).ends(0, &[]);
    let ran = gridemu(folder.path(), &["compare", "there/p1"]);
    // The folder may have links in its name.
    let (_, hint) = ran.err.split_once("`gridemu campaign ").unwrap();
    let file = hint.split(' ').next().unwrap();
    assert!(Path::new(file).is_absolute() && Path::new(file).is_file(), "{}", ran.err);
}

#[test]
fn copies_of_one_run_are_no_sample() {
    // A log and thirty seeds, of which nothing is drawn: 31.25 s more under FCFS, thirty times.
    let folder = tempfile::tempdir().unwrap();
    let jobs = "1 0 -1 100 4 -1 -1 4 100 -1 1 1 1 1 1 1 -1 -1\n2 1 -1 50 4 -1 -1 4 50 -1 1 1 1 1 1 1 -1 -1\n\
                3 2 -1 90 2 -1 -1 2 90 -1 1 1 1 1 1 1 -1 -1\n4 3 -1 40 2 -1 -1 2 40 -1 1 1 1 1 1 1 -1 -1\n";
    std::fs::write(folder.path().join("jobs.swf"), jobs).unwrap();
    let text = "seeds = 30\nmeasures = [\"mean_wait\", \"mean_response\", \"utilization\"]\n[[scenario.site]]\nname = \"a\"\n\
                machines = [{ class = \"n\", count = 6 }]\nworkload = { log = \"jobs.swf\" }\n\
                [[axis]]\nkey = \"site.a.policy\"\nvalues = [\"easy\", \"fcfs\"]\n";
    std::fs::write(folder.path().join("m.txt"), text).unwrap();
    campaign(folder.path(), &["m.txt", "--store", "s"]).ends(0, &["60 runs done"]);
    let compared = gridemu(folder.path(), &["compare", "s"]);
    insta::assert_snapshot!("one_run", compared.ends(0, &[]).out);
    let json = gridemu(folder.path(), &["compare", "s", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json.ends(0, &[]).out).unwrap();
    let cell = &json["study"]["cells"][0];
    assert_eq!(
        (&cell["pairs"], &cell["one_run"], &cell["says"]),
        (&1.into(), &true.into(), &"nothing".into())
    );
    assert_eq!((&cell["p_value"], &cell["low"]), (&serde_json::Value::Null, &serde_json::Value::Null));
}

#[test]
fn failed_runs_are_told_by_the_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let ran = campaign(folder.path(), &["failing.toml"]);
    ran.ends(1, &["error: 2 of 4 runs failed\n  run 3: ", "hint: the others are in the table"]);
    insta::assert_snapshot!("failed", ran.out);
    let store = folder.path().join("failing.campaign");
    gridemu(folder.path(), &["report", "failing.campaign"]).ends(0, &[]);
    let page = std::fs::read_to_string(store.join("report.html")).unwrap();
    assert!(page.contains("2 of 2 failed"), "{page}");
}

#[test]
fn what_cannot_be_used_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    campaign(folder.path(), &["small.toml"]).ends(0, &[]);
    campaign(folder.path(), &["failing.toml", "--store", "small.campaign"]).ends(
        2,
        &[
            "`small.campaign` holds the results of the campaign `small`, not of `failing`",
            "hint: give each campaign its own folder",
        ],
    );
    for runs in [["--folders", "runs"], ["--threads", "2"]] {
        let merge = [&["small.toml", "--merge", "small.campaign", "--store", "all"][..], &runs].concat();
        campaign(folder.path(), &merge).ends(2, &["cannot be used with"]);
    }
    std::fs::create_dir(folder.path().join("other")).unwrap();
    std::fs::write(folder.path().join("other/thesis.tex"), "").unwrap();
    campaign(folder.path(), &["small.toml", "--store", "other"])
        .ends(2, &["not a store of gridemu: it holds `thesis.tex`"]);
    campaign(folder.path(), &["small.toml", "--shard", "3/2"]).ends(2, &["there is no part 3 of 2"]);
    campaign(folder.path(), &["small.toml", "--out", "table.xlsx"])
        .ends(2, &["`table.xlsx` must end in .csv or .parquet"]);
    campaign(folder.path(), &["small.toml", "--out", "nowhere/table.csv"])
        .ends(2, &["there is no folder `nowhere`"]);
    if cfg!(not(feature = "parquet")) {
        let refused = campaign(folder.path(), &["small.toml", "--out", "table.parquet"]);
        refused.ends(2, &["built without Parquet", "--features parquet"]);
    }
    let marker = folder.path().join("small.campaign/gridemu-campaign");
    let text = std::fs::read_to_string(&marker).unwrap();
    std::fs::write(&marker, &text[..40]).unwrap();
    campaign(folder.path(), &["small.toml"])
        .ends(2, &["the marker is cut short", "hint: delete the folder and run the campaign again"]);
    campaign(folder.path(), &["small.toml", "--set", "seed=4", "--list"])
        .ends(2, &["`--set seed=4` has no effect: the seeds are those of", "such as `seeds = [4]`"]);
    gridemu(folder.path(), &["run", "small.toml"]).ends(
        2,
        &["`scenario`: there is no such key", "hint: this looks like a campaign: `gridemu campaign "],
    );
}

#[test]
fn a_question_that_the_campaign_cannot_answer_is_refused_before_its_runs() {
    let folder = tempfile::tempdir().unwrap();
    let compare =
        |more: &[&str]| gridemu(folder.path(), &[&["compare", "small.toml", "--store", "s"], more].concat());
    compare(&["--by", "polcy"]).ends(2, &["no axis `polcy`", "did you mean `policy`?"]);
    compare(&["--measure", "mean_wiat"]).ends(2, &["no measure `mean_wiat`", "did you mean `mean_wait`?"]);
    compare(&["--baseline", "esay"]).ends(2, &["axis `policy` has no `esay`", "did you mean `easy`?"]);
    compare(&["--where", "load=2"]).ends(2, &["axis `load` has no `2`; it has"]);
    assert!(!folder.path().join("s").exists(), "nothing was run");
    gridemu(folder.path(), &["compare", "small.toml", "other"])
        .ends(2, &["small.toml` is the file of a campaign, and must be given alone"]);
    // A `*` stands for any name, here and in comparisons of folders.
    let found = compare(&["--measure", "site.*.utilization", "--json"]);
    let found: serde_json::Value = serde_json::from_str(&found.ends(0, &[]).out).unwrap();
    let measures = found["study"]["cells"].as_array().unwrap().iter().map(|cell| cell["measure"].as_str());
    assert_eq!(measures.collect::<Vec<_>>(), [Some("site.main.utilization"); 3]);
}
