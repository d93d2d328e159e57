//! The data of workflows: list scheduling with files as twin, and cases by hand.
//!
//! The twin shares no code with the grid: it has no messages, no network and no table of the broker, only queues of one processor, a set of places a
//! file, and a list of copies. At an instant copies arrive first, in the order in which they were asked for; then workflows are submitted and tasks end,
//! and what they write appears; then what has become ready is placed, in order, each where it is pinned.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use gridemu::broker::{
    Answer, BrokerAbilities, BrokerPolicy, BrokerPolicyInfo, GridView, Planned, Reason, TaskProgress,
};
use gridemu::grid::{Grid, Policies};
use gridemu::model::{
    BrokerSpec, ChurnAct, EventKind, EventRecord, GridSpec, Link, LostData, Machines, NetworkSpec, Outcome,
    PartitionId, PlannedChurn, ProcSet, Record, RejectReason, Sharing, SiteId, SiteSpec, StorageSpec,
    TaskRecord, TransferMode, TransferOutcome, TransferRecord, WorkflowFile, WorkflowSettings, WorkflowSpec,
};
use gridemu::units::{Bandwidth, Bytes, Rate, Span, Time};
use gridemu::workflow::WorkflowSource;
use proptest::prelude::*;

use crate::cli::gridemu;
use crate::enactment::{secs, tasks, workflow, workflows};
use crate::grid::{jobs_of, plain};
use crate::support::{cases, through_bytes};

/// Each job goes to the pool that its number says, when it is ready; or, if it plans ahead, at the submission of its workflow, in the order of
/// its number.
#[derive(Debug)]
struct Pinned {
    pins: Vec<usize>,
    ahead: bool,
}

impl Pinned {
    fn info(pins: &[usize], ahead: bool) -> BrokerPolicyInfo {
        let pins = pins.to_vec();
        let abilities = BrokerAbilities { batch: true, workflows: ahead, ..BrokerAbilities::PLAIN };
        let policy = move || Pinned { pins: pins.clone(), ahead };
        BrokerPolicyInfo::new("pinned", move |_, _| Ok((Box::new(policy()), abilities)))
            .doc("Each task has its pool.")
    }
}

impl BrokerPolicy for Pinned {
    fn plan(&mut self, view: &mut GridView<'_>) -> Answer {
        if !self.ahead {
            for task in view.ready() {
                view.assign(task, self.pins[task.job().0 as usize - 1], Reason::Policy);
            }
            return view.done();
        }
        for workflow in view.workflows().to_vec() {
            for at in 0..workflow.tasks() {
                if view.progress(workflow, at) == TaskProgress::Undecided {
                    let task = view.task(workflow.id(at)).expect("it waits");
                    let (pool, start) = (self.pins[task.job().0 as usize - 1], Time::from_secs(task.job().0));
                    view.plan(task, Planned { pool, start, end: start, reason: Reason::Policy });
                }
            }
        }
        view.done()
    }
}

fn built(spec: &GridSpec, (pins, ahead): (&[usize], bool), submitted: &[(u64, WorkflowSpec)]) -> Grid {
    let given = submitted.iter().map(|(at, workflow)| (Time::from_micros(*at), workflow.clone())).collect();
    let source = WorkflowSource::given("test", given, 1, "portal");
    let policies = Policies::standard().with_broker(Pinned::info(pins, ahead));
    Grid::build(spec, Vec::new(), Some(Box::new(source)), &policies).expect("a grid")
}

fn run(spec: &GridSpec, pins: (&[usize], bool), submitted: &[(u64, WorkflowSpec)]) -> Vec<Record> {
    let mut records = Vec::new();
    built(spec, pins, submitted).run(&mut records).expect("it runs");
    records
}

fn transfers(records: &[Record]) -> Vec<&TransferRecord> {
    let found = records.iter().filter_map(|record| match record {
        Record::Transfer(transfer) => Some(transfer),
        _ => None,
    });
    found.collect()
}

/// A grid of sites of one processor, and what is submitted to it.
#[derive(Clone, Debug)]
struct Case {
    /// Between places, the latency in microseconds, and bits a second. To the portal there is no latency.
    links: BTreeMap<(usize, usize), (u64, u64)>,
    sites: usize,
    /// The place of stage-in.
    files: u32,
    /// In microseconds.
    submitted: Vec<(u64, WorkflowSpec)>,
    /// The site of each task.
    pins: Vec<usize>,
    /// Whether tasks are planned at the submission of their workflow, and whether files then leave at once.
    ahead: bool,
    eager: bool,
}

impl Case {
    fn spec(&self) -> GridSpec {
        let site = |at| SiteSpec::plain(&format!("site-{at}"), 1, "fcfs".parse().expect("a policy"));
        let mut network = NetworkSpec::uniform(Link::default());
        network.sharing = Sharing::Unshared;
        for ((a, b), (latency, bits)) in &self.links {
            let (latency, bandwidth) = (Span::from_micros(*latency), Some(Bandwidth::from_bits(*bits)));
            network.set(*a, *b, Link { latency, bandwidth });
        }
        let broker = BrokerSpec::new("pinned".parse().expect("a broker policy"));
        let transfer = if self.eager { TransferMode::Eager } else { TransferMode::Lazy };
        let workflow = WorkflowSettings { transfer, files: self.files, ..WorkflowSettings::default() };
        GridSpec {
            seed: 1,
            sites: (0..self.sites).map(site).collect(),
            network,
            broker: Some(BrokerSpec { monitoring_interval: Span::ZERO, workflow, ..broker }),
        }
    }

    /// How long so many bytes take, in microseconds.
    fn takes(&self, from: usize, to: usize, bytes: u64) -> u64 {
        let (latency, bits) = self.links[&(from.min(to), from.max(to))];
        latency + (u128::from(bytes) * 8_000_000).div_ceil(u128::from(bits)) as u64
    }
}

