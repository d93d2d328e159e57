//! A log as a source of jobs.

mod cloud;
mod intake;

use std::io::{self, Read};

use xxhash_rust::xxh3::Xxh3;

use super::clean::{Clean, Request};
use super::header::Header;
use super::numbers::Numbers;
use super::order::Window;
use super::row::Row;
use super::tally::Tally;
use crate::formats::input::{self, Lines};
use crate::model::{ElasticCommand, Job, JobId, PartitionId, Predecessor, Size};
use crate::units::{Bytes, Span, Time};
use crate::workload::{Mark, Source, SourceError};
use cloud::Cloud;

/// Options for reading a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SwfOptions {
    /// The name of the log in messages: its file name.
    pub name: String,
    /// Which rows are skipped.
    pub clean: Clean,
    /// The machine's processors, for [`Clean::Strict`] and `cap`; if not given, those of the header (`MaxProcs`).
    pub machine: Option<u32>,
    /// Reduce jobs larger than the machine to its size, instead of leaving it to the site to reject them.
    pub cap: bool,
    /// Take only this number of jobs, in order of submission.
    pub first: Option<u64>,
    /// Record which job each one follows (columns 17 and 18) in [`Job::after`]. Jobs keep their logged submissions;
    /// [`crate::workload::Feedback`] replays the dependencies.
    pub feedback: bool,
    /// Bind each job to the partition of the log (column 16, where 1 is the site's first partition).
    pub partitions: bool,
    /// The log is in the cloud workload format, even if its first row does not show it (see [`crate::formats::cwf`]).
    pub cwf: bool,
    /// The input cannot be opened again (standard input), so the source returns no marks.
    pub once: bool,
}

/// The jobs of an SWF log, read on demand: memory does not grow with the log, except for an entry for each gap in its
/// job numbers.
///
/// A log in the cloud workload format is read too; see [`crate::formats::cwf`] for its commands.
///
/// Rows are sorted by submission if they are at most some thousand rows behind their place. A row that cannot be
/// read or run is skipped and counted ([`Source::notes`]). Job numbers are those of the log; a row without one is
/// numbered by its position among the rows.
pub struct SwfSource {
    pub(super) options: SwfOptions,
    header: Header,
    lines: Lines,
    window: Window,
    pub(super) numbers: Numbers,
    pub(super) tally: Tally,
    pub(super) cloud: Cloud,
    /// Number of rows that could be read.
    rows: u64,
    /// The number of the last row that was not a part of another job, and whether its status says that parts follow.
    whole: Option<(i64, bool)>,
    machine: Option<u32>,
    /// Why no more rows come: the end, or a failure that is reported after the rows before it.
    ended: Option<Result<(), SourceError>>,
    /// Number of jobs returned so far, and the hash of their content.
    returned: u64,
    content: Xxh3,
}

impl SwfSource {
    /// Opens a log, plain or compressed with gzip, and reads its header and its first jobs.
    ///
    /// # Errors
    /// [`SourceError::Read`] if reading fails before the first job, if no row is a job, or if the options need the
    /// machine's size and neither they nor the header have it.
    pub fn open(input: Box<dyn Read + Send>, options: SwfOptions) -> Result<Self, SourceError> {
        let cloud = Cloud::new(options.once);
        Self::open_with(input, options, cloud)
    }

    pub(super) fn open_with(
        input: Box<dyn Read + Send>,
        options: SwfOptions,
        cloud: Cloud,
    ) -> Result<Self, SourceError> {
        let input = input::unpacked(input).map_err(|error| failure(&options.name, 1, &error))?;
        let mut source = Self {
            options,
            header: Header::default(),
            lines: Lines::new(input),
            window: Window::default(),
            numbers: Numbers::default(),
            tally: Tally::default(),
            cloud,
            rows: 0,
            whole: None,
            machine: None,
            ended: None,
            returned: 0,
            content: Xxh3::new(),
        };
        while source.ended.is_none() && source.window.is_empty() {
            source.read_on();
        }
        if source.window.is_empty() {
            return Err(match source.ended.take() {
                Some(Err(error)) => error,
                _ => source.no_jobs(),
            });
        }
        Ok(source)
    }

    /// The header of the log.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The machine's processors: those of the options, else those of the header.
    pub fn machine(&self) -> Option<u32> {
        self.machine
    }

