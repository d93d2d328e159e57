//! The state of a grid in a snapshot.
//!
//! Each entity is written as its kind, the version of that kind's layout, and bytes. So the layout of one kind of entity can change
//! without the others, an older one can be read separately, and one that cannot be read is refused by name. A change to a field of an
//! entity, or of a job, a message or a mark, raises the version of the kinds that hold it ([`Kind::version`]). A snapshot of the
//! present layouts lies in `tests/it/data`; a test restores it and runs on to a known fingerprint, so that no layout changes
//! unnoticed.
//!
//! [`GridSave`] carries a hash of the description. `Grid::restore(saved, false)`, a resume, accepts only a state of the very same
//! description. `Grid::restore(saved, true)`, a fork, goes on under another description, after [`super::changes`] has listed what differs
//! and refused what cannot change (`docs/forks.md`). Each entity compares the description that it was saved under with its own: what is
//! equal is restored as in a resume, what differs takes effect at that instant (`local/partition/adopt.rs`: another policy, other prices; `platform`:
//! links, outages). So a fork that changes nothing is the same run. A site keeps the records of the change until its first moment.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::ending::{is_minute, next_minute};
use super::{Grid, GridError, Node};
use crate::entity::{EntityError, Stamp};
use crate::units::Time;

/// Raised whenever the layout of [`GridSave`] itself changes; its parts have versions of their own ([`Kind::version`]).
const SAVE_VERSION: u32 = 3;

/// The whole state of a grid between two moments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GridSave {
    /// The version of this layout.
    version: u32,
    /// A hash of the grid's description.
    described: u128,
    passed: Stamp,
    sequence: u64,
    forked: Time,
    nodes: Vec<NodeSave>,
}

/// An entity in a snapshot: its state as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeSave {
    kind: Kind,
    version: u32,
    #[serde(with = "serde_bytes")]
    state: Vec<u8>,
}

/// Writes bytes as one block and not one by one.
mod serde_bytes {
    use std::fmt;

    use serde::de::Visitor;
    use serde::{Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytes)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Vec<u8>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
                Ok(bytes.to_vec())
            }
            fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
                Ok(bytes)
            }
        }
        deserializer.deserialize_byte_buf(Bytes)
    }
}

/// The kind of an entity.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Kind {
    Portal,
    Broker,
    Dispatcher,
    Directory,
    Network,
    Site,
}

impl Kind {
    /// The version of the layout. It is raised whenever anything changes in what is saved of such an entity: its own fields, those of its
    /// contents (jobs, messages, reports, marks of workloads, what policies save), or their meaning. `tests/it/data` holds a snapshot of
    /// the present layouts, which a test restores; a change that makes it unreadable raises a version here, and [`Node::restore`]
    /// either reads the old layout, or refuses it.
    fn version(self) -> u32 {
        match self {
            // 22: what offers cost. 21: starts that are picked. 20: co-allocated jobs. 19: when jobs were believed to start, and what was measured. 18: the memory of jobs. 17: reports say whether a site is there. 16: why tasks return, as a program is told. 15: assignments have a number in messages. 14: when a policy wants to be asked again, what a plan has left, energy beyond idle of earlier attempts, free processors of machines that are awake. 13: limits of workflows. 12: prices of pools over time, jobs that are put off. 11: groups of machines in pools and reports; when what is in flight is expected to be done; deadlines and budgets. 10: who waited for files where it goes no more. 9: tasks that run again, planning that takes time, memory and tags, what was moved for a
            // workflow and charged to it. 8: tasks that fail by themselves. 7: the order in which planned tasks were sent. 6: what is planned, the files of
            // workflows, groups, the times of tasks, also by machine class.
            Self::Broker => 22,
            // 21: kinds of jobs in records. 20: what the grid reserves. 19: jobs that reservations are kept for. 18: jobs in transition, the memory of jobs. 17: when announced failures of groups begin. 16: machines that drain. 15: recalls say when they were sent. 14: assignments have a number in messages. 13: power caps in watts. 12: failures of groups, outages of a trace. 11: energy beyond idle, useful work. 10: limits of workflows, jobs that are ended at their budget. 9: what was drawn by purpose, power models of machines, power caps. 8: what was drawn, as integrals of power; machines that sleep; prices and carbon intensities over time; deadlines and budgets. Before as those below.
            Self::Site => 21,
            // 14 (portal 12): parts of co-allocated jobs. 13 (dispatcher): what the broker believes. 12 (portal 11): the memory of jobs. 11: assignments have a number in messages. 10: energy beyond idle of earlier attempts. 9: limits of workflows. 8: deadlines and budgets. 7: planning that takes time, memory and tags, overheads that take as long at any speed, what a job was charged. 6: tasks that fail by themselves, overheads of workflows.
            Self::Portal => 12,
            Self::Dispatcher => 14,
            // 6: links of pairs that have one of their own. 5: what moved data takes. 4: who asked for a transfer.
            Self::Network => 6,
            // 6: reports say whether a site is there. 5: faults of what it answers. 4: free processors of machines that are awake. 3: free processors by group of machines.
            Self::Directory => 6,
        }
    }

    fn name(self) -> &'static str {
        ["portal", "broker", "dispatcher", "directory", "network", "site"][self as usize]
    }
}

