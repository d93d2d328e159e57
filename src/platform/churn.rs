//! Churn, or machine availability: outages by chance ([`Outages`]), also of several machines at once ([`GroupOutages`]), those of a trace ([`TracedOutages`]), and all reasons together
//! ([`Presence`]).
//!
//! # The reasons are independent
//!
//! A machine can be down for each of several [`Reason`]s: by chance alone or in a group, by a trace, by the script (or a command), or because its whole site has
//! left. It is present exactly if it is down for none of them. So a machine that left by script stays down until the script
//! brings it back, whatever happens by chance; its process of chance continues meanwhile, and if the script brings it back during
//! an outage, it stays down until that outage is over. Changing the script therefore changes no outage.
//!
//! Outages are known ahead, so a machine can *drain* for some time before it leaves. A notice changes no outage either.

mod groups;
mod law;
mod notices;
mod outages;
mod presence;
mod traced;

pub use groups::{GroupOutages, GroupOutagesSave};
pub use law::Law;
pub use outages::{Outages, OutagesError, OutagesSave, Turn};
pub use presence::{Presence, Reason};
pub use traced::{TracedError, TracedOutages, TracedSave};

use crate::units::{Span, Time};

/// When a machine begins to drain that leaves at `leaves` after so much notice, and has been back since `back`.
fn announced(leaves: Time, notice: Span, back: Time) -> Time {
    Time::from_micros(leaves.micros().saturating_sub(notice.micros())).max(back)
}
