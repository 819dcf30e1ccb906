//! Writes one table into a file that is open, for one caller, who brings all entries in order. A rewrite uses it where entries are
//! decoded and encoded again; files with tables only are made by `writer`.

use std::sync::Arc;

use arrow_array::RecordBatch;
use rayon::ThreadPool;
use rootfile::codec::Compression;
use rootfile::{DirId, FileWriter, Result};

use super::any_table::AnyTable;
use super::cluster_rule::ClusterRule;
use super::conform::Casting;
use super::format::ClusterEnd;
use super::table_fill::TableFill;
use super::written::WrittenTable;
use crate::execute::encode::clocks::Clocks;
use crate::execute::encode::compressors::Compressors;
use crate::execute::encode::scratch::{Crew, EncodeScratchPool};

/// Pieces that wait for helpers take at most one part in this many of a cluster's memory.
const SHARED_SHARE: u64 = 16;

/// A table that one caller fills.
pub(crate) struct TableWriter {
    table: Arc<dyn AnyTable>,
    directory: DirId,
    filling: Box<dyn TableFill>,
    rule: ClusterRule,
    scratches: EncodeScratchPool,
    team: Option<Arc<ThreadPool>>,
    /// Most bytes of a cluster in memory.
    limit: u64,
    clusters: u64,
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
        Ok(Self { table, directory, filling, rule, scratches, team, limit, clusters: 0 })
    }

    /// Adds the rows of a batch as entries. Columns are found by their names.
    pub fn fill(&mut self, file: &mut FileWriter, batch: &RecordBatch) -> Result<()> {
        let arrays = self.filling.arrays(batch, Casting::Exact)?.arrays;
        let (rows, mut at) = (batch.num_rows(), 0);
        while at < rows {
            let n = usize::try_from(self.rule.until_check()).unwrap_or(usize::MAX).min(rows - at);
            self.filling.fill((&arrays, at..at + n), self.team.as_deref(), &self.scratches)?;
            at += n;
            self.rule.add(n as u64);
            if self.rule.until_check() == 0 {
                self.filling.settle(&self.scratches)?;
                if self.rule.ends(&self.filling.level(), self.limit) {
                    self.end_cluster(file)?;
                }
            }
        }
        Ok(())
    }

    fn end_cluster(&mut self, file: &mut FileWriter) -> Result<()> {
        self.filling.finish(self.team.as_deref(), &self.scratches)?;
        let (level, entries) = (self.filling.level(), self.rule.entries());
        let mut cluster = self.filling.start_cluster(ClusterEnd { is_first: self.clusters == 0, entries });
        self.rule.start(&level);
        self.clusters += 1;
        cluster.append(file, &self.scratches)?;
        self.filling.recycle(cluster.take_buffers());
        Ok(())
    }

    /// Ends the last cluster and writes the table's record, compressed if it is a tree's.
    pub fn finish(mut self, file: &mut FileWriter, compression: Compression) -> Result<WrittenTable> {
        self.flush(file)?;
        self.table.finish(file, (self.directory, compression), &self.scratches)
    }

    /// Ends the last cluster.
    pub fn flush(&mut self, file: &mut FileWriter) -> Result<()> {
        if self.rule.entries() > 0 { self.end_cluster(file) } else { Ok(()) }
    }
}
