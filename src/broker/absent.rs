//! What becomes of a job that fits nowhere now, but would with all machines there.

use super::Picture;
use crate::model::{Named, NamedError, ParamInfo};

/// What a policy does with a job for which no pool has enough processors present, while one has them when all its
/// machines are there.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Absent {
    /// It goes on waiting with the broker, which can send it anywhere once it fits.
    #[default]
    Wait,
    /// It goes to a pool that would have the processors, to wait there for machines to come back.
    Queue,
}

impl Absent {
    /// The parameter's description.
    pub const PARAM: ParamInfo = ParamInfo {
        key: "absent",
        values: "wait or queue",
        default: "wait",
        doc: "a job for which no pool has enough processors present, but one would with all its machines, waits with the broker, or is sent to queue at such a pool",
    };

    /// Takes the parameter out of a policy's name.
    ///
    /// # Errors
    /// [`NamedError::BadValue`] if it is neither word.
    pub fn take(named: &mut Named) -> Result<Self, NamedError> {
        let words = [("wait", Self::Wait), ("queue", Self::Queue)];
        Ok(named.take_choice(Self::PARAM.key, &words)?.unwrap_or_default())
    }

    /// The pool where such a job should queue: that of the least key among those that would have the processors. `None` if
    /// it should wait. For jobs that fit nowhere now; see [`Picture::least`].
    pub fn least<K: Ord>(
        self,
        picture: &Picture<'_>,
        job: usize,
        key: impl FnMut(usize) -> Option<K>,
    ) -> Option<usize> {
        match self {
            Self::Wait => None,
            Self::Queue => picture.least(job, false, key),
        }
    }
}
