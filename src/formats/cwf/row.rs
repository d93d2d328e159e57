//! Columns 19 to 21 of a row.

use crate::formats::swf::{Columns, RowError};
use crate::model::Elastic;
use crate::units::{Span, write_seconds};

/// The codes of column 20, the code of a submission first.
const CODES: [&[u8]; 5] = [b"S", b"ET", b"RT", b"EP", b"RP"];

/// The content of the three columns.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(in crate::formats) enum Extension {
    /// The row is a job. Its requested start is in microseconds since the log's start, negative if there is none.
    Job {
        /// The requested start.
        start: i64,
    },
    /// The row is a command.
    Command(Elastic),
}

impl Extension {
    /// Reads what follows the 18 columns of a row. If nothing follows, the row is a batch job.
    ///
    /// # Errors
    /// [`RowError`] is the first error from the left.
    pub(in crate::formats) fn parse(rest: &[u8]) -> Result<Self, RowError> {
        let mut columns = Columns::behind(rest);
        let start = match columns.time() {
            Ok(start) => start,
            Err(RowError::Columns(18)) => return Ok(Self::Job { start: -1 }),
            Err(error) => return Err(error),
        };
        let code = columns.token().map_err(extended)?;
        let change = match code {
            b"S" => {
                // The amount of a submission has no meaning, but a row that lacks it is incomplete.
                columns.token().map_err(extended)?;
                return Ok(Self::Job { start });
            }
            b"ET" => Elastic::ExtendTime(span(&mut columns)?),
            b"RT" => Elastic::ReduceTime(span(&mut columns)?),
            b"EP" => Elastic::ExtendProcs(processors(&mut columns)?),
            b"RP" => Elastic::ReduceProcs(processors(&mut columns)?),
            _ => return Err(RowError::Type),
        };
        Ok(Self::Command(change))
    }

    /// Whether column 20 holds one of the format's codes, which no row of SWF has.
    pub(in crate::formats) fn is_in(rest: &[u8]) -> bool {
        let mut columns = Columns::behind(rest);
        columns.token().and_then(|_| columns.token()).is_ok_and(|code| CODES.contains(&code))
    }

    /// Whether more columns follow these.
    pub(in crate::formats) fn goes_on(rest: &[u8]) -> bool {
        let mut columns = Columns::behind(rest);
        (19..=22).all(|_| columns.token().is_ok())
    }
}

fn span(columns: &mut Columns<'_>) -> Result<Span, RowError> {
    let micros = columns.time().map_err(extended)?;
    u64::try_from(micros).map(Span::from_micros).map_err(|_| RowError::Amount)
}

fn processors(columns: &mut Columns<'_>) -> Result<u32, RowError> {
    let number = columns.whole(u32::MAX.into()).map_err(extended)?;
    u32::try_from(number).map_err(|_| RowError::Amount)
}

fn extended(error: RowError) -> RowError {
    match error {
        RowError::Columns(count) => RowError::Extended(count),
        RowError::Absurd(21) | RowError::NotANumber(21) => RowError::Amount,
        other => other,
    }
}

/// Appends the three columns of a job whose requested start is `start` microseconds after the log's, if it has one.
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
            out.extend_from_slice(itoa::Buffer::new().format(by).as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_three_columns_are_read() {
        let read = |rest: &str| Extension::parse(rest.as_bytes());
        assert_eq!(read(" "), Ok(Extension::Job { start: -1 }));
        assert_eq!(read(" -1 S -1"), Ok(Extension::Job { start: -1_000_000 }));
        assert_eq!(read("\t2.5 S x 22nd"), Ok(Extension::Job { start: 2_500_000 }));
        let command = |change| Ok(Extension::Command(change));
        assert_eq!(read(" -1 ET 90"), command(Elastic::ExtendTime(Span::from_secs(90))));
        assert_eq!(read(" -1 RT 0.5"), command(Elastic::ReduceTime(Span::from_micros(500_000))));
        assert_eq!(read(" -1 EP 32"), command(Elastic::ExtendProcs(32)));
        assert_eq!(read(" -1 RP 0"), command(Elastic::ReduceProcs(0)));
    }

    #[test]
    fn what_is_wrong_is_told() {
        let amount =
            "column 21 is not an amount of 0 or more (seconds for ET and RT, whole processors for EP and RP)";
        for (rest, said) in [
            (" -1", "19 columns instead of 18 or 21"),
            (" -1 S", "20 columns instead of 18 or 21"),
            (" -1 ET", "20 columns instead of 18 or 21"),
            (" x S -1", "column 19 is not a number"),
            (" -1 XT 5", "column 20 is none of S, ET, RT, EP and RP"),
            (" -1 s -1", "column 20 is none of S, ET, RT, EP and RP"),
            (" -1 ET five", amount),
            (" -1 ET -5", amount),
            (" -1 EP -5", amount),
            (" -1 RP 1.5", amount),
        ] {
            let error = Extension::parse(rest.as_bytes()).unwrap_err();
            assert_eq!(error.to_string(), said, "{rest}");
        }
        assert!(Extension::goes_on(b" -1 S -1 4") && Extension::goes_on(b" -1 S -1 x y"));
        assert!(
            ![" -1 S -1", " -1 S -1  ", " -1", ""].iter().any(|rest| Extension::goes_on(rest.as_bytes()))
        );
    }

    #[test]
    fn a_code_tells_the_format() {
        assert!([" -1 S -1", " 5 ET 1", " x RP"].iter().all(|rest| Extension::is_in(rest.as_bytes())));
        assert!(!["", " -1", " 1 2 3", " -1 X -1"].iter().any(|rest| Extension::is_in(rest.as_bytes())));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(by in 0..10_000_000_000_u64, procs: u32, kind in 0..4_usize) {
            let time = Span::from_micros(by);
            let change = [
                Elastic::ExtendTime(time),
                Elastic::ReduceTime(time),
                Elastic::ExtendProcs(procs),
                Elastic::ReduceProcs(procs),
            ][kind];
            let mut out = Vec::new();
            write_command(&mut out, change);
            prop_assert_eq!(Extension::parse(&out), Ok(Extension::Command(change)));
        }

        #[test]
        fn takes_any_bytes(rest in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = (Extension::parse(&rest), Extension::is_in(&rest));
        }
    }
}
