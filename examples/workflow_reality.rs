//! Predicts the makespans of published runs of workflows, and compares them with what was recorded.
//!
//! `GRIDEMU_DATA=/path/to/data cargo run --release --example workflow_reality [APPLICATION...] [job-overhead]`
//!
//! Each run of `wfcommons/v1.5` is emulated on a site with as many processors as its machines had cores, all of one speed. What its
//! workflow system took is put into parameters, which are fitted to the *other* runs of the application:
//!
//! ```text
//!             engine_delay        bandwidth           overhead
//!             seconds a level     seconds a GB        seconds a task
//! portal --> [ task is ready ] --> [ its files ] --> [ dispatch, one after the other ] --> [ processors, first come first served ]
//! ```
//!
//! A workflow system plans what is ready when it polls or negotiates next: each level waits for that. It sends every task its files, and
//! takes back what it writes, over the link of one submit host. That host dispatches tasks one by one. With `job-overhead`, a task has its
//! overhead on its processor instead. Names of applications print these only, with each run.

#![expect(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::{Cursor, Read};
use std::path::Path;

use flate2::read::GzDecoder;
use gridemu::formats::wfformat;
use gridemu::grid::{Grid, Policies};
use gridemu::model::{
    BrokerSpec, GridSpec, Link, NetworkSpec, Record, SiteSpec, WorkflowFile, WorkflowOverheads, WorkflowSpec,
};
use gridemu::units::{Bandwidth, Bytes, Span, Time};
use gridemu::workflow::{Costs, Workflow, WorkflowSource};
use rayon::prelude::*;
use serde_json::Value;

/// A run as it was recorded.
struct Run {
    /// The name of its file.
    name: String,
    application: String,
    workflow: WorkflowSpec,
    /// Cores by machine.
    machines: BTreeMap<String, u64>,
    /// When it began, as `20200401054215`, and in seconds of the Unix epoch.
    began: (String, u64),
    makespan: f64,
    /// The larger of its critical path and its work over its cores.
    bound: f64,
}

impl Run {
    fn read(path: &Path) -> Result<Self, Box<dyn Error>> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().replace(".json.gz", "");
        let mut text = String::new();
        GzDecoder::new(File::open(path)?).read_to_string(&mut text)?;
        let written: Value = serde_json::from_str(&text)?;
        let execution = &written["workflow"]["execution"];
        let cores = |machine: &Value| {
            let name = machine["nodeName"].as_str().unwrap_or_default().to_owned();
            (name, machine["cpu"]["coreCount"].as_u64().unwrap_or(1))
        };
        let machines: BTreeMap<_, _> =
            execution["machines"].as_array().into_iter().flatten().map(cores).collect();
        let workflow = wfformat::read(&name, Box::new(Cursor::new(text)))?.workflow;
        let costs = Costs::at_reference(&workflow, None);
        let work: f64 = workflow.tasks().map(|task| task.runtime.as_secs_f64() * f64::from(task.procs)).sum();
        let bound = workflow.critical_path(&costs).0.max(work / machines.values().sum::<u64>() as f64);
        let began = began(execution["executedAt"].as_str().unwrap_or_default())?;
        let makespan = execution["makespanInSeconds"].as_f64().ok_or("a run without a makespan")?;
        let application =
            if name.contains("dirt02") { "Nextflow" } else { name.split('-').next().unwrap_or_default() };
        let application = application.to_owned();
        Ok(Self { name, application, workflow: with_own_files(&workflow), machines, began, makespan, bound })
    }

    fn end(&self) -> f64 {
        self.began.1 as f64 + self.makespan
    }
}

/// Three ways to write an instant are in use: `20200401T054215+0000`, `2020-12-27T18:23:37+00:00` and `03-23-21T06:04:36Z`.
fn began(written: &str) -> Result<(String, u64), Box<dyn Error>> {
    let local = written.split(['+', 'Z']).next().unwrap_or_default();
    let digits: String = local.chars().filter(char::is_ascii_digit).take(14).collect();
    let digits = if digits.len() == 12 {
        format!("20{}{}{}", &digits[4..6], &digits[..4], &digits[6..])
    } else {
        digits
    };
    if digits.len() != 14 {
        return Err(format!("`{written}` is no instant").into());
    }
    let [year, rest] = [&digits[..4], &digits[4..]];
    let pairs: Vec<&str> = (0..5).map(|at| &rest[2 * at..2 * at + 2]).collect();
    let at = format!("{year}-{}-{}T{}:{}:{}Z", pairs[0], pairs[1], pairs[2], pairs[3], pairs[4]);
    let at = humantime::parse_rfc3339(&at)?.duration_since(std::time::UNIX_EPOCH)?.as_secs();
    Ok((digits, at))
}

