//! Amounts of data in bytes, bandwidth in bits per second, and what a gigabyte takes and costs to move.

use std::fmt;
use std::str::FromStr;

use super::quantity::{quantity, read_with_units};
use super::text::{self, UnitError};

quantity! {
    /// An amount of data in bytes.
    Bytes(u64)
    /// No data.
    ZERO
    /// `count` bytes.
    new
    /// The number of bytes.
    count
}

impl Bytes {
    /// So many KiB: what logs of machines call a kilobyte.
    pub const fn from_kib(kib: u64) -> Self {
        Self(kib.saturating_mul(1024))
    }

    /// The number of KiB, rounded up.
    pub const fn kib(self) -> u64 {
        self.0.div_ceil(1024)
    }
}

quantity! {
    /// Bandwidth in bits per second.
    Bandwidth(u64)
    /// No bandwidth.
    ZERO
    /// `bits` per second.
    from_bits
    /// Bits per second.
    bits
}

quantity! {
    /// The energy of moving data, in nanojoules per gigabyte (10⁹ bytes).
    DataEnergy(u64)
    /// None.
    ZERO
    /// `nanojoules` per gigabyte.
    from_nanojoules
    /// Nanojoules per gigabyte.
    nanojoules
}

quantity! {
    /// The price of moving data, in 10⁻⁹ units of currency per gigabyte (10⁹ bytes).
    DataPrice(u64)
    /// Free of charge.
    ZERO
    /// `nanos` × 10⁻⁹ per gigabyte.
    from_nanos
    /// The price in 10⁻⁹ units per gigabyte.
    nanos
}

read_with_units! {
    /// Reads `"5 J/GB"` or `"0.06 kWh/GB"`.
    DataEnergy: "an energy of moved data such as `5 J/GB` or `0.06 kWh/GB`", &[
        ("J/GB", 1_000_000_000),
        ("kJ/GB", 1_000_000_000_000),
        ("Wh/GB", 3_600_000_000_000),
        ("kWh/GB", 3_600_000_000_000_000),
    ]
}

read_with_units! {
    /// Reads `"0.09/GB"` or `"90/TB"`.
    DataPrice: "a price of moved data such as `0.09/GB`", &[("/GB", 1_000_000_000), ("/TB", 1_000_000)]
}

read_with_units! {
    /// Reads `"10 GB"` (10¹⁰), `"3 MiB"` (3 × 2²⁰), or a bare number of bytes.
    Bytes: "an amount of data such as `10 GB` or `3 MiB`", &[
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
    ]
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

read_with_units! {
    /// Reads `"1 Gbit/s"`, `"100 Mbit/s"`, or a bare number of bits per second.
    Bandwidth: "a bandwidth such as `1 Gbit/s`", &[
        ("", 1),
        ("bit/s", 1),
        ("kbit/s", 1_000),
        ("Mbit/s", 1_000_000),
        ("Gbit/s", 1_000_000_000),
        ("Tbit/s", 1_000_000_000_000),
        ("MB/s", 8_000_000),
        ("GB/s", 8_000_000_000),
    ]
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
    fn what_a_gigabyte_takes_is_read() {
        assert_eq!("5 J/GB".parse(), Ok(DataEnergy::from_nanojoules(5_000_000_000)));
        assert_eq!("0.06 kWh/GB".parse(), "216 kJ/GB".parse::<DataEnergy>());
        assert_eq!("90/TB".parse(), "0.09 /GB".parse::<DataPrice>());
        assert!("5".parse::<DataEnergy>().is_err() && "0.09".parse::<DataPrice>().is_err(), "of what?");
    }

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
