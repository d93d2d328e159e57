use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::model::Distribution;

fn law(mean: u64) -> Distribution {
    Distribution::Exponential { mean: Span::from_secs(mean) }
}

fn groups(size: &str, every: u64, down: u64, window: u64) -> GroupFailures {
    GroupFailures {
        every: law(every),
        down: law(down),
        window: Span::from_secs(window),
        size: size.parse().unwrap(),
        notice: Span::ZERO,
    }
}

fn outages(machines: u32, groups: &GroupFailures) -> GroupOutages {
    GroupOutages::new(7, "delft", "node", machines, groups)
}

/// All changes up to an instant.
fn turns(mut outages: GroupOutages, until: Time) -> Vec<(Time, Vec<(u32, Turn)>)> {
    let mut all = Vec::new();
    while let Some(at) = outages.next().filter(|at| *at <= until) {
        let due = outages.due(at);
        if !due.is_empty() {
            all.push((at, due));
        }
    }
    all
}

/// For how many microseconds each machine is down, and how often it goes down.
fn down(all: &[(Time, Vec<(u32, Turn)>)], machines: u32, until: Time) -> Vec<(u64, u64)> {
    let mut since: Vec<Option<Time>> = vec![None; machines as usize];
    let mut down = vec![(0, 0); machines as usize];
    for (at, turns) in all {
        for (machine, turn) in turns {
            let (since, down) = (&mut since[*machine as usize], &mut down[*machine as usize]);
            match turn {
                Turn::Down => {
                    assert_eq!(since.replace(*at), None);
                    down.1 += 1;
                }
                Turn::Up => down.0 += at.since(since.take().expect("it was down")).micros(),
            }
        }
    }
    for (since, down) in since.iter().zip(&mut down) {
        down.0 += since.map_or(0, |since| until.since(since).micros());
    }
    down
}

#[test]
fn a_rack_fails_at_once_and_its_machines_come_back_one_by_one() {
    let all = turns(outages(10, &groups("rack[machines=4]", 10_000, 600, 0)), Time::from_secs(100_000));
    let racks = [0_u32..4, 4..8, 8..10];
    let mut failures = 0;
    for (_, turns) in &all {
        let fallen: Vec<u32> =
            turns.iter().filter(|(_, turn)| *turn == Turn::Down).map(|(machine, _)| *machine).collect();
        if let [first, ..] = fallen[..] {
            failures += 1;
            let rack = racks.iter().find(|rack| rack.contains(&first)).unwrap();
            // Unless some are down already, the whole rack goes.
            assert!(fallen.iter().all(|machine| rack.contains(machine)), "{fallen:?}");
        } else {
            assert_eq!(turns.len(), 1, "each comes back at a time of its own");
        }
    }
    assert!((20..45).contains(&failures), "{failures} of 30");
}

#[test]
fn members_go_down_within_the_window() {
    let rules = groups("rack[machines=8]", 1_000_000, 60, 300);
    let mut groups = outages(8, &rules);
    let at = groups.queue.peek().unwrap().0.0;
    let all = turns(groups.clone(), at + Span::from_secs(300));
    let fallen: BTreeMap<u32, Time> = all
        .iter()
        .flat_map(|(at, turns)| turns.iter().map(move |(machine, turn)| (*at, *machine, *turn)))
        .filter(|(.., turn)| *turn == Turn::Down)
        .map(|(at, machine, _)| (machine, at))
        .collect();
    assert_eq!(fallen.len(), 8);
    assert!(fallen.values().all(|from| *from >= at && *from <= at + Span::from_secs(300)), "{fallen:?}");
    assert!(fallen.values().collect::<BTreeSet<_>>().len() > 6, "each at a time of its own");
    groups.due(at);
    assert!(groups.coming.len() >= 7);
}

