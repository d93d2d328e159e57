use proptest::prelude::*;

use super::*;
use crate::model::{MAX_PROCESSORS, MachineGroup, PerKwh, SiteSpec};
use crate::platform::Usage;
use crate::units::{EnergyPrice, Span};

fn tariff(idle: u64, busy: u64, price: u64) -> Tariff {
    Tariff::of(&PartitionSpec::of(MachineGroup {
        idle: Power::from_milliwatts(idle),
        busy: Power::from_milliwatts(busy),
        price: Price::from_nanos(price),
        ..MachineGroup::plain("default", 1)
    }))
}

proptest! {
    /// The slow twin multiplies first; the numbers here are small enough.
    #[test]
    fn cost_is_rounded_once(time in 0_u128..1 << 80, price in 0_u64..10_000_000_000) {
        let (of, price) = (tariff(0, 0, price), u128::from(price));
        let hour = 3_600_000_000_u128 << Rate::BITS;
        prop_assert_eq!(of.cost(time).nanos(), ((time * price + hour / 2) / hour) as i128);
    }
}

fn held(of: &Tariff, procs: u32) -> Held {
    of.held(&ProcSet::new(), procs)
}

/// A day whose hours have the factors of `rates` in thousandths.
fn day(rates: &[u16]) -> DayRates {
    let hour = |(hour, rate): (usize, &u16)| format!("{hour}-{}={}", hour + 1, f64::from(*rate) / 1e3);
    rates.iter().enumerate().map(hour).collect::<Vec<_>>().join(",").parse().unwrap()
}

fn by_hour(part: &PartitionSpec, rates: &[u16], starts_at: u64, electricity: u64, pue_ppm: u64) -> Tariff {
    let site = SiteTariff {
        price_by_hour: Some(day(rates)),
        electricity: Some(EnergyPrice::from_nanos(electricity).into()),
        electricity_by_hour: Some(day(rates)),
        starts_at: Span::from_micros(starts_at),
        ..SiteTariff::default()
    };
    Tariff::new(part, &site, pue_ppm)
}

fn part(idle: u64, busy: u64, price: u64) -> PartitionSpec {
    PartitionSpec::of(MachineGroup {
        idle: Power::from_milliwatts(idle),
        busy: Power::from_milliwatts(busy),
        price: Price::from_nanos(price),
        ..MachineGroup::plain("default", 64)
    })
}

const HOUR: u64 = 3_600_000_000;

