//! Compares every engine with an ordered map in memory.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use crate::store::EngineKind;

#[derive(Clone, Debug)]
enum Act {
    Put(Vec<u8>, usize, u8),
    Get(Vec<u8>),
    Keys(Vec<u8>),
    Flush,
    /// Flushes, closes and opens again.
    Reopen,
}

fn key() -> impl Strategy<Value = Vec<u8>> {
    // Few keys, so that they coincide; bytes that share a tree of sled and bytes that do not.
    vec(prop_oneof![Just(0_u8), Just(1), Just(7), Just(8), Just(255)], 0..4)
}

fn act() -> impl Strategy<Value = Act> {
    let size = prop_oneof![0..20_usize, 5_000..100_000_usize];
    prop_oneof![
        6 => (key(), size, any::<u8>()).prop_map(|(key, len, byte)| Act::Put(key, len, byte)),
        2 => key().prop_map(Act::Get),
        1 => vec(prop_oneof![Just(0_u8), Just(7)], 0..2).prop_map(Act::Keys),
        1 => Just(Act::Flush),
        1 => Just(Act::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn an_engine_is_an_ordered_map(acts in vec(act(), 1..60)) {
        for kind in EngineKind::all() {
            let folder = tempfile::tempdir().unwrap();
            let mut engine = kind.open(folder.path()).unwrap();
            let mut map: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
            for act in &acts {
                match act {
                    Act::Put(key, len, byte) => {
                        engine.put(key, &vec![*byte; *len]).unwrap();
                        map.insert(key.clone(), vec![*byte; *len]);
                    }
                    Act::Get(key) => prop_assert_eq!(engine.get(key).unwrap(), map.get(key).cloned()),
                    Act::Keys(prefix) => {
                        let keys = map.keys().filter(|key| key.starts_with(prefix));
                        prop_assert_eq!(engine.keys(prefix).unwrap(), keys.cloned().collect::<Vec<_>>());
                    }
                    Act::Flush => engine.flush().unwrap(),
                    Act::Reopen => {
                        engine.flush().unwrap();
                        engine.close().unwrap();
                        engine = kind.open(folder.path()).unwrap();
                    }
                }
            }
            for (key, value) in &map {
                prop_assert_eq!(engine.get(key).unwrap(), Some(value.clone()), "{} {:?}", kind, key);
            }
            prop_assert_eq!(engine.keys(b"").unwrap(), map.keys().cloned().collect::<Vec<_>>());
        }
    }
}

#[test]
fn names_of_engines_read_back() {
    for kind in EngineKind::all() {
        assert_eq!(kind.to_string().parse(), Ok(kind));
    }
    let error = "rocksdb".parse::<EngineKind>().unwrap_err();
    assert_eq!(error, "there is no store engine `rocksdb`; there are `sled` and `redb`");
}

/// A closed database has released its files: it can be opened, and removed, at once. sled alone does not ensure
/// that.
#[test]
fn closing_an_engine_lets_go_of_its_files() {
    for kind in EngineKind::all() {
        let folder = tempfile::tempdir().unwrap();
        for n in 0..60_u32 {
            let mut engine = kind.open(folder.path()).unwrap();
            engine.put(&n.to_be_bytes(), &[1; 2000]).unwrap();
            engine.flush().unwrap();
            engine.close().unwrap();
        }
        assert_eq!(kind.open(folder.path()).unwrap().keys(b"").unwrap().len(), 60);
    }
}

/// What sled was writing when its process was killed: see `remove_unfinished`.
#[test]
fn the_remains_of_an_index_of_sled_are_no_damage() {
    for whole in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let mut engine = EngineKind::Sled.open(folder.path()).unwrap();
        engine.put(b"key", b"value").unwrap();
        engine.flush().unwrap();
        engine.close().unwrap();
        if whole {
            // It has an index from now on.
            EngineKind::Sled.open(folder.path()).unwrap().close().unwrap();
        }
        let names = || std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let indices = names().filter(|name| name.to_string_lossy().starts_with("snap.")).count();
        std::fs::write(folder.path().join("snap.0000000000000FFF.generating"), b"half of it").unwrap();
        let engine = EngineKind::Sled.open(folder.path()).unwrap();
        assert_eq!(engine.get(b"key").unwrap().as_deref(), Some(b"value".as_slice()), "{indices} indices");
        engine.close().unwrap();
        assert!(names().all(|name| !name.to_string_lossy().ends_with(".generating")));
    }
}

#[test]
fn the_remains_of_the_settings_of_sled_are_no_damage() {
    let folder = tempfile::tempdir().unwrap();
    EngineKind::Sled.open(folder.path()).unwrap().close().unwrap();
    let settings = std::fs::read(folder.path().join("conf")).unwrap();
    for written in 0..settings.len() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("conf"), &settings[..written]).unwrap();
        let mut engine = EngineKind::Sled.open(folder.path()).unwrap();
        engine.put(b"key", b"value").unwrap();
        engine.flush().unwrap();
        engine.close().unwrap();
        let engine = EngineKind::Sled.open(folder.path()).unwrap();
        assert_eq!(engine.get(b"key").unwrap().as_deref(), Some(b"value".as_slice()), "{written} bytes");
        engine.close().unwrap();
    }
}
