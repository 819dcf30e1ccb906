//! Copies and moves objects and directories, within a file or between files, as cp and mv do with files.

use std::path::Path;

use objects::contents::{Contents, Found, FoundObjects, Place, TOP, Taken, Which};
use rootfile::codec::Compression;
use rootfile::{Error, ErrorKind, Hint, Result, public_path};

use super::Confirm;
use super::desk::{Desk, Writing};
use super::place::{EditPlace, check_new, is_same, shown};
use super::report::{Change, ChangeKind, Edited};
use crate::execute::budget::Budget;
use crate::execute::progress::Progress;
use crate::plan::inputs::Input;

/// How objects are copied and moved.
#[derive(Clone, Copy, Debug, Default)]
pub struct TransferOptions {
    /// Whether directories are copied, with all in them. They are moved in any case.
    pub recursive: bool,
    /// What becomes of objects that have the name already.
    pub taken: Taken,
    /// Whether what the destination has so far goes.
    pub recreate: bool,
    /// The compression of a new file. Default: records keep theirs.
    pub compression: Option<Compression>,
    /// Whether files are written anew, without gaps. Otherwise they are changed in place.
    pub compact: bool,
    /// Memory and threads.
    pub budget: Budget,
}

/// Copies objects and directories into a file, which is made if it is not there.
///
/// # Errors
///
/// A source is not there; a name is taken; a file cannot be read or written; or the destination would lose something. Then no file changes.
pub fn copy(
    sources: &[Input],
    destination: &Input,
    options: &TransferOptions,
    progress: Progress<'_>,
) -> Result<Edited> {
    let mut transfer = Transfer::begin(sources, destination, options, None)?;
    transfer.all(sources)?;
    transfer.write(progress)
}

/// Moves objects and directories: the destination is written first, and then the files from which they go. Each object that `confirm` is
/// asked about is moved if it says so.
///
/// # Errors
///
/// As [`copy`]; if a source cannot be written, though it could be when the edit began, the error says that both files have the objects.
pub fn move_objects(
    sources: &[Input],
    destination: &Input,
    options: &TransferOptions,
    confirm: Confirm<'_>,
    progress: Progress<'_>,
) -> Result<Edited> {
    let mut transfer = Transfer::begin(sources, destination, options, Some(confirm))?;
    transfer.all(sources)?;
    transfer.write(progress)
}

struct Transfer<'a> {
    options: &'a TransferOptions,
    /// Asked before each move. None for copies.
    moves: Option<Confirm<'a>>,
    desk: Desk,
    to: EditPlace,
    /// The number of the destination.
    into: usize,
    report: Edited,
}

/// Where the objects of a source go.
struct Target {
    folder: usize,
    path: String,
    /// The new name of the one object.
    name: Option<String>,
}

impl<'a> Transfer<'a> {
    fn begin(
        sources: &[Input],
        destination: &Input,
        options: &'a TransferOptions,
        moves: Option<Confirm<'a>>,
    ) -> Result<Self> {
        let to = EditPlace::of(destination)?;
        let mut desk = Desk::new();
        if options.recreate && sources.iter().any(|source| is_same(&source.path, &to.file)) {
            return Err(Error::request("is a source as well, and cannot be made anew").file(&to.file));
        }
        let is_there = to.file.exists();
        if let (Some(_), true) = (options.compression, is_there && !options.recreate) {
            let (compression, recreate) = (Hint::named("compression"), Hint::switch("recreate"));
            let why = format!("{compression} is for a new file, and this one is there; {recreate} makes it anew");
            return Err(Error::request(why).hint(compression).hint(recreate).file(&to.file));
        }
        let into = if is_there && !options.recreate {
            desk.open_to_edit(&to.file)?
        } else {
            desk.create(&to.file, options.recreate)?
        };
        Ok(Self { options, moves, desk, to, into, report: Edited::default() })
    }

    /// Puts all sources at the destination.
    fn all(&mut self, sources: &[Input]) -> Result<()> {
        let mut found = Vec::new();
        for source in sources {
            found.extend(self.find(source)?);
        }
        if found.is_empty() {
            return match self.report.left_out.is_empty() {
                true => Ok(()),
                false => Err(self.needs_recursive()),
            };
        }
        let one = if let [(_, one)] = found.as_slice() { Some(one.name.clone()) } else { None };
        let whole = sources.iter().any(|source| source.tree.as_ref().is_none_or(String::is_empty));
        let target = self.target(one.filter(|_| !whole))?;
        for (from, found) in found {
            self.one(from, &found, &target).map_err(|e| {
                let name = target.name.as_ref().unwrap_or(&found.name);
                let path = if target.path.is_empty() { name.clone() } else { format!("{}/{name}", target.path) };
                let within = e.subject().filter(|object| object != name).map(|object| format!("{path}: {object}"));
                e.object(within.unwrap_or(path)).file(&self.to.file)
            })?;
        }
        Ok(())
    }

