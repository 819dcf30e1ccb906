//! The names of a table for expressions: columns at any depth, by their paths or by their own names, and the aliases of a tree.

use std::collections::HashMap;

use arrow_schema::DataType;
use dataset::glob::TreePattern;
use expr::{NamedColumn, Names};

use super::define::Define;
use crate::arrow::read::Dataset;
use crate::plan::tree::attached::aliases;

/// The names of a table.
pub(crate) struct TableNames<'a> {
    dataset: &'a Dataset,
    path: &'a str,
    columns: HashMap<String, usize>,
    aliases: HashMap<String, String>,
    defines: &'a [Define],
}

impl<'a> TableNames<'a> {
    /// Those of an open table with this path, and of columns that are defined in it.
    pub fn new(dataset: &'a Dataset, path: &'a str, defines: &'a [Define]) -> Self {
        let schema = dataset.schema();
        let mut columns = HashMap::new();
        let mut within = Vec::new();
        for (node, column) in dataset.column_of_each_node().into_iter().enumerate() {
            let Some(column) = column else { continue };
            let mut names = schema.lineage(node);
            names.reverse();
            for (depth, name) in paths(&names).enumerate() {
                match depth {
                    0 => drop(columns.insert(name, column)),
                    _ => within.push((name, column)),
                }
            }
        }
        // A whole path goes before the end of another one, and a column before those behind it.
        for (name, column) in within {
            columns.entry(name).or_insert(column);
        }
        let aliases = dataset.tree().map_or_else(Vec::new, aliases).into_iter().collect();
        Self { dataset, path, columns, aliases, defines }
    }

    fn find(&self, name: &str) -> Option<usize> {
        let found = |name: &str| self.columns.get(name.trim_start_matches('/')).copied();
        found(name).or_else(|| {
            // `events/stream` is the column stream of the tree events.
            let (tree, column) = name.rsplit_once('/')?;
            TreePattern::exact(tree).matches(self.path).then(|| found(column))?
        })
    }
}

/// A path, and its ends: `a/b/c`, `b/c`, `c`; with dots too, and without the dimensions of an array.
fn paths(names: &[&str]) -> impl Iterator<Item = String> {
    let ends: Vec<String> = (0..names.len()).map(|from| names.get(from..).unwrap_or_default().join("/")).collect();
    let dotted: Vec<String> = ends.iter().map(|end| end.replace("./", ".").replace('/', ".")).collect();
    let bare: Vec<String> = ends.iter().filter_map(|end| Some(end.split_once('[')?.0.to_owned())).collect();
    ends.into_iter().chain(dotted).chain(bare)
}

impl Names for TableNames<'_> {
    fn column(&self, name: &str) -> Option<NamedColumn> {
        let number = self.find(name)?;
        let column = self.dataset.column(number)?;
        let data_type = if column.opaque().is_some() { DataType::Binary } else { column.field().data_type().clone() };
        Some(NamedColumn { number, data_type })
    }

    fn alias(&self, name: &str) -> Option<String> {
        let defined = self.defines.iter().find(|define| define.name == name).map(|define| define.text.clone());
        defined.or_else(|| self.aliases.get(name).cloned())
    }

    fn known(&self) -> Vec<String> {
        let defined = self.defines.iter().map(|define| &define.name);
        let mut known: Vec<String> = self.columns.keys().chain(self.aliases.keys()).chain(defined).cloned().collect();
        known.sort_unstable();
        known
    }
}
