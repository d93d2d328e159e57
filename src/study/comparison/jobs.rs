//! Compares two runs of one workload, paired by job.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::changes::{JobChange, changes};
use super::{Charge, CompareOptions, Contrast, percent};
use crate::metrics::{Outcomes, Window};
use crate::model::{Origin, Outcome};
use crate::study::statistics::{DRAWS, Effect, Evidence, Week, WeekBootstrap, block_bootstrap};
use crate::study::{JOB_MEASURES, stands_for};
use crate::units::{Span, Time, counted as number_of};
use crate::workload::random::Stream;

/// A job of a run, with its outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct JobOutcome {
    /// The number of the job.
    pub job: u64,
    /// Its origin.
    pub origin: Origin,
    /// For a local job the site of its user; for a grid job the site at which it ended.
    pub site: Arc<str>,
    /// Its class.
    pub class: Arc<str>,
    /// Time of its submission.
    pub submit: Time,
    /// The earliest possible start: its submission, or its requested start.
    pub ready: Time,
    /// Time of its start, if it started.
    pub start: Option<Time>,
    /// Time of its end.
    pub end: Time,
    /// Requested processors.
    pub procs: u32,
    /// Its run time.
    pub run: Span,
    /// Its outcome.
    pub outcome: Outcome,
}

/// The question about two runs.
#[derive(Clone, Debug, PartialEq)]
pub struct JobQuestion {
    /// The options of the comparison; [`CompareOptions::measures`] selects from wait, response and bounded slowdown.
    pub options: CompareOptions,
    /// Bound of the bounded slowdown.
    pub tau: Span,
    /// The measured window: jobs submitted in it count.
    pub window: Window,
    /// True if users wait for their jobs before they submit the next: then the submission of a job may differ between the two sides.
    pub feedback: bool,
}

/// Two runs of one workload, job by job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobComparison {
    /// The baseline, with which the other run is compared.
    pub baseline: String,
    /// The other run.
    pub variant: String,
    /// Jobs that are in both runs.
    pub jobs: usize,
    /// Jobs that are in one run only, or differ under one number (other processors, another submission): then the
    /// workloads differ, and there are no cells.
    pub unpaired: [usize; 2],
    /// The outcomes of the jobs in both runs.
    pub outcomes: [Outcomes; 2],
    /// Jobs with different outcomes.
    pub unlike: usize,
    /// Whole weeks from the first submission to the last.
    pub weeks: usize,
    /// Weeks with submissions of jobs that count on both sides: the amount of evidence.
    pub weeks_with_jobs: usize,
    /// Weeks in a block of the bootstrap, for the jobs as a whole; `None` if the log is too short for it.
    pub block: Option<usize>,
    /// Jobs that started earlier than, at the same instant as, and later than in the baseline.
    pub started: [usize; 3],
    /// The jobs whose waits decreased most.
    pub gained: Vec<JobChange>,
    /// The jobs whose waits increased most.
    pub lost: Vec<JobChange>,
    /// All jobs, each class, the local users of each site, and the grid's jobs: wait, response and bounded slowdown.
    pub cells: Vec<Contrast>,
}

pub(super) const WEEK: u64 = 7 * 86_400_000_000;
/// The number of weeks from which on a log as a whole has intervals; a group of its jobs may still have too few.
const ENOUGH_WEEKS: usize = 15;

/// Wait, response (both in seconds) and bounded slowdown of a job that started `wait` after its submission.
fn measures(job: &JobOutcome, wait: Span, response: Span, tau: Span) -> [f64; 3] {
    let bound = job.run.max(tau).as_secs_f64().max(1e-6);
    [wait.as_secs_f64(), response.as_secs_f64(), (response.as_secs_f64() / bound).max(1.0)]
}

/// The measures of a job that ran to its end; `None` for others.
pub(super) fn ran(job: &JobOutcome, tau: Span) -> Option<[f64; 3]> {
    let start = job.start.filter(|_| matches!(job.outcome, Outcome::Completed | Outcome::Killed))?;
    Some(measures(job, start.since(job.ready), job.end.since(job.ready), tau))
}

