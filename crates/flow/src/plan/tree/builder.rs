//! A plan of a table in the making: the schema so far, and columns with the pieces of all inputs so far.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use dataset::layout::{ByteSize, TreeRules, defaults};
use dataset::recast::Recast;
use dataset::table::piece::{Piece, Record, Stored};
use dataset::tree::basket::GENERATE_OFFSET_MAP;
use dataset::tree::clusters::cluster_starts;
use dataset::tree::make::LeafNumber;
use dataset::tree::{BasketRef, Branch, Tree, may_hold_tags};
use rootfile::streamer::StreamerInfos;
use rootfile::{Error, Result, RootFile, Source};

use super::attached::Attached;
use super::clusters::SourceCluster;
use super::external_files::ExternalFile;
use super::relations::Relations;
use super::unequal::{Gaps, Missing, UnequalInputs, push_defaults};
use crate::plan::options::Absent;
use crate::plan::request::TableRequest;
use crate::table::target::Shape;
use crate::table::tree::column::{Column, EntryForm};

/// From this version of ROOT on, keys of baskets have eight-byte positions, whatever the file's size.
const BIG_BASKET_KEYS: i32 = 40200;

/// Entries that are recast become at most so many times as large: one byte of a `Bool_t` becomes eight.
pub(super) const LARGEST_RECAST: u64 = 8;

/// The item classes of the arrays of each branch, by class and name of the member that the array is.
pub(crate) type ClonesClasses = HashMap<usize, BTreeMap<(String, String), String>>;

/// For each leaf of a branch, the types of its numbers in the inputs, each once.
pub(super) type InputNumbers = Vec<Vec<LeafNumber>>;

/// A plan in the making.
pub(crate) struct PlanBuilder<'a> {
    pub request: &'a TableRequest<'a>,
    /// What becomes of entries that a branch does not hold.
    pub gaps: Gaps,
    pub tree: Tree,
    /// The descriptions of the classes in the entries.
    pub infos: StreamerInfos,
    /// The input that gave the schema.
    pub first_input: PathBuf,
    pub rules: TreeRules<'a>,
    pub columns: Vec<Column>,
    /// Columns to leave out, by index.
    pub left_out: HashSet<usize>,
    /// Branches that only later inputs have, which are left out as well.
    pub left_behind: BTreeSet<String>,
    pub files: Vec<Arc<dyn Source>>,
    pub file_inputs: Vec<usize>,
    pub clusters: Vec<SourceCluster>,
    pub input_entries: Vec<u64>,
    pub entries: u64,
    pub notes: Vec<String>,
    pub remarks: Vec<String>,
    pub big_keys: bool,
    pub relations: Relations,
    pub attached: Attached,
    pub unequal: UnequalInputs,
    /// How entries of the next input become those of columns, where their bytes mean other things.
    pub recasts: HashMap<usize, Arc<Recast>>,
    /// Branches whose numbers have other types in some inputs: the types of each leaf.
    pub widened: HashMap<usize, InputNumbers>,
    /// Branches whose entries so far are all in the newest versions of their classes: these versions.
    pub brought: HashMap<usize, StreamerInfos>,
    /// The item classes of arrays, once a further input is joined.
    pub clones: Option<ClonesClasses>,
}

impl<'a> PlanBuilder<'a> {
    /// Starts with the first tree, which gives the schema.
    pub fn start(
        request: &'a TableRequest<'a>,
        gaps: Gaps,
        tree: Tree,
        input: (usize, &Arc<RootFile>),
    ) -> Result<Self> {
        let mut builder = Self {
            rules: request.layout.rules(request.path),
            relations: Relations::of(&tree),
            attached: Attached::default(),
            infos: input.1.infos().clone(),
            first_input: input.1.name().to_owned(),
            recasts: HashMap::new(),
            widened: HashMap::new(),
            brought: HashMap::new(),
            clones: None,
            request,
            gaps,
            tree,
            columns: Vec::new(),
            left_out: HashSet::new(),
            left_behind: BTreeSet::new(),
            files: Vec::new(),
            file_inputs: Vec::new(),
            clusters: Vec::new(),
            input_entries: Vec::new(),
            entries: 0,
            notes: Vec::new(),
            remarks: Vec::new(),
            big_keys: true,
            unequal: UnequalInputs::default(),
        };
        builder.add_columns(input.1);
        if gaps == Gaps::Fill {
            builder.unequal.note(request.path, &builder.tree, (input.1, request.is_one_whole()));
        }
        let starts = cluster_starts(&builder.tree);
        let mut branches: Vec<Branch> = builder.tree.branches.iter_mut().map(Branch::take_baskets).collect();
        let map: Vec<Option<usize>> = (0..branches.len()).map(Some).collect();
        builder.take_pieces(&mut branches, &map, input, builder.tree.entries, &starts)?;
        Ok(builder)
    }

