//! The model compared with the authors' program and with its own statistics.

use super::*;
use crate::units::Time;
use crate::workload::Source;

/// A job in whole seconds, as the authors' program writes it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct LublinJob {
    submit: u64,
    procs: u32,
    runtime: u64,
    queue: i32,
}

impl Iterator for Lublin {
    type Item = LublinJob;

    fn next(&mut self) -> Option<LublinJob> {
        let job = self.next_job().unwrap()?;
        let [submit, runtime] = [job.submit.micros(), job.runtime.micros()].map(|micros| micros / 1_000_000);
        Some(LublinJob { submit, procs: job.size.preferred(), runtime, queue: job.queue })
    }
}

fn source(written: &str) -> Lublin {
    let spec: LublinSpec = written.parse().unwrap_or_else(|error| panic!("{error}"));
    Lublin::new(spec, 1, "test").unwrap_or_else(|error| panic!("{error}"))
}

fn first(written: &str, count: usize) -> Vec<(u64, u32, u64)> {
    source(written).take(count).map(|job| (job.submit, job.procs, job.runtime)).collect()
}

/// The first jobs of the authors' program, patched only to call `srand48(1)`.
#[test]
fn the_reference_is_reproduced_job_by_job() {
    assert_eq!(
        first("lublin[reference=true,seed=1]", 7),
        [
            (5362, 4, 6),
            (6406, 8, 18),
            (6556, 32, 10804),
            (6826, 32, 30605),
            (26725, 2, 1087),
            (26853, 16, 8946),
            (28236, 64, 7496)
        ]
    );
    let typed = "lublin[reference=true,seed=1,types=typed]";
    assert_eq!(first(typed, 5), [(273, 8, 8), (1579, 8, 5), (1601, 4, 7), (1729, 6, 2), (1785, 8, 61)]);
    assert!(source(typed).take(5).all(|job| job.queue == 0));
}

/// Last submission and means of 10 000 jobs of the authors' program, by seed.
#[test]
fn the_reference_is_reproduced_file_by_file() {
    for (seed, last, runtime, size, area) in [
        (1, 8_862_906, "4330.595", "12.2474", "85396.3"),
        (2, 8_848_790, "4348.514", "12.2554", "81866.6"),
        (3, 9_119_183, "4347.993", "11.7789", "76670.7"),
    ] {
        let jobs: Vec<_> = source(&format!("lublin[reference=true,seed={seed}]")).collect();
        let n = jobs.len() as f64;
        let mean = |of: &dyn Fn(&LublinJob) -> f64| jobs.iter().map(of).sum::<f64>() / n;
        assert_eq!((jobs.len(), jobs.last().map(|job| job.submit)), (10_000, Some(last)));
        assert_eq!(format!("{:.3}", mean(&|job| job.runtime as f64)), runtime);
        assert_eq!(format!("{:.4}", mean(&|job| f64::from(job.procs))), size);
        assert_eq!(format!("{:.1}", mean(&|job| job.runtime as f64 * f64::from(job.procs))), area);
    }
}

/// Changing these changes every generated workload: say so in the changelog.
#[test]
fn our_own_first_jobs_are_golden() {
    assert_eq!(first("lublin[seed=1]", 3), [(1370, 8, 3017), (1514, 2, 1108), (1577, 2, 31)]);
    assert_eq!(
        first("lublin[seed=1,types=typed,procs=1024,load=0.7]", 3),
        [(125, 32, 7734), (194, 4, 6061), (228, 4, 137)]
    );
}

