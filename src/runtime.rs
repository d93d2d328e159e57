//! The grid as actors: each entity is an actor with a mailbox of its own, under a conductor.
//!
//! ```text
//! caller's thread           conductor's thread                       threads of actors
//! ───────────────           ──────────────────                       ─────────────────
//! Watch ◀──batches of──── Conductor ──Advance { until, inbox }──▶ EntityActor ─▶ Entity
//!   │        records        │    ▲                                     │
//!   ▼      (bounded)        ▼    └──────── the same request: ──────────┘
//! Merge ─▶ RecordSink     Windows             sent, records, next event
//! ```
//!
//! [`run`] is the plain loop ([`drive`](crate::grid::drive())) with the call replaced by a message: the conductor keeps the same
//! [`Windows`], has at most one request on its way to each entity, and takes the answers in the order of entities, whatever the order in
//! which they arrive. So nothing depends on mailboxes, wakers or threads, and a run leaves the records of the plain loop, on one
//! thread or many, paced or not.
//!
//! The thread that calls [`run`] takes the records, so that writing goes on beside scheduling, and watches: an entity that panics, does
//! not answer or does not return ends the run with an error that names it and the moment; the run never hangs.
//!
//! | submodule | contents |
//! |---|---|
//! | `conductor` | the loop that asks entities to go on, and the paced clock |
//! | `request`, `entity_actor` | what is asked of an entity, with its answer; the actor of an entity |
//! | `watch`, `board` | the caller's thread, and the signs of life that it reads |
//! | `outside` | commands from outside |
//!
//! This module reads the clock and starts threads; no result depends on either.

mod board;
mod clock;
mod conductor;
mod entity_actor;
mod error;
mod grid;
mod options;
mod outside;
mod request;
mod watch;

use std::sync::Arc;
use std::sync::mpsc;

pub use error::RuntimeError;
pub use grid::{run_grid, run_segment};
pub use options::RuntimeOptions;
pub use outside::{Answer, Caller, Outside, Refusal};

use self::board::Board;
use self::conductor::Conductor;
use self::watch::Watch;
use crate::entity::{Entity, Stamp};
use crate::grid::{Group, Merge, Windows};
use crate::model::{Record, RecordSink};

/// The number of batches that may wait to be written before the conductor waits as well.
const BATCHES: usize = 4;

/// The outcome of [`run`].
#[derive(Debug)]
pub struct Ended<E> {
    /// The entities in their order: all of them after a run without an error, otherwise those that could be recovered.
    pub entities: Vec<E>,
    /// Everything before this moment has happened, as far as is known.
    pub passed: Stamp,
    /// Whether the run has ended before its `until`, as [`WindowOptions::over`](crate::grid::WindowOptions::over) decides.
    pub over: bool,
    /// The error that ended the run, if one did.
    pub result: Result<(), RuntimeError>,
}

/// A message of the conductor to the thread that waits for it.
enum Report<E> {
    /// Records, each with the place of its entity; everything before the moment has been recorded.
    Records(Vec<(usize, Record)>, Stamp),
    /// The run ends with an error.
    Failed(RuntimeError),
    /// The entities have returned; everything before the moment has happened, and whether the run has ended before its `until`.
    Done(Vec<E>, Stamp, bool),
}

/// Runs entities as actors until everything before the end of the run has happened.
/// Groups divide the entities, which are in the order of their addresses, into consecutive runs that exchange messages without delay.
/// Records go through `merge` to `sink`, in the same order as in [`drive`](crate::grid::drive()); those of the last instant wait in
/// `merge`. Messages that have not arrived by the end are delivered all the same.
///
/// An entity that never answers keeps its thread; the run ends without it.
pub fn run<E: Entity + Send + 'static>(
    entities: Vec<E>,
    groups: &[Group],
    options: RuntimeOptions,
    merge: &mut Merge,
    sink: &mut dyn RecordSink,
) -> Ended<E> {
    let refused =
        |entities, error| Ended { entities, passed: Stamp::default(), over: false, result: Err(error) };
    let (windows, options) = match options.check() {
        Ok(checked) => checked,
        Err(error) => return refused(entities, error),
    };
    let starts = entities.iter().map(|entity| (entity.address(), entity.next_event()));
    let mut windows = match Windows::new(starts, groups, windows) {
        Ok(windows) => windows,
        Err(error) => return refused(entities, error.into()),
    };
    entities.iter().enumerate().for_each(|(place, entity)| windows.left(place, entity.quiescence()));
    let board = Arc::new(Board::new(entities.iter().map(Entity::address)));
    let (reports, received) = mpsc::sync_channel(BATCHES);
    let conductor = Conductor::new(windows, options.clone(), Arc::clone(&board), reports);
    let thread = std::thread::Builder::new().name("conductor".to_owned());
    match thread.spawn(move || conductor.run(entities)) {
        Ok(thread) => Watch::new(board, received, thread, options.patience).until_done(merge, sink),
        Err(error) => refused(Vec::new(), RuntimeError::NoThread(error.to_string())),
    }
}
