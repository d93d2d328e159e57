//! What a policy tells that gives the machine to classes of jobs in turn: its slices, and the groups of jobs whose order it has searched.

use serde::{Deserialize, Serialize};

use super::text::words;
use super::{JobId, Origin, PartitionId, SiteId};
use crate::units::Time;

words! {
    /// A class of jobs that has slices, by how long they run.
    #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum SliceClass {
        /// Short jobs.
        Short = "short",
        /// Medium jobs.
        Medium = "medium",
        /// Long jobs.
        Long = "long",
    }
}

/// One line of `slices.csv`: from `time` on the slice is this one, until that of the next line of the partition.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SliceRecord {
    /// When it began.
    pub time: Time,
    /// The site.
    pub site: SiteId,
    /// The partition.
    pub partition: PartitionId,
    /// Its class.
    pub class: SliceClass,
    /// From when on jobs run in it: after the switch.
    pub runs_from: Time,
    /// When it is to end. It ends sooner if its class cannot use it any more, and goes on while no other class can.
    pub until: Time,
}

/// The lines of `groups.csv` for one plan of a group of jobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupRecord {
    /// When the order of the group was searched.
    pub time: Time,
    /// The site.
    pub site: SiteId,
    /// The partition.
    pub partition: PartitionId,
    /// Its class.
    pub class: SliceClass,
    /// When the group formed: before `time` if it is searched again.
    pub formed: Time,
    /// From when on the plan holds: later than `time` if the search takes time.
    pub ready: Time,
    /// When its last job would end, if the class had no more than its share of the time, or its floor.
    pub until: Time,
    /// Its jobs, in the order of the plan.
    pub jobs: Vec<GroupedJob>,
}

/// A job in the plan of a group.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupedJob {
    /// The job.
    pub job: JobId,
    /// The origin of the job.
    pub origin: Origin,
    /// Its planned start, as if the class had all the time.
    pub start: Time,
    /// Its planned end.
    pub end: Time,
}
