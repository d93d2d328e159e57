use proptest::prelude::*;

use super::*;
use crate::units::Span;

fn churn(up: &str, down: &str) -> RandomChurn {
    RandomChurn { up: up.parse().unwrap(), down: down.parse().unwrap() }
}

fn usual() -> RandomChurn {
    churn("weibull[shape=0.7,mean=45 h]", "lognormal[median=1 h,sigma=1.6]")
}

/// All changes until `end`.
fn run(outages: &mut Outages, end: Time) -> Vec<(Time, u32, Turn)> {
    let mut all = Vec::new();
    while let Some(now) = outages.next().filter(|now| *now <= end) {
        all.extend(outages.due(now).into_iter().map(|(machine, turn)| (now, machine, turn)));
    }
    all
}

/// The slow twin: each machine separately, stretch by stretch, then sorted.
fn twin(
    seed: u64,
    site: &str,
    part: &str,
    machines: u32,
    churn: &RandomChurn,
    end: Time,
) -> Vec<(Time, u32, Turn)> {
    let mut all = Vec::new();
    for machine in 0..machines {
        let draw = |kind: &str, nth: u64, first: bool| {
            let law = Law::of(if kind == "up" { churn.up } else { churn.down });
            let mut stream = Stream::new(seed, site, &format!("outage {kind} {nth} {machine} {part}"));
            if first { law.residual(&mut stream) } else { law.draw(&mut stream) }
        };
        let (mean_up, mean_down) = (churn.up.mean().as_secs_f64(), churn.down.mean().as_secs_f64());
        let state = Stream::new(seed, site, &format!("outage state 0 {machine} {part}")).uniform();
        let mut up = state < mean_up / (mean_up + mean_down);
        let mut now = Time::ZERO + draw(if up { "up" } else { "down" }, 0, true);
        let (mut ups, mut downs) = (u64::from(up), u64::from(!up));
        while now <= end {
            up = !up;
            all.push((now, machine, if up { Turn::Up } else { Turn::Down }));
            let (kind, count) = if up { ("up", &mut ups) } else { ("down", &mut downs) };
            now += draw(kind, *count, false);
            *count += 1;
        }
    }
    all.sort_unstable();
    all
}

proptest! {
    #[test]
    fn the_queue_agrees_with_machines_one_by_one(
        seed: u64, machines in 0_u32..40, mean in 1_u64..30, cut in 0_u64..400,
    ) {
        let end = Time::from_secs(400);
        let churn = RandomChurn {
            up: crate::model::Distribution::Weibull { shape: 700_000, mean: Span::from_secs(mean) },
            down: crate::model::Distribution::Lognormal { median: Span::from_secs(3), sigma: 1_200_000 },
        };
        let expected = twin(seed, "a", "b c", machines, &churn, end);
        let mut outages = Outages::new(seed, "a", "b c", machines, &churn);
        let mut got = run(&mut outages, Time::from_secs(cut));
        // Saving, restoring and late calls give the same changes in the same order.
        let saved = postcard::to_stdvec(&outages.save()).unwrap();
        let mut again = Outages::new(seed, "a", "b c", machines, &churn);
        again.restore(postcard::from_bytes(&saved).unwrap(), &ProcSet::new()).unwrap();
        let late: Vec<_> = outages.due(end);
        let rest = run(&mut again, end);
        prop_assert_eq!(late, rest.iter().map(|(_, machine, turn)| (*machine, *turn)).collect::<Vec<_>>());
        prop_assert_eq!(again.down(), outages.down());
        got.extend(rest);
        prop_assert_eq!(got, expected);
    }
}

#[test]
fn nobody_else_changes_a_machines_times() {
    let end = Time::from_secs(3_000_000);
    let all = run(&mut Outages::new(3, "windsor", "a", 30, &usual()), end);
    assert!(all.len() > 100, "{}", all.len());
    // With more machines, the first 30 have the same outages.
    let more = run(&mut Outages::new(3, "windsor", "a", 75, &usual()), end);
    assert_eq!(all, more.into_iter().filter(|(_, machine, _)| *machine < 30).collect::<Vec<_>>());
    // Another site, partition or seed has other outages.
    for (seed, site, partition) in [(3, "delft", "a"), (3, "windsor", "b"), (4, "windsor", "a")] {
        let other = run(&mut Outages::new(seed, site, partition, 30, &usual()), end);
        assert!(!other.iter().any(|turn| all.contains(turn)), "{site} {partition}");
    }
    // Names are not concatenated without a separator.
    assert_ne!(
        run(&mut Outages::new(3, "w", "1 a", 1, &usual()), end),
        run(&mut Outages::new(3, "w", "a", 1, &usual()), end)
    );
}

