//! Charts of quantities over the time of a run.

use super::legend::{self, Swatch};
use super::marks::Dash;
use super::numbers::cell;
use super::plot::{Frame, Plot, label_space};
use super::sheet::Sheet;
use super::{Axis, Chart, Ink, Numbers, Paint, TimeMarks, WIDTH};

/// The value from `x` to the next point: its mean, and its bounds if the point summarizes several changes.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct TimePoint {
    /// Start of the value, in seconds.
    pub x: f64,
    /// The minimum.
    pub low: f64,
    /// The mean over time.
    pub mean: f64,
    /// The maximum.
    pub high: f64,
}

/// How a quantity is drawn.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TimeStyle {
    /// As a line with the dashes of its series.
    Line,
    /// As an evenly dashed line.
    Dashed,
    /// As an area.
    Area,
    /// As a faint area.
    Faint,
}

/// A quantity over time.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeLayer {
    /// Name in the legend.
    pub name: String,
    /// Colour of the layer.
    pub ink: Ink,
    /// How the quantity is drawn.
    pub style: TimeStyle,
    /// The values in order of time. The last one holds until the end of the axis.
    pub points: Vec<TimePoint>,
}

/// Quantities over time, drawn on top of each other in their order.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeChart {
    /// Title of the chart.
    pub title: String,
    /// The time axis, in seconds.
    pub x: Axis,
    /// The axis of the quantities.
    pub y: Axis,
    /// The quantities.
    pub layers: Vec<TimeLayer>,
    /// Height, in pixels.
    pub height: u32,
    /// Minimum width of the label column in pixels, so that charts below each other are aligned; longer labels widen it.
    pub labels: i32,
    /// Marks on the time axis.
    pub marks: TimeMarks,
}

impl Chart for TimeChart {
    fn svg(&self, paint: Paint) -> String {
        let marks = self.marks.on(&self.x);
        let layers: Vec<&TimeLayer> = self.layers.iter().filter(|_| self.layers.len() > 1).collect();
        let entries = entries(&layers, &marks);
        let labels = self.labels.max(label_space(&self.y));
        let whole = paint.width(WIDTH);
        let width = whole as i32 - labels - 16;
        let above = legend::height(&entries, width) + 6 + marks.room();
        let sheet = Sheet::new(whole, self.height + above as u32 + 4, paint, &self.title);
        legend::draw(&sheet, &entries, labels, 2, width);
        let (width, height) = (whole as i32 - 16, self.height as i32);
        let frame = Frame { top: above, width, height, labels, x_labels: true, mesh: (false, true) };
        let plot = Plot::draw(&sheet, frame, &self.x, &self.y);
        marks.shade(&plot);
        for layer in &self.layers {
            layer.draw(&plot, (self.x.to, self.y.from), self.layers.len() == 1);
        }
        marks.lines(&plot);
        marks.flags(&sheet, &plot, 0);
        sheet.finish()
    }

    fn numbers(&self) -> Numbers {
        numbers(&self.x, &self.y, self.layers.iter().map(|layer| (layer.name.clone(), layer)))
    }
}

/// The entries of a legend of layers and marks.
pub(super) fn entries(layers: &[&TimeLayer], marks: &TimeMarks) -> Vec<legend::Entry> {
    let entry = |layer: &&TimeLayer| {
        let swatch = match layer.style {
            TimeStyle::Line => Swatch::Line,
            TimeStyle::Dashed => Swatch::Dashed(Dash::EVEN),
            TimeStyle::Area => Swatch::Box,
            TimeStyle::Faint => Swatch::Faint,
        };
        (layer.name.clone(), layer.ink, swatch)
    };
    layers.iter().map(entry).chain(marks.entries()).collect()
}

/// The numbers of layers with their names.
pub(super) fn numbers<'a>(
    x: &Axis,
    y: &Axis,
    layers: impl Iterator<Item = (String, &'a TimeLayer)>,
) -> Numbers {
    let mut numbers = Numbers::new(["series", &x.data, &y.data, "least", "most"]);
    for (name, layer) in layers {
        let row = |point: &TimePoint| {
            let cells = [point.x, point.mean, point.low, point.high].map(cell);
            std::iter::once(name.clone()).chain(cells).collect()
        };
        numbers.rows.extend(layer.points.iter().map(row));
    }
    numbers
}

impl TimeLayer {
    /// Draws the layer on a plot until `end`; areas stand on `floor`. A line that is alone needs no dashes.
    pub(super) fn draw(&self, plot: &Plot, (end, floor): (f64, f64), alone: bool) {
        let stepped = |value: fn(&TimePoint) -> f64| -> Vec<(f64, f64)> {
            let mut steps: Vec<(f64, f64)> = Vec::with_capacity(self.points.len() * 2);
            for point in &self.points {
                let value = value(point);
                match steps.last().copied() {
                    Some((_, before)) if before == value => {}
                    Some((_, before)) => steps.extend([(point.x, before), (point.x, value)]),
                    None => steps.push((point.x, value)),
                }
            }
            steps.extend(steps.last().map(|(_, value)| (end, *value)));
            steps
        };
        let mean = stepped(|point| point.mean);
        let Some(((first, _), (last, _))) = mean.first().copied().zip(mean.last().copied()) else {
            return;
        };
        match self.style {
            TimeStyle::Area | TimeStyle::Faint => {
                let mut shape = vec![(first, floor)];
                shape.extend(mean);
                shape.push((last, floor));
                plot.polygon(&shape, self.ink, if self.style == TimeStyle::Area { 0.85 } else { 0.3 });
            }
            TimeStyle::Line | TimeStyle::Dashed => {
                if self.points.iter().any(|point| point.low < point.high) {
                    let mut band = stepped(|point| point.high);
                    band.extend(stepped(|point| point.low).into_iter().rev());
                    plot.polygon(&band, self.ink, 0.22);
                }
                let dash = match self.style {
                    TimeStyle::Dashed => Some(Dash::EVEN),
                    _ => self.ink.dash().filter(|_| !alone),
                };
                plot.line(&mean, self.ink, 1.5, dash);
            }
        }
    }
}
