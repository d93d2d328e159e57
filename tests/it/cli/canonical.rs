//! The textbook cases in `configs/canonical`, through the whole command.

use std::collections::BTreeMap;
use std::path::Path;

use super::{argument, gridemu};

/// The rows of a table, by their columns.
fn table(path: &Path) -> Vec<BTreeMap<String, String>> {
    let mut rows = csv::Reader::from_path(path).expect("a table");
    let header = rows.headers().expect("a header").clone();
    let row = |row: csv::StringRecord| {
        header.iter().zip(&row).map(|(name, cell)| (name.to_owned(), cell.to_owned())).collect()
    };
    rows.records().map(|record| row(record.expect("a row"))).collect()
}

/// The makespan, and for each task its processor, start and end. The schedule is valid.
fn run(scenario: &str, policy: Option<&str>) -> (String, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    let out = argument(&folder.path().join("out"));
    let scenario = format!("configs/canonical/{scenario}.toml");
    let set = policy.map(|policy| format!("broker.policy={policy}"));
    let mut args = vec!["run", &scenario, "--out", &out];
    args.extend(set.iter().flat_map(|set| ["--set", set]));
    gridemu(&args).well();
    gridemu(&["validate", &out]).well();
    let out = folder.path().join("out");
    let makespan = table(&out.join("workflows.csv"))[0]["makespan"].clone();
    let mut tasks = table(&out.join("tasks.csv"));
    tasks.sort_by_key(|row| row["job"].parse::<u64>().expect("a number"));
    let tasks = tasks.iter().map(|row| format!("{} {}-{}", row["site"], row["started"], row["ended"]));
    (makespan, tasks.collect())
}

#[test]
fn list_schedules_are_those_of_the_papers() {
    let (makespan, placed) = run("topcuoglu-heft", None);
    let expected = [
        "P3 0-9", "P1 27-40", "P3 9-28", "P2 18-26", "P3 28-38", "P2 26-42", "P3 38-49", "P1 57-62",
        "P2 56-68", "P2 73-80",
    ];
    assert_eq!((makespan.as_str(), placed), ("80", expected.map(str::to_owned).to_vec()));
    let (makespan, placed) = run("topcuoglu-cpop", None);
    let expected = [
        "P2 0-16", "P2 16-35", "P1 28-39", "P3 25-42", "P2 35-48", "P3 42-51", "P1 39-46", "P3 54-68",
        "P2 65-77", "P2 79-86",
    ];
    assert_eq!((makespan.as_str(), placed), ("86", expected.map(str::to_owned).to_vec()));
    let (makespan, placed) = run("arabnejad-peft", None);
    let expected = [
        "P1 0-22",
        "P1 29-51",
        "P1 51-83",
        "P1 22-29",
        "P3 35-70",
        "P2 29-46",
        "P1 83-97",
        "P2 54-77",
        "P3 81-89",
        "P2 106-122",
    ];
    assert_eq!((makespan.as_str(), placed), ("122", expected.map(str::to_owned).to_vec()));
    assert_eq!(run("arabnejad-heft", None).0, "133");
}

/// The makespans by each mapper of ready tasks, and for two of them who runs where and when.
#[test]
fn ready_tasks_are_mapped_as_by_hand() {
    const MAPPERS: [&str; 8] =
        ["olb", "met", "mct", "min-min", "max-min", "duplex", "sufferage", "sufferage[commit=one]"];
    let makespans = |scenario: &str| MAPPERS.map(|policy| run(scenario, Some(policy)).0);
    assert_eq!(makespans("etc-a"), ["34", "35", "29", "34", "27", "27", "29", "28"]);
    assert_eq!(makespans("etc-b"), ["80", "45", "45", "40", "35", "35", "40", "40"]);
    let min = ["P2 6-14", "P3 5-14", "P1 0-4", "P1 4-34", "P2 0-6", "P3 0-5"];
    assert_eq!(run("etc-a", Some("min-min")).1, min);
    let max = ["P1 0-13", "P3 18-27", "P1 22-26", "P2 0-21", "P3 0-18", "P1 13-22"];
    assert_eq!(run("etc-a", Some("max-min")).1, max);
}
