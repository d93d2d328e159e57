//! Statistics of the jobs in a workload.

mod cloud;
mod quantity;

pub use cloud::{CommandContents, CommandKind, Dedicated};
pub use quantity::Quantity;

use serde::Serialize;

use self::quantity::Values;
use crate::model::{ClassifiedBy, Job, JobClasses};
use crate::units::Time;

/// Seconds in a day.
const DAY: i64 = 86_400;

/// Counts the jobs of a stream, one at a time, relative to a machine.
///
/// Medians and percentiles are exact; each different value is kept once, so that memory grows with the number of
/// different run times and estimates, not with the number of jobs.
#[derive(Debug, Default)]
pub struct Census {
    machine: u32,
    classes: JobClasses,
    unix_start: Option<i64>,
    users: rustc_hash::FxHashSet<i32>,
    /// First and last submission.
    submissions: Option<(Time, Time)>,
    sizes: Values,
    serial: u64,
    powers_of_two: u64,
    runtimes: Values,
    estimates: Values,
    /// Run time over estimate, in millionths.
    accuracies: Values,
    exact: u64,
    exceeded: u64,
    gaps: Values,
    /// Jobs and work (processors times microseconds) by class.
    by_class: Vec<(u64, u128)>,
    by_hour: [u64; 24],
    work: u128,
    cloud: cloud::Counts,
}

/// Statistics of a workload. Times are in seconds, work in processor-seconds, shares from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Contents {
    /// Number of jobs.
    pub jobs: u64,
    /// Number of different users; jobs of an unknown user count for none.
    pub users: u64,
    /// First submission, in seconds of the workload's time.
    pub first_submit: f64,
    /// Last submission, likewise.
    pub last_submit: f64,
    /// Time from the first submission to the last.
    pub span: f64,
    /// Processors of the machine that load and classes refer to.
    pub machine: u32,
    /// The work of all jobs: processors times run time.
    pub work: f64,
    /// `work / (machine × span)`: the share of the machine that the jobs request while they are submitted. The
    /// denominator ends at the last *submission*. `None` if there is no span.
    pub offered_load: Option<f64>,
    /// Processors requested by jobs.
    pub sizes: Sizes,
    /// Run times.
    pub runtimes: Quantity,
    /// Estimates.
    pub estimates: Quantity,
    /// Run time over estimate; above 1 the job ran longer than it had requested.
    pub accuracy: Quantity,
    /// The share of jobs whose estimate equals their run time (in logs these are mostly jobs killed at their
    /// estimate).
    pub exact_estimates: f64,
    /// The share of jobs that run longer than their estimate.
    pub exceeded_estimates: f64,
    /// Times between consecutive submissions; their coefficient of variation measures burstiness (1 for a Poisson
    /// process).
    pub interarrivals: Quantity,
    /// The name of the job classes that `by_class` refers to.
    pub classes: String,
    /// The classes, ordered by run time first.
    pub by_class: Vec<ClassShare>,
    /// Arrivals by hour of the day.
    pub arrivals: Hours,
    /// Dedicated jobs, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dedicated: Option<Dedicated>,
    /// Elastic commands, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commands: Option<CommandContents>,
}

/// Sizes of jobs, in processors.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sizes {
    /// Their distribution.
    #[serde(flatten)]
    pub processors: Quantity,
    /// The share of jobs that request one processor.
    pub serial: f64,
    /// The share of jobs that request 2, 4, 8 … processors.
    pub power_of_two: f64,
}

/// One class of jobs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassShare {
    /// Its label.
    pub class: String,
    /// Number of jobs in it.
    pub jobs: u64,
    /// Their share of all jobs.
    pub share: f64,
    /// Their share of all work.
    pub work_share: f64,
}

/// Arrivals by the hour of the day.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hours {
    /// What hour 0 refers to.
    pub reference: HourReference,
    /// The share of submissions in each hour.
    pub shares: [f64; 24],
}

/// The origin of the hours of the day.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HourReference {
    /// Hour 0 begins at midnight UTC.
    Utc,
    /// Hour 0 begins with the log (its instant 0), since the log does not say when it began.
    LogStart,
}

