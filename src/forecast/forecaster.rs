//! The tournament of predictors.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::history::History;
use super::predictors::State;
use super::{Criterion, Predictor};

/// A series and its predictors.
///
/// A value costs one step of each predictor, whatever the length of the series; what is kept does not grow. Everything is determined by the
/// values, on every machine, and a forecaster that is saved with serde and restored goes on with the same bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forecaster {
    criterion: Criterion,
    history: History,
    /// In the order of predictors.
    contenders: Vec<Contender>,
    /// The errors of the last forecasts, if the criterion is of these: for each value, the oldest one first, those of all predictors.
    recent: Vec<f64>,
}

/// A predictor and how good it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Contender {
    state: State,
    /// The forecast of the next value.
    next: f64,
    charged: Charged,
}

/// Sums of errors.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Charged {
    squares: f64,
    absolute: f64,
}

impl Charged {
    fn add(&mut self, error: f64) {
        self.squares += error * error;
        self.absolute += error.abs();
    }

    fn errors(self, forecasts: u64) -> Option<Errors> {
        (forecasts > 0).then(|| Errors {
            root_mean_square: (self.squares / forecasts as f64).sqrt(),
            mean_absolute: self.absolute / forecasts as f64,
            forecasts,
        })
    }
}

/// What is expected next, in the unit of the values.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// The value.
    pub value: f64,
    /// The predictor that says so: the best one so far.
    pub by: Predictor,
    /// The errors of this predictor so far, of the forecasts that the criterion counts; `None` if there was only one value, which nothing
    /// had forecast.
    pub errors: Option<Errors>,
    /// The number of values so far.
    pub observations: u64,
}

/// How far the forecasts of a predictor were from the values, in the unit of the values.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Errors {
    /// The root of the mean of the squares of the errors.
    pub root_mean_square: f64,
    /// The mean of the errors without their signs.
    pub mean_absolute: f64,
    /// The number of forecasts that these are of.
    pub forecasts: u64,
}

/// What a predictor expects next, and its errors.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// The predictor.
    pub predictor: Predictor,
    /// The value that it expects.
    pub value: f64,
    /// Its errors over all forecasts; `None` if there was only one value.
    pub errors: Option<Errors>,
}

/// A measurement is not a number, infinite, or so large that its square might be.
#[derive(Copy, Clone, Debug, PartialEq, Error)]
#[error("the measurement {0} cannot be forecast: it must be a number of at most {largest:e}, up or down", largest = Forecaster::LARGEST)]
pub struct BadMeasurement(pub f64);

impl Default for Forecaster {
    fn default() -> Self {
        Self::new(Criterion::default())
    }
}

impl Forecaster {
    /// The largest value that a measurement can have, up or down, so that no sum of squares is infinite.
    pub const LARGEST: f64 = 1e140;

    /// A forecaster of a series without values yet.
    ///
    /// One of a recent criterion keeps the errors of all predictors of so many forecasts: 13 kB for 50, beside 4 kB that every forecaster
    /// needs.
    pub fn new(criterion: Criterion) -> Self {
        let start = |one: Predictor| Contender { state: one.start(), next: 0.0, charged: Charged::default() };
        Self {
            criterion,
            history: History::default(),
            contenders: Predictor::all().map(start).collect(),
            recent: Vec::new(),
        }
    }

    /// By which error a predictor is chosen.
    pub fn criterion(&self) -> Criterion {
        self.criterion
    }

    /// The number of values so far.
    pub fn observations(&self) -> u64 {
        self.history.observations()
    }

    /// Takes the next value of the series: each predictor is charged with the error of its forecast of it, then learns it.
    ///
    /// # Errors
    ///
    /// If the value is not a finite number of at most [`LARGEST`](Self::LARGEST), up or down. Nothing has changed then.
    pub fn observe(&mut self, value: f64) -> Result<(), BadMeasurement> {
        if value.is_nan() || value.abs() > Self::LARGEST {
            return Err(BadMeasurement(value));
        }
        if !self.history.is_empty() {
            self.charge(value);
        }
        for contender in &mut self.contenders {
            contender.state.observe(value, &self.history);
        }
        self.history.push(value);
        for contender in &mut self.contenders {
            contender.next = contender.state.forecast(&self.history);
        }
        Ok(())
    }

    fn charge(&mut self, value: f64) {
        for contender in &mut self.contenders {
            contender.charged.add(value - contender.next);
        }
        let Some(last) = self.criterion.last() else { return };
        self.recent.extend(self.contenders.iter().map(|contender| value - contender.next));
        if self.recent.len() > last * self.contenders.len() {
            self.recent.drain(..self.contenders.len());
        }
    }

    /// The forecast of the next value; `None` before the first one.
    pub fn forecast(&self) -> Option<Forecast> {
        let mut best: Option<(f64, Forecast)> = None;
        let (forecasts, charged) = self.charged();
        for ((by, contender), charged) in Predictor::all().zip(&self.contenders).zip(charged) {
            let error = match self.criterion {
                Criterion::Squared | Criterion::RecentSquared(_) => charged.squares,
                Criterion::Absolute | Criterion::RecentAbsolute(_) => charged.absolute,
            };
            if best.is_none_or(|(least, _)| error < least) {
                let (value, errors) = (contender.next, charged.errors(forecasts));
                best = Some((error, Forecast { value, by, errors, observations: self.observations() }));
            }
        }
        best.map(|(_, forecast)| forecast).filter(|_| !self.history.is_empty())
    }

    /// The sums of errors that the criterion compares, and the number of forecasts that they are of.
    fn charged(&self) -> (u64, Vec<Charged>) {
        if self.criterion.last().is_none() {
            return (self.forecasts(), self.contenders.iter().map(|contender| contender.charged).collect());
        }
        let mut charged = vec![Charged::default(); self.contenders.len()];
        for errors in self.recent.chunks_exact(charged.len()) {
            charged.iter_mut().zip(errors).for_each(|(charged, error)| charged.add(*error));
        }
        ((self.recent.len() / charged.len()) as u64, charged)
    }

    /// The number of values that were forecast.
    fn forecasts(&self) -> u64 {
        self.observations().saturating_sub(1)
    }

    /// What each predictor expects, with its errors over all forecasts, whatever the criterion; in the order of predictors, and nothing
    /// before the first value.
    pub fn standings(&self) -> impl Iterator<Item = Standing> {
        let known = if self.history.is_empty() { 0 } else { self.contenders.len() };
        let standing = |(predictor, contender): (Predictor, &Contender)| Standing {
            predictor,
            value: contender.next,
            errors: contender.charged.errors(self.forecasts()),
        };
        Predictor::all().zip(&self.contenders).take(known).map(standing)
    }
}
