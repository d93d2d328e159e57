//! What users submit.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use toml::Value;

use crate::formats::swf::Clean;
use crate::model::AtLimit;
use crate::scenario::kind::Kind;
use crate::scenario::kind::key::keys;
use crate::scenario::kind::named::Params;
use crate::scenario::kind::priced::Priced;
use crate::scenario::kind::reading::Reading;
use crate::scenario::tree::{self, Node};
use crate::scenario::workload::{EstimateSource, Workload};
use crate::units::{Bytes, Price, Span};
use crate::workload::{BudgetRule, DeadlineRule, Estimates, Factor, MalleableSpec, SpeedupForm};

keys! {
    /// A workload: one of `log`, `lublin`, `poisson`, `cwf`, `huang` and `workflow`, and what is done to it.
    WorkloadKeys, "a table of a workload" {
        /// A log: SWF or [CWF](workloads.md#the-cloud-workload-format), plain or gzipped, or a Batsim workload (`.json`); a
        /// path relative to the file that names it. `archive:NAME` is a public log by its published name, searched in the
        /// folder `$GRIDEMU_DATA` and its subfolders `swf` and `reference` (workflows: also `dax`, `gwf` and those of `wfcommons`). `"-"` is standard input, which is read once.
        log: Option<String>;
        /// The model of Lublin and Feitelson: `{ jobs = 2000, load = 0.5 }` and
        /// [its other parameters](workloads.md#the-lublin-feitelson-model). `procs`, the largest size, is by default the largest class of machines.
        lublin: Option<Params>;
        /// Jobs with exponential gaps, see below:
        /// `{ jobs = 1000, every = "2 s", size = "1..32", runtime = "exponential[mean=10 min]" }`.
        poisson: Option<Params>;
        /// Batch and dedicated jobs with elastic commands: `{ jobs = 500, load = 0.9, ps = 0.2, pd = 0.5, pe = 0.2, pr = 0.1 }` and
        /// [its other parameters](workloads.md#the-generator-of-the-cloud-workload-format). `procs` is by default the largest class of machines.
        cwf: Option<Params>;
        /// [The workloads of adaptive SCOJO](workloads.md#rigid-moldable-and-malleable-jobs), with rigid, moldable and malleable jobs: `{ workload = 1 }`. `procs`,
        /// of which no job can use more, is by default the largest class of machines.
        huang: Option<Params>;
        /// Offered load, relative to the processors available at the beginning, at their speeds: of the site, or of all sites
        /// for the portal. The times between submissions are scaled. May also be given inside `lublin`, `poisson`, `cwf` or `huang`.
        load: Option<f64> => "as they come";
        /// Divides arrival times by this, such as `1.2`: the load becomes so many times as high. The first submission stays, and the gaps
        /// after it are divided. Excludes `load`, also inside a generator.
        load_factor: Option<Factor> => "1";
        /// Estimates of the run time: `"log"` (or the run time, if there is none), `"exact"`, `"factor:2.5"` or `"tsafrir"` (a
        /// model of users).
        estimates: EstimateSource = EstimateSource::Plain(Estimates::Log);
        /// Number of jobs to leave out at the beginning, in order of submission, such as `20000`. The others keep their times.
        skip: Option<u64> => "0";
        /// Number of jobs to use, in order of submission, of those that `skip` leaves.
        first: Option<u64> => "all";
        /// Which rows of a log are skipped: `"none"` only those that cannot be run.
        clean: Option<Clean> = log.is_some().then_some(Clean::None) => "none";
        /// Reduce jobs of a log to the largest class of machines, instead of rejecting them.
        cap: Option<bool> = log.is_some().then_some(false) => "false";
        /// Submit a job of a log its think time after the end of the preceding job (SWF columns 17 and 18).
        feedback: Option<bool> = log.is_some().then_some(false) => "false";
        /// Whether its jobs are [malleable](workloads.md#malleable-jobs): their processors may be changed by commands (`extend` and `reduce` by `procs`, `EP` and
        /// `RP` of a log) and by policies that resize jobs, from one to the largest class of machines, with run times in inverse proportion. A table makes a part of them malleable,
        /// or with other sizes: `{ share = 0.5, speedup = "working-set" }`.
        malleable: Option<MalleableKey> => "false";
        /// Data of each job that must be at the site before it can start; portal only.
        input: Option<Bytes> => "0 B";
        /// Data of each job that returns after its completion; portal only.
        output: Option<Bytes> => "0 B";
        /// [Deadline](grid.md#deadlines-and-budgets) of each job, or of each workflow: `"submit + 4 x estimate"`, `"submit + 4 x runtime"` or `"submit + 1 h"`; drawn for each, all values
        /// equally likely: `"submit + 1.5..8 x estimate"`, or from a distribution of durations: `"submit + exponential[mean=1 h]"`.
        deadline: Option<DeadlineRule> => "none";
        /// [Budget](grid.md#deadlines-and-budgets) of each job, or of each workflow: an amount (`5`), or so many times what its processors cost for its estimate at the
        /// `reference_price` (`"1.2 x cost"`); drawn: `"2..10"`, `"0.8..2 x cost"`.
        budget: Option<BudgetRule> => "none";
        /// Price of a core-hour of speed 1 that a `budget` refers to.
        reference_price: Option<Priced<Price>> => "none";
        /// What happens at the deadline: the job or the workflow goes on (`"overrun"`); it is refused when it is submitted, if it could not end in time anywhere; or it is ended there.
        at_deadline: Option<AtLimit> => "`\"overrun\"`";
        /// What happens when a job or a workflow costs more than its budget: it goes on (`"overrun"`); it is refused when it is submitted, if its estimate costs more everywhere; or, of jobs only, it is ended when it does (`"kill"`).
        at_budget: Option<AtLimit> => "`\"overrun\"`";
        /// Which jobs are [run in parts at several sites](co-allocation.md) that start together, portal only: `{ parts = 2, share = 0.25, notice = "1 h" }`.
        coallocate: Option<CoallocateKeys> => "none";
        /// [Workflows](workflows.md#running-workflows), portal only: a [generator](workflows.md#generators) such as `"montage[tasks=1000]"`, or a file
        /// (WfFormat, DAX, GWF); a path relative to the file that names it, or `archive:NAME`. The keys below belong to it, and of those above the limits (`deadline` to `at_budget`) alone.
        workflow: Option<String>;
        /// Number of times that it is submitted; a generator gives another workflow each time.
        count: Option<u64> => "1";
        /// Time from one submission to the next; the first is at 0: `"10 min"`, `"1 min..1 h"` (uniform), or a distribution such as
        /// `"exponential[mean=1 h]"`.
        every: Option<String> => "all at once";
        /// Factor of the run times of its tasks.
        scale_runtime: Option<f64> => "1";
        /// Factor of the sizes of its files.
        scale_data: Option<f64> => "1";
        /// [Communication-to-computation ratio](workflows.md#facts) at 1 Gbit/s that each workflow gets, by scaling all its files; after the factors.
        ccr: Option<f64> => "as it is";
        /// How its tasks are put into [groups](workflows.md#grouping), each of which goes to a site as one job: `"paul"`, `"horizontal[size=10]"`,
        /// `"vertical"`, `"level"`, `"pilot[procs=16]"`.
        group: Option<String> => "none";
        /// Time that the workflow engine needs to make a job of a task that is ready, each by itself: from when all that it waits for has completed to
        /// when it can be assigned.
        engine_delay: Option<Span> => "0 s";
        /// Time for which each of its jobs holds its processors before its task (or the first of its group) runs: start-up, a container.
        job_overhead: Option<Span> => "0 s";
        /// [Tag that a task requires](workflows.md#memory-and-tags) of the machines it runs on, by type of task, such as `{ mProject = "gpu" }`; `"*"` is for
        /// all other types.
        tags: Option<BTreeMap<String, String>> => "none";
        /// [Probability that an attempt of a task fails by itself](workflows.md#tasks-that-fail), by type of task; `"*"` is for all other types.
        failures: Option<BTreeMap<String, f64>> => "none";
        /// Number of attempts that may fail by themselves, with `failures`: with so many a task has failed.
        task_attempts: Option<u32> => "3";
    }
}

