//! Decimal factors, and comparing their products with expansion factors exactly.

use std::str::FromStr;

use crate::local::{Line, Quotient, XFactor};
use crate::units::{Span, Time};

/// A decimal number of at most 6 places, below 10⁶.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Factor {
    /// Millionths.
    millionths: u64,
}

/// A decimal number that is not of this form.
#[derive(Debug)]
pub struct NotAFactor;

impl Factor {
    /// Millionths in 1.
    pub(in crate::local::policies) const ONE: u64 = 1_000_000;

    /// A whole number.
    pub const fn whole(number: u32) -> Self {
        Self { millionths: number as u64 * Self::ONE }
    }

    /// A number of millionths, below 10¹².
    pub const fn millionths(millionths: u64) -> Self {
        Self { millionths }
    }

    /// The number in millionths.
    pub const fn as_millionths(self) -> u64 {
        self.millionths
    }
}

impl FromStr for Factor {
    type Err = NotAFactor;

    fn from_str(written: &str) -> Result<Self, NotAFactor> {
        let written = written.trim();
        let (whole, places) = written.split_once('.').unwrap_or((written, "0"));
        let digits = |text: &str, most| {
            (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
        };
        if !digits(whole, 6) || !digits(places, 6) {
            return Err(NotAFactor);
        }
        let number = |text: &str| text.parse::<u64>().map_err(|_| NotAFactor);
        Ok(Self { millionths: number(whole)? * Self::ONE + number(&format!("{places:0<6}"))? })
    }
}

/// The ratio of two expansion factors that it takes to preempt.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Margin {
    /// The suspension factor.
    pub factor: Factor,
    /// Whether the idle job's factor must be above so many times the running job's, or at least that.
    pub strict: bool,
}

impl Margin {
    /// Whether a job with the first expansion factor may preempt one with the second. Both are given less 1.
    #[inline]
    pub(in crate::local::policies) fn allows(self, idle: Quotient, running: Quotient) -> bool {
        let of = |less_one: Quotient| {
            XFactor::new(Span::from_micros(less_one.num), Span::from_micros(less_one.den))
        };
        let (mine, theirs, factor) = (of(idle), of(running), self.factor.millionths);
        if self.strict { mine.exceeds(factor, theirs) } else { mine.reaches(factor, theirs) }
    }

    /// An instant before which a job that waits may not preempt one with this expansion factor (given less 1): the first at which it may, unless the
    /// numbers are so large that it is only a bound.
    pub(in crate::local::policies) fn reached(self, line: Line, running: Quotient) -> Time {
        // The wait w with (w + e) / e = factor · (v + d) / d: factor · (v + d) · e / d − e.
        let span = u128::from(line.span().micros());
        let (num, den) = (xfactor_num(running), u128::from(running.den));
        let factor = u128::from(self.factor.millionths);
        let exact = num.checked_mul(span).and_then(|product| product.checked_mul(factor));
        let wait = match exact {
            Some(product) => {
                let den = den * u128::from(Factor::ONE);
                if self.strict { product / den + 1 } else { product.div_ceil(den) }
            }
            None => (num.saturating_mul(span) / den).saturating_mul(factor / u128::from(Factor::ONE)),
        };
        let wait = u64::try_from(wait.saturating_sub(span)).ok().map(Span::from_micros);
        wait.and_then(|wait| line.since().checked_add(wait)).unwrap_or(Time::NEVER)
    }
}

/// The dividend of an expansion factor that is given less 1.
#[inline]
fn xfactor_num(less_one: Quotient) -> u128 {
    u128::from(less_one.num) + u128::from(less_one.den)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::search::tests::cases;

    #[test]
    fn factors_are_read_exactly_or_refused() {
        let read = |text: &str| text.parse::<Factor>().ok().map(Factor::as_millionths);
        assert_eq!(read("2"), Some(2_000_000));
        assert_eq!(read("1.5"), Some(1_500_000));
        assert_eq!(read(" 1.414214 "), Some(1_414_214));
        assert_eq!(read("999999.999999"), Some(999_999_999_999));
        for wrong in ["", ".5", "1.", "-1", "1e3", "1.4142136", "1000000", "2,5"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #![proptest_config(cases(512))]

        /// The instant at which a job may preempt is the first one.
        #[test]
        fn it_is_reached_when_it_allows(
            (since, span, waited) in (0_u64..1_000, 0_u64..200, 0_u64..500),
            den in 1_u64..300,
            factor in 1_000_000_u64..3_000_000,
            strict: bool,
        ) {
            let margin = Margin { factor: Factor::millionths(factor), strict };
            let line = Line::new(Time::from_micros(since), Span::from_micros(span));
            let running = Quotient { num: waited, den };
            let reached = margin.reached(line, running);
            prop_assert!(margin.allows(line.at(reached), running));
            if reached > line.since() {
                let before = Time::from_micros(reached.micros() - 1);
                prop_assert!(!margin.allows(line.at(before), running));
            }
        }
    }
}
