//! Instants and durations of virtual time, in whole microseconds.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};
use std::str::FromStr;

use super::quantity::{additive, quantity, read_with_units};
use super::text::{self, UnitError};

const MICROS: u64 = 1_000_000;

quantity! {
    /// An instant of virtual time: microseconds since the run's origin (for a log: since the log's start).
    ///
    /// [`Time::NEVER`] is the far end of the axis: adding to an instant saturates there, and no event ever has this time.
    Time(u64)
    /// The origin of the axis.
    ZERO
    /// The instant `micros` microseconds after the origin.
    from_micros
    /// Microseconds since the origin.
    micros
}

quantity! {
    /// A length of virtual time in microseconds. Sums saturate at [`Span::MAX`], differences at zero.
    Span(u64)
    /// No time.
    ZERO
    /// `micros` microseconds.
    from_micros
    /// The length in microseconds.
    micros
}
additive!(Span: saturating_add, saturating_sub);

impl Time {
    /// Later than every event.
    pub const NEVER: Self = Self(u64::MAX);

    /// The instant `secs` whole seconds after the origin, saturating at [`Time::NEVER`].
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(MICROS))
    }

    /// Seconds since the origin, for display and statistics only.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / MICROS as f64
    }

    /// The time from `earlier` to `self`; zero if `earlier` is not earlier.
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// `self + span`, or `None` if that would reach [`Time::NEVER`].
    pub fn checked_add(self, span: Span) -> Option<Self> {
        self.0.checked_add(span.0).map(Self).filter(|t| *t < Self::NEVER)
    }
}

impl Span {
    /// Longer than every other span.
    pub const MAX: Self = Self(u64::MAX);
    /// The shortest span: one microsecond.
    pub const TICK: Self = Self(1);
    /// One second.
    pub const SECOND: Self = Self(MICROS);

    /// `secs` whole seconds, saturating at [`Span::MAX`].
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(MICROS))
    }

    /// `secs` seconds rounded to the nearest microsecond; `None` if negative, not a number, or too long.
    pub fn from_secs_f64(secs: f64) -> Option<Self> {
        let micros = libm::round(secs * MICROS as f64);
        (micros >= 0.0 && micros < u64::MAX as f64).then_some(Self(micros as u64))
    }

    /// The length in seconds, for display and statistics only.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / MICROS as f64
    }

    /// Whether the span has no length.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// `self × num / den`, rounded up, saturating.
    pub fn scale_up(self, num: u64, den: u64) -> Self {
        if let Some(product) = self.0.checked_mul(num) {
            return Self(product.div_ceil(den.max(1)));
        }
        let scaled = (u128::from(self.0) * u128::from(num)).div_ceil(u128::from(den.max(1)));
        Self(u64::try_from(scaled).unwrap_or(u64::MAX))
    }
}

impl Add<Span> for Time {
    type Output = Self;
    /// Saturates at [`Time::NEVER`].
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Mul<u64> for Span {
    type Output = Self;
    /// Saturates at [`Span::MAX`].
    fn mul(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }
}

/// Appends `micros` microseconds as seconds: `12`, `12.5`, `0.000001` (no exponent, no trailing zeros).
pub fn write_seconds(out: &mut Vec<u8>, micros: u64) {
    let mut digits = itoa::Buffer::new();
    out.extend_from_slice(digits.format(micros / MICROS).as_bytes());
    let mut fraction = (micros % MICROS) as u32;
    if fraction != 0 {
        let mut tail = [b'0'; 7];
        tail[0] = b'.';
        for place in (1..7).rev() {
            tail[place] = b'0' + (fraction % 10) as u8;
            fraction /= 10;
        }
        let end = tail.iter().rposition(|digit| *digit != b'0').map_or(1, |last| last + 1);
        out.extend_from_slice(&tail[..end]);
    }
}

fn show(f: &mut fmt::Formatter<'_>, micros: u64) -> fmt::Result {
    let mut text = Vec::with_capacity(24);
    write_seconds(&mut text, micros);
    f.pad(&String::from_utf8_lossy(&text))
}

impl fmt::Display for Time {
    /// Writes seconds since the origin, without a unit.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NEVER { f.pad("never") } else { show(f, self.0) }
    }
}

impl fmt::Display for Span {
    /// Writes seconds, without a unit.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, self.0)
    }
}

/// An instant as people read it: in seconds, and from an hour on in days, hours, minutes and seconds, such as `2 d 12:04:20.197`.
/// Digits below a millisecond are cut off.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Clock(pub Time);

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == Time::NEVER {
            return f.pad("never");
        }
        let millis = self.0.micros() / 1_000;
        let (secs, millis) = (millis / 1_000, millis % 1_000);
        let fraction = if millis == 0 { String::new() } else { format!(".{millis:03}") };
        let fraction = fraction.trim_end_matches('0');
        if secs < 3_600 {
            return f.pad(&format!("{secs}{fraction} s"));
        }
        let (days, hours, mins, secs) = (secs / 86_400, secs / 3_600 % 24, secs / 60 % 60, secs % 60);
        let days = if days == 0 { String::new() } else { format!("{days} d ") };
        f.pad(&format!("{days}{hours:02}:{mins:02}:{secs:02}{fraction}"))
    }
}

