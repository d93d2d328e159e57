//! Identifiers. Each names one kind of thing and indexes nothing else.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Origin;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl $name {
            /// The id as an index into its table.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

id! {
    /// A job's number as its workload gives it (field 1 of an SWF log). Unique within a workload.
    JobId(u64)
}
id! {
    /// The place of a live job in its partition's table. Dense, so that policies can use it as an index, and
    /// **reused** once the job has left: never keep one beyond [`crate::local::Change::Ended`].
    JobKey(u32)
}
id! {
    /// A job of the grid, by its number among the jobs that the portal has admitted. It tells the job from all others for its whole life.
    TaskId(u64)
}
id! {
    /// A workflow, by its number among those that the portal has admitted.
    WorkflowId(u32)
}
id! {
    /// A site, by its place in the scenario.
    SiteId(u32)
}

impl SiteId {
    /// The place of a job that is at no site, but with the broker or the dispatcher.
    pub const GRID: Self = Self(u32::MAX);
}

id! {
    /// A partition, by its place in its site.
    PartitionId(u32)
}

id! {
    /// A file, by its number among the files of all workflows that the portal has admitted.
    FileId(u64)
}

/// A pool, to which the broker can assign a job: a partition of a site.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PoolId {
    /// The site.
    pub site: SiteId,
    /// Its partition.
    pub partition: PartitionId,
}

/// A workload: that of the grid (all that comes through the portal), or that of a site's own users.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WorkloadId(SiteId);

impl WorkloadId {
    /// The workload of the grid. It comes after those of the sites.
    pub const GRID: Self = Self(SiteId::GRID);

    /// The workload of the users of a site, with the jobs that commands submit there.
    pub const fn of_site(site: SiteId) -> Self {
        Self(site)
    }

    /// The site whose users submit it; `None` for the workload of the grid.
    pub fn site(self) -> Option<SiteId> {
        (self != Self::GRID).then_some(self.0)
    }
}

/// The name of a job in a run: its number is unique in its workload only.
///
/// It prints as `job 17`, and as `grid job 17` if it is of the grid: so a job is named at its site. [`NamedJob`] names it
/// among the jobs of several sites.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JobRef {
    /// Its workload.
    pub workload: WorkloadId,
    /// Its number there.
    pub number: JobId,
}

impl JobRef {
    /// The job of that number and origin. The workload of a job of the grid is that of the grid at whichever `site` it is.
    pub const fn new(origin: Origin, site: SiteId, number: JobId) -> Self {
        let workload = match origin {
            Origin::Local => WorkloadId::of_site(site),
            Origin::Grid => WorkloadId::GRID,
        };
        Self { workload, number }
    }

    /// Its origin.
    pub fn origin(self) -> Origin {
        if self.workload == WorkloadId::GRID { Origin::Grid } else { Origin::Local }
    }
}

impl fmt::Display for JobRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = if self.workload == WorkloadId::GRID { NamedJob::Grid } else { NamedJob::Only };
        named(self.number).fmt(f)
    }
}

/// A job in words: its number, and as much about its workload as distinguishes it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum NamedJob<'a> {
    /// No other workload is meant: `job 17`.
    Only(JobId),
    /// A job of the grid, beside those of the sites: `grid job 17`.
    Grid(JobId),
    /// A job of the users of one of several sites: `local job 17 of windsor`.
    Local(JobId, &'a str),
}

impl fmt::Display for NamedJob<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Only(number) => write!(f, "job {number}"),
            Self::Grid(number) => write!(f, "grid job {number}"),
            Self::Local(number, site) => write!(f, "local job {number} of {site}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_of_two_workloads_with_one_number_are_two() {
        let named = |origin, site| JobRef::new(origin, SiteId(site), JobId(17));
        let (windsor, delft) = (named(Origin::Local, 0), named(Origin::Local, 1));
        let grid = named(Origin::Grid, 0);
        assert_eq!(grid, named(Origin::Grid, 1), "a job of the grid has its name at every site");
        assert!(windsor != delft && windsor != grid);
        assert_eq!([windsor, grid].map(JobRef::origin), [Origin::Local, Origin::Grid]);
        assert_eq!([delft, grid].map(|job| job.workload.site()), [Some(SiteId(1)), None]);
        assert_eq!([windsor, grid].map(|job| job.to_string()), ["job 17", "grid job 17"]);
        assert_eq!(NamedJob::Local(JobId(17), "delft").to_string(), "local job 17 of delft");
    }
}
