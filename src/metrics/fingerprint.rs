//! The fingerprint of a run: the same records give the same fingerprint, in any order.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use thiserror::Error;
use xxhash_rust::xxh3::xxh3_128;

use crate::model::{
    Booked, Elastic, EventCause, EventRecord, JobRecord, Limits, Origin, Outcome, ProcSet, Record,
    RejectReason, ResponseParts, SegmentRecord, Suspension, TaskRecord, TransferRecord, WorkflowBounds,
    WorkflowRecord, saved_as_text,
};
use crate::units::Time;

/// The version of the encoding below, which is raised whenever it changes; every fingerprint changes with it.
const VERSION: u8 = 1;

/// Count and sum modulo 2¹²⁸ of the xxh3-128 hashes of the records of jobs, segments, events, tasks and workflows.
///
/// A sum does not depend on an order, so fingerprints of parts [merge](Fingerprint::merge) to the fingerprint of the
/// whole, and a resumed run continues from the one in its snapshot. Each record is hashed in its own encoding
/// (fixed-width little-endian fields behind a version byte), which no change of a serializer can affect. Changes of
/// machine state are not part of it: whether they are recorded is a choice of the run. An origin of [`Origin::Local`]
/// adds no byte, so a site alone keeps its fingerprint.
///
/// Written as `count:sum`, the sum in 32 hexadecimal digits.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fingerprint {
    count: u64,
    sum: u128,
}

/// A text that is not a fingerprint.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not a fingerprint (`count:sum`, the sum in 32 hexadecimal digits)")]
pub struct FingerprintError(String);

impl Fingerprint {
    /// The fingerprint of no records.
    pub const fn new() -> Self {
        Self { count: 0, sum: 0 }
    }

    /// Number of records so far.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Adds a record; a record of machine state, of a front, a slice or a group changes nothing, because a run may leave them out.
    pub fn add(&mut self, record: &Record) {
        match record {
            Record::Job(job) => self.add_job(job),
            Record::Segment(segment) => self.add_segment(segment),
            Record::Event(event) => self.add_event(event),
            Record::Task(task) => self.add_task(task),
            Record::Workflow(workflow) => self.add_workflow(workflow),
            Record::Transfer(transfer) => self.add_transfer(transfer),
            Record::Machine(_)
            | Record::Front(_)
            | Record::Coallocation(_)
            | Record::Slice(_)
            | Record::Group(_) => {}
        }
    }

    /// Adds a job.
    pub fn add_job(&mut self, job: &JobRecord) {
        let mut fields = Fields::<128>::new(b'J');
        fields.put(job.id.0.to_le_bytes());
        fields.put(job.site.0.to_le_bytes());
        fields.put(job.partition.0.to_le_bytes());
        fields.put(job.user.to_le_bytes());
        fields.put(job.submit.micros().to_le_bytes());
        fields.put_option(job.start.map(|start| start.micros()));
        fields.put(job.end.micros().to_le_bytes());
        fields.put(job.requested.to_le_bytes());
        fields.put(job.procs.to_le_bytes());
        fields.put(outcome_code(job.outcome));
        fields.put(job.run.micros().to_le_bytes());
        fields.put(job.estimate.micros().to_le_bytes());
        fields.put(job.attempts.to_le_bytes());
        fields.put(job.energy.nanojoules().to_le_bytes());
        fields.put(job.cost.nanos().to_le_bytes());
        fields.put_option(job.recorded_wait.map(|wait| wait.micros()));
        fields.put_sent(job.origin);
        if let Some(start) = job.requested_start {
            fields.put([b'D']);
            fields.put(start.micros().to_le_bytes());
        }
        self.add_limited(xxh3_128(fields.bytes()), job.limits.as_deref());
    }

    /// Adds a segment. Its processors are hashed as maximal intervals, so that equal sets hash equal in any
    /// representation.
    pub fn add_segment(&mut self, segment: &SegmentRecord) {
        let mut fields = Fields::<128>::new(b'S');
        fields.put(segment.job.0.to_le_bytes());
        fields.put(segment.attempt.to_le_bytes());
        fields.put(segment.site.0.to_le_bytes());
        fields.put(segment.partition.0.to_le_bytes());
        fields.put(segment.from.micros().to_le_bytes());
        fields.put(segment.to.micros().to_le_bytes());
        fields.put(segment.rate.units().to_le_bytes());
        fields.put(segment.share.units().to_le_bytes());
        fields.put([segment.cause as u8]);
        fields.put(segment.energy.nanojoules().to_le_bytes());
        fields.put(segment.cost.nanos().to_le_bytes());
        fields.put_sent(segment.origin);
        self.add_hash(fields.hash_with(&segment.procs));
    }

