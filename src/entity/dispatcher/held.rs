//! Jobs that are held back until their site may have more.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize, Serializer};

use crate::entity::broker::task;
use crate::model::{Job, SiteId, TaskId};

type Queues = Vec<VecDeque<Box<Job>>>;

/// A queue of jobs for each site. A snapshot has the queues alone.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "Queues")]
pub(super) struct Held {
    /// By the order in which they were held back.
    queues: Vec<BTreeMap<u64, Box<Job>>>,
    /// The site and the place in its queue of each job, by number.
    places: BTreeMap<TaskId, (usize, u64)>,
    /// The place of the next job.
    next: u64,
}

impl Serialize for Held {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.queues.iter().map(Queue))
    }
}

struct Queue<'a>(&'a BTreeMap<u64, Box<Job>>);

impl Serialize for Queue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.values())
    }
}

impl From<Queues> for Held {
    fn from(queues: Queues) -> Self {
        let mut held = Self::new(queues.len());
        for (site, jobs) in (0..).map(SiteId).zip(queues) {
            jobs.into_iter().for_each(|job| held.push(site, job));
        }
        held
    }
}

/// Two are equal if their snapshots are.
impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.queues.len() == other.queues.len() && self.jobs().eq(other.jobs())
    }
}

impl Eq for Held {}

impl Held {
    pub(super) fn new(sites: usize) -> Self {
        Self { queues: vec![BTreeMap::new(); sites], ..Self::default() }
    }

    /// The number of jobs for a site.
    pub(super) fn count(&self, site: SiteId) -> usize {
        self.queues[site.index()].len()
    }

    /// All jobs, with their sites; those of a site in the order in which they are admitted.
    pub(super) fn jobs(&self) -> impl Iterator<Item = (SiteId, &Job)> {
        let sites = (0..).map(SiteId).zip(&self.queues);
        sites.flat_map(|(site, jobs)| jobs.values().map(move |job| (site, &**job)))
    }

    /// The site that a job is held back from.
    pub(super) fn site(&self, wanted: TaskId) -> Option<SiteId> {
        self.places.get(&wanted).map(|(site, _)| SiteId(*site as u32))
    }

    pub(super) fn push(&mut self, site: SiteId, job: Box<Job>) {
        self.places.insert(task(&job), (site.index(), self.next));
        self.queues[site.index()].insert(self.next, job);
        self.next += 1;
    }

    /// Takes out the first job for a site.
    pub(super) fn pop(&mut self, site: SiteId) -> Option<Box<Job>> {
        let (_, job) = self.queues[site.index()].pop_first()?;
        self.places.remove(&task(&job));
        Some(job)
    }

    /// Takes out the job with this number.
    pub(super) fn take(&mut self, wanted: TaskId) -> Option<Box<Job>> {
        let (site, place) = self.places.remove(&wanted)?;
        self.queues[site].remove(&place)
    }

    pub(super) fn into_jobs(self) -> impl Iterator<Item = Box<Job>> {
        self.queues.into_iter().flat_map(BTreeMap::into_values)
    }
}
