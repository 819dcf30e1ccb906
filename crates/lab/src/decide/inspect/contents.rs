//! What a file contains, as plain values of the report: the file itself, its trees with their branches and baskets, other objects, and
//! what could not be read. RNTuples are in [`super::ntuple::report`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::values::{Decoded, Memory, Mixed, ReadTime, Sizes, Spread, Trial, is_zero};

/// A file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FileReport {
    /// Name, as given.
    pub path: String,
    /// Bytes.
    pub bytes: u64,
    /// Version of ROOT that wrote it, as ROOT shows it: `6.28/04`.
    pub root_version: String,
    /// ROOT's compression setting of the file, 100 times algorithm + level.
    pub compression: i32,
    /// Whether the header has 64-bit positions.
    pub big: bool,
    /// Whether the list of keys had to be made from a scan, since the file was not closed or is cut short.
    pub recovered: bool,
    /// Directories, the top one left out.
    pub directories: u64,
    /// Streamer infos.
    pub streamer_infos: u64,
    /// Bytes that belong to no record.
    pub free_bytes: u64,
    /// Number of these gaps.
    pub free_segments: u64,
    /// Trees, the newest cycle of each.
    #[serde(default)]
    pub trees: u64,
    /// RNTuples, the newest cycle of each.
    #[serde(default)]
    pub ntuples: u64,
    /// The record of the streamer infos.
    #[serde(default)]
    pub infos: Sizes,
}

/// An object that is neither a tree nor an RNTuple.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ObjectReport {
    /// Path in the file.
    pub path: String,
    /// Cycle.
    pub cycle: i16,
    /// Class.
    pub class: String,
    /// Bytes of its record.
    pub bytes: u64,
    /// Bytes before compression.
    pub raw_bytes: u64,
}

/// Something that could not be read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Skipped {
    /// Path in the file.
    pub object: String,
    /// Cycle, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle: Option<i16>,
    /// Class, where it is known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub class: String,
    /// The reasons.
    pub reason: String,
    /// Whether it is in a format that this version does not read, and not damaged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsupported: bool,
}

/// How the starts of clusters are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClustersKnown {
    /// The tree records them.
    #[default]
    Declared,
    /// The tree does not record them; ROOT uses ranges that fit its read cache.
    Estimated,
}

/// A tree.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TreeReport {
    /// Path of its key in the file.
    pub path: String,
    /// Cycle of its key.
    pub cycle: i16,
    /// Whether no key of this path has a higher cycle.
    pub newest: bool,
    /// Class.
    pub class: String,
    /// Name, which may differ from the key's.
    pub name: String,
    /// Title.
    pub title: String,
    /// Entries.
    pub entries: u64,
    /// The entries that its branches hold, where the tree counts more than any of them has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<u64>,
    /// fTotBytes: all baskets before compression, with their keys.
    pub tot_bytes: u64,
    /// fZipBytes: all baskets on disk, with their keys.
    pub zip_bytes: u64,
    /// Bytes of these keys: `tot_bytes` without them are the contents of baskets.
    #[serde(default)]
    pub key_bytes: u64,
    /// fAutoFlush: negative compressed bytes, or positive entries.
    pub auto_flush: i64,
    /// The tree's own record.
    pub metadata: Sizes,
    /// Clusters, as all verbs count them: those that are declared, or else the ranges between entries at which all branches begin a
    /// basket.
    #[serde(default)]
    pub cluster_count: u64,
    /// First entry of each cluster of ROOT's own iterator, which takes clusters of 30 MB where none are declared.
    pub clusters: Vec<u64>,
    /// How they are known.
    pub clusters_known: ClustersKnown,
    /// Whether `clusters` ends before the tree does, because there are too many clusters.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub clusters_cut: bool,
    /// Compressed bytes of the largest of ROOT's clusters.
    pub largest_cluster: u64,
    /// Entries at which all branches begin a basket.
    pub common_boundaries: u64,
    /// Baskets on disk.
    pub baskets: u64,
    /// Baskets that begin before a cluster does and end behind its start; none where clusters are estimated.
    pub crossing: u64,
    /// Whether every basket's header was read, or only some of each branch.
    pub probed: Probed,
    /// Codecs of the baskets looked at, all branches together.
    pub codecs: BTreeMap<String, u64>,
    /// Size of uncompressed baskets with zlib:1 over their present size; absent where not tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compressible_to: Option<f64>,
    /// Other codecs on a sample of the baskets; absent where not tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trials: Vec<Trial>,
    /// The best of these codecs for each basket of the sample, in no more bytes; absent where not tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mixed: Option<Mixed>,
    /// Bytes of the tree's uncompressed record with the file's codec over its present bytes; absent where not tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record_compressible_to: Option<f64>,
    /// For an older cycle: whether it has baskets that the newest cycle lacks, so that it is a tree of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_another: bool,
    /// Offset of its first basket.
    #[serde(skip)]
    pub first_basket: Option<u64>,
    /// Memory that readers and writers need.
    pub memory: Memory,
    /// Time that a reader of everything needs, about.
    pub read_time: ReadTime,
    /// Friends: the alias or tree name, and the file if it is another one.
    pub friends: Vec<Pair>,
    /// Aliases: name and formula.
    pub aliases: Vec<Pair>,
    /// The expressions of its index (`TTreeIndex`), or the class of another index, if it has one.
    pub index: Option<String>,
    /// Objects in the user info.
    pub user_info: Vec<Pair>,
    /// Branches, depth first.
    pub branches: Vec<BranchReport>,
}

