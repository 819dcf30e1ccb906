//! Options of a rewrite or merge.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use dataset::EntryFilter;
use dataset::glob::NameFilter;
use dataset::layout::Layout;
use rootfile::Follow;
use rootfile::codec::Compression;

use crate::execute::budget::Budget;
use crate::execute::order::Order;
use crate::keys::{IndexNames, KeyNames, SortKey};
use crate::plan::options::PlanOptions;
use crate::select::{CutFlow, Define};

/// Which cycles of a tree or of a merged object are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cycles {
    /// The newest cycle. Notes name the older ones.
    #[default]
    Newest,
    /// The newest cycle, and older cycles that are other trees under the same name.
    OtherTrees,
    /// All cycles. Cycles of several inputs are merged newest with newest, second newest with second newest.
    All,
}

/// Names of objects, trees and directories that a merge is restricted to, or leaves out. A directory includes its
/// content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listed {
    /// Only these names.
    Only(HashSet<String>),
    /// All but these names.
    Skip(HashSet<String>),
}

impl Listed {
    /// Whether an object in a directory is wanted. `directory` is a path.
    pub(crate) fn wants(&self, directory: &str, name: &str) -> bool {
        let named = |set: &HashSet<String>| {
            set.contains(name) || directory.split('/').any(|part| !part.is_empty() && set.contains(part))
        };
        match self {
            Self::Only(set) => named(set),
            Self::Skip(set) => !named(set),
        }
    }
}

/// What becomes of entries that have the key of an earlier one.
#[derive(Clone, Debug)]
pub struct Unique {
    /// The key. Tables without its columns are taken whole.
    pub key: KeyNames,
    /// Whether such entries refuse the rewrite. Otherwise they are left out.
    pub refuse: bool,
    /// The file beside which keys wait that have no room in memory; among temporary files without it.
    pub beside: Option<PathBuf>,
}

/// An index (`TTreeIndex`) that trees get.
#[derive(Clone, Debug)]
pub struct BuildIndex {
    /// Its expressions. Trees without their columns keep what they have.
    pub names: IndexNames,
    /// The file beside which keys wait that have no room in memory; among temporary files without it.
    pub beside: Option<PathBuf>,
}

/// In which order the entries of tables are written.
#[derive(Clone, Debug)]
pub enum EntryOrder {
    /// By their keys, in tables that have the columns of the key. Others stay as they are.
    By(SortBy),
    /// The table has these rows. Where inputs have several tables, one of them is to be [chosen](ContentOptions::tree).
    Given(GivenOrder),
    /// The table of a path has these rows; others stay as they are.
    OfTable {
        /// Its path; empty of a table without one.
        path: String,
        /// The rows.
        order: GivenOrder,
    },
}

/// An order that is known: for each row its entry.
#[derive(Clone, Debug)]
pub struct GivenOrder(pub(crate) Arc<Order>);

/// What entries are sorted by.
#[derive(Clone, Debug)]
pub struct SortBy {
    /// The key.
    pub key: SortKey,
    /// Whether the entries of each input are said to be sorted already: a note tells of one that is not.
    pub is_sorted: bool,
    /// The file beside which rows wait that have no room in memory; among temporary files without it.
    pub beside: Option<PathBuf>,
}

/// What the output has of the inputs.
#[derive(Clone, Debug, Default)]
pub struct ContentOptions {
    /// Branches to keep or drop.
    pub filter: NameFilter,
    /// Entries to keep.
    pub entries: EntryFilter,
    /// Whether each key is kept once.
    pub unique: Option<Unique>,
    /// In which order the entries are written, if not in that of the inputs.
    pub order: Option<EntryOrder>,
    /// Columns that are defined by expressions, in tables that have what they need.
    pub defines: Vec<Define>,
    /// The cut flows of tables whose entries passed cuts before: they are told and written as those of the cuts here.
    pub cut_flows: Vec<CutFlow>,
    /// Only this tree, by its path, or by its path and cycle (`events;2`) where an RNTuple has the same path.
    pub tree: Option<String>,
    /// Names that the merge is restricted to, or leaves out.
    pub listed: Option<Listed>,
    /// Whether trees are left out.
    pub no_trees: bool,
    /// Paths of objects and directories that the output has and that go, where the inputs are added to it.
    pub replaced: Vec<String>,
    /// Which cycles are written.
    pub cycles: Cycles,
}

impl ContentOptions {
    /// Whether an object in a directory is wanted, as far as names tell. `directory` is a path.
    pub(crate) fn wants(&self, directory: &str, name: &str) -> bool {
        self.listed.as_ref().is_none_or(|listed| listed.wants(directory, name))
    }
}

/// How inputs are opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct InputOptions {
    /// Whether the output is the first input as well, which the new file replaces.
    pub append: bool,
    /// Whether unreadable inputs are left out and reported.
    pub skip_bad: bool,
    /// Largest number of input files open at once. 0 for the default.
    pub open_files: usize,
    /// How far addresses in the inputs are followed: those of baskets in other files.
    pub follow: Follow,
}

/// Compression settings of the output as a file, besides those of its layout.
#[derive(Clone, Copy, Debug, Default)]
pub struct CompressionOptions {
    /// Whether everything is compressed as the first input's header says, unless the layout sets a compression.
    pub as_first: bool,
    /// Compression of everything but entries of trees. Default: that of the layout, or else of the first input.
    pub metadata: Option<Compression>,
    /// The compression setting in the output's header, where ROOT has several numbers for the same (9 and 109).
    pub header: Option<i32>,
}

/// Options of a rewrite or merge.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The requested layout. Settings that it leaves open stay as they are.
    pub layout: Layout,
    /// What the output has of the inputs.
    pub content: ContentOptions,
    /// How the trees of the inputs are joined.
    pub plan: PlanOptions,
    /// How inputs are opened.
    pub inputs: InputOptions,
    /// Compression settings besides those of the layout.
    pub compression: CompressionOptions,
    /// Memory and threads.
    pub budget: Budget,
    /// Whether an existing output may be replaced.
    pub overwrite: bool,
    /// Whether copied records are decompressed, to check them.
    pub check: bool,
    /// Whether an output that would lose something of the inputs is refused. Otherwise notes name what is lost.
    pub strict: bool,
    /// Whether the index (`TTreeIndex`) of a tree is left out where not all inputs have one. Otherwise it is made for the others.
    pub drop_index: bool,
    /// The index that trees get in place of the one that they have.
    pub build_index: Option<BuildIndex>,
}

impl Options {
    /// Whether the new file may take the place of one with its name.
    pub(crate) fn may_replace(&self) -> bool {
        self.overwrite || self.inputs.append
    }
}
