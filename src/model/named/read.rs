//! Reading a name with parameters from a file: a text, or a table.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};

use super::{Named, NamedError, is_name, is_value};

impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(NamedReader)
        } else {
            String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
        }
    }
}

struct NamedReader;

impl<'de> Visitor<'de> for NamedReader {
    type Value = Named;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a name such as `\"easy[order=sjf]\"`, or a table such as `{ easy = { order = \"sjf\" } }`",
        )
    }

    fn visit_str<E: de::Error>(self, written: &str) -> Result<Named, E> {
        written.parse().map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut keys: A) -> Result<Named, A::Error> {
        const ONE: &str = "a name with parameters has one key, the name: `{ easy = { order = \"sjf\" } }`";
        let (name, Params(params)) =
            keys.next_entry::<String, Params>()?.ok_or_else(|| de::Error::custom(ONE))?;
        if keys.next_key::<String>()?.is_some() {
            return Err(de::Error::custom(ONE));
        }
        if !is_name(&name) {
            return Err(de::Error::custom(NamedError::Syntax(name)));
        }
        Ok(Named { name, params })
    }
}

struct Params(BTreeMap<String, String>);

impl<'de> Deserialize<'de> for Params {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        named_params(deserializer).map(Params)
    }
}

/// Reads the parameters of a [`Named`] from a table; numbers and switches become the texts that they are written with.
///
/// # Errors
/// A key or a value that could not stand between brackets.
pub fn named_params<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, String>, D::Error> {
    struct Reader;

    impl<'de> Visitor<'de> for Reader {
        type Value = BTreeMap<String, String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a table of parameters, such as `{ order = \"sjf\" }`")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut keys: A) -> Result<Self::Value, A::Error> {
            let mut params = BTreeMap::new();
            while let Some(key) = keys.next_key::<String>()? {
                let Scalar(value) = keys.next_value()?;
                if !is_name(&key) || !is_value(&value) {
                    return Err(de::Error::custom(format!("`{key}={value}` cannot be a parameter")));
                }
                params.insert(key, value);
            }
            Ok(params)
        }
    }

    deserializer.deserialize_map(Reader)
}

/// A value of a parameter, as text.
struct Scalar(String);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Scalar;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, a number, or `true` or `false`")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Scalar, E> {
                Ok(Scalar(text.trim().to_owned()))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Scalar, E> {
                Ok(Scalar(number.to_string()))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Scalar, E> {
                Ok(Scalar(number.to_string()))
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Scalar, E> {
                Ok(Scalar(number.to_string()))
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Scalar, E> {
                Ok(Scalar(value.to_string()))
            }

            fn visit_map<A: MapAccess<'de>>(self, keys: A) -> Result<Scalar, A::Error> {
                NamedReader.visit_map(keys).map(|named| Scalar(named.to_string()))
            }
        }

        deserializer.deserialize_any(Reader)
    }
}
