//! Legends: swatches with their names above a plot, in as many lines as they need.

use super::marks::{Dash, Shape};
use super::palette::Ink;
use super::plot::NORMAL;
use super::sheet::{Anchor, Sheet, UNIT, fitted, polyline, rectangle, text_width};

/// The symbol of an entry.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Swatch {
    Box,
    Faint,
    /// A box of such an opacity, in per cent.
    Tint(u8),
    /// A box with a dashed edge and no fill.
    Outline,
    /// A box with an edge and no fill.
    Frame,
    /// A line with the dashes of its series.
    Line,
    Dashed(Dash),
    /// The mark of a series, also with the line that joins it to others.
    Mark,
    Joined,
    Hollow,
    /// A ring around the mark of a series.
    Ring,
    /// A dot of the size of single values.
    Point,
    Diamond,
    /// A box with a line in its middle.
    Spread,
    /// The measured window, and an event, on a time axis.
    Window,
    Event,
}

impl Swatch {
    const fn width(self) -> i32 {
        match self {
            Self::Line | Self::Dashed(_) | Self::Joined => WIDE,
            _ => SWATCH,
        }
    }
}

/// An entry of a legend.
pub(super) type Entry = (String, Ink, Swatch);

/// Height of a line, in pixels.
const LINE: i32 = 18;
/// Width of a symbol, enough for the dashes of a line, in pixels.
const SWATCH: i32 = 14;
const WIDE: i32 = 30;
const GAP: i32 = 16;
/// Opacity of the measured window, here and in plots.
pub(super) const WINDOW: f64 = 0.11;

/// Height of a legend of a given width, in pixels.
pub(super) fn height(entries: &[Entry], width: i32) -> i32 {
    let lines = places(entries, width).last().map_or(0, |(line, _)| line + 1);
    if lines == 0 { 0 } else { lines * LINE + 4 }
}

/// Draws the legend from its upper left corner, in pixels.
pub(super) fn draw(sheet: &Sheet, entries: &[Entry], left: i32, top: i32, width: i32) {
    for ((name, ink, swatch), (line, x)) in entries.iter().zip(places(entries, width)) {
        let (x, y) = ((left + x) * UNIT, (top + line * LINE) * UNIT);
        let wide = swatch.width() * UNIT;
        let centre = (x + wide / 2, y + 9 * UNIT);
        let mut data = String::new();
        rectangle(&mut data, x, y + 4 * UNIT, wide, 10 * UNIT);
        let dashed = |dash| {
            sheet.dash(dash);
            sheet.stroke(&polyline([(x, centre.1), (x + wide, centre.1)]), *ink, 1.0, 2.0);
            sheet.dash(None);
        };
        match swatch {
            Swatch::Box => sheet.fill(&data, *ink, 1.0, None),
            Swatch::Faint => sheet.fill(&data, *ink, 0.35, None),
            Swatch::Tint(percent) => sheet.fill(&data, *ink, f64::from(*percent) / 100.0, None),
            Swatch::Frame => sheet.stroke(&data, *ink, 0.9, 1.0),
            Swatch::Outline => sheet.outline(&data, *ink, 0.9, ""),
            Swatch::Line => dashed(ink.dash()),
            Swatch::Dashed(dash) => dashed(Some(*dash)),
            Swatch::Mark => sheet.mark(centre, 4 * UNIT, *ink, true, None),
            Swatch::Joined => {
                dashed(ink.dash());
                sheet.mark(centre, 4 * UNIT, *ink, true, None);
            }
            Swatch::Hollow => sheet.mark(centre, 4 * UNIT, *ink, false, None),
            Swatch::Ring => sheet.ring(centre, 6 * UNIT, *ink),
            Swatch::Point => sheet.dots([centre], *ink, 1.0, 2.8),
            Swatch::Diamond => {
                sheet.shape(centre, 5 * UNIT, *ink, Shape::Diamond, true, None);
            }
            Swatch::Window => {
                sheet.fill(&data, *ink, WINDOW, None);
                sheet.stroke(&data, *ink, 0.6, 0.8);
            }
            Swatch::Event => sheet.shape(centre, 5 * UNIT, *ink, Shape::Down, true, None),
            Swatch::Spread => {
                sheet.fill(&data, *ink, 0.3, None);
                sheet.stroke(&data, *ink, 1.0, 1.2);
                let line = polyline([(centre.0, y + 4 * UNIT), (centre.0, y + 14 * UNIT)]);
                sheet.stroke(&line, *ink, 1.0, 2.6);
            }
        }
        let room = (width - swatch.width() - 6) * UNIT;
        if let Some(name) = fitted(name, NORMAL, room) {
            let place = (x + (swatch.width() + 6) * UNIT, y + 13 * UNIT);
            sheet.text(&name, place, NORMAL, Ink::Text, Anchor::Start, false);
        }
    }
}

/// The line number and the x position of each entry.
fn places(entries: &[Entry], width: i32) -> Vec<(i32, i32)> {
    let (mut line, mut x) = (0, 0);
    entries
        .iter()
        .map(|(name, _, swatch)| {
            let needed = swatch.width() + 6 + text_width(name, NORMAL) / UNIT;
            if x > 0 && x + needed > width {
                (line, x) = (line + 1, 0);
            }
            let place = (line, x);
            x += needed + GAP;
            place
        })
        .collect()
}
