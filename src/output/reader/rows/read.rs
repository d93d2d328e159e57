//! Reading rows column by column.

use std::sync::Arc;

use super::{EventRow, JobRow, MachineRow, SegmentRow};
use crate::model::{Cause, Elastic, MachineState, Origin, Outcome, RejectReason};
use crate::output::reader::table::{Cells, Row, Wrong};
use crate::units::{Energy, Money, Rate, Span, Time};

const SECONDS: &str = "a time in seconds";

fn time(cells: &mut Cells<'_>) -> Result<Time, Wrong> {
    span(cells).map(|span| Time::from_micros(span.micros()))
}

fn span(cells: &mut Cells<'_>) -> Result<Span, Wrong> {
    let micros = cells.decimal(6, SECONDS)?;
    u64::try_from(micros).map(Span::from_micros).map_err(|_| cells.wrong(SECONDS))
}

fn maybe_span(cells: &mut Cells<'_>) -> Result<Option<Span>, Wrong> {
    let micros = cells.maybe_decimal(6, SECONDS)?;
    micros
        .map(|micros| u64::try_from(micros).map(Span::from_micros).map_err(|_| cells.wrong(SECONDS)))
        .transpose()
}

fn maybe_time(cells: &mut Cells<'_>) -> Result<Option<Time>, Wrong> {
    maybe_span(cells).map(|span| span.map(|span| Time::from_micros(span.micros())))
}

fn energy(cells: &mut Cells<'_>) -> Result<Energy, Wrong> {
    cells.decimal(9, "an energy in joules").map(Energy::from_nanojoules)
}

fn money(cells: &mut Cells<'_>) -> Result<Money, Wrong> {
    // A negative amount of money is written with a sign; no other decimal of gridemu has one.
    let text = cells.text();
    let nanos = std::str::from_utf8(text).ok().and_then(|text| {
        let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let fraction = format!("{fraction:0<9}");
        let whole: i128 = whole.parse().ok()?;
        let fraction: i128 = fraction.get(..9)?.parse().ok()?;
        Some(sign * (whole.checked_mul(1_000_000_000)? + fraction))
    });
    nanos.map(Money::from_nanos).ok_or(cells.wrong("an amount of money"))
}

/// A rate or a share: the multiple of 2⁻²⁰ nearest to the decimals.
fn rate(cells: &mut Cells<'_>) -> Result<Rate, Wrong> {
    let ppb = cells.decimal(9, "a rate")?;
    let units = ((ppb << Rate::BITS) + 500_000_000) / 1_000_000_000;
    u64::try_from(units).map(Rate::from_units).map_err(|_| cells.wrong("a rate"))
}

const ORIGINS: [(&str, Origin); 2] = [("local", Origin::Local), ("grid", Origin::Grid)];

fn outcomes() -> [(&'static str, Outcome); 6] {
    use Outcome::{Cancelled, Completed, Failed, Killed, Rejected, Unfinished};
    let all = [Completed, Killed, Failed, Rejected(RejectReason::Policy), Cancelled, Unfinished];
    all.map(|outcome| (outcome.name(), outcome))
}

/// A row of gridemu's own `jobs.csv`.
pub(in crate::output::reader) struct OurJob;

impl Row for OurJob {
    type Out = JobRow;
    const COLUMNS: &'static [&'static str] = &[
        "job",
        "submit",
        "start",
        "end",
        "procs",
        "site",
        "outcome",
        "requested",
        "run",
        "estimate",
        "wait",
        "response",
        "bsld",
        "user",
        "class",
        "attempts",
        "energy_j",
        "cost",
    ];
    const OPTIONAL: &'static [&'static str] = &["reason", "partition", "origin", "requested_start"];

    fn read(cells: &mut Cells<'_>) -> Result<JobRow, Wrong> {
        Ok(JobRow {
            line: cells.line(),
            job: cells.whole()?,
            submit: time(cells)?,
            start: maybe_time(cells)?,
            end: time(cells)?,
            procs: cells.count()?,
            site: cells.name()?,
            outcome: cells.word(&outcomes(), "an outcome, such as `completed`")?,
            requested: cells.count()?,
            run: span(cells)?,
            estimate: span(cells)?,
            wait: maybe_span(cells)?,
            response: maybe_span(cells)?,
            bsld: cells.maybe_figure()?,
            user: cells.signed()?,
            class: cells.name()?,
            attempts: cells.count()?,
            energy: energy(cells)?,
            cost: money(cells)?,
            reason: cells.maybe_name()?,
            partition: cells.maybe_name()?,
            origin: cells.word(&[ORIGINS[0], ORIGINS[1], ("", Origin::Local)], "`local` or `grid`")?,
            requested_start: maybe_time(cells)?,
            allocated: None,
        })
    }
}

