//! What a fill context fills: the branches or fields of a table, cluster by cluster. A finished cluster knows its table, so that it is
//! appended to that one, and no other code needs to know the container.

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::FieldRef;
use rayon::ThreadPool;
use rootfile::{FileWriter, Result};

use super::cluster_rule::{ClusterRule, FillLevel};
use super::conform::Casting;
use super::format::{ClusterEnd, Content, OpenTable, TableFormat};
use super::table::{IdleStreams, Table};
use crate::execute::encode::parallel_encode::{Ending, PiecesApart};
use crate::execute::encode::scratch::EncodeScratchPool;
use crate::execute::encode::stream_fill::{Arrays, StreamFill};

/// The plan that pooled buffers fit.
pub(crate) type PoolKey = Arc<dyn Any + Send + Sync>;

/// The columns of a batch, as a plan takes them.
pub(crate) struct PlannedArrays {
    pub arrays: Box<Arrays>,
    /// The number of their plan, if it has more columns than that of the fill.
    pub wider: Option<usize>,
}

/// The columns of a table that are being filled.
pub(crate) trait TableFill: Send {
    /// Where clusters end.
    fn cluster_rule(&self) -> ClusterRule;

    /// Names and types of the columns. Columns that only count others may be left out of a batch.
    fn fields(&self) -> Box<dyn Iterator<Item = &FieldRef> + '_>;

    /// The columns of a batch.
    fn arrays(&self, batch: &RecordBatch, casting: Casting) -> Result<PlannedArrays>;

    /// Goes on with a plan of more columns. No entries of a cluster are in it.
    fn widen(&mut self, plan: usize) -> Result<()>;

    /// Adds entries, and makes the baskets or pages that they fill, with the threads of a team if there is one.
    fn fill(
        &mut self,
        arrays: (&Arrays, Range<usize>),
        team: Option<&ThreadPool>,
        scratches: &EncodeScratchPool,
    ) -> Result<()>;

    /// Adds the baskets and pages that other threads make, when they are made: until then their bytes count nowhere.
    fn settle(&mut self, scratches: &EncodeScratchPool) -> Result<()>;

    /// Makes the last baskets or pages of a cluster.
    fn finish(&mut self, ending: Ending<'_>, scratches: &EncodeScratchPool) -> Result<()>;

    /// Returns a finished cluster, and begins the next one.
    fn start_cluster(&mut self, cluster: ClusterEnd) -> Box<dyn FilledCluster>;

    /// Bytes that the cluster holds.
    fn level(&self) -> FillLevel;

    /// Bytes of its buffers.
    fn memory(&self) -> u64;

    /// Makes room for `ahead` entries like the `done` ones of this cluster.
    fn make_room(&mut self, done: u64, ahead: u64);

    /// Frees its buffers.
    fn drop_buffers(&mut self);

    /// Frees the room of its buffers in which nothing lies.
    fn shed(&mut self);

    /// Sheds if its buffers and `more` bytes take more than `limit`. Returns whether they keep within it then. Buffers keep the room that the
    /// largest of their baskets or pages ever took. Where these vary much from cluster to cluster, all together is far more than one needs.
    fn keep_within(&mut self, limit: u64, more: u64) -> bool {
        let is_within = |fill: &Self| fill.memory().saturating_add(more) <= limit;
        if !is_within(self) {
            self.shed();
        }
        is_within(self)
    }

    /// The plan that buffers for it must fit.
    fn pool_key(&self) -> PoolKey;

    /// Takes the buffers of a cluster that was written.
    fn recycle(&mut self, buffers: Vec<Vec<u8>>);

    /// Leaves its buffers, for which so many bytes are reserved, to the next context of the table. Returns the bytes to release.
    fn leave(&mut self, kept: u64) -> u64;
}

/// A cluster that is filled.
pub(crate) trait FilledCluster: Send {
    /// The buffer of each branch or column.
    fn buffers(&mut self) -> Vec<&mut Vec<u8>>;

    /// Appends it to its table. Returns whether the table got columns.
    fn append(&mut self, file: &mut FileWriter, scratches: &EncodeScratchPool) -> Result<bool>;

    /// The plan that its buffers fit, if they serve again.
    fn pool_key(&self) -> Option<PoolKey>;

    /// Its buffers, for other clusters.
    fn take_buffers(&mut self) -> Vec<Vec<u8>> {
        self.buffers().into_iter().map(std::mem::take).collect()
    }

