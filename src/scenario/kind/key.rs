//! Keys, each declared once.
//!
//! [`keys!`] declares a table of keys: a struct with a field for each key, and everything that is done with keys.
//!
//! ```text
//! keys! {
//!     /// Machines of one class.
//!     MachineKeys, "a table of machines" {
//!         /// Name of the class.
//!         class: String;                      // no default: the key is required
//!         /// Number of machines.
//!         count: u32 = 1;                     // a default
//!         /// Power of an idle machine.
//!         idle: PowerKey = NONE;
//!         /// Power of a busy one.
//!         busy: PowerKey = idle => "that of `idle`";   // a default that follows from other keys, in words for the pages
//!         /// Processors are given in blocks of this many.
//!         allocation_unit: u32 = 1, was "quantum";     // its former name
//!     }
//! }
//! ```
//!
//! The declaration provides: reading with the place of every mistake ([`Kind::read`]), the default, the text of `gridemu
//! check --show` and with it the hash ([`Kind::show`], in the order of the declaration), the error for an unknown key
//! with the nearest one, the error for a former name with the new one, its part of the JSON schema, and its row in
//! `docs/scenarios.md` (the doc comment; refreshed by `GRIDEMU_BLESS=1 cargo test page_of_scenarios`). The meaning of a
//! value is defined where it is used, in `resolve`.
//!
//! A default may name other keys of the table: keys above it are values, keys below it `Option`s of what is written. A
//! key whose kind is an `Option` or a table of defaults may be left out without a default. A key that is a reserved word
//! of Rust is written `site_file as "use"`.

use serde_json::{Map, Value as Json, json};
use toml::Value;

use super::Kind;
use crate::scenario::show;

/// The description of a key.
#[derive(Copy, Clone, Debug)]
pub(crate) struct KeyInfo {
    pub(crate) name: &'static str,
    /// The lines of its doc comment.
    pub(crate) doc: &'static [&'static str],
    /// Former names of the key.
    pub(crate) was: &'static [&'static str],
    /// Its default in words; empty if there is none.
    pub(crate) default: fn() -> String,
    pub(crate) schema: fn() -> Json,
    /// True if it may be left out.
    pub(crate) optional: fn() -> bool,
}

/// A table of keys.
pub(crate) trait Table: Kind {
    /// The lines of its doc comment.
    const DOC: &'static [&'static str];
    /// The keys of the table.
    const KEYS: &'static [KeyInfo];
}

impl KeyInfo {
    /// The doc comment of the key as one text.
    pub(crate) fn doc(&self) -> String {
        joined(self.doc)
    }
}

fn joined(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

/// A value as the page shows it, without quotes.
pub(crate) fn described<T: Kind>(value: &T) -> String {
    match value.show() {
        Some(Value::String(text)) => text,
        Some(value) => show::inline(&value),
        None => String::new(),
    }
}

/// The JSON schema of a table.
pub(crate) fn schema<T: Table>() -> Json {
    let mut properties = Map::new();
    for key in T::KEYS {
        let mut schema = (key.schema)();
        let default = (key.default)();
        let default = if default.is_empty() { default } else { format!(" Default: {default}.") };
        schema["description"] = Json::from(without_links(&key.doc()) + &default);
        properties.insert(key.name.to_owned(), schema);
    }
    let mut schema = json!({
        "title": "table",
        "type": "object",
        "description": joined(T::DOC),
        "additionalProperties": false,
        "properties": properties,
    });
    let required: Vec<&str> = T::KEYS.iter().filter(|key| !(key.optional)()).map(|key| key.name).collect();
    if !required.is_empty() {
        schema["required"] = Json::from(required);
    }
    schema
}

/// A text in which each link is replaced by its words.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once("](") {
        let (start, words) = before.rsplit_once('[').unwrap_or(("", before));
        plain += start;
        plain += words;
        rest = link.split_once(')').map_or("", |(_, after)| after);
    }
    plain + rest
}

/// Declares a table of keys.
macro_rules! keys {
    (
        $(#[doc = $doc:literal])+
        $table:ident, $expected:literal {
            $(
                $(#[doc = $key_doc:literal])+
                $key:ident $(as $name:literal)?: $kind:ty $(= $default:expr)? $(=> $described:literal)?
                    $(, was $was:literal)*;
            )+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug)]
        pub(crate) struct $table {
            $($(#[doc = $key_doc])+ pub(crate) $key: $kind,)+
        }

        impl $crate::scenario::kind::key::Table for $table {
            const DOC: &'static [&'static str] = &[$($doc),+];
            const KEYS: &'static [$crate::scenario::kind::key::KeyInfo] = &[
                $($crate::scenario::kind::key::KeyInfo {
                    name: keys!(@name $key $($name)?),
                    doc: &[$($key_doc),+],
                    was: &[$($was),*],
                    default: || keys!(@described [$kind] [$($default)?] [$($described)?]),
                    schema: <$kind as $crate::scenario::kind::Kind>::schema,
                    optional: || keys!(@optional [$kind] $($default)?),
                },)+
            ];
        }

        impl $crate::scenario::kind::Kind for $table {
            const TABLE: bool = true;

            fn read(
                node: &$crate::scenario::tree::Node,
                reading: &mut $crate::scenario::kind::reading::Reading<'_>,
            ) -> Option<Self> {
                let keys = <Self as $crate::scenario::kind::key::Table>::KEYS;
                let table = reading.table(node, $expected, keys)?;
                $(let $key = keys!(@read reading table (keys!(@name $key $($name)?)) $($default)?);)+
                $(let $key: Option<$kind> = $key.ok()?;)+
                $(let $key: $kind = keys!(@value $key $($default)?);)+
                Some(Self { $($key),+ })
            }

            fn show(&self) -> Option<toml::Value> {
                let mut table = toml::Table::new();
                $(if let Some(value) = $crate::scenario::kind::Kind::show(&self.$key) {
                    table.insert(keys!(@name $key $($name)?).to_owned(), value);
                })+
                Some(toml::Value::Table(table))
            }

            fn expected() -> String {
                $expected.to_owned()
            }

            fn schema() -> serde_json::Value {
                $crate::scenario::kind::key::schema::<Self>()
            }

            fn absent() -> Option<Self> {
                $crate::scenario::kind::reading::of_nothing()
            }
        }
    };
    (@name $key:ident) => { stringify!($key) };
    (@name $key:ident $name:literal) => { $name };
    (@described [$kind:ty] [] []) => { String::new() };
    (@described [$kind:ty] [$default:expr] []) => {{
        let default: $kind = $default;
        $crate::scenario::kind::key::described(&default)
    }};
    (@described [$kind:ty] [$($default:expr)?] [$described:literal]) => { $described.to_owned() };
    (@optional [$kind:ty]) => { <$kind as $crate::scenario::kind::Kind>::absent().is_some() };
    (@optional [$kind:ty] $default:expr) => { true };
    (@read $reading:ident $table:ident ($name:expr)) => { $reading.needed(&$table, $name) };
    (@read $reading:ident $table:ident ($name:expr) $default:expr) => { $reading.key(&$table, $name) };
    (@value $key:ident) => { $key? };
    (@value $key:ident $default:expr) => { $key.unwrap_or_else(|| $default) };
}

pub(crate) use keys;
