//! Why a job waits under EASY: the pass by its definition, on the full profile, up to the job in question.

use super::{Easy, Room};
use crate::local::explanation::{free_now, processors};
use crate::local::{Blocker, Entry, Explanation, Phase, Profile, Reason, View};
use crate::model::JobKey;
use crate::units::Time;

/// What the pass at this instant decides for `job`, and why.
pub(super) fn explain(easy: &Easy, view: &View<'_>, job: JobKey) -> Explanation {
    let now = view.now();
    let mut room = Room { profile: view.profile(), now, free: view.free() };
    let waiting: Vec<Entry> =
        view.jobs_in(Phase::Waiting).into_iter().map(|waiting| easy.entry(view, waiting)).collect();
    let mut waiting = waiting.into_iter();
    let starts = |needs: u32, free: u32, rule: &str| Explanation::new(Reason::Starts, rule, needs, free);
    let head = loop {
        let Some(first) = waiting.next() else { return view.explanation(job) };
        let free = room.free;
        if !room.start(first) {
            break first;
        }
        if first.job == job {
            return starts(first.procs, free, "it is its turn, and it fits");
        }
    };
    let shadow = room.profile.earliest(now, head.estimate, head.procs);
    if head.job == job {
        return first_in_line(view, &room, head, shadow);
    }
    let without_head = room.profile.clone();
    if let Some(shadow) = shadow {
        room.profile.reserve(shadow, shadow + head.estimate, head.procs);
    }
    let mut others: Vec<Entry> = waiting.collect();
    easy.order.sort(view, &mut others);
    let mut backfilled = Vec::new();
    for entry in others {
        let free = room.free;
        if entry.job != job {
            if room.start(entry) {
                backfilled.push(entry);
            }
            continue;
        }
        let case =
            Case { view, room: &room, without_head: &without_head, head, shadow, backfilled: &backfilled };
        if room.profile.fits(now, entry.estimate, entry.procs) && entry.procs <= free {
            return starts(entry.procs, free, "it is backfilled: it delays nobody who has a reservation");
        }
        return case.refused(entry);
    }
    view.explanation(job)
}

/// The first job that does not fit: it has the reservation.
fn first_in_line(view: &View<'_>, room: &Room, head: Entry, shadow: Option<Time>) -> Explanation {
    let needs = head.procs;
    let profile = room.profile.steps().take_while(|(since, _)| shadow.is_none_or(|shadow| *since <= shadow));
    let until = shadow.unwrap_or(Time::NEVER);
    let told = |reason, rule: String| {
        Explanation {
            shadow,
            spare: spare(&room.profile, head, shadow),
            ..Explanation::new(reason, rule, needs, room.free)
        }
        .starting(shadow)
        .over(profile)
    };
    let own = "it is the first in line and has the reservation";
    if needs > room.free {
        let rule = format!("{own}: it needs {}, and {}", processors(needs), free_now(room.free));
        return told(Reason::NoRoom, rule)
            .blocked_by(view.released_for(needs, room.free))
            .blocked_by(view.booked(room.now, until));
    }
    let end = room.now + head.estimate;
    let rule = format!("{own}: it is expected to run until {end} s, and processors are reserved before");
    told(Reason::Reserved, rule).blocked_by(view.booked(room.now, end.max(until)))
}

/// Processors that are spare at the shadow time beside the first job.
fn spare(profile: &Profile, head: Entry, shadow: Option<Time>) -> Option<u32> {
    shadow.map(|shadow| u32::try_from(profile.free_at(shadow)).unwrap_or(0).saturating_sub(head.procs))
}

/// A job behind the first one, when its turn comes to be backfilled.
struct Case<'a> {
    view: &'a View<'a>,
    room: &'a Room,
    /// The profile without the reservation of the first job.
    without_head: &'a Profile,
    head: Entry,
    shadow: Option<Time>,
    /// Those that a pass would start before it.
    backfilled: &'a [Entry],
}

impl Case<'_> {
    fn refused(&self, entry: Entry) -> Explanation {
        let Self { view, room, head, shadow, .. } = self;
        let (now, needs, free) = (room.now, entry.procs, room.free);
        let who = view.who(head.job);
        let at_shadow = shadow.map(|shadow| u32::try_from(room.profile.free_at(shadow)).unwrap_or(0));
        let told = |reason, rule: String| {
            let until = shadow.unwrap_or(Time::NEVER);
            Explanation { shadow: *shadow, spare: at_shadow, ..Explanation::new(reason, rule, needs, free) }
                .blocked_by(self.backfilled.iter().map(|entry| view.waits(entry.job, Some(now))))
                .over(room.profile.steps().take_while(move |(since, _)| *since <= until))
        };
        let waits = || view.waits(head.job, *shadow);
        if needs > free {
            let rule = format!(
                "it may overtake {who}, which has the reservation, but needs {}, and {}",
                processors(needs),
                free_now(free)
            );
            return told(Reason::NoRoom, rule)
                .blocked_by(view.released_for(needs, free))
                .blocked_by([waits()]);
        }
        let end = now + entry.estimate;
        let mut without = self.without_head.clone();
        for started in self.backfilled {
            without.reserve(now, now + started.estimate, started.procs);
        }
        if let (true, Some(shadow)) = (without.fits(now, entry.estimate, needs), *shadow) {
            let rule = format!(
                "it would delay {who}, the first in line, which is to start at {shadow} s: it is expected to run until {end} s on {}, and {} spare then",
                processors(needs),
                match at_shadow.unwrap_or(0) {
                    0 => "none is".to_owned(),
                    1 => "1 is".to_owned(),
                    many => format!("{many} are"),
                }
            );
            let ends: Vec<Blocker> = view.released_for(head.procs, view.free());
            return told(Reason::WouldDelay, rule).blocked_by([waits()]).blocked_by(ends);
        }
        let rule = format!("it is expected to run until {end} s, and processors are reserved before");
        told(Reason::Reserved, rule).blocked_by(view.booked(now, end))
    }
}
