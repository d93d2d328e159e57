//! How a run is printed.

use clap::Args as ClapArgs;

use super::say;
use crate::experiment::RunError;
use crate::metrics::GridSummary;
use crate::report::{Detail, grid_tables, json};

#[derive(Debug, ClapArgs)]
pub(super) struct ShowArgs {
    /// Print all tables of a grid: jobs and usage by site, wasted work, energy and cost, backlog, and definitions
    #[arg(long, short, conflicts_with = "json")]
    verbose: bool,

    /// Print the summary as JSON
    #[arg(long)]
    pub(super) json: bool,
}

impl ShowArgs {
    pub(super) fn show(&self, summary: &GridSummary) -> Result<(), RunError> {
        if self.json {
            let text = json(std::slice::from_ref(summary))
                .map_err(|error| RunError::run(format!("cannot write the summary: {error}")))?;
            return say(&text);
        }
        say(&grid_tables(summary, if self.verbose { Detail::All } else { Detail::Headline }))
    }
}
