//! Record sinks that follow the records of two futures and find where they differ.

use super::futures::Difference;
use crate::metrics::{Fingerprint, GridMeasures, Measures, SiteSummary};
use crate::model::{EventKind, Record, RecordSink};
use crate::units::Time;

/// The records of one future: their times, and a fingerprint of each.
#[derive(Debug, Default)]
pub(super) struct Remembered(Vec<(Time, Fingerprint)>);

impl RecordSink for Remembered {
    fn record(&mut self, record: Record) {
        if let Some(own) = own(&record) {
            self.0.push((record.written(), own));
        }
    }
}

/// Compares the records of another future with the remembered ones.
#[derive(Debug, Default)]
pub(super) struct Compared {
    first: Vec<(Time, Fingerprint)>,
    next: usize,
    found: Option<(Option<Time>, Record)>,
}

impl Compared {
    /// Compares with the future `remembered`.
    pub(super) fn against(&mut self, remembered: Remembered) {
        self.first = remembered.0;
    }

    /// The first difference between the two futures; `None` if their records are equal.
    pub(super) fn difference(&self, sites: &[SiteSummary]) -> Option<Difference> {
        match &self.found {
            Some((before, record)) => {
                let after = record.written();
                Some(Difference {
                    at_s: before.map_or(after, |before| before.min(after)).as_secs_f64(),
                    record: told(record, sites),
                })
            }
            // The second future stops earlier.
            None => self.first.get(self.next).map(|(time, _)| Difference {
                at_s: time.as_secs_f64(),
                record: "nothing more happens".to_owned(),
            }),
        }
    }
}

impl RecordSink for Compared {
    fn record(&mut self, record: Record) {
        if self.found.is_some() {
            return;
        }
        let Some(own) = own(&record) else { return };
        match self.first.get(self.next) {
            Some((_, before)) if *before == own => self.next += 1,
            before => self.found = Some((before.map(|(time, _)| *time), record)),
        }
    }
}

/// Measures of the jobs that end after a fork.
#[derive(Debug)]
pub(super) struct Since(GridMeasures);

impl Since {
    pub(super) fn new(measures: GridMeasures) -> Self {
        Self(measures)
    }

    pub(super) fn summary(&self) -> Measures {
        self.0.groups().classed().whole()
    }
}

impl RecordSink for Since {
    fn record(&mut self, record: Record) {
        self.0.add(&record);
    }
}

/// The fingerprint of one record; `None` for a record that the fingerprint does not cover.
fn own(record: &Record) -> Option<Fingerprint> {
    let mut own = Fingerprint::new();
    own.add(record);
    (own.count() > 0).then_some(own)
}

/// Describes a record in words.
fn told(record: &Record, sites: &[SiteSummary]) -> String {
    let at = |site: usize| sites.get(site).map(|site| format!(" at `{}`", site.name)).unwrap_or_default();
    match record {
        Record::Job(job) => format!("job {} ends{} at {} s", job.id, at(job.site.index()), job.end),
        Record::Segment(segment) => format!(
            "job {} runs{} from {} s to {} s",
            segment.job,
            at(segment.site.index()),
            segment.from,
            segment.to
        ),
        Record::Machine(machine) => format!("a machine changes at {} s", machine.time),
        Record::Event(event) => match event.job {
            Some(job) => {
                format!("job {job} is {}{} at {} s", kind(event.kind), at(event.site.index()), event.time)
            }
            None => {
                format!("machines are {}{} at {} s", kind(event.kind), at(event.site.index()), event.time)
            }
        },
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
