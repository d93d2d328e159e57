//! Marks on a time axis: the measured window of a run, and what its scenario lets happen.

use super::legend::{Entry, Swatch, WINDOW};
use super::marks::{Dash, Shape};
use super::plot::Plot;
use super::sheet::{Anchor, Sheet, UNIT, polyline, rectangle, tenths, text_width};
use super::{Axis, Ink};

/// Room for the numbers of events above a plot, in pixels.
const ROOM: i32 = 13;
/// Font size of these numbers, in pixels.
const NUMBER: f64 = 9.0;

/// More events than these on an axis are not drawn: their lines would hide the data.
pub(crate) const EVENTS: usize = 100;

/// Marks on the time axis of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimeMarks {
    /// Begin and end of the measured window, in seconds.
    pub window: Option<(f64, f64)>,
    /// What the scenario lets happen, in order of time.
    pub events: Vec<TimeEvent>,
}

/// An instant at which the scenario lets something happen.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeEvent {
    /// The instant, in seconds.
    pub at: f64,
    /// Its number, from 1, under which a caption says what it is.
    pub number: usize,
    /// What happens, as a tooltip.
    pub what: String,
}

impl TimeMarks {
    /// The marks that lie on an axis. A window that is the whole axis is no mark.
    pub(super) fn on(&self, x: &Axis) -> Self {
        let window = self.window.map(|(from, to)| (from.max(x.from), to.min(x.to)));
        let window = window.filter(|(from, to)| from < to && (*from > x.from || *to < x.to));
        let events: Vec<TimeEvent> =
            self.events.iter().filter(|event| (x.from..=x.to).contains(&event.at)).cloned().collect();
        Self { window, events: if events.len() > EVENTS { Vec::new() } else { events } }
    }

    /// Their entries in a legend.
    pub(super) fn entries(&self) -> Vec<Entry> {
        let window = self.window.map(|_| ("measured window".to_owned(), Ink::Window, Swatch::Window));
        let events =
            (!self.events.is_empty()).then(|| ("scripted event".to_owned(), Ink::Text, Swatch::Event));
        window.into_iter().chain(events).collect()
    }

    /// Room that [flags](Self::flags) need above a plot, in pixels.
    pub(super) fn room(&self) -> i32 {
        if self.events.is_empty() { 0 } else { ROOM }
    }

    /// Shades the measured window, below the data.
    pub(super) fn shade(&self, plot: &Plot) {
        let Some((from, to)) = self.window else { return };
        let (_, top, _, bottom) = plot.bounds();
        let (left, right) = (plot.at(from, 0.0).0, plot.at(to, 0.0).0);
        let mut data = String::new();
        rectangle(&mut data, left, top, right - left, bottom - top);
        plot.sheet().fill(&data, Ink::Window, WINDOW, None);
    }

    /// Draws a line at each event, over the data.
    pub(super) fn lines(&self, plot: &Plot) {
        let (_, top, _, bottom) = plot.bounds();
        let line = |event: &TimeEvent| {
            let (x, _) = plot.at(event.at, 0.0);
            polyline([(x, top), (x, bottom)])
        };
        let lines: String = self.events.iter().map(line).collect();
        plot.sheet().dash(Some(Dash::EVEN));
        plot.sheet().stroke(&lines, Ink::Text, 0.65, 1.0);
        plot.sheet().dash(None);
    }

    /// Draws a flag with a number above the line of each event, the number only where there is room; so many pixels above the plot.
    pub(super) fn flags(&self, sheet: &Sheet, plot: &Plot, above: i32) {
        let top = plot.bounds().1 - above * UNIT;
        let places: Vec<i32> = self.events.iter().map(|event| plot.at(event.at, 0.0).0).collect();
        for (at, (event, x)) in self.events.iter().zip(&places).enumerate() {
            sheet.open(&format!("class=\"flag\" data-x=\"{}\"", tenths(*x)));
            sheet.shape((*x, top - 5 * UNIT), 4 * UNIT, Ink::Text, Shape::Down, true, Some(&event.what));
            let (number, from) = (event.number.to_string(), x + 6 * UNIT);
            let room =
                places.get(at + 1).is_none_or(|next| from + text_width(&number, NUMBER) < next - 6 * UNIT);
            if room {
                sheet.text(&number, (from, top - 2 * UNIT), NUMBER, Ink::Text, Anchor::Start, false);
            }
            sheet.shut();
        }
    }
}
