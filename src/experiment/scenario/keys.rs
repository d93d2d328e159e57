//! The keys of a scenario, as they are written: nothing is checked here but their form, and no file is touched.
//!
//! What each key means is said at the key; the same sentences are in the schema that editors read (`gridemu schema`). Whatever can
//! be left out is an `Option`; the filler puts the defaults in.

mod checkpoint;
mod forms;
mod machines;
mod site;
mod words;
mod workload;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::{Or, Written};
use crate::model::{Named, Payer, Replan};
use crate::units::{Bandwidth, Span};

pub use checkpoint::{CheckpointKeys, Interval};
pub use forms::{
    ClassesKey, Dist, ElectricityKey, EstimatesKey, GeneratorKeys, HoursKey, PowerKey, WorkloadText,
};
pub use machines::{MachineKeys, ReservationKeys};
pub use site::{ChurnKeys, SiteKeys};
pub use words::{Absent, Always, AnyNumber, Checkpoint, Engine, MaybeBandwidth, NoChurn, Until, Virtual};
pub use workload::WorkloadKeys;

/// A scenario: sites, a network, a broker, workloads, and what happens when. All that is left out has a default, which
/// `gridemu check --show` writes out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table of the keys of a scenario")]
#[schemars(title = "gridemu scenario")]
pub struct ScenarioKeys {
    /// How the run is called in what it leaves. Default: the name of the file.
    pub name: Option<String>,
    /// Seed of all that is drawn. Default: 1.
    pub seed: Option<u64>,
    /// Which jobs count: `"all"`, or those submitted in a window, `{ from = "1 d", to = "8 d" }`; energy, cost and utilization
    /// are of the whole run in any case. Default: all.
    pub measure: Option<Or<Always, WindowKeys>>,
    /// Bound of the bounded slowdown: a run shorter than this counts as this long. Default: 10 s.
    pub tau: Option<Written<Span>>,
    /// Job classes by run time and size: a preset such as `"kettimuthu-16"`, or own cuts such as `"cuts[run=10 min/1 h,size=1/8]"`.
    /// Shares of the machine are of the largest class of machines. Default: none.
    pub classes: Option<ClassesKey>,
    /// When the run ends at the latest, such as `"30 d"`; jobs that are left are then unfinished. Default: `"done"`, when no job
    /// is left.
    pub until: Option<Until>,
    /// `"actors"`: every entity is an actor; `"direct"`: a plain loop, with the same results. Default: actors.
    pub engine: Option<Engine>,
    /// `"virtual"`: as fast as it goes; `{ pace = 60 }`: so many seconds a second of the wall clock. Default: virtual.
    pub clock: Option<Or<Virtual, ClockKeys>>,
    /// What a processor of speed 1 does, in MIPS: the run times of workloads are on such a one. Default: 10000.
    pub reference_mips: Option<f64>,
    /// What the run writes.
    pub output: Option<OutputKeys>,
    /// Snapshots of the run, from which it goes on if it is interrupted, and from which other futures branch off. Default: none.
    pub checkpoint: Option<CheckpointKeys>,
    /// What connects the portal and the sites. Default: no delay, and as much bandwidth as anybody wants.
    pub network: Option<NetworkKeys>,
    /// The broker; without one, sites see only their own users.
    pub broker: Option<BrokerKeys>,
    /// How machines come and go at every site that does not say otherwise.
    pub churn: Option<ChurnKeys>,
    /// The sites, at least one.
    pub site: Option<Vec<SiteKeys>>,
    /// What comes through the portal to the broker.
    pub workload: Option<Vec<WorkloadKeys>>,
    /// What happens at given times.
    pub event: Option<Vec<EventKeys>>,
}

/// A window of virtual time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "`{ from = \"1 d\", to = \"8 d\" }`")]
pub struct WindowKeys {
    /// First instant.
    pub from: Written<Span>,
    /// First instant after it.
    pub to: Written<Span>,
}

/// A clock that follows the wall clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "`{ pace = 60 }`")]
pub struct ClockKeys {
    /// Seconds of the run a second of the wall clock.
    pub pace: f64,
}

