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

pub(crate) use center::pool_facts;
pub use changes::{ChangeError, changes};
pub use drive::drive;
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

use self::center::build_center;
use self::ending::{Ending, is_minute, next_minute};
use self::moments::moment;
use self::save::described;

use crate::entity::{
    Address, Broker, Dispatcher, Entity, EntityError, Message, Outbox, Portal, Quiescence, Sender, Site,
    Stamp, ToSite,
};
use crate::local::{PowerRegistry, Registry};
use crate::model::{
    GridSpec, JobId, JobRef, Needs, Record, RecordSink, SiteId, SiteSpec, TaskId, WorkloadId,
};
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
    ending: Ending,
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
    pub body: ToSite,
}

/// A site's description and its own users' workload.
pub type SiteWithSource = (SiteSpec, Option<Box<dyn Source>>);

/// An outbox that passes records on, for entities that send no messages.
struct RecordsOnly<'a>(&'a mut dyn RecordSink);

impl RecordSink for RecordsOnly<'_> {
    fn record(&mut self, record: Record) {
        self.0.record(record);
    }

    fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}

impl Outbox for RecordsOnly<'_> {
    fn send(&mut self, _: Address, _: Message) {}
}

impl Grid {
    /// A grid of sites without a broker, under the power policies of the library, at the beginning of its run.
    ///
    /// # Errors
    /// [`GridError`] if a description is invalid or a workload cannot be read.
    pub fn new(sites: Vec<SiteWithSource>, registry: &Registry) -> Result<Self, GridError> {
        let sites = build_sites(sites, 0, registry, &PowerRegistry::standard())?;
        let described = described(&sites.iter().map(Site::spec).collect::<Vec<_>>());
        Ok(Self::of(sites, Vec::new(), Span::ZERO, described))
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
        let sites = spec.sites.iter().cloned().zip(sources).collect();
        let mut sites = build_sites(sites, spec.seed, &policies.local, &policies.power)?;
        let Some(broker) = &spec.broker else {
            let mut grid = Self::of(sites, Vec::new(), Span::ZERO, described);
            if grid.sites > 1 {
                grid.account_from_the_beginning();
            }
            return if portal.is_some() { Err(GridError::NoBroker) } else { Ok(grid) };
        };
        let portal = portal.unwrap_or_else(|| Box::new(Jobs::new(Vec::new())));
        let center = build_center(spec, broker, portal, &mut sites, &policies.broker)?;
        let slowest = (1..=sites.len()).map(|at| spec.network.link(0, at).latency).max().unwrap_or_default();
        // News reaches every entity within a report and a few messages there and back.
        let quiet = broker.monitoring_interval * 2 + slowest * 10;
        let mut grid = Self::of(sites, center.into(), quiet, described);
        grid.account_from_the_beginning();
        Ok(grid)
    }

    /// Makes the run last to the first full minute from `horizon` on, also if no job is left before: runs in which jobs end at different times
    /// then account for the same stretch of time. Their accounts begin at 0.
    pub fn lasting(&mut self, horizon: Time) {
        self.ending.horizon = if is_minute(horizon) { horizon } else { next_minute(horizon) };
        self.account_from_the_beginning();
    }

    /// Makes the accounts of all sites cover the same time, from now to the end of the run.
    fn account_from_the_beginning(&mut self) {
        self.nodes.iter_mut().filter_map(Node::site_mut).for_each(Site::account_from_the_beginning);
    }

