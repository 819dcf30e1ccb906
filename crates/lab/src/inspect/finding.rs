//! A finding: a fault, what it costs readers, and what the command that mends it takes. Plain values of the report;
//! [`super::diagnose`] makes them.

use serde::{Deserialize, Serialize};

use crate::math::as_f64;

/// Bytes a second from storage.
pub const STORAGE: f64 = 200e6;
/// Entries that a reader picks at random for each time that a tree is read as a whole.
const PICKED: f64 = 10.0;

/// A fault that was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The fault, with its numbers.
    #[serde(flatten)]
    pub fault: Fault,
    /// Path of the tree or RNTuple, unless the file as a whole is meant.
    pub tree: Option<String>,
    /// Its cost.
    pub cost: Cost,
    /// Its description, in a sentence or two.
    pub text: String,
    /// The command that fixes it, if there is one.
    pub command: Option<String>,
    /// The program that pays for it.
    #[serde(default)]
    pub pays: Pays,
    /// The estimated price of the command, if there is one.
    #[serde(default)]
    pub price: Option<Price>,
}

/// The program that pays for a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pays {
    /// Every reader of the file.
    #[default]
    Reader,
    /// Only the program that wrote the file, or writes similar ones.
    Writer,
}

/// The known faults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum Fault {
    /// The file was not closed, or is cut short.
    NotClosed,
    /// Objects that could not be read.
    Unreadable {
        /// How many.
        objects: u64,
    },
    /// Baskets that hold next to nothing.
    TinyBaskets {
        /// Branches that have them.
        branches: u64,
        /// Baskets of these branches.
        baskets: u64,
        /// Number of baskets that would be enough.
        enough: u64,
        /// Their mean size before compression.
        mean_bytes: u64,
    },
    /// Pages that hold next to nothing, though there are not many clusters.
    TinyPages {
        /// Columns that have them.
        columns: u64,
        /// Pages of these columns.
        pages: u64,
        /// Number of pages that would be enough.
        enough: u64,
        /// Their mean size before compression.
        mean_bytes: u64,
    },
    /// Groups of hardly more than one small cluster, each with a page list of its own.
    TinyClusterGroups {
        /// Groups.
        groups: u64,
        /// Clusters.
        clusters: u64,
        /// Mean bytes on disk of a group.
        mean_bytes: u64,
    },
    /// Page lists that are large for the data.
    LargePageLists {
        /// Bytes on disk.
        bytes: u64,
        /// Bytes before compression.
        raw_bytes: u64,
        /// Bytes of data on disk.
        data: u64,
        /// Pages.
        pages: u64,
    },
    /// Pages without a checksum.
    NoChecksums {
        /// Pages.
        pages: u64,
        /// Of these, pages without.
        without: u64,
    },
    /// Too many clusters for their contents.
    SmallClusters {
        /// Clusters.
        clusters: u64,
        /// Mean bytes on disk.
        mean_bytes: u64,
    },
    /// Clusters too large to be held.
    HugeClusters {
        /// Bytes on disk of the largest.
        largest_bytes: u64,
        /// Memory that a reader needs for it.
        read_memory: u64,
    },
    /// Baskets that cross the start of a cluster.
    MisalignedClusters {
        /// How many.
        crossing: u64,
        /// Of how many.
        baskets: u64,
    },
    /// A large tree that does not say where its clusters begin.
    ClustersNotRecorded {
        /// Starts at which all branches begin a basket.
        common_boundaries: u64,
    },
    /// Buffers far larger than their contents.
    OversizedBuffers {
        /// Entries of the tree.
        entries: u64,
        /// Buffers of all branches together.
        buffers: u64,
        /// Sum of the largest baskets of all branches.
        used: u64,
    },
    /// Branches with some basket many times the usual size.
    UnevenBaskets {
        /// Branches.
        branches: u64,
        /// The branch that is worst.
        worst: String,
        /// Its usual basket, before compression.
        median: u64,
        /// Its largest.
        max: u64,
    },
    /// Compressed branches that do not shrink.
    Incompressible {
        /// Branches.
        branches: u64,
        /// The largest of them, at most eight.
        largest: Vec<String>,
        /// Bytes before compression.
        tot_bytes: u64,
        /// Bytes on disk.
        zip_bytes: u64,
    },
    /// A codec that is slow to read.
    HeavyCodec {
        /// Codec.
        codec: String,
        /// Branches, or columns of an RNTuple.
        branches: u64,
        /// Bytes before compression.
        tot_bytes: u64,
        /// Their share of the tree on disk, 0 to 1.
        share: f64,
        /// The setting that is better for readers.
        better: String,
        /// Bytes of the tree's baskets in this setting over today's, on a sample.
        size: f64,
    },
    /// Decompression is much of the reading time, and other codecs, branch by branch, would need no more bytes.
    CodecsByBranch {
        /// Seconds of one core to decompress the tree.
        decompress: f64,
        /// The same in the best codecs, on a sample.
        better: f64,
    },
    /// Objects whose decoding takes most of the reading time.
    SlowDecoding {
        /// Branches that hold them.
        branches: u64,
        /// The largest of them, at most eight.
        largest: Vec<String>,
        /// Bytes before compression.
        tot_bytes: u64,
        /// Their share of the time that reading the tree takes, 0 to 1.
        share: f64,
    },
    /// Uncompressed data that would shrink.
    Uncompressed {
        /// Bytes on disk.
        zip_bytes: u64,
        /// The share that remains with the better setting, 0 to 1, on a sample.
        compressible_to: f64,
        /// The setting that is better for readers.
        better: String,
    },
    /// The metadata are larger than the data.
    MetadataLargerThanData {
        /// Bytes before compression of the tree's own record; of anchor, header, footer and page lists of an RNTuple.
        metadata: u64,
        /// Bytes of data on disk.
        data: u64,
        /// Branches, or columns of an RNTuple.
        branches: u64,
    },
    /// A leaf counts more than the maximum that it claims.
    CounterOutOfRange {
        /// The leaf.
        leaf: String,
        /// fMaximum.
        maximum: i64,
        /// The least number of elements in the longest entry.
        at_least: u64,
    },
    /// Baskets in the tree's own record.
    EmbeddedBaskets {
        /// How many.
        baskets: u64,
        /// Their bytes.
        bytes: u64,
    },
    /// Branches with baskets in a missing file.
    MissingFile {
        /// The branches.
        branches: Vec<String>,
        /// The file, as the branch names it.
        missing: String,
    },
    /// A tree that counts more entries than any of its branches holds.
    EntriesMissing {
        /// Entries of the tree.
        entries: u64,
        /// Entries up to the last one in a branch.
        held: u64,
    },
    /// Branches that hold fewer entries than their tree.
    ShortBranches {
        /// Entries of the tree.
        entries: u64,
        /// How many branches.
        branches: u64,
        /// The first of them, with their entries.
        examples: Vec<String>,
    },
    /// Branches that hold entries behind the last one of their tree.
    LongBranches {
        /// Entries of the tree.
        entries: u64,
        /// How many branches.
        branches: u64,
        /// The first of them, with their entries.
        examples: Vec<String>,
    },
    /// A tree's record that is not compressed.
    UncompressedRecord {
        /// Bytes of it.
        bytes: u64,
        /// The share that remains with the file's codec, 0 to 1, on a sample.
        compressible_to: f64,
    },
    /// Baskets so large that a reader of a few entries decompresses many.
    HugeBaskets {
        /// Branches that have them.
        branches: u64,
        /// The largest median of a branch, before compression.
        median: u64,
    },
    /// Older cycles that were kept.
    OldCycles {
        /// How many.
        cycles: u64,
        /// Bytes of their records.
        bytes: u64,
    },
    /// Gaps between records.
    FreeGaps {
        /// Gaps.
        gaps: u64,
        /// Bytes.
        bytes: u64,
    },
}

