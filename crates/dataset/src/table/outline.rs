//! What a table of a file has by its own record: the number of its entries and the names of its columns. No entry is read.

use rootfile::{Result, RootFile};

use super::catalog::TableEntry;
use super::schema::TableSchema;
use crate::column_names::{column_names, is_item_name};
use crate::layout::Container;
use crate::ntuple::read_ntuple;
use crate::tree::read_tree;

/// The outline of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// Number of entries.
    pub entries: u64,
    /// Names of all branches or fields: the last one of each, and its path as reports print it.
    pub names: Vec<String>,
    /// The other paths that mean them.
    pub other_paths: Vec<String>,
}

impl TableEntry {
    /// Its outline.
    ///
    /// # Errors
    ///
    /// Its record cannot be read.
    pub fn outline(&self, file: &RootFile) -> Result<Outline> {
        let mut outline = Outline::default();
        match self.container {
            Container::Ttree => {
                let tree = read_tree(file, &self.key)?;
                outline.entries = tree.entries;
                (0..tree.branches.len()).for_each(|branch| outline.add(&tree.lineage(branch), '/'));
            }
            Container::Rntuple => {
                let ntuple = read_ntuple(file, &self.key)?;
                outline.entries = ntuple.entries();
                ntuple.schema.lineages().for_each(|lineage| outline.add(&lineage, '.'));
            }
        }
        Ok(outline)
    }
}

impl Outline {
    /// That of a table of a ROOT file with this schema and so many entries.
    pub fn of(schema: &TableSchema, entries: u64) -> Self {
        let mut outline = Self { entries, ..Self::default() };
        let printed = if schema.tree().is_some() { '/' } else { '.' };
        (0..schema.len()).for_each(|node| outline.add(&schema.lineage(node), printed));
        outline
    }

    /// Adds the names that mean a column and none above it.
    fn add(&mut self, lineage: &[&str], printed: char) {
        let above = lineage.get(1..).map_or_else(Vec::new, column_names);
        let own = column_names(lineage).into_iter().filter(|name| !above.contains(name));
        for (number, name) in own.enumerate() {
            match number == 0 || name.contains(printed) && !name.split(printed).any(is_item_name) {
                true => self.names.push(name),
                false => self.other_paths.push(name),
            }
        }
    }
}
