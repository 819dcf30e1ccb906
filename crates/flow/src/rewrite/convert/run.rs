//! Runs a plan: divides the memory, and writes the table and what belongs to it.

use std::sync::Arc;

use dataset::layout::{Container, defaults};
use rootfile::Result;

use super::forecast::forecast_converted;
use super::model::{BatchColumn, ConvertMerge, ConvertPlan, ConvertWindows, DefinedColumns};
use super::ntuple::beside::BesideColumns;
use super::work::ConvertWork;
use crate::arrow::read::{Dataset, least_memory, steps};
use crate::arrow::shapes::Shape;
use crate::arrow::write::{AnyTable, TableWriter};
use crate::commit::tree::user_info;
use crate::execute::budget::{Budget, Share};
use crate::execute::order::Order;
use crate::execute::progress::Progress;
use crate::keys::beside_order;
use crate::plan::forecast::Forecast;
use crate::plan::request::TableRequest;
use crate::plan::tree::clusters::of_order;
use crate::reorder::merge::{MergeSteps, ROW, windows};
use crate::reorder::table::{Reordered, reorder_needed, reorder_table};
use crate::rewrite::ntuple::write_attributes;
use crate::rewrite::output_table::{OutputTable, TableMemory, TableOutput, Writing};
use crate::rewrite::summary::{OrderSummary, TableSummary};
use crate::table::depth::Depths;
use crate::table::memory;
use crate::table::text_list::listed;
use crate::table::tree::new_index::MakeTreeIndex;

/// Memory of each branch or column of the output: metadata and buffers.
const STREAM_BYTES: u64 = 2 * memory::STREAM;
/// The arrays of a step take at most this share of the memory, and if that does not fit, as little as this.
const STEP_SHARE: u64 = 8;
const LEAST_STEP: u64 = 1 << 20;
/// The entries of a step are in memory so many times: as arrays, and encoded. The arrays of the next step take memory that waits.
const STEP_COPIES: u64 = 2;
/// What reading on one thread leaves is divided by this number for the open cluster, which gets at least `LEAST_CLUSTER`. Smaller
/// clusters would fill the memory with metadata.
const CLUSTER_SHARE: u64 = 4;
const LEAST_CLUSTER: u64 = 4 << 20;
/// Least bytes of a source that are read at a time, where it is merged with others.
const LEAST_WINDOW: u64 = 512 << 10;
/// A cluster in memory takes up to so many times its bytes.
const CLUSTER_FACTOR: u64 = 5;

impl ConvertPlan {
    /// Plans the steps, and adds up the memory. The whole operation has `budget` bytes.
    pub(super) fn new(
        source: &TableRequest<'_>,
        budget: u64,
        dataset: Dataset,
        read: Vec<usize>,
        columns: Vec<BatchColumn>,
        table: Arc<dyn AnyTable>,
    ) -> Result<Self> {
        Self::with_beside(source, budget, dataset, read, columns, table, Vec::new())
    }

