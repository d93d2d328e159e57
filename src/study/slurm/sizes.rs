//! How many tasks a campaign is divided into, and what each of them asks for.

use crate::experiment::RunError;
use crate::study::campaign::{Campaign, Timing};
use crate::units::{Bytes, Span};

/// Time and memory that are asked for, divided by what was measured.
const MARGIN: u64 = 2;
/// For starting gridemu on a busy node and for a signal that SLURM sends up to a minute early.
const OVERHEAD: Span = Span::from_secs(120);
/// A task is asked to stop at least this long before its limit.
const LEAST_GRACE: Span = Span::from_secs(60);
/// The earliest that sbatch can be told to send a signal.
const MOST_GRACE: Span = Span::from_secs(65_535);
/// The time of a task, if nothing else is wished.
const USUAL: Span = Span::from_secs(3_600);
/// The number of tasks that clusters allow an array, unless they say otherwise (`MaxArraySize`).
const MOST_TASKS: u64 = 1_000;
const MINUTE: Span = Span::from_secs(60);
const LEAST_MEMORY: u64 = 256 << 20;
const MEMORY_STEP: u64 = 64 << 20;

/// What the user wants of the tasks.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// The number of tasks; `None` for as many as their time needs.
    pub shards: Option<u64>,
    /// The longest time of a task; `None` for an hour, or what one run needs.
    pub task: Option<Span>,
    /// The cores of a task, each for a run at a time.
    pub threads: u16,
}

/// The size of a job array.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The number of tasks.
    pub shards: u64,
    /// The largest number of runs of a task.
    pub runs: u64,
    /// The cores of a task.
    pub threads: u16,
    /// The time that the runs of a task take, as measured.
    pub work: Span,
    /// The time that a task asks for, in whole minutes.
    pub time: Span,
    /// How long before the end of this time a task is asked to stop.
    pub grace: Span,
    /// The memory that a task asks for; `None` if it could not be measured.
    pub memory: Option<Bytes>,
}

impl Sizes {
    /// The margin by which they are above what was measured.
    pub const MARGIN: u64 = MARGIN;
    /// The time of a task for starting it, and for a signal that comes early.
    pub const OVERHEAD: Span = OVERHEAD;

    /// Sizes for `campaign`.
    ///
    /// # Errors
    /// `RunErrorKind::Request` if there would be more tasks than runs, or if no run ends in the time of a task.
    pub fn of(campaign: &Campaign, timing: &Timing, wish: Wish) -> Result<Self, RunError> {
        Self::fit(|shards| campaign.largest_part(shards), timing, wish)
    }

    /// Sizes for runs of which `largest(n)` are in the largest of n parts.
    fn fit(largest: impl Fn(u64) -> u64, timing: &Timing, wish: Wish) -> Result<Self, RunError> {
        let (all, one) = (largest(1), Self::with(1, 1, timing, wish.threads));
        let shards = match wish.shards {
            Some(shards) if shards > all => {
                return Err(RunError::request(format!("{shards} parts are too many for {all} runs"))
                    .with_hint(format!("`--shards {all}` gives each run a task of its own")));
            }
            Some(shards) => shards,
            None => {
                let task = wish.task.unwrap_or(USUAL.max(one.time));
                if task < one.time {
                    let (wanted, takes, least) = (task.written(), timing.longest.told(), one.time.written());
                    return Err(RunError::request(format!(
                        "a task of {wanted} is too short: a run of {takes}, with the time to start and to stop, needs {least}"
                    ))
                    .with_hint(format!("`--time-per-task '{least}'` or more")));
                }
                let rounds = (task - one.grace - OVERHEAD).micros() / (mean(timing) * MARGIN).micros();
                let shards = all.div_ceil(rounds.max(1).saturating_mul(wish.threads.into()));
                if wish.task.is_none() { shards.min(MOST_TASKS) } else { shards }
            }
        };
        let sizes = Self::with(shards, largest(shards), timing, wish.threads);
        // Where many runs share a scenario, parts are uneven; a task that ends too early is requeued.
        Ok(Self { time: sizes.time.min(wish.task.unwrap_or(Span::MAX)), ..sizes })
    }

