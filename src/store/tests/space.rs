//! The space that a store takes.

use std::time::Duration;

use super::{about, barrier, sections};
use crate::store::{EngineKind, Store, StoreOptions};

#[test]
fn a_hundred_snapshots_of_which_two_are_kept_take_no_more_than_four() {
    let sizes = [(EngineKind::Sled, 300_000), (EngineKind::Sled, 2_500_000), (EngineKind::Redb, 1_500_000)];
    for (engine, len) in sizes.into_iter().filter(|(engine, _)| engine.is_built_in()) {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("store");
        let options = StoreOptions { engine, last: 2, patience: Duration::ZERO };
        let mut store = Store::create(&folder, &about(), &options).unwrap();
        let rounds = if len > 1_000_000 { 30 } else { 100 };
        for n in 1..=rounds {
            store.write(barrier(n, 0), &sections(n, len)).unwrap();
        }
        let size = store.size_on_disk().unwrap();
        let payload = store.snapshots().unwrap()[1].bytes;
        assert!(size <= 4 * payload, "{engine}: {size} bytes for two snapshots of {payload}");
        // sled takes less, and its layout in this module aims at that.
        let bound = if engine == EngineKind::Sled { 5 * payload / 2 } else { 4 * payload };
        assert!(size <= bound, "{engine}: {size} bytes for two snapshots of {payload}");
        assert_eq!(store.newest().unwrap().sections, sections(rounds, len));
    }
}
