//! `gridemu check`, `run`, `schema` and `policies`.

use super::{argument, file, gridemu};

const QUICK: &str = "configs/quickstart.toml";

#[test]
fn a_fine_scenario_is_a_line() {
    let ran = gridemu(&["check", QUICK]);
    let line = "configs/quickstart.toml: valid: 3 sites with 416 processors, broker `mct`, 1 workload through the portal, 2 at sites, 4 \
                events, random outages at 1 site\n";
    assert_eq!(ran.well().out, line);
    let ran =
        gridemu(&["check", QUICK, "--set", "site[0].machines[0].count=8", "--set", "broker.policy=mct"]);
    assert!(ran.well().out.contains("3 sites with 384 processors"), "{}", ran.out);
}

#[test]
fn mistakes_go_to_standard_error_with_exit_code_2() {
    for (args, says) in [
        (
            &["check", QUICK, "--set", "broker.policy=mtc"][..],
            "`--set broker.policy=mtc`: there is no broker policy",
        ),
        (
            &["check", "tests/it/scenarios/bad/unknown-key.toml"],
            "unknown-key.toml, line 1, `sed`: there is no such key",
        ),
        (&["check", "nothing.toml"], "cannot read `nothing.toml`"),
        (&["run", QUICK, "--seed", "x"], "`--seed x`: `x` is not a whole number"),
        (&["run", QUICK, "--pace", "0"], "`--pace 0`: `0` is not a pace"),
        (&["run", QUICK, "--pace", "60", "--engine", "direct"], "the plain loop cannot be paced"),
    ] {
        let ran = gridemu(args);
        ran.ends(2, &["error: ", says]);
        assert_eq!(ran.out, "", "{}", ran.args);
    }
}

#[test]
fn what_is_shown_can_be_checked() {
    let folder = tempfile::tempdir().unwrap();
    let shown = gridemu(&["check", "--show", QUICK, "--set", "seed=9"]).well().out.clone();
    let path = file(folder.path(), "shown.toml", &shown);
    assert_eq!(gridemu(&["check", "--show", &path]).well().out, shown);
    assert!(shown.starts_with("# quickstart, with every default. Hash "), "{shown}");
}

/// Options of `run` are keys in short, and are part of the scenario that is checked before anything else.
#[test]
fn a_workload_that_cannot_be_opened_is_told_with_its_owner() {
    let folder = tempfile::tempdir().unwrap();
    file(folder.path(), "empty.swf", "");
    let site = "[[site]]\nname = 'delft'\nmachines = [{ class = 'node' }]\nworkload = 'empty.swf'\n";
    let path = file(folder.path(), "scenario.toml", site);
    gridemu(&["run", &path]).ends(2, &["the workload of site `delft`: ", "empty.swf", "hint: "]);
    let out = argument(&folder.path().join("out"));
    gridemu(&["run", &path, "--out", &out]).ends(2, &["empty.swf"]);
}

#[test]
fn the_schema_is_printed() {
    let schema = gridemu(&["schema"]).json();
    assert_eq!(schema["title"], "gridemu scenario");
}

#[test]
fn policies_of_both_kinds_are_listed_and_described() {
    let all = gridemu(&["policies"]);
    let (local, broker) = all.well().out.split_once("Broker policies").unwrap();
    assert!(local.contains("\neasy[order=fcfs,") && broker.contains("mct"), "{}", all.out);
    assert!(local.contains("\n    easy-d = easy[dedicated=reserve]\n"), "{}", all.out);
    let mct = gridemu(&["policies", "mct"]);
    assert!(mct.well().out.starts_with("mct (broker policy)\n"), "{}", mct.out);
    let listed = gridemu(&["policies", "--json"]).json();
    let kinds: Vec<_> =
        listed.as_array().unwrap().iter().map(|told| told["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"local") && kinds.contains(&"broker"), "{kinds:?}");
    let easy = gridemu(&["policies", "easy", "--json"]).json();
    assert_eq!(
        (easy[0]["name"].as_str(), easy[0]["params"][0]["key"].as_str()),
        (Some("easy"), Some("order"))
    );
    let alias = gridemu(&["policies", "easy-d", "--json"]).json();
    assert_eq!(alias, easy, "another name describes what it stands for");
    gridemu(&["policies", "esay"]).ends(2, &["no policy `esay` (did you mean `easy`?)"]);
}
