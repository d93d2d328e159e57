//! A word, or a table.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Serialize, Serializer};

/// Either a word, or a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Or<W, T> {
    /// A word, or a short form in a text.
    Word(W),
    /// A table of keys.
    Table(T),
}

/// What stands beside a table.
pub trait Words: FromStr<Err: fmt::Display> + fmt::Display {
    /// What the value must be, in words: "`all` or a table ...".
    const EXPECTED: &'static str;
    /// One that would be right.
    const EXAMPLE: &'static str;
}

impl<'de, W: Words, T: Deserialize<'de>> Deserialize<'de> for Or<W, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<W, T>(PhantomData<(W, T)>);

        impl<'de, W: Words, T: Deserialize<'de>> Visitor<'de> for Reader<W, T> {
            type Value = Or<W, T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(W::EXPECTED)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                text.parse().map(Or::Word).map_err(E::custom)
            }

            fn visit_map<A: MapAccess<'de>>(self, keys: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(keys)).map(Or::Table)
            }
        }

        deserializer.deserialize_any(Reader(PhantomData))
    }
}

impl<W: Words, T: Serialize> Serialize for Or<W, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Word(word) => serializer.collect_str(word),
            Self::Table(table) => table.serialize(serializer),
        }
    }
}

impl<W: Words, T: JsonSchema> JsonSchema for Or<W, T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("text-or-{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [{ "type": "string", "examples": [W::EXAMPLE] }, table] })
    }
}
