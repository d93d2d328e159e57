//! One row of a log: 18 numbers, read byte by byte.

use std::fmt;

/// Columns of the standard; what stands behind them (Alea's logs have 21 columns) is not looked at.
const COLUMNS: u8 = 18;

/// Times beyond this many seconds, three centuries, are no times. It leaves room for submissions that are given in
/// seconds since 1970 and for requests of 2³¹ − 1 seconds, which mean "no limit"; both occur in real logs.
const MAX_SECONDS: u64 = 10_000_000_000;

/// Job numbers from here on are kept free for rows whose number is taken already (see `Numbers`).
pub(super) const MAX_NUMBER: u64 = 1_000_000_000_000;

/// The columns of a row that a scheduler can use. Negative is unknown.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Column 1: job number.
    pub number: i64,
    /// Column 2: submission, in microseconds since the log's start.
    pub submit: i64,
    /// Column 3: wait, in microseconds.
    pub wait: i64,
    /// Column 4: run time, in microseconds.
    pub run: i64,
    /// Column 5: processors given.
    pub allocated: i64,
    /// Column 8: processors asked for.
    pub requested: i64,
    /// Column 9: run time asked for, in microseconds.
    pub requested_time: i64,
    /// Column 11: status; some logs have exit codes here.
    pub status: i64,
    /// Column 12: user number.
    pub user: i32,
    /// Column 13: group number.
    pub group: i32,
    /// Column 14: executable number.
    pub executable: i32,
    /// Column 15: queue number.
    pub queue: i32,
    /// Column 16: partition number, from 1.
    pub partition: i32,
    /// Column 17: the number of the preceding job.
    pub preceding: i64,
    /// Column 18: think time after the preceding job's end, in microseconds.
    pub think: i64,
}

/// Why a line is not a row.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum RowError {
    /// It has only this many columns.
    Columns(u8),
    /// It is longer than any row.
    TooLong,
    /// The column is not a number.
    NotANumber(u8),
    /// The column is a number that cannot be meant: too large, or half a processor.
    Absurd(u8),
    /// A row of the cloud workload format has only this many columns.
    Extended(u8),
    /// The type of a row of the cloud workload format (column 20) is unknown.
    Type,
}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Columns(1) => write!(f, "1 column instead of {COLUMNS}"),
            Self::Columns(count) => write!(f, "{count} columns instead of {COLUMNS}"),
            Self::TooLong => f.write_str("the line is too long"),
            Self::Absurd(21) | Self::NotANumber(21) => f.write_str(
                "column 21 is no amount from 0 on, of seconds for ET and RT and of whole processors for EP and RP",
            ),
            Self::NotANumber(column) => write!(f, "column {column} is not a number"),
            Self::Absurd(column) => write!(f, "column {column} has a value that cannot be meant"),
            Self::Extended(count) => write!(f, "{count} columns instead of {COLUMNS} or 21"),
            Self::Type => f.write_str("column 20 is none of S, ET, RT, EP and RP"),
        }
    }
}

impl Row {
    /// Reads a line without its line feed. The columns that nothing here uses (6 and 7, CPU time and memory; 10,
    /// requested memory) may hold anything.
    ///
    /// # Errors
    /// [`RowError`] tells the first thing that is wrong, from the left.
    pub fn parse(line: &[u8]) -> Result<Self, RowError> {
        Self::parse_with_rest(line).map(|(row, _)| row)
    }

    /// The same, and what stands behind the 18 columns.
    pub(super) fn parse_with_rest(line: &[u8]) -> Result<(Self, &[u8]), RowError> {
        let mut columns = Columns { line, at: 0, column: 0 };
        let row = Self {
            number: columns.whole(MAX_NUMBER - 1)?,
            submit: columns.time()?,
            wait: columns.time()?,
            run: columns.time()?,
            allocated: columns.whole(u32::MAX.into())?,
            requested: {
                columns.token()?;
                columns.token()?;
                columns.whole(u32::MAX.into())?
            },
            requested_time: columns.time()?,
            status: {
                columns.token()?;
                columns.whole(i32::MAX as u64)?
            },
            user: columns.id()?,
            group: columns.id()?,
            executable: columns.id()?,
            queue: columns.id()?,
            partition: columns.id()?,
            preceding: columns.whole(MAX_NUMBER - 1)?,
            think: columns.time()?,
        };
        Ok((row, &line[columns.at..]))
    }
}

/// A number as it stands.
#[derive(Copy, Clone)]
struct Decimal {
    negative: bool,
    whole: u64,
    millionths: u32,
}

/// The columns of a line, from the left.
pub(in crate::formats) struct Columns<'a> {
    line: &'a [u8],
    at: usize,
    /// The column taken last, from 1.
    column: u8,
}

