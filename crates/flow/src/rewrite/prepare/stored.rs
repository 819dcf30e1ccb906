//! Prepares the rewrite of a table that is in no ROOT file: of Parquet files, or of any other container. The output has this table
//! alone, in the directories of its path.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use dataset::EntrySet;
use dataset::glob::NameFilter;
use objects::{Action, NamedObject, ObjectPlan, OutputDirectory};
use rootfile::{Error, Hint, Result};

use super::bad_inputs::BadInputs;
use crate::arrow::read::Dataset;
use crate::commit::date::{date, nearest_date};
use crate::plan::inputs::Input;
use crate::plan::request::TableRequest;
use crate::rewrite::convert::{ConvertPlan, arrays_to_table};
use crate::rewrite::options::Options;
use crate::rewrite::output_table::{OutputPlace, TableMemory};
use crate::rewrite::prepared::{PlannedTable, Prepared, memory_needs};
use crate::rewrite::summary::Skipped;
use crate::select::{EntrySelection, OpenColumns};

/// Of a budget, the part that metadata of Parquet files may take.
const METADATA_SHARE: u64 = 4;

/// A table that is in no ROOT file, and what is asked of it besides the options of a rewrite.
pub(crate) struct StoredSource<'a> {
    /// The columns that are written.
    pub dataset: Dataset,
    /// Opens some columns, for conditions on entries.
    pub open: OpenColumns<'a>,
    /// Its path in the output.
    pub path: String,
    /// What missing numbers become; an error without it.
    pub fill: Option<f64>,
    /// Selects entries, given their total number, in place of the options.
    pub entries: Option<&'a dyn Fn(u64) -> Result<EntrySet>>,
}

/// Prepares the rewrite of Parquet files, taken as one.
pub(super) fn prepare_parquet(inputs: &[PathBuf], options: &Options, mut skipped: Vec<Skipped>) -> Result<Prepared> {
    let refused = [
        (
            options.inputs.append,
            "append",
            "Parquet files are not appended to a ROOT file; rewrite them, and merge the files",
        ),
        (options.content.tree.is_some(), "tree", "Parquet files have no trees to choose from"),
    ];
    if let Some((_, option, why)) = refused.iter().find(|(given, ..)| *given) {
        return Err(Error::request(*why).hint(Hint::named(*option)));
    }
    let mut inputs = inputs.to_vec();
    if options.inputs.skip_bad {
        let mut bad = BadInputs::new(inputs.clone(), true);
        for input in &inputs {
            bad.admit(open(std::slice::from_ref(input), &|_| true, u64::MAX))?;
        }
        skipped.extend(bad.leave_out(&mut inputs));
    }
    let (dataset, path) = open_filtered(&inputs, &options.content.filter, None, options.budget.memory)?;
    let columns = |filter: &NameFilter| open(&inputs, &|name| filter.keeps(&path, &[name]), u64::MAX);
    let source = StoredSource { dataset, open: &columns, path: path.clone(), fill: None, entries: None };
    Ok(Prepared { skipped, ..prepare_table(source, options, &mut |_| ())? })
}

/// Opens the columns of Parquet files that a filter keeps, in a budget of `memory`. Returns the path of the table as well.
///
/// # Errors
///
/// A file cannot be read, the files differ in these columns, or a pattern matches no column.
pub(crate) fn open_filtered(
    inputs: &[PathBuf],
    filter: &NameFilter,
    path: Option<&str>,
    memory: u64,
) -> Result<(Dataset, String)> {
    let named = |e: Error| inputs.iter().take(1).fold(e, |e, input| e.file(input));
    // The columns that are kept may depend on the path, which is in the first file.
    let path = match path {
        Some(path) => path.to_owned(),
        None => open(inputs.get(..1).unwrap_or_default(), &|_| false, memory / METADATA_SHARE)?.path().to_owned(),
    };
    let all = RefCell::new(Vec::new());
    let keeps = |name: &str| {
        all.borrow_mut().push(name.to_owned());
        filter.keeps(&path, &[name])
    };
    let dataset = open(inputs, &keeps, memory / METADATA_SHARE)?;
    let all = all.into_inner();
    let names: Vec<_> = all.iter().map(|name| (path.as_str(), name.as_str())).collect();
    if let Some(pattern) = filter.unmatched(&names).first() {
        return Err(named(Error::request(format!("no column matches {pattern}"))));
    }
    match dataset.columns().is_empty() {
        true => Err(named(Error::request("no column to convert"))),
        false => Ok((dataset, path)),
    }
}

