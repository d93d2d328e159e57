//! Workflows of WfCommons, Pegasus and OpenDC, if they are available (see `archive_swf`).

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use gridemu::experiment::{Progress, Run, open_workflows};
use gridemu::formats::{ReadWorkflow, dax, gwf, wfformat};
use gridemu::grid::Policies;
use gridemu::metrics::{Fingerprint, WorkflowSummary};
use gridemu::scenario::{Override, Scenario};
use gridemu::workflow::shapes::ShapeSpec;
use gridemu::workflow::{Costs, Draft, Workflow, WorkflowContents};
use rayon::prelude::*;

use crate::archive_swf::data;
use crate::validating::legal;

/// The files below `folder`, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn instance(path: &Path) -> ReadWorkflow {
    let read = wfformat::read(&name(path), Box::new(File::open(path).unwrap()));
    read.unwrap_or_else(|error| panic!("{error}"))
}

/// The draft without what two versions of a schema may write in another order or not at all.
fn canonical(workflow: &Workflow) -> Draft {
    let mut draft = workflow.draft();
    draft.name.clear();
    draft.tasks.iter_mut().for_each(|task| {
        task.parents.sort_unstable();
        task.inputs.sort_unstable();
        task.outputs.sort_unstable();
    });
    draft.tasks.sort_by(|one, other| one.name.cmp(&other.name));
    draft.files.sort_by(|one, other| one.0.cmp(&other.0));
    draft
}

/// What must hold of every workflow.
fn sound(workflow: &Workflow) {
    let levels = workflow.levels();
    assert!(workflow.edges().all(|(from, to, _)| levels[from.index()] < levels[to.index()]));
    let (length, path) = workflow.critical_path(&Costs::at_reference(workflow, None));
    let on_path: f64 = path.iter().map(|task| workflow.task(*task).runtime.as_secs_f64()).sum();
    assert!((length - on_path).abs() <= length * 1e-9, "{}", workflow.name());
    let contents = WorkflowContents::of(workflow, "1 Gbit/s".parse().unwrap());
    assert_eq!(contents.types.iter().map(|of| of.tasks).sum::<u64>(), contents.tasks);
    assert!(contents.critical_path_s <= contents.runtime_s * (1.0 + 1e-9) + 1e-9);
}

#[test]
fn all_instances_of_wfcommons_load() {
    let Some(data) = data() else { return };
    let folder = data.join("wfcommons");
    let index = std::fs::read_to_string(folder.join("INDEX.tsv")).unwrap();
    let tasks: BTreeMap<String, usize> = index
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split('\t').collect();
            (format!("{}/{}", cells[0], cells[1]), cells[3].parse().unwrap())
        })
        .collect();
    let paths: Vec<_> =
        files(&folder).into_iter().filter(|path| path.extension().is_some_and(|end| end == "gz")).collect();
    assert_eq!(paths.len(), 322);
    let mut new = BTreeMap::new();
    let mut twins = 0;
    // Versions 1.5 come after the older ones, so that these are compared in a second pass.
    let (v15, others): (Vec<_>, Vec<_>) =
        paths.iter().partition(|path| path.parent().unwrap().ends_with("v1.5"));
    for path in v15.into_iter().chain(others) {
        let ReadWorkflow { workflow, notes } = instance(path);
        let folder = name(path.parent().unwrap());
        if let Some(count) = tasks.get(&format!("{folder}/{}", name(path))) {
            assert_eq!(workflow.len(), *count, "{}", path.display());
        }
        assert!(notes.is_empty(), "{}: {notes:?}", path.display());
        sound(&workflow);
        let draft = canonical(&workflow);
        if folder == "v1.5" {
            new.insert(name(path), draft);
        } else if let Some(twin) = new.get(&name(path)) {
            assert!(*twin == draft, "{} differs from its twin", path.display());
            twins += 1;
        }
    }
    assert_eq!(twins, 149);
}

#[test]
fn what_is_written_of_an_instance_is_read_back() {
    let Some(data) = data() else { return };
    for path in files(&data.join("wfcommons/v1.5")).iter().step_by(11) {
        let workflow = instance(path).workflow;
        let mut text = Vec::new();
        wfformat::write(&workflow, &mut text).unwrap();
        let again = wfformat::read("again", Box::new(std::io::Cursor::new(text))).unwrap().workflow;
        assert!(again.draft() == workflow.draft(), "{}", path.display());
    }
}