/// The workflow in which no two tasks share a file: each has one, of the size of all that it reads and writes.
fn with_own_files(workflow: &Workflow) -> WorkflowSpec {
    let mut spec = workflow.spec();
    let size = |file: &u32| spec.files[*file as usize].size.count();
    let bytes = spec.tasks.iter().map(|task| task.inputs.iter().chain(&task.outputs).map(size).sum());
    let files = bytes
        .zip(&spec.tasks)
        .map(|(bytes, task)| WorkflowFile { name: task.name.clone(), size: Bytes::new(bytes) });
    spec.files = files.collect();
    for (at, task) in (0..).zip(&mut spec.tasks) {
        (task.inputs, task.outputs) = (vec![at], Vec::new());
    }
    spec
}

/// Seconds a level, a task (one after the other), a task (on its processor), and a GB.
type Parameters = [f64; 4];

/// The makespans of runs that are submitted to one grid as they began.
fn emulated(runs: &[&Run], [level, dispatch, own, gigabyte]: Parameters) -> Result<Vec<f64>, Box<dyn Error>> {
    let span = |secs: f64| Span::from_secs_f64(secs).ok_or("no length of time");
    let machines: BTreeMap<_, _> = runs.iter().flat_map(|run| &run.machines).collect();
    let cores = u32::try_from(machines.values().copied().sum::<u64>())?;
    let bandwidth = (gigabyte > 0.0).then(|| Bandwidth::from_bits((8e9 / gigabyte).ceil() as u64));
    let broker = BrokerSpec::new("round-robin".parse()?);
    let spec = GridSpec {
        seed: 1,
        sites: vec![SiteSpec {
            record_segments: false,
            ..SiteSpec::plain("machines", cores, "fcfs".parse()?)
        }],
        network: NetworkSpec::uniform(Link { latency: Span::ZERO, bandwidth }),
        // With one site there is nothing to report.
        broker: Some(BrokerSpec {
            overhead: span(dispatch)?,
            monitoring_interval: Span::from_secs(86_400),
            ..broker
        }),
    };
    let first = runs.iter().map(|run| run.began.1).min().unwrap_or_default();
    let submitted =
        runs.iter().map(|run| (Time::from_secs(run.began.1 - first), run.workflow.clone())).collect();
    let overheads = WorkflowOverheads { engine_delay: span(level)?, job_overhead: span(own)? };
    let source = WorkflowSource::given("runs", submitted, 1, "portal").with_overheads(overheads);
    let mut records = Vec::new();
    Grid::build(&spec, Vec::new(), Some(Box::new(source)), &Policies::standard())?.run(&mut records)?;
    let mut ended = BTreeMap::new();
    for record in &records {
        if let Record::Workflow(workflow) = record {
            ended.insert(workflow.workflow, workflow.makespan().as_secs_f64());
        }
    }
    Ok(ended.into_values().collect())
}

/// A place on the lattice of parameters: 0 is none, the others are 10 % apart.
type Place = [usize; 4];

const LEAST: Parameters = [1.0, 0.05, 0.05, 0.01];
const MOST: Place = [80, 100, 100, 165];
/// Where a fit looks first.
const COARSE: [&[usize]; 4] =
    [&[0, 25, 50], &[0, 20, 40, 60, 80], &[0, 20, 40, 60, 80], &[0, 50, 75, 100, 125, 150]];

fn parameters(place: Place) -> Parameters {
    [0, 1, 2, 3]
        .map(|at| if place[at] == 0 { 0.0 } else { LEAST[at] * libm::pow(1.1, (place[at] - 1) as f64) })
}

