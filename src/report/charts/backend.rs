//! What plotters draws on: a [`Sheet`]. A colour is a role: its number is the blue channel (see [`Ink::colour`](super::Ink)).

use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontTransform,
};

use super::sheet::{Anchor, Never, Sheet, UNIT, polyline, rectangle, text_width};

/// A sheet as plotters sees it, in units.
#[derive(Clone, Debug)]
pub(super) struct Backend(pub(super) Sheet);

type Done = Result<(), DrawingErrorKind<Never>>;

impl DrawingBackend for Backend {
    type ErrorType = Never;

    fn get_size(&self) -> (u32, u32) {
        self.0.size()
    }

    fn ensure_prepared(&mut self) -> Done {
        Ok(())
    }

    fn present(&mut self) -> Done {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, color: BackendColor) -> Done {
        let mut data = String::new();
        rectangle(&mut data, x, y, UNIT, UNIT);
        self.0.fill(&data, color.rgb.2, color.alpha, None);
        Ok(())
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Done {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        (left, top): BackendCoord,
        (right, bottom): BackendCoord,
        style: &S,
        fill: bool,
    ) -> Done {
        let mut data = String::new();
        rectangle(&mut data, left, top, right - left, bottom - top);
        let color = style.color();
        if fill {
            self.0.fill(&data, color.rgb.2, color.alpha, None);
        } else {
            self.0.stroke(&data, color.rgb.2, color.alpha, width(style));
        }
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Done {
        let color = style.color();
        self.0.stroke(&polyline(path), color.rgb.2, color.alpha, width(style));
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Done {
        self.0.circle(center, radius as i32, style.color().rgb.2, fill, None);
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        vert: I,
        style: &S,
    ) -> Done {
        let color = style.color();
        self.0.fill(&polyline(vert), color.rgb.2, color.alpha, None);
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, (x, y): BackendCoord) -> Done {
        let size = style.size() / f64::from(UNIT);
        let anchor = match style.anchor().h_pos {
            HPos::Left => Anchor::Start,
            HPos::Center => Anchor::Middle,
            HPos::Right => Anchor::End,
        };
        // From the anchor to the baseline.
        let down = match style.anchor().v_pos {
            VPos::Top => 0.8,
            VPos::Center => 0.36,
            VPos::Bottom => -0.2,
        };
        let down = (down * style.size()) as i32;
        let upright = matches!(style.transform(), FontTransform::Rotate270);
        let place = if upright { (x + down, y) } else { (x, y + down) };
        self.0.text(text, place, size, style.color().rgb.2, anchor, upright);
        Ok(())
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<Never>> {
        Ok((text_width(text, style.size() / f64::from(UNIT)) as u32, (style.size() * 1.2) as u32))
    }
}

/// Strokes are given to plotters in tenths of a pixel, as everything else.
fn width(style: &impl BackendStyle) -> f64 {
    f64::from(style.stroke_width()) / f64::from(UNIT)
}
