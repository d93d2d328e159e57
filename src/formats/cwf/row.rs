//! Columns 19 to 21 of a row.

use crate::model::Elastic;
use crate::units::{Span, write_seconds};

/// The code of a submission.
pub(super) const SUBMISSION: &str = "S";

/// Appends the three columns of a job that asks for a start `start` microseconds after the log's, or for none.
pub(super) fn write_submission(out: &mut Vec<u8>, start: Option<u64>) {
    out.push(b' ');
    match start {
        Some(start) => write_seconds(out, start),
        None => out.extend_from_slice(b"-1"),
    }
    out.extend_from_slice(b" S -1");
}

/// Appends the three columns of a command.
pub(super) fn write_command(out: &mut Vec<u8>, change: Elastic) {
    out.extend_from_slice(b" -1 ");
    out.extend_from_slice(change.code().as_bytes());
    out.push(b' ');
    match change {
        Elastic::ExtendTime(by) | Elastic::ReduceTime(by) => write_seconds(out, by.micros()),
        Elastic::ExtendProcs(by) | Elastic::ReduceProcs(by) => {
            out.extend_from_slice(by.to_string().as_bytes())
        }
    }
}
