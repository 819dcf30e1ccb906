//! Runs a request on threads.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{FieldRef, Schema};
use dataset::page_cache::PageCache;
use dataset::table::piece::Piece;
use dataset::table::{Loaded, TableColumn};
use rayon::ThreadPool;
use rootfile::{Error, Result};

use super::column_sink::{ColumnSink, DROPPED_BYTES, OutputMode, PASSED_BYTES, SinkGuard};
use super::cost::ReadCost;
use super::dataset::{Dataset, ReadColumn};
use super::divided::{ColumnResult, Divided};
use super::request::{Request, RequestedEntries};
use super::tasks::{TASK_BYTES, Task, Tasks};
use crate::execute::allocator;
use crate::execute::fetch::read_ahead::ReadAhead;
use crate::execute::fetch::tree::basket_cache::{BasketCache, CacheKey};
use crate::execute::fetch::tree::counters::CounterReader;
use crate::execute::fetch::tree::fetcher::Fetcher;
use crate::execute::progress::{Progress, tell};
use crate::execute::workers::Workers;
use crate::table::piece::spans_several;
use crate::table::tree::column::Column;

/// The result of a read.
#[derive(Clone, Debug)]
pub struct Read {
    /// The columns.
    pub batch: RecordBatch,
    /// The cost of each column.
    pub spent: Vec<ReadCost>,
}

/// Reads a request.
///
/// # Errors
///
/// A record is damaged or cannot be read, a column has a type that cannot be read, the budget is smaller than one cluster of the
/// columns, or the callback ends the work.
pub fn read(dataset: &Dataset, request: &Request<'_>) -> Result<Read> {
    read_on(dataset, request, &Kept::for_one(dataset, request))
}

/// What several requests for consecutive entries of the same columns share.
pub(crate) struct Kept {
    /// Baskets that several of them use.
    cache: BasketCache,
    /// Pages that several of them use, or several pieces.
    pages: Arc<PageCache>,
    /// Bytes that are on their way for them.
    ahead: ReadAhead,
    /// The entries of all of them.
    entries: Range<u64>,
    /// The threads that read.
    team: Option<Arc<ThreadPool>>,
}

impl Kept {
    pub fn new(dataset: &Dataset, request: &Request<'_>, cache: BasketCache) -> Self {
        let room = ReadAhead::room(dataset.files(), request.budget.memory);
        Self {
            cache,
            pages: Arc::default(),
            ahead: ReadAhead::over(dataset.files(), room),
            entries: request.entries(dataset.entries()),
            team: None,
        }
    }

    /// Keeps the baskets that several of the steps between these entries use. They may take `room` bytes.
    pub fn keeping(self, steps: Vec<u64>, room: u64) -> Self {
        Self { cache: self.cache.between(steps, room), ..self }
    }

    /// Reads with the threads of a team.
    pub fn with_team(self, team: Option<Arc<ThreadPool>>) -> Self {
        Self { team, ..self }
    }

    /// For a request that is alone.
    pub fn for_one(dataset: &Dataset, request: &Request<'_>) -> Self {
        Self::new(dataset, request, BasketCache::new(0))
    }
}

/// Reads a request without keeping the result: numbers of RNTuples are decoded page by page, and of other columns arrays are made and
/// dropped, each as soon as it is about as large as a core's cache. Returns the number of entries and the cost of each column. `told`
/// gets the cost of each task.
///
/// # Errors
///
/// As [`read`].
pub fn drain(
    dataset: &Dataset,
    request: &Request<'_>,
    told: &(dyn Fn(&ReadCost) + Sync),
) -> Result<(u64, Vec<ReadCost>)> {
    let requested = RequestedEntries::new(&request.entries(dataset.entries()), request.selection.as_ref());
    let mode = ReadMode { mode: OutputMode::Drop, kept: &Kept::for_one(dataset, request), told };
    let (_, done) = attempt(dataset, request, requested, &mode)?;
    let spent: Result<_> = done.into_iter().map(|(array, spent)| array.map(|_| spent)).collect();
    Ok((requested.count(&requested.span()), spent?))
}

/// Reads a request, with what earlier and later requests share.
pub(crate) fn read_on(dataset: &Dataset, request: &Request<'_>, kept: &Kept) -> Result<Read> {
    let requested = RequestedEntries::new(&request.entries(dataset.entries()), request.selection.as_ref());
    let mode = ReadMode { mode: OutputMode::Keep, kept, told: &|_| () };
    let (plans, done) = attempt(dataset, request, requested, &mode)?;
    batch(&plans, done, &requested)
}

