//! The policy that hands its questions on to a program.

use serde::{Deserialize, Serialize};

use super::asker::{Asker, Beside, Kept, OneByOne};
use super::question::Why;
use super::{FellBack, Hello, Mode, NAME, ProgramFacts, SharedOracle};
use crate::broker::{
    Answer, BrokerAbilities, BrokerEvent, BrokerPolicy, BrokerPolicyInfo, BrokerRegistry, GridView,
};
use crate::model::{Named, NamedError, RegistryError};
use crate::units::Span;

/// The policy that takes the place of a program that does not answer as it must.
#[derive(Clone, Debug)]
pub struct Fallback {
    named: Named,
    registry: BrokerRegistry,
}

impl Fallback {
    /// A policy of this registry, for a program that says this of itself.
    ///
    /// # Errors
    /// A sentence on why it cannot take the place of the program, or is not there.
    pub fn new(named: Named, registry: &BrokerRegistry, hello: &Hello) -> Result<Self, String> {
        let own = hello.abilities();
        let (_, abilities) = registry.build(&named, 0).map_err(|error: RegistryError| error.to_string())?;
        let lacks = |what: &str| {
            Err(format!(
                "`{named}` cannot take the place of the program: it {what}, and the program does not"
            ))
        };
        if abilities.pulls && !own.pulls {
            return lacks("waits for requests of pools");
        }
        if abilities.workflows && !own.workflows {
            return lacks("plans whole workflows");
        }
        Ok(Self { named, registry: registry.clone() })
    }
}

/// The entry of the registry for a program that is asked through `oracle` and says `hello` of itself. In messages it is called `name`.
pub fn outside(
    name: impl Into<String>,
    hello: Hello,
    oracle: SharedOracle,
    fallback: Option<Fallback>,
) -> BrokerPolicyInfo {
    let name = name.into();
    BrokerPolicyInfo::new(NAME, move |_, seed| {
        let instead = |Fallback { named, registry }: &Fallback| {
            let (policy, _) = registry.build(named, seed).map_err(|error| match error {
                RegistryError::Param(error) => error,
                RegistryError::Unknown { .. } => NamedError::Syntax(named.to_string()),
            })?;
            Ok::<_, NamedError>((named.clone(), policy))
        };
        let policy = Outside {
            asker: Asker::new(name.clone(), hello.clone(), oracle.clone()),
            fallback: fallback.as_ref().map(instead).transpose()?,
        };
        Ok((Box::new(policy), hello.abilities()))
    })
    .doc("Hands its questions on to a program.")
}

/// The entry of the registry for a program that is not there: a grid can be built with it, and not run.
pub(crate) fn absent() -> BrokerPolicyInfo {
    struct Absent;
    impl BrokerPolicy for Absent {
        fn plan(&mut self, view: &mut GridView<'_>) -> Answer {
            view.done()
        }
    }
    BrokerPolicyInfo::new(NAME, |_, _| {
        Ok((Box::new(Absent), BrokerAbilities { random: true, takes_time: true, ..BrokerAbilities::PLAIN }))
    })
}

/// A program, and the policy that takes its place if it must.
struct Outside {
    asker: Asker,
    fallback: Option<(Named, Box<dyn BrokerPolicy>)>,
}

/// The state in a snapshot.
#[derive(Serialize, Deserialize)]
struct Saved {
    kept: Kept,
    fallback: Vec<u8>,
}

impl Outside {
    /// What is done about a question that was not answered as it must be.
    fn fail(&mut self, view: &mut GridView<'_>, why: String) -> Answer {
        let error = self.asker.error(view.now(), why);
        let Some((named, policy)) = &mut self.fallback else { return Answer::Failed(Box::new(error)) };
        self.asker.oracle.with(|oracle| oracle.fell_back(error.question, named, &error.problem));
        self.asker.kept.fell_back = Some(FellBack {
            policy: named.to_string(),
            at: error.at,
            question: error.question,
            why: error.problem,
        });
        policy.plan(view)
    }
}

impl BrokerPolicy for Outside {
    fn on(&mut self, event: &BrokerEvent) {
        if let (Some(_), Some((_, policy))) = (&self.asker.kept.fell_back, &mut self.fallback) {
            return policy.on(event);
        }
        let mut why = Why(self.asker.kept.why);
        why.add(event);
        self.asker.kept.why = why.0;
        if self.follows() {
            self.asker.kept.books.note(event);
        }
    }

    fn plan(&mut self, view: &mut GridView<'_>) -> Answer {
        if let (Some(_), Some((_, policy))) = (&self.asker.kept.fell_back, &mut self.fallback) {
            return policy.plan(view);
        }
        let answered = match self.asker.hello.mode() {
            Mode::Batch => self.asker.ask_all(view),
            Mode::Immediate => {
                let mut one_by_one =
                    OneByOne { asker: &mut self.asker, beside: Beside::default(), problem: None };
                view.sweep(&mut one_by_one);
                match one_by_one.problem {
                    Some(problem) => Err(problem),
                    None => Ok(one_by_one.beside),
                }
            }
        };
        self.asker.kept.why = 0;
        let Beside { takes, later } = match answered {
            Ok(beside) => beside,
            Err(why) => return self.fail(view, why),
        };
        match (view.done(), later) {
            (Answer::Done(plan), Some(at)) => Answer::Later { at, takes, plan },
            (Answer::Done(plan), None) if takes > Span::ZERO => Answer::After(takes, plan),
            (answer, _) => answer,
        }
    }

    fn follows(&self) -> bool {
        self.asker.hello.wants_changes()
    }

    fn program(&self) -> Option<ProgramFacts> {
        let Kept { questions, repeated, ref fell_back, .. } = self.asker.kept;
        Some(ProgramFacts { name: self.asker.name.clone(), questions, repeated, fallback: fell_back.clone() })
    }

    fn save(&self) -> Vec<u8> {
        let fallback = self.fallback.as_ref().map(|(_, policy)| policy.save()).unwrap_or_default();
        let saved = Saved { kept: self.asker.kept.clone(), fallback };
        // A `Vec` takes all that is written.
        postcard::to_stdvec(&saved).unwrap_or_default()
    }

    fn restore(&mut self, saved: &[u8]) -> Result<(), String> {
        let Saved { kept, fallback } = postcard::from_bytes(saved).map_err(|error| error.to_string())?;
        self.asker.kept = kept;
        if let Some((_, policy)) = &mut self.fallback {
            policy.restore(&fallback)?;
        }
        let Kept { questions, ref save, .. } = self.asker.kept;
        self.asker.oracle.with(|oracle| oracle.resume(questions, save.as_deref()));
        Ok(())
    }
}
