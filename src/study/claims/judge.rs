//! The verdicts on claims.

use serde::Serialize;

use super::several::{of_points, of_several};
use super::words::{Reading, deciding, reason};
use super::{Claim, Expects, Measured, Sample};
use crate::study::statistics::{DRAWS, Effect, Evidence, Week, WeekBootstrap, block_bootstrap};
use crate::workload::random::Stream;

/// The chance that a verdict is wrong at a point: intervals are of `1 - ERROR`, and a printed gain with a tail probability below
/// `ERROR` is not one of the seeds'.
pub const ERROR: f64 = 0.01;

/// The tail probability from which on a printed gain is an ordinary one among those of the seeds.
pub const ORDINARY: f64 = 0.05;

/// The verdict on a claim.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The claim holds at every point.
    Holds,
    /// The claim fails at one point or more.
    Fails,
    /// An order that does not fail: at one point or more the difference, if any, is below the stated one, and it holds at the others.
    NoDifference,
    /// Neither: there is too little evidence at some point.
    Undecided,
    /// Data on which the claim was published is missing.
    NotComparable,
    /// Not judged: its runs were chosen by their results.
    Shown,
}

impl Verdict {
    /// All verdicts, in the order in which they are counted.
    pub const ALL: [Self; 6] =
        [Self::Holds, Self::Fails, Self::NoDifference, Self::Undecided, Self::NotComparable, Self::Shown];

    /// The verdict as it is printed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::NoDifference => "no difference",
            Self::Undecided => "undecided",
            Self::NotComparable => "not comparable",
            Self::Shown => "shown",
        }
    }
}

/// A claim with its verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// The verdict on the claim.
    pub verdict: Verdict,
    /// The measurements in short.
    pub measured: String,
    /// The interval of the point that decides, or the tail probability of a printed gain; empty if there is none.
    pub evidence: String,
    /// Where it fails, or what is missing; empty if there is nothing to add.
    pub reason: String,
    /// The points at which the claim was judged.
    pub points: Vec<JudgedPoint>,
}

/// The result at one point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgedPoint {
    /// The point, with the measure if the claim is about each of several.
    pub at: String,
    /// The point alone.
    #[serde(skip)]
    pub place: String,
    /// The index of its measure among those of the claim.
    #[serde(skip)]
    pub measure: usize,
    /// The name of that measure, if the claim is about each of several; otherwise empty.
    #[serde(skip)]
    pub of_measure: String,
    /// Pairs, or runs; 1 if nothing in them is drawn, so that all are the same.
    pub n: usize,
    /// Weeks with jobs, where the interval is from those of one log.
    pub weeks: Option<usize>,
    /// Mean of `of`.
    pub of: Option<f64>,
    /// Mean of `than`.
    pub than: Option<f64>,
    /// The interval: of the difference as a share of `than`, of the mean, or of 95 of 100 gains.
    pub interval: Option<(f64, f64)>,
    /// The tail probability of a printed gain.
    pub tail: Option<f64>,
    /// The result.
    pub says: Says,
    /// The number of pairs in which the statement is true: the published order, or a gain as high.
    pub pairs_so: Option<usize>,
    /// A remark on the point.
    pub note: Option<String>,
}

/// The result of a claim at one point.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Says {
    /// The claim holds here.
    Holds,
    /// It fails here.
    Fails,
    /// The difference is smaller than the stated one.
    NoDifference,
    /// Neither is shown.
    Open,
    /// There are fewer seeds, or weeks of a log, than a verdict needs.
    Few,
    /// One run of one log, and no interval: whether the statement is true in it.
    OneRun(bool),
    /// There is no mean.
    NoMean,
}

/// Gives the verdict on a claim.
///
/// The claim holds if it holds at each of its points, each tested at its own level: an intersection-union test, whose error
/// is that of one point (R. L. Berger, Technometrics 24, 1982). It fails if it fails at any point, at a level that is
/// corrected for their number (Bonferroni). That a statement is true in at least n of m measures is shown where n of them show it at a level
/// corrected for m - n + 1 (a partial conjunction: Y. Benjamini and R. Heller, Biometrics 64, 2008).
///
/// A claim on one very log ([`Claim::on_this_log`]) compares two numbers as they are.
///
/// Where nothing in the runs of a sample is drawn at random, they replay logs unchanged. A number is then exact: it is the
/// published one or not. The difference of two means over jobs has an interval from the weeks of the log, where the sample has
/// them. Everywhere else intervals are those of the paired t test, of seeds that begin at dates of their own those of a series, and need 30
/// seeds.
pub fn judge(claim: &Claim, measured: &Measured) -> Judgement {
    let samples = match measured {
        Measured::Samples(samples) => samples,
        Measured::Missing(why) => {
            let parts = claim.not_comparable.iter().chain([why]).filter(|part| !part.is_empty());
            return Judgement {
                verdict: Verdict::NotComparable,
                measured: "-".to_owned(),
                evidence: String::new(),
                reason: parts.map(String::as_str).collect::<Vec<_>>().join("; "),
                points: Vec::new(),
            };
        }
    };
    let at_least = claim.at_least.unwrap_or(claim.measures.len());
    let spare = claim.measures.len().saturating_sub(at_least) + 1;
    let levels = Levels { for_it: ERROR / spare as f64, against: ERROR / samples.len() as f64 };
    let points: Vec<JudgedPoint> = samples.iter().map(|sample| point(claim, sample, levels)).collect();
    let verdict = match (claim.expects, claim.at_least) {
        _ if claim.best.is_some() => Verdict::Shown,
        (Expects::Shown { .. }, _) => Verdict::NotComparable,
        (_, Some(least)) => of_several(&points, least),
        (_, None) => of_points(points.iter().map(|point| point.says)),
    };
    let reading = Reading { claim, verdict, points: &points };
    let (measured, evidence, reason) = (reading.measured(), deciding(&reading), reason(&reading));
    Judgement { verdict, measured, evidence, reason, points }
}