/// The output of a read.
struct ReadMode<'a> {
    mode: OutputMode,
    kept: &'a Kept,
    /// Gets the cost of each task.
    told: &'a (dyn Fn(&ReadCost) + Sync),
}

impl ReadMode<'_> {
    /// Bytes of the pieces of a column that are read in one go.
    fn at_once(&self, plan: &TableColumn) -> u64 {
        match (self.mode, plan) {
            (OutputMode::Keep, _) => u64::MAX,
            (OutputMode::Drop, plan) if plan.can_pass() => PASSED_BYTES,
            (OutputMode::Drop, _) => DROPPED_BYTES,
        }
    }
}

/// Runs a request. A column whose bytes do not fit its plan is read again as bytes.
fn attempt(
    dataset: &Dataset,
    request: &Request<'_>,
    requested: RequestedEntries<'_>,
    mode: &ReadMode<'_>,
) -> Result<(Vec<TableColumn>, Vec<ColumnResult>)> {
    let plan = |&column: &usize| dataset.column(column).cloned().ok_or_else(|| Error::request("no such column"));
    let mut plans: Vec<TableColumn> = request.columns.iter().map(plan).collect::<Result<_>>()?;
    let mut done = run(dataset, &plans, requested, request, mode)?;
    for (plan, done) in plans.iter_mut().zip(&mut done) {
        if let Err(why) = &done.0
            && let Some(opaque) = plan.opaque_because(&why.to_string())
        {
            *plan = opaque;
            if let Some(again) = run(dataset, std::slice::from_ref(plan), requested, request, mode)?.pop() {
                *done = again;
            }
        }
    }
    Ok((plans, done))
}

fn batch(plans: &[TableColumn], done: Vec<ColumnResult>, requested: &RequestedEntries<'_>) -> Result<Read> {
    let fields: Vec<FieldRef> = plans.iter().map(|plan| Arc::clone(plan.field())).collect();
    let mut arrays = Vec::with_capacity(done.len());
    let mut spent = Vec::with_capacity(done.len());
    for (array, cost) in done {
        arrays.push(array?);
        spent.push(cost);
    }
    let rows = usize::try_from(requested.count(&requested.span())).map_err(|_| Error::request("too many entries"))?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options);
    Ok(Read { batch: batch.map_err(|e| Error::corrupt(format!("columns do not fit together: {e}")))?, spent })
}

/// The state that all workers share.
struct ReadJob<'a> {
    dataset: &'a Dataset,
    plans: &'a [TableColumn],
    columns: &'a [ReadColumn<'a>],
    /// Whether each is the first part of its column: entries are told once for every column.
    are_first: Vec<bool>,
    sinks: &'a [ColumnSink],
    requested: RequestedEntries<'a>,
    mode: &'a ReadMode<'a>,
    progress: Progress<'a>,
}

/// The least memory for reading columns in steps between these entries, without the arrays, and the part of it for baskets
/// that several steps use, which are kept.
pub(crate) fn least_memory(dataset: &Dataset, columns: &[usize], steps: &[u64]) -> (u64, u64) {
    let entries = steps.first().copied().unwrap_or(0)..steps.last().copied().unwrap_or(0);
    // Only pieces with more entries than the shortest step can be used by several.
    let shortest = steps.windows(2).map(|step| step[1] - step[0]).min().unwrap_or(u64::MAX);
    let needs_of = |source: &Column| {
        let pieces = source.source.pieces_with(&entries);
        let wide = pieces.iter().filter(|piece| piece.entries > shortest && spans_several(piece, steps));
        (memory_needs(source, &entries), wide.map(|piece| source.unpacked(piece)).max().unwrap_or(0))
    };
    let needs: Vec<(u64, u64)> = columns.iter().filter_map(|&column| dataset.source(column)).map(needs_of).collect();
    let kept = needs.iter().fold(0, |sum: u64, (_, kept)| sum.saturating_add(*kept));
    // The kept basket of a column is dropped while its next one is read.
    let most = needs.iter().map(|(room, own)| room.saturating_add(kept - own)).max().unwrap_or(0);
    (dataset.metadata().saturating_add(most), kept)
}

