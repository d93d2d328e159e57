//! Legs: a run in stretches, between which its whole state can be saved.
//!
//! A leg ends at a *cut*, an instant such that everything before it has happened everywhere and nothing at or after it has.
//! What is on its way then is delivered, so that the entities are the whole state; the next leg begins with windows made
//! anew. No result depends on where a leg ends.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Weak};

use super::ending::is_minute;
use super::{Grid, GridError, Merge, Node, Post, WindowOptions, Windows, balanced, drive};
use crate::entity::{Entity, Stamp};
use crate::model::RecordSink;
use crate::units::{Span, Time};

/// How a leg of a run ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Leg {
    /// Nothing is left to be done but to close the accounts.
    Over,
    /// Everything before this instant has happened, and nothing at or after it.
    Cut(Time),
}

/// Asks a run to cut at the next instant at which it can: by a timer, by a signal, by who counts records.
///
/// All copies are one. It stays asked until it is cleared.
#[derive(Clone, Debug, Default)]
pub struct Halt(Arc<AtomicBool>);

impl Halt {
    /// One that nobody has asked yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for a cut.
    pub fn ask(&self) {
        self.0.store(true, SeqCst);
    }

    /// Whether a cut has been asked for.
    pub fn is_asked(&self) -> bool {
        self.0.load(SeqCst)
    }

    /// No cut is asked for any more.
    pub fn clear(&self) {
        self.0.store(false, SeqCst);
    }
}

/// Whoever may still give commands to a run. As long as somebody may, a run that can go no further waits for them, as it
/// would for machines that come back by chance.
#[derive(Clone, Debug)]
pub struct Callers(Weak<()>);

impl Callers {
    /// Everybody who holds this.
    pub fn of(token: &Arc<()>) -> Self {
        Self(Arc::downgrade(token))
    }

    /// Whether anybody does.
    pub fn are_there(&self) -> bool {
        self.0.strong_count() > 0
    }
}

/// The first instant that nobody who has got as far as `stamp` has gone beyond.
pub(super) fn instant_from(stamp: Stamp) -> Time {
    if stamp.round == 0 { stamp.time } else { stamp.time + Span::TICK }
}

impl Grid {
    /// Runs until no job is left, and checks that every job that was submitted has ended.
    ///
    /// # Errors
    /// [`GridError`] says what broke; [`GridError::SinkClosed`] if `sink` can take no more; [`GridError::Stuck`] if
    /// jobs are left that nothing will ever start, which have then been recorded as unfinished.
    pub fn run(&mut self, sink: &mut dyn RecordSink) -> Result<(), GridError> {
        if self.is_simple() {
            self.replay_leg(None, None, sink)?;
            return self.finish_replay(sink);
        }
        self.run_to(None, WindowOptions::default(), sink)
    }

