use std::io::Cursor;

use proptest::prelude::*;

use super::*;
use crate::workflow::TaskId;

fn read_str(text: &str) -> Result<ReadWorkflows, WorkflowFileError> {
    read("w.gwf", Box::new(Cursor::new(text.to_owned().into_bytes())))
}

const SEVEN: &str = "WorkflowID, JobID , SubmitTime, RunTime , NProcs , ReqNProcs , Dependencies
1         , 3         , 46        , 11        , 1         , 1         ,
0         , 1         , 16        , 11        , -1        , 4         ,
0         , 2         , 40        , 0         , 2         , 1         , 1
1         , 4         , 40        , 5         , 1         , 1         , 3
1         , 5         , 64        , 5         , 1         , 1         , 3 4
";

/// A line of the archive's dialect.
fn long(job: u32, submit: u32, runtime: i32, structure: &str, params: &str) -> String {
    let rest = "1 -1 -1 -1 -1 -1 1 u1 g1 app1 q1 p1 s1 s2";
    format!("{job} {submit} 3 {runtime} {rest} {structure} {params} -1 -1 -1 -1 -1 -1 -1 -1 -1\n")
}

#[test]
fn seven_columns_are_many_workflows() {
    let read = read_str(SEVEN).unwrap();
    assert_eq!(read.workflows.len(), 2);
    let (submit, zero) = &read.workflows[0];
    assert_eq!((*submit, zero.name(), zero.len()), (Time::ZERO, "0", 2));
    assert_eq!((zero.task(TaskId(0)).procs, zero.task(TaskId(1)).procs), (4, 2));
    assert_eq!(zero.task(TaskId(1)).runtime, Span::ZERO);
    let (submit, one) = &read.workflows[1];
    // The first of its jobs, not the first in the file.
    assert_eq!((*submit, one.name()), (Time::from_secs(24), "1"));
    assert_eq!(one.edges().map(|(from, to, _)| (from.0, to.0)).collect::<Vec<_>>(), [(0, 1), (0, 2), (1, 2)]);
}

#[test]
fn the_dialect_of_the_archive_is_read() {
    let text = format!(
        "# JobID SubmitTime ...\n\n{}{}{}{}{}",
        long(1, 1_000_000_100, 60, "UNITARY", "-1"),
        long(2, 1_000_000_050, 10, "DAG", "wf7"),
        long(3, 1_000_000_060, 10, "DAG", "wf7:2"),
        long(4, 1_000_000_060, -1, "-1", "-1"),
        long(5, 1_000_000_070, 10, "DAG", "wf7,2;3"),
    );
    let read = read_str(&text).unwrap();
    let names: Vec<_> =
        read.workflows.iter().map(|(submit, w)| (submit.as_secs_f64(), w.name(), w.len())).collect();
    assert_eq!(names, [(0.0, "wf7", 3), (50.0, "job 1", 1)]);
    assert_eq!(read.workflows[0].1.edges().len(), 3);
    assert_eq!(read.workflows[0].1.task(TaskId(0)).kind, "app1");
    assert_eq!(read.notes, ["1 job without a run time: left out"]);
}

#[test]
fn mistakes_are_told_with_their_line() {
    for (text, told) in [
        (SEVEN.replace(", 3 4", ", 3 9"), "`w.gwf`, line 6: the task `5` has the parent `9`"),
        (SEVEN.replace(", 3 4", ", 5"), "line 6: the task `5` waits for itself"),
        (SEVEN.replace(", 4         , 40", ", 3         , 40"), "line 5: two tasks have the name `3`"),
        (SEVEN.replace(", 64", ", soon"), "line 6: `SubmitTime` is `soon`, not a number"),
        (SEVEN.replace("11        , 1 ", "-7        , 1 "), "line 2: the run time of the task `3` is -7 s"),
        (
            SEVEN.replace(", 4         , 40", ", 4\t4         , 40"),
            "line 5: the name of a task has a control",
        ),
        (SEVEN.replace(", 3 4", ""), "line 6: the line has 6 columns, not 7"),
        ("1, 2, 3, 4, 5, 6, 7\n".to_owned(), "line 1: it does not begin with the header"),
        ("1 2 3\n".to_owned(), "line 1: the line has 3 columns, not 29"),
        (long(1, 0, 5, "DAG", "-1"), "line 1: the job `1` is part of a DAG, but column 20 does not name it"),
        (long(1, 0, 5, "DAG", "w:2"), "line 1: the task `1` has the parent `2`"),
        ("# nothing\n".to_owned(), "`w.gwf`: it has no workflows"),
    ] {
        let error = read_str(&text).expect_err(told).to_string();
        assert!(error.contains(told) && error.starts_with("`w.gwf`"), "{error}\n{told}");
    }
}

proptest! {
    #[test]
    fn takes_any_text(at in 0_usize..400, text in "[\\PC,;: \n0-9.-]{0,12}") {
        let _ = read_str(&text);
        let mut broken = SEVEN.to_owned();
        broken.insert_str(at.min(SEVEN.len()), &text);
        let _ = read_str(&broken);
    }
}
