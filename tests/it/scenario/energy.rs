//! Prices and carbon intensities over time: the calendar, traces, days, zones.

use std::fs;
use std::path::Path;

use gridemu::grid::Policies;
use gridemu::model::PerKwh;
use gridemu::platform::{carbon_curve, electricity_curve};
use gridemu::scenario::{Override, Scenario, ScenarioError};
use gridemu::units::{Span, Time};

/// In Brussels, on the day on which summer time ends: 00:00Z to 05:00Z at 100, −40, 60 (two hours long), 20 per MWh.
const PRICES: &str = "time,DAM\n30oct2022 02:00:00,100\n30oct2022 02:00:00,-40\n30oct2022 03:00:00,60\n30oct2022 05:00:00,20\n";
const CARBON: &str = "Time,Carbon Intensity\n2022-10-29 22:00:00,250.5\n2022-10-29 22:30:00,300\n2022-10-29 23:00:00,320\n2022-11-05 00:00:00,100\n";

const SITE: &str = "calendar = '2022-10-30T01:00Z'\n[[site]]\nname = 'a'\nmachines = [{ class = 'node' }]\n";
const PRICE: &str = "electricity = { trace = 'be.csv', unit = 'EUR/MWh', zone = 'Europe/Brussels' }\n";

/// Reads a scenario in a folder with two traces.
fn read(text: &str, sets: &[&str]) -> Result<Scenario, ScenarioError> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("be.csv"), PRICES).unwrap();
    fs::write(folder.path().join("ci.csv"), CARBON).unwrap();
    read_in(folder.path(), text, sets)
}

fn read_in(folder: &Path, text: &str, sets: &[&str]) -> Result<Scenario, ScenarioError> {
    let sets: Vec<Override> = sets.iter().map(|set| Override::set(set)).collect();
    Scenario::read(&folder.join("here.toml"), text, &sets, &Policies::standard())
}

fn hour(hour: u64) -> Time {
    Time::from_secs(hour * 3_600)
}

#[test]
fn a_run_begins_on_its_traces_at_its_calendar() {
    let text = format!(
        "{SITE}{PRICE}carbon = {{ trace = 'ci.csv' }}\nprice_by_hour = '22-6=0.5'\nzone = '+05:30'\n"
    );
    let scenario = read(&text, &[]).unwrap();
    let tariff = &scenario.resolved.grid.sites[0].tariff;
    // In steps of 20 per MWh, 2 × 10¹⁰ of 10⁻¹² per kWh; the run begins in the hour of −40.
    let (unit, curve) = electricity_curve(tariff).unwrap();
    assert_eq!((unit, [0, 1, 2, 3, 9].map(|at| curve.at(hour(at)))), (20_000_000_000, [-2, 3, 3, 1, 1]));
    assert_eq!(curve.over(hour(0), hour(4)), (-2 + 3 + 3 + 1) * 3_600_000_000);
    let (unit, curve) = carbon_curve(tariff).unwrap();
    assert_eq!(i128::from(unit) * i128::from(curve.at(hour(0))), 320_000_000_000);
    assert_eq!(i128::from(unit) * i128::from(curve.at(hour(200))), 100_000_000_000);
    assert_eq!(tariff.starts_at, Span::from_secs(6 * 3_600 + 1_800));

    let lines = scenario.trace_lines();
    assert_eq!(
        lines[0],
        "`be.csv`: 4 rows, steps of 1 h, from 2022-10-30T00:00Z to 2022-10-30T05:00Z, values of -40.0 to 100.0 EUR/MWh (mean 40.0), 1 step without a value, 1 row of an hour that comes twice, 1 value below 0"
    );
    let notes = scenario.trace_notes();
    assert!(
        notes[0].starts_with("the trace `be.csv`: 1 stretch without values, 1 step of 1 h in all"),
        "{notes:?}"
    );
    assert!(
        notes[1].starts_with("the trace `ci.csv`: 1 stretch without values, 289 steps of 30 min"),
        "{notes:?}"
    );
    assert_eq!((notes.len(), scenario.warnings().len()), (2, 2));
    assert!(
        scenario.warnings()[0]
            .to_string()
            .contains("here.toml, line 5, `site.a.electricity.trace`: the trace `be.csv`")
    );
}