fn case() -> impl Strategy<Value = Case> {
    (1_usize..4).prop_flat_map(|sites| {
        let pairs: Vec<(usize, usize)> = (0..=sites).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
        let links = prop::collection::vec((1_u64..5_000_000, 1_000_u64..1_000_000), pairs.len());
        let links = links.prop_map(move |drawn| {
            let link = |(pair, (latency, bits)): (&(usize, usize), (u64, u64))| {
                (*pair, (if pair.0 == 0 { 0 } else { latency }, bits))
            };
            pairs.iter().zip(drawn).map(link).collect::<BTreeMap<_, _>>()
        });
        let pins = prop::collection::vec(0..sites, 60);
        let rest = (0..=sites as u32, submissions(), pins, any::<bool>(), any::<bool>());
        (links, rest).prop_map(move |(links, (files, submitted, pins, ahead, eager))| Case {
            links,
            sites,
            files,
            submitted,
            pins,
            ahead,
            eager,
        })
    })
}

/// Up to three workflows of up to 12 tasks and 16 files. A file is written by a task or by none, and read by tasks behind that one.
pub(crate) fn submissions() -> impl Strategy<Value = Vec<(u64, WorkflowSpec)>> {
    let one = (1_usize..12).prop_flat_map(|count| {
        let file = (0..=count, prop::collection::btree_set(0..count, 0..4), 1_u64..500_000);
        let runtimes = prop::collection::vec(1_u64..40_000_000, count);
        let edges = prop::collection::vec((0..count as u32, 0..count as u32), 0..count);
        (0_u64..60_000_000, runtimes, edges, prop::collection::vec(file, 0..16))
    });
    prop::collection::vec(one, 1..4).prop_map(|all| {
        let mut at = 0;
        let submitted = all.into_iter().map(|(gap, runtimes, edges, files)| {
            at += gap;
            let forward: Vec<(u32, u32)> =
                edges.into_iter().filter(|(a, b)| a != b).map(|(a, b)| (a.min(b), a.max(b))).collect();
            let mut workflow = workflow(&vec![0; runtimes.len()], &forward);
            for (task, micros) in workflow.tasks.iter_mut().zip(runtimes) {
                task.runtime = Span::from_micros(micros);
            }
            for (number, (writer, readers, size)) in (0_u32..).zip(files) {
                workflow.files.push(WorkflowFile { name: format!("f{number}"), size: Bytes::new(size) });
                let writer = writer.checked_sub(1);
                if let Some(writer) = writer {
                    workflow.tasks[writer].outputs.push(number);
                }
                for reader in
                    readers.into_iter().filter(|reader| writer.is_none_or(|writer| writer < *reader))
                {
                    workflow.tasks[reader].inputs.push(number);
                }
            }
            (at, workflow)
        });
        submitted.collect()
    })
}

/// A site of one processor.
#[derive(Debug, Default)]
struct Queue {
    running: Option<(usize, u64)>,
    waiting: VecDeque<usize>,
}

/// A file, or a task, by its number in the whole run.
type Number = usize;

/// The state of the twin.
#[derive(Default)]
struct Twin {
    runtime: Vec<u64>,
    after: Vec<BTreeSet<Number>>,
    missing: Vec<usize>,
    inputs: Vec<Vec<Number>>,
    outputs: Vec<Vec<Number>>,
    size: Vec<u64>,
    read: Vec<bool>,
    /// The places of each file.
    at: Vec<BTreeSet<usize>>,
    /// Arrival, file and place, in the order in which they were asked for.
    copies: Vec<(u64, Number, usize)>,
    /// The files that a placed task waits for.
    staging: BTreeMap<Number, BTreeSet<Number>>,
    /// For each site, what is planned there and has not gone.
    lanes: Vec<BTreeSet<Number>>,
    queues: Vec<Queue>,
    placed: Vec<(u64, u64)>,
    copied: Vec<(Number, usize, usize, u64, u64)>,
}

impl Twin {
    fn begin(&mut self, site: usize, now: u64) {
        let queue = &mut self.queues[site];
        if queue.running.is_none()
            && let Some(task) = queue.waiting.pop_front()
        {
            queue.running = Some((task, now + self.runtime[task]));
            self.placed[task] = (now, now + self.runtime[task]);
        }
    }

    fn copy(&mut self, case: &Case, file: Number, to: usize, now: u64) {
        let coming = self.copies.iter().any(|(_, other, place)| (*other, *place) == (file, to));
        if !coming && !self.at[file].contains(&to) {
            let arrives = |from: &usize| (now + case.takes(*from, to, self.size[file]), *from);
            let (arrival, from) = self.at[file].iter().map(arrives).min().expect("it lies somewhere");
            self.copies.push((arrival, file, to));
            self.copied.push((file, from, to, now, arrival));
        }
    }

    /// A file is copied to where planned tasks read it, as far as it is anywhere.
    fn ahead(&mut self, case: &Case, file: Number, readers: &[Number], now: u64) {
        if case.ahead && case.eager && !self.at[file].is_empty() {
            for task in
                readers.iter().filter(|task| self.inputs[**task].contains(&file)).copied().collect::<Vec<_>>()
            {
                self.copy(case, file, case.pins[task] + 1, now);
            }
        }
    }

    /// What is planned goes in the order of the plan, each task when it is ready and its files are there.
    fn send_planned(&mut self, case: &Case, now: u64) {
        for site in 0..case.sites {
            while let Some(task) = self.lanes[site].first().copied() {
                let there = self.inputs[task].iter().all(|file| self.at[*file].contains(&(site + 1)));
                if self.missing[task] > 0 || !there {
                    break;
                }
                self.lanes[site].pop_first();
                self.send(site, task, now);
            }
        }
    }

