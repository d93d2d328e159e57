//! What holds for any bytes that a reader is given, a function a reader. `fuzz/` tries them for long, [`super`] for a moment.

use std::io::{Cursor, Read};
use std::path::Path;

use gridemu::broker::outside::{Hello, NAME, Oracle, SharedOracle, outside};
use gridemu::broker::{Asked, BrokerRegistry, GridView, Pool, PoolFacts, Rates, Tasks};
use gridemu::formats::failures::FailureOptions;
use gridemu::formats::series::{SeriesOptions, Unit};
use gridemu::formats::swf::{SwfOptions, SwfSource};
use gridemu::formats::{self, batsim as batsim_format, dax as dax_format, gwf as gwf_format, wfformat as wf};
use gridemu::grid::Policies;
use gridemu::model::{Equipment, GridContext, Job, Named, PartitionId, PoolId, SiteId};
use gridemu::scenario::Scenario;
use gridemu::units::{Power, Rate, Span, Time};
use gridemu::workload::Source;

/// A target.
pub type Target = fn(&[u8]);

/// All of them, by name. Each has a folder of seeds.
pub const ALL: [(&str, Target); 10] = [
    ("swf", swf),
    ("cwf", cwf),
    ("batsim_json", batsim_json),
    ("wfformat", wfformat),
    ("dax", dax),
    ("gwf", gwf),
    ("failures", failures),
    ("series", series),
    ("scenario", scenario),
    ("answers", answers),
];

fn input(bytes: &[u8]) -> Box<dyn Read + Send> {
    Box::new(Cursor::new(bytes.to_vec()))
}

fn open(bytes: &[u8], options: &SwfOptions) -> Option<SwfSource> {
    let source = |options: SwfOptions| SwfSource::open(input(bytes), options).ok();
    if !options.cwf || options.once {
        return source(options.clone());
    }
    let commands = SwfSource::gather_commands(input(bytes), options.clone()).ok()?;
    Some(source(options.clone())?.with_commands(commands))
}

/// All jobs that are left, which are sound and in order.
fn drain(source: &mut dyn Source) -> Vec<Job> {
    let mut jobs: Vec<Job> = Vec::new();
    while let Ok(Some(job)) = source.next_job() {
        assert!(job.check().is_ok() && !job.runtime.is_zero());
        assert!(jobs.last().is_none_or(|last| last.submit <= job.submit));
        assert!(job.requested_start.is_none_or(|start| start >= job.submit));
        let commands = job.elastic.as_deref().unwrap_or_default();
        assert!(commands.iter().all(|command| command.at >= job.submit));
        assert!(commands.is_sorted_by_key(|command| command.at));
        jobs.push(job);
    }
    jobs
}

/// Jobs are in order, and reading goes on from a mark in the middle.
fn log(bytes: &[u8], options: &SwfOptions) -> Option<Vec<Job>> {
    let mut source = open(bytes, options)?;
    let jobs = drain(&mut source);
    let mut half = open(bytes, options).expect("it could be opened before");
    (0..jobs.len() / 2).for_each(|_| drop(half.next_job()));
    let mark = half.mark().expect("it can be opened again");
    let mut again = open(bytes, options).expect("it could be opened before");
    again.seek(&mark).expect("it is the same log");
    assert_eq!(drain(&mut again), jobs[jobs.len() / 2..]);
    assert_eq!((again.mark(), again.notes()), (source.mark(), source.notes()));
    Some(jobs)
}

/// A log.
pub fn swf(bytes: &[u8]) {
    log(bytes, &SwfOptions { feedback: true, partitions: true, ..SwfOptions::default() });
}

/// A log in the cloud workload format: the same jobs as of the whole log at once.
pub fn cwf(bytes: &[u8]) {
    let options = SwfOptions { cwf: true, ..SwfOptions::default() };
    let Some(jobs) = log(bytes, &options) else { return };
    let whole = open(bytes, &SwfOptions { once: true, ..options }).expect("it could be opened before");
    assert_eq!(drain(&mut whole.into_jobs().expect("it could be read before")), jobs);
}

/// A workload of Batsim.
pub fn batsim_json(bytes: &[u8]) {
    if let Ok(workload) = batsim_format::read("fuzz", input(bytes)) {
        assert!(workload.jobs.iter().all(|job| job.check().is_ok()));
    }
}

/// WfFormat, which is written and read back.
pub fn wfformat(bytes: &[u8]) {
    let _ = formats::is_wfformat(input(bytes));
    if let Ok(read) = wf::read("fuzz", input(bytes)) {
        let mut written = Vec::new();
        wf::write(&read.workflow, &mut written).expect("it is in memory");
        let again = wf::read("again", Box::new(Cursor::new(written))).expect("it was written");
        assert!(again.workflow.draft().tasks == read.workflow.draft().tasks);
    }
}

