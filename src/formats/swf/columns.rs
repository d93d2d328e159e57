//! The columns of a line, read byte by byte.

use super::RowError;

/// Number of columns of the standard; further columns (Alea's logs have 21) are ignored.
pub(super) const COLUMNS: u8 = 18;

/// The largest time in seconds, three centuries. It allows submissions in seconds since 1970, and requests of 2³¹ − 1
/// seconds, which mean "no limit"; both occur in real logs.
const MAX_SECONDS: u64 = 10_000_000_000;

/// A number as it is written.
#[derive(Copy, Clone)]
struct Decimal {
    negative: bool,
    whole: u64,
    millionths: u32,
}

/// The columns of a line, from the left.
pub(in crate::formats) struct Columns<'a> {
    /// The bytes that have not been read.
    rest: &'a [u8],
    /// The number of the column read last, from 1.
    column: u8,
}

/// Checked for every byte; nearly every blank is a space.
fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte.is_ascii_whitespace()
}

/// The rest of `line` after its first bytes that satisfy `such`.
#[inline(always)]
fn after(mut line: &[u8], such: impl Fn(u8) -> bool) -> &[u8] {
    while let [byte, rest @ ..] = line
        && such(*byte)
    {
        line = rest;
    }
    line
}

/// How many of eight bytes, the first of them the lowest, are spaces before any other.
#[inline(always)]
const fn leading_spaces(eight: u64) -> usize {
    (eight ^ (u64::MAX / 0xff * b' ' as u64)).trailing_zeros() as usize / 8
}

/// The number that the digits before any other of eight bytes form, and how many they are; the first byte is the lowest.
#[inline(always)]
const fn leading_digits(eight: u64) -> (u64, usize) {
    const ALL: u64 = u64::MAX / 0xff;
    // Digits become 0 to 9. The sum sets the highest bit of every other byte, at least up to the first of them.
    let digits = eight ^ (ALL * b'0' as u64);
    let others = (digits.wrapping_add(ALL * 0x76) | digits) & (ALL * 0x80);
    let count = others.trailing_zeros() as usize / 8;
    // To the end, after as many zeros as are missing, so that there are eight; then pairs, fours and eights are added up.
    let ones = digits.unbounded_shl(64 - 8 * count as u32);
    let tens = (ones.wrapping_mul(10).wrapping_add(ones >> 8)) & 0x00ff_00ff_00ff_00ff;
    let hundreds = (tens.wrapping_mul(100).wrapping_add(tens >> 16)) & 0x0000_ffff_0000_ffff;
    (hundreds.wrapping_mul(10_000).wrapping_add(hundreds >> 32) & 0xffff_ffff, count)
}

impl<'a> Columns<'a> {
    /// The columns of `line`.
    pub(super) const fn of(line: &'a [u8]) -> Self {
        Self { rest: line, column: 0 }
    }

    /// The columns after those of the standard.
    pub(in crate::formats) fn behind(rest: &'a [u8]) -> Self {
        Self { rest, column: COLUMNS }
    }

    /// The bytes that have not been read.
    pub(super) const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Skips the blanks before the next column.
    #[inline(always)]
    fn skip_blanks(&mut self) -> Result<(), RowError> {
        // One space, or many where columns are aligned.
        if let [b' ', next, ..] = self.rest
            && *next > b' '
        {
            self.rest = &self.rest[1..];
        } else if let Some(eight) = self.rest.first_chunk() {
            self.rest = &self.rest[leading_spaces(u64::from_le_bytes(*eight))..];
        }
        if self.rest.first().is_none_or(|byte| *byte <= b' ') {
            self.rest = after(self.rest, is_blank);
        }
        if self.rest.is_empty() {
            return Err(RowError::Columns(self.column));
        }
        self.column += 1;
        Ok(())
    }

