//! A waiting queue in any fixed order, indexed so that a pass does not look at every job.

use smallvec::SmallVec;

use crate::model::JobKey;
use crate::units::Span;

/// Jobs or nodes below a node before it is split in two.
const FULL: usize = 64;

/// A waiting job as an entry of a queue.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Rank in the queue's order; ties go by arrival.
    pub rank: u128,
    /// Its place in the order of arrival, which is unique.
    pub seq: u64,
    /// The job.
    pub job: JobKey,
    /// Processors it needs.
    pub procs: u32,
    /// Its estimated run time.
    pub estimate: Span,
}

impl Entry {
    /// Its place in the queue.
    pub const fn place(&self) -> Place {
        (self.rank, self.seq)
    }
}

/// A place in the order of a queue: rank and order of arrival.
pub type Place = (u128, u64);

/// A backfill window: it takes a job of at most `free` processors that ends within `window`, or that leaves enough of the `extra`
/// processors, which are not needed at the shadow time.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct BackfillWindow {
    /// Free processors.
    pub free: u32,
    /// Time until the shadow time.
    pub window: Span,
    /// Processors not needed at the shadow time.
    pub extra: u32,
    /// Of the free processors, those of machines that are awake.
    pub awake: Awake,
}

/// Free processors of machines that are awake. A job that gets more begins later.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Awake {
    /// Their number; [`u32::MAX`] if all that are free are awake.
    pub procs: u32,
    /// How long it takes at most until others are awake.
    pub delay: Span,
}

impl Awake {
    /// All that is free is awake.
    pub const ALL: Self = Self { procs: u32::MAX, delay: Span::ZERO };

    /// How long so many processors are held for so much time of a job that gets them now.
    pub fn holds(&self, procs: u32, time: Span) -> Span {
        if procs > self.procs { time + self.delay } else { time }
    }

    /// What is left when so many processors have been given; those that are awake are given first.
    pub fn without(self, procs: u32) -> Self {
        match self.procs {
            u32::MAX => self,
            awake => Self { procs: awake.saturating_sub(procs), ..self },
        }
    }
}

impl BackfillWindow {
    /// Takes every job.
    pub const ANY: Self = Self { free: u32::MAX, window: Span::MAX, extra: u32::MAX, awake: Awake::ALL };

    /// Takes jobs of at most so many processors.
    pub const fn of_size(free: u32) -> Self {
        Self { free, extra: free, ..Self::ANY }
    }

    /// True if a job of this size and estimate can be backfilled into the window.
    pub fn takes(&self, procs: u32, estimate: Span) -> bool {
        procs <= self.free && (self.awake.holds(procs, estimate) <= self.window || procs <= self.extra)
    }
}

/// Waiting jobs in ascending order of their places, in a tree. Each of its nodes knows for classes of sizes the smallest size and the shortest estimate below
/// it, and is left out of a search if no job below it can fit. Nodes are not joined again when their jobs leave: most leave from the beginning, and a node
/// without jobs goes.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    root: Node,
}

/// A part of the queue.
#[derive(Clone, Debug, Default)]
struct Node {
    below: Below,
    /// No place below it is behind this one, and those of the next node are.
    bound: Place,
    /// The least of each class: sizes of up to 0, 1, 3, 7, ... processors.
    least: Vec<Least>,
}

/// What is below a node, in order. Only the root may have nothing.
#[derive(Clone, Debug)]
enum Below {
    Jobs(Vec<Entry>),
    Nodes(Vec<Node>),
}

impl Default for Below {
    fn default() -> Self {
        Self::Jobs(Vec::new())
    }
}

/// The smallest size and the shortest estimate of some jobs, not necessarily of the same one.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Least {
    procs: u32,
    estimate: Span,
}

impl Least {
    const OF_NONE: Self = Self { procs: u32::MAX, estimate: Span::MAX };

    fn of(entry: &Entry) -> Self {
        Self { procs: entry.procs, estimate: entry.estimate }
    }

    fn and(self, other: Self) -> Self {
        Self { procs: self.procs.min(other.procs), estimate: self.estimate.min(other.estimate) }
    }
}

/// The class of a size: the number of its binary digits.
const fn class(procs: u32) -> usize {
    (u32::BITS - procs.leading_zeros()) as usize
}

impl Node {
    fn of(below: Below) -> Self {
        let mut node = Self { below, ..Self::default() };
        match &node.below {
            Below::Jobs(jobs) => {
                node.bound = jobs.last().map_or_else(Place::default, Entry::place);
                for job in jobs {
                    at_least(&mut node.least, class(job.procs), Least::of(job));
                }
            }
            Below::Nodes(nodes) => {
                node.bound = nodes.last().map_or_else(Place::default, |last| last.bound);
                for (class, least) in nodes.iter().flat_map(|node| node.least.iter().enumerate()) {
                    at_least(&mut node.least, class, *least);
                }
            }
        }
        node
    }

