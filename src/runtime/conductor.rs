//! Who asks whom to go on, and when.

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
use super::errand::{Advance, Errand, Outcome};
use super::options::Stage;
use super::outside::{Desk, Order, Refusal};
use super::player::{Dismiss, Player, said};
use super::{Reached, RuntimeError, Word};
use crate::entity::{Address, Entity, Message, Sender, Stamp};
use crate::grid::{Call, Command, Told, Windows};
use crate::model::Record;
use crate::units::Time;

/// Records that are handed on at a time.
const BATCH: usize = 1_024;

/// How long a conductor that waits for the wall clock does not look whether it is to halt.
const GLANCE: Duration = Duration::from_millis(20);

/// The longest that a record is kept back, in milliseconds, if anything moves.
const KEPT_MS: u128 = 100;

/// Asks entities to go on, window by window.
pub(super) struct Conductor<E: Entity + Send + 'static> {
    windows: Windows,
    stage: Stage,
    /// Where commands from outside come in, as long as any can.
    desk: Option<OwnedMutexGuard<Desk>>,
    board: Arc<Board>,
    words: SyncSender<Word<E>>,
    players: Vec<Addr<Player<E>>>,
    /// The errand of each entity that is at home.
    errands: Vec<Option<Box<Errand>>>,
    /// Where errands come home.
    door: UnboundedReceiver<Box<Errand>>,
    home: UnboundedSender<Box<Errand>>,
    batch: Vec<(usize, Record)>,
    /// Records since everybody was last at the same moment.
    waited: usize,
    handed: Instant,
}

