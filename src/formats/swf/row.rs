//! One row of a log: 18 numbers.

use thiserror::Error;

use super::columns::{COLUMNS, Columns, Padded};

/// Job numbers from here on are reserved for rows whose number is already taken (see `Numbers`).
pub(super) const MAX_NUMBER: u64 = 1_000_000_000_000;

/// The columns of a row that a scheduler can use. A negative value is unknown.
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
    /// Column 5: processors allocated.
    pub allocated: i64,
    /// Column 8: processors requested.
    pub requested: i64,
    /// Column 9: requested run time, in microseconds.
    pub requested_time: i64,
    /// Column 10, memory requested, or else column 7, memory used: in KB a processor, if it is a number above 0.
    pub memory: i64,
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
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RowError {
    /// It has only this many columns.
    #[error("{count} column{} instead of {COLUMNS}", if *.0 == 1 { "" } else { "s" }, count = .0)]
    Columns(u8),
    /// It is longer than any row.
    #[error("the line is too long")]
    TooLong,
    /// The column is not a number.
    #[error("column {0} is not a number")]
    NotANumber(u8),
    /// The column is a number that makes no sense: too large, or half a processor.
    #[error("column {0} has an impossible value")]
    Absurd(u8),
    /// A row of the cloud workload format has only this many columns.
    #[error("{0} columns instead of {COLUMNS} or 21")]
    Extended(u8),
    /// The type of a row of the cloud workload format (column 20) is unknown.
    #[error("column 20 is none of S, ET, RT, EP and RP")]
    Type,
    /// The amount of a command of the cloud workload format (column 21) is none.
    #[error(
        "column 21 is not an amount of 0 or more (seconds for ET and RT, whole processors for EP and RP)"
    )]
    Amount,
}

impl Row {
    /// Parses a line without its line feed. Column 6, CPU time, is not used and may hold anything; so may 7 and 10, used and requested memory: what is no
    /// number is unknown.
    ///
    /// # Errors
    /// [`RowError`] is the first error from the left.
    pub fn parse(line: &[u8]) -> Result<Self, RowError> {
        Self::parse_with_rest(line).map(|(row, _)| row)
    }

    /// Parses likewise, and returns what follows the 18 columns.
    pub(super) fn parse_with_rest(line: &[u8]) -> Result<(Self, &[u8]), RowError> {
        let mut padded = [b' '; size_of::<Padded>()];
        let mut columns = Columns::of(line, &mut padded);
        let used;
        let row = Self {
            number: columns.whole(MAX_NUMBER - 1)?,
            submit: columns.time()?,
            wait: columns.time()?,
            run: columns.time()?,
            allocated: columns.whole(u32::MAX.into())?,
            requested: {
                columns.skip()?;
                used = columns.amount()?;
                columns.whole(u32::MAX.into())?
            },
            requested_time: columns.time()?,
            memory: {
                let requested = columns.amount()?;
                if requested > 0 { requested } else { used }
            },
            status: columns.whole(i32::MAX as u64)?,
            user: columns.id()?,
            group: columns.id()?,
            executable: columns.id()?,
            queue: columns.id()?,
            partition: columns.id()?,
            preceding: columns.whole(MAX_NUMBER - 1)?,
            think: columns.time()?,
        };
        Ok((row, &line[columns.read()..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The slow twin: parses by the simplest means.
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
        let amount = |column: usize| {
            let value = token(column)?.parse().ok().filter(|value: &f64| value.is_finite());
            let whole = value.map_or(-1.0, |value| ((value * 1e6).round() / 1e6).trunc());
            Ok(if (1.0..=f64::from(u32::MAX)).contains(&whole) { whole as i64 } else { -1 })
        };
        Ok(Row {
            number: whole(1, 999_999_999_999.0)?,
            submit: time(2)?,
            wait: time(3)?,
            run: time(4)?,
            allocated: processors(5)?,
            requested: token(6).and(token(7)).and_then(|_| processors(8))?,
            requested_time: time(9)?,
            memory: amount(10).map(|memory| if memory > 0 { memory } else { amount(7).unwrap_or(-1) })?,
            status: whole(11, f64::from(i32::MAX))?,
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
        assert_eq!((row.requested_time, row.memory, row.status), (7_200_000_000, -1, 1));
        assert_eq!((row.user, row.group, row.executable, row.queue, row.partition), (3, 4, -1, 2, 1));
        assert_eq!((row.preceding, row.think), (-1, -1_000_000));
    }

    #[test]
    fn memory_is_requested_or_else_used() {
        let memory = |used: &str, requested: &str| {
            Row::parse(format!("1 0 0 1 1 x {used} 1 1 {requested} 1 1 1 1 1 1 -1 -1").as_bytes())
                .unwrap()
                .memory
        };
        assert_eq!((memory("300", "500"), memory("300", "-1"), memory("300", "0")), (500, 300, 300));
        assert_eq!((memory("0", "x"), memory("12.5", "{}"), memory("5e9", "5e9")), (-1, 12, -1));
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
        assert_eq!(error("1 2 3 4 5000000000"), "column 5 has an impossible value");
    }
}
