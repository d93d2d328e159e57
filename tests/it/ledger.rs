//! The ledger of a run, computed again from its CSV files, the machines of its scenario and its traces, with other integers: energy to the nanojoule; money and carbon
//! up to what is rounded.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use proptest::prelude::*;

use crate::cli::gridemu;
use crate::validating::{judged, legal};

/// What is drawn is in milliwatts × 2²⁰.
const ONE: i128 = 1 << 20;
/// Nanojoules of a kilowatt-hour.
const KWH: i128 = 3_600_000_000_000_000;

/// A class of machines. Powers are those of a machine in milliwatts.
#[derive(Clone)]
struct Class {
    name: String,
    partition: String,
    count: u32,
    cores: u32,
    /// By the share of busy cores, at equal steps.
    powers: Vec<i128>,
    /// Asleep, waking, falling.
    sleep: Option<[i128; 3]>,
}

/// Values over time: each from its instant on, in microseconds of the run; `unit` of them are one nanogram, or 10⁻⁹ of the currency, per kilowatt-hour.
struct Curve {
    steps: Vec<(i128, i128)>,
    unit: i128,
}

struct Site {
    name: String,
    pue_percent: i128,
    classes: Vec<Class>,
    /// What they are from a fork on.
    forked: Option<Vec<Class>>,
    price: Option<Curve>,
    carbon: Option<Curve>,
}

/// A scenario, and what the test knows of it.
struct Case {
    text: String,
    sites: Vec<Site>,
    /// Of a gigabyte: nanojoules and 10⁻⁹ of the currency; and micrograms per kilowatt-hour.
    data: Option<[i128; 3]>,
    /// The minute of a fork, and what it changes.
    fork: Option<(u64, Vec<String>)>,
}

/// What a case may have beside.
#[derive(Clone, Copy, PartialEq)]
enum Also {
    Nothing,
    /// Elastic commands, reservations, slow machines, levels, `order = "event"`.
    Changes,
    /// That, and a fork to other powers and delays.
    Fork,
}

fn watts(power: i128) -> String {
    format!("\"{}.{:03} W\"", power / 1_000, power % 1_000)
}

/// The entry of a class in the list of machines; with a level at which it runs, what it draws at full speed is more.
fn entry(class: &Class, [wake, fall]: [u64; 2], together: bool, level: bool) -> String {
    let Class { name, count, cores, powers, sleep, .. } = class;
    let mut table = format!("{{ class = \"{name}\", count = {count}, cores = {cores}");
    if together {
        table += ", partition = \"both\"";
    }
    match powers[..] {
        [idle, busy] if level => {
            let (idle, busy, full) = (watts(idle), watts(busy), watts(busy + 7_000));
            write!(table, ", idle = {idle}, busy = {full}, frequency_share = 1, levels = [{{ frequency = 0.5, busy = {busy} }}]").unwrap();
        }
        [idle, busy] => write!(table, ", idle = {}, busy = {}", watts(idle), watts(busy)).unwrap(),
        _ => {
            let points: Vec<String> = powers.iter().map(|power| watts(*power)).collect();
            write!(table, ", load_power = [{}]", points.join(", ")).unwrap();
        }
    }
    if let Some([asleep, waking, falling]) = sleep.map(|powers| powers.map(watts)) {
        write!(table, ", sleep = {{ power = {asleep}, wake = \"{wake} s\", waking = {waking}, fall = \"{fall} s\", falling = {falling} }}").unwrap();
    }
    table + " }"
}

/// Small draws.
struct Draws(u64);

impl Draws {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn of<T: Copy>(&mut self, among: &[T]) -> T {
        among[self.below(among.len() as u64) as usize]
    }
}

/// Prices from 1 January 2023 on, an hour each, in cents per megawatt-hour, some of them below zero; or intensities in milligrams per kilowatt-hour.
fn trace(folder: &Path, name: &str, least: i128, most: u64, draws: &mut Draws) -> Vec<(i128, i128)> {
    let (mut text, mut steps) = ("time,value\n".to_owned(), Vec::new());
    for hour in 0..24 * 30_i128 {
        let value = least + i128::from(draws.below(most));
        let (sign, whole, part) = (if value < 0 { "-" } else { "" }, value.abs() / 100, value.abs() % 100);
        let (day, of_day) = (1 + hour / 24, hour % 24);
        writeln!(text, "2023-01-{day:02}T{of_day:02}:00Z,{sign}{whole}.{part:02}").unwrap();
        // The run begins at half past three on the second day.
        steps.push(((hour * 60 - 27 * 60 - 30) * 60_000_000, value));
    }
    std::fs::write(folder.join(name), text).unwrap();
    steps
}

