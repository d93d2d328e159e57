//! What quantities have in common.

/// Declares a quantity: a newtype over an integer, its zero, how it is made and how it is read.
macro_rules! quantity {
    (
        $(#[$about:meta])* $name:ident($inner:ty)
        $(#[$zero:meta])* ZERO
        $(#[$made:meta])* $make:ident
        $(#[$read:meta])* $get:ident
    ) => {
        $(#[$about])*
        #[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name($inner);

        impl $name {
            $(#[$zero])*
            pub const ZERO: Self = Self(0);

            $(#[$made])*
            pub const fn $make($get: $inner) -> Self {
                Self($get)
            }

            $(#[$read])*
            pub const fn $get(self) -> $inner {
                self.0
            }
        }
    };
}

/// Implements sums and differences of a quantity by these two methods of its integer.
macro_rules! additive {
    ($name:ident: $add:ident, $sub:ident) => {
        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0.$add(other.0))
            }
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }

        impl Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0.$sub(other.0))
            }
        }

        impl SubAssign for $name {
            fn sub_assign(&mut self, other: Self) {
                *self = *self - other;
            }
        }

        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
                iter.fold(Self::ZERO, Add::add)
            }
        }
    };
}

/// Implements exact reading of a quantity: what is expected, and the value of each unit in the base unit.
macro_rules! read_with_units {
    ($(#[$doc:meta])* $name:ident: $expected:literal, $units:expr) => {
        impl FromStr for $name {
            type Err = UnitError;

            $(#[$doc])*
            fn from_str(written: &str) -> Result<Self, UnitError> {
                text::parse(written, $expected, $units).map(Self)
            }
        }
    };
}

pub(super) use {additive, quantity, read_with_units};
