//! Picks events: entries with keys that a list names, or that pass cuts, of many files. They are found first, in an index or in the columns
//! of keys or cuts alone, or are named by their numbers; then the files that have some are rewritten with nothing else of their table. Other tables and objects of these
//! files come along as in any rewrite. Files without an event that is looked for give nothing; where cuts alone pick, all take part.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dataset::glob::TreePattern;
use dataset::{Entries, EntrySet, EntrySetBuilder};
use rootfile::{Error, FilePool, Hint, OPEN_FILES, Result, check_output, public_path};
use serde::Serialize;

use super::asked::AskedKeys;
use super::entry_list::{EntryLists, ListedHits, named};
use super::event_list::read_list;
use super::hits::{Found, Hits, paths};
use super::index_file::IndexFile;
use super::lookup::look_up;
use super::picked_cost::{PickedCost, cost_of};
use super::search::{Searched, passing_of, search, search_cuts};
use crate::execute::order::OrderBuilder;
use crate::execute::progress::{Progress, tell};
use crate::execute::workers::Workers;
use crate::keys::KeyNames;
use crate::keys::files::{KeyFiles, refuse_cycles};
use crate::keys::key_type::KeyType;
use crate::plan::inputs::{Input, one_tree};
use crate::plan::skipped::{BadFiles, Skipped};
use crate::rewrite::execute::rewrite;
use crate::rewrite::options::{EntryOrder, GivenOrder, Options};
use crate::rewrite::summary::Summary;
use crate::select::CutFlow;

/// Most events that are listed.
const MOST_LISTED: usize = 1000;
/// The part of the memory that the order of the entries has room in.
const ORDER: u64 = 16;

/// What is picked, and where from.
#[derive(Clone, Debug)]
pub struct PickJob<'a> {
    /// The files. With an index all of its files, if none is named.
    pub inputs: &'a [Input],
    /// Lists of events: a text with a line for each, a file, or a list of entries in a file of ROOT (`FILE.root:LIST`).
    pub events: &'a [String],
    /// The columns of the key. With an index these are its own.
    pub key: &'a KeyNames,
    /// The index.
    pub index: Option<&'a Path>,
    /// The order in which they are written.
    pub order: PickOrder,
    /// The file to write.
    pub output: &'a Path,
}

/// The order of picked entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PickOrder {
    /// That of the files and their entries.
    #[default]
    Files,
    /// That of the lists. Entries that one event of a list means are in the order of the files.
    Asked,
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
    /// Files that were left out because they cannot be read, or lack the table or the columns.
    pub skipped: Vec<Skipped>,
    /// Notes on how files were found.
    pub notes: Vec<String>,
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
    skipped: Vec<Skipped>,
    notes: Vec<String>,
    /// Whether nothing but cuts picks: then all files take part.
    by_cuts: bool,
    cut_flow: Option<CutFlow>,
    /// The events that are looked for by their keys.
    asked: Option<AskedKeys>,
}

impl Search {
    /// Entries that were found without keys.
    fn without_keys(hits: Vec<Hits>) -> Result<Self> {
        Ok(Self {
            of: KeyType::of_types(&[]).ok_or_else(|| Error::request("no key"))?,
            key: Vec::new(),
            files: hits.len() as u64,
            hits,
            missing: Vec::new(),
            skipped: Vec::new(),
            notes: Vec::new(),
            by_cuts: false,
            cut_flow: None,
            asked: None,
        })
    }
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
    let search = found(job, options, progress)?;
    let Search { of, key, files, mut hits, missing, mut skipped, mut notes, by_cuts, mut cut_flow, asked } = search;
    let count = |hits: &[Hits]| hits.iter().map(|hits| hits.found.len() as u64).sum::<u64>();
    let mut cut = 0;
    if !by_cuts {
        hits.retain(|hits| !hits.is_empty());
        let passed = passing_of(hits, options, progress, &mut cut)?;
        (hits, cut_flow) = (passed.hits, passed.cut_flow);
        skipped.extend(passed.skipped);
        hits.retain(|hits| !hits.is_empty());
    }
    let (hits, costs, bad) = with_costs(hits, options, progress)?;
    skipped.extend(bad);
    let rows = rows(&hits, asked.as_ref(), job.order);
    notes.extend(asked.filter(|_| job.order == PickOrder::Asked).and_then(|asked| match asked.repeated() {
        0 => None,
        1 => Some("an event is in the lists twice, and is written where it is first".to_owned()),
        n => Some(format!("{n} events are in the lists several times, and are written where they are first")),
    }));
    let mut done = Picked {
        schema: 1,
        files,
        files_picked: hits.iter().filter(|hits| !hits.is_empty()).count() as u64,
        picked: count(&hits),
        cut,
        repeated: if key.is_empty() { 0 } else { repeated(&hits) },
        bytes: costs.iter().fold(0, |sum, cost| sum.saturating_add(cost.bytes)),
        events: listed(&hits, &costs, &rows, &of),
        missing_count: missing.len() as u64,
        missing: missing.into_iter().take(MOST_LISTED).collect(),
        skipped,
        notes,
        key,
        output: None,
    };
    // Where cuts alone pick, files without such an entry give their other trees.
    if done.picked > 0 || by_cuts && !hits.is_empty() {
        let mut options = options.clone();
        options.content.cut_flows.extend(cut_flow);
        done.output = Some(write(job, &hits, &rows, options, progress)?);
    }
    Ok(done)
}

