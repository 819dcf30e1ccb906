//! Plain values of the report that trees and RNTuples have in common: sizes, memory, times, codecs that were tried.

use serde::{Deserialize, Serialize};

/// A codec that was tried on a sample of a tree's baskets, or of an RNTuple's pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The codec and its level.
    pub compression: String,
    /// Bytes of the sample in this codec over its bytes on disk.
    pub size: f64,
}

/// A sample of baskets or pages, each in the codec that is quickest so that all together are no larger than today.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mixed {
    /// Seconds to decompress them over today's, estimated with fixed speeds.
    pub time: f64,
    /// Bytes over those on disk.
    pub size: f64,
}

/// A size on disk and before compression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// Bytes on disk.
    pub bytes: u64,
    /// Bytes before compression.
    pub raw_bytes: u64,
}

/// Memory that jobs need for a tree's baskets or an RNTuple's pages, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// A reader of all branches or columns: the largest basket or page of each, unpacked.
    pub read_baskets: u64,
    /// The same baskets or pages on disk.
    pub read_compressed: u64,
    /// A read cache that holds the largest cluster.
    pub read_cache: u64,
    /// The three together.
    pub read: u64,
    /// A writer of all branches: the buffer of each. Of an RNTuple: the largest page of each column, and the largest cluster,
    /// which ROOT's writer keeps until it is complete.
    pub write: u64,
}

/// Seconds of one core that a reader of all branches or fields needs, without storage: estimates from fixed speeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReadTime {
    /// To read the tree's own record, or header, footer and page lists of an RNTuple.
    #[serde(default)]
    pub open: f64,
    /// To decompress.
    pub decompress: f64,
    /// To decode.
    pub decode: f64,
}

impl ReadTime {
    /// All of it.
    pub fn sum(self) -> f64 {
        self.open + self.decompress + self.decode
    }
}

/// The values of a branch or field after decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decoded {
    /// Numbers, a fixed count in each entry.
    Numbers,
    /// Lists of numbers, or texts.
    Lists,
    /// Objects, or lists of anything else: each is decoded by itself.
    Objects,
    /// Bytes: it cannot be decoded.
    Bytes,
}

/// Least, mean, median and greatest of some sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spread {
    /// Least.
    pub min: u64,
    /// Mean, rounded down.
    #[serde(default)]
    pub mean: u64,
    /// Median.
    pub median: u64,
    /// Greatest.
    pub max: u64,
}

impl Sizes {
    /// Both together.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(other.bytes),
            raw_bytes: self.raw_bytes.saturating_add(other.raw_bytes),
        }
    }
}

impl Spread {
    /// Of these sizes, which are sorted for it.
    pub(crate) fn of(sizes: &mut [u32]) -> Option<Self> {
        sizes.sort_unstable();
        let at = |i: usize| sizes.get(i).map(|&size| u64::from(size));
        let mean = sizes.iter().map(|&size| u64::from(size)).sum::<u64>() / (sizes.len() as u64).max(1);
        Some(Self { min: at(0)?, mean, median: at(sizes.len() / 2)?, max: at(sizes.len().checked_sub(1)?)? })
    }

    /// The spread of more sizes than those that were looked at, of which the mean is known.
    pub(crate) fn with_mean(self, mean: u64) -> Self {
        Self { min: self.min.min(mean), mean, max: self.max.max(mean), ..self }
    }
}

/// Whether a number is left out of a report, which has only those that say something.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
pub(super) fn is_zero(n: &u64) -> bool {
    *n == 0
}
