//! What a run writes, and its snapshots.

use crate::scenario::checkpoint::CheckpointPlan;
use crate::scenario::kind::key::keys;
use crate::scenario::kind::words::{Nothing, Or};
use crate::store::EngineKind;
use crate::units::Span;

keys! {
    /// What a run writes.
    OutputKeys, "a table of what is written" {
        /// Folder for the files, relative to the working directory; `--out` overrides it.
        folder: Option<String> => "no files";
        /// Write segments.csv.
        segments: bool = true;
        /// Write machines.csv, the changes of machine state.
        machines: bool = false;
        /// Write batsim/out_jobs.csv, in Batsim's columns.
        batsim: bool = false;
    }
}

keys! {
    /// Snapshots of a run. They change no result.
    CheckpointKeys, "a table of when snapshots are taken" {
        /// Folder of the snapshots, relative to the working directory; `--checkpoint` overrides it.
        store: Option<String> => "no snapshots";
        /// Interval in wall-clock time; `--checkpoint-every` overrides it.
        every: Or<Nothing, Span> = match (every_virtual, every_events) {
            (None | Some(Or::Word(_)), None | Some(0)) => Or::Value(Span::from_secs(CheckpointPlan::EVERY.as_secs())),
            _ => Or::Word(Nothing),
        } => "30 s; none with one of the next two";
        /// Interval in virtual time.
        every_virtual: Or<Nothing, Span> = Or::Word(Nothing);
        /// Interval in records of the run (jobs, segments and others); 0 for none.
        every_events: u64 = 0;
        /// Number of newest snapshots that are kept.
        last: u32 = 2;
        /// Also keep every n-th snapshot; 0 for none.
        keep_every: u32 = 0;
        /// Take snapshots at these virtual times, above 0, and keep them; also `--checkpoint-keep-at`.
        keep_at: Vec<Span> = Vec::new() => "none";
        /// The database that stores them: `"sled"` or `"redb"`.
        database: String = EngineKind::default().to_string();
    }
}
