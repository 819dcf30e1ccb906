//! The result of preparing a rewrite: inputs, plans, memory.

use std::collections::HashMap;
use std::sync::Arc;

use dataset::EntrySet;
use dataset::layout::Layout;
use dataset::tree::Tree;
use rootfile::codec::Compression;
use rootfile::{Committed, Key, RootFile};

use super::output_table::{OutputPlace, OutputTable, TableMemory};
use crate::execute::budget::Share;
use crate::keys::{DuplicateKeys, UnsortedInput};
use crate::plan::skipped::Skipped;
use crate::plan::tree::kept::Kept;
use crate::select::CutFlow;
use crate::verify::cycles::OlderCycle;
use objects::ObjectPlan;
use objects::process_ids::ProcessId;

/// Everything that is decided before a byte is written.
pub(crate) struct Prepared {
    pub files: Vec<Arc<RootFile>>,
    /// The first of them as it is, if it is updated in place.
    pub committed: Option<Committed>,
    /// Bytes of all inputs.
    pub bytes: u64,
    pub skipped: Vec<Skipped>,
    pub objects: ObjectPlan,
    pub plans: Vec<(OutputPlace, PlannedTable)>,
    pub pids: Vec<ProcessId>,
    pub pid_offsets: Vec<u16>,
    /// Number of process identifiers of each input.
    pub pid_counts: Vec<u16>,
    pub layout: Layout,
    pub notes: Vec<String>,
    /// What cuts leave of the entries of each table.
    pub cut_flows: Vec<CutFlow>,
    /// The entries of each table that have the key of another.
    pub duplicates: Vec<DuplicateKeys>,
    /// The first entry of each input that is not sorted by the key by which entries are written.
    pub unsorted: Vec<UnsortedInput>,
    pub older_cycles: Vec<OlderCycle>,
    pub share: Share,
    /// The file version that the output must carry, if it is not that of this writer.
    pub version: Option<i32>,
}

/// The plan of a table of the output.
pub(crate) struct PlannedTable {
    pub table: Box<dyn OutputTable>,
    /// Notes, and those on what is not carried over.
    pub notes: Vec<String>,
    pub lost: Vec<String>,
    /// What is kept beside it, if it is an RNTuple.
    pub kept: Option<Kept>,
}

/// The memory of all tables, which are written one after the other. What is kept counts as metadata.
pub(crate) fn memory_needs(plans: &[(OutputPlace, PlannedTable)], check: bool) -> TableMemory {
    let all = plans.iter().map(|(_, plan)| plan.table.memory(check));
    let mut sum = all.fold(TableMemory::default(), |sum, table| TableMemory {
        metadata: sum.metadata.saturating_add(table.metadata),
        kept: sum.kept.max(table.kept),
        scratch: sum.scratch.max(table.scratch),
    });
    sum.metadata = sum.metadata.saturating_add(sum.kept);
    sum
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
pub(crate) fn default_setting(first: &RootFile, plans: &[(OutputPlace, PlannedTable)]) -> i32 {
    let own = first.header().compress;
    if Compression::from_root_setting(own).is_some_and(|own| !own.is_none()) {
        return own;
    }
    let mut bytes: HashMap<i32, u64> = HashMap::new();
    for column in plans.iter().filter_map(|(_, plan)| plan.table.tree()).flat_map(|plan| &plan.columns) {
        *bytes.entry(column.target.compression.to_root_setting()).or_default() += column.source.tot_bytes;
    }
    bytes.into_iter().max_by_key(|&(setting, bytes)| (bytes, setting)).map_or(own, |(setting, _)| setting)
}
