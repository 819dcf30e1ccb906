//! Picks events: entries with keys that a list names, or that pass cuts, of many files. They are found first, in an index or in the columns
//! of keys or cuts alone; then the files that have some are rewritten with nothing else of their table. Other tables and objects of these
//! files come along as in any rewrite. Files without an event that is looked for give nothing; where cuts alone pick, all take part.

use std::path::{Path, PathBuf};

use dataset::glob::TreePattern;
use dataset::{Entries, EntrySet, EntrySetBuilder};
use rootfile::{Error, FilePool, Hint, OPEN_FILES, Result, check_output, public_path, url};
use serde::Serialize;

use super::asked::AskedKeys;
use super::event_list::read_list;
use super::index_file::IndexFile;
use super::lookup::look_up;
use super::picked_cost::{PickedCost, cost_of};
use super::search::{Hits, passing_of, search, search_cuts};
use crate::execute::progress::{Progress, tell};
use crate::execute::workers::Workers;
use crate::keys::KeyNames;
use crate::keys::files::{KeyFiles, refuse_cycles};
use crate::keys::key_type::KeyType;
use crate::plan::inputs::{Input, one_tree};
use crate::rewrite::execute::rewrite;
use crate::rewrite::options::Options;
use crate::rewrite::summary::Summary;

/// Most events that are listed.
const MOST_LISTED: usize = 1000;

/// What is picked, and where from.
#[derive(Clone, Debug)]
pub struct PickJob<'a> {
    /// The files. With an index all of its files, if none is named.
    pub inputs: &'a [Input],
    /// Lists of events: a text with a line for each, or a file.
    pub events: &'a [String],
    /// The columns of the key. With an index these are its own.
    pub key: &'a KeyNames,
    /// The index.
    pub index: Option<&'a Path>,
    /// The file to write.
    pub output: &'a Path,
}

/// The report on picked events.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Picked {
    /// Version of the report.
    pub schema: u32,
    /// The columns of the key.
    pub key: Vec<String>,
    /// Files that were looked at, or that the index has.
    pub files: u64,
    /// Files with picked events: the others were not opened, if there is an index, or their keys alone were read.
    pub files_picked: u64,
    /// Entries that were picked.
    pub picked: u64,
    /// Entries of the events that do not pass the cuts, and are left out.
    pub cut: u64,
    /// Entries with the key of another picked one.
    pub repeated: u64,
    /// Bytes of the baskets, pages or chunks that have them, each once.
    pub bytes: u64,
    /// The picked entries in the order of the output, the first 1000 of them.
    pub events: Vec<PickedEvent>,
    /// Events, or ranges of events, of which no entry was found.
    pub missing_count: u64,
    /// The first 1000 of them.
    pub missing: Vec<String>,
    /// The output. None if nothing was picked: then there is none.
    pub output: Option<Summary>,
}

/// A picked entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PickedEvent {
    /// The values of its key; none where only cuts pick.
    pub key: Vec<String>,
    /// Its file.
    pub file: PathBuf,
    /// The path of the table.
    pub tree: String,
    /// Its number in the table.
    pub entry: u64,
    /// Bytes of the baskets, pages or chunks that have it, which it shares with its neighbours.
    pub bytes: u64,
    /// Their number.
    pub pieces: u64,
}

/// The events of a job, wherever they were found.
struct Search {
    of: KeyType,
    key: Vec<String>,
    files: u64,
    hits: Vec<Hits>,
    missing: Vec<String>,
}

