//! The databases that can hold a store.

#[cfg(feature = "redb")]
pub(super) mod redb;
#[cfg(not(feature = "redb"))]
mod redb {
    //! The stand-in of a build without redb.
    use super::{Engine, EngineError, Path};

    pub(super) const CHUNK: usize = 1;

    pub(super) fn open(_: &Path) -> Result<Box<dyn Engine>, EngineError> {
        Err(EngineError::NotBuiltIn("redb"))
    }
}
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

/// A database in the registry.
struct EngineInfo {
    kind: EngineKind,
    name: &'static str,
    /// Whether this build contains it.
    built_in: bool,
    /// Opens the database in this existing folder; makes one if the folder is empty.
    open: fn(&Path) -> Result<Box<dyn Engine>, EngineError>,
    /// Opens a database for many keys in random order that are put one by one.
    open_even: fn(&Path) -> Result<Box<dyn Engine>, EngineError>,
    /// The largest value in bytes, chosen so that the database takes little space (see
    /// `docs/decisions/0001-store.md`).
    chunk: usize,
}

const ALL: [EngineInfo; 2] = [
    EngineInfo {
        kind: EngineKind::Sled,
        name: "sled",
        built_in: true,
        open: sled::open,
        open_even: sled::open_even,
        chunk: sled::CHUNK,
    },
    EngineInfo {
        kind: EngineKind::Redb,
        name: "redb",
        built_in: cfg!(feature = "redb"),
        open: redb::open,
        open_even: redb::open,
        chunk: redb::CHUNK,
    },
];

impl EngineKind {
    /// All databases of this build, the default first.
    pub fn all() -> impl Iterator<Item = Self> {
        ALL.iter().filter(|info| info.built_in).map(|info| info.kind)
    }

    /// Whether this build contains it; otherwise opening it is an error.
    pub fn is_built_in(self) -> bool {
        self.info().built_in
    }

    /// Opens the database in `folder`, which must exist; an empty folder becomes an empty database.
    ///
    /// # Errors
    /// [`EngineError`] of the database.
    pub fn open(self, folder: &Path) -> Result<Box<dyn Engine>, EngineError> {
        (self.info().open)(folder)
    }

    /// Opens a database for many keys in random order, put one by one. A database made by this must always be opened by this.
    pub(super) fn open_even(self, folder: &Path) -> Result<Box<dyn Engine>, EngineError> {
        (self.info().open_even)(folder)
    }

    /// The largest value that this database is given, in bytes.
    pub(super) fn chunk(self) -> usize {
        self.info().chunk
    }

    fn info(self) -> &'static EngineInfo {
        match self {
            Self::Sled => &ALL[0],
            Self::Redb => &ALL[1],
        }
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info().name)
    }
}

impl FromStr for EngineKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        ALL.iter().find(|info| info.name == text).map(|info| info.kind).ok_or_else(|| {
            let names: Vec<String> = ALL.iter().map(|info| format!("`{}`", info.name)).collect();
            format!("there is no store engine `{text}`; there are {}", names.join(" and "))
        })
    }
}