    /// The same where some tables have columns beside those of the data set.
    pub(super) fn with_beside(
        source: &TableRequest<'_>,
        budget: u64,
        dataset: Dataset,
        read: Vec<usize>,
        mut columns: Vec<BatchColumn>,
        table: Arc<dyn AnyTable>,
        beside: Vec<BesideColumns>,
    ) -> Result<Self> {
        for (table, beside) in beside.iter().enumerate() {
            let named = beside.names().iter().cloned().enumerate();
            columns.extend(named.map(|(place, name)| BatchColumn::Beside { name, table, place }));
        }
        let entries = dataset.entries();
        let chosen = source.entries.map(|chosen| chosen(entries)).transpose()?;
        let (selection, ordered, order) = match source.order {
            Some(order) => (None, chosen, Some((Arc::clone(order), of_order(order, dataset.clusters())?))),
            None => (chosen, None, None),
        };
        let bytes = dataset.bytes_of(&read);
        let own = bytes.checked_div(entries).unwrap_or(0);
        let each = beside.iter().fold(own, |sum, table| sum.saturating_add(table.each()));
        let least_cluster = bytes.saturating_mul(CLUSTER_FACTOR).min(LEAST_CLUSTER);
        let metadata = least_metadata(&dataset, table.width()).saturating_add(least_cluster);
        let of_beside = beside.iter().map(|table| table.dataset.metadata());
        let metadata = of_beside.fold(metadata, u64::saturating_add);
        let metadata = metadata.saturating_add(order.as_ref().map_or(0, |(order, _)| order.memory()));
        let reading = |room: u64| Reading::new((&dataset, &read), each, room).beside(&beside);
        let mut chosen = reading(budget / STEP_SHARE);
        if metadata.saturating_add(chosen.memory()) > budget {
            chosen = reading(LEAST_STEP);
        }
        let Reading { steps, step_bytes, kept, scratch } = chosen;
        let (rules, usual) = (
            source.layout.rules(source.path),
            match table.container() {
                Container::Ttree => defaults::COMPRESSION,
                Container::Rntuple => defaults::NTUPLE_COMPRESSION,
            },
        );
        let compression = |column: &usize| {
            let name = dataset.column(*column).map_or("", |column| column.field().name());
            rules.column(&[name]).compression.unwrap_or(usual)
        };
        let compressions = read.iter().map(compression).collect();
        let metadata = metadata.saturating_add(step_bytes.saturating_mul(STEP_COPIES));
        Ok(Self {
            dataset,
            read,
            compressions,
            columns,
            table,
            defined: None,
            beside,
            attributes: None,
            user_info: None,
            selection,
            order,
            ordered,
            merge: None,
            keeps_clusters: source.order.is_some_and(|order| order.bounds().is_some()),
            steps,
            step_bytes,
            least_cluster,
            kept,
            metadata,
            scratch,
        })
    }

    /// The same with columns that are defined, if there are some, whose shapes these are.
    pub(super) fn with_defined(
        mut self,
        defined: Option<DefinedColumns>,
        shapes: impl IntoIterator<Item = Shape>,
    ) -> Self {
        let Some(defined) = defined else { return self };
        let columns = shapes.into_iter().enumerate();
        self.columns.extend(columns.map(|(place, shape)| BatchColumn::Defined { place, shape }));
        self.metadata = self.metadata.saturating_add(defined.dataset.metadata());
        self.defined = Some(defined);
        self
    }

    /// Puts the entries of the table into another order, if one is asked for: they are merged while they are written, or else wait in a
    /// scratch file. Returns what that leaves of the share.
    fn reorder(&mut self, share: Share, progress: Progress<'_>) -> Result<(Share, Option<OrderSummary>)> {
        let Some((order, bounds)) = self.order.take() else { return Ok((share, None)) };
        let one_pass_memory = match self.plan_merge(&order, &bounds, share)? {
            Some(Ok(left)) => return Ok((left, Some(OrderSummary { one_pass: true, one_pass_memory: None }))),
            Some(Err(least)) => Some(beside_order(least.saturating_add(self.metadata).saturating_sub(order.memory()))),
            None => None,
        };
        let own = self.dataset.metadata();
        let budget = Budget { memory: share.free.saturating_add(own), threads: share.threads };
        let columns: Vec<_> = self.read.iter().copied().map(Some).collect();
        let Reordered { dataset, mut held } =
            reorder_table(&self.dataset, &columns, &order, &bounds, budget, progress)?;
        if let Some(DefinedColumns { dataset: source, defined }) = &mut self.defined {
            let budget = Budget { memory: budget.memory.saturating_sub(held), ..budget };
            let reordered = reorder_needed(source, defined, &order, budget, progress)?;
            held = held.saturating_add(reordered.held);
            *source = reordered.dataset;
        }
        self.read = (0..self.read.len()).collect();
        let each = dataset.bytes_of(&self.read).checked_div(dataset.entries()).unwrap_or(0);
        let Reading { steps, step_bytes, kept, scratch } =
            Reading::new((&dataset, &self.read), each, self.step_bytes.max(LEAST_STEP));
        (self.dataset, self.steps, self.step_bytes, self.kept, self.scratch) =
            (dataset, steps, step_bytes, kept, scratch);
        // What was planned for the steps is theirs now.
        let left = Budget { memory: share.free.saturating_sub(held), threads: share.threads }.share(0, scratch)?;
        Ok((left, Some(OrderSummary { one_pass: false, one_pass_memory })))
    }

