//! Looks for events in files without an index: the keys of all entries are read, or the columns of cuts, and nothing else.

use dataset::EntryFilter;
use dataset::glob::NameFilter;
use rootfile::{Error, FilePool, OPEN_FILES, Result};

use super::asked::AskedKeys;
use crate::execute::budget::Budget;
use crate::execute::progress::Progress;
use crate::execute::workers::Workers;
use crate::keys::KeyedFile;
use crate::keys::files::{KeyFiles, table_with};
use crate::keys::key_type::KeyType;
use crate::plan::inputs::Input;
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
    let budget = options.budget;
    let threads = budget.threads.min(inputs.len()).max(1);
    let own = Budget { memory: budget.memory / threads as u64, threads: budget.threads / threads };
    let pool = FilePool::following(OPEN_FILES, options.inputs.follow);
    let cuts = EntryFilter { cuts: options.content.entries.cuts.clone(), ..EntryFilter::default() };
    let workers = Workers::new("the cuts", threads, progress).in_order();
    workers.results(inputs.len(), |number| {
        let Some(input) = inputs.get(number) else { return Err(Error::request("there is no such file")) };
        let found = table_with(&pool, input, own.memory, "the columns of the cuts", &|path, open| {
            let mut selection = EntrySelection::new(&cuts);
            let selected = selection.for_table(path, open, None, own)?;
            if !selected.is_cut() {
                return Ok(Err(selection.finish().err().unwrap_or_else(|| Error::request("no column of the cuts"))));
            }
            let passed = selected.entries(0)?;
            if passed.is_empty() {
                return Ok(Ok((KeyedFile { path: input.path.clone(), ..KeyedFile::default() }, Vec::new())));
            }
            let found = passed.all_runs().flatten().map(|entry| Found { key: 0, entry }).collect();
            Ok(Ok((KeyedFile::of(&input.path, &open(&NameFilter::default())?), found)))
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
