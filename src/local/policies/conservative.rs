//! Conservative backfilling.

mod explain;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::local::{
    Abilities, Actions, Change, Explanation, LiveJob, LocalPolicy, Outlook, Phase, PolicyInfo, Profile, Slot,
    SlotRequest, View,
};
use crate::model::{JobKey, Named, NamedError, ParamInfo};
use crate::units::{Span, Time};

pub(super) const INFO: PolicyInfo = PolicyInfo {
    name: "conservative",
    doc: "Gives every job a reservation at the earliest time that delays no reservation made before; when a job ends early, reservations move up.",
    source: "Mu'alem and Feitelson 2001; Kettimuthu 2003, section 2.1.1",
    params: &[ParamInfo {
        key: "compress",
        values: "submission, start or none",
        default: "submission",
        doc: "order in which reservations move up when a job ends early: of submission, of reserved start (Kettimuthu), or not at all",
    }],
    abilities: |_| Abilities { keeps_reservations: true, guarantees_starts: true, ..Abilities::PLAIN },
    build: |named| Ok(Box::new(Conservative::from_named(named)?)),
};

/// What happens to reservations when a job ends before its estimate.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Compress {
    /// Each moves to its earliest time, in order of submission.
    #[default]
    Submission,
    /// Each moves to its earliest time, in order of reserved start.
    Start,
    /// They stay.
    None,
}

/// Conservative backfilling: every waiting job has a reservation, and none is ever delayed (while the machines stand and no job
/// overruns).
#[derive(Clone, Debug)]
pub struct Conservative {
    compress: Compress,
    plan: Plan,
    /// Processors came free earlier than planned since the last pass.
    room: bool,
    /// The plan does not hold any more: the book or the machines changed, or a job overran.
    stale: bool,
    /// The book that the plan goes around.
    book: Vec<Booked>,
}

/// What the plan knows of a reservation: start, end, processors.
type Booked = (Time, Time, u32);

/// Reserved starts, and the profile that holds them and what runs.
#[derive(Clone, Debug, Default)]
struct Plan {
    profile: Option<Profile>,
    /// Waiting jobs in order of arrival.
    starts: BTreeMap<u64, Planned>,
    /// The same by reserved start: `(start, seq)`.
    by_start: BTreeMap<(Time, u64), JobKey>,
    /// Sum of the estimates in microseconds.
    estimates: u128,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Planned {
    job: JobKey,
    start: Time,
    procs: u32,
    estimate: Span,
}

/// What a snapshot keeps: reserved starts are promises and cannot be worked out again.
#[derive(Serialize, Deserialize)]
struct Saved {
    starts: Vec<(JobKey, Time)>,
    room: bool,
    stale: bool,
}

impl Conservative {
    /// Conservative backfilling with this kind of compression.
    pub fn new(compress: Compress) -> Self {
        Self { compress, plan: Plan::default(), room: false, stale: true, book: Vec::new() }
    }

    fn from_named(mut named: Named) -> Result<Self, NamedError> {
        const CHOICES: [(&str, Compress); 3] =
            [("submission", Compress::Submission), ("start", Compress::Start), ("none", Compress::None)];
        let compress = named.take_choice("compress", &CHOICES)?.unwrap_or_default();
        named.finish(&["compress"])?;
        Ok(Self::new(compress))
    }

    /// When a waiting job is to start at the latest.
    pub fn reserved_start(&self, seq: u64) -> Option<Time> {
        self.plan.starts.get(&seq).map(|planned| planned.start)
    }

    /// Whether the plan holds; otherwise the next pass makes it anew, and until then an outlook is that of what runs and waits.
    pub fn is_planned(&self) -> bool {
        !self.stale
    }

    /// Makes the plan true to what is the case now, before anything is added to it or started from it. True while a job is
    /// overdue: every instant moves its expected end, and with it whatever was planned behind it.
    fn refresh(&mut self, view: &View<'_>) -> bool {
        let overdue = view.any_overdue();
        if self.stale || overdue {
            self.replan(view);
            self.stale = overdue;
            self.room = false;
        } else if std::mem::take(&mut self.room) {
            self.compress(view.now());
        }
        if let Some(profile) = &mut self.plan.profile {
            profile.advance(view.now());
        }
        overdue
    }