    /// Runs until no job is left, or to `until` if that comes first: what is left then is recorded as unfinished. Windows may be
    /// chosen, which changes no result. A halt has no effect.
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
        self.run_leg(until, None, WindowOptions { halt: None, ..options }, &mut merge, sink)?;
        self.finish_run(until, &mut merge, sink)
    }

    /// Runs through windows until no job is left, to `until` or to `cut`, whichever comes first, or until the halt of `options` is
    /// asked. Nothing is closed: after [`Leg::Over`] call [`Grid::finish_run`]; after [`Leg::Cut`] the grid can be saved with
    /// what waits in `merge`, and the next leg goes on, with the same `until` and the same `merge`.
    ///
    /// A cut that has passed ends the leg at once. Commands for later may be given between legs.
    ///
    /// # Errors
    /// As [`Grid::run`].
    pub fn run_leg(
        &mut self,
        until: Option<Time>,
        cut: Option<Time>,
        options: WindowOptions,
        merge: &mut Merge,
        sink: &mut dyn RecordSink,
    ) -> Result<Leg, GridError> {
        merge.check(self.nodes.len())?;
        let Some((options, end)) = self.plan_leg(until, cut, options) else { return Ok(Leg::Over) };
        let seats = self.nodes.iter().map(|node| (node.address(), node.next_event()));
        let mut windows = Windows::new(seats, &self.groups(), options)?;
        drive(&mut self.nodes, &mut windows, merge, sink)?;
        Ok(self.after_leg(windows.is_over(), windows.passed(), end, None))
    }

    /// Ends a run whose last leg is over: hands on the last records, closes all accounts and sums up.
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

    /// The windows of a leg, and the latest end of the run; `None` if the run is over already.
    pub(crate) fn plan_leg(
        &self,
        until: Option<Time>,
        cut: Option<Time>,
        options: WindowOptions,
    ) -> Option<(WindowOptions, Stamp)> {
        let Stamp { time, round } = self.passed;
        // Windows ask at full minutes that they get to, not at the one they begin with.
        let left = self.left().told_by(options.callers.as_ref());
        if round == 0 && is_minute(time) && left.verdict(self.quiet).is_over_at(time) {
            return None;
        }
        let windows = self.windows(until, options);
        let end = windows.until;
        // Nobody can be cut in the middle of an instant.
        let cut = cut.map_or(Stamp::END, |cut| Stamp::at(cut.max(instant_from(self.passed))));
        Some((WindowOptions { until: end.min(cut), begin: self.passed, ..windows }, end))
    }

    /// The entities have been driven to here.
    pub(crate) fn after_leg(
        &mut self,
        over: bool,
        passed: Stamp,
        end: Stamp,
        callers: Option<&Callers>,
    ) -> Leg {
        self.passed = self.passed.max(passed);
        // If nothing is left to happen, somebody may still say something.
        let nothing = self.next_event().is_none() && !callers.is_some_and(Callers::are_there);
        if over || passed >= end || nothing { Leg::Over } else { Leg::Cut(passed.time) }
    }

    /// A leg of what [`Grid::run`] does with sites that have nothing to say to each other and whose machines stay: without
    /// windows, and without order among the sites. One site alone can be cut, or halted; several run to the end, one
    /// after the other. After [`Leg::Over`] call [`Grid::finish_replay`].
    ///
    /// # Errors
    /// As [`Grid::run`]; [`GridError::NoReplay`] if this grid has to be run with [`Grid::run_leg`].
    pub fn replay_leg(
        &mut self,
        cut: Option<Time>,
        halt: Option<&Halt>,
        sink: &mut dyn RecordSink,
    ) -> Result<Leg, GridError> {
        if !self.is_simple() || (self.sites > 1 && (cut.is_some() || halt.is_some())) {
            return Err(GridError::NoReplay);
        }
        let mut cut = cut.map_or(Stamp::END, |cut| Stamp::at(cut.max(instant_from(self.passed))));
        let post = &mut Post::new(sink);
        for site in self.nodes.iter_mut().filter_map(Node::site_mut) {
            while let Some(next) = site.next_event() {
                if next >= cut {
                    self.passed = self.passed.max(cut);
                    return Ok(Leg::Cut(cut.time));
                }
                site.advance(next.next_round(), post)?;
                self.passed = self.passed.max(next.next_round());
                if post.is_closed() {
                    return Err(GridError::SinkClosed);
                }
                if halt.is_some_and(Halt::is_asked) {
                    cut = cut.min(Stamp::at(instant_from(self.passed)));
                }
            }
        }
        Ok(Leg::Over)
    }

    /// Ends a run of which the last [`Grid::replay_leg`] is over: checks that every job has ended.
    ///
    /// # Errors
    /// As [`Grid::run`].
    pub fn finish_replay(&mut self, sink: &mut dyn RecordSink) -> Result<(), GridError> {
        let waiters = self.waiters();
        if waiters.is_empty() {
            return self.sites().try_for_each(|site| balanced(&site.spec().name, site.tally()));
        }
        self.close(sink);
        Err(GridError::stuck(self.now(), waiters))
    }
}