/// The levels at which a point is tested.
#[derive(Copy, Clone)]
struct Levels {
    /// The chance that it is taken for the claim wrongly.
    for_it: f64,
    /// The chance that it is taken against it wrongly.
    against: f64,
}

fn point(claim: &Claim, sample: &Sample, levels: Levels) -> JudgedPoint {
    // The mean of copies is the value of one, to its last digit.
    let mean = |values: &[f64]| match (values.first(), sample.one_run) {
        (Some(value), true) => Some(*value),
        (first, _) => first.map(|_| values.iter().sum::<f64>() / values.len() as f64),
    };
    let (of, than) = (mean(&sample.of), mean(&sample.than));
    let pairs_so = if sample.one_run { None } else { pairs_so(claim.expects, sample) };
    let mut point = JudgedPoint {
        at: sample.full_at(),
        place: sample.at.clone(),
        measure: sample.measure,
        of_measure: sample.of_measure.clone(),
        n: if sample.one_run { sample.of.len().min(1) } else { sample.of.len() },
        weeks: None,
        of,
        than,
        interval: None,
        tail: None,
        says: Says::NoMean,
        pairs_so,
        note: sample.note.clone(),
    };
    let Some(mean) = of else { return point };
    point.says = Says::Open;
    let seeds = sample.of.len();
    let enough = Evidence::of_seeds(seeds) == Evidence::Verdict;
    if let Some((published, range)) = claim.range(sample.measure) {
        if sample.one_run {
            let same = match claim.expects {
                Expects::Value { tolerance, .. } => (mean - published).abs() <= tolerance,
                _ => mean >= range.0 && mean <= range.1,
            };
            point.says = if same { Says::Holds } else { Says::Fails };
        } else {
            let interval = |error| {
                sample.draws.mean_interval(&sample.of, 1.0 - error).map(|found| (found.low, found.high))
            };
            point.interval = interval(ERROR);
            point.says = match interval(levels.for_it).zip(interval(levels.against)) {
                _ if !enough => Says::Few,
                Some((at, _)) if at.0 >= range.0 && at.1 <= range.1 => Says::Holds,
                Some((_, at)) if at.1 < range.0 || at.0 > range.1 => Says::Fails,
                _ => Says::Open,
            };
        }
        return point;
    }
    match claim.expects {
        Expects::Shown { .. } => {}
        Expects::UpTo { .. } if sample.one_run => point.says = Says::Few,
        Expects::UpTo { published } => {
            let tail = tail(&sample.of, published);
            (point.interval, point.tail) = (spread(&sample.of), Some(tail));
            point.says = match tail {
                // As many seeds as a gain beyond all of them needs to be ruled out.
                _ if 2.0 / (seeds as f64 + 1.0) >= ERROR => Says::Few,
                tail if tail < ERROR => Says::Fails,
                tail if tail >= ORDINARY => Says::Holds,
                _ => Says::Open,
            };
        }
        expects => {
            let limits = Limits::of(expects);
            let of_gain = !claim.gain_over.is_empty() && !limits.is_order;
            if of_gain && than.is_some_and(|than| than <= 0.0) {
                point.says = Says::NoMean;
                point.note = Some("there is no gain of which this would be a share".to_owned());
                return point;
            }
            if claim.on_this_log {
                point.says =
                    than.map_or(Says::NoMean, |than| limits.compare(mean, than, claim.no_difference));
                return point;
            }
            if sample.one_run && sample.weeks.is_none() {
                point.says = Says::OneRun(limits.are_kept(mean, than.unwrap_or(f64::NAN)));
                return point;
            }
            let differences = Differences { sample };
            let plain = differences.beyond(0.0, ERROR);
            point.weeks =
                sample.weeks.as_deref().map(|weeks| weeks.iter().filter(|week| week.both()).count());
            point.interval = plain
                .filter(|found| found.mean_a != 0.0)
                .map(|found| (found.low / found.mean_a, found.high / found.mean_a));
            let evidence = Evidence::of_seeds(point.weeks.unwrap_or(seeds));
            point.says = match plain {
                Some(_) if evidence == Evidence::Verdict => {
                    limits.judge(&differences, levels, claim.no_difference)
                }
                _ => Says::Few,
            };
        }
    }
    point
}

