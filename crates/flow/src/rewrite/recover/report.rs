//! What a recovery says: what it brought back, what is lost, and what it could not place.

use std::collections::BTreeMap;
use std::fmt;

use rootfile::{Error, Key};

use super::found::Basket;

/// What was brought back.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Recovery {
    /// Version of this structure.
    pub schema: u32,
    /// Bytes of the input.
    pub bytes_read: u64,
    /// Bytes of the output.
    pub bytes_written: u64,
    /// Trees that were brought back.
    pub trees: Vec<RecoveredTree>,
    /// Other objects that were brought back.
    pub objects: u64,
    /// Baskets of trees whose record was not found.
    pub unplaced: Vec<Unplaced>,
    /// Records of objects and trees that cannot be read.
    pub unreadable: Vec<Unreadable>,
    /// Whether everything is brought back that the file tells of, but for entries that only some branches of a tree
    /// have at its end.
    pub whole: bool,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// A tree that was brought back.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct RecoveredTree {
    /// Path of the tree.
    pub path: String,
    /// Cycle of its key in the input: trees of one name are kept apart.
    pub cycle: i16,
    /// Entries of the output: those that all branches have.
    pub entries: u64,
    /// Entries that the record knew of which an AutoSave left; null if there was no record.
    pub saved_entries: Option<u64>,
    /// Entries that the record or some branch tells of and that are not brought back. What was never written out, no
    /// one knows.
    pub entries_lost: u64,
    /// Baskets that no record knew of.
    pub baskets_found: u64,
    /// First entry, and the one after the last, of what the output leaves out of the middle or the end, as the input
    /// counts.
    pub ranges_lost: Vec<(u64, u64)>,
    /// Branches that had more entries than could be kept, or baskets that cannot be read.
    pub branches: Vec<BranchLoss>,
}

/// What is lost of one branch, since others end before it.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct BranchLoss {
    /// Branch names from the top down, with / between.
    pub name: String,
    /// Entries that can be read and are left out, since other branches lack them.
    pub entries_lost: u64,
    /// Entries that cannot be read.
    pub entries_unreadable: u64,
    /// Baskets that cannot be read.
    pub baskets_unreadable: u64,
    /// Bytes of these on disk.
    pub bytes_unreadable: u64,
    /// First entry, and the one after the last, of what cannot be read.
    pub ranges_unreadable: Vec<(u64, u64)>,
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
    /// Why it cannot be read.
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

/// Baskets, put together by tree and branch.
pub(super) fn unplaced(baskets: &[Basket]) -> Vec<Unplaced> {
    let mut groups: BTreeMap<(&str, &str), (u64, u64)> = BTreeMap::new();
    for basket in baskets {
        let group = groups.entry((&basket.tree, &basket.branch)).or_default();
        *group = (group.0 + 1, group.1 + basket.entries);
    }
    let list = groups.into_iter().map(|((tree, branch), (baskets, entries))| Unplaced {
        tree: tree.to_owned(),
        branch: branch.to_owned(),
        baskets,
        entries,
    });
    list.collect()
}

/// Branches that a message names at most.
const SHOWN: usize = 5;

/// Why nothing can be brought back.
pub(super) fn refusal(unplaced: &[Unplaced], like: bool) -> String {
    if unplaced.is_empty() {
        return "nothing that could be brought back was found: no tree, no basket, no object".to_owned();
    }
    let mut there = unplaced.iter().take(SHOWN).map(ToString::to_string).collect::<Vec<_>>().join("; ");
    if let Some(more @ 1..) = unplaced.len().checked_sub(SHOWN) {
        there += &format!("; and {more} more branches");
    }
    let what = match like {
        true => "and the file given by --like has no tree of that name",
        false => "so what its branches hold is not known: give --like FILE, with a file that the same job made",
    };
    format!("no tree's record was written to it, or none is left, {what}. Found: {there}")
}
