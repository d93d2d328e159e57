//! Unshared links, and uplinks in common: by hand, and against a slow fluid simulation of every transfer.

use super::*;

fn megabits(millions: u64) -> Option<Bandwidth> {
    Some(Bandwidth::from_bits(millions * 1_000_000))
}

/// Four places without latency whose links have 100 Mbit/s.
fn with_uplinks(uplinks: &[Option<Bandwidth>]) -> NetworkSpec {
    NetworkSpec { uplinks: uplinks.to_vec(), ..NetworkSpec::uniform(link(100_000_000, 0)) }
}

/// Transfers of so many megabits.
fn begin(at_ms: u64, id: u64, from: u32, to: u32, megabits: u64) -> Begin {
    Begin { at: at_ms * 1_000, id, from, to, bytes: megabits * 125_000 }
}

fn arrived(at_ms: u64, id: u64) -> Arrival {
    arrival(at_ms * 1_000, id)
}

#[test]
fn on_unshared_links_each_has_the_whole_bandwidth() {
    // 8 Mbit/s, 10 ms. 8 Mbit take 1 s beside any number of others, in both directions.
    let spec = NetworkSpec { sharing: Sharing::Unshared, ..NetworkSpec::uniform(link(8_000_000, 10_000)) };
    let begins =
        [begin(0, 1, 0, 1, 8), begin(500, 2, 1, 0, 8), begin(500, 3, 0, 1, 2), begin(500, 4, 0, 1, 2)];
    let expected = [arrived(760, 3), arrived(760, 4), arrived(1_010, 1), arrived(1_510, 2)];
    assert_eq!(run(&spec, &begins, &[], None), expected);
}

#[test]
fn transfers_to_different_sites_share_the_uplink_of_their_source() {
    // Place 1 has 8 Mbit/s. To 2 and to 3: 4 Mbit/s each; the second has passed at 1 s, then the first, of which 4 Mbit are left,
    // has 8 Mbit/s: 1.5 s. What comes from 2 at the same time has the other direction: 8 Mbit at 8 Mbit/s.
    let spec = with_uplinks(&[None, megabits(8)]);
    let begins = [begin(0, 1, 1, 2, 8), begin(0, 2, 1, 3, 4), begin(0, 3, 2, 1, 8)];
    let expected = [arrived(1_000, 2), arrived(1_000, 3), arrived(1_500, 1)];
    assert_eq!(run(&spec, &begins, &[], None), expected);
}

#[test]
fn what_a_narrow_link_leaves_goes_to_the_others() {
    // The uplink of 1 has 10 Mbit/s, its link to 2 has 2. So 2 and 8 Mbit/s: 8 Mbit to 3 take 1 s, 4 Mbit to 2 take 2 s.
    let mut spec = with_uplinks(&[None, megabits(10)]);
    spec.set(1, 2, link(2_000_000, 0));
    let begins = [begin(0, 1, 1, 2, 4), begin(0, 2, 1, 3, 8)];
    assert_eq!(run(&spec, &begins, &[], None), [arrived(1_000, 2), arrived(2_000, 1)]);
}

#[test]
fn an_end_changes_rates_along_a_chain() {
    // Out of 1: 10 Mbit/s; into 3: 6. A from 1 to 3 and B from 2 to 3 have 3 each, C from 1 to 4 has the other 7.
    // B (3 Mbit) has passed at 1 s. Now 10 of 1 are scarcer than 6 of 3: A and C have 5 each.
    // A (8 Mbit): 3 + 5 at 2 s. C (12 Mbit): 7 + 5 at 2 s.
    let spec = with_uplinks(&[None, megabits(10), None, megabits(6)]);
    let begins = [begin(0, 1, 1, 3, 8), begin(0, 2, 2, 3, 3), begin(0, 3, 1, 4, 12)];
    assert_eq!(run(&spec, &begins, &[], None), [arrived(1_000, 2), arrived(2_000, 1), arrived(2_000, 3)]);
}

