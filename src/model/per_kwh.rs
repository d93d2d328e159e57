//! What a kilowatt-hour costs, or causes, over time.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::trace::{Contents, InUse, TraceOf};
use crate::units::{CarbonIntensity, EnergyPrice, Span, Timestamp};

/// A price of electricity in 10⁻⁹ of the currency per kilowatt-hour, or a carbon intensity in micrograms per kilowatt-hour, over the time
/// of a run. Prices may be negative.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PerKwh {
    /// The same at any time.
    Flat(i64),
    /// The values of a day, from midnight at the site on, in steps of equal length.
    Day(Vec<i64>),
    /// The values of a trace, on which the run begins at `origin`. The last one goes on.
    Trace {
        /// The trace.
        trace: Trace,
        /// The time from its beginning to that of the run.
        origin: Span,
    },
}

impl From<EnergyPrice> for PerKwh {
    fn from(price: EnergyPrice) -> Self {
        Self::Flat(i64::try_from(price.nanos()).unwrap_or(i64::MAX))
    }
}

impl From<CarbonIntensity> for PerKwh {
    fn from(intensity: CarbonIntensity) -> Self {
        Self::Flat(i64::try_from(intensity.micrograms()).unwrap_or(i64::MAX))
    }
}

impl PerKwh {
    /// The trace that it follows.
    pub const fn trace(&self) -> Option<&Trace> {
        match self {
            Self::Trace { trace, .. } => Some(trace),
            Self::Flat(_) | Self::Day(_) => None,
        }
    }

    /// Whether so many steps of equal length make a day: a whole number of minutes each.
    pub const fn fill_a_day(steps: usize) -> bool {
        steps > 0 && steps <= 1_440 && 1_440 % steps == 0
    }

    /// It in words, if it changes over time.
    pub(crate) fn told(of: Option<&Self>) -> String {
        match of {
            None => "none".to_owned(),
            Some(Self::Flat(value)) => value.to_string(),
            Some(Self::Day(values)) => format!("a day of {} values", values.len()),
            Some(Self::Trace { trace, origin }) => {
                let from = trace.begin().and_then(|begin| begin.plus(*origin));
                from.map_or_else(|| format!("`{trace}`"), |from| format!("`{trace}` from {from} on"))
            }
        }
    }

    /// The least and the largest value; `None` if the values of its trace are not at hand, or a day has none.
    pub fn range(&self) -> Option<(i64, i64)> {
        let of = |values: &mut dyn Iterator<Item = i64>| {
            values.fold(None, |range: Option<(i64, i64)>, value| {
                Some(range.map_or((value, value), |(least, most)| (least.min(value), most.max(value))))
            })
        };
        match self {
            Self::Flat(value) => Some((*value, *value)),
            Self::Day(values) => of(&mut values.iter().copied()),
            Self::Trace { trace, .. } => of(&mut trace.steps()?.iter().map(|(_, value)| *value)),
        }
    }
}

/// Values over a stretch of the calendar, from a file: when each begins, from 0 on, in order, and the value.
pub type Trace = TraceOf<Vec<(Span, i64)>>;

static IN_USE: InUse<Vec<(Span, i64)>> = InUse::new();

impl Contents for Vec<(Span, i64)> {
    fn hash(&self, hash: &mut Xxh3) {
        for (at, value) in self {
            hash.update(&at.micros().to_le_bytes());
            hash.update(&value.to_le_bytes());
        }
    }

    fn in_use() -> &'static InUse<Self> {
        &IN_USE
    }
}

impl Trace {
    /// The trace in the file `name`, whose first value begins at `begin` and whose last one ends at `end`.
    ///
    /// # Panics
    /// If there is no value, or they are not in order from 0 on.
    pub fn new(name: &str, begin: Timestamp, end: Timestamp, steps: Vec<(Span, i64)>) -> Self {
        let first = steps.first().expect("a trace has a value");
        assert!(first.0.is_zero() && steps.is_sorted_by(|a, b| a.0 < b.0), "values are in order, from 0 on");
        Self::of(name, begin, end, steps)
    }

    /// When each value begins, from 0 on, in order, and the value; `None` if they are not at hand.
    pub fn steps(&self) -> Option<&[(Span, i64)]> {
        self.contents().map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(name: &str, begin: i64, values: &[i64]) -> Trace {
        let steps = values.iter().zip(0..).map(|(value, at)| (Span::from_secs(at * 3_600), *value)).collect();
        Trace::new(name, Timestamp::from_micros(begin), Timestamp::from_micros(begin + 1), steps)
    }

    #[test]
    fn a_trace_is_its_values() {
        let of = trace("a.csv", 7, &[1, -2, 3]);
        let same = trace("b.csv", 7, &[1, -2, 3]);
        assert_eq!(of, same);
        assert!(std::ptr::eq(of.steps().unwrap(), same.steps().unwrap()), "equal values are there once");
        assert_ne!(of, trace("a.csv", 8, &[1, -2, 3]));
        assert_ne!(of, trace("a.csv", 7, &[1, -2, 4]));
        let per_kwh = PerKwh::Trace { trace: of, origin: Span::ZERO };
        assert_eq!(per_kwh.range(), Some((-2, 3)));
    }

    #[test]
    fn a_trace_is_saved_by_its_hash() {
        let of = trace("a.csv", 100, &[5, 6, 7]);
        let bytes = postcard::to_stdvec(&of).unwrap();
        assert!(bytes.len() < 40);
        let again: Trace = postcard::from_bytes(&bytes).unwrap();
        assert_eq!((again.name(), again.steps()), ("a.csv", of.steps()));
        drop((of, again));
        let gone: Trace = postcard::from_bytes(&bytes).unwrap();
        assert_eq!((gone.name(), gone.steps()), ("a.csv", None));
        assert_eq!(gone, trace("a.csv", 100, &[5, 6, 7]));
    }
}
