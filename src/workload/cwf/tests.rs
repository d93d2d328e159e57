//! The generator compared with the figures of the paper and with its own parameters.

use super::*;
use crate::model::{Elastic, Job};
use crate::units::{Span, Time};
use crate::workload::lublin::{Pace, weights};
use crate::workload::spec::assert_defaults;
use crate::workload::{Mark, Source, Spec};

fn spec(written: &str) -> CwfSpec {
    written.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn source(written: &str) -> Cwf {
    Cwf::new(spec(written), 1, "test").unwrap_or_else(|error| panic!("{error}"))
}

fn drawn(mut source: Cwf) -> Vec<Job> {
    let mut jobs: Vec<Job> = Vec::new();
    while let Some(time) = source.peek_time().unwrap() {
        let job = source.next_job().unwrap().unwrap();
        job.check().unwrap();
        assert!(job.submit == time && jobs.last().is_none_or(|last| last.submit <= time));
        jobs.push(job);
    }
    assert_eq!(source.next_job(), Ok(None));
    jobs
}

fn jobs(written: &str) -> Vec<Job> {
    drawn(source(written))
}

fn procs(job: &Job) -> f64 {
    f64::from(job.size.preferred())
}

/// Mean and standard error of the mean.
fn moments(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let values: Vec<f64> = values.collect();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
    (mean, (variance / n).sqrt())
}

fn is_mean(values: impl Iterator<Item = f64>, expected: f64) {
    let (mean, error) = moments(values);
    assert!((mean - expected).abs() < 4.0 * error, "{mean} ± {error}, expected {expected}");
}

/// Changing these changes every generated workload: say so in the changelog.
#[test]
fn the_first_jobs_are_golden() {
    let first: Vec<_> = jobs("cwf[jobs=4,seed=1,pd=0.5,pe=0.5,pr=0.5]")
        .iter()
        .map(|job| (job.submit.as_secs_f64(), job.size.preferred(), job.runtime.as_secs_f64()))
        .collect();
    assert_eq!(
        first,
        [(115657.0, 64, 67.0), (115779.0, 224, 12484.0), (115805.0, 96, 7545.0), (118260.0, 96, 80.0)]
    );
}

/// Small jobs have 1, 2 or 3 units, large ones 4 to 9 (rounded down) or 4 to 10 (to the nearest), with the chances that
/// follow from a uniform draw.
#[test]
fn sizes_are_whole_units_with_their_chances() {
    for (large, chances) in [
        ("floor", [1.5, 3.0, 1.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0]),
        ("round", [1.5, 3.0, 1.5, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5]),
    ] {
        let jobs = jobs(&format!("cwf[jobs=60000,large={large}]"));
        for (unit, chance) in (1..=10).zip(chances) {
            let share = chance / 12.0;
            let error = (share * (1.0 - share) / 60_000.0_f64).sqrt();
            let found = jobs.iter().filter(|job| job.size.preferred() == 32 * unit).count() as f64 / 60_000.0;
            assert!((found - share).abs() <= 4.0 * error, "{large}, {unit} units: {found}, expected {share}");
        }
        assert!(jobs.iter().all(|job| job.size.preferred() % 32 == 0));
    }
}

/// The paper prints the mean size of four of its workloads of 500 jobs (figures 5, 6, 7 and 9). They are likely if
/// large sizes are rounded down, and unlikely if they are rounded to the nearest.
#[test]
fn the_mean_sizes_are_those_of_the_paper() {
    const PRINTED: [(f64, f64); 4] = [(0.5, 139.35), (0.8, 89.72), (0.2, 180.84), (0.2, 177.7)];
    let squares = |large: &str| {
        PRINTED.map(|(ps, printed)| {
            let jobs = jobs(&format!("cwf[jobs=100000,ps={ps},large={large}]"));
            let (mean, error) = moments(jobs.iter().map(procs));
            let deviation = (printed - mean) / (error * (100_000.0_f64 / 500.0).sqrt());
            deviation * deviation
        })
    };
    // 95 % of all sums of four squares are below 9.49, 99.9 % below 18.47.
    let [floor, round] = ["floor", "round"].map(|large| squares(large).iter().sum::<f64>());
    assert!(floor < 9.49, "{floor}");
    assert!(round > 18.47, "{round}");
    for (ps, floor, round) in [(0.2, 179.2, 192.0), (0.5, 136.0, 144.0), (0.8, 92.8, 96.0)] {
        is_mean(jobs(&format!("cwf[jobs=50000,ps={ps}]")).iter().map(procs), floor);
        is_mean(jobs(&format!("cwf[jobs=50000,ps={ps},large=round]")).iter().map(procs), round);
    }
}

/// ln r is Γ(4.2, 0.94) or Γ(312, 0.03): long ones are about e^9.36 = 11,600 s. The chance of a short one is 0.78 −
/// 0.0054 s, except for the draws beyond e^12 s that are repeated (1 in 12 of the short).
#[test]
fn run_times_depend_on_the_size_as_it_is_read() {
    let literal = jobs("cwf[jobs=50000,ps=0.2,runtime-size=procs]");
    // 0.78 / 0.0054 = 144.4 processors and more: always long.
    let wide: Vec<_> = literal.iter().filter(|job| job.size.preferred() > 144).collect();
    is_mean(wide.iter().map(|job| libm::log(job.runtime.as_secs_f64())), 9.36);
    assert!(wide.iter().all(|job| job.runtime > Span::from_secs(600)));
    let (mean, _) = moments(literal.iter().map(|job| job.runtime.as_secs_f64()));
    assert!((11_900.0..12_500.0).contains(&mean), "{mean}");
    let units = jobs("cwf[jobs=200000,ps=0.2]");
    let (mean, _) = moments(units.iter().map(|job| job.runtime.as_secs_f64()));
    assert!((3_850.0..4_050.0).contains(&mean), "{mean}");
    assert!(units.iter().all(|job| job.estimate == job.runtime && job.runtime <= Span::from_secs(162_755)));
    // The share of short jobs agrees with the distribution, for the largest sizes that occur.
    let share = |jobs: &[Job], size: u32| {
        let of: Vec<_> = jobs.iter().filter(|job| job.size.preferred() == size).collect();
        of.iter().filter(|job| job.runtime < Span::from_secs(3_600)).count() as f64 / of.len() as f64
    };
    assert!(share(&units, 32) > share(&units, 288) && share(&literal, 32) > share(&literal, 128) + 0.3);
}

/// The paper's day is empty except from 05:00 to 18:00.
#[test]
fn arrivals_follow_the_paper_s_day() {
    let jobs = jobs("cwf[jobs=40000]");
    let weights = weights(&CwfSpec::default().params.arrival);
    let mut halves = [0.0; 48];
    for job in &jobs {
        halves[(job.submit.micros() / 1_800_000_000 % 48) as usize] += 1.0 / 40_000.0;
    }
    for (half, (found, weight)) in halves.iter().zip(weights).enumerate() {
        assert!((found - weight / 48.0).abs() < 0.02, "{half}: {found}, expected {}", weight / 48.0);
        assert!(weight >= 1e-3 || *found < 1e-3);
    }
}

#[test]
fn the_load_asked_for_is_the_load_offered() {
    for written in [
        "cwf[load=0.9,seed=3]",
        "cwf[load=0.5,ps=0.2,seed=4]",
        "cwf[load=1,ps=0.8,runtime-size=procs,pd=0.5,pe=0.2,pr=0.1]",
        "cwf[load=0.7,calibrate=gaps]",
        "cwf[load=8,calibrate=gaps,barr=0.6]",
        "cwf[jobs=20000,load=0.9]",
    ] {
        let mut source = source(written);
        let Pace::Load(load) = source.spec().pace else { panic!("{written}") };
        let scale = source.scale();
        let (mut area, mut first, mut last) = (0.0, None, Time::ZERO);
        while let Some(job) = source.next_job().unwrap() {
            area += procs(&job) * job.runtime.as_secs_f64();
            last = job.submit;
            first.get_or_insert(last);
        }
        let span = last.since(first.unwrap()).as_secs_f64();
        // Submissions are whole seconds, so the span may be off by one.
        assert!((area / 320.0 / load - span).abs() <= 1.0, "{written}: {}", area / (320.0 * span));
        assert!((source.offered_load().unwrap() - load).abs() < 1e-9);
        assert!(
            source.spec().calibrate == Calibrate::Gaps || (scale - 1.0).abs() < 1e-3,
            "{written}: {scale}"
        );
        assert_eq!(source.notes(), Vec::<String>::new());
    }
    let refused = |written: &str| Cwf::new(spec(written), 1, "test").unwrap_err().to_string();
    assert!(refused("cwf[jobs=1,load=0.9]").contains("all jobs arrive at one time"));
    assert!(
        refused("cwf[load=0.001]").contains("`calibrate=gaps` has no bounds"),
        "{}",
        refused("cwf[load=0.001]")
    );
}

/// The mean over seeds of the β_arr that give loads of 0.5 to 1 is in the paper's interval [0.4101, 0.6101].
#[test]
fn the_loads_of_the_paper_are_within_its_interval() {
    let barr = |options: &str| {
        let found = (0..20).map(|seed| source(&format!("cwf[{options},seed={seed}]")).barr());
        moments(found).0
    };
    for (options, high, low) in [
        ("ps=0.2,runtime-size=procs", 0.585, 0.53),
        ("ps=0.5,runtime-size=procs", 0.55, 0.50),
        ("ps=0.8,runtime-size=procs", 0.512, 0.47),
        ("ps=0.2", 0.493, 0.45),
        ("ps=0.5", 0.475, 0.4375),
        ("ps=0.8", 0.45, 0.415),
    ] {
        let found = [barr(&format!("{options},load=0.5")), barr(&format!("{options},load=1"))];
        assert!((found[0] - high).abs() < 0.02 && (found[1] - low).abs() < 0.02, "{options}: {found:?}");
        assert!(found.iter().all(|barr| (0.4101..0.6101).contains(barr)), "{options}: {found:?}");
    }
}

#[test]
fn dedicated_jobs_ask_for_a_start_after_their_submission() {
    let jobs = jobs("cwf[jobs=40000,pd=0.3,lead=30 min]");
    is_mean(jobs.iter().map(|job| f64::from(u8::from(job.requested_start.is_some()))), 0.3);
    let leads = || jobs.iter().filter_map(|job| Some(job.requested_start?.since(job.submit)));
    assert!(leads().all(|lead| lead >= Span::from_secs(1)));
    // Rounded up to a whole second, which is half a second on average.
    is_mean(leads().map(|lead| lead.as_secs_f64()), 1_800.5);
    let (mean, error) = moments(leads().map(|lead| lead.as_secs_f64()));
    let deviation = error * (leads().count() as f64).sqrt();
    assert!((deviation / mean - 1.0).abs() < 0.05, "an exponential has its mean as deviation");
}

#[test]
fn commands_come_within_two_run_times_and_by_a_share_of_the_request() {
    let jobs = jobs("cwf[jobs=40000,pe=0.2,pr=0.1]");
    let of = |which: fn(&Elastic) -> Option<Span>| -> Vec<(&Job, Time, Span)> {
        let commands = jobs.iter().flat_map(|job| job.elastic.iter().flatten().map(move |c| (job, c)));
        commands.filter_map(|(job, c)| Some((job, c.at, which(&c.change)?))).collect()
    };
    let extends = of(|change| if let Elastic::ExtendTime(by) = change { Some(*by) } else { None });
    let reduces = of(|change| if let Elastic::ReduceTime(by) = change { Some(*by) } else { None });
    for (commands, share) in [(&extends, 0.2), (&reduces, 0.1)] {
        let error = (share * (1.0 - share) / 40_000.0_f64).sqrt();
        assert!((commands.len() as f64 / 40_000.0 - share).abs() < 4.0 * error, "{}", commands.len());
        // Only long jobs, for which the rounding to whole seconds does not matter.
        let long = || commands.iter().filter(|(job, ..)| job.runtime > Span::from_secs(10_000));
        is_mean(long().map(|(job, _, by)| by.as_secs_f64() / job.estimate.as_secs_f64()), 0.2);
        is_mean(
            long().map(|(job, at, _)| at.since(job.submit).as_secs_f64() / job.runtime.as_secs_f64()),
            1.0,
        );
        assert!(commands.iter().all(|(job, at, by)| {
            *at >= job.submit && at.since(job.submit) <= job.runtime + job.runtime && !by.is_zero()
        }));
    }
    assert_eq!(
        extends.len() + reduces.len(),
        jobs.iter().flat_map(|job| job.elastic.iter().flatten()).count()
    );
    assert!(jobs.iter().all(|job| job.elastic.as_deref().is_none_or(|c| c.is_sorted_by_key(|c| c.at))));
    // One kind does not make the other likelier: a share of 0.2 × 0.1 has both.
    let both = jobs.iter().filter(|job| job.elastic.as_deref().is_some_and(|c| c.len() == 2)).count();
    assert!((both as f64 / 40_000.0 - 0.02).abs() < 0.003, "{both}");
}

#[test]
fn what_one_parameter_draws_moves_no_other() {
    let base = jobs("cwf[jobs=300,load=0.9]");
    let rich = jobs("cwf[jobs=300,load=0.9,pd=0.5,pe=0.2,pr=0.1]");
    let plain = |job: &Job| Job { requested_start: None, elastic: None, ..job.clone() };
    assert_eq!(rich.iter().map(plain).collect::<Vec<_>>(), base);
    // Jobs that were dedicated stay dedicated, with the same start; jobs that had a command keep it.
    let richer = jobs("cwf[jobs=300,load=0.9,pd=0.9,pe=0.6,pr=0.1]");
    for (few, many) in rich.iter().zip(&richer) {
        assert!(few.requested_start.is_none() || few.requested_start == many.requested_start);
        assert!(few.elastic.iter().flatten().all(|c| many.elastic.iter().flatten().any(|other| c == other)));
    }
    // The share of small jobs changes no arrival (without a load, on which arrivals depend).
    let submits = |written: &str| jobs(written).iter().map(|job| job.submit).collect::<Vec<_>>();
    assert_eq!(submits("cwf[jobs=300,ps=0.2]"), submits("cwf[jobs=300,ps=0.8,large=round]"));
    assert_ne!(base, jobs("cwf[jobs=300,load=0.9,seed=2]"));
    let seeded = |run, place| drawn(Cwf::new(spec("cwf[jobs=99,seed=7,pd=0.5]"), run, place).unwrap());
    assert_eq!(seeded(1, "here"), seeded(2, "there"));
}

#[test]
fn a_mark_goes_on_where_it_was_made() {
    let written = "cwf[jobs=300,load=0.9,pd=0.5,pe=0.2,pr=0.1]";
    let whole = jobs(written);
    let mut straight = source(written);
    for _ in 0..123 {
        straight.next_job().unwrap();
    }
    let mark = straight.mark().unwrap();
    let mut resumed = source(written);
    resumed.seek(&mark).unwrap();
    assert_eq!(drawn(resumed), whole[123..]);
    assert!(source("cwf[jobs=300]").seek(&mark).unwrap_err().to_string().contains("other parameters"));
    for length in 0..mark.state.len() {
        let damaged = Mark { state: mark.state[..length].to_vec(), ..mark.clone() };
        assert!(source(written).seek(&damaged).is_err());
    }
}

#[test]
fn what_is_written_out_reads_back_as_itself() {
    for written in [
        "cwf",
        "cwf[load=0.9,ps=0.2,pd=0.5,lead=2 h,seed=7,large=round,runtime-size=procs]",
        "cwf[load=0.9,calibrate=gaps,barr=0.6,unit=1,procs=64,split=8]",
        "cwf[factor=0.5,a1=3.9,within=1,amount=0.1,pe=1,pr=1,start-hour=6]",
    ] {
        let spec = spec(written);
        assert_eq!(spec.to_string().parse(), Ok(spec.clone()), "{spec}");
    }
    let named = spec("cwf").to_named();
    assert_eq!(spec("cwf"), CwfSpec::default());
    assert_defaults::<CwfSpec>("cwf", &[]);
    // Tables I and II.
    for (key, value) in [
        ("a1", "4.2"),
        ("b1", "0.94"),
        ("a2", "312"),
        ("b2", "0.03"),
        ("pa", "-0.0054"),
        ("pb", "0.78"),
        ("aarr", "13.2303"),
        ("anum", "15.1737"),
        ("bnum", "0.9631"),
        ("arar", "1.0225"),
    ] {
        assert_eq!(named.params[key], value, "{key}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_what_would() {
    for (written, said) in [
        ("cwf[job=3]", "did you mean `jobs`?"),
        ("cwf[serial=0.5]", "has no parameter `serial`"),
        ("cwf[jobs=0]", "from 1 to"),
        ("cwf[procs=0]", "from 1 to 67108864"),
        ("cwf[unit=0]", "from 1 to 320"),
        ("cwf[unit=400]", "from 1 to 320"),
        ("cwf[procs=96]", "fewer than the machine's 3 units (`procs=96` by `unit=32`)"),
        ("cwf[split=0]", "from 1 to fewer"),
        ("cwf[ps=1.5]", "a share from 0 to 1"),
        ("cwf[pd=nan]", "a share from 0 to 1"),
        ("cwf[pe=-0.1]", "a share from 0 to 1"),
        ("cwf[pr=x]", "a share from 0 to 1"),
        ("cwf[amount=-1]", "a number from 0 to 1000"),
        ("cwf[within=inf]", "a number from 0 to 1000"),
        ("cwf[lead=soon]", "a mean time up to 10 years"),
        ("cwf[lead=4000 d]", "a mean time up to 10 years"),
        ("cwf[load=0]", "from 0.001"),
        ("cwf[load=0.5,factor=2]", "beside `load`"),
        ("cwf[load=0.5,barr=0.6]", "say `calibrate=gaps` too"),
        ("cwf[calibrate=arrivals]", "one of `barr`, `gaps`"),
        ("cwf[large=ceil]", "one of `floor`, `round`"),
        ("cwf[runtime-size=cores]", "one of `units`, `procs`"),
        ("cwf[start-hour=24]", "an hour from 0 to 23"),
        ("cwf[aarr=100]", "fewer than 1 % of the gaps"),
        ("cwf[barr=0]", "above 0"),
        ("easy[order=sjf]", "not of the form"),
    ] {
        let error = written.parse::<CwfSpec>().unwrap_err().to_string();
        assert!(error.contains(said), "{written}: {error}");
    }
}