/// A row of Batsim's table of jobs, of any version that has allocations.
pub(in crate::output::reader) struct BatsimJob;

impl Row for BatsimJob {
    type Out = JobRow;
    const COLUMNS: &'static [&'static str] = &[
        "job_id",
        "submission_time",
        "requested_number_of_resources",
        "requested_time",
        "success",
        "starting_time",
        "execution_time",
        "finish_time",
        "waiting_time",
        "turnaround_time",
        "allocated_resources",
    ];
    const OPTIONAL: &'static [&'static str] = &["final_state", "consumed_energy"];

    fn read(cells: &mut Cells<'_>) -> Result<JobRow, Wrong> {
        let line = cells.line();
        let job = batsim_id(cells.text()).ok_or(cells.wrong("the number of a job"))?;
        let submit = time(cells)?;
        let requested = cells.count()?;
        // A job without a wall time has −1.
        let estimate = match cells.text() {
            text if text.first() == Some(&b'-') || text.is_empty() => None,
            text => Some(
                std::str::from_utf8(text)
                    .ok()
                    .and_then(|text| text.parse().ok())
                    .and_then(Span::from_secs_f64),
            ),
        };
        let estimate = match estimate {
            None => Span::MAX,
            Some(Some(span)) => span,
            Some(None) => return Err(cells.wrong(SECONDS)),
        };
        let success = cells.word(&[("1", true), ("0", false)], "1 or 0")?;
        let start = maybe_time(cells)?;
        let run = maybe_span(cells)?;
        let end = maybe_time(cells)?;
        let wait = maybe_span(cells)?;
        let response = maybe_span(cells)?;
        let allocated = cells.processors()?;
        let state = cells.text();
        // Batsim writes −1 where nothing draws power.
        let energy = match cells.text() {
            b"" => Energy::ZERO,
            text if text.first() == Some(&b'-') => Energy::ZERO,
            text => {
                let joules: Option<f64> = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
                let joules = joules.ok_or(cells.wrong("an energy in joules"))?;
                Energy::from_nanojoules((joules * 1e9 + 0.5) as u128)
            }
        };
        let outcome = match (state, success) {
            (b"REJECTED", _) => Outcome::Rejected(RejectReason::Policy),
            (b"COMPLETED_FAILED", _) => Outcome::Failed,
            (b"COMPLETED_KILLED", _) => Outcome::Cancelled,
            (b"COMPLETED_WALLTIME_REACHED", _) => Outcome::Killed,
            (_, true) => Outcome::Completed,
            (_, false) if start.is_none() || allocated.is_empty() => Outcome::Rejected(RejectReason::Policy),
            (_, false) => Outcome::Killed,
        };
        let started = !matches!(outcome, Outcome::Rejected(_)) && start.is_some();
        let nothing: Arc<str> = Arc::from("");
        Ok(JobRow {
            line,
            job,
            submit,
            start: start.filter(|_| started),
            end: end.unwrap_or(submit),
            procs: allocated.len(),
            site: Arc::clone(&nothing),
            outcome,
            requested,
            run: run.unwrap_or_default(),
            estimate,
            wait: wait.filter(|_| started),
            response: response.filter(|_| started),
            bsld: None,
            user: -1,
            class: nothing,
            attempts: u32::from(started),
            energy,
            cost: Money::default(),
            reason: None,
            partition: None,
            origin: Origin::Local,
            requested_start: None,
            allocated: Some(allocated),
        })
    }
}

