//! The LOS family: backfilling that looks ahead for the set of jobs that fills the machine best.
//!
//! One policy composed of three parts: when the head of the queue is started (LOS: at once; Delayed-LOS and Hybrid-LOS: after it
//! has been skipped `C_s` times), how dedicated jobs are handled (ignored, LOS-D, Hybrid-LOS), and whether elastic commands are
//! processed (which is an ability of the partition, so that only the declared abilities differ).

mod bits;
mod dedicated;
mod fill;
pub mod packing;
mod variants;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
pub(super) use variants::info;
pub use variants::{Dedicated, LosOptions, ShadowRule};

use self::fill::{Freeze, Lists, Room};
use self::packing::Packer;
use crate::local::{Actions, Change, Entry, LocalPolicy, Packing, Phase, Queue, Releases, Rule, View};
use crate::model::JobKey;
use crate::units::{Span, Time};

/// The rank of a batch job in the queue; jobs that are moved to its head have lower ranks, and ties go by arrival.
const BATCH: u128 = 1 << 100;

/// LOS, Delayed-LOS and Hybrid-LOS.
///
/// Shmueli and Feitelson 2005; Kumar, Shae and Jamjoom 2012, Algorithms 1 to 3. A pass is a scheduling cycle, and is repeated in
/// the same instant for as long as it starts the head of the queue or moves a dedicated job there.
#[derive(Debug)]
pub struct Los {
    options: LosOptions,
    /// `W^b`: waiting batch jobs, and dedicated jobs that have been moved to its head.
    queue: Queue,
    /// Ranks of the jobs in the queue that were moved to its head, by their place in the order of arrival.
    moved: BTreeMap<u64, u128>,
    /// `scount` of the jobs in the queue that have been skipped.
    skipped: BTreeMap<u64, u32>,
    /// `W^d`: waiting dedicated jobs, by requested start.
    dedicated: BTreeSet<(Time, u64, JobKey)>,
    /// `A`: running jobs.
    releases: Releases,
    packer: Packer,
    lists: Lists,
    /// How long a job may have to wait for machines to wake up; counted for all jobs while a free machine is not awake.
    delay: Span,
}

/// The state that [`LocalPolicy::save`] keeps: rank and count of jobs that were moved or skipped.
#[derive(Serialize, Deserialize)]
struct Saved {
    moved: Vec<(JobKey, u128)>,
    skipped: Vec<(JobKey, u32)>,
}

impl Los {
    /// A policy with these parts and parameters.
    pub fn new(options: LosOptions) -> Self {
        Self {
            options,
            queue: Queue::new(),
            moved: BTreeMap::new(),
            skipped: BTreeMap::new(),
            dedicated: BTreeSet::new(),
            releases: Releases::new(),
            packer: Packer::default(),
            lists: Lists::default(),
            delay: Span::ZERO,
        }
    }

    fn entry(view: &View<'_>, job: JobKey, rank: u128) -> Entry {
        let live = view.job(job);
        Entry { rank, seq: live.seq(), job, procs: live.procs(), estimate: live.estimate() }
    }

    /// Inserts a job into the queue of its kind.
    fn insert(&mut self, view: &View<'_>, job: JobKey) {
        match view.job(job).requested_start() {
            Some(start) if self.options.dedicated != Dedicated::Ignored => {
                self.dedicated.insert((start, view.job(job).seq(), job));
            }
            _ => self.queue.insert(Self::entry(view, job, BATCH)),
        }
    }

    /// Removes a job that has not started from the queue of its kind.
    fn remove(&mut self, view: &View<'_>, job: JobKey) {
        let live = view.job(job);
        self.forget(live.seq());
        if let Some(start) = live.requested_start() {
            self.dedicated.remove(&(start, live.seq(), job));
        }
    }

    /// Applies an elastic command to a waiting job, which keeps its place.
    fn alter(&mut self, view: &View<'_>, job: JobKey) {
        let seq = view.job(job).seq();
        let rank = self.moved.get(&seq).copied().unwrap_or(BATCH);
        if self.queue.remove((rank, seq)).is_some() {
            self.queue.insert(Self::entry(view, job, rank));
        }
    }

    /// Removes a job from the batch queue.
    fn forget(&mut self, seq: u64) {
        let rank = self.moved.remove(&seq).unwrap_or(BATCH);
        self.queue.remove((rank, seq));
        self.skipped.remove(&seq);
    }

    /// `scount` of a job.
    fn skips(&self, entry: Entry) -> u32 {
        self.skipped.get(&entry.seq).copied().unwrap_or(0)
    }

    /// Counts that the head was not chosen in this cycle.
    fn skip(&mut self, head: Entry) {
        let count = self.skipped.entry(head.seq).or_default();
        *count = count.saturating_add(1);
    }

    fn start(&mut self, view: &View<'_>, room: &mut Room<'_>, entry: Entry, actions: &mut Actions) {
        self.forget(entry.seq);
        actions.start(entry.job, entry.procs);
        self.releases.insert(view.now() + entry.estimate, entry.job, entry.procs);
        room.free -= entry.procs;
    }

    /// Starts the head of the queue because it is its turn.
    fn start_head(&mut self, view: &View<'_>, room: &mut Room<'_>, head: Entry, actions: &mut Actions) {
        if let Some(plan) = &mut room.plan {
            plan.reserve(view.now(), view.now() + head.estimate + room.delay, head.procs);
        }
        self.start(view, room, head, actions);
    }

