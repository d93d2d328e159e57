//! Generated workflows: `bag`, `fork-join`, `pipeline`, `layered`, and the shapes of Montage and Epigenomics.
//!
//! [`ShapeSpec`] is written like every generator: `montage[tasks=1000]`, `layered[tasks=200,width=20,degree=3,runtime=1 min..1 h]`.
//! The same text and seed give the same workflow everywhere.
//!
//! `montage` and `epigenomics` follow the Pegasus runs on Chameleon that WfCommons publishes (WfInstances, schema 1.5): types of task, who
//! reads what of whom, and lognormal run times and sizes. Their medians are power laws of the size of the workflow, times a factor that a
//! whole workflow has; both, and the variation within a workflow, are fitted by least squares of the logarithms.

mod epigenomics;
mod laws;
mod montage;
mod plain;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use super::{Draft, Workflow};
use crate::model::{Named, NamedError};
use crate::units::{Bytes, Span};
use crate::workload::poisson::Lengths;
use crate::workload::random::Stream;

/// The most tasks of a generated workflow.
const MOST_TASKS: u32 = 10_000_000;

/// The shape of a generated workflow.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// Tasks that wait for nothing: a bag of tasks.
    Bag,
    /// A task, `width` tasks after it, one after these, which begins the next stage, and so on.
    ForkJoin,
    /// One task after the other.
    Pipeline,
    /// Levels of 1 to 2 × `width` − 1 tasks, each of which waits for 1 to `degree` tasks of the level before.
    Layered,
    /// Mosaics of the sky in three colours.
    Montage,
    /// Mapping of DNA sequences.
    Epigenomics,
}

/// The shapes by name.
const SHAPES: [(&str, Shape); 6] = [
    ("bag", Shape::Bag),
    ("fork-join", Shape::ForkJoin),
    ("pipeline", Shape::Pipeline),
    ("layered", Shape::Layered),
    ("montage", Shape::Montage),
    ("epigenomics", Shape::Epigenomics),
];

/// A generator of workflows with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeSpec {
    /// The shape.
    pub shape: Shape,
    /// The number of tasks. `montage` and `epigenomics` have the most that their shape allows, up to this number.
    pub tasks: u32,
    /// Tasks of a fork, or mean tasks of a level (`fork-join`, `layered`).
    pub width: u32,
    /// The most predecessors of a task (`layered`).
    pub degree: u32,
    /// Run times (`bag`, `fork-join`, `pipeline`, `layered`).
    pub runtime: Lengths,
    /// The size of each file (`bag`, `fork-join`, `pipeline`, `layered`): each task writes one, which its successors read.
    pub data: Bytes,
    /// The types of tasks, each as likely for each task (`bag`, `pipeline`, `layered`).
    pub types: Types,
    /// A seed of its own; otherwise that of the run.
    pub seed: Option<u64>,
}

/// Types of tasks; each task is of one of them, all equally likely. Written `compute/compute/store`: of such tasks two of three compute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Types(Vec<String>);

impl Types {
    fn one(name: &str) -> Self {
        Self(vec![name.to_owned()])
    }

    /// The type of a task. One type takes no draw.
    fn draw(&self, stream: &mut Stream) -> &str {
        match &self.0[..] {
            [one] => one,
            several => &several[stream.below(several.len() as u64) as usize],
        }
    }
}

impl FromStr for Types {
    type Err = ();

    fn from_str(written: &str) -> Result<Self, ()> {
        let sign = |sign: char| sign.is_ascii_alphanumeric() || "-_".contains(sign);
        let is_name = |name: &str| {
            name.starts_with(|first: char| first.is_ascii_alphabetic()) && name.chars().all(sign)
        };
        let names: Vec<String> = written.split('/').map(|name| name.trim().to_owned()).collect();
        if names.iter().all(|name| is_name(name)) { Ok(Self(names)) } else { Err(()) }
    }
}

impl fmt::Display for Types {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.join("/").fmt(f)
    }
}

impl ShapeSpec {
    /// The parameters that a shape has if none are given.
    pub fn of(shape: Shape) -> Self {
        Self {
            shape,
            tasks: 100,
            width: 10,
            degree: 3,
            runtime: Lengths::Fixed(Span::from_secs(60)),
            data: Bytes::new(10_000_000),
            types: Types::one(if shape == Shape::Pipeline { "step" } else { "task" }),
            seed: None,
        }
    }

