//! Workloads of generators.

use super::{Base, only_for_logs};
use crate::experiment::{Progress, RunError};
use crate::model::Named;
use crate::scenario::Shaping;
use crate::workload::cwf::CwfSpec;
use crate::workload::huang::HuangSpec;
use crate::workload::lublin::LublinSpec;
use crate::workload::poisson::PoissonSpec;
use crate::workload::{Drawn, Generated, Generator, Spec};

/// The jobs of the generator `G`.
pub(super) fn open<G: Generator>(
    named: &Named,
    entity: &str,
    shaping: &Shaping,
    progress: &Progress,
) -> Result<Base, RunError> {
    let (named, _) = completed::<G>(named, entity, shaping)?;
    let name = named.to_string();
    let spec = G::from_named(named).map_err(RunError::request)?;
    let Drawn { jobs, procs, .. } = spec.drawn();
    let drawn = Generated::new(spec, shaping.seed, entity).map_err(RunError::request)?;
    let left = jobs.saturating_sub(shaping.skip);
    progress.begin_jobs(shaping.first.map_or(left, |first| first.min(left)));
    let source = shaping.cut(&name, Box::new(drawn))?;
    Ok(Base { source, name, procs: Some(procs), header: None })
}

/// Refuses what a generator does not support, fills in the parameters that its name omits, and returns the processors of its machine.
pub(super) fn completed<G: Generator>(
    named: &Named,
    entity: &str,
    shaping: &Shaping,
) -> Result<(Named, u32), RunError> {
    let mut named = named.clone();
    let twice = |what: String| Err(RunError::request(what).with_hint("leave one of them out"));
    let has_gaps = [PoissonSpec::NAME, HuangSpec::NAME].contains(&G::NAME);
    if has_gaps && shaping.load.is_some() && named.params.contains_key("every") {
        return twice(format!("`--load` and `every` in `{named}` both give the arrival rate"));
    }
    let what = match G::NAME {
        LublinSpec::NAME => "the Lublin model",
        CwfSpec::NAME => "the generator of CWF",
        _ => "generated jobs",
    };
    only_for_logs(&[("--cap", shaping.cap), ("--feedback", shaping.feedback)], shaping, what)?;
    for (option, given) in
        [("--load", shaping.load.is_some()), ("--load-factor", shaping.load_factor.is_some())]
    {
        if given && named.params.contains_key("load") {
            return twice(format!("`{option}` and `{named}` both give the load"));
        }
    }
    let mut default = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            named.params.entry(key.to_owned()).or_insert(value);
        }
    };
    default("procs", shaping.procs.map(|procs| procs.to_string()));
    default("load", shaping.load.map(|load| load.to_string()));
    // Without an entity, the jobs are those of the log that `generate` writes with the same seed.
    default("seed", entity.is_empty().then(|| shaping.seed.to_string()));
    let procs = G::from_named(named.clone()).map_err(RunError::request)?.drawn().procs;
    Ok((named, procs))
}