    fn send(&mut self, site: usize, task: Number, now: u64) {
        self.queues[site].waiting.push_back(task);
        self.begin(site, now);
    }
}

/// Start and end of each task, and file, places, beginning and arrival of each copy, by list scheduling.
fn listed(case: &Case) -> Twin {
    let mut twin = Twin {
        queues: (0..case.sites).map(|_| Queue::default()).collect(),
        lanes: vec![BTreeSet::new(); case.sites],
        ..Twin::default()
    };
    let (mut firsts, mut stage_in) = (Vec::new(), Vec::new());
    for (_, workflow) in &case.submitted {
        let (first, first_file) = (twin.runtime.len(), twin.size.len());
        firsts.push(first);
        let mut writer = BTreeMap::new();
        for (at, task) in workflow.tasks.iter().enumerate() {
            twin.runtime.push(task.runtime.micros());
            let files =
                |files: &[u32]| files.iter().map(|file| first_file + *file as usize).collect::<Vec<_>>();
            twin.inputs.push(files(&task.inputs));
            twin.outputs.push(files(&task.outputs));
            twin.after.push(BTreeSet::new());
            writer.extend(files(&task.outputs).into_iter().map(|file| (file, first + at)));
        }
        for (from, to) in &workflow.edges {
            twin.after[first + *from as usize].insert(first + *to as usize);
        }
        for task in first..twin.runtime.len() {
            for file in &twin.inputs[task] {
                if let Some(writer) = writer.get(file) {
                    twin.after[*writer].insert(task);
                }
            }
        }
        twin.size.extend(workflow.files.iter().map(|file| file.size.count()));
        twin.at.resize(twin.size.len(), BTreeSet::new());
        stage_in.push(
            (first_file..twin.size.len()).filter(|file| !writer.contains_key(file)).collect::<Vec<_>>(),
        );
    }
    let read = |file: &Number| twin.inputs.iter().any(|inputs| inputs.contains(file));
    twin.read = (0..twin.size.len()).map(|file| read(&file)).collect();
    twin.missing = (0..twin.runtime.len())
        .map(|task| twin.after.iter().filter(|after| after.contains(&task)).count())
        .collect();
    twin.placed = vec![(0, 0); twin.runtime.len()];
    let home = case.files as usize;
    let mut coming: VecDeque<usize> = (0..case.submitted.len()).collect();
    loop {
        let ends = twin.queues.iter().filter_map(|queue| Some(queue.running?.1));
        let copies = twin.copies.iter().map(|(arrival, _, _)| *arrival);
        let next = coming.front().map(|at| case.submitted[*at].0);
        let Some(now) = ends.chain(copies).chain(next).min() else { return twin };
        // A processor is free before anything arrives at its site.
        let mut ended = Vec::new();
        for site in 0..case.sites {
            if let Some((task, _)) = twin.queues[site].running.take_if(|(_, end)| *end == now) {
                ended.push((site, task));
            }
            twin.begin(site, now);
        }
        let arrived: Vec<(u64, Number, usize)> =
            twin.copies.extract_if(.., |(arrival, _, _)| *arrival == now).collect();
        for (_, file, place) in arrived {
            twin.at[file].insert(place);
            let here = |task: &Number| case.pins[*task] + 1 == place;
            let waiting: Vec<Number> = twin.staging.keys().copied().filter(here).collect();
            for task in waiting {
                let files = twin.staging.get_mut(&task).expect("it waits");
                if files.remove(&file) && files.is_empty() {
                    twin.staging.remove(&task);
                    twin.send(place - 1, task, now);
                }
            }
        }
        let (mut ready, mut submitted) = (Vec::new(), Vec::new());
        while let Some(at) = coming.pop_front_if(|at| case.submitted[*at].0 == now) {
            for file in &stage_in[at] {
                twin.at[*file].insert(home);
            }
            let own = firsts[at]..firsts[at] + case.submitted[at].1.tasks.len();
            submitted.extend(own.clone());
            ready.extend(own.filter(|task| twin.missing[*task] == 0));
        }
        for (site, task) in ended {
            for file in twin.outputs[task].clone() {
                twin.at[file].insert(site + 1);
                if !twin.read[file] {
                    twin.copy(case, file, home, now);
                }
                let all: Vec<Number> = (0..twin.runtime.len()).collect();
                twin.ahead(case, file, &all, now);
            }
            for next in twin.after[task].clone() {
                twin.missing[next] -= 1;
                ready.extend((twin.missing[next] == 0).then_some(next));
            }
        }
        if case.ahead {
            // What becomes ready with the end of another has its files brought there; then comes the plan of what has just been submitted.
            let (first, then): (Vec<Number>, Vec<Number>) =
                ready.into_iter().partition(|task| !submitted.contains(task));
            for task in first {
                for file in twin.inputs[task].clone() {
                    twin.copy(case, file, case.pins[task] + 1, now);
                }
            }
            for task in submitted {
                twin.lanes[case.pins[task]].insert(task);
                for file in twin.inputs[task].clone() {
                    if then.contains(&task) {
                        twin.copy(case, file, case.pins[task] + 1, now);
                    }
                    twin.ahead(case, file, &[task], now);
                }
            }
            twin.send_planned(case, now);
            continue;
        }
        for task in ready {
            let site = case.pins[task];
            let lacking: BTreeSet<Number> = twin.inputs[task]
                .iter()
                .copied()
                .filter(|file| !twin.at[*file].contains(&(site + 1)))
                .collect();
            if lacking.is_empty() {
                twin.send(site, task, now);
                continue;
            }
            for file in twin.inputs[task].clone() {
                twin.copy(case, file, site + 1, now);
            }
            twin.staging.insert(task, lacking);
        }
    }
}