    /// Adds columns for branches of `file` that have none yet.
    pub fn add_columns(&mut self, file: &RootFile) {
        for (i, branch) in self.tree.branches.iter().enumerate().skip(self.columns.len()) {
            let requested = self.rules.column(&self.tree.lineage(i));
            let compression = requested.compression.unwrap_or_else(|| branch.compression(file.header().compress));
            let own = if branch.basket_size == 0 { defaults::BASKET_SIZE } else { branch.basket_size };
            let shape = match (self.rules.tree.one_basket_per_cluster, requested.basket) {
                (Some(true), _) => Shape::PerCluster,
                (_, Some(ByteSize(size))) => Shape::Size(u32::try_from(size).unwrap_or(u32::MAX)),
                (_, None) => Shape::Keep(own),
            };
            let names = (branch.name().to_owned(), self.tree.name().to_owned());
            let mut column = Column::new(i, names, compression, shape);
            column.target.keeps_compression = requested.compression.is_none();
            column.target.memory_ratio = requested.memory_ratio;
            column.form = EntryForm {
                has_offsets: branch.entry_offset_len != 0,
                io_bits: branch.io_bits,
                has_tags: may_hold_tags(&self.tree, branch, file.infos()),
                leaves_out_offsets: false,
                counted: None,
                filled: None,
            };
            self.columns.push(column);
        }
    }

    /// Takes the pieces of one input. `map` assigns its branches to columns.
    pub fn take_pieces(
        &mut self,
        branches: &mut [Branch],
        map: &[Option<usize>],
        (number, file): (usize, &Arc<RootFile>),
        entries: u64,
        starts: &[u64],
    ) -> Result<()> {
        let base = self.entries;
        if entries > 0 {
            self.end_inputs_at(base)?;
        }
        let fills = self.gaps.fills();
        self.big_keys &= file.header().version >= BIG_BASKET_KEYS;
        let own_file = self.add_file(Arc::clone(file.source()), number);
        let mut externals: HashMap<String, u32> = HashMap::new();
        let mut room: HashMap<u32, u64> = HashMap::new();
        // What only describes the table opens no other file: reading checks the ranges there.
        let opens_others = self.request.options.absent != Absent::Fail;
        let mut bytes = vec![0.0; starts.len()];
        for (i, theirs) in map.iter().enumerate() {
            if self.left_out.contains(&i) {
                continue;
            }
            let Some(branch) = theirs.and_then(|t| branches.get_mut(t)) else {
                if entries > 0 {
                    self.fill_in(i, base, entries, Missing::Branch)?;
                }
                continue;
            };
            let gaps = if fills { self.gaps_of(i, branch, (base, entries), file)? } else { Vec::new() };
            let mut gaps = gaps.into_iter().peekable();
            let mut in_file = own_file;
            if !branch.file_name.is_empty() {
                let external = std::mem::take(&mut branch.file_name);
                in_file = match externals.get(&external) {
                    Some(&known) => known,
                    None => {
                        let (source, number) = match self.request.added.and_then(|added| added.file(&external)) {
                            Some(added) => (Arc::clone(&added.source), added.number.unwrap_or(number)),
                            None => (Arc::new(ExternalFile::of(file, &external)) as Arc<dyn Source>, number),
                        };
                        let added = self.add_file(source, number);
                        externals.insert(external, added);
                        added
                    }
                };
            }
            let Some(column) = self.columns.get_mut(i) else { continue };
            let same_compression = column.target.keeps_compression
                || branch.compression(file.header().compress) == column.target.compression;
            // All baskets of a branch must have the same form of offsets: ROOT decides by the branch whether to read any.
            let has_offsets = branch.entry_offset_len != 0;
            let same_form = branch.io_bits == column.form.io_bits && has_offsets == column.form.has_offsets;
            column.form.leaves_out_offsets |= branch.io_bits & GENERATE_OFFSET_MAP != 0;
            column.target.met_by_file.resize(in_file as usize, true);
            column.target.met_by_file.push(same_compression && same_form);
            let recast = self.recasts.remove(&i);
            let larger = recast.as_ref().map_or(1, |recast| recast.growth().max(LARGEST_RECAST));
            let expansion = ratio(branch.tot_bytes.saturating_mul(larger), branch.zip_bytes);
            column.source.expansion = column.source.expansion.max(expansion);
            column.source.tot_bytes = column.source.tot_bytes.saturating_add(branch.tot_bytes.saturating_mul(larger));
            column.source.recasts.extend(recast.map(|recast| (in_file, recast)));
            let Some(source) = self.files.get(in_file as usize) else { continue };
            let mut embedded = branch.embedded.drain(..).peekable();
            column.source.pieces.reserve(branch.baskets.len());
            for (k, basket) in branch.baskets.drain(..).enumerate() {
                let embedded = embedded.next_if(|(at, _)| *at == k);
                if basket.entries == 0 {
                    continue;
                }
                if let Some(gap) = gaps.next_if(|gap| gap.start < basket.first_entry) {
                    push_defaults(&mut column.source, base + gap.start..base + gap.end)?;
                }
                let (first_entry, entries) = (base + basket.first_entry, basket.entries);
                if let Some((_, embedded)) = embedded {
                    column.source.push_embedded((first_entry, entries), in_file, embedded.bytes);
                } else {
                    if in_file == own_file || opens_others {
                        let room = room.entry(in_file).or_insert_with(|| source.size());
                        check_range(&basket, &**source, room).map_err(|e| {
                            e.at(basket.seek).object(format!("branch {}", column.name)).file(source.name())
                        })?;
                    }
                    let record = Record { file: in_file, offset: basket.seek, len: basket.nbytes };
                    column.source.pieces.push(Piece { first_entry, entries, stored: Stored::Record(record) });
                }
                spread(&mut bytes, starts, entries, basket.first_entry, basket.entries, f64::from(basket.nbytes));
            }
            for gap in gaps {
                push_defaults(&mut column.source, base + gap.start..base + gap.end)?;
            }
        }
        if opens_others {
            let others = externals.values().filter(|file| room.contains_key(file));
            let others = others.filter_map(|&file| self.files.get(file as usize)?.remark());
            self.remarks.extend(others);
        }
        let ends = starts.iter().skip(1).copied().chain([entries]);
        for ((&start, end), bytes) in starts.iter().zip(ends).zip(bytes) {
            let entries = end.saturating_sub(start);
            self.clusters.push(SourceCluster { first_entry: base + start, entries, bytes, thinned: false });
        }
        self.input_entries.push(entries);
        self.entries += entries;
        Ok(())
    }

