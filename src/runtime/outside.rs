//! Commands from outside, while a grid runs.
//!
//! A [`Caller`] gives them from any thread; the conductor takes them between two windows. A command gets a time and the grid's next
//! number; then the journal records it ([`JournalEntry`]), and only if that succeeded does it go to its site. A refused command is
//! answered with a [`Refusal`], and the run goes on.
//!
//! A run that resumes from a snapshot replays the journal first ([`Grid::replay`](crate::grid::Grid::replay)), skips the entries that its
//! state contains already, and does the same as before. Until a command has been handled, its site reports that more is to come, so
//! neither the first run nor the resumed one counts as over.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc;
use std::time::Duration;

use thiserror::Error;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::entity::ToSite;
use crate::grid::{Callers, Command, JournalEntry};
use crate::model::SiteId;
use crate::units::Time;

/// The source of commands from outside, for all segments of a run. All copies share one state.
///
/// A run takes commands between two windows. Each gets a time, the virtual present (that of the wall clock, or the first instant that no
/// entity has gone beyond if that is later), and the next number of the grid. The run uses it once the journal has it, so a run that is
/// killed and resumed, and replays the journal with [`Grid::replay`], does the same. Such a run may hold commands for later; a new
/// command is not carried out before any of them: their order is that of their numbers.
///
/// [`Grid::replay`]: crate::grid::Grid::replay
#[derive(Clone)]
pub struct Outside {
    queue: Arc<Mutex<CommandQueue>>,
    next: Arc<AtomicU64>,
    last: Arc<AtomicU64>,
    /// The callers that may still give commands.
    pub(super) callers: Callers,
}

/// Writes a command durably, or says why it cannot.
type Journal = dyn FnMut(&JournalEntry) -> Result<(), String> + Send;

/// The commands that the conductor takes.
pub(super) struct CommandQueue {
    commands: UnboundedReceiver<PendingCommand>,
    journal: Box<Journal>,
    next: Arc<AtomicU64>,
    /// The time of the latest command, in microseconds.
    last: Arc<AtomicU64>,
}

/// A command that the run has not taken yet.
pub(super) struct PendingCommand {
    pub(super) site: SiteId,
    body: ToSite,
    answer: mpsc::Sender<Result<JournalEntry, Refusal>>,
}

/// Gives commands to a run, from any thread. Copies give them to the same run.
#[derive(Clone, Debug)]
pub struct Caller {
    commands: UnboundedSender<PendingCommand>,
    /// Held as long as any caller exists.
    _token: Arc<()>,
}

/// The pending answer to a command.
#[derive(Debug)]
pub struct Answer(mpsc::Receiver<Result<JournalEntry, Refusal>>);

/// The reason why a command is not carried out. The run goes on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A command to a site that does not exist.
    #[error("there is no site number {0}")]
    NoSuchSite(SiteId),
    /// The journal could not record it, so a resumed run would not have it.
    #[error("the command could not be written to the journal: {0}")]
    Journal(String),
    /// The run accepts no commands any more.
    #[error("the run has ended")]
    Over,
}

impl Outside {
    /// A caller and the source from which a run takes its commands. The run calls `journal` on its own thread and waits for it: an entry
    /// for which it has returned without an error must survive a kill.
    pub fn new(journal: impl FnMut(&JournalEntry) -> Result<(), String> + Send + 'static) -> (Caller, Self) {
        let (sender, commands) = unbounded_channel();
        let next = Arc::new(AtomicU64::new(0));
        let last = Arc::new(AtomicU64::new(0));
        let queue = CommandQueue {
            commands,
            journal: Box::new(journal),
            next: Arc::clone(&next),
            last: Arc::clone(&last),
        };
        let token = Arc::new(());
        let callers = Callers::of(&token);
        let caller = Caller { commands: sender, _token: token };
        (caller, Self { queue: Arc::new(Mutex::new(queue)), next, last, callers })
    }

    /// The number of the next command.
    pub(super) fn next(&self) -> u64 {
        self.next.load(Relaxed)
    }

    /// Sets the number of the next command, and the time before which no new command is carried out.
    pub(super) fn go_on(&self, next: u64, last: Time) {
        self.next.store(next, Relaxed);
        self.last.store(last.micros(), Relaxed);
    }

    pub(super) async fn take_queue(self) -> OwnedMutexGuard<CommandQueue> {
        self.queue.lock_owned().await
    }
}

impl CommandQueue {
    /// Waits for the next command; `None` if no caller is left.
    pub(super) async fn wait(&mut self) -> Option<PendingCommand> {
        self.commands.recv().await
    }

    /// The next command, if one has arrived.
    pub(super) fn look(&mut self) -> Option<PendingCommand> {
        self.commands.try_recv().ok()
    }

    /// The time before which no new command is carried out.
    pub(super) fn last(&self) -> Time {
        Time::from_micros(self.last.load(Relaxed))
    }

    /// Numbers a command that is carried out at `at`, records it in the journal and answers. `None` if the journal failed.
    pub(super) fn accept(&mut self, pending: PendingCommand, at: Time) -> Option<JournalEntry> {
        let PendingCommand { site, body, answer } = pending;
        let entry = JournalEntry { number: self.next.load(Relaxed), command: Command { at, site, body } };
        let written = (self.journal)(&entry).map_err(Refusal::Journal);
        if written.is_ok() {
            self.next.store(entry.number + 1, Relaxed);
            self.last.store(at.micros(), Relaxed);
        }
        let done = written.is_ok().then(|| entry.clone());
        // The caller may not wait for the answer.
        let _ = answer.send(written.map(|()| entry));
        done
    }
}

impl PendingCommand {
    /// Refuses the command.
    pub(super) fn refuse(self, why: Refusal) {
        let _ = self.answer.send(Err(why));
    }
}

impl Caller {
    /// Gives a site a command, to be carried out as soon as possible.
    pub fn command(&self, site: SiteId, body: ToSite) -> Answer {
        let (answer, answered) = mpsc::channel();
        // If the run has ended, the answer says so.
        let _ = self.commands.send(PendingCommand { site, body, answer });
        Answer(answered)
    }
}

impl Answer {
    /// Waits until the run has taken the command, which may be in its next segment; returns its time and number.
    ///
    /// # Errors
    /// [`Refusal`] says why it is not carried out.
    pub fn wait(self) -> Result<JournalEntry, Refusal> {
        self.0.recv().unwrap_or(Err(Refusal::Over))
    }

    /// As [`Answer::wait`], but no longer than `patience`; `None` if there is no answer by then.
    pub fn wait_for(&self, patience: Duration) -> Option<Result<JournalEntry, Refusal>> {
        match self.0.recv_timeout(patience) {
            Ok(answer) => Some(answer),
            Err(mpsc::RecvTimeoutError::Timeout) => None,
            Err(mpsc::RecvTimeoutError::Disconnected) => Some(Err(Refusal::Over)),
        }
    }
}

impl fmt::Debug for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outside").field("next", &self.next()).finish_non_exhaustive()
    }
}
