//! How long a job has run and waited, and its expansion factor.

use super::table::{LiveJob, Phase};
use super::xfactor::XFactor;
use crate::units::{Rate, Span, Time, Work};

impl LiveJob {
    /// How long it has done work, at any rate, here: in its present attempt, and in earlier ones as far as what they have done is kept. What is lost with
    /// a machine has been waited for in vain. Time in transition does not count, nor what it has run at other sites.
    pub fn ran(&self, now: Time) -> Span {
        if self.phase == Phase::Running && self.since < now {
            self.ran + now.since(self.since)
        } else {
            self.ran
        }
    }

    /// How long it has not done work since it was [ready](Self::ready): in the queue, suspended, in transition, stalled, or in vain.
    pub fn waited(&self, now: Time) -> Span {
        let passed = now.since(self.ready()).micros();
        Span::from_micros(passed.saturating_sub(self.ran(now).micros()))
    }

    /// Its expansion factor: (time waited + estimate) / estimate [Kettimuthu 2003, section 2.2]. The estimate is that of the whole job: after an attempt of which
    /// something is kept, the time for which that was done counts. It stands still while the job does work, also beyond its estimate.
    pub fn xfactor(&self, now: Time) -> XFactor {
        let kept = self.past.as_ref().map_or(Span::ZERO, |past| past.ran);
        let estimate = self.estimate.micros().saturating_add(kept.micros());
        XFactor::new(self.waited(now), Span::from_micros(estimate))
    }

    /// From when on it does work: after its transition, if it is in one, or when the last of its machines is awake.
    pub fn works_from(&self) -> Time {
        if self.phase.is_transition() { self.until } else { self.since }
    }

    /// Whether its attempt has used processors.
    pub(super) fn has_run(&self) -> bool {
        self.proc_time > 0
    }

    /// Whether its attempt has used processors up to `now`, also in a segment that has not been settled.
    pub(super) fn has_run_by(&self, now: Time) -> bool {
        let runs = self.phase.is_active() && self.since < now && self.allocation.share > Rate::ZERO;
        self.has_run() || runs
    }

    /// Leaves the time of an attempt that does not go on to the next one: in proportion, if not all that it has `done` is `kept`.
    pub(super) fn leave_time(&mut self, kept: Work, done: Work) {
        let Some(past) = &mut self.past else { return };
        let own = Span::from_micros(self.ran.micros().saturating_sub(past.ran.micros()));
        past.ran += part(own, kept, done);
        self.ran = past.ran;
    }
}

/// The part `kept` / `done` of a time, rounded down.
fn part(time: Span, kept: Work, done: Work) -> Span {
    // Of works beyond 64 bits, the places are dropped that show in no microsecond.
    let shift = 64_u32.saturating_sub(done.units().leading_zeros());
    let (kept, done) = (kept.units().min(done.units()) >> shift, (done.units() >> shift).max(1));
    let micros = u128::from(time.micros()) * kept / done;
    Span::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
}