#[test]
fn the_daily_cycle_has_its_known_weights() {
    let typeless = LublinParams::reference(Types::Typeless, 128).kinds()[0].1.arrival;
    #[rustfmt::skip]
    let expected = [
        0.508, 0.456, 0.409, 0.365, 0.325, 0.289, 0.256, 0.226, 0.200, 0.176, 0.165, 0.239, 0.329, 0.435, 0.554, 0.684,
        0.821, 0.961, 1.100, 1.235, 1.362, 1.477, 1.579, 1.664, 1.733, 1.784, 1.817, 1.833, 1.832, 1.815, 1.785, 1.741,
        1.687, 1.624, 1.554, 1.478, 1.398, 1.315, 1.231, 1.147, 1.064, 0.983, 0.904, 0.828, 0.756, 0.688, 0.624, 0.564,
    ];
    for (bucket, (got, expected)) in weights(&typeless).into_iter().zip(expected).enumerate() {
        assert!((got - expected).abs() < 0.00051, "bucket {bucket}: {got}, expected {expected}");
    }
    let peak = |arrival: &ArrivalParams| {
        let weights = weights(arrival);
        let (at, most) = weights.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).unwrap();
        format!("{at}: {most:.3}")
    };
    let typed = LublinParams::reference(Types::Typed, 128).kinds();
    assert_eq!(peak(&typed[0].1.arrival), "28: 1.881");
    assert_eq!(peak(&typed[1].1.arrival), "26: 1.666");
    // Kumar et al. 2012 print these; their day has its peak at 06:30 and is empty outside 05:00 to 18:00.
    let kumar = ArrivalParams { anum: 15.1737, bnum: 0.9631, ..typeless };
    assert_eq!(peak(&kumar), "13: 5.980");
    assert!(weights(&kumar).iter().enumerate().all(|(at, w)| (10..36).contains(&at) || *w < 1e-3));
}

/// A sample, compared with statistics of a million jobs of the authors' program.
struct Sample(Vec<f64>);

/// The largest deviation of a figure, in standard errors of the difference between our sample and theirs, as if jobs
/// were independent. The draws are fixed by the seed, so a test that passes keeps passing.
const ERRORS: f64 = 4.0;
const THEIRS: f64 = 1e6;

impl Sample {
    fn error(&self, sd: f64) -> f64 {
        ERRORS * sd * (1.0 / self.0.len() as f64 + 1.0 / THEIRS).sqrt()
    }

    fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }

    fn sd(&self) -> f64 {
        let mean = self.mean();
        (self.0.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / self.0.len() as f64).sqrt()
    }

    /// Checks that the mean is `expected`, which is rounded to `step`.
    fn has_mean(&self, expected: f64, step: f64) {
        let (mean, allowed) = (self.mean(), self.error(self.sd()) + step / 2.0);
        assert!((mean - expected).abs() < allowed, "mean {mean}, expected {expected} ± {allowed}");
    }

    /// Checks that the coefficient of variation is `expected` within one part in `part` (its sampling error has no
    /// short form for these tails).
    fn has_cv(&self, expected: f64, part: f64) {
        let cv = self.sd() / self.mean();
        assert!((cv - expected).abs() < expected / part, "cv {cv}, expected {expected}");
    }

    /// Checks that a share of `expected` (rounded to `step`) satisfies the condition.
    fn has_share(&self, expected: f64, step: f64, holds: impl Fn(f64) -> bool) {
        let share = self.0.iter().filter(|x| holds(**x)).count() as f64 / self.0.len() as f64;
        let allowed = self.error((expected * (1.0 - expected)).sqrt()) + step / 2.0;
        assert!((share - expected).abs() < allowed, "share {share}, expected {expected} ± {allowed}");
    }

    /// Checks that the quantile of `p` is `expected`: the shares below and up to it lie on either side of `p`.
    fn has_quantile(&self, p: f64, expected: f64) {
        let share = |below: &dyn Fn(f64) -> bool| {
            self.0.iter().filter(|x| below(**x)).count() as f64 / self.0.len() as f64
        };
        let (under, upto) = (share(&|x| x < expected), share(&|x| x <= expected));
        let allowed = self.error((p * (1.0 - p)).sqrt());
        assert!(under - allowed < p && p < upto + allowed, "{under} to {upto} at {expected}, expected {p}");
    }
}

fn samples(jobs: &[LublinJob]) -> [Sample; 3] {
    let gaps = jobs.windows(2).map(|pair| (pair[1].submit - pair[0].submit) as f64).collect();
    let runtimes = jobs.iter().map(|job| job.runtime as f64).collect();
    let sizes = jobs.iter().map(|job| f64::from(job.procs)).collect();
    [Sample(gaps), Sample(runtimes), Sample(sizes)]
}

