//! Shares and slowdowns, in whole millionths.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::units::{Rate, UnitError, parse_units};

const ONE: u32 = 1_000_000;

/// A share of the time of processors that a job requests: above 0 and below 100 %, in millionths. Written `40%`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Share(u32);

/// How many times as long a job takes beside others as it takes alone on the same share, in millionths: below 1 if it gains by them. Written
/// `1.2`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Slowdown(u32);

impl Share {
    /// All of the time, in millionths.
    pub const WHOLE: u32 = ONE;

    /// One of so many equal shares. Rounded down; of one, as near to 100 % as there is.
    pub fn one_of(jobs: u32) -> Self {
        Self((ONE / jobs.max(1)).clamp(1, ONE - 1))
    }

    /// In millionths.
    pub const fn millionths(self) -> u32 {
        self.0
    }

    /// As a rate.
    pub fn rate(self) -> Rate {
        Rate::ratio(self.0.into(), ONE.into())
    }

    /// The effective share [Huang 2004, section 5.5]: what a job needs to progress at this share in spite of the slowdown, in millionths, rounded up.
    /// It may be more than there is.
    pub fn effective(self, slowdown: Slowdown) -> u64 {
        (u64::from(self.0) * u64::from(slowdown.0)).div_ceil(ONE.into())
    }
}

impl Slowdown {
    /// None: as fast as alone.
    pub const NONE: Self = Self(ONE);
    /// The least one.
    const LEAST: u32 = ONE / 100;
    /// The largest one.
    const MOST: u32 = 100 * ONE;

    /// In millionths.
    pub const fn millionths(self) -> u32 {
        self.0
    }

    /// What is left of the rate of a job: 1 / slowdown, rounded down.
    pub fn efficiency(self) -> Rate {
        Rate::ratio(ONE.into(), self.0.into())
    }

    /// More by so many times this much.
    pub(super) fn plus(self, times: usize, more: u32) -> Self {
        let more = u64::from(more) * times as u64;
        Self(u32::try_from(u64::from(self.0) + more).unwrap_or(u32::MAX))
    }
}

impl FromStr for Share {
    type Err = UnitError;

    /// Reads `40%`, with at most 4 places.
    fn from_str(written: &str) -> Result<Self, UnitError> {
        const EXPECTED: &str = "a share above 0 and below 100 %, such as `40%`";
        let share = parse_units(written, EXPECTED, &[("%", u64::from(ONE / 100))])?;
        match u32::try_from(share) {
            Ok(share) if share > 0 && share < ONE => Ok(Self(share)),
            _ => Err(UnitError::new(written, EXPECTED)),
        }
    }
}

impl FromStr for Slowdown {
    type Err = UnitError;

    /// Reads a decimal number, with at most 6 places.
    fn from_str(written: &str) -> Result<Self, UnitError> {
        const EXPECTED: &str = "a slowdown from 0.01 to 100, such as `1.2`";
        let slowdown = parse_units(written, EXPECTED, &[("", u64::from(ONE))])?;
        match u32::try_from(slowdown) {
            Ok(slowdown) if (Self::LEAST..=Self::MOST).contains(&slowdown) => Ok(Self(slowdown)),
            _ => Err(UnitError::new(written, EXPECTED)),
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal(f, self.0 / (ONE / 100), self.0 % (ONE / 100), 4)?;
        f.write_str("%")
    }
}

impl fmt::Display for Slowdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal(f, self.0 / ONE, self.0 % ONE, 6)
    }
}

/// Writes a number without zeros at its end.
fn decimal(f: &mut fmt::Formatter<'_>, whole: u32, part: u32, places: usize) -> fmt::Result {
    if part == 0 {
        return write!(f, "{whole}");
    }
    let part = format!("{part:0places$}");
    write!(f, "{whole}.{}", part.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_effective_share_of_the_thesis() {
        // Section 5.5: 40 % requested and a slowdown of 1.2 make 48 %.
        let (share, slowdown): (Share, Slowdown) = ("40%".parse().unwrap(), "1.2".parse().unwrap());
        assert_eq!(share.effective(slowdown), 480_000);
        // A share as assigned instead: 40 % that do as much as a third.
        assert_eq!(share.rate().times(slowdown.efficiency()).to_string(), "0.333332");
        // 40, 40 and 20 % at 1.3 would need 130 %.
        let needed: u64 = ["40%", "40%", "20%"]
            .map(|share| share.parse::<Share>().unwrap().effective("1.3".parse().unwrap()))
            .iter()
            .sum();
        assert_eq!(needed, 1_300_000);
    }

    #[test]
    fn they_are_read_exactly_or_refused() {
        for written in ["40%", "0.0001%", "99.9999%", "33.3333%"] {
            assert_eq!(written.parse::<Share>().unwrap().to_string(), written);
        }
        for written in ["0%", "100%", "101%", "40", "-1%", "%", "0.00001%", "1e2%"] {
            let said = written.parse::<Share>().unwrap_err().to_string();
            assert_eq!(said, format!("`{written}` is not a share above 0 and below 100 %, such as `40%`"));
        }
        for written in ["1", "1.2", "0.8", "100", "0.01", "1.000001"] {
            assert_eq!(written.parse::<Slowdown>().unwrap().to_string(), written);
        }
        for written in ["0", "0.009", "100.000001", "-1", "x", "", "1.2%", "1.0000001"] {
            assert!(written.parse::<Slowdown>().is_err(), "{written}");
        }
        assert_eq!(
            (Share::one_of(3).to_string(), Share::one_of(1).to_string()),
            ("33.3333%".to_owned(), "99.9999%".to_owned())
        );
    }
}
