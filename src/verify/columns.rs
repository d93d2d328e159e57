//! Columns that follow from other columns.

use super::Checker;
use super::findings::{Row, Rule, Subject};
use crate::metrics::Definitions;
use crate::model::{JobClasses, JobRecord};
use crate::output::JobRow;
use crate::units::Span;

/// The resolution of bounded slowdowns, which are written with nine decimals of a double.
const DIGIT: f64 = 1e-9;

impl Checker {
    /// Checks that the columns of a job's row agree: wait, response and bounded slowdown with the times and the bound
    /// `tau` of the slowdown, if that is known; with `batsim` also the run with the time from start to end, since in
    /// Batsim nothing is shared or wasted.
    pub(crate) fn columns(
        &mut self,
        job: &JobRecord,
        written: &JobRow,
        tau: Option<Span>,
        batsim: bool,
        row: Row,
    ) {
        let Self { platform, verdict, .. } = self;
        verdict.count_check(Rule::Columns);
        let name = job.job_ref();
        let text = platform.job(name);
        let mut fault = |message| verdict.fault(Subject { name, row }, Rule::Columns, job.end, message);
        let slack = platform.slack.micros();
        let near = |a: Span, b: Span| a.micros().abs_diff(b.micros()) <= slack;
        let mut span = |column: &str, written: Option<Span>, follows: Option<Span>| match (written, follows) {
            (Some(written), Some(follows)) if !near(written, follows) => {
                fault(format!("`{column}` of {text} is {written} s, and its times give {follows} s"));
            }
            (Some(written), None) => {
                fault(format!("`{column}` of {text} is {written} s, and it never started"));
            }
            (None, Some(follows)) => {
                fault(format!("`{column}` of {text} is empty, and its times give {follows} s"));
            }
            _ => {}
        };
        let started = |span: Span| job.start.map(|_| span);
        span("wait", written.wait, started(job.wait()));
        span("response", written.response, started(job.response()));
        if let Some(start) = job.start.filter(|_| batsim) {
            span("run", Some(job.run), Some(job.end.since(start)));
        }
        let Some(tau) = tau.filter(|_| !batsim) else { return };
        let definitions = Definitions::new(tau, JobClasses::none(), 0);
        let follows = Definitions::is_measured(job).then(|| definitions.bounded_slowdown(job).as_f64());
        let shown = |bsld: Option<f64>| bsld.map_or("empty".to_owned(), |bsld| bsld.to_string());
        let differ = match (written.bsld, follows) {
            (Some(a), Some(b)) => (a - b).abs() > DIGIT * a.abs().max(1.0),
            (a, b) => a.is_some() != b.is_some(),
        };
        if differ {
            let (written, follows) = (shown(written.bsld), shown(follows));
            fault(format!("`bsld` of {text} is {written}, and its times give {follows} (tau {tau} s)"));
        }
    }
}