    /// Moves reservations up into room that came free.
    fn compress(&mut self, now: Time) {
        let order: Vec<u64> = match self.compress {
            Compress::None => return,
            Compress::Submission => self.plan.starts.keys().copied().collect(),
            Compress::Start => self.plan.by_start.keys().map(|(_, seq)| *seq).collect(),
        };
        for seq in order {
            self.plan.move_up(seq, now);
        }
    }

    /// A running job is expected to end at another time: others move up into the room, or stay where they are if the job has
    /// room to go on, or are planned anew.
    fn moved(&mut self, job: &LiveJob, from: Time, now: Time) {
        let end = job.expected_end();
        match &mut self.plan.profile {
            Some(profile) if !self.stale && from > now => {
                if end < from {
                    profile.release(end, from, job.held());
                    self.room = true;
                } else if profile.fits(from, end.since(from), job.held()) {
                    profile.reserve(from, end, job.held());
                } else {
                    self.stale = true;
                }
            }
            _ => self.stale = true,
        }
    }

    /// Plans everything anew around what runs now: after a change of the book or of machines, or when a job has overrun its
    /// estimate and reservations can no longer be kept. Those promised earlier go first.
    fn replan(&mut self, view: &View<'_>) {
        self.plan.profile = Some(view.profile());
        self.book = booked(view).collect();
        let order: Vec<u64> = self.plan.by_start.keys().map(|(_, seq)| *seq).collect();
        for seq in order {
            if let Some(planned) = self.plan.remove(seq) {
                self.plan.add(seq, planned, view.now());
            }
        }
    }
}

fn booked<'a>(view: &View<'a>) -> impl Iterator<Item = Booked> + use<'a> {
    view.bookings().iter().map(|booking| (booking.start, booking.end, booking.procs))
}

impl Plan {
    fn insert(&mut self, seq: u64, planned: Planned) {
        self.by_start.insert((planned.start, seq), planned.job);
        self.starts.insert(seq, planned);
        self.estimates += u128::from(planned.estimate.micros());
    }

    /// How long those that wait say they run, in the mean; a moment if nobody waits.
    fn mean_estimate(&self) -> Span {
        let mean = self.estimates.checked_div(self.starts.len() as u128).unwrap_or(0);
        Span::from_micros(u64::try_from(mean).unwrap_or(u64::MAX)).max(Span::TICK)
    }

    fn add(&mut self, seq: u64, mut planned: Planned, now: Time) {
        let Some(profile) = &mut self.profile else { return };
        // A job fits at the end of everything: it is not larger than the partition.
        planned.start = profile.earliest(now, planned.estimate, planned.procs).unwrap_or(Time::NEVER);
        profile.reserve(planned.start, planned.start + planned.estimate, planned.procs);
        self.insert(seq, planned);
    }

    fn remove(&mut self, seq: u64) -> Option<Planned> {
        let planned = self.starts.remove(&seq)?;
        self.by_start.remove(&(planned.start, seq));
        self.estimates -= u128::from(planned.estimate.micros());
        Some(planned)
    }

    fn move_up(&mut self, seq: u64, now: Time) {
        let (Some(profile), Some(planned)) = (&mut self.profile, self.starts.get_mut(&seq)) else { return };
        let earlier = profile.earliest_before(now, planned.start, planned.estimate, planned.procs);
        if let Some(start) = earlier {
            profile.release(planned.start, planned.start + planned.estimate, planned.procs);
            profile.reserve(start, start + planned.estimate, planned.procs);
            self.by_start.remove(&(planned.start, seq));
            self.by_start.insert((start, seq), planned.job);
            planned.start = start;
        }
    }
}

