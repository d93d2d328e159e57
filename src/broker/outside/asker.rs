//! Asks a program: numbers questions, reads answers, and keeps what its author wants to be kept.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::answer::{Item, Reply};
use super::books::{Books, Known};
use super::question::{ChoiceLine, JobLine, Question, Why};
use super::{FellBack, Hello, ProgramError, SharedOracle, decide};
use crate::broker::{Choose, Gate, GridView, Pick, Task};
use crate::model::TaskId;
use crate::units::{Span, Time};

/// Most questions at one instant, beyond the first about each task.
pub(super) const MOST_AT_ONCE: u32 = 10_000;

/// The state of a conversation, as it is saved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kept {
    /// The number of questions.
    pub(super) questions: u64,
    /// The highest number of a decision.
    highest: Option<u64>,
    /// Decisions that were sent again.
    pub(super) repeated: u64,
    /// What the program gave to be saved last.
    pub(super) save: Option<String>,
    /// What has happened since the last question.
    pub(super) why: u16,
    /// What the program was told.
    pub(super) books: Books,
    /// If another policy has taken its place: when, and why.
    pub(super) fell_back: Option<FellBack>,
}

/// A program that is asked.
#[derive(Debug)]
pub(super) struct Asker {
    pub(super) name: String,
    pub(super) hello: Hello,
    pub(super) oracle: SharedOracle,
    pub(super) kept: Kept,
    /// Questions at the present instant, beyond the first about each task, and these tasks.
    at_once: (Time, u32, BTreeSet<TaskId>),
    question: Vec<u8>,
    answer: Vec<u8>,
}

/// What a program has answered in a plan beside its decisions.
#[derive(Debug, Default)]
pub(super) struct Beside {
    pub(super) takes: Span,
    pub(super) later: Option<Time>,
}

impl Asker {
    pub(super) fn new(name: String, hello: Hello, oracle: SharedOracle) -> Self {
        let (kept, at_once) = (Kept::default(), <_>::default());
        Self { name, hello, oracle, kept, at_once, question: Vec::new(), answer: Vec::new() }
    }

    /// The error of the last question.
    pub(super) fn error(&self, at: Time, problem: String) -> ProgramError {
        ProgramError { name: self.name.clone(), question: self.kept.questions, at, problem }
    }

    /// Counts a question at an instant, about one task or all.
    fn count(&mut self, now: Time, task: Option<TaskId>) -> Result<(), String> {
        let (instant, count, asked) = &mut self.at_once;
        if *instant != now {
            (*instant, *count) = (now, 0);
            asked.clear();
        }
        let is_new = task.is_some_and(|task| asked.insert(task));
        *count += u32::from(!is_new);
        if *count > MOST_AT_ONCE {
            return Err(format!(
                "it was asked {MOST_AT_ONCE} times at this instant, and time does not go on"
            ));
        }
        Ok(())
    }

    /// Asks about all that waits, and writes the decisions into the view.
    pub(super) fn ask_all(&mut self, view: &mut GridView<'_>) -> Result<Beside, String> {
        self.kept.questions += 1;
        self.count(view.now(), None)?;
        let mut question = self.begin(view.now());
        self.kept.books.tell(&mut question, view, &self.hello);
        question.write(&mut self.question)?;
        let (plan, beside) = self.exchange(view.now())?;
        for item in plan {
            decide::decide(view, &item, &mut self.kept.books)?;
        }
        Ok(beside)
    }

    /// Asks about one task.
    fn ask_one(&mut self, view: &GridView<'_>, task: Task<'_>) -> Result<(Pick, Beside), String> {
        self.kept.questions += 1;
        self.count(view.now(), Some(task.id()))?;
        let mut question = self.begin(view.now());
        if self.hello.wants_changes() {
            self.kept.books.tell(&mut question, view, &self.hello);
        }
        question.task = Some(task.id().0);
        question.job = Some(JobLine::of(task, view, false));
        question.choices = Some(ChoiceLine::all(task, view, &self.hello));
        question.write(&mut self.question)?;
        let (plan, beside) = self.exchange(view.now())?;
        let pick = match &plan[..] {
            [] => Pick::Leave,
            [item] => {
                let pick = decide::pick(view, task, item)?;
                match pick {
                    _ if !self.hello.wants_changes() => {}
                    Pick::Pool(pool, _) => self.kept.books.decided(task.id(), Known::Placed(pool)),
                    Pick::PutOff { .. } => self.kept.books.decided(task.id(), Known::PutOff),
                    _ => {}
                }
                pick
            }
            [_, second, ..] => {
                return Err(format!(
                    "decision {} is the second one about task {}; it needs one",
                    second.id,
                    task.id()
                ));
            }
        };
        Ok((pick, beside))
    }

    fn begin<'a>(&self, now: Time) -> Question<'a> {
        Question::new(self.kept.questions, now.micros(), Why(self.kept.why))
    }

    /// Sends the question and reads the answer: the decisions that are new, and what is said beside them.
    fn exchange(&mut self, now: Time) -> Result<(Vec<Item>, Beside), String> {
        let Self { oracle, question, answer, kept, .. } = self;
        answer.clear();
        oracle.with(|oracle| oracle.ask(kept.questions, question, answer))?;
        let Reply { mut plan, takes, later, save, .. } = Reply::read(answer, kept.questions)?;
        let later = later.map(Time::from_micros);
        if later.is_some_and(|later| later <= now) {
            return Err(format!(
                "it wants to be asked again at `later`, {}, which is not after now, {}",
                later.unwrap_or_default().micros(),
                now.micros()
            ));
        }
        plan.retain(|item| {
            let is_new = kept.highest.is_none_or(|highest| item.id > highest);
            if is_new {
                kept.highest = Some(item.id);
            } else {
                kept.repeated += 1;
            }
            is_new
        });
        if save.is_some() {
            kept.save = save;
        }
        Ok((plan, Beside { takes: Span::from_micros(takes), later }))
    }
}

/// A program of immediate mode within one plan.
#[derive(Debug)]
pub(super) struct OneByOne<'a> {
    pub(super) asker: &'a mut Asker,
    pub(super) beside: Beside,
    pub(super) problem: Option<String>,
}

impl Choose for OneByOne<'_> {
    fn gate(&self) -> Gate {
        self.asker.hello.gate()
    }

    fn choose(&mut self, view: &GridView<'_>, task: Task<'_>) -> Pick {
        if self.problem.is_some() {
            return Pick::Stop;
        }
        match self.asker.ask_one(view, task) {
            Ok((pick, Beside { takes, later })) => {
                self.beside.takes += takes;
                self.beside.later = self.beside.later.into_iter().chain(later).min();
                pick
            }
            Err(problem) => {
                self.problem = Some(problem);
                Pick::Stop
            }
        }
    }
}
