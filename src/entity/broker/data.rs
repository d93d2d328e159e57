//! The files of workflows at the broker: where they lie, what is on its way, and which tasks wait for what.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::model::Record;
use crate::model::{
    FileId, NetworkSpec, RecordSink, SiteId, StorageSpec, TaskId, TransferOutcome, TransferRecord, WorkflowId,
};
use crate::platform::{Coming, Fetch, Load, Place, Replicas, Storage};
use crate::units::{Bytes, Time};

/// What the broker knows of the files of the workflows that have not ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Data {
    pub(super) replicas: Replicas,
    /// The copies that the network has, by number.
    copies: BTreeMap<u64, Copying>,
    asked: u64,
    pub(super) load: Load,
    /// The tasks that wait for a file at a place.
    waiters: BTreeSet<(FileId, Place, TaskId)>,
    missing: Missing,
    /// Results on their way home.
    homing: u64,
    /// Copies that are asked for again only when the place that has left is back.
    pub(super) broken: BTreeMap<(FileId, Place), Place>,
    /// Results that cannot go home now, with what was last written of each.
    pub(super) stranded: BTreeMap<FileId, TransferRecord>,
    /// The space that files take at each place.
    spaces: BTreeMap<Place, Storage>,
    /// The copies that wait for space.
    for_space: BTreeMap<(Place, FileId), u64>,
    /// Files that have their space now.
    granted: Vec<(Place, FileId)>,
    /// For each workflow that has not ended the sizes of the copies of its files that have arrived.
    moved: BTreeMap<WorkflowId, u64>,
    /// The number of the next file.
    next: u64,
}

/// For each task that waits for files, its place, and their number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "BTreeMap<TaskId, (Place, u32)>", into = "BTreeMap<TaskId, (Place, u32)>")]
struct Missing {
    of: BTreeMap<TaskId, (Place, u32)>,
    /// The same tasks by place.
    at: BTreeSet<(Place, TaskId)>,
}

impl From<BTreeMap<TaskId, (Place, u32)>> for Missing {
    fn from(of: BTreeMap<TaskId, (Place, u32)>) -> Self {
        let at = of.iter().map(|(task, (place, _))| (*place, *task)).collect();
        Self { of, at }
    }
}

impl From<Missing> for BTreeMap<TaskId, (Place, u32)> {
    fn from(missing: Missing) -> Self {
        missing.of
    }
}

impl Missing {
    fn add(&mut self, task: TaskId, at: Place) {
        let (at, number) = self.of.entry(task).or_insert((at, 0));
        *number += 1;
        self.at.insert((*at, task));
    }

    fn remove(&mut self, task: TaskId) -> Option<Place> {
        let (at, _) = self.of.remove(&task)?;
        self.at.remove(&(at, task));
        Some(at)
    }
}

/// A copy on its way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Copying {
    pub(super) file: FileId,
    pub(super) from: Place,
    pub(super) to: Place,
    /// Whether it is a result that goes home.
    pub(super) home: bool,
    /// What will be written of it, as if it never arrived.
    pub(super) record: TransferRecord,
}

/// The place of a site.
pub(super) fn place_of(site: SiteId) -> Place {
    site.0 + 1
}

/// The site at a place; none is at that of the portal.
pub(super) fn site_at(place: Place) -> SiteId {
    place.checked_sub(1).map_or(SiteId::GRID, SiteId)
}

impl Data {
    /// Numbers for so many new files; returns the first.
    pub(super) fn number(&mut self, files: usize) -> FileId {
        let first = self.next;
        self.next += files as u64;
        FileId(first)
    }

    /// Counts what is moved of the files of a workflow from now on.
    pub(super) fn begin_moving(&mut self, workflow: WorkflowId) {
        self.moved.insert(workflow, 0);
    }

    /// What was moved of the files of a workflow, which ends.
    pub(super) fn all_moved(&mut self, workflow: WorkflowId) -> Bytes {
        Bytes::new(self.moved.remove(&workflow).unwrap_or(0))
    }

    /// How a place gets a file.
    pub(super) fn fetch(&self, file: FileId, to: Place, now: Time, network: &NetworkSpec) -> Fetch {
        self.replicas.fetch(file, to, now, |from, to, data| self.load.estimate(network, from, to, data))
    }

    /// Notes that a copy is wanted. Returns its number if it can begin; otherwise it waits for space.
    pub(super) fn copy(&mut self, copy: Copying, expected: Time, network: &NetworkSpec) -> Option<u64> {
        let Copying { file, from, to, home, .. } = copy;
        self.no_more(file, to);
        let (id, size) = (self.asked, copy.record.bytes);
        self.asked += 1;
        self.homing += u64::from(home);
        self.replicas.sent(file, to, Coming { from, expected });
        let space = self.space(to, network);
        // A result that is home takes no space there. A task goes nowhere where its files do not fit.
        let begins = home || space.has(file) || space.reserve(file, size) == Ok(true);
        self.copies.insert(id, copy);
        if begins {
            return Some(id);
        }
        self.for_space.insert((to, file), id);
        None
    }

