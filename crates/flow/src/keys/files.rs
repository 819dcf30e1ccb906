//! The keys of many files: of each, one table is opened with the columns of the key alone. Files are read side by side, and what is made of
//! them does not depend on who is first.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use dataset::glob::NameFilter;
use dataset::near::no_such_table;
use dataset::table::Join;
use dataset::table::catalog::{self, TableEntry, split_cycle};
use rayon::ThreadPool;
use rootfile::{Error, FilePool, Follow, Hint, OPEN_FILES, Result, Source, public_path};
use serde::{Deserialize, Serialize};
use twox_hash::xxhash3_64;

use super::columns::{KeyColumns, KeyReading, KeyStep};
use super::duplicates::{DuplicateFinder, DuplicateKeys, EntryOfKey};
use super::key_type::{KeyPart, KeyType, Span};
use super::names::KeyNames;
use super::row::{MOST_ENTRIES, MOST_FILES, Row, first_place};
use super::sorter::Sorter;
use crate::arrow::read::Dataset;
use crate::execute::budget::Budget;
use crate::execute::progress::{Progress, tell};
use crate::execute::workers::Workers;
use crate::plan::format::Format;
use crate::plan::inputs::Input;
use crate::plan::options::PlanOptions;
use crate::plan::skipped::{BadFiles, Skipped};
use crate::plan::tree::attached::Alias;
use crate::select::{OpenColumns, aliases_used, refuse_different, refused};

/// Memory for reading a file, below which fewer files are read side by side.
const READING: u64 = 128 << 20;
/// The part of the budget for reading, and that for metadata.
const PART: u64 = 2;
const METADATA: u64 = 4;

/// The end of a Parquet file: the length of its footer, and four letters.
const TAIL: u64 = 8;

/// A file whose keys are read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyedFile {
    /// The file.
    pub path: PathBuf,
    /// The path of its table.
    pub tree: String,
    /// Its UUID; of a Parquet file, which has none, a hash of its footer.
    pub uuid: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Entries of the table.
    pub entries: u64,
}

impl KeyedFile {
    /// A file whose table is open.
    pub(crate) fn of(path: &Path, dataset: &Dataset) -> Result<Self> {
        let source = dataset.files().first();
        let uuid = match (source, dataset.container()) {
            (Some(source), None) => footer_hash(&**source)?,
            _ => dataset.uuids().first().cloned().unwrap_or_default(),
        };
        Ok(Self {
            path: path.to_path_buf(),
            tree: dataset.path().to_owned(),
            uuid,
            bytes: source.map_or(0, |file| file.size()),
            entries: dataset.entries(),
        })
    }

    /// Whether another look at the file finds what was there.
    pub fn is_same(&self, other: &Self) -> bool {
        let facts = |file: &Self| (file.tree.clone(), file.uuid.clone(), file.bytes, file.entries);
        facts(self) == facts(other)
    }
}

/// A hash of the footer of a Parquet file, which has the places, sizes and statistics of all columns.
fn footer_hash(source: &dyn Source) -> Result<String> {
    let short = || Error::corrupt("is too short for a Parquet file").file(source.name());
    let end = source.size();
    let tail = source.read(end.checked_sub(TAIL).ok_or_else(short)?, TAIL as usize)?;
    let len = tail.first_chunk::<4>().map_or(0, |len| u32::from_le_bytes(*len));
    let start = end.checked_sub(TAIL + u64::from(len)).ok_or_else(short)?;
    let footer = source.read(start, len as usize)?;
    Ok(format!("{:016x}", xxhash3_64::Hasher::oneshot(&footer)))
}

/// The table of a file with the columns of the key.
pub(crate) struct KeyTable {
    pub columns: KeyColumns,
    pub file: KeyedFile,
    /// Entries of the files before, where the key counts them.
    before: u64,
}

/// Refuses inputs that name a cycle of a table: files of an index, and of a rewrite of events, are known by the newest.
pub(crate) fn refuse_cycles(inputs: &[Input]) -> Result<()> {
    let has_cycle = |input: &&Input| input.tree.as_deref().is_some_and(|tree| split_cycle(tree).is_some());
    match inputs.iter().find(has_cycle) {
        Some(input) => {
            let message = "events are found in the newest cycle of a table; name the table without a cycle";
            Err(Error::request(message).file(&input.path))
        }
        None => Ok(()),
    }
}

