//! Commits finished clusters of all fill contexts: one thread at a time appends them to the file, as they arrive or in the
//! order of their tasks, while the others continue. An error here or in a context abandons the output.

use std::cell::OnceCell;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rootfile::{Error, FileWriter, Result};

use super::any_table::AnyTable;
use super::commit_order::{CommitOrder, Ticket};
use super::commit_state::{State, TableQueue, Totals};
use super::conform::Casting;
use super::finished_cluster::FinishedCluster;
use super::memory_limiter::{AtStandstill, Begun, Growth, QueuePosition, stopped};
use super::metrics::Metrics;
use super::options::{Order, WriteOptions};
use super::output::{NewObject, Output};
use super::spill::SpillFile;
use super::table_fill::{FilledCluster, PoolKey, TableFill};
use super::write_pool::WritePool;
use super::written::Written;
use crate::execute::encode::clocks::Clocks;
use crate::execute::encode::scratch::EncodeScratchPool;
use crate::execute::workers::guarded;

/// A cluster is appended by another thread if it takes at most one part in this many of the budget: what waits then decides nothing.
const BESIDE_SHARE: u64 = 8;

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
    /// Waits for the thread that appends.
    appended: Condvar,
    /// Whether the file is saved by itself: who adds a cluster then sees it saved.
    saves: bool,
    stopped: AtomicBool,
}

/// The parts of a new context that the committer provides.
pub(crate) struct ContextStart {
    pub fill: Box<dyn TableFill>,
    /// Bytes reserved for the buffers in it.
    pub kept: u64,
    pub clocks: Arc<Clocks>,
    pub ticket: Ticket,
}