keys! {
    /// Which jobs of a workload are run in parts, and how.
    CoallocateKeys, "a table such as `{ parts = 2, share = 0.25 }`" {
        /// Parts of a job, each at a site of its own: 2 to 8. Its processors are divided evenly.
        parts: u32 = 2;
        /// The share of its jobs that are run in parts, of those with a processor for each part; drawn for each job.
        share: f64 = 1.0;
        /// The time from its submission to its earliest start.
        notice: Span = Span::ZERO;
        /// How much later than that it may start.
        within: Span = Span::from_secs(86_400);
        /// How often in a second of its run time its parts wait for each other: each time costs the latency between their sites.
        exchanges: f64 = 0.0;
        /// What its parts send to each other in a second of its run time: it costs what it takes on the link between their sites.
        traffic: Bytes = Bytes::ZERO;
    }
}

keys! {
    /// Which jobs of a workload are malleable, and how.
    MalleableKeys, "a table such as `{ share = 0.5 }`" {
        /// The share of its jobs that are malleable, drawn for each job. Those of a smaller share are among those of a larger one.
        share: f64 = 1.0;
        /// The fewest processors of a job, as a part of those that it requests, rounded down.
        least: Option<f64> => "one processor; 0.5 with `working-set`";
        /// The most processors, as a multiple of those that it requests, rounded down, and never more than the largest class of machines.
        most: Option<f64> => "the largest class; 2 with `working-set`";
        /// How its rate follows its processors: in proportion (`"linear"`), or with an efficiency of 80 % on the fewest processors, 65 % on those requested and 50 % on the
        /// most, linear between (`"working-set"`, as the jobs of [`huang`](workloads.md#rigid-moldable-and-malleable-jobs)).
        speedup: SpeedupForm = SpeedupForm::Linear;
    }
}

