//! Sums a wait up as stretches with one reason each.

use std::collections::BTreeSet;

use super::facts::{Stretch, WaitPlace};
use super::watch::Place;
use crate::entity::{Reserving, Site, Whereabouts};
use crate::grid::Grid;
use crate::local::{Blocker, Explanation, Partition};
use crate::model::{JobRef, SiteId};
use crate::units::Time;

/// The stretches so far. A new one begins when the job's attempt, place, rule or blocking jobs change.
#[derive(Default)]
pub(super) struct Stretches {
    done: Vec<Stretch>,
    now: Option<Stretch>,
    /// The place of the job when it was looked at last.
    at: Option<Place>,
    pub(super) looks: u64,
}

/// The cause that blocks the job: another job, a reservation, machines that are down, or the power cap.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key<'a> {
    Job { who: JobRef, runs: bool },
    Booking(&'a str),
    Down,
    Cap,
}

fn key(blocker: &Blocker) -> Key<'_> {
    match blocker {
        Blocker::Running { who, .. } | Blocker::Suspending { who, .. } => Key::Job { who: *who, runs: true },
        Blocker::Claim { who, .. } | Blocker::Waiting { who, .. } => Key::Job { who: *who, runs: false },
        Blocker::Booking { name, .. } => Key::Booking(name),
        Blocker::Down { .. } => Key::Down,
        Blocker::Cap { .. } => Key::Cap,
    }
}

/// Whether a stretch is one of waiting for a turn, or for files, at that place.
fn waits(open: &Stretch, place: &Place, name: impl Fn(SiteId) -> String) -> bool {
    match (&open.place, place) {
        (WaitPlace::Turn { site, .. }, Place::Turn(_, to)) => *site == name(*to),
        (WaitPlace::Files { site, .. }, Place::Files(_, to)) => *site == name(*to),
        _ => false,
    }
}

/// True if both have the same rule and the same blockers.
fn is_like(one: Option<&Explanation>, other: Option<&Explanation>) -> bool {
    let keys = |told: &Explanation| -> bool {
        let others = other.iter().flat_map(|other| &other.blockers).map(key);
        told.blockers.iter().map(key).collect::<BTreeSet<_>>() == others.collect()
    };
    match (one, other) {
        (Some(told), Some(known)) => told.why.is_like(&known.why) && keys(told),
        (one, other) => one.is_none() && other.is_none(),
    }
}

impl Stretches {
    /// True if the job is not at the place of the current stretch.
    pub(super) fn is_elsewhere(&self, place: &Place) -> bool {
        self.now.is_none() || self.at.as_ref() != Some(place)
    }

