//! Cells of a CSV row, appended to a block without allocation. Every cell is followed by a comma; the last comma of a
//! row becomes the line end.
//!
//! A row has some thirty cells of a few bytes each, so the cost of a cell determines the cost of a row: digits are
//! converted eight at a time, and short texts are copied at a fixed width, which avoids the call for a copy of
//! unknown length.

use crate::metrics::Ratio;
use crate::model::ProcSet;
use crate::platform::ProcTime;
use crate::units::{Energy, Money, Rate, no_formula};

const NANOS: u64 = 1_000_000_000;
const EIGHT_DIGITS: u64 = 100_000_000;

/// Appends the first `used` bytes of `bytes`.
#[inline(always)]
fn append<const N: usize>(out: &mut Vec<u8>, bytes: [u8; N], used: usize) {
    let end = out.len() + used;
    out.extend_from_slice(&bytes);
    out.truncate(end);
}

/// The eight decimal digits of a value below 10⁸, the first in the lowest byte: halves, quarters and eighths of the
/// number are split side by side in one word.
#[inline(always)]
const fn eight_digits(value: u32) -> u64 {
    let (high, low) = ((value / 10_000) as u64, (value % 10_000) as u64);
    let fours = high | low << 32;
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | (fours - 100 * hundreds) << 16;
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | (twos - 10 * tens) << 8
}

const ZEROS: u64 = 0x3030_3030_3030_3030;

/// The digits of a whole number, without a comma.
#[inline(always)]
fn digits(out: &mut Vec<u8>, value: u64) {
    if value < EIGHT_DIGITS {
        let digits = eight_digits(value as u32);
        // The last digit is always kept, so that zero is `0`.
        let skipped = (digits | 1 << 56).trailing_zeros() / 8;
        append(out, ((digits | ZEROS) >> (8 * skipped)).to_le_bytes(), 8 - skipped as usize);
    } else {
        out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    }
}

/// A whole number.
#[inline]
pub(super) fn integer(out: &mut Vec<u8>, value: impl Into<u64>) {
    digits(out, value.into());
    out.push(b',');
}

/// A whole number that may be negative.
#[inline]
pub(super) fn signed(out: &mut Vec<u8>, value: i32) {
    if value < 0 {
        out.push(b'-');
    }
    integer(out, value.unsigned_abs());
}

/// `fraction` × 10⁻ᵖˡᵃᶜᵉˢ after a decimal point, without trailing zeros; nothing if it is zero.
#[inline]
fn fraction<const PLACES: usize>(out: &mut Vec<u8>, fraction: u64) {
    if fraction == 0 {
        return;
    }
    let digits = padded::<PLACES>(fraction);
    let end = digits.iter().rposition(|digit| *digit != b'0').map_or(0, |last| last + 1);
    out.push(b'.');
    append(out, digits, end);
}

#[inline]
fn padded<const PLACES: usize>(mut value: u64) -> [u8; PLACES] {
    let mut digits = [b'0'; PLACES];
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
    }
    digits
}

/// A whole part, and a fraction with up to `PLACES` decimals.
#[inline]
fn amount<const PLACES: usize>(out: &mut Vec<u8>, (above, below): (u128, u64)) {
    whole(out, above);
    fraction::<PLACES>(out, below);
    out.push(b',');
}

/// A whole part, and a fraction with exactly six decimals, as Batsim writes them.
fn fixed(out: &mut Vec<u8>, (above, below): (u128, u64)) {
    whole(out, above);
    out.push(b'.');
    out.extend_from_slice(&padded::<6>(below));
    out.push(b',');
}

fn nanos(out: &mut Vec<u8>, nanos: u128) {
    // Divisions of 128 bits are slow, and amounts beyond 64 bits are rare.
    let parts = match u64::try_from(nanos) {
        Ok(nanos) => (u128::from(nanos / NANOS), nanos % NANOS),
        Err(_) => (nanos / u128::from(NANOS), (nanos % u128::from(NANOS)) as u64),
    };
    amount::<9>(out, parts);
}

/// Seconds with up to six decimals, exact to the microsecond.
#[inline]
pub(super) fn seconds(out: &mut Vec<u8>, micros: u64) {
    digits(out, micros / 1_000_000);
    fraction::<6>(out, micros % 1_000_000);
    out.push(b',');
}

/// Seconds, or an empty cell.
#[inline]
pub(super) fn maybe_seconds(out: &mut Vec<u8>, micros: Option<u64>) {
    match micros {
        Some(micros) => seconds(out, micros),
        None => out.push(b','),
    }
}