#[test]
fn machines_are_up_as_long_as_computed() {
    for (size, every, down_mean) in [
        ("rack[machines=16]", 40_000, 4_000),
        ("geometric[mean=1.5]", 1_500, 3_000),
        ("5", 4_000, 2_000),
        ("lognormal[median=3,sigma=0.8]", 4_000, 3_000),
    ] {
        let rules = groups(size, every, down_mean, 120);
        let until = Time::from_secs(32_000_000);
        let all = turns(outages(64, &rules), until);
        let down = down(&all, 64, until);
        let total: u64 = down.iter().map(|(down, _)| down).sum();
        let availability = 1.0 - total as f64 / 64.0 / until.micros() as f64;
        let expected = rules.availability(64);
        assert!((availability - expected).abs() < 0.006, "{size}: {availability} instead of {expected}");
        let failures: u64 = down.iter().map(|(_, failures)| failures).sum();
        // A machine that is down already does not fail again.
        let expected = 64.0 * until.micros() as f64 / rules.mean_between(64).micros() as f64 * expected;
        assert!((failures as f64 / expected - 1.0).abs() < 0.08, "{size}: {failures} instead of {expected}");
    }
}

#[test]
fn sizes_follow_their_law() {
    let mean = |size: GroupSize| {
        let sizes = (0..20_000).map(|nth| size.draw(&mut Stream::new(3, "test", &nth.to_string())));
        f64::from(sizes.sum::<u32>()) / 20_000.0
    };
    let geometric = mean("geometric[mean=1.2]".parse().unwrap());
    assert!((geometric - 1.2).abs() < 0.02, "{geometric}");
    let lognormal = mean("lognormal[median=20,sigma=0.5]".parse().unwrap());
    assert!((lognormal - 22.66).abs() < 0.4, "{lognormal}");
    assert_eq!(mean("geometric[mean=1]".parse().unwrap()), 1.0);
    // One failure of at least one machine in three.
    let ones = (0..20_000).filter(|nth| {
        let size: GroupSize = "geometric[mean=1.2]".parse().unwrap();
        size.draw(&mut Stream::new(4, "test", &nth.to_string())) == 1
    });
    let ones = ones.count() as f64 / 20_000.0;
    assert!((ones - 1.0 / 1.2).abs() < 0.01, "{ones}");
}

#[test]
fn nothing_else_shifts_a_failure() {
    let rules = groups("rack[machines=4]", 10_000, 600, 60);
    let until = Time::from_secs(300_000);
    let of_rack = |all: Vec<(Time, Vec<(u32, Turn)>)>| -> Vec<(Time, u32, Turn)> {
        let flat =
            all.into_iter().flat_map(|(at, turns)| turns.into_iter().map(move |(m, turn)| (at, m, turn)));
        flat.filter(|(_, machine, _)| *machine < 4).collect()
    };
    let small = of_rack(turns(outages(4, &rules), until));
    assert!(small.len() > 100);
    // More racks change nothing for the first.
    assert_eq!(of_rack(turns(outages(40, &rules), until)), small);
    // Other down times leave the failures where they are.
    let longer = turns(outages(4, &GroupFailures { down: law(700), window: Span::ZERO, ..rules }), until);
    let shorter = turns(outages(4, &GroupFailures { down: law(1), window: Span::ZERO, ..rules }), until);
    let fails = |all: &[(Time, Vec<(u32, Turn)>)]| -> BTreeSet<Time> {
        let down = |turns: &[(u32, Turn)]| turns.iter().any(|(_, turn)| *turn == Turn::Down);
        all.iter().filter(|(_, turns)| down(turns)).map(|(at, _)| *at).collect()
    };
    assert!(fails(&longer).is_subset(&fails(&shorter)));
    // Another seed, site or partition is another matter.
    let other = GroupOutages::new(7, "delft", "other", 4, &rules);
    assert_ne!(of_rack(turns(other, until)), small);
}