/// The range in which a change from `than` to `of`, as a share of `than`, is as stated; an order excludes zero.
struct Limits {
    from: Option<f64>,
    to: Option<f64>,
    is_order: bool,
}

impl Limits {
    fn of(expects: Expects) -> Self {
        let is_order = expects.is_order();
        let (from, to) = match expects {
            Expects::Below | Expects::Falling => (None, Some(0.0)),
            Expects::Above | Expects::Rising => (Some(0.0), None),
            Expects::Change { from, to } => (from, to),
            _ => (None, None),
        };
        Self { from, to, is_order }
    }

    /// True if two values are as stated, without regard to their errors.
    fn are_kept(&self, of: f64, than: f64) -> bool {
        let change = of - than;
        change.is_finite()
            && !(self.is_order && change == 0.0)
            && self.from.is_none_or(|from| change >= from * than)
            && self.to.is_none_or(|to| change <= to * than)
    }

    /// The result of two numbers as they are. An order whose sides differ by no more than `no_difference` of `than` is none.
    fn compare(&self, of: f64, than: f64, no_difference: Option<f64>) -> Says {
        let least = no_difference.unwrap_or(0.0) * than.abs();
        match self.are_kept(of, than) {
            _ if self.is_order && (of - than).abs() <= least => Says::NoDifference,
            true => Says::Holds,
            false => Says::Fails,
        }
    }

    /// The result of a sample, at its `levels`.
    ///
    /// A ratio of means has no interval of its own: `change >= from` is `of - (1 + from) than >= 0`, whose mean has one
    /// (Fieller's argument).
    fn judge(&self, differences: &Differences<'_>, levels: Levels, no_difference: Option<f64>) -> Says {
        let Levels { for_it, against: strict } = levels;
        // An order says that there is a difference: an interval that ends at zero does not show one.
        let least = if self.is_order { f64::MIN_POSITIVE } else { 0.0 };
        let above = |share, error| differences.beyond(share, error).is_some_and(|found| found.low >= least);
        let below = |share, error| differences.beyond(share, error).is_some_and(|found| found.high <= -least);
        if self.from.is_none_or(|from| above(from, for_it)) && self.to.is_none_or(|to| below(to, for_it)) {
            return Says::Holds;
        }
        let out = |found: Option<Effect>, is_out: fn(&Effect) -> bool| found.as_ref().is_some_and(is_out);
        if self.from.is_some_and(|from| out(differences.beyond(from, strict), |found| found.high < 0.0))
            || self.to.is_some_and(|to| out(differences.beyond(to, strict), |found| found.low > 0.0))
        {
            return Says::Fails;
        }
        match no_difference {
            Some(d) if above(-d, for_it) && below(d, for_it) => Says::NoDifference,
            _ => Says::Open,
        }
    }
}

/// The differences of a sample: by seed, or week by week of one log.
struct Differences<'a> {
    sample: &'a Sample,
}

impl Differences<'_> {
    /// The difference between `of` and `1 + share` times `than`, with its interval of `1 - error`.
    fn beyond(&self, share: f64, error: f64) -> Option<Effect> {
        let level = 1.0 - error;
        let Some(weeks) = &self.sample.weeks else {
            let scaled: Vec<f64> = self.sample.than.iter().map(|than| (1.0 + share) * than).collect();
            return self.sample.draws.paired(&scaled, &self.sample.of, level);
        };
        let scaled: Vec<Week> =
            weeks.iter().map(|week| Week { sum_a: (1.0 + share) * week.sum_a, ..*week }).collect();
        // The same weeks are drawn for each share.
        let mut stream = Stream::new(1, "claims", &self.sample.at);
        block_bootstrap(&scaled, level, DRAWS, &mut stream).map(|WeekBootstrap { effect, .. }| effect)
    }
}

/// The number of pairs with the published order, or of seeds with a gain as high; `None` for other claims.
fn pairs_so(expects: Expects, sample: &Sample) -> Option<usize> {
    let pairs = sample.of.iter().zip(&sample.than);
    match expects {
        Expects::Below => Some(pairs.filter(|(of, than)| of < than).count()),
        Expects::Above => Some(pairs.filter(|(of, than)| of > than).count()),
        Expects::UpTo { published } => Some(sample.of.iter().filter(|gain| **gain >= published).count()),
        _ => None,
    }
}

/// The tail probability of a published gain among those of the seeds: twice the share of runs that are as far out on its side,
/// where the published one counts as one more run. If the published run is one of their kind, this is below any `α` in at most
/// `α` of all cases.
pub(super) fn tail(gains: &[f64], published: f64) -> f64 {
    let above = gains.iter().filter(|gain| **gain >= published).count();
    let below = gains.iter().filter(|gain| **gain <= published).count();
    (2.0 * (above.min(below) + 1) as f64 / (gains.len() + 1) as f64).min(1.0)
}

/// The range of 95 of 100 gains.
fn spread(gains: &[f64]) -> Option<(f64, f64)> {
    let mut sorted = gains.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at =
        |share: f64| sorted.get((share * sorted.len().saturating_sub(1) as f64).round() as usize).copied();
    at(0.025).zip(at(0.975))
}