/// The lengths of up stretches that begin and end within the run, by machine.
fn up_times(turns: &[(Time, u32, Turn)], machine: u32) -> Vec<Span> {
    let own: Vec<_> = turns.iter().filter(|turn| turn.1 == machine).collect();
    let pairs = own.windows(2).filter(|pair| pair[0].2 == Turn::Up);
    pairs.map(|pair| pair[1].0.since(pair[0].0)).collect()
}

#[test]
fn another_law_of_down_times_keeps_the_up_times() {
    let end = Time::from_secs(3_000_000);
    let base = Outages::new(3, "windsor", "a", 40, &usual());
    let other =
        Outages::new(3, "windsor", "a", 40, &churn("weibull[shape=0.7,mean=45 h]", "exponential[mean=9 h]"));
    let same_start: Vec<u32> =
        (0..40).filter(|machine| base.down().contains(*machine) == other.down().contains(*machine)).collect();
    let (base, other) = (run(&mut base.clone(), end), run(&mut other.clone(), end));
    let mut compared = 0;
    for machine in same_start {
        let (a, b) = (up_times(&base, machine), up_times(&other, machine));
        let both = a.len().min(b.len());
        assert_eq!(a[..both], b[..both], "machine {machine}");
        compared += both;
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn the_process_is_stationary_from_the_beginning() {
    // Up for 6 h on average, down for 2 h: 75 % at any time. The tolerance is five standard errors of a binomial.
    let churn = churn("weibull[shape=0.5,mean=6 h]", "weibull[shape=2,mean=2 h]");
    let machines = 20_000;
    let mut outages = Outages::new(1, "s", "p", machines, &churn);
    let error = libm::sqrt(0.75 * 0.25 / f64::from(machines));
    let mut turns = 0.0;
    for hours in [0_u64, 1, 3, 10, 30] {
        let end = Time::from_secs(3_600 * hours);
        turns += run(&mut outages, end).len() as f64;
        let up = 1.0 - f64::from(outages.down().len()) / f64::from(machines);
        assert!((up - 0.75).abs() < 5.0 * error, "{up} after {hours} h");
        // Two changes per cycle of 8 h, from the first hour on.
        let expected = f64::from(machines) * hours as f64 * 2.0 / 8.0;
        assert!((turns - expected).abs() <= 0.05 * expected, "{turns}, not {expected}, after {hours} h");
    }
}

#[test]
fn a_machine_that_never_changes_is_no_event() {
    let churn = churn("lognormal[median=1000000 d,sigma=10]", "exponential[mean=1 s]");
    let mut outages = Outages::new(1, "s", "p", 50, &churn);
    assert!(outages.down().is_empty());
    assert_eq!(outages.next(), None);
    assert_eq!(outages.due(Time::NEVER), []);
}

#[test]
fn a_foreign_state_is_refused() {
    let saved = Outages::new(1, "s", "p", 3, &usual()).save();
    let error = Outages::new(1, "s", "p", 4, &usual()).restore(saved, &ProcSet::new()).unwrap_err();
    assert_eq!(error.to_string(), "the outages of partition `p` were saved with 3 machines, not 4");
}

/// Changing any of these numbers changes every outage: say so in the changelog.
#[test]
fn turns_are_golden() {
    let mut outages = Outages::new(7, "windsor", "default", 4, &usual());
    assert_eq!(outages.down().to_string(), "");
    let turns = run(&mut outages, Time::from_secs(400_000));
    let shown: Vec<String> =
        turns.iter().map(|(time, machine, turn)| format!("{time} {machine} {turn:?}")).collect();
    assert_eq!(
        shown,
        [
            "23130.099262 0 Down",
            "24416.251529 0 Up",
            "31075.422418 3 Down",
            "32020.949666 3 Up",
            "56438.901534 0 Down",
            "112331.253211 0 Up",
            "206496.875691 2 Down",
            "208657.631603 2 Up",
            "296376.991357 2 Down",
            "297244.903928 2 Up",
            "324930.031445 3 Down",
            "338461.673023 3 Up",
        ]
    );
}
