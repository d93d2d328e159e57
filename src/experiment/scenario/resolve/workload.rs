//! What users submit: logs and generators, and the load that is asked for.

use std::path::Path as FilePath;

use super::Checker;
use crate::experiment::scenario::keys::{GeneratorKeys, WorkloadKeys, WorkloadText};
use crate::experiment::scenario::meaning::PlannedWorkload;
use crate::experiment::scenario::quantity::Or;
use crate::experiment::scenario::tree::Path;
use crate::experiment::{EstimateSource, Shaping, Workload, archive};
use crate::model::{Named, NamedError, PartitionSpec, SiteSpec};
use crate::workload::Spec;
use crate::workload::cwf::CwfSpec;
use crate::workload::lublin::LublinSpec;
use crate::workload::poisson::PoissonSpec;
use crate::workload::tsafrir::TsafrirSpec;

/// Processors that jobs can be on.
#[derive(Copy, Clone, Debug)]
struct Room {
    /// Of the largest class of machines that is there at the beginning, or of the largest if none is.
    largest: u32,
    /// Of the largest class that can ever be there.
    ever: u32,
    /// Processors × speed of all that is there at the beginning.
    capacity: f64,
}

impl Room {
    fn of<'a>(partitions: impl Iterator<Item = &'a PartitionSpec> + Clone) -> Self {
        let present = partitions.clone().filter(|partition| partition.absent < partition.machines);
        let ever = partitions.clone().map(PartitionSpec::usable).max().unwrap_or(0);
        let power = |partition: &PartitionSpec| {
            let machines = partition.machines - partition.absent;
            f64::from(machines) * f64::from(partition.cores) * partition.speed.as_f64()
        };
        Self {
            largest: present.map(PartitionSpec::usable).max().unwrap_or(ever).max(1),
            ever: ever.max(1),
            capacity: partitions.map(power).sum(),
        }
    }
}

