//! Gang scheduling, and adaptive SCOJO [Huang 2004, chapters 6 and 7].

mod adapt;
mod backfill;
mod demand;
mod estimates;
mod slots;
mod variants;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use self::demand::Demands;
use self::slots::Slots;
use super::line::Line;
use crate::local::{
    Action, Actions, Change, LocalPolicy, Phase, Place, Placement, Rule, StartEstimates, View,
};
use crate::model::{EventCause, JobKey, ProcSet};
use crate::sharing::{Load, Matrix, Packing, Priorities, TimeSlices};
use crate::units::{Rate, Span, Time, Work};

pub(super) use variants::info;

/// Which waiting jobs may pass the first in line.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Backfilling {
    /// None.
    #[default]
    None,
    /// Those that delay no job before them (the thesis's B).
    Conservative,
    /// All that fit (the thesis's EB: it "does not guarantee there is no delay for other jobs").
    Greedy,
    /// Those that do not delay the first one (EASY backfilling as everybody else has it).
    Easy,
}

/// When there are passes.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Passes {
    /// At the ends of time slices (section 6.5), or at once if no job runs.
    #[default]
    Slice,
    /// At every event.
    Event,
}

/// When running jobs are resized.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Resizes {
    /// At multiples of the reconfiguration interval (Table 7-1), or at the first pass after it.
    #[default]
    Interval,
    /// At every pass (Figure 6-3).
    Event,
}

/// By what gang scheduling goes.
#[derive(Clone, Debug)]
pub struct GangOptions {
    /// The multiprogramming level: how many time slots there may be. With 1 jobs have processors of their own.
    pub level: u32,
    /// Whether jobs start by priority (the thesis's PRI); else in order of arrival (FCFS).
    pub by_priority: bool,
    /// Which jobs may pass the first in line.
    pub backfilling: Backfilling,
    /// How many waiting jobs, from the first on, are planned for [`Backfilling::Conservative`].
    pub lookahead: usize,
    /// Whether sizes follow the load (WA).
    pub adapts: bool,
    /// Whether jobs that start take what is idle in their slot (FA).
    pub fills: bool,
    /// How the matrix is packed.
    pub packing: Packing,
    /// How long slots are and what it costs to switch between them; `None` if their time is divided as finely as may be, and that costs nothing.
    pub slices: Option<TimeSlices>,
    /// When there are passes, if there are time slices.
    pub passes: Passes,
    /// The reconfiguration interval. Jobs with shorter estimates do not count for the load.
    pub reconfigure: Span,
    /// When running jobs are resized.
    pub resizes: Resizes,
    /// Classes of run times, and their priorities.
    pub priorities: Priorities,
}

impl GangOptions {
    fn has_slices(&self) -> bool {
        self.slices.is_some() && self.passes == Passes::Slice
    }

    /// What switching leaves of the time of so many slots.
    fn left(&self, slots: usize) -> Rate {
        let slots = u32::try_from(slots).unwrap_or(u32::MAX);
        self.slices.map_or(Rate::FULL, |slices| slices.left(slots))
    }

    /// The part of its rate that a job has at the least.
    fn guaranteed(&self) -> Rate {
        Rate::ratio(1, self.level.into()).times(self.left(self.level as usize))
    }

    /// How long a job takes at the most for what takes so long alone.
    fn lasts(&self, alone: Span) -> Span {
        if self.level == 1 {
            return alone;
        }
        Work::of_runtime(alone).span_at(self.guaranteed()).unwrap_or(Span::MAX)
    }
}

/// Gang scheduling on an Ousterhout matrix, with priorities, backfilling and sizes that follow the load and the fragmentation.
///
/// A job keeps its processors and its slot. All slots take turns, so a job has 1 / slots of the time of its processors, less what switching
/// costs. That is a rate: no event is made of a time slice. At level 1 there is no matrix, and the partition chooses processors.
#[derive(Debug)]
pub struct Gang {
    terms: GangOptions,
    line: Line,
    waiting: Demands,
    /// Running jobs in order of arrival.
    running: BTreeMap<u64, JobKey>,
    state: State,
}

/// A job that starts in a pass.
#[derive(Debug)]
struct Starts {
    job: JobKey,
    seq: u64,
    slot: usize,
    procs: u32,
}

/// What cannot be seen from the partition, and is saved.
#[derive(Debug, Default, Serialize, Deserialize)]
struct State {
    /// Jobs by their place in the order of arrival; none at level 1, or before the first pass.
    matrix: Option<Matrix<u64>>,
    /// Jobs that have ended since the last pass, and have their places in the matrix until the next one.
    gone: BTreeSet<u64>,
    /// Since when slices have been as long as they are now, and how long that is; `None` while no job runs.
    slice: Option<(Time, Span)>,
    /// The last instant at which sizes were reconsidered.
    resized: Option<Time>,
    /// When something is to be done if nothing happens before.
    next: Option<Time>,
    /// Whether something has changed since the last pass.
    changed: bool,
    /// Whether the next pass does not wait for the end of the slice: a job runs that the last one did not know of.
    urgent: bool,
}