    const fn is_empty(&self) -> bool {
        match &self.below {
            Below::Jobs(jobs) => jobs.is_empty(),
            Below::Nodes(nodes) => nodes.is_empty(),
        }
    }

    /// Whether a job below it may fit.
    #[inline]
    fn may_fit(&self, window: BackfillWindow) -> bool {
        let classes = self.least.iter().take(class(window.free) + 1);
        classes.into_iter().any(|least| window.takes(least.procs, least.estimate))
    }

    /// Adds a job. Returns the upper half if the node had to be split.
    fn insert(&mut self, entry: Entry) -> Option<Self> {
        let place = entry.place();
        self.bound = self.bound.max(place);
        at_least(&mut self.least, class(entry.procs), Least::of(&entry));
        let upper = match &mut self.below {
            Below::Jobs(jobs) => {
                // Most jobs come at the end.
                let is_last = jobs.last().is_none_or(|last| last.place() < place);
                let at =
                    if is_last { jobs.len() } else { jobs.partition_point(|other| other.place() < place) };
                jobs.insert(at, entry);
                (jobs.len() > FULL).then(|| Below::Jobs(jobs.split_off(FULL / 2)))
            }
            Below::Nodes(nodes) => {
                let at = nodes.partition_point(|node| node.bound < place).min(nodes.len() - 1);
                if let Some(upper) = nodes[at].insert(entry) {
                    nodes.insert(at + 1, upper);
                }
                (nodes.len() > FULL).then(|| Below::Nodes(nodes.split_off(FULL / 2)))
            }
        };
        let upper = Self::of(upper?);
        *self = Self::of(std::mem::take(&mut self.below));
        Some(upper)
    }

    /// Removes the job at a place, if it is there.
    fn remove(&mut self, place: Place) -> Option<Entry> {
        let gone = match &mut self.below {
            Below::Jobs(jobs) => {
                let at = jobs.partition_point(|other| other.place() < place);
                jobs.get(at).filter(|found| found.place() == place)?;
                jobs.remove(at)
            }
            Below::Nodes(nodes) => {
                let at = nodes.partition_point(|node| node.bound < place);
                let node = nodes.get_mut(at)?;
                let gone = node.remove(place)?;
                if node.is_empty() {
                    nodes.remove(at);
                }
                gone
            }
        };
        let class = class(gone.procs);
        let (before, one) = (self.least[class], Least::of(&gone));
        if before.procs == one.procs || before.estimate == one.estimate {
            self.least[class] = self.least_of(class);
        }
        Some(gone)
    }

    fn least_of(&self, of: usize) -> Least {
        match &self.below {
            Below::Jobs(jobs) => {
                let same = jobs.iter().filter(|job| class(job.procs) == of);
                same.map(Least::of).fold(Least::OF_NONE, Least::and)
            }
            Below::Nodes(nodes) => {
                nodes.iter().filter_map(|node| node.least.get(of)).copied().fold(Least::OF_NONE, Least::and)
            }
        }
    }

    /// The first job that fits, behind a place if there is one.
    fn find(&self, behind: Option<Place>, window: BackfillWindow) -> Option<&Entry> {
        if !self.may_fit(window) {
            return None;
        }
        match &self.below {
            Below::Jobs(jobs) => {
                let from = behind.map_or(0, |behind| jobs.partition_point(|job| job.place() <= behind));
                jobs[from..].iter().find(|job| window.takes(job.procs, job.estimate))
            }
            Below::Nodes(nodes) => {
                let from = behind.map_or(0, |behind| nodes.partition_point(|node| node.bound <= behind));
                let (first, others) = nodes.get(from..)?.split_first()?;
                let found = first.find(behind, window);
                found.or_else(|| others.iter().find_map(|node| node.find(None, window)))
            }
        }
    }

    fn get(&self, place: Place) -> Option<&Entry> {
        match &self.below {
            Below::Jobs(jobs) => {
                let at = jobs.partition_point(|other| other.place() < place);
                jobs.get(at).filter(|found| found.place() == place)
            }
            Below::Nodes(nodes) => nodes.get(nodes.partition_point(|node| node.bound < place))?.get(place),
        }
    }
}

/// Lowers what is the least of a class, if it is more.
fn at_least(least: &mut Vec<Least>, class: usize, one: Least) {
    if least.len() <= class {
        least.resize(class + 1, Least::OF_NONE);
    }
    least[class] = least[class].and(one);
}

impl Queue {
    /// An empty queue.
    pub fn new() -> Self {
        Self::default()
    }

    /// The first job.
    pub fn first(&self) -> Option<&Entry> {
        self.iter().next()
    }

