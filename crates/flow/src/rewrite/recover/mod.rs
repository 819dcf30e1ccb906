//! Recovers a file that was never closed, or was cut short.
//!
//! `scan` walks the records of the file: directories, objects, tree records of an AutoSave, baskets. `tree` verifies each basket, adds
//! those that no tree lists, and cuts each tree where the first of its branches ends. `ntuple` finds the RNTuples that were closed.
//! A rewrite then copies trees, RNTuples and objects into a file that is closed.

mod ntuple;
mod report;
mod scan;
mod scan_result;
mod tree;
mod unplaced;

use std::collections::HashMap;
use std::path::Path;

use rootfile::{Error, Hint, Result, RootFile, check_output};

use super::execute::rewrite_known;
use super::options::{ContentOptions, Cycles, Options};
use super::prepared::{KnownTree, KnownTrees};
use crate::{Budget, Progress};
use scan_result::{FoundBasket, ScanResult};
use tree::attach::Attached;
use tree::check::BasketPosition;

pub use report::{BranchLoss, LostNtuple, RecoveredNtuple, RecoveredTree, Recovery, Unplaced, Unreadable};

/// Options of a recovery.
#[derive(Clone, Debug, Default)]
pub struct RecoverOptions {
    /// Memory and threads.
    pub budget: Budget,
    /// Whether an existing output may be replaced.
    pub overwrite: bool,
}

/// Recovers the content of `input`: trees as far as they were written, RNTuples that were closed, and objects. Trees without a
/// record take their branches from `like`, a file from the same job.
///
/// # Errors
///
/// A file cannot be read or written, nothing can be recovered, or the budget is too small.
pub fn recover(
    input: &Path,
    like: Option<&Path>,
    output: &Path,
    options: &RecoverOptions,
    progress: Progress<'_>,
) -> Result<Recovery> {
    check_output(output, options.overwrite, [Some(input), like].into_iter().flatten())?;
    let like = like.map(RootFile::open).transpose()?;
    let mut found = scan::scan(input, like.as_ref())?;
    let mut known = KnownTrees::new();
    let mut trees = Vec::new();
    let sound = tree::check::check(&found.file, positions(&found), options.budget, progress)?;
    let mut baskets = by_tree(&mut found);
    for candidate in std::mem::take(&mut found.trees) {
        let mine = baskets.remove(&candidate.key.seek_key).unwrap_or_default();
        let mut tree = candidate.tree;
        let path = found.directories.get(candidate.directory).map(|d| d.path_of(&candidate.key.name));
        let path = path.unwrap_or_default();
        let saved_entries = (!candidate.from_template).then_some(tree.entries);
        let made = (&mut tree, candidate.from_template);
        let Attached { entries, cut, losses, found: baskets, lost, ranges_lost } =
            tree::attach::attach(made, mine, &sound, &path, &mut found.notes);
        tree::leaf_maxima::raise(&found.file, &mut tree, &baskets)?;
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
    let unplaced = unplaced::group(&baskets.remove(&0).unwrap_or_default());
    let objects: usize = found.directories.iter().map(|d| d.keys.len()).sum();
    // Each directory except the top is a key of its parent.
    let objects = objects + 1 - trees.len() - found.ntuples.len() - found.directories.len();
    if trees.is_empty() && found.ntuples.is_empty() {
        if !unplaced.is_empty() || (objects == 0 && found.lost_ntuples.is_empty()) {
            let refusal = unplaced::refusal(&unplaced, like.is_some());
            return Err(Error::request(refusal).hint(Hint::named("like")).file(input));
        }
        if objects == 0 {
            let lost: Vec<String> = found.lost_ntuples.iter().map(ToString::to_string).collect();
            return Err(Error::corrupt(lost.join("; ")).file(input));
        }
    }
    let mut notes = found.notes;
    notes.extend(found.lost_ntuples.iter().map(ToString::to_string));
    notes.extend(unplaced.iter().map(|basket| format!("{basket}: no record of this tree was found")));
    let content = ContentOptions { cycles: Cycles::All, ..ContentOptions::default() };
    let make = Options { content, budget: options.budget, overwrite: options.overwrite, ..Options::default() };
    let file = found.file.with_listing(found.directories);
    let summary = rewrite_known(file, known, output, &make, progress)?;
    notes.extend(summary.notes);
    let damaged = trees.iter().flat_map(|tree| &tree.branches).any(|branch| branch.baskets_unreadable > 0);
    let lost = !unplaced.is_empty() || !found.unreadable.is_empty() || !found.lost_ntuples.is_empty();
    let whole = !damaged && !lost;
    Ok(Recovery {
        schema: 1,
        bytes_read: summary.bytes_read,
        bytes_written: summary.bytes_written,
        trees,
        ntuples: found.ntuples,
        lost_ntuples: found.lost_ntuples,
        objects: objects as u64,
        unplaced,
        unreadable: found.unreadable,
        whole,
        notes,
    })
}

/// Positions of the baskets that the scan found, and of the baskets that trees list.
fn positions(found: &ScanResult) -> Vec<BasketPosition> {
    let walked = found.baskets.iter().map(|basket| BasketPosition { seek: basket.seek, nbytes: basket.nbytes });
    let branches = found.trees.iter().flat_map(|found| &found.tree.branches);
    let listed = branches.filter(|branch| branch.file_name.is_empty()).flat_map(|branch| &branch.baskets);
    let listed = listed.filter(|basket| basket.seek > 0 && basket.entries > 0);
    walked.chain(listed.map(|basket| BasketPosition { seek: basket.seek, nbytes: basket.nbytes })).collect()
}

/// The baskets of each tree, by the position of its key. Baskets without a tree are under 0.
fn by_tree(found: &mut ScanResult) -> HashMap<u64, Vec<FoundBasket>> {
    /// A tree of a name: its directory, the position of its key, and the time at which it was written.
    type NamedTree = (u64, u64, u32);
    let mut places: HashMap<&str, Vec<NamedTree>> = HashMap::new();
    let mut owners: HashMap<u64, u64> = HashMap::new();
    for tree in &found.trees {
        let directory = found.directories.get(tree.directory).map_or(0, |d| d.seek);
        places.entry(&tree.key.name).or_default().push((directory, tree.key.seek_key, tree.key.datime));
        let listed = tree.tree.branches.iter().flat_map(|branch| &branch.baskets);
        owners.extend(listed.filter(|basket| basket.seek > 0).map(|basket| (basket.seek, tree.key.seek_key)));
    }
    let mut baskets: HashMap<u64, Vec<FoundBasket>> = HashMap::new();
    for basket in std::mem::take(&mut found.baskets) {
        let of_name = places.get(&*basket.tree).map_or(&[][..], Vec::as_slice);
        let place = match (owners.get(&basket.seek), of_name) {
            (Some(owner), _) => *owner,
            (None, [(_, only, _)]) => *only,
            (None, several) => {
                // Of several trees of one name in a directory, only the newest is still filled. A basket that is older than
                // the newest save and not in its list belongs to another tree.
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
