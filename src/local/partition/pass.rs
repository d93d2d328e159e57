//! The scheduling pass: asks the policy for actions, checks each of them, and carries it out.

use super::Partition;
use crate::local::error::{PartitionError, Violation};
use crate::local::policy::{Action, Change, Placement};
use crate::local::table::Phase;
use crate::local::{Step, View};
use crate::model::{InstantOrder, JobKey, Outcome, ProcSet, RejectReason};
use crate::units::{Rate, Span, Time, Work};

pub(super) type Checked = Result<(), PartitionError>;

/// The phases in which a job is on its processors.
const ON: [Phase; 4] = [Phase::Running, Phase::Suspending, Phase::Resuming, Phase::Reconfiguring];

impl Partition {
    /// One scheduling pass. Jobs that the policy killed or rejected leave by the step's exits.
    ///
    /// # Errors
    /// [`PartitionError`] if the policy requests an action that cannot be carried out.
    pub fn pass(&mut self, step: &mut Step<'_>) -> Checked {
        let now = step.now;
        if self.state.spec.most_in_use.is_some() {
            self.refuse_too_large(step);
        }
        self.follow_cap(step);
        if self.state.book.has_claims() {
            self.start_claimed(step)?;
        }
        let mut actions = std::mem::take(&mut self.actions);
        actions.begin(now);
        let view = View { state: &self.state, now };
        if let Some(trace) = actions.trace() {
            trace.awake = Some(view.awake());
            trace.before.extend(self.late.iter().filter_map(|action| match action {
                Action::Start { job, .. } => {
                    let live = self.state.table.get(*job)?;
                    Some((*job, live.since.max(now) + live.estimate))
                }
                _ => None,
            }));
        }
        self.policy.schedule(&view, &mut actions);
        self.state.tally.passes += 1;
        self.wake = actions.wake;
        if self.wake.is_some_and(|wake| wake <= now) {
            return Err(self.blame(now, "wake".to_owned(), Violation::WakeNotLater));
        }
        self.count_wake(!actions.list.is_empty());
        for note in actions.notes.drain(..) {
            self.record_note(note, step);
        }
        // Facts may name a job that an action removes, and its key is reused.
        let mut removed = false;
        for action in actions.list.drain(..) {
            removed |= matches!(action, Action::Kill { .. } | Action::Reject { .. });
            self.apply(action, step)?;
        }
        let shared = std::mem::take(&mut self.state.reshared);
        self.check_shares(&shared, now)?;
        self.is_decided = actions.trace.is_some() && !removed;
        self.actions = actions;
        self.state.tally.longest_queue = self.state.tally.longest_queue.max(self.state.waiting);
        self.state.balance_power(step);
        Ok(())
    }

    /// Under one pass per event: carries out the starts decided in the passes of this instant. A start for which processors are
    /// lacking by now, because machines have gone down since or a reservation is owed some, is cancelled: the job joins the queue
    /// anew, and there is a pass for it in the next round.
    ///
    /// # Errors
    /// [`PartitionError`] if the policy requested an action that cannot be carried out.
    pub fn end_instant(&mut self, step: &mut Step<'_>) -> Checked {
        self.state.ending = 0;
        let mut again = Vec::new();
        for action in std::mem::take(&mut self.late) {
            let Action::Start { job, placement, share } = action else { continue };
            let givable = self.state.givable();
            let Some(live) = self.state.table.get_mut(job).filter(|live| live.phase == Phase::Starting)
            else {
                continue;
            };
            let held = live.held;
            self.state.deferred -= held;
            if held > givable {
                self.notify(Change::Ended(job), step.now);
                again.push(job);
                continue;
            }
            live.phase = Phase::Waiting;
            let area = live.area();
            self.state.joins_queue(area);
            self.start(job, placement, share, step)?;
        }
        for key in again {
            if let Some(live) = self.state.table.get_mut(key) {
                (live.held, live.leaving, live.since) = (0, 0, step.now);
            }
            self.enqueue(key, step.now);
            self.wake = Some(step.now);
        }
        Ok(())
    }

    fn apply(&mut self, action: Action, step: &mut Step<'_>) -> Checked {
        match action {
            Action::Start { job, placement, share } if self.state.settings.order == InstantOrder::Event => {
                self.defer(job, placement, share, step.now)
            }
            Action::Start { job, placement, share } => self.start(job, placement, share, step),
            Action::Suspend { job, why } => self.suspend(job, why, step),
            Action::Resume { job, placement, share } => self.resume(job, placement, share, step),
            Action::Resize { job, placement, why } => self.resize(job, placement, why, step),
            Action::SetShare { job, share } => self.set_share(job, share, step),
            Action::SetEfficiency { job, efficiency } => self.set_efficiency(job, efficiency, step),
            Action::Kill { job } => {
                const STARTED: [Phase; 5] = [
                    Phase::Running,
                    Phase::Suspending,
                    Phase::Suspended,
                    Phase::Resuming,
                    Phase::Reconfiguring,
                ];
                self.expect(job, "kill", step.now, &STARTED)?;
                self.end_job(job, Outcome::Failed, step);
                Ok(())
            }
            Action::Reject { job } => {
                self.expect(job, "reject", step.now, &[Phase::Waiting])?;
                self.reject(job, RejectReason::Policy, step);
                Ok(())
            }
        }
    }

    fn start(&mut self, key: JobKey, placement: Placement, share: Rate, step: &mut Step<'_>) -> Checked {
        self.expect(key, "start", step.now, &[Phase::Waiting])?;
        let placement = self.checked(key, "start", step.now, |state, live| {
            state.check_share(share)?;
            state.placement(live, placement)
        })?;
        let Some(live) = self.state.table.get(key) else { return Ok(()) };
        let area = live.area();
        self.state.leaves_queue(area);
        self.begin(key, placement, share, step)
    }

