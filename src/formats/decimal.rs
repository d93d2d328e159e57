//! Decimal numbers as they are written, in integers.

/// A number that is too large for any unit.
const TOO_LARGE: i128 = 1_000_000_000_000_000_000_000_000_000_000;

/// The number in `text` × 10^`shift` to the nearest integer (halves away from zero), and whether it is that exactly.
///
/// It is read digit by digit, so that nothing depends on how a machine rounds. Numbers of 10³⁰ or more are all the same.
pub(in crate::formats) fn read(text: &str, shift: i32) -> Option<(i128, bool)> {
    let (negative, number) = match text.strip_prefix('-') {
        Some(number) => (true, number),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match number.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (number, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() && fraction.is_empty() || !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    // The number of digits before the point, once the number is shifted.
    let point = i64::try_from(whole.len()).ok()? + i64::from(exponent) + i64::from(shift);
    let mut digits = whole.bytes().chain(fraction.bytes()).map(|byte| i128::from(byte - b'0'));
    let (mut value, mut place) = (0_i128, 0_i64);
    while place < point {
        let Some(digit) = digits.next() else { break };
        value = (value * 10 + digit).min(TOO_LARGE);
        place += 1;
    }
    while place < point && value > 0 && value < TOO_LARGE {
        value *= 10;
        place += 1;
    }
    let exact = digits.clone().all(|digit| digit == 0);
    // Of a number below 10⁻¹ of the unit even the first digit rounds down.
    if point >= 0 && digits.next().is_some_and(|digit| digit >= 5) {
        value += 1;
    }
    Some((if negative { -value } else { value }, exact))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_are_exact_to_the_unit() {
        for (text, shift, value, exact) in [
            ("0.25", 9, 250_000_000, true),
            (".0820199966430664", 9, 82_019_997, false),
            ("-.00107", 9, -1_070_000, true),
            ("9.99999977648e-06", 9, 10_000, false),
            ("-9.99999977648e-06", 9, -10_000, false),
            ("1e-30", 9, 0, false),
            ("5e-10", 9, 1, false),
            ("4.9e-10", 9, 0, false),
            ("9e-11", 9, 0, false),
            ("-5e-10", 9, -1, false),
            ("321.37", 6, 321_370_000, true),
            ("60", 6, 60_000_000, true),
            ("+1.50E2", 0, 150, true),
            ("0e999999", 9, 0, true),
            ("7.", 0, 7, true),
            ("1e400", 9, TOO_LARGE, true),
        ] {
            assert_eq!(read(text, shift), Some((value, exact)), "{text}");
        }
        for wrong in ["", "-", ".", "1,5", "0x10", "1e", "1e1.5", "nan", "inf", "1 2", "--1", "1e99999999999"]
        {
            assert_eq!(read(wrong, 9), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(value in -1_000_000_000_000_i128..1_000_000_000_000, shift in 0_usize..12) {
            let digits = format!("{:0width$}", value.abs(), width = shift + 1);
            let (whole, fraction) = digits.split_at(digits.len() - shift);
            let sign = if value < 0 { "-" } else { "" };
            prop_assert_eq!(read(&format!("{sign}{whole}.{fraction}"), shift as i32), Some((value, true)));
            prop_assert_eq!(read(&format!("{sign}{digits}e-{shift}"), shift as i32), Some((value, true)));
        }
    }
}
