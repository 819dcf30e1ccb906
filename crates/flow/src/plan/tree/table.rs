//! The plan of one table: its schema, its columns with all their pieces, and its clusters.

use std::collections::HashSet;
use std::sync::Arc;

use dataset::table::piece::Piece;
use dataset::tree::{Tree, read_tree};
use rootfile::{Error, Key, Result, RootFile, START_BIG_FILE};

use super::attached::aliases;
use super::builder::PlanBuilder;
use super::clusters::{self, Clustering, SourceCluster};
use super::model::{OutputClusters, PlanMessages, TablePlan};
use super::optimise::optimise_recoded;
use super::relations::MakeIndex;
use super::unequal::Gaps;
use super::{external_files, precision, recode};
use crate::plan::options::{Absent, Pack};
use crate::plan::request::{TableInput, TableRequest};
use crate::table::memory;
use crate::table::tree::column::CountedOffsets;

/// Plans a table. An index that not all inputs have is left out.
pub(crate) fn plan_table(request: &TableRequest<'_>, gaps: Gaps) -> Result<TablePlan> {
    plan_indexed_table(request, gaps, None)
}

/// Plans a table. `make` makes an index for inputs without one, if others have one.
pub(crate) fn plan_indexed_table<'a>(
    request: &'a TableRequest<'a>,
    gaps: Gaps,
    make: Option<MakeIndex<'a>>,
) -> Result<TablePlan> {
    let mut planner = TablePlanner::new(request, gaps).make_index(make);
    for input in request.inputs {
        planner.add(input, read_tree)?;
    }
    planner.finish()
}

/// Plans a table from inputs that are added one by one.
pub(crate) struct TablePlanner<'a> {
    request: &'a TableRequest<'a>,
    gaps: Gaps,
    builder: Option<PlanBuilder<'a>>,
    /// Names of all branches of all inputs.
    names: HashSet<String>,
    /// Branches that are left out because the file with their baskets is absent, with the reason.
    absent: Vec<(String, String)>,
    make_index: Option<MakeIndex<'a>>,
}

impl<'a> TablePlanner<'a> {
    /// What becomes of entries that a branch does not hold, is in `gaps`.
    pub fn new(request: &'a TableRequest<'a>, gaps: Gaps) -> Self {
        Self { request, gaps, builder: None, names: HashSet::new(), absent: Vec::new(), make_index: None }
    }

    /// How an index is made for inputs without one, if others have one.
    pub fn make_index(mut self, make: Option<MakeIndex<'a>>) -> Self {
        self.make_index = make;
        self
    }

    /// Adds the tree of one input. `read` reads the tree of a key. After an error the plan must not be finished.
    pub fn add(
        &mut self,
        (number, file, key): &TableInput,
        read: impl FnOnce(&RootFile, &Key) -> Result<Tree>,
    ) -> Result<()> {
        if let Some(problem) = file.infos_problem() {
            return Err(Error::corrupt(problem.to_string()).file(file.name()));
        }
        let mut tree = read(file, key)?;
        if self.request.options.replaces_index {
            tree.tree_index = None;
        }
        if self.gaps != Gaps::LeftOut {
            tree.check_entries().map_err(|e| e.file(file.name()))?;
        }
        if let Some(added) = self.request.added {
            added.add_to(*number, &mut tree).map_err(|e| e.file(file.name()))?;
        }
        for branch in &tree.branches {
            if !self.names.contains(branch.name()) {
                self.names.insert(branch.name().to_owned());
            }
        }
        self.filter(&mut tree);
        self.treat_absent(&mut tree, file)?;
        let added = match &mut self.builder {
            None => PlanBuilder::start(self.request, self.gaps, tree, (*number, file))
                .map(|started| self.builder = Some(started)),
            Some(builder) => builder.join(tree, (*number, file)),
        };
        added.map_err(|e| e.file(file.name()))
    }

