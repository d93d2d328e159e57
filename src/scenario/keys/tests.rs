//! Tests that the tables of `docs/scenarios.md` are those of the declarations, and that every default is a value of its kind.

use std::fmt::Write as _;
use std::fs;

use super::*;
use crate::grid::Policies;
use crate::model::{BrokerSpec, Named};
use crate::scenario::Scenario;
use crate::scenario::keys::churn::GroupKeys;
use crate::scenario::keys::site::{PreemptionKeys, StorageKeys};
use crate::scenario::keys::workload::MalleableKeys;
use crate::scenario::kind::key::{KeyInfo, Table};
use crate::scenario::kind::reading::read;
use crate::scenario::kind::title;
use crate::scenario::tree::Origins;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/scenarios.md");

/// The prefix of the keys' names in a table of the page, and the keys.
type Part = (&'static str, &'static [KeyInfo]);

/// The tables of the page, by the names of their marks.
const TABLES: [(&str, &[Part]); 14] = [
    ("run", &[("", ScenarioKeys::KEYS), ("measure.", WindowKeys::KEYS), ("clock.", ClockKeys::KEYS)]),
    ("site", &[("", SiteKeys::KEYS), ("storage.", StorageKeys::KEYS), ("preemption.", PreemptionKeys::KEYS)]),
    ("series", &[("", SeriesKeys::KEYS)]),
    ("machines", &[("", MachineKeys::KEYS)]),
    ("reservation", &[("", ReservationKeys::KEYS)]),
    ("network", &[("", NetworkKeys::KEYS), ("link.", LinkKeys::KEYS), ("place.", PlaceKeys::KEYS)]),
    (
        "broker",
        &[
            ("", BrokerKeys::KEYS),
            ("planning.", PlanningKeys::KEYS),
            ("coallocation.", CoallocationKeys::KEYS),
        ],
    ),
    (
        "workload",
        &[
            ("", WorkloadKeys::KEYS),
            ("malleable.", MalleableKeys::KEYS),
            ("coallocate.", CoallocateKeys::KEYS),
        ],
    ),
    ("workflow", &[("", WorkflowKeys::KEYS)]),
    ("churn", &[("", ChurnKeys::KEYS), ("group.", GroupKeys::KEYS)]),
    ("event", &[("", EventKeys::KEYS)]),
    ("fault", &[("", FaultKeys::KEYS)]),
    ("output", &[("", OutputKeys::KEYS)]),
    ("drill", &[("", DrillKeys::KEYS)]),
];

fn table(parts: &[Part]) -> String {
    let mut table = String::from("| key | type | default | meaning |\n|---|---|---|---|\n");
    for (prefix, key) in parts.iter().flat_map(|(prefix, keys)| keys.iter().map(move |key| (prefix, key))) {
        let (title, default) = (title(&(key.schema)()), (key.default)());
        let _ = writeln!(table, "| `{prefix}{}` | {title} | {default} | {} |", key.name, key.doc());
    }
    table
}

#[test]
fn the_page_of_scenarios_is_fresh() {
    let old = fs::read_to_string(PAGE).expect("docs/scenarios.md can be read");
    let mut new = old.clone();
    for (name, parts) in TABLES.iter().chain(&[("checkpoint", &[("", CheckpointKeys::KEYS)] as &[Part])]) {
        let mark = format!("<!-- keys:{name} -->\n");
        let (before, rest) = new.split_once(&mark).unwrap_or_else(|| panic!("the page has no `{mark}`"));
        let (_, after) = rest.split_once("<!-- keys:end -->").expect("the table has an end");
        new = format!("{before}{mark}{}<!-- keys:end -->{after}", table(parts));
    }
    #[expect(clippy::disallowed_methods, reason = "a switch of the test, not of the library")]
    let bless = std::env::var_os("GRIDEMU_BLESS").is_some();
    if bless {
        fs::write(PAGE, new).expect("docs/scenarios.md can be written");
    } else {
        let message =
            "docs/scenarios.md is stale; `GRIDEMU_BLESS=1 cargo test page_of_scenarios` refreshes it";
        assert_eq!(old, new, "{message}");
    }
}

fn scenario(text: &str) -> Result<Scenario, String> {
    let read = Scenario::read("here.toml".as_ref(), text, &[], &Policies::standard());
    read.map_err(|error| error.to_string())
}

const SITE: &str = "[[site]]\nname = 'a'\nmachines = [{ class = 'node' }]\n";

/// The defaults of a broker are the same in a program and in a scenario.
#[test]
fn brokers_have_the_same_defaults_everywhere() {
    let broker = scenario(&format!("{SITE}[broker]\n")).unwrap().resolved.grid.broker;
    assert_eq!(broker, Some(BrokerSpec::new(Named::bare("mct"))));
}

#[test]
fn everything_that_does_not_fit_is_told_at_once() {
    let text = format!("sed = 1\ntau = 'soon'\n[churn]\nup = 3\n{SITE}{SITE}[[event]]\nleave = 'a'\n");
    let told = [
        "here.toml, line 1, `sed`: there is no such key (did you mean `seed`?); there are `name`, ",
        "\nerror: here.toml, line 2, `tau`: `soon` is not a duration such as `90 s`, ",
        "\nerror: here.toml, line 4, `churn.up`: `3` is not a distribution: `exponential[mean=45 h]`, ",
        "\nerror: here.toml, line 11, `event[0]`: `at` is missing",
    ];
    let error = scenario(&text).unwrap_err();
    assert!(told.iter().all(|told| error.contains(told)), "{error}");
    assert_eq!(error.lines().count(), told.len(), "what two sites share is told once: {error}");
}

/// A file of megabytes may be nothing but mistakes: a hundred are told, and the number of the others.
#[test]
fn of_very_many_problems_the_first_are_told() {
    let keys: String = (0..3_000).map(|key| format!("key{key} = 1\n")).collect();
    let events: String = (0..3_000).map(|at| format!("[[event]]\nat = '{at} s'\nleave = 'b'\n")).collect();
    for text in [format!("{keys}{SITE}"), format!("{SITE}{events}")] {
        let error = scenario(&text).unwrap_err();
        assert_eq!(error.lines().count(), 101, "{error}");
        assert!(error.ends_with("\nerror: there are 2,900 more, which are not told"), "{error}");
    }
}

keys! {
    /// Keys of which two have other names now.
    Renamed, "a table" {
        /// A key whose default follows from the next.
        first: u32 = 2 * second.unwrap_or(1) => "twice `second`";
        /// A key that has had two names.
        second: u32 = 1, was "2nd", was "other";
        /// A key that is a word of Rust.
        site_file as "use": Option<String>;
    }
}

#[test]
fn old_names_are_told_their_new_ones() {
    let renamed = |text: &str| {
        let mut origins = Origins::default();
        let root = origins.parse("here.toml", text, "".into()).unwrap();
        read::<Renamed>(&root, &origins).map_err(|error| error.to_string())
    };
    let old = "here.toml, line 1, `other`: this key is now called `second`";
    assert_eq!(renamed("other = 3").unwrap_err(), old);
    let renamed = renamed("second = 3\nuse = 'it'").unwrap();
    assert_eq!((renamed.first, renamed.second, renamed.site_file.as_deref()), (6, 3, Some("it")));
}
