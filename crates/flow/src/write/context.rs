//! What one thread or task fills: its own encoders, baskets and codecs, cluster by cluster.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::ThreadId;
use std::time::Instant;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, Int32Array, RecordBatch, downcast_integer_array};
use arrow_buffer::ArrowNativeType;
use arrow_schema::{DataType, FieldRef};
use dataset::layout::optimize_baskets;
use rayon::ThreadPool;
use rootfile::codec::Compressor;
use rootfile::{Error, Result};

use super::baskets::{Bench, BranchFill};
use super::cluster::{ClusterRule, Filled};
use super::conform::conform;
use super::line::Place;
use super::metrics::{Clocks, Watch, add};
use super::plan::TreePlan;
use super::shared::{Begun, Cluster, Shared};
use super::together::{self, Benches};
use crate::sink::Chunk;

/// Bytes of entries that are worth waking other threads for.
const SHARED: u64 = 64 << 10;

/// Fills a tree with entries, from one thread or task. Contexts of one writer do not disturb each other; each makes
/// clusters of its own. An error, or dropping it before [`FillContext::finish`], gives the output up.
pub struct FillContext {
    shared: Arc<Shared>,
    tree: usize,
    place: Place,
    /// Clusters handed over.
    clusters: u64,
    plan: Arc<TreePlan>,
    branches: Vec<BranchFill>,
    benches: Benches,
    rule: ClusterRule,
    /// The largest values of branches that count.
    maxima: Vec<u64>,
    /// Bytes taken at the gate, if a cluster is being filled, and by which thread.
    held: Option<(u64, ThreadId)>,
    /// Bytes taken at the gate for buffers that are kept between clusters.
    kept: u64,
    most: u64,
    /// Bytes of an entry before compression, as far as known.
    each: u64,
    /// The most that the cluster really took.
    peak: u64,
    clocks: Arc<Clocks>,
    finished: bool,
}

impl FillContext {
    pub(super) fn begin(shared: Arc<Shared>, tree: usize, task: Option<u64>) -> Result<Self> {
        let Begun { plan, clocks, place } = shared.begin(tree, task)?;
        let kit = shared.kit(tree).unwrap_or_else(|| Kit {
            branches: plan.branches.iter().map(BranchFill::new).collect(),
            compressors: Vec::new(),
            kept: 0,
        });
        let benches = Benches::new(kit.compressors, Arc::clone(&clocks));
        let (rule, maxima) = (ClusterRule::new(plan.cluster), vec![0; plan.branches.len()]);
        Ok(Self {
            shared,
            tree,
            place,
            clusters: 0,
            plan,
            branches: kit.branches,
            benches,
            kept: kit.kept,
            rule,
            maxima,
            held: None,
            most: 0,
            each: 0,
            peak: 0,
            clocks,
            finished: false,
        })
    }

    /// The columns: their names and types. Those that only count others need not be given.
    pub fn fields(&self) -> impl Iterator<Item = &FieldRef> {
        self.plan.fields()
    }

    /// Bytes of memory that its baskets take, full ones and others.
    pub fn memory(&self) -> u64 {
        self.branches.iter().map(BranchFill::memory).sum::<u64>() + self.benches.memory()
    }

    /// Shows what it does.
    pub fn watch(&self) -> Watch {
        Watch::new(&self.clocks)
    }

    /// Adds the rows of a batch as entries; its columns are found by their names. May wait for memory.
    pub fn fill(&mut self, batch: &RecordBatch) -> Result<()> {
        let filled = self.fill_or_fail(batch);
        filled.map_err(|e| self.give_up(e))
    }

    /// Ends the cluster here.
    pub fn flush(&mut self) -> Result<()> {
        let flushed = if self.rule.entries() > 0 { self.end_cluster() } else { Ok(()) };
        flushed.map_err(|e| self.give_up(e))
    }

