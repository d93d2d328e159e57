//! Suspended jobs, and what each of them waits for.
//!
//! Most suspended jobs cannot resume for the same reason as at the last pass: a certain job runs on one of their processors. Such a job is kept behind that
//! one, and looked at again when that one ends, or at the instant from which on it could be suspended itself. So a pass looks at few of them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use super::Idle;
use crate::model::{JobKey, ProcSet};
use crate::units::Time;

/// A note about a suspended job. It is void if the job has another number by now.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Note {
    slot: u32,
    number: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Entry {
    idle: Idle,
    /// The number of its valid note.
    number: u64,
    /// The processor that it lacked when it was looked at last: most often it still does.
    lacks: u32,
}

/// The suspended jobs of a partition.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::local::policies) struct Suspended {
    entries: Vec<Option<Entry>>,
    open: Vec<u32>,
    /// How many notes there were.
    notes: u64,
    /// Jobs that may be able to resume, for all that is known.
    loose: Vec<Note>,
    /// By the key of a running job: those that it keeps from resuming.
    behind: Vec<Vec<Note>>,
    /// When a job that is kept may suspend the one that keeps it.
    due: BinaryHeap<Reverse<(Time, Note)>>,
    /// By processor: how many jobs wait for it.
    waits: Vec<u32>,
    /// Processors for which a job waits.
    wanted: ProcSet,
}

impl Suspended {
    pub(in crate::local::policies) fn is_empty(&self) -> bool {
        self.open.len() == self.entries.len()
    }

    pub(in crate::local::policies) fn iter(&self) -> impl Iterator<Item = &Idle> {
        self.entries.iter().flatten().map(|entry| &entry.idle)
    }

    pub(in crate::local::policies) fn get(&self, slot: usize) -> Option<&Idle> {
        self.entries.get(slot)?.as_ref().map(|entry| &entry.idle)
    }

    /// The processor that a job lacked when it was looked at last.
    pub(super) fn lacks(&self, slot: usize) -> Option<u32> {
        self.entries.get(slot)?.as_ref().map(|entry| entry.lacks)
    }

    /// Processors for which a job waits.
    pub(super) fn wanted(&self) -> &ProcSet {
        &self.wanted
    }

    /// Adds a job. Returns its slot.
    pub(super) fn insert(&mut self, idle: Idle) -> usize {
        let most = idle.procs.last().map_or(0, |last| last as usize + 1);
        if self.waits.len() < most {
            self.waits.resize(most, 0);
        }
        for proc in idle.procs.iter() {
            self.waits[proc as usize] += 1;
        }
        self.wanted.insert_all(&idle.procs);
        let slot = self.open.pop().map_or(self.entries.len(), |slot| slot as usize);
        if slot == self.entries.len() {
            self.entries.push(None);
        }
        let lacks = idle.procs.first().unwrap_or_default();
        self.entries[slot] = Some(Entry { idle, number: 0, lacks });
        self.loosen(slot);
        slot
    }

    /// Removes a job and returns it.
    pub(super) fn remove(&mut self, slot: usize) -> Option<Idle> {
        let Entry { idle, .. } = self.entries.get_mut(slot)?.take()?;
        self.open.push(slot as u32);
        let mut unwanted = ProcSet::new();
        for proc in idle.procs.iter() {
            self.waits[proc as usize] -= 1;
            if self.waits[proc as usize] == 0 {
                unwanted.insert(proc);
            }
        }
        self.wanted.remove_all(&unwanted);
        Some(idle)
    }

    /// The slot of the loose job at this place of their list, if there are so many.
    pub(super) fn loose(&mut self, at: usize) -> Option<usize> {
        while let Some(note) = self.loose.get(at) {
            if self.is_valid(*note) {
                return Some(note.slot as usize);
            }
            self.loose.swap_remove(at);
        }
        None
    }

    /// The loose job at this place of their list is kept from a processor by a running job until that ends, or up to an instant.
    pub(super) fn keep(&mut self, at: usize, lacks: u32, keeper: JobKey, until: Time) {
        let slot = self.loose.swap_remove(at).slot;
        let Some(note) = self.note(slot as usize) else { return };
        if let Some(entry) = &mut self.entries[slot as usize] {
            entry.lacks = lacks;
        }
        if self.behind.len() <= keeper.index() {
            self.behind.resize_with(keeper.index() + 1, Vec::new);
        }
        self.behind[keeper.index()].push(note);
        if until == Time::NEVER {
            return;
        }
        self.due.push(Reverse((until, note)));
        if self.due.len() > 64 + 4 * self.entries.len() {
            let mut due = std::mem::take(&mut self.due);
            due.retain(|Reverse((_, note))| self.is_valid(*note));
            self.due = due;
        }
    }

    /// A running job keeps nobody any more, for all that is known.
    pub(in crate::local::policies) fn loosen_behind(&mut self, keeper: JobKey) {
        let Some(behind) = self.behind.get_mut(keeper.index()) else { return };
        for note in std::mem::take(behind) {
            if self.is_valid(note) {
                self.loosen(note.slot as usize);
            }
        }
    }

    /// Jobs that are kept up to `now` are kept no more.
    pub(in crate::local::policies) fn loosen_due(&mut self, now: Time) {
        while self.next_due() <= now {
            if let Some(Reverse((_, note))) = self.due.pop() {
                self.loosen(note.slot as usize);
            }
        }
    }

    /// When the next job is kept no more, if nothing happens before.
    pub(in crate::local::policies) fn next_due(&mut self) -> Time {
        while let Some(Reverse((until, note))) = self.due.peek() {
            if self.is_valid(*note) {
                return *until;
            }
            self.due.pop();
        }
        Time::NEVER
    }

    fn loosen(&mut self, slot: usize) {
        let note = self.note(slot);
        self.loose.extend(note);
    }

    /// A new note about a job, which makes the one before void.
    fn note(&mut self, slot: usize) -> Option<Note> {
        let entry = self.entries.get_mut(slot)?.as_mut()?;
        self.notes += 1;
        entry.number = self.notes;
        Some(Note { slot: slot as u32, number: self.notes })
    }

    fn is_valid(&self, note: Note) -> bool {
        let entry = self.entries.get(note.slot as usize).and_then(Option::as_ref);
        entry.is_some_and(|entry| entry.number == note.number)
    }
}
