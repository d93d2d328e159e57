//! The state of a partition as its site reports it to the grid.

use super::Partition;
use crate::local::{Change, PartitionError, StartEstimates, Step, View};
use crate::model::{EventCause, EventKind, Payer};
use crate::units::{Power, Price, Rate, Time};

impl Partition {
    /// Processors of machines that are up and do not drain, in whole allocation blocks, as far as a power cap leaves them to jobs.
    pub fn present(&self) -> u32 {
        self.state.present.min(self.state.spec.most())
    }

    /// The free processors by group of machines, in the order in which they are given; none if there is one group.
    pub fn free_by_group(&self) -> Vec<u32> {
        self.state.groups.count(self.state.pool())
    }

    /// When an arriving job could start, between two instants; see [`crate::local::LocalPolicy::start_estimates`].
    pub fn start_estimates(&self, now: Time) -> StartEstimates {
        let view = View { state: &self.state, now };
        self.policy.start_estimates(&view).not_asleep(view.awake(), now)
    }

    /// Processors × estimate of the jobs that wait (see [`Partition::waiting`]), and of what is left of jobs that are suspended, or are being suspended,
    /// in processor-microseconds.
    pub fn backlog(&self) -> u128 {
        self.state.backlog + self.state.ineligible_backlog + self.state.suspended_backlog()
    }

    /// Jobs that wait, including those that wait for machines or for their requested start, but not those that wait for their reservation.
    pub fn waiting(&self) -> u32 {
        let ineligible = self.state.ineligible.len() + self.state.agenda.early();
        u32::try_from(self.state.waiting + ineligible as u64).unwrap_or(u32::MAX)
    }

    /// Jobs in the queue: those that wait and could start if processors were free.
    pub fn queued(&self) -> u64 {
        self.state.waiting
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

    /// Whether an event to come here may move a job: an end, a wake that may not be in vain, a reservation that begins or ends, a requested
    /// start.
    pub fn self_active(&self) -> bool {
        self.running() > 0
            || self.wake.is_some() && !self.wakes_in_vain()
            || self.state.book.next_change().is_some()
            || self.state.agenda.next().is_some()
            || self.gains_power()
    }

    /// Whether machines that go to sleep may leave more power to jobs that wait.
    fn gains_power(&self) -> bool {
        let state = &self.state;
        let waits = state.waiting > 0 || state.ineligible.len() > 0;
        waits && state.watts.is_some() && state.sleepers.as_ref().is_some_and(|all| all.next().is_some())
    }

    /// Ends transitions of machines that are due: they sleep, are awake, or have been idle for long enough. True if a power cap leaves more
    /// processors to jobs from now on, so that there is to be a pass.
    pub fn follow_power(&mut self, step: &mut Step<'_>) -> bool {
        if self.state.sleepers.is_none() {
            return false;
        }
        self.state.follow_power(step);
        self.follow_cap(step)
    }

    /// After the passes of an instant: puts machines to sleep that have been idle for long enough, and wakes up those that a reserve
    /// lacks. Then those come up that a power cap has kept off, as far as there is room. True if the cap leaves more processors to jobs
    /// from now on, so that there is to be a pass.
    ///
    /// # Errors
    /// [`PartitionError::EndOfTime`] if a job that continues would end beyond the time axis.
    pub fn settle_power(&mut self, step: &mut Step<'_>) -> Result<bool, PartitionError> {
        self.state.settle_power(step);
        let mut more = self.follow_cap(step);
        if !self.state.kept_off.is_empty() && self.state.deferred == 0 {
            let off = self.state.kept_off.clone();
            let before = self.state.missing;
            self.join(&off, EventCause::PowerCap, step)?;
            // They may drain since they were to come back.
            let back = off.difference(&self.state.kept_off).intersection(&self.draining());
            if !back.is_empty() {
                step.record(self.machine_event(EventKind::Draining, EventCause::PowerCap, &back, step.now));
            }
            more |= self.state.missing != before;
        }
        Ok(more)
    }

    /// Determines what a power cap in watts leaves to jobs, if machines draw otherwise than before. True if it is more.
    pub(super) fn follow_cap(&mut self, step: &mut Step<'_>) -> bool {
        self.state.choose_anew();
        let eased = std::mem::take(&mut self.state.eased);
        if !eased && !self.state.is_power_changed() {
            return false;
        }
        let before = self.state.capacity;
        self.state.recount();
        let after = self.state.capacity;
        if self.state.book.owes() {
            self.state.fill_bookings(step);
        }
        if after > before {
            self.notify(Change::Joined, step.now);
            self.requeue_fitting(step.now);
        } else if after < before {
            self.notify(Change::Left, step.now);
            self.withdraw_too_large(step.now);
        }
        after > before
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