impl Gang {
    /// Gang scheduling on these terms.
    pub fn new(terms: GangOptions) -> Self {
        let line = Line::new(terms.priorities.clone(), terms.by_priority, terms.requests());
        Self { terms, line, waiting: Demands::default(), running: BTreeMap::new(), state: State::default() }
    }

    fn arrive(&mut self, job: JobKey, view: &View<'_>) {
        let live = view.job(job);
        self.line.add(job, &self.terms.requests_of(live, view), view);
        self.waiting.add(job, live, view, self.terms.reconfigure);
    }

    fn refill(&mut self, view: &View<'_>) {
        let Self { line, terms, waiting, .. } = self;
        line.refill(view, |live| terms.requests_of(live, view));
        *waiting = Demands::default();
        for job in view.jobs_in(Phase::Waiting) {
            waiting.add(job, view.job(job), view, terms.reconfigure);
        }
    }

    fn leave(&mut self, job: JobKey) {
        self.line.remove(job);
        self.waiting.remove(job);
    }

    /// Takes over a job that runs.
    fn take_over(&mut self, job: JobKey, view: &View<'_>) {
        let live = view.job(job);
        self.running.insert(live.seq(), job);
        if self.terms.level > 1 && !self.state.gone.remove(&live.seq()) {
            // It has processors that there are, and is not there: nothing can be wrong.
            let _ = self.made_matrix(view).map(|matrix| matrix.adopt(live.seq(), live.placement().clone()));
        }
    }

    fn made_matrix(&mut self, view: &View<'_>) -> Option<&mut Matrix<u64>> {
        let Self { state: State { matrix, .. }, terms, .. } = self;
        if matrix.is_none() && terms.level > 1 {
            *matrix = Matrix::new(view.processors(), terms.level, terms.packing).ok();
        }
        matrix.as_mut()
    }

    /// The end of the slice that runs at `time`; `time` itself if one begins then, or nothing is timed by slices.
    fn boundary(&self, time: Time) -> Time {
        match self.state.slice.filter(|_| self.terms.has_slices()) {
            Some((since, length)) => {
                let over = time.since(since).micros() % length.micros().max(1);
                let rest = if over == 0 { 0 } else { length.micros() - over };
                time.checked_add(Span::from_micros(rest)).unwrap_or(Time::NEVER)
            }
            None => time,
        }
    }

    /// Starts jobs in order as long as the first one fits.
    fn start_first(
        &self,
        view: &View<'_>,
        load: Load,
        slots: &mut Slots<'_>,
    ) -> (Vec<Starts>, Option<Place>) {
        let (mut started, mut last) = (Vec::new(), None);
        while let Some((place, job)) = self.line.after(last) {
            let live = view.job(job);
            let procs = self.terms.target(live, view, load);
            let Some(slot) = slots.fit(procs) else { break };
            slots.place(live.seq(), slot, procs);
            started.push(Starts { job, seq: live.seq(), slot, procs });
            last = Some(place);
        }
        (started, last)
    }

    /// Says what has been decided.
    fn act(
        &self,
        view: &View<'_>,
        resized: Vec<(JobKey, ProcSet, EventCause)>,
        started: &[Starts],
        actions: &mut Actions,
    ) {
        let mut changed = BTreeSet::new();
        for (job, procs, why) in resized {
            changed.insert(job);
            actions.push(Action::Resize { job, placement: Placement::On(procs), why });
        }
        let Some(matrix) = &self.state.matrix else {
            started.iter().for_each(|started| actions.start(started.job, started.procs));
            return;
        };
        let kept = self.terms.left(matrix.rows());
        for (seq, job) in &self.running {
            let (job, live) = (*job, view.job(*job));
            let share = matrix.share(*seq).unwrap_or(live.share());
            if share != live.share() {
                actions.push(Action::SetShare { job, share });
            }
            // One that gets other processors has all of its rate there, until it is said to have less.
            let had = if changed.contains(&job) { Rate::FULL } else { live.efficiency() };
            if kept != had {
                actions.push(Action::SetEfficiency { job, efficiency: kept });
            }
        }
        for Starts { job, seq, .. } in started {
            let Some((procs, share)) = matrix.procs(*seq).cloned().zip(matrix.share(*seq)) else { continue };
            actions.push(Action::Start { job: *job, placement: Placement::On(procs), share });
            if kept != Rate::FULL {
                actions.push(Action::SetEfficiency { job: *job, efficiency: kept });
            }
        }
    }

    /// Asks for a pass at the end of the slice that runs at `time`.
    fn wake(&self, time: Option<Time>, now: Time, actions: &mut Actions) {
        if let Some(time) = time {
            actions.wake_at(self.boundary(time.max(now + Span::TICK)));
        }
    }

    /// Slices are as long as goes with the slots that are in use.
    fn turn(&mut self, now: Time) {
        let slots = self.state.matrix.as_ref().map_or(1, Matrix::rows);
        let length = self.terms.slices.map(|slices| slices.slice(u32::try_from(slots).unwrap_or(u32::MAX)));
        let Some(length) = length.filter(|_| !self.running.is_empty()) else {
            self.state.slice = None;
            return;
        };
        if self.state.slice.is_none_or(|(_, before)| before != length) {
            self.state.slice = Some((now, length));
        }
    }