    /// Adds an event.
    pub fn add_event(&mut self, event: &EventRecord) {
        let mut fields = Fields::<128>::new(b'E');
        fields.put(event.time.micros().to_le_bytes());
        fields.put([event.kind as u8]);
        fields.put(cause_code(event.cause));
        fields.put(event.site.0.to_le_bytes());
        fields.put_option(event.partition.map(|partition| u64::from(partition.0)));
        fields.put(event.procs.to_le_bytes());
        fields.put_option(event.job.map(|job| job.0));
        fields.put([event.origin as u8]);
        fields.put(event.attempt.to_le_bytes());
        fields.put(event.wasted.to_le_bytes());
        fields.put_option(event.since_failure.map(|since| since.micros()));
        if let Some(command) = event.command {
            let (kind, amount) = match command {
                Elastic::ExtendTime(by) => (0, by.micros()),
                Elastic::ReduceTime(by) => (1, by.micros()),
                Elastic::ExtendProcs(by) => (2, u64::from(by)),
                Elastic::ReduceProcs(by) => (3, u64::from(by)),
            };
            fields.put([b'C', kind]);
            fields.put(amount.to_le_bytes());
        }
        if let Some(Booked { name, during }) = event.booked.as_deref() {
            fields.put([b'B']);
            fields.put_option(during.map(|(from, _)| from.micros()));
            fields.put_option(during.map(|(_, to)| to.micros()));
            fields.put((name.len() as u64).to_le_bytes());
            name.bytes().for_each(|byte| fields.put([byte]));
        }
        if let Some(Suspension { number, by, factors: (ours, theirs), lasted }) = event.suspension.as_deref()
        {
            fields.put([b'P']);
            fields.put(number.to_le_bytes());
            fields.put_option(by.map(|by| by.number.0));
            fields.put(ours.to_le_bytes());
            fields.put(theirs.to_le_bytes());
            fields.put_option(lasted.map(|span| span.micros()));
        }
        self.add_hash(fields.hash_with(&event.machines));
    }

    /// Adds a task of a workflow, without its name and its type.
    pub fn add_task(&mut self, task: &TaskRecord) {
        let mut fields = Fields::<128>::new(b'T');
        fields.put(task.workflow.0.to_le_bytes());
        fields.put(task.job.0.to_le_bytes());
        fields.put(task.site.0.to_le_bytes());
        fields.put(task.partition.0.to_le_bytes());
        fields.put_option(task.after.map(|job| job.0));
        let times = [task.ready, task.decided, task.sent, task.queued, task.start, task.last_start];
        times.into_iter().for_each(|time| fields.put_option(time.map(Time::micros)));
        fields.put(task.end.micros().to_le_bytes());
        fields.put(task.known.micros().to_le_bytes());
        fields.put(outcome_code(task.outcome));
        fields.put(task.attempts.to_le_bytes());
        self.add_hash(xxh3_128(fields.bytes()));
    }

    /// Adds a workflow, without its name, and without what was moved and charged: records of copies and jobs have that.
    pub fn add_workflow(&mut self, workflow: &WorkflowRecord) {
        let mut fields = Fields::<128>::new(b'W');
        fields.put(workflow.workflow.0.to_le_bytes());
        fields.put(workflow.submit.micros().to_le_bytes());
        fields.put(workflow.end.micros().to_le_bytes());
        fields.put(outcome_code(workflow.outcome));
        fields.put(workflow.tasks.to_le_bytes());
        fields.put(workflow.completed.to_le_bytes());
        fields.put(workflow.attempts.to_le_bytes());
        fields.put(workflow.critical_path.micros().to_le_bytes());
        let WorkflowBounds { fastest_path, work, alone } = workflow.bounds;
        [fastest_path, work, alone].into_iter().for_each(|span| fields.put(span.micros().to_le_bytes()));
        fields.put(workflow.peak.to_le_bytes());
        fields.put_option(workflow.last.map(|job| job.0));
        let parts = workflow.parts.iter().flat_map(ResponseParts::each);
        parts.for_each(|part| fields.put(part.micros().to_le_bytes()));
        self.add_limited(xxh3_128(fields.bytes()), workflow.limits.as_deref());
    }

    /// Adds a copy of a file, without its name.
    pub fn add_transfer(&mut self, transfer: &TransferRecord) {
        let mut fields = Fields::<128>::new(b'X');
        fields.put(transfer.workflow.0.to_le_bytes());
        fields.put(transfer.bytes.count().to_le_bytes());
        fields.put(transfer.from.0.to_le_bytes());
        fields.put(transfer.to.0.to_le_bytes());
        fields.put(transfer.job.0.to_le_bytes());
        fields.put(transfer.asked.micros().to_le_bytes());
        fields.put_option(transfer.began.map(|began| began.micros()));
        fields.put(transfer.end.micros().to_le_bytes());
        fields.put([transfer.outcome as u8]);
        self.add_hash(xxh3_128(fields.bytes()));
    }

