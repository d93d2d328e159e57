//! Conservative backfilling.

mod compression;
mod waiting;

use compression::Pass;
use serde::{Deserialize, Serialize};

pub use crate::local::Compress;
use crate::local::{
    Abilities, Actions, Awake, Change, IndexedProfile, LiveJob, LocalPolicy, Phase, PolicyInfo, Profile,
    Rule, Slot, SlotRequest, StartEstimates, View,
};
use crate::model::{JobKey, ParamInfo};
use crate::units::{Span, Time};
use waiting::Waiting;

const ABLE: Abilities = Abilities { keeps_reservations: true, guarantees_starts: true, ..Abilities::PLAIN };

const COMPRESS: ParamInfo = ParamInfo {
    key: "compress",
    values: "submission, start or none",
    default: "submission",
    doc: "order in which reservations move up when a job ends: of submission, of reserved start (Kettimuthu), or not at all",
};

pub(super) fn info() -> PolicyInfo {
    PolicyInfo::new("conservative", |named| {
        let words = [("submission", Compress::Submission), ("start", Compress::Start), ("none", Compress::None)];
        let compress = named.take_choice(COMPRESS.key, &words)?.unwrap_or_default();
        Ok((Box::new(Conservative::new(compress)), ABLE))
    })
    .doc("Conservative backfilling: gives every job a reservation at the earliest time that delays no earlier reservation; when a job ends, reservations move up.")
    .source("Mu'alem and Feitelson 2001; Kettimuthu 2003, section 2.1.1")
    .params(&[COMPRESS])
}

/// Conservative backfilling: every waiting job has a reservation, and none is ever delayed (unless machines go down or a job
/// overruns).
#[derive(Clone, Debug)]
pub struct Conservative {
    compress: Compress,
    plan: Plan,
    /// Whether reservations are to move up before the next pass: a job has ended, or a waiting job has left.
    room: bool,
    /// Whether no reservation can move up: nothing has become free since none of them could, and all that was free was awake. Not saved, since the
    /// search that it spares finds nothing. Where machines sleep, a job that they would hold up now may fit before its start a little later.
    settled: bool,
    /// Whether the plan is invalid: the book or the machines changed, or a job overran.
    stale: bool,
    /// The changes of the book that the plan includes. Not saved: a plan is restored with its book.
    book: u64,
    /// Jobs that were started at an instant and wait for machines to wake up: until when the plan has their processors. At the same
    /// instant [`Change::Moved`] tells when they end, if they do wait.
    woken: Vec<(Time, JobKey, Time)>,
}

/// Reserved starts, and the profile that contains them and the running jobs.
#[derive(Clone, Debug, Default)]
struct Plan {
    profile: Option<IndexedProfile>,
    waiting: Waiting,
    /// Sum of the estimates in microseconds.
    estimates: u128,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Planned {
    job: JobKey,
    start: Time,
    procs: u32,
    estimate: Span,
    /// How long it is reserved: the estimate, and the time to wake up where it is to begin at once on machines that sleep.
    span: Span,
}

impl Planned {
    /// A job that is to be planned.
    fn of(job: JobKey, live: &LiveJob) -> Self {
        let estimate = live.estimate();
        Self { job, start: Time::NEVER, procs: live.procs(), estimate, span: estimate }
    }

    /// When its processors are free again, as planned.
    fn end(&self) -> Time {
        self.start + self.span
    }
}

/// The state in a snapshot: reserved starts are guaranteed and cannot be recomputed.
#[derive(Serialize, Deserialize)]
struct Saved {
    starts: Vec<(JobKey, Time, Span)>,
    room: bool,
    stale: bool,
    /// Of this instant alone: a later round of it may follow.
    woken: Vec<(Time, JobKey, Time)>,
}

impl Conservative {
    /// Conservative backfilling with this kind of compression.
    pub fn new(compress: Compress) -> Self {
        Self {
            compress,
            plan: Plan::default(),
            room: false,
            settled: false,
            stale: true,
            book: 0,
            woken: Vec::new(),
        }
    }