impl FromStr for Clock {
    type Err = UnitError;

    /// Reads its own written form, and all forms of a [`Span`].
    fn from_str(written: &str) -> Result<Self, UnitError> {
        let fail = || UnitError::new(written, "a time such as `7200`, `2 h` or `2 d 12:04:20`");
        let Some((before, rest)) = written.trim().split_once(':') else {
            return written.parse().map(|span: Span| Self(Time::from_micros(span.0))).map_err(|_| fail());
        };
        let (days, hours) = before.split_once('d').unwrap_or(("0", before));
        let (mins, secs) = rest.split_once(':').unwrap_or((rest, "0"));
        let whole = |text: &str| text.trim().parse::<u64>().map_err(|_| fail());
        let (days, hours, mins) = (whole(days)?, whole(hours)?, whole(mins)?);
        let secs: Span = secs.parse().map_err(|_| fail())?;
        if mins > 59 || secs >= Span::from_secs(60) {
            return Err(fail());
        }
        let whole = days.checked_mul(24).and_then(|days| days.checked_add(hours));
        let whole =
            whole.and_then(|hours| hours.checked_mul(3_600)?.checked_add(mins * 60)?.checked_mul(MICROS));
        let micros = whole.and_then(|whole| whole.checked_add(secs.0)).filter(|micros| *micros < u64::MAX);
        micros.map(|micros| Self(Time::from_micros(micros))).ok_or_else(fail)
    }
}

read_with_units! {
    /// Reads `"90 s"`, `"10 min"`, `"1.5 h"`, `"20 ms"`, `"2 d"`, or a bare number of seconds.
    Span: "a duration such as `90 s`, `10 min`, `1.5 h` or `2 d`", &[
        ("us", 1),
        ("ms", 1_000),
        ("s", MICROS),
        ("", MICROS),
        ("sec", MICROS),
        ("min", 60 * MICROS),
        ("h", 3_600 * MICROS),
        ("hour", 3_600 * MICROS),
        ("hours", 3_600 * MICROS),
        ("d", 86_400 * MICROS),
        ("day", 86_400 * MICROS),
        ("days", 86_400 * MICROS),
        ("week", 604_800 * MICROS),
        ("weeks", 604_800 * MICROS),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_written_without_loss() {
        for (micros, expected) in [(0, "0"), (1, "0.000001"), (1_500_000, "1.5"), (12_000_000, "12")] {
            assert_eq!(Span::from_micros(micros).to_string(), expected);
        }
    }

    #[test]
    fn spans_are_read_exactly_or_refused() {
        assert_eq!("1.5 h".parse(), Ok(Span::from_secs(5_400)));
        assert_eq!("20ms".parse(), Ok(Span::from_micros(20_000)));
        assert_eq!("42".parse(), Ok(Span::from_secs(42)));
        assert_eq!("200d".parse(), Ok(Span::from_secs(17_280_000)));
        assert!("0.0000001 s".parse::<Span>().is_err(), "finer than a microsecond");
        assert!("-1 s".parse::<Span>().is_err());
        assert!("10 parsecs".parse::<Span>().is_err());
        assert!("99999999999999999999 s".parse::<Span>().is_err());
    }

    #[test]
    fn a_clock_is_read_as_it_is_written() {
        let cases = [
            (0, "0 s"),
            (150_500_000, "150.5 s"),
            (3_600_000_000, "01:00:00"),
            (216_260_197_000, "2 d 12:04:20.197"),
        ];
        for (micros, written) in cases {
            let clock = Clock(Time::from_micros(micros));
            assert_eq!(clock.to_string(), written);
            assert_eq!(written.parse(), Ok(clock));
        }
        assert_eq!(Clock(Time::from_micros(216_260_197_212)).to_string(), "2 d 12:04:20.197");
        assert_eq!("7200".parse(), Ok(Clock(Time::from_secs(7_200))));
        assert_eq!("1 d 2:30".parse(), Ok(Clock(Time::from_secs(95_400))));
        for wrong in ["-5", "", "1:60:00", "1:00:60", "99999999999999999 d 0:00", "a d 1:00", "1:-3"] {
            assert!(wrong.parse::<Clock>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn time_saturates_at_never() {
        assert_eq!(Time::from_secs(1) + Span::MAX, Time::NEVER);
        assert_eq!(Time::from_secs(1).checked_add(Span::MAX), None);
        assert_eq!(Time::from_secs(3).since(Time::from_secs(5)), Span::ZERO);
    }
}
