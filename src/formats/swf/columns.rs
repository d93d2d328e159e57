//! The columns of a line, read byte by byte.

use super::RowError;

/// Columns of the standard; what stands behind them (Alea's logs have 21 columns) is not looked at.
pub(super) const COLUMNS: u8 = 18;

/// Times beyond this many seconds, three centuries, are no times. It leaves room for submissions that are given in
/// seconds since 1970 and for requests of 2³¹ − 1 seconds, which mean "no limit"; both occur in real logs.
const MAX_SECONDS: u64 = 10_000_000_000;

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
    /// Those of `line`.
    pub(super) const fn of(line: &'a [u8]) -> Self {
        Self { line, at: 0, column: 0 }
    }

    /// Those behind the columns of the standard.
    pub(in crate::formats) fn behind(rest: &'a [u8]) -> Self {
        Self { line: rest, at: 0, column: COLUMNS }
    }

    /// What has not been taken.
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.line[self.at..]
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

    /// A whole number that fits 32 bits.
    pub(super) fn id(&mut self) -> Result<i32, RowError> {
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
