//! Why a job waits, as a function of the facts that a pass has recorded, the job and the view.

mod backfill;
mod packing;
mod plan;
mod preemption;
mod search;
mod slices;

use super::{Awake, Blocker, Decision, Explanation, LiveJob, Phase, Profile, Reason, Rule, View, Why};
use crate::model::{JobKey, ProcSet};
use crate::units::{Span, Time};

impl Decision {
    /// Why the pass has or has not started `job`, which was waiting when the pass began, and waits at `now` if nothing has happened since. The view
    /// is that of the pass, before or after its actions have been carried out.
    pub fn explain(&self, view: &View<'_>, job: JobKey, now: Time) -> Explanation {
        let case = Case { facts: self, view, job, live: view.job(job) };
        if self.started.contains(&job) {
            return Explanation::new(Why::Starts, case.needs(), self.free);
        }
        let later = |(waits, _): &&(JobKey, Option<Time>)| *waits == job;
        if let Some(start) = self.dedicated.iter().find(later).and(case.live.requested_start())
            && start > self.at
        {
            let why = Why::RequestsLaterStart { start, kept_back: false };
            return Explanation::new(why, case.needs(), self.free).starting(Some(start));
        }
        let explanation = match &self.rule {
            Rule::Unsaid => None,
            Rule::InOrder { first } => first.map(|first| case.in_order(first)),
            Rule::Level { first, full, most } => {
                first.map(|first| case.level(first, full, Some(*most), false))
            }
            Rule::Sharing { first, closed, backfills } => {
                first.map(|first| case.level(first, closed, None, *backfills))
            }
            Rule::Slots { slice: Some(until), .. } => Some(case.in_slice(*until)),
            Rule::Slots { first, needs, backfills, slice: None } => {
                first.map(|first| case.in_slots(first, *needs, *backfills))
            }
            Rule::Backfill { first, shadow } => first.map(|first| case.backfilled(first, *shadow)),
            Rule::Plan { starts, compress } => case.planned(starts, case.live.estimate(), *compress),
            Rule::Packing(packing) => Some(case.packed(packing)),
            Rule::Search(searched) => case.searched(searched),
            Rule::Slices(slices) => case.sliced(slices),
            Rule::Preemption { may_suspend, claims, routine } => {
                Some(case.idle(may_suspend, claims, *routine, now.max(self.at)))
            }
        };
        explanation.unwrap_or_else(|| view.explanation(job))
    }
}

/// A job that the pass has not started, and the facts and the view that explain why.
#[derive(Copy, Clone)]
struct Case<'a> {
    facts: &'a Decision,
    view: &'a View<'a>,
    job: JobKey,
    live: &'a LiveJob,
}

