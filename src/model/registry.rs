//! What can be named in a scenario, and is built from its name.

use serde::Serialize;
use thiserror::Error;

use super::named::did_you_mean;
use super::{NamedError, nearest};

/// The description of something that can be named, such as a policy: the one line that it adds to a registry.
pub trait Info: 'static {
    /// What such things are called in an error: `local policy`.
    const KIND: &'static str;

    /// All that come with the library, in the order in which they are listed.
    const ALL: &'static [&'static Self];

    /// How it is written in a scenario.
    fn name(&self) -> &'static str;
}

/// A parameter's description.
#[derive(Copy, Clone, Debug, Serialize)]
pub struct ParamInfo {
    /// The key.
    pub key: &'static str,
    /// What it takes.
    pub values: &'static str,
    /// What it is if not given.
    pub default: &'static str,
    /// What it means.
    pub doc: &'static str,
}

/// The things of a kind that can be named.
#[derive(Debug)]
pub struct Registry<I: 'static> {
    known: Vec<&'static I>,
}

/// A name that is not known, or parameters that are not its own.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RegistryError {
    /// Nothing of that name.
    #[error("there is no {kind} `{name}`{}; there are {}", did_you_mean(hint.as_deref()), known.join(", "))]
    Unknown {
        /// What there is none of: `local policy`.
        kind: &'static str,
        /// As written.
        name: String,
        /// The nearest name.
        hint: Option<String>,
        /// All names.
        known: Vec<String>,
    },
    /// A parameter is wrong.
    #[error(transparent)]
    Param(#[from] NamedError),
}

impl<I> Clone for Registry<I> {
    fn clone(&self) -> Self {
        Self { known: self.known.clone() }
    }
}

impl<I: Info> Default for Registry<I> {
    fn default() -> Self {
        Self::standard()
    }
}

impl<I: Info> Registry<I> {
    /// All that come with the library.
    pub fn standard() -> Self {
        Self { known: I::ALL.to_vec() }
    }

    /// The same with one more, which hides an older one of the same name.
    #[must_use]
    pub fn with(mut self, info: &'static I) -> Self {
        self.known.retain(|other| other.name() != info.name());
        self.known.push(info);
        self
    }

    /// All descriptions.
    pub fn all(&self) -> &[&'static I] {
        &self.known
    }

    /// The description of what has that name.
    ///
    /// # Errors
    /// [`RegistryError::Unknown`] with the nearest name.
    pub fn find(&self, name: &str) -> Result<&'static I, RegistryError> {
        self.known.iter().copied().find(|info| info.name() == name).ok_or_else(|| {
            let known: Vec<_> = self.known.iter().map(|info| info.name()).collect();
            RegistryError::Unknown {
                kind: I::KIND,
                name: name.to_owned(),
                hint: nearest(name, known.iter().copied()).map(str::to_owned),
                known: known.into_iter().map(str::to_owned).collect(),
            }
        })
    }
}
