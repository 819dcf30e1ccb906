//! Results of trials on samples, and the costs that are fitted to them. [`super::measure`] runs the trials,
//! [`super::column_costs`] fits.

use super::column::Column;
use super::curve::Curve;
use super::decoding::Decode;
use super::line::{Line, Point};
use super::packing::Packing;

/// The cost of a codec on a column, by baskets and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CodecCost {
    pub size: Curve,
    pub pack: Line,
    pub unpack: Line,
    /// Seconds to decode the elements of pages, and to encode them. Nothing for baskets, whose values do not depend on the codec.
    pub decode: Line,
    pub encode: Line,
}

/// The measured costs of a column.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColumnCost {
    /// Seconds to decompress its baskets as they are.
    pub today: Line,
    /// Seconds to decode the elements of its pages as they are.
    pub elements: Line,
    /// Seconds to decode its entries; for pages, what else their values take.
    pub decode: Decode,
    /// By codec, in the order of [`Measured::codecs`].
    pub codecs: Vec<Option<CodecCost>>,
    /// Bytes of its own baskets that were sampled; without any, only its own codec and none are known.
    pub sampled: f64,
}

impl CodecCost {
    /// Seconds to decompress `count` baskets or pages of `raw` bytes together, and to decode the elements of pages.
    pub fn unpacking(&self, count: f64, raw: f64) -> (f64, f64) {
        (self.unpack.of(count, raw), self.decode.of(count, raw))
    }
}

impl ColumnCost {
    /// Seconds to decompress the baskets or pages as they are, and to decode the elements of pages.
    pub fn unpacking(&self, column: &Column) -> (f64, f64) {
        let of = |line: &Line| line.of(column.count(), column.raw);
        (of(&self.today), of(&self.elements))
    }
}

/// The measured costs of all columns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    pub codecs: Vec<Packing>,
    /// Codecs that were tried first and dropped.
    pub dropped: Vec<Packing>,
    pub columns: Vec<ColumnCost>,
    /// Bytes before compression that were sampled.
    pub sampled: f64,
}

/// Results of trials on a column, by codec and basket size.
#[derive(Clone, Debug, Default)]
pub(super) struct Trials {
    /// Bytes tried.
    pub sampled: f64,
    pub today: Point,
    /// Seconds to decode the elements of the same pages.
    pub elements: Point,
    /// Seconds to decode: baskets as a whole, and entries each by itself.
    pub decode: [Point; 2],
    /// Bytes on disk of the baskets in `today`.
    pub stored: f64,
    /// Bytes on disk of the whole column over the bytes that its sample predicts.
    pub scale: f64,
    /// Whether its sample takes fewer bits.
    pub exact: bool,
    /// Pieces of three sizes: small ones, the main ones, and whole pages.
    pub codecs: Vec<[Tried; 3]>,
}

/// A codec on baskets of one size.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tried {
    pub size: Point,
    pub pack: Point,
    pub unpack: Point,
    /// To decode and encode the elements of pages.
    pub decode: Point,
    pub encode: Point,
}
