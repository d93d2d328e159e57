//! Frequent snapshots of measures that keep a value for each job that has ended.
//!
//! Exact values are kept in vectors that only grow ([`Exact`] lists them in a fixed order), so a value that has been
//! saved need not be saved again. Each full *block* of 1,024 values is handed out once in a run. Its identity is the
//! hash of its content, so that storing the same block twice is harmless. The [`Skeleton`], which is saved every
//! time, names the blocks and holds the values of those that are not full. Sums, counts and sketches are of bounded
//! size and part of it. So a snapshot costs what is new, however many jobs have ended.
//!
//! The recorder of a run saves the skeleton with the fingerprint and the marks of the output files
//! ([`crate::output`]). Its format begins with a layout version, which is raised when the format changes; tests pin
//! the bytes.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use xxhash_rust::xxh3::xxh3_128;

/// Number of values in a block.
const VALUES: usize = 1_024;
/// Number of bytes in a block.
const BYTES: usize = VALUES * size_of::<u64>();

/// Measures that keep exact values.
pub(crate) trait Exact {
    /// Passes each vector of values to `each`, always the same vectors in the same order. Between two calls a vector
    /// either grows at its end or is emptied for good.
    fn exact(&mut self, each: &mut dyn FnMut(&mut Vec<u64>));
}

/// The identity of a block: the xxh3-128 hash of its bytes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct BlockId(u128);

impl BlockId {
    fn of(bytes: &[u8]) -> Self {
        Self(xxh3_128(bytes))
    }

    /// The identity as a key of a store.
    pub(crate) const fn bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }
}

impl fmt::Display for BlockId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// A full block, to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// Its identity.
    pub(crate) id: BlockId,
    /// Its values, little-endian.
    pub(crate) bytes: Vec<u8>,
}

/// The blocks that have been handed out, by vector.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Blocks(Vec<Vec<BlockId>>);

/// Measures without the values that are in blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Skeleton<M> {
    measures: M,
    blocks: Blocks,
}

/// Why measures cannot be restored.
#[derive(Debug, Error)]
pub(crate) enum BlockError<E> {
    /// A block cannot be read.
    #[error(transparent)]
    Read(E),
    /// The content of a block does not match its identity.
    #[error("block {0} of the measures is damaged")]
    Damaged(BlockId),
    /// The skeleton names blocks of vectors that the measures do not have.
    #[error("the measures do not fit the blocks they name")]
    Misfit,
}

impl<M: Exact + Clone> Skeleton<M> {
    /// Saves `measures`, with the blocks that have become full since the last call. The skeleton is complete only
    /// with all the blocks it names, so these must be stored before it is.
    pub(crate) fn of(measures: &mut M, given: &mut Blocks) -> (Self, Vec<Block>) {
        let (mut new, mut aside, mut at) = (Vec::new(), Vec::new(), 0);
        // The full blocks are moved out while the rest is copied, so that a save costs only what is new.
        measures.exact(&mut |values| {
            let full = values.len() / VALUES;
            let given = given.vector(at);
            given.truncate(full);
            for values in values.chunks_exact(VALUES).skip(given.len()) {
                let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
                let id = BlockId::of(&bytes);
                given.push(id);
                new.push(Block { id, bytes });
            }
            let rest = values[full * VALUES..].to_vec();
            aside.push(std::mem::replace(values, rest));
            at += 1;
        });
        let skeleton = Self { measures: measures.clone(), blocks: given.clone() };
        let mut aside = aside.into_iter();
        measures.exact(&mut |values| *values = aside.next().expect("the same vectors as before"));
        (skeleton, new)
    }

    /// The blocks that this skeleton needs.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = BlockId> {
        self.blocks.0.iter().flatten().copied()
    }

    /// Restores the measures as they were saved, with the blocks that `read` finds, and returns which blocks had been
    /// handed out by then.
    pub(crate) fn put_back<E>(
        self,
        mut read: impl FnMut(BlockId) -> Result<Vec<u8>, E>,
    ) -> Result<(M, Blocks), BlockError<E>> {
        let Self { mut measures, blocks } = self;
        let (mut at, mut result) = (0, Ok(()));
        measures.exact(&mut |values| {
            let named = blocks.0.get(at).map_or(&[][..], Vec::as_slice);
            at += 1;
            if result.is_ok() && !named.is_empty() {
                let mut whole = Vec::with_capacity((named.len() + 1) * VALUES);
                result = named.iter().try_for_each(|id| fill(&mut whole, *id, &mut read));
                whole.append(values);
                *values = whole;
            }
        });
        result?;
        if blocks.0.len() > at { Err(BlockError::Misfit) } else { Ok((measures, blocks)) }
    }
}

fn fill<E>(
    values: &mut Vec<u64>,
    id: BlockId,
    read: &mut impl FnMut(BlockId) -> Result<Vec<u8>, E>,
) -> Result<(), BlockError<E>> {
    let bytes = read(id).map_err(BlockError::Read)?;
    if bytes.len() != BYTES || BlockId::of(&bytes) != id {
        return Err(BlockError::Damaged(id));
    }
    values.extend(bytes.as_chunks().0.iter().map(|value| u64::from_le_bytes(*value)));
    Ok(())
}

impl Blocks {
    fn vector(&mut self, at: usize) -> &mut Vec<BlockId> {
        if self.0.len() <= at {
            self.0.resize_with(at + 1, Vec::new);
        }
        &mut self.0[at]
    }
}
