//! The databases that a store can be kept in.

pub(super) mod redb;
mod sled;

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use super::engine::{Engine, EngineError};

/// Which database a store is kept in.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum EngineKind {
    /// sled 0.34.
    #[default]
    Sled,
    /// redb 4.
    Redb,
}

/// A database of the registry.
struct EngineInfo {
    kind: EngineKind,
    name: &'static str,
    /// Opens the database in this folder, which is there; makes one if the folder is empty.
    open: fn(&Path) -> Result<Box<dyn Engine>, EngineError>,
    /// The same for many keys of no order that are put one by one.
    open_even: fn(&Path) -> Result<Box<dyn Engine>, EngineError>,
    /// No value may be larger than this, in bytes; chosen so that the database takes little space (see
    /// `docs/decisions/0001-store.md`).
    chunk: usize,
}

const ALL: [EngineInfo; 2] = [
    EngineInfo {
        kind: EngineKind::Sled,
        name: "sled",
        open: sled::open,
        open_even: sled::open_even,
        chunk: sled::CHUNK,
    },
    EngineInfo {
        kind: EngineKind::Redb,
        name: "redb",
        open: redb::open,
        open_even: redb::open,
        chunk: redb::CHUNK,
    },
];

impl EngineKind {
    /// All of them, the default first.
    pub fn all() -> impl Iterator<Item = Self> {
        ALL.iter().map(|info| info.kind)
    }

    /// Opens the database in `folder`, which must be there; an empty folder becomes an empty database.
    ///
    /// # Errors
    /// [`EngineError`] as the database says.
    pub fn open(self, folder: &Path) -> Result<Box<dyn Engine>, EngineError> {
        (self.info().open)(folder)
    }

    /// The same for a database of many keys of no order, put one by one. One that was made so must be opened so.
    pub(super) fn open_even(self, folder: &Path) -> Result<Box<dyn Engine>, EngineError> {
        (self.info().open_even)(folder)
    }

    /// The largest value that is given to this database, in bytes.
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
