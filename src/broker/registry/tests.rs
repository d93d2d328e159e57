//! The registry holds what it says, and `docs/brokers.md` says what it holds.

use std::fmt::Write as _;
use std::fs;

use super::*;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/brokers.md");
const BEGIN: &str = "<!-- policies:begin -->\n";
const END: &str = "<!-- policies:end -->";

/// A policy as it is written with the defaults of all its parameters.
fn with_defaults(info: &BrokerPolicyInfo) -> Named {
    let params = info.params.iter().map(|param| (param.key.to_owned(), param.default.to_owned())).collect();
    Named { name: info.name.to_owned(), params }
}

/// The generated part of the page.
fn tables(registry: &BrokerRegistry) -> String {
    let mut page = String::from("| policy | what it does | abilities | source |\n|---|---|---|---|\n");
    for info in registry.all() {
        let BrokerPolicyInfo { name, doc, source, abilities, .. } = info;
        let _ = writeln!(page, "| `{name}` | {doc} | {} | {source} |", abilities.words());
    }
    // What several policies have in common is told once.
    let mut rows: Vec<(String, String)> = Vec::new();
    for info in registry.all() {
        for ParamInfo { key, values, default, doc } in info.params {
            let (written, told) =
                (format!("`{}[{key}=...]`", info.name), format!("{values} | `{default}` | {doc}"));
            match rows.iter_mut().find(|(_, other)| *other == told) {
                Some((all, _)) => all.extend([", ", &written]),
                None => rows.push((written, told)),
            }
        }
    }
    page += "\n| parameter | values | default | meaning |\n|---|---|---|---|\n";
    for (written, told) in rows {
        let _ = writeln!(page, "| {written} | {told} |");
    }
    page
}

#[test]
fn the_page_of_policies_is_fresh() {
    let page = fs::read_to_string(PAGE).expect("docs/brokers.md can be read");
    let (before, rest) = page.split_once(BEGIN).expect("the page has a line that begins the tables");
    let (old, after) = rest.split_once(END).expect("the page has a line that ends the tables");
    let new = tables(&BrokerRegistry::standard());
    #[expect(clippy::disallowed_methods, reason = "a switch of the test, not of the library")]
    let bless = std::env::var_os("GRIDEMU_BLESS").is_some();
    if bless {
        fs::write(PAGE, format!("{before}{BEGIN}{new}{END}{after}")).expect("docs/brokers.md can be written");
    } else {
        assert_eq!(
            old, new,
            "the tables of docs/brokers.md are stale; `GRIDEMU_BLESS=1 cargo test page_of_policies` writes them anew"
        );
    }
}

#[test]
fn every_policy_is_built_bare_and_with_its_defaults() {
    let registry = BrokerRegistry::standard();
    for info in registry.all() {
        let written = with_defaults(info);
        assert!(registry.build(&Named::bare(info.name), 1).is_ok(), "{}", info.name);
        assert!(registry.build(&written, 1).is_ok(), "{written}");
        assert_eq!(written.to_string().parse(), Ok(written));
    }
}

#[test]
fn every_policy_refuses_a_parameter_that_it_does_not_describe() {
    let registry = BrokerRegistry::standard();
    for info in registry.all() {
        let mut written = with_defaults(info);
        written.params.insert("no-such-key".to_owned(), "1".to_owned());
        let refused = registry.build(&written, 1).map(|_| ()).expect_err(info.name);
        let RegistryError::Param(NamedError::UnknownKey { valid, .. }) = &refused else {
            panic!("{refused}")
        };
        let described: Vec<_> = info.params.iter().map(|param| param.key).collect();
        assert_eq!(*valid, described, "{}", info.name);
    }
}

#[test]
fn every_parameter_refuses_a_value_that_it_does_not_describe() {
    let registry = BrokerRegistry::standard();
    for info in registry.all() {
        for param in info.params {
            let mut written = with_defaults(info);
            written.params.insert(param.key.to_owned(), "no-such-value".to_owned());
            let refused = registry.build(&written, 1).map(|_| ()).expect_err(info.name);
            assert!(matches!(refused, RegistryError::Param(NamedError::BadValue { .. })), "{refused}");
        }
    }
}

#[test]
fn a_name_that_is_nearly_right_is_told() {
    let error = BrokerRegistry::standard().find("cheapst").expect_err("there is no such policy");
    assert!(error.to_string().contains("did you mean `cheapest`?"), "{error}");
}

#[test]
fn one_more_policy_hides_the_older_one_of_its_name() {
    static MORE: BrokerPolicyInfo = BrokerPolicyInfo {
        name: "mct",
        doc: "",
        source: "",
        params: &[],
        abilities: BrokerAbilities::PLAIN,
        build: |named, _| Err(NamedError::Syntax(named.name)),
    };
    let registry = BrokerRegistry::standard().with(&MORE);
    assert_eq!(registry.all().len(), BrokerRegistry::standard().all().len());
    assert!(registry.build(&Named::bare("mct"), 1).is_err());
}
