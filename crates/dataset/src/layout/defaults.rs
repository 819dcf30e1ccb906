//! The defaults of ROOT's writers (ROOT 6.40).

use rootfile::codec::{Algorithm, Compression};

/// `TTree::fAutoFlush` of a new tree: the first cluster ends when more than 30 MB, compressed, are written;
/// that number of entries is then the size of all clusters.
pub const AUTO_FLUSH: i64 = -30_000_000;

/// `TTree::fAutoSave` of a new tree: the tree's metadata is saved about every 300 MB, compressed.
pub const AUTO_SAVE: i64 = -300_000_000;

/// Basket size of `TTree::Branch`, in bytes: the buffer a writer starts a branch with.
pub const BASKET_SIZE: u32 = 32_000;

/// `TTree::fTargetMemoryRatio`: a basket buffer shrinks towards this ratio times its used size.
pub const MEMORY_RATIO: f64 = 1.1;

/// `TTree::fDefaultEntryOffsetLen`: places in the first entry-offset array of a branch.
pub const ENTRY_OFFSET_LEN: i32 = 1000;

/// Split level of `TTree::Branch` for objects: split as deep as possible.
pub const SPLIT_LEVEL: u32 = 99;

/// Compression of a new `TFile`: 101, zlib at level 1.
pub const COMPRESSION: Compression = Compression::new(Algorithm::Zlib, 1);

/// `BIT(14)` of a TTree's `fBits`, `TTree::kOnlyFlushAtCluster`: one basket per branch and cluster.
pub const ONLY_FLUSH_AT_CLUSTER: u32 = 1 << 14;

/// `RNTupleWriteOptions::fApproxZippedClusterSize`: bytes of a cluster of an RNTuple, compressed.
pub const NTUPLE_CLUSTER: u64 = 128 << 20;

/// `RNTupleWriteOptions::fMaxUnzippedClusterSize`: most bytes of a cluster of an RNTuple before compression.
pub const NTUPLE_UNZIPPED_CLUSTER: u64 = 1280 << 20;

/// `RNTupleWriteOptions::fMaxUnzippedPageSize`: most bytes of the elements of a page in memory.
pub const NTUPLE_PAGE: u64 = 1 << 20;

/// `RNTupleWriteOptions::fCompression`: 505, zstd at level 5.
pub const NTUPLE_COMPRESSION: Compression = Compression::new(Algorithm::Zstd, 5);
