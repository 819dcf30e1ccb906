//! Makes an index of files, or extends one: the keys of new files are read, those of an index come from it, and all are sorted into a new
//! file, which takes the place of the old one when it is whole. Files are taken out in the same way. A file is known by its path, whatever
//! links lead to it, and is the same as before if its UUID, its size and its number of entries are; so is one that has moved.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rootfile::{EditLock, Error, Follow, Hint, Result, check_output, has_secrets, public_path, url};
use serde::Serialize;

use super::index_file::{IndexFile, IndexWriter};
use super::index_record::{ENTRY, FILE, absolute, without_links};
use crate::execute::budget::Budget;
use crate::execute::progress::{Progress, tell};
use crate::execute::replaced::SeenFile;
use crate::keys::files::KeyFiles;
use crate::keys::files::refuse_cycles;
use crate::keys::key_type::KeyType;
use crate::keys::{KeyNames, KeyedFile, Row, Sorter, first_place};
use crate::plan::inputs::Input;
use crate::plan::skipped::Skipped;
use crate::select::{MADE, STEP, Steps};

/// Most files that are named for each reason.
const MOST_NAMED: usize = 1000;

/// What the user does if another process has written the index meanwhile.
const AGAIN: &str = "run it again";

/// What becomes of an index that is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IndexChange {
    /// A new one takes its place, if that is allowed.
    #[default]
    Replace,
    /// The files are added to it.
    Extend,
    /// The files are taken out of it.
    Remove,
}

/// What is indexed, and how.
#[derive(Clone, Debug)]
pub struct IndexJob<'a> {
    /// The files.
    pub inputs: &'a [Input],
    /// The key. That of the index, if one is extended.
    pub key: Option<&'a KeyNames>,
    /// The index.
    pub output: &'a Path,
    /// What becomes of an index that is there.
    pub change: IndexChange,
    /// Whether an existing file may be replaced.
    pub overwrite: bool,
    /// Whether files are left out that cannot be read, or lack the table or the columns of the key.
    pub skip_bad: bool,
    /// How far addresses in files are followed.
    pub follow: Follow,
    /// Memory and threads.
    pub budget: Budget,
}

/// The report on an index.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Indexed {
    /// Version of the report.
    pub schema: u32,
    /// The columns of the key.
    pub key: Vec<String>,
    /// Files in the index.
    pub files: u64,
    /// Entries in the index.
    pub entries: u64,
    /// Entries with the key of another.
    pub duplicates: u64,
    /// Files whose keys were read now.
    pub files_read: u64,
    /// Files that were in the index before, and are the same.
    pub files_known: u64,
    /// Files that were in the index before and have changed, whose keys were read anew: the first 1000.
    pub files_changed: Vec<PathBuf>,
    /// Files that were in the index before under a path where there is none now, by their new paths: the first 1000. Their keys stay.
    pub files_moved: Vec<PathBuf>,
    /// Files that were taken out of the index.
    pub files_removed: u64,
    /// Files that were left out because they cannot be read, or lack the table or the columns.
    pub skipped: Vec<Skipped>,
    /// Bytes of the index.
    pub bytes_written: u64,
}

/// Makes an index, or changes one. `progress` gets the bytes that are read.
///
/// # Errors
///
/// A file cannot be read or has no such columns, the key is not that of the index, a file to take out is not in it, or the output cannot be
/// written.
pub fn index(job: &IndexJob<'_>, progress: Progress<'_>) -> Result<Indexed> {
    let paths = job.inputs.iter().map(|input| input.path.as_path());
    if job.output.as_os_str() == "-" {
        return Err(Error::request("an index is a file: name one, such as events.parquet").hint(Hint::named("output")));
    }
    let is_changed = job.change != IndexChange::Replace;
    check_output(job.output, job.overwrite || is_changed, paths)?;
    refuse_cycles(job.inputs)?;
    let seen = SeenFile::of(job.output);
    let _lock = if is_changed { EditLock::take(job.output)? } else { None };
    let old = is_changed.then(|| IndexFile::open(job.output, job.budget)).transpose()?;
    let key = key_of(job, old.as_ref())?;
    let mut done = Indexed { schema: 1, key: key.texts().to_vec(), ..Indexed::default() };
    let changes = changes_of(job, &key, old.as_ref(), &mut done, progress)?;
    let new = &changes.new;

    let budget = job.budget;
    let files = KeyFiles::new(new, &key, budget, job.follow)?;
    let of = match &old {
        Some(old) if new.is_empty() => old.of.clone(),
        Some(old) => files.key_type_beside(&old.of, progress)?,
        None => files.key_type(&[], progress)?,
    };
    if files.counts_entries() {
        let message = "an index has no key that counts entries: their numbers depend on the files before theirs";
        return Err(Error::request(message).hint(Hint::named("key")));
    }
    let sorter = Sorter::new(budget, files.threads(), Some(job.output))?;
    let mut all: Vec<KeyedFile> = Vec::new();
    if let Some(old) = &old {
        let named = |e: Error| if e.path().is_some() { e } else { e.file(job.output) };
        all = reread(old, &changes, &of, &sorter, budget).map_err(named)?;
    }
    let before = all.len();
    all.extend(files.sort_into(&sorter, before, &of, progress)?);
    done.files = all.len() as u64;
    let mut writer = IndexWriter::create(job.output, job.overwrite || is_changed, &of, budget)?;
    let mut last = None;
    sorter.finish()?.each_block(|rows| {
        for row in rows {
            done.duplicates += u64::from(last.replace(row.key()) == Some(row.key()));
        }
        done.entries += rows.len() as u64;
        tell(progress, 0)?;
        writer.add(rows)
    })?;
    if is_changed {
        seen.check_unchanged(AGAIN)?;
    }
    done.bytes_written = writer.finish(all).map_err(|e| e.file(job.output))?;
    Ok(done)
}

