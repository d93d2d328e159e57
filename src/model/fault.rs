//! Faults of what sites and the grid say to each other.

use serde::{Deserialize, Serialize};

use super::text::words;
use super::{Distribution, SiteId};
use crate::units::{Span, Time};

/// When the dispatcher takes a site as lost, and for how long it vouches for assignments there.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heartbeat {
    /// The time without a report after which nothing more is planned for a site.
    pub timeout: Span,
    /// The time without a report after which its assignments are over, there and at the dispatcher.
    pub lease: Span,
}

impl Heartbeat {
    /// The time without a report after which the assignments of a site are lost.
    pub fn limit(self) -> Span {
        self.timeout.max(self.lease)
    }
}

words! {
    /// A kind of messages between sites and the grid.
    #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum MessageKind {
        /// What sites say of themselves: their reports, and their requests for work.
        Reports = "reports",
        /// What sites say of jobs: that they have ended, or return.
        Ends = "ends",
        /// What the dispatcher says to sites: submissions and withdrawals.
        Commands = "commands",
        /// What the broker and sites say of reservations at several sites.
        Reservations = "reservations",
    }
}

/// Some kinds of messages.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageKinds([bool; MessageKind::ALL.len()]);

impl MessageKinds {
    /// Whether a kind is among them.
    pub const fn has(self, kind: MessageKind) -> bool {
        self.0[kind as usize]
    }
}

impl FromIterator<MessageKind> for MessageKinds {
    fn from_iter<I: IntoIterator<Item = MessageKind>>(kinds: I) -> Self {
        let mut all = Self::default();
        kinds.into_iter().for_each(|kind| all.0[kind as usize] = true);
        all
    }
}

/// The kind of a fault.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum FaultKind {
    /// No message passes either way; all arrive, in order, when the fault is over.
    Partition,
    /// Messages of a kind take longer, each by a time of its own, and so overtake each other.
    Late {
        /// Which.
        of: MessageKinds,
        /// By how much.
        delay: Distribution,
    },
    /// Messages of a kind arrive a second time, later by a time of their own.
    Twice {
        /// Which.
        of: MessageKinds,
        /// By how much.
        delay: Distribution,
    },
    /// What the broker and sites say of reservations is lost. (All else that is said arrives in the end, or its loss is known.)
    Lost,
    /// The directory answers what it knew when the fault began.
    StaleDirectory,
    /// The directory answers that it knows nothing.
    EmptyDirectory,
    /// The site fails without a word: machines and jobs are gone, and it is back empty.
    Silent,
    /// The site refuses each job that it is sent.
    Refuse,
    /// The site takes each job that it is sent, and fails it after a while.
    BlackHole {
        /// The time after which it fails.
        after: Span,
    },
}

impl FaultKind {
    /// Its word in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Partition => "partition",
            Self::Late { .. } => "late",
            Self::Twice { .. } => "twice",
            Self::Lost => "lost",
            Self::StaleDirectory => "stale-directory",
            Self::EmptyDirectory => "empty-directory",
            Self::Silent => "silent",
            Self::Refuse => "refuse",
            Self::BlackHole { .. } => "black-hole",
        }
    }

    /// The messages whose delays it draws, with their law.
    pub const fn law(self) -> Option<(MessageKinds, Distribution)> {
        match self {
            Self::Late { of, delay } | Self::Twice { of, delay } => Some((of, delay)),
            _ => None,
        }
    }
}

/// A fault of what sites and the grid say to each other, from an instant to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultSpec {
    /// Its kind.
    pub kind: FaultKind,
    /// The sites that have it; none for all.
    pub sites: Vec<SiteId>,
    /// Its first instant.
    pub from: Time,
    /// The first instant after it.
    pub until: Time,
}

impl FaultSpec {
    /// Whether a site has it.
    pub fn is_of(&self, site: SiteId) -> bool {
        self.sites.is_empty() || self.sites.contains(&site)
    }
}
