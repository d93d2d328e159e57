//! Legends: swatches with their names above a plot, in as many lines as they need.

use super::palette::Ink;
use super::plot::NORMAL;
use super::sheet::{Anchor, Dash, Sheet, UNIT, fitted, polyline, rectangle, text_width};

/// The symbol of an entry.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Swatch {
    Box,
    Faint,
    Line,
    Dashed(Dash),
    Dot,
    Hollow,
    /// A dot of the size of single values.
    Point,
    Diamond,
    /// A box with a line in its middle.
    Spread,
}

/// An entry of a legend.
pub(super) type Entry = (String, Ink, Swatch);

/// Height of a line, in pixels.
const LINE: i32 = 18;
const SWATCH: i32 = 14;
const GAP: i32 = 16;

/// Height of a legend of a given width, in pixels.
pub(super) fn height(entries: &[Entry], width: i32) -> i32 {
    let lines = places(entries, width).last().map_or(0, |(line, _)| line + 1);
    if lines == 0 { 0 } else { lines * LINE + 4 }
}

/// Draws the legend from its upper left corner, in pixels.
pub(super) fn draw(sheet: &Sheet, entries: &[Entry], left: i32, top: i32, width: i32) {
    for ((name, ink, swatch), (line, x)) in entries.iter().zip(places(entries, width)) {
        let (x, y) = ((left + x) * UNIT, (top + line * LINE) * UNIT);
        let centre = (x + SWATCH * UNIT / 2, y + 9 * UNIT);
        let mut data = String::new();
        rectangle(&mut data, x, y + 4 * UNIT, SWATCH * UNIT, 10 * UNIT);
        match swatch {
            Swatch::Box => sheet.fill(&data, *ink, 1.0, None),
            Swatch::Faint => sheet.fill(&data, *ink, 0.35, None),
            Swatch::Line | Swatch::Dashed(_) => {
                sheet.dash(if let Swatch::Dashed(dash) = swatch { Some(*dash) } else { None });
                sheet.stroke(&polyline([(x, centre.1), (x + SWATCH * UNIT, centre.1)]), *ink, 1.0, 2.0);
                sheet.dash(None);
            }
            Swatch::Dot | Swatch::Hollow => {
                sheet.circle(centre, 4 * UNIT, *ink, *swatch == Swatch::Dot, None);
            }
            Swatch::Point => sheet.dots([centre], *ink, 1.0, 2.8),
            Swatch::Diamond => sheet.diamond(centre, *ink, 6),
            Swatch::Spread => {
                sheet.fill(&data, *ink, 0.3, None);
                sheet.stroke(&data, *ink, 1.0, 1.2);
                let line = polyline([(centre.0, y + 4 * UNIT), (centre.0, y + 14 * UNIT)]);
                sheet.stroke(&line, *ink, 1.0, 2.6);
            }
        }
        let room = (width - SWATCH - 6) * UNIT;
        if let Some(name) = fitted(name, NORMAL, room) {
            let place = (x + (SWATCH + 6) * UNIT, y + 13 * UNIT);
            sheet.text(&name, place, NORMAL, Ink::Text, Anchor::Start, false);
        }
    }
}

/// The line number and the x position of each entry.
fn places(entries: &[Entry], width: i32) -> Vec<(i32, i32)> {
    let (mut line, mut x) = (0, 0);
    entries
        .iter()
        .map(|(name, _, _)| {
            let needed = SWATCH + 6 + text_width(name, NORMAL) / UNIT;
            if x > 0 && x + needed > width {
                (line, x) = (line + 1, 0);
            }
            let place = (line, x);
            x += needed + GAP;
            place
        })
        .collect()
}
