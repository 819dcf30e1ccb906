//! Costs that the parts of a profile for trees and for RNTuples have in common: of codecs and of values, and what numbers can be
//! costs at all.

use rootfile::codec::{Algorithm, Compression};
use serde::{Deserialize, Serialize};

/// No program takes longer for a byte, a basket or an entry; no file that claims it was measured.
pub(super) const MOST: f64 = 1.0;
pub(super) const MOST_PER_BYTE: f64 = 1e-4;
/// No program decompresses this many times faster or slower than basketry.
const MOST_RATIO: f64 = 1000.0;

/// Seconds that decompressing takes, by codec.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decompress {
    /// Baskets that are stored without compression: seconds for each byte.
    pub none: Stored,
    /// zlib, and the older deflate setting.
    pub zlib: Speed,
    /// LZ4.
    pub lz4: Speed,
    /// Zstandard.
    pub zstd: Speed,
    /// LZMA.
    pub lzma: Speed,
}

/// The cost of a codec for the program and for basketry on the same baskets. The ratio of the two carries
/// over to other data and other machines better than the first number alone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Speed {
    /// Seconds for each byte that comes out.
    pub seconds_per_byte: f64,
    /// Additional seconds for each basket.
    pub seconds_per_basket: f64,
    /// Seconds that basketry took for each of the same bytes.
    pub basketry: f64,
}

/// The cost of bytes without compression.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Stored {
    /// Seconds for each byte.
    pub seconds_per_byte: f64,
}

/// The cost of the values of a branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerValue {
    /// Seconds for each entry.
    pub entry: f64,
    /// Seconds for each number in an entry.
    pub value: f64,
}

/// How well the numbers explain the measurements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Fit {
    /// Files that were read.
    pub files: usize,
    /// Median of the errors, as a share of the measured time.
    pub median_error: f64,
    /// The largest error.
    pub worst_error: f64,
}

impl Decompress {
    /// The cost of a codec.
    pub fn speed(&self, algorithm: Algorithm) -> Speed {
        match algorithm {
            Algorithm::Zlib | Algorithm::OldCs => self.zlib,
            Algorithm::Lz4 => self.lz4,
            Algorithm::Zstd => self.zstd,
            Algorithm::Lzma => self.lzma,
        }
    }

    /// Decompression time over basketry's; `None` without compression.
    pub fn times(&self, compression: Compression) -> Option<f64> {
        let Speed { seconds_per_byte, basketry, .. } = self.speed(compression.algorithm()?);
        Some(seconds_per_byte / basketry)
    }

    /// Refuses impossible numbers; `place` is the table's name in the file.
    pub(super) fn check(&self, place: &str) -> std::result::Result<(), String> {
        for name in Algorithm::WRITTEN {
            let Speed { seconds_per_byte, seconds_per_basket, basketry } = self.speed(name);
            number(&format!("{place}.{name}.seconds-per-basket"), seconds_per_basket, MOST)?;
            for (key, value) in [("seconds-per-byte", seconds_per_byte), ("basketry", basketry)] {
                number(&format!("{place}.{name}.{key}"), value, MOST_PER_BYTE)?;
                if value <= 0.0 {
                    return Err(format!("{place}.{name}.{key} is 0; no codec is free"));
                }
            }
            if !(1.0 / MOST_RATIO..=MOST_RATIO).contains(&(seconds_per_byte / basketry)) {
                return Err(format!("{place}.{name}: more than {MOST_RATIO} times apart from basketry"));
            }
        }
        number(&format!("{place}.none.seconds-per-byte"), self.none.seconds_per_byte, MOST_PER_BYTE)
    }
}

/// Refuses a number of seconds that cannot be.
pub(super) fn number(name: &str, value: f64, most: f64) -> std::result::Result<(), String> {
    match value {
        v if !v.is_finite() => Err(format!("{name} is {v}; write a finite number")),
        v if v < 0.0 => Err(format!("{name} is {v}; times must not be negative")),
        v if v > most => Err(format!("{name} is {v}; the maximum is {most} s")),
        _ => Ok(()),
    }
}

#[cfg(test)]
impl Decompress {
    /// Numbers of about the right size.
    pub(crate) fn example() -> Self {
        let speed = |times: f64, basketry: f64| Speed {
            seconds_per_byte: times * basketry,
            seconds_per_basket: 2e-6,
            basketry,
        };
        Self {
            none: Stored { seconds_per_byte: 1e-10 },
            zlib: speed(2.0, 2e-9),
            lz4: speed(1.5, 4e-10),
            zstd: speed(1.2, 1e-9),
            lzma: speed(1.1, 2e-8),
        }
    }
}
