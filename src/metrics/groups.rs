//! The jobs of a grid by origin and by the site at which they ended.

use serde::{Deserialize, Serialize};

use super::distribution::EXACT_QUANTILES;
use super::{Definitions, Exact, KindMeasures, Outcomes, Summary, Window};
use crate::model::{JobClasses, JobKind, JobRecord, Origin, SiteId};
use crate::units::{Energy, Money, Time};

/// A summary for each origin and each site (and for jobs that ended at no site), of the jobs submitted in a window;
/// the other jobs are only counted. All summaries share one budget of exact values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Groups {
    window: Window,
    sites: u32,
    /// At `2 × site + origin`; the last two are of jobs that ended at no site.
    cells: Vec<Summary>,
    /// All jobs by class, if there are classes.
    classed: Option<Summary>,
    /// All jobs by kind, in the order of [`JobKind::ALL`]; empty if all are rigid.
    kinds: Vec<Summary>,
    measured: u64,
    budget: u64,
    /// The jobs that were not submitted in the window.
    pub(super) outside: Outcomes,
    /// The energy and the cost that the jobs of each origin in the window were charged.
    pub(super) charged: [(Energy, Money); 2],
    /// First submission and last end of all jobs, whether they count or not.
    pub(super) span: Option<(Time, Time)>,
}

impl Groups {
    /// Creates an empty collector for a grid of `sites` sites.
    pub fn new(definitions: Definitions, window: Window, sites: usize) -> Self {
        Self::with_budget(definitions, window, sites, EXACT_QUANTILES)
    }

    /// Quantiles are exact up to `budget` measured jobs.
    pub(super) fn with_budget(definitions: Definitions, window: Window, sites: usize, budget: u64) -> Self {
        let plain = Definitions { classes: JobClasses::none(), ..definitions.clone() };
        // Each summary keeps all its values: the budget is shared and enforced here.
        let kinds = if definitions.kinds { JobKind::ALL.len() } else { 0 };
        let kinds = vec![Summary::with_budget(plain.clone(), u64::MAX); kinds];
        let cells = vec![Summary::with_budget(plain, u64::MAX); 2 * (sites + 1)];
        let classed = (definitions.classes.count() > 1).then(|| Summary::with_budget(definitions, u64::MAX));
        Self {
            window,
            sites: u32::try_from(sites).unwrap_or(u32::MAX),
            cells,
            classed,
            kinds,
            measured: 0,
            budget,
            outside: Outcomes::default(),
            charged: Default::default(),
            span: None,
        }
    }

    /// Adds a job.
    pub fn add(&mut self, job: &JobRecord) {
        let (from, to) = self.span.unwrap_or((job.submit, job.end));
        self.span = Some((from.min(job.submit), to.max(job.end)));
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
        if let Some(kind) = self.kinds.get_mut(job.kind as usize) {
            kind.add(job);
        }
        let charged = &mut self.charged[job.origin as usize];
        charged.0 += job.energy;
        charged.1 += job.cost;
    }

    fn sketch(&mut self) {
        self.cells.iter_mut().chain(&mut self.classed).chain(&mut self.kinds).for_each(Summary::sketch);
    }

    /// The index of the first cell of a site; an unknown site counts as none.
    fn place(&self, site: SiteId, origin: Origin) -> usize {
        2 * site.0.min(self.sites) as usize + origin as usize
    }

    /// The jobs of `origin` that ended at `site` ([`SiteId::GRID`]: at no site); `None` means any.
    pub fn summary(&self, site: Option<SiteId>, origin: Option<Origin>) -> Summary {
        let mut cells = self.wanted(site, origin).map(|at| &self.cells[at]);
        let mut sum = cells.next().cloned().unwrap_or_else(|| Summary::new(Definitions::default()));
        for cell in cells {
            let merged = sum.merge(cell);
            debug_assert!(merged.is_ok(), "all cells are of one definition");
        }
        sum
    }

    /// The cells of this site and origin.
    fn wanted(&self, site: Option<SiteId>, origin: Option<Origin>) -> impl Iterator<Item = usize> {
        let wanted = move |at: &usize| {
            site.is_none_or(|site| at / 2 == self.place(site, Origin::Local) / 2)
                && origin.is_none_or(|origin| at % 2 == origin as usize)
        };
        (0..self.cells.len()).filter(wanted)
    }

    /// The cells of this site and origin that have jobs: the same for groups of the same jobs.
    pub(super) fn filled(&self, site: Option<SiteId>, origin: Option<Origin>) -> Vec<usize> {
        self.wanted(site, origin).filter(|at| !self.cells[*at].is_empty()).collect()
    }

    /// The last end of a job at a site; `None` if none started there.
    pub(super) fn last_end(&self, site: SiteId) -> Option<Time> {
        self.wanted(Some(site), None).filter_map(|at| self.cells[at].last_end()).max()
    }

    /// All jobs, by class if there are classes.
    pub fn classed(&self) -> Summary {
        self.classed.clone().unwrap_or_else(|| self.summary(None, None))
    }

    /// The measures of rigid, moldable and malleable jobs of a run that ended at `end`, empty kinds included; empty if all jobs are rigid.
    pub(super) fn by_kind(&self, end: Option<Time>) -> Vec<KindMeasures> {
        let kinds = JobKind::ALL.into_iter().zip(&self.kinds);
        kinds.map(|(kind, jobs)| KindMeasures { kind, measures: jobs.whole_of(end) }).collect()
    }
}

impl Exact for Groups {
    fn exact(&mut self, each: &mut dyn FnMut(&mut Vec<u64>)) {
        self.cells
            .iter_mut()
            .chain(&mut self.classed)
            .chain(&mut self.kinds)
            .for_each(|cell| cell.exact(each));
    }
}
