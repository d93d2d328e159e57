//! Runs a grid as actors.

use super::{RuntimeError, RuntimeOptions, run};
use crate::grid::{Grid, Merge, RunSegment, WindowOptions};
use crate::model::RecordSink;
use crate::units::Time;

/// Runs a grid as actors until no job is left, or to `until` if that comes first, with the same records in the same order as
/// [`Grid::run_to`].
///
/// # Errors
/// [`RuntimeError`] says what broke. The grid has then lost some or all of its entities: build it anew.
pub fn run_grid(
    grid: &mut Grid,
    until: Option<Time>,
    options: RuntimeOptions,
    sink: &mut dyn RecordSink,
) -> Result<(), RuntimeError> {
    let mut merge = Merge::new(grid.nodes().len());
    let windows = WindowOptions { halt: None, ..options.windows };
    run_segment(grid, until, None, RuntimeOptions { windows, ..options }, &mut merge, sink)?;
    Ok(grid.finish_run(until, &mut merge, sink)?)
}

/// Runs a segment of a grid as actors: to the same barrier and with the same records as [`Grid::run_segment`]. Segments of one run may use
/// different engines. Commands that arrive from outside meanwhile continue the numbers of those that the grid has had.
///
/// # Errors
/// As [`run_grid`].
pub fn run_segment(
    grid: &mut Grid,
    until: Option<Time>,
    cut: Option<Time>,
    options: RuntimeOptions,
    merge: &mut Merge,
    sink: &mut dyn RecordSink,
) -> Result<RunSegment, RuntimeError> {
    merge.check(grid.nodes().len())?;
    let groups = grid.groups();
    let outside = options.outside.clone();
    // Without a pace a run does not wait for commands, since none would come in time.
    let callers = outside.as_ref().filter(|_| options.pace.is_some()).map(|outside| outside.callers.clone());
    let windows = WindowOptions { callers: callers.clone(), ..options.windows };
    let Some((windows, end)) = grid.plan_segment(until, cut, windows) else { return Ok(RunSegment::Over) };
    if let Some(outside) = &outside {
        outside.go_on(grid.commands(), grid.last_command());
    }
    let options = RuntimeOptions { windows, ..options };
    let ended = run(grid.take_out(), &groups, options, merge, sink);
    grid.put_back(ended.entities);
    ended.result?;
    if let Some(outside) = outside {
        grid.set_commands(outside.next());
    }
    Ok(grid.after_segment(ended.over, ended.passed, end, callers.as_ref()))
}