fn place(site: SiteId) -> usize {
    if site == SiteId::GRID { 0 } else { site.index() + 1 }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn the_grid_is_a_list_scheduler_with_files(case in case()) {
        let records = run(&case.spec(), (&case.pins, case.ahead), &case.submitted);
        let micros = |time: Option<Time>| time.expect("it started").micros();
        let started: Vec<(u64, u64)> =
            tasks(&records).iter().map(|task| (micros(task.start), task.end.micros())).collect();
        let twin = listed(&case);
        prop_assert_eq!(started, twin.placed);
        let mut copied: Vec<_> = twin
            .copied
            .iter()
            .map(|(file, from, to, began, arrival)| (*arrival, twin.size[*file], *from, *to, *began))
            .collect();
        copied.sort_unstable();
        let mut found: Vec<_> = transfers(&records)
            .iter()
            .map(|copy| (copy.end.micros(), copy.bytes.count(), place(copy.from), place(copy.to), copy.asked.micros()))
            .collect();
        found.sort_unstable();
        prop_assert_eq!(found, copied);
    }

    #[test]
    fn a_run_with_files_goes_on_from_a_snapshot(case in case(), cut in 0_usize..200) {
        let spec = case.spec();
        let build = || built(&spec, (&case.pins, case.ahead), &case.submitted);
        let (mut whole, mut parts) = (Vec::new(), Vec::new());
        let mut grid = build();
        while grid.step(&mut whole).expect("it runs").is_some() {}
        let mut first = build();
        for _ in 0..cut {
            first.step(&mut parts).expect("it runs");
        }
        let saved = first.snapshot().expect("a state");
        let mut second = build();
        second.restore(through_bytes(&saved), false).expect("it fits");
        prop_assert_eq!(&second.snapshot().expect("a state"), &saved);
        while second.step(&mut parts).expect("it runs").is_some() {}
        prop_assert_eq!(parts, whole);
    }
}

/// A workflow of tasks with these run times in seconds; for each file its megabytes, who writes it and who reads it.
fn with_files(runtimes: &[u64], files: &[(u64, Option<usize>, &[usize])]) -> WorkflowSpec {
    let mut spec = workflow(runtimes, &[]);
    for (number, (megabytes, writer, readers)) in (0_u32..).zip(files) {
        spec.files.push(WorkflowFile { name: format!("f{number}"), size: Bytes::new(megabytes * 1_000_000) });
        if let Some(writer) = writer {
            spec.tasks[*writer].outputs.push(number);
        }
        readers.iter().for_each(|reader| spec.tasks[*reader].inputs.push(number));
    }
    spec
}

/// Two sites with so many processors, a second and 1 MB/s from the portal, and two seconds and 0.5 MB/s from each other.
fn two_sites(procs: u32, policy: &str) -> GridSpec {
    let mut spec = plain(&[procs, procs], policy, 1, 10);
    let link = |latency, bits| Link {
        latency: Span::from_secs(latency),
        bandwidth: Some(Bandwidth::from_bits(bits)),
    };
    for (a, b, link) in [(0, 1, link(1, 8_000_000)), (0, 2, link(1, 8_000_000)), (1, 2, link(2, 4_000_000))] {
        spec.network.set(a, b, link);
    }
    spec
}

/// File, from, to, job, asked and arrival of each copy, in seconds.
fn told(records: &[Record]) -> Vec<(String, usize, usize, u64, u64, u64)> {
    transfers(records)
        .iter()
        .map(|copy| {
            assert_eq!((copy.outcome, copy.began), (TransferOutcome::Arrived, Some(copy.asked)));
            let (asked, end) = (secs(copy.asked), secs(copy.end));
            (copy.file.clone(), place(copy.from), place(copy.to), copy.job.0, asked, end)
        })
        .collect()
}

fn starts(records: &[Record]) -> Vec<(usize, u64, u64, u64)> {
    let found = tasks(records);
    let row = |task: &&TaskRecord| {
        let start = task.start.expect("it started");
        (task.site.index(), secs(task.ready.expect("it was ready")), secs(start), secs(task.end))
    };
    found.iter().map(row).collect()
}

/// f0 (10 MB) takes 10 s and a second to site 0, is there at 11, and t0 a second later. t0 writes f1 (5 MB) at 22, known at 23. t1 at site 1 needs f1,
/// 10 s and 2 s from site 0, and f0, which comes sooner from the portal (11 s) than from site 0 (22 s). At 35 all is there; t1 runs from 36 to 56, and
/// its result f2 (3 MB) is at the portal 4 s after 57. The makespan does not wait for that.
#[test]
fn a_pair_by_hand() {
    let pair = with_files(&[10, 20], &[(10, None, &[0, 1]), (5, Some(0), &[1]), (3, Some(1), &[])]);
    let records = run(&two_sites(1, "pinned"), (&[0, 1], false), &[(0, pair.clone())]);
    assert_eq!(starts(&records), [(0, 0, 12, 22), (1, 23, 36, 56)]);
    let file = |number: u32| format!("f{number}");
    assert_eq!(
        told(&records),
        [
            (file(0), 0, 1, 1, 0, 11),
            (file(0), 0, 2, 2, 23, 34),
            (file(1), 1, 2, 2, 23, 35),
            (file(2), 2, 0, 2, 57, 61)
        ]
    );
    assert_eq!(secs(workflows(&records)[0].end), 57);
    // If stage-in lies at site 1, f0 comes from there in 22 s, and the result stays there.
    let mut spec = two_sites(1, "pinned");
    spec.broker.as_mut().expect("a broker").workflow.files = 2;
    let records = run(&spec, (&[0, 1], false), &[(0, pair)]);
    assert_eq!(starts(&records), [(0, 0, 23, 33), (1, 34, 47, 67)]);
    assert_eq!(told(&records), [(file(0), 2, 1, 1, 0, 22), (file(1), 1, 2, 2, 34, 46)]);
}

