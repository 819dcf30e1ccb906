//! The tables of an input as far as users name them: their paths, entries and columns. Each is opened once, and no entry is read.

use std::sync::Arc;

use dataset::glob::NameFilter;
use dataset::near::{no_such_parquet_table, no_such_table};
use dataset::table::Outline;
use dataset::table::catalog;
use rootfile::{Error, Result, RootFile, hand_over};

use crate::arrow::read::Dataset;
use crate::plan::format::Format;
use crate::plan::inputs::Input;
use crate::plan::options::PlanOptions;

/// Which tables of an input that names none are meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tables {
    /// All of them.
    #[default]
    All,
    /// The one that readers get.
    Only,
    /// One of them, by what else is asked for.
    One,
}

/// A table of an input.
pub(super) struct InputTable {
    pub path: String,
    pub outline: Outline,
    /// All of its columns, if they are opened.
    pub dataset: Option<Dataset>,
}

/// The tables of an input that can be read.
pub(super) struct InputTables {
    pub tables: Vec<InputTable>,
    /// Why the one that is meant is not among them.
    pub lacking: Option<Error>,
}

/// The tables that an input means. `opens` says whether their columns are opened.
///
/// # Errors
///
/// The input cannot be read.
pub(super) fn tables_of(input: &Input, of: Tables, opens: bool) -> Result<InputTables> {
    if Format::is_parquet(&input.path) {
        return of_parquet(input);
    }
    let file = Arc::new(RootFile::open(&input.path)?);
    let all = catalog::tables(&file);
    let named = match (&input.tree, of) {
        (Some(tree), _) => catalog::find(&all, tree).into_iter().collect(),
        (None, Tables::Only) => catalog::only(&all).into_iter().collect(),
        (None, _) => all.iter().filter(|table| table.newest).collect::<Vec<_>>(),
    };
    let paths: Vec<&str> = catalog::by_path(&all).into_iter().map(|table| table.path.as_str()).collect();
    let is_meant = input.tree.is_some() || of == Tables::Only;
    let lacking =
        (is_meant && named.is_empty()).then(|| no_such_table(input.tree.as_deref(), &paths).file(&input.path));
    // What cannot be read is left to those who read it.
    let tables = named.into_iter().filter_map(|table| {
        let path = table.path.clone();
        if !opens {
            return Some(InputTable { path, outline: table.outline(&file).ok()?, dataset: None });
        }
        let source = [(0, Arc::clone(&file), table.key.clone())];
        let dataset = Dataset::of_trees(&source, &path, &NameFilter::default(), PlanOptions::default()).ok()?;
        let outline = Outline::of(dataset.schema(), dataset.entries());
        Some(InputTable { path, outline, dataset: Some(dataset) })
    });
    let tables = tables.collect();
    hand_over(&input.path, Arc::clone(file.source()));
    Ok(InputTables { tables, lacking })
}

/// The table of a Parquet file.
fn of_parquet(input: &Input) -> Result<InputTables> {
    let whole = Input { tree: None, ..input.clone() };
    let dataset = Dataset::of_whole_parquet(std::slice::from_ref(&whole), u64::MAX)?;
    dataset.files().iter().for_each(|file| hand_over(&input.path, Arc::clone(file)));
    let path = dataset.path().to_owned();
    if let Some(wanted) = input.tree.as_ref().filter(|wanted| **wanted != path) {
        let lacking = no_such_parquet_table(wanted, &path).file(&input.path);
        return Ok(InputTables { tables: Vec::new(), lacking: Some(lacking) });
    }
    let names = dataset.schema().nodes().into_iter().map(|node| node.name).collect();
    let outline = Outline { entries: dataset.entries(), names, other_paths: Vec::new() };
    Ok(InputTables { tables: vec![InputTable { path, outline, dataset: Some(dataset) }], lacking: None })
}
