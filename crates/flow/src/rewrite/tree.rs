//! Moves the records of a tree: runs the engine, updates the metadata with what was written, and writes the record of the tree.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use dataset::layout::Container;
use dataset::tree::{BasketRef, read_tree};
use rootfile::codec::Compression;
use rootfile::{Error, Key, Result, RootFile, Run, START_BIG_FILE};

use super::output_table::{ExpectedBaskets, OutputTable, TableMemory, TableOutput, Writing};
use super::summary::{OrderSummary, TableSummary};
use crate::commit::tree::finalize::{self, BufferSize, ClosedColumn};
use crate::commit::tree::sink::WrittenColumn;
use crate::commit::tree::user_info;
use crate::execute::budget::{Budget, Share, too_small};
use crate::execute::engine::tree::job::Job;
use crate::execute::engine::tree::run::run;
use crate::execute::order::Order;
use crate::keys::beside_order;
use crate::plan::forecast::Forecast;
use crate::plan::tree::TablePlan;
use crate::plan::tree::forecast::forecast_table;
use crate::reorder::tree::{TreeMerge, reorder_tree};
use crate::table::depth::Depths;
use crate::table::target::Shape;
use crate::table::tree::column::Column;
use crate::table::tree::new_index::{MakeTreeIndex, put_index};

impl OutputTable for TablePlan {
    fn memory(&self, check: bool) -> TableMemory {
        TableMemory { metadata: self.metadata, kept: self.kept(), scratch: self.scratch(check) }
    }

    fn tree(&self) -> Option<&TablePlan> {
        Some(self)
    }

    fn tree_mut(&mut self) -> Option<&mut TablePlan> {
        Some(self)
    }

    fn put_index(&mut self, make: MakeTreeIndex<'_>) -> Result<()> {
        self.metadata = self.metadata.saturating_add(put_index(&mut self.tree, make)?);
        Ok(())
    }

    fn forecast(&self, path: &str, _: Share, seconds: f64) -> Result<Forecast> {
        forecast_table(self, path, seconds)
    }

    fn into_tree(self: Box<Self>) -> Option<Box<TablePlan>> {
        Some(self)
    }

    fn write(
        mut self: Box<Self>,
        output: &mut TableOutput<'_>,
        how: &Writing<'_>,
    ) -> Result<(TableSummary, Vec<String>)> {
        let (written, order) = match self.order.clone() {
            None => (move_records(&self, output, how)?, None),
            Some(order) => {
                let (written, order) = move_ordered(&mut self, &order, output, how)?;
                (written, Some(order))
            }
        };
        let (summary, lost) = finish(output, *self, written, how.compression)?;
        Ok((TableSummary { order, ..summary }, lost))
    }

    fn write_metadata(
        self: Box<Self>,
        output: &mut TableOutput<'_>,
        compression: Compression,
        expected: &mut ExpectedBaskets<'_>,
    ) -> Result<()> {
        let bounds = &self.clusters.bounds;
        let written_column = |column: &Column| {
            let lineage: Vec<&str> = self.tree.lineage(column.branch).into_iter().rev().collect();
            let baskets = (expected.of)(&lineage, bounds);
            let zip_bytes = baskets.iter().map(|basket| u64::from(basket.nbytes)).sum();
            WrittenColumn { baskets, zip_bytes, tot_bytes: column.source.tot_bytes, ..WrittenColumn::default() }
        };
        let mut written: Vec<WrittenColumn> = self.columns.iter().map(written_column).collect();
        // Cluster by cluster, as they would be written.
        let mut all: Vec<&mut BasketRef> = written.iter_mut().flat_map(|column| &mut column.baskets).collect();
        all.sort_by_key(|basket| bounds.partition_point(|&bound| bound <= basket.first_entry));
        for basket in all {
            basket.seek = expected.seek;
            expected.seek += u64::from(basket.nbytes);
        }
        finish(output, *self, written, compression).map(drop)
    }
}

/// Writes the baskets of a tree whose entries are in another order than those of its inputs.
fn move_ordered(
    plan: &mut TablePlan,
    order: &Order,
    output: &mut TableOutput<'_>,
    how: &Writing<'_>,
) -> Result<(Vec<WrittenColumn>, OrderSummary)> {
    let pid_offsets = of_files(plan, how.pid_offsets, 0);
    let writing = plan.kept().saturating_add(plan.scratch(how.check));
    let all = how.share.free.saturating_add(plan.metadata);
    let shared = |plan: &TablePlan, Share { free, threads, .. }: Share| {
        let (kept, scratch) = (plan.kept(), plan.scratch(how.check));
        // What waits in memory may take a third of it.
        let (needs, used) = (kept.saturating_add(scratch), all.saturating_sub(free));
        let least = needs.saturating_add(used).max(plan.metadata.saturating_add(needs.saturating_mul(3) / 2));
        let share = Budget { memory: free, threads }.share(kept, scratch).map_err(|_| too_small(all, least, ""))?;
        Ok::<_, Error>(Writing { share, ..*how })
    };
    let merge = TreeMerge::new(plan, order, writing, how.share);
    let one_pass_memory = match merge {
        Some(Ok(merge)) => {
            let mut written = vec![WrittenColumn::default(); plan.columns.len()];
            merge.run(plan, &pid_offsets, how.progress, &mut |part| {
                let more = move_records(part, output, &shared(part, merge.writing)?)?;
                written.iter_mut().zip(more).for_each(|(column, more)| column.append(more));
                Ok(())
            })?;
            return Ok((written, OrderSummary { one_pass: true, one_pass_memory: None }));
        }
        Some(Err(least)) => Some(beside_order(least.saturating_add(plan.metadata).saturating_sub(order.memory()))),
        None => None,
    };
    let held = reorder_tree(plan, order, &pid_offsets, how.share, how.progress)?;
    let left = Share { free: how.share.free.saturating_sub(held), ..how.share };
    let written = move_records(plan, output, &shared(plan, left)?)?;
    Ok((written, OrderSummary { one_pass: false, one_pass_memory }))
}

