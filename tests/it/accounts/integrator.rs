//! Adds up what the CSV files of a run and its scenario say, and knows nothing of the program.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gridemu::units::Span;

/// What was charged to jobs.
#[derive(Clone, Copy, Default)]
pub(super) struct Charged {
    pub(super) kwh: f64,
    pub(super) money: f64,
}

/// Processor time is in processor-seconds, energy in kWh.
#[derive(Default)]
pub(super) struct Site {
    pub(super) name: String,
    pub(super) pue: f64,
    pub(super) nominal: f64,
    pub(super) held: f64,
    pub(super) useful: f64,
    pub(super) down: f64,
    pub(super) reserved: f64,
    pub(super) jobs_kwh: f64,
    pub(super) idle_kwh: f64,
    pub(super) electricity: Option<f64>,
    pub(super) cost: f64,
    pub(super) wasted_by_machines: f64,
}

pub(super) struct Sums {
    pub(super) sites: Vec<Site>,
    pub(super) local: Charged,
    pub(super) grid: Charged,
}

type Row = BTreeMap<String, String>;

fn rows(folder: &Path, name: &str) -> Vec<Row> {
    let mut reader = csv::Reader::from_path(folder.join(name)).unwrap();
    reader.deserialize().collect::<Result<_, _>>().unwrap()
}

fn number(row: &Row, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column}: {row:?}"))
}

/// `25 W` or `60/MWh` as watts, or money per kWh or core-hour.
fn amount(value: Option<&toml::Value>, cores: f64) -> Option<f64> {
    let text = value?.as_str()?;
    let (units, number) = [
        (1_000.0, text.strip_suffix(" kW")),
        (cores, text.strip_suffix(" W/core")),
        (1.0, text.strip_suffix(" W")),
        (1.0, text.strip_suffix("/kWh")),
        (1e-3, text.strip_suffix("/MWh")),
        (1.0, text.strip_suffix("/core-h")),
    ]
    .into_iter()
    .find_map(|(units, number)| Some((units, number?)))?;
    Some(units * number.parse::<f64>().unwrap())
}

/// `9 h` as seconds.
fn seconds(text: &str) -> f64 {
    let (number, unit) = text.split_once(' ').unwrap();
    let units = [("s", 1.0), ("min", 60.0), ("h", 3_600.0), ("d", 86_400.0)];
    number.parse::<f64>().unwrap() * units.iter().find(|of| of.0 == unit).unwrap().1
}

/// Factors by the hour of the day at the site.
struct Rates {
    factors: [f64; 24],
    starts_at: f64,
}

impl Rates {
    fn of(site: &toml::Value, key: &str) -> Self {
        let mut factors = [1.0; 24];
        let text = site.get(key).and_then(toml::Value::as_str).unwrap_or("flat");
        for part in text.split(',').filter(|part| *part != "flat") {
            let (hours, factor) = part.split_once('=').unwrap();
            let (from, to) = hours.split_once('-').unwrap();
            let [from, to] = [from, to].map(|hour| hour.parse::<usize>().unwrap());
            for hour in from..if to > from { to } else { to + 24 } {
                factors[hour % 24] = factor.parse().unwrap();
            }
        }
        let starts_at = site.get("starts_at").and_then(toml::Value::as_str).map_or(0.0, seconds);
        Self { factors, starts_at }
    }

    /// The integral of the factor.
    fn over(&self, from: f64, to: f64) -> f64 {
        let (mut at, end, mut sum) = (from + self.starts_at, to + self.starts_at, 0.0);
        while at < end {
            let hour = (at / 3_600.0).floor();
            let next = ((hour + 1.0) * 3_600.0).min(end);
            sum += self.factors[hour as usize % 24] * (next - at);
            at = next;
        }
        sum
    }
}

/// `0-3 7` as numbers.
fn processors(text: &str) -> impl Iterator<Item = u32> + '_ {
    text.split(' ').filter(|part| !part.is_empty()).flat_map(|part| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        from.parse().unwrap()..=to.parse().unwrap()
    })
}

/// The time of a processor in a state, as (from, to).
fn spells(changes: &[Row], site: &str, part: &str, state: &str, end: f64) -> Vec<(f64, f64)> {
    let mut states: BTreeMap<u32, (f64, String)> = BTreeMap::new();
    let mut found = Vec::new();
    for row in changes.iter().filter(|row| row["site"] == site && row["partition"] == part) {
        let time = number(row, "time");
        for processor in processors(&row["processors"]) {
            if let Some((since, was)) = states.insert(processor, (time, row["state"].clone()))
                && was == state
            {
                found.push((since, time));
            }
        }
    }
    let open = states.into_values().filter(|(_, was)| was == state).map(|(since, _)| (since, end));
    found.extend(open.filter(|(since, end)| since < end));
    found
}

