//! What a broker believes of prices and carbon intensities to come.
//!
//! Up to the end of the step in which it decides it knows the values. What it believes of those beyond is a function of the instant at
//! which it decides, so that it believes the same whenever it is asked again.

use std::collections::BTreeMap;
use std::str::FromStr;

use ethnum::I256;

use super::Values;
use crate::model::{Named, NamedError, ParamInfo, PoolId};
use crate::platform::Curve;
use crate::units::{Span, Time};
use crate::workload::random::Stream;

const DAY: Span = Span::from_secs(86_400);
/// Beyond this no errors are drawn.
const FARTHEST: Span = Span::from_secs(32 * 86_400);
/// A factor of 1.
const ONE: i64 = 1_000_000;

/// What is believed of values beyond the present step.
#[derive(Debug)]
pub struct Forecast {
    kind: Kind,
    /// Names the streams of errors: the seed of the run, and what is forecast.
    seed: u64,
    of: &'static str,
    /// What is believed of each pool for which errors have been drawn, from time 0 on.
    drawn: BTreeMap<PoolId, Drawn>,
}

#[derive(Copy, Clone, Debug, PartialEq)]
enum Kind {
    /// They are as they will be.
    Perfect,
    /// They are as at the same time of the day before.
    Yesterday,
    /// They are as they will be, times 1 and an error of this standard deviation.
    Error(f64),
}

/// Values, each times its factor in millionths.
#[derive(Debug, Default)]
struct Drawn {
    /// The true values.
    curve: Option<Curve>,
    /// When each step begins, its value, and the integral up to it.
    steps: Vec<(Time, I256, I256)>,
    until: Time,
}

/// What is believed at an instant of the values of one pool.
#[derive(Copy, Clone, Debug)]
pub struct Outlook<'a> {
    values: &'a Values,
    kind: Kind,
    /// The end of the present step: up to there all is known.
    known: Time,
    /// The value of that step.
    present: i64,
    /// From here on no errors are drawn.
    farthest: Time,
    drawn: Option<&'a Drawn>,
}

impl FromStr for Kind {
    type Err = NamedError;

    fn from_str(written: &str) -> Result<Self, NamedError> {
        let mut named: Named = written.parse()?;
        let bad = |named: &Named| NamedError::bad_value(&named.name, "forecast", written, "a forecast");
        let kind = match named.name.as_str() {
            "perfect" => Self::Perfect,
            "yesterday" => Self::Yesterday,
            "error" => {
                let deviation = named.take_within("deviation", 0.0..=10.0, "a number from 0 to 10")?;
                Self::Error(deviation.ok_or_else(|| bad(&named))?)
            }
            _ => return Err(bad(&named)),
        };
        named.finish(&["deviation"])?;
        Ok(kind)
    }
}

impl Forecast {
    /// The description of the parameter.
    pub const PARAM: ParamInfo = ParamInfo {
        key: "forecast",
        values: "perfect, yesterday or error[deviation=0.05]",
        default: "perfect",
        doc: "what the broker believes of values beyond the present step: what they will be; those of the same time of the day before; or what they will be times a random factor of mean 1 and this standard deviation",
    };

    /// Takes the parameter out of a policy's name. Errors are drawn for this seed; `of` says what is forecast.
    ///
    /// # Errors
    /// [`NamedError::BadValue`] if it is wrong.
    pub fn take(named: &mut Named, seed: u64, of: &'static str) -> Result<Self, NamedError> {
        let kind = named.take(Self::PARAM.key, "`perfect`, `yesterday` or `error[deviation=0.05]`")?;
        Ok(Self { kind: kind.unwrap_or(Kind::Perfect), seed, of, ..Self::perfect() })
    }

    /// All is as it will be.
    pub const fn perfect() -> Self {
        Self { kind: Kind::Perfect, seed: 0, of: "", drawn: BTreeMap::new() }
    }

    /// Whether errors are drawn.
    pub(super) const fn draws(&self) -> bool {
        matches!(self.kind, Kind::Error(_))
    }

    /// Draws the errors for a pool at a site up to an instant, as seen from now. An [outlook](Self::outlook) that goes no farther needs no more.
    pub(super) fn draw(&mut self, now: Time, id: PoolId, site: &str, values: &Values, until: Time) {
        if let (Kind::Error(deviation), Values::Along(curve)) = (self.kind, values) {
            let until = until.min(now + FARTHEST);
            self.drawn.entry(id).or_default().draw(curve, until, |from| {
                let purpose = format!("forecast of {} from {}", self.of, from.micros());
                let error = 1.0 + deviation * Stream::new(self.seed, site, &purpose).normal();
                I256::from(libm::round(error.max(0.0) * ONE as f64) as i64)
            });
        }
    }

    /// What is believed now of the values of a pool.
    pub(super) fn outlook<'a>(&'a self, now: Time, pool: PoolId, values: &'a Values) -> Outlook<'a> {
        let (known, present) = match values {
            Values::Along(curve) if self.kind != Kind::Perfect => (curve.next_step(now), curve.at(now)),
            _ => (Time::NEVER, 0),
        };
        let drawn = self.drawn.get(&pool);
        Outlook { values, kind: self.kind, known, present, farthest: now + FARTHEST, drawn }
    }

