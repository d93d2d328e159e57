//! Machines of a site, and reservations of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::forms::PowerKey;
use super::words::Absent;
use crate::experiment::scenario::quantity::Written;
use crate::units::{Price, Span};

/// Machines of one class: a partition of the site. They are numbered from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table of machines")]
pub struct MachineKeys {
    /// What they are called, unique in the site: letters, digits, `-` and `_`.
    pub class: String,
    /// How many. Default: 1.
    pub count: Option<u32>,
    /// Processors (cores) of each. Default: 1.
    pub cores: Option<u32>,
    /// MIPS of a core; its speed is this over `reference_mips`. Default: see `speed`.
    pub mips: Option<f64>,
    /// Speed of a core, instead of `mips`: a job of a minute takes 30 s at speed 2. Default: 1.
    pub speed: Option<f64>,
    /// Power of an idle machine, all cores together: `"40 W"`; or of a core, `"10 W/core"`. Default: 0 W.
    pub idle: Option<PowerKey>,
    /// Power of a machine with all cores busy, or of a busy core. Default: that of an idle one.
    pub busy: Option<PowerKey>,
    /// What a core costs: `"0.18/core-h"`. Default: 0/core-h.
    pub price: Option<Written<Price>>,
    /// How many of them, the last ones, are not there at the beginning: a number, or `"all"`. An event lets them join. Default: 0.
    pub absent: Option<Absent>,
    /// Processors are given in blocks of this many. Default: 1.
    pub quantum: Option<u32>,
}

/// A block of processors that is kept from the queue for a while.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table of a reservation")]
pub struct ReservationKeys {
    /// What it is called. Default: `reservation-1`, `reservation-2`, ...
    pub name: Option<String>,
    /// Of which class of machines. Default: the first.
    pub class: Option<String>,
    /// How many processors.
    pub procs: u32,
    /// First instant.
    pub from: Written<Span>,
    /// First instant after it.
    pub to: Written<Span>,
}
