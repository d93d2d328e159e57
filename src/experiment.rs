//! One run: from a scenario, or a workload and policies, to files and summaries.
//!
//! This is the first module that opens files and reads the wall clock. A request is checked before anything runs, so that
//! a bad request ([`RunErrorKind::Request`]) can be distinguished from a run that failed ([`RunErrorKind::Run`]).
//!
//! A run that has begun, an `ActiveRun`, goes in *run segments*. A segment ends at a *barrier*: an instant such that
//! everything before it has happened everywhere and nothing at or after it has. Between two segments `checkpoint` saves
//! the run. A store keeps a description of its run (the scenario with every default, and the folder in which the command
//! was typed). `resume` builds the run anew from that description, loads the newest usable snapshot, replays the journal
//! of commands written since, and continues. `fork` does the same twice, from an instant to which the run
//! is run on from the snapshot before, and the second time under a changed scenario:
//! `grid::changes` decides what may change in the middle of a run, and a witness beside the recorder compares the records
//! of both futures as they are written.

mod active_run;
mod afterwards;
mod checkpoint;
pub(crate) mod clock;
mod commands;
mod ended;
mod error;
mod explain;
mod export;
mod fork;
mod ledgers;
mod misfits;
mod notes;
mod program;
mod program_check;
mod progress;
mod recorder;
mod replay;
mod rerun;
mod resume;
mod run;
mod scratch;
mod single;
mod snapshots;
mod summary;
mod timed;
mod validate;
mod workflows;
pub(crate) mod workload;

pub use afterwards::Afterwards;
pub use checkpoint::{Anew, Control};
pub use commands::Commands;
pub use ended::Ended;
pub use error::{RunError, RunErrorKind};
pub use explain::{
    AssignedTo, At, AtState, Attempt, ComparedFront, ComparedPool, ComparedSchedule, ExplainOptions,
    Explained, ExplainedJob, ExplainedTask, Stretch, Suspended, WaitPlace, WaitedFor, explain, job_of_task,
};
pub use export::export_workflow;
pub use fork::{Branch, Difference, ForkOptions, Futures, fork};
pub use notes::without_effect;
pub use program::find_program;
pub(crate) use program::in_path;
pub use program_check::{ProgramCheck, check_program};
pub use progress::{Notice, Progress, RunsDone};
pub use replay::ReplayScenario;
pub use rerun::rerun;
pub use resume::{ResumePoint, Stored};
pub use run::{Inputs, Run};
pub(crate) use scratch::scratch;
pub use snapshots::{
    PlaceFacts, SnapshotFacts, SnapshotRow, StoreFacts, describe_snapshot, describe_store, prune,
};
pub use validate::{GridFrom, validate};
pub use workflows::{
    OpenedWorkflows, check_tasks, is_workflow, network_of_workflows, open_workflows, submitted_workflows,
};
pub use workload::Opened;
