//! What is wrong with a campaign is told before anything runs, with its place and what would be right.

use std::fmt::Write;
use std::path::Path;

use super::{FOLDER, load};

/// One tiny file a mistake, named for it. The messages are in the snapshot.
#[test]
fn mistakes_are_told_with_their_place() {
    let folder = format!("{FOLDER}/bad");
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut told = String::new();
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let Err(error) = load(&file, &[]) else { panic!("nothing is wrong with `{name}`") };
        assert_eq!(error.exit_code(), 2, "{name}");
        let _ = writeln!(told, "{name}\n{}", error.to_string().replace(&folder, "").replace("/../", "/"));
        if let Some(hint) = error.hint() {
            let _ = writeln!(told, "hint: {hint}");
        }
        told.push('\n');
    }
    // A new policy is no new message, and neither is a new measure.
    insta::with_settings!({ filters => vec![
        (r"there are \d+ for this scenario", "there are [N] for this scenario"),
        (r"there are fcfs, [^\n]*", "there are [POLICIES]"),
    ] }, { insta::assert_snapshot!(told) });
}

#[test]
fn what_an_axis_varies_is_not_set() {
    let error = load(Path::new(&format!("{FOLDER}/small.toml")), &["site.main.policy=fcfs"]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`site.main.policy` is what the axis `policy` of tests/it/scenarios/campaigns/small.toml varies"
    );
    let error = load(Path::new(&format!("{FOLDER}/small.toml")), &["site.main.polcy=fcfs"]).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("`--set site.main.polcy=fcfs`: there is no such key (did you mean `policy`?)"),
        "{error}"
    );
}

#[test]
fn a_file_that_is_not_there() {
    let error = load(Path::new("configs/campaigns/backfiling.toml"), &[]).unwrap_err();
    assert!(error.to_string().starts_with("cannot read `configs/campaigns/backfiling.toml`: "), "{error}");
    assert!(error.hint().unwrap().contains("configs/campaigns/backfilling.toml"));
}
