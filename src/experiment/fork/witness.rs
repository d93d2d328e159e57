//! Follows the records of two futures and finds where they differ.

use super::futures::Difference;
use crate::metrics::{Fingerprint, GridMeasures, Measures, SiteSummary};
use crate::model::{Cause, EventKind, EventRecord, Record, RecordSink};
use crate::units::Time;

/// The times of records, and a fingerprint of each.
type Prints = Vec<(Time, Fingerprint)>;

/// Sees the records of a future: sums up its jobs, and remembers the records or compares them with those of another future.
pub(in crate::experiment) struct Witness {
    measures: GridMeasures,
    /// The records so far, for the first future.
    seen: Prints,
    compared: Option<Compared>,
}

/// The records of the first future, as far as those of the second are equal.
struct Compared {
    first: Prints,
    next: usize,
    /// The first record that differs, with the time of the one in its place.
    found: Option<(Option<Time>, Record)>,
}

impl Witness {
    /// Remembers the records of the first future.
    pub(super) fn new(measures: GridMeasures) -> Self {
        Self { measures, seen: Vec::new(), compared: None }
    }

    /// Compares records with those of the `first` future.
    pub(super) fn against(measures: GridMeasures, first: Self) -> Self {
        let compared = Compared { first: first.seen, next: 0, found: None };
        Self { measures, seen: Vec::new(), compared: Some(compared) }
    }

    /// The measures of the jobs that ended.
    pub(super) fn measures(&self) -> Measures {
        self.measures.groups().classed().whole()
    }

    /// The first difference between the two futures; `None` if their records are equal.
    pub(super) fn difference(&self, sites: &[SiteSummary]) -> Option<Difference> {
        let Compared { first, next, found } = self.compared.as_ref()?;
        match found {
            Some((before, record)) => {
                let after = record.written();
                Some(Difference {
                    at_s: before.map_or(after, |before| before.min(after)).as_secs_f64(),
                    record: described(record, sites),
                })
            }
            // The second future stops earlier.
            None => first.get(*next).map(|(time, _)| Difference {
                at_s: time.as_secs_f64(),
                record: "nothing more happens".to_owned(),
            }),
        }
    }
}

impl RecordSink for Witness {
    fn record(&mut self, record: Record) {
        self.measures.add(&record);
        let Some(print) = print_of(&record) else { return };
        match &mut self.compared {
            None => self.seen.push((record.written(), print)),
            Some(Compared { found: Some(_), .. }) => {}
            Some(Compared { first, next, found }) => match first.get(*next) {
                Some((_, before)) if *before == print => *next += 1,
                before => *found = Some((before.map(|(time, _)| *time), record)),
            },
        }
    }
}

/// The fingerprint of one record; `None` for a record that the fingerprint does not cover.
fn print_of(record: &Record) -> Option<Fingerprint> {
    let mut print = Fingerprint::new();
    print.add(record);
    (print.count() > 0).then_some(print)
}

/// Describes a record in words.
fn described(record: &Record, sites: &[SiteSummary]) -> String {
    let at = |site: usize| sites.get(site).map(|site| format!(" at `{}`", site.name)).unwrap_or_default();
    match record {
        Record::Job(job) => format!("{} ends{} at {} s", job.job_ref(), at(job.site.index()), job.end),
        Record::Segment(segment) => format!(
            "{} {}{} from {} s to {} s",
            segment.job_ref(),
            if segment.cause == Cause::Staging { "waits for its data" } else { "runs" },
            at(segment.site.index()),
            segment.from,
            segment.to
        ),
        Record::Machine(machine) => format!("a machine changes at {} s", machine.time),
        Record::Task(task) => {
            format!("task `{}` of workflow {} ends at {} s", task.name, task.workflow, task.end)
        }
        Record::Workflow(workflow) => {
            format!("workflow {} `{}` ends at {} s", workflow.workflow, workflow.name, workflow.end)
        }
        Record::Transfer(transfer) => {
            format!(
                "file `{}` of workflow {} arrives at {} s",
                transfer.file, transfer.workflow, transfer.end
            )
        }
        Record::Coallocation(job) => format!("the co-allocated {} at {} s", job.job, job.end),
        Record::Slice(slice) => {
            format!(
                "a slice of {} jobs begins{} at {} s",
                slice.class.name(),
                at(slice.site.index()),
                slice.time
            )
        }
        Record::Group(group) => {
            format!(
                "a group of {} jobs is planned{} at {} s",
                group.class.name(),
                at(group.site.index()),
                group.time
            )
        }
        Record::Front(front) => format!("planning {} of the broker at {} s", front.planning, front.at),
        Record::Event(EventRecord { booked: Some(booked), kind: of, site, time, .. }) => {
            format!("reservation `{}` is {}{} at {time} s", booked.name, kind(*of), at(site.index()))
        }
        Record::Event(event) => {
            let who = event.job_ref().map_or("machines have".to_owned(), |job| format!("{job} is"));
            format!("{who} {}{} at {} s", kind(event.kind), at(event.site.index()), event.time)
        }
    }
}

/// The name of a kind of event, in lower case words.
fn kind(kind: EventKind) -> String {
    let name = format!("{kind:?}");
    let spaced = name.chars().enumerate().map(|(at, c)| match c {
        c if c.is_ascii_uppercase() && at > 0 => format!(" {}", c.to_ascii_lowercase()),
        c => c.to_ascii_lowercase().to_string(),
    });
    spaced.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::tests::samples::job;
    use crate::model::{JobRecord, Origin};

    #[test]
    fn a_difference_says_whether_its_job_is_of_the_grid() {
        let ends = |origin| described(&Record::Job(JobRecord { origin, ..job(17, 0, 0, 5, 1) }), &[]);
        assert_eq!(
            [Origin::Local, Origin::Grid].map(ends),
            ["job 17 ends at 5 s", "grid job 17 ends at 5 s"]
        );
    }
}
