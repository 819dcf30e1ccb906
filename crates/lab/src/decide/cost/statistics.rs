//! Column statistics from the metadata of a file: entries, baskets, bytes, codec and basket size. [`super::page_columns`] has
//! those of RNTuples.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use arrow_schema::DataType;
use dataset::decode::{self, ColumnPlan};
use dataset::layout::{Container, defaults};
use dataset::ntuple::model::Locator;
use dataset::ntuple::read_ntuple;
use dataset::table::catalog::{TableEntry, split_cycle, tables_in};
use dataset::tree::basket::{BasketData, BasketHeader, GENERATE_OFFSET_MAP};
use dataset::tree::clusters::cluster_starts;
use dataset::tree::{BasketRef, Branch, BranchKind, Tree, read_tree};
use rootfile::{Error, Key, Result, RootFile, Source, open_source};

use super::column::{Column, METADATA_PER_BASKET, Recast, TreeStats};
use super::kept::Kept;
use super::kind::{self, Kind};
use super::model::Cost;
use super::page_columns::{PageColumns, page_columns};
use super::sample;
use super::utility::Goal;
use super::workload::{Demand, Workload};
use crate::math::as_f64;
use crate::system::clock::thread_seconds;

/// The share of the memory that a sampled basket may take, as a divisor.
const MEMORY_PER_BASKET: u64 = 8;

/// Bytes of a file without objects: header, directory, free list and keys.
const LEAST_FILE: f64 = 300.0;

/// The demand on a column. `None` leaves the column out.
pub(crate) type DemandOf<'a> = dyn Fn(&Asked<'_>) -> Option<Demand> + 'a;

/// The column that a demand is asked for.
pub(crate) struct Asked<'a> {
    /// The path of its table.
    pub table: &'a str,
    /// The names of its parents and its own: for a branch one list, for a column of an RNTuple those of all fields that are read
    /// with it.
    pub lineages: &'a [Vec<String>],
    /// The name of the column that readers decode, if they do.
    pub decoded: Option<&'a str>,
}

/// A file's trees and columns.
pub(crate) struct FileStats {
    pub file: Arc<RootFile>,
    /// The bytes that are kept, if the file is on another machine.
    kept: Option<Arc<Kept>>,
    /// CPU seconds that reading the metadata took.
    pub metadata: f64,
    /// Bytes of the file; of one with the named tree alone, if one was.
    size: f64,
    pub trees: Vec<TreeStats>,
    pub columns: Vec<Column>,
    /// Columns that are laid out alike: tree and name.
    pub units: Vec<(usize, String)>,
    /// The largest basket that is opened to be sampled, in bytes: of records, and before compression.
    pub largest: usize,
    /// Other forms of columns, where `recast` added some.
    pub recasts: Vec<Recast>,
    /// The cost of another file with this content, if this one was only converted to be measured: limits are multiples of it, and
    /// no column can stay as it is.
    pub baseline: Option<Cost>,
    /// What the decision minimises.
    pub goal: Goal,
    /// Whether columns of RNTuples may have fewer bits for the same values.
    pub exact: bool,
}

impl FileStats {
    /// Reads the metadata of a file; of one tree only, if it is named.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or has no such tree.
    pub fn read(path: &Path, tree: Option<&str>, workload: &Workload) -> Result<Self> {
        Self::read_columns(path, tree, &|asked| {
            let demand = |_| workload.demand_of_any(asked.table, asked.lineages);
            Some(asked.decoded.map_or_else(Demand::default, demand))
        })
    }

