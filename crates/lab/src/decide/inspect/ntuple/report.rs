//! The report on an RNTuple as plain values: a part of the JSON schema of `inspect`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::inspect::values::{Decoded, Memory, Mixed, ReadTime, Sizes, Spread, Trial, is_zero};

/// An RNTuple.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct NtupleReport {
    /// Path of its key in the file.
    pub path: String,
    /// Cycle of its key.
    pub cycle: i16,
    /// Whether no key of this path has a higher cycle.
    pub newest: bool,
    /// Name, which may differ from the key's.
    pub name: String,
    /// Description.
    pub description: String,
    /// The program that wrote it.
    pub writer: String,
    /// The format's version in the anchor: `1.0.1.0`.
    pub format: String,
    /// The numbers of the feature flags that are set.
    pub features: Vec<u64>,
    /// Entries.
    pub entries: u64,
    /// Fields at the top.
    pub top_fields: u64,
    /// Columns in the file.
    pub columns: u64,
    /// Fields that show the columns of others.
    pub projected_fields: u64,
    /// Fields with objects as ROOT's streamer writes them.
    pub streamer_fields: u64,
    /// Fields with several representations.
    pub alternative_fields: u64,
    /// Fields that were added while the RNTuple was written.
    pub extension_fields: u64,
    /// Columns that were added while the RNTuple was written.
    pub extension_columns: u64,
    /// Bytes of all pages before compression, each range of bytes once.
    pub tot_bytes: u64,
    /// Bytes of all pages on disk without their checksums, each range of bytes once.
    pub zip_bytes: u64,
    /// Pages in the page lists.
    pub pages: u64,
    /// Pages that have the same bytes in the file as a page before them.
    pub shared_pages: u64,
    /// Pages in storage other than the file, which are not in the sizes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pages_elsewhere: u64,
    /// Pages that a checksum follows.
    pub checked_pages: u64,
    /// Whether pages have checksums.
    pub checksums: Checksums,
    /// Pages by codec; `none` for a page that is not compressed.
    pub codecs: BTreeMap<String, u64>,
    /// The metadata: anchor, header, footer and page lists.
    pub metadata: Sizes,
    /// The header.
    pub header: Sizes,
    /// The footer.
    pub footer: Sizes,
    /// All page lists.
    pub page_lists: Sizes,
    /// Groups of clusters: each has a page list of its own.
    pub cluster_groups: u64,
    /// Clusters.
    pub cluster_count: u64,
    /// First entry of each cluster.
    pub clusters: Vec<u64>,
    /// Whether `clusters` ends before the RNTuple does, because there are too many clusters.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub clusters_cut: bool,
    /// Compressed bytes of the largest cluster.
    pub largest_cluster: u64,
    /// Other codecs on a sample of the pages; absent where not tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trials: Vec<Trial>,
    /// The best of these codecs for each page of the sample, in no more bytes; absent where not tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mixed: Option<Mixed>,
    /// Memory that readers and writers need.
    pub memory: Memory,
    /// Time that a reader of everything needs, about.
    pub read_time: ReadTime,
    /// Linked attribute sets.
    pub attribute_sets: Vec<AttributeSetReport>,
    /// Fields, depth first.
    pub fields: Vec<FieldReport>,
}

/// Which pages have checksums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Checksums {
    /// All pages.
    #[default]
    All,
    /// Some pages.
    Some,
    /// No page.
    None,
}

/// A linked attribute set: an RNTuple with data about ranges of entries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttributeSetReport {
    /// Its name.
    pub name: String,
    /// The version of its schema: `1.0`.
    pub schema_version: String,
    /// Its entries; absent where it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<u64>,
    /// Its fields at the top; absent where it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_fields: Option<u64>,
    /// Why it could not be read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// What a field is for its subfields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FieldRole {
    /// A value of its own, or a wrapper around its only subfield.
    #[default]
    Leaf,
    /// Any number of values of its subfield.
    Collection,
    /// One value of each subfield.
    Record,
    /// One value of one of its subfields.
    Variant,
    /// An object as ROOT's streamer writes it.
    Streamer,
    /// A role that the specification does not define.
    Unknown,
}

/// A field.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FieldReport {
    /// Its ID.
    pub id: u64,
    /// Names from the top, joined by dots.
    pub path: String,
    /// C++ type; empty for untyped records and collections.
    #[serde(rename = "type")]
    pub type_name: String,
    /// The name of the type in the source code, if it is another one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub type_alias: String,
    /// Description.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Structural role.
    pub role: FieldRole,
    /// Length of a fixed-size array or a bitset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array_size: Option<u64>,
    /// For a projected field: the path of the field that it shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Whether the class is a struct of arrays.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub soa: bool,
    /// Whether it was added while the RNTuple was written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_extension: bool,
    /// For a field at the top: its values after decoding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decoded: Option<Decoded>,
    /// For a field at the top: why it cannot be decoded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<String>,
    /// Bytes of its own columns before compression.
    pub tot_bytes: u64,
    /// Bytes of its own columns on disk.
    pub zip_bytes: u64,
    /// The share of its own columns of the RNTuple's bytes on disk, 0 to 1.
    pub share: f64,
    /// Bytes of its columns and of those below it.
    pub with_subfields: Sizes,
    /// Elements of its first column, over all representations: for a field outside of collections, one for each entry.
    pub elements: u64,
    /// Pages of its own columns.
    pub pages: u64,
    /// Its columns: of all representations, those of representation 0 first.
    pub columns: Vec<ColumnReport>,
}

/// A column.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ColumnReport {
    /// Its physical ID.
    pub id: u64,
    /// Its type in the specification: `SplitReal32`.
    #[serde(rename = "type")]
    pub column_type: String,
    /// Bits of an element in a page.
    pub bits: u16,
    /// The least and the greatest value of a quantised column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<(f64, f64)>,
    /// Which of its field's representations it belongs to, from 0.
    pub representation: u16,
    /// Whether it was added while the RNTuple was written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_extension: bool,
    /// For a deferred column: the index of its first stored element. Elements before it are zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_element: Option<u64>,
    /// Clusters in which another representation of the field has the data.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub suppressed_clusters: u64,
    /// Clusters from before the column was added.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub absent_clusters: u64,
    /// ROOT's compression settings, with the number of pages that were written under each.
    pub compression: BTreeMap<u32, u64>,
    /// Stored elements.
    pub elements: u64,
    /// Pages.
    pub pages: u64,
    /// Pages that have the same bytes in the file as a page before them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub shared_pages: u64,
    /// Pages that a checksum follows.
    pub checked_pages: u64,
    /// Bytes before compression, each range of bytes once.
    pub tot_bytes: u64,
    /// Bytes on disk without checksums, each range of bytes once.
    pub zip_bytes: u64,
    /// Least, mean, median and greatest page on disk.
    pub disk: Option<Spread>,
    /// The same before compression.
    pub raw: Option<Spread>,
    /// Pages by codec; `none` for a page that is not compressed.
    pub codecs: BTreeMap<String, u64>,
    /// Every page, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_list: Option<Vec<PageReport>>,
}

/// A page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageReport {
    /// The number of its cluster.
    pub cluster: u64,
    /// Elements in it.
    pub elements: u32,
    /// Bytes on disk without the checksum.
    pub bytes: u64,
    /// Offset in the file; absent for a page in other storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seek: Option<u64>,
    /// Whether a checksum follows it.
    pub checksum: bool,
}
