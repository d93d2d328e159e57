//! Whatever drives the toys, the same records in the same order.

use gridemu::entity::{Address, Entity, Stamp};
use gridemu::grid::{Group, Halt, Merge, WindowEnds, WindowOptions, Windows, drive, drive_by_moments};
use gridemu::model::{Record, SiteId};
use gridemu::runtime::{RuntimeOptions, run};
use gridemu::units::{Span, Time};
use proptest::collection::vec;
use proptest::prelude::*;

use super::toy::Toy;

/// Toys and how they are grouped.
#[derive(Clone, Debug)]
pub(super) struct Toys {
    pub(super) toys: Vec<Toy>,
    pub(super) groups: Vec<Group>,
}

const CENTRAL: [Address; 3] = [Address::Portal, Address::Broker, Address::Dispatcher];

impl Toys {
    /// `central` toys that talk without delay, and sites as far from them as `latencies` say, in microseconds; sites know
    /// each other too if they are that far `apart`.
    pub(super) fn new(seed: u64, central: usize, latencies: &[u64], apart: Option<u64>) -> Self {
        let sites = (0..latencies.len() as u32).map(|site| Address::Site(SiteId(site)));
        let mut toys = Vec::new();
        let mut groups = Vec::new();
        let span = Span::from_micros;
        for address in &CENTRAL[..central] {
            let mut toy = Toy::new(*address, seed ^ toys.len() as u64);
            for peer in CENTRAL[..central].iter().filter(|peer| *peer != address) {
                toy = toy.knows(*peer, Span::ZERO);
            }
            for (site, latency) in sites.clone().zip(latencies) {
                toy = toy.knows(site, span(*latency));
            }
            toys.push(toy);
        }
        let least = latencies.iter().min().copied().unwrap_or(u64::MAX);
        groups.push(Group { members: central, latency: span(least) });
        for (address, latency) in sites.clone().zip(latencies) {
            let mut toy = Toy::new(address, seed ^ toys.len() as u64);
            for peer in &CENTRAL[..central] {
                toy = toy.knows(*peer, span(*latency));
            }
            let mut least = if central > 0 { *latency } else { u64::MAX };
            if let Some(apart) = apart {
                for peer in sites.clone().filter(|peer| *peer != address) {
                    toy = toy.knows(peer, span(apart));
                    least = least.min(apart);
                }
            }
            toys.push(toy);
            groups.push(Group { members: 1, latency: span(least) });
        }
        Self { toys, groups }
    }

    /// What happens: one moment after the other.
    pub(super) fn by_moments(&self, until: Stamp) -> (Vec<Record>, Vec<Toy>) {
        let (mut toys, mut records) = (self.toys.clone(), Vec::new());
        drive_by_moments(&mut toys, until, &mut records).expect("toys do as they should");
        (records, toys)
    }

    /// What happens under windows.
    pub(super) fn by_windows(&self, options: WindowOptions) -> (Vec<Record>, Vec<Toy>) {
        let mut run = Run::new(self);
        run.on(options);
        run.merge.finish(&mut run.records);
        (run.records, run.toys)
    }

    /// What happens among actors.
    pub(super) fn by_actors(&self, options: RuntimeOptions) -> (Vec<Record>, Vec<Toy>) {
        let (mut merge, mut records) = (Merge::new(self.toys.len()), Vec::new());
        let ended = run(self.toys.clone(), &self.groups, options, &mut merge, &mut records);
        assert_eq!(ended.result, Ok(()));
        merge.finish(&mut records);
        (records, ended.entities)
    }
}

/// A drive that can be continued.
struct Run {
    groups: Vec<Group>,
    toys: Vec<Toy>,
    merge: Merge,
    records: Vec<Record>,
}

impl Run {
    fn new(of: &Toys) -> Self {
        let (groups, toys) = (of.groups.clone(), of.toys.clone());
        Self { groups, merge: Merge::new(toys.len()), toys, records: Vec::new() }
    }

