//! The portal: where work enters the grid.

use serde::{Deserialize, Serialize};

use super::mailbox::{self, Mailbox, Moments};
use super::{Address, Body, Entity, EntityError, Message, Outbox, Pending, Stamp};
use crate::model::GridPart;
use crate::units::{Span, Time};
use crate::workload::{Mark, Source, SourceError};

/// Hands the jobs of the grid's workload to the broker when they are submitted.
///
/// Users submit in round 1 of an instant, when what ended at that instant has ended: so a broker whose picture is never stale
/// sees the grid as it is when the job comes.
pub struct Portal {
    source: Box<dyn Source>,
    /// Whether the source wants to hear of ends.
    feedback: bool,
    next: Option<Time>,
    state: State,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    mail: Mailbox,
    let_in: u64,
    last: Time,
}

/// A portal in a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortalSave {
    state: State,
    mark: Mark,
}

impl std::fmt::Debug for Portal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Portal").field("next", &self.next).field("state", &self.state).finish_non_exhaustive()
    }
}

impl Portal {
    /// A portal for this workload.
    ///
    /// # Errors
    /// [`EntityError::Source`] if its first job cannot be read.
    pub fn new(source: Box<dyn Source>) -> Result<Self, EntityError> {
        let feedback = source.has_feedback();
        let mut portal = Self { source, feedback, next: None, state: State::default() };
        portal.refresh()?;
        Ok(portal)
    }

    /// What the workload has to tell at the end of the run.
    pub fn notes(&self) -> Vec<String> {
        self.source.notes()
    }

    /// Whether the workload wants to hear of ends.
    pub fn has_feedback(&self) -> bool {
        self.feedback
    }

    /// Jobs let in so far.
    pub fn let_in(&self) -> u64 {
        self.state.let_in
    }

    fn refresh(&mut self) -> Result<(), EntityError> {
        self.next = self.source.peek_time()?;
        match self.next {
            // It would never come, and nobody would miss it.
            Some(Time::NEVER) => Err(SourceError::beyond_the_axis().into()),
            _ => Ok(()),
        }
    }

    /// The state, between two moments.
    ///
    /// # Errors
    /// [`EntityError::BadSave`] if the workload cannot be continued (standard input).
    pub fn save(&self) -> Result<PortalSave, EntityError> {
        let mark = self.source.mark().ok_or_else(|| EntityError::BadSave {
            who: self.who(),
            problem: "its workload cannot be continued from the middle".to_owned(),
        })?;
        Ok(PortalSave { state: self.state.clone(), mark })
    }

    /// Takes back a state, with a freshly opened source.
    ///
    /// # Errors
    /// [`EntityError`] if the state does not fit.
    pub fn restore(&mut self, saved: PortalSave) -> Result<(), EntityError> {
        self.source.seek(&saved.mark)?;
        self.state = saved.state;
        self.refresh()
    }
}

impl Moments for Portal {
    fn mail(&mut self) -> &mut Mailbox {
        &mut self.state.mail
    }

    fn next(&self) -> Option<Stamp> {
        let own = self.next.map(|time| Stamp::at(time).next_round().max(self.state.mail.passed()));
        own.into_iter().chain(self.state.mail.due()).min()
    }

    fn handle(&mut self, now: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        while let Some(message) = self.state.mail.take(now) {
            if let Body::Ended { job, .. } = message.body {
                self.source.ended(job, now.time);
                self.refresh()?;
            }
        }
        self.state.last = now.time;
        let due = |next: Time| Stamp::at(next).next_round() <= now;
        while self.next.is_some_and(due) {
            let job = self.source.next_job()?;
            self.refresh()?;
            let Some(mut job) = job else { break };
            let number = self.state.let_in;
            self.state.let_in += 1;
            // Partitions are the broker's choice.
            job.partition = None;
            let part = job.grid.take().map_or_else(GridPart::default, |part| *part);
            job.grid = Some(Box::new(GridPart { number, ..part }));
            let body = Body::Submit(Box::new(job));
            self.state.mail.send(Address::Portal, Address::Broker, now, Span::ZERO, body, outbox);
        }
        Ok(())
    }

    fn who(&self) -> String {
        Address::Portal.to_string()
    }
}

impl Entity for Portal {
    fn address(&self) -> Address {
        Address::Portal
    }

    fn next_event(&self) -> Option<Stamp> {
        self.next()
    }

    fn advance(&mut self, until: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        mailbox::advance(self, until, outbox)
    }

    fn deliver(&mut self, message: Message) -> Result<(), EntityError> {
        self.state.mail.put(message, || Address::Portal.to_string())
    }

    fn pending(&self) -> Pending {
        Pending {
            let_in: self.state.let_in,
            done: 0,
            more: self.next.is_some(),
            last: self.state.last,
            moves: self.next.is_some(),
            may: false,
        }
    }
}
