//! Names the parts of a split and writes them, each as a rewrite of some entries. They get their names when all are whole.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use objects::contents::{Contents, Found, FoundObjects, Which};
use objects::refuse_damage_in;
use rootfile::{Error, Hint, NewFolder, Result, RootFile, StagedFile, check_output};

use super::part::Part;
use super::parts::{Rule, parts};
use super::report::{SplitPart, SplitReport};
use crate::arrow::read::Dataset;
use crate::execute::budget::Budget;
use crate::execute::progress::Progress;
use crate::plan::inputs::Input;
use crate::rewrite::execute::write;
use crate::rewrite::options::Options;
use crate::rewrite::prepare::{TableCut, prepare_objects};

/// Digits of the number of a part.
const DIGITS: usize = 4;
/// Characters of a value in the name of a part.
const LONGEST_VALUE: usize = 80;

/// How a table is split, and where the parts go.
#[derive(Clone, Debug)]
pub struct SplitOptions {
    /// How it is split.
    pub rule: Rule,
    /// The folder of the parts; that of the file, if none is given. It is made if it is not there.
    pub folder: Option<PathBuf>,
    /// Whether existing files are replaced, and parts of an earlier split into more parts removed.
    pub overwrite: bool,
    /// The most files.
    pub most: usize,
    /// Memory and threads.
    pub budget: Budget,
}

/// Splits a table of a file: the named one, or the only one.
///
/// # Errors
///
/// The file has no such table, or several; it would be too many parts; a part is there already; a file cannot be read or written. Then
/// no part is left.
pub fn split(input: &Input, options: &SplitOptions, progress: Progress<'_>) -> Result<SplitReport> {
    let file = Arc::new(RootFile::open(&input.path)?);
    let mut walk = file.walk();
    refuse_damage_in(&file, &mut walk, &mut Vec::new(), |_| true)?;
    let contents = Contents::of(0, &file, &walk);
    let (found, seek) = table(&contents, input)?;
    let cycle = found.cycles().pop().unwrap_or(1);
    let dataset = Dataset::of_file(&file, &format!("{};{cycle}", found.path))?;
    let parts = parts(dataset, &options.rule, options.most, options.budget, progress)?;
    let paths = paths(&input.path, options.folder.as_deref(), &parts)?;
    let made = options.folder.as_deref().map(NewFolder::make).transpose()?;
    paths.iter().try_for_each(|path| check_output(path, options.overwrite, [&input.path]))?;
    let left = left_parts(&paths, &parts);
    if let (false, Some(first)) = (options.overwrite, left.first()) {
        let (force, more) = (Hint::switch("force"), left.len());
        let why = format!(
            "is a part of an earlier split, of {more} that would be left beside the new ones; {force} removes them"
        );
        return Err(Error::from(io::Error::new(io::ErrorKind::AlreadyExists, why)).hint(force).file(first));
    }
    let mut alone = contents.clone();
    alone.retain_only(&found);
    let mut report = SplitReport { table: found.path.clone(), ..SplitReport::default() };
    let mut staged: Vec<StagedFile> = Vec::new();
    let how = Options { budget: options.budget, overwrite: options.overwrite, ..Options::default() };
    let files = [file];
    for (number, (part, path)) in parts.iter().zip(&paths).enumerate() {
        let of_part = if number == 0 { &contents } else { &alone };
        let cut = (parts.len() > 1).then_some(TableCut { seek, entries: &part.entries });
        let prepared = prepare_objects(&files, of_part.plan(&[0]), &how, cut)?;
        let (summary, made) = write(prepared, path, &how, progress)?;
        report.notes.extend(summary.notes.into_iter().filter(|note| !report.notes.contains(note)).collect::<Vec<_>>());
        let (path, value, entries) = (path.clone(), part.value.clone(), part.entries.len());
        report.parts.push(SplitPart { path, value, entries, bytes: made.len() });
        staged.push(made);
    }
    staged.into_iter().try_for_each(|made| made.deliver().map(drop))?;
    made.into_iter().for_each(NewFolder::keep);
    for path in left {
        std::fs::remove_file(&path).map_err(|e| Error::from(e).file(&path))?;
        report.notes.push(format!("removed {}, a part of an earlier split", path.display()));
    }
    Ok(report)
}

/// The table to split, and the offset of its key.
fn table(contents: &Contents, input: &Input) -> Result<(Found, u64)> {
    let wanted = input.tree.as_deref().unwrap_or_default();
    let found = match wanted {
        "" => contents.tables(),
        wanted => contents.find(wanted, Which::Newest).map_err(|e| e.file(&input.path))?,
    };
    match <[Found; 1]>::try_from(found) {
        Ok([one]) => match &one.what {
            FoundObjects::Objects(cycles) if contents.is_table(&one) => {
                let seek = cycles.last().map_or(0, |object| object.location.seek);
                Ok((one, seek))
            }
            _ => Err(Error::request("is no table, and only tables are split").object(one.path).file(&input.path)),
        },
        Err(found) if found.is_empty() => Err(Error::request("has no table to split").file(&input.path)),
        Err(found) => {
            let names: Vec<&str> = found.iter().map(|one| one.path.as_str()).collect();
            let file = rootfile::public_path(&input.path).display().to_string();
            let first = names.first().copied().unwrap_or_default();
            let why = format!("has several tables ({}); name one, as in {file}:{first}", names.join(", "));
            Err(Error::request(why).file(&input.path))
        }
    }
}

/// The numbered parts of an earlier split into more parts: those that go on from the last of these. A merge of all would have their
/// entries twice.
fn left_parts(paths: &[PathBuf], parts: &[Part]) -> Vec<PathBuf> {
    let is_numbered = parts.iter().all(|part| part.value.is_none());
    let Some(last) = paths.last().filter(|_| is_numbered) else { return Vec::new() };
    let number = format!("{:0DIGITS$}.root", paths.len());
    let name = last.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let Some(start) = name.strip_suffix(number.as_str()) else { return Vec::new() };
    let later = (paths.len() + 1..).map(|number| last.with_file_name(format!("{start}{number:0DIGITS$}.root")));
    later.take_while(|path| path.is_file()).collect()
}

/// The names of the parts: that of the file with a number, or with the value.
fn paths(input: &Path, folder: Option<&Path>, parts: &[Part]) -> Result<Vec<PathBuf>> {
    let stem = input.file_stem().ok_or_else(|| Error::request("has no file name").file(input))?.to_string_lossy();
    let folder = match (folder, rootfile::url(input)) {
        (Some(folder), _) => folder.to_owned(),
        (None, Some(_)) => PathBuf::new(),
        (None, None) => input.parent().map(Path::to_path_buf).unwrap_or_default(),
    };
    let mut taken = HashSet::new();
    let name = |(number, part): (usize, &Part)| {
        let own = part.value.as_deref().map_or_else(|| format!("{:0DIGITS$}", number + 1), as_name);
        let mut name = format!("{stem}-{own}.root");
        let mut again = 1;
        // Values that differ in other characters only.
        while !taken.insert(name.clone()) {
            again += 1;
            name = format!("{stem}-{own}-{again}.root");
        }
        folder.join(name)
    };
    Ok(parts.iter().enumerate().map(name).collect())
}

/// A value as a part of a file's name.
fn as_name(value: &str) -> String {
    let plain = |letter: char| if letter.is_alphanumeric() || "._+-".contains(letter) { letter } else { '_' };
    let name: String = value.chars().take(LONGEST_VALUE).map(plain).collect();
    if name.is_empty() { "empty".to_owned() } else { name }
}
