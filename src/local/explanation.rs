//! Why a job waits: what a policy says of its own decision.

use std::fmt;

use serde::Serialize;

use super::{Partition, Phase, View};
use crate::model::{JobId, JobKey, Origin};
use crate::units::{Clock, Span, Time};

/// What keeps a job from starting.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Nothing: a pass at this instant starts it.
    Starts,
    /// It is its turn, or it may overtake, and fewer processors are free than it needs.
    NoRoom,
    /// Others are before it, and nobody overtakes.
    Behind,
    /// It would delay the reservation of another job.
    WouldDelay,
    /// It has a reservation of its own, and those made before it fill the time until then.
    Planned,
    /// There is room before its own reservation, which stays where it is until reservations move up again.
    Kept,
    /// Others that wait fill the free processors better, or as well and came first.
    Packed,
    /// It asks for a start that has not come yet.
    Early,
    /// Processors that are reserved in the book are in its way.
    Reserved,
    /// Processors have as many jobs as they may.
    Level,
    /// Machines are away that it needs.
    Machines,
    /// The policy does not say.
    Unsaid,
}

/// A job as an explanation names it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Who {
    /// Number in its workload.
    pub job: JobId,
    /// Whose job it is: numbers are unique within one origin only.
    pub origin: Origin,
}

/// Who or what has the processors that a job would need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Blocker {
    /// A job that runs.
    Running {
        /// Which.
        who: Who,
        /// Its processors.
        procs: u32,
        /// When it is expected to have ended.
        until: Time,
    },
    /// A job that waits, and comes first.
    Waiting {
        /// Which.
        who: Who,
        /// Processors that it asks for.
        procs: u32,
        /// How long it is expected to run.
        estimate: Span,
        /// When it is to start, as far as the policy plans.
        start: Option<Time>,
    },
    /// A reservation in the book.
    Booking {
        /// Its name.
        name: String,
        /// First instant.
        from: Time,
        /// First instant after it.
        to: Time,
        /// Processors.
        procs: u32,
    },
    /// Machines that are away, or are kept by a job that stands still.
    Away {
        /// Their processors.
        procs: u32,
    },
}

/// Why a waiting job does or does not start now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// In a word.
    pub reason: Reason,
    /// The rule, as a sentence without its end.
    pub rule: String,
    /// Processors that the job needs.
    pub needs: u32,
    /// Processors that are free for it now.
    pub free: u32,
    /// The shadow time, at which the first waiting job is to start, where the policy has one.
    pub shadow: Option<Time>,
    /// Processors that are spare then.
    pub spare: Option<u32>,
    /// When it is to start at the latest, as far as the policy plans and estimates hold.
    pub start: Option<Time>,
    /// Who holds it back: those that wait, those that run in the order of their ends, the book.
    pub blockers: Vec<Blocker>,
    /// Free processors from now on, as the policy plans with them without the job itself: since when, and how many.
    pub profile: Vec<(Time, i32)>,
}

impl Explanation {
    /// One with nothing but a reason and a rule.
    pub fn new(reason: Reason, rule: impl Into<String>, needs: u32, free: u32) -> Self {
        Self {
            reason,
            rule: rule.into(),
            needs,
            free,
            shadow: None,
            spare: None,
            start: None,
            blockers: Vec::new(),
            profile: Vec::new(),
        }
    }

    /// True if a pass at this instant starts the job.
    pub fn starts(&self) -> bool {
        self.reason == Reason::Starts
    }

    /// With these blockers.
    #[must_use]
    pub fn blocked_by(mut self, blockers: impl IntoIterator<Item = Blocker>) -> Self {
        self.blockers.extend(blockers);
        self
    }

    /// With this start.
    #[must_use]
    pub fn starting(self, start: Option<Time>) -> Self {
        Self { start, ..self }
    }

    /// With these steps of free processors.
    #[must_use]
    pub fn over(self, profile: impl IntoIterator<Item = (Time, i32)>) -> Self {
        Self { profile: profile.into_iter().collect(), ..self }
    }
}