/// DAX.
pub fn dax(bytes: &[u8]) {
    if let Ok(read) = dax_format::read("fuzz", input(bytes)) {
        assert!(read.workflow.draft().build().is_ok());
    }
}

/// GWF, and whatever a workflow may be.
pub fn gwf(bytes: &[u8]) {
    let reads = [gwf_format::read("fuzz", input(bytes)), formats::read_workflows("fuzz", input(bytes))];
    for (_, workflow) in reads.into_iter().flatten().flat_map(|read| read.workflows) {
        assert!(workflow.draft().build().is_ok());
    }
}

/// A trace of failures: outages are in order and apart.
pub fn failures(bytes: &[u8]) {
    for system in [None, Some(20)] {
        let options = FailureOptions { system, ..FailureOptions::default() };
        let Ok(of) = formats::failures::read("fuzz", input(bytes), &options) else { continue };
        for node in 0..of.nodes.names().len() as u32 {
            let outages = of.nodes.of(node);
            assert!(outages.iter().all(|outage| outage.from < outage.to));
            assert!(outages.is_sorted_by(|a, b| a.to < b.from));
        }
        of.facts.line(&of.nodes, of.begin, of.end);
        of.facts.warnings();
    }
}

/// Prices over time: steps are in order and within reason.
pub fn series(bytes: &[u8]) {
    let unit = Unit::price("EUR/MWh").expect("it is a unit");
    let zone = "Europe/Brussels".parse().expect("it is a zone");
    let options = SeriesOptions { time: None, column: None, unit, zone };
    let Ok(series) = formats::series::read("fuzz", input(bytes), &options) else { return };
    assert!(series.steps[0].0.is_zero() && series.steps.is_sorted_by(|a, b| a.0 < b.0));
    assert!(series.steps.iter().all(|(_, value)| value.abs() <= 100_000_000_000_000));
    assert!(series.facts.rows >= series.steps.len() as u64);
    series.facts.warnings();
}

/// A scenario, which means the same when it is read as it is shown.
pub fn scenario(bytes: &[u8]) {
    let (Ok(text), policies) = (str::from_utf8(bytes), Policies::standard()) else { return };
    match Scenario::read(Path::new("fuzz.toml"), text, &[], &policies) {
        Ok(scenario) => {
            let again = Scenario::read(Path::new("again.toml"), &scenario.shown(), &[], &policies);
            assert_eq!(again.map(|again| again.hash), Ok(scenario.hash));
        }
        Err(error) => assert!(!error.0.is_empty() && !error.to_string().is_empty()),
    }
}

/// A program that says line after line, whatever it is asked.
struct Lines(std::vec::IntoIter<Vec<u8>>);

impl Oracle for Lines {
    fn ask(&mut self, _: u64, _: &[u8], answer: &mut Vec<u8>) -> Result<(), String> {
        answer.extend(self.0.next().ok_or("it has ended")?);
        Ok(())
    }
}

/// A program in the place of a broker policy: the first line is its greeting, the others are its answers about three jobs and two pools.
pub fn answers(bytes: &[u8]) {
    let mut lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec);
    let Ok(hello) = Hello::read(&lines.next().unwrap_or_default()) else { return };
    let lines = Lines(lines.collect::<Vec<_>>().into_iter());
    let registry = BrokerRegistry::standard().with(outside("fuzz", hello, SharedOracle::new(lines), None));
    let (mut policy, _) = registry.build(&Named::bare(NAME), 7).expect("it is in the registry");
    let mut tasks = Tasks::new(2);
    for number in 0..3 {
        let mut job = Job::rigid(number, Time::ZERO, 1, Span::from_secs(60));
        job.grid = Some(Box::new(GridContext { number, ..GridContext::default() }));
        tasks.enter(Box::new(job), Vec::new());
    }
    for second in 1..4 {
        let mut pools = [pool(0), pool(1)];
        let mut view = GridView::new(Time::from_secs(second), &mut pools, &tasks, Asked::All, true);
        policy.plan(&mut view);
        let saved = policy.save();
        policy.restore(&saved).expect("it was saved");
        assert_eq!(policy.save(), saved);
    }
}

fn pool(number: u32) -> Pool {
    Pool::unreported(PoolFacts {
        id: PoolId { site: SiteId(number), partition: PartitionId(0) },
        site: format!("site {number}"),
        partition: "default".to_owned(),
        processors: 4,
        allocation_unit: 1,
        cores: 1,
        equipment: Equipment::default(),
        speed: Rate::FULL,
        groups: Vec::new(),
        idle: Power::ZERO,
        busy: Power::ZERO,
        pue_ppm: 1_000_000,
        rates: Rates::default(),
        latency: Span::ZERO,
        bandwidth: None,
    })
}
