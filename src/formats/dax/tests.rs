use std::io::Cursor;

use proptest::prelude::*;

use super::*;
use crate::units::{Bytes, Span};
use crate::workflow::TaskId;

fn read_str(text: &str) -> Result<ReadWorkflow, WorkflowFileError> {
    read("w.xml", Box::new(Cursor::new(text.to_owned().into_bytes())))
}

const DAX: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- a comment with <tags> > and "quotes -->
<adag xmlns="http://pegasus.isi.edu/schema/DAX" version="2.1" name="two">
  <job id="ID1" namespace="M" name="project" runtime="13.39">
    <uses file="in" link="input" size="304"/>
    <uses file="part" link="output" size="40"/>
  </job>
  <job id="ID2" name="add" runtime="0.00">
    <uses file="part" link="input" size="50"/>
    <uses file="out" link="output" size="1"/>
  </job>
  <child ref="ID2">
    <parent ref="ID1"/>
  </child>
</adag>
"#;

#[test]
fn a_dax_is_read() {
    let ReadWorkflow { workflow, notes } = read_str(DAX).unwrap();
    assert_eq!((workflow.name(), workflow.len()), ("two", 2));
    let task = workflow.task(TaskId(0));
    assert_eq!((&*task.name, &*task.kind, task.runtime), ("ID1", "project", Span::from_micros(13_390_000)));
    // The size at the writer holds.
    let edges: Vec<_> = workflow.edges().collect();
    assert_eq!(edges, [(TaskId(0), TaskId(1), Bytes::new(40))]);
    assert_eq!(
        notes,
        [
            "1 file with different sizes at their uses: the size at the task that writes it holds, or the largest"
        ]
    );
    let dax_3 = DAX.replace("file=", "name=").replace("2.1", "3.6");
    assert_eq!(read_str(&dax_3).unwrap().workflow.draft(), workflow.draft());
}

#[test]
fn what_is_just_below_zero_is_zero_and_said() {
    let read = read_str(&DAX.replace("0.00", "-1.64")).unwrap();
    assert_eq!(read.workflow.task(TaskId(1)).runtime, Span::ZERO);
    assert_eq!(read.notes[0], "1 run time below zero, the lowest -1.64 s: read as 0");
    let read = read_str(&DAX.replace("\"304\"", "\"-304\"").replace("\"1\"", "\"-1e8\"")).unwrap();
    assert_eq!(read.workflow.files()[0].size, Bytes::ZERO);
    assert_eq!(read.notes[0], "2 sizes below zero, the lowest -100000000 bytes: read as 0");
}

#[test]
fn mistakes_are_told_with_their_line() {
    for (from, to, told) in [
        ("0.00", "-11", "`w.xml`, line 8: the run time of the task `ID2` is -11 s, not from 0"),
        ("0.00", "1e300", "line 8: the run time of the task `ID2` is 1e300 s, not from 0"),
        (
            "name=\"add\"",
            "name=\"a&#10;d\"",
            "line 8: the name of the type of a task has a control character",
        ),
        ("file=\"out\"", "file=\"&#9;\"", "line 10: the name of a file has a control character: \"\\t\""),
        ("name=\"two\"", "name=\"t&#10;o\"", "line 3: the name of the workflow has a control character"),
        ("0.00", "soon", "line 8: `runtime` of the job `ID2` is `soon`, not a number"),
        (" runtime=\"0.00\"", "", "line 8: the job `ID2` has no `runtime`"),
        ("id=\"ID2\" ", "", "line 8: `<job>` has no attribute `id`"),
        ("id=\"ID2\"", "id=\"ID1\"", "line 8: two jobs have the id `ID1`"),
        ("<parent ref=\"ID1\"", "<parent ref=\"ID7\"", "line 13: the task `ID2` has the parent `ID7`"),
        ("<child ref=\"ID2\"", "<child ref=\"ID7\"", "line 12: the child `ID7` is no job"),
        ("<child ref=\"ID2\"", "<child ref=\"ID1\"", "line 4: the task `ID1` waits for itself"),
        (" size=\"50\"", "", "line 9: the file `part` has no `size`"),
        ("\"304\"", "\"-3e8\"", "line 5: `size` of the file `in` is -300000000, which is negative"),
        (
            "link=\"input\" size=\"304\"",
            "link=\"inout\" size=\"304\"",
            "line 5: `link` of the file `in` is `inout`",
        ),
        ("<adag", "<dag", "not XML"),
        (
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            "<!DOCTYPE adag [<!ENTITY a \"b\">]>",
            "document type declaration",
        ),
        ("name=\"add\"", "name=\"&add;\"", "line 8: not XML"),
        (
            "<child ref=\"ID2\">",
            "<dax id=\"ID3\"/><child ref=\"ID2\">",
            "line 12: `<dax>`, a workflow within the workflow",
        ),
        ("</adag>", "", "not XML"),
    ] {
        assert!(DAX.contains(from), "{from}");
        let error = read_str(&DAX.replacen(from, to, 1)).expect_err(told).to_string();
        assert!(error.contains(told) && error.starts_with("`w.xml`"), "{error}\n{told}");
    }
    assert!(read_str("<adag></adag>").unwrap_err().to_string().contains("the workflow has no tasks"));
    assert!(
        read_str("<svg/>")
            .unwrap_err()
            .to_string()
            .contains("line 1: the root element is `<svg>`, not `<adag>`")
    );
    let error = read("w.xml", Box::new(Cursor::new(b"<adag>\n\xff</adag>".to_vec()))).unwrap_err();
    assert_eq!(error.to_string(), "`w.xml`, line 2: the text is not UTF-8");
}

#[test]
fn deep_nesting_and_entities_are_refused() {
    let deep = "<a b='>'>".repeat(1_000_000);
    let error = read_str(&deep).unwrap_err().to_string();
    assert_eq!(error, "`w.xml`, line 1: elements are nested deeper than 32");
    let deep_enough = format!("<adag>{}{}</adag>", "<a>\n".repeat(31), "</a>".repeat(31));
    assert!(read_str(&deep_enough).unwrap_err().to_string().contains("no tasks"));
    let too_deep = format!("<adag>{}{}</adag>", "<a>\n".repeat(32), "</a>".repeat(32));
    assert!(read_str(&too_deep).unwrap_err().to_string().contains("line 32"), "{:?}", read_str(&too_deep));
    let attributes: String = (0..10_000).map(|at| format!(" a{at}='1'")).collect();
    let error = read_str(&format!("<adag>\n<job{attributes}/></adag>")).unwrap_err().to_string();
    assert_eq!(error, "`w.xml`, line 2: a tag has more than 65536 bytes");
    // Many siblings are not deep.
    assert!(
        excess(&format!("<adag>{}</adag>", "<a/><b></b><!-- <c> --><![CDATA[<d>]]>".repeat(1000))).is_none()
    );
    let laughs = r#"<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><adag name="&b;"/>"#;
    assert!(read_str(laughs).unwrap_err().to_string().contains("document type declaration"));
}

proptest! {
    #[test]
    fn takes_any_text(at in 0_usize..800, text in "[\\PC<>/!\\[\\]\"'=&; -]{0,12}") {
        let _ = read_str(&text);
        let mut broken = DAX.to_owned();
        broken.insert_str(at.min(DAX.len()), &text);
        let _ = read_str(&broken);
    }
}