fn case(number: u64, also: Also, folder: &Path) -> Case {
    let mut draws = Draws(number);
    // Draws of their own, so that a case without them stays what it is.
    let mut more = Draws(number ^ 0x5eed);
    let (mut events, mut sets) = (String::new(), Vec::new());
    let mut text =
        format!("seed = {}\ncalendar = \"2023-01-02T03:30Z\"\nuntil = \"3 d\"\n\n", number % 1000 + 1);
    if number.is_multiple_of(4) {
        text = text.replacen("until", "at_least", 1);
    }
    let mut sites = Vec::new();
    for at in 0..2 + draws.below(2) {
        let name = format!("site-{at}");
        let mut policy = draws.of(&["fcfs", "easy", "conservative", "los", "easy"]);
        let mut power = draws.of(&[
            "always-on",
            "sleep-idle[after=5 min,reserve=1]",
            "sleep-break-even",
            "sleep-idle[after=0 s]",
        ]);
        let (elastic, level, by_event) = match also {
            Also::Nothing => (false, false, false),
            _ => (more.below(2) == 0, more.below(3) == 0, more.below(4) == 0),
        };
        if elastic {
            policy = more.of(&["easy-e", "los-e"]);
        }
        if level {
            power = more.of(&["lowest-level[slowdown=2.5]", "lowest-level[slowdown=2.5,after=2 min]"]);
        }
        let pue_percent = 100 + i128::from(draws.below(60));
        writeln!(
            text,
            "[[site]]\nname = \"{name}\"\npolicy = \"{policy}\"\npower_policy = \"{power}\"\npue = {}\n",
            pue_percent as f64 / 100.0
        )
        .unwrap();
        let price = (draws.below(4) > 0).then(|| {
            let (file, least) = (format!("price-{at}.csv"), draws.of(&[-4_000, -24_000]));
            writeln!(text, "electricity = {{ trace = \"{file}\", unit = \"EUR/MWh\" }}").unwrap();
            Curve { steps: trace(folder, &file, least, 30_000, &mut draws), unit: 10_000 }
        });
        let carbon = (draws.below(4) > 0).then(|| {
            let file = format!("carbon-{at}.csv");
            writeln!(text, "carbon = {{ trace = \"{file}\" }}").unwrap();
            Curve { steps: trace(folder, &file, 0, 60_000, &mut draws), unit: 10_000_000 }
        });
        if draws.below(3) == 0 {
            text += "churn = { up = \"exponential[mean=9 h]\", down = \"exponential[mean=1 h]\" }\n";
        }
        let cap = (draws.below(3) == 0).then(|| 85 + draws.below(20));
        if let Some(percent) = cap.filter(|_| also != Also::Fork) {
            writeln!(text, "power_cap = \"{percent} %\"").unwrap();
        }
        if by_event && !elastic {
            text += "order = \"event\"\n";
        }
        if draws.below(4) == 0 {
            text += "placement = \"least-power\"\n";
        }
        writeln!(text, "workload = {{ poisson = {{ jobs = {}, every = \"{} min\", size = \"1..4\", runtime = \"exponential[mean=40 min]\" }}, estimates = \"factor:2\"{} }}", 30 + draws.below(60), 4 + draws.below(30), if elastic { ", malleable = true" } else { "" }).unwrap();
        let together = draws.below(3) == 0;
        let cores = 1 + draws.below(4) as u32;
        let (mut classes, mut tables) = (Vec::new(), Vec::new());
        for at in 0..1 + draws.below(2) {
            let name = format!("c{at}");
            let partition = if together { "both".to_owned() } else { name.clone() };
            let count = 6 + draws.below(5) as u32;
            let idle = i128::from(20 + draws.below(60)) * 1_000 * i128::from(cores);
            let mut powers = vec![idle];
            let steps = draws.of(&[1, 1, 4, 10]);
            for _ in 0..steps {
                powers.push(
                    powers[powers.len() - 1]
                        + i128::from(1 + draws.below(if steps > 1 { 9_000 } else { 90 }))
                            * i128::from(cores)
                            * if steps > 1 { 1 } else { 1_000 },
                );
            }
            let sleep = (draws.below(2) == 0).then(|| {
                [
                    i128::from(draws.below(9)),
                    i128::from(20 + draws.below(90)),
                    i128::from(20 + draws.below(40)),
                ]
                .map(|watts| watts * 1_000)
            });
            let delays = sleep.map_or([0; 2], |_| [draws.below(300), draws.below(20)]);
            let class = Class { name, partition, count, cores, powers, sleep };
            tables.push(entry(&class, delays, together, level));
            classes.push(class);
        }
        writeln!(text, "machines = [{}]\n", tables.join(",\n  ")).unwrap();
        if also != Also::Nothing {
            if policy.starts_with("easy") || policy == "conservative" {
                for _ in 0..more.below(3) {
                    let from = more.below(1_500);
                    let to = from + 1 + more.below(200);
                    writeln!(
                        text,
                        "[[site.reservation]]\nprocs = {}\nfrom = \"{from} min\"\nto = \"{to} min\"\n",
                        1 + more.below(4)
                    )
                    .unwrap();
                }
            }
            for _ in 0..more.below(4) {
                let class = &classes[more.below(classes.len() as u64) as usize];
                let (at, machine) = (more.below(1_500), more.below(u64::from(class.count)));
                let factor = more.of(&["0.5", "0.25", "1"]);
                writeln!(
                    events,
                    "\n[[event]]\nat = \"{at} min\"\nslow = \"{name}/{}/{machine}\"\nfactor = {factor}",
                    class.partition
                )
                .unwrap();
            }
            for _ in 0..if elastic { 40 } else { 0 } {
                let (at, job) = (more.below(1_500), 1 + more.below(60));
                let (how, by) = (
                    more.of(&["extend", "reduce"]),
                    more.of(&["procs = 1", "procs = 2", "time = \"300 s\""]),
                );
                writeln!(events, "\n[[event]]\nat = \"{at} min\"\n{how} = \"{name}\"\njob = {job}\n{by}")
                    .unwrap();
            }
        }
        // Every class draws something else, so that each partition is charged anew; some have a power by load from then on, or no more.
        let forked = (also == Also::Fork).then(|| {
            let mut forked = classes.clone();
            for class in &mut forked {
                class.powers.iter_mut().for_each(|power| *power += i128::from(1 + more.below(9)) * 12_000);
                class.powers.sort_unstable();
                if more.below(2) == 0 && !level {
                    let (idle, busy) = (class.powers[0], class.powers[class.powers.len() - 1]);
                    class.powers = more
                        .of(&[&[0, 4][..], &[0, 3, 4], &[0, 1, 1, 3, 4]])
                        .iter()
                        .map(|part| idle + (busy - idle) * part / 4)
                        .collect();
                }
                class.sleep = class.sleep.map(|powers| powers.map(|power| power + 1_000));
            }
            let entries: Vec<String> = forked
                .iter()
                .map(|class| entry(class, [more.below(600), more.below(60)], together, level))
                .collect();
            sets.push(format!("site.{name}.machines=[{}]", entries.join(", ")));
            forked
        });
        sites.push(Site { name, pue_percent, classes, forked, price, carbon });
    }
    text += "[broker]\npolicy = \"mct\"\n\n[[workload]]\npoisson = { jobs = 60, every = \"11 min\", size = \"1/2/4\", runtime = \"exponential[mean=30 min]\" }\n";
    let data = (draws.below(2) == 0).then(|| {
        let [energy, price, carbon] = [1 + draws.below(90_000), draws.below(300), draws.below(900)];
        write!(
            text,
            "\n[[workload]]\nworkflow = \"montage[tasks=60]\"\n\n[network]\nlatency = \"0 s\"\nbandwidth = \"50 Mbit/s\"\nenergy = \"{energy}.7 J/GB\"\nprice = \"0.{price:03}/GB\"\ncarbon = \"{carbon}.5 g/kWh\"\n"
        )
        .unwrap();
        let of = i128::from;
        [of(energy) * 1_000_000_000 + 700_000_000, of(price) * 1_000_000, of(carbon) * 1_000_000 + 500_000]
    });
    let fork = (also == Also::Fork).then(|| (60 + more.below(500), sets));
    Case { text: text + &events, sites, data, fork }
}

