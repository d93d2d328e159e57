//! Resolves workloads: logs, generators and offered load.

use std::ops::Range;
use std::path::{Path as FilePath, PathBuf};

use super::Checker;
use crate::model::{AtLimit, BrokerSpec, DayRates, MachineGroup, Named, NamedError, PartitionSpec, SiteSpec};
use crate::scenario::archive;
use crate::scenario::defaults::STDIN;
use crate::scenario::keys::{MalleableKey, OwnWorkload, WorkloadKeys};
use crate::scenario::kind::named::Params;
use crate::scenario::resolved::PlannedWorkload;
use crate::scenario::tree::Path;
use crate::scenario::workload::{EstimateSource, Shaping, Workload};
use crate::units::Price;
use crate::workflow;
use crate::workload::MalleableSpec;
use crate::workload::cwf::CwfSpec;
use crate::workload::huang::HuangSpec;
use crate::workload::lublin::LublinSpec;
use crate::workload::poisson::PoissonSpec;
use crate::workload::tsafrir::TsafrirSpec;
use crate::workload::{BudgetRule, LimitRules, Spec};

/// The processors on which jobs of a workload may run.
#[derive(Copy, Clone, Debug)]
struct Room {
    /// Of the largest class of machines that is present at the beginning, or of the largest one if none is.
    largest: u32,
    /// Of the largest class that can ever be present.
    ever: u32,
    /// Processors × speed of all machines present at the beginning.
    capacity: f64,
    /// The speed of the fastest machines, present or not.
    fastest: f64,
    /// What work of an hour of a core of speed 1 costs at least, in 10⁻⁹: on the cheapest machines for what they do, at the cheapest hour.
    cheapest: f64,
    /// The highest price of machines, in 10⁻⁹.
    dearest: f64,
}

impl Room {
    fn of(sites: &[SiteSpec]) -> Self {
        let partitions = sites.iter().flat_map(|site| &site.partitions);
        let present = partitions.clone().filter(|partition| partition.absent < partition.machines());
        let ever = partitions.clone().map(PartitionSpec::usable).max().unwrap_or(0);
        let power = |partition: &PartitionSpec| {
            let present = partition.machines() - partition.absent;
            let of_group = |(machines, group): (Range<u32>, &MachineGroup)| {
                let there = machines.end.min(present).saturating_sub(machines.start);
                f64::from(there) * f64::from(partition.cores) * group.speed.as_f64()
            };
            partition.numbered().map(of_group).sum::<f64>()
        };
        Self {
            largest: present.map(PartitionSpec::usable).max().unwrap_or(ever).max(1),
            ever: ever.max(1),
            capacity: partitions.clone().map(power).sum(),
            fastest: partitions
                .clone()
                .flat_map(|partition| &partition.groups)
                .map(|group| group.speed.as_f64())
                .fold(0.0, f64::max),
            dearest: partitions
                .clone()
                .flat_map(|partition| &partition.groups)
                .map(|group| group.price.nanos() as f64)
                .fold(0.0, f64::max),
            cheapest: sites.iter().map(cheapest).fold(f64::INFINITY, f64::min),
        }
    }
}

/// What work of an hour of a core of speed 1 costs at least at a site, in 10⁻⁹.
fn cheapest(site: &SiteSpec) -> f64 {
    let factors = site.tariff.price_by_hour.unwrap_or(DayRates::FLAT);
    let factor = factors.thousandths().min().unwrap_or(DayRates::ONE) as f64 / DayRates::ONE as f64;
    let groups = site.partitions.iter().flat_map(|part| &part.groups);
    let costs = groups.map(|group| group.price.nanos() as f64 / group.speed.as_f64() * factor);
    costs.fold(f64::INFINITY, f64::min)
}

