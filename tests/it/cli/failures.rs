//! Machines that follow a trace of failures, from `check` to a fork.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::{argument, gridemu, with_environment};

const SCENARIO: &str = "until = '1 h'
output = { machines = true }
churn = { trace = 'nodes.tab' }
[[site]]
name = 'delft'
machines = [{ class = 'old', count = 2, nodes = 'd/old*' }, { class = 'new', count = 1 }]
workload = { poisson = { jobs = 40, every = '90 s', runtime = 'exponential[mean=3 min]', size = '1' } }
[[site]]
name = 'leiden'
machines = [{ class = 'node', count = 2, cores = 2 }]
churn = { nodes = 'l/?' }
";

/// Nodes and their outages, in seconds from 1,000,000 on.
type Outages<'a> = &'a [(&'a str, &'a [(u64, u64)])];

const NODES: Outages<'_> = &[
    ("d/old2", &[(0, 60), (600, 900), (1_200, 1_201)]),
    ("d/old10", &[(600, 700)]),
    ("d/a", &[(30, 40), (1_800, 7_200)]),
    ("l/2", &[(3_000, 3_300)]),
    ("l/1", &[]),
    ("l/12", &[(1, 2)]),
];

/// A trace with what these nodes did within two hours.
fn tab(nodes: Outages<'_>) -> String {
    let mut text = "# node_id node_name event_type event_start_time event_stop_time\n".to_owned();
    for ((name, outages), id) in nodes.iter().zip(0..) {
        let mut row = |kind: u8, from: u64, to: u64| {
            if from < to {
                text += &format!("{id}\t{name}\t{kind}\t{}\t{}\n", 1_000_000 + from, 1_000_000 + to);
            }
        };
        let mut at = 0;
        for (from, to) in *outages {
            row(1, at, *from);
            row(0, *from, *to);
            at = *to;
        }
        row(1, at, 7_200);
    }
    text
}

fn written(folder: &Path) -> [String; 3] {
    fs::write(folder.join("nodes.tab"), tab(NODES)).unwrap();
    fs::write(folder.join("grid.toml"), SCENARIO).unwrap();
    ["grid.toml", "out", "store"].map(|name| argument(&folder.join(name)))
}

/// The seconds for which each processor of each partition is down within `until`, by machines.csv.
fn down(out: &str, until: f64) -> BTreeMap<(String, u32), f64> {
    let table = fs::read_to_string(Path::new(out).join("machines.csv")).unwrap();
    let (mut since, mut down) = (BTreeMap::new(), BTreeMap::new());
    for row in table.lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        let time: f64 = cells[0].parse().unwrap();
        for part in cells[4].split(' ') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            for proc in first.parse::<u32>().unwrap()..=last.parse().unwrap() {
                let key = (format!("{}/{}", cells[1], cells[2]), proc);
                match cells[3] {
                    "down" => _ = since.entry(key).or_insert(time),
                    _ => {
                        if let Some(from) = since.remove(&key) {
                            *down.entry(key).or_insert(0.0) += time - from;
                        }
                    }
                }
            }
        }
    }
    for (key, from) in since {
        *down.entry(key).or_insert(0.0) += until - from;
    }
    down
}

#[test]
fn a_check_says_what_a_trace_is_and_who_follows_it() {
    let folder = tempfile::tempdir().unwrap();
    let [scenario, ..] = written(folder.path());
    let ran = gridemu(&["check", &scenario]);
    let told = "trace `nodes.tab`: 6 nodes, 20 rows from 1970-01-12T13:46:40Z to 1970-01-12T15:46:40Z, 8 outages, up 85.71 % of the time, 1 node never down\n\
                trace `nodes.tab`: the 3 machines of site `delft` follow `d/old2`, `d/old10`, `d/a` of its 6 nodes from 1970-01-12T13:46:40Z on: up 78.97 % of 1 h, 6 outages\n\
                trace `nodes.tab`: the 2 machines of site `leiden` follow `l/1`, `l/2` of its 6 nodes from 1970-01-12T13:46:40Z on: up 95.83 % of 1 h, 1 outage\n";
    assert!(ran.well().out.starts_with(told), "{}", ran.out);
    assert!(ran.out.contains("outages of a trace at 2 sites"), "{}", ran.out);
    assert!(!ran.err.contains("nodes.tab"), "{}", ran.err);
}

