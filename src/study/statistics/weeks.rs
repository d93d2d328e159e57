//! Resampling of a single log in blocks of whole weeks.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use super::student::{self, Effect};
use crate::workload::random::Stream;

/// The sums over the jobs submitted in one week, under both variants.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Week {
    /// Jobs that count under the first variant and under the second: the same number if they are compared job by job, and
    /// others if two groups of jobs are compared.
    pub jobs: [u64; 2],
    /// Sum of the measure over them under the first variant.
    pub sum_a: f64,
    /// Sum of the measure over the same jobs under the second variant.
    pub sum_b: f64,
}

impl AddAssign for Week {
    fn add_assign(&mut self, other: Self) {
        self.jobs = [self.jobs[0] + other.jobs[0], self.jobs[1] + other.jobs[1]];
        self.sum_a += other.sum_a;
        self.sum_b += other.sum_b;
    }
}

impl Week {
    fn total(weeks: &[Self]) -> Self {
        let mut total = Self::default();
        weeks.iter().for_each(|week| total += *week);
        total
    }

    /// True if jobs count under both variants.
    pub fn both(&self) -> bool {
        self.jobs.iter().all(|jobs| *jobs > 0)
    }

    /// The means over the jobs under both variants; `None` without jobs, or if a sum is not finite.
    fn means(self) -> Option<(f64, f64)> {
        let Self { jobs: [jobs_a, jobs_b], sum_a, sum_b } = self;
        (self.both() && sum_a.is_finite() && sum_b.is_finite())
            .then(|| (sum_a / jobs_a as f64, sum_b / jobs_b as f64))
    }
}

/// The difference `b - a` of the means over all jobs of one log.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WeekBootstrap {
    /// Weeks that contain jobs that count: only these are evidence.
    pub weeks: usize,
    /// Weeks in a block.
    pub block: usize,
    /// Jobs that count under the second variant.
    pub jobs: u64,
    /// The difference. Its p value is below 0.05 exactly where the interval of 95 % does not contain zero.
    pub effect: Effect,
}

/// Draws of a bootstrap: enough for a p value of 0.0002, that is, for 0.05 in a table of 250 cells.
pub const DRAWS: usize = 9_999;

/// The smallest number of blocks in a log.
const LEAST_BLOCKS: usize = 5;

/// Weeks in a block: more, the more consecutive weeks depend on each other.
///
/// At least the cube root of the weeks, the order that makes the error of the variance least (P. Hall, J. Horowitz, B.-Y. Jing,
/// Biometrika 82, 1995); more if the differences of neighbouring weeks are correlated, by the rule for a series of the first
/// order, `(√6 ρ / (1 - ρ²))^(2/3)` times as many (E. Carlstein, Annals of Statistics 14, 1986, with the constant of
/// overlapping blocks); at most a fifth of the log.
pub fn block_length(weeks: &[Week]) -> usize {
    let whole = Week::total(weeks);
    let (mean_a, mean_b) = whole.means().unwrap_or_default();
    // The difference of each week in excess of its jobs' share of the mean difference; `scale` makes up for groups of other sizes.
    let scale = if whole.both() { whole.jobs[1] as f64 / whole.jobs[0] as f64 } else { 1.0 };
    let over = |sum: f64, mean: f64, jobs: u64| sum - mean * jobs as f64;
    let excess: Vec<f64> = weeks
        .iter()
        .map(|w| over(w.sum_b, mean_b, w.jobs[1]) - scale * over(w.sum_a, mean_a, w.jobs[0]))
        .collect();
    let square: f64 = excess.iter().map(|x| x * x).sum();
    let product: f64 = excess.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let rho = if square > 0.0 { (product / square).clamp(0.0, 0.95) } else { 0.0 };
    let root = libm::cbrt(weeks.len() as f64);
    let correlated = libm::cbrt(libm::pow(2.449_489_742_783_178 * rho / (1.0 - rho * rho), 2.0)) * root;
    let most = (weeks.len() / LEAST_BLOCKS).max(1);
    (libm::ceil(root.max(correlated)) as usize).clamp(1, most.max(libm::ceil(root) as usize))
}

