//! A wait, summed up as stretches with one reason.

use std::collections::BTreeSet;

use super::watch::Place;
use crate::entity::Whereabouts;
use crate::grid::Grid;
use crate::local::{Blocker, Explanation, Reason, Who};
use crate::model::SiteId;
use crate::report::{Held, Stretch, rule_without_numbers};
use crate::units::Time;

/// The stretches so far.
#[derive(Default)]
pub(super) struct Stretches {
    done: Vec<Stretch>,
    now: Option<Open>,
    pub(super) looks: u64,
}

/// What stretches are told apart by: what differs in it begins a new one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Kind {
    /// Which attempt it waits for.
    attempt: u32,
    place: String,
    reason: Option<Reason>,
    /// The rule without its numbers.
    rule: String,
    /// Everybody who is in the way.
    blockers: BTreeSet<Key>,
}

struct Open {
    kind: Kind,
    told: Stretch,
    last_rule: String,
    /// Who is in the way, as it was told first.
    blockers: Vec<Blocker>,
}

/// Which blocker.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Job { who: Who, runs: bool },
    Booking(String),
    Away,
}

fn key(blocker: &Blocker) -> Key {
    match blocker {
        Blocker::Running { who, .. } => Key::Job { who: *who, runs: true },
        Blocker::Waiting { who, .. } => Key::Job { who: *who, runs: false },
        Blocker::Booking { name, .. } => Key::Booking(name.clone()),
        Blocker::Away { .. } => Key::Away,
    }
}

impl Stretches {
    /// True if the job is not where the present stretch has it.
    pub(super) fn is_elsewhere(&self, place: &Place) -> bool {
        match (&self.now, place) {
            (None, _) => true,
            (Some(open), Place::Site { .. }) => open.kind.reason.is_none(),
            (Some(_), _) => true,
        }
    }

    /// Looks at the job, which waits for that attempt, after what has happened at `now`.
    pub(super) fn look(&mut self, grid: &Grid, place: &Place, attempt: u32, now: Time) {
        let name = |site: SiteId| grid.site(site).map_or_else(String::new, |site| site.spec().name.clone());
        let plain = |rule: &str| (rule.to_owned(), None);
        let (told, (rule, explanation)) = match place {
            Place::Site { site, partition, key } => {
                let Some(here) = grid.site(*site) else { return };
                let Some(part) = here.partitions().get(*partition) else { return };
                self.looks += 1;
                let Some(explanation) = part.explain(*key, now) else { return };
                let mut place = here.spec().name.clone();
                if here.partitions().len() > 1 {
                    place = format!("{place}/{}", part.spec().name);
                }
                (format!("{place} (`{}`)", here.spec().policy), (explanation.rule.clone(), Some(explanation)))
            }
            Place::Broker => (
                "with the broker".to_owned(),
                plain("it waits to be assigned, until the broker plans and finds a place for it"),
            ),
            Place::Dispatcher(there) => match there {
                Whereabouts::Held(site) => (
                    format!("with the dispatcher, for {}", name(*site)),
                    plain("the site has as many jobs of the grid as it may (`broker.in_flight`)"),
                ),
                Whereabouts::Input(site) => {
                    (format!("on its way to {}", name(*site)), plain("its input is transferred"))
                }
                Whereabouts::Outgoing(site) => (
                    format!("with the dispatcher, for {}", name(*site)),
                    plain("dispatches go one after the other (`broker.overhead`)"),
                ),
                Whereabouts::Resting => (
                    "with the dispatcher".to_owned(),
                    plain("it came back from a site, and rests before it is planned again"),
                ),
            },
            Place::Nowhere => ("on its way".to_owned(), plain("a message takes the latency of its link")),
            Place::Runs(_) | Place::Over => return self.end(now),
        };
        let reason = explanation.as_ref().map(|explanation| explanation.reason);
        let blockers = explanation.iter().flat_map(|explanation| &explanation.blockers).map(key).collect();
        let kind = Kind { attempt, place: told, reason, rule: rule_without_numbers(&rule), blockers };
        if self.now.as_ref().is_none_or(|open| open.kind != kind) {
            self.end(now);
            let drawn =
                self.done.last().is_some_and(|last| last.place == kind.place && last.attempt == attempt);
            self.now = Some(Open::new(kind, &rule, explanation.as_ref(), now, !drawn));
        }
        let Some(open) = &mut self.now else { return };
        open.last_rule = rule;
        open.told.looks += u64::from(explanation.is_some());
    }

    /// The present stretch is over.
    pub(super) fn end(&mut self, now: Time) {
        let Some(mut open) = self.now.take() else { return };
        open.told.to_s = now.as_secs_f64();
        open.told.rule_at_end = (open.last_rule != open.told.rule).then_some(open.last_rule);
        let long = open.told.to_s - open.told.from_s;
        open.told.held_by = open.blockers.iter().map(|blocker| Held::new(blocker, long)).collect();
        self.done.push(open.told);
    }

    /// All of them, in order.
    pub(super) fn into_told(self) -> Vec<Stretch> {
        // What passes within an instant is no stretch of a wait.
        let several = self.done.len() > 1;
        self.done.into_iter().filter(|stretch| !several || stretch.to_s > stretch.from_s).collect()
    }
}

impl Open {
    /// Begins a stretch; a profile is kept only of the first at a place.
    fn new(kind: Kind, rule: &str, explanation: Option<&Explanation>, now: Time, drawn: bool) -> Self {
        let secs = |time: Option<Time>| time.filter(|time| *time != Time::NEVER).map(Time::as_secs_f64);
        let profile = explanation.iter().flat_map(|explanation| &explanation.profile).filter(|_| drawn);
        let told = Stretch {
            attempt: kind.attempt,
            from_s: now.as_secs_f64(),
            to_s: now.as_secs_f64(),
            place: kind.place.clone(),
            reason: kind.reason,
            rule: rule.to_owned(),
            rule_at_end: None,
            needs: explanation.map_or(0, |explanation| explanation.needs),
            free: explanation.map_or(0, |explanation| explanation.free),
            shadow_s: secs(explanation.and_then(|explanation| explanation.shadow)),
            spare: explanation.and_then(|explanation| explanation.spare),
            planned_s: secs(explanation.and_then(|explanation| explanation.start)),
            held_by: Vec::new(),
            profile: profile.map(|(since, free)| (since.as_secs_f64(), *free)).collect(),
            looks: 0,
        };
        let blockers = explanation.map(|explanation| explanation.blockers.clone()).unwrap_or_default();
        Self { kind, told, last_rule: rule.to_owned(), blockers }
    }
}