    fn on(&mut self, options: WindowOptions) {
        let entities = self.toys.iter().map(|toy| (toy.address(), toy.next_event()));
        let mut windows = Windows::new(entities, &self.groups, options).expect("groups of all toys");
        drive(&mut self.toys, &mut windows, &mut self.merge, &mut self.records)
            .expect("toys do as they should");
    }
}

impl Run {
    /// Until it is halted in a window, by the plain loop or by so many threads; everything before the moment that is returned has
    /// happened.
    fn halted(&mut self, after: usize, ends: u64, threads: usize) -> Stamp {
        let (halt, mut left, mut ends) = (Halt::new(), after, random_ends(ends));
        let asking = halt.clone();
        let ends = WindowEnds::new(move |first, latest| {
            if left == 0 {
                asking.ask();
            }
            left = left.saturating_sub(1);
            ends.choose(first, latest)
        });
        let windows = WindowOptions { ends: Some(ends), halt: Some(halt), ..WindowOptions::default() };
        if let Ok(threads) = threads.try_into() {
            let options = RuntimeOptions { windows, threads, ..RuntimeOptions::default() };
            let toys = std::mem::take(&mut self.toys);
            let ended = run(toys, &self.groups, options, &mut self.merge, &mut self.records);
            assert_eq!(ended.result, Ok(()));
            self.toys = ended.entities;
            ended.passed
        } else {
            let entities = self.toys.iter().map(|toy| (toy.address(), toy.next_event()));
            let mut windows = Windows::new(entities, &self.groups, windows).expect("groups of all toys");
            drive(&mut self.toys, &mut windows, &mut self.merge, &mut self.records)
                .expect("toys do as they should");
            windows.passed()
        }
    }
}

/// Window ends drawn at random.
pub(super) fn random_ends(seed: u64) -> WindowEnds {
    let mut state = seed | 1;
    WindowEnds::new(move |first, latest| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let draw = state >> 33;
        match draw % 4 {
            0 => latest,
            1 => Stamp { round: first.round + (draw >> 8) as u32 % 3, ..first },
            _ => Stamp::at(first.time + Span::from_micros(draw % 97)),
        }
    })
}

fn until(until: Stamp) -> WindowOptions {
    WindowOptions { until, ..WindowOptions::default() }
}

prop_compose! {
    pub(super) fn some_toys()(
        seed in any::<u64>(),
        central in 0_usize..=3,
        latencies in vec(prop_oneof![Just(0_u64), 1_u64..5, 20_u64..200], 1..5),
        apart in proptest::option::of(0_u64..50),
        begun in vec((0_usize..8, 0_u64..400, 0_u32..2, any::<bool>(), prop_oneof![Just(0), 0_u64..8]), 1..80),
    ) -> Toys {
        let mut all = Toys::new(seed, central, &latencies, apart);
        let count = all.toys.len();
        for (toy, at, round, loud, left) in begun {
            let at = Stamp { time: Time::from_micros(at), round };
            all.toys[toy % count] = all.toys[toy % count].clone().does(at, loud, left);
        }
        all
    }
}

fn threads(threads: usize) -> RuntimeOptions {
    RuntimeOptions { threads: threads.try_into().expect("a thread"), ..RuntimeOptions::default() }
}