/// The same under a policy that plans t1 for site 1 at once. Eager: f0 leaves for both sites at 0, f1 when t0 ends, and t1 runs a second after it
/// is there. Lazy: as if t1 were planned when it is ready.
#[test]
fn an_output_leaves_for_where_it_is_planned_to_be_read() {
    let pair = with_files(&[10, 20], &[(10, None, &[0, 1]), (5, Some(0), &[1]), (3, Some(1), &[])]);
    let mut spec = two_sites(1, "pinned");
    let records = run(&spec, (&[0, 1], true), &[(0, pair.clone())]);
    assert_eq!(starts(&records), [(0, 0, 12, 22), (1, 23, 36, 56)]);
    let file = |number: u32| format!("f{number}");
    assert_eq!(told(&records)[..2], [(file(0), 0, 1, 1, 0, 11), (file(0), 0, 2, 2, 0, 11)]);
    assert_eq!(told(&records)[2], (file(1), 1, 2, 2, 23, 35));
    // With 20 MB of stage-in for t1 alone, lazy t1 waits for it from 23 to 44.
    let other = with_files(&[10, 20], &[(10, None, &[0]), (20, None, &[1]), (5, Some(0), &[1])]);
    let start = |spec: &GridSpec| starts(&run(spec, (&[0, 1], true), &[(0, other.clone())]))[1].2;
    assert_eq!(start(&spec), 36);
    spec.broker.as_mut().expect("a broker").workflow.transfer = TransferMode::Lazy;
    assert_eq!(start(&spec), 45);
}

/// t0 and t1 read the same file at one site: it goes there once, and both start when it is there. t2 reads another of the same size: over a
/// shared link, both take twice as long.
#[test]
fn a_file_on_its_way_is_not_sent_again_and_links_are_shared() {
    let shared = with_files(&[10, 10, 10], &[(10, None, &[0, 1]), (10, None, &[2])]);
    let records = run(&two_sites(3, "pinned"), (&[0; 3], false), &[(0, shared)]);
    assert_eq!(starts(&records), [(0, 0, 22, 32); 3]);
    let file = |number: u32| format!("f{number}");
    assert_eq!(told(&records), [(file(0), 0, 1, 1, 0, 21), (file(1), 0, 1, 3, 0, 21)]);
}

/// Both sites could start t1 at once. With a file of 50 MB that t0 has left at site 0, 102 s away from site 1, t1 runs where the file lies, though it
/// takes 40 s there instead of 10 s.
#[test]
fn estimates_include_the_data() {
    let at = |megabytes| {
        let mut spec = two_sites(1, "mct");
        spec.sites[1].partitions[0].groups[0].speed = Rate::from_units(4 << 20);
        spec.sites[1].partitions[0].absent = 1;
        spec.sites[1].churn.script.push(PlannedChurn { at: Time::from_secs(5), act: ChurnAct::Join(all()) });
        let pair = with_files(&[30, 40], &[(megabytes, Some(0), &[1])]);
        let records = run(&spec, (&[], false), &[(0, pair)]);
        let [first, second] = tasks(&records)[..] else { panic!("two tasks") };
        assert_eq!(first.site, SiteId(0));
        second.site
    };
    assert_eq!([at(50), at(1)], [SiteId(0), SiteId(1)]);
}

/// Ten tasks, each with a file of its own of 10 MB, are planned at once. Each sees the copies for those before it on their way, so that half of
/// them go to each site: 50 MB over each link are there at 51, where all at one site would be at 101.
#[test]
fn tasks_of_one_plan_see_the_copies_of_each_other() {
    let files: Vec<(u64, Option<usize>, Vec<usize>)> = (0..10).map(|at| (10, None, vec![at])).collect();
    let files: Vec<(u64, Option<usize>, &[usize])> =
        files.iter().map(|(size, writer, readers)| (*size, *writer, &readers[..])).collect();
    let records = run(&two_sites(10, "mct"), (&[], false), &[(0, with_files(&[10; 10], &files))]);
    let ran: Vec<(usize, u64)> = starts(&records).iter().map(|(site, _, start, _)| (*site, *start)).collect();
    let mut sorted = ran.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [[(0, 52); 5], [(1, 52); 5]].concat());
    assert_eq!(secs(workflows(&records)[0].end), 63);
}

/// The one machine of a site.
fn all() -> Machines {
    Machines { partition: PartitionId(0), which: ProcSet::full(1) }
}

/// A run that ends while a file is on its way: the copy is in the records, and so is the task, once.
#[test]
fn copies_that_have_not_arrived_are_unfinished() {
    let mut grid =
        built(&two_sites(1, "pinned"), (&[0], false), &[(0, with_files(&[10], &[(10, None, &[0])]))]);
    let mut records = Vec::new();
    while grid.now() < Time::from_secs(5) {
        grid.step(&mut records).expect("it runs");
    }
    grid.close(&mut records);
    let [copy] = transfers(&records)[..] else { panic!("one copy") };
    assert_eq!((copy.outcome, copy.end), (TransferOutcome::Unfinished, grid.now()));
    let [task] = tasks(&records)[..] else { panic!("one task") };
    assert_eq!((task.outcome, task.site), (Outcome::Unfinished, SiteId(0)));
    assert_eq!(jobs_of(&records).len(), 1);
}

/// The site leaves as a whole, and is back.
fn away(spec: &mut GridSpec, site: usize, from: u64, to: u64) {
    let act = |secs, act| PlannedChurn { at: Time::from_secs(secs), act };
    let script = [act(from, ChurnAct::LeaveSite), act(to, ChurnAct::JoinSite)];
    spec.sites[site].churn.script.extend(script);
}

/// File, from, to, asked and end of each copy, in seconds, and what became of it.
fn fates(records: &[Record]) -> Vec<(String, usize, usize, u64, u64, &'static str)> {
    transfers(records)
        .iter()
        .map(|copy| {
            let (asked, end) = (secs(copy.asked), secs(copy.end));
            (copy.file.clone(), place(copy.from), place(copy.to), asked, end, copy.outcome.name())
        })
        .collect()
}