/// Asked of every byte; nearly every blank is a space.
fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte.is_ascii_whitespace()
}

impl<'a> Columns<'a> {
    /// Those behind the columns of the standard.
    pub(in crate::formats) fn behind(rest: &'a [u8]) -> Self {
        Self { line: rest, at: 0, column: COLUMNS }
    }

    fn skip_blanks(&mut self) -> Result<(), RowError> {
        while let Some(byte) = self.line.get(self.at) {
            if !is_blank(*byte) {
                self.column += 1;
                return Ok(());
            }
            self.at += 1;
        }
        Err(RowError::Columns(self.column))
    }

    /// The next column, whatever it holds.
    pub(in crate::formats) fn token(&mut self) -> Result<&'a [u8], RowError> {
        self.skip_blanks()?;
        Ok(self.rest_of_token(self.at))
    }

    /// From `from`, in this column, to its end.
    fn rest_of_token(&mut self, from: usize) -> &'a [u8] {
        while self.line.get(self.at).is_some_and(|byte| !is_blank(*byte)) {
            self.at += 1;
        }
        &self.line[from..self.at]
    }

    #[inline]
    fn number(&mut self) -> Result<Decimal, RowError> {
        self.skip_blanks()?;
        // Nearly all numbers in logs are integers of a few digits: try that, and look again if it was not.
        let from = self.at;
        let negative = self.line[from] == b'-';
        let first_digit = from + usize::from(negative);
        let mut at = first_digit;
        let mut whole: u64 = 0;
        let mut next = b' ';
        while let Some(byte) = self.line.get(at) {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                next = *byte;
                break;
            }
            whole = whole.wrapping_mul(10).wrapping_add(u64::from(digit));
            at += 1;
        }
        self.at = at;
        if at != first_digit && at - first_digit <= 18 && is_blank(next) {
            return Ok(Decimal { negative, whole, millionths: 0 });
        }
        decimal(self.rest_of_token(from)).ok_or(RowError::NotANumber(self.column))
    }

    /// A time in microseconds.
    pub(in crate::formats) fn time(&mut self) -> Result<i64, RowError> {
        let Decimal { negative, whole, millionths } = self.number()?;
        if whole > MAX_SECONDS {
            return Err(RowError::Absurd(self.column));
        }
        let micros = (whole * 1_000_000 + u64::from(millionths)) as i64;
        Ok(if negative { -micros } else { micros })
    }

    /// A whole number up to `max`; all negative ones are −1.
    pub(in crate::formats) fn whole(&mut self, max: u64) -> Result<i64, RowError> {
        let Decimal { negative, whole, millionths } = self.number()?;
        if negative && (whole, millionths) != (0, 0) {
            Ok(-1)
        } else if whole > max || millionths != 0 {
            Err(RowError::Absurd(self.column))
        } else {
            Ok(whole as i64)
        }
    }

    fn id(&mut self) -> Result<i32, RowError> {
        self.whole(i32::MAX as u64).map(|id| id as i32)
    }
}

