//! The state of a partition as its site reports it to the grid.

use super::Partition;
use crate::local::{StartEstimates, Step, View};
use crate::model::Payer;
use crate::units::{Power, Price, Rate, Time};

impl Partition {
    /// Processors of machines that are up, in whole allocation blocks, as far as a power cap leaves them to jobs.
    pub fn present(&self) -> u32 {
        self.state.here.len().min(self.state.spec.most())
    }

    /// The free processors by group of machines, in the order in which they are given; none if there is one group.
    pub fn free_by_group(&self) -> Vec<u32> {
        self.state.groups.count(&self.state.free)
    }

    /// When an arriving job could start, between two instants; see [`crate::local::LocalPolicy::start_estimates`].
    pub fn start_estimates(&self, now: Time) -> StartEstimates {
        let view = View { state: &self.state, now };
        self.policy.start_estimates(&view).not_asleep(view.awake(), now)
    }

    /// Processors × estimate of the jobs that wait (see [`Partition::waiting`]), in processor-microseconds.
    pub fn backlog(&self) -> u128 {
        self.state.backlog + self.state.ineligible_backlog
    }

    /// Jobs that wait, including those that wait for machines or for their requested start.
    pub fn waiting(&self) -> u32 {
        let ineligible = self.state.ineligible.len() + self.state.agenda.early();
        u32::try_from(self.state.waiting + ineligible as u64).unwrap_or(u32::MAX)
    }

    /// The number of running jobs.
    pub fn running(&self) -> u32 {
        self.state.running
    }

    /// The power that the machines draw now (IT power, without PUE): what they draw without any job, and for each running job what
    /// its processors draw beyond that, in proportion to its share.
    pub fn power(&self, now: Time) -> Power {
        let (state, standing) = (&self.state, self.state.standing());
        let mut drawn = standing.awake + standing.loaded + standing.asleep + standing.transitions;
        // Where it goes by the load of machines, that has what jobs draw.
        if state.loads.is_none() && state.tariff.is_powered() {
            drawn +=
                if state.multiprogramming_level == 1 { state.busy_draw(now) } else { state.summed_draw(now) };
        }
        Power::from_milliwatts((drawn >> Rate::BITS) as u64)
    }

    /// The price of a core-hour now.
    pub fn price(&self, now: Time) -> Price {
        self.state.tariff.price_at(now)
    }

    /// Whether an event to come here may move a job: an end, a wake, a reservation that begins or ends, a requested
    /// start.
    pub fn self_active(&self) -> bool {
        self.running() > 0
            || self.wake.is_some()
            || self.state.book.next_change().is_some()
            || self.state.agenda.next().is_some()
    }

    /// Ends transitions of machines that are due: they sleep, are awake, or have been idle for long enough.
    pub fn follow_power(&mut self, step: &mut Step<'_>) {
        if self.state.sleepers.is_some() {
            self.state.follow_power(step);
        }
    }

    /// After the passes of an instant: puts machines to sleep that have been idle for long enough, and wakes up those that a reserve
    /// lacks.
    pub fn settle_power(&mut self, step: &mut Step<'_>) {
        self.state.settle_power(step);
    }

    /// Begins the account of the processors now, if it has not begun.
    pub(crate) fn open_account(&mut self, now: Time) {
        self.state.account_from(now);
    }

    /// Sets who pays for attempts that fail because of churn.
    pub(crate) fn charge_failed_attempts_to(&mut self, payer: Payer) {
        self.state.settings.failed_attempts = payer;
    }

    /// Ends the account of the processors now.
    pub(crate) fn close_account(&mut self, now: Time) {
        self.state.account_until(now);
    }
}
