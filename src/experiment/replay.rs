//! A replay: a scenario with one site, made in memory.

use toml::{Table, Value};

use super::RunError;
use crate::experiment::Run;
use crate::experiment::workload::Inspected;
use crate::grid::Policies;
use crate::scenario::kind::Kind;
use crate::scenario::{EstimateSource, Override, Scenario, ScenarioError, Shaping, Workload};
use crate::units::Rate;

/// One workload at one site, as a scenario that is made in memory. The site is called `site`, and has one class of machines, `default`.
///
/// ```
/// use gridemu::experiment::{Progress, ReplayScenario};
/// use gridemu::grid::Policies;
/// use gridemu::scenario::Override;
///
/// let replay = ReplayScenario::new("lublin[jobs=50,load=0.8]".parse()?);
/// let sets = [Override::set("site.site.policy=easy[order=sjf]")];
/// let run = replay.run(&sets, &Policies::standard())?;
/// let summary = run.run(&Progress::default())?;
/// assert_eq!(summary.measures.jobs, 50);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ReplayScenario {
    /// The workload.
    pub workload: Workload,
    /// Its shaping. The offered load refers to the machine at speed 1.
    pub shaping: Shaping,
    /// Speed of a processor.
    pub speed: Rate,
}

/// Hints for an invalid key, by the end of the key.
const HINTS: [(&str, &str); 7] = [
    (".count", "give the number of processors with `--procs N`"),
    (".allocation_unit", "choose another `--allocation-unit`, or another machine with `--procs N`"),
    (".idle", "raise `--busy` or lower `--idle`"),
    (".busy", "lower `--busy` or `--price`"),
    (".price", "lower `--busy` or `--price`"),
    (
        ".policy",
        "choose another policy, or leave the option out; `gridemu policies` lists them with their parameters",
    ),
    (
        ".reservation",
        "write `--reserve FROM..TO:PROCS`, such as `2h..4h:64`; all reservations together must fit into the machine",
    ),
];

impl ReplayScenario {
    /// A plain replay of `workload`.
    pub fn new(workload: Workload) -> Self {
        Self { workload, shaping: Shaping::default(), speed: Rate::FULL }
    }

    /// The run of its scenario, with values that override those of the scenario.
    ///
    /// # Errors
    /// `RunErrorKind::Request` if the workload cannot be opened, or the scenario is invalid.
    pub fn run(&self, sets: &[Override], policies: &Policies) -> Result<Run, RunError> {
        let inspected = self.workload.inspect(&self.shaping)?;
        let keys = self.keys(&inspected);
        let text = crate::scenario::shown(&keys);
        let scenario = Scenario::read("the replay".as_ref(), &text, sets, policies).map_err(refused)?;
        Ok(Run::new(scenario, 1, policies).opened(inspected.opened))
    }

    /// The keys of the scenario that differ from their defaults.
    fn keys(&self, inspected: &Inspected) -> Table {
        let Shaping {
            clean,
            cap,
            skip,
            first,
            load_factor,
            mut estimates,
            feedback,
            malleable,
            mut seed,
            ..
        } = self.shaping.clone();
        if let EstimateSource::Tsafrir(named) = &mut estimates {
            named.params.entry("seed".to_owned()).or_insert_with(|| seed.to_string());
        } else if let Some(own) = inspected.workload.generator().and_then(|named| named.params.get("seed")) {
            // Nothing else draws random numbers.
            seed = own.parse().unwrap_or(seed);
        }
        let mut workload = table([
            ("estimates", estimates.show()),
            ("load_factor", load_factor.as_ref().and_then(Kind::show)),
            ("skip", Some(skip).filter(|skip| *skip > 0).as_ref().and_then(Kind::show)),
            ("first", first.as_ref().and_then(Kind::show)),
            ("malleable", malleable.is_some().then_some(Value::Boolean(true))),
        ]);
        if let Some(named) = inspected.workload.generator() {
            // A generator without a seed of its own draws the jobs that `generate` writes with the seed of the run.
            let mut params = named.params.clone();
            params.entry("procs".to_owned()).or_insert_with(|| inspected.procs.to_string());
            if let Some(load) = params.get_mut("load")
                && let Ok(of_machine) = load.parse::<f64>()
            {
                *load = self.of_site(of_machine, inspected.procs).to_string();
            }
            let params = params.into_iter().map(|(key, value)| (key, Value::String(value)));
            workload.insert(named.name.clone(), Value::Table(params.collect()));
        } else {
            let log = match &inspected.workload {
                Workload::File(path) => path.display().to_string(),
                _ => "-".to_owned(),
            };
            let load = self.shaping.load.map(|load| Value::Float(self.of_site(load, inspected.procs)));
            workload.extend(table([
                ("log", log.show()),
                ("load", load),
                ("clean", clean.show()),
                ("cap", cap.show()),
                ("feedback", feedback.show()),
            ]));
        }
        let machines = table([
            ("class", Some("default".into())),
            ("count", inspected.procs.show()),
            ("speed", Some(Value::Float(self.speed.as_f64()))),
        ]);
        let site = table([
            ("name", Some("site".into())),
            ("machines", Some(Value::Array(vec![machines.into()]))),
            ("workload", Some(workload.into())),
        ]);
        table([
            ("name", inspected.name.show()),
            ("seed", seed.show()),
            ("engine", Some("direct".into())),
            ("site", Some(Value::Array(vec![site.into()]))),
        ])
    }

    /// The load of the site at its speed that corresponds to `load` at speed 1, chosen so that it converts back exactly
    /// where a floating-point number can.
    fn of_site(&self, load: f64, procs: u32) -> f64 {
        let (speed, procs) = (self.speed.as_f64(), f64::from(procs));
        let near = load / speed;
        let below = (0..4).map(|step| f64::from_bits(near.to_bits().saturating_sub(step)));
        let above = (1..4).map(|step| f64::from_bits(near.to_bits() + step));
        below.chain(above).find(|of_site| of_site * (procs * speed) / procs == load).unwrap_or(near)
    }
}

/// A table of the entries that have a value.
fn table<const N: usize>(entries: [(&str, Option<Value>); N]) -> Table {
    entries.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

/// The error of an invalid scenario, with a hint for the command line.
fn refused(error: ScenarioError) -> RunError {
    let hint = error.0.first().filter(|problem| problem.hint.is_none()).and_then(|problem| {
        // A key of a list ends in the number of its item.
        let key = problem.key.trim_end_matches(|c: char| c.is_ascii_digit() || "[]".contains(c));
        let known = HINTS.iter().find(|(end, _)| key.ends_with(end));
        known.map(|(_, hint)| *hint)
    });
    RunError::from(error).with_maybe_hint(hint)
}