type Row = BTreeMap<String, String>;

fn rows(folder: &Path, name: &str) -> Vec<Row> {
    let mut reader = csv::Reader::from_path(folder.join(name)).unwrap();
    reader.deserialize().collect::<Result<_, _>>().unwrap()
}

/// A decimal number in units of 10⁻ⁿ.
fn decimal(text: &str, places: usize) -> i128 {
    let (sign, text) = text.strip_prefix('-').map_or((1, text), |text| (-1, text));
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    assert!(part.len() <= places, "{text}");
    sign * format!("{whole}{part:0<places$}").parse::<i128>().unwrap()
}

/// `0-3 8` as numbers.
fn processors(text: &str) -> Vec<u32> {
    let number = |text: &str| text.parse::<u32>().unwrap();
    let range = |part: &str| match part.split_once('-') {
        Some((from, to)) => (number(from), number(to)),
        None => (number(part), number(part)),
    };
    text.split_whitespace().map(range).flat_map(|(from, to)| from..=to).collect()
}

impl Curve {
    /// The integral between two instants.
    fn over(&self, from: i128, to: i128) -> i128 {
        let ends = self.steps.iter().skip(1).map(|(next, _)| *next).chain([i128::MAX]);
        let part =
            |((begin, value), end): (&(i128, i128), i128)| (end.min(to) - (*begin).max(from)).max(0) * value;
        self.steps.iter().zip(ends).map(part).sum()
    }
}

