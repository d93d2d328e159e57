//! Reservations, and whether a partition has room for all of them.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use super::{JobId, PartitionSpec};
use crate::units::Time;

/// A block of processors that the queue cannot use from `start` until `end`; one job may be the exception.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reservation {
    /// Name, unique in its partition.
    pub name: String,
    /// The first instant.
    pub start: Time,
    /// The first instant after it.
    pub end: Time,
    /// The number of processors.
    pub procs: u32,
    /// The number of the job that they are kept for, in the workload of the site's own users; nobody, if it is `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobId>,
}

/// What the reservations of a partition take together. One more costs a logarithm, and a step for each that begins or ends while it lasts.
#[derive(Debug, Default)]
pub(crate) struct Reserved {
    names: FxHashSet<String>,
    /// Jobs that have one.
    jobs: FxHashSet<JobId>,
    /// The processors that are reserved from an instant until the next.
    from: BTreeMap<Time, u64>,
}

impl Reserved {
    /// Adds a reservation of this partition.
    ///
    /// # Errors
    /// The problem in words, if it must not be added.
    pub(crate) fn add(&mut self, spec: &PartitionSpec, booked: &Reservation) -> Result<(), String> {
        let at = |time: Time| time.since(Time::ZERO).written();
        let Reservation { name, start, end, procs, .. } = booked;
        if end <= start {
            return Err(format!("it ends at {}, not after its start at {}", at(*end), at(*start)));
        }
        if *procs == 0 || spec.rounded(*procs) > spec.most() {
            return Err(format!("it requests {procs} of {}", of_processors(spec)));
        }
        if self.names.contains(name) {
            return Err("another reservation of the partition has this name".to_owned());
        }
        if let Some(job) = booked.job.filter(|job| self.jobs.contains(job)) {
            return Err(format!("another reservation of the partition is kept for job {job}"));
        }
        let (more, most) = (u64::from(spec.rounded(*procs)), u64::from(spec.most()));
        let before = self.from.range(..=start).next_back().map_or(0, |(_, reserved)| *reserved);
        let later = self.from.range(*start..*end).map(|(time, reserved)| (*time, *reserved));
        if let Some((time, reserved)) =
            std::iter::once((*start, before)).chain(later).find(|(_, reserved)| reserved + more > most)
        {
            let (time, all, of) = (at(time), reserved + more, of_processors(spec));
            return Err(format!("at {time} the reservations request {all} of {of} in total"));
        }
        let last = self.from.range(..=end).next_back().map_or(0, |(_, reserved)| *reserved);
        self.from.entry(*start).or_insert(before);
        self.from.entry(*end).or_insert(last);
        self.from.range_mut(*start..*end).for_each(|(_, reserved)| *reserved += more);
        self.names.insert(name.clone());
        self.jobs.extend(booked.job);
        Ok(())
    }
}

/// The processors that reservations may have.
fn of_processors(spec: &PartitionSpec) -> String {
    match spec.most_in_use {
        Some(_) => format!("the {} processors that the power cap leaves", spec.most()),
        None => format!("{} processors", spec.usable()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The twin counts the processors of each second anew.
        #[test]
        fn a_reservation_is_taken_if_each_instant_has_room(
            drawn in proptest::collection::vec((0_u64..20, 0_u64..8, 0_u32..9, 0_u8..60), 0..40),
            unit in 1_u32..4,
        ) {
            let spec = PartitionSpec { allocation_unit: unit, ..PartitionSpec::plain(12) };
            let (mut reserved, mut taken) = (Reserved::default(), Vec::<Reservation>::new());
            for (start, length, procs, name) in drawn {
                let (start, end) = (Time::from_secs(start), Time::from_secs(start + length));
                let booked = Reservation { name: name.to_string(), start, end, procs, job: None };
                let at = |second: u64| {
                    let all = taken.iter().chain([&booked]);
                    let there = all.filter(|one| (one.start..one.end).contains(&Time::from_secs(second)));
                    there.map(|one| spec.rounded(one.procs)).sum::<u32>()
                };
                let has_room = (0..30).all(|second| at(second) <= spec.most());
                let is_new = taken.iter().all(|other| other.name != booked.name);
                let expected = length > 0 && procs > 0 && is_new && has_room;
                prop_assert_eq!(reserved.add(&spec, &booked).is_ok(), expected, "{:?} after {:?}", booked, taken);
                if expected {
                    taken.push(booked);
                }
            }
        }
    }
}