/// A word without commas and quotes; empty if there is nothing to say.
#[inline]
pub(super) fn word(out: &mut Vec<u8>, word: &str) {
    out.extend_from_slice(word.as_bytes());
    out.push(b',');
}

/// Processor time in processor-seconds, rounded to six decimals.
pub(super) fn proc_seconds(out: &mut Vec<u8>, time: ProcTime) {
    let micros = (time + (ProcTime::from(Rate::FULL.units()) >> 1)) >> Rate::BITS;
    amount::<6>(out, (micros / 1_000_000, (micros % 1_000_000) as u64));
}

/// Joules with up to nine decimals, exact to the nanojoule.
#[inline]
pub(super) fn joules(out: &mut Vec<u8>, energy: Energy) {
    // Most scenarios have neither power nor prices.
    if energy == Energy::ZERO {
        out.extend_from_slice(b"0,");
        return;
    }
    nanos(out, energy.nanojoules());
}

/// Units of currency with up to nine decimals, exactly.
#[inline]
pub(super) fn money(out: &mut Vec<u8>, money: Money) {
    if money == Money::ZERO {
        out.extend_from_slice(b"0,");
        return;
    }
    if money.nanos() < 0 {
        out.push(b'-');
    }
    nanos(out, money.nanos().unsigned_abs());
}

/// `value` × 2⁻ᵇⁱᵗˢ rounded to `PLACES` decimals, as a whole part and a fraction.
#[inline]
fn decimal<const PLACES: u32>(value: u128, bits: u32) -> (u128, u64) {
    let one = 10_u64.pow(PLACES);
    let below = (value & ((1 << bits) - 1)) as u64;
    // Both factors are below 2⁴⁰.
    let rounded = (u128::from(below) * u128::from(one) + (1 << (bits - 1))) >> bits;
    if rounded == u128::from(one) { ((value >> bits) + 1, 0) } else { (value >> bits, rounded as u64) }
}

fn whole(out: &mut Vec<u8>, value: u128) {
    match u64::try_from(value) {
        Ok(value) => digits(out, value),
        Err(_) => out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes()),
    }
}

/// A quotient with up to nine decimals.
pub(super) fn ratio(out: &mut Vec<u8>, ratio: Ratio) {
    amount::<9>(out, decimal::<9>(ratio.units(), Ratio::BITS));
}

/// A floating-point number, with as few digits as distinguish it from any other.
pub(super) fn float(out: &mut Vec<u8>, value: f64) {
    out.extend_from_slice(format!("{value},").as_bytes());
}

/// A rate with up to seven decimals, which distinguish any two rates.
#[inline]
pub(super) fn rate(out: &mut Vec<u8>, rate: Rate) {
    // The rate of a job that shares its processors with no other.
    if rate == Rate::FULL {
        out.extend_from_slice(b"1,");
        return;
    }
    amount::<7>(out, decimal::<7>(u128::from(rate.units()), Rate::BITS));
}

/// Microseconds as seconds with exactly six decimals, as Batsim writes them.
pub(super) fn six_decimals(out: &mut Vec<u8>, micros: u64) {
    fixed(out, (u128::from(micros / 1_000_000), micros % 1_000_000));
}

/// A quotient with exactly six decimals.
pub(super) fn ratio_six_decimals(out: &mut Vec<u8>, ratio: Ratio) {
    fixed(out, decimal::<6>(ratio.units(), Ratio::BITS));
}

/// Joules rounded to exactly six decimals.
pub(super) fn joules_six_decimals(out: &mut Vec<u8>, energy: Energy) {
    let micros = energy.nanojoules().saturating_add(500) / 1_000;
    fixed(out, (micros / 1_000_000, (micros % 1_000_000) as u64));
}

/// Processors as intervals, `0-3 7 9-12`, numbered from `first_processor`.
#[inline]
pub(super) fn processors(out: &mut Vec<u8>, set: &ProcSet, first_processor: u64) {
    for (at, (first, last)) in set.intervals().enumerate() {
        if at > 0 {
            out.push(b' ');
        }
        digits(out, first_processor + u64::from(first));
        if last > first {
            out.push(b'-');
            digits(out, first_processor + u64::from(last));
        }
    }
    out.push(b',');
}

/// A text that is written repeatedly, with its comma.
#[derive(Clone, Debug)]
pub(super) struct Label {
    /// The whole text, if it fits.
    short: [u8; Self::SHORT],
    len: usize,
    long: String,
}

impl Label {
    const SHORT: usize = 16;

    /// A label of any text.
    pub(super) fn new(written: &str) -> Self {
        let long = text(written) + ",";
        let mut short = [0; Self::SHORT];
        if let Some(room) = short.get_mut(..long.len()) {
            room.copy_from_slice(long.as_bytes());
        }
        Self { short, len: long.len(), long }
    }