/// Runs of one application, and what was predicted of them so far.
struct Fits<'a> {
    runs: &'a [&'a Run],
    /// Which parameters there are.
    free: &'a [usize],
    /// Whether the runs share a grid, as they did.
    together: bool,
    known: BTreeMap<Place, Vec<f64>>,
}

impl Fits<'_> {
    /// The makespans that these parameters give.
    fn predicted(&mut self, place: Place) -> &[f64] {
        let (runs, parameters) = (self.runs, parameters(place));
        let together = self.together;
        self.known.entry(place).or_insert_with(|| {
            let emulated = |runs: &[&Run]| emulated(runs, parameters).expect("a grid of one site");
            if together { emulated(runs) } else { runs.par_iter().flat_map(|run| emulated(&[run])).collect() }
        })
    }

    /// The mean of |ln(predicted / recorded)| over all runs but one.
    fn cost(&mut self, place: Place, without: Option<usize>) -> f64 {
        let runs = self.runs;
        let pairs = self.predicted(place).iter().zip(runs).enumerate();
        let errors = pairs
            .filter(|(at, _)| Some(*at) != without)
            .map(|(_, (predicted, run))| libm::log(predicted / run.makespan).abs());
        errors.sum::<f64>() / (runs.len() - usize::from(without.is_some())) as f64
    }

    /// The best parameters for all runs but one: the best of a coarse lattice, then steps along one parameter, or from one to another, of
    /// 8, 4, 2 and 1 places.
    fn fitted(&mut self, without: Option<usize>) -> Place {
        let mut starts = vec![Place::default()];
        let mut directions = Vec::new();
        for at in self.free.iter().copied() {
            let with = |start: &Place, place| {
                std::array::from_fn(|each| if each == at { place } else { start[each] })
            };
            starts = starts
                .iter()
                .flat_map(|start| COARSE[at].iter().map(move |place| with(start, *place)))
                .collect();
            let along = |at: usize| std::array::from_fn(|each| isize::from(each == at));
            let ahead: [isize; 4] = along(at);
            directions.extend([ahead, ahead.map(|step| -step)]);
            for other in self.free.iter().copied().filter(|other| *other != at) {
                let less: [isize; 4] = along(other);
                directions.push(std::array::from_fn(|each| ahead[each] - less[each]));
            }
        }
        let costs = starts.into_iter().map(|start| (self.cost(start, without), start));
        let (mut cost, mut best) = costs.min_by(|one, other| one.0.total_cmp(&other.0)).expect("a start");
        let mut step = 8;
        while step > 0 {
            let before = cost;
            for direction in &directions {
                let next = std::array::from_fn(|at| {
                    best[at].saturating_add_signed(direction[at] * step).min(MOST[at])
                });
                let now = self.cost(next, without);
                if now < cost {
                    (cost, best) = (now, next);
                }
            }
            if cost == before {
                step /= 2;
            }
        }
        best
    }

    /// Each makespan as it is predicted from the other runs.
    fn left_out(&mut self) -> Vec<f64> {
        (0..self.runs.len())
            .map(|at| {
                let place = self.fitted(Some(at));
                self.predicted(place)[at]
            })
            .collect()
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 { values[half] } else { f64::midpoint(values[half - 1], values[half]) }
}

/// Kendall's τ: the share of pairs that are in the same order in both, less that of those in the opposite order.
fn tau(values: &[f64], runs: &[&Run]) -> f64 {
    let pairs = (0..runs.len()).flat_map(|one| (0..one).map(move |other| (one, other)));
    let signs = pairs.map(|(one, other)| {
        let order = |one: f64, other: f64| one.total_cmp(&other) as i32;
        f64::from(order(values[one], values[other]) * order(runs[one].makespan, runs[other].makespan))
    });
    let signs: Vec<f64> = signs.collect();
    signs.iter().sum::<f64>() / signs.len() as f64
}