    /// As [`Self::read`], for the columns that `demand` returns a demand for.
    ///
    /// # Errors
    ///
    /// As [`Self::read`].
    pub fn read_columns(path: &Path, tree: Option<&str>, demand: &DemandOf<'_>) -> Result<Self> {
        let start = thread_seconds();
        let source = open_source(path)?;
        let kept = source.is_remote().then(|| Arc::new(Kept::over(Arc::clone(&source))));
        let source = kept.as_ref().map_or(source, |kept| Arc::clone(kept) as Arc<dyn Source>);
        let file = Arc::new(RootFile::from_source(source)?);
        let whole = as_f64(file.source().size());
        let mut stats = Self {
            file: Arc::clone(&file),
            kept,
            metadata: 0.0,
            // Objects beside a named tree are not written; the streamer infos stay, and the least size of a file.
            size: tree.map_or(whole, |_| LEAST_FILE + f64::from(file.header().nbytes_info)),
            trees: Vec::new(),
            columns: Vec::new(),
            units: Vec::new(),
            largest: usize::MAX,
            recasts: Vec::new(),
            baseline: None,
            goal: Goal::Reading,
            exact: false,
        };
        let walk = file.walk();
        stats.metadata += thread_seconds() - start;
        if let Some(problem) = walk.problems.into_iter().next() {
            return Err(problem);
        }
        let mut alone = 0.0;
        // Of several cycles the newest is the table, or the one that is named.
        let wanted = |table: &TableEntry| tree.map_or(table.newest, |tree| table.is_named(tree));
        for table in tables_in(&file, &walk.directories).into_iter().filter(|t| wanted(t) && !t.is_unreleased()) {
            let TableEntry { path, key, container, newest } = table;
            let start = thread_seconds();
            let number = stats.trees.len();
            let older = (!newest).then(|| format!("{path};{}", key.cycle));
            if container == Container::Rntuple {
                alone += stats.add_ntuple(path.clone(), &key, demand).map_err(|e| e.object(path))?;
                stats.name(number, older);
                stats.metadata += thread_seconds() - start;
                continue;
            }
            let tree = read_tree(&file, &key).map_err(|e| e.object(path.clone()))?;
            tree.check_entries().map_err(|e| e.file(file.name()))?;
            stats.metadata += thread_seconds() - start;
            // Baskets in the tree's record compress as the record does.
            let record = f64::from(key.nbytes.saturating_sub(key.keylen.into()));
            stats.add(path, &tree, record / f64::from(key.objlen.max(1)), demand);
            stats.name(number, older);
            alone += f64::from(key.nbytes);
        }
        if tree.is_some() {
            let records = stats.columns.iter().flat_map(Column::written).map(|basket| f64::from(basket.nbytes));
            stats.size += alone + records.sum::<f64>();
        }
        if !stats.columns.is_empty() {
            return Ok(stats);
        }
        let nothing = match tree {
            Some(tree) => Error::request(format!("no tree or RNTuple {tree} with entries")),
            None => Error::request("has no tree or RNTuple with entries: nothing to tune"),
        };
        Err(nothing.file(path))
    }

    /// As [`Self::read`], of a file that was written of a tree: what was one cycle of several is the newest of its path there.
    ///
    /// # Errors
    ///
    /// As [`Self::read`].
    pub fn read_written(path: &Path, tree: Option<&str>, workload: &Workload) -> Result<Self> {
        let newest = |e| match tree.and_then(split_cycle) {
            Some((tree, _)) => Self::read(path, Some(tree), workload),
            None => Err(e),
        };
        Self::read(path, tree, workload).or_else(newest)
    }

    /// Sets the address of a table, if its path is that of a newer one.
    fn name(&mut self, number: usize, older: Option<String>) {
        if let (Some(table), Some(address)) = (self.trees.get_mut(number), older) {
            table.address = address;
        }
    }

