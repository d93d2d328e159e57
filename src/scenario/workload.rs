//! A requested workload, its estimates, and its shaping.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::formats::swf::Clean;
use crate::model::{Named, NamedError, TaskFailures, WorkflowOverheads};
use crate::scenario::archive;
use crate::workflow::shapes::ShapeSpec;
use crate::workflow::{self, Rescaled};
use crate::workload::cwf::CwfSpec;
use crate::workload::huang::HuangSpec;
use crate::workload::lublin::LublinSpec;
use crate::workload::poisson::{Lengths, PoissonSpec};
use crate::workload::tsafrir::TsafrirSpec;
use crate::workload::{Estimates, Factor, MalleableSpec, Spec};

/// A workload as a user names it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Workload {
    /// A file: SWF or the cloud workload format, plain or gzipped, or Batsim's JSON.
    File(PathBuf),
    /// SWF or the cloud workload format on standard input.
    Stdin,
    /// The Lublin-Feitelson model with parameters.
    Lublin(Named),
    /// Jobs with exponential gaps, with parameters.
    Poisson(Named),
    /// The generator of the cloud workload format, with parameters.
    Cwf(Named),
    /// The workloads of adaptive SCOJO, with parameters.
    Huang(Named),
    /// Workflows, which only the portal submits.
    Workflows(Box<WorkflowPlan>),
}

/// The workflows that the portal submits.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkflowPlan {
    /// Where they come from.
    pub origin: WorkflowOrigin,
    /// How often they are submitted.
    pub count: u64,
    /// The time from one submission to the next; without it all are submitted at once.
    pub every: Option<Lengths>,
    /// What is done to each.
    pub rescaled: Rescaled,
    /// How tasks are put into groups.
    pub group: Option<Named>,
    /// What their enactment takes beyond their tasks.
    pub overheads: WorkflowOverheads,
    /// The tag that tasks of a type require of machines; `*` is for all other types.
    pub tags: BTreeMap<String, String>,
    /// How often attempts of their tasks fail by themselves.
    pub failures: Option<TaskFailures>,
    /// What is believed of the run times of those that have limits, unless they are known.
    pub believed: Option<workflow::Estimates>,
}

/// Where workflows come from.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkflowOrigin {
    /// A generator.
    Shape(ShapeSpec),
    /// A file.
    File(PathBuf),
}

impl WorkflowPlan {
    /// True if anything is drawn from the seed of the run.
    pub(crate) fn draws(&self) -> bool {
        let shape = match &self.origin {
            WorkflowOrigin::Shape(shape) => shape.seed.is_none() || self.count > 1,
            WorkflowOrigin::File(_) => false,
        };
        shape
            || self.failures.is_some()
            || self.every.is_some_and(|every| !matches!(every, Lengths::Fixed(_)))
    }
}

/// The source of run-time estimates.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EstimateSource {
    /// The estimates of the log, exact ones, or a factor.
    Plain(Estimates),
    /// Tsafrir's model of user estimates, with its parameters. By default the longest estimate is the longest of the workload, in whole
    /// hours.
    Tsafrir(Named),
}

/// The changes applied to a workload before it is run.
#[derive(Clone, Debug, PartialEq)]
pub struct Shaping {
    /// The rows to skip.
    pub clean: Clean,
    /// Reduce jobs larger than the machine to its size.
    pub cap: bool,
    /// Leave out so many jobs at the beginning.
    pub skip: u64,
    /// Use only the first jobs of those that are left, as many as given.
    pub first: Option<u64>,
    /// Offered load to reach by scaling the gaps between submissions.
    pub load: Option<f64>,
    /// Divide the gaps between submissions by this; excludes `load`.
    pub load_factor: Option<Factor>,
    /// The source of estimates.
    pub estimates: EstimateSource,
    /// Submit a job its think time after the end of the job that it follows.
    pub feedback: bool,
    /// Jobs that may run on other numbers of processors than they request, which may change while they run; `None` if none may.
    pub malleable: Option<MalleableSpec>,
    /// Processors of the machine; `None` for those that the workload names.
    pub procs: Option<u32>,
    /// Seed of all random draws, unless the generator has its own.
    pub seed: u64,
}

impl Default for Shaping {
    fn default() -> Self {
        Self {
            clean: Clean::None,
            cap: false,
            skip: 0,
            first: None,
            load: None,
            load_factor: None,
            estimates: EstimateSource::Plain(Estimates::Log),
            feedback: false,
            malleable: None,
            procs: None,
            seed: 1,
        }
    }
}

