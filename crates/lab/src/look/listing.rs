//! The objects of files: names, classes, titles, sizes and dates, by the keys alone. With tables, their entries and columns as well.

use std::path::Path;

use dataset::glob::TreePattern;
use dataset::near::advice;
use dataset::table::catalog;
use flow::convert::Format;
use flow::inputs::Input;
use flow::read::Dataset;
use rootfile::{
    Directory, Error, ErrorKind, Key, Result, RootFile, date_of_datime, is_directory, open_source, public_path,
};
use serde::Serialize;

use super::schema::{ColumnType, column_types, index_of};

/// Special characters of patterns.
const SPECIAL: [char; 4] = ['*', '?', '[', '{'];

/// What is listed.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListOptions {
    /// Directories with all below them.
    pub recursive: bool,
    /// The entries and columns of trees and RNTuples.
    pub tables: bool,
    /// Older cycles, too.
    pub all_cycles: bool,
    /// Whether a path or a pattern may mean no object.
    pub allow_no_match: bool,
}

/// The objects of some files.
#[derive(Clone, Debug, Serialize)]
pub struct Listing {
    /// The files, in their order.
    pub files: Vec<ListedFile>,
}

/// A file and its objects.
#[derive(Clone, Debug, Serialize)]
pub struct ListedFile {
    /// Name, as given.
    pub path: String,
    /// Bytes.
    pub bytes: u64,
    /// What is asked for of it, if not all.
    pub asked: Option<String>,
    /// Whether that is a pattern, whose objects may be in several directories.
    #[serde(skip)]
    pub by_pattern: bool,
    /// Its objects, in the order of the file's lists, each directory followed by what is in it.
    pub objects: Vec<ListedObject>,
    /// What could not be read.
    pub problems: Vec<String>,
}

/// An object.
#[derive(Clone, Debug, Serialize)]
pub struct ListedObject {
    /// Path in the file.
    pub path: String,
    /// Name.
    pub name: String,
    /// Class.
    pub class: String,
    /// Title.
    pub title: String,
    /// Cycle.
    pub cycle: i16,
    /// Whether no other object of this name has a higher cycle.
    pub newest: bool,
    /// Whether it is a directory.
    pub directory: bool,
    /// Number of directories above it that are listed as well.
    pub depth: u64,
    /// Bytes of its record on disk. A tree's baskets and an RNTuple's pages are records of their own.
    pub bytes: u64,
    /// Bytes of the record before compression.
    pub raw_bytes: u64,
    /// Date of writing, as `2026-11-27 18:45:00`, in the time of the machine that wrote it.
    pub date: String,
    /// Entries and columns, if it is a table and these were asked for.
    pub table: Option<ListedTable>,
}

/// A table in a list.
#[derive(Clone, Debug, Serialize)]
pub struct ListedTable {
    /// Number of entries.
    pub entries: u64,
    /// The expressions of its index (`TTreeIndex`), if it is a tree that has one.
    pub index: Option<String>,
    /// Columns.
    pub columns: Vec<ColumnType>,
}

/// Lists the objects of files. A path in a file is that of an object, of a directory, or a pattern. Of several files some may be
/// unreadable: they say why among their problems.
///
/// # Errors
///
/// No file can be read, or none of those that are asked for a path has such an object.
pub fn list(inputs: &[Input], options: &ListOptions) -> Result<Listing> {
    let mut files = Vec::new();
    // What each path is asked of, and what is said of the first file that has no such object; none once a file has it.
    let mut missing: Vec<(&str, Option<Error>)> = Vec::new();
    let mut unreadable = None;
    for input in inputs {
        match list_file(input, options) {
            Ok((file, lacks)) => {
                if let Some(asked) = input.tree.as_deref() {
                    match missing.iter_mut().find(|(known, _)| *known == asked) {
                        Some((_, error)) if lacks.is_none() => *error = None,
                        Some(_) => {}
                        None => missing.push((asked, lacks)),
                    }
                }
                files.push(file);
            }
            Err(e) if matches!(e.kind(), ErrorKind::Io(_) | ErrorKind::Corrupt(_) | ErrorKind::Unsupported(_)) => {
                files.push(ListedFile { problems: vec![e.to_string()], ..ListedFile::of(input) });
                unreadable.get_or_insert(e);
            }
            Err(e) => return Err(e),
        }
    }
    // Of several files that are asked for the same, one suffices that has it.
    if let Some(error) = missing.into_iter().filter(|_| !options.allow_no_match).find_map(|(_, error)| error) {
        return Err(error);
    }
    let is_any_read = files.iter().any(|file| file.bytes > 0);
    match unreadable.filter(|_| !is_any_read) {
        Some(e) => Err(e),
        None => Ok(Listing { files }),
    }
}

impl ListedFile {
    /// A file of which nothing is known yet.
    fn of(input: &Input) -> Self {
        Self {
            path: public_path(&input.path).display().to_string(),
            bytes: 0,
            asked: input.tree.clone(),
            by_pattern: false,
            objects: Vec::new(),
            problems: Vec::new(),
        }
    }
}

