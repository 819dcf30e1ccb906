//! What picked entries of a file cost: the baskets, pages or chunks that have them. Only metadata are read, and the file is compared with what
//! an index says of it.

use std::sync::Arc;

use dataset::glob::NameFilter;
use dataset::table::{Join, catalog};
use rootfile::{Error, FilePool, Result};

use crate::arrow::read::Dataset;
use crate::keys::KeyedFile;
use crate::plan::format::Format;
use crate::plan::inputs::Input;
use crate::plan::options::PlanOptions;

/// What entries of a file cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PickedCost {
    /// Bytes of the pieces of each entry on disk, and their number. Entries share pieces.
    pub each: Vec<(u64, u64)>,
    /// Bytes of all pieces, each once.
    pub bytes: u64,
}

/// The costs of some entries of a file, which ascend, for the columns of a filter.
///
/// # Errors
///
/// The file cannot be read, or is not what an index says of it.
pub(super) fn cost_of(
    pool: &Arc<FilePool>,
    file: &KeyedFile,
    filter: &NameFilter,
    entries: &[u64],
) -> Result<PickedCost> {
    let dataset = open(pool, file, filter).map_err(|e| if e.path().is_some() { e } else { e.file(&file.path) })?;
    refuse_changed(file, &dataset)?;
    let mut cost = PickedCost { each: vec![(0, 0); entries.len()], bytes: 0 };
    for column in dataset.stored_columns().into_iter().filter_map(|column| dataset.source(column)) {
        let mut last = None;
        for (entry, each) in entries.iter().zip(&mut cost.each) {
            for piece in column.source.pieces_with(&(*entry..entry.saturating_add(1))) {
                let bytes = u64::from(piece.packed_len());
                *each = (each.0.saturating_add(bytes), each.1 + 1);
                if last.replace(piece.first_entry) != Some(piece.first_entry) {
                    cost.bytes = cost.bytes.saturating_add(bytes);
                }
            }
        }
    }
    Ok(cost)
}

/// Refuses a file that is not what an index says of it.
pub(super) fn refuse_changed(file: &KeyedFile, dataset: &Dataset) -> Result<()> {
    if file.is_same(&KeyedFile::of(&file.path, dataset)?) {
        return Ok(());
    }
    let message = "has changed since it was indexed; `basketry index --extend` reads its keys anew";
    Err(Error::request(message).file(&file.path))
}

/// Opens the columns of the table.
fn open(pool: &Arc<FilePool>, file: &KeyedFile, filter: &NameFilter) -> Result<Dataset> {
    if Format::is_parquet(&file.path) {
        let input = Input { path: file.path.clone(), tree: None };
        let keeps = |path: &str, name: &str| filter.keeps(path, &[name]);
        return Ok(Dataset::of_parquet(&[input], &keeps, Join::Strict, u64::MAX)?.0);
    }
    let opened = Arc::new(pool.open(&file.path)?);
    let tables = catalog::tables(&opened);
    let gone = || Error::request(format!("has no table {} any more", file.tree));
    let table = catalog::find(&tables, &file.tree).ok_or_else(gone)?;
    let source = [(0, Arc::clone(&opened), table.key.clone())];
    Dataset::of_trees(&source, &table.path, filter, PlanOptions::default())
}
