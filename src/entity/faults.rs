//! The faults of all sites, as an entity of the center follows them.

use std::sync::Arc;

use crate::model::SiteId;
use crate::platform::{FaultTurn, SiteFaults};
use crate::units::Time;

/// The faults between the grid and its sites, with the turns that one entity follows, in order. They follow from the description, and are
/// not part of the state.
#[derive(Clone, Debug, Default)]
pub(super) struct AllFaults {
    sites: Vec<Option<Arc<SiteFaults>>>,
    turns: Vec<(Time, SiteId, FaultTurn)>,
}

impl PartialEq for AllFaults {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for AllFaults {}

impl AllFaults {
    /// The faults of all sites, of whose turns some are followed.
    pub(super) fn of(sites: Vec<Option<Arc<SiteFaults>>>, follows: impl Fn(FaultTurn) -> bool) -> Self {
        let mut turns: Vec<(Time, SiteId, FaultTurn)> = Vec::new();
        for (site, faults) in (0..).map(SiteId).zip(&sites) {
            let all = faults.iter().flat_map(|faults| faults.turns());
            turns.extend(all.filter(|(_, turn)| follows(*turn)).map(|(time, turn)| (*time, site, *turn)));
        }
        turns.sort_unstable();
        Self { sites, turns }
    }

    /// The faults of a site.
    pub(super) fn site(&self, site: SiteId) -> Option<&Arc<SiteFaults>> {
        self.sites.get(site.index())?.as_ref()
    }

    /// Whether turns of a site are followed.
    pub(super) fn is_followed(&self, site: SiteId) -> bool {
        self.turns.iter().any(|(_, of, _)| *of == site)
    }

    /// When the next turn is.
    pub(super) fn next(&self, turned: usize) -> Option<Time> {
        self.turns.get(turned).map(|(time, ..)| *time)
    }

    /// When the last turn was that has been taken.
    pub(super) fn last(&self, turned: usize) -> Option<Time> {
        self.turns.get(turned.checked_sub(1)?).map(|(time, ..)| *time)
    }

    /// Takes the next turn that is due.
    pub(super) fn take(&self, turned: &mut usize, now: Time) -> Option<(SiteId, FaultTurn)> {
        let (_, site, turn) = self.turns.get(*turned).filter(|(time, ..)| *time <= now)?;
        *turned += 1;
        Some((*site, *turn))
    }
}
