//! When which nodes of a real grid were down.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::trace::{Contents, InUse, TraceOf};
use crate::units::{Span, Timestamp};

/// A stretch in which a node was down, from the beginning of its trace on.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    /// When it goes down.
    pub from: Span,
    /// When it is back; [`Span::MAX`] for never.
    pub to: Span,
}

/// The outages of nodes: a trace of a million changes takes eight megabytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeOutages {
    names: Vec<String>,
    /// Where the outages of each node end.
    ends: Vec<u32>,
    outages: Vec<Outage>,
}

impl NodeOutages {
    /// Adds a node with its outages.
    ///
    /// # Panics
    /// If they are not in order, apart from each other and of some length.
    pub fn push(&mut self, name: String, outages: impl Iterator<Item = Outage>) {
        let first = self.outages.len();
        self.outages.extend(outages);
        let own = &self.outages[first..];
        assert!(own.iter().all(|outage| outage.from < outage.to), "an outage has a length");
        assert!(own.is_sorted_by(|a, b| a.to < b.from), "outages are in order and apart");
        self.names.push(name);
        self.ends.push(self.outages.len() as u32);
    }

    /// The names of the nodes, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// All outages, those of the first node first.
    pub fn outages(&self) -> &[Outage] {
        &self.outages
    }

    /// The outages of a node, in order and apart from each other; none of a node that is not there.
    pub fn of(&self, node: u32) -> &[Outage] {
        let Some(end) = self.ends.get(node as usize) else { return &[] };
        let begin = node.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.outages[begin as usize..*end as usize]
    }

    /// How long a node is down from a time to another.
    pub fn down(&self, node: u32, from: Span, to: Span) -> Span {
        let within = |outage: &Outage| outage.to.min(to) - outage.from.max(from);
        self.of(node).iter().map(within).fold(Span::ZERO, |sum, more| sum + more)
    }
}

/// When which nodes of a real grid were down, from a file.
pub type FailureTrace = TraceOf<NodeOutages>;

static IN_USE: InUse<NodeOutages> = InUse::new();

impl Contents for NodeOutages {
    fn hash(&self, hash: &mut Xxh3) {
        for (node, end) in self.names.iter().zip(&self.ends) {
            hash.update(node.as_bytes());
            hash.update(&[0]);
            hash.update(&end.to_le_bytes());
        }
        for Outage { from, to } in &self.outages {
            hash.update(&from.micros().to_le_bytes());
            hash.update(&to.micros().to_le_bytes());
        }
    }

    fn in_use() -> &'static InUse<Self> {
        &IN_USE
    }
}

impl FailureTrace {
    /// The trace in the file `name`, which tells of the time from `begin` to `end`.
    pub fn new(name: &str, begin: Timestamp, end: Timestamp, nodes: NodeOutages) -> Self {
        Self::of(name, begin, end, nodes)
    }

    /// The nodes and their outages; `None` if they are not at hand.
    pub fn nodes(&self) -> Option<&NodeOutages> {
        self.contents()
    }
}

/// The machines of a site follow the outages of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracedChurn {
    /// The trace.
    pub trace: FailureTrace,
    /// The time from its beginning to that of the run.
    pub origin: Span,
    /// The node of each machine, by partition.
    pub nodes: Vec<Vec<u32>>,
}

impl TracedChurn {
    /// The mean time for which the machines are up between two failures, over the time of the trace that the run may see; `None` if there is
    /// no failure.
    pub fn mean_up(&self) -> Option<Span> {
        let (nodes, end) = (self.trace.nodes()?, self.trace.end()?.since(self.trace.begin()?)?);
        let (mut up, mut failures) = (0_u128, 0_u128);
        for node in self.nodes.iter().flatten() {
            let down = nodes.down(*node, self.origin, end);
            up += u128::from((end - self.origin - down).micros());
            let seen = |outage: &&Outage| outage.from >= self.origin && outage.from < end;
            failures += nodes.of(*node).iter().filter(seen).count() as u128;
        }
        let mean = up.checked_div(failures)?;
        Some(Span::from_micros(u64::try_from(mean).unwrap_or(u64::MAX)).max(Span::TICK))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secs(secs: u64) -> Span {
        Span::from_secs(secs)
    }

    fn trace(outages: &[&[(u64, u64)]]) -> FailureTrace {
        let mut nodes = NodeOutages::default();
        for (own, at) in outages.iter().zip(0..) {
            let own = own.iter().map(|(from, to)| Outage { from: secs(*from), to: secs(*to) });
            nodes.push(format!("n{at}"), own);
        }
        FailureTrace::new("a.tab", Timestamp::from_micros(0), Timestamp::from_micros(100_000_000), nodes)
    }

    #[test]
    fn nodes_have_their_outages() {
        let of = trace(&[&[(10, 20), (30, 70)], &[], &[(0, 5)]]);
        let nodes = of.nodes().unwrap();
        assert_eq!([0, 1, 2, 3].map(|node| nodes.of(node).len()), [2, 0, 1, 0]);
        assert_eq!(nodes.down(0, secs(15), secs(40)), secs(15));
        assert_eq!(nodes.down(2, secs(5), secs(40)), Span::ZERO);
        let churn = TracedChurn { trace: of, origin: secs(20), nodes: vec![vec![0, 2]] };
        // Up 10 s and 30 s, and 80 s; one failure.
        assert_eq!(churn.mean_up(), Some(secs(120)));
    }

    #[test]
    fn a_trace_is_saved_by_its_hash() {
        let of = trace(&[&[(10, 20)]]);
        assert_ne!(of, trace(&[&[(10, 21)]]));
        assert_ne!(of, trace(&[&[(10, 20)], &[]]));
        let bytes = postcard::to_stdvec(&of).unwrap();
        assert!(bytes.len() < 40);
        let again: FailureTrace = postcard::from_bytes(&bytes).unwrap();
        assert_eq!((again.name(), again.nodes()), ("a.tab", of.nodes()));
        drop((of, again));
        let gone: FailureTrace = postcard::from_bytes(&bytes).unwrap();
        assert_eq!((gone.name(), gone.nodes()), ("a.tab", None));
    }
}