proptest! {
    /// A slow, obvious twin: the union of all outages of each machine.
    #[test]
    fn machines_are_down_while_any_group_keeps_them(
        machines in 1_u32..9,
        size in prop_oneof![Just("rack[machines=3]"), Just("geometric[mean=2]"), Just("2")],
        every in 50_u64..2_000,
        mean in 10_u64..3_000,
        window in 0_u64..400,
        stop in 0_u64..20_000,
        notice in prop_oneof![Just(0), 1_u64..500],
    ) {
        let rules = GroupFailures { notice: Span::from_secs(notice), ..groups(size, every, mean, window) };
        let until = Time::from_secs(20_000);
        let fresh = outages(machines, &rules);
        // All outages, drawn one failure after the other.
        let mut spans: Vec<(u32, Time, Time)> = Vec::new();
        let twin = fresh.rules.clone().unwrap();
        for process in 0..twin.processes(machines) {
            let mut at = Time::ZERO + twin.every.residual(&mut fresh.names.stream("every", process, 0));
            let mut nth = 0;
            while at <= until {
                for machine in twin.members(&fresh.names, machines, process, nth) {
                    let mut stream = fresh.names.member(process, nth, machine);
                    let delay = if window == 0 { 0 } else { stream.below(window * 1_000_000 + 1) };
                    let from = at + Span::from_micros(delay);
                    spans.push((machine, from, from + twin.down.draw(&mut stream)));
                }
                nth += 1;
                at += twin.every.draw(&mut fresh.names.stream("every", process, nth));
            }
        }
        let is_down = |machine: u32, at: Time| spans.iter().any(|(of, from, to)| *of == machine && *from <= at && at < *to);
        let (mut run, mut state, mut restored) = (fresh, vec![false; machines as usize], false);
        while let Some(at) = run.next().filter(|at| *at <= until) {
            if !restored && at > Time::from_secs(stop) {
                let mut again = outages(machines, &rules);
                again.restore(run.save(), Time::from_secs(stop));
                prop_assert_eq!(again.save(), run.save());
                // From here on the two wake up at the same instants, also at those at which nothing happens.
                let (mut straight, mut resumed) = (run, again.clone());
                while let Some(at) = straight.next().filter(|at| *at <= until) {
                    prop_assert_eq!(resumed.next(), Some(at));
                    prop_assert_eq!(straight.due(at), resumed.due(at));
                    prop_assert_eq!(straight.draining(at), resumed.draining(at));
                }
                (run, restored) = (again, true);
            }
            let due = run.due(at);
            run.draining(at);
            let mut last = None;
            for (machine, turn) in due {
                prop_assert!(last < Some(machine), "in order, and once");
                last = Some(machine);
                let down = turn == Turn::Down;
                prop_assert_ne!(std::mem::replace(&mut state[machine as usize], down), down);
            }
            for machine in 0..machines {
                prop_assert_eq!(state[machine as usize], is_down(machine, at), "{} at {}", machine, at);
            }
        }
    }
}

/// What is announced and has not begun is called off when groups cease; what has begun comes to its end.
#[test]
fn what_ceases_keeps_what_has_begun_alone() {
    let noticed = GroupFailures { notice: Span::from_secs(5_000), ..groups("4", 1_000, 100, 50) };
    let now = Time::from_secs(20_000);
    let mut outages = outages(16, &noticed);
    while outages.next().is_some_and(|at| at <= now) {
        let at = outages.next().expect("it is there");
        outages.due(at);
        outages.draining(at);
    }
    assert!(outages.coming.len() > 4, "several failures are announced");
    let begun = outages.coming.iter().filter(|Reverse((.., begins))| *begins <= now).count();
    let ceased = GroupOutages::ceasing(16, outages.save(), now);
    assert_eq!(ceased.coming.len(), begun);
    assert!(ceased.coming.iter().all(|Reverse((from, ..))| *from <= now + Span::from_secs(50)));
    // Saved and resumed, it is the same.
    assert_eq!(GroupOutages::ceasing(16, ceased.save(), Time::ZERO).save(), ceased.save());
    // Under rules of the same processes what is announced stays.
    let mut same = self::outages(16, &noticed);
    same.restore(outages.save(), now);
    assert_eq!(same.coming.len(), outages.coming.len());
}
