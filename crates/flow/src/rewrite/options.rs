//! What a rewrite or merge is asked to do.

use std::collections::HashSet;

use dataset::glob::NameFilter;
use dataset::layout::Layout;
use rootfile::codec::Compression;

use crate::execute::budget::Budget;
use crate::plan::options::{Absent, Pack, Schema};
use crate::select::entries::EntryFilter;

/// Which cycles of a tree, or of what is merged, are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cycles {
    /// The newest; what older ones there are is told.
    #[default]
    Newest,
    /// The newest, and older ones of trees that are other trees under the same name.
    OtherTrees,
    /// All. Those of several inputs are put together newest with newest, second newest with second newest.
    All,
}

/// Names of objects, trees and directories that a merge is restricted to, or leaves out. A directory stands for
/// all that is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listed {
    /// Only these.
    Only(HashSet<String>),
    /// All but these.
    Skip(HashSet<String>),
}

impl Listed {
    /// Whether an object is wanted: `directory` is the path of the directory it lies in.
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

/// What a rewrite or merge is asked to do.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The asked layout; what it leaves open stays as it is.
    pub layout: Layout,
    /// Branches to keep or drop.
    pub filter: NameFilter,
    /// Entries to keep.
    pub entries: EntryFilter,
    /// Only this tree, by its path.
    pub tree: Option<String>,
    /// Whether small clusters are put together with their neighbours.
    pub pack: Pack,
    /// What is done where schemas differ.
    pub schema: Schema,
    /// What is done with branches whose baskets lie in a file that is absent.
    pub absent: Absent,
    /// Which cycles are written.
    pub cycles: Cycles,
    /// Memory and threads.
    pub budget: Budget,
    /// Whether an output that exists may be replaced.
    pub overwrite: bool,
    /// Whether the output is the first input as well, and what comes of it replaces it.
    pub append: bool,
    /// Whether inputs that cannot be read are left out and reported.
    pub skip_bad: bool,
    /// Whether what is copied is decompressed on the way, to see that it can be.
    pub check: bool,
    /// Whether everything is compressed as the first input says it is, unless the layout asks for something.
    pub as_first: bool,
    /// Compression of what is no entry of a tree; that of the layout, or else the first input's, if not given.
    pub metadata: Option<Compression>,
    /// The number that the output's header gives for its compression, where ROOT has several for the same (9 and 109).
    pub header: Option<i32>,
    /// Whether trees are left out.
    pub no_trees: bool,
    /// Names that the merge is restricted to, or leaves out.
    pub listed: Option<Listed>,
    /// Most input files that are open at once; 0 for a default.
    pub open_files: usize,
}
