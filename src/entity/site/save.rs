//! A site in a snapshot.

use serde::{Deserialize, Serialize};

use super::churn::ChurnSave;
use super::faults::MeetingSave;
use super::{Counts, EntityError, Mailbox, Moments, Reporting, Site, Stamp, ToSite};
use crate::agreement::Holder;
use crate::local::{PartitionSave, Step};
use crate::model::Record;
use crate::workload::Mark;

/// The whole state of a site between two moments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteSave {
    partitions: Vec<PartitionSave>,
    source: Option<Mark>,
    mail: Mailbox<ToSite>,
    uplink: Option<Reporting>,
    churn: ChurnSave,
    meeting: MeetingSave,
    holder: Holder,
    counts: Counts,
    refused: u64,
    restore_records: Vec<Record>,
}

impl Site {
    /// The state, between two moments.
    ///
    /// # Errors
    /// [`EntityError::BadSave`] if the workload cannot be continued (standard input).
    pub fn save(&self) -> Result<SiteSave, EntityError> {
        let source = match &self.source.source {
            None => None,
            Some(source) => Some(
                source
                    .mark()
                    .ok_or_else(|| self.bad_save("its workload cannot be continued from the middle"))?,
            ),
        };
        Ok(SiteSave {
            partitions: self.partitions.iter().map(crate::local::Partition::save).collect(),
            source,
            mail: self.mail.clone(),
            uplink: self.uplink.clone(),
            churn: self.churn.save(),
            meeting: self.meeting.save(),
            holder: self.holder.clone(),
            counts: self.counts,
            refused: self.refused,
            restore_records: self.restore_records.clone(),
        })
    }

    /// Restores the state of a site of the same description, with a freshly opened source. With `adopt`, what
    /// [`crate::grid::changes`] allows may change from that moment on.
    ///
    /// # Errors
    /// [`EntityError`] if the state does not fit.
    pub fn restore(&mut self, saved: SiteSave, adopt: Option<Stamp>) -> Result<(), EntityError> {
        if saved.partitions.len() != self.partitions.len() {
            return Err(self.bad_save("it was saved with another number of partitions"));
        }
        match (&mut self.source.source, &saved.source) {
            (Some(source), Some(mark)) => source.seek(mark)?,
            (None, None) => {}
            _ => return Err(self.bad_save("it was saved with another workload")),
        }
        self.source.refresh()?;
        self.mail = saved.mail;
        if let Some(moment) = adopt {
            self.mail.pass(moment);
        }
        self.find_order();
        self.meeting.restore(saved.meeting, self.mail.passed());
        let now = self.mail.passed().time;
        let mut restore_records = saved.restore_records;
        for (partition, saved) in self.partitions.iter_mut().zip(saved.partitions) {
            let mut step = Step::new(now, &mut restore_records, &mut self.ended);
            partition.restore(saved, adopt.is_some(), &mut step)?;
        }
        self.holder = saved.holder;
        self.counts = saved.counts;
        self.churn.restore(saved.churn, &self.spec, adopt).map_err(|problem| self.bad_save(&problem))?;
        if adopt.is_some() {
            self.follow_drains_anew(now, &mut restore_records);
        }
        match (&mut self.uplink, saved.uplink) {
            (Some(uplink), Some(saved)) => uplink.restore(saved, now),
            (None, None) => {}
            _ => {
                return Err(
                    self.bad_save("it was saved with a broker and the grid has none, or the other way round")
                );
            }
        }
        self.refused = saved.refused;
        self.restore_records = restore_records;
        self.refresh();
        Ok(())
    }
}
