//! The replica catalogue: where the files of workflows lie, and where they are coming to.
//!
//! A file has *users*: the tasks that still need it, and the transfers that bring a result home. When the last one has ended, it goes
//! everywhere. What lies at a site that has left is not there until the site comes back. A copy that was on its way from or to it may have left its
//! link, and arrive: it is on its way until it is known to have broken off.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::model::FileId;
use crate::units::{Bytes, Span, Time};

/// A place of files, numbered as in a [`NetworkSpec`](crate::model::NetworkSpec): 0 is the portal, `i + 1` is site `i`.
pub type Place = u32;

/// What lies where, and what is coming to where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replicas {
    files: BTreeMap<FileId, Known>,
    /// Places that have left.
    away: BTreeSet<Place>,
}

/// What is known of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    size: Bytes,
    users: u32,
    /// Where it lies, also if that place has left.
    at: BTreeSet<Place>,
    coming: BTreeMap<Place, Coming>,
}

/// A copy on its way.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coming {
    /// Where it comes from.
    pub from: Place,
    /// When it is expected to arrive.
    pub expected: Time,
}

/// How a place gets a file.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Fetch {
    /// It lies there.
    Here,
    /// It is on its way.
    Coming(Coming),
    /// From the replica that brings it first.
    From(Coming),
    /// It lies nowhere, or only where somebody has left.
    Nowhere,
}

impl Known {
    /// Its size.
    pub fn size(&self) -> Bytes {
        self.size
    }

    /// The copy of it that is expected first, with its place.
    pub fn first_coming(&self) -> Option<(Place, Coming)> {
        self.coming.iter().map(|(to, coming)| (*to, *coming)).min_by_key(|(_, coming)| coming.expected)
    }
}

impl Replicas {
    /// Adds a file that lies nowhere yet, and which so many will use.
    pub fn add(&mut self, file: FileId, size: Bytes, users: u32) {
        let known = Known { size, users, at: BTreeSet::new(), coming: BTreeMap::new() };
        let before = self.files.insert(file, known);
        debug_assert!(before.is_none(), "file {file} is known already");
    }

    /// The size of a file; `None` if it is not known, or has gone.
    pub fn size(&self, file: FileId) -> Option<Bytes> {
        self.files.get(&file).map(|known| known.size)
    }

    /// The places at which a file can be read, in order.
    pub fn places(&self, file: FileId) -> impl Iterator<Item = Place> + '_ {
        let at = self.files.get(&file).into_iter().flat_map(|known| &known.at);
        at.copied().filter(|place| !self.away.contains(place))
    }

    /// The places that have a file, in order, if all of them have left and it is not on its way to a place.
    pub fn away(&self, file: FileId, to: Place) -> Vec<Place> {
        let lost = |known: &&Known| {
            !known.coming.contains_key(&to) && known.at.iter().all(|place| self.away.contains(place))
        };
        self.files.get(&file).filter(lost).into_iter().flat_map(|known| &known.at).copied().collect()
    }

    /// Whether a file can be read at a place.
    pub fn is_at(&self, file: FileId, place: Place) -> bool {
        !self.away.contains(&place) && self.lies_at(file, place)
    }

    /// Whether a place has a file, though it may have left.
    pub fn lies_at(&self, file: FileId, place: Place) -> bool {
        self.files.get(&file).is_some_and(|known| known.at.contains(&place))
    }

    /// Whether a place has left.
    pub fn is_away(&self, place: Place) -> bool {
        self.away.contains(&place)
    }

    /// How a place gets a file. `estimate` is the time that the network needs from a place to another for so much data.
    /// Of replicas that bring it at the same time, the one at the first place is taken.
    pub fn fetch(
        &self,
        file: FileId,
        to: Place,
        now: Time,
        estimate: impl Fn(Place, Place, Bytes) -> Span,
    ) -> Fetch {
        self.files.get(&file).map_or(Fetch::Nowhere, |known| self.fetch_known(known, to, now, estimate))
    }

    /// What is known of a file that lies somewhere, or comes to somewhere; [`Fetch::Nowhere`] is how any place gets another.
    pub fn find(&self, file: FileId) -> Option<&Known> {
        self.files.get(&file).filter(|known| !known.at.is_empty() || !known.coming.is_empty())
    }

    /// As [`Replicas::fetch`], of a file that was [found](Replicas::find).
    pub fn fetch_known(
        &self,
        known: &Known,
        to: Place,
        now: Time,
        estimate: impl Fn(Place, Place, Bytes) -> Span,
    ) -> Fetch {
        if self.away.contains(&to) {
            return Fetch::Nowhere;
        }
        if known.at.contains(&to) {
            return Fetch::Here;
        }
        if let Some(coming) = known.coming.get(&to) {
            return Fetch::Coming(*coming);
        }
        let sources = known.at.iter().copied().filter(|place| !self.away.contains(place));
        let copies = sources.map(|from| Coming { from, expected: now + estimate(from, to, known.size) });
        copies.min_by_key(|copy| copy.expected).map_or(Fetch::Nowhere, Fetch::From)
    }

    /// Notes that a copy has left for a place.
    pub fn sent(&mut self, file: FileId, to: Place, coming: Coming) {
        if let Some(known) = self.files.get_mut(&file) {
            known.coming.insert(to, coming);
        }
    }

    /// Notes that a file lies at a place: it was made there, or a copy has arrived. False if nobody needs it any more.
    pub fn arrived(&mut self, file: FileId, at: Place) -> bool {
        let known = self.files.get_mut(&file);
        known.is_some_and(|known| {
            known.coming.remove(&at);
            known.at.insert(at);
            true
        })
    }

    /// Notes that a copy will not arrive after all.
    pub fn broken(&mut self, file: FileId, to: Place) {
        self.files.get_mut(&file).map(|known| known.coming.remove(&to));
    }

    /// Notes that more will use a file, because a task that has ended must run again.
    pub fn wanted(&mut self, file: FileId, more: u32) {
        if let Some(known) = self.files.get_mut(&file) {
            known.users += more;
        }
    }

    /// Notes that one of those that need a file has ended. After the last one the file goes: the answer is where it lay or was
    /// coming to, in order. Copies on their way then arrive for nobody.
    pub fn used(&mut self, file: FileId) -> Option<Vec<Place>> {
        let known = self.files.get_mut(&file)?;
        known.users = known.users.saturating_sub(1);
        if known.users > 0 {
            return None;
        }
        let Known { mut at, coming, .. } = self.files.remove(&file)?;
        at.extend(coming.into_keys());
        Some(at.into_iter().collect())
    }

    /// Notes that a place has left.
    pub fn left(&mut self, place: Place) {
        self.away.insert(place);
    }

    /// Notes that a place is back, with all that lay there.
    pub fn back(&mut self, place: Place) {
        self.away.remove(&place);
    }

    /// The number of files that are needed.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether no file is needed any more.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

#[cfg(test)]
mod tests;