    /// Number of rows that could be read so far, jobs or not. The source reads ahead of the jobs it has returned.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    fn is_done(&self) -> bool {
        self.options.first.is_some_and(|first| self.returned >= first)
    }

    /// The next job of the log, whether the options select it or not.
    pub(super) fn next_row(&mut self) -> Result<Option<Request>, SourceError> {
        self.fill();
        match (self.window.pop(), &self.ended) {
            (None, Some(Err(error))) => Err(error.clone()),
            (request, _) => Ok(request),
        }
    }

    /// The next job to return. Its commands must be [taken](Self::take_commands) before the next call.
    fn next_request(&mut self) -> Result<Option<Request>, SourceError> {
        if self.is_done() {
            return Ok(None);
        }
        let request = self.next_row()?;
        if let Some(request) = &request {
            self.returned += 1;
            self.hash(request);
        }
        Ok(request)
    }

    /// Takes the commands of the current job.
    #[inline]
    fn take_commands(&mut self, request: &Request) -> Option<Box<[ElasticCommand]>> {
        let commands = if self.cloud.has_commands() { self.commands_of(request) } else { None };
        self.hash_cloud(request.start, commands.as_deref());
        commands
    }

    fn hash(&mut self, request: &Request) {
        let Request { row, id, submit, run, estimate, procs, .. } = *request;
        let Row { wait, preceding, think, user, group, executable, queue, partition, .. } = row;
        let mut bytes = [0; 80];
        let longs = [id, submit, run, estimate, wait as u64, preceding as u64, think as u64];
        for (to, from) in bytes.chunks_exact_mut(8).zip(longs) {
            to.copy_from_slice(&from.to_le_bytes());
        }
        let ints = [procs, user as u32, group as u32, executable as u32, queue as u32, partition as u32];
        for (to, from) in bytes[56..].chunks_exact_mut(4).zip(ints) {
            to.copy_from_slice(&from.to_le_bytes());
        }
        self.content.update(&bytes);
    }

    /// Hashes what SWF does not have; nothing for a plain job, so that the hash of a plain log covers just its 18
    /// columns.
    fn hash_cloud(&mut self, start: i64, commands: Option<&[ElasticCommand]>) {
        if start >= 0 {
            self.content.update(&start.to_le_bytes());
        }
        if let Some(commands) = commands {
            // Serializing a command cannot fail.
            self.content.update(&postcard::to_stdvec(commands).unwrap_or_default());
        }
    }

    pub(super) fn job(&self, request: &Request, elastic: Option<Box<[ElasticCommand]>>) -> Job {
        let known = |micros: i64| u64::try_from(micros).ok().map(Span::from_micros);
        let Request { row, .. } = request;
        let preceding = u64::try_from(row.preceding).ok().filter(|job| *job > 0 && self.options.feedback);
        let partition = u32::try_from(row.partition).ok().filter(|n| *n > 0 && self.options.partitions);
        Job {
            id: JobId(request.id),
            submit: Time::from_micros(request.submit),
            size: Size::Rigid(request.procs),
            runtime: Span::from_micros(request.run),
            estimate: Span::from_micros(request.estimate),
            memory: u64::try_from(row.memory).ok().map(Bytes::from_kib),
            user: row.user,
            group: row.group,
            executable: row.executable,
            queue: row.queue,
            partition: partition.map(|n| PartitionId(n - 1)),
            after: preceding
                .map(|job| Predecessor { job: JobId(job), think: known(row.think).unwrap_or(Span::ZERO) }),
            recorded_wait: known(row.wait),
            grid: None,
            requested_start: u64::try_from(request.start)
                .ok()
                .map(|start| Time::from_micros(start.max(request.submit))),
            elastic,
            limits: None,
        }
    }

    fn mark_error(&self, problem: String) -> SourceError {
        SourceError::Mark { place: format!("`{}`", self.options.name), problem }
    }
}

impl Source for SwfSource {
    fn peek_time(&mut self) -> Result<Option<Time>, SourceError> {
        if self.is_done() {
            return Ok(None);
        }
        self.fill();
        match (self.window.first(), &self.ended) {
            (Some(request), _) => Ok(Some(Time::from_micros(request.submit))),
            (None, Some(Err(error))) => Err(error.clone()),
            (None, _) => Ok(None),
        }
    }

    fn next_job(&mut self) -> Result<Option<Job>, SourceError> {
        let Some(request) = self.next_request()? else { return Ok(None) };
        let commands = self.take_commands(&request);
        Ok(Some(self.job(&request, commands)))
    }

    fn notes(&self) -> Vec<String> {
        self.tally.notes().into_iter().chain(self.cloud.note()).collect()
    }

    fn mark(&self) -> Option<Mark> {
        let mark = || Mark { position: self.returned, content: self.content.digest128(), state: Vec::new() };
        (!self.options.once).then(mark)
    }

    /// Reads the log again up to the mark. What is read ahead and counted is a function of the jobs returned, so the
    /// mark needs only their number and hash.
    fn seek(&mut self, mark: &Mark) -> Result<(), SourceError> {
        if self.returned > mark.position {
            return Err(self.mark_error(format!("it is at job {} already, past the mark", self.returned)));
        }
        while self.returned < mark.position {
            let Some(request) = self.next_request()? else {
                let problem =
                    format!("the mark is at job {}, but there are {}", mark.position, self.returned);
                return Err(self.mark_error(problem));
            };
            self.take_commands(&request);
        }
        if self.content.digest128() != mark.content {
            let problem = "its jobs up to the mark are not those that were read when the mark was made";
            return Err(self.mark_error(problem.to_owned()));
        }
        Ok(())
    }
}

pub(super) fn place(name: &str, line: u64) -> String {
    format!("`{name}`, line {line}")
}

pub(super) fn failure(name: &str, line: u64, error: &io::Error) -> SourceError {
    SourceError::Read {
        place: place(name, line),
        problem: error.to_string(),
        hint: input::hint(error).to_owned(),
    }
}