/// Picks events. `options` are those of the rewrite; its cuts are applied to the entries with these keys. `progress` gets the bytes that
/// are read for keys, and those that are written.
///
/// # Errors
///
/// A list or a file cannot be read, a file has changed since it was indexed, or the output cannot be written.
pub fn pick(job: &PickJob<'_>, options: &Options, progress: Progress<'_>) -> Result<Picked> {
    let paths = job.inputs.iter().map(|input| input.path.as_path()).chain(job.index);
    check_output(job.output, options.overwrite, paths)?;
    refuse_cycles(job.inputs)?;
    let by_cuts = job.events.is_empty();
    let searched = match job.index {
        _ if by_cuts => by_cuts_alone(job, options, progress)?,
        Some(index) => in_index(job, index, options)?,
        None => in_files(job, options, progress)?,
    };
    let Search { of, key, files, mut hits, missing } = searched;
    let count = |hits: &[Hits]| hits.iter().map(|(_, found)| found.len() as u64).sum::<u64>();
    let is_picked = |(_, found): &Hits| !found.is_empty();
    let mut cut = 0;
    if !by_cuts {
        hits.retain(is_picked);
        cut = count(&hits);
        hits = passing_of(hits, options, progress)?;
        hits.retain(is_picked);
        cut -= count(&hits);
    }
    let costs = costs(&hits, options, progress)?;
    let mut done = Picked {
        schema: 1,
        key,
        files,
        files_picked: hits.iter().filter(|hits| is_picked(hits)).count() as u64,
        picked: count(&hits),
        cut,
        repeated: if by_cuts { 0 } else { repeated(&hits) },
        bytes: costs.iter().fold(0, |sum, cost| sum.saturating_add(cost.bytes)),
        events: listed(&hits, &costs, &of),
        missing_count: missing.len() as u64,
        missing: missing.into_iter().take(MOST_LISTED).collect(),
        output: None,
    };
    if done.picked > 0 {
        done.output = Some(write(job, &hits, options, progress)?);
    }
    Ok(done)
}

/// Finds the entries that pass cuts.
fn by_cuts_alone(job: &PickJob<'_>, options: &Options, progress: Progress<'_>) -> Result<Search> {
    let (events, cut) = (Hint::named("events"), Hint::named("cut"));
    if options.content.entries.cuts.is_empty() {
        return Err(Error::request(format!("{events} or {cut} is needed: what is picked")).hint(events).hint(cut));
    }
    if job.index.is_some() {
        let message = format!("an index has keys alone: name the files, or give {events}");
        return Err(Error::request(message).hint(events));
    }
    let hits = search_cuts(job.inputs, options, progress)?;
    let of = KeyType::of_types(&[]).ok_or_else(|| Error::request("no key"))?;
    Ok(Search { of, key: Vec::new(), files: job.inputs.len() as u64, hits, missing: Vec::new() })
}

/// Finds events in the files.
fn in_files(job: &PickJob<'_>, options: &Options, progress: Progress<'_>) -> Result<Search> {
    let files = KeyFiles::new(job.inputs, job.key, options.budget, options.inputs.follow)?;
    let of = files.key_type(&[], progress)?;
    let asked = asked(job.events, &of)?;
    let hits = search(&files, &of, &asked, progress)?;
    let missing = asked.missing(keys(&hits));
    Ok(Search { of, key: job.key.texts().to_vec(), files: job.inputs.len() as u64, hits, missing })
}

/// Finds events in an index, of the named files or of all.
fn in_index(job: &PickJob<'_>, path: &Path, options: &Options) -> Result<Search> {
    let index = IndexFile::open(path, options.budget)?;
    let numbers = index.record.numbers();
    let mut is_named = vec![job.inputs.is_empty(); index.record.files.len()];
    for input in job.inputs {
        let absolute = match url(&input.path) {
            Some(_) => input.path.clone(),
            None => std::path::absolute(&input.path).map_err(|e| Error::from(e).file(&input.path))?,
        };
        let number = numbers.get(absolute.as_path()).copied().ok_or_else(|| {
            Error::request("is not in the index; `basketry index --extend` adds it").file(&input.path)
        })?;
        is_named.get_mut(number).into_iter().for_each(|is_named| *is_named = true);
    }
    let asked = asked(job.events, &index.of)?;
    let named = |e: Error| if e.path().is_some() { e } else { e.file(path) };
    let found = look_up(&index, &asked, options.budget).map_err(named)?;
    let all = index.record.files.iter().cloned().zip(found).zip(is_named);
    let hits: Vec<Hits> = all.filter(|(_, is_named)| *is_named).map(|(hits, _)| hits).collect();
    let missing = asked.missing(keys(&hits));
    Ok(Search { files: hits.len() as u64, of: index.of.clone(), key: index.record.key.clone(), hits, missing })
}