#[test]
fn what_is_shown_reads_back_wherever_the_trace_lies() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("be.csv"), PRICES).unwrap();
    let day = "carbon = { day = [250.5, 300, 0, 1e-3], unit = 'gCO2e/kWh' }\n";
    let scenario = read_in(folder.path(), &format!("{SITE}{PRICE}{day}"), &[]).unwrap();
    let shown = read_in(Path::new("/elsewhere"), &scenario.text, &[]).unwrap();
    assert_eq!((&shown.text, shown.hash), (&scenario.text, scenario.hash));
    assert_eq!(shown.resolved, scenario.resolved);
    assert_eq!(
        scenario.resolved.grid.sites[0].tariff.carbon,
        Some(PerKwh::Day(vec![250_500_000, 300_000_000, 0, 1_000]))
    );
    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join("be.csv"), PRICES).unwrap();
    let moved = read_in(other.path(), &format!("{SITE}{PRICE}{day}"), &[]).unwrap();
    assert_eq!((moved.hash, &moved.resolved.grid), (scenario.hash, &scenario.resolved.grid));
    // Other values are another trace under the same name.
    fs::write(other.path().join("be.csv"), PRICES.replace("60", "61")).unwrap();
    let changed = read_in(other.path(), &format!("{SITE}{PRICE}{day}"), &[]).unwrap();
    assert_eq!(changed.hash, scenario.hash);
    assert_ne!(changed.resolved.grid, scenario.resolved.grid);

    let flat = read(
        &format!("{SITE}electricity = '0.25 EUR/kWh'\ncarbon = '0.3 kg/kWh'\ncarbon_by_hour = '0-6=2'\n"),
        &[],
    )
    .unwrap();
    assert!(flat.text.contains("electricity = \"0.25 EUR/kWh\"\n"), "{}", flat.text);
    assert!(flat.text.contains("carbon = \"300 g/kWh\"\ncarbon_by_hour = \"0-6=2\"\n"), "{}", flat.text);
    assert_eq!(read(&flat.text, &[]).unwrap().resolved, flat.resolved);
}

#[test]
fn sets_reach_into_traces() {
    let text = format!("{SITE}{PRICE}");
    let tariff = |sets: &[&str]| read(&text, sets).unwrap().resolved.grid.sites[0].tariff.clone();
    assert_eq!(tariff(&["site.a.carbon=300 g/kWh"]).carbon, Some(PerKwh::Flat(300_000_000)));
    assert_eq!(tariff(&["site.a.electricity=0.2/kWh"]).electricity, Some(PerKwh::Flat(200_000_000)));
    assert_eq!(tariff(&["site.a.electricity=none"]).electricity, None);
    let origin = |tariff: &PerKwh| match tariff {
        PerKwh::Trace { origin, .. } => *origin,
        other => panic!("{other:?}"),
    };
    let later = tariff(&["calendar=2022-10-30T02:30Z"]).electricity.unwrap();
    assert_eq!(origin(&later), Span::from_secs(9_000));
    let wider =
        tariff(&["site.a.electricity.zone=-01:00", "calendar=2022-10-30T03:00Z"]).electricity.unwrap();
    assert_eq!(origin(&wider), Span::ZERO);
}

