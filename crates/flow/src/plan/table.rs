//! The plan of one table: its schema, its columns with all their pieces, and its clusters.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use dataset::glob::NameFilter;
use dataset::layout::{ByteSize, Layout, TreeRules, defaults};
use dataset::tree::basket::GENERATE_OFFSET_MAP;
use dataset::tree::{BasketRef, Branch, Tree, may_hold_tags, read_tree};
use rootfile::{Error, Key, Result, RootFile, START_BIG_FILE, Source};

use super::clusters::{self, Clustering, SourceCluster};
use super::external;
use super::recode;
use super::relations::Relations;
use crate::column::{Column, FILL, Piece, Shape};
use crate::engine::{Generated, Recode};
use crate::options::{Absent, Pack, Schema};
use crate::selected::Selected;

/// From this version of ROOT on, keys of baskets have eight-byte positions, whatever the file's size.
const BIG_BASKET_KEYS: i32 = 40200;

/// What a table is made from, and how it is to be.
pub(crate) struct TableRequest<'a> {
    /// The trees to be put together, and the number of the input that each lies in.
    pub inputs: &'a [(usize, Arc<RootFile>, Key)],
    /// Path of the tree in its file.
    pub path: &'a str,
    /// The asked layout.
    pub layout: &'a Layout,
    /// The branches asked for.
    pub filter: &'a NameFilter,
    /// Which entries are asked for of so many, if not all.
    pub entries: Option<&'a dyn Fn(u64) -> Result<Selected>>,
    /// Whether small clusters are put together.
    pub pack: Pack,
    /// What is done where schemas differ.
    pub schema: Schema,
    /// What is done with branches whose baskets lie in a file that is absent.
    pub absent: Absent,
}

/// The plan of a table.
pub(crate) struct TablePlan {
    /// Metadata of the output, baskets and counts still those of the first input.
    pub tree: Tree,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Columns of the inputs that become others of the output.
    pub recodes: Vec<Recode>,
    /// First entry of each cluster, and last the end.
    pub bounds: Vec<u64>,
    /// Whether a cluster is put together from several.
    pub packed: Vec<bool>,
    /// The files that the pieces lie in.
    pub files: Vec<Arc<dyn Source>>,
    /// The number of the input that each of those files belongs to.
    pub file_inputs: Vec<usize>,
    /// Entries of each input.
    pub input_entries: Vec<u64>,
    /// The entries that are taken, if not all.
    pub selected: Option<Arc<Selected>>,
    /// What the user should know.
    pub notes: Vec<String>,
    /// What the trees know besides entries and cannot be put together: index, table of references.
    pub lost: Vec<String>,
    /// Branches that were left out since the file with their baskets is absent, and why.
    pub absent: Vec<(String, String)>,
    /// Bytes of metadata while the job runs.
    pub metadata: u64,
    /// Whether records may be copied: not if their keys have no room for positions beyond 2 GB.
    pub copies_fit: bool,
}

/// Plans a table.
pub(crate) fn plan_table(request: &TableRequest<'_>) -> Result<TablePlan> {
    plan_table_of(request, read_tree)
}

/// Plans a table of trees that `read` gives.
pub(crate) fn plan_table_of(
    request: &TableRequest<'_>,
    mut read: impl FnMut(&RootFile, &Key) -> Result<Tree>,
) -> Result<TablePlan> {
    let mut builder: Option<Builder> = None;
    let mut names: HashSet<String> = HashSet::new();
    let mut absent = Vec::new();
    for (number, file, key) in request.inputs {
        if let Some(problem) = file.infos_problem() {
            return Err(Error::corrupt(problem.to_string()).file(file.name()));
        }
        let mut tree = read(file, key)?;
        for branch in &tree.branches {
            if !names.contains(branch.name()) {
                names.insert(branch.name().to_owned());
            }
        }
        if !request.filter.keeps_all() {
            let keeps = |i| request.filter.keeps(request.path, &tree.lineage(i));
            let keep: Vec<bool> = (0..tree.branches.len()).map(keeps).collect();
            tree.select(&keep);
        }
        let found = if request.absent == Absent::Fail { Vec::new() } else { external::absent(&tree, file.name()) };
        match request.absent {
            Absent::Refuse if !found.is_empty() => return Err(external::refuse(&found).file(file.name())),
            Absent::LeaveOut if !found.is_empty() => {
                let keep: Vec<bool> = (0..tree.branches.len()).map(|i| !found.iter().any(|a| a.branch == i)).collect();
                for branch in found {
                    if !absent.iter().any(|(name, _)| *name == branch.name) {
                        absent.push((branch.name, branch.why));
                    }
                }
                tree.select(&keep);
            }
            _ => {}
        }
        let in_file = |e: Error| e.file(file.name());
        match &mut builder {
            None => builder = Some(Builder::start(request, tree, (*number, file)).map_err(in_file)?),
            Some(builder) => builder.join(tree, (*number, file)).map_err(in_file)?,
        }
    }
    let mut plan = builder.ok_or_else(|| Error::request("no input"))?.finish()?;
    let names = Arc::new(names);
    plan.columns.iter_mut().for_each(|column| column.siblings = Arc::clone(&names));
    recode::apply(&mut plan, request);
    plan.absent = absent;
    Ok(plan)
}

