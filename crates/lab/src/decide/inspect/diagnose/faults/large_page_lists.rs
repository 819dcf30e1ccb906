//! Page lists of an RNTuple that are large for its data.

use dataset::layout::ByteSize;
use rootfile::codec::Algorithm;
use serde::{Deserialize, Serialize};

use crate::cost::codec_speeds::CodecSpeeds;
use crate::inspect::diagnose::baskets::SMALLER_BASKET;
use crate::inspect::diagnose::format::{plural, size};
use crate::inspect::diagnose::remedy::Remedy;
use crate::inspect::diagnose::rule::{Detected, Rule};
use crate::inspect::diagnose::speeds;
use crate::inspect::diagnose::subject::{Diagnosed, Words};
use crate::inspect::fault_cost::Cost;
use crate::math::as_f64;

/// Page lists with fewer bytes before compression are not reported.
const LARGE_LISTS: u64 = 1_000_000;
/// They are reported if they have more than this part of the bytes of the pages.
const LISTS_SHARE: u64 = 20;

/// Page lists that are large for the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LargePageLists {
    /// Bytes on disk.
    pub bytes: u64,
    /// Bytes before compression.
    pub raw_bytes: u64,
    /// Bytes of data on disk.
    pub data: u64,
    /// Pages.
    pub pages: u64,
}

impl Rule for LargePageLists {
    fn find(at: &Diagnosed<'_>) -> Option<Detected<Self>> {
        let ntuple = at.ntuple()?;
        let lists = ntuple.page_lists;
        let fault =
            Self { bytes: lists.bytes, raw_bytes: lists.raw_bytes, data: ntuple.zip_bytes, pages: ntuple.pages };
        let zstd = CodecSpeeds::of(Some(Algorithm::Zstd)).reading;
        let open_seconds = as_f64(lists.raw_bytes) * speeds::METADATA_BYTE
            + zstd.seconds(lists.raw_bytes, lists.bytes, ntuple.cluster_groups);
        (lists.raw_bytes > LARGE_LISTS && lists.bytes > ntuple.zip_bytes / LISTS_SHARE)
            .then(|| Detected::new(fault, Cost { open_seconds, ..Cost::default() }))
    }

    fn sentence(&self, _: Words) -> String {
        format!(
            "The page lists have {} ({} before compression) for {} with {} of data. Every reader of any field reads them.",
            size(self.bytes),
            size(self.raw_bytes),
            plural(self.pages, "page"),
            size(self.data)
        )
    }

    fn remedy(&self, at: &Diagnosed<'_>) -> Option<Remedy> {
        Some(Remedy::clusters(at.table()).and("basket", ByteSize(SMALLER_BASKET)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::diagnose::fixtures::{field, ntuple, only_ntuple};
    use crate::inspect::values::Sizes;

    #[test]
    fn lists_beside_little_data_are_named() {
        let mut lists = ntuple(vec![field("a", 100)]);
        lists.page_lists = Sizes { bytes: 200_000, raw_bytes: 2_000_000 };
        let expected = LargePageLists { bytes: 200_000, raw_bytes: 2_000_000, data: 1_000_000, pages: 100 };
        assert_eq!(only_ntuple(lists).fault, expected.into());
    }
}