/// The errors that are made if a makespan is taken to be the median of the other runs of that very workflow.
fn of_repeats(runs: &[&Run]) -> Vec<f64> {
    let workflow = |run: &Run| run.name.rsplit_once('-').map(|(workflow, _)| workflow.to_owned());
    let error = |run: &&Run| {
        let same = runs.iter().filter(|other| other.name != run.name && workflow(other) == workflow(run));
        let others: Vec<f64> = same.map(|other| other.makespan).collect();
        (!others.is_empty()).then(|| (median(others) / run.makespan - 1.0).abs())
    };
    runs.iter().filter_map(error).collect()
}

/// Prints a line of the table; returns the median error.
fn line(title: &str, runs: &[&Run], free: &[usize], together: bool, each: bool) -> f64 {
    let mut fits = Fits { runs, free, together, known: BTreeMap::new() };
    let place = fits.fitted(None);
    let found: Vec<String> = free.iter().map(|at| format!("{:.3}", parameters(place)[*at])).collect();
    let predicted = fits.left_out();
    let errors: Vec<f64> =
        predicted.iter().zip(runs).map(|(predicted, run)| (predicted / run.makespan - 1.0).abs()).collect();
    let worst = errors.iter().copied().fold(0.0, f64::max);
    let (bounds, mut ratios): (Vec<f64>, Vec<f64>) =
        runs.iter().map(|run| (run.bound, run.makespan / run.bound)).unzip();
    ratios.sort_by(f64::total_cmp);
    let repeats = of_repeats(runs);
    let repeats = if repeats.is_empty() { "–".to_owned() } else { format!("{:.3}", median(repeats)) };
    println!(
        "| {title} | {} | {} | {:.3} | {worst:.2} | {:.2} | {:.1} ({:.1} to {:.1}) | {:.2} | {repeats} |",
        runs.len(),
        found.join(" | "),
        median(errors.clone()),
        tau(&predicted, runs),
        median(ratios.clone()),
        ratios[0],
        ratios[ratios.len() - 1],
        tau(&bounds, runs),
    );
    if each {
        for ((run, predicted), fitted) in runs.iter().zip(&predicted).zip(fits.predicted(place)) {
            println!(
                "    {}: recorded {:.0} s, predicted {predicted:.0} s, fitted {fitted:.0} s, bound {:.0} s",
                run.name, run.makespan, run.bound
            );
        }
    }
    median(errors)
}

