//! Jobs that wait for machines.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::JobKey;

/// Jobs that are larger than the present capacity. Those that a larger capacity is enough for are found without a look at the
/// others.
#[derive(Debug, Default)]
pub(super) struct Ineligible {
    /// By the fewest processors that a job can run on, then in the order in which they became ineligible.
    jobs: BTreeSet<(u32, u64, JobKey)>,
    /// Where a job is in `jobs`.
    places: BTreeMap<JobKey, (u32, u64)>,
    next: u64,
}

impl Ineligible {
    pub(super) fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Adds a job that needs at least so many processors.
    pub(super) fn push(&mut self, least: u32, job: JobKey) {
        self.jobs.insert((least, self.next, job));
        self.places.insert(job, (least, self.next));
        self.next += 1;
    }

    /// Removes a job. False if it is not here.
    pub(super) fn remove(&mut self, job: JobKey) -> bool {
        let place = self.places.remove(&job);
        place.is_some_and(|(least, number)| self.jobs.remove(&(least, number, job)))
    }

    /// Takes out the jobs that need no more than so many processors, in the order in which they became ineligible.
    pub(super) fn take_fitting(&mut self, capacity: u32) -> Vec<JobKey> {
        let fitting = self.jobs.range(..=(capacity, u64::MAX, JobKey(u32::MAX)));
        let fitting = in_order(fitting);
        for job in &fitting {
            self.remove(*job);
        }
        fitting
    }

    /// The jobs that need more than so many processors, in the order in which they became ineligible.
    pub(super) fn larger_than(&self, procs: u32) -> Vec<JobKey> {
        in_order(self.jobs.range((procs + 1, 0, JobKey(0))..))
    }

    /// All jobs, in the order in which they became ineligible.
    pub(super) fn in_order(&self) -> Vec<JobKey> {
        in_order(self.jobs.iter())
    }
}

fn in_order<'a>(jobs: impl Iterator<Item = &'a (u32, u64, JobKey)>) -> Vec<JobKey> {
    let mut jobs: Vec<_> = jobs.map(|(_, number, job)| (*number, *job)).collect();
    jobs.sort_unstable();
    jobs.into_iter().map(|(_, job)| job).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_fit_come_in_the_order_in_which_they_became_ineligible() {
        let mut ineligible = Ineligible::default();
        for (job, least) in (0..).zip([8, 2, 4, 2, 6]) {
            ineligible.push(least, JobKey(job));
        }
        assert!(ineligible.remove(JobKey(1)) && !ineligible.remove(JobKey(1)));
        // It comes back, behind the others.
        ineligible.push(2, JobKey(1));
        assert_eq!(ineligible.in_order(), [0, 2, 3, 4, 1].map(JobKey));
        assert_eq!(
            (ineligible.larger_than(4), ineligible.larger_than(8)),
            ([0, 4].map(JobKey).to_vec(), vec![])
        );
        assert_eq!(ineligible.take_fitting(4), [2, 3, 1].map(JobKey));
        assert_eq!(ineligible.take_fitting(5), []);
        assert_eq!((ineligible.in_order(), ineligible.len()), ([0, 4].map(JobKey).to_vec(), 2));
    }
}
