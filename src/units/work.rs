//! Rates and work in fixed point, so that settling the progress of a job is exact and additive.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};

use super::Span;
use super::quantity::{additive, quantity};

quantity! {
    /// The progress rate of a job, in units of 2⁻²⁰ of the reference rate: [`Rate::FULL`] is one second of the
    /// job's run time per second.
    Rate(u64)
    /// No progress.
    ZERO
    /// A rate of `units` × 2⁻²⁰.
    from_units
    /// The rate in units of 2⁻²⁰.
    units
}

quantity! {
    /// An amount of work: rate times microseconds. A job with a run time of `r` at the reference rate is
    /// `r × 2²⁰` units of work. A difference saturates at zero: the last microsecond of a run, rounded up, may do a
    /// little more than was left.
    Work(u128)
    /// No work.
    ZERO
    /// `units` × 2⁻²⁰ µs.
    from_units
    /// The work in units of 2⁻²⁰ µs.
    units
}
additive!(Work: add, saturating_sub);

impl Rate {
    /// The reference rate: one second of run time per second.
    pub const FULL: Self = Self(1 << Self::BITS);
    /// The binary places of the fixed point.
    pub const BITS: u32 = 20;

    /// `num / den` of the reference rate, rounded down; zero if `den` is zero.
    pub fn ratio(num: u64, den: u64) -> Self {
        if den == 0 {
            return Self::ZERO;
        }
        let units = (u128::from(num) << Self::BITS) / u128::from(den);
        Self(u64::try_from(units).unwrap_or(u64::MAX))
    }

    /// The nearest rate to `value` (1.0 is the reference rate); `None` if it is negative, not a number or
    /// beyond 2³².
    pub fn from_f64(value: f64) -> Option<Self> {
        let units = libm::round(value * Self::FULL.0 as f64);
        (units >= 0.0 && units < (1_u64 << 52) as f64).then_some(Self(units as u64))
    }

    /// The rate as a floating-point number, for display only.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / Self::FULL.0 as f64
    }

    /// The product of two rates, rounded down: a share of a speed.
    pub fn times(self, other: Self) -> Self {
        if self == Self::FULL {
            return other;
        }
        if other == Self::FULL {
            return self;
        }
        let units = (u128::from(self.0) * u128::from(other.0)) >> Self::BITS;
        Self(u64::try_from(units).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Rate {
    /// Writes a decimal number with at most six places.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_multiple_of(Self::FULL.0) {
            write!(f, "{}", self.0 / Self::FULL.0)
        } else {
            let text = format!("{:.6}", self.as_f64());
            f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
        }
    }
}

impl Work {
    /// The work done in `span` at `rate`.
    pub const fn done(rate: Rate, span: Span) -> Self {
        Self(rate.0 as u128 * span.micros() as u128)
    }

    /// The work of a run of `span` at the reference rate.
    pub const fn of_runtime(span: Span) -> Self {
        Self::done(Rate::FULL, span)
    }

    /// The time this work takes at `rate`, rounded up to a microsecond; `None` if it never ends (rate zero
    /// with work left) or takes longer than the time axis.
    pub fn span_at(self, rate: Rate) -> Option<Span> {
        if self.0 == 0 {
            return Some(Span::ZERO);
        }
        if rate == Rate::FULL {
            let micros = (self.0 + u128::from(Rate::FULL.0 - 1)) >> Rate::BITS;
            return u64::try_from(micros).ok().map(Span::from_micros);
        }
        if rate.0 == 0 {
            return None;
        }
        // Divisions of 64 bits are several times as fast.
        if let Ok(work) = u64::try_from(self.0) {
            return Some(Span::from_micros(work.div_ceil(rate.0)));
        }
        u64::try_from(self.0.div_ceil(u128::from(rate.0))).ok().map(Span::from_micros)
    }

    /// Whether no work is left.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_end_rounds() {
        let third = Rate::ratio(1, 3);
        let work = Work::of_runtime(Span::from_secs(1));
        let end = work.span_at(third).unwrap();
        // 2^20 / floor(2^20 / 3) is a little above 3, so the end is a little after three seconds.
        assert_eq!(end, Span::from_micros(3_000_003));
        let halves = Work::done(third, Span::from_micros(1)) + Work::done(third, Span::from_micros(2));
        assert_eq!(halves, Work::done(third, Span::from_micros(3)));
        assert_eq!(work.span_at(Rate::ZERO), None);
        assert_eq!(Work::ZERO.span_at(Rate::ZERO), Some(Span::ZERO));
    }
}
