//! Prepares the rewrite of a table that is in no ROOT file: of Parquet files, or of any other container. The output has this table
//! alone, in the directories of its path.

use std::path::{Path, PathBuf};

use dataset::EntrySet;
use dataset::glob::NameFilter;
use dataset::table::Join;
use objects::{Action, NamedObject, ObjectPlan, OutputDirectory};
use rootfile::{Error, ErrorKind, Hint, Result};

use super::bad_inputs::BadInputs;
use super::build_index::IndexBuilder;
use super::order::{OrderFacts, OrderedTables};
use super::unique::UniqueKeys;
use crate::arrow::read::Dataset;
use crate::commit::date::{date, nearest_date};
use crate::plan::inputs::Input;
use crate::plan::request::TableRequest;
use crate::plan::skipped::Skipped;
use crate::rewrite::convert::{ConvertPlan, DefinedColumns, arrays_to_table};
use crate::rewrite::options::Options;
use crate::rewrite::output_table::{OutputPlace, TableMemory};
use crate::rewrite::prepared::{PlannedTable, Prepared, memory_needs};
use crate::select::{Defined, EntrySelection, OpenColumns};
use crate::table::text_list::listed;

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
    let (content, compression) = (&options.content, &options.compression);
    let refused = [
        (
            options.inputs.append,
            Some("append"),
            "Parquet files are not appended to a ROOT file; rewrite them, and merge the files",
        ),
        (content.no_trees, None, "Parquet files have nothing but a table, and trees are to be left out"),
        (compression.as_first, None, "Parquet files have no compression setting of ROOT's that can be taken over"),
    ];
    if let Some((_, option, why)) = refused.iter().find(|(given, ..)| *given) {
        return Err(option.map(Hint::named).into_iter().fold(Error::request(*why), Error::hint));
    }
    let (join, memory) = (options.plan.schema, options.budget.memory);
    let named = |path: &PathBuf| Input { path: path.clone(), tree: content.tree.clone() };
    let mut inputs: Vec<Input> = inputs.iter().map(named).collect();
    if options.inputs.skip_bad {
        let mut bad = BadInputs::new(inputs.iter().map(|input| input.path.clone()).collect(), true);
        for input in &inputs {
            bad.admit(Dataset::of_parquet(std::slice::from_ref(input), &|_, _| true, join, memory))?;
        }
        skipped.extend(bad.leave_out(&mut inputs));
    }
    let opened = open_filtered(&inputs, &content.filter, None, join, memory);
    let (dataset, path, left_out) = opened.map_err(|e| with_ways_out(e, join))?;
    let columns =
        |filter: &NameFilter| open_columns(&inputs, filter, &path, join, memory).map_err(|e| with_ways_out(e, join));
    let source = StoredSource { dataset, open: &columns, path: path.clone(), fill: None, entries: None };
    let mut prepared = prepare_table(source, options, &mut |_| ())?;
    if let (false, Some((_, plan))) = (left_out.is_empty(), prepared.plans.first_mut()) {
        let named = listed(&left_out);
        plan.lost.push(format!("table {path}: columns that are not alike in all inputs are left out: {named}"));
    }
    Ok(Prepared { skipped, ..prepared })
}

/// An error of files whose columns differ, with what helps in a merge.
fn with_ways_out(error: Error, join: Join) -> Error {
    let ErrorKind::Differs(what) = error.kind() else { return error };
    let common = Hint::switch("common").that("leaves out the columns that differ");
    let filled = if join == Join::Fill { "; columns of Parquet files are not filled in" } else { "" };
    let message = format!("{what}{filled}; {}", common.clause());
    let mut told = Error::differs(message).hint(common).hints_of(&error);
    if let Some(path) = error.path() {
        told = told.file(path);
    }
    match error.subject() {
        Some(subject) => told.object(subject),
        None => told,
    }
}

