//! Checks co-allocated jobs: their parts start together, at the time and at the sites that were agreed, or they end together.

use rustc_hash::FxHashMap;

use super::{Row, Rule, Verdict, Violation};
use crate::model::{CoallocationOutcome, Outcome};
use crate::output::{CoallocationRow, JobRow};
use crate::units::{Span, Time};
use crate::workload::Coupled;

/// The co-allocated jobs of a run, and what the rows of their parts say.
#[derive(Debug, Default)]
pub(crate) struct Together {
    jobs: Vec<(CoallocationRow, Vec<Option<Seen>>)>,
    /// The place of each part, by its number.
    parts: FxHashMap<u64, (usize, usize)>,
}

/// A part as it was.
#[derive(Clone, Debug)]
struct Seen {
    start: Option<Time>,
    run: Span,
    site: String,
    outcome: Outcome,
}

impl Together {
    /// Takes the next co-allocated job.
    pub(crate) fn add(&mut self, row: CoallocationRow) {
        let at = self.jobs.len();
        for part in 0..row.parts as usize {
            self.parts.insert(row.job + part as u64 * Coupled::APART, (at, part));
        }
        let parts = vec![None; row.parts as usize];
        self.jobs.push((row, parts));
    }

    /// Takes the row of a job of the grid. True if it is a part of a co-allocated job.
    pub(crate) fn job(&mut self, job: &JobRow) {
        let Some((at, part)) = self.parts.get(&job.job) else { return };
        let site = job.site.to_string();
        self.jobs[*at].1[*part] = Some(Seen { start: job.start, run: job.run, site, outcome: job.outcome });
    }

    /// Checks all of them.
    pub(crate) fn finish(self, verdict: &mut Verdict) {
        for (row, parts) in self.jobs {
            verdict.count_check(Rule::Together);
            for what in problems(&row, &parts) {
                let message = format!("co-allocated job {}: {what}", row.job);
                let at = Row { file: "coallocations.csv", line: row.line };
                verdict.report(Violation {
                    time: row.start.unwrap_or(row.ended),
                    rule: Rule::Together,
                    jobs: Vec::new(),
                    message,
                    row: at,
                });
            }
        }
    }
}

/// What is wrong with a co-allocated job.
fn problems(row: &CoallocationRow, parts: &[Option<Seen>]) -> Vec<String> {
    let Some(outcome) = CoallocationOutcome::ALL.into_iter().find(|outcome| outcome.name() == &*row.outcome)
    else {
        return vec![format!("`{}` is no outcome", row.outcome)];
    };
    let seen: Option<Vec<&Seen>> = parts.iter().map(Option::as_ref).collect();
    let Some(seen) = seen else { return vec!["a part has no row in jobs.csv".to_owned()] };
    let mut wrong = Vec::new();
    let Some(start) = row.start else {
        if let Some(at) = seen.iter().position(|part| part.start.is_some()) {
            wrong.push(format!("part {} started, and no start was agreed", at + 1));
        }
        return wrong;
    };
    if start < row.earliest {
        wrong.push(format!("its start at {start} s is before its earliest start at {} s", row.earliest));
    }
    let sites: Vec<&str> = row.sites.split(' ').collect();
    for (at, part) in (1..).zip(&seen) {
        if let Some(began) = part.start {
            if began != start {
                wrong.push(format!("part {at} started at {began} s, and {start} s was agreed"));
            }
            // One that was lost there ended at no site.
            let planned = sites.get(at - 1).copied().unwrap_or_default();
            if planned != part.site && part.site != "grid" {
                wrong.push(format!("part {at} ran at {}, and it was to run at {planned}", part.site));
            }
        } else if matches!(outcome, CoallocationOutcome::Completed | CoallocationOutcome::Failed) {
            wrong.push(format!("part {at} never started"));
        }
    }
    for (at, site) in sites.iter().enumerate() {
        if sites[..at].contains(site) {
            wrong.push(format!("two parts were to run at {site}"));
        }
    }
    if outcome == CoallocationOutcome::Completed {
        if let Some(at) = seen.iter().position(|part| part.outcome != Outcome::Completed) {
            wrong.push(format!("part {} is {}", at + 1, seen[at].outcome));
        }
        let runs = seen.iter().map(|part| part.run.micros());
        // Of parts at machines of different speeds a run time is rounded.
        if runs.clone().max().unwrap_or(0) - runs.min().unwrap_or(0) > seen.len() as u64 {
            wrong.push("its parts did not take equally long".to_owned());
        }
    }
    wrong
}
