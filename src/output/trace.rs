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
pub fn write_trace(folder: &RunFolder, to: impl Write) -> Result<TraceFacts, TraceError> {
    let Some(segments) = folder.segments()? else {
        return Err(TraceError::NoSegments(folder.dir().to_owned()));
    };
    let mut trace = Trace::new(to)?;
    for segment in segments {
        trace.segment(&segment?)?;
    }
    let mut waiting: BTreeMap<Arc<str>, Vec<(Time, i64)>> = BTreeMap::new();
    for job in folder.jobs()? {
        let job = job?;
        let until = job.start.unwrap_or(job.end);
        let ready = job.ready();
        if until > ready {
            waiting.entry(job.site).or_default().extend([(ready, 1), (until, -1)]);
        }
    }
    for (site, changes) in waiting {
        trace.counter(&site, "waiting jobs", "jobs", changes)?;
    }
    for (site, changes) in std::mem::take(&mut trace.in_use) {
        trace.counter(&site, "processors in use", "processors", changes)?;
    }
    for event in folder.events()?.into_iter().flatten() {
        trace.happened(&event?)?;
    }
    trace.finish(folder)
}

/// The position of a lane: the process of a partition, and the processor as its thread.
type Lane = (u64, u32);

struct Trace<W> {
    to: W,
    /// The processes of sites (without a partition) and of partitions.
    processes: BTreeMap<(Arc<str>, Option<Arc<str>>), u64>,
    /// The last attempt of each job, its lane and its end.
    last: FxHashMap<(Arc<str>, u64), (u32, Lane, Time)>,
    in_use: BTreeMap<Arc<str>, Vec<(Time, i64)>>,
    first: bool,
    facts: TraceFacts,
}

impl<W: Write> Trace<W> {
    fn new(mut to: W) -> io::Result<Self> {
        to.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[")?;
        Ok(Self {
            to,
            processes: BTreeMap::new(),
            last: FxHashMap::default(),
            in_use: BTreeMap::new(),
            first: true,
            facts: TraceFacts::default(),
        })
    }

    fn event(&mut self, event: &serde_json::Value) -> io::Result<()> {
        self.to.write_all(if self.first { b"\n" } else { b",\n" })?;
        self.first = false;
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
        self.event(&json!({ "ph": "M", "name": "process_name", "pid": next, "args": { "name": name } }))?;
        self.event(
            &json!({ "ph": "M", "name": "process_sort_index", "pid": next, "args": { "sort_index": next } }),
        )?;
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
        let alone = segment.share == Rate::FULL;
        let mut lane = None;
        for interval in segment.processors.intervals() {
            let (first, last) = (interval.0, interval.1);
            lane.get_or_insert((process, first));
            let of = if first == last { format!("{first}") } else { format!("{first}-{last}") };
            let args = json!({
                "job": segment.job, "attempt": segment.attempt, "processors": of, "of": segment.procs,
                "rate": segment.rate.as_f64(), "share": segment.share.as_f64(),
            });
            let (name, cause) = (name.as_str(), segment.cause.name());
            if alone {
                let slice = json!({
                    "ph": "X", "name": name, "cat": cause, "pid": process, "tid": first, "ts": from,
                    "dur": to - from, "args": args,
                });
                self.event(&slice)?;
            } else {
                // Slices of one lane must not overlap, and jobs that share a processor do, so these are asynchronous.
                let id = format!("{name} {} {from}", segment.attempt);
                for (phase, at) in [("b", from), ("e", to)] {
                    let half = json!({
                        "ph": phase, "name": name, "cat": cause, "id": id, "pid": process, "tid": first, "ts": at,
                        "args": args,
                    });
                    self.event(&half)?;
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
        let key = (owner, segment.job);
        let before = self.last.insert(key, (segment.attempt, lane, segment.to));
        let Some((attempt, from_lane, ended)) = before.filter(|(attempt, ..)| *attempt < segment.attempt)
        else {
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

    fn counter(
        &mut self,
        site: &Arc<str>,
        name: &str,
        unit: &str,
        mut changes: Vec<(Time, i64)>,
    ) -> io::Result<()> {
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
    fn happened(&mut self, event: &EventRow) -> io::Result<()> {
        if event.job.is_some() {
            return Ok(());
        }
        let process = self.process(&event.site, event.partition.as_ref())?;
        let mut machines = Vec::new();
        event.machines.write_intervals(&mut machines);
        self.event(&json!({
            "ph": "i", "s": "p", "name": format!("machines {}", event.event), "cat": "churn", "pid": process, "tid": 0,
            "ts": event.time.micros(),
            "args": { "machines": String::from_utf8_lossy(&machines), "processors": event.procs, "cause": &*event.cause },
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
