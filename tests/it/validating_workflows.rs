//! `gridemu validate` on runs with workflows: valid ones, and rows damaged by hand, each of which is found.

use std::fs;
use std::path::Path;

use gridemu::verify::Rule;

use crate::cli::gridemu;
use crate::validating::{judged, legal};

/// A fork-join of one, three and one tasks through a grid of two sites 1 s away: they are jobs 1 to 5. Then one of which the second
/// task fails, so that what waits for it is cancelled.
pub(crate) fn ran() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let broken = r#"{"name": "broken", "schemaVersion": "1.5", "workflow": {
        "specification": {"tasks": [
            {"name": "a", "id": "a", "children": ["b"], "parents": [], "inputFiles": [], "outputFiles": []},
            {"name": "b", "id": "b", "children": ["c"], "parents": ["a"], "inputFiles": [], "outputFiles": []},
            {"name": "c", "id": "c", "children": [], "parents": ["b"], "inputFiles": [], "outputFiles": []}], "files": []},
        "execution": {"makespanInSeconds": 9, "executedAt": "2024-01-01T00:00:00Z", "tasks": [
            {"id": "a", "runtimeInSeconds": 5}, {"id": "b", "runtimeInSeconds": 5}, {"id": "c", "runtimeInSeconds": 5}],
            "machines": []}}}"#;
    let scenario = r#"
[[site]]
names  = ["ada", "bob"]
machines = [{ class = "node", count = 1, cores = 2, busy = "144 W", price = "18/core-h" }]
policy = "fcfs"
[network]
latency = "1 s"
[broker]
policy = "mct"
[[workload]]
workflow = "fork-join[tasks=5,width=3,runtime=100 s]"
[[workload]]
workflow = "broken.json"
failures = { b = 1.0 }
task_attempts = 1
"#;
    fs::write(folder.path().join("broken.json"), broken).unwrap();
    let (file, out) = (folder.path().join("run.toml"), folder.path().join("out"));
    fs::write(&file, scenario).unwrap();
    gridemu(&["run", file.to_str().unwrap(), "--out", out.to_str().unwrap()]).well();
    folder
}

/// The cells of a line, those in quotes as they are written.
fn cells(line: &str) -> Vec<&str> {
    let mut quoted = false;
    let cells = line.split(|sign: char| {
        quoted ^= sign == '"';
        sign == ',' && !quoted
    });
    cells.collect()
}

/// The cell of the row whose first columns begin with `row`.
fn cell(text: &str, row: &str, column: &str) -> String {
    let mut lines = text.lines();
    let at = lines.next().unwrap().split(',').position(|name| name == column).expect("a column");
    let line = lines.find(|line| line.starts_with(row)).expect("a row");
    cells(line)[at].to_owned()
}

/// Replaces a cell.
pub(crate) fn damage(out: &Path, file: &str, row: &str, column: &str, value: &str) {
    let path = out.join(file);
    let text = fs::read_to_string(&path).unwrap();
    let at = text.lines().next().unwrap().split(',').position(|name| name == column).expect("a column");
    let damaged = text.lines().map(|line| {
        let mut cells = cells(line);
        if line.starts_with(row) {
            assert_ne!(cells[at], value);
            cells[at] = value;
        }
        cells.join(",") + "\n"
    });
    fs::write(&path, damaged.collect::<String>()).unwrap();
}

