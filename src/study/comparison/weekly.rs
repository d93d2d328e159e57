//! The jobs of one log by week, for claims on a single run of it or on two.

use std::collections::BTreeSet;

use super::jobs::{JobOutcome, WEEK, ran};
use crate::metrics::Window;
use crate::study::measure::{JOB_MEASURES, word_of};
use crate::study::statistics::Week;
use crate::units::{Span, Time};

/// The jobs of a run, and what its measures are defined by.
#[derive(Clone, Debug, PartialEq)]
pub struct RunJobs {
    /// The jobs.
    pub jobs: Vec<JobOutcome>,
    /// Bound of the bounded slowdown.
    pub tau: Span,
    /// The measured window: jobs submitted in it count.
    pub window: Window,
}

impl RunJobs {
    /// The only class of which the name is written like this as a part of a measure.
    fn class(&self, word: &str) -> Option<&str> {
        let names: BTreeSet<&str> = self.jobs.iter().map(|job| &*job.class).collect();
        let mut of_word = names.into_iter().filter(|name| word_of(name, &mut BTreeSet::new()) == word);
        of_word.next().filter(|_| of_word.next().is_none())
    }

    /// The submission and the measure `id` (`mean_wait`, `class.vs_n.mean_wait`) of each job that has it; `None` if it is no
    /// mean over jobs, or if the names of several classes are written like that.
    fn values(&self, id: &str) -> Option<impl Iterator<Item = (Time, f64)>> {
        let (class, measure) = match id.strip_prefix("class.") {
            Some(rest) => {
                let (word, measure) = rest.rsplit_once('.')?;
                (Some(self.class(word)?), measure)
            }
            None => (None, id),
        };
        let at = JOB_MEASURES.iter().position(|known| *known == measure)?;
        let counts = move |job: &&JobOutcome| {
            self.window.contains(job.submit) && class.is_none_or(|class| *class == *job.class)
        };
        Some(
            self.jobs
                .iter()
                .filter(counts)
                .filter_map(move |job| Some((job.submit, ran(job, self.tau)?[at]))),
        )
    }
}

/// The sums of a measure on each side by the week of submission, counted from the first job of either: the same jobs in two
/// runs, or two groups of jobs. `None` if a measure is no mean over jobs, or if there are no such jobs.
pub fn by_week(a: (&RunJobs, &str), b: (&RunJobs, &str)) -> Option<Vec<Week>> {
    let sides = [a.0.values(a.1)?.collect::<Vec<_>>(), b.0.values(b.1)?.collect::<Vec<_>>()];
    let origin = a.0.jobs.iter().chain(&b.0.jobs).map(|job| job.submit).min()?;
    let mut weeks: Vec<Week> = Vec::new();
    for (side, values) in sides.iter().enumerate() {
        for (submit, value) in values {
            let at = (submit.since(origin).micros() / WEEK) as usize;
            if weeks.len() <= at {
                weeks.resize(at + 1, Week::default());
            }
            weeks[at].jobs[side] += 1;
            *(if side == 0 { &mut weeks[at].sum_a } else { &mut weeks[at].sum_b }) += value;
        }
    }
    (!weeks.is_empty()).then_some(weeks)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::{Origin, Outcome};

    fn job(number: u64, day: u64, class: &str, wait: u64) -> JobOutcome {
        let submit = Time::ZERO + Span::from_secs(day * 86_400);
        let start = submit + Span::from_secs(wait);
        JobOutcome {
            job: number,
            origin: Origin::Local,
            site: Arc::from("s"),
            class: Arc::from(class),
            submit,
            ready: submit,
            start: Some(start),
            end: start + Span::from_secs(10),
            procs: 1,
            run: Span::from_secs(10),
            outcome: Outcome::Completed,
        }
    }

    #[test]
    fn jobs_count_in_the_week_of_their_submission() {
        let run = |wait| RunJobs {
            jobs: vec![job(1, 3, "VS N", wait), job(2, 4, "VS W", 2 * wait), job(3, 12, "VS N", 5 * wait)],
            tau: Span::from_secs(10),
            window: Window::ALL,
        };
        let (one, other) = (run(10), run(20));
        let week = |jobs, sum_a, sum_b| Week { jobs, sum_a, sum_b };
        assert_eq!(
            by_week((&one, "mean_wait"), (&other, "mean_wait")).unwrap(),
            [week([2; 2], 30.0, 60.0), week([1; 2], 50.0, 100.0)]
        );
        // Two classes of one run: not the same jobs, and not as many.
        assert_eq!(
            by_week((&one, "class.vs_n.mean_bounded_slowdown"), (&one, "class.vs_w.mean_bounded_slowdown"))
                .unwrap(),
            [week([1, 1], 2.0, 3.0), week([1, 0], 6.0, 0.0)]
        );
        assert_eq!(by_week((&one, "utilization"), (&other, "utilization")), None);
        assert_eq!(by_week((&one, "class.s_n.mean_wait"), (&one, "class.vs_n.mean_wait")), None);
    }
}
