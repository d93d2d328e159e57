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
    /// The line, and spaces behind it if it is short.
    bytes: &'a [u8],
    /// The length of the line.
    end: usize,
    /// The number of bytes that have been read.
    at: usize,
    /// The number of the column read last, from 1.
    column: u8,
}

/// A line with spaces behind it, so that its last columns are read like the others: many bytes at once. A line of a log
/// has 80 to 130 bytes.
pub(super) type Padded = [u8; 192];

/// As many bytes are read at once: eight spaces, eight digits and one blank.
const AHEAD: usize = 17;

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

/// `-1 ` as the lowest bytes.
const MINUS_ONE: u64 = u32::from_le_bytes(*b"-1 \0") as u64;

/// Eight bytes, the first of them the lowest.
#[inline(always)]
fn eight_of(ahead: &[u8; AHEAD], from: usize) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&ahead[from..from + 8]);
    u64::from_le_bytes(eight)
}

/// How many of eight bytes are spaces before any other; the first byte is the lowest.
#[inline(always)]
const fn leading_spaces(eight: u64) -> usize {
    (eight ^ (u64::MAX / 0xff * b' ' as u64)).trailing_zeros() as usize / 8
}

/// The number that the digits before any other of eight bytes form, and how many they are; the first byte is the lowest.
#[inline(always)]
const fn leading_digits(eight: u64) -> (i64, usize) {
    const ALL: u64 = u64::MAX / 0xff;
    // Digits become 0 to 9. The sum sets the highest bit of every other byte, at least up to the first of them.
    let digits = eight ^ (ALL * b'0' as u64);
    let others = (digits.wrapping_add(ALL * 0x76) | digits) & (ALL * 0x80);
    let count = others.trailing_zeros() as usize / 8;
    // To the end, after as many zeros as are missing, so that there are eight; then pairs, fours and eights are added up.
    let ones = digits.unbounded_shl(64 - 8 * count as u32);
    let tens = (ones.wrapping_mul(10).wrapping_add(ones >> 8)) & 0x00ff_00ff_00ff_00ff;
    let hundreds = (tens.wrapping_mul(100).wrapping_add(tens >> 16)) & 0x0000_ffff_0000_ffff;
    ((hundreds.wrapping_mul(10_000).wrapping_add(hundreds >> 32) & 0xffff_ffff) as i64, count)
}

/// How many of eight bytes are before any space or control character; the first byte is the lowest.
#[inline(always)]
const fn leading_text(eight: u64) -> usize {
    const ALL: u64 = u64::MAX / 0xff;
    let blanks = eight.wrapping_sub(ALL * 0x21) & !eight & (ALL * 0x80);
    blanks.trailing_zeros() as usize / 8
}

impl<'a> Columns<'a> {
    /// The columns of `line`, which is copied into `padded` if it fits.
    pub(super) fn of(line: &'a [u8], padded: &'a mut Padded) -> Self {
        let end = line.len();
        let bytes = if end + AHEAD <= padded.len() {
            padded[..end].copy_from_slice(line);
            &padded[..]
        } else {
            line
        };
        Self { bytes, end, at: 0, column: 0 }
    }

    /// The columns after those of the standard.
    pub(in crate::formats) fn behind(rest: &'a [u8]) -> Self {
        Self { bytes: rest, end: rest.len(), at: 0, column: COLUMNS }
    }

    /// The number of bytes that have been read.
    pub(super) const fn read(&self) -> usize {
        self.at
    }

    /// The bytes that have not been read.
    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..self.end]
    }

    /// The bytes of the next column after at most eight spaces, and how many these are.
    #[inline(always)]
    fn ahead(&self) -> Option<(&'a [u8; AHEAD], usize, u64)> {
        let ahead: &[u8; AHEAD] = self.bytes.get(self.at..)?.first_chunk()?;
        let spaces = leading_spaces(eight_of(ahead, 0));
        Some((ahead, spaces, eight_of(ahead, spaces)))
    }

    /// The next column, if it is a number of at most eight digits or −1 and a space follows, as nearly all are. Half of
    /// the columns of most logs are unknown.
    #[inline(always)]
    fn plain(&mut self) -> Option<i64> {
        let (ahead, spaces, eight) = self.ahead()?;
        let (whole, count) = if eight << 40 == MINUS_ONE << 40 { (-1, 2) } else { leading_digits(eight) };
        if count == 0 || ahead[spaces + count] != b' ' {
            return None;
        }
        self.at += spaces + count;
        self.column += 1;
        Some(whole)
    }

    /// Skips the next column, whatever it holds.
    #[inline(always)]
    pub(super) fn skip(&mut self) -> Result<(), RowError> {
        if let Some((ahead, spaces, eight)) = self.ahead() {
            let count = leading_text(eight);
            if count > 0 && ahead[spaces + count] == b' ' {
                self.at += spaces + count;
                self.column += 1;
                return Ok(());
            }
        }
        self.token().map(drop)
    }

    /// Skips the blanks before the next column.
    fn skip_blanks(&mut self) -> Result<(), RowError> {
        let rest = after(self.rest(), is_blank);
        self.at = self.end - rest.len();
        if rest.is_empty() {
            return Err(RowError::Columns(self.column));
        }
        self.column += 1;
        Ok(())
    }

    /// The raw content of the next column.
    #[inline(never)]
    pub(in crate::formats) fn token(&mut self) -> Result<&'a [u8], RowError> {
        self.skip_blanks()?;
        let rest = self.rest();
        self.at = self.end - after(rest, |byte| !is_blank(byte)).len();
        Ok(&rest[..rest.len() - self.rest().len()])
    }

    /// The next column as any number.
    #[cold]
    #[inline(never)]
    fn number(&mut self) -> Result<Decimal, RowError> {
        let token = self.token()?;
        decimal(token).ok_or(RowError::NotANumber(self.column))
    }

    /// A time in microseconds.
    #[inline(always)]
    pub(in crate::formats) fn time(&mut self) -> Result<i64, RowError> {
        match self.plain() {
            Some(seconds) => Ok(seconds * 1_000_000),
            None => self.any_time(),
        }
    }

    #[cold]
    fn any_time(&mut self) -> Result<i64, RowError> {
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
        match self.plain() {
            Some(number) if number <= max as i64 => Ok(number),
            Some(_) => Err(RowError::Absurd(self.column)),
            None => self.any_whole(max),
        }
    }

    #[cold]
    fn any_whole(&mut self, max: u64) -> Result<i64, RowError> {
        let Decimal { negative, whole, millionths } = self.number()?;
        if negative && (whole, millionths) != (0, 0) {
            Ok(-1)
        } else if whole > max || millionths != 0 {
            Err(RowError::Absurd(self.column))
        } else {
            Ok(whole as i64)
        }
    }

    /// An amount, rounded down; −1 if it is no number above 0 that fits 32 bits.
    #[inline(always)]
    pub(super) fn amount(&mut self) -> Result<i64, RowError> {
        let amount = match self.plain() {
            Some(number) => number,
            None => self.any_amount()?,
        };
        Ok(if amount > 0 { amount } else { -1 })
    }

    #[cold]
    fn any_amount(&mut self) -> Result<i64, RowError> {
        let amount =
            decimal(self.token()?).filter(|amount| !amount.negative && amount.whole <= u32::MAX.into());
        Ok(amount.map_or(-1, |amount| amount.whole as i64))
    }

    /// A whole number that fits 32 bits.
    #[inline(always)]
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
            let text = eight.iter().take_while(|byte| **byte > b' ').count();
            prop_assert_eq!(leading_text(u64::from_le_bytes(*eight)), text);
        }
    }
}
