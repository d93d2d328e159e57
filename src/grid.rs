//! The grid as a library object: entities driven by a plain loop, without actors.
//!
//! This is the engine for single logs and light campaigns, and the oracle that the actors are tested against.

mod center;
mod changes;
mod drive;
mod ending;
mod error;
mod least;
mod leg;
mod merge;
mod moments;
mod node;
mod save;
mod told;
mod windows;

use serde::{Deserialize, Serialize};

pub use changes::{ChangeError, changes};
pub use drive::{DriveError, drive};
pub use error::{GridError, Waiter};
pub use leg::{Callers, Halt, Leg};
pub use merge::{Merge, MergeSave};
pub use moments::drive_by_moments;
pub use node::Node;
pub use save::{GridSave, NodeSave};
pub use told::Told;
pub use windows::{Call, Group, Over, WindowEnds, WindowError, WindowOptions, Windows};

use self::center::Center;
use self::ending::{Left, Verdict};
use self::save::described;

use crate::broker::BrokerRegistry;
use crate::entity::{
    Address, Body, Broker, Dispatcher, Entity, EntityError, Message, Outbox, Pending, Portal, Sender, Site,
    Stamp,
};
use crate::local::{Registry, Tally};
use crate::model::{GridSpec, Record, RecordSink, SiteId, SiteSpec};
use crate::units::{Span, Time};
use crate::workload::{Jobs, Source};

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
    /// The sites, then the others.
    nodes: Vec<Node>,
    /// How many of them are sites.
    sites: usize,
    /// Everything before this moment has happened.
    passed: Stamp,
    sequence: u64,
    /// How long news may take to get around.
    quiet: Span,
    /// A hash of the description.
    described: u128,
    /// The first full minute at which this description was asked whether the run is over: news that gets around sooner than under the
    /// one before does not end it in the past.
    forked: Time,
}

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
    /// Sites without a broker, at the beginning.
    ///
    /// # Errors
    /// [`GridError`] if a description makes no sense or a workload cannot be read.
    pub fn new(sites: Vec<SiteWithSource>, registry: &Registry) -> Result<Self, GridError> {
        let sites = build_sites(sites, 0, registry)?;
        let described = described(&sites.iter().map(Site::spec).collect::<Vec<_>>());
        Ok(Self::of(sites, None, Span::ZERO, described))
    }

    /// The grid that `spec` describes, at the beginning. `sources` are the workloads of the sites' own users, in the order of the
    /// sites; `portal` is what comes through the portal.
    ///
    /// # Errors
    /// [`GridError`] if a description makes no sense or a workload cannot be read.
    pub fn build(
        spec: &GridSpec,
        sources: Vec<Option<Box<dyn Source>>>,
        portal: Option<Box<dyn Source>>,
        registry: &Registry,
        brokers: &BrokerRegistry,
    ) -> Result<Self, GridError> {
        let described = described(spec);
        let sources = sources.into_iter().chain(std::iter::repeat_with(|| None));
        let mut sites = build_sites(spec.sites.iter().cloned().zip(sources).collect(), spec.seed, registry)?;
        let Some(broker) = &spec.broker else {
            return if portal.is_some() {
                Err(GridError::NoBroker)
            } else {
                Ok(Self::of(sites, None, Span::ZERO, described))
            };
        };
        let portal = portal.unwrap_or_else(|| Box::new(Jobs::new(Vec::new())));
        let center = Center::build(spec, broker, portal, &mut sites, brokers)?;
        let slowest = (1..=sites.len()).map(|at| spec.network.link(0, at).latency).max().unwrap_or_default();
        // News gets around within a report, and a few messages there and back.
        let quiet = broker.picture * 2 + slowest * 10;
        let mut grid = Self::of(sites, Some(center), quiet, described);
        grid.nodes.iter_mut().filter_map(Node::site_mut).for_each(Site::account_from_the_beginning);
        Ok(grid)
    }

    fn of(sites: Vec<Site>, center: Option<Center>, quiet: Span, described: u128) -> Self {
        let count = sites.len();
        let mut nodes: Vec<Node> = sites.into_iter().map(|site| Node::Site(Box::new(site))).collect();
        nodes.extend(center.into_iter().flat_map(Center::into_nodes));
        Self {
            nodes,
            sites: count,
            passed: Stamp::default(),
            sequence: 0,
            quiet,
            described,
            forked: Time::ZERO,
        }
    }

    /// The instant up to which everything has happened.
    pub fn now(&self) -> Time {
        self.passed.time
    }

    /// The sites, in their order.
    pub fn sites(&self) -> impl ExactSizeIterator<Item = &Site> {
        let sites = &self.nodes[..self.sites];
        sites.iter().map(|node| node.as_site().expect("the first nodes are the sites"))
    }

    /// A site.
    pub fn site(&self, site: SiteId) -> Option<&Site> {
        self.nodes[..self.sites].get(site.index())?.as_site()
    }

    /// All entities: the sites, then what stands between portal and sites.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The broker, if there is one.
    pub fn broker(&self) -> Option<&Broker> {
        self.nodes.iter().find_map(Node::as_broker)
    }

    /// The dispatcher, if there is one.
    pub fn dispatcher(&self) -> Option<&Dispatcher> {
        self.nodes.iter().find_map(Node::as_dispatcher)
    }

    /// The portal, if there is one.
    pub fn portal(&self) -> Option<&Portal> {
        self.nodes.iter().find_map(Node::as_portal)
    }

    /// When something happens next; `None` if nothing does. Reports and machines that come and leave never end: a run does
    /// ([`Grid::run`]).
    pub fn next_event(&self) -> Option<Stamp> {
        self.nodes.iter().filter_map(Entity::next_event).min()
    }

    /// Handles the next moment at which something happens, and returns it; `None` if nothing happens any more.
    ///
    /// # Errors
    /// [`GridError`] says what broke, where and when.
    pub fn step(&mut self, sink: &mut dyn RecordSink) -> Result<Option<Stamp>, GridError> {
        let Some(next) = self.next_event() else { return Ok(None) };
        let post = &mut Post::new(sink);
        for node in &mut self.nodes {
            if node.next_event() == Some(next) {
                node.advance(next.next_round(), post)?;
            }
        }
        let sent = std::mem::take(&mut post.sent);
        self.deliver(sent)?;
        self.passed = self.passed.max(next.next_round());
        Ok(Some(next))
    }

    /// Handles everything up to and including `time`.
    ///
    /// # Errors
    /// [`GridError`] says what broke, where and when.
    pub fn run_until(&mut self, time: Time, sink: &mut dyn RecordSink) -> Result<(), GridError> {
        if self.is_simple() {
            self.run_alone(time, sink)?;
        } else {
            while self.next_event().is_some_and(|next| next.time <= time) {
                self.step(sink)?;
                if sink.is_closed() {
                    return Err(GridError::SinkClosed);
                }
            }
        }
        self.passed = self.passed.max(Stamp::at(time).next_round());
        Ok(())
    }

    /// The windows of a run of this grid, to `until` at the latest, chosen as `options` say beyond that.
    pub fn windows(&self, until: Option<Time>, options: WindowOptions) -> WindowOptions {
        let (quiet, callers) = (self.quiet, options.callers.clone());
        let over = move |pending: &[Pending], minute| {
            Left::of(pending).told_by(callers.as_ref()).verdict(quiet).is_over_at(minute)
        };
        let until = until.map_or(options.until, |until| Stamp::at(until).min(options.until));
        WindowOptions { over: Some(Over::new(over)), until, ..options }
    }

    /// Who talks to whom without delay: the portal and those behind it are one group.
    pub fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<Group> =
            self.sites().map(|site| Group { members: 1, latency: site.latency() }).collect();
        if self.sites < self.nodes.len() {
            let nearest = self.sites().map(Site::latency).min().unwrap_or(Span::MAX);
            groups.push(Group { members: self.nodes.len() - self.sites, latency: nearest });
        }
        groups
    }

    /// The same, one moment of the whole grid after the other: slow, and plain to see.
    ///
    /// # Errors
    /// As [`Grid::run`].
    pub fn run_stepwise(&mut self, until: Option<Time>, sink: &mut dyn RecordSink) -> Result<(), GridError> {
        let merge = &mut Merge::new(self.nodes.len());
        let mut end = Time::NEVER;
        let mut last = None;
        loop {
            let now = self.next_event().map(|next| next.time);
            // Between the rounds of an instant, what was said without delay is still on its way.
            if now != last || now.is_none() {
                end = match self.left().verdict(self.quiet) {
                    Verdict::GoOn => Time::NEVER,
                    Verdict::Done(end) | Verdict::Stuck(end) => end,
                };
                last = now;
            }
            let end = Stamp::at(until.map_or(end, |until| until.min(end)));
            let Some(next) = self.next_event().filter(|next| *next < end) else {
                merge.finish(sink);
                return self.finish(until, sink);
            };
            merge.emit(next.time, sink);
            let mut sent = Vec::new();
            for (at, node) in self.nodes.iter_mut().enumerate() {
                if node.next_event() == Some(next) {
                    let records = &mut Vec::new();
                    let post = &mut Post { sink: records, sent };
                    node.advance(next.next_round(), post)?;
                    sent = std::mem::take(&mut post.sent);
                    records.drain(..).for_each(|record| merge.push(at, record, sink));
                }
            }
            self.deliver(sent)?;
            if sink.is_closed() {
                return Err(GridError::SinkClosed);
            }
        }
    }

    /// Everything before the end of the run has happened: closes all accounts and sums up.
    ///
    /// # Errors
    /// As [`Grid::run`].
    fn finish(&mut self, until: Option<Time>, sink: &mut dyn RecordSink) -> Result<(), GridError> {
        let left = self.left();
        let (end, stuck) = match (left.verdict(self.quiet), until) {
            (Verdict::Done(end), _) => (until.map_or(end, |until| until.min(end)), false),
            (Verdict::Stuck(end), Some(until)) if until < end => (until, false),
            (Verdict::Stuck(end), _) => (end, true),
            (Verdict::GoOn, Some(until)) => (until, false),
            // Nothing ever happens again, whatever was said.
            (Verdict::GoOn, None) => (left.minute(), left.jobs() > 0),
        };
        let end = end.max(self.forked);
        let waiters = self.waiters();
        self.passed = Stamp::at(end);
        self.close(sink);
        let (let_in, done) = self.left().counts();
        if let_in != done {
            return Err(GridError::Unbalanced { who: "the grid".to_owned(), arrived: let_in, ended: done });
        }
        if stuck { Err(GridError::stuck(end, waiters)) } else { Ok(()) }
    }

    /// Takes all entities out, for somebody else to drive; to be put back with [`Grid::put_back`].
    pub(crate) fn take_out(&mut self) -> Vec<Node> {
        std::mem::take(&mut self.nodes)
    }

    /// Puts the entities back that were taken out.
    pub(crate) fn put_back(&mut self, nodes: Vec<Node>) {
        self.nodes = nodes;
    }

    /// Ends the run here: whatever still waits or runs is recorded as unfinished.
    pub fn close(&mut self, sink: &mut dyn RecordSink) {
        let (now, post) = (self.now(), &mut Post::new(sink));
        for node in &mut self.nodes {
            node.close(now, post);
        }
    }

    /// Tells the grid to do something.
    ///
    /// # Errors
    /// [`GridError`] if there is no such site or the time has passed.
    pub fn command(&mut self, command: Command) -> Result<(), GridError> {
        let Command { at, site, body } = command;
        let target = self.nodes[..self.sites].get_mut(site.index()).ok_or(GridError::NoSuchSite(site))?;
        if at < self.passed.time {
            let who = target.address().to_string();
            return Err(EntityError::Late { who, now: self.passed, arrival: Stamp::at(at) }.into());
        }
        let sequence = self.sequence;
        self.sequence += 1;
        let arrival = Stamp::at(at).max(self.passed);
        target.deliver(Message { arrival, sender: Sender::Outside, sequence, body })?;
        Ok(())
    }

    fn deliver(&mut self, sent: Vec<(Address, Message)>) -> Result<(), GridError> {
        for (to, message) in sent {
            let to =
                self.nodes.iter_mut().find(|node| node.address() == to).ok_or(GridError::NoSuchEntity(to))?;
            to.deliver(message)?;
        }
        Ok(())
    }

    /// What all entities have left to do.
    fn left(&self) -> Left {
        let mut left = Left::default();
        self.nodes.iter().for_each(|node| left.add(node.pending()));
        left
    }

    /// Jobs that wait, run or stand still somewhere.
    fn waiters(&self) -> Vec<Waiter> {
        let at_sites = self.sites().flat_map(|site| {
            let name = &site.spec().name;
            let left = site.partitions().iter().flat_map(crate::local::Partition::stuck);
            left.map(move |job| Waiter { job: job.id(), site: Some(name.clone()), procs: job.procs() })
        });
        let with_broker = self.broker().into_iter().flat_map(Broker::waiting).map(|job| Waiter {
            job: job.id,
            site: None,
            procs: job.size.preferred(),
        });
        at_sites.chain(with_broker).collect()
    }

    /// One site, or sites that say nothing to each other, whose machines stay: each can run on by itself, and ends by itself.
    fn is_simple(&self) -> bool {
        self.sites == self.nodes.len() && !self.sites().any(Site::churns)
    }

    /// Handles everything up to and including `time`, one site after the other.
    fn run_alone(&mut self, time: Time, sink: &mut dyn RecordSink) -> Result<(), GridError> {
        let post = &mut Post::new(sink);
        for site in self.nodes.iter_mut().filter_map(Node::site_mut) {
            while let Some(next) = site.next_event().filter(|next| next.time <= time) {
                site.advance(next.next_round(), post)?;
                self.passed = self.passed.max(next.next_round());
                if post.is_closed() {
                    return Err(GridError::SinkClosed);
                }
            }
        }
        Ok(())
    }
}

fn build_sites(sites: Vec<SiteWithSource>, seed: u64, registry: &Registry) -> Result<Vec<Site>, GridError> {
    if sites.is_empty() {
        return Err(GridError::NoSite);
    }
    let mut built: Vec<Site> = Vec::with_capacity(sites.len());
    for (id, (spec, source)) in (0..).zip(sites) {
        if built.iter().any(|site| site.spec().name == spec.name) {
            return Err(GridError::TwoSites(spec.name));
        }
        built.push(Site::new(SiteId(id), spec, source, seed, registry)?);
    }
    Ok(built)
}

/// Every job has one end.
fn balanced(site: &str, tally: Tally) -> Result<(), GridError> {
    let (arrived, ended) = (tally.arrived, tally.ended() + tally.returned);
    if arrived == ended {
        Ok(())
    } else {
        Err(GridError::Unbalanced { who: format!("site `{site}`"), arrived, ended })
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
            Err(GridError::Unbalanced { who: "site `windsor`".to_owned(), arrived: 3, ended: 2 })
        );
        assert_eq!(balanced("windsor", Tally { arrived: 2, ..tally }), Ok(()));
    }
}
