//! The physical grid: machines that come and go, links that are shared, storages and the replicas in them, tariffs, and the account of what processors were used for, what
//! they drew and what they cost.
//!
//! Pure arithmetic and small state machines over integer time. Which jobs a departing machine interrupts, and what becomes of them, is the
//! task of [`crate::entity`] and [`crate::local`].

mod bill;
mod churn;
mod curve;
mod drawn;
mod faults;
mod moved;
mod network;
mod progress;
mod rates;
mod replicas;
mod storage;
mod tariff;
mod usage;

pub use bill::{Amounts, Bill};
pub use churn::{
    GroupOutages, GroupOutagesSave, Law, Outages, OutagesError, OutagesSave, Presence, Reason, TracedError,
    TracedOutages, TracedSave, Turn,
};
pub use curve::Curve;
pub use drawn::{Draw, Drawn, Stretch};
pub use faults::{Answers, FaultTurn, SiteFaults, end, report, submission};
pub use moved::{DataBill, Moved};
pub use network::{Arrival, Links, Load};
pub use rates::{carbon_curve, electricity_curve};
pub use replicas::{Coming, Fetch, Known, Place, Replicas};
pub use storage::{Storage, TooLarge};
pub use tariff::{Held, Tariff, facility};
pub use usage::{Ended, ProcTime, Usage};
