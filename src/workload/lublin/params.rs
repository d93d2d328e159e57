//! The model's parameters, their reference values and their one table.

use std::fmt;

use crate::workload::random::Gamma;

/// The jobs that a set of parameters describes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All jobs, as one population.
    Typeless,
    /// Batch jobs.
    Batch,
    /// Interactive jobs.
    Active,
}

/// Whether jobs are distinguished by type.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Types {
    /// One population.
    #[default]
    Typeless,
    /// Batch and interactive jobs.
    Typed,
}

/// Sizes: a share of serial jobs; the others are 2^x with x from a two-stage uniform distribution, rounded to a whole
/// number for a share of them.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct SizeParams {
    /// Share of serial jobs among all jobs.
    pub serial: f64,
    /// Share among all jobs of parallel jobs whose exponent is rounded to a whole number.
    pub pow2: f64,
    /// Least exponent.
    pub ulow: f64,
    /// Exponent at which the two stages meet.
    pub umed: f64,
    /// Greatest exponent.
    pub uhi: f64,
    /// Probability of the first stage, `ulow` to `umed`.
    pub uprob: f64,
}

/// Run times: ln r is Γ(a1, b1) with probability pa × size + pb (limited to the range from 0 to 1), else Γ(a2, b2).
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct RuntimeParams {
    /// Shape of the short stage.
    pub a1: f64,
    /// Scale of the short stage.
    pub b1: f64,
    /// Shape of the long stage.
    pub a2: f64,
    /// Scale of the long stage.
    pub b2: f64,
    /// Increase of the probability of the short stage for each processor.
    pub pa: f64,
    /// Probability of the short stage at size 0.
    pub pb: f64,
}

/// Arrivals: ln gap is Γ(aarr × arar, barr), in a time that runs with the daily cycle Γ(anum, bnum).
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct ArrivalParams {
    /// Shape of the gaps in the busy hours.
    pub aarr: f64,
    /// Scale of the gaps.
    pub barr: f64,
    /// Shape of the number of jobs by half-hour, counted from 05:30.
    pub anum: f64,
    /// Scale of the number of jobs by half-hour.
    pub bnum: f64,
    /// Gaps over all hours relative to gaps in the busy hours; multiplies `aarr`.
    pub arar: f64,
}

/// All parameters of one kind of jobs.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct JobParams {
    /// Parameters of sizes.
    pub size: SizeParams,
    /// Parameters of run times.
    pub runtime: RuntimeParams,
    /// Parameters of arrivals.
    pub arrival: ArrivalParams,
}

/// The parameters of a workload: of one population, or of two, each with its own arrivals.
#[derive(Clone, Debug, PartialEq)]
pub struct LublinParams(pub(super) Vec<(Kind, JobParams)>);

/// The values a parameter can take.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// 0 to 1.
    Probability,
    /// 0 to 26: an exponent of two.
    Exponent,
    /// Above 0, at most 10 000.
    Positive,
    /// Above 0, at most 100.
    Ratio,
    /// −1000 to 1000.
    Coefficient,
}

/// One parameter: its key, its meaning, its reference values and its accessor in [`JobParams`].
#[derive(Debug)]
pub struct Parameter {
    /// The key as written, after `batch-` or `active-` if jobs are typed.
    pub key: &'static str,
    /// One line for the help.
    pub doc: &'static str,
    /// The values that are allowed.
    pub allowed: Allowed,
    /// The reference values on 128 processors: for all jobs, batch jobs and interactive jobs.
    values: [f64; 3],
    field: fn(&mut JobParams) -> &mut f64,
}

/// Declares [`PARAMETERS`]: the field of each, its allowed values, its reference values (typeless, batch, active) and its
/// line of help.
macro_rules! parameters {
    ($($group:ident.$key:ident: $allowed:ident $values:tt $doc:literal;)+) => {
        /// Every model parameter with its reference values (those of the authors' program, for 128 processors).
        pub static PARAMETERS: [Parameter; 17] = [$(Parameter {
            key: stringify!($key),
            doc: $doc,
            allowed: Allowed::$allowed,
            values: $values,
            field: |params| &mut params.$group.$key,
        }),+];
    };
}

parameters! {
    size.serial: Probability [0.244, 0.2927, 0.1541] "share of serial jobs";
    size.pow2: Probability [0.576, 0.6686, 0.625] "share of parallel jobs rounded to a power of two";
    size.ulow: Exponent [0.8, 1.2, 1.0] "least log2 of the size of parallel jobs";
    size.umed: Exponent [4.5, 5.0, 3.0] "log2 of the size at which the two stages meet";
    size.uhi: Exponent [7.0, 7.0, 5.5] "greatest log2 of the size";
    size.uprob: Probability [0.86, 0.875, 0.705] "probability of the stage of small sizes";
    runtime.a1: Positive [4.2, 6.57, 3.8351] "shape of ln(run time), short stage";
    runtime.b1: Positive [0.94, 0.823, 0.6605] "scale of ln(run time), short stage";
    runtime.a2: Positive [312.0, 639.1, 7.073] "shape of ln(run time), long stage";
    runtime.b2: Positive [0.03, 0.0156, 0.6856] "scale of ln(run time), long stage";
    runtime.pa: Coefficient [-0.0054, -0.003, -0.0118] "probability of the short stage: slope in size";
    runtime.pb: Coefficient [0.78, 0.6986, 0.9156] "probability of the short stage: at size 0";
    arrival.aarr: Positive [10.2303, 6.0415, 6.551] "shape of ln(gap between arrivals), busy hours";
    arrival.barr: Positive [0.4871, 0.8531, 0.6621] "scale of ln(gap between arrivals)";
    arrival.anum: Positive [8.1737, 6.1271, 8.9186] "shape of the daily cycle, half-hours after 05:30";
    arrival.bnum: Positive [3.9631, 5.274, 3.668] "scale of the daily cycle";
    arrival.arar: Ratio [1.0225, 1.0519, 0.9797] "gaps of all hours over gaps of busy hours";
}