/// What was drawn: energy in 2⁻²⁰ nanojoules, times the price, and times the intensity.
#[derive(Clone, Copy, Default)]
struct Drawn([i128; 3]);

impl Drawn {
    fn add(&mut self, draw: i128, weights: [i128; 3]) {
        self.0.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += draw * weight);
    }
}

/// Energy in nanojoules, money in 10⁻⁹, carbon in nanograms; the last two rounded to the nearest.
#[derive(Clone, Copy, Default, Debug)]
struct Amounts([i128; 3]);

impl Site {
    fn weights(&self, from: i128, to: i128) -> [i128; 3] {
        let over = |curve: &Option<Curve>| curve.as_ref().map_or(0, |curve| curve.over(from, to));
        [to - from, over(&self.price), over(&self.carbon)]
    }

    fn amounts(&self, Drawn([energy, priced, emitted]): Drawn, percent: i128) -> Amounts {
        let of = |sum: i128, curve: &Option<Curve>| {
            let unit = curve.as_ref().map_or(0, |curve| curve.unit);
            let parts = KWH * 100;
            // In two steps, since the product may be long.
            let whole = sum.div_euclid(ONE);
            (whole.div_euclid(parts) * percent * unit)
                + (whole.rem_euclid(parts) * percent * unit + parts / 2).div_euclid(parts)
        };
        let energy = energy.div_euclid(ONE);
        Amounts([(energy * percent + 50) / 100, of(priced, &self.price), of(emitted, &self.carbon)])
    }
}

impl Class {
    /// What a machine draws beyond idle with so many busy cores.
    fn beyond(&self, busy: u32) -> i128 {
        let (steps, cores, busy) = (self.powers.len() as i128 - 1, i128::from(self.cores), i128::from(busy));
        let (step, part) = ((busy * steps / cores) as usize, busy * steps % cores);
        let above = self.powers.get(step + 1).map_or(0, |next| next - self.powers[step]);
        (self.powers[step] - self.powers[0]) * ONE + above * ONE * part / cores
    }
}

/// The lines of the ledger of a site, and how often money and carbon were rounded for each.
type Lines = BTreeMap<&'static str, (Amounts, i128)>;

