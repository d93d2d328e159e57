//! The jobs of a grid by the site they ended at and by whose they are.

use serde::{Deserialize, Serialize};

use super::distribution::EXACT_QUANTILES;
use super::{Definitions, DifferentDefinitions, Exact, Outcomes, Summary, Window};
use crate::model::{JobClasses, JobRecord, Origin, SiteId};
use crate::units::{Energy, Money, Time};

/// A summary for each site (and for jobs that ended at none) and origin, of the jobs submitted in a window; the others
/// are counted beside them. All summaries share one budget of exact values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Groups {
    window: Window,
    sites: u32,
    /// At `2 × site + origin`; the last two are of jobs that ended at no site.
    cells: Vec<Summary>,
    /// All jobs by class, if there are classes.
    classed: Option<Summary>,
    measured: u64,
    budget: u64,
    outside: Outcomes,
    charged: [Charged; 2],
    /// First submission and last end of all jobs.
    span: Option<(Time, Time)>,
}

/// What jobs were charged.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charged {
    /// Energy.
    pub energy: Energy,
    /// Money.
    pub cost: Money,
}

impl Groups {
    /// Nothing yet, of a grid of `sites` sites.
    pub fn new(definitions: Definitions, window: Window, sites: usize) -> Self {
        Self::with_budget(definitions, window, sites, EXACT_QUANTILES)
    }

    /// Exact up to `budget` measured jobs.
    pub(super) fn with_budget(definitions: Definitions, window: Window, sites: usize, budget: u64) -> Self {
        let plain = Definitions::new(definitions.tau(), JobClasses::none(), definitions.machine());
        // Each keeps what it is given: the budget is theirs together.
        let cells = vec![Summary::with_budget(plain, u64::MAX); 2 * (sites + 1)];
        let classed =
            (definitions.classes().count() > 1).then(|| Summary::with_budget(definitions, u64::MAX));
        Self {
            window,
            sites: u32::try_from(sites).unwrap_or(u32::MAX),
            cells,
            classed,
            measured: 0,
            budget,
            outside: Outcomes::default(),
            charged: [Charged::default(); 2],
            span: None,
        }
    }

    /// Adds a job.
    pub fn add(&mut self, job: &JobRecord) {
        self.widen(job.submit, job.end);
        if !self.window.contains(job.submit) {
            self.outside.add(job.outcome);
            return;
        }
        if Definitions::is_measured(job) {
            self.measured += 1;
            if self.measured == self.budget.saturating_add(1) {
                self.sketch();
            }
        }
        let at = self.place(job.site, job.origin);
        self.cells[at].add(job);
        if let Some(classed) = &mut self.classed {
            classed.add(job);
        }
        let charged = &mut self.charged[job.origin as usize];
        charged.energy += job.energy;
        charged.cost += job.cost;
    }

    /// Adds everything that `other` has seen in the same window of the same grid.
    ///
    /// # Errors
    /// [`DifferentDefinitions`], with nothing added, if the two do not measure the same.
    pub fn merge(&mut self, other: &Self) -> Result<(), DifferentDefinitions> {
        let same = |a: &Summary, b: &Summary| a.definitions() == b.definitions();
        let classed = match (&self.classed, &other.classed) {
            (Some(mine), Some(theirs)) => same(mine, theirs),
            (mine, theirs) => mine.is_none() && theirs.is_none(),
        };
        let shape = (self.window, self.sites) == (other.window, other.sites);
        if !(shape && classed && same(&self.cells[0], &other.cells[0])) {
            return Err(DifferentDefinitions);
        }
        for (mine, theirs) in self.cells.iter_mut().zip(&other.cells) {
            mine.merge(theirs)?;
        }
        if let (Some(mine), Some(theirs)) = (&mut self.classed, &other.classed) {
            mine.merge(theirs)?;
        }
        self.measured += other.measured;
        if self.measured > self.budget {
            self.sketch();
        }
        self.outside.merge(&other.outside);
        for (mine, theirs) in self.charged.iter_mut().zip(other.charged) {
            mine.energy += theirs.energy;
            mine.cost += theirs.cost;
        }
        if let Some((first, last)) = other.span {
            self.widen(first, last);
        }
        Ok(())
    }

    fn sketch(&mut self) {
        self.cells.iter_mut().chain(&mut self.classed).for_each(Summary::sketch);
    }

    fn widen(&mut self, first: Time, last: Time) {
        let (from, to) = self.span.unwrap_or((first, last));
        self.span = Some((from.min(first), to.max(last)));
    }

    /// Where a site's jobs are counted; what is no site of this grid is none.
    fn place(&self, site: SiteId, origin: Origin) -> usize {
        2 * site.0.min(self.sites) as usize + origin as usize
    }

    /// The jobs that ended at `site` ([`SiteId::GRID`]: at none) and are of `origin`; `None` is any.
    pub fn summary(&self, site: Option<SiteId>, origin: Option<Origin>) -> Summary {
        let wanted = |at: &usize| {
            site.is_none_or(|site| at / 2 == self.place(site, Origin::Own) / 2)
                && origin.is_none_or(|origin| at % 2 == origin as usize)
        };
        let mut cells = (0..self.cells.len()).filter(wanted).map(|at| &self.cells[at]);
        let mut sum = cells.next().cloned().unwrap_or_else(|| Summary::new(Definitions::default()));
        for cell in cells {
            let merged = sum.merge(cell);
            debug_assert!(merged.is_ok(), "all cells are of one definition");
        }
        sum
    }

    /// All jobs, by class if there are classes.
    pub fn classed(&self) -> Summary {
        self.classed.clone().unwrap_or_else(|| self.summary(None, None))
    }

    /// The jobs that were not submitted in the window.
    pub const fn outside(&self) -> Outcomes {
        self.outside
    }

    /// What the jobs of `origin` in the window were charged.
    pub const fn charged(&self, origin: Origin) -> Charged {
        self.charged[origin as usize]
    }

    /// First submission and last end of all jobs, whether they count or not.
    pub const fn span(&self) -> Option<(Time, Time)> {
        self.span
    }
}

impl Exact for Groups {
    fn exact(&mut self, each: &mut dyn FnMut(&mut Vec<u64>)) {
        self.cells.iter_mut().chain(&mut self.classed).for_each(|cell| cell.exact(each));
    }
}
