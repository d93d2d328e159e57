//! Which free processors a power cap lets be given, where it counts watts.

use super::State;
use crate::local::Phase;
use crate::local::watts::{Stand, Watts};
use crate::model::ProcSet;

impl State {
    /// Begins to count watts, if the cap is to be kept so. These processors may be given, as far as they are free.
    pub(in crate::local) fn count_watts(&mut self, given: &ProcSet) {
        self.watts = None;
        if self.counts_watts() {
            let stand = Stand { sleepers: self.sleepers.as_deref(), down: &self.down };
            self.watts = Watts::of(&self.spec, stand, self.taken(), given.intersection(&self.free));
        }
    }

    /// Whether a power cap is to be kept by counting watts now: also where it is a number of processors, while machines sleep that did so
    /// before a fork, or more are in use than it leaves, by jobs that began before.
    pub(in crate::local) fn counts_watts(&self) -> bool {
        let asleep = || self.sleepers.as_ref().is_some_and(|sleepers| !sleepers.all_awake());
        let in_use = || self.present.saturating_sub(self.unused) + self.leaving() + self.stalled_away();
        let above = || in_use() > self.spec.most();
        self.spec.power_part.is_some_and(|part| part.in_watts || asleep() || above())
    }

    /// Processors of stalled jobs whose machines are down or drain: they draw again as soon as these are back.
    fn stalled_away(&self) -> u32 {
        if self.stalled == 0 {
            return 0;
        }
        let stalled = self.table.iter().map(|(_, job)| job).filter(|job| job.phase == Phase::Stalled);
        let drained = self.drained();
        stalled
            .map(|job| job.allocation.procs.common(&self.down) + job.allocation.procs.common(&drained))
            .sum()
    }

    /// Processors of jobs and reservations, also while their machines are down.
    fn taken(&self) -> ProcSet {
        let mut taken = ProcSet::new();
        let jobs = self.table.iter().map(|(_, job)| job).filter(|job| job.phase.holds());
        jobs.for_each(|job| taken.insert_all(&job.allocation.procs));
        self.book.active().for_each(|booking| taken.insert_all(&booking.taken));
        taken
    }

    /// These free processors are in use from now on.
    #[inline(always)]
    pub(in crate::local) fn count_taken(&mut self, procs: &ProcSet) {
        if let Some(watts) = &mut self.watts {
            watts.take(procs, Stand { sleepers: self.sleepers.as_deref(), down: &self.down });
        }
    }

    /// These processors are not in use any more.
    #[inline(always)]
    pub(in crate::local) fn count_left(&mut self, procs: &ProcSet) {
        if let Some(watts) = &mut self.watts {
            let stand = Stand { sleepers: self.sleepers.as_deref(), down: &self.down };
            watts.leave(procs, &self.free, stand);
            // The number of processors may do again.
            watts.changed |= !self.spec.counts_watts();
        }
    }

    /// Machines of these processors, or of blocks of which they are a part, have gone down or come up.
    pub(in crate::local) fn count_machines(&mut self, procs: &ProcSet) {
        if let Some(watts) = &mut self.watts {
            let stand = Stand { sleepers: self.sleepers.as_deref(), down: &self.down };
            watts.follow_all(procs, &self.free, stand);
        }
    }

    /// Whether the cap may let other processors be given than before; [`State::recount`] is to follow.
    pub(in crate::local) fn is_power_changed(&self) -> bool {
        self.watts.as_ref().is_some_and(|watts| watts.changed || !self.counts_watts())
    }

    /// Whether more is counted than the cap, until it is chosen anew what may be given.
    pub(in crate::local) fn exceeds_cap(&self) -> bool {
        self.watts.as_ref().is_some_and(|watts| watts.exceeds())
    }

    /// Lets all be chosen anew if nothing runs and the largest job would not fit.
    pub(in crate::local) fn choose_anew(&mut self) {
        let idle = self.running == 0 && self.stalled == 0 && self.deferred == 0;
        if let Some(watts) = self.watts.as_mut().filter(|_| idle) {
            watts.changed |= watts.given.len() < self.spec.most().min(self.unused);
        }
    }

    /// Determines which free processors may be given, if that has changed, and returns how many may not.
    pub(super) fn choose_given(&mut self) -> u32 {
        let Some(mut watts) = self.watts.take() else { return 0 };
        if watts.changed {
            let idle = self.running == 0 && self.stalled == 0 && self.deferred == 0;
            let anew = idle && watts.given.len() < self.spec.most().min(self.unused);
            let stand = Stand { sleepers: self.sleepers.as_deref(), down: &self.down };
            watts.choose(&self.free, &self.groups.blocks(), anew, stand);
        }
        let kept_back = self.unused - watts.given.len();
        self.watts = Some(watts);
        debug_assert!(self.counts_watts_well(), "{:?}", self.watts);
        kept_back
    }

    /// Whether watts are counted as they would be if counting began now.
    fn counts_watts_well(&self) -> bool {
        let Some(watts) = &self.watts else { return true };
        let taken = self.taken();
        let stand = Stand { sleepers: self.sleepers.as_deref(), down: &self.down };
        let other = Watts::of(&self.spec, stand, taken, watts.given.clone());
        self.free.contains_all(&watts.given) && other.is_some_and(|other| watts.is_sound(&other))
    }
}