#[test]
fn a_run_with_workflows_is_valid_and_damaged_rows_are_found() {
    let folder = ran();
    let out = folder.path().join("out");
    legal(&out);
    let tasks = fs::read_to_string(out.join("tasks.csv")).unwrap();
    let workflows = fs::read_to_string(out.join("workflows.csv")).unwrap();
    let jobs = fs::read_to_string(out.join("jobs.csv")).unwrap();
    // The first task runs from 1 s to 101 s, which the broker knows at 102 s; the three after it from 103 s.
    assert_eq!(
        ["started", "ended", "known"].map(|column| cell(&tasks, "0,fork_00000001,", column)),
        ["1", "101", "102"]
    );
    let cases = [
        (
            "tasks.csv",
            "0,work_00000002,",
            "started",
            "50",
            Rule::Precedence,
            "`work_00000002` of workflow 0 starts at 50 s, and `fork_00000001`, which it waits for, ends at 101 s",
        ),
        (
            "tasks.csv",
            "0,work_00000002,",
            "ready",
            "60",
            Rule::Precedence,
            "is ready at 60 s, and all that it waits for has completed at 102 s",
        ),
        (
            "tasks.csv",
            "0,work_00000002,",
            "started",
            "110",
            Rule::Rows,
            "`started` of task `work_00000002` of workflow 0 is not that of job 2",
        ),
        (
            "tasks.csv",
            "0,work_00000002,",
            "ended",
            "150",
            Rule::Rows,
            "`ended` of task `work_00000002` of workflow 0 is not that of job 2",
        ),
        ("tasks.csv", "0,work_00000002,", "task", "other", Rule::Rows, "its row says otherwise"),
        ("tasks.csv", "0,work_00000002,", "workflow", "7", Rule::Rows, "have no workflow 7"),
        ("tasks.csv", "0,work_00000002,", "job", "77", Rule::Rows, "workflow 0 has no task with job 77"),
        (
            "tasks.csv",
            "0,work_00000002,",
            "job",
            "1",
            Rule::Once,
            "`fork_00000001` of workflow 0 has a second row",
        ),
        (
            "tasks.csv",
            "0,work_00000002,",
            "after",
            "3",
            Rule::Rows,
            "did not wait last for the task in its column `after`",
        ),
        ("tasks.csv", "0,work_00000002,", "queue", "4", Rule::Columns, "the parts of the time"),
        (
            "tasks.csv",
            "0,work_00000002,",
            "last_start",
            "120",
            Rule::Columns,
            "its last start is not its first",
        ),
        ("tasks.csv", "0,work_00000002,", "sent", "99", Rule::Columns, "not in the order of their columns"),
        (
            "tasks.csv",
            "0,fork_00000001,",
            "outcome",
            "failed",
            Rule::Precedence,
            "is ready, and `fork_00000001`, which it waits for, is failed",
        ),
        ("tasks.csv", "1,a,", "outcome", "failed", Rule::Precedence, "`b` of workflow 1 is ready"),
        (
            "tasks.csv",
            "1,c,",
            "outcome",
            "failed",
            Rule::Outcome,
            "`c` of workflow 1 is failed and never was ready",
        ),
        ("workflows.csv", "0,", "makespan", "1", Rule::Columns, "`makespan` of workflow 0 is not"),
        ("workflows.csv", "0,", "completed", "4", Rule::Columns, "`completed` of workflow 0 is not 5"),
        (
            "workflows.csv",
            "0,",
            "outcome",
            "failed",
            Rule::Columns,
            "`outcome` of workflow 0 is not completed",
        ),
        (
            "workflows.csv",
            "0,",
            "critical_path",
            "100",
            Rule::Columns,
            "`critical_path` of workflow 0 is not 300",
        ),
        ("workflows.csv", "0,", "work", "1", Rule::Columns, "`work` of workflow 0 is not 500"),
        ("workflows.csv", "0,", "alone", "1", Rule::Columns, "`alone` of workflow 0 is not 300"),
        ("workflows.csv", "0,", "slowdown", "9", Rule::Columns, "`slowdown` of workflow 0 is not"),
        ("workflows.csv", "0,", "dispatch", "5", Rule::Columns, "`dispatch` of workflow 0 is not"),
        ("workflows.csv", "0,", "peak_procs", "9", Rule::Columns, "`peak_procs` of workflow 0 is not 3"),
        ("workflows.csv", "0,", "moved_bytes", "7", Rule::Columns, "`moved_bytes` of workflow 0 is not"),
        ("workflows.csv", "0,", "energy_j", "5", Rule::Columns, "`energy_j` of workflow 0 is not 36000"),
        // 5 s of the first task and 4.302855 s of the second, which fails.
        ("workflows.csv", "1,", "cost", "5", Rule::Columns, "`cost` of workflow 1 is not 0.046514275"),
        ("workflows.csv", "0,", "submitted", "5", Rule::Arrival, "`submitted` of workflow 0 is not 0"),
        ("workflows.csv", "1,", "workflow", "0", Rule::Once, "workflow 0 has a second row"),
    ];
    for (file, row, column, value, rule, says) in cases {
        damage(&out, file, row, column, value);
        let found = judged(&out).pop().unwrap().verdict;
        let first =
            found.broken.get(&rule).unwrap_or_else(|| panic!("{column} {value}: {:#?}", found.broken));
        assert!(first.first.message.contains(says), "{column} {value}: {}", first.first.message);
        assert_eq!(first.first.row.file, file, "{column} {value}");
        fs::write(out.join("tasks.csv"), &tasks).unwrap();
        fs::write(out.join("workflows.csv"), &workflows).unwrap();
    }
    // A row that is missing is told, and a job that was submitted before its workflow too.
    let cut = |text: &str, row: &str| -> String {
        text.lines().filter(|line| !line.starts_with(row)).map(|line| line.to_owned() + "\n").collect()
    };
    fs::write(out.join("tasks.csv"), cut(&tasks, "0,work_00000002,")).unwrap();
    let told = |rule| judged(&out).pop().unwrap().verdict.broken[&rule].first.message.clone();
    assert_eq!(told(Rule::Rows), "1 tasks of workflow 0 have no row");
    fs::write(out.join("tasks.csv"), &tasks).unwrap();
    fs::write(out.join("workflows.csv"), cut(&workflows, "1,")).unwrap();
    assert_eq!(told(Rule::Rows), "workflow 1 has no row");
    fs::write(out.join("workflows.csv"), &workflows).unwrap();
    damage(&out, "jobs.csv", "2,", "submit", "101");
    assert!(told(Rule::Rows).contains("`ready` of task `work_00000002`"), "{}", told(Rule::Rows));
    fs::write(out.join("jobs.csv"), &jobs).unwrap();
    legal(&out);
}
