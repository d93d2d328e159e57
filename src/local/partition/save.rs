//! A partition in a snapshot.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Partition;
use super::adopt::Terms;
use crate::local::Tally;
use crate::local::agenda::Agenda;
use crate::local::error::PartitionError;
use crate::local::ineligible::Ineligible;
use crate::local::loads::Loads;
use crate::local::numbers::Numbers;
use crate::local::power::Sleepers;
use crate::local::prices::Meter;
use crate::local::state::{Load, State};
use crate::local::table::{Phase, Table};
use crate::local::{Book, LiveJob, Step, View};
use crate::model::{JobKey, ProcSet};
use crate::platform::{ProcTime, Usage};
use crate::units::{Rate, Time};

/// The whole state of a partition between two instants, with the state of its policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionSave {
    table: Table,
    free: ProcSet,
    load: Vec<Load>,
    book: Book,
    /// The end queue, ascending.
    ends: Vec<(Time, u64, JobKey)>,
    next_seq: u64,
    next_end: u64,
    usage: Usage,
    tally: Tally,
    reserved: ProcTime,
    down_time: ProcTime,
    settled: Time,
    down: ProcSet,
    /// Processors of machines that drain.
    draining: ProcSet,
    /// The machines that are slowed down, ascending.
    slow: Vec<(u32, Rate)>,
    ineligible: Vec<JobKey>,
    agenda: Agenda,
    wake: Option<Time>,
    /// Passes in a row that the policy had asked for in vain.
    idle_wakes: u32,
    meter: Meter,
    loads: Option<Box<Loads>>,
    sleepers: Option<Box<Sleepers>>,
    /// The free processors that a power cap in watts lets be given.
    given: ProcSet,
    /// Machines that a power cap keeps off.
    kept_off: ProcSet,
    begins: BTreeMap<Time, Vec<JobKey>>,
    terms: Terms,
    policy: Vec<u8>,
}

impl State {
    /// Use of each processor by running and stalled jobs; empty if processors are not shared. `None` if a processor has more
    /// jobs than the multiprogramming level.
    fn load_of(&self, table: &Table) -> Option<Vec<Load>> {
        let mut load = vec![Load::default(); self.spec.processors() as usize];
        for (_, job) in table.iter().filter(|(_, job)| job.phase.holds()) {
            for proc in job.allocation.procs.iter() {
                let here = load.get_mut(proc as usize)?;
                here.jobs += 1;
                here.share += if job.phase.is_active() { job.allocation.share.units() as u32 } else { 0 };
                if u32::from(here.jobs) > self.multiprogramming_level {
                    return None;
                }
            }
        }
        if self.multiprogramming_level == 1 {
            load.clear();
        }
        Some(load)
    }

    /// Processors × estimate of the jobs in a phase, in processor-microseconds. Walks the whole table.
    fn area_of(&self, phase: Phase) -> u128 {
        let jobs = self.table.iter().map(|(_, job)| job);
        jobs.filter(|job| job.phase == phase && !job.claims).map(LiveJob::area).sum()
    }
}

impl Partition {
    /// The state, between two instants.
    pub fn save(&self) -> PartitionSave {
        let state = &self.state;
        let mut ends: Vec<_> = state.ends.iter().map(|Reverse(end)| *end).collect();
        ends.sort_unstable();
        let mut given = state.watts.as_ref().map_or_else(ProcSet::new, |watts| watts.given.clone());
        given.trim();
        let mut table = state.table.clone();
        if state.agenda.knows_any() {
            table.iter_mut().for_each(LiveJob::drop_taken_commands);
        }
        PartitionSave {
            table,
            free: state.free.clone(),
            load: state.load.clone(),
            book: state.book.clone(),
            ends,
            next_seq: state.next_seq,
            next_end: state.next_end,
            usage: state.usage,
            tally: state.tally,
            reserved: state.reserved,
            down_time: state.down_time,
            settled: state.settled,
            down: state.down.clone(),
            draining: state.draining.clone(),
            slow: state.slow.iter().map(|(machine, factor)| (*machine, *factor)).collect(),
            ineligible: state.ineligible.in_order(),
            agenda: state.agenda.clone(),
            wake: self.wake,
            idle_wakes: self.idle_wakes,
            meter: state.meter,
            loads: state.loads.clone(),
            sleepers: state.sleepers.clone(),
            given,
            kept_off: state.kept_off.clone(),
            begins: state.begins.clone(),
            terms: self.terms(),
            policy: self.policy.save(),
        }
    }

