//! Conversion of SVG to PDF, with the feature `pdf`: paths and images, and text as the outlines of its letters, so that a file needs
//! no font.

use super::ChartError;

/// Draws an SVG document as a PDF file of one page.
///
/// # Errors
/// Returns [`ChartError::Pixels`] if it is not an SVG document, [`ChartError::NotBuiltIn`] without the feature `pdf`.
#[cfg(not(feature = "pdf"))]
pub const fn pdf(_svg: &str) -> Result<Vec<u8>, ChartError> {
    Err(ChartError::NotBuiltIn("pdf"))
}

#[cfg(feature = "pdf")]
pub use drawn::pdf;

#[cfg(feature = "pdf")]
mod drawn {
    use std::io::Write as _;

    use flate2::{Compression, write::ZlibEncoder};
    use pdf_writer::types::{LineCapStyle, LineJoinStyle};
    use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref};
    use resvg::tiny_skia::{PathSegment, Pixmap, Transform};
    use resvg::usvg::{Color, Group, Image, ImageKind, LineCap, LineJoin, Node, Paint, Path};

    use super::ChartError;
    use crate::report::charts::png::tree;

    /// Points of PDF in a pixel of SVG: 72 and 96 to the inch.
    const POINT: f32 = 0.75;

    /// Draws an SVG document as a PDF file of one page.
    ///
    /// # Errors
    /// Returns [`ChartError::Pixels`] if it is not an SVG document.
    pub fn pdf(svg: &str) -> Result<Vec<u8>, ChartError> {
        let tree = tree(svg)?;
        let (width, height) = (tree.size().width() * POINT, tree.size().height() * POINT);
        let mut page = Page { content: Content::new(), alphas: Vec::new(), images: Vec::new() };
        // The y axis of PDF points upwards.
        page.group(tree.root(), Transform::from_row(POINT, 0.0, 0.0, -POINT, 0.0, height), 1.0)?;
        Ok(page.finish(width, height))
    }

    /// A page that is being drawn.
    struct Page {
        content: Content,
        /// The opacities in use, in percent.
        alphas: Vec<u8>,
        images: Vec<Pixmap>,
    }

    impl Page {
        fn group(&mut self, group: &Group, onto: Transform, alpha: f32) -> Result<(), ChartError> {
            let onto = onto.pre_concat(group.transform());
            let alpha = alpha * group.opacity().get();
            for node in group.children() {
                match node {
                    Node::Group(group) => self.group(group, onto, alpha)?,
                    Node::Text(text) => self.group(text.flattened(), onto, alpha)?,
                    Node::Path(path) => self.path(path, onto, alpha),
                    Node::Image(image) => self.image(image, onto, alpha)?,
                }
            }
            Ok(())
        }

        /// Saves the state of the page, and sets the coordinates and the opacity of what follows.
        fn begin(&mut self, onto: Transform, alpha: f32) {
            self.content.save_state();
            self.content.transform([onto.sx, onto.ky, onto.kx, onto.sy, onto.tx, onto.ty]);
            let percent = (alpha * 100.0).round() as u8;
            if percent < 100 {
                let at = self.alphas.iter().position(|known| *known == percent).unwrap_or_else(|| {
                    self.alphas.push(percent);
                    self.alphas.len() - 1
                });
                self.content.set_parameters(Name(format!("A{at}").as_bytes()));
            }
        }

        fn path(&mut self, path: &Path, onto: Transform, alpha: f32) {
            if let Some(fill) = path.fill()
                && let Paint::Color(colour) = fill.paint()
            {
                self.begin(onto, alpha * fill.opacity().get());
                let [red, green, blue] = shares(*colour);
                self.content.set_fill_rgb(red, green, blue);
                self.outline(path);
                self.content.fill_nonzero();
                self.content.restore_state();
            }
            if let Some(stroke) = path.stroke()
                && let Paint::Color(colour) = stroke.paint()
            {
                self.begin(onto, alpha * stroke.opacity().get());
                let [red, green, blue] = shares(*colour);
                self.content.set_stroke_rgb(red, green, blue).set_line_width(stroke.width().get());
                self.content.set_line_cap(match stroke.linecap() {
                    LineCap::Butt => LineCapStyle::ButtCap,
                    LineCap::Round => LineCapStyle::RoundCap,
                    LineCap::Square => LineCapStyle::ProjectingSquareCap,
                });
                self.content.set_line_join(match stroke.linejoin() {
                    LineJoin::Round => LineJoinStyle::RoundJoin,
                    LineJoin::Bevel => LineJoinStyle::BevelJoin,
                    LineJoin::Miter | LineJoin::MiterClip => LineJoinStyle::MiterJoin,
                });
                if let Some(dashes) = stroke.dasharray() {
                    self.content.set_dash_pattern(dashes.iter().copied(), stroke.dashoffset());
                }
                self.outline(path);
                self.content.stroke();
                self.content.restore_state();
            }
        }

        fn outline(&mut self, path: &Path) {
            let content = &mut self.content;
            let (mut x, mut y) = (0.0, 0.0);
            for segment in path.data().segments() {
                match segment {
                    PathSegment::MoveTo(to) => {
                        content.move_to(to.x, to.y);
                        (x, y) = (to.x, to.y);
                    }
                    PathSegment::LineTo(to) => {
                        content.line_to(to.x, to.y);
                        (x, y) = (to.x, to.y);
                    }
                    PathSegment::QuadTo(by, to) => {
                        // The cubic curve that is the same quadratic one.
                        let toward = |from: f32, by: f32| from + (by - from) * 2.0 / 3.0;
                        let (one, other) =
                            ((toward(x, by.x), toward(y, by.y)), (toward(to.x, by.x), toward(to.y, by.y)));
                        content.cubic_to(one.0, one.1, other.0, other.1, to.x, to.y);
                        (x, y) = (to.x, to.y);
                    }
                    PathSegment::CubicTo(one, other, to) => {
                        content.cubic_to(one.x, one.y, other.x, other.y, to.x, to.y);
                        (x, y) = (to.x, to.y);
                    }
                    PathSegment::Close => {
                        content.close_path();
                    }
                }
            }
        }

        fn image(&mut self, image: &Image, onto: Transform, alpha: f32) -> Result<(), ChartError> {
            // Charts have no other images.
            let ImageKind::PNG(file) = image.kind() else { return Ok(()) };
            let pixels = Pixmap::decode_png(file).map_err(|error| ChartError::Pixels(error.to_string()))?;
            let (width, height) = (pixels.width() as f32, pixels.height() as f32);
            // An image of PDF is a unit square whose y axis points upwards.
            self.begin(onto.pre_concat(Transform::from_row(width, 0.0, 0.0, -height, 0.0, height)), alpha);
            self.content.x_object(Name(format!("I{}", self.images.len()).as_bytes()));
            self.content.restore_state();
            self.images.push(pixels);
            Ok(())
        }

        fn finish(self, width: f32, height: f32) -> Vec<u8> {
            let mut next = 0;
            let mut new = || {
                next += 1;
                Ref::new(next)
            };
            let (catalog, pages, page, content) = (new(), new(), new(), new());
            let mut file = Pdf::new();
            file.catalog(catalog).pages(pages);
            file.pages(pages).kids([page]).count(1);
            let images: Vec<(Ref, Ref)> = self.images.iter().map(|_| (new(), new())).collect();
            let mut leaf = file.page(page);
            leaf.parent(pages).media_box(Rect::new(0.0, 0.0, width, height)).contents(content);
            let mut resources = leaf.resources();
            let mut named = resources.x_objects();
            for (at, (image, _)) in images.iter().enumerate() {
                named.pair(Name(format!("I{at}").as_bytes()), image);
            }
            named.finish();
            let mut states = resources.ext_g_states();
            for (at, percent) in self.alphas.iter().enumerate() {
                let share = f32::from(*percent) / 100.0;
                let mut state = states
                    .insert(Name(format!("A{at}").as_bytes()))
                    .start::<pdf_writer::writers::ExtGraphicsState<'_>>();
                state.stroking_alpha(share).non_stroking_alpha(share);
            }
            states.finish();
            resources.finish();
            leaf.finish();
            for (pixels, (image, mask)) in self.images.iter().zip(&images) {
                let plain: Vec<_> = pixels.pixels().iter().map(|pixel| pixel.demultiply()).collect();
                let colours: Vec<u8> =
                    plain.iter().flat_map(|pixel| [pixel.red(), pixel.green(), pixel.blue()]).collect();
                let alphas: Vec<u8> = plain.iter().map(|pixel| pixel.alpha()).collect();
                let (width, height) = (pixels.width() as i32, pixels.height() as i32);
                let packed = packed(&colours);
                let mut object = file.image_xobject(*image, &packed);
                object.width(width).height(height).filter(Filter::FlateDecode);
                object.color_space().device_rgb();
                object.bits_per_component(8).s_mask(*mask);
                object.finish();
                let packed = self::packed(&alphas);
                let mut object = file.image_xobject(*mask, &packed);
                object.width(width).height(height).filter(Filter::FlateDecode);
                object.color_space().device_gray();
                object.bits_per_component(8);
            }
            file.stream(content, &packed(&self.content.finish())).filter(Filter::FlateDecode);
            file.finish()
        }
    }

    /// Red, green and blue, from 0 to 1.
    fn shares(colour: Color) -> [f32; 3] {
        [colour.red, colour.green, colour.blue].map(|channel| f32::from(channel) / 255.0)
    }

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut packer = ZlibEncoder::new(Vec::new(), Compression::default());
        // Writing to a vector cannot fail.
        packer.write_all(bytes).and_then(|()| packer.finish()).unwrap_or_default()
    }
}
