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
//! equal is restored as in a resume, what differs takes effect at that instant (`local/adopt.rs`: another policy, other prices; `platform`:
//! links, outages). So a fork that changes nothing is the same run. A site keeps the records of the change until its first moment.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use xxhash_rust::xxh3::xxh3_128;

use super::ending::{is_minute, next_minute};
use super::{Grid, GridError, Node};
use crate::entity::{BrokerSave, Directory, Dispatcher, EntityError, Network, PortalSave, SiteSave, Stamp};
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

/// An entity in a snapshot: its state, or the bytes as they were read and have not been decoded yet.
#[derive(Clone, Debug)]
pub struct NodeSave(Content);

#[derive(Clone, Debug)]
enum Content {
    State(NodeState),
    Written(Written),
}

/// The state of an entity.
#[derive(Clone, Debug)]
enum NodeState {
    Portal(PortalSave),
    Broker(Box<BrokerSave>),
    Dispatcher(Box<Dispatcher>),
    Directory(Directory),
    Network(Network),
    Site(Box<SiteSave>),
}

/// The state of an entity as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Written {
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
    /// the present layouts, which a test restores; a change that makes it unreadable raises a version here, and either [`Written::state`]
    /// reads the old layout, or refuses it.
    fn version(self) -> u32 {
        match self {
            // 2: jobs carry elastic commands, and partitions have an agenda.
            Self::Portal | Self::Broker | Self::Dispatcher | Self::Site => 2,
            Self::Directory | Self::Network => 1,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Portal => "portal",
            Self::Broker => "broker",
            Self::Dispatcher => "dispatcher",
            Self::Directory => "directory",
            Self::Network => "network",
            Self::Site => "site",
        }
    }
}

impl NodeState {
    fn kind(&self) -> Kind {
        match self {
            Self::Portal(_) => Kind::Portal,
            Self::Broker(_) => Kind::Broker,
            Self::Dispatcher(_) => Kind::Dispatcher,
            Self::Directory(_) => Kind::Directory,
            Self::Network(_) => Kind::Network,
            Self::Site(_) => Kind::Site,
        }
    }

    fn written(&self) -> Result<Written, postcard::Error> {
        let state = match self {
            Self::Portal(state) => postcard::to_stdvec(state),
            Self::Broker(state) => postcard::to_stdvec(state),
            Self::Dispatcher(state) => postcard::to_stdvec(state),
            Self::Directory(state) => postcard::to_stdvec(state),
            Self::Network(state) => postcard::to_stdvec(state),
            Self::Site(state) => postcard::to_stdvec(state),
        };
        Ok(Written { kind: self.kind(), version: self.kind().version(), state: state? })
    }
}

impl Written {
    /// Decodes the state. `who` names the entity in messages.
    fn state(&self, who: &str) -> Result<NodeState, EntityError> {
        let (known, found) = (self.kind.version(), self.version);
        if found != known {
            let age = if found > known { "newer" } else { "older" };
            let problem = format!(
                "its state has layout {found} of a {}, which an {age} gridemu wrote; this one reads layout {known}: go on with the \
                 version that began the run",
                self.kind.name(),
            );
            let problem = problem.replace("an newer", "a newer");
            return Err(EntityError::BadSave { who: who.to_owned(), problem });
        }
        Ok(match self.kind {
            Kind::Portal => NodeState::Portal(self.read(who)?),
            Kind::Broker => NodeState::Broker(self.read(who)?),
            Kind::Dispatcher => NodeState::Dispatcher(self.read(who)?),
            Kind::Directory => NodeState::Directory(self.read(who)?),
            Kind::Network => NodeState::Network(self.read(who)?),
            Kind::Site => NodeState::Site(self.read(who)?),
        })
    }

    fn read<T: DeserializeOwned>(&self, who: &str) -> Result<T, EntityError> {
        match postcard::take_from_bytes(&self.state) {
            Ok((state, [])) => Ok(state),
            _ => Err(EntityError::BadSave {
                who: who.to_owned(),
                problem: "its state is not of the layout that it says it has; it was written by a gridemu between two versions"
                    .to_owned(),
            }),
        }
    }
}

impl NodeSave {
    fn written(&self) -> Result<Written, postcard::Error> {
        match &self.0 {
            Content::State(state) => state.written(),
            Content::Written(written) => Ok(written.clone()),
        }
    }

    fn state(self, who: &str) -> Result<NodeState, EntityError> {
        match self.0 {
            Content::State(state) => Ok(state),
            Content::Written(written) => written.state(who),
        }
    }
}

impl PartialEq for NodeSave {
    /// Compares what is written.
    fn eq(&self, other: &Self) -> bool {
        matches!((self.written(), other.written()), (Ok(a), Ok(b)) if a == b)
    }
}

impl Eq for NodeSave {}

impl Serialize for NodeSave {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.written().map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for NodeSave {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Written::deserialize(deserializer).map(|written| Self(Content::Written(written)))
    }
}

impl Node {
    /// The state, between two moments.
    ///
    /// # Errors
    /// [`EntityError`] if a workload cannot be continued from the middle.
    pub fn save(&self) -> Result<NodeSave, EntityError> {
        Ok(NodeSave(Content::State(match self {
            Self::Portal(portal) => NodeState::Portal(portal.save()?),
            Self::Broker(broker) => NodeState::Broker(Box::new(broker.save())),
            Self::Dispatcher(dispatcher) => NodeState::Dispatcher(dispatcher.clone()),
            Self::Directory(directory) => NodeState::Directory((**directory).clone()),
            Self::Network(network) => NodeState::Network((**network).clone()),
            Self::Site(site) => NodeState::Site(Box::new(site.save()?)),
        })))
    }

    /// Restores a state that an entity of the same description has saved. With `adopt`, what [`super::changes`] allows may differ from that
    /// moment on.
    ///
    /// # Errors
    /// [`EntityError`] if the state does not fit.
    pub fn restore(&mut self, saved: NodeSave, adopt: Option<Stamp>) -> Result<(), EntityError> {
        let who = self.who();
        match (self, saved.state(&who)?) {
            (Self::Portal(portal), NodeState::Portal(saved)) => portal.restore(saved),
            (Self::Broker(broker), NodeState::Broker(saved)) => broker.restore(*saved, adopt),
            (Self::Dispatcher(dispatcher), NodeState::Dispatcher(saved)) => dispatcher.restore(*saved, adopt),
            (Self::Directory(directory), NodeState::Directory(saved)) => directory.restore(saved),
            (Self::Network(network), NodeState::Network(saved)) => network.restore(saved, adopt),
            (Self::Site(site), NodeState::Site(saved)) => site.restore(*saved, adopt),
            (_, saved) => Err(EntityError::BadSave {
                who,
                problem: format!("a {} was saved in its place", saved.kind().name()),
            }),
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
        for (node, saved) in self.nodes.iter_mut().zip(saved.nodes) {
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
