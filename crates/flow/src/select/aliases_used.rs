//! The aliases that cuts use, for files whose entries are selected one file after the other: they mean the same in all, as where the files
//! are joined. Which entries pass is not known here.

use std::collections::BTreeSet;
use std::path::Path;

use expr::Expression;
use rootfile::Result;

use super::names::{TableNames, different_alias};
use crate::arrow::read::Dataset;
use crate::plan::tree::attached::{Alias, AliasConflicts, aliases, compare_aliases};

/// The aliases of a table that these texts use, themselves or through others. None for a table without entries, which says nothing.
pub(crate) fn aliases_used(dataset: &Dataset, texts: &[String]) -> Option<Vec<Alias>> {
    let all = dataset.tree().map_or_else(Vec::new, aliases);
    let names = TableNames::new(dataset, dataset.path(), &[]);
    let (mut used, mut left, mut seen) = (Vec::new(), texts.to_vec(), BTreeSet::new());
    while let Some(text) = left.pop() {
        // A text is a name, or an expression.
        let within = Expression::parse(&text).map(|expression| expression.names()).unwrap_or_default();
        for name in within.into_iter().chain([text]).filter(|name| !names.has(name)) {
            let alias = all.iter().find(|(other, _)| *other == name);
            if let Some(alias) = alias.filter(|_| seen.insert(name)) {
                left.push(alias.1.clone());
                used.push(alias.clone());
            }
        }
    }
    (dataset.entries() > 0).then_some(used)
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