impl Blocker {
    /// When it is expected to give its processors back.
    pub fn until(&self) -> Option<Time> {
        match self {
            Self::Running { until, .. } => Some(*until),
            Self::Booking { to, .. } => Some(*to),
            Self::Waiting { start, estimate, .. } => start.map(|start| start + *estimate),
            Self::Away { .. } => None,
        }
    }

    /// The job, if it is one.
    pub const fn who(&self) -> Option<Who> {
        match self {
            Self::Running { who, .. } | Self::Waiting { who, .. } => Some(*who),
            Self::Booking { .. } | Self::Away { .. } => None,
        }
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.origin {
            Origin::Own => write!(f, "job {}", self.job),
            Origin::Sent => write!(f, "grid job {}", self.job),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Starts => "starts",
            Self::NoRoom => "no room",
            Self::Behind => "behind others",
            Self::WouldDelay => "would delay",
            Self::Planned => "planned later",
            Self::Kept => "kept its place",
            Self::Packed => "others fill better",
            Self::Early => "asks for later",
            Self::Reserved => "reserved",
            Self::Level => "all slots taken",
            Self::Machines => "machines away",
            Self::Unsaid => "not said",
        })
    }
}

/// So many processors that are free, in words.
pub(in crate::local) fn free_now(count: u32) -> String {
    match count {
        0 => "none is free".to_owned(),
        1 => "1 is free".to_owned(),
        many => format!("{many} are free"),
    }
}

/// So many processors, in words.
pub(crate) fn processors(count: u32) -> String {
    if count == 1 { "1 processor".to_owned() } else { format!("{count} processors") }
}

/// What policies put explanations together from.
impl View<'_> {
    /// A live job as an explanation names it.
    pub fn who(&self, key: JobKey) -> Who {
        let job = self.job(key);
        Who { job: job.id(), origin: job.origin }
    }

    /// A running (or just starting) job as a blocker.
    pub fn runs(&self, key: JobKey) -> Blocker {
        let job = self.job(key);
        let until = match job.phase() {
            Phase::Starting => self.now + job.estimate(),
            _ => self.expected_end(key),
        };
        Blocker::Running { who: self.who(key), procs: job.held(), until }
    }

    /// A waiting job as a blocker, to start at `start` if that is known.
    pub fn waits(&self, key: JobKey, start: Option<Time>) -> Blocker {
        let job = self.job(key);
        Blocker::Waiting { who: self.who(key), procs: job.procs(), estimate: job.estimate(), start }
    }

    /// What runs, in the order of expected ends.
    pub fn releases(&self) -> Vec<Blocker> {
        let mut running = self.jobs_in(Phase::Running);
        // What ends at this very instant may count as free already.
        running.retain(|key| !self.ends_now(*key));
        running.extend(self.jobs_in(Phase::Starting));
        let mut running: Vec<(Time, u64, Blocker)> = running
            .into_iter()
            .map(|key| {
                let blocker = self.runs(key);
                let until = if let Blocker::Running { until, .. } = blocker { until } else { self.now };
                (until, self.job(key).seq(), blocker)
            })
            .collect();
        running.sort_by_key(|(until, seq, _)| (*until, *seq));
        running.into_iter().map(|(.., blocker)| blocker).collect()
    }

    /// Those of what runs whose ends bring `needs` processors together, if `free` are free now.
    pub fn released_for(&self, needs: u32, free: u32) -> Vec<Blocker> {
        let (mut have, mut last) = (free, None);
        let mut found = Vec::new();
        for blocker in self.releases() {
            let Blocker::Running { procs, until, .. } = &blocker else { continue };
            if have >= needs && last != Some(*until) {
                break;
            }
            have = have.saturating_add(*procs);
            last = Some(*until);
            found.push(blocker);
        }
        found
    }

    /// Reservations of the book that want processors between `from` and `to`.
    pub fn booked(&self, from: Time, to: Time) -> Vec<Blocker> {
        let due = self.bookings().iter().filter(|booking| booking.start < to && from < booking.end);
        let told = due.map(|booking| Blocker::Booking {
            name: booking.name.clone(),
            from: booking.start,
            to: booking.end,
            procs: booking.procs,
        });
        told.collect()
    }

    /// What can be said of a waiting job without knowing its policy: too few processors, a reservation in the way, others that
    /// came first. It never says that the job starts.
    pub fn explanation(&self, key: JobKey) -> Explanation {
        let job = self.job(key);
        let (needs, free) = (job.procs(), self.free());
        let profile = self.profile();
        let start = profile.earliest(self.now, job.estimate(), needs);
        let until = start.unwrap_or(Time::NEVER);
        let told = |reason, rule: String| {
            Explanation::new(reason, rule, needs, free)
                .over(profile.steps().take_while(|(since, _)| *since <= until))
        };
        if needs > free {
            let rule = format!("it needs {}, and {}", processors(needs), free_now(free));
            let blockers = self.released_for(needs, free);
            return told(Reason::NoRoom, rule).blocked_by(blockers).blocked_by(self.booked(self.now, until));
        }
        if !profile.fits(self.now, job.estimate(), needs) {
            let end = self.now + job.estimate();
            let rule =
                format!("it is expected to run until {}, and processors are reserved before", Clock(end));
            return told(Reason::Reserved, rule).blocked_by(self.booked(self.now, end)).starting(start);
        }
        let before =
            self.jobs_in(Phase::Waiting).into_iter().filter(|other| self.job(*other).seq() < job.seq());
        let before: Vec<Blocker> = before.map(|other| self.waits(other, None)).collect();
        if before.is_empty() {
            return told(
                Reason::Unsaid,
                "there is room for it, and its policy does not say why it waits".to_owned(),
            );
        }
        told(Reason::Behind, "others came before it, and its policy does not say more".to_owned())
            .blocked_by(before)
    }
}

