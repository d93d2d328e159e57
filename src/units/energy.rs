//! Power in milliwatts, energy in nanojoules.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::str::FromStr;

use super::quantity::{additive, quantity, read_with_units};
use super::text::{self, UnitError};

quantity! {
    /// Electrical power in milliwatts.
    Power(u64)
    /// No power.
    ZERO
    /// `milliwatts` mW.
    from_milliwatts
    /// Milliwatts.
    milliwatts
}

quantity! {
    /// Electrical energy in nanojoules (a milliwatt over a microsecond). A difference saturates at zero.
    Energy(u128)
    /// No energy.
    ZERO
    /// `nanojoules` nJ.
    from_nanojoules
    /// Nanojoules.
    nanojoules
}
additive!(Energy: add, saturating_sub);
additive!(Power: saturating_add, saturating_sub);

read_with_units! {
    /// Reads `"95 W"`, `"1.2 kW"`, `"350 mW"`, as in scenarios.
    Power: "a power such as `95 W` or `1.2 kW`", &[("mW", 1), ("W", 1_000), ("kW", 1_000_000)]
}

impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} W", self.0 as f64 / 1e3)
    }
}

impl Energy {
    /// Kilowatt-hours, for display only.
    pub fn as_kwh_f64(self) -> f64 {
        self.0 as f64 / 3.6e15
    }
}
