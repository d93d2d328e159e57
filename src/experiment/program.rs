//! The program of a user that decides for the broker: a child process, asked over its standard streams.
//!
//! [`Start`] starts it, greets it, and makes the policy of it that the grid is built with (`broker::outside`, which has the protocol). The
//! process ends with the run: when the grid is gone, its standard input is closed, and what does not end within a moment is killed.

mod child;
mod journal;
mod log;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use self::child::Child;
pub(super) use self::journal::FILE as JOURNAL;
use self::journal::{Answered, Journal, Past, is_same};
use self::log::Log;
use super::clock::now;
use super::{Control, Progress, RunError, RunErrorKind};
use crate::broker::outside::{
    Fallback, FellBack, Greeting, Hello, Oracle, ProgramFacts, Resumed, SharedOracle, outside,
};
use crate::broker::{BrokerPolicyInfo, BrokerRegistry};
use crate::grid::pool_facts;
use crate::metrics::ProgramSummary;
use crate::model::{GridSpec, Named};
use crate::scenario::{ProgramPlan, ScenarioError};

/// What a run knows of the program of its broker.
pub(super) struct Conversation {
    /// What messages call it.
    name: String,
    /// The wall time that was waited for answers, in nanoseconds.
    waited: Arc<AtomicU64>,
    program: Arc<Mutex<Program>>,
}

impl Conversation {
    fn program(&self) -> MutexGuard<'_, Program> {
        self.program.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a journal beside the snapshots in a folder, unless an earlier process has begun it.
    ///
    /// # Errors
    /// `RunErrorKind::Run` if it cannot be created.
    pub(super) fn keep_journal(&self, store: &Path) -> Result<(), RunError> {
        let program = &mut *self.program();
        if program.past.is_none() && program.journal.is_none() {
            let greeting = program.greeting.line().map_err(RunError::run)?;
            let journal = Journal::create(&store.join(JOURNAL), &greeting, &program.hello);
            program.journal = Some(journal.map_err(|problem| self.failed(&problem))?);
        }
        Ok(())
    }

    /// Has all that was said on the disk, before a snapshot is taken that builds on it.
    ///
    /// # Errors
    /// `RunErrorKind::Run` if it cannot be written.
    pub(super) fn flush(&self) -> Result<(), RunError> {
        match &mut self.program().journal {
            Some(journal) => journal.flush().map_err(|problem| self.failed(&problem)),
            None => Ok(()),
        }
    }

    fn failed(&self, problem: &str) -> RunError {
        RunError::run(format!("broker program `{}`: {problem}", self.name))
    }

    /// What messages call the program.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

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
                "the broker program `{name}` has decided nothing about jobs that wait with it (a decision whose `id` is not above all before \
                 is none), and gave no `later`; or machines that jobs need never come back: see the last lines of events.csv; `until` ends a \
                 run in any case"
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

/// The note of a summary about decisions whose number was not above all before.
pub(super) fn repeated(facts: &ProgramFacts) -> Option<String> {
    (facts.repeated > 0).then(|| {
        format!(
            "{} of the decisions of the broker's program changed nothing: their `id` was not above all before, so they were taken for repetitions",
            facts.repeated
        )
    })
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
    in_path(path).ok_or_else(|| {
        missing(format!(
            "there is no program `{written}` in the folders of PATH; one beside the scenario is written `./{written}`"
        ))
    })
}

/// The program of this name in the folders of PATH.
pub(crate) fn in_path(name: &Path) -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "the shell starts a program by its name")]
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// Keys that no version of the protocol has.
const PROBE: &[u8] = b"{\"x-later\":{\"version\":[2,\"three\",null]},\"x-more\":true,";

/// Whether a program ends when its input does.
///
/// # Errors
/// A sentence, if it cannot be started and greeted.
pub(super) fn ends_by_itself(plan: &ProgramPlan, grid: &GridSpec) -> Result<bool, String> {
    let (registry, progress) = (BrokerRegistry::standard(), Progress::default());
    let start = Start { plan, grid, registry: &registry, progress: &progress, trial: &Trial::None };
    let mut program = start.program();
    program.greet()?;
    Ok(program.child.as_mut().is_some_and(Child::end))
}

/// A program that is to decide for the broker of a run.
pub(super) struct Start<'a> {
    pub(super) plan: &'a ProgramPlan,
    pub(super) grid: &'a GridSpec,
    pub(super) registry: &'a BrokerRegistry,
    pub(super) progress: &'a Progress,
    /// What is tried with it beside the run.
    pub(super) trial: &'a Trial,
}