#[test]
fn what_does_not_fit_together_is_told() {
    let plain = "[[site]]\nname = 'a'\nmachines = [{ class = 'node' }]\n";
    let second = "[[site]]\nname = 'b'\nmachines = [{ class = 'node' }]\n";
    for (text, says) in [
        (
            format!("{plain}{PRICE}"),
            "`site.a.electricity.trace`: a trace needs a `calendar`, which says when the run begins, such as `calendar = \"2022-10-30T00:00Z\"`, where the trace begins",
        ),
        (
            format!("calendar = '2022-10-29T23:59Z'\n{plain}{PRICE}"),
            "the trace is of 2022-10-30T00:00Z to 2022-10-30T05:00Z, and the run begins at 2022-10-29T23:59Z",
        ),
        (
            format!("calendar = '2022-10-30T05:00Z'\n{plain}{PRICE}"),
            "and the run begins at 2022-10-30T05:00Z",
        ),
        (
            format!("calendar = '2022-10-30'\n{plain}"),
            "`calendar`: `2022-10-30` is not a date and time with its zone such as `2023-01-02T00:00Z`",
        ),
        (
            format!("calendar = 2022-10-30T00:00:00Z\n{plain}"),
            "is not a date and time with its zone in quotes",
        ),
        (
            format!("{SITE}electricity = {{ trace = 'be.csv' }}\n"),
            "`site.a.electricity`: of which unit are the prices? Add `unit = \"EUR/MWh\"`",
        ),
        (
            format!("{SITE}electricity = {{ trace = 'be.csv', unit = 'g/MW' }}\n"),
            "`site.a.electricity.unit`: `g/MW` is not a unit of prices",
        ),
        (
            format!("{SITE}electricity = {{ trace = 'be.csv', unit = '/kWh', column = 'price' }}\n"),
            "`be.csv`, line 2: there is no column `price`\nhint: the columns are `time`, `DAM`",
        ),
        (format!("{SITE}electricity = {{ trace = 'nl.csv', unit = '/kWh' }}\n"), "nl.csv` is not there"),
        (
            format!("{SITE}electricity = {{ unit = '/kWh' }}\n"),
            "give a `trace`, the name of a file, or the values of a `day`",
        ),
        (
            format!("{SITE}carbon = {{ trace = 'be.csv' }}\n"),
            "`be.csv`, line 3: -40 g/kWh: a carbon intensity is 0 or more",
        ),
        (
            format!("{SITE}carbon = {{ day = [1, 2, 3, 4, 5, 6, 7] }}\n"),
            "7 values are not steps of equal length of a day",
        ),
        (
            format!("{SITE}carbon = {{ day = [1, -2] }}\n"),
            "`site.a.carbon.day[1]`: -2 g/kWh: a carbon intensity is 0 or more",
        ),
        (
            format!("{SITE}carbon = {{ day = [1, 2], zone = 'UTC' }}\n"),
            "`zone` is about a `trace`; a `day` has none",
        ),
        (
            format!("{SITE}carbon = '-5 g/kWh'\n"),
            "`-5 g/kWh` is negative; a carbon intensity must be 0 or more",
        ),
        (format!("{SITE}carbon = '300'\n"), "`300` is not a carbon intensity"),
        (
            format!("{SITE}carbon_by_hour = '0-6=2'\n"),
            "`site.a.carbon_by_hour`: the factors need a carbon intensity; add `carbon = \"300 g/kWh\"`",
        ),
        (
            format!("{SITE}{PRICE}electricity_by_hour = '0-6=2'\n"),
            "`electricity` has its values over time already",
        ),
        (
            format!("{SITE}price_by_hour = '0-6=2'\nzone = '+01:00'\nstarts_at = '3 h'\n"),
            "`zone` and `starts_at` both say the time of day",
        ),
        (format!("{plain}price_by_hour = '0-6=2'\nzone = '+01:00'\n"), "a zone needs a `calendar`"),
        (
            format!("{SITE}price_by_hour = '0-6=2'\nzone = 'Paris'\n"),
            "`Paris` is not a time zone such as `UTC`, `+01:00` or `Europe/Brussels`",
        ),
        (
            format!(
                "{SITE}electricity = '0.3 USD/kWh'\n{second}electricity = {{ day = [1], unit = 'EUR/MWh' }}\n"
            ),
            "line 9, `site.b.electricity.unit`: prices are in EUR here and in USD at site `a`",
        ),
    ] {
        let error = read(&text, &[]).map(|scenario| scenario.line()).unwrap_err().to_string();
        assert!(error.contains(says), "{error}\nis not\n{says}");
    }
}

#[test]
fn what_has_no_effect_is_told() {
    let warnings = |text: &str| {
        let scenario = read(text, &[]).unwrap();
        scenario.warnings().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let told = warnings(SITE);
    assert!(
        told.contains("line 1, `calendar`: it has no effect: no site has a trace, or prices by the hour"),
        "{told}"
    );
    let told = warnings(&format!("{SITE}zone = '+01:00'\n"));
    assert!(told.contains("`site.a.zone`: the zone has no effect"), "{told}");
    assert_eq!(warnings(&format!("{SITE}carbon = {{ day = [1, 2] }}\nzone = 'Asia/Tokyo'\n")), "");
    let told = warnings(&format!("until = '10 d'\n{SITE}{PRICE}"));
    assert!(told.contains("the trace ends at 2022-10-30T05:00Z, and the run may last until 2022-11-09T01:00Z: its last value goes on"), "{told}");
    let told = warnings(&format!("at_least = '241 min'\n{SITE}{PRICE}"));
    assert!(
        told.contains("2022-10-30T05:00Z, and the run is accounted at least until 2022-10-30T05:01Z"),
        "{told}"
    );
    assert!(!warnings(&format!("at_least = '4 h'\n{SITE}{PRICE}")).contains("its last value goes on"));
}
