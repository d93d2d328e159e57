mod modes;

use proptest::prelude::*;

use super::*;
use crate::model::Link;
use crate::units::Bandwidth;

fn link(bits: u64, latency: u64) -> Link {
    Link { latency: Span::from_micros(latency), bandwidth: Some(Bandwidth::from_bits(bits)) }
}

fn arrival(at: u64, id: u64) -> Arrival {
    Arrival { at: Time::from_micros(at), id }
}

#[derive(Copy, Clone, Debug)]
struct Begin {
    at: u64,
    id: u64,
    from: u32,
    to: u32,
    bytes: u64,
}

/// Other connections from an instant on, before any transfer begins at it.
type Change<'a> = Option<(u64, &'a NetworkSpec)>;

/// Begins transfers in order, and takes out the arrivals at each `next` and at each time of `peeks`.
fn run(network: &NetworkSpec, begins: &[Begin], peeks: &[u64], mut change: Change<'_>) -> Vec<Arrival> {
    let mut links = Links::new(network);
    let mut steps: Vec<(u64, Option<&Begin>)> = peeks.iter().map(|at| (*at, None)).collect();
    steps.extend(begins.iter().map(|begin| (begin.at, Some(begin))));
    // A transfer that takes no time arrives at the instant at which it begins: what arrives then is taken out together.
    steps.sort_by_key(|(at, begin)| (*at, begin.map_or(u64::MAX, |begin| begin.id)));
    let mut all = Vec::new();
    let go_to = |links: &mut Links, now: Time| {
        let mut arrivals = Vec::new();
        while let Some(next) = links.next().filter(|next| *next < now) {
            let arrived = links.due(next);
            assert!(!arrived.is_empty() || links.network().has_uplinks(), "{next}");
            assert!(arrived.iter().all(|arrival| arrival.at == next));
            arrivals.extend(arrived);
        }
        arrivals
    };
    for (at, begin) in steps {
        let now = Time::from_micros(at);
        if let Some((when, network)) = change.take_if(|(when, _)| *when <= at) {
            let when = Time::from_micros(when);
            all.extend(go_to(&mut links, when));
            links.change(network, when);
        }
        all.extend(go_to(&mut links, now));
        match begin {
            Some(begin) => links.begin(begin.id, begin.from, begin.to, Bytes::new(begin.bytes), now),
            None => {
                all.extend(links.due(now));
                let saved = postcard::to_stdvec(&links).unwrap();
                links = postcard::from_bytes(&saved).unwrap();
            }
        }
    }
    if let Some((when, network)) = change {
        all.extend(go_to(&mut links, Time::from_micros(when)));
        links.change(network, Time::from_micros(when));
    }
    while let Some(next) = links.next() {
        all.extend(links.due(next));
    }
    assert!(links.is_empty());
    all
}

/// The slow twin: every transfer keeps its remaining amount, and everything is computed anew at each change.
fn twin(network: &NetworkSpec, begins: &[Begin], change: Change<'_>) -> Vec<Arrival> {
    let mut all = Vec::new();
    let mut pairs: Vec<(u32, u32)> = begins.iter().map(|b| (b.from.min(b.to), b.from.max(b.to))).collect();
    pairs.sort_unstable();
    pairs.dedup();
    for (a, b) in pairs {
        let of = |network: &NetworkSpec| {
            if a == b { Link::default() } else { network.link(a as usize, b as usize) }
        };
        let mut link = of(network);
        let mut change = change;
        let mut coming: Vec<&Begin> =
            begins.iter().filter(|x| (x.from.min(x.to), x.from.max(x.to)) == (a, b)).collect();
        coming.sort_by_key(|begin| std::cmp::Reverse(begin.at));
        let mut left: Vec<(u64, u128)> = Vec::new();
        let mut now = 0;
        loop {
            let latency = link.latency.micros();
            // On an unlimited link no amount ever remains.
            let bits = link.bandwidth.map_or(u64::MAX, Bandwidth::bits);
            let rate = u128::from((bits / (left.len() as u64).max(1)).max(1));
            let passes = left.iter().map(|(_, bits)| now + bits.div_ceil(rate) as u64).min();
            let begins = coming.last().map(|begin| begin.at);
            let changes = change.map(|(when, _)| when);
            let Some(then) = passes.into_iter().chain(begins).chain(changes).min() else { break };
            for (_, bits) in &mut left {
                *bits = bits.saturating_sub(rate * u128::from(then - now));
            }
            now = then;
            all.extend(left.iter().filter(|(_, bits)| *bits == 0).map(|(id, _)| arrival(now + latency, *id)));
            left.retain(|(_, bits)| *bits > 0);
            if let Some((_, network)) = change.take_if(|(when, _)| *when == now) {
                link = of(network);
                if link.bandwidth.is_none() {
                    let rest = left.drain(..).map(|(id, _)| arrival(now + link.latency.micros(), id));
                    all.extend(rest);
                }
            }
            let latency = link.latency.micros();
            while let Some(begin) = coming.pop_if(|begin| begin.at == now) {
                if begin.bytes == 0 || link.bandwidth.is_none() {
                    all.push(arrival(now + latency, begin.id));
                } else {
                    left.push((begin.id, u128::from(begin.bytes) * 8_000_000));
                }
            }
        }
    }
    all.sort_unstable();
    all
}

