//! Colours as roles, in a light and a dark theme.

use serde::{Deserialize, Serialize};

use super::column::Column;
use super::marks::{Dash, Shape};

/// Light or dark.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    /// Dark ink on white paper.
    #[default]
    Light,
    /// Light ink on dark paper.
    Dark,
}

/// How a chart is drawn: how its colours are written, and at which width.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Paint {
    /// As classes (`f3` fills, `s3` strokes) whose colours come from the style sheet of a page, which follows the reader's theme.
    Page,
    /// As the colours of one theme, for a separate file.
    File(Theme),
    /// The same, as wide as one or two columns of a journal.
    Print(Theme, Column),
}

impl Paint {
    /// The width in pixels of a chart that is `own` pixels wide on a page.
    pub(super) fn width(self, own: u32) -> u32 {
        if let Self::Print(_, column) = self { column.pixels() } else { own }
    }

    /// Width and height in pixels of a chart of the given size on a page. In print a chart keeps its proportions, except that it is
    /// neither very low nor very high.
    pub(super) fn size(self, (own, height): (u32, u32)) -> (u32, u32) {
        let width = self.width(own);
        let height = if width == own { height } else { (width * height / own.max(1)).clamp(220, 400) };
        (width, height)
    }
}

/// The role of a colour.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ink {
    /// The background.
    Paper,
    /// Text.
    Text,
    /// Less prominent text: tick labels.
    Muted,
    /// Axes.
    Axis,
    /// Grid lines.
    Mesh,
    /// Processors that are down.
    Down,
    /// Failed attempts and killed jobs.
    Wasted,
    /// Shading of better values.
    Gain,
    /// Shading of worse values.
    Loss,
    /// Shading of the measured window of a run.
    Window,
    /// A series, by its number; its colour, dashes and mark repeat after [`Ink::SERIES`].
    Series(u8),
}

/// The light and the dark colour of each role but the series, in the order of [`Ink::index`].
const ROLES: [(&str, &str); 10] = [
    ("#ffffff", "#15181c"),
    ("#1c2126", "#e6e8ea"),
    ("#56606b", "#a3acb5"),
    ("#8b949e", "#78818b"),
    ("#e4e7eb", "#2c3239"),
    ("#8d99a6", "#66717d"),
    ("#c2182b", "#ff6b74"),
    ("#0b76c4", "#3f9fe0"),
    ("#d9660b", "#f08a3c"),
    ("#e8b800", "#c9a227"),
];

/// The look of each series: its colour on light and on dark paper, the dashes of its line, and the shape of its marks. No two have the
/// same dashes or the same shape. The first hues are those of Okabe and Ito for all kinds of colour vision (2008); the lightness of
/// colours (CIE L*) goes from 22 to 66 on light paper, differs between any two, and by 14 or more between neighbours, so that they can
/// be told apart in grey, too.
const SERIES: [(&str, &str, Option<Dash>, Shape); 12] = [
    ("#055e92", "#04a1f6", None, Shape::Circle),
    ("#f27017", "#ffba95", Some(Dash("7 3")), Shape::Square),
    ("#038257", "#46c38d", Some(Dash("1.5 2.5")), Shape::Up),
    ("#781367", "#c763b1", Some(Dash("8 2.5 1.5 2.5")), Shape::Diamond),
    ("#d19604", "#ffc96e", Some(Dash("14 4")), Shape::Down),
    ("#665dc2", "#aa9bfe", Some(Dash("3.5 2.5")), Shape::Cross),
    ("#039cc8", "#67d2ff", Some(Dash("8 2.5 1.5 2.5 1.5 2.5")), Shape::Star),
    ("#7c3b1e", "#c97e5c", Some(Dash("1.5 5")), Shape::Plus),
    ("#7e8b20", "#b8c358", Some(Dash("14 3 4 3")), Shape::Left),
    ("#023567", "#4e7cc8", Some(Dash("5 6")), Shape::Hourglass),
    ("#e676ac", "#febbd8", Some(Dash("4 2 4 2 1.5 2")), Shape::Right),
    ("#0a6e71", "#2db3b6", Some(Dash("14 3 1.5 3 1.5 3 1.5 3")), Shape::Bar),
];

impl Ink {
    /// Number of series that can be told apart, with and without colour.
    pub const SERIES: u8 = SERIES.len() as u8;

    /// Index in the table of colours; series of the same colour share it.
    pub(super) const fn index(self) -> u8 {
        match self {
            Self::Paper => 0,
            Self::Text => 1,
            Self::Muted => 2,
            Self::Axis => 3,
            Self::Mesh => 4,
            Self::Down => 5,
            Self::Wasted => 6,
            Self::Gain => 7,
            Self::Loss => 8,
            Self::Window => 9,
            Self::Series(number) => ROLES.len() as u8 + number % Self::SERIES,
        }
    }

