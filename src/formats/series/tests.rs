use std::io::Cursor;

use proptest::prelude::*;

use super::*;

fn options(unit: Unit, zone: &str) -> SeriesOptions {
    SeriesOptions { time: None, column: None, unit, zone: zone.parse().unwrap() }
}

fn euros(zone: &str) -> SeriesOptions {
    options(Unit::price("EUR/MWh").unwrap(), zone)
}

fn of(text: &str, options: &SeriesOptions) -> Result<Series, FileError> {
    read("prices.csv", Box::new(Cursor::new(text.as_bytes().to_vec())), options)
}

fn hours(series: &Series) -> Vec<(f64, i64)> {
    series.steps.iter().map(|(at, value)| (at.as_secs_f64() / 3600.0, *value)).collect()
}

fn at(written: &str) -> Timestamp {
    written.parse().unwrap()
}

/// Clocks go back between the second and the third row.
const AUTUMN: &str = "time,price
30oct2022 01:00:00,.5
30oct2022 02:00:00,100.22
30oct2022 02:00:00,-99.93
30oct2022 03:00:00,98.36
30oct2022 06:00:00,
30oct2022 07:00:00,60
30oct2022 08:00:00,
";

#[test]
fn local_time_has_an_hour_that_comes_twice_and_gaps_are_told() {
    let series = of(AUTUMN, &euros("Europe/Brussels")).unwrap();
    assert_eq!(series.begin, at("2022-10-29T23:00Z"));
    let mwh = 1_000_000;
    assert_eq!(
        hours(&series),
        [(0.0, mwh / 2), (1.0, 100_220_000), (2.0, -99_930_000), (3.0, 98_360_000), (7.0, 60 * mwh)]
    );
    let facts = &series.facts;
    assert_eq!((facts.rows, facts.empty, facts.trailing), (7, 2, 1));
    assert_eq!((facts.put_back, facts.doubled.count, facts.negative, facts.rounded), (1, 0, 1, 0));
    assert_eq!((facts.step, facts.end), (Span::from_secs(3_600), at("2022-10-30T07:00Z")));
    // From 04:00 to 07:00 in Brussels: 03:00Z to 06:00Z.
    let gaps = facts.gaps;
    assert_eq!((gaps.times, gaps.missing), (Times { count: 1, line: 7 }, 3));
    assert_eq!((gaps.first, gaps.longest), (Some(at("2022-10-30T03:00Z")), Span::from_secs(10_800)));
    let told = "1 stretch without values, 3 steps of 1 h in all: the first from 2022-10-30T03:00Z to line 7, the longest of 3 h, 1 row without a value among them; the value before goes on";
    assert_eq!(facts.warnings(), [told]);

    // In UTC no hour comes twice: the first row counts.
    let series = of(AUTUMN, &euros("UTC")).unwrap();
    assert_eq!(hours(&series)[..3], [(0.0, mwh / 2), (1.0, 100_220_000), (2.0, 98_360_000)]);
    assert_eq!(series.facts.doubled, Times { count: 1, line: 4 });
    assert!(
        series.facts.warnings()[1].starts_with("1 row has a time that had been there, the first in line 4")
    );
}

#[test]
fn an_hour_that_clocks_pass_over_does_not_exist() {
    let text = "time;a;b\n2022-03-27 01:00;x;1,5\n2022-03-27 02:00;x;\n2022-03-27 03:00;x;2,5\n2022-03-27 04:00;x;3\n";
    let series = of(text, &euros("Europe/Brussels")).unwrap();
    assert_eq!(hours(&series), [(0.0, 1_500_000), (1.0, 2_500_000), (2.0, 3_000_000)]);
    assert_eq!(
        (series.facts.empty, series.facts.put_forward.count, series.facts.gaps.times.count),
        (1, 0, 0)
    );
    assert_eq!(series.facts.warnings(), [""; 0]);
    let series = of(&text.replace("02:00;x;", "02:00;x;9"), &euros("Europe/Brussels")).unwrap();
    assert_eq!((series.steps.len(), series.facts.put_forward), (3, Times { count: 1, line: 3 }));
}

