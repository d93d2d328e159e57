//! A run as a trace for chrome://tracing and Perfetto: a lane for each processor, jobs as slices, an arrow from a
//! failed attempt to the next, and counters of waiting jobs and of processors in use.
//!
//! It is made from the tables of the run. The format is Chrome's JSON of trace events; times are in microseconds.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde_json::json;
use thiserror::Error;

use super::reader::{EventRow, ReadError, RunFolder, SegmentRow};
use crate::model::{Cause, Origin};
use crate::units::{Rate, Time};

/// A trace that could not be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TraceError {
    /// A table of the run cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The trace cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
    /// The run has no segments to show.
    #[error("`{}` has no segments.csv, of which a trace is made", .0.display())]
    NoSegments(std::path::PathBuf),
}

/// The size of a trace.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceFacts {
    /// Number of slices: segments of jobs on adjacent processors.
    pub slices: u64,
    /// Number of arrows from failed attempts to the next ones.
    pub reruns: u64,
}

/// Writes the run of `folder` as a trace.
///
/// # Errors
/// [`TraceError`] for a table that cannot be read or a trace that cannot be written.
pub fn write_trace(folder: &RunFolder, mut to: impl Write) -> Result<TraceFacts, TraceError> {
    let Some(segments) = folder.segments()? else {
        return Err(TraceError::NoSegments(folder.dir().to_owned()));
    };
    to.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[")?;
    let mut trace = Trace {
        to,
        processes: BTreeMap::new(),
        last: FxHashMap::default(),
        in_use: BTreeMap::new(),
        first: true,
        facts: TraceFacts::default(),
    };
    for segment in segments {
        trace.segment(&segment?)?;
    }
    let mut waiting: BTreeMap<Arc<str>, Changes> = BTreeMap::new();
    for job in folder.jobs()? {
        let job = job?;
        let until = job.start.unwrap_or(job.end);
        let ready = job.ready();
        if until > ready {
            waiting.entry(job.site).or_default().extend([(ready, 1), (until, -1)]);
        }
    }
    for (site, mut changes) in waiting {
        trace.counter(&site, ["waiting jobs", "jobs"], &mut changes)?;
    }
    for (site, mut changes) in std::mem::take(&mut trace.in_use) {
        trace.counter(&site, ["processors in use", "processors"], &mut changes)?;
    }
    for event in folder.events()?.into_iter().flatten() {
        trace.machines(&event?)?;
    }
    trace.finish(folder)
}

/// The position of a lane: the process of a partition, and the processor as its thread.
type Lane = (u64, u32);

/// Changes of a number over time.
type Changes = Vec<(Time, i64)>;

struct Trace<W> {
    to: W,
    /// The processes of sites (without a partition) and of partitions.
    processes: BTreeMap<(Arc<str>, Option<Arc<str>>), u64>,
    /// The last attempt of each job, its lane and its end.
    last: FxHashMap<(Arc<str>, u64), (u32, Lane, Time)>,
    in_use: BTreeMap<Arc<str>, Changes>,
    first: bool,
    facts: TraceFacts,
}

impl<W: Write> Trace<W> {
    fn event(&mut self, event: &serde_json::Value) -> io::Result<()> {
        self.to.write_all(if std::mem::take(&mut self.first) { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut self.to, event).map_err(io::Error::from)
    }

    fn process(&mut self, site: &Arc<str>, partition: Option<&Arc<str>>) -> io::Result<u64> {
        let next = self.processes.len() as u64 + 1;
        let key = (Arc::clone(site), partition.cloned());
        if let Some(process) = self.processes.get(&key) {
            return Ok(*process);
        }
        let name = match partition {
            Some(partition) => format!("{site}, {partition}"),
            None => format!("{site}: counters"),
        };
        self.processes.insert(key, next);
        let order = json!({ "sort_index": next });
        for (kind, args) in [("process_name", json!({ "name": name })), ("process_sort_index", order)] {
            self.event(&json!({ "ph": "M", "name": kind, "pid": next, "args": args }))?;
        }
        Ok(next)
    }

    fn segment(&mut self, segment: &SegmentRow) -> io::Result<()> {
        if segment.processors.is_empty() || segment.from == segment.to {
            return Ok(());
        }
        let process = self.process(&segment.site, Some(&segment.partition))?;
        let name = match segment.origin {
            Origin::Local => format!("job {}", segment.job),
            Origin::Grid => format!("grid job {}", segment.job),
        };
        let (from, to) = (segment.from.micros(), segment.to.micros());
        let mut lane = None;
        for (first, last) in segment.processors.intervals() {
            lane.get_or_insert((process, first));
            let of = if first == last { format!("{first}") } else { format!("{first}-{last}") };
            let mut slice = json!({
                "name": name, "cat": segment.cause.name(), "pid": process, "tid": first,
                "args": {
                    "job": segment.job, "attempt": segment.attempt, "processors": of, "of": segment.procs,
                    "rate": segment.rate.as_f64(), "share": segment.share.as_f64(),
                },
            });
            if segment.share == Rate::FULL {
                (slice["ph"], slice["ts"], slice["dur"]) = (json!("X"), json!(from), json!(to - from));
                self.event(&slice)?;
            } else {
                // Slices of one lane must not overlap, and jobs that share a processor do, so these are asynchronous.
                slice["id"] = json!(format!("{name} {} {from}", segment.attempt));
                for (phase, at) in [("b", from), ("e", to)] {
                    (slice["ph"], slice["ts"]) = (json!(phase), json!(at));
                    self.event(&slice)?;
                }
            }
            self.facts.slices += 1;
        }
        if segment.cause != Cause::Staging {
            let procs = i64::from(segment.procs);
            let changes = self.in_use.entry(Arc::clone(&segment.site)).or_default();
            changes.extend([(segment.from, procs), (segment.to, -procs)]);
            if let Some(lane) = lane {
                self.rerun(segment, lane)?;
            }
        }
        Ok(())
    }

    /// Draws the arrow from the previous attempt of the job.
    fn rerun(&mut self, segment: &SegmentRow, lane: Lane) -> io::Result<()> {
        let owner = match segment.origin {
            Origin::Local => Arc::clone(&segment.site),
            Origin::Grid => Arc::from(""),
        };
        let before = self.last.insert((owner, segment.job), (segment.attempt, lane, segment.to));
        let Some((attempt, from_lane, ended)) = before.filter(|(last, ..)| *last < segment.attempt) else {
            return Ok(());
        };
        self.facts.reruns += 1;
        let id = self.facts.reruns;
        // An arrow is attached to the slice that contains its time.
        let ends = [("s", from_lane, ended.micros().saturating_sub(1)), ("f", lane, segment.from.micros())];
        for (phase, (process, thread), at) in ends {
            self.event(&json!({
                "ph": phase, "bp": "e", "id": id, "name": format!("attempt {} to {}", attempt, segment.attempt),
                "cat": "rerun", "pid": process, "tid": thread, "ts": at,
            }))?;
        }
        Ok(())
    }

    fn counter(&mut self, site: &Arc<str>, [name, unit]: [&str; 2], changes: &mut Changes) -> io::Result<()> {
        let process = self.process(site, None)?;
        changes.sort_unstable();
        let mut value = 0;
        for moment in changes.chunk_by(|one, next| one.0 == next.0) {
            let change: i64 = moment.iter().map(|(_, change)| change).sum();
            if change != 0 {
                value += change;
                self.event(&json!({
                    "ph": "C", "name": name, "pid": process, "ts": moment[0].0.micros(), "args": { unit: value },
                }))?;
            }
        }
        Ok(())
    }

    /// Writes an event of machines that come, leave or change speed.
    fn machines(&mut self, event: &EventRow) -> io::Result<()> {
        if event.job.is_some() {
            return Ok(());
        }
        let process = self.process(&event.site, event.partition.as_ref())?;
        self.event(&json!({
            "ph": "i", "s": "p", "name": format!("machines {}", event.event), "cat": "churn", "pid": process, "tid": 0,
            "ts": event.time.micros(),
            "args": { "machines": event.machines.to_string(), "processors": event.procs, "cause": &*event.cause },
        }))
    }

    fn finish(mut self, folder: &RunFolder) -> Result<TraceFacts, TraceError> {
        let fingerprint = folder.summary().map(|summary| summary["fingerprint"].clone());
        let about = json!({ "run": folder.title(), "fingerprint": fingerprint });
        write!(self.to, "\n],\"otherData\":{about}}}\n")?;
        self.to.flush()?;
        Ok(self.facts)
    }
}
