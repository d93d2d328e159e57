//! The written form of a policy or a generator: `name[key=value,...]`.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeBounds;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::text::saved_as_text;

/// A name with parameters, as a user writes it: `easy[order=sjf]`, `lublin[jobs=1000,seed=7]`.
///
/// Reading and writing round-trip. In files it may also be a table with the name as its one key: `{ easy = { order = "sjf" } }`. A
/// value may itself be of the form: `poisson[runtime=exponential[mean=10 min]]`. Parameters are taken out one by one with
/// [`Named::take`]; [`Named::finish`] refuses what is left at the end as unknown, so that no typing error is silently
/// ignored.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Named {
    /// The name before the bracket.
    pub name: String,
    /// The parameters, by key.
    pub params: BTreeMap<String, String>,
}

/// An error in a name and its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NamedError {
    /// Not of the form `name[key=value,...]`.
    #[error("`{0}` is not of the form `name[key=value,...]`")]
    Syntax(String),
    /// A key that is given twice.
    #[error("`{key}` is given twice in `{written}`")]
    Twice {
        /// The key.
        key: String,
        /// The whole text.
        written: String,
    },
    /// A key that the named thing does not have.
    #[error("`{name}` has no parameter `{key}`{}; it has {}", did_you_mean(hint.as_deref()), listed(valid))]
    UnknownKey {
        /// The named thing.
        name: String,
        /// The unknown key.
        key: String,
        /// The nearest valid key.
        hint: Option<String>,
        /// All valid keys.
        valid: Vec<String>,
    },
    /// The former key of a parameter.
    #[error("the parameter `{key}` of `{name}` is now called `{now}`")]
    Former {
        /// The named thing.
        name: String,
        /// The key as written.
        key: String,
        /// The key of today.
        now: String,
    },
    /// A value that is not valid for its key.
    #[error("`{key}={value}` in `{name}` is not {expected}")]
    BadValue {
        /// The named thing.
        name: String,
        /// The key.
        key: String,
        /// The value as written.
        value: String,
        /// A description of valid values.
        expected: String,
    },
}

/// The end of a message about an unknown name: ` (did you mean ...?)`, or nothing.
pub fn did_you_mean(near: Option<&str>) -> String {
    near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default()
}

/// The hint about an unknown name: the candidate most similar to it, if any is similar enough.
pub fn suggestion<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(written, candidates).map(|near| format!("did you mean `{near}`?"))
}

fn listed(valid: &[String]) -> String {
    if valid.is_empty() { "none".to_owned() } else { format!("`{}`", valid.join("`, `")) }
}

/// The candidate most similar to `written`, if any is similar enough.
pub fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&written.to_lowercase(), candidate), candidate))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

impl NamedError {
    /// The error that `key` of `name` has a value that is not `expected`.
    pub fn bad_value(name: &str, key: &str, value: impl fmt::Display, expected: &str) -> Self {
        Self::BadValue {
            name: name.to_owned(),
            key: key.to_owned(),
            value: value.to_string(),
            expected: expected.to_owned(),
        }
    }
}

impl Named {
    /// A name without parameters.
    pub fn bare(name: &str) -> Self {
        Self { name: name.to_owned(), params: BTreeMap::new() }
    }

    /// Whether a parameter can have this key and this value, as texts between brackets.
    pub fn can_have(key: &str, value: &str) -> bool {
        is_name(key) && is_value(value)
    }

    /// Takes the value of `key` out, parsed; `Ok(None)` if it is not given. `expected` completes the sentence
    /// "`key=value` in `name` is not …".
    ///
    /// # Errors
    /// [`NamedError::BadValue`] if the value does not parse.
    pub fn take<T: FromStr>(&mut self, key: &str, expected: &str) -> Result<Option<T>, NamedError> {
        let Some(value) = self.params.remove(key) else { return Ok(None) };
        match value.parse() {
            Ok(parsed) => Ok(Some(parsed)),
            Err(_) => Err(NamedError::bad_value(&self.name, key, value, expected)),
        }
    }

    /// As [`Named::take`], of values in the range.
    ///
    /// # Errors
    /// [`NamedError::BadValue`] if the value does not parse or is outside the range.
    pub fn take_within<T: FromStr + PartialOrd>(
        &mut self,
        key: &str,
        range: impl RangeBounds<T>,
        expected: &str,
    ) -> Result<Option<T>, NamedError> {
        let written = self.params.get(key).cloned().unwrap_or_default();
        match self.take(key, expected)? {
            Some(value) if !range.contains(&value) => {
                Err(NamedError::bad_value(&self.name, key, written, expected))
            }
            value => Ok(value),
        }
    }

    /// Takes the value of `key` out as one of the listed words; `Ok(None)` if it is not given.
    ///
    /// # Errors
    /// [`NamedError::BadValue`] lists the words if the value is none of them.
    pub fn take_choice<T: Copy>(
        &mut self,
        key: &str,
        choices: &[(&str, T)],
    ) -> Result<Option<T>, NamedError> {
        let Some(value) = self.params.remove(key) else { return Ok(None) };
        match choices.iter().find(|(word, _)| *word == value) {
            Some((_, choice)) => Ok(Some(*choice)),
            None => {
                let words: Vec<_> = choices.iter().map(|(word, _)| *word).collect();
                let expected = format!("one of `{}`", words.join("`, `"));
                Err(NamedError::bad_value(&self.name, key, value, &expected))
            }
        }
    }

