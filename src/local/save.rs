//! A partition in a snapshot.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::error::PartitionError;
use super::partition::{Load, Partition, Tally};
use super::table::{Phase, Table};
use super::{Book, View};
use crate::model::{JobKey, ProcSet};
use crate::platform::{ProcTime, Usage};
use crate::units::Time;

/// The whole state of a partition between two instants, and its policy's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionSave {
    table: Table,
    free: ProcSet,
    load: Vec<Load>,
    book: Book,
    /// Ascending.
    ends: Vec<(Time, u64, JobKey)>,
    next_seq: u64,
    next_end: u64,
    usage: Usage,
    tally: Tally,
    reserved: ProcTime,
    reserved_since: Time,
    wake: Option<Time>,
    policy: Vec<u8>,
}

impl Partition {
    /// The state, between two instants.
    pub fn save(&self) -> PartitionSave {
        let state = &self.state;
        let mut ends: Vec<_> = state.ends.iter().map(|Reverse(end)| *end).collect();
        ends.sort_unstable();
        PartitionSave {
            table: state.table.clone(),
            free: state.free.clone(),
            load: state.load.clone(),
            book: state.book.clone(),
            ends,
            next_seq: state.next_seq,
            next_end: state.next_end,
            usage: state.usage,
            tally: state.tally,
            reserved: state.reserved,
            reserved_since: state.reserved_since,
            wake: self.wake,
            policy: self.policy.save(),
        }
    }

    /// Takes a state back that a partition of the same description gave. With `adopt`, the policy is another than the one that
    /// saved: it takes over what it finds.
    ///
    /// # Errors
    /// [`PartitionError::BadSave`] if the state does not fit this partition or its policy.
    pub fn restore(&mut self, saved: PartitionSave, now: Time, adopt: bool) -> Result<(), PartitionError> {
        let state = &mut self.state;
        let bad = |problem: String, site: &str| PartitionError::BadSave { site: site.to_owned(), problem };
        let usable = state.spec.usable();
        if !ProcSet::full(usable).contains_all(&saved.free) || saved.load.len() != state.load.len() {
            return Err(bad("it was saved with other processors".to_owned(), &state.settings.site_name));
        }
        state.waiting = saved.table.iter().filter(|(_, job)| job.phase == Phase::Waiting).count() as u64;
        state.unused = saved.free.len();
        state.table = saved.table;
        state.free = saved.free;
        state.load = saved.load;
        state.book = saved.book;
        state.ends = saved.ends.into_iter().map(Reverse).collect();
        state.next_seq = saved.next_seq;
        state.next_end = saved.next_end;
        state.usage = saved.usage;
        state.tally = saved.tally;
        state.reserved = saved.reserved;
        state.reserved_since = saved.reserved_since;
        (state.deferred, state.ending) = (0, 0);
        self.late.clear();
        self.wake = saved.wake;
        let view = View { state: &self.state, now };
        if adopt {
            self.policy.adopt(&view);
            // Its first pass, at this very moment: what it would do now it may not be able to do later.
            self.wake = Some(now);
            Ok(())
        } else {
            self.policy
                .restore(&saved.policy, &view)
                .map_err(|problem| bad(problem, &self.state.settings.site_name))
        }
    }
}
