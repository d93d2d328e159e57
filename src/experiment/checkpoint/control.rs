//! Stops a run from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::grid::Halt;

/// Asks a run to stop after a last snapshot. Clones refer to the same request.
#[derive(Clone, Debug, Default)]
pub struct Control {
    pub(in crate::experiment) halt: Halt,
    stop: Arc<AtomicBool>,
}

impl Control {
    /// A control that has not been used.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the run to take a last snapshot at the next possible instant, and to stop there.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
        self.halt.ask();
    }

    /// True if the run was asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }
}