#[test]
fn machines_are_down_exactly_when_their_nodes_were() {
    let folder = tempfile::tempdir().unwrap();
    let [scenario, out, _] = written(folder.path());
    gridemu(&["run", &scenario, "--out", &out]).well();
    let key = |place: &str, proc| (place.to_owned(), proc);
    let expected = BTreeMap::from([
        (key("delft/old", 0), 361.0),
        (key("delft/old", 1), 100.0),
        (key("delft/new", 0), 1_810.0),
        (key("leiden/node", 2), 300.0),
        (key("leiden/node", 3), 300.0),
    ]);
    assert_eq!(down(&out, 3_600.0), expected);
    let events = fs::read_to_string(Path::new(&out).join("events.csv")).unwrap();
    assert!(events.contains("\n600,left,trace,delft,old,0-1,2,"), "{events}");
    assert!(events.contains("\n60,joined,trace,delft,old,0,1,"), "{events}");
    gridemu(&["validate", &out]).well();
}

#[test]
fn the_run_begins_where_it_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let [scenario, out, _] = written(folder.path());
    // 650 s later.
    for begin in ["churn.begin=1970-01-12T13:57:30Z", "calendar=1970-01-12T13:57:30Z"] {
        let _ = fs::remove_dir_all(&out);
        gridemu(&["run", &scenario, "--out", &out, "--set", begin]).well();
        let all = down(&out, 3_600.0);
        let of = |place: &str, proc| all.get(&(place.to_owned(), proc)).copied();
        assert_eq!(of("delft/old", 0), Some(251.0), "{begin}");
        assert_eq!(of("delft/old", 1), Some(50.0), "{begin}");
        assert_eq!(of("delft/new", 0), Some(3_600.0 - 1_150.0), "{begin}");
    }
    let both = ["--set", "calendar=2020-01-01T00:00Z", "--set", "churn.begin=1970-01-12T13:57:30Z"];
    gridemu(&[&["check", &scenario][..], &both].concat()).well();
    let early = ["check", &scenario, "--set", "calendar=2020-01-01T00:00Z"];
    gridemu(&early).ends(2, &[
        "`site.delft.churn.trace`: the trace is of 1970-01-12T13:46:40Z to 1970-01-12T15:46:40Z, and the run begins at 2020-01-01T00:00Z (`calendar`); `begin` says which",
    ]);
    // After the end of the trace machines stay as they are.
    let long = gridemu(&["check", &scenario, "--set", "until=3 h"]);
    assert!(long.well().err.contains("the trace ends at 1970-01-12T15:46:40Z, after 2 h of the run, which may last 3 h: its machines then stay as they are"), "{}", long.err);
    fs::remove_dir_all(&out).unwrap();
    let long = ["--set", "until=3 h", "--set", "at_least=3 h"];
    let summary = gridemu(&[&["run", &scenario, "--json", "--out", &out][..], &long].concat()).json();
    let notes = summary["notes"].to_string();
    assert!(notes.contains("the trace `nodes.tab` ended after 2 h of the run, which lasted 3 h: its machines then stayed as they were"), "{notes}");
    assert_eq!(down(&out, 10_800.0)[&("delft/new".to_owned(), 0)], 9_010.0);
}

