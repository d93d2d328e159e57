//! The layout of a snapshot's sections in a database: pieces under numbered keys, and a manifest with the hash of
//! each.

use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::about::{Barrier, Section};
use super::disk::engine_at;
use super::engine::Engine;
use super::error::{Part, StoreError};

const MANIFEST: &[u8] = b"manifest";
const VERSION: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    version: u32,
    snapshot: u64,
    barrier: Barrier,
    sections: Vec<Contents>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Contents {
    name: String,
    version: u32,
    len: u64,
    /// The hash of each piece.
    chunks: Vec<u128>,
}

/// Writes sections in pieces of at most `chunk` bytes; flushes; then writes the manifest and flushes again.
pub(super) fn put(
    engine: &mut dyn Engine,
    folder: &Path,
    snapshot: u64,
    barrier: Barrier,
    sections: &[Section],
    chunk: usize,
) -> Result<(), StoreError> {
    let fail = |error| engine_at("write", folder, error);
    let mut contents = Vec::with_capacity(sections.len());
    for (number, section) in sections.iter().enumerate() {
        let mut chunks = Vec::with_capacity(section.bytes.len() / chunk + 1);
        for (piece, bytes) in section.bytes.chunks(chunk).enumerate() {
            engine.put(&key(number, piece), bytes).map_err(fail)?;
            chunks.push(xxh3_128(bytes));
        }
        let (name, version, len) = (section.name.clone(), section.version, section.bytes.len() as u64);
        contents.push(Contents { name, version, len, chunks });
    }
    engine.flush().map_err(fail)?;
    let manifest = Manifest { version: VERSION, snapshot, barrier, sections: contents };
    let body = postcard::to_stdvec(&manifest).map_err(|error| StoreError::Engine {
        operation: "write",
        path: folder.to_owned(),
        why: error.to_string(),
    })?;
    let mut value = xxh3_128(&body).to_le_bytes().to_vec();
    value.extend_from_slice(&body);
    engine.put(MANIFEST, &value).map_err(fail)?;
    engine.flush().map_err(fail)
}

/// Reads sections, and checks every byte.
pub(super) fn get(engine: &dyn Engine, folder: &Path, snapshot: u64) -> Result<Vec<Section>, StoreError> {
    let fail = |error| engine_at("read", folder, error);
    let damaged =
        |part, why: &str| StoreError::Damaged { part, path: folder.to_owned(), why: why.to_owned() };
    let part = || Part::Manifest(snapshot);
    let value = engine.get(MANIFEST).map_err(fail)?.ok_or_else(|| damaged(part(), "has no manifest"))?;
    let body = value.get(16..).filter(|body| value[..16] == xxh3_128(body).to_le_bytes());
    let body = body.ok_or_else(|| damaged(part(), "has a manifest with another hash"))?;
    let manifest: Manifest = postcard::from_bytes(body)
        .map_err(|error| damaged(part(), &format!("has a manifest that cannot be read: {error}")))?;
    if manifest.version != VERSION || manifest.snapshot != snapshot {
        return Err(damaged(part(), &format!("has the manifest of snapshot {}", manifest.snapshot)));
    }
    let mut sections = Vec::with_capacity(manifest.sections.len());
    for (number, contents) in manifest.sections.into_iter().enumerate() {
        let Contents { name, version, len, chunks } = contents;
        let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0).min(1 << 30));
        for (piece, &hash) in chunks.iter().enumerate() {
            let part = || Part::Chunk { snapshot, section: name.clone(), chunk: piece };
            let chunk = engine.get(&key(number, piece)).map_err(fail)?;
            let chunk = chunk.ok_or_else(|| damaged(part(), "does not have it"))?;
            if xxh3_128(&chunk) != hash {
                return Err(damaged(part(), "has another content"));
            }
            bytes.extend_from_slice(&chunk);
        }
        sections.push(Section { name, version, bytes });
    }
    Ok(sections)
}

fn key(section: usize, piece: usize) -> [u8; 9] {
    let mut key = [b'c'; 9];
    key[1..5].copy_from_slice(&(section as u32).to_be_bytes());
    key[5..].copy_from_slice(&(piece as u32).to_be_bytes());
    key
}
