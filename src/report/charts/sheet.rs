//! An SVG document under construction. Lengths are integers, in tenths of a pixel.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::rc::Rc;

use super::marks::{Dash, Shape};
use super::palette::{Ink, Paint};

/// Units in a pixel.
pub(super) const UNIT: i32 = 10;

/// Font families of similar widths, so that text that fits in one fits in all.
const FAMILIES: &str = "'DejaVu Sans',Verdana,'Segoe UI',system-ui,sans-serif";

const NAMESPACES: &str = "xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" ";

/// The part of a text that is placed at its x position.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// The document, shared by its plots and by charts that draw on it directly.
#[derive(Clone, Debug)]
pub(super) struct Sheet(Rc<RefCell<Document>>);

#[derive(Debug)]
struct Document {
    body: String,
    paint: Paint,
    dash: Option<Dash>,
}

impl Sheet {
    /// A sheet with the given size in pixels; `label` is its text for screen readers.
    pub(super) fn new(width: u32, height: u32, paint: Paint, label: &str) -> Self {
        // Inline SVG needs no namespace, and its title would appear as a tooltip over the whole chart.
        let names = match paint {
            Paint::Page => "",
            Paint::File(_) | Paint::Print(..) => NAMESPACES,
        };
        let (wide, high) = match paint {
            Paint::Page | Paint::File(_) => (width.to_string(), height.to_string()),
            // As wide as the column, even if the chart could not be laid out in that width.
            Paint::Print(_, column) => {
                let wide = column.millimetres();
                let high = f64::from(wide) * f64::from(height) / f64::from(width.max(1));
                (format!("{wide}mm"), format!("{high:.2}mm"))
            }
        };
        let mut body = format!(
            "<svg {names}width=\"{wide}\" height=\"{high}\" viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"{FAMILIES}\" aria-label=\"",
        );
        escape(&mut body, label);
        body.push_str("\">");
        if paint != Paint::Page {
            let fill = Ink::Paper.attribute(false, paint);
            let _ = write!(body, "<rect width=\"100%\" height=\"100%\" {fill}/>");
        }
        body.push('\n');
        Self(Rc::new(RefCell::new(Document { body, paint, dash: None })))
    }

    /// Returns the finished document.
    pub(super) fn finish(self) -> String {
        let mut document = self.0.borrow_mut();
        document.body.push_str("</svg>\n");
        std::mem::take(&mut document.body)
    }

    /// Whether the sheet is part of a page, whose script may move what is in a [group](Self::open).
    pub(super) fn is_page(&self) -> bool {
        self.0.borrow().paint == Paint::Page
    }

    /// Begins a group with the given attributes; files have none.
    pub(super) fn open(&self, attributes: &str) {
        if self.is_page() {
            let _ = writeln!(self.0.borrow_mut().body, "<g {attributes}>");
        }
    }

    /// Ends the last group.
    pub(super) fn shut(&self) {
        if self.is_page() {
            self.0.borrow_mut().body.push_str("</g>\n");
        }
    }

    /// Sets the dash pattern of the following lines; `None` for solid lines.
    pub(super) fn dash(&self, dash: Option<Dash>) {
        self.0.borrow_mut().dash = dash;
    }

    /// Draws a filled shape from path data in units, in the colour of a role, with an optional tooltip.
    pub(super) fn fill(&self, data: &str, ink: Ink, alpha: f64, title: Option<&str>) {
        if data.is_empty() {
            return;
        }
        let mut document = self.0.borrow_mut();
        let paint = ink.attribute(false, document.paint);
        let _ = write!(document.body, "<path {paint}{} d=\"{data}\"", opacity(alpha));
        document.close("path", title);
    }

    /// Draws a dashed outline without a fill, with a tooltip also for what is inside.
    pub(super) fn outline(&self, data: &str, ink: Ink, alpha: f64, title: &str) {
        if data.is_empty() {
            return;
        }
        let mut document = self.0.borrow_mut();
        let (paint, opacity) = (ink.attribute(true, document.paint), opacity(alpha));
        let dash = Dash::FINE.0;
        let _ = write!(
            document.body,
            "<path {paint}{opacity} stroke-width=\"1\" stroke-dasharray=\"{dash}\" pointer-events=\"all\" d=\"{data}\"",
        );
        document.close("path", Some(title).filter(|title| !title.is_empty()));
    }

    /// Draws a line along path data.
    pub(super) fn stroke(&self, data: &str, ink: Ink, alpha: f64, width: f64) {
        let dash = self.0.borrow().dash;
        let dashes = dash.map(|dash| format!(" stroke-dasharray=\"{}\"", dash.0));
        self.path(
            data,
            ink,
            alpha,
            width,
            &format!("stroke-linejoin=\"round\"{}", dashes.unwrap_or_default()),
        );
    }

