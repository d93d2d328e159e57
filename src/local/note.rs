//! What a policy tells of its slices and groups, for the files of a run.

use crate::model::{JobKey, SliceClass};
use crate::units::Time;

/// What a policy tells, beyond its [actions](super::Actions). It changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A class of jobs has the machine from now on.
    Slice {
        /// The class.
        class: SliceClass,
        /// From when on jobs run in the slice.
        runs_from: Time,
        /// When it is to end.
        until: Time,
    },
    /// The order of a group of waiting jobs has been searched.
    Group {
        /// Its class.
        class: SliceClass,
        /// When it formed.
        formed: Time,
        /// From when on the plan holds.
        ready: Time,
        /// When its last job would end, if the class had no more than its share of the time, or its floor.
        until: Time,
        /// Its jobs in the order of the plan, with their planned starts and ends.
        jobs: Vec<(JobKey, Time, Time)>,
    },
}
