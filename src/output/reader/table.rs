//! A table as rows of typed cells, read one after the other.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};

use super::ReadError;
use crate::model::{ProcSet, nearest};

/// An open table.
pub(super) struct Table<R> {
    pub(super) path: PathBuf,
    reader: Reader<R>,
    columns: Vec<String>,
    /// Names that repeat, stored once.
    names: Vec<Arc<str>>,
}

/// The type of a row of one kind of table.
pub(super) trait Row {
    /// The type that a reader gets.
    type Out;
    /// The columns that a table must have, in the order in which [`Row::read`] reads them.
    const COLUMNS: &'static [&'static str];
    /// Optional columns, which follow the others.
    const OPTIONAL: &'static [&'static str] = &[];

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
    table: Table<File>,
    /// The position of each column that is read; `None` for an optional one that is missing.
    places: Vec<Option<usize>>,
    read: fn(&mut Cells<'_>) -> Result<T, Wrong>,
    wanted: Vec<&'static str>,
    record: ByteRecord,
    over: bool,
}

impl Table<File> {
    /// Opens the table at `path` and reads its header.
    pub(super) fn open(path: &Path) -> Result<Self, ReadError> {
        let mut file = File::open(path).map_err(|error| ReadError::unreadable(path, &error))?;
        if breaks_off(&mut file).map_err(|error| ReadError::unreadable(path, &error))? {
            let said = "the last line is incomplete: the file is truncated, so rows may be missing";
            return Err(ReadError::at(path, 0, said).with_hint("copy or create it again"));
        }
        Self::new(path, file)
    }

