//! From the lines of a log to the requests in the window.

use super::{SwfSource, failure, place};
use crate::formats::cwf::Extension;
use crate::formats::swf::clean::Clean;
use crate::formats::swf::order::Place;
use crate::formats::swf::row::{Row, RowError};
use crate::formats::swf::tally::Event;
use crate::workload::SourceError;

/// What follows column 18 of a row.
#[derive(Copy, Clone, Debug)]
struct Behind {
    /// Whether column 20 has a code of the cloud workload format.
    is_cloud: bool,
    /// Columns 19 to 21.
    read: Result<Extension, RowError>,
    /// Whether further columns follow.
    goes_on: bool,
}

impl Behind {
    #[cold]
    fn of(rest: &[u8]) -> Self {
        Self {
            is_cloud: Extension::is_in(rest),
            read: Extension::parse(rest),
            goes_on: Extension::goes_on(rest),
        }
    }
}

impl SwfSource {
    /// Reads until the window is full or the log ends.
    pub(super) fn fill(&mut self) {
        while self.ended.is_none() && !self.window.is_full() {
            self.read_on();
        }
    }

    /// Reads a line.
    pub(super) fn read_on(&mut self) {
        match self.read_line() {
            Ok(true) => {}
            Ok(false) => self.ended = Some(Ok(())),
            Err(error) => self.ended = Some(Err(error)),
        }
    }

    /// Processes one line; false at the end of the log.
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
                    // In nearly all logs nothing follows the 18 columns.
                    let behind = if rest.is_empty() { None } else { Some(Behind::of(rest)) };
                    self.take_in(&row, behind, number)?;
                }
                Ok(_) => self.tally.unreadable(RowError::TooLong, number),
                Err(error) => self.tally.unreadable(error, number),
            },
        }
        Ok(true)
    }

    /// Processes a row, and what follows its column 18, if anything.
    fn take_in(&mut self, row: &Row, behind: Option<Behind>, line: u64) -> Result<(), SourceError> {
        if self.rows == 0 {
            self.begin(line)?;
            self.options.cwf |= behind.as_ref().is_some_and(|behind| behind.is_cloud);
        }
        self.rows += 1;
        let start = match behind {
            None => Some(-1),
            Some(behind) => self.extend(row, &behind, line)?,
        };
        let Some(start) = start else { return Ok(()) };
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

    /// The requested start of a row, −1 if none; `None` if the row is not a job.
    #[cold]
    fn extend(&mut self, row: &Row, behind: &Behind, line: u64) -> Result<Option<i64>, SourceError> {
        if !self.options.cwf {
            return if behind.is_cloud { Err(self.mixed(line)) } else { Ok(Some(-1)) };
        }
        if behind.goes_on && behind.read.is_ok() {
            self.tally.add(Event::Beyond, line);
        }
        match behind.read {
            Ok(Extension::Job { start }) => Ok(Some(start)),
            Ok(Extension::Command(change)) => {
                self.command(row, change, line);
                Ok(None)
            }
            Err(error) => {
                self.tally.extension(error, line);
                Ok(None)
            }
        }
    }

    /// Determines what depends on the header, which is complete.
    fn begin(&mut self, line: u64) -> Result<(), SourceError> {
        self.machine = self.options.machine.or(self.header.max_procs());
        let needs_machine = self.options.cap || self.options.clean == Clean::Strict;
        if needs_machine && self.machine.is_none() {
            return Err(SourceError::Read {
                place: place(&self.options.name, line),
                problem: "the header does not give the number of processors (`MaxProcs`), which is needed to find jobs \
                          that are too large"
                    .to_owned(),
                hint: "give the number of processors".to_owned(),
            });
        }
        Ok(())
    }

    /// Whether a row is a part of the job before it. The standard gives a job that ran in parts (status 2 to 4) one
    /// row as a whole and then one for each part, all with the same number. The number decides: Sandia-Ross has exit
    /// codes as status, so a 2 alone does not make a part.
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

    /// The error that no row is a job that can be run.
    pub(super) fn no_jobs(&self) -> SourceError {
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
}