/// What stays of an index, and the files whose keys are read.
struct Changes {
    /// For each file of the index whether its rows stay.
    kept: Vec<bool>,
    /// The new paths of files of the index, by their numbers.
    moved: HashMap<usize, PathBuf>,
    new: Vec<Input>,
}

/// What a job changes. The report gets the numbers of files.
fn changes_of(
    job: &IndexJob<'_>,
    key: &KeyNames,
    old: Option<&IndexFile>,
    done: &mut Indexed,
    progress: Progress<'_>,
) -> Result<Changes> {
    let numbers = old.map(|old| old.record.numbers()).unwrap_or_default();
    let mut kept: Vec<bool> = old.iter().flat_map(|old| &old.record.files).map(|_| true).collect();
    let mut drop_rows = |number: usize| kept.get_mut(number).into_iter().for_each(|kept| *kept = false);
    let mut inputs = inputs(job)?;
    if job.change == IndexChange::Remove {
        for input in &inputs {
            let missing = || Error::request("is not in the index").file(&input.path);
            drop_rows(numbers.of(&input.path)?.ok_or_else(missing)?);
        }
        done.files_removed = inputs.len() as u64;
        return Ok(Changes { kept, moved: HashMap::new(), new: Vec::new() });
    }
    if job.skip_bad {
        (inputs, done.skipped) = KeyFiles::new(&inputs, key, job.budget, job.follow)?.without_bad(progress)?;
    }
    let (mut new, mut known) = (Vec::new(), Vec::new());
    for input in &inputs {
        match numbers.of(&input.path)? {
            Some(number) => known.push((input.clone(), number)),
            None => new.push(input.clone()),
        }
    }
    for (input, number) in changed(&known, key, old, job, progress)? {
        drop_rows(number);
        if done.files_changed.len() < MOST_NAMED {
            done.files_changed.push(public_path(&input.path).into_owned());
        }
        new.push(input);
    }
    let moved = moved(&new, key, old, job, progress)?;
    let new_paths: HashSet<&Path> = moved.values().map(PathBuf::as_path).collect();
    new.retain(|input| !new_paths.contains(input.path.as_path()));
    done.files_known = (inputs.len() - new.len()) as u64;
    done.files_read = new.len() as u64;
    let named = inputs.iter().filter(|input| new_paths.contains(input.path.as_path())).take(MOST_NAMED);
    done.files_moved = named.map(|input| public_path(&input.path).into_owned()).collect();
    Ok(Changes { kept, moved, new })
}

/// The key: the given one, which must be that of the index that is extended.
fn key_of(job: &IndexJob<'_>, old: Option<&IndexFile>) -> Result<KeyNames> {
    let key = match (job.key, old) {
        (Some(key), Some(old)) if key.texts() != old.record.key.as_slice() => {
            let message = format!("the index has the key {}, not {key}", old.record.key.join(","));
            return Err(Error::request(message).hint(Hint::named("key")).file(job.output));
        }
        (Some(key), _) => key.clone(),
        (None, Some(old)) => KeyNames::of(old.record.key.iter().map(String::as_str))?,
        (None, None) => {
            let hint = Hint::named("key");
            return Err(
                Error::request(format!("{hint} is needed: the columns of the key, such as run,event")).hint(hint)
            );
        }
    };
    match key.texts().iter().find(|name| [FILE, ENTRY].contains(&name.as_str())) {
        Some(taken) => {
            Err(Error::request(format!("the index has a column {taken} of its own; name it in parentheses")))
        }
        None => Ok(key),
    }
}