/// Finds the events of a job.
fn found(job: &PickJob<'_>, options: &Options, progress: Progress<'_>) -> Result<Search> {
    if job.events.is_empty() {
        if job.order == PickOrder::Asked {
            let (order, events) = (Hint::named("order"), Hint::named("events"));
            return Err(Error::request(format!("{order} asked is that of a list: give {events}"))
                .hint(order)
                .hint(events));
        }
        return by_cuts_alone(job, options, progress);
    }
    let mut lists = EntryLists::default();
    let hint = Hint::named("events");
    let (of_entries, of_keys): (Vec<Option<Input>>, Vec<Option<Input>>) =
        job.events.iter().map(|text| named(text)).partition(Option::is_some);
    match (of_entries.is_empty(), of_keys.is_empty(), job.index) {
        (true, _, Some(index)) => return in_index(job, index, options),
        (true, _, None) => return in_files(job, options, progress),
        (false, true, None) => {}
        (false, _, Some(_)) => {
            let message = format!(
                "{hint}: a list of entries of ROOT names entries by their numbers: an index says nothing of them"
            );
            return Err(Error::request(message).hint(hint));
        }
        (false, false, None) => {
            let message = format!("{hint} names entries by keys and by numbers; pick them one after the other");
            return Err(Error::request(message).hint(hint));
        }
    }
    for list in of_entries.iter().flatten() {
        lists.add(list).map_err(|e| e.hint(hint.clone()))?;
    }
    let ListedHits { hits, missing, skipped, notes } = lists.find(job.inputs, options, progress)?;
    Ok(Search { missing, skipped, notes, ..Search::without_keys(hits)? })
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
    let Searched { hits, skipped, cut_flow } = search_cuts(job.inputs, options, progress)?;
    Ok(Search { skipped, by_cuts: true, cut_flow, ..Search::without_keys(hits)? })
}

/// Finds events in the files.
fn in_files(job: &PickJob<'_>, options: &Options, progress: Progress<'_>) -> Result<Search> {
    let (budget, follow) = (options.budget, options.inputs.follow);
    let mut inputs = job.inputs.to_vec();
    let mut skipped = Vec::new();
    if options.inputs.skip_bad {
        (inputs, skipped) = KeyFiles::new(job.inputs, job.key, budget, follow)?.without_bad(progress)?;
    }
    let files = KeyFiles::new(&inputs, job.key, budget, follow)?;
    let of = files.key_type(&[], progress)?;
    let asked = asked(job.events, &of)?;
    let hits = search(&files, &of, &asked, progress)?;
    let missing = asked.missing(keys(&hits));
    let key = job.key.texts().to_vec();
    Ok(Search { of, key, missing, skipped, asked: Some(asked), ..Search::without_keys(hits)? })
}

/// Finds events in an index, of the named files or of all.
fn in_index(job: &PickJob<'_>, path: &Path, options: &Options) -> Result<Search> {
    let index = IndexFile::open(path, options.budget)?;
    let numbers = index.record.numbers();
    let mut is_named = vec![job.inputs.is_empty(); index.record.files.len()];
    for input in job.inputs {
        let number = numbers.of(&input.path)?.ok_or_else(|| {
            Error::request("is not in the index; `basketry index --extend` adds it").file(&input.path)
        })?;
        is_named.get_mut(number).into_iter().for_each(|is_named| *is_named = true);
    }
    let asked = asked(job.events, &index.of)?;
    let in_index = |e: Error| if e.path().is_some() { e } else { e.file(path) };
    let found = look_up(&index, &asked, options.budget).map_err(in_index)?;
    let all = index.record.files.iter().cloned().zip(found).zip(is_named);
    let hits = Hits::of(all.filter(|(_, is_named)| *is_named).map(|(hits, _)| hits));
    let missing = asked.missing(keys(&hits));
    let (of, key) = (index.of.clone(), index.record.key.clone());
    Ok(Search { of, key, missing, asked: Some(asked), ..Search::without_keys(hits)? })
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
    hits.iter().flat_map(|hits| hits.found.iter().map(|found| found.key))
}

/// The number of entries with the key of another.
fn repeated(hits: &[Hits]) -> u64 {
    let mut all: Vec<u128> = keys(hits).collect();
    all.sort_unstable();
    all.windows(2).filter(|pair| pair.first() == pair.last()).count() as u64
}