impl Workload {
    /// The file as it was named, if the workload is one.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Workflows(plan) => match &plan.origin {
                WorkflowOrigin::File(path) => Some(path),
                WorkflowOrigin::Shape(_) => None,
            },
            Self::Stdin | Self::Lublin(_) | Self::Poisson(_) | Self::Cwf(_) | Self::Huang(_) => None,
        }
    }

    /// The name of the workload in a line, for a file without its folders.
    pub(crate) fn title(&self) -> String {
        let of_file = |path: &Path| {
            let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
            name.strip_prefix(archive::PREFIX).unwrap_or(&name).to_owned()
        };
        match self {
            Self::File(path) => of_file(path),
            Self::Workflows(plan) => match &plan.origin {
                WorkflowOrigin::Shape(shape) => shape.to_string(),
                WorkflowOrigin::File(path) => of_file(path),
            },
            Self::Stdin => "standard input".to_owned(),
            Self::Lublin(named) | Self::Poisson(named) | Self::Cwf(named) | Self::Huang(named) => {
                named.to_string()
            }
        }
    }

    /// The generator, if it is one.
    pub(crate) const fn generator(&self) -> Option<&Named> {
        match self {
            Self::File(_) | Self::Stdin | Self::Workflows(_) => None,
            Self::Lublin(named) | Self::Poisson(named) | Self::Cwf(named) | Self::Huang(named) => Some(named),
        }
    }

    /// The generator, if it is one, to be given parameters.
    pub(crate) const fn generator_mut(&mut self) -> Option<&mut Named> {
        match self {
            Self::File(_) | Self::Stdin | Self::Workflows(_) => None,
            Self::Lublin(named) | Self::Poisson(named) | Self::Cwf(named) | Self::Huang(named) => Some(named),
        }
    }

    /// The file of the workload, searched for if it is a log of an archive; `None` if it is not a file.
    ///
    /// # Errors
    /// If the log of an archive is not found.
    pub(crate) fn file(&self) -> Result<Option<PathBuf>, String> {
        let Some(path) = self.path() else { return Ok(None) };
        match path.to_str().filter(|name| archive::names(name)) {
            Some(name) => archive::find(name).map(Some),
            None => Ok(Some(path.to_owned())),
        }
    }

    /// True if the workload can be read only once: standard input or a named pipe.
    pub fn is_once(&self) -> bool {
        let is_pipe = |path: &Path| path.metadata().is_ok_and(|about| !about.is_file() && !about.is_dir());
        *self == Self::Stdin || self.path().is_some_and(is_pipe)
    }
}

impl FromStr for Workload {
    type Err = NamedError;

    /// `-`, `lublin`, `poisson`, `cwf` or `huang`, with or without parameters, or else the path of a file.
    fn from_str(written: &str) -> Result<Self, NamedError> {
        let is = |name: &str| {
            written.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
        };
        match written {
            "-" => Ok(Self::Stdin),
            _ if is(LublinSpec::NAME) => Ok(Self::Lublin(written.parse()?)),
            _ if is(PoissonSpec::NAME) => Ok(Self::Poisson(written.parse()?)),
            _ if is(CwfSpec::NAME) => Ok(Self::Cwf(written.parse()?)),
            _ if is(HuangSpec::NAME) => Ok(Self::Huang(written.parse()?)),
            _ => Ok(Self::File(PathBuf::from(written))),
        }
    }
}

impl FromStr for EstimateSource {
    type Err = String;

    /// `log`, `exact`, `factor:F` or `tsafrir[...]`.
    fn from_str(written: &str) -> Result<Self, String> {
        match written.strip_prefix(TsafrirSpec::NAME) {
            Some(rest) if rest.is_empty() || rest.starts_with('[') => {
                written.parse().map(Self::Tsafrir).map_err(|error: NamedError| error.to_string())
            }
            _ => written.parse().map(Self::Plain).map_err(|_| {
                format!(
                    "`{written}` is none of `log`, `exact`, `factor:F` (such as `factor:2.5`) and `tsafrir`"
                )
            }),
        }
    }
}

impl std::fmt::Display for EstimateSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Plain(estimates) => estimates.fmt(f),
            Self::Tsafrir(named) => named.fmt(f),
        }
    }
}