#[test]
fn what_does_not_fit_is_refused_by_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let [scenario, ..] = written(folder.path());
    let refused = |sets: &[&str], says: &str| {
        let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
        gridemu(&[&["check", scenario.as_str()][..], &sets].concat()).ends(2, &[says]);
    };
    refused(
        &["site.leiden.churn.nodes=m/*"],
        "no node of the trace is called `m/*`; it has 6 nodes, the first are `d/a`, `d/old2`, `d/old10`",
    );
    refused(
        &["site.leiden.machines.node.count=3"],
        "the site has 3 machines, and there are 2 nodes for them",
    );
    refused(&["site.delft.machines.old.count=5"], "the class has 5 machines, and there are 2 nodes for them");
    refused(&["churn.trace=gone.tab"], "gone.tab` is not there");
    refused(&["churn.system=3"], "`nodes.tab`, line 1: a trace of the Failure Trace Archive has no systems");
    refused(
        &[
            "site.leiden.churn.up=exponential[mean=1 h]",
            "site.leiden.churn.down=exponential[mean=1 h]",
            "site.leiden.churn.trace=nodes.tab",
        ],
        "machines follow the trace, or fail by chance (`up`, `down`); remove one of them",
    );
    refused(
        &["site.leiden.churn={nodes=\"l/1\"}", "churn={on_failure=\"wait\"}"],
        "`nodes` is about a `trace`, and there is none",
    );
    // What a site has of its own stands for the other.
    let own = "site.leiden.churn={up=\"exponential[mean=1 h]\",down=\"exponential[mean=1 h]\"}";
    let ran = gridemu(&["check", &scenario, "--set", own]);
    assert!(ran.well().out.contains("random outages at 1 site, outages of a trace at 1 site"), "{}", ran.out);
    // Two sites that follow the same nodes fail together.
    let same = gridemu(&["check", &scenario, "--set", "site.leiden.churn.nodes=d/*"]);
    assert!(same.well().err.contains("2 machines of site `leiden` follow nodes"), "{}", same.err);
}

#[test]
fn a_fork_may_follow_another_trace_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let [scenario, out, store] = written(folder.path());
    gridemu(&["run", &scenario, "--out", &out, "--checkpoint", &store, "--checkpoint-keep-at", "11 min"])
        .well();
    let other = argument(&folder.path().join("other.tab"));
    fs::write(
        &other,
        tab(&[
            ("d/old2", &[(0, 661)]),
            ("d/old10", &[]),
            ("d/a", &[(650, 3_000)]),
            ("l/1", &[]),
            ("l/2", &[]),
        ]),
    )
    .unwrap();
    let futures = argument(&folder.path().join("futures"));
    let fork = |at: &str, set: &str| {
        let _ = fs::remove_dir_all(&futures);
        let ran = gridemu(&["fork", &store, "--at", at, "--set", set, "--out", &futures, "--json"]);
        let as_it_was = Path::new(&futures).join("as-it-was").display().to_string();
        // The future that changes nothing is the run itself.
        assert_eq!(down(&as_it_was, 3_600.0), down(&out, 3_600.0));
        assert!(!ran.well().err.contains("bug"), "{}", ran.err);
        let changes = ran.json()["grid"]["branch"]["changes"].to_string();
        let changed = Path::new(&futures).join("changed").display().to_string();
        (changes, down(&changed, 3_600.0))
    };
    let key = |place: &str, proc| (place.to_owned(), proc);
    let (changes, down) = fork("11 min", &format!("site.delft.churn.trace={other}"));
    let words = "site `delft`: failure trace: `other.tab` from 1970-01-12T13:46:40Z on instead of `nodes.tab` from 1970-01-12T13:46:40Z on";
    assert!(changes.contains(words), "{changes}");
    assert_eq!((down[&key("delft/old", 0)], down[&key("delft/old", 1)]), (60.0 + 61.0, 60.0));
    assert_eq!(down[&key("delft/new", 0)], 10.0 + 3_000.0 - 660.0);
    // Without a trace, machines that are down by it are back at once.
    let (changes, down) = fork("51 min", "site.leiden.churn={on_failure=\"wait\"}");
    assert!(changes.contains("site `leiden`: failure trace: none instead of `nodes.tab`"), "{changes}");
    assert_eq!((down[&key("leiden/node", 2)], down[&key("delft/old", 0)]), (60.0, 361.0));
}

#[test]
fn an_archive_is_found_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let [scenario, ..] = written(folder.path());
    fs::create_dir(folder.path().join("fta")).unwrap();
    fs::copy(folder.path().join("nodes.tab"), folder.path().join("fta/there.tab")).unwrap();
    let data = [("GRIDEMU_DATA", argument(folder.path()))];
    let args = ["check", &scenario, "--set", "churn.trace=archive:there.tab"];
    assert!(with_environment(&data, &args).well().out.contains("trace `there.tab`: 6 nodes"));
}

