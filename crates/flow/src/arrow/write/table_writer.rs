//! Writes one table into a file that is open, for one caller, who brings all entries in order. A rewrite uses it where entries are
//! decoded and encoded again; files with tables only are made by `writer`.

use std::sync::Arc;

use arrow_array::RecordBatch;
use rayon::ThreadPool;
use rootfile::codec::Compression;
use rootfile::{DirId, FileWriter, Result};

use super::cluster_rule::ClusterRule;
use super::conform::Casting;
use super::open_table::{OpenTable, TableRecord};
use super::table_fill::TableFill;
use super::table_plan::TablePlan;
use super::written::WrittenTable;
use crate::execute::encode::clocks::Clocks;
use crate::execute::encode::compressors::Compressors;
use crate::execute::encode::scratch::EncodeScratchPool;

/// A table that one caller fills.
pub(crate) struct TableWriter {
    plan: Arc<TablePlan>,
    pub open: OpenTable,
    directory: DirId,
    filling: TableFill,
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
        (plan, record): (TablePlan, TableRecord),
        (team, limit): (Option<Arc<ThreadPool>>, u64),
    ) -> Result<Self> {
        let plan = Arc::new(plan);
        let open = OpenTable::begin(file, directory, Arc::clone(&plan), record)?;
        let (filling, rule) = (TableFill::new(&plan), plan.cluster_rule());
        let scratches = EncodeScratchPool::new(Arc::new(Compressors::new(limit)), Arc::new(Clocks::default()));
        Ok(Self { plan, open, directory, filling, rule, scratches, team, limit, clusters: 0 })
    }

    /// Adds the rows of a batch as entries. Columns are found by their names.
    pub fn fill(&mut self, file: &mut FileWriter, batch: &RecordBatch) -> Result<()> {
        let arrays = self.plan.arrays(batch, Casting::Exact)?;
        let (rows, mut at) = (batch.num_rows(), 0);
        while at < rows {
            let n = usize::try_from(self.rule.until_check()).unwrap_or(usize::MAX).min(rows - at);
            self.filling.fill(&self.plan, (&arrays, at..at + n), self.team.as_deref(), &self.scratches)?;
            at += n;
            self.rule.add(n as u64);
            if self.rule.until_check() == 0 && self.rule.ends(&self.filling.level(), self.limit) {
                self.end_cluster(file)?;
            }
        }
        Ok(())
    }

    fn end_cluster(&mut self, file: &mut FileWriter) -> Result<()> {
        self.filling.finish(&self.plan, self.team.as_deref(), &self.scratches)?;
        let (level, entries) = (self.filling.level(), self.rule.entries());
        let mut content = self.filling.start_cluster(&self.plan, (self.clusters == 0, entries))?;
        self.rule.start(&level);
        self.clusters += 1;
        self.open.append(file, entries, &mut content)?;
        self.filling.recycle(content);
        Ok(())
    }

    /// Ends the last cluster and writes the table's record, compressed if it is a tree's.
    pub fn finish(mut self, file: &mut FileWriter, compression: Compression) -> Result<WrittenTable> {
        self.flush(file)?;
        self.open.finish(file, self.directory, compression)
    }

    /// Ends the last cluster.
    pub fn flush(&mut self, file: &mut FileWriter) -> Result<()> {
        if self.rule.entries() > 0 { self.end_cluster(file) } else { Ok(()) }
    }
}