    /// When a waiting job starts at the latest.
    pub fn reserved_start(&self, seq: u64) -> Option<Time> {
        self.plan.waiting.get(seq).map(|planned| planned.start)
    }

    /// Whether the plan is valid. Otherwise the next pass makes it anew, and until then start-time estimates are those of running
    /// and waiting jobs.
    pub fn is_planned(&self) -> bool {
        !self.stale
    }

    /// Updates the plan to the present state, before a job is added to it or started from it. Returns true while a job is
    /// overdue: its expected end then moves with every instant, and so does everything planned after it.
    fn refresh(&mut self, view: &View<'_>) -> bool {
        let overdue = view.any_overdue();
        if self.stale || overdue {
            self.replan(view);
            self.stale = overdue;
            // Each job was given the earliest start among those planned before it.
            (self.room, self.settled) = (false, view.awake() == Awake::ALL);
        } else if std::mem::take(&mut self.room) {
            self.compress(view);
        }
        if let Some(profile) = &mut self.plan.profile {
            profile.advance(view.now());
        }
        overdue
    }

    /// Moves reservations up, each to the earliest time given all others. One that moves may make room for those before it, which
    /// move with the next end.
    fn compress(&mut self, view: &View<'_>) {
        let now = view.now();
        let by_start = match self.compress {
            Compress::None => return,
            Compress::Submission => false,
            Compress::Start => true,
        };
        let awake = self.plan.awake(view);
        self.settled = if awake == Awake::ALL {
            !self.plan.compress(by_start, now)
        } else {
            self.plan.compress_onto(awake, by_start, now);
            false
        };
    }

    /// Handles a running job that is expected to end at another time: other jobs move up if it ends earlier; they stay where they
    /// are if the job fits until its later end; otherwise all are planned anew.
    fn moved(&mut self, (key, job): (JobKey, &LiveJob), from: Time, now: Time) {
        // A job that waits for machines to wake up has its processors for longer than its estimate.
        let from = self.take_woken(key).map_or(from, |until| until.max(from));
        let end = job.expected_end();
        match &mut self.plan.profile {
            Some(profile) if !self.stale && from > now => {
                if end < from {
                    profile.release(end, from, job.held());
                    (self.room, self.settled) = (true, false);
                } else if profile.fits(from, end.since(from), job.held()) {
                    profile.reserve(from, end, job.held());
                } else {
                    self.stale = true;
                }
            }
            _ => self.stale = true,
        }
    }

    /// Plans everything anew around the running jobs: after a change of the book or of machines, or when a job has overrun its
    /// estimate and reservations can no longer be kept. Jobs with the earliest reserved start go first.
    fn replan(&mut self, view: &View<'_>) {
        self.plan.profile = Some(view.profile().into());
        // It knows of no time to wake up.
        self.woken.clear();
        self.book = view.bookings().changes();
        for (_, seq, _) in self.plan.waiting.by_start() {
            if let Some(planned) = self.plan.remove(seq) {
                self.plan.add(seq, planned, view);
            }
        }
    }

    /// Notes that a job was started, which needs its processors for so long. What it was planned for beyond that is free for others.
    fn started(&mut self, planned: Planned, held: Span, now: Time) {
        let span = planned.span.min(held);
        if span > planned.estimate {
            self.woken.push((now, planned.job, now + span));
        }
        if span < planned.span {
            if let Some(profile) = &mut self.plan.profile {
                profile.release(now + span, planned.end(), planned.procs);
            }
            (self.room, self.settled) = (true, false);
        }
    }

