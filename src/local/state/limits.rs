//! Deadlines and budgets of jobs that arrive.

use super::State;
use crate::local::LiveJob;
use crate::model::RejectReason;
use crate::units::Time;

impl State {
    /// Why a job of the site's own users is refused that could not keep its limits here if it started now. Of a grid job the broker has decided.
    pub(in crate::local) fn refused_for_limits(&self, live: &LiveJob, now: Time) -> Option<RejectReason> {
        let limits = live.job.limits.as_ref().filter(|_| live.job.grid.is_none())?;
        limits.refuse(now, live.procs, live.estimate, self.tariff.price_at(now))
    }
}
