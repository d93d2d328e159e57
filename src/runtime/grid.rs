//! A grid as actors.

use super::{RuntimeError, RuntimeOptions, run};
use crate::grid::{Grid, Merge};
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
    let groups = grid.groups();
    let options = RuntimeOptions { windows: grid.windows(until, options.windows), ..options };
    let entities = grid.take_out();
    let mut merge = Merge::new(entities.len());
    let ended = run(entities, &groups, options, &mut merge, sink);
    grid.put_back(ended.entities);
    ended.result?;
    merge.finish(sink);
    Ok(grid.finish(until, sink)?)
}