impl NodeSave {
    /// Decodes the state of an entity of this kind. `who` names the entity in messages.
    fn read<T: DeserializeOwned>(&self, kind: Kind, who: &str) -> Result<T, EntityError> {
        let bad = |problem: String| EntityError::BadSave { who: who.to_owned(), problem };
        let (known, found, name) = (self.kind.version(), self.version, self.kind.name());
        if found != known {
            let age = if found > known { "a newer" } else { "an older" };
            return Err(bad(format!(
                "its state has layout {found} of a {name}, which {age} gridemu wrote; this one reads layout {known}: go on with the \
                 version that began the run"
            )));
        }
        if self.kind != kind {
            return Err(bad(format!("a {name} was saved in its place")));
        }
        match postcard::take_from_bytes(&self.state) {
            Ok((state, [])) => Ok(state),
            _ => Err(bad("its state is not of the layout that it says it has; it was written by a gridemu between two versions"
                .to_owned())),
        }
    }
}

impl Node {
    /// The state, between two moments.
    ///
    /// # Errors
    /// [`EntityError`] if a workload cannot be continued from the middle.
    pub fn save(&self) -> Result<NodeSave, EntityError> {
        let (kind, state) = match self {
            Self::Portal(portal) => (Kind::Portal, postcard::to_stdvec(&portal.save()?)),
            Self::Broker(broker) => (Kind::Broker, postcard::to_stdvec(&broker.save())),
            Self::Dispatcher(dispatcher) => (Kind::Dispatcher, postcard::to_stdvec(dispatcher)),
            Self::Directory(directory) => (Kind::Directory, postcard::to_stdvec(directory)),
            Self::Network(network) => (Kind::Network, postcard::to_stdvec(network)),
            Self::Site(site) => (Kind::Site, postcard::to_stdvec(&site.save()?)),
        };
        let bad =
            |error: postcard::Error| EntityError::BadSave { who: self.who(), problem: error.to_string() };
        Ok(NodeSave { kind, version: kind.version(), state: state.map_err(bad)? })
    }

    /// Restores a state that an entity of the same description has saved. With `adopt`, what [`super::changes`] allows may differ from that
    /// moment on.
    ///
    /// # Errors
    /// [`EntityError`] if the state does not fit.
    pub fn restore(&mut self, saved: &NodeSave, adopt: Option<Stamp>) -> Result<(), EntityError> {
        let who = self.who();
        match self {
            Self::Portal(portal) => portal.restore(saved.read(Kind::Portal, &who)?),
            Self::Broker(broker) => broker.restore(saved.read(Kind::Broker, &who)?, adopt),
            Self::Dispatcher(dispatcher) => dispatcher.restore(saved.read(Kind::Dispatcher, &who)?, adopt),
            Self::Directory(directory) => directory.restore(saved.read(Kind::Directory, &who)?),
            Self::Network(network) => network.restore(saved.read(Kind::Network, &who)?, adopt),
            Self::Site(site) => site.restore(saved.read(Kind::Site, &who)?, adopt),
        }
    }

    fn who(&self) -> String {
        match self {
            Self::Site(site) => format!("site `{}`", site.spec().name),
            _ => crate::entity::Entity::address(self).to_string(),
        }
    }
}

impl Grid {
    /// The state, between two moments.
    ///
    /// # Errors
    /// [`GridError`] if a workload cannot be continued from the middle.
    pub fn snapshot(&self) -> Result<GridSave, GridError> {
        let nodes: Result<_, EntityError> = self.nodes.iter().map(Node::save).collect();
        Ok(GridSave {
            version: SAVE_VERSION,
            described: self.described,
            passed: self.passed,
            sequence: self.sequence,
            forked: self.forked,
            nodes: nodes?,
        })
    }

    /// Restores a state that a grid of the same description has saved; the sources must be freshly opened.
    ///
    /// With `adopt`, the grid goes on as this description says: ask [`super::changes`] before what may differ. Entities with other rules
    /// adopt them at that very moment; what has not changed goes on as if there had been no restore.
    ///
    /// # Errors
    /// [`GridError`] if the state does not fit; some entities may then have been restored already, so build the grid anew.
    pub fn restore(&mut self, saved: GridSave, adopt: bool) -> Result<(), GridError> {
        if saved.version != SAVE_VERSION {
            return Err(GridError::BadSave(format!(
                "it has layout {}, this version of gridemu reads {SAVE_VERSION}; resume it with the version of gridemu that began the run",
                saved.version
            )));
        }
        if saved.nodes.len() != self.nodes.len() {
            return Err(GridError::BadSave(format!(
                "it has {} entities, the grid has {}",
                saved.nodes.len(),
                self.nodes.len()
            )));
        }
        let passed = saved.passed;
        for (node, saved) in self.nodes.iter_mut().zip(&saved.nodes) {
            node.restore(saved, adopt.then_some(passed))?;
        }
        if !adopt && saved.described != self.described {
            return Err(GridError::BadSave(
                "it is of a grid of another description; a fork goes on under another one".to_owned(),
            ));
        }
        (self.passed, self.sequence) = (passed, saved.sequence);
        self.forked = match (saved.described == self.described, passed) {
            (true, _) => saved.forked,
            (false, Stamp { time, round: 0 }) if is_minute(time) => time,
            (false, Stamp { time, .. }) => next_minute(time),
        };
        Ok(())
    }
}

/// A hash that distinguishes descriptions.
pub(super) fn described(description: &impl Serialize) -> u128 {
    // Every description can be serialized.
    xxh3_128(&postcard::to_stdvec(description).unwrap_or_default())
}