impl Census {
    /// Creates an empty census for a machine of `machine` processors. `unix_start` is the workload's instant 0 in
    /// seconds since 1970, if known.
    pub fn new(machine: u32, classes: JobClasses, unix_start: Option<i64>) -> Self {
        Self { machine, by_class: vec![(0, 0); classes.count()], classes, unix_start, ..Self::default() }
    }

    /// Counts a job. Jobs come in order of submission; a job counts with its preferred size.
    pub fn add(&mut self, job: &Job) {
        let (procs, run, estimate) = (job.size.preferred(), job.runtime, job.estimate);
        let first = match self.submissions {
            Some((first, last)) => {
                self.gaps.add(job.submit.since(last).micros());
                first
            }
            None => job.submit,
        };
        self.submissions = Some((first, job.submit));
        if job.user >= 0 {
            self.users.insert(job.user);
        }
        self.sizes.add(u64::from(procs));
        self.serial += u64::from(procs == 1);
        self.powers_of_two += u64::from(procs > 1 && procs.is_power_of_two());
        self.runtimes.add(run.micros());
        self.estimates.add(estimate.micros());
        if !estimate.is_zero() {
            let ratio = u128::from(run.micros()) * 1_000_000 / u128::from(estimate.micros());
            self.accuracies.add(u64::try_from(ratio).unwrap_or(u64::MAX));
        }
        self.exact += u64::from(run == estimate);
        self.exceeded += u64::from(run > estimate);
        let work = u128::from(procs) * u128::from(run.micros());
        self.work += work;
        let class =
            self.classes.index(self.classes.of(ClassifiedBy { runtime: run, estimate, procs }, self.machine));
        if let Some((jobs, class_work)) = self.by_class.get_mut(class) {
            *jobs += 1;
            *class_work += work;
        }
        let second = (job.submit.micros() / 1_000_000) as i64 % DAY + self.unix_start.unwrap_or(0) % DAY;
        let hour = second.rem_euclid(DAY) / 3_600;
        self.by_hour[hour as usize % 24] += 1;
        self.cloud.add(job);
    }

