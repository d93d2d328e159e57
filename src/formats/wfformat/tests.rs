use std::io::Cursor;

use proptest::prelude::*;

use super::*;
use crate::units::{Bytes, Energy, Power, Span, Time};
use crate::workflow::TaskId;
use crate::workflow::tests::{drafts, topcuoglu};

fn read_str(text: &str) -> Result<ReadWorkflow, WorkflowFileError> {
    read("w.json", Box::new(Cursor::new(text.to_owned().into_bytes())))
}

const OLD: &str = r#"{"name": "old", "schemaVersion": "1.4", "wms": {"name": "Pegasus"}, "workflow": {"tasks": [
    {"name": "split_ID1", "id": "ID1", "category": "split", "runtimeInSeconds": 1.5, "cores": 2, "memoryInBytes": 7, "parents": [],
     "children": ["work_ID2"], "files": [{"link": "input", "name": "in", "sizeInBytes": 10},
     {"link": "output", "name": "part", "sizeInBytes": 4}]},
    {"name": "work_ID2", "id": "ID2", "runtimeInSeconds": 0, "parents": ["split_ID1"], "files": [
     {"link": "input", "name": "part", "sizeInBytes": 4}]}]}}"#;

const NEW: &str = r#"{"name": "new", "schemaVersion": "1.5", "workflow": {"specification": {"tasks": [
    {"name": "split_ID1", "id": "split_ID1", "parents": [], "children": ["work_ID2"], "inputFiles": ["in"], "outputFiles": ["part"]},
    {"name": "work_ID2", "id": "work_ID2", "parents": ["split_ID1"], "children": [], "inputFiles": ["part"], "outputFiles": []}],
    "files": [{"id": "in", "sizeInBytes": 10}, {"id": "part", "sizeInBytes": 4}]},
    "execution": {"makespanInSeconds": 2, "executedAt": "", "tasks": [
    {"id": "split_ID1", "runtimeInSeconds": 1.5, "coreCount": 1.5, "memoryInBytes": 7, "command": {"program": "split"}},
    {"id": "work_ID2", "runtimeInSeconds": 0, "command": {"program": "cat a b"}}]}}}"#;

#[test]
fn old_and_new_versions_say_the_same() {
    let (old, new) = (read_str(OLD).unwrap(), read_str(NEW).unwrap());
    assert_eq!((old.workflow.name(), new.workflow.name()), ("old", "new"));
    assert_eq!(old.workflow.draft().tasks, new.workflow.draft().tasks);
    assert_eq!(old.workflow.draft().files, new.workflow.draft().files);
    assert!(old.notes.is_empty() && new.notes.is_empty());
    let split = new.workflow.task(TaskId(0));
    assert_eq!((&*split.name, &*split.kind, split.procs), ("split_ID1", "split", 2));
    assert_eq!((split.runtime, split.memory), (Span::from_micros(1_500_000), Some(Bytes::new(7))));
    let work = new.workflow.task(TaskId(1));
    assert_eq!((&*work.kind, work.runtime), ("work", Span::ZERO));
    // Versions before 1.4: other keys, memory in kB; before 1.3 tasks are jobs.
    let older = OLD
        .replace("1.4", "1.3")
        .replace("runtimeInSeconds", "runtime")
        .replace("sizeInBytes", "size")
        .replace("\"memoryInBytes\": 7", "\"memory\": 0.007");
    assert_eq!(read_str(&older).unwrap().workflow.draft(), old.workflow.draft());
    let oldest = older.replace("1.3", "1.0").replace("\"tasks\"", "\"jobs\"");
    assert_eq!(read_str(&oldest).unwrap().workflow.draft(), old.workflow.draft());
    assert_eq!(
        read_str(&NEW.replace("1.5\", \"w", "1.6\", \"w")).unwrap().workflow.draft(),
        new.workflow.draft()
    );
}

#[test]
fn gzip_is_read() {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, NEW.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    assert_eq!(read("w.json.gz", Box::new(Cursor::new(packed.clone()))).unwrap().workflow.len(), 2);
    let cut = packed[..packed.len() / 2].to_vec();
    let error = read("w.json.gz", Box::new(Cursor::new(cut))).unwrap_err();
    assert!(error.to_string().contains("`w.json.gz`"), "{error}");
    assert!(error.hint().unwrap().contains("fetch it again"));
}

