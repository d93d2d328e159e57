//! What a site keeps of the agreements that it is a part of.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{Answer, Ask, HoldId, Refusal, Wanted};
use crate::model::JobRef;
use crate::units::Time;

/// The processors that a site can reserve.
pub trait Room {
    /// Reserves them.
    ///
    /// # Errors
    /// Why it cannot.
    fn take(&mut self, id: HoldId, wanted: &Wanted) -> Result<(), Refusal>;

    /// Gives back what was reserved under the name.
    fn give(&mut self, id: HoldId, wanted: &Wanted);
}

/// The holds of a site, and the end of its side of the protocol. A message costs a logarithm of their number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Holder {
    holds: BTreeMap<HoldId, Hold>,
    /// When each hold lapses next.
    due: BTreeSet<(Time, HoldId)>,
    /// Those that jobs have claimed.
    claimed: BTreeMap<JobRef, HoldId>,
    /// Holds that are over, until no message can bring them back.
    over: BTreeMap<HoldId, (Time, Refusal)>,
    /// The same in order of that instant.
    forget: BTreeSet<(Time, HoldId)>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Hold {
    wanted: Wanted,
    state: State,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum State {
    /// Until the lease expires.
    Held(Time),
    /// Until the job must have come.
    Committed(Time),
    /// The job is here.
    Claimed,
}

impl State {
    /// When it lapses by itself.
    const fn lapses(self) -> Option<Time> {
        match self {
            Self::Held(at) | Self::Committed(at) => Some(at),
            Self::Claimed => None,
        }
    }
}

impl Holder {
    /// Answers what a coordinator asks.
    pub fn hear(&mut self, id: HoldId, ask: Ask, now: Time, room: &mut dyn Room) -> Answer {
        self.forget(now);
        match ask {
            Ask::Hold { wanted, lease } => self.hold(id, wanted, lease, now, room),
            Ask::Commit { claim_by } => self.commit(id, claim_by, now),
            Ask::Release { until } => {
                self.release(id, until, now, room);
                self.query(id, now)
            }
            Ask::Query => self.query(id, now),
        }
    }

    fn hold(&mut self, id: HoldId, wanted: Wanted, lease: Time, now: Time, room: &mut dyn Room) -> Answer {
        if self.holds.contains_key(&id) || self.over.contains_key(&id) {
            return self.query(id, now);
        }
        if lease <= now || wanted.from < now || wanted.to <= wanted.from {
            return Answer::Gone(Refusal::TooLate);
        }
        if let Err(why) = room.take(id, &wanted) {
            // Asked again it answers the same, whatever became free meanwhile.
            self.remember(id, lease, why);
            return Answer::Gone(why);
        }
        self.holds.insert(id, Hold { wanted, state: State::Held(lease) });
        self.due.insert((lease, id));
        Answer::Held
    }

    fn commit(&mut self, id: HoldId, claim_by: Time, now: Time) -> Answer {
        if let Some(hold) = self.holds.get_mut(&id)
            && let State::Held(lease) = hold.state
            && now < lease.min(claim_by)
        {
            let claim_by = claim_by.min(hold.wanted.from);
            hold.state = State::Committed(claim_by);
            self.due.remove(&(lease, id));
            self.due.insert((claim_by, id));
        }
        self.query(id, now)
    }

    fn release(&mut self, id: HoldId, until: Time, now: Time, room: &mut dyn Room) {
        // What a job has claimed is agreed, and ends with the job.
        if self.holds.get(&id).is_some_and(|hold| hold.state == State::Claimed) {
            return;
        }
        self.take_out(id, room);
        if now < until {
            self.remember(id, until, Refusal::Unknown);
        }
    }

    fn query(&self, id: HoldId, now: Time) -> Answer {
        let gone = self.over.get(&id).map_or(Refusal::Unknown, |(_, why)| *why);
        let Some(hold) = self.holds.get(&id) else { return Answer::Gone(gone) };
        match hold.state {
            State::Held(lapses) | State::Committed(lapses) if lapses <= now => Answer::Gone(gone),
            State::Held(_) => Answer::Held,
            State::Committed(_) | State::Claimed => Answer::Committed,
        }
    }

    /// A job has come for what is kept for it. False if that is not there, or not committed.
    pub fn claim(&mut self, id: HoldId, now: Time) -> bool {
        let Some(hold) = self.holds.get_mut(&id) else { return false };
        match hold.state {
            State::Committed(claim_by) if now < claim_by => {
                hold.state = State::Claimed;
                self.due.remove(&(claim_by, id));
                self.claimed.insert(hold.wanted.job, id);
                true
            }
            State::Claimed => true,
            State::Committed(_) | State::Held(_) => false,
        }
    }

    /// A job has left, and with it the reservation that it had claimed.
    pub fn end_of(&mut self, job: JobRef) {
        if let Some(id) = self.claimed.remove(&job) {
            self.holds.remove(&id);
        }
    }

    /// Gives back what has lapsed at `now`, and returns it.
    pub fn lapse(&mut self, now: Time, room: &mut dyn Room) -> Vec<(HoldId, Wanted)> {
        let mut lapsed = Vec::new();
        while let Some((_, id)) = self.due.first().copied().filter(|(due, _)| *due <= now) {
            lapsed.extend(self.take_out(id, room).map(|wanted| (id, wanted)));
        }
        self.forget(now);
        lapsed
    }

    /// Forgets what no message can bring back any more.
    fn forget(&mut self, now: Time) {
        while let Some((_, id)) = self.forget.first().copied().filter(|(until, _)| *until <= now) {
            self.forget.pop_first();
            self.over.remove(&id);
        }
    }

    /// When something lapses next.
    pub fn next(&self) -> Option<Time> {
        self.due.first().map(|(due, _)| *due)
    }

    /// The site has failed: what it had committed is on its disk, what it merely held is lost.
    pub fn crash(&mut self, room: &mut dyn Room) -> Vec<(HoldId, Wanted)> {
        let held = self.holds.iter().filter_map(|(id, hold)| match hold.state {
            State::Held(lease) => Some((*id, lease)),
            _ => None,
        });
        let held: Vec<(HoldId, Time)> = held.collect();
        let mut lost = Vec::new();
        for (id, lease) in held {
            self.remember(id, lease, Refusal::Unknown);
            lost.extend(self.take_out(id, room).map(|wanted| (id, wanted)));
        }
        lost
    }

    /// What is reserved, with whether it is committed.
    pub fn holds(&self) -> impl Iterator<Item = (HoldId, &Wanted, bool)> {
        self.holds.iter().map(|(id, hold)| (*id, &hold.wanted, !matches!(hold.state, State::Held(_))))
    }

    /// Whether a job has claimed it.
    pub fn is_claimed(&self, id: HoldId) -> bool {
        self.holds.get(&id).is_some_and(|hold| hold.state == State::Claimed)
    }

    /// True if nothing is reserved.
    pub fn is_empty(&self) -> bool {
        self.holds.is_empty()
    }

    fn take_out(&mut self, id: HoldId, room: &mut dyn Room) -> Option<Wanted> {
        let Hold { wanted, state } = self.holds.remove(&id)?;
        if let Some(due) = state.lapses() {
            self.due.remove(&(due, id));
        }
        room.give(id, &wanted);
        Some(wanted)
    }

    fn remember(&mut self, id: HoldId, until: Time, why: Refusal) {
        let until = self.over.get(&id).map_or(until, |(other, _)| until.max(*other));
        if let Some((before, _)) = self.over.insert(id, (until, why)) {
            self.forget.remove(&(before, id));
        }
        self.forget.insert((until, id));
    }
}