/// Those of a site that has these machines between two instants.
fn integrate(site: &Site, classes: &[Class], folder: &Path, (start, horizon): (i128, i128)) -> Lines {
    let here = |row: &&Row| row["site"] == site.name;
    let (segments, machines, jobs) =
        (rows(folder, "segments.csv"), rows(folder, "machines.csv"), rows(folder, "jobs.csv"));
    // Each site numbers the jobs of its own users.
    let ours = |row: &&Row| row["origin"] == "grid" || row["site"] == site.name;
    let last: BTreeMap<(&str, &str), (&str, &str)> = jobs
        .iter()
        .filter(ours)
        .map(|row| ((&*row["origin"], &*row["job"]), (&*row["outcome"], &*row["attempts"])))
        .collect();
    let mut meter = Drawn::default();
    let mut standing = BTreeMap::from(["idle", "asleep", "transitions"].map(|line| (line, Drawn::default())));
    let mut attempts: BTreeMap<(String, String, String, String), Drawn> = BTreeMap::new();
    let mut first: BTreeMap<&str, u32> = BTreeMap::new();
    for class in classes {
        let begin = first.entry(&class.partition).or_default();
        for machine in *begin..*begin + class.count {
            let procs: BTreeSet<u32> = (machine * class.cores..(machine + 1) * class.cores).collect();
            // The states of its cores over time, and who held them.
            let mut states: Vec<(i128, Vec<u32>, &str)> = machines
                .iter()
                .filter(here)
                .filter(|row| row["partition"] == class.partition)
                .map(|row| (row, processors(&row["processors"])))
                .filter(|(_, on)| on.iter().any(|proc| procs.contains(proc)))
                .map(|(row, on)| (decimal(&row["time"], 6), on, &*row["state"]))
                .collect();
            states.retain(|(time, ..)| *time < horizon);
            let held: Vec<(i128, i128, i128, &Row)> = segments
                .iter()
                .filter(here)
                .filter(|row| row["partition"] == class.partition)
                .map(|row| {
                    let count =
                        processors(&row["processors"]).iter().filter(|proc| procs.contains(proc)).count();
                    (decimal(&row["from"], 6), decimal(&row["to"], 6), count as i128, row)
                })
                .filter(|(_, _, count, _)| *count > 0)
                .collect();
            let mut cuts: BTreeSet<i128> = states.iter().map(|(time, ..)| *time).collect();
            cuts.extend(held.iter().flat_map(|(from, to, ..)| [*from, *to]));
            cuts.extend([start, horizon]);
            cuts.retain(|cut| (start..=horizon).contains(cut));
            let mut now: BTreeMap<u32, &str> = procs.iter().map(|proc| (*proc, "idle")).collect();
            let (cuts, mut next) = (cuts.into_iter().collect::<Vec<_>>(), 0);
            for pair in cuts.windows(2) {
                let (from, to) = (pair[0], pair[1]);
                while let Some((_, on, state)) = states.get(next).filter(|(time, ..)| *time <= from) {
                    on.iter()
                        .filter(|proc| procs.contains(proc))
                        .for_each(|proc| _ = now.insert(*proc, state));
                    next += 1;
                }
                let weights = site.weights(from, to);
                let count = |wanted: &str| now.values().filter(|state| **state == wanted).count() as u32;
                if count("down") > 0 {
                    assert_eq!(count("down"), class.cores);
                    continue;
                }
                let mut draw = class.powers[0] * ONE;
                if let Some([asleep, waking, falling]) = class.sleep
                    && let Some((line, power)) = [
                        ("asleep", "asleep", asleep),
                        ("waking", "transitions", waking),
                        ("falling", "transitions", falling),
                    ]
                    .into_iter()
                    .find_map(|(state, line, power)| (count(state) > 0).then_some((line, power)))
                {
                    standing.get_mut(line).unwrap().add(power * ONE, weights);
                    meter.add(power * ONE, weights);
                    assert!(held.iter().all(|(begin, end, ..)| *end <= from || to <= *begin));
                    continue;
                }
                let busy = count("busy");
                draw += class.beyond(busy);
                meter.add(draw, weights);
                for (begin, end, count, row) in &held {
                    if *begin <= from && to <= *end {
                        let key = ["origin", "job", "attempt", "partition"]
                            .map(|column| row[column].clone())
                            .into();
                        let idle = class.powers[0] * ONE / i128::from(class.cores);
                        let beyond = class.beyond(busy) / i128::from(busy);
                        attempts.entry(key).or_default().add((idle + beyond) * count, weights);
                    }
                }
            }
        }
        *begin += class.count;
    }
    let mut lines = Lines::new();
    let mut add = |line, Amounts(amounts): Amounts, times: i128| {
        let (sums, roundings) = lines.entry(line).or_default();
        sums.0.iter_mut().zip(amounts).for_each(|(sum, amount)| *sum += times * amount);
        *roundings += 1;
    };
    add("overhead", Amounts::default(), 1);
    let meter_read = site.amounts(meter, 100);
    add("idle", meter_read, 1);
    for ((origin, job, attempt, _), drawn) in &attempts {
        let (outcome, count) = last[&(origin.as_str(), job.as_str())];
        let line = if outcome == "completed" && count == attempt { "useful" } else { "wasted" };
        let amounts = site.amounts(*drawn, 100);
        add(line, amounts, 1);
        add("idle", amounts, -1);
    }
    for line in ["asleep", "transitions"] {
        let amounts = site.amounts(standing[line], 100);
        add(line, amounts, 1);
        add("idle", amounts, -1);
    }
    let total = site.amounts(meter, site.pue_percent);
    add("total", total, 1);
    add("cooling", total, 1);
    add("cooling", meter_read, -1);
    lines
}

