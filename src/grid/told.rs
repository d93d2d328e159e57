//! Telling a grid again what it was told when it ran before.

use serde::{Deserialize, Serialize};

use super::{Command, Grid, GridError};
use crate::entity::Site;
use crate::units::Time;

/// A command that a run has taken while it went on, as its journal has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// Its number among the commands to the grid, from zero on.
    pub number: u64,
    /// What, and when.
    pub command: Command,
}

impl Grid {
    /// Commands so far: the number of the next one.
    pub fn commands(&self) -> u64 {
        self.sequence
    }

    /// When the last of the commands that wait for their time is carried out; zero if none does.
    pub(crate) fn last_command(&self) -> Time {
        self.sites().filter_map(Site::last_command).max().unwrap_or_default()
    }

    /// So many commands have been given while the grid was driven.
    pub(crate) fn set_commands(&mut self, commands: u64) {
        self.sequence = self.sequence.max(commands);
    }

    /// Tells the grid again what it was told when it ran before. False if its state has it already.
    ///
    /// # Errors
    /// As [`Grid::command`]; [`GridError::MissingCommand`] if one before is missing.
    pub fn retell(&mut self, told: Told) -> Result<bool, GridError> {
        let Told { number, command } = told;
        if number > self.sequence {
            return Err(GridError::MissingCommand { expected: self.sequence, found: number });
        }
        if number < self.sequence {
            return Ok(false);
        }
        self.command(command).map(|()| true)
    }
}