    fn add_file(&mut self, source: Arc<dyn Source>, number: usize) -> u32 {
        self.files.push(source);
        self.file_inputs.push(number);
        u32::try_from(self.files.len() - 1).unwrap_or(u32::MAX)
    }
}

/// Whether a branch has entries of its own, and not only child branches.
pub(crate) fn holds_entries(branch: &Branch) -> bool {
    let is_master = branch.element().is_some_and(|e| matches!(e.element_type, 3 | 4));
    !branch.baskets.is_empty() || branch.children.is_empty() || is_master
}

/// Checks that a basket is inside its file, and that all baskets together fit. `room` is left by the others.
fn check_range(basket: &BasketRef, source: &dyn Source, room: &mut u64) -> Result<()> {
    let nbytes = u64::from(basket.nbytes);
    if basket.seek.saturating_add(nbytes) > source.size() {
        return Err(Error::corrupt(format!("a basket of {nbytes} bytes lies beyond the file's end")));
    }
    *room = room.checked_sub(nbytes).ok_or_else(|| Error::corrupt("the tree's baskets do not fit into the file"))?;
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "a ratio")]
fn ratio(tot: u64, zip: u64) -> f64 {
    if zip == 0 { 1.0 } else { (tot as f64 / zip as f64).clamp(1.0, 1000.0) }
}

/// Adds a basket's bytes to its clusters, by the share of its entries.
#[expect(clippy::cast_precision_loss, reason = "shares")]
fn spread(bytes: &mut [f64], starts: &[u64], end: u64, first: u64, entries: u64, nbytes: f64) {
    let mut i = starts.partition_point(|&s| s <= first).saturating_sub(1);
    let last = first + entries;
    while let (Some(slot), Some(&start)) = (bytes.get_mut(i), starts.get(i)) {
        let stop = starts.get(i + 1).copied().unwrap_or(end.max(last));
        let overlap = last.min(stop).saturating_sub(first.max(start));
        *slot += nbytes * overlap as f64 / entries.max(1) as f64;
        if stop >= last {
            break;
        }
        i += 1;
    }
}
