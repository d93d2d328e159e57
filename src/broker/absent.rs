//! What happens to a job that fits no pool now, but would if all machines were up.

use super::{Gate, GridView, Pick, Reason, Task};
use crate::model::{Named, NamedError, ParamInfo};

/// What a policy does with a job for which no pool has enough processors present, while one would have them if all its
/// machines were up.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Absent {
    /// It waits with the broker, which can send it to any pool once it fits.
    #[default]
    Wait,
    /// It goes to a pool that would have the processors, and waits there until machines come back.
    Queue,
}

impl Absent {
    /// The description of the parameter.
    pub const PARAM: ParamInfo = ParamInfo {
        key: "absent",
        values: "wait or queue",
        default: "wait",
        doc: "a job that fits in no pool now, but would if all machines were up: it waits at the broker, or is sent to the queue of such a pool",
    };

    /// Takes the parameter out of a policy's name.
    ///
    /// # Errors
    /// [`NamedError::BadValue`] if its value is not one of the two words.
    pub fn take(named: &mut Named) -> Result<Self, NamedError> {
        let words = [("wait", Self::Wait), ("queue", Self::Queue)];
        Ok(named.take_choice(Self::PARAM.key, &words)?.unwrap_or_default())
    }

    /// What a pool must have for a policy that does so.
    pub fn gate(self) -> Gate {
        match self {
            Self::Wait => Gate::Fits,
            Self::Queue => Gate::AllUp,
        }
    }

    /// Picks the pool where such a job should queue: the one with the least key among those that would have the processors, unless it
    /// should wait. For jobs that fit no pool now; see [`GridView::least`].
    pub fn least<K: Ord>(
        self,
        view: &GridView<'_>,
        task: Task<'_>,
        key: impl FnMut(usize) -> Option<K>,
    ) -> Pick {
        match self {
            Self::Wait => Pick::Leave,
            Self::Queue => Pick::found(view.least(task, false, key), Reason::Absent),
        }
    }
}
