//! The broker's conversation is frozen: under every policy of the broker, fixed cases leave the very records, in their order, that they
//! left when `tests/it/data/conversation.txt` was written, and the same tallies, pools and choice of a traced job.
//!
//! A fingerprint is a sum and does not see the order of records; this does. Who changes on purpose what a run gives writes the file
//! again: `GRIDEMU_BLESS=1 cargo test --test it conversation`. Its second line tells whether the cases themselves were drawn anew.

use std::fmt::Write as _;
use std::path::PathBuf;

use gridemu::broker::{PoolForecasts, Rates};
use gridemu::grid::WindowOptions;
use gridemu::local::Registry;
use gridemu::model::{
    BrokerSpec, ChurnAct, CoallocationSpec, Distribution, FailureAction, GridContext, GridSpec, InstantOrder,
    Job, JobId, JobKind, Limits, Link, Machines, Named, NetworkSpec, PartitionId, PlannedChurn, Preemption,
    ProcSet, RandomChurn, Record, Replan, Reservable, SiteSpec, Size, Speedup,
};
use gridemu::units::{Bandwidth, Bytes, Power, Price, Rate, Span, Time};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use xxhash_rust::xxh3::xxh3_64;

use crate::brokers::written;
use crate::grids::{GridCase, always_on_under};
use crate::invariants::variants;

/// Small cases, as the other tests draw them.
const SMALL: usize = 40;
/// Larger cases: only these fill queues.
const LARGE: u64 = 10;

/// Numbers that are the same for ever.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

fn secs(secs: u64) -> Span {
    Span::from_secs(secs)
}

/// Four hundred jobs on five sites that are far from each other, with too little room for them.
fn large(number: u64) -> GridCase {
    let mut draws = Draws(number);
    let mut network = NetworkSpec::uniform(Link::default());
    let names = ["easy", "fcfs", "conservative", "easy[order=sjf]", "los"];
    let mut sites = Vec::new();
    for (at, (name, millis)) in names.into_iter().zip([0_u64, 20, 150, 1_000, 3_000]).enumerate() {
        let mut site =
            SiteSpec::plain(&format!("site-{at}"), 4 + 3 * at as u32, name.parse().expect("known"));
        let part = &mut site.partitions[0];
        part.groups[0].speed = Rate::ratio(2 + draws.below(3), 3);
        part.groups[0].price = Price::from_nanos(draws.below(4) * 36_000_000);
        part.groups[0].idle = Power::from_milliwatts(draws.below(3) * 7_000);
        part.groups[0].busy = Power::from_milliwatts(21_000 + draws.below(3) * 5_000);
        if number.is_multiple_of(2) {
            part.allocation_unit = 1 + at as u32 % 2;
            let (leaves, comes) = (200 + 90 * at as u64, 420 + 70 * at as u64);
            let all = Machines { partition: PartitionId(0), which: ProcSet::range(0, 3) };
            let act = |at, act| PlannedChurn { at: Time::from_secs(at), act };
            site.churn.script = match at % 2 {
                0 => vec![act(leaves, ChurnAct::LeaveSite), act(comes, ChurnAct::JoinSite)],
                _ => vec![act(leaves, ChurnAct::Leave(all.clone())), act(comes, ChurnAct::Join(all))],
            };
            site.churn.return_queued = at != 4;
            site.churn.on_failure =
                if at % 3 == 0 { FailureAction::Requeue } else { FailureAction::Resubmit };
        }
        if number % 3 == 1 && at > 2 {
            let law = |mean| Distribution::Exponential { mean: secs(mean) };
            site.churn.random = Some(RandomChurn { up: law(700), down: law(90) });
        }
        if number % 4 == 3 {
            site.order = InstantOrder::Event;
        }
        let latency = if number == 5 { Span::ZERO } else { Span::from_micros(millis * 1_000) };
        let bandwidth = Some(Bandwidth::from_bits(1_000_000 * (1 + at as u64)));
        network.set(0, at + 1, Link { latency, bandwidth });
        sites.push(site);
    }
    let recalls = number % 5 > 2;
    let broker = BrokerSpec {
        monitoring_interval: secs(if number == 5 { 0 } else { [60, 30, 90][number as usize % 3] }),
        count_in_flight: number != 7,
        replan: if recalls {
            Replan::EveryReport
        } else {
            [Replan::Never, Replan::OnChurn][number as usize % 2]
        },
        recall_queued: number % 5 != 3,
        in_flight: [Some(2), None, Some(5)][number as usize % 3],
        overhead: Span::from_micros([0, 250_000][number as usize % 2]),
        ..BrokerSpec::new("mct".parse().expect("known"))
    };
    let mut portal: Vec<Job> = (1..=400).map(|id| job(id, &mut draws)).collect();
    portal.sort_by_key(|job| job.submit);
    let local = (0..5).map(|at| (0..5).map(|of| local(at * 10 + of, &mut draws)).collect()).collect();
    let until = Some(Time::from_secs(if recalls { 500 } else { 1_500 }));
    GridCase {
        spec: GridSpec { seed: number, sites, network, broker: Some(broker) },
        local,
        portal,
        until,
        coupled: None,
    }
}