/// Checks the definition: between the beginning and the last bit of a transfer its shares sum to its data, and one
/// microsecond earlier they did not yet.
fn conserves(network: &NetworkSpec, begins: &[Begin], arrivals: &[Arrival]) -> Result<(), TestCaseError> {
    let stretches: Vec<(Begin, u64, u64)> = begins
        .iter()
        .filter(|x| x.from != x.to && x.bytes > 0)
        .filter_map(|x| {
            let link = network.link(x.from as usize, x.to as usize);
            let at = arrivals.iter().find(|arrival| arrival.id == x.id)?.at.micros();
            Some((*x, link.bandwidth?.bits(), at - link.latency.micros()))
        })
        .collect();
    let same =
        |x: &Begin, y: &Begin| (x.from.min(x.to), x.from.max(x.to)) == (y.from.min(y.to), y.from.max(y.to));
    for (own, bandwidth, passed) in &stretches {
        let beside: Vec<_> = stretches.iter().filter(|(other, ..)| same(own, other)).collect();
        let mut cuts: Vec<u64> = beside.iter().flat_map(|(x, _, end)| [x.at, *end]).collect();
        cuts.push(passed - 1);
        cuts.retain(|cut| (own.at..=*passed).contains(cut));
        cuts.sort_unstable();
        let (mut got, mut before) = (0, 0);
        for pair in cuts.windows(2) {
            let n = beside.iter().filter(|(x, _, end)| x.at <= pair[0] && pair[0] < *end).count() as u64;
            let rate = (bandwidth / n.max(1)).max(1);
            got += u128::from(rate) * u128::from(pair[1] - pair[0]);
            before = if pair[1] < *passed { got } else { before };
        }
        let asked = u128::from(own.bytes) * 8_000_000;
        prop_assert!(before < asked && asked <= got, "{own:?}: {before}, {got} of {asked}");
    }
    Ok(())
}

fn network_of(drawn: &[(u64, u64)]) -> NetworkSpec {
    let mut network = NetworkSpec::uniform(Link::default());
    for ((bits, latency), (a, b)) in drawn.iter().zip((1..4).flat_map(|b| (0..b).map(move |a| (a, b)))) {
        // None, below one bit per second and transfer, narrow, wide.
        let choices = [None, Some(3), Some(1_000_000), Some(7_654_321), Some(1_000_000_007)];
        let bandwidth = choices[*bits as usize].map(Bandwidth::from_bits);
        network.set(a, b, Link { latency: Span::from_micros(*latency), bandwidth });
    }
    network
}

