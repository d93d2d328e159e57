//! The keys of a scenario: for each its name, kind of values, default and description.

mod broker;
mod churn;
mod event;
mod machines;
mod network;
mod output;
mod site;
mod workload;

#[cfg(test)]
mod tests;

pub(super) use broker::BrokerKeys;
pub(super) use churn::ChurnKeys;
pub(super) use event::EventKeys;
pub(super) use machines::{MachineKeys, ReservationKeys};
pub(super) use network::{LinkKeys, NetworkKeys};
pub(super) use output::{CheckpointKeys, OutputKeys};
pub(super) use site::SiteKeys;
pub(super) use workload::{OwnWorkload, WorkloadKeys};

use super::kind::key::keys;
use super::kind::words::{All, Done, Engine, Or, Virtual};
use crate::metrics::Definitions;
use crate::model::JobClasses;
use crate::units::Span;

keys! {
    /// A scenario: sites, a network, a broker, workloads, and what happens when. All that is left out has a default, which
    /// `gridemu check --show` writes out.
    ScenarioKeys, "a table of the keys of a scenario" {
        /// Name of the run in its output.
        name: Option<String> => "the file's name";
        /// Seed of all random draws. Each entity draws from its own streams, so another policy changes no arrival and no outage.
        seed: u64 = 1;
        /// Which jobs count: all, or those submitted in a window, such as `{ from = "1 d", to = "8 d" }`. Energy, cost and
        /// utilization always cover the whole run.
        measure: Or<All, WindowKeys> = Or::Word(All);
        /// Bound of the bounded slowdown: a run shorter than this counts as this long.
        tau: Span = Definitions::TAU;
        /// [Job classes](output.md#classes) of the summary, by run time and size: a preset such as
        /// `"kettimuthu-16"`, or own cuts such as `"cuts[run=10 min/1 h,size=1/8]"`. Shares of the machine refer to the largest class of machines.
        classes: JobClasses = JobClasses::none();
        /// Latest end of the run, such as `"30 d"`; remaining jobs are unfinished. `"done"`: when
        /// [no job is left](grid.md#when-a-run-is-over).
        until: Or<Done, Span> = Or::Word(Done);
        /// What drives the entities: an actor each, or a plain loop (`"direct"`). The results are the same.
        engine: Engine = Engine::Actors;
        /// `"virtual"`: full speed. `{ pace = 60 }`: so many virtual seconds per second of the wall clock.
        clock: Or<Virtual, ClockKeys> = Or::Word(Virtual);
        /// MIPS of a processor of speed 1, to which the run times of workloads refer. Give the MIPS of the machines that a log
        /// is from.
        reference_mips: f64 = 10_000.0;
        /// What the run writes, see [output](#output).
        output: OutputKeys;
        /// Snapshots of the run, for resuming and forking it, see [checkpoint](#checkpoint).
        checkpoint: Option<CheckpointKeys> => "none";
        /// Links between the portal and the sites, see [network](#network).
        network: NetworkKeys => "no delay";
        /// The broker, see [broker](#broker). Without it, sites have only their local users.
        broker: Option<BrokerKeys> => "none";
        /// Machine availability of every site without its own `churn`, see [churn](#churn).
        churn: Option<ChurnKeys> => "none";
        /// The sites, at least one, see [sites](#sites).
        site: Option<Vec<SiteKeys>>;
        /// Jobs submitted through the portal, see [workloads](#workloads).
        workload: Option<Vec<WorkloadKeys>> => "none";
        /// Scripted events, see [events](#events).
        event: Option<Vec<EventKeys>> => "none";
    }
}

keys! {
    /// A window of virtual time.
    WindowKeys, "`{ from = \"1 d\", to = \"8 d\" }`" {
        /// First instant of the window.
        from: Span;
        /// First instant after it.
        to: Span;
    }
}

keys! {
    /// A clock that follows the wall clock.
    ClockKeys, "`{ pace = 60 }`" {
        /// Virtual seconds per second of the wall clock: 60 for a minute per second. Needs actors.
        pace: f64;
    }
}