/// What is tried with a program beside a run.
#[derive(Clone, Debug, Default)]
pub(super) enum Trial {
    #[default]
    None,
    /// It is sent keys that no version of the protocol has.
    UnknownKeys,
    /// The run is stopped when it is asked the question of this number.
    StopAt(u64, Control),
}

impl Start<'_> {
    fn command(&self) -> String {
        self.plan.line()
    }

    fn failed(&self, problem: String) -> RunError {
        RunError::request(format!("broker program `{}`: {problem}", self.command()))
            .with_hint("docs/outside.md has the protocol, with programs that begin as they must")
    }

    /// A program that does not run yet.
    fn program(&self) -> Program {
        Program {
            plan: self.plan.clone(),
            greeting: Greeting { pools: pool_facts(self.grid), seed: self.grid.seed, resumed: None },
            name: self.command(),
            hello: Vec::new(),
            child: None,
            log: None,
            journal: None,
            past: None,
            goes_on: GoesOn::AsItWas,
            trouble: None,
            waited: Arc::default(),
            progress: self.progress.clone(),
            trial: self.trial.clone(),
        }
    }

    /// The policy of a program that has said this of itself.
    fn policy(
        &self,
        mut program: Program,
        hello: &[u8],
    ) -> Result<(BrokerPolicyInfo, Conversation), RunError> {
        program.hello = hello.to_vec();
        let hello = Hello::read(hello).map_err(|problem| self.failed(problem))?;
        if let Some(name) = hello.name() {
            name.clone_into(&mut program.name);
        }
        let fallback = self.plan.fallback.clone();
        let fallback = fallback.map(|named| Fallback::new(named, self.registry, &hello)).transpose();
        let fallback = fallback.map_err(|problem| self.failed(problem))?;
        let (name, waited) = (program.name.clone(), Arc::clone(&program.waited));
        let program = Arc::new(Mutex::new(program));
        let oracle = SharedOracle::new(Shared(Arc::clone(&program)));
        Ok((outside(name.clone(), hello, oracle, fallback), Conversation { name, waited, program }))
    }

    /// Starts the program, greets it, and makes a policy of it. The conversation is also written to `log`.
    ///
    /// # Errors
    /// `RunErrorKind::Request` if it cannot be started, or does not answer the greeting as it must.
    pub(super) fn anew(&self, log: Option<&Path>) -> Result<(BrokerPolicyInfo, Conversation), RunError> {
        find_program(self.plan)?;
        let mut program = Program { log: log.map(Log::create).transpose()?, ..self.program() };
        let hello = program.greet().map_err(|problem| self.failed(problem))?;
        self.policy(program, &hello)
    }

    /// The same where the conversation of this journal goes on. The program is started when it is asked something new.
    ///
    /// # Errors
    /// `RunErrorKind::Request` if the journal cannot be read.
    pub(super) fn resumed(
        &self,
        journal: &Path,
        how: GoesOn,
    ) -> Result<(BrokerPolicyInfo, Conversation), RunError> {
        let hello = Past::hello(journal).map_err(|problem| self.failed(problem))?;
        let mut program = self.program();
        (program.past, program.goes_on) = (Some(Earlier::Closed(journal.to_owned())), how);
        self.policy(program, &hello)
    }
}

/// How a conversation goes on from a snapshot.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum GoesOn {
    /// What was said after it is said again.
    AsItWas,
    /// What was said after it is forgotten, and the program may be told other facts than before.
    Otherwise,
}

/// What was said in an earlier process.
enum Earlier {
    /// A journal of which it is not known how many questions the snapshot has.
    Closed(PathBuf),
    /// What was said after the snapshot.
    Open(Past),
}

/// A program that decides.
struct Program {
    plan: ProgramPlan,
    greeting: Greeting,
    /// What messages call it.
    name: String,
    /// Its answer to the greeting.
    hello: Vec<u8>,
    /// The process, once it runs.
    child: Option<Child>,
    log: Option<Log>,
    journal: Option<Journal>,
    past: Option<Earlier>,
    goes_on: GoesOn,
    /// Why the conversation cannot go on.
    trouble: Option<String>,
    waited: Arc<AtomicU64>,
    progress: Progress,
    trial: Trial,
}

impl Program {
    /// Starts the process, and greets it. Returns its answer.
    fn greet(&mut self) -> Result<Vec<u8>, String> {
        let path = find_program(&self.plan).map_err(|error| error.problem)?;
        self.child = Some(Child::spawn(&path, &self.plan, &self.name, &self.progress)?);
        let mut answer = Vec::new();
        self.exchange(&self.greeting.line()?, &mut answer)?;
        Ok(answer)
    }