impl Case<'_> {
    fn needs(&self) -> u32 {
        self.live.procs()
    }

    /// The free processors of machines that were awake when the pass began.
    fn awake(&self) -> Awake {
        self.facts.awake.unwrap_or_else(|| self.view.awake())
    }

    /// How long it would hold its processors from the pass on: its estimate, and as long as machines need to wake up for it.
    fn held(&self) -> Span {
        self.holds(self.live)
    }

    /// The same of another job that waits.
    fn holds(&self, job: &LiveJob) -> Span {
        let given = self.facts.started.iter().filter_map(|job| self.view.get(*job)).map(LiveJob::procs).sum();
        let awake = self.awake().without(given);
        let now = job.procs() <= self.facts.free;
        if now { awake.holds(job.procs(), job.estimate()) } else { job.estimate() }
    }

    fn explanation(&self, why: Why) -> Explanation {
        Explanation::new(why, self.needs(), self.facts.free)
    }

    /// Jobs that the pass has started or resumed and that do not run yet.
    fn started(&self) -> impl Iterator<Item = JobKey> + use<'_> {
        let waits = |job: &JobKey| matches!(self.view.job(*job).phase(), Phase::Waiting | Phase::Suspended);
        self.facts.started.iter().copied().filter(waits)
    }

    fn started_before(&self) -> impl Iterator<Item = Blocker> + use<'_> {
        self.started().map(|job| self.view.waits(job, Some(self.facts.at)))
    }

    /// Explains a job for which too few processors are free, whoever is before it.
    fn too_few(&self) -> Explanation {
        let Self { facts, view, .. } = *self;
        let (needs, profile) = (self.needs(), self.ground());
        let start = profile.earliest(facts.at, self.live.estimate(), needs);
        self.explanation(Why::TooFew { skipped: None })
            .blocked_by(view.released_for(needs, facts.free))
            .blocked_by(self.started_before())
            .blocked_by(view.booked(facts.at, start.unwrap_or(Time::NEVER)))
            .over(&profile, start)
    }

    /// Free processors after the pass, beside running jobs, the book and the reservations of dedicated jobs.
    fn ground(&self) -> Profile {
        let (at, mut profile) = (self.facts.at, self.view.profile());
        let mut awake = self.awake();
        let started = self.facts.started.iter().filter_map(|key| {
            let job = self.view.get(*key)?;
            let end = at + awake.holds(job.procs(), job.estimate());
            awake = awake.without(job.procs());
            Some((*key, end))
        });
        let given: Vec<(JobKey, Time)> = self.facts.before.iter().copied().chain(started).collect();
        for (key, end) in given {
            let Some(job) = self.view.get(key) else { continue };
            match job.phase() {
                Phase::Waiting | Phase::Suspended => profile.reserve(at, end, job.procs()),
                // The pass counted on the slowest machines, and on waiting for machines to wake up; a job that got better ones is expected to end earlier.
                Phase::Running if job.last_start() >= Some(at) => {
                    profile.reserve(self.view.expected_end(key), end, job.placement().len());
                }
                _ => {}
            }
        }
        for (job, start) in &self.facts.dedicated {
            if let Some(start) = start {
                reserve(&mut profile, *start, self.view.job(*job));
            }
        }
        profile
    }

    /// Explains [`Rule::InOrder`]: no job overtakes the first in line.
    fn in_order(&self, first: JobKey) -> Explanation {
        let Self { facts, view, job, .. } = *self;
        let (head, profile) = (view.job(first), self.ground());
        let start = profile.earliest(facts.at, head.estimate(), head.procs());
        let ends = view.released_for(head.procs(), facts.free);
        let explanation = if first == job {
            self.explanation(Why::FirstInLine { reserved: false }).starting(start)
        } else {
            let would_do = self.needs() <= facts.free;
            let why = Why::HeadFirst { first: view.who(first), needs: head.procs(), would_do };
            self.explanation(why).blocked_by([view.waits(first, start)])
        };
        explanation.blocked_by(ends).blocked_by(self.started_before()).over(&profile, start)
    }

    /// Explains [`Rule::Slots`] within a time slice: the pass is at its end.
    fn in_slice(&self, until: Time) -> Explanation {
        self.explanation(Why::InSlice { until }).blocked_by(self.ends(&ProcSet::full(self.view.processors())))
    }

    /// Explains [`Rule::Slots`]: no time slot has enough free processors for the first in line.
    fn in_slots(&self, first: JobKey, needs: u32, overtakes: bool) -> Explanation {
        let Self { view, job, .. } = *self;
        let explanation = if first == job {
            self.explanation(Why::FirstForSlot { needs })
        } else {
            let why =
                if overtakes { Why::OthersBefore } else { Why::SlotBefore { first: view.who(first), needs } };
            self.explanation(why).blocked_by([view.waits(first, None)])
        };
        let holders = match view.multiprogramming_level() {
            1 => view.released_for(needs, self.facts.free),
            _ => self.ends(&ProcSet::full(view.processors())),
        };
        let missing = view.processors().saturating_sub(view.here().len());
        explanation
            .blocked_by(holders)
            .blocked_by(self.started_before())
            .blocked_by((missing > 0).then_some(Blocker::Down { procs: missing }))
    }

    /// The jobs that have some of these processors, in the order of their ends.
    fn ends(&self, on: &ProcSet) -> Vec<Blocker> {
        let view = self.view;
        let mut ends: Vec<(Time, JobKey)> = view
            .holders()
            .into_iter()
            .filter(|job| view.job(*job).placement().iter().any(|proc| on.contains(proc)))
            .map(|job| (view.expected_end(job), job))
            .collect();
        ends.sort_unstable();
        ends.into_iter().map(|(_, job)| view.runs(job)).collect()
    }

    /// Explains [`Rule::Level`] and [`Rule::Sharing`]: too few processors can take another job, so that the first in line waits.
    fn level(&self, first: JobKey, full: &ProcSet, most: Option<u32>, overtakes: bool) -> Explanation {
        let Self { view, job, .. } = *self;
        // A stalled job on machines that are down keeps its place on the others.
        let missing = view.processors().saturating_sub(view.here().len());
        let explanation = if first == job {
            self.explanation(Why::FirstForPlaces { most })
        } else if overtakes {
            self.explanation(Why::OthersBefore).blocked_by([view.waits(first, None)])
        } else {
            let why = Why::PlacesBefore { first: view.who(first), needs: view.job(first).procs(), most };
            self.explanation(why).blocked_by([view.waits(first, None)])
        };
        explanation
            .blocked_by(self.ends(full))
            .blocked_by(self.started_before())
            .blocked_by((missing > 0).then_some(Blocker::Down { procs: missing }))
    }
}

fn reserve(profile: &mut Profile, start: Time, job: &LiveJob) {
    profile.reserve(start, start + job.estimate(), job.procs());
}

/// The first instant from `since` to `end` at which fewer than `needs` are free, and how many are.
fn first_lack(profile: &Profile, since: Time, end: Time, needs: u32) -> Option<(Time, u32)> {
    let at_first = (since < end).then(|| (since, profile.free_at(since)));
    let steps = profile.steps().skip_while(|(step, _)| *step <= since).take_while(|(step, _)| *step < end);
    let mut during = at_first.into_iter().chain(steps);
    let lack = during.find(|(_, free)| i64::from(*free) < i64::from(needs));
    lack.map(|(time, free)| (time, u32::try_from(free).unwrap_or(0)))
}

