//! Texts of a fixed form.

use std::fmt;
use std::str::FromStr;

use super::quantity::{Quantity, exact};
use crate::model::{DayRates, GroupSize, JobClasses, JobMemory};
use crate::scenario::expectation::Expectation;
use crate::units::{Power, Timestamp};

/// Declares a kind for a type that is written as a text of a fixed form.
macro_rules! form {
    ($type:ty, $title:literal, $expected:expr, $example:literal, $read:expr, $show:expr) => {
        impl $crate::scenario::kind::Kind for $type {
            fn read(
                node: &$crate::scenario::tree::Node,
                reading: &mut $crate::scenario::kind::reading::Reading<'_>,
            ) -> Option<Self> {
                reading.text(node, $expected, $read)
            }

            fn show(&self) -> Option<toml::Value> {
                let show: fn(&Self) -> String = $show;
                Some(toml::Value::String(show(self)))
            }

            fn expected() -> String {
                $expected.to_owned()
            }

            fn schema() -> serde_json::Value {
                serde_json::json!({ "title": $title, "type": ["string", "number"], "examples": [$example] })
            }
        }
    };
}

pub(crate) use form;

fn parsed<T: FromStr<Err: fmt::Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

form!(
    DayRates,
    "hours of the day",
    "hours of the day with factors, in quotes, such as `\"22-6=0.5,17-20=1.8\"`",
    "22-6=0.5,17-20=1.8",
    parsed,
    Self::to_string
);
form!(
    JobClasses,
    "classes",
    "job classes in quotes, such as `\"kettimuthu-16\"` or `\"cuts[run=10 min/1 h,size=1/8]\"`",
    "kettimuthu-16",
    parsed,
    |classes| classes.name().to_owned()
);

form!(
    Expectation,
    "expectation",
    "two figures of the run and how they compare, in quotes, such as `\"completed == submitted\"`",
    "completed == submitted",
    parsed,
    Self::to_string
);

form!(
    Timestamp,
    "date and time",
    "a date and time with its zone in quotes, such as `\"2023-01-02T00:00Z\"`",
    "2023-01-02T00:00Z",
    parsed,
    Self::to_string
);

/// A power of a machine, or of each of its cores.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum PowerKey {
    /// The power of all cores together.
    Machine(Power),
    /// The power of each core.
    Core(Power),
}

impl fmt::Display for PowerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Machine(power) => f.write_str(&power.text()),
            Self::Core(power) => write!(f, "{}/core", power.text()),
        }
    }
}

form!(
    PowerKey,
    "power",
    "a power in quotes, such as `\"95 W\"` or `\"24 W/core\"`",
    "95 W",
    |text| match text.trim().strip_suffix("/core") {
        Some(power) => exact(power).map(Self::Core),
        None => exact(text).map(Self::Machine),
    },
    Self::to_string
);

/// The power cap of a site.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum PowerCapKey {
    /// This much.
    Power(Power),
    /// This part, in millionths, of what its machines draw at most.
    Part(u64),
}

impl fmt::Display for PowerCapKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Power(power) => f.write_str(&power.text()),
            Self::Part(ppm) => write!(f, "{} %", *ppm as f64 / 1e4),
        }
    }
}

form!(
    PowerCapKey,
    "power or percentage",
    "a power or a percentage in quotes, such as `\"12 kW\"` or `\"60 %\"`",
    "60 %",
    |text| match text.trim().strip_suffix('%') {
        Some(number) => {
            let part = number.trim().parse::<f64>().ok().filter(|part| (0.0..=1_000.0).contains(part));
            let part = part.ok_or_else(|| format!("`{text}` is not a percentage from 0 to 1000 %"))?;
            Ok(Self::Part((part * 1e4).round() as u64))
        }
        None => {
            exact(text).map(Self::Power).map_err(|error| format!("{error}, or a percentage such as `60 %`"))
        }
    },
    Self::to_string
);

form!(
    JobMemory,
    "memory of jobs",
    "an amount of memory in quotes, such as `\"512 MB\"`, `\"100 MB..1 GB\"` or `\"log\"`",
    "512 MB",
    parsed,
    Self::to_string
);

form!(
    GroupSize,
    "number of machines",
    "a number of machines, such as `4`, or `\"geometric[mean=1.2]\"`",
    "geometric[mean=1.2]",
    |text| match text.parse::<GroupSize>() {
        Ok(GroupSize::Rack(_)) => Err("a rack is written `rack = 16`, instead of `size`".to_owned()),
        Ok(size) => Ok(size),
        Err(error) => Err(format!("{error}; write {}", GroupSize::FORMS)),
    },
    Self::to_string
);
