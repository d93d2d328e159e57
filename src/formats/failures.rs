//! Traces of failures, as archives publish them: when which machines of a real grid or cluster were down.
//!
//! ```text
//! # event_id component_id node_id platform_id node_name event_type event_start_time event_stop_time event_end_reason
//! 0  0  7  5  G1/site1/c1/node8  0  1115811139  1116857352  NULL
//! 1  0  7  5  G1/site1/c1/node8  1  1116857352  1116857835  NULL
//! ```
//!
//! Two layouts are read, and told apart by their names of columns: `event_trace.tab` of the Failure Trace Archive, in which each row is a
//! stretch in which a node was available (`event_type` 1) or not (0), and the list of Los Alamos (LA-UR-05-7318), in which each row is a
//! failure of a node. What archives publish is read as follows, and told once with counts:
//!
//! - In a file that says when nodes were available, they were down at all other times from its first instant to its last, and in any
//!   stretch that says so. In one that only has outages they were up at all other times.
//! - Outages of a node that overlap or touch are one. Stretches without length are left out, as are those that end before they begin and
//!   those that lack a time.
//! - Nodes are in the natural order of their names: `node2` before `node10`.
//! - The list of Los Alamos says how many nodes a system has: those without a failure were never down.

mod draft;
mod fta;
mod lanl;
mod natural;

use std::io::Read;

use super::FileError;
use super::input::{self, Lines};
use super::series::Times;
use crate::model::{NodeOutages, Outage};
use crate::units::{Span, Timestamp, Zone, grouped};

/// The most rows of a file that are read.
const MOST_ROWS: u64 = 100_000_000;
/// The most nodes.
const MOST_NODES: usize = 1_000_000;

/// How a file is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailureOptions {
    /// The system, of a list of several.
    pub system: Option<u32>,
    /// The zone of dates, which do not name theirs.
    pub zone: Zone,
}

/// The outages of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failures {
    /// The first instant of any row.
    pub begin: Timestamp,
    /// The last instant of any row.
    pub end: Timestamp,
    /// The nodes and their outages, which count from `begin` on.
    pub nodes: NodeOutages,
    /// What was read.
    pub facts: FailureFacts,
}

/// What was read of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailureFacts {
    /// Rows of data.
    pub rows: u64,
    /// Rows that say when a node was available.
    pub available: u64,
    /// Rows that say when a node was not.
    pub unavailable: u64,
    /// Rows that say something else, left out.
    pub other: Times,
    /// Rows without length, left out.
    pub empty: u64,
    /// Rows that end before they begin, left out.
    pub backward: Times,
    /// Rows that lack a time, left out.
    pub without_time: Times,
    /// Rows that begin before the one before of the same node ends.
    pub overlaps: Times,
    /// Rows that begin before the one before of the same node begins.
    pub disordered: Times,
    /// Nodes that are never down.
    pub sound: u64,
    /// Names of columns that mean nothing here.
    pub unknown: Vec<String>,
    /// Causes of failures, or reasons why stretches ended, that the file names, and how often.
    pub causes: Vec<(String, u64)>,
    /// The part of their time for which its nodes are up, in millionths.
    pub availability_ppm: u64,
}

/// Reads a file, plain or compressed with gzip or xz; `name` is its name in messages.
///
/// # Errors
/// [`FileError`] names the file and the line.
pub fn read(
    name: &str,
    input: Box<dyn Read + Send>,
    options: &FailureOptions,
) -> Result<Failures, FileError> {
    let input = input::unpacked(input)
        .map_err(|error| FileError::new(name, 0, error.to_string(), input::hint(&error)))?;
    let mut rows = Rows { name, lines: Lines::new(input) };
    let Some(header) = rows.next(|text| Ok(text.to_owned()))? else {
        return Err(FileError::new(name, 0, "it is empty", "fetch it again"));
    };
    if fta::is_header(&header) {
        fta::read(rows, &header, options)
    } else if lanl::is_header(&header) {
        lanl::read(rows, &header, options)
    } else {
        let hint = "`event_trace.tab` of the Failure Trace Archive begins with a line of the names of its columns, with `event_type` and `event_start_time` among them, and the list of Los Alamos with `System,...,Prob Started,Prob Fixed`";
        Err(FileError::new(name, rows.lines.number(), "it has the columns of no failure trace", hint))
    }
}

