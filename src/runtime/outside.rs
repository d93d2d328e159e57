//! Commands from outside, while a grid runs.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc;
use std::time::Duration;

use thiserror::Error;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::entity::Body;
use crate::grid::{Callers, Command, Told};
use crate::model::SiteId;
use crate::units::Time;

/// Where commands come in from outside: what a run listens to, leg after leg. All copies are one.
///
/// A run takes commands between two windows. Each gets the virtual present as its time (that of the wall clock, or the first
/// instant that nobody has gone beyond if that is later) and the next number of the grid. It is used once the journal has
/// it, so that a run that is killed and gone on with, and told the journal again with [`Grid::retell`], does the same. Such a
/// run has commands before it, and a new one is not carried out before any of them: their order is that of their numbers.
///
/// [`Grid::retell`]: crate::grid::Grid::retell
#[derive(Clone)]
pub struct Outside {
    desk: Arc<Mutex<Desk>>,
    next: Arc<AtomicU64>,
    last: Arc<AtomicU64>,
    callers: Callers,
}

/// Writes a command down for good, or says why it cannot.
type Journal = dyn FnMut(&Told) -> Result<(), String> + Send;

/// What the conductor has of it.
pub(super) struct Desk {
    orders: UnboundedReceiver<Order>,
    journal: Box<Journal>,
    next: Arc<AtomicU64>,
    /// When the last one is carried out, in microseconds.
    last: Arc<AtomicU64>,
}

/// A command that nobody has taken yet.
pub(super) struct Order {
    pub(super) site: SiteId,
    body: Body,
    answer: mpsc::Sender<Result<Told, Refusal>>,
}

/// Gives commands to a run, from any thread. Copies speak to the same run.
#[derive(Clone, Debug)]
pub struct Caller {
    orders: UnboundedSender<Order>,
    /// Held as long as anybody can call.
    _token: Arc<()>,
}

/// What becomes of a command.
#[derive(Debug)]
pub struct Answer(mpsc::Receiver<Result<Told, Refusal>>);

/// Why a command is not carried out. The run goes on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// A command to nobody.
    #[error("there is no site number {0}")]
    NoSuchSite(SiteId),
    /// It could not be written down, and would have been lost with the run.
    #[error("the command could not be written to the journal: {0}")]
    Journal(String),
    /// Nobody listens any more.
    #[error("the run is over")]
    Over,
}

impl Outside {
    /// Commands are given to the run through the caller. `journal` is called on the run's own thread and holds the run up:
    /// what it has returned from must survive whatever happens.
    pub fn new(journal: impl FnMut(&Told) -> Result<(), String> + Send + 'static) -> (Caller, Self) {
        let (sender, orders) = unbounded_channel();
        let next = Arc::new(AtomicU64::new(0));
        let last = Arc::new(AtomicU64::new(0));
        let desk =
            Desk { orders, journal: Box::new(journal), next: Arc::clone(&next), last: Arc::clone(&last) };
        let token = Arc::new(());
        let callers = Callers::of(&token);
        let caller = Caller { orders: sender, _token: token };
        (caller, Self { desk: Arc::new(Mutex::new(desk)), next, last, callers })
    }

    /// Who may give commands.
    pub(super) fn callers(&self) -> Callers {
        self.callers.clone()
    }

    /// The number of the next command.
    pub(super) fn next(&self) -> u64 {
        self.next.load(Relaxed)
    }

    pub(super) fn set_next(&self, next: u64) {
        self.next.store(next, Relaxed);
    }

    /// No command is carried out before this.
    pub(super) fn set_last(&self, last: Time) {
        self.last.store(last.micros(), Relaxed);
    }

    pub(super) async fn sit_down(self) -> OwnedMutexGuard<Desk> {
        self.desk.lock_owned().await
    }
}

impl Desk {
    /// Waits for the next command; `None` if none will come.
    pub(super) async fn wait(&mut self) -> Option<Order> {
        self.orders.recv().await
    }

    /// The next command, if there is one.
    pub(super) fn look(&mut self) -> Option<Order> {
        self.orders.try_recv().ok()
    }

    /// No command is carried out before this.
    pub(super) fn last(&self) -> Time {
        Time::from_micros(self.last.load(Relaxed))
    }

    /// Numbers a command, writes it down and answers. `None` if that cannot be done.
    pub(super) fn write_down(
        &mut self,
        order: Order,
        command: impl FnOnce(SiteId, Body) -> Command,
    ) -> Option<Told> {
        let Order { site, body, answer } = order;
        let told = Told { number: self.next.load(Relaxed), command: command(site, body) };
        let written = (self.journal)(&told).map_err(Refusal::Journal);
        if written.is_ok() {
            self.next.store(told.number + 1, Relaxed);
            self.last.store(told.command.at.micros(), Relaxed);
        }
        let done = written.is_ok().then(|| told.clone());
        // Whoever gave it may not care.
        let _ = answer.send(written.map(|()| told));
        done
    }
}

impl Order {
    /// Nobody can carry it out.
    pub(super) fn refuse(self, why: Refusal) {
        let _ = self.answer.send(Err(why));
    }
}

impl Caller {
    /// Gives a site a command, to be carried out as soon as possible.
    pub fn tell(&self, site: SiteId, body: Body) -> Answer {
        let (answer, answered) = mpsc::channel();
        // If nobody listens any more, the answer says so.
        let _ = self.orders.send(Order { site, body, answer });
        Answer(answered)
    }
}

impl Answer {
    /// Waits until the run has taken the command, which may be in its next leg; then when it is carried out, and its number.
    ///
    /// # Errors
    /// [`Refusal`] says why it is not.
    pub fn wait(self) -> Result<Told, Refusal> {
        self.0.recv().unwrap_or(Err(Refusal::Over))
    }

    /// As [`Answer::wait`], but not longer than that; `None` if there is no answer yet.
    pub fn wait_for(&self, patience: Duration) -> Option<Result<Told, Refusal>> {
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
