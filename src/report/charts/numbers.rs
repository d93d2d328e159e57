//! The numbers behind a chart, as a table.

use crate::units::no_formula;

/// A table of the numbers that a chart shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// Names of the columns, with units.
    pub head: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl Numbers {
    /// A table without rows.
    pub(super) fn new<'a>(head: impl IntoIterator<Item = &'a str>) -> Self {
        Self { head: head.into_iter().map(str::to_owned).collect(), rows: Vec::new() }
    }

    /// Returns the table as CSV.
    pub fn csv(&self) -> String {
        let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
        // Writing to a vector cannot fail, and each cell is a string.
        for row in std::iter::once(&self.head).chain(&self.rows) {
            let _ = row.iter().try_for_each(|cell| writer.write_field(&*no_formula(cell)));
            let _ = writer.write_record(None::<&[u8]>);
        }
        String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
    }
}

/// A number as a cell: the shortest text that reads back as the same number; empty if there is none.
pub(super) fn cell(value: impl Into<Option<f64>>) -> String {
    value.into().filter(|value| value.is_finite()).map_or_else(String::new, |value| value.to_string())
}
