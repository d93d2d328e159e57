//! The conductor: asks entities to go on, window by window.
//!
//! Each entity has an actix actor (a [`EntityActor`]). A [`Request`] and its answer are one box per entity, which goes back and forth for the
//! whole run with its buffers:
//!
//! - At most one request is on its way to an actor, so its mailbox never fills, and the order of mailboxes, which actix hardly
//!   guarantees, never matters. A handler is synchronous, reads no clock and starts nothing.
//! - The conductor takes answers in the order of entities, whatever the order in which they return.
//! - A request always returns, wherever it is dropped: a dead actor is noticed at once, not by waiting.
//! - Requests go out with `do_send` and return over a channel. That costs half of `Addr::send`, which takes two thirds of a microsecond on
//!   one thread.
//!
//! All sites of a window are asked before the group of the center goes through its moments, so with several threads they work beside it.
//! That group stays on the conductor's thread, where a request costs least; sites are distributed over all threads. On one thread
//! everything is a task of one loop. Records go to the caller's thread in batches over a bounded channel, which makes the conductor wait
//! if the disk is slow.
//!
//! **The paced clock.** Before it opens a window, the conductor waits until the wall clock has reached what is due next ([`Windows::due`]):
//! an event, a full minute at which the run may be over, a barrier. Windows are then no longer than a twentieth of a second of the
//! wall clock, so nothing is visible earlier than that. A run that cannot keep up is late, not different. The conductor waits between
//! windows only, so no entity is ahead of the present: a halt, looked for every 20 ms, makes a barrier there and not at the next
//! event, however far. Run segments that are given the same `began` do not drift.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use actix::{Actor, Addr, Arbiter, Context, System};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::OwnedMutexGuard;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::board::Board;
use super::clock::{Pace, now};
use super::entity_actor::{Dismiss, EntityActor, panic_message};
use super::options::ActorOptions;
use super::outside::{CommandQueue, PendingCommand, Refusal};
use super::request::{Advance, Request};
use super::{Report, RuntimeError};
use crate::entity::{Address, Entity, Message, Sender, Stamp};
use crate::grid::{Call, JournalEntry, Windows};
use crate::model::Record;
use crate::units::Time;

/// The number of records in a batch.
const BATCH: usize = 1_024;

/// The longest time between two looks at the halt, while the conductor waits for the wall clock.
const GLANCE: Duration = Duration::from_millis(20);

/// The longest that a record waits for its batch, in milliseconds, while anything moves.
const KEPT_MS: u128 = 100;

/// Asks entities to go on, window by window.
pub(super) struct Conductor<E: Entity + Send + 'static> {
    windows: Windows,
    options: ActorOptions,
    /// The source of commands from outside, as long as any may come.
    queue: Option<OwnedMutexGuard<CommandQueue>>,
    board: Arc<Board>,
    reports: SyncSender<Report<E>>,
    actors: Vec<Addr<EntityActor<E>>>,
    /// The request of each entity, unless it is on its way.
    requests: Vec<Option<Box<Request>>>,
    /// The channel over which requests return.
    returned: UnboundedReceiver<Box<Request>>,
    return_to: UnboundedSender<Box<Request>>,
    batch: Vec<(usize, Record)>,
    /// The number of records since all entities were last at the same moment.
    waited: usize,
    sent_at: Instant,
}

