//! Figures of a study as files of their own.

use super::charts::{Chart, ChartError, Paint, Theme};
use super::series::{Layout, curves};
use crate::metrics::StudyTable;

/// Width and height of a figure, in pixels.
const SIZE: (u32, u32) = (760, 380);

/// The curves of a measure along an axis, a curve for each label of the axis `by` (one is chosen if it is not said), and a chart for each
/// combination of the others: what is drawn apart in it (empty if nothing is), and the picture as SVG.
///
/// `None` if the table has no such measure or axis.
///
/// # Errors
/// [`ChartError`] if a picture cannot be drawn.
pub fn study_figures(
    table: &StudyTable,
    measure: &str,
    along: &str,
    by: Option<&str>,
) -> Result<Option<Vec<(String, String)>>, ChartError> {
    let (Some(measure), Some(axis)) = (table.measure(measure), table.axis(along)) else { return Ok(None) };
    let Some(mut layout) = Layout::of(table, Some(axis)) else { return Ok(None) };
    if let Some(by) = by {
        let Some(by) = table.axis(by) else { return Ok(None) };
        layout.apart.extend(layout.colour.filter(|colour| *colour != by));
        layout.apart.retain(|apart| *apart != by);
        layout.apart.sort_unstable();
        layout.colour = Some(by);
    }
    let charts = layout.charts(table).into_iter().map(|chart| {
        let drawn = curves(table, &layout, measure, &chart, SIZE).svg(Paint::File(Theme::Light))?;
        Ok((chart.1, drawn))
    });
    charts.collect::<Result<Vec<_>, _>>().map(Some)
}