    /// What stands for a value of 1 in integrals.
    pub(super) const fn one(&self) -> i64 {
        if self.draws() { ONE } else { 1 }
    }
}

impl Drawn {
    /// Goes on to an instant with these factors of the steps that begin then.
    fn draw(&mut self, curve: &Curve, until: Time, factor: impl Fn(Time) -> I256) {
        if self.curve.as_ref() != Some(curve) {
            *self = Self { curve: Some(curve.clone()), ..Self::default() };
        }
        while self.until < until {
            let from = self.until;
            let before = self.over(Time::ZERO, from);
            self.steps.push((from, I256::from(curve.at(from)) * factor(from), before));
            self.until = curve.next_step(from);
        }
    }

    /// The integral over a stretch up to which errors are drawn.
    fn over(&self, from: Time, to: Time) -> I256 {
        let before = |time: Time| {
            let at = self.steps.partition_point(|(start, ..)| *start <= time);
            let Some((start, value, before)) = at.checked_sub(1).map(|at| self.steps[at]) else {
                return I256::ZERO;
            };
            before + value * I256::from(time.since(start).micros())
        };
        before(to) - before(from)
    }
}

impl Outlook<'_> {
    /// The integral over a stretch from now or later on, in values × microseconds × [`Forecast::one`].
    pub(super) fn over(&self, from: Time, length: Span) -> I256 {
        let to = from + length;
        let (split, far) = (self.known.clamp(from, to), self.farthest.clamp(from, to));
        let truly = |from: Time, to: Time| self.values.over(from, to.since(from));
        match (self.kind, self.values) {
            (Kind::Yesterday, Values::Along(curve)) if split < to => {
                let beyond = |time: Time| self.of_the_day_before(curve, time.since(self.known));
                truly(from, split) + beyond(to) - beyond(split)
            }
            (Kind::Error(_), Values::Along(_)) => {
                let far = far.max(split);
                let drawn = self.drawn.map_or(I256::ZERO, |drawn| drawn.over(split, far));
                (truly(from, split) + truly(far, to)) * I256::from(ONE) + drawn
            }
            (Kind::Error(_), Values::Flat(_)) => self.values.over(from, length) * I256::from(ONE),
            _ => self.values.over(from, length),
        }
    }

    /// The least integral over a stretch of this length that begins from `earliest` to `latest`, and its first beginning. Between the steps at its ends an
    /// integral grows or falls evenly, so that it is least where one of them is a step, or at either end.
    pub(super) fn least(&self, earliest: Time, latest: Time, length: Span) -> (I256, Time) {
        let begin = (self.over(earliest, length), earliest);
        if latest <= earliest {
            return begin;
        }
        let steps = |from: Time| {
            let next = move |time: &Time| Some(self.next_step(*time)).filter(|next| *next < Time::NEVER);
            std::iter::successors(next(&from), next)
        };
        let at_end = steps(earliest + length).map(|end| Time::ZERO + end.since(Time::ZERO + length));
        let starts = steps(earliest).take_while(|start| *start < latest);
        let starts = starts.chain(at_end.take_while(|start| *start < latest)).chain([latest]);
        starts.map(|start| (self.over(start, length), start)).fold(begin, Ord::min)
    }

    /// Days that are as the one before the end of the present step: the integral over so much of them. Where that day begins before the
    /// run, the present value stands for what was there.
    fn of_the_day_before(&self, curve: &Curve, length: Span) -> I256 {
        let part = |length: Span| {
            let (before, begin) = self.day();
            let missing = length.micros().min(before.micros());
            let rest = Span::from_micros(length.micros() - missing);
            I256::from(self.present) * I256::from(missing) + I256::from(curve.over(begin, begin + rest))
        };
        let (days, rest) = (length.micros() / DAY.micros(), length.micros() % DAY.micros());
        I256::from(days) * part(DAY) + part(Span::from_micros(rest))
    }

    /// How much of the day before the end of the present step lies before the run, and when the rest begins.
    fn day(&self) -> (Span, Time) {
        let before = DAY.micros().saturating_sub(self.known.micros());
        (Span::from_micros(before), Time::from_micros(self.known.micros().saturating_sub(DAY.micros())))
    }

    /// When the value that is believed may change next after an instant.
    pub(super) fn next_step(&self, after: Time) -> Time {
        let Values::Along(curve) = self.values else { return Time::NEVER };
        if self.kind != Kind::Yesterday || after < self.known {
            return curve.next_step(after);
        }
        let (before, begin) = self.day();
        let of_day = after.since(self.known).micros() % DAY.micros();
        let next = if of_day < before.micros() {
            before.micros()
        } else {
            let of_curve = begin + Span::from_micros(of_day - before.micros());
            of_day + curve.next_step(of_curve).since(of_curve).micros()
        };
        after + Span::from_micros(next.min(DAY.micros()) - of_day)
    }
}
