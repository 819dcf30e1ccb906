//! The first input as the output, which is updated in place (`rootfile::FileWriter::update`): whether it can be, and which records of it
//! are unused once its tables are written.

use std::path::Path;

use dataset::ntuple::model::{Link, Locator};
use dataset::ntuple::{is_released, read_ntuple, read_page_list};
use dataset::tree::{is_tree_class, read_tree};
use rootfile::{BIG_KEY_ROOM, Committed, ErrorKind, FileWriter, Key, Result, RootFile, Run};

use super::file_version::is_old;

/// The class of the records of an RNTuple's blocks.
const BLOB: &str = "RBlob";

/// Whether a file is updated in place.
#[derive(Default)]
pub(super) struct Updated {
    /// The file as it is; none if it is written anew.
    pub committed: Option<Committed>,
    /// Why it is written anew.
    pub note: Option<String>,
}

/// Whether a file can be updated in place. One that contradicts itself is refused.
pub(super) fn updatable(file: &RootFile) -> Result<Updated> {
    let anew = |why: &str| Updated { committed: None, note: Some(format!("the file is written anew: {why}")) };
    if is_old(file.header().version) {
        return Ok(anew("readers take it for one of an early version of ROOT"));
    }
    match Committed::of(file) {
        Ok(committed) => Ok(Updated { committed: Some(committed), note: None }),
        Err(e) => match e.kind() {
            ErrorKind::Unsupported(why) => Ok(anew(why)),
            _ => Err(e),
        },
    }
}

/// Whether the content of a table can stay: the name of the file, if its own record does not stay as well.
pub(super) fn content_stays(is_doubled: bool, file: Option<&RootFile>) -> Option<&Path> {
    file.filter(|_| !is_doubled).map(RootFile::name)
}

/// Takes note of the records of tables that the file has no more: all but those that its new state refers to.
pub(super) fn retire_content(writer: &mut FileWriter, file: &RootFile) -> Result<()> {
    let walk = file.walk();
    let keys = walk.directories.iter().flat_map(|directory| &directory.keys);
    let tables = keys.filter(|key| is_released(&key.class) || is_tree_class(file, &key.class));
    let (kept, gone): (Vec<&Key>, Vec<&Key>) = tables.partition(|key| writer.is_kept(key.seek_key));
    if gone.is_empty() {
        return Ok(());
    }
    // Earlier saves of a tree have its baskets as well. What cannot be read may have any.
    for key in kept {
        match content(file, key) {
            Ok(runs) => writer.keep_runs(runs),
            Err(_) => return Ok(()),
        }
    }
    for key in gone {
        if let Ok(runs) = content(file, key) {
            writer.retire_runs(runs);
        }
    }
    Ok(())
}

/// The records with the content of a table.
fn content(file: &RootFile, key: &Key) -> Result<Vec<Run>> {
    if !is_released(&key.class) {
        let tree = read_tree(file, key)?;
        let baskets = tree.branches.iter().flat_map(|branch| &branch.baskets);
        return Ok(baskets.filter(|b| b.seek > 0).map(|b| Run { first: b.seek, len: b.nbytes.into() }).collect());
    }
    let ntuple = read_ntuple(file, key)?;
    let mut blocks = vec![ntuple.anchor.header, ntuple.anchor.footer];
    blocks.extend(ntuple.groups.iter().map(|group| group.page_list));
    let extent = |link: &Link| match link.locator {
        Locator::File { offset, size } => Some((offset, size)),
        Locator::Unknown { .. } => None,
    };
    let mut extents: Vec<(u64, u64)> = blocks.iter().filter_map(extent).collect();
    for group in 0..ntuple.groups.len() {
        let list = read_page_list(&**file.source(), &ntuple, group)?;
        extents.extend(list.pages.iter().filter_map(|page| page.extent().ok()));
    }
    extents.sort_unstable();
    extents.dedup();
    let mut runs = Vec::new();
    for extent in neighbours(extents) {
        runs.extend(blob(file, extent));
    }
    Ok(runs)
}

/// Joins what lies side by side.
fn neighbours(extents: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (at, len) in extents {
        match joined.last_mut() {
            Some((first, all)) if first.saturating_add(*all) == at => *all += len,
            _ => joined.push((at, len)),
        }
    }
    joined
}

/// The record of a block, or of several pages side by side, if these are all that is in it.
fn blob(file: &RootFile, (at, len): (u64, u64)) -> Option<Run> {
    let short = Key::new(BLOB, "", "", 0, 0).header_len() as u64;
    [short, short + BIG_KEY_ROOM].into_iter().find_map(|keylen| {
        let key = file.key_at(at.checked_sub(keylen)?).ok()?;
        let is_it = key.class == BLOB && u64::from(key.keylen) == keylen && u64::from(key.nbytes) == keylen + len;
        is_it.then(|| Run::of(&key))
    })
}
