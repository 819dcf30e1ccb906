//! The report of a recovery: the recovered trees, RNTuples and objects, the losses, and baskets without a tree.

use std::fmt;

use rootfile::{Error, Key};

/// The result of a recovery.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Recovery {
    /// Version of this structure.
    pub schema: u32,
    /// Bytes of the input.
    pub bytes_read: u64,
    /// Bytes of the output.
    pub bytes_written: u64,
    /// Recovered trees.
    pub trees: Vec<RecoveredTree>,
    /// Recovered RNTuples. Each is whole.
    pub ntuples: Vec<RecoveredNtuple>,
    /// RNTuples that were not closed, and cannot be recovered.
    pub lost_ntuples: Vec<LostNtuple>,
    /// Number of other recovered objects.
    pub objects: u64,
    /// Baskets of trees whose record was not found.
    pub unplaced: Vec<Unplaced>,
    /// Records of objects and trees that cannot be read.
    pub unreadable: Vec<Unreadable>,
    /// Whether all known content is recovered, except entries at the end of a tree that only some branches have.
    pub whole: bool,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// A recovered tree.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct RecoveredTree {
    /// Path of the tree.
    pub path: String,
    /// Cycle of its key in the input, which tells trees of one name apart.
    pub cycle: i16,
    /// Entries of the output: the entries that all branches have.
    pub entries: u64,
    /// Entries by the record of the last AutoSave; `None` without a record.
    pub saved_entries: Option<u64>,
    /// Entries that the record or a branch has and that are not recovered. Entries that were never written are not counted.
    pub entries_lost: u64,
    /// Baskets that no record lists.
    pub baskets_found: u64,
    /// Ranges of entries that the output leaves out of the middle or the end, as the input counts: first entry, and the
    /// entry after the last.
    pub ranges_lost: Vec<(u64, u64)>,
    /// Branches that had more entries than could be kept, or baskets that cannot be read.
    pub branches: Vec<BranchLoss>,
}

/// The losses of one branch.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct BranchLoss {
    /// Branch names from the top down, with / between.
    pub name: String,
    /// Readable entries that are left out because other branches lack them.
    pub entries_lost: u64,
    /// Entries that cannot be read.
    pub entries_unreadable: u64,
    /// Baskets that cannot be read.
    pub baskets_unreadable: u64,
    /// Bytes of these on disk.
    pub bytes_unreadable: u64,
    /// Ranges of entries that cannot be read: first entry, and the entry after the last.
    pub ranges_unreadable: Vec<(u64, u64)>,
}

/// A recovered RNTuple.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct RecoveredNtuple {
    /// Path of the RNTuple.
    pub path: String,
    /// Cycle of its key.
    pub cycle: i16,
    /// Entries.
    pub entries: u64,
}

/// An RNTuple without an anchor.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct LostNtuple {
    /// Its name.
    pub name: String,
    /// Offset of the record with its header.
    pub offset: u64,
    /// Bytes from there on in records of RNTuples.
    pub bytes_at_most: u64,
}

impl fmt::Display for LostNtuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, offset, bytes_at_most } = self;
        write!(
            f,
            "RNTuple {name} (header at byte {offset}, up to {bytes_at_most} bytes) was not closed and cannot be recovered: \
             the lists of its pages are written when it is closed"
        )
    }
}

/// A record that cannot be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Unreadable {
    /// Name of the object.
    pub name: String,
    /// Its cycle.
    pub cycle: i16,
    /// Its class.
    pub class: String,
    /// Offset of the record.
    pub offset: u64,
    /// Bytes of the record.
    pub bytes: u64,
    /// The reason why it cannot be read.
    pub reason: String,
}

impl Unreadable {
    pub(super) fn new(key: &Key, why: &Error) -> Self {
        Self {
            name: key.name.clone(),
            cycle: key.cycle,
            class: key.class.clone(),
            offset: key.seek_key,
            bytes: u64::from(key.nbytes),
            reason: why.to_string(),
        }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{};{} ({}, {} bytes at byte {}): ", self.name, self.cycle, self.class, self.bytes, self.offset)?;
        f.write_str(&self.reason)
    }
}

/// Baskets of one branch of a tree whose record was not found.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Unplaced {
    /// Name of the tree.
    pub tree: String,
    /// Name of the branch.
    pub branch: String,
    /// Baskets.
    pub baskets: u64,
    /// Entries in them.
    pub entries: u64,
}

impl fmt::Display for Unplaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tree {}, branch {}: {} baskets with {} entries", self.tree, self.branch, self.baskets, self.entries)
    }
}
