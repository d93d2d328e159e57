//! Workflows of WfCommons, Pegasus and OpenDC, if they are available (see `archive_swf`).

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use gridemu::formats::{ReadWorkflow, dax, gwf, wfformat};
use gridemu::workflow::{Costs, Draft, Workflow, WorkflowContents};

use crate::archive_swf::data;

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