proptest! {
    #[test]
    fn agrees_with_the_obvious_twin(
        bandwidths in proptest::collection::vec((0_u64..5, 0_u64..400), 12),
        drawn in proptest::collection::vec((0_u64..300, 0_u32..4, 0_u32..4, 0_u64..120), 1..40),
        peeks in proptest::collection::vec(0_u64..2_000, 0..12),
        changes in 0_u64..2_500,
    ) {
        let network = network_of(&bandwidths[..6]);
        let begins: Vec<Begin> = drawn
            .into_iter()
            .zip(0..)
            .map(|((at, from, to, bytes), id)| Begin { at: at * 7, id, from, to, bytes })
            .collect();
        let expected = twin(&network, &begins, None);
        prop_assert_eq!(expected.len(), begins.len(), "everything arrives");
        prop_assert_eq!(&run(&network, &begins, &[], None), &expected);
        // The times of queries in between have no influence.
        prop_assert_eq!(&run(&network, &begins, &peeks, None), &expected);
        conserves(&network, &begins, &expected)?;
        // Connections may change during transfers.
        let other = network_of(&bandwidths[6..]);
        let expected = twin(&network, &begins, Some((changes, &other)));
        prop_assert_eq!(expected.len(), begins.len(), "everything arrives");
        let mut found = run(&network, &begins, &peeks, Some((changes, &other)));
        found.sort_unstable();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn two_transfers_that_overlap() {
    // 8 Mbit/s are 1 MB/s. A: 1 MB from 0 s; B: 0.25 MB from 0.5 s, the other way.
    // A alone has 0.5 MB left at 0.5 s. At 0.5 MB/s each, B has passed at 1 s, when A has 0.25 MB left; alone
    // again, A has passed at 1.25 s. Each arrives 10 ms later.
    let network = NetworkSpec::uniform(link(8_000_000, 10_000));
    let mut links = Links::new(&network);
    links.begin(1, 0, 1, Bytes::new(1_000_000), Time::ZERO);
    assert_eq!(links.next(), Some(Time::from_micros(1_010_000)), "if it stays alone");
    links.begin(2, 1, 0, Bytes::new(250_000), Time::from_micros(500_000));
    assert_eq!(links.next(), Some(Time::from_micros(1_010_000)), "now the other one");
    assert_eq!(links.due(Time::from_micros(1_009_999)), []);
    assert_eq!(links.due(Time::from_micros(1_010_000)), [arrival(1_010_000, 2)]);
    assert_eq!(links.next(), Some(Time::from_micros(1_260_000)));
    assert_eq!(links.due(Time::from_micros(1_260_000)), [arrival(1_260_000, 1)]);
    assert!(links.is_empty());
}

#[test]
fn what_is_no_data_or_goes_nowhere_takes_the_latency_only() {
    let mut network = NetworkSpec::uniform(link(8_000_000, 10));
    network.set(0, 2, Link { latency: Span::from_micros(30), bandwidth: None });
    let mut links = Links::new(&network);
    links.begin(9, 0, 1, Bytes::new(1_000), Time::ZERO);
    links.begin(1, 0, 1, Bytes::ZERO, Time::ZERO);
    links.begin(2, 2, 0, Bytes::new(1 << 40), Time::ZERO);
    links.begin(4, 1, 1, Bytes::new(1 << 40), Time::ZERO);
    links.begin(3, 1, 1, Bytes::new(1 << 40), Time::ZERO);
    assert_eq!(links.due(Time::ZERO), [arrival(0, 3), arrival(0, 4)], "within a place");
    assert_eq!(links.due(Time::from_micros(10)), [arrival(10, 1)], "no data");
    assert_eq!(links.due(Time::from_micros(30)), [arrival(30, 2)], "as wide as anybody wants");
    assert_eq!((links.len(), links.next()), (1, Some(Time::from_micros(1_010))));
}

#[test]
fn thousands_share_a_link() {
    // 5,000 equal transfers on 1 Gbit/s: 200,000 bit/s each, 1 MB in 40 s; one of half the size has passed after 20 s,
    // and from then on the others have ⌊10⁹ / 4,999⌋ = 200,040 bit/s: 4 Mbit more take 19.996001 s, rounded up.
    let mut links = Links::new(&NetworkSpec::uniform(link(1_000_000_000, 0)));
    for id in 0..5_000 {
        let bytes = if id == 77 { 500_000 } else { 1_000_000 };
        links.begin(id, 0, 1, Bytes::new(bytes), Time::ZERO);
    }
    assert_eq!(links.due(links.next().unwrap()), [arrival(20_000_000, 77)]);
    let rest = links.due(links.next().unwrap());
    assert_eq!((rest.len(), rest[0], rest[77]), (4_999, arrival(39_996_001, 0), arrival(39_996_001, 78)));
}

#[test]
fn what_would_arrive_beyond_the_time_axis_never_does() {
    let mut links = Links::new(&NetworkSpec::uniform(link(1, u64::MAX)));
    links.begin(1, 0, 1, Bytes::new(u64::MAX), Time::from_secs(5));
    links.begin(2, 0, 1, Bytes::new(u64::MAX), Time::from_secs(6));
    assert_eq!((links.next(), links.len()), (None, 2));
    assert_eq!(links.due(Time::NEVER), []);
}
