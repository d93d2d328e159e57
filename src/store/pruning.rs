//! Removal of a store, and of snapshots that need not be kept.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::about::SnapshotInfo;
use super::blocks::BLOCKS;
use super::disk::{self, RealDisk};
use super::error::StoreError;
use super::finished::FINISHED;
use super::folder::Store;
use super::lock::Lock;
use super::marker::{MARKER, RUN};
use super::{generation, journal};

impl Store {
    /// Removes the store in `folder`, whatever state it is in, and nothing else that is there; the empty folder stays. Nothing happens
    /// if there is no store.
    ///
    /// # Errors
    /// [`StoreError::InUse`], and errors of the file system; the call can be repeated then.
    pub fn clear(folder: &Path, patience: Duration) -> Result<(), StoreError> {
        if !folder.join(MARKER).exists() {
            return Ok(());
        }
        let _lock = Lock::take(&RealDisk, folder, patience)?;
        let names = generation::names(folder)?;
        let is_snapshot = |name: &str| generation::number_of(name).is_some() || generation::is_leftover(name);
        let is_file = |name: &str| name == BLOCKS || name == FINISHED || name.starts_with(journal::PREFIX);
        // Without the marker the folder is no store any more, so the marker goes last, before files that can stay without harm.
        let parts = names.iter().filter(|name| is_snapshot(name) || is_file(name)).map(String::as_str);
        for name in parts.chain([MARKER, RUN]) {
            let path = folder.join(name);
            if path.exists() {
                disk::remove(&RealDisk, &path)?;
            }
        }
        Ok(())
    }

    /// Removes all snapshots but the latest `last`, at least one, and those that are always kept. Returns the
    /// numbers of the removed ones.
    ///
    /// # Errors
    /// [`StoreError`] if one cannot be removed.
    pub fn prune(&mut self, last: usize) -> Result<Vec<u64>, StoreError> {
        // Damaged snapshots go with them if there is a usable one.
        let usable = self.take_known()?;
        let any = usable.values().any(Option::is_some);
        self.known = Some(usable);
        self.drop_all_but(last, any)
    }

    /// Removes one snapshot, even if it is always kept or damaged.
    ///
    /// # Errors
    /// [`StoreError::Last`] if no other can be used, [`StoreError::Unknown`], and errors of the file system.
    pub fn remove(&mut self, number: u64) -> Result<(), StoreError> {
        self.has(number)?;
        let known = self.take_known()?;
        let usable: Vec<u64> = known.iter().filter_map(|(&other, kept)| kept.map(|_| other)).collect();
        if usable == [number] {
            self.known = Some(known);
            return Err(StoreError::Last { path: self.folder.clone(), number });
        }
        generation::remove(&*self.backend.disk, &self.folder, number)
    }

    /// For each snapshot whether it is always kept, `None` for one that cannot be used. The caller puts this
    /// back if it still holds; otherwise it is computed again.
    pub(super) fn take_known(&mut self) -> Result<BTreeMap<u64, Option<bool>>, StoreError> {
        if let Some(known) = self.known.take() {
            return Ok(known);
        }
        let kept =
            |info: SnapshotInfo| info.barrier.filter(|_| info.damage.is_none()).map(|barrier| barrier.kept);
        Ok(self.snapshots()?.into_iter().map(|info| (info.number, kept(info))).collect())
    }

    /// Removes all snapshots but the latest `last` and those that are always kept.
    pub(super) fn drop_all_but(&mut self, last: usize, damaged_too: bool) -> Result<Vec<u64>, StoreError> {
        let mut known = self.take_known()?;
        let usable = known.iter().rev().filter(|(_, kept)| kept.is_some());
        let latest: Vec<u64> = usable.take(last.max(1)).map(|(&number, _)| number).collect();
        let goes = |(&number, &kept): (&u64, &Option<bool>)| match kept {
            Some(kept) => (!kept && !latest.contains(&number)).then_some(number),
            None => damaged_too.then_some(number),
        };
        let going: Vec<u64> = known.iter().filter_map(goes).collect();
        for number in &going {
            // After an error `known` is computed anew.
            generation::remove(&*self.backend.disk, &self.folder, *number)?;
            known.remove(number);
        }
        let oldest = known.keys().next().copied();
        self.known = Some(known);
        if let Some(seal) = oldest.and_then(|number| generation::seal(&self.folder, number).ok()) {
            self.journal.forget_before(seal.barrier.entries)?;
        }
        Ok(going)
    }
}