    /// Adds everything that `other` has collected.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum = self.sum.wrapping_add(other.sum);
    }

    /// Adds the hash of a job or a workflow, with its limits if it has any.
    fn add_limited(&mut self, hash: u128, limits: Option<&Limits>) {
        let Some(limits) = limits else { return self.add_hash(hash) };
        let mut fields = Fields::<128>::new(b'L');
        fields.put(hash.to_le_bytes());
        fields.put_option(limits.deadline.map(Time::micros));
        fields.put([u8::from(limits.budget.is_some())]);
        fields.put(limits.budget.unwrap_or_default().nanos().to_le_bytes());
        self.add_hash(xxh3_128(fields.bytes()));
    }

    fn add_hash(&mut self, hash: u128) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(hash);
    }
}

const fn reason_code(reason: RejectReason) -> u8 {
    match reason {
        RejectReason::TooLarge => 1,
        RejectReason::NoSuchPartition => 2,
        RejectReason::Policy => 3,
        RejectReason::Malformed => 4,
        RejectReason::NoPool => 5,
        RejectReason::Unfit => 6,
        RejectReason::Deadline => 7,
        RejectReason::Budget => 8,
        RejectReason::NoReservation => 9,
    }
}

const fn cause_code(cause: EventCause) -> [u8; 2] {
    match cause {
        EventCause::None => [0, 0],
        EventCause::Chance => [1, 0],
        EventCause::Script => [2, 0],
        EventCause::Command => [3, 0],
        EventCause::MachineLeft => [4, 0],
        EventCause::SiteLeft => [5, 0],
        EventCause::Refused(reason) => [6, reason_code(reason)],
        EventCause::Replanned => [7, 0],
        EventCause::Unheeded(reason) => [8, reason as u8],
        EventCause::TaskFailed => [9, 0],
        EventCause::Trace => [10, 0],
        EventCause::Group => [11, 0],
        EventCause::PowerCap => [12, 0],
        EventCause::Silence => [13, 0],
        EventCause::Fault => [14, 0],
        EventCause::SiteDrains => [15, 0],
        EventCause::Preempted => [16, 0],
        EventCause::Lapsed => [17, 0],
        EventCause::Missed => [18, 0],
        EventCause::PartFailed => [19, 0],
        EventCause::LoadLow => [20, 0],
        EventCause::LoadHigh => [21, 0],
        EventCause::Unbooked(reason) => [22, reason as u8],
    }
}

const fn outcome_code(outcome: Outcome) -> [u8; 2] {
    let reason = match outcome {
        Outcome::Rejected(reason) => reason_code(reason),
        Outcome::Completed | Outcome::Killed | Outcome::Failed | Outcome::Cancelled | Outcome::Unfinished => {
            0
        }
    };
    [outcome.index() as u8, reason]
}

/// The fields of one record after its version and kind.
struct Fields<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Fields<N> {
    fn new(kind: u8) -> Self {
        let mut fields = Self { bytes: [0; N], len: 0 };
        fields.put([VERSION, kind]);
        fields
    }

    #[inline(always)]
    fn put<const K: usize>(&mut self, field: [u8; K]) {
        self.bytes[self.len..self.len + K].copy_from_slice(&field);
        self.len += K;
    }

    /// Always nine bytes, so that no value extends into the next field.
    #[inline(always)]
    fn put_option(&mut self, field: Option<u64>) {
        self.put([u8::from(field.is_some())]);
        self.put(field.unwrap_or(0).to_le_bytes());
    }

    /// One byte for a job of the grid and none for a site's own job: what follows is longer than that, so the
    /// encodings stay distinct.
    #[inline(always)]
    fn put_sent(&mut self, origin: Origin) {
        if origin == Origin::Grid {
            self.put([1]);
        }
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// The hash of the fields followed by a set, as its maximal intervals.
    #[inline(always)]
    fn hash_with(&self, set: &ProcSet) -> u128 {
        // Only a set of more than fifty intervals allocates.
        let mut bytes: SmallVec<[u8; 512]> = SmallVec::from_slice(self.bytes());
        for (first, last) in set.intervals() {
            let piece = u64::from(first) << 32 | u64::from(last);
            bytes.extend_from_slice(&piece.to_le_bytes());
        }
        xxh3_128(&bytes)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{:032x}", self.count, self.sum)
    }
}

impl FromStr for Fingerprint {
    type Err = FingerprintError;

    fn from_str(written: &str) -> Result<Self, FingerprintError> {
        let read = || {
            // `from_str_radix` alone would accept a sign.
            let is_sum = |sum: &str| sum.len() == 32 && sum.bytes().all(|digit| digit.is_ascii_hexdigit());
            let (count, sum) = written.split_once(':').filter(|(_, sum)| is_sum(sum))?;
            Some(Self { count: count.parse().ok()?, sum: u128::from_str_radix(sum, 16).ok()? })
        };
        read().ok_or_else(|| FingerprintError(written.to_owned()))
    }
}

saved_as_text!(Fingerprint);
