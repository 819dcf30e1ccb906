//! A table of the output, as the steps of a rewrite see it: they ask the table, and never for its container. Implemented by the plans
//! that move the records of trees (`tree`), move the pages of RNTuples (`ntuple`), and encode entries anew (`convert`).

use std::path::Path;

use dataset::tree::BasketRef;
use rootfile::codec::Compression;
use rootfile::{DirId, Error, FileWriter, Result};

use super::summary::TableSummary;
use crate::execute::budget::Share;
use crate::execute::progress::Progress;
use crate::plan::forecast::Forecast;
use crate::plan::ntuple::model::NtuplePlan;
use crate::plan::tree::TablePlan;
use crate::table::tree::new_index::{MakeTreeIndex, no_place_for_index};

/// A planned table of the output.
pub(crate) trait OutputTable {
    /// The memory that it takes. `check` says whether copied records are decompressed.
    fn memory(&self, check: bool) -> TableMemory;

    /// The tree whose entries stay in the form of the inputs, described by their classes.
    fn tree(&self) -> Option<&TablePlan> {
        None
    }

    /// The same, to change it.
    fn tree_mut(&mut self) -> Option<&mut TablePlan> {
        None
    }

    /// The same, as what it is.
    fn into_tree(self: Box<Self>) -> Option<Box<TablePlan>> {
        None
    }

    /// The RNTuple whose pages are moved.
    fn ntuple(&self) -> Option<&NtuplePlan> {
        None
    }

    /// The same, as what it is.
    fn into_ntuple(self: Box<Self>) -> Option<Box<NtuplePlan>> {
        None
    }

    /// Gives it an index, which `make` makes.
    fn put_index(&mut self, _make: MakeTreeIndex<'_>) -> Result<()> {
        Err(no_place_for_index())
    }

    /// What will be done, without notes. Samples of the content, within the memory that is `share`, take about so many seconds.
    fn forecast(&self, path: &str, share: Share, seconds: f64) -> Result<Forecast>;

    /// Writes the table. Returns its report, and notes on what is lost.
    fn write(self: Box<Self>, output: &mut TableOutput<'_>, how: &Writing<'_>) -> Result<(TableSummary, Vec<String>)>;

    /// Writes what would be written of a tree besides baskets, where its forecast does not know how much that is.
    fn write_metadata(
        self: Box<Self>,
        _output: &mut TableOutput<'_>,
        _compression: Compression,
        _expected: &mut ExpectedBaskets<'_>,
    ) -> Result<()> {
        Err(Error::unsupported("the size of a converted table is not known before"))
    }
}

/// Memory of a table in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TableMemory {
    /// Metadata, while tables are written.
    pub metadata: u64,
    /// What is kept between its clusters.
    pub kept: u64,
    /// Buffers of one thread.
    pub scratch: u64,
}

/// The place of a table in the output.
pub(crate) struct OutputPlace {
    /// Index of its directory in the plan of objects.
    pub directory: usize,
    pub name: String,
    pub path: String,
    /// Its cycle, if that is not the next of its name.
    pub cycle: Option<i16>,
}

/// A file at the place of a table.
pub(crate) struct TableOutput<'a> {
    pub writer: &'a mut FileWriter,
    pub directory: DirId,
    pub place: &'a OutputPlace,
}

/// How tables are written.
#[derive(Clone, Copy)]
pub(crate) struct Writing<'a> {
    /// The name of the first input, if that is updated in place and the content of its table stays.
    pub stays: Option<&'a Path>,
    /// Compression of metadata.
    pub compression: Compression,
    pub share: Share,
    /// Whether copied records are decompressed.
    pub check: bool,
    pub progress: Progress<'a>,
    /// For each input what is added to its numbers of process identifiers, and how many it has.
    pub pid_offsets: &'a [u16],
    pub pid_counts: &'a [u16],
}

/// The expected baskets of a column, given the names of the branch's parents and its own, and the bounds of clusters. Their positions are
/// ignored.
type BasketsOf<'a> = dyn Fn(&[&str], &[u64]) -> Vec<BasketRef> + 'a;

/// Baskets that are not written, and the position of the next one.
pub(crate) struct ExpectedBaskets<'a> {
    pub of: &'a BasketsOf<'a>,
    pub seek: u64,
}
