//! Changes of the load of a workload by a factor on its gaps.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Shape, ShapeError, Shaped, decimal, mark_error, own_state, with_state};
use crate::model::{Job, saved_as_text};
use crate::units::Time;
use crate::workload::{Mark, Source, SourceError};

/// A positive rational number.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Factor {
    num: u64,
    den: u64,
}

impl Factor {
    /// The factor 1, which changes nothing.
    pub const ONE: Self = Self { num: 1, den: 1 };

    const EXPECTED: &'static str = "a factor from 0.000001 to 1000000, such as `0.8`, `1.25` or `2/3`";

    /// Creates `num / den` in lowest terms; `None` if it is not from 10⁻⁶ to 10⁶.
    pub fn new(num: u64, den: u64) -> Option<Self> {
        let (wide_num, wide_den) = (u128::from(num), u128::from(den));
        if den == 0 || wide_num * 1_000_000 < wide_den || wide_num > wide_den * 1_000_000 {
            return None;
        }
        let (mut a, mut b) = (num, den);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        Some(Self { num: num / a, den: den / a })
    }

    /// The factor nearest to `value` in steps of 10⁻⁹; `None` if it is not from 10⁻⁶ to 10⁶.
    pub fn from_f64(value: f64) -> Option<Self> {
        let billionths = libm::round(value * 1e9);
        (1.0..=1e15).contains(&billionths).then(|| Self::new(billionths as u64, 1_000_000_000)).flatten()
    }

    /// One over the factor.
    #[must_use]
    pub const fn inverse(self) -> Self {
        Self { num: self.den, den: self.num }
    }

    /// The factor as a floating-point number, for display and statistics only.
    pub fn as_f64(self) -> f64 {
        self.num as f64 / self.den as f64
    }

    /// `micros` times the factor, to the nearest microsecond; `None` if the result is beyond the time axis.
    fn scale(self, micros: u64) -> Option<u64> {
        let den = u128::from(self.den);
        u64::try_from((u128::from(micros) * u128::from(self.num) + den / 2) / den).ok()
    }
}

impl FromStr for Factor {
    type Err = ShapeError;

    fn from_str(written: &str) -> Result<Self, ShapeError> {
        let parsed = match written.split_once('/') {
            Some((num, den)) => num.parse().ok().zip(den.parse().ok()),
            None => decimal(written),
        };
        parsed
            .and_then(|(num, den)| Self::new(num, den))
            .ok_or_else(|| ShapeError::new(written, Self::EXPECTED))
    }
}

impl fmt::Display for Factor {
    /// Writes a decimal number if that is exact in nine places, else a fraction.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if 1_000_000_000 % self.den == 0 {
            let billionths = u128::from(self.num) * u128::from(1_000_000_000 / self.den);
            let text = format!("{}.{:09}", billionths / 1_000_000_000, billionths % 1_000_000_000);
            f.pad(text.trim_end_matches('0').trim_end_matches('.'))
        } else {
            f.pad(&format!("{}/{}", self.num, self.den))
        }
    }
}

saved_as_text!(Factor);

/// A source whose gaps between submissions are multiplied: the usual way to change the load of a log. A factor of 0.5
/// doubles the load.
///
/// The first submission stays. Each submission is scaled from the log, not from the one before, so that rounding
/// errors do not accumulate. Run times and think times stay, and so do the times from a submission to the requested
/// start and to commands; with feedback, apply this before [`crate::workload::Feedback`].
pub type Scaled = Shaped<Scaling>;

/// The factor on the gaps, and the submission that they are counted from.
pub struct Scaling {
    factor: Factor,
    first: Option<Time>,
}

impl Scaled {
    /// Multiplies all gaps of `inner` by `factor`.
    pub fn new(inner: Box<dyn Source>, factor: Factor) -> Self {
        Self { inner, shape: Scaling { factor, first: None } }
    }
}

impl Shape for Scaling {
    fn moved(&mut self, submit: Time) -> Result<Time, SourceError> {
        let first = *self.first.get_or_insert(submit);
        let gap = self.factor.scale(submit.since(first).micros());
        gap.and_then(|gap| first.micros().checked_add(gap))
            .map(Time::from_micros)
            .filter(|time| *time < Time::NEVER)
            .ok_or_else(|| SourceError::Read {
                place: "load scaling".to_owned(),
                problem: format!("a submission at {submit} s times {} is beyond the time axis", self.factor),
                hint: "use a smaller factor".to_owned(),
            })
    }

    fn apply(&mut self, job: &mut Job) -> Result<(), SourceError> {
        let submit = self.moved(job.submit)?;
        job.resubmit(submit);
        Ok(())
    }

    fn mark(&self, inner: Mark) -> Option<Mark> {
        with_state(inner, &(self.factor, self.first))
    }

    fn seek(&mut self, mark: &Mark) -> Result<Mark, SourceError> {
        let ((factor, first), inner): ((Factor, _), _) = own_state("load scaling", mark)?;
        if factor != self.factor {
            return Err(mark_error("load scaling", &format!("the mark was made with the factor {factor}")));
        }
        self.first = first;
        Ok(inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Elastic, ElasticCommand};
    use crate::units::Span;
    use crate::workload::Jobs;

    #[test]
    fn factors_are_exact() {
        for (written, shown) in [("0.8", "0.8"), ("2/3", "2/3"), ("4/6", "2/3"), ("1", "1"), ("10/8", "1.25")]
        {
            assert_eq!(written.parse::<Factor>().unwrap().to_string(), shown);
        }
        for written in
            ["", "0", "-1", "1/0", "0/1", "1e3", "0.0000001", "1000001", "1/2/3", "99999999999999999999"]
        {
            assert!(written.parse::<Factor>().is_err(), "{written}");
        }
        assert_eq!(Factor::from_f64(0.8), "0.8".parse().ok());
        assert_eq!(Factor::from_f64(f64::NAN), None);
        assert_eq!("1.2".parse::<Factor>().unwrap().inverse().to_string(), "5/6");
    }

    #[test]
    fn gaps_scale_about_the_first_submission() {
        let jobs = [100, 103, 110].map(|at| Job::rigid(at, Time::from_secs(at), 1, Span::SECOND));
        let mut scaled = Scaled::new(Box::new(Jobs::new(jobs.to_vec())), "1/3".parse().unwrap());
        let mut submits = Vec::new();
        while let Some(time) = scaled.peek_time().unwrap() {
            assert_eq!(scaled.next_job().unwrap().unwrap().submit, time);
            submits.push(time.micros());
        }
        assert_eq!(submits, [100_000_000, 101_000_000, 103_333_333]);
    }

    #[test]
    fn starts_and_commands_keep_their_distance_from_the_submission() {
        let at = Time::from_secs;
        let command = |secs| ElasticCommand { at: at(secs), change: Elastic::ExtendProcs(1) };
        let first = Job::rigid(1, at(100), 1, Span::SECOND);
        let mut second = Job::rigid(2, at(110), 1, Span::SECOND);
        (second.requested_start, second.elastic) = (Some(at(130)), Some([command(110), command(150)].into()));
        let mut scaled = Scaled::new(Box::new(Jobs::new(vec![first, second])), "0.5".parse().unwrap());
        scaled.next_job().unwrap();
        let second = scaled.next_job().unwrap().unwrap();
        assert_eq!((second.submit, second.requested_start), (at(105), Some(at(125))));
        assert_eq!(second.elastic.as_deref(), Some(&[command(105), command(145)][..]));
    }
}
