//! The grid as a library object: entities driven by a plain loop, without actors.
//!
//! This is the engine for single logs and light campaigns, and the oracle that the actors are tested against.

mod error;

use serde::{Deserialize, Serialize};

pub use error::{GridError, Waiter};

use crate::entity::{Address, Body, Entity, EntityError, Message, Outbox, Sender, Site, SiteSave, Stamp};
use crate::local::{Registry, Tally};
use crate::model::{Record, RecordSink, SiteId, SiteSpec};
use crate::units::Time;
use crate::workload::Source;

/// A grid of sites in virtual time.
///
/// ```
/// use gridemu::grid::Grid;
/// use gridemu::local::Registry;
/// use gridemu::model::{Job, Record, SiteSpec};
/// use gridemu::units::{Span, Time};
/// use gridemu::workload::Jobs;
///
/// let site = SiteSpec::plain("windsor", 4, "easy".parse()?);
/// let jobs = Jobs::new(vec![Job::rigid(1, Time::ZERO, 4, Span::from_secs(60))]);
/// let mut grid = Grid::new(vec![(site, Some(Box::new(jobs)))], &Registry::standard())?;
/// let mut records: Vec<Record> = Vec::new();
/// grid.run(&mut records)?;
/// assert_eq!(grid.now(), Time::from_secs(60));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Grid {
    sites: Vec<Site>,
    /// Everything before this moment has happened.
    passed: Stamp,
    sequence: u64,
}

/// Raised whenever anything in a [`GridSave`] changes its layout.
const SAVE_VERSION: u32 = 2;

/// What somebody outside tells the grid to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// When; not before the grid's present, and at the present after all that has happened.
    pub at: Time,
    /// To which site.
    pub site: SiteId,
    /// What.
    pub body: Body,
}

/// The whole state of a grid between two moments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GridSave {
    /// Layout of this and of all that is in it.
    version: u32,
    sites: Vec<SiteSave>,
    passed: Stamp,
    sequence: u64,
}

/// A site's description and its own users' workload.
pub type SiteWithSource = (SiteSpec, Option<Box<dyn Source>>);

/// Passes records on, and keeps messages until they are delivered.
struct Post<'a> {
    sink: &'a mut dyn RecordSink,
    sent: Vec<(Address, Message)>,
}

impl<'a> Post<'a> {
    fn new(sink: &'a mut dyn RecordSink) -> Self {
        Self { sink, sent: Vec::new() }
    }

    fn deliver(&mut self, sites: &mut [Site]) -> Result<(), GridError> {
        for (to, message) in self.sent.drain(..) {
            let Address::Site(to) = to else { continue };
            sites.get_mut(to.index()).ok_or(GridError::NoSuchSite(to))?.deliver(message)?;
        }
        Ok(())
    }
}

impl RecordSink for Post<'_> {
    fn record(&mut self, record: Record) {
        self.sink.record(record);
    }

    fn is_closed(&self) -> bool {
        self.sink.is_closed()
    }
}

impl Outbox for Post<'_> {
    fn send(&mut self, to: Address, message: Message) {
        self.sent.push((to, message));
    }
}

impl Grid {
    /// A grid at the beginning.
    ///
    /// # Errors
    /// [`GridError`] if a description makes no sense or a workload cannot be read.
    pub fn new(sites: Vec<SiteWithSource>, registry: &Registry) -> Result<Self, GridError> {
        if sites.is_empty() {
            return Err(GridError::NoSite);
        }
        let mut built: Vec<Site> = Vec::with_capacity(sites.len());
        for (id, (spec, source)) in (0..).zip(sites) {
            if built.iter().any(|site| site.spec().name == spec.name) {
                return Err(GridError::TwoSites(spec.name));
            }
            built.push(Site::new(SiteId(id), spec, source, registry)?);
        }
        Ok(Self { sites: built, passed: Stamp::default(), sequence: 0 })
    }

    /// The instant up to which everything has happened.
    pub fn now(&self) -> Time {
        self.passed.time
    }

    /// The sites.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// When something happens next; `None` if nothing does.
    pub fn next_event(&self) -> Option<Stamp> {
        self.sites.iter().filter_map(Entity::next_event).min()
    }

    /// Handles the next moment at which something happens, and returns it; `None` if nothing happens any more.
    ///
    /// # Errors
    /// [`GridError`] says what broke, where and when.
    pub fn step(&mut self, sink: &mut dyn RecordSink) -> Result<Option<Stamp>, GridError> {
        let Some(next) = self.next_event() else { return Ok(None) };
        let post = &mut Post::new(sink);
        for site in &mut self.sites {
            if site.next_event() == Some(next) {
                site.advance(next.next_round(), post)?;
            }
        }
        post.deliver(&mut self.sites)?;
        self.passed = self.passed.max(next.next_round());
        Ok(Some(next))
    }

    /// Handles everything up to and including `time`.
    ///
    /// # Errors
    /// [`GridError`] says what broke, where and when.
    pub fn run_until(&mut self, time: Time, sink: &mut dyn RecordSink) -> Result<(), GridError> {
        self.run_sites(time, sink)?;
        self.passed = self.passed.max(Stamp::at(time).next_round());
        Ok(())
    }

