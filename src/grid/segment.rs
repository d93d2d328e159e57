//! Run segments: a run in stretches, between which its whole state can be saved.
//!
//! A segment ends at a *barrier*, an instant T such that everything before T has happened everywhere and nothing at or after T has.
//! [`Grid::run_segment`] and [`runtime::run_segment`](crate::runtime::run_segment) run to a given barrier or, once a [`Halt`] is
//! requested (by a timer, a signal, a count), to the first instant that no entity has gone beyond when the window closes. They answer
//! [`RunSegment::Barrier`] or [`RunSegment::Over`]; after the latter [`Grid::finish_run`] closes the accounts, and nothing else does.
//!
//! - The state at a barrier is [`Grid::snapshot`] and [`Merge::save`]. Messages that have not arrived are delivered to the inboxes of their
//!   receivers, so the entities are the whole state. All records before T have been passed on; the order of the records to come
//!   depends on nothing but the records that wait in the merge and the time of each entity's latest record.
//! - No result depends on where a segment ends, on which engine drives it, or on whether the same process goes on (`tests/it/legs.rs`).
//!   So a segment begins at the moment at which the one before ended ([`WindowOptions::begin`]): whether the run is over there has
//!   been decided already, and is not decided again from another state. A barrier after which nothing is left to happen is `Over`: the run
//!   would have ended there.
//! - A barrier never lies in the middle of an instant: a grid that was stepped to round n of an instant has its next barrier after it.
//!
//! Sites without a broker and without churn need no windows ([`Grid::single_site_segment`]): each runs on by itself; a replay is one of
//! these. A barrier costs one comparison per event then. Several such sites run one after the other, so there is no instant that could be a
//! barrier for all of them, and asking for one is refused.

use super::ending::{Verdict, is_minute, next_minute};
use super::halt::{Callers, Halt, instant_from};
use super::moments::by_moments;
use super::{Grid, GridError, Merge, Node, RecordsOnly, WindowOptions, Windows, drive, left};
use crate::entity::{Entity, Quiescence, Stamp};
use crate::local::Tally;
use crate::model::RecordSink;
use crate::units::{Span, Time};

/// How a run segment ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum RunSegment {
    /// Nothing is left to do but to close the accounts.
    Over,
    /// Everything before this instant has happened, and nothing at or after it.
    Barrier(Time),
}

impl Grid {
    /// Runs until no job is left, and checks that every job that was submitted has ended.
    ///
    /// # Errors
    /// [`GridError`] says what broke; [`GridError::SinkClosed`] if `sink` can take no more; [`GridError::Stuck`] if
    /// jobs are left that can never start, which have then been recorded as unfinished.
    pub fn run(&mut self, sink: &mut dyn RecordSink) -> Result<(), GridError> {
        if self.is_simple() {
            self.single_site_segment(None, None, sink)?;
            return self.finish_single(sink);
        }
        self.run_to(None, WindowOptions::default(), sink)
    }

    /// Runs until no job is left, or to `until` if that comes first: jobs that are left then are recorded as unfinished. `options` choose
    /// the windows, which changes no result. A halt has no effect.
    ///
    /// # Errors
    /// As [`Grid::run`].
    pub fn run_to(
        &mut self,
        until: Option<Time>,
        options: WindowOptions,
        sink: &mut dyn RecordSink,
    ) -> Result<(), GridError> {
        let mut merge = Merge::new(self.nodes.len());
        self.run_segment(until, None, WindowOptions { halt: None, ..options }, &mut merge, sink)?;
        self.finish_run(until, &mut merge, sink)
    }

    /// Handles everything up to and including `time`.
    ///
    /// # Errors
    /// [`GridError`] says what broke, where and when.
    pub fn run_until(&mut self, time: Time, sink: &mut dyn RecordSink) -> Result<(), GridError> {
        if self.is_simple() {
            self.alone(Stamp::at(time + Span::TICK), None, sink)?;
        } else {
            while self.next_event().is_some_and(|next| next.time <= time) {
                self.step(sink)?;
                if sink.is_closed() {
                    return Err(GridError::SinkClosed);
                }
            }
        }
        self.passed = self.passed.max(Stamp::at(time).next_round());
        Ok(())
    }