    /// Ends the last cluster; the context has done its part.
    pub fn finish(mut self) -> Result<()> {
        self.flush()?;
        self.finished = true;
        for (fill, plan) in self.branches.iter_mut().zip(&self.plan.branches) {
            fill.reset(plan);
        }
        // What it leaves is on top of what the next task needs.
        self.place.holds(0);
        if !self.shared.gate.has(self.most) {
            self.give_up_room();
        }
        let branches = std::mem::take(&mut self.branches);
        let compressors = self.benches.compressors();
        self.shared.put_kit(self.tree, Kit { branches, compressors, kept: std::mem::take(&mut self.kept) });
        self.shared.done(self.tree, self.place.task())
    }

    /// Gives the output up, for this reason.
    pub fn abandon(self, why: &str) {
        self.shared.fail(&Error::request(why));
    }

    fn give_up(&mut self, error: Error) -> Error {
        self.shared.fail(&error);
        error
    }

    fn fill_or_fail(&mut self, batch: &RecordBatch) -> Result<()> {
        self.shared.check()?;
        let arrays = self.arrays(batch)?;
        let rows = batch.num_rows();
        let mut at = 0;
        while at < rows {
            if self.held.is_none() {
                self.begin_cluster()?;
            }
            let n = usize::try_from(self.rule.ahead()).unwrap_or(usize::MAX).min(rows - at);
            self.fill_rows(&arrays, at..at + n)?;
            at += n;
            self.rule.add(n as u64);
            self.clocks.entries.fetch_add(n as u64, Ordering::Relaxed);
            if self.rule.ahead() == 0 && self.is_full()? {
                self.end_cluster()?;
            }
        }
        Ok(())
    }

    /// The arrays of all branches, for a batch.
    fn arrays(&self, batch: &RecordBatch) -> Result<Vec<ArrayRef>> {
        let casting = self.shared.casting;
        let given = |number: usize| {
            let field = self.plan.wholes.get(number)?.field();
            let name = field.name().trim_end_matches('.');
            // Most batches have all columns in their order: looking each up by its name takes long where there are many.
            if batch.schema_ref().fields().get(number).is_some_and(|given| given.name() == field.name()) {
                return batch.columns().get(number).cloned();
            }
            batch.column_by_name(field.name()).or_else(|| batch.column_by_name(name)).cloned()
        };
        let name = |number: usize| self.plan.wholes.get(number).map_or("", |whole| whole.field().name());
        let named = |number: usize| move |e: Error| e.object(format!("column {}", name(number)));
        let mut columns: Vec<Option<ArrayRef>> = Vec::with_capacity(self.plan.wholes.len());
        for (number, whole) in self.plan.wholes.iter().enumerate() {
            let conformed = given(number).map(|array| conform(&array, whole.field().data_type(), casting));
            columns.push(conformed.transpose().map_err(named(number))?);
        }
        for &(counter, of) in &self.plan.counted {
            let counted = columns.get(of).and_then(Option::as_ref).ok_or_else(missing).map_err(named(of))?;
            let wanted = lengths(counted).map_err(named(of))?;
            let Some(count) = columns.get_mut(counter) else { continue };
            let count = match count {
                Some(count) => count,
                None => {
                    let field = self.plan.wholes.get(counter).map(|whole| whole.field().data_type());
                    let made = conform(&wanted, field.unwrap_or(&DataType::Int32), casting).map_err(named(counter))?;
                    count.insert(made)
                }
            };
            let same = conform(count, &DataType::Int32, casting).map_err(named(counter))?;
            if same.as_primitive::<Int32Type>().values() != wanted.as_primitive::<Int32Type>().values() {
                let why = format!("lists of other lengths than {} says", name(counter));
                return Err(named(of)(Error::request(why)));
            }
        }
        let mut parts = Vec::with_capacity(columns.len());
        for (number, (whole, array)) in self.plan.wholes.iter().zip(columns).enumerate() {
            let array = array.ok_or_else(missing).map_err(named(number))?;
            parts.push(whole.project(&array).map_err(named(number))?);
        }
        self.plan
            .branches
            .iter()
            .map(|branch| {
                let (whole, part) = branch.whole;
                parts.get(whole).and_then(|parts| parts.get(part)).cloned().ok_or_else(missing)
            })
            .collect()
    }

