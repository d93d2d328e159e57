//! Whole runs of random workflows: with files, classes, groups, failures and checkpoints, under any policy, on sites with queues of their own that leave and come
//! back. The checker, which shares no code with the broker, accepts them, and they are the same however they are driven.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use gridemu::formats::wfformat;
use gridemu::model::WorkflowSpec;
use gridemu::units::{Bytes, Span};
use gridemu::workflow::Workflow;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::cli::gridemu;
use crate::support::cases;
use crate::validating::legal;
use crate::workflow_data::submissions;

/// Lines of which one is in the scenario, the plainest first. A line that is empty is none.
type Choice = &'static [&'static str];

/// What is said of a site, beside its machines.
const SITE: &[Choice] = &[
    &["policy = \"fcfs\"", "policy = \"easy\"", "policy = \"conservative\""],
    &[
        "",
        "",
        "storage = { bandwidth = \"80 Mbit/s\" }",
        "storage = { bandwidth = \"16 Mbit/s\" }",
        "storage = { capacity = \"120 MB\" }",
        "storage = { capacity = \"400 MB\", bandwidth = \"800 Mbit/s\" }",
    ],
    &["", "workload = { lublin = { jobs = 30, load = 0.5 } }"],
];

/// The first site has machines for all tasks and groups.
const LARGE: Choice = &[
    "machines = [{ class = \"c0\", count = 8, cores = 4 }]",
    "machines = [{ class = \"c1\", count = 8, cores = 4, speed = 0.5 }]",
];

const MACHINES: Choice = &[
    "machines = [{ class = \"c0\", count = 1, cores = 2 }]",
    "machines = [{ class = \"c0\", count = 3, cores = 2, price = \"0.1/core-h\" }]",
    "machines = [{ class = \"c1\", count = 2, cores = 4, speed = 2.0, price = \"0.3/core-h\" }]",
    "machines = [{ class = \"c2\", count = 4, cores = 2, speed = 0.5 }]",
];

/// The tables after the sites.
const TABLES: &[Choice] = &[
    &["[network]"],
    &["latency = \"0 s\"", "latency = \"20 ms\"", "latency = \"1 s\"", "latency = \"30 s\""],
    &["bandwidth = \"8 Mbit/s\"", "bandwidth = \"80 Mbit/s\"", "bandwidth = \"800 Mbit/s\""],
    &["", "links = \"unshared\"", "uplink = \"20 Mbit/s\""],
    &["[broker]"],
    &[
        "policy = \"mct\"",
        "policy = \"heft\"",
        "policy = \"peft\"",
        "policy = \"cpop\"",
        "policy = \"min-min\"",
        "policy = \"max-min\"",
        "policy = \"sufferage\"",
        "policy = \"met\"",
        "policy = \"olb\"",
        "policy = \"pull\"",
        "policy = \"random\"",
        "policy = \"fastest-free\"",
        "policy = \"least-loaded\"",
    ],
    &["monitoring_interval = \"0 s\"", "monitoring_interval = \"1 min\"", "monitoring_interval = \"10 min\""],
    &["replan = \"on-churn\"", "replan = \"never\""],
    &["recall_queued = false", "recall_queued = true"],
    &["", "retries = 100\nbackoff = \"3 min\""],
    &["[workflow]"],
    &["transfer = \"lazy\"", "transfer = \"eager\""],
    &["lost = \"copy\"", "lost = \"wait\"", "lost = \"again\""],
    &["", "files = \"s0\""],
    &["", "estimates = \"type-mean\""],
    &["", "error = 0.5"],
    &["replan = \"rest\"", "replan = \"lost\""],
    &["together = false", "together = true"],
    &["", "order = \"critical-path\""],
    &["[churn]"],
    &[
        "on_failure = \"resubmit\"",
        "on_failure = \"resubmit\"",
        "on_failure = \"requeue\"",
        "on_failure = \"wait\"",
        "on_failure = \"fail\"",
    ],
    &[
        "",
        "",
        "up = \"exponential[mean=20 min]\"\ndown = \"exponential[mean=5 min]\"",
        "up = \"exponential[mean=2 h]\"\ndown = \"exponential[mean=30 min]\"",
    ],
    &[
        "",
        "",
        "checkpoint = \"100 s\"\ncheckpoint_cost = \"5 s\"",
        "checkpoint = \"30 s\"\ncheckpoint_cost = \"0 s\"",
    ],
    &["", "return_queued = true"],
];