proptest! {
    /// Cost is the integral of the tariff over use, rounded once, however the use is divided.
    #[test]
    fn cost_is_the_integral_of_the_tariff(
        rates in proptest::collection::vec(0_u16..=10_000, 24),
        starts_at in 0..24 * HOUR,
        stretches in proptest::collection::vec(
            (1_u32..100, 0_u64..=1 << 20, 0..48 * HOUR, 0..48 * HOUR, 0..48 * HOUR), 1..8,
        ),
        price in 0_u64..10_000_000_000,
    ) {
        let of = by_hour(&part(0, 0, price), &rates, starts_at, 0, 1_000_000);
        let (mut whole, mut cut, mut slow) = (0, 0, 0_u128);
        for (procs, share, a, b, c) in stretches {
            let share = Rate::from_units(share);
            let mut times = [a, b, c].map(Time::from_micros);
            times.sort_unstable();
            let [from, middle, to] = times;
            whole += of.charge(&held(&of, procs), share, from, to);
            cut += of.charge(&held(&of, procs), share, from, middle) + of.charge(&held(&of, procs), share, middle, to);
            let mut now = from;
            while now < to {
                let (of_day, hour) = (now.micros() + starts_at, (now.micros() + starts_at) / HOUR);
                let next = to.min(now + Span::from_micros((hour + 1) * HOUR - of_day));
                let rate = u128::from(rates[(hour % 24) as usize]);
                slow += Usage::proc_time(procs, share, next.since(now)) * rate * u128::from(price);
                now = next;
            }
        }
        prop_assert_eq!(whole, cut, "splitting changes nothing");
        let unit = (1_000 * u128::from(HOUR)) << Rate::BITS;
        prop_assert_eq!(of.cost(whole).nanos() as u128, (slow + unit / 2) / unit);
        prop_assert_eq!(of.cost(0), Money::ZERO);
    }

    /// A day without differences is the flat tariff to the last digit, for jobs and for the facility.
    #[test]
    fn a_day_of_ones_is_flat(
        procs in 1_u32..64, share in 0_u64..=1 << 20, from in 0..48 * HOUR, length in 0..48 * HOUR, later in 0..HOUR,
        price in 0_u64..10_000_000_000, electricity in 0_u64..10_000_000_000, pue_ppm in 1_000_000_u64..3_000_000,
    ) {
        let part = part(12_345, 98_765, price);
        let flat = SiteTariff { electricity: Some(EnergyPrice::from_nanos(electricity).into()), ..SiteTariff::default() };
        let (flat, ones) = (Tariff::new(&part, &flat, pue_ppm), by_hour(&part, &[1_000; 24], 5, electricity, pue_ppm));
        let (from, to) = (Time::from_micros(from), Time::from_micros(from + length));
        let share = Rate::from_units(share);
        let time = flat.charge(&held(&flat, procs), share, from, to);
        prop_assert_eq!(flat.cost(time), ones.cost(ones.charge(&held(&ones, procs), share, from, to)));
        let account = |of: &Tariff| {
            let mut drawn = Drawn::default();
            drawn.add(held(of, procs).busy(share), &of.stretch(from, to));
            drawn.add(held(of, 64).idle(Rate::FULL), &of.stretch(from, to + Span::from_micros(later)));
            drawn
        };
        prop_assert_eq!(account(&flat).priced(1_000), I256::ZERO, "it is not needed");
        prop_assert_eq!(flat.electricity(&account(&flat)), ones.electricity(&account(&ones)));
        // Flat electricity is the facility's energy times its price.
        let energy = facility(account(&flat).energy(), pue_ppm).nanojoules();
        let expected = (energy * u128::from(electricity) + KWH / 2) / KWH;
        prop_assert_eq!(flat.electricity(&account(&flat)), Some(Money::from_nanos(expected as i128)));
    }

    /// The bill is the integral of power times PUE times the price of the hour, up to the nanojoules and the 10⁻⁹ that are
    /// rounded.
    #[test]
    fn electricity_is_the_integral_of_power_times_price(
        rates in proptest::collection::vec(0_u16..=10_000, 24),
        from in 0..48 * HOUR, busy in 0..24 * HOUR, down in 0..24 * HOUR, length in 24 * HOUR..72 * HOUR,
        electricity in 0_u64..10_000_000_000, pue_ppm in 1_000_000_u64..3_000_000,
    ) {
        let of = by_hour(&part(40_000, 95_000, 0), &rates, 7 * HOUR, electricity, pue_ppm);
        let time = Time::from_micros;
        let mut drawn = Drawn::default();
        drawn.add(held(&of, 56).idle(Rate::FULL), &of.stretch(time(from), time(from + length)));
        drawn.add(held(&of, 8).idle(Rate::FULL), &of.stretch(time(from + down), time(from + length)));
        let dynamic = held(&of, 16).busy(Rate::FULL) - held(&of, 16).idle(Rate::FULL);
        drawn.add(dynamic, &of.stretch(time(from), time(from + busy)));
        // Hour by hour, in millijoules of equivalent energy (float: the tolerance is far above its error).
        let mut joules = 0.0;
        let mut now = from;
        while now < from + length {
            let hour = (now + 7 * HOUR) / HOUR;
            let next = (from + length).min((hour + 1) * HOUR - 7 * HOUR);
            let within = |end: u64| next.min(end).saturating_sub(now.min(end)) as f64 / 1e6;
            let (all, used, gone) = (within(u64::MAX), within(from + busy), within(from + down));
            let watts_secs = 64.0 * 40.0 * all + 16.0 * 55.0 * used - 8.0 * 40.0 * gone;
            joules += watts_secs * f64::from(rates[(hour % 24) as usize]) / 1e3;
            now = next;
        }
        let expected = joules * pue_ppm as f64 / 1e6 / 3.6e6 * electricity as f64;
        let got = of.electricity(&drawn).unwrap().nanos() as f64;
        prop_assert!(libm::fabs(got - expected) <= 1.0 + 1e-9 * expected, "{got}, not {expected}");
    }
}

#[test]
fn a_day_by_hand() {
    // Half price from 22 h to 6 h, 0.20 per core-hour; the run begins at 21 h. Ten cores from 21:30 until 0:30 are 5 core-hours
    // at 0.20 and 25 at 0.10: 3.50.
    let site = SiteTariff {
        price_by_hour: Some("22-6=0.5".parse().unwrap()),
        electricity: Some(PerKwh::Flat(300_000_000)),
        electricity_by_hour: Some("22-6=0.4".parse().unwrap()),
        starts_at: Span::from_secs(21 * 3_600),
        ..SiteTariff::default()
    };
    let of = Tariff::new(&part(40_000, 100_000, 200_000_000), &site, 1_500_000);
    let at = |minutes: u64| Time::from_secs(60 * minutes);
    let charge = of.charge(&held(&of, 10), Rate::FULL, at(30), at(210));
    assert_eq!(of.cost(charge), Money::from_nanos(3_500_000_000));
    assert_eq!(of.price_at(at(59)), Price::from_nanos(200_000_000));
    assert_eq!(of.price_at(at(60)), Price::from_nanos(100_000_000));
    // The account of these three hours: 64 cores at 40 W, ten of them at 60 W more, are 3.16 kW, with the facility 4.74 kW:
    // half an hour at 0.30 and two and a half at 0.12 are 0.711 + 1.422.
    let mut drawn = Drawn::default();
    let stretch = of.stretch(at(30), at(210));
    drawn.add(held(&of, 54).idle(Rate::FULL), &stretch);
    drawn.add(held(&of, 10).busy(Rate::FULL), &stretch);
    assert_eq!(drawn.energy(), Energy::from_nanojoules(3_160_000 * 3 * 3_600_000_000));
    assert_eq!(of.electricity(&drawn), Some(Money::from_nanos(2_133_000_000)));
    assert_eq!(Tariff::of(&part(1, 2, 3)).electricity(&drawn), None);
}

