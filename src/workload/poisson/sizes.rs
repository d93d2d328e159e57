//! Distributions of job sizes.

use std::fmt;
use std::str::FromStr;

use crate::model::MAX_PROCESSORS;
use crate::workload::random::Stream;

/// A distribution of sizes: `8`, `1..32` (each equally likely) or `1/2/4/8` (each of these equally likely).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// Always this many processors.
    Fixed(u32),
    /// Uniform from the first to the last, both included.
    Range(u32, u32),
    /// One of these, each equally likely.
    Among(Vec<u32>),
}

impl Sizes {
    pub(super) const FORMS: &'static str =
        "a size such as `8`, a range `1..32` or a list `1/2/4/8`, from 1 to 67108864";

    /// The largest size.
    pub fn largest(&self) -> u32 {
        match self {
            Self::Fixed(size) | Self::Range(_, size) => *size,
            Self::Among(sizes) => sizes.iter().copied().max().unwrap_or(1),
        }
    }

    /// The mean size.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Fixed(size) => f64::from(*size),
            Self::Range(first, last) => (f64::from(*first) + f64::from(*last)) / 2.0,
            Self::Among(sizes) => {
                sizes.iter().copied().map(f64::from).sum::<f64>() / sizes.len().max(1) as f64
            }
        }
    }

    pub(super) fn draw(&self, stream: &mut Stream) -> u32 {
        match self {
            Self::Fixed(size) => *size,
            Self::Range(first, last) => first + stream.below(u64::from(last - first) + 1) as u32,
            Self::Among(sizes) => sizes[stream.below(sizes.len() as u64) as usize],
        }
    }
}

impl FromStr for Sizes {
    type Err = ();

    fn from_str(written: &str) -> Result<Self, ()> {
        let size = |text: &str| {
            text.trim().parse().ok().filter(|size| (1..=MAX_PROCESSORS).contains(size)).ok_or(())
        };
        if let Some((first, last)) = written.split_once("..") {
            let (first, last) = (size(first)?, size(last)?);
            return if first <= last { Ok(Self::Range(first, last)) } else { Err(()) };
        }
        if written.contains('/') {
            return written.split('/').map(size).collect::<Result<_, _>>().map(Self::Among);
        }
        size(written).map(Self::Fixed)
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(size) => size.fmt(f),
            Self::Range(first, last) => write!(f, "{first}..{last}"),
            Self::Among(sizes) => {
                let sizes: Vec<String> = sizes.iter().map(u32::to_string).collect();
                f.write_str(&sizes.join("/"))
            }
        }
    }
}
