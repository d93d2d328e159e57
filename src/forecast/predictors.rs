//! The predictors: a file for each kind, and a line in [`STANDARD`] for each predictor.

mod adaptive_mean;
mod adaptive_median;
mod gradient;
mod last;
mod mean;
mod median;
mod sliding_mean;
mod smooth;
mod smooth_trend;
mod trimmed;
mod window;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::history::History;
use super::predictor::{Family, Predict};

use adaptive_mean::AdaptiveMean;
use adaptive_median::AdaptiveMedian;
use gradient::Gradient;
use last::Last;
use mean::Mean;
use median::Median;
use sliding_mean::SlidingMean;
use smooth::Smooth;
use smooth_trend::SmoothTrend;
use trimmed::Trimmed;

/// The predictors in their order, each as it is before the first value.
pub(super) static STANDARD: &[(&str, State)] = &[
    ("last", State::Last(Last)),
    ("mean", State::Mean(Mean::NEW)),
    ("mean[window=5]", State::SlidingMean(SlidingMean::new(5))),
    ("mean[window=10]", State::SlidingMean(SlidingMean::new(10))),
    ("mean[window=20]", State::SlidingMean(SlidingMean::new(20))),
    ("mean[window=30]", State::SlidingMean(SlidingMean::new(30))),
    ("mean[window=50]", State::SlidingMean(SlidingMean::new(50))),
    ("adaptive-mean", State::AdaptiveMean(AdaptiveMean::NEW)),
    ("smooth[gain=0.05]", State::Smooth(Smooth::new(0.05))),
    ("smooth[gain=0.1]", State::Smooth(Smooth::new(0.1))),
    ("smooth[gain=0.15]", State::Smooth(Smooth::new(0.15))),
    ("smooth[gain=0.2]", State::Smooth(Smooth::new(0.2))),
    ("smooth[gain=0.3]", State::Smooth(Smooth::new(0.3))),
    ("smooth[gain=0.4]", State::Smooth(Smooth::new(0.4))),
    ("smooth[gain=0.5]", State::Smooth(Smooth::new(0.5))),
    ("smooth[gain=0.75]", State::Smooth(Smooth::new(0.75))),
    ("smooth[gain=0.9]", State::Smooth(Smooth::new(0.9))),
    ("smooth[gain=0.05,trend=0.001]", State::SmoothTrend(SmoothTrend::new(0.05, 0.001))),
    ("smooth[gain=0.1,trend=0.001]", State::SmoothTrend(SmoothTrend::new(0.1, 0.001))),
    ("smooth[gain=0.15,trend=0.001]", State::SmoothTrend(SmoothTrend::new(0.15, 0.001))),
    ("smooth[gain=0.2,trend=0.001]", State::SmoothTrend(SmoothTrend::new(0.2, 0.001))),
    ("smooth[gain=0.3,trend=0.001]", State::SmoothTrend(SmoothTrend::new(0.3, 0.001))),
    ("smooth[gain=0.4,trend=0.001]", State::SmoothTrend(SmoothTrend::new(0.4, 0.001))),
    ("smooth[gain=0.5,trend=0.001]", State::SmoothTrend(SmoothTrend::new(0.5, 0.001))),
    ("smooth[gain=0.75,trend=0.001]", State::SmoothTrend(SmoothTrend::new(0.75, 0.001))),
    ("smooth[gain=0.9,trend=0.001]", State::SmoothTrend(SmoothTrend::new(0.9, 0.001))),
    ("median[window=5]", State::Median(Median::new(5))),
    ("median[window=31]", State::Median(Median::new(31))),
    ("median[window=51]", State::Median(Median::new(51))),
    ("adaptive-median", State::AdaptiveMedian(AdaptiveMedian::NEW)),
    ("trimmed[window=31,trim=0.3]", State::Trimmed(Trimmed::new(31, 30))),
    ("trimmed[window=51,trim=0.3]", State::Trimmed(Trimmed::new(51, 30))),
    ("gradient", State::Gradient(Gradient::NEW)),
];

/// Declares the kinds, each the name of its type.
macro_rules! kinds {
    ($($kind:ident),*) => {
        /// A predictor with what it has learnt.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub(super) enum State {
            $($kind($kind),)*
        }

        impl State {
            pub(super) fn forecast(&self, history: &History) -> f64 {
                match self { $(Self::$kind(predictor) => predictor.forecast(history),)* }
            }

            pub(super) fn observe(&mut self, value: f64, history: &History) {
                match self { $(Self::$kind(predictor) => predictor.observe(value, history),)* }
            }

            fn family(&self) -> &'static Family {
                match self { $(Self::$kind(_) => const { &$kind::FAMILY },)* }
            }
        }
    };
}

kinds!(Last, Mean, SlidingMean, AdaptiveMean, Smooth, SmoothTrend, Median, AdaptiveMedian, Trimmed, Gradient);

/// A predictor, as a name: `mean[window=10]`. Predictors are ordered as in [`Predictor::all`], and saved by name.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Predictor(u8);

/// There is no predictor of this name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no predictor `{0}`")]
pub struct UnknownPredictor(pub String);

impl Predictor {
    /// All predictors, in their order: of two that are equally good the first one answers.
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        (0..STANDARD.len()).map(|at| Self(at as u8))
    }

    /// The name with parameters.
    pub fn name(self) -> &'static str {
        self.entry().0
    }

    /// What it forecasts, in a sentence.
    pub fn doc(self) -> &'static str {
        self.entry().1.family().doc
    }

    /// Where it comes from.
    pub fn source(self) -> &'static str {
        self.entry().1.family().source
    }

    /// The predictor before the first value.
    pub(super) fn start(self) -> State {
        self.entry().1.clone()
    }

    fn entry(self) -> &'static (&'static str, State) {
        &STANDARD[usize::from(self.0)]
    }
}

impl fmt::Display for Predictor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Debug for Predictor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Predictor({self})")
    }
}

impl FromStr for Predictor {
    type Err = UnknownPredictor;

    fn from_str(name: &str) -> Result<Self, UnknownPredictor> {
        Self::all().find(|one| one.name() == name).ok_or_else(|| UnknownPredictor(name.to_owned()))
    }
}

impl From<Predictor> for String {
    fn from(predictor: Predictor) -> Self {
        predictor.name().to_owned()
    }
}

impl TryFrom<String> for Predictor {
    type Error = UnknownPredictor;

    fn try_from(name: String) -> Result<Self, UnknownPredictor> {
        name.parse()
    }
}