    /// The facts of a pass for explanations.
    fn explain(
        &self,
        view: &View<'_>,
        slots: &Slots<'_>,
        load: Load,
        shadow: Option<Time>,
        actions: &mut Actions,
    ) {
        let Some(trace) = actions.trace() else { return };
        let first = self.line.after(None).map(|(_, job)| job);
        let terms = &self.terms;
        trace.free = slots.most();
        let is_plain = terms.level == 1 && !terms.adapts && !terms.fills;
        trace.rule = match terms.backfilling {
            Backfilling::None if is_plain => Rule::InOrder { first },
            Backfilling::Easy if is_plain => Rule::Backfill { first, shadow },
            _ => Rule::Slots {
                first,
                needs: first.map_or(0, |job| terms.target(view.job(job), view, load)),
                backfills: terms.backfilling != Backfilling::None,
                slice: None,
            },
        };
    }

    /// What happens within a slice waits for its end.
    fn wait(&self, view: &View<'_>, until: Time, actions: &mut Actions) {
        let now = view.now();
        self.wake(if self.state.changed { Some(now) } else { self.state.next }, now, actions);
        if let Some(trace) = actions.trace() {
            let first = self.line.after(None).map(|(_, job)| job);
            trace.free = view.free();
            trace.rule = Rule::Slots { first, needs: 0, backfills: false, slice: Some(until) };
        }
    }
}

impl LocalPolicy for Gang {
    fn on(&mut self, change: Change, view: &View<'_>) {
        self.state.changed = true;
        match change {
            Change::Arrived(job) => self.arrive(job, view),
            Change::Withdrawn(job) => self.leave(job),
            Change::Ended(job) => {
                let seq = view.job(job).seq();
                self.running.remove(&seq);
                if self.state.matrix.is_some() {
                    self.state.gone.insert(seq);
                }
            }
            Change::Continued(job) => {
                self.take_over(job, view);
                self.state.urgent = true;
            }
            // What there is, and when jobs end, is looked up at each pass.
            Change::Left
            | Change::Joined
            | Change::Suspended(_)
            | Change::Reserved
            // No estimates or sizes of waiting jobs: commands that change them are refused.
            | Change::Altered { .. }
            | Change::Moved { .. } => {}
        }
    }

    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
        let now = view.now();
        let boundary = self.boundary(now);
        if boundary > now && !self.state.urgent && !self.running.is_empty() {
            return self.wait(view, boundary, actions);
        }
        self.line.age(now);
        if self.made_matrix(view).is_some() {
            for seq in std::mem::take(&mut self.state.gone) {
                self.state.matrix.as_mut().and_then(|matrix| matrix.remove(seq));
            }
        }
        let load = self.load(view);
        let may_resize = self.terms.adapts && self.may_resize(now);
        if self.state.urgent || self.running.is_empty() {
            self.state.slice = None;
        }
        let mut matrix = self.state.matrix.take();
        let mut slots = Slots::of(view, matrix.as_mut(), &self.terms);
        let mut resized = Vec::new();
        if may_resize {
            self.state.resized = Some(now);
            resized = self.adapt(view, load, &mut slots);
        }
        let (mut started, last) = self.start_first(view, load, &mut slots);
        let shadow = self.backfill(view, load, last, &resized, &mut slots, &mut started);
        if self.terms.fills {
            self.fill(view, &mut slots, &mut started);
        }
        started.iter().for_each(|started| self.leave(started.job));
        self.explain(view, &slots, load, shadow, actions);
        self.state.next = self.wish(view, &resized, &started, &slots);
        self.state.matrix = matrix;
        self.act(view, resized, &started, actions);
        self.running.extend(started.iter().map(|started| (started.seq, started.job)));
        self.turn(now);
        (self.state.changed, self.state.urgent) = (false, false);
        self.wake(self.state.next, now, actions);
    }

    fn start_estimates(&self, view: &View<'_>) -> StartEstimates {
        self.estimates(view)
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_stdvec(&self.state).unwrap_or_default()
    }

    fn restore(&mut self, saved: &[u8], view: &View<'_>) -> Result<(), String> {
        let saved: State =
            postcard::from_bytes(saved).map_err(|error| format!("its time slots cannot be read: {error}"))?;
        self.refill(view);
        self.running = view.holders().into_iter().map(|job| (view.job(job).seq(), job)).collect();
        if let Some(matrix) = &saved.matrix
            && let Some(seq) = self.running.keys().find(|seq| matrix.row(**seq).is_none())
        {
            return Err(format!("job number {seq} of the partition has no time slot"));
        }
        self.state = saved;
        Ok(())
    }

    fn adopt(&mut self, view: &View<'_>) {
        self.refill(view);
        self.running.clear();
        // Nobody runs by slices yet.
        self.state = State { changed: true, urgent: true, ..State::default() };
        view.holders().into_iter().for_each(|job| self.take_over(job, view));
    }
}
