//! Local scheduling: what a site's scheduler sees, what it may do, and the schedulers themselves.
//!
//! A [`LocalPolicy`] is told of every [`Change`], answers a pass with [`Action`]s, and never touches the state: the
//! [`Partition`] checks each action and carries it out, or says what is wrong with it. Which events there are, and in
//! which order they come, is the business of [`crate::entity`].

mod adopt;
mod agenda;
mod apply;
mod attempt;
mod book;
mod checkpoint;
mod churn;
mod elastic;
mod error;
mod explanation;
mod facts;
mod outlook;
mod partition;
mod policy;
mod profile;
mod queue;
mod registry;
mod releases;
mod save;
mod state;
mod table;
mod view;

pub mod policies;

pub use book::{Book, BookError, Booking, BookingState};
pub use error::{PartitionError, PolicyError, Violation};
pub(crate) use explanation::processors;
pub use explanation::{Blocker, Explanation, Reason, Who};
pub use outlook::Outlook;
pub use partition::{Admission, Partition, Settings, Tally};
pub use policy::{Action, Actions, Change, LocalPolicy, Place, Slot, SlotRequest};
pub use profile::Profile;
pub use queue::{Cursor, Entry, Hole, Queue};
pub use registry::{Abilities, PolicyInfo, Registry};
pub use releases::{Releases, Shadow};
pub use save::PartitionSave;
pub use table::{Departed, Gone, LiveJob, Phase};
pub use view::View;