    /// Drops the branches that are not requested.
    fn filter(&self, tree: &mut Tree) {
        if !self.request.filter.keeps_all() {
            let path = self.request.path;
            let filter = self.request.filter.of_table(path, (0..tree.branches.len()).map(|i| tree.lineage(i)));
            let is_added = |lineage: &[&str]| {
                self.request.added.is_some_and(|added| lineage.last().is_some_and(|top| added.has(top)))
            };
            let keeps = |i| filter.keeps(path, &tree.lineage(i)) || is_added(&tree.lineage(i));
            let keep: Vec<bool> = (0..tree.branches.len()).map(keeps).collect();
            tree.select(&keep);
        }
    }

    /// Refuses or drops branches whose baskets are in an absent file, as requested.
    fn treat_absent(&mut self, tree: &mut Tree, file: &RootFile) -> Result<()> {
        let policy = self.request.options.absent;
        if policy == Absent::Fail {
            return Ok(());
        }
        let found = external_files::absent(tree, file);
        match policy {
            Absent::Refuse if !found.is_empty() => return Err(external_files::refuse(&found).file(file.name())),
            Absent::LeaveOut if !found.is_empty() => {
                let keep: Vec<bool> = (0..tree.branches.len()).map(|i| !found.iter().any(|a| a.branch == i)).collect();
                for branch in found {
                    if !self.absent.iter().any(|(name, _)| *name == branch.name) {
                        self.absent.push((branch.name, branch.why.text));
                    }
                }
                tree.select(&keep);
            }
            _ => {}
        }
        Ok(())
    }

    pub fn finish(self) -> Result<TablePlan> {
        let mut plan = self.builder.ok_or_else(|| Error::request("no input"))?.finish(self.make_index)?;
        let names = Arc::new(self.names);
        plan.columns.iter_mut().for_each(|column| column.source.siblings = Arc::clone(&names));
        recode::apply(&mut plan, self.request);
        precision::apply(&mut plan, self.request);
        optimise_recoded(&mut plan, &self.request.layout.rules(self.request.path).tree);
        plan.messages.absent = self.absent;
        Ok(plan)
    }
}

