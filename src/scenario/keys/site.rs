//! A site.

use crate::model::{DayRates, InstantOrder, JobMemory, MemoryOf, Named, OnLeave, PlacementRule};
use crate::scenario::keys::{ChurnKeys, MachineKeys, OwnWorkload, PerKwhKey, ReservationKeys};
use crate::scenario::kind::forms::PowerCapKey;
use crate::scenario::kind::key::keys;
use crate::scenario::kind::named::{LocalPolicy, PowerPolicy};
use crate::scenario::kind::priced::Priced;
use crate::scenario::kind::words::{Nothing, Or, Unlimited};
use crate::units::{Bandwidth, Bytes, CarbonIntensity, EnergyPrice, Price, Span};

keys! {
    /// A site: its machines, its local policy, its own users. A site file has the same keys.
    SiteKeys, "a table of a site" {
        /// Its name, unique in the grid: letters, digits, `-` and `_`; not `portal` or `grid`.
        name: Option<String> => "that of the site file";
        /// Names of several equal sites, instead of `name`.
        names: Option<Vec<String>>;
        /// Number of equal sites, called `name-1`, `name-2`, ... At most 20,000 sites in all.
        count: Option<u32>;
        /// A site file with the keys that this site does not set itself: a path relative to this file, or a file of [the
        /// catalogue](#site-files), such as `"sites/das2-32.toml"`.
        site_file as "use": Option<String>;
        /// The [local policy](policies.md); each partition has its own instance.
        policy: LocalPolicy = LocalPolicy(Named::bare("easy"));
        /// The [power policy](energy.md#power-policies): which of its machines sleep, and when.
        power_policy: PowerPolicy = PowerPolicy(Named::bare("always-on"));
        /// The most that its machines may draw, without PUE: a power, `"12 kW"`, or a part of what they draw at most, `"60 %"`. No job starts
        /// that [would exceed it](energy.md#power-cap).
        power_cap: Option<PowerCapKey> => "none";
        /// Its machines, class by class; a job runs inside one partition, which is a class, or several that name the same `partition`.
        machines: Option<Vec<MachineKeys>>;
        /// Power usage effectiveness: energy of the facility over that of its machines, 1 to 10.
        pue: f64 = 1.0;
        /// Factors on the prices of its machines by the hour of the day, such as `"22-6=0.5,17-20=1.8"`; 1 at all other hours.
        price_by_hour: DayRates = DayRates::FLAT;
        /// Price of its electricity: `"0.25/kWh"`, `"0.25 EUR/kWh"`, also below 0, or [over time](energy.md), `{ trace = "prices.csv", unit = "EUR/MWh" }`.
        electricity: Or<Nothing, PerKwhKey<EnergyPrice>> = Or::Word(Nothing);
        /// Factors on a flat price of electricity by the hour of the day.
        electricity_by_hour: DayRates = DayRates::FLAT;
        /// Carbon intensity of its electricity: `"300 g/kWh"`, or [over time](energy.md), `{ trace = "NL_2021-2024.csv.gz" }`.
        carbon: Option<Or<Nothing, PerKwhKey<CarbonIntensity>>> => "none";
        /// Factors on a flat carbon intensity by the hour of the day.
        carbon_by_hour: Option<DayRates> => "flat";
        /// Time of day at the site when the run begins, below 24 h (time zones, logs that do not begin at midnight).
        starts_at: Span = Span::ZERO;
        /// Time zone of the site instead, with a `calendar`: `"+01:00"`, or a place such as `"Europe/Amsterdam"`, whose time when the run begins
        /// holds for the whole run.
        zone: Option<String> => "UTC, with a `calendar`";
        /// Order within an instant: one scheduling pass per instant (`"instant"`), or one per event with arrivals before ends.
        order: InstantOrder = InstantOrder::Instant;
        /// Which free processors a job gets where [a partition has several classes](grid.md#machines-of-several-classes): those with the lowest
        /// numbers (`"lowest"`), or those of the fastest class first (`"fastest"`), of the one with the lowest price (`"cheapest"`), or with the
        /// lowest busy power over speed (`"least-power"`).
        placement: Option<PlacementRule> => "\"lowest\"";
        /// Whether jobs may run beyond their estimate; otherwise they are killed there.
        overrun: bool = false;
        /// Jobs of its local users, see [workloads](#workloads): a table such as `{ lublin = { jobs = 2000, load = 0.5 } }`, its
        /// short form `"lublin[jobs=2000,load=0.5]"`, the path of a log, or `"none"`.
        workload: OwnWorkload = OwnWorkload(None);
        /// Machine availability, see [churn](#churn). Keys that are not given are those of the scenario's `churn`.
        churn: Or<Nothing, ChurnKeys> => "the scenario's";
        /// Where its files of [workflows](workflows.md#enactment) lie, such as `{ bandwidth = "10 Gbit/s", capacity = "5 TB" }`.
        storage: Option<StorageKeys> => "without limits";
        /// What it costs to suspend and to resume jobs, see [preemption](preemption.md): `[site.preemption]`. Without it both happen at once.
        preemption: Option<PreemptionKeys> => "none";
        /// Processors that are kept from the queue for a time: `[[site.reservation]]`.
        reservation: Option<Vec<ReservationKeys>> => "none";
        /// The part of the processors of each partition that the grid [may reserve](co-allocation.md) at once, from 0 to 1.
        reservable: f64 = 1.0;
        /// What the site charges for a reserved core-hour, beside its use: `"0.05/core-h"`.
        reservation_price: Option<Priced<Price>> => "nothing";
    }
}

keys! {
    /// What it costs to suspend, resume and resize jobs, under a policy that does so.
    PreemptionKeys, "a table of costs of preemption" {
        /// The memory of a job, which it writes when it is suspended: `"512 MB"`; drawn for each job, `"100 MB..1 GB"`; or as its log or workflow states it, `"log"`, or
        /// `"log, else 512 MB"` for jobs of which nothing is stated.
        memory: Option<JobMemory> => "none";
        /// Of what that is the memory: of each `"processor"` of the job, or of the `"job"`, evenly on its processors. What a log or a workflow states says so itself.
        memory_of: MemoryOf = MemoryOf::Processor;
        /// Bandwidth at which each processor writes, such as `"2 MB/s"`; without it writing takes no time.
        write: Option<Bandwidth> => "none";
        /// Bandwidth at which each processor reads its memory when the job is resumed; without it reading takes no time.
        read: Option<Bandwidth> => "none";
        /// Bandwidth of a machine, which the processors that a job has there share.
        node: Option<Bandwidth> => "unlimited";
        /// What becomes of a suspended job one of whose machines goes down: it keeps what it has written (`"wait"`), or loses what it has done, like an attempt that
        /// fails (`"lose"`).
        on_leave: OnLeave = OnLeave::Wait;
        /// How long a malleable job does no work when its processors change, under a policy that resizes jobs.
        resize: Span = Span::ZERO;
        /// How much longer for each processor that it gains or loses.
        resize_per_processor: Span = Span::ZERO;
    }
}

keys! {
    /// The storage of a site.
    StorageKeys, "a table of a storage" {
        /// What all that read files there and write them share, when files are copied from and to the site.
        bandwidth: Or<Unlimited, Bandwidth> = Or::Word(Unlimited);
        /// The space for files. A copy begins when there is space for it; what tasks write is stored in any case. A task goes to no site
        /// whose capacity is less than all that it reads and writes; if there is no other, the run is refused.
        capacity: Or<Unlimited, Bytes> = Or::Word(Unlimited);
    }
}