    /// Frees what jobs that were started at an earlier instant, and then got machines that were awake, do not need beyond their expected end.
    fn settle_woken(&mut self, view: &View<'_>) {
        let now = view.now();
        for (_, job, until) in self.woken.extract_if(.., |(at, ..)| *at < now) {
            let end = view.get(job).map_or(now, |live| live.expected_end().max(now));
            if let Some(profile) = self.plan.profile.as_mut().filter(|_| !self.stale && end < until) {
                profile.advance(now);
                let held = view.get(job).map_or(0, LiveJob::held);
                profile.release(end, until, held);
                (self.room, self.settled) = (true, false);
            }
        }
    }

    /// Until when the plan has the processors of a job that has just been started and waits for machines to wake up, beyond its estimate.
    fn take_woken(&mut self, job: JobKey) -> Option<Time> {
        let at = self.woken.iter().position(|(_, woken, _)| *woken == job)?;
        Some(self.woken.swap_remove(at).2)
    }
}

impl Plan {
    fn insert(&mut self, seq: u64, planned: Planned) {
        self.waiting.insert(seq, planned);
        self.estimates += u128::from(planned.estimate.micros());
    }

    /// The mean estimate of the waiting jobs; one tick if no job waits.
    fn mean_estimate(&self) -> Span {
        let mean = self.estimates.checked_div(self.waiting.len() as u128).unwrap_or(0);
        Span::from_micros(u64::try_from(mean).unwrap_or(u64::MAX)).max(Span::TICK)
    }

    /// The free processors of machines that are awake, without those of jobs that are planned to start now.
    fn awake(&self, view: &View<'_>) -> Awake {
        let awake = view.awake();
        if awake == Awake::ALL {
            return awake;
        }
        self.waiting.due(view.now()).map(|planned| planned.procs).fold(awake, Awake::without)
    }

    fn add(&mut self, seq: u64, mut planned: Planned, view: &View<'_>) {
        let (now, awake) = (view.now(), self.awake(view));
        let Some(profile) = &mut self.profile else { return };
        let Planned { procs, estimate, .. } = planned;
        // A job fits at the end of the plan: it is not larger than the partition.
        let mut earliest = |span| profile.earliest(now, span, procs).unwrap_or(Time::NEVER);
        (planned.start, planned.span) = (earliest(estimate), estimate);
        let held = awake.holds(procs, estimate);
        if planned.start == now && held > estimate {
            // Machines have to wake up first, and no reservation is delayed by that.
            (planned.start, planned.span) = (earliest(held), held);
        }
        profile.reserve(planned.start, planned.end(), procs);
        self.insert(seq, planned);
    }

    fn remove(&mut self, seq: u64) -> Option<Planned> {
        let planned = self.waiting.remove(seq)?;
        self.estimates -= u128::from(planned.estimate.micros());
        Some(planned)
    }

    /// Moves a job back, to start at `from` at the earliest and have its processors for so long.
    fn put_off(&mut self, seq: u64, from: Time, held: Span) {
        let (Some(profile), Some(&(mut planned))) = (&mut self.profile, self.waiting.get(seq)) else {
            return;
        };
        profile.release(planned.start, planned.end(), planned.procs);
        planned.start = profile.earliest(from, held, planned.procs).unwrap_or(Time::NEVER);
        planned.span = held;
        profile.reserve(planned.start, planned.end(), planned.procs);
        self.waiting.replace(seq, planned);
    }

    /// Moves reservations up, in order of submission or of start. True if one has moved.
    fn compress(&mut self, by_start: bool, now: Time) -> bool {
        let Some(profile) = &mut self.profile else { return false };
        let profile = profile.alone();
        profile.advance(now);
        let (mut pass, mut moved) = (Pass::new(now), false);
        let over = |jobs: &mut [(u64, Planned)]| {
            let some = pass.over(profile, jobs);
            moved |= some;
            some
        };
        if by_start {
            self.waiting.move_up_by_start(over);
        } else {
            self.waiting.move_up(over);
        }
        moved
    }