/// A plan in the making: the schema so far, and columns with the pieces of all inputs so far.
pub(super) struct Builder<'a> {
    pub request: &'a TableRequest<'a>,
    pub tree: Tree,
    pub rules: TreeRules<'a>,
    pub columns: Vec<Column>,
    /// Columns that not all inputs have, where only common ones are asked for.
    pub uncommon: Vec<bool>,
    /// Columns some of whose baskets may leave out offsets that follow from a counter.
    pub counted: Vec<bool>,
    pub files: Vec<Arc<dyn Source>>,
    pub file_inputs: Vec<usize>,
    pub clusters: Vec<SourceCluster>,
    pub input_entries: Vec<u64>,
    pub entries: u64,
    pub notes: Vec<String>,
    pub big_keys: bool,
    pub relations: Relations,
}

impl<'a> Builder<'a> {
    /// Begins with the first tree, which gives the schema.
    pub fn start(request: &'a TableRequest<'a>, tree: Tree, input: (usize, &Arc<RootFile>)) -> Result<Self> {
        let mut builder = Self {
            rules: request.layout.rules(request.path),
            relations: Relations::of(&tree),
            request,
            tree,
            columns: Vec::new(),
            uncommon: Vec::new(),
            counted: Vec::new(),
            files: Vec::new(),
            file_inputs: Vec::new(),
            clusters: Vec::new(),
            input_entries: Vec::new(),
            entries: 0,
            notes: Vec::new(),
            big_keys: true,
        };
        builder.add_columns(input.1);
        let starts = clusters::source_starts(&builder.tree);
        let mut branches = std::mem::take(&mut builder.tree.branches);
        let map: Vec<Option<usize>> = (0..branches.len()).map(Some).collect();
        let taken = builder.take_pieces(&mut branches, &map, input, builder.tree.entries, &starts);
        builder.tree.branches = branches;
        taken?;
        Ok(builder)
    }

    /// Adds columns for the branches that have none yet. `file` is where they come from.
    pub fn add_columns(&mut self, file: &RootFile) {
        for (i, branch) in self.tree.branches.iter().enumerate().skip(self.columns.len()) {
            let asked = self.rules.column(&self.tree.lineage(i));
            let compression = asked.compression.unwrap_or_else(|| branch.compression(file.header().compress));
            let own = if branch.basket_size == 0 { defaults::BASKET_SIZE } else { branch.basket_size };
            let shape = match (self.rules.tree.one_basket_per_cluster, asked.basket) {
                (Some(true), _) => Shape::PerCluster,
                (_, Some(ByteSize(size))) => Shape::Size(u32::try_from(size).unwrap_or(u32::MAX)),
                (_, None) => Shape::Keep(own),
            };
            self.columns.push(Column {
                branch: i,
                names: (branch.name().to_owned(), self.tree.name().to_owned()),
                pieces: Vec::new(),
                embedded: HashMap::new(),
                compression,
                keeps_compression: asked.compression.is_none(),
                as_asked: Vec::new(),
                shape,
                packed_size: None,
                memory_ratio: asked.memory_ratio,
                has_offsets: branch.entry_offset_len != 0,
                io_bits: branch.io_bits,
                has_tags: may_hold_tags(&self.tree, branch, file.infos()),
                expansion: 1.0,
                tot_bytes: 0,
                generated: None,
                fill: None,
                choice: None,
                siblings: Arc::default(),
            });
            self.uncommon.push(false);
            self.counted.push(false);
        }
    }

