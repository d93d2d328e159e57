//! Charts: data structures in, SVG out, and PNG from SVG.
//!
//! This module only draws: it reads no file of a run and does not interpret measures. A chart draws on a `Sheet`, an SVG document
//! whose colours are roles of a palette ([`Ink`]), so that one chart suits a light and a dark page; a `Plot` on it has the axes.

mod axis;
mod bands;
mod column;
mod curves;
mod dag;
mod ecdf;
mod gantt;
mod heat;
mod labels;
mod legend;
mod marks;
mod numbers;
mod over_time;
mod palette;
mod panels;
mod parallel;
mod pareto;
mod pdf;
mod plot;
mod png;
mod raster;
mod rows;
mod sheet;
mod spread;
mod strips;
#[cfg(test)]
mod tests;
mod time_marks;
#[cfg(test)]
mod time_tests;

pub use axis::Axis;
pub use bands::{GanttBand, GanttGroup, GanttSlice};
pub use column::Column;
pub use curves::{Curve, CurvePoint, CurvesChart};
pub use dag::{DagChart, DagEdge, DagNode};
pub use ecdf::{EcdfChart, EcdfLine};
pub use gantt::{GanttBar, GanttChart, GanttJoin, GanttRow, GanttShading};
pub use heat::{HeatCell, HeatChart, HeatPanel, HeatScale};
pub use numbers::Numbers;
pub use over_time::{TimeChart, TimeLayer, TimePoint, TimeStyle};
pub use palette::{Ink, Paint, Theme};
pub(super) use palette::{classes, variables};
pub use panels::PanelsChart;
pub use parallel::{ParallelAxis, ParallelChart, ParallelLine};
pub use pareto::{ParetoChart, ParetoPoint};
pub use pdf::pdf;
pub use png::{ChartError, png};
pub use raster::Raster;
pub use rows::RowsChart;
pub use spread::{Spread, SpreadChart, SpreadRow};
pub(crate) use time_marks::EVENTS;
pub use time_marks::{TimeEvent, TimeMarks};

/// Width of a chart that spans the whole page, in pixels.
pub const WIDTH: u32 = 1080;

/// A chart that can be drawn as SVG.
pub trait Chart {
    /// Returns the chart as an SVG document.
    fn svg(&self, paint: Paint) -> String;

    /// Returns the numbers that the chart shows; none of a raster, whose numbers are those of `segments.csv`.
    fn numbers(&self) -> Numbers;
}
