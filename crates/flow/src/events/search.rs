//! Looks for events in files without an index: the keys of all entries are read, or the columns of cuts, and nothing else.

use std::path::Path;

use dataset::glob::NameFilter;
use dataset::{EntryFilter, EntrySet, EntrySetBuilder};
use rootfile::{Error, FilePool, OPEN_FILES, Result};

use super::asked::AskedKeys;
use super::hits::{Found, Hits};
use super::picked_cost::refuse_changed;
use crate::execute::budget::Budget;
use crate::execute::progress::Progress;
use crate::execute::workers::Workers;
use crate::keys::KeyedFile;
use crate::keys::files::{KeyFiles, before_each, table_with};
use crate::keys::key_type::KeyType;
use crate::plan::format::Format;
use crate::plan::inputs::Input;
use crate::plan::request::Select;
use crate::plan::skipped::{BadFiles, Skipped};
use crate::plan::tree::attached::Alias;
use crate::rewrite::options::Options;
use crate::select::{CutFlow, EntrySelection, aliases_used, refuse_different};

/// What was found in files.
pub(super) struct Searched {
    pub hits: Vec<Hits>,
    /// The files that are left out because they are bad.
    pub skipped: Vec<Skipped>,
    /// What the cuts left of all files, if there are some.
    pub cut_flow: Option<CutFlow>,
}

/// The entries of each file that pass cuts, in their order, and the files. They have no keys.
///
/// # Errors
///
/// A file cannot be read, or a cut is no condition on its entries.
pub(super) fn search_cuts(inputs: &[Input], options: &Options, progress: Progress<'_>) -> Result<Searched> {
    let files: Vec<Tested<'_>> =
        inputs.iter().map(|input| Tested { input: input.clone(), set: None, known: None, before: None }).collect();
    let (passed, skipped) = passing(&files, options, progress)?;
    let cut_flow = cut_flow(&passed);
    let found = passed.into_iter().flatten().map(|Passed { file, entries, .. }| {
        let found = entries.all_runs().flatten().map(|entry| Found { key: 0, entry }).collect();
        (file, found)
    });
    Ok(Searched { hits: Hits::of(found), skipped, cut_flow })
}

/// Those of the found entries that pass cuts as well, if there are some. `cut` gets the number of the others.
///
/// # Errors
///
/// As for [`search_cuts`], and if a file is not what an index says of it.
pub(super) fn passing_of(
    hits: Vec<Hits>,
    options: &Options,
    progress: Progress<'_>,
    cut: &mut u64,
) -> Result<Searched> {
    if options.content.entries.cuts.is_empty() {
        return Ok(Searched { hits, skipped: Vec::new(), cut_flow: None });
    }
    let tested = |hits: &'_ Hits| {
        let Hits { file, before, found } = hits;
        let tree = (!Format::is_parquet(&file.path)).then(|| file.tree.clone());
        let mut set = EntrySetBuilder::new(file.entries);
        found.iter().for_each(|found| set.push(found.entry..found.entry + 1));
        (Input { path: file.path.clone(), tree }, set.finish(), *before)
    };
    let files: Vec<Tested<'_>> = hits
        .iter()
        .map(|hits| {
            let (input, set, before) = tested(hits);
            Tested { input, set: Some(set), known: Some(&hits.file), before: Some(before) }
        })
        .collect();
    let (passed, skipped) = passing(&files, options, progress)?;
    drop(files);
    let cut_flow = cut_flow(&passed);
    let left = |(hits, passed): (Hits, Option<Passed>)| {
        let (Hits { file, before, mut found }, passed) = (hits, passed?.entries);
        let all = found.len();
        found.retain(|found| passed.contains(found.entry));
        *cut += (all - found.len()) as u64;
        Some(Hits { file, before, found })
    };
    let hits = hits.into_iter().zip(passed).filter_map(left).collect();
    Ok(Searched { hits, skipped, cut_flow })
}

/// A file whose entries are tested: all, or a set of them.
struct Tested<'a> {
    input: Input,
    set: Option<EntrySet>,
    /// What it must still be.
    known: Option<&'a KeyedFile>,
    /// Entries of the files before it. Those of the files here, if it is not known.
    before: Option<u64>,
}

/// The entries of a file that pass.
struct Passed {
    file: KeyedFile,
    entries: EntrySet,
    /// What the cuts leave of it.
    cut_flow: CutFlow,
    /// Whether the cuts count entries.
    counts: bool,
    /// The aliases that the cuts use, if it has entries.
    aliases: Option<Vec<Alias>>,
}

