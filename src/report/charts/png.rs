//! SVG to PNG, with a font of our own: what a machine has installed makes no difference.

use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use thiserror::Error;

/// Latin, Greek and the signs of charts. Its licence is beside it.
const FONT: &[u8] = include_bytes!("../fonts/dejavu-sans-subset.ttf");
const FAMILY: &str = "DejaVu Sans";

/// A picture that could not be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ChartError {
    /// By the plotting library.
    #[error("cannot draw a chart: {0}")]
    Drawing(String),
    /// As pixels.
    #[error("cannot turn a chart into pixels: {0}")]
    Pixels(String),
}

/// An SVG document as PNG, `scale` pixels for each of its own.
///
/// # Errors
/// [`ChartError::Pixels`] if it is no SVG document or has no size.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, ChartError> {
    let fail = |problem: String| ChartError::Pixels(problem);
    let options = Options { font_family: FAMILY.to_owned(), fontdb: fonts(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| fail(error.to_string()))?;
    let size = tree.size().to_int_size().scale_by(scale).ok_or_else(|| fail("it has no size".to_owned()))?;
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