    /// The raw content of the next column.
    pub(in crate::formats) fn token(&mut self) -> Result<&'a [u8], RowError> {
        self.skip_blanks()?;
        Ok(self.token_from(self.rest))
    }

    /// The current column, from the beginning of `from` to the column's end.
    fn token_from(&mut self, from: &'a [u8]) -> &'a [u8] {
        self.rest = after(self.rest, |byte| !is_blank(byte));
        &from[..from.len() - self.rest.len()]
    }

    /// The number in the current column.
    #[inline(always)]
    fn number(&mut self) -> Result<Decimal, RowError> {
        // Nearly all numbers in logs are integers of a few digits, so that form is tried first.
        let from = self.rest;
        let (negative, digits) = match from {
            [b'-', digits @ ..] => (true, digits),
            digits => (false, digits),
        };
        let (mut whole, mut rest) = match digits.first_chunk() {
            Some(eight) => {
                let (whole, count) = leading_digits(u64::from_le_bytes(*eight));
                (whole, &digits[count..])
            }
            None => (0, digits),
        };
        while let [digit @ b'0'..=b'9', behind @ ..] = rest {
            whole = whole.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
            rest = behind;
        }
        self.rest = rest;
        if rest.first().is_none_or(|byte| is_blank(*byte)) && (1..=18).contains(&(digits.len() - rest.len()))
        {
            return Ok(Decimal { negative, whole, millionths: 0 });
        }
        self.any_number(from)
    }

    #[cold]
    #[inline(never)]
    fn any_number(&mut self, from: &'a [u8]) -> Result<Decimal, RowError> {
        decimal(self.token_from(from)).ok_or(RowError::NotANumber(self.column))
    }

    /// A time in microseconds.
    pub(in crate::formats) fn time(&mut self) -> Result<i64, RowError> {
        self.skip_blanks()?;
        let Decimal { negative, whole, millionths } = self.number()?;
        if whole > MAX_SECONDS {
            return Err(RowError::Absurd(self.column));
        }
        let micros = (whole * 1_000_000 + u64::from(millionths)) as i64;
        Ok(if negative { -micros } else { micros })
    }

    /// A whole number up to `max`; all negative ones are −1.
    #[inline(always)]
    pub(in crate::formats) fn whole(&mut self, max: u64) -> Result<i64, RowError> {
        self.skip_blanks()?;
        // Half of the columns of most logs are unknown.
        if let [b'-', b'1', b' ', ..] = self.rest {
            self.rest = &self.rest[2..];
            return Ok(-1);
        }
        self.known(max)
    }

    #[inline(never)]
    fn known(&mut self, max: u64) -> Result<i64, RowError> {
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

/// Reads any decimal number, to the nearest millionth; `None` if it is not a number.
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
    // Exponents, and numbers of too many digits.
    let value: f64 = digits.parse().ok()?;
    if !value.is_finite() || digits.starts_with(['-', '+']) {
        return None;
    }
    let whole = libm::trunc(value);
    let millionths = libm::round((value - whole) * 1e6) as u32;
    Some(Decimal {
        negative,
        // The cast saturates, and such a number is too large for any column.
        whole: (whole as u64).saturating_add(u64::from(millionths / 1_000_000)),
        millionths: millionths % 1_000_000,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn eight_bytes_at_once_are_read_as_one_by_one(text in prop_oneof!["[0-9]{0,8}[ .a:/x-]{0,3}[0-9 ]{8}", any::<[char; 8]>().prop_map(String::from_iter), " {0,9}[0-9a\\t]{8}"]) {
            let eight: &[u8; 8] = text.as_bytes().first_chunk().unwrap();
            let digits = eight.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let whole = text[..digits].parse().unwrap_or(0);
            prop_assert_eq!(leading_digits(u64::from_le_bytes(*eight)), (whole, digits));
            let spaces = eight.iter().take_while(|byte| **byte == b' ').count();
            prop_assert_eq!(leading_spaces(u64::from_le_bytes(*eight)), spaces);
        }
    }
}