    /// The same where jobs that begin at once may have to wait for machines to wake up: each is tried.
    fn compress_onto(&mut self, mut awake: Awake, by_start: bool, now: Time) {
        let order: Vec<u64> = if by_start {
            self.waiting.by_start().into_iter().map(|(_, seq, _)| seq).collect()
        } else {
            self.waiting.iter().map(|(seq, _)| *seq).collect()
        };
        for seq in order {
            if let Some(moved) = self.move_up(seq, now, awake).filter(|moved| moved.start <= now) {
                awake = awake.without(moved.procs);
            }
        }
    }

    /// The job at its earlier start, if it has found one.
    fn move_up(&mut self, seq: u64, now: Time, awake: Awake) -> Option<Planned> {
        let (profile, planned) = (self.profile.as_mut()?, *self.waiting.get(seq)?);
        let Planned { estimate, procs, .. } = planned;
        let earlier = |span| profile.earliest_before(now, planned.start, span, procs);
        let (mut start, mut span) = (earlier(estimate)?, estimate);
        let held = awake.holds(procs, estimate);
        let wakes = start == now && held > estimate;
        if wakes && held <= planned.span {
            (start, span) = (earlier(held)?, held);
        }
        profile.release(planned.start, planned.end(), procs);
        if wakes && held > planned.span {
            // Beyond its own reservation others may have the processors.
            let longer = profile.earliest(now, held, procs).filter(|start| *start < planned.start);
            let Some(longer) = longer else {
                profile.reserve(planned.start, planned.end(), procs);
                return None;
            };
            (start, span) = (longer, held);
        }
        let moved = Planned { start, span, ..planned };
        profile.reserve(start, moved.end(), procs);
        self.waiting.replace(seq, moved);
        Some(moved)
    }
}

impl LocalPolicy for Conservative {
    fn on(&mut self, change: Change, view: &View<'_>) {
        let now = view.now();
        self.settle_woken(view);
        match change {
            Change::Arrived(job) => {
                // Waiting jobs move up to what became free at this instant before the arriving job is planned.
                self.refresh(view);
                let live = view.job(job);
                self.plan.add(live.seq(), Planned::of(job, live), view);
                self.settled &= view.awake() == Awake::ALL;
            }
            Change::Withdrawn(job) => {
                if let Some(gone) = self.plan.remove(view.job(job).seq()) {
                    if let Some(profile) = &mut self.plan.profile {
                        profile.release(gone.start, gone.end(), gone.procs);
                    }
                    (self.room, self.settled) = (true, false);
                }
            }
            Change::Ended(job) => {
                let live = view.job(job);
                let starting = live.phase() == Phase::Starting;
                let end = if starting { now + live.estimate() } else { live.expected_end() };
                let end = self.take_woken(job).map_or(end, |until| until.max(end));
                if let Some(profile) = self.plan.profile.as_mut().filter(|_| end > now) {
                    profile.advance(now);
                    profile.release(now, end, live.held());
                    self.settled = false;
                }
                self.room |= !self.settled;
            }
            // Reservations that begin or end at their time are already in the plan.
            Change::Reserved => {
                self.stale |= self.book != view.bookings().changes();
            }
            // The plan assumed the machines that were up. With more of them no job starts later: in the
            // order of reserved starts, each finds at least the place that it had.
            Change::Left | Change::Joined | Change::Continued(_) => self.stale = true,
            Change::Moved { job, from } => self.moved((job, view.job(job)), from, now),
            // This policy guarantees starts, so it processes no elastic commands and is never notified of one.
            Change::Altered { .. } | Change::Suspended(_) => {}
        }
    }

    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
        let now = view.now();
        self.settle_woken(view);
        let overdue = self.refresh(view);
        let (mut free, mut awake) = (view.free(), view.awake());
        let mut booked = (awake != Awake::ALL && !view.bookings().is_empty()).then(|| view.profile_ahead());
        while let Some((start, seq, job)) = self.plan.waiting.first() {
            if start > now {
                // Behind an overdue job a start is uncertain; the end of that job causes a pass.
                if !overdue {
                    actions.wake_at(start);
                }
                break;
            }
            let procs = view.job(job).procs();
            if procs > free {
                // Only an overrun can be in the way: what is planned here and behind starts later.
                self.stale = true;
                break;
            }
            // It begins later if machines have to wake up, but must end before its processors are reserved.
            let held = awake.holds(procs, view.job(job).estimate());
            if let Some(booked) = &mut booked {
                let from = booked.earliest(now, held, procs).unwrap_or(Time::NEVER);
                if from > now {
                    self.plan.put_off(seq, from, held);
                    // What it leaves is free for others, and once it has machines that are awake it may move up again.
                    self.settled = false;
                    continue;
                }
                booked.reserve(now, now + held, procs);
            }
            awake = awake.without(procs);
            free -= procs;
            actions.start(job, procs);
            if let Some(planned) = self.plan.remove(seq) {
                self.started(planned, held, now);
            }
        }
        if let Some(trace) = actions.trace() {
            let starts = self.plan.waiting.by_start().iter().map(|(start, _, job)| (*job, *start)).collect();
            (trace.free, trace.rule) = (free, Rule::Plan { starts, compress: self.compress });
        }
    }

