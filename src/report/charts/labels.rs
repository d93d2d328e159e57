//! Names beside marks, where they cover neither a mark nor each other.

use super::palette::Ink;
use super::plot::{Plot, SMALL};
use super::sheet::{Anchor, UNIT, polyline, text_width};

/// A rectangle on a sheet: left, top, right, bottom, in units.
type Area = (i32, i32, i32, i32);

/// Height of the text above its baseline and below it, in units.
const ABOVE: i32 = 9 * UNIT;
const BELOW: i32 = 3 * UNIT;
/// Distances of a name from its mark, in units: the nearest with room is taken, the far ones with a line to the mark.
const NEAR: i32 = 11 * UNIT;
const FAR: [i32; 3] = [20 * UNIT, 34 * UNIT, 50 * UNIT];

/// The names beside the marks of a plot.
pub(super) struct Labels<'a> {
    plot: &'a Plot,
    taken: Vec<Area>,
}

impl<'a> Labels<'a> {
    /// Without names yet; the marks at these places, of a radius in pixels, are not to be covered.
    pub(super) fn beside(plot: &'a Plot, marks: impl IntoIterator<Item = ((i32, i32), f64)>) -> Self {
        let area = |((x, y), radius): ((i32, i32), f64)| {
            let radius = (radius * f64::from(UNIT)) as i32;
            (x - radius, y - radius, x + radius, y + radius)
        };
        Self { plot, taken: marks.into_iter().map(area).collect() }
    }

    /// Writes the name of the mark at a place, if there is room around it.
    pub(super) fn write(&mut self, name: &str, (x, y): (i32, i32)) {
        let width = text_width(name, SMALL);
        let distances = std::iter::once(NEAR).chain(FAR);
        let places = distances.flat_map(|distance| {
            // Between the arms of the cross of intervals first.
            let slant = distance * 7 / 10;
            let steps = [
                (slant, -slant),
                (slant, slant),
                (-slant, -slant),
                (-slant, slant),
                (distance, 0),
                (-distance, 0),
                (0, -distance),
                (0, distance),
            ];
            steps.map(|step| (step, distance > NEAR))
        });
        for ((right, down), far) in places {
            let (anchor, left) = match right {
                0 => (Anchor::Middle, x - width / 2),
                1.. => (Anchor::Start, x + right),
                _ => (Anchor::End, x + right - width),
            };
            let middle = y + down;
            let area = (
                left - 2 * UNIT,
                middle - ABOVE / 2 - BELOW,
                left + width + 2 * UNIT,
                middle + ABOVE / 2 + BELOW,
            );
            if !self.has_room(area) {
                continue;
            }
            let sheet = self.plot.sheet();
            if far {
                sheet.stroke(&polyline([(x, y), (x + right, middle)]), Ink::Axis, 1.0, 0.7);
            }
            sheet.haloed(name, (x + right, middle + ABOVE / 2), SMALL, Ink::Text, anchor);
            self.taken.push(area);
            return;
        }
    }

    fn has_room(&self, (left, top, right, bottom): Area) -> bool {
        let bounds = self.plot.bounds();
        let inside = left >= bounds.0 && top >= bounds.1 && right <= bounds.2 && bottom <= bounds.3;
        inside
            && self
                .taken
                .iter()
                .all(|taken| left >= taken.2 || right <= taken.0 || top >= taken.3 || bottom <= taken.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::charts::palette::Paint;
    use crate::report::charts::{Axis, Theme};

    #[test]
    fn names_cover_neither_marks_nor_each_other() {
        let axis = || Axis::linear("x", 0.0, 10.0, false);
        let paint = Paint::File(Theme::Light);
        let (sheet, plot) =
            Plot::under_legend(("t", (530, 330), paint), (&axis(), &axis()), &[], (true, true), 0);
        // A heap of points at one place, and one in a corner.
        let mut places = vec![plot.at(5.0, 5.0); 9];
        places.push(plot.at(10.0, 10.0));
        let mut labels = Labels::beside(&plot, places.iter().map(|place| (*place, 5.0)));
        for (number, place) in places.iter().enumerate() {
            labels.write(&format!("conservative-{number}"), *place);
        }
        let (marks, names) = labels.taken.split_at(places.len());
        assert_eq!(names.len(), 10, "there is room for all of them");
        let apart = |a: &Area, b: &Area| a.0 >= b.2 || a.2 <= b.0 || a.1 >= b.3 || a.3 <= b.1;
        for (at, name) in names.iter().enumerate() {
            assert!(marks.iter().chain(&names[..at]).all(|other| apart(name, other)), "{name:?}");
        }
        let svg = sheet.finish();
        assert!((0..10).all(|number| svg.contains(&format!(">conservative-{number}</text>"))), "{svg}");
    }
}