    fn fill_rows(&mut self, arrays: &[ArrayRef], rows: std::ops::Range<usize>) -> Result<()> {
        if let Some(team) = self.team(rows.len() as u64) {
            let (branches, benches) = (&mut self.branches, (self.maxima.as_mut_slice(), &self.benches));
            return together::fill(&team, branches, &self.plan, (arrays, rows), benches);
        }
        let plans = self.plan.branches.iter().zip(arrays);
        let jobs = self.branches.iter_mut().zip(plans).zip(&mut self.maxima).enumerate();
        let fill = |bench: &mut Bench| {
            for (index, ((fill, (plan, array)), maximum)) in jobs {
                fill.fill((index, plan), array, rows.clone(), bench)
                    .map_err(|e| e.object(format!("branch {}", plan.name)))?;
                if plan.counts {
                    *maximum = (*maximum).max(largest(&array.slice(rows.start, rows.len())));
                }
            }
            Ok(())
        };
        self.clocks.encode(|| self.benches.with(fill))
    }

    /// Threads to share these entries with, if it is worth it.
    fn team(&self, entries: u64) -> Option<Arc<ThreadPool>> {
        self.shared.team.as_ref().filter(|_| entries.saturating_mul(self.each) >= SHARED).cloned()
    }

    /// Whether the cluster ends here. Takes what is really needed at the gate.
    fn is_full(&mut self) -> Result<bool> {
        let (filled, taken) = (self.filled(), self.memory());
        self.each = (filled.raw + filled.pending) / self.rule.entries().max(1);
        self.peak = self.peak.max(taken);
        let mut has_room = true;
        if let Some((held, _)) = self.held.as_mut().filter(|(held, _)| taken > *held) {
            has_room = self.shared.grow(taken - *held, &self.place)?;
            *held = taken;
            self.place.holds(taken);
        }
        Ok(self.rule.ends(&filled, self.most) || !has_room)
    }

    fn filled(&self) -> Filled {
        let written = self.branches.iter().map(BranchFill::written);
        let (raw, packed) = written.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        Filled { raw, packed, pending: self.branches.iter().map(BranchFill::pending).sum() }
    }

    /// Takes memory for a cluster. What is kept of the last one is part of it; but who has to wait keeps nothing.
    fn begin_cluster(&mut self) -> Result<()> {
        let bytes = self.shared.guess(self.tree, self.rule.first_guess());
        self.most = self.shared.gate.most();
        let bytes = bytes.min(self.most).max(self.kept);
        let taken = match self.shared.try_enter(bytes - self.kept, &self.place)? {
            Some(taken) => self.kept + taken,
            None => {
                self.give_up_room();
                self.shared.drop_kits();
                let (taken, waited) = self.shared.enter(bytes, &self.place)?;
                add(&self.clocks.waiting, waited);
                taken
            }
        };
        if let Some(chunks) = self.shared.spare(&self.plan) {
            self.branches.iter_mut().zip(chunks).for_each(|(fill, chunk)| fill.recycle(chunk));
        }
        self.kept = 0;
        self.place.holds(taken);
        self.held = Some((taken, std::thread::current().id()));
        Ok(())
    }

