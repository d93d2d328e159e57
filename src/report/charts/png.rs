//! Conversion of SVG to PNG, with the feature `png` and a built-in font, so that installed fonts make no difference.

use thiserror::Error;

/// An error of drawing a PNG file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ChartError {
    /// The SVG document cannot be drawn.
    #[error("cannot turn a chart into pixels: {0}")]
    Pixels(String),
    /// This build cannot draw PNG files.
    #[error("this gridemu is built without the feature `png`")]
    NotBuiltIn,
}

impl ChartError {
    /// Returns advice for the user.
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Pixels(_) => None,
            Self::NotBuiltIn => Some(
                "build it with it: `cargo build --release --features png`, or write SVG files: `--svg DIR`",
            ),
        }
    }
}

/// Whether this build can draw PNG files: whether it has the feature `png`.
pub const PNG_BUILT_IN: bool = cfg!(feature = "png");

/// Draws an SVG document as PNG, with `scale` pixels for each of its own.
///
/// # Errors
/// Returns [`ChartError::Pixels`] if it is not an SVG document or has no size, [`ChartError::NotBuiltIn`] without the feature
/// `png`.
#[cfg(not(feature = "png"))]
pub const fn png(_svg: &str, _scale: f32) -> Result<Vec<u8>, ChartError> {
    Err(ChartError::NotBuiltIn)
}

#[cfg(feature = "png")]
pub use drawn::png;

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
        let options = Options { font_family: FAMILY.to_owned(), fontdb: fonts(), ..Options::default() };
        let tree = Tree::from_str(svg, &options).map_err(|error| fail(error.to_string()))?;
        let size =
            tree.size().to_int_size().scale_by(scale).ok_or_else(|| fail("it has no size".to_owned()))?;
        let mut pixels =
            Pixmap::new(size.width(), size.height()).ok_or_else(|| fail("it is too large".to_owned()))?;
        resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
        pixels.encode_png().map_err(|error| fail(error.to_string()))
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
