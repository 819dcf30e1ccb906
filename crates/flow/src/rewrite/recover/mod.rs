//! Brings back what a file still has that was never closed, or was cut short.
//!
//! [`found`] walks the file's records: directories, objects, tree records that an AutoSave left, baskets. [`check`] looks
//! into each basket. [`attach`]
//! puts baskets that no tree knows behind those that it does, and cuts each tree where the first of its branches
//! ends. What comes of it is a file with trees as any other, which a rewrite copies into one that is closed.

mod attach;
mod check;
mod found;
mod maxima;
mod report;

use std::collections::HashMap;
use std::path::Path;

use rootfile::{Error, Result, RootFile, check_output};

use super::execute::rewrite_known;
use super::options::{Cycles, Options};
use super::prepared::{KnownTree, KnownTrees};
use crate::rewrite::recover::attach::Attached;
use crate::rewrite::recover::check::Place;
use crate::rewrite::recover::found::{Basket, Found};
use crate::{Budget, Progress};

pub use crate::rewrite::recover::report::{BranchLoss, RecoveredTree, Recovery, Unplaced, Unreadable};

/// What a recovery is asked to do.
#[derive(Clone, Debug, Default)]
pub struct RecoverOptions {
    /// Memory and threads.
    pub budget: Budget,
    /// Whether an output that exists may be replaced.
    pub overwrite: bool,
}

/// Brings back what is in `input`. Trees of which no record was written take their branches from `like`, a file that
/// the same job made.
pub fn recover(
    input: &Path,
    like: Option<&Path>,
    output: &Path,
    options: &RecoverOptions,
    progress: Progress<'_>,
) -> Result<Recovery> {
    check_output(output, options.overwrite, [Some(input), like].into_iter().flatten())?;
    let like = like.map(RootFile::open).transpose()?;
    let mut found = found::find(input, like.as_ref())?;
    let mut known = KnownTrees::new();
    let mut trees = Vec::new();
    let sound = check::check(&found.file, places(&found), options.budget, progress)?;
    let mut baskets = by_tree(&mut found);
    for candidate in std::mem::take(&mut found.trees) {
        let mine = baskets.remove(&candidate.key.seek_key).unwrap_or_default();
        let mut tree = candidate.tree;
        let path = found.directories.get(candidate.directory).map(|d| d.path_of(&candidate.key.name));
        let path = path.unwrap_or_default();
        let saved_entries = (!candidate.from_like).then_some(tree.entries);
        let made = (&mut tree, candidate.from_like);
        let Attached { entries, cut, losses, found: baskets, lost, ranges_lost } =
            attach::attach(made, mine, &sound, &path, &mut found.notes);
        maxima::raise(&found.file, &mut tree, &baskets)?;
        trees.push(RecoveredTree {
            path,
            cycle: candidate.key.cycle,
            entries,
            saved_entries,
            entries_lost: lost,
            baskets_found: baskets.len() as u64,
            ranges_lost,
            branches: losses,
        });
        if let Some(directory) = found.directories.get_mut(candidate.directory) {
            directory.keys.push(candidate.key.clone());
        }
        known.insert(candidate.key.seek_key, KnownTree { key: candidate.key, tree, cut });
    }
    let unplaced = report::unplaced(&baskets.remove(&0).unwrap_or_default());
    let objects: usize = found.directories.iter().map(|d| d.keys.len()).sum();
    // A directory is in the list of the one above it.
    let objects = objects + 1 - trees.len() - found.directories.len();
    if trees.is_empty() && (!unplaced.is_empty() || objects == 0) {
        return Err(Error::request(report::refusal(&unplaced, like.is_some())).file(input));
    }
    let mut notes = found.notes;
    notes.extend(unplaced.iter().map(|basket| format!("{basket}: no record of that tree was found")));
    let make =
        Options { budget: options.budget, overwrite: options.overwrite, cycles: Cycles::All, ..Options::default() };
    let file = found.file.with_listing(found.directories);
    let summary = rewrite_known(file, known, output, &make, progress)?;
    notes.extend(summary.notes);
    let damaged = trees.iter().flat_map(|tree| &tree.branches).any(|branch| branch.baskets_unreadable > 0);
    let whole = !damaged && unplaced.is_empty() && found.unreadable.is_empty();
    Ok(Recovery {
        schema: 1,
        bytes_read: summary.bytes_read,
        bytes_written: summary.bytes_written,
        trees,
        objects: objects as u64,
        unplaced,
        unreadable: found.unreadable,
        whole,
        notes,
    })
}

/// Where baskets lie: those that were found, and those that trees list.
fn places(found: &Found) -> Vec<Place> {
    let walked = found.baskets.iter().map(|basket| Place { seek: basket.seek, nbytes: basket.nbytes });
    let branches = found.trees.iter().flat_map(|found| &found.tree.branches);
    let listed = branches.filter(|branch| branch.file_name.is_empty()).flat_map(|branch| &branch.baskets);
    let listed = listed.filter(|basket| basket.seek > 0 && basket.entries > 0);
    walked.chain(listed.map(|basket| Place { seek: basket.seek, nbytes: basket.nbytes })).collect()
}

/// The baskets of each tree, by the offset of its key; those of no tree under 0.
fn by_tree(found: &mut Found) -> HashMap<u64, Vec<Basket>> {
    /// A tree of a name: its directory, the offset of its key, and when that was written.
    type Of = (u64, u64, u32);
    let mut places: HashMap<&str, Vec<Of>> = HashMap::new();
    let mut owners: HashMap<u64, u64> = HashMap::new();
    for tree in &found.trees {
        let directory = found.directories.get(tree.directory).map_or(0, |d| d.seek);
        places.entry(&tree.key.name).or_default().push((directory, tree.key.seek_key, tree.key.datime));
        let listed = tree.tree.branches.iter().flat_map(|branch| &branch.baskets);
        owners.extend(listed.filter(|basket| basket.seek > 0).map(|basket| (basket.seek, tree.key.seek_key)));
    }
    let mut baskets: HashMap<u64, Vec<Basket>> = HashMap::new();
    for basket in std::mem::take(&mut found.baskets) {
        let of_name = places.get(basket.tree.as_str()).map_or(&[][..], Vec::as_slice);
        let place = match (owners.get(&basket.seek), of_name) {
            (Some(owner), _) => *owner,
            (None, [(_, only, _)]) => *only,
            (None, several) => {
                // Of several trees of one name in a directory the newest goes on, and the older are complete: what
                // was written before the newest was saved, and is not in its list, was not its.
                let mut here = several.iter().filter(|(directory, ..)| *directory == basket.seek_pdir);
                match (here.next(), here.next()) {
                    (Some((_, only, _)), None) => *only,
                    (Some((_, newest, saved)), Some(_)) if basket.datime >= *saved => *newest,
                    _ => 0,
                }
            }
        };
        baskets.entry(place).or_default().push(basket);
    }
    baskets
}
