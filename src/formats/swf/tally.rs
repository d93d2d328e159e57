//! Counts of rows that were skipped or changed while a log was read.

use super::RowError;
use crate::model::words;

words! {
    /// Something about a row that is reported.
    #[derive(Copy, Clone, Debug, PartialEq, Eq)]
    pub(super) enum Event {
        /// Skipped: not 18 numbers, or numbers that make no sense.
        Unreadable = "skipped {rows} that {is} not 18 numbers",
        /// Skipped: a part of a job that also has a row as a whole.
        Part = "skipped {rows} of parts of the job before",
        /// Skipped: no submission time.
        NoSubmission = "skipped {jobs} without a submission time",
        /// Skipped: run time unknown.
        NoRunTime = "skipped {jobs} without a run time",
        /// Skipped: run time zero.
        ZeroRunTime = "skipped {jobs} with a run time of zero",
        /// Skipped: processors unknown or zero.
        NoProcessors = "skipped {jobs} without processors",
        /// Skipped by the strict filter: more processors than the machine has.
        TooLarge = "skipped {jobs} larger than the machine",
        /// Skipped by the strict filter: no requested time.
        NoRequestedTime = "skipped {jobs} without a requested time",
        /// The strict filter reduced the run time to the requested time.
        RunCut = "cut the run time of {jobs} to the requested time",
        /// No requested time: the run time is the estimate.
        NoEstimate = "read {jobs} without a requested time: {its} run time is the estimate",
        /// Reduced to the machine's processors.
        Capped = "cut {jobs} to the machine's processors",
        /// Only parts of the job are in the log.
        PartsOnly = "used {its} first part of {jobs}: the log has only parts",
        /// Out of order, sorted.
        Sorted = "sorted {jobs} that {was} out of order",
        /// Too far out of order: submitted later than logged.
        Late = "submitted {jobs} later than logged: too far out of order",
        /// An earlier row has the same number.
        Repeated = "renumbered {jobs}: {its} number was taken",
        /// Skipped: columns 19 to 21 are not those of the cloud workload format.
        Extension = "skipped {rows} whose columns 19 to 21 cannot be read",
        /// Skipped: a command for a job that does not precede it.
        NoSuchJob = "skipped {commands} to a job without an earlier row",
        /// Skipped: a command without a time.
        NoCommandTime = "skipped {commands} without a time",
        /// A command before its job's submission: issued at the submission.
        EarlyCommand = "moved {commands} to the submission of the job: {its} time is before it",
        /// A requested start before the submission: the submission is requested.
        EarlyStart = "moved the requested start of {jobs} to the submission: {that is} before it",
        /// More than the 21 columns of the cloud workload format.
        Beyond = "ignored columns after 21 of {rows}",
    }
}

impl Event {
    /// What happened to `n` jobs, rows or commands.
    fn sentence(self, n: u64) -> String {
        let counted = |one: &str| if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") };
        let words = [("is", "are"), ("was", "were"), ("its", "their"), ("that is", "those are")];
        let mut sentence = self.name().to_owned();
        for (one, several) in words {
            sentence = sentence.replace(&format!("{{{one}}}"), if n == 1 { one } else { several });
        }
        for one in ["job", "row", "command"] {
            sentence = sentence.replace(&format!("{{{one}s}}"), &counted(one));
        }
        sentence
    }
}

/// An event that occurred.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Seen {
    event: Event,
    count: u64,
    /// The line of the first one.
    first: u64,
}

/// Counts of all events, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    seen: [Option<Seen>; Event::ALL.len()],
    first_error: Option<RowError>,
    /// The errors in columns 19 to 21, in the order in which they were found: how often, and the line of the first.
    extensions: Vec<(RowError, u64, u64)>,
}

impl Tally {
    pub(super) fn add(&mut self, event: Event, line: u64) {
        let seen = self.seen[event as usize].get_or_insert(Seen { event, count: 0, first: line });
        seen.count += 1;
    }

    pub(super) fn unreadable(&mut self, error: RowError, line: u64) {
        self.first_error.get_or_insert(error);
        self.add(Event::Unreadable, line);
    }

    pub(super) fn extension(&mut self, error: RowError, line: u64) {
        match self.extensions.iter_mut().find(|(other, ..)| *other == error) {
            Some((_, count, _)) => *count += 1,
            None => self.extensions.push((error, 1, line)),
        }
        self.add(Event::Extension, line);
    }

    /// One sentence for each event that occurred, and one for each error in columns 19 to 21.
    pub(super) fn notes(&self) -> Vec<String> {
        let note = |event: Event, count: u64, first: u64, why: Option<RowError>| {
            let why = why.map(|error| format!(": {error}")).unwrap_or_default();
            format!("{} (first at line {first}{why})", event.sentence(count))
        };
        let notes = self.seen.iter().flatten().flat_map(|&Seen { event, count, first }| match event {
            Event::Extension => {
                let each = self.extensions.iter();
                each.map(|(why, count, first)| note(event, *count, *first, Some(*why))).collect()
            }
            Event::Unreadable => vec![note(event, count, first, self.first_error)],
            _ => vec![note(event, count, first, None)],
        });
        notes.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_is_told_once_with_its_first_line() {
        let mut tally = Tally::default();
        tally.add(Event::NoRunTime, 123);
        tally.add(Event::NoRunTime, 200);
        tally.add(Event::Repeated, 9);
        tally.unreadable(RowError::Columns(3), 7);
        assert_eq!(
            tally.notes(),
            [
                "skipped 1 row that is not 18 numbers (first at line 7: 3 columns instead of 18)",
                "skipped 2 jobs without a run time (first at line 123)",
                "renumbered 1 job: its number was taken (first at line 9)",
            ]
        );
    }
}
