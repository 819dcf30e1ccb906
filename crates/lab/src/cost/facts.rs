//! What a file's metadata say about its columns: entries, baskets and bytes, codec and basket size.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use dataset::decode::{self, ColumnPlan};
use dataset::layout::{Compression, defaults};
use dataset::ntuple::instead_of_tree;
use dataset::tree::basket::{BasketData, BasketHeader, GENERATE_OFFSET_MAP};
use dataset::tree::{BasketRef, Branch, Tree, clusters, is_tree_class, read_tree};
use rootfile::{Error, Result, RootFile};

use super::clock::thread_seconds;
use super::forms::{self, Recast};
use super::kind::{self, Kind};
use super::workload::{Demand, Workload};

/// Bytes that the tree's metadata take for each basket: its entry, size and offset are 20, and compress.
pub(crate) const METADATA_PER_BASKET: f64 = 12.0;

/// The share of the memory that a sampled basket may take, as a divisor.
const MEMORY_PER_BASKET: u64 = 8;

/// Bytes of a file without objects: header, directory, free list and keys.
const LEAST_FILE: f64 = 300.0;

/// A column with baskets in the file.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// Its tree, by index.
    pub tree: usize,
    /// Columns of one tree with the same name are laid out alike: a layout tells them apart by name alone.
    pub unit: usize,
    /// Names of its branch's parents and then its own.
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
    /// In the order of entries, those of the tree's record with no place in the file.
    pub baskets: Vec<BasketRef>,
    /// Whether its baskets lie in this file and can be cut at entries.
    pub can_sample: bool,
    /// How it is decoded; readers pass over branches that are no columns.
    pub plan: Option<ColumnPlan>,
    pub demand: Demand,
    /// What is in its entries.
    pub kind: Kind,
    /// Bytes of a value before compression.
    pub value_bytes: f64,
    /// Whether it only says how many items there are in a split collection.
    pub counts: bool,
    /// The other form of a column that it is a part of, if it is no column of the file: by index.
    pub recast: Option<usize>,
}

/// A tree of the file.
#[derive(Clone, Debug)]
pub(crate) struct TreeFacts {
    pub path: String,
    pub entries: f64,
    /// Entries and bytes on disk of each cluster.
    pub clusters: Vec<(f64, f64)>,
    /// Names of the branches of the first level that are objects, or collections of some.
    pub objects: Vec<String>,
}

/// What is asked of a column of a tree, given its branch's name after those of its parents, and its plan.
pub(crate) type DemandOf<'a> = dyn Fn(&str, &[String], Option<&ColumnPlan>) -> Option<Demand> + 'a;

/// A file's trees and columns.
pub(crate) struct Facts {
    pub file: Arc<RootFile>,
    /// CPU seconds that reading the metadata took.
    pub metadata: f64,
    /// Bytes of the file; of one with the named tree alone, if one was.
    size: f64,
    pub trees: Vec<TreeFacts>,
    pub columns: Vec<Column>,
    /// Columns that are laid out alike: tree and name.
    pub units: Vec<(usize, String)>,
    /// The largest basket that is opened to be sampled, in bytes: of records, and before compression.
    pub largest: usize,
    /// Other forms of columns, if they were asked for.
    pub recasts: Vec<Recast>,
}

impl Facts {
    /// Reads the metadata of a file; of one tree only, if it is named.
    pub fn read(path: &Path, tree: Option<&str>, workload: &Workload) -> Result<Self> {
        Self::of(path, tree, &|tree, lineage, plan| {
            Some(if plan.is_some() { workload.demand(tree, lineage) } else { Demand::default() })
        })
    }