/// The id of one task is the name of another: a parent is meant by its name.
#[test]
fn a_name_comes_before_an_id() {
    let text = r#"{"name": "o", "schemaVersion": "1.0", "workflow": {"jobs": [{"name": "a", "id": "b", "runtime": 1},
        {"name": "b", "id": "q", "runtime": 5}, {"name": "c", "id": "r", "runtime": 1, "parents": ["b"]}]}}"#;
    let read = read_str(text).unwrap().workflow;
    assert_eq!(read.draft().tasks[2].parents, [read.draft().tasks[1].name.clone()]);
}

#[test]
fn a_byte_order_mark_is_no_text() {
    let marked = format!("\u{feff}{OLD}");
    assert_eq!(
        read_str(&marked).unwrap().workflow.draft().tasks,
        read_str(OLD).unwrap().workflow.draft().tasks
    );
    assert!(crate::formats::is_wfformat(Box::new(Cursor::new(marked.into_bytes()))));
}

#[test]
fn names_that_do_not_have_the_id_get_it() {
    let text =
        OLD.replace("\"name\": \"work_ID2\"", "\"name\": \"work\"").replace("[\"work_ID2\"]", "[\"work\"]");
    let read = read_str(&text).unwrap().workflow;
    assert_eq!(read.task(TaskId(1)).name, "work_ID2");
    assert_eq!(read.edges().len(), 1);
}