    /// Begins an attempt of a job on free processors.
    pub(super) fn begin(
        &mut self,
        key: JobKey,
        placement: ProcSet,
        share: Rate,
        step: &mut Step<'_>,
    ) -> Checked {
        let begin = self.state.begins_at(&placement, step.now).unwrap_or(step.now);
        let Some(live) = self.state.table.get_mut(key) else { return Ok(()) };
        live.first_start.get_or_insert(begin);
        live.attempts += 1;
        let (expected, has_past) = (live.estimated, live.past.is_some());
        self.state.running += 1;
        if has_past {
            self.begin_attempt(key, &placement, begin);
        }
        self.put(key, placement, share, (Phase::Running, Span::ZERO), step)?;
        let moves = begin > step.now || !self.state.slow.is_empty() || self.state.groups.several();
        if has_past || moves {
            self.notify_if_moved(key, expected, step.now);
        }
        Ok(())
    }

    /// For a job with earlier attempts: plans its checkpoints for the machines that it really has.
    fn begin_attempt(&mut self, key: JobKey, placement: &ProcSet, begin: Time) {
        let machines = self.state.machines_under(placement);
        let Some(live) = self.state.table.get_mut(key) else { return };
        live.plan(&self.state.settings, machines);
        live.draw_fault();
        let restarted = live.attempts > 1;
        if let Some(past) = &mut live.past {
            past.restart = restarted.then_some(begin);
        }
    }

    /// Notifies the policy if a job that it has just put on processors is expected to end at another time than work up to
    /// `expected` takes on machines of the slowest group that are not slowed down.
    pub(super) fn notify_if_moved(&mut self, key: JobKey, expected: Work, now: Time) {
        let Some(live) = self.state.table.get(key) else { return };
        let span = (expected - live.done).span_at(live.unhindered(self.state.spec.speed()));
        let end = span.and_then(|span| now.checked_add(span)).unwrap_or(Time::NEVER);
        let from = end.max(now + Span::TICK);
        if from != live.expected_end {
            self.notify(Change::Moved { job: key, from }, now);
        }
    }

    /// Decides a start that takes effect at the end of the instant.
    fn defer(&mut self, key: JobKey, placement: Placement, share: Rate, now: Time) -> Checked {
        self.expect(key, "start", now, &[Phase::Waiting])?;
        let count = self.checked(key, "start", now, |state, live| {
            // It is not known yet which processors will be free at the end of the instant.
            let Placement::Any(count) = placement else {
                return Err(Violation::NotDeclared("chooses processors by number"));
            };
            state.check_size(live, count)?;
            let free = state.free_count();
            if count > free { Err(Violation::NotEnough { needed: count, free }) } else { Ok(count) }
        })?;
        let awake = View { state: &self.state, now }.awake();
        if let Some(live) = self.state.table.get_mut(key) {
            live.phase = Phase::Starting;
            live.held = count;
            // It may wait for machines to wake up: other passes of this instant count on that.
            live.since = now + awake.holds(count, Span::ZERO);
            let area = live.area();
            self.state.leaves_queue(area);
        }
        self.state.deferred += count;
        self.late.push(Action::Start { job: key, placement, share });
        Ok(())
    }

    fn set_efficiency(&mut self, key: JobKey, efficiency: Rate, step: &mut Step<'_>) -> Checked {
        self.expect(key, "set the efficiency of", step.now, &ON)?;
        self.checked(key, "set the efficiency of", step.now, |state, _| state.check_efficiency(efficiency))?;
        self.state.settle(key, step);
        if let Some(live) = self.state.table.get_mut(key) {
            live.allocation.efficiency = efficiency;
        }
        self.state.set_rate(key, step.now)
    }

    fn set_share(&mut self, key: JobKey, share: Rate, step: &mut Step<'_>) -> Checked {
        self.expect(key, "set the share of", step.now, &ON)?;
        self.checked(key, "set the share of", step.now, |state, _| state.check_share(share))?;
        self.state.settle(key, step);
        let Some(live) = self.state.table.get_mut(key) else { return Ok(()) };
        let old = std::mem::replace(&mut live.allocation.share, share);
        for proc in live.allocation.procs.iter() {
            if let Some(load) = self.state.load.get_mut(proc as usize) {
                load.share = load.share + share.units() as u32 - old.units() as u32;
            }
        }
        self.state.reshared.insert_all(&live.allocation.procs);
        self.state.set_rate(key, step.now)
    }

    /// Puts a job on free processors with a share, and begins a transition there, if that takes any time.
    pub(super) fn put(
        &mut self,
        key: JobKey,
        placement: ProcSet,
        share: Rate,
        (phase, takes): (Phase, Span),
        step: &mut Step<'_>,
    ) -> Checked {
        let (count, later) = (placement.len(), self.state.begins_at(&placement, step.now));
        let (begin, waits) = (later.unwrap_or(step.now), later.is_some());
        self.state.occupy(&placement, count, share, waits, step);
        if self.state.multiprogramming_level > 1 {
            self.state.reshared.insert_all(&placement);
        }
        if let Some(live) = self.state.table.get_mut(key) {
            live.phase = Phase::Running;
            live.since = begin;
            live.first_start.get_or_insert(begin);
            (live.allocation.share, live.allocation.efficiency) = (share, Rate::FULL);
        }
        self.state.set_placement(key, placement, count, step.now);
        if waits {
            self.state.begins.entry(begin).or_default().push(key);
        } else {
            self.state.note_continued(key, step);
        }
        if takes.is_zero() {
            return self.state.set_rate(key, step.now);
        }
        self.state.begin_transition(key, phase, takes, step.now)
    }
}
