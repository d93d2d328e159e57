//! The registry holds what it says, and `docs/policies.md` says what it holds.

use std::fmt::Write as _;
use std::fs;

use super::*;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/policies.md");
const BEGIN: &str = "<!-- policies:begin -->\n";
const END: &str = "<!-- policies:end -->";

/// A policy as it is written with the defaults of all its parameters.
fn with_defaults(info: &PolicyInfo) -> Named {
    let params = info.params.iter().map(|param| (param.key.to_owned(), param.default.to_owned())).collect();
    Named { name: info.name.to_owned(), params }
}

/// The generated part of the page.
fn tables(registry: &Registry) -> String {
    let mut page = String::from("| policy | what it does | abilities | source |\n|---|---|---|---|\n");
    for info in registry.all() {
        let able = (info.abilities)(&Named::bare(info.name)).words();
        let _ = writeln!(page, "| `{}` | {} | {able} | {} |", info.name, info.doc, info.source);
    }
    page += "\n| parameter | values | default | meaning |\n|---|---|---|---|\n";
    for info in registry.all() {
        for ParamInfo { key, values, default, doc } in info.params {
            let _ = writeln!(page, "| `{}[{key}=...]` | {values} | `{default}` | {doc} |", info.name);
        }
    }
    page
}

#[test]
fn the_page_of_policies_is_fresh() {
    let page = fs::read_to_string(PAGE).expect("docs/policies.md can be read");
    let (before, rest) = page.split_once(BEGIN).expect("the page has a line that begins the tables");
    let (old, after) = rest.split_once(END).expect("the page has a line that ends the tables");
    let new = tables(&Registry::standard());
    #[expect(clippy::disallowed_methods, reason = "a switch of the test, not of the library")]
    let bless = std::env::var_os("GRIDEMU_BLESS").is_some();
    if bless {
        fs::write(PAGE, format!("{before}{BEGIN}{new}{END}{after}"))
            .expect("docs/policies.md can be written");
    } else {
        assert_eq!(
            old, new,
            "the tables of docs/policies.md are stale; `GRIDEMU_BLESS=1 cargo test page_of_policies` writes them anew"
        );
    }
}

#[test]
fn every_policy_is_built_bare_and_with_its_defaults_and_is_the_same() {
    let registry = Registry::standard();
    for info in registry.all() {
        let (_, bare) = registry.build(&Named::bare(info.name)).expect(info.name);
        let written = with_defaults(info);
        let (_, full) = registry.build(&written).expect(info.name);
        assert_eq!(bare, full, "{written}");
        assert_eq!(written.to_string().parse(), Ok(written));
    }
}

#[test]
fn every_policy_refuses_a_parameter_that_it_does_not_describe() {
    let registry = Registry::standard();
    for info in registry.all() {
        let mut written = with_defaults(info);
        written.params.insert("no-such-key".to_owned(), "1".to_owned());
        let refused = registry.build(&written).map(|_| ()).expect_err(info.name);
        assert!(matches!(refused, RegistryError::Param(NamedError::UnknownKey { .. })), "{refused}");
    }
}

#[test]
fn a_name_that_is_nearly_right_is_told() {
    let error = Registry::standard().find("conservativ").expect_err("there is no such policy");
    assert!(error.to_string().contains("did you mean `conservative`?"), "{error}");
}

#[test]
fn one_more_policy_hides_the_older_one_of_its_name() {
    static MORE: PolicyInfo = PolicyInfo {
        name: "fcfs",
        doc: "",
        source: "",
        params: &[],
        abilities: |_| Abilities::PLAIN,
        build: |named| Err(NamedError::Syntax(named.name)),
    };
    let registry = Registry::standard().with(&MORE);
    assert_eq!(registry.all().len(), Registry::standard().all().len());
    assert!(registry.build(&Named::bare("fcfs")).is_err());
}
