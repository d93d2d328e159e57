//! The search for the arrival parameters that give a load, by dry runs over the same draws.

use std::cell::RefCell;

use super::generator::{ARRIVALS, Model, State};
use super::spec::{CwfSpec, unreachable};
use crate::model::NamedError;
use crate::workload::lublin::{ArrivalLaw, ArrivalParams, Clock, PILOT, Pace};
use crate::workload::random::{Gamma, Stream};

/// The range in which `barr` is searched: from gaps of some seconds to gaps of a day and more.
const LOWEST: f64 = 0.02;
const HIGHEST: f64 = 2.0;
/// The largest number of steps of the search; `barr` is then known to its last digits.
const STEPS: usize = 60;
/// The relative error at which the load counts as met.
const NEAR: f64 = 1e-9;

/// The model of a workload, with the factor on its arrival times, and its first state.
pub(super) fn settled(spec: &CwfSpec, seed: u64, entity: &str) -> Result<(Model, State), NamedError> {
    let mut model = Model::new(spec);
    let state = model.begin(seed, entity);
    let load = match spec.pace {
        Pace::AsModelled => return Ok((model, state)),
        Pace::Factor(factor) => {
            model.scale = factor;
            return Ok((model, state));
        }
        Pace::Load(load) => load,
    };
    let none = || {
        let why = format!("possible with `jobs={}`: all jobs arrive at one time", spec.jobs);
        unreachable(load, &why)
    };
    let area = area(spec, &model, state.clone());
    let tape = RefCell::new(Tape::new(Stream::new(seed, entity, ARRIVALS)));
    let natural = |barr: f64| {
        let span = span(spec, &model.arrivals_with(barr), &mut tape.borrow_mut());
        (span > 0.0).then(|| area / (f64::from(spec.procs) * span))
    };
    if !spec.finds_barr() {
        model.scale = natural(spec.params.arrival.barr).ok_or_else(none)? / load;
        return Ok((model, state));
    }
    // Positive if jobs arrive too fast; for the same draws, a larger `barr` slows them down.
    let excess = |barr: f64| natural(barr).map(|natural| libm::log(natural / load)).ok_or_else(none);
    let (low, high) = around(spec.params.arrival.barr, (LOWEST, highest(spec)), excess)?;
    let barr = root(low, high, excess)?.ok_or_else(|| {
        let (slow, fast) = (excess(highest(spec)), excess(LOWEST));
        let at = |excess: Result<f64, NamedError>| excess.map_or(0.0, |excess| load * libm::exp(excess));
        let why = format!(
            "reached by any `barr`: from {:.3} to {:.3}, as these jobs are; `calibrate=gaps` has no bounds",
            at(slow),
            at(fast)
        );
        unreachable(load, &why)
    })?;
    let scale = natural(barr).ok_or_else(none)? / load;
    model = model.with_arrivals(barr);
    model.scale = scale;
    let state = model.begin(seed, entity);
    Ok((model, state))
}

/// The largest `barr` with which drawing gaps terminates.
fn highest(spec: &CwfSpec) -> f64 {
    let mut barr = HIGHEST;
    let accepts = |barr| ArrivalParams { barr, ..spec.params.arrival }.check_draws(|_, _, _| Err(())).is_ok();
    while barr > 2.0 * LOWEST && !accepts(barr) {
        barr *= 0.9;
    }
    barr
}

/// Σ size × run time of the jobs of the pilot, which does not depend on arrivals.
fn area(spec: &CwfSpec, model: &Model, mut state: State) -> f64 {
    for _ in 0..spec.jobs.min(PILOT) {
        model.draw_request(&mut state);
    }
    state.made.area as f64
}

/// Time between the first and the last arrival of the pilot.
fn span(spec: &CwfSpec, arrivals: &ArrivalLaw, tape: &mut Tape) -> f64 {
    tape.at = 0;
    let mut clock = Clock::default();
    let mut next = || {
        arrivals.advance(&mut clock, |gaps| tape.draw(gaps));
        clock.arrival
    };
    let first = next();
    (1..spec.jobs.min(PILOT)).map(|_| next()).last().unwrap_or(first) - first
}

/// The draws of arrivals at scale 1, each made once: dry runs with different `barr` differ in the scale only.
struct Tape {
    stream: Stream,
    drawn: Vec<f64>,
    at: usize,
}

