//! A request to an entity, with its answer.

use actix::Message as ActorMessage;
use tokio::sync::mpsc::UnboundedSender;

use super::RuntimeError;
use super::board::Board;
use crate::entity::{Address, Entity, EntityError, Message, Outbox, Quiescence, Stamp};
use crate::model::{Record, RecordSink};

/// A request to an entity, with its answer. One for each entity goes back and forth for the whole run, with its buffers.
#[derive(Debug, Default)]
pub(super) struct Request {
    /// The place of the entity.
    pub(super) place: usize,
    /// The first moment at which something happens to it.
    pub(super) at: Stamp,
    /// It is to handle everything before this moment.
    pub(super) until: Stamp,
    /// The messages to deliver first.
    pub(super) inbox: Vec<Message>,
    /// The messages that it sends.
    pub(super) sent: Vec<(Address, Message)>,
    /// The records that it writes.
    pub(super) records: Vec<Record>,
    /// Its next event.
    pub(super) next: Option<Stamp>,
    /// What it has left to do.
    pub(super) pending: Quiescence,
    /// Whether it was carried out; `None` if it was not begun, or not finished.
    pub(super) outcome: Option<Result<(), RuntimeError>>,
}

impl Request {
    /// Has the entity carry out the request.
    pub(super) fn carry_out<E: Entity>(&mut self, entity: &mut E, board: &Board) -> Result<(), EntityError> {
        while let Some(message) = self.inbox.pop() {
            entity.deliver(message)?;
        }
        entity.advance(self.until, &mut RequestOutbox { request: self, board })?;
        self.next = entity.next_event();
        self.pending = entity.quiescence();
        Ok(())
    }
}

/// The outbox of the entity.
struct RequestOutbox<'a> {
    request: &'a mut Request,
    board: &'a Board,
}

impl RecordSink for RequestOutbox<'_> {
    fn record(&mut self, record: Record) {
        self.request.records.push(record);
        self.board.alive(self.request.place);
    }

    fn is_closed(&self) -> bool {
        self.board.stopped()
    }
}

impl Outbox for RequestOutbox<'_> {
    fn send(&mut self, to: Address, message: Message) {
        self.request.sent.push((to, message));
        self.board.alive(self.request.place);
    }
}

/// A request on its way. It always returns to the conductor: dropping this, in a handler or in the mailbox of a stopped actor, sends it
/// back.
pub(super) struct Advance {
    request: Option<Box<Request>>,
    return_to: UnboundedSender<Box<Request>>,
}

impl Advance {
    pub(super) fn new(request: Box<Request>, return_to: UnboundedSender<Box<Request>>) -> Self {
        Self { request: Some(request), return_to }
    }

    pub(super) fn request(&mut self) -> Option<&mut Request> {
        self.request.as_deref_mut()
    }
}

impl Drop for Advance {
    fn drop(&mut self) {
        if let Some(request) = self.request.take() {
            // If the conductor has gone, the request is not needed.
            let _ = self.return_to.send(request);
        }
    }
}

impl ActorMessage for Advance {
    type Result = ();
}
