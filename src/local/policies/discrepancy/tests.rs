//! The profile that is changed and changed back, against a count for each second.

use proptest::prelude::*;

use super::schedule::{Candidate, Cost, Schedule};
use crate::local::{Awake, Book, Entry, Profile, ProfileAhead};
use crate::model::{JobKey, Reservation};
use crate::search::discrepancy::OrderProblem;
use crate::units::{Span, Time};

const PROCS: u32 = 8;
const NOW: u64 = 30;
/// Everything is over by then.
const END: u64 = 1_000;

/// Procs, estimate, waiting since: in seconds.
type Raw = (u32, u64, u64);

fn candidates(jobs: &[Raw], bound: Span) -> Vec<Candidate> {
    let candidate = |(at, (procs, estimate, since)): (usize, &Raw)| {
        let (job, estimate) = (JobKey(at as u32), Span::from_secs(*estimate));
        let entry = Entry { rank: 0, seq: at as u64, job, procs: *procs, estimate };
        Candidate::new(entry, Time::from_secs(*since), bound, Time::from_secs(NOW))
    };
    jobs.iter().enumerate().map(candidate).collect()
}

/// Free processors in each second from now on.
#[derive(Clone)]
struct Seconds(Vec<i64>);

impl Seconds {
    fn take(&mut self, from: u64, to: u64, procs: u32) {
        (from..to).for_each(|second| self.0[second as usize] -= i64::from(procs));
    }

    fn earliest(&self, length: u64, procs: u32) -> u64 {
        let fits =
            |from: &u64| (*from..from + length).all(|second| self.0[second as usize] >= i64::from(procs));
        (NOW..).find(fits).unwrap()
    }

    /// The starts of jobs in an order.
    fn starts(&self, jobs: &[Raw], order: &[u32]) -> Vec<u64> {
        let mut seconds = self.clone();
        let start = |item: &u32| {
            let (procs, estimate, _) = jobs[*item as usize];
            let start = seconds.earliest(estimate, procs);
            seconds.take(start, start + estimate, procs);
            start
        };
        order.iter().map(start).collect()
    }
}

proptest! {
    #![proptest_config(crate::search::tests::cases(128))]

    #[test]
    fn the_incremental_profile_is_that_which_is_made_anew(
        running in proptest::collection::vec((1_u32..4, 31_u64..80), 0..5),
        booked in proptest::collection::vec((20_u64..90, 1_u64..30, 1_u32..4), 0..3),
        jobs in proptest::collection::vec((1_u32..=PROCS, 1_u64..40, 0_u64..=NOW), 1..7),
        bound in 0_u64..60,
        steps in proptest::collection::vec(any::<prop::sample::Index>(), 0..60),
    ) {
        let secs = Time::from_secs;
        let (mut left, mut seconds) = (PROCS, Seconds(vec![i64::from(PROCS); END as usize]));
        let mut held = Vec::new();
        for (procs, end) in running {
            let procs = procs.min(left);
            left -= procs;
            held.push((secs(NOW), secs(end), procs));
            seconds.take(NOW, end, procs);
        }
        let mut book = Book::default();
        for (number, (start, length, procs)) in booked.into_iter().enumerate() {
            let (name, end) = (number.to_string(), start + length);
            let wanted = Reservation { name, start: secs(start), end: secs(end), procs, job: None };
            book.hold(&wanted, procs, None, Time::NEVER, Time::ZERO).unwrap();
            seconds.take(start, end, procs);
        }
        let profile = ProfileAhead::new(Profile::without(secs(NOW), PROCS, held.into_iter()), &book);
        let untouched = profile.clone();
        let (mut candidates, mut placed) = (candidates(&jobs, Span::from_secs(bound)), Vec::new());
        let mut schedule = Schedule::new((profile, secs(NOW), Awake::ALL), &mut candidates, &mut placed);
        let mut order: Vec<u32> = Vec::new();
        let mut costs = vec![Cost::default()];
        for step in steps {
            // A job that is not placed, or the way back.
            let left: Vec<u32> = (0..jobs.len() as u32).filter(|item| !order.contains(item)).collect();
            match left.get(step.index(left.len() + 1)) {
                Some(item) => {
                    order.push(*item);
                    let cost = schedule.place(*item);
                    prop_assert!(cost >= costs[costs.len() - 1]);
                    costs.push(cost);
                    let last = seconds.starts(&jobs, &order).pop().unwrap();
                    prop_assert_eq!(schedule.last_start(), secs(last));
                }
                None if order.is_empty() => {}
                None => {
                    order.pop();
                    costs.pop();
                    schedule.take_back();
                }
            }
            let mut anew = seconds.clone();
            for (item, start) in order.iter().zip(seconds.starts(&jobs, &order)) {
                let (procs, estimate, _) = jobs[*item as usize];
                anew.take(start, start + estimate, procs);
            }
            for second in NOW..END {
                prop_assert_eq!(schedule.profile().free_at(secs(second)), anew.0[second as usize]);
            }
        }
        // What it costs more than what no order avoids.
        let excess = |start: u64, since: u64| u128::from(start.saturating_sub(since + bound)) * 1_000_000;
        let (mut expected, mut least) = (0, 0);
        for (item, start) in order.iter().zip(seconds.starts(&jobs, &order)) {
            let (procs, estimate, since) = jobs[*item as usize];
            expected += excess(start, since);
            least += excess(seconds.earliest(estimate, procs), since);
        }
        prop_assert_eq!(costs[costs.len() - 1].excess, expected - least);
        order.iter().for_each(|_| schedule.take_back());
        prop_assert_eq!(schedule.profile(), &untouched);
    }
}