/// Tables whose files come before those of another one.
#[derive(Clone, Debug)]
pub(crate) struct TablesBeside<'a> {
    /// Behind the last file of each.
    pub ends: Vec<usize>,
    /// Their columns with the values of the key.
    pub keys: Vec<&'a KeyNames>,
}

impl TablesBeside<'_> {
    /// What a column of the key is called here and there, where names differ: `run=Run`, or `run=Run=number` of several tables.
    fn name_of(&self, place: usize, own: &str) -> String {
        let mut names = vec![own];
        for other in self.keys.iter().filter_map(|key| key.texts().get(place)) {
            if !names.contains(&other.as_str()) {
                names.push(other);
            }
        }
        names.join("=")
    }
}

/// The files, and how they are read.
pub(crate) struct KeyFiles<'a> {
    inputs: &'a [Input],
    key: &'a KeyNames,
    /// Tables whose files come before those of the last one.
    beside: Option<TablesBeside<'a>>,
    budget: Budget,
    pool: Arc<FilePool>,
    /// Entries of the files before each, where the key counts them: expressions count through all files of a table, as those of a rewrite do.
    before: OnceLock<Vec<u64>>,
}

impl<'a> KeyFiles<'a> {
    /// Of the budget a half is for reading. No file is opened yet.
    ///
    /// # Errors
    ///
    /// There are too many files.
    pub fn new(inputs: &'a [Input], key: &'a KeyNames, budget: Budget, follow: Follow) -> Result<Self> {
        if inputs.len() > MOST_FILES {
            return Err(Error::request(format!("{} files are too many at once: at most {MOST_FILES}", inputs.len())));
        }
        let pool = FilePool::following(OPEN_FILES, follow);
        Ok(Self { inputs, key, beside: None, budget, pool, before: OnceLock::new() })
    }

    /// The same of several tables.
    pub fn with_tables(self, beside: TablesBeside<'a>) -> Self {
        Self { beside: Some(beside), ..self }
    }

    /// Behind the last file of each table but the last one.
    fn ends(&self) -> &[usize] {
        self.beside.as_ref().map_or(&[], |beside| &beside.ends)
    }

