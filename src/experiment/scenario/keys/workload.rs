//! What users submit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::forms::{EstimatesKey, GeneratorKeys};
use crate::experiment::scenario::quantity::Written;
use crate::formats::swf::Clean;
use crate::units::Bytes;

/// A workload: one of `log`, `lublin`, `poisson` and `cwf`, and what is done to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table of a workload")]
pub struct WorkloadKeys {
    /// A log: SWF, plain or gzipped, or a Batsim workload (`.json`). A path seen from this file.
    pub log: Option<String>,
    /// The model of Lublin and Feitelson, with its parameters: `{ jobs = 2000, load = 0.5 }`. `procs` is the largest class of
    /// machines, unless given.
    pub lublin: Option<GeneratorKeys>,
    /// Jobs with exponential gaps: `{ jobs = 1000, every = "2 s", size = "1..32", runtime = "exponential[mean=10 min]" }`.
    pub poisson: Option<GeneratorKeys>,
    /// The generator of the cloud workload format: batch and dedicated jobs whose users change their minds, with its parameters:
    /// `{ jobs = 500, load = 0.9, ps = 0.2, pd = 0.5, pe = 0.2 }`. `procs` is the largest class of machines, unless given.
    pub cwf: Option<GeneratorKeys>,
    /// Share of the processors, at their speeds, that the jobs ask for: of the site, or of all sites for what comes through the portal.
    /// Gaps between submissions are scaled for it. Default: as they come.
    pub load: Option<f64>,
    /// What users say the run time is: `"log"` (or the run time, if there is none), `"exact"`, `"factor:2.5"` or `"tsafrir"` (a model of
    /// users). Default: log.
    pub estimates: Option<EstimatesKey>,
    /// Only the first so many jobs. Default: all.
    pub first: Option<u64>,
    /// Which rows of a log are left out: `"none"` only those that cannot be run, or `"strict"`. Default: none.
    #[serde(default)]
    #[schemars(schema_with = "crate::experiment::scenario::schema::clean")]
    pub clean: Option<Clean>,
    /// Cut jobs of a log that are larger than the largest class of machines, instead of rejecting them. Default: false.
    pub cap: Option<bool>,
    /// Submit a job its think time after the job that it follows has ended (SWF columns 17 and 18). Default: false.
    pub feedback: Option<bool>,
    /// Whether the processors of its jobs may be changed (`extend` and `reduce` by `procs`, `EP` and `RP` of a log): from one to the largest
    /// class of machines, with run times in inverse proportion. Default: false.
    pub malleable: Option<bool>,
    /// Data that must be at the site before a job can start, for each job; only through the portal. Default: 0 B.
    pub input: Option<Written<Bytes>>,
    /// Data that goes back to the portal when a job has completed; only through the portal. Default: 0 B.
    pub output: Option<Written<Bytes>>,
}