/// The line of moved data: of all copies that have arrived.
fn moved(folder: &Path, [energy, price, carbon]: [i128; 3]) -> [i128; 3] {
    let arrived = rows(folder, "transfers.csv").into_iter().filter(|row| row["outcome"] == "arrived");
    let bytes: i128 = arrived.map(|row| decimal(&row["bytes"], 0)).sum();
    let giga = 1_000_000_000;
    [bytes * energy / giga, bytes * price / giga, bytes * energy * carbon / (giga / 1_000) / KWH]
}

/// The rows of the whole grid are the sums of those of the sites, with a line of moved data if it takes anything.
fn check_grid(ledger: &[Row], data: Option<[i128; 3]>) {
    let columns = ["energy_j", "electricity", "carbon_g"];
    let amounts =
        |row: &Row| columns.map(|column| if row[column].is_empty() { 0 } else { decimal(&row[column], 9) });
    let mut sums: BTreeMap<&str, [i128; 3]> = BTreeMap::new();
    let mut add = |purpose, amounts: [i128; 3]| {
        let sum = sums.entry(purpose).or_default();
        sum.iter_mut().zip(amounts).for_each(|(sum, amount)| *sum += amount);
    };
    for row in ledger.iter().filter(|row| row["site"] != "grid") {
        add(&row["purpose"], amounts(row));
    }
    if let Some(data) = data {
        add("data", data);
        add("total", data);
    }
    let all: BTreeMap<&str, [i128; 3]> = ledger
        .iter()
        .filter(|row| row["site"] == "grid")
        .map(|row| (&*row["purpose"], amounts(row)))
        .collect();
    assert_eq!(all, sums);
}