/// The number of parameters of sizes, which come first in [`PARAMETERS`].
const OF_SIZES: usize = 6;

/// The parameters of run times and arrivals, for models with sizes of their own.
pub(in crate::workload) fn of_times() -> &'static [Parameter] {
    &PARAMETERS[OF_SIZES..]
}

/// log2 of the number of processors that the reference values are for.
const REFERENCE_LOG2: f64 = 7.0;

impl Parameter {
    /// The reference value for `kind`, on 128 processors.
    pub const fn reference(&self, kind: Kind) -> f64 {
        self.values[kind as usize]
    }

    /// Its value in `params`.
    pub fn get(&self, params: &JobParams) -> f64 {
        let mut copy = *params;
        *(self.field)(&mut copy)
    }

    /// Sets its value in `params`.
    pub fn set(&self, params: &mut JobParams, value: f64) {
        *(self.field)(params) = value;
    }
}

impl Allowed {
    /// True if `value` is allowed (never for NaN).
    pub fn holds(self, value: f64) -> bool {
        match self {
            Self::Probability => (0.0..=1.0).contains(&value),
            Self::Exponent => (0.0..=26.0).contains(&value),
            Self::Positive => value > 0.0 && value <= 10_000.0,
            Self::Ratio => value > 0.0 && value <= 100.0,
            Self::Coefficient => (-1000.0..=1000.0).contains(&value),
        }
    }
}

impl fmt::Display for Allowed {
    /// Writes the values to complete the sentence "… is not".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Probability => "a number from 0 to 1",
            Self::Exponent => "a log2 of processors from 0 to 26",
            Self::Positive => "a number above 0 and at most 10000",
            Self::Ratio => "a number above 0 and at most 100",
            Self::Coefficient => "a number from -1000 to 1000",
        })
    }
}

impl Kind {
    /// The prefix of its keys.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Typeless => "",
            Self::Batch => "batch-",
            Self::Active => "active-",
        }
    }

    /// The number of its queue: by the convention of the Standard Workload Format 0 for interactive and 1 for batch
    /// jobs; −1 (unknown) if jobs have no type.
    pub const fn queue(self) -> i32 {
        match self {
            Self::Typeless => -1,
            Self::Active => 0,
            Self::Batch => 1,
        }
    }
}

impl JobParams {
    /// The reference parameters of `kind` fitted to a machine of `procs` processors.
    ///
    /// Only the exponents depend on the machine. They keep their distances from log2 of the machine at 128
    /// processors: `uhi` is log2(procs) (1.5 less for interactive jobs) and `umed` is 2.5 below it (2 for batch
    /// jobs), as the authors advise; all are limited to the range from 0 to log2(procs), in order. If `uhi` is given,
    /// `umed` follows it.
    pub fn reference(kind: Kind, procs: u32, uhi: Option<f64>) -> Self {
        let mut params = Self::default();
        for parameter in &PARAMETERS {
            parameter.set(&mut params, parameter.reference(kind));
        }
        let size = &mut params.size;
        let below = size.uhi - size.umed;
        size.uhi = uhi.unwrap_or_else(|| (size.uhi - REFERENCE_LOG2 + libm::log2(f64::from(procs))).max(0.0));
        size.ulow = size.ulow.min(size.uhi);
        size.umed = (size.uhi - below).max(size.ulow);
        params
    }
}

impl ArrivalParams {
    /// The distribution of ln of the gaps between arrivals, in seconds.
    pub(super) fn gaps(&self) -> Gamma {
        Gamma::new(self.aarr * self.arar, self.barr)
    }
}

impl RuntimeParams {
    /// The distributions of ln of the run times in seconds: the short stage and the long one.
    pub(super) fn stages(&self) -> [Gamma; 2] {
        let Self { a1, b1, a2, b2, .. } = *self;
        [Gamma::new(a1, b1), Gamma::new(a2, b2)]
    }

    /// Probability of the short stage for a job of `size`.
    pub(super) fn short_probability(&self, size: u32) -> f64 {
        (self.pa * f64::from(size) + self.pb).clamp(0.0, 1.0)
    }
}

impl Types {
    /// The kinds of jobs; interactive before batch, the order of jobs with equal arrival times.
    pub const fn kinds(self) -> &'static [Kind] {
        match self {
            Self::Typeless => &[Kind::Typeless],
            Self::Typed => &[Kind::Active, Kind::Batch],
        }
    }
}

impl LublinParams {
    /// The reference parameters for a machine of `procs` processors.
    pub fn reference(types: Types, procs: u32) -> Self {
        Self(types.kinds().iter().map(|kind| (*kind, JobParams::reference(*kind, procs, None))).collect())
    }

    /// Whether jobs are distinguished by type.
    pub fn types(&self) -> Types {
        if self.0.len() == 1 { Types::Typeless } else { Types::Typed }
    }

    /// Each kind of jobs with its parameters, in the order of [`Types::kinds`].
    pub fn kinds(&self) -> Vec<(Kind, JobParams)> {
        self.0.clone()
    }
}