impl PlanBuilder<'_> {
    fn finish(mut self, make_index: Option<MakeIndex<'_>>) -> Result<TablePlan> {
        if self.relations.refs_differ()
            && let Some(refs) = self.tree.branch_ref.take()
        {
            self.leave_out(refs);
        }
        let widened = self.widened_texts();
        self.drop_left_out()?;
        self.note_kept(widened);
        self.fill_all()?;
        self.link_counters();
        self.link_filled()?;
        let order = self.request.order.cloned();
        let entries = self.request.entries.filter(|_| order.is_none());
        let selected = entries.map(|of| of(self.entries)).transpose()?.map(Arc::new);
        self.finish_gaps(selected.is_some() || order.is_some())?;
        let is_selected = selected.is_some() || order.is_some();
        self.relations.check_values(&aliases(&self.tree), &self.attached.aliases, is_selected);
        self.relations.complete(&self.input_entries, make_index, self.request.path, &mut self.notes)?;
        if let Some(order) = &order {
            self.relations.reorder(order)?;
            if order.has_missing() {
                self.prepare_missing_rows()?;
            }
        }
        let index_memory = self.relations.memory();
        let relations = std::mem::take(&mut self.relations);
        let mut lost = Vec::new();
        relations.finish(&mut self.tree, selected.as_deref(), self.request.path, &mut lost);
        let (left_out, alias_conflicts) = std::mem::take(&mut self.attached).finish();
        lost.extend(left_out);
        let usual = clusters::mean(&self.clusters);
        match &selected {
            Some(selected) => clusters::thin(&mut self.clusters, selected),
            None => self.cover_all(),
        }
        let factor = self.size_factor();
        for cluster in &mut self.clusters {
            cluster.bytes *= factor;
        }
        let clustering = match (self.rules.tree.cluster, self.request.options.pack) {
            (Some(size), _) => Clustering::Size(size),
            (None, Pack::Bytes(bytes)) => Clustering::Pack(bytes),
            (None, Pack::Auto) => Clustering::Pack(clusters::target_size(&self.clusters, self.tree.auto_flush)),
            (None, Pack::No) if selected.is_some() => Clustering::Refill(usual),
            (None, Pack::No) => Clustering::Keep,
        };
        let mut bounds = clusters::bounds(&self.clusters, clustering)?;
        let mut packed = clusters::are_packed(&self.clusters, &bounds);
        if let Some(order) = &order {
            // No record is copied.
            self.columns.iter_mut().for_each(|column| column.target.met_by_file.clear());
            bounds = clusters::of_order(order, &bounds)?;
            packed = vec![false; bounds.len().saturating_sub(1)];
        }
        self.optimise(&bounds);
        self.optimise_packed(&bounds, &packed);
        let pieces: u64 = self.columns.iter().map(|c| c.source.pieces.len() as u64).sum();
        let chosen = selected.as_ref().map_or(0, |selected| {
            self.columns.iter_mut().for_each(|column| column.source.select(selected));
            selected.memory() + self.columns.iter().map(|column| column.source.selection_memory()).sum::<u64>()
        });
        let branches = self.tree.branches.len() as u64;
        let total_bytes: f64 = self.clusters.iter().map(|c| c.bytes).sum();
        let clusters = bounds.len() as u64;
        let written: u64 = self.columns.iter().map(|c| c.most_baskets(clusters)).sum();
        // Reordered entries are in baskets as they will be written.
        let pieces = if order.is_some() { pieces.saturating_add(written) } else { pieces };
        let metadata = branches * memory::STREAM
            + order.as_ref().map_or(0, |order| order.memory())
            + pieces * memory::PIECE
            + written.saturating_mul(memory::WRITTEN_BASKET)
            + clusters * memory::CLUSTER
            + memory::TABLE;
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let small = total_bytes * 1.05 < START_BIG_FILE as f64;
        Ok(TablePlan {
            tree: self.tree,
            infos: self.infos,
            columns: self.columns,
            recodes: Vec::new(),
            clusters: OutputClusters { bounds, packed },
            files: self.files,
            file_inputs: self.file_inputs,
            input_entries: self.input_entries,
            selected,
            order,
            messages: PlanMessages {
                notes: self.notes,
                remarks: self.remarks,
                lost,
                absent: Vec::new(),
                alias_conflicts,
            },
            metadata: metadata + index_memory + chosen,
            copies_fit: small || self.big_keys,
            big_keys: self.big_keys,
        })
    }

    /// Adds a last cluster for entries beyond the tree's own count, which only some branches have.
    fn cover_all(&mut self) {
        let end = self.columns.iter().filter_map(|c| c.source.pieces.last()).map(Piece::end).max().unwrap_or(0);
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

    /// Estimated size of the output relative to the inputs, by the codecs.
    fn size_factor(&self) -> f64 {
        let mut before = 0.0;
        let mut after = 0.0;
        for column in &self.columns {
            let bytes: f64 = column.source.pieces.iter().map(|p| f64::from(p.packed_len())).sum();
            before += bytes;
            after += if column.target.compression.is_none() { bytes * column.source.expansion } else { bytes };
        }
        if before > 0.0 { after / before } else { 1.0 }
    }

    /// Links branches whose baskets leave out their offsets to the branches that count them.
    fn link_counters(&mut self) {
        let places = self.tree.places();
        for i in 0..self.columns.len() {
            let Some(branch) = self.tree.branches.get(i) else { continue };
            if !self.columns.get(i).is_some_and(|column| column.form.leaves_out_offsets) {
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
            // Offset of the count among the leaves of its branch.
            let before = counting.leaves.iter().filter_map(|&l| self.tree.leaves.get(l));
            let at = before.take_while(|l| l.id != counter.id).map(|l| l.len_type.max(0).unsigned_abs() as usize).sum();
            let width = counter.len_type.max(0).unsigned_abs() as usize;
            let Some(source) = self.columns.get(counter.branch) else { continue };
            let counter = Arc::new(source.only_source());
            if let Some(column) = self.columns.get_mut(i) {
                column.form.counted = Some(CountedOffsets { counter, at, width, each, besides, number });
            }
        }
    }
}
