//! Series of measurements and their forecasts, without a grid.
//!
//! A [`Forecaster`] is told the values of a series one after another and says what it expects next. It works as the Network Weather Service
//! does (Wolski 1998, 1999): every [`Predictor`] forecasts every value and is charged with its error, and the one with the least error so
//! far answers, with that error. What the error of a predictor is, a [`Criterion`] says. A forecast is for the next value of the series; it
//! knows nothing of when that comes.
//!
//! ```
//! use gridemu::forecast::{Criterion, Forecaster};
//!
//! let mut load = Forecaster::new(Criterion::Squared);
//! assert_eq!(load.forecast(), None);
//! for busy in [40.0, 40.0, 40.0, 60.0, 60.0, 60.0] {
//!     load.observe(busy)?;
//! }
//! let next = load.forecast().expect("something was observed");
//! assert_eq!((next.by.name(), next.value), ("last", 60.0));
//! // Five values were forecast, and one of them was missed by 20.
//! let errors = next.errors.expect("something was forecast");
//! assert_eq!((errors.forecasts, errors.mean_absolute), (5, 4.0));
//! assert_eq!(errors.root_mean_square, 80.0_f64.sqrt());
//! # Ok::<(), gridemu::forecast::BadMeasurement>(())
//! ```

mod criterion;
mod forecaster;
mod history;
mod predictor;
mod predictors;
#[cfg(test)]
mod tests;

pub use criterion::Criterion;
pub use forecaster::{BadMeasurement, Errors, Forecast, Forecaster, Standing};
pub use predictors::{Predictor, UnknownPredictor};
