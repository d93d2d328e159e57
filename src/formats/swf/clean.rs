//! Which rows become jobs, and what these request.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::row::Row;
use super::tally::{Event, Tally};

/// The filter applied to a log.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Clean {
    /// Skips only rows that cannot be run: those without a submission time, or whose run time or processors are not
    /// positive. The public simulator pyss does the same.
    #[default]
    None,
    /// The filter of the published studies on predicted run times (Gaussier, Glesser, Reis and Trystram, *Improving
    /// backfilling by using machine learning to predict running times*, SC '15). It skips rows with more processors,
    /// allocated or requested, than the machine has; without a positive run time; without a positive requested time.
    /// A run time above the requested time is reduced to it.
    Strict,
}

impl FromStr for Clean {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        match written {
            "none" => Ok(Self::None),
            "strict" => Ok(Self::Strict),
            _ => Err(format!("there is no cleaning `{written}`; there are `none` and `strict`")),
        }
    }
}

/// A row that is a job: the fields of [`crate::model::Job`] in less memory. Times are in microseconds.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// The row that it comes from.
    pub(super) row: Row,
    pub(super) id: u64,
    pub(super) submit: u64,
    pub(super) run: u64,
    pub(super) estimate: u64,
    /// Negative if none is requested.
    pub(super) start: i64,
    pub(super) procs: u32,
}

impl Clean {
    /// The job of a row, still without a number; `Err` is the reason why the row is not a job. `machine` is the size
    /// that the strict filter compares with.
    pub(super) fn request(
        self,
        row: &Row,
        machine: Option<u32>,
        line: u64,
        tally: &mut Tally,
    ) -> Result<Request, Event> {
        let submit = u64::try_from(row.submit).map_err(|_| Event::NoSubmission)?;
        let mut run = match row.run {
            ..0 => return Err(Event::NoRunTime),
            0 => return Err(Event::ZeroRunTime),
            run => run as u64,
        };
        let procs = if row.requested > 0 { row.requested } else { row.allocated };
        let procs = u32::try_from(procs).ok().filter(|procs| *procs > 0).ok_or(Event::NoProcessors)?;
        let requested_time = u64::try_from(row.requested_time).ok().filter(|time| *time > 0);
        if self == Self::Strict {
            if machine.is_some_and(|machine| row.requested.max(row.allocated) > i64::from(machine)) {
                return Err(Event::TooLarge);
            }
            let requested_time = requested_time.ok_or(Event::NoRequestedTime)?;
            if run > requested_time {
                tally.add(Event::RunCut, line);
                run = requested_time;
            }
        }
        if requested_time.is_none() {
            tally.add(Event::NoEstimate, line);
        }
        let estimate = requested_time.unwrap_or(run);
        Ok(Request { row: *row, id: 0, submit, run, estimate, start: -1, procs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The request of an otherwise plain row with `allocated requested run requested_time`.
    fn request(clean: Clean, columns: &str) -> Result<(u32, u64, u64), Event> {
        let [allocated, requested, run, time] = columns.split(' ').collect::<Vec<_>>()[..] else { panic!() };
        let line = format!("1 5 0 {run} {allocated} -1 -1 {requested} {time} -1 1 1 1 1 1 1 -1 -1");
        let row = Row::parse(line.as_bytes()).unwrap();
        let request = clean.request(&row, Some(100), 1, &mut Tally::default())?;
        Ok((request.procs, request.run / 1_000_000, request.estimate / 1_000_000))
    }

    #[test]
    fn the_default_skips_what_cannot_run() {
        let default = |columns| request(Clean::None, columns);
        assert_eq!(default("4 8 10 20"), Ok((8, 10, 20)));
        assert_eq!(default("4 -1 10 -1"), Ok((4, 10, 10)));
        assert_eq!(default("4 0 10 5"), Ok((4, 10, 5)));
        assert_eq!(default("4 200 10 20"), Ok((200, 10, 20)));
        assert_eq!(default("-1 0 10 20"), Err(Event::NoProcessors));
        assert_eq!(default("4 8 0 20"), Err(Event::ZeroRunTime));
        assert_eq!(default("4 8 -1 20"), Err(Event::NoRunTime));
    }

    #[test]
    fn the_strict_filter_is_that_of_the_studies() {
        let strict = |columns| request(Clean::Strict, columns);
        assert_eq!(strict("4 8 10 20"), Ok((8, 10, 20)));
        assert_eq!(strict("-1 8 10 20"), Ok((8, 10, 20)));
        assert_eq!(strict("4 -1 30 20"), Ok((4, 20, 20)));
        assert_eq!(strict("101 8 10 20"), Err(Event::TooLarge));
        assert_eq!(strict("8 101 10 20"), Err(Event::TooLarge));
        assert_eq!(strict("8 8 10 0"), Err(Event::NoRequestedTime));
        assert_eq!(strict("8 8 10 -1"), Err(Event::NoRequestedTime));
    }
}
