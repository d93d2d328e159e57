//! The elastic commands of a log, by job.

use std::collections::BTreeMap;

use crate::model::{Elastic, ElasticCommand};
use crate::units::Time;

/// The elastic commands of a log. They follow their jobs at any distance, but a job carries its own from the
/// beginning; so they are gathered in a first pass over the log, for a second one that yields the jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commands {
    /// The commands of each job in the order of the log, with their lines.
    by_job: BTreeMap<u64, Vec<(ElasticCommand, u64)>>,
}

impl Commands {
    /// True if there are no commands.
    pub fn is_empty(&self) -> bool {
        self.by_job.is_empty()
    }

    /// The number of commands.
    pub fn count(&self) -> usize {
        self.by_job.values().map(Vec::len).sum()
    }

    pub(in crate::formats) fn add(&mut self, job: u64, at: Time, change: Elastic, line: u64) {
        self.by_job.entry(job).or_default().push((ElasticCommand { at, change }, line));
    }

    /// Removes and returns the commands of `job`, which is submitted at `submit`, in order of their times; calls
    /// `early` with the lines of commands earlier than the submission, which are issued at the submission.
    pub(in crate::formats) fn take(
        &mut self,
        job: u64,
        submit: Time,
        mut early: impl FnMut(u64),
    ) -> Option<Box<[ElasticCommand]>> {
        let gathered = self.by_job.remove(&job)?;
        let mut commands: Vec<_> = gathered
            .into_iter()
            .map(|(command, line)| {
                if command.at < submit {
                    early(line);
                }
                ElasticCommand { at: command.at.max(submit), ..command }
            })
            .collect();
        commands.sort_by_key(|command| command.at);
        Some(commands.into())
    }
}