fn run(
    dataset: &Dataset,
    plans: &[TableColumn],
    requested: RequestedEntries<'_>,
    request: &Request<'_>,
    mode: &ReadMode<'_>,
) -> Result<Vec<ColumnResult>> {
    let divided = Divided::new(dataset, plans, &requested, request.budget)?;
    let columns = &divided.columns;
    let array = |read: &ReadColumn<'_>| match mode.mode {
        OutputMode::Keep => 0,
        OutputMode::Drop => {
            let pieces = read.column.source.overlapping(&requested.span());
            let most = mode.at_once(read.plan).min(read.column.largest_cluster(dataset.clusters(), pieces.clone()));
            read.column.largest(pieces).saturating_add(most)
        }
    };
    // Arrays of unknown size grow by doubling.
    let needs = |read: &ReadColumn<'_>| {
        let array = array(read);
        memory_needs(read.column, &requested.span()).saturating_add(array).saturating_add(array / 8)
    };
    let scratch = columns.iter().map(needs).max().unwrap_or(0);
    let ahead = &mode.kept.ahead;
    let beside = mode.kept.cache.room() + ahead.room_taken();
    let share = request.budget.share(dataset.metadata(), scratch)?.beside(beside, scratch);
    mode.kept.pages.allow(share.waiting / 4);
    mode.kept.pages.share(shared_columns(columns));
    match mode.mode {
        OutputMode::Keep => allocator::keep(share.waiting / 8),
        // What is dropped is made again.
        OutputMode::Drop => allocator::keep_dropped(share.waiting / 8, share.waiting / 2),
    }
    let sink =
        |(plan, read): (&TableColumn, &ReadColumn<'_>)| ColumnSink::new(plan, read.column, &requested, mode.mode);
    let sinks: Vec<ColumnSink> = divided.plans.iter().zip(columns).map(sink).collect();
    let horizon = RequestedEntries::new(&mode.kept.entries, request.selection.as_ref());
    let (progress, are_first) = (request.progress, divided.are_first());
    let shared =
        ReadJob { dataset, plans: &divided.plans, columns, are_first, sinks: &sinks, requested, mode, progress };
    let mut tasks = Tasks::new(columns, dataset.clusters(), (requested, horizon), ahead).for_threads(share.threads);
    let is_free = |task: &Task| sinks.get(task.sink).is_some_and(|sink| sink.try_wait(task.ticket).is_some());
    let give_up = || sinks.iter().for_each(ColumnSink::give_up);
    let workers = Workers::new("the reading", share.threads, request.progress).giving_up(&give_up);
    let workers = workers.with_team(mode.kept.team.as_deref());
    let fetcher = || Fetcher::keeping(Arc::clone(&mode.kept.pages));
    workers.run(|| Ok(tasks.next(is_free)), fetcher, |_, task, fetcher| shared.perform(&task, fetcher))?;
    let done = sinks.into_iter().map(|sink| sink.finish(&requested)).collect();
    Ok(divided.joined(plans, done))
}

