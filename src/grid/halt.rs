//! A halt ends a drive early; callers keep a run waiting for their commands.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Weak};

use crate::entity::Stamp;
use crate::units::{Span, Time};

/// Requests that a run stop at the next possible barrier. A timer, a signal or a counter of records may request it.
///
/// All copies share one state. A request stands until it is cleared.
#[derive(Clone, Debug, Default)]
pub struct Halt(Arc<AtomicBool>);

impl Halt {
    /// A halt that has not been requested yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requests a barrier.
    pub fn ask(&self) {
        self.0.store(true, SeqCst);
    }

    /// Whether a barrier has been requested.
    pub fn is_asked(&self) -> bool {
        self.0.load(SeqCst)
    }

    /// Withdraws the request.
    pub fn clear(&self) {
        self.0.store(false, SeqCst);
    }
}

/// The callers that may still give commands to a run. As long as there is one, a run in which no job can move waits for them, as it
/// would for machines that come back by chance.
#[derive(Clone, Debug)]
pub struct Callers(Weak<()>);

impl Callers {
    /// All holders of `token`.
    pub fn of(token: &Arc<()>) -> Self {
        Self(Arc::downgrade(token))
    }

    /// Whether any is left.
    pub fn are_there(&self) -> bool {
        self.0.strong_count() > 0
    }
}

/// The first instant that no entity has gone beyond, if none has gone beyond `stamp`.
pub(in crate::grid) fn instant_from(stamp: Stamp) -> Time {
    if stamp.round == 0 { stamp.time } else { stamp.time + Span::TICK }
}
