//! SVG to PNG, with a font that is part of the program.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, fontdb};

/// Font families of all figures: the first is embedded for PNG, the others are what a browser may have.
pub(super) const FONT_FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";

static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    for font in [dejavu::sans::regular(), dejavu::sans::bold()] {
        fonts.load_font_source(fontdb::Source::Binary(Arc::new(font)));
    }
    fonts.set_sans_serif_family("DejaVu Sans");
    Arc::new(fonts)
});

/// The embedded fonts.
pub(super) fn fonts() -> Arc<fontdb::Database> {
    Arc::clone(&FONTS)
}

/// Why a picture cannot be drawn.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// The text is no SVG.
    #[error("the figure is no valid SVG: {0}")]
    Svg(#[from] usvg::Error),
    /// The picture would have no pixels, or too many.
    #[error("a picture {width} pixels wide cannot be drawn")]
    Size {
        /// The width asked for.
        width: u32,
    },
    /// The picture cannot be encoded.
    #[error("the picture cannot be encoded: {0}")]
    Encode(String),
}

/// Draws an SVG on white, `width` pixels wide. System fonts are never looked at, so that the bytes depend on the
/// input alone.
pub fn png(svg: &str, width: u32) -> Result<Vec<u8>, PngError> {
    let options = usvg::Options { fontdb: fonts(), ..usvg::Options::default() };
    let tree = usvg::Tree::from_str(svg, &options)?;
    let scale = f64::from(width) / f64::from(tree.size().width());
    let height = (f64::from(tree.size().height()) * scale).round() as u32;
    let mut pixels = Pixmap::new(width, height).ok_or(PngError::Size { width })?;
    pixels.fill(resvg::tiny_skia::Color::WHITE);
    resvg::render(&tree, Transform::from_scale(scale as f32, scale as f32), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| PngError::Encode(error.to_string()))
}
