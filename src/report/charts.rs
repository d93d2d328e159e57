//! Charts: data structures in, SVG out, and PNG from SVG.
//!
//! Pure drawing: nothing here knows a file of a run or what a measure means. Coordinates, meshes and elements come from
//! `plotters`; what it draws on is a `Sheet`, an SVG document whose colours are roles of a palette ([`Ink`]), so
//! that one picture serves a light and a dark page.

mod axis;
mod backend;
mod curves;
mod ecdf;
mod gantt;
mod heat;
mod legend;
mod over_time;
mod palette;
mod pareto;
mod plot;
mod png;
mod raster;
mod sheet;
mod spread;
#[cfg(test)]
mod tests;

pub use axis::Axis;
pub use curves::{Curve, CurvePoint, CurvesChart};
pub use ecdf::{EcdfChart, EcdfLine};
pub use gantt::{GanttBar, GanttChart, GanttJoin, GanttRow, GanttShading};
pub use heat::{HeatCell, HeatChart, HeatPanel};
pub use over_time::{TimeChart, TimeLayer, TimePoint, TimeStyle};
pub use palette::{Ink, Paint, Theme};
pub(super) use palette::{classes, variables};
pub use pareto::{ParetoChart, ParetoPoint};
pub use png::{ChartError, png};
pub use raster::Raster;
pub use spread::{Spread, SpreadChart, SpreadRow};

/// Width of a chart over the whole page, in pixels.
pub const WIDTH: u32 = 1080;

/// Something that can be drawn.
pub trait Chart {
    /// The picture as an SVG document.
    ///
    /// # Errors
    /// [`ChartError`] if the plotting library refuses; data never makes it.
    fn svg(&self, paint: Paint) -> Result<String, ChartError>;
}