#[test]
fn quarters_of_an_hour_come_twice_too() {
    let quarters = [0, 15, 30, 45];
    let hour = |hour: u32| quarters.map(|minute| format!("2022-10-30T0{hour}:{minute:02},{hour}\n")).concat();
    let text = hour(1) + &hour(2) + &hour(2) + &hour(3);
    let series = of(&text, &euros("Europe/Brussels")).unwrap();
    assert!(series.steps.iter().zip(0..).all(|((at, _), step)| *at == Span::from_secs(900 * step)));
    assert_eq!((series.steps.len(), series.facts.put_back), (16, 4));
    // A file that has it only once: the first.
    let text = hour(1) + &hour(2) + &hour(3);
    let facts = of(&text, &euros("Europe/Brussels")).unwrap().facts;
    assert_eq!((facts.put_back, facts.gaps.missing, facts.gaps.times.count), (0, 4, 1));
}

#[test]
fn rows_without_a_value_are_told_whatever_the_step() {
    let file = |values: &[&str]| {
        let row = |(hour, value): (usize, &&str)| {
            format!("2023-01-0{}T{:02}:00,{value}\n", 1 + hour / 24, hour % 24)
        };
        of(&values.iter().enumerate().map(row).collect::<String>(), &euros("UTC")).unwrap()
    };
    // Every second hour has none: the step is that of the rows.
    let alternating = file(&["1", "", "2", "", "3", "", "4", ""]);
    assert_eq!(
        (
            alternating.facts.step,
            alternating.facts.empty,
            alternating.facts.empty_inside,
            alternating.facts.trailing
        ),
        (Span::from_secs(3_600), 4, 3, 1)
    );
    assert_eq!(
        alternating.facts.warnings(),
        [
            "3 stretches without values, 3 steps of 1 h in all: the first from 2023-01-01T01:00Z to line 3, the longest of 1 h, 3 rows without a value among them; the value before goes on"
        ]
    );
    let line = alternating.facts.line(alternating.begin, &Unit::price("EUR/MWh").unwrap());
    assert!(line.starts_with("8 rows, steps of 1 h, from 2023-01-01T00:00Z to 2023-01-01T07:00Z"), "{line}");
    assert!(line.contains("3 steps without a value, 1 row without a value at the end"), "{line}");
    // One hole between two values.
    let holed = file(&["5", "NaN", "nan", "7"]);
    assert_eq!((holed.facts.step, holed.facts.gaps.missing), (Span::from_secs(3_600), 2));
    assert_eq!(
        holed.steps.iter().map(|(at, _)| *at).collect::<Vec<_>>(),
        [Span::ZERO, Span::from_secs(10_800)]
    );
    // A row without a value within a step is told, too.
    let text = "2023-01-01T00:00,1\n2023-01-01T00:30,\n2023-01-01T01:00,2\n2023-01-01T02:00,3\n2023-01-01T03:00,4\n2023-01-01T04:00,5\n";
    let facts = of(text, &euros("UTC")).unwrap().facts;
    assert_eq!((facts.step, facts.gaps.times.count), (Span::from_secs(3_600), 0));
    assert_eq!(facts.warnings(), ["1 row without a value before the last one; the value before goes on"]);
}

#[test]
fn columns_are_found_or_named() {
    let text = "\u{feff}\"Datetime (UTC)\",Country,Zone name,\"direct, in g\",life cycle\r\n2023-01-01 00:00:00,Belgium,BE,120.5,150\r\n2023-01-01 01:00:00,Belgium,BE,121,151\r\n";
    let carbon = |column: Option<&str>| SeriesOptions {
        column: column.map(str::to_owned),
        ..options(Unit::carbon("gCO2eq/kWh").unwrap(), "UTC")
    };
    assert_eq!(hours(&of(text, &carbon(None)).unwrap()), [(0.0, 120_500_000), (1.0, 121_000_000)]);
    assert_eq!(hours(&of(text, &carbon(Some("life cycle"))).unwrap())[0].1, 150_000_000);
    let error = of(text, &carbon(Some("carbon"))).unwrap_err();
    assert_eq!(error.to_string(), "`prices.csv`, line 2: there is no column `carbon`");
    assert_eq!(
        error.hint(),
        Some("the columns are `Datetime (UTC)`, `Country`, `Zone name`, `direct, in g`, `life cycle`")
    );
    // Without a header columns have numbers, and times may have their zone, or be stretches.
    let text = "# from the grid\n2023-01-01T00:00+01:00,1\n2023-01-01T00:30+01:00,2\n";
    let series = of(text, &SeriesOptions { column: Some("2".to_owned()), ..euros("+05:00") }).unwrap();
    assert_eq!((series.begin, series.facts.step), (at("2022-12-31T23:00Z"), Span::from_secs(1_800)));
    let text = "MTU (CET)\tPrice\n01.01.2022 00:00 - 01.01.2022 01:00\t1\n01.01.2022 01:00 - 01.01.2022 02:00\tn/a\n01.01.2022 02:00 - 01.01.2022 03:00\t2\n";
    let series = of(text, &euros("+01:00")).unwrap();
    assert_eq!((series.begin, series.facts.step), (at("2021-12-31T23:00Z"), Span::from_secs(3_600)));
    assert_eq!(series.facts.gaps.missing, 1);
    // The last cell of a row may be empty, and names need not be in UTF-8.
    let text = b"time\tprice in \xa4\r\n2022-01-01\t1\r\n2022-01-02\t\r\n2022-01-03\t2\r\n";
    let series = read("prices.csv", Box::new(Cursor::new(text)), &euros("UTC")).unwrap();
    assert_eq!((hours(&series), series.facts.empty_inside), (vec![(0.0, 1_000_000), (48.0, 2_000_000)], 1));
}