/// The stored columns of RNTuples that several fields have: projected fields of one collection share its ends.
fn shared_columns(columns: &[ReadColumn<'_>]) -> HashSet<usize> {
    let fields = columns.iter().filter_map(|read| match read.plan {
        TableColumn::Field(plan) => Some(plan),
        TableColumn::Branch(_) | TableColumn::Array { .. } => None,
    });
    let mut known = HashSet::new();
    fields.flat_map(|plan| plan.columns()).copied().filter(|column| !known.insert(*column)).collect()
}

/// Largest number of bytes that one thread needs for a column, without the array.
fn memory_needs(column: &Column, entries: &Range<u64>) -> u64 {
    super::tasks::memory_needs(column, column.source.overlapping(entries))
}

impl ReadJob<'_> {
    fn perform(&self, task: &Task, fetcher: &mut Fetcher) -> Result<()> {
        let (Some(sink), Some(plan), Some(read)) =
            (self.sinks.get(task.sink), self.plans.get(task.sink), self.columns.get(task.sink))
        else {
            return Ok(());
        };
        let column = read.column;
        let mut counters = self.counters(plan)?;
        let (mut spent, mut loading) = (ReadCost::default(), Duration::ZERO);
        let mut waiting: Vec<(usize, Loaded)> = Vec::new();
        let mut waiting_bytes = 0;
        let mut guard: Option<SinkGuard<'_>> = None;
        let mut pieces = task.pieces.clone();
        while let Some(piece) = column.source.pieces.get(pieces.start).filter(|_| !pieces.is_empty()) {
            let rest = column.source.pieces.get(pieces.clone()).unwrap_or_default();
            if let Some((all, count)) = read.in_one_go(rest, self.mode.at_once(plan)) {
                guard = guard.or_else(|| sink.try_wait(task.ticket));
                if let Some(guard) = &mut guard {
                    self.append(guard, column, &mut waiting, &mut counters, fetcher);
                    let started = Instant::now();
                    self.append_straight(guard, read, &all, fetcher, &mut spent)?;
                    loading += started.elapsed();
                    guard.appended(column.unpacked(&all));
                    pieces.start += count;
                    continue;
                }
            }
            let index = pieces.start;
            pieces.start += 1;
            waiting_bytes += u64::from(piece.packed_len());
            let loaded = match self.mode.kept.cache.take(CacheKey::Column(column.branch), index) {
                Some(data) => Loaded::Basket(data),
                None => {
                    let started = Instant::now();
                    let loaded = self.open(read, index, fetcher, &mut spent)?;
                    loading += started.elapsed();
                    loaded
                }
            };
            waiting.push((index, loaded));
            // No more may wait than is planned for.
            guard = guard.or_else(|| match waiting_bytes < TASK_BYTES {
                true => sink.try_wait(task.ticket),
                false => Some(sink.wait(task.ticket)),
            });
            if let Some(guard) = &mut guard {
                self.append(guard, column, &mut waiting, &mut counters, fetcher);
            }
        }
        let mut guard = guard.unwrap_or_else(|| sink.wait(task.ticket));
        self.append(&mut guard, column, &mut waiting, &mut counters, fetcher);
        // The rest of loading is finding the boundaries of entries, or decoding.
        spent.decode = loading.saturating_sub(spent.fetch + spent.decompress);
        let pieces = column.source.pieces.get(task.pieces.clone()).unwrap_or_default();
        let entries = pieces.iter().map(|piece| self.requested.count(&(piece.first_entry..piece.end()))).sum();
        (self.mode.told)(&spent);
        guard.end(spent);
        tell(self.progress, if self.are_first.get(task.sink) == Some(&false) { 0 } else { entries })
    }

    /// Opens a piece, and adds to its cost.
    fn open(&self, read: &ReadColumn<'_>, index: usize, fetcher: &mut Fetcher, spent: &mut ReadCost) -> Result<Loaded> {
        let piece = read.column.source.pieces.get(index).ok_or_else(|| Error::request("an unknown piece"))?;
        let loaded = read.open(piece, &self.requested, self.mode.kept.ahead.files(), fetcher)?;
        *spent += cost_of(fetcher);
        Ok(loaded)
    }

    /// Decodes a piece to where its values belong, and adds to its cost.
    fn append_straight(
        &self,
        guard: &mut SinkGuard<'_>,
        read: &ReadColumn<'_>,
        piece: &Piece,
        fetcher: &mut Fetcher,
        spent: &mut ReadCost,
    ) -> Result<()> {
        let files = self.mode.kept.ahead.files();
        guard
            .append_by(piece, &self.requested, |values| read.append(piece, &self.requested, files, fetcher, values))?;
        *spent += cost_of(fetcher);
        Ok(())
    }

    /// Appends the waiting pieces.
    fn append(
        &self,
        guard: &mut SinkGuard<'_>,
        column: &Column,
        waiting: &mut Vec<(usize, Loaded)>,
        counters: &mut Option<CounterReader<'_>>,
        fetcher: &mut Fetcher,
    ) {
        for (index, loaded) in waiting.drain(..) {
            let Some(piece) = column.source.pieces.get(index) else { continue };
            let basket = guard.append(piece, loaded, &self.requested, &mut |entries| match counters {
                Some(counters) => counters.values(entries),
                None => Ok(Vec::new()),
            });
            guard.appended(column.unpacked(piece));
            match basket {
                Some(data) if piece.end() > self.requested.span().end => {
                    self.mode.kept.cache.keep(CacheKey::Column(column.branch), (index, piece), data);
                }
                Some(data) => fetcher.give_back(data),
                None => {}
            }
        }
    }

    fn counters(&self, plan: &TableColumn) -> Result<Option<CounterReader<'_>>> {
        if plan.counters().is_empty() {
            return Ok(None);
        }
        let counter = |&node: &usize| {
            let missing = || Error::unsupported("is counted by a branch that is no column");
            let read = self.dataset.read_column(node).ok_or_else(missing)?;
            Ok((read.column, read.plan.branch().ok_or_else(missing)?))
        };
        let columns = plan.counters().iter().map(counter).collect::<Result<_>>()?;
        Ok(Some(CounterReader::new(self.mode.kept.ahead.files(), columns)))
    }
}

/// What a thread has spent on opening since the last call.
fn cost_of(fetcher: &mut Fetcher) -> ReadCost {
    let cost = fetcher.codecs.take_cost();
    ReadCost {
        fetch: fetcher.take_time(),
        decompress: cost.decompress,
        decode: Duration::ZERO,
        baskets: cost.blocks,
        compressed: cost.compressed,
        uncompressed: cost.uncompressed,
    }
}
