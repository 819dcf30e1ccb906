//! The formats of pictures: SVG as it is made, PNG and PDF of it by libraries, with a font that the program brings: servers have none.
//! So a picture has the same bytes on all machines. PNG and PDF are light, as paper is.

use std::path::Path;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};
use rootfile::{Error, Result};
use svg2pdf::{ConversionOptions, PageOptions, to_pdf};

use super::report::Drawing;
use super::svg;

/// Pixels of a PNG picture for one of the drawing.
const SHARPNESS: f32 = 2.0;

/// The format of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Scalable, dark where its reader wants that.
    Svg,
    /// 1600 pixels wide.
    Png,
    /// Scalable.
    Pdf,
}

impl Format {
    /// All.
    pub const ALL: [Self; 3] = [Self::Svg, Self::Png, Self::Pdf];

    /// What the name of such a file ends in.
    pub fn name(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
            Self::Pdf => "pdf",
        }
    }

    /// The format of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name().eq_ignore_ascii_case(name))
    }

    /// The format of a file, by the end of its name.
    pub fn of(path: &Path) -> Option<Self> {
        Self::named(path.extension()?.to_str()?)
    }

    /// The contents of the file.
    ///
    /// # Errors
    ///
    /// Histograms have three axes, or several of them two.
    pub fn picture(self, drawing: &Drawing, log: bool) -> Result<Vec<u8>> {
        let svg = svg::picture(drawing, log)?;
        match self {
            Self::Svg => Ok(svg.into_bytes()),
            Self::Png => png(&tree(&svg)?),
            Self::Pdf => to_pdf(&tree(&svg)?, ConversionOptions::default(), PageOptions::default()).map_err(failed),
        }
    }
}

#[cold]
fn failed(why: impl std::fmt::Display) -> Error {
    Error::request(format!("the picture cannot be made: {why}"))
}

/// The drawing with its texts in the one font.
fn tree(svg: &str) -> Result<Tree> {
    let mut options = Options::default();
    let fonts = options.fontdb_mut();
    fonts.load_font_data(epaint_default_fonts::UBUNTU_LIGHT.to_vec());
    let family = fonts.faces().find_map(|face| face.families.first()).map(|(name, _)| name.clone());
    if let Some(family) = family {
        fonts.set_sans_serif_family(&family);
        options.font_family = family;
    }
    Tree::from_str(svg, &options).map_err(failed)
}

fn png(tree: &Tree) -> Result<Vec<u8>> {
    let size = tree.size().to_int_size().scale_by(SHARPNESS).ok_or_else(|| failed("it has no size"))?;
    let mut pixels = Pixmap::new(size.width(), size.height()).ok_or_else(|| failed("it is too large"))?;
    resvg::render(tree, Transform::from_scale(SHARPNESS, SHARPNESS), &mut pixels.as_mut());
    pixels.encode_png().map_err(failed)
}