#[test]
fn mistakes_are_told_with_their_place() {
    for (text, from, to, told) in [
        (
            NEW,
            "\"1.5\", \"w",
            "\"2.0\", \"w",
            "`w.json`, schemaVersion: version 2.0 of the schema is not known",
        ),
        (NEW, "\"schemaVersion\": \"1.5\", ", "", "schemaVersion: the version of the schema is missing"),
        (NEW, "specification", "spec", "workflow.specification: it is missing"),
        (
            NEW,
            "\"execution\"",
            "\"run\"",
            "workflow.execution: it is missing, so the tasks have no run times",
        ),
        (
            NEW,
            "[\"split_ID1\"]",
            "[\"x\"]",
            "workflow.specification.tasks[1].parents[0]: the task `work_ID2` has the parent `x`",
        ),
        (
            NEW,
            "[\"work_ID2\"]",
            "[\"x\"]",
            "workflow.specification.tasks[0].children[0]: the task `split_ID1` has the child `x`",
        ),
        (NEW, "[\"work_ID2\"]", "[\"split_ID1\"]", "tasks[0]: the task `split_ID1` waits for itself"),
        (
            NEW,
            "[\"in\"]",
            "[\"on\"]",
            "workflow.specification.tasks[0].inputFiles[0]: the file `on` of the task `split_ID1` has no size",
        ),
        (
            NEW,
            "[\"part\"], \"out",
            "[\"part\", \"z\"], \"out",
            "workflow.specification.tasks[1].inputFiles[1]: the file `z`",
        ),
        (
            NEW,
            "\"in\", \"sizeInBytes\": 10",
            "\"in\"",
            "workflow.specification.files[0]: the file `in` has no size",
        ),
        (
            NEW,
            "\"sizeInBytes\": 10",
            "\"sizeInBytes\": -10",
            "workflow.specification.files[0]: the size of the file `in` is -10",
        ),
        (
            NEW,
            "1.5, \"core",
            "-1.5, \"core",
            "workflow.execution.tasks[0].runtimeInSeconds: the run time of the task `split_ID1` is -1.5 s",
        ),
        (
            NEW,
            "\"runtimeInSeconds\": 0,",
            "",
            "workflow.execution.tasks[1]: the task `work_ID2` has no run time",
        ),
        (
            NEW,
            "{\"id\": \"work_ID2\", \"r",
            "{\"id\": \"x\", \"r",
            "workflow.execution.tasks[1].id: `x` is no task",
        ),
        (
            NEW,
            "{\"id\": \"work_ID2\", \"r",
            "{\"id\": \"split_ID1\", \"r",
            "workflow.execution.tasks[1].id: the task `split_ID1` was executed before",
        ),
        (
            NEW,
            "\"coreCount\": 1.5",
            "\"coreCount\": 0",
            "workflow.execution.tasks[0].coreCount: the task `split_ID1` has 0 processors",
        ),
        (
            NEW,
            "\"memoryInBytes\": 7",
            "\"memoryInBytes\": 1e30",
            "workflow.execution.tasks[0].memoryInBytes: the memory",
        ),
        (
            NEW,
            "\"parents\": []",
            "\"parents\": 3",
            "not WfFormat: invalid type: integer `3`, expected a sequence at line 2",
        ),
        (
            NEW,
            "\"work_ID2\", \"id\": \"work_ID2\"",
            "\"work_ID2\", \"id\": \"split_ID1\"",
            "workflow.specification.tasks[1].id: two tasks have the id `split_ID1`",
        ),
        (OLD, "\"tasks\"", "\"jobs\"", "workflow.tasks: it is missing, which version 1.4 needs"),
        (
            OLD,
            "[\"split_ID1\"]",
            "[\"x\"]",
            "workflow.tasks[1].parents[0]: the task `work_ID2` has the parent `x`",
        ),
        (OLD, "\"runtimeInSeconds\": 0,", "", "workflow.tasks[1]: the task `work_ID2` has no run time"),
        (
            OLD,
            "\"runtimeInSeconds\": 1.5",
            "\"runtimeInSeconds\": 1e99",
            "workflow.tasks[0].runtimeInSeconds: the run time",
        ),
        (
            OLD,
            "\"in\", \"sizeInBytes\": 10",
            "\"in\"",
            "workflow.tasks[0].files[0]: the file `in` has no size",
        ),
        (
            OLD,
            "\"sizeInBytes\": 10",
            "\"sizeInBytes\": -1",
            "workflow.tasks[0].files[0]: the size of the file `in` is -1 bytes",
        ),
        (OLD, "\"link\": \"output\"", "\"link\": \"inout\"", "workflow.tasks[0].files[1]: `link` is `inout`"),
        (
            OLD,
            "\"name\": \"part\", \"sizeInBytes\": 4}]},",
            "\"name\": \"in\", \"sizeInBytes\": 4}]},",
            "workflow.tasks[0].files[0]: `split_ID1` both reads and writes",
        ),
        (
            NEW,
            "[\"in\"]",
            "[\"i\\nn\"]",
            "workflow.specification.tasks[0].inputFiles[0]: the name of a file has",
        ),
        (
            OLD,
            "\"name\": \"work_ID2\"",
            "\"name\": \"wo\\trk\"",
            "workflow.tasks[1]: the name of a task has a control character",
        ),
        (
            OLD,
            "\"cores\": 2",
            "\"cores\": -2",
            "workflow.tasks[0].cores: the task `split_ID1` has -2 processors",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        let error = read_str(&text.replacen(from, to, 1)).expect_err(told).to_string();
        assert!(error.contains(told) && error.starts_with("`w.json`"), "{error}\n{told}");
    }
    let empty = r#"{"schemaVersion": "1.4", "workflow": {"tasks": []}}"#;
    assert!(read_str(empty).unwrap_err().to_string().contains("workflow.tasks: the workflow has no tasks"));
    // Deep nesting is refused where it is read and passed over where it is not, in both cases without a deep stack.
    for begin in ["", "{\"workflow\": ", "{\"unknown\": ", "{\"workflow\": {\"tasks\": "] {
        assert!(read_str(&format!("{begin}{}", "[".repeat(1_000_000))).is_err());
    }
    for (text, told) in [
        ("", "`w.json`, line 1, column 0: not JSON: EOF while parsing a value"),
        (&NEW[..NEW.len() - 3], "not JSON: EOF while parsing an object"),
        ("{\n\"name\": NaN}", "`w.json`, line 2, column 9: not JSON: expected value"),
        ("{\"name\": 7}", "`w.json`: not WfFormat: invalid type: integer `7`"),
    ] {
        let error = read_str(text).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}

/// It reads its own file beside that of its parent, which comes first.
#[test]
fn a_task_that_is_its_own_parent_is_told_so() {
    let task = |name: &str, parents: &str, reads: &str| {
        format!(
            r#"{{"name": "{name}", "runtimeInSeconds": 1, "parents": [{parents}], "files": [{reads}
            {{"link": "output", "name": "f", "sizeInBytes": 1}}]}}"#
        )
    };
    let own = task("b", r#""a", "b""#, r#"{"link": "input", "name": "f", "sizeInBytes": 1},"#);
    let text = format!(
        r#"{{"name": "o", "schemaVersion": "1.4", "workflow": {{"tasks": [{}, {own}]}}}}"#,
        task("a", "", "")
    );
    let error = read_str(&text).unwrap_err().to_string();
    assert!(error.contains("workflow.tasks[1].files: `b` both reads and writes"), "{error}");
}

