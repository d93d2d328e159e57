//! Columns that follow from other columns.

use std::sync::Arc;

use super::Checker;
use super::findings::{JobName, Row, Rule};
use crate::metrics::Definitions;
use crate::model::{JobClasses, JobRecord};
use crate::units::Span;

/// The columns of a job's row that follow from the others.
#[derive(Clone, Debug)]
pub struct Columns {
    /// Time from submission to first start; `None` if the job never started.
    pub wait: Option<Span>,
    /// Time from submission to end; `None` if it never started.
    pub response: Option<Span>,
    /// Bounded slowdown; `None` if the job is not measured.
    pub bsld: Option<f64>,
    /// The bound of the slowdown, if the table has bounded slowdowns and the bound is known.
    pub tau: Option<Span>,
    /// The resolution of times in the table.
    pub slack: Span,
    /// Whether the run equals the time from start to end, as where nothing is shared or wasted.
    pub run_is_span: bool,
}

/// The resolution of bounded slowdowns, which are written with nine decimals of a double.
const DIGIT: f64 = 1e-9;

impl Checker {
    /// Checks that the columns of a job's row agree.
    pub fn columns(&mut self, job: &JobRecord, told: &Columns, row: Row) {
        self.verdict.look(Rule::Columns);
        let name = JobName::new(job.id, job.origin, job.site);
        let platform = Arc::clone(&self.platform);
        let word = name.told(&platform);
        let mut found = Vec::new();
        let near = |a: Span, b: Span| a.micros().abs_diff(b.micros()) <= told.slack.micros();
        let mut span = |column: &str, written: Option<Span>, follows: Option<Span>| match (written, follows) {
            (Some(written), Some(follows)) if !near(written, follows) => {
                found.push(format!("`{column}` of {word} is {written} s, and its times give {follows} s"));
            }
            (Some(written), None) => {
                found.push(format!("`{column}` of {word} is {written} s, and it never started"));
            }
            (None, Some(follows)) => {
                found.push(format!("`{column}` of {word} is empty, and its times give {follows} s"));
            }
            _ => {}
        };
        let started = |span: Span| job.start.map(|_| span);
        span("wait", told.wait, started(job.wait()));
        span("response", told.response, started(job.response()));
        if let Some(start) = job.start.filter(|_| told.run_is_span) {
            span("run", Some(job.run), Some(job.end.since(start)));
        }
        if let Some(tau) = told.tau {
            let definitions = Definitions::new(tau, JobClasses::none(), 0);
            let follows = Definitions::is_measured(job).then(|| definitions.bounded_slowdown(job).as_f64());
            let text = |bsld: Option<f64>| bsld.map_or("empty".to_owned(), |bsld| bsld.to_string());
            let differ = match (told.bsld, follows) {
                (Some(a), Some(b)) => (a - b).abs() > DIGIT * a.abs().max(1.0),
                (a, b) => a.is_some() != b.is_some(),
            };
            if differ {
                let (written, follows) = (text(told.bsld), text(follows));
                found.push(format!(
                    "`bsld` of {word} is {written}, and its times give {follows} (tau {tau} s)"
                ));
            }
        }
        for said in found {
            self.fault(Rule::Columns, job.end, vec![name], row, said);
        }
    }
}