    /// Plans to merge the rows of an order in one pass. Returns what that leaves of the share; None if the sources are not in this order. The
    /// inner error is the least memory if there is less.
    fn plan_merge(
        &mut self,
        order: &Arc<Order>,
        bounds: &[u64],
        share: Share,
    ) -> Result<Option<std::result::Result<Share, u64>>> {
        let (Some(ends), own, clusters) = (order.merged(), self.dataset.metadata(), self.dataset.clusters()) else {
            return Ok(None);
        };
        let each = self.dataset.bytes_of(&self.read).checked_div(self.dataset.entries()).unwrap_or(0);
        let with_place = each.saturating_add(ROW);
        let rows = steps(bounds, with_place, self.step_bytes.max(LEAST_STEP));
        let longest = rows.windows(2).map(|step| step[1] - step[0]).max().unwrap_or(0);
        // The rows of a step are in memory once more: as they are in the windows.
        let step_bytes = longest.saturating_mul(with_place);
        let cluster = clusters.windows(2).map(|bounds| bounds[1] - bounds[0]).max().unwrap_or(0).max(1);
        // Only whole row groups are read once.
        let least = match self.dataset.container() {
            Some(_) => (LEAST_WINDOW / each.max(1)).clamp(1, cluster),
            None => cluster,
        };
        let needs = |most: u64| {
            let windows = windows(clusters, ends, most);
            let needs: Vec<(u64, u64)> =
                windows.iter().map(|bounds| least_memory(&self.dataset, &self.read, bounds)).collect();
            let longest = |bounds: &Vec<u64>| bounds.windows(2).map(|part| part[1] - part[0]).max().unwrap_or(0);
            let held = windows.iter().map(longest).sum::<u64>().saturating_mul(each);
            let kept: Vec<u64> = needs.iter().map(|(_, kept)| *kept).collect();
            let held = kept.iter().copied().fold(held.saturating_add(step_bytes), u64::saturating_add);
            let reading = needs.iter().map(|(least, _)| least.saturating_sub(own)).max().unwrap_or(0);
            (ConvertWindows { windows, kept }, held, reading.saturating_add(memory::CODECS))
        };
        // As much as half of the memory has room for.
        let room = (share.free / 2).saturating_sub(step_bytes) / each.max(1) / (ends.len() as u64).max(1);
        let mut chosen = needs(room.clamp(least, cluster));
        if chosen.1.saturating_add(chosen.2) > share.free {
            chosen = needs(least);
        }
        let (windows, held, scratch) = chosen;
        if held.saturating_add(scratch) > share.free {
            return Ok(Some(Err(held.saturating_add(scratch))));
        }
        let Some(merge) = MergeSteps::new(order, rows.clone())? else { return Ok(None) };
        (self.steps, self.step_bytes, self.scratch) = (rows, step_bytes, scratch);
        self.merge = Some(ConvertMerge { steps: merge, bounds: bounds.to_vec(), windows });
        Budget { memory: share.free - held, threads: share.threads }.share(0, scratch).map(|left| Some(Ok(left)))
    }

    /// The share for reading beside the cluster that is filled, and the memory of that cluster. A cluster ends where its memory
    /// ends, so this is the same for any number of threads.
    pub(super) fn divide(&self, share: Share) -> (Share, u64) {
        let more = share.free.saturating_sub(self.scratch) / CLUSTER_SHARE;
        let beside = share.beside(more, self.scratch);
        (beside, (self.least_cluster + more).max(1 << 20))
    }

    /// The budget for reading, which counts the metadata of the inputs again.
    pub(super) fn reading(&self, share: Share) -> Budget {
        let scratch = self.scratch.saturating_sub(memory::CODECS).saturating_mul(share.threads as u64);
        Budget {
            memory: self.dataset.metadata().saturating_add(scratch).saturating_add(share.waiting / 2),
            threads: share.threads,
        }
    }
}

/// Memory of the metadata of what is read and of what is written, so many branches or columns. With less a plan is refused.
pub(super) fn least_metadata(dataset: &Dataset, width: u64) -> u64 {
    dataset.metadata().saturating_add(width.saturating_mul(STREAM_BYTES))
}

/// The steps in which entries are read, and the memory for it.
struct Reading {
    steps: Vec<u64>,
    step_bytes: u64,
    kept: u64,
    scratch: u64,
}

