//! The table of the tasks that the broker has to do with, by number.

mod blocked;
mod changed;
mod planned;
mod put_off;
mod saved;
mod staging;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::btree_map::{self, Entry};
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use self::changed::Changed;
use self::planned::Takes;
use super::lane::{Lane, Placed};
use super::ready::{Rank, Ready, Shape};
use super::{BelievedRun, InFlight, Planned, Pool, PutOff, Task};
use crate::model::{Job, PoolId, TaskId};
use crate::units::{Stamp, Time};

/// The jobs of the grid from their arrival at the broker to their end, by their number at the portal: tasks of workflows that wait for others,
/// and what is ready to be assigned, which it holds; and those that are placed, of which it knows numbers only.
///
/// A snapshot has the rows; what else is here follows from them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "saved::Saved")]
pub struct Tasks {
    rows: BTreeMap<TaskId, Row>,
    ready: Ready,
    /// For each pool, what its last report does not include.
    lanes: Vec<Lane>,
    /// What the dispatcher holds back.
    held: BTreeSet<TaskId>,
    /// What is planned and has not been sent, by pool and planned start.
    planned: BTreeMap<(usize, Time, TaskId), Takes>,
    /// Blocked tasks that no plan has decided about.
    undecided: BTreeSet<TaskId>,
    /// The next rank.
    entered: u64,
    /// What has entered before this one was left by a plan.
    left_to: u64,
    /// What has changed, for a policy that follows it.
    changed: Changed,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Row {
    phase: Phase,
    /// Pools that cannot take it, in their order.
    refused: Vec<PoolId>,
    /// What a plan says of it. It is kept when the task is sent, for its expected end.
    planned: Option<Planned>,
    /// Of a ready task, until when it is put off.
    put_off: Option<PutOff>,
    /// Its run time as it is believed, if that is not its estimate.
    run: Option<BelievedRun>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    /// It waits for so many tasks to complete.
    Blocked {
        job: Box<Job>,
        missing: u32,
    },
    Ready {
        job: Box<Job>,
        rank: Rank,
    },
    /// It stays with the broker until its files are at the site of its pool.
    Staging {
        job: Box<Job>,
        placed: Placed,
    },
    Placed(Placed),
}

/// The state of a task at the broker.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskState {
    /// It waits for other tasks to complete.
    Blocked,
    /// It waits with the broker to be assigned.
    Ready,
    /// It has been assigned to the pool at this place, and waits with the broker until its files are there.
    Staging(usize),
    /// It has been sent to the pool at this place, and neither ended nor returned.
    Placed(usize),
}

/// Which of the ready tasks a policy is asked about.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// All of them.
    All,
    /// Those that no plan has left yet.
    New,
    /// This one.
    One(TaskId),
}

impl Tasks {
    /// A table without tasks, for so many pools.
    pub fn new(pools: usize) -> Self {
        Self { lanes: vec![Lane::default(); pools], ..Self::default() }
    }

    /// Adds a job that waits from now on, behind all others, with the pools that cannot take it.
    pub fn enter(&mut self, job: Box<Job>, refused: Vec<PoolId>) {
        self.enter_by(None, job, refused);
    }

    /// As [`Tasks::enter`], but before all that are less urgent, if an urgency is given. Either all tasks have one or none.
    pub(crate) fn enter_by(&mut self, urgency: Option<u64>, job: Box<Job>, mut refused: Vec<PoolId>) {
        refused.sort_unstable();
        let task = Task::new(&job, &refused);
        let (id, rank) = (task.id(), Rank { urgency: Reverse(urgency.unwrap_or(0)), entered: self.entered });
        self.entered += 1;
        match urgency {
            Some(_) => self.ready.insert(rank, id, Shape::of(&task)),
            None => self.ready.push(rank, id),
        }
        self.rows.insert(id, Row::of(Phase::Ready { job, rank }, refused));
        self.changed.note(id);
    }

    /// The state of a task; `None` if it has not arrived, or has ended.
    pub fn state(&self, task: TaskId) -> Option<TaskState> {
        self.rows.get(&task).map(|row| match &row.phase {
            Phase::Blocked { .. } => TaskState::Blocked,
            Phase::Ready { .. } => TaskState::Ready,
            Phase::Staging { placed, .. } => TaskState::Staging(placed.pool),
            Phase::Placed(placed) => TaskState::Placed(placed.pool),
        })
    }

    /// When a task that is placed reaches its site; `None` while the dispatcher holds it back.
    pub fn arrival(&self, task: TaskId) -> Option<Stamp> {
        match self.rows.get(&task)?.phase {
            Phase::Placed(placed) => placed.arrival,
            _ => None,
        }
    }

    /// The assignment of a task, which may wait with the broker for its files.
    pub(crate) fn placed(&self, task: TaskId) -> Option<&Placed> {
        match &self.rows.get(&task)?.phase {
            Phase::Staging { placed, .. } | Phase::Placed(placed) => Some(placed),
            Phase::Blocked { .. } | Phase::Ready { .. } => None,
        }
    }