fn check(number: u64, also: Also) -> [bool; 4] {
    let folder = tempfile::tempdir().unwrap();
    let case = case(number, also, folder.path());
    let (file, mut out) = (folder.path().join("case.toml"), folder.path().join("out"));
    std::fs::write(&file, &case.text).unwrap();
    let mut args =
        vec!["run", file.to_str().unwrap(), "--out", out.to_str().unwrap(), "--set", "output.machines=true"];
    let (store, futures) = (folder.path().join("store"), folder.path().join("futures"));
    if case.fork.is_some() {
        args.extend(["--checkpoint", store.to_str().unwrap()]);
    }
    let mut text = case.text.clone();
    for (problem, first, lines) in [
        // The cap is too low for these machines.
        ("leave no power to jobs", "power_cap", 1),
        // The site, or the cap, has fewer processors.
        ("the reservations request", "[[site.reservation]]", 4),
    ] {
        if !out.exists() && gridemu(&args).err.contains(problem) {
            let mut left = 0;
            let stays = |line: &&str| {
                left = if line.starts_with(first) { lines } else { left };
                let stays = left == 0;
                left = u32::saturating_sub(left, 1);
                stays
            };
            text = text.lines().filter(stays).collect::<Vec<_>>().join("\n");
            std::fs::write(&file, &text).unwrap();
        }
    }
    if !out.exists() {
        gridemu(&args).well();
    }
    let mut forked_at = None;
    if let Some((minute, sets)) = &case.fork {
        let at = format!("{minute} min");
        let mut args = vec!["fork", store.to_str().unwrap(), "--at", &at, "--out", futures.to_str().unwrap()];
        sets.iter().for_each(|set| args.extend(["--set", set]));
        let ran = gridemu(&args);
        assert_eq!(ran.code, Some(0), "{}\n{}\n{sets:?}", ran.err, case.text);
        out = futures.join("changed");
        forked_at = Some(i128::from(*minute) * 60_000_000);
    }
    legal(&out);
    let summary: serde_json::Value =
        serde_json::from_slice(&std::fs::read(out.join("summary.json")).unwrap()).unwrap();
    let ledger = rows(&out, "ledger.csv");
    let data = case.data.map(|rates| moved(&out, rates));
    check_grid(&ledger, data);
    let mut slept = [false; 4];
    slept[3] = data.is_some_and(|data| data.iter().all(|amount| *amount > 0));
    for (site, of) in case.sites.iter().zip(summary["sites"].as_array().unwrap()) {
        let processors: u32 = site.classes.iter().map(|class| class.count * class.cores).sum();
        let horizon =
            (of["usage"]["nominal"].as_f64().unwrap() / f64::from(processors) * 1e6).round() as i128;
        let mut expected = Lines::new();
        let begin = forked_at.unwrap_or(0);
        let before = forked_at.map(|at| (&site.classes, (0, at)));
        let after = (site.forked.as_ref().unwrap_or(&site.classes), (begin, horizon));
        for (classes, stretch) in before.into_iter().chain([after]) {
            for (line, (Amounts(amounts), roundings)) in integrate(site, classes, &out, stretch) {
                let (sums, all) = expected.entry(line).or_default();
                sums.0.iter_mut().zip(amounts).for_each(|(sum, amount)| *sum += amount);
                *all += roundings;
            }
        }
        let names: String = site.classes.iter().map(|class| format!("{} ", class.name)).collect();
        let found: Vec<&Row> = ledger.iter().filter(|row| row["site"] == site.name).collect();
        let [mut sum, mut total] = [[0; 3]; 2];
        for row in &found {
            let columns = [
                ("energy_j", true),
                ("electricity", site.price.is_some()),
                ("carbon_g", site.carbon.is_some()),
            ];
            let (Amounts(wanted), roundings) = expected.get(&*row["purpose"]).copied().unwrap_or_default();
            for (at, (column, known)) in columns.into_iter().enumerate() {
                assert_eq!(!row[column].is_empty(), known, "{row:?}");
                let found = if known { decimal(&row[column], 9) } else { 0 };
                // Each partition is rounded by itself; of energy only what the facility draws.
                let partitions = site.classes.len() as i128 * if forked_at.is_some() { 2 } else { 1 };
                let facility = row["purpose"] == "cooling" || row["purpose"] == "total";
                let slack = if at > 0 {
                    roundings + 2 * partitions
                } else if facility {
                    partitions
                } else {
                    0
                };
                let about = format!("case {number}: {} {} ({names})", row["site"], row["purpose"]);
                assert!(
                    (found - wanted[at]).abs() <= slack,
                    "{about}: {column} is {found}, not {}\n{}",
                    wanted[at],
                    case.text
                );
                *(if row["purpose"] == "total" { &mut total } else { &mut sum }).get_mut(at).unwrap() +=
                    found;
            }
            slept[0] |= row["purpose"] == "asleep" && row["energy_j"] != "0";
            slept[1] |= row["purpose"] == "wasted" && row["energy_j"] != "0";
            slept[2] |= row["electricity"].starts_with('-');
        }
        assert_eq!((found.len(), sum), (8, total), "the lines are the total");
    }
    slept
}

proptest! {
    #![proptest_config(crate::support::cases(6))]

    #[test]
    fn the_ledger_is_the_integral_of_the_files_and_traces(number in any::<u64>()) {
        check(number, Also::Nothing);
    }

    #[test]
    fn also_where_jobs_change_their_size_and_machines_their_speed(number in any::<u64>()) {
        check(number, Also::Changes);
    }

    #[test]
    fn also_after_a_fork(number in any::<u64>()) {
        check(number, Also::Fork);
    }
}