/// A job on both sides, with its measures.
pub(super) struct Pair<'a> {
    pub(super) a: &'a JobOutcome,
    pub(super) b: &'a JobOutcome,
    values: Option<[[f64; 3]; 2]>,
    /// The measures with each side charged on which it did not run to its end.
    charged: Option<[[f64; 3]; 2]>,
    alike: bool,
}

/// Compares the jobs of `variant` with the same jobs of `baseline`.
///
/// A number alone does not identify a job: two workloads of a model both have a job 1. The jobs of a pair request equal numbers of
/// processors and were submitted at the same instant, unless users wait for their jobs. A job occurs once among the jobs of a run.
///
/// The jobs of a run are not independent samples, so intervals come from [`block_bootstrap`], where the log is long
/// enough for it. A group of jobs with different outcomes has no difference, unless the question gives a way to charge
/// them. The cells' p values are not corrected yet: see [`super::settle`].
pub fn compare_jobs(
    baseline: (&str, &[JobOutcome]),
    variant: (&str, &[JobOutcome]),
    question: &JobQuestion,
) -> JobComparison {
    let of_b: BTreeMap<_, _> = counted(variant.1, question).map(|job| (key(job), job)).collect();
    let last = baseline.1.iter().chain(variant.1).map(|job| job.end).max().unwrap_or(Time::ZERO);
    let same =
        |a: &JobOutcome, b: &JobOutcome| a.procs == b.procs && (question.feedback || a.submit == b.submit);
    let paired = counted(baseline.1, question).filter_map(|a| Some((a, *of_b.get(&key(a))?)));
    let paired = paired.filter(|(a, b)| same(a, b));
    let mut pairs: Vec<Pair<'_>> = paired.map(|(a, b)| pair(a, b, last, question)).collect();
    pairs.sort_by_key(|pair| (pair.a.submit, key(pair.a)));
    let unpaired =
        [baseline.1, variant.1].map(|jobs| counted(jobs, question).count().saturating_sub(pairs.len()));
    let origin = pairs.first().map_or(Time::ZERO, |pair| pair.a.submit);
    let week = |pair: &Pair<'_>| (pair.a.submit.since(origin).micros() / WEEK) as usize;
    let weeks = pairs.last().map_or(0, |pair| week(pair) + 1);
    let mut all: Vec<(String, Vec<&Pair<'_>>)> = vec![("all".to_owned(), pairs.iter().collect())];
    all.extend(grouped(&pairs, |pair| Some(format!("class {}", pair.a.class))));
    all.extend(grouped(&pairs, |pair| {
        (!pair.a.site.is_empty() && pair.a.origin == Origin::Local)
            .then(|| format!("users of {}", pair.a.site))
    }));
    all.extend(grouped(&pairs, |pair| (pair.a.origin != Origin::Local).then(|| "grid".to_owned())));
    // A group with the same jobs as an earlier one (all of them, the only class of a site's users) adds nothing.
    let mut groups: Vec<(String, Vec<&Pair<'_>>)> = Vec::new();
    for (name, of) in all {
        let same = |other: &[&Pair<'_>]| {
            other.len() == of.len() && other.iter().zip(&of).all(|(a, b)| std::ptr::eq(*a, *b))
        };
        if !groups.iter().any(|(_, other)| same(other)) {
            groups.push((name, of));
        }
    }
    let measures = &question.options.measures;
    let wanted = |id: &str| measures.is_empty() || measures.iter().any(|wanted| stands_for(wanted, id));
    let mut cells = Vec::new();
    if unpaired == [0, 0] && !pairs.is_empty() {
        for (group, of) in &groups {
            for (at, measure) in JOB_MEASURES.iter().enumerate().filter(|(_, measure)| wanted(measure)) {
                let cell = Contrast::empty(vec![group.clone()], variant.0, measure);
                cells.push(contrast(cell, of, at, weeks, &week, question));
            }
        }
    }
    let mut outcomes = [Outcomes::default(); 2];
    for (outcomes, jobs) in outcomes.iter_mut().zip([baseline.1, variant.1]) {
        counted(jobs, question).for_each(|job| outcomes.add(job.outcome));
    }
    let whole = weeks_of(&pairs.iter().collect::<Vec<_>>(), 0, weeks, &week);
    let (gained, lost) = changes(&pairs, question.options.top);
    let started = |wanted: Ordering| {
        pairs.iter().filter(|p| p.a.start.zip(p.b.start).is_some_and(|(a, b)| b.cmp(&a) == wanted)).count()
    };
    JobComparison {
        baseline: baseline.0.to_owned(),
        variant: variant.0.to_owned(),
        jobs: pairs.len(),
        unpaired,
        outcomes,
        unlike: pairs.iter().filter(|pair| !pair.alike).count(),
        weeks,
        weeks_with_jobs: whole.iter().filter(|week| week.both()).count(),
        block: bootstrap(&whole, question, "block").map(|found| found.block),
        started: [Ordering::Less, Ordering::Equal, Ordering::Greater].map(started),
        gained,
        lost,
        cells,
    }
}

/// The jobs that count.
fn counted<'a>(jobs: &'a [JobOutcome], question: &JobQuestion) -> impl Iterator<Item = &'a JobOutcome> {
    let window = question.window;
    jobs.iter().filter(move |job| window.contains(job.submit))
}