const RACKS: &str = "seed = 4
until = '20 d'
[[site]]
name = 'delft'
machines = [{ class = 'node', count = 24 }]
churn = { up = 'exponential[mean=40 h]', down = 'exponential[mean=1 h]' }
workload = { poisson = { jobs = 200, every = '2 h', runtime = 'exponential[mean=1 h]', size = '1..16' } }
";
const GROUP: &str = "site.delft.churn.group={every=\"exponential[mean=5 d]\",rack=8,window=\"1 min\"}";

/// The instants at which each machine left for this reason, by events.csv.
fn left(out: &str, cause: &str) -> BTreeSet<(String, u32)> {
    let table = fs::read_to_string(Path::new(out).join("events.csv")).unwrap();
    let mut all = BTreeSet::new();
    for cells in table.lines().map(|row| row.split(',').collect::<Vec<_>>()) {
        if (cells[1], cells[2]) == ("left", cause) {
            for part in cells[5].split(' ') {
                let (first, last) = part.split_once('-').unwrap_or((part, part));
                let machines = first.parse::<u32>().unwrap()..=last.parse().unwrap();
                all.extend(machines.map(|machine| (cells[0].to_owned(), machine)));
            }
        }
    }
    all
}

#[test]
fn machines_fail_alone_and_in_groups() {
    let folder = tempfile::tempdir().unwrap();
    let [scenario, alone, both] =
        ["grid.toml", "alone", "both"].map(|name| argument(&folder.path().join(name)));
    fs::write(&scenario, RACKS).unwrap();
    let checked = gridemu(&["check", &scenario, "--set", GROUP]);
    let told = "machines of `delft/node`: a machine fails in racks of 8 every 5 d in the mean, and is up 99.17 % of the time as far as these go, 97.56 % alone, 96.75 % in all\n";
    assert!(checked.well().out.starts_with(told), "{}", checked.out);
    gridemu(&["run", &scenario, "--out", &alone]).well();
    gridemu(&["run", &scenario, "--out", &both, "--set", GROUP]).well();
    gridemu(&["validate", &both]).well();
    // Groups shift no failure of a machine alone; some are not told, because the machine is down.
    let (before, after) = (left(&alone, "chance"), left(&both, "chance"));
    assert!(
        after.is_subset(&before) && after.len() * 10 > before.len() * 9,
        "{} of {}",
        after.len(),
        before.len()
    );
    let groups = left(&both, "group");
    assert!((40..140).contains(&groups.len()) && left(&alone, "group").is_empty(), "{}", groups.len());
    // Nor does anything else shift a group: with other machines, and none that fails alone.
    let none = argument(&folder.path().join("none"));
    let without = format!(
        "site.delft.churn={{down=\"exponential[mean=1 h]\",{}}}",
        "group={every=\"exponential[mean=5 d]\",rack=8,window=\"1 min\"}"
    );
    let refused = gridemu(&["check", &scenario, "--set", &without]);
    refused.ends(2, &["`down` needs `up`"]);
    let without = "site.delft.churn={group={every=\"exponential[mean=5 d]\",rack=8,window=\"1 min\",down=\"exponential[mean=1 h]\"}}";
    gridemu(&["run", &scenario, "--out", &none, "--set", without]).well();
    assert!(groups.is_subset(&left(&none, "group")));
}

#[test]
fn what_no_group_is_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = argument(&folder.path().join("grid.toml"));
    fs::write(&scenario, RACKS).unwrap();
    let every = "every=\"exponential[mean=5 d]\"";
    for (group, says) in [
        (format!("{{{every}}}"), "how many machines fail at once? Give a `rack`"),
        (format!("{{{every},rack=0}}"), "a rack has at least one machine"),
        (format!("{{{every},rack=8,size=\"geometric[mean=2]\"}}"), "`rack` and `size` exclude each other"),
        (format!("{{{every},size=\"geometric[mean=0.5]\"}}"), "a number from 1 to 1000000"),
        (format!("{{{every},size=\"uniform[mean=2]\"}}"), "write `4`, `geometric[mean=1.2]`"),
        ("{rack=8}".to_owned(), "every"),
    ] {
        gridemu(&["check", &scenario, "--set", &format!("site.delft.churn.group={group}")]).ends(2, &[says]);
    }
    let set = format!("site.delft.churn={{group={{{every},rack=8}}}}");
    gridemu(&["check", &scenario, "--set", &set])
        .ends(2, &["how long do its machines stay down? Give `down`"]);
}
