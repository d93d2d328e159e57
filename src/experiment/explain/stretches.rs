//! A wait, summed up as stretches with one reason.

use std::collections::BTreeMap;

use super::watch::Place;
use crate::entity::Whereabouts;
use crate::grid::Grid;
use crate::local::{Blocker, Explanation, Reason, Who};
use crate::model::SiteId;
use crate::report::{Held, Stretch};
use crate::units::Time;

/// The stretches so far.
#[derive(Default)]
pub(super) struct Stretches {
    done: Vec<Stretch>,
    now: Option<Open>,
    pub(super) looks: u64,
}

/// What stretches are told apart by.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Kind {
    place: String,
    reason: Option<Reason>,
    /// The job in front that decides, if one does.
    head: Option<Who>,
}

struct Open {
    kind: Kind,
    told: Stretch,
    last_rule: String,
    /// Who was in the way at the last look, and since when that was.
    blockers: Vec<Blocker>,
    since: Time,
    /// Everybody who was in the way, with how long, in the order in which they came up.
    held: BTreeMap<Key, (usize, Held)>,
}

/// Which blocker.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Job(Who),
    Booking(String),
    Away,
}

fn key(blocker: &Blocker) -> Key {
    match blocker {
        Blocker::Running { who, .. } | Blocker::Waiting { who, .. } => Key::Job(*who),
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

    /// Looks at the job after what has happened at `now`.
    pub(super) fn look(&mut self, grid: &Grid, place: &Place, now: Time) {
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
            Place::Runs { .. } | Place::Over => return self.end(now),
        };
        let reason = explanation.as_ref().map(|explanation| explanation.reason);
        let decides = matches!(reason, Some(Reason::Behind | Reason::WouldDelay));
        let waiting = |blocker: &&Blocker| matches!(blocker, Blocker::Waiting { .. });
        let head = explanation
            .as_ref()
            .filter(|_| decides)
            .and_then(|explanation| explanation.blockers.iter().find(waiting).and_then(Blocker::who));
        let kind = Kind { place: told, reason, head };
        if self.now.as_ref().is_none_or(|open| open.kind != kind) {
            self.end(now);
            self.now = Some(Open::new(kind, &rule, explanation.as_ref(), now));
        }
        let Some(open) = &mut self.now else { return };
        open.account(now);
        open.last_rule = rule;
        open.told.looks += u64::from(explanation.is_some());
        open.blockers = explanation.map(|explanation| explanation.blockers).unwrap_or_default();
        for blocker in &open.blockers {
            let at = open.held.len();
            open.held.entry(key(blocker)).or_insert_with(|| (at, Held::new(blocker.clone())));
        }
    }

    /// The present stretch is over.
    pub(super) fn end(&mut self, now: Time) {
        let Some(mut open) = self.now.take() else { return };
        open.account(now);
        open.told.to_s = now.as_secs_f64();
        open.told.rule_at_end = (open.last_rule != open.told.rule).then_some(open.last_rule);
        let mut held: Vec<(usize, Held)> = open.held.into_values().collect();
        // Those that decide come first in the first look; then who was in the way for longest.
        held.sort_by(|(a, one), (b, other)| other.for_s.total_cmp(&one.for_s).then(a.cmp(b)));
        open.told.held_by = held.into_iter().map(|(_, held)| held).collect();
        // What passes within an instant is no stretch of a wait.
        self.done.push(open.told);
    }

    /// All of them, in order.
    pub(super) fn into_told(self) -> Vec<Stretch> {
        let several = self.done.len() > 1;
        self.done.into_iter().filter(|stretch| !several || stretch.to_s > stretch.from_s).collect()
    }
}

impl Open {
    fn new(kind: Kind, rule: &str, explanation: Option<&Explanation>, now: Time) -> Self {
        let secs = |time: Option<Time>| time.filter(|time| *time != Time::NEVER).map(Time::as_secs_f64);
        let profile = explanation.iter().flat_map(|explanation| &explanation.profile);
        let told = Stretch {
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
        Self {
            kind,
            told,
            last_rule: rule.to_owned(),
            blockers: Vec::new(),
            since: now,
            held: BTreeMap::new(),
        }
    }

    /// Those who were in the way at the last look have been so until now.
    fn account(&mut self, now: Time) {
        let span = now.since(self.since).as_secs_f64();
        for blocker in &self.blockers {
            if let Some((_, held)) = self.held.get_mut(&key(blocker)) {
                held.for_s += span;
            }
        }
        self.since = now;
    }
}