    /// The same of some columns: of those for which `demand` says, by tree, lineage and plan, what is asked of them.
    pub fn of(path: &Path, tree: Option<&str>, demand: &DemandOf<'_>) -> Result<Self> {
        let start = thread_seconds();
        let file = Arc::new(RootFile::open(path)?);
        let whole = as_f64(file.source().size());
        let mut facts = Self {
            file: Arc::clone(&file),
            metadata: 0.0,
            // What is beside a named tree is not written: the classes stay, and the little that any file has.
            size: tree.map_or(whole, |_| LEAST_FILE + f64::from(file.header().nbytes_info)),
            trees: Vec::new(),
            columns: Vec::new(),
            units: Vec::new(),
            largest: usize::MAX,
            recasts: Vec::new(),
        };
        let walk = file.walk();
        facts.metadata += thread_seconds() - start;
        if let Some(problem) = walk.problems.into_iter().next() {
            return Err(problem);
        }
        let mut known: HashMap<String, i16> = HashMap::new();
        let mut alone = 0.0;
        for directory in walk.directories {
            // Of several cycles only the newest is the tree.
            let mut keys: Vec<_> = directory.keys.iter().filter(|key| is_tree_class(&file, &key.class)).collect();
            keys.sort_by_key(|key| std::cmp::Reverse(key.cycle));
            for key in keys {
                let path = directory.path_of(&key.name);
                let wanted = tree.is_none_or(|tree| tree == path);
                if wanted && known.insert(path.clone(), 0).is_none() {
                    let start = thread_seconds();
                    let tree = read_tree(&file, key).map_err(|e| e.object(path.clone()))?;
                    facts.metadata += thread_seconds() - start;
                    // What the tree's record is compressed by goes for the baskets in it.
                    let record = f64::from(key.nbytes.saturating_sub(key.keylen.into()));
                    facts.add(path, &tree, record / f64::from(key.objlen.max(1)), demand);
                    alone += f64::from(key.nbytes);
                }
            }
        }
        if tree.is_some() {
            let records = facts.columns.iter().flat_map(Column::written).map(|basket| f64::from(basket.nbytes));
            facts.size += alone + records.sum::<f64>();
        }
        if !facts.columns.is_empty() {
            return Ok(facts);
        }
        let nothing = || match tree {
            Some(tree) => Error::request(format!("no tree {tree} with baskets")),
            None => Error::request("there is no tree with baskets in it: nothing to tune"),
        };
        let ntuple = instead_of_tree(&file, |path| tree.is_none_or(|tree| tree == path));
        Err(ntuple.unwrap_or_else(|| nothing().file(path)))
    }

    /// `packed`: bytes on disk of a byte of the tree's record.
    fn add(&mut self, path: String, tree: &Tree, packed: f64, demand: &DemandOf<'_>) {
        let number = self.trees.len();
        let mut units: HashMap<String, usize> = HashMap::new();
        let file = self.file.header().compress;
        let starts = cluster_starts(tree);
        let mut bytes = vec![0.0; starts.len()];
        let plans: HashMap<usize, ColumnPlan> =
            decode::columns(tree, self.file.infos()).into_iter().map(|plan| (plan.branch(), plan)).collect();
        for (i, branch) in tree.branches.iter().enumerate() {
            let keylen = BasketHeader::new(branch.name(), tree.name(), 0, 0).keylen();
            let (baskets, unwritten) = baskets(branch, keylen, packed);
            if baskets.is_empty() {
                continue;
            }
            let lineage: Vec<String> = tree.lineage(i).into_iter().rev().map(str::to_owned).collect();
            let plan = plans.get(&i).cloned();
            let Some(demand) = demand(&path, &lineage, plan.as_ref()) else { continue };
            let keys = as_f64(baskets.len() as u64) * as_f64(keylen as u64);
            let on_disk: f64 = baskets.iter().map(|b| f64::from(b.nbytes)).sum();
            for basket in &baskets {
                let cluster = starts.partition_point(|&s| s <= basket.first_entry).saturating_sub(1);
                if let Some(sum) = bytes.get_mut(cluster) {
                    *sum += f64::from(basket.nbytes);
                }
            }
            let unit = *units.entry(branch.name().to_owned()).or_insert_with(|| {
                self.units.push((number, branch.name().to_owned()));
                self.units.len() - 1
            });
            let generated = branch.io_bits & GENERATE_OFFSET_MAP != 0;
            self.columns.push(Column {
                tree: number,
                unit,
                demand,
                kind: Kind::of(branch, plan.as_ref()),
                value_bytes: kind::value_bytes(plan.as_ref()),
                plan,
                lineage,
                entries: as_f64(baskets.iter().map(|b| b.entries).sum()),
                // Compression never makes a basket larger; a count that says so was not kept.
                raw: (as_f64(branch.tot_bytes) + unwritten - keys).max(on_disk - keys).max(1.0),
                zip: (on_disk - keys).max(1.0),
                keylen: u32::try_from(keylen).unwrap_or(u32::MAX),
                has_offsets: branch.entry_offset_len != 0,
                compression: branch.compression(file),
                basket_size: if branch.basket_size == 0 { defaults::BASKET_SIZE } else { branch.basket_size },
                can_sample: branch.file_name.is_empty() && !generated && baskets.iter().any(|b| b.seek > 0),
                baskets,
                counts: branch.element().is_some_and(|e| matches!(e.element_type, 3 | 4)),
                recast: None,
            });
        }
        let ends = starts.iter().skip(1).copied().chain([tree.entries]);
        let clusters =
            starts.iter().zip(ends).zip(bytes).map(|((s, e), b)| (as_f64(e.saturating_sub(*s)), b)).collect();
        let objects = forms::objects(tree, &plans);
        self.trees.push(TreeFacts { path, entries: as_f64(tree.entries), clusters, objects });
    }

