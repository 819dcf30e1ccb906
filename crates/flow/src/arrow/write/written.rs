//! What a writer reports when the file is finished.

use dataset::layout::Container;

/// The report on a written file.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Written {
    /// Bytes of the file.
    pub bytes: u64,
    /// Its trees and RNTuples.
    pub trees: Vec<WrittenTable>,
}

/// The report on a written tree or RNTuple.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct WrittenTable {
    /// Its name.
    pub name: String,
    /// Whether it is a tree or an RNTuple.
    pub container: Container,
    /// Entries.
    pub entries: u64,
    /// Clusters.
    pub clusters: u64,
    /// Baskets; of an RNTuple its pages.
    pub baskets: u64,
    /// Bytes before compression; of a tree with the keys of its baskets, as ROOT counts (fTotBytes). Pages that share bytes count once.
    pub tot_bytes: u64,
    /// Bytes on disk; of a tree with the keys of its baskets (fZipBytes), of an RNTuple without the checksums of its pages.
    pub zip_bytes: u64,
    /// Bytes of these keys: `tot_bytes` without them are the contents of baskets.
    pub key_bytes: u64,
    /// Bytes of the checksums of an RNTuple's pages, which are on disk besides.
    pub checksum_bytes: u64,
}