/// The difference of two means over the jobs of one log, paired by job, with an interval from a moving-block bootstrap
/// over weeks.
///
/// The jobs of a log are no independent samples: a job that waits makes others wait, and users come back day by day. So
/// whole weeks are drawn, and in blocks of consecutive weeks, which keep what one week does to the next (H. R. Künsch,
/// Annals of Statistics 17, 1989). `weeks` are in order of time; weeks without jobs count. A draw is a sequence of blocks
/// that begin anywhere, cut to the length of the log; its difference of means is one possible outcome. Draws are centred
/// on their own mean, since the first and the last weeks are in fewer blocks (S. N. Lahiri, Resampling Methods for
/// Dependent Data, 2003, section 2.5), and widened by the ratio of Student's quantile for this number of blocks to the
/// normal one: few blocks make intervals that are too narrow (T. Hesterberg, The American Statistician 69, 2015, section
/// 5, who calls this the expanded percentile interval). The p value inverts that interval: it follows from the level at
/// which zero is just outside.
///
/// The result holds for this log only: it shows how policies differ on such weeks, not on another machine.
///
/// Only weeks that contain jobs that count are evidence: a draw without such jobs has no mean, and if all of them lie in
/// one week, every other draw has the same difference.
///
/// `None` if the weeks with jobs form fewer than five blocks (so below 15 of them), or if a sum is not finite.
pub fn block_bootstrap(
    weeks: &[Week],
    level: f64,
    draws: usize,
    stream: &mut Stream,
) -> Option<WeekBootstrap> {
    let block = block_length(weeks);
    let with_jobs = weeks.iter().filter(|week| week.both()).count();
    if with_jobs / block < LEAST_BLOCKS || draws < 100 {
        return None;
    }
    let whole = Week::total(weeks);
    let (mean_a, mean_b) = whole.means()?;
    let difference = mean_b - mean_a;
    let mut drawn = Vec::with_capacity(draws);
    for _ in 0..draws {
        // A draw of weeks without a single job has no mean.
        drawn.extend(draw(weeks, block, stream).means().map(|(a, b)| b - a));
    }
    let centre = drawn.iter().sum::<f64>() / drawn.len() as f64;
    let blocks = with_jobs as f64 / block as f64;
    let widen = widening(blocks, level)?;
    let mut errors: Vec<f64> = drawn.into_iter().map(|drawn| drawn - centre).collect();
    errors.sort_by(f64::total_cmp);
    let outside = outside(1.0 - level, errors.len()).min(errors.len() / 2);
    let low = difference + widen * errors[outside];
    let high = difference + widen * errors[errors.len() - 1 - outside];
    let p_value = p_value(&errors, difference, blocks);
    let effect = Effect { mean_a, mean_b, difference, low, high, p_value };
    Some(WeekBootstrap { weeks: with_jobs, block, jobs: whole.jobs[1], effect })
}

/// Draws as many weeks as the log has, in blocks that begin anywhere.
fn draw(weeks: &[Week], block: usize, stream: &mut Stream) -> Week {
    let mut missing = weeks.len();
    let mut sum = Week::default();
    while missing > 0 {
        let from = stream.below((weeks.len() - block + 1) as u64) as usize;
        sum += Week::total(&weeks[from..from + block.min(missing)]);
        missing -= block.min(missing);
    }
    sum
}

/// The factor by which an interval from this number of blocks is wider than that of the bootstrap.
fn widening(blocks: f64, level: f64) -> Option<f64> {
    let normal = student::quantile(10_000_000, level)?;
    let few = student::quantile(blocks as usize, level)?;
    Some(few / normal * (blocks / (blocks - 1.0)).sqrt())
}

/// The number of draws outside at each end of an interval that misses a share of `alpha`: fewer than half of that share,
/// where the log itself counts as one more draw.
fn outside(alpha: f64, draws: usize) -> usize {
    // The level is 1 minus a decimal fraction, so the product may be slightly above the intended whole number.
    let rank = libm::ceil(alpha / 2.0 * (draws + 1) as f64 - 1e-9) as usize;
    rank.saturating_sub(2)
}

/// The smallest share that the interval around `difference` may miss without containing zero. `errors` are sorted.
fn p_value(errors: &[f64], difference: f64, blocks: f64) -> f64 {
    // Draws that are as far from the difference as zero is, on the side of zero.
    let beyond = |widen: f64| {
        let zero = -difference / widen;
        match difference > 0.0 {
            true => errors.partition_point(|error| *error <= zero),
            false => errors.len() - errors.partition_point(|error| *error < zero),
        }
    };
    let share = |count: usize| 2.0 * (count + 1) as f64 / (errors.len() + 1) as f64;
    let excluded = |alpha: f64| {
        let widen = widening(blocks, 1.0 - alpha).unwrap_or(f64::INFINITY);
        share(beyond(widen)) < alpha
    };
    // The wider the interval, the more draws are beyond zero, so there is exactly one level at which the answer changes.
    // An interval of less than one percent is a point, and its quantiles have few digits.
    let (mut holds, mut misses) = (share(0) / 2.0, 0.99);
    if difference == 0.0 || !excluded(misses) {
        return 1.0;
    }
    for _ in 0..60 {
        let middle = f64::midpoint(holds, misses);
        if excluded(middle) { misses = middle } else { holds = middle }
    }
    misses
}

