//! Tries a broker program of which its author wants to know whether it keeps the protocol: a few small scenarios, and what runs alone do not show.

use std::path::Path;

use super::program::{Start, Trial, ends_by_itself};
use super::{Anew, Control, Progress, Run, RunError, RunErrorKind, Stored};
use crate::grid::Policies;
use crate::metrics::GridSummary;
use crate::scenario::{Override, Scenario};

/// Three sites and 90 jobs, 30 of them of local users.
const PLAIN: &str = include_str!("program_check/plain.toml");
/// One pool.
const ONE_POOL: &str = include_str!("program_check/one-pool.toml");
/// Machines and a site that come and go.
const CHURN: &str = include_str!("program_check/churn.toml");
/// Pools that are too small for most jobs.
const REFUSAL: &str = include_str!("program_check/refusal.toml");
/// A thousand jobs at once.
const MANY: &str = include_str!("program_check/many.toml");

/// A thing that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramCheck {
    /// What was tried.
    pub name: &'static str,
    /// What is right.
    pub expected: &'static str,
    /// What was wrong, if anything was; otherwise what came out.
    pub found: Result<String, String>,
}

/// Tries a program, which these values of a scenario describe. `folder` is for files that may go afterwards; each result is passed to `say`.
///
/// # Errors
/// `RunErrorKind::Request` if there is no such program.
pub fn check_program(
    sets: &[Override],
    folder: &Path,
    policies: &Policies,
    mut say: impl FnMut(&ProgramCheck),
) -> Result<bool, RunError> {
    let checker = Checker { sets, folder, policies };
    if let Some(plan) = &checker.scenario("plain", PLAIN, &[])?.resolved.program {
        super::find_program(plan)?;
    }
    type Check = fn(&Checker<'_>) -> Result<String, String>;
    let checks: [(&str, &str, Check); 9] = [
        ("hello", "an answer to the first line, flushed, within the timeout", |of| of.greeted()),
        ("one pool", "all 40 jobs completed", |of| of.all_complete("one pool", ONE_POOL, 40)),
        ("three sites", "all 90 jobs completed", |of| of.all_complete("plain", PLAIN, 90)),
        ("churn", "most jobs completed, and none sent to a site that has left", |of| of.most_complete()),
        ("refusal", "all 40 jobs completed, most of which fit one pool only", |of| {
            of.all_complete("refusal", REFUSAL, 40)
        }),
        ("1,000 jobs at once", "all completed", |of| of.all_complete("many", MANY, 1_000)),
        ("unknown keys", "keys of later versions change nothing", |of| of.unknown_keys()),
        ("resume", "the same records when the run is stopped and resumed", |of| of.resumed()),
        ("end", "the program ends when its input does", |of| of.ends()),
    ];
    let mut all = true;
    for (name, expected, check) in checks {
        let found = check(&checker);
        all &= found.is_ok();
        say(&ProgramCheck { name, expected, found });
        if name == "hello" && !all {
            // Nothing else can be tried.
            break;
        }
    }
    Ok(all)
}

struct Checker<'a> {
    sets: &'a [Override],
    folder: &'a Path,
    policies: &'a Policies,
}

impl Checker<'_> {
    fn scenario(&self, name: &str, text: &str, more: &[Override]) -> Result<Scenario, RunError> {
        let sets: Vec<Override> = self.sets.iter().chain(more).cloned().collect();
        Ok(Scenario::read(format!("{name}.toml").as_ref(), text, &sets, self.policies)?)
    }

    fn run(&self, name: &str, text: &str) -> Result<Run, String> {
        let scenario = self.scenario(name, text, &[]).map_err(|error| error.to_string())?;
        Ok(Run::new(scenario, 1, self.policies))
    }

    fn ran(&self, name: &str, text: &str) -> Result<GridSummary, String> {
        self.run(name, text)?.run(&Progress::default()).map_err(told)
    }

    fn greeted(&self) -> Result<String, String> {
        let run = self.run("plain", PLAIN)?;
        let resolved = &run.scenario().resolved;
        let Some(plan) = &resolved.program else { return Err("there is no program".to_owned()) };
        let progress = Progress::default();
        let start = Start {
            plan,
            grid: &resolved.grid,
            registry: &self.policies.broker,
            progress: &progress,
            trial: &Trial::None,
        };
        let (_, conversation) = start.anew(None).map_err(told)?;
        Ok(format!("it calls itself `{}`", conversation.name()))
    }

    fn all_complete(&self, name: &str, text: &str, jobs: u64) -> Result<String, String> {
        let summary = self.ran(name, text)?;
        let completed = summary.measures.outcomes.completed;
        if completed == jobs {
            Ok(questions(&summary))
        } else {
            Err(format!("{completed} of {jobs} jobs completed"))
        }
    }

    fn most_complete(&self) -> Result<String, String> {
        let summary = self.ran("churn", CHURN)?;
        let (completed, jobs) = (summary.measures.outcomes.completed, summary.measures.jobs);
        if completed * 5 >= jobs * 4 {
            Ok(format!("{completed} of {jobs} jobs completed"))
        } else {
            Err(format!("{completed} of {jobs} jobs completed"))
        }
    }

    fn unknown_keys(&self) -> Result<String, String> {
        let plain = self.ran("plain", PLAIN)?;
        let probed =
            self.run("plain", PLAIN)?.trying(Trial::UnknownKeys).run(&Progress::default()).map_err(told)?;
        same(&plain, &probed)
    }

    fn resumed(&self) -> Result<String, String> {
        let straight = self.ran("churn", CHURN)?;
        let store = self.folder.join("store");
        let more = [Override::path("--checkpoint", "checkpoint.store", &store)];
        let asked = straight.facts.broker.as_ref().and_then(|broker| broker.program.as_ref());
        let middle = asked.map_or(0, |program| program.facts.questions) / 2;
        let scenario = self.scenario("churn", CHURN, &more).map_err(told)?;
        let (progress, control) = (Progress::default(), Control::new());
        let run = Run::new(scenario, 1, self.policies).trying(Trial::StopAt(middle, control.clone()));
        match run.run_with_snapshots(&progress, &control, Anew::Remove, None) {
            Ok(_) => return Err("the run was over before it could be stopped".to_owned()),
            Err(error) if matches!(error.kind, RunErrorKind::Stopped { .. }) => {}
            Err(error) => return Err(told(error)),
        }
        let stored = Stored::open(&store, self.policies).map_err(told)?;
        let resumed = stored.resume(&Progress::default(), &Control::new(), None, |_| {}).map_err(told)?;
        same(&straight, &resumed).map(|same| format!("{same}; stopped at question {middle}"))
    }

    fn ends(&self) -> Result<String, String> {
        let run = self.run("plain", PLAIN)?;
        let Some(plan) = &run.scenario().resolved.program else {
            return Err("there is no program".to_owned());
        };
        match ends_by_itself(plan, &run.scenario().resolved.grid)? {
            true => Ok("it ends".to_owned()),
            false => Err("it still ran a second after its input had ended, and was killed".to_owned()),
        }
    }
}

fn told(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn questions(summary: &GridSummary) -> String {
    let program = summary.facts.broker.as_ref().and_then(|broker| broker.program.as_ref());
    program.map_or_else(String::new, |program| format!("{} questions", program.facts.questions))
}

fn same(one: &GridSummary, other: &GridSummary) -> Result<String, String> {
    if one.fingerprint == other.fingerprint {
        return Ok("the same records".to_owned());
    }
    Err(format!("other records: {} instead of {}", other.fingerprint, one.fingerprint))
}
