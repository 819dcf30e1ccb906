//! Writes the list beside an RNTuple that keeps what its tree had and the RNTuple has no place for.

use dataset::tree::{KEPT_CLASS, KEPT_TITLE, kept_name, write_kept};
use rootfile::Result;
use rootfile::codec::Compression;

use super::output_table::TableOutput;
use crate::commit::tree::{finalize, user_info};
use crate::plan::tree::kept::Kept;

/// Writes the list. Returns notes on what is lost.
pub(super) fn write_kept_list(
    output: &mut TableOutput<'_>,
    mut kept: Kept,
    compression: Compression,
) -> Result<Vec<String>> {
    let TableOutput { writer, directory, place } = output;
    let tree = &mut kept.tree.tree;
    let lost = user_info::copy_trees(tree, &place.path, &*kept.source, (&mut **writer, *directory))?;
    finalize::add_own_infos(writer, tree);
    let name = kept_name(&place.name);
    let labels = (KEPT_CLASS, name.as_str(), KEPT_TITLE);
    writer.write_object(*directory, labels, compression, |keylen| write_kept(&kept.tree, keylen))?;
    Ok(Vec::from_iter(lost))
}
