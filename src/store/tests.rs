//! Tests that make the store's disk or database fail, and tests of its parts.

mod basics;
mod damage;
mod engines;
mod faults;
mod faulty;
#[cfg(feature = "redb")]
mod faulty_redb;
mod full;
mod kills;
mod layouts;
mod model;
mod space;

use super::{About, Barrier, EngineKind, RunKind, Section};
use crate::units::Time;

/// The run of a store.
fn about() -> About {
    About {
        kind: RunKind::Run,
        description: b"how to build it".to_vec(),
        title: "two sites".to_owned(),
        hash: 0xabc,
        program: "0.1.0".to_owned(),
    }
}

/// An engine other than the default, if this build has one.
fn other_engine() -> EngineKind {
    EngineKind::all().last().unwrap()
}

/// A barrier at this second, after this many entries of the journal.
fn barrier(at: u64, entries: u64) -> Barrier {
    Barrier { at: Time::from_secs(at), jobs: at / 2, records: at, entries, kept: false }
}

/// Sections that depend on `salt` alone, one of them of `len` bytes.
fn sections(salt: u64, len: usize) -> Vec<Section> {
    let mut state = salt.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let bytes = (0..len).map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    });
    vec![
        Section { name: "grid".to_owned(), version: 3, bytes: bytes.collect() },
        Section { name: "salt".to_owned(), version: 1, bytes: salt.to_le_bytes().to_vec() },
        Section { name: "empty".to_owned(), version: 1, bytes: Vec::new() },
    ]
}
