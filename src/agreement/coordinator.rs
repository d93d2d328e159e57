//! The side that wants processors at several places at once.

use serde::{Deserialize, Serialize};

use super::{Answer, Ask, HoldId, Refusal, Wanted};
use crate::units::{Span, Time};

/// How long a coordinator waits.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Terms {
    /// How long a site holds what it is asked for, and how long it keeps what is committed for a job that has not come.
    pub lease: Span,
    /// How long an answer is waited for before the site is asked again.
    pub patience: Span,
    /// How long a job takes to its site.
    pub travel: Span,
}

/// A part of a request, and what its site has answered last.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Part {
    /// What it needs.
    pub wanted: Wanted,
    /// What is known of it.
    pub answer: Option<Answer>,
}

/// What became of a request.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Verdict {
    /// All parts are committed: the jobs may go.
    Agreed,
    /// This alternative cannot be had: a site has refused it, or has not answered in time (`None`). All is released.
    Failed(Option<(u32, Refusal)>),
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Phase {
    Holding,
    Committing,
    /// It has failed: sites that have not said that nothing is left there are told again.
    Releasing,
    Over,
}

/// One round of a request: the attempt to have processors at several places from one instant on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Coordinator {
    request: u64,
    round: u32,
    terms: Terms,
    parts: Vec<Part>,
    phase: Phase,
    /// When what is held lapses.
    lease: Time,
    /// When what is committed lapses without its job.
    claim_by: Time,
    /// When the sites that have not answered are asked again.
    again: Time,
}

impl Coordinator {
    /// Begins a round. Returns it, and asks all sites to hold their parts.
    pub fn begin(
        (request, round): (u64, u32),
        wanted: impl IntoIterator<Item = Wanted>,
        terms: Terms,
        now: Time,
        send: &mut dyn FnMut(HoldId, &Wanted, Ask),
    ) -> Self {
        let parts: Vec<Part> = wanted.into_iter().map(|wanted| Part { wanted, answer: None }).collect();
        let start = parts.iter().map(|part| part.wanted.from).min().unwrap_or(now);
        let lease = (now + terms.lease).min(start);
        let begun = Self {
            request,
            round,
            terms,
            parts,
            phase: Phase::Holding,
            lease,
            claim_by: (lease + terms.lease).min(start),
            again: now + terms.patience,
        };
        begun.ask_all(send);
        begun
    }

    /// Its round.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// When it wants to be woken.
    pub fn next(&self) -> Option<Time> {
        match self.phase {
            Phase::Holding => Some(self.again.min(self.lease)),
            Phase::Committing | Phase::Releasing => Some(self.again.min(self.claim_by)),
            Phase::Over => None,
        }
    }

    /// Takes an answer. Returns what became of the request, if that is decided by it.
    pub fn hear(
        &mut self,
        id: HoldId,
        answer: Answer,
        now: Time,
        send: &mut dyn FnMut(HoldId, &Wanted, Ask),
    ) -> Option<Verdict> {
        if (id.request, id.round) != (self.request, self.round) {
            return None;
        }
        let part = self.parts.get_mut(id.part as usize)?;
        match (self.phase, answer) {
            (Phase::Over, _) => return None,
            (Phase::Releasing, Answer::Gone(_)) => {
                part.answer = Some(answer);
                self.settle();
                return None;
            }
            // It was said before the release was heard.
            (Phase::Releasing, _) => return None,
            (_, Answer::Gone(why)) => {
                part.answer = Some(answer);
                return Some(self.fail(Some((id.part, why)), now, send));
            }
            // An answer of before.
            (Phase::Committing, Answer::Held) if part.answer == Some(Answer::Committed) => return None,
            (Phase::Committing, Answer::Held) => {
                // It has not heard that it is to commit, or this was said before it did.
                send(id, &part.wanted, Ask::Commit { claim_by: self.claim_by });
                return None;
            }
            (_, Answer::Held | Answer::Committed) => part.answer = Some(answer),
        }
        let all = |wanted: Answer| self.parts.iter().all(|part| part.answer == Some(wanted));
        if self.phase == Phase::Holding && all(Answer::Held) {
            if now + self.terms.travel >= self.lease {
                return Some(self.fail(None, now, send));
            }
            self.phase = Phase::Committing;
            let start = self.parts.iter().map(|part| part.wanted.from).min().unwrap_or(now);
            self.claim_by = (now + self.terms.lease).min(start).max(self.lease);
            self.again = now + self.terms.patience;
            self.tell_all(send, |_| Some(Ask::Commit { claim_by: self.claim_by }));
        } else if self.phase == Phase::Committing && all(Answer::Committed) {
            if now + self.terms.travel >= self.claim_by {
                return Some(self.fail(None, now, send));
            }
            self.phase = Phase::Over;
            return Some(Verdict::Agreed);
        }
        None
    }

    /// Something is due: sites that have not answered are asked again, or it is too late. Returns what became of the request, if that is decided.
    pub fn wake(&mut self, now: Time, send: &mut dyn FnMut(HoldId, &Wanted, Ask)) -> Option<Verdict> {
        if self.next().is_none_or(|next| now < next) {
            return None;
        }
        match self.phase {
            Phase::Holding if self.lease <= now => return Some(self.fail(None, now, send)),
            Phase::Committing if self.claim_by <= now => return Some(self.fail(None, now, send)),
            // Nothing is left anywhere.
            Phase::Releasing if self.claim_by <= now => self.phase = Phase::Over,
            _ => {
                self.again = now + self.terms.patience;
                self.ask_all(send);
            }
        }
        None
    }

    fn fail(
        &mut self,
        why: Option<(u32, Refusal)>,
        now: Time,
        send: &mut dyn FnMut(HoldId, &Wanted, Ask),
    ) -> Verdict {
        self.phase = Phase::Releasing;
        self.again = now + self.terms.patience;
        self.ask_all(send);
        self.settle();
        Verdict::Failed(why)
    }

    /// All sites have said that nothing is left there.
    fn settle(&mut self) {
        if self.parts.iter().all(|part| matches!(part.answer, Some(Answer::Gone(_)))) {
            self.phase = Phase::Over;
        }
    }

    /// Asks the sites whose answer is not what the phase waits for. Whether one that has not said so has committed is found out first.
    fn ask_all(&self, send: &mut dyn FnMut(HoldId, &Wanted, Ask)) {
        self.tell_all(send, |part| match (self.phase, part.answer) {
            (Phase::Holding, None) => Some(Ask::Hold { wanted: part.wanted, lease: self.lease }),
            (Phase::Committing, Some(Answer::Held)) => Some(Ask::Query),
            (Phase::Releasing, None | Some(Answer::Held | Answer::Committed)) => {
                Some(Ask::Release { until: self.claim_by })
            }
            _ => None,
        });
    }

    fn tell_all(&self, send: &mut dyn FnMut(HoldId, &Wanted, Ask), ask: impl Fn(&Part) -> Option<Ask>) {
        for (at, part) in (0_u32..).zip(&self.parts) {
            let id = HoldId { request: self.request, round: self.round, part: at };
            if let Some(ask) = ask(part) {
                send(id, &part.wanted, ask);
            }
        }
    }
}