/// Whether jobs are malleable: all, none, or as a table says.
#[derive(Clone, Debug)]
pub(in crate::scenario) enum MalleableKey {
    /// All of them, or none.
    All(bool),
    /// As it says.
    As(MalleableKeys),
}

impl MalleableKey {
    /// Which jobs, if any.
    pub(in crate::scenario) fn spec(&self) -> Option<MalleableSpec> {
        match *self {
            Self::All(all) => all.then(MalleableSpec::default),
            Self::As(MalleableKeys { share, least, most, speedup }) => {
                Some(MalleableSpec { share, least, most, speedup })
            }
        }
    }
}

impl Kind for MalleableKey {
    fn read(node: &Node, reading: &mut Reading<'_>) -> Option<Self> {
        if node.table().is_some() {
            return MalleableKeys::read(node, reading).map(Self::As);
        }
        let before = reading.wrongs();
        let all = bool::read(node, reading).map(Self::All);
        if all.is_none() {
            reading.add_to(before, "; or a table such as `{ share = 0.5 }`");
        }
        all
    }

    fn show(&self) -> Option<Value> {
        match self {
            Self::All(all) => all.show(),
            Self::As(keys) => keys.show(),
        }
    }

    fn schema() -> Json {
        json!({ "title": "true, false or a table", "anyOf": [bool::schema(), MalleableKeys::schema()] })
    }
}

/// What a site's own users submit: a workload in a table or in one text, or none.
#[derive(Clone, Debug)]
pub(in crate::scenario) struct OwnWorkload(pub(in crate::scenario) Option<WorkloadKeys>);

impl Kind for OwnWorkload {
    fn read(node: &Node, reading: &mut Reading<'_>) -> Option<Self> {
        let keys = match node.text() {
            Some("none") => return Some(Self(None)),
            None if node.table().is_none() => reading.mismatch(node, &Self::expected()),
            None => WorkloadKeys::read(node, reading),
            Some("") => {
                let message =
                    "a workload is a generator such as `lublin[jobs=1000]`, the path of a log, or `none`";
                reading.refuse(node, message)
            }
            Some(text) => match text.parse::<Workload>() {
                Ok(
                    Workload::Lublin(named)
                    | Workload::Poisson(named)
                    | Workload::Cwf(named)
                    | Workload::Huang(named),
                ) => WorkloadKeys::read(&Node::of_named(node.at, named), reading),
                Ok(Workload::File(_) | Workload::Stdin | Workload::Workflows(_)) => {
                    let log = Node { at: node.at, value: tree::Value::Text(text.to_owned()) };
                    WorkloadKeys::read(&Node::of_key(node.at, "log", log), reading)
                }
                Err(error) => reading.refuse(node, error.to_string()),
            },
        };
        keys.map(|keys| Self(Some(keys)))
    }

    fn show(&self) -> Option<Value> {
        self.0.as_ref().map_or_else(|| Some(Value::String("none".to_owned())), WorkloadKeys::show)
    }

    fn expected() -> String {
        "a table such as `{ lublin = { jobs = 1000 } }`, a text such as `\"lublin[jobs=1000]\"`, or `\"none\"`".to_owned()
    }

    fn schema() -> Json {
        json!({ "title": "table, text or `\"none\"`", "anyOf": [
            { "type": "string", "examples": ["lublin[jobs=1000,load=0.5]"] },
            WorkloadKeys::schema()
        ] })
    }
}
