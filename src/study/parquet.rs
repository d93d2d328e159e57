//! The table of a study as a Parquet file: the columns of its CSV, with types.

use std::io;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use crate::model::Outcome;
use crate::study::{RunStatus, StudyRow, StudyTable};

/// A column with its name and its cells.
struct Column {
    name: String,
    cells: Cells,
}

enum Cells {
    Whole(Vec<i64>),
    Bool(Vec<bool>),
    Text(Vec<ByteArray>),
    /// `None` is null.
    Figure(Vec<Option<f64>>),
}

/// Writes the table as Parquet.
///
/// # Errors
/// If `to` fails.
pub fn write_parquet(table: &StudyTable, to: impl io::Write + Send) -> Result<(), io::Error> {
    write(table, to).map_err(io::Error::other)
}

fn write(table: &StudyTable, to: impl io::Write + Send) -> Result<(), ParquetError> {
    let columns = columns(table);
    let fields = columns.iter().map(|column| column.field().map(Arc::new)).collect::<Result<Vec<_>, _>>()?;
    let schema = Arc::new(Type::group_type_builder("study").with_fields(fields).build()?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        // The name is fixed, so that the bytes do not depend on the build.
        .set_created_by(format!("gridemu {}", env!("CARGO_PKG_VERSION")))
        .build();
    let mut file = SerializedFileWriter::new(to, schema, Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    columns.iter().try_for_each(|column| column.write(&mut group))?;
    group.close()?;
    file.close()?;
    Ok(())
}

fn columns(table: &StudyTable) -> Vec<Column> {
    let rows = || table.rows.iter();
    let column = |name: &str, cells| Column { name: name.to_owned(), cells };
    let whole = |of: &dyn Fn(&StudyRow) -> u64| Cells::Whole(rows().map(|row| of(row) as i64).collect());
    let text =
        |of: &dyn Fn(&StudyRow) -> &str| Cells::Text(rows().map(|row| ByteArray::from(of(row))).collect());
    let status = |row: &StudyRow| if row.status == RunStatus::Done { "done" } else { "failed" };
    fn error(row: &StudyRow) -> &str {
        if let RunStatus::Failed(why) = &row.status { why } else { "" }
    }
    let mut columns = vec![column("run", whole(&|row| row.run))];
    columns.extend(table.axes.iter().enumerate().map(|(at, axis)| column(axis, text(&|row| &row.point[at]))));
    columns.push(column("seed", whole(&|row| row.seed)));
    columns.push(column("status", Cells::Text(rows().map(|row| ByteArray::from(status(row))).collect())));
    columns.push(column("jobs", whole(&|row| row.jobs)));
    columns.extend(
        Outcome::NAMES
            .iter()
            .enumerate()
            .map(|(at, name)| column(name, whole(&|row| row.outcomes.counts()[at]))),
    );
    columns.push(column("unstable", Cells::Bool(rows().map(|row| row.unstable).collect())));
    columns.push(column("scenario_hash", text(&|row| &row.scenario_hash)));
    columns.push(column("fingerprint", text(&|row| &row.fingerprint)));
    columns.push(column("error", text(&error)));
    columns.extend(table.measures.iter().enumerate().map(|(at, id)| {
        column(id, Cells::Figure(rows().map(|row| row.values.get(at).copied().flatten()).collect()))
    }));
    columns
}

impl Column {
    fn field(&self) -> Result<Type, ParquetError> {
        let (physical, logical, repetition) = match self.cells {
            Cells::Whole(_) => (PhysicalType::INT64, None, Repetition::REQUIRED),
            Cells::Bool(_) => (PhysicalType::BOOLEAN, None, Repetition::REQUIRED),
            Cells::Text(_) => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED),
            Cells::Figure(_) => (PhysicalType::DOUBLE, None, Repetition::OPTIONAL),
        };
        Type::primitive_type_builder(&self.name, physical)
            .with_logical_type(logical)
            .with_repetition(repetition)
            .build()
    }

    fn write<W: io::Write + Send>(
        &self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ParquetError> {
        let Some(mut column) = group.next_column()? else {
            return Err(ParquetError::General("there are fewer columns than there should be".to_owned()));
        };
        match &self.cells {
            Cells::Whole(cells) => column.typed::<Int64Type>().write_batch(cells, None, None)?,
            Cells::Bool(cells) => column.typed::<BoolType>().write_batch(cells, None, None)?,
            Cells::Text(cells) => column.typed::<ByteArrayType>().write_batch(cells, None, None)?,
            Cells::Figure(cells) => {
                let there: Vec<f64> = cells.iter().flatten().copied().collect();
                let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
                column.typed::<DoubleType>().write_batch(&there, Some(&levels), None)?
            }
        };
        column.close()
    }
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    use super::*;
    use crate::metrics::Outcomes;

    #[test]
    fn the_file_reads_back() {
        let row = |run, status, value| StudyRow {
            run,
            point: vec!["easy".to_owned()],
            seed: 7,
            status,
            jobs: 5,
            outcomes: Outcomes { completed: 5, ..Outcomes::default() },
            unstable: run == 2,
            scenario_hash: "ab".to_owned(),
            fingerprint: "1:ff".to_owned(),
            values: vec![value],
        };
        let table = StudyTable {
            name: "tiny".to_owned(),
            axes: vec!["policy".to_owned()],
            measures: vec!["mean_wait".to_owned()],
            baseline: None,
            dates: Vec::new(),
            rows: vec![row(1, RunStatus::Done, Some(0.1)), row(2, RunStatus::Failed("why".to_owned()), None)],
        };
        let mut bytes = Vec::new();
        write_parquet(&table, &mut bytes).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.parquet");
        std::fs::write(&path, &bytes).unwrap();
        let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].get_long(0).unwrap(), rows[0].get_string(1).unwrap().as_str()), (1, "easy"));
        let names: Vec<&String> = rows[1].get_column_iter().map(|(name, _)| name).collect();
        assert_eq!((names[3].as_str(), names[names.len() - 1].as_str()), ("status", "mean_wait"));
        assert_eq!(rows[1].get_string(3).unwrap(), "failed");
        assert_eq!(rows[0].get_double(names.len() - 1).unwrap(), 0.1);
        assert!(rows[1].get_double(names.len() - 1).is_err(), "null");
    }
}