impl View<'_> {
    /// Explains a waiting job without knowing its policy: too few processors, a reservation in the way, or jobs that came
    /// first. It never says that the job starts.
    pub fn explanation(&self, key: JobKey) -> Explanation {
        let (job, now, free) = (self.job(key), self.now(), self.free());
        let needs = job.procs();
        let profile = self.profile();
        let start = profile.earliest(now, job.estimate(), needs);
        let explanation = |why: Why| Explanation::new(why, needs, free).over(&profile, start);
        if let Some(start) = job.requested_start().filter(|start| *start > now) {
            let why = Why::RequestsLaterStart { start, kept_back: false };
            return Explanation::new(why, needs, free).starting(Some(start));
        }
        if needs > free {
            return explanation(Why::TooFew { skipped: None })
                .blocked_by(self.released_for(needs, free))
                .blocked_by(self.booked(now, start.unwrap_or(Time::NEVER)));
        }
        let held = self.awake().holds(needs, job.estimate());
        let end = now + held;
        if !profile.fits(now, held, needs) {
            return explanation(Why::ReservedBefore { end, first: false })
                .blocked_by(self.booked(now, end))
                .starting(start);
        }
        let waiting = self.jobs_in(Phase::Waiting).into_iter();
        let before = waiting.filter(|other| self.job(*other).seq() < job.seq());
        let before: Vec<Blocker> = before.map(|other| self.waits(other, None)).collect();
        explanation(if before.is_empty() { Why::Unsaid } else { Why::OthersBefore }).blocked_by(before)
    }

    /// The same, where the power cap alone keeps back the processors that the job, or the first in line, lacks.
    pub(super) fn capped(&self, told: Explanation) -> Explanation {
        let kept_back = self.state.kept_back.min(self.state.unused);
        // The first in line may be held by the cap, and with it those behind.
        if let Why::HeadFirst { needs, .. } = told.why
            && (1..=kept_back).contains(&needs.saturating_sub(told.free))
        {
            let mut blockers = told.blockers;
            blockers.insert(blockers.len().min(1), Blocker::Cap { procs: kept_back });
            return Explanation { blockers, ..told };
        }
        let lacks = told.needs.saturating_sub(told.free);
        let is_room = matches!(told.why.reason(), Reason::NoRoom | Reason::Machines);
        if !is_room || told.why == Why::Stalled || lacks == 0 || lacks > kept_back {
            return told;
        }
        let blockers = [Blocker::Cap { procs: kept_back }].into_iter().chain(told.blockers).collect();
        Explanation { why: Why::HeldByCap { kept_back }, blockers, ..told }
    }

    /// Why a job is ineligible or stalled, so that its policy does not handle it. `None` if it runs or is in the queue.
    pub(super) fn ineligible(&self, key: JobKey, kept_back: bool) -> Option<Explanation> {
        let job = self.get(key)?;
        let explanation = |why| Explanation::new(why, job.procs(), self.free());
        if let Some(booking) = self.bookings().of(self.state.job_ref(job)).filter(|_| job.claims) {
            let (name, start, end) = (booking.name.clone(), booking.start, booking.end);
            let why = Why::HasReservation { name, start, end, owed: booking.owed };
            return Some(explanation(why).starting((booking.owed == 0).then_some(start)));
        }
        match job.phase() {
            Phase::Ineligible if kept_back => {
                let start = job.requested_start();
                let why = Why::RequestsLaterStart { start: start.unwrap_or(self.now()), kept_back };
                Some(explanation(why).starting(start))
            }
            // It is large, and the cap will leave it enough when machines sleep or jobs have ended.
            Phase::Ineligible if job.procs() <= self.capacity() + self.state.kept_back => {
                let kept_back = self.state.kept_back;
                let cap = Blocker::Cap { procs: kept_back };
                Some(explanation(Why::HeldByCap { kept_back }).blocked_by([cap]))
            }
            Phase::Ineligible => {
                let capacity = self.capacity();
                let procs = self.processors().saturating_sub(capacity + self.state.kept_back);
                let down = (procs > 0).then_some(Blocker::Down { procs });
                Some(explanation(Why::MachinesDown { capacity }).blocked_by(down))
            }
            Phase::Stalled => {
                let gone = job.placement().iter().filter(|proc| !self.here().contains(*proc)).count() as u32;
                let procs = gone.min(self.processors().saturating_sub(self.here().len()));
                Some(explanation(Why::Stalled).blocked_by([Blocker::Down { procs }]))
            }
            Phase::Waiting
            | Phase::Starting
            | Phase::Running
            | Phase::Suspending
            | Phase::Suspended
            | Phase::Resuming
            | Phase::Reconfiguring => None,
        }
    }
}

/// The reason for too few processors: what takes the others.
fn taken_by(holders: &[Blocker], is_enough_free: bool) -> Reason {
    let waits = holders.iter().any(|blocker| matches!(blocker, Blocker::Waiting { .. }));
    let books = holders.iter().any(|blocker| matches!(blocker, Blocker::Booking { .. }));
    match (waits, books) {
        (true, _) => Reason::Planned,
        (false, true) if is_enough_free => Reason::Reserved,
        _ => Reason::NoRoom,
    }
}