#[test]
fn unshared_links_with_uplinks_limit_each_transfer_alone() {
    // Link of 4 Mbit/s for each, uplink of 10: two have 4 each, three have 3⅓, rounded down to a bit per second.
    let mut spec = NetworkSpec { sharing: Sharing::Unshared, ..with_uplinks(&[None, megabits(10)]) };
    spec.set(1, 2, link(4_000_000, 0));
    let two = [begin(0, 1, 1, 2, 4), begin(0, 2, 1, 2, 4)];
    assert_eq!(run(&spec, &two, &[], None), [arrived(1_000, 1), arrived(1_000, 2)]);
    let three = [two[0], two[1], begin(0, 3, 1, 2, 4)];
    let found = run(&spec, &three, &[], None);
    assert_eq!(found, [1, 2, 3].map(|id| arrival(1_200_001, id)), "4,000,000 / 3,333,333 s");
}

#[test]
fn estimates_are_right_if_nothing_changes() {
    for uplinks in [vec![], vec![None, megabits(8)], vec![megabits(3), megabits(8), megabits(5)]] {
        let mut spec = with_uplinks(&uplinks);
        spec.set(1, 2, link(10_000_000, 7));
        for (from, to, bytes) in [(1, 2, 5_000_000), (1, 1, 9), (2, 0, 0), (0, 2, 77)] {
            let mut links = Links::new(&spec);
            let takes = links.estimate(from, to, Bytes::new(bytes));
            links.begin(1, from, to, Bytes::new(bytes), Time::ZERO);
            let mut found = Vec::new();
            while let Some(next) = links.next() {
                found.extend(links.due(next));
            }
            assert_eq!(found, [Arrival { at: Time::ZERO + takes, id: 1 }]);
        }
    }
    // Beside one of two on the uplink, and three on the link.
    let mut links = Links::new(&with_uplinks(&[None, megabits(8)]));
    links.begin(1, 1, 2, Bytes::new(1 << 30), Time::ZERO);
    assert_eq!(links.estimate(1, 3, Bytes::new(500_000)), Span::from_secs(1), "4 Mbit at 4 Mbit/s");
    assert_eq!(links.estimate(2, 3, Bytes::new(500_000)), Span::from_micros(40_000), "4 Mbit at 100 Mbit/s");
}

#[test]
fn thousands_share_an_uplink() {
    // 20,000 transfers of 1 MB from place 1 to two others over 2 Gbit/s: 100,000 bit/s each, 80 s. The ways are two however many
    // transfers they carry.
    let mut spec = NetworkSpec::uniform(link(2_000_000_000, 0));
    spec.uplinks = vec![None, megabits(2_000)];
    let mut links = Links::new(&spec);
    for id in 0..20_000 {
        links.begin(id, 1, 2 + (id % 2) as u32, Bytes::new(1_000_000), Time::ZERO);
    }
    assert_eq!(links.next(), Some(Time::from_secs(80)));
    assert_eq!((links.due(Time::from_secs(80)).len(), links.next()), (20_000, None));
}

/// A limit that transfers have in common, in the order in which equal ones are filled.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cable {
    Link(u32, u32, u64),
    Out(u32),
    In(u32),
}

/// A transfer of the slow simulation.
#[derive(Clone, Debug)]
struct Moving {
    id: u64,
    from: u32,
    to: u32,
    left: u128,
}

impl Moving {
    fn cables(&self, network: &NetworkSpec) -> Vec<(Cable, u128)> {
        let (low, high) = (self.from.min(self.to), self.from.max(self.to));
        let own = if network.sharing == Sharing::Shared { 0 } else { self.id + 1 };
        let all = [
            (Cable::Link(low, high, own), network.link(low as usize, high as usize).bandwidth),
            (Cable::Out(self.from), network.uplink(self.from as usize)),
            (Cable::In(self.to), network.uplink(self.to as usize)),
        ];
        all.into_iter().filter_map(|(cable, limit)| Some((cable, u128::from(limit?.bits())))).collect()
    }
}

