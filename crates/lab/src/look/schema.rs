//! The columns of a table: names, types in C++ and in Arrow, and how two tables differ in them.

use std::collections::{BTreeMap, BTreeSet};

use arrow_schema::Field;
use dataset::layout::Container;
use dataset::table::Node;
use dataset::tree::Tree;
use flow::inputs::{Input, refuse_pattern};
use flow::read::Dataset;
use rootfile::{Follow, Result, public_path};
use serde::Serialize;

use super::arrow_names::arrow_name;

/// The columns of a table.
#[derive(Clone, Debug, Serialize)]
pub struct TableColumns {
    /// The file, as given.
    pub file: String,
    /// Path of the table in it.
    pub table: String,
    /// Title of the table.
    pub title: String,
    /// Its container; none of a Parquet file.
    pub container: Option<Container>,
    /// Number of entries.
    pub entries: u64,
    /// The expressions of its index (`TTreeIndex`), if it is a tree that has one.
    pub index: Option<String>,
    /// Columns, in their order.
    pub columns: Vec<ColumnType>,
    /// How another table differs; none if there is no other.
    pub differences: Option<Vec<ColumnDifference>>,
}

/// A column and its types.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ColumnType {
    /// Name; below it the names of the branches above it, with slashes.
    pub name: String,
    /// Title.
    pub title: String,
    /// Type in C++.
    pub type_name: String,
    /// Type in Arrow.
    pub arrow: String,
    /// Why its values cannot be read; none if they can.
    pub unreadable: Option<String>,
}

/// A column in which two tables differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ColumnDifference {
    /// Name.
    pub name: String,
    /// Its types in the first table; none if it is not there.
    pub first: Option<String>,
    /// Its types in the second table; none if it is not there.
    pub second: Option<String>,
}

impl ColumnType {
    /// Both types as one text.
    fn types(&self) -> String {
        match self.type_name.is_empty() {
            true => self.arrow.clone(),
            false => format!("{} ({})", self.type_name, self.arrow),
        }
    }
}

/// The columns of a table.
pub(super) fn column_types(dataset: &Dataset) -> Vec<ColumnType> {
    let nodes = dataset.schema().nodes();
    dataset.default_columns().into_iter().filter_map(|number| column_type(dataset, &nodes, number)).collect()
}

/// The index of a table, in words.
pub(super) fn index_of(dataset: &Dataset) -> Option<String> {
    dataset.schema().tree().and_then(Tree::index_words)
}

/// A column that an expression defines.
pub(super) fn defined_type(field: &Field) -> ColumnType {
    ColumnType {
        name: field.name().clone(),
        title: String::new(),
        type_name: String::new(),
        arrow: arrow_name(field.data_type()),
        unreadable: None,
    }
}

/// A column, by its number. `nodes` are those of the schema; columns of friends have others.
pub(super) fn column_type(dataset: &Dataset, nodes: &[Node], number: usize) -> Option<ColumnType> {
    let column = dataset.column(number)?;
    let field = column.field();
    let known = field.metadata().get("typename").filter(|name| !name.is_empty());
    let node = nodes.get(column.node());
    Some(ColumnType {
        name: field.name().clone(),
        title: node.map(|node| node.title.clone()).unwrap_or_default(),
        type_name: known.cloned().or_else(|| Some(node?.type_name.clone())).unwrap_or_default(),
        arrow: arrow_name(field.data_type()),
        unreadable: column.opaque().map(str::to_owned).or_else(|| dataset.absent(number)),
    })
}

/// The columns of a table, and how they differ from those of `other`.
///
/// # Errors
///
/// A file cannot be read, or has no such table.
pub fn schema(input: &Input, other: Option<&Input>, follow: Follow) -> Result<TableColumns> {
    refuse_pattern(input)?;
    let dataset = Dataset::open_following(std::slice::from_ref(input), follow)?;
    let columns = column_types(&dataset);
    let differences = other.map(|other| {
        let input = Input { tree: other.tree.clone().or_else(|| same_table(other, dataset.path())), ..other.clone() };
        let theirs = column_types(&Dataset::open_following(&[input], follow)?);
        Ok::<_, rootfile::Error>(differences(&columns, &theirs))
    });
    Ok(TableColumns {
        file: public_path(&input.path).display().to_string(),
        table: dataset.path().to_owned(),
        title: dataset.names().1.to_owned(),
        container: dataset.container(),
        entries: dataset.entries(),
        index: index_of(&dataset),
        columns,
        differences: differences.transpose()?,
    })
}

/// The path, if the other file has a table there.
fn same_table(other: &Input, path: &str) -> Option<String> {
    let named = Input { tree: Some(path.to_owned()), ..other.clone() };
    Dataset::open(&[named]).ok().map(|_| path.to_owned())
}

fn differences(first: &[ColumnType], second: &[ColumnType]) -> Vec<ColumnDifference> {
    let by_name = |all: &[ColumnType]| -> BTreeMap<String, String> {
        all.iter().map(|column| (column.name.clone(), column.types())).collect()
    };
    let (first, second) = (by_name(first), by_name(second));
    let names: BTreeSet<&String> = first.keys().chain(second.keys()).collect();
    let differing = names.into_iter().filter(|name| first.get(*name) != second.get(*name));
    differing
        .map(|name| ColumnDifference {
            name: name.clone(),
            first: first.get(name).cloned(),
            second: second.get(name).cloned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, arrow: &str) -> ColumnType {
        let arrow = arrow.to_owned();
        ColumnType { name: name.to_owned(), title: String::new(), type_name: String::new(), arrow, unreadable: None }
    }

    #[test]
    fn differences_are_of_names_and_types() {
        let (one, other) = ([column("a", "int32"), column("b", "float")], [column("b", "double"), column("c", "bool")]);
        let found = differences(&one, &other);
        let text = |text: Option<&str>| text.map(str::to_owned);
        let expected = [("a", Some("int32"), None), ("b", Some("float"), Some("double")), ("c", None, Some("bool"))];
        let expected = expected.map(|(name, first, second)| ColumnDifference {
            name: name.to_owned(),
            first: text(first),
            second: text(second),
        });
        assert_eq!(found, expected);
        assert!(differences(&one, &one).is_empty());
    }
}