    fn end_cluster(&mut self) -> Result<()> {
        self.peak = self.peak.max(self.memory());
        match self.team(self.rule.entries()) {
            Some(team) => together::finish_baskets(&team, &mut self.branches, &self.plan, &self.benches)?,
            None => {
                let mut pairs = self.branches.iter_mut().zip(&self.plan.branches).enumerate();
                let finish = |bench: &mut Bench| {
                    pairs.try_for_each(|(index, (fill, plan))| fill.finish_basket((index, plan), bench))
                };
                self.clocks.encode(|| self.benches.with(finish))?;
            }
        }
        let pairs = self.branches.iter_mut().zip(&self.plan.branches);
        let mut filled = Filled::default();
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

    /// Gives back what is kept between clusters.
    fn give_up_room(&mut self) {
        self.place.holds(0);
        self.branches.iter_mut().for_each(BranchFill::give_up_room);
        self.shared.gate.release(std::mem::take(&mut self.kept));
    }

    fn hand_over(&mut self, filled: &Filled, chunks: Vec<Chunk>) -> Result<()> {
        let begun = Instant::now();
        let (held, thread) = self.held.take().unwrap_or((0, std::thread::current().id()));
        // From here on it takes what its records take, and what is kept for the next.
        let bytes: u64 = chunks.iter().map(|chunk| chunk.bytes.capacity() as u64).sum();
        self.kept = self.memory();
        self.peak = self.peak.max(bytes + self.kept);
        self.place.holds(self.kept);
        self.shared.gate.resize(held, bytes + self.kept);
        let (maxima, taken) = (self.maxima.clone(), std::mem::take(&mut self.peak));
        self.clusters += 1;
        let made = (self.place.task(), self.clusters);
        let cluster = Cluster { made, entries: self.rule.entries(), chunks, maxima, held: bytes, taken };
        self.rule.start(filled);
        let handed = self.shared.hand_over(self.tree, cluster);
        // Its own buffers are kept if that leaves enough for the largest cluster that anybody may begin.
        if !self.shared.gate.has(self.most) {
            self.give_up_room();
        }
        // Not before its room is free: another would begin without any.
        self.shared.gate.leave(thread);
        handed?;
        add(&self.clocks.handing, begun.elapsed());
        Ok(())
    }
}

/// What one context leaves to the next: buffers that are there already.
pub(super) struct Kit {
    pub branches: Vec<BranchFill>,
    pub compressors: Vec<Compressor>,
    /// Bytes that they take at the gate.
    pub kept: u64,
}

impl Drop for FillContext {
    fn drop(&mut self) {
        if let Some((held, thread)) = self.held.take() {
            self.shared.gate.leave(thread);
            self.shared.gate.release(held);
        }
        self.shared.gate.release(self.kept);
        if !self.finished {
            self.shared.fail(&Error::request("a fill context was dropped before it was finished"));
        }
    }
}

#[cold]
fn missing() -> Error {
    Error::request("is not among the columns that were given")
}

/// Lengths of the lists of an array.
fn lengths(array: &ArrayRef) -> Result<ArrayRef> {
    fn of<O: arrow_array::OffsetSizeTrait>(array: &ArrayRef) -> Result<ArrayRef> {
        let offsets = array.as_list::<O>().offsets();
        let all = (offsets.last() - offsets.first()).as_usize();
        if i32::try_from(all).is_ok() {
            // None is longer than all together: they need not be looked at one by one.
            #[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "less than 2^31")]
            let lengths = offsets.windows(2).map(|ends| (ends[1] - ends[0]).as_usize() as i32);
            return Ok(Arc::new(Int32Array::from_iter_values(lengths)));
        }
        let lengths = offsets.lengths().map(|n| i32::try_from(n).map_err(|_| too_long()));
        Ok(Arc::new(lengths.collect::<Result<Int32Array>>()?))
    }
    match array.data_type() {
        DataType::LargeList(_) => of::<i64>(array),
        DataType::List(_) => of::<i32>(array),
        other => Err(Error::request(format!("is {other}, where lists are counted"))),
    }
}

#[cold]
fn too_long() -> Error {
    Error::request("a list of 2^31 items or more")
}

/// The largest number of an array, or the length of its longest text and an end.
pub(crate) fn largest(array: &ArrayRef) -> u64 {
    downcast_integer_array!(
        array => array.values().iter().filter_map(|value| value.to_usize()).max().unwrap_or(0) as u64,
        DataType::LargeUtf8 => array.as_string::<i64>().offsets().lengths().max().unwrap_or(0) as u64 + 1,
        _ => 0
    )
}