    fn path(&self, data: &str, ink: Ink, alpha: f64, width: f64, style: &str) {
        if !data.is_empty() {
            let mut document = self.0.borrow_mut();
            let (paint, opacity) = (ink.attribute(true, document.paint), opacity(alpha));
            let body = &mut document.body;
            let _ = writeln!(body, "<path {paint}{opacity} stroke-width=\"{width}\" {style} d=\"{data}\"/>");
        }
    }

    /// Draws a mark in the shape and colour of a series: filled, with a border in the background colour that separates it from what
    /// is below, or hollow. `radius` is in units.
    pub(super) fn mark(&self, at: (i32, i32), radius: i32, ink: Ink, filled: bool, title: Option<&str>) {
        if filled {
            self.shape(at, radius + 8, Ink::Paper, ink.shape(), true, None);
        }
        self.shape(at, radius, ink, ink.shape(), filled, title);
    }

    /// What `draw` draws, lighter.
    pub(super) fn lighter(&self, draw: impl FnOnce()) {
        self.0.borrow_mut().body.push_str("<g opacity=\"0.5\">\n");
        draw();
        self.0.borrow_mut().body.push_str("</g>\n");
    }

    /// Draws a ring around a mark.
    pub(super) fn ring(&self, at: (i32, i32), radius: i32, ink: Ink) {
        self.shape(at, radius, ink, Shape::Circle, false, None);
    }