    /// Sends a line and reads one.
    fn exchange(&mut self, line: &[u8], answer: &mut Vec<u8>) -> Result<(), String> {
        let Some(child) = &mut self.child else { return Err("it does not run".to_owned()) };
        if let Some(log) = &mut self.log {
            log.to(line)?;
        }
        let started = now();
        let exchanged = match self.trial {
            Trial::UnknownKeys => {
                child.exchange(&[PROBE, line.get(1..).unwrap_or_default()].concat(), answer)
            }
            _ => child.exchange(line, answer),
        };
        let waited = u64::try_from((now() - started).as_nanos()).unwrap_or(u64::MAX);
        self.waited.fetch_add(waited, Ordering::Relaxed);
        exchanged?;
        match &mut self.log {
            Some(log) => log.from(answer),
            None => Ok(()),
        }
    }

    /// Starts the program where its conversation has ended: with what it gave to be saved last, and what it was asked since.
    fn catch_up(&mut self, mut past: Past) -> Result<(), String> {
        let save = past.save.take();
        let number = past.history()?;
        self.greeting.resumed = Some(Resumed { question: number, save });
        let hello = self.greet()?;
        if !is_same(&hello, &self.hello) {
            return Err("it answers the greeting otherwise than when the run began".to_owned());
        }
        let mut answer = Vec::new();
        for number in number + 1..=past.last {
            let (asked, answered) = past.pair()?;
            let line = [b"{\"replayed\":true,", asked.get(1..).unwrap_or_default(), b"\n"].concat();
            self.exchange(&line, &mut answer)?;
            if let Answered::Line(before) = answered
                && !is_same(&before, &answer)
            {
                // What it decided then holds, and it would go on as if it had decided otherwise.
                let why = match self.goes_on {
                    GoesOn::AsItWas => "before the run was resumed, so it is not deterministic",
                    GoesOn::Otherwise => "in the run, since it judges the past by the changed scenario",
                };
                return Err(format!(
                    "it answers question {number} otherwise than {why}: {} instead of {}; \
                     with `save` in its answers it need not be asked again",
                    String::from_utf8_lossy(&answer),
                    String::from_utf8_lossy(&before)
                ));
            }
        }
        Ok(())
    }

    /// Answers a question.
    fn answer(&mut self, number: u64, question: &[u8], answer: &mut Vec<u8>) -> Result<(), String> {
        if let Some(trouble) = &self.trouble {
            return Err(trouble.clone());
        }
        if let Some(Earlier::Open(past)) = &mut self.past
            && past.has(number)
        {
            return match past.answer(question)? {
                Answered::Line(line) => {
                    answer.extend_from_slice(&line);
                    Ok(())
                }
                Answered::Not(why) => Err(why),
            };
        }
        match self.past.take() {
            Some(Earlier::Open(past)) => self.catch_up(past)?,
            Some(Earlier::Closed(path)) => self.catch_up(Past::open(&path, 0, self.goes_on)?)?,
            None => {}
        }
        if let Some(journal) = &mut self.journal {
            journal.settle()?;
            journal.note(b'>', question);
        }
        self.exchange(question, answer)?;
        if let Trial::StopAt(at, control) = &self.trial
            && number >= *at
        {
            control.stop();
        }
        if let Some(journal) = &mut self.journal {
            journal.note(b'<', answer);
        }
        Ok(())
    }
}

/// A program that its run knows, too.
struct Shared(Arc<Mutex<Program>>);

impl Shared {
    fn program(&self) -> MutexGuard<'_, Program> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Oracle for Shared {
    fn ask(&mut self, number: u64, question: &[u8], answer: &mut Vec<u8>) -> Result<(), String> {
        self.program().answer(number, question, answer)
    }

    fn fell_back(&mut self, number: u64, policy: &Named, why: &str) {
        let program = &mut *self.program();
        let name = &program.name;
        program.progress.warn(format!(
            "broker program `{name}`, question {number}: {why}; `{policy}` decides for the rest of the run"
        ));
        // What an earlier process has noted stays.
        let noted = matches!(&program.past, Some(Earlier::Open(past)) if past.last >= number);
        if let Some(journal) = program.journal.as_mut().filter(|_| !noted) {
            journal.note(b'!', why.as_bytes());
        }
        if let Some(child) = &mut program.child {
            child.end();
        }
    }

    fn resume(&mut self, questions: u64, _: Option<&str>) {
        let program = &mut *self.program();
        let Some(Earlier::Closed(path)) = &program.past else { return };
        let path = path.clone();
        let opened = Past::open(&path, questions, program.goes_on)
            .and_then(|past| Ok((Journal::go_on(&path, past.end)?, past)));
        match opened {
            Ok((journal, past)) => {
                (program.journal, program.past) = (Some(journal), Some(Earlier::Open(past)));
            }
            Err(trouble) => program.trouble = Some(trouble),
        }
    }
}
