//! Drills: scenarios in which a broker meets what real brokers have died of, and what must hold in their runs.

use super::catalogue::CatalogueFile;
use super::expectation::Expectation;
use super::problem::Problem;

/// A drill.
#[derive(Clone, Debug, PartialEq)]
pub struct Drill {
    /// What happened to whom in reality.
    pub about: String,
    /// What must hold.
    pub expects: Vec<Expected>,
}

/// An expectation of a drill.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// The expectation.
    pub expectation: Expectation,
    /// Its place, as a problem without a message.
    pub(super) place: Problem,
}

impl Expected {
    /// A problem with it, in its place.
    pub fn problem(&self, message: impl Into<String>) -> Problem {
        let mut problem = self.place.clone();
        problem.message = message.into();
        problem
    }
}

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        &[$(CatalogueFile {
            path: concat!($name, ".toml"),
            text: include_str!(concat!("../../configs/drills/", $name, ".toml")),
        }),+]
    };
}

/// The drills that are part of the program, so that an installed binary has them.
pub const DRILLS: &[CatalogueFile] = files![
    "lost-site",
    "flapping-machine",
    "mass-departure",
    "slow-site",
    "stale-directory",
    "month-in-a-minute",
    "silence-while-staging",
    "held-jobs",
    "poison-job",
    "black-hole",
    "partition",
    "silent-site",
    "invisible-jobs",
    "late-end",
    "late-command",
    "empty-directory",
    "reports-out-of-order",
    "refuses-all",
];

impl Drill {
    /// The built-in drill of this name.
    pub fn built_in(name: &str) -> Option<&'static CatalogueFile> {
        let name = name.strip_suffix(".toml").unwrap_or(name);
        DRILLS.iter().find(|drill| drill.path.strip_suffix(".toml") == Some(name))
    }

    /// The names of the built-in drills.
    pub fn names() -> impl Iterator<Item = &'static str> {
        DRILLS.iter().filter_map(|drill| drill.path.strip_suffix(".toml"))
    }
}
