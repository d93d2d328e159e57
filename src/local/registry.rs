//! What local policies there are, with their parameters and abilities.

#[cfg(test)]
mod tests;

use serde::Serialize;

use super::LocalPolicy;
use super::policies;
use crate::model::{self, Info, Named, NamedError, ParamInfo, RegistryError};

/// A policy's description: the one line that a policy adds to the registry.
#[derive(Debug)]
pub struct PolicyInfo {
    /// How it is written in a scenario.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub doc: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Its parameters.
    pub params: &'static [ParamInfo],
    /// What it can do, for the parameters it is built with.
    pub abilities: fn(&Named) -> Abilities,
    /// Builds it, taking its parameters out of the name.
    pub build: fn(Named) -> Result<Box<dyn LocalPolicy>, NamedError>,
}

/// What a policy can do. A policy that does what it has not declared is refused in the act.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Abilities {
    /// Plans around the reservation book.
    pub keeps_reservations: bool,
    /// Promises every job a latest start when it arrives and keeps it while no job overruns and the machines stand.
    pub guarantees_starts: bool,
    /// Suspends and resumes jobs.
    pub preempts: bool,
    /// Resumes jobs only on the processors they had.
    pub same_processors: bool,
    /// Changes the size of malleable jobs.
    pub resizes: bool,
    /// Chooses processors by number ([`super::Place::On`]) and not only how many.
    pub picks_processors: bool,
    /// How many jobs may share a processor (1: none share), at most [`Abilities::MOST_SLOTS`].
    pub slots: u32,
    /// Knows dedicated jobs, which ask for a start, and honours it. Of another policy they are kept back until then.
    pub dedicated: bool,
    /// How many elastic commands a job may have carried out (0: there is no ECC processor, and they are refused).
    pub elastic: u32,
}

impl Abilities {
    /// The most jobs that may share a processor: sums of their shares stay far from overflow.
    pub const MOST_SLOTS: u32 = 1_000;

    /// Starts jobs, and nothing more.
    pub const PLAIN: Self = Self {
        keeps_reservations: false,
        guarantees_starts: false,
        preempts: false,
        same_processors: false,
        resizes: false,
        picks_processors: false,
        slots: 1,
        dedicated: false,
        elastic: 0,
    };

    /// What a policy does beyond starting jobs, in words: `keeps reservations, guarantees starts`.
    pub fn words(self) -> String {
        let Self {
            keeps_reservations,
            guarantees_starts,
            preempts,
            same_processors,
            resizes,
            picks_processors,
            slots,
            dedicated,
            elastic,
        } = self;
        let mut words: Vec<String> = [
            (keeps_reservations, "keeps reservations"),
            (guarantees_starts, "guarantees starts"),
            (preempts, "preempts"),
            (same_processors, "resumes on the same processors"),
            (resizes, "resizes malleable jobs"),
            (picks_processors, "chooses processors by number"),
            (dedicated, "honours requested starts"),
            (elastic > 0, "processes elastic commands"),
        ]
        .into_iter()
        .filter(|(able, _)| *able)
        .map(|(_, word)| word.to_owned())
        .collect();
        if slots > 1 {
            words.push(format!("shares processors ({slots} jobs on each)"));
        }
        if words.is_empty() { "starts jobs".to_owned() } else { words.join(", ") }
    }

    /// True if the policy only starts jobs on so many processors of their own, which is all that
    /// [`crate::model::InstantOrder::Event`] is defined for: a start that takes effect later cannot say where, and a command could not
    /// change it.
    pub const fn space_sharing(&self) -> bool {
        self.elastic == 0 && self.slots == 1 && !self.preempts && !self.resizes && !self.picks_processors
    }
}

/// The local policies that can be named.
pub type Registry = model::Registry<PolicyInfo>;

impl Info for PolicyInfo {
    const KIND: &'static str = "local policy";
    const ALL: &'static [&'static Self] = policies::ALL;

    fn name(&self) -> &'static str {
        self.name
    }
}

impl Registry {
    /// Builds a policy from the way it is written.
    ///
    /// # Errors
    /// [`RegistryError`] if the name or a parameter is wrong.
    pub fn build(&self, written: &Named) -> Result<(Box<dyn LocalPolicy>, Abilities), RegistryError> {
        let info = self.find(&written.name)?;
        let policy = (info.build)(written.clone())?;
        Ok((policy, (info.abilities)(written)))
    }
}
