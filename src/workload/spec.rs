//! The text form of a generator or a model, `name[key=value,...]`, defined by one table of its keys.
//!
//! A new [`Spec`] needs its table, its checks and a line `spec_text!`; reading, writing, the refusal of unknown keys
//! and the defaults of scenario files follow from the table.

use std::fmt;
use std::str::FromStr;

use crate::model::{Named, NamedError};
use crate::units::Span;

/// What a value of the key `seed` must be, for messages.
pub(super) const SEED: &str = "a whole number from 0 to 18446744073709551615";
/// The largest number of jobs that a generator makes.
pub(super) const MOST_JOBS: u64 = 1_000_000_000_000;

/// The documentation of a key: for the help, the defaults of scenarios and the pages of documentation.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The key as written.
    pub key: &'static str,
    /// The default as written; empty if there is none.
    pub default: &'static str,
    /// One line for the help.
    pub doc: &'static str,
}

impl Setting {
    /// Documents the key `key` with its default and its line of help.
    pub(crate) const fn new(key: &'static str, default: &'static str, doc: &'static str) -> Self {
        Self { key, default, doc }
    }

    /// Declares a key for a field of the spec. `expected` completes the sentence "`key=value` in `name` is not …".
    pub(crate) const fn field<S>(
        self,
        expected: &'static str,
        field: fn(&mut S) -> &mut dyn Field,
    ) -> Key<S> {
        Key { setting: self, access: Access::Field { expected, field } }
    }

    /// Declares a key for a field that is a choice among words.
    pub(crate) const fn word<S>(self, field: fn(&mut S) -> &mut dyn Field) -> Key<S> {
        self.field("", field)
    }

    /// Declares a key with its own functions to read and write it; `write` returns `None` if the key is not to be
    /// written.
    pub(crate) const fn own<S>(
        self,
        read: fn(&mut S, &mut Reading) -> Result<(), NamedError>,
        write: fn(&S) -> Option<String>,
    ) -> Key<S> {
        Key { setting: self, access: Access::Own { read, write } }
    }
}

/// A key of the spec `S`: its documentation, and how it is read and written.
#[derive(Debug)]
pub struct Key<S: 'static> {
    /// Its documentation.
    pub setting: Setting,
    access: Access<S>,
}

#[derive(Debug)]
enum Access<S: 'static> {
    Field { expected: &'static str, field: fn(&mut S) -> &mut dyn Field },
    Own { read: fn(&mut S, &mut Reading) -> Result<(), NamedError>, write: fn(&S) -> Option<String> },
}

impl<S: Clone> Key<S> {
    fn read(&self, spec: &mut S, reading: &mut Reading) -> Result<(), NamedError> {
        match self.access {
            Access::Field { expected, field } => {
                field(spec).take(&mut reading.left, self.setting.key, expected)
            }
            Access::Own { read, .. } => read(spec, reading),
        }
    }

    fn written(&self, spec: &S) -> Option<String> {
        match self.access {
            // The accessor needs a mutable field, so the value is read from a copy.
            Access::Field { field, .. } => field(&mut spec.clone()).written(),
            Access::Own { write, .. } => write(spec),
        }
    }
}

/// A type of field that a key can set.
pub trait Field {
    /// Takes the value of `key` out of `named`, if it is given.
    ///
    /// # Errors
    /// [`NamedError::BadValue`] if it is not `expected`.
    fn take(&mut self, named: &mut Named, key: &str, expected: &str) -> Result<(), NamedError>;

    /// The value as it is written; `None` if there is nothing to write.
    fn written(&self) -> Option<String>;
}

/// Implements [`Field`] for types: what each is read as, and how a value is written.
macro_rules! field {
    ($($of:ty: $read:ty, |$value:ident| $written:expr;)+) => {$(
        impl $crate::workload::Field for $of {
            fn take(
                &mut self,
                named: &mut $crate::model::Named,
                key: &str,
                expected: &str,
            ) -> Result<(), $crate::model::NamedError> {
                if let Some(given) = named.take::<$read>(key, expected)? {
                    *self = given.into();
                }
                Ok(())
            }

            fn written(&self) -> Option<String> {
                let $value = self;
                $written
            }
        }
    )+};
}
pub(super) use field;

field! {
    u32: u32, |value| Some(value.to_string());
    u64: u64, |value| Some(value.to_string());
    f64: f64, |value| Some(value.to_string());
    Option<u32>: u32, |value| value.map(|value| value.to_string());
    Option<u64>: u64, |value| value.map(|value| value.to_string());
    Option<f64>: f64, |value| value.map(|value| value.to_string());
    Span: Span, |value| Some(format!("{value} s"));
}

/// A choice among words.
pub trait Word: Copy + PartialEq + 'static {
    /// The words and their meanings.
    const WORDS: &'static [(&'static str, Self)];
}

impl Word for bool {
    const WORDS: &'static [(&'static str, Self)] = &[("true", true), ("false", false)];
}

impl<T: Word> Field for T {
    fn take(&mut self, named: &mut Named, key: &str, _: &str) -> Result<(), NamedError> {
        named.take_choice(key, T::WORDS).map(|given| *self = given.unwrap_or(*self))
    }

    fn written(&self) -> Option<String> {
        T::WORDS.iter().find(|(_, is)| is == self).map(|(word, _)| (*word).to_owned())
    }
}

/// A text while it is read into a spec.
#[derive(Debug)]
pub struct Reading {
    given: Named,
    left: Named,
}

