//! Conversion of SVG to PNG, with the feature `png` and a built-in font, so that installed fonts make no difference.

use thiserror::Error;

/// An error of drawing a PNG file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ChartError {
    /// The SVG document cannot be drawn.
    #[error("cannot draw a chart: {0}")]
    Pixels(String),
    /// This build lacks the feature for a format.
    #[error("this gridemu is built without the feature `{0}`")]
    NotBuiltIn(&'static str),
}

impl ChartError {
    /// Returns advice for the user.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Pixels(_) => None,
            Self::NotBuiltIn(feature) => Some(format!(
                "build it with it: `cargo build --release --features {feature}`, or write SVG files: `--svg DIR`"
            )),
        }
    }
}

/// Draws an SVG document as PNG, with `scale` pixels for each of its own.
///
/// # Errors
/// Returns [`ChartError::Pixels`] if it is not an SVG document or has no size, [`ChartError::NotBuiltIn`] without the feature
/// `png`.
#[cfg(not(feature = "png"))]
pub const fn png(_svg: &str, _scale: f32) -> Result<Vec<u8>, ChartError> {
    Err(ChartError::NotBuiltIn("png"))
}

#[cfg(feature = "png")]
pub use drawn::png;
#[cfg(feature = "pdf")]
pub(super) use drawn::tree;

#[cfg(feature = "png")]
mod drawn {
    use std::sync::{Arc, OnceLock};

    use resvg::tiny_skia::{Pixmap, Transform};
    use resvg::usvg::{Options, Tree, fontdb};

    use super::ChartError;

    /// DejaVu Sans with Latin, Greek and the symbols of charts. Its licence is beside it.
    const FONT: &[u8] = include_bytes!("../fonts/dejavu-sans-subset.ttf");
    const FAMILY: &str = "DejaVu Sans";

    /// Draws an SVG document as PNG, with `scale` pixels for each of its own.
    ///
    /// # Errors
    /// Returns [`ChartError::Pixels`] if it is not an SVG document or has no size.
    pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, ChartError> {
        let fail = |problem: String| ChartError::Pixels(problem);
        let tree = tree(svg)?;
        let size =
            tree.size().to_int_size().scale_by(scale).ok_or_else(|| fail("it has no size".to_owned()))?;
        let mut pixels =
            Pixmap::new(size.width(), size.height()).ok_or_else(|| fail("it is too large".to_owned()))?;
        resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
        pixels.encode_png().map_err(|error| fail(error.to_string()))
    }

    /// Reads an SVG document, with the built-in font.
    pub(in super::super) fn tree(svg: &str) -> Result<Tree, ChartError> {
        let options = Options { font_family: FAMILY.to_owned(), fontdb: fonts(), ..Options::default() };
        Tree::from_str(svg, &options).map_err(|error| ChartError::Pixels(error.to_string()))
    }

    fn fonts() -> Arc<fontdb::Database> {
        static FONTS: OnceLock<Arc<fontdb::Database>> = OnceLock::new();
        FONTS
            .get_or_init(|| {
                let mut fonts = fontdb::Database::new();
                fonts.load_font_data(FONT.to_vec());
                fonts.set_sans_serif_family(FAMILY);
                Arc::new(fonts)
            })
            .clone()
    }
}