/// A job of the grid; a few have a range of sizes, a deadline, or data.
fn job(id: u64, draws: &mut Draws) -> Job {
    // Half of them at once.
    let submit = Time::from_secs(draws.below(2) * draws.below(600));
    let procs = 1 + draws.below(4) as u32 + 8 * u32::from(draws.below(9) == 0);
    let mut job = Job::rigid(id, submit, procs, secs(5 + draws.below(60)));
    job.estimate += secs(draws.below(30));
    if draws.below(5) == 0 {
        let (min, preferred, max) = (procs, procs + 2, procs + 4);
        job.size = Size::Moldable { min, preferred, max, speedup: Speedup::Amdahl { serial_ppm: 100_000 } };
    }
    job.limits = (draws.below(3) == 0).then(|| Box::new(Limits::by(submit + secs(40 + draws.below(900)))));
    if draws.below(6) == 0 {
        let (input, output) = (Bytes::new(draws.below(900_000)), Bytes::new(draws.below(300_000)));
        job.grid = Some(Box::new(GridContext { input, output, ..GridContext::default() }));
    }
    job
}

fn local(number: u64, draws: &mut Draws) -> Job {
    let submit = Time::from_secs(number % 10 * 60);
    Job::rigid(10_000 + number, submit, 1 + draws.below(3) as u32, secs(30 + draws.below(200)))
}

/// The cases: first the small ones, then the large ones.
fn cases() -> Vec<GridCase> {
    let mut runner = TestRunner::deterministic();
    // Cases are those that were drawn before there were policies that preempt, `scojo`, `gang`, and discrepancy search.
    let later = ["scojo", "discrepancy", "dds-lxf-dynb", "gang", "adaptive-scojo"];
    let is_later = |policy: &String| {
        let named: Named = policy.parse().expect("a policy");
        later.contains(&&*named.name) || Registry::standard().build(&named).expect("a policy").1.preempts
    };
    let policies: Vec<String> = variants().into_iter().filter(|policy| !is_later(policy)).collect();
    let mut small = || always_on_under(policies.clone()).new_tree(&mut runner).expect("a case").current();
    let mut cases: Vec<GridCase> = (0..SMALL).map(|_| small()).collect();
    cases.extend((0..LARGE).map(large));
    cases
}

/// A record as it was written before jobs had a kind, which is one byte.
fn without_kind(record: &Record) -> Vec<u8> {
    let written = |record: &Record| postcard::to_stdvec(record).expect("bytes");
    let (mut bytes, mut other) = (written(record), record.clone());
    if let Record::Job(job) = &mut other {
        job.kind = if job.kind == JobKind::Rigid { JobKind::Malleable } else { JobKind::Rigid };
        let of_other = written(&other);
        bytes.remove((0..bytes.len()).find(|at| bytes[*at] != of_other[*at]).expect("it differs"));
    }
    bytes
}