    /// How many tasks are ready, without those that a plan has decided about.
    pub fn count_ready(&self) -> usize {
        self.ready.count()
    }

    /// A ready task, also if a plan has decided about it.
    pub fn ready(&self, task: TaskId) -> Option<Task<'_>> {
        let row = self.rows.get(&task)?;
        match &row.phase {
            Phase::Ready { job, rank } => Some(Task::new(job, &row.refused).at(*rank).believing(row.run)),
            Phase::Blocked { .. } | Phase::Staging { .. } | Phase::Placed(_) => None,
        }
    }

    /// The ready tasks that a policy is asked about, in order.
    pub fn asked(&self, asked: Asked) -> impl Iterator<Item = Task<'_>> {
        let (all, new, one) = match asked {
            Asked::All => (Some(self.ready.all()), None, None),
            Asked::New => (None, Some(self.ready.fresh()), None),
            Asked::One(task) => (None, None, Some(task)),
        };
        let ids = all.into_iter().flatten().chain(new.into_iter().flatten()).chain(one);
        ids.filter_map(|id| self.ready(id))
    }

    /// The ready tasks that no plan has left yet, in order.
    pub(super) fn fresh(&self) -> impl Iterator<Item = Task<'_>> {
        self.ready.fresh().filter_map(|id| self.ready(id))
    }

    /// The first ready task behind another one; with `new` among those that no plan has left yet.
    pub(crate) fn next_ready(&self, after: Option<Rank>, new: bool) -> Option<Task<'_>> {
        self.ready.next(after, new).and_then(|id| self.ready(id))
    }

    /// Notes that a plan has left all ready tasks: from now on they are found by what they need.
    pub fn leave(&mut self) {
        self.left_to = self.entered;
        for (rank, task) in self.ready.take_new() {
            if let Some((id, task)) = task.and_then(|id| Some((id, self.ready(id)?))) {
                let shape = Shape::of(&task);
                self.ready.leave(rank, id, shape);
            }
        }
    }

    /// What a plan has left of tasks that can do with so many processors: for each shape its least size and its tasks, in order.
    pub(super) fn left(&self, bound: u32) -> impl Iterator<Item = (u32, btree_map::Iter<'_, Rank, TaskId>)> {
        self.ready.left(bound)
    }

    /// Whether a plan has left tasks.
    pub(super) fn has_left(&self) -> bool {
        self.ready.has_left()
    }

    /// Jobs that are ready, in order; behind them those whose turn in a plan has not come, by number.
    pub fn waiting(&self) -> impl Iterator<Item = &Job> {
        let ready = self.ready.all().chain(self.ready.all_put_off());
        ready.chain(self.ready_planned()).filter_map(|id| match &self.rows.get(&id)?.phase {
            Phase::Ready { job, .. } => Some(&**job),
            Phase::Blocked { .. } | Phase::Staging { .. } | Phase::Placed(_) => None,
        })
    }

    /// Takes out the jobs that wait, in order, and then those that are planned or wait for other tasks or for their files.
    pub(crate) fn take_waiting(&mut self) -> impl Iterator<Item = Box<Job>> + '_ {
        let others = |row: &Row| match row.phase {
            Phase::Blocked { .. } | Phase::Staging { .. } => true,
            Phase::Ready { .. } => row.planned.is_some(),
            Phase::Placed(_) => false,
        };
        let others = self.rows.iter().filter(|(_, row)| others(row)).map(|(id, _)| *id);
        let ready = std::mem::take(&mut self.ready);
        let ids: Vec<TaskId> = ready.all().chain(ready.all_put_off()).chain(others).collect();
        self.planned.clear();
        self.undecided.clear();
        ids.into_iter().filter_map(|id| match self.rows.remove(&id)?.phase {
            Phase::Blocked { job, .. } | Phase::Ready { job, .. } | Phase::Staging { job, .. } => Some(job),
            Phase::Placed(_) => None,
        })
    }

    /// Takes out the job of a ready task, also if a plan has decided about it; `None` if it is not ready.
    pub(crate) fn take_ready(&mut self, task: TaskId) -> Option<Box<Job>> {
        let Entry::Occupied(row) = self.rows.entry(task) else { return None };
        let Phase::Ready { job, rank } = &row.get().phase else { return None };
        match row.get().planned {
            Some(planned) => _ = self.planned.remove(&(planned.pool, planned.start, task)),
            None => self.ready.remove(*rank, || Shape::of(&Task::new(job, &row.get().refused))),
        }
        self.changed.note(task);
        match row.remove().phase {
            Phase::Ready { job, .. } => Some(job),
            Phase::Blocked { .. } | Phase::Staging { .. } | Phase::Placed(_) => None,
        }
    }

    /// Notes that a ready task goes to the pool at this place, and when it arrives there if that is known. Returns its job and its
    /// processors there; `None` if it is not ready.
    pub(crate) fn place(
        &mut self,
        task: TaskId,
        at: usize,
        pool: &Pool,
        arrival: Option<Stamp>,
    ) -> Option<(Box<Job>, u32)> {
        let row = self.rows.get_mut(&task)?;
        let Phase::Ready { job, rank } = &row.phase else { return None };
        let seen = Task::new(job, &row.refused).believing(row.run);
        let (procs, run) = (pool.procs_for(&seen), pool.run_of(&seen));
        let area = u128::from(procs) * u128::from(run.micros());
        let placed = Placed { pool: at, procs, area, arrival, believed: Time::NEVER, unseen: true };
        match row.planned {
            Some(planned) => _ = self.planned.remove(&(planned.pool, planned.start, task)),
            None => self.ready.remove(*rank, || Shape::of(&seen)),
        }
        row.put_off = None;
        self.lanes[at].add(task, &placed);
        self.changed.note(task);
        match std::mem::replace(&mut row.phase, Phase::Placed(placed)) {
            Phase::Ready { job, .. } => Some((job, procs)),
            _ => None,
        }
    }

    /// Notes when a task that has just been placed is believed to start.
    pub(crate) fn believe(&mut self, task: TaskId, start: Time) {
        if let Some(Phase::Staging { placed, .. } | Phase::Placed(placed)) =
            self.rows.get_mut(&task).map(|row| &mut row.phase)
        {
            placed.believed = start;
        }
    }

    /// Notes how long a task is believed to run, if that is not its estimate.
    pub(crate) fn believe_run(&mut self, task: TaskId, run: Option<BelievedRun>) {
        if let Some(row) = self.rows.get_mut(&task) {
            row.run = run;
        }
    }

    /// How long a task is believed to run, if that is not its estimate.
    pub(crate) fn believed_run(&self, task: TaskId) -> Option<BelievedRun> {
        self.rows.get(&task)?.run
    }

    /// Takes out a task that is placed: the place of its pool, and the pools that could not take it.
    pub(crate) fn remove(&mut self, task: TaskId) -> Option<(usize, Vec<PoolId>)> {
        let Entry::Occupied(row) = self.rows.entry(task) else { return None };
        let Phase::Placed(placed) = row.get().phase else { return None };
        if placed.unseen {
            self.lanes[placed.pool].remove(task, &placed);
        }
        if placed.arrival.is_none() {
            self.held.remove(&task);
        }
        self.changed.note(task);
        Some((placed.pool, row.remove().refused))
    }

    /// Notes what the dispatcher reported of an assignment: held back, or when it arrives after all.
    pub(crate) fn sent(&mut self, task: TaskId, arrival: Option<Stamp>) {
        let Some(Row { phase: Phase::Placed(placed), .. }) = self.rows.get_mut(&task) else { return };
        let before = *placed;
        placed.arrival = arrival;
        if placed.unseen {
            self.lanes[placed.pool].arrives(task, &before, placed);
        }
        if arrival.is_none() {
            self.held.insert(task);
        } else {
            self.held.remove(&task);
        }
    }

    /// Applies a report of a pool, which includes every job that had arrived when it was measured.
    pub(crate) fn measured(&mut self, pool: usize, measured: Stamp) {
        let lane = &mut self.lanes[pool];
        while let Some(task) = lane.take_arrived(measured) {
            if let Some(Row { phase: Phase::Placed(placed), .. }) = self.rows.get_mut(&task) {
                placed.unseen = false;
                lane.subtract(placed);
            }
        }
    }

    /// The sum of the assignments that the pool's last report does not include.
    pub fn in_flight(&self, pool: usize) -> InFlight {
        self.lanes[pool].sum()
    }

    /// The same, with when they are expected to be done on so many processors.
    pub(crate) fn expected(&self, pool: usize, now: Time, processors: u32) -> InFlight {
        self.lanes[pool].expected(now, processors)
    }

    /// Processors of the jobs that had not arrived at the pool at a moment.
    pub(crate) fn coming(&self, pool: usize, measured: Stamp) -> u32 {
        let lane = &self.lanes[pool];
        let arrived = lane.arrived(measured);
        let left = arrived.fold(lane.sum().procs, |left, placed| left - u64::from(placed.procs));
        u32::try_from(left).unwrap_or(u32::MAX)
    }

    /// Assignments that can be recalled, by number: those that the dispatcher holds, or with `queued` all.
    pub(crate) fn recallable(&self, queued: bool) -> Vec<TaskId> {
        if !queued {
            return self.held.iter().copied().collect();
        }
        let placed = self.rows.iter().filter(|(_, row)| matches!(row.phase, Phase::Placed(_)));
        placed.map(|(task, _)| *task).collect()
    }
}
