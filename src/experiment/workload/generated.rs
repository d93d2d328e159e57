//! Workloads that a generator makes.

use super::{Base, Shaping, only_for_logs};
use crate::experiment::{Progress, RunError};
use crate::model::Named;
use crate::workload::{Drawn, First, Generator, Source};

/// The jobs of the generator `G`, which are called `what` in a sentence.
pub(super) fn open<G: Generator>(
    named: &Named,
    what: &str,
    entity: &str,
    shaping: &Shaping,
    progress: &Progress,
) -> Result<Base, RunError> {
    let named = completed(named.clone(), entity, what, shaping)?;
    let name = named.to_string();
    let spec = G::from_named(named).map_err(RunError::request)?;
    let Drawn { jobs, procs, seed } = spec.drawn();
    let drawn = spec.source(shaping.seed, entity).map_err(RunError::request)?;
    let mut source: Box<dyn Source> = Box::new(drawn);
    progress.begin_jobs(shaping.first.map_or(jobs, |first| first.min(jobs)));
    if let Some(first) = shaping.first {
        source = Box::new(First::new(source, first));
    }
    Ok(Base { source, name, procs: Some(procs), seed, header: None, elastic: false })
}

/// Refuses two words on how fast jobs come.
pub(super) fn one_pace(named: &Named, shaping: &Shaping) -> Result<(), RunError> {
    if shaping.load.is_none() || !named.params.contains_key("every") {
        return Ok(());
    }
    Err(RunError::request(format!("`--load` and `every` in `{named}` both say how fast jobs come"))
        .with_hint("leave one of them out"))
}

/// Refuses what a generator cannot do, and gives it what its name does not say.
fn completed(mut named: Named, entity: &str, what: &str, shaping: &Shaping) -> Result<Named, RunError> {
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