impl<E: Entity + Send + 'static> Conductor<E> {
    pub(super) fn new(
        windows: Windows,
        options: ActorOptions,
        board: Arc<Board>,
        reports: SyncSender<Report<E>>,
    ) -> Self {
        let (return_to, returned) = unbounded_channel();
        Self {
            windows,
            options,
            queue: None,
            board,
            reports,
            actors: Vec::new(),
            requests: Vec::new(),
            returned,
            return_to,
            batch: Vec::with_capacity(BATCH),
            waited: 0,
            sent_at: now(),
        }
    }

    /// Runs from beginning to end, on this thread and those that it starts. Returns a failure of the conductor itself; everything
    /// else is sent as it happens.
    pub(super) fn run(self, entities: Vec<E>) -> Result<(), String> {
        let runtime = match runtime() {
            Ok(runtime) => runtime,
            Err(error) => {
                self.end_without_threads(&error, entities);
                return Ok(());
            }
        };
        let system = System::with_tokio_rt(|| runtime);
        // A task beside those of the actors is woken as they are.
        system.block_on(async { actix::spawn(self.conduct(entities)).await }).map_err(|error| {
            error
                .try_into_panic()
                .map_or_else(|error| error.to_string(), |panic| panic_message(panic.as_ref()))
        })
    }

    /// Ends a run for which no thread could be started.
    fn end_without_threads(&self, error: &io::Error, entities: Vec<E>) {
        self.report(Report::Failed(RuntimeError::NoThread(error.to_string())));
        self.report(Report::Done(entities, Stamp::default(), false));
    }

    async fn conduct(mut self, entities: Vec<E>) {
        let arbiters = (1..self.options.threads).map(|_| Arbiter::try_with_tokio_rt(runtime));
        let arbiters: Vec<Arbiter> = match arbiters.collect() {
            Ok(arbiters) => arbiters,
            Err(error) => return self.end_without_threads(&error, entities),
        };
        self.start_actors(entities, &arbiters);
        let ended = self.through_windows().await;
        self.send_records();
        let failed = ended.is_err();
        if let Err(error) = ended {
            self.report(Report::Failed(error));
        }
        let (entities, lost) = self.dismiss(failed).await;
        for arbiter in &arbiters {
            arbiter.stop();
        }
        if let Some(error) = lost {
            self.report(Report::Failed(error));
        }
        self.report(Report::Done(entities, self.windows.passed(), self.windows.is_over()));
        arbiters.into_iter().for_each(|arbiter| drop(arbiter.join()));
    }

    /// Starts the actor of each entity. The group that exchanges messages without delay stays on the conductor's own thread, where a
    /// request costs least; the others are distributed over all threads.
    fn start_actors(&mut self, entities: Vec<E>, arbiters: &[Arbiter]) {
        let mut started = 0;
        for (place, entity) in entities.into_iter().enumerate() {
            let actor = EntityActor::new(place, entity, Arc::clone(&self.board));
            let threads = arbiters.len() + 1;
            let address = match arbiters.get(started % threads) {
                Some(arbiter) if self.windows.is_alone(place) => EntityActor::start_in_arbiter(
                    &arbiter.handle(),
                    move |_: &mut Context<EntityActor<E>>| actor,
                ),
                _ => actor.start(),
            };
            started += usize::from(self.windows.is_alone(place));
            self.actors.push(address);
            self.requests.push(Some(Box::new(Request { place, ..Request::default() })));
        }
    }

    async fn through_windows(&mut self) -> Result<(), RuntimeError> {
        let (mut calls, mut together) = (Vec::new(), Vec::new());
        if let Some(outside) = self.options.outside.take() {
            self.queue = Some(outside.take_queue().await);
        }
        loop {
            self.wait().await?;
            if !self.windows.open(&mut calls)? {
                return Ok(());
            }
            // Entities that depend on no other in this window go on in the background.
            calls.iter().for_each(|call| self.ask(*call));
            while self.windows.step(&mut together)? {
                together.iter().for_each(|call| self.ask(*call));
                self.await_answers(&mut together).await?;
            }
            self.await_answers(&mut calls).await?;
            if self.windows.close() {
                self.windows.adapt(std::mem::take(&mut self.waited));
                if !self.batch.is_empty() && (now() - self.sent_at).as_millis() >= KEPT_MS {
                    self.send_records();
                }
            }
            if self.board.stopped() {
                return Err(RuntimeError::SinkClosed);
            }
        }
    }

    /// Sends an entity its request.
    fn ask(&mut self, Call { entity, until }: Call) {
        let Some(mut request) = self.requests[entity].take() else { return };
        request.at = self.windows.moment(entity);
        request.until = until;
        request.outcome = None;
        std::mem::swap(self.windows.inbox(entity), &mut request.inbox);
        self.board.asked(entity, request.at);
        self.actors[entity].do_send(Advance::new(request, self.return_to.clone()));
    }

    /// Waits for the answers to calls, and takes them in the order of the calls.
    async fn await_answers(&mut self, calls: &mut Vec<Call>) -> Result<(), RuntimeError> {
        for &call in &*calls {
            while self.requests[call.entity].is_none() {
                let Some(request) = self.returned.recv().await else { break };
                let place = request.place;
                self.requests[place] = Some(request);
            }
            self.take_in(call.entity)?;
        }
        calls.clear();
        Ok(())
    }

    fn take_in(&mut self, place: usize) -> Result<(), RuntimeError> {
        let Self { windows, batch, .. } = self;
        let entity = windows.address(place);
        let Some(request) = &mut self.requests[place] else {
            return Err(RuntimeError::LostReply { entity, at: windows.moment(place) });
        };
        let lost = RuntimeError::LostReply { entity, at: request.at };
        request.outcome.take().unwrap_or(Err(lost))?;
        for (to, message) in request.sent.drain(..) {
            windows.post(place, to, message)?;
        }
        self.waited += request.records.len();
        batch.extend(request.records.drain(..).map(|record| (place, record)));
        windows.left(place, request.pending);
        windows.answer(place, request.next)?;
        if self.batch.len() >= BATCH {
            self.send_records();
        }
        Ok(())
    }

    /// Passes the records on; waits if earlier batches have not been written.
    fn send_records(&mut self) {
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        self.report(Report::Records(batch, self.windows.passed()));
        self.sent_at = now();
    }

    /// Sends a message to the thread that waits for the run. If it has gone, the run need not go on.
    fn report(&self, word: Report<E>) {
        if self.reports.send(word).is_err() {
            self.board.stop();
        }
    }

    /// Takes the commands that have arrived, and waits until the wall clock has reached what is due next: not within a window, so at a halt
    /// or a command no entity is ahead of the present.
    async fn wait(&mut self) -> Result<(), RuntimeError> {
        if self.windows.is_over() {
            // A command that comes now is too late.
            return Ok(());
        }
        while let Some(command) = self.queue.as_mut().and_then(|queue| queue.look()) {
            self.take(command)?;
        }
        let Some(pace) = self.options.pace.clone() else { return Ok(()) };
        let mut asleep = false;
        loop {
            let due = self.windows.due();
            self.windows.reach(due.max(Stamp::at(pace.present())));
            if self.windows.is_halted() {
                self.windows.halt(pace.present());
                break;
            }
            let nothing = self.queue.is_none() && self.windows.first() == Stamp::END;
            if nothing || self.board.stopped() {
                break;
            }
            let Some(then) = pace.reaches(due.time) else { break };
            if !std::mem::replace(&mut asleep, true) {
                self.send_records();
                self.board.sleep(true);
            }
            let glance = then.min(now() + GLANCE).into();
            let Some(queue) = &mut self.queue else {
                tokio::time::sleep_until(glance).await;
                continue;
            };
            match tokio::time::timeout_at(glance, queue.wait()).await {
                Ok(Some(command)) => self.take(command)?,
                Ok(None) => self.queue = None,
                Err(_) => {}
            }
        }
        self.board.sleep(false);
        Ok(())
    }

    /// Takes a command from outside, for the earliest possible instant.
    fn take(&mut self, command: PendingCommand) -> Result<(), RuntimeError> {
        let to = Address::Site(command.site);
        if !self.windows.knows(to) {
            let site = command.site;
            command.refuse(Refusal::NoSuchSite(site));
            return Ok(());
        }
        let Some(queue) = &mut self.queue else { return Ok(()) };
        let present = self.options.pace.as_ref().map_or(Time::ZERO, Pace::present);
        let at = self.windows.instant().max(present).max(queue.last());
        // Writing to the journal may take long.
        let asleep = self.board.asleep();
        self.board.sleep(true);
        let entry = queue.accept(command, at);
        self.board.sleep(asleep);
        if let Some(JournalEntry { number: sequence, command }) = entry {
            let (arrival, sender) = (Stamp::at(at), Sender::Outside);
            self.windows
                .post_from_outside(to, Message { arrival, sender, sequence, body: command.body.into() })?;
        }
        Ok(())
    }

    /// Takes the entities back and delivers their remaining messages; returns the first failure in that, unless the run has failed before.
    async fn dismiss(&mut self, failed: bool) -> (Vec<E>, Option<RuntimeError>) {
        let mut entities = Vec::with_capacity(self.actors.len());
        let mut error = None;
        // All actors are asked before the first answer is awaited, because answers from other threads take time. No address is dropped
        // before: an actor without addresses may stop with unread mail.
        let actors = std::mem::take(&mut self.actors);
        let asked: Vec<_> = actors.iter().map(|actor| actor.send(Dismiss::new())).collect();
        for (place, answer) in asked.into_iter().enumerate() {
            let Ok(Some(mut entity)) = answer.await else {
                let (entity, at) = (self.windows.address(place), self.windows.passed());
                error.get_or_insert(RuntimeError::LostReply { entity, at });
                continue;
            };
            if !failed {
                let delivered =
                    self.windows.inbox(place).drain(..).try_for_each(|message| entity.deliver(message));
                if let Err(refused) = delivered {
                    error.get_or_insert(refused.into());
                }
            }
            entities.push(*entity);
        }
        (entities, error.filter(|_| !failed))
    }
}

/// A runtime of one thread with timers and nothing else.
fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_time().build()
}
