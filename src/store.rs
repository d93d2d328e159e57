//! The store: a folder in which a run keeps its snapshots, so that it can go on after a kill.
//!
//! A store is made for one run. It holds *snapshots*, each in a folder of its own with a fresh database ([`Engine`]), the *journal* of the
//! commands from outside, and *blocks*: bytes that many snapshots share. The writer defines what the bytes mean. This module
//! guarantees that what has been acknowledged is there after a kill, that damaged data is never returned, and that space is freed.
//!
//! ```text
//! STORE/
//!   gridemu-store           the marker: what this is, its layout, its engine, what run it is of
//!   run                     how that run is described
//!   lock                    held by the process that uses the store
//!   snapshot-00000017/      seal (what the snapshot is, and the hash of each file) and data (the database)
//!   journal-000000000000    entries of the journal, from that number on
//!   blocks                  blocks that snapshots share
//!   finished                the summary, once the run is over
//! ```
//!
//! - **A snapshot** (`generation.rs`) is made under another name: database flushed and closed, its files synced and hashed into a *seal*,
//!   the folder renamed. So a folder `snapshot-N` is always whole. It is never written again. To read it, its files are compared with the
//!   seal and copied, and the engine opens the copy. So no engine ever sees a damaged file, or changes a good one.
//! - **An engine** ([`Engine`]) is put, get, keys, flush and close. `docs/decisions/0001-store.md` says why sled is the default.
//! - **The journal** ([`Journal`]) numbers the commands through the life of the store. The [`Barrier`] of a snapshot says how many entries
//!   its state contains, so an entry that arrives while the snapshot is being written belongs after it. Appending needs no access
//!   to the store itself.
//! - **Blocks** are written once and shared. The seal of a snapshot has the hash of all hashes of the blocks at that time; a
//!   snapshot is damaged if one of these blocks is.
//! - **The order of writes**: blocks synced; database flushed, closed, synced; seal synced; folder renamed and synced; only then older
//!   snapshots go (renamed, then removed), with the journal files that none of the remaining ones needs.
//! - **Damage is an error.** Every byte of every file but `lock` is under a hash that is checked before it is used. One gap remains: the
//!   loss of entries at the end of the journal that no snapshot has used cannot be detected.
//! - Everything that the store does to files goes through `disk.rs`, so that tests can let each single call fail, or cut the power there.
//!
//! The results of campaigns ([`ResultStore`]) are another kind of folder.

mod about;
mod blocks;
mod disk;
mod engine;
mod engines;
mod error;
mod finished;
mod folder;
mod generation;
mod journal;
mod lock;
mod log;
mod marker;
mod payload;
mod place;
mod pruning;
mod results;
#[cfg(test)]
mod tests;
mod text;

pub use about::{About, Barrier, Newest, RunKind, Section, SnapshotInfo, StoreOptions};
pub use engine::{Engine, EngineError};
pub use engines::EngineKind;
pub(crate) use error::BUILD_REDB;
pub use error::{Part, StoreError};
pub use folder::Store;
pub use journal::{Entries, Journal};
pub use results::ResultStore;
