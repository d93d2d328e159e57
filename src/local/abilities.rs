//! The abilities of a local policy.

use serde::Serialize;

/// The abilities of a policy. An action that needs an ability which the policy has not declared is refused with an error.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Abilities {
    /// Plans around the reservation book.
    pub keeps_reservations: bool,
    /// Guarantees every job a latest start when it arrives, and keeps it unless a job overruns or machines go down.
    pub guarantees_starts: bool,
    /// Suspends and resumes jobs.
    pub preempts: bool,
    /// Resumes jobs only on the processors that they had.
    pub same_processors: bool,
    /// Changes the size of malleable jobs.
    pub resizes: bool,
    /// Chooses processors by number ([`super::Placement::On`]), and not only their count.
    pub picks_processors: bool,
    /// How many jobs may share a processor (1: none share), at most [`Abilities::MAX_MULTIPROGRAMMING_LEVEL`].
    pub multiprogramming_level: u32,
    /// Says what sharing costs: jobs on shared processors may run at another rate than their share ([`super::Action::SetEfficiency`]).
    pub slows: bool,
    /// Supports dedicated jobs, which request a start. Under a policy without this ability they are kept back until then.
    pub dedicated: bool,
    /// How many elastic commands may be carried out for a job (0: there is no ECC processor, and commands are refused).
    pub elastic: u32,
}

impl Abilities {
    /// The most jobs that may share a processor: sums of their shares stay far from overflow.
    pub const MAX_MULTIPROGRAMMING_LEVEL: u32 = 1_000;

    /// What an error says of a policy that keeps no reservations, after its name.
    pub(crate) const NO_RESERVATIONS: &str = "does not support reservations; `easy`, `conservative` and the LOS family do (see `gridemu policies`)";

    /// The abilities of a policy that only starts jobs.
    pub const PLAIN: Self = Self {
        keeps_reservations: false,
        guarantees_starts: false,
        preempts: false,
        same_processors: false,
        resizes: false,
        picks_processors: false,
        multiprogramming_level: 1,
        slows: false,
        dedicated: false,
        elastic: 0,
    };

    /// The abilities beyond starting jobs, in words: `keeps reservations, guarantees starts`.
    pub fn words(self) -> String {
        let mut words: Vec<String> = [
            (self.keeps_reservations, "keeps reservations"),
            (self.guarantees_starts, "guarantees starts"),
            (self.preempts, "preempts"),
            (self.same_processors, "resumes on the same processors"),
            (self.resizes, "resizes malleable jobs"),
            (self.picks_processors, "chooses processors by number"),
            (self.dedicated, "honours requested starts"),
            (self.elastic > 0, "processes elastic commands"),
        ]
        .into_iter()
        .filter(|(able, _)| *able)
        .map(|(_, word)| word.to_owned())
        .collect();
        if self.multiprogramming_level > 1 {
            let level = self.multiprogramming_level;
            words.push(format!("shares processors (multiprogramming level {level})"));
        }
        if self.slows {
            words.push("slows down jobs that share".to_owned());
        }
        if words.is_empty() { "starts jobs".to_owned() } else { words.join(", ") }
    }

    /// True if the policy only starts jobs on so many processors of their own. [`crate::model::InstantOrder::Event`] is defined
    /// for such policies alone: a start that takes effect later cannot name its processors, and a command could not change it.
    pub const fn space_sharing(&self) -> bool {
        self.elastic == 0
            && self.multiprogramming_level == 1
            && !self.preempts
            && !self.resizes
            && !self.picks_processors
    }
}
