//! Share control: which class has the machine, and for how long.

use serde::{Deserialize, Serialize};

use super::queues::{CLASSES, Need, Queue, Queues, goes};
use super::{ScojoPect, ScojoPectOptions};
use crate::local::{Actions, LiveJob, Note, View};
use crate::model::{ProcSet, SliceClass};
use crate::units::{Span, Time};

/// A slice of a class.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Slice {
    pub(super) class: usize,
    /// From when on jobs run in it: after the switch.
    pub(super) begins: Time,
    pub(super) ends: Time,
}

/// What a switch releases.
#[derive(Debug, Default)]
pub(super) struct Released {
    /// The processors of the jobs that are suspended at once.
    pub(super) procs: ProcSet,
    /// Whether other jobs have to be written before.
    pub(super) later: bool,
}

/// The classes in the order of their slices: long, short, medium [Kanavallil 2007, Figures 3 and 13].
const CYCLE: [usize; CLASSES] = [2, 0, 1];

impl ScojoPectOptions {
    /// The class of a job: 0 for short, 1 for medium and 2 for long ones.
    pub(super) fn class_of(&self, job: &LiveJob) -> usize {
        self.bounds.iter().filter(|bound| job.whole_estimate() >= **bound).count()
    }

    /// The shares of the classes at this hour.
    pub(super) fn shares_now(&self, view: &View<'_>) -> [u64; CLASSES] {
        self.by_hour.and_then(|by_hour| by_hour.at(view.time_of_day())).unwrap_or(self.shares)
    }

    /// How long the slice of a class is while these classes have jobs, by such shares: what others do not use is divided in proportion to the shares. What a
    /// short slice lacks to the floor is taken from the longest one.
    pub(super) fn length(&self, class: usize, present: [bool; CLASSES], shares: [u64; CLASSES]) -> Span {
        let of = |class: usize| if present[class] { u128::from(shares[class]) } else { 0 };
        let total: u128 = (0..CLASSES).map(of).sum();
        let there = present.iter().filter(|present| **present).count().max(1) as u128;
        let cycle = u128::from(self.cycle.micros());
        let part = |class: usize| (cycle * of(class)).checked_div(total).unwrap_or(cycle / there);
        let floor = u128::from(self.floor.micros());
        let lacking: u128 =
            (0..CLASSES).filter(|class| present[*class]).map(|class| floor.saturating_sub(part(class))).sum();
        // Of equal ones the last.
        let longest = (0..CLASSES).max_by_key(|class| part(*class));
        let lent = if longest == Some(class) { lacking } else { 0 };
        let length = part(class).saturating_sub(lent).max(floor);
        Span::from_micros(u64::try_from(length).unwrap_or(u64::MAX))
    }
}

impl ScojoPect {
    /// Begins another slice, if this one is over and some idle job can run: its time has passed, or its class cannot use it. If other jobs run in the new
    /// one, all jobs are suspended, and a switch is lost; if a switch takes no time, only those that do not run on are.
    pub(super) fn turn(
        &mut self,
        view: &View<'_>,
        needs: [Need; CLASSES],
        actions: &mut Actions,
    ) -> Released {
        let (now, last) = (view.now(), self.kept.slice);
        let mut released = Released::default();
        let is_over = last.is_none_or(|slice| slice.ends <= now || !needs[slice.class].any);
        if !is_over || !needs.iter().any(|need| need.idle) {
            return released;
        }
        let place = last.and_then(|slice| CYCLE.iter().position(|class| *class == slice.class));
        let after = place.map_or(0, |place| place + 1);
        let mut next = (after..after + CLASSES).map(|place| CYCLE[place % CLASSES]);
        let Some(class) = next.find(|class| needs[*class].any) else { return released };
        let shares = self.options.shares_now(view);
        let ends = now + self.options.length(class, needs.map(|need| need.any), shares);
        // What is left of a switch that goes on.
        let begins = last.map_or(now, |slice| slice.begins.max(now));
        let slice = Slice { class, begins, ends };
        let is_other = last.is_none_or(|last| last.class != class);
        let stay = is_other.then(|| self.changes(view, slice)).flatten();
        let slice = if stay.is_some() { Slice { begins: now + self.options.switch, ..slice } } else { slice };
        self.kept.slice = Some(slice);
        let (runs_from, until) = (slice.begins, slice.ends);
        actions.note(Note::Slice { class: SliceClass::ALL[class], runs_from, until });
        let Some(stay) = stay else { return released };
        // Nothing is gained by writing and reading at once what runs on.
        let runs_on = |class, seq| self.options.switch.is_zero() && stay.contains(&(class, seq));
        for (class, Queue { running, preempted, .. }) in self.kept.queues.0.iter_mut().enumerate() {
            running.retain(|seq, job| {
                let live = view.job(*job);
                if !goes(view, live) || runs_on(class, *seq) {
                    return true;
                }
                let at_once = view.suspends_in(*job).is_zero();
                actions.suspend(*job);
                if at_once {
                    released.procs.insert_all(live.placement());
                    preempted.insert(*seq, *job);
                }
                released.later |= !at_once;
                !at_once
            });
        }
        released
    }

    /// Whether a job has to be written or read for a slice: one that runs would not do so in it, or a preempted one of its class would. Then these run on, by class and place in
    /// the order of arrival.
    fn changes(&self, view: &View<'_>, slice: Slice) -> Option<Vec<(usize, u64)>> {
        let Queues(queues) = &self.kept.queues;
        let mut filling = self.begin(view, slice, view.free_set().clone(), true);
        self.complete(&mut filling, &[]);
        let filled = filling.filled;
        let (stay, read): (Vec<_>, Vec<_>) =
            filled.resumed.into_iter().partition(|(class, seq, _)| queues[*class].running.contains_key(seq));
        let running = queues.iter().flat_map(|queue| queue.running.values());
        let changes = stay.len() < running.filter(|job| goes(view, view.job(**job))).count()
            || read.iter().any(|(class, ..)| *class == slice.class);
        changes.then(|| stay.into_iter().map(|(class, seq, _)| (class, seq)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_by_shares_and_floors() {
        let options = ScojoPectOptions::default();
        let minutes = |present: [bool; CLASSES]| {
            [0, 1, 2].map(|class| options.length(class, present, options.shares).as_secs_f64() / 60.0)
        };
        // 0.5 % of an hour are 18 s; the floor of 5 min is at the expense of the long jobs, which have 43.8 min.
        let all = minutes([true; CLASSES]);
        assert!(
            (all[0] - 5.0).abs() < 1e-9 && (all[1] - 15.9).abs() < 1e-9 && (all[2] - 39.1).abs() < 1e-9,
            "{all:?}"
        );
        // Without long jobs the others divide the hour by 0.5 to 26.5.
        let two = minutes([true, true, false]);
        assert!((two[0] - 5.0).abs() < 1e-9 && (two[1] - 55.0).abs() < 1e-6, "{two:?}");
        assert!((minutes([false, false, true])[2] - 60.0).abs() < 1e-9);
        // Without a share a class has its floor; without any shares those who are there have equal ones.
        let long = [0, 0, 100_000_000];
        assert_eq!(options.length(0, [true, false, false], long), Span::from_secs(3_600));
        assert_eq!(options.length(1, [true, true, false], long), Span::from_secs(1_800));
        assert_eq!(options.length(1, [true, true, true], long), Span::from_secs(300));
        assert_eq!(options.length(2, [true, true, true], long), Span::from_secs(3_000));
    }
}