/// A file, and the error if it has no such object as it is asked for.
fn list_file(input: &Input, options: &ListOptions) -> Result<(ListedFile, Option<Error>)> {
    let path = public_path(&input.path).display().to_string();
    let asked = input.tree.clone();
    if Format::is_parquet(&input.path) {
        return Ok((parquet(input, path, options)?, None));
    }
    let file = RootFile::open(&input.path)?;
    let bytes = file.source().size();
    let (directories, problems) = match asked.is_some() || options.recursive {
        true => {
            let walk = file.walk();
            (walk.directories, walk.problems)
        }
        // The list of the top is read already.
        false => (vec![file.top().clone()], Vec::new()),
    };
    let mut lister = Lister { file: &file, directories: &directories, options, by_pattern: false, objects: Vec::new() };
    match asked.as_deref() {
        None | Some("") => lister.directory("", 0),
        Some(wanted) => lister.named(wanted)?,
    }
    let Lister { by_pattern, objects, .. } = lister;
    let mut lacks = None;
    if let (true, Some(wanted)) = (objects.is_empty(), &asked) {
        let known = directories.iter().flat_map(|d| d.keys.iter().map(|key| d.path_of(&key.name))).collect::<Vec<_>>();
        let is_there = directories.iter().any(|directory| directory.path == *wanted);
        if !is_there {
            let why = format!("has no object {wanted}{}", advice(wanted, known.iter().map(String::as_str)));
            lacks = Some(Error::request(why).file(&input.path));
        }
    }
    let problems = problems.iter().map(ToString::to_string).collect();
    Ok((ListedFile { path, bytes, asked, by_pattern, objects, problems }, lacks))
}

/// A Parquet file is one table.
fn parquet(input: &Input, path: String, options: &ListOptions) -> Result<ListedFile> {
    let bytes = open_source(&input.path)?.size();
    let dataset = Dataset::open(std::slice::from_ref(input))?;
    let table = ListedTable { entries: dataset.entries(), index: index_of(&dataset), columns: column_types(&dataset) };
    let object = ListedObject {
        path: dataset.path().to_owned(),
        name: dataset.path().to_owned(),
        class: "Parquet".to_owned(),
        title: dataset.names().1.to_owned(),
        cycle: 1,
        newest: true,
        directory: false,
        depth: 0,
        bytes,
        raw_bytes: bytes,
        date: String::new(),
        table: options.tables.then_some(table),
    };
    Ok(ListedFile { path, bytes, asked: None, by_pattern: false, objects: vec![object], problems: Vec::new() })
}

struct Lister<'a> {
    file: &'a RootFile,
    directories: &'a [Directory],
    options: &'a ListOptions,
    by_pattern: bool,
    objects: Vec<ListedObject>,
}

impl Lister<'_> {
    /// Lists a directory, by its path.
    fn directory(&mut self, path: &str, depth: u64) {
        let directories = self.directories;
        let Some(directory) = directories.iter().find(|directory| directory.path == path) else { return };
        let mut before: Option<&str> = None;
        for key in directory.newest_first() {
            let newest = before != Some(key.name.as_str());
            before = Some(&key.name);
            if !newest && !self.options.all_cycles {
                continue;
            }
            let path = directory.path_of(&key.name);
            self.add(&path, key, newest, depth);
            if is_directory(&key.class) && self.options.recursive && newest {
                self.directory(&path, depth.saturating_add(1));
            }
        }
    }

    /// Lists what a path or a pattern names: what is in a directory, else the objects themselves.
    fn named(&mut self, wanted: &str) -> Result<()> {
        if self.directories.iter().any(|directory| directory.path == wanted) {
            self.directory(wanted, 0);
            return Ok(());
        }
        let (plain, cycle) = catalog::split_cycle(wanted).map_or((wanted, None), |(path, cycle)| (path, Some(cycle)));
        let pattern = TreePattern::new(plain)?;
        self.by_pattern = plain.contains(SPECIAL) || plain.starts_with('/');
        for directory in self.directories {
            let mut before: Option<&str> = None;
            for key in directory.newest_first() {
                let newest = before != Some(key.name.as_str());
                before = Some(&key.name);
                let path = directory.path_of(&key.name);
                let is_meant = if self.by_pattern { pattern.matches(&path) } else { path == plain };
                let is_cycle = cycle.map_or(newest || self.options.all_cycles, |cycle| cycle == key.cycle);
                if is_meant && is_cycle {
                    self.add(&path, key, newest, 0);
                    if is_directory(&key.class) && self.options.recursive && newest {
                        self.directory(&path, 1);
                    }
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, path: &str, key: &Key, newest: bool, depth: u64) {
        let is_table = catalog::container_of(self.file, &key.class).is_some();
        let table = (self.options.tables && is_table).then(|| table(self.file.name(), path, key.cycle)).flatten();
        self.objects.push(ListedObject {
            path: path.to_owned(),
            name: key.name.clone(),
            class: key.class.clone(),
            title: key.title.clone(),
            cycle: key.cycle,
            newest,
            directory: is_directory(&key.class),
            depth,
            bytes: u64::from(key.nbytes),
            raw_bytes: u64::from(key.objlen),
            date: date_of_datime(key.datime),
            table,
        });
    }
}

/// Entries and columns of a table; none if it cannot be read.
fn table(file: &Path, path: &str, cycle: i16) -> Option<ListedTable> {
    let input = Input { path: file.to_owned(), tree: Some(format!("{path};{cycle}")) };
    let dataset = Dataset::open(&[input]).ok()?;
    Some(ListedTable { entries: dataset.entries(), index: index_of(&dataset), columns: column_types(&dataset) })
}