    fn offers(&self, view: &View<'_>, request: &SlotRequest) -> Vec<Slot> {
        match &self.plan.profile {
            Some(profile) if !self.stale => {
                let earliest = request.earliest.max(view.now());
                profile.offers(&SlotRequest { earliest, ..*request })
            }
            _ => view.profile_ahead().offers(request),
        }
    }

    /// The earliest start in the plan for a job with the mean estimate of the waiting jobs; if no job waits, for a job of one
    /// tick.
    fn start_estimates(&self, view: &View<'_>) -> StartEstimates {
        match &self.plan.profile {
            Some(profile) if !self.stale => {
                let (now, estimate) = (view.now(), self.plan.mean_estimate());
                let start = |procs| Profile::earliest(profile, now, estimate, procs).unwrap_or(Time::NEVER);
                StartEstimates::of_sizes(view.capacity(), start)
            }
            _ => view.start_estimates(),
        }
    }

    fn save(&self) -> Vec<u8> {
        let starts =
            self.plan.waiting.iter().map(|(_, planned)| (planned.job, planned.start, planned.span)).collect();
        let saved = Saved { starts, room: self.room, stale: self.stale, woken: self.woken.clone() };
        postcard::to_stdvec(&saved).unwrap_or_default()
    }

    fn restore(&mut self, saved: &[u8], view: &View<'_>) -> Result<(), String> {
        let saved: Saved = postcard::from_bytes(saved).map_err(|error| error.to_string())?;
        let mut profile = IndexedProfile::from(view.profile_of_before());
        self.plan = Plan::default();
        for (job, start, span) in saved.starts {
            let live =
                view.get(job).ok_or_else(|| format!("it plans a job with key {job} that is not there"))?;
            let planned = Planned { start, span, ..Planned::of(job, live) };
            profile.reserve(start, planned.end(), planned.procs);
            self.plan.insert(live.seq(), planned);
        }
        for (_, job, until) in &saved.woken {
            if let Some(live) = view.get(*job).filter(|live| live.expected_end() < *until) {
                profile.reserve(live.expected_end().max(view.now()), *until, live.held());
            }
        }
        self.plan.profile = Some(profile);
        self.book = view.bookings().changes();
        (self.room, self.stale, self.woken) = (saved.room, saved.stale, saved.woken);
        Ok(())
    }

    fn adopt(&mut self, view: &View<'_>) {
        *self = Self::new(self.compress);
        self.plan.profile = Some(view.profile().into());
        self.book = view.bookings().changes();
        for job in view.jobs_in(Phase::Waiting) {
            let live = view.job(job);
            self.plan.add(live.seq(), Planned::of(job, live), view);
        }
        self.stale = false;
    }
}
