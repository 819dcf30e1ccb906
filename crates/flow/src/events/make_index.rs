//! Makes an index of files, or extends one: the keys of new files are read, those of an index come from it, and all are sorted into a new
//! file, which takes the place of the old one when it is whole. A file is known by its path, and is the same as before if its UUID, its size
//! and its number of entries are.

use std::fs::{File, TryLockError};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rootfile::{Error, Follow, Hint, Result, check_output, has_secrets, public_path, url};
use serde::Serialize;

use super::index_file::{IndexFile, IndexWriter};
use super::index_record::{ENTRY, FILE};
use crate::execute::budget::Budget;
use crate::execute::progress::{Progress, tell};
use crate::execute::replaced::SeenFile;
use crate::keys::files::KeyFiles;
use crate::keys::files::refuse_cycles;
use crate::keys::key_type::KeyType;
use crate::keys::{KeyNames, KeyedFile, Row, Sorter, first_place};
use crate::plan::inputs::Input;
use crate::select::{MADE, STEP, Steps};

/// Most files that are named for each reason.
const MOST_NAMED: usize = 1000;

/// What the user does if another process has written the index meanwhile.
const AGAIN: &str = "run it again";

/// What is indexed, and how.
#[derive(Clone, Debug)]
pub struct IndexJob<'a> {
    /// The files.
    pub inputs: &'a [Input],
    /// The key. That of the index, if one is extended.
    pub key: Option<&'a KeyNames>,
    /// The index.
    pub output: &'a Path,
    /// Whether files are added to an index that is there.
    pub extend: bool,
    /// Whether an existing file may be replaced.
    pub overwrite: bool,
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
    /// Bytes of the index.
    pub bytes_written: u64,
}

/// Makes an index, or extends one. `progress` gets the bytes that are read.
///
/// # Errors
///
/// A file cannot be read or has no such columns, the key is not that of the index, or the output cannot be written.
pub fn index(job: &IndexJob<'_>, progress: Progress<'_>) -> Result<Indexed> {
    let paths = job.inputs.iter().map(|input| input.path.as_path());
    if job.output.as_os_str() == "-" {
        return Err(Error::request("an index is a file: name one, such as events.parquet").hint(Hint::named("output")));
    }
    check_output(job.output, job.overwrite || job.extend, paths)?;
    refuse_cycles(job.inputs)?;
    let seen = SeenFile::of(job.output);
    let _extending = job.extend.then(|| lock(job.output)).transpose()?;
    let old = job.extend.then(|| IndexFile::open(job.output, job.budget)).transpose()?;
    let key = key_of(job, old.as_ref())?;
    let inputs = inputs(job)?;
    let budget = job.budget;
    let mut done = Indexed { schema: 1, key: key.texts().to_vec(), ..Indexed::default() };

    let (mut new, mut known) = (Vec::new(), Vec::new());
    let numbers = old.as_ref().map(|old| old.record.numbers()).unwrap_or_default();
    for input in &inputs {
        match numbers.get(input.path.as_path()).copied() {
            Some(number) => known.push((input.clone(), number)),
            None => new.push(input.clone()),
        }
    }
    let mut kept: Vec<bool> = old.iter().flat_map(|old| &old.record.files).map(|_| true).collect();
    for (input, number) in changed(&known, &key, old.as_ref(), job, progress)? {
        kept.get_mut(number).into_iter().for_each(|kept| *kept = false);
        if done.files_changed.len() < MOST_NAMED {
            done.files_changed.push(public_path(&input.path).into_owned());
        }
        new.push(input);
    }
    done.files_known = (inputs.len() - new.len()) as u64;
    done.files_read = new.len() as u64;

    let files = KeyFiles::new(&new, &key, budget, job.follow)?;
    let of = match &old {
        Some(old) if new.is_empty() => old.of.clone(),
        Some(old) => files.key_type_beside(&old.of, progress)?,
        None => files.key_type(&[], progress)?,
    };
    let sorter = Sorter::new(budget, files.threads(), Some(job.output))?;
    let mut all: Vec<KeyedFile> = Vec::new();
    if let Some(old) = &old {
        let named = |e: Error| if e.path().is_some() { e } else { e.file(job.output) };
        all = reread(old, &kept, &of, &sorter, budget).map_err(named)?;
    }
    let before = all.len();
    all.extend(files.sort_into(&sorter, before, &of, progress)?);
    done.files = all.len() as u64;
    let mut writer = IndexWriter::create(job.output, job.overwrite || job.extend, &of, budget)?;
    let mut last = None;
    sorter.finish()?.each_block(|rows| {
        for row in rows {
            done.duplicates += u64::from(last.replace(row.key()) == Some(row.key()));
        }
        done.entries += rows.len() as u64;
        tell(progress, 0)?;
        writer.add(rows)
    })?;
    if job.extend {
        seen.check_unchanged(AGAIN)?;
    }
    done.bytes_written = writer.finish(all).map_err(|e| e.file(job.output))?;
    Ok(done)
}

/// Keeps others from extending the index that is to be replaced, as long as the file is open. Where a file system has no locks, it is
/// looked at again in the end.
fn lock(path: &Path) -> Result<File> {
    let file = File::open(path).map_err(|e| Error::from(e).file(path))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            Err(Error::request(format!("is being extended by another process: {AGAIN}")).file(path))
        }
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
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
        let path = match url(&input.path) {
            Some(_) => input.path.clone(),
            None => std::path::absolute(&input.path).map_err(|e| Error::from(e).file(&input.path))?,
        };
        found.push(Input { path, tree: input.tree.clone() });
    }
    let mut sorted: Vec<&Path> = found.iter().map(|input| input.path.as_path()).collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair.first() == pair.last()) {
        Some(twice) => Err(Error::request("is there twice").file(twice.first().map_or(Path::new(""), |path| *path))),
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

/// Puts the rows of an index that are kept into a sorter. Returns the files that they are of.
fn reread(old: &IndexFile, kept: &[bool], of: &KeyType, sorter: &Sorter, budget: Budget) -> Result<Vec<KeyedFile>> {
    let mut numbers: Vec<Option<u64>> = Vec::new();
    let mut files = Vec::new();
    for (file, kept) in old.record.files.iter().zip(kept) {
        numbers.push(kept.then_some(first_place(files.len())));
        files.extend(kept.then(|| file.clone()));
    }
    let (columns, mut filling) = (old.columns(), sorter.filling());
    let own = Budget { memory: budget.memory / 2, ..budget };
    let steps = Steps {
        dataset: &old.dataset,
        columns: &columns,
        entries: 0..old.dataset.entries(),
        selection: None,
        budget: own,
        bytes: STEP,
        made: MADE,
        team: sorter.team(),
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