impl LocalPolicy for Conservative {
    fn on(&mut self, change: Change, view: &View<'_>) {
        let now = view.now();
        match change {
            Change::Arrived(job) => {
                // Those who wait already move into what came free at this instant before a newcomer looks for a place.
                self.refresh(view);
                let live = view.job(job);
                let planned = Planned { job, start: now, procs: live.procs(), estimate: live.estimate() };
                self.plan.add(live.seq(), planned, now);
            }
            Change::Withdrawn(job) => {
                if let Some(gone) = self.plan.remove(view.job(job).seq()) {
                    if let Some(profile) = &mut self.plan.profile {
                        profile.release(gone.start, gone.start + gone.estimate, gone.procs);
                    }
                    self.room = true;
                }
            }
            Change::Ended(job) => {
                let live = view.job(job);
                let starting = live.phase() == Phase::Starting;
                let end = if starting { now + live.estimate() } else { live.expected_end() };
                if let Some(profile) = self.plan.profile.as_mut().filter(|_| end > now) {
                    profile.advance(now);
                    profile.release(now, end, live.held());
                    self.room = true;
                }
            }
            // That a reservation begins or ends in its time was planned.
            Change::Reserved => {
                self.book.retain(|(_, end, _)| *end > now);
                self.stale |= !booked(view).eq(self.book.iter().copied());
            }
            // What was promised was promised on the machines that there were. With more of them nobody starts later: in the
            // order of reserved start each finds at least the place that it had.
            Change::Left | Change::Joined | Change::Continued(_) => self.stale = true,
            Change::Moved { job, from } => self.moved(view.job(job), from, now),
            // It promises starts, so it takes no elastic commands and is never told.
            Change::Altered { .. } => {}
        }
    }

    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
        let now = view.now();
        let overdue = self.refresh(view);
        let mut free = view.free();
        while let Some((&(start, seq), &job)) = self.plan.by_start.first_key_value() {
            if start > now {
                // Behind an overdue job a start is a guess; its end will bring a pass.
                if !overdue {
                    actions.wake_at(start);
                }
                break;
            }
            let procs = view.job(job).procs();
            if procs > free {
                // Only an overrun can be in the way; the next pass plans anew.
                break;
            }
            free -= procs;
            actions.start(job, procs);
            self.plan.remove(seq);
        }
    }

    fn offers(&self, view: &View<'_>, request: &SlotRequest) -> Vec<Slot> {
        match &self.plan.profile {
            Some(profile) if !self.stale => {
                let earliest = request.earliest.max(view.now());
                profile.offers(&SlotRequest { earliest, ..*request })
            }
            _ => view.profile().offers(request),
        }
    }

    /// The earliest room that the plan leaves for a job as long as those that wait are in the mean; while nobody waits, for
    /// however short a job.
    fn outlook(&self, view: &View<'_>) -> Outlook {
        match &self.plan.profile {
            Some(profile) if !self.stale => {
                let (now, estimate) = (view.now(), self.plan.mean_estimate());
                let start = |procs| profile.earliest(now, estimate, procs).unwrap_or(Time::NEVER);
                Outlook::of_sizes(view.capacity(), start)
            }
            _ => view.outlook(),
        }
    }

    fn explain(&self, view: &View<'_>, job: JobKey) -> Explanation {
        explain::explain(self, view, job)
    }

    fn save(&self) -> Vec<u8> {
        let starts = self.plan.starts.values().map(|planned| (planned.job, planned.start)).collect();
        let saved = Saved { starts, room: self.room, stale: self.stale };
        postcard::to_stdvec(&saved).unwrap_or_default()
    }

    fn restore(&mut self, saved: &[u8], view: &View<'_>) -> Result<(), String> {
        let saved: Saved = postcard::from_bytes(saved).map_err(|error| error.to_string())?;
        let mut profile = view.profile_of_before();
        self.plan = Plan::default();
        for (job, start) in saved.starts {
            let live =
                view.get(job).ok_or_else(|| format!("it plans a job with key {job} that is not there"))?;
            let planned = Planned { job, start, procs: live.procs(), estimate: live.estimate() };
            profile.reserve(start, start + planned.estimate, planned.procs);
            self.plan.insert(live.seq(), planned);
        }
        self.plan.profile = Some(profile);
        self.book = booked(view).collect();
        (self.room, self.stale) = (saved.room, saved.stale);
        Ok(())
    }

    fn adopt(&mut self, view: &View<'_>) {
        *self = Self::new(self.compress);
        self.plan.profile = Some(view.profile());
        self.book = booked(view).collect();
        for job in view.jobs_in(Phase::Waiting) {
            let live = view.job(job);
            let planned = Planned { job, start: view.now(), procs: live.procs(), estimate: live.estimate() };
            self.plan.add(live.seq(), planned, view.now());
        }
        self.stale = false;
    }
}
