//! The databases that can hold a store.

#[cfg(feature = "redb")]
pub(super) mod redb;
mod sled;

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use super::engine::{Engine, EngineError};

/// The database that holds a store.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum EngineKind {
    /// sled 0.34.
    #[default]
    Sled,
    /// redb 4, with the feature `redb`.
    Redb,
}

impl EngineKind {
    const ALL: [Self; 2] = [Self::Sled, Self::Redb];

    /// All databases of this build, the default first.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|kind| kind.is_built_in())
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Sled => "sled",
            Self::Redb => "redb",
        }
    }

    /// Whether this build contains it; otherwise opening it is an error.
    pub const fn is_built_in(self) -> bool {
        matches!(self, Self::Sled) || cfg!(feature = "redb")
    }

    /// Opens the database in `folder`, which must exist; an empty folder becomes an empty database.
    ///
    /// # Errors
    /// [`EngineError`] of the database.
    pub fn open(self, folder: &Path) -> Result<Box<dyn Engine>, EngineError> {
        match self {
            Self::Sled => sled::open(folder, false),
            #[cfg(feature = "redb")]
            Self::Redb => redb::open(folder),
            #[cfg(not(feature = "redb"))]
            Self::Redb => Err(EngineError::NotBuiltIn("redb")),
        }
    }

    /// Opens a database for many keys in random order, put one by one. A database made by this must always be opened by this.
    pub(super) fn open_even(self, folder: &Path) -> Result<Box<dyn Engine>, EngineError> {
        match self {
            Self::Sled => sled::open(folder, true),
            Self::Redb => self.open(folder),
        }
    }

    /// The largest value that this database is given, in bytes, chosen so that the database takes little space (see
    /// `docs/decisions/0001-store.md`).
    pub(super) const fn chunk(self) -> usize {
        match self {
            Self::Sled => sled::CHUNK,
            // redb takes values of any size; this keeps the unit small in which damage is reported.
            Self::Redb => 240 * 1024,
        }
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for EngineKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(|| {
            format!(
                "there is no store engine `{text}`; there are {}",
                Self::ALL.map(|kind| format!("`{kind}`")).join(" and ")
            )
        })
    }
}
