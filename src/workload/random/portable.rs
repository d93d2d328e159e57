//! The number type that draws are computed with.
//!
//! `rand_distr` is generic over its number type. Over `f64` it computes through `num-traits`, which calls the
//! system's functions instead of libm's as soon as *any* crate of the build turns `num-traits/std` on (hdrhistogram,
//! plotters and proptest do). Over [`Portable`] it can call only the functions of this file.
//!
//! ```
//! use gridemu::workload::random::{Portable, Stream};
//! use rand_distr::Beta;
//!
//! let beta = Beta::new(Portable(2.0), Portable(3.0)).unwrap();
//! assert_eq!(Stream::new(1, "example", "beta").draw(beta), 0.5044187559329858);
//! ```

use std::num::{FpCategory, ParseFloatError};
use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

use rand_distr::num_traits::{Float, Num, NumCast, One, ToPrimitive, Zero};

/// An `f64` whose functions are those of the `libm` crate, whatever the machine and the features of the build.
#[derive(Copy, Clone, Debug, Default, PartialEq, PartialOrd)]
pub struct Portable(pub f64);

/// Implements an operation that IEEE 754 rounds correctly.
macro_rules! exact {
    ($($operation:ident::$name:ident)+) => {
        $(impl $operation for Portable {
            type Output = Self;
            #[inline]
            fn $name(self, other: Self) -> Self {
                Self(self.0.$name(other.0))
            }
        })+
    };
}
exact!(Add::add Sub::sub Mul::mul Div::div);

impl Rem for Portable {
    type Output = Self;
    fn rem(self, other: Self) -> Self {
        Self(libm::fmod(self.0, other.0))
    }
}

impl Neg for Portable {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Zero for Portable {
    fn zero() -> Self {
        Self(0.0)
    }

    fn is_zero(&self) -> bool {
        self.0 == 0.0
    }
}

impl One for Portable {
    fn one() -> Self {
        Self(1.0)
    }
}

impl Num for Portable {
    type FromStrRadixErr = ParseFloatError;

    /// Reads a decimal number; with any radix other than ten, every text is an error.
    fn from_str_radix(text: &str, radix: u32) -> Result<Self, ParseFloatError> {
        if radix == 10 { text } else { "" }.parse().map(Self)
    }
}

impl ToPrimitive for Portable {
    fn to_i64(&self) -> Option<i64> {
        self.0.to_i64()
    }

    fn to_u64(&self) -> Option<u64> {
        self.0.to_u64()
    }

    fn to_f64(&self) -> Option<f64> {
        Some(self.0)
    }
}

impl NumCast for Portable {
    fn from<T: ToPrimitive>(value: T) -> Option<Self> {
        value.to_f64().map(Self)
    }
}

macro_rules! constants {
    ($($name:ident = $value:expr;)+) => {
        $(#[inline]
        fn $name() -> Self {
            Self($value)
        })+
    };
}

macro_rules! questions {
    ($($name:ident -> $answer:ty;)+) => {
        $(#[inline]
        fn $name(self) -> $answer {
            self.0.$name()
        })+
    };
}

macro_rules! functions {
    ($($name:ident($($other:ident),*) = $libm:ident;)+) => {
        $(#[inline]
        fn $name(self $(, $other: Self)*) -> Self {
            Self(libm::$libm(self.0 $(, $other.0)*))
        })+
    };
}

/// Functions that have the same name in libm.
macro_rules! same_functions {
    ($($name:ident($($other:ident),*))+) => {
        functions! { $($name($($other),*) = $name;)+ }
    };
}

impl Float for Portable {
    constants! {
        nan = f64::NAN;
        infinity = f64::INFINITY;
        neg_infinity = f64::NEG_INFINITY;
        neg_zero = -0.0;
        min_value = f64::MIN;
        min_positive_value = f64::MIN_POSITIVE;
        max_value = f64::MAX;
        epsilon = f64::EPSILON;
    }

    questions! {
        is_nan -> bool;
        is_infinite -> bool;
        is_finite -> bool;
        is_normal -> bool;
        is_sign_positive -> bool;
        is_sign_negative -> bool;
        classify -> FpCategory;
    }

    same_functions! {
        floor() ceil() round() trunc() sqrt() exp() exp2() log2() log10() cbrt() hypot(other) sin() cos()
        tan() asin() acos() atan() atan2(other) sinh() cosh() tanh() asinh() acosh() atanh() copysign(sign)
    }

    functions! {
        abs() = fabs;
        mul_add(a, b) = fma;
        powf(n) = pow;
        ln() = log;
        max(other) = fmax;
        min(other) = fmin;
        abs_sub(other) = fdim;
        exp_m1() = expm1;
        ln_1p() = log1p;
    }

    fn fract(self) -> Self {
        self - self.trunc()
    }

    fn signum(self) -> Self {
        if self.is_nan() { self } else { Self(1.0).copysign(self) }
    }

