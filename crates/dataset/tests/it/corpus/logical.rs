//! Logical columns of the corpus's trees.

use arrow_array::ArrayRef;
use dataset::assemble::{LogicalColumn, logical_columns};
use dataset::decode::{ColumnPlan, columns};
use dataset::tree::model::Tree;
use dataset::tree::read::{is_tree_class, read_tree};
use rootfile::RootFile;

use super::baskets::{decode, learned};

/// Trees of a file.
pub fn trees(file: &RootFile) -> Vec<(String, Tree)> {
    let mut trees = Vec::new();
    for directory in file.walk().directories {
        for key in directory.keys.iter().filter(|key| is_tree_class(file, &key.class)) {
            if let Ok(tree) = read_tree(file, key) {
                trees.push((format!("{};{}", directory.path_of(&key.name), key.cycle), tree));
            }
        }
    }
    trees
}

/// The logical columns of a tree, and its plans.
pub fn logical(file: &RootFile, tree: &Tree) -> (Vec<LogicalColumn>, Vec<ColumnPlan>) {
    let plans: Vec<_> = columns(tree, file.infos()).into_iter().map(|plan| learned(file, tree, plan)).collect();
    (logical_columns(tree, file.infos(), &plans), plans)
}

/// The arrays of the first entries of a column's branches; None where some lie in another file.
pub fn arrays(
    file: &RootFile,
    tree: &Tree,
    column: &LogicalColumn,
    plans: &[ColumnPlan],
    most: u64,
) -> Option<Result<Vec<ArrayRef>, String>> {
    let here = |branch: &usize| tree.branches[*branch].file_name.is_empty();
    if !column.branches().iter().all(here) {
        return None;
    }
    let entries = column.branches().iter().map(|&branch| tree.branches[branch].entries).max()?.min(most);
    let array = |branch: &usize| {
        let plan = plans.iter().find(|plan| plan.branch() == *branch).unwrap();
        decode(file, tree, plan, 0..entries).map_err(|e| e.to_string())
    };
    Some(column.branches().iter().map(array).collect())
}