/// The inputs under names that mean the same in every folder.
fn inputs(job: &IndexJob<'_>) -> Result<Vec<Input>> {
    let mut found: Vec<Input> = Vec::with_capacity(job.inputs.len());
    for input in job.inputs {
        if has_secrets(&input.path.to_string_lossy()) {
            let message = "has secrets in its address, which would stand in the index; give them in another way";
            return Err(Error::request(message).file(&input.path));
        }
        found.push(Input { path: absolute(&input.path)?, tree: input.tree.clone() });
    }
    let resolved = |input: &Input| without_links(&input.path).unwrap_or_else(|| input.path.clone());
    let mut sorted: Vec<PathBuf> = found.iter().map(resolved).collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair.first() == pair.last()) {
        Some(twice) => {
            Err(Error::request("is there twice").file(twice.first().map_or(Path::new(""), PathBuf::as_path)))
        }
        None => Ok(found),
    }
}

/// Those of the known files that are not what they were.
fn changed(
    known: &[(Input, usize)],
    key: &KeyNames,
    old: Option<&IndexFile>,
    job: &IndexJob<'_>,
    progress: Progress<'_>,
) -> Result<Vec<(Input, usize)>> {
    let inputs: Vec<Input> = known.iter().map(|(input, _)| input.clone()).collect();
    let files = KeyFiles::new(&inputs, key, job.budget, job.follow)?;
    let now = files.each(progress, |_, table| Ok(table.file.clone()))?;
    let is_changed = |((_, number), now): &(&(Input, usize), KeyedFile)| {
        let before = old.and_then(|old| old.record.files.get(*number));
        before.is_none_or(|before| !before.is_same(now))
    };
    Ok(known.iter().zip(now).filter(is_changed).map(|(known, _)| known.clone()).collect())
}

/// The new paths of files that the index has under a path where there is none now, by their numbers in it.
fn moved(
    new: &[Input],
    key: &KeyNames,
    old: Option<&IndexFile>,
    job: &IndexJob<'_>,
    progress: Progress<'_>,
) -> Result<HashMap<usize, PathBuf>> {
    let is_gone = |file: &KeyedFile| !file.uuid.is_empty() && url(&file.path).is_none() && !file.path.exists();
    let mut gone: HashMap<&str, Vec<(usize, &KeyedFile)>> = HashMap::new();
    let known = old.iter().flat_map(|old| old.record.files.iter().enumerate());
    for (number, file) in known.filter(|(_, file)| is_gone(file)) {
        gone.entry(&file.uuid).or_default().push((number, file));
    }
    if gone.is_empty() {
        return Ok(HashMap::new());
    }
    let now = KeyFiles::new(new, key, job.budget, job.follow)?.each(progress, |_, table| Ok(table.file.clone()))?;
    let mut found = HashMap::new();
    for file in now {
        let Some(alike) = gone.get_mut(file.uuid.as_str()) else { continue };
        if let Some(place) = alike.iter().position(|(_, before)| before.is_same(&file)) {
            found.insert(alike.swap_remove(place).0, file.path);
        }
    }
    Ok(found)
}

/// Puts the rows of an index that are kept into a sorter. Returns the files that they are of.
fn reread(old: &IndexFile, changes: &Changes, of: &KeyType, sorter: &Sorter, budget: Budget) -> Result<Vec<KeyedFile>> {
    let mut numbers: Vec<Option<u64>> = Vec::new();
    let mut files = Vec::new();
    for (number, (file, kept)) in old.record.files.iter().zip(&changes.kept).enumerate() {
        numbers.push(kept.then_some(first_place(files.len())));
        let path = changes.moved.get(&number).unwrap_or(&file.path).clone();
        files.extend(kept.then(|| KeyedFile { path, ..file.clone() }));
    }
    let (columns, mut filling) = (old.columns(), sorter.filling());
    let own = Budget { memory: budget.memory / 2, ..budget };
    let steps = Steps {
        table: &old.dataset,
        columns: &columns,
        entries: 0..old.dataset.entries(),
        selection: None,
        budget: own,
        bytes: STEP,
        made: MADE,
        team: sorter.team(),
        before: 0,
    };
    steps.each(|step| {
        let rows = old.rows(&step.arrays)?;
        let keys = of.pack(rows.keys, step.rows().count)?;
        let row = |((key, file), entry): ((u128, &u32), &u64)| {
            let first = numbers.get(*file as usize).copied().flatten()?;
            Some(Row::new(key, first + entry))
        };
        filling.add(keys.into_iter().zip(rows.files).zip(rows.entries).filter_map(row))?;
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(files)
}