    /// Runs one moment of the whole grid after the other, as an oracle: slow, and obviously correct.
    ///
    /// # Errors
    /// As [`Grid::run`].
    pub fn run_stepwise(&mut self, until: Option<Time>, sink: &mut dyn RecordSink) -> Result<(), GridError> {
        let (ending, mut last, mut end) = (self.ending, None, Stamp::END);
        let ends = |nodes: &[Node], next: Option<Stamp>| {
            let now = next.map(|next| next.time);
            // Between the rounds of an instant, messages without delay have not arrived yet.
            if now != last || now.is_none() {
                let over = match left(nodes).verdict(ending) {
                    Verdict::GoOn => Time::NEVER,
                    // The verdict is asked for at full minutes: not at one that had passed when this state came to be.
                    Verdict::Done(end) | Verdict::Stuck(end) => end.max(last.map_or(Time::ZERO, next_minute)),
                };
                end = Stamp::at(until.map_or(over, |until| until.min(over)));
                last = now;
            }
            end
        };
        by_moments(&mut self.nodes, ends, sink)?;
        self.finish(until, sink)
    }

    /// Closes all accounts and adds them up, after everything before the end of the run has happened.
    ///
    /// # Errors
    /// As [`Grid::run`].
    fn finish(&mut self, until: Option<Time>, sink: &mut dyn RecordSink) -> Result<(), GridError> {
        let left = self.left();
        let (end, stuck) = match (left.verdict(self.ending), until) {
            (Verdict::Done(end), _) => (until.map_or(end, |until| until.min(end)), false),
            (Verdict::Stuck(end), Some(until)) if until < end => (until, false),
            (Verdict::Stuck(end), _) => (end, true),
            (Verdict::GoOn, Some(until)) => (until, false),
            // No event is left, whatever entities reported.
            (Verdict::GoOn, None) => (left.minute(), left.jobs() > 0),
        };
        let end = end.max(self.forked);
        let waiters = self.waiters();
        self.passed = Stamp::at(end);
        self.close(sink);
        let Quiescence { admitted, done, .. } = self.left();
        if admitted != done {
            return Err(GridError::Unbalanced { who: "the grid".to_owned(), arrived: admitted, ended: done });
        }
        if stuck { Err(self.stuck(end, waiters, left.jobs(), left.churn_pending)) } else { Ok(()) }
    }

    /// Runs through windows until no job is left, to `until` or to the barrier `cut`, whichever comes first, or until the halt of `options`
    /// is requested. No account is closed: after [`RunSegment::Over`] call [`Grid::finish_run`]; after [`RunSegment::Barrier`] the grid can
    /// be saved with what waits in `merge`, and the next segment goes on, with the same `until` and the same `merge`.
    ///
    /// A barrier that has passed ends the segment at once. Commands for later may be given between segments.
    ///
    /// # Errors
    /// As [`Grid::run`].
    pub fn run_segment(
        &mut self,
        until: Option<Time>,
        cut: Option<Time>,
        options: WindowOptions,
        merge: &mut Merge,
        sink: &mut dyn RecordSink,
    ) -> Result<RunSegment, GridError> {
        merge.check(self.nodes.len())?;
        let Some((options, end)) = self.plan_segment(until, cut, options) else {
            return Ok(RunSegment::Over);
        };
        let clocks = self.nodes.iter().map(|node| (node.address(), node.next_event()));
        let mut windows = Windows::new(clocks, &self.groups(), options)?;
        drive(&mut self.nodes, &mut windows, merge, sink)?;
        Ok(self.after_segment(windows.is_over(), windows.passed(), end, None))
    }

    /// Ends a run whose last segment is over: passes on the last records, closes all accounts and adds them up.
    ///
    /// # Errors
    /// As [`Grid::run`].
    pub fn finish_run(
        &mut self,
        until: Option<Time>,
        merge: &mut Merge,
        sink: &mut dyn RecordSink,
    ) -> Result<(), GridError> {
        merge.finish(sink);
        self.finish(until, sink)
    }

    /// The windows of a segment, and the latest end of the run; `None` if the run is over already.
    pub(crate) fn plan_segment(
        &self,
        until: Option<Time>,
        cut: Option<Time>,
        options: WindowOptions,
    ) -> Option<(WindowOptions, Stamp)> {
        let Stamp { time, round } = self.passed;
        // Windows ask at full minutes that they reach, not at the one with which they begin.
        let left = self.left().with_callers(options.callers.as_ref());
        if round == 0 && is_minute(time) && left.verdict(self.ending).is_over_at(time) {
            return None;
        }
        let windows = self.windows(until, options);
        let end = windows.until;
        // A barrier does not lie in the middle of an instant.
        let cut = cut.map_or(Stamp::END, |cut| Stamp::at(cut.max(instant_from(self.passed))));
        Some((WindowOptions { until: end.min(cut), begin: self.passed, ..windows }, end))
    }

