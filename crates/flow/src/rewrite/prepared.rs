//! The result of preparing a rewrite: inputs, plans, memory.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use dataset::EntrySet;
use dataset::layout::Layout;
use dataset::tree::Tree;
use rootfile::codec::Compression;
use rootfile::{Key, RootFile};

use super::convert::ConvertPlan;
use crate::execute::budget::Share;
use crate::plan::TablePlan;
use crate::plan::kept::Kept;
use crate::plan::ntuple::model::NtuplePlan;
use crate::verify::cycles::OlderCycle;
use objects::ObjectPlan;
use objects::process_ids::ProcessId;

/// An input that was left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Skipped {
    /// The file.
    pub path: PathBuf,
    /// The reason.
    pub reason: String,
}

/// Everything that is decided before a byte is written.
pub(crate) struct Prepared {
    pub files: Vec<Arc<RootFile>>,
    /// Bytes of all inputs.
    pub bytes: u64,
    pub skipped: Vec<Skipped>,
    pub objects: ObjectPlan,
    pub plans: Vec<(PlannedTree, PlannedTable)>,
    pub pids: Vec<ProcessId>,
    pub pid_offsets: Vec<u16>,
    /// Number of process identifiers of each input.
    pub pid_counts: Vec<u16>,
    pub layout: Layout,
    pub notes: Vec<String>,
    pub older_cycles: Vec<OlderCycle>,
    pub share: Share,
    /// The file version that the output must carry, if it is not that of this writer.
    pub version: Option<i32>,
}

/// The plan of a table of the output.
pub(crate) enum PlannedTable {
    Tree(Box<TablePlan>),
    Ntuple(Box<NtuplePlan>),
    /// A table whose entries are decoded and encoded again: of either kind, from either kind.
    Converted(Box<ConvertPlan>),
}

impl PlannedTable {
    /// The plan, if it is of a tree.
    pub fn tree(&self) -> Option<&TablePlan> {
        match self {
            Self::Tree(plan) => Some(plan),
            Self::Ntuple(_) | Self::Converted(_) => None,
        }
    }

    /// What is not carried over.
    pub fn lost(&mut self) -> &mut Vec<String> {
        match self {
            Self::Tree(plan) => &mut plan.messages.lost,
            Self::Ntuple(plan) => &mut plan.lost,
            Self::Converted(plan) => &mut plan.lost,
        }
    }

    /// Takes what is kept beside an RNTuple that a tree becomes.
    pub fn take_kept(&mut self) -> Option<Box<Kept>> {
        match self {
            Self::Converted(plan) => plan.beside.take().map(Box::new),
            Self::Tree(_) | Self::Ntuple(_) => None,
        }
    }

    /// Memory of metadata while tables are written, in bytes.
    pub fn metadata(&self) -> u64 {
        match self {
            Self::Tree(plan) => plan.metadata,
            Self::Ntuple(plan) => plan.metadata,
            Self::Converted(plan) => plan.metadata,
        }
    }

    /// Memory that is kept between the clusters of the table, in bytes.
    pub fn kept(&self) -> u64 {
        self.tree().map_or(0, TablePlan::kept)
    }

    /// Buffers of one thread, in bytes.
    pub fn scratch(&self, check: bool) -> u64 {
        match self {
            Self::Tree(plan) => plan.scratch(check),
            Self::Ntuple(plan) => plan.scratch,
            Self::Converted(plan) => plan.scratch,
        }
    }
}

/// Memory of metadata for all tables, and of buffers for each thread, in bytes.
pub(crate) fn memory_needs(plans: &[(PlannedTree, PlannedTable)], check: bool) -> (u64, u64) {
    let plans = || plans.iter().map(|(_, plan)| plan);
    let kept = plans().map(PlannedTable::kept).max().unwrap_or(0);
    (
        plans().map(PlannedTable::metadata).sum::<u64>() + kept,
        plans().map(|plan| plan.scratch(check)).max().unwrap_or(0),
    )
}

/// The place of a table in the output.
pub(crate) struct PlannedTree {
    /// Index of its directory in the plan of objects.
    pub directory: usize,
    pub name: String,
    pub path: String,
    /// What is kept beside it, if it is an RNTuple.
    pub kept: Option<Box<Kept>>,
}

/// A tree that differs from its record, or has none.
pub(crate) struct KnownTree {
    /// Its key. Without a record the key has an offset that no other key has.
    pub key: Key,
    /// The tree.
    pub tree: Tree,
    /// The entries to take, if not all entries in its baskets.
    pub cut: Option<EntrySet>,
}

/// Known trees of one file, by the offset in their keys.
pub(crate) type KnownTrees = HashMap<u64, KnownTree>;

/// The compression setting of records without a requested one: the first input's, or if that has none, the setting of most
/// bytes of the output's columns.
pub(crate) fn default_setting(first: &RootFile, plans: &[(PlannedTree, PlannedTable)]) -> i32 {
    let own = first.header().compress;
    if Compression::from_root_setting(own).is_some_and(|own| !own.is_none()) {
        return own;
    }
    let mut bytes: HashMap<i32, u64> = HashMap::new();
    for column in plans.iter().filter_map(|(_, plan)| plan.tree()).flat_map(|plan| &plan.columns) {
        *bytes.entry(column.target.compression.to_root_setting()).or_default() += column.source.tot_bytes;
    }
    bytes.into_iter().max_by_key(|&(setting, bytes)| (bytes, setting)).map_or(own, |(setting, _)| setting)
}
