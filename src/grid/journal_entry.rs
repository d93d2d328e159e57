//! Entries of the journal of commands, and their replay into a grid that resumes.

use serde::{Deserialize, Serialize};

use super::{Command, Grid, GridError};
use crate::entity::Site;
use crate::units::Time;

/// A command that a run has received while it went on, as its journal has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// Its number among the commands to the grid, from zero on.
    pub number: u64,
    /// The command, with its time.
    pub command: Command,
}

impl Grid {
    /// The number of commands so far, which is the number of the next one.
    pub fn commands(&self) -> u64 {
        self.sequence
    }

    /// The latest time of the commands that wait to be carried out; zero if there are none.
    pub(crate) fn last_command(&self) -> Time {
        self.sites().filter_map(Site::last_command).max().unwrap_or_default()
    }

    /// Sets the number of commands that have been given while the grid was driven.
    pub(crate) fn set_commands(&mut self, commands: u64) {
        self.sequence = self.sequence.max(commands);
    }

    /// Gives the grid a command of its journal again. False if its state contains the command already.
    ///
    /// # Errors
    /// As [`Grid::command`]; [`GridError::MissingCommand`] if an earlier entry is missing.
    pub fn replay(&mut self, entry: JournalEntry) -> Result<bool, GridError> {
        let JournalEntry { number, command } = entry;
        if number > self.sequence {
            return Err(GridError::MissingCommand { expected: self.sequence, found: number });
        }
        if number < self.sequence {
            return Ok(false);
        }
        self.command(command).map(|()| true)
    }
}
