//! The registry of local policies, with their parameters and abilities.

use std::borrow::Cow;
use std::sync::Arc;

use super::{Abilities, LocalPolicy};
use crate::model::{self, Entry, Kind, Named, NamedError, RegistryError};

/// Local policies, as a kind of named thing in a registry.
#[derive(Debug)]
pub enum Local {}

/// A local policy that has been built, and its abilities.
pub type Built = (Box<dyn LocalPolicy>, Abilities);

impl Kind for Local {
    const NAME: &'static str = "local policy";
    type Build = dyn Fn(&mut Named) -> Result<Built, NamedError> + Send + Sync;
}

/// A local policy's description and constructor: its entry in the registry.
pub type PolicyInfo = Entry<Local>;

/// The registry of local policies.
pub type Registry = model::Registry<Local>;

impl PolicyInfo {
    /// A policy with this `name`. `build` takes the policy's parameters out of the name
    /// that it is given; it may own data that it needs.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        build: impl Fn(&mut Named) -> Result<Built, NamedError> + Send + Sync + 'static,
    ) -> Self {
        Self::of(name, Arc::new(build))
    }
}

impl Registry {
    /// Builds a policy from its written form.
    ///
    /// # Errors
    /// [`RegistryError`] if the name or a parameter is wrong.
    pub fn build(&self, written: &Named) -> Result<Built, RegistryError> {
        self.built(written, |build, named| build(named))
    }
}
