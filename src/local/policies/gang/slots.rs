//! What is free in the time slots of a partition, during a pass.

use super::GangOptions;
use crate::local::{Awake, View};
use crate::model::ProcSet;
use crate::sharing::{Fit, Matrix};
use crate::units::Span;

/// The time slots in the course of a pass. At level 1 there is one, of which only the number of free processors counts.
#[derive(Debug)]
pub(super) struct Slots<'a> {
    matrix: Option<&'a mut Matrix<u64>>,
    level: usize,
    fit: Fit,
    unit: u32,
    /// Processors that may be given where they are free in a slot.
    open: ProcSet,
    /// Jobs on each processor, where a processor may have as many as may be although it is free in a slot: while there are more slots than the level
    /// allows, since another policy has left them, and while jobs are stalled, which are in no slot.
    loads: Option<Vec<u32>>,
    /// Free processors of each slot. The last one may be empty, and not in use yet.
    free: Vec<u32>,
    awake: Awake,
    /// At level 1, once a job grows: which processors are free.
    idle: Option<ProcSet>,
}

impl<'a> Slots<'a> {
    pub(super) fn of(view: &View<'_>, matrix: Option<&'a mut Matrix<u64>>, terms: &GangOptions) -> Self {
        let mut slots = Self {
            matrix,
            level: terms.level as usize,
            fit: terms.packing.fit,
            unit: view.allocation_unit().max(1),
            open: ProcSet::new(),
            loads: None,
            free: Vec::new(),
            awake: view.awake(),
            idle: None,
        };
        let Some(rows) = slots.matrix.as_ref().map(|matrix| matrix.rows()) else {
            slots.free.push(view.free());
            return slots;
        };
        slots.open = view.here().clone();
        if rows > slots.level || slots.open.len() < view.processors() {
            let loads: Vec<u32> = (0..view.processors()).map(|proc| view.load(proc)).collect();
            let full = (0..).zip(&loads).filter(|(_, load)| **load >= terms.level).map(|(proc, _)| proc);
            slots.open.remove_all(&full.collect());
            slots.loads = Some(loads);
        }
        slots.count_all();
        slots
    }

    /// The most processors that are free in a slot.
    pub(super) fn most(&self) -> u32 {
        self.free.iter().copied().max().unwrap_or(0)
    }

    /// The same without one of the slots.
    pub(super) fn most_beside(&self, slot: usize) -> u32 {
        let others = (0..).zip(&self.free).filter(|(other, _)| *other != slot);
        others.map(|(_, free)| *free).max().unwrap_or(0)
    }

    /// Free processors of machines that are awake.
    pub(super) fn awake(&self) -> Awake {
        self.awake
    }

    /// How many slots there are, with one that is not in use yet.
    pub(super) fn len(&self) -> usize {
        self.free.len()
    }

    /// The slot of a job, if there is a matrix.
    pub(super) fn slot_of(&self, seq: u64) -> Option<usize> {
        self.matrix.as_ref()?.row(seq)
    }

    /// Whether so many processors are free in a slot.
    pub(super) fn has(&self, slot: usize, procs: u32) -> bool {
        self.free.get(slot).is_some_and(|free| *free >= procs)
    }

    /// The slot in which a job of this size starts.
    pub(super) fn fit(&self, procs: u32) -> Option<usize> {
        self.fit_where(procs, |_| true)
    }

    /// The same among some slots.
    pub(super) fn fit_where(&self, procs: u32, may: impl Fn(usize) -> bool) -> Option<usize> {
        let in_use = self.matrix.as_ref().map_or(1, |matrix| matrix.rows());
        let mut fits = (0..self.free.len()).filter(|slot| self.has(*slot, procs) && may(*slot));
        match self.fit {
            Fit::First => fits.next(),
            Fit::Best => fits.min_by_key(|slot| (*slot >= in_use, self.free[*slot], *slot)),
        }
    }

    /// How long so many processors are held for so much time of a job that starts now: machines may have to wake up.
    pub(super) fn holds(&self, procs: u32, time: Span) -> Span {
        self.awake.holds(procs, time)
    }

    /// Puts a job into a slot that has so many processors free.
    pub(super) fn place(&mut self, seq: u64, slot: usize, procs: u32) {
        if self.matrix.is_none() {
            self.take(procs);
            return;
        }
        if let Some(set) = self.free_in(slot).lowest(procs) {
            let placed = self.matrix.as_mut().map(|matrix| matrix.place_on(seq, slot, set.clone()));
            debug_assert_eq!(placed, Some(Ok(())), "it is free in that slot");
            self.given(slot, &set);
        }
    }

