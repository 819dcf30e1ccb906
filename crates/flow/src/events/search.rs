//! Looks for events in files without an index: the keys of all entries are read, or the columns of cuts, and nothing else.

use std::path::Path;

use dataset::glob::NameFilter;
use dataset::{EntryFilter, EntrySet, EntrySetBuilder};
use rootfile::{Error, FilePool, OPEN_FILES, Result};

use super::asked::AskedKeys;
use super::picked_cost::refuse_changed;
use crate::arrow::read::Dataset;
use crate::execute::budget::Budget;
use crate::execute::progress::Progress;
use crate::execute::workers::Workers;
use crate::keys::KeyedFile;
use crate::keys::files::{KeyFiles, table_with};
use crate::keys::key_type::KeyType;
use crate::plan::format::Format;
use crate::plan::inputs::Input;
use crate::plan::request::Select;
use crate::rewrite::options::Options;
use crate::select::EntrySelection;

/// What was found in one file.
pub(super) type Hits = (KeyedFile, Vec<Found>);

/// The entries of each file that pass cuts, in their order, and the files. They have no keys.
///
/// # Errors
///
/// A file cannot be read, or a cut is no condition on its entries.
pub(super) fn search_cuts(inputs: &[Input], options: &Options, progress: Progress<'_>) -> Result<Vec<Hits>> {
    passing(inputs, &vec![None; inputs.len()], options, progress, &|number, table, passed| {
        let path = inputs.get(number).map_or(Path::new(""), |input| input.path.as_path());
        let found = passed.all_runs().flatten().map(|entry| Found { key: 0, entry }).collect();
        Ok((KeyedFile::of(path, table)?, found))
    })
}

/// Those of the found entries that pass cuts as well, if there are some.
///
/// # Errors
///
/// As for [`search_cuts`], and if a file is not what an index says of it.
pub(super) fn passing_of(hits: Vec<Hits>, options: &Options, progress: Progress<'_>) -> Result<Vec<Hits>> {
    if options.content.entries.cuts.is_empty() {
        return Ok(hits);
    }
    let input = |(file, _): &Hits| {
        let tree = (!Format::is_parquet(&file.path)).then(|| file.tree.clone());
        Input { path: file.path.clone(), tree }
    };
    let inputs: Vec<Input> = hits.iter().map(input).collect();
    let set = |(file, found): &Hits| {
        let mut set = EntrySetBuilder::new(file.entries);
        found.iter().for_each(|found| set.push(found.entry..found.entry + 1));
        Some(set.finish())
    };
    let sets: Vec<Option<EntrySet>> = hits.iter().map(set).collect();
    let passed = passing(&inputs, &sets, options, progress, &|number, table, passed| {
        hits.get(number).map_or(Ok(()), |(file, _)| refuse_changed(file, table))?;
        Ok(passed.clone())
    })?;
    let left = |((file, mut found), passed): (Hits, EntrySet)| {
        found.retain(|found| passed.contains(found.entry));
        (file, found)
    };
    Ok(hits.into_iter().zip(passed).map(left).collect())
}

/// What is made of the entries of each file that pass the cuts, of all or of a set of them, and of the table.
fn passing<T: Send>(
    inputs: &[Input],
    sets: &[Option<EntrySet>],
    options: &Options,
    progress: Progress<'_>,
    of: &(dyn Fn(usize, &Dataset, &EntrySet) -> Result<T> + Sync),
) -> Result<Vec<T>> {
    let budget = options.budget;
    let threads = budget.threads.min(inputs.len()).max(1);
    let own = Budget { memory: budget.memory / threads as u64, threads: budget.threads / threads };
    let pool = FilePool::following(OPEN_FILES, options.inputs.follow);
    let cuts = EntryFilter { cuts: options.content.entries.cuts.clone(), ..EntryFilter::default() };
    let workers = Workers::new("the cuts", threads, progress).in_order();
    workers.results(inputs.len(), |number| {
        let Some(input) = inputs.get(number) else { return Err(Error::request("there is no such file")) };
        let set = sets.get(number).and_then(Option::as_ref);
        let chosen = |_: u64| Ok(set.cloned().unwrap_or_else(|| EntrySet::range(0..0)));
        let named: Select<'_> = if set.is_some() { Some(&chosen) } else { None };
        let found = table_with(&pool, input, own.memory, "the columns of the cuts", &|path, open| {
            let mut selection = EntrySelection::new(&cuts);
            let selected = selection.for_table(path, open, named, own)?;
            if !selected.is_cut() {
                return Ok(Err(selection.finish().err().unwrap_or_else(|| Error::request("no column of the cuts"))));
            }
            Ok(Ok(of(number, &open(&NameFilter::default())?, &selected.entries(0)?)?))
        });
        found.map_err(|e| if e.path().is_some() { e } else { e.file(&input.path) })
    })
}

/// An entry that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub key: u128,
    pub entry: u64,
}

/// The entries of each file whose keys are looked for, in their order.
///
/// # Errors
///
/// A file cannot be read.
pub(super) fn search(
    files: &KeyFiles<'_>,
    of: &KeyType,
    asked: &AskedKeys,
    progress: Progress<'_>,
) -> Result<Vec<Hits>> {
    files.each(progress, |_, table| {
        let mut found = Vec::new();
        files.each_step(table, None, progress, &mut |step| {
            let keys = of.pack(&step.arrays, step.rows.count)?;
            let some = keys.into_iter().zip(step.entries()).filter(|(key, _)| asked.find(*key).is_some());
            found.extend(some.map(|(key, entry)| Found { key, entry }));
            Ok(())
        })?;
        Ok((table.file.clone(), found))
    })
}
