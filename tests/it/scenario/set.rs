//! `--set key=value`.

use gridemu::scenario::Scenario;
use gridemu::units::{Rate, Span};

use super::{fine, refused};

const TEXT: &str = r#"
[[site]]
name = "delft"
machines = [{ class = "old", count = 4 }, { class = "new", count = 8 }]
workload = "lublin[jobs=20,load=0.5]"

[[site]]
name = "das"
count = 3
use = "sites/das2-32.toml"

[broker]

[[workload]]
poisson = { jobs = 10 }
"#;

fn counts(scenario: &Scenario) -> Vec<u32> {
    scenario
        .resolved
        .grid
        .sites
        .iter()
        .flat_map(|site| &site.partitions)
        .map(|part| part.machines())
        .collect()
}

fn policies(scenario: &Scenario) -> Vec<String> {
    scenario.resolved.grid.sites.iter().map(|site| site.policy.to_string()).collect()
}

#[test]
fn keys_are_found_by_name_and_by_number() {
    assert_eq!(counts(&fine(TEXT, &[])), [4, 8, 32, 32, 32]);
    for (set, expected) in [
        ("site[0].machines[1].count=9", [4, 9, 32, 32, 32]),
        ("site.delft.machines.new.count=9", [4, 9, 32, 32, 32]),
        ("site.das.machines.p3.count=9", [4, 8, 9, 9, 9]),
        ("site[1].machines[0].count=9", [4, 8, 9, 9, 9]),
        ("site.das-2.machines.p3.count=9", [4, 8, 32, 9, 32]),
    ] {
        assert_eq!(counts(&fine(TEXT, &[set])), expected, "{set}");
    }
    assert_eq!(fine(TEXT, &["site.das.count=1"]).resolved.grid.sites.len(), 2);
    assert_eq!(counts(&fine(TEXT, &["site.das.use=sites/das2-72.toml"])), [4, 8, 72, 72, 72]);
    let chosen = fine(TEXT, &["site.das.policy=fcfs", "site.das-3.policy=easy[order=sjf]"]);
    assert_eq!(policies(&chosen), ["easy", "fcfs", "fcfs", "easy[order=sjf]"]);
}

/// Sites that are still to be repeated have no name of their own.
#[test]
fn a_site_is_found_by_name_behind_a_list_of_names() {
    let text = TEXT.replace("name = \"das\"\ncount = 3", "name = \"das\"").replace(
        "[[site]]\nname = \"delft\"",
        "[[site]]\nnames = [\"ada\", \"bob\"]\nmachines = [{ class = \"node\", count = 1 }]\n\n[[site]]\nname = \"delft\"",
    );
    let chosen = fine(&text, &["site.delft.policy=fcfs", "site.bob.policy=conservative"]);
    assert_eq!(policies(&chosen), ["easy", "conservative", "fcfs", "easy"]);
}

#[test]
fn values_are_what_the_key_wants() {
    let scenario = fine(
        TEXT,
        &[
            "name=2024",
            "seed=9",
            "site.delft.overrun=true",
            "site.delft.pue=1.5",
            "site.delft.machines[0].speed=2",
            "broker.monitoring_interval=5 min",
            "broker.in_flight=7",
            "clock={ pace = 60 }",
            "network.latency=20 ms",
            "site.delft.workload.lublin.jobs=30",
            "site.das-1.churn={ up = \"exponential[mean=45 h]\", down = \"exponential[mean=1 h]\" }",
            "workload[0].load=0.25",
        ],
    );
    let resolved = &scenario.resolved;
    assert_eq!((resolved.name.as_str(), resolved.grid.seed, resolved.pace), ("2024", 9, Some(60.0)));
    let delft = &resolved.grid.sites[0];
    assert_eq!((delft.overrun, delft.pue_ppm), (true, 1_500_000));
    assert_eq!(delft.partitions[0].speed(), Rate::ratio(2, 1));
    let broker = resolved.grid.broker.as_ref().unwrap();
    assert_eq!((broker.monitoring_interval, broker.in_flight), (Span::from_secs(300), Some(7)));
    assert_eq!(resolved.grid.network.link(0, 2).latency, Span::from_micros(20_000));
    assert!(scenario.text.contains("jobs = 30, load = 0.5"), "{}", scenario.text);
    let churning: Vec<bool> = resolved.grid.sites.iter().map(|site| site.churn.random.is_some()).collect();
    assert_eq!(churning, [false, true, false, false]);
    assert_eq!(fine(TEXT, &["seed=1", "seed=2"]).resolved.grid.seed, 2, "the last one counts");
}

#[test]
fn mistakes_are_told_as_typed() {
    for (set, said) in [
        ("nonsense", "`--set nonsense`: this is not of the form `key=value`"),
        ("seed=", "`--set seed=`: there is no value"),
        ("=5", "`--set =5`: `` is not a key"),
        ("site[x].policy=easy", "`site[x].policy` is not a key"),
        ("sed=5", "`--set sed=5`: there is no such key (did you mean `seed`?)"),
        ("seed=five", "`--set seed=five`: `five` is not a whole number"),
        ("broker.policy=mtc", "`--set broker.policy=mtc`: there is no broker policy `mtc`"),
        ("site.delf.policy=easy", "there is no `delf` in `site` (did you mean `delft`?)"),
        ("site.das-4.policy=easy", "there is no `das-4` in `site` (did you mean `das-"),
        ("site[7].policy=easy", "there is no `site[7]`; the last is `site[1]`"),
        ("site.delft.machines.gpu.count=4", "there is no `gpu` in `site.delft.machines`"),
        ("site.delft.machines.count=4", "there is no `count` in `site.delft.machines`"),
        ("seed.x=4", "`seed`: a table is not a whole number"),
        ("site.delft.name.x=4", "`site.delft.name` is not a table, so it has no `x`"),
        ("event[0].at=2 h", "the scenario has no `event`"),
        ("clock={ pace = ", "the value is not TOML"),
        ("network.latency=5", "`5` has no unit"),
        ("site.das.count=0", "this must be a number of sites"),
    ] {
        let error = refused(TEXT, &[set]);
        assert!(error.contains(said) && error.contains("--set"), "{set}: {error}");
    }
}