impl Tape {
    const fn new(stream: Stream) -> Self {
        Self { stream, drawn: Vec::new(), at: 0 }
    }

    /// Returns the same as `gaps.sample` from the beginning of the stream.
    fn draw(&mut self, gaps: &Gamma) -> f64 {
        if self.at == self.drawn.len() {
            self.drawn.push(Gamma::new(gaps.shape(), 1.0).sample(&mut self.stream));
        }
        self.at += 1;
        self.drawn[self.at - 1] * gaps.scale()
    }
}

/// Points near `start` between which a decreasing function crosses zero, if it does within `bounds`. Far from the
/// requested load many draws exceed the cap, which costs time.
fn around<E>(
    start: f64,
    (least, most): (f64, f64),
    f: impl Fn(f64) -> Result<f64, E>,
) -> Result<(f64, f64), E> {
    const STEP: f64 = 1.25;
    let start = start.clamp(least, most);
    let (mut low, mut high) = (start, start);
    if f(start)? > 0.0 {
        while high < most && f(high)? > 0.0 {
            (low, high) = (high, (high * STEP).min(most));
        }
    } else {
        while low > least && f(low)? <= 0.0 {
            (low, high) = ((low / STEP).max(least), low);
        }
    }
    Ok((low, high))
}

/// The zero of a decreasing function, by the Illinois variant of the false position method; `None` if there is none
/// between `low` and `high`.
fn root<E>(low: f64, high: f64, f: impl Fn(f64) -> Result<f64, E>) -> Result<Option<f64>, E> {
    let (mut low, mut high) = ((low, f(low)?), (high, f(high)?));
    if low.1 < 0.0 || high.1 > 0.0 {
        return Ok(None);
    }
    let mut nearest = if low.1 < -high.1 { low } else { high };
    for _ in 0..STEPS {
        let at = low.0 + (high.0 - low.0) * low.1 / (low.1 - high.1);
        // The point is NaN if both ends are zero.
        if !(at > low.0 && at < high.0) {
            break;
        }
        let value = f(at)?;
        // At a discontinuity the later point is the nearer one, whatever its value.
        if value.abs() <= nearest.1.abs() {
            nearest = (at, value);
        }
        if value.abs() < NEAR {
            break;
        }
        // The value at the end that stays is halved, or this end would stay for good.
        if value > 0.0 {
            low = (at, value);
            high.1 *= 0.5;
        } else {
            high = (at, value);
            low.1 *= 0.5;
        }
    }
    Ok(Some(nearest.0))
}

#[cfg(test)]
mod tests {
    use super::{around, root};

    #[test]
    fn a_crossing_is_looked_for_from_where_it_is_expected() {
        let find = |start: f64, zero: f64| {
            let (low, high) = around(start, (0.5, 4.0), |x| Ok::<_, ()>(zero - x)).unwrap();
            assert!(low <= high && high <= low * 1.2501, "{low} to {high}");
            (low, high)
        };
        for (start, zero) in [(1.0, 3.0), (3.0, 1.0), (1.0, 1.0), (1.0, 1.1), (9.0, 3.9), (0.1, 0.6)] {
            let (low, high) = find(start, zero);
            assert!(low <= zero && zero <= high, "{zero} is not in {low} to {high}");
        }
        // The search stops at the bounds.
        assert_eq!(find(1.0, 5.0).1, 4.0);
        assert_eq!(find(1.0, 0.1).0, 0.5);
    }

    #[test]
    fn the_root_of_a_falling_function_is_found() {
        let find = |f: fn(f64) -> f64| root(0.0, 4.0, |x| Ok::<_, ()>(f(x))).unwrap();
        assert!((find(|x| 2.0 - x * x).unwrap() - 2.0_f64.sqrt()).abs() < 1e-8);
        assert!((find(|x| libm::exp(-x) - 0.1).unwrap() - libm::log(10.0)).abs() < 1e-7);
        // A discontinuity is found, although the function has no zero there.
        assert!((find(|x| if x < 3.25 { 1.0 } else { -2.0 }).unwrap() - 3.25).abs() < 1e-6);
        assert_eq!(find(|x| -1.0 - x), None);
        assert_eq!(find(|x| 9.0 - x), None);
    }
}
