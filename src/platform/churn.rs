//! Machines that come and go: by chance ([`Outages`]), and all reasons together ([`Presence`]).
//!
//! # Chance and script do not fight
//!
//! A machine is away for any of three [`Reason`]s: by chance, by the script (or a command), or because its whole site has
//! left. It is present exactly if it is away for none of them. So a machine that left by script stays away until the script
//! brings it back, whatever chance says; its chance clock goes on underneath, and when the script brings it back while it
//! is down by chance, it stays away until that outage is over. Changing the script therefore changes no outage.

mod law;
mod outages;
mod presence;

pub use law::Law;
pub use outages::{Outages, OutagesError, OutagesSave, Turn};
pub use presence::{Presence, Reason};
