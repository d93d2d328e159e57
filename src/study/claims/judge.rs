//! The verdicts on claims.

use serde::Serialize;

use super::words::{brief, measured_text, one_run, why};
use super::{Claim, Expects, Measured, Sample};
use crate::study::comparison::ALPHA;
use crate::study::statistics::{Evidence, holm, mean_interval, paired};
use crate::units::counted;

/// The verdict on a claim.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The claim holds at every point; a point without a mean makes it undecided.
    Holds,
    /// The claim fails at one point or more.
    Fails,
    /// The interval crosses a limit, or there is too little evidence.
    Undecided,
    /// Data on which the claim was published is missing.
    NotComparable,
}

impl Verdict {
    /// The verdict as it is printed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::Undecided => "undecided",
            Self::NotComparable => "not comparable",
        }
    }
}

/// A claim with its verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// The verdict on the claim.
    pub verdict: Verdict,
    /// The measurements, point by point.
    pub measured: String,
    /// The measurements in short.
    pub brief: String,
    /// The reason for the verdict.
    pub reason: String,
    /// The points at which the claim was judged.
    pub points: Vec<JudgedPoint>,
}

/// The result at one point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgedPoint {
    /// The point.
    pub at: String,
    /// Pairs, or runs; 1 if nothing in them is drawn, so that all are the same.
    pub n: usize,
    /// True if nothing in the runs is drawn.
    pub one_run: bool,
    /// Mean of `of`.
    pub of: Option<f64>,
    /// Mean of `than`.
    pub than: Option<f64>,
    /// The interval of the difference, of the change as a share, or of the mean.
    pub interval: Option<(f64, f64)>,
    /// The p value, corrected for all tests of the page.
    pub adjusted_p: Option<f64>,
    /// True if the claim holds here; `None` if that is undecided.
    pub holds: Option<bool>,
    /// True if there is a mean.
    pub counts: bool,
    /// For one run of one log, which has no interval: whether the statement is true in it.
    pub in_this_run: Option<bool>,
    /// The number of pairs in which the statement is true: the published order, or a gain as high.
    pub pairs_so: Option<usize>,
    /// The number of pairs with equal sides, where an order was published.
    pub pairs_alike: usize,
    /// True if there are too few seeds for a verdict.
    pub few: bool,
    /// A remark on the point.
    pub note: Option<String>,
}

impl JudgedPoint {
    /// A text about the point, which is named unless nothing varies.
    pub(super) fn located(&self, text: &str) -> String {
        if self.at.is_empty() { text.to_owned() } else { format!("{}: {text}", self.at) }
    }
}

/// Gives the verdicts on all claims of a page.
///
/// Where nothing in the runs of a sample is drawn at random, they replay logs unchanged, and a number is exact: it is the
/// published one or not. An order, a direction or a change between runs of one log is not exact: that log is one sample of
/// the workloads that the claim is about, one run of it has no interval, and the claim is undecided. Everywhere else a
/// verdict requires 30 seeds. A sign is judged by a paired t test, corrected by Holm over all such tests of the page; a range
/// or a number by an interval whose level is corrected for their number (Bonferroni). Where a page has tests of both kinds,
/// each kind has half of [`ALPHA`], so that chance makes any verdict wrong in at most 5 of 100 pages. A point without a mean
/// (its runs are unstable) is named, and a statement about every point is then undecided, unless it fails at another.
pub fn judge(claims: &[(&Claim, &Measured)]) -> Vec<Judgement> {
    let by_chance = |counts: &dyn Fn(&Claim) -> bool| {
        let claims = claims.iter().filter(|(claim, _)| counts(claim));
        let all = claims.flat_map(|(_, measured)| measured.samples());
        all.filter(|sample| sample.of.len() > 1 && !sample.one_run).count()
    };
    let signs = by_chance(&is_sign);
    let intervals = by_chance(&|claim| !is_sign(claim) && !matches!(claim.expects, Expects::Shown { .. }));
    let alpha = if signs > 0 && intervals > 0 { ALPHA / 2.0 } else { ALPHA };
    let level = 1.0 - alpha / intervals.max(1) as f64;
    let mut points: Vec<Vec<JudgedPoint>> = claims
        .iter()
        .map(|(claim, measured)| {
            measured.samples().iter().map(|sample| point(claim, sample, level)).collect()
        })
        .collect();
    let raw: Vec<f64> = points.iter().flatten().filter_map(|point| point.adjusted_p).collect();
    let mut adjusted = holm(&raw).into_iter();
    for point in points.iter_mut().flatten() {
        point.adjusted_p = point.adjusted_p.and_then(|_| adjusted.next());
        if point.adjusted_p.is_some_and(|p| p >= alpha) {
            point.holds = None;
        }
    }
    let tests = raw.len();
    let judged = claims.iter().zip(points).map(|((claim, measured), points)| match measured {
        Measured::Missing(why) => Judgement {
            verdict: Verdict::NotComparable,
            measured: "-".to_owned(),
            brief: "-".to_owned(),
            reason: why.clone(),
            points: Vec::new(),
        },
        Measured::Samples(_) => settle(claim, points, (tests, alpha)),
    });
    judged.collect()
}

