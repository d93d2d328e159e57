//! Faults of what sites and the grid say to each other.

use crate::model::{Distribution, MessageKind};
use crate::scenario::kind::key::keys;
use crate::scenario::kind::plain::Texts;
use crate::scenario::kind::words::FaultWord;
use crate::units::Span;

keys! {
    /// A fault of what sites and the grid say to each other, for a while.
    FaultKeys, "a table of a fault" {
        /// [What happens](churn.md#faults): `"partition"`, `"late"`, `"twice"`, `"lost"`, `"stale-directory"`, `"empty-directory"`, `"silent"`, `"refuse"` or `"black-hole"`.
        kind: FaultWord;
        /// The site that has it, or a list of sites.
        site: Option<Texts> => "all";
        /// Its first instant.
        from: Span;
        /// How long it lasts.
        lasting as "for": Span;
        /// Which messages are `late`, or come `twice`: some of `"reports"`, `"ends"`, `"commands"` and `"reservations"`.
        of: Option<Vec<MessageKind>> => "all";
        /// How much later each of them arrives, or arrives again, such as `"exponential[mean=5 min]"`.
        delay: Option<Distribution>;
        /// The time after which a `black-hole` fails a job.
        after: Option<Span> => "5 s";
    }
}
