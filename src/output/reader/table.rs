//! A table as rows of typed cells, read one after the other.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};

use super::ReadError;
use super::cells::{Cell, NamePool};
use crate::model::nearest;

/// An open table.
pub(super) struct Table {
    path: PathBuf,
    reader: Reader<File>,
    columns: Vec<String>,
    names: NamePool,
}

/// The type of a row of one kind of table.
pub(super) trait Row {
    /// The type that a reader gets.
    type Out;
    /// The columns that a table must have, in the order in which [`Row::read`] reads them.
    const COLUMNS: &'static [&'static str];
    /// Optional columns, which follow the others.
    const OPTIONAL: &'static [&'static str] = &[];
    /// Whether it reads the columns of other names too, which follow in the order of the table.
    const OTHERS: bool = false;

    /// Makes the row from its cells.
    fn read(cells: &mut Cells<'_>) -> Result<Self::Out, Wrong>;
}

/// A cell is not what it should be.
pub(super) struct Wrong {
    at: usize,
    wanted: &'static str,
}

/// The rows of a table, in order.
pub struct Rows<T> {
    table: Table,
    /// The position of each column that is read; `None` for an optional one that is missing.
    places: Vec<Option<usize>>,
    read: fn(&mut Cells<'_>) -> Result<T, Wrong>,
    wanted: Vec<String>,
    /// How many of the columns are those of other names.
    others: usize,
    record: ByteRecord,
    over: bool,
}

impl Table {
    /// Opens the table at `path` and reads its header.
    pub(super) fn open(path: &Path) -> Result<Self, ReadError> {
        let mut file = File::open(path).map_err(|error| ReadError::unreadable(path, &error))?;
        if breaks_off(&mut file).map_err(|error| ReadError::unreadable(path, &error))? {
            let message = "the last line is incomplete: the file is truncated, so rows may be missing";
            return Err(ReadError::at(path, 0, message).with_hint("copy or create it again"));
        }
        Self::new(path, file)
    }

    /// True if the table at `path` has the column.
    pub(super) fn has_column(path: &Path, column: &str) -> Result<bool, ReadError> {
        let file = File::open(path).map_err(|error| ReadError::unreadable(path, &error))?;
        Ok(Self::new(path, file)?.columns.iter().any(|found| found == column))
    }

    fn new(path: &Path, from: File) -> Result<Self, ReadError> {
        let mut reader = ReaderBuilder::new().buffer_capacity(256 << 10).from_reader(from);
        let header = reader.byte_headers().map_err(|error| not_csv(path, &error))?;
        let columns: Vec<String> =
            header.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        if columns.iter().all(|name| name.is_empty()) {
            let message = "the file is empty; it should begin with the names of its columns";
            return Err(ReadError::at(path, 0, message));
        }
        Ok(Self { path: path.to_owned(), reader, columns, names: NamePool::default() })
    }

    fn place(&self, column: &'static str) -> Result<usize, ReadError> {
        let columns = &self.columns;
        columns.iter().position(|found| found == column).ok_or_else(|| {
            let near = nearest(column, columns.iter().map(String::as_str));
            let near = near.map(|near| format!(" (there is `{near}`)")).unwrap_or_default();
            ReadError::at(&self.path, 1, format!("there is no column `{column}`{near}"))
                .with_hint("docs/output.md says which columns each file has")
        })
    }
}

/// True if the file does not end with a line feed.
fn breaks_off(file: &mut File) -> io::Result<bool> {
    let mut last = [0];
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    file.rewind()?;
    Ok(last != *b"\n")
}

impl<T> Rows<T> {
    pub(super) fn of<R: Row<Out = T>>(table: Table) -> Result<Self, ReadError> {
        let mut places: Vec<_> =
            R::COLUMNS.iter().map(|column| table.place(column).map(Some)).collect::<Result<_, _>>()?;
        places.extend(R::OPTIONAL.iter().map(|column| table.place(column).ok()));
        let named = || R::COLUMNS.iter().chain(R::OPTIONAL);
        let mut wanted: Vec<String> = named().map(|name| (*name).to_owned()).collect();
        let others = table.columns.iter().enumerate();
        for (place, name) in others.filter(|(_, name)| R::OTHERS && named().all(|known| known != name)) {
            places.push(Some(place));
            wanted.push(name.clone());
        }
        let others = wanted.len() - named().count();
        Ok(Self { table, places, read: R::read, wanted, others, record: ByteRecord::new(), over: false })
    }

    /// The columns of other names that it reads.
    pub fn others(&self) -> &[String] {
        &self.wanted[self.wanted.len() - self.others..]
    }

    /// The row of the record that was read last.
    fn row(&mut self) -> Result<T, ReadError> {
        let line = self.record.position().map_or(0, csv::Position::line);
        let (record, places, names) = (&self.record, &self.places, &mut self.table.names);
        (self.read)(&mut Cells { record, places, names, next: 0, line }).map_err(|Wrong { at, wanted }| {
            let found = places[at].and_then(|place| record.get(place)).unwrap_or_default();
            let (column, found) = (&self.wanted[at], String::from_utf8_lossy(found));
            ReadError::at(&self.table.path, line, format!("column `{column}`: `{found}` is not {wanted}"))
        })
    }
}

impl<T> Iterator for Rows<T> {
    type Item = Result<T, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let row = match self.table.reader.read_byte_record(&mut self.record) {
            Ok(true) => self.row(),
            Ok(false) => {
                self.over = true;
                return None;
            }
            Err(error) => Err(not_csv(&self.table.path, &error)),
        };
        self.over = row.is_err();
        Some(row)
    }
}

fn not_csv(path: &Path, error: &csv::Error) -> ReadError {
    let line = error.position().map_or(0, csv::Position::line);
    match error.kind() {
        ErrorKind::UnequalLengths { expected_len, len, .. } => {
            let message = format!("this row has {len} cells where the header has {expected_len}");
            ReadError::at(path, line, message)
                .with_hint("if the file was cut off there, copy or create it again")
        }
        ErrorKind::Io(error) => ReadError::unreadable(path, error),
        _ => ReadError::at(path, line, format!("this is not CSV: {error}")),
    }
}

/// The cells of a row, taken one after the other.
pub(super) struct Cells<'a> {
    record: &'a ByteRecord,
    places: &'a [Option<usize>],
    names: &'a mut NamePool,
    next: usize,
    /// The line of the file, from 1.
    pub(super) line: u64,
}

impl<'a> Cells<'a> {
    /// The next cell; empty if its column is missing.
    pub(super) fn text(&mut self) -> &'a [u8] {
        let place = self.places[self.next];
        self.next += 1;
        place.and_then(|place| self.record.get(place)).unwrap_or_default()
    }

    /// The error that the cell read last is not `wanted`.
    pub(super) const fn wrong(&self, wanted: &'static str) -> Wrong {
        Wrong { at: self.next - 1, wanted }
    }

    /// Whether no cell is left.
    pub(super) fn is_over(&self) -> bool {
        self.next >= self.places.len()
    }

    /// The value of the next cell.
    pub(super) fn read<T: Cell>(&mut self) -> Result<T, Wrong> {
        T::parse(self.text(), self.names).map_err(|wanted| self.wrong(wanted))
    }
}