#[cfg(test)]
mod tests {
    use super::super::paired;
    use super::*;

    fn bootstrap(weeks: &[Week], seed: u64) -> Option<WeekBootstrap> {
        block_bootstrap(weeks, 0.95, 499, &mut Stream::new(seed, "test", "bootstrap"))
    }

    /// Weeks of 100 jobs whose difference a job is an AR(1) series around `truth` with correlation 0.7.
    fn series(weeks: usize, truth: f64, stream: &mut Stream) -> Vec<Week> {
        let mut state = stream.normal() / (1.0_f64 - 0.49).sqrt();
        (0..weeks)
            .map(|_| {
                state = 0.7 * state + stream.normal();
                Week { jobs: [100; 2], sum_a: 500.0, sum_b: 500.0 + 100.0 * (truth + state) }
            })
            .collect()
    }

    #[test]
    fn blocks_follow_the_cube_root() {
        let flat = |weeks| block_length(&vec![Week { jobs: [2; 2], sum_a: 3.0, sum_b: 4.0 }; weeks]);
        assert_eq!([1, 8, 9, 10, 27, 47, 52, 64, 200].map(flat), [1, 2, 3, 3, 3, 4, 4, 4, 6]);
    }

    #[test]
    fn blocks_are_longer_where_weeks_are_correlated() {
        // The rule gives (2.449 x 0.7 / 0.51)^(2/3) x 1000^(1/3) = 22.4 for the true correlation.
        let weeks = series(1_000, 0.0, &mut Stream::new(8, "test", "series"));
        let length = block_length(&weeks);
        assert!((18..=27).contains(&length), "{length}");
    }

    #[test]
    fn means_are_over_jobs_and_not_over_weeks() {
        // One job waits 10 s longer in a week of 1 job, none in weeks of 9: 20 x 10 / (20 x 1 + 20 x 9) = 1 s.
        let pair =
            [Week { jobs: [1; 2], sum_a: 5.0, sum_b: 15.0 }, Week { jobs: [9; 2], sum_a: 90.0, sum_b: 90.0 }];
        let weeks: Vec<Week> = pair.into_iter().cycle().take(40).collect();
        let result = bootstrap(&weeks, 1).unwrap();
        assert_eq!((result.weeks, result.block, result.jobs), (40, 4, 200));
        assert_eq!((result.effect.mean_a, result.effect.mean_b, result.effect.difference), (9.5, 10.5, 1.0));
        // All blocks of four weeks are equal, so there is no randomness.
        assert_eq!((result.effect.low, result.effect.high), (1.0, 1.0));
        assert!((result.effect.p_value - 2.0 / 500.0).abs() < 1e-12, "the least that 499 draws can say");
    }

    #[test]
    fn a_difference_of_nothing_is_nothing() {
        let weeks = vec![Week { jobs: [3; 2], sum_a: 7.0, sum_b: 7.0 }; 30];
        let result = bootstrap(&weeks, 1).unwrap();
        assert_eq!(
            (result.effect.difference, result.effect.low, result.effect.high, result.effect.p_value),
            (0.0, 0.0, 0.0, 1.0)
        );
    }

    #[test]
    fn short_logs_and_empty_ones_give_nothing() {
        let weeks = |n| vec![Week { jobs: [3; 2], sum_a: 7.0, sum_b: 8.0 }; n];
        assert!(bootstrap(&weeks(8), 1).is_none() && bootstrap(&weeks(14), 1).is_none());
        assert!(bootstrap(&weeks(15), 1).is_some());
        assert!(bootstrap(&vec![Week::default(); 50], 1).is_none());
        assert!(bootstrap(&vec![Week { jobs: [1; 2], sum_a: f64::NAN, sum_b: 0.0 }; 50], 1).is_none());
    }

