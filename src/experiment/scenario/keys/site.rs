//! A site, and its churn.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::forms::{Dist, ElectricityKey, HoursKey, WorkloadText};
use super::words::{Checkpoint, NoChurn};
use super::{MachineKeys, ReservationKeys, WorkloadKeys};
use crate::experiment::scenario::quantity::{Or, Written};
use crate::model::{Fate, InstantOrder, Named};
use crate::units::Span;

/// A site: its machines, its local policy, its own users. A site file has the same keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table of a site")]
pub struct SiteKeys {
    /// Its name, unique in the grid: letters, digits, `-` and `_`. Default: that of the site file in `use`.
    pub name: Option<String>,
    /// Names of sites that are all like this one, instead of `name`.
    pub names: Option<Vec<String>>,
    /// So many sites like this one, called `name-1`, `name-2`, ...
    pub count: Option<u32>,
    /// A site file whose keys hold where this site says nothing else: a path seen from this file, or a file of the catalogue, such as
    /// `"sites/das2-32.toml"`.
    #[serde(rename = "use")]
    pub site_file: Option<String>,
    /// The local scheduling algorithm (`gridemu policies` lists them). Default: easy.
    #[serde(default)]
    #[schemars(schema_with = "crate::experiment::scenario::schema::local_policy")]
    pub policy: Option<Named>,
    /// Its machines, class by class; a job runs on machines of one class.
    pub machines: Option<Vec<MachineKeys>>,
    /// Power usage effectiveness: energy of the facility over that of its machines, 1 to 10. Default: 1.
    pub pue: Option<f64>,
    /// Factors on the prices of its machines by the hour of the day, such as `"22-6=0.5,17-20=1.8"`; hours that are not named have
    /// the factor 1. Default: flat.
    pub price_by_hour: Option<HoursKey>,
    /// What its electricity costs: `"0.25/kWh"`. Default: `"none"`, nobody asks.
    pub electricity: Option<ElectricityKey>,
    /// Factors on the price of electricity by the hour of the day. Default: flat.
    pub electricity_by_hour: Option<HoursKey>,
    /// The time of day at the site when the run begins, less than 24 h: for logs that do not begin at midnight, and for sites in
    /// other time zones. Default: 0 s.
    pub starts_at: Option<Written<Span>>,
    /// What happens first at one instant: `"instant"`, one scheduling pass an instant; `"event"`, one an event with arrivals before
    /// ends. Default: instant.
    #[serde(default)]
    #[schemars(schema_with = "crate::experiment::scenario::schema::order")]
    pub order: Option<InstantOrder>,
    /// Whether jobs may run beyond their estimate, instead of being killed there. Default: false.
    pub overrun: Option<bool>,
    /// What the site's own users submit: a table like `{ lublin = { jobs = 2000, load = 0.5 } }`, its short form
    /// `"lublin[jobs=2000,load=0.5]"`, the path of a log, or `"none"`. Default: none.
    pub workload: Option<Or<WorkloadText, WorkloadKeys>>,
    /// How its machines come and go, or `"none"`. What is not said is that of the scenario's `churn`.
    pub churn: Option<Or<NoChurn, ChurnKeys>>,
    /// Blocks of processors that are kept from the queue.
    pub reservation: Option<Vec<ReservationKeys>>,
}

/// How machines come and go, and what becomes of their jobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table of churn")]
pub struct ChurnKeys {
    /// How long a machine stays, by chance: `"exponential[mean=45 h]"`, `"weibull[shape=0.7,mean=45 h]"` or
    /// `"lognormal[median=1 h,sigma=1.6]"`. With `down`; without both, machines leave only by events.
    pub up: Option<Dist>,
    /// How long it stays away.
    pub down: Option<Dist>,
    /// What becomes of a job whose machine leaves: `"requeue"`, at the end of its site's queue; `"give-back"`, to the broker;
    /// `"wait"`, until the machine is back; `"fail"`. Default: requeue.
    #[serde(default)]
    #[schemars(schema_with = "crate::experiment::scenario::schema::fate")]
    pub running: Option<Fate>,
    /// Whether jobs of the grid that wait at the site go back to the broker when the whole site leaves. Default: false.
    pub return_queued: Option<bool>,
    /// A job that loses its machine in its attempt of this number fails instead of being requeued. Default: 100.
    pub attempts: Option<u32>,
    /// When running jobs write checkpoints, from which they go on elsewhere or later: `"none"`, `"young"`, `"daly"` (the best
    /// intervals by Young 1974 and by Daly 2006), or an interval of progress, such as `"30 min"`. Default: none.
    pub checkpoint: Option<Checkpoint>,
    /// What writing a checkpoint takes a job. Default: 60 s.
    pub checkpoint_cost: Option<Written<Span>>,
}
