//! What tasks need of machines beyond processors: by hand, and that under no policy a task is where machines lack it.

use std::collections::BTreeMap;
use std::fs;

use gridemu::grid::{Grid, Policies};
use gridemu::model::{
    Equipment, EventCause, GridSpec, JobId, MachineGroup, Origin, Outcome, PartitionSpec, Record,
    RejectReason, TaskRecord, WorkflowSpec,
};
use gridemu::units::{Bytes, Rate, Span, Time};
use gridemu::verify::Rule;
use gridemu::workflow::WorkflowSource;
use gridemu::workload::{Jobs, Source};
use proptest::prelude::*;
use proptest::sample::select;

use crate::brokers::written;
use crate::cli::gridemu;
use crate::enactment::{instant, secs, submissions, tasks, workflow, workflows};
use crate::grids::grouped_grids;
use crate::support::cases;
use crate::validating::{judged, legal};
use crate::validating_workflows::damage;

fn has(gigabytes: Option<u64>, tags: &[&str]) -> Equipment {
    let memory = gigabytes.map(|gb| Bytes::new(gb * 1_000_000_000));
    Equipment { memory, tags: tags.iter().map(|tag| (*tag).to_owned()).collect() }
}

fn wanted(tags: &[(&str, &str)]) -> BTreeMap<String, String> {
    tags.iter().map(|(kind, tag)| ((*kind).to_owned(), (*tag).to_owned())).collect()
}

fn source(given: Vec<(Time, WorkflowSpec)>, tags: &[(&str, &str)], group: &str) -> WorkflowSource {
    let known = |kind: &str| given.iter().flat_map(|(_, spec)| &spec.tasks).any(|task| task.kind == kind);
    let tags = wanted(tags).into_iter().filter(|(kind, _)| kind == "*" || known(kind)).collect();
    let source =
        WorkflowSource::given("test", given, 1, "portal").requiring(tags).expect("types that it has");
    source.grouped(&group.parse().expect("a grouping")).expect("it is known")
}

fn run(grid: &GridSpec, spec: &WorkflowSpec, tags: &[(&str, &str)], group: &str) -> Vec<Record> {
    let source = source(vec![(Time::ZERO, spec.clone())], tags, group);
    let mut records = Vec::new();
    let policies = Policies::standard();
    let mut grid = Grid::build(grid, Vec::new(), Some(Box::new(source)), &policies).expect("a grid");
    grid.run(&mut records).expect("it runs");
    records
}

/// One site with a plain processor of speed 2 and one of speed 1 that has the tag.
fn two_classes(policy: &str) -> GridSpec {
    let mut grid = instant(policy, &[2 << 20]);
    let plain = &mut grid.sites[0].partitions;
    plain[0].name = "plain".to_owned();
    let group = MachineGroup {
        class: "gpu".to_owned(),
        equipment: has(None, &["gpu"]),
        speed: Rate::FULL,
        ..plain[0].groups[0].clone()
    };
    plain.push(PartitionSpec { name: "gpu".to_owned(), groups: vec![group], ..plain[0].clone() });
    grid
}

/// Partition, start and end in seconds.
fn ran(records: &[Record]) -> Vec<(u32, u64, u64)> {
    let of = |task: &&TaskRecord| (task.partition.0, secs(task.start.expect("it started")), secs(task.end));
    tasks(records).iter().map(of).collect()
}

/// Two tasks of 10 s that require the tag run one after the other where it is, although the other processor is faster and idle from 5 s on.
#[test]
fn tasks_with_a_tag_wait_for_the_machines_that_have_it() {
    let mut spec = workflow(&[10, 10, 10], &[]);
    spec.tasks[0].kind = "train".to_owned();
    spec.tasks[2].kind = "train".to_owned();
    for policy in ["mct", "fastest-free", "heft", "min-min", "random"] {
        let records = run(&two_classes(policy), &spec, &[("train", "gpu")], "none");
        assert_eq!(ran(&records), [(1, 0, 10), (0, 0, 5), (1, 10, 20)], "{policy}");
        let bounds = workflows(&records)[0].bounds;
        // The longest way is 10 s on the slower processor. 30 s of work at speed 1, of which 5 s on the faster one: 25 s of processors, of
        // which there are two; both together do 3 s of work a second.
        assert_eq!((bounds.fastest_path, bounds.work), (Span::from_secs(10), Span::from_secs(25)));
        assert_eq!(bounds.alone, Span::from_micros(12_500_000));
    }
    // Without a tag the first goes to the faster one.
    assert_eq!(ran(&run(&two_classes("mct"), &spec, &[], "none"))[0], (0, 0, 5));
}

