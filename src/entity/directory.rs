//! The directory: collects the sites' reports for the broker; its information is usually a little stale.

use serde::{Deserialize, Serialize};

use super::mailbox::{Mailbox, Moments};
use super::{Address, EntityError, Outbox, SiteReport, Stamp, ToBroker, ToDirectory};
use crate::model::SiteId;
use crate::units::Span;

/// Receives the sites' reports and sends those of one moment to the broker together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Directory {
    mail: Mailbox<ToDirectory>,
    /// When each site last measured itself, according to the reports received.
    measured: Vec<Option<Stamp>>,
    reports: u64,
}

impl Directory {
    /// A directory of so many sites that has no reports yet.
    pub fn new(sites: usize) -> Self {
        Self { measured: vec![None; sites], ..Self::default() }
    }

    /// Restores the state of a directory of the same grid.
    ///
    /// # Errors
    /// [`EntityError::BadSave`] if the state does not fit.
    pub fn restore(&mut self, saved: Self) -> Result<(), EntityError> {
        if saved.measured.len() != self.measured.len() {
            return Err(self.bad_save("it was saved with another number of sites"));
        }
        *self = saved;
        Ok(())
    }

    /// When a site last measured itself, according to the reports received.
    pub fn measured(&self, site: SiteId) -> Option<Stamp> {
        self.measured.get(site.index()).copied().flatten()
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
        self.mail.due()
    }

    fn handle(&mut self, now: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        let mut batch: Vec<SiteReport> = Vec::new();
        while let Some(message) = self.mail.take(now) {
            let ToDirectory::Report(report) = message.body;
            self.reports += 1;
            // Where messages take less time than before, a newer report may have overtaken this one.
            if self.measured(report.site).is_some_and(|measured| measured > report.measured) {
                continue;
            }
            if let Some(measured) = self.measured.get_mut(report.site.index()) {
                *measured = Some(report.measured);
            }
            // Of two reports of one site the later replaces the earlier.
            match batch.last_mut().filter(|last| last.site == report.site) {
                Some(last) => *last = *report,
                None => batch.push(*report),
            }
        }
        if !batch.is_empty() {
            self.send(Address::Broker, now, Span::ZERO, ToBroker::View(batch), outbox);
        }
        Ok(())
    }
}
