//! Colours as roles, in a light and a dark theme.

use serde::{Deserialize, Serialize};

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

/// How the colours of a chart are written.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Paint {
    /// As classes (`f3` fills, `s3` strokes) whose colours come from the style sheet of a page, which follows the reader's theme.
    Page,
    /// As the colours of one theme, for a separate file.
    File(Theme),
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
    /// A series, by its number; colours repeat after [`Ink::SERIES`].
    Series(u8),
}

/// The light and the dark colour of each role, in the order of [`Ink::index`]. The series are Okabe and Ito's colours for all kinds
/// of colour vision (2008), darkened for thin lines on white and lightened for dark paper; yellow, which is illegible on white, is
/// replaced by olive.
const COLOURS: [(&str, &str); 17] = [
    ("#ffffff", "#15181c"),
    ("#1c2126", "#e6e8ea"),
    ("#56606b", "#a3acb5"),
    ("#8b949e", "#78818b"),
    ("#e4e7eb", "#2c3239"),
    ("#8d99a6", "#66717d"),
    ("#c2182b", "#ff6b74"),
    ("#0b76c4", "#3f9fe0"),
    ("#d9660b", "#f08a3c"),
    ("#0070b8", "#4da9ec"),
    ("#d45500", "#ff8f4a"),
    ("#00855f", "#2fc79a"),
    ("#b0458a", "#e793c6"),
    ("#b97d00", "#f2b93b"),
    ("#2f95cf", "#93d4f8"),
    ("#7a7a1a", "#cfcf5e"),
    ("#5b5f97", "#a9adec"),
];

impl Ink {
    /// Number of different series colours.
    pub const SERIES: u8 = 8;

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
            Self::Series(number) => 9 + number % Self::SERIES,
        }
    }

    /// The SVG attribute that fills (or strokes) with this colour.
    pub(super) fn attribute(self, stroke: bool, paint: Paint) -> String {
        let index = self.index();
        match (paint, stroke) {
            (Paint::Page, false) => format!("class=\"f{index}\""),
            (Paint::Page, true) => format!("class=\"s{index}\""),
            (Paint::File(theme), false) => format!("fill=\"{}\"", self.hex(theme)),
            (Paint::File(theme), true) => format!("fill=\"none\" stroke=\"{}\"", self.hex(theme)),
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

fn hex(index: u8, theme: Theme) -> &'static str {
    let (light, dark) = COLOURS[usize::from(index) % COLOURS.len()];
    match theme {
        Theme::Light => light,
        Theme::Dark => dark,
    }
}

/// The style sheet that assigns CSS variables to the classes of [`Paint::Page`], without the variables of a theme.
pub(crate) fn classes() -> String {
    (0..COLOURS.len())
        .map(|n| format!(".f{n}{{fill:var(--i{n})}}.s{n}{{fill:none;stroke:var(--i{n})}}"))
        .collect()
}

/// The CSS variables of one theme.
pub(crate) fn variables(theme: Theme) -> String {
    (0..COLOURS.len() as u8).map(|n| format!("--i{n}:{};", hex(n, theme))).collect()
}