#[test]
fn a_file_that_two_tasks_write_is_read_from_a_parent() {
    let second = r#"{"name": "late", "runtimeInSeconds": 1, "parents": ["work_ID2"], "files": [
        {"link": "output", "name": "part", "sizeInBytes": 9}]}, {"name": "last", "runtimeInSeconds": 1, "parents": ["late", "split_ID1"], "files": [
        {"link": "input", "name": "part", "sizeInBytes": 8}]}]}}"#;
    let text = OLD.replace("]}]}}", &format!("]}}, {second}"));
    let read = read_str(&text).unwrap();
    let names: Vec<_> = read.workflow.files().iter().map(|file| (&*file.name, file.size.count())).collect();
    assert_eq!(names, [("in", 10), ("part", 4), ("part#late", 9)]);
    assert_eq!(
        read.workflow.predecessors(TaskId(3)).collect::<Vec<_>>(),
        [(TaskId(0), Bytes::new(4)), (TaskId(2), Bytes::new(9))]
    );
    assert_eq!(read.notes.len(), 2, "{:?}", read.notes);
    // The same parents, told by them.
    let told = text
        .replace("[\"late\", \"split_ID1\"]", "[]")
        .replace("\"children\": [\"work_ID2\"]", "\"children\": [\"work_ID2\", \"last\"]");
    let told =
        told.replace("\"parents\": [\"work_ID2\"]", "\"parents\": [\"work_ID2\"], \"children\": [\"last\"]");
    let predecessors =
        |workflow: &crate::workflow::Workflow| workflow.predecessors(TaskId(3)).collect::<Vec<_>>();
    assert_eq!(predecessors(&read_str(&told).unwrap().workflow), predecessors(&read.workflow));
    // A name that is made up is no other file's.
    let taken = text.replace("\"in\"", "\"part#late\"");
    let names =
        read_str(&taken).unwrap().workflow.files().iter().map(|file| file.name.clone()).collect::<Vec<_>>();
    assert_eq!(names, ["part#late", "part", "part#late+"]);
    let lost = text.replace("[\"late\", \"split_ID1\"]", "[]");
    let error = read_str(&lost).unwrap_err().to_string();
    assert!(
        error.contains(
            "workflow.tasks[3].files[0]: the task `last` reads the file `part`, which several tasks write"
        ),
        "{error}"
    );
}

#[test]
fn the_example_of_topcuoglu_is_a_file() {
    let workflow = topcuoglu().build().unwrap();
    let mut text = Vec::new();
    write(&workflow, &mut text).unwrap();
    let read = read_str(str::from_utf8(&text).unwrap()).unwrap().workflow;
    assert_eq!(read.draft(), workflow.draft());
    assert_eq!(read.task(TaskId(0)).by_class["P3"], Span::from_secs(9));
    // Once executed, a task has the run time that it had, and no others.
    let ran = ExecutedTask {
        began: Time::ZERO,
        runtime: Span::from_secs(5),
        machines: Vec::new(),
        energy: Energy::ZERO,
        power: Power::ZERO,
    };
    let makespan = Span::from_secs(80);
    let tasks = vec![ran; workflow.len()];
    let execution = Execution { began: Time::ZERO, makespan, tasks, machines: Vec::new() };
    let mut text = Vec::new();
    write_execution(&workflow, &execution, &mut text).unwrap();
    let read = read_str(str::from_utf8(&text).unwrap()).unwrap().workflow;
    assert!(read.tasks().all(|task| task.by_class.is_empty() && task.runtime == Span::from_secs(5)));
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(draft in drafts()) {
        let workflow = draft.build().unwrap();
        let mut text = Vec::new();
        write(&workflow, &mut text).unwrap();
        let read = read_text("w.json", &text).unwrap().workflow;
        prop_assert_eq!(read.draft(), workflow.draft());
    }

    #[test]
    fn takes_any_text(at in 0_usize..700, text in "[\\PC{}\\[\\]\":,0-9-]{0,9}") {
        for whole in [OLD, NEW] {
            let _ = read_str(&text);
            let mut broken = whole.to_owned();
            broken.insert_str(at.min(whole.len()), &text);
            let _ = read_str(&broken);
        }
    }
}
