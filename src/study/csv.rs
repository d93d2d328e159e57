//! The table of a study as CSV: one row for each run, one column for each axis and measure.

use std::io::{Read, Write};

use thiserror::Error;

use crate::metrics::Outcomes;
use crate::model::Outcome;
use crate::study::{RunStatus, StudyRow, StudyTable};
use crate::units::{no_formula, unguarded};

/// The error of a table that cannot be written or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StudyError {
    /// The reader or writer failed, or the text is not CSV.
    #[error("{0}")]
    Csv(#[from] csv::Error),
    /// The last line has no line end.
    #[error("the table breaks off in its last line")]
    BreaksOff,
    /// A column that every such table has is missing.
    #[error("there is no column `{column}`: this is not the table of a campaign")]
    Column {
        /// The name of the column.
        column: &'static str,
    },
    /// A cell does not fit its column.
    #[error("line {line}, column `{column}`: `{found}` is not {wanted}")]
    Cell {
        /// The line of the file, from 1.
        line: u64,
        /// The column.
        column: String,
        /// The text of the cell.
        found: String,
        /// The expected form.
        wanted: &'static str,
    },
}

/// The columns between the axes and the measures.
const FIXED: [&str; 13] = [
    "seed",
    "status",
    "jobs",
    "completed",
    "killed",
    "failed",
    "rejected",
    "cancelled",
    "unfinished",
    "unstable",
    "scenario_hash",
    "fingerprint",
    "error",
];

impl StudyTable {
    /// True if every table has a column of this name, so that no axis may have it.
    pub fn has_column(name: &str) -> bool {
        name == "run" || FIXED.contains(&name)
    }

    /// Writes the table as CSV (RFC 4180, `\n` line ends). Figures are written with all their digits.
    ///
    /// # Errors
    /// [`StudyError::Csv`] if `to` fails.
    pub fn write_csv(&self, to: impl Write) -> Result<(), StudyError> {
        let mut csv = csv::Writer::from_writer(to);
        let columns = ["run"].into_iter().chain(self.axes.iter().map(String::as_str)).chain(FIXED);
        for column in columns.chain(self.measures.iter().map(String::as_str)) {
            csv.write_field(&*no_formula(column))?;
        }
        csv.write_record(None::<&[u8]>)?;
        for row in &self.rows {
            let (status, error) = match &row.status {
                RunStatus::Done => ("done", ""),
                RunStatus::Failed(error) => ("failed", error.as_str()),
            };
            csv.write_field(row.run.to_string())?;
            for label in &row.point {
                csv.write_field(&*no_formula(label))?;
            }
            for cell in [row.seed.to_string(), status.to_owned(), row.jobs.to_string()] {
                csv.write_field(cell)?;
            }
            for count in row.outcomes.counts() {
                csv.write_field(count.to_string())?;
            }
            for cell in [if row.unstable { "yes" } else { "no" }, &row.scenario_hash, &row.fingerprint, error]
            {
                csv.write_field(&*no_formula(cell))?;
            }
            for value in &row.values {
                csv.write_field(value.map(|value| value.to_string()).unwrap_or_default())?;
            }
            csv.write_record(None::<&[u8]>)?;
        }
        csv.flush().map_err(csv::Error::from)?;
        Ok(())
    }

