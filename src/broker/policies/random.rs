//! A random pool.

use itoa::Buffer;
use rand::Rng;
use smallvec::SmallVec;

use crate::broker::{
    Absent, BrokerAbilities, BrokerBuilt, BrokerPolicyInfo, Choose, Gate, GridView, OneByOne, Pick, Reason,
    Task,
};
use crate::model::{Named, NamedError};
use crate::workload::random::Stream;

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("random", build)
        .doc("Assigns each job to a random pool with enough processors, all equally likely.")
        .source("folklore; the baseline of every comparison")
        .params(&[Absent::PARAM])
}

fn build(named: &mut Named, seed: u64) -> Result<BrokerBuilt, NamedError> {
    let absent = Absent::take(named)?;
    Ok((
        Box::new(OneByOne(Random { seed: Stream::new(seed, "broker", "random").next_u64(), absent })),
        BrokerAbilities { random: true, ..BrokerAbilities::STEADY },
    ))
}

/// A random pool among those that have the processors.
///
/// A job draws a number for every pool, whether it fits there or not, and goes to the pool with the least number among those
/// where it fits. So a pool that closes or opens changes only the jobs that go there.
#[derive(Debug)]
pub struct Random {
    seed: u64,
    absent: Absent,
}

impl Random {
    /// The draws of a job for its next assignment: they depend on seed, job and number of the assignment alone.
    fn draws(&self, task: Task<'_>, pools: usize) -> SmallVec<[u64; 32]> {
        let (mut id, mut assignment) = (Buffer::new(), Buffer::new());
        let (id, assignment) = (id.format(task.job().0), assignment.format(task.assignment()));
        let mut stream = Stream::new(self.seed, id, assignment);
        (0..pools).map(|_| stream.next_u64()).collect()
    }
}

impl Choose for Random {
    fn gate(&self) -> Gate {
        self.absent.gate()
    }

    fn choose(&mut self, view: &GridView<'_>, task: Task<'_>) -> Pick {
        // Drawn only once there is a choice.
        let mut draws = None;
        let mut draw = |pool: usize| {
            let draws: &SmallVec<_> = draws.get_or_insert_with(|| self.draws(task, view.pools().len()));
            draws.get(pool).copied()
        };
        let drawn = view.least(task, true, &mut draw);
        Pick::found(drawn, Reason::Drawn).or_else(|| self.absent.least(view, task, &mut draw))
    }
}
