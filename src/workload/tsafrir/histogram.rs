//! The histogram of estimates: the values that occur and the number of jobs that use each.

use std::collections::BTreeMap;

use super::spec::TsafrirSpec;
use crate::units::Span;
use crate::workload::random::Stream;

/// Number of values in the head of the histogram.
pub const HEAD: usize = 20;

/// A value and the number of jobs that use it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Bin {
    /// The value.
    pub estimate: Span,
    /// The number of jobs that use it.
    pub jobs: u64,
}

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;

/// Multiples of these values fill up the head, each from the limit downwards.
const ROUND: [u64; 10] = [
    200 * HOUR,
    100 * HOUR,
    50 * HOUR,
    10 * HOUR,
    5 * HOUR,
    2 * HOUR,
    HOUR,
    20 * MINUTE,
    10 * MINUTE,
    5 * MINUTE,
];

/// Number of distinct values by number of jobs: linear between these points, constant beyond.
const VALUES: [(u64, u32); 7] =
    [(0, 0), (20, 10), (200, 20), (1_000, 35), (10_000, 90), (70_000, 340), (250_000, 565)];

/// The popularity ranks of the head's values, by time (the limit first, then ascending), in the four logs of the
/// paper: SDSC SP2, CTC, KTH, SDSC Blue.
#[rustfmt::skip]
const POPULARITY: [[u8; 4]; HEAD] = [
    [3, 1, 1, 1], [1, 3, 4, 6], [4, 4, 10, 5], [17, 2, 14, 3], [13, 12, 20, 7], [7, 9, 2, 2], [8, 8, 3, 18],
    [18, 18, 7, 19], [2, 6, 12, 4], [6, 7, 6, 11], [16, 11, 19, 20], [10, 20, 5, 9], [5, 16, 18, 10],
    [15, 5, 16, 14], [14, 14, 9, 13], [19, 13, 17, 16], [11, 10, 15, 15], [12, 15, 13, 17], [9, 17, 8, 8],
    [20, 19, 11, 12],
];

/// The number of distinct estimates of `jobs` jobs; at least one.
pub fn distinct_values(jobs: u64) -> u32 {
    let Some(above) = VALUES.iter().position(|(n, _)| jobs <= *n) else { return VALUES[VALUES.len() - 1].1 };
    let ((low, least), (high, most)) = (VALUES[above.max(1) - 1], VALUES[above.max(1)]);
    let (done, run) = (jobs - low, high - low);
    // Rounded half up, exactly.
    let more = (2 * done * u64::from(most - least) + run) / (2 * run);
    (least + more as u32).max(1)
}

impl TsafrirSpec {
    /// The histogram of the estimates of `jobs` jobs, in order of time. Its jobs add up to `jobs`; it may have fewer
    /// values than requested if the limit does not allow more, or if there are fewer jobs.
    pub fn histogram(&self, jobs: u64, stream: &mut Stream) -> Vec<Bin> {
        if jobs == 0 {
            return Vec::new();
        }
        let values = self.values.unwrap_or_else(|| distinct_values(jobs));
        let values = usize::try_from(jobs.min(u64::from(values))).unwrap_or(usize::MAX);
        let mut shares = self.head_shares(stream);
        if values <= shares.len() {
            // Only the most popular values are used.
            let mut by_share: Vec<(u64, f64)> = shares.into_iter().collect();
            by_share.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            by_share.truncate(values);
            shares = by_share.into_iter().collect();
        } else {
            let tail = self.tail_shares(&shares, values, stream);
            shares.extend(tail);
        }
        let counts = counts(&shares.values().copied().collect::<Vec<_>>(), jobs);
        let bin = |(seconds, jobs): (&u64, u64)| Bin { estimate: Span::from_secs(*seconds), jobs };
        shares.keys().zip(counts).map(bin).collect()
    }

    fn max_seconds(&self) -> u64 {
        self.max.micros() / Span::SECOND.micros()
    }

    /// The head's values in seconds: the limit, then the popular and the round ones in ascending order.
    fn head_times(&self) -> Vec<u64> {
        let max = self.max_seconds();
        let mut times = vec![max];
        times.extend(self.popular.iter().map(|value| value.micros() / Span::SECOND.micros()));
        for step in ROUND {
            for multiple in (1..=max / step).rev() {
                if times.len() >= HEAD {
                    break;
                }
                if !times.contains(&(multiple * step)) {
                    times.push(multiple * step);
                }
            }
        }
        times[1..].sort_unstable();
        times
    }

