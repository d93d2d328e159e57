//! Round robin: each pool in turn.

use crate::broker::{
    Absent, BrokerAbilities, BrokerPolicyInfo, Choose, Gate, GridView, OneByOne, Pick, Reason, Task,
};

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("round-robin", |named, _| {
        let policy = RoundRobin { next: 0, absent: Absent::take(named)? };
        Ok((Box::new(OneByOne(policy)), BrokerAbilities::STEADY))
    })
    .doc("Assigns each job to the next pool in turn with enough processors.")
    .source("folklore")
    .params(&[Absent::PARAM])
}

/// Each pool in turn: the first that fits, from the one after the last that got a job.
#[derive(Debug)]
pub struct RoundRobin {
    /// The place of the pool whose turn it is; the first again if there is no such pool.
    next: u64,
    absent: Absent,
}

impl Choose for RoundRobin {
    fn gate(&self) -> Gate {
        self.absent.gate()
    }

    fn choose(&mut self, view: &GridView<'_>, task: Task<'_>) -> Pick {
        let pools = view.pools().len();
        let next = usize::try_from(self.next).ok().filter(|next| *next < pools).unwrap_or(0);
        // The number of turns until a pool's own; the least is the first in turn.
        let turns = |pool: usize| Some(if pool >= next { pool - next } else { pool + pools - next });
        let first = view.least(task, true, turns);
        let pick = Pick::found(first, Reason::Turn).or_else(|| self.absent.least(view, task, turns));
        if let Pick::Pool(pool, _) = pick {
            self.next = (pool + 1) as u64;
        }
        pick
    }

    fn save(&self) -> Vec<u8> {
        self.next.to_le_bytes().to_vec()
    }

    fn restore(&mut self, saved: &[u8]) -> Result<(), String> {
        let next = <[u8; 8]>::try_from(saved)
            .map_err(|_| format!("the turn of `round-robin` is 8 bytes, not {}", saved.len()))?;
        self.next = u64::from_le_bytes(next);
        Ok(())
    }
}
