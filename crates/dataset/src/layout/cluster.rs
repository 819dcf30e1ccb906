//! The size of a cluster, in bytes or in entries as in ROOT.

use std::fmt;
use std::str::FromStr;

use rootfile::{Error, Result};

use super::ByteSize;

/// The size of a cluster: `30MB` (compressed bytes, as ROOT counts) or `1000` (entries).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClusterSize {
    /// Compressed bytes of all columns together. ROOT measures the first cluster and gives all others its number of
    /// entries.
    Bytes(u64),
    /// Entries.
    Entries(u64),
}

impl ClusterSize {
    /// Reads `TTree::fAutoFlush`: negative means bytes, positive means entries, 0 means no clusters.
    pub fn from_auto_flush(value: i64) -> Option<Self> {
        match value {
            0 => None,
            1.. => Some(Self::Entries(value.unsigned_abs())),
            _ => Some(Self::Bytes(value.unsigned_abs())),
        }
    }

    /// The value of `TTree::fAutoFlush` for this size.
    pub fn to_auto_flush(self) -> i64 {
        match self {
            Self::Bytes(bytes) => -i64::try_from(bytes).unwrap_or(i64::MAX),
            Self::Entries(entries) => i64::try_from(entries).unwrap_or(i64::MAX),
        }
    }
}

impl FromStr for ClusterSize {
    type Err = Error;

    /// A number with a unit is bytes, a number without a unit is entries.
    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            Error::request(format!(
                "{text:?} is not a cluster size; write compressed bytes with a unit, like 30MB, or a number of entries, like 1000"
            ))
        };
        let trimmed = text.trim();
        let size = if trimmed.ends_with(|c: char| c.is_ascii_digit()) {
            trimmed.parse().ok().map(Self::Entries)
        } else {
            trimmed.parse().ok().map(|size: ByteSize| Self::Bytes(size.bytes()))
        };
        size.filter(|s| !matches!(s, Self::Bytes(0) | Self::Entries(0))).ok_or_else(wrong)
    }
}

impl fmt::Display for ClusterSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => ByteSize(*bytes).fmt(f),
            Self::Entries(entries) => f.pad(&entries.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::defaults;

    #[test]
    fn a_unit_makes_it_bytes() {
        assert_eq!("30MB".parse::<ClusterSize>().unwrap(), ClusterSize::Bytes(30_000_000));
        assert_eq!("1000".parse::<ClusterSize>().unwrap(), ClusterSize::Entries(1000));
        assert_eq!("512B".parse::<ClusterSize>().unwrap(), ClusterSize::Bytes(512));
        for text in ["", "0", "0MB", "-5", "1.5", "ten"] {
            assert!(text.parse::<ClusterSize>().is_err(), "{text}");
        }
    }

    #[test]
    fn auto_flush_both_ways() {
        for value in [defaults::AUTO_FLUSH, 1000, -1, 1, i64::MAX, -i64::MAX] {
            let size = ClusterSize::from_auto_flush(value).unwrap();
            assert_eq!(size.to_auto_flush(), value);
            assert_eq!(size.to_string().parse::<ClusterSize>().unwrap(), size);
        }
        assert_eq!(ClusterSize::from_auto_flush(0), None);
        assert_eq!(ClusterSize::from_auto_flush(i64::MIN).map(ClusterSize::to_auto_flush), Some(-i64::MAX));
    }
}
