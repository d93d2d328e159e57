//! The rows of a file: its lines, cells and columns, times and numbers.

use std::borrow::Cow;
use std::io::Read;

use jiff::civil::DateTime;

use super::{SeriesOptions, Times, Unit};
use crate::formats::input::{self, Lines, cells};
use crate::formats::{FileError, decimal};
use crate::units::{Local, Timestamp};

/// The most rows of a file that are read.
const MOST_ROWS: u64 = 10_000_000;
/// Cells that stand for no value.
const NO_VALUE: [&str; 8] = ["", "-", "na", "n/a", "nan", "null", "none", "?"];
/// How times are written other than by ISO 8601.
const FORMS: [&str; 4] = ["%d%b%Y %H:%M:%S", "%d%b%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M"];

/// A row of data.
pub(super) struct Row {
    pub(super) line: u64,
    /// `None` if there is no such time in its zone, or it has been there.
    pub(super) at: Option<Timestamp>,
    /// The value, and whether it is exact.
    pub(super) value: Option<(i64, bool)>,
}

/// The rows of a file, one by one.
pub(super) struct Rows<'a> {
    name: &'a str,
    options: &'a SeriesOptions,
    lines: Lines,
    layout: Option<Layout>,
    last: Option<Timestamp>,
    read: u64,
    pub(super) put_back: u64,
    pub(super) put_forward: Times,
    pub(super) doubled: Times,
}

/// Where the columns are.
struct Layout {
    separator: char,
    /// The names of the columns.
    names: Vec<String>,
    /// The columns of times and of values; known from the first row of data on.
    columns: Option<(usize, usize)>,
}

impl<'a> Rows<'a> {
    pub(super) fn open(
        name: &'a str,
        input: Box<dyn Read + Send>,
        options: &'a SeriesOptions,
    ) -> Result<Self, FileError> {
        let input = input::unpacked(input)
            .map_err(|error| FileError::new(name, 0, error.to_string(), input::hint(&error)))?;
        Ok(Self {
            name,
            options,
            lines: Lines::new(input),
            layout: None,
            last: None,
            read: 0,
            put_back: 0,
            put_forward: Times::default(),
            doubled: Times::default(),
        })
    }

    pub(super) fn next(&mut self) -> Result<Option<Row>, FileError> {
        loop {
            let (name, number) = (self.name, self.lines.number() + 1);
            let fail = |problem: String, hint: String| FileError::new(name, number, problem, hint);
            let next = self.lines.next();
            let next = next.map_err(|error| fail(error.to_string(), input::hint(&error).to_owned()))?;
            let Some(line) = next else { return Ok(None) };
            if number > 2 * MOST_ROWS {
                return Err(fail(format!("it has more than {} lines", 2 * MOST_ROWS), String::new()));
            }
            if line.cut {
                return Err(fail("the line has more than 65536 bytes".to_owned(), String::new()));
            }
            // Names of columns may be in an older code than UTF-8; times and numbers are the same in all.
            let text = String::from_utf8_lossy(line.bytes);
            let text = if number == 1 { text.strip_prefix('\u{feff}').unwrap_or(&text) } else { &text };
            // Not a tab at the end: the last cell may be empty.
            let text = text.trim_end_matches(['\r', ' ']);
            if text.trim().is_empty() || text.starts_with('#') {
                continue;
            }
            let layout = match &mut self.layout {
                Some(layout) => layout,
                None => {
                    let (layout, is_header) = Layout::of(text);
                    let layout = self.layout.insert(layout);
                    if is_header {
                        continue;
                    }
                    layout
                }
            };
            let (cells, comma) = (cells(text, layout.separator), layout.has_comma());
            let (time, value) = match layout.columns {
                Some(columns) => columns,
                None => {
                    let found = layout.find(&cells, self.options);
                    *layout.columns.insert(found.map_err(|(problem, hint)| fail(problem, hint))?)
                }
            };
            let (Some(time), Some(value)) = (cells.get(time), cells.get(value)) else {
                let has = cells.len();
                return Err(fail(format!("the line has {has} columns, too few"), String::new()));
            };
            self.read += 1;
            if self.read > MOST_ROWS {
                return Err(fail(format!("it has more than {MOST_ROWS} rows"), String::new()));
            }
            let value =
                value_of(value, comma, &self.options.unit).map_err(|problem| fail(problem, String::new()))?;
            let at = self
                .instant(time, number, value.is_some())
                .map_err(|(problem, hint)| fail(problem, hint.to_owned()))?;
            return Ok(Some(Row { line: number, at, value }));
        }
    }

