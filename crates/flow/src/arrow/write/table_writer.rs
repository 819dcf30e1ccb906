//! Writes one table into a file that is open, for one caller, who brings all entries in order. A rewrite uses it where entries are
//! decoded and encoded again; files with tables only are made by `writer`.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use rayon::ThreadPool;
use rootfile::codec::Compression;
use rootfile::{DirId, FileWriter, Result};

use super::any_table::AnyTable;
use super::cluster_rule::ClusterRule;
use super::conform::Casting;
use super::format::ClusterEnd;
use super::table_fill::{FilledCluster, TableFill};
use super::written::WrittenTable;
use crate::execute::encode::clocks::Clocks;
use crate::execute::encode::compressors::Compressors;
use crate::execute::encode::parallel_encode::Ending;
use crate::execute::encode::scratch::{Crew, EncodeScratchPool};
use crate::execute::encode::stream_fill::Arrays;

/// Pieces that wait for helpers take at most one part in this many of a cluster's memory.
const SHARED_SHARE: u64 = 16;

/// A cluster is appended while the next one is filled if it takes at most one part in this many of a cluster's memory: so long it takes
/// memory beside that one, and its buffers after it.
const BESIDE_SHARE: u64 = 4;

/// A table that one caller fills.
pub(crate) struct TableWriter {
    table: Arc<dyn AnyTable>,
    directory: DirId,
    open: OpenCluster,
    scratches: EncodeScratchPool,
    /// A cluster that is filled, and appended while the next one is.
    filled: Option<Box<dyn FilledCluster>>,
}

/// The cluster that is being filled.
struct OpenCluster {
    filling: Box<dyn TableFill>,
    rule: ClusterRule,
    team: Option<Arc<ThreadPool>>,
    /// Most bytes of a cluster in memory.
    limit: u64,
    clusters: u64,
    /// The buffers of a cluster that was appended.
    spare: Option<Vec<Vec<u8>>>,
}

impl OpenCluster {
    /// Adds entries, at most up to the end of the cluster. Returns how many, and whether it is full.
    fn fill(&mut self, arrays: &Arrays, rows: Range<usize>, scratches: &EncodeScratchPool) -> Result<(usize, bool)> {
        let mut at = rows.start;
        while at < rows.end {
            let n = usize::try_from(self.rule.until_check()).unwrap_or(usize::MAX).min(rows.end - at);
            self.filling.fill((arrays, at..at + n), self.team.as_deref(), scratches)?;
            at += n;
            self.rule.add(n as u64);
            if self.rule.until_check() == 0 {
                self.filling.settle(scratches)?;
                self.filling.keep_within(self.limit, 0);
                if self.rule.ends(&self.filling.level(), self.limit) {
                    return Ok((at - rows.start, true));
                }
            }
        }
        Ok((at - rows.start, false))
    }

    /// Ends the cluster.
    fn end(&mut self, scratches: &EncodeScratchPool) -> Result<Box<dyn FilledCluster>> {
        let pending = self.filling.level().pending;
        let sheds = !self.filling.keep_within(self.limit, pending);
        self.filling.finish(Ending { team: self.team.as_deref(), sheds }, scratches)?;
        let (level, entries) = (self.filling.level(), self.rule.entries());
        let cluster = self.filling.start_cluster(ClusterEnd { is_first: self.clusters == 0, entries });
        self.rule.start(&level);
        self.clusters += 1;
        if let Some(buffers) = self.spare.take() {
            self.filling.recycle(buffers);
        }
        Ok(cluster)
    }
}

impl TableWriter {
    /// Begins a table in a directory. A cluster ends early when it takes `limit` bytes of memory.
    pub fn new(
        file: &mut FileWriter,
        directory: DirId,
        table: Arc<dyn AnyTable>,
        (team, limit): (Option<Arc<ThreadPool>>, u64),
    ) -> Result<Self> {
        table.begin(file, directory)?;
        let (filling, _) = Arc::clone(&table).fill()?;
        let rule = filling.cluster_rule();
        let scratches = EncodeScratchPool::new(Arc::new(Compressors::new(limit)), Arc::new(Clocks::default()));
        let crew = team.as_ref().map(|team| Crew::of_team(Arc::clone(team), limit / SHARED_SHARE));
        let scratches = scratches.with_crew(crew);
        let open = OpenCluster { filling, rule, team, limit, clusters: 0, spare: None };
        Ok(Self { table, directory, open, scratches, filled: None })
    }

    /// Adds the rows of a batch as entries. Columns are found by their names.
    pub fn fill(&mut self, file: &mut FileWriter, batch: &RecordBatch) -> Result<()> {
        let arrays = self.open.filling.arrays(batch, Casting::Exact)?.arrays;
        let (rows, mut at) = (batch.num_rows(), 0);
        while at < rows {
            let (done, is_full) = self.fill_and_append(file, &arrays, at..rows)?;
            at += done;
            if is_full {
                self.end_cluster(file)?;
            }
        }
        Ok(())
    }

    /// Fills the cluster, and appends the one before meanwhile.
    fn fill_and_append(&mut self, file: &mut FileWriter, arrays: &Arrays, rows: Range<usize>) -> Result<(usize, bool)> {
        let Self { open, scratches, filled, .. } = self;
        let scratches = &*scratches;
        let Some(team) = open.team.clone() else { return open.fill(arrays, rows, scratches) };
        let Some(mut cluster) = filled.take() else { return open.fill(arrays, rows, scratches) };
        let append = || cluster.append(file, scratches).map(|_| cluster.take_buffers());
        let (appended, done) = team.install(|| rayon::join(append, || open.fill(arrays, rows, scratches)));
        open.spare = Some(appended?);
        done
    }

    /// Ends the cluster, if it has entries.
    pub fn end_cluster(&mut self, file: &mut FileWriter) -> Result<()> {
        if self.open.rule.entries() == 0 {
            return Ok(());
        }
        let mut cluster = self.open.end(&self.scratches)?;
        self.append_filled(file)?;
        let fits = cluster.memory().saturating_mul(BESIDE_SHARE) <= self.open.limit;
        self.filled = Some(cluster);
        if fits && self.open.team.is_some() { Ok(()) } else { self.append_filled(file) }
    }

    /// Appends the cluster that is filled, if there is one.
    fn append_filled(&mut self, file: &mut FileWriter) -> Result<()> {
        let Some(mut cluster) = self.filled.take() else { return Ok(()) };
        cluster.append(file, &self.scratches)?;
        // Streams that have buffers take none.
        self.open.filling.recycle(cluster.take_buffers());
        Ok(())
    }

    /// Clusters so far that ended early for lack of memory.
    pub fn clusters_cut(&self) -> u64 {
        self.open.rule.cut()
    }

    /// Ends the last cluster and writes the table's record, compressed if it is a tree's.
    pub fn finish(mut self, file: &mut FileWriter, compression: Compression) -> Result<WrittenTable> {
        self.flush(file)?;
        self.table.finish(file, (self.directory, compression), &self.scratches)
    }

    /// Ends the last cluster: all are in the file.
    pub fn flush(&mut self, file: &mut FileWriter) -> Result<()> {
        self.end_cluster(file)?;
        self.append_filled(file)
    }
}