impl Checker<'_> {
    /// The workload of a site's local users.
    pub(super) fn own_workload(
        &mut self,
        path: &Path,
        OwnWorkload(keys): &OwnWorkload,
        spec: &SiteSpec,
        seed: u64,
    ) -> Option<PlannedWorkload> {
        let keys = keys.as_ref()?;
        if keys.workflow.is_some() {
            let message = "only the portal submits workflows; write it in a `[[workload]]`";
            return self.refuse(&path.key("workflow"), message);
        }
        if keys.coallocate.is_some() {
            let message = "only jobs from the portal run at several sites; write it in a `[[workload]]`";
            self.wrong(&path.key("coallocate"), message);
        }
        for (key, given) in [("input", keys.input.is_some()), ("output", keys.output.is_some())] {
            if given {
                let message = "only jobs from the portal have data; the data of local users is at their site";
                self.wrong(&path.key(key), message);
            }
        }
        let who = format!("site `{}`", spec.name);
        let room = Room::of(std::slice::from_ref(spec));
        self.within_reach(path, keys, room);
        self.workload(path, keys, &spec.name, &who, room, seed)
    }

    /// The workloads of the portal.
    pub(super) fn portal(
        &mut self,
        written: &[WorkloadKeys],
        sites: &[SiteSpec],
        broker: Option<&BrokerSpec>,
        seed: u64,
    ) -> Vec<PlannedWorkload> {
        let top = Path::default().key("workload");
        if broker.is_none() && !written.is_empty() {
            let message = "a workload of the portal needs a `[broker]`; the workload of a site belongs into its `[[site]]`";
            self.wrong(&top.item(0), message);
        }
        for (at, keys) in written.iter().enumerate() {
            self.parts(&top.item(at), keys, sites);
        }
        let room = Room::of(sites);
        let believed = broker.and_then(|broker| workflow::Estimates::wanted(&broker.workflow));
        let mut planned = Vec::new();
        for (at, keys) in written.iter().enumerate() {
            let entity = if at == 0 { "portal".to_owned() } else { format!("portal/{}", at + 1) };
            let path = top.item(at);
            self.within_reach(&path, keys, room);
            planned.extend(match &keys.workflow {
                Some(written) => self.workflows(&path, keys, written, entity, believed, seed),
                None => self.workload(&path, keys, &entity, "the grid", room, seed),
            });
        }
        planned
    }

    fn workload(
        &mut self,
        path: &Path,
        keys: &WorkloadKeys,
        entity: &str,
        who: &str,
        room: Room,
        seed: u64,
    ) -> Option<PlannedWorkload> {
        let of_workflows = [
            ("count", keys.count.is_some()),
            ("every", keys.every.is_some()),
            ("scale_runtime", keys.scale_runtime.is_some()),
            ("scale_data", keys.scale_data.is_some()),
            ("ccr", keys.ccr.is_some()),
            ("group", keys.group.is_some()),
            ("engine_delay", keys.engine_delay.is_some()),
            ("job_overhead", keys.job_overhead.is_some()),
            ("tags", keys.tags.is_some()),
            ("failures", keys.failures.is_some()),
            ("task_attempts", keys.task_attempts.is_some()),
        ];
        for (only, _) in of_workflows.iter().filter(|(_, given)| *given) {
            self.wrong(&path.key(only), format!("`{only}` is for workflows, and there is no `workflow`"));
        }
        let generators = [
            ("lublin", &keys.lublin, Workload::Lublin as fn(Named) -> Workload),
            ("poisson", &keys.poisson, Workload::Poisson),
            ("cwf", &keys.cwf, Workload::Cwf),
            ("huang", &keys.huang, Workload::Huang),
        ];
        let mut given = generators.iter().filter_map(|(key, params, of)| Some((*key, params.as_ref()?, of)));
        let (key, workload) = match (&keys.log, given.next(), given.next()) {
            (Some(log), None, _) => ("log", self.log(&path.key("log"), log)?),
            (None, Some((key, params, of)), None) => (key, of(named(key, params))),
            (None, None, _) => {
                return self.refuse(
                    path,
                    "the workload is empty; give one of `log`, `lublin`, `poisson`, `cwf`, `huang` and `workflow`",
                );
            }
            _ => {
                let message =
                    "`log`, `lublin`, `poisson`, `cwf` and `huang` exclude each other; keep one of them";
                return self.refuse(path, message);
            }
        };
        if workload.generator().is_some() {
            for (only, given) in [
                ("clean", keys.clean.is_some()),
                ("cap", keys.cap.is_some()),
                ("feedback", keys.feedback.is_some()),
            ] {
                if given {
                    self.wrong(&path.key(only), format!("`{only}` works on logs, not on `{key}`"));
                }
            }
        }
        if keys.first == Some(0) {
            self.wrong(&path.key("first"), "`first` must be 1 or more");
        }
        let mut shaping = Shaping {
            clean: keys.clean.unwrap_or_default(),
            cap: keys.cap.unwrap_or(false),
            skip: keys.skip.unwrap_or(0),
            first: keys.first,
            load: None,
            load_factor: keys.load_factor,
            estimates: keys.estimates.clone(),
            feedback: keys.feedback.unwrap_or(false),
            malleable: self.malleable(&path.key("malleable"), keys.malleable.as_ref()),
            procs: Some(room.largest),
            seed,
        };
        let inside = workload.generator().is_some_and(|named| named.params.contains_key("load"));
        if keys.load_factor.is_some() && (keys.load.is_some() || inside) {
            let load = if inside { format!("{key}.load") } else { "load".to_owned() };
            let message = format!("`load_factor` and `{load}` both give the load; remove one");
            return self.refuse(&path.key("load_factor"), message);
        }
        let workload = self.with_load(path, key, keys.load, workload, &mut shaping, room)?;
        let coupled = self.coupled(path, keys);
        // If all jobs are run in parts, each part needs to fit.
        let parts = coupled.filter(|coupled| coupled.share >= 1.0).map_or(1, |coupled| coupled.parts);
        let whole = Room {
            largest: room.largest.saturating_mul(parts),
            ever: room.ever.saturating_mul(parts),
            ..room
        };
        self.generator(&path.key(key), &workload, who, whole)?;
        self.estimates(&path.key("estimates"), &shaping.estimates);
        Some(PlannedWorkload {
            entity: entity.to_owned(),
            workload,
            shaping,
            input: keys.input.unwrap_or_default(),
            output: keys.output.unwrap_or_default(),
            limits: self.limits(path, keys),
            coupled,
        })
    }

    /// The limits of the jobs, or of the workflows.
    pub(super) fn limits(&mut self, path: &Path, keys: &WorkloadKeys) -> Option<LimitRules> {
        let of_cost = matches!(keys.budget, Some(BudgetRule::Costs(_)));
        let reference = keys.reference_price.as_ref().map(|price| price.value);
        let currency = keys.reference_price.as_ref().and_then(|price| price.currency.as_deref());
        self.currency(&path.key("reference_price"), currency, "of a budget");
        match reference {
            None if of_cost => self.wrong(
                &path.key("budget"),
                "a budget of so many times the cost needs a `reference_price`, such as `0.1/core-h`",
            ),
            Some(Price::ZERO) if of_cost => {
                self.wrong(&path.key("reference_price"), "every budget would be 0; give a price above 0");
            }
            _ => {}
        }
        if keys.at_budget == Some(AtLimit::Kill) && keys.workflow.is_some() {
            let message = "a workflow is not ended at its budget; there are `overrun` and `refuse`";
            self.wrong(&path.key("at_budget"), message);
        }
        for (key, idle, missing) in [
            ("reference_price", reference.is_some() && !of_cost, "`budget` of so many times the cost"),
            ("at_deadline", keys.at_deadline.is_some() && keys.deadline.is_none(), "`deadline`"),
            ("at_budget", keys.at_budget.is_some() && keys.budget.is_none(), "`budget`"),
        ] {
            if idle {
                let why = format!("it has no effect: there is no {missing}");
                self.idle.push(self.document.problem(&path.key(key), why));
            }
        }
        (keys.deadline.is_some() || keys.budget.is_some()).then(|| LimitRules {
            deadline: keys.deadline,
            budget: keys.budget,
            reference_price: reference.unwrap_or_default(),
            at_deadline: keys.at_deadline.unwrap_or_default(),
            at_budget: keys.at_budget.unwrap_or_default(),
        })
    }

    /// Warns of deadlines before which even the fastest machines do not do the work, and of budgets for which even the cheapest do not.
    fn within_reach(&mut self, path: &Path, keys: &WorkloadKeys, room: Room) {
        let times = keys.deadline.and_then(|deadline| deadline.times());
        if times.is_some_and(|times| times * room.fastest < 1.0 && room.fastest > 0.0) {
            let message = format!(
                "what takes all that time at speed 1 can end in time nowhere: the fastest machines have speed {}",
                room.fastest
            );
            self.warn(&path.key("deadline"), message);
        }
        if keys.budget.is_some() && room.dearest == 0.0 {
            let key = if keys.at_budget.is_some() { "at_budget" } else { "budget" };
            self.warn(&path.key(key), "it has no effect: nothing costs anything, no machine has a `price`");
        }
        let Some(reference) = keys.reference_price.as_ref().map(|price| price.value.nanos() as f64) else {
            return;
        };
        let times = keys.budget.and_then(|budget| budget.times());
        if let Some(pays) = times.map(|times| times * reference)
            && reference > 0.0
            && room.cheapest.is_finite()
            && pays * (1.0 + 1e-9) < room.cheapest
        {
            let message = format!(
                "what takes all of its estimate costs more everywhere: for an hour of a core of speed 1 it pays {} at most, and what takes that costs {} on the cheapest machines at their cheapest hour",
                pays / 1e9,
                room.cheapest / 1e9
            );
            self.warn(&path.key("budget"), message);
        }
    }

    fn log(&mut self, path: &Path, log: &str) -> Option<Workload> {
        if log == STDIN { Some(Workload::Stdin) } else { self.file(path, log, "log").map(Workload::File) }
    }

    /// A file that is there, or a name of the archive.
    pub(super) fn file(&mut self, path: &Path, log: &str, what: &str) -> Option<PathBuf> {
        let (file, kept) = (FilePath::new(log), self.document.kept);
        if archive::names(log)
            && !kept
            && let Err(message) = archive::find(log)
        {
            return self.refuse(path, message);
        }
        // A named pipe is not a regular file.
        if kept || archive::names(log) || (file.exists() && !file.is_dir()) {
            return Some(file.to_owned());
        }
        let message =
            if file.is_dir() { format!("is a folder, not a {what}") } else { "is not there".to_owned() };
        self.refuse(path, format!("`{log}` {message}; paths are relative to the file that contains them"))
    }

    /// Converts a load: the key refers to all processors at their speeds, generators and logs to those of one machine at speed 1.
    fn with_load(
        &mut self,
        path: &Path,
        key: &str,
        load: Option<f64>,
        mut workload: Workload,
        shaping: &mut Shaping,
        room: Room,
    ) -> Option<Workload> {
        let inside = workload.generator().and_then(|named| named.params.get("load").cloned());
        let (load, path) = match (load, inside) {
            (None, None) => return Some(workload),
            (Some(load), None) => (load, path.key("load")),
            (None, Some(text)) => {
                let path = path.key(key).key("load");
                match text.parse() {
                    Ok(load) => (load, path),
                    Err(_) => return self.refuse(&path, format!("`{text}` is not a load, such as `0.7`")),
                }
            }
            (Some(_), Some(_)) => {
                let message = format!("`load` and `{key}.load` both give the load; remove one");
                return self.refuse(&path.key("load"), message);
            }
        };
        if !(0.001..=1000.0).contains(&load) {
            return self
                .refuse(&path, format!("a load of {load} cannot be reached; it must be from 0.001 to 1000"));
        }
        let Some(named) = workload.generator_mut() else {
            shaping.load = Some(load * room.capacity / f64::from(room.largest));
            return Some(workload);
        };
        if named.params.contains_key("every") {
            let message = format!("`load` and `{key}.every` both give the arrival rate; remove one");
            return self.refuse(&path, message);
        }
        let procs = named.params.get("procs").and_then(|procs| procs.parse().ok()).unwrap_or(room.largest);
        let of_machine = load * room.capacity / f64::from(procs.max(1));
        if !(0.001..=1000.0).contains(&of_machine) {
            let message = format!(
                "a load of {load} is one of {of_machine} for `procs={procs}`; it must be from 0.001 to 1000"
            );
            return self.refuse(&path, message);
        }
        named.params.insert("load".to_owned(), of_machine.to_string());
        Some(workload)
    }

    /// Checks a generator's parameters, and that its largest jobs fit.
    fn generator(&mut self, path: &Path, workload: &Workload, who: &str, room: Room) -> Option<()> {
        let read = match workload {
            Workload::Lublin(named) => {
                LublinSpec::from_named(named.clone()).map(|spec| (spec.procs, "procs"))
            }
            Workload::Poisson(named) => {
                PoissonSpec::from_named(named.clone()).map(|spec| (spec.size.largest(), "size"))
            }
            Workload::Cwf(named) => {
                CwfSpec::from_named(named.clone()).map(|spec| (spec.units() * spec.unit, "procs"))
            }
            Workload::Huang(named) => HuangSpec::from_named(named.clone()).map(|spec| (spec.procs, "procs")),
            Workload::File(_) | Workload::Stdin | Workload::Workflows(_) => return Some(()),
        };
        let (largest, key) = match read {
            Ok(read) => read,
            Err(error) => return self.parameter(path, &error),
        };
        if largest > room.ever {
            let message = format!(
                "jobs of up to {largest} processors do not fit: the largest class of machines of {who} has {}",
                room.ever
            );
            return self.refuse(&path.key(key), message);
        }
        Some(())
    }

    fn parameter(&mut self, path: &Path, error: &NamedError) -> Option<()> {
        let path = match error {
            NamedError::UnknownKey { key, .. } | NamedError::BadValue { key, .. } => path.key(key),
            _ => path.clone(),
        };
        self.refuse(&path, error.to_string())
    }

    /// Which of its jobs are malleable, and how.
    fn malleable(&mut self, path: &Path, key: Option<&MalleableKey>) -> Option<MalleableSpec> {
        let spec = key?.spec()?;
        let parts = [
            ("share", Some(spec.share), 0.0..=1.0, "from 0 to 1"),
            ("least", spec.least, 1e-6..=1.0, "above 0 and at most 1"),
            ("most", spec.most, 1.0..=1e6, "from 1 to a million"),
        ];
        for (key, given, range, valid) in parts {
            if let Some(given) = given.filter(|given| !range.contains(given)) {
                self.wrong(&path.key(key), format!("`{key}` is {given}; it must be {valid}"));
            }
        }
        // Without any, nothing about the run differs from one of rigid jobs.
        (spec.share > 0.0).then_some(spec)
    }

    fn estimates(&mut self, path: &Path, estimates: &EstimateSource) {
        let EstimateSource::Tsafrir(named) = estimates else { return };
        let mut named = named.clone();
        // If it is not given, it follows from the jobs.
        named.params.entry("max".to_owned()).or_insert_with(|| "36 h".to_owned());
        if let Err(error) = TsafrirSpec::from_named(named) {
            self.wrong(path, error.to_string());
        }
    }
}

fn named(name: &str, Params(params): &Params) -> Named {
    Named { name: name.to_owned(), params: params.clone() }
}
