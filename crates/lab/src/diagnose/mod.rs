//! What is wrong with how a file lies, worst first, with what it costs and the command that mends it.
//!
//! A pure function of the [`Report`]: nothing is read here. [`rules`] looks for each fault, [`cost`] weighs it,
//! [`words`] says it.

mod cost;
mod rules;
#[cfg(test)]
mod tests;
mod words;

pub use cost::Cost;
pub(crate) use rules::read_time;
pub(crate) use words::quoted;

use serde::{Deserialize, Serialize};

use crate::inspect::report::Report;

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What, with its numbers.
    #[serde(flatten)]
    pub fault: Fault,
    /// Path of the tree, unless the file as a whole is meant.
    pub tree: Option<String>,
    /// What it costs.
    pub cost: Cost,
    /// A sentence or two: what it is, and why it costs.
    pub text: String,
    /// The command that mends it, if one does.
    pub command: Option<String>,
}

/// The faults that are looked for.
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
        /// Baskets of those.
        baskets: u64,
        /// How many would do.
        enough: u64,
        /// What they hold on average, before compression.
        mean_bytes: u64,
    },
    /// Too many clusters for what is in them.
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
    /// Buffers far larger than what they held.
    OversizedBuffers {
        /// Entries of the tree.
        entries: u64,
        /// Buffers of all branches together.
        buffers: u64,
        /// What the largest basket of each held, together.
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
        /// Branches.
        branches: u64,
        /// Bytes before compression.
        tot_bytes: u64,
        /// Their share of the tree on disk, 0 to 1.
        share: f64,
    },
    /// Objects whose decoding is most of what reading takes.
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
        /// What a quick codec leaves of them, 0 to 1, on a sample.
        compressible_to: f64,
    },
    /// The tree's own record is larger than its data.
    MetadataLargerThanData {
        /// Bytes of the record before compression.
        metadata: u64,
        /// Bytes of data on disk.
        data: u64,
        /// Branches.
        branches: u64,
    },
    /// A leaf counts more than the maximum that it claims.
    CounterOutOfRange {
        /// The leaf.
        leaf: String,
        /// fMaximum.
        maximum: i64,
        /// The longest entry has at least so many.
        at_least: u64,
    },
    /// Baskets that lie in the tree's own record.
    EmbeddedBaskets {
        /// How many.
        baskets: u64,
        /// Their bytes.
        bytes: u64,
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

/// Looks for all faults, worst first.
pub fn diagnose(report: &Report) -> Vec<Finding> {
    let mut findings = Vec::new();
    rules::file(report, &mut findings);
    for tree in report.newest() {
        rules::tree(report, tree, &mut findings);
    }
    findings.sort_by(|a, b| b.cost.weight().total_cmp(&a.cost.weight()));
    findings
}
