//! Stopping a run from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::grid::Halt;

/// Who asked a run to stop.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Interrupt {
    /// Ctrl-C (SIGINT).
    Keyboard,
    /// SIGTERM.
    Terminated,
}

impl Interrupt {
    /// The exit code of a process that was stopped so: 128 and the number of the signal.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Keyboard => 130,
            Self::Terminated => 143,
        }
    }
}

/// By which a run is asked to stop after a last snapshot. All copies are one.
#[derive(Clone, Debug, Default)]
pub struct Control {
    halt: Halt,
    interrupt: Arc<AtomicU8>,
}

impl Control {
    /// One that has not been used.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the run to take a last snapshot at the next instant at which it can, and to stop there.
    pub fn stop(&self, by: Interrupt) {
        self.interrupt.store(by.exit_code(), Ordering::SeqCst);
        self.halt.ask();
    }

    /// Who asked the run to stop.
    pub fn interrupted(&self) -> Option<Interrupt> {
        let code = self.interrupt.load(Ordering::SeqCst);
        [Interrupt::Keyboard, Interrupt::Terminated].into_iter().find(|by| by.exit_code() == code)
    }

    pub(crate) const fn halt(&self) -> &Halt {
        &self.halt
    }
}