    /// Notes that a copy begins: its file, its way and its size.
    pub(super) fn begin(&mut self, id: u64, now: Time) -> Option<(Place, Place, Bytes)> {
        let copy = self.copies.get_mut(&id)?;
        copy.record.began = Some(now);
        self.load.begin(copy.from, copy.to);
        Some((copy.from, copy.to, copy.record.bytes))
    }

    /// Takes out the copies that have their space now. The last file that a task waits for overtakes others.
    pub(super) fn take_granted(&mut self) -> Vec<u64> {
        let Self { spaces, waiters, missing, granted, .. } = self;
        for (place, space) in spaces.iter_mut().filter(|(_, space)| space.waiting() > 0) {
            let last = |file| {
                let mut tasks = waiters.range((file, *place, TaskId(0))..=(file, *place, TaskId(u64::MAX)));
                tasks.any(|(_, _, task)| missing.of.get(task).is_some_and(|(_, number)| *number == 1))
            };
            granted.extend(space.overtake(last).into_iter().map(|file| (*place, file)));
        }
        let granted = std::mem::take(&mut self.granted);
        granted.into_iter().filter_map(|place| self.for_space.remove(&place)).collect()
    }

    /// Notes that a copy has arrived, or that it will not, and records it.
    pub(super) fn over(
        &mut self,
        id: u64,
        outcome: TransferOutcome,
        now: Time,
        sink: &mut (impl RecordSink + ?Sized),
    ) -> Option<Copying> {
        let copy = self.copies.remove(&id)?;
        self.homing -= u64::from(copy.home);
        self.load.end(copy.from, copy.to);
        let same = |other: &Copying| (other.file, other.to) == (copy.file, copy.to);
        match outcome {
            TransferOutcome::Arrived => {
                let there = self.replicas.arrived(copy.file, copy.to);
                // The file may have gone meanwhile, and be wanted again.
                if there && !copy.home {
                    self.store(copy.file, copy.to, copy.record.bytes);
                }
                if let Some(moved) = self.moved.get_mut(&copy.record.workflow) {
                    *moved = moved.saturating_add(copy.record.bytes.count());
                }
            }
            // Another one may be on its way there, asked for when the place it came from was known to have left.
            _ if self.copies.values().any(same) => {}
            _ => {
                self.replicas.broken(copy.file, copy.to);
                self.remove(copy.file, copy.to);
            }
        }
        sink.record(Record::Transfer(TransferRecord { end: now, outcome, ..copy.record.clone() }));
        Some(copy)
    }

    /// Notes that a file was made at a place, or lies there from the beginning.
    pub(super) fn made(&mut self, file: FileId, at: Place, network: &NetworkSpec) {
        // A copy of what a task makes once more may still wait for space here.
        self.no_more(file, at);
        let size = self.replicas.size(file).unwrap_or(Bytes::ZERO);
        if self.replicas.arrived(file, at) {
            self.space(at, network);
            self.store(file, at, size);
        }
    }

    /// Notes that a file takes space at a place.
    fn store(&mut self, file: FileId, at: Place, size: Bytes) {
        if let Some(space) = self.spaces.get_mut(&at).filter(|space| !space.has(file)) {
            self.granted.extend(space.store(file, size).into_iter().map(|file| (at, file)));
        }
    }

    /// Notes that one of those that need these files has ended, or that they have come home. After the last one a file goes everywhere, before
    /// others get its space.
    pub(super) fn used(&mut self, files: impl IntoIterator<Item = FileId>) {
        let replicas = &mut self.replicas;
        let places = |file| replicas.used(file).into_iter().flatten().map(move |place| (file, place));
        let gone: Vec<(FileId, Place)> = files.into_iter().flat_map(places).collect();
        gone.iter().for_each(|(file, place)| self.no_more(*file, *place));
        gone.iter().for_each(|(file, place)| self.remove(*file, *place));
    }

    /// Gives up a copy that waits for space.
    fn no_more(&mut self, file: FileId, to: Place) {
        if let Some(id) = self.for_space.remove(&(to, file)) {
            self.homing -= self.copies.remove(&id).map_or(0, |copy| u64::from(copy.home));
            self.granted.retain(|granted| *granted != (to, file));
            self.remove(file, to);
        }
    }

    /// Gives up a copy that waits for space, of a file that nobody wants there any more.
    pub(super) fn unwanted(&mut self, file: FileId, to: Place) {
        self.no_more(file, to);
        self.replicas.broken(file, to);
    }

    /// The most that was ever stored at a place.
    pub(super) fn peak(&self, place: Place) -> Bytes {
        self.spaces.get(&place).map_or(Bytes::ZERO, Storage::peak)
    }

