//! The registries are consistent, and `docs/policies.md` and `docs/brokers.md` say what they contain.

use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::local::Abilities;
use crate::local::policies::Fcfs;
use crate::model::{About, Kind, Named, NamedError, ParamInfo, RegistryError};

const BEGIN: &str = "<!-- policies:begin -->\n";
const END: &str = "<!-- policies:end -->";

/// Builds a policy from its written form and describes its abilities.
type Build<'a> = &'a dyn Fn(&Named) -> Result<String, RegistryError>;

/// Runs `check` for the policies of all kinds, with their descriptions and with how they are built.
fn all_kinds(check: impl Fn(&str, &[&About], Build<'_>)) {
    fn known<K: Kind>(registry: &crate::model::Registry<K>) -> Vec<&About> {
        registry.all().iter().map(|entry| &entry.about).collect()
    }
    let Policies { local, broker, power } = &Policies::standard();
    check("policies", &known(local), &|named| Ok(local.build(named)?.1.words()));
    check("brokers", &known(broker), &|named| Ok(broker.build(named, 1)?.1.words()));
    check("energy", &known(power), &|named| power.build(named).map(|_| String::new()));
}

/// The written form of a policy with the defaults of all its parameters.
fn with_defaults(about: &About) -> Named {
    let params = about.params.iter().map(|param| (param.key.to_owned(), param.default.to_owned())).collect();
    Named { name: about.name.to_string(), params }
}

/// The generated part of a page.
fn tables(all: &[&About], build: Build<'_>) -> String {
    let able = |name: &str| build(&Named::bare(name)).expect(name);
    let mut page = String::from("| policy | what it does | abilities | source |\n|---|---|---|---|\n");
    for About { name, doc, source, .. } in all {
        let _ = writeln!(page, "| `{name}` | {doc} | {} | {source} |", able(name));
    }
    // A parameter that several policies share has one row.
    let mut rows: Vec<(String, String)> = Vec::new();
    for about in all {
        for ParamInfo { key, values, default, doc } in &*about.params {
            let (written, told) =
                (format!("`{}[{key}=...]`", about.name), format!("{values} | `{default}` | {doc}"));
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
    let aliases: Vec<_> = all.iter().flat_map(|about| &about.aliases).collect();
    if !aliases.is_empty() {
        page += "\n| other name | stands for | what it is | abilities |\n|---|---|---|---|\n";
    }
    for alias in aliases {
        let (name, stands_for) = (&alias.name, &alias.stands_for);
        let _ = writeln!(page, "| `{name}` | `{stands_for}` | {} | {} |", alias.doc, able(name));
    }
    page
}

#[test]
fn the_page_of_policies_is_fresh() {
    all_kinds(|page, all, build| {
        let file = format!("{}/docs/{page}.md", env!("CARGO_MANIFEST_DIR"));
        let text = fs::read_to_string(&file).expect("the page can be read");
        let (before, rest) = text.split_once(BEGIN).expect("the page has a line that begins the tables");
        let (old, after) = rest.split_once(END).expect("the page has a line that ends the tables");
        let new = tables(all, build);
        #[expect(clippy::disallowed_methods, reason = "a switch of the test, not of the library")]
        let bless = std::env::var_os("GRIDEMU_BLESS").is_some();
        if bless {
            fs::write(&file, format!("{before}{BEGIN}{new}{END}{after}")).expect("the page can be written");
        } else {
            assert_eq!(
                old, new,
                "the tables of docs/{page}.md are stale; `GRIDEMU_BLESS=1 cargo test page_of_policies` writes them anew"
            );
        }
    });
}

#[test]
fn every_policy_is_built_bare_and_with_its_defaults_and_is_the_same() {
    all_kinds(|_, all, build| {
        for about in all {
            let written = with_defaults(about);
            assert_eq!(build(&Named::bare(&about.name)).unwrap(), build(&written).unwrap(), "{written}");
            assert_eq!(written.to_string().parse(), Ok(written));
        }
    });
}

#[test]
fn every_policy_refuses_a_parameter_that_it_does_not_describe() {
    all_kinds(|_, all, build| {
        for about in all {
            for name in about.names() {
                let mut written = Named { name: name.to_owned(), ..with_defaults(about) };
                written.params.insert("no-such-key".to_owned(), "1".to_owned());
                let refused = build(&written).expect_err(name);
                let RegistryError::Param(NamedError::UnknownKey { name: said, valid, .. }) = &refused else {
                    panic!("{refused}")
                };
                let described = about.params.iter().map(|param| param.key);
                assert!(said == name && valid.iter().eq(described), "{refused}");
            }
        }
    });
}

#[test]
fn every_parameter_refuses_a_value_that_it_does_not_describe() {
    all_kinds(|_, all, build| {
        for about in all {
            for param in &*about.params {
                let mut written = with_defaults(about);
                written.params.insert(param.key.to_owned(), "no-such-value".to_owned());
                let refused = build(&written).expect_err(param.key);
                assert!(matches!(refused, RegistryError::Param(NamedError::BadValue { .. })), "{refused}");
            }
        }
    });
}

#[test]
fn another_name_is_what_it_stands_for_and_its_parameters_can_be_others() {
    all_kinds(|_, all, build| {
        for alias in all.iter().flat_map(|about| &about.aliases) {
            assert_eq!(build(&Named::bare(&alias.name)).unwrap(), build(&alias.stands_for).unwrap());
        }
    });
    let elastic = |written: &str| Registry::standard().build(&written.parse().unwrap()).unwrap().1.elastic;
    assert_eq!(["easy", "easy-e", "easy-e[commands=3]", "easy-de[commands=0]"].map(elastic), [0, 1000, 3, 0]);
}

#[test]
fn no_two_have_a_name() {
    all_kinds(|_, all, _| {
        let mut names: Vec<_> = all.iter().flat_map(|about| about.names()).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    });
}

#[test]
fn a_name_that_is_nearly_right_is_told() {
    for (written, near) in [("conservativ", "conservative"), ("delayd-los", "delayed-los")] {
        let error = Registry::standard().find(written).expect_err("there is no such policy");
        assert!(error.to_string().contains(&format!("did you mean `{near}`?")), "{error}");
    }
    let error = BrokerRegistry::standard().find("cheapst").expect_err("there is no such policy");
    assert!(error.to_string().contains("did you mean `cheapest`?"), "{error}");
}

#[test]
fn one_more_policy_hides_what_had_its_name() {
    let mine =
        |name| PolicyInfo::new(name, |_| Ok((Box::new(Fcfs::default()), Abilities::PLAIN))).doc("Mine.");
    let standard = Policies::standard();
    let Policies { local, .. } = standard.clone().with_local(mine("easy")).with_local(mine("los-d"));
    assert_eq!(local.all().len(), standard.local.all().len() + 1);
    assert_eq!(local.find("easy").unwrap().about.doc, "Mine.");
    assert!(local.find("easy-d").is_err(), "a policy goes with all its names");
    assert_eq!(local.find("los-d").unwrap().about.doc, "Mine.");
    assert!(local.build(&Named::bare("los-de")).unwrap().1.dedicated, "the others of the family stay");
    let broker = BrokerPolicyInfo::new("mct", |named, _| Err(NamedError::Syntax(named.name.clone())));
    assert!(standard.with_broker(broker).broker.build(&Named::bare("mct"), 1).is_err());
}

#[test]
fn a_constructor_may_own_state() {
    let built = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&built);
    let info = PolicyInfo::new(String::from("counted"), move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        Ok((Box::new(Fcfs::default()), Abilities::PLAIN))
    });
    let policies = Policies::standard().with_local(info);
    for _ in 0..3 {
        assert!(policies.local.build(&Named::bare("counted")).is_ok());
    }
    assert_eq!(built.load(Ordering::Relaxed), 3);
}
