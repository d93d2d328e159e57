//! The actor of an entity.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use actix::{Actor, Context, Handler, Message as ActorMessage};

use super::RuntimeError;
use super::board::Board;
use super::request::Advance;
use crate::entity::Entity;

/// The actor of an entity: turns a message into a call, and its result into a message. It reads no clock and starts nothing.
pub(super) struct EntityActor<E> {
    place: usize,
    /// `None` once the entity has panicked or has returned to the conductor.
    entity: Option<Box<E>>,
    board: Arc<Board>,
}

impl<E> EntityActor<E> {
    pub(super) fn new(place: usize, entity: E, board: Arc<Board>) -> Self {
        Self { place, entity: Some(Box::new(entity)), board }
    }
}

impl<E: Entity + 'static> Actor for EntityActor<E> {
    type Context = Context<Self>;
}

impl<E: Entity + 'static> Handler<Advance> for EntityActor<E> {
    type Result = ();

    fn handle(&mut self, mut message: Advance, _: &mut Context<Self>) {
        let (Some(request), Some(entity)) = (message.request(), &mut self.entity) else { return };
        self.board.at_work(self.place);
        let carried = catch_unwind(AssertUnwindSafe(|| request.carry_out(&mut **entity, &self.board)));
        request.outcome = Some(match carried {
            Ok(carried) => carried.map_err(RuntimeError::from),
            Err(panic) => {
                let (address, at) = (entity.address(), request.at);
                // The entity is in an unknown state, and may panic again when it is dropped.
                let entity = self.entity.take();
                let _ = catch_unwind(AssertUnwindSafe(|| drop(entity)));
                let message = panic_message(panic.as_ref());
                Err(RuntimeError::Panicked { entity: address, at, message })
            }
        });
        self.board.done(self.place);
    }
}

/// The message of a panic.
pub(super) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("it did not say why").to_owned()
}

/// Asks for the entity at the end of the run.
pub(super) struct Dismiss<E>(std::marker::PhantomData<fn() -> E>);

impl<E> Dismiss<E> {
    pub(super) fn new() -> Self {
        Self(std::marker::PhantomData)
    }
}

impl<E: Send + 'static> ActorMessage for Dismiss<E> {
    type Result = Option<Box<E>>;
}

impl<E: Entity + Send + 'static> Handler<Dismiss<E>> for EntityActor<E> {
    type Result = Option<Box<E>>;

    fn handle(&mut self, _: Dismiss<E>, _: &mut Context<Self>) -> Self::Result {
        self.entity.take()
    }
}