#[test]
fn what_is_no_series_is_refused_with_its_line() {
    for (text, says) in [
        ("", "`prices.csv`: it has no rows"),
        ("time,price\n", "`prices.csv`: it has no rows"),
        ("time,price\n2023-01-01,\n2023-01-02,\n", "`prices.csv`: it has no values"),
        ("time,price\n2023-01-01,1\n", "`prices.csv`: it has a single value"),
        ("time,price\nnoon,1\n", "line 2: no column has a time"),
        ("time,price\n2023-01-01,high\n", "line 2: no column has numbers"),
        ("time,price\n2023-01-01,1\n\n2023-01-02,high\n", "line 4: `high` is not a number"),
        ("time,price\n2023-01-01,1\nnoon,1\n", "line 3: `noon` is not a time"),
        ("time,price\n2023-01-01,1\n2023-01-02\n", "line 3: the line has 1 columns, too few"),
        (
            "time,price\n2023-01-02,1\n2023-01-01,1\n",
            "line 3: 2023-01-01T00:00Z comes after 2023-01-02T00:00Z",
        ),
        ("time,price\n2023-01-01,1e9\n", "line 2: 1e9 EUR/MWh: a price of electricity is at most 100000/kWh"),
        ("time,price\n2023-02-30,1\n", "line 2: no column has a time"),
        ("\u{1f}\u{8b}", "`prices.csv`"),
    ] {
        let error = of(text, &euros("UTC")).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
    }
    let carbon = options(Unit::carbon("g/kWh").unwrap(), "UTC");
    let error = of("time,g\n2023-01-01,-1\n", &carbon).unwrap_err();
    assert_eq!(error.to_string(), "`prices.csv`, line 2: -1 g/kWh: a carbon intensity is 0 or more");
}

proptest! {
    /// What is written in any zone reads back: the same instants, the same values, in order.
    #[test]
    fn series_read_back(
        first in 0_i64..2_000_000, lengths in proptest::collection::vec(1_u64..200, 1..60),
        values in proptest::collection::vec(-1_000_000_000_i64..1_000_000_000, 61),
        brussels: bool,
    ) {
        let begin = at("2019-01-01T00:00Z").plus(Span::from_secs(first.unsigned_abs() * 60)).unwrap();
        let mut now = Span::ZERO;
        let mut steps = vec![(now, values[0])];
        for (length, value) in lengths.iter().zip(&values[1..]) {
            now += Span::from_secs(length * 60);
            steps.push((now, *value));
        }
        let row = |(at, value): &(Span, i64)| {
            let instant = begin.plus(*at).unwrap();
            let sign = if *value < 0 { "-" } else { "" };
            let (whole, rest) = (value.abs() / 1_000_000, value.abs() % 1_000_000);
            format!("{instant},{sign}{whole}.{rest:06}\n")
        };
        let text = format!("time,price\n{}", steps.iter().map(row).collect::<String>());
        let series = of(&text, &euros(if brussels { "Europe/Brussels" } else { "UTC" })).unwrap();
        prop_assert_eq!(&series.steps, &steps);
        prop_assert_eq!(series.begin, begin);
        prop_assert_eq!(series.facts.rows, steps.len() as u64);
    }

    /// Nothing makes it panic, and what it reads is in order.
    #[test]
    fn any_text_is_read_or_refused(text in "(time,price\n)?([0-9:,;.\\- \nZ\"a-c]{0,20}\n|202[0-9]-0[1-4]-[0-3][0-9] [0-2][0-9]:00,-?[0-9]{0,3}\n){0,12}") {
        if let Ok(series) = of(&text, &euros("America/New_York")) {
            prop_assert!(series.steps.is_sorted_by(|a, b| a.0 < b.0) && series.steps[0].0.is_zero());
        }
    }
}