    /// The head's values with their shares of all jobs.
    fn head_shares(&self, stream: &mut Stream) -> BTreeMap<u64, f64> {
        let times = self.head_times();
        let by_rank = |rank: usize| 0.01 * (14.0491 * libm::exp(-0.177531 * rank as f64) + 0.462513);
        let others: f64 = (2..=times.len()).map(by_rank).sum();
        // The limit has the share that the others leave, or it has a given share and the others have the rest.
        let (limit, scale) = match self.max_share {
            Some(share) if others > 0.0 => (share, (self.head - share) / others),
            _ => (self.head - others, 1.0),
        };
        let ranks = popularity(times.len(), stream);
        let share = |rank| if rank == 1 { limit } else { by_rank(rank) * scale };
        times.into_iter().zip(ranks).map(|(time, rank)| (time, share(rank))).collect()
    }

    /// Adds values with their shares until there are `values` in total.
    fn tail_shares(
        &self,
        head: &BTreeMap<u64, f64>,
        values: usize,
        stream: &mut Stream,
    ) -> BTreeMap<u64, f64> {
        let (max, wanted) = (self.max_seconds(), values - head.len());
        let a = 1.0 + 12.1039 * libm::pow(values as f64, -0.6026);
        let mut times = Vec::with_capacity(wanted);
        let mut taken = std::collections::BTreeSet::new();
        for at in 1..=wanted {
            let x = at as f64 / wanted as f64;
            let time = (a - 1.0) * x / (a - x) * max as f64;
            let minute = MINUTE as i64 * libm::round(time / MINUTE as f64) as i64;
            // Whole minutes as long as they are free, then offsets of some seconds.
            let free = [0, 30, -30, 20, -20, 10, -10].into_iter().find_map(|offset| {
                let time = u64::try_from(minute + offset).ok()?;
                (time > 0 && time < max && !head.contains_key(&time) && taken.insert(time)).then_some(time)
            });
            times.extend(free);
        }
        let size = |at: usize| 795.6 * libm::pow((HEAD + 1 + at) as f64, -2.267);
        let mut sizes: Vec<f64> = (0..times.len()).map(size).collect();
        let scale = (1.0 - self.head) / sizes.iter().sum::<f64>();
        stream.shuffle(&mut sizes);
        times.into_iter().zip(sizes).map(|(time, size)| (time, size * scale)).collect()
    }
}

/// The popularity rank of each of the head's values, by time, from 1: a random arrangement between those of the four
/// logs.
///
/// A value takes the better of two draws from the ranks that it or an earlier value had in some log, except that a
/// rank that no log assigned to a later value is taken as soon as it is due.
fn popularity(values: usize, stream: &mut Stream) -> Vec<usize> {
    let mut last = [0; HEAD + 1];
    for (row, ranks) in POPULARITY.iter().enumerate() {
        for rank in ranks {
            last[usize::from(*rank)] = row;
        }
    }
    let mut ranks = vec![1];
    for row in 1..HEAD {
        let free = |rank: &usize| !ranks.contains(rank);
        let due = (1..=HEAD).filter(free).find(|rank| last[*rank] <= row);
        let rank = due.unwrap_or_else(|| {
            // Never empty: a log has assigned one rank more than have been taken.
            let seen = POPULARITY[..=row].iter().flatten().map(|rank| usize::from(*rank));
            let pool: Vec<usize> = seen.filter(free).collect();
            let mut draw = || pool.get(stream.below(pool.len() as u64) as usize).copied().unwrap_or(HEAD);
            draw().min(draw())
        });
        ranks.push(rank);
    }
    // Fewer values keep their order of popularity.
    ranks.truncate(values);
    ranks.iter().map(|rank| 1 + ranks.iter().filter(|other| *other < rank).count()).collect()
}

