//! The workload of an analysis with cuts: the columns of the cuts are read, and of the others what passes. How many entries pass is counted
//! in the file.

use std::path::Path;

use dataset::table::TableColumn;
use dataset::table::catalog;
use flow::inputs::Input;
use flow::read::Dataset;
use flow::{Choice, Meaning};
use rootfile::{Error, Hint, Result, RootFile};

use super::options::Options;
use crate::cost::Workload;
use crate::math::as_f64;

/// The workload of the options, of the entries of a file that pass the cuts of a choice.
///
/// # Errors
///
/// The file cannot be read, no table or several have the columns of the cuts, nothing passes, or the workload has no cuts.
pub fn within_cut(path: &Path, options: &Options, choice: &Choice) -> Result<Workload> {
    let dataset = dataset_of(path, options.tree.as_deref(), choice)?;
    let chosen = choice.of(&dataset, options.budget(), &flow::unwatched)?;
    let passed = chosen.cuts.last().map_or(0, |step| step.after);
    let all = chosen.cuts.first().map_or(0, |step| step.before);
    if passed == 0 {
        let hint = Hint::named("cut");
        let why =
            format!("no entry of {} passes {hint}: a reader of it reads the columns of the cut alone", dataset.path());
        return Err(Error::request(why).hint(hint).file(path));
    }
    let name = |column: usize| {
        let node = dataset.columns().get(column).map_or(usize::MAX, TableColumn::node);
        let lineage = dataset.schema().lineage(node);
        lineage.into_iter().rev().collect::<Vec<_>>().join(".")
    };
    let columns: Vec<String> = chosen.read.iter().map(|(column, _)| name(*column)).collect();
    let share = as_f64(passed) / as_f64(all);
    options.workload.within_cut(dataset.path(), share, &columns)
}

/// The table that the cuts are of.
fn dataset_of(path: &Path, tree: Option<&str>, choice: &Choice) -> Result<Dataset> {
    let open = |tree: &str| Dataset::open(&[Input { path: path.to_path_buf(), tree: Some(tree.to_owned()) }]);
    if let Some(tree) = tree {
        return open(tree);
    }
    let all = catalog::tables(&RootFile::open(path)?);
    let tables = catalog::by_path(&all);
    let mut fitting = Vec::new();
    for table in &tables {
        let dataset = open(&table.path)?;
        // Cuts without a column are about tables that have some.
        if dataset.number_of_columns() == 0 {
            continue;
        }
        let fits = |cut: &String| matches!(Meaning::of_condition(&dataset, cut, &choice.defines), Meaning::Fits(_));
        if choice.cuts.iter().all(fits) {
            fitting.push(dataset);
        }
    }
    match (fitting.pop(), fitting.is_empty()) {
        (Some(dataset), true) => Ok(dataset),
        (Some(_), false) => {
            let why = "several tables have the columns of the cut: name one as FILE:TREE";
            Err(Error::request(why).hint(Hint::named("cut")).file(path))
        }
        // Its error says what is wrong with the cut in the first of them.
        (None, _) => {
            Dataset::open(&[Input { path: path.to_path_buf(), tree: tables.first().map(|table| table.path.clone()) }])
        }
    }
}