fn asked(events: &[String], of: &KeyType) -> Result<AskedKeys> {
    let hint = Hint::named("events");
    let mut listed = Vec::new();
    for text in events {
        listed.extend(read_list(text).map_err(|e| e.hint(hint.clone()))?);
    }
    if listed.is_empty() {
        return Err(Error::request(format!("{hint} names no event")).hint(hint));
    }
    AskedKeys::of(&listed, of).map_err(|e| e.hint(hint))
}

fn keys(hits: &[Hits]) -> impl Iterator<Item = u128> {
    hits.iter().flat_map(|(_, found)| found.iter().map(|found| found.key))
}

/// The number of entries with the key of another.
fn repeated(hits: &[Hits]) -> u64 {
    let mut all: Vec<u128> = keys(hits).collect();
    all.sort_unstable();
    all.windows(2).filter(|pair| pair.first() == pair.last()).count() as u64
}

/// What the found entries of each file cost. Fails for a file that has changed since it was indexed.
fn costs(hits: &[Hits], options: &Options, progress: Progress<'_>) -> Result<Vec<PickedCost>> {
    let pool = FilePool::following(OPEN_FILES, options.inputs.follow);
    let workers = Workers::new("the costs of events", options.budget.threads, progress).in_order();
    workers.results(hits.len(), |number| {
        let Some((file, found)) = hits.get(number).filter(|(_, found)| !found.is_empty()) else {
            return Ok(PickedCost::default());
        };
        let entries: Vec<u64> = found.iter().map(|found| found.entry).collect();
        tell(progress, 0)?;
        cost_of(&pool, file, &options.content.filter, &entries)
    })
}

fn listed(hits: &[Hits], costs: &[PickedCost], of: &KeyType) -> Vec<PickedEvent> {
    let each = hits.iter().zip(costs).flat_map(|((file, found), cost)| {
        found.iter().zip(&cost.each).map(move |(found, (bytes, pieces))| PickedEvent {
            key: of.texts(found.key),
            file: public_path(&file.path).into_owned(),
            tree: file.tree.clone(),
            entry: found.entry,
            bytes: *bytes,
            pieces: *pieces,
        })
    });
    each.take(MOST_LISTED).collect()
}

/// Rewrites the files with picked entries.
fn write(job: &PickJob<'_>, hits: &[Hits], options: &Options, progress: Progress<'_>) -> Result<Summary> {
    let Some((first, _)) = hits.first() else { return Err(Error::request("nothing is picked")) };
    if let Some((other, _)) = hits.iter().find(|(file, _)| file.tree != first.tree) {
        let message = format!("the table is called {} here and {} in {}", other.tree, first.tree, first.path.display());
        return Err(Error::differs(message).file(&other.path));
    }
    let mut options = options.clone();
    let all = hits.iter().map(|(file, _)| file.entries).sum();
    let mut set = EntrySetBuilder::new(all);
    let mut before = 0;
    for (file, found) in hits {
        found.iter().for_each(|found| set.push(before + found.entry..before + found.entry + 1));
        before += file.entries;
    }
    let chosen: EntrySet = set.finish();
    // The entries that pass are known.
    options.content.entries.cuts.clear();
    let inputs: Vec<PathBuf> = hits.iter().map(|(file, _)| file.path.clone()).collect();
    options.content.tree = one_tree(job.inputs)?;
    let of_table = (!first.tree.is_empty()).then(|| TreePattern::exact(&first.tree));
    options.content.entries.entries = vec![(of_table, Entries::Chosen(chosen))];
    rewrite(&inputs, job.output, &options, progress)
}