/// As in `a_pair_by_hand`, but the fast site 1, for which t1 is meant, leaves at 30, while f1 is on its way there. The network knows at 31, and so does the
/// broker: t1 runs where its files are, from 32 on.
#[test]
fn a_task_whose_site_leaves_before_its_files_are_there_is_planned_again() {
    let mut spec = two_sites(1, "mct");
    spec.sites[1].partitions[0].groups[0].speed = Rate::from_units(8 << 20);
    spec.sites[1].partitions[0].absent = 1;
    let join = ChurnAct::Join(all());
    spec.sites[1].churn.script.push(PlannedChurn { at: Time::from_secs(5), act: join });
    away(&mut spec, 1, 30, 300);
    let pair = with_files(&[10, 80], &[(10, None, &[0]), (5, Some(0), &[1])]);
    let records = run(&spec, (&[], false), &[(0, pair)]);
    assert_eq!(starts(&records), [(0, 0, 12, 22), (0, 23, 32, 112)]);
    let file = |number: u32| format!("f{number}");
    assert_eq!(fates(&records), [(file(0), 0, 1, 0, 11, "arrived"), (file(1), 1, 2, 23, 31, "lost")]);
    let returned: Vec<u64> = events(&records, EventKind::Returned).map(|event| secs(event.time)).collect();
    assert_eq!(returned, [31]);
}

fn events(records: &[Record], kind: EventKind) -> impl Iterator<Item = &EventRecord> {
    records.iter().filter_map(move |record| match record {
        Record::Event(event) if event.kind == kind => Some(event),
        _ => None,
    })
}

/// t1, at site 1, reads f0 after t0 has brought it to site 0. The portal is 101 s away, so it comes from site 0 in 22 s, from 23 on. Site 0 leaves at 30 and
/// is back at 60, which the broker knows at 61. The copy is lost at 31. It is asked for again at the portal at once, or at site 0 at 61.
#[test]
fn a_copy_from_a_site_that_leaves_is_asked_for_again() {
    let mut spec = two_sites(1, "pinned");
    let slow = Some(Bandwidth::from_bits(800_000));
    spec.network.set(0, 2, Link { latency: Span::from_secs(1), bandwidth: slow });
    away(&mut spec, 0, 30, 60);
    let mut pair = with_files(&[10, 20], &[(10, None, &[0, 1])]);
    pair.edges.push((0, 1));
    let told = |spec: &GridSpec| {
        let records = run(spec, (&[0, 1], false), &[(0, pair.clone())]);
        (starts(&records)[1].2, fates(&records)[1..].to_vec())
    };
    let file = "f0".to_owned();
    let lost = (file.clone(), 1, 2, 23, 31, "lost");
    assert_eq!(told(&spec), (133, vec![lost.clone(), (file.clone(), 0, 2, 31, 132, "arrived")]));
    spec.broker.as_mut().expect("a broker").workflow.lost = LostData::Wait;
    assert_eq!(told(&spec), (84, vec![lost, (file, 1, 2, 61, 83, "arrived")]));
}

/// What t0 has written at site 0 is not there while the site is away, from 30 to 100: t1, ready at 53 with the end of t2, waits until the broker knows
/// at 101 that it is back; 12 s later f1 is at site 1. With reports every 50 s the broker asks in vain at 43, and the copy is lost at once.
/// t1 at site 1 waits for t0 and reads f0 (20 MB), which lies at site 2 and leaves for it at 0. It breaks off when site 2 leaves at 5, and leaves once
/// more when that is back at 50, though t0 runs until 101 and t1 is ready at 102 only: then all is there.
#[test]
fn a_file_that_is_planned_to_be_read_leaves_again_when_its_site_is_back() {
    let mut spec = plain(&[1, 1, 1], "pinned", 1, 10);
    spec.network.set(
        2,
        3,
        Link { latency: Span::from_secs(2), bandwidth: Some(Bandwidth::from_bits(4_000_000)) },
    );
    spec.broker.as_mut().expect("a broker").workflow.files = 3;
    away(&mut spec, 2, 5, 50);
    let pair = with_files(&[100, 10], &[(20, None, &[1]), (0, Some(0), &[1])]);
    let records = run(&spec, (&[0, 1], true), &[(0, pair)]);
    let f0: Vec<_> = fates(&records).into_iter().filter(|copy| copy.0 == "f0").collect();
    assert_eq!(f0.iter().map(|copy| copy.5).collect::<Vec<_>>(), ["lost", "arrived"]);
    assert!(f0[1].4 < 100, "{f0:?}");
    let t1 = starts(&records)[1];
    assert_eq!((t1.0, t1.1), (1, 102));
    assert!(t1.2 < 110, "{t1:?}");
}

#[test]
fn a_file_is_not_there_while_its_site_is_away() {
    let mut spec = two_sites(2, "pinned");
    away(&mut spec, 0, 30, 100);
    let files = |until: u64| {
        let mut three = with_files(&[10, 20, until], &[(5, Some(0), &[1])]);
        three.edges.push((2, 1));
        three
    };
    let records = run(&spec, (&[0, 1, 1], false), &[(0, files(51))]);
    assert_eq!(starts(&records)[1], (1, 53, 114, 134));
    assert_eq!(fates(&records), [("f0".to_owned(), 1, 2, 101, 113, "arrived")]);
    spec.broker.as_mut().expect("a broker").monitoring_interval = Span::from_secs(50);
    let records = run(&spec, (&[0, 1, 1], false), &[(0, files(41))]);
    assert_eq!(starts(&records)[1], (1, 43, 114, 134));
    let file = || "f0".to_owned();
    assert_eq!(fates(&records), [(file(), 1, 2, 43, 43, "lost"), (file(), 1, 2, 101, 113, "arrived")]);
}

