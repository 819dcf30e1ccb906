//! How many entries the tables of files have. Only metadata are read.

use std::path::Path;

use dataset::glob::TreePattern;
use dataset::layout::Container;
use dataset::near::no_such_table;
use dataset::table::catalog::{self, TableEntry};
use flow::convert::Format;
use flow::inputs::Input;
use flow::read::Dataset;
use rootfile::{Result, RootFile, public_path};
use serde::Serialize;

/// The entries of tables.
#[derive(Clone, Debug, Serialize)]
pub struct Counts {
    /// The tables, file by file.
    pub tables: Vec<TableCount>,
    /// For each path the entries of all files.
    pub totals: Vec<TableTotal>,
}

/// The entries of a table of a file.
#[derive(Clone, Debug, Serialize)]
pub struct TableCount {
    /// The file, as given.
    pub file: String,
    /// Path of the table.
    pub table: String,
    /// Its container; none of a Parquet file.
    pub container: Option<Container>,
    /// Number of entries.
    pub entries: u64,
}

/// The entries of tables of one path in all files.
#[derive(Clone, Debug, Serialize)]
pub struct TableTotal {
    /// Path of the tables.
    pub table: String,
    /// Number of files that have it.
    pub files: u64,
    /// Number of entries.
    pub entries: u64,
}

/// Counts the entries of the named tables, which may be patterns, or of all tables of a file, the newest cycle of each.
///
/// # Errors
///
/// A file cannot be read, has no such table, or the metadata of a table cannot be read. Where tables may be missing, no file needs one.
pub fn count(inputs: &[Input], allow_no_match: bool) -> Result<Counts> {
    let mut counts = Counts { tables: Vec::new(), totals: Vec::new() };
    for input in inputs {
        let file = public_path(&input.path).display().to_string();
        for (table, container, entries) in of_file(&input.path, input.tree.as_deref(), allow_no_match)? {
            match counts.totals.iter_mut().find(|total| total.table == table) {
                Some(total) => {
                    total.files += 1;
                    total.entries = total.entries.saturating_add(entries);
                }
                None => counts.totals.push(TableTotal { table: table.clone(), files: 1, entries }),
            }
            counts.tables.push(TableCount { file: file.clone(), table, container, entries });
        }
    }
    Ok(counts)
}

type Counted = (String, Option<Container>, u64);

fn of_file(path: &Path, wanted: Option<&str>, allow_no_match: bool) -> Result<Vec<Counted>> {
    if Format::is_parquet(path) {
        let input = Input { path: path.to_owned(), tree: wanted.map(str::to_owned) };
        let dataset = Dataset::open(&[input])?;
        return Ok(vec![(dataset.path().to_owned(), None, dataset.entries())]);
    }
    let file = RootFile::open(path)?;
    let tables = catalog::tables(&file);
    let named = catalog::by_path(&tables);
    let found: Vec<&TableEntry> = match wanted {
        None => named.clone(),
        Some(wanted) => match catalog::find(&tables, wanted) {
            Some(table) => vec![table],
            None => {
                let pattern = TreePattern::new(wanted)?;
                named.iter().copied().filter(|table| pattern.matches(&table.path)).collect()
            }
        },
    };
    if found.is_empty() && !allow_no_match {
        let names: Vec<&str> = named.iter().map(|table| table.path.as_str()).collect();
        return Err(no_such_table(wanted, &names).file(path));
    }
    let counted = found.into_iter().map(|table| {
        let outline = table.outline(&file).map_err(|e| e.object(table.path.clone()).file(path))?;
        Ok((table.path.clone(), Some(table.container), outline.entries))
    });
    counted.collect()
}
