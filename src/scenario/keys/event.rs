//! What happens at given times.

use crate::scenario::kind::key::keys;
use crate::units::Span;

keys! {
    /// Something that happens at a given time: one of `leave`, `join` and `slow`, or to a job: one of `cancel`, `extend` and `reduce`.
    EventKeys, "a table of an event" {
        /// Time of the event.
        at: Span;
        /// What leaves: a site (`"delft"`), a class of its machines (`"delft/i7"`), or some of them by number (`"delft/i7/0-15"`,
        /// `"delft/i7/0-3,8"`, or `"delft/0-15"` where all machines are of one class).
        leave: Option<String>;
        /// What comes back, or joins for the first time (`absent`); written as in `leave`.
        join: Option<String>;
        /// Machines that continue at a fraction of their speed; written as in `leave`.
        slow: Option<String>;
        /// The fraction, from 0.001 to 1, for `slow`; 1 is full speed.
        factor: Option<f64>;
        /// The site at which a job ends as `cancelled`, whether it waits or runs; with `job`.
        cancel: Option<String>;
        /// The site at which a job gets more time or processors by an [elastic command](policies.md#elastic-commands); with `job`,
        /// and `time` or `procs`.
        extend: Option<String>;
        /// The site at which a job gets less; written like `extend`.
        reduce: Option<String>;
        /// The number of the job, as in `jobs.csv`. If a grid job and a local job have that number, the one submitted first is meant.
        job: Option<u64>;
        /// Change of its time, at speed 1.
        time: Option<Span>;
        /// Change of its processors, if it is [malleable](workloads.md#malleable-jobs).
        procs: Option<u32>;
    }
}