/// Reads any decimal number, to the nearest millionth; `None` if it is none.
fn decimal(token: &[u8]) -> Option<Decimal> {
    let text = std::str::from_utf8(token).ok()?;
    let (negative, digits) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() <= 18 && whole.len() + fraction.len() > 0 && is_plain(whole) && is_plain(fraction) {
        let mut millionths = 0;
        for place in 0..6 {
            millionths =
                millionths * 10 + fraction.as_bytes().get(place).map_or(0, |byte| u32::from(byte - b'0'));
        }
        millionths += u32::from(fraction.as_bytes().get(6).is_some_and(|byte| *byte >= b'5'));
        let whole = if whole.is_empty() { 0 } else { whole.parse::<u64>().ok()? };
        return Some(Decimal {
            negative,
            whole: whole + u64::from(millionths / 1_000_000),
            millionths: millionths % 1_000_000,
        });
    }
    // Exponents, and numbers of more digits than fit.
    let value: f64 = digits.parse().ok()?;
    if !value.is_finite() || digits.starts_with(['-', '+']) {
        return None;
    }
    let whole = libm::trunc(value);
    let millionths = libm::round((value - whole) * 1e6) as u32;
    Some(Decimal {
        negative,
        // Saturates, and so is absurd as any column.
        whole: (whole as u64).saturating_add(u64::from(millionths / 1_000_000)),
        millionths: millionths % 1_000_000,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same by the obvious means.
    fn slow(line: &str) -> Result<Row, RowError> {
        let tokens: Vec<_> = line.split_ascii_whitespace().take(18).collect();
        let number = |column: u8| -> Result<f64, RowError> {
            let token = tokens.get(usize::from(column) - 1).ok_or(RowError::Columns(tokens.len() as u8))?;
            token.parse().ok().filter(|value: &f64| value.is_finite()).ok_or(RowError::NotANumber(column))
        };
        let time = |column| {
            let secs = number(column)?;
            if secs.abs() >= 10_000_000_001.0 {
                Err(RowError::Absurd(column))
            } else {
                Ok((secs * 1e6).round() as i64)
            }
        };
        let whole = |column, max: f64| {
            let value = number(column)?;
            if value < 0.0 {
                Ok(-1)
            } else if value > max || value.fract() != 0.0 {
                Err(RowError::Absurd(column))
            } else {
                Ok(value as i64)
            }
        };
        let id = |column| whole(column, f64::from(i32::MAX)).map(|id| id as i32);
        let processors = |column| whole(column, f64::from(u32::MAX));
        let token = |column: usize| tokens.get(column - 1).ok_or(RowError::Columns(tokens.len() as u8));
        Ok(Row {
            number: whole(1, 999_999_999_999.0)?,
            submit: time(2)?,
            wait: time(3)?,
            run: time(4)?,
            allocated: processors(5)?,
            requested: token(6).and(token(7)).and_then(|_| processors(8))?,
            requested_time: time(9)?,
            status: token(10).and_then(|_| whole(11, f64::from(i32::MAX)))?,
            user: id(12)?,
            group: id(13)?,
            executable: id(14)?,
            queue: id(15)?,
            partition: id(16)?,
            preceding: whole(17, 999_999_999_999.0)?,
            think: time(18)?,
        })
    }

    fn token() -> impl Strategy<Value = String> {
        prop_oneof![
            12 => (0_u32..2_000_000).prop_map(|n| n.to_string()),
            4 => Just("-1".to_owned()),
            2 => (0_u32..1_000_000, 0_u32..1_000_000).prop_map(|(a, b)| format!("{a}.{b:06}")),
            2 => (0_u32..1_000_000, 0_u32..100).prop_map(|(a, b)| format!("-{a}.{b}")),
            1 => any::<i64>().prop_map(|n| n.to_string()),
            1 => prop::sample::select(vec![
                "+7", "7.", ".5", ".", "-", "+", "--1", "+-1", "-+1", "1e3", "1e-3", "2.5e2", "1e400", "1e18", "nan", "inf",
                "-inf", "infinity", "0x10", "1_000", "16.0", "4294967295", "4294967296", "2147483648", "-0", "-0.0",
                "10000000001", "99999999999999999999999", "000000000000000000000000012", "{1,2,3}", "<html>", "é", "a",
            ]).prop_map(str::to_owned),
        ]
    }

    fn line() -> impl Strategy<Value = String> {
        (prop::collection::vec((token(), "[ \t]{1,3}"), 15..24), "[ \t]{0,2}", "\r?").prop_map(
            |(tokens, lead, end)| {
                let body: String = tokens.into_iter().flat_map(|(token, blanks)| [token, blanks]).collect();
                format!("{lead}{body}{end}")
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn agrees_with_the_slow_twin(line in line()) {
            prop_assert_eq!(Row::parse(line.as_bytes()), slow(&line), "{}", line);
        }

        #[test]
        fn takes_any_bytes(line in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Row::parse(&line);
        }
    }

    #[test]
    fn a_row_of_the_archive() {
        let row = Row::parse(
            b"  9933  3585977       4      16.5 1      2       0 2   7200     -1 1  3  4 -1 2 1 -1 -1",
        )
        .unwrap();
        assert_eq!((row.number, row.submit, row.wait), (9933, 3_585_977_000_000, 4_000_000));
        assert_eq!((row.run, row.allocated, row.requested), (16_500_000, 1, 2));
        assert_eq!((row.requested_time, row.status), (7_200_000_000, 1));
        assert_eq!((row.user, row.group, row.executable, row.queue, row.partition), (3, 4, -1, 2, 1));
        assert_eq!((row.preceding, row.think), (-1, -1_000_000));
    }

    #[test]
    fn seventh_places_round() {
        let micros = |text: &str| {
            Row::parse(format!("1 {text} 0 1 1 x x 1 1 x 1 1 1 1 1 1 -1 -1").as_bytes()).unwrap().submit
        };
        assert_eq!(micros("0.0000005"), 1);
        assert_eq!(micros("0.00000049999"), 0);
        assert_eq!(micros("1.9999999"), 2_000_000);
        assert_eq!(micros("1e-1"), 100_000);
    }

    #[test]
    fn what_is_wrong_is_told() {
        let error = |text: &str| Row::parse(text.as_bytes()).unwrap_err().to_string();
        assert_eq!(error("1 2 3"), "3 columns instead of 18");
        assert_eq!(error("1 2 x"), "column 3 is not a number");
        assert_eq!(error("1 2 3 4 5000000000"), "column 5 has a value that cannot be meant");
    }
}
