//! Power policies: which machines of a site sleep, and when.
//!
//! A local policy is not asked about them: to it the processors of a machine that sleeps are free. A job that is started there gets them at once,
//! and begins to run when the last of its machines is awake ([`Sleepers`]).

pub mod policies;
mod sleepers;

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub(super) use self::sleepers::{Sleepers, Standing};
use crate::model::{self, Entry, Kind, Named, NamedError, RegistryError, SleepSpec};
use crate::units::{Power, Span};

/// When the machines of a partition go to sleep, and how many are kept awake.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SleepRule {
    /// A machine that has been idle for so long may sleep; [`Span::MAX`] if it never may.
    pub after: Span,
    /// So many idle machines are kept awake, and are woken up if there are fewer.
    pub reserve: u32,
}

impl SleepRule {
    /// No machine sleeps, and those that do are woken up.
    pub const NEVER: Self = Self { after: Span::MAX, reserve: u32::MAX };
}

/// A power policy of a site.
pub trait PowerPolicy: Send + Sync {
    /// The rule for machines that draw `idle` when they are idle, given their sleep state.
    fn sleep(&self, state: &SleepSpec, idle: Power) -> SleepRule;

    /// The level at which machines run, by its place in this list: the time that a job takes at each level over that at full speed, which is the
    /// first. `None` if the policy does not choose levels: machines run at full speed.
    fn level(&self, _slowdowns: &[f64]) -> Option<usize> {
        None
    }
}

/// Power policies, as a kind of named thing in a registry.
#[derive(Debug)]
pub enum OfPower {}

impl Kind for OfPower {
    const NAME: &'static str = "power policy";
    type Build = dyn Fn(&mut Named) -> Result<Box<dyn PowerPolicy>, NamedError> + Send + Sync;
}

/// A power policy's description and constructor: its entry in the registry.
pub type PowerPolicyInfo = Entry<OfPower>;

/// The registry of power policies.
pub type PowerRegistry = model::Registry<OfPower>;

impl PowerPolicyInfo {
    /// A policy with this `name`. `build` takes the policy's parameters out of the name that it is given.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        build: impl Fn(&mut Named) -> Result<Box<dyn PowerPolicy>, NamedError> + Send + Sync + 'static,
    ) -> Self {
        Self::of(name, Arc::new(build))
    }
}

impl PowerRegistry {
    /// Builds a policy from its written form.
    ///
    /// # Errors
    /// [`RegistryError`] if the name or a parameter is wrong.
    pub fn build(&self, written: &Named) -> Result<Box<dyn PowerPolicy>, RegistryError> {
        self.built(written, |build, named| build(named))
    }
}
