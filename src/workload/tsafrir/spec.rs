//! The specification of the model.

use super::histogram::HEAD;
use crate::model::NamedError;
use crate::units::Span;
use crate::workload::spec::spec_text;
use crate::workload::{Key, Reading, Setting, Spec};

/// The resolved model: `tsafrir[max=36h]`.
#[derive(Clone, Debug, PartialEq)]
pub struct TsafrirSpec {
    /// The longest estimate that the machine accepts: whole seconds, at least an hour.
    pub max: Span,
    /// The number of distinct values, instead of the one that follows from the number of jobs.
    pub values: Option<u32>,
    /// Share of the jobs that use one of the twenty most popular values.
    pub head: f64,
    /// Share of the jobs at the limit, instead of the share that the other popular values leave.
    pub max_share: Option<f64>,
    /// The popular values below the limit, at most nineteen; round ones are added until there are as many.
    pub popular: Vec<Span>,
    /// A seed of its own; the estimates then depend neither on the run's seed nor on the owner of the jobs.
    pub seed: Option<u64>,
}

/// The values that were popular in all four logs of the paper, in minutes.
const USUAL: [u64; 15] = [5, 10, 15, 20, 30, 60, 120, 180, 240, 300, 360, 480, 600, 720, 1_080];

const SHARE: &str = "a share from 0 to 1";
const HEAD_SHARE: &str = "a share from 0.7 to 1";
const MAX: &str = "a whole number of seconds of at least 1 h, such as `36h`";
const VALUES: &str = "a number of values from 1 to 100000";
const SEED: &str = "a whole number from 0 to 18446744073709551615";
const POPULAR: &str = "at most 19 durations of whole seconds below `max`, such as `5min/1h/12h`";

impl TsafrirSpec {
    /// The model as published, for a machine that accepts estimates up to `max`.
    pub fn new(max: Span) -> Self {
        let popular = USUAL.iter().map(|minutes| Span::from_secs(60 * minutes)).filter(|value| *value < max);
        Self { max, values: None, head: 0.89, max_share: None, popular: popular.collect(), seed: None }
    }

    fn read_popular(&mut self, reading: &mut Reading) -> Result<(), NamedError> {
        let Some(written) = reading.take::<String>("popular", POPULAR)? else { return Ok(()) };
        let values: Result<Vec<Span>, _> = written.split('/').map(str::parse).collect();
        self.popular = values.map_err(|_| Self::bad("popular", &written, POPULAR))?;
        self.popular.sort_unstable();
        self.popular.dedup();
        Ok(())
    }
}

impl Spec for TsafrirSpec {
    const NAME: &'static str = "tsafrir";

    const KEYS: &'static [Key<Self>] = &[
        Setting::new(
            "max",
            "",
            "the longest estimate that the machine accepts, such as `36h`; must be given",
        )
        .own(
            |s, reading| {
                let given = reading.take("max", MAX)?;
                let missing = "optional: give the longest estimate that the machine accepts";
                *s = Self::new(given.ok_or_else(|| Self::bad("max", "", missing))?);
                Ok(())
            },
            |s| Some(s.max.to_string()),
        ),
        Setting::new("values", "", "number of distinct values, instead of what the number of jobs suggests")
            .field(VALUES, |s| &mut s.values),
        Setting::new("head", "0.89", "share of the jobs that use one of the twenty most popular values")
            .field(HEAD_SHARE, |s| &mut s.head),
        Setting::new(
            "max-share",
            "",
            "share of the jobs at the limit, instead of what the other popular values leave",
        )
        .field(SHARE, |s| &mut s.max_share),
        Setting::new(
            "popular",
            "",
            "popular values below the limit, such as `5min/1h/12h`, instead of the usual ones",
        )
        .own(Self::read_popular, |s| (!s.popular.is_empty()).then(|| popular(&s.popular))),
        Setting::new("seed", "", "a seed of its own, instead of the run's").field(SEED, |s| &mut s.seed),
    ];

    fn unread() -> Self {
        Self::new(Span::ZERO)
    }

    fn check(&self) -> Result<(), NamedError> {
        // Up to a century, so that no sum of estimates overflows.
        let range = Span::from_secs(3_600)..=Span::from_secs(3_155_760_000);
        if !range.contains(&self.max) || !is_whole(self.max) {
            return Err(Self::bad("max", self.max, MAX));
        }
        if self.values.is_some_and(|values| !(1..=100_000).contains(&values)) {
            return Err(Self::bad("values", self.values.unwrap_or(0), VALUES));
        }
        if !(0.7..=1.0).contains(&self.head) {
            return Err(Self::bad("head", self.head, HEAD_SHARE));
        }
        if let Some(share) = self.max_share
            && !(0.0..=self.head).contains(&share)
        {
            return Err(Self::bad("max-share", share, &format!("a share from 0 to `head={}`", self.head)));
        }
        let ascending = self.popular.windows(2).all(|pair| pair[0] < pair[1]);
        let possible = |value: &Span| !value.is_zero() && *value < self.max && is_whole(*value);
        if self.popular.len() >= HEAD || !ascending || !self.popular.iter().all(possible) {
            return Err(Self::bad("popular", popular(&self.popular), POPULAR));
        }
        Ok(())
    }
}

spec_text!(TsafrirSpec);

fn is_whole(span: Span) -> bool {
    span.micros().is_multiple_of(Span::SECOND.micros())
}

fn popular(values: &[Span]) -> String {
    values.iter().map(Span::to_string).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::spec::assert_defaults;

    #[test]
    fn what_is_written_out_reads_back_as_itself() {
        for written in
            ["tsafrir[max=36h]", "tsafrir[max=2h,values=30,head=0.9,max-share=0.4,popular=1h/5min/90s]"]
        {
            let spec: TsafrirSpec = written.parse().unwrap();
            assert_eq!(spec.to_string().parse(), Ok(spec));
        }
    }

    #[test]
    fn defaults_are_those_of_the_table() {
        assert_defaults::<TsafrirSpec>("tsafrir[max=36h]", &["max", "popular"]);
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_what_would() {
        for (written, said) in [
            ("tsafrir", "not optional"),
            ("tsafrir[max=10min]", "at least 1 h"),
            ("tsafrir[max=3601.5]", "a whole number of seconds"),
            ("tsafrir[max=36h,value=3]", "did you mean `values`?"),
            ("tsafrir[max=36h,values=0]", "from 1 to"),
            ("tsafrir[max=36h,head=0.5]", "from 0.7 to 1"),
            ("tsafrir[max=36h,max-share=0.95]", "a share from 0 to `head=0.89`"),
            ("tsafrir[max=36h,max-share=nan]", "a share from 0"),
            ("tsafrir[max=36h,popular=1h/36h]", "below `max`"),
            ("tsafrir[max=36h,popular=soon]", "such as `5min/1h/12h`"),
            ("lublin[max=36h]", "not of the form"),
        ] {
            let error = written.parse::<TsafrirSpec>().unwrap_err().to_string();
            assert!(error.contains(said), "{written}: {error}");
        }
    }
}