    /// Refuses a former key.
    ///
    /// # Errors
    /// [`NamedError::Former`] with the key of today.
    pub fn refuse_former(&self, key: &str, now: &str) -> Result<(), NamedError> {
        if !self.params.contains_key(key) {
            return Ok(());
        }
        Err(NamedError::Former { name: self.name.clone(), key: key.to_owned(), now: now.to_owned() })
    }

    /// Refuses parameters that were not taken.
    ///
    /// # Errors
    /// [`NamedError::UnknownKey`] with the nearest of `valid`.
    pub fn finish(self, valid: &[&str]) -> Result<(), NamedError> {
        match self.params.into_keys().next() {
            None => Ok(()),
            Some(key) => Err(NamedError::UnknownKey {
                name: self.name,
                hint: nearest(&key, valid.iter().copied()).map(str::to_owned),
                key,
                valid: valid.iter().map(|key| (*key).to_owned()).collect(),
            }),
        }
    }
}

impl FromStr for Named {
    type Err = NamedError;

    fn from_str(written: &str) -> Result<Self, NamedError> {
        let syntax = || NamedError::Syntax(written.to_owned());
        let (name, inside) = match written.trim().split_once('[') {
            None => (written.trim(), ""),
            Some((name, rest)) => (name.trim(), rest.strip_suffix(']').ok_or_else(syntax)?),
        };
        if !is_name(name) {
            return Err(syntax());
        }
        let mut params = BTreeMap::new();
        for pair in split(inside).ok_or_else(syntax)?.into_iter().filter(|pair| !pair.trim().is_empty()) {
            let (key, value) = pair.split_once('=').ok_or_else(syntax)?;
            let (key, value) = (key.trim(), value.trim());
            if !is_name(key) || !is_value(value) {
                return Err(syntax());
            }
            if params.insert(key.to_owned(), value.to_owned()).is_some() {
                return Err(NamedError::Twice { key: key.to_owned(), written: written.to_owned() });
            }
        }
        Ok(Self { name: name.to_owned(), params })
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+'))
}

/// Whether a text has no brackets, or is of the form itself.
fn is_value(text: &str) -> bool {
    !text.is_empty() && (!text.contains(['[', ']', ',']) || text.parse::<Named>().is_ok())
}

/// The pieces between the commas outside of brackets; `None` if brackets do not match.
fn split(inside: &str) -> Option<Vec<&str>> {
    let (mut pieces, mut start, mut depth) = (Vec::new(), 0, 0_u32);
    for (at, c) in inside.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                pieces.push(&inside[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    pieces.push(&inside[start..]);
    (depth == 0).then_some(pieces)
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (at, (key, value)) in self.params.iter().enumerate() {
            write!(f, "{}{key}={value}", if at == 0 { "[" } else { "," })?;
        }
        if self.params.is_empty() { Ok(()) } else { f.write_str("]") }
    }
}

saved_as_text!(Named);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips() {
        for written in [
            "fcfs",
            "easy[order=sjf]",
            "los[c-s=7,lookahead=50]",
            "poisson[jobs=3,runtime=weibull[mean=45 h,shape=0.7],size=1..32]",
        ] {
            assert_eq!(written.parse::<Named>().unwrap().to_string(), written);
        }
        assert_eq!(" easy[ order = sjf ] ".parse::<Named>().unwrap().to_string(), "easy[order=sjf]");
    }

    #[test]
    fn refuses_what_is_not_of_the_form() {
        for written in [
            "",
            "[a=1]",
            "easy[",
            "easy[order]",
            "easy[order=]",
            "easy[a=1,a=2]",
            "easy[a=[b]]",
            "a b",
            "a[b=c]]",
            "a[b=c[d=e]",
        ] {
            assert!(written.parse::<Named>().is_err(), "{written}");
        }
    }

    #[test]
    fn it_is_stored_as_its_text() {
        let named: Named = "poisson[jobs=3,load=0.5,runtime=weibull[mean=45 h,shape=0.7]]".parse().unwrap();
        let json = serde_json::to_string(&named).unwrap();
        assert_eq!(json, format!("\"{named}\""));
        assert_eq!(serde_json::from_str::<Named>(&json).unwrap(), named);
        let bytes = postcard::to_stdvec(&named).unwrap();
        assert_eq!(postcard::from_bytes::<Named>(&bytes).unwrap(), named);
    }

    #[test]
    fn unknown_keys_are_refused_with_the_nearest() {
        let mut named: Named = "easy[oder=sjf]".parse().unwrap();
        assert_eq!(named.take::<String>("order", "a word"), Ok(None));
        let error = named.finish(&["order"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`easy` has no parameter `oder` (did you mean `order`?); it has `order`"
        );
    }
}