impl Checker<'_> {
    /// What a site's own users submit.
    pub(super) fn own_workload(
        &mut self,
        path: &Path,
        keys: Option<&Or<WorkloadText, WorkloadKeys>>,
        spec: &SiteSpec,
        seed: u64,
    ) -> Option<PlannedWorkload> {
        let Some(Or::Table(keys)) = keys else { return None };
        for (key, given) in [("input", keys.input.is_some()), ("output", keys.output.is_some())] {
            if given {
                let said =
                    "only jobs that come through the portal carry data; a site's own users have theirs there";
                self.wrong(&path.key(key), said);
            }
        }
        let who = format!("site `{}`", spec.name);
        self.workload(path, keys, &spec.name, &who, Room::of(spec.partitions.iter()), seed)
    }

    /// What comes through the portal.
    pub(super) fn portal(
        &mut self,
        written: &[WorkloadKeys],
        sites: &[SiteSpec],
        has_broker: bool,
        seed: u64,
    ) -> Vec<PlannedWorkload> {
        let top = Path::default().key("workload");
        if !has_broker && !written.is_empty() {
            let said = "what comes through the portal needs a `[broker]`; a site's own workload stands in its `[[site]]`";
            self.wrong(&top.item(0), said);
        }
        let room = Room::of(sites.iter().flat_map(|site| &site.partitions));
        let mut planned = Vec::new();
        for (at, keys) in written.iter().enumerate() {
            let entity = if at == 0 { "portal".to_owned() } else { format!("portal/{}", at + 1) };
            planned.extend(self.workload(&top.item(at), keys, &entity, "the grid", room, seed));
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
        let generators = [
            ("lublin", &keys.lublin, Workload::Lublin as fn(Named) -> Workload),
            ("poisson", &keys.poisson, Workload::Poisson),
            ("cwf", &keys.cwf, Workload::Cwf),
        ];
        let mut given = generators.iter().filter_map(|(key, params, of)| Some((*key, params.as_ref()?, of)));
        let (key, workload) = match (&keys.log, given.next(), given.next()) {
            (Some(log), None, _) => ("log", self.log(&path.key("log"), log)?),
            (None, Some((key, params, of)), None) => (key, of(named(key, params))),
            (None, None, _) => {
                self.wrong(path, "nothing is submitted; say one of `log`, `lublin`, `poisson` and `cwf`");
                return None;
            }
            _ => {
                let said = "`log`, `lublin`, `poisson` and `cwf` are each a whole workload; say one of them";
                self.wrong(path, said);
                return None;
            }
        };
        if !matches!(workload, Workload::File(_)) {
            let only = [
                ("clean", keys.clean.is_some()),
                ("cap", keys.cap.is_some()),
                ("feedback", keys.feedback.is_some()),
            ];
            for (only, _) in only.into_iter().filter(|(_, given)| *given) {
                self.wrong(&path.key(only), format!("`{only}` works on logs, not on `{key}`"));
            }
        }
        if keys.first == Some(0) {
            self.wrong(&path.key("first"), "of the first 0 jobs there are no jobs to run");
        }
        let mut shaping = Shaping {
            clean: keys.clean.unwrap_or_default(),
            cap: keys.cap.unwrap_or(false),
            first: keys.first,
            load: None,
            estimates: keys.estimates.clone().unwrap_or_default().0,
            feedback: keys.feedback.unwrap_or(false),
            malleable: keys.malleable.unwrap_or(false),
            procs: Some(room.largest),
            seed,
        };
        let workload = self.with_load(path, key, keys.load, workload, &mut shaping, room)?;
        self.generator(&path.key(key), &workload, who, room)?;
        self.estimates(&path.key("estimates"), &shaping.estimates);
        Some(PlannedWorkload {
            entity: entity.to_owned(),
            workload,
            shaping,
            input: keys.input.unwrap_or_default().0,
            output: keys.output.unwrap_or_default().0,
        })
    }

    fn log(&mut self, path: &Path, log: &str) -> Option<Workload> {
        let file = FilePath::new(log);
        if archive::names(log) {
            if let Err(said) = archive::find(log) {
                self.wrong(path, said);
                return None;
            }
            return Some(Workload::File(file.to_owned()));
        }
        if file.is_file() {
            return Some(Workload::File(file.to_owned()));
        }
        let said = if file.is_dir() { "is a folder, not a log" } else { "is not there" };
        self.wrong(path, format!("`{log}` {said}; paths are seen from the file that they stand in"));
        None
    }

    /// A load is of all processors at their speeds, while generators and logs count those of one machine at speed 1.
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
                    Err(_) => {
                        self.wrong(&path, format!("`{text}` is no load, such as `0.7`"));
                        return None;
                    }
                }
            }
            (Some(_), Some(_)) => {
                self.wrong(
                    &path.key("load"),
                    format!("`load` and `{key}.load` both say the load; leave one out"),
                );
                return None;
            }
        };
        if !(0.001..=1000.0).contains(&load) {
            self.wrong(&path, format!("a load of {load} cannot be reached; it must be from 0.001 to 1000"));
            return None;
        }
        let Some(named) = workload.generator_mut() else {
            shaping.load = Some(load * room.capacity / f64::from(room.largest));
            return Some(workload);
        };
        if named.params.contains_key("every") {
            let said = format!("`load` and `{key}.every` both say how fast jobs come; leave one out");
            self.wrong(&path, said);
            return None;
        }
        let procs = named.params.get("procs").and_then(|procs| procs.parse().ok()).unwrap_or(room.largest);
        let of_machine = load * room.capacity / f64::from(procs.max(1));
        if !(0.001..=1000.0).contains(&of_machine) {
            let said = format!(
                "a load of {load} is one of {of_machine} for `procs={procs}`; it must be from 0.001 to 1000"
            );
            self.wrong(&path, said);
            return None;
        }
        named.params.insert("load".to_owned(), of_machine.to_string());
        Some(workload)
    }

    /// Checks a generator's parameters, and that its jobs find room.
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
            Workload::File(_) | Workload::Stdin => return Some(()),
        };
        let (largest, key) = match read {
            Ok(read) => read,
            Err(error) => return self.parameter(path, &error),
        };
        if largest > room.ever {
            let said = format!(
                "jobs of up to {largest} processors find no room: the largest class of machines of {who} has {}",
                room.ever
            );
            self.wrong(&path.key(key), said);
            return None;
        }
        Some(())
    }

    fn parameter(&mut self, path: &Path, error: &NamedError) -> Option<()> {
        let path = match error {
            NamedError::UnknownKey { key, .. } | NamedError::BadValue { key, .. } => path.key(key),
            _ => path.clone(),
        };
        self.wrong(&path, error.to_string());
        None
    }

    fn estimates(&mut self, path: &Path, estimates: &EstimateSource) {
        let EstimateSource::Tsafrir(named) = estimates else { return };
        let mut named = named.clone();
        // Unless it is given, it follows from the jobs.
        named.params.entry("max".to_owned()).or_insert_with(|| "36 h".to_owned());
        if let Err(error) = TsafrirSpec::from_named(named) {
            self.wrong(path, error.to_string());
        }
    }
}

fn named(name: &str, GeneratorKeys(params): &GeneratorKeys) -> Named {
    Named { name: name.to_owned(), params: params.clone() }
}
