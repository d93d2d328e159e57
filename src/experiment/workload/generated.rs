//! Workloads that a generator makes.

use super::{Base, Shaping, only_for_logs};
use crate::experiment::{Progress, RunError};
use crate::model::Named;
use crate::workload::cwf::{Cwf, CwfSpec};
use crate::workload::lublin::{Lublin, LublinSpec};
use crate::workload::poisson::{Poisson, PoissonSpec};
use crate::workload::{First, Source};

pub(super) fn open_lublin(
    named: Named,
    entity: &str,
    shaping: &Shaping,
    progress: &Progress,
) -> Result<Base, RunError> {
    let named = generator(named, entity, "the Lublin model", shaping)?;
    let name = named.to_string();
    let spec = LublinSpec::from_named(named).map_err(RunError::request)?;
    let (procs, seed, jobs) = (spec.procs, spec.seed, spec.jobs);
    let source = Lublin::new(spec, shaping.seed, entity).map_err(RunError::request)?;
    Ok(generated(Box::new(source), jobs, shaping, progress, Base::of(name, procs, seed)))
}

pub(super) fn open_poisson(
    mut named: Named,
    entity: &str,
    shaping: &Shaping,
    progress: &Progress,
) -> Result<Base, RunError> {
    if shaping.load.is_some() && named.params.contains_key("every") {
        return Err(RunError::request(format!(
            "`--load` and `every` in `{named}` both say how fast jobs come"
        ))
        .with_hint("leave one of them out"));
    }
    named = generator(named, entity, "generated jobs", shaping)?;
    let name = named.to_string();
    let spec = PoissonSpec::from_named(named).map_err(RunError::request)?;
    let (procs, seed, jobs) = (spec.procs, spec.seed, spec.jobs);
    let source = Poisson::new(spec, shaping.seed, entity).map_err(RunError::request)?;
    Ok(generated(Box::new(source), jobs, shaping, progress, Base::of(name, procs, seed)))
}

pub(super) fn open_cwf(
    named: Named,
    entity: &str,
    shaping: &Shaping,
    progress: &Progress,
) -> Result<Base, RunError> {
    let named = generator(named, entity, "the generator of CWF", shaping)?;
    let name = named.to_string();
    let spec = CwfSpec::from_named(named).map_err(RunError::request)?;
    let (procs, seed, jobs) = (spec.procs, spec.seed, spec.jobs);
    let source = Cwf::new(spec, shaping.seed, entity).map_err(RunError::request)?;
    let base = Base { elastic: true, ..Base::of(name, procs, seed) };
    Ok(generated(Box::new(source), jobs, shaping, progress, base))
}

/// Refuses what a generator cannot do, and gives it what its name does not say.
fn generator(mut named: Named, entity: &str, what: &str, shaping: &Shaping) -> Result<Named, RunError> {
    only_for_logs(&[("--cap", shaping.cap), ("--feedback", shaping.feedback)], shaping, what)?;
    if shaping.load.is_some() && named.params.contains_key("load") {
        return Err(RunError::request(format!("`--load` and `{named}` both say the load"))
            .with_hint("leave one of them out"));
    }
    let mut default = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            named.params.entry(key.to_owned()).or_insert(value);
        }
    };
    default("procs", shaping.procs.map(|procs| procs.to_string()));
    default("load", shaping.load.map(|load| load.to_string()));
    // Jobs of nobody in particular are those of a log that `generate` writes with the same seed.
    default("seed", entity.is_empty().then(|| shaping.seed.to_string()));
    Ok(named)
}

fn generated(
    mut source: Box<dyn Source>,
    jobs: u64,
    shaping: &Shaping,
    progress: &Progress,
    base: Base,
) -> Base {
    progress.begin_jobs(shaping.first.map_or(jobs, |first| first.min(jobs)));
    if let Some(first) = shaping.first {
        source = Box::new(First::new(source, first));
    }
    Base { source, ..base }
}