    /// Restores the state of a partition of the same description. With `adopt`, policy, prices and checkpoints may differ:
    /// the changes are recorded, and another policy takes over the present state, with a pass at this very moment. The
    /// same policy with the same checkpoints continues without any change.
    ///
    /// # Errors
    /// [`PartitionError::BadSave`] if the state does not fit this partition or its policy.
    pub fn restore(
        &mut self,
        saved: PartitionSave,
        adopt: bool,
        step: &mut Step<'_>,
    ) -> Result<(), PartitionError> {
        let terms = self.terms();
        let state = &mut self.state;
        let bad = |problem: String, site: &str| PartitionError::BadSave { site: site.to_owned(), problem };
        let usable = state.spec.usable();
        let all = ProcSet::full(state.spec.processors());
        if !ProcSet::full(usable).contains_all(&saved.free)
            || !all.contains_all(&saved.down)
            || !all.contains_all(&saved.draining)
        {
            return Err(bad("it was saved with other processors".to_owned(), &state.settings.site_name));
        }
        if !adopt && terms != saved.terms {
            let Terms { policy, .. } = &saved.terms;
            let problem = if terms.policy == *policy {
                "it was saved under other prices, power or checkpoints".to_owned()
            } else {
                format!("it was saved under the policy `{policy}`, not `{}`", terms.policy)
            };
            return Err(bad(problem, &state.settings.site_name));
        }
        let phase = |wanted| saved.table.iter().map(|(_, job)| job).filter(move |job| job.phase == wanted);
        state.waiting = phase(Phase::Waiting).count() as u64;
        state.running = saved.table.iter().filter(|(_, job)| job.phase.is_active()).count() as u32;
        state.stalled = phase(Phase::Stalled).count() as u32;
        state.unused = saved.free.len();
        state.table = saved.table;
        state.suspended = state.keys(|job| job.phase == Phase::Suspended).into_iter().collect();
        state.backlog = state.area_of(Phase::Waiting);
        state.numbers = Numbers::default();
        state.free = saved.free;
        state.book = saved.book;
        state.ends = saved.ends.into_iter().map(Reverse).collect();
        state.next_seq = saved.next_seq;
        state.next_end = saved.next_end;
        state.usage = saved.usage;
        state.tally = saved.tally;
        state.reserved = saved.reserved;
        state.down_time = saved.down_time;
        state.settled = saved.settled;
        state.meter = saved.meter;
        state.loads = saved.loads;
        state.loads.iter_mut().for_each(|loads| loads.tabulate());
        state.sleepers = saved.sleepers;
        state.kept_off = saved.kept_off;
        state.begins = saved.begins;
        state.slow = saved.slow.into_iter().collect();
        state.agenda = saved.agenda;
        state.ineligible = Ineligible::default();
        saved.ineligible.into_iter().for_each(|key| state.wait_for_machines(key));
        (state.deferred, state.ending) = (0, 0);
        state.reshared = ProcSet::new();
        state.watts = None;
        (state.draining, state.eased) = (saved.draining, false);
        state.set_down(saved.down);
        state.count_watts(&saved.given);
        if !adopt || terms == saved.terms {
            // It was chosen when it was saved.
            state.watts.iter_mut().for_each(|watts| watts.changed = false);
        }
        state.recount();
        self.late.clear();
        self.wake = saved.wake;
        (self.woken, self.idle_wakes) = (false, saved.idle_wakes);
        let site = self.state.settings.site_name.clone();
        let anew = adopt && self.adapt(&saved.terms, step).map_err(|problem| bad(problem, &site))?;
        let state = &mut self.state;
        // Other checkpoints change estimates.
        state.ineligible_backlog = state.area_of(Phase::Ineligible);
        state.load = match state.load_of(&state.table) {
            Some(load) if anew || load == saved.load => load,
            _ => return Err(bad("its jobs are not where it says".to_owned(), &site)),
        };
        if anew {
            state.fill_bookings(step);
        }
        let view = View { state: &self.state, now: step.now };
        if anew {
            self.policy.adopt(&view);
            // Its first pass is at this very moment: it may not be able to make the same decisions later.
            self.wake = Some(step.now);
            Ok(())
        } else {
            self.policy.restore(&saved.policy, &view).map_err(|problem| bad(problem, &site))
        }
    }
}
