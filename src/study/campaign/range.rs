//! Ranges of exact decimals: from 0.5 to 0.9 in steps of 0.1 are five values, independent of floating-point rounding.

use std::fmt;
use std::str::FromStr;

use crate::scenario::kind::forms::form;
use crate::scenario::kind::key::keys;

/// The largest number of digits of a number in a range.
const MOST_DIGITS: usize = 17;
/// The largest number of values of a range.
const MOST_VALUES: i128 = 10_000;

/// A number as it is written: `digits` × 10^−`places`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    digits: i128,
    places: u32,
}

form!(Decimal, "number", "a number such as `0.5`", "0.5", str::parse, Self::to_string);

keys! {
    /// `{ from = 0.5, to = 0.9, step = 0.1 }`, both ends included.
    Range, "`{ from = 0.5, to = 0.9, step = 0.1 }`" {
        /// The first value.
        from: Decimal;
        /// The last value.
        to: Decimal;
        /// Difference of consecutive values.
        step: Decimal;
    }
}

impl Decimal {
    /// The digits of the number with this number of decimal places, at least its own.
    fn at(self, places: u32) -> i128 {
        self.digits * 10_i128.pow(places - self.places)
    }
}

impl FromStr for Decimal {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        let fail = || format!("`{written}` is not a number such as `0.5`");
        let (sign, plain) = match written.strip_prefix('-') {
            Some(plain) => (-1, plain),
            None => (1, written),
        };
        let (whole, fraction) = plain.split_once('.').unwrap_or((plain, ""));
        let digits = format!("{whole}{fraction}");
        if whole.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(fail());
        }
        if digits.len() > MOST_DIGITS {
            return Err(format!("`{written}` has more than {MOST_DIGITS} digits"));
        }
        let digits: i128 = digits.parse().map_err(|_| fail())?;
        Ok(Self { digits: sign * digits, places: fraction.len() as u32 })
    }
}

impl fmt::Display for Decimal {
    /// Writes the number without trailing zeros: `1`, `0.25`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = 10_i128.pow(self.places);
        let (whole, fraction) = (self.digits.abs() / scale, self.digits.abs() % scale);
        let sign = if self.digits < 0 { "-" } else { "" };
        let fraction = format!("{fraction:0width$}", width = self.places as usize);
        match fraction.trim_end_matches('0') {
            "" => write!(f, "{sign}{whole}"),
            fraction => write!(f, "{sign}{whole}.{fraction}"),
        }
    }
}

impl Range {
    /// The values, as they are written.
    ///
    /// # Errors
    /// If a whole number of steps does not lead from one end to the other.
    pub(super) fn values(&self) -> Result<Vec<String>, String> {
        let Self { from, to, step } = self;
        let places = from.places.max(to.places).max(step.places);
        let (first, last, by) = (from.at(places), to.at(places), step.at(places));
        if by == 0 {
            return Err("the step must not be 0".to_owned());
        }
        let way = last - first;
        if way != 0 && (way < 0) != (by < 0) {
            return Err(format!("steps of {step} from {from} do not lead to {to}"));
        }
        let shown = |digits| Decimal { digits, places }.to_string();
        if way % by != 0 {
            let before = shown(first + way / by * by);
            return Err(format!(
                "steps of {step} from {from} do not reach {to}; the last value before it is {before}"
            ));
        }
        let steps = way / by;
        if steps >= MOST_VALUES {
            return Err(format!("these are {} values; an axis has at most {MOST_VALUES}", steps + 1));
        }
        Ok((0..=steps).map(|at| shown(first + at * by)).collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(from: &str, to: &str, step: &str) -> Result<Vec<String>, String> {
        let read = |text: &str| text.parse().unwrap();
        Range { from: read(from), to: read(to), step: read(step) }.values()
    }

    #[test]
    fn ranges_are_exact() {
        assert_eq!(values("0.5", "0.9", "0.1").unwrap(), ["0.5", "0.6", "0.7", "0.8", "0.9"]);
        assert_eq!(values("0.50", "1.00", "0.25").unwrap(), ["0.5", "0.75", "1"]);
        assert_eq!(values("1", "3", "1").unwrap(), ["1", "2", "3"]);
        assert_eq!(values("0.2", "-0.2", "-0.2").unwrap(), ["0.2", "0", "-0.2"]);
        assert_eq!(values("7", "7", "5").unwrap(), ["7"]);
    }

    #[test]
    fn what_leads_nowhere_is_refused() {
        assert_eq!(
            values("0.5", "0.9", "0.3").unwrap_err(),
            "steps of 0.3 from 0.5 do not reach 0.9; the last value before it is 0.8"
        );
        assert_eq!(values("0.5", "0.9", "-0.1").unwrap_err(), "steps of -0.1 from 0.5 do not lead to 0.9");
        assert_eq!(values("1", "2", "0").unwrap_err(), "the step must not be 0");
        assert!(values("0", "1", "0.00001").unwrap_err().starts_with("these are 100001 values"));
        assert!("1e3".parse::<Decimal>().is_err());
        assert!("1234567890.123456789".parse::<Decimal>().is_err());
    }

    proptest! {
        /// Each value is the previous one plus a step, in whole thousandths.
        #[test]
        fn steps_add_up(from in -5_000_i128..5_000, step in 1_i128..500, steps in 0_i128..40) {
            let decimal = |digits| Decimal { digits, places: 3 };
            let range = Range { from: decimal(from), to: decimal(from + step * steps), step: decimal(step) };
            let read = |text: &String| text.parse::<Decimal>().unwrap().at(3);
            let values: Vec<i128> = range.values().unwrap().iter().map(read).collect();
            let slow: Vec<i128> = (0..=steps).map(|at| from + at * step).collect();
            prop_assert_eq!(values, slow);
        }
    }
}
