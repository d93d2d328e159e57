//! Writing a log.

use std::collections::BTreeMap;

use super::row::{write_command, write_submission};
use crate::formats::swf::{self, Heading};
use crate::model::{Elastic, Job, JobId};
use crate::units::{Time, write_seconds};

/// Appends the header comments: those of SWF, and a note on the columns behind.
pub fn write_header(out: &mut Vec<u8>, heading: &Heading) {
    let format = "cloud workload format (Kumar et al. 2012): column 19 is the requested start or -1, 20 is S (a job) or \
                  ET, RT, EP, RP (a command to the job of that number), 21 the amount of a command";
    let mut heading = heading.clone();
    heading.notes.push(format.to_owned());
    swf::write_header(out, &heading);
}

/// Writes jobs and their commands, each row in its place by time. Jobs come before the commands of their instant, so that
/// no command comes before its job.
///
/// What it keeps are the commands that are still to come of the jobs written.
#[derive(Debug, Default)]
pub struct Writer {
    /// By time, then in the order in which they became known.
    waiting: BTreeMap<(Time, u64), (JobId, Elastic)>,
    known: u64,
}

impl Writer {
    /// Appends the row of `job`, and before it those of the commands that come earlier. Jobs come in order of submission.
    pub fn write_job(&mut self, out: &mut Vec<u8>, job: &Job) {
        self.write_before(out, job.submit);
        swf::write_columns(out, job);
        write_submission(out, job.requested_start.map(Time::micros));
        out.push(b'\n');
        for command in job.elastic.iter().flatten() {
            // In time: what a user says before the submission is of the submission.
            let at = command.at.max(job.submit);
            self.waiting.insert((at, self.known), (job.id, command.change));
            self.known += 1;
        }
    }

    /// Appends the commands that are left.
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
    // Columns 3 to 18 are of the job's own row.
    (3..=18).for_each(|_| out.extend_from_slice(b" -1"));
    write_command(out, change);
    out.push(b'\n');
}
