//! What a policy knows of a job by which it decides whom to put it beside.

use super::LiveJob;
use crate::units::Rate;

impl LiveJob {
    /// The number of its application in the workload; −1 if it is not known.
    pub fn executable(&self) -> i32 {
        self.job.executable
    }

    /// The part of its rate that it keeps beside the jobs that it shares processors with: [`Rate::FULL`] unless its policy says what sharing costs.
    pub fn efficiency(&self) -> Rate {
        self.allocation.efficiency
    }
}