/// Progressive filling as it is defined, transfer by transfer.
fn rates(network: &NetworkSpec, moving: &[Moving]) -> Vec<u128> {
    let mut cables: Vec<(Cable, u128)> = moving.iter().flat_map(|one| one.cables(network)).collect();
    cables.sort();
    cables.dedup();
    let mut rates: Vec<Option<u128>> = vec![None; moving.len()];
    loop {
        let mut tightest: Option<(u128, u128, &Cable)> = None;
        for (cable, limit) in &cables {
            let on = |at: &usize| moving[*at].cables(network).iter().any(|(other, _)| other == cable);
            let (given, open): (Vec<usize>, Vec<usize>) =
                (0..moving.len()).filter(on).partition(|at| rates[*at].is_some());
            let left = limit.saturating_sub(given.iter().filter_map(|at| rates[*at]).sum());
            let count = open.len() as u128;
            if count > 0 && tightest.is_none_or(|(least, sharers, _)| left * sharers < least * count) {
                tightest = Some((left, count, cable));
            }
        }
        let Some((left, count, tightest)) = tightest else { break };
        for (one, rate) in moving.iter().zip(&mut rates) {
            if rate.is_none() && one.cables(network).iter().any(|(cable, _)| cable == tightest) {
                *rate = Some((left / count).max(1));
            }
        }
    }
    rates.into_iter().map(|rate| rate.unwrap_or(u128::MAX)).collect()
}

/// Transfers from and to a place end at an instant, before any transfer begins at it.
type Stop = Option<(u64, u32)>;

/// The fluid simulation: every transfer keeps its remaining amount, and all rates are computed anew at each change.
fn fluid(
    network: &NetworkSpec,
    begins: &[Begin],
    mut change: Change<'_>,
    mut stop: Stop,
) -> (Vec<Arrival>, Vec<u64>) {
    let mut stopped = Vec::new();
    let mut network = network;
    let mut coming = begins.to_vec();
    coming.sort_by_key(|begin| (std::cmp::Reverse(begin.at), std::cmp::Reverse(begin.id)));
    let (mut moving, mut all): (Vec<Moving>, Vec<Arrival>) = (Vec::new(), Vec::new());
    let mut now = 0;
    loop {
        let now_rates = rates(network, &moving);
        let passes = moving.iter().zip(&now_rates).map(|(one, rate)| now + one.left.div_ceil(*rate) as u64);
        let begins = coming.last().map(|begin| begin.at);
        let changes = change.map(|(when, _)| when);
        let stops = stop.map(|(when, _)| when);
        let Some(then) = passes.chain(begins).chain(changes).chain(stops).min() else { break };
        for (one, rate) in moving.iter_mut().zip(&now_rates) {
            one.left = one.left.saturating_sub(rate.saturating_mul(u128::from(then - now)));
        }
        now = then;
        let latency = |network: &NetworkSpec, from: u32, to: u32| {
            if from == to { 0 } else { network.link(from as usize, to as usize).latency.micros() }
        };
        let passed =
            |network: &NetworkSpec, one: &Moving| arrival(now + latency(network, one.from, one.to), one.id);
        all.extend(moving.iter().filter(|one| one.left == 0).map(|one| passed(network, one)));
        moving.retain(|one| one.left > 0);
        if let Some((_, other)) = change.take_if(|(when, _)| *when == now) {
            network = other;
            all.extend(
                moving.iter().filter(|one| one.cables(network).is_empty()).map(|one| passed(network, one)),
            );
            moving.retain(|one| !one.cables(network).is_empty());
        }
        if let Some((_, place)) = stop.take_if(|(when, _)| *when == now) {
            let is_it = |one: &Moving| one.from == place || one.to == place;
            stopped.extend(moving.iter().filter(|one| is_it(one)).map(|one| one.id));
            moving.retain(|one| !is_it(one));
        }
        while let Some(Begin { id, from, to, bytes, .. }) = coming.pop_if(|begin| begin.at == now) {
            let one = Moving { id, from, to, left: u128::from(bytes) * 8_000_000 };
            if from == to || bytes == 0 || one.cables(network).is_empty() {
                all.push(passed(network, &one));
            } else {
                moving.push(one);
            }
        }
    }
    all.sort_unstable();
    stopped.sort_unstable();
    (all, stopped)
}

/// A network of 4 places: bandwidths and latencies of its links, whether they are shared, and uplinks.
fn drawn_network() -> impl Strategy<Value = NetworkSpec> {
    let width = || prop_oneof![Just(None), Just(Some(3)), Just(Some(1_000_000)), Just(Some(7_654_321))];
    let uplinks = proptest::collection::vec(width(), 0..=4);
    let links = proptest::collection::vec((0_u64..5, 0_u64..400), 6);
    (links, any::<bool>(), uplinks).prop_map(|(links, shared, uplinks)| NetworkSpec {
        sharing: if shared { Sharing::Shared } else { Sharing::Unshared },
        uplinks: uplinks.into_iter().map(|bits| bits.map(Bandwidth::from_bits)).collect(),
        ..network_of(&links)
    })
}