    /// The key of a file.
    fn key_of(&self, number: usize) -> &'a KeyNames {
        let table = self.ends().partition_point(|end| *end <= number);
        self.beside.as_ref().and_then(|beside| beside.keys.get(table)).map_or(self.key, |key| *key)
    }

    /// The inputs without those whose table cannot be opened, or lacks the columns of the key, and these.
    ///
    /// # Errors
    ///
    /// No input is left, or the work is ended.
    pub fn without_bad(&self, progress: Progress<'_>) -> Result<(Vec<Input>, Vec<Skipped>)> {
        let bad = BadFiles { skip: true };
        let workers = Workers::new("the tables of the keys", self.threads(), progress).in_order();
        let opened = workers.results(self.inputs.len(), |number| {
            let Some(input) = self.inputs.get(number) else { return Err(Error::request("there is no such file")) };
            bad.hold(self.table(number, input).map(|_| input.clone()))
        })?;
        let paths: Vec<&Path> = self.inputs.iter().map(|input| input.path.as_path()).collect();
        let (good, skipped) = BadFiles::sort_out(opened, &paths)?;
        Ok((good.into_iter().flatten().collect(), skipped))
    }

    /// Threads that read files side by side.
    pub fn threads(&self) -> usize {
        let fitting = usize::try_from(self.budget.memory / PART / READING).unwrap_or(usize::MAX);
        self.budget.threads.min(self.inputs.len()).min(fitting).max(1)
    }

    /// The parts of the key, in types that have the values of all files: their order does not decide.
    fn parts(&self, progress: Progress<'_>) -> Result<Vec<KeyPart>> {
        let facts = |table: &KeyTable| (table.columns.counts_entries(), table.file.entries);
        let aliases = |number, table: &KeyTable| aliases_used(table.columns.dataset(), self.key_of(number).texts());
        let each = self.each(progress, |number, table| {
            Ok(((facts(table), table.columns.parts().to_vec()), aliases(number, table)))
        })?;
        let (each, aliases): (Vec<_>, Vec<_>) = each.into_iter().unzip();
        self.refuse_other_aliases(&aliases)?;
        if each.iter().any(|((counts, _), _)| *counts) {
            let entries: Vec<u64> = each.iter().map(|((_, entries), _)| *entries).collect();
            self.before.get_or_init(|| {
                let ends = self.ends().iter().copied().chain([entries.len()]);
                let tables = ends.scan(0, |start, end| entries.get(std::mem::replace(start, end)..end));
                tables.flat_map(|entries| before_each(entries.iter().copied())).collect()
            });
        }
        let parts = each.into_iter().map(|(_, parts)| parts);
        let mut parts = parts.reduce(|known, more| joined(&known, &more)).unwrap_or_default();
        if let Some(beside) = &self.beside {
            for (place, (part, name)) in parts.iter_mut().zip(self.key.texts()).enumerate() {
                part.name = beside.name_of(place, name);
            }
        }
        Ok(parts)
    }

    /// Refuses an alias in the key that the files of a table do not have alike.
    fn refuse_other_aliases(&self, aliases: &[Option<Vec<Alias>>]) -> Result<()> {
        let used = |number: usize| Some((self.inputs.get(number)?.path.as_path(), aliases.get(number)?.as_deref()?));
        let mut start = 0;
        for end in self.ends().iter().copied().chain([self.inputs.len()]) {
            refuse_different((std::mem::replace(&mut start, end)..end).filter_map(used))?;
        }
        Ok(())
    }

    /// The type of the key. Where types are too wide, the values are looked at, with `others` that the key has to have room for.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or the values take more bits than a key has.
    pub fn key_type(&self, others: &[Span], progress: Progress<'_>) -> Result<KeyType> {
        self.type_of_parts(self.parts(progress)?, others, progress)
    }

    fn type_of_parts(&self, parts: Vec<KeyPart>, others: &[Span], progress: Progress<'_>) -> Result<KeyType> {
        if let Some(of_types) = KeyType::of_types(&parts) {
            return Ok(of_types);
        }
        let none = vec![Span::NONE; parts.len()];
        let join = |known: &mut Vec<Span>, more: &[Span]| {
            known.iter_mut().zip(more).for_each(|(known, more)| *known = known.with(*more));
        };
        let of_file = |_: usize, table: &KeyTable| {
            let mut spans = none.clone();
            self.each_step(table, None, progress, &mut |step| {
                join(&mut spans, &KeyType::spans(&parts, &step.arrays)?);
                Ok(())
            })?;
            Ok(spans)
        };
        let mut spans = none.clone();
        join(&mut spans, others);
        self.each(progress, of_file)?.iter().for_each(|more| join(&mut spans, more));
        KeyType::of_values(&parts, &spans)
    }

    /// The type of the key beside keys of another type, of the same columns.
    ///
    /// # Errors
    ///
    /// As for [`key_type`](Self::key_type), and if the values are to be looked at and a column is of another type.
    pub fn key_type_beside(&self, other: &KeyType, progress: Progress<'_>) -> Result<KeyType> {
        let parts = joined(other.parts(), &self.parts(progress)?);
        if let Some(of_types) = KeyType::of_types(&parts) {
            return Ok(of_types);
        }
        // The room of the other keys is told in bits of their types.
        let rooms: Vec<Span> = other.parts().iter().map(KeyPart::room).collect();
        let types = |part: &KeyPart| part.data_type.clone();
        match parts.iter().map(types).eq(other.parts().iter().map(types)) {
            true => self.type_of_parts(parts, &rooms, progress),
            false => Err(Error::differs(format!(
                "the key {} has wider types than in the index; make an index of all files anew",
                self.key
            ))),
        }
    }

    /// Whether the key counts entries, once its type is known.
    pub fn counts_entries(&self) -> bool {
        self.before.get().is_some()
    }

    /// Does something with the table of each file, on all threads. The results are in the order of the files.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or `work` fails; of several errors that of the first file.
    pub fn each<T: Send>(
        &self,
        progress: Progress<'_>,
        work: impl Fn(usize, &KeyTable) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let workers = Workers::new("the keys", self.threads(), progress).in_order();
        workers.results(self.inputs.len(), |number| {
            let Some(input) = self.inputs.get(number) else { return Err(Error::request("there is no such file")) };
            let before = self.before.get().and_then(|before| before.get(number)).copied().unwrap_or(0);
            let table = KeyTable { before, ..self.table(number, input)? };
            work(number, &table).map_err(|e| if e.path().is_some() { e } else { e.file(public_path(&input.path)) })
        })
    }

    /// Reads the values of the key in a file, step by step.
    ///
    /// # Errors
    ///
    /// A column cannot be read, or `take` fails.
    pub fn each_step(
        &self,
        table: &KeyTable,
        team: Option<Arc<ThreadPool>>,
        progress: Progress<'_>,
        take: &mut dyn FnMut(&KeyStep<'_>) -> Result<()>,
    ) -> Result<()> {
        let threads = self.threads();
        let parts = PART * threads as u64;
        let memory = self.budget.memory / parts;
        let budget = Budget { memory, threads: self.budget.threads / threads };
        // Files side by side keep all threads busy.
        let team = team.filter(|_| budget.threads > 1);
        let (entries, before) = (0..table.file.entries, table.before);
        let reading = KeyReading { entries, selection: None, budget, team, before };
        let read = table.columns.each_step(&reading, &mut |step| {
            take(step)?;
            tell(progress, step.spent.compressed)
        });
        read.map_err(|e| self.budget.in_whole(e, parts))
    }

    /// Reads the keys of all files into a sorter, behind so many other files. Returns the files.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or the sorter's file cannot be written.
    pub fn sort_into(
        &self,
        sorter: &Sorter,
        before: usize,
        of: &KeyType,
        progress: Progress<'_>,
    ) -> Result<Vec<KeyedFile>> {
        if before + self.inputs.len() > MOST_FILES {
            return Err(Error::request(format!("an index has at most {MOST_FILES} files")));
        }
        self.each(progress, |number, table| {
            let (mut filling, first) = (sorter.filling(), first_place(before + number));
            self.each_step(table, sorter.team(), progress, &mut |step| {
                let keys = of.pack(&step.arrays, step.rows.count)?;
                filling.add(keys.into_iter().zip(step.entries()).map(|(key, entry)| Row::new(key, first + entry)))
            })?;
            Ok(table.file.clone())
        })
    }

    /// Opens the table of a file: the named one, or the only one that has the columns of the key.
    fn table(&self, number: usize, input: &Input) -> Result<KeyTable> {
        let opened = self
            .opened(input, self.key_of(number))
            .map_err(|e| if e.path().is_some() { e } else { e.file(&input.path) })?;
        let dataset = opened.dataset();
        let entries = dataset.entries();
        if entries > MOST_ENTRIES {
            return Err(Error::unsupported(format!("a table of {entries} entries is too large")).file(&input.path));
        }
        let file = KeyedFile::of(&input.path, dataset)?;
        Ok(KeyTable { columns: opened, file, before: 0 })
    }

    fn opened(&self, input: &Input, key: &KeyNames) -> Result<KeyColumns> {
        let memory = self.budget.memory / METADATA;
        let what = format!("the key {key}");
        table_with(&self.pool, input, memory, &what, &|path, open| {
            Ok(KeyColumns::open(path, open, key, &[])?.map_err(|e| self.lacks(e, key.option())))
        })
    }

    /// The error of a table that lacks a column. Where files may have others, it says how.
    fn lacks(&self, error: expr::Error, option: &'static str) -> Error {
        if self.beside.is_none() || error.kind() != expr::ErrorKind::UnknownName {
            return refused(&error, option);
        }
        let hint = Hint::text(option, "LEFT=RIGHT");
        refused(&error.advised(&format!("{hint} takes columns of other names on the two sides")), option).hint(hint)
    }
}

