//! Widths of figures in print.

/// The width of a figure in a journal.
///
/// A figure is laid out at that width, so that its text has the same size in each: 8 pt for titles, legends and names, and 7.3 pt for
/// the labels of ticks.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// One column, 85 mm.
    Single,
    /// Two columns, 175 mm.
    Double,
}

/// Length of a pixel of a chart in print, in mm: text of 12 pixels is 8 pt high, and 1 pt is 25.4/72 mm.
const PIXEL_MM: f64 = 8.0 / 12.0 * 25.4 / 72.0;

impl Column {
    /// The width in mm.
    pub const fn millimetres(self) -> u32 {
        match self {
            Self::Single => 85,
            Self::Double => 175,
        }
    }

    /// The width in pixels of a chart.
    pub(super) fn pixels(self) -> u32 {
        libm::round(f64::from(self.millimetres()) / PIXEL_MM) as u32
    }
}