proptest! {
    #[test]
    fn agrees_with_a_fluid_simulation(
        network in drawn_network(),
        other in drawn_network(),
        drawn in proptest::collection::vec((0_u64..300, 0_u32..4, 0_u32..4, 0_u64..120), 1..30),
        peeks in proptest::collection::vec(0_u64..2_000, 0..12),
        changes in 0_u64..2_500,
    ) {
        let begins: Vec<Begin> = drawn
            .into_iter()
            .zip(0..)
            .map(|((at, from, to, bytes), id)| Begin { at: at * 7, id, from, to, bytes })
            .collect();
        for change in [None, Some((changes, &other))] {
            let (expected, _) = fluid(&network, &begins, change, None);
            prop_assert_eq!(expected.len(), begins.len(), "everything arrives");
            for peeks in [&[], &peeks[..]] {
                let mut found = run(&network, &begins, peeks, change);
                found.sort_unstable();
                prop_assert_eq!(&found, &expected);
            }
        }
    }

    #[test]
    fn what_is_stopped_leaves_its_share_to_the_others(
        network in drawn_network(),
        drawn in proptest::collection::vec((0_u64..300, 0_u32..4, 0_u32..4, 0_u64..120), 1..30),
        (when, place) in (0_u64..2_500, 0_u32..4),
    ) {
        let mut begins: Vec<Begin> = drawn
            .into_iter()
            .zip(0..)
            .map(|((at, from, to, bytes), id)| Begin { at: at * 7, id, from, to, bytes })
            .collect();
        begins.sort_by_key(|begin| begin.at);
        let expected = fluid(&network, &begins, None, Some((when, place)));
        let (mut links, mut arrived, mut stopped) = (Links::new(&network), Vec::new(), Vec::new());
        let (early, late) = begins.split_at(begins.partition_point(|begin| begin.at < when));
        let mut begin = |links: &mut Links, begins: &[Begin]| {
            for begin in begins {
                let now = Time::from_micros(begin.at);
                arrived.extend(links.due(now));
                links.begin(begin.id, begin.from, begin.to, Bytes::new(begin.bytes), now);
            }
        };
        begin(&mut links, early);
        stopped.extend(links.stop(place, Time::from_micros(when), |_| false));
        begin(&mut links, late);
        while let Some(next) = links.next() {
            arrived.extend(links.due(next));
        }
        arrived.sort_unstable();
        prop_assert!(links.is_empty());
        prop_assert_eq!((arrived, stopped), expected);
    }

    /// The definition of max-min fairness, up to rounding: no cable is overfull, and each transfer has a cable that is full and on
    /// which no other has more.
    #[test]
    fn rates_are_fair(
        network in drawn_network(),
        ways in proptest::collection::vec((0_u32..4, 0_u32..4), 1..30),
    ) {
        let ways = ways.into_iter().zip(0..).filter(|((from, to), _)| from != to);
        let moving: Vec<Moving> = ways.map(|((from, to), id)| Moving { id, from, to, left: 1 }).collect();
        let moving: Vec<Moving> = moving.into_iter().filter(|one| !one.cables(&network).is_empty()).collect();
        let rates = rates(&network, &moving);
        let on = |cable: &Cable| {
            let on = |one: &Moving| one.cables(&network).iter().any(|(other, _)| other == cable);
            moving.iter().zip(&rates).filter(|(one, _)| on(one)).map(|(_, rate)| *rate).collect::<Vec<u128>>()
        };
        for (one, rate) in moving.iter().zip(&rates) {
            let mut is_bounded = false;
            for (cable, limit) in one.cables(&network) {
                let on = on(&cable);
                let (used, count) = (on.iter().sum::<u128>(), on.len() as u128);
                prop_assert!(used <= limit.max(count), "at least a bit per second each");
                is_bounded |= used + count * count >= limit && on.iter().all(|other| *other <= rate + count);
            }
            prop_assert!(is_bounded, "{one:?} at {rate} of {rates:?}");
        }
    }
}