    /// Reads the output of [`StudyTable::write_csv`]; the name of the study is not in it.
    ///
    /// # Errors
    /// [`StudyError`] names line and column.
    pub fn read_csv(name: &str, mut from: impl Read) -> Result<Self, StudyError> {
        let mut text = Vec::new();
        from.read_to_end(&mut text).map_err(csv::Error::from)?;
        let mut csv = csv::Reader::from_reader(text.as_slice());
        let columns = csv.headers()?.clone();
        let place = |column: &'static str| {
            columns.iter().position(|found| found == column).ok_or(StudyError::Column { column })
        };
        let (first, seed) = (place("run")?, place("seed")?);
        if first != 0 {
            return Err(StudyError::Column { column: "run" });
        }
        for (at, column) in (seed..).zip(FIXED) {
            if columns.get(at) != Some(column) {
                return Err(StudyError::Column { column });
            }
        }
        let measures = seed + FIXED.len();
        let own = |cell: &str| unguarded(cell).to_owned();
        let mut table = Self {
            name: name.to_owned(),
            axes: columns.iter().take(seed).skip(1).map(own).collect(),
            measures: columns.iter().skip(measures).map(own).collect(),
            baseline: None,
            dates: Vec::new(),
            rows: Vec::new(),
        };
        for record in csv.records() {
            let record = record?;
            let row = Row {
                line: record.position().map_or(0, csv::Position::line),
                columns: &columns,
                record: &record,
            };
            let status = match &record[seed + 1] {
                "done" => RunStatus::Done,
                "failed" => RunStatus::Failed(own(&record[seed + FIXED.len() - 1])),
                _ => return Err(row.wrong(seed + 1, "`done` or `failed`")),
            };
            let unstable = match &record[seed + 9] {
                "yes" => true,
                "no" => false,
                _ => return Err(row.wrong(seed + 9, "`yes` or `no`")),
            };
            let mut counts = [0; Outcome::NAMES.len()];
            for (at, count) in (seed + 3..).zip(&mut counts) {
                *count = row.whole(at)?;
            }
            let [completed, killed, failed, rejected, cancelled, unfinished] = counts;
            let values = (measures..record.len()).map(|at| match &record[at] {
                "" => Ok(None),
                written => written.parse().map(Some).map_err(|_| row.wrong(at, "a number")),
            });
            table.rows.push(StudyRow {
                run: row.whole(0)?,
                point: record.iter().take(seed).skip(1).map(own).collect(),
                seed: row.whole(seed)?,
                status,
                jobs: row.whole(seed + 2)?,
                outcomes: Outcomes { completed, killed, failed, rejected, cancelled, unfinished },
                unstable,
                scenario_hash: record[seed + 10].to_owned(),
                fingerprint: record[seed + 11].to_owned(),
                values: values.collect::<Result<_, _>>()?,
            });
        }
        // The beginning of a number is also a number, so a table that was cut in its last cell would be read with a wrong value.
        if text.last() != Some(&b'\n') {
            return Err(StudyError::BreaksOff);
        }
        Ok(table)
    }
}

/// A row that is being read.
struct Row<'a> {
    line: u64,
    columns: &'a csv::StringRecord,
    record: &'a csv::StringRecord,
}

impl Row<'_> {
    fn whole(&self, at: usize) -> Result<u64, StudyError> {
        self.record[at].parse().map_err(|_| self.wrong(at, "a whole number"))
    }

    fn wrong(&self, at: usize, wanted: &'static str) -> StudyError {
        let column = self.columns.get(at).unwrap_or_default().to_owned();
        StudyError::Cell { line: self.line, column, found: self.record[at].to_owned(), wanted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> StudyTable {
        let row = |run: u64, policy: &str, status, values| StudyRow {
            run,
            point: vec![policy.to_owned(), "0.7".to_owned()],
            seed: 3 + run,
            status,
            jobs: 10,
            outcomes: Outcomes { completed: 8, killed: 2, ..Outcomes::default() },
            unstable: run == 2,
            scenario_hash: format!("{run:032x}"),
            fingerprint: "20:ff".to_owned(),
            values,
        };
        StudyTable {
            name: "tiny".to_owned(),
            axes: vec!["policy".to_owned(), "load".to_owned()],
            measures: vec!["mean_wait".to_owned(), "class.vs_n.mean_wait".to_owned()],
            baseline: None,
            dates: Vec::new(),
            rows: vec![
                row(1, "easy[order=sjf]", RunStatus::Done, vec![Some(0.1 + 0.2), None]),
                row(2, "=a, \"b\"", RunStatus::Failed("two\nlines".to_owned()), vec![None, Some(1e-9)]),
            ],
        }
    }

    #[test]
    fn a_table_comes_back_as_it_was_written() {
        let mut text = Vec::new();
        table().write_csv(&mut text).unwrap();
        assert_eq!(StudyTable::read_csv("tiny", text.as_slice()).unwrap(), table());
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let mut text = Vec::new();
        table().write_csv(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let said = |text: &str| StudyTable::read_csv("tiny", text.as_bytes()).unwrap_err().to_string();
        assert_eq!(
            said(&text.replace(",10,8,", ",10,x,")),
            "line 2, column `completed`: `x` is not a whole number"
        );
        assert_eq!(said(text.strip_suffix('\n').unwrap()), "the table breaks off in its last line");
        let whole = text.strip_suffix("0.000000001\n").unwrap().to_owned() + "0.25\n";
        assert!(StudyTable::read_csv("tiny", whole.as_bytes()).is_ok());
        assert_eq!(
            said(&whole[..whole.len() - 2]),
            "the table breaks off in its last line",
            "0.2 is a number"
        );
        assert_eq!(
            said("job,submit\n1,2\n"),
            "there is no column `run`: this is not the table of a campaign"
        );
    }
}