    /// Takes the pieces of one input, whose branches `map` assigns to columns.
    pub fn take_pieces(
        &mut self,
        branches: &mut [Branch],
        map: &[Option<usize>],
        (number, file): (usize, &Arc<RootFile>),
        entries: u64,
        starts: &[u64],
    ) -> Result<()> {
        let base = self.entries;
        self.big_keys &= file.header().version >= BIG_BASKET_KEYS;
        let own_file = self.add_file(Arc::clone(file.source()), number);
        let mut externals: HashMap<String, u32> = HashMap::new();
        let mut room: HashMap<u32, u64> = HashMap::new();
        let mut bytes = vec![0.0; starts.len()];
        for (i, theirs) in map.iter().enumerate() {
            if self.uncommon.get(i).copied().unwrap_or(false) {
                continue;
            }
            let Some(branch) = theirs.and_then(|t| branches.get_mut(t)) else {
                if entries > 0 {
                    self.fill_in(i, base, entries)?;
                }
                continue;
            };
            let mut in_file = own_file;
            if !branch.file_name.is_empty() {
                let external = std::mem::take(&mut branch.file_name);
                in_file = match externals.get(&external) {
                    Some(&known) => known,
                    None => {
                        let opened = external::open(file.name(), &external);
                        let added = self.add_file(opened, number);
                        externals.insert(external, added);
                        added
                    }
                };
            }
            let Some(column) = self.columns.get_mut(i) else { continue };
            let asked = column.keeps_compression || branch.compression(file.header().compress) == column.compression;
            // Baskets must agree in how offsets lie in them.
            let asked = asked && branch.io_bits == column.io_bits;
            if branch.io_bits & GENERATE_OFFSET_MAP != 0
                && let Some(counted) = self.counted.get_mut(i)
            {
                *counted = true;
            }
            column.as_asked.resize(in_file as usize, true);
            column.as_asked.push(asked);
            column.expansion = column.expansion.max(ratio(branch.tot_bytes, branch.zip_bytes));
            column.tot_bytes = column.tot_bytes.saturating_add(branch.tot_bytes);
            let Some(source) = self.files.get(in_file as usize) else { continue };
            let room = room.entry(in_file).or_insert(source.size());
            let mut embedded = branch.embedded.drain(..).peekable();
            column.pieces.reserve(branch.baskets.len());
            for (k, basket) in branch.baskets.drain(..).enumerate() {
                let embedded = embedded.next_if(|(at, _)| *at == k);
                if basket.entries == 0 {
                    continue;
                }
                if let Some((_, embedded)) = embedded {
                    column.embedded.insert(column.pieces.len(), embedded.bytes);
                } else if !external::is_absent(&**source) {
                    check_place(&basket, &**source, room).map_err(|e| {
                        e.at(basket.seek).object(format!("branch {}", column.names.0)).file(source.name())
                    })?;
                }
                column.pieces.push(Piece {
                    first_entry: base + basket.first_entry,
                    entries: basket.entries,
                    seek: basket.seek,
                    nbytes: basket.nbytes,
                    file: in_file,
                });
                spread(&mut bytes, starts, entries, basket.first_entry, basket.entries, f64::from(basket.nbytes));
            }
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

    /// Entries of a branch that an input lacks, if the branch has entries of its own.
    pub fn fill_in(&mut self, index: usize, base: u64, entries: u64) -> Result<()> {
        let (Some(column), Some(branch)) = (self.columns.get_mut(index), self.tree.branches.get(index)) else {
            return Ok(());
        };
        if column.pieces.is_empty() && !holds_entries(branch) {
            return Ok(());
        }
        if column.fill.is_none() {
            column.fill = Some(crate::fill::default_entry(&self.tree, branch)?);
        }
        // Pieces are loaded whole: they are kept small. An input may claim any number of entries.
        const MOST: u64 = 8192;
        if entries / MOST > 1 << 20 {
            return Err(Error::request(format!("{entries} entries are too many to fill in")));
        }
        let mut at = 0;
        while at < entries {
            let n = MOST.min(entries - at);
            column.pieces.push(Piece { first_entry: base + at, entries: n, seek: 0, nbytes: 0, file: FILL });
            at += n;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<TablePlan> {
        if self.relations.refs_differ()
            && let Some(refs) = self.tree.branch_ref.take()
        {
            self.leave_out(refs);
        }
        self.leave_out_uncommon()?;
        self.link_counters();
        let selected = self.request.entries.map(|of| of(self.entries)).transpose()?.map(Arc::new);
        let index_memory = self.relations.memory();
        let relations = std::mem::take(&mut self.relations);
        let mut lost = Vec::new();
        relations.settle(&mut self.tree, selected.as_deref(), self.request.path, &mut lost);
        let usual = clusters::mean(&self.clusters);
        match &selected {
            Some(selected) => clusters::thin(&mut self.clusters, selected),
            None => self.cover_all(),
        }
        let factor = self.size_factor();
        for cluster in &mut self.clusters {
            cluster.bytes *= factor;
        }
        let clustering = match (self.rules.tree.cluster, self.request.pack) {
            (Some(size), _) => Clustering::Size(size),
            (None, Pack::Bytes(bytes)) => Clustering::Pack(bytes),
            (None, Pack::Auto) => Clustering::Pack(clusters::aim(&self.clusters, self.tree.auto_flush)),
            (None, Pack::No) if selected.is_some() => Clustering::Refill(usual),
            (None, Pack::No) => Clustering::Keep,
        };
        let bounds = clusters::bounds(&self.clusters, clustering)?;
        let packed = clusters::are_packed(&self.clusters, &bounds);
        self.optimise(&bounds);
        self.optimise_packed(&bounds, &packed);
        let pieces: u64 = self.columns.iter().map(|c| c.pieces.len() as u64).sum();
        let chosen = selected.as_ref().map_or(0, |selected| {
            self.columns.iter_mut().for_each(|column| column.choose(selected));
            selected.memory() + self.columns.iter().map(Column::choice_memory).sum::<u64>()
        });
        let branches = self.tree.branches.len() as u64;
        let total_bytes: f64 = self.clusters.iter().map(|c| c.bytes).sum();
        // Structures seen here: about 1.5 kB for each branch read, as much again for the record written.
        let clusters = bounds.len() as u64;
        // A basket written is remembered, and listed in a record that grows by doubling.
        let written: u64 = self.columns.iter().map(|c| c.most_baskets(clusters)).sum();
        let metadata = branches * 3000 + pieces * 96 + written.saturating_mul(112) + clusters * 16 + (1 << 20);
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let small = total_bytes * 1.05 < START_BIG_FILE as f64;
        Ok(TablePlan {
            tree: self.tree,
            columns: self.columns,
            recodes: Vec::new(),
            bounds,
            packed,
            files: self.files,
            file_inputs: self.file_inputs,
            input_entries: self.input_entries,
            selected,
            notes: self.notes,
            lost,
            absent: Vec::new(),
            metadata: metadata + index_memory + chosen,
            copies_fit: small || self.big_keys,
        })
    }

    /// Entries that only some branch has, beyond the tree's own count, make a last cluster.
    fn cover_all(&mut self) {
        let end = self.columns.iter().filter_map(|c| c.pieces.last()).map(Piece::end).max().unwrap_or(0);
        let covered = self.clusters.last().map_or(0, |c| c.first_entry + c.entries);
        if end > covered {
            self.clusters.push(SourceCluster {
                first_entry: covered,
                entries: end - covered,
                bytes: 0.0,
                thinned: false,
            });
        }
    }

    /// How much larger or smaller the output is thought to be than its inputs, by what is known of codecs.
    fn size_factor(&self) -> f64 {
        let mut before = 0.0;
        let mut after = 0.0;
        for column in &self.columns {
            let bytes: f64 = column.pieces.iter().map(|p| f64::from(p.nbytes)).sum();
            before += bytes;
            after += if column.compression.is_none() { bytes * column.expansion } else { bytes };
        }
        if before > 0.0 { after / before } else { 1.0 }
    }

    /// Branches whose baskets leave out their offsets get the branch that counts them.
    fn link_counters(&mut self) {
        let places = self.tree.places();
        for i in 0..self.columns.len() {
            let Some(branch) = self.tree.branches.get(i) else { continue };
            if !self.counted.get(i).copied().unwrap_or(false) {
                continue;
            }
            let mut counter = None;
            let (mut each, mut besides, mut number) = (0u32, 0u32, 0u32);
            for leaf in branch.leaves.iter().filter_map(|&l| self.tree.leaves.get(l)) {
                let len = u32::try_from(leaf.len_type.saturating_mul(leaf.len.max(1))).unwrap_or(0);
                match leaf.leaf_count.and_then(|id| self.tree.leaves.get(places.leaf(id)?)) {
                    Some(c) => {
                        each = each.saturating_add(len);
                        number = leaf.len_type.max(0).unsigned_abs();
                        counter = Some(c);
                    }
                    None => besides = besides.saturating_add(len),
                }
            }
            let Some(counter) = counter.filter(|c| (1..=8).contains(&c.len_type)) else { continue };
            let Some(counting) = self.tree.branches.get(counter.branch) else { continue };
            // Where the count lies among the leaves of its branch.
            let before = counting.leaves.iter().filter_map(|&l| self.tree.leaves.get(l));
            let at = before.take_while(|l| l.id != counter.id).map(|l| l.len_type.max(0).unsigned_abs() as usize).sum();
            let width = counter.len_type.max(0).unsigned_abs() as usize;
            let Some(source) = self.columns.get(counter.branch) else { continue };
            let counter = Arc::new(source.only_pieces());
            if let Some(column) = self.columns.get_mut(i) {
                column.generated = Some(Generated { counter, at, width, each, besides, number });
            }
        }
    }
}

/// Whether a branch has entries of its own, and not only branches below.
pub(crate) fn holds_entries(branch: &Branch) -> bool {
    let is_master = branch.element().is_some_and(|e| matches!(e.element_type, 3 | 4));
    !branch.baskets.is_empty() || branch.children.is_empty() || is_master
}

/// Checks that a basket lies in its file, and that all together can: `room` is what the others leave.
fn check_place(basket: &BasketRef, source: &dyn Source, room: &mut u64) -> Result<()> {
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

/// Adds a basket's bytes to the clusters that it lies in, by the share of its entries.
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
