//! Jobs by their numbers.

use std::collections::BTreeSet;

use super::table::{LiveJob, Table};
use crate::model::{JobId, JobKey};

/// The jobs of a table by their numbers, for those who name a job from outside. Each index is made when it is first asked for,
/// and kept from then on: most runs need none.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// By the number in the workload, which several jobs may have.
    by_id: Option<BTreeSet<(JobId, JobKey)>>,
    /// By the number at the portal.
    by_portal: Option<BTreeSet<(u64, JobKey)>>,
}

impl Numbers {
    /// Adds a job that has joined the table.
    #[inline]
    pub(super) fn insert(&mut self, key: JobKey, job: &LiveJob) {
        if let Some(by_id) = &mut self.by_id {
            by_id.insert((job.id(), key));
        }
        if let (Some(by_portal), Some(number)) = (&mut self.by_portal, job.number()) {
            by_portal.insert((number, key));
        }
    }

    /// Removes a job that leaves the table.
    #[inline]
    pub(super) fn remove(&mut self, key: JobKey, job: &LiveJob) {
        if let Some(by_id) = &mut self.by_id {
            by_id.remove(&(job.id(), key));
        }
        if let (Some(by_portal), Some(number)) = (&mut self.by_portal, job.number()) {
            by_portal.remove(&(number, key));
        }
    }

    /// The job with that number in the workload; if several have it, the one that came first.
    pub(super) fn first(&mut self, id: JobId, table: &Table) -> Option<JobKey> {
        self.all(id, table).min_by_key(|key| table.get(*key).map(LiveJob::seq))
    }

    /// All jobs with that number in their workloads.
    pub(super) fn all(&mut self, id: JobId, table: &Table) -> impl Iterator<Item = JobKey> {
        let by_id =
            self.by_id.get_or_insert_with(|| table.iter().map(|(key, job)| (job.id(), key)).collect());
        keys(by_id, id)
    }

    /// The job with that number at the portal.
    pub(super) fn of_portal(&mut self, number: u64, table: &Table) -> Option<JobKey> {
        let numbered = |(key, job): (JobKey, &LiveJob)| Some((job.number()?, key));
        let by_portal = self.by_portal.get_or_insert_with(|| table.iter().filter_map(numbered).collect());
        keys(by_portal, number).next()
    }
}

fn keys<N: Copy + Ord>(of: &BTreeSet<(N, JobKey)>, number: N) -> impl Iterator<Item = JobKey> {
    of.range((number, JobKey(0))..=(number, JobKey(u32::MAX))).map(|(_, key)| *key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{GridContext, Job, Origin};
    use crate::units::{Span, Time};

    #[test]
    fn of_jobs_with_one_number_the_first_to_come_is_found() {
        let (mut table, mut numbers) = (Table::default(), Numbers::default());
        let add = |numbers: &mut Numbers, table: &mut Table, id, seq| {
            let grid = Some(Box::new(GridContext { number: 100 + seq, ..GridContext::default() }));
            let job = Job { grid, ..Job::rigid(id, Time::ZERO, 1, Span::SECOND) };
            let live = LiveJob::new(job, Origin::Grid, seq, Time::ZERO);
            let key = table.insert(live.clone());
            numbers.insert(key, &live);
            key
        };
        let keys: Vec<_> =
            (0..).zip([7, 8, 7]).map(|(seq, id)| add(&mut numbers, &mut table, id, seq)).collect();
        assert_eq!(numbers.first(JobId(7), &table), Some(keys[0]));
        assert_eq!(numbers.of_portal(102, &table), Some(keys[2]));
        // From here on the indexes are kept.
        let late = add(&mut numbers, &mut table, 7, 3);
        assert_eq!(numbers.of_portal(103, &table), Some(late));
        // A job that is queued again comes behind the others.
        table.get_mut(keys[0]).unwrap().seq = 4;
        assert_eq!(numbers.first(JobId(7), &table), Some(keys[2]));
        for (gone, next) in [(keys[2], Some(late)), (late, Some(keys[0])), (keys[0], None)] {
            let job = table.take(gone).unwrap();
            numbers.remove(gone, &job);
            assert_eq!(numbers.first(JobId(7), &table), next);
        }
        assert_eq!(numbers.of_portal(103, &table), None);
        assert_eq!(numbers.first(JobId(8), &table), Some(keys[1]));
    }
}
