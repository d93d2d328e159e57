//! SCOJO-PECT: coarse time slices of job classes, with preemption to disk.

mod fill;
mod group_variants;
mod grouping;
mod groups;
mod hours;
mod queues;
mod slices;
mod variants;

pub(super) use group_variants::info as groups_info;
pub use groups::{GroupBound, GroupChoice, GroupLimits, GroupOptions};
pub use hours::SharesByHour;
use serde::{Deserialize, Serialize};
pub use variants::ScojoPectOptions;
pub(super) use variants::info;

use self::groups::Groups;
use self::queues::Queues;
use self::slices::Slice;
use crate::local::{Actions, Change, LocalPolicy, Phase, Rule, SearchEffort, SliceFacts, View};
use crate::model::JobKey;
use crate::units::Time;

/// SCOJO-PECT [B. Esbaugh, A. C. Sodan, *Preemption and share control in parallel grid job scheduling*, 2007; as A. K. Kanavallil, *Group-based optimization
/// for parallel job scheduling in clusters via heuristic search*, MS thesis, 2007, chapters 4 and 6, describes it].
///
/// The machine belongs to one class of jobs at a time: short, medium or long ones, by their estimates. When its slice is over, all running jobs are
/// suspended, and those of the next class resume on the processors that they had; then waiting ones of that class start, in order of arrival with
/// backfilling. On what is left jobs of other classes run until the end of the slice (smart backfilling).
#[derive(Clone, Debug)]
pub struct ScojoPect {
    options: ScojoPectOptions,
    /// Whether jobs form groups, and how.
    groups: Option<GroupOptions>,
    kept: Kept,
}

/// What is saved.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Kept {
    queues: Queues,
    /// The slice that there is, or that there was last.
    slice: Option<Slice>,
    groups: Groups,
}

impl ScojoPect {
    /// A policy with these parameters.
    pub fn new(options: ScojoPectOptions) -> Self {
        Self { options, groups: None, kept: Kept::default() }
    }

    /// The same with groups of medium and of long jobs, whose orders are searched.
    #[must_use]
    pub fn with_groups(self, groups: GroupOptions) -> Self {
        Self { groups: Some(groups), ..self }
    }

    /// The facts of a pass, in which a search put this job before the others of the slice's class that wait on.
    fn facts(&self, now: Time, searched: Option<JobKey>) -> Rule {
        let Kept { queues, slice, groups } = &self.kept;
        Rule::Slices(SliceFacts {
            bounds: self.options.bounds,
            slice: slice.map(|slice| (slice.class, slice.begins, slice.ends)),
            first: std::array::from_fn(|class| {
                let planned = groups.plan(class, now).and_then(|plan| Some(plan.jobs.first()?.1));
                let searched = searched.filter(|_| slice.is_some_and(|slice| slice.class == class));
                planned.or(searched).or_else(|| queues.0[class].waiting.values().next().copied())
            }),
            preempted: queues.0.each_ref().map(|queue| queue.preempted.values().copied().collect()),
            groups: groups.facts(),
        })
    }
}

impl LocalPolicy for ScojoPect {
    fn on(&mut self, change: Change, view: &View<'_>) {
        let queues = &mut self.kept.queues;
        match change {
            Change::Arrived(job) => {
                queues.0[self.options.class_of(view.job(job))].waiting.insert(view.job(job).seq(), job);
            }
            Change::Withdrawn(job) | Change::Ended(job) => {
                queues.remove(view.job(job).seq());
                self.kept.groups.remove(view.job(job).seq());
            }
            Change::Suspended(job) => {
                let seq = view.job(job).seq();
                let class = queues.remove(seq).unwrap_or_else(|| self.options.class_of(view.job(job)));
                queues.0[class].preempted.insert(seq, job);
            }
            Change::Continued(job) => {
                queues.0[self.options.class_of(view.job(job))].running.insert(view.job(job).seq(), job);
            }
            // What is free is looked at anew in each pass, and there are no reservations.
            Change::Left
            | Change::Joined
            | Change::Moved { .. }
            | Change::Reserved
            | Change::Altered { .. } => {}
        }
    }

    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
        let (now, most) = (view.now(), self.options.lookahead as usize);
        let (mut free, mut searched) = (view.free_set().clone(), None);
        if !self.kept.queues.none_idle() {
            let reach = self.kept.queues.reach(view);
            let released = self.turn(view, self.kept.queues.needs(view, &reach, most), actions);
            free.insert_all(&released.procs);
            if let Some(slice) = self.kept.slice.filter(|slice| slice.begins > now) {
                actions.wake_at(slice.begins);
            } else if released.later {
                // Without a switch to wait for there is a pass when the first of them has been written.
            } else if let Some(slice) = self.kept.slice.filter(|slice| slice.ends > now) {
                (free, searched) = self.fill(view, slice, free, actions);
                let needs = self.kept.queues.needs(view, &reach, most);
                let others = (0..).zip(needs).any(|(class, need)| class != slice.class && need.any);
                if others && needs.iter().any(|need| need.idle) {
                    actions.wake_at(slice.ends);
                }
                if let Some(ready) = self.kept.groups.ready(now) {
                    actions.wake_at(ready);
                }
            }
        }
        if let Some(trace) = actions.trace() {
            (trace.free, trace.rule) = (free.len(), self.facts(now, searched));
        }
    }

    fn effort(&self) -> Option<SearchEffort> {
        (self.groups.is_some() || self.options.search.is_some()).then_some(self.kept.groups.effort)
    }

    fn has_slices(&self) -> bool {
        true
    }

    fn has_groups(&self) -> bool {
        self.groups.is_some()
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_stdvec(&self.kept).unwrap_or_default()
    }

    fn restore(&mut self, saved: &[u8], view: &View<'_>) -> Result<(), String> {
        let kept: Kept = postcard::from_bytes(saved).map_err(|error| error.to_string())?;
        if let Some(job) = kept.queues.jobs().find(|job| view.get(*job).is_none()) {
            return Err(format!("it knows a job with key {job} that is not there"));
        }
        self.kept = kept;
        Ok(())
    }

    fn adopt(&mut self, view: &View<'_>) {
        self.kept = Kept::default();
        for job in view.jobs_in(Phase::Waiting) {
            self.on(Change::Arrived(job), view);
        }
        for job in view.jobs_in(Phase::Suspended) {
            self.on(Change::Suspended(job), view);
        }
        for job in view.holders() {
            self.on(Change::Continued(job), view);
        }
    }
}
