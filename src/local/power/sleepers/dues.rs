//! The machines that are idle, by when they may sleep.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::model::ProcSet;
use crate::units::Time;

/// Disjoint sets of machines, each with the time at which it is due. A machine that is taken out of its set costs a part of a word, whichever set that is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Dues {
    sets: BTreeMap<Time, Due>,
    /// For each 64 machines: those that are in a set, by its time.
    words: Vec<SmallVec<[(Time, u64); 2]>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Due {
    /// All that have been put into the set.
    machines: ProcSet,
    /// In so many words are some that are in it still.
    left: u32,
}

impl Dues {
    /// Puts machines that are in no set into that of this time.
    pub(super) fn insert(&mut self, machines: &ProcSet, time: Time) {
        let Some(last) = machines.last() else { return };
        let words = last as usize / 64 + 1;
        if self.words.len() < words {
            self.words.resize_with(words, SmallVec::new);
        }
        let due = self.sets.entry(time).or_default();
        due.machines.insert_all(machines);
        for (index, word) in machines.filled() {
            let list = &mut self.words[index as usize];
            match list.iter_mut().find(|(of, _)| *of == time) {
                Some((_, members)) => *members |= word,
                None => {
                    list.push((time, word));
                    due.left += 1;
                }
            }
        }
    }

    /// Takes machines out of the sets that they are in, if they are in one.
    pub(super) fn forget(&mut self, machines: &ProcSet) {
        if self.sets.is_empty() {
            return;
        }
        // How many words of one set have no member any more: mostly those of all words are of the same set.
        let mut gone = (Time::ZERO, 0);
        for (index, word) in machines.filled() {
            let Some(list) = self.words.get_mut(index as usize).filter(|list| !list.is_empty()) else {
                continue;
            };
            list.retain(|(of, members)| {
                *members &= !word;
                if *members != 0 {
                    return true;
                }
                if gone.0 != *of {
                    less(&mut self.sets, gone);
                    gone = (*of, 0);
                }
                gone.1 += 1;
                false
            });
        }
        less(&mut self.sets, gone);
    }

    /// Removes and returns the first set that is due.
    pub(super) fn take_due(&mut self, now: Time) -> Option<ProcSet> {
        let entry = self.sets.first_entry().filter(|entry| *entry.key() <= now)?;
        let (time, due) = entry.remove_entry();
        let mut still = ProcSet::new();
        for (index, _) in due.machines.filled() {
            let list = &mut self.words[index as usize];
            if let Some(at) = list.iter().position(|(of, _)| *of == time) {
                still.insert_word(index, list.swap_remove(at).1);
            }
        }
        Some(still)
    }

    /// When the first set is due.
    pub(super) fn next(&self) -> Option<Time> {
        self.sets.first_key_value().map(|(time, _)| *time)
    }

    /// The machines of all sets.
    pub(super) fn all(&self) -> ProcSet {
        let mut all = ProcSet::new();
        for (index, list) in self.words.iter().enumerate() {
            let members = list.iter().fold(0, |all, (_, members)| all | members);
            if members != 0 {
                all.insert_word(index as u32, members);
            }
        }
        all
    }
}

/// So many words of this set have no member any more; a set without members is not due.
fn less(sets: &mut BTreeMap<Time, Due>, (time, words): (Time, u32)) {
    if words == 0 {
        return;
    }
    if let Some(due) = sets.get_mut(&time) {
        due.left -= words;
        if due.left == 0 {
            sets.remove(&time);
        }
    }
}
