//! Fills a table from one thread or task, cluster by cluster, with encoders, buffers and codecs of its own.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::ThreadId;
use std::time::Instant;

use arrow_array::RecordBatch;
use arrow_schema::FieldRef;
use rayon::ThreadPool;
use rootfile::bytes::foreseen;
use rootfile::{Error, Result};

use super::ahead::Ahead;
use super::at_once::GoesOn;
use super::cluster_rule::{ClusterRule, FillLevel};
use super::commit_order::Ticket;
use super::committer::{Committer, ContextStart};
use super::finished_cluster::FinishedCluster;
use super::format::ClusterEnd;
use super::memory_limiter::MemoryLimiter;
use super::metrics::Watch;
use super::options::Order;
use super::refusal::Refusal;
use super::table_fill::{FilledCluster, PlannedArrays, TableFill};
use crate::execute::encode::clocks::{Clocks, add};
use crate::execute::encode::parallel_encode::Ending;
use crate::execute::encode::scratch::EncodeScratchPool;
use crate::execute::encode::stream_fill::Arrays;

/// Fewer bytes of entries are encoded by the calling thread alone.
const PARALLEL_BYTES: u64 = 64 << 10;

/// Fills a tree or an RNTuple with entries, from one thread or task. Each context of a writer makes clusters of its own. An error, or
/// dropping a context before [`FillContext::finish`], gives the output up.
pub struct FillContext {
    committer: Arc<Committer>,
    table: usize,
    ticket: Ticket,
    /// Number of clusters handed over.
    clusters: u64,
    filling: Box<dyn TableFill>,
    scratches: EncodeScratchPool,
    rule: ClusterRule,
    reservation: MemoryReservation,
    /// Bytes of an entry before compression, as far as known.
    entry_bytes: u64,
    clocks: Arc<Clocks>,
    finished: bool,
    /// Set while a call must not wait for memory.
    at_once: bool,
    /// Since when such calls are refused memory.
    refused: Refusal,
}

/// The memory of a context.
#[derive(Debug, Default)]
struct MemoryReservation {
    /// Bytes reserved for the cluster that is being filled, if any, and the thread that reserved them.
    cluster: Option<(u64, ThreadId)>,
    /// Bytes reserved for buffers that are kept between clusters.
    kept: u64,
    /// Largest memory of a cluster.
    cluster_limit: u64,
    /// Largest memory that the cluster really took.
    peak: u64,
}

/// A call that fills, until this is dropped.
struct Running(Arc<MemoryLimiter>);

impl Running {
    fn begin(limiter: &Arc<MemoryLimiter>) -> Self {
        limiter.count_running(true);
        Self(Arc::clone(limiter))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.count_running(false);
    }
}

impl FillContext {
    pub(crate) fn begin(committer: Arc<Committer>, table: usize, task: Option<u64>) -> Result<Self> {
        let ContextStart { fill: filling, kept, clocks, ticket } = committer.begin(table, task)?;
        let scratches = EncodeScratchPool::new(Arc::clone(&committer.pool.compressors), Arc::clone(&clocks));
        let scratches = scratches.with_crew(Some(committer.pool.crew()));
        let rule = filling.cluster_rule();
        Ok(Self {
            committer,
            table,
            ticket,
            clusters: 0,
            filling,
            scratches,
            rule,
            reservation: MemoryReservation { kept, ..MemoryReservation::default() },
            entry_bytes: 0,
            clocks,
            finished: false,
            at_once: false,
            refused: Refusal::default(),
        })
    }

    /// Names and types of the columns. Columns that only count others may be left out of a batch.
    pub fn fields(&self) -> impl Iterator<Item = &FieldRef> {
        self.filling.fields()
    }

    /// Bytes of memory of its baskets or pages.
    pub fn memory(&self) -> u64 {
        self.filling.memory() + self.scratches.memory()
    }

