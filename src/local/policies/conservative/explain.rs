//! Why a job waits under conservative backfilling: its reservation, and those that fill the time until then.

use super::{Conservative, Planned};
use crate::local::explanation::processors;
use crate::local::{Action, Actions, Blocker, Explanation, LocalPolicy, Phase, Profile, Reason, View};
use crate::model::JobKey;
use crate::units::{Clock, Span, Time};

/// What the pass at this instant decides for `job`, and why.
pub(super) fn explain(policy: &Conservative, view: &View<'_>, job: JobKey) -> Explanation {
    let live = view.job(job);
    let (now, needs, free) = (view.now(), live.procs(), view.free());
    // The policy itself, on a copy of its plan.
    let (mut twin, mut actions) = (policy.clone(), Actions::default());
    twin.schedule(view, &mut actions);
    let starts = |action: &Action| matches!(action, Action::Start { job: started, .. } if *started == job);
    if actions.as_slice().iter().any(starts) {
        let rule = if view.any_overdue() {
            "the next pass starts it: while a job is overdue, everything is planned anew at each"
        } else {
            "its reservation begins now"
        };
        return Explanation::new(Reason::Starts, rule, needs, free);
    }
    let (Some(planned), Some(profile)) = (twin.plan.starts.get(&live.seq()), &twin.plan.profile) else {
        return view.explanation(job);
    };
    let (planned, mut profile) = (*planned, profile.clone());
    profile.release(planned.start, planned.start + planned.estimate, needs);
    let told = |reason, rule: String| {
        let start = planned.start;
        Explanation::new(reason, rule, needs, free)
            .starting(Some(start))
            .over(profile.steps().take_while(move |(since, _)| *since <= start))
    };
    let end = now + planned.estimate;
    let Some((time, left)) = first_lack(&profile, end, needs) else {
        let rule = format!(
            "its reservation stays at {} although there is room before: reservations move up when a job ends early, {}",
            Clock(planned.start),
            match policy.compress {
                super::Compress::Submission => "each once, in order of submission",
                super::Compress::Start => "each once, in order of reserved start",
                super::Compress::None => "and `compress=none` lets them stay",
            }
        );
        return told(Reason::Kept, rule).blocked_by(planned_before(&twin, view, planned));
    };
    let holders = holders(&twin, view, &actions, time, planned);
    let since = if time <= now { "now".to_owned() } else { format!("from {} on", Clock(time)) };
    let rule = format!(
        "its reservation is at {}: until {} it would need {}, and {since} {} left beside what runs and the reservations made before",
        Clock(planned.start),
        Clock(end),
        processors(needs),
        match left.max(0) {
            0 => "none is".to_owned(),
            1 => "1 is".to_owned(),
            many => format!("{many} are"),
        }
    );
    let waits = holders.iter().any(|blocker| matches!(blocker, Blocker::Waiting { .. }));
    let books = holders.iter().any(|blocker| matches!(blocker, Blocker::Booking { .. }));
    let reason = match (waits, books) {
        (true, _) => Reason::Planned,
        (false, true) if i64::from(free) >= i64::from(needs) => Reason::Reserved,
        _ => Reason::NoRoom,
    };
    told(reason, rule).blocked_by(holders)
}

/// The first instant before `end` at which fewer than `needs` are free, and how many are. The profile begins now.
fn first_lack(profile: &Profile, end: Time, needs: u32) -> Option<(Time, i32)> {
    let mut during = profile.steps().take_while(|(since, _)| *since < end);
    during.find(|(_, free)| i64::from(*free) < i64::from(needs))
}

/// Who has processors at `time`: those that have a reservation then, those that run until later, the book.
fn holders(
    twin: &Conservative,
    view: &View<'_>,
    actions: &Actions,
    time: Time,
    own: Planned,
) -> Vec<Blocker> {
    let planned = twin.plan.by_start.iter().filter_map(|((_, seq), _)| twin.plan.starts.get(seq));
    let there = |planned: &&Planned| planned.start <= time && time < planned.start + planned.estimate;
    let mut found: Vec<Blocker> = planned
        .filter(|planned| planned.job != own.job)
        .filter(there)
        .map(|planned| view.waits(planned.job, Some(planned.start)))
        .collect();
    // Those that a pass would start now.
    for action in actions.as_slice() {
        if let Action::Start { job, .. } = action {
            let live = view.job(*job);
            if live.phase() == Phase::Waiting && time < view.now() + live.estimate() {
                found.push(view.waits(*job, Some(view.now())));
            }
        }
    }
    found.extend(
        view.releases().into_iter().filter(|blocker| blocker.until().is_some_and(|until| until > time)),
    );
    found.extend(view.booked(time, time + Span::TICK));
    found
}

/// Those whose reservations are before this one.
fn planned_before(twin: &Conservative, view: &View<'_>, own: Planned) -> Vec<Blocker> {
    let before = twin.plan.by_start.iter().take_while(|((start, _), _)| *start <= own.start);
    before
        .filter(|(_, job)| **job != own.job)
        .map(|((start, _), job)| view.waits(*job, Some(*start)))
        .collect()
}