/// A group needs the tags of all its tasks, and all its tasks run where they are.
#[test]
fn a_group_needs_what_each_of_its_tasks_needs() {
    let mut spec = workflow(&[10, 10, 10], &[(0, 1)]);
    spec.tasks[1].kind = "train".to_owned();
    let records = run(&two_classes("mct"), &spec, &[("train", "gpu")], "vertical");
    assert_eq!(ran(&records), [(1, 0, 10), (1, 10, 20), (0, 0, 5)]);
}

/// Machines of two processors and 4 GB: 6 GB are on two machines, which three processors take and two do not. The others go to a site of half the
/// speed whose memory is not stated. A task that fits nowhere is rejected, and what waits for it cancelled.
#[test]
fn memory_is_spread_over_the_machines_that_a_task_takes() {
    let mut grid = instant("mct", &[2 << 20, 1 << 20]);
    for (site, equipment) in grid.sites.iter_mut().zip([has(Some(4), &[]), has(None, &[])]) {
        let group = MachineGroup { machines: 4, equipment, ..site.partitions[0].groups[0].clone() };
        let machines = PartitionSpec { cores: 2, groups: vec![group], ..site.partitions[0].clone() };
        site.partitions = vec![machines];
    }
    let mut spec = workflow(&[10, 10, 10, 10], &[(2, 3)]);
    for (task, (procs, gigabytes)) in spec.tasks.iter_mut().zip([(3, 6), (2, 6), (2, 4), (1, 1)]) {
        task.procs = procs;
        task.memory = Some(Bytes::new(gigabytes * 1_000_000_000));
    }
    let sites = |records: &[Record]| tasks(records).iter().map(|task| task.site.0).collect::<Vec<u32>>();
    assert_eq!(sites(&run(&grid, &spec, &[], "none")), [0, 1, 0, 0]);
    // In one group the last two need 4 GB at once, since the second waits for the first.
    assert_eq!(sites(&run(&grid, &spec, &[], "vertical")), [0, 1, 0, 0]);
    grid.sites[1].partitions[0].groups[0].equipment = has(Some(1), &[]);
    let records = run(&grid, &spec, &[], "none");
    let outcomes: Vec<Outcome> = tasks(&records).iter().map(|task| task.outcome).collect();
    assert_eq!(outcomes[1], Outcome::Rejected(RejectReason::NoPool));
    assert_eq!(workflows(&records)[0].completed, 3);
    // The pilot job has the memory of all of them, 3 + 2 + 2 processors wide: 16 GB on four machines.
    let pilot = run(&grid, &spec, &[], "pilot[procs=7]");
    assert!(tasks(&pilot).iter().all(|task| (task.site.0, task.outcome) == (0, Outcome::Completed)));
    let narrow = run(&grid, &spec, &[], "pilot[procs=5]");
    assert!(tasks(&narrow).iter().all(|task| task.outcome == Outcome::Completed));
}

/// What a task needs: its type, its memory in GB, its processors.
type Want = (usize, Option<u64>, u32);

/// The equipment of the partitions of a grid, and what tasks need.
fn needs() -> impl Strategy<Value = (Vec<Equipment>, Vec<Want>)> {
    let tags = select(vec![&[][..], &["gpu"], &["ssd"], &["gpu", "ssd"]]);
    let equipment = (prop::option::of(1_u64..5), tags).prop_map(|(memory, tags)| has(memory, tags));
    let task = (0_usize..3, prop::option::of(1_u64..7), 1_u32..4);
    (prop::collection::vec(equipment, 8), prop::collection::vec(task, 60))
}

const KINDS: [&str; 3] = ["plain", "train", "sort"];
const TAGS: [(&str, &str); 2] = [("train", "gpu"), ("sort", "ssd")];

/// The tasks of one job, by its number.
fn members(records: &[Record]) -> BTreeMap<JobId, Vec<&TaskRecord>> {
    let mut found = BTreeMap::<JobId, Vec<&TaskRecord>>::new();
    tasks(records).into_iter().for_each(|task| found.entry(task.job).or_default().push(task));
    found
}

