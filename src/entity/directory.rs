//! The directory: collects the sites' reports for the broker; its information is usually a little stale.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::faults::AllFaults;
use super::mailbox::{Mailbox, Moments};
use super::{Address, EntityError, Outbox, Quiescence, SiteReport, Stamp, ToBroker, ToDirectory};
use crate::model::{EventCause, EventKind, EventRecord, Record, SiteId};
use crate::platform::{Answers, FaultTurn, SiteFaults};
use crate::units::{Span, Time};

/// Receives the sites' reports and sends those of one moment to the broker together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Directory {
    mail: Mailbox<ToDirectory>,
    /// When each site last measured itself, according to the reports received.
    measured: Vec<Option<Stamp>>,
    reports: u64,
    /// Faults of what it answers about each site.
    #[serde(skip)]
    faults: AllFaults,
    /// How many of their turns have been carried out.
    turned: usize,
    /// The newest report of each site that has such faults.
    newest: BTreeMap<SiteId, SiteReport>,
    /// What it answers about sites instead.
    answered: BTreeMap<SiteId, Option<SiteReport>>,
}

impl Directory {
    /// A directory of sites with these faults that has no reports yet.
    pub fn new(faults: Vec<Option<Arc<SiteFaults>>>) -> Self {
        let measured = vec![None; faults.len()];
        Self {
            measured,
            faults: AllFaults::of(faults, |turn| turn == FaultTurn::Directory),
            ..Self::default()
        }
    }

    /// Restores the state of a directory of the same grid.
    ///
    /// # Errors
    /// [`EntityError::BadSave`] if the state does not fit.
    pub fn restore(&mut self, saved: Self) -> Result<(), EntityError> {
        if saved.measured.len() != self.measured.len() {
            return Err(self.bad_save("it was saved with another number of sites"));
        }
        *self = Self { faults: std::mem::take(&mut self.faults), ..saved };
        Ok(())
    }

    /// When a site last measured itself, according to the reports received.
    pub fn measured(&self, site: SiteId) -> Option<Stamp> {
        self.measured.get(site.index()).copied().flatten()
    }

    /// Changes what it answers about a site. Returns what it answers from now on, if it is the truth again.
    fn turn(&mut self, site: SiteId, now: Time) -> Option<SiteReport> {
        let answers = self.faults.site(site).map_or(Answers::Present, |faults| faults.answers(now));
        match answers {
            Answers::Present => {
                self.answered.remove(&site)?;
                self.newest.get(&site).cloned()
            }
            Answers::Empty => {
                self.answered.insert(site, None);
                None
            }
            Answers::Stale => {
                let known = self.newest.get(&site).cloned();
                self.answered.entry(site).or_insert(known);
                None
            }
        }
    }

    /// Takes a report. Returns what is answered about its site, if anything is; or the report itself, if it is not newer than what is known.
    fn take(&mut self, report: SiteReport) -> Result<Option<SiteReport>, SiteReport> {
        self.reports += 1;
        // A newer report may have overtaken this one, or it has come before.
        if self.measured(report.site).is_some_and(|measured| measured >= report.measured) {
            return Err(report);
        }
        if let Some(measured) = self.measured.get_mut(report.site.index()) {
            *measured = Some(report.measured);
        }
        if !self.faults.is_followed(report.site) {
            return Ok(Some(report));
        }
        self.newest.insert(report.site, report.clone());
        Ok(match self.answered.get(&report.site) {
            Some(instead) => instead.clone(),
            None => Some(report),
        })
    }
}

impl Moments for Directory {
    type Letter = ToDirectory;

    fn address(&self) -> Address {
        Address::Directory
    }

    fn mail(&mut self) -> &mut Mailbox<ToDirectory> {
        &mut self.mail
    }

    fn next(&self) -> Option<Stamp> {
        let turn = self.faults.next(self.turned).map(|turn| self.mail.own(turn));
        turn.into_iter().chain(self.mail.due()).min()
    }

    /// What it answers may let jobs go on, so a run is not over before its faults are.
    fn quiescence(&self) -> Quiescence {
        let last = self.faults.last(self.turned).unwrap_or_default();
        Quiescence { self_active: self.faults.next(self.turned).is_some(), last, ..Quiescence::default() }
    }

    fn handle(&mut self, now: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        let mut batch: Vec<SiteReport> = Vec::new();
        let mut answers = false;
        while let Some((site, _)) = self.faults.take(&mut self.turned, now.time) {
            batch.extend(self.turn(site, now.time));
        }
        while let Some(message) = self.mail.take(now) {
            let ToDirectory::Report(report) = message.body;
            match self.take(*report) {
                // Of two reports of one site the later replaces the earlier.
                Ok(Some(report)) => match batch.last_mut().filter(|last| last.site == report.site) {
                    Some(last) => *last = report,
                    None => batch.push(report),
                },
                Ok(None) => answers = true,
                Err(SiteReport { site, .. }) if self.faults.site(site).is_some() => {
                    let (kind, cause) = (EventKind::Stale, EventCause::None);
                    outbox.record(Record::Event(EventRecord::new(now.time, kind, cause, site)));
                }
                Err(_) => {}
            }
        }
        if answers || !batch.is_empty() {
            self.send(Address::Broker, now, Span::ZERO, ToBroker::View(batch), outbox);
        }
        Ok(())
    }
}