proptest! {
    #![proptest_config(crate::support::cases(64))]

    #[test]
    fn actors_change_nothing(toys in some_toys(), ends in any::<u64>(), lag in 0_u64..1_000) {
        let (expected, _) = toys.by_moments(Stamp::END);
        let found = |options| toys.by_actors(options).0;
        let lag = Some(Span::from_micros(lag));
        prop_assert_eq!(&found(threads(1)), &expected, "one thread");
        for count in [1, 2, 8] {
            let lagging = WindowOptions { lag, ..WindowOptions::default() };
            let lagging = RuntimeOptions { windows: lagging, ..threads(count) };
            prop_assert_eq!(&found(lagging), &expected, "lagging by {:?}, {} threads", lag, count);
            let random = WindowOptions { ends: Some(random_ends(ends)), lag, ..WindowOptions::default() };
            let random = RuntimeOptions { windows: random, ..threads(count) };
            prop_assert_eq!(&found(random), &expected, "random window ends, {} threads", count);
        }
        // A tenth of a virtual second a second: a run of a millisecond takes ten.
        let paced = RuntimeOptions { pace: Some(0.1), ..threads(1) };
        prop_assert_eq!(&found(paced), &expected, "paced");
    }

    #[test]
    fn actors_end_where_they_should(toys in some_toys(), cut in 0_u64..400, count in 1_usize..3) {
        let cut = Stamp::at(Time::from_micros(cut));
        let (expected, left) = toys.by_moments(cut);
        let options = RuntimeOptions { windows: until(cut), ..threads(count) };
        let (found, toys) = toys.by_actors(options);
        prop_assert_eq!(found, expected);
        prop_assert_eq!(toys.len(), left.len());
        for (toy, other) in toys.iter().zip(left) {
            prop_assert_eq!((toy.address(), toy.next_event()), (other.address(), other.next_event()));
        }
    }
}

proptest! {
    #![proptest_config(crate::support::cases(256))]

    #[test]
    fn windows_change_nothing(
        toys in some_toys(),
        ends in any::<u64>(),
        lag in proptest::option::of(0_u64..1_000),
        cuts in vec(0_u64..600, 0..3),
    ) {
        let (expected, _) = toys.by_moments(Stamp::END);
        let lag = lag.map(Span::from_micros);
        let found = |options| toys.by_windows(options).0;
        prop_assert_eq!(&found(WindowOptions::default()), &expected, "as they are");
        prop_assert_eq!(&found(WindowOptions { lag, ..WindowOptions::default() }), &expected, "lagging by {:?}", lag);
        for lag in [None, lag] {
            let random = WindowOptions { ends: Some(random_ends(ends)), lag, ..WindowOptions::default() };
            prop_assert_eq!(&found(random), &expected, "random window ends");
        }

        // In several runs: the last records of each wait for the next.
        let mut run = Run::new(&toys);
        let mut cuts = cuts;
        cuts.sort_unstable();
        for (round, cut) in (0..).zip(cuts) {
            run.on(until(Stamp { time: Time::from_micros(cut), round }));
        }
        run.on(until(Stamp::END));
        run.merge.finish(&mut run.records);
        prop_assert_eq!(&run.records, &expected, "in several runs");
    }

    #[test]
    fn halts_change_nothing(
        toys in some_toys(),
        ends in any::<u64>(),
        halts in vec((0_usize..30, 0_usize..12), 0..5),
    ) {
        let (expected, _) = toys.by_moments(Stamp::END);
        let mut run = Run::new(&toys);
        for (after, engine) in halts {
            // Mostly the plain loop: threads take their time.
            let passed = run.halted(after, ends, engine.saturating_sub(9));
            for toy in &run.toys {
                prop_assert!(toy.next_event().is_none_or(|next| next >= passed));
            }
            prop_assert_eq!(passed.round, 0, "nobody is halted in the middle of an instant");
        }
        run.on(until(Stamp::END));
        run.merge.finish(&mut run.records);
        prop_assert_eq!(&run.records, &expected);
    }

    #[test]
    fn a_run_ends_where_it_should(toys in some_toys(), cut in 0_u64..400) {
        let cut = Stamp::at(Time::from_micros(cut));
        let (expected, left) = toys.by_moments(cut);
        let (found, toys) = toys.by_windows(until(cut));
        prop_assert_eq!(found, expected);
        for (toy, other) in toys.iter().zip(left) {
            prop_assert_eq!(toy.next_event(), other.next_event());
            prop_assert!(toy.next_event().is_none_or(|next| next >= cut));
        }
    }
}
