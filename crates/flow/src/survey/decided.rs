//! Which table is meant where none is named: what readers get, or the one that has the columns that are named. Entries are not read.

use dataset::glob::ColumnPattern;
use dataset::table::catalog::{self, TableEntry};
use rootfile::{Error, Result, RootFile, hand_over};

use crate::plan::format::Format;
use crate::plan::inputs::Input;

/// Inputs of which columns are named, each by a name or a pattern, and no table. Where the first has several, and what readers get has none of
/// these columns, the one that has most of them is named in all. What means nothing is left to those who look for it.
///
/// # Errors
///
/// One of the columns is no pattern, or several tables have as many of them.
pub fn decided_by_columns(mut inputs: Vec<Input>, columns: &[String]) -> Result<Vec<Input>> {
    let Some(first) = inputs.first().filter(|input| input.tree.is_none() && !columns.is_empty()) else {
        return Ok(inputs);
    };
    if Format::is_parquet(&first.path) {
        return Ok(inputs);
    }
    let patterns = columns.iter().map(|text| ColumnPattern::new(text)).collect::<Result<Vec<_>>>()?;
    let Ok(file) = RootFile::open(&first.path) else { return Ok(inputs) };
    let all = catalog::tables(&file);
    let has = |table: &TableEntry| {
        let Ok(outline) = table.outline(&file) else { return 0 };
        let names = || outline.names.iter().chain(&outline.other_paths);
        patterns.iter().filter(|pattern| names().any(|name| pattern.matches(&table.path, name))).count()
    };
    let usual = catalog::only(&all).map_or(0, has);
    let counts: Vec<(&TableEntry, usize)> = match usual {
        0 => catalog::by_path(&all).into_iter().map(|table| (table, has(table))).collect(),
        _ => Vec::new(),
    };
    let most = counts.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let best: Vec<&str> =
        counts.iter().filter(|(_, count)| *count == most && most > 0).map(|(table, _)| table.path.as_str()).collect();
    hand_over(&first.path, file.source().clone());
    match best.as_slice() {
        [] => {}
        [one] => {
            let unnamed = inputs.iter_mut().filter(|input| input.tree.is_none());
            unnamed.for_each(|input| input.tree = Some((*one).to_owned()));
        }
        several => {
            let several = several.join(", ");
            let why = format!("has several trees and RNTuples with such columns: {several}; name one, as in FILE:TREE");
            return Err(Error::request(why).file(&first.path));
        }
    }
    Ok(inputs)
}