    /// Bytes of its memory.
    fn memory(&mut self) -> u64 {
        self.buffers().iter().map(|buffer| buffer.capacity() as u64).sum()
    }
}

/// The streams of a table of one container.
pub(super) struct Streams<F: TableFormat> {
    table: Arc<Table<F>>,
    plan: Arc<F::Plan>,
    streams: Vec<F::Stream>,
    apart: PiecesApart<F::Stream>,
}

/// A cluster of one container.
struct Filled<F: TableFormat> {
    table: Arc<Table<F>>,
    plan: Arc<F::Plan>,
    entries: u64,
    content: F::Content,
}

impl<F: TableFormat> Streams<F> {
    /// The streams of a table, and the bytes reserved for the buffers that a finished context left them.
    pub fn begin(table: &Arc<Table<F>>) -> Result<(Self, u64)> {
        let (plan, IdleStreams { streams, kept }) = table.begin_context()?;
        let mut new = Self { table: Arc::clone(table), plan, streams, apart: PiecesApart::default() };
        new.add_streams();
        Ok((new, kept))
    }

    fn add_streams(&mut self) {
        self.streams.extend(F::streams_from(&self.plan, self.streams.len()));
    }
}

impl<F: TableFormat> TableFill for Streams<F> {
    fn cluster_rule(&self) -> ClusterRule {
        F::cluster_rule(&self.plan)
    }

    fn fields(&self) -> Box<dyn Iterator<Item = &FieldRef> + '_> {
        F::fields(&self.plan)
    }

    fn arrays(&self, batch: &RecordBatch, casting: Casting) -> Result<PlannedArrays> {
        let wider = self.table.wider_plan(&self.plan, batch);
        let arrays = match wider {
            Some(number) => F::arrays(&*self.table.plan(number)?, batch, casting)?,
            None => F::arrays(&self.plan, batch, casting)?,
        };
        Ok(PlannedArrays { arrays, wider })
    }

    fn widen(&mut self, plan: usize) -> Result<()> {
        self.plan = self.table.plan(plan)?;
        self.add_streams();
        Ok(())
    }

    fn fill(
        &mut self,
        arrays: (&Arrays, Range<usize>),
        team: Option<&ThreadPool>,
        scratches: &EncodeScratchPool,
    ) -> Result<()> {
        self.apart.fill(&mut self.streams, F::streams(&self.plan), arrays, team, scratches)
    }

    fn settle(&mut self, scratches: &EncodeScratchPool) -> Result<()> {
        self.apart.settle(&mut self.streams, F::streams(&self.plan), scratches)
    }

    fn finish(&mut self, ending: Ending<'_>, scratches: &EncodeScratchPool) -> Result<()> {
        self.apart.finish(&mut self.streams, F::streams(&self.plan), ending, scratches)
    }

    fn start_cluster(&mut self, cluster: ClusterEnd) -> Box<dyn FilledCluster> {
        let content = F::start_cluster(&mut self.streams, &self.plan, cluster);
        let (table, plan) = (Arc::clone(&self.table), Arc::clone(&self.plan));
        Box::new(Filled { table, plan, entries: cluster.entries, content })
    }

    fn level(&self) -> FillLevel {
        let written = self.streams.iter().map(StreamFill::written);
        let (raw, packed) = written.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        FillLevel { raw, packed, pending: self.streams.iter().map(StreamFill::pending).sum() }
    }

    fn memory(&self) -> u64 {
        self.streams.iter().map(StreamFill::memory).sum()
    }

    fn make_room(&mut self, done: u64, ahead: u64) {
        self.streams.iter_mut().for_each(|stream| stream.make_room(done, ahead));
    }

    fn drop_buffers(&mut self) {
        self.streams.iter_mut().for_each(StreamFill::drop_buffers);
    }

    fn shed(&mut self) {
        self.streams.iter_mut().for_each(StreamFill::shed);
    }

    fn pool_key(&self) -> PoolKey {
        self.plan.clone()
    }

    fn recycle(&mut self, buffers: Vec<Vec<u8>>) {
        let mut buffers = buffers.into_iter();
        self.streams.iter_mut().for_each(|stream| stream.recycle(&mut buffers));
    }

    fn leave(&mut self, kept: u64) -> u64 {
        let plans = F::streams(&self.plan);
        self.streams.iter_mut().zip(plans).for_each(|(stream, plan)| stream.reset(plan));
        self.table.end_context(&self.plan, IdleStreams { streams: std::mem::take(&mut self.streams), kept })
    }
}

impl<F: TableFormat> FilledCluster for Filled<F> {
    fn buffers(&mut self) -> Vec<&mut Vec<u8>> {
        self.content.buffers()
    }

    fn append(&mut self, file: &mut FileWriter, scratches: &EncodeScratchPool) -> Result<bool> {
        self.table.with_open(|open| {
            let extended = open.extend(file, Some(&self.plan), scratches)?;
            open.table.append(file, (self.entries, &mut self.content), scratches)?;
            Ok(extended)
        })
    }

    fn pool_key(&self) -> Option<PoolKey> {
        F::reuses_buffers(&self.plan).then(|| self.plan.clone() as PoolKey)
    }
}
