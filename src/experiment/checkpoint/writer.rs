//! The thread that writes snapshots while the run continues.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::state::RunState;
use crate::experiment::clock::now;
use crate::experiment::progress::Notice;
use crate::experiment::{Progress, RunError};
use crate::grid::Halt;
use crate::metrics::Block;
use crate::output::OutputSync;
use crate::store::{Cut, Store};

/// A snapshot to be written.
pub(super) struct Order {
    pub(super) cut: Cut,
    pub(super) state: RunState,
    /// The run's files, which must be on the disk before the snapshot is.
    pub(super) outputs: Option<OutputSync>,
    /// True for the snapshot with which the run ends; the run reports its failure itself.
    pub(super) last: bool,
}

enum Word {
    Write(Box<Order>),
    /// Answers with the result of the last snapshot.
    Wait(mpsc::Sender<Result<(), RunError>>),
    /// The run has ended; the summary goes into the store.
    Finish(Vec<u8>, mpsc::Sender<Result<(), RunError>>),
}

/// Counters that the run may read.
#[derive(Debug, Default)]
struct Tally {
    written: AtomicU64,
}

/// Writes snapshots one after the other, and asks for the next one when it is due.
pub(super) struct Writer {
    words: Option<SyncSender<Word>>,
    thread: Option<JoinHandle<()>>,
    tally: Arc<Tally>,
}

impl Writer {
    /// Starts the thread. It asks `halt` whenever nothing has been written for the duration `every`.
    pub(super) fn start(store: Store, every: Option<Duration>, halt: Halt, progress: Progress) -> Self {
        // The channel holds nothing: handing over a snapshot waits until the previous one has been written, so there are never two in
        // memory.
        let (words, heard) = mpsc::sync_channel(0);
        let tally = Arc::new(Tally::default());
        let scribe = Scribe {
            store,
            tally: Arc::clone(&tally),
            last: Ok(()),
            blocks: Vec::new(),
            synced: Ok(()),
            progress: progress.clone(),
        };
        let spawned = std::thread::Builder::new()
            .name("snapshots".to_owned())
            .spawn(move || scribe.write_down(&heard, every, &halt));
        match spawned {
            Ok(thread) => Self { words: Some(words), thread: Some(thread), tally },
            Err(error) => {
                progress.tell(Notice::Warning(format!(
                    "no snapshots are taken: no thread can be started ({error})"
                )));
                Self { words: None, thread: None, tally }
            }
        }
    }

    /// The number of snapshots written.
    pub(super) fn written(&self) -> u64 {
        self.tally.written.load(Ordering::Relaxed)
    }

    /// Hands over a snapshot.
    pub(super) fn hand(&self, order: Order) {
        if let Some(words) = &self.words {
            // A writer that has ended has already reported why.
            let _ = words.send(Word::Write(Box::new(order)));
        }
    }

    /// Waits until the last snapshot has been written.
    ///
    /// # Errors
    /// The reason why it could not be written.
    pub(super) fn wait(&self) -> Result<(), RunError> {
        self.ask(Word::Wait)
    }

    /// Puts the summary of a completed run into the store.
    ///
    /// # Errors
    /// The reason why it could not be written.
    pub(super) fn finish(&self, summary: &[u8]) -> Result<(), RunError> {
        self.ask(|answer| Word::Finish(summary.to_vec(), answer))
    }

    fn ask(&self, word: impl FnOnce(mpsc::Sender<Result<(), RunError>>) -> Word) -> Result<(), RunError> {
        let (answer, heard) = mpsc::channel();
        let asked = self.words.as_ref().is_some_and(|words| words.send(word(answer)).is_ok());
        let gone = || Err(RunError::run("the thread that writes snapshots is gone"));
        if asked { heard.recv().unwrap_or_else(|_| gone()) } else { gone() }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.words = None;
        if let Some(thread) = self.thread.take() {
            // Its panic message has been printed.
            let _ = thread.join();
        }
    }
}

struct Scribe {
    store: Store,
    tally: Arc<Tally>,
    progress: Progress,
    /// Blocks that no stored snapshot has yet.
    blocks: Vec<Block>,
    /// An error if the files of the run once failed to reach the disk.
    synced: Result<(), RunError>,
    last: Result<(), RunError>,
}

impl Scribe {
    fn write_down(mut self, heard: &Receiver<Word>, every: Option<Duration>, halt: &Halt) {
        let mut due = every.map(|every| now() + every);
        loop {
            let word = match due {
                None => heard.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(due) => heard.recv_timeout(due.saturating_duration_since(now())),
            };
            match word {
                Ok(Word::Write(order)) => {
                    self.write(*order);
                    due = every.map(|every| now() + every);
                }
                Ok(Word::Wait(answer)) => drop(answer.send(self.last.clone())),
                Ok(Word::Finish(summary, answer)) => {
                    let finished = self.store.finish(&summary).map_err(RunError::from);
                    drop(answer.send(finished));
                }
                Err(RecvTimeoutError::Timeout) => {
                    halt.ask();
                    due = None::<Instant>;
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn store_it(&mut self, cut: Cut, state: RunState, synced: Result<(), RunError>) -> Result<(), RunError> {
        // Blocks are handed out once, so those that cannot be written are written the next time.
        self.blocks.extend(state.blocks);
        synced?;
        for block in &self.blocks {
            self.store.put_block(&block.id.bytes(), &block.bytes)?;
        }
        if !state.has_blocks {
            self.store.release_blocks();
        }
        self.store.write(cut, &(state.encode)()?)?;
        self.blocks.clear();
        if let Some(trouble) = self.store.take_trouble() {
            self.progress.tell(Notice::Warning(format!("old snapshots stay for now: {trouble}")));
        }
        Ok(())
    }

    fn write(&mut self, Order { cut, state, outputs, last }: Order) {
        let synced = outputs.map_or(Ok(()), OutputSync::sync).map_err(RunError::from);
        // After a failed sync, a later one may report success without having written the data, so the first error stays.
        self.synced = std::mem::replace(&mut self.synced, Ok(())).and(synced);
        let synced = self.synced.clone();
        let stored = self.store_it(cut, state, synced);
        self.last = stored;
        match &self.last {
            Ok(()) => drop(self.tally.written.fetch_add(1, Ordering::Relaxed)),
            Err(_) if last => {}
            Err(error) => {
                let said = format!("the snapshot at {} s could not be written: {error}", cut.at);
                self.progress.tell(Notice::Warning(said + "; the run continues without it"));
            }
        }
    }
}