/// The largest possible machine, at the highest power of a partition, price, factor and PUE, until the end of the time axis.
#[test]
fn the_largest_account_fits() {
    let (power, price, electricity) = (149_011, 1_000_000_000_000_000_000, 100_000_000_000_000);
    let part = PartitionSpec::of(MachineGroup {
        idle: Power::from_milliwatts(power),
        busy: Power::from_milliwatts(power),
        price: Price::from_nanos(price),
        ..MachineGroup::plain("default", MAX_PROCESSORS)
    });
    let tariff = SiteTariff {
        price_by_hour: Some(day(&[10_000; 24])),
        electricity: Some(EnergyPrice::from_nanos(electricity).into()),
        electricity_by_hour: Some(day(&[10_000; 24])),
        starts_at: Span::from_micros(24 * HOUR - 1),
        ..SiteTariff::default()
    };
    let site = SiteSpec {
        partitions: vec![part.clone()],
        tariff,
        pue_ppm: 10_000_000,
        ..SiteSpec::plain("s", 1, "easy".parse().unwrap())
    };
    assert_eq!(site.check(), Ok(()), "these are the limits");
    let (of, processors) = (Tariff::of(&part), u128::from(MAX_PROCESSORS));
    let time = Usage::proc_time(MAX_PROCESSORS, Rate::FULL, Span::MAX);
    let energy = processors * u128::from(u64::MAX) * u128::from(power);
    let drawn = |of: &Tariff| {
        let mut drawn = Drawn::default();
        drawn.add(held(of, MAX_PROCESSORS).busy(Rate::FULL), &of.stretch(Time::ZERO, Time::NEVER));
        drawn
    };
    assert_eq!(drawn(&of).energy(), Energy::from_nanojoules(energy));
    let hours = |factor: u128| processors * u128::from(u64::MAX) * factor / u128::from(HOUR);
    let between = |paid: Money, price: u64, units: u128| {
        let (paid, price) = (paid.nanos() as u128, u128::from(price));
        assert!((units * price..=(units + 1) * price).contains(&paid), "{paid}");
    };
    between(of.cost(time), price, hours(1));
    let of = Tariff::new(&part, &site.tariff, site.pue_ppm);
    between(
        of.cost(of.charge(&held(&of, MAX_PROCESSORS), Rate::FULL, Time::ZERO, Time::NEVER)),
        price,
        hours(10),
    );
    // Ten times the price, ten times the energy.
    between(of.electricity(&drawn(&of)).unwrap(), electricity, energy / KWH * 100 + energy % KWH * 100 / KWH);
}

proptest! {
    /// What 128 bits are enough for is the same in 256, also where the integral is below zero; what they are too short for is not lost.
    #[test]
    fn long_integrals_are_exact(integral in -1_000_000_000_000_i128..1_000_000_000_000, unit in 1_i64..1_000_000, pue_ppm in 1_000_000_u64..3_000_000) {
        let wide = |integral: I256, parts: u128| {
            let million = I256::from(MILLION);
            let facility = (integral * I256::from(pue_ppm) + million / 2).div_euclid(million);
            let per = I256::from(KWH * parts);
            (facility * I256::from(unit) + per / 2).div_euclid(per)
        };
        let small = integral * 1_000_000_000;
        prop_assert_eq!(I256::from(along(I256::from(small), unit, 1, pue_ppm)), wide(I256::from(small), 1));
        prop_assert_eq!(along_short(small, unit, 1, pue_ppm), Some(along(I256::from(small), unit, 1, pue_ppm)));
        // 10⁴⁴ nanojoules × values, more than 2¹²⁸.
        let long = I256::from(integral) * I256::from(10_i128.pow(32));
        prop_assert_eq!(I256::from(along(long, unit, 1_000, pue_ppm)), wide(long, 1_000));
    }
}
