//! Jobs that are held back until their site may have more.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize, Serializer};

use crate::entity::broker::number;
use crate::model::{Job, SiteId};

type Queues = Vec<VecDeque<Box<Job>>>;

/// A queue of jobs for each site. A snapshot has the queues alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Queues")]
pub(super) struct Held {
    queues: Queues,
    /// The site of each job, by number.
    sites: BTreeMap<u64, usize>,
}

impl Serialize for Held {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.queues.serialize(serializer)
    }
}

impl From<Queues> for Held {
    fn from(queues: Queues) -> Self {
        let jobs = queues.iter().enumerate().flat_map(|(site, jobs)| jobs.iter().map(move |job| (site, job)));
        let sites = jobs.map(|(site, job)| (number(job), site)).collect();
        Self { queues, sites }
    }
}

impl Held {
    pub(super) fn new(sites: usize) -> Self {
        Self::from(vec![VecDeque::new(); sites])
    }

    /// The jobs for a site, in the order in which they are admitted.
    pub(super) fn queue(&self, site: SiteId) -> &VecDeque<Box<Job>> {
        &self.queues[site.index()]
    }

    /// All jobs, with their sites.
    pub(super) fn jobs(&self) -> impl Iterator<Item = (SiteId, &Job)> {
        let sites = (0..).map(SiteId).zip(&self.queues);
        sites.flat_map(|(site, jobs)| jobs.iter().map(move |job| (site, &**job)))
    }

    pub(super) fn push(&mut self, site: SiteId, job: Box<Job>) {
        self.sites.insert(number(&job), site.index());
        self.queues[site.index()].push_back(job);
    }

    /// Takes out the first job for a site.
    pub(super) fn pop(&mut self, site: SiteId) -> Option<Box<Job>> {
        let job = self.queues[site.index()].pop_front()?;
        self.sites.remove(&number(&job));
        Some(job)
    }

    /// Takes out the job with this number. Jobs are recalled in order of their numbers, so it is nearly always the first one.
    pub(super) fn take(&mut self, wanted: u64) -> Option<Box<Job>> {
        let queue = &mut self.queues[self.sites.remove(&wanted)?];
        let at = queue.iter().position(|job| number(job) == wanted)?;
        queue.remove(at)
    }

    pub(super) fn into_jobs(self) -> impl Iterator<Item = Box<Job>> {
        self.queues.into_iter().flatten()
    }
}
