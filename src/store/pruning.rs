//! Removal of snapshots that need not be kept.

use std::collections::BTreeMap;

use super::about::{SnapshotInfo, State};
use super::error::StoreError;
use super::folder::Store;
use super::generation;

impl Store {
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
        generation::remove(&*self.means.disk, &self.folder, number)
    }

    /// For each snapshot whether it is always kept, `None` for one that cannot be used. The caller puts this
    /// back if it still holds; otherwise it is computed again.
    pub(super) fn take_known(&mut self) -> Result<BTreeMap<u64, Option<bool>>, StoreError> {
        if let Some(known) = self.known.take() {
            return Ok(known);
        }
        let kept = |info: SnapshotInfo| match (info.state, info.cut) {
            (State::Intact, Some(cut)) => (info.number, Some(cut.kept)),
            _ => (info.number, None),
        };
        Ok(self.snapshots()?.into_iter().map(kept).collect())
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
        let mut removed = Ok(());
        for number in &going {
            removed = generation::remove(&*self.means.disk, &self.folder, *number);
            if removed.is_err() {
                break;
            }
            known.remove(number);
        }
        let oldest = known.keys().next().copied();
        self.known = removed.is_ok().then_some(known);
        removed?;
        if let Some(seal) = oldest.and_then(|number| generation::seal(&self.folder, number).ok()) {
            self.journal.forget_before(seal.cut.entries)?;
        }
        Ok(going)
    }
}
