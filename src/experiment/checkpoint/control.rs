//! Stopping a run from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::grid::Halt;

/// By which a run is asked to stop after a last snapshot. All copies are one.
#[derive(Clone, Debug, Default)]
pub struct Control {
    halt: Halt,
    stop: Arc<AtomicBool>,
}

impl Control {
    /// One that has not been used.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the run to take a last snapshot at the next instant at which it can, and to stop there.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
        self.halt.ask();
    }

    /// Whether the run was asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    pub(crate) const fn halt(&self) -> &Halt {
        &self.halt
    }
}
