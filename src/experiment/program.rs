//! The program of a user that decides for the broker: a child process, asked over its standard streams.
//!
//! [`start`] starts it, greets it, and makes the policy of it that the grid is built with (`broker::outside`, which has the protocol). The
//! process ends with the run: when the grid is gone, its standard input is closed, and what does not end within a moment is killed.

mod child;
mod log;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use self::child::Child;
use self::log::Log;
use super::clock::now;
use super::{Progress, RunError, RunErrorKind};
use crate::broker::outside::{
    Fallback, FellBack, Greeting, Hello, Oracle, ProgramFacts, SharedOracle, outside,
};
use crate::broker::{BrokerPolicyInfo, BrokerRegistry};
use crate::grid::pool_facts;
use crate::metrics::ProgramSummary;
use crate::model::{GridSpec, Named};
use crate::scenario::{ProgramPlan, ScenarioError, shell_word};

/// What a run knows of the program of its broker.
#[derive(Clone, Debug)]
pub(super) struct Conversation {
    /// What messages call it.
    name: String,
    /// The wall time that was waited for answers, in nanoseconds.
    waited: Arc<AtomicU64>,
}

impl Conversation {
    /// The part of the summary.
    pub(super) fn summary(&self, facts: ProgramFacts) -> ProgramSummary {
        let waited = Duration::from_nanos(self.waited.load(Ordering::Relaxed));
        ProgramSummary { facts, waited_s: waited.as_secs_f64() }
    }

    /// The error of a run, which says what the program has to do with it.
    pub(super) fn named_in(&self, error: RunError) -> RunError {
        let name = &self.name;
        match error.kind {
            RunErrorKind::Stuck { .. } => error.with_hint(format!(
                "the broker program `{name}` has decided nothing about jobs that wait with it, and no `later`; or machines that \
                 jobs need never come back: see the last lines of events.csv; `until` ends a run in any case"
            )),
            _ => error,
        }
    }
}

/// The note of a summary.
pub(super) fn note(fell_back: FellBack) -> String {
    let FellBack { policy, at, question, why } = fell_back;
    format!(
        "the broker's program failed at question {question}, at {}, and `{policy}` took its place: {why}",
        at.told()
    )
}

/// Finds the program as it is started.
///
/// # Errors
/// `RunErrorKind::Request` with the place where it is written if there is none.
pub fn find_program(plan: &ProgramPlan) -> Result<PathBuf, RunError> {
    let written = plan.command.first().map(String::as_str).unwrap_or_default();
    let path = Path::new(written);
    let missing = |message: String| {
        let problem = plan.problem(message);
        RunError::from(ScenarioError::from(problem))
    };
    if path.components().count() > 1 {
        let path = plan.folder.join(path);
        return match path.is_file() {
            true => Ok(path),
            false => Err(missing(format!("there is no program `{}`", path.display()))),
        };
    }
    #[expect(clippy::disallowed_methods, reason = "the shell starts a program by its name")]
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|folder| folder.join(path)).find(|path| path.is_file());
    found.ok_or_else(|| {
        missing(format!(
            "there is no program `{written}` in the folders of PATH; one beside the scenario is written `./{written}`"
        ))
    })
}

/// Starts the program, greets it, and makes a policy of it. The conversation is also written to `log`.
///
/// # Errors
/// `RunErrorKind::Request` if it cannot be started, or does not answer the greeting as it must.
pub(super) fn start(
    plan: &ProgramPlan,
    grid: &GridSpec,
    registry: &BrokerRegistry,
    log: Option<&Path>,
    progress: &Progress,
) -> Result<(BrokerPolicyInfo, Conversation), RunError> {
    let words: Vec<String> = plan.command.iter().map(|word| shell_word(word)).collect();
    let command = words.join(" ");
    let path = find_program(plan)?;
    let log = log.map(Log::create).transpose()?;
    let failed = |problem: String| {
        RunError::request(format!("broker program `{command}`: {problem}"))
            .with_hint("docs/outside.md has the protocol, with programs that begin as they must")
    };
    let greeting = Greeting { pools: pool_facts(grid), seed: grid.seed, resumed: None };
    let mut program = Program {
        child: Child::spawn(&path, plan, &command, progress).map_err(&failed)?,
        progress: progress.clone(),
        log,
        waited: Arc::default(),
        name: command.clone(),
    };
    let hello = program.greet(&greeting).map_err(&failed)?;
    let name = hello.name().map_or(command.clone(), str::to_owned);
    program.name.clone_from(&name);
    let fallback = plan.fallback.clone();
    let fallback =
        fallback.map(|named| Fallback::new(named, registry, &hello)).transpose().map_err(&failed)?;
    let conversation = Conversation { name: name.clone(), waited: Arc::clone(&program.waited) };
    Ok((outside(name, hello, SharedOracle::new(program), fallback), conversation))
}

/// A program that runs.
struct Program {
    name: String,
    child: Child,
    log: Option<Log>,
    waited: Arc<AtomicU64>,
    progress: Progress,
}

impl Program {
    fn greet(&mut self, greeting: &Greeting) -> Result<Hello, String> {
        let mut answer = Vec::new();
        self.exchange(&greeting.line()?, &mut answer)?;
        Hello::read(&answer)
    }

    /// Sends a line and reads one.
    fn exchange(&mut self, line: &[u8], answer: &mut Vec<u8>) -> Result<(), String> {
        if let Some(log) = &mut self.log {
            log.to(line)?;
        }
        let started = now();
        let exchanged = self.child.exchange(line, answer);
        let waited = u64::try_from((now() - started).as_nanos()).unwrap_or(u64::MAX);
        self.waited.fetch_add(waited, Ordering::Relaxed);
        exchanged?;
        match &mut self.log {
            Some(log) => log.from(answer),
            None => Ok(()),
        }
    }
}

impl Oracle for Program {
    fn ask(&mut self, _: u64, question: &[u8], answer: &mut Vec<u8>) -> Result<(), String> {
        self.exchange(question, answer)
    }

    fn fell_back(&mut self, number: u64, policy: &Named, why: &str) {
        let name = &self.name;
        self.progress.warn(format!(
            "broker program `{name}`, question {number}: {why}; `{policy}` decides for the rest of the run"
        ));
        self.child.end();
    }
}
