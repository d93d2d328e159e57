//! What a partition tells the grid of itself.

use super::{Outlook, Partition, View};
use crate::model::Payer;
use crate::units::{Power, Price, Rate, Time};

impl Partition {
    /// Processors of machines that are there, in whole allocation blocks.
    pub fn present(&self) -> u32 {
        self.state.here.len()
    }

    /// When a newcomer could start, between two instants; see [`super::LocalPolicy::outlook`].
    pub fn outlook(&self, now: Time) -> Outlook {
        self.policy.outlook(&View { state: &self.state, now })
    }

    /// Processors × estimate of the jobs that wait (see [`Partition::waiting`]), in processor-microseconds.
    pub fn backlog(&self) -> u128 {
        let aside = self.state.aside.iter().copied().chain(self.state.agenda.early());
        let aside = aside.filter_map(|key| self.state.table.get(key));
        self.state.backlog + aside.map(super::LiveJob::area).sum::<u128>()
    }

    /// Jobs that wait, those for which there are not enough machines now and those that ask for a later start among them.
    pub fn waiting(&self) -> u32 {
        let aside = self.state.aside.len() + self.state.agenda.early().len();
        u32::try_from(self.state.waiting + aside as u64).unwrap_or(u32::MAX)
    }

    /// Jobs that run.
    pub fn running(&self) -> u32 {
        self.state.running
    }

    /// What the processors draw now (IT power, without PUE): those that jobs use at busy power, as far as their share goes, the
    /// others of machines that are there at idle power.
    pub fn power(&self) -> Power {
        let state = &self.state;
        let full = Rate::FULL.units();
        let busy = if state.slots == 1 {
            let reserved: u32 = state.book.pending().iter().map(|booking| booking.taken.len()).sum();
            u64::from(state.capacity - state.unused - reserved) * full
        } else {
            state.load.iter().map(|load| u64::from(load.share)).sum()
        };
        state.tariff.power(busy, u64::from(state.powered()) * full)
    }

    /// The price a core-hour now.
    pub fn price(&self, now: Time) -> Price {
        self.state.tariff.price_at(now)
    }

    /// Whether something will happen here by itself that moves a job: an end, a wake, a reservation that begins or ends, a requested
    /// start.
    pub fn moves(&self) -> bool {
        self.running() > 0
            || self.wake.is_some()
            || self.state.book.next_change().is_some()
            || self.state.agenda.next().is_some()
    }

    /// The account of the processors begins now, if it has not begun.
    pub(crate) fn open_account(&mut self, now: Time) {
        self.state.account_from(now);
    }

    /// Who pays for attempts that are lost to churn.
    pub(crate) fn charge_lost_attempts_to(&mut self, payer: Payer) {
        self.state.settings.lost_attempts = payer;
    }

    /// The account of the processors ends now.
    pub(crate) fn close_account(&mut self, now: Time) {
        self.state.account_until(now);
    }
}