/// Share of jobs, share of work and mean size of the jobs shorter than 10 min, shorter than 3 h, and longer, in the
/// order of the published table. Shares of work follow from few long jobs: they may be off by one in ten.
fn check_classes(jobs: &[LublinJob], jobs_percent: [f64; 3], work_percent: [f64; 3], sizes: [f64; 3]) {
    let work = |jobs: &mut dyn Iterator<Item = &LublinJob>| {
        jobs.map(|job| job.runtime as f64 * f64::from(job.procs)).sum::<f64>()
    };
    let all = work(&mut jobs.iter());
    for (at, class) in [0..600, 600..10_800, 10_800..u64::MAX].into_iter().enumerate() {
        let inside: Vec<_> = jobs.iter().filter(|job| class.contains(&job.runtime)).copied().collect();
        let [_, runtimes, _] = samples(jobs);
        runtimes.has_share(jobs_percent[at] / 100.0, 0.001, |r| class.contains(&(r as u64)));
        let share = 100.0 * work(&mut inside.iter()) / all;
        assert!((share / work_percent[at] - 1.0).abs() < 0.1, "work of class {at}: {share} %");
        let [_, _, of_class] = samples(&inside);
        of_class.has_mean(sizes[at], 0.1);
    }
}

#[test]
fn typeless_jobs_have_the_statistics_of_the_model() {
    let jobs: Vec<_> = source("lublin[jobs=400000,seed=11]").collect();
    let [_, runtimes, sizes] = samples(&jobs);
    runtimes.has_mean(4348.0, 1.0);
    runtimes.has_cv(1.94, 50.0);
    for (p, runtime) in
        [(0.01, 2.0), (0.1, 7.0), (0.25, 19.0), (0.5, 108.0), (0.75, 6985.0), (0.9, 14608.0), (0.99, 33935.0)]
    {
        runtimes.has_quantile(p, runtime);
    }
    sizes.has_mean(12.13, 0.01);
    for (p, size) in
        [(0.01, 1.0), (0.1, 1.0), (0.25, 2.0), (0.5, 4.0), (0.75, 16.0), (0.9, 32.0), (0.99, 128.0)]
    {
        sizes.has_quantile(p, size);
    }
    for (size, share) in [
        (1.0, 0.2441),
        (4.0, 0.1488),
        (8.0, 0.1415),
        (16.0, 0.1377),
        (2.0, 0.1158),
        (64.0, 0.0326),
        (32.0, 0.0325),
        (3.0, 0.0206),
        (128.0, 0.0160),
        (5.0, 0.0121),
    ] {
        sizes.has_share(share, 0.0001, |x| x == size);
    }
    sizes.has_share(0.869, 0.001, |x| (x as u32).is_power_of_two());
    Sample(runtimes.0.iter().map(|r| libm::log(*r)).collect()).has_mean(5.457, 0.03);
    check_classes(&jobs, [63.8, 19.7, 16.5], [0.51, 25.9, 73.6], [8.7, 16.6, 20.2]);
}

#[test]
fn gaps_have_the_statistics_of_the_model() {
    // Their gaps are truncated to whole seconds, which affects the smallest.
    let jobs: Vec<_> = source("lublin[jobs=400000,seed=11,truncate=true]").collect();
    let [gaps, _, _] = samples(&jobs);
    gaps.has_mean(915.0, 1.0);
    gaps.has_cv(7.22, 20.0);
    for (p, gap) in
        [(0.01, 5.0), (0.1, 18.0), (0.25, 41.0), (0.5, 116.0), (0.75, 377.0), (0.9, 1238.0), (0.99, 13431.0)]
    {
        gaps.has_quantile(p, gap);
    }
}