impl Reading {
    /// The value of `key` as given, whether it has been taken or not.
    pub fn given(&self, key: &str) -> Option<&str> {
        self.given.params.get(key).map(String::as_str)
    }

    /// Takes a value; see [`Named::take`].
    ///
    /// # Errors
    /// [`NamedError::BadValue`] if the value does not parse.
    pub fn take<T: FromStr>(&mut self, key: &str, expected: &str) -> Result<Option<T>, NamedError> {
        self.left.take(key, expected)
    }

    /// Takes a choice among words; see [`Named::take_choice`].
    ///
    /// # Errors
    /// [`NamedError::BadValue`] lists the words if the value is none of them.
    pub fn take_word<T: Word>(&mut self, key: &str) -> Result<Option<T>, NamedError> {
        self.left.take_choice(key, T::WORDS)
    }

    /// The keys that have not been taken yet.
    pub const fn left(&self) -> &Named {
        &self.left
    }
}

/// The meaning of a text of the form `name[key=value,...]`, with every default filled in.
///
/// Written out, it has all its parameters and reads back as itself.
pub trait Spec: Clone + 'static {
    /// The name it is written under.
    const NAME: &'static str;

    /// The keys, in the order in which they are read.
    const KEYS: &'static [Key<Self>];

    /// The spec before anything is read: all defaults that do not follow from another key.
    fn unread() -> Self;

    /// Checks that the values make sense.
    ///
    /// # Errors
    /// [`NamedError::BadValue`] names the value that does not and says what would.
    fn check(&self) -> Result<(), NamedError>;

    /// Keys in addition to [`Spec::KEYS`], such as parameters that have a table of their own.
    fn more_keys(&self) -> Vec<String> {
        Vec::new()
    }

    /// Reads the additional keys after the others, and resolves values that follow from several keys.
    ///
    /// # Errors
    /// [`NamedError`] if a value does not parse or contradicts the others.
    fn read_more(&mut self, _reading: &mut Reading) -> Result<(), NamedError> {
        Ok(())
    }

    /// Writes the additional keys.
    fn write_more(&self, _named: &mut Named) {}

    /// All keys, as listed in the message about an unknown key.
    fn keys(&self) -> Vec<String> {
        let keys = Self::KEYS.iter().map(|key| key.setting.key.to_owned());
        keys.chain(self.more_keys()).collect()
    }

    /// The default of a key of the table as it is written; empty if there is none.
    fn default_of(key: &str) -> &'static str {
        let found = Self::KEYS.iter().find(|other| other.setting.key == key);
        found.map_or("", |found| found.setting.default)
    }

    /// Reads and checks the parameters of `name[...]`; parameters that are not given have their defaults.
    ///
    /// # Errors
    /// [`NamedError`] for a parameter that is missing, does not exist, does not parse or makes no sense, with what
    /// would be right.
    fn from_named(named: Named) -> Result<Self, NamedError> {
        let mut spec = Self::unread();
        let mut reading = Reading { given: named.clone(), left: named };
        for key in Self::KEYS {
            key.read(&mut spec, &mut reading)?;
        }
        spec.read_more(&mut reading)?;
        reading.left.finish(&spec.keys().iter().map(String::as_str).collect::<Vec<_>>())?;
        spec.check()?;
        Ok(spec)
    }

    /// The text form, with every parameter.
    fn to_named(&self) -> Named {
        let mut named = Named::bare(Self::NAME);
        for key in Self::KEYS {
            if let Some(value) = key.written(self) {
                named.params.insert(key.setting.key.to_owned(), value);
            }
        }
        self.write_more(&mut named);
        named
    }

    /// The error that the value of `key` is not `expected`.
    fn bad(key: &str, value: impl fmt::Display, expected: &str) -> NamedError {
        NamedError::bad_value(Self::NAME, key, value, expected)
    }

    /// Checks that `key` is a number of `what` from 1 to `most`.
    ///
    /// # Errors
    /// [`NamedError::BadValue`] if it is not.
    fn check_number(key: &str, value: u64, most: u64, what: &str) -> Result<(), NamedError> {
        match (1..=most).contains(&value) {
            true => Ok(()),
            false => Err(Self::bad(key, value, &format!("a number of {what} from 1 to {most}"))),
        }
    }
}

/// Reads `written` as an `S`; other names are errors.
pub(super) fn read<S: Spec>(written: &str) -> Result<S, NamedError> {
    let named: Named = written.parse()?;
    if named.name == S::NAME { S::from_named(named) } else { Err(NamedError::Syntax(written.to_owned())) }
}

/// Implements `FromStr` and `Display` of a [`Spec`] through its text form.
macro_rules! spec_text {
    ($spec:ty) => {
        impl std::str::FromStr for $spec {
            type Err = $crate::model::NamedError;

            fn from_str(written: &str) -> Result<Self, Self::Err> {
                $crate::workload::spec::read(written)
            }
        }

        impl std::fmt::Display for $spec {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $crate::workload::Spec::to_named(self).fmt(f)
            }
        }
    };
}
pub(super) use spec_text;

/// Checks that the documented defaults are the real ones; for the keys in `but` the documentation explains how the
/// default is found.
#[cfg(test)]
pub(super) fn assert_defaults<S: Spec>(bare: &str, but: &[&str]) {
    let named = read::<S>(bare).unwrap_or_else(|error| panic!("{error}")).to_named();
    for Key { setting, .. } in S::KEYS.iter().filter(|key| !but.contains(&key.setting.key)) {
        let meant = named.params.get(setting.key).map_or("", String::as_str);
        assert_eq!(meant, setting.default, "{}", setting.key);
    }
}
