//! Plain kinds: numbers, switches, texts, and lists of other kinds.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use toml::Value;

use super::{Kind, title};
use crate::scenario::kind::reading::Reading;
use crate::scenario::tree::{self, Node};

/// Declares plain kinds: what is expected, the schema, and how a value is read and shown.
macro_rules! plain {
    ($($type:ty, $expected:expr, $schema:tt, $read:expr, $show:expr;)+) => {
        $(impl Kind for $type {
            fn read(node: &Node, reading: &mut Reading<'_>) -> Option<Self> {
                let read: fn(&tree::Value) -> Option<Self> = $read;
                read(&node.value).or_else(|| reading.mismatch(node, $expected))
            }

            fn show(&self) -> Option<Value> {
                let show: fn(&Self) -> Option<Value> = $show;
                show(self)
            }

            fn schema() -> Json {
                json!($schema)
            }
        })+
    };
}

/// A whole number. A number of TOML is a signed one of 64 bits, so a larger one could not be written back.
fn whole<T: TryFrom<i64>>(value: &tree::Value) -> Option<T> {
    match value {
        tree::Value::Integer(text) | tree::Value::Bare(text) => T::try_from(text.parse().ok()?).ok(),
        _ => None,
    }
}

plain! {
    bool, "`true` or `false`", { "title": "true or false", "type": "boolean" },
        |value| match value {
            tree::Value::Bool(value) => Some(*value),
            tree::Value::Bare(text) => text.parse().ok(),
            _ => None,
        },
        |value| Some(Value::Boolean(*value));
    u32, &format!("a whole number from 0 to {}", u32::MAX),
        { "title": "whole number", "type": "integer", "minimum": 0, "maximum": u32::MAX },
        whole, |number| Some(Value::Integer((*number).into()));
    u64, &format!("a whole number from 0 to {}", i64::MAX),
        { "title": "whole number", "type": "integer", "minimum": 0, "maximum": i64::MAX },
        whole, |number| i64::try_from(*number).ok().map(Value::Integer);
    f64, "a number", { "title": "number", "type": "number" },
        |value| match value {
            tree::Value::Float(number) => Some(*number),
            tree::Value::Integer(text) | tree::Value::Bare(text) => text.parse().ok(),
            _ => None,
        },
        |number| Some(Value::Float(*number));
    String, "a text in quotes", { "title": "text", "type": "string" },
        |value| match value {
            tree::Value::Text(text) | tree::Value::Bare(text) => Some(text.clone()),
            _ => None,
        },
        |text| Some(Value::String(text.clone()));
}

impl<T: Kind> Kind for Option<T> {
    fn read(node: &Node, reading: &mut Reading<'_>) -> Option<Self> {
        T::read(node, reading).map(Some)
    }

    fn show(&self) -> Option<Value> {
        self.as_ref().and_then(T::show)
    }

    fn schema() -> Json {
        T::schema()
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: Kind> Kind for Vec<T> {
    fn read(node: &Node, reading: &mut Reading<'_>) -> Option<Self> {
        reading.items(node)
    }

    fn show(&self) -> Option<Value> {
        Some(Value::Array(self.iter().filter_map(T::show).collect()))
    }

    fn schema() -> Json {
        let items = T::schema();
        json!({ "title": format!("list of {}s", title(&items)), "type": "array", "items": items })
    }
}

/// A text, or a list of texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Texts(pub(crate) Vec<String>);

impl Kind for Texts {
    fn read(node: &Node, reading: &mut Reading<'_>) -> Option<Self> {
        match &node.value {
            tree::Value::Text(text) | tree::Value::Bare(text) => Some(Self(vec![text.clone()])),
            _ => Vec::read(node, reading).map(Self),
        }
    }

    fn show(&self) -> Option<Value> {
        match &self.0[..] {
            [text] => text.show(),
            texts => texts.to_vec().show(),
        }
    }

    fn schema() -> Json {
        let (one, list) = (String::schema(), Vec::<String>::schema());
        json!({ "title": format!("{} or {}", title(&one), title(&list)), "anyOf": [one, list] })
    }
}

/// A table with a value for each of any names.
impl<T: Kind> Kind for BTreeMap<String, T> {
    fn read(node: &Node, reading: &mut Reading<'_>) -> Option<Self> {
        let Some(table) = node.table() else { return reading.mismatch(node, &Self::expected()) };
        let entries = reading
            .entries(table, |entry, reading| Some((entry.key.clone(), T::read(&entry.node, reading)?)));
        entries.map(|entries| entries.into_iter().collect())
    }

    fn show(&self) -> Option<Value> {
        Some(Value::Table(
            self.iter().filter_map(|(key, value)| Some((key.clone(), value.show()?))).collect(),
        ))
    }

    fn schema() -> Json {
        let values = T::schema();
        json!({ "title": format!("table of {}s", title(&values)), "type": "object", "additionalProperties": values })
    }
}

/// A value of any kind; the code that needs it reads it from the tree.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Anything;

impl Kind for Anything {
    fn read(_: &Node, _: &mut Reading<'_>) -> Option<Self> {
        Some(Self)
    }

    fn show(&self) -> Option<Value> {
        None
    }

    fn schema() -> Json {
        json!({ "title": "anything" })
    }
}
