//! The keys of a scenario: for each its name, kind of values, default and description.

mod churn;
mod energy;
mod fault;
mod site;
mod workflow;
mod workload;

#[cfg(test)]
mod tests;

pub(super) use churn::ChurnKeys;
pub(super) use energy::{Flat, PerKwhKey, SeriesKeys};
pub(super) use fault::FaultKeys;
pub(super) use site::{PreemptionKeys, SiteKeys};
pub(super) use workflow::WorkflowKeys;
pub(super) use workload::{CoallocateKeys, MalleableKey, OwnWorkload, WorkloadKeys};

use super::checkpoint::CheckpointPlan;
use super::expectation::Expectation;
use super::kind::forms::PowerKey;
use super::kind::key::keys;
use super::kind::named::BrokerPolicy;
use super::kind::priced::Priced;
use super::kind::words::{All, Any, Done, Engine, Nothing, Or, Unlimited, Virtual};
use crate::broker::outside::NAME as OUTSIDE;
use crate::metrics::{Definitions, Penalty};
use crate::model::{
    CoallocationGoal, CoallocationSpec, Holding, Information, JobClasses, Named, Payer, Replan, RunTimes,
    Sharing,
};
use crate::store::EngineKind;
use crate::units::{Bandwidth, Bytes, CarbonIntensity, DataEnergy, DataPrice, Power, Price, Span, Timestamp};

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
        /// [Job classes](output.md#classes) of the summary, by run time, size and estimate: a preset such as
        /// `"kettimuthu-16"`, or own cuts such as `"cuts[run=10 min/1 h,size=1/8]"`. Shares of the machine refer to the largest class of machines.
        classes: JobClasses = JobClasses::none();
        /// What missed [deadlines](grid.md#deadlines-and-budgets) count: `{ scale = "1 h", most = 1000 }`.
        penalty: Option<PenaltyKeys> => "`scale = \"1 h\"`, `most = 1000`";
        /// Latest end of the run, such as `"30 d"`; remaining jobs are unfinished. `"done"`: when
        /// [no job is left](grid.md#when-a-run-is-over).
        until: Or<Done, Span> = Or::Word(Done);
        /// Earliest end of the run, such as `"10 d"`, rounded up to a minute: runs that are compared then account for the energy of
        /// [the same stretch of time](energy.md#one-common-horizon), whenever their last job ends.
        at_least: Option<Span> => "none";
        /// Date and time at which the run begins, with its zone: `"2023-01-02T00:00Z"`. [Traces](energy.md) of prices and carbon need it, and zones of sites.
        calendar: Option<Timestamp> => "none";
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
        /// How the workflows of the portal are enacted, see [workflow](#workflow).
        workflow: WorkflowKeys;
        /// Scripted events, see [events](#events).
        event: Option<Vec<EventKeys>> => "none";
        /// Faults of what the sites and the broker say to each other, see [faults](#faults).
        fault: Option<Vec<FaultKeys>> => "none";
        /// Records of applications that their owners have registered in the directory, see [applications](directory.md#applications).
        application: Option<Vec<ApplicationKeys>> => "none";
        /// What a broker must survive here, for `gridemu drill`, see [drill](#drill). It changes no run.
        drill: Option<DrillKeys> => "none";
    }
}