#[test]
fn all_dax_files_load() {
    let Some(data) = data() else { return };
    let mut tasks = BTreeMap::new();
    let mut notes = BTreeMap::new();
    for path in files(&data.join("dax")) {
        let read = dax::read(&name(&path), Box::new(File::open(&path).unwrap()));
        let read = read.unwrap_or_else(|error| panic!("{error}"));
        sound(&read.workflow);
        tasks.insert(name(&path).replace(".xml.gz", ""), read.workflow.len());
        notes.insert(name(&path).replace(".xml.gz", ""), read.notes);
    }
    assert_eq!(tasks.len(), 19);
    // The number in the name is nominal.
    assert_eq!((tasks["Sipht_30"], tasks["Epigenomics_46"], tasks["Montage_1000"]), (29, 47, 1000));
    assert_eq!(notes["Epigenomics_997"][0], "57 run times below zero, the lowest -1.64 s: read as 0");
    assert_eq!(notes["Epigenomics_997"][1], "209 sizes below zero, the lowest -13985387 bytes: read as 0");
    assert!(notes["Montage_25"].iter().any(|note| note.starts_with("2 files that several tasks write")));
    assert!(notes["Epigenomics_24"].is_empty());
}

#[test]
fn the_workflow_trace_of_opendc_loads() {
    let Some(data) = data() else { return };
    let path = data.join("gwf/opendc-workflow-trace.gwf.gz");
    let read = gwf::read(&name(&path), Box::new(File::open(path).unwrap())).unwrap();
    assert_eq!(read.workflows.len(), 758);
    assert_eq!(read.workflows.iter().map(|(_, workflow)| workflow.len()).sum::<usize>(), 30_746);
    assert!(read.workflows.is_sorted_by_key(|(submit, _)| *submit));
    read.workflows.iter().for_each(|(_, workflow)| sound(workflow));
}

/// Runs the workflows of a file on the grid of `configs/workflows.toml`, in place of the generated ones. The schedule is valid.
fn runs(path: &Path, scenario: &Path, text: &str) -> (Fingerprint, WorkflowSummary) {
    let out = tempfile::tempdir().unwrap();
    let text = format!("{text}[[workload]]\nworkflow = '{}'\n", path.display());
    let (sets, policies) = ([Override::path("--out", "output.folder", out.path())], Policies::standard());
    let scenario = Scenario::read(scenario, &text, &sets, &policies);
    let scenario = scenario.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let summary = Run::new(scenario, 1, &policies).run(&Progress::default());
    let summary = summary.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    legal(out.path());
    (summary.fingerprint, summary.workflows.expect("there are workflows"))
}

#[test]
fn every_published_workflow_runs_and_its_schedule_is_valid() {
    let Some(data) = data() else { return };
    let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/workflows.toml");
    let text = std::fs::read_to_string(&scenario).unwrap();
    let (grid, _) = text.split_once("[[workload]]").unwrap();
    let paths: Vec<_> =
        ["wfcommons", "dax", "gwf"].iter().flat_map(|folder| files(&data.join(folder))).collect();
    let (others, paths): (Vec<_>, Vec<_>) = paths
        .into_iter()
        .partition(|path| ["INDEX", "surf_"].iter().any(|begin| name(path).starts_with(begin)));
    assert_eq!((paths.len(), others.len()), (322 + 19 + 2, 5));
    let ran: Vec<_> = paths.par_iter().map(|path| runs(path, &scenario, grid)).collect();
    let ended = paths.iter().zip(&ran).map(|(path, (_, workflows))| (name(path), workflows));
    let failed: Vec<_> = ended.filter(|(_, workflows)| workflows.completed < workflows.count).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    let newer = |path: &&PathBuf| path.parent().unwrap().ends_with("v1.5");
    let (mut new, mut twins) = (BTreeMap::new(), 0);
    for (path, ran) in paths.iter().zip(&ran).filter(|(path, _)| newer(path)) {
        new.insert(name(path), ran);
    }
    for (path, ran) in paths.iter().zip(&ran).filter(|(path, _)| !newer(path)) {
        if let Some(twin) = new.get(&name(path)) {
            assert_eq!(*twin, ran, "{} runs otherwise than its twin", path.display());
            twins += 1;
        }
    }
    assert_eq!(twins, 149);
    // Tasks without dependencies, in tables of their own.
    for path in others.iter().filter(|path| name(path).starts_with("surf_")) {
        let error = open_workflows(path, 1).unwrap_err().to_string();
        assert!(
            error.contains("line 1: it does not begin") || error.contains("line 1: the line is not text"),
            "{error}"
        );
    }
}