/// A result whose site leaves before it is at the portal comes when the site is back: t1 keeps the run going.
#[test]
fn a_result_comes_home_when_its_site_is_back() {
    let mut spec = two_sites(1, "pinned");
    away(&mut spec, 0, 15, 60);
    let two = with_files(&[10, 200], &[(10, Some(0), &[])]);
    let records = run(&spec, (&[0, 1], false), &[(0, two)]);
    let file = || "f0".to_owned();
    assert_eq!(fates(&records), [(file(), 1, 0, 12, 16, "lost"), (file(), 1, 0, 61, 72, "arrived")]);
}

/// Files of 10 and 30 MB go to site 0, whose link takes 1 MB/s from site 1, and whose storage writes 1 MB/s in all: f0 is there after 20 s, f1 after 40 s, and the last
/// of link, reading and writing counts, with the latency of the link.
#[test]
fn a_storage_is_shared_by_readers_and_writers() {
    let mut spec = two_sites(2, "pinned");
    spec.broker.as_mut().expect("a broker").workflow.files = 2;
    spec.network.set(1, 2, Link { latency: Span::from_secs(2), bandwidth: None });
    let disk = StorageSpec { bandwidth: Some(Bandwidth::from_bits(8_000_000)), capacity: None };
    let two = with_files(&[10, 10], &[(10, None, &[0]), (30, None, &[1])]);
    let arrivals = |spec: &GridSpec| -> Vec<u64> {
        let records = run(spec, (&[0, 0], false), &[(0, two.clone())]);
        transfers(&records).iter().map(|copy| secs(copy.end)).collect()
    };
    assert_eq!(arrivals(&spec), [2, 2]);
    spec.network.storages = vec![StorageSpec::default(), disk];
    assert_eq!(arrivals(&spec), [20, 40]);
    spec.network.storages = vec![StorageSpec::default(), StorageSpec::default(), disk];
    assert_eq!(arrivals(&spec), [20, 40]);
}

/// Both are still read, 2 s after they could be at site 0 but for that, when it leaves at 5: word of it breaks them off at 6. Nothing of them keeps the
/// storage busy when they leave again at 101.
#[test]
fn what_is_still_read_at_its_source_breaks_off_when_its_target_leaves() {
    let mut spec = two_sites(2, "pinned");
    spec.broker.as_mut().expect("a broker").workflow.files = 2;
    spec.network.set(1, 2, Link { latency: Span::from_secs(2), bandwidth: None });
    let disk = StorageSpec { bandwidth: Some(Bandwidth::from_bits(8_000_000)), capacity: None };
    spec.network.storages = vec![StorageSpec::default(), StorageSpec::default(), disk];
    away(&mut spec, 0, 5, 100);
    let two = with_files(&[10, 10], &[(10, None, &[0]), (30, None, &[1])]);
    let records = run(&spec, (&[0, 0], false), &[(0, two)]);
    let copy = |file: &str, asked, end, fate| (file.to_owned(), 2, 1, asked, end, fate);
    assert_eq!(
        fates(&records),
        [
            copy("f0", 0, 6, "lost"),
            copy("f1", 0, 6, "lost"),
            copy("f0", 101, 121, "arrived"),
            copy("f1", 101, 141, "arrived")
        ]
    );
}

/// A storage of 12 MB takes f0 (10 MB, 11 s) and then has no space for f1 (5 MB) until t0, which runs from 12 to 22, has ended at 23. The output of t0 (4 MB) is stored
/// meanwhile, and the most there was is 14 MB.
#[test]
fn a_copy_waits_for_space() {
    let mut spec = two_sites(2, "pinned");
    let capacity = Some(Bytes::new(12_000_000));
    spec.network.storages = vec![StorageSpec::default(), StorageSpec { bandwidth: None, capacity }];
    let two = with_files(&[10, 10], &[(10, None, &[0]), (5, None, &[1]), (4, Some(0), &[1])]);
    let mut grid = built(&spec, (&[0, 0], false), &[(0, two)]);
    let mut records = Vec::new();
    grid.run(&mut records).expect("it runs");
    let told: Vec<_> = transfers(&records)
        .iter()
        .map(|copy| (copy.file.as_str(), secs(copy.asked), copy.began.map(secs), secs(copy.end)))
        .collect();
    assert_eq!(told, [("f0", 0, Some(0), 11), ("f1", 23, Some(23), 29)]);
    assert_eq!(starts(&records)[1], (0, 23, 30, 40));
    assert_eq!(grid.broker().expect("a broker").stored_peak(SiteId(0)), Bytes::new(14_000_000));

    let both = with_files(&[10, 10], &[(10, None, &[0]), (5, None, &[1])]);
    let records = run(&spec, (&[0, 0], false), &[(0, both)]);
    let began: Vec<_> =
        transfers(&records).iter().map(|copy| (secs(copy.asked), copy.began.map(secs))).collect();
    assert_eq!(began, [(0, Some(0)), (0, Some(23))]);
}

/// By hand. Results go to site 0, whose storage takes 12 MB. t0 writes one of 8 MB there from 0 to 10. It is at home and in nobody's way when f1 (6 MB) comes for t1, which waits for t0,
/// from 12 on.
#[test]
fn results_that_are_home_take_no_space() {
    let mut spec = two_sites(1, "pinned");
    spec.broker.as_mut().expect("a broker").workflow.files = 1;
    let capacity = Some(Bytes::new(12_000_000));
    spec.network.storages = vec![StorageSpec::default(), StorageSpec { bandwidth: None, capacity }];
    // t2 writes f1 at site 1 from 1 to 4.
    let mut three = with_files(&[10, 10, 3], &[(8, Some(0), &[]), (6, Some(2), &[1])]);
    three.edges.push((0, 1));
    let mut grid = built(&spec, (&[0, 0, 1], false), &[(0, three)]);
    let mut records = Vec::new();
    grid.run(&mut records).expect("it runs");
    // 6 MB at 0.5 MB/s, and two seconds.
    let told: Vec<_> = transfers(&records)
        .iter()
        .map(|copy| (secs(copy.asked), copy.began.map(secs), secs(copy.end)))
        .collect();
    assert_eq!(told, [(12, Some(12), 26)]);
    assert_eq!(grid.broker().expect("a broker").stored_peak(SiteId(0)), Bytes::new(8_000_000));
}

