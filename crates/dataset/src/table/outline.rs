//! What a table of a file has by its own record: the number of its entries and the names of its columns. No entry is read.

use rootfile::{Result, RootFile};

use super::catalog::TableEntry;
use crate::layout::Container;
use crate::ntuple::read_ntuple;
use crate::tree::read_tree;

/// The outline of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// Number of entries.
    pub entries: u64,
    /// Names of all branches or fields, each without those above it.
    pub names: Vec<String>,
}

impl TableEntry {
    /// Its outline.
    ///
    /// # Errors
    ///
    /// Its record cannot be read.
    pub fn outline(&self, file: &RootFile) -> Result<Outline> {
        Ok(match self.container {
            Container::Ttree => {
                let tree = read_tree(file, &self.key)?;
                let names = tree.branches.iter().map(|branch| branch.name().to_owned());
                Outline { entries: tree.entries, names: names.collect() }
            }
            Container::Rntuple => {
                let ntuple = read_ntuple(file, &self.key)?;
                let names = ntuple.schema.fields.iter().map(|field| field.name.clone());
                Outline { entries: ntuple.entries(), names: names.collect() }
            }
        })
    }
}
