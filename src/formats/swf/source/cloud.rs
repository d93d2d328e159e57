//! Elastic commands of a log in the cloud workload format.

use std::io::Read;

use super::{SwfOptions, SwfSource, place};
use crate::formats::cwf::Commands;
use crate::formats::swf::clean::Request;
use crate::formats::swf::row::Row;
use crate::formats::swf::tally::Event;
use crate::model::{Elastic, ElasticCommand};
use crate::units::Time;
use crate::workload::{Jobs, SourceError};

/// The state of reading the commands of a log.
#[derive(Debug)]
pub(in crate::formats::swf) struct Cloud {
    /// Commands known beforehand, of jobs that are still to come; or, while gathering, those read so far.
    commands: Option<Commands>,
    /// Whether commands are collected as they are read.
    gathers: bool,
    /// Number of commands read, and the line of the first.
    read: (u64, u64),
}

impl Cloud {
    pub(in crate::formats::swf) fn new(gathers: bool) -> Self {
        Self { commands: gathers.then(Commands::default), gathers, read: (0, 0) }
    }

    /// Whether jobs carry commands.
    pub(in crate::formats::swf) const fn has_commands(&self) -> bool {
        self.commands.is_some()
    }

    /// The note about commands that were read but not gathered.
    pub(in crate::formats::swf) fn note(&self) -> Option<String> {
        let (count, first) = self.read;
        let commands = if count == 1 { "1 command".to_owned() } else { format!("{count} commands") };
        (count > 0 && (self.commands.is_none() || self.gathers)).then(|| {
            format!("left out {commands}: they were not gathered beforehand (first at line {first})")
        })
    }
}

impl SwfSource {
    /// Whether the log is in the cloud workload format. Its first row has already been read.
    pub const fn is_cwf(&self) -> bool {
        self.options.cwf
    }

    /// Reads a whole log for its commands. The options must be those with which its jobs are read.
    ///
    /// # Errors
    /// As [`SwfSource::open`], and if reading fails later.
    pub fn gather_commands(
        input: Box<dyn Read + Send>,
        options: SwfOptions,
    ) -> Result<Commands, SourceError> {
        let mut source = Self::open_with(input, options, Cloud::new(true))?;
        while source.next_row()?.is_some() {}
        Ok(source.cloud.commands.unwrap_or_default())
    }

    /// Attaches the commands that were gathered from the same log. It must be called before the first job is taken.
    #[must_use]
    pub fn with_commands(mut self, commands: Commands) -> Self {
        self.cloud.commands = Some(commands);
        self.cloud.gathers = false;
        self
    }

    /// Reads the rest of a log that can be read only once into memory: its jobs with their commands.
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
        // All commands have been read.
        self.cloud.gathers = false;
        for request in requests {
            let commands = self.commands_of(&request);
            jobs.push(self.job(&request, commands));
        }
        let notes = self.tally.notes().into_iter().chain(self.cloud.note()).collect();
        Ok(Jobs::new(jobs).with_notes(notes).had_once(self.options.once))
    }

    /// Records the row of a command.
    pub(in crate::formats::swf) fn command(&mut self, row: &Row, change: Elastic, line: u64) {
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

    /// The commands of the job that is returned now.
    pub(in crate::formats::swf) fn commands_of(
        &mut self,
        request: &Request,
    ) -> Option<Box<[ElasticCommand]>> {
        let submit = Time::from_micros(request.submit);
        let early = |line| self.tally.add(Event::EarlyCommand, line);
        if self.cloud.gathers {
            return None;
        }
        self.cloud.commands.as_mut()?.take(request.id, submit, early)
    }

    /// The error of a later row in the other format. The first row decides the format of a log, since the reader must
    /// know about commands before the first job.
    pub(in crate::formats::swf) fn mixed(&self, line: u64) -> SourceError {
        SourceError::Read {
            place: place(&self.options.name, line),
            problem: "the row is in the cloud workload format, and the rows before it are not".to_owned(),
            hint: "give it as a file whose name ends in `.cwf`; rows of 18 columns are batch jobs then"
                .to_owned(),
        }
    }
}