/// Site 0 is twice as fast as site 1, and has space for 12 MB. t0 reads 8 MB and writes 5 MB, which t1 reads, and t2 reads 13 MB at once: only site 1 can hold that. If it
/// has no more than 12 MB either, or no machine large enough, there is no such site.
#[test]
fn a_task_goes_where_its_files_fit() {
    let spec = workflow_of_13();
    for policy in [
        "mct",
        "heft",
        "peft",
        "min-min",
        "random",
        "round-robin",
        "least-loaded",
        "fastest-free",
        "cheapest",
    ] {
        let mut grid = two_sites(2, policy);
        grid.sites[0].partitions[0].groups[0].speed = Rate::from_units(2 << 20);
        let capacity = |megabytes: u64| StorageSpec {
            bandwidth: None,
            capacity: Some(Bytes::new(megabytes * 1_000_000)),
        };
        grid.network.storages = vec![StorageSpec::default(), capacity(12), capacity(30)];
        let records = run(&grid, (&[], false), &[(0, spec.clone())]);
        let sites: Vec<usize> = tasks(&records).iter().map(|task| task.site.index()).collect();
        assert_eq!((sites[0], sites[2]), (1, 1), "{policy}");
        grid.network.storages[2] = capacity(12);
        let outcomes = |grid: &GridSpec, spec: &WorkflowSpec| -> Vec<Outcome> {
            tasks(&run(grid, (&[], false), &[(0, spec.clone())])).iter().map(|task| task.outcome).collect()
        };
        let nowhere = Outcome::Rejected(RejectReason::NoPool);
        assert_eq!(outcomes(&grid, &spec), [nowhere, Outcome::Cancelled, nowhere], "{policy}");
        // Where it cannot go does not count.
        grid.network.storages[2] = StorageSpec::default();
        let mut large = spec.clone();
        large.tasks[2].procs = 4;
        grid.sites[0].partitions[0].groups[0].machines = 4;
        assert_eq!(outcomes(&grid, &large)[2], nowhere, "{policy}");
    }
}

/// See above.
fn workflow_of_13() -> WorkflowSpec {
    with_files(&[10, 10, 10], &[(8, None, &[0]), (5, Some(0), &[1]), (7, None, &[2]), (6, None, &[2])])
}

/// A task whose files fit nowhere is told before anything runs.
#[test]
fn files_that_fit_nowhere_are_told_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = r#"
[[site]]
name = "ada"
machines = [{ class = "node", count = 2 }]
storage = { capacity = "10 MB" }
[[site]]
name = "bob"
machines = [{ class = "node", count = 1 }]
[broker]
[workflow]
files = "ada"
[[workload]]
workflow = "one.json"
"#;
    let workflow = r#"{"name": "one", "schemaVersion": "1.5", "workflow": {"specification": {"tasks": [
{"name": "x", "id": "a", "parents": [], "children": [], "inputFiles": ["f1", "f2"], "outputFiles": ["f3"]}],
"files": [{"id": "f1", "sizeInBytes": 6000000}, {"id": "f2", "sizeInBytes": 3000000}, {"id": "f3", "sizeInBytes": 2000000}]},
"execution": {"makespanInSeconds": 0, "executedAt": "2024-01-01T00:00:00Z", "tasks": [
{"id": "a", "runtimeInSeconds": 10, "coreCount": 1}], "machines": []}}}"#;
    let file = folder.path().join("run.toml");
    std::fs::write(&file, scenario).unwrap();
    std::fs::write(folder.path().join("one.json"), workflow).unwrap();
    let file = file.to_str().unwrap();
    // `bob` holds it all.
    gridemu(&["check", file]).well();
    gridemu(&["run", file]).well();
    let small = "site.bob.storage.capacity=5 MB";
    let told = [
        "`workload[0]`: ",
        "one.json`: task `a` reads and writes files of 11 MB, and the largest storage of a site that could run it, that of `ada`, has 10 MB",
        "give the storages of sites more `capacity`",
    ];
    for command in ["check", "run"] {
        gridemu(&[command, file, "--set", small]).ends(2, &told);
    }
}

/// Site 0 has the only copy of what t1 reads, from 12 on, and leaves at 20 for ever: the run says who waits.
#[test]
fn a_task_whose_files_never_come_back_is_told() {
    let mut spec = two_sites(1, "pinned");
    let leave = PlannedChurn { at: Time::from_secs(20), act: ChurnAct::LeaveSite };
    spec.sites[0].churn.script.push(leave);
    let pair = with_files(&[10, 20], &[(5, Some(0), &[1])]);
    let mut records = Vec::new();
    let error = built(&spec, (&[0, 1], false), &[(0, pair)]).run(&mut records).expect_err("it is stuck");
    let told = "job 2 waits at the broker for 1 processor and for data: file `f0` is only at `site-0`, which has left";
    assert!(error.to_string().contains(told), "{error}");
    assert_eq!(fates(&records), [("f0".to_owned(), 1, 2, 12, 21, "lost")]);
    let outcomes: Vec<Outcome> = tasks(&records).iter().map(|task| task.outcome).collect();
    assert_eq!(outcomes, [Outcome::Completed, Outcome::Unfinished]);
}
