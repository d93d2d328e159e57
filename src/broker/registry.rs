//! The registry of broker policies, with their parameters and abilities.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;

use super::BrokerPolicy;
use crate::model::{self, Entry, Kind, Named, NamedError, Objective, RegistryError};

/// Broker policies, as a kind of named thing in a registry.
#[derive(Debug)]
pub enum Brokers {}

/// A broker policy that has been built, and what it needs of the grid.
pub type BrokerBuilt = (Box<dyn BrokerPolicy>, BrokerAbilities);

impl Kind for Brokers {
    const NAME: &'static str = "broker policy";
    type Build = dyn Fn(&mut Named, u64) -> Result<BrokerBuilt, NamedError> + Send + Sync;
}

/// A broker policy's description and constructor: its entry in the registry.
pub type BrokerPolicyInfo = Entry<Brokers>;

/// The registry of broker policies.
pub type BrokerRegistry = model::Registry<Brokers>;

impl BrokerPolicyInfo {
    /// A policy with this `name`. `build` takes the policy's parameters out of the name
    /// that it is given, and the seed for the policy's random draws; it may own data that it needs.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        build: impl Fn(&mut Named, u64) -> Result<BrokerBuilt, NamedError> + Send + Sync + 'static,
    ) -> Self {
        Self::of(name, Arc::new(build))
    }
}

impl BrokerRegistry {
    /// Builds a policy from its written form; `seed` is for its random draws.
    ///
    /// # Errors
    /// [`RegistryError`] if the name or a parameter is wrong.
    pub fn build(&self, written: &Named, seed: u64) -> Result<BrokerBuilt, RegistryError> {
        self.built(written, |build, named| build(named, seed))
    }
}

/// What a broker policy needs of the grid, and how it plans.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BrokerAbilities {
    /// Pull: pools ask for work when they are idle, and jobs go only to pools that asked.
    pub pulls: bool,
    /// Draws at random.
    pub random: bool,
    /// Plans the waiting jobs together, so that the assignment of one depends on the others that wait. All other policies decide
    /// about each job by itself, in order, from the view as the jobs before have left it (batch and immediate mode: Maheswaran et
    /// al. 1999).
    pub batch: bool,
    /// A job that it leaves waiting it would leave again while nothing happens but arrivals and its own assignments, and what it does
    /// with later jobs does not depend on it. So it is asked about that job only when something else has happened.
    pub steady: bool,
    /// Decides about tasks of workflows that still wait for others: it is shown the [workflows](super::GridView::workflows), and asked also
    /// when nothing but such tasks is undecided. It plans in batches, too.
    pub workflows: bool,
    /// The objectives of the [fronts](super::GridView::compared) that it chooses its plans from; none for a policy that keeps no fronts.
    pub objectives: &'static [Objective],
    /// Its plans may take virtual time of their own, beside what the settings of the broker say of any plan.
    pub takes_time: bool,
}

impl BrokerAbilities {
    /// Decides about each job from the view alone, whenever it is asked.
    pub const PLAIN: Self = Self {
        pulls: false,
        random: false,
        batch: false,
        steady: false,
        workflows: false,
        objectives: &[],
        takes_time: false,
    };

    /// As [`BrokerAbilities::PLAIN`], for a policy that is [steady](BrokerAbilities::steady).
    pub const STEADY: Self = Self { steady: true, ..Self::PLAIN };

    /// The needs beyond the view, in words: `waits to be asked, draws at random`.
    pub fn words(self) -> String {
        let all = [
            (self.pulls, "waits for requests of pools"),
            (self.random, "draws at random"),
            (self.batch && !self.workflows, "plans in batches"),
            (self.workflows, "plans whole workflows"),
        ];
        let words: Vec<&str> = all.into_iter().filter_map(|(able, word)| able.then_some(word)).collect();
        if words.is_empty() { "plans job by job from the grid view".to_owned() } else { words.join(", ") }
    }
}