    fn of(sites: Vec<Site>, center: Vec<Node>, quiet: Span, described: u128) -> Self {
        let count = sites.len();
        let mut nodes: Vec<Node> = sites.into_iter().map(|site| Node::Site(Box::new(site))).collect();
        nodes.extend(center);
        Self {
            nodes,
            sites: count,
            passed: Stamp::default(),
            sequence: 0,
            ending: Ending { quiet, ..Ending::default() },
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

    /// From now on the passes of sites record their facts, for [`crate::local::Partition::explain`], and the assignments of `job`, a job
    /// of the grid, what was compared for them, for [`Broker::choice`].
    pub fn trace_decisions(&mut self, job: Option<JobId>) {
        for node in &mut self.nodes {
            match node {
                Node::Site(site) => site.trace_decisions(),
                Node::Broker(broker) => job.iter().for_each(|job| broker.trace_decisions(*job)),
                _ => {}
            }
        }
    }

    /// The broker, if there is one.
    pub fn broker(&self) -> Option<&Broker> {
        self.nodes.iter().find_map(|node| match node {
            Node::Broker(broker) => Some(&**broker),
            _ => None,
        })
    }

    /// The dispatcher, if there is one.
    pub fn dispatcher(&self) -> Option<&Dispatcher> {
        self.nodes.iter().find_map(|node| match node {
            Node::Dispatcher(dispatcher) => Some(&**dispatcher),
            _ => None,
        })
    }

    /// The portal, if there is one.
    pub fn portal(&self) -> Option<&Portal> {
        self.nodes.iter().find_map(|node| match node {
            Node::Portal(portal) => Some(&**portal),
            _ => None,
        })
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

    /// The windows of a run of this grid, to `until` at the latest, otherwise as `options` say.
    pub fn windows(&self, until: Option<Time>, options: WindowOptions) -> WindowOptions {
        let (ending, callers) = (self.ending, options.callers.clone());
        let over = move |pending: &[Quiescence], minute| {
            Quiescence::of_all(pending.iter().copied())
                .with_callers(callers.as_ref())
                .verdict(ending)
                .is_over_at(minute)
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
        let (now, post) = (self.now(), &mut RecordsOnly(sink));
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
        target.deliver(Message { arrival, sender: Sender::Outside, sequence, body: body.into() })?;
        Ok(())
    }

    /// The quiescence of all entities together.
    fn left(&self) -> Quiescence {
        left(&self.nodes)
    }

    /// Jobs that wait, run or are suspended anywhere.
    fn waiters(&self) -> Vec<Waiter> {
        let at_sites = self.sites().flat_map(|site| {
            let name = &site.spec().name;
            let left = site.partitions().iter().flat_map(crate::local::Partition::stuck);
            left.map(move |(job, procs)| {
                let (site, needs, files) = (Some(name.clone()), Needs::default(), Vec::new());
                Waiter { job, site, procs, needs, files }
            })
        });
        let with_broker = self.broker().into_iter().flat_map(|broker| {
            broker.waiting().chain(broker.staged()).map(move |job| Waiter {
                job: JobRef { workload: WorkloadId::GRID, number: job.id },
                site: None,
                procs: job.size.preferred(),
                needs: job.needs().cloned().unwrap_or_default(),
                files: job
                    .grid
                    .as_ref()
                    .map_or(Vec::new(), |grid| self.obstacles(broker, TaskId(grid.number))),
            })
        });
        at_sites.chain(with_broker).collect()
    }

    /// Why files do not come for which a task waits with the broker.
    fn obstacles(&self, broker: &Broker, task: TaskId) -> Vec<String> {
        let Some(site) = broker.awaits_at(task) else { return Vec::new() };
        let name = |site: SiteId| self.site(site).map_or_else(String::new, |site| site.spec().name.clone());
        let files = broker.awaited_files(task, site).into_iter();
        files.filter_map(|file| file.obstacle(&name(site), name)).collect()
    }

    fn stuck(&self, at: Time, waiters: Vec<Waiter>, left: u64, churn: bool) -> GridError {
        GridError::stuck(at, waiters, left, churn, self.sites().any(Site::has_users))
    }

    /// Whether the grid is a single site, or sites that exchange no messages and have accounts of their own, without churn: each can
    /// then run, and end, on its own.
    fn is_simple(&self) -> bool {
        self.sites == self.nodes.len()
            && !self.sites().any(|site| site.churns() || site.is_accounted_with_the_run())
    }
}

fn left(nodes: &[Node]) -> Quiescence {
    Quiescence::of_all(nodes.iter().map(Node::quiescence))
}

fn build_sites(
    sites: Vec<SiteWithSource>,
    seed: u64,
    local: &Registry,
    power: &PowerRegistry,
) -> Result<Vec<Site>, GridError> {
    if sites.is_empty() {
        return Err(GridError::NoSite);
    }
    let mut built: Vec<Site> = Vec::with_capacity(sites.len());
    for (id, (spec, source)) in (0..).zip(sites) {
        if built.iter().any(|site| site.spec().name == spec.name) {
            return Err(GridError::TwoSites(spec.name));
        }
        built.push(Site::new(SiteId(id), spec, source, seed, local, power)?);
    }
    Ok(built)
}