    /// Adds an RNTuple. Returns the bytes of its metadata in the file.
    fn add_ntuple(&mut self, path: String, key: &Key, demand: &DemandOf<'_>) -> Result<f64> {
        let file = Arc::clone(&self.file);
        let ntuple = read_ntuple(&file, key)?;
        let of = |lineages: &[Vec<String>], top: &str| demand(&Asked { table: &path, lineages, decoded: Some(top) });
        let PageColumns { stats, columns } = page_columns(&**file.source(), &ntuple, path.clone(), &of)?;
        let number = self.trees.len();
        let mut units: HashMap<String, usize> = HashMap::new();
        for column in columns {
            let name = column.name().to_owned();
            let unit = *units.entry(name).or_insert_with_key(|name| {
                self.units.push((number, name.clone()));
                self.units.len() - 1
            });
            self.columns.push(Column { tree: number, unit, ..column });
        }
        self.trees.push(stats);
        let links = [ntuple.anchor.header, ntuple.anchor.footer].into_iter();
        let links = links.chain(ntuple.groups.iter().map(|group| group.page_list));
        let stored = links.map(|link| match link.locator {
            Locator::File { size, .. } => as_f64(size),
            Locator::Unknown { .. } => 0.0,
        });
        Ok(f64::from(key.nbytes) + stored.sum::<f64>())
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
            let decoded = plan.as_ref().map(|plan| plan.field().name().as_str());
            let asked = Asked { table: &path, lineages: std::slice::from_ref(&lineage), decoded };
            let Some(demand) = demand(&asked) else { continue };
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
                pages: None,
            });
        }
        let ends = starts.iter().skip(1).copied().chain([tree.entries]);
        let clusters =
            starts.iter().zip(ends).zip(bytes).map(|((s, e), b)| (as_f64(e.saturating_sub(*s)), b)).collect();
        let objects = object_branches(tree, &plans);
        let entries = as_f64(tree.entries);
        self.trees.push(TreeStats {
            address: path.clone(),
            path,
            entries,
            has_pages: false,
            whole: None,
            clusters,
            objects,
        });
    }

    /// The cost that a choice is compared with, given that of this file.
    pub fn compared(&self, own: &Cost) -> Cost {
        self.baseline.unwrap_or(*own)
    }

    /// The table with the most bytes.
    pub fn largest_table(&self) -> Option<&TreeStats> {
        self.trees.iter().max_by(|a, b| a.bytes().total_cmp(&b.bytes()))
    }

    /// Whether the file is on another machine.
    pub fn is_elsewhere(&self) -> bool {
        self.kept.is_some()
    }

    /// Limits the memory of samples. A basket under trial is in memory four times: as it is in the file,
    /// decompressed, as entries, and as an Arrow array.
    pub fn within(&mut self, memory: u64) {
        self.largest = usize::try_from(memory / MEMORY_PER_BASKET).unwrap_or(usize::MAX);
        self.kept.iter().for_each(|kept| kept.within(memory));
    }

    /// Asks a file on another machine at once for the samples of the next columns, of so many bytes each, as far as there is room
    /// for them. Returns the number of these columns.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of bytes")]
    pub fn announce<'a>(&'a self, samples: impl Iterator<Item = (&'a Column, f64)>, seed: u64) -> usize {
        let Some(kept) = &self.kept else { return usize::MAX };
        let (mut places, mut columns, mut room) = (Vec::new(), 0, kept.room());
        for (column, target) in samples {
            let is_here = column.recast.is_some() || target <= 0.0;
            let more = if is_here { Vec::new() } else { sample::places(column, target as usize, self.largest, seed) };
            let bytes: u64 = more.iter().map(|place| place.end - place.start).sum();
            if columns > 0 && bytes > room {
                break;
            }
            room = room.saturating_sub(bytes);
            places.extend(more);
            columns += 1;
        }
        kept.will_need(&places);
        columns
    }

    /// Bytes of the file without its columns. Baskets in a tree's record count as if they had records of
    /// their own; where there are many, the result is negative, and the sum is still the file's size.
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

    /// The file that holds a column's baskets: the file itself, or the sample of another form.
    pub fn file_of(&self, column: &Column) -> &RootFile {
        let recast = column.recast.and_then(|recast| self.recasts.get(recast));
        recast.map_or(&*self.file, |recast| &*recast.file)
    }

    /// Whether it has RNTuples, and whether it has trees.
    pub fn containers(&self) -> [bool; 2] {
        [true, false].map(|pages| self.columns.iter().any(|column| column.pages.is_some() == pages))
    }

    /// Whether it has RNTuples.
    pub fn has_pages(&self) -> bool {
        self.containers()[0]
    }

    /// Whether a table is an RNTuple.
    pub fn is_ntuple(&self, number: usize) -> bool {
        self.trees.get(number).is_some_and(|table| table.has_pages)
    }

    /// The columns that are in the file.
    pub fn now(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| column.recast.is_none())
    }
}

/// The baskets of a branch that hold entries, and the bytes of those in the tree's record; in [`Column::baskets`]
/// the latter have the size of a record of their own.
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

/// Names of the branches of the first level that are objects, or collections of some.
fn object_branches(tree: &Tree, plans: &HashMap<usize, ColumnPlan>) -> Vec<String> {
    fn within(data_type: &DataType) -> bool {
        match data_type {
            DataType::Struct(_) => true,
            DataType::LargeList(item) | DataType::FixedSizeList(item, _) => within(item.data_type()),
            _ => false,
        }
    }
    let is_object = |top: &usize, branch: &Branch| {
        let whole = plans.get(top).is_some_and(|plan| within(plan.field().data_type()));
        !matches!(branch.kind, BranchKind::Plain | BranchKind::Ref { .. }) && (whole || !branch.children.is_empty())
    };
    let branches = tree.top.iter().filter_map(|top| Some((top, tree.branches.get(*top)?)));
    branches.filter(|(top, branch)| is_object(top, branch)).map(|(_, branch)| branch.name().to_owned()).collect()
}
