//! What a log in the cloud workload format has beyond one in SWF: commands.

use std::io::Read;

use super::clean::Request;
use super::row::Row;
use super::source::{SwfOptions, SwfSource, place};
use super::tally::Event;
use crate::formats::cwf::Commands;
use crate::model::{Elastic, ElasticCommand};
use crate::units::Time;
use crate::workload::{Jobs, SourceError};

/// What is known of the commands of a log.
#[derive(Debug)]
pub(super) struct Cloud {
    /// Those known beforehand, of jobs that are still to come; or those read so far, if they are gathered.
    commands: Option<Commands>,
    /// Whether commands are kept as they are read.
    gathers: bool,
    /// Commands read, and the line of the first.
    read: (u64, u64),
}

impl Cloud {
    pub(super) fn new(gathers: bool) -> Self {
        Self { commands: gathers.then(Commands::default), gathers, read: (0, 0) }
    }

    /// Whether there are commands that jobs carry.
    pub(super) const fn has_commands(&self) -> bool {
        self.commands.is_some()
    }

    /// What to say of commands that nobody has gathered.
    pub(super) fn note(&self) -> Option<String> {
        let (count, first) = self.read;
        let commands = if count == 1 { "1 command".to_owned() } else { format!("{count} commands") };
        (count > 0 && (self.commands.is_none() || self.gathers)).then(|| {
            format!("left out {commands}: they were not gathered beforehand (first at line {first})")
        })
    }
}

impl SwfSource {
    /// Whether the log is in the cloud workload format. Its first row has been read.
    pub const fn is_cwf(&self) -> bool {
        self.options.cwf
    }

    /// Reads a whole log for its commands. The options are those that its jobs are read with.
    ///
    /// # Errors
    /// See [`SwfSource::open`]; and if reading fails later.
    pub fn gather_commands(
        input: Box<dyn Read + Send>,
        options: SwfOptions,
    ) -> Result<Commands, SourceError> {
        let mut source = Self::open_with(input, options, Cloud::new(true))?;
        while source.next_row()?.is_some() {}
        Ok(source.cloud.commands.unwrap_or_default())
    }

    /// The same log, whose jobs carry the commands that have been gathered of it. Before the first job is taken.
    #[must_use]
    pub fn with_commands(mut self, commands: Commands) -> Self {
        self.cloud.commands = Some(commands);
        self.cloud.gathers = false;
        self
    }

    /// All that is left of a log that can be read only once, in memory: its jobs with their commands.
    ///
    /// # Errors
    /// If reading fails.
    pub fn into_jobs(mut self) -> Result<Jobs, SourceError> {
        let mut requests = Vec::new();
        while let Some(request) = self.next_row()? {
            requests.push(request);
        }
        let most = self.options.first.and_then(|first| usize::try_from(first).ok()).unwrap_or(usize::MAX);
        requests.truncate(most);
        let mut jobs = Vec::with_capacity(requests.len());
        // All that there are have been read.
        self.cloud.gathers = false;
        for request in requests {
            let commands = self.commands_of(&request);
            jobs.push(self.job(&request, commands));
        }
        let notes = self.tally.notes().into_iter().chain(self.cloud.note()).collect();
        Ok(Jobs::new(jobs).with_notes(notes).had_once(self.options.once))
    }

    /// Takes in the row of a command.
    pub(super) fn hear(&mut self, row: &Row, change: Elastic, line: u64) {
        let Some(job) = u64::try_from(row.number).ok().filter(|job| self.numbers.has(*job)) else {
            self.tally.add(Event::NoSuchJob, line);
            return;
        };
        let Ok(at) = u64::try_from(row.submit) else {
            self.tally.add(Event::NoCommandTime, line);
            return;
        };
        let (count, first) = &mut self.cloud.read;
        *count += 1;
        if *count == 1 {
            *first = line;
        }
        if let Some(commands) = self.cloud.commands.as_mut().filter(|_| self.cloud.gathers) {
            commands.add(job, Time::from_micros(at), change, line);
        }
    }

    /// The commands of a job that is given now.
    pub(super) fn commands_of(&mut self, request: &Request) -> Option<Box<[ElasticCommand]>> {
        let submit = Time::from_micros(request.submit);
        let early = |line| self.tally.add(Event::EarlyCommand, line);
        if self.cloud.gathers {
            return None;
        }
        self.cloud.commands.as_mut()?.take(request.id, submit, early)
    }

    /// The format of a log is settled by its first row, since the reader has to know of commands before the first job.
    pub(super) fn mixed(&self, line: u64) -> SourceError {
        SourceError::Read {
            place: place(&self.options.name, line),
            problem: "the row is in the cloud workload format, and the rows before it are not".to_owned(),
            hint: "give it as a file whose name ends in `.cwf`; rows of 18 columns are batch jobs then"
                .to_owned(),
        }
    }
}