/// Which headers of baskets were looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Probed {
    /// All.
    All,
    /// Some of each branch, the largest among them.
    #[default]
    Some,
}

/// Two strings that belong together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    /// Name.
    pub name: String,
    /// Its value: a formula, a file, a class.
    pub value: String,
}

/// A branch.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct BranchReport {
    /// Its position in the tree: `2.0.1` is the second branch of the first branch of the third.
    pub id: String,
    /// Name.
    pub name: String,
    /// Title.
    pub title: String,
    /// ROOT's class of the branch.
    pub class: String,
    /// Its class, or empty where the leaves define it.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Its leaves.
    pub leaves: Vec<LeafReport>,
    /// ROOT's compression setting.
    pub compression: i32,
    /// Bytes of the buffer that a writer fills.
    pub basket_size: u64,
    /// Split level.
    pub split_level: i32,
    /// The file with the baskets, if it is another one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file_name: String,
    /// Entries.
    pub entries: u64,
    /// The entries of the tree that its baskets hold, where these are not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<u64>,
    /// The entries that its baskets hold behind the tree's last one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub beyond: u64,
    /// Bytes before compression, with the keys of baskets.
    pub tot_bytes: u64,
    /// Bytes on disk, with the keys of baskets.
    pub zip_bytes: u64,
    /// Bytes of these keys.
    #[serde(default)]
    pub key_bytes: u64,
    /// Its share of the tree's bytes on disk, 0 to 1.
    pub share: f64,
    /// How its baskets are.
    pub basket_summary: BasketSummary,
    /// Bytes of the largest entry of the largest basket, before compression. Known only where some basket is far larger than the others:
    /// no size of baskets makes it smaller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_entry: Option<u64>,
    /// Codecs of the baskets whose headers were read, with the number of baskets; `none` for a basket that is not
    /// compressed.
    pub codecs: BTreeMap<String, u64>,
    /// Its values after decoding, if it has entries of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decoded: Option<Decoded>,
    /// Whether it holds objects whose members could have branches of their own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub can_split: bool,
    /// Whether its baskets are in another file, which is missing: of the own folder. Files elsewhere are not looked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub absent: bool,
    /// Baskets in the tree's own record.
    pub embedded: Vec<EmbeddedReport>,
    /// Every basket on disk, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baskets: Option<Vec<BasketReport>>,
}

/// A leaf.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LeafReport {
    /// ROOT's class of the leaf.
    pub class: String,
    /// Name.
    pub name: String,
    /// Title.
    pub title: String,
    /// Type, as `TLeaf::GetTypeName` says it.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Elements of the fixed array.
    pub len: i32,
    /// The leaf that counts its elements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<String>,
    /// The largest value that the leaf claims to hold, where it counts others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum: Option<i64>,
    /// The least possible number of elements in the longest entry that it counts, from sizes alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted_at_least: Option<u64>,
}

/// The baskets of a branch, summed up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BasketSummary {
    /// Baskets on disk.
    pub count: u64,
    /// Mean size before compression, with the key, over the size of the writer's buffer, which holds both; may exceed 1, because
    /// buffers grow.
    pub fill: Option<f64>,
    /// Least, mean, median and greatest size on disk, keys included.
    pub disk: Option<Spread>,
    /// The same before compression, without keys: the mean of all, the others of the baskets looked at.
    pub raw: Option<Spread>,
    /// Baskets that cross the start of a cluster.
    pub crossing: u64,
}

/// A basket on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BasketReport {
    /// First entry in it.
    pub first_entry: u64,
    /// Entries in it.
    pub entries: u64,
    /// Bytes of its record.
    pub bytes: u32,
    /// Offset of its record.
    pub seek: u64,
}

/// A basket in the tree's own record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmbeddedReport {
    /// Its place among the branch's baskets.
    pub index: u64,
    /// Entries in it.
    pub entries: u64,
    /// Bytes of it.
    pub bytes: u64,
}

impl BranchReport {
    /// Bytes of its baskets before compression, without keys.
    pub fn content_bytes(&self) -> u64 {
        self.tot_bytes.saturating_sub(self.key_bytes)
    }
}

impl TreeReport {
    /// Bytes of all baskets before compression, without keys.
    pub fn content_bytes(&self) -> u64 {
        self.tot_bytes.saturating_sub(self.key_bytes)
    }

    /// Branches that have baskets anywhere.
    pub fn holders(&self) -> impl Iterator<Item = &BranchReport> {
        self.branches.iter().filter(|branch| branch.basket_summary.count > 0 || !branch.embedded.is_empty())
    }
}