    /// Other capacities hold from now on: files have their space now that waited for it, and copies that can never have it are given up.
    pub(super) fn change(&mut self, network: &NetworkSpec, now: Time) {
        let mut never = Vec::new();
        for (place, space) in &mut self.spaces {
            let spec = StorageSpec { bandwidth: None, ..network.storage(*place as usize) };
            let (granted, too_large) = space.change(spec, now);
            self.granted.extend(granted.into_iter().map(|file| (*place, file)));
            never.extend(too_large.into_iter().map(|file| (*place, file)));
        }
        for (place, file) in never {
            self.no_more(file, place);
            self.replicas.broken(file, place);
        }
    }

    fn space(&mut self, place: Place, network: &NetworkSpec) -> &mut Storage {
        let spec = StorageSpec { bandwidth: None, ..network.storage(place as usize) };
        self.spaces.entry(place).or_insert_with(|| Storage::new(spec))
    }

    fn remove(&mut self, file: FileId, at: Place) {
        if let Some(space) = self.spaces.get_mut(&at) {
            self.granted.extend(space.remove(file).into_iter().map(|file| (at, file)));
        }
    }

    /// The files that are on their way to a place that has not left, as far as is known: also from one that has, until the network tells that the
    /// copy has broken off.
    pub(super) fn moving(&self) -> BTreeSet<FileId> {
        let begun = self.copies.values().filter(|copy| copy.record.began.is_some());
        begun.filter(|copy| !self.replicas.is_away(copy.to)).map(|copy| copy.file).collect()
    }

    /// Results on their way home.
    pub(super) fn homing(&self) -> u64 {
        self.homing
    }

    /// Notes that a task waits for a file at a place.
    pub(super) fn wait(&mut self, file: FileId, at: Place, task: TaskId) {
        if self.waiters.insert((file, at, task)) {
            self.missing.add(task, at);
        }
    }

    /// Notes that a file lies at a place. Returns the tasks that have all their files now, in order.
    pub(super) fn there(&mut self, file: FileId, at: Place) -> Vec<TaskId> {
        let waiting = self.waiters.range((file, at, TaskId(0))..=(file, at, TaskId(u64::MAX)));
        let waiting: SmallVec<[TaskId; 8]> = waiting.map(|(_, _, task)| *task).collect();
        let mut complete = Vec::new();
        for task in waiting {
            self.waiters.remove(&(file, at, task));
            let Some((_, missing)) = self.missing.of.get_mut(&task) else { continue };
            *missing -= 1;
            if *missing == 0 {
                self.missing.remove(task);
                complete.push(task);
            }
        }
        complete
    }

    /// The tasks that wait for files, by number.
    pub(super) fn staged(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.missing.of.keys().copied()
    }

    /// The tasks that wait for files at a place, by number.
    pub(super) fn waiting_at(&self, place: Place) -> Vec<TaskId> {
        let there = self.missing.at.range((place, TaskId(0))..=(place, TaskId(u64::MAX)));
        there.map(|(_, task)| *task).collect()
    }

    /// The files that tasks wait for: the file, its place, and the task.
    pub(super) fn wanted(&self) -> Vec<(FileId, Place, TaskId)> {
        self.waiters.iter().copied().collect()
    }

    /// The tasks that wait for a file at these places.
    pub(super) fn waiting_for(&self, file: FileId, at: RangeInclusive<Place>) -> Vec<TaskId> {
        let all = (file, *at.start(), TaskId(0))..=(file, *at.end(), TaskId(u64::MAX));
        self.waiters.range(all).map(|(_, _, task)| *task).collect()
    }

    /// Whether a task waits for files at a place.
    pub(super) fn waits(&self, task: TaskId, at: Place) -> bool {
        self.missing.of.get(&task).is_some_and(|(place, _)| *place == at)
    }

    /// The place where a task waits for files.
    pub(super) fn place_of_task(&self, task: TaskId) -> Option<Place> {
        self.missing.of.get(&task).map(|(place, _)| *place)
    }

    /// Whether a copy of a file waits for space at a place.
    pub(super) fn is_for_space(&self, file: FileId, at: Place) -> bool {
        self.for_space.contains_key(&(at, file))
    }

    /// The places that have a file, if all of them have left and it is not on its way to a place; or the one that has left and is waited for.
    pub(super) fn away(&self, file: FileId, to: Place) -> Vec<Place> {
        match self.broken.get(&(file, to)) {
            Some(left) => vec![*left],
            None => self.replicas.away(file, to),
        }
    }

    /// Notes that a task waits for none of the files that it reads.
    pub(super) fn forget(&mut self, task: TaskId, inputs: &[FileId]) {
        let Some(at) = self.missing.remove(task) else { return };
        for file in inputs {
            self.waiters.remove(&(*file, at, task));
        }
    }

    /// Ends the run: copies that have not arrived are recorded.
    pub(super) fn close(&mut self, now: Time, sink: &mut dyn RecordSink) {
        for copy in std::mem::take(&mut self.copies).into_values() {
            sink.record(Record::Transfer(TransferRecord { end: now, ..copy.record }));
        }
        self.homing = 0;
    }
}
