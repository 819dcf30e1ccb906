//! The first input as the output, which is updated in place (`rootfile::FileWriter::update`): whether it can be, and which records of it
//! are unused once its tables are written.

use std::path::Path;

use dataset::layout::Container;
use dataset::table::catalog::container_of;
use rootfile::{Committed, ErrorKind, FileWriter, Key, Result, RootFile, Run};

use super::file_version::is_old;
use super::{ntuple, tree};

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
    let tables = keys.filter(|key| container_of(file, &key.class).is_some());
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
    match container_of(file, &key.class) {
        Some(Container::Rntuple) => ntuple::content(file, key),
        Some(Container::Ttree) => tree::content(file, key),
        None => Ok(Vec::new()),
    }
}
