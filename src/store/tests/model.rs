//! Compares a store with a model under random operations in random order.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;

use super::{about, barrier, other_engine, sections};
use crate::store::{Barrier, EngineKind, Store, StoreError, StoreOptions};

#[derive(Clone, Debug)]
enum Act {
    Write {
        len: usize,
        kept: bool,
    },
    Append(u16),
    Block(u8),
    Reopen,
    Prune(usize),
    /// The n-th of the existing snapshots.
    Remove(usize),
    GoOn(usize),
    Read(usize),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        5 => (prop_oneof![0..50_usize, 90_000..250_000_usize], prop::bool::weighted(0.2))
            .prop_map(|(len, kept)| Act::Write { len, kept }),
        4 => (0..2000_u16).prop_map(Act::Append),
        3 => any::<u8>().prop_map(Act::Block),
        2 => Just(Act::Reopen),
        1 => (0..4_usize).prop_map(Act::Prune),
        1 => (0..4_usize).prop_map(Act::Remove),
        1 => (0..4_usize).prop_map(Act::GoOn),
        2 => (0..4_usize).prop_map(Act::Read),
    ]
}

/// The expected contents of a store.
#[derive(Default)]
struct Model {
    snapshots: BTreeMap<u64, (Barrier, usize, u64, usize)>,
    entries: Vec<Vec<u8>>,
    blocks: Vec<u8>,
    clock: u64,
}

impl Model {
    fn drop_all_but(&mut self, last: usize) {
        let latest: Vec<u64> = self.snapshots.keys().rev().take(last.max(1)).copied().collect();
        self.snapshots.retain(|number, (barrier, ..)| barrier.kept || latest.contains(number));
    }

    fn nth(&self, n: usize) -> Option<u64> {
        self.snapshots.keys().nth(n).copied()
    }
}

fn compare(store: &Store, model: &Model, number: u64) -> Result<(), TestCaseError> {
    let (barrier, len, salt, _) = model.snapshots[&number];
    let (info, read) = store.read(number).unwrap();
    prop_assert_eq!((info.barrier, read), (Some(barrier), sections(salt, len)));
    let journal = store.journal(number).unwrap();
    prop_assert_eq!(&journal.entries[..], &model.entries[barrier.entries as usize..]);
    prop_assert!(!journal.torn);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn a_store_holds_what_was_put_there(acts in vec(act(), 1..40), other in any::<bool>(), last in 1..4_usize) {
        let engine = if other { other_engine() } else { EngineKind::Sled };
        let options = StoreOptions { engine, last, patience: Duration::ZERO };
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("store");
        let mut store = Store::create(&folder, &about(), &options).unwrap();
        let mut model = Model::default();
        for act in acts {
            match act {
                Act::Write { len, kept } => {
                    model.clock += 1;
                    let at = model.clock;
                    let barrier = Barrier { kept, ..barrier(at, model.entries.len() as u64) };
                    let info = store.write(barrier, &sections(at, len)).unwrap();
                    prop_assert!(model.snapshots.keys().all(|&number| number < info.number));
                    model.snapshots.insert(info.number, (barrier, len, at, model.blocks.len()));
                    model.drop_all_but(last);
                }
                Act::Append(len) => {
                    let entry = vec![len as u8; usize::from(len)];
                    prop_assert_eq!(store.journal_handle().append(&entry).unwrap(), model.entries.len() as u64);
                    model.entries.push(entry);
                }
                Act::Block(id) => {
                    store.put_block(&[id], &vec![id; 10 * usize::from(id)]).unwrap();
                    if !model.blocks.contains(&id) {
                        model.blocks.push(id);
                    }
                    let other = store.put_block(&[id], b"other");
                    prop_assert!(matches!(other, Err(StoreError::OtherBlock { .. })), "not refused");
                }
                Act::Reopen => {
                    drop(store);
                    store = Store::open(&folder, &options).unwrap();
                }
                Act::Prune(keep) => {
                    store.prune(keep).unwrap();
                    model.drop_all_but(keep);
                }
                Act::Remove(n) => {
                    let Some(number) = model.nth(n) else { continue };
                    let removed = store.remove(number);
                    if model.snapshots.len() == 1 {
                        prop_assert!(matches!(removed, Err(StoreError::Last { .. })), "not refused");
                    } else {
                        removed.unwrap();
                        model.snapshots.remove(&number);
                    }
                }
                Act::GoOn(n) => {
                    let Some(number) = model.nth(n) else { continue };
                    store.continue_from(number).unwrap();
                    model.snapshots.retain(|&later, _| later <= number);
                    model.blocks.truncate(model.snapshots[&number].3);
                }
                Act::Read(n) => {
                    if let Some(number) = model.nth(n) {
                        compare(&store, &model, number)?;
                    }
                }
            }
        }
        let listed = store.snapshots().unwrap();
        prop_assert_eq!(
            listed.iter().map(|info| info.number).collect::<Vec<_>>(),
            model.snapshots.keys().copied().collect::<Vec<_>>()
        );
        prop_assert!(listed.iter().all(|info| info.damage.is_none()));
        for &number in model.snapshots.keys() {
            compare(&store, &model, number)?;
        }
        for &id in &model.blocks {
            prop_assert_eq!(store.block(&[id]).unwrap(), vec![id; 10 * usize::from(id)]);
        }
        match store.newest() {
            Ok(newest) => prop_assert_eq!(Some(&newest.number), model.snapshots.keys().last()),
            Err(error) => prop_assert!(model.snapshots.is_empty(), "{}", error),
        }
    }
}