impl Reading {
    /// Steps whose arrays take about `room` bytes, if an entry of about `each` bytes does not take more.
    fn new((dataset, columns): (&Dataset, &[usize]), each: u64, room: u64) -> Self {
        let steps = steps(dataset.clusters(), each, room);
        let longest = steps.windows(2).map(|step| step[1] - step[0]).max().unwrap_or(0);
        let (least, kept) = least_memory(dataset, columns, &steps);
        let scratch = least.saturating_sub(dataset.metadata()).saturating_add(memory::CODECS);
        Self { steps, step_bytes: longest.saturating_mul(each), kept, scratch }
    }

    /// The same where the entries of other tables are read in these steps as well.
    fn beside(mut self, tables: &[BesideColumns]) -> Self {
        for table in tables {
            let (least, kept) = least_memory(&table.dataset, &table.read, &self.steps);
            self.scratch = self.scratch.saturating_add(least.saturating_sub(table.dataset.metadata()));
            self.kept = self.kept.max(kept);
        }
        self
    }

    /// With one thread.
    fn memory(&self) -> u64 {
        self.scratch.saturating_add(self.step_bytes.saturating_mul(STEP_COPIES))
    }
}

impl OutputTable for ConvertPlan {
    fn memory(&self, _check: bool) -> TableMemory {
        TableMemory { metadata: self.metadata, kept: 0, scratch: self.scratch }
    }

    fn put_index(&mut self, make: MakeTreeIndex<'_>) -> Result<()> {
        self.metadata = self.metadata.saturating_add(self.table.put_index(make)?);
        Ok(())
    }

    fn forecast(&self, path: &str, share: Share, seconds: f64) -> Result<Forecast> {
        forecast_converted(self, path, share, seconds)
    }

    fn write(
        mut self: Box<Self>,
        output: &mut TableOutput<'_>,
        how: &Writing<'_>,
    ) -> Result<(TableSummary, Vec<String>)> {
        let TableOutput { writer: file, directory, place } = output;
        let input_entries = self.dataset.entries();
        let (share, order) = self.reorder(how.share, how.progress)?;
        let (beside, cluster) = self.divide(share);
        let budget = self.reading(beside);
        // One half of what waits is for reading.
        let overlaps = self.step_bytes <= beside.waiting / 2;
        let lost = match self.user_info.take() {
            Some((tree, source)) => {
                tree.with_record(|tree| user_info::copy_trees(tree, &place.path, &*source, file, *directory))?
            }
            None => None,
        };
        let team = budget.helpers()?;
        let work = ConvertWork { plan: &self, steps: &self.steps, budget, team: team.as_ref(), overlaps };
        let exact = match Arc::clone(&self.table).first_pass()? {
            Some(mut pass) => {
                work.look(&mut *pass, how.progress)?;
                Some(pass.end()?)
            }
            None => None,
        };
        let mut writer = TableWriter::new(file, *directory, Arc::clone(&self.table), (team.clone(), cluster))?;
        let numbered = work.run((&mut **file, &mut writer), how.progress)?;
        writer.flush(file)?;
        if let Some((ntuple, sets)) = self.attributes.take() {
            write_attributes(file, sets, how, |file, set, content| {
                ntuple.with_open(|open| open.table.link(file, set, &content.open))
            })?;
        }
        let clusters_cut = writer.clusters_cut();
        let written = writer.finish(file, how.compression)?;
        let summary = TableSummary {
            path: place.path.clone(),
            container: written.container,
            input_entries,
            entries: written.entries,
            clusters: written.clusters,
            baskets: written.baskets,
            tot_bytes: written.tot_bytes,
            zip_bytes: written.zip_bytes,
            key_bytes: written.key_bytes,
            checksum_bytes: written.checksum_bytes,
            depths: Depths { recode: written.clusters, ..Depths::default() },
            exact,
            order,
            clusters_cut,
        };
        let mut lost = Vec::from_iter(lost);
        if !numbered.is_empty() {
            let (names, path) = (listed(&Vec::from_iter(numbered)), &place.path);
            lost.push(format!("tree {path}: fUniqueID and fBits of the objects in {names} are not carried over"));
        }
        Ok((summary, lost))
    }
}