    /// Draws a filled or hollow shape.
    pub(super) fn shape(
        &self,
        (x, y): (i32, i32),
        radius: i32,
        ink: Ink,
        shape: Shape,
        filled: bool,
        title: Option<&str>,
    ) {
        let mut document = self.0.borrow_mut();
        let paint = ink.attribute(!filled, document.paint);
        let width = if filled { "" } else { " stroke-width=\"1.5\"" };
        if shape == Shape::Circle {
            let (x, y, radius) = (tenths(x), tenths(y), tenths(radius));
            let _ = write!(document.body, "<circle {paint}{width} cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"");
            document.close("circle", title);
        } else {
            let corner = |(right, down): &(i32, i32)| (x + right * radius / 100, y + down * radius / 100);
            let data = polyline(shape.corners().iter().map(corner));
            let _ = write!(document.body, "<path {paint}{width} d=\"{data}z\"");
            document.close("path", title);
        }
    }

    /// Draws many small round dots, `width` pixels in diameter, as one element.
    pub(super) fn dots(&self, at: impl IntoIterator<Item = (i32, i32)>, ink: Ink, alpha: f64, width: f64) {
        let mut data = String::new();
        for (x, y) in at {
            let _ = write!(data, "M{} {}h0", tenths(x), tenths(y));
        }
        self.path(&data, ink, alpha, width, "stroke-linecap=\"round\"");
    }

    /// Draws a line of text with its baseline at `y`; `upright` text is rotated by a quarter turn to the left.
    pub(super) fn text(
        &self,
        text: &str,
        (x, y): (i32, i32),
        size: f64,
        ink: Ink,
        anchor: Anchor,
        upright: bool,
    ) {
        let paint = ink.attribute(false, self.0.borrow().paint);
        self.letters(text, (x, y), size, &paint, anchor, upright);
    }

    /// The same on a border in the background colour, for text across lines.
    pub(super) fn haloed(&self, text: &str, at: (i32, i32), size: f64, ink: Ink, anchor: Anchor) {
        let border = Ink::Paper.attribute(true, self.0.borrow().paint);
        self.letters(text, at, size, &format!("{border} stroke-width=\"3\""), anchor, false);
        self.text(text, at, size, ink, anchor, false);
    }

    fn letters(&self, text: &str, (x, y): (i32, i32), size: f64, paint: &str, anchor: Anchor, upright: bool) {
        let mut document = self.0.borrow_mut();
        let (x, y) = (tenths(x), tenths(y));
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let turned = if upright { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
        let _ =
            write!(document.body, "<text {paint} x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{anchor}{turned}>");
        escape(&mut document.body, text);
        document.body.push_str("</text>\n");
    }

    /// Draws a bitmap, scaled to a rectangle in units. The CSS class `class` determines in which theme of a page it is visible.
    pub(super) fn image(&self, png: &[u8], (x, y): (i32, i32), (width, height): (i32, i32), class: &str) {
        let mut document = self.0.borrow_mut();
        let (x, y, width, height) = (tenths(x), tenths(y), tenths(width), tenths(height));
        let (href, class) = match document.paint {
            Paint::Page => ("href", format!("class=\"{class}\" ")),
            Paint::File(_) | Paint::Print(..) => ("xlink:href", String::new()),
        };
        let _ = write!(
            document.body,
            "<image {class}x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" preserveAspectRatio=\"none\" image-rendering=\"optimizeSpeed\" style=\"image-rendering:pixelated\" {href}=\"data:image/png;base64,"
        );
        base64(&mut document.body, png);
        document.body.push_str("\"/>\n");
    }
}

impl Document {
    fn close(&mut self, tag: &str, title: Option<&str>) {
        match title {
            None => self.body.push_str("/>\n"),
            Some(title) => {
                self.body.push_str("><title>");
                escape(&mut self.body, title);
                let _ = writeln!(self.body, "</title></{tag}>");
            }
        }
    }
}

/// Appends a rectangle as path data: `M x y h w v h h -w z`. Appends nothing if its area is zero.
pub(super) fn rectangle(data: &mut String, x: i32, y: i32, width: i32, height: i32) {
    if width > 0 && height > 0 {
        let (x, y, w, h) = (tenths(x), tenths(y), tenths(width), tenths(height));
        let _ = write!(data, "M{x} {y}h{w}v{h}h-{w}z");
    }
}

/// A path through points.
pub(super) fn polyline(points: impl IntoIterator<Item = (i32, i32)>) -> String {
    let mut data = String::new();
    for (number, (x, y)) in points.into_iter().enumerate() {
        let command = match number {
            0 => "M",
            1 => "L",
            _ => " ",
        };
        let _ = write!(data, "{command}{} {}", tenths(x), tenths(y));
    }
    data
}

fn opacity(alpha: f64) -> String {
    if alpha >= 0.999 { String::new() } else { format!(" opacity=\"{:.2}\"", alpha.max(0.0)) }
}

/// A length in pixels, with one decimal if needed.
pub(super) fn tenths(units: i32) -> String {
    let (whole, rest) = (units.abs() / UNIT, units.abs() % UNIT);
    let sign = if units < 0 { "-" } else { "" };
    if rest == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{rest}") }
}

/// Escapes text for XML. Characters that XML does not allow are left out.
fn escape(out: &mut String, text: &str) {
    for sign in text.chars() {
        match sign {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(sign),
            sign if sign.is_control() || matches!(sign, '\u{fffe}' | '\u{ffff}') => {}
            sign => out.push(sign),
        }
    }
}

/// Base64 as in RFC 4648.
fn base64(out: &mut String, bytes: &[u8]) {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    out.reserve(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let at = |place: usize| u32::from(three.get(place).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for place in 0..4 {
            let sign = SIGNS[(bits >> (18 - 6 * place) & 63) as usize];
            out.push(if place > three.len() { '=' } else { char::from(sign) });
        }
    }
}

/// Advance widths of DejaVu Sans for the characters from space to tilde, in thousandths of the font size.
const ADVANCES: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636,
    636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295,
    295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838,
    500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521,
    392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];

/// The width in units of a line of text whose font size is in pixels.
pub(super) fn text_width(text: &str, size: f64) -> i32 {
    let thousandths: u32 = text
        .chars()
        .map(|sign| {
            let place = (sign as u32).checked_sub(32).map_or(usize::MAX, |place| place as usize);
            u32::from(ADVANCES.get(place).copied().unwrap_or(640))
        })
        .sum();
    libm::ceil(f64::from(thousandths) * size * f64::from(UNIT) / 1000.0) as i32
}

/// The longest prefix of a text that fits into a width in units, with dots if something is left out; `None` if not even that fits.
pub(super) fn fitted(text: &str, size: f64, width: i32) -> Option<String> {
    if text_width(text, size) <= width {
        return Some(text.to_owned());
    }
    let signs: Vec<char> = text.chars().collect();
    (2..signs.len()).rev().find_map(|count| {
        let short: String = signs[..count].iter().chain(['…'].iter()).collect();
        (text_width(&short, size) <= width).then_some(short)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_rfc() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ] {
            let mut out = String::new();
            base64(&mut out, plain.as_bytes());
            assert_eq!(out, coded);
        }
    }

    #[test]
    fn lengths_have_a_decimal_only_if_they_need_it() {
        assert_eq!([120, 125, 0, -5, -10].map(tenths), ["12", "12.5", "0", "-0.5", "-1"]);
    }

    #[test]
    fn a_text_is_cut_where_it_must_be() {
        assert_eq!(fitted("abc", 10.0, 1000).as_deref(), Some("abc"));
        let cut = fitted("conservative", 10.0, 400).unwrap();
        assert!(cut.ends_with('…') && text_width(&cut, 10.0) <= 400, "{cut}");
        assert_eq!(fitted("conservative", 10.0, 50), None);
    }
}