    /// Has something made that this thread will need soon: by a thread of the writer that has nothing else to do, or else when it is
    /// taken. It is as much work as compressing about `bytes` bytes.
    pub fn ahead<T: Send + 'static>(&self, bytes: u64, make: impl FnOnce() -> Result<T> + Send + 'static) -> Ahead<T> {
        Ahead::new(self.scratches.crew(), bytes, make)
    }

    /// A handle to its metrics.
    pub fn watch(&self) -> Watch {
        Watch::new(&self.clocks)
    }

    /// Adds the rows of a batch as entries. Columns are found by their names. May wait for memory.
    ///
    /// A batch that does not fit the table's columns is refused as a whole, and the context can still be used: see
    /// [`FillContext::is_usable`]. Any other error gives the output up.
    ///
    /// # Errors
    ///
    /// The batch does not fit the columns, the memory does not suffice for a cluster, or the output was given up after an error elsewhere.
    pub fn fill(&mut self, batch: &RecordBatch) -> Result<()> {
        self.committer.check()?;
        let _running = Running::begin(&self.committer.pool.memory_limiter);
        let PlannedArrays { arrays, wider } = self.filling.arrays(batch, self.committer.casting)?;
        let widened = wider.map_or(Ok(()), |plan| self.widen(plan));
        let filled = widened.and_then(|()| self.fill_arrays(&arrays, 0..batch.num_rows()));
        filled.map(drop).map_err(|e| self.give_up(e))
    }

    /// Adds the rows of a batch from one on, as [`FillContext::fill`] does, but never waits for memory of others. Returns the row behind the
    /// last one that was added: call again from there when others have gone on. Who hands back and calls again does not wait for ever: where
    /// no memory is released for a tenth of a second, the context goes on with what there is.
    ///
    /// # Errors
    ///
    /// As for [`FillContext::fill`].
    pub fn try_fill(&mut self, batch: &RecordBatch, from: usize) -> Result<usize> {
        self.committer.check()?;
        let _running = Running::begin(&self.committer.pool.memory_limiter);
        let PlannedArrays { arrays, wider } = self.filling.arrays(batch, self.committer.casting)?;
        self.at_once = true;
        let widened = wider.map_or(Ok(()), |plan| self.widen(plan));
        let filled = widened.and_then(|()| self.fill_arrays(&arrays, from..batch.num_rows()));
        self.at_once = false;
        filled.map_err(|e| self.give_up(e))
    }

    /// Ends the cluster, and goes on with more columns.
    fn widen(&mut self, plan: usize) -> Result<()> {
        if self.rule.entries() > 0 {
            self.end_cluster()?;
        }
        // Memory is distributed among all branches again.
        self.clusters = 0;
        self.filling.widen(plan)
    }

    /// Whether the output was not given up.
    pub fn is_usable(&self) -> bool {
        self.committer.check().is_ok()
    }

    /// Ends the cluster here.
    ///
    /// # Errors
    ///
    /// The cluster cannot be encoded or written, or the output was given up after an error elsewhere.
    pub fn flush(&mut self) -> Result<()> {
        let _running = Running::begin(&self.committer.pool.memory_limiter);
        self.end_last_cluster()
    }

    fn end_last_cluster(&mut self) -> Result<()> {
        let ended = if self.rule.entries() > 0 { self.end_cluster() } else { Ok(()) };
        ended.map_err(|e| self.give_up(e))
    }

    /// Ends the last cluster, and the context.
    ///
    /// # Errors
    ///
    /// As [`Self::flush`].
    pub fn finish(mut self) -> Result<()> {
        let _running = Running::begin(&self.committer.pool.memory_limiter);
        self.end_last_cluster()?;
        self.finished = true;
        // Its buffers do not count as memory of the next task.
        self.ticket.set_reserved(0);
        if !self.committer.pool.memory_limiter.has_free(self.reservation.cluster_limit) {
            self.drop_buffers();
        }
        let left = self.filling.leave(std::mem::take(&mut self.reservation.kept));
        self.committer.pool.memory_limiter.release(left);
        // It may append clusters that waited for this task.
        let started = Instant::now();
        let done = self.committer.done(self.table, self.ticket.task());
        add(&self.clocks.handing, started.elapsed());
        done
    }

    /// Gives the output up, for this reason.
    pub fn abandon(self, why: &str) {
        self.committer.fail(&Error::request(why));
    }

    /// Gives the output up because of an error elsewhere.
    pub fn give_up_because(&self, error: &Error) {
        self.committer.fail(error);
    }

    fn give_up(&mut self, error: Error) -> Error {
        self.committer.fail(&error);
        error
    }

    /// Adds rows. Returns the row behind the last one that was added, which is the last of all unless the call must not wait.
    fn fill_arrays(&mut self, arrays: &Arrays, rows: std::ops::Range<usize>) -> Result<usize> {
        let (mut at, rows) = (rows.start, rows.end);
        while at < rows {
            if self.at_once && self.reservation.cluster.is_some() {
                let held = self.reservation.cluster.map_or(0, |(held, _)| held);
                match self.committer.may_go_on(held, &self.ticket, &mut self.refused)? {
                    GoesOn::Yes => {}
                    GoesOn::NotNow => break,
                    GoesOn::Ends => self.end_last_cluster()?,
                }
            }
            if self.reservation.cluster.is_none() && !self.begin_cluster()? {
                break;
            }
            let n = usize::try_from(self.rule.until_check()).unwrap_or(usize::MAX).min(rows - at);
            self.fill_rows(arrays, at..at + n)?;
            at += n;
            self.rule.add(n as u64);
            self.clocks.entries.fetch_add(n as u64, Ordering::Relaxed);
            if self.rule.until_check() == 0 && self.is_full()? {
                self.end_cluster()?;
            }
        }
        Ok(at)
    }

    fn fill_rows(&mut self, arrays: &Arrays, rows: std::ops::Range<usize>) -> Result<()> {
        let team = self.team(rows.len() as u64);
        self.filling.fill((arrays, rows), team.as_deref(), &self.scratches)
    }

    /// Threads to encode these entries with, if there are enough bytes.
    fn team(&self, entries: u64) -> Option<Arc<ThreadPool>> {
        self.committer
            .pool
            .team
            .as_ref()
            .filter(|_| entries.saturating_mul(self.entry_bytes) >= PARALLEL_BYTES)
            .cloned()
    }

    /// Whether the cluster ends here. Reserves the memory that the cluster really takes.
    fn is_full(&mut self) -> Result<bool> {
        self.filling.settle(&self.scratches)?;
        self.keep_within_share(0);
        let (filled, taken) = (self.filling.level(), self.memory());
        self.entry_bytes = (filled.raw + filled.pending) / self.rule.entries().max(1);
        self.reservation.peak = self.reservation.peak.max(taken);
        let has_room = self.grow(taken)?;
        let ends = self.rule.ends(&filled, self.reservation.cluster_limit) || !has_room;
        Ok(ends || !self.make_room(&filled)?)
    }

    /// Sheds what it does not need if its memory and `more` bytes are more than a cluster's share. Returns whether they keep within it then.
    fn keep_within_share(&mut self, more: u64) -> bool {
        self.filling.keep_within(self.reservation.cluster_limit.saturating_sub(self.scratches.memory()), more)
    }

    /// Makes room for the rest of the cluster, once it is foreseen and if that much memory is reserved or free. Returns false when the
    /// cluster should end.
    fn make_room(&mut self, filled: &FillLevel) -> Result<bool> {
        let Some(ahead) = self.rule.foresee() else { return Ok(true) };
        let entries = self.rule.entries();
        let more = foreseen(filled.packed, entries, ahead);
        let wanted = self.memory().saturating_add(u64::try_from(more).unwrap_or(u64::MAX));
        let held = self.reservation.cluster.map_or(0, |(held, _)| held);
        if !self.committer.pool.memory_limiter.has_free(wanted.saturating_sub(held)) {
            return Ok(true);
        }
        self.filling.make_room(entries, ahead);
        self.grow(self.memory())
    }

    /// Reserves `bytes` for the cluster, if it has fewer. Returns false when it should end.
    fn grow(&mut self, bytes: u64) -> Result<bool> {
        let Some((held, _)) = self.reservation.cluster.as_mut().filter(|(held, _)| bytes > *held) else {
            return Ok(true);
        };
        // In the order of tasks memory never decides where a cluster ends: the next call is refused if it was too much.
        let has_room = match self.at_once && self.committer.order == Order::Tasks {
            true => {
                self.committer.grow_at_once(*held, bytes - *held);
                true
            }
            false => self.committer.grow((*held, bytes - *held), &self.ticket)?,
        };
        *held = bytes;
        self.ticket.set_reserved(bytes);
        Ok(has_room)
    }

    /// Reserves memory for a cluster. Buffers kept from the last one are part of it, unless the context has to wait. Returns false where it
    /// would wait in a call that must not.
    fn begin_cluster(&mut self) -> Result<bool> {
        let bytes = self.committer.expected_memory(self.table, self.rule.first_guess());
        self.reservation.cluster_limit = self.committer.pool.memory_limiter.cluster_limit();
        let bytes = bytes.min(self.reservation.cluster_limit).max(self.reservation.kept);
        self.refused.begin();
        let taken = match self.committer.try_reserve(bytes - self.reservation.kept, &self.ticket, !self.at_once)? {
            Some(taken) => self.reservation.kept + taken,
            None => {
                self.drop_buffers();
                self.committer.drop_buffers();
                if self.at_once {
                    let taken = self.committer.reserve_at_once(bytes, &self.ticket, &mut self.refused)?;
                    let Some(taken) = taken else { return Ok(false) };
                    self.begun(taken);
                    return Ok(true);
                }
                let (taken, waited) = self.committer.reserve(bytes, &self.ticket)?;
                add(&self.clocks.waiting, waited);
                taken
            }
        };
        self.begun(taken);
        Ok(true)
    }

    /// Begins a cluster with the memory that is reserved.
    fn begun(&mut self, taken: u64) {
        if let Some(buffers) = self.committer.recycled(&self.filling.pool_key()) {
            self.filling.recycle(buffers);
        }
        self.keep_within_share(0);
        self.committer.pool.limit_kept(self.clusters > 0);
        self.reservation.kept = 0;
        self.ticket.set_reserved(taken);
        self.reservation.cluster = Some((taken, std::thread::current().id()));
    }

    fn end_cluster(&mut self) -> Result<()> {
        self.filling.settle(&self.scratches)?;
        // Pending entries are still there when the last baskets or pages are made of them.
        let pending = self.filling.level().pending;
        // Where memory is scarce, buffers are dropped after the cluster anyway.
        let scarce = self.committer.pool.memory_limiter.is_scarce(self.reservation.cluster_limit);
        let sheds = !self.keep_within_share(pending) || scarce;
        self.grow(self.memory() + pending)?;
        self.reservation.peak = self.reservation.peak.max(self.memory());
        let team = self.team(self.rule.entries());
        self.filling.finish(Ending { team: team.as_deref(), sheds }, &self.scratches)?;
        let filled = self.filling.level();
        let end = ClusterEnd { is_first: self.clusters == 0, entries: self.rule.entries() };
        let content = self.filling.start_cluster(end);
        self.hand_over(&filled, content)
    }

    /// Drops the buffers that are kept between clusters.
    fn drop_buffers(&mut self) {
        self.ticket.set_reserved(0);
        self.filling.drop_buffers();
        self.scratches.drop_buffers();
        self.committer.pool.memory_limiter.release(std::mem::take(&mut self.reservation.kept));
    }

    fn hand_over(&mut self, filled: &FillLevel, mut content: Box<dyn FilledCluster>) -> Result<()> {
        let started = Instant::now();
        let (held, thread) = self.reservation.cluster.take().unwrap_or((0, std::thread::current().id()));
        // From here on the cluster takes the memory of its records, and the context that of its buffers.
        let bytes = content.memory();
        self.reservation.kept = self.memory();
        self.reservation.peak = self.reservation.peak.max(bytes + self.reservation.kept);
        self.ticket.set_reserved(self.reservation.kept);
        self.committer.pool.memory_limiter.resize(held, bytes + self.reservation.kept);
        let peak = std::mem::take(&mut self.reservation.peak);
        self.clusters += 1;
        let (task, entries) = (self.ticket.task(), self.rule.entries());
        let cluster = FinishedCluster { task, entries, content, spilled: None, reserved: bytes, peak };
        self.rule.start(filled);
        let handed = self.committer.hand_over(self.table, cluster);
        // The buffers are kept if enough memory stays free for the largest cluster.
        if !self.committer.pool.memory_limiter.has_free(self.reservation.cluster_limit) {
            self.drop_buffers();
        }
        // Only after the memory is released: another context would begin without memory.
        self.committer.pool.memory_limiter.end_filling(thread);
        self.committer.pool.give_back(bytes);
        handed?;
        add(&self.clocks.handing, started.elapsed());
        Ok(())
    }
}

impl Drop for FillContext {
    fn drop(&mut self) {
        if let Some((held, thread)) = self.reservation.cluster.take() {
            self.committer.pool.memory_limiter.end_filling(thread);
            self.committer.pool.memory_limiter.release(held);
        }
        self.committer.pool.memory_limiter.release(self.reservation.kept);
        if !self.finished {
            self.committer.fail(&Error::request("a fill context was dropped before it was finished"));
        }
    }
}
