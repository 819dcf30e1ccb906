//! What metadata say of columns and trees: sizes, baskets, codec and decode plan. [`super::statistics`] reads them from a
//! file.

use std::sync::Arc;

use dataset::decode::ColumnPlan;
use dataset::layout::{ColumnEncoding, Compression};
use dataset::ntuple::element::Encoding;
use dataset::ntuple::model::Page;
use dataset::tree::BasketRef;
use flow::Form;
use rootfile::RootFile;

use super::kind::Kind;
use super::packing::Packing;
use super::workload::Demand;
use crate::math::as_f64;

/// Bytes that the table's metadata take for each basket or page: entries, size and offset are some 20, and compress.
pub(crate) const METADATA_PER_BASKET: f64 = 12.0;

/// A column with baskets in the file.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// Its tree, by index.
    pub tree: usize,
    /// Columns of one tree with the same name are one unit and get the same layout, because a layout identifies columns
    /// by name alone.
    pub unit: usize,
    /// Names of the parents of its branch, then its own name.
    pub lineage: Vec<String>,
    pub entries: f64,
    /// Bytes before compression, without keys.
    pub raw: f64,
    /// Bytes on disk, without keys.
    pub zip: f64,
    pub keylen: u32,
    pub has_offsets: bool,
    pub compression: Compression,
    pub basket_size: u32,
    /// In the order of entries; baskets in the tree's record have no position in the file.
    pub baskets: Vec<BasketRef>,
    /// Whether its baskets are in this file and can be cut at entries.
    pub can_sample: bool,
    /// Its pages, if it is a column of an RNTuple.
    pub pages: Option<PageColumn>,
    /// How it is decoded. `None` for branches that are no columns, which readers skip, and for columns of RNTuples.
    pub plan: Option<ColumnPlan>,
    pub demand: Demand,
    /// Kind of its values.
    pub kind: Kind,
    /// Bytes of a value before compression.
    pub value_bytes: f64,
    /// Whether its values are only the numbers of items in a split collection.
    pub counts: bool,
    /// The index of the other form that it is a part of, if it is no column of the file.
    pub recast: Option<usize>,
}

/// What a column of an RNTuple has instead of baskets. Its [`Column::baskets`] are its pages.
#[derive(Clone, Debug)]
pub(crate) struct PageColumn {
    /// How its elements are encoded in the file.
    pub encoding: Encoding,
    /// The ID of the field at the top.
    pub top: usize,
    /// The field by which other programs read its values entry by entry: itself, one that shows it, or the one at the top.
    pub view: String,
    /// The pages, in the order of [`Column::baskets`].
    pub pages: Vec<Page>,
    /// Most bytes of a key in the file.
    pub max_key_size: u64,
    /// Whether it, or a column that is laid out like it, could have fewer bits for the same values.
    pub may_be_exact: bool,
}

impl PageColumn {
    /// Bytes of an element in memory, for each byte in a page before compression. The limit of pages counts these.
    pub fn in_memory(&self) -> f64 {
        let bits = 8.0 * as_f64(self.encoding.kind().memory_size() as u64);
        bits / f64::from(self.encoding.bits().max(1))
    }
}

impl Column {
    /// How its bytes are packed in the file.
    pub fn packing(&self) -> Packing {
        let encoding = |pages: &PageColumn| match pages.encoding.column_type().is_split() {
            true => ColumnEncoding::Split,
            false => ColumnEncoding::Plain,
        };
        Packing { compression: self.compression, encoding: self.pages.as_ref().map(encoding) }
    }

    /// Whether its pieces can be packed so.
    pub fn takes(&self, packing: Packing) -> bool {
        let may_be_exact = || self.pages.as_ref().is_some_and(|pages| pages.may_be_exact);
        self.pages.is_some() == packing.encoding.is_some() && (!packing.is_exact() || may_be_exact())
    }

    pub fn name(&self) -> &str {
        self.lineage.last().map_or("", String::as_str)
    }

    /// The baskets that have records of their own.
    pub fn written(&self) -> impl Iterator<Item = &BasketRef> {
        self.baskets.iter().filter(|basket| basket.seek > 0)
    }

    /// Bytes of a page before compression, on average; nothing for baskets.
    pub fn page_bytes(&self) -> f64 {
        if self.pages.is_some() { self.raw / self.count().max(1.0) } else { 0.0 }
    }

    /// Number of baskets.
    pub fn count(&self) -> f64 {
        as_f64(self.baskets.len() as u64)
    }

    /// Bytes on disk, keys included.
    pub fn on_disk(&self) -> f64 {
        self.zip + f64::from(self.keylen) * self.count()
    }

    /// Bytes of an entry, without its offset.
    pub fn entry_bytes(&self) -> f64 {
        let offsets = if self.has_offsets { 4.0 * self.entries + 8.0 * self.count() } else { 0.0 };
        ((self.raw - offsets) / self.entries.max(1.0)).max(0.0)
    }

    /// Bytes of all its entries, without their offsets.
    pub fn raw_without_offsets(&self) -> f64 {
        (self.entry_bytes() * self.entries).max(1.0)
    }

    /// Numbers in all its entries.
    pub fn values(&self) -> f64 {
        match &self.pages {
            Some(pages) => 8.0 * self.raw / f64::from(pages.encoding.bits().max(1)),
            None => self.raw_without_offsets() / self.value_bytes.max(1.0),
        }
    }

    /// Whether its elements are the ends of collections.
    pub fn has_ends(&self) -> bool {
        self.pages.as_ref().is_some_and(|pages| pages.encoding.column_type().is_index())
    }

    /// Bytes of all its entries in `baskets` baskets, before compression.
    pub fn raw_in(&self, baskets: f64) -> f64 {
        let offsets = if self.has_offsets { 4.0 * self.entries + 8.0 * baskets } else { 0.0 };
        self.entry_bytes() * self.entries + offsets
    }
}

/// A tree of the file.
#[derive(Clone, Debug)]
pub(crate) struct TreeStats {
    pub path: String,
    /// How this file's readers name it: by its path, and with its cycle if another one is newer.
    pub address: String,
    pub entries: f64,
    /// Whether it is an RNTuple.
    pub has_pages: bool,
    /// The entries of the table that this one stands for, if it is a conversion of one, or of some of its entries.
    pub whole: Option<f64>,
    /// Entries and bytes on disk of each cluster.
    pub clusters: Vec<(f64, f64)>,
    /// Names of the branches of the first level that are objects, or collections of some.
    pub objects: Vec<String>,
}

impl TreeStats {
    /// Bytes on disk of all clusters.
    pub fn bytes(&self) -> f64 {
        self.clusters.iter().map(|cluster| cluster.1).sum()
    }
}

/// A column of the first level in another form.
#[derive(Clone)]
pub(crate) struct Recast {
    /// Its tree, by index, and the name of its branch.
    pub tree: usize,
    pub name: String,
    pub before: Form,
    pub after: Form,
    /// Units of its columns as they are, and in this form.
    pub own: Vec<usize>,
    pub units: Vec<usize>,
    /// The file of the samples.
    pub file: Arc<RootFile>,
}
