//! Reading workflows of any format, told apart by their content.

use std::io::{Cursor, Read};

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::workflow_file::{ReadWorkflow, WorkflowFileError, whole};
use super::{dax, gwf, wfformat};
use crate::units::Time;

/// Reads the workflows of a file, plain or compressed with gzip: WfFormat if it begins with `{` or its name says JSON, DAX if it begins with `<`, else GWF. A file of one
/// workflow submits it at time 0.
///
/// # Errors
/// [`WorkflowFileError`] of the format's reader.
pub fn read_workflows(
    name: &str,
    input: Box<dyn Read + Send>,
) -> Result<gwf::ReadWorkflows, WorkflowFileError> {
    let text = whole(name, input)?;
    let begin = text.trim_ascii_start();
    let one = match begin.first() {
        Some(b'<') => dax::read_text(name, &text),
        first if matches!(first, Some(b'{' | b'[')) || says_json(name) => wfformat::read_text(name, &text),
        _ => return gwf::read(name, Box::new(Cursor::new(text))),
    };
    one.map(|ReadWorkflow { workflow, notes }| gwf::ReadWorkflows {
        workflows: vec![(Time::ZERO, workflow)],
        notes,
    })
}

/// Whether a name ends in `.json`, perhaps followed by `.gz`.
fn says_json(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.strip_suffix(".gz").unwrap_or(&name).ends_with(".json")
}

/// Whether a file in JSON, plain or compressed with gzip, says that it is WfFormat, and no workload of Batsim.
pub fn is_wfformat(input: Box<dyn Read + Send>) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Keys {
        schema_version: Option<IgnoredAny>,
        workflow: Option<IgnoredAny>,
    }
    let text = whole("", input).unwrap_or_default();
    // What is passed over takes no memory.
    serde_json::from_slice(&text)
        .is_ok_and(|keys: Keys| keys.schema_version.is_some() || keys.workflow.is_some())
}