    /// Samples are taken within so many bytes. A basket is there four times while it is tried: as it lies in the file, as
    /// it is unpacked, as entries and as an Arrow array.
    pub fn within(&mut self, memory: u64) {
        self.largest = usize::try_from(memory / MEMORY_PER_BASKET).unwrap_or(usize::MAX);
    }

    /// Bytes of the file besides its columns. Baskets that lie in a tree's record are counted as if they had records of
    /// their own: less is left then, where they are many less than nothing, and the sum is the file's size.
    pub fn rest(&self) -> f64 {
        let columns = |c: &Column| c.on_disk() + METADATA_PER_BASKET * c.count();
        self.size - self.now().map(columns).sum::<f64>()
    }

    /// By column: objects of the split collection whose number it holds, as one of the collection's members counts them.
    pub fn items(&self) -> Vec<f64> {
        let mut counted: HashMap<(usize, Option<usize>, &[String]), f64> = HashMap::new();
        for column in &self.columns {
            let (Some(of), Some((_, above))) =
                (column.plan.as_ref().and_then(kind::item_bytes), column.lineage.split_last())
            else {
                continue;
            };
            // Members of members are as many: of whatever depth, they count for each branch above them.
            for depth in 1..=above.len() {
                let place = (column.tree, column.recast, above.get(..depth).unwrap_or_default());
                counted.entry(place).or_insert_with(|| column.raw_without_offsets() / of.max(1.0));
            }
        }
        let of = |column: &Column| {
            let place = (column.tree, column.recast, column.lineage.as_slice());
            if column.counts { counted.get(&place).copied().unwrap_or(0.0) } else { 0.0 }
        };
        self.columns.iter().map(of).collect()
    }

    /// The columns that are in the file.
    pub fn now(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| column.recast.is_none())
    }
}

impl Column {
    pub fn name(&self) -> &str {
        self.lineage.last().map_or("", String::as_str)
    }

    /// The baskets that have records of their own.
    pub fn written(&self) -> impl Iterator<Item = &BasketRef> {
        self.baskets.iter().filter(|basket| basket.seek > 0)
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
        self.raw_without_offsets() / self.value_bytes.max(1.0)
    }

    /// Bytes of all its entries in so many baskets, before compression.
    pub fn raw_in(&self, baskets: f64) -> f64 {
        let offsets = if self.has_offsets { 4.0 * self.entries + 8.0 * baskets } else { 0.0 };
        self.entry_bytes() * self.entries + offsets
    }
}

/// The baskets of a branch that hold entries, and the bytes of those which the tree's record holds, in [`Column::baskets`]
/// with the size that they would have as records of their own.
fn baskets(branch: &Branch, keylen: usize, packed: f64) -> (Vec<BasketRef>, f64) {
    let mut unwritten = 0.0;
    let of = |(k, basket): (usize, &BasketRef)| {
        if basket.entries == 0 || basket.seek > 0 {
            return (basket.entries > 0).then_some(*basket);
        }
        let (_, embedded) = branch.embedded.iter().find(|(at, _)| *at == k)?;
        let (_, data) = BasketData::parse_embedded(&embedded.bytes).ok()?;
        let offsets = if branch.entry_offset_len == 0 { 0 } else { 4 * basket.entries + 8 };
        let payload = data.data.len() as u64 + offsets;
        unwritten += as_f64(payload + keylen as u64);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate of a size")]
        let nbytes = (as_f64(payload) * packed.min(1.0)) as u32;
        Some(BasketRef { nbytes: nbytes.saturating_add(u32::try_from(keylen).unwrap_or(0)), ..*basket })
    };
    (branch.baskets.iter().enumerate().filter_map(of).collect(), unwritten)
}

/// First entries of clusters: as the tree declares them, or else where all baskets begin.
fn cluster_starts(tree: &Tree) -> Vec<u64> {
    let mut starts = if tree.cluster_ranges.is_empty() && tree.auto_flush <= 0 {
        clusters::common_boundaries(tree).starts
    } else {
        clusters::declared(tree).starts
    };
    starts.retain(|&s| s < tree.entries);
    if starts.first() != Some(&0) && tree.entries > 0 {
        starts.insert(0, 0);
    }
    starts
}

#[expect(clippy::cast_precision_loss, reason = "costs are estimates")]
pub(crate) fn as_f64(n: u64) -> f64 {
    n as f64
}
