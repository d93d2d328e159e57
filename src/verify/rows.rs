//! The tables of a folder merged into one stream in order of time.

use std::iter::Peekable;

use crate::output::{EventRow, FolderKind, JobRow, ReadError, RunFolder, SegmentRow};
use crate::units::Time;

/// Number of rows between two calls of [`Checker::forget_before`](super::Checker::forget_before).
pub(crate) const STRIDE: u64 = 1_024;

/// A row of one of the tables.
pub(crate) enum TableRow {
    Event(EventRow),
    Segment(SegmentRow),
    Job(Box<JobRow>),
}

type Stream<T> = Peekable<Box<dyn Iterator<Item = Result<T, ReadError>>>>;

/// The tables, merged.
pub(crate) struct Tables {
    pub(crate) events: Option<Stream<EventRow>>,
    pub(crate) segments: Option<Stream<SegmentRow>>,
    jobs: Stream<JobRow>,
    /// The file of the jobs.
    pub(crate) jobs_file: &'static str,
    /// For each block of rows of the table that has the processors of jobs, the earliest beginning in it and in all
    /// later blocks.
    begins: Vec<Time>,
    /// Number of rows read of that table.
    taken: u64,
    /// The time of the latest row so far.
    pub(crate) last: Time,
}

fn stream<T: 'static>(rows: impl Iterator<Item = Result<T, ReadError>> + 'static) -> Stream<T> {
    let boxed: Box<dyn Iterator<Item = Result<T, ReadError>>> = Box::new(rows);
    boxed.peekable()
}

impl Tables {
    /// Opens the tables.
    pub(crate) fn open(folder: &RunFolder) -> Result<Self, ReadError> {
        let batsim = folder.kind() == FolderKind::Batsim;
        let jobs = if batsim {
            // Batsim's table may be in any order.
            let mut rows: Vec<JobRow> = folder.jobs()?.collect::<Result<_, _>>()?;
            rows.sort_by_key(|row| (row.end, row.line));
            stream(rows.into_iter().map(Ok))
        } else {
            stream(folder.jobs()?)
        };
        Ok(Self {
            events: folder.events()?.map(stream),
            segments: folder.segments()?.map(stream),
            jobs,
            jobs_file: if batsim { "out_jobs.csv" } else { "jobs.csv" },
            begins: begins(folder)?,
            taken: 0,
            last: Time::ZERO,
        })
    }

    /// The earliest beginning in the blocks of rows that are not read to their end.
    pub(crate) fn next_begin(&self) -> Time {
        let block = usize::try_from(self.taken / STRIDE).ok();
        block.and_then(|at| self.begins.get(at)).copied().unwrap_or(Time::NEVER)
    }

    /// The next row, and its time: of rows at one time events come first, then segments, then jobs.
    pub(crate) fn next(&mut self) -> Result<Option<(TableRow, Time)>, ReadError> {
        let event = head(self.events.as_mut(), |row| row.time)?;
        let segment = head(self.segments.as_mut(), |row| row.to)?;
        let job = head(Some(&mut self.jobs), |row| row.end)?;
        let heads = [(event, 0), (segment, 1), (job, 2)];
        let first = heads.into_iter().filter_map(|(time, which)| time.map(|time| (time, which))).min();
        let Some((time, which)) = first else { return Ok(None) };
        self.last = self.last.max(time);
        let row = match which {
            0 => self.events.as_mut().and_then(Iterator::next).transpose()?.map(TableRow::Event),
            1 => {
                self.taken += 1;
                self.segments.as_mut().and_then(Iterator::next).transpose()?.map(TableRow::Segment)
            }
            _ => {
                self.taken += u64::from(self.segments.is_none());
                self.jobs.next().transpose()?.map(|job| TableRow::Job(Box::new(job)))
            }
        };
        Ok(row.map(|row| (row, time)))
    }
}

/// Reads through the table that has the processors of jobs, for the beginnings of its rows: with them a long table can
/// be checked while only what runs is kept in memory.
fn begins(folder: &RunFolder) -> Result<Vec<Time>, ReadError> {
    let mut begins = Vec::new();
    let mut note = |at: usize, from: Time| {
        if at.is_multiple_of(STRIDE as usize) {
            begins.push(from);
        } else if let Some(least) = begins.last_mut() {
            *least = from.min(*least);
        }
    };
    if let Some(rows) = folder.segments()? {
        for (at, row) in rows.enumerate() {
            note(at, row?.from);
        }
    } else {
        let mut sorted: Vec<(Time, u64, Time)> = Vec::new();
        for (at, row) in folder.jobs()?.enumerate() {
            let row = row?;
            let from = row.start.unwrap_or(row.end);
            if folder.kind() == FolderKind::Batsim {
                sorted.push((row.end, row.line, from));
            } else {
                note(at, from);
            }
        }
        sorted.sort_unstable();
        sorted.into_iter().enumerate().for_each(|(at, (.., from))| note(at, from));
    }
    let mut least = Time::NEVER;
    for begin in begins.iter_mut().rev() {
        least = least.min(*begin);
        *begin = least;
    }
    Ok(begins)
}

/// The time of the next row of a table; an error if it cannot be read.
fn head<T>(rows: Option<&mut Stream<T>>, time: fn(&T) -> Time) -> Result<Option<Time>, ReadError> {
    let Some(rows) = rows else { return Ok(None) };
    match rows.peek() {
        None => Ok(None),
        Some(Ok(row)) => Ok(Some(time(row))),
        Some(Err(_)) => match rows.next() {
            Some(Err(error)) => Err(error),
            _ => Ok(None),
        },
    }
}
