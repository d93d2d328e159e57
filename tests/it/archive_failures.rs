//! Published traces of failures, if they are available: `GRIDEMU_DATA` names the folder that contains `fta`. Without it these tests print
//! that they were skipped. The expected figures were made by a separate script from the published files.

use std::fmt::Write;
use std::fs::{self, File};

use gridemu::formats::failures::{FailureOptions, Failures, read};
use gridemu::units::Span;

use super::archive_swf::data;
use super::cli::gridemu;

const GRID5000: &str = "g5k06-event_trace.tab.xz";
const LANL: &str = "LA-UR-05-7318-failure-data-1996-2005.csv.xz";

/// The clusters of Grid'5000 in 2005 and 2006: site, clusters with their nodes, node-seconds for which they were available in the first 47,354,460 seconds.
const SITES: [(&str, &[u32], u64); 9] = [
    ("site1", &[64, 64, 99, 32], 7_171_126_659),
    ("site2", &[95], 1_222_444_770),
    ("site3", &[57], 2_146_019_842),
    ("site4", &[106, 57], 5_067_455_332),
    ("site5", &[56, 69], 2_177_320_949),
    ("site6", &[103, 24], 4_567_394_803),
    ("site7", &[46], 1_110_242_929),
    ("site8", &[342], 10_141_636_195),
    ("site9", &[74], 732_042_565),
];

fn open(name: &str, options: &FailureOptions) -> Option<Failures> {
    let path = data()?.join("fta").join(name);
    let file = File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Some(read(name, Box::new(file), options).unwrap())
}

/// For how many seconds of its machines' time each site was up, and its machines, in a run of a scenario.
fn up(scenario: &str, cores: f64) -> Vec<(String, f64, f64)> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("grid.toml");
    fs::write(&file, scenario).unwrap();
    let summary = gridemu(&["run", file.to_str().unwrap(), "--json"]).json();
    let sites = summary["sites"].as_array().unwrap().iter().map(|site| {
        let of = |key: &str| site["usage"][key].as_f64().unwrap();
        (
            site["name"].as_str().unwrap().to_owned(),
            (of("nominal") - of("down")) / cores,
            of("nominal") / cores,
        )
    });
    sites.collect()
}

#[test]
fn grid5000_has_its_nodes_and_outages() {
    let Some(of) = open(GRID5000, &FailureOptions::default()) else { return };
    let facts = &of.facts;
    assert_eq!((of.nodes.names().len(), facts.rows, facts.empty), (1_288, 588_463, 25));
    assert_eq!((facts.overlaps.count, facts.disordered.count, facts.backward.count), (0, 0, 0));
    let length = of.end.since(of.begin).unwrap();
    assert_eq!(length, Span::from_secs(47_354_465));
    let down: u64 = (0..1_288).map(|node| of.nodes.down(node, Span::ZERO, length).micros()).sum();
    assert_eq!(1_288 * length.micros() - down, 34_335_688_549_000_000, "node-microseconds available");
}

#[test]
fn a_grid_like_grid5000_is_as_available_as_it_was() {
    if data().is_none() {
        return;
    }
    let mut scenario = format!(
        "until = '47354460 s'\nat_least = '47354460 s'\nchurn = {{ trace = 'archive:{GRID5000}' }}\n"
    );
    for (site, clusters, _) in SITES {
        write!(scenario, "[[site]]\nname = '{site}'\nmachines = [").unwrap();
        for (count, cluster) in clusters.iter().zip(1..) {
            let nodes = format!("G1/{site}/c{cluster}/*");
            write!(scenario, "{{ class = 'c{cluster}', count = {count}, cores = 2, nodes = '{nodes}' }}, ")
                .unwrap();
        }
        scenario += "]\nworkload = { poisson = { jobs = 100, every = '12 h', runtime = 'exponential[mean=3 h]', size = '1..32' } }\n";
    }
    let all = up(&scenario, 2.0);
    assert_eq!(all.len(), SITES.len());
    for ((name, up, _), (site, clusters, expected)) in all.iter().zip(SITES) {
        assert_eq!((name.as_str(), *up), (site, expected as f64), "{clusters:?}");
    }
}

#[test]
fn a_site_like_system_20_of_los_alamos_is_as_available_as_it_was() {
    let options = FailureOptions { system: Some(20), zone: "UTC".parse().unwrap() };
    let Some(of) = open(LANL, &options) else { return };
    assert_eq!((of.nodes.names().len(), of.facts.rows, of.nodes.outages().len()), (512, 2_478, 2_461));
    assert_eq!(of.facts.overlaps.count, 14);
    let length = of.end.since(of.begin).unwrap();
    assert_eq!(length, Span::from_secs(60 * 1_956_889));
    let scenario = format!(
        "until = '{length} s'\nat_least = '{length} s'\n[[site]]\nname = 'lanl'\n\
         machines = [{{ class = 'node', count = 512, cores = 4 }}]\n\
         churn = {{ trace = 'archive:{LANL}', system = 20 }}\n\
         workload = {{ poisson = {{ jobs = 500, every = '2 d', runtime = 'exponential[mean=20 h]', size = '1..512' }} }}\n"
    );
    let minutes = |minutes: f64| minutes * 60.0;
    assert_eq!(
        up(&scenario, 4.0),
        [("lanl".to_owned(), minutes(1_001_927_168.0 - 510_163.0), minutes(1_001_927_168.0))]
    );
}

#[test]
fn all_systems_of_los_alamos_have_their_nodes() {
    // System, nodes, records, outages apart from each other, minutes down.
    for (system, nodes, rows, outages, down) in [
        (18, 1_024, 3_997, 3_976, 712_454),
        (8, 164, 475, 469, 973_383),
        (16, 16, 2_680, 2_552, 1_429_456),
        (14, 128, 125, 124, 738_982),
        (11, 256, 268, 247, 419_014),
        (12, 512, 259, 226, 298_418),
    ] {
        let options = FailureOptions { system: Some(system), zone: "UTC".parse().unwrap() };
        let Some(of) = open(LANL, &options) else { return };
        assert_eq!((of.nodes.names().len(), of.facts.rows), (nodes, rows), "{system}");
        assert_eq!(of.nodes.outages().len(), outages, "{system}");
        let all: u64 =
            (0..nodes as u32).map(|node| of.nodes.down(node, Span::ZERO, Span::MAX).micros()).sum();
        assert_eq!(all, down * 60_000_000, "{system}");
    }
}
