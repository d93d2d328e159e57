//! Local scheduling: what a site's scheduler sees, what it may do, and the schedulers themselves.
//!
//! A [`LocalPolicy`] decides for one partition. The [`Partition`] notifies it of every [`Change`]; in a scheduling pass the
//! policy reads the [`View`] and answers with [`Action`]s. It never touches the state: the partition checks each action, and
//! carries it out or reports what is wrong with it. The events of a site and their order are defined in [`crate::entity`].
//!
//! # Example
//!
//! A partition of 4 processors; job 1 runs on 3 of them, and job 2, which needs 2, arrives. First come, first served:
//!
//! ```text
//! partition -> policy   on(Change::Arrived(job 2), view)
//! partition -> policy   schedule(view, actions)
//! policy                view.free() is 1, job 2 needs 2: no action
//! ...
//! partition -> policy   on(Change::Ended(job 1), view)
//! partition -> policy   schedule(view, actions)
//! policy                view.free() is 4: actions.start(job 2, 2)
//! partition             checks the action, and starts job 2 on processors 0 and 1
//! ```
//!
//! A policy is one file in [`policies`] and one line in their list; [`policies::Fcfs`] is the shortest.

mod abilities;
mod agenda;
mod arrivals;
mod attempt;
mod beside;
mod blocker;
mod book;
mod checkpoint;
mod decision;
mod effort;
mod error;
mod explain;
mod explanation;
mod factor_queue;
mod faults;
mod gaps;
mod groups;
mod ineligible;
mod kinetic;
mod loads;
mod marks;
mod note;
mod numbers;
mod partition;
mod picking;
mod policy;
mod power;
mod prices;
mod profile;
mod profile_ahead;
mod queue;
mod registry;
mod releases;
mod settings;
mod start_estimates;
mod state;
mod step;
mod table;
mod transition;
mod view;
mod watts;
mod xfactor;

pub mod policies;

pub use abilities::Abilities;
pub use arrivals::Arrivals;
pub use blocker::Blocker;
pub use book::{Book, BookError, Booking, BookingState};
pub use decision::{
    Compress, Decision, FreezeFacts, GroupFacts, Packing, PlannedJob, Rule, SearchFacts, Searched, SliceFacts,
};
pub use effort::SearchEffort;
pub use error::{PartitionError, PolicyError, Violation};
pub use explanation::{Delay, Explanation, Reason, Skipped, Why};
pub use factor_queue::FactorQueue;
pub use gaps::IndexedProfile;
pub use kinetic::{Contestant, Line, Quotient, Tournament};
pub use note::Note;
pub use partition::{Partition, PartitionSave};
pub use policy::{Action, Actions, Change, LocalPolicy, Placement, Preempted};
pub use power::{PowerPolicy, PowerPolicyInfo, PowerRegistry, SleepRule, policies as power_policies};
pub use profile::{Profile, Slot, SlotRequest};
pub use profile_ahead::ProfileAhead;
pub use queue::{Awake, BackfillWindow, Entry, Fitting, Place, Queue};
pub use registry::{Built, Local, PolicyInfo, Registry};
pub use releases::{Releases, Shadow};
pub use settings::{Settings, Tally};
pub use start_estimates::StartEstimates;
pub use step::Step;
pub use table::{Allocation, Exit, ExitKind, LiveJob, Phase};
pub use view::View;
pub use xfactor::XFactor;
use xfactor::times;