fn open(inputs: &[PathBuf], keeps: &dyn Fn(&str) -> bool, most: u64) -> Result<Dataset> {
    let inputs: Vec<Input> = inputs.iter().map(|path| Input { path: path.clone(), tree: None }).collect();
    Dataset::of_parquet(&inputs, keeps, most)
}

/// Prepares the rewrite of a table. `planned` is told the plan.
pub(crate) fn prepare_table(
    source: StoredSource<'_>,
    options: &Options,
    planned: &mut dyn FnMut(&ConvertPlan),
) -> Result<Prepared> {
    let StoredSource { dataset, open, path, fill, entries } = source;
    let mut selection = EntrySelection::new(&options.content.entries);
    let selected = selection.for_table(&path, open, options.budget)?;
    selection.finish()?;
    let chosen = |all: u64| selected.entries(all);
    let entries = entries.or((!selected.is_all()).then_some(&chosen as &dyn Fn(u64) -> Result<EntrySet>));
    let paths = dataset.paths().to_vec();
    let bytes = dataset.files().iter().map(|file| file.size()).sum();
    let (layout, filter) = (&options.layout, &options.content.filter);
    let source = TableRequest { inputs: &[], path: &path, layout, filter, entries, options: options.plan };
    let plan = arrays_to_table(&source, options.budget.memory, dataset, fill);
    let (plan, notes) = plan.map_err(|e| paths.iter().take(1).fold(e, |e, path| e.file(path)))?;
    planned(&plan);
    let (directories, directory, name) = directories(&path);
    let place = OutputPlace { directory, name, path: path.clone() };
    let plans = vec![(place, PlannedTable { table: Box::new(plan), notes, lost: Vec::new(), kept: None })];
    let TableMemory { metadata, scratch, .. } = memory_needs(&plans, options.check);
    let newest = date(newest(&paths).map(nearest_date));
    Ok(Prepared {
        files: Vec::new(),
        bytes,
        skipped: Vec::new(),
        objects: ObjectPlan { directories, newest, single: true, ..ObjectPlan::default() },
        plans,
        pids: Vec::new(),
        pid_offsets: Vec::new(),
        pid_counts: Vec::new(),
        layout: options.layout.clone(),
        notes: selected.notes.clone(),
        older_cycles: Vec::new(),
        share: options.budget.share(metadata, scratch)?,
        version: None,
    })
}

/// The directories of a path, the index of the last of them, and the name there.
fn directories(path: &str) -> (Vec<OutputDirectory>, usize, String) {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let mut found = vec![OutputDirectory::default()];
    for folder in folders.split('/').filter(|folder| !folder.is_empty()) {
        let below = found.len();
        if let Some(last) = found.last_mut() {
            let own = last.path_of(folder);
            last.entries.push(NamedObject {
                name: folder.to_owned(),
                class: "TDirectory".to_owned(),
                action: Action::Directory(below),
                older: Vec::new(),
                newest: 1,
            });
            found.push(OutputDirectory { path: own, name: folder.to_owned(), ..OutputDirectory::default() });
        }
    }
    let last = found.len() - 1;
    (found, last, name.to_owned())
}

/// Time of the newest file, which becomes the date of the output.
fn newest(paths: &[PathBuf]) -> Option<i64> {
    let time = |path: &PathBuf| {
        let since =
            std::fs::metadata(path as &Path).ok()?.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        i64::try_from(since.as_secs()).ok()
    };
    paths.iter().filter_map(time).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_directories_and_a_name() {
        let (found, last, name) = directories("a/b/t");
        let paths: Vec<&str> = found.iter().map(|directory| directory.path.as_str()).collect();
        assert_eq!((paths, last, name.as_str()), (vec!["", "a", "a/b"], 2, "t"));
        let (found, last, name) = directories("t");
        assert_eq!((found.len(), last, name.as_str()), (1, 0, "t"));
    }
}