    /// Runs until nothing happens any more, and checks that every job that was submitted has ended.
    ///
    /// # Errors
    /// [`GridError`] says what broke; [`GridError::SinkClosed`] if `sink` can take no more; [`GridError::Stuck`] if
    /// jobs are left that nothing will ever start, which have then been recorded as unfinished.
    pub fn run(&mut self, sink: &mut dyn RecordSink) -> Result<(), GridError> {
        self.run_sites(Time::NEVER, sink)?;
        let waiters: Vec<Waiter> = self
            .sites
            .iter()
            .flat_map(|site| {
                let name = &site.spec().name;
                let left = site.partitions().iter().flat_map(crate::local::Partition::stuck);
                left.map(move |job| Waiter { job: job.id(), site: name.clone(), procs: job.procs() })
            })
            .collect();
        if waiters.is_empty() {
            return self.sites.iter().try_for_each(|site| balanced(&site.spec().name, site.tally()));
        }
        self.close(sink);
        Err(GridError::stuck(self.now(), waiters))
    }

    /// Ends the run here: whatever still waits or runs is recorded as unfinished.
    pub fn close(&mut self, sink: &mut dyn RecordSink) {
        let (now, post) = (self.now(), &mut Post::new(sink));
        self.sites.iter_mut().for_each(|site| site.close(now, post));
    }

    /// Tells the grid to do something.
    ///
    /// # Errors
    /// [`GridError`] if there is no such site or the time has passed.
    pub fn command(&mut self, command: Command) -> Result<(), GridError> {
        let Command { at, site, body } = command;
        let target = self.sites.get_mut(site.index()).ok_or(GridError::NoSuchSite(site))?;
        if at < self.passed.time {
            let site = target.spec().name.clone();
            return Err(EntityError::Late { site, now: self.passed, arrival: Stamp::at(at) }.into());
        }
        let sequence = self.sequence;
        self.sequence += 1;
        let arrival = Stamp::at(at).max(self.passed);
        target.deliver(Message { arrival, sender: Sender::Outside, sequence, body })?;
        Ok(())
    }

    /// The state, between two moments.
    ///
    /// # Errors
    /// [`GridError`] if a workload cannot be continued from the middle.
    pub fn snapshot(&self) -> Result<GridSave, GridError> {
        let sites: Result<_, EntityError> = self.sites.iter().map(Site::save).collect();
        Ok(GridSave { version: SAVE_VERSION, sites: sites?, passed: self.passed, sequence: self.sequence })
    }

    /// Takes back a state that a grid of the same description gave; the sources must be freshly opened. With `adopt`, local
    /// policies may be others than those that saved; each takes over with a pass.
    ///
    /// # Errors
    /// [`GridError`] if the state does not fit; some sites may then have it already, so begin anew.
    pub fn restore(&mut self, saved: GridSave, adopt: bool) -> Result<(), GridError> {
        if saved.version != SAVE_VERSION {
            return Err(GridError::BadSave(format!(
                "it has layout {}, this version of gridemu reads {SAVE_VERSION}",
                saved.version
            )));
        }
        if saved.sites.len() != self.sites.len() {
            return Err(GridError::BadSave(format!(
                "it has {} sites, the grid has {}",
                saved.sites.len(),
                self.sites.len()
            )));
        }
        let passed = saved.passed;
        for (site, saved) in self.sites.iter_mut().zip(saved.sites) {
            site.restore(saved, adopt.then_some(passed))?;
        }
        (self.passed, self.sequence) = (passed, saved.sequence);
        Ok(())
    }

    /// Handles everything up to and including `time`. Sites without a broker have nothing to say to each other: each
    /// can run on by itself.
    fn run_sites(&mut self, time: Time, sink: &mut dyn RecordSink) -> Result<(), GridError> {
        let post = &mut Post::new(sink);
        for site in &mut self.sites {
            while let Some(next) = site.next_event().filter(|next| next.time <= time) {
                site.advance(next.next_round(), post)?;
                self.passed = self.passed.max(next.next_round());
                if post.is_closed() {
                    return Err(GridError::SinkClosed);
                }
            }
        }
        post.deliver(&mut self.sites)
    }
}

/// Every job has one end.
fn balanced(site: &str, tally: Tally) -> Result<(), GridError> {
    let (arrived, ended) = (tally.arrived, tally.ended() + tally.returned);
    if arrived == ended {
        Ok(())
    } else {
        Err(GridError::Unbalanced { site: site.to_owned(), arrived, ended })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_without_an_end_is_missed() {
        let tally = Tally { arrived: 3, outcomes: [1, 1, 0, 0, 0, 0], ..Tally::default() };
        assert_eq!(
            balanced("windsor", tally),
            Err(GridError::Unbalanced { site: "windsor".to_owned(), arrived: 3, ended: 2 })
        );
        assert_eq!(balanced("windsor", Tally { arrived: 2, ..tally }), Ok(()));
    }
}
