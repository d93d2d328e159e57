//! What is asked of an entity, and its answer.

use actix::Message as ActorMessage;
use tokio::sync::mpsc::UnboundedSender;

use super::board::Board;
use crate::entity::{Address, Entity, EntityError, Message, Outbox, Pending, Stamp};
use crate::model::{Record, RecordSink};

/// What became of an errand.
#[derive(Debug)]
pub(super) enum Outcome {
    /// Nothing: it was not even begun, or given up in the middle.
    Lost,
    /// It was carried out.
    Done,
    /// The entity broke.
    Broken(EntityError),
    /// The entity panicked, and said this.
    Panicked(String),
}

/// What is asked of an entity, and its answer. One an entity goes back and forth for the whole run, and its buffers with it.
#[derive(Debug)]
pub(super) struct Errand {
    /// The entity.
    pub(super) place: usize,
    /// What happens to it first.
    pub(super) at: Stamp,
    /// It is to handle everything before this.
    pub(super) until: Stamp,
    /// What has arrived.
    pub(super) inbox: Vec<Message>,
    /// What it sends.
    pub(super) sent: Vec<(Address, Message)>,
    /// What it has to tell.
    pub(super) records: Vec<Record>,
    /// When it next does something.
    pub(super) next: Option<Stamp>,
    /// It sends nothing before.
    pub(super) promise: Stamp,
    /// What it has left to do.
    pub(super) pending: Pending,
    pub(super) outcome: Outcome,
}

impl Errand {
    pub(super) fn new(place: usize) -> Self {
        Self {
            place,
            at: Stamp::default(),
            until: Stamp::default(),
            inbox: Vec::new(),
            sent: Vec::new(),
            records: Vec::new(),
            next: None,
            promise: Stamp::END,
            pending: Pending::default(),
            outcome: Outcome::Lost,
        }
    }

    /// Has the entity do it.
    pub(super) fn carry_out<E: Entity>(&mut self, entity: &mut E, board: &Board) -> Result<(), EntityError> {
        while let Some(message) = self.inbox.pop() {
            entity.deliver(message)?;
        }
        entity.advance(self.until, &mut Pad { errand: self, board })?;
        self.next = entity.next_event();
        self.promise = entity.promise();
        self.pending = entity.pending();
        Ok(())
    }
}

/// Where the entity puts what it has to say.
struct Pad<'a> {
    errand: &'a mut Errand,
    board: &'a Board,
}

impl RecordSink for Pad<'_> {
    fn record(&mut self, record: Record) {
        self.errand.records.push(record);
        self.board.alive(self.errand.place);
    }

    fn is_closed(&self) -> bool {
        self.board.stopped()
    }
}

impl Outbox for Pad<'_> {
    fn send(&mut self, to: Address, message: Message) {
        self.errand.sent.push((to, message));
        self.board.alive(self.errand.place);
    }
}

/// An errand on its way. It always comes home: wherever this is dropped, in a handler or in the mailbox of an actor that is
/// no more, is where it turns round.
pub(super) struct Advance {
    errand: Option<Box<Errand>>,
    home: UnboundedSender<Box<Errand>>,
}

impl Advance {
    pub(super) fn new(errand: Box<Errand>, home: UnboundedSender<Box<Errand>>) -> Self {
        Self { errand: Some(errand), home }
    }

    pub(super) fn errand(&mut self) -> Option<&mut Errand> {
        self.errand.as_deref_mut()
    }
}

impl Drop for Advance {
    fn drop(&mut self) {
        if let Some(errand) = self.errand.take() {
            // If nobody is at home any more, nobody misses it.
            let _ = self.home.send(errand);
        }
    }
}

impl ActorMessage for Advance {
    type Result = ();
}
