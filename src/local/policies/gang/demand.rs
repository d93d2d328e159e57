//! What jobs need of the partition: its load [Huang 2004, section 6.9.1, Figure 6-7].

use std::collections::BTreeMap;

use super::GangOptions;
use super::adapt::sizes;
use crate::local::{LiveJob, View};
use crate::model::JobKey;
use crate::sharing::{Demand, Load};
use crate::units::Span;

/// What the waiting jobs need, as a sum that is kept.
#[derive(Debug, Default)]
pub(super) struct Demands {
    jobs: BTreeMap<JobKey, Needs>,
    sum: Needs,
}

/// Processors, and by how many more jobs would grow.
#[derive(Copy, Clone, Debug, Default)]
struct Needs {
    procs: u64,
    growth: u64,
}

impl Demands {
    /// Counts a waiting job with its preferred size.
    pub(super) fn add(&mut self, job: JobKey, live: &LiveJob, view: &View<'_>, interval: Span) {
        let needs = of(live, live.procs(), view, interval);
        self.sum.procs += needs.procs;
        self.sum.growth += needs.growth;
        self.jobs.insert(job, needs);
    }

    /// Removes a job, if it is there.
    pub(super) fn remove(&mut self, job: JobKey) {
        if let Some(needs) = self.jobs.remove(&job) {
            self.sum.procs -= needs.procs;
            self.sum.growth -= needs.growth;
        }
    }

    /// The load by these, the running jobs, which count with the processors that they have, and a job to come of so many `more`.
    pub(super) fn load<'a>(
        &self,
        running: impl Iterator<Item = (&'a LiveJob, u32)>,
        more: u64,
        view: &View<'_>,
        terms: &GangOptions,
    ) -> Load {
        let Needs { mut procs, mut growth } = self.sum;
        procs += more;
        for (live, had) in running {
            let needs = of(live, had, view, terms.reconfigure);
            procs += needs.procs;
            growth += needs.growth;
        }
        Demand { needed: procs, growth, processors: view.capacity(), level: terms.level }.load()
    }
}

/// What a job needs on so many processors: nothing, if it will have ended when sizes are reconsidered.
fn of(live: &LiveJob, procs: u32, view: &View<'_>, interval: Span) -> Needs {
    if live.estimate() < interval {
        return Needs::default();
    }
    let grown = if live.size().is_malleable() { sizes(live, view).towards(procs, Load::Low) } else { procs };
    Needs { procs: procs.into(), growth: grown.saturating_sub(procs).into() }
}