    /// What a source names, without directories where these are not asked for.
    fn find(&mut self, source: &Input) -> Result<Vec<(usize, Found)>> {
        let moves = self.moves.is_some();
        let from = match self.moves {
            Some(_) => self.desk.open_to_edit(&EditPlace::of(source)?.file)?,
            None => self.desk.open(&source.path)?,
        };
        let file = self.desk.file(from)?;
        let which = if moves { Which::All } else { Which::Newest };
        let wanted = source.tree.as_deref().unwrap_or_default();
        let found = match wanted {
            "" => file.original.children(TOP, "", which),
            wanted => file.original.find(wanted, which).map_err(|e| e.file(&source.path))?,
        };
        let takes_folders = moves || self.options.recursive;
        let (left, found): (Vec<Found>, Vec<Found>) =
            found.into_iter().partition(|found| found.is_folder() && !takes_folders);
        self.report.left_out.extend(left.iter().map(|found| shown(&file.path, &found.path)));
        Ok(found.into_iter().map(|found| (from, found)).collect())
    }

    fn needs_recursive(&self) -> Error {
        let recursive = Hint::switch("recursive");
        let what = self.report.left_out.join(", ");
        Error::request(format!("directories are copied with {recursive}: {what}")).hint(recursive)
    }

    /// Where the sources go. `one` is the name of the only one.
    fn target(&mut self, one: Option<String>) -> Result<Target> {
        let path = self.to.path.clone();
        let contents = &mut self.desk.edit(self.into)?.contents;
        if let Some(folder) = contents.folder_at(&path) {
            return Ok(Target { folder, path, name: None });
        }
        if one.is_none() {
            let why = "is no directory, as several sources need; `basketry mkdir` makes one";
            return Err(Error::request(why).object(path).file(&self.to.file));
        }
        check_new(&path).map_err(|e| e.file(&self.to.file))?;
        let (above, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let mut folder = TOP;
        for part in above.split('/').filter(|part| !part.is_empty()) {
            folder = contents.make_folder(folder, part, "").map_err(|e| e.file(&self.to.file))?;
        }
        Ok(Target { folder, path: above.to_owned(), name: Some(name.to_owned()) })
    }

    /// Puts one source at the destination, and removes it from its file if it is moved.
    fn one(&mut self, from: usize, found: &Found, target: &Target) -> Result<()> {
        let source = self.desk.file(from)?;
        let (source_path, original) = (source.path.clone(), source.original.clone());
        let name = target.name.as_deref().unwrap_or(&found.name);
        if from == self.into {
            self.refuse_circle(found, target.folder, name)?;
        }
        if let Some(confirm) = self.moves
            && !confirm(&format!("remove '{}' from '{}'", found.path, source_path.display()))?
        {
            return Ok(());
        }
        let moved = self.moves.is_some();
        let place = Place { folder: target.folder, name, taken: self.options.taken };
        let contents: &mut Contents = &mut self.desk.edit(self.into)?.contents;
        contents.put(&original, found, place, moved)?;
        contents.join_date(&original);
        let object = if target.path.is_empty() { name.to_owned() } else { format!("{}/{name}", target.path) };
        if moved {
            self.desk.edit(from)?.contents.remove(found);
        }
        self.report.changes.push(Change {
            kind: if moved { ChangeKind::Moved } else { ChangeKind::Copied },
            file: self.to.file.clone(),
            object,
            class: found.class().to_owned(),
            cycles: found.cycles(),
            from_file: Some(source_path),
            from_object: Some(found.path.clone()),
        });
        Ok(())
    }

    /// Refuses to put something onto itself or, in a move, into itself.
    fn refuse_circle(&self, found: &Found, folder: usize, name: &str) -> Result<()> {
        if found.parent == folder && found.name == name {
            return Err(Error::request("source and destination are the same"));
        }
        match found.what {
            FoundObjects::Folder(own) if self.moves.is_some() => {
                let contents = &self.desk.file(self.into)?.contents;
                match contents.is_within(folder, own) {
                    true => Err(Error::request("a directory cannot be moved into itself")),
                    false => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// What went wrong with a source, when the destination has its new contents already.
    fn in_both(&self, error: Error, source: &Path) -> Error {
        if matches!(error.kind(), ErrorKind::Interrupted) {
            return error;
        }
        let to = public_path(&self.to.file).display().to_string();
        let why = error.to_string();
        Error::request(format!("still has the objects, and {to} has them by now as well: {why}")).file(source)
    }

    /// Writes the destination, and then the other files that changed.
    fn write(mut self, progress: Progress<'_>) -> Result<Edited> {
        if self.report.changes.is_empty() {
            return Ok(self.report);
        }
        let TransferOptions { budget, compression, compact, .. } = *self.options;
        let how = Writing { budget, compression, compact };
        self.desk.write(self.into, how, progress, &mut self.report)?;
        let how = Writing { compression: None, ..how };
        for number in (0..self.desk.files.len()).filter(|number| *number != self.into) {
            let file = self.desk.file(number)?.path.clone();
            self.desk.write(number, how, progress, &mut self.report).map_err(|e| self.in_both(e, &file))?;
        }
        Ok(self.report)
    }
}
