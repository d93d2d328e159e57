//! Snapshots of a run: when they are taken, what they contain, and how they reach the store while the run continues.
//!
//! ```text
//! ActiveRun ──run segment──▶ barrier ──Checkpointer::take──▶ Order { barrier, state, files } ──▶ thread "snapshots"
//!    ▲                           (the run stands still)                     sync files, encode, write, next due
//!    └──────────── next run segment ◀──────────┘
//! ```
//!
//! With a store, barriers are placed at multiples of virtual time, after a number of records, when the writing thread
//! finds a snapshot due by the wall clock, or when [`Control`] is asked to stop the run. While the run stands still,
//! entities are only copied and rows handed to the operating system; encoding, syncing and writing overlap with the next
//! segment. A snapshot is handed over only when the previous one has been written, so at most one waits in memory. A run
//! begins with a snapshot, and a run that is stopped ends with one.

mod begin;
mod checkpointer;
mod control;
mod description;
mod state;
mod writer;

pub use begin::Anew;
pub use control::Control;

pub(super) use begin::{create_store, open_store};
pub(super) use checkpointer::Checkpointer;
pub(super) use description::Description;
pub(super) use state::{AtBarrier, Restored, RunState, Snapshot, Spent};