    /// Looks at the job, which waits for `attempt`, after the events of `now`.
    pub(super) fn look(&mut self, grid: &Grid, place: &Place, attempt: u32, now: Time) {
        let name = |site: SiteId| grid.site(site).map_or_else(String::new, |site| site.spec().name.clone());
        self.at = Some(place.clone());
        let mut told = None;
        let place = match place {
            Place::Site { site, partition, key } => {
                let Some(here) = grid.site(*site) else { return };
                let Some(part) = here.partitions().get(*partition) else { return };
                self.looks += 1;
                told = part.explain(*key, now);
                if told.is_none() {
                    return;
                }
                at_site(here, part)
            }
            Place::Wakes { site, partition, until, .. } => {
                let there =
                    grid.site(*site).and_then(|here| Some((here, here.partitions().get(*partition)?)));
                let site = there.map_or_else(String::new, |(here, part)| place_name(here, part));
                WaitPlace::Waking { site, until_s: until.as_secs_f64() }
            }
            Place::Broker => WaitPlace::Broker,
            Place::PutOff(until, reason) => {
                WaitPlace::PutOff { until_s: until.as_secs_f64(), reason: *reason }
            }
            Place::Reserves(Reserving::Asks) => WaitPlace::Asks,
            Place::Reserves(Reserving::AsksAgain(at)) => WaitPlace::AsksAgain { at_s: at.as_secs_f64() },
            Place::Reserves(Reserving::Picked(start)) => WaitPlace::Picked { start_s: start.as_secs_f64() },
            Place::Reserves(Reserving::Agrees(start)) => WaitPlace::Agrees { start_s: start.as_secs_f64() },
            Place::Blocked => WaitPlace::Predecessors,
            Place::Engine => WaitPlace::Engine,
            // As it is when the stretch begins.
            Place::Turn(..) | Place::Files(..)
                if self
                    .now
                    .as_ref()
                    .is_some_and(|open| open.attempt == attempt && waits(open, place, name)) =>
            {
                return;
            }
            Place::Turn(task, site) => {
                let first = grid.broker().and_then(|broker| broker.turn(*task));
                let behind = first.map_or_else(String::new, |(.., first)| first.to_owned());
                WaitPlace::Turn { site: name(*site), behind }
            }
            Place::Files(task, site) => {
                let awaited =
                    grid.broker().map_or_else(Vec::new, |broker| broker.awaited_files(*task, *site));
                let files = awaited.iter().map(|file| file.name.to_owned()).collect();
                let site = name(*site);
                let obstacles = awaited.iter().filter_map(|file| file.obstacle(&site, name)).collect();
                WaitPlace::Files { site, files, obstacles }
            }
            Place::Dispatcher(Whereabouts::Held(site)) => WaitPlace::Held(name(*site)),
            Place::Dispatcher(Whereabouts::Input(site)) => WaitPlace::Input(name(*site)),
            Place::Dispatcher(Whereabouts::Outgoing(site)) => WaitPlace::Outgoing(name(*site)),
            Place::Dispatcher(Whereabouts::Resting) => WaitPlace::Resting,
            Place::Dispatcher(Whereabouts::Lost(site)) => WaitPlace::Lost(name(*site)),
            Place::Nowhere => WaitPlace::OnItsWay,
            Place::Runs(..) | Place::Between | Place::Over => return self.end(now),
        };
        let same = |open: &Stretch| {
            open.attempt == attempt && open.place == place && is_like(told.as_ref(), open.begin.as_ref())
        };
        if !self.now.as_ref().is_some_and(same) {
            self.end(now);
            self.begin(place, attempt, told.clone(), now);
        }
        let Some(open) = &mut self.now else { return };
        open.looks += u64::from(told.is_some());
        open.end = told;
    }

    /// Begins a stretch; only the first one at a place keeps its profile.
    fn begin(&mut self, place: WaitPlace, attempt: u32, mut begin: Option<Explanation>, now: Time) {
        let drawn = self.done.last().is_some_and(|last| last.place == place && last.attempt == attempt);
        if let Some(told) = begin.as_mut().filter(|_| drawn) {
            told.profile.clear();
        }
        let from_s = now.as_secs_f64();
        self.now = Some(Stretch { attempt, from_s, to_s: from_s, place, begin, end: None, looks: 0 });
    }

    /// Ends the current stretch.
    pub(super) fn end(&mut self, now: Time) {
        if let Some(open) = self.now.take() {
            self.done.push(Stretch { to_s: now.as_secs_f64(), ..open });
        }
    }

    /// The stretches in order.
    pub(super) fn into_stretches(self) -> Vec<Stretch> {
        // A stretch that begins and ends in the same instant is dropped.
        let several = self.done.len() > 1;
        self.done.into_iter().filter(|stretch| !several || stretch.to_s > stretch.from_s).collect()
    }
}

fn at_site(site: &Site, partition: &Partition) -> WaitPlace {
    WaitPlace::Site { site: place_name(site, partition), policy: site.spec().policy.to_string() }
}

/// The name of a site, with that of the partition if it has several.
pub(super) fn place_name(site: &Site, partition: &Partition) -> String {
    let name = &site.spec().name;
    if site.partitions().len() > 1 { format!("{name}/{}", partition.spec().name) } else { name.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::JobKey;

    #[test]
    fn another_site_is_elsewhere() {
        let site = |site| Place::Site { site: SiteId(site), partition: 0, key: JobKey(0) };
        let mut stretches = Stretches::default();
        assert!(stretches.is_elsewhere(&site(0)), "nothing has been looked at");
        stretches.at = Some(site(0));
        stretches.begin(WaitPlace::Broker, 1, None, Time::ZERO);
        assert!(!stretches.is_elsewhere(&site(0)));
        assert!(stretches.is_elsewhere(&site(1)));
        assert!(stretches.is_elsewhere(&Place::Broker));
        stretches.end(Time::ZERO);
        assert!(stretches.is_elsewhere(&site(0)), "it has run since");
    }
}