impl<E: Entity + Send + 'static> Conductor<E> {
    pub(super) fn new(windows: Windows, stage: Stage, board: Arc<Board>, words: SyncSender<Word<E>>) -> Self {
        let (home, door) = unbounded_channel();
        Self {
            windows,
            stage,
            desk: None,
            board,
            words,
            players: Vec::new(),
            errands: Vec::new(),
            door,
            home,
            batch: Vec::with_capacity(BATCH),
            waited: 0,
            handed: now(),
        }
    }

    /// Runs from beginning to end, on this thread and those that it starts. What went wrong with the conductor itself is
    /// returned; everything else is told as it happens.
    pub(super) fn run(self, entities: Vec<E>) -> Result<(), String> {
        let runtime = match runtime() {
            Ok(runtime) => runtime,
            Err(error) => {
                self.tell(Word::Failed(RuntimeError::NoThread(error.to_string())));
                self.tell(Word::Done(entities, Reached::default()));
                return Ok(());
            }
        };
        let system = System::with_tokio_rt(|| runtime);
        // As a task among those of the actors, it is woken like them.
        system.block_on(async { actix::spawn(self.conduct(entities)).await }).map_err(|error| {
            error.try_into_panic().map_or_else(|error| error.to_string(), |panic| said(panic.as_ref()))
        })
    }

    async fn conduct(mut self, entities: Vec<E>) {
        let arbiters = (1..self.stage.threads).map(|_| Arbiter::try_with_tokio_rt(runtime));
        let arbiters: Vec<Arbiter> = match arbiters.collect() {
            Ok(arbiters) => arbiters,
            Err(error) => {
                let error: io::Error = error;
                self.tell(Word::Failed(RuntimeError::NoThread(error.to_string())));
                return self.tell(Word::Done(entities, Reached::default()));
            }
        };
        self.cast(entities, &arbiters);
        let ended = self.through_windows().await;
        self.hand_on();
        let failed = ended.is_err();
        if let Err(error) = ended {
            self.tell(Word::Failed(error));
        }
        let (entities, lost) = self.dismiss(failed).await;
        for arbiter in &arbiters {
            arbiter.stop();
        }
        if let Some(error) = lost {
            self.tell(Word::Failed(error));
        }
        let reached = Reached { passed: self.windows.passed(), over: self.windows.is_over() };
        self.tell(Word::Done(entities, reached));
        arbiters.into_iter().for_each(|arbiter| drop(arbiter.join()));
    }

    /// Gives each entity its actor. Those that talk to each other without delay stay on the conductor's own thread, where
    /// a request costs least; the others are dealt out to all threads.
    fn cast(&mut self, entities: Vec<E>, arbiters: &[Arbiter]) {
        let mut dealt = 0;
        for (place, entity) in entities.into_iter().enumerate() {
            let player = Player::new(place, entity, Arc::clone(&self.board));
            let threads = arbiters.len() + 1;
            let address = match arbiters.get(dealt % threads) {
                Some(arbiter) if self.windows.is_alone(place) => {
                    Player::start_in_arbiter(&arbiter.handle(), move |_: &mut Context<Player<E>>| player)
                }
                _ => player.start(),
            };
            dealt += usize::from(self.windows.is_alone(place));
            self.players.push(address);
            self.errands.push(Some(Box::new(Errand::new(place))));
        }
    }

    async fn through_windows(&mut self) -> Result<(), RuntimeError> {
        let (mut calls, mut together) = (Vec::new(), Vec::new());
        if let Some(outside) = self.stage.outside.take() {
            self.desk = Some(outside.sit_down().await);
        }
        loop {
            self.wait().await?;
            if !self.windows.open(&mut calls)? {
                return Ok(());
            }
            // Everybody who needs nobody else goes on meanwhile.
            calls.iter().for_each(|call| self.ask(*call));
            while self.windows.step(&mut together)? {
                together.iter().for_each(|call| self.ask(*call));
                self.hear(&mut together).await?;
            }
            self.hear(&mut calls).await?;
            if self.windows.close() {
                self.windows.adapt(std::mem::take(&mut self.waited));
                self.hand_on_in_time();
            }
            if self.board.stopped() {
                return Err(RuntimeError::SinkClosed);
            }
        }
    }

    /// Sends an entity on its errand.
    fn ask(&mut self, Call { entity, until }: Call) {
        let Some(mut errand) = self.errands[entity].take() else { return };
        errand.at = self.windows.moment(entity);
        errand.until = until;
        errand.outcome = Outcome::Lost;
        std::mem::swap(self.windows.inbox(entity), &mut errand.inbox);
        self.board.asked(entity, errand.at);
        self.players[entity].do_send(Advance::new(errand, self.home.clone()));
    }

    /// Waits for the answers to calls, and takes them in, in the order of the calls.
    async fn hear(&mut self, calls: &mut Vec<Call>) -> Result<(), RuntimeError> {
        for &call in &*calls {
            while self.errands[call.entity].is_none() {
                let Some(errand) = self.door.recv().await else { break };
                let place = errand.place;
                self.errands[place] = Some(errand);
            }
            self.take_in(call.entity)?;
        }
        calls.clear();
        Ok(())
    }

    fn take_in(&mut self, place: usize) -> Result<(), RuntimeError> {
        let Self { windows, batch, .. } = self;
        let entity = windows.address(place);
        let Some(errand) = &mut self.errands[place] else {
            return Err(RuntimeError::LostReply { entity, at: windows.moment(place) });
        };
        let at = errand.at;
        match std::mem::replace(&mut errand.outcome, Outcome::Lost) {
            Outcome::Done => {}
            Outcome::Lost => return Err(RuntimeError::LostReply { entity, at }),
            Outcome::Broken(error) => return Err(error.into()),
            Outcome::Panicked(message) => return Err(RuntimeError::Panicked { entity, at, message }),
        }
        for (to, message) in errand.sent.drain(..) {
            windows.post(place, to, message)?;
        }
        self.waited += errand.records.len();
        batch.extend(errand.records.drain(..).map(|record| (place, record)));
        windows.left(place, errand.pending);
        windows.answer(place, errand.next, errand.promise)?;
        if self.batch.len() >= BATCH {
            self.hand_on();
        }
        Ok(())
    }

    /// Hands on the records if it is time.
    fn hand_on_in_time(&mut self) {
        if !self.batch.is_empty() && (now() - self.handed).as_millis() >= KEPT_MS {
            self.hand_on();
        }
    }

    /// Hands on the records; waits if those before have not been written.
    fn hand_on(&mut self) {
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        self.tell(Word::Records(batch, self.windows.passed()));
        self.handed = now();
    }

    /// Tells whoever waits for the run. If nobody listens any more, it need not go on.
    fn tell(&self, word: Word<E>) {
        if self.words.send(word).is_err() {
            self.board.stop();
        }
    }

    /// Takes the commands that have come in, and waits until the wall clock has reached what is to be done next: not within a
    /// window, so that a halt or a command that comes meanwhile finds nobody beyond the present.
    async fn wait(&mut self) -> Result<(), RuntimeError> {
        if self.windows.is_over() {
            // What comes now comes too late.
            return Ok(());
        }
        while let Some(order) = self.desk.as_mut().and_then(|desk| desk.look()) {
            self.take(order)?;
        }
        let Some(pace) = self.stage.pace.clone() else { return Ok(()) };
        let mut asleep = false;
        loop {
            let due = self.windows.due();
            self.windows.reach(due.max(Stamp::at(pace.present())));
            if self.windows.is_halted() {
                self.windows.halt(pace.present());
                break;
            }
            let nothing = self.desk.is_none() && self.windows.first() == Stamp::END;
            if nothing || self.board.stopped() {
                break;
            }
            let Some(then) = pace.reaches(due.time) else { break };
            if !std::mem::replace(&mut asleep, true) {
                self.hand_on();
                self.board.sleep(true);
            }
            let glance = then.min(now() + GLANCE).into();
            let Some(desk) = &mut self.desk else {
                tokio::time::sleep_until(glance).await;
                continue;
            };
            match tokio::time::timeout_at(glance, desk.wait()).await {
                Ok(Some(order)) => self.take(order)?,
                Ok(None) => self.desk = None,
                Err(_) => {}
            }
        }
        self.board.sleep(false);
        Ok(())
    }

    /// Takes a command from outside: now, as far as anybody can tell.
    fn take(&mut self, order: Order) -> Result<(), RuntimeError> {
        let to = Address::Site(order.site);
        if !self.windows.knows(to) {
            let site = order.site;
            order.refuse(Refusal::NoSuchSite(site));
            return Ok(());
        }
        let Some(desk) = &mut self.desk else { return Ok(()) };
        let present = self.stage.pace.as_ref().map_or(Time::ZERO, Pace::present);
        let at = self.windows.instant().max(present).max(desk.last());
        // Writing may take its time.
        let asleep = self.board.asleep();
        self.board.sleep(true);
        let told = desk.write_down(order, |site, body| Command { at, site, body });
        self.board.sleep(asleep);
        if let Some(Told { number: sequence, command }) = told {
            let (arrival, sender) = (Stamp::at(at), Sender::Outside);
            self.windows.tell(to, Message { arrival, sender, sequence, body: command.body })?;
        }
        Ok(())
    }

    /// Takes the entities back, with what has not been delivered to them; and tells what goes wrong with that, if nothing
    /// has gone wrong before.
    async fn dismiss(&mut self, failed: bool) -> (Vec<E>, Option<RuntimeError>) {
        let mut entities = Vec::with_capacity(self.players.len());
        let mut error = None;
        // All are asked before any is waited for: on another thread the answer takes its time. Nobody's address is given up
        // before: an actor that nobody knows any more may leave with its mail unread.
        let players = std::mem::take(&mut self.players);
        let asked: Vec<_> = players.iter().map(|player| player.send(Dismiss::new())).collect();
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

/// One thread that can wait for the clock and does nothing else.
fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_time().build()
}
