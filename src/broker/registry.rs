//! What broker policies there are, with their parameters and abilities.

#[cfg(test)]
mod tests;

use serde::Serialize;

use super::{BrokerPolicy, policies};
use crate::model::{self, Info, Named, NamedError, ParamInfo, RegistryError};

/// A policy's description: the one line that a policy adds to the registry.
#[derive(Debug)]
pub struct BrokerPolicyInfo {
    /// How it is written in a scenario.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub doc: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Its parameters.
    pub params: &'static [ParamInfo],
    /// What it needs.
    pub abilities: BrokerAbilities,
    /// Builds it, taking its parameters out of the name; the number is the seed of what it draws.
    pub build: fn(Named, u64) -> Result<Box<dyn BrokerPolicy>, NamedError>,
}

/// What a broker policy needs of the grid.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BrokerAbilities {
    /// Pools ask for work when they are idle, and jobs go only where they were asked for.
    pub pulls: bool,
    /// Draws at random.
    pub random: bool,
    /// Plans the waiting jobs together: what becomes of one depends on the others that wait. All else decide about each job
    /// by itself, in order, from the picture as those before have left it (batch and immediate mode: Maheswaran et al.
    /// 1999).
    pub batch: bool,
}

impl BrokerAbilities {
    /// Decides about each job from the picture alone, whenever it is asked.
    pub const PLAIN: Self = Self { pulls: false, random: false, batch: false };

    /// What a policy needs beyond the picture, in words: `waits to be asked, draws at random`.
    pub fn words(self) -> String {
        let Self { pulls, random, batch } = self;
        let all = [
            (pulls, "waits to be asked"),
            (random, "draws at random"),
            (batch, "plans waiting jobs together"),
        ];
        let words: Vec<&str> = all.into_iter().filter_map(|(able, word)| able.then_some(word)).collect();
        if words.is_empty() { "plans from the picture".to_owned() } else { words.join(", ") }
    }
}

/// The broker policies that can be named.
pub type BrokerRegistry = model::Registry<BrokerPolicyInfo>;

impl Info for BrokerPolicyInfo {
    const KIND: &'static str = "broker policy";
    const ALL: &'static [&'static Self] = policies::ALL;

    fn name(&self) -> &'static str {
        self.name
    }
}

impl BrokerRegistry {
    /// Builds a policy from the way it is written; what it draws is drawn by `seed`.
    ///
    /// # Errors
    /// [`RegistryError`] if the name or a parameter is wrong.
    pub fn build(&self, written: &Named, seed: u64) -> Result<Box<dyn BrokerPolicy>, RegistryError> {
        Ok((self.find(&written.name)?.build)(written.clone(), seed)?)
    }
}