    /// Takes over how far the entities have been driven.
    pub(crate) fn after_segment(
        &mut self,
        over: bool,
        passed: Stamp,
        end: Stamp,
        callers: Option<&Callers>,
    ) -> RunSegment {
        self.passed = self.passed.max(passed);
        // Even if nothing is left to happen, a caller may still give a command.
        let nothing = self.next_event().is_none() && !callers.is_some_and(Callers::are_there);
        if over || passed >= end || nothing { RunSegment::Over } else { RunSegment::Barrier(passed.time) }
    }

    /// A segment of [`Grid::run`] for sites that exchange no messages and have no churn: without windows, and without order among the
    /// sites. A single site can stop at the barrier `cut`, or be halted; several sites run to the end, one after the other. After
    /// [`RunSegment::Over`] call [`Grid::finish_single`].
    ///
    /// # Errors
    /// As [`Grid::run`]; [`GridError::NotSingle`] if this grid has to be run with [`Grid::run_segment`].
    pub fn single_site_segment(
        &mut self,
        cut: Option<Time>,
        halt: Option<&Halt>,
        sink: &mut dyn RecordSink,
    ) -> Result<RunSegment, GridError> {
        if !self.is_simple() || (self.sites > 1 && (cut.is_some() || halt.is_some())) {
            return Err(GridError::NotSingle);
        }
        let cut = cut.map_or(Stamp::END, |cut| Stamp::at(cut.max(instant_from(self.passed))));
        let Some(cut) = self.alone(cut, halt, sink)? else { return Ok(RunSegment::Over) };
        self.passed = self.passed.max(cut);
        Ok(RunSegment::Barrier(cut.time))
    }

    /// The loop of a single site: handles everything before `end`, or before the first instant after `halt` is requested. Several sites
    /// run one after the other. Returns the moment before which everything has happened, if more is to come.
    pub(super) fn alone(
        &mut self,
        mut end: Stamp,
        halt: Option<&Halt>,
        sink: &mut dyn RecordSink,
    ) -> Result<Option<Stamp>, GridError> {
        let (post, mut more) = (&mut RecordsOnly(sink), false);
        for site in self.nodes.iter_mut().filter_map(Node::site_mut) {
            while let Some(next) = site.next_event() {
                if next >= end {
                    more = true;
                    break;
                }
                if site.wakes_in_vain() {
                    break;
                }
                site.advance(next.next_round(), post)?;
                self.passed = self.passed.max(next.next_round());
                if post.is_closed() {
                    return Err(GridError::SinkClosed);
                }
                if halt.is_some_and(Halt::is_asked) {
                    end = end.min(Stamp::at(instant_from(self.passed)));
                }
            }
        }
        Ok(more.then_some(end))
    }

    /// Ends a run of which the last [`Grid::single_site_segment`] is over: checks that every job has ended.
    ///
    /// # Errors
    /// As [`Grid::run`].
    pub fn finish_single(&mut self, sink: &mut dyn RecordSink) -> Result<(), GridError> {
        let waiters = self.waiters();
        if waiters.is_empty() {
            return self.sites().try_for_each(|site| balanced(&site.spec().name, site.tally()));
        }
        self.close(sink);
        Err(self.stuck(self.now(), waiters, 0, false))
    }
}

/// Checks that every job has ended once.
fn balanced(site: &str, tally: Tally) -> Result<(), GridError> {
    let (arrived, ended) = (tally.arrived, tally.ended() + tally.returned);
    if arrived == ended {
        Ok(())
    } else {
        Err(GridError::Unbalanced { who: format!("site `{site}`"), arrived, ended })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_without_an_end_is_missed() {
        let tally = Tally { arrived: 3, outcomes: [1, 1, 0, 0, 0, 0], ..Tally::default() };
        assert_eq!(
            balanced("windsor", tally),
            Err(GridError::Unbalanced { who: "site `windsor`".to_owned(), arrived: 3, ended: 2 })
        );
        assert_eq!(balanced("windsor", Tally { arrived: 2, ..tally }), Ok(()));
    }
}