proptest! {
    #![proptest_config(cases(200))]

    /// Over any grid, with churn, caps and local load, under every policy and grouping: no attempt of a task is where machines lack what it needs,
    /// and no site has to refuse one.
    #[test]
    fn no_task_is_where_it_lacks_what_it_needs(
        case in grouped_grids(),
        submitted in submissions(),
        (equipment, wants) in needs(),
        policy in select(written()),
        group in select(vec!["none", "none", "vertical", "level", "horizontal[size=3]"]),
    ) {
        let mut case = case;
        case.spec.broker.as_mut().expect("a broker").policy = policy.parse().expect("a policy");
        let partitions = case.spec.sites.iter_mut().flat_map(|site| &mut site.partitions);
        partitions.zip(equipment.into_iter().cycle()).for_each(|(part, equipment)| part.groups[0].equipment = equipment);
        let mut wants = wants.into_iter().cycle();
        let mut needed: BTreeMap<String, (&str, u64)> = BTreeMap::new();
        let given = submitted.into_iter().enumerate().map(|(number, (at, mut spec))| {
            for (task, (kind, memory, procs)) in spec.tasks.iter_mut().zip(&mut wants) {
                task.name = format!("{number}-{}", task.name);
                (task.kind, task.procs) = (KINDS[kind].to_owned(), procs);
                task.memory = memory.map(|gb| Bytes::new(gb * 1_000_000_000));
                needed.insert(task.name.clone(), (KINDS[kind], memory.unwrap_or(0) * 1_000_000_000));
            }
            (Time::from_secs(at), spec)
        });
        let source = source(given.collect(), &TAGS, group);
        let policies = Policies::standard();
        let local = case.local.iter().map(|jobs| -> Option<Box<dyn Source>> {
            (!jobs.is_empty()).then(|| Box::new(Jobs::new(jobs.clone())) as Box<dyn Source>)
        });
        let mut grid = Grid::build(&case.spec, local.collect(), Some(Box::new(source)), &policies).expect("a grid");
        let mut records = Vec::new();
        // A grid that loses its machines for good leaves tasks behind.
        let _ = grid.run_to(case.until, Default::default(), &mut records);
        let members = members(&records);
        for record in &records {
            let segment = match record {
                Record::Segment(segment) if segment.origin == Origin::Grid => segment,
                Record::Event(event) => {
                    prop_assert_ne!(event.cause, EventCause::Refused(RejectReason::Unfit), "{}", policy);
                    continue;
                }
                _ => continue,
            };
            let part = &case.spec.sites[segment.site.index()].partitions[segment.partition.index()];
            let Some(tasks) = members.get(&segment.job) else { continue };
            for task in tasks {
                let (kind, bytes) = needed[&task.name];
                if let Some((_, tag)) = TAGS.iter().find(|(of, _)| *of == kind) {
                    prop_assert!(part.groups[0].equipment.tags.contains(*tag), "{}: {:?} in {:?}", policy, task, part);
                }
                if let Some(memory) = part.groups[0].equipment.memory {
                    let machines = segment.procs.len().div_ceil(part.cores);
                    prop_assert!(bytes <= memory.count() * u64::from(machines), "{}: {:?} in {:?}", policy, task, part);
                }
            }
        }
    }
}

const SCENARIO: &str = r#"
[[site]]
name = "ada"
policy = "fcfs"
machines = [{ class = "plain", memory = "8 GB" }, { class = "gpu", memory = "16 GB", tags = ["gpu"] }]
[broker]
policy = "mct"
[[workload]]
workflow = "fork-join[tasks=4,width=2,runtime=100 s]"
tags = { work = "gpu" }
"#;

#[test]
fn a_task_in_the_table_where_it_cannot_run_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("run.toml"), folder.path().join("out"));
    fs::write(&file, SCENARIO).unwrap();
    gridemu(&["run", file.to_str().unwrap(), "--out", out.to_str().unwrap()]).well();
    legal(&out);
    damage(&out, "tasks.csv", "0,work_00000002,", "partition", "plain");
    let found = judged(&out).remove(0);
    let message = &found.verdict.broken[&Rule::Needs].first.message;
    assert_eq!(
        message,
        "task `work_00000002` of workflow 0 runs in `plain` of `ada`, which lacks its tag `gpu`"
    );
}

/// One workflow file with this task, on machines of two cores with 4 GB and the tag `ssd`.
fn with_task(task: &str, more: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let workflow = format!(
        r#"{{"name": "one", "schemaVersion": "1.5", "workflow": {{
        "specification": {{"tasks": [
            {{"name": "a", "id": "a1", "children": ["b1"], "parents": [], "inputFiles": [], "outputFiles": []}},
            {{"name": "b", "id": "b1", "children": [], "parents": ["a1"], "inputFiles": [], "outputFiles": []}}], "files": []}},
        "execution": {{"makespanInSeconds": 9, "executedAt": "2024-01-01T00:00:00Z", "tasks": [
            {{"id": "a1", "runtimeInSeconds": 5}}, {{"id": "b1", "runtimeInSeconds": 5{task}}}], "machines": []}}}}}}"#
    );
    let scenario = format!(
        r#"
[[site]]
name = "ada"
machines = [{{ class = "node", count = 4, cores = 2, memory = "4 GB", tags = ["ssd"] }}, {{ class = "small", memory = "1 GB" }}]
[broker]
policy = "mct"
[[workload]]
workflow = "one.json"
{more}
"#
    );
    fs::write(folder.path().join("one.json"), workflow).unwrap();
    fs::write(folder.path().join("run.toml"), scenario).unwrap();
    folder
}