/// The cost of a fault; unknown parts are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Superfluous bytes on disk.
    pub bytes: u64,
    /// Seconds of one core at each full read.
    pub read_seconds: f64,
    /// Seconds of one core whenever the tree is opened, which a reader of everything does not save.
    #[serde(default)]
    pub open_seconds: f64,
    /// Seconds of one core for each entry that is picked at random.
    #[serde(default)]
    pub entry_seconds: f64,
    /// Seconds of one core at each full read by jobs or threads that share the tree by clusters.
    #[serde(default)]
    pub shared_seconds: f64,
    /// Seconds of one core when it was written.
    pub write_seconds: f64,
    /// Superfluous bytes of memory, of a reader or a writer.
    pub memory: u64,
    /// Whether results may be wrong or lost. Such faults come first.
    pub danger: bool,
}

impl Cost {
    /// One number to sort by, in seconds of a reader.
    pub fn weight(&self) -> f64 {
        // A gigabyte of memory counts as ten seconds: jobs are killed for it.
        let danger = if self.danger { 1e9 } else { 0.0 };
        danger
            + as_f64(self.bytes) / STORAGE
            + self.read_seconds
            + PICKED * self.entry_seconds
            + 0.5 * (self.shared_seconds + self.open_seconds)
            + as_f64(self.memory) / 1e8
    }
}

/// The price of fixing a fault: the other side of a [`Cost`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// Bytes by which the file grows.
    pub bytes: u64,
    /// Seconds of one core more at each full read.
    pub read_seconds: f64,
    /// Bytes of memory more that a reader of all branches needs.
    pub memory: u64,
    /// Other changes, as a sentence; may be empty.
    pub note: String,
}
