//! The search for the order of a group against brute force, and what it leaves as it was.

use proptest::prelude::*;

use super::levels::{GroupFound, GroupSearch};
use super::options::{GroupBound, GroupChoice, GroupLimits, GroupOptions};
use super::schedule::{Member, Weights};
use crate::local::Profile;
use crate::local::policies::preemptive::Factor;
use crate::model::JobKey;
use crate::search::discrepancy::Strategy as Sequence;
use crate::units::{Span, Time};

const PROCS: u32 = 10;

/// Jobs: processors, run time, wait so far. Processors that run: until when, how many.
#[derive(Clone, Debug)]
struct Case {
    jobs: Vec<(u32, u64, u64)>,
    runs: Vec<(u64, u32)>,
}

fn case(most: usize) -> impl Strategy<Value = Case> {
    let jobs = proptest::collection::vec((1..=PROCS, 1_u64..90, 0_u64..200), 1..=most);
    let runs = proptest::collection::vec((1_u64..60, 1_u32..5), 0..3);
    (jobs, runs).prop_map(|(jobs, runs)| Case { jobs, runs })
}

fn weights() -> Weights {
    Weights { now: Time::from_secs(1_000), share: 26_500_000, bounded: Span::from_secs(20) }
}

impl Case {
    fn members(&self) -> Vec<Member> {
        let of = |(seq, (procs, run, waited)): (u64, &(u32, u64, u64))| {
            let (run, waited) = (Span::from_secs(*run), Span::from_secs(*waited));
            Member::of(seq, JobKey(seq as u32), (*procs, run), waited, weights())
        };
        (0..).zip(&self.jobs).map(of).collect()
    }

    fn profile(&self) -> Profile {
        let now = weights().now;
        let mut profile = Profile::new(now, PROCS);
        for (span, procs) in &self.runs {
            if profile.fits(now, Span::from_secs(*span), *procs) {
                profile.reserve(now, now + Span::from_secs(*span), *procs);
            }
        }
        profile
    }

    /// The sum of bounded slowdowns of an order in parts of 2⁶⁴, anew.
    fn slowdown(&self, order: &[u32], backfills: bool) -> u128 {
        let (now, mut profile) = (weights().now, self.profile());
        let mut from = now;
        let mut sum = 0;
        for item in order {
            let member = self.members()[*item as usize];
            let start = profile.earliest(from, member.left, member.procs).unwrap();
            profile.reserve(start, start + member.left, member.procs);
            from = if backfills { now } else { start };
            sum += member.slowdown(start.since(now));
        }
        sum
    }

    fn search(&self, options: &GroupOptions, limits: GroupLimits) -> GroupFound {
        let members = self.members();
        GroupSearch::new(&self.profile(), &members, options, limits, weights()).search(PROCS)
    }
}

fn orders(items: u32) -> Vec<Vec<u32>> {
    fn below(begun: &[u32], items: u32, orders: &mut Vec<Vec<u32>>) {
        if begun.len() == items as usize {
            orders.push(begun.to_vec());
        }
        for item in (0..items).filter(|item| !begun.contains(item)) {
            below(&[begun, &[item]].concat(), items, orders);
        }
    }
    let mut orders = Vec::new();
    below(&[], items, &mut orders);
    orders
}

fn any_bound() -> impl Strategy<Value = GroupBound> {
    prop_oneof![Just(GroupBound::None), Just(GroupBound::Placed), Just(GroupBound::Least)]
}

fn any_sequence() -> impl Strategy<Value = Sequence> {
    prop_oneof![Just(Sequence::DepthFirst), Just(Sequence::Dds), Just(Sequence::Lds), Just(Sequence::Ilds)]
}

/// Only a second level of all jobs.
fn flat() -> GroupLimits {
    GroupLimits { wide: Factor::whole(2), ..GroupOptions::default().limits[1] }
}

proptest! {
    #![proptest_config(crate::search::tests::cases(48))]

    /// With time for all orders it finds the one with the least slowdown, whatever it leaves out and whichever come first.
    #[test]
    fn finds_what_brute_force_finds(
        case in case(6),
        bound in any_bound(),
        search in any_sequence(),
        backfills: bool,
        shifts: bool,
    ) {
        let shift = shifts.then(|| Factor::millionths(1_500_000));
        let options = GroupOptions {
            bound, search, backfills, shift, choice: GroupChoice::Least, ..GroupOptions::default()
        };
        let found = case.search(&options, flat());
        let least = orders(case.jobs.len() as u32).iter().map(|order| case.slowdown(order, backfills)).min();
        prop_assert_eq!(Some(case.slowdown(&found.order, backfills)), least);
        prop_assert!(found.is_proven);
    }

    /// Any search gives each job a place, in the nodes that it has, and takes back what it has placed; without a limit of orders it is no worse than the heuristic.
    #[test]
    fn any_search_gives_each_job_one_place(
        case in case(12),
        (bound, search) in (any_bound(), any_sequence()),
        (backfills, second, fixed) in any::<(bool, bool, bool)>(),
        (nodes, orders) in (1_u64..600, 1_u64..200),
        (least, most) in (1_u32..4, 4_u32..6),
        full: bool,
        choice in prop_oneof![Just(GroupChoice::Shorter), Just(GroupChoice::Printed), Just(GroupChoice::Least)],
    ) {
        let options = GroupOptions {
            bound, search, backfills, second, fixed: fixed && second, nodes, orders, choice,
            first: (least, most), ..GroupOptions::default()
        };
        let count = case.jobs.len() as u32;
        let limits = GroupLimits {
            wide: Factor::millionths(300_000),
            runtime: Span::from_secs(30),
            most: if full { count } else { count + 1 },
            ..options.limits[1]
        };
        let members = case.members();
        let mut group = GroupSearch::new(&case.profile(), &members, &options, limits, weights());
        let found = group.search(PROCS);
        let mut sorted = found.order.clone();
        sorted.sort_unstable();
        prop_assert_eq!(sorted, (0..count).collect::<Vec<_>>());
        // The profile is what it was: the slowdowns that the search tells are those of the order alone.
        let told: u128 = group.slowdowns(&found.order).iter().map(|part| u128::from(*part)).sum();
        let anew = case.slowdown(&found.order, backfills) >> 32;
        prop_assert!(anew.abs_diff(told) <= u128::from(count), "{} {}", told, anew);
        prop_assert_eq!(case.search(&options, limits), found);
    }
}

/// 4 of 10 processors are free for 40 s, then all.
#[test]
fn a_job_is_moved_into_a_hole() {
    let case = Case { jobs: vec![(8, 300, 0), (4, 50, 0)], runs: vec![(40, 4), (40, 2)] };
    let of = |shift| {
        let options =
            GroupOptions { orders: 1, shift, choice: GroupChoice::Least, ..GroupOptions::default() };
        case.search(&options, flat()).order
    };
    // Job 0 would start at 40 s, job 1 at once: the first one has the larger slowdown, 340 / 300, and is next. Behind it job 1 starts at 340 s: the hole of 40 s is too short for
    // it.
    assert_eq!(of(None), [0, 1]);
    // It is nearly long enough, 50 <= 1.5 · 40. Job 1 is moved there, and job 0 starts at 50 s.
    assert_eq!(of(Some(Factor::millionths(1_500_000))), [1, 0]);
    assert_eq!(of(Some(Factor::millionths(1_200_000))), [0, 1]);
}