    /// The sizes of tasks with so many runs.
    fn with(shards: u64, runs: u64, timing: &Timing, threads: u16) -> Self {
        let work = (mean(timing) * runs.div_ceil(threads.into())).max(timing.longest);
        let grace = up((timing.longest * MARGIN).max(LEAST_GRACE), Span::SECOND).min(MOST_GRACE);
        let memory = timing.peak.map(|peak| {
            let wanted = peak.count().saturating_mul(u64::from(threads) * MARGIN).max(LEAST_MEMORY);
            Bytes::new(wanted.next_multiple_of(MEMORY_STEP))
        });
        Self {
            shards,
            runs,
            threads,
            work,
            time: up(work * MARGIN + grace + OVERHEAD, MINUTE),
            grace,
            memory,
        }
    }
}

/// The mean time of a run, never zero.
fn mean(timing: &Timing) -> Span {
    timing.mean.max(Span::TICK)
}

/// `span` in whole units, rounded up.
fn up(span: Span, unit: Span) -> Span {
    unit * span.micros().div_ceil(unit.micros())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(mean: u64, longest: u64) -> Timing {
        let json = format!(
            r#"{{"layout":1,"of":"","runs":9,"mean":{},"longest":{},"peak":300000000,"failed":null}}"#,
            mean * 1_000_000,
            longest * 1_000_000
        );
        serde_json::from_str(&json).unwrap()
    }

    /// Sizes for so many different runs.
    fn sizes(runs: u64, timing: &Timing, wish: Wish) -> Result<Sizes, String> {
        Sizes::fit(|shards| runs.div_ceil(shards), timing, wish).map_err(|error| error.problem)
    }

    const NOTHING: Wish = Wish { shards: None, task: None, threads: 1 };

    #[test]
    fn the_time_of_a_task_is_twice_its_runs_and_what_stopping_takes() {
        let wish = Wish { shards: Some(9), threads: 2, ..NOTHING };
        let nine = sizes(450, &timing(10, 40), wish).unwrap();
        // 50 runs in 25 rounds of 10 s; the longest, twice, is the grace; and 2 min. In all 700 s, which is 12 min.
        assert_eq!((nine.runs, nine.work, nine.grace), (50, Span::from_secs(250), Span::from_secs(80)));
        assert_eq!(nine.time, Span::from_secs(12 * 60));
        // Two threads with 300 MB, twice: 1,200 MB, in steps of 64 MiB.
        assert_eq!(nine.memory, Some(Bytes::new(18 * (64 << 20))));
    }

    #[test]
    fn there_are_as_many_tasks_as_their_time_needs() {
        // An hour without 60 s of grace and 120 s is 3,420 s: 171 runs of 10 s, twice.
        let hour = sizes(450, &timing(10, 30), NOTHING).unwrap();
        assert_eq!((hour.shards, hour.runs, hour.time), (3, 150, Span::from_secs(53 * 60)));
        let task = Some(Span::from_secs(600));
        // 420 s: 21 runs.
        assert_eq!(sizes(450, &timing(10, 30), Wish { task, ..NOTHING }).unwrap().shards, 22);
        // A run that needs more than an hour has it: 5,000 s twice, as grace again, and 2 min.
        let long = sizes(3, &timing(4_000, 5_000), NOTHING).unwrap();
        assert_eq!((long.shards, long.time), (3, Span::from_secs(336 * 60)));
        // No more tasks than clusters usually allow, unless that was wished.
        assert_eq!(sizes(1_000_000, &timing(10, 30), NOTHING).unwrap().shards, 1_000);
        assert_eq!(sizes(1_000_000, &timing(10, 30), Wish { task, ..NOTHING }).unwrap().shards, 47_620);
        // What takes no time at all is one task.
        assert_eq!(sizes(1_000, &timing(0, 0), NOTHING).unwrap().shards, 1);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let many = sizes(450, &timing(10, 30), Wish { shards: Some(451), ..NOTHING });
        assert_eq!(many.unwrap_err(), "451 parts are too many for 450 runs");
        let short = sizes(450, &timing(10, 30), Wish { task: Some(Span::from_secs(180)), ..NOTHING });
        assert_eq!(
            short.unwrap_err(),
            "a task of 3 min is too short: a run of 30 s, with the time to start and to stop, needs 4 min"
        );
    }

    #[test]
    fn uneven_parts_ask_for_no_more_time_than_was_wished() {
        let wish = Wish { task: Some(Span::from_secs(600)), ..NOTHING };
        let sizes = Sizes::fit(|shards| if shards == 1 { 450 } else { 100 }, &timing(10, 30), wish).unwrap();
        assert_eq!((sizes.runs, sizes.time), (100, Span::from_secs(600)));
    }
}