    /// The statistics of the jobs counted; `None` if there were none.
    pub fn contents(&self) -> Option<Contents> {
        let (first, last) = self.submissions?;
        let jobs = self.runtimes.count();
        let share = |count: u64| count as f64 / jobs as f64;
        let span = last.since(first).as_secs_f64();
        let work = self.work as f64 / 1e6;
        let capacity = f64::from(self.machine) * span;
        let by_class = self.by_class.iter().enumerate().map(|(index, (count, class_work))| ClassShare {
            class: self.classes.label(index),
            jobs: *count,
            share: share(*count),
            work_share: if self.work == 0 { 0.0 } else { *class_work as f64 / self.work as f64 },
        });
        Some(Contents {
            jobs,
            users: self.users.len() as u64,
            first_submit: first.as_secs_f64(),
            last_submit: last.as_secs_f64(),
            span,
            machine: self.machine,
            work,
            offered_load: (capacity > 0.0).then(|| work / capacity),
            sizes: Sizes {
                processors: self.sizes.quantity(1.0),
                serial: share(self.serial),
                power_of_two: share(self.powers_of_two),
            },
            runtimes: self.runtimes.quantity(1e6),
            estimates: self.estimates.quantity(1e6),
            accuracy: self.accuracies.quantity(1e6),
            exact_estimates: share(self.exact),
            exceeded_estimates: share(self.exceeded),
            interarrivals: self.gaps.quantity(1e6),
            classes: self.classes.name().to_owned(),
            by_class: by_class.collect(),
            arrivals: Hours {
                reference: if self.unix_start.is_some() {
                    HourReference::Utc
                } else {
                    HourReference::LogStart
                },
                shares: self.by_hour.map(share),
            },
            dedicated: self.cloud.dedicated(jobs),
            commands: self.cloud.commands(jobs),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Elastic, ElasticCommand};
    use crate::units::Span;

    fn job(id: u64, at: u64, procs: u32, run: u64, estimate: u64) -> Job {
        let mut job = Job::rigid(id, Time::from_secs(at), procs, Span::from_secs(run));
        job.user = (id % 2) as i32;
        job.estimated(Span::from_secs(estimate))
    }

    #[test]
    fn a_workload_that_can_be_counted_by_hand() {
        let mut census = Census::new(10, "huang-1".parse().unwrap(), Some(23 * 3_600));
        assert_eq!(census.contents(), None);
        // Work 1·50 + 4·100 + 3·1850 = 6000 processor-seconds; 10 processors × 4000 s of submissions.
        let jobs = [job(1, 0, 1, 50, 100), job(2, 1_000, 4, 100, 100), job(3, 4_000, 3, 1_850, 1_000)];
        jobs.iter().for_each(|job| census.add(job));
        let found = census.contents().unwrap();
        assert_eq!((found.jobs, found.users, found.span), (3, 2, 4_000.0));
        assert_eq!((found.work, found.offered_load), (6_000.0, Some(0.15)));
        assert_eq!((found.sizes.serial, found.sizes.power_of_two), (1.0 / 3.0, 1.0 / 3.0));
        assert_eq!((found.sizes.processors.min, found.sizes.processors.max), (1.0, 4.0));
        assert_eq!((found.runtimes.median, found.runtimes.max), (100.0, 1_850.0));
        assert_eq!(
            (found.accuracy.median, found.exact_estimates, found.exceeded_estimates),
            (1.0, 1.0 / 3.0, 1.0 / 3.0)
        );
        // Gaps 1000 and 3000: mean 2000, standard deviation 1000.
        assert_eq!((found.interarrivals.mean, found.interarrivals.cv), (2_000.0, 0.5));
        let classes: Vec<_> = found.by_class.iter().map(|class| (class.class.as_str(), class.jobs)).collect();
        assert_eq!(classes, [("short", 1), ("medium", 1), ("long", 1)]);
        // The log begins at 23 h; the third job arrives a little more than an hour later, after midnight.
        assert_eq!((found.arrivals.shares[23], found.arrivals.shares[0]), (2.0 / 3.0, 1.0 / 3.0));
        assert_eq!(found.arrivals.reference, HourReference::Utc);
        assert!(serde_json::to_string(&found).unwrap().contains("\"offered_load\":0.15"));
        assert_eq!((found.dedicated, found.commands), (None, None));
    }

    #[test]
    fn starts_and_commands_that_can_be_counted_by_hand() {
        let at = Time::from_secs;
        let command = |secs, change| ElasticCommand { at: at(secs), change };
        let mut jobs =
            [job(1, 10, 1, 50, 100), job(2, 20, 4, 100, 100), job(3, 30, 3, 50, 100), job(4, 40, 3, 5, 5)];
        jobs[0].requested_start = Some(at(40));
        jobs[1].requested_start = Some(at(30));
        let extend = |secs| Elastic::ExtendTime(Span::from_secs(secs));
        jobs[1].elastic = Some([command(20, extend(4)), command(60, Elastic::ReduceProcs(2))].into());
        jobs[2].elastic = Some([command(50, extend(8))].into());
        let mut census = Census::new(10, JobClasses::none(), None);
        jobs.iter().for_each(|job| census.add(job));
        let found = census.contents().unwrap();
        let dedicated = found.dedicated.unwrap();
        assert_eq!((dedicated.jobs, dedicated.share, dedicated.lead.mean), (2, 0.5, 20.0));
        let commands = found.commands.unwrap();
        assert_eq!((commands.jobs, commands.after.count, commands.after.mean), (2, 3, 20.0));
        let kinds: Vec<_> = commands.kinds.iter().map(|k| (k.code, k.amount.count, k.amount.mean)).collect();
        assert_eq!(kinds, [("ET", 2, 6.0), ("RP", 1, 2.0)]);
    }

    #[test]
    fn one_job_offers_no_load() {
        let mut census = Census::new(10, JobClasses::none(), None);
        census.add(&job(1, 5, 1, 1, 1));
        let found = census.contents().unwrap();
        assert_eq!(found.offered_load, None);
        assert_eq!(found.arrivals.reference, HourReference::LogStart);
    }
}