/// Opens the columns of Parquet files that a filter keeps, in a budget of `memory`. Returns the path of the table as well, which is the
/// given one or that in the first file, and the columns that are left out because not all files have them.
///
/// # Errors
///
/// A file cannot be read, or the files differ in these columns.
pub(crate) fn open_filtered(
    inputs: &[Input],
    filter: &NameFilter,
    path: Option<&str>,
    join: Join,
    memory: u64,
) -> Result<(Dataset, String, Vec<String>)> {
    let named = |e: Error| inputs.iter().take(1).fold(e, |e, input| e.file(&input.path));
    let keeps = |own: &str, name: &str| filter.keeps(path.unwrap_or(own), &[name]);
    let (dataset, left_out) = Dataset::of_parquet(inputs, &keeps, join, memory)?;
    let path = path.unwrap_or(dataset.path()).to_owned();
    match (dataset.columns().is_empty(), left_out.is_empty()) {
        (false, _) => Ok((dataset, path, left_out)),
        (true, true) => Err(named(Error::request("no column to convert"))),
        (true, false) => Err(Error::differs(format!("table {path}: its inputs have no column in common"))),
    }
}

/// Opens some columns of Parquet files, whose table is called `path`.
///
/// # Errors
///
/// As [`open_filtered`].
pub(crate) fn open_columns(
    inputs: &[Input],
    filter: &NameFilter,
    path: &str,
    join: Join,
    memory: u64,
) -> Result<Dataset> {
    Ok(Dataset::of_parquet(inputs, &|_, name| filter.keeps(path, &[name]), join, memory)?.0)
}

/// Prepares the rewrite of a table. `planned` is told the plan.
pub(crate) fn prepare_table(
    source: StoredSource<'_>,
    options: &Options,
    planned: &mut dyn FnMut(&ConvertPlan),
) -> Result<Prepared> {
    let StoredSource { dataset, open, path, fill, entries } = source;
    let mut selection = EntrySelection::new(&options.content.entries).with_defines(&options.content.defines);
    let selected = selection.for_table(&path, open, entries, options.budget)?;
    let mut cut_flows = selection.finish()?;
    cut_flows.extend_from_slice(&options.content.cut_flows);
    let mut unique = UniqueKeys::new(&options.content, options.budget);
    let selected = unique.for_table(&path, open, selected)?;
    let duplicates = unique.finish()?;
    let mut ordered = OrderedTables::new(&options.content, options.budget);
    let order = ordered.for_table(&path, open, &selected)?;
    let OrderFacts { unsorted, notes: of_order } = ordered.finish()?;
    let chosen = |all: u64| selected.entries(all);
    let some = (!selected.is_all()).then_some(&chosen as &dyn Fn(u64) -> Result<EntrySet>);
    let entries = if selected.is_cut() { some } else { entries.or(some) };
    let paths = dataset.paths().to_vec();
    let bytes = dataset.files().iter().map(|file| file.size()).sum();
    let (layout, filter) = (&options.layout, &options.content.filter);
    let (order, joining) = (order.as_ref(), options.plan);
    let source =
        TableRequest { inputs: &[], path: &path, layout, filter, entries, options: joining, added: None, order };
    let defines = &options.content.defines;
    let defined = match defines.is_empty() {
        true => None,
        false => {
            let (dataset, defined) = Defined::open(&path, open, defines)?;
            Some(DefinedColumns { dataset, defined: defined.all(&path)? })
        }
    };
    let plan = arrays_to_table(&source, options.budget.memory, dataset, fill, defined);
    let (mut plan, mut notes) = plan.map_err(|e| paths.iter().take(1).fold(e, |e, path| e.file(path)))?;
    let mut indices = IndexBuilder::new(options.build_index.as_ref(), options.budget);
    if let Some(values) = indices.of_table(&path, open)? {
        let note = indices.put(&values, plan.selection.clone().as_ref(), order.map(|order| &**order), &mut plan)?;
        notes.extend(note.map(|note| format!("tree {path}: {note}")));
    }
    indices.finish()?;
    planned(&plan);
    let (directories, directory, name) = directories(&path);
    let place = OutputPlace { directory, name, path: path.clone(), cycle: None };
    let plans = vec![(place, PlannedTable { table: Box::new(plan), notes, lost: Vec::new(), kept: None })];
    let TableMemory { metadata, scratch, .. } = memory_needs(&plans, options.check);
    let newest = date(newest(&paths).map(nearest_date));
    Ok(Prepared {
        committed: None,
        files: Vec::new(),
        bytes,
        skipped: Vec::new(),
        objects: ObjectPlan { directories, newest, single: true, ..ObjectPlan::default() },
        plans,
        pids: Vec::new(),
        pid_offsets: Vec::new(),
        pid_counts: Vec::new(),
        layout: options.layout.clone(),
        notes: selected.notes.iter().cloned().chain(of_order).collect(),
        cut_flows,
        duplicates,
        unsorted,
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
