//! Everything that is told about one run: `summary.json`.

use serde::{Deserialize, Serialize};

use super::{
    ClassMeasures, Definition, ElasticSummary, EnergySummary, Fingerprint, Ledger, Measures, Quantiles,
    RecordedWaits, Summary, UsageSummary, WaitComparison,
};
use crate::model::InstantOrder;

/// What only the run itself knows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunFacts {
    /// Version of gridemu.
    pub version: String,
    /// The workload: a file's name or a generator with its parameters.
    pub workload: String,
    /// The local policy with its parameters.
    pub policy: String,
    /// Processors of the machine.
    pub procs: u32,
    /// Where estimates came from (`log`, `exact`, `factor:2`, …).
    pub estimates: String,
    /// What happens first at one instant.
    pub order: InstantOrder,
    /// What else differs from a plain replay and changes the result, as it is typed: `--overrun`, `--speed 1.5`.
    pub options: Vec<String>,
    /// The seed, if anything was drawn.
    pub seed: Option<u64>,
    /// The load that the workload offered.
    pub offered_load: Option<OfferedLoad>,
    /// Most jobs that ever waited at once.
    pub longest_queue: u64,
    /// Where the run's own time went.
    #[serde(flatten)]
    pub times: Times,
    /// What a reader must know before trusting the result: what was skipped, capped, sorted.
    pub notes: Vec<String>,
}

/// Work offered over what the machine could have done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OfferedLoad {
    /// The load; 1 is as much as the machine can do.
    pub value: f64,
    /// What it is relative to, in words.
    pub over: String,
}

/// Seconds of wall time that a run spent on each of its parts.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Reading or generating the workload.
    pub read_s: f64,
    /// Scheduling.
    pub schedule_s: f64,
    /// Writing and summing up records.
    pub write_s: f64,
}

/// All that is told about one run. Its JSON is `summary.json`, documented in `docs/output.md`; numbers are
/// written with all their digits, and a figure that no job gave is `null`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// What was run.
    #[serde(flatten)]
    pub facts: RunFacts,
    /// The bound of the bounded slowdown in seconds.
    pub tau: f64,
    /// The preset of the job classes.
    pub class_preset: String,
    /// The measures of all jobs.
    #[serde(flatten)]
    pub measures: Measures,
    /// Whether medians and percentiles are exact.
    pub quantiles: Quantiles,
    /// Last end less first submission of the jobs that started, in seconds.
    pub makespan: Option<f64>,
    /// Share of the nominal capacity in use.
    pub utilization: Option<f64>,
    /// Share in use of the capacity neither away nor reserved.
    pub utilization_available: Option<f64>,
    /// Where the processors' time went.
    pub usage: UsageSummary,
    /// Energy.
    pub energy: EnergySummary,
    /// What the jobs paid.
    pub cost: f64,
    /// Elastic commands, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elastic: Option<ElasticSummary>,
    /// The fingerprint of all job and segment records.
    pub fingerprint: Fingerprint,
    /// The measures by class, if there are classes.
    pub classes: Vec<ClassMeasures>,
    /// Emulated against recorded waits, if the workload has them.
    pub recorded_waits: Vec<RecordedWaits>,
    /// What the measures mean.
    pub definitions: Vec<Definition>,
}

impl RunSummary {
    /// Puts together what the collectors of a run have seen, but for elastic commands.
    pub fn new(
        facts: RunFacts,
        summary: &Summary,
        ledger: &Ledger,
        fingerprint: Fingerprint,
        waits: Option<&WaitComparison>,
    ) -> Self {
        let definitions = summary.definitions();
        Self {
            facts,
            tau: definitions.tau().as_secs_f64(),
            class_preset: definitions.classes().name().to_owned(),
            measures: summary.whole(),
            quantiles: summary.quantiles(),
            makespan: summary.makespan().map(|span| span.as_secs_f64()),
            utilization: ledger.utilization(),
            utilization_available: ledger.utilization_available(),
            usage: ledger.usage(),
            energy: ledger.energy(),
            cost: ledger.cost().as_f64(),
            elastic: None,
            fingerprint,
            classes: summary.by_class(),
            recorded_waits: waits.map(WaitComparison::rows).unwrap_or_default(),
            definitions: {
                let mut all = definitions.all();
                all.extend(super::dedicated::definition(summary.has_dedicated()));
                all
            },
        }
    }
}
