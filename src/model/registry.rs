//! Registries: what a scenario can name, and how it is built from its name.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use thiserror::Error;

use super::named::did_you_mean;
use super::{Named, NamedError, nearest};

/// A kind of thing with a registry, such as local policies.
pub trait Kind: 'static {
    /// The kind's name in an error: `local policy`.
    const NAME: &'static str;

    /// The constructor from parameters: a function, or a closure that owns what it needs.
    type Build: ?Sized + Send + Sync;
}

/// The description of a parameter.
#[derive(Copy, Clone, Debug, Serialize)]
pub struct ParamInfo {
    /// The key.
    pub key: &'static str,
    /// The values that it takes.
    pub values: &'static str,
    /// The value if it is not given.
    pub default: &'static str,
    /// Its meaning.
    pub doc: &'static str,
}

/// Another name of an entry, with some parameters other than by default: `easy-d` for `easy[dedicated=reserve]`.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Alias {
    /// The other name.
    pub name: Cow<'static, str>,
    /// What the alias stands for. Parameters that are written behind the alias precede these.
    pub stands_for: Named,
    /// A description in a sentence.
    pub doc: Cow<'static, str>,
}

/// The description of an entry.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct About {
    /// Its name in a scenario.
    pub name: Cow<'static, str>,
    /// A description in a sentence.
    pub doc: Cow<'static, str>,
    /// Its source in the literature.
    pub source: Cow<'static, str>,
    /// Its parameters.
    pub params: Cow<'static, [ParamInfo]>,
    /// Its other names.
    pub aliases: Vec<Alias>,
}

impl About {
    /// Its name, then its aliases.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&*self.name).chain(self.aliases.iter().map(|alias| &*alias.name))
    }

    fn has(&self, name: &str) -> bool {
        self.names().any(|own| own == name)
    }
}

/// An entry of a registry: its description and its constructor. This is what a policy adds to a registry.
pub struct Entry<K: Kind> {
    /// The description.
    pub about: About,
    pub(crate) build: Arc<K::Build>,
}

impl<K: Kind> Entry<K> {
    pub(crate) fn of(name: impl Into<Cow<'static, str>>, build: Arc<K::Build>) -> Self {
        let about = About {
            name: name.into(),
            doc: Cow::default(),
            source: Cow::default(),
            params: Cow::default(),
            aliases: Vec::new(),
        };
        Self { about, build }
    }

    /// Sets the description, a sentence.
    #[must_use]
    pub fn doc(mut self, doc: impl Into<Cow<'static, str>>) -> Self {
        self.about.doc = doc.into();
        self
    }

    /// Sets the source.
    #[must_use]
    pub fn source(mut self, source: impl Into<Cow<'static, str>>) -> Self {
        self.about.source = source.into();
        self
    }

    /// Sets the parameters. The constructor takes all of them; any other is refused.
    #[must_use]
    pub fn params(mut self, params: impl Into<Cow<'static, [ParamInfo]>>) -> Self {
        self.about.params = params.into();
        self
    }

    /// Adds an alias, which stands for these parameters.
    #[must_use]
    pub fn alias(
        mut self,
        name: impl Into<Cow<'static, str>>,
        params: &[(&str, &str)],
        doc: impl Into<Cow<'static, str>>,
    ) -> Self {
        let params: BTreeMap<_, _> =
            params.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let stands_for = Named { name: self.about.name.to_string(), params };
        self.about.aliases.push(Alias { name: name.into(), stands_for, doc: doc.into() });
        self
    }
}

impl<K: Kind> Clone for Entry<K> {
    fn clone(&self) -> Self {
        Self { about: self.about.clone(), build: Arc::clone(&self.build) }
    }
}

impl<K: Kind> fmt::Debug for Entry<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("about", &self.about).finish_non_exhaustive()
    }
}

/// The entries of a kind. A clone is cheap.
#[derive(Debug)]
pub struct Registry<K: Kind> {
    known: Arc<[Entry<K>]>,
}

/// An unknown name, or invalid parameters.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// No entry has this name.
    #[error("there is no {kind} `{name}`{}; there are {}", did_you_mean(hint.as_deref()), known.join(", "))]
    Unknown {
        /// The kind that was looked for: `local policy`.
        kind: &'static str,
        /// The name as written.
        name: String,
        /// The nearest name.
        hint: Option<String>,
        /// All names.
        known: Vec<String>,
    },
    /// An invalid parameter.
    #[error(transparent)]
    Param(#[from] NamedError),
}

impl<K: Kind> Clone for Registry<K> {
    fn clone(&self) -> Self {
        Self { known: Arc::clone(&self.known) }
    }
}

impl<K: Kind> FromIterator<Entry<K>> for Registry<K> {
    fn from_iter<T: IntoIterator<Item = Entry<K>>>(entries: T) -> Self {
        Self { known: entries.into_iter().collect() }
    }
}

impl<K: Kind> Registry<K> {
    /// Adds an entry, which hides earlier entries with one of its names.
    #[must_use]
    pub fn with(self, entry: Entry<K>) -> Self {
        let mut known: Vec<Entry<K>> =
            self.known.iter().filter(|older| !entry.about.has(&older.about.name)).cloned().collect();
        for older in &mut known {
            older.about.aliases.retain(|alias| !entry.about.has(&alias.name));
        }
        known.into_iter().chain([entry]).collect()
    }

    /// All entries, each once.
    pub fn all(&self) -> &[Entry<K>] {
        &self.known
    }

    /// All names, each entry's own name before its aliases.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.known.iter().flat_map(|entry| entry.about.names())
    }

    /// The entry with this name.
    ///
    /// # Errors
    /// [`RegistryError::Unknown`] with the nearest name.
    pub fn find(&self, name: &str) -> Result<&Entry<K>, RegistryError> {
        self.known.iter().find(|entry| entry.about.has(name)).ok_or_else(|| RegistryError::Unknown {
            kind: K::NAME,
            name: name.to_owned(),
            hint: nearest(name, self.names()).map(str::to_owned),
            known: self.names().map(str::to_owned).collect(),
        })
    }

    /// Builds what `written` names by `build`, which takes the parameters out of the name; the parameters that it leaves are refused.
    pub(crate) fn built<T>(
        &self,
        written: &Named,
        build: impl FnOnce(&K::Build, &mut Named) -> Result<T, NamedError>,
    ) -> Result<T, RegistryError> {
        let Entry { about, build: own } = self.find(&written.name)?;
        let mut named = written.clone();
        if let Some(alias) = about.aliases.iter().find(|alias| alias.name == written.name) {
            for (key, value) in &alias.stands_for.params {
                named.params.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
        let built = build(own, &mut named)?;
        named.finish(&about.params.iter().map(|param| param.key).collect::<Vec<_>>())?;
        Ok(built)
    }
}

/// Declares the modules of a folder of policies, each with a function `info`, and makes them the registry's standard entries.
///
/// `cargo fmt` does not follow modules that a macro declares; `.ci/run` formats them by name.
macro_rules! standard_policies {
    ($registry:ident: $($policy:ident)*) => {
        $(mod $policy;)*

        impl $registry {
            /// All entries of the library, in the order in which they are listed.
            pub fn standard() -> Self {
                [$($policy::info()),*].into_iter().collect()
            }
        }
    };
}

pub(crate) use standard_policies;