#[test]
fn typed_jobs_have_the_statistics_of_the_model() {
    let jobs: Vec<_> = source("lublin[jobs=400000,seed=12,types=typed]").collect();
    let [gaps, runtimes, sizes] = samples(&jobs);
    gaps.has_mean(519.0, 1.0);
    gaps.has_cv(7.05, 20.0);
    runtimes.has_mean(1596.0, 1.0);
    runtimes.has_cv(4.25, 50.0);
    runtimes.has_quantile(0.5, 18.0);
    sizes.has_mean(8.89, 0.01);
    sizes.has_share(0.175, 0.001, |x| x == 1.0);
    sizes.has_share(0.864, 0.001, |x| (x as u32).is_power_of_two());
    // Gaps between batch jobs vary with 5.9 times their mean, those between interactive jobs with 9.9 times, so the
    // share of batch jobs has a standard error of 0.0036 here and 0.0023 in the million.
    let batch = jobs.iter().filter(|job| job.queue == Kind::Batch.queue()).count() as f64 / jobs.len() as f64;
    assert!((batch - 0.146).abs() < ERRORS * 0.0043, "{batch}");
    check_classes(&jobs, [88.7, 5.7, 5.6], [1.74, 7.2, 91.1], [8.2, 12.1, 17.3]);
}

/// Shares of arrivals by hour of the day.
fn hours(jobs: impl Iterator<Item = LublinJob>) -> [f64; 24] {
    let mut hours = [0.0; 24];
    let mut n = 0.0;
    for job in jobs {
        hours[(job.submit / 3_600 % 24) as usize] += 1.0;
        n += 1.0;
    }
    hours.map(|count| count / n)
}

/// Arrivals are bursty: with a coefficient of variation of 7.2 between them, n arrivals are worth n / 52 independent
/// ones for the hours. Four standard errors of the busiest hour's share (0.076) are then 0.012 for 400 000 arrivals
/// against the weights, and 0.032 for 60 000, whose published shares have the same error again.
#[test]
fn arrivals_follow_the_hours_of_the_day_and_do_not_drift() {
    let typeless = LublinParams::reference(Types::Typeless, 128).kinds()[0].1.arrival;
    let weights = weights(&typeless);
    let late = hours(source("lublin[jobs=500000,seed=13]").skip(100_000));
    #[rustfmt::skip]
    let published = [
        0.024, 0.018, 0.015, 0.012, 0.008, 0.009, 0.018, 0.028, 0.038, 0.051, 0.058, 0.076,
        0.076, 0.073, 0.075, 0.075, 0.069, 0.059, 0.053, 0.040, 0.039, 0.036, 0.030, 0.021,
    ];
    for hour in 0..24 {
        let expected = (weights[2 * hour] + weights[2 * hour + 1]) / 48.0;
        assert!((late[hour] - expected).abs() < 0.012, "{hour} h: {}, expected {expected}", late[hour]);
    }
    let early = hours((0..60).flat_map(|seed| source(&format!("lublin[jobs=1000,seed={seed}]"))));
    for hour in 0..24 {
        assert!((early[hour] - published[hour]).abs() < 0.032, "{hour} h: {}", early[hour]);
    }
    // The authors' clock loses half a second a job, so over a whole rotation every hour has equally many arrivals.
    let drifted = hours(source("lublin[jobs=340000,seed=13,truncate=true]"));
    assert!(drifted.iter().all(|share| (0.02..0.065).contains(share)), "{drifted:?}");
    // The day can begin at any hour.
    let noon = hours(source("lublin[jobs=400000,seed=13,start-hour=12]"));
    assert!((noon[1] - (weights[26] + weights[27]) / 48.0).abs() < 0.012, "{noon:?}");
}