/// What is said of a workload, beside its workflow. Of the runs and files of [`submissions`] some take minutes.
const WORKLOAD: &[Choice] = &[
    &["", "count = 2\nevery = \"10 min\"", "count = 3\nevery = \"1 s\""],
    &["scale_runtime = 1.0", "scale_runtime = 20.0"],
    &["scale_data = 1.0", "scale_data = 100.0"],
    &[
        "",
        "",
        "",
        "group = \"vertical\"",
        "group = \"horizontal[size=3]\"",
        "group = \"paul[fine=2 min]\"",
        "group = \"level\"",
        "group = \"pilot[procs=4]\"",
    ],
    &["", "", "engine_delay = \"7 s\""],
    &["", "", "job_overhead = \"3 s\""],
    &[
        "",
        "",
        "failures = { \"*\" = 0.2 }\ntask_attempts = 3",
        "failures = { \"*\" = 0.2 }\ntask_attempts = 1",
    ],
    &[
        "",
        "",
        "deadline = \"submit + 1.2 x estimate\"",
        "deadline = \"submit + 2..20 x runtime\"\nat_deadline = \"kill\"",
        "deadline = \"submit + 1 x estimate\"\nat_deadline = \"refuse\"",
    ],
    &[
        "",
        "",
        "budget = \"0.5..2 x cost\"\nreference_price = \"0.1/core-h\"",
        "budget = \"0.01\"\nat_budget = \"refuse\"",
    ],
];

fn lines(choices: &[Choice]) -> impl Strategy<Value = String> + use<> {
    let each: Vec<_> = choices.iter().map(|choice| select(choice.to_vec())).collect();
    each.prop_map(|lines| lines.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n"))
}

/// What a task is beside its run time and files: whether that is none, its processors, its type, and whether it has times by class.
type Kind = (bool, u32, &'static str, bool);

/// A scenario, and the workflows that lie beside it.
#[derive(Clone)]
struct Drawn {
    scenario: String,
    workflows: Vec<WorkflowSpec>,
}

impl Drawn {
    /// Whether something may wait for ever: for space, or for a site that does not come back.
    fn may_be_stuck(&self) -> bool {
        let of = |text: &str| self.scenario.matches(text).count();
        of("capacity = ") > 0 || of("\nleave = ") > of("\njoin = ")
    }
}

impl std::fmt::Debug for Drawn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}\n{:?}", self.scenario, self.workflows)
    }
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let site = |machines: Choice| (select(machines.to_vec()), lines(SITE), vec(1_u64..900, 0..5));
    let sites = (site(LARGE), vec(site(MACHINES), 0..4));
    let kind = (prop::bool::weighted(0.1), 1_u32..3, select(vec!["x", "y", "z"]), prop::bool::weighted(0.3));
    let workflows = (submissions(), vec(kind, 12), vec(lines(WORKLOAD), 3), any::<bool>());
    (0_u64..1000, sites, lines(TABLES), workflows).prop_map(
        |(seed, (large, small), tables, (submitted, kinds, workloads, classes))| {
            let mut scenario = format!("seed = {seed}\nuntil = \"20 d\"\n");
            let mut events = String::new();
            for (at, (machines, settings, gaps)) in [large].into_iter().chain(small).enumerate() {
                scenario += &format!("[[site]]\nname = \"s{at}\"\n{machines}\n{settings}\n");
                let mut time = 0;
                for (nth, gap) in gaps.iter().enumerate() {
                    time += gap;
                    let does = if nth % 2 == 0 { "leave" } else { "join" };
                    events += &format!("[[event]]\nat = \"{time} s\"\n{does} = \"s{at}\"\n");
                }
            }
            scenario += &format!("{tables}\n{events}");
            for (at, settings) in workloads.iter().enumerate().take(submitted.len()) {
                scenario += &format!("[[workload]]\nworkflow = \"w{at}.json\"\n{settings}\n");
            }
            let workflow = |(_, spec)| varied(spec, &kinds, classes);
            Drawn { scenario, workflows: submitted.into_iter().map(workflow).collect() }
        },
    )
}

