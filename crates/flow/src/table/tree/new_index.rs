//! The index (`TTreeIndex`) that a table is to have in place of the one that it has.

use dataset::tree::{Tree, TreeIndex};
use rootfile::{Error, Hint, Result};

/// Makes the index.
pub(crate) type MakeTreeIndex<'a> = &'a dyn Fn() -> Result<TreeIndex>;

/// Gives a tree the index that `make` makes. Returns the memory that it takes.
pub(crate) fn put_index(tree: &mut Tree, make: MakeTreeIndex<'_>) -> Result<u64> {
    let index = make()?;
    let memory = TreeIndex::memory(index.lines.len() as u64);
    tree.set_index(index);
    Ok(memory)
}

/// The error of a table that can have no index.
pub(crate) fn no_place_for_index() -> Error {
    let (build, container) = (Hint::named("build-index"), Hint::text("container", "ttree"));
    let message = format!(
        "{build}: an index (TTreeIndex) is part of a tree, and an RNTuple has no place for it; {container} writes a tree"
    );
    Error::request(message).hint(build).hint(container)
}