/// The ratios of generated workflows to instances of as many tasks: over instances and seeds.
#[derive(Default)]
struct Ratios(BTreeMap<String, Vec<f64>>);

impl Ratios {
    fn add(&mut self, what: &str, generated: f64, instance: f64) {
        if instance > 0.0 {
            self.0.entry(what.to_owned()).or_default().push(generated / instance);
        }
    }

    /// The 10th, 50th and 90th percentile of each.
    fn percentiles(self) -> BTreeMap<String, [f64; 3]> {
        let percentiles = |mut ratios: Vec<f64>| {
            ratios.sort_by(f64::total_cmp);
            [10, 50, 90].map(|percent| ratios[(ratios.len() * percent).div_ceil(100) - 1])
        };
        self.0.into_iter().map(|(what, ratios)| (what, percentiles(ratios))).collect()
    }
}

/// Prints what docs/validation.md says of generated workflows.
#[test]
#[expect(clippy::print_stdout)]
fn generated_workflows_resemble_the_instances() {
    let Some(data) = data() else { return };
    let bandwidth = "1 Gbit/s".parse().unwrap();
    for (shape, begin, count) in
        [("montage", "montage-chameleon-2mass", 7), ("epigenomics", "epigenomics", 26)]
    {
        let mut ratios = Ratios::default();
        let mut compared = 0;
        for path in files(&data.join("wfcommons/v1.5")) {
            if !name(&path).starts_with(begin) {
                continue;
            }
            let theirs = WorkflowContents::of(&instance(&path).workflow, bandwidth);
            // One mosaic is empty: its run failed.
            if theirs.types.iter().any(|of| of.kind == "mAdd" && of.written_bytes.max == 0.0) {
                continue;
            }
            compared += 1;
            for seed in 1..=7 {
                let spec: ShapeSpec = format!("{shape}[tasks={},seed={seed}]", theirs.tasks).parse().unwrap();
                let ours = WorkflowContents::of(&spec.workflow(0).unwrap(), bandwidth);
                assert_eq!((ours.levels, ours.types.len()), (theirs.levels, theirs.types.len()));
                let edges = ours.edges as f64 / theirs.edges as f64;
                assert!((0.9..1.1).contains(&edges), "{shape} of {} tasks: {edges}", theirs.tasks);
                ratios.add("critical path", ours.critical_path_s, theirs.critical_path_s);
                ratios.add("run time in all", ours.runtime_s, theirs.runtime_s);
                let (own, real) = (ours.data.between_bytes as f64, theirs.data.between_bytes as f64);
                ratios.add("data", own, real);
                for real in &theirs.types {
                    let own = ours.types.iter().find(|own| own.kind == real.kind).expect("the same types");
                    ratios.add(&format!("{} tasks", real.kind), own.tasks as f64, real.tasks as f64);
                    let (own_s, real_s) = (&own.runtime_s, &real.runtime_s);
                    ratios.add(&format!("{} run time", real.kind), own_s.median, real_s.median);
                    ratios.add(&format!("{} p90 run time", real.kind), own_s.p90, real_s.p90);
                    ratios.add(
                        &format!("{} written", real.kind),
                        own.written_bytes.median,
                        real.written_bytes.median,
                    );
                }
            }
        }
        assert_eq!(compared, count);
        for (what, [p10, median, p90]) in ratios.percentiles() {
            println!("{shape}: {what} {median:.2} ({p10:.2} to {p90:.2})");
            let near = if what.ends_with("tasks") { 0.9..1.1 } else { 0.5..2.0 };
            assert!(near.contains(&median), "{shape}: {what} {median}");
        }
    }
}