/// The key of a job: local jobs of different sites are distinguished by the site.
fn key(job: &JobOutcome) -> (bool, &str, u64) {
    match job.origin {
        Origin::Local => (false, &job.site, job.job),
        Origin::Grid => (true, "", job.job),
    }
}

fn pair<'a>(a: &'a JobOutcome, b: &'a JobOutcome, last: Time, question: &JobQuestion) -> Pair<'a> {
    let alike = a.outcome.index() == b.outcome.index();
    let charged = |job: &JobOutcome| {
        let wait = last.since(job.ready);
        let response = Span::from_micros(wait.micros().saturating_add(job.run.micros()));
        ran(job, question.tau).or_else(|| (!alike).then(|| measures(job, wait, response, question.tau)))
    };
    let charged = charged(a).zip(charged(b)).map(|(a, b)| [a, b]);
    let values = match question.options.charge {
        Some(Charge::ToTheEnd) => charged,
        _ => charged.filter(|_| alike),
    };
    Pair { a, b, values, charged, alike }
}

fn grouped<'a, 'b>(
    pairs: &'b [Pair<'a>],
    of: impl Fn(&Pair<'a>) -> Option<String>,
) -> BTreeMap<String, Vec<&'b Pair<'a>>> {
    let mut groups: BTreeMap<String, Vec<&Pair<'a>>> = BTreeMap::new();
    for pair in pairs {
        if let Some(name) = of(pair) {
            groups.entry(name).or_default().push(pair);
        }
    }
    groups
}

