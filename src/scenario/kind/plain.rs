//! Plain kinds: numbers, switches, texts, and lists of other kinds.

use serde_json::{Value as Json, json};
use toml::Value;

use super::{Kind, title};
use crate::scenario::kind::reading::Reading;
use crate::scenario::tree::{self, Node};

impl Kind for bool {
    fn read(node: &Node, reading: &mut Reading<'_>) -> Option<Self> {
        let value = match &node.value {
            tree::Value::Bool(value) => Some(*value),
            tree::Value::Bare(text) => text.parse().ok(),
            _ => None,
        };
        if value.is_none() {
            reading.mismatch(node, "`true` or `false`");
        }
        value
    }

    fn show(&self) -> Option<Value> {
        Some(Value::Boolean(*self))
    }

    fn schema() -> Json {
        json!({ "title": "true or false", "type": "boolean" })
    }
}

/// A whole number up to `most`. A number of TOML is a signed one of 64 bits, so a larger one could not be written back.
fn whole<T: TryFrom<i64>>(node: &Node, reading: &mut Reading<'_>, most: i64) -> Option<T> {
    let number = match &node.value {
        tree::Value::Integer(text) | tree::Value::Bare(text) => text.parse::<i64>().ok(),
        _ => None,
    };
    let number = number.and_then(|number| T::try_from(number).ok());
    if number.is_none() {
        reading.mismatch(node, &format!("a whole number from 0 to {most}"));
    }
    number
}

macro_rules! whole {
    ($($type:ty, $most:expr;)+) => {
        $(impl Kind for $type {
            fn read(node: &Node, reading: &mut Reading<'_>) -> Option<Self> {
                whole(node, reading, $most)
            }

            fn show(&self) -> Option<Value> {
                i64::try_from(*self).ok().map(Value::Integer)
            }

            fn schema() -> Json {
                json!({ "title": "whole number", "type": "integer", "minimum": 0, "maximum": $most })
            }
        })+
    };
}

whole! {
    u32, i64::from(u32::MAX);
    u64, i64::MAX;
}

impl Kind for f64 {
    fn read(node: &Node, reading: &mut Reading<'_>) -> Option<Self> {
        let number = match &node.value {
            tree::Value::Float(number) => Some(*number),
            tree::Value::Integer(text) | tree::Value::Bare(text) => text.parse().ok(),
            _ => None,
        };
        if number.is_none() {
            reading.mismatch(node, "a number");
        }
        number
    }

    fn show(&self) -> Option<Value> {
        Some(Value::Float(*self))
    }

    fn schema() -> Json {
        json!({ "title": "number", "type": "number" })
    }
}

impl Kind for String {
    fn read(node: &Node, reading: &mut Reading<'_>) -> Option<Self> {
        if node.text().is_none() {
            reading.mismatch(node, "a text in quotes");
        }
        node.text().map(str::to_owned)
    }

    fn show(&self) -> Option<Value> {
        Some(Value::String(self.clone()))
    }

    fn schema() -> Json {
        json!({ "title": "text", "type": "string" })
    }
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