/// The entries of all files before each, given those of each.
pub(crate) fn before_each(entries: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let sum = |before: &mut u64, own: u64| {
        let first = *before;
        *before = before.saturating_add(own);
        Some(first)
    };
    entries.into_iter().scan(0, sum).collect()
}

/// The parts of a key in types that have the values of both.
pub(super) fn joined(one: &[KeyPart], other: &[KeyPart]) -> Vec<KeyPart> {
    one.iter().zip(other).map(|(one, other)| one.joined(other)).collect()
}

/// What `of` makes of the table of a file that is named, or else of the only one that has what is asked for. The inner error of `of` says
/// what a table lacks.
///
/// # Errors
///
/// The file cannot be read, no table has what is asked for, or several have.
pub(crate) fn table_with<T>(
    pool: &Arc<FilePool>,
    input: &Input,
    memory: u64,
    what: &str,
    of: &dyn Fn(&str, OpenColumns<'_>) -> Result<Result<T>>,
) -> Result<T> {
    if Format::is_parquet(&input.path) {
        let one = std::slice::from_ref(input);
        let open = |filter: &NameFilter| {
            Ok(Dataset::of_parquet(one, &|path, name| filter.keeps(path, &[name]), Join::Strict, memory)?.0)
        };
        return of("", &open)?;
    }
    let file = Arc::new(pool.open(&input.path)?);
    let tables = catalog::tables(&file);
    let named: Vec<&TableEntry> = match &input.tree {
        Some(name) => catalog::find(&tables, name).into_iter().collect(),
        None => catalog::by_path(&tables),
    };
    let (mut found, mut lacking) = (Vec::new(), Vec::new());
    for table in &named {
        let source = [(0, Arc::clone(&file), table.key.clone())];
        let open = |filter: &NameFilter| Dataset::of_trees(&source, &table.path, filter, PlanOptions::default());
        match of(&table.path, &open) {
            Ok(Ok(one)) => found.push((table.path.as_str(), one)),
            Ok(Err(e)) => lacking.push(e),
            Err(e) if named.len() == 1 => return Err(e),
            // A table that is not asked for need not be read.
            Err(e) => lacking.push(e.object(&table.path)),
        }
    }
    let asked: Vec<&str> = named.iter().map(|table| table.path.as_str()).collect();
    let paths: Vec<&str> = catalog::by_path(&tables).into_iter().map(|table| table.path.as_str()).collect();
    // Of several tables, the reason that says most: it has the names that are near.
    let lacks = lacking.into_iter().max_by_key(|e: &Error| e.to_string().len());
    match (found.len(), found.pop()) {
        (0, _) => Err(lacks
            .map(|e| e.object(asked.join(", ")))
            .unwrap_or_else(|| no_such_table(input.tree.as_deref(), &paths))),
        (1, Some((_, one))) => Ok(one),
        (_, last) => {
            let all: Vec<&str> = found.iter().chain(&last).map(|(path, _)| *path).collect();
            Err(Error::request(format!("several tables have {what}; name one as FILE:TREE: {}", all.join(", "))))
        }
    }
}

/// Finds the entries of files that have the key of another.
///
/// # Errors
///
/// A file cannot be read, has no such table or column, or the budget has no room.
pub fn duplicates_of_files(
    inputs: &[Input],
    key: &KeyNames,
    budget: Budget,
    follow: Follow,
    progress: Progress<'_>,
) -> Result<DuplicateKeys> {
    let files = KeyFiles::new(inputs, key, budget, follow)?;
    let of = files.key_type(&[], progress)?;
    let sorter = Sorter::new(budget, files.threads(), None::<&Path>)?;
    let keyed = files.sort_into(&sorter, 0, &of, progress)?;
    let place = |row: Row| {
        let file = keyed.get(row.file()).map_or_else(PathBuf::new, |file| public_path(&file.path).into_owned());
        EntryOfKey { file, entry: row.entry() }
    };
    let path = keyed.first().map_or("", |file| file.tree.as_str());
    let mut finder = DuplicateFinder::new(path, &of, &place);
    sorter.finish()?.each_block(|rows| {
        rows.iter().for_each(|row| _ = finder.take(*row));
        tell(progress, 0)
    })?;
    Ok(finder.finish())
}