/// The sums of a measure over the jobs of a group, by week.
fn weeks_of(
    group: &[&Pair<'_>],
    measure: usize,
    weeks: usize,
    week: &dyn Fn(&Pair<'_>) -> usize,
) -> Vec<Week> {
    let mut sums = vec![Week::default(); weeks];
    for pair in group {
        if let Some([a, b]) = pair.values {
            sums[week(pair)] += Week { jobs: [1; 2], sum_a: a[measure], sum_b: b[measure] };
        }
    }
    sums
}

fn bootstrap(weeks: &[Week], question: &JobQuestion, purpose: &str) -> Option<WeekBootstrap> {
    let mut stream = Stream::new(question.options.seed, "comparison", purpose);
    block_bootstrap(weeks, question.options.level, DRAWS, &mut stream)
}

/// True if two measures differ equally between the sides in every week, except for rounding.
fn differ_alike(one: &[Week], other: &[Week]) -> bool {
    one.iter().zip(other).all(|(one, other)| {
        let rounding = 1e-9 * (other.sum_a.abs() + other.sum_b.abs());
        ((one.sum_b - one.sum_a) - (other.sum_b - other.sum_a)).abs() <= rounding
    })
}

fn contrast(
    mut cell: Contrast,
    group: &[&Pair<'_>],
    measure: usize,
    weeks: usize,
    week: &dyn Fn(&Pair<'_>) -> usize,
    question: &JobQuestion,
) -> Contrast {
    let unlike = group.iter().filter(|pair| !pair.alike).count();
    let mut note = match (unlike, question.options.charge) {
        (0, _) => None,
        (_, None) => {
            let (share, tolerance) = (unlike as f64 / group.len() as f64, question.options.tolerance);
            let which = format!("{unlike} of {} jobs have different outcomes", group.len());
            if share > tolerance {
                let note = format!(
                    "refused: {which}, more than the tolerance of {}; `--charge to-the-end` charges such jobs, `--charge leave-out` leaves \
                     them out, `--tolerance {}` accepts them",
                    percent(tolerance),
                    (share * 100.0).ceil()
                );
                return Contrast { note: Some(note), ..cell };
            }
            cell.charged = difference_of_all(group, measure);
            Some(format!("{which} ({})", percent(share)))
        }
        (_, Some(Charge::LeaveOut)) => Some(format!("{} left out", number_of(unlike, "job"))),
        (_, Some(Charge::ToTheEnd)) => Some(charged_note(group, unlike, question.tau)),
    };
    let sums = weeks_of(group, measure, weeks, week);
    let jobs: u64 = sums.iter().map(|week| week.jobs[0]).sum();
    if jobs == 0 {
        return Contrast { note: Some("no job ran to its end".to_owned()), ..cell };
    }
    let mean = |of: fn(&Week) -> f64| sums.iter().map(of).sum::<f64>() / jobs as f64;
    let (mean_a, mean_b) = (mean(|week| week.sum_a), mean(|week| week.sum_b));
    let with_jobs = sums.iter().filter(|week| week.both()).count();
    let same = |pair: &&Pair<'_>| pair.values.is_none_or(|[a, b]| a[measure] == b[measure]);
    if group.iter().all(same) {
        return Contrast { note, ..cell.same(jobs as usize, mean_a, Evidence::of_seeds(with_jobs)) };
    }
    // Jobs with equal run times on both sides have equal differences of response and wait: one test, with one interval.
    let waits = weeks_of(group, 0, weeks, week);
    let differences = if differ_alike(&waits, &sums) { &waits } else { &sums };
    // The same weeks are drawn for all measures of a group.
    let cell = match bootstrap(differences, question, &cell.of.join("/")) {
        Some(WeekBootstrap { weeks, effect, .. }) => {
            let effect = Effect { mean_a, mean_b, ..effect };
            cell.with_effect(jobs as usize, &effect, Evidence::of_seeds(weeks))
        }
        None => {
            if weeks >= ENOUGH_WEEKS && with_jobs < weeks {
                let few = format!("jobs in {with_jobs} of {weeks} weeks: too few for an interval");
                note = Some(note.map_or(few.clone(), |note| format!("{note}; {few}")));
            }
            Contrast {
                pairs: jobs as usize,
                baseline_mean: Some(mean_a),
                variant_mean: Some(mean_b),
                difference: Some(mean_b - mean_a),
                evidence: Evidence::Nothing,
                ..cell
            }
        }
    };
    Contrast { note, ..cell }
}

/// The mean difference of a measure with all jobs of a group that ran or are charged on both sides.
fn difference_of_all(group: &[&Pair<'_>], measure: usize) -> Option<f64> {
    let differences: Vec<f64> =
        group.iter().filter_map(|pair| pair.charged.map(|[a, b]| b[measure] - a[measure])).collect();
    (!differences.is_empty()).then(|| differences.iter().sum::<f64>() / differences.len() as f64)
}

/// A note on how many of the jobs with different outcomes are charged: those that did not run to their end on one side. A
/// job that was killed at its estimate did.
fn charged_note(group: &[&Pair<'_>], unlike: usize, tau: Span) -> String {
    let lost = |job: &JobOutcome| ran(job, tau).is_none();
    let charged = group.iter().filter(|pair| !pair.alike && (lost(pair.a) || lost(pair.b))).count();
    let note = format!("{} charged to the end of the run", number_of(charged, "job"));
    match unlike - charged {
        0 => note,
        ran => {
            let have = if ran == 1 { "has another outcome" } else { "have different outcomes" };
            format!("{note}; {ran} {have}, but ran on both sides (completed or killed)")
        }
    }
}

#[cfg(test)]
mod tests;
