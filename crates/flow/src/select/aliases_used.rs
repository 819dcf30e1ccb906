//! The aliases that cuts use, for files whose entries are selected one file after the other: they mean the same in all, as where the files
//! are joined. Which entries pass is not known here.

use std::path::Path;

use rootfile::Result;

use super::names::{TableNames, different_alias};
use crate::arrow::read::Dataset;
use crate::plan::tree::attached::{Alias, AliasConflicts, aliases, compare_aliases, named_in};

/// The aliases of a table that these texts use, themselves or through others. None for a table without entries, which says nothing.
pub(crate) fn aliases_used(dataset: &Dataset, texts: &[String]) -> Option<Vec<Alias>> {
    let mut found = dataset.tree().map_or_else(Vec::new, aliases);
    // Most trees have none, and the names of all columns take time.
    if !found.is_empty() {
        let names = TableNames::new(dataset, dataset.path(), &[]);
        // A column goes before an alias of its name.
        found.retain(|(name, _)| !names.has(name));
        let used = named_in(texts, &found);
        found.retain(|(name, _)| used.contains(name));
    }
    (dataset.entries() > 0).then_some(found)
}

/// Refuses an alias that means something else in another file.
///
/// # Errors
///
/// It names the alias and two of the files.
pub(crate) fn refuse_different<'a>(each: impl IntoIterator<Item = (&'a Path, &'a [Alias])>) -> Result<()> {
    let mut each = each.into_iter();
    let Some((first, of_first)) = each.next() else { return Ok(()) };
    let mut found = AliasConflicts::new();
    each.for_each(|(path, used)| compare_aliases(of_first, first, used, path, &mut found));
    match found.into_iter().next() {
        Some((name, why)) => Err(different_alias(&name, &why)),
        None => Ok(()),
    }
}