    fn recip(self) -> Self {
        Self(1.0 / self.0)
    }

    fn powi(self, n: i32) -> Self {
        self.powf(Self(n.into()))
    }

    fn log(self, base: Self) -> Self {
        self.ln() / base.ln()
    }

    fn sin_cos(self) -> (Self, Self) {
        let (sin, cos) = libm::sincos(self.0);
        (Self(sin), Self(cos))
    }

    fn integer_decode(self) -> (u64, i16, i8) {
        self.0.integer_decode()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Any bit pattern, with edge cases often.
    fn number() -> impl Strategy<Value = f64> {
        let edges = [0.0, 1.0, 2.0, 0.5, f64::MIN_POSITIVE, f64::EPSILON, f64::MAX, f64::INFINITY, f64::NAN];
        let edge = (proptest::sample::select(edges.to_vec()), any::<bool>());
        prop_oneof![
            2 => any::<u64>().prop_map(f64::from_bits),
            2 => -50.0..50.0,
            2 => 0.0..1.0,
            1 => edge.prop_map(|(edge, negative)| if negative { -edge } else { edge }),
        ]
    }

    /// Checks that both have the same bits, or that both are NaN.
    fn same(name: &str, got: Portable, expected: f64) -> Result<(), TestCaseError> {
        let both_nan = got.0.is_nan() && expected.is_nan();
        prop_assert!(both_nan || got.0.to_bits() == expected.to_bits(), "{name}: {got:?}, libm {expected:?}");
        Ok(())
    }

    macro_rules! compare {
        ($x:expr, $y:expr, $z:expr; $($name:ident($($at:ident),*) = $libm:expr;)+) => {{
            let (x, y, z) = ($x, $y, $z);
            let _ = (y, z);
            $(same(stringify!($name), Float::$name(Portable(x) $(, Portable($at))*), $libm(x $(, $at)*))?;)+
        }};
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// Every function of [`Float`] that returns a number, written down a second time.
        #[test]
        fn no_function_differs_from_libm(x in number(), y in number(), z in number(), n in -60..60_i32) {
            compare! { x, y, z;
                floor() = libm::floor; ceil() = libm::ceil; round() = libm::round; trunc() = libm::trunc;
                abs() = libm::fabs; sqrt() = libm::sqrt; cbrt() = libm::cbrt;
                exp() = libm::exp; exp2() = libm::exp2; exp_m1() = libm::expm1;
                ln() = libm::log; log2() = libm::log2; log10() = libm::log10; ln_1p() = libm::log1p;
                sin() = libm::sin; cos() = libm::cos; tan() = libm::tan;
                asin() = libm::asin; acos() = libm::acos; atan() = libm::atan;
                sinh() = libm::sinh; cosh() = libm::cosh; tanh() = libm::tanh;
                asinh() = libm::asinh; acosh() = libm::acosh; atanh() = libm::atanh;
                powf(y) = libm::pow; max(y) = libm::fmax; min(y) = libm::fmin; abs_sub(y) = libm::fdim;
                hypot(y) = libm::hypot; atan2(y) = libm::atan2; copysign(y) = libm::copysign;
                mul_add(y, z) = libm::fma;
                fract() = |x| x - libm::trunc(x);
                recip() = |x: f64| 1.0 / x;
                signum() = |x: f64| if x.is_nan() { x } else { libm::copysign(1.0, x) };
                log(y) = |x, y| libm::log(x) / libm::log(y);
            }
            same("powi", Float::powi(Portable(x), n), libm::pow(x, n.into()))?;
            same("sin", Portable(x).sin_cos().0, libm::sin(x))?;
            same("cos", Portable(x).sin_cos().1, libm::cos(x))?;
            same("%", Portable(x) % Portable(y), libm::fmod(x, y))?;
        }

        #[test]
        fn arithmetic_and_order_are_those_of_f64(x in number(), y in number()) {
            let (a, b) = (Portable(x), Portable(y));
            same("+", a + b, x + y)?;
            same("-", a - b, x - y)?;
            same("*", a * b, x * y)?;
            same("/", a / b, x / y)?;
            same("-", -a, -x)?;
            prop_assert_eq!(a.partial_cmp(&b), x.partial_cmp(&y));
            prop_assert_eq!((a.is_nan(), a.is_finite(), a.is_infinite()), (x.is_nan(), x.is_finite(), x.is_infinite()));
            prop_assert_eq!((a.is_sign_negative(), a.classify()), (x.is_sign_negative(), x.classify()));
            prop_assert_eq!((a.to_i64(), a.to_u64(), a.to_i32()), (x.to_i64(), x.to_u64(), x.to_i32()));
            if let Ok(read) = Portable::from_str_radix(&x.to_string(), 10) {
                same("read", read, x)?;
            }
            prop_assert!(Portable::from_str_radix("10", 2).is_err());
        }
    }
}