    /// The names of the shapes.
    pub fn all() -> impl Iterator<Item = &'static str> {
        SHAPES.iter().map(|(name, _)| *name)
    }

    /// Whether `name` is the name of a shape.
    pub fn names(name: &str) -> bool {
        SHAPES.iter().any(|(known, _)| *known == name)
    }

    /// The keys that the shape has, apart from `tasks` and `seed`.
    fn keys(&self) -> &'static [&'static str] {
        match self.shape {
            Shape::Bag | Shape::Pipeline => &["runtime", "data", "types"],
            Shape::ForkJoin => &["width", "runtime", "data"],
            Shape::Layered => &["width", "degree", "runtime", "data", "types"],
            Shape::Montage | Shape::Epigenomics => &[],
        }
    }

    /// The fewest tasks of the shape.
    fn fewest(&self) -> u32 {
        match self.shape {
            Shape::ForkJoin => 3,
            Shape::Bag | Shape::Pipeline | Shape::Layered => 1,
            Shape::Montage => montage::FEWEST,
            Shape::Epigenomics => epigenomics::FEWEST,
        }
    }

    /// Reads the parameters of `name[...]`.
    ///
    /// # Errors
    /// [`NamedError`] for a parameter that the shape does not have, does not parse or makes no sense.
    pub fn from_named(mut named: Named) -> Result<Self, NamedError> {
        let Some((_, shape)) = SHAPES.iter().find(|(name, _)| *name == named.name) else {
            return Err(NamedError::Syntax(named.to_string()));
        };
        let mut spec = Self::of(*shape);
        let (fewest, keys) = (spec.fewest(), spec.keys());
        let tasks = format!("a number of tasks from {fewest} to {MOST_TASKS}");
        spec.tasks =
            named.take_within("tasks", fewest..=MOST_TASKS, &tasks)?.unwrap_or(spec.tasks.max(fewest));
        spec.seed = named.take("seed", "a whole number from 0 to 18446744073709551615")?;
        let has = |key: &str| keys.contains(&key);
        let several = "a number from 1 to 10000000";
        if has("width") {
            spec.width = named.take_within("width", 1..=MOST_TASKS, several)?.unwrap_or(spec.width);
        }
        if has("degree") {
            spec.degree = named.take_within("degree", 1..=MOST_TASKS, several)?.unwrap_or(spec.degree);
        }
        if has("runtime") {
            let expected = "a run time such as `10 min`, a range `1 min..1 h`, or a distribution such as \
                            `lognormal[median=1 h,sigma=1.6]`";
            spec.runtime = named.take("runtime", expected)?.unwrap_or(spec.runtime);
        }
        if has("data") {
            spec.data = named.take("data", "an amount of data such as `10 MB`")?.unwrap_or(spec.data);
        }
        if has("types") {
            let expected = "a type of task such as `task`, or several such as `compute/compute/store`, of letters, digits, `-` and `_`";
            spec.types = named.take("types", expected)?.unwrap_or(spec.types);
        }
        let all: Vec<&str> = ["tasks", "seed"].iter().chain(keys).copied().collect();
        named.finish(&all)?;
        Ok(spec)
    }

    /// The text form, with every parameter; `types` only if they are not the usual one.
    pub fn to_named(&self) -> Named {
        let name = SHAPES.iter().find(|(_, shape)| *shape == self.shape).map_or("", |(name, _)| name);
        let mut named = Named::bare(name);
        let mut put = |key: &str, value: String| {
            if ["tasks", "seed"].contains(&key) || self.keys().contains(&key) {
                named.params.insert(key.to_owned(), value);
            }
        };
        put("tasks", self.tasks.to_string());
        put("width", self.width.to_string());
        put("degree", self.degree.to_string());
        put("runtime", self.runtime.to_string());
        put("data", self.data.to_string());
        if self.types != Self::of(self.shape).types {
            // A workflow of the usual type has the name that it had before there were others.
            put("types", self.types.to_string());
        }
        if let Some(seed) = self.seed {
            put("seed", seed.to_string());
        }
        named
    }

    /// The workflow, drawn from streams of its own seed, or of `run_seed`.
    ///
    /// # Errors
    /// [`super::WorkflowError`] if a run time or a file is drawn that is beyond what a workflow may have.
    pub fn workflow(&self, run_seed: u64) -> Result<Workflow, super::WorkflowError> {
        let named = self.to_named();
        let stream = |purpose: &str| Stream::new(self.seed.unwrap_or(run_seed), &named.name, purpose);
        let drawn = || plain::Draws { runtimes: stream("runtimes"), types: stream("types") };
        let mut draft = match self.shape {
            Shape::Bag => plain::bag(self, &mut drawn()),
            Shape::ForkJoin => plain::fork_join(self, &mut drawn()),
            Shape::Pipeline => plain::pipeline(self, &mut drawn()),
            Shape::Layered => plain::layered(self, &mut stream("edges"), &mut drawn()),
            Shape::Montage => montage::draft(self.tasks, &stream),
            Shape::Epigenomics => epigenomics::draft(self.tasks, &stream),
        };
        draft.name = named.to_string();
        draft.build()
    }
}

impl FromStr for ShapeSpec {
    type Err = NamedError;

    fn from_str(written: &str) -> Result<Self, NamedError> {
        Self::from_named(written.parse()?)
    }
}

impl fmt::Display for ShapeSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_named().fmt(f)
    }
}

/// The names of tasks and files are numbered as WfCommons numbers them.
fn numbered(draft: &Draft, kind: &str) -> String {
    format!("{kind}_{:08}", draft.tasks.len() + 1)
}