impl Committer {
    pub fn new(file: FileWriter, pool: &WritePool, options: &WriteOptions) -> Self {
        let totals = Totals { bytes: file.position(), ..Totals::default() };
        let spill = SpillFile::beside(file.hidden_path());
        let state = State {
            tables: Vec::new(),
            error: None,
            unreported: None,
            clocks: Vec::new(),
            open: 0,
            appending: false,
            totals,
        };
        let scratches = EncodeScratchPool::new(Arc::clone(&pool.compressors), Arc::default());
        Self {
            pool: pool.clone(),
            order: options.order,
            casting: options.casting,
            state: Mutex::new(state),
            output: Mutex::new(Some(Output::new(file, options.auto_save, scratches))),
            spill: Mutex::new(spill),
            appended: Condvar::new(),
            saves: options.auto_save.is_some(),
            stopped: AtomicBool::new(false),
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
        self.settle()?;
        let mut state = self.lock();
        state.check()?;
        let done = self.output().as_mut().ok_or_else(stopped).and_then(act);
        done.inspect_err(|e| self.give_up(&mut state, e))
    }

    /// Adds a table.
    pub fn add_table(&self, path: &str, table: Arc<dyn AnyTable>) -> Result<usize> {
        self.settle()?;
        let mut state = self.lock();
        self.output().as_mut().ok_or_else(stopped)?.add_table(path, Arc::clone(&table))?;
        state.tables.push(TableQueue { table, commits: CommitOrder::new(self.order), largest: 0 });
        Ok(state.tables.len() - 1)
    }

    /// Replaces a table that no context fills or has filled.
    pub fn replace_table(&self, number: usize, table: Arc<dyn AnyTable>) -> Result<()> {
        let mut state = self.lock();
        state.check()?;
        let queue = state.table(number)?;
        if queue.commits.has_begun() {
            return Err(Error::request("a table that was filled cannot be made in another layout"));
        }
        queue.table = Arc::clone(&table);
        self.output().as_mut().ok_or_else(stopped)?.replace_table(number, table)
    }

    /// Gives a table more columns.
    pub fn add_columns(&self, table: usize, add: impl FnOnce() -> u64) -> Result<()> {
        let mut state = self.lock();
        state.check()?;
        state.table(table)?.table.forget(&self.pool.buffer_pool);
        self.pool.memory_limiter.release(add());
        Ok(())
    }

    /// Makes a directory and its parents.
    pub fn mkdir(&self, path: &str) -> Result<()> {
        self.settle()?;
        self.lock().check()?;
        self.output().as_mut().ok_or_else(stopped)?.mkdir(path).map(drop)
    }

    /// Writes an object that is no table.
    pub fn add_object(&self, path: &str, object: NewObject<'_>) -> Result<()> {
        self.settle()?;
        self.lock().check()?;
        self.output().as_mut().ok_or_else(stopped)?.add_object(path, object)
    }

    /// Begins a context, whose clocks are part of the metrics from here on. Without a task it gets the next number.
    pub fn begin(&self, table: usize, task: Option<u64>) -> Result<ContextStart> {
        let mut state = self.lock();
        state.check()?;
        let queue = state.table(table)?;
        let (ticket, table) = (queue.commits.begin(task)?, Arc::clone(&queue.table));
        let clocks = Arc::new(Clocks::default());
        state.clocks.push(Arc::clone(&clocks));
        state.open += 1;
        drop(state);
        let (fill, kept) = table.fill()?;
        Ok(ContextStart { fill, kept, clocks, ticket })
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
        let (mut then, started, mut helped) = (AtStandstill::Report, Instant::now(), Duration::ZERO);
        let (pool, helper) = (&self.pool, OnceCell::new());
        let (position, has_work) = (|| self.position(ticket, most), || pool.helps(&helper));
        loop {
            match pool.memory_limiter.reserve(bytes, position, has_work, then)? {
                Begun::Reserved(taken) => return Ok((taken, started.elapsed().saturating_sub(helped))),
                Begun::Stalled => then = self.make_room(bytes + most)?,
                Begun::Work => helped += self.help(),
            }
        }
    }

    /// Makes pieces of clusters that others fill. Returns the time that it took.
    fn help(&self) -> Duration {
        let started = Instant::now();
        self.pool.work.help_without_waiting();
        started.elapsed()
    }

    /// Drops buffers of finished contexts, and moves clusters that wait for earlier tasks out of memory, those that are appended last
    /// first, until `wanted` bytes are released. Returns what to do if that is not enough.
    pub(super) fn make_room(&self, wanted: u64) -> Result<AtStandstill> {
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

    /// The same, if the memory is free now. `waits`: whether the caller would wait otherwise.
    pub fn try_reserve(&self, bytes: u64, ticket: &Ticket, waits: bool) -> Result<Option<u64>> {
        let limiter = &self.pool.memory_limiter;
        if !limiter.has_free(bytes) {
            self.drop_buffers();
        }
        limiter.try_reserve(bytes, self.position(ticket, limiter.cluster_limit()), waits)
    }

    /// Reserves more for a cluster that is being filled and has `held`. Returns false when the cluster should be flushed.
    pub fn grow(&self, (held, more): (u64, u64), ticket: &Ticket) -> Result<bool> {
        let most = self.pool.memory_limiter.cluster_limit();
        let mut then = AtStandstill::Report;
        let (pool, helper) = (&self.pool, OnceCell::new());
        let (position, has_work) = (|| self.position(ticket, most), || pool.helps(&helper));
        let grown = loop {
            match pool.memory_limiter.grow((held, more), position, has_work, then)? {
                Growth::Stalled => then = self.make_room(more + most)?,
                Growth::Work => {
                    self.help();
                }
                grown => break grown,
            }
        };
        self.pool.buffer_pool.trim(self.pool.memory_limiter.free());
        Ok(grown == Growth::Fits)
    }

    /// Buffers of a cluster that was written, for one that begins. Drops pooled buffers that do not fit into free memory.
    pub fn recycled(&self, plan: &PoolKey) -> Option<Vec<Vec<u8>>> {
        let recycled = self.pool.buffer_pool.take(plan);
        self.pool.buffer_pool.trim(self.pool.memory_limiter.free());
        recycled
    }

    /// Puts the buffers of a cluster that was written into the pool, if its table uses them again.
    fn recycle(&self, mut cluster: Box<dyn FilledCluster>) {
        if let Some(plan) = cluster.pool_key() {
            self.pool.buffer_pool.put(plan, cluster.take_buffers());
        }
    }

    pub(super) fn position(&self, ticket: &Ticket, largest: u64) -> QueuePosition {
        if self.stopped.load(Ordering::Acquire) { QueuePosition::Stopped } else { ticket.position(largest) }
    }

    /// Drops the buffers of finished contexts and releases their memory. Returns its bytes.
    pub fn drop_buffers(&self) -> u64 {
        let kept = self.lock().tables.iter().map(|queue| queue.table.drop_idle()).sum();
        self.pool.memory_limiter.release(kept);
        kept
    }

    /// Expected memory of a cluster of this table.
    pub fn expected_memory(&self, table: usize, first: u64) -> u64 {
        let largest = self.lock().tables.get(table).map_or(0, |table| table.largest);
        if largest == 0 { first } else { largest + largest / 16 }
    }

    /// Adds a task's cluster. Clusters that can be appended are appended: by a thread of the team, if there is one, memory is not
    /// short, and nothing is saved when clusters are appended. In a file with several tables who adds the next cluster waits, so that their order in the file does not depend on threads.
    pub fn hand_over(self: &Arc<Self>, table: usize, cluster: FinishedCluster) -> Result<()> {
        let mut state = self.lock();
        let queue = state.check().and_then(|()| state.tables.get_mut(table).ok_or_else(stopped));
        let queue = queue.inspect_err(|_| self.pool.memory_limiter.release(cluster.reserved))?;
        queue.largest = queue.largest.max(cluster.peak);
        let held = cluster.reserved;
        queue.commits.put(cluster.task, cluster);
        state.totals.queued += held;
        let is_small = held <= self.pool.memory_limiter.limit() / BESIDE_SHARE;
        let beside = is_small && !self.saves && state.tables.len() == 1;
        let Some(team) = self.pool.team.as_ref().filter(|_| beside) else {
            return self.advance(state);
        };
        if !state.appending {
            drop(state);
            let committer = Arc::clone(self);
            team.spawn_fifo(move || committer.advance_beside());
        }
        Ok(())
    }

    /// Appends the clusters that can be appended, on a thread that nobody waits for: the next call fails with its error.
    fn advance_beside(&self) {
        let appending = || {
            let (mut state, done) = self.append_waiting(self.lock());
            if let Err(error) = done {
                self.give_up(&mut state, &error);
                state.unreported.get_or_insert(error);
            }
            Ok(())
        };
        if let Err(panicked) = guarded(|| "the appending of clusters".to_owned(), appending) {
            let mut state = self.lock();
            state.appending = false;
            self.give_up(&mut state, &panicked);
            state.unreported.get_or_insert(panicked);
            self.appended.notify_all();
        }
    }

    /// The state when no thread of the team appends.
    fn settled(&self) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        while state.appending && self.pool.team.is_some() {
            state = self.appended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    /// Appends what can be appended, where threads of the team do that otherwise.
    fn settle(&self) -> Result<()> {
        if self.pool.team.is_some() { self.advance(self.settled()) } else { Ok(()) }
    }

    /// Ends a task, which has handed over all its clusters.
    pub fn done(&self, table: usize, task: u64) -> Result<()> {
        let mut state = self.settled();
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
    fn advance<'a>(&'a self, state: MutexGuard<'a, State>) -> Result<()> {
        let (mut state, done) = self.append_waiting(state);
        done.inspect_err(|e| self.give_up(&mut state, e))
    }

    /// Appends what can be appended, as `advance` does, but leaves it to the caller to give the output up after an error.
    fn append_waiting<'a>(&'a self, mut state: MutexGuard<'a, State>) -> (MutexGuard<'a, State>, Result<()>) {
        if state.appending {
            return (state, Ok(()));
        }
        state.appending = true;
        let mut done = Ok(());
        while let (Ok(()), Some(mut cluster)) = (&done, state.next()) {
            // Other threads can hand over clusters meanwhile.
            drop(state);
            let started = Instant::now();
            let written = self.restore(&mut cluster).and_then(|()| self.append(&mut cluster));
            // The buffers first: a context that can begin takes them at once.
            let (reserved, entries) = (cluster.reserved, cluster.entries);
            self.recycle(cluster.content);
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
        self.appended.notify_all();
        (state, done)
    }

    /// Appends a cluster to the file. Returns the size of the file.
    fn append(&self, cluster: &mut FinishedCluster) -> Result<u64> {
        let mut output = self.output();
        let output = output.as_mut().ok_or_else(stopped)?;
        output.append(cluster)?;
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
        for TableQueue { table, commits, .. } in &mut state.tables {
            self.pool.memory_limiter.release(table.drop_idle());
            commits.give_up().for_each(|cluster| self.pool.memory_limiter.release(cluster.reserved));
            table.forget(&self.pool.buffer_pool);
        }
        self.stopped.store(true, Ordering::Release);
        self.pool.memory_limiter.notify();
    }

    /// Ends the file.
    pub fn close(&self) -> Result<Written> {
        let mut state = self.settled();
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
        let tables: Vec<_> = state.tables.iter().map(|queue| Arc::clone(&queue.table)).collect();
        self.advance(state)?;
        tables.iter().for_each(|table| table.forget(&self.pool.buffer_pool));
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