    /// True if the table at `path` has the column.
    pub(super) fn has_column(path: &Path, column: &str) -> Result<bool, ReadError> {
        let file = File::open(path).map_err(|error| ReadError::unreadable(path, &error))?;
        Ok(Self::new(path, file)?.columns.iter().any(|found| found == column))
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

impl<R: Read> Table<R> {
    fn new(path: &Path, from: R) -> Result<Self, ReadError> {
        let mut reader = ReaderBuilder::new().buffer_capacity(256 << 10).from_reader(from);
        let header = reader.byte_headers().map_err(|error| not_csv(path, &error))?;
        let columns: Vec<String> =
            header.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        if columns.iter().all(|name| name.is_empty()) {
            return Err(ReadError::at(
                path,
                0,
                "the file is empty; it should begin with the names of its columns",
            ));
        }
        Ok(Self { path: path.to_owned(), reader, columns, names: Vec::new() })
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

impl<T> Rows<T> {
    pub(super) fn of<R: Row<Out = T>>(table: Table<File>) -> Result<Self, ReadError> {
        let mut places = Vec::with_capacity(R::COLUMNS.len() + R::OPTIONAL.len());
        for column in R::COLUMNS {
            places.push(Some(table.place(column)?));
        }
        places.extend(R::OPTIONAL.iter().map(|column| table.place(column).ok()));
        let wanted = R::COLUMNS.iter().chain(R::OPTIONAL).copied().collect();
        Ok(Self { table, places, read: R::read, wanted, record: ByteRecord::new(), over: false })
    }

    /// The path of the table.
    pub fn path(&self) -> &Path {
        &self.table.path
    }
}

impl<T> Iterator for Rows<T> {
    type Item = Result<T, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        match self.table.reader.read_byte_record(&mut self.record) {
            Ok(true) => {}
            Ok(false) => {
                self.over = true;
                return None;
            }
            Err(error) => {
                self.over = true;
                return Some(Err(not_csv(&self.table.path, &error)));
            }
        }
        let line = self.record.position().map_or(0, csv::Position::line);
        let (record, places, names) = (&self.record, &self.places, &mut self.table.names);
        let mut cells = Cells { record, places, names, next: 0, line };
        let row = (self.read)(&mut cells).map_err(|wrong| {
            let column = self.wanted[wrong.at];
            let found = self.places[wrong.at].and_then(|place| self.record.get(place)).unwrap_or_default();
            let found = String::from_utf8_lossy(found);
            ReadError::at(
                &self.table.path,
                line,
                format!("column `{column}`: `{found}` is not {}", wrong.wanted),
            )
        });
        self.over = row.is_err();
        Some(row)
    }
}

fn not_csv(path: &Path, error: &csv::Error) -> ReadError {
    let line = error.position().map_or(0, csv::Position::line);
    match error.kind() {
        ErrorKind::UnequalLengths { expected_len, len, .. } => {
            let said = format!("this row has {len} cells where the header has {expected_len}");
            ReadError::at(path, line, said)
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
    names: &'a mut Vec<Arc<str>>,
    next: usize,
    line: u64,
}

impl<'a> Cells<'a> {
    /// The line of the file, from 1.
    pub(super) const fn line(&self) -> u64 {
        self.line
    }

    /// The next cell; empty if its column is missing.
    fn cell(&mut self) -> &'a [u8] {
        let place = self.places[self.next];
        self.next += 1;
        place.and_then(|place| self.record.get(place)).unwrap_or_default()
    }

    /// The error that the cell read last is not `wanted`.
    pub(super) const fn wrong(&self, wanted: &'static str) -> Wrong {
        Wrong { at: self.next - 1, wanted }
    }

    /// A name, of which one copy is stored.
    pub(super) fn name(&mut self) -> Result<Arc<str>, Wrong> {
        let cell = self.cell();
        if let Some(at) = self.names.iter().position(|name| name.as_bytes() == cell) {
            // Few names repeat often, so recently seen ones are moved to the front.
            let found = Arc::clone(&self.names[at]);
            self.names.swap(at, at / 2);
            return Ok(found);
        }
        let name: Arc<str> = std::str::from_utf8(cell).map_err(|_| self.wrong("text in UTF-8"))?.into();
        self.names.push(Arc::clone(&name));
        Ok(name)
    }

    /// A name, or `None` for an empty cell.
    pub(super) fn maybe_name(&mut self) -> Result<Option<Arc<str>>, Wrong> {
        self.name().map(|name| (!name.is_empty()).then_some(name))
    }

    /// One of the given words.
    pub(super) fn word<T: Copy>(&mut self, words: &[(&str, T)], wanted: &'static str) -> Result<T, Wrong> {
        let cell = self.cell();
        words
            .iter()
            .find(|(word, _)| word.as_bytes() == cell)
            .map(|(_, value)| *value)
            .ok_or(self.wrong(wanted))
    }

    /// The raw cell.
    pub(super) fn text(&mut self) -> &'a [u8] {
        self.cell()
    }

    /// A non-negative whole number.
    pub(super) fn whole(&mut self) -> Result<u64, Wrong> {
        whole(self.cell()).ok_or(self.wrong("a whole number"))
    }

    /// A non-negative whole number that fits into 32 bits.
    pub(super) fn count(&mut self) -> Result<u32, Wrong> {
        self.whole().and_then(|value| u32::try_from(value).map_err(|_| self.wrong("a number below 2^32")))
    }

    /// A whole number that may be negative.
    pub(super) fn signed(&mut self) -> Result<i32, Wrong> {
        let cell = self.cell();
        std::str::from_utf8(cell).ok().and_then(|text| text.parse().ok()).ok_or(self.wrong("a whole number"))
    }

    /// A decimal number in units of 10⁻ᵖˡᵃᶜᵉˢ, exactly.
    pub(super) fn decimal(&mut self, places: u32, wanted: &'static str) -> Result<u128, Wrong> {
        decimal(self.cell(), places).ok_or(self.wrong(wanted))
    }

    /// A decimal number likewise, or `None` for an empty cell.
    pub(super) fn maybe_decimal(&mut self, places: u32, wanted: &'static str) -> Result<Option<u128>, Wrong> {
        match self.cell() {
            b"" => Ok(None),
            cell => decimal(cell, places).map(Some).ok_or(self.wrong(wanted)),
        }
    }

    /// A floating-point number, or `None` for an empty cell.
    pub(super) fn maybe_figure(&mut self) -> Result<Option<f64>, Wrong> {
        match self.cell() {
            b"" => Ok(None),
            cell => {
                let figure = std::str::from_utf8(cell).ok().and_then(|text| text.parse().ok());
                figure.map(Some).ok_or(self.wrong("a number"))
            }
        }
    }

    /// A whole number, or `None` for an empty cell.
    pub(super) fn maybe_whole(&mut self) -> Result<Option<u64>, Wrong> {
        match self.cell() {
            b"" => Ok(None),
            cell => whole(cell).map(Some).ok_or(self.wrong("a whole number")),
        }
    }

    /// Processors as intervals, such as `0-3 7`; none for an empty cell.
    pub(super) fn processors(&mut self) -> Result<ProcSet, Wrong> {
        processors(self.cell()).ok_or(self.wrong("intervals of processors, such as `0-3 7`"))
    }
}

fn whole(cell: &[u8]) -> Option<u64> {
    if cell.is_empty() || cell.len() > 19 || !cell.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(cell.iter().fold(0, |value, digit| value * 10 + u64::from(digit - b'0')))
}

/// `cell` × 10ᵖˡᵃᶜᵉˢ. Further decimals are rounded; a number with an exponent, which gridemu never writes, is parsed
/// as a floating-point number.
fn decimal(cell: &[u8], places: u32) -> Option<u128> {
    let scale = 10_u128.pow(places);
    let (whole_part, fraction) = match cell.iter().position(|sign| *sign == b'.') {
        Some(dot) => (&cell[..dot], &cell[dot + 1..]),
        None => (cell, &b""[..]),
    };
    let digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    if cell.is_empty() || whole_part.len() > 28 || !digits(whole_part) || !digits(fraction) {
        let value: f64 = std::str::from_utf8(cell).ok()?.parse().ok()?;
        let scaled = value * scale as f64;
        return (0.0..1e30).contains(&scaled).then_some((scaled + 0.5) as u128);
    }
    let mut value =
        whole_part.iter().fold(0_u128, |value, digit| value * 10 + u128::from(digit - b'0')) * scale;
    let mut unit = scale;
    for digit in fraction {
        if unit == 1 {
            value += u128::from(*digit >= b'5');
            break;
        }
        unit /= 10;
        value += u128::from(digit - b'0') * unit;
    }
    Some(value)
}

fn processors(cell: &[u8]) -> Option<ProcSet> {
    let mut set = ProcSet::new();
    for interval in cell.split(|sign| *sign == b' ').filter(|interval| !interval.is_empty()) {
        let (first, last) = match interval.iter().position(|sign| *sign == b'-') {
            Some(dash) => (whole(&interval[..dash])?, whole(&interval[dash + 1..])?),
            None => (whole(interval)?, whole(interval)?),
        };
        // Sets are bitmaps, so an absurdly large number would take all memory.
        if first > last || last >= 1 << 28 {
            return None;
        }
        set.insert_all(&ProcSet::range(first as u32, last as u32 + 1));
    }
    Some(set)
}
