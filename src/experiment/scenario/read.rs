//! From the tree to the structs of [`super::written`]: serde, with the place of whatever does not fit.

use std::fmt::Display;

use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, Expected, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};

use super::Problem;
use super::tree::{Entry, Node, Origins, Path, Place, Step, Value};
use crate::model::{did_you_mean, nearest};

/// What does not fit, and where.
#[derive(Debug)]
pub(in crate::experiment) struct Flaw {
    at: Option<Place>,
    /// From the inside out.
    path: Vec<Step>,
    said: String,
}

impl Flaw {
    fn new(said: impl Display) -> Self {
        Self { at: None, path: Vec::new(), said: said.to_string() }
    }

    /// The innermost place counts.
    fn at(mut self, place: Place) -> Self {
        self.at.get_or_insert(place);
        self
    }

    fn within(mut self, step: Step) -> Self {
        self.path.push(step);
        self
    }
}

/// Reads what `node` has written; `path` leads to it from `root`.
///
/// # Errors
/// The first thing that does not fit.
pub(in crate::experiment) fn read<T: de::DeserializeOwned>(
    root: &Node,
    origins: &Origins,
) -> Result<T, Problem> {
    T::deserialize(root).map_err(|flaw| {
        let path = Path(flaw.path.into_iter().rev().collect());
        let place = flaw.at.unwrap_or_else(|| root.place_of(&path));
        Problem::new(origins.words(place), &root.spelled(&path), flaw.said)
    })
}

impl Display for Flaw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.said)
    }
}

impl std::error::Error for Flaw {}

impl de::Error for Flaw {
    fn custom<T: Display>(said: T) -> Self {
        Self::new(said)
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        if found == Unexpected::Map && expected.to_string() == "a sequence" {
            return Self::new(
                "one table is no list; the heading of each needs double brackets, such as `[[site]]`",
            );
        }
        Self::new(format!("{} is not {}", found_words(found), expected_words(expected)))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::new(unknown(&format!("`{variant}` is not possible here"), variant, expected))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::new(unknown("there is no such key", field, expected))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(format!("`{field}` is missing"))
    }
}

fn unknown(what: &str, written: &str, expected: &[&str]) -> String {
    let near = did_you_mean(nearest(written, expected.iter().copied()));
    match expected {
        [] => what.to_owned(),
        [only] => format!("{what}{near}; it must be `{only}`"),
        _ => format!("{what}{near}; there are `{}`", expected.join("`, `")),
    }
}

fn found_words(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Str(text) => format!("`{text}`"),
        Unexpected::Signed(number) => format!("`{number}`"),
        Unexpected::Unsigned(number) => format!("`{number}`"),
        Unexpected::Float(number) => format!("`{number}`"),
        Unexpected::Bool(value) => format!("`{value}`"),
        Unexpected::Map => "a table".to_owned(),
        Unexpected::Seq => "a list".to_owned(),
        other => other.to_string(),
    }
}

fn expected_words(expected: &dyn Expected) -> String {
    let written = expected.to_string();
    let said = match written.as_str() {
        "u32" => "a whole number from 0 to 4294967295",
        "u64" => "a whole number from 0 to 9223372036854775807",
        "f64" => "a number",
        "a boolean" => "`true` or `false`",
        "a string" => "a text in quotes",
        "a sequence" => "a list, such as `[1, 2]`",
        _ => return written,
    };
    said.to_owned()
}