/// The workflow with tasks and files of all kinds.
fn varied(mut spec: WorkflowSpec, kinds: &[Kind], classes: bool) -> WorkflowSpec {
    for (task, (empty, procs, kind, by_class)) in spec.tasks.iter_mut().zip(kinds) {
        (task.procs, task.kind) = (*procs, (*kind).to_owned());
        let runtime = if *empty { Span::ZERO } else { task.runtime };
        task.runtime = runtime;
        if classes && *by_class {
            let longer = runtime + runtime + Span::from_secs(1);
            task.by_class = BTreeMap::from([("c0".to_owned(), runtime), ("c1".to_owned(), longer)]);
        }
    }
    for (file, (empty, ..)) in spec.files.iter_mut().zip(kinds) {
        file.size = if *empty { Bytes::ZERO } else { file.size };
    }
    spec
}

/// The tables of a run.
fn tables(folder: &Path) -> BTreeMap<&'static str, String> {
    let names = ["jobs.csv", "segments.csv", "events.csv", "tasks.csv", "workflows.csv", "transfers.csv"];
    names.into_iter().map(|name| (name, fs::read_to_string(folder.join(name)).unwrap())).collect()
}

fn summary(folder: &Path) -> serde_json::Value {
    serde_json::from_str(&fs::read_to_string(folder.join("summary.json")).unwrap()).unwrap()
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn random_workflows_run_alike_and_as_they_may(drawn in drawn(), share in 0.0_f64..1.0) {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        fs::write(path("run.toml"), &drawn.scenario).unwrap();
        for (at, spec) in drawn.workflows.iter().enumerate() {
            let workflow = Workflow::from_spec(spec.clone()).expect("a workflow");
            wfformat::write(&workflow, fs::File::create(path(&format!("w{at}.json"))).unwrap()).unwrap();
        }
        let run = |name: &str, more: &[&str]| {
            let ran = gridemu(&[&["run", &path("run.toml"), "--out", &path(name)], more].concat());
            // A run that is stuck has its files, too.
            let stuck = ran.code == Some(1) && ran.err.contains("error: stuck at") && drawn.may_be_stuck();
            assert!(ran.code == Some(0) || stuck, "{}", ran.err);
            (stuck, tables(&folder.path().join(name)))
        };
        // What has no space anywhere is told before the run.
        let checked = gridemu(&["check", &path("run.toml")]);
        prop_assume!(checked.code == Some(0) || !checked.err.contains("the largest storage of a site"));
        let direct = run("direct", &["--engine", "direct"]);
        legal(&folder.path().join("direct"));
        let whole = summary(&folder.path().join("direct"));
        let end = whole["end_s"].as_f64().expect("a time");
        let at = format!("{} s", ((end * share) as u64).max(1));
        let kept = ["--checkpoint", &path("store"), "--checkpoint-keep-at", &at];
        let actors = run("actors", &[&["--engine", "actors", "--threads", "2"], &kept[..]].concat());
        prop_assert_eq!(&actors, &direct);
        // A run that is stuck has no future.
        if !direct.0 && end > 1.0 {
            let seed = format!("seed={}", whole["seed"]);
            let forked = gridemu(&["fork", &path("store"), "--at", &at, "--set", &seed, "--json"]).json();
            for future in ["as_it_was", "changed"] {
                prop_assert_eq!(&forked["grid"][future]["fingerprint"], &whole["fingerprint"], "at {}", at);
            }
        }
    }
}