/// A hash of all that a run under this policy leaves.
fn told(case: &GridCase, policy: &str) -> u32 {
    let mut case = case.clone();
    case.spec.broker.as_mut().expect("a broker").policy = policy.parse().expect("a policy");
    let mut grid = case.build();
    grid.trace_decisions(Some(case.portal.get(case.portal.len() / 2).map_or(JobId(1), |job| job.id)));
    let mut records: Vec<Record> = Vec::new();
    let result = grid.run_to(case.until, WindowOptions::default(), &mut records);
    let (broker, dispatcher) = (grid.broker().expect("a broker"), grid.dispatcher().expect("a dispatcher"));
    // As before slices and groups were told.
    records.retain(|record| !matches!(record, Record::Slice(_) | Record::Group(_)));
    let mut bytes = postcard::to_stdvec(&records.len()).expect("bytes");
    for record in &records {
        bytes.extend(without_kind(record));
        // Limits of jobs, which come last, are written as before those of tasks had one more.
        if let Record::Job(job) = record
            && job.limits.is_some()
        {
            assert_eq!(bytes.pop(), Some(0), "it is not of a task");
        }
        // Events are written as before jobs were suspended.
        if matches!(record, Record::Event(_)) {
            // ... and before reservations were made by events.
            assert_eq!(
                (bytes.pop(), bytes.pop()),
                (Some(0), Some(0)),
                "nobody is suspended, nothing is reserved"
            );
        }
    }
    // Pools are written as before the broker knew prices over time.
    let mut pools = broker.pools().to_vec();
    pools.iter_mut().for_each(|pool| pool.facts.rates = Rates::default());
    let rates = format!(", rates: {:?}", Rates::default());
    // Counts and pools are written as before anything was believed but reports.
    let (starts, runs) = (broker.tally().starts, broker.tally().runs);
    let errors = format!(", starts: {starts:?}, runs: {runs:?}");
    let forecasts = format!(", forecasts: {:?}", PoolForecasts::default());
    let rest = (
        result.map_err(|error| error.to_string()),
        grid.now(),
        broker.tally(),
        dispatcher.tally(),
        pools,
        broker.choice().map(|choice| (choice.at, choice.job, choice.pool, &choice.candidates)),
    );
    // Pools of one group of machines are written as before there were groups, and counts as before there were faults.
    let rest = format!("{rest:?}")
        .replace(", groups: []", "")
        .replace(", free_by_group: []", "")
        .replace(&rates, "")
        .replace(&errors, "")
        .replace(&forecasts, "")
        .replace(", stale: 0, lost: 0", "");
    bytes.extend(rest.bytes());
    xxh3_64(&bytes) as u32
}

#[test]
fn nothing_has_changed_in_what_runs_give() {
    let cases = cases();
    // Cases are written as before there were traces and groups of failures, faults, and costs of preemption.
    let preemption = format!(", preemption: {:?}", Preemption::default());
    let believed = format!(
        ", information: Reported, forecast_within: {:?}, run_times: Estimates, applications: []",
        BrokerSpec::FORECAST_WITHIN
    );
    let reserved = [
        format!(", coallocation: {:?}", CoallocationSpec::default()),
        format!(", reservable: {:?}", Reservable::default()),
        ", coupled: None".to_owned(),
    ];
    let cases_drawn = [
        reserved[0].as_str(),
        reserved[1].as_str(),
        reserved[2].as_str(),
        believed.as_str(),
        ", ends: None",
        ", groups: None",
        ", notice: Span(0)",
        ", traced: None",
        ", memory: None",
        preemption.as_str(),
        ", heartbeat: None, faults: []",
    ]
    .iter()
    .fold(format!("{cases:?}"), |text, new| text.replace(new, ""));
    let drawn = xxh3_64(cases_drawn.as_bytes());
    let mut now =
        format!("A hash of the run of each case, and the policy of the broker.\n{drawn:016x} cases\n");
    // Rows stay where they are: what is new comes behind them, since a row decides which of the large cases it has.
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/data/conversation.txt");
    let then = std::fs::read_to_string(&path).expect("it is there");
    let mut policies = written();
    policies.sort_by_key(|policy| {
        then.lines().position(|line| line.ends_with(&format!(" {policy}"))).unwrap_or(usize::MAX)
    });
    for (row, policy) in policies.iter().enumerate() {
        // Of the large cases every fifth, another for each policy.
        let cases = cases.iter().enumerate().filter(|(at, _)| *at < SMALL || (at + row) % 5 == 0);
        let hashes: Vec<String> = cases.map(|(_, case)| format!("{:08x}", told(case, policy))).collect();
        writeln!(now, "{} {policy}", hashes.join(" ")).expect("a string");
    }
    #[expect(clippy::disallowed_methods, reason = "whoever changes results asks for it")]
    let bless = std::env::var_os("GRIDEMU_BLESS").is_some();
    if bless {
        std::fs::write(&path, &now).expect("written");
    }
    let then = if bless { now.clone() } else { then };
    let mut wrong = Vec::new();
    for (was, is) in then.lines().zip(now.lines()) {
        let differs = |(at, (was, is)): (usize, (&str, &str))| (was != is).then_some(at);
        let which: Vec<usize> = was.split(' ').zip(is.split(' ')).enumerate().filter_map(differs).collect();
        if !which.is_empty() {
            let name = is.trim_start_matches(|c: char| c == ' ' || c.is_ascii_hexdigit());
            wrong.push(format!("...{name}: cases {which:?}"));
        }
    }
    assert!(wrong.is_empty() && then.lines().count() == now.lines().count(), "{}", wrong.join("\n"));
}
