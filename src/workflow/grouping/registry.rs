//! The registry of groupings.

use std::borrow::Cow;
use std::sync::Arc;

use super::Group;
use crate::model::{self, Entry, Kind, Named, NamedError, RegistryError};

/// Groupings, as a kind of named thing in a registry.
#[derive(Debug)]
pub enum Groupings {}

impl Kind for Groupings {
    const NAME: &'static str = "grouping";
    type Build = dyn Fn(&mut Named) -> Result<Box<dyn Group>, NamedError> + Send + Sync;
}

/// A grouping's description and constructor: its entry in the registry.
pub type GroupingInfo = Entry<Groupings>;

/// The registry of groupings.
pub type GroupingRegistry = model::Registry<Groupings>;

impl GroupingInfo {
    /// A grouping with this `name`. `build` takes its parameters out of the name that it is given.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        build: impl Fn(&mut Named) -> Result<Box<dyn Group>, NamedError> + Send + Sync + 'static,
    ) -> Self {
        Self::of(name, Arc::new(build))
    }
}

impl GroupingRegistry {
    /// Builds a grouping from its written form.
    ///
    /// # Errors
    /// [`RegistryError`] if the name or a parameter is wrong.
    pub fn build(&self, written: &Named) -> Result<Box<dyn Group>, RegistryError> {
        self.built(written, |build, named| build(named))
    }
}
