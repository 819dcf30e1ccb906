//! Fills a tree from one thread or task, cluster by cluster, with encoders, baskets and codecs of its own.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::ThreadId;
use std::time::Instant;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::FieldRef;
use dataset::layout::optimize_baskets;
use rayon::ThreadPool;
use rootfile::{Error, Result};

use super::cluster_rule::{ClusterRule, FillLevel};
use super::column_arrays::branch_arrays;
use super::commit_order::Ticket;
use super::committer::{Committer, ContextStart};
use super::context_buffers::ContextBuffers;
use super::finished_cluster::FinishedCluster;
use super::metrics::Watch;
use super::tree_plan::TreePlan;
use crate::execute::encode::branch_fill::BranchFill;
use crate::execute::encode::clocks::{Clocks, add};
use crate::execute::encode::maximum::largest_value;
use crate::execute::encode::parallel_encode;
use crate::execute::encode::scratch::{EncodeScratch, EncodeScratchPool};
use crate::table::chunk::Chunk;

/// Fewer bytes of entries are encoded by the calling thread alone.
const PARALLEL_BYTES: u64 = 64 << 10;

/// Fills a tree with entries, from one thread or task. Each context of a writer makes clusters of its own. An error, or
/// dropping a context before [`FillContext::finish`], gives the output up.
pub struct FillContext {
    committer: Arc<Committer>,
    tree: usize,
    ticket: Ticket,
    /// Number of clusters handed over.
    clusters: u64,
    plan: Arc<TreePlan>,
    branches: Vec<BranchFill>,
    scratches: EncodeScratchPool,
    rule: ClusterRule,
    /// The largest value of each branch that counts others.
    maxima: Vec<u64>,
    reservation: MemoryReservation,
    /// Bytes of an entry before compression, as far as known.
    entry_bytes: u64,
    clocks: Arc<Clocks>,
    finished: bool,
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

impl FillContext {
    pub(crate) fn begin(committer: Arc<Committer>, tree: usize, task: Option<u64>) -> Result<Self> {
        let ContextStart { plan, clocks, ticket } = committer.begin(tree, task)?;
        let buffers = committer.buffers(tree).unwrap_or_else(|| ContextBuffers {
            branches: plan.branches.iter().enumerate().map(|(column, plan)| BranchFill::new(column, plan)).collect(),
            compressors: Vec::new(),
            kept: 0,
        });
        let scratches = EncodeScratchPool::new(buffers.compressors, Arc::clone(&clocks));
        let (rule, maxima) = (ClusterRule::new(plan.cluster), vec![0; plan.branches.len()]);
        Ok(Self {
            committer,
            tree,
            ticket,
            clusters: 0,
            plan,
            branches: buffers.branches,
            scratches,
            rule,
            maxima,
            reservation: MemoryReservation { kept: buffers.kept, ..MemoryReservation::default() },
            entry_bytes: 0,
            clocks,
            finished: false,
        })
    }

    /// Names and types of the columns. Columns that only count others may be left out of a batch.
    pub fn fields(&self) -> impl Iterator<Item = &FieldRef> {
        self.plan.fields()
    }

    /// Bytes of memory of its baskets.
    pub fn memory(&self) -> u64 {
        self.branches.iter().map(BranchFill::memory).sum::<u64>() + self.scratches.memory()
    }

    /// A handle to its metrics.
    pub fn watch(&self) -> Watch {
        Watch::new(&self.clocks)
    }

    /// Adds the rows of a batch as entries. Columns are found by their names. May wait for memory.
    pub fn fill(&mut self, batch: &RecordBatch) -> Result<()> {
        let filled = self.fill_or_fail(batch);
        filled.map_err(|e| self.give_up(e))
    }

    /// Ends the cluster here.
    pub fn flush(&mut self) -> Result<()> {
        let flushed = if self.rule.entries() > 0 { self.end_cluster() } else { Ok(()) };
        flushed.map_err(|e| self.give_up(e))
    }

