//! What the policy tells, as records.

use super::Partition;
use crate::local::{Note, Step};
use crate::model::{GroupRecord, GroupedJob, Record, SliceRecord};

impl Partition {
    /// Whether its policy gives the machine to classes of jobs in turn, and tells of its slices.
    pub fn has_slices(&self) -> bool {
        self.policy.has_slices()
    }

    /// Whether its policy tells of groups of jobs.
    pub fn has_groups(&self) -> bool {
        self.policy.has_groups()
    }

    /// Records what a pass has told, before any job of it is gone.
    pub(super) fn record_note(&self, note: Note, step: &mut Step<'_>) {
        let (time, site, partition) = (step.now, self.state.settings.site, self.state.settings.partition);
        step.sink.record(match note {
            Note::Slice { class, runs_from, until } => {
                Record::Slice(SliceRecord { time, site, partition, class, runs_from, until })
            }
            Note::Group { class, formed, ready, until, jobs } => {
                let named = |(key, start, end): &(_, _, _)| {
                    let live = self.state.table.get(*key)?;
                    Some(GroupedJob { job: live.job.id, origin: live.origin, start: *start, end: *end })
                };
                let jobs = jobs.iter().filter_map(named).collect();
                Record::Group(Box::new(GroupRecord {
                    time,
                    site,
                    partition,
                    class,
                    formed,
                    ready,
                    until,
                    jobs,
                }))
            }
        });
    }
}