    /// Appends the label.
    #[inline]
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        if self.len <= Self::SHORT {
            append(out, self.short, self.len);
        } else {
            out.extend_from_slice(self.long.as_bytes());
        }
    }
}

/// A text as a cell: quoted where necessary, always on one line, and never a formula.
pub(super) fn text(written: &str) -> String {
    let line: String = written.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = no_formula(&line).into_owned();
    if line.contains([',', '"']) { format!("\"{}\"", line.replace('"', "\"\"")) } else { line }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::units::Span;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        assert_eq!(out.pop(), Some(b','));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn whole_numbers_of_every_length() {
        let mut number = 0_u64;
        for digit in (0..20).map(|at| at % 10) {
            for value in [number, number.saturating_sub(1), number.saturating_add(1)] {
                assert_eq!(written(|out| integer(out, value)), value.to_string());
            }
            number = number.saturating_mul(10).saturating_add(digit);
        }
        for power in (0..20).map(|exponent| 10_u64.pow(exponent)) {
            assert_eq!(written(|out| integer(out, power)), power.to_string());
            assert_eq!(written(|out| integer(out, power - 1)), (power - 1).to_string());
        }
        assert_eq!(written(|out| integer(out, u64::MAX)), u64::MAX.to_string());
        assert_eq!(written(|out| signed(out, i32::MIN)), i32::MIN.to_string());
    }

    proptest! {
        #[test]
        fn whole_numbers_agree_with_the_standard_library(value in 0_u64..1 << 40, shift in 0_u32..40) {
            let value = value >> shift;
            prop_assert_eq!(written(|out| integer(out, value)), value.to_string());
            prop_assert_eq!(written(|out| seconds(out, value)), Span::from_micros(value).to_string());
        }

        #[test]
        fn processors_are_written_as_the_set_writes_itself(
            set in proptest::collection::btree_set(0_u32..300, 0..60),
        ) {
            let set: ProcSet = set.into_iter().collect();
            prop_assert_eq!(written(|out| processors(out, &set, 0)), set.to_string());
        }

        #[test]
        fn labels_of_any_length(label in "[a-z ]{0,40}") {
            prop_assert_eq!(written(|out| Label::new(&label).write(out)), label);
        }
    }

    #[test]
    fn amounts_keep_every_digit() {
        let joule = |nanojoules| written(|out| joules(out, Energy::from_nanojoules(nanojoules)));
        assert_eq!(joule(0), "0");
        assert_eq!(joule(1), "0.000000001");
        assert_eq!(joule(12_500_000_000), "12.5");
        assert_eq!(joule(u128::from(u64::MAX) + 2), "18446744073.709551617");
        let paid = |nanos| written(|out| money(out, Money::from_nanos(nanos)));
        assert_eq!(paid(-250_000_000), "-0.25");
        assert_eq!(paid(3_000_000_000), "3");
    }

    #[test]
    fn floating_point_numbers_read_back_as_they_were() {
        let values = [0.0, 1.0, 0.1, 1.0 / 3.0, 5e21, 1e-9, 123_456.789, f64::MIN_POSITIVE];
        for value in values {
            assert_eq!(written(|out| float(out, value)).parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
        assert_eq!(written(|out| float(out, 1e-9)), "0.000000001");
    }

    #[test]
    fn quotients_round_to_the_nearest() {
        assert_eq!(written(|out| ratio(out, Ratio::of(2, 3))), "0.666666667");
        assert_eq!(written(|out| ratio(out, Ratio::of(19, 2))), "9.5");
        assert_eq!(written(|out| ratio(out, Ratio::of(u64::MAX, u64::MAX - 1))), "1", "carries");
        assert_eq!(written(|out| ratio_six_decimals(out, Ratio::of(2, 3))), "0.666667");
        assert_eq!(written(|out| rate(out, Rate::FULL)), "1");
        assert_eq!(written(|out| rate(out, Rate::from_units(1))), "0.000001");
        assert_eq!(written(|out| rate(out, Rate::ratio(1, 3))), "0.333333");
        assert_eq!(written(|out| six_decimals(out, 1_500_000)), "1.500000");
        assert_eq!(
            written(|out| joules_six_decimals(out, Energy::from_nanojoules(1_234_567_890))),
            "1.234568"
        );
    }

    #[test]
    fn texts_stay_in_their_cell() {
        assert_eq!(text("delft"), "delft");
        assert_eq!(text("a, \"b\"\nc"), "\"a, \"\"b\"\" c\"");
        assert_eq!(text("=1,2"), "\"'=1,2\"");
    }
}