    /// Ends the last cluster, and the context.
    pub fn finish(mut self) -> Result<()> {
        self.flush()?;
        self.finished = true;
        for (fill, plan) in self.branches.iter_mut().zip(&self.plan.branches) {
            fill.reset(plan);
        }
        // Its buffers do not count as memory of the next task.
        self.ticket.set_reserved(0);
        if !self.committer.memory_limiter.has_free(self.reservation.cluster_limit) {
            self.drop_buffers();
        }
        let branches = std::mem::take(&mut self.branches);
        let compressors = self.scratches.compressors();
        self.committer.put_buffers(
            self.tree,
            ContextBuffers { branches, compressors, kept: std::mem::take(&mut self.reservation.kept) },
        );
        self.committer.done(self.tree, self.ticket.task())
    }

    /// Gives the output up, for this reason.
    pub fn abandon(self, why: &str) {
        self.committer.fail(&Error::request(why));
    }

    fn give_up(&mut self, error: Error) -> Error {
        self.committer.fail(&error);
        error
    }

    fn fill_or_fail(&mut self, batch: &RecordBatch) -> Result<()> {
        self.committer.check()?;
        let arrays = branch_arrays(&self.plan, batch, self.committer.casting)?;
        let rows = batch.num_rows();
        let mut at = 0;
        while at < rows {
            if self.reservation.cluster.is_none() {
                self.begin_cluster()?;
            }
            let n = usize::try_from(self.rule.until_check()).unwrap_or(usize::MAX).min(rows - at);
            self.fill_rows(&arrays, at..at + n)?;
            at += n;
            self.rule.add(n as u64);
            self.clocks.entries.fetch_add(n as u64, Ordering::Relaxed);
            if self.rule.until_check() == 0 && self.is_full()? {
                self.end_cluster()?;
            }
        }
        Ok(())
    }

    fn fill_rows(&mut self, arrays: &[ArrayRef], rows: std::ops::Range<usize>) -> Result<()> {
        if let Some(team) = self.team(rows.len() as u64) {
            let (branches, scratches) = (&mut self.branches, (self.maxima.as_mut_slice(), &self.scratches));
            return parallel_encode::fill(&team, branches, &self.plan.branches, (arrays, rows), scratches);
        }
        let plans = self.plan.branches.iter().zip(arrays);
        let jobs = self.branches.iter_mut().zip(plans).zip(&mut self.maxima);
        let fill = |scratch: &mut EncodeScratch| {
            for ((fill, (plan, array)), maximum) in jobs {
                fill.fill(plan, array, rows.clone(), scratch).map_err(|e| e.object(format!("branch {}", plan.name)))?;
                if plan.counts {
                    *maximum = (*maximum).max(largest_value(&array.slice(rows.start, rows.len())));
                }
            }
            Ok(())
        };
        self.clocks.encode(|| self.scratches.with(fill))
    }

    /// Threads to encode these entries with, if there are enough bytes.
    fn team(&self, entries: u64) -> Option<Arc<ThreadPool>> {
        self.committer.team.as_ref().filter(|_| entries.saturating_mul(self.entry_bytes) >= PARALLEL_BYTES).cloned()
    }

    /// Whether the cluster ends here. Reserves the memory that the cluster really takes.
    fn is_full(&mut self) -> Result<bool> {
        let (filled, taken) = (self.filled(), self.memory());
        self.entry_bytes = (filled.raw + filled.pending) / self.rule.entries().max(1);
        self.reservation.peak = self.reservation.peak.max(taken);
        let mut has_room = true;
        if let Some((held, _)) = self.reservation.cluster.as_mut().filter(|(held, _)| taken > *held) {
            has_room = self.committer.grow(taken - *held, &self.ticket)?;
            *held = taken;
            self.ticket.set_reserved(taken);
        }
        Ok(self.rule.ends(&filled, self.reservation.cluster_limit) || !has_room)
    }

    fn filled(&self) -> FillLevel {
        let written = self.branches.iter().map(BranchFill::written);
        let (raw, packed) = written.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        FillLevel { raw, packed, pending: self.branches.iter().map(BranchFill::pending).sum() }
    }

    /// Reserves memory for a cluster. Buffers kept from the last one are part of it, unless the context has to wait.
    fn begin_cluster(&mut self) -> Result<()> {
        let bytes = self.committer.expected_memory(self.tree, self.rule.first_guess());
        self.reservation.cluster_limit = self.committer.memory_limiter.cluster_limit();
        let bytes = bytes.min(self.reservation.cluster_limit).max(self.reservation.kept);
        let taken = match self.committer.try_reserve(bytes - self.reservation.kept, &self.ticket)? {
            Some(taken) => self.reservation.kept + taken,
            None => {
                self.drop_buffers();
                self.committer.drop_buffers();
                let (taken, waited) = self.committer.reserve(bytes, &self.ticket)?;
                add(&self.clocks.waiting, waited);
                taken
            }
        };
        if let Some(chunks) = self.committer.recycled(&self.plan) {
            self.branches.iter_mut().zip(chunks).for_each(|(fill, chunk)| fill.recycle(chunk));
        }
        self.reservation.kept = 0;
        self.ticket.set_reserved(taken);
        self.reservation.cluster = Some((taken, std::thread::current().id()));
        Ok(())
    }

