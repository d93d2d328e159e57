//! The storage of a site: its bandwidth, and the space that files take.
//!
//! Readers and writers share the bandwidth: with `n` of them, each progresses at `⌊B / n⌋` bits per second (at least one) at
//! every instant. Space is reserved before a file is written. If it does not fit, the reservation waits, behind those that wait already, until
//! files have gone: a small file does not overtake a large one, which would otherwise wait for ever, unless the caller [says so](Storage::overtake). One of 0 bytes waits for nobody.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::progress::{Progress, amount, share};
use crate::model::{FileId, StorageSpec};
use crate::units::{Bytes, Span, Time};

/// A storage: the files in it, and who reads and writes.
///
/// A pure state machine: [`Storage::reserve`] and [`Storage::remove`] for space, [`Storage::begin`] for a reading or writing,
/// [`Storage::next`] for the next end if nothing else begins, [`Storage::due`] for the ends. The times of calls in between have no influence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Storage {
    spec: StorageSpec,
    /// The files that have their space, written or not.
    files: BTreeMap<FileId, Bytes>,
    /// Reservations that wait for space, in order.
    waiting: VecDeque<(FileId, Bytes)>,
    used: Bytes,
    peak: Bytes,
    /// Readings and writings that share the bandwidth.
    busy: Progress<u64>,
    /// Those that have ended, by their end.
    ended: BTreeSet<(Time, u64)>,
}

/// A file that the storage can never take.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[error("a file of {size} does not fit into a storage of {capacity}")]
pub struct TooLarge {
    /// The file's size.
    pub size: Bytes,
    /// The capacity of the storage.
    pub capacity: Bytes,
}

impl Storage {
    /// An empty storage.
    pub fn new(spec: StorageSpec) -> Self {
        Self {
            spec,
            files: BTreeMap::new(),
            waiting: VecDeque::new(),
            used: Bytes::ZERO,
            peak: Bytes::ZERO,
            busy: Progress::new(Time::ZERO),
            ended: BTreeSet::new(),
        }
    }

    /// Reserves the space of a file that is not here. True if it has it at once; otherwise it waits, and [`Storage::remove`] will
    /// name it.
    ///
    /// # Errors
    /// [`TooLarge`] if even an empty storage has no space for it.
    pub fn reserve(&mut self, file: FileId, size: Bytes) -> Result<bool, TooLarge> {
        debug_assert!(!self.files.contains_key(&file), "file {file} is here already");
        if let Some(capacity) = self.spec.capacity.filter(|capacity| size > *capacity) {
            return Err(TooLarge { size, capacity });
        }
        if size == Bytes::ZERO {
            self.add(file, size);
            return Ok(true);
        }
        self.waiting.push_back((file, size));
        Ok(self.grant().contains(&file))
    }

    /// Takes the space of a file that is here already, whether there is any left or not. If a reservation of it waits, that is given up:
    /// returns those that have their space now, in order.
    pub fn store(&mut self, file: FileId, size: Bytes) -> Vec<FileId> {
        self.add(file, size);
        self.waiting.retain(|(other, _)| *other != file);
        self.grant()
    }

    /// Removes a file, or gives up its reservation. Returns the reservations that have their space now, in order.
    pub fn remove(&mut self, file: FileId) -> Vec<FileId> {
        match self.files.remove(&file) {
            Some(size) => self.used = Bytes::new(self.used.count() - size.count()),
            None => self.waiting.retain(|(other, _)| *other != file),
        }
        self.grant()
    }

    /// Gives space to the reservations that may overtake others and fit, in order. Returns them.
    pub fn overtake(&mut self, may: impl Fn(FileId) -> bool) -> Vec<FileId> {
        let mut granted = Vec::new();
        for (file, size) in std::mem::take(&mut self.waiting) {
            if self.fits(size) && may(file) {
                self.add(file, size);
                granted.push(file);
            } else {
                self.waiting.push_back((file, size));
            }
        }
        granted
    }

    /// Whether a file has its space.
    pub fn has(&self, file: FileId) -> bool {
        self.files.contains_key(&file)
    }

    /// The space that files take, with what is reserved for those that are not written yet.
    pub fn used(&self) -> Bytes {
        self.used
    }

    /// The most that was ever used at once.
    pub fn peak(&self) -> Bytes {
        self.peak
    }

