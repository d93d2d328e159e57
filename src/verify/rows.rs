//! The tables of a folder merged into one stream in order of time.

use std::iter::Peekable;

use crate::output::{EventRow, FolderKind, JobRow, ReadError, RunFolder, SegmentRow};
use crate::units::{Span, Time};
use crate::verify::Columns;

/// Number of rows between two calls of [`Checker::forget_before`](super::Checker::forget_before).
pub(crate) const STRIDE: u64 = 1_024;

/// A row of one of the tables.
pub(crate) enum Rowed {
    Event(EventRow),
    Segment(SegmentRow),
    Job(Box<JobRow>),
}

type Stream<T> = Peekable<Box<dyn Iterator<Item = Result<T, ReadError>>>>;

/// The tables, merged.
pub(crate) struct Tables {
    events: Option<Stream<EventRow>>,
    segments: Option<Stream<SegmentRow>>,
    jobs: Stream<JobRow>,
    jobs_file: &'static str,
    /// Number of rows read of the table that [`Lows`] refers to.
    taken: u64,
    last: Time,
}

/// For each block of rows, the earliest beginning in it and in all later blocks.
pub(crate) struct Lows(Vec<Time>);

impl Lows {
    /// The earliest beginning in all rows after this number of blocks.
    pub(crate) fn at(&self, stretches: u64) -> Time {
        usize::try_from(stretches).ok().and_then(|at| self.0.get(at)).copied().unwrap_or(Time::NEVER)
    }
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
            taken: 0,
            last: Time::ZERO,
        })
    }

    pub(crate) const fn has_segments(&self) -> bool {
        self.segments.is_some()
    }

    pub(crate) const fn has_events(&self) -> bool {
        self.events.is_some()
    }

    pub(crate) const fn jobs_file(&self) -> &'static str {
        self.jobs_file
    }

    /// The time of the latest row so far.
    pub(crate) const fn last(&self) -> Time {
        self.last
    }

    /// Number of blocks read of the table of [`Lows`].
    pub(crate) const fn blocks_done(&self) -> u64 {
        self.taken / STRIDE
    }

    /// Reads through the table that has the processors of jobs, for the beginnings of its rows: with them a long
    /// table can be checked while only what runs is kept in memory.
    pub(crate) fn lows(&self, folder: &RunFolder) -> Result<Lows, ReadError> {
        let mut lows = Vec::new();
        let mut note = |at: usize, from: Time| {
            if at.is_multiple_of(STRIDE as usize) {
                lows.push(from);
            } else if let Some(low) = lows.last_mut() {
                *low = from.min(*low);
            }
        };
        match folder.segments()? {
            Some(rows) => {
                for (at, row) in rows.enumerate() {
                    note(at, row?.from);
                }
            }
            None => {
                let mut begins: Vec<(Time, u64, Time)> = Vec::new();
                for (at, row) in folder.jobs()?.enumerate() {
                    let row = row?;
                    let from = row.start.unwrap_or(row.end);
                    if folder.kind() == FolderKind::Batsim {
                        begins.push((row.end, row.line, from));
                    } else {
                        note(at, from);
                    }
                }
                begins.sort_unstable();
                begins.into_iter().enumerate().for_each(|(at, (.., from))| note(at, from));
            }
        }
        let mut least = Time::NEVER;
        for low in lows.iter_mut().rev() {
            least = least.min(*low);
            *low = least;
        }
        Ok(Lows(lows))
    }

    /// The next row, and its time: of rows at one time events come first, then segments, then jobs.
    pub(crate) fn next(&mut self) -> Result<Option<(Rowed, Time)>, ReadError> {
        let event = head(self.events.as_mut(), |row| row.time)?;
        let segment = head(self.segments.as_mut(), |row| row.to)?;
        let job = head(Some(&mut self.jobs), |row| row.end)?;
        let heads = [(event, 0), (segment, 1), (job, 2)];
        let first = heads.into_iter().filter_map(|(time, which)| time.map(|time| (time, which))).min();
        let Some((time, which)) = first else { return Ok(None) };
        self.last = self.last.max(time);
        let row = match which {
            0 => self.events.as_mut().and_then(Iterator::next).transpose()?.map(Rowed::Event),
            1 => {
                self.taken += 1;
                self.segments.as_mut().and_then(Iterator::next).transpose()?.map(Rowed::Segment)
            }
            _ => {
                self.taken += u64::from(self.segments.is_none());
                self.jobs.next().transpose()?.map(|job| Rowed::Job(Box::new(job)))
            }
        };
        Ok(row.map(|row| (row, time)))
    }
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

/// The columns of a row that follow from the others.
pub(crate) fn columns(row: &JobRow, tau: Option<f64>, batsim: bool) -> Columns {
    Columns {
        wait: row.wait,
        response: row.response,
        bsld: row.bsld,
        tau: tau.and_then(Span::from_secs_f64).filter(|_| !batsim),
        // Batsim truncates decimals.
        slack: Span::from_micros(if batsim { 2 } else { 0 }),
        run_is_span: batsim,
    }
}
