//! Amounts of data in bytes, and bandwidth in bits per second.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::text::{self, UnitError};

/// An amount of data in bytes.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(u64);

/// Bandwidth in bits per second.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bandwidth(u64);

impl Bytes {
    /// No data.
    pub const ZERO: Self = Self(0);

    /// `count` bytes.
    pub const fn new(count: u64) -> Self {
        Self(count)
    }

    /// The number of bytes.
    pub const fn count(self) -> u64 {
        self.0
    }
}

impl Bandwidth {
    /// `bits` per second.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Bits per second.
    pub const fn bits(self) -> u64 {
        self.0
    }
}

impl FromStr for Bytes {
    type Err = UnitError;

    /// Reads `"10 GB"` (10¹⁰), `"3 MiB"` (3 × 2²⁰), or a bare number of bytes.
    fn from_str(written: &str) -> Result<Self, UnitError> {
        const UNITS: &[(&str, u64)] = &[
            ("", 1),
            ("B", 1),
            ("kB", 1_000),
            ("KB", 1_000),
            ("MB", 1_000_000),
            ("GB", 1_000_000_000),
            ("TB", 1_000_000_000_000),
            ("KiB", 1 << 10),
            ("MiB", 1 << 20),
            ("GiB", 1 << 30),
            ("TiB", 1 << 40),
        ];
        text::parse(written, "an amount of data such as `10 GB` or `3 MiB`", UNITS).map(Self)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal(
            f,
            self.0,
            &[("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000), ("B", 1)],
        )
    }
}

impl FromStr for Bandwidth {
    type Err = UnitError;

    /// Reads `"1 Gbit/s"`, `"100 Mbit/s"`, or a bare number of bits per second.
    fn from_str(written: &str) -> Result<Self, UnitError> {
        const UNITS: &[(&str, u64)] = &[
            ("", 1),
            ("bit/s", 1),
            ("kbit/s", 1_000),
            ("Mbit/s", 1_000_000),
            ("Gbit/s", 1_000_000_000),
            ("Tbit/s", 1_000_000_000_000),
            ("MB/s", 8_000_000),
            ("GB/s", 8_000_000_000),
        ];
        text::parse(written, "a bandwidth such as `1 Gbit/s`", UNITS).map(Self)
    }
}

impl fmt::Display for Bandwidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: &[(&str, u64)] = &[
            ("Tbit/s", 1_000_000_000_000),
            ("Gbit/s", 1_000_000_000),
            ("Mbit/s", 1_000_000),
            ("kbit/s", 1_000),
            ("bit/s", 1),
        ];
        decimal(f, self.0, UNITS)
    }
}

/// Writes the value in the largest unit that leaves a whole number, so that it reads back exactly.
fn decimal(f: &mut fmt::Formatter<'_>, value: u64, units: &[(&str, u64)]) -> fmt::Result {
    let whole = |(_, factor): &&(&str, u64)| value.is_multiple_of(*factor) && value >= *factor;
    let (unit, factor) = units.iter().find(whole).or(units.last()).copied().unwrap_or(("", 1));
    f.pad(&format!("{} {unit}", value / factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_data_is_read_back() {
        for written in ["10 GB", "1500 MB", "7 B", "0 B"] {
            assert_eq!(written.parse::<Bytes>().unwrap().to_string(), written);
        }
        assert_eq!("3 MiB".parse(), Ok(Bytes::new(3 << 20)));
        for written in ["1 Gbit/s", "2500 Mbit/s", "64 kbit/s"] {
            assert_eq!(written.parse::<Bandwidth>().unwrap().to_string(), written);
        }
        assert!("-1 Gbit/s".parse::<Bandwidth>().is_err());
    }
}
