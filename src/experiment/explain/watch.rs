//! Where a job is in a grid.

use crate::entity::Whereabouts;
use crate::grid::Grid;
use crate::local::Phase;
use crate::model::{JobId, JobKey, JobRecord, Origin, Record, RecordSink, SegmentRecord, SiteId};
use crate::units::Time;

/// Follows one job: through the records of a run, and through its entities.
pub(super) struct Watch {
    id: JobId,
    origin: Origin,
    /// The only site at which it can be, if it is local.
    home: Option<SiteId>,
    /// Where it was found last: site, partition, key and place in the order of arrival.
    at: Option<(SiteId, usize, JobKey, u64)>,
    /// When it first ran, as soon as that is known.
    pub(super) started: Option<Time>,
    over: bool,
}

/// Where a job is.
pub(super) enum Place {
    /// Not in the grid, or in a message.
    Nowhere,
    /// With the broker, not assigned.
    Broker,
    /// With the dispatcher.
    Dispatcher(Whereabouts),
    /// At a site, where it waits.
    Site { site: SiteId, partition: usize, key: JobKey },
    /// On processors.
    Runs { place: String, since: Time },
    /// It has ended.
    Over,
}

impl Watch {
    pub(super) const fn new(id: JobId, origin: Origin, home: Option<SiteId>) -> Self {
        Self { id, origin, home, at: None, started: None, over: false }
    }

    /// Where it is now.
    pub(super) fn find(&mut self, grid: &Grid) -> Place {
        if self.over {
            return Place::Over;
        }
        if let Some(place) = self.at_site(grid) {
            return place;
        }
        if self.origin == Origin::Sent {
            if let Some(there) = grid.dispatcher().and_then(|dispatcher| dispatcher.whereabouts(self.id)) {
                return Place::Dispatcher(there);
            }
            if grid.broker().is_some_and(|broker| broker.waits(self.id)) {
                return Place::Broker;
            }
        }
        Place::Nowhere
    }

    fn at_site(&mut self, grid: &Grid) -> Option<Place> {
        if let Some((site, partition, key, seq)) = self.at {
            let there = grid.site(site).and_then(|site| site.partitions().get(partition));
            let job =
                there.and_then(|there| there.view(Time::ZERO).get(key).map(|job| (job.id(), job.seq())));
            if job != Some((self.id, seq)) {
                self.at = None;
            }
        }
        if self.at.is_none() {
            for site in grid.sites().filter(|site| self.home.is_none_or(|home| home == site.id())) {
                for (partition, part) in site.partitions().iter().enumerate() {
                    if let Some(key) = part.find(self.id, self.origin) {
                        let seq = part.view(Time::ZERO).job(key).seq();
                        self.at = Some((site.id(), partition, key, seq));
                    }
                }
            }
        }
        let (site, partition, key, _) = self.at?;
        let here = grid.site(site)?;
        let job = here.partitions().get(partition)?.view(Time::ZERO).job(key);
        Some(match (job.phase(), job.first_start()) {
            (Phase::Running | Phase::Starting, since) => {
                self.started = self.started.or(since);
                let since = self.started.unwrap_or_default();
                Place::Runs { place: here.spec().name.clone(), since }
            }
            _ => Place::Site { site, partition, key },
        })
    }

    fn is_it(&self, id: JobId, origin: Origin, site: SiteId) -> bool {
        id == self.id && origin == self.origin && self.home.is_none_or(|home| home == site)
    }
}

impl RecordSink for Watch {
    fn record(&mut self, record: Record) {
        match record {
            Record::Job(JobRecord { id, origin, site, start, .. }) if self.is_it(id, origin, site) => {
                self.over = true;
                self.started = self.started.or(start);
            }
            Record::Segment(SegmentRecord { job, origin, site, from, ref procs, .. })
                if self.is_it(job, origin, site) && !procs.is_empty() =>
            {
                self.started = self.started.or(Some(from));
            }
            _ => {}
        }
    }
}