#[test]
fn machines_that_sleep_attempts_that_fail_and_prices_below_zero_are_in_the_ledger() {
    let seen: Vec<[bool; 4]> = (1..5).map(|number| check(number, Also::Nothing)).collect();
    assert!((0..4).all(|what| seen.iter().any(|seen| seen[what])), "{seen:?}");
}

/// Twenty jobs whose input of 2 GB and output of 500 MB move between portal and site: 50 GB.
#[test]
fn the_data_of_jobs_is_a_line_of_the_ledger() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("data.toml"), folder.path().join("out"));
    let text = |keys: &str| {
        format!(
            "[[site]]\nname = 'delft'\nmachines = [{{ class = 'node', count = 8 }}]\n[broker]\n[network]\nlatency = '1 s'\nbandwidth = '1 Gbit/s'\n{keys}\n[[workload]]\npoisson = {{ jobs = 20, every = '1 min', size = '1', runtime = '5 min' }}\ninput = '2 GB'\noutput = '500 MB'\n"
        )
    };
    let run = |keys: &str| {
        std::fs::write(&file, text(keys)).unwrap();
        gridemu(&["run", file.to_str().unwrap(), "--out", out.to_str().unwrap()]).well();
    };
    run("energy = '5 J/GB'\nprice = '0.09/GB'\ncarbon = '300 g/kWh'");
    // 250 J × 300 g / 3.6 MJ.
    let found = std::fs::read_to_string(out.join("ledger.csv")).unwrap();
    let lines: Vec<&str> = found.lines().filter(|line| !line.contains(",0,0,0")).collect();
    assert_eq!(
        lines,
        [
            "site,purpose,energy_j,electricity,carbon_g",
            "grid,data,250,4.5,0.020833333",
            "grid,total,250,4.5,0.020833333"
        ]
    );
    let summary: serde_json::Value =
        serde_json::from_slice(&std::fs::read(out.join("summary.json")).unwrap()).unwrap();
    assert_eq!(
        (&summary["ledger"]["electricity"]["data"], &summary["energy"]["facility_kwh"]),
        (&4.5.into(), &0.0.into())
    );
    run("");
    assert!(!out.join("ledger.csv").exists());
}

/// The checker finds lines that are not the total, and jobs that drew something else than their segments.
#[test]
fn the_checker_knows_the_ledger() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("two.toml"), folder.path().join("out"));
    let machines = "machines = [{ class = 'node', count = 2, idle = '90 W', busy = '190 W' }]";
    let jobs = "poisson = { jobs = 5, every = '1 min', size = '1', runtime = '5 min' }";
    let text = format!(
        "[[site]]\nname = 'delft'\n{machines}\n[[site]]\nname = 'leiden'\n{machines}\n[broker]\npolicy = 'round-robin'\n[[workload]]\n{jobs}\n"
    );
    std::fs::write(&file, text).unwrap();
    gridemu(&["run", file.to_str().unwrap(), "--out", out.to_str().unwrap()]).well();
    legal(&out);
    let written = std::fs::read_to_string(out.join("ledger.csv")).unwrap();
    let line = |name: &str| written.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    let (useful, wasted) = (line("delft,useful"), line("delft,wasted"));
    let mistakes = [
        (line("leiden,total"), "leiden,total,1,,".to_owned(), "the lines of leiden are not its total"),
        (useful.clone(), useful.replace("useful", "idle-too"), "jobs of delft drew 0 nJ, and their segments"),
        (
            "grid,overhead".to_owned(),
            "grid,more".to_owned(),
            "`overhead` of the grid is not the sum of its sites",
        ),
        (wasted, "delft,wasted,x,,".to_owned(), "has a cell that is no number"),
    ];
    for (from, to, told) in mistakes {
        std::fs::write(out.join("ledger.csv"), written.replace(&from, &to)).unwrap();
        let found = judged(&out);
        assert!(
            found[0].verdict.first().is_some_and(|found| found.message.contains(told)),
            "{told}: {found:?}"
        );
    }
}