#[test]
fn the_load_asked_for_is_the_load_offered() {
    for written in [
        "lublin[jobs=5000,load=0.7,seed=3]",
        "lublin[jobs=2000,procs=1024,load=1.2,types=typed]",
        "lublin[jobs=3000,load=0.5,reference=true,seed=2]",
    ] {
        let mut source = source(written);
        let procs = f64::from(source.spec().procs);
        let Pace::Load(load) = source.spec().pace else { panic!("{written}") };
        let jobs: Vec<_> = source.by_ref().collect();
        let area: f64 = jobs.iter().map(|job| f64::from(job.procs) * job.runtime as f64).sum();
        let span = (jobs[jobs.len() - 1].submit - jobs[0].submit) as f64;
        // Submissions are whole seconds, so the span may be off by one.
        assert!((area / procs / load - span).abs() <= 1.0, "{written}: {}", area / (procs * span));
        assert!((source.offered_load().unwrap() - load).abs() < 1e-9);
        assert_eq!(source.notes(), Vec::<String>::new());
    }
    let error = Lublin::new("lublin[jobs=1,load=1]".parse().unwrap(), 1, "test").unwrap_err();
    assert!(error.to_string().contains("all jobs arrive at one time"), "{error}");
}

#[test]
fn a_long_workload_takes_its_scale_from_a_pilot_and_says_so() {
    let mut long = source("lublin[jobs=200001,load=0.7,seed=5]");
    assert_eq!(long.by_ref().count(), 200_001);
    let notes = long.notes();
    assert!(notes.len() == 1 && notes[0].contains("over the first 200000 jobs"), "{notes:?}");
    assert!((long.offered_load().unwrap() - 0.7).abs() < 0.01);
}

#[test]
fn sizes_are_held_to_a_machine_that_is_no_power_of_two() {
    let mut source = source("lublin[procs=100]");
    assert!(source.by_ref().all(|job| (1..=100).contains(&job.procs)));
    assert!(source.notes()[0].contains("given its 100 processors"), "{:?}", source.notes());
}

#[test]
fn a_mark_continues_where_it_was_made() {
    for written in ["lublin[jobs=300,types=typed,load=0.7]", "lublin[jobs=300,reference=true]"] {
        let mut straight = source(written);
        for _ in 0..123 {
            straight.next_job().unwrap();
        }
        let mark = straight.mark().unwrap();
        let mut resumed = source(written);
        resumed.seek(&mark).unwrap();
        assert_eq!(resumed.peek_time(), straight.peek_time());
        assert_eq!(resumed.collect::<Vec<_>>(), straight.collect::<Vec<_>>());
        let mut other = source("lublin[jobs=301]");
        assert!(other.seek(&mark).unwrap_err().to_string().contains("other parameters"));
        for length in 0..mark.state.len() {
            let damaged = crate::workload::Mark { state: mark.state[..length].to_vec(), ..mark.clone() };
            assert!(source(written).seek(&damaged).is_err());
        }
    }
}

#[test]
fn what_is_announced_is_what_comes() {
    let mut source = source("lublin[jobs=2000,types=typed,factor=0.3]");
    let mut latest = Time::ZERO;
    while let Some(announced) = source.peek_time().unwrap() {
        let job = source.next_job().unwrap().unwrap();
        job.check().unwrap();
        assert!(job.submit == announced && announced >= latest && job.runtime == job.estimate);
        latest = announced;
    }
    assert_eq!(source.next_job(), Ok(None));
}

#[test]
fn sizes_leave_arrivals_alone_and_seeds_do_not() {
    let arrivals = |written: &str| source(written).map(|job| job.submit).collect::<Vec<_>>();
    let base = arrivals("lublin[jobs=100]");
    assert_eq!(base, arrivals("lublin[jobs=100,serial=0.1,a1=5]"));
    assert_ne!(base, arrivals("lublin[jobs=100,seed=2]"));
    let spec: LublinSpec = "lublin[jobs=100]".parse().unwrap();
    let elsewhere = Lublin::new(spec.clone(), 1, "elsewhere").unwrap();
    assert_ne!(base, elsewhere.map(|job| job.submit).collect::<Vec<_>>());
    // A seed of its own replaces the run's seed and the place.
    let seeded = |run, place| {
        let spec = LublinSpec { seed: Some(9), ..spec.clone() };
        Lublin::new(spec, run, place).unwrap().collect::<Vec<_>>()
    };
    assert_eq!(seeded(1, "here"), seeded(2, "there"));
}
