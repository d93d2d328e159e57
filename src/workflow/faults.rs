//! Where attempts of tasks fail by themselves.

use crate::model::{Faults, TaskFailures};
use crate::workload::random::Stream;

/// The bits of a [`part`](part_of).
const BITS: u32 = 32;

/// Draws whether an attempt of a task fails and, if it does, after which part of its work: uniform, in 2⁻³². The draw depends on the seed of the
/// workflow, the task and the number of the attempt alone, so it is the same under every policy.
fn part_of(seed: u64, task: u32, odds: u32, attempt: u32) -> Option<u64> {
    if odds == 0 {
        return None;
    }
    let mut stream = Stream::new(seed, &format!("task {task}"), &format!("failure of attempt {attempt}"));
    let fails = stream.below(u64::from(TaskFailures::ALWAYS)) < u64::from(odds);
    fails.then(|| stream.below(1 << BITS))
}

/// For each task of a job whether it fails in this attempt and, if it does, after how much of `work`, which is in any unit.
pub(crate) fn points(
    faults: &Faults,
    attempt: u32,
) -> impl Iterator<Item = Option<impl Fn(u128) -> u128 + use<>>> + '_ {
    faults.tasks.iter().map(move |(task, odds)| {
        let part = part_of(faults.seed, *task, *odds, attempt)?;
        Some(move |work: u128| {
            (work >> BITS) * u128::from(part) + (((work & ((1 << BITS) - 1)) * u128::from(part)) >> BITS)
        })
    })
}