pub(super) fn is_sign(claim: &Claim) -> bool {
    matches!(claim.expects, Expects::Below | Expects::Above | Expects::Falling | Expects::Rising)
}

/// The result of one point by itself. For a sign, `adjusted_p` is the raw p value, and `holds` is the result if that p value is
/// significant.
fn point(claim: &Claim, sample: &Sample, level: f64) -> JudgedPoint {
    // The mean of copies is the value of one, to its last digit.
    let mean = |values: &[f64]| match (values.first(), sample.one_run) {
        (Some(value), true) => Some(*value),
        (first, _) => first.map(|_| values.iter().sum::<f64>() / values.len() as f64),
    };
    let (of, than) = (mean(&sample.of), mean(&sample.than));
    let mut point = JudgedPoint {
        at: sample.at.clone(),
        n: if sample.one_run { sample.of.len().min(1) } else { sample.of.len() },
        one_run: sample.one_run,
        of,
        than,
        interval: None,
        adjusted_p: None,
        holds: None,
        counts: of.is_some(),
        in_this_run: None,
        pairs_so: None,
        pairs_alike: 0,
        few: false,
        note: sample.note.clone(),
    };
    let Some(mean) = of.filter(|_| !matches!(claim.expects, Expects::Shown { .. })) else { return point };
    if sample.one_run {
        // Other seeds would give the same run again.
        let so = Some(is_so(claim.expects, mean, than));
        match claim.expects {
            Expects::Value { .. } => point.holds = so,
            _ => point.in_this_run = so,
        }
        return point;
    }
    point.pairs_so = pairs_so(claim.expects, sample);
    if is_sign(claim) {
        point.pairs_alike = sample.of.iter().zip(&sample.than).filter(|(of, than)| of == than).count();
    }
    let judged = match claim.expects {
        Expects::Value { published, tolerance } => mean_interval(&sample.of, level).map(|found| {
            let interval = (found.low, found.high);
            (interval, inside(interval, (published - tolerance, published + tolerance)))
        }),
        Expects::UpTo { published } => gain_among(&sample.of, published, 1.0 - level),
        Expects::Change { from, to } => change(sample, from, to, level),
        _ => paired(&sample.than, &sample.of, 1.0 - ALPHA).map(|found| {
            point.adjusted_p = Some(found.p_value);
            let down = matches!(claim.expects, Expects::Below | Expects::Falling);
            let holds = if down { found.difference < 0.0 } else { found.difference > 0.0 };
            ((found.low, found.high), Some(holds))
        }),
    };
    if let Some((interval, holds)) = judged {
        (point.interval, point.holds) = (Some(interval), holds);
    }
    if Evidence::of_seeds(sample.of.len()) != Evidence::Verdict {
        (point.holds, point.adjusted_p, point.few) = (None, None, true);
    }
    point
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

/// True if two means agree with the statement, without regard to their errors.
fn is_so(expects: Expects, of: f64, than: Option<f64>) -> bool {
    let than = than.unwrap_or(f64::NAN);
    match expects {
        Expects::Value { published, tolerance } => (of - published).abs() <= tolerance,
        Expects::Below | Expects::Falling => of < than,
        Expects::Above | Expects::Rising => of > than,
        Expects::Change { from, to } => {
            let change = of - than;
            change.is_finite()
                && from.is_none_or(|from| change >= from * than)
                && to.is_none_or(|to| change <= to * than)
        }
        // Compared as it is printed, in hundredths of a percent.
        Expects::UpTo { published } => (of - published).abs() < 5e-5,
        Expects::Shown { .. } => true,
    }
}

/// Compares the published gain of a single run with those of the seeds: returns the range of 95 of 100 seeds, and whether
/// the published gain is consistent with them. The probability that one more run is as extreme as the published one is at
/// most twice the share of runs that are as extreme on the same side. If that is [`ALPHA`] or more, the gain is
/// consistent, whatever the number of other claims; if it is below `alpha`, which is corrected for their number, it is
/// not; between the two it is undecided.
pub(super) fn gain_among(gains: &[f64], published: f64, alpha: f64) -> Option<((f64, f64), Option<bool>)> {
    let mut sorted = gains.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (first, last) = (*sorted.first()?, *sorted.last()?);
    let at = |share: f64| sorted[(share * (sorted.len() - 1) as f64).round() as usize];
    let chance = 2.0 * (as_far_out(gains, published) + 1) as f64 / (sorted.len() + 1) as f64;
    let holds = if chance < alpha {
        Some(false)
    } else {
        (chance >= ALPHA && first <= published && published <= last).then_some(true)
    };
    Some(((at(0.025), at(0.975)), holds))
}

/// The number of gains that are as extreme as the published one, on the same side.
fn as_far_out(gains: &[f64], published: f64) -> usize {
    let above = gains.iter().filter(|gain| **gain >= published).count();
    let below = gains.iter().filter(|gain| **gain <= published).count();
    above.min(below)
}

/// Whether an interval lies in a range: inside, outside, or `None` if it crosses an end.
fn inside(interval: (f64, f64), range: (f64, f64)) -> Option<bool> {
    if interval.0 >= range.0 && interval.1 <= range.1 {
        Some(true)
    } else if interval.1 < range.0 || interval.0 > range.1 {
        Some(false)
    } else {
        None
    }
}

/// The change from `than` to `of` as a share: its interval, and whether it lies in the range.
///
/// A ratio of means has no interval of its own: `change >= from` is `of - (1 + from) than >= 0`, whose mean has one (Fieller's
/// argument). The printed interval is that of the difference, divided by the mean of `than`. An open end is no condition.
fn change(
    sample: &Sample,
    from: Option<f64>,
    to: Option<f64>,
    level: f64,
) -> Option<((f64, f64), Option<bool>)> {
    let beyond = |share: f64| {
        let scaled: Vec<f64> = sample.than.iter().map(|than| (1.0 + share) * than).collect();
        paired(&scaled, &sample.of, level)
    };
    let plain = beyond(0.0)?;
    let limits = [from, to].map(|share| share.map(beyond));
    if limits.contains(&Some(None)) {
        return None;
    }
    let [low, high] = limits.map(Option::flatten);
    let holds = if low.is_none_or(|low| low.low >= 0.0) && high.is_none_or(|high| high.high <= 0.0) {
        Some(true)
    } else if low.is_some_and(|low| low.high < 0.0) || high.is_some_and(|high| high.low > 0.0) {
        Some(false)
    } else {
        None
    };
    Some(((plain.low / plain.mean_a, plain.high / plain.mean_a), holds))
}

fn settle(claim: &Claim, points: Vec<JudgedPoint>, (tests, alpha): (usize, f64)) -> Judgement {
    let measured = measured_text(claim, &points);
    let brief = brief(claim, &points).unwrap_or_else(|| measured.clone());
    let (judged, without): (Vec<&JudgedPoint>, Vec<&JudgedPoint>) =
        points.iter().partition(|point| point.counts);
    let no_mean = without.iter().map(|point| {
        let why = point.note.as_deref().unwrap_or("no run has a value");
        let at = if point.at.is_empty() { String::new() } else { format!(" at {}", point.at) };
        format!("no mean{at}: {why}")
    });
    let odd = judged.iter().filter_map(|point| Some(point.located(point.note.as_deref()?)));
    let notes = no_mean.chain(odd);
    let failing: Vec<String> =
        judged.iter().filter(|point| point.holds == Some(false)).map(|point| why(claim, point)).collect();
    let open: Vec<&JudgedPoint> = judged.iter().copied().filter(|point| point.holds.is_none()).collect();
    let (verdict, reason) = if matches!(claim.expects, Expects::Shown { .. }) {
        (Verdict::NotComparable, String::new())
    } else if !failing.is_empty() {
        (Verdict::Fails, failing.join("; "))
    } else if !open.is_empty() {
        let (runs, tested): (Vec<&JudgedPoint>, Vec<&JudgedPoint>) =
            open.into_iter().partition(|point| point.in_this_run.is_some());
        let of_runs = (!runs.is_empty()).then(|| one_run(claim, &runs));
        let each = of_runs.into_iter().chain(tested.iter().map(|point| why(claim, point)));
        (Verdict::Undecided, each.collect::<Vec<_>>().join("; "))
    } else if judged.is_empty() {
        (Verdict::Undecided, String::new())
    } else if !without.is_empty() {
        // A statement about every load is not shown by one of them.
        let (judged, all) = (judged.len(), points.len());
        (Verdict::Undecided, format!("it holds at {judged} of {all} points, and the others have no mean"))
    } else if judged.iter().all(|point| point.one_run) {
        (Verdict::Holds, "one log: exact".to_owned())
    } else {
        let drawn: Vec<&&JudgedPoint> = judged.iter().filter(|point| !point.one_run).collect();
        let least = drawn.iter().map(|point| point.n).min().unwrap_or(0);
        let at = match (drawn.len(), judged.len()) {
            (_, 1) => String::new(),
            (drawn, all) if drawn == all => format!("at each of {all} points, "),
            (drawn, all) => {
                format!("at {} of {all} points one log: exact; at each of the others, ", all - drawn)
            }
        };
        let by = if let Expects::UpTo { .. } = claim.expects {
            "one of their kind".to_owned()
        } else if is_sign(claim) {
            format!("p < {alpha} after Holm over {}", counted(tests, "test"))
        } else {
            "the interval is inside".to_owned()
        };
        (Verdict::Holds, format!("{at}{}, {by}", counted(least, "seed")))
    };
    let reason = std::iter::once(reason).filter(|reason| !reason.is_empty()).chain(notes);
    let reason = reason.collect::<Vec<_>>().join("; ");
    Judgement { verdict, measured, brief, reason, points }
}
