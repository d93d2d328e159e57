//! Values of options of `gridemu replay`.

use crate::scenario::kind::quantity::exact;
use crate::units::{Power, Rate, Span, Time};

/// A value of an option, with its text.
#[derive(Clone, Debug)]
pub(super) struct Typed<T> {
    pub(super) typed: String,
    pub(super) value: T,
}

/// Reads the power of a processor, as a scenario has it. There, power without `/core` is that of a machine with all its cores, and a
/// replay has processors only.
pub(super) fn power(written: &str) -> Result<Typed<Power>, String> {
    let (power, of_core) = match written.trim().strip_suffix("/core") {
        Some(power) => (power, true),
        None => (written.trim(), false),
    };
    let value: Power = exact(power)
        .map_err(|_| format!("`{written}` is not the power of a processor, such as `95 W/core`"))?;
    if of_core || value == Power::ZERO {
        Ok(Typed { typed: written.to_owned(), value })
    } else {
        Err(format!(
            "`{power}` is the power of a machine with all its cores, and a replay has processors only; write `{power}/core`"
        ))
    }
}

pub(super) fn former(_: &str) -> Result<u32, String> {
    Err("this option is now called `--allocation-unit`".to_owned())
}

pub(super) fn speed(written: &str) -> Result<Rate, String> {
    let value: f64 = written.parse().map_err(|_| "it is not a number".to_owned())?;
    // Speeds are multiples of 2⁻²⁰, so from 0.001 on the rounding error is at most a thousandth.
    let rate = Rate::from_f64(value).filter(|_| (0.001..=1e6).contains(&value));
    rate.ok_or_else(|| "it must be above 0: from 0.001 to 1000000".to_owned())
}

pub(super) fn interval(written: &str) -> Result<Span, String> {
    let span: Span = written.parse().map_err(|error: crate::units::UnitError| error.to_string())?;
    if span.is_zero() { Err("it must be above 0".to_owned()) } else { Ok(span) }
}

pub(super) fn pue(written: &str) -> Result<u64, String> {
    let value: f64 = written.parse().map_err(|_| "it is not a number".to_owned())?;
    if (1.0..=10.0).contains(&value) {
        Ok((value * 1e6).round() as u64)
    } else {
        Err("it must be from 1 to 10".to_owned())
    }
}

/// From, to, processors, and the job that they are kept for.
pub(super) type Wanted = (Time, Time, u32, Option<u64>);

pub(super) fn reservation(written: &str) -> Result<Typed<Wanted>, String> {
    let form = || {
        format!("`{written}` is not of the form FROM..TO:PROCS or FROM..TO:PROCS:JOB, such as `2h..4h:64`")
    };
    let (from, rest) = written.split_once("..").ok_or_else(form)?;
    let (to, rest) = rest.split_once(':').ok_or_else(form)?;
    let (procs, job) = rest.split_once(':').map_or((rest, None), |(procs, job)| (procs, Some(job)));
    let job = job.map(|job| job.trim().parse().map_err(|_| form())).transpose()?;
    let time =
        |text: &str| text.parse::<Span>().map(|span| Time::ZERO + span).map_err(|error| error.to_string());
    let value = (time(from)?, time(to)?, procs.trim().parse().map_err(|_| form())?, job);
    Ok(Typed { typed: written.to_owned(), value })
}
