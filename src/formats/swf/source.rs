//! A log as a stream of jobs.

use std::io::{self, Read};

use xxhash_rust::xxh3::Xxh3;

use super::clean::{Clean, Request};
use super::cloud::Cloud;
use super::header::Header;
use super::numbers::Numbers;
use super::order::{Place, Window};
use super::row::{Row, RowError};
use super::tally::{Event, Tally};
use crate::formats::cwf::Extension;
use crate::formats::input::{self, Lines};
use crate::model::{ElasticCommand, Job, JobId, PartitionId, Predecessor, Size};
use crate::units::{Span, Time};
use crate::workload::{Mark, Source, SourceError};

/// What stands behind column 18 of a row.
#[derive(Copy, Clone, Debug)]
struct Behind {
    /// Whether column 20 is one of the cloud workload format.
    is_cloud: bool,
    /// Columns 19 to 21.
    read: Result<Extension, RowError>,
    /// Whether there are more.
    goes_on: bool,
}

impl Behind {
    fn of(rest: &[u8]) -> Self {
        Self {
            is_cloud: Extension::is_in(rest),
            read: Extension::parse(rest),
            goes_on: Extension::goes_on(rest),
        }
    }
}

/// How a log is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SwfOptions {
    /// What messages call the log: its file name.
    pub name: String,
    /// Which rows are skipped.
    pub clean: Clean,
    /// The machine's processors, for [`Clean::Strict`] and `cap`; if not given, those of the header (`MaxProcs`).
    pub machine: Option<u32>,
    /// Cut jobs larger than the machine to its size, instead of leaving it to the site to reject them.
    pub cap: bool,
    /// Only the first so many jobs, in order of submission.
    pub first: Option<u64>,
    /// Tell which job each one follows (columns 17 and 18) in [`Job::after`]. They keep their logged submissions; it is
    /// [`crate::workload::Feedback`] that replays them.
    pub feedback: bool,
    /// Bind each job to the partition of the log (column 16, where 1 is the site's first partition).
    pub partitions: bool,
    /// The log is in the cloud workload format, even if its first row does not tell (see [`crate::formats::cwf`]).
    pub cwf: bool,
    /// The input cannot be opened again (standard input), so that the source gives no marks.
    pub once: bool,
}

/// A job that is given, and its commands.
type Given = (Request, Option<Box<[ElasticCommand]>>);

/// The jobs of an SWF log, read as they are asked for: memory does not grow with the log, except for a note of each gap
/// in its job numbers.
///
/// A log in the cloud workload format is read too; see [`crate::formats::cwf`] for its commands.
///
/// Rows are put in order of submission if they stand at most some thousand rows behind their place. A row that
/// cannot be read or run is skipped and counted ([`Source::notes`]). Job numbers are those of the log; a row without
/// one is numbered by its place among the rows.
pub struct SwfSource {
    pub(super) options: SwfOptions,
    header: Header,
    lines: Lines,
    window: Window,
    pub(super) numbers: Numbers,
    pub(super) tally: Tally,
    pub(super) cloud: Cloud,
    /// Rows that could be read.
    rows: u64,
    /// The number of the last row that was no part of another, and whether its status says that more follows.
    whole: Option<(i64, bool)>,
    machine: Option<u32>,
    /// Why no more rows come: the end, or a failure that is told once the rows before it are given.
    ended: Option<Result<(), SourceError>>,
    /// Jobs given so far, and the hash of what they are.
    given: u64,
    content: Xxh3,
}

