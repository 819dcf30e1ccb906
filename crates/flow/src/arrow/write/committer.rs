//! Commits finished clusters of all fill contexts: one thread at a time appends them to the file, as they arrive or in the
//! order of their tasks, while the others continue. An error here or in a context abandons the output.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use rootfile::{Error, FileWriter, Result};

use super::commit_order::{CommitOrder, Ticket};
use super::conform::Casting;
use super::context_buffers::ContextBuffers;
use super::finished_cluster::{Content, FinishedCluster};
use super::memory_limiter::{AtStandstill, Growth, QueuePosition, stopped};
use super::metrics::Metrics;
use super::open_table::TableRecord;
use super::options::{Order, WriteOptions};
use super::output::{NewObject, Output};
use super::spill::SpillFile;
use super::table_plan::TablePlan;
use super::write_pool::WritePool;
use super::written::Written;
use crate::execute::encode::clocks::Clocks;
use crate::execute::encode::scratch::EncodeScratchPool;

/// The state of a writer, shared by its fill contexts.
pub(crate) struct Committer {
    pub pool: WritePool,
    pub order: Order,
    pub casting: Casting,
    state: Mutex<State>,
    /// The file, if it was not given up. Lock order: the state's lock comes before this one.
    output: Mutex<Option<Output>>,
    /// Lock order: the state's lock comes before this one.
    spill: Mutex<SpillFile>,
    stopped: AtomicBool,
    /// How often columns were added to a table.
    extensions: AtomicUsize,
}

struct State {
    tables: Vec<TableQueue>,
    /// The first error.
    error: Option<String>,
    clocks: Vec<Arc<Clocks>>,
    /// Number of contexts that are not finished.
    open: usize,
    /// Whether a thread is appending clusters.
    appending: bool,
    totals: Totals,
}

/// The clusters of one table that are not in the file yet.
struct TableQueue {
    /// Its plans: each has the columns of the one before, and more.
    plans: Vec<Arc<TablePlan>>,
    commits: CommitOrder<FinishedCluster>,
    /// Bytes that the largest cluster took while it was filled.
    largest: u64,
    /// Buffers of finished contexts.
    idle_buffers: Vec<ContextBuffers>,
}

/// Totals of the clusters in the file.
#[derive(Default)]
struct Totals {
    entries: u64,
    clusters: u64,
    bytes: u64,
    /// Bytes of clusters that wait to be appended.
    queued: u64,
    appending: Duration,
}

/// The parts of a new context that the committer provides.
pub(crate) struct ContextStart {
    pub plan: Arc<TablePlan>,
    pub clocks: Arc<Clocks>,
    pub ticket: Ticket,
}

impl State {
    /// The next cluster of any table that can be appended.
    fn next(&mut self) -> Option<(usize, FinishedCluster)> {
        let mut queues = self.tables.iter_mut().enumerate();
        let (table, cluster) = queues.find_map(|(table, queue)| Some((table, queue.commits.next()?)))?;
        self.totals.queued = self.totals.queued.saturating_sub(cluster.reserved);
        Some((table, cluster))
    }

    fn table(&mut self, table: usize) -> Result<&mut TableQueue> {
        self.tables.get_mut(table).ok_or_else(|| Error::request("a table of another writer"))
    }

    fn check(&self) -> Result<()> {
        match &self.error {
            Some(why) => Err(Error::request(format!("the output was given up: {why}"))),
            None => Ok(()),
        }
    }
}

impl TableQueue {
    /// The plan with all columns.
    fn newest(&self) -> Result<&Arc<TablePlan>> {
        self.plans.last().ok_or_else(stopped)
    }
}