keys! {
    /// What has happened to a broker in reality, and what must hold if it happens to this one.
    DrillKeys, "a table of a drill" {
        /// What happened to whom, in a sentence.
        about: String;
        /// What must hold, such as `"completed == submitted"`, see [drills](drills.md#what-a-drill-expects).
        expect: Vec<Expectation>;
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
    /// What a missed deadline counts.
    PenaltyKeys, "`{ scale = \"1 h\", most = 1000 }`" {
        /// A job that is late by x counts exp(x / `scale`) − 1.
        scale: Span = Penalty::DEFAULT.scale;
        /// The most that a job counts; one that does not complete counts this.
        most: u64 = Penalty::DEFAULT.most;
    }
}

keys! {
    /// A clock that follows the wall clock.
    ClockKeys, "`{ pace = 60 }`" {
        /// Virtual seconds per second of the wall clock: 60 for a minute per second. Needs actors.
        pace: f64;
    }
}

keys! {
    /// Machines of one class: a partition of the site, or a part of one. They are numbered from 0.
    MachineKeys, "a table of machines" {
        /// Name, unique in the site: letters, digits, `-` and `_`.
        class: String;
        /// The [partition](grid.md#machines-of-several-classes) that they are in: classes that name the same one form it together.
        partition: Option<String> => "one of their own, called like the class";
        /// Number of machines.
        count: u32 = 1;
        /// Processors (cores) per machine.
        cores: u32 = 1;
        /// MIPS of a core; its speed is this over `reference_mips`.
        mips: Option<f64>;
        /// Speed of a core, instead of `mips`: a job of a minute takes 30 s at speed 2.
        speed: Option<f64> = mips.is_none().then_some(1.0) => "1";
        /// Power of an idle machine, all cores together: `"40 W"`; or of a core, `"10 W/core"`. Power is stored in whole milliwatts per core.
        idle: PowerKey = PowerKey::Machine(Power::ZERO);
        /// Power of a machine with all cores busy, or of a busy core.
        busy: PowerKey = idle => "that of `idle`";
        /// What users pay for a core: `"0.18/core-h"`, or with its currency `"0.18 EUR/core-h"`.
        price: Priced<Price> = Priced::default();
        /// Number of machines (the last ones) that are not there at the beginning; they can join by an event.
        absent: Or<All, u32> = Or::Value(0);
        /// Power of a machine by its load instead of `idle` and `busy`, at equal steps from no core busy to all: such as the eleven figures of a [SPECpower](energy.md#power-by-load) result, `["86 W", "89.4 W", ...]`.
        load_power: Option<Vec<Power>> => "linear";
        /// Power of each gigabyte (10⁹ bytes) of `memory`, which a machine draws beside its cores whenever it is up: `"0.35 W"`.
        memory_power: Option<Power> => "0 W";
        /// Lower [levels](energy.md#levels) of its processors, from high to low, under a power policy that chooses one: `[{ frequency = 0.8, busy = "170 W" }, { frequency = 0.6 }]`.
        levels: Option<Vec<LevelKeys>> => "none";
        /// Share of the work whose time scales with the frequency, from 0 to 1.
        frequency_share: Option<f64> => "1";
        /// Carbon that the making of a machine has caused, and its lifetime: `{ kg = 1300, years = 4 }`.
        embodied: Option<EmbodiedKeys> => "not stated";
        /// The state in which its machines can sleep, under a [power policy](energy.md#power-policies): `{ power = "9 W", wake = "150 s" }`.
        sleep: Option<SleepKeys> => "none";
        /// Nodes of the `trace` of the site's `churn` that its machines follow, such as `"G1/site1/c1/*"`, see [churn](#churn).
        nodes: Option<String> => "those of `churn`";
        /// Memory of a machine: a task of a workflow that needs more [does not run on it](workflows.md#memory-and-tags). Without it tasks of any memory do.
        memory: Option<Bytes> => "not stated";
        /// What its machines are fit for, in words of your own such as `["gpu", "ssd"]`: a task that [requires a tag](workflows.md#memory-and-tags)
        /// runs on machines that have it.
        tags: Option<Vec<String>> => "none";
        /// Processors are allocated in multiples of this number.
        allocation_unit: u32 = 1, was "quantum";
    }
}

impl MachineKeys {
    /// The name of their partition.
    pub(crate) fn partition(&self) -> &str {
        self.partition.as_deref().unwrap_or(&self.class)
    }
}

keys! {
    /// The sleep state of a class of machines.
    SleepKeys, "a table of a sleep state" {
        /// Power of a machine that sleeps.
        power: Power;
        /// How long it takes to wake up.
        wake: Span;
        /// Power while it wakes up.
        waking: Option<Power> => "that of a busy machine";
        /// How long it takes to go to sleep; once begun, this is carried through.
        fall: Span = Span::ZERO;
        /// Power while it goes to sleep.
        falling: Option<Power> => "that of an idle machine";
    }
}

keys! {
    /// A level of a class of machines.
    LevelKeys, "a table of a level" {
        /// Frequency over that of full speed, below 1.
        frequency: f64;
        /// Power of a machine with all cores busy at this level, or of a busy core.
        busy: Option<PowerKey> => "beyond that of `idle` as the cube of the frequency";
    }
}

keys! {
    /// What the making of a machine has caused.
    EmbodiedKeys, "`{ kg = 1300, years = 4 }`" {
        /// Carbon of a machine, in kilograms of CO₂ equivalent.
        kg: f64;
        /// Years of 365 days over which it is written off.
        years: f64;
    }
}

keys! {
    /// A block of processors that is kept from the queue for a while.
    ReservationKeys, "a table of a reservation" {
        /// Name.
        name: Option<String> => "`reservation-1`, `reservation-2`, ...";
        /// Class of machines, or partition of several.
        class: Option<String> => "the first";
        /// Number of processors.
        procs: u32;
        /// First instant.
        from: Span;
        /// First instant after it.
        to: Span;
        /// The number of the job that they are kept for, in the site's own workload. It does not queue: it starts on them, and gives up what is left when it ends.
        job: Option<u64> => "nobody";
    }
}

keys! {
    /// What connects the portal and the sites.
    NetworkKeys, "a table of the network" {
        /// Time of a message between any two places (sites or the portal). If there are links and this is not given, only
        /// places with a link are connected.
        latency: Option<Span> = link.iter().flatten().all(Vec::is_empty).then_some(Span::ZERO)
            => "0 s; none if there are links";
        /// Shared by the transfers between two places.
        bandwidth: Or<Unlimited, Bandwidth> = Or::Word(Unlimited);
        /// Whether transfers share the bandwidth of a link fairly, or each has all of it, as textbooks assume.
        links: Sharing = Sharing::Shared;
        /// What all transfers out of a site share, wherever they go; those into it share as much. The portal has no such limit unless
        /// `place` gives it one.
        uplink: Or<Unlimited, Bandwidth> = Or::Word(Unlimited);
        /// Energy that it draws for data which goes from one place to another, such as `"5 J/GB"`: a line of the [ledger](output.md#ledger).
        energy: Option<DataEnergy> => "0 J/GB";
        /// Price of such data, such as `"0.09/GB"` or `"0.09 EUR/GB"`: a line of the ledger, which no job is charged.
        price: Option<Priced<DataPrice>> => "none";
        /// Carbon intensity of this energy, at any time.
        carbon: Option<CarbonIntensity> => "unknown";
        /// A pair of places with other values.
        link: Option<Vec<LinkKeys>> = None => "none";
        /// A place with another uplink.
        place: Option<Vec<PlaceKeys>> = None => "none";
    }
}

keys! {
    /// A site, or the portal, in the network.
    PlaceKeys, "a table of a place" {
        /// Name of a site, or `"portal"`.
        name: String;
        /// What all transfers out of it share; those into it share as much.
        uplink: Or<Unlimited, Bandwidth>;
    }
}

keys! {
    /// A connection of two places.
    LinkKeys, "a table of a link" {
        /// The two places: names of sites, or `"portal"`.
        between: Vec<String>;
        /// Time of a message.
        latency: Option<Span> => "that of the network";
        /// Shared by the transfers.
        bandwidth: Or<Unlimited, Bandwidth> = Or::Word(Unlimited) => "that of the network";
    }
}

keys! {
    /// The broker and its dispatcher.
    BrokerKeys, "a table of the broker" {
        /// The [broker policy](brokers.md).
        policy: BrokerPolicy = BrokerPolicy(Named::bare(match &command {
            Some(Some(_)) => OUTSIDE,
            _ => "mct",
        })) => "`mct`; `outside` with a `command`";
        /// A [program](outside.md) in the place of a policy, with its arguments: `["python3", "mct.py"]`; also `--broker`.
        command: Option<Vec<String>> => "none";
        /// Folder in which the program runs.
        folder: Option<String> => "that of the scenario file";
        /// How long the program may take for an answer, by the wall clock.
        timeout: Option<Span> => "60 s";
        /// The policy that takes the place of the program for the rest of the run if it does not answer as it must.
        fallback: Option<BrokerPolicy> => "none: the run ends";
        /// How often sites report, and so how old the broker's information may be; 0 s: at every change.
        monitoring_interval: Span = Span::from_secs(60), was "picture";
        /// Whether the broker adds its own assignments to a grid view that does not show them yet.
        count_in_flight: bool = true;
        /// What the broker [believes of pools](directory.md): what their sites `reported`, or what is `forecast` from reports, waits and transfers that were measured.
        information: Information = Information::Reported;
        /// How long a measured wait counts for a forecast; where the last one is older, the report answers. Above 0.
        forecast_within: Option<Span> => "1 d";
        /// By what the broker plans how long jobs run: by their `estimates`, or by the records of their `applications` as far as these are disclosed to their users.
        run_times: RunTimes = RunTimes::Estimates;
        /// When the broker recalls jobs that do not run yet, and plans them anew.
        replan: Replan = Replan::OnChurn;
        /// Whether replanning recalls jobs that wait at sites too, or only those that the dispatcher holds back.
        recall_queued: bool = true;
        /// How often a job may return before it is given up.
        retries: u32 = 10;
        /// How long a returned job waits before it is planned again, above 0; doubled with each return, up to 64-fold.
        backoff: Span = Span::from_secs(10);
        /// Maximum number of grid jobs at a site, waiting or running.
        in_flight: Or<Any, u32> = Or::Word(Any);
        /// Time of one dispatch; jobs are dispatched one after the other.
        overhead: Span = Span::ZERO;
        /// [Time of a plan](brokers.md#planning-that-takes-time), such as `{ base = "1 s", per_task = "10 ms" }`. One plan is made after the other.
        planning: Option<PlanningKeys> => "none";
        /// Who pays for attempts that failed with a machine.
        failed_attempts: Payer = Payer::User, was "lost_attempts";
        /// How long no report of a site may come until [it is taken as lost](churn.md#faults): nothing more is planned for it until one comes.
        heartbeat_timeout: Option<Span> => "never";
        /// How long no report of a site may come until its assignments are over, at the site and at the dispatcher: their jobs return to the
        /// broker. At least `heartbeat_timeout`.
        lease: Option<Span> => "40 min, or `heartbeat_timeout` if that is longer";
        /// How it [reserves processors at several sites](co-allocation.md), for workloads with `coallocate`.
        coallocation: Option<CoallocationKeys> => "as below";
    }
}

keys! {
    /// How processors at several sites are reserved.
    CoallocationKeys, "`{ start = \"earliest\", alternatives = 3 }`" {
        /// Which of the starts that all sites offer is taken: the `"earliest"`, the `"cheapest"` (by what the sites charge for reserving), or the `"gentlest"`, which takes
        /// the least processor time from jobs that wait at the sites.
        start: CoallocationGoal = CoallocationGoal::Earliest;
        /// When its processors are held: `"ahead"`, as soon as it is chosen; or `"at-start"`, when it has come. Until then others may take them, and another start is chosen.
        hold: Holding = Holding::Ahead;
        /// Intervals of possible starts that each site offers.
        alternatives: u32 = CoallocationSpec::default().alternatives;
        /// How long a site holds what it is asked for, and keeps what is committed for a job that has not come.
        lease: Span = CoallocationSpec::default().lease;
        /// How long an answer is waited for before the site is asked again.
        patience: Span = CoallocationSpec::default().patience;
        /// Starts that are tried, one after the other, before the job is rejected.
        tries: u32 = CoallocationSpec::default().tries;
    }
}

keys! {
    /// A record of an application: of the jobs of one user that run one executable, by the numbers of their workload.
    ApplicationKeys, "a table of an application" {
        /// User number of its owner.
        owner: u32;
        /// Executable number.
        executable: u32;
        /// Run time at speed 1, on the preferred size, until one is measured.
        run_time: Option<Span> => "unknown";
        /// User numbers of those to whom the owner has given the key: the record is disclosed to them, too.
        key_holders: Vec<u32> = Vec::new() => "none";
    }
}

keys! {
    /// What a plan takes that decides about a task or more.
    PlanningKeys, "`{ base = \"1 s\", per_task = \"10 ms\" }`" {
        /// Time of each plan.
        base: Span = Span::ZERO;
        /// Time of each task that a plan decides about.
        per_task: Span = Span::ZERO;
    }
}

keys! {
    /// Something that happens at a given time: one of `leave`, `join` and `slow`, to a job one of `cancel`, `extend` and `reduce`, or to a
    /// reservation one of `reserve` and `release`.
    EventKeys, "a table of an event" {
        /// Time of the event.
        at: Span;
        /// What leaves: a site (`"delft"`), a class of its machines (`"delft/i7"`), or some of them by number (`"delft/i7/0-15"`,
        /// `"delft/i7/0-3,8"`, or `"delft/0-15"` where all machines are of one class).
        leave: Option<String>;
        /// How long before that it [drains](churn.md#drain), for `leave`: it gets no new job, and what runs there goes on.
        notice: Option<Span> => "none";
        /// What comes back, or joins for the first time (`absent`); written as in `leave`.
        join: Option<String>;
        /// Machines that continue at a fraction of their speed; written as in `leave`, but not a whole site.
        slow: Option<String>;
        /// The fraction, from 0.001 to 1, for `slow`; 1 is full speed.
        factor: Option<f64>;
        /// The site at which a job ends as `cancelled`, whether it waits or runs; with `job`.
        cancel: Option<String>;
        /// The site at which a job gets more time or processors by an [elastic command](policies.md#elastic-commands); with `job`,
        /// and `time` or `procs`.
        extend: Option<String>;
        /// The site at which a job gets less; written like `extend`.
        reduce: Option<String>;
        /// The site at which processors are [reserved](#reservations-by-events) if there is room for them, or its class of machines; with `procs` and
        /// `length`.
        reserve: Option<String>;
        /// The site at which a reservation is given up; with `name`.
        release: Option<String>;
        /// The number of the job, as in `jobs.csv`. If a grid job and a local job have that number, the one submitted first is meant. For `reserve`, the
        /// job of the site's own workload that the processors are kept for; it must not have come yet.
        job: Option<u64>;
        /// Change of its time, at speed 1.
        time: Option<Span>;
        /// Change of its processors, if it is [malleable](workloads.md#malleable-jobs); for `reserve`, their number.
        procs: Option<u32>;
        /// Name of the reservation. For `reserve`, `event-1`, `event-2`, ... by its place among the events if it is not given.
        name: Option<String>;
        /// How long the reservation is.
        length: Option<Span>;
        /// The reservation begins no earlier; the time of the event, if it is not given.
        from: Option<Span>;
        /// The reservation is over by then: it begins as early from `from` on as there is room for it. Without it, at `from`.
        until: Option<Span>;
    }
}

keys! {
    /// What a run writes.
    OutputKeys, "a table of what is written" {
        /// Folder for the files, relative to the working directory; `--out` overrides it.
        folder: Option<String> => "no files";
        /// Write segments.csv.
        segments: bool = true;
        /// Write machines.csv, the changes of machine state.
        machines: bool = false;
        /// Write fronts.csv, the [fronts](output.md#frontscsv) of a broker that has several objectives.
        fronts: Option<bool> => "true, if the broker's policy keeps fronts";
        /// Write the files of `batsim/`, in [Batsim's columns](output.md#batsim); with `segments`.
        batsim: bool = false;
    }
}

keys! {
    /// Snapshots of a run. They change no result.
    CheckpointKeys, "a table of when snapshots are taken" {
        /// Folder of the snapshots, relative to the working directory; `--checkpoint` overrides it.
        store: Option<String> => "no snapshots";
        /// Interval in wall-clock time; `--checkpoint-every` overrides it.
        every: Or<Nothing, Span> = match (every_virtual, every_events) {
            (None | Some(Or::Word(_)), None | Some(0)) => Or::Value(Span::from_secs(CheckpointPlan::EVERY.as_secs())),
            _ => Or::Word(Nothing),
        } => "30 s; none with one of the next two";
        /// Interval in virtual time.
        every_virtual: Or<Nothing, Span> = Or::Word(Nothing);
        /// Interval in records of the run (jobs, segments and others); 0 for none.
        every_events: u64 = 0;
        /// Number of newest snapshots that are kept.
        last: u32 = 2;
        /// Also keep every n-th snapshot; 0 for none.
        keep_every: u32 = 0;
        /// Take snapshots at these virtual times, above 0, and keep them; also `--checkpoint-keep-at`.
        keep_at: Vec<Span> = Vec::new() => "none";
        /// The database that stores them: `"sled"` or `"redb"`.
        database: String = EngineKind::default().to_string();
    }
}
