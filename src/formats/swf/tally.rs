//! Counts of rows that were skipped or changed while a log was read.

use super::RowError;

/// Something about a row that is reported.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// Skipped: not 18 numbers, or numbers that make no sense.
    Unreadable,
    /// Skipped: a part of a job that also has a row as a whole.
    Part,
    /// Skipped: no submission time.
    NoSubmission,
    /// Skipped: run time unknown.
    NoRunTime,
    /// Skipped: run time zero.
    ZeroRunTime,
    /// Skipped: processors unknown or zero.
    NoProcessors,
    /// Skipped by the strict filter: more processors than the machine has.
    TooLarge,
    /// Skipped by the strict filter: no requested time.
    NoRequestedTime,
    /// The strict filter reduced the run time to the requested time.
    RunCut,
    /// No requested time: the run time is the estimate.
    NoEstimate,
    /// Reduced to the machine's processors.
    Capped,
    /// Only parts of the job are in the log.
    PartsOnly,
    /// Out of order, sorted.
    Sorted,
    /// Too far out of order: submitted later than logged.
    Late,
    /// An earlier row has the same number.
    Repeated,
    /// Skipped: columns 19 to 21 are not those of the cloud workload format.
    Extension,
    /// Skipped: a command for a job that does not precede it.
    NoSuchJob,
    /// Skipped: a command without a time.
    NoCommandTime,
    /// A command before its job's submission: issued at the submission.
    EarlyCommand,
    /// A requested start before the submission: the submission is requested.
    EarlyStart,
    /// More than the 21 columns of the cloud workload format.
    Beyond,
}

impl Event {
    const COUNT: usize = Self::Beyond as usize + 1;

    /// The sentence for `n` such rows.
    fn sentence(self, n: u64) -> String {
        let jobs = if n == 1 { "1 job".to_owned() } else { format!("{n} jobs") };
        let commands = if n == 1 { "1 command".to_owned() } else { format!("{n} commands") };
        let is_word = if n == 1 { "that is" } else { "those are" };
        let rows = if n == 1 { "1 row".to_owned() } else { format!("{n} rows") };
        let (is, its) = if n == 1 { ("is", "its") } else { ("are", "their") };
        match self {
            Self::Unreadable => format!("skipped {rows} that {is} not 18 numbers"),
            Self::Part => format!("skipped {rows} of parts of the job before"),
            Self::NoSubmission => format!("skipped {jobs} without a submission time"),
            Self::NoRunTime => format!("skipped {jobs} without a run time"),
            Self::ZeroRunTime => format!("skipped {jobs} with a run time of zero"),
            Self::NoProcessors => format!("skipped {jobs} without processors"),
            Self::TooLarge => format!("skipped {jobs} larger than the machine"),
            Self::NoRequestedTime => format!("skipped {jobs} without a requested time"),
            Self::RunCut => format!("cut the run time of {jobs} to the requested time"),
            Self::NoEstimate => {
                format!("read {jobs} without a requested time: {its} run time is the estimate")
            }
            Self::Capped => format!("cut {jobs} to the machine's processors"),
            Self::PartsOnly => format!("used {its} first part of {jobs}: the log has only parts"),
            Self::Sorted => format!("sorted {jobs} that were out of order"),
            Self::Late => format!("submitted {jobs} later than logged: too far out of order"),
            Self::Repeated => format!("renumbered {jobs}: {its} number was taken"),
            Self::Extension => format!("skipped {rows} whose columns 19 to 21 cannot be read"),
            Self::NoSuchJob => format!("skipped {commands} to a job without an earlier row"),
            Self::NoCommandTime => format!("skipped {commands} without a time"),
            Self::EarlyCommand => {
                format!("moved {commands} to the submission of the job: {its} time is before it")
            }
            Self::Beyond => format!("ignored columns after 21 of {rows}"),
            Self::EarlyStart => {
                format!("moved the requested start of {jobs} to the submission: {is_word} before it")
            }
        }
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
    seen: [Option<Seen>; Event::COUNT],
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
        // Both errors have the same sentence.
        let error = if error == RowError::NotANumber(21) { RowError::Absurd(21) } else { error };
        match self.extensions.iter_mut().find(|(other, ..)| *other == error) {
            Some((_, count, _)) => *count += 1,
            None => self.extensions.push((error, 1, line)),
        }
        self.add(Event::Extension, line);
    }

    /// One sentence for each event that occurred, and one for each error in columns 19 to 21.
    pub(super) fn notes(&self) -> Vec<String> {
        let told = |event: Event, count: u64, first: u64, why: Option<RowError>| {
            let why = why.map(|error| format!(": {error}")).unwrap_or_default();
            format!("{} (first at line {first}{why})", event.sentence(count))
        };
        let notes = self.seen.iter().flatten().flat_map(|&Seen { event, count, first }| match event {
            Event::Extension => {
                let each = self.extensions.iter();
                each.map(|(why, count, first)| told(event, *count, *first, Some(*why))).collect()
            }
            Event::Unreadable => vec![told(event, count, first, self.first_error)],
            _ => vec![told(event, count, first, None)],
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