    /// All jobs in order.
    pub fn iter(&self) -> Fitting<'_> {
        self.fitting(BackfillWindow::ANY)
    }

    /// The jobs that fit into the window, each if it were the only one, in order.
    pub fn fitting(&self, window: BackfillWindow) -> Fitting<'_> {
        let mut fitting = Fitting { window, jobs: [].iter(), nodes: SmallVec::new() };
        fitting.enter(&self.root);
        fitting
    }

    /// Inserts a job at its place.
    pub fn insert(&mut self, entry: Entry) {
        if let Some(upper) = self.root.insert(entry) {
            let lower = std::mem::take(&mut self.root);
            self.root = Node::of(Below::Nodes(vec![lower, upper]));
        }
    }

    /// Removes the job at a place, if it is there.
    pub fn remove(&mut self, place: Place) -> Option<Entry> {
        let gone = self.root.remove(place)?;
        while let Below::Nodes(nodes) = &mut self.root.below
            && nodes.len() == 1
        {
            self.root = nodes.pop().unwrap_or_default();
        }
        Some(gone)
    }

    /// The job at a place, if it is there.
    pub fn get(&self, place: Place) -> Option<&Entry> {
        self.root.get(place)
    }

    /// The first job that fits into the window, behind a place if there is one.
    #[inline]
    pub fn find(&self, behind: Option<Place>, window: BackfillWindow) -> Option<&Entry> {
        self.root.find(behind, window)
    }
}

/// The jobs of a queue that fit into a window, in order.
#[derive(Clone, Debug)]
pub struct Fitting<'a> {
    window: BackfillWindow,
    jobs: std::slice::Iter<'a, Entry>,
    /// What follows, on each level above.
    nodes: SmallVec<[std::slice::Iter<'a, Node>; 4]>,
}

impl<'a> Fitting<'a> {
    fn enter(&mut self, node: &'a Node) {
        match &node.below {
            _ if !node.may_fit(self.window) => {}
            Below::Jobs(jobs) => self.jobs = jobs.iter(),
            Below::Nodes(nodes) => self.nodes.push(nodes.iter()),
        }
    }
}

impl<'a> Iterator for Fitting<'a> {
    type Item = &'a Entry;

    fn next(&mut self) -> Option<&'a Entry> {
        loop {
            let window = self.window;
            if let Some(job) = self.jobs.find(|job| window.takes(job.procs, job.estimate)) {
                return Some(job);
            }
            match self.nodes.last_mut()?.next() {
                Some(node) => self.enter(node),
                None => drop(self.nodes.pop()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The slow reference implementation: a sorted vector with a linear scan.
        #[test]
        fn agrees_with_a_sorted_vector(
            jobs in proptest::collection::vec((0_u128..50, 1_u32..40, 0_u64..100), 0..400),
            // Trees of more than two levels, too.
            times in prop_oneof![9 => Just(1_u64), 1 => Just(40_u64)],
            windows in proptest::collection::vec((0_u32..40, 0_u64..100, 0_u32..20), 0..40),
            withdrawn in proptest::collection::vec(any::<prop::sample::Index>(), 0..400),
        ) {
            let mut queue = Queue::new();
            let mut slow: Vec<Entry> = Vec::new();
            let all = jobs.iter().flat_map(|job| (0..times).map(move |time| (*job, time)));
            for (seq, ((rank, procs, estimate), time)) in (0..).zip(all) {
                let estimate = Span::from_micros(estimate + 50 * (time % 3));
                let entry = Entry { rank: rank + u128::from(time % 7), seq, job: JobKey(seq as u32), procs, estimate };
                queue.insert(entry);
                slow.push(entry);
            }
            slow.sort_by_key(Entry::place);
            for index in withdrawn {
                if !slow.is_empty() {
                    let gone = slow.remove(index.index(slow.len()));
                    prop_assert_eq!(queue.get(gone.place()), Some(&gone));
                    prop_assert_eq!(queue.remove(gone.place()), Some(gone));
                    prop_assert_eq!(queue.remove(gone.place()), None);
                    prop_assert_eq!(queue.get(gone.place()), None);
                }
            }
            for (free, time, extra) in windows {
                let window = BackfillWindow { free, window: Span::from_micros(time), extra, awake: Awake::ALL };
                let fitting = slow.iter().filter(|entry| window.takes(entry.procs, entry.estimate));
                prop_assert!(queue.fitting(window).eq(fitting));
                let (mut behind, mut from) = (None, 0);
                // One scan that takes every other job that fits.
                let mut take = false;
                loop {
                    let found = queue.find(behind, window).copied();
                    let expected = slow.iter().skip(from).position(|entry| window.takes(entry.procs, entry.estimate));
                    prop_assert_eq!(found, expected.map(|at| slow[from + at]));
                    let (Some(entry), Some(offset)) = (found, expected) else { break };
                    (behind, from) = (Some(entry.place()), from + offset);
                    if take {
                        prop_assert_eq!(queue.remove(entry.place()), Some(slow.remove(from)));
                    } else {
                        from += 1;
                    }
                    take = !take;
                }
                prop_assert!(queue.iter().eq(&slow));
                prop_assert_eq!(queue.first(), slow.first());
            }
        }
    }
}
