//! Merges the records of many entities into one order.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::GridError;
use super::min_tree::MinTree;
use crate::model::{Record, RecordSink};
use crate::units::Time;

/// Merges records by time, then by the order of entities, then in the order in which their entity wrote them.
///
/// Records wait until every entity has passed their time, so the order does not depend on which entity was driven first or how
/// far. The records of a single entity are in order already and do not wait.
#[derive(Debug)]
pub struct Merge {
    waiting: Vec<VecDeque<Record>>,
    /// The time of the first waiting record of each entity, then its place; no two keys are equal.
    heads: MinTree,
    /// The time of each entity's latest record: no record counts as written before an earlier one of its entity.
    latest: Vec<Time>,
    count: usize,
}

/// Raised whenever anything in a [`MergeSave`] changes its layout.
const SAVE_VERSION: u32 = 2;

/// The state of a [`Merge`] between two run segments: small, since all records before the barrier have been passed on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeSave {
    version: u32,
    waiting: Vec<VecDeque<Record>>,
    latest: Vec<Time>,
}

impl Merge {
    /// A merge of the records of `entities` entities.
    pub fn new(entities: usize) -> Self {
        Self {
            waiting: vec![VecDeque::new(); entities],
            heads: MinTree::new(entities),
            latest: vec![Time::ZERO; entities],
            count: 0,
        }
    }

    /// The number of records that wait.
    pub fn waiting(&self) -> usize {
        self.count
    }

    /// The records that wait, and what the order of later ones depends on.
    pub fn save(&self) -> MergeSave {
        let (waiting, latest) = (self.waiting.clone(), self.latest.clone());
        MergeSave { version: SAVE_VERSION, waiting, latest }
    }

    /// The merge that was saved.
    ///
    /// # Errors
    /// [`GridError::BadSave`] if another version of gridemu wrote it, or if it is inconsistent.
    pub fn restore(saved: MergeSave) -> Result<Self, GridError> {
        let MergeSave { version, waiting, latest } = saved;
        if version != SAVE_VERSION {
            return Err(GridError::BadSave(format!(
                "its waiting records have layout {version}, this version of gridemu reads {SAVE_VERSION}"
            )));
        }
        if waiting.len() != latest.len() {
            let (queues, times) = (waiting.len(), latest.len());
            return Err(GridError::BadSave(format!(
                "it has waiting records of {queues} entities and times of {times}"
            )));
        }
        let mut merge = Self::new(waiting.len());
        merge.latest = latest;
        for (entity, records) in waiting.into_iter().enumerate() {
            if let Some(first) = records.front() {
                merge.heads.set(entity, head(&mut merge.latest[entity], entity, first));
            }
            merge.count += records.len();
            merge.waiting[entity] = records;
        }
        Ok(merge)
    }

    /// Checks that the merge has this number of entities.
    pub(crate) fn check(&self, entities: usize) -> Result<(), GridError> {
        let found = self.waiting.len();
        if found == entities {
            Ok(())
        } else {
            Err(GridError::BadSave(format!(
                "records of {found} entities are merged, the grid has {entities}"
            )))
        }
    }

    /// Takes the next record of an entity, in the entity's order. A record that need not wait goes straight to `sink`.
    pub fn push(&mut self, entity: usize, record: Record, sink: &mut dyn RecordSink) {
        if self.waiting.len() == 1 {
            sink.record(record);
            return;
        }
        let queue = &mut self.waiting[entity];
        if queue.is_empty() {
            self.heads.set(entity, head(&mut self.latest[entity], entity, &record));
        }
        queue.push_back(record);
        self.count += 1;
    }

    /// Passes on all records written before `passed`, which every entity has passed.
    pub fn emit(&mut self, passed: Time, sink: &mut dyn RecordSink) {
        let bound = u128::from(passed.micros()) << 64;
        while self.heads.least() < bound {
            let entity = self.heads.least() as u64 as usize;
            self.emit_run(entity, sink);
        }
    }

    /// Passes on all records that wait.
    pub fn finish(&mut self, sink: &mut dyn RecordSink) {
        while self.count > 0 {
            let entity = self.heads.least() as u64 as usize;
            self.emit_run(entity, sink);
        }
    }

    /// Passes on the records of an entity up to the first that another entity may precede.
    fn emit_run(&mut self, entity: usize, sink: &mut dyn RecordSink) {
        let (queue, latest) = (&mut self.waiting[entity], &mut self.latest[entity]);
        let now = *latest;
        while let Some(record) = queue.pop_front() {
            sink.record(record);
            self.count -= 1;
            let key = queue.front().map_or(MinTree::NONE, |next| head(latest, entity, next));
            if key == MinTree::NONE || *latest > now {
                self.heads.set(entity, key);
                return;
            }
        }
    }
}

/// The key of an entity with this first record.
fn head(latest: &mut Time, entity: usize, record: &Record) -> u128 {
    *latest = record.written().max(*latest);
    u128::from(latest.micros()) << 64 | entity as u128
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::model::{MachineRecord, MachineState, PartitionId, ProcSet, SiteId};

    /// A step of a test with three entities.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Push(usize, u64),
        Emit(u64),
        /// Saves the merge, and goes on with the restored one.
        Anew,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            6 => (0_usize..3, 0_u64..40).prop_map(|(entity, at)| Step::Push(entity, at)),
            2 => (0_u64..40).prop_map(Step::Emit),
            1 => Just(Step::Anew),
        ];
        vec(step, 0..40)
    }

    fn record(entity: usize, at: u64, number: u32) -> Record {
        Record::Machine(MachineRecord {
            time: Time::from_secs(at),
            site: SiteId(entity as u32),
            partition: PartitionId(number),
            procs: ProcSet::new(),
            state: MachineState::Idle,
        })
    }

    fn merged(steps: &[Step], anew: bool) -> Vec<Record> {
        let (mut merge, mut records) = (Merge::new(3), Vec::new());
        for (number, step) in (0..).zip(steps) {
            match *step {
                Step::Push(entity, at) => merge.push(entity, record(entity, at, number), &mut records),
                Step::Emit(at) => merge.emit(Time::from_secs(at), &mut records),
                Step::Anew if anew => {
                    let bytes = postcard::to_stdvec(&merge.save()).unwrap();
                    merge = Merge::restore(postcard::from_bytes(&bytes).unwrap()).unwrap();
                }
                Step::Anew => {}
            }
        }
        merge.finish(&mut records);
        records
    }

    proptest! {
        #[test]
        fn what_waits_goes_on_in_another_process(steps in steps()) {
            prop_assert_eq!(merged(&steps, true), merged(&steps, false));
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let good = Merge::new(2).save();
        assert!(Merge::restore(good.clone()).is_ok());
        let told = |save| Merge::restore(save).expect_err("it makes no sense").to_string();
        let newer = MergeSave { version: SAVE_VERSION + 1, ..good.clone() };
        assert!(told(newer).contains("have layout 3, this version of gridemu reads 2"));
        let torn = MergeSave { latest: Vec::new(), ..good };
        assert!(told(torn).contains("waiting records of 2 entities and times of 0"));
    }
}