impl Partition {
    /// The live job of that number.
    pub fn find(&self, id: JobId, origin: Origin) -> Option<JobKey> {
        let named = self.state.table.iter().filter(|(_, job)| job.job.id == id && job.origin == origin);
        named.min_by_key(|(_, job)| job.seq).map(|(key, _)| key)
    }

    /// Why a job that waits here does or does not start in a pass at this instant, in the words of the policy. `None` if there is no
    /// such job, or it runs.
    pub fn explain(&self, key: JobKey, now: Time) -> Option<Explanation> {
        let view = self.view(now);
        let job = view.get(key)?;
        let (needs, here) = (job.procs(), view.here().len());
        match job.phase() {
            Phase::Waiting | Phase::Suspended => Some(self.policy.explain(&view, key)),
            Phase::Aside if self.is_early(key) => {
                let start = job.requested_start();
                let rule = format!(
                    "it asks to start at {} s, and until then it is kept back from the queue",
                    start.unwrap_or(now)
                );
                Some(Explanation::new(Reason::Early, rule, needs, view.free()).starting(start))
            }
            Phase::Aside => {
                let rule =
                    format!("it needs {}, and only {} can be given now", processors(needs), view.capacity());
                let away = Blocker::Away { procs: view.processors().saturating_sub(view.capacity()) };
                Some(Explanation::new(Reason::Machines, rule, needs, view.free()).blocked_by([away]))
            }
            Phase::Halted => {
                let gone = job.place().iter().filter(|proc| !view.here().contains(*proc)).count() as u32;
                let rule = "it stands still where it ran, until all its machines are back".to_owned();
                let away = Blocker::Away { procs: gone.min(view.processors() - here.min(view.processors())) };
                Some(Explanation::new(Reason::Machines, rule, needs, view.free()).blocked_by([away]))
            }
            Phase::Starting | Phase::Running => None,
        }
    }
}
