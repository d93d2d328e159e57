//! What broker policies there are, with their parameters and abilities.

#[cfg(test)]
mod tests;

use serde::Serialize;
use thiserror::Error;

use super::{BrokerPolicy, policies};
use crate::local::ParamInfo;
use crate::model::{Named, NamedError, nearest};

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

/// A name that is no broker policy, or wrong parameters.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BrokerRegistryError {
    /// No policy of that name.
    #[error("there is no broker policy `{name}`{}; there are {}", hint.as_ref().map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default(), known.join(", "))]
    Unknown {
        /// As written.
        name: String,
        /// The nearest name.
        hint: Option<String>,
        /// All names.
        known: Vec<String>,
    },
    /// A parameter is wrong.
    #[error(transparent)]
    Param(#[from] NamedError),
}

/// The broker policies that can be named.
#[derive(Clone, Debug)]
pub struct BrokerRegistry {
    policies: Vec<&'static BrokerPolicyInfo>,
}

impl Default for BrokerRegistry {
    fn default() -> Self {
        Self::standard()
    }
}

impl BrokerRegistry {
    /// All policies that come with the library.
    pub fn standard() -> Self {
        Self { policies: policies::ALL.to_vec() }
    }

    /// The same with one more, which hides an older one of the same name.
    #[must_use]
    pub fn with(mut self, info: &'static BrokerPolicyInfo) -> Self {
        self.policies.retain(|other| other.name != info.name);
        self.policies.push(info);
        self
    }

    /// All descriptions.
    pub fn all(&self) -> &[&'static BrokerPolicyInfo] {
        &self.policies
    }

    /// The description of the policy of that name.
    ///
    /// # Errors
    /// [`BrokerRegistryError::Unknown`] with the nearest name.
    pub fn find(&self, name: &str) -> Result<&'static BrokerPolicyInfo, BrokerRegistryError> {
        self.policies.iter().copied().find(|info| info.name == name).ok_or_else(|| {
            let known: Vec<_> = self.policies.iter().map(|info| info.name).collect();
            BrokerRegistryError::Unknown {
                name: name.to_owned(),
                hint: nearest(name, known.iter().copied()).map(str::to_owned),
                known: known.into_iter().map(str::to_owned).collect(),
            }
        })
    }

    /// Builds a policy from the way it is written.
    ///
    /// # Errors
    /// [`BrokerRegistryError`] if the name or a parameter is wrong.
    pub fn build(&self, written: &Named, seed: u64) -> Result<Box<dyn BrokerPolicy>, BrokerRegistryError> {
        Ok((self.find(&written.name)?.build)(written.clone(), seed)?)
    }
}
