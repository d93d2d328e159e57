//! Published carbon intensities and prices, if they are available: `GRIDEMU_DATA` names the folder that contains `energy`. Without it
//! these tests print that they were skipped. The counts were made by a separate script.

use std::fs::File;

use gridemu::formats::series::{Series, SeriesOptions, Times, Unit, read};
use gridemu::model::{PerKwh, SiteTariff, Trace};
use gridemu::platform::{Curve, carbon_curve, electricity_curve};
use gridemu::units::{Span, Time, Timestamp};

use super::archive_swf::data;

fn open(name: &str, unit: Result<Unit, String>, zone: &str) -> Option<Series> {
    let path = data()?.join("energy").join(name);
    let file = File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let options =
        SeriesOptions { time: None, column: None, unit: unit.unwrap(), zone: zone.parse().unwrap() };
    Some(read(name, Box::new(file), &options).unwrap())
}

fn at(written: &str) -> Timestamp {
    written.parse().unwrap()
}

/// Name, rows, minutes of the commonest step, gaps, missing steps, first value in micrograms.
const CARBON: [(&str, u64, u64, u64, u64, i64); 17] = [
    ("AT_2021-2024.csv.gz", 35_064, 60, 0, 0, 321_370_000),
    ("AU_2021-2024.csv.gz", 35_064, 60, 0, 0, 550_860_000),
    ("BE_2021-2024.csv.gz", 35_064, 60, 0, 0, 254_440_000),
    ("DE_2021-2024.csv.gz", 35_064, 60, 0, 0, 526_770_000),
    ("FR_2021-2024.csv.gz", 35_064, 60, 0, 0, 60_970_000),
    ("NL_2021-2024.csv.gz", 35_064, 60, 0, 0, 464_620_000),
    ("PL_2021-2024.csv.gz", 35_064, 60, 0, 0, 924_240_000),
    ("SE_2021-2024.csv.gz", 35_064, 60, 0, 0, 26_490_000),
    ("US-CAL-CISO_2021-2024.csv.gz", 35_064, 60, 0, 0, 317_310_000),
    ("US-TEX-ERCO_2021-2024.csv.gz", 35_064, 60, 0, 0, 406_750_000),
    ("2022-01-01_2022-12-31_BE.csv.gz", 8_736, 60, 0, 0, 29_001_128),
    ("2022-01-01_2022-12-31_DE.csv.gz", 34_944, 15, 0, 0, 104_339_989),
    ("2022-01-01_2022-12-31_FR.csv.gz", 8_735, 60, 1, 1, 15_096_709),
    ("2022-01-01_2022-12-31_NL.csv.gz", 34_944, 15, 0, 0, 164_517_793),
    // Every half hour, and later every quarter.
    ("gb_ci.csv.gz", 21_980, 30, 0, 0, 120_995_467),
    ("fr_ci.csv.gz", 18_574, 30, 0, 0, 42_341_238),
    ("ger_ci.csv.gz", 37_147, 15, 2, 2, 218_290_031),
];

#[test]
fn carbon_intensities_have_their_rows_and_gaps() {
    for (name, rows, step, gaps, missing, first) in CARBON {
        let Some(series) = open(name, Unit::carbon("g/kWh"), "UTC") else { return };
        let facts = &series.facts;
        assert_eq!((facts.rows, facts.step), (rows, Span::from_secs(step * 60)), "{name}");
        assert_eq!((facts.gaps.times.count, facts.gaps.missing), (gaps, missing), "{name}");
        assert_eq!((facts.empty, facts.negative, facts.doubled.count), (0, 0, 0), "{name}");
        assert_eq!((series.steps.len() as u64, series.steps[0].1), (rows, first), "{name}");
        if name.contains("2021-2024") {
            assert_eq!(
                (series.begin, facts.end),
                (at("2021-01-01T00:00Z"), at("2025-01-01T00:00Z")),
                "{name}"
            );
        }
    }
}