    /// Algorithm 1, repeated while it starts the head of the queue.
    fn batch_cycle(&mut self, view: &View<'_>, room: &mut Room<'_>, actions: &mut Actions) {
        while room.free > 0
            && let Some(head) = self.queue.first().copied()
        {
            if !room.takes(view.now(), head) {
                return self.fill_before(view, room, head, actions);
            }
            if self.skips(head) >= self.options.skips {
                self.start_head(view, room, head, actions);
                continue;
            }
            if !self.fill(view, room, None, head, actions) {
                self.skip(head);
            }
            return;
        }
    }

    /// Lines 12 to 20 of Algorithm 1: the head does not fit, and jobs that do not delay it may start.
    fn fill_before(&mut self, view: &View<'_>, room: &mut Room<'_>, head: Entry, actions: &mut Actions) {
        if let Some(freeze) = self.freeze_for(view, room, head) {
            let freeze = dedicated::sooner(freeze, room);
            self.fill(view, room, Some(freeze), head, actions);
        }
    }

    /// Adds the state of the queue after the pass to the facts of the last set.
    fn complete(&self, set: &mut Packing) {
        set.first = self.queue.first().map(|first| first.job);
        (set.lookahead, set.most_skips) = (self.options.lookahead, self.options.skips);
        let waiting = self.skipped.iter().filter_map(|(seq, times)| Some((self.waiting(*seq)?, *times)));
        set.skipped = waiting.filter(|(_, times)| *times > 0).collect();
    }

    /// The job of the batch queue with this place in the order of arrival.
    fn waiting(&self, seq: u64) -> Option<JobKey> {
        let rank = self.moved.get(&seq).copied().unwrap_or(BATCH);
        self.queue.get((rank, seq)).map(|entry| entry.job)
    }

    /// The reservation of a head that does not fit; `None` if it has none as far as can be foreseen.
    fn freeze_for(&self, view: &View<'_>, room: &mut Room<'_>, head: Entry) -> Option<Freeze> {
        let now = view.now();
        let freeze = |time, extra| Freeze { time, extra, head: Some(head), dedicated: 0 };
        let Some(plan) = &mut room.plan else {
            let counted = |job| view.ends_now(job);
            let shadow = self.releases.shadow(now, room.free, head.procs, counted)?;
            return Some(freeze(shadow.time, shadow.extra));
        };
        // What fits now by its processors waits for room in which machines can wake up, too.
        let delay = if head.procs <= room.free { room.delay } else { Span::ZERO };
        let start = plan.earliest(now, head.estimate + delay, head.procs)?;
        plan.reserve(start, start + head.estimate + delay, head.procs);
        Some(freeze(start, u32::try_from(plan.free_at(start)).unwrap_or(0)))
    }
}

impl LocalPolicy for Los {
    fn on(&mut self, change: Change, view: &View<'_>) {
        match change {
            Change::Arrived(job) => self.insert(view, job),
            Change::Withdrawn(job) => self.remove(view, job),
            Change::Altered { job, .. } => self.alter(view, job),
            _ => self.releases.follow(change, view),
        }
    }

    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
        let mut room = self.room(view);
        self.delay = view.awake().delay;
        if let Some(trace) = actions.trace() {
            trace.rule = Rule::Packing(Packing::default());
        }
        match self.options.dedicated {
            Dedicated::Ignored => self.batch_cycle(view, &mut room, actions),
            Dedicated::Reserved => self.cycle_around(view, &mut room, actions),
            Dedicated::Hybrid => self.hybrid_cycle(view, &mut room, actions),
        }
        // Jobs whose start has come may still be there.
        if let Some((start, ..)) = self.dedicated.iter().find(|(start, ..)| *start > view.now()) {
            actions.wake_at(*start);
        }
        if let Some(trace) = actions.trace() {
            trace.free = room.free;
            trace.dedicated.extend(self.dedicated.iter().map(|(.., job)| (*job, None)));
            if let Rule::Packing(set) = &mut trace.rule {
                self.complete(set);
            }
        }
    }

    fn save(&self) -> Vec<u8> {
        let (moved, skipped) = (self.moved.iter(), self.skipped.iter());
        let saved = Saved {
            moved: moved.filter_map(|(seq, rank)| Some((self.waiting(*seq)?, *rank))).collect(),
            skipped: skipped.filter_map(|(seq, count)| Some((self.waiting(*seq)?, *count))).collect(),
        };
        postcard::to_stdvec(&saved).unwrap_or_default()
    }

    fn restore(&mut self, saved: &[u8], view: &View<'_>) -> Result<(), String> {
        let saved: Saved = postcard::from_bytes(saved).map_err(|error| error.to_string())?;
        self.adopt(view);
        let waits = |job: JobKey| {
            let live = view.get(job).filter(|live| live.phase() == Phase::Waiting);
            live.ok_or_else(|| format!("the job with key {job} that was moved or skipped does not wait"))
        };
        for (job, rank) in saved.moved {
            let seq = waits(job)?.seq();
            self.remove(view, job);
            self.queue.insert(Self::entry(view, job, rank));
            self.moved.insert(seq, rank);
        }
        for (job, count) in saved.skipped {
            self.skipped.insert(waits(job)?.seq(), count);
        }
        Ok(())
    }

    fn adopt(&mut self, view: &View<'_>) {
        *self = Self::new(self.options);
        view.jobs_in(Phase::Waiting).into_iter().for_each(|job| self.insert(view, job));
        self.releases = Releases::of(view);
    }
}