/// The rows of a file, one by one.
struct Rows<'a> {
    name: &'a str,
    lines: Lines,
}

impl Rows<'_> {
    fn fail(&self, problem: impl Into<String>, hint: impl Into<String>) -> FileError {
        FileError::new(self.name, self.lines.number(), problem, hint)
    }

    /// What `read` makes of the next line that is not blank; `None` at the end of the file.
    fn next<T>(
        &mut self,
        read: impl FnOnce(&str) -> Result<T, (String, String)>,
    ) -> Result<Option<T>, FileError> {
        let name = self.name;
        loop {
            let number = self.lines.number() + 1;
            let fail = |problem: String, hint: String| FileError::new(name, number, problem, hint);
            if number > MOST_ROWS {
                return Err(fail(format!("it has more than {MOST_ROWS} lines"), String::new()));
            }
            let next = self.lines.next();
            let next = next.map_err(|error| fail(error.to_string(), input::hint(&error).to_owned()))?;
            let Some(line) = next else { return Ok(None) };
            if line.cut {
                return Err(fail("the line has more than 65536 bytes".to_owned(), String::new()));
            }
            // Names may be in an older code than UTF-8; times and numbers are the same in all.
            let text = String::from_utf8_lossy(line.bytes);
            let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
            if text.trim().is_empty() {
                continue;
            }
            return read(text).map(Some).map_err(|(problem, hint)| fail(problem, hint));
        }
    }
}

impl FailureFacts {
    /// Nodes, rows, from when to when, availability and causes of a file of these outages.
    pub fn line(&self, nodes: &NodeOutages, begin: Timestamp, end: Timestamp) -> String {
        let (nodes, outages) = (nodes.names().len() as u64, nodes.outages().len() as u64);
        let mut line = format!(
            "{}, {} from {begin} to {end}, {}, up {} of the time",
            counted(nodes, "node", "nodes"),
            counted(self.rows, "row", "rows"),
            counted(outages, "outage", "outages"),
            percent(self.availability_ppm),
        );
        for (count, one, more) in [
            (self.sound, "node never down", "nodes never down"),
            (self.empty, "row without length", "rows without length"),
        ] {
            if count > 0 {
                line += ", ";
                line += &counted(count, one, more);
            }
        }
        if !self.causes.is_empty() {
            let causes: Vec<String> =
                self.causes.iter().map(|(cause, count)| format!("{cause} {}", grouped(*count))).collect();
            line += "; causes: ";
            line += &causes.join(", ");
        }
        line
    }

    /// What a reader of figures should know of the trace, a sentence each.
    pub fn warnings(&self) -> Vec<String> {
        let mut told = Vec::new();
        let mut tell = |of: Times, one: &str, more: &str, then: &str| {
            if of.count > 0 {
                told.push(format!("{}, the first in line {}: {then}", counted(of.count, one, more), of.line));
            }
        };
        let (one, more) = (
            "row begins before the row before it of the same node",
            "rows begin before the row before them of the same node",
        );
        let ended = |text: &str| format!("{text} has ended");
        tell(self.overlaps, &ended(one), &ended(more), "outages that overlap are one");
        tell(self.disordered, &format!("{one} begins"), &format!("{more} begins"), "they are put in order");
        tell(self.backward, "row ends before it begins", "rows end before they begin", "they are left out");
        tell(self.without_time, "row lacks a time", "rows lack a time", "they are left out");
        let what = "of another type than 0 (not available) and 1 (available)";
        tell(self.other, &format!("row is {what}"), &format!("rows are {what}"), "they are left out");
        if !self.unknown.is_empty() {
            let columns = if self.unknown.len() == 1 { "column" } else { "columns" };
            let mean = if self.unknown.len() == 1 { "means" } else { "mean" };
            told.push(format!("the {columns} `{}` {mean} nothing here", self.unknown.join("`, `")));
        }
        told
    }
}

/// A part in millionths in percent, with two decimals: all but 0 and all are told from these.
pub fn percent(ppm: u64) -> String {
    format!("{}.{:02} %", ppm / 10_000, ppm % 10_000 / 100)
}

fn counted(count: u64, one: &str, more: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { more })
}

#[cfg(test)]
mod tests;
