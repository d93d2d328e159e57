//! The report of a study.

use super::{Report, ReportError, ReportOptions};
use crate::metrics::StudyTable;

pub(super) fn report(table: &StudyTable, options: &ReportOptions) -> Result<Report, ReportError> {
    let _ = (table, options);
    Err(ReportError::Nothing)
}