/// `check` and `run` refuse a task that fits nowhere, and nothing is written.
#[test]
fn a_task_that_fits_nowhere_is_told_before_anything_runs() {
    let cases = [
        (
            r#", "coreCount": 9"#,
            "",
            "`workload[0]`: `one.json`: task `b1` needs 9 processors, and the largest partition, `node` of `ada`, has 8",
        ),
        (
            r#", "coreCount": 3, "memoryInBytes": 8000000001"#,
            "",
            "task `b1` needs 8000000001 B of memory on 3 processors, and the most that as many have, in `node` of `ada`, is 8 GB",
        ),
        ("", r#"tags = { b = "gpu" }"#, "task `b1` requires the tag `gpu`, and no machines have it"),
        (
            "",
            "tags = { a = \"gpu\", \"*\" = \"ssd\" }\ngroup = \"vertical\"",
            "the group `a1+1` of 2 tasks requires the tags `gpu`, `ssd`, and no machines have all of them",
        ),
        (
            r#", "coreCount": 9"#,
            r#"tags = { b = "ssd" }"#,
            "task `b1` needs 9 processors, and the largest partition with the tag `ssd`, `node` of `ada`, has 8",
        ),
        ("", r#"tags = { c = "ssd" }"#, "`tags` has a tag for type `c`, and no task is of it"),
        ("", r#"tags = { b = "" }"#, "a tag is a word that is among the `tags` of machines"),
    ];
    for (task, more, says) in cases {
        let folder = with_task(task, more);
        let (file, out) = (folder.path().join("run.toml"), folder.path().join("out"));
        let (file, folder_of_run) = (file.to_str().unwrap(), out.to_str().unwrap());
        gridemu(&["check", file]).ends(2, &[says]);
        gridemu(&["run", file, "--out", folder_of_run]).ends(2, &[says]);
        assert!(!out.exists(), "{says}");
    }
    let fits = with_task(r#", "coreCount": 3, "memoryInBytes": 8000000000"#, r#"tags = { "*" = "ssd" }"#);
    let file = fits.path().join("run.toml");
    gridemu(&["check", file.to_str().unwrap()]).well();
    let ran = gridemu(&["run", file.to_str().unwrap()]);
    ran.well();
    assert!(!ran.out.contains("rejected"), "{}", ran.out);
}

#[test]
fn machines_with_impossible_equipment_are_refused() {
    for (written, says) in [
        (r#"memory = "0 B""#, "`site.ada.machines[0].memory`: a machine has more memory than none"),
        (r#"tags = ["gpu", "gpu"]"#, "`site.ada.machines[0].tags[1]`: the tag `gpu` is there twice"),
        (r#"tags = [""]"#, "a tag is a word such as `gpu`"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run.toml");
        fs::write(
            &file,
            format!("[[site]]\nname = \"ada\"\nmachines = [{{ class = \"node\", {written} }}]\n"),
        )
        .unwrap();
        gridemu(&["check", file.to_str().unwrap()]).ends(2, &[says]);
    }
}

/// Of a generator only the first workflow is known beforehand, which needs 8 processors. Others need 9 for a level: these fail, and the run says so.
#[test]
fn a_later_workflow_of_a_generator_that_does_not_fit_is_rejected_in_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.toml");
    let ran = |procs: u32| {
        let scenario = format!(
            "[[site]]\nname = \"ada\"\nmachines = [{{ class = \"node\", count = {procs} }}]\n[broker]\n[[workload]]\n\
             workflow = \"layered[tasks=30,width=5,seed=4]\"\ncount = 20\ngroup = \"level\"\n"
        );
        fs::write(&file, scenario).unwrap();
        gridemu(&["run", file.to_str().unwrap()])
    };
    ran(7).ends(
        2,
        &["tasks needs 8 processors, and the largest partition, `node` of `ada`, has 7", "`level[procs=7]`"],
    );
    let told = |procs: u32| ran(procs).well().out.split_whitespace().collect::<Vec<_>>().join(" ");
    let note = "note: 10 jobs were rejected, because no pool could run them; tasks that wait for such a job are cancelled";
    assert!(told(8).contains(note) && !told(9).contains("rejected"), "{}", told(8));
}
