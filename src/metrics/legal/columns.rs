//! Columns that follow from others.

use std::sync::Arc;

use super::Checker;
use super::findings::{JobName, Row, Rule};
use crate::metrics::Definitions;
use crate::model::{JobClasses, JobRecord};
use crate::units::Span;

/// What the row of a job says that follows from the rest of it.
#[derive(Clone, Debug)]
pub struct Columns {
    /// Submission to first start; `None` if it never started.
    pub wait: Option<Span>,
    /// Submission to end; `None` if it never started.
    pub response: Option<Span>,
    /// Bounded slowdown; `None` if the job is not measured.
    pub bsld: Option<f64>,
    /// Its bound, where the table has bounded slowdowns and it is known.
    pub tau: Option<Span>,
    /// How exact times are.
    pub slack: Span,
    /// Whether the run is the time from start to end, as where nothing is shared or lost.
    pub run_is_span: bool,
}

/// Bounded slowdowns are written with nine decimals, of a number in double precision.
const DIGIT: f64 = 1e-9;

impl Checker {
    /// Whether the columns of a job's row agree.
    pub fn columns(&mut self, job: &JobRecord, told: &Columns, row: Row) {
        self.verdict.look(Rule::Columns);
        let name = JobName::new(job.id, job.origin, job.site);
        let grounds = Arc::clone(&self.grounds);
        let word = name.told(&grounds);
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
