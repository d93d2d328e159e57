//! Writing a log in the cloud workload format.

use std::collections::BTreeMap;

use super::row::{write_command, write_submission};
use crate::formats::swf::{self, Heading};
use crate::model::{Elastic, Job, JobId};
use crate::units::{Time, write_seconds};

/// Appends the header comments: those of SWF, and a note on the additional columns.
pub fn write_header(out: &mut Vec<u8>, heading: &Heading) {
    let format = "cloud workload format (Kumar et al. 2012): column 19 is the requested start or -1, 20 is S (a job) or \
                  ET, RT, EP, RP (a command to the job of that number), 21 the amount of a command";
    let mut heading = heading.clone();
    heading.notes.push(format.to_owned());
    swf::write_header(out, &heading);
}

/// Writes jobs and their commands, each row in order of time. Jobs come before the commands of their instant, so that
/// no command comes before its job.
///
/// It keeps the future commands of the jobs written.
#[derive(Debug, Default)]
pub struct Writer {
    /// Commands by time, then in the order in which they were added.
    waiting: BTreeMap<(Time, u64), (JobId, Elastic)>,
    known: u64,
}

impl Writer {
    /// Appends the row of `job`, and before it those of earlier commands. Jobs come in order of submission.
    pub fn write_job(&mut self, out: &mut Vec<u8>, job: &Job) {
        self.write_before(out, job.submit);
        swf::write_columns(out, job);
        write_submission(out, job.requested_start.map(Time::micros));
        out.push(b'\n');
        for command in job.elastic.iter().flatten() {
            // A command before the submission is written at the submission.
            let at = command.at.max(job.submit);
            self.waiting.insert((at, self.known), (job.id, command.change));
            self.known += 1;
        }
    }

    /// Appends the remaining commands.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.write_before(out, Time::NEVER);
    }

    fn write_before(&mut self, out: &mut Vec<u8>, time: Time) {
        while let Some(entry) = self.waiting.first_entry().filter(|entry| entry.key().0 < time) {
            let ((at, _), (job, change)) = entry.remove_entry();
            write_row(out, job, at, change);
        }
    }
}

fn write_row(out: &mut Vec<u8>, job: JobId, at: Time, change: Elastic) {
    out.extend_from_slice(itoa::Buffer::new().format(job.0).as_bytes());
    out.push(b' ');
    write_seconds(out, at.micros());
    // Columns 3 to 18 belong to the job's own row.
    (3..=18).for_each(|_| out.extend_from_slice(b" -1"));
    write_command(out, change);
    out.push(b'\n');
}
