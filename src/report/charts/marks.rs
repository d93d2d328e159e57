//! Dashes of lines and shapes of marks: what distinguishes series without colour.

/// The dash pattern of a line.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Dash(pub(super) &'static str);

impl Dash {
    /// Even dashes.
    pub(super) const EVEN: Self = Self("5 3");
    /// Short dashes, for the edges of small boxes.
    pub(super) const FINE: Self = Self("3 2");
}

/// The shape of a mark.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Circle,
    Square,
    Up,
    Diamond,
    Down,
    Cross,
    Plus,
    Star,
    Left,
    Hourglass,
    Right,
    Bar,
}

impl Shape {
    /// The corners of the shape around its centre, in hundredths of its radius; none of a circle. The areas of all shapes are
    /// similar.
    pub(super) const fn corners(self) -> &'static [(i32, i32)] {
        match self {
            Self::Circle => &[],
            Self::Square => &[(-88, -88), (88, -88), (88, 88), (-88, 88)],
            Self::Up => &[(0, -115), (108, 80), (-108, 80)],
            Self::Diamond => &[(0, -125), (125, 0), (0, 125), (-125, 0)],
            Self::Down => &[(0, 115), (108, -80), (-108, -80)],
            Self::Cross => &[
                (0, -48),
                (55, -103),
                (103, -55),
                (48, 0),
                (103, 55),
                (55, 103),
                (0, 48),
                (-55, 103),
                (-103, 55),
                (-48, 0),
                (-103, -55),
                (-55, -103),
            ],
            Self::Plus => &[
                (-36, -120),
                (36, -120),
                (36, -36),
                (120, -36),
                (120, 36),
                (36, 36),
                (36, 120),
                (-36, 120),
                (-36, 36),
                (-120, 36),
                (-120, -36),
                (-36, -36),
            ],
            Self::Star => &[
                (0, -138),
                (34, -47),
                (131, -43),
                (55, 18),
                (81, 112),
                (0, 58),
                (-81, 112),
                (-55, 18),
                (-131, -43),
                (-34, -47),
            ],
            Self::Left => &[(-115, 0), (80, -108), (80, 108)],
            Self::Hourglass => &[(-95, -105), (95, -105), (22, 0), (95, 105), (-95, 105), (-22, 0)],
            Self::Right => &[(115, 0), (-80, -108), (-80, 108)],
            Self::Bar => &[(-130, -50), (130, -50), (130, 50), (-130, 50)],
        }
    }
}
