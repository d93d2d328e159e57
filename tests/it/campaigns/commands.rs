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
    ran.ends(0, &["18 runs (2 policy x 3 load x 3 seeds)", "18 runs done now", "small.campaign/results.csv"]);
    insta::assert_snapshot!("table", ran.out);
    let again = campaign(folder.path(), &["small.toml"]);
    again.ends(0, &["0 runs done now, 18 kept from before"]);
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
    campaign(folder.path(), &["small.toml", "--shard", "2/9", "--store", "store"])
        .ends(0, &["part 2/9: 2 runs done now; of the other parts 0 runs have a result in this store, and 16 have none"]);
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
        campaign(folder.path(), &["small.toml", "--shard", shard]).ends(0, &["9 runs done now"]);
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
        &["part 1/3: 6 runs done now; of the other parts 0 runs have a result in this store, and 12 have none"],
    );
    part("3/3").ends(
        0,
        &[
            "part 3/3: 6 runs done now; of the other parts 6 runs have a result in this store, and 6 have none",
            "the table of the 12 runs that have one is",
        ],
    );
    let compared = gridemu(folder.path(), &["compare", "one", "--by", "policy"]);
    compared.ends(0, &["note: an unfinished campaign: 12 of 18 runs are in its table; go on with"]);
    part("1/3").ends(0, &["part 1/3: 0 runs done now, 6 kept from before; of the other parts 6 runs"]);
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
    let told = ["`killed` is of an unfinished campaign: 6 results of 18 runs are there, and no table"];
    let way = ["hint: go on with `gridemu campaign tests/it/scenarios/campaigns/small.toml --store killed`"];
    for command in ["compare", "report"] {
        gridemu(folder.path(), &[command, "killed"]).ends(2, &[told, way].concat());
    }
    // One of an earlier gridemu says less.
    std::fs::remove_file(about).unwrap();
    std::fs::remove_file(folder.path().join("killed/results.csv")).unwrap();
    let way = "hint: go on with `gridemu campaign FILE --store killed`";
    gridemu(folder.path(), &["report", "killed"]).ends(2, &["unfinished campaign: 6 results are there", way]);
}

#[test]
fn failed_runs_are_told_by_the_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let ran = campaign(folder.path(), &["failing.toml"]);
    ran.ends(1, &["error: 2 of 4 runs failed\n  run 3: ", "hint: the others are in the table"]);
    insta::assert_snapshot!("failed", ran.out);
}

#[test]
fn what_cannot_be_used_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    campaign(folder.path(), &["small.toml"]).ends(0, &[]);
    campaign(folder.path(), &["failing.toml", "--store", "small.campaign"]).ends(
        2,
        &[
            "`small.campaign` holds the results of the campaign `small`, not of `failing`",
            "hint: give each campaign a folder",
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
    campaign(folder.path(), &["small.toml", "--out", "table.xlsx"]).ends(2, &["`table.xlsx` is no table"]);
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
        .ends(2, &["`--set seed=4` would change nothing: the seeds are those of", "such as `seeds = [4]`"]);
    gridemu(folder.path(), &["run", "small.toml"]).ends(
        2,
        &["`scenario`: there is no such key", "hint: this looks like a campaign: `gridemu campaign "],
    );
}
