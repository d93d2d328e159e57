//! What a policy may look at that chooses processors by number, or that judges jobs by how they have ended.

use super::{LiveJob, Phase, View};
use crate::model::{JobKey, ProcSet};
use crate::units::Span;

impl<'a> View<'a> {
    /// Processors that a job may be started on now, by number: neither in use nor reserved, of machines that are up and do not drain, in whole
    /// allocation blocks. A power cap, which keeps back so many whichever they are, is not considered: no policy that chooses processors runs
    /// under one.
    pub fn free_set(&self) -> &'a ProcSet {
        &self.state.free
    }

    /// The processors of `among` that the partition would choose for a job of this size: by the placement rule of the site, those of machines that
    /// are awake first. `None` if there are fewer.
    pub fn pick(&self, among: &ProcSet, count: u32) -> Option<ProcSet> {
        self.state.pick_among(among, count)
    }

    /// Whether a job that the policy is told of as ended ([`super::Change::Ended`]) has ended by itself, or at its estimate: it has not lost a
    /// machine, failed, or been cancelled.
    pub fn is_finished(&self, key: JobKey) -> bool {
        let job = self.job(key);
        job.phase == Phase::Running && job.end <= self.now && job.stops_at() >= job.target
    }

    /// How long it would take to suspend a running job now, before its processors are free.
    pub fn suspends_in(&self, key: JobKey) -> Span {
        self.state.suspends_in(self.job(key), self.now)
    }

    /// How long it would take to resume a suspended job now on these processors, before it runs.
    pub fn resumes_in(&self, key: JobKey, procs: &ProcSet) -> Span {
        self.state.resumes_in(self.job(key), procs, self.now)
    }
}

impl LiveJob {
    /// The estimate of the whole job, by which its [`LiveJob::xfactor`] counts: after an attempt of which something is kept, the time for which
    /// that was done counts.
    pub fn whole_estimate(&self) -> Span {
        let kept = self.past.as_ref().map_or(Span::ZERO, |past| past.ran);
        Span::from_micros(self.estimate.micros().saturating_add(kept.micros()))
    }
}