    /// Gives a job that starts up to so many more processors of its slot, and says how many.
    pub(super) fn enlarge(&mut self, seq: u64, slot: usize, by: u32) -> u32 {
        let own = match &self.matrix {
            // Those that sleep would keep it waiting.
            None => {
                let more = self.in_blocks(by.min(self.free[slot]).min(self.awake.procs));
                self.take(more);
                return more;
            }
            Some(matrix) => matrix.procs(seq).cloned().unwrap_or_default(),
        };
        self.extend(seq, &own, by).map_or(0, |grown| grown.len() - own.len())
    }

    /// Gives a running job on these processors up to so many more of its slot; `None` if there are none. While machines sleep no job grows, since it could
    /// not go on until they are awake.
    pub(super) fn grow(&mut self, seq: u64, own: &ProcSet, by: u32, view: &View<'_>) -> Option<ProcSet> {
        if self.matrix.is_some() {
            return self.extend(seq, own, by);
        }
        let more = self.in_blocks(by.min(self.free[0]));
        if more == 0 || view.awake() != Awake::ALL {
            return None;
        }
        let idle = self
            .idle
            .get_or_insert_with(|| view.here().iter().filter(|proc| view.load(*proc) == 0).collect());
        let set = idle.take_lowest(more)?;
        self.free[0] -= more;
        Some(union(own, &set))
    }

    /// Whether a running job could get any more.
    pub(super) fn may_grow(&self, seq: u64, view: &View<'_>) -> bool {
        let slot = if self.matrix.is_some() {
            self.slot_of(seq)
        } else {
            Some(0).filter(|_| view.awake() == Awake::ALL)
        };
        slot.is_some_and(|slot| self.has(slot, self.unit))
    }

    /// Leaves a running job so many of its processors, the lowest.
    pub(super) fn shrink(&mut self, seq: u64, own: &ProcSet, to: u32) -> Option<ProcSet> {
        let kept = own.lowest(to)?;
        let Some(matrix) = &mut self.matrix else {
            self.free[0] += own.len() - to;
            return Some(kept);
        };
        matrix.resize(seq, kept.clone()).ok()?;
        if let Some(loads) = &mut self.loads {
            for proc in own.difference(&kept).iter() {
                loads[proc as usize] -= 1;
                if (loads[proc as usize] as usize) < self.level {
                    self.open.insert(proc);
                }
            }
        }
        self.count_all();
        Some(kept)
    }

    fn extend(&mut self, seq: u64, own: &ProcSet, by: u32) -> Option<ProcSet> {
        let slot = self.matrix.as_ref()?.row(seq)?;
        let more = self.in_blocks(by.min(self.free[slot]));
        let set = self.free_in(slot).lowest(more).filter(|set| !set.is_empty())?;
        let grown = union(own, &set);
        self.matrix.as_mut()?.resize(seq, grown.clone()).ok()?;
        self.given(slot, &set);
        Some(grown)
    }

    fn in_blocks(&self, procs: u32) -> u32 {
        procs / self.unit * self.unit
    }

    fn take(&mut self, procs: u32) {
        self.free[0] -= procs;
        self.awake = self.awake.without(procs);
    }

    fn free_in(&self, slot: usize) -> ProcSet {
        match self.matrix.as_ref().and_then(|matrix| matrix.free(slot)) {
            Some(free) => free.intersection(&self.open),
            None => self.open.clone(),
        }
    }

    /// Counts what is free after processors of a slot have been given.
    fn given(&mut self, slot: usize, set: &ProcSet) {
        let opened = slot + 1 == self.free.len();
        if let Some(loads) = &mut self.loads {
            for proc in set.iter() {
                loads[proc as usize] += 1;
                if loads[proc as usize] as usize >= self.level {
                    self.open.remove_all(&ProcSet::range(proc, proc + 1));
                }
            }
        } else if !opened {
            self.free[slot] -= set.len();
            return;
        }
        self.count_all();
    }

    fn count_all(&mut self) {
        let rows = self.matrix.as_ref().map_or(0, |matrix| matrix.rows());
        let slots = rows + usize::from(rows < self.level);
        self.free = (0..slots).map(|slot| self.free_in(slot).len()).collect();
    }
}

fn union(one: &ProcSet, other: &ProcSet) -> ProcSet {
    let mut all = one.clone();
    all.insert_all(other);
    all
}