/// The number of a job, which Batsim also writes after the name of its workload: `w0!12`.
fn batsim_id(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    text.rsplit('!').next()?.parse().ok()
}

impl Row for SegmentRow {
    type Out = Self;
    const COLUMNS: &'static [&'static str] = &[
        "job",
        "attempt",
        "site",
        "partition",
        "procs",
        "from",
        "to",
        "rate",
        "share",
        "cause",
        "energy_j",
        "cost",
        "processors",
    ];
    const OPTIONAL: &'static [&'static str] = &["origin"];

    fn read(cells: &mut Cells<'_>) -> Result<Self, Wrong> {
        const CAUSES: [Cause; 5] =
            [Cause::Run, Cause::Suspend, Cause::Resume, Cause::Checkpoint, Cause::Staging];
        Ok(Self {
            line: cells.line(),
            job: cells.whole()?,
            attempt: cells.count()?,
            site: cells.name()?,
            partition: cells.name()?,
            procs: cells.count()?,
            from: time(cells)?,
            to: time(cells)?,
            rate: rate(cells)?,
            share: rate(cells)?,
            cause: cells.word(&CAUSES.map(|cause| (cause.name(), cause)), "a cause, such as `run`")?,
            energy: energy(cells)?,
            cost: money(cells)?,
            processors: cells.processors()?,
            origin: cells.word(&[ORIGINS[0], ORIGINS[1], ("", Origin::Local)], "`local` or `grid`")?,
        })
    }
}

impl Row for MachineRow {
    type Out = Self;
    const COLUMNS: &'static [&'static str] = &["time", "site", "partition", "state", "processors"];

    fn read(cells: &mut Cells<'_>) -> Result<Self, Wrong> {
        use MachineState::{Busy, Down, Idle, Reserved};
        let states = [Busy, Idle, Reserved, Down].map(|state| (state.name(), state));
        Ok(Self {
            line: cells.line(),
            time: time(cells)?,
            site: cells.name()?,
            partition: cells.name()?,
            state: cells.word(&states, "`busy`, `idle`, `reserved` or `down`")?,
            processors: cells.processors()?,
        })
    }
}

impl Row for EventRow {
    type Out = Self;
    const COLUMNS: &'static [&'static str] = &[
        "time",
        "event",
        "cause",
        "site",
        "partition",
        "machines",
        "procs",
        "job",
        "origin",
        "attempt",
        "wasted_proc_s",
        "since_failure_s",
    ];
    const OPTIONAL: &'static [&'static str] = &["command"];

    fn read(cells: &mut Cells<'_>) -> Result<Self, Wrong> {
        let origins = [("", None), ("local", Some(Origin::Local)), ("grid", Some(Origin::Grid))];
        Ok(Self {
            line: cells.line(),
            time: time(cells)?,
            event: cells.name()?,
            cause: cells.name()?,
            site: cells.name()?,
            partition: cells.maybe_name()?,
            machines: cells.processors()?,
            procs: cells.count()?,
            job: cells.maybe_whole()?,
            origin: cells.word(&origins, "`local` or `grid`")?,
            attempt: cells.maybe_whole()?.map(|attempt| attempt as u32),
            wasted_proc_s: cells.maybe_figure()?,
            since_failure_s: cells.maybe_figure()?,
            command: match cells.text() {
                b"" => None,
                text => {
                    let command = std::str::from_utf8(text).ok().and_then(Elastic::read);
                    Some(command.ok_or(cells.wrong("an elastic command, such as `ET 60`"))?)
                }
            },
        })
    }
}