#[test]
fn belgian_prices_are_in_local_time() {
    let name = "BE_DAM_prices_2022-2024.csv.gz";
    let Some(series) = open(name, Unit::price("EUR/kWh"), "Europe/Brussels") else { return };
    let facts = &series.facts;
    assert_eq!((facts.rows, facts.rows - facts.empty, facts.negative), (26_307, 22_583, 618));
    // Three hours in spring do not exist, and have no value either.
    assert_eq!((facts.trailing, facts.empty - facts.trailing), (3_721, 3));
    assert_eq!(facts.rounded, 15_463, "they have up to 19 decimals");
    // Two hours in autumn have two prices.
    assert_eq!((facts.put_back, facts.doubled.count, facts.put_forward.count), (2, 0, 0));
    assert_eq!(facts.gaps, Default::default());
    assert_eq!((series.begin, facts.end), (at("2021-12-31T23:00Z"), at("2024-07-29T22:00Z")));
    let hour = |at: usize| Span::from_secs(at as u64 * 3_600);
    assert!(series.steps.iter().enumerate().all(|(at, (start, _))| *start == hour(at)));
    assert_eq!(series.steps.iter().map(|(_, price)| *price).min(), Some(-140_000_000));
    let price = |when: &str| {
        let start = at(when).since(series.begin).unwrap();
        series.steps[series.steps.binary_search_by_key(&start, |(start, _)| *start).unwrap()].1
    };
    // 02:00 twice on 30 October 2022, in summer time and then not.
    assert_eq!((price("2022-10-30T00:00Z"), price("2022-10-30T01:00Z")), (100_220_001, 99_930_000));
    assert_eq!((price("2022-03-27T00:00Z"), price("2022-03-27T01:00Z")), (221_929_993, 214_020_004));
    assert_eq!(facts.warnings(), [""; 0]);

    // Read as if it were in UTC it has gaps and times that come twice, and says so.
    let Some(series) = open(name, Unit::price("EUR/kWh"), "+01:00") else { return };
    let facts = &series.facts;
    assert_eq!(facts.doubled, Times { count: 2, line: 7_253 });
    assert_eq!((facts.gaps.times.count, facts.gaps.missing, facts.warnings().len()), (3, 3, 2));
}

/// The curve of a trace for a run that begins then.
fn curve(series: Option<Series>, begins: &str, of: fn(PerKwh) -> SiteTariff) -> Option<(i128, Curve)> {
    let series = series?;
    let trace = Trace::new("trace.csv", series.begin, series.facts.end, series.steps);
    let origin = at(begins).since(series.begin).unwrap();
    let tariff = of(PerKwh::Trace { trace, origin });
    let (unit, curve) = electricity_curve(&tariff).or_else(|| carbon_curve(&tariff)).unwrap();
    Some((i128::from(unit), curve))
}

/// Integrals over weeks are the sums of the hours in them, as a separate script adds them up.
#[test]
fn integrals_over_weeks_are_sums_of_hours() {
    const HOUR: i128 = 3_600_000_000;
    let weeks = |weeks: u64| Time::from_secs(weeks * 7 * 86_400);
    let carbon = |carbon| SiteTariff { carbon: Some(carbon), ..SiteTariff::default() };
    let series = open("NL_2021-2024.csv.gz", Unit::carbon("g/kWh"), "UTC");
    let Some((unit, curve)) = curve(series, "2023-01-02T00:00Z", carbon) else { return };
    // Two decimals of a gram, in nanograms.
    assert_eq!(unit, 10_000_000);
    assert_eq!(curve.over(Time::ZERO, weeks(1)) * unit, 44_030_420_000 * 1_000 * HOUR);
    let price = |electricity| SiteTariff { electricity: Some(electricity), ..SiteTariff::default() };
    // Summer time ends in both fortnights; in the second twelve hours have a negative price.
    for (begins, sum) in [("2022-10-24T00:00Z", 35_918_969_978), ("2023-10-23T00:00Z", 26_066_829_955)] {
        let series = open("BE_DAM_prices_2022-2024.csv.gz", Unit::price("EUR/kWh"), "Europe/Brussels");
        let Some((unit, curve)) = self::curve(series, begins, price) else { return };
        assert_eq!(curve.over(Time::ZERO, weeks(2)) * unit, sum * 1_000 * HOUR, "{begins}");
    }
}