/// `jobs` divided by `shares` (of any sum), at least one each, by largest remainder.
fn counts(shares: &[f64], jobs: u64) -> Vec<u64> {
    let sum: f64 = shares.iter().sum();
    let exact: Vec<f64> = shares.iter().map(|share| share / sum * jobs as f64).collect();
    let mut counts: Vec<u64> = exact.iter().map(|exact| (*exact as u64).max(1)).collect();
    let mut given: u64 = counts.iter().sum();
    let mut order: Vec<usize> = (0..shares.len()).collect();
    let over = |at: usize| exact[at] - libm::floor(exact[at]);
    order.sort_by(|a, b| over(*b).total_cmp(&over(*a)).then(a.cmp(b)));
    for at in order.iter().cycle().take(jobs.saturating_sub(given) as usize) {
        counts[*at] += 1;
        given += 1;
    }
    while given > jobs {
        let Some(most) = counts.iter_mut().max() else { break };
        *most -= 1;
        given -= 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hours(hours: u64) -> TsafrirSpec {
        TsafrirSpec::new(Span::from_secs(hours * HOUR))
    }

    #[test]
    fn the_number_of_values_goes_through_its_points() {
        for (jobs, values) in VALUES.into_iter().skip(1) {
            assert_eq!(distinct_values(jobs), values);
        }
        // 1 000 of 9 000 jobs on from 35 to 90 values: 6.1 more.
        assert_eq!([0, 1, 2_000, 10_000_000].map(distinct_values), [1, 1, 41, 565]);
    }

    #[test]
    fn the_head_is_filled_up_from_the_limit_downwards() {
        let times =
            |hours_: u64| -> Vec<u64> { hours(hours_).head_times().iter().map(|t| t / MINUTE).collect() };
        // Besides the usual fifteen: 100 h, 50 h (150 h is usual too) and the missing multiples of ten hours from 160
        // h downwards.
        #[rustfmt::skip]
        assert_eq!(
            times(160),
            [9600, 5, 10, 15, 20, 30, 60, 120, 180, 240, 300, 360, 480, 600, 720, 1080, 3000, 6000, 8400, 9000]
        );
        // Up to 1 h there are only twelve multiples of five minutes.
        assert_eq!(times(1), [60, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55]);
    }

    #[test]
    fn every_arrangement_is_a_permutation_with_the_limit_first() {
        for seed in 0..200 {
            for values in [1, 12, HEAD] {
                let mut ranks = popularity(values, &mut Stream::new(seed, "test", "ranks"));
                assert_eq!(ranks[0], 1);
                ranks.sort_unstable();
                assert_eq!(ranks, (1..=values).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn the_histogram_has_the_published_shape() {
        for (jobs, limit) in [(1_000, 18), (10_000, 36), (70_000, 60), (250_000, 60)] {
            let spec = hours(limit);
            let bins = spec.histogram(jobs, &mut Stream::new(jobs, "test", "histogram"));
            assert_eq!(bins.len(), distinct_values(jobs) as usize);
            assert_eq!(bins.iter().map(|bin| bin.jobs).sum::<u64>(), jobs);
            assert!(bins.windows(2).all(|pair| pair[0].estimate < pair[1].estimate));
            assert!(bins.iter().all(|bin| bin.jobs > 0 && bin.estimate <= spec.max));
            let head = spec.head_times();
            let in_head = |bin: &&Bin| head.contains(&(bin.estimate.micros() / 1_000_000));
            let share = bins.iter().filter(in_head).map(|bin| bin.jobs).sum::<u64>() as f64 / jobs as f64;
            assert!((share - 0.89).abs() < HEAD as f64 / jobs as f64, "{share}");
            // The exponential of the paper gives ranks 2 to 20 a total of 67.27 %, which leaves 21.73 % for the
            // limit.
            let at_limit = bins[bins.len() - 1].jobs as f64 / jobs as f64;
            assert!((at_limit - 0.2173).abs() < 1.0 / jobs as f64 + 0.0001, "{at_limit}");
        }
    }

    #[test]
    fn hints_are_kept() {
        let given = TsafrirSpec { max_share: Some(0.5), values: Some(30), ..hours(36) };
        let bins = given.histogram(10_000, &mut Stream::new(1, "test", "histogram"));
        assert_eq!((bins.len(), bins[29]), (30, Bin { estimate: given.max, jobs: 5_000 }));
    }

    #[test]
    fn few_jobs_share_few_values() {
        for jobs in 0..300 {
            let bins = hours(36).histogram(jobs, &mut Stream::new(jobs, "test", "histogram"));
            assert_eq!(bins.iter().map(|bin| bin.jobs).sum::<u64>(), jobs);
            assert_eq!(bins.len(), if jobs == 0 { 0 } else { distinct_values(jobs) as usize });
        }
    }

    #[test]
    fn shares_become_counts_by_largest_remainder() {
        assert_eq!(counts(&[0.5, 0.3, 0.2], 9), [4, 3, 2]);
        assert_eq!(counts(&[0.98, 0.01, 0.01], 10), [8, 1, 1]);
        assert_eq!(counts(&[1.0], 3), [3]);
    }
}
