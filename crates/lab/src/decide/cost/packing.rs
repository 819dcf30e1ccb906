//! How pieces are packed: with a codec, and for the pages of an RNTuple with an encoding of their elements. `tune` tries
//! packings; what a packing costs is in [`super::measured`].

use std::fmt;

use dataset::layout::ColumnEncoding;
use rootfile::codec::{Algorithm, Compression};

/// A codec, and how elements are encoded before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Packing {
    pub compression: Compression,
    /// For pages, plain, split, or floating-point numbers in the fewest bits that keep them. `None` for baskets, whose bytes have one
    /// encoding.
    pub encoding: Option<ColumnEncoding>,
}

impl Packing {
    /// Of baskets.
    pub const fn of_baskets(compression: Compression) -> Self {
        Self { compression, encoding: None }
    }

    /// Whether nothing is compressed.
    pub fn is_none(&self) -> bool {
        self.compression.is_none()
    }

    pub fn algorithm(&self) -> Option<Algorithm> {
        self.compression.algorithm()
    }

    /// Whether numbers take the fewest bits that keep them.
    pub fn is_exact(&self) -> bool {
        matches!(self.encoding, Some(ColumnEncoding::Exact(_)))
    }

    /// The packings of these codecs for pages. Split bytes compress better; without compression they only take time. With `exact` numbers
    /// in the fewest bits that keep them are among these.
    pub fn of_pages(codecs: &[Compression], exact: bool) -> Vec<Self> {
        let of = |&compression: &Compression| {
            let split = (!compression.is_none()).then_some(ColumnEncoding::Split);
            let exact = exact.then_some(ColumnEncoding::Exact(None));
            let encodings = split.into_iter().chain([ColumnEncoding::Plain]).chain(exact);
            encodings.map(move |encoding| Self { compression, encoding: Some(encoding) })
        };
        codecs.iter().flat_map(of).collect()
    }
}

impl fmt::Display for Packing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.encoding {
            None => write!(f, "{}", self.compression),
            Some(encoding) => write!(f, "{} {encoding}", self.compression),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_packed_split_or_plain() {
        let codecs: Vec<Compression> = ["none", "zstd:5"].iter().map(|codec| codec.parse().unwrap()).collect();
        let names = |all: Vec<Packing>| all.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(names(Packing::of_pages(&codecs, false)), ["none plain", "zstd:5 split", "zstd:5 plain"]);
        assert_eq!(names(Packing::of_pages(&codecs[..1], true)), ["none plain", "none exact"]);
        assert_eq!(Packing::of_baskets(codecs[1]).to_string(), "zstd:5");
    }
}
