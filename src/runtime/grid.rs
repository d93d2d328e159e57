//! A grid as actors.

use super::{Outside, RuntimeError, RuntimeOptions, run};
use crate::grid::{Grid, Leg, Merge, WindowOptions};
use crate::model::RecordSink;
use crate::units::Time;

/// Runs a grid as actors until no job is left, or to `until` if that comes first, as
/// [`Grid::run_to`] does: with the same records in the same order.
///
/// # Errors
/// [`RuntimeError`] says what broke. The grid is then without its entities, or with some of them: build it anew.
pub fn run_grid(
    grid: &mut Grid,
    until: Option<Time>,
    options: RuntimeOptions,
    sink: &mut dyn RecordSink,
) -> Result<(), RuntimeError> {
    let mut merge = Merge::new(grid.nodes().len());
    let windows = WindowOptions { halt: None, ..options.windows };
    run_leg(grid, until, None, RuntimeOptions { windows, ..options }, &mut merge, sink)?;
    Ok(grid.finish_run(until, &mut merge, sink)?)
}

/// Runs a grid as actors for a leg, as [`Grid::run_leg`] does: to the same cut, with the same records. Legs may be run now this
/// way, now that. Commands that come in from outside meanwhile are numbered on from those that the grid has had.
///
/// # Errors
/// As [`run_grid`].
pub fn run_leg(
    grid: &mut Grid,
    until: Option<Time>,
    cut: Option<Time>,
    options: RuntimeOptions,
    merge: &mut Merge,
    sink: &mut dyn RecordSink,
) -> Result<Leg, RuntimeError> {
    merge.check(grid.nodes().len())?;
    let groups = grid.groups();
    let outside = options.outside.clone();
    // Without the wall clock nobody would ever come in time.
    let callers = outside.as_ref().filter(|_| options.pace.is_some()).map(Outside::callers);
    let windows = WindowOptions { callers: callers.clone(), ..options.windows };
    let Some((windows, end)) = grid.plan_leg(until, cut, windows) else { return Ok(Leg::Over) };
    if let Some(outside) = &outside {
        outside.set_next(grid.commands());
        outside.set_last(grid.last_command());
    }
    let options = RuntimeOptions { windows, ..options };
    let ended = run(grid.take_out(), &groups, options, merge, sink);
    grid.put_back(ended.entities);
    ended.result?;
    if let Some(outside) = outside {
        grid.set_commands(outside.next());
    }
    Ok(grid.after_leg(ended.over, ended.passed, end, callers.as_ref()))
}
