//! Writing a log.

use crate::model::Job;
use crate::units::write_seconds;

/// The header of a written log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heading {
    /// What the log describes: a machine or a model.
    pub computer: String,
    /// Processors of the machine.
    pub max_procs: Option<u32>,
    /// Number of jobs that follow, if known beforehand.
    pub max_jobs: Option<u64>,
    /// Number of rows that follow, if known beforehand.
    pub max_records: Option<u64>,
    /// The origin of the log: generator, parameters, seed; one `Note` each.
    pub notes: Vec<String>,
    /// The instant 0 of the log in seconds since 1970.
    pub unix_start: i64,
}

/// Appends the header comments.
pub fn write_header(out: &mut Vec<u8>, heading: &Heading) {
    let mut line = |label: &str, value: &str| {
        // A line break would end the comment: each line of the value becomes a comment of its own.
        for value in value.lines() {
            out.extend_from_slice(format!("; {label}: {}\n", value.trim()).as_bytes());
        }
    };
    line("Version", "2.2");
    line("Computer", &heading.computer);
    if let Some(jobs) = heading.max_jobs {
        line("MaxJobs", &jobs.to_string());
    }
    if let Some(records) = heading.max_records {
        line("MaxRecords", &records.to_string());
    }
    line("UnixStartTime", &heading.unix_start.to_string());
    if let Some(procs) = heading.max_procs {
        line("MaxProcs", &procs.to_string());
    }
    heading.notes.iter().for_each(|note| line("Note", note));
    out.extend_from_slice(b";\n");
}

/// Appends the row of a job: its (preferred) processors both as allocated and as requested, its estimate as requested
/// time, status 1. Times are written as whole seconds where possible, else as decimals to the microsecond.
pub fn write_job(out: &mut Vec<u8>, job: &Job) {
    write_columns(out, job);
    out.push(b'\n');
}

/// Appends the 18 columns of a job.
pub(in crate::formats) fn write_columns(out: &mut Vec<u8>, job: &Job) {
    let mut digits = itoa::Buffer::new();
    let mut int = |out: &mut Vec<u8>, value: i64| {
        out.extend_from_slice(digits.format(value).as_bytes());
        out.push(b' ');
    };
    let secs = |out: &mut Vec<u8>, micros: u64| {
        write_seconds(out, micros);
        out.push(b' ');
    };
    let procs = i64::from(job.size.preferred());
    int(out, i64::try_from(job.id.0).unwrap_or(-1));
    secs(out, job.submit.micros());
    match job.recorded_wait {
        Some(wait) => secs(out, wait.micros()),
        None => int(out, -1),
    }
    secs(out, job.runtime.micros());
    // Allocated processors; CPU time and used memory are unknown; requested processors.
    [procs, -1, -1, procs].into_iter().for_each(|value| int(out, value));
    secs(out, job.estimate.micros());
    // Status 1 is completed.
    let memory = job.memory.and_then(|memory| i64::try_from(memory.kib()).ok()).unwrap_or(-1);
    [memory, 1].into_iter().for_each(|value| int(out, value));
    let partition = job.partition.map_or(-1, |partition| i64::from(partition.0) + 1);
    [job.user, job.group, job.executable, job.queue].into_iter().for_each(|id| int(out, id.into()));
    int(out, partition);
    match job.after {
        Some(after) => {
            int(out, i64::try_from(after.job.0).unwrap_or(-1));
            write_seconds(out, after.think.micros());
        }
        None => out.extend_from_slice(b"-1 -1"),
    }
}