    /// The number of reservations that wait for space.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Begins a reading or a writing. `id` is the caller's; it must differ from those that have not ended.
    pub fn begin(&mut self, id: u64, data: Bytes, now: Time) {
        self.settle(now);
        if self.spec.bandwidth.is_none() || data == Bytes::ZERO {
            self.ended.insert((now, id));
            return;
        }
        let new = self.busy.begin(id, amount(data), now);
        debug_assert!(new, "two readings or writings have the number {id}");
        self.share(now);
    }

    /// The next end of a reading or a writing, if no other begins before; `None` if there is none.
    pub fn next(&self) -> Option<Time> {
        let ended = self.ended.first().map(|(time, _)| *time);
        ended.into_iter().chain(self.busy.next()).min().filter(|time| *time < Time::NEVER)
    }

    /// Takes out the readings and writings that have ended up to and including `now`, in order of time; those of one instant in
    /// order of their numbers.
    pub fn due(&mut self, now: Time) -> Vec<(Time, u64)> {
        self.settle(now);
        let later = self.ended.split_off(&(now + Span::TICK, 0));
        std::mem::replace(&mut self.ended, later).into_iter().collect()
    }

    /// The readings and writings that have not ended, as last settled.
    pub fn unfinished(&self) -> impl Iterator<Item = u64> {
        self.busy.each()
    }

    /// Breaks off all readings and writings, since the site leaves. Returns those that had not ended. Files stay.
    pub fn stop(&mut self, now: Time) -> Vec<u64> {
        self.settle(now);
        let mut stopped: Vec<u64> = self.busy.drain(now).map(|(id, _)| id).collect();
        stopped.sort_unstable();
        stopped
    }

    /// Breaks off one reading or writing.
    pub fn give_up(&mut self, id: u64, now: Time) {
        self.settle(now);
        let others: Vec<_> = self.busy.drain(now).filter(|(other, _)| *other != id).collect();
        for (other, left) in others {
            self.busy.begin(other, left, now);
        }
        self.ended.retain(|(_, other)| *other != id);
        self.share(now);
    }

    /// Changes the description from now on. What is read and written continues with what is left of it. Files stay, even if they are
    /// more than the capacity now. Returns the reservations that have their space now, and those that can never have it.
    pub fn change(&mut self, spec: StorageSpec, now: Time) -> (Vec<FileId>, Vec<FileId>) {
        self.settle(now);
        self.spec = spec;
        if spec.bandwidth.is_none() {
            self.ended.extend(self.busy.drain(now).map(|(id, _)| (now, id)));
        }
        self.share(now);
        let fits = |(_, size): &(FileId, Bytes)| spec.capacity.is_none_or(|capacity| *size <= capacity);
        let (waiting, never): (VecDeque<_>, VecDeque<_>) =
            std::mem::take(&mut self.waiting).into_iter().partition(fits);
        self.waiting = waiting;
        (self.grant(), never.into_iter().map(|(file, _)| file).collect())
    }

    /// Gives space to the reservations that wait, in order, as far as it goes.
    fn grant(&mut self) -> Vec<FileId> {
        let mut granted = Vec::new();
        while let Some((file, size)) = self.waiting.front().copied().filter(|(_, size)| self.fits(*size)) {
            self.waiting.pop_front();
            self.add(file, size);
            granted.push(file);
        }
        granted
    }

    fn fits(&self, size: Bytes) -> bool {
        let used = self.used.count().saturating_add(size.count());
        self.spec.capacity.is_none_or(|capacity| used <= capacity.count())
    }

    /// Takes space.
    fn add(&mut self, file: FileId, size: Bytes) {
        if self.files.insert(file, size).is_none() {
            self.used = Bytes::new(self.used.count().saturating_add(size.count()));
            self.peak = self.peak.max(self.used);
        }
    }

    fn settle(&mut self, now: Time) {
        while let Some((time, id)) = self.busy.pass(now) {
            self.ended.insert((time, id));
            self.share(time);
        }
    }

    fn share(&mut self, now: Time) {
        if let Some(bandwidth) = self.spec.bandwidth {
            self.busy.set_rate(share(bandwidth.bits(), self.busy.len()), now);
        }
    }
}

#[cfg(test)]
mod tests;