    fn end_cluster(&mut self) -> Result<()> {
        self.reservation.peak = self.reservation.peak.max(self.memory());
        match self.team(self.rule.entries()) {
            Some(team) => {
                parallel_encode::finish_baskets(&team, &mut self.branches, &self.plan.branches, &self.scratches)?
            }
            None => {
                let mut pairs = self.branches.iter_mut().zip(&self.plan.branches);
                let finish =
                    |scratch: &mut EncodeScratch| pairs.try_for_each(|(fill, plan)| fill.finish_basket(plan, scratch));
                self.clocks.encode(|| self.scratches.with(finish))?;
            }
        }
        let pairs = self.branches.iter_mut().zip(&self.plan.branches);
        let mut filled = FillLevel::default();
        let first = self.clusters == 0 && self.plan.basket_memory.is_some();
        let (mut figures, mut chunks) = (Vec::new(), Vec::with_capacity(self.plan.branches.len()));
        for (fill, plan) in pairs {
            let (raw, packed) = fill.written();
            filled.raw += raw;
            filled.packed += packed;
            if first {
                figures.push(fill.figures(plan));
            }
            chunks.push(fill.start_cluster(plan));
        }
        if let (true, Some(memory)) = (first, self.plan.basket_memory) {
            let sizes = optimize_baskets(&figures, filled.raw, Some(self.rule.entries()), memory, 1.0);
            for (fill, size) in self.branches.iter_mut().zip(sizes) {
                fill.set_basket_size(size.basket_size);
            }
        }
        self.hand_over(&filled, chunks)
    }

    /// Drops the buffers that are kept between clusters.
    fn drop_buffers(&mut self) {
        self.ticket.set_reserved(0);
        self.branches.iter_mut().for_each(BranchFill::drop_buffers);
        self.committer.memory_limiter.release(std::mem::take(&mut self.reservation.kept));
    }

    fn hand_over(&mut self, filled: &FillLevel, chunks: Vec<Chunk>) -> Result<()> {
        let started = Instant::now();
        let (held, thread) = self.reservation.cluster.take().unwrap_or((0, std::thread::current().id()));
        // From here on the cluster takes the memory of its records, and the context that of its buffers.
        let bytes: u64 = chunks.iter().map(|chunk| chunk.bytes.capacity() as u64).sum();
        self.reservation.kept = self.memory();
        self.reservation.peak = self.reservation.peak.max(bytes + self.reservation.kept);
        self.ticket.set_reserved(self.reservation.kept);
        self.committer.memory_limiter.resize(held, bytes + self.reservation.kept);
        let (maxima, peak) = (self.maxima.clone(), std::mem::take(&mut self.reservation.peak));
        self.clusters += 1;
        let (task, entries) = (self.ticket.task(), self.rule.entries());
        let cluster = FinishedCluster { task, entries, chunks, maxima, reserved: bytes, peak };
        self.rule.start(filled);
        let handed = self.committer.hand_over(self.tree, cluster);
        // The buffers are kept if enough memory stays free for the largest cluster.
        if !self.committer.memory_limiter.has_free(self.reservation.cluster_limit) {
            self.drop_buffers();
        }
        // Only after the memory is released: another context would begin without memory.
        self.committer.memory_limiter.end_filling(thread);
        handed?;
        add(&self.clocks.handing, started.elapsed());
        Ok(())
    }
}

impl Drop for FillContext {
    fn drop(&mut self) {
        if let Some((held, thread)) = self.reservation.cluster.take() {
            self.committer.memory_limiter.end_filling(thread);
            self.committer.memory_limiter.release(held);
        }
        self.committer.memory_limiter.release(self.reservation.kept);
        if !self.finished {
            self.committer.fail(&Error::request("a fill context was dropped before it was finished"));
        }
    }
}
