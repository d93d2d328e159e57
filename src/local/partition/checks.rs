//! Checks of whether an action can be carried out.

use super::Partition;
use crate::local::error::{PartitionError, PolicyError, Violation, describe};
use crate::local::state::State;
use crate::local::{LiveJob, Phase, Placement};
use crate::model::{JobKey, ProcSet};
use crate::units::{Rate, Time};

type Checked<T> = Result<T, Violation>;

impl Partition {
    /// Checks the shares on processors after all actions of a pass: an earlier action may exceed them until a later one reduces
    /// them.
    pub(super) fn check_shares(&self, shared: &ProcSet, now: Time) -> Result<(), PartitionError> {
        for proc in shared.iter() {
            let load = self.state.load.get(proc as usize).copied().unwrap_or_default();
            if u64::from(load.share) > Rate::FULL.units() {
                return Err(self.blame(now, "share processors".to_owned(), Violation::Oversubscribed(proc)));
            }
        }
        Ok(())
    }

    /// Checks that a job is in one of these phases.
    pub(super) fn expect(
        &self,
        key: JobKey,
        verb: &str,
        now: Time,
        phases: &[Phase],
    ) -> Result<(), PartitionError> {
        let name = |phase| match phase {
            Phase::Waiting => "waiting",
            Phase::Starting => "about to start",
            Phase::Running => "running",
            Phase::Suspending => "being suspended",
            Phase::Suspended => "suspended",
            Phase::Resuming => "resuming",
            Phase::Reconfiguring => "adapting to other processors",
            Phase::Stalled => "stalled until a machine is back",
            Phase::Ineligible if self.is_early(key) => "waiting for its requested start",
            Phase::Ineligible => "waiting for machines",
        };
        self.checked(key, verb, now, |_, live| {
            if phases.contains(&live.phase) { Ok(()) } else { Err(Violation::WrongPhase(name(live.phase))) }
        })
    }

    pub(super) fn checked<T>(
        &self,
        key: JobKey,
        verb: &str,
        now: Time,
        check: impl FnOnce(&State, &LiveJob) -> Checked<T>,
    ) -> Result<T, PartitionError> {
        let Some(live) = self.state.table.get(key) else {
            return Err(self.blame(now, describe(verb, None, key), Violation::NoSuchJob));
        };
        check(&self.state, live)
            .map_err(|broken| self.blame(now, describe(verb, Some(self.state.job_ref(live)), key), broken))
    }

    pub(super) fn blame(&self, time: Time, action: String, reason: Violation) -> PartitionError {
        PartitionError::Policy(Box::new(PolicyError {
            policy: self.policy_name.clone(),
            site: self.state.settings.site_name.clone(),
            time,
            action,
            reason,
        }))
    }
}

impl State {
    /// Checks that the policy has declared an ability.
    pub(super) fn declared(able: bool, what: &'static str) -> Checked<()> {
        if able { Ok(()) } else { Err(Violation::NotDeclared(what)) }
    }

    pub(super) fn check_share(&self, share: Rate) -> Checked<()> {
        if share == Rate::ZERO || share > Rate::FULL { Err(Violation::BadShare) } else { Ok(()) }
    }

    pub(super) fn check_efficiency(&self, efficiency: Rate) -> Checked<()> {
        Self::declared(self.abilities.slows, "slows down jobs that share processors")?;
        let most = 100 * Rate::FULL.units();
        if (1..=most).contains(&efficiency.units()) { Ok(()) } else { Err(Violation::BadEfficiency) }
    }

    /// Checks for whole blocks, and for a number that the job can use (its preferred one may have been rounded up).
    pub(super) fn check_size(&self, live: &LiveJob, count: u32) -> Checked<()> {
        let size = &live.job.size;
        let blocks = count.is_multiple_of(self.spec.allocation_unit.max(1));
        let usable = count >= self.spec.rounded(size.min()) && count <= self.spec.rounded(size.max());
        if blocks && usable && count > 0 { Ok(()) } else { Err(Violation::BadSize(count)) }
    }

    /// Checks that no block is given in part.
    fn check_blocks(&self, set: &ProcSet) -> Checked<()> {
        let allocation_unit = self.spec.allocation_unit.max(1);
        let whole = |proc: u32| {
            let first = proc - proc % allocation_unit;
            set.contains_all(&ProcSet::range(first, first + allocation_unit))
        };
        match set.iter().find(|proc| allocation_unit > 1 && !whole(*proc)) {
            Some(proc) => Err(Violation::PartOfBlock(proc)),
            None => Ok(()),
        }
    }

    /// The processors of `placement`, checked to be free.
    pub(super) fn placement(&self, live: &LiveJob, placement: Placement) -> Checked<ProcSet> {
        match placement {
            Placement::Any(count) => {
                self.check_size(live, count)?;
                let free = self.givable();
                let picked = if count <= free { self.pick(count) } else { None };
                picked.ok_or(Violation::NotEnough { needed: count, free })
            }
            Placement::On(set) => {
                self.check_size(live, set.len())?;
                self.check_blocks(&set)?;
                if self.multiprogramming_level == 1 {
                    let (needed, free) = (set.len(), self.givable());
                    if self.free.contains_all(&set) {
                        if needed > free {
                            return Err(Violation::NotEnough { needed, free });
                        }
                        return Ok(set);
                    }
                    let taken = set.iter().find(|proc| !self.free.contains(*proc));
                    return Err(Violation::NotFree(taken.unwrap_or_default()));
                }
                for proc in set.iter() {
                    let load = self.load.get(proc as usize).ok_or(Violation::NotFree(proc))?;
                    // This includes processors of a stalled job or of a reservation.
                    if !self.here.contains(proc) || load.jobs == 0 && !self.free.contains(proc) {
                        return Err(Violation::NotFree(proc));
                    }
                    if u32::from(load.jobs) >= self.multiprogramming_level {
                        return Err(Violation::NoSlot(proc));
                    }
                }
                Ok(set)
            }
        }
    }
}
