//! The grid as a library object: a [`Grid`] owns the entities, whichever engine drives them.
//!
//! The plain loop ([`Grid::run`]) drives them without actors. It is the engine for single logs and light campaigns, and the oracle that the
//! actors of [`crate::runtime`] are tested against: these take the entities out of the grid and put them back, so a snapshot is of
//! the grid and not of the engine.
//!
//! | submodule | contents |
//! |---|---|
//! | `windows` | how far entities may go on without waiting for each other |
//! | `segment` | run segments and barriers |
//! | `ending` | the end of a run |
//! | `merge` | records of all entities in one order |
//! | `save`, `changes` | snapshots; resuming and forking |
//! | `moments` | the oracle of the tests, without windows |

mod center;
mod changes;
mod drive;
mod ending;
mod error;
mod halt;
mod journal_entry;
mod merge;
mod min_tree;
mod moments;
mod node;
mod policies;
mod save;
mod segment;
mod windows;

use serde::{Deserialize, Serialize};

pub use changes::{ChangeError, changes};
pub use drive::{DriveError, drive};
pub use error::{GridError, Waiter};
pub use halt::{Callers, Halt};
pub use journal_entry::JournalEntry;
pub use merge::{Merge, MergeSave};
pub use moments::drive_by_moments;
pub use node::Node;
pub use policies::Policies;
pub use save::{GridSave, NodeSave};
pub use segment::RunSegment;
pub use windows::{Call, Group, Over, WindowEnds, WindowError, WindowOptions, Windows};

use self::center::Center;
use self::ending::{Left, Verdict};
use self::moments::{by_moments, moment};
use self::save::described;

use crate::entity::{
    Address, Body, Broker, Dispatcher, Entity, EntityError, Message, Outbox, Portal, Quiescence, Sender,
    Site, Stamp,
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
    /// The sites, then the entities of the center.
    nodes: Vec<Node>,
    /// The number of sites.
    sites: usize,
    /// Everything before this moment has happened.
    passed: Stamp,
    sequence: u64,
    /// The longest time that news takes to reach every entity.
    quiet: Span,
    /// A hash of the description.
    described: u128,
    /// The first full minute at which the verdict was asked for under this description: a fork whose news travels faster must not end the
    /// run in the past.
    forked: Time,
}

/// A command to the grid from outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// The time at which it is carried out: not before the grid's present, and at the present after all that has happened.
    pub at: Time,
    /// The site that carries it out.
    pub site: SiteId,
    /// The command itself.
    pub body: Body,
}

/// A site's description and its own users' workload.
pub type SiteWithSource = (SiteSpec, Option<Box<dyn Source>>);

/// An outbox that passes records on, for entities that send no messages.
struct Mailroom<'a>(&'a mut dyn RecordSink);

impl RecordSink for Mailroom<'_> {
    fn record(&mut self, record: Record) {
        self.0.record(record);
    }

    fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}

impl Outbox for Mailroom<'_> {
    fn send(&mut self, _: Address, _: Message) {}
}

impl Grid {
    /// A grid of sites without a broker, at the beginning of its run.
    ///
    /// # Errors
    /// [`GridError`] if a description is invalid or a workload cannot be read.
    pub fn new(sites: Vec<SiteWithSource>, registry: &Registry) -> Result<Self, GridError> {
        let sites = build_sites(sites, 0, registry)?;
        let described = described(&sites.iter().map(Site::spec).collect::<Vec<_>>());
        Ok(Self::of(sites, None, Span::ZERO, described))
    }

