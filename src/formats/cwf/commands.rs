//! The commands of a log, by job.

use std::collections::BTreeMap;

use crate::model::{Elastic, ElasticCommand};
use crate::units::Time;

/// The commands that a log has for its jobs. They stand behind their jobs, however far, and a job carries its own from the
/// beginning; so they are gathered by one reading of the log, for another that gives the jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commands {
    /// By job; of each in the order of the log, with their lines.
    by_job: BTreeMap<u64, Vec<(ElasticCommand, u64)>>,
}

impl Commands {
    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.by_job.is_empty()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.by_job.values().map(Vec::len).sum()
    }

    pub(in crate::formats) fn add(&mut self, job: u64, at: Time, change: Elastic, line: u64) {
        self.by_job.entry(job).or_default().push((ElasticCommand { at, change }, line));
    }

    /// Takes out those of `job`, which is submitted at `submit`, in order of their times; `early` is told the lines of those
    /// that came before that, which are given with the submission.
    pub(in crate::formats) fn take(
        &mut self,
        job: u64,
        submit: Time,
        mut early: impl FnMut(u64),
    ) -> Option<Box<[ElasticCommand]>> {
        let heard = self.by_job.remove(&job)?;
        let mut commands: Vec<_> = heard
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
