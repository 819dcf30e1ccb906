//! Whether inputs have the columns that the conditions on their entries name, before any job begins: the cuts are bound to the tables,
//! and no entry is read. What else users name is looked for in [`wanted`](super::wanted).

use std::sync::Arc;

use dataset::EntryFilter;
use dataset::glob::NameFilter;
use dataset::table::catalog;
use rootfile::{Result, RootFile};

use crate::arrow::read::Dataset;
use crate::plan::format::Format;
use crate::plan::inputs::Input;
use crate::plan::options::PlanOptions;
use crate::select::{Choice, EntrySelection};

/// Looks for the columns of the cuts of a choice in the inputs, and for nothing else of it.
///
/// # Errors
///
/// A cut is no condition on entries, or no table has its columns. Inputs that cannot be read are left to those who read them.
pub fn check_conditions(inputs: &[Input], choice: &Choice) -> Result<()> {
    if choice.cuts.is_empty() {
        return Ok(());
    }
    let filter = EntryFilter { cuts: choice.cuts.clone(), weight: choice.weight.clone(), ..EntryFilter::default() };
    let mut selection = EntrySelection::new(&filter).with_defines(&choice.defines);
    let mut is_readable = false;
    for input in inputs {
        is_readable |= look_at(input, &mut selection)?;
    }
    if is_readable { selection.finish().map(drop) } else { Ok(()) }
}

/// Binds the cuts to the tables of an input; whether it has some that can be read.
fn look_at(input: &Input, selection: &mut EntrySelection<'_>) -> Result<bool> {
    if Format::is_parquet(&input.path) {
        let one = std::slice::from_ref(input);
        let Ok(dataset) = Dataset::of_whole_parquet(one, u64::MAX) else { return Ok(false) };
        let open = |_: &NameFilter| Dataset::of_whole_parquet(one, u64::MAX);
        return selection.look_at(dataset.path(), &open).map(|()| true);
    }
    let Ok(file) = RootFile::open(&input.path).map(Arc::new) else { return Ok(false) };
    let tables = catalog::tables(&file);
    let named = match &input.tree {
        Some(tree) => catalog::find(&tables, tree).into_iter().collect(),
        None => catalog::by_path(&tables),
    };
    let mut is_readable = false;
    for table in named {
        let source = [(0, Arc::clone(&file), table.key.clone())];
        let open = |filter: &NameFilter| Dataset::of_trees(&source, &table.path, filter, PlanOptions::default());
        if table.outline(&file).is_ok() {
            selection.look_at(&table.path, &open)?;
            is_readable = true;
        }
    }
    Ok(is_readable)
}