    /// The grid that `spec` describes, at the beginning of its run. `sources` are the workloads of the sites' own users, in the order of
    /// the sites; `portal` is the workload of the grid.
    ///
    /// # Errors
    /// [`GridError`] if a description is invalid or a workload cannot be read.
    pub fn build(
        spec: &GridSpec,
        sources: Vec<Option<Box<dyn Source>>>,
        portal: Option<Box<dyn Source>>,
        policies: &Policies,
    ) -> Result<Self, GridError> {
        let described = described(spec);
        let sources = sources.into_iter().chain(std::iter::repeat_with(|| None));
        let mut sites =
            build_sites(spec.sites.iter().cloned().zip(sources).collect(), spec.seed, &policies.local)?;
        let Some(broker) = &spec.broker else {
            return if portal.is_some() {
                Err(GridError::NoBroker)
            } else {
                Ok(Self::of(sites, None, Span::ZERO, described))
            };
        };
        let portal = portal.unwrap_or_else(|| Box::new(Jobs::new(Vec::new())));
        let center = Center::build(spec, broker, portal, &mut sites, &policies.broker)?;
        let slowest = (1..=sites.len()).map(|at| spec.network.link(0, at).latency).max().unwrap_or_default();
        // News reaches every entity within a report and a few messages there and back.
        let quiet = broker.monitoring_interval * 2 + slowest * 10;
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

    /// All entities: the sites, then the center.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// From now on each decision of a site records its facts, for [`crate::local::Partition::explain`].
    pub fn trace_decisions(&mut self) {
        self.nodes.iter_mut().filter_map(Node::site_mut).for_each(Site::trace_decisions);
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

    /// The moment of the next event; `None` if there is none. Reports and churn never end, but a run does
    /// ([`Grid::run`]).
    pub fn next_event(&self) -> Option<Stamp> {
        self.nodes.iter().filter_map(Entity::next_event).min()
    }

    /// Handles the next moment at which something happens, and returns it; `None` if no event is left.
    ///
    /// # Errors
    /// [`GridError`] says what broke, where and when.
    pub fn step(&mut self, sink: &mut dyn RecordSink) -> Result<Option<Stamp>, GridError> {
        let Some(next) = self.next_event() else { return Ok(None) };
        moment(&mut self.nodes, next, &mut Vec::new(), |_, record| sink.record(record))?;
        self.passed = self.passed.max(next.next_round());
        Ok(Some(next))
    }

    /// Handles everything up to and including `time`.
    ///
    /// # Errors
    /// [`GridError`] says what broke, where and when.
    pub fn run_until(&mut self, time: Time, sink: &mut dyn RecordSink) -> Result<(), GridError> {
        if self.is_simple() {
            self.alone(Stamp::at(time + Span::TICK), None, sink)?;
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

    /// The windows of a run of this grid, to `until` at the latest, otherwise as `options` say.
    pub fn windows(&self, until: Option<Time>, options: WindowOptions) -> WindowOptions {
        let (quiet, callers) = (self.quiet, options.callers.clone());
        let over = move |pending: &[Quiescence], minute| {
            Left::of(pending).told_by(callers.as_ref()).verdict(quiet).is_over_at(minute)
        };
        let until = until.map_or(options.until, |until| Stamp::at(until).min(options.until));
        WindowOptions { over: Some(Over::new(over)), until, ..options }
    }

    /// The groups of entities that exchange messages without delay: the portal and the rest of the center are one.
    pub fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<Group> =
            self.sites().map(|site| Group { members: 1, latency: site.latency() }).collect();
        if self.sites < self.nodes.len() {
            let nearest = self.sites().map(Site::latency).min().unwrap_or(Span::MAX);
            groups.push(Group { members: self.nodes.len() - self.sites, latency: nearest });
        }
        groups
    }

    /// Runs one moment of the whole grid after the other, as an oracle: slow, and obviously correct.
    ///
    /// # Errors
    /// As [`Grid::run`].
    pub fn run_stepwise(&mut self, until: Option<Time>, sink: &mut dyn RecordSink) -> Result<(), GridError> {
        let (quiet, mut last, mut end) = (self.quiet, None, Stamp::END);
        let ends = |nodes: &[Node], next: Option<Stamp>| {
            let now = next.map(|next| next.time);
            // Between the rounds of an instant, messages without delay have not arrived yet.
            if now != last || now.is_none() {
                let over = match left(nodes).verdict(quiet) {
                    Verdict::GoOn => Time::NEVER,
                    Verdict::Done(end) | Verdict::Stuck(end) => end,
                };
                end = Stamp::at(until.map_or(over, |until| until.min(over)));
                last = now;
            }
            end
        };
        by_moments(&mut self.nodes, ends, sink)?;
        self.finish(until, sink)
    }

    /// Closes all accounts and adds them up, after everything before the end of the run has happened.
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
            // No event is left, whatever entities reported.
            (Verdict::GoOn, None) => (left.minute(), left.jobs() > 0),
        };
        let end = end.max(self.forked);
        let waiters = self.waiters();
        self.passed = Stamp::at(end);
        self.close(sink);
        let (admitted, done) = self.left().counts();
        if admitted != done {
            return Err(GridError::Unbalanced { who: "the grid".to_owned(), arrived: admitted, ended: done });
        }
        if stuck { Err(GridError::stuck(end, waiters)) } else { Ok(()) }
    }

    /// Takes all entities out for another driver, which returns them with [`Grid::put_back`].
    pub(crate) fn take_out(&mut self) -> Vec<Node> {
        std::mem::take(&mut self.nodes)
    }

    /// Returns the entities that were taken out.
    pub(crate) fn put_back(&mut self, nodes: Vec<Node>) {
        self.nodes = nodes;
    }

    /// Ends the run here: jobs that still wait or run are recorded as unfinished.
    pub fn close(&mut self, sink: &mut dyn RecordSink) {
        let (now, post) = (self.now(), &mut Mailroom(sink));
        for node in &mut self.nodes {
            node.close(now, post);
        }
    }

    /// Gives the grid a command.
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

    /// The quiescence of all entities together.
    fn left(&self) -> Left {
        left(&self.nodes)
    }

    /// Jobs that wait, run or are suspended anywhere.
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

    /// Whether the grid is a single site, or sites that exchange no messages, without churn: each can then run, and end, on its own.
    fn is_simple(&self) -> bool {
        self.sites == self.nodes.len() && !self.sites().any(Site::churns)
    }
}

fn left(nodes: &[Node]) -> Left {
    let mut left = Left::default();
    nodes.iter().for_each(|node| left.add(node.pending()));
    left
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

/// Checks that every job has ended once.
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
