//! The store: a folder in which a run keeps its snapshots, so that nothing is lost when it is killed.
//!
//! A store is made for one run. It holds *snapshots*, each in a folder of its own with a fresh database
//! ([`Engine`]), the *journal* of what came into the run from outside, and *blocks*: bytes that many snapshots
//! share. What the bytes mean is the business of whoever writes them; this room sees to it that what has been
//! acknowledged is there after a kill, that what is damaged is never handed out, and that space is given back.
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
//! A snapshot is made in a folder with another name, closed, hashed, handed to the disk and then renamed, so a
//! folder `snapshot-N` is always whole. It is never written again: to read one, its files are compared with the
//! seal and copied, and the engine opens the copy. So no engine ever sees a damaged file, or changes a good one.

mod about;
mod blocks;
mod clearing;
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

pub use about::{About, Cut, Newest, RunKind, Section, SnapshotInfo, State, StoreOptions};
pub use engine::{Engine, EngineError};
pub use engines::EngineKind;
pub use error::{Part, StoreError};
pub use folder::Store;
pub use journal::{Entries, Journal};
pub use results::ResultStore;
