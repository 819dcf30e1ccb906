//! Branches that are added to the trees of the inputs, as if these had them: their baskets are in files of their own.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use dataset::tree::{Tree, read_tree};
use rootfile::{Error, Key, Result, RootFile, Source};

/// What branches that are added name as the file with their baskets, before the number of the file: no file has this name.
const ADDED: &str = "\0added";

/// Whether a branch names a file of branches that are added.
pub(crate) fn is_added(file_name: &str) -> bool {
    file_name.starts_with(ADDED)
}

/// Branches that are added to the trees of the inputs.
#[derive(Default)]
pub(crate) struct AddedBranches {
    /// The files with them.
    pub files: Vec<AddedFile>,
    /// Their names at the top.
    pub names: Vec<String>,
}

/// A file with branches that are added.
pub(crate) struct AddedFile {
    pub file: RootFile,
    /// For the number of an input the tree with its entries.
    pub trees: HashMap<usize, AddedTree>,
    /// The bytes of the file.
    pub source: Arc<dyn Source>,
    /// Its number among the files with process identifiers, if it has some of its own.
    pub number: Option<usize>,
    /// Columns that get other names: those that they have in the file, and the new ones.
    pub renamed: Vec<(String, String)>,
}

/// A tree with branches that are added alone.
pub(crate) struct AddedTree {
    pub key: Key,
    /// The entries of the input; all, if there are no others. Baskets end where they do.
    pub entries: Option<Range<u64>>,
}

impl AddedBranches {
    /// Whether a branch at the top is one of them.
    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|own| own == name.trim_end_matches('.'))
    }

    /// The file that a branch names.
    pub fn file(&self, file_name: &str) -> Option<&AddedFile> {
        let number: usize = file_name.strip_prefix(ADDED)?.parse().ok()?;
        self.files.get(number)
    }

    /// Adds them to the tree of an input.
    pub fn add_to(&self, number: usize, tree: &mut Tree) -> Result<()> {
        for (place, added) in self.files.iter().enumerate() {
            let mut own = added.tree_of(number)?;
            if own.entries != tree.entries {
                return Err(Error::request("internal error: new columns have other entries than their tree"));
            }
            for branch in &mut own.branches {
                branch.file_name = format!("{ADDED}{place}");
            }
            let mut counterparts = vec![None; own.branches.len()];
            tree.graft(&mut own, &mut counterparts);
        }
        Ok(())
    }
}

impl AddedFile {
    /// The tree with the entries of an input.
    fn tree_of(&self, number: usize) -> Result<Tree> {
        let missing = || Error::request("internal error: an input without new columns");
        let AddedTree { key, entries } = self.trees.get(&number).ok_or_else(missing)?;
        let mut tree = read_tree(&self.file, key)?;
        if let Some(entries) = entries {
            cut(&mut tree, entries)?;
        }
        self.renamed.iter().for_each(|(old, new)| tree.rename_column(old, new));
        Ok(tree)
    }
}

/// Leaves the baskets of some entries, and counts from the first of these.
fn cut(tree: &mut Tree, entries: &Range<u64>) -> Result<()> {
    let count = entries.end.saturating_sub(entries.start);
    if entries.end > tree.entries {
        return Err(Error::request("internal error: new columns have fewer entries than their tree"));
    }
    for branch in &mut tree.branches {
        let end = |basket: &dataset::tree::BasketRef| basket.first_entry + basket.entries;
        let crosses = |basket: &dataset::tree::BasketRef, at: u64| basket.first_entry < at && at < end(basket);
        let is_cut = branch.baskets.iter().any(|basket| crosses(basket, entries.start) || crosses(basket, entries.end));
        if is_cut || !branch.embedded.is_empty() {
            return Err(Error::request("internal error: a basket of new columns has entries of two inputs"));
        }
        let all: u64 = branch.baskets.iter().map(|basket| u64::from(basket.nbytes)).sum();
        branch.baskets.retain(|basket| basket.first_entry >= entries.start && end(basket) <= entries.end);
        branch.baskets.iter_mut().for_each(|basket| basket.first_entry -= entries.start);
        let left: u64 = branch.baskets.iter().map(|basket| u64::from(basket.nbytes)).sum();
        let share = |bytes: u64| u128::from(bytes) * u128::from(left) / u128::from(all.max(1));
        branch.tot_bytes = u64::try_from(share(branch.tot_bytes)).unwrap_or(u64::MAX);
        branch.zip_bytes = u64::try_from(share(branch.zip_bytes)).unwrap_or(u64::MAX);
        if branch.entries > 0 {
            (branch.entries, branch.entry_number) = (count, count);
        }
        branch.first_entry = 0;
    }
    tree.entries = count;
    Ok(())
}