/// The sum of the cut flows of files.
fn cut_flow(passed: &[Option<Passed>]) -> Option<CutFlow> {
    let mut flows = passed.iter().flatten().map(|passed| &passed.cut_flow);
    let mut sum = flows.next()?.clone();
    flows.for_each(|more| sum.add(more));
    Some(sum)
}

/// The entries of each file that pass the cuts, none of a bad one that is left out.
fn passing(
    files: &[Tested<'_>],
    options: &Options,
    progress: Progress<'_>,
) -> Result<(Vec<Option<Passed>>, Vec<Skipped>)> {
    let paths: Vec<&Path> = files.iter().map(|tested| tested.input.path.as_path()).collect();
    let none = vec![0; files.len()];
    let (passed, skipped) = BadFiles::sort_out(tested(files, &none, options, progress)?, &paths)?;
    let all = passed.iter().flatten();
    refuse_different(all.filter_map(|passed| Some((passed.file.path.as_path(), passed.aliases.as_deref()?))))?;
    let is_wrong = |(passed, tested): (&Option<Passed>, &Tested<'_>)| {
        tested.before.is_none() && passed.as_ref().is_some_and(|passed| passed.counts)
    };
    if files.len() < 2 || !passed.iter().zip(files).any(is_wrong) {
        return Ok((passed, skipped));
    }
    // Now it is known how many entries are before each.
    let entries = passed.iter().map(|passed| passed.as_ref().map_or(0, |passed| passed.file.entries));
    BadFiles::sort_out(tested(files, &before_each(entries), options, progress)?, &paths)
}

fn tested(
    files: &[Tested<'_>],
    before: &[u64],
    options: &Options,
    progress: Progress<'_>,
) -> Result<Vec<Result<Passed>>> {
    let budget = options.budget;
    let threads = budget.threads.min(files.len()).max(1);
    let own = Budget { memory: budget.memory / threads as u64, threads: budget.threads / threads };
    let pool = FilePool::following(OPEN_FILES, options.inputs.follow);
    let cuts = EntryFilter { cuts: options.content.entries.cuts.clone(), ..EntryFilter::default() };
    let bad = BadFiles { skip: options.inputs.skip_bad };
    let workers = Workers::new("the cuts", threads, progress).in_order();
    workers.results(files.len(), |number| {
        let Some(Tested { input, set, known, before: own_before }) = files.get(number) else {
            return Err(Error::request("there is no such file"));
        };
        let before = own_before.or(before.get(number).copied()).unwrap_or(0);
        let chosen = |_: u64| Ok(set.clone().unwrap_or_else(|| EntrySet::range(0..0)));
        let named: Select<'_> = if set.is_some() { Some(&chosen) } else { None };
        let found = table_with(&pool, input, own.memory, "the columns of the cuts", &|path, open| {
            let mut selection = EntrySelection::new(&cuts).with_kept(&options.content.filter).behind(before);
            let selected = selection.for_table(path, open, named, own)?;
            let counts = selection.counts_entries();
            let flow = match selection.finish() {
                Ok(flows) => flows.into_iter().next().ok_or_else(|| Error::request("no column of the cuts")),
                Err(e) => Err(e),
            };
            let flow = match flow {
                Ok(flow) => flow,
                Err(e) => return Ok(Err(e)),
            };
            let table = open(&NameFilter::default())?;
            if let Some(known) = known {
                refuse_changed(known, &table)?;
            }
            let cut_flow = CutFlow { path: table.path().to_owned(), ..flow };
            let (file, aliases) = (KeyedFile::of(&input.path, &table)?, aliases_used(&table, &cuts.cuts));
            Ok(Ok(Passed { file, entries: selected.entries(0)?, cut_flow, counts, aliases }))
        });
        bad.hold(found.map_err(|e| if e.path().is_some() { e } else { e.file(&input.path) }))
    })
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
    let found = files.each(progress, |_, table| {
        let mut found = Vec::new();
        files.each_step(table, None, progress, &mut |step| {
            let keys = of.pack(&step.arrays, step.rows.count)?;
            let some = keys.into_iter().zip(step.entries()).filter(|(key, _)| asked.has(*key));
            found.extend(some.map(|(key, entry)| Found { key, entry }));
            Ok(())
        })?;
        Ok((table.file.clone(), found))
    })?;
    Ok(Hits::of(found))
}