/// Writes the baskets of a tree.
pub(crate) fn move_records(
    plan: &TablePlan,
    output: &mut TableOutput<'_>,
    how: &Writing<'_>,
) -> Result<Vec<WrittenColumn>> {
    let pid_offsets = of_files(plan, how.pid_offsets, 0);
    let mut pids = of_files(plan, how.pid_counts, u16::MAX);
    // Files that only hold baskets follow the file of their tree, and have process identifiers of their own.
    for (i, known) in pids.iter_mut().enumerate() {
        let (before, own) = plan.file_inputs.split_at(i);
        if own.first().is_some_and(|input| before.contains(input)) {
            *known = u16::MAX;
        }
    }
    let job = Job {
        files: &plan.files,
        pid_offsets: &pid_offsets,
        columns: &plan.columns,
        recodes: &plan.recodes,
        bounds: &plan.clusters.bounds,
        packed: &plan.clusters.packed,
        seek_pdir: output.writer.claim(output.directory)?,
        stays: how
            .stays
            .and_then(|name| plan.files.iter().position(|file| file.name() == name))
            .and_then(|at| u32::try_from(at).ok()),
        copies_fit: plan.copies_fit && (how.stays.is_none() || plan.big_keys || fits(plan, output.writer.position())),
        check: how.check,
        pids: &pids,
    };
    run(&job, output.writer, how.share, how.progress)
}

/// Whether all records of a plan that are moved lie below 2 GB behind a position.
fn fits(plan: &TablePlan, position: u64) -> bool {
    let pieces = plan.columns.iter().flat_map(|column| &column.source.pieces);
    let bytes: u64 = pieces.map(|piece| u64::from(piece.packed_len())).sum();
    position.saturating_add(bytes + bytes / 20) < START_BIG_FILE
}

/// What is known of the inputs, for each file of a plan.
fn of_files(plan: &TablePlan, of_inputs: &[u16], unknown: u16) -> Vec<u16> {
    plan.file_inputs.iter().map(|&n| of_inputs.get(n).copied().unwrap_or(unknown)).collect()
}

/// Writes the record of a tree whose baskets are written. Returns its report, and notes on what is lost.
pub(crate) fn finish(
    output: &mut TableOutput<'_>,
    mut plan: TablePlan,
    written: Vec<WrittenColumn>,
    compression: Compression,
) -> Result<(TableSummary, Vec<String>)> {
    let TableOutput { writer, directory, place } = output;
    let mut summary = TableSummary {
        depths: written.iter().fold(Depths::default(), |sum, column| sum + column.depths),
        path: place.path.clone(),
        container: Container::Ttree,
        clusters: (plan.clusters.bounds.len() as u64).saturating_sub(1),
        baskets: written.iter().map(|w| w.baskets.len() as u64).sum(),
        key_bytes: written.iter().map(|w| w.key_bytes).sum(),
        ..TableSummary::default()
    };
    close(&mut plan, written);
    let ends_early = |branch| plan.columns.iter().any(|column| column.branch == branch && column.source.ends_early);
    plan.tree.check_baskets(ends_early)?;
    summary.input_entries = plan.input_entries.iter().sum();
    summary.entries = plan.tree.entries;
    summary.tot_bytes = plan.tree.tot_bytes;
    summary.zip_bytes = plan.tree.zip_bytes;
    let mut tree = plan.tree;
    let mut notes = Vec::from_iter(user_info::drop_unmovable(&mut tree, &place.path));
    if let Some(source) = plan.files.first() {
        notes.extend(user_info::copy_trees(&mut tree, &place.path, &**source, writer, *directory)?);
    }
    finalize::write_tree(writer, *directory, &tree, &place.name, compression)?;
    Ok((summary, notes))
}

/// Updates the tree's metadata with what was written.
pub(crate) fn close(plan: &mut TablePlan, written: Vec<WrittenColumn>) {
    let outputs = plan.recodes.iter().flat_map(|recode| &recode.outputs).filter(|output| output.plan.counts);
    let maxima: HashMap<usize, u64> =
        outputs.map(|output| (output.column, output.maximum.load(Ordering::Relaxed))).collect();
    let columns = plan.columns.iter().zip(written).enumerate().map(|(number, (column, written))| ClosedColumn {
        branch: column.branch,
        had_data: !column.source.pieces.is_empty() || !written.baskets.is_empty(),
        compression: column.target.compression,
        buffer: match (column.target.memory_ratio, column.target.shape) {
            (Some(ratio), _) => BufferSize::Times(ratio),
            (None, Shape::PerCluster) => BufferSize::Times(1.0),
            (None, Shape::Size(size)) => BufferSize::Bytes(u64::from(size)),
            (None, Shape::Keep(_)) => {
                column.target.packed_size.map_or(BufferSize::Keep, |size| BufferSize::Bytes(size.into()))
            }
        },
        maximum: maxima.get(&number).copied(),
        written,
    });
    let entries = plan.entries();
    finalize::close_tree(&mut plan.tree, entries, &plan.clusters.bounds, columns);
}

/// The records with the content of a tree in a file.
pub(super) fn content(file: &RootFile, key: &Key) -> Result<Vec<Run>> {
    let tree = read_tree(file, key)?;
    let baskets = tree.branches.iter().flat_map(|branch| &branch.baskets).filter(|basket| basket.seek > 0);
    Ok(baskets.map(|basket| Run { first: basket.seek, len: basket.nbytes.into() }).collect())
}
