mod golden;
mod log;
mod page;
mod saved;
mod series;
mod twins;

use super::{Criterion, Errors, Forecaster, Predictor};

/// All kinds of criteria, the recent ones of few forecasts, so that short series fill them.
fn criteria() -> [Criterion; 4] {
    let few = 7.try_into().unwrap();
    [Criterion::Squared, Criterion::Absolute, Criterion::RecentSquared(few), Criterion::RecentAbsolute(few)]
}

/// A forecaster that has seen a series.
fn after(criterion: Criterion, values: &[f64]) -> Forecaster {
    let mut forecaster = Forecaster::new(criterion);
    for value in values {
        forecaster.observe(*value).unwrap();
    }
    forecaster
}

fn predictor(name: &str) -> Predictor {
    name.parse().unwrap()
}

/// The errors of a predictor over a series.
fn errors_of(name: &str, values: &[f64]) -> Errors {
    let forecaster = after(Criterion::Squared, values);
    let mut standings = forecaster.standings();
    standings.find(|standing| standing.predictor == predictor(name)).unwrap().errors.unwrap()
}

/// The predictor that answers after a series.
fn winner(criterion: Criterion, values: &[f64]) -> &'static str {
    after(criterion, values).forecast().unwrap().by.name()
}
