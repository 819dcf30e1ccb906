//! Branches that are added to the trees of the inputs, as if these had them: their baskets are in a file of their own.

use std::collections::HashMap;
use std::sync::Arc;

use dataset::tree::{Tree, read_tree};
use rootfile::{Error, Key, Result, RootFile, Source};

/// What branches that are added name as the file with their baskets: no file has this name.
pub(crate) const ADDED: &str = "\0added";

/// Branches that are added to the trees of the inputs.
pub(crate) struct AddedBranches {
    /// The file with them, and for the number of an input the key of a tree with its branches alone.
    pub file: RootFile,
    pub keys: HashMap<usize, Key>,
    /// The bytes of the file.
    pub source: Arc<dyn Source>,
    /// Their names.
    pub names: Vec<String>,
}

impl AddedBranches {
    /// Whether a branch at the top is one of them.
    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|own| own == name)
    }

    /// Adds them to the tree of an input.
    pub fn add_to(&self, number: usize, tree: &mut Tree) -> Result<()> {
        let key =
            self.keys.get(&number).ok_or_else(|| Error::request("internal error: an input without new columns"))?;
        let mut own = read_tree(&self.file, key)?;
        if own.entries != tree.entries {
            return Err(Error::request("internal error: new columns have other entries than their tree"));
        }
        for branch in &mut own.branches {
            ADDED.clone_into(&mut branch.file_name);
        }
        let mut counterparts = vec![None; own.branches.len()];
        tree.graft(&mut own, &mut counterparts);
        Ok(())
    }
}