impl SwfSource {
    /// Opens a log, plain or packed with gzip, and reads its header and its first jobs.
    ///
    /// # Errors
    /// [`SourceError::Read`] if reading fails before the first job, if no row is a job, or if the options need
    /// the machine's size and neither they nor the header tell it.
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
            given: 0,
            content: Xxh3::new(),
        };
        source.fill();
        if source.window.is_empty() {
            return Err(match source.ended.take() {
                Some(Err(error)) => error,
                _ => source.no_jobs(),
            });
        }
        Ok(source)
    }

    /// What the log says of itself.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The machine's processors: those of the options, else those of the header.
    pub fn machine(&self) -> Option<u32> {
        self.machine
    }

    /// Rows that could be read so far, jobs or not. The source reads ahead of the jobs it has given.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Reads until the window is full or there is nothing more.
    fn fill(&mut self) {
        while self.ended.is_none() && !self.window.is_full() {
            match self.read_line() {
                Ok(true) => {}
                Ok(false) => self.ended = Some(Ok(())),
                Err(error) => self.ended = Some(Err(error)),
            }
        }
    }

    /// Takes in one line; false at the end of the log.
    fn read_line(&mut self) -> Result<bool, SourceError> {
        let line = match self.lines.next() {
            Ok(Some(line)) => line,
            Ok(None) => return Ok(false),
            Err(error) => return Err(failure(&self.options.name, self.lines.number(), &error)),
        };
        let bytes = line.bytes.trim_ascii_start();
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let number = line.number;
        match bytes.first() {
            None => {}
            Some(b';') if self.rows == 0 => self.header.add(number, bytes),
            Some(b';') => {}
            Some(_) => match Row::parse_with_rest(bytes) {
                Ok((row, rest)) if !line.cut => {
                    // Nothing stands behind the rows of nearly all logs.
                    let behind = match rest {
                        [] => None,
                        rest => Some(Behind::of(rest)),
                    };
                    self.take_in(&row, behind, number)?;
                }
                Ok(_) => self.tally.unreadable(RowError::TooLong, number),
                Err(error) => self.tally.unreadable(error, number),
            },
        }
        Ok(true)
    }

    /// Takes in a row. `behind` is what stands behind its column 18, if anything does.
    fn take_in(&mut self, row: &Row, behind: Option<Behind>, line: u64) -> Result<(), SourceError> {
        let is_cloud = behind.is_some_and(|behind| behind.is_cloud);
        if self.rows == 0 {
            self.begin(line)?;
            self.options.cwf |= is_cloud;
        }
        self.rows += 1;
        let behind = behind.filter(|_| self.options.cwf);
        if behind.is_some_and(|behind| behind.goes_on && behind.read.is_ok()) {
            self.tally.add(Event::Beyond, line);
        }
        let start = match behind.map(|behind| behind.read) {
            None if is_cloud => return Err(self.mixed(line)),
            None => -1,
            Some(Ok(Extension::Job { start })) => start,
            Some(Ok(Extension::Command(change))) => {
                self.hear(row, change, line);
                return Ok(());
            }
            Some(Err(error)) => {
                self.tally.extension(error, line);
                return Ok(());
            }
        };
        if self.is_part(row, line) {
            self.tally.add(Event::Part, line);
            return Ok(());
        }
        let mut request = match self.options.clean.request(row, self.machine, line, &mut self.tally) {
            Ok(request) => request,
            Err(event) => {
                self.tally.add(event, line);
                return Ok(());
            }
        };
        request.start = start;
        if (0..request.submit as i64).contains(&start) {
            self.tally.add(Event::EarlyStart, line);
        }
        if let Some(machine) = self.machine.filter(|machine| self.options.cap && request.procs > *machine) {
            self.tally.add(Event::Capped, line);
            request.procs = machine;
        }
        let (id, free) = self.numbers.give(u64::try_from(row.number).unwrap_or(self.rows), line);
        request.id = id;
        if !free {
            self.tally.add(Event::Repeated, line);
        }
        match self.window.push(request) {
            Place::InOrder => {}
            Place::Sorted => self.tally.add(Event::Sorted, line),
            Place::Late => self.tally.add(Event::Late, line),
        }
        Ok(())
    }

    /// The header is complete: settles what depends on it.
    fn begin(&mut self, line: u64) -> Result<(), SourceError> {
        self.machine = self.options.machine.or(self.header.max_procs());
        let needs_machine = self.options.cap || self.options.clean == Clean::Strict;
        if needs_machine && self.machine.is_none() {
            return Err(SourceError::Read {
                place: place(&self.options.name, line),
                problem: "the header does not tell the machine's processors (`MaxProcs`), and without them larger jobs \
                          are not known"
                    .to_owned(),
                hint: "give the number of processors".to_owned(),
            });
        }
        Ok(())
    }

    /// Whether a row tells a part of the job before it. The standard gives a job that ran in parts (status 2 to 4)
    /// one row as a whole and then a row a part, all with the same number. The number decides: Sandia-Ross has
    /// exit codes for status, so that a 2 alone does not make a part.
    fn is_part(&mut self, row: &Row, line: u64) -> bool {
        if let Some((number, more)) = &mut self.whole
            && *number == row.number
            && row.number >= 0
            && matches!(row.status, 2..=4)
        {
            if *more {
                self.tally.add(Event::PartsOnly, line);
                *more = false;
            }
            return true;
        }
        self.whole = Some((row.number, row.status == 2));
        false
    }

    fn no_jobs(&self) -> SourceError {
        let (problem, hint) = if self.rows > 0 {
            let notes = self.tally.notes().join("; ");
            (format!("no row is a job that can be run: {notes}"), "")
        } else if self.lines.number() == 0 {
            ("the file is empty".to_owned(), "fetch it again")
        } else {
            let notes = self.tally.notes().join("; ");
            let why = if notes.is_empty() { notes } else { format!(": {notes}") };
            (
                format!("no row is a job in SWF{why}"),
                "a row has 18 numbers; see https://www.cs.huji.ac.il/labs/parallel/workload/swf.html",
            )
        };
        SourceError::Read { place: format!("`{}`", self.options.name), problem, hint: hint.to_owned() }
    }

    fn is_done(&self) -> bool {
        self.options.first.is_some_and(|first| self.given >= first)
    }

    /// The next job of the log, whether it is to be given or not.
    pub(super) fn next_row(&mut self) -> Result<Option<Request>, SourceError> {
        self.fill();
        match (self.window.pop(), &self.ended) {
            (None, Some(Err(error))) => Err(error.clone()),
            (request, _) => Ok(request),
        }
    }

    fn next_request(&mut self) -> Result<Option<Given>, SourceError> {
        if self.is_done() {
            return Ok(None);
        }
        let Some(request) = self.next_row()? else { return Ok(None) };
        self.given += 1;
        self.hash(&request);
        let commands = self.commands_of(&request);
        self.hash_cloud(request.start, commands.as_deref());
        Ok(Some((request, commands)))
    }

    fn hash(&mut self, request: &Request) {
        let Request { id, submit, run, estimate, wait, preceding, think, .. } = *request;
        let Request { procs, user, group, executable, queue, partition, .. } = *request;
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

    /// What SWF does not have; nothing for a plain job, so that the hash of a plain log is that of its 18 columns.
    fn hash_cloud(&mut self, start: i64, commands: Option<&[ElasticCommand]>) {
        if start >= 0 {
            self.content.update(&start.to_le_bytes());
        }
        if let Some(commands) = commands {
            // Nothing in a command cannot be written.
            self.content.update(&postcard::to_stdvec(commands).unwrap_or_default());
        }
    }

    pub(super) fn job(&self, request: &Request, elastic: Option<Box<[ElasticCommand]>>) -> Job {
        let known = |micros: i64| u64::try_from(micros).ok().map(Span::from_micros);
        let preceding = u64::try_from(request.preceding).ok().filter(|job| *job > 0 && self.options.feedback);
        let partition = u32::try_from(request.partition).ok().filter(|n| *n > 0 && self.options.partitions);
        Job {
            id: JobId(request.id),
            submit: Time::from_micros(request.submit),
            size: Size::Rigid(request.procs),
            runtime: Span::from_micros(request.run),
            estimate: Span::from_micros(request.estimate),
            user: request.user,
            group: request.group,
            executable: request.executable,
            queue: request.queue,
            partition: partition.map(|n| PartitionId(n - 1)),
            after: preceding.map(|job| Predecessor {
                job: JobId(job),
                think: known(request.think).unwrap_or(Span::ZERO),
            }),
            recorded_wait: known(request.wait),
            grid: None,
            requested_start: u64::try_from(request.start)
                .ok()
                .map(|start| Time::from_micros(start.max(request.submit))),
            elastic,
            deadline: None,
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
        Ok(self.next_request()?.map(|(request, commands)| self.job(&request, commands)))
    }

    fn notes(&self) -> Vec<String> {
        self.tally.notes().into_iter().chain(self.cloud.note()).collect()
    }

    fn mark(&self) -> Option<Mark> {
        let mark = || Mark { position: self.given, content: self.content.digest128(), state: Vec::new() };
        (!self.options.once).then(mark)
    }

    /// Reads the log again up to the mark. What is read ahead and counted is a function of the jobs given, so that the mark
    /// needs no more than their number and hash.
    fn seek(&mut self, mark: &Mark) -> Result<(), SourceError> {
        if self.given > mark.position {
            return Err(self.mark_error(format!("it is at job {} already, past the mark", self.given)));
        }
        while self.given < mark.position {
            if self.next_request()?.is_none() {
                let problem = format!("the mark is at job {}, but there are {}", mark.position, self.given);
                return Err(self.mark_error(problem));
            }
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