/// Adds up a run of several sites, or under a broker: all accounts are from 0 to the first full minute after the last end, or to
/// the earliest end of the run if that is later.
pub(super) fn integrate(folder: &Path) -> Sums {
    let scenario: toml::Table =
        std::fs::read_to_string(folder.join("scenario.toml")).unwrap().parse().unwrap();
    let [jobs, segments, changes, events] =
        ["jobs.csv", "segments.csv", "machines.csv", "events.csv"].map(|name| rows(folder, name));
    let last = jobs.iter().map(|job| number(job, "end")).fold(0.0, f64::max);
    // The last word of a job is at the broker a latency of 20 ms later.
    let word = if scenario.contains_key("broker") { 0.02 } else { 0.0 };
    let earliest = scenario.get("at_least").map_or(0.0, |written| {
        let span: Span = written.as_str().unwrap().parse().unwrap();
        (span.as_secs_f64() / 60.0).ceil() * 60.0
    });
    let end = (((last + word) / 60.0).floor() * 60.0 + 60.0).max(earliest);
    let completed: BTreeSet<[&str; 3]> = jobs
        .iter()
        .filter(|job| job["outcome"] == "completed")
        .map(|job| [&job["site"], &job["origin"], &job["job"]].map(String::as_str))
        .collect();
    let attempts: BTreeMap<[&str; 3], &str> = jobs
        .iter()
        .map(|job| {
            ([&job["site"], &job["origin"], &job["job"]].map(String::as_str), job["attempts"].as_str())
        })
        .collect();
    // Jobs count by their submission, and what happens to machines by its time.
    let window = scenario.get("measure").and_then(|measure| measure.as_table());
    let [from, to] = ["from", "to"].map(|key| window.and_then(|of| of.get(key)?.as_str()).map(seconds));
    let counts = |time: f64| from.is_none_or(|from| from <= time) && to.is_none_or(|to| time < to);
    let mut sites = Vec::new();
    for site in scenario["site"].as_array().unwrap() {
        let name = site["name"].as_str().unwrap();
        let (prices, tariff) = (Rates::of(site, "price_by_hour"), Rates::of(site, "electricity_by_hour"));
        let electricity = amount(site.get("electricity"), 1.0);
        let float = |key: &str, or: f64| {
            let value = site.get(key);
            value
                .and_then(|value| value.as_float().or(value.as_integer().map(|whole| whole as f64)))
                .unwrap_or(or)
        };
        let mut of = Site { name: name.to_owned(), pue: float("pue", 1.0), ..Site::default() };
        let mut paid = 0.0;
        for part in site["machines"].as_array().unwrap() {
            let class = part["class"].as_str().unwrap();
            let [count, cores] = ["count", "cores"].map(|key| part[key].as_integer().unwrap() as f64);
            let [idle, busy] =
                ["idle", "busy"].map(|key| amount(part.get(key), cores).unwrap_or(0.0) / cores);
            let price = amount(part.get("price"), 1.0).unwrap_or(0.0);
            let capacity = count * cores;
            let (mut held, mut at_rates) = (0.0, 0.0);
            for segment in segments.iter().filter(|row| row["site"] == name && row["partition"] == class) {
                let [from, to, procs, share] =
                    ["from", "to", "procs", "share"].map(|column| number(segment, column));
                let share = (share * 1_048_576.0).round() / 1_048_576.0;
                assert_eq!(processors(&segment["processors"]).count() as f64, procs);
                held += procs * share * (to - from);
                at_rates += procs * share * tariff.over(from, to);
                of.cost += procs * share * prices.over(from, to) * price / 3_600.0;
                let job = [name, &segment["origin"], &segment["job"]];
                if completed.contains(&job) && attempts[&job] == segment["attempt"] {
                    of.useful += procs * share * (to - from);
                }
            }
            let down = spells(&changes, name, class, "down", end);
            let sum = |spells: &[(f64, f64)]| spells.iter().map(|(from, to)| to - from).sum::<f64>();
            let down_at_rates: f64 = down.iter().map(|(from, to)| tariff.over(*from, *to)).sum();
            of.nominal += capacity * end;
            of.held += held;
            of.down += sum(&down);
            of.reserved += sum(&spells(&changes, name, class, "reserved", end));
            of.jobs_kwh += held * busy / 3.6e6;
            of.idle_kwh += (capacity * end - sum(&down) - held) * idle / 3.6e6;
            let idle_at_rates = capacity * tariff.over(0.0, end) - down_at_rates - at_rates;
            paid += (at_rates * busy + idle_at_rates * idle) / 3.6e6;
        }
        of.electricity = electricity.map(|price| price * of.pue * paid);
        of.wasted_by_machines = events
            .iter()
            .filter(|row| row["site"] == name && ["requeued", "returned"].contains(&row["event"].as_str()))
            .filter(|row| !row["wasted_proc_s"].is_empty() && counts(number(row, "time")))
            .map(|row| number(row, "wasted_proc_s"))
            .sum();
        sites.push(of);
    }
    let charged = |origin: &str| {
        let of_origin = jobs.iter().filter(|job| job["origin"] == origin && counts(number(job, "submit")));
        of_origin.fold(Charged::default(), |sum, job| Charged {
            kwh: sum.kwh + number(job, "energy_j") / 3.6e6,
            money: sum.money + number(job, "cost"),
        })
    };
    Sums { sites, local: charged("local"), grid: charged("grid") }
}
