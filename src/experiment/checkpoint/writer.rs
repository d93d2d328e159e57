//! The thread that writes snapshots while the run continues.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::state::RunState;
use crate::experiment::clock::now;
use crate::experiment::{Progress, RunError};
use crate::grid::Halt;
use crate::metrics::Block;
use crate::output::OutputSync;
use crate::store::{Barrier, Store};

/// A snapshot to be written.
pub(super) struct Order {
    pub(super) barrier: Barrier,
    pub(super) state: RunState,
    /// The run's files, which must be on the disk before the snapshot is.
    pub(super) files: Option<OutputSync>,
    /// True for the snapshot with which the run ends; the run reports its failure itself.
    pub(super) last: bool,
}

type Answer = mpsc::Sender<Result<(), RunError>>;

enum Message {
    Write(Box<Order>),
    /// Answers with the result of the last snapshot.
    Wait(Answer),
    /// The run has ended; the summary goes into the store.
    Finish(Vec<u8>, Answer),
}

/// Writes snapshots one after the other, and asks for the next one when it is due.
pub(super) struct Writer {
    messages: Option<SyncSender<Message>>,
    thread: Option<JoinHandle<()>>,
    /// The number of snapshots written.
    written: Arc<AtomicU64>,
}

impl Writer {
    /// Starts the thread. It asks `halt` whenever nothing has been written for the duration `every`.
    pub(super) fn start(store: Store, every: Option<Duration>, halt: Halt, progress: Progress) -> Self {
        // The channel holds nothing: handing over a snapshot waits until the previous one has been written, so there are never two in
        // memory.
        let (messages, received) = mpsc::sync_channel(0);
        let written = Arc::default();
        let writing = Writing {
            store,
            written: Arc::clone(&written),
            last: Ok(()),
            blocks: Vec::new(),
            synced: Ok(()),
            progress: progress.clone(),
        };
        let spawned = std::thread::Builder::new()
            .name("snapshots".to_owned())
            .spawn(move || writing.work(&received, every, &halt));
        let thread = spawned.inspect_err(|error| {
            progress.warn(format!("no snapshots are taken: no thread can be started ({error})"));
        });
        let thread = thread.ok();
        Self { messages: thread.is_some().then_some(messages), thread, written }
    }

    /// The number of snapshots written.
    pub(super) fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Hands over a snapshot.
    pub(super) fn hand(&self, order: Order) {
        if let Some(messages) = &self.messages {
            // A writer that has ended has already reported why.
            let _ = messages.send(Message::Write(Box::new(order)));
        }
    }

    /// Waits until the last snapshot has been written.
    ///
    /// # Errors
    /// The reason why it could not be written.
    pub(super) fn wait(&self) -> Result<(), RunError> {
        self.ask(Message::Wait)
    }

    /// Puts the summary of a completed run into the store.
    ///
    /// # Errors
    /// The reason why it could not be written.
    pub(super) fn finish(&self, summary: Vec<u8>) -> Result<(), RunError> {
        self.ask(|answer| Message::Finish(summary, answer))
    }

    fn ask(&self, message: impl FnOnce(Answer) -> Message) -> Result<(), RunError> {
        let (answer, answered) = mpsc::channel();
        let asked = self.messages.as_ref().and_then(|messages| messages.send(message(answer)).ok());
        let result = asked.and_then(|()| answered.recv().ok());
        result.unwrap_or_else(|| Err(RunError::run("the thread that writes snapshots is gone")))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.messages = None;
        if let Some(thread) = self.thread.take() {
            // Its panic message has been printed.
            let _ = thread.join();
        }
    }
}

/// The state of the thread.
struct Writing {
    store: Store,
    written: Arc<AtomicU64>,
    progress: Progress,
    /// Blocks that no stored snapshot has yet.
    blocks: Vec<Block>,
    /// An error if the files of the run once failed to reach the disk.
    synced: Result<(), RunError>,
    last: Result<(), RunError>,
}

impl Writing {
    fn work(mut self, received: &Receiver<Message>, every: Option<Duration>, halt: &Halt) {
        let mut due = every.map(|every| now() + every);
        loop {
            let message = match due {
                None => received.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(due) => received.recv_timeout(due.saturating_duration_since(now())),
            };
            match message {
                Ok(Message::Write(order)) => {
                    self.write(*order);
                    due = every.map(|every| now() + every);
                }
                Ok(Message::Wait(answer)) => drop(answer.send(self.last.clone())),
                Ok(Message::Finish(summary, answer)) => {
                    drop(answer.send(self.store.finish(&summary).map_err(RunError::from)));
                }
                Err(RecvTimeoutError::Timeout) => {
                    halt.ask();
                    due = None::<Instant>;
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn write(&mut self, Order { barrier, state, files, last }: Order) {
        let synced = files.map_or(Ok(()), OutputSync::sync).map_err(RunError::from);
        // After a failed sync, a later one may report success without having written the data, so the first error stays.
        self.synced = std::mem::replace(&mut self.synced, Ok(())).and(synced);
        self.last = self.store(barrier, state);
        match &self.last {
            Ok(()) => drop(self.written.fetch_add(1, Ordering::Relaxed)),
            Err(_) if last => {}
            Err(error) => self.progress.warn(format!(
                "the snapshot at {} could not be written: {error}; the run continues without it",
                barrier.at.told()
            )),
        }
    }

    fn store(&mut self, barrier: Barrier, state: RunState) -> Result<(), RunError> {
        // Blocks are handed out once, so those that cannot be written are written the next time.
        self.blocks.extend(state.blocks);
        self.synced.clone()?;
        for block in &self.blocks {
            self.store.put_block(&block.id.bytes(), &block.bytes)?;
        }
        if !state.has_blocks {
            self.store.release_blocks();
        }
        self.store.write(barrier, &(state.encode)()?)?;
        self.blocks.clear();
        if let Some(trouble) = self.store.take_cleanup_error() {
            self.progress.warn(format!("old snapshots stay for now: {trouble}"));
        }
        Ok(())
    }
}
