//! A tree or an RNTuple that is being written.

use std::sync::Arc;

use dataset::ntuple::model::{AttributeSet, Ntuple};
use dataset::tree::Tree;
use rootfile::codec::Compression;
use rootfile::{DirId, Error, FileWriter, Result};

use super::finished_cluster::Content;
use super::ntuple_output::OpenNtuple;
use super::table_plan::TablePlan;
use super::tree_output::OpenTree;
use super::written::WrittenTable;
use crate::execute::encode::scratch::EncodeScratchPool;

/// The metadata of a table before its first entry.
pub(crate) enum TableRecord {
    Tree(Box<Tree>),
    Ntuple(Box<Ntuple>),
}

/// A table that is being written.
pub(crate) enum OpenTable {
    Tree(Box<OpenTree>),
    Ntuple(Box<OpenNtuple>),
}

impl OpenTable {
    pub fn entries(&self) -> u64 {
        match self {
            Self::Tree(open) => open.entries(),
            Self::Ntuple(open) => open.entries(),
        }
    }

    pub fn labels(&self) -> (&str, &str, &str) {
        match self {
            Self::Tree(open) => open.labels(),
            Self::Ntuple(open) => open.labels(),
        }
    }

    pub fn record(&self, keylen: usize) -> Result<Vec<u8>> {
        match self {
            Self::Tree(open) => open.record(keylen),
            Self::Ntuple(open) => open.record(),
        }
    }

    /// Begins a table.
    pub fn begin(file: &mut FileWriter, directory: DirId, plan: Arc<TablePlan>, record: TableRecord) -> Result<Self> {
        match (record, &*plan) {
            (TableRecord::Tree(tree), TablePlan::Tree(_)) => {
                Ok(Self::Tree(Box::new(OpenTree::new(file, directory, plan, *tree))))
            }
            (TableRecord::Ntuple(ntuple), TablePlan::Ntuple(plan)) => {
                Ok(Self::Ntuple(Box::new(OpenNtuple::new(file, plan, *ntuple)?)))
            }
            _ => Err(mismatch()),
        }
    }

    /// Adds columns, which begin with the next entry.
    pub fn extend(
        &mut self,
        file: &mut FileWriter,
        (plan, record): (Arc<TablePlan>, TableRecord),
        scratches: &Arc<EncodeScratchPool>,
    ) -> Result<()> {
        match (self, record, &*plan) {
            (Self::Tree(open), TableRecord::Tree(tree), TablePlan::Tree(_)) => {
                open.extend(file, (plan, *tree), scratches)
            }
            (Self::Ntuple(open), TableRecord::Ntuple(_), TablePlan::Ntuple(plan)) => open.extend(plan),
            _ => Err(mismatch()),
        }
    }

    /// Appends a cluster, which may have been filled without the last columns.
    pub fn append(&mut self, file: &mut FileWriter, entries: u64, content: &mut Content) -> Result<()> {
        match (self, content) {
            (Self::Tree(open), Content::Baskets { chunks, maxima }) => open.append(file, entries, (chunks, maxima)),
            (Self::Ntuple(open), Content::Pages(columns)) => open.append(file, entries, columns),
            _ => Err(mismatch()),
        }
    }

    /// Updates the metadata with what was written so far.
    pub fn update(&mut self, file: &mut FileWriter) -> Result<()> {
        match self {
            Self::Tree(open) => {
                open.update();
                Ok(())
            }
            Self::Ntuple(open) => open.update(file),
        }
    }

    /// Links an attribute set that was written.
    pub fn link(&mut self, set: AttributeSet) -> Result<()> {
        match self {
            Self::Tree(_) => Err(mismatch()),
            Self::Ntuple(open) => {
                open.link(set);
                Ok(())
            }
        }
    }

    /// Whether it is a tree.
    pub fn is_tree(&self) -> bool {
        matches!(self, Self::Tree(_))
    }

    /// Writes its record, compressed if it is a tree's.
    pub fn finish(self, file: &mut FileWriter, directory: DirId, compression: Compression) -> Result<WrittenTable> {
        match self {
            Self::Tree(open) => open.finish(file, directory, compression),
            Self::Ntuple(open) => open.finish(file, directory),
        }
    }
}

#[cold]
fn mismatch() -> Error {
    Error::unsupported("internal error: a cluster of another table")
}