/// What a run writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table of what is written")]
pub struct OutputKeys {
    /// The folder of its files, seen from where the command is typed; `--out` says another. Default: no files.
    pub folder: Option<String>,
    /// Write segments.csv, a line for each stretch of each attempt. Default: true.
    pub segments: Option<bool>,
    /// Write machines.csv, the changes of machine state. Default: false.
    pub machines: Option<bool>,
    /// Write batsim/out_jobs.csv, in Batsim's columns. Default: false.
    pub batsim: Option<bool>,
}

/// What connects the portal and the sites.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table of the network")]
pub struct NetworkKeys {
    /// How long a message takes between any two places. Default: 0 s, unless there are links; then places without a link are not
    /// connected, but sites with one to the portal each reach each other through it.
    pub latency: Option<Written<Span>>,
    /// What transfers between two places share. Default: `"unlimited"`.
    pub bandwidth: Option<MaybeBandwidth>,
    /// Connections of two places that differ.
    pub link: Option<Vec<LinkKeys>>,
}

/// A connection of two places.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table of a link")]
pub struct LinkKeys {
    /// The two places: names of sites, or `"portal"`.
    pub between: Vec<String>,
    /// How long a message takes. Default: that of the network.
    pub latency: Option<Written<Span>>,
    /// What transfers share. Default: that of the network.
    pub bandwidth: Option<MaybeBandwidth>,
}

/// The broker and its dispatcher.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table of the broker")]
pub struct BrokerKeys {
    /// The mapping algorithm (`gridemu policies` lists them). Default: mct.
    #[serde(default)]
    #[schemars(schema_with = "super::schema::broker_policy")]
    pub policy: Option<Named>,
    /// How old the directory's picture of the sites may become; 0 s: sites report at every change. Default: 60 s.
    pub picture: Option<Written<Span>>,
    /// Whether the broker adds its own dispatches to a picture that does not show them yet. Default: true.
    pub count_in_flight: Option<bool>,
    /// When assignments that have not left the dispatcher are made anew: `"never"`, `"on-churn"`, or `"every-picture"`. Default:
    /// on-churn.
    #[serde(default)]
    #[schemars(schema_with = "super::schema::replan")]
    pub replan: Option<Replan>,
    /// Whether replanning also takes back jobs that wait at sites. Default: false.
    pub recall_queued: Option<bool>,
    /// How often a job is tried again before it is given up. Default: 10.
    pub retries: Option<u32>,
    /// How long a returned job waits before it is planned again; doubled with each return, up to 64 times. Default: 10 s.
    pub backoff: Option<Written<Span>>,
    /// Most jobs of the grid at a site at once, waiting or running: a number, or `"any"`. Default: any.
    pub in_flight: Option<AnyNumber>,
    /// What one dispatch takes the dispatcher, one after the other. Default: 0 s.
    pub overhead: Option<Written<Span>>,
    /// Who pays for an attempt that was lost to churn: `"user"`, or `"site"`. Default: user.
    #[serde(default)]
    #[schemars(schema_with = "super::schema::payer")]
    pub lost_attempts: Option<Payer>,
}

/// Something that happens at a given time: one of `leave`, `join` and `slow`, or to a job: one of `cancel`, `extend` and `reduce`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table of an event")]
pub struct EventKeys {
    /// When.
    pub at: Written<Span>,
    /// What leaves: a site (`"delft"`), a class of its machines (`"delft/i7"`), or some of them by number (`"delft/i7/0-15"`, or
    /// `"delft/0-15"` where all machines are of one class).
    pub leave: Option<String>,
    /// What comes, or comes back; written like what leaves.
    pub join: Option<String>,
    /// What goes on at a fraction of its speed; written like what leaves.
    pub slow: Option<String>,
    /// The fraction, above 0; 1 is full speed again. Only with `slow`.
    pub factor: Option<f64>,
    /// The site at which a job ends, cancelled; with `job`.
    pub cancel: Option<String>,
    /// The site at which a job gets more time or processors by an elastic command; with `job`, and `time` or `procs`.
    pub extend: Option<String>,
    /// The site at which a job gets less; written like `extend`.
    pub reduce: Option<String>,
    /// The number of the job, as in jobs.csv. If several jobs at the site have it, the one that came first is meant.
    pub job: Option<u64>,
    /// By how much time, at speed 1.
    pub time: Option<Written<Span>>,
    /// By how many processors.
    pub procs: Option<u32>,
}

/// What a bandwidth is written like.
pub(super) type BandwidthKey = Written<Bandwidth>;
