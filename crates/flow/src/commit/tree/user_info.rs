//! The user info of a tree: objects in it that cannot be moved, and trees in it, whose baskets are copied along.

use dataset::tree::Tree;
use objects::inner_trees;
use rootfile::{DirId, FileWriter, Result, Source};

use crate::table::text_list::listed;

/// Removes the objects that cannot be moved to another record from a tree's user info. Returns a note that names them.
pub(crate) fn drop_unmovable(tree: &mut Tree, path: &str) -> Option<String> {
    let dropped: Vec<String> =
        tree.drop_unmovable().into_iter().map(|(class, name)| format!("{name} ({class})")).collect();
    (!dropped.is_empty()).then(|| {
        format!(
            "tree {path}: {} of its user info cannot be moved and is left out: the file does not describe the class",
            listed(&dropped)
        )
    })
}

/// Copies the baskets of the trees in a tree's user info to the end of the output, and sets their new positions. Returns a
/// note that names branches whose baskets are missing.
pub(crate) fn copy_trees(
    tree: &mut Tree,
    path: &str,
    source: &dyn Source,
    writer: &mut FileWriter,
    directory: DirId,
) -> Result<Option<String>> {
    let missing = inner_trees::copy_baskets(&mut tree.graph, source, writer, directory)?;
    Ok((!missing.is_empty()).then(|| {
        format!(
            "tree {path}: a tree in its user info has no baskets where its branches {} say; they are carried over without",
            listed(&missing)
        )
    }))
}
