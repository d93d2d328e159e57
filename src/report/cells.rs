//! Cells of a CSV row, appended to a block without allocation.

use crate::metrics::Ratio;
use crate::units::{Energy, Money, Rate};

const NANOS: u64 = 1_000_000_000;

/// A whole number.
#[inline]
pub(super) fn integer(out: &mut Vec<u8>, value: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// `fraction` × 10⁻ᵖˡᵃᶜᵉˢ behind a point, without trailing zeros; nothing if it is zero.
fn fraction<const PLACES: usize>(out: &mut Vec<u8>, fraction: u64) {
    if fraction == 0 {
        return;
    }
    let digits = padded::<PLACES>(fraction);
    let end = digits.iter().rposition(|digit| *digit != b'0').map_or(0, |last| last + 1);
    out.push(b'.');
    out.extend_from_slice(&digits[..end]);
}

fn padded<const PLACES: usize>(mut value: u64) -> [u8; PLACES] {
    let mut digits = [b'0'; PLACES];
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
    }
    digits
}

fn nanos(out: &mut Vec<u8>, nanos: u128) {
    // Dividing 128 bits is slow, and amounts beyond 64 are rare.
    match u64::try_from(nanos) {
        Ok(nanos) => {
            integer(out, nanos / NANOS);
            fraction::<9>(out, nanos % NANOS);
        }
        Err(_) => {
            integer(out, nanos / u128::from(NANOS));
            fraction::<9>(out, (nanos % u128::from(NANOS)) as u64);
        }
    }
}

/// Joules, with up to nine decimals: every nanojoule.
pub(super) fn joules(out: &mut Vec<u8>, energy: Energy) {
    nanos(out, energy.nanojoules());
}

/// Units of currency, with up to nine decimals: every digit there is.
pub(super) fn money(out: &mut Vec<u8>, money: Money) {
    if money.nanos() < 0 {
        out.push(b'-');
    }
    nanos(out, money.nanos().unsigned_abs());
}

/// `value` × 2⁻ᵇⁱᵗˢ rounded to `PLACES` decimals, as a whole part and a fraction.
fn decimal<const PLACES: u32>(value: u128, bits: u32) -> (u128, u64) {
    let one = 10_u64.pow(PLACES);
    let below = (value & ((1 << bits) - 1)) as u64;
    // Both factors are below 2⁴⁰.
    let rounded = (u128::from(below) * u128::from(one) + (1 << (bits - 1))) >> bits;
    if rounded == u128::from(one) { ((value >> bits) + 1, 0) } else { (value >> bits, rounded as u64) }
}

fn whole(out: &mut Vec<u8>, value: u128) {
    match u64::try_from(value) {
        Ok(value) => integer(out, value),
        Err(_) => integer(out, value),
    }
}

/// A quotient with up to nine decimals.
pub(super) fn ratio(out: &mut Vec<u8>, ratio: Ratio) {
    let (above, below) = decimal::<9>(ratio.units(), Ratio::BITS);
    whole(out, above);
    fraction::<9>(out, below);
}

/// A rate with up to seven decimals, which tell any two rates apart.
pub(super) fn rate(out: &mut Vec<u8>, rate: Rate) {
    let (above, below) = decimal::<7>(u128::from(rate.units()), Rate::BITS);
    whole(out, above);
    fraction::<7>(out, below);
}

/// Microseconds as seconds with exactly six decimals, as Batsim writes them.
pub(super) fn six_decimals(out: &mut Vec<u8>, micros: u64) {
    integer(out, micros / 1_000_000);
    out.push(b'.');
    out.extend_from_slice(&padded::<6>(micros % 1_000_000));
}

/// A quotient with exactly six decimals.
pub(super) fn ratio_six_decimals(out: &mut Vec<u8>, ratio: Ratio) {
    let (above, below) = decimal::<6>(ratio.units(), Ratio::BITS);
    whole(out, above);
    out.push(b'.');
    out.extend_from_slice(&padded::<6>(below));
}

/// Joules rounded to exactly six decimals.
pub(super) fn joules_six_decimals(out: &mut Vec<u8>, energy: Energy) {
    let micros = (energy.nanojoules() + 500) / 1_000;
    whole(out, micros / 1_000_000);
    out.push(b'.');
    out.extend_from_slice(&padded::<6>((micros % 1_000_000) as u64));
}

/// A text as a cell: quoted where it must be, on one line whatever it is.
pub(super) fn text(written: &str) -> String {
    let line: String = written.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if line.contains([',', '"']) { format!("\"{}\"", line.replace('"', "\"\"")) } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
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
    }
}