    /// The instant that a cell names, later than that of the row before; `None` if there is none, or it has been there.
    fn instant(
        &mut self,
        cell: &str,
        line: u64,
        valued: bool,
    ) -> Result<Option<Timestamp>, (String, &'static str)> {
        let local = match own_zone(cell) {
            Some(at) => Some(Local::Once(at)),
            None => civil(cell).and_then(|at| self.options.zone.local(at)),
        };
        let local = local.ok_or_else(|| {
            let hint = "times such as `2023-01-02 00:00`, `2023-01-02T00:00Z`, `02jan2023 00:00:00` or `02.01.2023 00:00` are read";
            (format!("`{cell}` is not a time"), hint)
        })?;
        let at = match local {
            Local::Once(at) => at,
            Local::Twice(earlier, later) => {
                let second = self.last.is_some_and(|last| last >= earlier);
                self.put_back += u64::from(second && valued);
                if second { later } else { earlier }
            }
            Local::Never => {
                if valued {
                    self.put_forward.add(line);
                }
                return Ok(None);
            }
        };
        match self.last {
            Some(last) if at == last => {
                if valued {
                    self.doubled.add(line);
                }
                Ok(None)
            }
            Some(last) if at < last => {
                Err((format!("{at} comes after {last}; rows must be in the order of time"), "sort the file"))
            }
            _ => {
                self.last = Some(at);
                Ok(Some(at))
            }
        }
    }
}

/// The value of a cell; `None` if it has none.
fn value_of(cell: &str, comma: bool, unit: &Unit) -> Result<Option<(i64, bool)>, String> {
    if NO_VALUE.iter().any(|word| cell.eq_ignore_ascii_case(word)) {
        return Ok(None);
    }
    unit.exactly(&pointed(cell, comma)).map(Some)
}

/// A number with a decimal point, whatever it has, if it may have a comma.
fn pointed(cell: &str, comma: bool) -> Cow<'_, str> {
    if comma && cell.contains(',') { Cow::Owned(cell.replacen(',', ".", 1)) } else { Cow::Borrowed(cell) }
}

/// An instant that names its zone.
fn own_zone(cell: &str) -> Option<Timestamp> {
    // Most do not: `2023-01-02 00:00` has nothing but digits, `-`, `:`, `T` or a blank.
    let named = cell.ends_with(['Z', 'z']) || cell.get(10..).is_some_and(|time| time.contains(['+', '-']));
    if named { cell.parse().ok() } else { None }
}

/// A date, mostly with a time of day; of a stretch such as `01.01.2022 00:00 - 01.01.2022 01:00` its beginning.
fn civil(cell: &str) -> Option<DateTime> {
    let cell = cell.split_once(" - ").map_or(cell, |(begin, _)| begin).trim();
    let iso = |cell: &str| cell.as_bytes().get(4) == Some(&b'-') && cell.as_bytes().get(7) == Some(&b'-');
    if iso(cell) {
        return cell.parse().ok();
    }
    FORMS.iter().find_map(|form| DateTime::strptime(form, cell).ok())
}

fn is_time(cell: &str) -> bool {
    own_zone(cell).is_some() || civil(cell).is_some()
}

impl Layout {
    /// The layout of a file that begins with this line, and whether this is a header.
    fn of(first: &str) -> (Self, bool) {
        let separator = [';', '\t'].into_iter().find(|separator| first.contains(*separator)).unwrap_or(',');
        let cells = cells(first, separator);
        let is_header = !cells.iter().any(|cell| is_time(cell));
        let names = match is_header {
            true => cells,
            // Columns without names are numbered.
            false => (1..=cells.len()).map(|number| number.to_string()).collect(),
        };
        (Self { separator, names, columns: None }, is_header)
    }

    /// Whether numbers may have a decimal comma: where it does not separate cells.
    fn has_comma(&self) -> bool {
        self.separator != ','
    }

    /// The columns of times and of values, by the first row of data.
    fn find(&self, cells: &[String], options: &SeriesOptions) -> Result<(usize, usize), (String, String)> {
        let listed = || format!("the columns are `{}`", self.names.join("`, `"));
        let named = |name: &str| {
            let place = self.names.iter().position(|known| known == name);
            place.ok_or_else(|| (format!("there is no column `{name}`"), listed()))
        };
        let time = match &options.time {
            Some(name) => named(name)?,
            None => cells.iter().position(|cell| is_time(cell)).ok_or_else(|| {
                let hint = format!("name the column of times; {}", listed());
                ("no column has a time such as `2023-01-02 00:00`".to_owned(), hint)
            })?,
        };
        let comma = self.has_comma();
        let is_value = |cell: &String| cell.is_empty() || decimal::read(&pointed(cell, comma), 0).is_some();
        let mut others = cells.iter().enumerate().filter(|(at, _)| *at != time);
        let value = match &options.column {
            Some(name) => named(name)?,
            None => others.find(|(_, cell)| is_value(cell)).map(|(at, _)| at).ok_or_else(|| {
                ("no column has numbers".to_owned(), format!("name the column of values; {}", listed()))
            })?,
        };
        Ok((time, value))
    }
}
