//! The emulation proper: each entity an actor with a mailbox of its own, under a conductor.
//!
//! The conductor keeps the same books as the plain loop ([`Windows`]): it asks entities to go on, at most one request on
//! its way to each, waits for what they answer, and takes the answers in the order of entities. So nothing depends on
//! mailboxes, wakers or threads, and a run leaves the records of the plain loop, on one thread or many, paced or not.
//!
//! The actors run on threads of their own. The thread that calls [`run`] takes the records, so that writing goes on beside
//! scheduling, and watches: an entity that panics, does not answer or does not come back ends the run with an error that
//! names it and the moment, and never hangs.
//!
//! This room reads the clock and starts threads; no result depends on either.

mod board;
mod clock;
mod conductor;
mod errand;
mod error;
mod grid;
mod options;
mod outside;
mod player;
mod watch;

use std::sync::Arc;
use std::sync::mpsc;

pub use error::RuntimeError;
pub use grid::{run_grid, run_leg};
pub use options::RuntimeOptions;
pub use outside::{Answer, Caller, Outside, Refusal};

use self::board::Board;
use self::conductor::Conductor;
use self::watch::Watch;
use crate::entity::{Entity, Stamp};
use crate::grid::{Group, Merge, Windows};
use crate::model::{Record, RecordSink};

/// Batches of records that wait for being written before the conductor waits with them.
const BATCHES: usize = 4;

/// What is left after a run.
#[derive(Debug)]
pub struct Ended<E> {
    /// The entities in their order: all of them after a run that went well, otherwise those that could be brought back.
    pub entities: Vec<E>,
    /// Everything before this moment has happened, as far as is known.
    pub passed: Stamp,
    /// Whether the run is over before its time, as [`WindowOptions::over`](crate::grid::WindowOptions::over) says.
    pub over: bool,
    /// How it ended.
    pub result: Result<(), RuntimeError>,
}

/// What the conductor tells the thread that waits for it.
enum Word<E> {
    /// Records, each with the place of its entity; and everything before the moment has been written.
    Records(Vec<(usize, Record)>, Stamp),
    /// The run is over before its time.
    Failed(RuntimeError),
    /// The entities are back.
    Done(Vec<E>, Reached),
}

/// How far a run has come.
#[derive(Copy, Clone, Debug, Default)]
struct Reached {
    /// Everything before this moment has happened, as far as is known.
    passed: Stamp,
    /// Whether the run is over before its time.
    over: bool,
}

/// Runs entities as actors until everything before the end of the run has happened.
///
/// Groups cut the entities, which are in the order of their addresses, into runs that talk to each other without delay.
/// Records go through `merge` to `sink`, in the same order as in [`drive`](crate::grid::drive()); those of the last
/// instant wait in `merge`. Messages that have not arrived by the end are delivered all the same.
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
    let (windows, stage) = match options.check() {
        Ok(checked) => checked,
        Err(error) => return refused(entities, error),
    };
    let starts = entities.iter().map(|entity| (entity.address(), entity.next_event()));
    let mut windows = match Windows::new(starts, groups, windows) {
        Ok(windows) => windows,
        Err(error) => return refused(entities, error.into()),
    };
    entities.iter().enumerate().for_each(|(place, entity)| windows.left(place, entity.pending()));
    let board = Arc::new(Board::new(entities.iter().map(Entity::address)));
    let (words, heard) = mpsc::sync_channel(BATCHES);
    let conductor = Conductor::new(windows, stage.clone(), Arc::clone(&board), words);
    let thread = std::thread::Builder::new().name("conductor".to_owned());
    match thread.spawn(move || conductor.run(entities)) {
        Ok(thread) => Watch::new(board, heard, thread, stage.patience).until_done(merge, sink),
        Err(error) => refused(Vec::new(), RuntimeError::NoThread(error.to_string())),
    }
}