    /// The dashes of a line; `None` if it is solid.
    pub(super) fn dash(self) -> Option<Dash> {
        if let Self::Series(number) = self { look(number).2 } else { None }
    }

    /// The shape of a mark.
    pub(super) fn shape(self) -> Shape {
        if let Self::Series(number) = self { look(number).3 } else { Shape::Circle }
    }

    /// The SVG attribute that fills (or strokes) with this colour.
    pub(super) fn attribute(self, stroke: bool, paint: Paint) -> String {
        let index = self.index();
        match (paint, stroke) {
            (Paint::Page, false) => format!("class=\"f{index}\""),
            (Paint::Page, true) => format!("class=\"s{index}\""),
            (Paint::File(theme) | Paint::Print(theme, _), false) => format!("fill=\"{}\"", self.hex(theme)),
            (Paint::File(theme) | Paint::Print(theme, _), true) => {
                format!("fill=\"none\" stroke=\"{}\"", self.hex(theme))
            }
        }
    }

    /// The colour in a theme, as `#rrggbb`.
    pub fn hex(self, theme: Theme) -> &'static str {
        hex(self.index(), theme)
    }

    /// The colour in a theme, as red, green and blue.
    pub(super) fn rgb(self, theme: Theme) -> [u8; 3] {
        let digits = u32::from_str_radix(&self.hex(theme)[1..], 16).unwrap_or(0);
        [(digits >> 16) as u8, (digits >> 8) as u8, digits as u8]
    }
}

fn look(number: u8) -> (&'static str, &'static str, Option<Dash>, Shape) {
    SERIES[usize::from(number) % SERIES.len()]
}

/// Number of colours.
const COLOURS: u8 = (ROLES.len() + SERIES.len()) as u8;

fn hex(index: u8, theme: Theme) -> &'static str {
    let (light, dark) = match usize::from(index).checked_sub(ROLES.len()) {
        None => ROLES[usize::from(index)],
        Some(number) => (SERIES[number].0, SERIES[number].1),
    };
    match theme {
        Theme::Light => light,
        Theme::Dark => dark,
    }
}

/// The style sheet that assigns CSS variables to the classes of [`Paint::Page`], without the variables of a theme.
pub(crate) fn classes() -> String {
    // What zooms has an edge in its own colour, so that a bar as thin as a hair stays visible.
    let class = |n| {
        format!(
            ".f{n}{{fill:var(--i{n})}}.s{n}{{fill:none;stroke:var(--i{n})}}.zoom .f{n}{{stroke:var(--i{n})}}"
        )
    };
    (0..COLOURS).map(class).collect()
}

/// The CSS variables of one theme.
pub(crate) fn variables(theme: Theme) -> String {
    (0..COLOURS).map(|n| format!("--i{n}:{};", hex(n, theme))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lightness of a colour as people see it, and of the grey that it becomes without colour (CIE L*, from 0 to 100).
    fn lightness(ink: Ink, theme: Theme) -> f64 {
        let linear = ink.rgb(theme).map(|channel| {
            let value = f64::from(channel) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { libm::pow((value + 0.055) / 1.055, 2.4) }
        });
        let luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
        116.0 * libm::cbrt(luminance) - 16.0
    }

    #[test]
    fn twelve_series_can_be_told_apart_without_colour() {
        let all = || (0..Ink::SERIES).map(Ink::Series);
        assert_eq!(all().count(), 12);
        for (one, other) in all().flat_map(|one| all().map(move |other| (one, other))) {
            if one < other {
                assert_ne!(one.dash(), other.dash(), "{one:?} and {other:?}");
                assert_ne!(one.shape(), other.shape(), "{one:?} and {other:?}");
            }
        }
        for theme in [Theme::Light, Theme::Dark] {
            let paper = lightness(Ink::Paper, theme);
            let greys: Vec<f64> = all().map(|ink| lightness(ink, theme)).collect();
            assert!(greys.iter().all(|grey| (grey - paper).abs() > 30.0), "legible on paper: {greys:?}");
            assert!(greys.windows(2).all(|pair| (pair[0] - pair[1]).abs() > 8.0), "neighbours: {greys:?}");
            let mut sorted = greys;
            sorted.sort_by(f64::total_cmp);
            assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] > 1.0), "{sorted:?}");
            assert!(sorted[11] - sorted[0] > 30.0, "{sorted:?}");
        }
    }
}