#[expect(
    clippy::disallowed_methods,
    reason = "where a machine keeps its archive is its environment's business"
)]
fn main() -> Result<(), Box<dyn Error>> {
    let data =
        std::env::var_os("GRIDEMU_DATA").ok_or("set GRIDEMU_DATA to the folder that has `wfcommons/v1.5`")?;
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let own = wanted.iter().any(|argument| argument == "job-overhead");
    let wanted: Vec<String> = wanted.into_iter().filter(|argument| argument != "job-overhead").collect();
    let mut runs = Vec::new();
    for entry in Path::new(&data).join("wfcommons/v1.5").read_dir()? {
        runs.push(Run::read(&entry?.path())?);
    }
    runs.sort_by(|one, other| (&one.began, &one.name).cmp(&(&other.began, &other.name)));
    let mut applications = BTreeMap::<&str, Vec<&Run>>::new();
    for run in runs.iter().filter(|run| wanted.is_empty() || wanted.contains(&run.application)) {
        applications.entry(&run.application).or_default().push(run);
    }
    if applications.is_empty() {
        return Err(format!("no run of {} among {}", wanted.join(", "), runs.len()).into());
    }
    let each = !wanted.is_empty();
    let end = "median error | worst | τ | recorded over bound | its τ | repeats |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|";
    if let Some(runs) = applications.remove("Nextflow") {
        println!("| workflow system | runs | s a task | {end}");
        line("Nextflow", &runs, &[2], false, each);
        println!();
    }
    let free = [0, if own { 2 } else { 1 }, 3];
    println!("| application | runs | s a level | s a task | s a GB | {end}--:|--:|");
    let mut near = 0;
    for (application, runs) in &applications {
        near += usize::from(line(application, runs, &free, false, each) <= 0.15);
    }
    println!("\nAt most 0.15 in the median: {near} of {} applications.\n", applications.len());
    println!("| part, or as they were run | runs | s a level | s a task | s a GB | {end}--:|--:|");
    for (application, runs) in &applications {
        let mut months = BTreeMap::<&str, Vec<&Run>>::new();
        runs.iter().for_each(|run| months.entry(&run.began.0[..6]).or_default().push(run));
        if months.len() > 1 && months.values().all(|runs| runs.len() >= 4) {
            for (month, runs) in months {
                line(&format!("{application} in {}-{}", &month[..4], &month[4..]), &runs, &free, false, each);
            }
        }
        let overlaps = |run: &&&Run| {
            let meets =
                |other: &&Run| (other.began.1 as f64) < run.end() && (run.began.1 as f64) < other.end();
            runs.iter().filter(|other| meets(other)).count() > 1
        };
        if runs.iter().filter(overlaps).count() * 2 > runs.len() {
            line(&format!("{application} on one grid"), runs, &free, true, each);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use gridemu::workflow::shapes::ShapeSpec;

    use super::*;

    fn run(number: u64, shape: &str, makespan: f64) -> Run {
        let workflow = shape.parse::<ShapeSpec>().unwrap().workflow(number).unwrap();
        let machines = BTreeMap::from([("one".to_owned(), 2), ("two".to_owned(), 2)]);
        Run {
            name: format!("{shape}-{number}"),
            application: "test".to_owned(),
            workflow: with_own_files(&workflow),
            machines,
            began: (String::new(), 100 * number),
            makespan,
            bound: 1.0,
        }
    }

    /// Two tasks of 60 s, 10 MB read by the second and 10 MB written by each.
    #[test]
    fn each_parameter_takes_its_time() {
        let runs = [run(1, "pipeline[tasks=2]", 0.0)];
        let makespan = |parameters| emulated(&[&runs[0]], parameters).unwrap()[0];
        assert_eq!(makespan([0.0; 4]), 120.0);
        assert_eq!(makespan([5.0, 0.0, 0.0, 0.0]), 130.0);
        assert_eq!(makespan([0.0, 2.0, 0.0, 0.0]), 124.0);
        assert_eq!(makespan([0.0, 0.0, 3.0, 0.0]), 126.0);
        assert_eq!(makespan([0.0, 0.0, 0.0, 1_000.0]), 150.0);
        // Dispatches end at 2 s and 4 s, then at 64 s and 66 s.
        let both = [&runs[0], &run(1, "pipeline[tasks=2]", 0.0)];
        assert_eq!(emulated(&both, [0.0, 2.0, 0.0, 0.0]).unwrap(), [124.0, 126.0]);
    }

    #[test]
    fn a_fit_finds_what_made_the_makespans() {
        let shapes = [
            "fork-join[tasks=30,width=9]",
            "pipeline[tasks=7,data=900 MB]",
            "layered[tasks=20]",
            "fork-join[tasks=90]",
        ];
        let mut runs: Vec<Run> = (0..).zip(shapes).map(|(number, shape)| run(number, shape, 0.0)).collect();
        let made = [20, 30, 0, 70];
        for run in &mut runs {
            run.makespan = emulated(&[run], parameters(made)).unwrap()[0];
        }
        let runs: Vec<&Run> = runs.iter().collect();
        let mut fits = Fits { runs: &runs, free: &[0, 1, 3], together: false, known: BTreeMap::new() };
        let found = fits.fitted(None);
        let cost = fits.cost(found, None);
        assert!(cost < 0.01, "{cost} with {:?} instead of {:?}", parameters(found), parameters(made));
    }

    #[test]
    fn order_and_instants() {
        let runs: Vec<Run> = [1.0, 2.0, 3.0].map(|makespan| run(1, "pipeline", makespan)).into();
        let runs: Vec<&Run> = runs.iter().collect();
        assert_eq!(tau(&[10.0, 20.0, 30.0], &runs), 1.0);
        assert_eq!(tau(&[30.0, 20.0, 10.0], &runs), -1.0);
        assert_eq!(tau(&[20.0, 10.0, 30.0], &runs), 1.0 / 3.0);
        for written in ["20201227T182337+0000", "2020-12-27T18:23:37+00:00", "12-27-20T18:23:37Z"] {
            assert_eq!(began(written).unwrap(), ("20201227182337".to_owned(), 1_609_093_417));
        }
        assert!(began("yesterday").is_err());
    }
}
