//! Why a job waits under EASY: the pass by its definition, on the full profile, up to the job in question.

use super::Easy;
use super::planned::Room;
use crate::local::explanation::{free_now, processors};
use crate::local::{Entry, Explanation, Phase, Profile, Reason, View};
use crate::model::JobKey;
use crate::units::{Clock, Time};

/// What the pass at this instant decides for `job`, and why.
pub(super) fn explain(easy: &Easy, view: &View<'_>, job: JobKey) -> Explanation {
    let now = view.now();
    let mut room = Room::new(view);
    let (due, later) = easy.dedicated(view);
    if let Some((start, entry)) = later.iter().find(|(_, entry)| entry.job == job) {
        let rule = format!("it is a dedicated job, and asks to start at {start} s");
        return Explanation::new(Reason::Early, rule, entry.procs, room.free).starting(Some(*start));
    }
    let mut batch = view.jobs_in(Phase::Waiting);
    batch.retain(|waiting| !easy.is_dedicated(view, *waiting));
    let starts = |needs: u32, free: u32, rule: &str| Explanation::new(Reason::Starts, rule, needs, free);
    // Those that the pass starts before the job: dedicated jobs whose start has come, then by arrival.
    let mut started = Vec::new();
    let dedicated = due.len();
    let mut waiting = due.into_iter().chain(batch.into_iter().map(|waiting| easy.entry(view, waiting)));
    let mut at = 0;
    let head = loop {
        if at == dedicated {
            room.reserve_all(&later);
        }
        let Some(first) = waiting.next() else { return view.explanation(job) };
        let free = room.free;
        if !room.start(first) {
            break first;
        }
        if first.job == job {
            return starts(first.procs, free, "it is its turn, and it fits");
        }
        started.push(first);
        at += 1;
    };
    let mut without_head = room.profile.clone();
    let shadow = room.profile.earliest(now, head.estimate, head.procs);
    if head.job != job {
        room.reserve(now, head);
    }
    if at < dedicated {
        room.reserve_all(&later);
        let mut around = Room { profile: without_head, ..Room::new(view) };
        around.reserve_all(&later);
        without_head = around.profile;
    }
    let mut others: Vec<Entry> = if head.job == job { vec![head] } else { waiting.collect() };
    let behind = if head.job == job { 0 } else { dedicated.saturating_sub(at + 1) };
    easy.order.sort(view, &mut others[behind..]);
    for entry in others {
        if entry.job == job {
            let case = Case {
                view,
                room: &room,
                without_head: &without_head,
                head,
                shadow,
                started: &started,
                later: &later,
            };
            return match () {
                () if head.job == job => case.first_in_line(),
                () if entry.procs <= room.free && room.profile.fits(now, entry.estimate, entry.procs) => {
                    let rule = "it is backfilled: it delays nobody who has a reservation";
                    starts(entry.procs, room.free, rule)
                }
                () => case.refused(entry),
            };
        }
        if room.start(entry) {
            without_head.reserve(now, now + entry.estimate, entry.procs);
            started.push(entry);
        }
    }
    view.explanation(job)
}

/// A pass that has come to the job in question.
struct Case<'a> {
    view: &'a View<'a>,
    room: &'a Room,
    /// The profile without the reservation of the first job.
    without_head: &'a Profile,
    /// The first job that does not fit.
    head: Entry,
    shadow: Option<Time>,
    /// Those that the pass starts before.
    started: &'a [Entry],
    /// Dedicated jobs that hold reservations at their starts.
    later: &'a [(Time, Entry)],
}

impl Case<'_> {
    fn told(&self, reason: Reason, rule: String, entry: Entry) -> Explanation {
        let until = self.shadow.unwrap_or(Time::NEVER);
        let steps = self.room.profile.steps().take_while(|(since, _)| *since <= until);
        let told = Explanation::new(reason, rule, entry.procs, self.room.free).over(steps);
        Explanation { shadow: self.shadow, ..told }
    }

    /// What is reserved in between, by the book and for dedicated jobs.
    fn reserved(&self, from: Time, to: Time) -> Vec<crate::local::Blocker> {
        let dedicated = self.later.iter().filter(|(start, _)| *start < to);
        let dedicated = dedicated.map(|(start, entry)| self.view.waits(entry.job, Some(*start)));
        self.view.booked(from, to).into_iter().chain(dedicated).collect()
    }

    fn started_before(&self) -> impl Iterator<Item = crate::local::Blocker> {
        self.started.iter().map(|entry| self.view.waits(entry.job, Some(self.room.now)))
    }

    /// It is the first that does not fit: it has the reservation.
    fn first_in_line(&self) -> Explanation {
        let Self { view, room, head, shadow, .. } = self;
        let free_then = shadow.map(|shadow| u32::try_from(room.profile.free_at(shadow)).unwrap_or(0));
        let spare = free_then.map(|free| free.saturating_sub(head.procs));
        let until = shadow.unwrap_or(Time::NEVER);
        let told = |reason, rule| Explanation { spare, ..self.told(reason, rule, *head) }.starting(*shadow);
        let own = "it is the first in line and has the reservation";
        if head.procs > room.free {
            let rule = format!("{own}: it needs {}, and {}", processors(head.procs), free_now(room.free));
            return told(Reason::NoRoom, rule)
                .blocked_by(view.released_for(head.procs, room.free))
                .blocked_by(self.reserved(room.now, until))
                .blocked_by(self.started_before());
        }
        let end = room.now + head.estimate;
        let rule =
            format!("{own}: it is expected to run until {}, and processors are reserved before", Clock(end));
        told(Reason::Reserved, rule).blocked_by(self.reserved(room.now, end.max(until)))
    }

    /// It is behind the first one, and is not backfilled.
    fn refused(&self, entry: Entry) -> Explanation {
        let Self { view, room, head, shadow, .. } = self;
        let (now, needs, free) = (room.now, entry.procs, room.free);
        let who = view.who(head.job);
        let waits = view.waits(head.job, *shadow);
        if needs > free {
            let rule = format!(
                "it may overtake {who}, which has the reservation, but needs {}, and {}",
                processors(needs),
                free_now(free)
            );
            return self
                .told(Reason::NoRoom, rule, entry)
                .blocked_by(view.released_for(needs, free))
                .blocked_by(self.started_before())
                .blocked_by([waits]);
        }
        let end = now + entry.estimate;
        let during = room.profile.steps().take_while(|(since, _)| *since < end);
        let lack = { during }.find(|(_, left)| i64::from(*left) < i64::from(needs));
        let delays = self.without_head.fits(now, entry.estimate, needs);
        if let (true, Some(shadow), Some((time, left))) = (delays, *shadow, lack) {
            let left = u32::try_from(left).unwrap_or(0);
            let rule = format!(
                "it would delay {who}, the first in line, which is to start at {}: it is expected to run until {} on {}, and {} spare {}",
                Clock(shadow),
                Clock(end),
                processors(needs),
                match left {
                    0 => "none is".to_owned(),
                    1 => "1 is".to_owned(),
                    many => format!("{many} are"),
                },
                if time == shadow { "then".to_owned() } else { format!("from {} on", Clock(time)) }
            );
            return Explanation { spare: Some(left), ..self.told(Reason::WouldDelay, rule, entry) }
                .blocked_by([waits])
                .blocked_by(view.released_for(head.procs, view.free()))
                .blocked_by(self.reserved(now, end))
                .blocked_by(self.started_before());
        }
        let rule = format!("it is expected to run until {}, and processors are reserved before", Clock(end));
        self.told(Reason::Reserved, rule, entry).blocked_by(self.reserved(now, end))
    }
}