    #[test]
    fn weeks_without_jobs_are_no_evidence() {
        // One job in a year: all draws that contain it have the same difference.
        let mut weeks = vec![Week::default(); 52];
        weeks[20] = Week { jobs: [1; 2], sum_a: 900.0, sum_b: 0.0 };
        assert!(bootstrap(&weeks, 1).is_none());
        // Blocks of four weeks, and at least five of them.
        let some = |with_jobs: usize| -> Vec<Week> {
            let week = |at| if at % 2 == 0 && at < 2 * with_jobs { 1 } else { 0 };
            (0..52).map(|at| Week { jobs: [week(at); 2], sum_a: 0.0, sum_b: week(at) as f64 }).collect()
        };
        assert!(bootstrap(&some(19), 1).is_none());
        assert_eq!(bootstrap(&some(20), 1).unwrap().weeks, 20);
    }

    #[test]
    fn the_same_seed_gives_the_same_interval() {
        let weeks = series(50, 0.0, &mut Stream::new(3, "test", "series"));
        assert_eq!(bootstrap(&weeks, 5), bootstrap(&weeks, 5));
        assert_ne!(bootstrap(&weeks, 5), bootstrap(&weeks, 6));
    }

    /// The mean of 60 weeks of this series has a standard error of 1 / (1 - 0.7) / sqrt(60) = 0.43. If weeks are treated as
    /// independent, it is 1.4 / sqrt(60) = 0.18, so that the interval of 95 % contains the true mean for only 59 of 100 logs.
    #[test]
    fn blocks_cover_where_independent_weeks_do_not() {
        let truth = 2.0;
        let mut stream = Stream::new(4, "test", "series");
        let (mut naive, mut blocks) = (0, 0);
        let trials = 400;
        for trial in 0..trials {
            let weeks = series(60, truth, &mut stream);
            let mean =
                |sum: fn(&Week) -> f64| weeks.iter().map(|w| sum(w) / w.jobs[0] as f64).collect::<Vec<_>>();
            let t = paired(&mean(|w| w.sum_a), &mean(|w| w.sum_b), 0.95).unwrap();
            naive += i32::from(t.low <= truth && truth <= t.high);
            let b = bootstrap(&weeks, trial).unwrap();
            blocks += i32::from(b.effect.low <= truth && truth <= b.effect.high);
        }
        assert!((naive - 236).abs() < 50, "independent weeks: {naive} of {trials}");
        assert!(blocks > 340, "blocks: {blocks} of {trials}");
    }

    #[test]
    fn a_p_value_is_below_5_percent_where_the_interval_of_95_percent_misses_zero() {
        let mut stream = Stream::new(9, "test", "series");
        let (mut missed, mut near) = (0, 0);
        for trial in 0..150 {
            // Also weeks of other sizes and with a tail to one side, whose draws are not symmetric.
            let mut weeks = series(30, 0.6, &mut stream);
            for (at, week) in weeks.iter_mut().enumerate() {
                let skew = if at % 5 == 0 { 4.0 } else { 0.5 };
                (week.jobs, week.sum_b) =
                    (week.jobs.map(|jobs| jobs + at as u64), week.sum_a + skew * (week.sum_b - week.sum_a));
            }
            for (level, alpha) in [(0.95, 0.05), (0.99, 0.01), (0.8, 0.2)] {
                let draw =
                    |level| block_bootstrap(&weeks, level, 499, &mut Stream::new(trial, "test", "draws"));
                let result = draw(level).unwrap();
                let outside = result.effect.low > 0.0 || result.effect.high < 0.0;
                assert_eq!(outside, result.effect.p_value < alpha, "{level}: {result:?}");
                assert_eq!(
                    result.effect.p_value,
                    draw(0.5).unwrap().effect.p_value,
                    "it does not depend on the level"
                );
                missed += u32::from(outside);
                near += u32::from((result.effect.p_value - alpha).abs() < alpha / 2.0);
            }
        }
        assert!((50..400).contains(&missed) && near > 30, "{missed} of 450 miss zero, {near} nearly");
    }

    #[test]
    fn an_interval_leaves_less_than_its_share_outside() {
        // Of 9,999 draws and the log itself, 250 are 2.5 %: 248 draws beyond give a p value of 2 x 249 / 10,000, 249 one of 0.05.
        assert_eq!(outside(1.0 - 0.95, 9_999), 248);
        assert_eq!(outside(1.0 - 0.99, 9_999), 48);
        assert_eq!(outside(1.0 - 0.95, 499), 11);
        assert_eq!(outside(1e-9, 499), 0);
    }
}