/// The files with what their found entries cost, and those that are left out. Fails for a file that has changed since it was indexed.
fn with_costs(
    hits: Vec<Hits>,
    options: &Options,
    progress: Progress<'_>,
) -> Result<(Vec<Hits>, Vec<PickedCost>, Vec<Skipped>)> {
    let pool = FilePool::following(OPEN_FILES, options.inputs.follow);
    let bad = BadFiles { skip: options.inputs.skip_bad };
    let workers = Workers::new("the costs of events", options.budget.threads, progress).in_order();
    let costs = workers.results(hits.len(), |number| {
        let Some(Hits { file, found, .. }) = hits.get(number).filter(|hits| !hits.is_empty()) else {
            return Ok(Ok(PickedCost::default()));
        };
        let entries: Vec<u64> = found.iter().map(|found| found.entry).collect();
        tell(progress, 0)?;
        bad.hold(cost_of(&pool, file, &options.content.filter, &entries))
    })?;
    let (costs, skipped) = BadFiles::sort_out(costs, &paths(&hits))?;
    let good = hits.into_iter().zip(costs).filter_map(|(hits, cost)| Some((hits, cost?)));
    let (hits, costs) = good.unzip();
    Ok((hits, costs, skipped))
}

/// A picked entry: the numbers of its file and of its place among those that were found there.
#[derive(Clone, Copy)]
struct PickedRow {
    file: usize,
    place: usize,
}

/// The picked entries in the order of the output.
fn rows(hits: &[Hits], asked: Option<&AskedKeys>, order: PickOrder) -> Vec<PickedRow> {
    let of_file = |(file, hits): (usize, &Hits)| (0..hits.found.len()).map(move |place| PickedRow { file, place });
    let mut rows: Vec<PickedRow> = hits.iter().enumerate().flat_map(of_file).collect();
    if order == PickOrder::Asked {
        // Without keys they have the numbers of the lists that name them.
        let rank = |key: u128| asked.map_or(key, |asked| asked.place(key) as u128);
        let key =
            |row: &PickedRow| hits.get(row.file).and_then(|hits| hits.found.get(row.place)).map(|found| found.key);
        rows.sort_by_cached_key(|row| key(row).map(rank));
    }
    rows
}

fn listed(hits: &[Hits], costs: &[PickedCost], rows: &[PickedRow], of: &KeyType) -> Vec<PickedEvent> {
    let event = |PickedRow { file, place }: &PickedRow| {
        let (Hits { file, found, .. }, cost) = hits.get(*file).zip(costs.get(*file))?;
        let (Found { key, entry }, (bytes, pieces)) = found.get(*place).zip(cost.each.get(*place))?;
        Some(PickedEvent {
            key: of.texts(*key),
            file: public_path(&file.path).into_owned(),
            tree: file.tree.clone(),
            entry: *entry,
            bytes: *bytes,
            pieces: *pieces,
        })
    };
    rows.iter().take(MOST_LISTED).filter_map(event).collect()
}

/// Rewrites the files with picked entries.
fn write(
    job: &PickJob<'_>,
    hits: &[Hits],
    rows: &[PickedRow],
    mut options: Options,
    progress: Progress<'_>,
) -> Result<Summary> {
    let Some(Hits { file: first, .. }) = hits.first() else { return Err(Error::request("nothing is picked")) };
    if let Some(Hits { file: other, .. }) = hits.iter().find(|hits| hits.file.tree != first.tree) {
        let message = format!("the table is called {} here and {} in {}", other.tree, first.tree, first.path.display());
        return Err(Error::differs(message).file(&other.path));
    }
    // The entries that pass are known, and so are bad files: without one of these they would have other numbers.
    options.content.entries.cuts.clear();
    options.inputs.skip_bad = false;
    let inputs: Vec<PathBuf> = hits.iter().map(|hits| hits.file.path.clone()).collect();
    options.content.tree = one_tree(job.inputs)?;
    match job.order {
        PickOrder::Files => {
            let of_table = (!first.tree.is_empty()).then(|| TreePattern::exact(&first.tree));
            options.content.entries.entries = vec![(of_table, Entries::Chosen(chosen(hits)))];
        }
        PickOrder::Asked => {
            let entries: Vec<u64> = hits.iter().map(|hits| hits.file.entries).collect();
            let mut order = OrderBuilder::new(&entries, options.budget.memory / ORDER, Some(job.output));
            for PickedRow { file, place } in rows {
                let found = hits.get(*file).and_then(|hits| hits.found.get(*place));
                found.map_or(Ok(()), |found| order.push(*file, found.entry))?;
            }
            let order = GivenOrder(Arc::new(order.finish()?));
            options.content.order = Some(EntryOrder::OfTable { path: first.tree.clone(), order });
        }
    }
    rewrite(&inputs, job.output, &options, progress)
}

/// The found entries of all files, one file behind the other.
fn chosen(hits: &[Hits]) -> EntrySet {
    let mut set = EntrySetBuilder::new(hits.iter().map(|hits| hits.file.entries).sum());
    let mut before = 0;
    for Hits { file, found, .. } in hits {
        found.iter().for_each(|found| set.push(before + found.entry..before + found.entry + 1));
        before += file.entries;
    }
    set.finish()
}