impl Committer {
    pub fn new(file: FileWriter, pool: &WritePool, options: &WriteOptions) -> Self {
        let totals = Totals { bytes: file.position(), ..Totals::default() };
        let spill = SpillFile::beside(file.hidden_path());
        let state = State { tables: Vec::new(), error: None, clocks: Vec::new(), open: 0, appending: false, totals };
        let scratches = EncodeScratchPool::new(Arc::clone(&pool.compressors), Arc::default());
        Self {
            pool: pool.clone(),
            order: options.order,
            casting: options.casting,
            state: Mutex::new(state),
            output: Mutex::new(Some(Output::new(file, options.auto_save, scratches))),
            spill: Mutex::new(spill),
            stopped: AtomicBool::new(false),
            extensions: AtomicUsize::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn output(&self) -> MutexGuard<'_, Option<Output>> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs an action on the file. An error gives the output up.
    fn with_output<T>(&self, act: impl FnOnce(&mut Output) -> Result<T>) -> Result<T> {
        let mut state = self.lock();
        state.check()?;
        let done = self.output().as_mut().ok_or_else(stopped).and_then(act);
        done.inspect_err(|e| self.give_up(&mut state, e))
    }

    /// Adds a table.
    pub fn add_table(&self, path: &str, plan: TablePlan, record: TableRecord) -> Result<usize> {
        let mut state = self.lock();
        let plan = Arc::new(plan);
        self.output().as_mut().ok_or_else(stopped)?.add_table(path, Arc::clone(&plan), record)?;
        state.tables.push(TableQueue {
            plans: vec![plan],
            commits: CommitOrder::new(self.order),
            largest: 0,
            idle_buffers: Vec::new(),
        });
        Ok(state.tables.len() - 1)
    }

    /// Replaces a table that no context fills or has filled.
    pub fn replace_table(&self, table: usize, plan: TablePlan, record: TableRecord) -> Result<()> {
        let mut state = self.lock();
        state.check()?;
        let queue = state.table(table)?;
        if queue.commits.has_begun() {
            return Err(Error::request("a table that was filled cannot be made in another layout"));
        }
        let plan = Arc::new(plan);
        queue.plans = vec![Arc::clone(&plan)];
        self.output().as_mut().ok_or_else(stopped)?.replace_table(table, plan, record)
    }

    /// Gives a table a plan with more columns than its last one.
    pub fn add_columns(&self, table: usize, mut plan: TablePlan, record: TableRecord) -> Result<()> {
        let mut state = self.lock();
        state.check()?;
        let queue = state.table(table)?;
        let before = queue.newest()?;
        plan.extend(before)?;
        // Contexts that begin now have the new columns, so that nobody takes the buffers.
        self.pool.buffer_pool.forget(before);
        let idle = std::mem::take(&mut queue.idle_buffers);
        self.pool.memory_limiter.release(idle.iter().map(|buffers| buffers.kept).sum());
        let plan = Arc::new(plan);
        queue.plans.push(Arc::clone(&plan));
        self.extensions.fetch_add(1, Ordering::Release);
        self.output().as_mut().ok_or_else(stopped)?.add_columns(table, plan, record)
    }

    /// The plan by which a batch is filled that has columns which `plan` lacks: the last one of whose additions it has any. Only the batch
    /// decides, not what other threads have done meanwhile.
    pub fn wider_plan(&self, table: usize, plan: &Arc<TablePlan>, batch: &RecordBatch) -> Option<Arc<TablePlan>> {
        if self.extensions.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut state = self.lock();
        let plans = &state.table(table).ok()?.plans;
        let own = plans.iter().position(|other| Arc::ptr_eq(other, plan))?;
        let mut pairs = plans.iter().zip(plans.iter().skip(1)).skip(own);
        let (_, wider) = pairs.rfind(|(before, after)| after.has_late(before, batch))?;
        Some(Arc::clone(wider))
    }

    /// Makes a directory and its parents.
    pub fn mkdir(&self, path: &str) -> Result<()> {
        self.lock().check()?;
        self.output().as_mut().ok_or_else(stopped)?.mkdir(path).map(drop)
    }

    /// Writes an object that is no table.
    pub fn add_object(&self, path: &str, object: NewObject<'_>) -> Result<()> {
        self.lock().check()?;
        self.output().as_mut().ok_or_else(stopped)?.add_object(path, object)
    }

    /// Begins a context, whose clocks are part of the metrics from here on. Without a task it gets the next number.
    pub fn begin(&self, table: usize, task: Option<u64>) -> Result<ContextStart> {
        let mut state = self.lock();
        state.check()?;
        let open = state.table(table)?;
        let (ticket, plan) = (open.commits.begin(task)?, Arc::clone(open.newest()?));
        let clocks = Arc::new(Clocks::default());
        state.clocks.push(Arc::clone(&clocks));
        state.open += 1;
        Ok(ContextStart { plan, clocks, ticket })
    }

    /// Fails if the output was given up.
    pub fn check(&self) -> Result<()> {
        if self.stopped.load(Ordering::Acquire) { self.lock().check() } else { Ok(()) }
    }

    /// Reserves memory for a cluster of a task, and waits until it is free. Returns the bytes reserved and the time waited.
    /// Out-of-order tasks leave room for the largest cluster. Where all would wait for a task that nobody fills, clusters that
    /// wait to be appended make room in a [`SpillFile`].
    pub fn reserve(&self, bytes: u64, ticket: &Ticket) -> Result<(u64, Duration)> {
        let most = self.pool.memory_limiter.cluster_limit();
        let (mut then, started) = (AtStandstill::Report, Instant::now());
        loop {
            match self.pool.memory_limiter.reserve(bytes, || self.position(ticket, most), then)? {
                Some(taken) => return Ok((taken, started.elapsed())),
                None => then = self.make_room(bytes + most)?,
            }
        }
    }

    /// Drops buffers of finished contexts, and moves clusters that wait for earlier tasks out of memory, those that are appended last
    /// first, until `wanted` bytes are released. Returns what to do if that is not enough.
    fn make_room(&self, wanted: u64) -> Result<AtStandstill> {
        let buffers = self.drop_buffers();
        let mut state = self.lock();
        state.check()?;
        let moved = self.spill(&mut state, wanted.saturating_sub(buffers));
        let freed = moved.inspect_err(|e| self.give_up(&mut state, e))?;
        Ok(if buffers + freed > 0 { AtStandstill::Report } else { AtStandstill::GoOn })
    }

    /// Moves waiting clusters to the [`SpillFile`], and releases their memory. Returns its bytes.
    fn spill(&self, state: &mut State, wanted: u64) -> Result<u64> {
        let mut file = self.spill.lock().unwrap_or_else(PoisonError::into_inner);
        let mut freed = 0;
        for cluster in state.tables.iter_mut().flat_map(|table| table.commits.last_first()) {
            if cluster.reserved > 0 {
                cluster.spilled = Some(file.put(cluster.content.buffers())?);
                let bytes = std::mem::take(&mut cluster.reserved);
                state.totals.queued = state.totals.queued.saturating_sub(bytes);
                self.pool.memory_limiter.release(bytes);
                freed += bytes;
                if freed >= wanted {
                    break;
                }
            }
        }
        Ok(freed)
    }

    /// Reads a cluster back that is appended now.
    fn restore(&self, cluster: &mut FinishedCluster) -> Result<()> {
        let Some(spilled) = cluster.spilled.take() else { return Ok(()) };
        cluster.reserved = spilled.bytes();
        self.pool.memory_limiter.resize(0, cluster.reserved);
        self.spill.lock().unwrap_or_else(PoisonError::into_inner).take(&spilled, cluster.content.buffers())
    }

    /// The same, if the memory is free now.
    pub fn try_reserve(&self, bytes: u64, ticket: &Ticket) -> Result<Option<u64>> {
        if !self.pool.memory_limiter.has_free(bytes) {
            self.drop_buffers();
        }
        self.pool.memory_limiter.try_reserve(bytes, self.position(ticket, self.pool.memory_limiter.cluster_limit()))
    }

    /// Reserves more for a cluster that is being filled and has `held`. Returns false when the cluster should be flushed.
    pub fn grow(&self, (held, more): (u64, u64), ticket: &Ticket) -> Result<bool> {
        let most = self.pool.memory_limiter.cluster_limit();
        let mut then = AtStandstill::Report;
        let grown = loop {
            match self.pool.memory_limiter.grow((held, more), || self.position(ticket, most), then)? {
                Growth::Stalled => then = self.make_room(more + most)?,
                grown => break grown,
            }
        };
        self.pool.buffer_pool.trim(self.pool.memory_limiter.free());
        Ok(grown == Growth::Fits)
    }

    /// Buffers of a cluster that was written, for one that begins. Drops pooled buffers that do not fit into free memory.
    pub fn recycled(&self, plan: &Arc<TablePlan>) -> Option<Content> {
        let recycled = self.pool.buffer_pool.take(plan);
        self.pool.buffer_pool.trim(self.pool.memory_limiter.free());
        recycled
    }

    /// Puts the buffers of a cluster that was written into the pool, if its table uses them again.
    fn recycle(&self, plan: &Arc<TablePlan>, content: Content) {
        if plan.reuses_buffers() {
            self.pool.buffer_pool.put(plan, content);
        }
    }

    fn position(&self, ticket: &Ticket, largest: u64) -> QueuePosition {
        if self.stopped.load(Ordering::Acquire) { QueuePosition::Stopped } else { ticket.position(largest) }
    }

    /// Buffers of a finished context of this table, by this plan.
    pub fn buffers(&self, table: usize, plan: &Arc<TablePlan>) -> Option<ContextBuffers> {
        self.lock().tables.get_mut(table)?.idle_buffers.pop_if(|buffers| Arc::ptr_eq(&buffers.plan, plan))
    }

    /// Keeps the buffers of a finished context, unless columns were added meanwhile.
    pub fn put_buffers(&self, table: usize, buffers: ContextBuffers) {
        match self.lock().tables.get_mut(table) {
            Some(queue) if queue.newest().is_ok_and(|plan| Arc::ptr_eq(plan, &buffers.plan)) => {
                queue.idle_buffers.push(buffers);
            }
            _ => self.pool.memory_limiter.release(buffers.kept),
        }
    }

    /// Drops the buffers of finished contexts and releases their memory. Returns its bytes.
    pub fn drop_buffers(&self) -> u64 {
        let idle_buffers: Vec<ContextBuffers> =
            self.lock().tables.iter_mut().flat_map(|table| std::mem::take(&mut table.idle_buffers)).collect();
        let kept = idle_buffers.iter().map(|buffers| buffers.kept).sum();
        self.pool.memory_limiter.release(kept);
        kept
    }

    /// Expected memory of a cluster of this table.
    pub fn expected_memory(&self, table: usize, first: u64) -> u64 {
        let largest = self.lock().tables.get(table).map_or(0, |table| table.largest);
        if largest == 0 { first } else { largest + largest / 16 }
    }

    /// Adds a task's cluster, and appends the clusters that can be appended.
    pub fn hand_over(&self, table: usize, cluster: FinishedCluster) -> Result<()> {
        let mut state = self.lock();
        let queue = state.check().and_then(|()| state.tables.get_mut(table).ok_or_else(stopped));
        let queue = queue.inspect_err(|_| self.pool.memory_limiter.release(cluster.reserved))?;
        queue.largest = queue.largest.max(cluster.peak);
        let held = cluster.reserved;
        queue.commits.put(cluster.task, cluster);
        state.totals.queued += held;
        self.advance(state)
    }

    /// Ends a task, which has handed over all its clusters.
    pub fn done(&self, table: usize, task: u64) -> Result<()> {
        let mut state = self.lock();
        state.check()?;
        if let Some(queue) = state.tables.get_mut(table) {
            queue.commits.done(task);
        }
        let done = self.advance(state);
        // Only now: an open context means that a thread may be appending.
        let mut state = self.lock();
        state.open = state.open.saturating_sub(1);
        self.pool.memory_limiter.notify();
        done
    }

    /// Appends the clusters that can be appended. No-op if another thread is appending: that thread drains the queue.
    fn advance<'a>(&'a self, mut state: MutexGuard<'a, State>) -> Result<()> {
        if state.appending {
            return Ok(());
        }
        state.appending = true;
        let mut done = Ok(());
        while let (Ok(()), Some((table, mut cluster))) = (&done, state.next()) {
            // Other threads can hand over clusters meanwhile.
            drop(state);
            let started = Instant::now();
            let written = self.restore(&mut cluster).and_then(|()| self.append(table, &mut cluster));
            // The buffers first: a context that can begin takes them at once.
            let (reserved, entries) = (cluster.reserved, cluster.entries);
            self.recycle(&cluster.plan, cluster.content);
            self.pool.memory_limiter.release(reserved);
            state = self.lock();
            state.totals.appending += started.elapsed();
            done = written.map(|bytes| {
                state.totals.bytes = bytes;
                state.totals.entries += entries;
                state.totals.clusters += u64::from(entries > 0);
            });
        }
        state.appending = false;
        done.inspect_err(|e| self.give_up(&mut state, e))
    }

    /// Appends a cluster to the file. Returns the size of the file.
    fn append(&self, table: usize, cluster: &mut FinishedCluster) -> Result<u64> {
        let mut output = self.output();
        let output = output.as_mut().ok_or_else(stopped)?;
        output.append(table, cluster)?;
        Ok(output.bytes())
    }

    /// Number of contexts that are not finished.
    pub fn open_contexts(&self) -> usize {
        self.lock().open
    }

    /// The file in work; `None` if it was given up, or all bytes are discarded.
    pub fn hidden_path(&self) -> Option<PathBuf> {
        self.output().as_ref().and_then(Output::hidden_path)
    }

    /// Saves the metadata of all tables.
    pub fn save(&self) -> Result<()> {
        self.with_output(Output::save)
    }

    /// Syncs the file to disk.
    pub fn sync(&self) -> Result<()> {
        self.with_output(Output::sync)
    }

    /// Gives the output up: it will not appear.
    pub fn fail(&self, error: &Error) {
        let mut state = self.lock();
        self.give_up(&mut state, error);
    }

    /// Keeps the first error for all later calls, and drops the output.
    fn give_up(&self, state: &mut State, error: &Error) {
        state.error.get_or_insert_with(|| error.to_string());
        // Dropping it removes its temporary file.
        *self.output() = None;
        for table in &mut state.tables {
            for buffers in std::mem::take(&mut table.idle_buffers) {
                self.pool.memory_limiter.release(buffers.kept);
            }
            table.commits.give_up().for_each(|cluster| self.pool.memory_limiter.release(cluster.reserved));
            table.plans.iter().for_each(|plan| self.pool.buffer_pool.forget(plan));
        }
        self.stopped.store(true, Ordering::Release);
        self.pool.memory_limiter.notify();
    }

    /// Ends the file.
    pub fn close(&self) -> Result<Written> {
        let mut state = self.lock();
        state.check()?;
        if state.open > 0 {
            let error = Error::request(format!(
                "{} fill contexts are not finished; finish all of them before the writer",
                state.open
            ));
            self.give_up(&mut state, &error);
            return Err(error);
        }
        // Tasks that never began are skipped.
        state.tables.iter_mut().for_each(|table| table.commits.close());
        let plans: Vec<_> = state.tables.iter().flat_map(|table| table.plans.iter().cloned()).collect();
        self.advance(state)?;
        plans.iter().for_each(|plan| self.pool.buffer_pool.forget(plan));
        self.drop_buffers();
        self.output().take().ok_or_else(stopped)?.close()
    }

    /// Metrics of the work so far.
    pub fn metrics(&self) -> Metrics {
        let held = self.pool.memory_limiter.in_use();
        let state = self.lock();
        let totals = &state.totals;
        Metrics {
            entries: totals.entries,
            clusters: totals.clusters,
            file_bytes: totals.bytes,
            queue_bytes: totals.queued,
            held_bytes: held.now,
            peak_held_bytes: held.peak,
            waiting: held.waiting,
            appending_ns: u64::try_from(totals.appending.as_nanos()).unwrap_or(u64::MAX),
            contexts: state.clocks.iter().map(|clocks| clocks.snapshot()).collect(),
        }
    }
}