impl<'de> Deserializer<'de> for &Node {
    type Error = Flaw;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Flaw> {
        let done = match &self.value {
            Value::Text(text) | Value::Bare(text) => visitor.visit_str(text),
            Value::Integer(digits) => match digits.parse::<i64>() {
                Ok(number) => visitor.visit_i64(number),
                Err(_) => Err(Flaw::new(format!("`{digits}` is beyond all reason"))),
            },
            Value::Float(number) => visitor.visit_f64(*number),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Other(what) => Err(de::Error::invalid_type(Unexpected::Other(what), &visitor)),
            Value::List(items) => visitor.visit_seq(Items { items: items.iter(), at: 0 }),
            Value::Table(table) => visitor.visit_map(Keys { entries: table.0.iter(), value: None }),
        };
        done.map_err(|flaw| flaw.at(self.at))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Flaw> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Flaw> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Flaw> {
        match &self.value {
            Value::Bare(text) => match text.parse() {
                Ok(value) => visitor.visit_bool(value).map_err(|flaw: Flaw| flaw.at(self.at)),
                Err(_) => self.deserialize_any(visitor),
            },
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Flaw> {
        self.deserialize_u64(visitor)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Flaw> {
        match &self.value {
            Value::Bare(text) | Value::Integer(text) => match (text.parse::<i64>(), text.parse::<u64>()) {
                (Ok(number), _) => visitor.visit_i64(number).map_err(|flaw: Flaw| flaw.at(self.at)),
                // A number of TOML has 63 bits and a sign: what is larger cannot be written back.
                (_, Ok(number)) => {
                    let flaw: Flaw = de::Error::invalid_value(Unexpected::Unsigned(number), &visitor);
                    Err(flaw.at(self.at))
                }
                _ => self.deserialize_any(visitor),
            },
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Flaw> {
        match &self.value {
            Value::Bare(text) => match text.parse() {
                Ok(number) => visitor.visit_f64(number).map_err(|flaw: Flaw| flaw.at(self.at)),
                Err(_) => self.deserialize_any(visitor),
            },
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Flaw> {
        match self.text() {
            Some(text) => visitor.visit_enum(Word(text)).map_err(|flaw| flaw.at(self.at)),
            None => Err(Flaw::new(format!("this must be one of `{}`", variants.join("`, `"))).at(self.at)),
        }
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u128 f32 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

struct Items<'a> {
    items: std::slice::Iter<'a, Node>,
    at: usize,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Flaw;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Flaw> {
        let Some(node) = self.items.next() else { return Ok(None) };
        let at = self.at;
        self.at += 1;
        seed.deserialize(node).map(Some).map_err(|flaw| flaw.at(node.at).within(Step::Item(at)))
    }
}

struct Keys<'a> {
    entries: std::slice::Iter<'a, Entry>,
    value: Option<&'a Entry>,
}

impl<'de> MapAccess<'de> for Keys<'_> {
    type Error = Flaw;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Flaw> {
        let Some(entry) = self.entries.next() else { return Ok(None) };
        self.value = Some(entry);
        let key = seed.deserialize(entry.key.as_str().into_deserializer());
        key.map(Some).map_err(|flaw: Flaw| flaw.at(entry.at).within(Step::Key(entry.key.clone())))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Flaw> {
        let entry = self.value.take().ok_or_else(|| Flaw::new("a value without a key"))?;
        let node = &entry.node;
        seed.deserialize(node).map_err(|flaw| flaw.at(node.at).within(Step::Key(entry.key.clone())))
    }
}

/// A word that is a variant of an enum.
struct Word<'a>(&'a str);

impl<'de> EnumAccess<'de> for Word<'_> {
    type Error = Flaw;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Flaw> {
        seed.deserialize(self.0.into_deserializer()).map(|value| (value, self))
    }
}

impl<'de> VariantAccess<'de> for Word<'_> {
    type Error = Flaw;

    fn unit_variant(self) -> Result<(), Flaw> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _seed: T) -> Result<T::Value, Flaw> {
        Err(Flaw::new(format!("`{}` is no word by itself", self.0)))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, _visitor: V) -> Result<V::Value, Flaw> {
        Err(Flaw::new(format!("`{}` is no word by itself", self.0)))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Flaw> {
        Err(Flaw::new(format!("`{}` is no word by itself", self.0)))
    }
}
